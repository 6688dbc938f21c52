// Signs transactions ahead of the load, in a thread for each core.

import { availableParallelism } from 'node:os';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { blake2AsHex } from '../../packages/polkadot-js/node_modules/@polkadot/util-crypto/index.js';
import { ready, signed } from '../node-bench/runtime.mjs';
import { pairOf } from './accounts.mjs';

/** A transaction of `pair` with its hash. */
export function signOne(plain, pair, nonce, call) {
	const bytes = signed(plain, pair, nonce, call);
	return { nonce, bytes, hash: blake2AsHex(bytes, 256) };
}

/**
 * Signs `items` of `{ account, nonce, call }`, where `account` is the number of an account of the workload. Returns
 * for each `{ nonce, bytes, hash }`.
 */
export async function presign(plain, seed, items) {
	const threads = Math.max(1, Math.min(availableParallelism(), Math.ceil(items.length / 200)));
	const share = Math.ceil(items.length / threads);
	const parts = await Promise.all(
		Array.from({ length: threads }, (_, thread) => {
			const part = items.slice(thread * share, (thread + 1) * share);
			return part.length ? inThread({ plain, seed, part }) : [];
		}),
	);
	return parts.flat();
}

function inThread(data) {
	return new Promise((resolve, reject) => {
		const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { presign: data } });
		worker.once('message', resolve);
		worker.once('error', reject);
	});
}

if (!isMainThread && workerData?.presign) {
	const { plain, seed, part } = workerData.presign;
	await ready();
	const pairs = new Map();
	const result = part.map(({ account, nonce, call }) => {
		if (!pairs.has(account)) pairs.set(account, pairOf(seed, account));
		return signOne(plain, pairs.get(account), nonce, call);
	});
	parentPort.postMessage(result);
}
