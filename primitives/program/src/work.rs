//! How much work a job is: the sum over its operator lists, exact.
//!
//! A job is its steps, and one evaluation over the validation rows at every checkpoint,
//! checkpoint 0 included. The lists do not depend on the number of the step, so counting
//! costs the same for one step as for a hundred million. A job that stopped early is the
//! steps and evaluations up to there.

use crate::{
	lower,
	ops::{Phase, Program},
	reachable::LOOK_FLOP,
	spec::{CheckedSpec, JobSpec, SpecError},
	units, MicroUt,
};
use alloc::{format, string::String, vec::Vec};
use codec::{Decode, Encode, MaxEncodedLen};
use scale_info::TypeInfo;

/// Steps that a defendant computes at most in a dispute, beside whole segments: each of the later
/// rounds is about one step.
pub const DEFENCE_STEPS: u128 = 16;

/// The work of the parts of a job, in FLOP. All sums follow from it without making the operator
/// lists again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Parts {
	/// One training step.
	pub step: u128,
	/// One evaluation over the validation rows.
	pub evaluation: u128,
}

impl Parts {
	/// Returns the parts of a job. The operator lists are made here, each once: make the parts
	/// once, and pass them on.
	pub fn of(spec: &CheckedSpec) -> Self {
		Self::of_lists(&lower::training_step(spec), &lower::evaluation(spec))
	}

	/// Returns the parts of a job whose lists these are: of a step, and of an evaluation over all
	/// validation rows.
	pub(crate) fn of_lists(step: &Program, evaluation: &Program) -> Self {
		Self { step: step.flop(), evaluation: evaluation.flop() }
	}

	/// Returns the work of the first `segments` segments of this job, whose parts these are: their
	/// steps, and an evaluation at every checkpoint, checkpoint 0 included. Beyond the job's end
	/// there is no more work. Fails with [`SpecError::WorkOverflow`] where the sum leaves `u128`.
	pub fn flop_of(&self, spec: &JobSpec, segments: u32) -> Result<u128, SpecError> {
		let segments = segments.min(spec.segments());
		let steps = spec.checkpoint_step(segments).unwrap_or(spec.training.steps);
		let steps = u128::from(steps).checked_mul(self.step);
		let checkpoints = u128::from(segments).saturating_add(1);
		let evaluations = checkpoints.checked_mul(self.evaluation);
		steps.zip(evaluations).and_then(|(s, e)| s.checked_add(e)).ok_or(SpecError::WorkOverflow)
	}

	/// Returns [`Self::flop_of`] in micro-ut, rounded up: what a result of that many segments is
	/// paid for. Fails with [`SpecError::WorkOverflow`] where it does not fit.
	pub fn micro_ut_of(&self, spec: &JobSpec, segments: u32) -> Result<MicroUt, SpecError> {
		units::micro_ut(self.flop_of(spec, segments)?).ok_or(SpecError::WorkOverflow)
	}

	/// Returns the work of the steps of the first `segments` segments of this job in micro-ut,
	/// rounded up: what is credited as power. Evaluations are paid and earn none, as equal
	/// validation rows would be computed once. Fails as [`Self::micro_ut_of`] does.
	pub fn training_micro_ut_of(
		&self,
		spec: &JobSpec,
		segments: u32,
	) -> Result<MicroUt, SpecError> {
		Parts { evaluation: 0, ..*self }.micro_ut_of(spec, segments)
	}

	/// Returns the work of one segment: its steps, and the evaluation at its end. The segments of a
	/// job and the evaluation of checkpoint 0 make up [`flop`]. 0 for a segment that does not
	/// exist.
	pub fn segment_flop(&self, spec: &JobSpec, segment: u32) -> Result<u128, SpecError> {
		let end = segment.checked_add(1).and_then(|next| spec.checkpoint_step(next));
		let Some((begin, end)) = spec.checkpoint_step(segment).zip(end) else { return Ok(0) };
		u128::from(end.saturating_sub(begin))
			.checked_mul(self.step)
			.and_then(|steps| steps.checked_add(self.evaluation))
			.ok_or(SpecError::WorkOverflow)
	}

	/// Returns the work of the longest segment of this job, with the evaluation at its end. Fails with
	/// [`SpecError::WorkOverflow`] where it leaves `u128`.
	pub fn longest_flop(&self, spec: &JobSpec) -> Result<u128, SpecError> {
		u128::from(longest_segment(spec))
			.checked_mul(self.step)
			.and_then(|steps| steps.checked_add(self.evaluation))
			.ok_or(SpecError::WorkOverflow)
	}

	/// Returns the work of the steps of the longest segment of this job, without an evaluation; saturating.
	pub fn longest_steps_flop(&self, spec: &JobSpec) -> u128 {
		u128::from(longest_segment(spec)).saturating_mul(self.step)
	}

	/// Returns what a defendant computes at most to answer a dispute about a segment of this job:
	/// twice the longest one, and [`DEFENCE_STEPS`] steps. Fails as [`Self::longest_flop`] does.
	pub fn defence_flop(&self, spec: &JobSpec) -> Result<u128, SpecError> {
		let steps = self.step.checked_mul(DEFENCE_STEPS);
		self.longest_flop(spec)?
			.checked_mul(2)
			.zip(steps)
			.and_then(|(segments, steps)| segments.checked_add(steps))
			.ok_or(SpecError::WorkOverflow)
	}

	/// Returns what a defendant computes at most to answer a dispute about an evaluation, that of the
	/// initial state for one: four evaluations. Fails with [`SpecError::WorkOverflow`].
	pub fn evaluation_defence_flop(&self) -> Result<u128, SpecError> {
		self.evaluation.checked_mul(4).ok_or(SpecError::WorkOverflow)
	}

	/// Returns the [`audit_micro_ut`] of this job, whose parts these are.
	pub fn audit_micro_ut(&self, spec: &CheckedSpec, segments: u32) -> Result<MicroUt, SpecError> {
		let replayed = self.replay_flop(spec, segments.saturating_add(1));
		let steps = u128::from(longest_segment(spec)).checked_mul(u128::from(spec.parameters()));
		steps
			.and_then(|steps| steps.checked_mul(u128::from(looks(spec, segments))))
			.and_then(|steps| steps.checked_mul(LOOK_FLOP))
			.zip(replayed)
			.and_then(|(looks, replayed)| looks.checked_add(replayed))
			.and_then(units::micro_ut)
			.ok_or(SpecError::WorkOverflow)
	}

	/// Returns the work of that many of the longest segments with the evaluations at their ends, and of
	/// the evaluations of the first state and of the last.
	fn replay_flop(&self, spec: &JobSpec, segments: u32) -> Option<u128> {
		self.longest_flop(spec)
			.ok()
			.and_then(|segment| segment.checked_mul(u128::from(segments)))
			.and_then(|replay| replay.checked_add(self.evaluation.checked_mul(2)?))
	}
}

/// Returns the steps of the longest segment: none is longer than the first, and the last may be
/// shorter.
fn longest_segment(spec: &JobSpec) -> u32 {
	spec.checkpoint_step(1).unwrap_or(spec.training.steps)
}

/// Returns at how many segments an audit looks to see whether they stand still: at the drawn ones,
/// and at those of a search by halves.
fn looks(spec: &JobSpec, segments: u32) -> u32 {
	let halves = u32::BITS.saturating_sub(spec.segments().leading_zeros());
	segments.saturating_add(halves)
}

/// Returns the work of the whole job. Fails with [`SpecError::WorkOverflow`] where the sum leaves
/// `u128`.
pub fn flop(spec: &CheckedSpec) -> Result<u128, SpecError> {
	Parts::of(spec).flop_of(spec, spec.segments())
}

/// Returns the work of the whole job in micro-ut, rounded up: this is what is priced. A job that
/// may stop early is at most this much work. Fails with [`SpecError::WorkOverflow`] where it does
/// not fit.
pub fn micro_ut(spec: &CheckedSpec) -> Result<MicroUt, SpecError> {
	Parts::of(spec).micro_ut_of(spec, spec.segments())
}

/// Returns the most work that a verifier can have that replays `audit_segments` segments in one round, in
/// micro-ut, rounded up: these, each as long as the longest, the evaluations of the first state and of the
/// last, and one segment more where the training stands still; and of looks at the replayed segments and at those of a search for where a standstill began,
/// [`LOOK_FLOP`] for each step and parameter.
/// Fails as [`micro_ut`] does.
pub fn audit_micro_ut(spec: &CheckedSpec, audit_segments: u32) -> Result<MicroUt, SpecError> {
	Parts::of(spec).audit_micro_ut(spec, audit_segments)
}

/// Work of one layer over the whole job, see [`flop_by_layer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerWork {
	/// `layers.0` and so on; `loss and shared` for what belongs to no layer, as a mapping.
	pub name: String,
	/// Parameters of the layer; for the last entry, the vectors of a mapping.
	pub parameters: u64,
	/// Forward passes of the steps; for the last entry, the mapping, the loss and its gradient.
	pub forward: u128,
	/// Backward passes of the steps.
	pub backward: u128,
	/// Updates of the steps.
	pub update: u128,
	/// Evaluations at the checkpoints.
	pub evaluation: u128,
}

impl LayerWork {
	/// Returns the sum of all parts.
	pub fn total(&self) -> u128 {
		self.forward
			.saturating_add(self.backward)
			.saturating_add(self.update)
			.saturating_add(self.evaluation)
	}
}

/// Returns the work of the job by layer, from the input on; the last entry is what belongs to no
/// layer. The totals add up to [`flop`].
pub fn flop_by_layer(spec: &CheckedSpec) -> Result<Vec<LayerWork>, SpecError> {
	let (step, evaluation) = (lower::training_step(spec), lower::evaluation(spec));
	// The sums below saturate where this one fails.
	Parts::of_lists(&step, &evaluation).flop_of(spec, spec.segments())?;
	let steps = u128::from(spec.training.steps);
	let checkpoints = u128::from(spec.segments()).saturating_add(1);
	let state = lower::state(spec);
	let layers = step.ops.iter().filter_map(|op| op.layer).max();
	let layers = layers.map_or(0, |last| last.saturating_add(1));
	let work_of = |layer: Option<u32>| {
		let sum = |program: &Program, times: u128, phases: &[Phase]| {
			program
				.ops
				.iter()
				.filter(|op| op.layer == layer && phases.contains(&op.phase))
				.fold(0u128, |sum, op| sum.saturating_add(op.kind.flop()))
				.saturating_mul(times)
		};
		let prefix = layer.map_or(lower::MAPPING_PREFIX.into(), lower::layer_prefix);
		let tensors = state.iter().filter(|t| t.name.starts_with(&prefix));
		let parameters = tensors.fold(0u64, |sum, t| {
			let product = |n: u64, d: &u32| n.saturating_mul(u64::from(*d));
			sum.saturating_add(t.shape.iter().fold(1, product))
		});
		LayerWork {
			name: layer.map_or("loss and shared".into(), |layer| format!("layers.{layer}")),
			parameters,
			forward: sum(&step, steps, &[Phase::Forward, Phase::Loss]),
			backward: sum(&step, steps, &[Phase::Backward]),
			update: sum(&step, steps, &[Phase::Update]),
			evaluation: sum(
				&evaluation,
				checkpoints,
				&[Phase::Forward, Phase::Loss, Phase::Backward, Phase::Update],
			),
		}
	};
	Ok((0..layers).map(Some).chain([None]).map(work_of).collect())
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::spec::{Model, Optimizer, MAX_BATCH, MAX_STEPS, MAX_WIDTH};
	use bounded_collections::BoundedVec;

	/// The example counted by hand, from the table of operators in
	/// docs/strict-arithmetic.md.
	#[test]
	fn the_example_counted_by_hand() {
		let rows = 32u128;
		let forward = rows * (64 * (2 * 64) + 64)       // layer 0: dots of 64, bias
			+ rows * 64                                 // its activation
			+ rows * (32 * (2 * 64) + 32) + rows * 32   // layer 1
			+ rows * (10 * (2 * 32) + 10); // layer 2

		// Per row: 10 values (each exp 23, max 1, two subtractions), their sum 10 + 15,
		// log 26, the end of the maximum; the row's loss.
		let loss = |rows: u128| rows * (10 * 26 + 25 + 26 + 1) + rows;
		let mean32 = 32 + 15 + 1;
		let gradient = rows * 10 * 25;
		let sum32 = 32 + 15;
		let backward = 10 * 32 * (2 * 32) + 10 * sum32 + rows * 32 * (2 * 10) // layer 2
			+ rows * 32 + 32 * 64 * (2 * 32) + 32 * sum32 + rows * 64 * (2 * 32) // layer 1
			+ rows * 64 + 64 * 64 * (2 * 32) + 64 * sum32; // layer 0
		let parameters = 64 * 65 + 65 * 32 + 33 * 10;
		let update = parameters * (3 + 4 + 7) + 2;
		let step = forward + loss(32) + mean32 + gradient + backward + update;
		let spec = JobSpec::example().check().unwrap();
		let parts = Parts::of(&spec);
		assert_eq!(parts.step, step);

		let evaluation = forward / rows * 359 + loss(359) + (359 + 15 + 1) + 359 * 10;
		assert_eq!(parts.evaluation, evaluation);
		assert_eq!(flop(&spec), Ok(1_500 * step + 31 * evaluation));
		assert_eq!(micro_ut(&spec), Ok((1_500 * step + 31 * evaluation).div_ceil(432_000) as u64));
	}

	#[test]
	fn segments_and_layers_add_up() {
		let mut spec = JobSpec::example();
		spec.training.checkpoint_interval = 70;
		spec.training.weight_decay_nano = 1_000_000;
		for optimizer in
			[spec.training.optimizer, Optimizer::Sgd { momentum_nano: 0, nesterov: false }]
		{
			spec.training.optimizer = optimizer;
			let spec = spec.clone().check().unwrap();
			let (all, parts) = (flop(&spec).unwrap(), Parts::of(&spec));
			let segment_flop = |segment| parts.segment_flop(&spec, segment).unwrap();
			let segments: u128 = (0..spec.segments()).map(segment_flop).sum();
			assert_eq!(segments + parts.evaluation, all);
			assert_eq!(segment_flop(spec.segments()), 0);
			assert_eq!(segment_flop(u32::MAX), 0);
			let layers = flop_by_layer(&spec).unwrap();
			assert_eq!(layers.iter().map(LayerWork::total).sum::<u128>(), all);
			let parameters: u64 = layers.iter().map(|l| l.parameters).sum();
			assert_eq!(parameters, spec.parameters());
		}
	}

	/// A job that stopped early costs what its segments cost.
	#[test]
	fn a_job_that_stopped_early_is_its_first_segments() {
		let mut spec = JobSpec::example();
		// The last one is shorter.
		spec.training.checkpoint_interval = 70;
		let spec = spec.check().unwrap();
		let parts = Parts::of(&spec);
		let mut sum = parts.evaluation;
		assert_eq!(parts.flop_of(&spec, 0), Ok(sum));
		let mut before = parts.micro_ut_of(&spec, 0).unwrap();
		for segment in 0..spec.segments() {
			sum += parts.segment_flop(&spec, segment).unwrap();
			assert_eq!(parts.flop_of(&spec, segment + 1), Ok(sum));
			let work = parts.micro_ut_of(&spec, segment + 1).unwrap();
			assert_eq!(u128::from(work), sum.div_ceil(432_000));
			assert!(work > before);
			before = work;
		}
		assert_eq!((Ok(sum), Ok(before)), (flop(&spec), micro_ut(&spec)));
		assert_eq!(parts.flop_of(&spec, u32::MAX), Ok(sum), "there is no more work");
		let huge = Parts { step: u128::MAX, evaluation: 1 };
		assert_eq!(huge.flop_of(&spec, 1), Err(SpecError::WorkOverflow));
		assert_eq!(huge.micro_ut_of(&spec, 1), Err(SpecError::WorkOverflow));
		assert_eq!(huge.audit_micro_ut(&spec, 1), Err(SpecError::WorkOverflow));
		assert_eq!(huge.segment_flop(&spec, 0), Err(SpecError::WorkOverflow));
		assert_eq!(huge.defence_flop(&spec), Err(SpecError::WorkOverflow));
	}

	#[test]
	fn an_audit_costs_its_longest_segments() {
		let mut spec = JobSpec::example();
		spec.training.checkpoint_interval = 400;
		let spec = spec.check().unwrap();
		let parts = Parts::of(&spec);
		let segments = 0..spec.segments();
		let longest = segments.map(|s| parts.segment_flop(&spec, s).unwrap()).max().unwrap();
		// Four segments are two halvings and the one that is left; looks are at these and the drawn.
		assert_eq!(spec.segments(), 4);
		let looks = (3 + 3) * 400 * u128::from(spec.parameters()) * 4;
		let work = audit_micro_ut(&spec, 3).unwrap();
		assert_eq!(
			u128::from(work),
			(4 * longest + 2 * parts.evaluation + looks).div_ceil(432_000)
		);
		assert_eq!(parts.longest_flop(&spec), Ok(longest));
		assert_eq!(parts.defence_flop(&spec), Ok(2 * longest + 16 * parts.step));
		assert_eq!(parts.evaluation_defence_flop(), Ok(4 * parts.evaluation));
		let drawn = u128::from(replayed(&parts, &spec, 3));
		assert_eq!(drawn, (3 * longest + 2 * parts.evaluation).div_ceil(432_000));
		// Of an ordinary job they are little.
		assert!(20 * looks < 4 * longest, "{looks} beside {longest}");
	}

	fn replayed(parts: &Parts, spec: &JobSpec, segments: u32) -> MicroUt {
		units::micro_ut(parts.replay_flop(spec, segments).unwrap()).unwrap()
	}

	/// A job of single rows has next to no work beside its updates, so that looks at its segments
	/// took longer than all replays, and nobody had counted them.
	#[test]
	fn looks_at_many_short_steps_are_counted() {
		let mut spec = JobSpec::example();
		spec.dataset.features = 1_024;
		spec.dataset.classes = 2;
		let hidden = BoundedVec::truncate_from(vec![1_024]);
		spec.model = Model::Mlp { hidden, activation: crate::spec::Activation::Relu };
		spec.training.batch_size = 1;
		(spec.training.steps, spec.training.checkpoint_interval) = (38_000 * 30, 38_000);
		let spec = spec.check().unwrap();
		let parts = Parts::of(&spec);
		let drawn = replayed(&parts, &spec, 1);
		assert!((1_500_000..2_000_000).contains(&drawn), "{drawn}");
		let replays = replayed(&parts, &spec, 2);
		let looks = u128::from(parts.audit_micro_ut(&spec, 1).unwrap() - replays) * 432_000;
		let nanoseconds = looks / 2;
		let element_steps = 6 * 38_000 * u128::from(spec.parameters());
		assert!(nanoseconds > element_steps * 19 / 10, "{nanoseconds} for {element_steps}");
	}

	/// A specification near the largest valid value in every field: counting it neither overflows
	/// nor saturates, and it fits the unit, so that the limits of the specification are what bounds
	/// a job and [`SpecError::WorkOverflow`] only guards them.
	#[test]
	fn the_largest_jobs_fit() {
		let mut spec = JobSpec::example();
		spec.dataset.train_rows = u32::MAX / 2 + 1;
		spec.dataset.validation_rows = u32::MAX / 2;
		spec.dataset.validation_every = 2;
		spec.dataset.features = 2_048;
		spec.dataset.classes = MAX_WIDTH;
		spec.model = Model::Mlp {
			hidden: BoundedVec::truncate_from(vec![2_048; 14]),
			activation: crate::spec::Activation::Relu,
		};
		spec.training.batch_size = MAX_BATCH;
		spec.training.steps = MAX_STEPS;
		spec.training.checkpoint_interval = MAX_STEPS / 60_000;
		let spec = spec.check().unwrap();
		let parameters = u128::from(spec.parameters());
		let rows = u128::from(MAX_BATCH) * u128::from(MAX_STEPS);
		// Forward and backward take about 6 FLOP for each parameter and row.
		assert!(flop(&spec).unwrap() > 5 * parameters * rows);
		assert!(micro_ut(&spec).is_ok());
	}
}
