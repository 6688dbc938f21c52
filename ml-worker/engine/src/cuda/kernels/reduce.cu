// Sums over whole tensors, columns and channels, one level of blocks at a time: the worker
// launches again on the sums of blocks until one is left.
#include "reduce.cuh"

// Block `b` of sum `row`: sixteen threads; `blocks` blocks of a sum of `n` terms.
template <class Term>
DEVICE void block_sums(f32* shared, f32* out, u64 sums, u64 n, u64 blocks, Term term) {
	Row group = this_row(shared);
	bool exists = group.index < sums * blocks;
	u64 sum = exists ? group.index / blocks : 0;
	u64 begin = exists ? group.index % blocks * SUM_BLOCK : n;
	u64 end = begin + SUM_BLOCK < n ? begin + SUM_BLOCK : n;
	f32 lane = 0.0f;
	for (u64 i = begin + group.lane; i < end; i += LANES) lane = add(lane, term(sum, i));
	f32 total = row_tree(group, lane);
	if (exists && group.lane == 0) out[group.index] = total;
}

// Sums of blocks of the rows of [sums, n]; of the squares of the elements with `square`.
KERNEL sum_blocks(const f32* x, f32* out, u64 sums, u64 n, u64 blocks, u32 square) {
	__shared__ f32 shared[GROUP_THREADS];
	block_sums(shared, out, sums, n, blocks, [=](u64 sum, u64 i) {
		f32 v = x[sum * n + i];
		return square ? mul(v, v) : v;
	});
}

// Sums of blocks of each channel of [images, channels, area], over image and place.
KERNEL sum_channel_blocks(const f32* x, f32* out, u64 channels, u64 n, u64 blocks, u64 area) {
	__shared__ f32 shared[GROUP_THREADS];
	block_sums(shared, out, channels, n, blocks, [=](u64 channel, u64 i) {
		return x[(i / area * channels + channel) * area + i % area];
	});
}

#define COLUMNS 32u

// Sums of blocks of the columns of [rows, cols]: `out` is [blocks, cols]. A block of threads has
// 32 columns of one block of rows, sixteen lanes each.
KERNEL sum_column_blocks(const f32* x, f32* out, u64 rows, u32 cols) {
	__shared__ f32 shared[LANES * COLUMNS];
	u32 tiles = (cols + COLUMNS - 1) / COLUMNS;
	u32 lane = threadIdx.x / COLUMNS, place = threadIdx.x % COLUMNS;
	u64 column = (u64)(blockIdx.x % tiles) * COLUMNS + place;
	u64 block = blockIdx.x / tiles;
	u64 begin = block * SUM_BLOCK;
	u64 end = begin + SUM_BLOCK < rows ? begin + SUM_BLOCK : rows;
	f32 sum = 0.0f;
	if (column < cols) {
		for (u64 i = begin + lane; i < end; i += LANES) sum = add(sum, x[i * cols + column]);
	}
	shared[threadIdx.x] = sum;
	__syncthreads();
	if (lane == 0 && column < cols) out[block * cols + column] = tree(shared + place, COLUMNS);
}
