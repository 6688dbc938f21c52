// Watches the blocks of one node: which transactions they have, when they were seen here, how full they are. It asks
// the node once for each block, and for two values of its state when the block is final.

import { blake2AsHex, hexToU8a, u8aConcat, u8aToHex } from '../../packages/polkadot-js/src/polkadot.js';
import { xxhashAsU8a } from '../../packages/polkadot-js/node_modules/@polkadot/util-crypto/index.js';
import { hashOf } from '../network/headers.mjs';
import { now } from './sender.mjs';

const key = (pallet, item) => u8aToHex(u8aConcat(xxhashAsU8a(pallet, 128), xxhashAsU8a(item, 128)));
const [WEIGHT, EVENTS] = [key('System', 'BlockWeight'), key('System', 'Events')];

export class BlockWatch {
	/** Blocks by their hashes. */
	blocks = new Map();
	/** Final blocks by number. */
	finals = [];
	#work = Promise.resolve();
	/** The last error of reading blocks: what was missed is read with the next block. */
	trouble = null;

	/** `connection` as of rpc.mjs; `ledger`; `onFinal(block, events)` gets each final block and its events as hex. */
	constructor({ connection, ledger, onFinal = () => {} }) {
		Object.assign(this, { connection, ledger, onFinal });
	}

	/** Watches from the present blocks on. */
	async start() {
		const best = await this.connection.rpc('chain_getBlockHash', []);
		const final = await this.connection.rpc('chain_getFinalizedHead');
		this.#note(best, await this.connection.rpc('chain_getHeader', [best]), now()).told = true;
		this.lastFinal = final;
		// Blocks between the final one and the best one were made before anything was sent.
		this.begin = Number((await this.connection.rpc('chain_getHeader', [final])).number);
		const follow = (event, method, each) =>
			this.connection.subscribe(event, method, (header) => {
				const at = now();
				this.#work = this.#work.then(() => each(header, at)).catch((error) => (this.trouble = error));
			});
		await follow('chain_newHead', 'chain_subscribeNewHeads', (header, at) => this.#best(header, at));
		await follow('chain_finalizedHead', 'chain_subscribeFinalizedHeads', (header, at) => this.#final(header, at));
	}

	#note(hash, header, at) {
		const block = { hash, number: Number(header.number), parent: header.parentHash, at, transactions: [], bytes: 0 };
		this.blocks.set(hash, block);
		return block;
	}

	/** A block with its transactions. */
	async #fetch(hash, at) {
		const known = this.blocks.get(hash);
		if (known) return known;
		const answer = await this.connection.rpc('chain_getBlock', [hash]);
		if (!answer) throw new Error(`${this.connection.url} has no block ${hash}`);
		const { header, extrinsics } = answer.block;
		const block = this.#note(hash, header, at);
		block.bytes = extrinsics.reduce((sum, one) => sum + one.length / 2 - 1, 0);
		block.transactions = extrinsics.map((one) => blake2AsHex(hexToU8a(one), 256));
		return block;
	}

	/** The blocks from the first that is not known, above number `floor`, up to this one. */
	async #branch(hash, at, known, floor) {
		const branch = [];
		for (let next = hash; !known(next);) {
			const block = await this.#fetch(next, at);
			if (block.number <= floor) break;
			branch.unshift(block);
			next = block.parent;
		}
		return branch;
	}

	async #best(header, at) {
		const branch = await this.#branch(hashOf(header), at, (hash) => this.blocks.get(hash)?.told, this.begin);
		for (const block of branch) {
			this.ledger.best(block);
			block.told = true;
		}
	}

	async #final(header, at) {
		const branch = await this.#branch(hashOf(header), at, (hash) => hash === this.lastFinal, this.begin);
		for (const block of branch) {
			block.ours = this.ledger.final({ ...block, at });
			Object.assign(block, { final: at, count: block.transactions.length, transactions: [], told: true });
			this.lastFinal = block.hash;
			this.finals.push(block);
			const [weight, events] = await Promise.all(
				[WEIGHT, EVENTS].map((item) => this.connection.rpc('state_getStorage', [item, block.hash])),
			);
			block.weight = weight;
			await this.onFinal(block, events);
		}
	}

	/** Waits until what has come is worked in. */
	settled = () => this.#work;
}
