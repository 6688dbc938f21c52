// Many downloads of one file at once.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MIB, putArgs, quantile, randomFile, startNetwork, urls, worker } from './chain.mjs';

const hash = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

export async function downloads(options, hold) {
	for (const nodes of options.nodes) {
		const network = await startNetwork(options, nodes, hold);
		const [mib] = options.sizes;
		const path = randomFile(network.folder, `${mib}.bin`, mib * MIB);
		const put = await worker(network, options, 'put', putArgs(network, path, options));
		const wanted = hash(path);
		const begun = Date.now();
		const height = network.record.best;
		const gets = Array.from({ length: options.count }, async (_, at) => {
			const out = join(network.folder, `out-${at}`);
			const args = ['model', 'get', put.root, '--out', out, '--json', '--node', ...urls(network)];
			const { seconds } = await worker(network, options, `get-${at}`, args);
			assert.equal(hash(out), wanted, `download ${at} has other bytes`);
			rmSync(out);
			return seconds;
		});
		const seconds = await Promise.all(gets);
		const all = (Date.now() - begun) / 1_000;
		const found = {
			nodes,
			mib,
			count: options.count,
			all,
			median: quantile(seconds, 0.5),
			worst: Math.max(...seconds),
		};
		Object.assign(found, { blocks: network.record.best - height });
		console.log(
			options.json
				? JSON.stringify(found)
				: `${nodes} node(s): ${options.count} downloads of ${mib} MiB at once, all with the same bytes: ` +
						`${all.toFixed(1)} s, one takes ${found.median.toFixed(1)} s (median), ${found.worst.toFixed(1)} s (worst); ` +
						`${((mib * options.count) / all).toFixed(0)} MiB/s together; ${found.blocks} blocks meanwhile`,
		);
		await network.stop();
	}
}
