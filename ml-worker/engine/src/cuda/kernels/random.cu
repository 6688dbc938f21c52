// What draws from Philox: a thread takes the four elements of a block.
#include "random.cuh"

KERNEL dropout(const f32* x, f32* out, u64 n, u32 k0, u32 k1, u32 step, u32 site, u32 threshold,
	f32 factor) {
	EACH(block, (n + 3) / 4) {
		u32 words[4];
		block_of(words, step, block + ((u64)site << 32), k0, k1);
		for (u32 j = 0; j < 4 && block * 4 + j < n; j++) {
			u64 i = block * 4 + j;
			out[i] = words[j] >= threshold ? mul(factor, x[i]) : 0.0f;
		}
	}
}

KERNEL noise(const f32* x, f32* out, u64 n, u32 k0, u32 k1, u32 step, f32 deviation) {
	EACH(block, (n + 3) / 4) {
		u32 words[4];
		block_of(words, step, block, k0, k1);
		for (u32 j = 0; j < 4 && block * 4 + j < n; j++) {
			u64 i = block * 4 + j;
			out[i] = fused(deviation, normal(words[j]), x[i]);
		}
	}
}
