// Elementary functions: line by line those of `primitives/strict/src/`, which give their errors and
// sources.
#pragma once
#include "strict.cuh"

// Horner's scheme by fused multiply-adds; bits of the coefficients, the highest degree first.
template <u32... COEFFICIENTS>
DEVICE f32 horner(f32 x) {
	const u32 c[] = {COEFFICIENTS...};
	f32 p = number(c[0]);
#pragma unroll
	for (u32 i = 1; i < sizeof...(COEFFICIENTS); i++) p = fused(p, x, number(c[i]));
	return p;
}

// 2^n for n in -126..=127.
DEVICE f32 power_of_two(i32 n) { return number(((u32)n + 127u) << 23); }

DEVICE f32 strict_exp(f32 x) {
	const f32 LOG2_E = number(0x3FB8AA3Bu), LN2_HIGH = number(0x3F317218u);
	const f32 LN2_LOW = number(0xB102E308u), ROUND = number(0x4B400000u);
	x = x > 89.0f ? 89.0f : x;
	x = x < -104.0f ? -104.0f : x;
	f32 shifted = fused(x, LOG2_E, ROUND);
	f32 n = sub(shifted, ROUND);
	f32 r = fused(n, negated(LN2_HIGH), x);
	r = fused(n, negated(LN2_LOW), r);
	f32 q = horner<0x3AB511E8u, 0x3C091D10u, 0x3D2AAC79u, 0x3E2AAA49u, 0x3EFFFFFEu>(r);
	f32 y = add(fused(mul(r, r), q, r), 1.0f);
	i32 whole = (i32)(bits(shifted) - bits(ROUND));
	i32 half = whole >> 1;
	return mul(mul(y, power_of_two(half)), power_of_two(whole - half));
}

DEVICE f32 strict_log(f32 x) {
	const f32 LN2_HIGH = number(0x3F317218u), LN2_LOW = number(0xB102E308u);
	const u32 ROOT_HALF = 0x3F3504F3u;
	bool tiny = x < number(0x00800000u);
	f32 scaled = tiny ? mul(x, number(0x4B000000u)) : x;
	u32 offset = bits(scaled) - ROOT_HALF;
	f32 e = __int2float_rn(((i32)offset >> 23) - (tiny ? 23 : 0));
	f32 m = number((offset & 0x007FFFFFu) + ROOT_HALF);
	f32 t = sub(m, 1.0f);
	f32 z = mul(t, t);
	f32 p = horner<0xBD9C5AC8u, 0x3E02ADB6u, 0xBE06C2A0u, 0x3E116D0Eu, 0xBE2A3922u, 0x3E4CD004u,
		0xBE800113u, 0x3EAAAAAAu>(t);
	f32 y = mul(mul(p, t), z);
	y = fused(e, LN2_LOW, y);
	y = fused(-0.5f, z, y);
	y = fused(e, LN2_HIGH, add(t, y));
	if (x < 0.0f || x != x) return number(0x7FC00000u);
	if (x == 0.0f) return number(0xFF800000u);
	if (x == number(0x7F800000u)) return x;
	return y;
}

// `magnitude`, which is not negative, with the sign bit of `sign`.
DEVICE f32 with_sign_of(f32 magnitude, f32 sign) {
	return number(bits(magnitude) | (bits(sign) & 0x80000000u));
}

DEVICE f32 strict_erf(f32 x) {
	f32 a = magnitude(x);
	f32 q = horner<0xBA1C585Eu, 0x3BA37227u, 0xBCDB3E4Cu, 0x3DE70CB5u, 0xBEC09370u, 0x3E0375D3u>(
		mul(a, a));
	f32 centre = fused(a, q, a);
	f32 t = a > 4.0f ? 4.0f : a;
	f32 r = horner<0x37416652u, 0xB9AACC3Eu, 0x3B6F80E6u, 0xBCC2DE43u, 0x3DD9A24Bu, 0x3F229819u,
		0x3E03BD98u>(t);
	f32 tail = sub(1.0f, strict_exp(negated(fused(t, r, t))));
	f32 y = a > number(0x3F6D8000u) ? tail : centre;
	return with_sign_of(y, x);
}

DEVICE f32 strict_sigmoid(f32 x) {
	f32 e = strict_exp(negated(magnitude(x)));
	f32 above = x < 0.0f ? e : 1.0f;
	return divide(above, add(1.0f, e));
}

DEVICE f32 strict_tanh(f32 x) {
	f32 a = magnitude(x);
	f32 z = mul(a, a);
	f32 p = horner<0xBBBAF0E1u, 0x3CA9134Cu, 0xBD5C1E2Du, 0x3E088393u, 0xBEAAAA99u>(z);
	f32 centre = fused(a, mul(z, p), a);
	f32 tail = sub(1.0f, divide(2.0f, add(strict_exp(add(a, a)), 1.0f)));
	f32 y = a > 0.625f ? tail : centre;
	return with_sign_of(y, x);
}

DEVICE f32 strict_cos_pi(f32 x) {
	const f32 INTEGERS = number(0x4B000000u);
	f32 a = magnitude(x);
	f32 h = mul(a, 0.5f);
	f32 n = h < INTEGERS ? sub(add(h, INTEGERS), INTEGERS) : h;
	f32 q = magnitude(sub(a, add(n, n)));
	bool far = q > 0.75f;
	f32 e = far ? sub(1.0f, q) : q;
	f32 square = mul(e, e);
	f32 c = horner<0x3E6CEABFu, 0xBFAAE2F0u, 0x4081E0EFu, 0xC09DE9E6u>(square);
	f32 cosine = fused(square, c, 1.0f);
	cosine = far ? negated(cosine) : cosine;
	f32 d = sub(0.5f, q);
	f32 s = horner<0x3DA5E12Bu, 0xBF196543u, 0x402335DDu, 0xC0A55DE7u, 0x40490FDBu>(mul(d, d));
	f32 sine = mul(d, s);
	return q > 0.25f && !far ? sine : cosine;
}

DEVICE f32 inverse_normal(f32 x) {
	f32 w = negated(strict_log(fused(negated(x), x, 1.0f)));
	f32 p;
	if (w < 5.0f) {
		p = horner<0x32F16588u, 0x34B84B36u, 0xB66C7357u, 0xB6935AC1u, 0x396532DBu, 0xBAA45408u,
			0xBB88E4EFu, 0x3E7C8F63u, 0x3FC02E2Fu>(sub(w, 2.5f));
	} else {
		p = horner<0xB951F09Bu, 0x38D3B56Bu, 0x3AB0DC72u, 0xBB70BDE7u, 0x3BBC127Bu, 0xBBF9C5D7u,
			0x3C1AA57Eu, 0x3F8036DBu, 0x40354F7Eu>(sub(root(w), 3.0f));
	}
	return mul(number(0x3FB504F3u), mul(p, x));
}

// Numbers of the activations, as in `operators.rs`.
enum Activation : u32 { GELU = 0, SILU = 1, TANH = 2, SIGMOID = 3 };

DEVICE f32 activated(u32 function, f32 x) {
	switch (function) {
	case GELU:
		return mul(mul(0.5f, x), add(1.0f, strict_erf(mul(x, number(0x3F3504F3u)))));
	case SILU: return mul(x, strict_sigmoid(x));
	case TANH: return strict_tanh(x);
	default: return strict_sigmoid(x);
	}
}

// The gradient times the derivative; `at` is the argument of GELU and SiLU, the result of tanh
// and sigmoid.
DEVICE f32 activation_slope(u32 function, f32 gradient, f32 at) {
	f32 slope;
	switch (function) {
	case GELU: {
		f32 below = mul(0.5f, add(1.0f, strict_erf(mul(at, number(0x3F3504F3u)))));
		f32 density = mul(number(0x3ECC422Au), strict_exp(mul(-0.5f, mul(at, at))));
		slope = fused(at, density, below);
		break;
	}
	case SILU: {
		f32 s = strict_sigmoid(at);
		slope = mul(s, fused(at, sub(1.0f, s), 1.0f));
		break;
	}
	case TANH: slope = fused(negated(at), at, 1.0f); break;
	default: slope = mul(at, sub(1.0f, at));
	}
	return mul(gradient, slope);
}
