// Numbers of data files: inputs become the nearest binary32, labels must be whole. Section 1 of
// docs/strict-arithmetic.md says how.

const { fround } = Math;
const scratch = new DataView(new ArrayBuffer(8));

/** Most inputs of a row, and most classes. */
export const MAX_WIDTH = 65_536;

// ---- Decimal numbers

const DECIMAL = /^([+-]?)(\d+\.?\d*|\.\d+)(?:e([+-]?\d+))?$/i;

/** A decimal number without sign as [numerator, denominator], exact. */
function fractionOf(text) {
	const [, , digits, exponent = '0'] = DECIMAL.exec(text);
	const [whole, rest = ''] = digits.split('.');
	const power = Number(exponent) - rest.length;
	const mantissa = BigInt(`${whole}${rest}`);
	return power >= 0 ? [mantissa * 10n ** BigInt(power), 1n] : [mantissa, 10n ** BigInt(-power)];
}

/** A finite binary64 that is not negative as [numerator, denominator], exact. */
function fractionOfDouble(x) {
	scratch.setFloat64(0, x);
	const bits = scratch.getBigUint64(0);
	const exponent = Number(bits >> 52n);
	const mantissa = (bits & 0xf_ffff_ffff_ffffn) | (exponent > 0 ? 1n << 52n : 0n);
	const power = Math.max(exponent, 1) - 1075;
	return power >= 0 ? [mantissa << BigInt(power), 1n] : [mantissa, 1n << BigInt(-power)];
}

/** The binary32 that is `steps` places above one that is not negative. */
function neighbour(x, steps) {
	scratch.setFloat32(0, x);
	scratch.setUint32(0, scratch.getUint32(0) + steps);
	return scratch.getFloat32(0);
}

/**
 * The binary32 nearest to a decimal number, a tie to the even one; null where `text` is no number
 * or too large.
 *
 * Reading it as binary64 first rounds twice. That goes wrong only where the binary64 lies in the
 * middle between two binary32: there the text itself decides.
 */
export function nearest(text) {
	const parts = DECIMAL.exec(text);
	if (!parts) return null;
	const sign = parts[1] === '-' ? -1 : 1;
	const double = Math.abs(Number(text));
	if (double === Infinity) return null;
	const single = fround(double);
	// Half a place above the largest binary32 is the middle to what would come next, 2^128.
	const value = (x) => (x === Infinity ? 2 ** 128 : x);
	const [low, high] = value(single) > double ? [neighbour(single, -1), single] : [single, neighbour(single, 1)];
	let found = single;
	if (value(single) !== double && double - low === value(high) - double) {
		const [[a, b], [c, d]] = [fractionOf(text), fractionOfDouble(double)];
		if (a * d !== c * b) found = a * d > c * b ? high : low;
	}
	return found === Infinity ? null : sign * found;
}

/** The number that a label in decimal writes, as the nearest binary64; NaN where it writes none. */
export const decimalLabel = (text) => (DECIMAL.test(text) ? Number(text) : NaN);

/** Says what is wrong with a label, a number or a BigInt that is written as `text`; null if nothing is. */
export function faultOfLabel(label, text = `${label}`) {
	const whole = typeof label === 'bigint' || Number.isInteger(label);
	if (!whole || label < 0 || label > 0xffff_ffff) return `the label "${text}" is not a whole number from 0`;
	return label < MAX_WIDTH ? null : `label ${label}: at most ${MAX_WIDTH} classes are allowed`;
}

// ---- Numbers of binary files

/**
 * `high 2^32 + low`, rounded to a binary64 that rounds to the right binary32. From 2^53 on a binary64
 * lacks bits, and to round to nearest twice goes wrong: here the bits that it lacks make its last bit odd.
 */
function sticky(high, low) {
	if (high < 2 ** 21) return high * 2 ** 32 + low;
	const lacking = low % 2 ** 11;
	return high * 2 ** 32 + (low - lacking) + (lacking > 0 && ((low >>> 11) & 1) === 0 ? 2 ** 11 : 0);
}

/** `sticky` of the 64 bits at `at`, and the same of a negative number. */
function sticky64(view, at, little, signed) {
	const high = view.getUint32(little ? at + 4 : at, little);
	const low = view.getUint32(little ? at : at + 4, little);
	if (!signed || high < 2 ** 31) return sticky(high, low);
	return low === 0 ? -sticky(2 ** 32 - high, 0) : -sticky(2 ** 32 - 1 - high, 2 ** 32 - low);
}

/**
 * Types of numbers, by NumPy's names: how many bytes one has; what is read as an input, which rounds to
 * the binary32; and what is read as a label, exact.
 */
export const KINDS = Object.fromEntries(
	[
		['u1', 1, (view, at) => view.getUint8(at)],
		['i1', 1, (view, at) => view.getInt8(at)],
		['u2', 2, (view, at, little) => view.getUint16(at, little)],
		['i2', 2, (view, at, little) => view.getInt16(at, little)],
		['u4', 4, (view, at, little) => view.getUint32(at, little)],
		['i4', 4, (view, at, little) => view.getInt32(at, little)],
		[
			...['u8', 8, (view, at, little) => sticky64(view, at, little, false)],
			(view, at, little) => view.getBigUint64(at, little),
		],
		[
			...['i8', 8, (view, at, little) => sticky64(view, at, little, true)],
			(view, at, little) => view.getBigInt64(at, little),
		],
		['f4', 4, (view, at, little) => view.getFloat32(at, little)],
		['f8', 8, (view, at, little) => view.getFloat64(at, little)],
	].map(([name, bytes, input, label = input]) => [name, { bytes, input, label }]),
);

/** The types in words, for messages. */
export const KINDS_IN_WORDS = 'integers of 8, 16, 32 or 64 bits and floats of 32 or 64 bits';
