//! Segments that stand still: most of their work need not be done to know the state after them.
//!
//! A network whose units are dead, or saturated, has gradients that are zero, and moments that are
//! too large round all gradients away. From such a state on, training costs next to nothing and
//! replays as true. [`Coasting`] computes what steps make of an element when its gradient is zero:
//! if that is what the next checkpoint holds, in parameter and moments, nobody needed the gradient.
//! [`twins`] counts the elements of units that are equal to others.
//!
//! All this reads two neighbouring states and neither data nor seed, and never convicts: an honest
//! network may die.
//!
//! A look costs at most [`LOOK_FLOP`] for each element and step, and mostly next to nothing, with the
//! same answer as all steps one by one: an element whose averages cannot have faded to what the end
//! holds is dropped at once, averages stop where a step changes nothing of them, and a parameter
//! that no step can move any more only decays.

use crate::{
	lower::{self, Initial},
	ops::Phase,
	schedule::LearningRate,
	spec::{self, CheckedSpec},
};
use alloc::{collections::BTreeSet, string::String, vec::Vec};
use trainyard_strict::{decay, from_nano, Arithmetic, Soft};

/// Elements that are computed together.
pub const BLOCK: usize = 4_096;
/// What a look takes for each element and step at most, in FLOP of a machine that trains: it is
/// divisions and a root more than products, 1.1 ns with AVX2 on one core, and a machine that
/// replays an audit in time makes 2 FLOP in a nanosecond.
pub const LOOK_FLOP: u128 = 4;
/// Steps between two looks for parameters that no step moves any more.
const SETTLING: u32 = 64;

/// The state of the elements of one parameter: all of a tensor, or the same part of each.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
	/// The parameters.
	pub parameter: &'a [f32],
	/// Their velocities, or first moments.
	pub first: &'a [f32],
	/// Their second moments; empty for SGD.
	pub second: &'a [f32],
}

/// An element, as the optimizer keeps it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Element {
	parameter: f32,
	first: f32,
	second: f32,
}

/// The steps between two checkpoints, without any gradient.
#[derive(Clone, Debug)]
pub struct Coasting {
	steps: core::ops::Range<u32>,
	rates: LearningRate,
	/// No rate is above it.
	most_rate: f32,
	weight_decay: f32,
	/// Powers of beta at the beginning.
	powers: (f32, f32),
	rule: Rule,
	/// What the steps make of both averages.
	fades: (Fade, Fade),
}

#[derive(Clone, Copy, Debug)]
enum Rule {
	Sgd { momentum: f32, nesterov: bool },
	Adam(Adam),
}

#[derive(Clone, Copy, Debug)]
struct Adam {
	beta1: f32,
	beta2: f32,
	/// The shares that are taken of a gradient; only Adam's decay is one here.
	take1: f32,
	take2: f32,
	epsilon: f32,
	/// Whether the decay is added to the gradient.
	coupled: bool,
}

impl Rule {
	/// Returns what a step leaves of both averages. SGD has one.
	fn betas(&self) -> (f32, f32) {
		match *self {
			Rule::Sgd { momentum, .. } => (momentum, 0.0),
			Rule::Adam(Adam { beta1, beta2, .. }) => (beta1, beta2),
		}
	}
}

/// More than the roundings of a schedule.
const RATE_SLACK: f32 = 1.000_001;

/// Between what a number comes to that is multiplied in every step, whatever the roundings.
#[derive(Clone, Copy, Debug)]
struct Fade {
	least: f64,
	most: f64,
	/// What the roundings of subnormal numbers add.
	beside: f64,
}

impl Fade {
	/// A rounding to binary32 changes a number by at most 2^-24 of it, or by 2^-150. The roundings
	/// here are far less than what the slack has over that.
	fn over(beta: f32, steps: u32) -> Self {
		const SLACK: f64 = 1.0 / 8_388_608.0;
		/// The smallest binary32, 2^-149.
		const SMALLEST: f64 = 1.401_298_464_324_817e-45;
		let (mut least, mut most) = (1.0f64, 1.0f64);
		for _ in 0..steps {
			least *= f64::from(beta) * (1.0 - SLACK);
			most *= f64::from(beta) * (1.0 + SLACK);
			if most < 1e-100 {
				// Whatever binary32 it was, nothing is left of it but roundings.
				least = 0.0;
				break;
			}
		}
		Self { least, most, beside: f64::from(steps) * SMALLEST }
	}

	/// Returns whether `begin` can come to `end`.
	fn fits(&self, begin: f32, end: f32) -> bool {
		let (was, is) = (f64::from(begin.abs()), f64::from(end.abs()));
		let turned = (begin > 0.0 && end < 0.0) || (begin < 0.0 && end > 0.0);
		!turned && self.least * was - self.beside <= is && is <= self.most * was + self.beside
	}
}

/// Elements, each part of all of them in a row, with what each is at the end.
#[derive(Clone, Debug, Default)]
struct Columns {
	parameter: Vec<f32>,
	first: Vec<f32>,
	second: Vec<f32>,
	end: Vec<Element>,
}

impl FromIterator<(Element, Element)> for Columns {
	fn from_iter<I: IntoIterator<Item = (Element, Element)>>(pairs: I) -> Self {
		let mut columns = Self::default();
		for (at, end) in pairs {
			columns.parameter.push(at.parameter);
			columns.first.push(at.first);
			columns.second.push(at.second);
			columns.end.push(end);
		}
		columns
	}
}

impl Columns {
	/// Returns the elements as they are, each with what it is at the end.
	fn pairs(&self) -> impl Iterator<Item = (Element, Element)> + '_ {
		let kept = self.first.iter().zip(&self.second);
		let at = self.parameter.iter().zip(kept).map(|(parameter, (first, second))| Element {
			parameter: *parameter,
			first: *first,
			second: *second,
		});
		at.zip(self.end.iter().copied())
	}

	/// Returns how many are what they are at the end.
	fn at_end(&self) -> u64 {
		self.pairs().filter(|(at, end)| at == end).count() as u64
	}
}

/// Multiplies all by `factor`.
#[inline(always)]
fn scale(column: &mut [f32], factor: f32) {
	for x in column {
		*x *= factor;
	}
}

/// Multiplies all by `factor` in each of the steps, up to one that changes none.
#[inline(always)]
fn fade(column: &mut [f32], factor: f32, steps: u32) {
	for _ in 0..steps {
		let mut moved = false;
		for x in column.iter_mut() {
			let next = factor * *x;
			moved |= next != *x;
			*x = next;
		}
		if !moved {
			return;
		}
	}
}

impl Coasting {
	/// Returns the steps `from..to` of a training that begins them with these powers of beta, as an
	/// honest state has them. (SGD has none; they are not read.)
	pub fn over(spec: &CheckedSpec, from: u32, to: u32, powers: (f32, f32)) -> Self {
		let t = &spec.training;
		let coupled = matches!(t.optimizer, spec::Optimizer::Adam { .. });
		let rule = match t.optimizer {
			spec::Optimizer::Sgd { momentum_nano, nesterov } => {
				Rule::Sgd { momentum: from_nano(momentum_nano), nesterov }
			}
			spec::Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano }
			| spec::Optimizer::Adam { beta1_nano, beta2_nano, epsilon_nano } => Rule::Adam(Adam {
				beta1: from_nano(beta1_nano),
				beta2: from_nano(beta2_nano),
				take1: crate::ops::Nano(beta1_nano).one_minus().to_f32(),
				take2: crate::ops::Nano(beta2_nano).one_minus().to_f32(),
				epsilon: from_nano(epsilon_nano),
				coupled,
			}),
		};
		let rates = LearningRate::of(t);
		let last = match rates.schedule {
			spec::Schedule::Constant => 0.0,
			spec::Schedule::Cosine { final_rate_nano } => from_nano(final_rate_nano),
		};
		let (beta1, beta2) = rule.betas();
		let steps = to.saturating_sub(from);
		Self {
			steps: from..to,
			rates,
			most_rate: rates.peak.to_f32().max(last) * RATE_SLACK,
			weight_decay: from_nano(t.weight_decay_nano),
			powers,
			rule,
			fades: (Fade::over(beta1, steps), Fade::over(beta2, steps)),
		}
	}

	/// Returns how many elements are at the end what they would be without any gradient. A zero of
	/// either sign is the same. Takes at most [`BLOCK`] elements at a time best.
	pub fn still(&self, begin: Elements<'_>, end: Elements<'_>) -> u64 {
		self.still_with::<Soft>(begin, end)
	}

	/// Returns [`Self::still`], computed with this arithmetic. It is inlined, so that it is compiled
	/// for the instruction set of its caller.
	#[inline(always)]
	pub fn still_with<A: Arithmetic>(&self, begin: Elements<'_>, end: Elements<'_>) -> u64 {
		let pairs = each(begin).zip(each(end));
		match self.rule {
			Rule::Adam(adam) if adam.coupled && self.weight_decay > 0.0 => {
				self.pulled::<A>(adam, pairs.collect())
			}
			_ => {
				let (first, second) = self.fades;
				let fits = |(begin, end): &(Element, Element)| {
					first.fits(begin.first, end.first) && second.fits(begin.second, end.second)
				};
				self.fading::<A>(pairs.filter(fits).collect())
			}
		}
	}

	/// Returns how many of these are still, where the decay is added to the gradient: averages grow
	/// by it, so all steps are computed.
	#[inline(always)]
	fn pulled<A: Arithmetic>(&self, adam: Adam, mut all: Columns) -> u64 {
		let (mut power1, mut power2) = self.powers;
		for step in self.steps.clone() {
			let rate = self.rates.at(step);
			(power1, power2) = (adam.beta1 * power1, adam.beta2 * power2);
			let (rest1, rest2) = (1.0 - power1, 1.0 - power2);
			let kept = all.first.iter_mut().zip(&mut all.second);
			for (x, (m, v)) in all.parameter.iter_mut().zip(kept) {
				let pull = self.weight_decay * *x;
				*m = A::fma(adam.beta1, *m, adam.take1 * pull);
				*v = A::fma(adam.beta2, *v, adam.take2 * (pull * pull));
				let step = (*m / rest1) / (A::sqrt(*v / rest2) + adam.epsilon);
				*x = A::fma(-rate, step, *x);
			}
		}
		all.at_end()
	}

	/// Returns how many of these are still, where averages only fade. Those whose averages do not
	/// come to what the end holds are dropped; of the rest the parameters are computed.
	#[inline(always)]
	fn fading<A: Arithmetic>(&self, mut all: Columns) -> u64 {
		let (beta1, beta2) = self.rule.betas();
		let steps = self.steps.end.saturating_sub(self.steps.start);
		let (mut first, mut second) = (all.first.clone(), all.second.clone());
		fade(&mut first, beta1, steps);
		fade(&mut second, beta2, steps);
		let faded = first.iter().zip(&second).zip(all.pairs());
		let faded = faded.filter(|((m, v), (_, end))| **m == end.first && **v == end.second);
		all = faded.map(|(_, pair)| pair).collect();

		let (mut power1, mut power2) = self.powers;
		let mut still = 0u64;
		for (taken, step) in (0u32..).zip(self.steps.clone()) {
			if taken.is_multiple_of(SETTLING) {
				let next = beta1 * power1;
				let settled = |(at, end): &(Element, Element)| self.settled::<A>(next, at, end);
				let (done, rest): (Vec<_>, Vec<_>) = all.pairs().partition(settled);
				still = still.saturating_add(self.decaying(step, done.into_iter().collect()));
				all = rest.into_iter().collect();
			}
			if all.end.is_empty() {
				return still;
			}
			let rate = self.rates.at(step);
			scale(&mut all.first, beta1);
			scale(&mut all.second, beta2);
			// A product with 1 changes nothing.
			scale(&mut all.parameter, decay(rate, self.weight_decay));
			match self.rule {
				Rule::Sgd { momentum, nesterov } => {
					let ahead = if nesterov { momentum } else { 1.0 };
					for (x, first) in all.parameter.iter_mut().zip(&all.first) {
						*x = A::fma(-rate, ahead * first, *x);
					}
				}
				Rule::Adam(adam) => {
					(power1, power2) = (beta1 * power1, beta2 * power2);
					let (rest1, rest2) = (1.0 - power1, 1.0 - power2);
					let kept = all.first.iter().zip(&all.second);
					for (x, (m, v)) in all.parameter.iter_mut().zip(kept) {
						let step = (m / rest1) / (A::sqrt(v / rest2) + adam.epsilon);
						*x = A::fma(-rate, step, *x);
					}
				}
			}
		}
		still.saturating_add(all.at_end())
	}

	/// Returns whether no step from here on moves the parameter but by its decay, or it does not
	/// end as it should: `power` is that of beta1 in the next step, and the averages end as they
	/// should.
	///
	/// Averages fade, and the rest of the power grows, so no direction is larger than the one that
	/// the first moment of now and the second one of the end have, roundings included, since they
	/// keep order. What four times that leaves of a number as it is, it leaves of all larger ones,
	/// and of those down to half of it as well: so none that is smaller in size grows to it again.
	#[inline(always)]
	fn settled<A: Arithmetic>(&self, power: f32, at: &Element, end: &Element) -> bool {
		let direction = match self.rule {
			Rule::Sgd { .. } => at.first.abs(),
			Rule::Adam(adam) => {
				(at.first.abs() / (1.0 - power)) / (A::sqrt(end.second) + adam.epsilon)
			}
		};
		let rate = 4.0 * self.most_rate;
		let (up, down) =
			(A::fma(rate, direction, end.parameter), A::fma(-rate, direction, end.parameter));
		up == end.parameter && down == end.parameter
	}

	/// Returns how many parameters are at the end what they should be, which from `step` on only
	/// decay.
	#[inline(always)]
	fn decaying(&self, step: u32, mut all: Columns) -> u64 {
		if self.weight_decay > 0.0 && !all.end.is_empty() {
			for step in step..self.steps.end {
				scale(&mut all.parameter, decay(self.rates.at(step), self.weight_decay));
			}
		}
		let ended = all.parameter.iter().zip(&all.end);
		ended.filter(|(x, end)| **x == end.parameter).count() as u64
	}
}

fn each(of: Elements<'_>) -> impl Iterator<Item = Element> + '_ {
	let second = of.second.iter().copied().chain(core::iter::repeat(0.0));
	let kept = of.first.iter().zip(second);
	of.parameter.iter().zip(kept).map(|(parameter, (first, second))| Element {
		parameter: *parameter,
		first: *first,
		second,
	})
}

/// The weights of one layer, and the work that depends on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
	/// Names of its matrices and kernels. Biases and the scales of norms are not among them: they
	/// are few, and what they cost is little.
	pub tensors: Vec<String>,
	/// How many elements these have together.
	pub elements: u64,
	/// FLOP of the layer in a step, forwards and backwards.
	pub work: u128,
}

/// Returns the weights of all layers that have some.
pub fn weights(spec: &CheckedSpec) -> Vec<Weights> {
	let (program, state) = (lower::training_step(spec), lower::state(spec));
	let layers = program.ops.iter().filter_map(|op| op.layer).max();
	let layers = layers.map_or(0, |last| last.saturating_add(1));
	let of = |layer: u32| {
		let prefix = lower::layer_prefix(layer);
		let own = state.iter().filter(|tensor| {
			tensor.name.starts_with(&prefix) && matches!(tensor.initial, Initial::Weights { .. })
		});
		let ops = program.ops.iter();
		let ops = ops.filter(|op| op.layer == Some(layer) && op.phase != Phase::Update);
		let product = |n: u64, d: &u32| n.saturating_mul(u64::from(*d));
		Weights {
			tensors: own.clone().map(|tensor| tensor.name.clone()).collect(),
			elements: own.fold(0u64, |n, t| n.saturating_add(t.shape.iter().fold(1, product))),
			work: ops.fold(0u128, |sum, op| sum.saturating_add(op.kind.flop())),
		}
	};
	(0..layers).map(of).filter(|weights| weights.elements > 0).collect()
}

/// Returns how many elements of a matrix or kernel belong to units that are equal to one before
/// them, up to the sign and a power of two: what such a unit computes follows from the other without
/// computing it. The rows of `values` are the units' weights, as many as `units`.
///
/// Units that were drawn are never equal for good. Weights of one element are not looked at: each is
/// the other's multiple.
pub fn twins(values: &[f32], units: usize) -> u64 {
	let len = values.len().checked_div(units).unwrap_or(0);
	if len < 2 {
		return 0;
	}
	let mut known = BTreeSet::new();
	let repeats = values.chunks_exact(len).filter(|row| !known.insert(canonical(row))).count();
	(repeats as u64).saturating_mul(len as u64)
}

/// Returns the bits of a row, divided by the power of two and the sign of its first element that is
/// not zero. Exact in binary64.
fn canonical(row: &[f32]) -> Vec<u64> {
	let first = row.iter().map(|x| f64::from(*x)).find(|x| *x != 0.0).unwrap_or(1.0);
	let (sign, power) = (first.signum(), libm::ilogb(first).saturating_neg());
	// A zero of either sign is the same.
	row.iter().map(|x| (libm::scalbn(f64::from(*x), power) * sign + 0.0).to_bits()).collect()
}

/// Returns whether a segment stands still in which that many elements of each of these weights
/// would be the same without the gradient, or belong to twins: the work is shared out equally among the elements of a
/// layer, and more than half of it belongs to such ones.
pub fn is_idle(weights: &[Weights], still: &[u64]) -> bool {
	let (mut idle, mut all) = (0u128, 0u128);
	for (layer, still) in weights.iter().zip(still) {
		let share = layer.work.saturating_mul(u128::from(*still));
		idle = idle.saturating_add(share.checked_div(u128::from(layer.elements)).unwrap_or(0));
		all = all.saturating_add(layer.work);
	}
	idle > all.saturating_sub(idle)
}
