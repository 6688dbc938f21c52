//! What training with noise gives away, as epsilon for a delta.
//!
//! A step takes each row with the same probability, adds clipped gradients, and noise: the *subsampled Gaussian
//! mechanism*. Mironov, Talwar and Zhang (2019, *Rényi Differential Privacy of the Sampled Gaussian Mechanism*, section
//! 3.3) give its Rényi divergence in closed form at each whole order `a` from 2: with rate `q` and deviation `s`, in
//! units of the norm to which a row is clipped,
//!
//! ```text
//! 1 / (a - 1)  log of the sum over k = 0, …, a of  binomial(a, k) (1 - q)^(a - k) q^k e^((k^2 - k) / (2 s^2))
//! ```
//!
//! Divergences of steps add up. Epsilon follows by theorem 21 of Balle et al. (2020, *Hypothesis testing
//! interpretations and Rényi differential privacy*), at the order where it is least. Two data sets are neighbours here
//! where one has one row more than the other.
//!
//! These are binary64 numbers of the machine's own logarithms: they are for people, and nobody replays them.

/// What was spent, as Rényi divergences by order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent(Vec<f64>);

/// Returns the orders at which is counted.
pub fn orders() -> impl Iterator<Item = u32> {
	(2..=128).chain((160..=1_024).step_by(32))
}

impl Spent {
	/// Goes on from what [`Self::divergences`] returned. `None` where that is not as long as there are orders, or
	/// holds what no count comes to.
	pub fn from_divergences(divergences: Vec<f64>) -> Option<Self> {
		let fits = divergences.is_empty() || divergences.len() == orders().count();
		(fits && divergences.iter().all(|x| *x >= 0.0)).then_some(Self(divergences))
	}

	/// Returns the divergence at each of [`orders`]; none before the first step.
	pub fn divergences(&self) -> &[f64] {
		&self.0
	}

	/// Adds so many steps that take a row with probability `rate`, with this deviation of noise.
	pub fn add(&mut self, rate: f64, noise: f64, steps: u32) {
		self.0.resize(orders().count(), 0.0);
		for (sum, order) in self.0.iter_mut().zip(orders()) {
			*sum += f64::from(steps) * divergence(rate, noise, order);
		}
	}

	/// Returns epsilon for this delta.
	pub fn epsilon(&self, delta: f64) -> f64 {
		if self.0.iter().all(|x| *x == 0.0) {
			return 0.0;
		}
		let at = |(divergence, order): (&f64, u32)| {
			let order = f64::from(order);
			divergence + (-1.0 / order).ln_1p() - (delta.ln() + order.ln()) / (order - 1.0)
		};
		self.0.iter().zip(orders()).map(at).fold(f64::INFINITY, f64::min).max(0.0)
	}
}

/// Returns the divergence of one step at an order.
fn divergence(rate: f64, noise: f64, order: u32) -> f64 {
	if rate <= 0.0 {
		return 0.0;
	}
	if noise <= 0.0 {
		return f64::INFINITY;
	}
	let variance = noise * noise;
	if rate >= 1.0 {
		return f64::from(order) / (2.0 * variance);
	}
	let (mut terms, mut binomial) = (Vec::new(), 0.0);
	for k in 0..=order {
		let (k, all) = (f64::from(k), f64::from(order));
		terms.push(
			binomial + (all - k) * (-rate).ln_1p() + k * rate.ln() + (k * k - k) / (2.0 * variance),
		);
		// The logarithm of the next binomial coefficient.
		binomial += ((all - k) / (k + 1.0)).ln();
	}
	let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
	let sum: f64 = terms.iter().map(|term| (term - most).exp()).sum();
	((most + sum.ln()) / (f64::from(order) - 1.0)).max(0.0)
}

#[cfg(test)]
mod tests {
	use super::*;

	fn epsilon(rate: f64, noise: f64, steps: u32, delta: f64) -> f64 {
		let mut spent = Spent::default();
		spent.add(rate, noise, steps);
		spent.epsilon(delta)
	}

	/// With all rows in each step the divergence is that of a Gaussian, and with none it is 0.
	#[test]
	fn the_ends_are_known() {
		assert_eq!(Spent::default().epsilon(1e-5), 0.0);
		assert_eq!(epsilon(0.0, 1.0, 1_000, 1e-5), 0.0);
		assert_eq!(epsilon(0.01, 0.0, 1, 1e-5), f64::INFINITY);
		for order in [2, 7, 128] {
			let expected = f64::from(order) / (2.0 * 2.25);
			assert!((divergence(1.0, 1.5, order) - expected).abs() < 1e-12);
			// The closed form comes to it.
			let near = divergence(1.0 - 1e-12, 1.5, order);
			assert!((near - expected).abs() < 1e-6, "{near} {expected}");
		}
		// Order 2 by hand: log(1 + q^2 (e^(1/s^2) - 1)).
		let expected = (0.01f64.powi(2) * (1.0f64 / 4.0).exp_m1()).ln_1p();
		assert!((divergence(0.01, 2.0, 2) - expected).abs() < 1e-15);
	}

	/// Those of Google's dp-accounting.
	#[test]
	fn another_accountant_counts_the_same() {
		let mut count = 0;
		for line in include_str!("epsilons.txt").lines().filter(|line| !line.starts_with('#')) {
			let numbers: Vec<f64> = line.split(' ').map(|part| part.parse().unwrap()).collect();
			let [rate, noise, steps, delta, expected] = numbers[..] else { panic!("{line}") };
			let found = epsilon(rate, noise, steps as u32, delta);
			assert!((found - expected).abs() < 1e-8, "{line}: {found}");
			count += 1;
		}
		assert_eq!(count, 8);
	}

	#[test]
	fn more_steps_more_rows_and_less_noise_cost_more() {
		let base = epsilon(0.01, 1.0, 1_000, 1e-5);
		assert!(epsilon(0.01, 1.0, 2_000, 1e-5) > base);
		assert!(epsilon(0.02, 1.0, 1_000, 1e-5) > base);
		assert!(epsilon(0.01, 0.9, 1_000, 1e-5) > base);
		assert!(epsilon(0.01, 1.0, 1_000, 1e-6) > base);
		let (mut parts, mut whole) = (Spent::default(), Spent::default());
		parts.add(0.01, 1.0, 400);
		let mut parts = Spent::from_divergences(parts.divergences().to_vec()).unwrap();
		parts.add(0.01, 1.0, 600);
		whole.add(0.01, 1.0, 1_000);
		assert!((parts.epsilon(1e-5) - whole.epsilon(1e-5)).abs() < 1e-9);
		assert_eq!(Spent::from_divergences(vec![1.0]), None);
		assert_eq!(Spent::from_divergences(vec![f64::NAN; orders().count()]), None);
	}
}
