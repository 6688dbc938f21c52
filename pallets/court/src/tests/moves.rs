//! The moves, and whole disputes through the calls.

use super::made_up::{deny, judge, opening, place, MadeUp, STEP};
use crate::{
	mock::*, Call, Disputes, Ending, Error, Event, Opened as Openeds, OpeningBytes, Posts, Side,
	WeightInfo, JUDGE_AFTER,
};
use codec::Encode;
use frame_support::{assert_noop, assert_ok};
use trainyard_court::{
	game::{Level, Opened, Piece, Place, Roots, Target, Turn, Witness},
	referee::Openings,
};
use trainyard_protocol::{
	reputation::{Deed, Role},
	H256,
};
use trainyard_traits::Defendant;

const CHALLENGER: AccountId = CHALLENGERS[0];

fn happened(event: Event<Test>) -> bool {
	System::events().iter().any(|record| record.event == RuntimeEvent::Court(event.clone()))
}

fn ended(id: u64, ending: Ending) -> bool {
	!Disputes::<Test>::contains_key(id) && happened(Event::Ended { id, ending })
}

/// A trainer that claims a training, and a dispute about it.
fn disputed(number: u8, joins: bool) -> (MadeUp, Defendant<AccountId>, u64) {
	let training = MadeUp::new(number, joins);
	let defendant = training.claimed_by(TRAINERS[0]);
	let id = challenge(CHALLENGER, &training.accused(defendant));
	(training, defendant, id)
}

#[test]
fn a_false_training_is_convicted() {
	run(|| {
		let (training, defendant, id) = disputed(1, false);
		training.to_the_join(id);
		let Level::Judge { piece: Piece::StepJoin { step: STEP, .. } } = dispute(id).stage.level
		else {
			panic!("it is at {:?}", dispute(id).stage.level)
		};
		assert_ok!(judge(CHALLENGER, id, &training.join()));
		assert!(ended(id, Ending::Convicted { by_clock: false }));
		let [(of, conviction)] = &Convictions::get()[..] else { panic!("one is convicted") };
		assert_eq!((of, conviction.finder, conviction.proven), (&defendant, CHALLENGER, true));
		let left = STAKE - AUDIT;
		assert_eq!(wealth(CHALLENGER), ENDOWMENT + left / 4);
		assert_eq!(wealth(JACKPOT), 1 + left / 4);
		assert_eq!(wealth(SUBMITTER), ENDOWMENT + AUDIT);
		assert_eq!(Burned::get(), left / 2);
	});
}

#[test]
fn a_false_accuser_loses() {
	run(|| {
		let (training, defendant, id) = disputed(1, true);
		training.to_the_join(id);
		assert_ok!(judge(TRAINERS[0], id, &training.join()));
		assert!(ended(id, Ending::Acquitted { by_clock: false }));
		assert_eq!(Convictions::get(), []);
		let lost = (Role::Challenger, CHALLENGER, Deed::Failed);
		assert_eq!(Noted::get(), [lost, (Role::Trainer, TRAINERS[0], Deed::Wronged)]);
		// It waits on the trainer's account.
		assert_eq!(crate::Won::<Test>::get(JOB, defendant), DEPOSIT);
		assert_eq!(Balances::reserved_balance(TRAINERS[0]), DEPOSIT);
		assert_eq!(wealth(CHALLENGER), ENDOWMENT - DEPOSIT);
	});
}

/// A dispute about a result goes down to an element.
#[test]
fn a_dispute_narrows_to_an_element() {
	run(|| {
		let (training, _, id) = disputed(1, true);
		training.answer(id).unwrap();
		deny(id, STEP).unwrap();
		training.answer(id).unwrap();
		let large = training.results.iter().position(|bytes| bytes.len() > 4_096).unwrap() as u32;
		deny(id, large).unwrap();
		training.answer(id).unwrap();
		deny(id, 1).unwrap();
		let Place::Chunk { result, .. } = place(id) else { panic!("it is at {:?}", place(id)) };
		assert_eq!(result, large);
		training.answer(id).unwrap();
		deny(id, 3).unwrap();
		let Level::Judge { piece: Piece::Stretch { stretch, .. } } = dispute(id).stage.level else {
			panic!("it is at {:?}", dispute(id).stage.level)
		};
		assert_eq!((stretch.result, stretch.element % 256), (large, 3));
		assert_eq!((dispute(id).moves, dispute(id).side()), (8, Side::Defender));
		// Nothing of the state was computed, so nothing opens it.
		assert_noop!(judge(TRAINERS[0], id, &training.join()), Error::<Test>::WrongOpenings);
		run_fast(CLOCK);
		assert!(ended(id, Ending::Convicted { by_clock: true }));
	});
}

/// At each move: whatever is malformed is refused, changes nothing, and the clocks go on.
#[test]
fn what_is_malformed_changes_nothing() {
	run(|| {
		let (training, defendant, id) = disputed(1, false);
		let (defender, challenger) =
			(RuntimeOrigin::signed(TRAINERS[0]), RuntimeOrigin::signed(CHALLENGER));
		let stranger = RuntimeOrigin::signed(CHALLENGERS[1]);
		let elsewhere = Place::Stops { from: 0, to: 9 };
		let nothing = Roots::new();
		let ends = Place::Ends { target: Target::Segment(0) };
		let witness = Witness::Result { result: 0, element: 0 };
		let none = OpeningBytes::new();

		// The ends are to be opened.
		assert_eq!(place(id), ends);
		let good = training.due(id).unwrap();
		let open = |opening| Court::open(defender.clone(), id, ends, opening);
		assert_noop!(
			Court::open(stranger.clone(), id, ends, good.clone()),
			Error::<Test>::NotDefender
		);
		assert_noop!(
			Court::open(challenger.clone(), id, ends, good.clone()),
			Error::<Test>::NotDefender
		);
		assert_noop!(
			Court::open(defender.clone(), id + 1, ends, good.clone()),
			Error::<Test>::NoDispute
		);
		assert_noop!(
			Court::open(defender.clone(), id, elsewhere, good.clone()),
			Error::<Test>::WrongPlace
		);
		assert_noop!(
			Court::post(defender.clone(), id, ends, good.roots.clone()),
			Error::<Test>::NotYourTurn
		);
		assert_noop!(Court::deny(challenger.clone(), id, ends, 0), Error::<Test>::NotYourTurn);
		assert_noop!(
			Court::show(challenger.clone(), id, ends, witness),
			Error::<Test>::NotYourTurn
		);
		assert_noop!(
			Court::judge(challenger.clone(), id, none.clone()),
			Error::<Test>::NotYourTurn
		);
		let mut bad = good.clone();
		bad.roots.pop();
		assert_noop!(open(bad), Error::<Test>::WrongCount);
		let mut bad = good.clone();
		bad.contents.try_push(H256::zero()).unwrap();
		assert_noop!(open(bad), Error::<Test>::WrongOpening);
		let mut bad = good.clone();
		let Opened::Segment { steps, .. } = &mut bad.opened else { panic!("a segment") };
		steps.pop();
		assert_noop!(open(bad), Error::<Test>::WrongOpening);
		let bad = opening(Opened::Start { slices: H256::zero() }, vec![]);
		assert_noop!(open(bad), Error::<Test>::WrongOpening);
		assert_ok!(open(good.clone()));

		// The challenger denies.
		assert_noop!(open(good), Error::<Test>::NotYourTurn);
		let deny_as = |who: &RuntimeOrigin, place, at| Court::deny(who.clone(), id, place, at);
		assert_noop!(deny_as(&stranger, ends, 0), Error::<Test>::NotChallenger);
		assert_noop!(deny_as(&defender, ends, 0), Error::<Test>::NotChallenger);
		assert_noop!(deny_as(&challenger, elsewhere, 0), Error::<Test>::WrongPlace);
		// 49 milestones, the end, the slices, the evaluation.
		assert_noop!(deny_as(&challenger, ends, 52), Error::<Test>::NoSuchClaim);
		assert_noop!(
			Court::show(challenger.clone(), id, ends, witness),
			Error::<Test>::NoSuchWitness
		);
		assert_ok!(deny_as(&challenger, ends, STEP));

		// A step is to be opened.
		let step = place(id);
		let good = training.due(id).unwrap();
		let open = |opening| Court::open(defender.clone(), id, step, opening);
		let mut bad = good.clone();
		let Opened::Step { loss, .. } = &mut bad.opened else { panic!("a step") };
		*loss = 0x7FC0_0001;
		assert_noop!(open(bad), Error::<Test>::WrongOpening);
		let mut bad = good.clone();
		let Opened::Step { after, .. } = &mut bad.opened else { panic!("a step") };
		*after = H256::zero();
		assert_noop!(open(bad), Error::<Test>::WrongOpening);
		let mut bad = good.clone();
		bad.roots.try_push(H256::zero()).unwrap();
		assert_noop!(open(bad), Error::<Test>::WrongCount);
		assert_noop!(
			Court::post(defender.clone(), id, step, good.roots.clone()),
			Error::<Test>::NotYourTurn
		);
		assert_ok!(open(good));

		// A result is denied, or a number that is not finite is shown.
		let results = place(id);
		let shown = |witness| Court::show(challenger.clone(), id, results, witness);
		assert_noop!(
			shown(Witness::Result { result: training.count(), element: 0 }),
			Error::<Test>::NoSuchWitness
		);
		assert_noop!(shown(Witness::State { tensor: 0, element: 0 }), Error::<Test>::NoSuchWitness);
		assert_noop!(
			Court::show(challenger.clone(), id, elsewhere, witness),
			Error::<Test>::WrongPlace
		);
		let large = training.results.iter().position(|bytes| bytes.len() > 70_000).unwrap_or(0);
		assert_eq!(large, 0, "no content of this job takes two posts");
		let large = training.results.iter().position(|bytes| bytes.len() > 4_096).unwrap() as u32;
		assert_ok!(deny(id, large));

		// A result is to be opened, with the parts of its content.
		let result = place(id);
		let good = training.due(id).unwrap();
		let open = |opening| Court::open(defender.clone(), id, result, opening);
		let mut bad = good.clone();
		bad.roots[0] = H256::zero();
		assert_noop!(open(bad), Error::<Test>::WrongRoots);
		let mut bad = good.clone();
		bad.roots.pop();
		assert_noop!(open(bad), Error::<Test>::WrongCount);
		let mut bad = good.clone();
		bad.chunk.try_push(0).unwrap();
		assert_noop!(open(bad), Error::<Test>::WrongOpening);
		assert_ok!(open(good));
		assert_ok!(deny(id, 0));

		// A chunk is to be opened.
		let chunk = place(id);
		let good = training.due(id).unwrap();
		let mut bad = good.clone();
		let Opened::Chunk { bytes } = &mut bad.opened else { panic!("a chunk") };
		bytes[5] ^= 1;
		assert_noop!(Court::open(defender.clone(), id, chunk, bad), Error::<Test>::WrongOpening);
		assert_noop!(
			Court::post(defender.clone(), id, chunk, nothing.clone()),
			Error::<Test>::NotYourTurn
		);
		assert_ok!(Court::open(defender.clone(), id, chunk, good));
		assert_noop!(deny(id, 256), Error::<Test>::NoSuchClaim);
		assert_ok!(deny(id, 255));

		// A piece is to be judged.
		assert_eq!(dispute(id).stage.turn, Turn::Piece);
		assert_noop!(Court::judge(challenger.clone(), id, none.clone()), Error::<Test>::TooEarly);
		run_for(JUDGE_AFTER);
		let bring = |bytes: Vec<u8>| {
			Court::judge(challenger.clone(), id, OpeningBytes::try_from(bytes).unwrap())
		};
		assert_noop!(Court::judge(stranger, id, none), Error::<Test>::NotASide);
		assert_noop!(bring(vec![]), Error::<Test>::WrongOpenings);
		assert_noop!(bring(training.join().encode()), Error::<Test>::WrongOpenings);
		let mut longer = Openings::Stretch(Default::default()).encode();
		assert_noop!(bring(longer.clone()), Error::<Test>::Missing);
		longer.push(0);
		assert_noop!(bring(longer), Error::<Test>::WrongOpenings);
		assert_noop!(Court::post(defender, id, chunk, nothing), Error::<Test>::NotYourTurn);

		// Nobody was convicted by any of that, and the clock went on.
		assert_eq!(Convictions::get(), []);
		let left = dispute(id).clocks.left(Side::Defender, &Court::moment());
		assert_eq!(left, CLOCK - JUDGE_AFTER);
		run_for(left - 1);
		assert_eq!(dispute(id).clocks.left(Side::Defender, &Court::moment()), 1);
		next_block();
		assert!(ended(id, Ending::Convicted { by_clock: true }));
		assert_eq!(Convictions::get()[0].0, defendant);
	});
}

#[test]
fn a_join_that_is_not_that_of_the_results_is_refused() {
	run(|| {
		let (training, _, id) = disputed(1, true);
		training.to_the_join(id);
		run_for(JUDGE_AFTER);
		let Openings::Contents(mut contents) = training.join() else { panic!("contents") };
		contents[3] = H256::zero();
		let bent = Openings::Contents(contents.clone());
		assert_noop!(judge(CHALLENGER, id, &bent), Error::<Test>::WrongOpenings);
		contents.pop();
		let short = Openings::Contents(contents);
		assert_noop!(judge(CHALLENGER, id, &short), Error::<Test>::WrongOpenings);
		assert_ok!(judge(CHALLENGER, id, &training.join()));
	});
}

/// What was said in one dispute is said in all: the second is answered by nobody.
#[test]
fn one_post_serves_all_disputes() {
	run(|| {
		let (training, defendant, first) = disputed(1, true);
		let second = challenge(CHALLENGERS[1], &training.accused(defendant));
		let third = challenge(CHALLENGERS[2], &training.accused(defendant));
		training.to_the_join(first);
		let posted = Posts::<Test>::iter().count() + Openeds::<Test>::iter().count();
		// It stands where the others stood, so their turns are over.
		assert_eq!(dispute(second).stage.turn, Turn::Defender);
		assert_ok!(Court::poke(RuntimeOrigin::signed(SUBMITTER), second));
		assert!(happened(Event::Passed { id: second }));
		assert_eq!(dispute(second).stage.turn, Turn::Challenger);
		assert_noop!(Court::poke(RuntimeOrigin::signed(SUBMITTER), second), Error::<Test>::NotDue);
		// From then on each denial leads to what was said.
		deny(second, STEP).unwrap();
		assert_eq!(dispute(second).stage.turn, Turn::Challenger);
		deny(second, training.count()).unwrap();
		assert_eq!(dispute(second).stage, dispute(first).stage);
		// And nobody is convicted for not saying it again.
		run_fast(CLOCK);
		assert!(Convictions::get()[0].1.dispute < third);
		let said = Posts::<Test>::iter().count() + Openeds::<Test>::iter().count();
		assert_eq!(said, posted);
	});
}

#[test]
fn a_defender_is_not_convicted_for_what_it_said_elsewhere() {
	run(|| {
		let (training, defendant, first) = disputed(1, true);
		let second = challenge(CHALLENGERS[1], &training.accused(defendant));
		run_for(CLOCK / 2);
		training.answer(first).unwrap();
		run_for(CLOCK / 2);
		// Its clock ran out: it is the challenger's turn in both.
		assert_eq!(dispute(second).stage.turn, Turn::Challenger);
		assert_eq!(Convictions::get(), []);
	});
}

/// A twin with the true result that is sued by a friend and says nonsense binds itself.
#[test]
fn a_twin_binds_itself_alone() {
	run(|| {
		let training = MadeUp::new(1, true);
		let (honest, twin) = (training.claimed_by(TRAINERS[0]), training.claimed_by(TRAINERS[1]));
		let friend = challenge(CHALLENGERS[1], &training.accused(twin));
		// It posts milestones of another training.
		let mut nonsense = training.due(friend).unwrap();
		nonsense.roots[3] = H256::repeat_byte(3);
		assert_ok!(Court::open(
			RuntimeOrigin::signed(TRAINERS[1]),
			friend,
			place(friend),
			nonsense
		));
		deny(friend, 3).unwrap();
		run_for(CLOCK);
		assert_eq!(Convictions::get().len(), 1);
		assert_eq!(Convictions::get()[0].0, twin);
		// The other one begins with nothing said, and wins.
		let id = challenge(CHALLENGER, &training.accused(honest));
		assert_eq!(dispute(id).stage.turn, Turn::Defender);
		training.to_the_join(id);
		assert_ok!(judge(TRAINERS[0], id, &training.join()));
		assert!(ended(id, Ending::Acquitted { by_clock: false }));
		assert_eq!(Convictions::get().len(), 1);
	});
}

/// The seat's evidence about another end of the segment is a claim of its own.
#[test]
fn evidence_of_a_seat_is_disputed() {
	run(|| {
		let (replayed, other) = (MadeUp::new(1, true), MadeUp::new(2, false));
		let seat = Defendant::Seat { job: JOB, who: SEAT, bundle_root: H256([3; 32]) };
		Claims::mutate(|claims| claims.insert(seat, (replayed.charged(), STAKE)));
		let end = trainyard_court::game::End::of(&other.checkpoints()[1]);
		Revealed::mutate(|all| all.insert((seat, 0), end));
		let mut accusation = replayed.accused(seat);
		accusation.target = Target::Evidence(0);
		accusation.leaves.pop();
		let id = challenge(CHALLENGER, &accusation);
		other.to_the_join(id);
		assert_ok!(judge(CHALLENGER, id, &other.join()));
		assert!(ended(id, Ending::Convicted { by_clock: false }));
		assert_eq!(Convictions::get()[0].0, seat);
	});
}

/// A leaf that no true result has convicts at once.
#[test]
fn an_impossible_leaf_convicts() {
	run(|| {
		let mut training = MadeUp::new(1, true);
		let defendant = training.claimed_by(TRAINERS[0]);
		// By another specification its checkpoints have other steps.
		let mut spec = trainyard_program::spec::JobSpec::example();
		spec.training.steps = 80;
		spec.training.checkpoint_interval = 40;
		training.case.spec = spec.check().unwrap();
		Claims::mutate(|claims| claims.insert(defendant, (training.charged(), STAKE)));
		let id = challenge(CHALLENGER, &training.accused(defendant));
		assert!(ended(id, Ending::Convicted { by_clock: false }));
		assert_eq!(Convictions::get().len(), 1);
	});
}

#[test]
fn room_is_kept_for_whoever_is_to_move() {
	run(|| {
		let training = MadeUp::new(1, true);
		let defendant = training.claimed_by(TRAINERS[0]);
		let accusation = training.accused(defendant);
		let show = Call::challenge { accusation: accusation.clone(), salt: [0; 32] };
		assert!(!Court::is_urgent(&CHALLENGER, &show));
		let who = RuntimeOrigin::signed(CHALLENGER);
		assert_ok!(Court::commit(who.clone(), JOB, H256::zero()));
		assert!(Court::is_urgent(&CHALLENGER, &show) && !Court::is_urgent(&SUBMITTER, &show));
		let id = challenge(CHALLENGERS[1], &accusation);
		let place = place(id);
		let calls = [
			Call::post { id, place, roots: Roots::new() },
			Call::open { id, place, opening: training.due(id).unwrap() },
			Call::deny { id, place, at: 0 },
			Call::judge { id, openings: OpeningBytes::new() },
			Call::show { id, place, witness: Witness::Result { result: 0, element: 0 } },
		];
		let awaited = || {
			let sides = [TRAINERS[0], CHALLENGERS[1], SUBMITTER];
			sides.map(|who| {
				let urgent = calls.each_ref().map(|call| Court::is_urgent(&who, call));
				assert_eq!(urgent, [Court::awaits(&who, id); 5]);
				urgent[0]
			})
		};
		assert_eq!(awaited(), [true, false, false]);
		training.answer(id).unwrap();
		assert_eq!(awaited(), [false, true, false]);
		deny(id, STEP).unwrap();
		training.answer(id).unwrap();
		deny(id, training.count()).unwrap();
		assert_eq!(awaited(), [true, true, false]);
		for call in [Call::poke { id }, Call::withdraw { id }, Call::raise { id, more: 1 }] {
			assert!(!Court::is_urgent(&CHALLENGERS[1], &call));
		}
		assert_ok!(judge(TRAINERS[0], id, &training.join()));
		assert_eq!(awaited(), [false; 3]);
	});
}

/// What stands already need not be said again, and is not.
#[test]
fn what_was_said_is_not_said_again() {
	run(|| {
		let (training, defendant, first) = disputed(1, true);
		let second = challenge(CHALLENGERS[1], &training.accused(defendant));
		let good = training.due(second).unwrap();
		training.answer(first).unwrap();
		let who = RuntimeOrigin::signed(TRAINERS[0]);
		let (mut other, at) = (good.clone(), place(second));
		other.roots[0] = H256::zero();
		for opening in [good, other] {
			assert_noop!(Court::open(who.clone(), second, at, opening), Error::<Test>::AlreadySaid);
		}
		assert_ok!(Court::poke(who, second));
		assert_eq!(dispute(second).stage, dispute(first).stage);
	});
}

/// Each reason of the game and of the referee has an error of its own.
#[test]
fn every_refusal_has_its_error() {
	use trainyard_court::{game::Refused as Why, Refused as Piece};
	use trainyard_program::parts::PartError;
	use trainyard_protocol::content::OpeningError;
	let pieces = [
		Piece::NoSuchPiece,
		Piece::Missing { tensor: 1, index: 2 },
		Piece::TooLong,
		Piece::LeftOver,
		Piece::Twice,
		Piece::WrongOpening,
		Piece::Chunks(OpeningError::Root),
		Piece::NotCanonical,
		Piece::Part(PartError::NotAPart),
	];
	let all = [
		Why::NoSuchTarget,
		Why::WrongLeaves,
		Why::NothingDenied,
		Why::NotNow,
		Why::WrongPlace,
		Why::AlreadySaid,
		Why::WrongCount { expected: 3 },
		Why::WrongRoots,
		Why::WrongOpening,
		Why::NoSuchClaim,
		Why::NoSuchWitness,
		Why::Unsaid,
		Why::Computation(Piece::NoSuchPiece),
	];
	let all = all.into_iter().chain(pieces.map(Why::Piece));
	let errors: Vec<_> = all.map(|why| crate::moves::refused::<Test>(why).encode()).collect();
	let distinct: std::collections::BTreeSet<_> = errors.iter().collect();
	assert_eq!(distinct.len(), errors.len());
}

#[test]
fn what_was_not_used_is_not_paid() {
	run(|| {
		let (training, _, id) = disputed(1, true);
		let most = Court::move_weight(<() as WeightInfo>::open());
		let used = training.answer(id).unwrap().actual_weight.unwrap();
		assert!((1..most.ref_time()).contains(&used.ref_time()));
		deny(id, STEP).unwrap();
		training.answer(id).unwrap();
		deny(id, training.count()).unwrap();
		let bytes = training.join().encode();
		let most = Court::judge_weight(bytes.len() as u32);
		let used = judge(TRAINERS[0], id, &training.join()).unwrap().actual_weight.unwrap();
		// A join computes no terms and looks up no rows.
		let unused = <() as WeightInfo>::terms(crate::costs::MAX_TERMS).ref_time();
		assert!(used.ref_time() + unused < most.ref_time());
	});
}

/// Whoever follows another one's denials and brings the openings first is not paid for it.
#[test]
fn a_follower_is_not_the_finder() {
	run(|| {
		let (training, defendant, honest) = disputed(1, false);
		let follower = challenge(CHALLENGERS[1], &training.accused(defendant));
		let idle = challenge(CHALLENGERS[2], &training.accused(defendant));
		training.answer(honest).unwrap();
		deny(honest, STEP).unwrap();
		training.answer(honest).unwrap();
		// It sees the last denial in the pool, and is faster.
		assert_ok!(Court::poke(RuntimeOrigin::signed(CHALLENGERS[1]), follower));
		deny(follower, STEP).unwrap();
		deny(follower, training.count()).unwrap();
		assert_noop!(
			Court::judge(RuntimeOrigin::signed(CHALLENGERS[1]), follower, OpeningBytes::new()),
			Error::<Test>::TooEarly
		);
		next_block();
		deny(honest, training.count()).unwrap();
		assert_ok!(judge(CHALLENGERS[1], follower, &training.join()));
		let (_, conviction) = &Convictions::get()[0];
		assert_eq!((conviction.finder, conviction.dispute), (CHALLENGER, follower));
		assert_eq!(wealth(CHALLENGER), ENDOWMENT + (STAKE - AUDIT) / 4 - DEPOSIT + DEPOSIT);
		next_block();
		assert!([honest, follower, idle].iter().all(|id| !Disputes::<Test>::contains_key(id)));
		assert_eq!(wealth(CHALLENGERS[1]), ENDOWMENT);
	});
}

/// Who came later to the same piece is paid if it proves it alone, and who stands elsewhere is not.
#[test]
fn an_older_dispute_at_another_place_finds_nothing() {
	run(|| {
		let (training, defendant, idle) = disputed(1, false);
		let active = challenge(CHALLENGERS[1], &training.accused(defendant));
		training.to_the_join(active);
		assert_ok!(judge(CHALLENGERS[1], active, &training.join()));
		assert_eq!(Convictions::get()[0].1.finder, CHALLENGERS[1]);
		next_block();
		assert!(ended(idle, Ending::Moot));
	});
}

#[test]
fn what_is_stored_is_small() {
	use codec::MaxEncodedLen;
	let dispute = crate::DisputeOf::<Test>::max_encoded_len();
	let docket = crate::docket::Docket::max_encoded_len();
	println!("a dispute has {dispute} bytes at most, a docket {docket}");
	assert!(dispute <= 1_000 && docket <= 2_048);
}
