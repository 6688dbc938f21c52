// The accounts that send: their keys follow from the seed of the workload, and their nonces are counted here.

import { sr25519KeypairFromSeed } from '../../packages/polkadot-js/node_modules/@polkadot/wasm-crypto/index.js';
import { createHash } from 'node:crypto';

/** Key pair of account `index` of a workload. Who knows the seed has the key: only money for tests belongs there. */
export function pairOf(seed, index) {
	const bytes = sr25519KeypairFromSeed(createHash('sha256').update(`trainyard workload\0${seed}\0${index}`).digest());
	return { secretKey: bytes.slice(0, 64), publicKey: bytes.slice(64) };
}

/** An account, and which of its nonces are free. */
export class Account {
	#holes = [];

	/** `line`: number of the connection that it sends by, so that its transactions keep their order. */
	constructor({ index, pair, line = 0, nonce = 0 }) {
		Object.assign(this, { index, pair, line, next: nonce, busy: false });
	}

	/** Takes the least free nonce. */
	take() {
		return this.#holes.length ? this.#holes.shift() : this.next++;
	}

	/** Gives a nonce back whose transaction was refused: without another one there, later ones would wait for ever. */
	giveBack(nonce) {
		this.#holes.push(nonce);
		this.#holes.sort((a, b) => a - b);
	}

	/** Nonces below the next one for which nothing was sent. */
	get holes() {
		return this.#holes.length;
	}
}
