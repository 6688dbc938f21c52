//! Results that say that training diverged: true ones pass, and a claim that replays finite does not.

use super::*;
use crate::train::TrainError;
use trainyard_program::spec::{Loss, Model, Optimizer};
use trainyard_protocol::{
	audit::Ended,
	bundle::Diverged,
	pieces::{Answer, Piece},
};

/// What somebody says of a divergence who did not find one.
const NOWHERE: Diverged = Diverged { step: 20, trace: H256([9; 32]) };

/// A job whose parameters grow in every step, at this rate: a linear model, squared errors.
fn growing(path: &Path, learning_rate_nano: u64) -> CheckedSpec {
	changed(&job(path), |spec| {
		let Model::Mlp { hidden, .. } = &mut spec.model else { unreachable!() };
		*hidden = Default::default();
		spec.training.optimizer = Optimizer::Sgd { momentum_nano: 0, nesterov: false };
		spec.training.loss = Loss::MeanSquaredError;
		spec.training.learning_rate_nano = learning_rate_nano;
	})
}

/// A run that diverged, but not in its first segments: the first rate, doubled each time, at which
/// it does at all grows tenfold in two or three steps.
fn diverged() -> Trained {
	let folder = tempfile::tempdir().unwrap();
	let path = table(folder.path());
	for doubled in 0..16 {
		let spec = growing(&path, 10_000_000 << doubled);
		let out = folder.path().join(doubled.to_string());
		let Err(error) = train(&spec, &path, &out, false, None) else { continue };
		let TrainError::Diverged { bundle: Some(bundle), kept, .. } = &error else {
			panic!("{error}")
		};
		let result = bundle.result().unwrap();
		assert!(bundle.is_finished() && result.diverged);
		assert_eq!(spec.checkpoint_step(result.segments), Some(*kept));
		assert!((2..6).contains(&result.segments), "{error}");
		let inputs = Inputs::load(&spec, &InputPaths::data(path)).unwrap();
		return Trained { _folder: folder, out, spec, inputs, result, honest: None };
	}
	panic!("no rate is too high");
}

fn accepted(verdict: &Verdict) -> &[SegmentEvidence] {
	match verdict {
		Verdict::Replayed(evidence) => evidence,
		other => panic!("it is true: {other:?}"),
	}
}

/// A submitter's specification that always diverges: the trainer has a result that every verifier
/// finds true.
#[test]
fn a_run_that_diverged_is_true_and_its_last_segment_is_replayed() {
	let t = diverged();
	let last = t.result.segments;
	let all: Vec<u32> = (0..=last).collect();
	let (verdict, report) = t.audit_of(t.result, &all);
	let evidence = accepted(&verdict);
	assert_eq!(evidence.len(), all.len());
	let end = evidence.last().unwrap();
	assert_eq!((end.segment, end.idle_since), (last, None));
	let step = t.spec.checkpoint_step(last).unwrap();
	let Ended::Diverged { step: named } = end.ended else { panic!("it diverged") };
	assert!((step..=step + 10).contains(&named), "it says in which step");
	assert!(report.segments.iter().all(|s| s.equal));
	assert_eq!(t.audit(&all), verdict, "every verifier finds the same");
	// The last finite state is the model, and the whole bundle can be checked by itself.
	let full = full(&t.out, Choice::All, &GivenFiles::default()).unwrap();
	assert!(full.passed, "{:?}", full.report);
	assert_eq!(full.result, t.result);
	assert!(full.report.summary.contains("training diverged in segment"));
	// What was trained is asked for: no file of a segment that has no end.
	let files = required_files_of(&t.spec, last, &[last]);
	assert_eq!(files, [checkpoint_file(step)]);
	assert!(files_read(&t.out, &t.spec, last, &[0, last]).is_ok());
	// Its trainer can store whatever a seat asks for, or every such result would be lost.
	let pieces = [Piece::Leaves, Piece::State(0), Piece::State(last), Piece::State(last + 1)];
	let found = answers(&t.out, &t.spec, &pieces, || panic!("no rows")).unwrap();
	assert_eq!(found.len(), 3, "the segment in which it diverged has no end");
	for Prepared { answer, .. } in found {
		match answer {
			Answer::Leaves(part) => assert!(part.fits(&t.result)),
			Answer::State { leaf, .. } => assert!(leaf.fits(&t.result)),
			other => panic!("{other:?}"),
		}
	}
}

/// A trainer that saves the rest of the work, or makes up a state, and says that it diverged.
#[test]
fn a_claim_of_divergence_that_replays_finite_is_rejected() {
	let t = trained(None);
	let result = t.commit(|manifest| {
		manifest.checkpoints.truncate(3);
		manifest.diverged = Some(NOWHERE);
	});
	let state = Bundle::open(&t.out).unwrap().checkpoint(20).unwrap();
	let model_root = Chunked::new(&bundle::model_bytes(&state)).root;
	let result = WorkResult { model_root, diverged: true, ..result };
	assert_eq!(result.segments, 2);
	assert_eq!(t.charged(result, &[0, 2]), Target::Segment(2), "it is finite");
	let honest = t.audit(&[]);
	assert!(matches!(honest, Verdict::Unavailable), "the manifest is another one now");
}

#[test]
fn result_and_root_say_the_same_of_a_divergence() {
	let t = diverged();
	let last = t.result.segments;
	// The revealed result denies it: no path of its leaves fits.
	let denied = WorkResult { diverged: false, ..t.result };
	assert_eq!(t.audit_of(denied, &[0]).0, Verdict::Unavailable);
	// One that has as many leaves has one of the other kind.
	let denied = WorkResult { diverged: false, segments: last + 1, ..t.result };
	assert_eq!(t.charged(denied, &[0]), Target::Segment(last));
	// A manifest that denies it has another root.
	let finite = t.commit(|manifest| manifest.diverged = None);
	assert_eq!(t.audit(&[0, last]), Verdict::Unavailable);
	let claimed = WorkResult { diverged: true, ..finite };
	assert_eq!(t.audit_of(claimed, &[0, last]).0, Verdict::Unavailable);
	let claimed = WorkResult { segments: last - 1, ..claimed };
	assert_eq!(t.charged(claimed, &[0]), Target::Segment(last - 1));
	// A run that is over has not diverged.
	let t = trained(None);
	let result =
		WorkResult { diverged: true, ..t.commit(|manifest| manifest.diverged = Some(NOWHERE)) };
	assert_eq!(t.charged(result, &[0]), Target::Segment(6));
	let t = trained_as(stopping, None);
	for (step, target) in [(20, Target::Segment(3)), (35, Target::Stop)] {
		let result = t.commit(|manifest| manifest.diverged = Some(Diverged { step, ..NOWHERE }));
		let result = WorkResult { diverged: true, ..result };
		assert_eq!(t.charged(result, &[0, 3]), target);
	}
}

/// Judges once. Returns the false results, and what is false in them.
fn judged(contest: &mut Contest) -> Vec<(usize, Target)> {
	let Judged::Found(found) = contest.judge(&AtomicBool::new(false)).unwrap() else {
		panic!("they part")
	};
	found.charged.into_iter().map(|(index, charge)| (index, charge.target)).collect()
}

/// A result that diverged and one that goes on part in the segment in which it did.
#[test]
fn one_that_diverged_and_one_that_goes_on_part() {
	let honest = diverged();
	let last = honest.result.segments;
	let copy = |of: &Trained, name: &str| {
		let to = of.out.parent().unwrap().join(name);
		std::fs::create_dir_all(to.join(bundle::CHECKPOINTS)).unwrap();
		for listed in &of.manifest().checkpoints {
			let file = checkpoint_file(listed.step);
			std::fs::copy(of.out.join(&file), to.join(&file)).unwrap();
		}
		to
	};
	// It makes up one more checkpoint.
	let forged = copy(&honest, "goes on");
	let mut manifest = honest.manifest();
	manifest.diverged = None;
	let more = *manifest.checkpoints.last().unwrap();
	let step = honest.spec.checkpoint_step(last + 1).unwrap();
	manifest.checkpoints.push(Checkpoint { step, ..more });
	std::fs::write(forged.join(manifest::FILE), manifest.to_bytes()).unwrap();
	let folders = [(0, forged), (1, honest.out.clone())];
	let mut contest = Contest::new(&honest.spec, SEED, honest.inputs.clone(), &folders).unwrap();
	assert_eq!(contest.parting(), Some(last));
	assert_eq!(judged(&mut contest), [(0, Target::Segment(last))]);
	assert_eq!((contest.rivals().count(), contest.parting()), (1, None));

	// The other way round: it claims to have diverged in segment 2.
	let honest = trained(None);
	let forged = copy(&honest, "diverged");
	let mut manifest = honest.manifest();
	manifest.checkpoints.truncate(3);
	manifest.diverged = Some(NOWHERE);
	std::fs::write(forged.join(manifest::FILE), manifest.to_bytes()).unwrap();
	let folders = [(0, honest.out.clone()), (1, forged)];
	let mut contest = Contest::new(&honest.spec, SEED, honest.inputs.clone(), &folders).unwrap();
	assert_eq!(contest.parting(), Some(2));
	assert_eq!(judged(&mut contest), [(1, Target::Segment(2))]);
}

/// A fault of a GPU or of memory looks like a divergence: it is replayed before anything is
/// committed to.
#[test]
fn a_divergence_is_checked_before_it_counts() {
	use self_check::{on_processor, Finding};
	let never = AtomicBool::new(false);
	let t = diverged();
	let drawn = [t.result.segments].into();
	let check = |t: &Trained, drawn| {
		let bundle = Bundle::open(&t.out).unwrap();
		on_processor(&bundle, (&t.spec, SEED), &t.inputs, drawn, &never).unwrap()
	};
	assert_eq!(check(&t, &drawn), Finding::Agrees);
	let t = trained(None);
	t.commit(|manifest| {
		manifest.checkpoints.truncate(3);
		manifest.diverged = Some(NOWHERE);
	});
	let found = check(&t, &[2].into());
	assert!(matches!(found, Finding::False { segment: 2, whole: 3, .. }), "{found:?}");
	// It goes on from there, to what it should have come to.
	crate::train::keep_until(&t.out, 3).unwrap();
	assert!(t.manifest().diverged.is_none() && t.manifest().checkpoints.len() == 3);
	let path = t.out.parent().unwrap().join("table.csv");
	let bundle = train(&t.spec, &path, &t.out, true, None).unwrap();
	assert_eq!(bundle.result().unwrap(), t.result);
}

/// Validation rows that overflow under some seeds, which a rehearsal under another one does not show:
/// not even the initial state has an evaluation.
#[test]
fn a_run_that_diverged_before_its_first_step_is_true() {
	let folder = tempfile::tempdir().unwrap();
	let path = table(folder.path());
	let text = std::fs::read_to_string(&path).unwrap();
	let mut rows = String::new();
	for (at, line) in text.lines().enumerate() {
		let validates = at.checked_sub(1).is_some_and(|row| row % 4 == 3);
		let label = line.rsplit_once(',').unwrap().1;
		rows += &match validates {
			true => format!("3e38,3e38,3e38,3e38,{label}\n"),
			false => format!("{line}\n"),
		};
	}
	std::fs::write(&path, rows).unwrap();
	let spec = undivided(&job(&path), &path);
	let out = folder.path().join("out");
	let error = train(&spec, &path, &out, false, None).unwrap_err();
	let TrainError::Diverged { step: 0, bundle: Some(bundle), .. } = &error else {
		panic!("{error}")
	};
	let result = bundle.result().unwrap();
	assert_eq!((result.segments, result.diverged), (0, true));
	let inputs = Inputs::load(&spec, &InputPaths::data(&path)).unwrap();
	let never = AtomicBool::new(false);
	let verdict = audit(&out, &spec, SEED, inputs.clone(), result, &[0], &never).unwrap().0;
	assert_eq!(accepted(&verdict)[0].ended, Ended::Diverged { step: 0 });
	let drawn = [0].into();
	let bundle = Bundle::open(&out).unwrap();
	let found = self_check::on_processor(&bundle, (&spec, SEED), &inputs, &drawn, &never);
	assert_eq!(found.unwrap(), self_check::Finding::Agrees);
	let full = full(&out, Choice::All, &GivenFiles::default()).unwrap();
	assert!(full.passed, "{:?}", full.report);
	// It is found again.
	let again = train(&spec, &path, &out, true, None).unwrap_err();
	assert_eq!(again.to_string(), error.to_string());

	// An initial state that has one.
	let t = trained(None);
	let lie = t.commit(|manifest| {
		manifest.checkpoints.truncate(1);
		let trace = seal(&merkle::root(&[]));
		manifest.checkpoints[0].validation = Evaluation::NONE;
		manifest.checkpoints[0].trace = trace;
		manifest.diverged = Some(Diverged { step: 0, trace });
	});
	let lie = WorkResult { diverged: true, ..lie };
	assert_eq!(t.charged(lie, &[0]), Target::Start);
}

/// Writes `text` over the inputs of every validation row of the table at `path`.
fn validate_on(path: &Path, text: &str) {
	let table = std::fs::read_to_string(path).unwrap();
	let mut rows = String::new();
	for (at, line) in table.lines().enumerate() {
		let validates = at.checked_sub(1).is_some_and(|row| row % 4 == 3);
		let label = line.rsplit_once(',').unwrap().1;
		rows += &match validates {
			true => format!("{text},{text},{text},{text},{label}\n"),
			false => format!("{line}\n"),
		};
	}
	std::fs::write(path, rows).unwrap();
}

/// Trains a job that diverges.
fn diverging(folder: tempfile::TempDir, path: &Path, spec: CheckedSpec) -> Trained {
	let out = folder.path().join("bundle");
	let error = train(&spec, path, &out, false, None).unwrap_err();
	let TrainError::Diverged { bundle: Some(bundle), .. } = error else { panic!("{error}") };
	let result = bundle.result().unwrap();
	let inputs = Inputs::load(&spec, &InputPaths::data(path)).unwrap();
	Trained { _folder: folder, out, spec, inputs, result, honest: None }
}

/// The first rate, doubled each time, at which validation rows that are a million times as large
/// overflow: training itself is finite then, and for long.
fn diverged_in_an_evaluation() -> Trained {
	for doubled in 0..16 {
		let folder = tempfile::tempdir().unwrap();
		let path = table(folder.path());
		validate_on(&path, "9e6");
		let spec = growing(&path, 10_000_000 << doubled);
		let out = folder.path().join("tried");
		if train(&spec, &path, &out, false, None).is_err() {
			return diverging(folder, &path, spec);
		}
	}
	panic!("no rate is too high");
}

/// Squares of huge gradients overflow in the average that Adam keeps; nothing else does.
fn diverged_in_a_state() -> Trained {
	let folder = tempfile::tempdir().unwrap();
	let path = table(folder.path());
	let text = std::fs::read_to_string(&path).unwrap();
	let mut rows = String::new();
	for (at, line) in text.lines().enumerate() {
		let (inputs, label) = line.rsplit_once(',').unwrap();
		rows += &match at {
			0 => format!("{line}\n"),
			_ => format!("{}e24,{label}\n", inputs.split(',').collect::<Vec<_>>().join("e24,")),
		};
	}
	std::fs::write(&path, rows).unwrap();
	let spec = undivided(&job(&path), &path);
	diverging(folder, &path, spec)
}

/// Validation rows that overflow from the beginning.
fn diverged_at_once() -> Trained {
	let folder = tempfile::tempdir().unwrap();
	let path = table(folder.path());
	validate_on(&path, "3e38");
	let spec = undivided(&job(&path), &path);
	diverging(folder, &path, spec)
}

/// Wherever training diverged, the last leaf says in which step, and by which trace: anything else is
/// found to be false.
#[test]
fn the_last_leaf_says_where_training_diverged_and_how_it_came_there() {
	let never = AtomicBool::new(false);
	for (t, place) in [
		(diverged(), "step"),
		(diverged_in_a_state(), "end"),
		(diverged_in_an_evaluation(), "end"),
		(diverged_at_once(), "beginning"),
	] {
		let (manifest, last) = (t.manifest(), t.result.segments);
		let claimed = manifest.diverged.unwrap();
		// By the primitives: the steps from the last checkpoint up to the one that is named.
		let engine = Engine::new(&t.spec, SEED, t.inputs.data.clone()).unwrap();
		let begin = t.spec.checkpoint_step(last).unwrap();
		let bundle = Bundle::open(&t.out).unwrap();
		let mut state = State::from_host(bundle.checkpoint(begin).unwrap()).unwrap();
		let leaves: Vec<H256> = (begin..claimed.step)
			.map(|step| {
				let made = engine.step(&mut state, step).unwrap();
				step_leaf(step, made.loss, &made.logits)
			})
			.collect();
		assert_eq!(claimed.trace, seal(&merkle::root(&leaves)), "{place}");
		match place {
			"step" => {
				assert!(claimed.step < begin + 10);
				let next = engine.step(&mut state, claimed.step);
				assert!(next.is_err() || !next.unwrap().loss.is_finite());
			}
			"end" => assert_eq!(claimed.step, begin + 10),
			_ => {
				assert_eq!((last, claimed.step), (0, 0));
				assert_eq!(manifest.checkpoints[0].validation, Evaluation::NONE);
				assert_eq!(manifest.checkpoints[0].trace, claimed.trace);
			}
		}
		let (verdict, report) = t.audit_of(t.result, &[last]);
		let [evidence] = accepted(&verdict) else { panic!("{report:?}") };
		assert_eq!(evidence.ended, Ended::Diverged { step: claimed.step });
		assert_eq!(seal(&evidence.trace_root), claimed.trace);
		assert!(report.segments.iter().all(|s| s.equal && s.evaluation_equal && s.trace_equal));
		assert!(full(&t.out, Choice::All, &GivenFiles::default()).unwrap().passed);

		let honest = t.out.parent().unwrap().join("honest");
		std::fs::create_dir_all(honest.join(bundle::CHECKPOINTS)).unwrap();
		for file in
			required_files_of(&t.spec, last, &[last]).iter().chain([&manifest::FILE.to_owned()])
		{
			std::fs::copy(t.out.join(file), honest.join(file)).unwrap();
		}
		for lie in [
			Diverged { step: claimed.step + 1, ..claimed },
			Diverged { trace: H256::repeat_byte(9), ..claimed },
		] {
			let forged = t.commit(|manifest| manifest.diverged = Some(lie));
			let forged = WorkResult { diverged: true, ..forged };
			let (verdict, _) = t.audit_of(forged, &[last]);
			let Verdict::False(charge) = verdict else { panic!("{place}: {verdict:?}") };
			assert_eq!(charge.target, Target::Segment(last), "{place}");
			match lie.step == begin + 11 {
				// There is no such step in the segment.
				true => assert_eq!(charge.claimed, Claimed::Other),
				false => assert_eq!(charge.claimed, Claimed::End(evidence.end())),
			}
			let folders = [(0, t.out.clone()), (1, honest.clone())];
			let mut contest = Contest::new(&t.spec, SEED, t.inputs.clone(), &folders).unwrap();
			assert_eq!(contest.parting(), Some(last));
			if place != "beginning" {
				assert_eq!(judged(&mut contest), [(0, Target::Segment(last))]);
			}
			let (bundle, drawn) = (Bundle::open(&t.out).unwrap(), [last].into());
			let job = (&t.spec, SEED);
			let found = self_check::on_processor(&bundle, job, &t.inputs, &drawn, &never).unwrap();
			assert!(matches!(found, self_check::Finding::False { .. }), "{found:?}");
		}
	}
}
