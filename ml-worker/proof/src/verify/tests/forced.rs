//! Leaves that are forced to be false: what others are shown, and what a replay says of them.

use super::*;
use crate::bundle::{shown_file, SHOWN_FILE};
use trainyard_protocol::forced;

const SECRET: forced::Secret = [7; 32];

/// What a trainer shows of its run, in a folder of its own, and the indices of the leaves that it forced.
fn shown(t: &Trained) -> (tempfile::TempDir, WorkResult, Vec<u32>) {
	let bundle = Bundle::open(&t.out).unwrap();
	bundle.force(&SECRET).unwrap();
	let result = bundle.result().unwrap();
	let folder = tempfile::tempdir().unwrap();
	std::fs::create_dir(folder.path().join("checkpoints")).unwrap();
	for file in required_files(bundle.manifest(), &[0, 1, 2, 3, 4, 5]) {
		std::fs::copy(t.out.join(&file), folder.path().join(&file)).unwrap();
	}
	let listed = shown_file(&t.out, manifest::FILE);
	assert_eq!(listed, t.out.join(SHOWN_FILE));
	std::fs::copy(listed, folder.path().join(manifest::FILE)).unwrap();
	(folder, result, forced::indices(&SEED, &SECRET, result.segments))
}

#[test]
fn what_is_forced_is_opened_and_the_rest_is_as_it_was() {
	let t = trained(None);
	let (folder, result, indices) = shown(&t);
	assert_eq!(result, WorkResult { bundle_root: result.bundle_root, ..t.result });
	assert_ne!(result.bundle_root, result.true_root);
	let bundle = Bundle::open(&t.out).unwrap();
	assert_eq!(bundle.root(), result.true_root, "its own manifest has the true traces");
	let opening = bundle.opening(&SECRET).unwrap();
	let opened = opening.check(&SEED, &SECRET, &result).unwrap();
	assert_eq!(opened.iter().map(|forced| forced.index).collect::<Vec<_>>(), indices);
	// Killed between or called again, it shows the same.
	std::fs::remove_file(t.out.join(SHOWN_FILE)).unwrap();
	assert_eq!(bundle.result().unwrap(), t.result);
	bundle.force(&SECRET).unwrap();
	bundle.force(&SECRET).unwrap();
	assert_eq!(bundle.result().unwrap(), result);
	assert_eq!(Bundle::open(folder.path()).unwrap().root(), result.bundle_root);
}

/// A replay of a forced segment is no charge: what it says of the trace is revealed as what differs.
#[test]
fn a_forced_leaf_is_no_false_segment() {
	let t = trained(None);
	let (folder, result, indices) = shown(&t);
	let never = AtomicBool::new(false);
	let all: Vec<u32> = (0..result.segments).collect();
	let (verdict, report) =
		audit(folder.path(), &t.spec, SEED, t.inputs.clone(), result, &all, &never).unwrap();
	let Verdict::Replayed(evidence) = verdict else { panic!("{report:?}") };
	let revealed = revealed(folder.path(), &evidence).unwrap().unwrap();
	for (evidence, path) in revealed {
		assert!(evidence.agrees(&result, &path), "segment {}", evidence.segment);
		let is_forced = indices.contains(&(evidence.segment + 1));
		assert_eq!(evidence.differs.is_some(), is_forced);
		let own = t.manifest().checkpoints[evidence.segment as usize + 1];
		assert_eq!(evidence.trace(), own.trace);
	}
	// Where both roots are the same, nothing is forced, and another trace is false.
	let none = WorkResult { true_root: result.bundle_root, ..result };
	let (verdict, _) =
		audit(folder.path(), &t.spec, SEED, t.inputs.clone(), none, &all, &never).unwrap();
	let Verdict::False(charge) = verdict else { panic!("{verdict:?}") };
	assert_eq!(charge.target, Target::Segment(indices[0] - 1));
	// Another state there is false whatever is forced.
	let state = t.forge(indices[0] as usize, |state| {
		state.values_mut().next().unwrap().data[0] += 0.001;
	});
	let forged = Bundle::open(&t.out).unwrap();
	forged.force(&SECRET).unwrap();
	let forged = WorkResult { model_root: state.model_root, ..forged.result().unwrap() };
	std::fs::copy(t.out.join(SHOWN_FILE), t.out.join(manifest::FILE)).unwrap();
	assert!(matches!(t.audit_of(forged, &[indices[0] - 1]).0, Verdict::False(_)));
}

/// Whoever is handed the bundle sees which leaves are forced, and that those here are the true ones.
#[test]
fn a_bundle_that_is_handed_out_says_what_is_forced() {
	let t = trained(None);
	let (_folder, result, indices) = shown(&t);
	let found = full(&t.out, Choice::All, &GivenFiles::default()).unwrap();
	assert!(found.passed, "{}", found.report.summary);
	let said = |found: &Full| {
		let check = found.report.checks.iter().find(|check| check.name == "forced errors").unwrap();
		(check.status, check.detail.clone())
	};
	let (status, detail) = said(&found);
	assert_eq!(status, Status::Pass);
	assert!(detail.contains(&format!("{indices:?}")), "{detail}");
	assert!(detail.contains(&format!("{:?}", result.bundle_root)), "{detail}");
	let bundle = Bundle::open(&t.out).unwrap();
	let good = bundle.shown().unwrap().unwrap();
	let changes: [fn(&mut Manifest); 4] = [
		|shown| shown.checkpoints[0].trace.0[0] ^= 1,
		|shown| shown.checkpoints[2].state_hash.0[0] ^= 1,
		|shown| shown.seed.0[0] ^= 1,
		|shown| shown.checkpoints.truncate(3),
	];
	for change in changes {
		let mut shown = good.clone();
		change(&mut shown);
		shown.bundle_root = shown.computed_root();
		std::fs::write(t.out.join(SHOWN_FILE), shown.to_bytes()).unwrap();
		let found = full(&t.out, Choice::Random(0), &GivenFiles::default()).unwrap();
		assert_eq!((found.passed, said(&found).0), (false, Status::Fail));
	}
}
