// Operators of which every output depends on few elements: one thread for each output.
#include "functions.cuh"

KERNEL fill(f32* out, f32 value, u64 n) {
	EACH(i, n) out[i] = value;
}

KERNEL scale(const f32* x, f32* out, u64 n, f32 value, const f32* tensor, u32 from_tensor) {
	f32 factor = factor_of(value, tensor, from_tensor);
	EACH(i, n) out[i] = mul(factor, x[i]);
}

KERNEL decay(const f32* x, f32* out, u64 n, f32 weight_decay, f32 value, const f32* tensor,
	u32 from_tensor) {
	f32 factor = fused(negated(factor_of(value, tensor, from_tensor)), weight_decay, 1.0f);
	EACH(i, n) out[i] = mul(factor, x[i]);
}

KERNEL mul_add(const f32* x, const f32* y, f32* out, u64 n, u32 negate, f32 value,
	const f32* tensor, u32 from_tensor) {
	f32 factor = factor_of(value, tensor, from_tensor);
	factor = negate ? negated(factor) : factor;
	EACH(i, n) out[i] = fused(factor, x[i], y[i]);
}

KERNEL ema(const f32* average, const f32* x, f32* out, u64 n, f32 keep, f32 take) {
	EACH(i, n) out[i] = fused(keep, average[i], mul(take, x[i]));
}

KERNEL ema_square(const f32* average, const f32* x, f32* out, u64 n, f32 keep, f32 take) {
	EACH(i, n) out[i] = fused(keep, average[i], mul(take, mul(x[i], x[i])));
}

KERNEL adam_step(const f32* x, const f32* m, const f32* v, const f32* power1, const f32* power2,
	f32* out, u64 n, f32 epsilon, f32 value, const f32* tensor, u32 from_tensor) {
	f32 minus_rate = negated(factor_of(value, tensor, from_tensor));
	f32 rest1 = sub(1.0f, power1[0]), rest2 = sub(1.0f, power2[0]);
	EACH(i, n) {
		f32 step = divide(divide(m[i], rest1), add(root(divide(v[i], rest2)), epsilon));
		out[i] = fused(minus_rate, step, x[i]);
	}
}

KERNEL add_elements(const f32* x, const f32* y, f32* out, u64 n) {
	EACH(i, n) out[i] = add(x[i], y[i]);
}

KERNEL divide_elements(const f32* x, f32* out, u64 n, f32 by) {
	EACH(i, n) out[i] = divide(x[i], by);
}

// Also AddRow: a row is the channels of an image of area 1.
KERNEL add_channel(const f32* x, const f32* channel, f32* out, u64 n, u32 channels, u64 area) {
	EACH(i, n) out[i] = add(x[i], channel[i / area % channels]);
}

KERNEL relu(const f32* x, f32* out, u64 n) {
	EACH(i, n) out[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

KERNEL relu_grad(const f32* gradient, const f32* activation, f32* out, u64 n) {
	EACH(i, n) out[i] = activation[i] > 0.0f ? gradient[i] : 0.0f;
}

KERNEL activation(u32 function, const f32* x, f32* out, u64 n) {
	EACH(i, n) out[i] = activated(function, x[i]);
}

KERNEL activation_grad(u32 function, const f32* gradient, const f32* at, f32* out, u64 n) {
	EACH(i, n) out[i] = activation_slope(function, gradient[i], at[i]);
}

// [outer, a, b, inner] as [outer, b, a, inner].
KERNEL swap_axes(const f32* x, f32* out, u64 n, u32 a, u32 b, u32 inner) {
	EACH(i, n) {
		u64 t = i / inner, place = i % inner;
		u64 in_a = t % a, in_b = t / a % b, outer = t / a / b;
		out[i] = x[((outer * a + in_a) * b + in_b) * inner + place];
	}
}

KERNEL row_loss(const f32* log_p, const u32* labels, f32* out, u64 rows, u32 cols) {
	EACH(i, rows) out[i] = negated(log_p[i * cols + labels[i]]);
}

KERNEL row_loss_grad(const f32* log_p, const u32* labels, f32* out, u64 n, u32 cols, f32 rows) {
	EACH(i, n) {
		f32 hot = i % cols == labels[i / cols] ? 1.0f : 0.0f;
		out[i] = divide(sub(strict_exp(log_p[i]), hot), rows);
	}
}

// 1 where the first of the largest elements of a row is at its label.
KERNEL correct(const f32* logits, const u32* labels, f32* out, u64 rows, u32 cols) {
	EACH(i, rows) {
		const f32* row = logits + i * cols;
		u32 best = 0;
		f32 largest = row[0];
		for (u32 j = 1; j < cols; j++) {
			f32 x = row[j];
			if (x > largest) {
				best = j;
				largest = x;
			}
		}
		out[i] = best == labels[i] ? 1.0f : 0.0f;
	}
}

// `count` is rows times columns.
KERNEL squared_loss_grad(const f32* x, const u32* labels, f32* out, u64 n, u32 cols, f32 count) {
	EACH(i, n) {
		f32 hot = i % cols == labels[i / cols] ? 1.0f : 0.0f;
		f32 d = sub(x[i], hot);
		out[i] = divide(add(d, d), count);
	}
}

KERNEL clip_factor(const f32* squares, f32* out, f32 largest) {
	EACH(i, 1) {
		f32 norm = root(squares[0]);
		out[0] = norm > largest ? divide(largest, norm) : 1.0f;
	}
}

// Row `tokens[i]` of the table; NaN where there is none (the data are checked before).
KERNEL embedding(const f32* table, const f32* tokens, f32* out, u64 n, u32 vocabulary, u32 width) {
	EACH(i, n) {
		f32 x = tokens[i / width];
		u32 token = x >= 0.0f && x < 4294967040.0f ? (u32)x : vocabulary;
		out[i] = token < vocabulary ? table[(u64)token * width + i % width] : number(0x7FC00000u);
	}
}

// For each of the tokens: the next place of the same token (`rows` where there is none), and
// whether this is its first place.
KERNEL token_chain(const f32* tokens, u32* next, u32* first, u32 rows) {
	EACH(i, rows) {
		f32 token = tokens[i];
		u32 after = (u32)i + 1;
		while (after < rows && tokens[after] != token) after++;
		u32 before = 0;
		while (tokens[before] != token && before < i) before++;
		next[i] = after;
		first[i] = before == i;
	}
}

// Adds the gradients at a token's places in ascending order, beginning at its first place. `out`
// must hold +0 before.
KERNEL embedding_grad(const f32* gradient, const f32* tokens, const u32* next, const u32* first,
	f32* out, u32 rows, u32 vocabulary, u32 width) {
	EACH(i, (u64)rows * width) {
		u32 row = (u32)(i / width), j = (u32)(i % width);
		f32 x = tokens[row];
		if (!first[row] || !(x >= 0.0f && x < __uint2float_rn(vocabulary))) continue;
		f32 total = 0.0f;
		for (u32 at = row; at < rows; at = next[at]) {
			total = add(total, gradient[(u64)at * width + j]);
		}
		out[(u64)(u32)x * width + j] = total;
	}
}

// Sets `flag` to 1 where an element is NaN. Several threads may write it; all write the same.
KERNEL find_nan(const f32* x, u64 n, f32* flags, u32 flag) {
	EACH(i, n) {
		if (x[i] != x[i]) flags[flag] = 1.0f;
	}
}

// Functions and operations by number, for checks of the device: see `check.rs`.
KERNEL functions(u32 function, const f32* x, const f32* y, const f32* z, f32* out, u64 n) {
	EACH(i, n) {
		f32 a = x[i];
		switch (function) {
		case 0: out[i] = strict_exp(a); break;
		case 1: out[i] = strict_log(a); break;
		case 2: out[i] = strict_erf(a); break;
		case 3: out[i] = strict_sigmoid(a); break;
		case 4: out[i] = strict_tanh(a); break;
		case 5: out[i] = strict_cos_pi(a); break;
		case 6: out[i] = inverse_normal(a); break;
		case 7: out[i] = root(a); break;
		case 8: out[i] = add(a, y[i]); break;
		case 9: out[i] = mul(a, y[i]); break;
		case 10: out[i] = divide(a, y[i]); break;
		default: out[i] = fused(a, y[i], z[i]);
		}
	}
}
