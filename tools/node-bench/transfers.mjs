// Sustained transfers: the pool is kept full while the chain makes blocks.

import { median, sleep } from './chain.mjs';
import { address, describe, limits, pair, ready, timeOf, transferWeight, usedWeight } from './runtime.mjs';
import { sign } from './sign.mjs';

/** Accounts that transfer. */
export const ACCOUNTS = 2_000;
/** Transfers in a request. */
const BATCH = 200;
/** Requests that wait for their answer at a time. */
const LANES = 2;
/** Blocks' worth of transfers that the pool is kept filled with. */
const BACKLOG = 2;
/** Blocks after the first one with transfers that are not counted, and spare ones at the end. */
const WARM_UP = 1;
const SPARE = BACKLOG + 3;

/** Addresses of the accounts that transfer, for the genesis. */
export async function richAddresses() {
	await ready();
	return Array.from({ length: ACCOUNTS }, (_, index) => address(pair(index)));
}

/**
 * Signs what one round takes, with at most `most` transfers in a block. One run of the chain;
 * further rounds use the same genesis.
 */
export async function prepare(program, spec, blocks, most = Infinity) {
	const node = await program.start('prepare', spec);
	try {
		const description = await describe(node);
		const [probe] = await sign(description.plain, ACCOUNTS, 1);
		const weightMs = await transferWeight(node, description, probe);
		const limit = limits(description);
		const bytes = probe.length / 2 - 1;
		const byWeight = Math.floor(limit.normalMs / weightMs);
		const byLength = Math.floor(limit.normalBytes / bytes);
		const capacity = Math.min(byWeight, byLength, most);
		// Where a block could take more, no more may wait than it shall take.
		const backlog = most <= Math.min(byWeight, byLength) ? 1 : BACKLOG;
		const transfers = await sign(description.plain, ACCOUNTS, capacity * (blocks + WARM_UP + SPARE));
		return { description, transfers, capacity, backlog, byWeight, byLength, bytes, weightMs, limit };
	} finally {
		await node.stop();
	}
}

/**
 * Runs a chain from its genesis through `blocks` measured blocks under load. The node is stopped
 * at the end; its database stays, for imports.
 */
export async function round(program, name, spec, slot, blocks, prepared) {
	const node = await program.start(name, spec);
	try {
		const first = await firstTransfers(node, slot, blocks, prepared);
		const measured = await blocksOf(node, first + WARM_UP, blocks, prepared);
		return { ...measured, slot, memory: node.memory() };
	} finally {
		await node.stop();
	}
}

/** Feeds the node until the last measured block is there. Returns the first block with transfers. */
async function firstTransfers(node, slot, blocks, { transfers, capacity, backlog }) {
	let [sent, included, done, first] = [0, 0, false, null];
	const lane = async () => {
		while (!done && sent < transfers.length) {
			const room = backlog * capacity - (sent - included);
			if (room <= 0) {
				await sleep(10);
				continue;
			}
			const calls = transfers
				.slice(sent, sent + Math.min(BATCH, room))
				.map((transfer) => ['author_submitExtrinsic', [transfer]]);
			sent += calls.length;
			await node.batch(calls);
		}
	};
	const watch = async () => {
		const until = Date.now() + (blocks + WARM_UP + SPARE) * slot * 4 + 60_000;
		let seen = await node.height();
		while (!done) {
			await sleep(Math.min(250, slot / 4));
			for (const height = await node.height(); seen < height;) {
				const { block } = await node.rpc('chain_getBlock', [await node.rpc('chain_getBlockHash', [++seen])]);
				const here = signedIn(block);
				if (here > 0) first ??= seen;
				included += here;
			}
			done = first !== null && seen >= first + WARM_UP + blocks;
			if (!done && sent === transfers.length && included === sent) throw new Error(`${node.name} ran out of transfers`);
			if (Date.now() > until) throw new Error(`${node.name}: the measured blocks did not come in time`);
			node.program.fleet.check();
		}
	};
	const all = [watch(), ...Array.from({ length: LANES }, lane)];
	await Promise.all(
		all.map((work) =>
			work.finally(() => {
				done = true;
			}),
		),
	);
	return first;
}

/** How many transactions of a block are signed: all but the inherents. */
function signedIn({ extrinsics }) {
	// In front stands the length, in one, two or four bytes; then the version, whose highest bit says it.
	const isSigned = (hex) => {
		const bytes = [1, 2, 4][parseInt(hex.slice(2, 4), 16) & 3];
		return (parseInt(hex.slice(2 + 2 * bytes, 4 + 2 * bytes), 16) & 0x80) !== 0;
	};
	return extrinsics.filter(isSigned).length;
}

/** The `count` blocks behind block `before`, and what the node says of making them. */
async function blocksOf(node, before, count, { description }) {
	const numbers = Array.from({ length: count + 1 }, (_, index) => before + index);
	const hashes = await node.batch(numbers.map((number) => ['chain_getBlockHash', [number]]));
	const times = [];
	for (const hash of hashes) times.push(await timeOf(node, hash));
	const blocks = [];
	for (const hash of hashes.slice(1)) {
		const { block } = await node.rpc('chain_getBlock', [hash]);
		const used = await usedWeight(node, description, hash);
		blocks.push({ transfers: signedIn(block), weightMs: used.normal + used.operational + used.mandatory });
	}
	// "Prepared block for proposing at N (M ms) … end: REASON; extrinsics_count: K"
	const made = new Map(
		[...node.process.log().matchAll(/Prepared block for proposing at (\d+) \((\d+) ms\).*?end: (\w+)/g)].map(
			([, number, ms, end]) => [Number(number), { ms: Number(ms), end }],
		),
	);
	const mine = numbers
		.slice(1)
		.map((number) => made.get(number))
		.filter(Boolean);
	const total = blocks.reduce((sum, { transfers }) => sum + transfers, 0);
	const seconds = (times.at(-1) - times[0]) / 1_000;
	const makingMs = mine.reduce((sum, { ms }) => sum + ms, 0);
	return {
		first: before + 1,
		last: before + count,
		transfers: total,
		transfersPerBlock: median(blocks.map(({ transfers }) => transfers)),
		fewestInBlock: Math.min(...blocks.map(({ transfers }) => transfers)),
		perSecond: total / seconds,
		interval: seconds / count,
		makingUsPerTransfer: mine.length === count ? (makingMs * 1_000) / total : null,
		ends: tally(mine.map(({ end }) => end)),
	};
}

/** How often each word is there. */
function tally(words) {
	const counts = {};
	for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
	return counts;
}
