use super::*;
use crate::{
	bundle::Checkpoint,
	data,
	testing::{job, table, train, SEED},
	train::Cheat,
};
use std::path::PathBuf;

/// A trained bundle, and everything that is needed to audit it.
struct Trained {
	_folder: tempfile::TempDir,
	out: PathBuf,
	spec: JobSpec,
	data: Arc<Data>,
	result: WorkResult,
}

fn trained(cheat: Option<Cheat>) -> Trained {
	let folder = tempfile::tempdir().unwrap();
	let path = table(folder.path());
	let spec = job(&path);
	let out = folder.path().join("bundle");
	let result = train(&spec, &path, &out, false, cheat).unwrap().result().unwrap();
	let data = Arc::new(data::load(&path, &spec.dataset).unwrap());
	Trained { _folder: folder, out, spec, data, result }
}

impl Trained {
	fn audit_of(&self, result: WorkResult, segments: &[u32]) -> (GroupVerdict, AuditReport) {
		let never = AtomicBool::new(false);
		audit(&self.out, &self.spec, SEED, self.data.clone(), result, segments, &never).unwrap()
	}

	fn audit(&self, segments: &[u32]) -> GroupVerdict {
		self.audit_of(self.result, segments).0
	}

	fn manifest(&self) -> Manifest {
		Bundle::open(&self.out).unwrap().manifest().clone()
	}

	fn write_manifest(&self, manifest: &Manifest) {
		std::fs::write(self.out.join(manifest::FILE), manifest.to_bytes()).unwrap();
	}

	/// Replaces a state by another one and commits to that, as a forger would. Returns the
	/// roots that it would reveal.
	fn forge(&self, index: usize, change: impl FnOnce(&mut Tensors)) -> WorkResult {
		let bundle = Bundle::open(&self.out).unwrap();
		let mut manifest = bundle.manifest().clone();
		let step = manifest.checkpoints[index].step;
		let mut state = bundle.checkpoint(step).unwrap();
		change(&mut state);
		std::fs::write(self.out.join(checkpoint_file(step)), tensors::encode(&state)).unwrap();
		manifest.checkpoints[index].state_hash = tensors::hash(&state);
		self.write_manifest(&manifest);
		let last = manifest.checkpoints.len() - 1;
		let model_root = if index == last {
			Chunked::new(&bundle::model_bytes(&state)).root
		} else {
			self.result.model_root
		};
		WorkResult { bundle_root: manifest.computed_root(), model_root }
	}
}

fn rejected(verdict: GroupVerdict) -> RejectReason {
	match verdict {
		GroupVerdict::Reject(reason) => reason,
		other => panic!("expected a rejection: {other:?}"),
	}
}

#[test]
fn an_honest_run_is_accepted_at_every_segment() {
	let t = trained(None);
	let all: Vec<u32> = (0..t.spec.segments()).collect();
	let (verdict, report) = t.audit_of(t.result, &all);
	let GroupVerdict::Accept(evidence) = verdict else { panic!("{report:?}") };
	assert_eq!(evidence.iter().map(|e| e.segment).collect::<Vec<_>>(), all);
	let listed = t.manifest().checkpoints;
	assert!(evidence.iter().zip(&listed[1..]).all(|(e, c)| e.end_state == c.state_hash));
	assert!(report.segments.iter().all(|s| s.equal));
	assert!(report.checks.iter().all(|c| c.status == Status::Pass), "{report:?}");
	assert_eq!(report.replayed_flop, 60 * work::step_flop(&t.spec).unwrap());
	assert!(report.share > 0.5 && report.share < 1.0, "{}", report.share);
	assert!(report.rules.is_none(), "they decide nothing: no verdict waits for them");
	let rules = full(&t.out, Choice::Random(0), None).unwrap().report.rules.unwrap();
	assert_eq!((rules.rules.len(), rules.wrong_metrics), (6, 0));
	// Evidence depends on the segment alone, not on what else is drawn, nor on the order.
	let GroupVerdict::Accept(two) = t.audit(&[4, 1, 4]) else { panic!() };
	assert_eq!(two.to_vec(), [evidence[1], evidence[4]]);
}

#[test]
fn the_trace_is_that_of_the_primitives() {
	let t = trained(None);
	let GroupVerdict::Accept(evidence) = t.audit(&[1]) else { panic!() };
	let engine = Engine::new(&t.spec, SEED, t.data.clone()).unwrap();
	let bundle = Bundle::open(&t.out).unwrap();
	let begin = bundle.checkpoint(10).unwrap();
	let mut state = crate::engine::State::new(tensors::to_candle(&begin).unwrap());
	let leaves: Vec<H256> = (10..20)
		.map(|step| {
			let trace = engine.step(&mut state, step).unwrap();
			trainyard_primitives::bundle::trace_leaf(step, trace.loss, &trace.logits)
		})
		.collect();
	assert_eq!(evidence[0].trace_root, trainyard_primitives::merkle::root(&leaves));
	assert_eq!(state.hash().unwrap(), evidence[0].end_state);
}

#[test]
fn a_cheat_is_caught_wherever_it_fabricated_and_nowhere_else() {
	let t = trained(Some(Cheat { segments: 3 }));
	assert!(matches!(t.audit(&[0, 1, 2]), GroupVerdict::Accept(_)));
	for segment in 3..6 {
		let RejectReason::WrongSegment(e) = rejected(t.audit(&[segment])) else { panic!() };
		assert_eq!(e.segment, segment);
	}
	// The first fabricated one among those drawn is named, by everyone alike.
	let RejectReason::WrongSegment(e) = rejected(t.audit(&[5, 1, 4])) else { panic!() };
	assert_eq!(e.segment, 4);
	assert_eq!(t.audit(&[1, 4, 5]), t.audit(&[5, 4, 1]));
	let all = trained(Some(Cheat { segments: 99 }));
	assert!(matches!(rejected(all.audit(&[0])), RejectReason::WrongSegment(_)));
}

#[test]
fn bytes_that_do_not_match_the_roots_are_unavailable() {
	let t = trained(None);
	// Another root was revealed.
	let other = WorkResult { bundle_root: H256::repeat_byte(9), ..t.result };
	assert_eq!(t.audit_of(other, &[0]).0, GroupVerdict::Unavailable);
	// The manifest was changed behind the reveal.
	let honest = t.manifest();
	let mut changed = honest.clone();
	changed.checkpoints[3].state_hash = H256::repeat_byte(9);
	t.write_manifest(&changed);
	assert_eq!(t.audit(&[0]), GroupVerdict::Unavailable);
	std::fs::write(t.out.join(manifest::FILE), b"{").unwrap();
	assert_eq!(t.audit(&[0]), GroupVerdict::Unavailable);
	std::fs::remove_file(t.out.join(manifest::FILE)).unwrap();
	assert_eq!(t.audit(&[0]), GroupVerdict::Unavailable);
	t.write_manifest(&honest);
	// A checkpoint was changed, cut, or is gone; only who draws it notices.
	let path = t.out.join(checkpoint_file(30));
	let whole = std::fs::read(&path).unwrap();
	for damage in [whole[..whole.len() - 1].to_vec(), Vec::new(), {
		let mut flipped = whole.clone();
		*flipped.last_mut().unwrap() ^= 1;
		flipped
	}] {
		std::fs::write(&path, damage).unwrap();
		assert_eq!(t.audit(&[2]), GroupVerdict::Unavailable);
		assert_eq!(t.audit(&[3]), GroupVerdict::Unavailable);
		assert!(matches!(t.audit(&[0, 5]), GroupVerdict::Accept(_)));
	}
	std::fs::remove_file(&path).unwrap();
	assert_eq!(t.audit(&[2]), GroupVerdict::Unavailable);
	std::fs::write(&path, whole).unwrap();
	assert!(matches!(t.audit(&[2]), GroupVerdict::Accept(_)));
}

#[test]
fn every_lie_under_a_root_has_its_reason() {
	// Checkpoints missing, or at other steps.
	let t = trained(None);
	let mut manifest = t.manifest();
	manifest.checkpoints.remove(3);
	t.write_manifest(&manifest);
	let fewer = WorkResult { bundle_root: manifest.computed_root(), ..t.result };
	assert_eq!(rejected(t.audit_of(fewer, &[0]).0), RejectReason::WrongCheckpoints);
	manifest.checkpoints.insert(3, Checkpoint { step: 31, ..t.manifest().checkpoints[3] });
	t.write_manifest(&manifest);
	let moved = WorkResult { bundle_root: manifest.computed_root(), ..t.result };
	assert_eq!(rejected(t.audit_of(moved, &[0]).0), RejectReason::WrongCheckpoints);

	// Another initial model; another seed than the assignment's.
	let t = trained(None);
	let forged = t.forge(0, |state| state.values_mut().next().unwrap().data[0] += 1.0);
	assert_eq!(rejected(t.audit_of(forged, &[3]).0), RejectReason::WrongInitialState);
	let t = trained(None);
	let never = AtomicBool::new(false);
	let data = t.data.clone();
	let verdict = audit(&t.out, &t.spec, H256::zero(), data, t.result, &[0], &never).unwrap().0;
	assert_eq!(rejected(verdict), RejectReason::WrongInitialState);

	// A NaN, a missing tensor, one too many, another shape.
	type Change = fn(&mut Tensors);
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
		let expected = RejectReason::WrongState { checkpoint: 2 };
		assert_eq!(rejected(t.audit_of(forged, &[1]).0), expected);
		assert_eq!(rejected(t.audit_of(forged, &[2]).0), expected);
		assert!(matches!(t.audit_of(forged, &[4]).0, GroupVerdict::Accept(_)), "not drawn");
	}

	// One bit in one state.
	let t = trained(None);
	let forged = t.forge(3, |state| {
		let x = &mut state.get_mut("layers.0.weight").unwrap().data[5];
		*x = f32::from_bits(x.to_bits() ^ 1);
	});
	let RejectReason::WrongSegment(e) = rejected(t.audit_of(forged, &[2]).0) else { panic!() };
	assert_eq!(e.segment, 2);
	assert!(matches!(rejected(t.audit_of(forged, &[3]).0), RejectReason::WrongSegment(_)));
	assert!(matches!(t.audit_of(forged, &[4]).0, GroupVerdict::Accept(_)), "not drawn");

	// Another model than the one trained.
	let t = trained(None);
	let other = WorkResult { model_root: H256::repeat_byte(9), ..t.result };
	assert_eq!(rejected(t.audit_of(other, &[0]).0), RejectReason::WrongModel);
}

#[test]
fn a_replay_that_leaves_the_finite_range_is_a_wrong_segment() {
	let t = trained(None);
	let forged = t.forge(2, |state| {
		for (name, tensor) in state {
			if name.ends_with("weight") {
				tensor.data.iter_mut().for_each(|x| *x = x.signum() * f32::MAX);
			}
		}
	});
	let RejectReason::WrongSegment(e) = rejected(t.audit_of(forged, &[2]).0) else { panic!() };
	assert_eq!((e.segment, e.end_state), (2, H256::zero()));
}

#[test]
fn a_partial_bundle_is_enough() {
	let t = trained(None);
	let partial = tempfile::tempdir().unwrap();
	std::fs::create_dir(partial.path().join(bundle::CHECKPOINTS)).unwrap();
	let mut files = required_files(&t.manifest(), &[1, 4]);
	assert_eq!(files, [10, 20, 40, 50, 60].map(checkpoint_file));
	assert_eq!(files, required_files_of(&t.spec, &[4, 1]));
	files.push(manifest::FILE.into());
	for file in &files {
		std::fs::copy(t.out.join(file), partial.path().join(file)).unwrap();
	}
	let never = AtomicBool::new(false);
	let verdict = || {
		let data = t.data.clone();
		audit(partial.path(), &t.spec, SEED, data, t.result, &[1, 4], &never).unwrap().0
	};
	assert_eq!(verdict(), t.audit(&[1, 4]));
	assert!(matches!(verdict(), GroupVerdict::Accept(_)));
	for file in &files {
		let (from, away) = (partial.path().join(file), partial.path().join("away"));
		std::fs::rename(&from, &away).unwrap();
		assert_eq!(verdict(), GroupVerdict::Unavailable, "without {file}");
		std::fs::rename(&away, &from).unwrap();
	}
}

#[test]
fn a_rescue_archive_is_enough() {
	let t = trained(None);
	let archive = bundle::archive::pack(&t.out, &rescue_files(&t.spec, &[2])).unwrap();
	let to = tempfile::tempdir().unwrap();
	bundle::archive::unpack(&archive, to.path(), archive.len() as u64).unwrap();
	let data = data::load(&to.path().join(bundle::DATASET_FILE), &t.spec.dataset).unwrap();
	let (data, never) = (Arc::new(data), AtomicBool::new(false));
	let verdict = audit(to.path(), &t.spec, SEED, data, t.result, &[2], &never).unwrap().0;
	assert_eq!(verdict, t.audit(&[2]));
	assert!(matches!(verdict, GroupVerdict::Accept(_)));
}

#[test]
fn questions_that_make_no_sense_are_the_askers_fault() {
	let t = trained(None);
	let ask = |segments: &[u32]| {
		let never = AtomicBool::new(false);
		audit(&t.out, &t.spec, SEED, t.data.clone(), t.result, segments, &never).unwrap_err()
	};
	assert!(matches!(ask(&[6]), VerifyError::NoSuchSegment { segment: 6, segments: 6 }));
	let many: Vec<u32> = (0..17).collect();
	assert!(matches!(ask(&many), VerifyError::TooManySegments(17)));
}

#[test]
fn what_is_stopped_leaves_no_verdict() {
	let t = trained(None);
	let stop = AtomicBool::new(true);
	let error = audit(&t.out, &t.spec, SEED, t.data.clone(), t.result, &[0], &stop).unwrap_err();
	assert!(matches!(error, VerifyError::Stopped), "{error}");
	let engine = Engine::new(&t.spec, SEED, t.data.clone()).unwrap();
	let begin = Bundle::open(&t.out).unwrap().checkpoint(10).unwrap();
	let error = replay::segment(&engine, &t.spec, 1, &begin, &stop).unwrap_err();
	assert!(matches!(error, VerifyError::Stopped), "{error}");
	let bundle = Bundle::open(&t.out).unwrap();
	let error = rules::assess_until(&bundle, &t.spec, SEED, t.data.clone(), &stop).unwrap_err();
	assert!(matches!(error, VerifyError::Stopped), "{error}");
}
