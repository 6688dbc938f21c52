// Philox4x32-10, and what is drawn from its words.
#pragma once
#include "functions.cuh"

DEVICE void philox(u32 c[4], u32 k0, u32 k1) {
#pragma unroll
	for (u32 round = 0; round < 10; round++) {
		u64 p0 = (u64)0xD2511F53u * c[0], p1 = (u64)0xCD9E8D57u * c[2];
		u32 high0 = (u32)(p0 >> 32), high1 = (u32)(p1 >> 32);
		u32 next0 = high1 ^ c[1] ^ k0, next2 = high0 ^ c[3] ^ k1;
		c[0] = next0;
		c[1] = (u32)p1;
		c[2] = next2;
		c[3] = (u32)p0;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
}

// The four words of block `index` at `step`.
DEVICE void block_of(u32 words[4], u32 step, u64 index, u32 k0, u32 k1) {
	words[0] = (u32)index;
	words[1] = (u32)(index >> 32);
	words[2] = step;
	words[3] = 0;
	philox(words, k0, k1);
}

// The normal number that a word chooses.
DEVICE f32 normal(u32 word) {
	// The odd multiple of 2^-24 in (-1, 1) that the upper 24 bits choose: exact.
	i32 odd = (i32)(word >> 8) * 2 + 1 - (1 << 24);
	return inverse_normal(mul(__int2float_rn(odd), number(0x33800000u)));
}
