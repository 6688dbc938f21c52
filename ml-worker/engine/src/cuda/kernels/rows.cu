// Operators on rows: sixteen threads for each, the lanes of its sums.
#include "functions.cuh"
#include "reduce.cuh"

KERNEL log_softmax(const f32* logits, f32* out, u64 rows, u32 cols) {
	__shared__ f32 shared[GROUP_THREADS];
	Row row = this_row(shared);
	u32 n = row.index < rows ? cols : 0;
	const f32* x = logits + (n ? row.index * cols : 0);
	f32 m = row_max(row, n, [=](u32 j) { return x[j]; });
	f32 l = strict_log(row_sum(row, n, cols, [=](u32 j) { return strict_exp(sub(x[j], m)); }));
	for (u32 j = row.lane; j < n; j += LANES) out[row.index * cols + j] = sub(sub(x[j], m), l);
}

// Row i of each [size, size] matrix, over its columns j <= i.
KERNEL causal_softmax(const f32* scores, f32* out, u64 rows, u32 size, f32 factor) {
	__shared__ f32 shared[GROUP_THREADS];
	Row row = this_row(shared);
	bool exists = row.index < rows;
	u32 seen = exists ? (u32)(row.index % size) + 1 : 0;
	const f32* x = scores + (exists ? row.index * size : 0);
	f32 m = row_max(row, seen, [=](u32 j) { return mul(factor, x[j]); });
	f32 total = row_sum(row, seen, size,
		[=](u32 j) { return strict_exp(sub(mul(factor, x[j]), m)); });
	for (u32 j = row.lane; exists && j < size; j += LANES) {
		out[row.index * size + j] =
			j < seen ? divide(strict_exp(sub(mul(factor, x[j]), m)), total) : 0.0f;
	}
}

KERNEL causal_softmax_grad(const f32* gradient, const f32* results, f32* out, u64 rows, u32 size,
	f32 factor) {
	__shared__ f32 shared[GROUP_THREADS];
	Row row = this_row(shared);
	bool exists = row.index < rows;
	u32 seen = exists ? (u32)(row.index % size) + 1 : 0;
	const f32* g = gradient + (exists ? row.index * size : 0);
	const f32* p = results + (exists ? row.index * size : 0);
	f32 d = row_sum(row, seen, size, [=](u32 j) { return mul(g[j], p[j]); });
	for (u32 j = row.lane; exists && j < size; j += LANES) {
		out[row.index * size + j] = j < seen ? mul(factor, mul(p[j], sub(g[j], d))) : 0.0f;
	}
}

// Mean and standard deviation of a row of `n` elements; `count` is the columns as binary32.
struct Moments {
	f32 mean, deviation;
};

DEVICE Moments moments(const Row& row, const f32* x, u32 n, u32 cols, f32 count, f32 epsilon) {
	Moments of;
	f32 m = divide(row_sum(row, n, cols, [=](u32 j) { return x[j]; }), count);
	f32 squares = row_sum(row, n, cols, [=](u32 j) {
		f32 d = sub(x[j], m);
		return mul(d, d);
	});
	of.mean = m;
	of.deviation = root(add(divide(squares, count), epsilon));
	return of;
}

DEVICE f32 normal(const Moments& of, f32 x) { return divide(sub(x, of.mean), of.deviation); }

KERNEL layer_norm(const f32* x, const f32* weight, const f32* bias, f32* out, u64 rows, u32 cols,
	f32 count, f32 epsilon) {
	__shared__ f32 shared[GROUP_THREADS];
	Row row = this_row(shared);
	u32 n = row.index < rows ? cols : 0;
	x += n ? row.index * cols : 0;
	Moments of = moments(row, x, n, cols, count, epsilon);
	for (u32 j = row.lane; j < n; j += LANES) {
		out[row.index * cols + j] = fused(normal(of, x[j]), weight[j], bias[j]);
	}
}

KERNEL layer_norm_grad(const f32* gradient, const f32* x, const f32* weight, f32* out, u64 rows,
	u32 cols, f32 count, f32 epsilon) {
	__shared__ f32 shared[GROUP_THREADS];
	Row row = this_row(shared);
	u32 n = row.index < rows ? cols : 0;
	x += n ? row.index * cols : 0;
	const f32* g = gradient + (n ? row.index * cols : 0);
	Moments of = moments(row, x, n, cols, count, epsilon);
	f32 a = divide(row_sum(row, n, cols, [=](u32 j) { return mul(g[j], weight[j]); }), count);
	f32 b = divide(row_sum(row, n, cols,
		[=](u32 j) { return mul(mul(g[j], weight[j]), normal(of, x[j])); }), count);
	for (u32 j = row.lane; j < n; j += LANES) {
		f32 q = mul(g[j], weight[j]), h = normal(of, x[j]);
		out[row.index * cols + j] = divide(sub(sub(q, a), mul(h, b)), of.deviation);
	}
}

// What LayerNormWeightGrad sums over the rows: the gradient times the normalised row.
KERNEL layer_norm_products(const f32* gradient, const f32* x, f32* out, u64 rows, u32 cols,
	f32 count, f32 epsilon) {
	__shared__ f32 shared[GROUP_THREADS];
	Row row = this_row(shared);
	u32 n = row.index < rows ? cols : 0;
	x += n ? row.index * cols : 0;
	Moments of = moments(row, x, n, cols, count, epsilon);
	for (u32 j = row.lane; j < n; j += LANES) {
		u64 i = row.index * cols + j;
		out[i] = mul(gradient[i], normal(of, x[j]));
	}
}

// The root of a row's mean square; `n` and `count` as there.
DEVICE f32 root_mean_square(const Row& row, const f32* x, u32 n, u32 cols, f32 count,
	f32 epsilon) {
	f32 squares = row_sum(row, n, cols, [=](u32 j) { return mul(x[j], x[j]); });
	return root(add(divide(squares, count), epsilon));
}

KERNEL rms_norm(const f32* x, const f32* weight, f32* out, u64 rows, u32 cols, f32 count,
	f32 epsilon) {
	__shared__ f32 shared[GROUP_THREADS];
	Row row = this_row(shared);
	u32 n = row.index < rows ? cols : 0;
	x += n ? row.index * cols : 0;
	f32 s = root_mean_square(row, x, n, cols, count, epsilon);
	for (u32 j = row.lane; j < n; j += LANES) {
		out[row.index * cols + j] = mul(divide(x[j], s), weight[j]);
	}
}

KERNEL rms_norm_grad(const f32* gradient, const f32* x, const f32* weight, f32* out, u64 rows,
	u32 cols, f32 count, f32 epsilon) {
	__shared__ f32 shared[GROUP_THREADS];
	Row row = this_row(shared);
	u32 n = row.index < rows ? cols : 0;
	x += n ? row.index * cols : 0;
	const f32* g = gradient + (n ? row.index * cols : 0);
	f32 s = root_mean_square(row, x, n, cols, count, epsilon);
	f32 b = divide(row_sum(row, n, cols,
		[=](u32 j) { return mul(mul(g[j], weight[j]), divide(x[j], s)); }), count);
	for (u32 j = row.lane; j < n; j += LANES) {
		f32 q = mul(g[j], weight[j]), h = divide(x[j], s);
		out[row.index * cols + j] = divide(sub(q, mul(h, b)), s);
	}
}

// What RmsNormWeightGrad sums over the rows: the gradient times the normalised row.
KERNEL rms_norm_products(const f32* gradient, const f32* x, f32* out, u64 rows, u32 cols,
	f32 count, f32 epsilon) {
	__shared__ f32 shared[GROUP_THREADS];
	Row row = this_row(shared);
	u32 n = row.index < rows ? cols : 0;
	x += n ? row.index * cols : 0;
	f32 s = root_mean_square(row, x, n, cols, count, epsilon);
	for (u32 j = row.lane; j < n; j += LANES) {
		u64 i = row.index * cols + j;
		out[i] = mul(gradient[i], divide(x[j], s));
	}
}

KERNEL squared_loss(const f32* outputs, const u32* labels, f32* out, u64 rows, u32 cols,
	f32 count) {
	__shared__ f32 shared[GROUP_THREADS];
	Row row = this_row(shared);
	u32 n = row.index < rows ? cols : 0;
	const f32* x = outputs + (n ? row.index * cols : 0);
	u32 label = n ? labels[row.index] : 0;
	f32 sum = row_sum(row, n, cols, [=](u32 j) {
		f32 d = sub(x[j], j == label ? 1.0f : 0.0f);
		return mul(d, d);
	});
	if (n && row.lane == 0) out[row.index] = divide(sum, count);
}
