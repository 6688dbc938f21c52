// Nodes of BLAKE3's tree, which the library does not give out: values of the subtrees of a content.
// The hash of a whole content is the library's. Hashes are Uint8Array of 32 bytes.

import { blake3 } from '@noble/hashes/blake3';
import { compress } from '@noble/hashes/blake2';

/** Bytes of a chunk, a leaf of the tree. */
export const CHUNK = 1024;

const BLOCK = 64;
const ROUNDS = 7;
const [CHUNK_START, CHUNK_END, PARENT, ROOT] = [1, 2, 4, 8];
const IV = Uint32Array.of(
	0x6a09e667,
	0xbb67ae85,
	0x3c6ef372,
	0xa54ff53a,
	0x510e527f,
	0x9b05688c,
	0x1f83d9ab,
	0x5be0cd19,
);
const PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];

/** Which word of a block each round reads at which place. */
const SCHEDULE = (() => {
	const rounds = [Array.from({ length: 16 }, (_, i) => i)];
	while (rounds.length < ROUNDS) rounds.push(PERMUTATION.map((i) => rounds.at(-1)[i]));
	return Uint8Array.from(rounds.flat());
})();

/** Hash of a whole content: BLAKE3 with 32 bytes of output and no key. */
export const contentHash = (bytes) => blake3(bytes);

/** Chaining value of one block of at most 64 bytes after `state`. */
function compressed(state, block, counter, flags) {
	const words = new Uint32Array(16);
	block.forEach((byte, i) => {
		words[i >> 2] |= byte << (8 * (i & 3));
	});
	const low = counter % 2 ** 32;
	const rest = [...IV.subarray(0, 4), low, (counter - low) / 2 ** 32, block.length, flags];
	const v = compress(SCHEDULE, 0, words, ROUNDS, ...state, ...rest);
	return Uint32Array.from({ length: 8 }, (_, i) => v[`v${i}`] ^ v[`v${i + 8}`]);
}

/** The bytes of words, little endian. */
function toBytes(words) {
	const bytes = new Uint8Array(4 * words.length);
	const view = new DataView(bytes.buffer);
	words.forEach((word, i) => view.setUint32(4 * i, word, true));
	return bytes;
}

/** Value of the node over two nodes: the content hash where it is the root, a chaining value otherwise. */
export const merged = (left, right, isRoot = false) =>
	toBytes(compressed(IV, Uint8Array.of(...left, ...right), 0, PARENT | (isRoot ? ROOT : 0)));

/**
 * Chaining value of the node with these bytes, at least one, whose first chunk is number `chunk` of its
 * content. The bytes must be all of a node. The whole of a content has its `contentHash` instead.
 */
export function chainingValue(bytes, chunk) {
	if (bytes.length > CHUNK) {
		let left = CHUNK;
		while (2 * left < bytes.length) left *= 2;
		return merged(
			chainingValue(bytes.subarray(0, left), chunk),
			chainingValue(bytes.subarray(left), chunk + left / CHUNK),
		);
	}
	let state = IV;
	for (let at = 0; at < bytes.length; at += BLOCK) {
		const isLast = at + BLOCK >= bytes.length;
		const flags = (at === 0 ? CHUNK_START : 0) | (isLast ? CHUNK_END : 0);
		state = compressed(state, bytes.subarray(at, at + BLOCK), chunk, flags);
	}
	return toBytes(state);
}
