// BLAKE3 of inputs that are all as long, a power of two of chunks of 1 KiB.
#include "strict.cuh"

enum Flags : u32 { CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8 };

// Words of a chaining value, of a block, and of a chunk.
#define CHAINING 8u
#define BLOCK_WORDS 16u
#define CHUNK_WORDS 256u

DEVICE u32 initial_word(u32 i) {
	const u32 IV[CHAINING] = {0x6A09E667u, 0xBB67AE85u, 0x3C6EF372u, 0xA54FF53Au, 0x510E527Fu,
		0x9B05688Cu, 0x1F83D9ABu, 0x5BE0CD19u};
	return IV[i];
}

DEVICE u32 rotated(u32 x, u32 by) { return (x >> by) | (x << (32 - by)); }

DEVICE void quarter(u32 v[16], u32 a, u32 b, u32 c, u32 d, u32 x, u32 y) {
	v[a] += v[b] + x;
	v[d] = rotated(v[d] ^ v[a], 16);
	v[c] += v[d];
	v[b] = rotated(v[b] ^ v[c], 12);
	v[a] += v[b] + y;
	v[d] = rotated(v[d] ^ v[a], 8);
	v[c] += v[d];
	v[b] = rotated(v[b] ^ v[c], 7);
}

// Compresses a whole block of words into the chaining value.
DEVICE void compress(u32 chaining[CHAINING], u32 m[BLOCK_WORDS], u64 counter, u32 flags) {
	u32 v[16];
#pragma unroll
	for (u32 i = 0; i < CHAINING; i++) v[i] = chaining[i];
#pragma unroll
	for (u32 i = 0; i < 4; i++) v[CHAINING + i] = initial_word(i);
	v[12] = (u32)counter;
	v[13] = (u32)(counter >> 32);
	v[14] = BLOCK_WORDS * 4;
	v[15] = flags;
#pragma unroll
	for (u32 round = 0; round < 7; round++) {
#pragma unroll
		for (u32 i = 0; i < 4; i++) {
			quarter(v, i, 4 + i, 8 + i, 12 + i, m[2 * i], m[2 * i + 1]);
		}
#pragma unroll
		for (u32 i = 0; i < 4; i++) {
			quarter(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[8 + 2 * i],
				m[9 + 2 * i]);
		}
		const u32 FROM[BLOCK_WORDS] = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};
		u32 next[BLOCK_WORDS];
#pragma unroll
		for (u32 i = 0; i < BLOCK_WORDS; i++) next[i] = m[FROM[i]];
#pragma unroll
		for (u32 i = 0; i < BLOCK_WORDS; i++) m[i] = next[i];
	}
#pragma unroll
	for (u32 i = 0; i < CHAINING; i++) chaining[i] = v[i] ^ v[i + CHAINING];
}

// The chaining values of `chunks` chunks, of which each input has `each`.
KERNEL hash_chunks(const u32* x, u32* out, u64 chunks, u32 each) {
	EACH(chunk, chunks) {
		u32 chaining[CHAINING], m[BLOCK_WORDS];
#pragma unroll
		for (u32 i = 0; i < CHAINING; i++) chaining[i] = initial_word(i);
		const u32 LAST = CHUNK_WORDS / BLOCK_WORDS - 1;
#pragma unroll 1
		for (u32 block = 0; block <= LAST; block++) {
#pragma unroll
			for (u32 i = 0; i < BLOCK_WORDS; i++) {
				m[i] = x[chunk * CHUNK_WORDS + block * BLOCK_WORDS + i];
			}
			u32 end = CHUNK_END | (each == 1 ? ROOT : 0);
			u32 flags = (block == 0 ? CHUNK_START : 0) | (block == LAST ? end : 0);
			compress(chaining, m, chunk % each, flags);
		}
#pragma unroll
		for (u32 i = 0; i < CHAINING; i++) out[chunk * CHAINING + i] = chaining[i];
	}
}

// The chaining values above `parents` pairs; `root`: they are the hashes.
KERNEL hash_parents(const u32* x, u32* out, u64 parents, u32 root) {
	EACH(parent, parents) {
		u32 chaining[CHAINING], m[BLOCK_WORDS];
#pragma unroll
		for (u32 i = 0; i < CHAINING; i++) chaining[i] = initial_word(i);
#pragma unroll
		for (u32 i = 0; i < BLOCK_WORDS; i++) m[i] = x[parent * BLOCK_WORDS + i];
		compress(chaining, m, 0, PARENT | (root ? ROOT : 0));
#pragma unroll
		for (u32 i = 0; i < CHAINING; i++) out[parent * CHAINING + i] = chaining[i];
	}
}
