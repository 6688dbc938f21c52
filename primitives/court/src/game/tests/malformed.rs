use super::*;
use crate::referee::{Openings, Tensors};
use proptest::prelude::*;
use std::sync::OnceLock;

/// Returns openings that are malformed in one place each.
fn bent_openings(opening: &Opening) -> Vec<Opening> {
	let mut all = vec![];
	let mut bend = |change: &dyn Fn(&mut Opening)| {
		let mut bent = opening.clone();
		change(&mut bent);
		if bent != *opening {
			all.push(bent);
		}
	};
	let longer = |peaks: &mut Peaks| peaks.try_push(H256::repeat_byte(1)).unwrap();
	bend(&|bent| {
		bent.roots.try_push(H256::zero()).unwrap_or_default();
	});
	bend(&|bent| {
		bent.roots.pop();
	});
	bend(&|bent| {
		let _ = bent.contents.try_push(H256::zero());
	});
	bend(&|bent| {
		bent.contents.pop();
	});
	bend(&|bent| {
		if let Some(content) = bent.contents.get_mut(0) {
			content.0[3] ^= 1;
		}
	});
	bend(&|bent| {
		let _ = bent.chunk.try_push(0);
	});
	bend(&|bent| {
		bent.chunk.pop();
	});
	bend(&|bent| {
		if let Some(byte) = bent.chunk.get_mut(0) {
			*byte ^= 1;
		}
	});
	bend(&|bent| match &mut bent.opened {
		Opened::Segment { steps, .. }
		| Opened::Diverged { steps, .. }
		| Opened::Step { steps, .. } => longer(steps),
		Opened::Slice { slices, .. } => longer(slices),
		Opened::Result { results, .. } => longer(results),
		Opened::Chunk { bytes } => {
			bytes.pop();
		}
		Opened::Start { slices } => slices.0[0] ^= 1,
		Opened::Model { content } => content.0[0] ^= 1,
		Opened::Stored => {}
	});
	bend(&|bent| match &mut bent.opened {
		Opened::Segment { slices, .. } => slices.0[31] ^= 128,
		Opened::Step { after, .. } => after.0[0] ^= 1,
		Opened::Slice { losses, .. } => losses.0[0] ^= 1,
		Opened::Result { content, .. } => content.0[0] ^= 1,
		Opened::Chunk { bytes } => bytes[0] ^= 1,
		_ => {}
	});
	bend(&|bent| match &mut bent.opened {
		Opened::Step { state, .. } => state.0[0] ^= 1,
		Opened::Slice { correct, .. } => correct.0[0] ^= 1,
		_ => {}
	});
	bend(&|bent| {
		if let Opened::Step { loss, .. } = &mut bent.opened {
			*loss ^= 1;
		}
	});
	bend(&|bent| {
		if let Opened::Step { logits, .. } = &mut bent.opened {
			logits.0[0] ^= 1;
		}
	});
	// What opens another place.
	bend(&|bent| bent.opened = Opened::Stored);
	bend(&|bent| bent.opened = Opened::Start { slices: H256::zero() });
	bend(&|bent| bent.opened = Opened::Model { content: H256::zero() });
	bend(&|bent| bent.opened = Opened::Chunk { bytes: vec![0; 1_024].try_into().unwrap() });
	bend(&|bent| {
		let (content, results) = (H256::zero(), Peaks::new());
		bent.opened = Opened::Result { content, results };
	});
	all
}

/// Returns places beside this one.
fn other_places(stage: &Stage) -> Vec<Place> {
	let places = [
		Place::Ends { target: Target::Stop },
		Place::Steps { segment: 9, from: 0, to: 1 },
		Place::Slices { checkpoint: 1, from: 0, to: 1 },
		Place::Results { at: Moment::Initial, from: 0, to: 2 },
		Place::Chunk { at: Moment::Model, result: 0, chunk: 0 },
		Place::Mean { checkpoint: 1, from: 0, to: 2 },
		Place::Stops { from: 0, to: 200 },
	];
	places.into_iter().filter(|place| Some(*place) != stage.place()).collect()
}

/// Tries everything that is no move where a dispute stands.
fn try_all(game: Game<'_, Store>, stage: &Stage, parties: [&Player<'_, Run>; 2]) -> u32 {
	let (mut tried, store) = (0, game.said.clone());
	let mut refused = |result: Result<Moved, Refused>, expected: Option<Refused>| {
		let error = result.expect_err("it is no move");
		assert!(expected.is_none_or(|expected| expected == error), "{error:?} at {stage:?}");
		assert!(!error.to_string().is_empty());
		tried += 1;
	};
	let roots = |count: usize| Roots::try_from(vec![H256::repeat_byte(9); count]).unwrap();
	let nothing = Opening {
		opened: Opened::Stored,
		contents: Contents::new(),
		chunk: ChunkBytes::new(),
		roots: Roots::new(),
	};
	let place = stage.place().unwrap_or(Place::Ends { target: stage.subject.target });
	let not_now = Some(Refused::NotNow);
	let witness = Witness::Result { result: 0, element: 0 };
	if stage.turn != Turn::Defender {
		refused(game.post(stage, &place, &roots(1)), not_now);
		refused(game.open(stage, &place, &nothing), not_now);
		assert_eq!(game.due(stage), Err(Refused::NotNow));
	}
	if stage.turn != Turn::Challenger {
		refused(game.deny(stage, &place, 0), not_now);
		refused(game.show(stage, &place, &witness), not_now);
		assert_eq!(game.claims(stage), Err(Refused::NotNow));
	}
	if stage.turn != Turn::Piece {
		let judged = game.judge(stage, &Openings::Contents(vec![]));
		refused(judged.map(|(moved, _)| moved), not_now);
	}
	match stage.turn {
		Turn::Defender => {
			for other in other_places(stage) {
				refused(game.post(stage, &other, &roots(1)), Some(Refused::WrongPlace));
				refused(game.open(stage, &other, &nothing), Some(Refused::WrongPlace));
			}
			match game.due(stage).unwrap() {
				Due::Opening => {
					refused(game.post(stage, &place, &roots(1)), not_now);
					let opening = parties[0].open(game, stage).unwrap();
					assert!(game.open(stage, &place, &opening).is_ok());
					for bent in bent_openings(&opening) {
						refused(game.open(stage, &place, &bent), None);
					}
				}
				Due::Post(count) => {
					refused(game.open(stage, &place, &nothing), not_now);
					for other in (0..=FAN).filter(|other| *other != count) {
						let error = Refused::WrongCount { expected: count };
						refused(game.post(stage, &place, &roots(other as usize)), Some(error));
					}
					if let Level::Content { .. } = stage.level {
						let error = Some(Refused::WrongRoots);
						refused(game.post(stage, &place, &roots(count as usize)), error);
					}
				}
				Due::Nothing => panic!("nothing is due"),
			}
		}
		Turn::Challenger => {
			let claims = game.claims(stage).unwrap();
			assert!(claims.len() >= 2);
			for at in [claims.len() as u32, u32::MAX] {
				refused(game.deny(stage, &place, at), Some(Refused::NoSuchClaim));
			}
			for other in other_places(stage) {
				refused(game.deny(stage, &other, 0), Some(Refused::WrongPlace));
				refused(game.show(stage, &other, &witness), Some(Refused::WrongPlace));
			}
			// The first result of a step is neither loss nor state.
			refused(game.show(stage, &place, &witness), None);
			let beyond = Witness::State { tensor: u32::MAX, element: 0 };
			refused(game.show(stage, &place, &beyond), None);
			let beyond = Witness::Result { result: u32::MAX, element: 0 };
			refused(game.show(stage, &place, &beyond), None);
			// Whatever is denied leads somewhere.
			for at in 0..claims.len() as u32 {
				assert!(game.deny(stage, &place, at).is_ok());
			}
		}
		Turn::Piece => {
			let empty = [
				Openings::Contents(vec![]),
				Openings::Stretch(Default::default()),
				Openings::Mean(Default::default()),
				Openings::Stop(Default::default()),
				Openings::Tensors(Tensors::default()),
			];
			let openings = parties.iter().find_map(|party| party.openings(stage)).unwrap();
			for wrong in empty {
				// Of an element that is drawn, nothing is opened.
				if wrong != openings {
					let judged = game.judge(stage, &wrong).map(|(moved, _)| moved);
					let error = judged.expect_err("it is no opening");
					assert!(matches!(error, Refused::Piece(_)), "{error:?}");
				}
			}
		}
	}
	assert_eq!(*game.said, store);
	tried
}

#[test]
fn what_is_malformed_is_refused_and_changes_nothing() {
	let job = jobs::small();
	let case = &job.world.case;
	let honest = Run::new(&job, Change::Nothing);
	let mut tried = 0;
	let changes = [
		Change::Initial { tensor: 0, element: 3 },
		Change::Bent { step: 3 },
		Change::Rows { labels: false },
		Change::Slice { checkpoint: 1, slice: 0 },
		Change::Mean { checkpoint: 2 },
		Change::Model { word: 30 },
	];
	let mut play = |job: &Job, honest: &Run, accuser: &Run| {
		let table = Table::new(job, honest, accuser);
		let case = &job.world.case;
		let [one, other] = [honest, accuser].map(|record| Player { case, record });
		let mut look = |game: Game<'_, Store>, stage: &Stage| {
			tried += try_all(game, stage, [&one, &other]);
		};
		let target = table.accusation().unwrap();
		let played = table.play(target, &mut Store::default(), &mut look);
		assert_eq!(played.outcome, Outcome::Acquitted);
	};
	for change in changes {
		play(&job, &honest, &Run::new(&job, change));
	}
	let job = jobs::broad();
	let honest = Run::new(&job, Change::Nothing);
	play(&job, &honest, &Run::new(&job, Change::Rows { labels: false }));
	let job = jobs::stops();
	let honest = Run::new(&job, Change::Nothing);
	play(&job, &honest, &Run::new(&job, Change::GoesOn));
	let job = jobs::diverges_in_a_loss();
	let honest = Run::new(&job, Change::Nothing);
	play(&job, &honest, &Run::new(&job, Change::Diverges));
	println!("{tried} refused");
	assert!(tried > 500);
	assert_eq!(case.spec.segments(), 3);
}

/// What leads to no dispute.
#[test]
fn a_challenge_must_name_what_there_is() {
	let job = jobs::small();
	let honest = Run::new(&job, Change::Nothing);
	let accuser = Run::new(&job, Change::Bent { step: 3 });
	let table = Table::new(&job, &honest, &accuser);
	let (result, store) = (honest.result(), Store::default());
	let game = Game { case: &job.world.case, result: &result, said: &store };
	let target = Target::Segment(1);
	let ((claimed, _), leaves) = (table.claims(&target), table.leaves(&target));
	assert!(game.begin(target, &claimed, &leaves, None).is_ok());
	let begin = |target, claimed: &Claimed, leaves: &[Leaf], revealed: Option<&End>| {
		game.begin(target, claimed, leaves, revealed).unwrap_err()
	};
	let true_end = honest.end_at(2).unwrap();
	let same = Claimed::End(true_end);
	assert_eq!(begin(target, &same, &leaves, None), Refused::NothingDenied);
	assert_eq!(begin(target, &Claimed::Other, &leaves, None), Refused::NothingDenied);
	let model = table.leaves(&Target::Model);
	assert_eq!(begin(Target::Model, &claimed, &model, None), Refused::NothingDenied);
	for other in [Target::Segment(3), Target::Segment(u32::MAX), Target::Stop, Target::Evidence(1)]
	{
		assert_eq!(begin(other, &claimed, &leaves, None), Refused::NoSuchTarget, "{other:?}");
	}
	let rescue = Target::Rescue { blob: H256::zero(), state: 4 };
	assert_eq!(begin(rescue, &Claimed::Other, &leaves, None), Refused::NoSuchTarget);
	assert_eq!(begin(target, &claimed, &leaves, Some(&true_end)), Refused::NoSuchTarget);
	assert_eq!(begin(Target::Evidence(3), &claimed, &[], Some(&true_end)), Refused::NoSuchTarget);
	let wrong =
		|leaves: &[Leaf]| assert_eq!(begin(target, &claimed, leaves, None), Refused::WrongLeaves);
	wrong(&[]);
	wrong(&leaves[..1]);
	wrong(&[leaves[1].clone(), leaves[0].clone()]);
	wrong(&table.leaves(&Target::Segment(0)));
	let mut bent = leaves.clone();
	bent[1].path.pop();
	wrong(&bent);
	let mut bent = leaves;
	if let LeafContent::Checkpoint(checkpoint) = &mut bent[1].content {
		checkpoint.step += 1;
	}
	wrong(&bent);
}

/// A leaf that no training has ends a dispute at once.
#[test]
fn impossible_leaves_convict_at_once() {
	let job = jobs::small();
	let honest = Run::new(&job, Change::Nothing);
	let store = Store::default();
	let end_with = |change: &dyn Fn(&mut Run), target| {
		let mut cheat = Run::new(&job, Change::Nothing);
		change(&mut cheat);
		let table = Table::new(&job, &cheat, &honest);
		let (claimed, leaves) = (table.claims(&target).0, table.leaves(&target));
		let result = cheat.result();
		let game = Game { case: &job.world.case, result: &result, said: &store };
		game.begin(target, &claimed, &leaves, None).unwrap().next
	};
	let convicted = Next::Ended(Outcome::Convicted);
	use trainyard_protocol::bundle::{Diverged, Evaluation};
	let evaluation = |loss, labels| Evaluation::new(loss, 3, labels);
	type Bend<'a> = &'a dyn Fn(&mut Run);
	let cases: [(Bend<'_>, Target); 7] = [
		(&|run| run.checkpoints[2].step = 3, Target::Segment(1)),
		(&|run| run.checkpoints[2].evaluation = evaluation(f32::INFINITY, 10), Target::Segment(1)),
		(&|run| run.checkpoints[2].evaluation = evaluation(f32::NAN, 10), Target::Segment(1)),
		(&|run| run.checkpoints[2].evaluation = evaluation(0.5, 11), Target::Segment(1)),
		(&|run| run.checkpoints[0].evaluation = Evaluation::NONE, Target::Start),
		(
			&|run| {
				run.checkpoints.truncate(3);
				run.diverged = Some(Diverged { step: 3, trace: H256::zero() });
			},
			Target::Segment(2),
		),
		(
			&|run| {
				run.checkpoints.truncate(3);
				run.diverged = Some(Diverged { step: 7, trace: H256::zero() });
			},
			Target::Segment(2),
		),
	];
	for (change, target) in cases {
		assert_eq!(end_with(change, target), convicted, "{target:?}");
	}
	// A loss is zero, or there are other hits: that has to be computed.
	let may_be: Bend<'_> = &|run| run.checkpoints[2].evaluation = evaluation(0.0, 10);
	assert!(matches!(end_with(may_be, Target::Segment(1)), Next::Stage(_)));
}

/// Ranges that are none are in no dispute, and lead nowhere.
#[test]
fn empty_ranges_lead_nowhere() {
	let job = jobs::small();
	let result = Run::new(&job, Change::Nothing).result();
	let game = Game { case: &job.world.case, result: &result, said: &Store::default() };
	let (agreed, denied) = (H256::zero(), H256::zero());
	let state = H256::zero();
	for (from, to) in [(2, 2), (3, 2), (u32::MAX, 0)] {
		for level in [
			Level::Steps { from, to, agreed, denied },
			Level::Slices { state, from, to, agreed, denied },
			Level::Results { scene: Scene::Initial, from, to, agreed, denied: Some(denied) },
		] {
			let subject = Subject { target: Target::Segment(1), begin: H256::zero(), end: None };
			let stage = Stage { subject, level, turn: Turn::Defender };
			assert!(game.advance(&stage).is_err(), "{level:?}");
		}
	}
}

/// Stages of disputes about a small job, with openings that they were given.
fn stages() -> &'static [(Vec<u8>, Vec<u8>)] {
	static STAGES: OnceLock<Vec<(Vec<u8>, Vec<u8>)>> = OnceLock::new();
	STAGES.get_or_init(|| {
		let (job, mut found) = (jobs::small(), vec![]);
		let honest = Run::new(&job, Change::Nothing);
		let changes = [
			Change::Initial { tensor: 0, element: 3 },
			Change::Rows { labels: false },
			Change::Slice { checkpoint: 1, slice: 0 },
			Change::Mean { checkpoint: 2 },
			Change::Model { word: 30 },
		];
		for change in changes {
			let accuser = Run::new(&job, change);
			let table = Table::new(&job, &honest, &accuser);
			let player = Player { case: &job.world.case, record: &honest };
			let target = table.accusation().unwrap();
			table.play(target, &mut Store::default(), &mut |game, stage| {
				if let Some(opening) = player.open(game, stage) {
					found.push((stage.encode(), opening.encode()));
				} else if let Some((_, opening)) = found.last().cloned() {
					found.push((stage.encode(), opening));
				}
			});
		}
		found
	})
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(4_000))]

	/// Whatever stands in a stage or comes in an opening, nothing panics.
	#[test]
	fn whatever_is_decoded_is_refused(
		pick in any::<proptest::sample::Index>(),
		flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
		of_opening in any::<bool>(),
		at in any::<u32>(),
	) {
		static JOB: OnceLock<Job> = OnceLock::new();
		let job = JOB.get_or_init(jobs::small);
		let (mut stage, mut opening) = pick.get(stages()).clone();
		let bytes = if of_opening { &mut opening } else { &mut stage };
		for (place, byte) in flips {
			let place = place.index(bytes.len());
			bytes[place] ^= byte;
		}
		let result = trainyard_protocol::job::WorkResult {
			bundle_root: H256::zero(),
			true_root: H256::zero(),
			model_root: H256::zero(),
			segments: 3,
			diverged: false,
		};
		let store = Store::default();
		let game = Game { case: &job.world.case, result: &result, said: &store };
		let decoded = (Stage::decode(&mut &stage[..]), Opening::decode(&mut &opening[..]));
		if let (Ok(stage), Ok(opening)) = decoded {
			let place = stage.place().unwrap_or(Place::Stops { from: 0, to: 1 });
			for turn in [Turn::Defender, Turn::Challenger, Turn::Piece] {
				let stage = Stage { turn, ..stage };
				let _ = game.due(&stage);
				let _ = game.claims(&stage);
				let _ = game.advance(&stage);
				let _ = game.post(&stage, &place, &opening.roots);
				let _ = game.deny(&stage, &place, at);
				let _ = game.judge(&stage, &Openings::Tensors(Tensors::default()));
				if let Ok(moved) = game.open(&stage, &place, &opening) {
					// What was changed is not of this place, or it leads on.
					prop_assert!(!moved.said.is_empty());
				}
			}
		}
	}
}
