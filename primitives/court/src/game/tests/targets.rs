use super::*;
use crate::referee::{proving::Holder, Computation, Lowered};
use run::Change::{self, *};
use trainyard_program::ops::Role;
use trainyard_protocol::bundle::{Diverged as D, Evaluation};

/// Returns an element of a result of a step or slice, bent.
fn element(run: &Run, at: Moment, result: u32, element: u64) -> Change {
	let bits = run::other(run.computed_at(&at).bits(result, element));
	Element { at, result, element, bits }
}

#[test]
fn every_target_is_decided_for_who_is_right() {
	let job = jobs::small();
	let honest = Run::new(&job, Nothing);
	let changes = [
		("initial weight", Initial { tensor: 0, element: 7 }),
		("initial moment", Initial { tensor: 4, element: 0 }),
		("rows", Rows { labels: false }),
		("labels", Rows { labels: true }),
		("validation rows", ValidationRows),
		("loss of a leaf", Loss { step: 3 }),
		("logits of a leaf", Logits { step: 2 }),
		("state after a step", Bent { step: 3 }),
		("state after the last step", Bent { step: 5 }),
		("loss of a label", Slice { checkpoint: 2, slice: 0 }),
		("loss of an evaluation", Mean { checkpoint: 1 }),
		("loss of the first evaluation", Mean { checkpoint: 0 }),
		("correct labels", Correct { checkpoint: 3 }),
		("header of the model", Model { word: 20 }),
		("end of the model", Model { word: honest.model_bytes.len() / 4 - 1 }),
	];
	for (name, change) in changes {
		let changed = Run::new(&job, change);
		let (target, played) = decide(name, &job, &honest, &changed);
		let expected = match change {
			Initial { .. } | ValidationRows | Mean { checkpoint: 0 } => Target::Start,
			Rows { .. } | Mean { .. } => Target::Segment(0),
			Loss { .. } | Logits { .. } | Bent { step: 3 } | Slice { .. } => Target::Segment(1),
			Bent { .. } | Correct { .. } => Target::Segment(2),
			_ => Target::Model,
		};
		assert_eq!(target, expected, "{name}");
		assert_eq!(played.judged(), Outcome::Convicted);
		let piece = played.piece.unwrap();
		let right = match change {
			Initial { .. } => matches!(piece, Piece::Initial { .. }),
			Rows { .. } | ValidationRows => matches!(piece, Piece::Stretch { .. }),
			Loss { .. } | Logits { .. } | Bent { .. } => matches!(piece, Piece::StepJoin { .. }),
			Slice { .. } => matches!(piece, Piece::SliceJoin { .. }),
			Mean { .. } | Correct { .. } => matches!(piece, Piece::Mean { .. }),
			_ => matches!(piece, Piece::Model { .. }),
		};
		assert!(right, "{name}: {piece:?}");
	}
}

#[test]
fn a_fine_tuning_begins_with_its_model() {
	let job = jobs::tuned();
	let honest = Run::new(&job, Nothing);
	for (tensor, piece) in [(0, 9), (2, 3), (5, 1)] {
		let changed = Run::new(&job, Initial { tensor, element: piece });
		let (target, played) = decide("tuned", &job, &honest, &changed);
		assert_eq!(target, Target::Start);
		assert!(matches!(played.piece, Some(Piece::Initial { .. })));
	}
	decide("tuned, step", &job, &honest, &Run::new(&job, Bent { step: 1 }));
}

/// The same with two levels of everything that has levels.
#[test]
fn long_ranges_are_narrowed_twice() {
	let job = jobs::steps();
	let honest = Run::new(&job, Nothing);
	for step in [0, 1, 33, 63, 64, 69] {
		let at = Moment::Step { segment: 0, step };
		let changed = Run::new(&job, element(&honest, at, 3, 2));
		let (_, played) = decide("one of 70 steps", &job, &honest, &changed);
		let Some(Piece::Stretch { at: found, .. }) = played.piece else { panic!("{played:?}") };
		assert_eq!(found, at);
	}

	let job = jobs::slices();
	let honest = Run::new(&job, Nothing);
	for slice in 0..3 {
		let at = Moment::Slice { checkpoint: 1, slice };
		let changed = Run::new(&job, element(&honest, at, 1, 50));
		let (target, played) = decide("one of 3 slices", &job, &honest, &changed);
		assert_eq!(target, Target::Segment(0));
		let Some(Piece::Stretch { at: found, .. }) = played.piece else { panic!("{played:?}") };
		assert_eq!(found, at);
		let changed = Run::new(&job, Slice { checkpoint: 1, slice });
		let (_, played) = decide("leaf of a slice", &job, &honest, &changed);
		assert!(matches!(played.piece, Some(Piece::SliceJoin { .. })));
	}

	let job = jobs::means();
	let honest = Run::new(&job, Nothing);
	let (_, played) = decide("mean", &job, &honest, &Run::new(&job, Mean { checkpoint: 1 }));
	let Some(Piece::Mean { stretch, .. }) = played.piece else { panic!("{played:?}") };
	assert_eq!(stretch.from.map(|(taken, _)| taken), Some(26), "{stretch:?}");
}

#[test]
fn chains_and_contents_are_narrowed() {
	let job = jobs::broad();
	let honest = Run::new(&job, Nothing);
	let at = Moment::Step { segment: 0, step: 0 };
	let lowered = Lowered::new(&job.world.case, at.computation().unwrap()).unwrap();
	let (mut chains, mut contents) = (0, 0);
	for (result, part) in (0..).zip(lowered.parts()) {
		let unit = lowered.stretch(result).unwrap();
		let stretches = lowered.terms(result, 0).unwrap().div_ceil(unit);
		// One content and two chains are enough.
		let is_long = stretches > 1 && chains < 2;
		if !is_long && (part.len < 16_384 || contents > 0) {
			continue;
		}
		let changed = Run::new(&job, element(&honest, at, result, part.len / 2));
		if Table::new(&job, &changed, &honest).accusation().is_none() {
			continue;
		}
		let (_, played) = decide(&format!("{:?}", part.part), &job, &honest, &changed);
		let Some(Piece::Stretch { stretch, .. }) = played.piece else { panic!("{played:?}") };
		assert_eq!((stretch.result, stretch.element), (result, part.len / 2));
		chains += u32::from(stretches > 1);
		contents += u32::from(part.len > 16_384);
		// The chain itself is right, so what is denied is the element behind it.
		let behind = stretch.from.map(|(taken, _)| taken);
		assert_eq!(behind, (stretches > 1).then(|| lowered.terms(result, 0).unwrap()));
	}
	assert!(chains > 0 && contents > 0, "{chains} {contents}");
}

/// Digests between the ends of chains and of means: whichever is bent is found, and whichever is right
/// and denied is acquitted.
#[test]
fn digests_on_the_way_are_decided() {
	for (name, job) in [("chain", jobs::broad()), ("mean", jobs::means())] {
		let (case, honest) = (&job.world.case, Run::new(&job, Nothing));
		let change = match name {
			"chain" => {
				let at = Moment::Step { segment: 0, step: 0 };
				let lowered = Lowered::new(case, at.computation().unwrap()).unwrap();
				let is_long = |result: &u32| {
					lowered.terms(*result, 0).unwrap() > lowered.stretch(*result).unwrap()
				};
				let result = (0..lowered.results()).find(is_long).unwrap();
				element(&honest, at, result, 1)
			}
			_ => Mean { checkpoint: 1 },
		};
		let changed = Run::new(&job, change);
		// Come to where the chain, or the mean, is to be posted.
		let result = changed.result();
		let mut store = Store::default();
		let table = Table::new(&job, &changed, &honest);
		let mut found = None;
		let mut before = Store::default();
		table.play(Target::Segment(0), &mut store, &mut |game, stage| {
			if found.is_none() && matches!(stage.level, Level::Chain { .. } | Level::Mean { .. }) {
				(found, before) = (Some(*stage), game.said.clone());
			}
		});
		let stage = found.unwrap();
		assert_eq!(stage.turn, Turn::Defender);
		let place = stage.place().unwrap();
		let player = Player { case, record: &honest };
		let right = {
			let game = Game { case, result: &result, said: &before };
			player.post(game, &stage).unwrap()
		};
		assert!(right.len() >= 2, "{name}");
		for bent in 0..right.len() {
			for is_bent in [true, false] {
				let mut roots = right.clone();
				if is_bent {
					roots[bent].0[5] ^= 4;
				}
				let mut store = before.clone();
				let game = Game { case, result: &result, said: &store };
				let moved = game.post(&stage, &place, &roots).unwrap();
				let Next::Stage(posted) = moved.next else { panic!("{moved:?}") };
				store.keep(moved.said);
				let game = Game { case, result: &result, said: &store };
				let denial = player.deny(game, &posted).unwrap();
				let at = match is_bent {
					true => bent as u32,
					// The last claim is false: what stands behind the digests.
					false => right.len() as u32,
				};
				assert_eq!(denial, Denial::Deny(at), "{name}");
				let moved = game.deny(&posted, &place, bent as u32).unwrap();
				let Next::Stage(judged) = moved.next else { panic!("{moved:?}") };
				assert_eq!(judged.turn, Turn::Piece);
				let openings = player.openings(&judged).unwrap();
				let (ended, _) = game.judge(&judged, &openings).unwrap();
				let outcome = if is_bent { Outcome::Convicted } else { Outcome::Acquitted };
				assert_eq!(ended, Moved::ended(outcome), "{name} {bent}");
			}
		}
	}
}

#[test]
fn a_result_ends_where_its_rule_says() {
	for (job, last) in [(jobs::stops_soon(), 2), (jobs::stops(), 140)] {
		let honest = Run::new(&job, Nothing);
		assert_eq!(honest.result().segments, last);
		let mut changes = vec![GoesOn];
		changes.extend((1..last).filter(|at| at % 40 < 2).map(|segments| Ends { segments }));
		for change in changes {
			let changed = Run::new(&job, change);
			let (target, played) = decide(&format!("{change:?}"), &job, &honest, &changed);
			assert_eq!(target, Target::Stop);
			// One that goes on has a place where it should have stopped: it is found or not posted.
			assert_eq!(played.judged(), Outcome::Convicted);
		}
	}
}

/// What is not finite, and where.
fn diverging() -> Vec<(&'static str, Job)> {
	vec![
		("loss", jobs::diverges_in_a_loss()),
		("state", jobs::diverges_in_a_state()),
		("end", jobs::diverges_at_an_end()),
		("evaluation", jobs::diverges_in_an_evaluation()),
		("initial", jobs::diverges_before_it_begins()),
	]
}

#[test]
fn training_ends_where_it_diverges() {
	for (name, job) in diverging() {
		let honest = Run::new(&job, Nothing);
		let result = honest.result();
		assert!(result.diverged, "{name}");
		let found = honest.divergence(0);
		println!("{name}: {found:?}, {:?}", honest.diverged);
		let kind = match (name, found) {
			("loss", Some((step, Witness::Result { .. }))) => step % 4 > 0,
			// A segment that diverges in its first step has no milestone.
			("state", Some((step, Witness::Result { .. }))) => step % 4 == 0,
			("end", Some((_, Witness::State { .. }))) => true,
			("evaluation", Some((2, Witness::Evaluation { .. }))) => true,
			("initial", None) => result.segments == 0,
			_ => false,
		};
		assert!(kind, "{name}: {found:?}");
		// It goes on.
		let changed = Run::new(&job, Diverges);
		let (target, played) = decide(&format!("past a {name}"), &job, &honest, &changed);
		let Some(piece) = played.piece else { panic!("{played:?}") };
		let right = match name {
			"loss" | "state" => matches!(piece, Piece::NotFinite { by_defender: false, .. }),
			"end" => matches!(piece, Piece::NotFiniteState { by_defender: false, .. }),
			_ => matches!(piece, Piece::Mean { .. }),
		};
		assert!(right, "{name}: {piece:?}");
		assert_eq!(target == Target::Start, name == "initial");
		// It says that it diverged one step later.
		if let Some((step, witness @ Witness::Result { .. })) = found {
			let step = step + 1;
			let later = Run::new(&job, Diverged { step, witness });
			let (_, played) = decide(&format!("after a {name}"), &job, &honest, &later);
			assert!(matches!(played.piece, Some(Piece::NotFinite { by_defender: false, .. })));
		}
	}
}

#[test]
fn training_that_goes_on_has_not_diverged() {
	let job = jobs::small();
	let honest = Run::new(&job, Nothing);
	let lowered = Lowered::new(&job.world.case, Computation::Step { step: 2 });
	let lowered = lowered.unwrap();
	let loss = lowered.find(Role::Loss).unwrap();
	let next = (0..lowered.results())
		.find(|at| {
			let is_next = matches!(lowered.role(*at), Ok(Role::Next(_)));
			is_next && lowered.part(*at).unwrap().len > 1
		})
		.unwrap();
	let evaluation = Evaluation::new(f32::NAN, 1, 10);
	let slices = H256::repeat_byte(3);
	let witnesses = [
		(2, Witness::Result { result: loss, element: 0 }),
		(3, Witness::Result { result: loss, element: 0 }),
		(3, Witness::Result { result: next, element: 1 }),
		(4, Witness::State { tensor: 3, element: 2 }),
		(4, Witness::Evaluation { evaluation, slices }),
	];
	for (step, witness) in witnesses {
		let changed = Run::new(&job, Diverged { step, witness });
		assert!(changed.result().diverged);
		let (target, played) = decide(&format!("{witness:?}"), &job, &honest, &changed);
		assert_eq!(target, Target::Segment(1));
		let right = match (witness, played.piece) {
			(Witness::Result { .. }, Some(Piece::NotFinite { by_defender, .. })) => by_defender,
			(Witness::State { .. }, Some(Piece::NotFiniteState { by_defender, .. })) => by_defender,
			// The slices that it names are none's: it cannot go on.
			(Witness::Evaluation { .. }, piece) => piece.is_none(),
			_ => false,
		};
		assert!(right, "{witness:?}: {played:?}");
	}
}

#[test]
fn a_rescued_state_is_the_committed_one() {
	let job = jobs::small();
	for (state, word) in [(0, 0), (1, 3), (3, 4)] {
		let honest = Run::new(&job, Nothing).with_stored(state, None);
		let bent = Run::new(&job, Nothing).with_stored(state, Some(word));
		// The blob that was stored is false: the defender has the state, the challenger the blob.
		let mut defender = Run::new(&job, Nothing);
		let target = Target::Rescue { blob: blob_root(&bent.blob_bytes().unwrap()), state };
		let table = Table::new(&job, &defender, &bent);
		let played = table.play(target, &mut Store::default(), &mut |_, _| {});
		assert_eq!(played.judged(), Outcome::Convicted);
		assert!(matches!(played.piece, Some(Piece::Stored { .. })));
		check_length(&job.world.case, &target, &played);
		// It is right: the challenger says that it is not.
		let target = Target::Rescue { blob: blob_root(&honest.blob_bytes().unwrap()), state };
		defender.stored_tensors.clone_from(&honest.stored_tensors);
		let table = Table::new(&job, &defender, &bent);
		let played = table.play(target, &mut Store::default(), &mut |_, _| {});
		assert_eq!(played.judged(), Outcome::Acquitted);
	}
}

#[test]
fn evidence_is_held_to_what_was_replayed() {
	let job = jobs::small();
	let trainer = Run::new(&job, Nothing);
	for change in
		[Bent { step: 3 }, Loss { step: 2 }, Mean { checkpoint: 2 }, Rows { labels: true }]
	{
		let seat = match change {
			// It begins with the state of the result.
			Rows { .. } => Change::Nothing,
			_ => change,
		};
		let (seat, target) = (Run::new(&job, seat), Target::Evidence(1));
		let table = Table {
			case: &job.world.case,
			defender: &seat,
			challenger: &trainer,
			trainer: &trainer,
		};
		if change == (Rows { labels: true }) {
			let (claimed, revealed) = table.claims(&target);
			let result = trainer.result();
			let game = Game { case: &job.world.case, result: &result, said: &Store::default() };
			let leaves = table.leaves(&target);
			let begun = game.begin(target, &claimed, &leaves, revealed.as_ref());
			assert_eq!(begun, Err(Refused::NothingDenied));
			continue;
		}
		let played = table.play(target, &mut Store::default(), &mut |_, _| {});
		assert_eq!(played.judged(), Outcome::Convicted, "{change:?}");
		let table = Table {
			case: &job.world.case,
			defender: &trainer,
			challenger: &seat,
			trainer: &trainer,
		};
		let played = table.play(target, &mut Store::default(), &mut |_, _| {});
		assert_eq!(played.judged(), Outcome::Acquitted, "{change:?}");
	}
}

#[test]
fn a_rescued_file_has_the_right_header() {
	let job = jobs::small();
	let header = crate::referee::state_file(&job.world.case).header.len();
	for word in [0, 1, header / 8, header / 4 - 1] {
		let right = Run::new(&job, Nothing).with_stored(1, None);
		let mut wrong = Run::new(&job, Nothing).with_stored(1, None);
		wrong.stored_header = Some(word);
		for (blob, defender, challenger, outcome) in [
			(&wrong, &right, &wrong, Outcome::Convicted),
			(&right, &right, &wrong, Outcome::Acquitted),
		] {
			let target = Target::Rescue { blob: blob_root(&blob.blob_bytes().unwrap()), state: 1 };
			let table = Table::new(&job, defender, challenger);
			let played = table.play(target, &mut Store::default(), &mut |_, _| {});
			assert_eq!(played.judged(), outcome, "{word}");
			let Some(Piece::StoredHeader { chunk, .. }) = played.piece else {
				panic!("{played:?}")
			};
			assert_eq!(chunk, word as u64 / 256);
			check_length(&job.world.case, &target, &played);
		}
	}
}

/// Of a result that diverged before its first step, all follows from leaf 0.
#[test]
fn what_did_not_begin_has_no_segment() {
	let job = jobs::diverges_before_it_begins();
	let honest = Run::new(&job, Nothing);
	let other = Run::new(&job, Diverges);
	let begin = |defender: &Run| {
		let table = Table::new(&job, defender, &other);
		let (target, result) = (Target::Segment(0), defender.result());
		let (claimed, leaves) = (table.claims(&target).0, table.leaves(&target));
		let game = Game { case: &job.world.case, result: &result, said: &Store::default() };
		game.begin(target, &claimed, &leaves, None)
	};
	assert_eq!(begin(&honest), Err(Refused::NoSuchTarget));
	let mut wrong = Run::new(&job, Nothing);
	for change in [|leaf: &mut D| leaf.step = 1, |leaf: &mut D| leaf.trace = H256::zero()] {
		wrong.diverged = honest.diverged;
		change(wrong.diverged.as_mut().unwrap());
		assert_eq!(begin(&wrong), Ok(Moved::ended(Outcome::Convicted)));
	}
}

/// A result that diverged before its first step is defended as workers commit to it, with a trace that
/// has no leaf; one that has another trace is none of theirs.
#[test]
fn what_did_not_begin_is_defended_by_its_slices() {
	let job = jobs::diverges_before_it_begins();
	let honest = Run::new(&job, Nothing);
	let nothing = trainyard_protocol::trace::seal(&merkle::root(&[]));
	assert_eq!(honest.checkpoints[0].trace, nothing);
	let other = Run::new(&job, Diverges);
	let table = Table::new(&job, &honest, &other);
	let played = table.play(Target::Start, &mut Store::default(), &mut |_, _| {});
	assert_eq!(played.judged(), Outcome::Acquitted);
	let mut wrong = Run::new(&job, Nothing);
	wrong.checkpoints[0].trace = H256::zero();
	let table = Table::new(&job, &wrong, &other);
	let played = table.play(Target::Start, &mut Store::default(), &mut |_, _| {});
	assert_eq!((played.outcome, played.transactions), (Outcome::Convicted, 2));
}

/// A seat that replayed a training without a first step has nothing that it could open, and is accused
/// of nothing: one end stands for that, and whoever reveals another one has to open it.
#[test]
fn a_seat_of_what_did_not_begin_is_not_accused() {
	let job = jobs::diverges_before_it_begins();
	let trainer = Run::new(&job, Nothing);
	let (case, result, target) = (&job.world.case, trainer.result(), Target::Evidence(0));
	let other = Run::new(&job, Diverges);
	let table = Table { case, defender: &trainer, challenger: &other, trainer: &trainer };
	let (claimed, honest) = (table.claims(&target).0, trainer.end_at(1).unwrap());
	let begin = |revealed: &End| {
		let game = Game { case, result: &result, said: &Store::default() };
		game.begin(target, &claimed, &table.leaves(&target), Some(revealed))
	};
	assert_eq!(begin(&honest), Err(Refused::NoSuchTarget));
	let elsewhere = End::Diverged(D { step: 0, trace: H256::repeat_byte(3) });
	let Ok(Moved { next: Next::Stage(stage), .. }) = begin(&elsewhere) else { panic!("it begins") };
	assert_eq!(stage.turn, Turn::Defender);
	// No witness makes a training diverge before its first step.
	let game = Game { case, result: &result, said: &Store::default() };
	let state = trainer.checkpoints[0].state;
	for witness in [
		Witness::Result { result: 0, element: 0 },
		Witness::State { tensor: 0, element: 0 },
		Witness::Evaluation { evaluation: Evaluation::NONE, slices: H256::zero() },
	] {
		let opening = Opening {
			opened: Opened::Diverged { state, steps: Peaks::new(), witness },
			contents: Contents::new(),
			chunk: ChunkBytes::new(),
			roots: Roots::new(),
		};
		let opened = game.open(&stage, &stage.place().unwrap(), &opening);
		assert_eq!(opened, Err(Refused::WrongOpening));
	}
}

/// A seat that reveals two ends of one segment, one after the other, cannot defend the second by what it
/// opened for the first.
#[test]
fn who_reveals_two_ends_defends_one() {
	let job = jobs::small();
	let trainer = Run::new(&job, Nothing);
	let mut store = Store::default();
	let mut play = |seat: &Run, challenger: &Run| {
		let case = &job.world.case;
		let table = Table { case, defender: seat, challenger, trainer: &trainer };
		table.play(Target::Evidence(1), &mut store, &mut |_, _| {})
	};
	let (first, second) = (Run::new(&job, Loss { step: 2 }), Run::new(&job, Loss { step: 3 }));
	assert_eq!(play(&first, &trainer).judged(), Outcome::Convicted);
	let played = play(&second, &trainer);
	assert_eq!((played.outcome, played.piece), (Outcome::Convicted, None));
}

/// A convolutional network and a transformer, an element of the first and of the last results.
#[test]
fn other_models_are_disputed_alike() {
	let text = crate::testing::specs().remove(3);
	let text = trainyard_program::spec::JobSpec {
		training: trainyard_program::spec::Training {
			steps: 4,
			checkpoint_interval: 2,
			..text.training
		},
		..text
	};
	for job in [jobs::cnn(), Job::new(text)] {
		let honest = Run::new(&job, Nothing);
		for step in 1..4 {
			let at = Moment::Step { segment: step / 2, step };
			let results = honest.computed_at(&at).results().len() as u32;
			for result in [0, results / 2, results - 1] {
				let changed = Run::new(&job, element(&honest, at, result, 1));
				if Table::new(&job, &changed, &honest).accusation().is_some() {
					decide("another model", &job, &honest, &changed);
				}
			}
			decide("another model", &job, &honest, &Run::new(&job, Bent { step }));
		}
	}
}
