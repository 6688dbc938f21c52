// Meeting a Trainyard node: connecting, calling, signing.

import { ApiPromise, WsProvider } from '@polkadot/api';
import { Keyring } from '@polkadot/keyring';
import { cryptoWaitReady } from '@polkadot/util-crypto';
import { UserError, explainDispatchError, explainPoolError } from './errors.js';

/** The protocol that this package speaks; a node that speaks another is refused. */
export const PROTOCOL_VERSION = 28;
/** Where a local node listens. */
export const DEFAULT_NODE = 'ws://127.0.0.1:9944';

/** One JSON-RPC call over plain HTTP; needs no connection. */
export async function httpRpc(url, method, params = [], timeoutMs = 5_000) {
	const http = url.replace(/^ws(s?):\/\//, 'http$1://');
	const response = await fetch(http, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
		signal: AbortSignal.timeout(timeoutMs),
	});
	const { result, error } = await response.json();
	if (error) throw new Error(`${method}: ${error.message}`);
	return result;
}

/**
 * Connects to a node and checks that it is a Trainyard chain of our protocol. Close with
 * `api.disconnect()`.
 */
export async function connect(url = DEFAULT_NODE) {
	if (!/^wss?:\/\/./.test(url)) {
		throw new UserError(`--node: "${url}" is not a ws:// or wss:// URL`);
	}
	try {
		await httpRpc(url, 'system_chain');
	} catch (error) {
		const why = error.cause?.code ?? error.message;
		throw new UserError(
			`no node answers at ${url} (${why}). Start one with "./scripts/demo --keep", or pass --node URL`,
		);
	}
	const provider = new WsProvider(url, 1_000, {}, 20_000);
	const api = await ApiPromise.create({ provider, noInitWarn: true, throwOnConnect: true });
	try {
		const version = api.call.trainyardApi && (await api.call.trainyardApi.protocolVersion());
		if (!version) {
			throw new UserError(`the node at ${url} runs "${api.runtimeVersion.specName}", not a Trainyard chain`);
		}
		if (!version.eq(PROTOCOL_VERSION)) {
			throw new UserError(
				`the chain at ${url} speaks protocol ${version}, this package speaks ${PROTOCOL_VERSION}. Use the package of the chain's release`,
			);
		}
	} catch (error) {
		await api.disconnect();
		throw error;
	}
	return api;
}

/** A key pair from a secret URI (`//Alice`, a mnemonic, a 0x seed), sr25519. */
export async function keyFromSuri(suri) {
	await cryptoWaitReady();
	try {
		return new Keyring({ type: 'sr25519', ss58Format: 42 }).addFromUri(suri);
	} catch (error) {
		throw new UserError(`--suri: not a secret URI (//Name, a mnemonic or a 0x seed): ${error.message}`);
	}
}

/** A JSON-RPC method that polkadot.js does not know. */
export const rpc = (api, method, params) => api._rpcCore.provider.send(method, params);

/** Everything about a job as JSON, or null when there is none with this number. */
export const job = (api, id) => rpc(api, 'trainyard_job', [id]);

/**
 * Signs and sends `tx`, waits until it is in a block, and fails in words when the pool or
 * the chain refuses it.
 *
 * Returns the block's hash, the events, and the fee paid.
 */
export function send(api, tx, signer) {
	return new Promise((resolve, reject) => {
		let stop;
		const end = (settle, value) => {
			stop?.();
			settle(value);
		};
		tx.signAndSend(signer, { nonce: -1 }, ({ status, events, dispatchError }) => {
			if (status.isInvalid || status.isDropped || status.isUsurped) {
				end(reject, new UserError(`the transaction was not taken: ${status.type}`));
			} else if (status.isInBlock || status.isFinalized) {
				if (dispatchError) {
					end(reject, new UserError(explainDispatchError(api.registry, dispatchError)));
				} else {
					const paid = events.find(({ event }) => api.events.transactionPayment.TransactionFeePaid.is(event));
					end(resolve, {
						blockHash: status.isInBlock ? status.asInBlock : status.asFinalized,
						events: events.map(({ event }) => event),
						fee: paid ? paid.event.data[1].toBigInt() : 0n,
					});
				}
			}
		}).then(
			(unsubscribe) => {
				stop = unsubscribe;
			},
			(error) => reject(new UserError(`the transaction was refused: ${explainPoolError(error)}`)),
		);
	});
}
