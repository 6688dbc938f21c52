// The uploader is killed at random moments, and goes on each time.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accounts, feesPaid } from '../end-to-end/lib/ledger.mjs';
import { ADDRESS, sleep } from '../end-to-end/lib/network.mjs';
import { MIB, NAMES, blocksWith, putArgs, randomFile, startNetwork, urls, worker } from './chain.mjs';

/** Longest life of an uploader, in ms. */
const LIFE = 8_000;

export async function kills(options, hold) {
	for (const nodes of options.nodes) {
		const network = await startNetwork(options, nodes, hold);
		const api = await network.api(network.running[0].name);
		const [mib] = options.sizes;
		const path = randomFile(network.folder, `${mib}.bin`, mib * MIB);
		const addresses = NAMES.slice(0, options.senders).map((suri) => ADDRESS[suri]);
		const before = await accounts(api, addresses);
		const args = putArgs(network, path, options);
		let killed = 0;
		while (killed < options.count) {
			const uploader = network.fleet.start(`put-${killed}`, join(options.bin, 'trainyard'), args);
			await sleep(200 + Math.random() * LIFE);
			// One that has all on chain ends by itself: a larger file has room for more kills.
			if (!uploader.alive) break;
			await uploader.kill();
			killed++;
		}
		const put = await worker(network, options, 'put-last', args);
		const now = await accounts(api, addresses);
		const fees = await feesPaid(api, before.block, now.block);
		const held = addresses.map((who) => now.get(who).reserved - before.get(who).reserved);
		const lost = addresses.map((who) => before.get(who).total - now.get(who).total);
		const paid = addresses.map((who) => fees.get(who) ?? 0n);
		// Authors earn rewards, so a sender that is one may have more than it would.
		const { blocks, times } = await blocksWith(
			network,
			api,
			put.root,
			put.chunk_bytes,
			put.size,
			before.block + 1,
			now.block,
		);
		const out = join(network.folder, 'out');
		await worker(network, options, 'get', [
			'model',
			'get',
			put.root,
			'--out',
			out,
			'--json',
			'--node',
			...urls(network),
		]);
		assert.ok(readFileSync(out).equals(readFileSync(path)), 'the bytes are others');
		assert.deepEqual([times.size, ...new Set(times.values())], [put.chunks, 1], 'each chunk is in one block');
		const { deposit } = await listed(network, options, put.root);
		const sum = (parts) => parts.reduce((all, part) => all + part, 0n);
		assert.equal(sum(held), BigInt(deposit), 'one deposit is held');
		const found = { nodes, mib, killed, chunks: put.chunks, blocks: blocks.length, held: String(sum(held)) };
		Object.assign(found, { fees: String(sum(paid)), lost: String(sum(lost)) });
		console.log(
			options.json
				? JSON.stringify(found)
				: `${nodes} node(s): ${mib} MiB, uploader killed ${killed} times; ${put.chunks} chunks, each in one block; ` +
						`one deposit (${sum(held)}), fees ${sum(paid)}; what came back has the same bytes`,
		);
		await api.disconnect();
		await network.stop();
	}
}

async function listed(network, options, root) {
	const { blobs } = await worker(network, options, 'ls', [
		'model',
		'ls',
		'--all',
		'--json',
		'--node',
		urls(network)[0],
	]);
	return blobs.find((blob) => blob.root === root);
}
