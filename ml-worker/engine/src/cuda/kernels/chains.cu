// Chains of drilling, many of one size at a time, each under a key of its own.
#include "matmul.cuh"
#include "random.cuh"
#include "whole.cuh"

// Noise on zeros: `n` elements of each chain, at `step` of its key.
KERNEL chain_noise(f32* out, u32 n, u32 chains, const u32* keys, u32 step, f32 deviation) {
	// Blocks of four elements; Rust asks for fewer than 2^32 of them.
	u32 each = (n + 3) / 4;
	EACH(at, (u64)each * chains) {
		u32 chain = (u32)at / each, block = (u32)at - chain * each;
		u32 words[4];
		f32 drawn[4];
		block_of(words, step, block, keys[2 * chain], keys[2 * chain + 1]);
#pragma unroll
		for (u32 j = 0; j < 4; j++) drawn[j] = fused(deviation, normal(words[j]), 0.0f);
		f32* place = out + (u64)chain * n + (u64)block * 4;
		if (n % 4 == 0) {
			store_four(place, drawn);
		} else {
			for (u32 j = 0; j < 4 && block * 4 + j < n; j++) place[j] = drawn[j];
		}
	}
}

struct Tanh {
	static DEVICE f32 of(f32 x) { return strict_tanh(x); }
};

// tanh(X W), for each chain.
PRODUCT_KERNELS(chain_link, MatMulNN, Tanh, MATMUL_PARAMETERS, (x, y, m, n, k))
WHOLE_KERNEL(chain_link_whole, false, false, Tanh)
