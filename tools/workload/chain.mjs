// What the chain of a node is and has: its kinds of calls, its limits, balances and nonces of accounts.

import {
	compactToU8a,
	hexToU8a,
	u8aConcat,
	u8aToHex,
} from '../../packages/polkadot-js/node_modules/@polkadot/util/index.js';
import { blake2AsU8a, xxhashAsU8a } from '../../packages/polkadot-js/node_modules/@polkadot/util-crypto/index.js';
import { UserError } from '../../packages/polkadot-js/src/errors.js';
import { fixed } from '../../packages/polkadot-js/src/units.js';
import { callIndex, describe, limits } from '../node-bench/runtime.mjs';
import { KINDS } from './declaration.mjs';

/** Accounts that are asked for in one call. */
const ASKED = 500;

/** Reads what the chain is by a connection. */
export async function readChain(connection) {
	const [description, name, version, properties, runtime] = await Promise.all([
		// A transaction extension that is not known: nothing could be signed.
		describe(Object.assign(connection, { name: connection.url })).catch((error) => {
			throw new UserError(`transactions cannot be written for this chain: ${error.message}`);
		}),
		connection.rpc('system_chain'),
		connection.rpc('system_version'),
		connection.rpc('system_properties'),
		connection.rpc('state_getRuntimeVersion'),
	]);
	const decimals = [properties?.tokenDecimals].flat()[0];
	return {
		description,
		limits: { ...limits(description), weights: weightLimits(description) },
		name,
		version,
		runtime: `${runtime.specName} ${runtime.specVersion}`,
		genesis: description.plain.genesis,
		decimals: decimals ?? 12,
		symbol: [properties?.tokenSymbol].flat()[0] ?? '',
		deposit: existentialDeposit(description),
	};
}

const palletOf = ({ metadata }, wanted) => metadata.asLatest.pallets.find(({ name }) => name.toString() === wanted);

function constant(description, pallet, wanted) {
	const found = palletOf(description, pallet)?.constants.find(({ name }) => name.toString() === wanted);
	return (
		found && description.registry.createType(description.registry.createLookupType(found.type), found.value.toU8a(true))
	);
}

/** Most weight of a block and of its normal transactions, in both dimensions. */
function weightLimits(description) {
	const { maxBlock, perClass } = constant(description, 'System', 'BlockWeights');
	const both = (weight) => ({ time: weight.refTime.toNumber(), proof: Number(weight.proofSize.toBigInt()) });
	return { block: both(maxBlock), normal: both(perClass.normal.maxTotal.unwrap()) };
}

const existentialDeposit = (description) => constant(description, 'Balances', 'ExistentialDeposit')?.toBigInt() ?? 0n;

/** Whether the chain has a call. */
export function hasCall(description, pallet, call) {
	try {
		callIndex(description, pallet, call);
		return true;
	} catch {
		return false;
	}
}

/** The kinds of these streams that the chain has not, each with the first call that it lacks. */
export function missingKinds(streams, has) {
	return [...new Set(streams.map(({ kind }) => kind))].flatMap((kind) => {
		const lacks = KINDS[kind].calls.find(([pallet, call]) => !has(pallet, call));
		return lacks ? [{ kind, lacks: lacks.join('.') }] : [];
	});
}

/** Calls as bytes, for streams whose transactions are signed ahead. */
export function calls(description) {
	const [transfer, remark] = [
		callIndex(description, 'Balances', 'transfer_keep_alive'),
		callIndex(description, 'System', 'remark'),
	];
	return {
		transfer: (to, amount) => u8aConcat(transfer, [0], to, compactToU8a(amount)),
		remark: (bytes) => u8aConcat(remark, compactToU8a(bytes.length), bytes),
	};
}

/** An amount in whole units of the chain's currency, in its smallest unit. */
export const inSmallest = ({ decimals }, text, what) => fixed(text, decimals, what);

/** Nonce and free balance of accounts, in the best block. */
export async function statesOf(connection, keys) {
	const prefix = u8aConcat(xxhashAsU8a('System', 128), xxhashAsU8a('Account', 128));
	const names = keys.map((key) => u8aToHex(u8aConcat(prefix, blake2AsU8a(key, 128), key)));
	const found = new Map();
	for (let at = 0; at < names.length; at += ASKED) {
		const [{ changes }] = await connection.rpc('state_queryStorageAt', [names.slice(at, at + ASKED)]);
		for (const [name, value] of changes) found.set(name, value);
	}
	return names.map((name) => {
		const value = found.get(name);
		if (!value) return { nonce: 0, free: 0n };
		const bytes = hexToU8a(value);
		const view = new DataView(bytes.buffer, bytes.byteOffset);
		return { nonce: view.getUint32(0, true), free: view.getBigUint64(16, true) + (view.getBigUint64(24, true) << 64n) };
	});
}

/** The fee of a signed transaction now, in the smallest unit. */
export async function feeOf(connection, { registry }, bytes) {
	const length = new Uint8Array(4);
	new DataView(length.buffer).setUint32(0, bytes.length, true);
	const answer = await connection.rpc('state_call', [
		'TransactionPaymentApi_query_info',
		u8aToHex(u8aConcat(bytes, length)),
	]);
	return registry.createType('(Weight, u8, u128)', hexToU8a(answer))[2].toBigInt();
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Sees to it that each of `accounts` has its `funds`, by transfers of `funder`, and reads all nonces. `sign` as of
 * the sender; `progress(done, all)` hears how far it is.
 */
export async function fund({ connection, chain, accounts, funder, sign, transfer, progress = () => {} }) {
	const states = await statesOf(
		connection,
		accounts.map(({ pair }) => pair.publicKey),
	);
	const poor = accounts.filter(({ funds }, index) => states[index].free < funds);
	accounts.forEach((account, index) => (account.next = states[index].nonce));
	if (poor.length === 0) return 0n;
	const [{ nonce, free }] = await statesOf(connection, [funder.pair.publicKey]);
	const needed = poor.reduce((sum, { funds }) => sum + funds, 0n);
	if (free <= needed) {
		const whole = (amount) => `${amount / 10n ** BigInt(chain.decimals)} ${chain.symbol}`.trim();
		throw new UserError(
			`${poor.length} accounts need ${whole(needed)} together, and the funder has ${whole(free)}: ` +
				'name another one by --funder or --funder-file, or lower accounts or funds',
		);
	}
	funder.next = nonce;
	for (const { pair, funds } of poor) {
		const { bytes } = sign(funder, funder.take(), transfer(pair.publicKey, funds));
		try {
			await connection.rpc('author_submitExtrinsic', [u8aToHex(bytes)]);
		} catch (error) {
			throw new UserError(`an account could not be given money: ${error.message}`);
		}
	}
	const end = Date.now() + 120_000 + 60 * poor.length;
	for (;;) {
		const [{ nonce: done }] = await statesOf(connection, [funder.pair.publicKey]);
		progress(poor.length - (funder.next - done), poor.length);
		if (done >= funder.next) break;
		if (Date.now() > end)
			throw new UserError('the accounts did not get their money in time: does the chain make blocks?');
		await sleep(500);
	}
	return needed;
}
