// Upload and download of files of several sizes, on networks of several sizes; on request beside a chain
// that has no files, which takes the same bytes as remarks.

import { readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { MIB, blocksWith, limits, putArgs, quantile, randomFile, startNetwork, urls, worker } from './chain.mjs';
import { startOther } from './other.mjs';
import { Remarks } from './remarks.mjs';

/** Bytes around a chunk in its transaction, at most. */
const AROUND = 4_096;

export async function transfers(options, hold) {
	const rows = [];
	let [about, most] = [null, null];
	const note = (row) => {
		rows.push({ ...row, load: loadavg()[0] });
		if (!options.json) console.error(line(rows.at(-1), options));
	};
	for (const nodes of options.nodes) {
		const chunks = new Map();
		const network = await startNetwork(options, nodes, hold);
		const api = await network.api(network.running[0].name);
		about = await limits(api);
		for (const mib of options.sizes) {
			const path = randomFile(network.folder, `${mib}.bin`, mib * MIB);
			const put = await worker(network, options, `put-${mib}`, putArgs(network, path, options));
			await network.watch.settled();
			chunks.set(mib, put.chunk_bytes);
			note({
				...{ nodes, mib, chain: 'ours' },
				...(await uploaded(network, api, put, about)),
				...(await fetched(network, options, put)),
			});
			if (options.other) rmSync(path);
		}
		await api.disconnect();
		await network.stop();
		if (options.other) most = await beside(options, nodes, chunks, hold, note);
	}
	const machine = { processor: cpus()[0]?.model, cores: cpus().length };
	if (options.json) {
		console.log(JSON.stringify({ machine, limits: about, ...(most ? { other: most } : {}), rows }));
		return;
	}
	console.log(
		`a block takes ${about.whole} bytes, ${about.normal} of normal transactions, ` +
			`${about.ordinary} of ordinary ones that bring nothing a job awaits\n`,
	);
	if (most) {
		console.log(
			`the other chain takes ${most.normal} bytes of normal transactions in a block, and remarks of at most ` +
				`${most.largest} bytes; ${machine.cores} cores, load ${loads(rows)}\n`,
		);
	}
	console.log(
		`| nodes | MiB |${options.other ? ' chain |' : ''} chunk, KiB | upload, s | MiB/s | blocks | s a block | ` +
			'MiB a block | of the room | of whole chunks | last node has a block after, ms (median, 90 %) | ' +
			'download, s | MiB/s | from all nodes, s |',
	);
	console.log(`|${'---|'.repeat(options.other ? 15 : 14)}`);
	for (const row of rows) console.log(line(row, options));
}

/** The least and the greatest load of the machine after the rows. */
function loads(rows) {
	const all = rows.map(({ load }) => load);
	return `${Math.min(...all).toFixed(0)} to ${Math.max(...all).toFixed(0)}`;
}

/**
 * The same sizes on the other chain: in pieces as long as the chunks of our files, and in the longest that
 * it takes. Returns what a block and a remark have there at most, in bytes.
 */
async function beside(options, nodes, chunks, hold, note) {
	const other = await startOther(options, nodes, hold);
	const { network } = other;
	const remarks = new Remarks(other);
	const largest = await remarks.largest();
	for (const mib of options.sizes) {
		for (const piece of new Set([Math.min(chunks.get(mib), largest), largest])) {
			const path = randomFile(network.folder, `${mib}.bin`, mib * MIB);
			const prepared = remarks.prepare(path, piece);
			rmSync(path);
			const put = await remarks.upload(prepared, options.window);
			await network.watch.settled();
			const used = await remarks.blocks(put.before);
			const seen = used.map(({ hash, bytes }) => ({ hash, bytes, spread: spread(network, hash) }));
			const [first, last] = [used[0].number, used.at(-1).number];
			const get = async (from) => {
				const seconds = await remarks.download(first, last, from, path);
				if (!readFileSync(path).equals(prepared.content)) throw new Error('the other chain has other bytes');
				rmSync(path);
				return seconds;
			};
			note({
				...{ nodes, mib, chain: 'other', seconds: put.seconds, again: put.again, size: mib * MIB },
				...filled(network, seen, Math.min(piece, mib * MIB), remarks.room),
				one: await get(network.running.slice(0, 1)),
				all: nodes > 1 ? await get(network.running) : null,
			});
		}
	}
	await network.stop();
	return { normal: remarks.room, largest };
}

/** How long after the first node the last one had a block, in ms; null of one that only one node was seen with. */
function spread(network, hash) {
	const arrived = [...(network.record.blocks.get(hash)?.arrived.values() ?? [])];
	return arrived.length > 1 ? Math.max(...arrived) - Math.min(...arrived) : null;
}

/** What an upload came to, by the blocks from the first with a chunk to the last but one. */
async function uploaded(network, api, put, { ordinary, normal }) {
	const { blocks } = await blocksWith(
		network,
		api,
		put.root,
		put.chunk_bytes,
		put.size,
		put.first_block,
		put.last_block + 1,
	);
	const first = blocks.findIndex(({ chunks }) => chunks > 0);
	const last = blocks.findLastIndex(({ chunks }) => chunks > 0);
	const used = blocks.slice(first, last + 1);
	// Blocks may take more than the ordinary room, where no job waits for a chunk.
	const most = Math.max(...used.map(({ bytes }) => bytes));
	const room = most > ordinary ? normal : ordinary;
	return {
		...filled(network, used, put.chunk_bytes, room),
		...{ seconds: put.seconds, again: put.sent_again },
	};
}

/** What blocks have of the room that they have for pieces of so many bytes, and how far apart they are. */
function filled(network, used, piece, room) {
	// The last block has what was left: it says nothing of the rate.
	const full = used.length > 1 ? used.slice(0, -1) : used;
	const bytes = full.reduce((sum, block) => sum + block.bytes, 0);
	// Of pieces that just fit, one is a whole block.
	const fit = Math.max(1, Math.floor(room / (piece + AROUND))) * piece;
	const spreads = used.map(({ spread }) => spread).filter((spread) => spread !== null);
	const times = [used[0], used.at(-1)].map(({ hash }) => network.record.blocks.get(hash)?.seen);
	return {
		chunk: piece,
		blocks: used.length,
		between: used.length > 1 ? (times[1] - times[0]) / 1_000 / (used.length - 1) : null,
		block: bytes / full.length,
		room: bytes / full.length / room,
		whole: bytes / full.length / fit,
		spread: [quantile(spreads, 0.5), quantile(spreads, 0.9)],
	};
}

/** Downloads from one node and from all. */
async function fetched(network, options, { root, size }) {
	const get = async (name, nodes) => {
		const out = join(network.folder, `${root}-${name}`);
		return worker(network, options, `get-${name}`, ['model', 'get', root, '--out', out, '--json', '--node', ...nodes]);
	};
	const one = await get('one', urls(network).slice(0, 1));
	const all = network.running.length > 1 ? await get('all', urls(network)) : null;
	return { one: one.seconds, all: all?.seconds ?? null, size };
}

const fixed = (value, digits = 1) => (value === null ? '-' : value.toFixed(digits));

function line(row, { other }) {
	const percent = (share) => `${(100 * share).toFixed(0)} %`;
	return `| ${[
		row.nodes,
		row.mib,
		...(other ? [row.chain] : []),
		fixed(row.chunk / 1_024, row.chunk % 1_024 ? 1 : 0),
		fixed(row.seconds),
		fixed(row.mib / row.seconds, 2),
		row.blocks,
		fixed(row.between, 2),
		fixed(row.block / MIB, 2),
		percent(row.room),
		percent(row.whole),
		row.spread.map((ms) => ms ?? '-').join(', '),
		fixed(row.one, 2),
		fixed(row.mib / row.one),
		fixed(row.all, 2),
	].join(' | ')} |`;
}
