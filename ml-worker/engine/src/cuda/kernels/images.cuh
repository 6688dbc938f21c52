// Square windows over images, as `primitives/program/src/ops/window.rs`.
#pragma once
#include "strict.cuh"

// Passed by value; the field order is that of `Geometry` in `launch.rs`.
struct Window {
	u32 images, channels, height, width, kernel, stride, padding, out_height, out_width;
};

// Index in its plane of what tap (r, s) of window (y, x) reads; -1 in the padding.
DEVICE i64 reads(const Window& w, u32 y, u32 x, u32 r, u32 s) {
	i64 row = (i64)y * w.stride + r - w.padding;
	i64 column = (i64)x * w.stride + s - w.padding;
	bool inside = row >= 0 && row < w.height && column >= 0 && column < w.width;
	return inside ? row * w.width + column : -1;
}
