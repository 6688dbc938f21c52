// Weight of an empty block: what hooks, inherents and the block itself take.

import { describe, limits, usedWeight } from './runtime.mjs';

/** Blocks that are looked at. */
const BLOCKS = 5;

/** Weight in ms of reference time that blocks without transactions use, and its share of a block. */
export async function emptyBlocks(program, spec, slot) {
	const node = await program.start('weights', spec);
	try {
		const description = await describe(node);
		// The first block may do more, as the hooks of other pallets in a new chain.
		const from = 2;
		await node.reach(from + BLOCKS, ((from + BLOCKS) * slot * 3) / 1_000 + 60);
		const used = [];
		for (let number = from; number < from + BLOCKS; number++) {
			const weight = await usedWeight(node, description, await node.rpc('chain_getBlockHash', [number]));
			used.push(weight.normal + weight.operational + weight.mandatory);
		}
		const limit = limits(description);
		const most = Math.max(...used);
		return { usedMs: most, blockMs: limit.blockMs, share: most / limit.blockMs, limit };
	} finally {
		await node.stop();
	}
}
