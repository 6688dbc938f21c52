// Statistics of block authorship: what the lottery should give, and whether counts agree with it.
//
// The tails of chi-square and binomial are those of Cephes, the C library, compiled to WebAssembly.

import { bdtr, chdtrc, compiled } from 'cephes';

await compiled;

/** Probability that chi-square with `degrees` degrees of freedom is at least `value`. */
export function chiSquareTail(value, degrees) {
	try {
		return chdtrc(degrees, value);
	} catch (error) {
		// Cephes throws where a tail is below the least number; the other one is 1 then.
		if (!error.message.includes('underflow')) throw error;
		return value > degrees ? 0 : 1;
	}
}

/** P(X <= k) for X binomial with n trials of probability p. */
export function binomialAtMost(k, n, p) {
	// Cephes takes no k below 0.
	return k < 0 ? 0 : bdtr(k, n, p);
}

/** Two-sided p value of `k` successes in `n` trials of probability `p`: twice the smaller tail. */
export const binomialTest = (k, n, p) =>
	Math.min(1, 2 * Math.min(binomialAtMost(k, n, p), 1 - binomialAtMost(k - 1, n, p)));

/**
 * Pearson's chi-square of counts against expected counts; `lost` degrees of freedom are taken
 * by constraints (1 where the expected counts sum to the counts).
 */
export function chiSquare(counts, expected, lost = 1) {
	const value = counts.reduce((sum, count, index) => sum + (count - expected[index]) ** 2 / expected[index], 0);
	const degrees = counts.length - lost;
	return { value, degrees, p: degrees > 0 ? chiSquareTail(value, degrees) : 1 };
}

/**
 * Independent counts against sums of Bernoulli trials: for each a count, its mean and its
 * variance. The sum of squared standard scores is nearly chi-square with one degree for each.
 */
export function scores(counts, means, variances) {
	const value = counts.reduce((sum, count, index) => sum + (count - means[index]) ** 2 / variances[index], 0);
	return { value, degrees: counts.length, p: chiSquareTail(value, counts.length) };
}

/** BABE: probability that an authority with this share of all weight wins a slot. */
export const claimProbability = (c, share) => -Math.expm1(share * Math.log1p(-c));

/** Probabilities of 0, 1, 2, … of independent events with probabilities `all`. */
export function howMany(all) {
	let found = [1];
	for (const p of all) {
		const next = new Array(found.length + 1).fill(0);
		found.forEach((q, n) => {
			next[n] += q * (1 - p);
			next[n + 1] += q * p;
		});
		found = next;
	}
	return found;
}

/**
 * For each of independent claimants of one slot: the probability that it claims and that its
 * block stays, when each of several claimants is as likely to stay.
 */
export const stays = (claims) =>
	claims.map((p, index) => {
		const others = howMany(claims.filter((_, other) => other !== index));
		return p * others.reduce((sum, q, n) => sum + q / (n + 1), 0);
	});

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The smallest value that at least the share `q` of all does not exceed. */
export function quantile(values, q) {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)];
}
