// Bytes as remarks on a chain that has no files: in by `system.remark`, back out of its blocks.

import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { sleep } from '../end-to-end/lib/network.mjs';
import { callIndex, callOf, limits, pair, signed } from '../node-bench/runtime.mjs';
import {
	compactFromU8a,
	compactToU8a,
	hexToU8a,
	u8aConcat,
	u8aToHex,
} from '../../packages/polkadot-js/src/polkadot.js';
import { client } from './other.mjs';

/** Bytes of remarks on their way at once where nothing else is said: as `trainyard model put`. */
export const WINDOW = 12;
/** Requests that wait for their answer at a time, of one node, as in `trainyard model get`. */
const LANES = 4;
/** How long nothing of what is on its way may enter a block until it is sent again, and until it is given up. */
const [AGAIN, PATIENCE] = [60_000, 900_000];

const hex = (bytes) => `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`;
const bytesOf = (text) => Buffer.from(text.slice(2), 'hex');

/** One account that sends remarks; all files of a network are sent by it. */
export class Remarks {
	constructor({ network, node, description }) {
		Object.assign(this, { network, node, description, nonce: 0 });
		this.account = pair(0);
		this.call = callIndex(description, 'System', 'remark');
		this.room = limits(description).normalBytes;
	}

	#sign(bytes, nonce) {
		return signed(this.description.plain, this.account, nonce, u8aConcat(this.call, compactToU8a(bytes.length), bytes));
	}

	/**
	 * The most bytes that a remark can have: the longest that the node's runtime holds to be valid, less what
	 * a block has beside it. No longer one ever enters a block.
	 */
	async largest() {
		const best = await this.node.rpc('chain_getBlockHash');
		const zeros = new Uint8Array(this.room);
		const valid = async (length) => {
			const transaction = this.#sign(zeros.subarray(0, length), this.nonce);
			// From outside (2), against the best block; a valid one is 0, then what the pool should know.
			const params = u8aConcat([2], transaction, hexToU8a(best));
			return (await this.node.ask('TaggedTransactionQueue_validate_transaction', hex(params)))[0] === 0;
		};
		let [fits, not] = [0, this.room + 1];
		while (not - fits > 1) {
			const length = (fits + not) >> 1;
			if (await valid(length)) fits = length;
			else not = length;
		}
		// A runtime counts the items of the header's digest as well, and has none of them where it validates.
		const { block } = await this.node.rpc('chain_getBlock', [best]);
		const beside = [...block.extrinsics, ...block.header.digest.logs];
		return fits - beside.reduce((sum, one) => sum + one.length / 2 - 1, 0);
	}

	/** Signs the bytes of a file in pieces of `most` bytes, ahead of a measurement. */
	prepare(path, most) {
		const content = readFileSync(path);
		const transactions = [];
		for (let at = 0; at < content.length; at += most) {
			transactions.push(this.#sign(content.subarray(at, at + most), this.nonce + transactions.length));
		}
		return { content, most, transactions };
	}

	/** The nonce of the account in a block; of the best one where none is named. */
	async #next(at) {
		const nonce = await this.node.ask('AccountNonceApi_account_nonce', u8aToHex(this.account.publicKey), at);
		return new DataView(nonce.buffer, nonce.byteOffset).getUint32(0, true);
	}

	/**
	 * Sends what was prepared, with at most `window` MiB on their way, until a final block has the last of it.
	 * Returns the seconds that this took, and how many transactions were sent again.
	 */
	async upload({ transactions, most }, window = WINDOW) {
		const from = this.nonce;
		const to = from + transactions.length;
		const before = this.network.record.best;
		const under = Math.max(1, Math.floor((window * 1_048_576) / most));
		const begun = Date.now();
		let [sent, included, again, resent, moved] = [from, from, 0, 0, begun];
		while (included < to) {
			if (sent < to && sent - included < under) {
				if (await this.#submit(transactions[sent - from])) sent++;
				else await sleep(100);
			} else {
				await sleep(50);
			}
			const now = await this.#next();
			// A fork may take some back for a while.
			if (now !== included) moved = Date.now();
			included = now;
			sent = Math.max(sent, included);
			this.network.fleet.check();
			if (Date.now() - moved > PATIENCE) throw new Error(`no remark entered a block for ${PATIENCE / 1_000} s`);
			if (Date.now() - moved > AGAIN * (1 + again)) {
				const lost = transactions.slice(included - from, sent - from);
				// What is still in the pool is refused.
				for (const transaction of lost) await this.#submit(transaction).catch(() => false);
				resent += lost.length;
				again++;
			}
		}
		for (;;) {
			if ((await this.#next(await this.node.rpc('chain_getFinalizedHead'))) >= to) break;
			await sleep(50);
		}
		this.nonce = to;
		return { seconds: (Date.now() - begun) / 1_000, again: resent, before };
	}

	/** Gives a transaction to the node; whether its pool has it now. */
	async #submit(transaction) {
		try {
			await this.node.rpc('author_submitExtrinsic', [hex(transaction)]);
			return true;
		} catch (error) {
			if (/already imported/i.test(error.message)) return true;
			// The pool is full.
			if (/dropped/i.test(error.message)) return false;
			throw error;
		}
	}

	/** The bytes of all remarks of this account in a block, in their order. */
	#remarks({ extrinsics }) {
		const found = [];
		for (const text of extrinsics) {
			const call = callOf(this.description.plain, this.account, bytesOf(text));
			if (!call || call[0] !== this.call[0] || call[1] !== this.call[1]) continue;
			const [offset] = compactFromU8a(call.subarray(2));
			found.push(call.subarray(2 + offset));
		}
		return found;
	}

	/** What the final blocks after `before` have of remarks: of each its number, hash and bytes. */
	async blocks(before) {
		const head = await this.node.rpc('chain_getFinalizedHead');
		const last = Number((await this.node.rpc('chain_getHeader', [head])).number);
		const blocks = [];
		for (let number = before + 1; number <= last; number++) {
			const hash = await this.node.rpc('chain_getBlockHash', [number]);
			const { block } = await this.node.rpc('chain_getBlock', [hash]);
			const bytes = this.#remarks(block).reduce((sum, { length }) => sum + length, 0);
			blocks.push({ number, hash, bytes });
		}
		const [first, end] = [blocks.findIndex(({ bytes }) => bytes > 0), blocks.findLastIndex(({ bytes }) => bytes > 0)];
		return blocks.slice(first, end + 1);
	}

	/**
	 * Reads the blocks from `first` to `last` of the nodes and joins their remarks into a file; returns the
	 * seconds. Nothing of it is checked: no hash of these bytes is on that chain but that of the block.
	 */
	async download(first, last, nodes, path) {
		const clients = nodes.map((node) => client(this.network, node));
		const begun = Date.now();
		const out = openSync(path, 'w');
		const waiting = new Map();
		let [asked, written] = [first, first];
		const lane = async (node) => {
			while (asked <= last) {
				// What came early waits in memory; no lane runs far ahead of the file.
				if (asked - written >= 4 * LANES * clients.length) {
					await sleep(1);
					continue;
				}
				const number = asked++;
				const { block } = await node.rpc('chain_getBlock', [await node.rpc('chain_getBlockHash', [number])]);
				waiting.set(number, this.#remarks(block));
				for (; waiting.has(written); written++) {
					for (const bytes of waiting.get(written)) writeSync(out, bytes);
					waiting.delete(written);
				}
			}
		};
		try {
			await Promise.all(clients.flatMap((node) => Array.from({ length: LANES }, () => lane(node))));
		} finally {
			closeSync(out);
		}
		return (Date.now() - begun) / 1_000;
	}
}
