// Connections to nodes.

import { WsProvider } from '../../packages/polkadot-js/src/polkadot.js';
import { httpRpc } from '../../packages/polkadot-js/src/chain.js';
import { UserError } from '../../packages/polkadot-js/src/errors.js';

/** How long an answer may take, in ms: a node under load takes its time. */
const ANSWER = 60_000;
/** And the first one. */
const FIRST_ANSWER = 20_000;

/** A connection by WebSocket; it comes back by itself when it is lost. */
export class Connection {
	waiting = 0;

	constructor(url) {
		this.url = url;
	}

	async open() {
		// Asked by HTTP first, which says in one sentence that nobody is there.
		try {
			await httpRpc(this.url, 'system_chain', [], FIRST_ANSWER);
		} catch (error) {
			const why = error.cause?.code ?? error.message;
			throw new UserError(`no node answers at ${this.url} (${why}). Start one, or name another one by --node`);
		}
		this.provider = new WsProvider(this.url, 500, {}, ANSWER);
		// It says on the console what the calls say.
		this.provider.on('error', () => {});
		await this.provider.isReady;
		return this;
	}

	/** One call. */
	async rpc(method, params = []) {
		this.waiting++;
		try {
			return await this.provider.send(method, params);
		} finally {
			this.waiting--;
		}
	}

	/** Several calls at once; in the form that tools/node-bench asks for. */
	batch = (calls) => Promise.all(calls.map(([method, params]) => this.rpc(method, params)));

	/** Calls `each` with every notification; the subscription is made again when the connection was lost. */
	subscribe(event, method, each) {
		return this.provider.subscribe(event, method, [], (error, value) => {
			if (!error && value) each(value);
		});
	}

	get connected() {
		return this.provider.isConnected;
	}

	close() {
		return this.provider.disconnect().catch(() => {});
	}
}

/** Why a node refused a transaction, without what is different for each. */
export function reasonOf(error) {
	const text = String(error?.message ?? error).trim();
	if (/No response received|Timeout/i.test(text)) return 'no answer in time';
	if (/WebSocket|disconnected|Abnormal Closure|Normal Closure/i.test(text)) return 'the connection was lost';
	return text.replace(/0x[0-9a-f]{16,}/gi, '0x…').slice(0, 160);
}

/** Whether the nonce of a refused transaction is used by another one all the same. */
export const nonceIsUsed = (reason) => /outdated|stale|already imported|priority is too low|no answer/i.test(reason);
