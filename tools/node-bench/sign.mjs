// Signs transfers ahead of a measurement, in a thread for each core.

import { availableParallelism } from 'node:os';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { pair, ready, signedTransfer } from './runtime.mjs';

/** What a transfer moves, in units of 10^-12: the least balance of an account on both chains. */
const AMOUNT = 1_000_000_000;

/**
 * `count` transfers of `accounts` accounts, each to the next of them. The account varies
 * fastest, so that any stretch has many senders, as traffic has.
 */
export async function sign(plain, accounts, count) {
	const threads = Math.max(1, availableParallelism());
	const share = Math.ceil(accounts / threads);
	const columns = await Promise.all(
		Array.from({ length: threads }, (_, thread) => {
			const from = thread * share;
			const to = Math.min(accounts, from + share);
			return from >= to ? [] : inThread({ plain, accounts, count, from, to });
		}),
	);
	const bySender = columns.flat();
	return Array.from({ length: count }, (_, index) => bySender[index % accounts][Math.floor(index / accounts)]);
}

function inThread(data) {
	return new Promise((resolve, reject) => {
		const worker = new Worker(fileURLToPath(import.meta.url), { workerData: data });
		worker.once('message', resolve);
		worker.once('error', reject);
	});
}

if (!isMainThread && workerData?.plain) {
	const { plain, accounts, count, from, to } = workerData;
	await ready();
	const result = [];
	for (let sender = from; sender < to; sender++) {
		const own = pair(sender);
		const { publicKey } = pair((sender + 1) % accounts);
		const nonces = Math.ceil((count - sender) / accounts);
		result.push(Array.from({ length: nonces }, (_, nonce) => signedTransfer(plain, own, publicKey, nonce, AMOUNT)));
	}
	parentPort.postMessage(result);
}
