// What is known of a chain from headers alone: all blocks that any node has seen, with forks, the
// final chain, and who could have made blocks in which slot.

import { announcedBy, claimOf } from './headers.mjs';

/** Blocks of one chain, fed with headers in any order. */
export class Record {
	/** Every block by its hash. */
	blocks = new Map();
	/** Hash of the final block of each height, from 1 without gaps. */
	final = [undefined];
	/** What contradicts finality: two blocks of one height that nodes hold to be final. */
	conflicts = [];

	/** `epoch` is the length of an epoch in slots. */
	constructor({ epoch }) {
		this.epoch = epoch;
	}

	/** Notes a header that a node has imported, seen at time `at` (ms). */
	add(hash, header, { node, at = Date.now() } = {}) {
		let block = this.blocks.get(hash);
		if (!block) {
			const claim = claimOf(header);
			if (!claim) return null; // the genesis block
			block = {
				hash,
				number: Number(header.number),
				parent: header.parentHash,
				...claim,
				announced: announcedBy(header),
				header,
				seen: at,
				finalized: null,
				nodes: new Set(),
				/** When each node had it. */
				arrived: new Map(),
			};
			this.blocks.set(hash, block);
		}
		if (node !== undefined) {
			block.nodes.add(node);
			if (!block.arrived.has(node)) block.arrived.set(node, at);
		}
		return block;
	}

	/** Hashes between the final chain and `hash` that are not known yet: the next one to ask for. */
	missing(hash) {
		let at = hash;
		for (;;) {
			const block = this.blocks.get(at);
			if (!block) return at;
			if (block.number <= this.height + 1 || this.final[block.number] === at) return null;
			at = block.parent;
		}
	}

	/** Notes that a node holds `hash` to be final; its ancestors must be known. */
	finalize(hash, { node, at = Date.now() } = {}) {
		const path = [];
		for (let block = this.blocks.get(hash); block; block = this.blocks.get(block.parent)) {
			if (this.final[block.number] === block.hash) break;
			path.push(block);
			if (block.number === 1) break;
		}
		for (const block of path.reverse()) {
			const there = this.final[block.number];
			if (there === undefined) {
				this.final[block.number] = block.hash;
				block.finalized = at;
			} else if (there !== block.hash) {
				this.conflicts.push({ number: block.number, first: there, second: block.hash, node });
			}
		}
	}

	/** Height of the highest final block. */
	get height() {
		return this.final.length - 1;
	}

	/** The final blocks, ascending. */
	finalBlocks() {
		return this.final.slice(1).map((hash) => this.blocks.get(hash));
	}

	/** Height of the highest block seen. */
	get best() {
		let best = 0;
		for (const { number } of this.blocks.values()) if (number > best) best = number;
		return best;
	}

	/** Number of the epoch that a slot lies in; 0 begins with the first final block. */
	epochOf(slot) {
		return Math.floor((slot - this.blocks.get(this.final[1]).slot) / this.epoch);
	}

	/**
	 * The epochs of the final chain: number, first block, and the authorities (BABE key and
	 * weight), as they were announced one epoch before. The first two have those of genesis.
	 */
	epochs() {
		const first = this.finalBlocks().filter(({ announced }) => announced);
		return first.map((block, index) => ({
			number: this.epochOf(block.slot),
			from: block.number,
			authorities: first[Math.max(0, index - 1)].announced,
		}));
	}

	/** A function that gives the authorities of the epoch in which a slot lies. */
	authoritiesAt() {
		const epochs = this.epochs();
		return (slot) => {
			const number = this.epochOf(slot);
			return epochs.findLast((epoch) => epoch.number <= number)?.authorities ?? epochs[0].authorities;
		};
	}

	/** Blocks of which an author made two in one slot, as [first, second]. */
	equivocations() {
		const made = new Map();
		const found = [];
		for (const block of this.blocks.values()) {
			const key = `${this.epochOf(block.slot)}/${block.slot}/${block.author}`;
			if (made.has(key)) found.push([made.get(key), block]);
			else made.set(key, block);
		}
		return found;
	}
}
