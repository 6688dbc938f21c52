// Products of matrices: tiles of the result in registers, their operands through shared memory.
//
// A thread owns its outputs, and takes every block of 512 terms from its first to its last term
// in one chain of fused multiply-adds. The first block's result is stored; those of later blocks
// are added to what is stored. Where there are too few outputs to fill the GPU, blocks of terms
// go to different threads (`parts`), and `sum_parts` adds their results in ascending order.
#pragma once
#include "strict.cuh"

// Threads of a block: 16 x 16.
#define SIDE 16u
#define PRODUCT_THREADS (SIDE * SIDE)

// Of 16 threads with COUNT rows (or columns) each, what row `i` of thread `t` is: runs of up to
// four, so that a warp reads shared memory without conflicts.
template <u32 COUNT>
DEVICE u32 spread(u32 t, u32 i) {
	const u32 RUN = COUNT < 4 ? COUNT : 4;
	return i / RUN * (SIDE * RUN) + t * RUN + i % RUN;
}

// One step: terms `at` of the tiles.
template <u32 ROWS, u32 COLS>
DEVICE void step(f32 (&acc)[ROWS][COLS], const f32* a, const f32* b, u32 tx, u32 ty) {
	f32 left[ROWS], right[COLS];
#pragma unroll
	for (u32 i = 0; i < ROWS; i++) left[i] = a[spread<ROWS>(ty, i)];
#pragma unroll
	for (u32 j = 0; j < COLS; j++) right[j] = b[spread<COLS>(tx, j)];
#pragma unroll
	for (u32 i = 0; i < ROWS; i++) {
#pragma unroll
		for (u32 j = 0; j < COLS; j++) acc[i][j] = fused(left[i], right[j], acc[i][j]);
	}
}

// What becomes of a result before it is stored: nothing.
struct Plain {
	static DEVICE f32 of(f32 x) { return x; }
};

// A tile of 16 ROWS x 16 COLS results. `Problem` gives sizes `m`, `n`, `k`, the elements of both
// operands, and the place of a result: typename Left, left(batch, row), a(Left, term); typename
// Right, right(batch, column), b(Right, term); place(batch, row, column); A_TERMS_NEXT,
// B_TERMS_NEXT: whether neighbouring terms are neighbours in memory. `Finish` is applied to each
// result that has all its terms.
template <class Problem, class Finish, u32 ROWS, u32 COLS, u32 DEPTH>
DEVICE void product(const Problem& p, f32* out, u32 parts, u64 part_size) {
	const u32 HEIGHT = SIDE * ROWS, WIDTH = SIDE * COLS;
	// Elements of a tile that a thread brings.
	const u32 A_EACH = HEIGHT * DEPTH / PRODUCT_THREADS, B_EACH = WIDTH * DEPTH / PRODUCT_THREADS;
	// Four more in a row of terms: fewer conflicts when columns are written.
	__shared__ f32 tile_a[2][DEPTH][HEIGHT + 4];
	__shared__ f32 tile_b[2][DEPTH][WIDTH + 4];

	u32 tiles_n = (p.n + WIDTH - 1) / WIDTH, tiles_m = (p.m + HEIGHT - 1) / HEIGHT;
	u32 id = blockIdx.x;
	u32 column = id % tiles_n * WIDTH;
	id /= tiles_n;
	u32 row = id % tiles_m * HEIGHT;
	id /= tiles_m;
	u32 part = id % parts, batch = id / parts;
	u32 begin = 0, end = p.k;
	if (parts > 1) {
		begin = part * DOT_BLOCK;
		end = p.k - begin < DOT_BLOCK ? p.k : begin + DOT_BLOCK;
		out += part * part_size;
	}
	u32 t = threadIdx.x, tx = t % SIDE, ty = t / SIDE;

	// What this thread brings: place `l` of a tile is row `a_row(l)`, term `a_term(l)`.
	auto a_row = [=](u32 l) {
		u32 e = t + l * PRODUCT_THREADS;
		return Problem::A_TERMS_NEXT ? e / DEPTH : e % HEIGHT;
	};
	auto a_term = [=](u32 l) {
		u32 e = t + l * PRODUCT_THREADS;
		return Problem::A_TERMS_NEXT ? e % DEPTH : e / HEIGHT;
	};
	auto b_column = [=](u32 l) {
		u32 e = t + l * PRODUCT_THREADS;
		return Problem::B_TERMS_NEXT ? e / DEPTH : e % WIDTH;
	};
	auto b_term = [=](u32 l) {
		u32 e = t + l * PRODUCT_THREADS;
		return Problem::B_TERMS_NEXT ? e % DEPTH : e / WIDTH;
	};
	typename Problem::Left lefts[A_EACH];
	typename Problem::Right rights[B_EACH];
#pragma unroll
	for (u32 l = 0; l < A_EACH; l++) lefts[l] = p.left(batch, row + a_row(l));
#pragma unroll
	for (u32 l = 0; l < B_EACH; l++) rights[l] = p.right(batch, column + b_column(l));
	f32 next_a[A_EACH], next_b[B_EACH];
	auto fetch = [&](u32 from) {
#pragma unroll
		for (u32 l = 0; l < A_EACH; l++) {
			u32 term = from + a_term(l);
			next_a[l] = term < end && row + a_row(l) < p.m ? p.a(lefts[l], term) : 0.0f;
		}
#pragma unroll
		for (u32 l = 0; l < B_EACH; l++) {
			u32 term = from + b_term(l);
			next_b[l] = term < end && column + b_column(l) < p.n ? p.b(rights[l], term) : 0.0f;
		}
	};
	auto keep = [&](u32 buffer) {
#pragma unroll
		for (u32 l = 0; l < A_EACH; l++) tile_a[buffer][a_term(l)][a_row(l)] = next_a[l];
#pragma unroll
		for (u32 l = 0; l < B_EACH; l++) tile_b[buffer][b_term(l)][b_column(l)] = next_b[l];
	};

	f32 acc[ROWS][COLS];
#pragma unroll
	for (u32 i = 0; i < ROWS; i++) {
#pragma unroll
		for (u32 j = 0; j < COLS; j++) acc[i][j] = 0.0f;
	}
	bool stored = false;
	// Stores the results of a block of terms, or adds them to what is stored.
	auto store = [&](bool all) {
#pragma unroll
		for (u32 i = 0; i < ROWS; i++) {
			u32 y = row + spread<ROWS>(ty, i);
#pragma unroll
			for (u32 j = 0; j < COLS; j++) {
				u32 x = column + spread<COLS>(tx, j);
				if (y < p.m && x < p.n) {
					f32* slot = out + p.place(batch, y, x);
					f32 sum = stored ? add(*slot, acc[i][j]) : acc[i][j];
					*slot = all ? Finish::of(sum) : sum;
				}
				acc[i][j] = 0.0f;
			}
		}
		stored = true;
	};

	u32 buffer = 0;
	if (begin < end) {
		fetch(begin);
		keep(buffer);
	}
	u32 from = begin;
	do {
		// DEPTH divides the block: a block ends with a tile.
		u32 stop = end - from < DOT_BLOCK ? end : from + DOT_BLOCK;
		while (from < stop) {
			// The tile is there, and all threads are done with the one that is overwritten below.
			__syncthreads();
			u32 left = end - from;
			bool more = left > DEPTH;
			if (more) fetch(from + DEPTH);
			if (left >= DEPTH) {
#pragma unroll
				for (u32 at = 0; at < DEPTH; at++) {
					step<ROWS, COLS>(acc, tile_a[buffer][at], tile_b[buffer][at], tx, ty);
				}
			} else {
				// There are no terms after the last: not even 0 may be added.
#pragma unroll 1
				for (u32 at = 0; at < left; at++) {
					step<ROWS, COLS>(acc, tile_a[buffer][at], tile_b[buffer][at], tx, ty);
				}
			}
			buffer ^= 1;
			if (more) keep(buffer);
			from = more ? from + DEPTH : end;
		}
		store(from >= end);
	} while (from < end);
}

// Three tiles of each problem, for large, middle and small results.
#define PRODUCT_KERNELS(name, Problem, Finish, PARAMETERS, ARGUMENTS) \
	extern "C" __global__ void __launch_bounds__(PRODUCT_THREADS, 1) name##_128 PARAMETERS { \
		product<Problem, Finish, 8, 8, 8>(Problem ARGUMENTS, out, parts, part_size); \
	} \
	extern "C" __global__ void __launch_bounds__(PRODUCT_THREADS, 2) name##_64 PARAMETERS { \
		product<Problem, Finish, 4, 4, 16>(Problem ARGUMENTS, out, parts, part_size); \
	} \
	extern "C" __global__ void __launch_bounds__(PRODUCT_THREADS, 2) name##_32 PARAMETERS { \
		product<Problem, Finish, 2, 2, 16>(Problem ARGUMENTS, out, parts, part_size); \
	}
