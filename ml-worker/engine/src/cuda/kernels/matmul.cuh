// Products of matrices as a problem of `product.cuh`.
#pragma once
#include "product.cuh"

// `batch` products of [m, k] and [k, n]; a transposed operand is stored as [k, m] or [n, k].
template <bool TRANSPOSE_A, bool TRANSPOSE_B>
struct MatMul {
	const f32 *x, *y;
	u32 m, n, k;

	DEVICE MatMul(const f32* x, const f32* y, u32 m, u32 n, u32 k) : x(x), y(y), m(m), n(n), k(k) {}
	static const bool A_TERMS_NEXT = !TRANSPOSE_A, B_TERMS_NEXT = TRANSPOSE_B;
	typedef const f32* Left;
	typedef const f32* Right;
	DEVICE Left left(u64 batch, u32 row) const {
		return x + batch * m * k + (TRANSPOSE_A ? (u64)row : (u64)row * k);
	}
	DEVICE Right right(u64 batch, u32 column) const {
		return y + batch * k * n + (TRANSPOSE_B ? (u64)column * k : (u64)column);
	}
	DEVICE f32 a(Left row, u32 term) const { return row[TRANSPOSE_A ? (u64)term * m : term]; }
	DEVICE f32 b(Right column, u32 term) const {
		return column[TRANSPOSE_B ? term : (u64)term * n];
	}
	DEVICE u64 place(u64 batch, u32 row, u32 column) const {
		return (batch * m + row) * n + column;
	}
};

#define MATMUL_PARAMETERS \
	(const f32* x, const f32* y, f32* out, u32 m, u32 n, u32 k, u32 parts, u64 part_size)
typedef MatMul<false, false> MatMulNN;
typedef MatMul<false, true> MatMulNT;
typedef MatMul<true, false> MatMulTN;
typedef MatMul<true, true> MatMulTT;
