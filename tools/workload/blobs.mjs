// Cuts blobs into the transactions that store them, in a thread, so that sending does not wait for hashes.

import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
// Not by way of polkadot.js: a thread begins sooner without the rest of it.
import {
	bnToU8a,
	compactToU8a,
	u8aConcat,
	u8aToHex,
} from '../../packages/polkadot-js/node_modules/@polkadot/util/index.js';
import { chunkLength, cutBlob } from '../../packages/polkadot-js/src/hash.js';
import { bytesOf } from './random.mjs';

const le = (value, bits) => bnToU8a(BigInt(value), { bitLength: bits, isLe: true });

/** A blob as the calls that store it; `index` has the bytes that name `register` and `upload_chunk`. */
export function callsOf(bytes, index) {
	const cut = cutBlob(bytes);
	return {
		root: u8aToHex(cut.root),
		bytes,
		chunk: chunkLength(bytes.length),
		register: u8aConcat(index.register, le(bytes.length, 64), cut.content, [0]),
		uploads: cut.chunks.map((chunk, at) => {
			const proof = cut.proof(at);
			const head = u8aConcat(index.upload, cut.root, le(at, 32), compactToU8a(proof.length), ...proof);
			return u8aConcat(head, compactToU8a(chunk.length), chunk);
		}),
	};
}

/** The thread that cuts. */
export class Cutter {
	#waiting = new Map();
	#next = 0;

	constructor(index) {
		this.worker = new Worker(fileURLToPath(import.meta.url), { workerData: { cut: index } });
		this.worker.on('message', ({ id, found }) => {
			this.#waiting.get(id).resolve(found);
			this.#waiting.delete(id);
		});
		this.worker.on('error', (error) => {
			for (const { reject } of this.#waiting.values()) reject(error);
			this.#waiting.clear();
		});
	}

	/** The blob of so many bytes that follow from the words. */
	cut(length, words) {
		return new Promise((resolve, reject) => {
			this.#waiting.set(this.#next, { resolve, reject });
			this.worker.postMessage({ id: this.#next++, length, words });
		});
	}

	close = () => this.worker.terminate();
}

if (!isMainThread && workerData?.cut) {
	parentPort.on('message', ({ id, length, words }) => {
		parentPort.postMessage({ id, found: callsOf(bytesOf(length, ...words), workerData.cut) });
	});
}
