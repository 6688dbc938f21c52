// Watches every node of a network: all headers that it imports and all that it holds to be final.

import { httpRpc } from '../../packages/polkadot-js/src/chain.js';
import { WsProvider } from '../../packages/polkadot-js/src/polkadot.js';
import { hashOf } from './headers.mjs';
import { Record } from './record.mjs';

export class Watch {
	#connections = new Map();
	/** Headers are worked in one after the other, so that none is seen before its ancestors. */
	#work = Promise.resolve();
	/** Of each node: height and hash of its best and its highest final block. */
	heads = new Map();
	/** The last error of reading a node; nodes that are killed make some. */
	trouble = null;

	constructor(timing) {
		this.record = new Record(timing);
	}

	/** Watches a node from now on. */
	async add(name, url) {
		this.remove(name);
		const provider = new WsProvider(url, 500, {}, 20_000);
		// It says on the console what we learn from the processes.
		provider.on('error', () => {});
		this.#connections.set(name, provider);
		this.heads.set(name, { best: 0, bestHash: null, final: 0, finalHash: null });
		await provider.isReady;
		// `event` is what the node calls the notifications.
		const follow = (event, method, each) =>
			provider.subscribe(`chain_${event}`, `chain_subscribe${method}`, [], (error, header) => {
				if (error || !header || this.#connections.get(name) !== provider) return;
				const at = Date.now();
				this.#work = this.#work.then(() => each(header, at)).catch((trouble) => (this.trouble = trouble));
			});
		await follow('allHead', 'AllHeads', (header, at) => this.#imported(name, header, at));
		await follow('finalizedHead', 'FinalizedHeads', (header, at) => this.#finalized(name, provider, header, at));
	}

	/** Watches a node no more. */
	remove(name) {
		const provider = this.#connections.get(name);
		this.#connections.delete(name);
		this.heads.delete(name);
		provider?.disconnect().catch(() => {});
	}

	#imported(name, header, at) {
		const hash = hashOf(header);
		this.record.add(hash, header, { node: name, at });
		const heads = this.heads.get(name);
		// A fork of the same height leaves the head where it was, as in the node.
		if (heads && Number(header.number) > heads.best)
			Object.assign(heads, { best: Number(header.number), bestHash: hash });
	}

	async #finalized(name, provider, header, at) {
		const hash = hashOf(header);
		this.record.add(hash, header, { node: name, at });
		for (let missing = this.record.missing(hash); missing; missing = this.record.missing(hash)) {
			const older = await provider.send('chain_getHeader', [missing]);
			// The genesis block has no author: the chain is complete.
			if (!older || !this.record.add(missing, older, { at })) break;
		}
		this.record.finalize(hash, { node: name, at });
		const heads = this.heads.get(name);
		if (heads) Object.assign(heads, { final: Number(header.number), finalHash: hash });
	}

	/** Waits until all headers that have come are worked in. */
	settled() {
		return this.#work;
	}

	close() {
		for (const name of [...this.#connections.keys()]) this.remove(name);
	}
}

/** Whether a node answers JSON-RPC. */
export const answers = (url) =>
	httpRpc(url, 'system_health', [], 2_000).then(
		() => true,
		() => false,
	);
