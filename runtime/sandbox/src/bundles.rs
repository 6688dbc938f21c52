//! What trainers deliver: the checkpoints of a training, with the traces that its bundle seals.
//!
//! Most of what is tried on the chain needs no training: the states of a [made-up](Bundle::made_up) bundle
//! all hash to one byte, again and again. Its leaves and paths are real, and by themselves nothing shows
//! that they are made up. Where the court has to compute, a bundle is of a [`Run`].

use codec::Encode;
use trainyard_court::{
	game::{player::Record, Moment},
	referee::{Computation, Lowered},
	testing::run::{other, Change, Job, Run},
};
use trainyard_program::spec::CheckedSpec;
use trainyard_protocol::{
	accusation::{Claimed, End, Leaf, LeafContent, Leaves, Peaks, Target},
	audit::{Ended, SegmentEvidence},
	bundle::{bundle_leaves, Checkpoint, Diverged, Evaluation},
	forced::{self, Secret},
	job::WorkResult,
	merkle,
	pieces::{self, Answer, Answers, LeavesPart, Piece},
	trace, JobId, H256,
};
use trainyard_runtime::{AccountId, RuntimeCall};

/// The secret from which `who` draws the leaves that it forces to be false.
pub fn secret(who: &AccountId) -> Secret {
	("sandbox", who).using_encoded(sp_io::hashing::blake2_256)
}

/// The call by which `who` applies for the job of this digest, bound to its [secret].
pub fn applies(who: &AccountId, job: JobId, digest: H256) -> RuntimeCall {
	let forced = forced::commitment(&secret(who));
	pallet_task_market::Call::apply { job, digest, forced }.into()
}

/// What a trainer delivers, but for the files.
pub struct Bundle {
	checkpoints: Vec<Checkpoint>,
	diverged: Option<Diverged>,
	/// Roots of the traces of all segments, not sealed.
	traces: Vec<H256>,
	leaves: Vec<H256>,
	/// The checkpoints as they are shown: some are forced to be false.
	shown: Vec<Checkpoint>,
	/// What opens those, once some are.
	opening: Option<(Secret, forced::Opening)>,
	/// The training, where there was one.
	pub run: Option<Run>,
}

impl Bundle {
	fn of(checkpoints: Vec<Checkpoint>, diverged: Option<Diverged>, traces: Vec<H256>) -> Self {
		let leaves = bundle_leaves(checkpoints.iter().copied(), diverged);
		let shown = checkpoints.clone();
		Self { checkpoints, diverged, traces, leaves, shown, opening: None, run: None }
	}

	/// The same, as `who` shows it: with leaves forced to be false that the assignment seed and its
	/// [secret] draw.
	pub fn forced(mut self, seed: &H256, who: &AccountId) -> Self {
		let secret = secret(who);
		let computed = bundle_leaves(self.checkpoints.iter().copied(), self.diverged);
		let opening = forced::Opening::of(seed, &secret, &self.checkpoints, &computed);
		self.opening = opening.map(|opening| (secret, opening));
		self.shown = forced::mark(seed, &secret, &self.checkpoints);
		self.leaves = bundle_leaves(self.shown.iter().copied(), self.diverged);
		if let Some(run) = &mut self.run {
			run.shown = Some(self.shown.clone());
		}
		self
	}

	/// The call by which its trainer opens the leaves that it [forced](Self::forced).
	pub fn opens(&self, job: JobId) -> Option<RuntimeCall> {
		let (secret, opening) = self.opening.clone()?;
		Some(pallet_verification::Call::open_forced { job, secret, opening }.into())
	}

	/// A result with that many segments, whose states are all of this byte but the first: that one
	/// everybody knows. Says that training diverged in the segment after these, if it `diverged`.
	pub fn made_up(spec: &CheckedSpec, byte: u8, segments: u32, diverged: bool) -> Self {
		let trace_root = H256::repeat_byte(byte);
		let labels = spec.dataset.validation_rows.saturating_mul(spec.labels_per_row());
		let trace = trace::seal(&trace_root);
		let checkpoint = |index: u32| Checkpoint {
			step: spec.checkpoint_step(index).unwrap_or(u32::MAX),
			state: H256::repeat_byte(if index == 0 { 0 } else { byte }),
			evaluation: Evaluation::new(1.0, index.min(labels), labels),
			trace: if index == 0 { H256::zero() } else { trace },
		};
		let step = spec.checkpoint_step(segments).unwrap_or(u32::MAX);
		let traces = vec![trace_root; segments as usize + usize::from(diverged)];
		let diverged = diverged.then_some(Diverged { step, trace });
		Self::of((0..=segments).map(checkpoint).collect(), diverged, traces)
	}

	/// What a training delivers.
	pub fn trained(run: Run) -> Self {
		let checkpoints = run.checkpoints.clone();
		let steps: Vec<u32> = checkpoints.iter().map(|checkpoint| checkpoint.step).collect();
		let mut traces = Vec::new();
		for (segment, to) in (0..).zip(&steps[1..]) {
			let mut leaves = run.steps(segment, *to).expect("it was trained");
			let index = segment + 1;
			let slices = run.slices(index, |slices| trace::slices_root(slices.contents()));
			let (evaluation, slices) =
				(checkpoints[index as usize].evaluation, slices.expect("it was evaluated"));
			leaves.push(trace::evaluation_leaf(*to, &evaluation, &slices)).expect("it is small");
			traces.push(leaves.root());
		}
		if let Some(Diverged { step, .. }) = run.diverged {
			let last = steps.len() as u32 - 1;
			traces.push(run.steps(last, step).expect("it was trained").root());
		}
		let diverged = run.diverged;
		Self { run: Some(run), ..Self::of(checkpoints, diverged, traces) }
	}

	/// Its root.
	pub fn root(&self) -> H256 {
		merkle::root(&self.leaves)
	}

	/// The root over what was computed.
	pub fn true_root(&self) -> H256 {
		merkle::root(&bundle_leaves(self.checkpoints.iter().copied(), self.diverged))
	}

	/// What a trainer delivers with a model file of this root.
	pub fn result(&self, model_root: H256) -> WorkResult {
		WorkResult {
			bundle_root: self.root(),
			true_root: self.true_root(),
			model_root,
			segments: self.checkpoints.len() as u32 - 1,
			diverged: self.diverged.is_some(),
		}
	}

	/// What a leaf says, as it was computed.
	pub fn leaf(&self, index: u32) -> Option<LeafContent> {
		let last = index as usize == self.checkpoints.len();
		let diverged = self.diverged.filter(|_| last).map(LeafContent::Diverged);
		let checkpoint = self.checkpoints.get(index as usize).copied();
		checkpoint.map(LeafContent::Checkpoint).or(diverged)
	}

	/// What a leaf says, as it is shown.
	fn shown_leaf(&self, index: u32) -> Option<LeafContent> {
		match self.shown.get(index as usize) {
			Some(shown) => Some(LeafContent::Checkpoint(*shown)),
			None => self.leaf(index),
		}
	}

	/// What a segment comes to; none where the training does not go on.
	pub fn end(&self, segment: u32) -> Option<End> {
		self.leaf(segment + 1).map(|leaf| leaf.end())
	}

	/// The path from a leaf to the root.
	pub fn path(&self, index: u32) -> Option<Peaks> {
		merkle::proof(&self.leaves, index as usize)?.try_into().ok()
	}

	/// Evidence of a segment, which agrees with this bundle.
	pub fn evidence(&self, segment: u32) -> Option<SegmentEvidence> {
		let ended = match self.leaf(segment + 1)? {
			LeafContent::Checkpoint(Checkpoint { step, state, evaluation, .. }) => {
				Ended::Checkpoint { step, state, evaluation }
			}
			LeafContent::Diverged(Diverged { step, .. }) => Ended::Diverged { step },
		};
		let trace_root = *self.traces.get(segment as usize)?;
		let shown = self.shown.get(segment as usize + 1).map(|shown| shown.trace);
		let differs = shown.filter(|shown| *shown != trace::seal(&trace_root));
		Some(SegmentEvidence { segment, trace_root, ended, differs, idle_since: None })
	}

	/// The leaves that an accusation of this result shows.
	pub fn shown(&self, target: &Target) -> Leaves {
		let last = self.checkpoints.len() as u32 - 1;
		let indices = match *target {
			Target::Start => vec![0],
			Target::Segment(segment) => vec![segment, segment + 1],
			Target::Evidence(segment) => vec![segment],
			Target::Model => vec![last],
			Target::Rescue { state, .. } => vec![state],
			Target::Stop => vec![],
		};
		let leaf = |index| Some(Leaf { content: self.shown_leaf(index)?, path: self.path(index)? });
		let leaves: Vec<Leaf> = indices.into_iter().filter_map(leaf).collect();
		leaves.try_into().expect("there are two at most")
	}

	/// What this bundle says in the place of another one that is accused of `target`.
	pub fn claims(&self, target: &Target) -> Claimed {
		match *target {
			Target::Start => self.leaf(0).map_or(Claimed::Other, |leaf| Claimed::End(leaf.end())),
			Target::Segment(segment) | Target::Evidence(segment) => {
				self.end(segment).map_or(Claimed::Other, Claimed::End)
			}
			Target::Stop | Target::Model | Target::Rescue { .. } => Claimed::Other,
		}
	}

	/// What a trainer answers with leaves and states among `pieces`, of which `blob` returns the roots of
	/// the files; those that this bundle has not are left out. There are no rows and no tensors here.
	pub fn answers(&self, pieces: &[Piece], blob: impl Fn(u32) -> H256) -> Answers {
		let all: Vec<LeafContent> = (0..).map_while(|index| self.shown_leaf(index)).collect();
		let answer = |piece: &Piece| match *piece {
			Piece::Leaves => LeavesPart::of(&all, 0).map(Answer::Leaves),
			Piece::State(index) => {
				let checkpoint = *self.shown.get(index as usize)?;
				let leaf = pieces::Leaf { index, checkpoint, path: self.path(index)? };
				Some(Answer::State { leaf, blob: blob(index) })
			}
			Piece::Rows { .. } | Piece::Tensor { .. } | Piece::Samples => None,
		};
		let answers: Vec<Answer> = pieces.iter().filter_map(answer).collect();
		answers.try_into().expect("there are few")
	}

	/// Returns whether a replay of `segment` comes to something else, where `truth` is what an honest
	/// training delivers. What was trained goes on from its own states, so its replays are true where
	/// these are no longer the honest ones; what was made up replays nowhere.
	pub fn is_false(&self, segment: u32, truth: &Bundle) -> bool {
		let state = |of: &Bundle| match of.leaf(segment) {
			Some(LeafContent::Checkpoint(checkpoint)) => Some(checkpoint.state),
			_ => None,
		};
		let same_begin = self.run.is_none() || state(self) == state(truth);
		same_begin && self.end(segment) != truth.end(segment)
	}

	/// The segments in which this result parts from another.
	pub fn parts_from(&self, other: &Bundle) -> Option<u32> {
		let all = self.traces.len() as u32;
		let mut parts = (0..all).filter(|segment| self.end(*segment) != other.end(*segment));
		parts.next().filter(|_| self.true_root() != other.true_root())
	}
}

/// A training that changes one element of a step and goes on consistently from there.
pub fn bent(job: &Job, honest: &Run, segment: u32, step: u32) -> Run {
	let at = Moment::Step { segment, step };
	let case = &job.world.case;
	let lowered = Lowered::new(case, Computation::Step { step }).expect("the job has the step");
	let mut runs = (0..lowered.results()).map(|result| {
		let bits = other(honest.computed_at(&at).bits(result, 0));
		Run::new(job, Change::Element { at, result, element: 0, bits })
	});
	// Not every element has an effect.
	let differs = |run: &Run| run.leaf(segment + 1) != honest.leaf(segment + 1);
	runs.find(differs).expect("some element has an effect")
}
