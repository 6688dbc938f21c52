//! Segments in which the training stands still, and where that began.
//!
//! A made-up state of dead units makes all segments after it cheap and true: a draw of segments
//! rarely finds the one that is false. But where a drawn segment stands still, a search over the
//! checkpoints finds a segment that does not, before one that does, and that one is replayed: of a
//! jump it is the false one, and of an honest network that died it is true.

use super::VerifyError;
use crate::bundle::{manifest::checkpoint_file, Bundle};
use rayon::prelude::*;
use std::{collections::BTreeSet, path::Path};
use trainyard_engine::{
	kernels::{Arithmetic, SimdTask},
	Isa, TensorMap,
};
use trainyard_program::{
	lower::{BETA1_POWER, BETA2_POWER, OPTIMIZER_PREFIX},
	reachable::{is_idle, twins, weights, Coasting, Elements, Weights, BLOCK},
	spec::CheckedSpec,
};

/// Looks for segments that stand still.
pub struct Standstill<'a> {
	spec: &'a CheckedSpec,
	weights: Vec<Weights>,
	/// Its bits are the same with every one.
	isa: Isa,
}

/// A look at one block, compiled for each instruction set.
struct Look<'a> {
	coasting: &'a Coasting,
	begin: Elements<'a>,
	end: Elements<'a>,
	still: &'a mut u64,
}

impl SimdTask for Look<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		*self.still = self.coasting.still_with::<A>(self.begin, self.end);
	}
}

/// One parameter with what the optimizer keeps of it. Tensors that are missing are empty.
fn elements<'a>(state: &'a TensorMap, parameter: &str) -> Elements<'a> {
	let read = |name: &str| state.get(name).map_or(&[][..], |tensor| &tensor.data);
	let kept = |kind: &str| read(&format!("{OPTIMIZER_PREFIX}{kind}.{parameter}"));
	let velocity = kept("velocity");
	let first = if velocity.is_empty() { kept("m") } else { velocity };
	Elements { parameter: read(parameter), first, second: kept("v") }
}

/// Returns the elements in blocks.
fn blocks(all: Elements<'_>) -> Vec<Elements<'_>> {
	let part = |of: &'_ [f32], at: usize| -> std::ops::Range<usize> {
		at.min(of.len())..(at + BLOCK).min(of.len())
	};
	(0..all.parameter.len())
		.step_by(BLOCK)
		.map(|at| Elements {
			parameter: &all.parameter[part(all.parameter, at)],
			first: &all.first[part(all.first, at)],
			second: &all.second[part(all.second, at)],
		})
		.collect()
}

impl<'a> Standstill<'a> {
	/// Looks at results of this specification.
	pub fn of(spec: &'a CheckedSpec) -> Self {
		Self { spec, weights: weights(spec), isa: Isa::from_environment().unwrap_or(Isa::Scalar) }
	}

	/// Returns whether `segment` stands still, which begins and ends in these states of the job.
	pub fn is_idle(&self, segment: u32, begin: &TensorMap, end: &TensorMap) -> bool {
		let step = |index| self.spec.checkpoint_step(index).unwrap_or_default();
		let (from, to) = (step(segment), step(segment.saturating_add(1)));
		let power = |name| begin.get(name).and_then(|x| x.data.first()).copied().unwrap_or(1.0);
		let powers = (power(BETA1_POWER), power(BETA2_POWER));
		let coasting = Coasting::over(self.spec, from, to, powers);
		let still = |name: &String| -> u64 {
			let tensor = begin.get(name);
			let units = tensor.and_then(|x| x.shape.first()).copied().unwrap_or(0) as usize;
			let twins = tensor.map_or(0, |x| twins(&x.data, units));
			let (begin, end) = (blocks(elements(begin, name)), blocks(elements(end, name)));
			let pairs = begin.into_par_iter().zip(end);
			let look = |(begin, end)| {
				let mut still = 0;
				self.isa.run(Look { coasting: &coasting, begin, end, still: &mut still });
				still
			};
			pairs.map(look).sum::<u64>().max(twins)
		};
		decide(&self.weights, |layer| layer.tensors.iter().map(still).sum())
	}
}

/// Returns [`is_idle`] of what `still` counts in each layer. It is asked of the layers with the most
/// work first, and of no more than decide it.
fn decide(weights: &[Weights], still: impl Fn(&Weights) -> u64) -> bool {
	let mut order: Vec<usize> = (0..weights.len()).collect();
	order.sort_by_key(|at| std::cmp::Reverse(weights[*at].work));
	let mut least = vec![0; weights.len()];
	let mut most: Vec<u64> = weights.iter().map(|layer| layer.elements).collect();
	for at in order {
		if is_idle(weights, &least) || !is_idle(weights, &most) {
			break;
		}
		let count = still(&weights[at]);
		(least[at], most[at]) = (count, count);
	}
	is_idle(weights, &least)
}

/// Returns where it began that `segment` stands still: a segment that does, after one that does not,
/// or segment 0. `before` is one of which it is known that it does not. Asks about at most as many
/// segments as `segment + 1` has binary digits.
pub fn beginning<E>(
	segment: u32,
	before: Option<u32>,
	mut is_idle: impl FnMut(u32) -> Result<bool, E>,
) -> Result<u32, E> {
	let (mut least, mut idle) = (before.map_or(0, |before| before.saturating_add(1)), segment);
	while least < idle {
		let middle = least + (idle - least) / 2;
		if is_idle(middle)? {
			idle = middle;
		} else {
			least = middle + 1;
		}
	}
	Ok(idle)
}

/// Returns the checkpoints that an audit of the drawn segments reads in the whole bundle in `dir`
/// besides those that it reads in any case.
pub(super) fn searched(
	dir: &Path,
	spec: &CheckedSpec,
	drawn: &BTreeSet<u32>,
) -> Result<BTreeSet<u32>, VerifyError> {
	let bundle = Bundle::open(dir)?;
	let standstill = Standstill::of(spec);
	let mut read = BTreeSet::new();
	let is_idle = |segment: u32, read: &mut BTreeSet<u32>| -> Result<bool, VerifyError> {
		let state = |index| {
			let step = spec.checkpoint_step(index).unwrap_or_default();
			bundle.checkpoint(step)
		};
		read.extend([segment, segment.saturating_add(1)]);
		Ok(standstill.is_idle(segment, &state(segment)?, &state(segment.saturating_add(1))?))
	};
	let mut before = None;
	for segment in drawn {
		if is_idle(*segment, &mut read)? {
			read.clear();
			let began = beginning(*segment, before, |at| is_idle(at, &mut read))?;
			if let Some(last) = began.checked_sub(1) {
				read.extend([last, began]);
			}
			return Ok(read);
		}
		before = Some(*segment);
	}
	Ok(BTreeSet::new())
}

/// Returns the files of these checkpoints.
pub(super) fn files(spec: &CheckedSpec, checkpoints: &BTreeSet<u32>) -> Vec<String> {
	let steps = checkpoints.iter().filter_map(|index| spec.checkpoint_step(*index));
	steps.map(checkpoint_file).collect()
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::spec::{JobSpec, Optimizer, Schedule};
	use trainyard_protocol::blob::searched_states;
	use trainyard_strict::{decay, fma, from_nano, sqrt};

	/// Verifiers of different machines count the same elements.
	#[test]
	fn no_instruction_set_counts_differently() {
		let mut spec = JobSpec::example();
		spec.training.weight_decay_nano = 10_000_000;
		spec.training.schedule = Schedule::Constant;
		spec.training.warmup_steps = 0;
		let (beta1, beta2, epsilon) = (0.9, 0.999, 1e-8);
		spec.training.optimizer =
			Optimizer::AdamW { beta1_nano: 900_000_000, beta2_nano: 999_000_000, epsilon_nano: 10 };
		let spec = spec.check().unwrap();
		let rate = from_nano(spec.training.learning_rate_nano);
		let value = |i: u32, by: u32| (i.wrapping_mul(2_654_435_761) >> by) as f32 / 1e9 - 0.3;
		let [x, m, v] = [
			(1..300).map(|i| value(i, 1)).collect::<Vec<_>>(),
			(1..300).map(|i| value(i, 2) * 1e-3).collect(),
			(1..300).map(|i| value(i, 3).abs() * 1e-6).collect(),
		];
		let [mut x_end, mut m_end, mut v_end] = [x.clone(), m.clone(), v.clone()];
		let (mut power1, mut power2) = (1.0f32, 1.0f32);
		for _ in 0..100 {
			(power1, power2) = (beta1 * power1, beta2 * power2);
			for ((x, m), v) in x_end.iter_mut().zip(&mut m_end).zip(&mut v_end) {
				(*m, *v) = (beta1 * *m, beta2 * *v);
				let step = (*m / (1.0 - power1)) / (sqrt(*v / (1.0 - power2)) + epsilon);
				*x = fma(-rate, step, decay(rate, 0.01) * *x);
			}
		}
		// Every fourth ends elsewhere.
		x_end.iter_mut().step_by(4).for_each(|x| *x *= 1.000_001);
		let coasting = Coasting::over(&spec, 0, 100, (1.0, 1.0));
		for isa in Isa::supported() {
			let begin = Elements { parameter: &x, first: &m, second: &v };
			let end = Elements { parameter: &x_end, first: &m_end, second: &v_end };
			let mut still = 0;
			isa.run(Look { coasting: &coasting, begin, end, still: &mut still });
			assert_eq!(still, 299 - 75, "{isa}");
		}
	}

	/// What is counted of a layer matters no more once the others decide.
	#[test]
	fn no_more_layers_are_counted_than_decide() {
		let layer = |elements, work| Weights { tensors: vec![], elements, work };
		let weights = [layer(10, 20), layer(10, 100), layer(10, 30)];
		for (large, asked) in [(0, 1), (5, 3), (7, 2), (8, 1), (10, 1)] {
			let mut layers = 0;
			let counted = std::cell::RefCell::new(&mut layers);
			let still = |layer: &Weights| {
				**counted.borrow_mut() += 1;
				if layer.work == 100 {
					large
				} else {
					5
				}
			};
			let found = decide(&weights, still);
			assert_eq!(found, is_idle(&weights, &[5, large, 5]), "{large}");
			assert_eq!(layers, asked, "{large}");
		}
	}

	#[test]
	fn the_beginning_is_found_in_few_looks() {
		for segments in 1..70u32 {
			for began in 0..segments {
				for segment in began..segments {
					for before in (0..began).map(Some).chain([None]) {
						let mut looks = 0;
						let found = beginning(segment, before, |at| {
							looks += 1;
							Ok::<_, ()>(at >= began)
						});
						assert_eq!(found, Ok(began));
						assert!(2 * looks <= searched_states(segments), "{segments}: {looks}");
					}
				}
			}
		}
		// Where it comes and goes, some beginning is found.
		let idle = |at: u32| !(3..=5).contains(&at) && at != 0;
		let found = beginning(9, None, |at| Ok::<_, ()>(idle(at))).unwrap();
		assert!(idle(found) && !idle(found - 1), "{found}");
	}
}
