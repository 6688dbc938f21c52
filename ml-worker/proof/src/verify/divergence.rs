//! Finds where results part. All results of a job have one specification and one seed, so at most
//! one of them is true.
//!
//! Results that pass their own audits are compared with each other. They all begin with the same
//! state, so if they differ, there is a first segment at whose end they do, in the state or in its
//! evaluation (traces of leaves that are [forced](trainyard_protocol::forced) differ anyhow). It is replayed once, from the state in which they still agree, and every result that
//! committed to a different end is false. This goes on among those that are left. The first
//! parting, the state before it, and so the evidence depend only on the results: all verifiers find
//! the same.
//!
//! Two results of different length part before the shorter ends: where training stops follows
//! from the committed losses, so with equal ones both would stop at the same checkpoint. One that
//! diverged parts from one that goes on in the segment in which it did.
//!
//! A false result of which no false segment is drawn is found in this way if there is an honest
//! result beside it.

use super::{
	charge::Charge,
	is_trainers_fault,
	replay::{self, claimed_end, Equal},
	states::{check_state, jump},
	VerifyError,
};
use crate::{
	bundle::{self, manifest::checkpoint_file, Bundle, BundleError},
	inputs::Inputs,
};
use primitive_types::H256;
use std::{
	path::{Path, PathBuf},
	sync::atomic::AtomicBool,
};
use trainyard_engine::{Engine, TensorMap};
use trainyard_program::spec::CheckedSpec;
use trainyard_protocol::{accusation::LeafContent, audit::SegmentEvidence, bundle::Checkpoint};

/// Results of one job that passed their own audits, of which at most one is true.
pub struct Contest {
	spec: CheckedSpec,
	seed: H256,
	/// What the job reads, for whoever judges.
	inputs: Option<Inputs>,
	/// The results that are left, by their place in the audit; those found to be false are taken
	/// out.
	rivals: Vec<(usize, Bundle)>,
}

/// The outcome of the replay of a parting.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
	/// What the replay of the segment computed at whose end results differ; or of an earlier one, which
	/// all of them have false.
	pub evidence: SegmentEvidence,
	/// The false results, by place in the audit, and what is false in them; at least one.
	pub charged: Vec<(usize, Charge)>,
}

/// What [`Contest::judge`] comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Judged {
	/// Those that are left do not differ.
	Over,
	/// A checkpoint file is needed that no folder has.
	Lacks(String),
	/// These are false.
	Found(Judgement),
}

/// Returns whether results that say this of a segment are different ones. Traces of checkpoints do not
/// count: where leaves are forced they differ in those.
fn parts(one: Option<LeafContent>, other: Option<LeafContent>) -> bool {
	match (one, other) {
		(Some(LeafContent::Checkpoint(one)), Some(LeafContent::Checkpoint(other))) => {
			Checkpoint { trace: other.trace, ..one } != other
		}
		(one, other) => one != other,
	}
}

/// Returns whether a result says of a segment what its replay comes to, but for the trace of a checkpoint.
fn is_but_for_its_trace(bundle: &Bundle, evidence: &SegmentEvidence) -> bool {
	let claimed = claimed_end(bundle.manifest(), evidence.segment);
	claimed.is_some_and(|claimed| {
		let is_checkpoint = matches!(claimed, LeafContent::Checkpoint(_));
		is_checkpoint && Equal::of(evidence, &claimed).is_but_for_its_trace()
	})
}

/// Says why a contest cannot go on.
enum Stuck {
	/// No folder has the file.
	Lacks(String),
	/// This machine failed.
	Failed(VerifyError),
}

impl Contest {
	/// Begins a contest of the bundles in these folders, each with its place in the audit. Each
	/// must have passed [`super::audit`] under this specification and seed.
	pub fn new(
		spec: &CheckedSpec,
		seed: H256,
		inputs: Inputs,
		folders: &[(usize, PathBuf)],
	) -> Result<Self, VerifyError> {
		Ok(Self { inputs: Some(inputs), ..Self::judged_elsewhere(spec, seed, folders)? })
	}

	/// Begins a contest whose results another process judges, with the data of the job: what it finds
	/// is noted by [`Self::take_out`].
	pub fn judged_elsewhere(
		spec: &CheckedSpec,
		seed: H256,
		folders: &[(usize, PathBuf)],
	) -> Result<Self, VerifyError> {
		let rivals = folders
			.iter()
			.map(|(index, folder)| Ok((*index, Bundle::open(folder)?)))
			.collect::<Result<_, VerifyError>>()?;
		Ok(Self { spec: spec.clone(), seed, inputs: None, rivals })
	}

	/// Takes these results out: they were found to be false.
	pub fn take_out(&mut self, charged: &[(usize, Charge)]) {
		self.rivals.retain(|(index, _)| charged.iter().all(|(other, _)| other != index));
	}

	/// Returns what the job reads.
	fn inputs(&self) -> Result<&Inputs, VerifyError> {
		let elsewhere = || VerifyError::CannotCheck("this contest is judged elsewhere".to_owned());
		self.inputs.as_ref().ok_or_else(elsewhere)
	}

	/// Returns those that are left: place in the audit, and folder.
	pub fn rivals(&self) -> impl Iterator<Item = (usize, &Path)> {
		self.rivals.iter().map(|(index, bundle)| (*index, bundle.folder()))
	}

	/// Returns the first segment at whose end those that are left differ; `None` if nothing is left
	/// to find out.
	pub fn parting(&self) -> Option<u32> {
		let ((_, first), others) = self.rivals.split_first()?;
		let lengths = self.rivals.iter().map(|(_, bundle)| {
			let manifest = bundle.manifest();
			manifest.segments().saturating_add(u32::from(manifest.diverged.is_some()))
		});
		(0..lengths.min()?).find(|segment| {
			let end = claimed_end(first.manifest(), *segment);
			others.iter().any(|(_, other)| parts(end, claimed_end(other.manifest(), *segment)))
		})
	}

	/// Returns the file that [`Self::judge`] reads, from whichever folder has it: the checkpoint
	/// before the parting, in which all that are left agree. `None` if it needs none, because the
	/// initial state is computed.
	pub fn wanted(&self) -> Option<String> {
		let segment = self.parting().filter(|segment| *segment > 0)?;
		self.spec.checkpoint_step(segment).map(checkpoint_file)
	}

	/// Replays the segment at whose end those that are left differ, and takes out the results that
	/// committed to a different end. Where no honest run has the state in which it begins, all of them
	/// are false in a segment before, which is found and replayed. Call it until there is nothing left
	/// to find out.
	pub fn judge(&mut self, stop: &AtomicBool) -> Result<Judged, VerifyError> {
		let Some(parting) = self.parting() else { return Ok(Judged::Over) };
		let (segment, begin) = match self.begin(parting) {
			Ok(found) => found,
			Err(Stuck::Lacks(file)) => return Ok(Judged::Lacks(file)),
			Err(Stuck::Failed(error)) => return Err(error),
		};
		let engine = Engine::new(&self.spec, self.seed, self.inputs()?.data.clone());
		let engine = engine.map_err(VerifyError::Engine)?;
		let evidence = replay::segment(&engine, &self.spec, segment, &begin, stop)?;
		let mut charged = Vec::new();
		self.rivals.retain(|(index, bundle)| {
			let charge = Charge::of_segment(bundle.manifest(), &evidence)
				.filter(|_| !is_but_for_its_trace(bundle, &evidence));
			let holds = charge.is_none();
			charged.extend(charge.map(|charge| (*index, charge)));
			holds
		});
		match charged.is_empty() {
			// It is an earlier one, and true: the bounds of states are wrong.
			true => Err(VerifyError::CannotCheck(format!(
				"checkpoint {parting} is out of the bounds of honest runs, and segment {segment} is \
				 true"
			))),
			false => Ok(Judged::Found(Judgement { evidence, charged })),
		}
	}

	/// Returns which segment is to be replayed, and the state in which it begins.
	fn begin(&self, parting: u32) -> Result<(u32, TensorMap), Stuck> {
		let begin = self.state(parting)?;
		match check_state(&self.spec, parting, &begin) {
			Ok(()) => Ok((parting, begin)),
			// All of them committed to it.
			Err(_) => {
				let initial = self.state(0)?;
				jump(&self.spec, (0, initial), parting, |index| self.state(index))
			}
		}
	}

	/// Returns the state before `segment`, from whichever folder has it.
	fn state(&self, segment: u32) -> Result<TensorMap, Stuck> {
		let step = self.spec.checkpoint_step(segment);
		let step = step.filter(|_| segment < self.spec.segments()).ok_or(Stuck::Failed(
			VerifyError::NoSuchSegment { segment, segments: self.spec.segments() },
		))?;
		if step == 0 {
			let model = self.inputs().map_err(Stuck::Failed)?.initial_model();
			let failed = |e| Stuck::Failed(VerifyError::Engine(e));
			let state = Engine::initial_state(&self.spec, &self.seed, model).map_err(failed)?;
			return state.to_host().map_err(failed);
		}
		let limit = bundle::max_checkpoint_bytes(&self.spec);
		for (_, bundle) in &self.rivals {
			match bundle.checkpoint_within(step, limit) {
				Ok(state) => return Ok(state),
				Err(BundleError::File(e)) if !is_trainers_fault(&e) => {
					return Err(Stuck::Failed(e.into()));
				}
				Err(_) => {}
			}
		}
		Err(Stuck::Lacks(checkpoint_file(step)))
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{
		inputs::InputPaths,
		testing::{job, stopping, table, train, with_loss, SEED},
		train::Cheat,
		verify::{audit, required_files_of, Verdict},
	};
	use trainyard_protocol::{accusation::Target, job::WorkResult};

	struct Jobs {
		folder: tempfile::TempDir,
		spec: CheckedSpec,
		inputs: Inputs,
	}

	impl Jobs {
		fn new() -> Self {
			let folder = tempfile::tempdir().unwrap();
			let path = table(folder.path());
			let spec = job(&path);
			let inputs = Inputs::load(&spec, &InputPaths::data(path)).unwrap();
			Self { folder, spec, inputs }
		}

		/// A bundle whose last segments are fabricated.
		fn trained(&self, name: &str, fabricated: u32) -> (PathBuf, WorkResult) {
			let out = self.folder.path().join(name);
			let cheat = (fabricated > 0).then_some(Cheat::Fabricate { segments: fabricated });
			let path = self.folder.path().join("table.csv");
			let bundle = train(&self.spec, &path, &out, false, cheat).unwrap();
			(out, bundle.result().unwrap())
		}

		fn passes(&self, bundle: &(PathBuf, WorkResult), drawn: &[u32]) -> bool {
			let never = AtomicBool::new(false);
			let (spec, inputs) = (&self.spec, self.inputs.clone());
			let verdict = audit(&bundle.0, spec, SEED, inputs, bundle.1, drawn, &never).unwrap().0;
			matches!(verdict, Verdict::Replayed(_))
		}

		fn contest(&self, folders: &[&Path]) -> Contest {
			let folders: Vec<_> =
				folders.iter().enumerate().map(|(i, path)| (i, path.to_path_buf())).collect();
			Contest::new(&self.spec, SEED, self.inputs.clone(), &folders).unwrap()
		}
	}

	fn judged(contest: &mut Contest) -> Vec<Judgement> {
		let never = AtomicBool::new(false);
		let next = || match contest.judge(&never).unwrap() {
			Judged::Found(found) => Some(found),
			Judged::Over | Judged::Lacks(_) => None,
		};
		std::iter::from_fn(next).collect()
	}

	/// The false results of a judgement, and what is false in them.
	fn targets(found: &Judgement) -> Vec<(usize, Target)> {
		found.charged.iter().map(|(index, charge)| (*index, charge.target)).collect()
	}

	#[test]
	fn a_fabricated_segment_that_was_not_drawn_is_found_beside_an_honest_result() {
		let jobs = Jobs::new();
		let (honest, cheat) = (jobs.trained("honest", 0), jobs.trained("cheat", 1));
		let drawn = [0, 2, 4];
		assert!(jobs.passes(&honest, &drawn) && jobs.passes(&cheat, &drawn), "by themselves");
		let mut contest = jobs.contest(&[&cheat.0, &honest.0]);
		assert_eq!(contest.parting(), Some(5));
		let found = judged(&mut contest);
		assert_eq!(found.len(), 1);
		assert_eq!(targets(&found[0]), [(0, Target::Segment(5))]);
		let end = claimed_end(Bundle::open(&honest.0).unwrap().manifest(), 5).unwrap();
		assert_eq!(found[0].evidence.leaf(), end);
		assert_eq!(contest.rivals().map(|(index, _)| index).collect::<Vec<_>>(), [1]);
		assert_eq!(contest.parting(), None);

		// A second verifier, whose copy of the cheat lacks the state before the parting.
		let step = jobs.spec.checkpoint_step(5).unwrap();
		std::fs::remove_file(cheat.0.join(checkpoint_file(step))).unwrap();
		assert_eq!(judged(&mut jobs.contest(&[&cheat.0, &honest.0])), found);
	}

	/// A forged evaluation is found like a fabricated segment, though its state is true.
	#[test]
	fn a_forged_evaluation_that_was_not_drawn_is_found_beside_an_honest_result() {
		let jobs = Jobs::new();
		let (honest, mut forged) = (jobs.trained("honest", 0), jobs.trained("forged", 0));
		let mut manifest = Bundle::open(&forged.0).unwrap().manifest().clone();
		manifest.checkpoints[2].validation.correct ^= 1;
		std::fs::write(forged.0.join("manifest.json"), manifest.to_bytes()).unwrap();
		forged.1.bundle_root = manifest.computed_root();
		assert!(jobs.passes(&honest, &[0, 2]) && jobs.passes(&forged, &[0, 2]));
		let mut contest = jobs.contest(&[&honest.0, &forged.0]);
		assert_eq!(contest.parting(), Some(1));
		let found = judged(&mut contest);
		assert_eq!((found.len(), targets(&found[0])), (1, vec![(1, Target::Segment(1))]));
		assert_eq!(contest.rivals().map(|(index, _)| index).collect::<Vec<_>>(), [0]);
	}

	/// A trace alone may be forced in one of them: until it is opened that parts nothing.
	#[test]
	fn traces_alone_do_not_part_results() {
		let jobs = Jobs::new();
		let (honest, other) = (jobs.trained("honest", 0), jobs.trained("other", 0));
		let mut manifest = Bundle::open(&other.0).unwrap().manifest().clone();
		manifest.checkpoints[4].trace.0[7] ^= 1;
		std::fs::write(other.0.join("manifest.json"), manifest.to_bytes()).unwrap();
		assert_eq!(jobs.contest(&[&honest.0, &other.0]).parting(), None);
		// Nor is it charged where they part for another reason.
		let mut forged = jobs.trained("forged", 0);
		let mut manifest = Bundle::open(&forged.0).unwrap().manifest().clone();
		manifest.checkpoints[4].validation.correct ^= 1;
		std::fs::write(forged.0.join("manifest.json"), manifest.to_bytes()).unwrap();
		forged.1.bundle_root = manifest.computed_root();
		let mut contest = jobs.contest(&[&honest.0, &other.0, &forged.0]);
		assert_eq!(contest.parting(), Some(3));
		let found = judged(&mut contest);
		assert_eq!((found.len(), targets(&found[0])), (1, vec![(2, Target::Segment(3))]));
		assert_eq!(contest.rivals().map(|(index, _)| index).collect::<Vec<_>>(), [0, 1]);
	}

	/// Results of different length differ before the shorter one ends.
	#[test]
	fn who_forged_a_loss_to_go_on_is_found_beside_one_that_stopped() {
		let mut jobs = Jobs::new();
		let mut forged = jobs.trained("forged", 0);
		jobs.spec = stopping(&jobs.folder.path().join("table.csv"));
		let honest = jobs.trained("honest", 0);
		let mut manifest = Bundle::open(&forged.0).unwrap().manifest().clone();
		manifest.spec = jobs.spec.clone();
		for (index, loss) in [(2, -2e3), (4, -4e3)] {
			let listed = &mut manifest.checkpoints[index].validation;
			*listed = with_loss(*listed, loss);
		}
		std::fs::write(forged.0.join("manifest.json"), manifest.to_bytes()).unwrap();
		forged.1.bundle_root = manifest.computed_root();
		assert_eq!((honest.1.segments, forged.1.segments), (3, 6));
		assert!(jobs.passes(&honest, &[0, 2]) && jobs.passes(&forged, &[0, 2, 4, 5]));
		for folders in [[&honest.0, &forged.0], [&forged.0, &honest.0]] {
			let mut contest = jobs.contest(&folders.map(PathBuf::as_path));
			assert_eq!(contest.parting(), Some(1));
			let found = judged(&mut contest);
			let place = usize::from(folders[0] == &honest.0);
			assert_eq!((found.len(), targets(&found[0])), (1, vec![(place, Target::Segment(1))]));
		}
	}

	#[test]
	fn several_false_results_are_found_one_after_the_other() {
		let jobs = Jobs::new();
		let bundles = [2, 0, 1, 99].map(|n| jobs.trained(&n.to_string(), n).0);
		let folders = bundles.each_ref().map(PathBuf::as_path);
		let mut contest = jobs.contest(&folders);
		let found = judged(&mut contest);
		let of =
			|j: &Judgement| (j.evidence.segment, j.charged.iter().map(|r| r.0).collect::<Vec<_>>());
		let order: Vec<_> = found.iter().map(of).collect();
		assert_eq!(order, [(0, vec![3]), (4, vec![0]), (5, vec![2])]);
		assert_eq!(contest.rivals().map(|(index, _)| index).collect::<Vec<_>>(), [1]);
		// Whoever hears of the judgements alone comes to the same end.
		let folders_of: Vec<_> =
			folders.iter().enumerate().map(|(i, path)| (i, path.to_path_buf())).collect();
		let mut elsewhere = Contest::judged_elsewhere(&jobs.spec, SEED, &folders_of).unwrap();
		assert!(elsewhere.judge(&AtomicBool::new(false)).is_err());
		for judgement in &found {
			assert_eq!(elsewhere.parting(), Some(judgement.evidence.segment));
			elsewhere.take_out(&judgement.charged);
		}
		assert_eq!((elsewhere.parting(), elsewhere.rivals().count()), (None, 1));
		// Without an honest result, none is left after they part.
		let mut contest = jobs.contest(&[&bundles[3], &bundles[0]]);
		assert_eq!(judged(&mut contest)[0].charged[0].0, 0);
	}

	#[test]
	fn a_parting_whose_beginning_nobody_has_is_left_open() {
		let jobs = Jobs::new();
		let (honest, cheat) = (jobs.trained("honest", 0), jobs.trained("cheat", 1));
		let step = jobs.spec.checkpoint_step(5).unwrap();
		let mut contest = jobs.contest(&[&cheat.0, &honest.0]);
		assert_eq!(contest.wanted(), Some(checkpoint_file(step)));
		assert!(!required_files_of(&jobs.spec, 6, &[0, 2]).contains(&checkpoint_file(step)));
		let own = honest.0.join(checkpoint_file(step));
		// A state that is not the listed one does not count.
		std::fs::copy(honest.0.join(checkpoint_file(0)), &own).unwrap();
		std::fs::remove_file(cheat.0.join(checkpoint_file(step))).unwrap();
		let file = checkpoint_file(step);
		assert_eq!(contest.judge(&AtomicBool::new(false)).unwrap(), Judged::Lacks(file));
		assert_eq!(contest.rivals().count(), 2);
	}

	#[test]
	fn equal_results_and_single_ones_do_not_part() {
		let jobs = Jobs::new();
		let honest = jobs.trained("honest", 0).0;
		assert_eq!(jobs.contest(&[&honest]).parting(), None);
		assert_eq!(jobs.contest(&[&honest, &honest]).parting(), None);
		assert_eq!(jobs.contest(&[]).parting(), None);
		// If they part at once, nothing needs to be fetched.
		let cheat = jobs.trained("cheat", 99).0;
		let contest = jobs.contest(&[&cheat, &honest]);
		assert_eq!((contest.parting(), contest.wanted()), (Some(0), None));
	}

	#[test]
	fn a_judgement_can_be_stopped() {
		let jobs = Jobs::new();
		let (honest, cheat) = (jobs.trained("honest", 0), jobs.trained("cheat", 1));
		let mut contest = jobs.contest(&[&cheat.0, &honest.0]);
		let error = contest.judge(&AtomicBool::new(true)).unwrap_err();
		assert!(matches!(error, VerifyError::Stopped), "{error}");
		assert_eq!(contest.rivals().count(), 2);
	}
}
