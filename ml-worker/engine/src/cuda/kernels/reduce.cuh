// The parts of strict sums: sixteen lanes, and the tree that combines them.
#pragma once
#include "strict.cuh"

// Threads of a block whose sixteen-thread groups each work on a row or a block of a sum.
#define GROUP_THREADS 256u
#define GROUPS (GROUP_THREADS / LANES)

// Lane j adds lane j + 8, then j + 4, j + 2, j + 1; lane i is at `lanes[i * stride]`.
DEVICE f32 tree(const f32* lanes, u32 stride) {
	f32 v[LANES];
#pragma unroll
	for (u32 j = 0; j < LANES; j++) v[j] = lanes[j * stride];
#pragma unroll
	for (u32 w = LANES / 2; w > 0; w /= 2) {
#pragma unroll
		for (u32 j = 0; j < w; j++) v[j] = add(v[j], v[j + w]);
	}
	return v[0];
}

// A row, and the part that this thread has in it: one of sixteen lanes. All threads of a block
// go through the same barriers, also those whose row does not exist.
struct Row {
	u64 index;
	u32 lane;
	// Sixteen places that the threads of the row share.
	f32* shared;
};

DEVICE Row this_row(f32* shared) {
	u32 group = threadIdx.x / LANES;
	Row row;
	row.index = (u64)blockIdx.x * GROUPS + group;
	row.lane = threadIdx.x % LANES;
	row.shared = shared + group * LANES;
	return row;
}

// The tree over the row's lanes, for each of its threads.
DEVICE f32 row_tree(const Row& row, f32 lane) {
	row.shared[row.lane] = lane;
	__syncthreads();
	f32 sum = tree(row.shared, 1);
	__syncthreads();
	return sum;
}

// Strict sum of `term(0)` to `term(n - 1)`, for each thread of the row; `most`, the same for
// the whole block, is at least `n` and at most 2^20.
template <class Term>
DEVICE f32 row_sum(const Row& row, u32 n, u32 most, Term term) {
	u32 blocks = most <= SUM_BLOCK ? 1 : (most + SUM_BLOCK - 1) / SUM_BLOCK;
	f32 first = 0.0f, upper = 0.0f;
	for (u32 b = 0; b < blocks; b++) {
		u32 begin = b * SUM_BLOCK;
		u32 end = n < begin + SUM_BLOCK ? n : begin + SUM_BLOCK;
		f32 lane = 0.0f;
		for (u32 i = begin + row.lane; i < end; i += LANES) lane = add(lane, term(i));
		f32 sum = row_tree(row, lane);
		if (b == 0) first = sum;
		// The sums of blocks are summed by the same rule.
		if (begin < n && b % LANES == row.lane) upper = add(upper, sum);
	}
	if (blocks == 1) return first;
	f32 sum = row_tree(row, upper);
	return n > SUM_BLOCK ? sum : first;
}

// Strict maximum of `term(0)` to `term(n - 1)`, for each thread of the row.
template <class Term>
DEVICE f32 row_max(const Row& row, u32 n, Term term) {
	f32 largest = number(0xFF800000u);
	for (u32 i = row.lane; i < n; i += LANES) {
		f32 x = term(i);
		largest = x > largest ? x : largest;
	}
	row.shared[row.lane] = largest;
	__syncthreads();
	for (u32 j = 0; j < LANES; j++) {
		f32 x = row.shared[j];
		largest = x > largest ? x : largest;
	}
	__syncthreads();
	// A zero is +0 from here on, whichever came first.
	return add(largest, 0.0f);
}
