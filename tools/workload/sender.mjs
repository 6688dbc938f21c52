// Sends transactions when they are due, by several connections, and never waits for the chain.

import { nonceIsUsed, reasonOf } from './rpc.mjs';

/** Ms between two looks at what is due. */
const TICK = 5;
/** Transactions that a connection waits to hear of, at most. */
const WAITING = 512;
/** Why something was not sent. */
export const LATE = 'the connection was busy for longer than patience';
export const OVER = 'the run was over';

/** An answer of the clock. */
export const now = () => performance.timeOrigin + performance.now();

export class Sender {
	/**
	 * `lines`: connections, of which each account uses one; `sign(account, nonce, call)` returns a transaction as
	 * `{ bytes, hash }`; `patience`: ms after which what could not be sent is given up.
	 */
	constructor({ lines, ledger, sign, patience }) {
		Object.assign(this, { lines, ledger, sign, patience });
		this.queues = lines.map(() => []);
	}

	/**
	 * Sends one transaction now, or as soon as its connection has room. `signed` is the one that was signed ahead
	 * with `nonce`, which holds if that nonce is the account's next. Returns its entry.
	 */
	submit({ entry, account, call, signed = null, patience = this.patience }) {
		this.queues[account.line].push({ entry, account, call, signed, giveUp: entry.due + patience });
		this.#flush(account.line);
		return entry;
	}

	#flush(line) {
		const [connection, queue] = [this.lines[line], this.queues[line]];
		while (queue.length) {
			const at = now();
			const { entry, account, call, signed, giveUp } = queue[0];
			if (at > giveUp) {
				queue.shift();
				this.ledger.unsent(entry, LATE);
				continue;
			}
			if (connection.waiting >= WAITING || !connection.connected) return;
			queue.shift();
			const nonce = account.take();
			// Signed again where the nonce of one that was refused is free.
			const ready = signed?.nonce === nonce ? signed : this.sign(account, nonce, call);
			this.#send(connection, entry, account, nonce, ready);
		}
	}

	#send(connection, entry, account, nonce, { bytes, hash }) {
		const at = now();
		this.ledger.sent(entry, { hash, bytes: bytes.length, at });
		connection.rpc('author_submitExtrinsic', [`0x${Buffer.from(bytes).toString('hex')}`]).then(
			() => this.ledger.accepted(entry, now()),
			(error) => {
				const reason = reasonOf(error);
				if (!nonceIsUsed(reason)) account.giveBack(nonce);
				this.ledger.refused(entry, reason, now());
			},
		);
	}

	/** Plays what is due, `[{ at, run }]` in ms after `start`, ascending; resolves after the last one. */
	play(plan, start) {
		let next = 0;
		return new Promise((resolve, reject) => {
			const timer = setInterval(() => {
				try {
					const since = now() - start;
					for (; next < plan.length && plan[next].at <= since; next++) plan[next].run();
					if (next < plan.length) return;
					clearInterval(timer);
					resolve();
				} catch (error) {
					clearInterval(timer);
					reject(error);
				}
			}, TICK);
		});
	}

	/** Sends what waits for room, until what this returns is called: then what still waits is given up. */
	keepGoing() {
		const timer = setInterval(() => this.queues.forEach((_, line) => this.#flush(line)), TICK);
		return () => {
			clearInterval(timer);
			for (const queue of this.queues) {
				for (const { entry } of queue.splice(0)) this.ledger.unsent(entry, OVER);
			}
		};
	}
}
