// What a chain's metadata says that the measurements need: how to write a signed transfer, which
// limits a block has, what was used of them.

// The libraries are those that packages/polkadot-js installs.
import { Metadata, TypeRegistry } from '../../packages/polkadot-js/node_modules/@polkadot/types/index.js';
import {
	compactFromU8a,
	compactToU8a,
	hexToU8a,
	u8aConcat,
	u8aToHex,
} from '../../packages/polkadot-js/node_modules/@polkadot/util/index.js';
import {
	blake2AsU8a,
	encodeAddress,
	xxhashAsU8a,
} from '../../packages/polkadot-js/node_modules/@polkadot/util-crypto/index.js';
// util-crypto signs in plain JavaScript, 15 times as slowly.
import {
	sr25519KeypairFromSeed,
	sr25519Sign,
	waitReady,
} from '../../packages/polkadot-js/node_modules/@polkadot/wasm-crypto/index.js';

/** Transaction extensions that the transfers can carry: bytes in the transaction, bytes only signed. */
const EXTENSIONS = {
	CheckNonZeroSender: () => [[], []],
	CheckSpecVersion: ({ specVersion }) => [[], u32(specVersion)],
	CheckTxVersion: ({ transactionVersion }) => [[], u32(transactionVersion)],
	CheckGenesis: ({ genesis }) => [[], hexToU8a(genesis)],
	// Immortal: that signs the hash of the genesis block.
	CheckMortality: ({ genesis }) => [[0], hexToU8a(genesis)],
	CheckNonce: ({ nonce }) => [compactToU8a(nonce), []],
	CheckWeight: () => [[], []],
	// No tip.
	ChargeTransactionPayment: () => [[0], []],
	// Without a hash.
	CheckMetadataHash: () => [[0], [0]],
	DirectUpload: () => [[], []],
	WeightReclaim: () => [[], []],
};

function u32(value) {
	const bytes = new Uint8Array(4);
	new DataView(bytes.buffer).setUint32(0, value, true);
	return bytes;
}

/** Everything needed to write transfers for a chain; plain data, so that it can go to a thread. */
export async function describe(node) {
	const [metadataHex, version, genesis] = await node.batch([
		['state_getMetadata', []],
		['state_getRuntimeVersion', []],
		['chain_getBlockHash', [0]],
	]);
	const registry = new TypeRegistry();
	const metadata = new Metadata(registry, metadataHex);
	// polkadot.js does not know ours, which carries nothing.
	registry.setMetadata(metadata, undefined, { DirectUpload: { extrinsic: {}, payload: {} } });
	const extensions = metadata.asLatest.extrinsic.transactionExtensions ?? metadata.asLatest.extrinsic.signedExtensions;
	const names = [...extensions].map(({ identifier }) => identifier.toString());
	const unknown = names.filter((name) => !EXTENSIONS[name]);
	if (unknown.length)
		throw new Error(
			`${node.name} has a transaction extension that this benchmark does not know: ${unknown.join(', ')}`,
		);
	return {
		registry,
		metadata,
		plain: {
			extensions: names,
			call: callIndex({ metadata, registry }, 'Balances', 'transfer_keep_alive'),
			specVersion: version.specVersion,
			transactionVersion: version.transactionVersion,
			genesis,
		},
	};
}

/** The two bytes that name a call. */
export function callIndex({ metadata, registry }, pallet, call) {
	const called = (wanted) => (one) => one.name.toString() === wanted;
	const { index, calls } = metadata.asLatest.pallets.find(called(pallet));
	const variant = registry.lookup.getSiType(calls.unwrap().type).def.asVariant.variants.find(called(call));
	return [index.toNumber(), variant.index.toNumber()];
}

/** Key pair of the `index`th account that transfers. */
export function pair(index) {
	const bytes = sr25519KeypairFromSeed(blake2AsU8a(`bench-node account ${index}`));
	return { secretKey: bytes.slice(0, 64), publicKey: bytes.slice(64) };
}

/** Its address. */
export const address = ({ publicKey }) => encodeAddress(publicKey, 42);

/** Resolves when keys can be made. */
export const ready = waitReady;

/** A signed `transfer_keep_alive` of `amount` from `from` to the account `to`, in hex. */
export function signedTransfer(plain, from, to, nonce, amount) {
	return u8aToHex(signed(plain, from, nonce, u8aConcat(plain.call, [0], to, compactToU8a(amount))));
}

/** A transaction of `from` with the bytes of a call. */
export function signed(plain, from, nonce, call) {
	const parts = plain.extensions.map((name) => EXTENSIONS[name]({ ...plain, nonce }));
	const carried = u8aConcat(...parts.map(([bytes]) => bytes));
	let payload = u8aConcat(call, carried, ...parts.map(([, bytes]) => bytes));
	if (payload.length > 256) payload = blake2AsU8a(payload);
	const signature = sr25519Sign(from.publicKey, from.secretKey, payload);
	// Version 4, signed; sender as an account id; sr25519.
	const body = u8aConcat([0x84, 0], from.publicKey, [1], signature, carried, call);
	return u8aConcat(compactToU8a(body.length), body);
}

/** The bytes of the call of a transaction that `signed` made for this account; null of any other. */
export function callOf(plain, { publicKey }, transaction) {
	const [prefix] = compactFromU8a(transaction);
	const body = transaction.subarray(prefix);
	const head = u8aConcat([0x84, 0], publicKey, [1]);
	if (!head.every((byte, at) => body[at] === byte)) return null;
	let at = head.length + 64;
	for (const name of plain.extensions) {
		at += name === 'CheckNonce' ? compactFromU8a(body.subarray(at))[0] : EXTENSIONS[name](plain)[0].length;
	}
	return body.subarray(at);
}

/** The limits of a block that bear on transfers. */
export function limits({ metadata, registry }) {
	const system = metadata.asLatest.pallets.find(({ name }) => name.toString() === 'System');
	const constant = (wanted) => {
		const { type, value } = system.constants.find(({ name }) => name.toString() === wanted);
		return registry.createType(registry.createLookupType(type), value.toU8a(true));
	};
	const weights = constant('BlockWeights');
	const { normal } = weights.perClass;
	return {
		blockMs: weights.maxBlock.refTime.toNumber() / 1e9,
		normalMs: normal.maxTotal.unwrap().refTime.toNumber() / 1e9,
		extrinsicBaseMs: normal.baseExtrinsic.refTime.toNumber() / 1e9,
		blockBaseMs: weights.baseBlock.refTime.toNumber() / 1e9,
		normalBytes: constant('BlockLength').max.normal.toNumber(),
		readUs: constant('DbWeight').read.toNumber() / 1e6,
		writeUs: constant('DbWeight').write.toNumber() / 1e6,
	};
}

/** Weight of one transfer in ms of reference time, extensions and base included. */
export async function transferWeight(node, description, transfer) {
	const bytes = hexToU8a(transfer);
	const answer = await node.rpc('state_call', [
		'TransactionPaymentApi_query_info',
		u8aToHex(u8aConcat(bytes, u32(bytes.length))),
	]);
	const { registry } = description;
	const info = registry.createType('(Weight, u8, u128)', hexToU8a(answer));
	return info[0].refTime.toNumber() / 1e9 + limits(description).extrinsicBaseMs;
}

/** Weight that the block `hash` used, in ms of reference time, by class. */
export async function usedWeight(node, { registry }, hash) {
	const key = u8aToHex(u8aConcat(xxhashAsU8a('System', 128), xxhashAsU8a('BlockWeight', 128)));
	const bytes = await node.rpc('state_getStorage', [key, hash]);
	const [normal, operational, mandatory] = registry.createType('(Weight, Weight, Weight)', hexToU8a(bytes));
	const ms = ({ refTime }) => refTime.toNumber() / 1e9;
	return { normal: ms(normal), operational: ms(operational), mandatory: ms(mandatory) };
}

/** The time that the block `hash` gives, in ms since 1970. */
export async function timeOf(node, hash) {
	const key = u8aToHex(u8aConcat(xxhashAsU8a('Timestamp', 128), xxhashAsU8a('Now', 128)));
	const bytes = hexToU8a(await node.rpc('state_getStorage', [key, hash]));
	return Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
}
