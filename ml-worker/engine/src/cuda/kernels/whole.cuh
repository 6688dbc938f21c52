// Products of matrices whose sides are whole tiles: m and n multiples of 128, k of 8. There is nothing
// to look out for at the edges, so all memory is read and written by four numbers at a time, and two
// blocks of threads fit a multiprocessor. Every result takes its terms as in `product.cuh`.
#pragma once
#include "product.cuh"

// Rows and columns of a tile, and terms that are brought at a time.
#define WHOLE 128u
#define WHOLE_TERMS 8u

// Elements of an operand for a tile, [WHOLE_TERMS][WHOLE], which each thread brings four of. Stored
// with neighbouring terms next to each other (`TERMS_NEXT`), a thread's four are terms of one row;
// otherwise they are rows of one term.
template <bool TERMS_NEXT>
struct Bringer {
	const f32* next;
	u64 advance;
	u32 row, term;
	f32 values[4];

	// `rows`: all rows of the operand, of which the tile begins at `first`.
	DEVICE Bringer(const f32* operand, u32 rows, u32 terms, u32 first, u32 begin) {
		u32 t = threadIdx.x;
		if (TERMS_NEXT) {
			row = t / 2;
			term = t % 2 * 4;
			next = operand + (u64)(first + row) * terms + begin + term;
			advance = WHOLE_TERMS;
		} else {
			row = t % 32 * 4;
			term = t / 32;
			next = operand + (u64)(begin + term) * rows + first + row;
			advance = (u64)rows * WHOLE_TERMS;
		}
	}
	DEVICE void fetch() {
		load_four(values, next);
		next += advance;
	}
	DEVICE void keep(f32 (*tile)[WHOLE + 4]) const {
		if (TERMS_NEXT) {
#pragma unroll
			for (u32 i = 0; i < 4; i++) tile[term + i][row] = values[i];
		} else {
			store_four(&tile[term][row], values);
		}
	}
};

template <bool TRANSPOSE_A, bool TRANSPOSE_B, class Finish>
DEVICE void whole_product(const f32* x, const f32* y, f32* out, u32 m, u32 n, u32 k, u32 parts,
	u64 part_size) {
	__shared__ __align__(16) f32 tile_a[2][WHOLE_TERMS][WHOLE + 4];
	__shared__ __align__(16) f32 tile_b[2][WHOLE_TERMS][WHOLE + 4];
	u32 id = blockIdx.x, tiles_n = n / WHOLE, tiles_m = m / WHOLE;
	u32 column = id % tiles_n * WHOLE;
	id /= tiles_n;
	u32 row = id % tiles_m * WHOLE;
	id /= tiles_m;
	u32 part = id % parts;
	u64 batch = id / parts;
	u32 begin = 0, end = k;
	if (parts > 1) {
		begin = part * DOT_BLOCK;
		end = k - begin < DOT_BLOCK ? k : begin + DOT_BLOCK;
		out += part * part_size;
	}
	u32 tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
	Bringer<!TRANSPOSE_A> a(x + batch * m * k, m, k, row, begin);
	Bringer<TRANSPOSE_B> b(y + batch * k * n, n, k, column, begin);

	f32 acc[8][8];
#pragma unroll
	for (u32 i = 0; i < 8; i++) {
#pragma unroll
		for (u32 j = 0; j < 8; j++) acc[i][j] = 0.0f;
	}
	f32* corner = out + (batch * m + row + spread<8>(ty, 0)) * n + column + spread<8>(tx, 0);
	u32 buffer = 0;
	a.fetch();
	b.fetch();
	a.keep(tile_a[buffer]);
	b.keep(tile_b[buffer]);
#pragma unroll 1
	for (u32 from = begin; from < end; from += WHOLE_TERMS) {
		// The tile is there, and all threads are done with the one that is overwritten below.
		__syncthreads();
		bool more = from + WHOLE_TERMS < end;
		if (more) {
			a.fetch();
			b.fetch();
		}
#pragma unroll
		for (u32 at = 0; at < WHOLE_TERMS; at++) {
			step<8, 8>(acc, tile_a[buffer][at], tile_b[buffer][at], tx, ty);
		}
		buffer ^= 1;
		if (more) {
			a.keep(tile_a[buffer]);
			b.keep(tile_b[buffer]);
			// A block of terms ends with a tile.
			if ((from + WHOLE_TERMS) % DOT_BLOCK != 0) continue;
		}
		bool stored = from - begin >= DOT_BLOCK;
#pragma unroll
		for (u32 i = 0; i < 8; i++) {
#pragma unroll
			for (u32 half = 0; half < 8; half += 4) {
				u64 right = spread<8>(0, half), down = spread<8>(0, i);
				f32* place = corner + down * n + right;
				f32 sum[4];
				if (stored) load_four(sum, place);
#pragma unroll
				for (u32 j = 0; j < 4; j++) {
					f32 last = acc[i][half + j];
					sum[j] = stored ? add(sum[j], last) : last;
					if (!more) sum[j] = Finish::of(sum[j]);
					acc[i][half + j] = 0.0f;
				}
				store_four(place, sum);
			}
		}
	}
}

#define WHOLE_KERNEL(name, TRANSPOSE_A, TRANSPOSE_B, Finish) \
	extern "C" __global__ void __launch_bounds__(PRODUCT_THREADS, 2) name MATMUL_PARAMETERS { \
		whole_product<TRANSPOSE_A, TRANSPOSE_B, Finish>(x, y, out, m, n, k, parts, part_size); \
	}
