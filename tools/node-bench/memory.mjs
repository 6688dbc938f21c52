// Memory of a node after many blocks, both nodes at the same time: neither gains by what else the
// machine does.

import { sleep } from './chain.mjs';
import { describe } from './runtime.mjs';
import { sign } from './sign.mjs';
import { ACCOUNTS } from './transfers.mjs';

/** Milliseconds between two looks. */
const LOOK_MS = 5_000;
/** Blocks for each transfer: the light load. */
const BLOCKS_PER_TRANSFER = 2;
/** Looks that the steady state is computed from: the last ones. */
const LAST_LOOKS = 12;

/** Runs both chains to block `blocks`. Returns for each what it held. `tell` hears of progress. */
export async function compareMemory(programs, specs, blocks, tell) {
	return Promise.all(
		programs.map(async (program, index) => {
			const node = await program.start('memory', specs[index]);
			try {
				return await watch(node, blocks, tell);
			} finally {
				await node.stop();
			}
		}),
	);
}

async function watch(node, blocks, tell) {
	const { plain } = await describe(node);
	const transfers = await sign(plain, ACCOUNTS, Math.ceil(blocks / BLOCKS_PER_TRANSFER));
	const samples = [];
	const started = Date.now();
	let [height, sent] = [0, 0];
	while (height < blocks) {
		await sleep(LOOK_MS);
		node.program.fleet.check();
		height = await node.height();
		samples.push({ height, ...node.memory() });
		const due = Math.min(transfers.length, Math.floor(height / BLOCKS_PER_TRANSFER));
		if (due > sent)
			await node.batch(transfers.slice(sent, due).map((transfer) => ['author_submitExtrinsic', [transfer]]));
		sent = due;
		if (samples.length % 12 === 0) tell(`${node.name}: block ${height}, ${samples.at(-1).resident.toFixed(0)} MiB`);
	}
	const last = samples.slice(-LAST_LOOKS);
	const mean = (field) => last.reduce((sum, sample) => sum + sample[field], 0) / last.length;
	return {
		blocks: height,
		transfers: sent,
		resident: mean('resident'),
		anonymous: mean('anonymous'),
		peak: samples.at(-1).peak,
		// What the processor did for a block, besides.
		processorMsPerBlock: (node.processorSeconds() * 1_000) / height,
		intervalMs: (Date.now() - started) / height,
		samples: samples.filter((_, index) => index % 12 === 0),
	};
}
