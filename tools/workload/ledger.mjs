// What became of every transaction. Times are ms of this machine's clock: when it was given to a connection, and
// when a block with it was seen here, as the best one for the first time, and as final.

/** A transaction of a stream from the time when it was due. */
export class Entry {
	constructor(stream, due, op = null) {
		Object.assign(this, { stream, due, op, sent: null, answered: null, refused: null, unsent: null, hash: null });
		Object.assign(this, { bytes: 0, seen: null, block: null, final: null, finalBlock: null, failed: null });
		this.waiting = { included: [], final: [] };
	}

	/** Whether nothing can become of it any more. */
	get over() {
		return this.unsent !== null || this.refused !== null || this.final !== null;
	}

	/** How it stands, in one word. */
	get state() {
		if (this.unsent !== null) return 'unsent';
		if (this.refused !== null) return 'refused';
		if (this.final !== null) return this.failed === null ? 'final' : 'failed';
		return this.seen === null ? 'dropped' : 'not final';
	}

	/** Resolves when it is `included` or `final`; fails when it is refused or was not sent. */
	when(state) {
		const there = state === 'final' ? this.final : this.seen;
		if (there !== null) return Promise.resolve(this);
		if (this.refused ?? this.unsent) return Promise.reject(new Error(this.refused ?? this.unsent));
		return new Promise((resolve, reject) => this.waiting[state].push({ resolve, reject }));
	}

	settle(state) {
		for (const { resolve } of this.waiting[state].splice(0)) resolve(this);
	}

	fail(reason) {
		for (const list of Object.values(this.waiting)) {
			for (const { reject } of list.splice(0)) reject(new Error(reason));
		}
	}
}

/** All transactions, found by their hashes. */
export class Ledger {
	entries = [];
	#byHash = new Map();
	/** Entries of each block that has some, with their places in it. */
	#blocks = new Map();

	/** A transaction that is due. */
	add(stream, due, op) {
		const entry = new Entry(stream, due, op);
		this.entries.push(entry);
		return entry;
	}

	/** It was given to a connection. */
	sent(entry, { hash, bytes, at }) {
		Object.assign(entry, { hash, bytes, sent: at });
		this.#byHash.set(hash, entry);
	}

	/** The node has taken it into its pool. */
	accepted(entry, at) {
		entry.answered = at;
	}

	/** The node has refused it. One that is in a block all the same was taken before, as by another node. */
	refused(entry, reason, at) {
		entry.answered = at;
		if (entry.seen !== null) return;
		entry.refused = reason;
		entry.fail(reason);
	}

	/** It was not sent. */
	unsent(entry, reason) {
		entry.unsent = reason;
		entry.fail(reason);
	}

	/** A best block, with the hashes of its transactions, was seen. Returns how many are ours. */
	best({ hash, number, at, transactions }) {
		const here = this.#here(hash, transactions);
		for (const { entry } of here) {
			if (entry.seen !== null) continue;
			Object.assign(entry, { seen: at, block: number, refused: null });
			entry.settle('included');
		}
		return here.length;
	}

	/** A block is final. Returns how many of its transactions are ours. */
	final({ hash, number, at, transactions }) {
		const here = this.#here(hash, transactions);
		for (const { entry } of here) {
			if (entry.final !== null) continue;
			// It may have come here with a branch that was never the best one here.
			if (entry.seen === null) Object.assign(entry, { seen: at, block: number, refused: null });
			Object.assign(entry, { final: at, finalBlock: number });
			entry.settle('included');
			entry.settle('final');
		}
		return here.length;
	}

	/** The transaction at place `index` of a block, if it is ours. */
	at(hash, index) {
		return this.#blocks.get(hash)?.find((one) => one.index === index)?.entry ?? null;
	}

	#here(hash, transactions) {
		let here = this.#blocks.get(hash);
		if (!here) {
			here = [];
			transactions.forEach((transaction, index) => {
				const entry = this.#byHash.get(transaction);
				if (entry) here.push({ entry, index });
			});
			if (here.length) this.#blocks.set(hash, here);
		}
		return here;
	}
}
