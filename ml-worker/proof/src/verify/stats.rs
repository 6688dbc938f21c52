//! The statistics of the full-pass rules. All are in binary64: they are evidence for people, and
//! nothing depends on their last bits.

/// Values of a sample that a statistic looks at. Of larger samples it takes evenly spaced ones, so that
/// the statistics of a layer of a hundred million weights take no longer than those of a million.
pub const MOST_VALUES: usize = 1 << 20;

/// Returns at most `most` of `all`, which are `len`, evenly spaced.
pub fn spread<T>(all: impl Iterator<Item = T>, len: usize, most: usize) -> impl Iterator<Item = T> {
	all.step_by(len.div_ceil(most.max(1)).max(1))
}

/// Earth mover's distance (Wasserstein-1) in one dimension between two samples of equal
/// size: the mean distance of their order statistics. Of more than [`MOST_VALUES`] it takes evenly spaced ones.
pub fn emd(a: &[f32], b: &[f32]) -> f64 {
	let (a, b) = (sorted(a), sorted(b));
	let sum: f64 = a.iter().zip(&b).map(|(x, y)| (x - y).abs()).sum();
	sum / a.len().min(b.len()).max(1) as f64
}

fn sorted(values: &[f32]) -> Vec<f64> {
	let values = spread(values.iter(), values.len(), MOST_VALUES);
	let mut values: Vec<f64> = values.map(|x| f64::from(*x)).collect();
	values.sort_by(f64::total_cmp);
	values
}

/// Most order statistics that [`emd_to_mixture`] looks at; of larger samples it takes
/// evenly spaced ones.
const MOST_QUANTILES: usize = 1 << 14;

/// Earth mover's distance of a sample to the mixture `1/2 N(+2s, s^2) + 1/2 N(-2s, s^2)`:
/// the mean distance of its order statistics to the mixture's quantiles.
pub fn emd_to_mixture(sample: &[f32], s: f64) -> f64 {
	let sample = sorted(sample);
	let points = sample.len().min(MOST_QUANTILES);
	let sum: f64 = (0..points)
		.map(|i| {
			let p = (i as f64 + 0.5) / points as f64;
			let at = (p * sample.len() as f64) as usize;
			(sample[at.min(sample.len() - 1)] - mixture_quantile(p, s)).abs()
		})
		.sum();
	sum / points.max(1) as f64
}

/// Quantile of the mixture, by bisection.
fn mixture_quantile(p: f64, s: f64) -> f64 {
	let (mut low, mut high) = (-10.0 * s, 10.0 * s);
	for _ in 0..60 {
		let middle = (low + high) / 2.0;
		let below = (normal_cdf((middle - 2.0 * s) / s) + normal_cdf((middle + 2.0 * s) / s)) / 2.0;
		if below < p {
			low = middle;
		} else {
			high = middle;
		}
	}
	(low + high) / 2.0
}

/// The normal distribution function, by Abramowitz and Stegun 7.1.26 (error below 1.5e-7).
fn normal_cdf(x: f64) -> f64 {
	let z = x.abs() / std::f64::consts::SQRT_2;
	let t = 1.0 / (1.0 + 0.327_591_1 * z);
	let poly = t
		* (0.254_829_592
			+ t * (-0.284_496_736
				+ t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
	let upper = poly * (-z * z).exp() / 2.0;
	if x > 0.0 {
		1.0 - upper
	} else {
		upper
	}
}

/// Spearman's rank correlation; tied values share their mean rank. Returns `None` for fewer than
/// two pairs, or if one side is constant.
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
	let n = x.len().min(y.len());
	if n < 2 {
		return None;
	}
	let (x, y) = (ranks(&x[..n]), ranks(&y[..n]));
	let mean = (n as f64 + 1.0) / 2.0;
	let (mut cross, mut xx, mut yy) = (0.0, 0.0, 0.0);
	for (a, b) in x.iter().zip(&y) {
		cross += (a - mean) * (b - mean);
		xx += (a - mean).powi(2);
		yy += (b - mean).powi(2);
	}
	(xx > 0.0 && yy > 0.0).then(|| cross / (xx * yy).sqrt())
}

fn ranks(values: &[f64]) -> Vec<f64> {
	let mut order: Vec<usize> = (0..values.len()).collect();
	order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
	let mut ranks = vec![0.0; values.len()];
	let mut from = 0;
	while from < order.len() {
		let mut to = from + 1;
		while to < order.len() && values[order[to]] == values[order[from]] {
			to += 1;
		}
		for at in &order[from..to] {
			ranks[*at] = (from + to + 1) as f64 / 2.0;
		}
		from = to;
	}
	ranks
}

/// Share of the variance that the first principal component of the rows of a matrix explains
/// (`rows` x `cols`, row major), by power iteration. Returns `None` if there is no variance.
pub fn first_component_share(matrix: &[f32], rows: usize, cols: usize) -> Option<f64> {
	if rows < 2 || cols == 0 || matrix.len() != rows * cols {
		return None;
	}
	let mut centred: Vec<f64> = matrix.iter().map(|x| f64::from(*x)).collect();
	for column in 0..cols {
		let mean = (0..rows).map(|r| centred[r * cols + column]).sum::<f64>() / rows as f64;
		(0..rows).for_each(|r| centred[r * cols + column] -= mean);
	}
	let total: f64 = centred.iter().map(|x| x * x).sum();
	if total <= 0.0 {
		return None;
	}
	// Started from the row of largest norm, which is not orthogonal to the component.
	let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
	let mut direction = centred
		.chunks_exact(cols)
		.max_by(|a, b| norm(a).total_cmp(&norm(b)))
		.map(<[f64]>::to_vec)
		.unwrap_or_default();
	let mut largest = 0.0;
	for _ in 0..200 {
		let length = norm(&direction);
		direction.iter_mut().for_each(|x| *x /= length);
		let mut next = vec![0.0; cols];
		for row in centred.chunks_exact(cols) {
			let along: f64 = row.iter().zip(&direction).map(|(x, d)| x * d).sum();
			next.iter_mut().zip(row).for_each(|(n, x)| *n += along * x);
		}
		let eigenvalue = norm(&next);
		let settled = (eigenvalue - largest).abs() <= 1e-9 * eigenvalue;
		(largest, direction) = (eigenvalue, next);
		if settled {
			break;
		}
	}
	Some(largest / total)
}

/// Root of the mean squared difference; `None` if there are no pairs.
pub fn rms_distance<'a>(pairs: impl IntoIterator<Item = (&'a [f32], &'a [f32])>) -> Option<f64> {
	let (mut sum, mut count) = (0.0, 0usize);
	for (a, b) in pairs {
		sum += a.iter().zip(b).map(|(x, y)| (f64::from(*x) - f64::from(*y)).powi(2)).sum::<f64>();
		count += a.len().min(b.len());
	}
	(count > 0).then(|| (sum / count as f64).sqrt())
}

/// Mean and standard deviation (with n - 1).
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
	let n = values.len().max(1) as f64;
	let mean = values.iter().sum::<f64>() / n;
	let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
	(mean, (squares / (n - 1.0).max(1.0)).sqrt())
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn distances() {
		assert_eq!(emd(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), 0.0);
		assert_eq!(emd(&[0.0, 0.0], &[1.0, 3.0]), 2.0);
		// Of many values some are taken, from all over them, and of both samples the same.
		let many: Vec<f32> = (0..3 * MOST_VALUES + 1).map(|i| (i % 1024) as f32).collect();
		let moved: Vec<f32> = many.iter().map(|x| x + 2.0).collect();
		assert_eq!(emd(&many, &moved), 2.0);
		assert_eq!(spread(0..10, 10, 4).collect::<Vec<_>>(), [0, 3, 6, 9]);
		assert_eq!(spread(0..4, 4, 4).count(), 4);
		assert_eq!(spread(0..4, 4, 0).count(), 1);
		assert_eq!(rms_distance([(&[0.0f32, 0.0][..], &[3.0f32, 4.0][..])]), Some(12.5f64.sqrt()));
		assert_eq!(rms_distance([]), None);
		assert_eq!(mean_and_deviation(&[1.0, 3.0]), (2.0, 2.0f64.sqrt()));
	}

	#[test]
	fn the_mixture_has_its_quantiles() {
		// Sampled at its own quantiles it is at distance zero, shifted at the shift.
		let s = 0.1;
		let sample: Vec<f32> =
			(0..1000).map(|i| mixture_quantile((f64::from(i) + 0.5) / 1000.0, s) as f32).collect();
		assert!(emd_to_mixture(&sample, s) < 1e-6);
		let shifted: Vec<f32> = sample.iter().map(|x| x + 0.05).collect();
		assert!((emd_to_mixture(&shifted, s) - 0.05).abs() < 1e-6);
		// Its variance is 4 s^2 + s^2.
		let variance = sample.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / 1000.0;
		assert!((variance / (5.0 * s * s) - 1.0).abs() < 0.01, "{variance}");
		assert!((normal_cdf(1.96) - 0.975).abs() < 1e-4 && (normal_cdf(0.0) - 0.5).abs() < 1e-6);
	}

	#[test]
	fn rank_correlation() {
		let x = [1.0, 2.0, 3.0, 4.0];
		assert_eq!(spearman(&x, &[10.0, 20.0, 30.0, 99.0]), Some(1.0));
		assert_eq!(spearman(&x, &[4.0, 3.0, 2.0, 1.0]), Some(-1.0));
		assert_eq!(spearman(&x, &[7.0; 4]), None);
		// By hand: ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4.
		let tied = spearman(&x, &[1.0, 2.0, 2.0, 3.0]).unwrap();
		assert!((tied - 4.5 / (5.0f64 * 4.5).sqrt()).abs() < 1e-12);
	}

	#[test]
	fn principal_components() {
		// All rows on one line: one component explains everything.
		let line: Vec<f32> = (0..20).flat_map(|i| [i as f32, 2.0 * i as f32, -i as f32]).collect();
		assert!((first_component_share(&line, 20, 3).unwrap() - 1.0).abs() < 1e-9);
		// A square's corners: two equal components.
		let square = [1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0];
		assert!((first_component_share(&square, 4, 2).unwrap() - 0.5).abs() < 1e-9);
		assert_eq!(first_component_share(&[1.0; 6], 3, 2), None);
	}
}
