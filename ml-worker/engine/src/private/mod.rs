//! Training that hides each of its rows: differential privacy by clipped gradients and noise (DP-SGD, Abadi et al.
//! 2016).
//!
//! In a step each row is taken with the same probability, the job's batch size over its rows, whatever was taken
//! before. Each row that was taken is a [rank](crate::ranks) of its own. Its gradient is scaled down to a norm of at
//! most `clip`, all are added in the tree of ranks, each coordinate gets Gaussian noise of deviation `noise * clip`, and
//! the sum is divided by the batch size. The optimizer goes on from there.
//!
//! Which rows and what noise nobody may know, so neither follows from the seed of the training: they are drawn from
//! a generator that the caller seeds by the operating system. Nobody can replay such a step.
//!
//! [`accountant`] says what that hides.

pub mod accountant;

use crate::{Engine, EngineError, Ranks, State};
use rand::{CryptoRng, Rng};
use trainyard_program::spec::CheckedSpec;

/// How rows are hidden.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hiding {
	/// Largest norm of the gradient of a row.
	pub clip: f32,
	/// Deviation of the noise, in units of `clip`.
	pub noise: f64,
}

/// Steps that hide their rows.
pub struct PrivateSteps {
	ranks: Ranks,
	hiding: Hiding,
	rate: f64,
	rows: u32,
}

impl PrivateSteps {
	/// Prepares the steps of a specification. Fails where clip or noise are no positive numbers.
	pub fn new(spec: &CheckedSpec, hiding: Hiding) -> Result<Self, EngineError> {
		let Hiding { clip, noise } = hiding;
		if !(clip.is_finite() && clip > 0.0 && noise.is_finite() && noise > 0.0) {
			return Err(EngineError::Hiding);
		}
		let (batch, rows) = (spec.training.batch_size, spec.dataset.train_rows);
		let rate = f64::from(batch) / f64::from(rows);
		Ok(Self { ranks: Ranks::new(spec, batch)?, hiding, rate, rows })
	}

	/// Returns the probability with which a step takes a row.
	pub fn rate(&self) -> f64 {
		self.rate
	}

	/// Draws the rows of a step.
	fn take(&self, random: &mut impl Rng) -> Vec<u32> {
		(0..self.rows).filter(|_| random.random_bool(self.rate)).collect()
	}

	/// Takes a state one step further. `random` must be seeded by the operating system, and for nobody else to know.
	pub fn step(
		&self,
		engine: &Engine,
		state: &mut State,
		step: u32,
		random: &mut (impl Rng + CryptoRng),
	) -> Result<(), EngineError> {
		let taken = self.take(random);
		let parameters = self.ranks.parameters_of(state)?;
		let parameters = self.ranks.parameters_from(&parameters)?;
		let rows = engine.training_rows(&taken)?;
		let clip = self.hiding.clip;
		let mut sum = self.ranks.clipped_sum(&parameters, engine.seed(), step, &rows, clip)?;
		let deviation = self.hiding.noise * f64::from(clip);
		// The last one is the loss, which is not for others: it has no noise.
		if let Some((loss, gradient)) = sum.split_last_mut() {
			*loss = 0.0;
			for pair in gradient.chunks_mut(2) {
				for (x, z) in pair.iter_mut().zip(two_normals(random)) {
					*x = (f64::from(*x) + deviation * z) as f32;
				}
			}
		}
		self.ranks.update(state, step, sum)?;
		Ok(())
	}
}

/// Draws two numbers from the standard normal distribution (Box and Muller 1958). They have 53 bits, so that the
/// ends of the distribution are there as well: the largest is above 8.
fn two_normals(random: &mut impl Rng) -> [f64; 2] {
	// Above 0, and at most 1.
	let first = 1.0 - random.random::<f64>();
	let (sin, cos) = (std::f64::consts::TAU * random.random::<f64>()).sin_cos();
	let radius = (-2.0 * first.ln()).sqrt();
	[radius * cos, radius * sin]
}

#[cfg(test)]
mod tests;
