// Reads the events of blocks in a thread of its own, so that sending does not wait for it.

import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { Metadata, TypeRegistry } from '../../packages/polkadot-js/node_modules/@polkadot/types/index.js';
import { explainDispatchError } from '../../packages/polkadot-js/src/errors.js';

/** Pallets whose events say how far jobs, tasks and blobs are. */
const TOLD = new Set(['taskMarket', 'tasks', 'modelStorage']);

/** The thread, for the chain with this metadata in hex. */
export class EventReader {
	#waiting = new Map();
	#next = 0;
	failed = null;

	constructor(metadata) {
		this.worker = new Worker(fileURLToPath(import.meta.url), { workerData: { events: metadata } });
		this.worker.on('message', ({ id, ...found }) => {
			this.#waiting.get(id)(found);
			this.#waiting.delete(id);
		});
		this.worker.on('error', (error) => {
			this.failed = error;
			for (const resolve of this.#waiting.values()) resolve({ failures: [], told: [] });
			this.#waiting.clear();
		});
	}

	/**
	 * What the events of a block say: `failures` as `[place of the transaction, why]`, and `told`, the events of our
	 * pallets as `{ index, pallet, name, data }`.
	 */
	read(hex) {
		if (this.failed || !hex) return Promise.resolve({ failures: [], told: [] });
		return new Promise((resolve) => {
			this.#waiting.set(this.#next, resolve);
			this.worker.postMessage({ id: this.#next++, hex });
		});
	}

	/** Waits until all is read. */
	async settled() {
		while (this.#waiting.size) await new Promise((resolve) => setTimeout(resolve, 20));
	}

	/** Ends the thread, whether it has read all or not. */
	close = () => this.worker.terminate();
}

if (!isMainThread && workerData?.events) {
	const registry = new TypeRegistry();
	const metadata = new Metadata(registry, workerData.events);
	registry.setMetadata(metadata, undefined, { DirectUpload: { extrinsic: {}, payload: {} } });
	const storage = metadata.asLatest.pallets.find(({ name }) => name.toString() === 'System').storage.unwrap();
	const { type } = storage.items.find(({ name }) => name.toString() === 'Events');
	const records = registry.createLookupType(type.asPlain);
	parentPort.on('message', ({ id, hex }) => {
		const [failures, told] = [[], []];
		for (const { phase, event } of registry.createType(records, hex)) {
			const index = phase.isApplyExtrinsic ? phase.asApplyExtrinsic.toNumber() : null;
			if (event.section === 'system' && event.method === 'ExtrinsicFailed') {
				failures.push([index, explainDispatchError(registry, event.data[0])]);
			} else if (TOLD.has(event.section)) {
				const names = event.data.names ?? [];
				const data = Object.fromEntries(event.data.map((value, at) => [names[at] ?? at, value.toJSON()]));
				told.push({ index, pallet: event.section, name: event.method, data });
			}
		}
		parentPort.postMessage({ id, failures, told });
	});
}
