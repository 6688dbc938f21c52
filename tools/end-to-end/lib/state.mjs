// What a chain has in its state, counted by a node.

import { rpc } from '../../../packages/polkadot-js/src/chain.js';

/** Requests at once: enough for speed, few enough for a node. */
const AT_ONCE = 50;

/** Prefix of everything that a pallet has in the state; `pallet` as polkadot.js spells it. */
export const pallet = (api, name) => Object.values(api.query[name])[0].keyPrefix().slice(0, 34);

/** Entries of the state below a prefix, and the bytes of their keys and values. */
export async function stateOf(api, prefix) {
	let entries = 0;
	let bytes = 0;
	for (let after = null; ;) {
		const keys = await rpc(api, 'state_getKeysPaged', after ? [prefix, AT_ONCE, after] : [prefix, AT_ONCE]);
		const sizes = await Promise.all(keys.map((key) => rpc(api, 'state_getStorageSize', [key])));
		entries += keys.length;
		bytes += keys.reduce((sum, key, index) => sum + (key.length - 2) / 2 + (sizes[index] ?? 0), 0);
		if (keys.length < AT_ONCE) return { entries, bytes };
		after = keys.at(-1);
	}
}

/** Bytes of all files that are stored on chain. */
export async function storedBytes(api) {
	const blobs = await api.query.modelStorage.blobs.entries();
	// Its field `size` has another name in polkadot.js, where `size` is how many fields a record has.
	return blobs.reduce((sum, [, blob]) => sum + Number(blob.unwrap().get('size_')), 0);
}
