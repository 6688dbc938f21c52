// The parts of polkadot.js that the scripts beside this package use: they have no packages of
// their own.

export { WsProvider } from '@polkadot/api';
export { Keyring } from '@polkadot/keyring';
export { bnToU8a, compactFromU8a, compactToU8a, hexToU8a, u8aConcat, u8aToHex } from '@polkadot/util';
export { base58Encode, blake2AsHex, blake2AsU8a, cryptoWaitReady, ed25519PairFromSeed } from '@polkadot/util-crypto';
