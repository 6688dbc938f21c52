//! The six full-pass rules of the MatrixAI litepaper, as statistics.
//!
//! They look at all checkpoints of a run without replaying it. They are evidence, not proof,
//! and decide nothing: validation accuracy is noisy, and a forger who starts from a true
//! initial model and interpolates passes most of them. What decides is the replay.
//!
//! Thresholds come from profiling runs of the digits job under other seeds, recorded in
//! `docs/full-pass-rules.md` with the thresholds found in the literature ("naive"); another
//! job may need its own.

use super::{
	replay::check,
	stats::{self, MOST_VALUES},
	VerifyError,
};
use crate::{
	bundle::{self, manifest::validation, Bundle},
	hash::Hasher,
};
use primitive_types::H256;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::{atomic::AtomicBool, Arc};
use trainyard_engine::{Data, Engine, State, TensorMap};
use trainyard_program::{
	init,
	lower::{self, Initial, StateTensor},
	spec::CheckedSpec,
};
use trainyard_protocol::bundle::Evaluation;

/// The side of its threshold on which a statistic should be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
	/// At most this.
	AtMost(f64),
	/// At least this.
	AtLeast(f64),
}

impl Bound {
	/// Returns whether `value` keeps it.
	pub fn keeps(&self, value: f64) -> bool {
		match self {
			Bound::AtMost(bound) => value <= *bound,
			Bound::AtLeast(bound) => value >= *bound,
		}
	}
}

impl std::fmt::Display for Bound {
	fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
		match self {
			Bound::AtMost(bound) => write!(f, "<= {bound}"),
			Bound::AtLeast(bound) => write!(f, ">= {bound}"),
		}
	}
}

/// A rule applied to a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rule {
	/// Number, 1 to 6.
	pub number: u8,
	/// What it says.
	pub name: &'static str,
	/// What is measured.
	pub statistic: &'static str,
	/// The measure; none if the run is too short for one, or if the rule does not apply to it.
	pub value: Option<f64>,
	/// The range in which it should be.
	pub threshold: Bound,
	/// Whether it is there.
	pub kept: Option<bool>,
	/// Further numbers, for people.
	pub detail: String,
}

/// The six rules applied to a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rules {
	/// In order of number.
	pub rules: Vec<Rule>,
	/// Evaluation of every checkpoint, recomputed.
	#[serde(serialize_with = "validation::serialize_all")]
	pub validation: Vec<Evaluation>,
	/// How many entries of the manifest differ from it.
	pub wrong_metrics: u32,
}

/// Rule 1: largest drop of accuracy below its maximum so far, in standard errors.
pub const LARGEST_DROP: Bound = Bound::AtMost(5.0);
/// Rule 2: largest earth mover's distance of a layer's weights in adjacent checkpoints.
pub const LARGEST_STEP: Bound = Bound::AtMost(0.06);
/// Rule 3: earth mover's distance of a layer's initial weights to the declared distribution,
/// in that distribution's standard deviations.
pub const INITIAL_DISTANCE: Bound = Bound::AtMost(0.2);
/// Rule 4: first principal component's share, over what independent weights have.
pub const FIRST_COMPONENT: Bound = Bound::AtMost(1.25);
/// Rule 5: rank correlation of step and nearness to the final model.
pub const APPROACH: Bound = Bound::AtLeast(0.9);
/// Rule 6: how many standard deviations nearer to the final model the initial model is than
/// random initial models are.
pub const INITIAL_NEARER: Bound = Bound::AtLeast(20.0);

/// The rules about initial models that are drawn.
const OF_DRAWN_MODELS: [u8; 3] = [3, 4, 6];
/// Random initial models that rule 6 compares with.
const RANDOM_MODELS: u32 = 20;

impl Rules {
	/// Returns whether every rule that could be applied was kept.
	pub fn all_kept(&self) -> bool {
		self.rules.iter().all(|rule| rule.kept != Some(false))
	}
}

/// A weight matrix of the model.
struct Layer {
	name: String,
	outputs: usize,
	inputs: usize,
}

fn layers(spec: &CheckedSpec) -> Vec<Layer> {
	lower::state(spec)
		.into_iter()
		.filter_map(|t| match (t.initial, &t.shape[..]) {
			(Initial::Weights { fan_in, .. }, [outputs, ..]) => {
				Some(Layer { outputs: *outputs as usize, inputs: fan_in as usize, name: t.name })
			}
			_ => None,
		})
		.collect()
}

fn weights<'a>(state: &'a TensorMap, layer: &Layer) -> &'a [f32] {
	state.get(&layer.name).map_or(&[], |t| &t.data)
}

fn distance(a: &TensorMap, b: &TensorMap) -> Option<f64> {
	stats::rms_distance(
		a.iter().filter_map(|(name, tensor)| Some((&tensor.data[..], &b.get(name)?.data[..]))),
	)
}

/// Returns the largest of some values with its name.
fn largest(values: impl IntoIterator<Item = (f64, String)>) -> Option<(f64, String)> {
	values.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Returns the largest statistic of a layer, with what is said about it. Layers are measured at once.
fn of_layers(
	layers: &[Layer],
	measure: impl Fn(&Layer) -> Option<(f64, String)> + Sync + Send,
) -> Option<(f64, String)> {
	largest(layers.par_iter().filter_map(measure).collect::<Vec<_>>())
}

/// Applies the rules to a whole bundle; all its checkpoints must be there.
pub fn assess(
	bundle: &Bundle,
	spec: &CheckedSpec,
	seed: H256,
	data: Arc<Data>,
) -> Result<Rules, VerifyError> {
	assess_until(bundle, spec, seed, data, &AtomicBool::new(false))
}

/// Does what [`assess`] does, but ends with [`VerifyError::Stopped`] once `stop` is set.
pub fn assess_until(
	bundle: &Bundle,
	spec: &CheckedSpec,
	seed: H256,
	data: Arc<Data>,
	stop: &AtomicBool,
) -> Result<Rules, VerifyError> {
	let engine = Engine::new(spec, seed, data).map_err(VerifyError::Engine)?;
	let layers = layers(spec);
	let listed = &bundle.manifest().checkpoints;
	let steps: Vec<f64> = listed.iter().map(|c| f64::from(c.step)).collect();
	let last = match listed.last() {
		Some(last) => bundle::parameters(bundle.checkpoint(last.step)?),
		None => TensorMap::new(),
	};
	let mut validation = Vec::new();
	let mut to_last = Vec::new();
	let mut largest_step: Option<(f64, String)> = None;
	let drawn = spec.initial_model.is_none();
	let nothing = TensorMap::new();
	let mut of_initial =
		vec![initial_distribution(&nothing, &layers), independence(&nothing, &layers)];
	let mut initial_to_last = None;
	let mut before: Option<TensorMap> = None;
	for checkpoint in listed {
		check(stop)?;
		let state = bundle.checkpoint(checkpoint.step)?;
		let model = bundle::copy_parameters(&state);
		let state = State::from_host(state).map_err(VerifyError::Engine)?;
		let evaluation = engine.evaluate(&state).map_err(VerifyError::Engine)?;
		validation.push(evaluation);
		to_last.push(distance(&model, &last).unwrap_or(f64::NAN));
		if let Some(before) = &before {
			let moved = of_layers(&layers, |layer| {
				let way = stats::emd(weights(before, layer), weights(&model, layer));
				Some((way, format!("{}, to step {}", layer.name, checkpoint.step)))
			});
			largest_step = largest(moved.into_iter().chain(largest_step));
		} else if drawn {
			of_initial = vec![initial_distribution(&model, &layers), independence(&model, &layers)];
			initial_to_last = sampled_distance(spec, &last, |tensor, at| {
				model.get(&tensor.name).and_then(|found| found.data.get(at as usize)).copied()
			});
		}
		before = Some(model);
	}
	let random = match drawn {
		true => random_distances(spec, seed, &last, stop)?,
		false => Vec::new(),
	};
	let wrong_metrics = validation.iter().zip(listed).filter(|(v, c)| **v != c.validation).count();
	let mut rules = vec![
		accuracy(&steps, &validation),
		rule(
			2,
			"adjacent checkpoints are close",
			"largest per-layer earth mover's distance",
			LARGEST_STEP,
			largest_step,
		),
	];
	rules.append(&mut of_initial);
	rules.extend([approach(&steps, &to_last), nearness(initial_to_last, &random)]);
	if !drawn {
		rules.iter_mut().filter(|rule| OF_DRAWN_MODELS.contains(&rule.number)).for_each(waive);
	}
	Ok(Rules { rules, validation, wrong_metrics: wrong_metrics as u32 })
}

/// Marks a rule as not applied: it says nothing of a fine-tuning, whose initial model was not
/// drawn.
fn waive(rule: &mut Rule) {
	(rule.value, rule.kept) = (None, None);
	rule.detail = "not applicable: fine-tuned".to_owned();
}

fn rule(
	number: u8,
	name: &'static str,
	statistic: &'static str,
	threshold: Bound,
	found: Option<(f64, String)>,
) -> Rule {
	let found = found.filter(|(value, _)| value.is_finite());
	let kept = found.as_ref().map(|(value, _)| threshold.keeps(*value));
	let (value, detail) = match found {
		Some((value, detail)) => (Some(value), detail),
		None => (None, "too few checkpoints or values to measure".to_owned()),
	};
	Rule { number, name, statistic, value, threshold, kept, detail }
}

fn accuracy(steps: &[f64], validation: &[Evaluation]) -> Rule {
	let mut best: Option<Evaluation> = None;
	let mut drop = None;
	for at in validation {
		if let Some(best) = best {
			// Laplace's estimate: a perfect score has an error too.
			let n = f64::from(at.labels.max(1));
			let p = (f64::from(best.correct) + 1.0) / (n + 2.0);
			let error = (p * (1.0 - p) / n).sqrt();
			let fall = ((best.accuracy() - at.accuracy()) / error).max(0.0);
			drop = Some(drop.map_or(fall, |drop: f64| drop.max(fall)));
		}
		if best.is_none_or(|best| at.correct > best.correct) {
			best = Some(*at);
		}
	}
	let accuracies: Vec<f64> = validation.iter().map(Evaluation::accuracy).collect();
	let rho = stats::spearman(steps, &accuracies);
	let detail = match rho {
		Some(rho) => format!("rank correlation with the step {rho:.3}"),
		None => "accuracy never changes".to_owned(),
	};
	rule(
		1,
		"accuracy does not fall",
		"largest drop, in standard errors of the validation set",
		LARGEST_DROP,
		drop.map(|drop| (drop, detail)),
	)
}

fn initial_distribution(initial: &TensorMap, layers: &[Layer]) -> Rule {
	let distances = of_layers(layers, |layer| {
		let sample = weights(initial, layer);
		let s = (2.0 / (5.0 * layer.inputs as f64)).sqrt();
		let deviation = (2.0 / layer.inputs as f64).sqrt();
		let distance = stats::emd_to_mixture(sample, s);
		let detail = format!("{}, absolute {distance:.4}", layer.name);
		(!sample.is_empty()).then_some((distance / deviation, detail))
	});
	rule(
		3,
		"initial weights follow the declared distribution",
		"largest per-layer earth mover's distance, in standard deviations",
		INITIAL_DISTANCE,
		distances,
	)
}

fn independence(initial: &TensorMap, layers: &[Layer]) -> Rule {
	let shares = of_layers(layers, |layer| {
		let (outputs, inputs) = (layer.outputs, layer.inputs);
		let all = weights(initial, layer);
		let rows: Vec<_> = (all.len() == outputs * inputs && inputs > 0)
			.then(|| stats::spread(all.chunks_exact(inputs), outputs, MOST_VALUES / inputs))?
			.collect();
		let (n, p) = (rows.len() as f64, inputs as f64);
		let share = stats::first_component_share(&rows.concat(), rows.len(), inputs)?;
		// Marchenko and Pastur 1967: upper edge of the spectrum of independent entries, which have
		// n - 1 degrees of freedom after the centring.
		let edge = (1.0 + (p / (n - 1.0)).sqrt()).powi(2) / p;
		Some((share / edge.min(1.0), format!("{}, share {share:.3}", layer.name)))
	});
	rule(
		4,
		"initial weights are independent",
		"first principal component's share, over that of independent weights",
		FIRST_COMPONENT,
		shares,
	)
}

fn approach(steps: &[f64], to_last: &[f64]) -> Rule {
	let nearness: Vec<f64> = to_last.iter().map(|d| -d).collect();
	let found = stats::spearman(steps, &nearness).filter(|_| to_last.iter().all(|d| !d.is_nan()));
	rule(
		5,
		"the distance to the final model falls",
		"rank correlation of step and nearness",
		APPROACH,
		found.map(|rho| {
			let first = to_last.first().copied().unwrap_or_default();
			(rho, format!("from {first:.4} (root mean square) to 0"))
		}),
	)
}

fn nearness(own: Option<f64>, random: &[f64]) -> Rule {
	let (mean, deviation) = stats::mean_and_deviation(random);
	let found = own.filter(|_| deviation > 0.0).map(|own| {
		let detail = format!(
			"{own:.4} from initial to final, {mean:.4} +- {deviation:.4} from random initial models"
		);
		((mean - own) / deviation, detail)
	});
	rule(
		6,
		"the initial model is near the final one",
		"nearer than random initial models, in their standard deviations",
		INITIAL_NEARER,
		found,
	)
}

/// Returns the distance of the model `last` to one whose elements `element` returns by tensor and index,
/// by at most [`MOST_VALUES`] elements, spread evenly; nothing if `element` lacks one.
fn sampled_distance(
	spec: &CheckedSpec,
	last: &TensorMap,
	element: impl Fn(&StateTensor, u64) -> Option<f32> + Sync + Send,
) -> Option<f64> {
	let tensors = lower::state(spec);
	// A mapping is none of the seeds' models: it is the same in all of a run.
	let drawn =
		tensors.iter().filter(|tensor| !matches!(tensor.initial, Initial::Reflection { .. }));
	let of_last: Vec<_> =
		drawn.filter_map(|tensor| Some((tensor, &last.get(&tensor.name)?.data))).collect();
	let all: usize = of_last.iter().map(|(_, data)| data.len()).sum();
	let stride = all.div_ceil(MOST_VALUES).max(1);
	let pairs = of_last.par_iter().map(|(tensor, data)| {
		let pair = |at: usize| Some((element(tensor, at as u64)?, data[at]));
		(0..data.len()).step_by(stride).map(pair).collect::<Option<(Vec<f32>, Vec<f32>)>>()
	});
	let pairs = pairs.collect::<Option<Vec<_>>>()?;
	stats::rms_distance(pairs.iter().map(|(a, b)| (&a[..], &b[..])))
}

/// Returns the distances of the final model to fresh random initial models.
fn random_distances(
	spec: &CheckedSpec,
	seed: H256,
	last: &TensorMap,
	stop: &AtomicBool,
) -> Result<Vec<f64>, VerifyError> {
	let mut distances = Vec::new();
	for i in 0..RANDOM_MODELS {
		check(stop)?;
		let mut hasher = Hasher::default();
		hasher.update(b"trainyard/rule-6/v1");
		hasher.update(seed.as_bytes());
		hasher.update(&i.to_le_bytes());
		let seed = hasher.finish();
		let element = |tensor: &StateTensor, at| Some(init::element(&seed, tensor, at));
		distances.extend(sampled_distance(spec, last, element));
	}
	Ok(distances)
}

#[cfg(test)]
mod tests {
	use super::*;

	fn at(correct: u32) -> Evaluation {
		Evaluation::new(1.0, correct, 100)
	}

	#[test]
	fn accuracy_may_wobble_but_not_fall() {
		let steps = [0.0, 1.0, 2.0, 3.0];
		let rising = accuracy(&steps, &[at(10), at(50), at(80), at(90)]);
		assert_eq!((rising.value, rising.kept), (Some(0.0), Some(true)));
		let wobbling = accuracy(&steps, &[at(10), at(90), at(88), at(91)]);
		assert_eq!(wobbling.kept, Some(true));
		let falling = accuracy(&steps, &[at(10), at(90), at(60), at(91)]);
		// 0.3 over sqrt(0.892 x 0.108 / 100).
		assert!((falling.value.unwrap() - 9.67).abs() < 0.01, "{:?}", falling.value);
		assert_eq!(falling.kept, Some(false));
		assert_eq!(accuracy(&[0.0], &[at(10)]).kept, None);
	}

	#[test]
	fn weights_off_their_distribution_are_seen() {
		let layer = || vec![Layer { name: "w".into(), outputs: 64, inputs: 64 }];
		let flat = |x: fn(usize) -> f32| -> TensorMap {
			let data = (0..64 * 64).map(x).collect();
			[("w".to_owned(), trainyard_engine::Tensor32 { shape: vec![64, 64], data })].into()
		};
		// All equal: as far from the mixture as its mean absolute value, and no variance.
		let equal = initial_distribution(&flat(|_| 0.0), &layer());
		assert_eq!(equal.kept, Some(false), "{equal:?}");
		assert_eq!(independence(&flat(|_| 0.0), &layer()).kept, None);
		// Rows that are multiples of each other.
		let dependent = independence(&flat(|i| ((i / 64) * (i % 64 + 1)) as f32), &layer());
		assert_eq!(dependent.kept, Some(false), "{dependent:?}");
	}

	#[test]
	fn nearness_counts_in_deviations() {
		let near = nearness(Some(1.0), &[40.0, 41.0, 42.0]);
		assert_eq!((near.value, near.kept), (Some(40.0), Some(true)));
		assert_eq!(nearness(Some(39.0), &[40.0, 41.0, 42.0]).kept, Some(false));
		assert_eq!(nearness(None, &[4.0, 5.0]).kept, None);
		let steps = [0.0, 1.0, 2.0];
		assert_eq!(approach(&steps, &[2.0, 1.0, 0.0]).value, Some(1.0));
		assert_eq!(approach(&steps, &[0.5, 1.0, 0.0]).kept, Some(false));
	}
}
