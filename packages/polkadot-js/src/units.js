// Amounts of currency and of work, as people write and read them.

import { UserError } from './errors.js';

/** Symbol of the currency. */
export const SYMBOL = 'TRY';
/** Decimals of the currency: 1 TRY is 10^12 of its smallest unit. */
export const DECIMALS = 12;
/** Micro-ut in one ut. */
export const MICRO_UT_PER_UT = 1_000_000n;

/**
 * Reads a decimal number exactly as an integer of `decimals` fixed places, for example
 * fixed('0.002', 9, ...) = 2000000n. Never goes through a float.
 */
export function fixed(text, decimals, what) {
	const match = /^(\d+)(?:\.(\d+))?$/.exec(String(text).trim());
	if (!match) {
		throw new UserError(`${what}: "${text}" is not a number. Write it like 0.5 or 12`);
	}
	const [, whole, fraction = ''] = match;
	if (fraction.length > decimals && /[1-9]/.test(fraction.slice(decimals))) {
		throw new UserError(`${what}: "${text}" has more than ${decimals} decimal places`);
	}
	return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
}

/** An amount in TRY, as typed, in the smallest unit. */
export const parseAmount = (text, what) => fixed(text, DECIMALS, what);

/** Writes an integer of `decimals` fixed places, without trailing zeros. */
export function formatFixed(value, decimals, most = decimals) {
	const negative = value < 0n;
	const digits = (negative ? -value : value).toString().padStart(decimals + 1, '0');
	const whole = digits.slice(0, digits.length - decimals);
	const fraction = digits.slice(digits.length - decimals, digits.length - decimals + most).replace(/0+$/, '');
	return `${negative ? '-' : ''}${whole}${fraction ? `.${fraction}` : ''}`;
}

/** An amount for people: `0.0125 TRY`. Digits after `most` decimals are cut. */
export const formatAmount = (value, most = DECIMALS) => `${formatFixed(BigInt(value), DECIMALS, most)} ${SYMBOL}`;

/** Work for people: micro-ut as ut. */
export const formatWork = (microUt) => `${formatFixed(BigInt(microUt), 6)} ut`;
