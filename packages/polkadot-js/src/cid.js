// Content identifiers of IPFS (CID) for chunks: by these a node with `--ipfs-server` gives them out.

import { u8aConcat } from '@polkadot/util';
import { base32Encode } from '@polkadot/util-crypto';

/** Version 1, the codec of plain bytes (0x55), and a hash by BLAKE2b-256 (0xb220) of 32 bytes, as varints. */
const PREFIX = [0x01, 0x55, 0xa0, 0xe4, 0x02, 0x20];

/** The CID of the chunk whose `blake2_256` is `hash`, in base32 as IPFS writes it: `bafk2bza…`. */
export function chunkCid(hash) {
	if (hash.length !== 32) throw new TypeError(`a hash has 32 bytes, not ${hash.length}`);
	return base32Encode(u8aConcat(PREFIX, hash), true);
}
