// The authorities of a local network: accounts, session keys and network identities, all derived
// from names that everyone knows. Never use them where money is at stake.

import {
	Keyring,
	base58Encode,
	blake2AsU8a,
	cryptoWaitReady,
	ed25519PairFromSeed,
	u8aConcat,
	u8aToHex,
} from '../../packages/polkadot-js/src/polkadot.js';

/** The accounts with a balance in the preset; those after them are derived from their number. */
const NAMES = ['Alice', 'Bob', 'Charlie', 'Dave', 'Eve', 'Ferdie'];
/** Most nodes of a network. */
export const MOST_NODES = 16;

/** Name of authority `index`: Alice, Bob, …, Node7, …. */
export const nameOf = (index) => NAMES[index] ?? `Node${index + 1}`;

/** Account and session keys of the authority with this name. */
export async function authority(name) {
	await cryptoWaitReady();
	const suri = `//${name}`;
	const sr25519 = new Keyring({ type: 'sr25519', ss58Format: 42 }).addFromUri(suri);
	const ed25519 = new Keyring({ type: 'ed25519', ss58Format: 42 }).addFromUri(suri);
	return {
		name,
		suri,
		address: sr25519.address,
		/** For BABE and for GRANDPA, as the specification writes them. */
		session: { babe: sr25519.address, grandpa: ed25519.address },
		babe: u8aToHex(sr25519.publicKey),
		/** What the keystore's files are named by. */
		keystore: { babe: sr25519.publicKey, gran: ed25519.publicKey },
	};
}

/** Secret key and peer id of the node with this name in the network. */
export async function networkIdentity(name) {
	await cryptoWaitReady();
	const seed = blake2AsU8a(`trainyard local network: ${name}`);
	const { publicKey } = ed25519PairFromSeed(seed);
	// The identity multihash (0x00, 36 bytes) of the key in libp2p's protobuf.
	const peer = base58Encode(u8aConcat(new Uint8Array([0x00, 0x24, 0x08, 0x01, 0x12, 0x20]), publicKey));
	return { secret: u8aToHex(seed).slice(2), peer };
}
