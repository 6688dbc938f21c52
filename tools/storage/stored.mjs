// What stored files take: of the state, of the database, and of the time in which a node joins the chain.

import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../end-to-end/lib/network.mjs';
import { pallet, stateOf } from '../end-to-end/lib/state.mjs';
import { MIB, putArgs, randomFile, startNetwork, worker } from './chain.mjs';

/** The largest file that is stored; more are several. */
const MOST = 1_024;
/** Blocks of a chain on which nothing is stored. */
const EMPTY = 60;

export async function stored(options, hold) {
	const rows = [];
	for (const mib of options.sizes) {
		const folder = join(options.folder, `${mib}-mib`);
		const network = await startNetwork({ ...options, folder }, 1, hold);
		const api = await network.api(network.running[0].name);
		const begun = Date.now();
		for (let left = mib, count = 0; left > 0; left -= MOST, count++) {
			const path = randomFile(network.folder, `${count}.bin`, Math.min(MOST, left) * MIB);
			await worker(network, options, `put-${count}`, putArgs(network, path, options), 6 * 3_600);
			rmSync(path);
		}
		if (mib === 0) {
			const empty = () => network.record.best >= EMPTY;
			await until('the empty chain has its blocks', 600, empty, () => network.fleet.check());
		}
		const seconds = (Date.now() - begun) / 1_000;
		const { name, base } = network.running[0];
		const { best } = await network.heads(name);
		const [own, whole] = [await stateOf(api, pallet(api, 'modelStorage')), await stateOf(api, '0x')];
		const database = bytesIn(join(base, 'chains'));
		const joined = await joins(network, best);
		rows.push({ mib, seconds, blocks: best, own, whole, database, ...joined });
		await api.disconnect();
		await network.stop();
		if (!options.dir) rmSync(folder, { recursive: true, force: true });
		if (!options.json) console.error(line(rows.at(-1)));
	}
	if (options.json) {
		console.log(JSON.stringify({ rows }));
		return;
	}
	console.log(
		'| MiB stored | in, s | blocks | entries of the pallet | bytes of them | of the whole state | database, MiB | ' +
			'joins in, s | ms a block | MiB/s | its database, MiB |',
	);
	console.log(`|${'---|'.repeat(11)}`);
	for (const row of rows) console.log(line(row));
}

/** Bytes of all files below a folder. */
function bytesIn(folder) {
	const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
	return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/** Lets a new node import every block up to `height`, and measures it from its first answer on. */
async function joins(network, height) {
	await network.define('Joiner');
	const { base } = await network.startNode('Joiner', { watch: false });
	const begun = Date.now();
	const from = (await network.heads('Joiner')).best;
	const there = async () => (await network.heads('Joiner')).best >= height;
	await until(`the new node has block ${height}`, 3 * 3_600, there, () => network.fleet.check());
	return { joining: (Date.now() - begun) / 1_000, from, joined: bytesIn(join(base, 'chains')) };
}

function line({ mib, seconds, blocks, own, whole, database, joining, from, joined }) {
	return `| ${[
		mib,
		seconds.toFixed(0),
		blocks,
		own.entries,
		own.bytes,
		whole.bytes,
		(database / MIB).toFixed(0),
		joining.toFixed(1),
		((1_000 * joining) / Math.max(1, blocks - from)).toFixed(0),
		(mib / joining).toFixed(1),
		(joined / MIB).toFixed(0),
	].join(' | ')} |`;
}
