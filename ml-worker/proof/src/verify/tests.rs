mod answers;
mod attacks;
mod diverged;
mod forced;
mod traces;

use super::*;
use crate::{
	bundle::{tensors, Checkpoint},
	inputs::{GivenFiles, InputPaths},
	testing::{changed, job, stopping, table, train, train_on, tuned, undivided, with_loss, SEED},
	train::Cheat,
};
use std::{
	collections::BTreeMap,
	path::PathBuf,
	sync::{atomic::Ordering, Arc, Mutex},
};
use trainyard_engine::{state_hash, Engine, NanRule, State, TensorMap};
use trainyard_protocol::{
	accusation::{Claimed, End, Target},
	blob::Chunked,
	bundle::Evaluation,
	merkle,
	trace::{seal, step_leaf},
};

/// A trained bundle, and everything that is needed to audit it.
struct Trained {
	_folder: tempfile::TempDir,
	out: PathBuf,
	spec: CheckedSpec,
	inputs: Inputs,
	result: WorkResult,
	/// What an honest run comes to, where the states before what is changed are its own.
	honest: Option<Manifest>,
}

fn trained(cheat: Option<Cheat>) -> Trained {
	trained_as(job, cheat)
}

fn trained_as(spec: fn(&Path) -> CheckedSpec, cheat: Option<Cheat>) -> Trained {
	let folder = tempfile::tempdir().unwrap();
	let path = table(folder.path());
	let spec = spec(&path);
	let out = folder.path().join("bundle");
	let result = train(&spec, &path, &out, false, cheat).unwrap().result().unwrap();
	let inputs = Inputs::load(&spec, &InputPaths::data(path)).unwrap();
	let honest = Some(Bundle::open(&out).unwrap().manifest().clone());
	let honest = honest.filter(|_| cheat.is_none());
	Trained { _folder: folder, out, spec, inputs, result, honest }
}

impl Trained {
	/// What is found false in this result where these segments are replayed.
	#[track_caller]
	fn charged(&self, result: WorkResult, segments: &[u32]) -> Target {
		charged(self, self.audit_of(result, segments), result)
	}

	fn audit_of(&self, result: WorkResult, segments: &[u32]) -> (Verdict, AuditReport) {
		let never = AtomicBool::new(false);
		audit(&self.out, &self.spec, SEED, self.inputs.clone(), result, segments, &never).unwrap()
	}

	fn audit(&self, segments: &[u32]) -> Verdict {
		self.audit_of(self.result, segments).0
	}

	fn manifest(&self) -> Manifest {
		Bundle::open(&self.out).unwrap().manifest().clone()
	}

	fn write_manifest(&self, manifest: &Manifest) {
		std::fs::write(self.out.join(manifest::FILE), manifest.to_bytes()).unwrap();
	}

	/// Commits to a changed manifest, as a forger would. Returns the result that it would reveal.
	fn commit(&self, change: impl FnOnce(&mut Manifest)) -> WorkResult {
		let mut manifest = self.manifest();
		change(&mut manifest);
		self.write_manifest(&manifest);
		let (bundle_root, segments) = (manifest.computed_root(), manifest.segments());
		WorkResult { bundle_root, true_root: bundle_root, segments, ..self.result }
	}

	/// Replaces a state by a changed one and commits to that, as a forger would. Returns the roots
	/// that it would reveal.
	fn forge(&self, index: usize, change: impl FnOnce(&mut TensorMap)) -> WorkResult {
		let bundle = Bundle::open(&self.out).unwrap();
		let mut manifest = bundle.manifest().clone();
		let step = manifest.checkpoints[index].step;
		let mut state = bundle.checkpoint(step).unwrap();
		change(&mut state);
		std::fs::write(self.out.join(checkpoint_file(step)), tensors::encode(&state)).unwrap();
		manifest.checkpoints[index].state_hash = state_hash(&state, NanRule::Allow).unwrap();
		self.write_manifest(&manifest);
		let last = manifest.checkpoints.len() - 1;
		let model_root = if index == last {
			Chunked::new(&bundle::model_bytes(&state)).root
		} else {
			self.result.model_root
		};
		let bundle_root = manifest.computed_root();
		WorkResult { bundle_root, true_root: bundle_root, model_root, ..self.result }
	}
}

/// What the result is found false by, which is in what its root says.
#[track_caller]
fn charged(t: &Trained, (verdict, _): (Verdict, AuditReport), result: WorkResult) -> Target {
	let Verdict::False(charge) = verdict else { panic!("it is false: {verdict:?}") };
	let first = match charge.target {
		Target::Start => 0,
		Target::Segment(segment) => segment,
		Target::Model => result.segments,
		other => {
			assert!(other == Target::Stop && charge.leaves.is_empty());
			return other;
		}
	};
	for (index, leaf) in (first..).zip(&charge.leaves) {
		let hash = leaf.content.leaf();
		assert!(merkle::verify(&result.bundle_root, &hash, index, result.leaves(), &leaf.path));
	}
	let leaves = if matches!(charge.target, Target::Segment(_)) { 2 } else { 1 };
	assert_eq!(charge.leaves.len(), leaves);
	// What is claimed is another end than the one that is shown, and what the replay came to.
	let Claimed::End(end) = charge.claimed else { return charge.target };
	assert_ne!(end, charge.leaves.last().unwrap().content.end());
	if let (Target::Segment(segment), Some(honest)) = (charge.target, t.honest.as_ref()) {
		assert_eq!(end, End::of(&honest.checkpoints[segment as usize + 1].bound()));
	}
	charge.target
}

#[test]
fn an_honest_run_is_accepted_at_every_segment() {
	let t = trained(None);
	let all: Vec<u32> = (0..t.spec.segments()).collect();
	let (verdict, report) = t.audit_of(t.result, &all);
	let Verdict::Replayed(evidence) = verdict else { panic!("{report:?}") };
	assert_eq!(evidence.iter().map(|e| e.segment).collect::<Vec<_>>(), all);
	let listed = t.manifest().checkpoints;
	assert!(evidence.iter().zip(&listed[1..]).all(|(e, c)| e.end() == End::of(&c.bound())));
	let shown = revealed(&t.out, &evidence).unwrap().unwrap();
	assert!(shown.iter().all(|(e, path)| e.agrees(&t.result, path)));
	assert_eq!(shown.iter().map(|(e, _)| *e).collect::<Vec<_>>(), evidence);
	let beyond = SegmentEvidence { segment: 6, ..evidence[0] };
	assert_eq!(revealed(&t.out, &[beyond]).unwrap(), None);
	assert!(report.segments.iter().all(|s| s.equal));
	assert!(report.checks.iter().all(|c| c.status == Status::Pass), "{report:?}");
	assert!(report.segments.iter().all(|s| s.evaluation_equal));
	let work = trainyard_program::work::flop(&t.spec).unwrap();
	assert_eq!((report.replayed_flop, report.training_flop), (work, work));
	assert_eq!(report.share, 1.0);
	assert!(report.rules.is_none(), "they decide nothing: no verdict waits for them");
	let rules =
		full(&t.out, Choice::Random(0), &GivenFiles::default()).unwrap().report.rules.unwrap();
	assert_eq!((rules.rules.len(), rules.wrong_metrics), (6, 0));
	// Evidence depends on the segment alone, not on what else is drawn, nor on the order.
	let Verdict::Replayed(two) = t.audit(&[4, 1, 4]) else { panic!() };
	assert_eq!(two.to_vec(), [evidence[1], evidence[4]]);
}

#[test]
fn a_cheat_is_caught_wherever_it_fabricated_and_nowhere_else() {
	let t = trained(Some(Cheat::Fabricate { segments: 3 }));
	assert!(matches!(t.audit(&[0, 1, 2]), Verdict::Replayed(_)));
	for segment in 3..6 {
		assert_eq!(t.charged(t.result, &[segment]), Target::Segment(segment));
	}
	// Every verifier names the first fabricated segment among those drawn.
	assert_eq!(t.charged(t.result, &[5, 1, 4]), Target::Segment(4));
	assert_eq!(t.audit(&[1, 4, 5]), t.audit(&[5, 4, 1]));
	let all = trained(Some(Cheat::Fabricate { segments: 99 }));
	assert_eq!(all.charged(all.result, &[0]), Target::Segment(0));
}

#[test]
fn bytes_that_do_not_match_the_roots_are_unavailable() {
	let t = trained(None);
	// Another root was revealed.
	let other = WorkResult { bundle_root: H256::repeat_byte(9), ..t.result };
	assert_eq!(t.audit_of(other, &[0]).0, Verdict::Unavailable);
	// The manifest was changed after the reveal.
	let honest = t.manifest();
	let mut changed = honest.clone();
	changed.checkpoints[3].state_hash = H256::repeat_byte(9);
	t.write_manifest(&changed);
	assert_eq!(t.audit(&[0]), Verdict::Unavailable);
	std::fs::write(t.out.join(manifest::FILE), b"{").unwrap();
	assert_eq!(t.audit(&[0]), Verdict::Unavailable);
	std::fs::remove_file(t.out.join(manifest::FILE)).unwrap();
	assert_eq!(t.audit(&[0]), Verdict::Unavailable);
	t.write_manifest(&honest);
	// A checkpoint was changed, cut, or is gone; only a verifier that draws it notices.
	let path = t.out.join(checkpoint_file(30));
	let whole = std::fs::read(&path).unwrap();
	for damage in [whole[..whole.len() - 1].to_vec(), Vec::new(), {
		let mut flipped = whole.clone();
		*flipped.last_mut().unwrap() ^= 1;
		flipped
	}] {
		std::fs::write(&path, damage).unwrap();
		assert_eq!(t.audit(&[2]), Verdict::Unavailable);
		assert_eq!(t.audit(&[3]), Verdict::Unavailable);
		assert!(matches!(t.audit(&[0, 5]), Verdict::Replayed(_)));
	}
	std::fs::remove_file(&path).unwrap();
	assert_eq!(t.audit(&[2]), Verdict::Unavailable);
	std::fs::write(&path, whole).unwrap();
	assert!(matches!(t.audit(&[2]), Verdict::Replayed(_)));
}

#[test]
fn every_lie_under_a_root_has_its_charge() {
	// Checkpoints missing: no path of theirs fits the result. Or at other steps.
	let t = trained(None);
	let mut manifest = t.manifest();
	manifest.checkpoints.remove(3);
	t.write_manifest(&manifest);
	let fewer = WorkResult { bundle_root: manifest.computed_root(), ..t.result };
	assert_eq!(t.audit_of(fewer, &[0]).0, Verdict::Unavailable);
	manifest.checkpoints.insert(3, Checkpoint { step: 31, ..t.manifest().checkpoints[3] });
	t.write_manifest(&manifest);
	let moved = WorkResult { bundle_root: manifest.computed_root(), ..t.result };
	assert_eq!(t.charged(moved, &[0]), Target::Segment(2));

	// Another initial model; another seed than the assignment's.
	let t = trained(None);
	let forged = t.forge(0, |state| state.values_mut().next().unwrap().data[0] += 1.0);
	assert_eq!(t.charged(forged, &[3]), Target::Start);
	let t = trained(None);
	let never = AtomicBool::new(false);
	let inputs = t.inputs.clone();
	let found = audit(&t.out, &t.spec, H256::zero(), inputs, t.result, &[0], &never).unwrap();
	assert_eq!(charged(&t, found, t.result), Target::Start);

	// A NaN, a missing tensor, one too many, a different shape.
	type Change = fn(&mut TensorMap);
	let changes: [Change; 4] = [
		|state| state.get_mut("layers.0.weight").unwrap().data[0] = f32::NAN,
		|state| drop(state.remove("layers.0.bias")),
		|state| {
			let tensor = state["layers.0.bias"].clone();
			state.insert("more".into(), tensor);
		},
		|state| state.get_mut("layers.0.weight").unwrap().shape.reverse(),
	];
	for change in changes {
		let t = trained(None);
		let forged = t.forge(2, change);
		// No court hears of a state, but of the segment that is said to end in it.
		assert_eq!(t.charged(forged, &[1]), Target::Segment(1));
		assert_eq!(t.charged(forged, &[2]), Target::Segment(1));
		assert!(matches!(t.audit_of(forged, &[4]).0, Verdict::Replayed(_)), "not drawn");
	}

	// A NaN that is served by other bits than it was hashed by is still in the state.
	let t = trained(None);
	let weight = "layers.0.weight";
	let forged = t.forge(2, |state| state.get_mut(weight).unwrap().data.fill(f32::NAN));
	let path = t.out.join(checkpoint_file(t.manifest().checkpoints[2].step));
	let mut bytes = std::fs::read(&path).unwrap();
	let is_nan = |word: &[u8]| word == 0x7FC0_0000u32.to_le_bytes();
	let at = (0..bytes.len()).step_by(4).find(|at| is_nan(&bytes[*at..*at + 4])).unwrap();
	bytes[at] = 1;
	assert!(tensors::decode(&bytes).unwrap_err().to_string().contains(weight));
	std::fs::write(&path, bytes).unwrap();
	assert_eq!(t.charged(forged, &[1]), Target::Segment(1));

	// One bit in one state.
	let t = trained(None);
	let forged = t.forge(3, |state| {
		let x = &mut state.get_mut("layers.0.weight").unwrap().data[5];
		*x = f32::from_bits(x.to_bits() ^ 1);
	});
	assert_eq!(t.charged(forged, &[2]), Target::Segment(2));
	let Verdict::False(charge) = t.audit_of(forged, &[3]).0 else { panic!() };
	assert_eq!(charge.target, Target::Segment(3), "it does not follow from the changed state");
	assert!(matches!(t.audit_of(forged, &[4]).0, Verdict::Replayed(_)), "not drawn");

	// A different model from the one trained.
	let t = trained(None);
	let other = WorkResult { model_root: H256::repeat_byte(9), ..t.result };
	assert_eq!(t.charged(other, &[0]), Target::Model);
}

/// Ways to lie about an evaluation.
const LIES: [fn(&mut Evaluation); 3] = [
	|v| *v = with_loss(*v, f32::from_bits(v.loss().to_bits() ^ 1)),
	|v| *v = with_loss(*v, -1.0),
	|v| v.correct ^= 1,
];

#[test]
fn a_forged_evaluation_is_a_false_segment() {
	for lie in LIES {
		let t = trained(None);
		let forged = t.commit(|manifest| lie(&mut manifest.checkpoints[3].validation));
		let (verdict, report) = t.audit_of(forged, &[2, 4]);
		let found = (verdict, report.clone());
		assert_eq!(charged(&t, found, forged), Target::Segment(2));
		let replayed = report.segments[0];
		assert!(replayed.equal && !replayed.evaluation_equal);
		assert!(report.summary.contains("checkpoint 3"), "{}", report.summary);
		for other in [1, 3] {
			let verdict = t.audit_of(forged, &[other]).0;
			assert!(matches!(verdict, Verdict::Replayed(_)), "not drawn");
		}
		// The manifest alone is not what was revealed.
		assert_eq!(t.audit(&[0]), Verdict::Unavailable);
	}
}

#[test]
fn the_evaluation_of_checkpoint_0_is_checked_whatever_is_drawn() {
	for lie in LIES {
		let t = trained(None);
		let forged = t.commit(|manifest| lie(&mut manifest.checkpoints[0].validation));
		for drawn in [&[0][..], &[5], &[]] {
			assert_eq!(t.charged(forged, drawn), Target::Start);
		}
	}
}

/// Leaves that no result of the job has convict by themselves, whatever was replayed.
#[test]
fn an_evaluation_that_none_can_be_needs_no_replay() {
	for checkpoint in [0, 3] {
		let t = trained(None);
		let forged = t.commit(|manifest| manifest.checkpoints[checkpoint].validation.labels += 1);
		let Verdict::False(charge) = t.audit_of(forged, &[5]).0 else { panic!("{checkpoint}") };
		assert_eq!(charge.claimed, Claimed::Other);
		let target = if checkpoint == 0 { Target::Start } else { Target::Segment(2) };
		assert_eq!(t.charged(forged, &[5]), target);
	}
}

/// The quality of the model that is bought.
#[test]
fn the_evaluation_of_the_last_checkpoint_is_checked_whatever_is_drawn() {
	for lie in LIES {
		let t = trained(None);
		let forged = t.commit(|manifest| lie(&mut manifest.checkpoints[6].validation));
		for drawn in [&[0][..], &[5], &[]] {
			assert_eq!(t.charged(forged, drawn), Target::Segment(5));
		}
	}
	// It is one evaluation more, where the last segment is not replayed.
	let t = trained(None);
	let parts = trainyard_program::work::Parts::of(&t.spec);
	let flop = |drawn: &[u32]| t.audit_of(t.result, drawn).1.replayed_flop;
	assert_eq!(flop(&[5]), 10 * parts.step + 2 * parts.evaluation);
	assert_eq!(flop(&[4]), 10 * parts.step + 3 * parts.evaluation);
}

#[test]
fn a_run_that_stopped_early_is_accepted_at_every_segment() {
	let t = trained_as(stopping, None);
	assert_eq!(t.result.segments, 3);
	let (verdict, report) = t.audit_of(t.result, &[0, 1, 2]);
	let Verdict::Replayed(evidence) = verdict else { panic!("{report:?}") };
	assert_eq!(evidence.len(), 3);
	assert_eq!(report.share, 1.0, "of what was trained");
	assert!(report.training_flop < trainyard_program::work::flop(&t.spec).unwrap());
	// The same states and evaluations as those of a run that goes on: the same evidence.
	let Verdict::Replayed(longer) = trained(None).audit(&[0, 1, 2]) else { panic!() };
	assert_eq!(evidence, longer);
	assert_eq!(required_files(&t.manifest(), &[0]), [0, 10, 30].map(checkpoint_file));

	let full = full(&t.out, Choice::All, &GivenFiles::default()).unwrap();
	assert!(full.passed, "{full:?}");
	assert_eq!((full.result, full.report.segments.len()), (t.result, 3));
	let rules = full.report.rules.unwrap();
	assert_eq!((rules.rules.len(), rules.validation.len(), rules.wrong_metrics), (6, 4, 0));
	let cheat = trained_as(stopping, Some(Cheat::Fabricate { segments: 5 }));
	assert_eq!(cheat.charged(cheat.result, &[1]), Target::Segment(1));

	let to = copied(&t.out, &files_read(&t.out, &t.spec, 3, &[1]).unwrap());
	let never = AtomicBool::new(false);
	let verdict =
		audit(to.path(), &t.spec, SEED, t.inputs.clone(), t.result, &[1], &never).unwrap();
	assert_eq!(verdict.0, t.audit(&[1]));
}

/// Where training stops follows from the committed losses: a trainer that stops elsewhere must
/// forge one of them.
#[test]
fn who_stops_elsewhere_than_its_losses_say_is_rejected() {
	let wrong = |t: &Trained, result| assert_eq!(t.charged(result, &[0]), Target::Stop);
	let nothing_fits = |t: &Trained, result, segments: &[u32]| {
		assert_eq!(t.audit_of(result, segments).0, Verdict::Unavailable);
	};
	// Went on: all six segments, honestly trained.
	let mut late = trained(None);
	late.spec = stopping(&late._folder.path().join("table.csv"));
	wrong(&late, late.result);
	let one_more = late.commit(|manifest| manifest.checkpoints.truncate(5));
	wrong(&late, one_more);
	// Stopped too early. Of a job that does not stop at all the market takes no shorter result.
	let t = trained_as(stopping, None);
	let early = t.commit(|manifest| manifest.checkpoints.truncate(3));
	wrong(&t, early);
	let mut plain = trained_as(stopping, None);
	plain.spec = job(&plain._folder.path().join("table.csv"));
	nothing_fits(&plain, plain.result, &[0]);
	// A number of segments that does not match the checkpoints.
	let t = trained_as(stopping, None);
	for segments in [1, 2, 4, 6, 7] {
		nothing_fits(&t, WorkResult { segments, ..t.result }, &[0]);
	}
	nothing_fits(&t, WorkResult { segments: 0, ..t.result }, &[]);

	// Two forged losses let it go on to the end; each is one false segment.
	let mut forger = trained(None);
	forger.spec = stopping(&forger._folder.path().join("table.csv"));
	let forged = forger.commit(|manifest| {
		for (index, loss) in [(2, -2e3), (4, -4e3)] {
			let listed = &mut manifest.checkpoints[index].validation;
			*listed = with_loss(*listed, loss);
		}
	});
	for segment in 0..6 {
		let verdict = forger.audit_of(forged, &[segment]).0;
		match segment {
			1 | 3 => {
				assert_eq!(forger.charged(forged, &[segment]), Target::Segment(segment));
			}
			_ => assert!(matches!(verdict, Verdict::Replayed(_)), "{segment}: {verdict:?}"),
		}
	}
}

#[test]
fn a_replay_that_leaves_the_finite_range_is_a_wrong_segment() {
	let forge = |t: &Trained| {
		t.forge(2, |state| {
			for (name, tensor) in state {
				if name.ends_with("weight") && !name.starts_with("optimizer") {
					tensor.data.iter_mut().for_each(|x| *x = x.signum() * f32::MAX);
				}
			}
		})
	};
	// No step brings parameters so far.
	let t = trained(None);
	assert_eq!(t.charged(forge(&t), &[2]), Target::Segment(1));
	// Where gradients are not clipped, the steps of SGD have no bound.
	let plain = |path: &Path| {
		changed(&job(path), |spec| {
			spec.training.optimizer =
				trainyard_program::spec::Optimizer::Sgd { momentum_nano: 0, nesterov: false };
		})
	};
	let t = trained_as(plain, None);
	let Verdict::False(charge) = t.audit_of(forge(&t), &[2]).0 else { panic!() };
	assert_eq!(charge.target, Target::Segment(2));
	assert!(matches!(charge.claimed, Claimed::End(End::Diverged(end)) if end.step == 20));
}

#[test]
fn a_partial_bundle_is_enough() {
	let t = trained(None);
	let partial = tempfile::tempdir().unwrap();
	std::fs::create_dir(partial.path().join(bundle::CHECKPOINTS)).unwrap();
	let mut files = required_files(&t.manifest(), &[1, 4]);
	assert_eq!(files, [10, 20, 40, 50, 60].map(checkpoint_file));
	assert_eq!(files, required_files_of(&t.spec, 6, &[4, 1]));
	files.push(manifest::FILE.into());
	for file in &files {
		std::fs::copy(t.out.join(file), partial.path().join(file)).unwrap();
	}
	let never = AtomicBool::new(false);
	let verdict = || {
		let inputs = t.inputs.clone();
		audit(partial.path(), &t.spec, SEED, inputs, t.result, &[1, 4], &never).unwrap().0
	};
	assert_eq!(verdict(), t.audit(&[1, 4]));
	assert!(matches!(verdict(), Verdict::Replayed(_)));
	for file in &files {
		let (from, away) = (partial.path().join(file), partial.path().join("away"));
		std::fs::rename(&from, &away).unwrap();
		assert_eq!(verdict(), Verdict::Unavailable, "without {file}");
		std::fs::rename(&away, &from).unwrap();
	}
}

#[test]
fn the_files_that_an_audit_reads_are_enough() {
	let t = trained(None);
	let to = copied(&t.out, &files_read(&t.out, &t.spec, 6, &[2]).unwrap());
	let inputs = Inputs::load(&t.spec, &InputPaths::in_bundle(to.path(), &t.spec)).unwrap();
	let never = AtomicBool::new(false);
	let verdict = audit(to.path(), &t.spec, SEED, inputs, t.result, &[2], &never).unwrap().0;
	assert_eq!(verdict, t.audit(&[2]));
	assert!(matches!(verdict, Verdict::Replayed(_)));
}

/// A folder with copies of these files of a bundle.
fn copied(from: &Path, files: &[String]) -> tempfile::TempDir {
	let to = tempfile::tempdir().unwrap();
	std::fs::create_dir(to.path().join(bundle::CHECKPOINTS)).unwrap();
	for file in files {
		std::fs::copy(from.join(file), to.path().join(file)).unwrap();
	}
	to
}

/// A fine-tuning, by the same training, of the model of [`trained`].
fn fine_tuned() -> Trained {
	let Trained { _folder, out, spec, .. } = trained(None);
	let path = _folder.path().join("table.csv");
	let (spec, paths) = tuned(&spec, &path, &Bundle::open(&out).unwrap());
	let out = _folder.path().join("tuned");
	let result = train_on(&spec, &paths, &out, false, None).unwrap().result().unwrap();
	let inputs = Inputs::load(&spec, &paths).unwrap();
	Trained { _folder, out, spec, inputs, result, honest: None }
}

#[test]
fn a_fine_tuning_begins_with_its_initial_model() {
	let t = fine_tuned();
	let all: Vec<u32> = (0..t.spec.segments()).collect();
	let (verdict, report) = t.audit_of(t.result, &all);
	assert!(matches!(verdict, Verdict::Replayed(_)), "{report:?}");
	let bundle = Bundle::open(&t.out).unwrap();
	let begun = bundle.checkpoint(0).unwrap();
	let model = std::fs::read(bundle.path(bundle::INITIAL_MODEL_FILE)).unwrap();
	assert_eq!(bundle::model_bytes(&begun), model, "the published file is of one form");
	// The optimizer begins from its initial state.
	let plain = changed(&t.spec, |spec| spec.initial_model = None);
	let mut drawn = Engine::initial_state(&plain, &SEED, None).unwrap().to_host().unwrap();
	drawn.extend(bundle::parameters(begun.clone()));
	assert_eq!(drawn, begun);

	// It is not the run of a job that draws its model, nor of a job with a different model.
	let never = AtomicBool::new(false);
	let audit_as = |spec: &CheckedSpec, inputs: Inputs| {
		let found = audit(&t.out, spec, SEED, inputs, t.result, &[1], &never).unwrap();
		charged(&t, found, t.result)
	};
	let inputs = t.inputs.data.clone().into();
	assert_eq!(audit_as(&plain, inputs), Target::Start);
	let mut other = t.inputs.clone();
	let changed = bundle::parameters(bundle.checkpoint(10).unwrap());
	other.initial_model = Some(Arc::new(changed));
	assert_eq!(audit_as(&t.spec, other), Target::Start);
	// Without the model there is no verdict.
	let inputs = t.inputs.data.clone().into();
	let error = audit(&t.out, &t.spec, SEED, inputs, t.result, &[1], &never).unwrap_err();
	assert!(error.to_string().contains("initial model, which was not given"), "{error}");
}

#[test]
fn a_fine_tuned_bundle_is_checked_by_itself() {
	let t = fine_tuned();
	let given = GivenFiles::default();
	let found = full(&t.out, Choice::All, &given).unwrap();
	assert!(found.passed, "{:?}", found.report);
	let rules = found.report.rules.unwrap();
	assert_eq!(rules.rules.len(), 6);
	for rule in rules.rules {
		let applies = ![3, 4, 6].contains(&rule.number);
		assert_eq!((rule.value.is_some(), rule.kept.is_some()), (applies, applies), "{rule:?}");
		assert_eq!(rule.detail == "not applicable: fine-tuned", !applies, "{rule:?}");
	}

	// The model is among what an audit reads.
	let to = copied(&t.out, &files_read(&t.out, &t.spec, 6, &[2]).unwrap());
	let inputs = Inputs::load(&t.spec, &InputPaths::in_bundle(to.path(), &t.spec)).unwrap();
	// Where it cannot be had, the first state has its parameters.
	let state = to.path().join(checkpoint_file(0));
	std::fs::copy(t.out.join(checkpoint_file(0)), &state).unwrap();
	let paths = InputPaths::in_bundle(to.path(), &t.spec);
	let from_state = InputPaths { initial_model: Some(state.clone()), ..paths.clone() };
	let again = Inputs::load(&t.spec, &from_state).unwrap();
	assert_eq!(again.initial_model(), inputs.initial_model());
	std::fs::copy(t.out.join(checkpoint_file(20)), &state).unwrap();
	assert!(Inputs::load(&t.spec, &from_state).is_err(), "another state");
	let never = AtomicBool::new(false);
	let verdict = audit(to.path(), &t.spec, SEED, inputs, t.result, &[2], &never).unwrap().0;
	assert_eq!(verdict, t.audit(&[2]));
	assert!(matches!(verdict, Verdict::Replayed(_)));

	// Another file, and none.
	let model = t.out.join(bundle::INITIAL_MODEL_FILE);
	std::fs::copy(t.out.join(bundle::MODEL_FILE), &model).unwrap();
	let error = full(&t.out, Choice::All, &given).unwrap_err().to_string();
	assert!(error.contains("is not the initial model of the job"), "{error}");
	std::fs::remove_file(&model).unwrap();
	let error = full(&t.out, Choice::All, &given).unwrap_err().to_string();
	for part in ["the initial model is missing", "--initial-model", "initial-model.safetensors"] {
		assert!(error.contains(part), "{part}: {error}");
	}
}

#[test]
fn questions_that_make_no_sense_are_the_askers_fault() {
	let t = trained(None);
	let ask = |segments: &[u32]| {
		let never = AtomicBool::new(false);
		audit(&t.out, &t.spec, SEED, t.inputs.clone(), t.result, segments, &never).unwrap_err()
	};
	assert!(matches!(ask(&[6]), VerifyError::NoSuchSegment { segment: 6, segments: 6 }));
	let many: Vec<u32> = (0..=MAX_EVIDENCE).collect();
	assert!(matches!(ask(&many), VerifyError::TooManySegments(n) if n == many.len()));
}

#[test]
fn what_is_stopped_leaves_no_verdict() {
	let t = trained(None);
	let stop = AtomicBool::new(true);
	let error = audit(&t.out, &t.spec, SEED, t.inputs.clone(), t.result, &[0], &stop).unwrap_err();
	assert!(matches!(error, VerifyError::Stopped), "{error}");
	let engine = Engine::new(&t.spec, SEED, t.inputs.data.clone()).unwrap();
	let begin = Bundle::open(&t.out).unwrap().checkpoint(10).unwrap();
	let error = replay::segment(&engine, &t.spec, 1, &begin, &stop).unwrap_err();
	assert!(matches!(error, VerifyError::Stopped), "{error}");
	let bundle = Bundle::open(&t.out).unwrap();
	let data = t.inputs.data.clone();
	let error = rules::assess_until(&bundle, &t.spec, SEED, data, &stop).unwrap_err();
	assert!(matches!(error, VerifyError::Stopped), "{error}");
}

/// Replays in memory. Sets `stop` once it has one.
struct Kept<'a> {
	replays: Mutex<BTreeMap<(u32, H256), SegmentEvidence>>,
	stop: &'a AtomicBool,
}

impl Replays for Kept<'_> {
	fn load(&self, segment: u32, begin: &H256) -> Option<SegmentEvidence> {
		self.replays.lock().unwrap().get(&(segment, *begin)).copied()
	}

	fn save(&self, begin: &H256, replayed: &SegmentEvidence) {
		let key = (replayed.segment, *begin);
		assert_eq!(self.replays.lock().unwrap().insert(key, *replayed), None, "replayed twice");
		self.stop.store(true, Ordering::Relaxed);
	}
}

#[test]
fn an_audit_that_was_stopped_goes_on_after_the_last_segment() {
	let t = trained(None);
	let stop = AtomicBool::new(false);
	let kept = Kept { replays: Mutex::default(), stop: &stop };
	let audit = || {
		stop.store(false, Ordering::Relaxed);
		let job = (&t.spec, SEED);
		let aids = Aids { replays: &kept, fetch: &|_| () };
		audit_with(&t.out, job, t.inputs.clone(), t.result, &[0, 2, 3], &stop, aids)
	};
	for replayed in [1, 2] {
		assert!(matches!(audit(), Err(VerifyError::Stopped)));
		assert_eq!(kept.replays.lock().unwrap().len(), replayed);
	}
	let (verdict, last) = audit().unwrap();
	let (whole, first) = t.audit_of(t.result, &[0, 2, 3]);
	assert_eq!(verdict, whole);
	assert_eq!(last.segments.len(), 3, "all are reported, and one of them was replayed now");
	assert!(last.replayed_flop < first.replayed_flop);
	// A false end is found in what was replayed before as well.
	let forged = t.forge(3, |state| {
		state.get_mut("layers.0.bias").unwrap().data[0] += 1e-3;
	});
	stop.store(false, Ordering::Relaxed);
	let job = (&t.spec, SEED);
	let aids = Aids { replays: &kept, fetch: &|_| () };
	let audited = audit_with(&t.out, job, t.inputs.clone(), forged, &[2], &stop, aids).unwrap();
	assert_eq!(charged(&t, audited, forged), Target::Segment(2));
	assert_eq!(kept.replays.lock().unwrap().len(), 3);
}
