// The versions of a model, back to the first that is on chain.

import { isHex } from '@polkadot/util';
import { UserError } from '../errors.js';
import { table } from '../table.js';

/** Versions that a node returns at once. */
const AT_ONCE = 256;

/**
 * The blob with this root and those that it descends from, the newest first, `most` at most. Ends at one
 * that is not on chain, or was registered again since: numbers fall, whatever a node says. The last one's
 * `parent` is null where it is the first version.
 */
export async function versions(api, root, most = 10_000) {
	const all = [];
	for (let next = root; next !== null && all.length < most;) {
		const part = await api.call.trainyardApi.versions(next, AT_ONCE);
		for (const version of part) {
			const last = all.at(-1);
			const number = version.number.toNumber();
			const follows = !last || (last.parent === version.root.toHex() && number < last.number);
			if (!follows || all.length >= most) return all;
			all.push({
				root: version.root.toHex(),
				parent: version.parent.isSome ? version.parent.unwrap().toHex() : null,
				number,
				// polkadot.js renames the field `size`, which its structures, being Maps, have already.
				size: Number(version.size_.toBigInt()),
				whole: version.whole.isTrue,
				since: version.since.toNumber(),
				expires: version.expires.toNumber(),
				owner: version.owner.toString(),
			});
		}
		next = part.length >= AT_ONCE ? all.at(-1).parent : null;
	}
	return all;
}

export default {
	name: 'model-log',
	usage: 'ROOT [flags]',
	about: 'Lists a model and those that it descends from, back to the first that is on chain.',
	positionals: [1, 1],
	flags: {},
	prepare(_, [root]) {
		if (!isHex(root, 256)) {
			throw new UserError(`"${root}" is not a root: a hash of 32 bytes in hex (0x…)`);
		}
		return { root: root.toLowerCase() };
	},
	async run({ api, prepared: { root }, print }) {
		const all = await versions(api, root);
		if (all.length === 0) throw new UserError(`the chain has no blob ${root} (or its time is over)`);
		const rows = all.map(({ root, number, size, whole, expires, owner }) => [
			root,
			String(number),
			String(size),
			whole ? 'whole' : 'incomplete',
			String(expires),
			owner,
		]);
		print(table(['root', 'version', 'bytes', 'state', 'expires', 'owner'], rows), all);
	},
};
