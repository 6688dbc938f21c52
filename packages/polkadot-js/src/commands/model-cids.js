// Names the chunks of a model as IPFS names them.

import { isHex } from '@polkadot/util';
import { chunkCid } from '../cid.js';
import { UserError } from '../errors.js';
import { wholeBlob } from './fetch-model.js';

/** Chunks whose hashes are asked for at once. */
const AT_ONCE = 64;

/** Length of the blob with this root, and the CIDs of its chunks in their order. */
export async function blobCids(api, root) {
	const { size, count } = await wholeBlob(api, root);
	const cids = [];
	while (cids.length < count) {
		const next = Array.from({ length: Math.min(AT_ONCE, count - cids.length) }, (_, i) => cids.length + i);
		const hashes = await Promise.all(next.map((index) => api.call.trainyardApi.chunkHash(root, index)));
		const gone = hashes.findIndex((hash) => hash.isNone);
		if (gone >= 0) throw new UserError(`chunk ${next[gone]} of blob ${root} went away from the chain meanwhile`);
		cids.push(...hashes.map((hash) => chunkCid(hash.unwrap().toU8a())));
	}
	return { size, cids };
}

export default {
	name: 'model-cids',
	usage: 'ROOT [flags]',
	about:
		'Prints the CIDs of the chunks of a model, one a line and in their order: what clients of IPFS ask a node\n' +
		'for that runs with --ipfs-server.',
	positionals: [1, 1],
	flags: {},
	prepare(_, [root]) {
		if (!isHex(root, 256)) {
			throw new UserError(`"${root}" is not a root: a hash of 32 bytes in hex (0x…)`);
		}
		return { root: root.toLowerCase() };
	},
	async run({ api, prepared: { root }, print }) {
		const { size, cids } = await blobCids(api, root);
		print(cids.join('\n'), { root, size, chunks: cids.length, cids });
	},
};
