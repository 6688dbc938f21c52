//! Which states an honest run can have: bounds of every tensor of a state, and of what a segment
//! can change.
//!
//! A verifier replays a drawn segment from the trainer's own start state. So that state must be
//! one that training can reach, or a crafted one makes all later segments cheap and true.
//!
//! - [`Reachable`] holds the bounds of a state at one step, and checks its tensors;
//! - [`Movement`] holds the bounds of what the steps between two checkpoints can change;
//! - [`Coasting`] finds the elements that would be the same without any gradient, and [`is_idle`]
//!   segments of which most are;
//! - [`unbounded`] says for which specifications the bounds are too weak to earn power.
//!
//! The bounds hold for the results of strict arithmetic, roundings included, and not only for the
//! real numbers that they stand for: `docs/start-states.md` proves each. They are binary64
//! numbers. The computation uses nothing but additions, products, quotients and square roots, which
//! IEEE 754 defines to the bit, so two machines never disagree on a state. Its own rounding errors
//! are far below [`SLACK`], by which every bound is raised.
//!
//! ```
//! use trainyard_program::{init, lower, reachable::Reachable, spec::JobSpec, H256};
//!
//! let mut spec = JobSpec::example();
//! spec.training.clip_norm_nano = 1_000_000_000;
//! let spec = spec.check().unwrap();
//! let mut state = std::collections::BTreeMap::new();
//! for tensor in lower::state(&spec) {
//!     state.insert(tensor.name.clone(), init::initial(&H256::zero(), &tensor));
//! }
//! let at = Reachable::at(&spec, 0);
//! assert_eq!(at.state(&spec, |name| state.get(name).map(Vec::as_slice)), Ok(()));
//! state.insert("optimizer.v.layers.0.bias".into(), vec![f32::INFINITY; 64]);
//! assert!(at.state(&spec, |name| state.get(name).map(Vec::as_slice)).is_err());
//! ```

mod coasting;
mod error;
mod movement;
mod numbers;
mod optimizer;
mod power;
mod stretches;
#[cfg(test)]
mod tests;

pub use coasting::{is_idle, twins, weights, Coasting, Elements, Weights, BLOCK, LOOK_FLOP};
pub use error::{Limit, Unreachable};
pub use movement::Movement;
pub use power::unbounded;

use crate::{
	init,
	lower::{
		self, Initial, StateTensor, BETA1_POWER, BETA2_POWER, FIRST_MOMENT, MAPPING_PREFIX,
		OPTIMIZER_PREFIX, SECOND_MOMENT, VELOCITY,
	},
	schedule::LearningRate,
	spec::CheckedSpec,
};
use alloc::{format, string::String};
use optimizer::{Bounds, Optimizer};
use stretches::{first_wrong, sum};

/// By what every bound is multiplied, `1 + 2^-20`: more than the roundings of the few binary64
/// operations that compute it, and of the binary32 operations of one optimizer step.
pub const SLACK: f64 = 1.0 + 1.0 / 1_048_576.0;

/// What a tensor of a state is to the optimizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
	/// A parameter of the model.
	Parameter,
	/// The vector of a reflection of the mapping: it is what it was at the beginning.
	Mapping,
	/// SGD's velocity of a parameter.
	Velocity,
	/// The first moment of a parameter's gradient.
	FirstMoment,
	/// The second moment of a parameter's gradient.
	SecondMoment,
	/// [`BETA1_POWER`].
	Beta1Power,
	/// [`BETA2_POWER`].
	Beta2Power,
}

impl Kind {
	/// Returns what the tensor of this name is, and the parameter that it belongs to; the powers
	/// belong to none, and have the empty name.
	pub fn of(name: &str) -> (Self, &str) {
		if name.starts_with(MAPPING_PREFIX) {
			return (Kind::Mapping, name);
		}
		let Some(kept) = name.strip_prefix(OPTIMIZER_PREFIX) else {
			return (Kind::Parameter, name);
		};
		match (name, kept.split_once('.')) {
			(BETA1_POWER, _) => (Kind::Beta1Power, ""),
			(BETA2_POWER, _) => (Kind::Beta2Power, ""),
			(_, Some((VELOCITY, parameter))) => (Kind::Velocity, parameter),
			(_, Some((FIRST_MOMENT, parameter))) => (Kind::FirstMoment, parameter),
			(_, Some((SECOND_MOMENT, parameter))) => (Kind::SecondMoment, parameter),
			_ => (Kind::Parameter, name),
		}
	}
}

/// The bounds of the states that an honest run of one specification can have at one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Reachable {
	/// Bounds of what the optimizer keeps.
	bounds: Bounds,
	/// How far a parameter can be from where it began; infinite where nothing bounds it.
	travelled: f64,
}

impl Reachable {
	/// Returns the bounds of the states after `step` steps.
	///
	/// Powers of beta are products of rounded numbers and have no short form, so this takes a
	/// multiplication for each step before they end at a fixed number: less than computing the
	/// steps themselves. After more than 131,072 steps parameters have no bound.
	pub fn at(spec: &CheckedSpec, step: u32) -> Self {
		let optimizer = Optimizer::of(spec);
		let peak = f64::from(LearningRate::of(&spec.training).peak.to_f32());
		let (bounds, sum) = optimizer.after(step);
		let travelled = if spec.initial_model.is_some() || !Movement::shrinks(spec) {
			f64::INFINITY
		} else {
			// A rounding moves a parameter by no more than the step that is rounded.
			2.0 * sum * peak * SLACK
		};
		Self { bounds, travelled }
	}

	/// Returns the bound of the magnitude of every element of `tensor`; infinite where nothing
	/// bounds it. The powers of beta are known exactly, and so are magnitudes of a mapping.
	pub fn most(&self, tensor: &StateTensor) -> f64 {
		let begun = match tensor.initial {
			Initial::Zeros => 0.0,
			Initial::Ones => 1.0,
			Initial::Reflection { width, .. } => f64::from(init::magnitude(width)),
			// The mixture's centres are at 2 s, and no variate of 24 bits reaches 6.
			Initial::Weights { fan_in, .. } => 8.0 * f64::from(init::scale(fan_in)),
		};
		match Kind::of(&tensor.name).0 {
			Kind::Parameter => (begun + self.travelled) * SLACK,
			Kind::Mapping => begun,
			Kind::Velocity | Kind::FirstMoment => self.bounds.first,
			Kind::SecondMoment => self.bounds.second,
			Kind::Beta1Power => f64::from(self.bounds.power1),
			Kind::Beta2Power => f64::from(self.bounds.power2),
		}
	}

	/// Fails with the first element of `tensor` that no honest run has. (A training that meets an
	/// infinite value has diverged, and writes no checkpoint.) `second` is the second
	/// moment of the same parameter; it is read for a first moment alone.
	///
	/// Returns the sum of the squares of the elements, and of a second moment the sum of the
	/// elements, for [`Self::total`].
	pub fn tensor(
		&self,
		tensor: &StateTensor,
		values: &[f32],
		second: &[f32],
	) -> Result<f64, Unreachable> {
		let name = || tensor.name.clone();
		let expected = tensor.shape.iter().fold(1u64, |n, d| n.saturating_mul(u64::from(*d)));
		let len = |found: &[f32]| {
			let found = found.len() as u64;
			let error = Unreachable::Length { tensor: name(), expected, found };
			(found == expected).then_some(()).ok_or(error)
		};
		len(values)?;
		let kind = Kind::of(&tensor.name).0;
		let bound = self.most(tensor);
		let fail = |index: u64, value: f32, limit: Limit, bound: f64| {
			Err(Unreachable::Element { tensor: name(), index, value, limit, bound })
		};
		let wrong = |value: f32, _| {
			let wide = f64::from(value);
			let beyond = match kind {
				Kind::Beta1Power | Kind::Beta2Power => wide != bound,
				Kind::Mapping => wide.abs() != bound,
				Kind::SecondMoment => (value < 0.0) | (wide > bound),
				_ => wide.abs() > bound,
			};
			!value.is_finite() | beyond
		};
		if let Some((index, value, _)) = first_wrong(values, values, wrong) {
			let (limit, bound) = match kind {
				_ if !value.is_finite() => (Limit::Number, bound),
				Kind::Beta1Power | Kind::Beta2Power => (Limit::Power, bound),
				Kind::Mapping => (Limit::Magnitude, bound),
				Kind::SecondMoment if value < 0.0 => (Limit::Sign, 0.0),
				_ => (Limit::Size, bound),
			};
			return fail(index, value, limit, bound);
		}
		let sum = match kind {
			Kind::SecondMoment => sum(values, values, |value, _| f64::from(value)),
			_ => sum(values, values, |x, y| f64::from(x) * f64::from(y)),
		};
		if kind == Kind::FirstMoment {
			len(second)?;
			let beside = |v: f32| self.bounds.first_beside(f64::from(v));
			let wrong = |m: f32, v| f64::from(m.abs()) > beside(v);
			if let Some((index, m, v)) = first_wrong(values, second, wrong) {
				return fail(index, m, Limit::Root, beside(v));
			}
		}
		self.total(kind, sum, name)?;
		Ok(sum)
	}

	/// Fails if no honest run has tensors of this kind whose sums ([`Self::tensor`]) are `sum`
	/// together: clipping bounds the norm of all gradients, and so that of what is made of them.
	/// `name` says what was summed.
	pub fn total(
		&self,
		kind: Kind,
		sum: f64,
		name: impl FnOnce() -> String,
	) -> Result<(), Unreachable> {
		let bound = match kind {
			Kind::Velocity | Kind::FirstMoment => self.bounds.first_norm * self.bounds.first_norm,
			Kind::SecondMoment => self.bounds.second_sum,
			Kind::Parameter | Kind::Mapping | Kind::Beta1Power | Kind::Beta2Power => return Ok(()),
		} * SLACK;
		if sum > bound {
			return Err(Unreachable::Sum { tensor: name(), sum, bound });
		}
		Ok(())
	}

	/// Fails with the first tensor of a state that no honest run has, each by itself and all of a
	/// kind together. `read` returns the elements of a tensor by its name.
	///
	/// It is [`Self::one`] of each tensor of [`lower::state`], and [`Self::all`] of what these return.
	pub fn state<'a>(
		&self,
		spec: &CheckedSpec,
		read: impl Fn(&str) -> Option<&'a [f32]>,
	) -> Result<(), Unreachable> {
		self.all(lower::state(spec).iter().map(|tensor| self.one(tensor, &read)))
	}

	/// Fails if no honest run has `tensor`, as [`Self::tensor`] does, with what it is read beside.
	/// `read` returns the elements of a tensor of the same state by its name. Tensors can be checked
	/// in any order, and at once.
	pub fn one<'a>(
		&self,
		tensor: &StateTensor,
		read: impl Fn(&str) -> Option<&'a [f32]>,
	) -> Result<(Kind, f64), Unreachable> {
		let read =
			|name: &str| read(name).ok_or_else(|| Unreachable::Missing { tensor: name.into() });
		let (kind, parameter) = Kind::of(&tensor.name);
		let second = match kind {
			Kind::FirstMoment => read(&format!("{OPTIMIZER_PREFIX}{SECOND_MOMENT}.{parameter}"))?,
			_ => &[],
		};
		Ok((kind, self.tensor(tensor, read(&tensor.name)?, second)?))
	}

	/// Fails with the first of what [`Self::one`] found of the tensors of a state, in their order, or
	/// if no honest run has what all of a kind are together.
	pub fn all(
		&self,
		found: impl IntoIterator<Item = Result<(Kind, f64), Unreachable>>,
	) -> Result<(), Unreachable> {
		let (mut first, mut second) = (0.0, 0.0);
		for one in found {
			match one? {
				(Kind::Velocity | Kind::FirstMoment, sum) => first += sum,
				(Kind::SecondMoment, sum) => second += sum,
				_ => (),
			}
		}
		self.total(Kind::FirstMoment, first, || "all first moments or velocities".into())?;
		self.total(Kind::SecondMoment, second, || "all second moments".into())
	}
}
