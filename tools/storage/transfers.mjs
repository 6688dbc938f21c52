// Upload and download of files of several sizes, on networks of several sizes.

import { join } from 'node:path';
import { MIB, blocksWith, limits, putArgs, quantile, randomFile, startNetwork, urls, worker } from './chain.mjs';

/** Bytes around a chunk in its transaction, at most. */
const AROUND = 4_096;

export async function transfers(options, hold) {
	const rows = [];
	let about;
	for (const nodes of options.nodes) {
		const network = await startNetwork(options, nodes, hold);
		const api = await network.api(network.running[0].name);
		about = await limits(api);
		for (const mib of options.sizes) {
			const path = randomFile(network.folder, `${mib}.bin`, mib * MIB);
			const put = await worker(network, options, `put-${mib}`, putArgs(network, path, options));
			await network.watch.settled();
			rows.push({
				nodes,
				mib,
				...(await uploaded(network, api, put, about)),
				...(await fetched(network, options, put)),
			});
			if (!options.json) console.error(line(rows.at(-1)));
		}
		await api.disconnect();
		await network.stop();
	}
	if (options.json) {
		console.log(JSON.stringify({ limits: about, rows }));
		return;
	}
	console.log(
		`a block takes ${about.whole} bytes, ${about.normal} of normal transactions, ` +
			`${about.ordinary} of ordinary ones that bring nothing a job awaits\n`,
	);
	console.log(
		'| nodes | MiB | chunk, KiB | upload, s | MiB/s | blocks | MiB a block | of the room | of whole chunks | ' +
			'last node has a block after, ms (median, 90 %) | download, s | MiB/s | from all nodes, s |',
	);
	console.log(`|${'---|'.repeat(13)}`);
	for (const row of rows) console.log(line(row));
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
	// The last block has what was left: it says nothing of the rate.
	const full = used.length > 1 ? used.slice(0, -1) : used;
	const bytes = full.reduce((sum, block) => sum + block.bytes, 0);
	// Blocks may take more than the ordinary room, where no job waits for a chunk.
	const most = Math.max(...used.map(({ bytes }) => bytes));
	const room = most > ordinary ? normal : ordinary;
	const fit = Math.floor(room / (put.chunk_bytes + AROUND)) * put.chunk_bytes;
	const spreads = used.map(({ spread }) => spread).filter((spread) => spread !== null);
	return {
		chunk: put.chunk_bytes,
		seconds: put.seconds,
		blocks: used.length,
		block: bytes / full.length,
		room: bytes / full.length / room,
		whole: bytes / full.length / fit,
		spread: [quantile(spreads, 0.5), quantile(spreads, 0.9)],
		again: put.sent_again,
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

function line(row) {
	const percent = (share) => `${(100 * share).toFixed(0)} %`;
	return `| ${[
		row.nodes,
		row.mib,
		row.chunk / 1_024,
		fixed(row.seconds),
		fixed(row.mib / row.seconds, 2),
		row.blocks,
		fixed(row.block / MIB, 2),
		percent(row.room),
		percent(row.whole),
		row.spread.map((ms) => ms ?? '-').join(', '),
		fixed(row.one, 2),
		fixed(row.mib / row.one),
		fixed(row.all, 2),
	].join(' | ')} |`;
}
