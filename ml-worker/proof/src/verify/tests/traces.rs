//! Traces: what a bundle lists is what the primitives define, and a false one is a false segment.

use super::*;
use trainyard_protocol::trace::{evaluation_leaf, slices_root};

#[test]
fn the_trace_is_that_of_the_primitives() {
	let t = trained(None);
	let Verdict::Replayed(evidence) = t.audit(&[1]) else { panic!() };
	let engine = Engine::new(&t.spec, SEED, t.inputs.data.clone()).unwrap();
	let bundle = Bundle::open(&t.out).unwrap();
	let begin = bundle.checkpoint(10).unwrap();
	let mut state = State::from_host(begin).unwrap();
	let evaluated = |state: &State, step| {
		let found = engine.evaluate_slices(state).unwrap();
		assert_eq!((found.slices.len(), found.evaluation), (1, engine.evaluate(state).unwrap()));
		evaluation_leaf(step, &found.evaluation, &slices_root(&found.slices))
	};
	let mut leaves: Vec<H256> = (10..20)
		.map(|step| {
			let trace = engine.step(&mut state, step).unwrap();
			step_leaf(step, trace.loss, &trace.logits)
		})
		.collect();
	leaves.push(evaluated(&state, 20));
	let root = merkle::root(&leaves);
	assert_eq!(evidence[0].trace_root, root);
	let end = manifest::Manifest::parse(&std::fs::read(t.out.join(manifest::FILE)).unwrap());
	assert_eq!(evidence[0].end(), End::of(&end.unwrap().checkpoints[2].bound()));
	assert_eq!(state.hash().unwrap(), t.manifest().checkpoints[2].state_hash);
	// The manifest lists it sealed, and nobody can copy the root from there.
	let manifest = t.manifest();
	assert_eq!(manifest.checkpoints[2].trace, seal(&root));
	let text = String::from_utf8(manifest.to_bytes()).unwrap();
	assert!(text.contains(&format!("{:?}", seal(&root))) && !text.contains(&format!("{root:?}")));
	// Of the first checkpoint it is the evaluation alone.
	let initial = Engine::initial_state(&t.spec, &SEED, None).unwrap();
	let alone = merkle::root(&[evaluated(&initial, 0)]);
	assert_eq!(manifest.checkpoints[0].trace, seal(&alone));
}

/// Whoever reaches a true state by other steps, or gives no account of them, has a false segment.
#[test]
fn a_false_trace_is_a_false_segment() {
	for checkpoint in 1..=6u32 {
		let t = trained(None);
		let forged = t.commit(|manifest| {
			manifest.checkpoints[checkpoint as usize].trace.0[31] ^= 1;
		});
		for segment in 0..6 {
			let (verdict, report) = t.audit_of(forged, &[segment]);
			let replayed = report.segments[0];
			assert!(replayed.equal && replayed.evaluation_equal);
			assert_eq!(replayed.trace_equal, segment + 1 != checkpoint);
			match replayed.trace_equal {
				true => assert!(matches!(verdict, Verdict::Replayed(_)), "not drawn"),
				false => {
					let found = (verdict, report.clone());
					assert_eq!(charged(&t, found, forged), Target::Segment(segment));
					assert_eq!(replayed.evidence.segment, segment);
					let last = report.checks.last().unwrap();
					assert!(last.detail.contains("its trace is another one"), "{last:?}");
				}
			}
		}
		assert_eq!(t.audit(&[0]), Verdict::Unavailable, "it is not what was revealed");
	}
	// The first checkpoint is evaluated in any case, and its trace with it.
	let t = trained(None);
	let forged = t.commit(|manifest| manifest.checkpoints[0].trace.0[0] ^= 1);
	for drawn in [&[0][..], &[5], &[]] {
		assert_eq!(t.charged(forged, drawn), Target::Start);
	}
	// Whoever has the bundle alone sees it as well.
	let t = trained(None);
	t.commit(|manifest| {
		manifest.checkpoints[4].trace.0[0] ^= 1;
		manifest.bundle_root = manifest.computed_root();
	});
	let found = full(&t.out, Choice::All, &GivenFiles::default()).unwrap();
	assert!(!found.passed && found.report.summary.contains("segment 3"), "{:?}", found.report);
	// So does who checks a run of its own.
	let bundle = Bundle::open(&t.out).unwrap();
	let (job, drawn) = ((&t.spec, SEED), [3].into());
	let never = AtomicBool::new(false);
	let found = self_check::on_processor(&bundle, job, &t.inputs, &drawn, &never).unwrap();
	let self_check::Finding::False { segment: 3, whole: 4, what } = found else {
		panic!("{found:?}")
	};
	assert!(what.starts_with("the trace of segment 3 "), "{what}");
}
