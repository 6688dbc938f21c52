//! Real disputes: both sides play from their own run of a small job, through the calls.

use super::made_up::place;
use crate::{mock::*, moves::Kept, Disputes, Ending, Error, Event, Side, JUDGE_AFTER};
use codec::Encode;
use core::marker::PhantomData;
use frame_support::{assert_noop, assert_ok};
use trainyard_court::{
	game::{
		player::{Denial, Player, Record},
		Claimed, Due, End, Game, Leaf, Moment, Target, Turn,
	},
	referee::{Computation, Lowered, Openings, StretchOpening},
	testing::{
		jobs,
		run::{other, Change, Job, Run},
	},
};
use trainyard_protocol::merkle;
use trainyard_traits::{Accusation, Charged, Defendant, DisputeId};

const CHALLENGER: AccountId = CHALLENGERS[0];

/// Makes the trainer claim a run.
fn claimed(job: &Job, run: &Run) -> Defendant<AccountId> {
	let defendant = Defendant::Trainer { job: JOB, who: TRAINERS[0] };
	let case = job.world.case.clone();
	let results = Lowered::new(&case, Computation::Step { step: 0 }).unwrap().results();
	let charged = Charged { case, result: run.result(), results };
	Claims::mutate(|claims| claims.insert(defendant, (charged, STAKE)));
	defendant
}

/// Accuses what the defender says, by what the challenger computed.
fn accusation(
	defendant: Defendant<AccountId>,
	defender: &Run,
	challenger: &Run,
	target: Target,
) -> Accusation<AccountId> {
	let (indices, end): (Vec<u32>, Option<End>) = match target {
		Target::Start => (vec![0], challenger.end_at(0)),
		Target::Segment(segment) => (vec![segment, segment + 1], challenger.end_at(segment + 1)),
		Target::Model => (vec![defender.result().segments], None),
		_ => (vec![], None),
	};
	let all = defender.leaves();
	let leaf = |index: &u32| Leaf {
		content: defender.leaf(*index).unwrap(),
		path: merkle::proof(&all, *index as usize).unwrap().try_into().unwrap(),
	};
	let leaves: Vec<Leaf> = indices.iter().map(leaf).collect();
	Accusation {
		defendant,
		target,
		claimed: end.map_or(Claimed::Other, Claimed::End),
		leaves: leaves.try_into().unwrap(),
	}
}

/// Whoever is to move does, as its run says. Returns whether there was anything to do.
fn step(id: DisputeId, job: &Job, defender: &Run, challenger: &Run) -> bool {
	let made = dispute(id);
	let (case, result) = (&job.world.case, &defender.result());
	let said = Kept::<Test>(&made.defendant, PhantomData);
	let game = Game { case, result, said: &said };
	let stage = &made.stage;
	let [who, accuser] = [*made.defendant.who(), made.challenger].map(RuntimeOrigin::signed);
	match stage.turn {
		Turn::Defender => {
			let player = Player { case, record: defender };
			match game.due(stage).unwrap() {
				Due::Opening => {
					let Some(opening) = player.open(game, stage) else { return false };
					Court::open(who, id, place(id), opening).unwrap();
				}
				_ => {
					let Some(roots) = player.post(game, stage) else { return false };
					Court::post(who, id, place(id), roots).unwrap();
				}
			}
		}
		Turn::Challenger => {
			let player = Player { case, record: challenger };
			match player.deny(game, stage) {
				Some(Denial::Deny(at)) => Court::deny(accuser, id, place(id), at).unwrap(),
				Some(Denial::Show(witness)) => {
					Court::show(accuser, id, place(id), witness).unwrap()
				}
				None => return false,
			};
		}
		Turn::Piece => {
			let brought = [(who, defender), (accuser, challenger)].into_iter().any(|(who, run)| {
				let Some(openings) = (Player { case, record: run }).openings(stage) else {
					return false;
				};
				let bytes = openings.encode().try_into().unwrap();
				Court::judge(who, id, bytes).is_ok()
			});
			if !brought && made.moved_at + JUDGE_AFTER > Court::now() {
				run_for(JUDGE_AFTER);
				return true;
			}
			return brought;
		}
	}
	true
}

/// Plays a dispute to its end. Returns the ending and how many moves it took.
fn play(job: &Job, defender: &Run, challenger: &Run, target: Target) -> (Ending, u32) {
	let defendant = claimed(job, defender);
	let id = challenge(CHALLENGER, &accusation(defendant, defender, challenger, target));
	let mut moves = 0;
	while Disputes::<Test>::contains_key(id) {
		moves = dispute(id).moves;
		match step(id, job, defender, challenger) {
			true => Court::do_try_state().unwrap(),
			false => run_for(dispute(id).clocks.left(dispute(id).side(), &Court::moment())),
		}
	}
	let ended = System::events().into_iter().find_map(|record| match record.event {
		RuntimeEvent::Court(Event::Ended { id: of, ending }) if of == id => Some(ending),
		_ => None,
	});
	(ended.unwrap(), moves)
}

/// Returns an element of a result, bent.
fn element(honest: &Run, at: Moment, result: u32, element: u64) -> Change {
	let bits = other(honest.computed_at(&at).bits(result, element));
	Change::Element { at, result, element, bits }
}

/// Returns where two runs part first.
fn parting(one: &Run, other: &Run) -> Option<Target> {
	let results = [one.result(), other.result()];
	for index in 0..=results[0].segments {
		if one.leaf(index) != other.leaf(index) {
			return Some(index.checked_sub(1).map_or(Target::Start, Target::Segment));
		}
	}
	(results[0].model_root != results[1].model_root).then_some(Target::Model)
}

/// Whoever is right wins, as cheat and as false accuser, and the honest side loses nothing.
#[test]
fn who_is_right_wins_through_the_calls() {
	let job = jobs::small();
	let honest = Run::new(&job, Change::Nothing);
	let step = Moment::Step { segment: 1, step: 3 };
	let case = &job.world.case;
	let count = Lowered::new(case, Computation::Step { step: 3 }).unwrap().results();
	let elements = [0, count / 3, 2 * count / 3, count - 1];
	let elements = elements.map(|result| element(&honest, step, result, 0));
	let others = [
		Change::Initial { tensor: 0, element: 7 },
		Change::Logits { step: 2 },
		Change::Mean { checkpoint: 1 },
		Change::Model { word: 20 },
	];
	let mut decided = Vec::new();
	for change in elements.into_iter().chain(others) {
		let changed = Run::new(&job, change);
		// Not every element of a step has an effect.
		let Some(target) = parting(&changed, &honest) else { continue };
		decided.push(target);
		run(|| {
			let (ending, moves) = play(&job, &changed, &honest, target);
			assert_eq!(ending, Ending::Convicted { by_clock: false }, "{change:?}");
			assert!((1..=20).contains(&moves), "{moves} moves: {change:?}");
			assert!(Convictions::get()[0].1.proven);
			assert_eq!(wealth(CHALLENGER), ENDOWMENT + (STAKE - AUDIT) / 4);
			assert_eq!(wealth(SUBMITTER), ENDOWMENT + AUDIT);
		});
		run(|| {
			let (ending, _) = play(&job, &honest, &changed, target);
			assert_eq!(ending, Ending::Acquitted { by_clock: false }, "{change:?}");
			assert_eq!(Convictions::get(), []);
			assert_eq!(wealth(CHALLENGER), ENDOWMENT - DEPOSIT);
			assert_eq!(wealth(TRAINERS[0]), ENDOWMENT + DEPOSIT);
		});
	}
	assert!(decided.len() >= 6, "{decided:?}");
	for target in [Target::Start, Target::Segment(0), Target::Segment(1), Target::Model] {
		assert!(decided.contains(&target), "{target:?}");
	}
}

/// An accuser that finds nothing to deny has no move.
#[test]
fn who_denies_nothing_runs_out() {
	let job = jobs::small();
	let honest = Run::new(&job, Change::Nothing);
	let changed = Run::new(&job, Change::Loss { step: 3 });
	run(|| {
		// It claims another end, and then plays from the same run.
		let defendant = claimed(&job, &honest);
		let accused = accusation(defendant, &honest, &changed, Target::Segment(1));
		let id = challenge(CHALLENGER, &accused);
		assert!(step(id, &job, &honest, &honest));
		assert_eq!(dispute(id).side(), Side::Challenger);
		assert!(!step(id, &job, &honest, &honest), "nothing is false");
		run_for(CLOCK);
		assert_eq!(Convictions::get(), []);
		assert_eq!(wealth(CHALLENGER), ENDOWMENT - DEPOSIT);
	});
}

/// Openings that are bent are refused with the error that says how, and the right ones decide.
#[test]
fn bent_openings_are_refused() {
	let job = jobs::small();
	let honest = Run::new(&job, Change::Nothing);
	let at = Moment::Step { segment: 1, step: 3 };
	let case = &job.world.case;
	let count = Lowered::new(case, Computation::Step { step: 3 }).unwrap().results();
	let changes = (0..count).map(|result| Run::new(&job, element(&honest, at, result, 0)));
	let mut parted = changes.filter_map(|run| parting(&honest, &run).map(|target| (run, target)));
	let (changed, target) = parted.next().unwrap();
	run(|| {
		let defendant = claimed(&job, &honest);
		let id = challenge(CHALLENGER, &accusation(defendant, &honest, &changed, target));
		while dispute(id).stage.turn != Turn::Piece {
			assert!(step(id, &job, &honest, &changed));
		}
		let player = Player { case: &job.world.case, record: &honest };
		let Some(Openings::Stretch(good)) = player.openings(&dispute(id).stage) else {
			panic!("it is no stretch")
		};
		let refused = |bend: fn(&mut StretchOpening), error: Error<Test>| {
			let mut bent = good.clone();
			bend(&mut bent);
			let bytes = Openings::Stretch(bent).encode().try_into().unwrap();
			let who = RuntimeOrigin::signed(TRAINERS[0]);
			assert_noop!(Court::judge(who, id, bytes), error);
		};
		refused(
			|bent| {
				bent.tensors.tensors.pop();
			},
			Error::Missing,
		);
		refused(
			|bent| {
				let again = bent.tensors.tensors[0].clone();
				bent.tensors.tensors.push(again);
			},
			Error::Twice,
		);
		refused(|bent| bent.tensors.tensors[0].chunks.bytes[0] ^= 1, Error::WrongChunks);
		refused(
			|bent| {
				let nan = 0xFFC0_0001u32.to_le_bytes();
				bent.tensors.tensors[0].chunks.bytes[..4].copy_from_slice(&nan);
			},
			Error::WrongChunks,
		);
		let who = RuntimeOrigin::signed(CHALLENGER);
		run_for(JUDGE_AFTER);
		let bytes = Openings::Stretch(good).encode().try_into().unwrap();
		assert_ok!(Court::judge(who, id, bytes));
		assert!(!Disputes::<Test>::contains_key(id));
		assert_eq!(Convictions::get(), []);
	});
}
