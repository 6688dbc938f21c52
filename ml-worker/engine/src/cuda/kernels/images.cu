// Pooling, and the gradient of a convolution by its images: one thread for each output, which
// gathers what reaches it in the defined order.
#include "images.cuh"

// Windows whose taps reach row (or column) `at`: the first, and one after the last.
DEVICE void windows_over(const Window& w, u32 at, u32 windows, u32* first, u32* end) {
	i64 place = (i64)at + w.padding;
	i64 begin = place - (i64)w.kernel + 1;
	*first = begin <= 0 ? 0 : (u32)((begin + w.stride - 1) / w.stride);
	i64 last = place / w.stride + 1;
	*end = last < (i64)windows ? (u32)last : windows;
}

// Element `i` of [images, channels, height, width]: plane, row and column.
struct Place {
	u64 plane;
	u32 row, column;
};

DEVICE Place place_of(u64 i, u32 height, u32 width) {
	Place p;
	p.column = (u32)(i % width);
	p.row = (u32)(i / width % height);
	p.plane = i / width / height;
	return p;
}

KERNEL conv_input_grad(const f32* gradient, const f32* weight, f32* out, u64 n, Window w,
	u32 filters) {
	u64 out_area = (u64)w.out_height * w.out_width;
	u64 taps = (u64)w.kernel * w.kernel, patch = taps * w.channels;
	EACH(i, n) {
		Place p = place_of(i, w.height, w.width);
		u64 image = p.plane / w.channels, channel = p.plane % w.channels;
		f32 total = 0.0f;
		for (u32 r = 0; r < w.kernel; r++) {
			i64 y = (i64)p.row + w.padding - r;
			if (y < 0 || y % w.stride || y / w.stride >= w.out_height) continue;
			for (u32 s = 0; s < w.kernel; s++) {
				i64 x = (i64)p.column + w.padding - s;
				if (x < 0 || x % w.stride || x / w.stride >= w.out_width) continue;
				const f32* g = gradient + image * filters * out_area +
					(u64)(y / w.stride) * w.out_width + (u64)(x / w.stride);
				const f32* v = weight + channel * taps + (u64)r * w.kernel + s;
				f32 dot = 0.0f, acc = 0.0f;
				for (u32 o = 0; o < filters; o++) {
					if (o && o % DOT_BLOCK == 0) {
						dot = o == DOT_BLOCK ? acc : add(dot, acc);
						acc = 0.0f;
					}
					acc = fused(g[o * out_area], v[o * patch], acc);
				}
				total = add(total, filters > DOT_BLOCK ? add(dot, acc) : acc);
			}
		}
		out[i] = total;
	}
}

KERNEL max_pool(const f32* x, f32* out, u64 n, Window w) {
	EACH(i, n) {
		Place p = place_of(i, w.out_height, w.out_width);
		const f32* plane = x + p.plane * w.height * w.width;
		f32 largest = number(0xFF800000u);
		for (u32 r = 0; r < w.kernel; r++) {
			for (u32 s = 0; s < w.kernel; s++) {
				i64 at = reads(w, p.row, p.column, r, s);
				if (at >= 0 && plane[at] > largest) largest = plane[at];
			}
		}
		out[i] = add(largest, 0.0f);
	}
}

KERNEL max_pool_grad(const f32* gradient, const f32* x, const f32* maximum, f32* out, u64 n,
	Window w) {
	u64 out_area = (u64)w.out_height * w.out_width;
	EACH(i, n) {
		Place p = place_of(i, w.height, w.width);
		const f32* plane = x + p.plane * w.height * w.width;
		i64 here = (i64)p.row * w.width + p.column;
		u32 y, end_y, first_x, end_x;
		windows_over(w, p.row, w.out_height, &y, &end_y);
		windows_over(w, p.column, w.out_width, &first_x, &end_x);
		f32 total = 0.0f;
		for (; y < end_y; y++) {
			for (u32 column = first_x; column < end_x; column++) {
				u64 window = p.plane * out_area + (u64)y * w.out_width + column;
				// The first place of the window that equals its maximum.
				i64 chosen = -1;
				for (u32 tap = 0; tap < w.kernel * w.kernel && chosen < 0; tap++) {
					i64 at = reads(w, y, column, tap / w.kernel, tap % w.kernel);
					if (at >= 0 && plane[at] == maximum[window]) chosen = at;
				}
				if (chosen == here) total = add(total, gradient[window]);
			}
		}
		out[i] = total;
	}
}

// `count` is the places of a window as binary32.
KERNEL avg_pool(const f32* x, f32* out, u64 n, Window w, f32 count) {
	EACH(i, n) {
		Place p = place_of(i, w.out_height, w.out_width);
		const f32* plane = x + p.plane * w.height * w.width;
		f32 total = 0.0f;
		for (u32 r = 0; r < w.kernel; r++) {
			for (u32 s = 0; s < w.kernel; s++) {
				i64 at = reads(w, p.row, p.column, r, s);
				if (at >= 0) total = add(total, plane[at]);
			}
		}
		out[i] = divide(total, count);
	}
}

KERNEL avg_pool_grad(const f32* gradient, f32* out, u64 n, Window w, f32 count) {
	u64 out_area = (u64)w.out_height * w.out_width;
	EACH(i, n) {
		Place p = place_of(i, w.height, w.width);
		u32 y, end_y, first_x, end_x;
		windows_over(w, p.row, w.out_height, &y, &end_y);
		windows_over(w, p.column, w.out_width, &first_x, &end_x);
		f32 total = 0.0f;
		for (; y < end_y; y++) {
			for (u32 column = first_x; column < end_x; column++) {
				u64 window = p.plane * out_area + (u64)y * w.out_width + column;
				total = add(total, divide(gradient[window], count));
			}
		}
		out[i] = total;
	}
}
