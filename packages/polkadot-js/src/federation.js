// The mean of federated rounds, as docs/federation.md defines it.

const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);
const NAN = 0x7fc00000;

/** The number with these bits. */
export function fromBits(bits) {
	word[0] = bits;
	return float[0];
}

/** The bits of a binary32. */
export function toBits(value) {
	float[0] = value;
	return Number.isNaN(value) ? NAN : word[0];
}

/** What is lost of `a + b`, exactly (Knuth). */
function lost(a, b, sum) {
	const virtual = sum - a;
	return a - (sum - virtual) + (b - virtual);
}

const double = new Float64Array(1);
const long = new BigUint64Array(double.buffer);

/**
 * `a * b + c` of binary32, rounded once: the product is exact as a binary64, the sum is rounded to odd there, and
 * then to the nearest binary32.
 */
export function fma(a, b, c) {
	const product = a * b;
	const sum = product + c;
	const error = lost(product, c, sum);
	if (Number.isFinite(sum) && error !== 0) {
		double[0] = sum;
		if (long[0] % 2n === 0n) long[0] += error > 0 === sum > 0 ? 1n : -1n;
		return Math.fround(double[0]);
	}
	return Math.fround(sum);
}

/** The weights of parts with so many rows that train. */
export function weights(rows) {
	const sum = Math.fround(rows.reduce((sum, n) => sum + n, 0));
	return rows.map((n) => Math.fround(Math.fround(n) / sum));
}

/** The mean of numbers of parts with so many rows, in the order of the parts. */
export function mean(rows, values) {
	const [first, ...others] = weights(rows);
	return others.reduce((sum, weight, at) => fma(weight, values[at + 1], sum), Math.fround(first * values[0]));
}
