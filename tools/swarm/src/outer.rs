//! Outer steps: what a peer says of its movement, and what the updates of all make of the model.

use anyhow::{bail, Context, Result};
use std::str::FromStr;
use trainyard_mixing::{
	compress, move_of, Aggregation, Compression, Counted, Layout, OuterStep, Residual, Update,
};
use trainyard_strict::Arithmetic;

/// Updates that are longer than so many medians are clipped.
const CLIP: f32 = 2.0;

/// How updates are brought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
	/// All numbers, and an outer step with momentum or without.
	Whole {
		/// Rate of the outer step.
		rate: f32,
		/// Its momentum, 0 for none.
		momentum: f32,
	},
	/// Of each block so many values of so many bits, what is left kept by `keep`, and a plain outer step.
	Picked {
		/// Values of a block of 4,096.
		picks: u32,
		/// Bits of a value.
		bits: u32,
		/// Which part of what was not said is said later.
		keep: f32,
		/// Rate of the outer step.
		rate: f32,
	},
}

impl FromStr for Form {
	type Err = anyhow::Error;

	fn from_str(name: &str) -> Result<Self> {
		Ok(match name {
			"momentum" => Self::Whole { rate: 0.7, momentum: 0.9 },
			"whole" => Self::Whole { rate: 1.0, momentum: 0.0 },
			picks => {
				let picks = picks.parse().context("neither momentum, whole nor a number")?;
				Compression::new(picks, 2)?;
				Self::Picked { picks, bits: 2, keep: 0.95, rate: 1.0 }
			}
		})
	}
}

impl Form {
	/// Returns what it is in words.
	pub fn name(self) -> String {
		match self {
			Self::Whole { rate, momentum } => {
				format!("whole, outer rate {rate}, momentum {momentum}")
			}
			Self::Picked { picks, bits, keep, rate } => {
				format!("{picks} of 4,096 in {bits} bits, residual times {keep}, outer rate {rate}")
			}
		}
	}

	/// Returns the blocks of a model of these tensors.
	pub fn layout(self, tensors: impl IntoIterator<Item = u64>) -> Result<Layout> {
		let rule = match self {
			// Blocks are of no matter then.
			Self::Whole { .. } => Compression::new(64, 2)?,
			Self::Picked { picks, bits, .. } => Compression::new(picks, bits)?,
		};
		Ok(Layout::new(rule, tensors)?)
	}

	/// Returns the bytes of an update.
	pub fn bytes(self, layout: &Layout) -> u64 {
		match self {
			Self::Whole { .. } => 4 * layout.values(),
			Self::Picked { .. } => layout.bytes(),
		}
	}

	/// Returns the numbers that an outer step keeps beside the model.
	pub fn velocity(self, layout: &Layout) -> Vec<f32> {
		match self {
			Self::Whole { momentum, .. } if momentum > 0.0 => Residual::none(layout.values()).0,
			_ => Vec::new(),
		}
	}

	/// Joins a movement to what a peer did not say before.
	pub fn join<A: Arithmetic>(
		self,
		residual: &mut Residual,
		from: &[f32],
		to: &[f32],
	) -> Result<()> {
		match self {
			Self::Whole { .. } => Ok(()),
			Self::Picked { keep, .. } => Ok(move_of::<A>(residual, keep, from, to)?),
		}
	}

	/// Returns the bytes of the update of a peer whose copy moved, and leaves in `residual` what they do not say.
	pub fn update<A: Arithmetic>(
		self,
		layout: &Layout,
		residual: &mut Residual,
		from: &[f32],
		to: &[f32],
	) -> Result<Vec<u8>> {
		self.join::<A>(residual, from, to)?;
		match self {
			Self::Whole { .. } => {
				let moved = from.iter().zip(to).map(|(from, to)| from - to);
				let mut bytes = Vec::with_capacity(4 * from.len());
				moved.for_each(|moved| bytes.extend_from_slice(&moved.to_le_bytes()));
				Ok(bytes)
			}
			Self::Picked { .. } => Ok(compress::<A>(layout, residual)?),
		}
	}

	/// Takes the outer step by the updates of some peers, in the order of these.
	pub fn step<A: Arithmetic>(
		self,
		layout: &Layout,
		model: &mut [f32],
		velocity: &mut [f32],
		updates: &[&[u8]],
	) -> Result<()> {
		match self {
			Self::Whole { rate, momentum } => {
				let mean = mean(model.len(), updates)?;
				Ok(OuterStep::new(rate, momentum)?.apply::<A>(model, velocity, &mean)?)
			}
			Self::Picked { rate, .. } => {
				let updates = updates
					.iter()
					.map(|bytes| Ok(Counted { update: Update::read::<A>(layout, bytes)?, late: 0 }))
					.collect::<Result<Vec<_>>>()?;
				let rule = Aggregation::new(Some(CLIP), 0)?;
				OuterStep::new(rate, 0.0)?.take::<A, _>(layout, rule, &updates, model, velocity)?;
				Ok(())
			}
		}
	}
}

/// Returns the mean of whole updates.
fn mean(values: usize, updates: &[&[u8]]) -> Result<Vec<f32>> {
	let mut mean = vec![0.0f32; values];
	for bytes in updates {
		let (numbers, []) = bytes.as_chunks::<4>() else { bail!("an update ends within a number") };
		if numbers.len() != values {
			bail!("an update has {} numbers for {values} of the model", numbers.len());
		}
		for (sum, number) in mean.iter_mut().zip(numbers) {
			*sum += f32::from_le_bytes(*number);
		}
	}
	let count = updates.len() as f32;
	mean.iter_mut().for_each(|sum| *sum /= count);
	Ok(mean)
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_strict::Soft;

	/// A model and what two peers made of it.
	fn moved() -> (Vec<f32>, [Vec<f32>; 2]) {
		let wave =
			|phase: usize| (0..600).map(|at| ((at * 37 + phase) % 101) as f32 / 100.0).collect();
		(wave(0), [wave(3), wave(7)])
	}

	fn mixed(form: Form) -> (Vec<f32>, [Residual; 2]) {
		let (mut model, moved) = moved();
		let layout = form.layout([500, 100]).unwrap();
		let mut left = [Residual::none(600), Residual::none(600)];
		let updates: Vec<_> = (left.iter_mut().zip(&moved))
			.map(|(left, to)| form.update::<Soft>(&layout, left, &model, to).unwrap())
			.collect();
		assert!(updates.iter().all(|update| update.len() as u64 == form.bytes(&layout)));
		let updates: Vec<_> = updates.iter().map(|update| &update[..]).collect();
		let mut velocity = form.velocity(&layout);
		form.step::<Soft>(&layout, &mut model, &mut velocity, &updates).unwrap();
		(model, left)
	}

	#[test]
	fn a_plain_outer_step_of_rate_one_is_the_mean_of_the_peers() {
		let (next, _) = mixed(Form::Whole { rate: 1.0, momentum: 0.0 });
		let (_, moved) = moved();
		for (at, next) in next.iter().enumerate() {
			assert!((next - (moved[0][at] + moved[1][at]) / 2.0).abs() < 1e-5);
		}
		assert_ne!(mixed("momentum".parse().unwrap()).0, next);
	}

	#[test]
	fn what_compression_leaves_out_is_in_the_residuals() {
		let (next, left) = mixed(Form::Picked { picks: 512, bits: 3, keep: 1.0, rate: 1.0 });
		let (_, moved) = moved();
		for at in 0..600 {
			// Where nothing was said the model stands still, and all of the movement is left.
			let whole = (moved[0][at] + moved[1][at]) / 2.0;
			let rest = (left[0].0[at] + left[1].0[at]) / 2.0;
			assert!((next[at] - rest - whole).abs() < 1e-5, "{at}: {} {rest} {whole}", next[at]);
		}
		assert!(left.iter().all(|left| left.0.iter().any(|rest| *rest != 0.0)));
	}

	#[test]
	fn updates_of_other_lengths_are_refused() {
		let (model, _) = moved();
		for form in ["whole", "momentum", "64"] {
			let form: Form = form.parse().unwrap();
			let layout = form.layout([500, 100]).unwrap();
			let right = vec![0; form.bytes(&layout) as usize];
			for wrong in [&right[1..], &right[4..], &[]] {
				let (mut model, mut velocity) = (model.clone(), form.velocity(&layout));
				let taken = form.step::<Soft>(&layout, &mut model, &mut velocity, &[wrong]);
				assert!(taken.is_err(), "{form:?}, {} bytes", wrong.len());
			}
		}
		for wrong in ["", "0", "4097", "all"] {
			assert!(wrong.parse::<Form>().is_err(), "{wrong}");
		}
	}
}
