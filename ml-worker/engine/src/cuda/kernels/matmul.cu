// Products of matrices, and convolutions as products.
#include "images.cuh"
#include "matmul.cuh"
#include "whole.cuh"

// The place of window `column` among all the images.
struct WindowPlace {
	const f32* image;
	u32 y, x;
};

// Conv2d: filters by windows, over the places of a window (channel, row, column).
struct Conv {
	const f32 *weight, *images;
	u32 m, n, k;
	Window w;

	DEVICE Conv(const f32* weight, const f32* images, u32 m, u32 n, u32 k, const Window& w)
		: weight(weight), images(images), m(m), n(n), k(k), w(w) {}
	static const bool A_TERMS_NEXT = true, B_TERMS_NEXT = false;
	typedef const f32* Left;
	typedef WindowPlace Right;
	DEVICE Left left(u64, u32 row) const { return weight + (u64)row * k; }
	DEVICE Right right(u64, u32 column) const {
		WindowPlace place;
		place.x = column % w.out_width;
		place.y = column / w.out_width % w.out_height;
		u64 image = column / w.out_width / w.out_height;
		place.image = images + image * w.channels * w.height * w.width;
		return place;
	}
	DEVICE f32 a(Left row, u32 term) const { return row[term]; }
	DEVICE f32 b(const Right& place, u32 term) const {
		u32 s = term % w.kernel, r = term / w.kernel % w.kernel;
		u64 channel = term / w.kernel / w.kernel;
		i64 at = reads(w, place.y, place.x, r, s);
		return at < 0 ? 0.0f : place.image[channel * w.height * w.width + at];
	}
	DEVICE u64 place(u64, u32 row, u32 column) const {
		u32 area = w.out_height * w.out_width;
		return ((u64)(column / area) * m + row) * area + column % area;
	}
};

// Place `column` of a filter: its channel's plane in the first image, and its tap.
struct Tap {
	const f32* plane;
	u32 r, s;
};

// Conv2dWeightGrad: filters by places of a window, over all windows (image, row, column).
struct ConvWeightGrad {
	const f32 *gradient, *images;
	u32 m, n, k;
	Window w;

	DEVICE ConvWeightGrad(const f32* gradient, const f32* images, u32 m, u32 n, u32 k,
		const Window& w)
		: gradient(gradient), images(images), m(m), n(n), k(k), w(w) {}
	static const bool A_TERMS_NEXT = true, B_TERMS_NEXT = true;
	typedef const f32* Left;
	typedef Tap Right;
	DEVICE Left left(u64, u32 row) const {
		return gradient + (u64)row * w.out_height * w.out_width;
	}
	DEVICE Right right(u64, u32 column) const {
		Tap tap;
		tap.s = column % w.kernel;
		tap.r = column / w.kernel % w.kernel;
		u64 channel = column / w.kernel / w.kernel;
		tap.plane = images + channel * w.height * w.width;
		return tap;
	}
	DEVICE f32 a(Left row, u32 term) const {
		u32 area = w.out_height * w.out_width;
		return row[(u64)(term / area) * m * area + term % area];
	}
	DEVICE f32 b(const Right& tap, u32 term) const {
		u32 x = term % w.out_width, y = term / w.out_width % w.out_height;
		u64 image = term / w.out_width / w.out_height;
		i64 at = reads(w, y, x, tap.r, tap.s);
		return at < 0 ? 0.0f : tap.plane[image * w.channels * w.height * w.width + at];
	}
	DEVICE u64 place(u64, u32 row, u32 column) const { return (u64)row * n + column; }
};

PRODUCT_KERNELS(matmul_nn, MatMulNN, Plain, MATMUL_PARAMETERS, (x, y, m, n, k))
PRODUCT_KERNELS(matmul_nt, MatMulNT, Plain, MATMUL_PARAMETERS, (x, y, m, n, k))
PRODUCT_KERNELS(matmul_tn, MatMulTN, Plain, MATMUL_PARAMETERS, (x, y, m, n, k))
PRODUCT_KERNELS(matmul_tt, MatMulTT, Plain, MATMUL_PARAMETERS, (x, y, m, n, k))
WHOLE_KERNEL(matmul_nn_whole, false, false, Plain)
WHOLE_KERNEL(matmul_nt_whole, false, true, Plain)
WHOLE_KERNEL(matmul_tn_whole, true, false, Plain)
WHOLE_KERNEL(matmul_tt_whole, true, true, Plain)

#define CONV_PARAMETERS \
	(const f32* x, const f32* y, f32* out, u32 m, u32 n, u32 k, u32 parts, u64 part_size, Window w)
PRODUCT_KERNELS(conv, Conv, Plain, CONV_PARAMETERS, (x, y, m, n, k, w))
PRODUCT_KERNELS(conv_weight_grad, ConvWeightGrad, Plain, CONV_PARAMETERS, (x, y, m, n, k, w))

// Adds the blocks' results of a product, [parts, n], in ascending order.
KERNEL sum_parts(const f32* x, f32* out, u64 n, u32 parts) {
	EACH(i, n) {
		f32 total = x[i];
		for (u32 part = 1; part < parts; part++) total = add(total, x[part * n + i]);
		out[i] = total;
	}
}
