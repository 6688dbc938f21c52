// Statistics of block authorship: what the lottery should give, and whether counts agree with it.
//
// Functions of probability follow Press et al., Numerical Recipes, 3rd edition, sections 6.1,
// 6.2 and 6.4; relative error below 1e-10 where it is used here (tested).

const MOST_TERMS = 100_000;
const PRECISION = 1e-15;
/** Smaller than any denominator that matters; keeps Lentz's method from dividing by 0. */
const TINY = 1e-300;

/** Natural logarithm of the gamma function, x > 0 (Lanczos, g = 7, 9 terms). */
export function logGamma(x) {
	const terms = [
		0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
		-176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
		1.5056327351493116e-7,
	];
	if (!(x > 0)) throw new RangeError(`logGamma: ${x} is not above 0`);
	if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
	const sum = terms.slice(1).reduce((all, term, index) => all + term / (x + index), terms[0]);
	const t = x + 6.5;
	return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

/** Upper regularized incomplete gamma function Q(a, x) = Γ(a, x) / Γ(a), a > 0, x >= 0. */
export function gammaQ(a, x) {
	if (!(a > 0) || !(x >= 0)) throw new RangeError(`gammaQ: bad arguments ${a}, ${x}`);
	if (x === 0) return 1;
	const front = Math.exp(a * Math.log(x) - x - logGamma(a));
	if (x < a + 1) {
		let term = 1 / a;
		let sum = term;
		for (let n = 1; n < MOST_TERMS && Math.abs(term) > Math.abs(sum) * PRECISION; n++) {
			term *= x / (a + n);
			sum += term;
		}
		return 1 - front * sum;
	}
	return front * fraction(x + 1 - a, (n) => [-n * (n - a), x + 2 * n + 1 - a]);
}

/** Regularized incomplete beta function I_x(a, b), a, b > 0, 0 <= x <= 1. */
export function betaI(a, b, x) {
	if (!(a > 0) || !(b > 0) || !(x >= 0 && x <= 1)) throw new RangeError(`betaI: bad arguments ${a}, ${b}, ${x}`);
	if (x === 0 || x === 1) return x;
	if (x > (a + 1) / (a + b + 2)) return 1 - betaI(b, a, 1 - x);
	const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
	// 1 / (1 + d1 / (1 + d2 / (1 + ...))).
	const d = (n) => {
		const m = Math.floor(n / 2);
		return n % 2 === 0
			? (m * (b - m) * x) / ((a + n - 1) * (a + n))
			: (-(a + m) * (a + b + m) * x) / ((a + n - 1) * (a + n));
	};
	return (front / a) * fraction(1, (n) => [d(n), 1]);
}

/** 1 / (b0 + a1 / (b1 + a2 / (b2 + ...))) by the modified method of Lentz; `part(n)` is [an, bn]. */
function fraction(first, part) {
	let c = 1 / TINY;
	let d = 1 / (first || TINY);
	let value = d;
	for (let n = 1; n < MOST_TERMS; n++) {
		const [a, b] = part(n);
		d = 1 / (a * d + b || TINY);
		c = b + a / c || TINY;
		value *= c * d;
		if (Math.abs(c * d - 1) < PRECISION) break;
	}
	return value;
}

/** Probability that chi-square with `degrees` degrees of freedom is at least `value`. */
export const chiSquareTail = (value, degrees) => gammaQ(degrees / 2, value / 2);

/** P(X <= k) for X binomial with n trials of probability p. */
export function binomialAtMost(k, n, p) {
	if (k < 0) return 0;
	if (k >= n || p === 0) return 1;
	return p === 1 ? 0 : betaI(n - k, k + 1, 1 - p);
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
