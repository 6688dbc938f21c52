// When a stream's transactions are due: the load curve is a rate over time, and arrivals stand evenly
// under it, or as a Poisson process of that rate. Nothing here looks at how the chain does.

/**
 * The curve `points`, pairs of second and rate, as pieces of `{ from, to, begin, end }` from 0 to `duration`
 * seconds: the rate goes from `begin` to `end`. `shape` is `steps`, where a rate holds until the next point,
 * or `ramp`, where it goes straight to the next one. Behind the last point its rate holds.
 */
export function pieces(points, shape, duration) {
	const found = [];
	points.forEach(([from, begin], index) => {
		const next = points[index + 1];
		const to = Math.min(next?.[0] ?? duration, duration);
		if (from >= to) return;
		let end = begin;
		if (next && shape === 'ramp') end = begin + ((next[1] - begin) * (to - from)) / (next[0] - from);
		found.push({ from, to, begin, end });
	});
	return found;
}

/** How many arrivals are expected under the pieces. */
export const expected = (all) =>
	all.reduce((sum, { from, to, begin, end }) => sum + ((begin + end) / 2) * (to - from), 0);

/**
 * Due times in ms from the beginning of the load, ascending. `arrival` is `{ process: 'constant' | 'poisson',
 * load: [[second, rate], …], shape }`, see {@link pieces}; `random` draws numbers from 0 to below 1.
 */
export function arrivalTimes(arrival, duration, random) {
	const poisson = arrival.process === 'poisson';
	const gap = () => (poisson ? -Math.log(1 - random()) : 1);
	const times = [];
	// Arrivals are gaps of mean 1 in the area under the curve. Even ones stand in the middle of theirs.
	let next = poisson ? gap() : 0.5;
	let before = 0;
	for (const { from, to, begin, end } of pieces(arrival.load, arrival.shape, duration)) {
		const area = ((begin + end) / 2) * (to - from);
		const slope = (end - begin) / (to - from);
		for (; next < before + area; next += gap()) {
			const wanted = next - before;
			// The root of begin * x + slope * x^2 / 2 = wanted, in the form that holds for a slope of 0 too.
			const x = wanted === 0 ? 0 : (2 * wanted) / (begin + Math.sqrt(begin * begin + 2 * slope * wanted));
			times.push((from + x) * 1_000);
		}
		before += area;
	}
	return times;
}
