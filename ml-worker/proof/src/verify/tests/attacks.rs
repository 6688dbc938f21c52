//! Made-up start states: one false checkpoint, from which all later segments are truly trained, and
//! states that no gradient makes.

use super::*;
use crate::testing;
use trainyard_program::spec::{Activation, DataFormat, Dataset, JobSpec, Model};

/// The digits in ten segments of 30 steps, as a job that earns power.
fn digits(activation: Activation) -> (PathBuf, CheckedSpec) {
	let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data/digits.csv");
	let found = crate::data::inspect(&path, None, DataFormat::CsvLabelLast, 5, 16).unwrap();
	let mut spec = JobSpec::noisy_example();
	spec.dataset = Dataset { content_hash: found.content_hash, bytes: found.bytes, ..spec.dataset };
	let Model::Mlp { hidden, .. } = spec.model else { panic!() };
	spec.model = Model::Mlp { hidden, activation };
	(spec.training.steps, spec.training.checkpoint_interval) = (300, 30);
	spec.training.learning_rate_nano = 8_000_000;
	assert!(spec.mints_power());
	let spec = testing::on_rows_of(spec, &path);
	(path, spec)
}

/// The checkpoint that is made up.
const JUMP: usize = 3;

/// Trains honestly, replaces checkpoint [`JUMP`] by what `change` makes of it and of checkpoint 0,
/// and trains truly on from there. First moments are zero, second ones those of the checkpoint
/// before.
fn jumped(activation: Activation, change: impl Fn(&mut TensorMap, &TensorMap)) -> Trained {
	let (path, spec) = digits(activation);
	let folder = tempfile::tempdir().unwrap();
	let out = folder.path().join("bundle");
	let mut result = testing::train(&spec, &path, &out, false, None).unwrap().result().unwrap();
	let inputs = Inputs::load(&spec, &InputPaths::data(path)).unwrap();
	let bundle = Bundle::open(&out).unwrap();
	let listed = &bundle.manifest().checkpoints;
	let before = bundle.checkpoint(listed[JUMP - 1].step).unwrap();
	let initial = bundle.checkpoint(0).unwrap();
	let (jumped, last) = testing::jump(&spec, &inputs, &out, JUMP, |state| {
		for (name, tensor) in &mut *state {
			if name.starts_with("optimizer.m.") {
				tensor.data.fill(0.0);
			} else if name.starts_with("optimizer.v.") {
				tensor.data.clone_from(&before[name].data);
			}
		}
		change(state, &initial);
	});
	result.bundle_root = jumped.root();
	result.model_root = Chunked::new(&bundle::model_bytes(&last)).root;
	let honest = Some(bundle.manifest().clone());
	Trained { _folder: folder, out, spec, inputs, result, honest }
}

/// All weights of the first layer, and its biases, are that much below the initial ones.
fn fall(by: f32) -> impl Fn(&mut TensorMap, &TensorMap) {
	move |state, initial| {
		for name in ["layers.0.weight", "layers.0.bias"] {
			let fallen = initial[name].data.iter().map(|x| x - by).collect();
			state.get_mut(name).unwrap().data = fallen;
		}
	}
}

/// Every segment after the jump replays as true, and yet each draw of one finds the jump.
#[track_caller]
fn is_found_at_every_draw(t: &Trained) {
	let engine = Engine::new(&t.spec, SEED, t.inputs.data.clone()).unwrap();
	let bundle = Bundle::open(&t.out).unwrap();
	let never = AtomicBool::new(false);
	let listed = &bundle.manifest().checkpoints;
	for segment in 0..10u32 {
		let (from, to) = (listed[segment as usize], listed[segment as usize + 1]);
		let begin = bundle.checkpoint(from.step).unwrap();
		let replayed = replay::segment(&engine, &t.spec, segment, &begin, &never).unwrap();
		let honest = segment + 1 != JUMP as u32;
		assert_eq!(replayed.end() == End::of(&to.bound()), honest, "segment {segment}");
		let verdict = t.audit(&[segment]);
		let before = segment + 1 < JUMP as u32;
		match &verdict {
			Verdict::Replayed(_) => assert!(before, "segment {segment} was not trained"),
			// Where a state before the jump is read beside one after it, it may be too far.
			Verdict::False(charge) => {
				assert_eq!(charge.target, Target::Segment(JUMP as u32 - 1), "drawn: {segment}");
			}
			other => panic!("drawn: {segment}: {other:?}"),
		}
	}
	// Beside segments that were trained before the jump as well.
	assert_eq!(t.charged(t.result, &[0, 1, 9]), Target::Segment(JUMP as u32 - 1));
}

/// The attack of the review: a layer of ReLU that never fires any more.
#[test]
fn a_jump_to_a_dead_network_is_found_at_every_draw() {
	is_found_at_every_draw(&jumped(Activation::Relu, fall(0.2)));
}

/// The first layer is at -1 in every bit for every row: nothing before it gets a gradient.
#[test]
fn a_jump_to_a_saturated_network_is_found_at_every_draw() {
	is_found_at_every_draw(&jumped(Activation::Tanh, fall(0.95)));
}

/// All units of the first layer are equal, with equal weights out of them and equal moments: one is
/// computed for all, and they stay equal.
#[test]
fn a_jump_to_equal_units_is_found_at_every_draw() {
	is_found_at_every_draw(&jumped(Activation::Relu, |state, _| {
		for (name, tensor) in state {
			// Clipping bounds the sum of the second moments: the mean of those that become one.
			let one = |of: &mut dyn Iterator<Item = f32>| match name.starts_with("optimizer.v.") {
				true => of.sum::<f32>() / 64.0,
				false => of.next().unwrap(),
			};
			if name.contains("layers.0.") {
				let (units, len) = (64, tensor.data.len() / 64);
				let of = |at: usize| tensor.data[at..].iter().step_by(len).copied();
				let row: Vec<f32> = (0..len).map(|at| one(&mut of(at))).collect();
				tensor.data = row.repeat(units);
			} else if name.contains("layers.1.weight") {
				for row in tensor.data.chunks_mut(64) {
					row.fill(one(&mut row.to_vec().into_iter()));
				}
			}
		}
	}));
}

#[test]
fn a_jump_out_of_reach_is_rejected_by_itself() {
	let t = jumped(Activation::Relu, fall(1e4));
	let jump = Target::Segment(JUMP as u32 - 1);
	assert_eq!(t.charged(t.result, &[0]), jump, "the last state is always read");
}

/// The same table, with steps so large that the network dies by itself.
fn dying(path: &Path) -> CheckedSpec {
	changed(&job(path), |spec| spec.training.learning_rate_nano = 1_000_000_000)
}

fn idle_since(verdict: &Verdict) -> Vec<Option<u32>> {
	match verdict {
		Verdict::Replayed(evidence) => evidence.iter().map(|e| e.idle_since).collect(),
		other => panic!("an honest run is true: {other:?}"),
	}
}

/// Nobody is convicted for a network that died.
#[test]
fn an_honest_network_that_died_is_accepted_as_idle() {
	let t = trained_as(dying, None);
	let all = [0, 1, 2, 3, 4, 5];
	let (verdict, report) = t.audit_of(t.result, &all);
	let found = idle_since(&verdict);
	let began = found.iter().position(Option::is_some).expect("it died") as u32;
	assert!(began < 5, "{found:?}");
	let summary = format!("stands still from segment {began} on");
	assert!(report.summary.contains(&summary), "{}", report.summary);
	// Whichever segment is drawn: the search finds the same beginning.
	for segment in began..6 {
		assert_eq!(idle_since(&t.audit(&[segment])), [Some(began)], "{segment}");
	}
	assert_eq!(idle_since(&t.audit(&[began, 5])), [Some(began), Some(5)]);
	let full = full(&t.out, Choice::All, &GivenFiles::default()).unwrap();
	assert!(full.passed && full.report.summary.contains("stands still"), "{:?}", full.report);
	let plain = trained(None);
	assert_eq!(idle_since(&plain.audit(&all)), [None; 6]);
}

/// The search reads checkpoints that were not asked for before: they are fetched one by one, and a
/// rescue holds them.
#[test]
fn where_a_standstill_began_is_read_from_what_is_fetched() {
	let t = trained_as(dying, None);
	let partial = tempfile::tempdir().unwrap();
	std::fs::create_dir(partial.path().join(bundle::CHECKPOINTS)).unwrap();
	let copy = |file: &str| {
		std::fs::copy(t.out.join(file), partial.path().join(file)).unwrap();
	};
	required_files(&t.manifest(), &[5]).iter().for_each(|file| copy(file));
	copy(manifest::FILE);
	let never = AtomicBool::new(false);
	let audit = |fetch: &(dyn Fn(&str) + Sync)| {
		let aids = Aids { replays: &NoReplays, fetch };
		let (job, inputs) = ((&t.spec, SEED), t.inputs.clone());
		audit_with(partial.path(), job, inputs, t.result, &[5], &never, aids).unwrap().0
	};
	assert_eq!(audit(&|_| ()), Verdict::Unavailable, "nobody brings them");
	let fetched = Mutex::new(Vec::new());
	let verdict = audit(&|file| {
		copy(file);
		fetched.lock().unwrap().push(file.to_owned());
	});
	assert_eq!(verdict, t.audit(&[5]));
	let fetched = fetched.into_inner().unwrap();
	let most = trainyard_protocol::blob::searched_states(6) as usize;
	assert!(!fetched.is_empty() && fetched.len() <= most, "{fetched:?}");

	let files = files_read(&t.out, &t.spec, 6, &[5]).unwrap();
	assert!(fetched.iter().all(|file| files.contains(file)), "{files:?}");
	let to = copied(&t.out, &files);
	let (inputs, drawn) = (t.inputs.clone(), &[5]);
	let rescued =
		super::audit(to.path(), &t.spec, SEED, inputs, t.result, drawn, &never).unwrap().0;
	assert_eq!(rescued, verdict);
	// Of a run that does not stand still nothing more is read.
	let plain = trained(None);
	let files = files_read(&plain.out, &plain.spec, 6, &[5]).unwrap();
	assert_eq!(files.len(), required_files(&plain.manifest(), &[5]).len() + 2);
}

/// States that no gradient makes, under a consistent root.
#[test]
fn a_state_that_no_honest_run_has_is_rejected() {
	type Change = fn(&mut TensorMap);
	let changes: [(&str, Change); 6] = [
		("infinite", |s| s.get_mut("layers.0.bias").unwrap().data[0] = f32::INFINITY),
		("power of another step", |s| {
			s.get_mut("optimizer.beta1_power").unwrap().data[0] *= 0.9;
		}),
		("negative second moment", |s| {
			s.get_mut("optimizer.v.layers.0.bias").unwrap().data[0] = -1e-9;
		}),
		// Moments so large that 169 steps are the same in every bit without a gradient.
		("huge moments", |s| {
			for (name, tensor) in s {
				match name {
					_ if name.starts_with("optimizer.m.") => tensor.data.fill(1e15),
					_ if name.starts_with("optimizer.v.") => tensor.data.fill(1e38),
					_ => (),
				}
			}
		}),
		("moment without its second", |s| {
			s.get_mut("optimizer.m.layers.0.bias").unwrap().data[0] = 0.5;
			s.get_mut("optimizer.v.layers.0.bias").unwrap().data[0] = 0.0;
		}),
		("far away", |s| s.get_mut("layers.1.weight").unwrap().data[0] = 1e3),
	];
	let clipped =
		|path: &Path| changed(&job(path), |spec| spec.training.clip_norm_nano = 1_000_000_000);
	for (what, change) in changes {
		let t = trained_as(clipped, None);
		let forged = t.forge(2, change);
		for drawn in [1, 2] {
			assert_eq!(t.charged(forged, &[drawn]), Target::Segment(1), "{what}");
		}
		let other = t.audit_of(forged, &[4]).0;
		assert!(matches!(other, Verdict::Replayed(_)), "{what}: not drawn");
		let full = full(&t.out, Choice::Random(0), &GivenFiles::default()).unwrap();
		assert!(!full.passed, "{what}: the full pass reads every state");
	}
}

/// The states between an honest one and one that no honest run has are fetched one by one, where the
/// segment is looked for that is false.
#[test]
fn the_segment_before_a_false_state_is_looked_for() {
	let t = jumped(Activation::Relu, fall(1e4));
	let partial = tempfile::tempdir().unwrap();
	std::fs::create_dir(partial.path().join(bundle::CHECKPOINTS)).unwrap();
	let copy = |file: &str| {
		std::fs::copy(t.out.join(file), partial.path().join(file)).unwrap();
	};
	required_files(&t.manifest(), &[8]).iter().for_each(|file| copy(file));
	copy(manifest::FILE);
	let never = AtomicBool::new(false);
	let audit = |fetch: &(dyn Fn(&str) + Sync)| {
		let aids = Aids { replays: &NoReplays, fetch };
		let (job, inputs) = ((&t.spec, SEED), t.inputs.clone());
		audit_with(partial.path(), job, inputs, t.result, &[8], &never, aids).unwrap()
	};
	assert_eq!(audit(&|_| ()).0, Verdict::Unavailable, "nobody brings them");
	let fetched = Mutex::new(Vec::new());
	let found = audit(&|file| {
		copy(file);
		fetched.lock().unwrap().push(file.to_owned());
	});
	assert_eq!(charged(&t, found, t.result), Target::Segment(JUMP as u32 - 1));
	let fetched = fetched.into_inner().unwrap();
	assert!((1..=4).contains(&fetched.len()), "of ten: {fetched:?}");
}

/// States that are honest by themselves, but too far from each other for the steps between them.
#[test]
fn a_leap_between_two_states_is_rejected_whatever_lies_between() {
	let t = trained(None);
	assert!(matches!(t.audit(&[3]), Verdict::Replayed(_)));
	// Steps 40 to 60 move a parameter by less than 20 x 0.01 x 7.27.
	let forged = t.forge(6, |state| {
		state.get_mut("layers.0.bias").unwrap().data[0] += 1.0;
	});
	assert_eq!(t.charged(forged, &[3]), Target::Segment(5));
}
