"""Sections 1 to 3 of docs/strict-arithmetic.md: binary32 numbers, reductions, functions.

Every value is a NumPy array of float32, of any shape; functions work on all elements at once.
Sums and maxima go over the first axis, dot products over the last.
"""

import numpy as np

F32 = np.float32
DOT_BLOCK = 512
SUM_BLOCK = 1024
LANES = 16


class CannotCheck(Exception):
	"""What stands in the way of a check: something missing, or something that is not known here."""


def number(bits):
	"""The binary32 with these bits, given as an integer or as hexadecimal text."""
	bits = int(bits, 16) if isinstance(bits, str) else bits
	return np.array([bits], dtype=np.uint32).view(F32)[0]


def numbers(text):
	"""The binary32 numbers whose bits stand in the text, between spaces."""
	return [number(word) for word in text.split()]


def bits(values):
	"""The bits of binary32 numbers, as int64, so that differences of two do not wrap around."""
	return np.asarray(values, dtype=F32).view(np.uint32).astype(np.int64)


def from_bits(values):
	"""The binary32 numbers with these bits (integers from 0 to 2^32 - 1)."""
	return np.asarray(values).astype(np.uint32).view(F32)


def nano(count):
	"""The binary32 of a hyper-parameter that counts 10^-9: its binary64 quotient, rounded again."""
	return F32(np.float64(count) / np.float64(10**9))


def fma(a, b, c):
	"""a * b + c, rounded once, elementwise with broadcasting.

	The product is exact in binary64 (24 + 24 bits). A sum that was rounded to nearest in binary64 and
	then again to binary32 could go wrong at a tie, so the sum is rounded to odd instead: where it
	is inexact and its last bit is 0, it moves to its neighbour on the side of the exact value.
	"""
	product = np.multiply(a, b, dtype=np.float64)
	addend = np.asarray(c, dtype=np.float64)
	total = np.atleast_1d(product + addend)
	# TwoSum (Knuth): total + error is the exact sum. Of an infinite total the error is a NaN, which
	# is neither above nor below 0: infinities and NaNs stay as they are.
	back = total - product
	error = (product - (total - back)) + (addend - back)
	above = error > 0
	inexact = above | (error < 0)
	word = total.view(np.int64)
	move = inexact & ((word & 1) == 0)
	# Sign and magnitude: away from zero is one up in the word, whatever the sign.
	word += np.where(above == (total > 0), 1, -1) * move
	rounded = total.astype(F32)
	return rounded.reshape(np.broadcast(product, addend).shape)


# Reductions


def dot(a, b):
	"""The dot products over the last axis, with broadcasting of those before it."""
	total = np.zeros(np.broadcast(a[..., :1], b[..., :1]).shape[:-1], dtype=F32)
	k = a.shape[-1]
	for start in range(0, k, DOT_BLOCK):
		partial = np.zeros_like(total)
		for p in range(start, min(start + DOT_BLOCK, k)):
			partial = fma(a[..., p], b[..., p], partial)
		total = partial if start == 0 else total + partial
	return total


def matmul(a, b):
	"""The dot products of the rows of a, [..., m, k], and the columns of b, [..., k, n]."""
	return dot(a[..., :, None, :], np.swapaxes(b, -1, -2)[..., None, :, :])


def sum_block(x):
	"""The sum of one block, at most 1,024 elements along the first axis."""
	# The lanes are never -0: they begin at +0, and a sum of +0 and -0 is +0. So adding +0 for
	# the elements that the last row lacks changes nothing.
	missing = -len(x) % LANES
	padded = np.concatenate([x, np.zeros((missing,) + x.shape[1:], dtype=F32)])
	lanes = np.zeros((LANES,) + x.shape[1:], dtype=F32)
	for row in padded.reshape((-1,) + lanes.shape):
		lanes = lanes + row
	width = LANES // 2
	while width > 0:
		lanes = lanes[:width] + lanes[width : 2 * width]
		width //= 2
	return lanes[0]


def reduce_sum(x):
	"""The sum over the first axis: blocks, then blocks of the blocks' sums, until one is left."""
	if len(x) == 0:
		return np.zeros(x.shape[1:], dtype=F32)
	while True:
		x = np.stack([sum_block(x[i : i + SUM_BLOCK]) for i in range(0, len(x), SUM_BLOCK)])
		if len(x) == 1:
			return x[0]


def maximum(x):
	"""The largest over the first axis; a zero is +0, nothing at all is minus infinity."""
	largest = np.full(x.shape[1:], -np.inf, dtype=F32)
	for element in x:
		largest = np.where(element > largest, element, largest)
	return largest + F32(0)


def over_rows(reduce, x):
	"""A reduction over the last axis, which stays there with one element."""
	return reduce(np.moveaxis(x, -1, 0))[..., None]


# Functions

ONE = F32(1)
LOG2_E = number("3FB8AA3B")
LN2_HIGH = number("3F317218")
LN2_LOW = number("B102E308")

EXP_ROUND = number("4B400000")
EXP_HIGH = number("42B20000")
EXP_LOW = number("C2D00000")
EXP_POLYNOMIAL = numbers("3AB511E8 3C091D10 3D2AAC79 3E2AAA49 3EFFFFFE")

LOG_ROOT_HALF = 0x3F3504F3
LOG_POLYNOMIAL = numbers(
	"BD9C5AC8 3E02ADB6 BE06C2A0 3E116D0E BE2A3922 3E4CD004 BE800113 3EAAAAAA"
)

SQRT_2 = number("3FB504F3")
NORMAL_CENTRE = numbers(
	"32F16588 34B84B36 B66C7357 B6935AC1 396532DB BAA45408 BB88E4EF 3E7C8F63 3FC02E2F"
)
NORMAL_TAIL = numbers(
	"B951F09B 38D3B56B 3AB0DC72 BB70BDE7 3BBC127B BBF9C5D7 3C1AA57E 3F8036DB 40354F7E"
)


def polynomial(coefficients, x):
	"""Horner's scheme with fused multiply-adds; the highest coefficient comes first."""
	value = np.broadcast_to(coefficients[0], np.shape(x))
	for coefficient in coefficients[1:]:
		value = fma(value, x, coefficient)
	return value


def power_of_two(exponent):
	"""2^exponent for integers of which it is a normal number, from -126 to 127."""
	return from_bits((np.asarray(exponent) + 127) << 23)


def exp(x):
	"""The exponential function."""
	x = np.asarray(x, dtype=F32)
	nan = np.isnan(x)
	# The result for a NaN is a NaN; 0 stands in for it, so that its bits reach no integer below.
	clamped = np.where(nan, F32(0), x)
	clamped = np.where(clamped > EXP_HIGH, EXP_HIGH, clamped)
	clamped = np.where(clamped < EXP_LOW, EXP_LOW, clamped)
	shifted = fma(clamped, LOG2_E, EXP_ROUND)
	n = shifted - EXP_ROUND
	exponent = bits(shifted) - bits(EXP_ROUND)
	r = fma(n, -LN2_HIGH, clamped)
	r = fma(n, -LN2_LOW, r)
	y = fma(r * r, polynomial(EXP_POLYNOMIAL, r), r) + ONE
	half = exponent >> 1
	return np.where(nan, x, (y * power_of_two(half)) * power_of_two(exponent - half))


def log(x):
	"""The natural logarithm."""
	x = np.asarray(x, dtype=F32)
	ordinary = (x > 0) & (x < np.inf)
	subnormal = ordinary & (x < number("00800000"))
	normal = np.where(ordinary, x, ONE)
	normal = np.where(subnormal, normal * power_of_two(23), normal)
	difference = bits(normal) - LOG_ROOT_HALF
	e = ((difference >> 23) - np.where(subnormal, 23, 0)).astype(F32)
	m = from_bits((difference & (2**23 - 1)) + LOG_ROOT_HALF)
	t = m - ONE
	z = t * t
	y = (polynomial(LOG_POLYNOMIAL, t) * t) * z
	y = fma(e, LN2_LOW, y)
	y = fma(F32(-0.5), z, y)
	value = fma(e, LN2_HIGH, t + y)
	special = np.where(x == 0, F32(-np.inf), np.where(x == np.inf, x, F32(np.nan)))
	return np.where(ordinary, value, special)


def sqrt(x):
	"""The square root, rounded once."""
	return np.sqrt(np.asarray(x, dtype=F32))


def inverse_normal(x):
	"""The standard normal variate below which a share of (1 + x) / 2 lies, for x in (-1, 1)."""
	x = np.asarray(x, dtype=F32)
	w = -log(fma(-x, x, ONE))
	centre = polynomial(NORMAL_CENTRE, w - F32(2.5))
	tail = polynomial(NORMAL_TAIL, sqrt(w) - F32(3))
	return SQRT_2 * (np.where(w < F32(5), centre, tail) * x)


ERF_ROOT = number("3F6D8000")
ERF_CENTRE = numbers("BA1C585E 3BA37227 BCDB3E4C 3DE70CB5 BEC09370 3E0375D3")
ERF_TAIL = numbers("37416652 B9AACC3E 3B6F80E6 BCC2DE43 3DD9A24B 3F229819 3E03BD98")
TANH_POLYNOMIAL = numbers("BBBAF0E1 3CA9134C BD5C1E2D 3E088393 BEAAAA99")
COSINE = numbers("3E6CEABF BFAAE2F0 4081E0EF C09DE9E6")
SINE = numbers("3DA5E12B BF196543 402335DD C0A55DE7 40490FDB")
SQRT_HALF = number("3F3504F3")
DENSITY = number("3ECC422A")


def erf(x):
	"""The error function."""
	a = np.abs(x)
	centre = fma(a, polynomial(ERF_CENTRE, a * a), a)
	t = np.where(a > F32(4), F32(4), a)
	tail = ONE - exp(-fma(t, polynomial(ERF_TAIL, t), t))
	return np.copysign(np.where(a > ERF_ROOT, tail, centre), x)


def sigmoid(x):
	"""The logistic function."""
	e = exp(-np.abs(x))
	return np.where(x < 0, e, ONE) / (ONE + e)


def tanh(x):
	"""The hyperbolic tangent."""
	a = np.abs(x)
	z = a * a
	centre = fma(a, z * polynomial(TANH_POLYNOMIAL, z), a)
	tail = ONE - F32(2) / (exp(a + a) + ONE)
	return np.copysign(np.where(a > F32(0.625), tail, centre), x)


def cos_pi(x):
	"""The cosine of pi x."""
	a = np.abs(x)
	h = a * F32(0.5)
	large = F32(2**23)
	n = np.where(h < large, (h + large) - large, h)
	q = np.abs(a - (n + n))
	mirrored = q > F32(0.75)
	e = np.where(mirrored, ONE - q, q)
	cosine = fma(e * e, polynomial(COSINE, e * e), ONE)
	d = F32(0.5) - q
	sine = d * polynomial(SINE, d * d)
	return np.where(mirrored, -cosine, np.where(q > F32(0.25), sine, cosine))


def relu(x):
	"""x where x > 0, otherwise +0."""
	return np.where(x > 0, x, F32(0))


def relu_grad(g, y):
	"""g where the result y of relu is > 0, otherwise +0."""
	return np.where(y > 0, g, F32(0))


def gelu(x):
	"""x times the share of the standard normal distribution below it."""
	return (F32(0.5) * x) * (ONE + erf(x * SQRT_HALF))


def gelu_grad(g, x):
	"""g times the derivative of gelu."""
	density = DENSITY * exp(F32(-0.5) * (x * x))
	return g * fma(x, density, F32(0.5) * (ONE + erf(x * SQRT_HALF)))


def silu(x):
	"""x times its sigmoid."""
	return x * sigmoid(x)


def silu_grad(g, x):
	"""g times the derivative of silu."""
	s = sigmoid(x)
	return g * (s * fma(x, ONE - s, ONE))


def tanh_grad(g, y):
	"""g times the derivative of tanh, of its result y."""
	return g * fma(-y, y, ONE)


def sigmoid_grad(g, y):
	"""g times the derivative of sigmoid, of its result y."""
	return g * (y * (ONE - y))


def check_machine():
	"""Refuses a processor that flushes subnormal numbers or does not round to nearest."""
	half, two, place = F32(0.5), F32(2), number("33800000")  # place: 2^-24
	results = [
		(number("00800000") * half, 0x00400000),  # a subnormal result
		(number("00400000") * two, 0x00800000),  # a subnormal operand
		(number("00000001") + number("00000001"), 0x00000002),
		(number("3F800000") + place, 0x3F800000),  # ties, to even: once down
		(number("3F800001") + place, 0x3F800002),  # and once up
	]
	if any(bits(value) != expected for value, expected in results):
		raise CannotCheck(
			"this processor flushes subnormal numbers or does not round to nearest;"
			" look for a library in this Python that was built with -ffast-math"
		)
