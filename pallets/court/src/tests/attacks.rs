//! Attacks on the court that nothing else here is about.

use super::made_up::{deny, judge, MadeUp, STEP};
use crate::{
	costs::Used, mock::*, Convicted, Disputes, Ending, Error, Event, Opened as Openeds,
	OpeningBytes, Posts, Side, Won, JUDGE_AFTER,
};
use codec::{Compact, Encode};
use frame_support::{assert_noop, assert_ok};
use trainyard_court::{
	game::{End, Moment, Piece, Target, Turn},
	referee::{
		Chunks, Computation, Lowered, MeanOpening, Openings, SliceOpening, Source, Stretch,
		StretchOpening, TensorOpening, Tensors, To, MAX_OPENINGS,
	},
	Case,
};
use trainyard_program::{
	ops::Role,
	spec::{Activation, JobSpec, Model},
};
use trainyard_protocol::{job::Balance, H256};
use trainyard_traits::{Court as _, Defendant, DisputeId};

fn accused(joins: bool) -> (MadeUp, Defendant<AccountId>) {
	let training = MadeUp::new(1, joins);
	let defendant = training.claimed_by(TRAINERS[0]);
	(training, defendant)
}

fn ended(id: DisputeId, ending: Ending) -> bool {
	let event = RuntimeEvent::Court(Event::Ended { id, ending });
	!Disputes::<Test>::contains_key(id) && System::events().iter().any(|e| e.event == event)
}

fn left(id: DisputeId) -> u32 {
	dispute(id).clocks.left(Side::Defender, &Court::moment())
}

fn poke(id: DisputeId) {
	assert_ok!(Court::poke(RuntimeOrigin::signed(SUBMITTER), id));
}

/// A cheat lets a friend come to the piece by what it says in another friend's dispute, so that the
/// honest finder, who is older, has no time to come there too.
#[test]
fn a_follower_that_was_passed_on_waits_too() {
	run(|| {
		let (training, defendant) = accused(false);
		let [honest, first, second] =
			[0, 1, 2].map(|at| challenge(CHALLENGERS[at], &training.accused(defendant)));
		let lowered = Lowered::new(&training.case, Computation::Step { step: STEP }).unwrap();
		let loss = lowered.find(Role::Loss).unwrap();
		training.answer(honest).unwrap();
		poke(first);
		poke(second);
		deny(honest, STEP).unwrap();
		training.answer(honest).unwrap();
		for id in [first, second] {
			deny(id, STEP).unwrap();
		}
		for id in [honest, first, second] {
			deny(id, loss).unwrap();
			assert_eq!(dispute(id).stage.turn, Turn::Defender);
		}
		run_for(JUDGE_AFTER);
		// The loss is one number, so its opening leads to the piece.
		training.answer(first).unwrap();
		poke(second);
		let piece = dispute(second).stage;
		assert_eq!((piece.turn, dispute(second).moved_at), (Turn::Piece, Court::now()));
		for (id, who) in [(first, CHALLENGERS[1]), (second, CHALLENGERS[2])] {
			let early = Court::judge(RuntimeOrigin::signed(who), id, OpeningBytes::new());
			assert_noop!(early, Error::<Test>::TooEarly);
		}
		poke(honest);
		assert_eq!(dispute(honest).stage.level, piece.level);
	});
}

/// A cheat that is found convicts itself for a friend that is a block ahead, and so has a quarter of its
/// deposit back.
#[test]
fn a_cheat_does_not_convict_itself_before_the_finder_can_follow() {
	run(|| {
		let (training, defendant) = accused(false);
		let honest = challenge(CHALLENGERS[0], &training.accused(defendant));
		let friend = challenge(CHALLENGERS[1], &training.accused(defendant));
		training.answer(honest).unwrap();
		deny(honest, STEP).unwrap();
		training.answer(honest).unwrap();
		poke(friend);
		deny(friend, STEP).unwrap();
		deny(friend, training.count()).unwrap();
		assert_noop!(judge(TRAINERS[0], friend, &training.join()), Error::<Test>::TooEarly);
		next_block();
		deny(honest, training.count()).unwrap();
		run_for(JUDGE_AFTER - 1);
		assert_ok!(judge(TRAINERS[0], friend, &training.join()));
		assert_eq!(Convictions::get()[0].1.finder, CHALLENGERS[0]);
	});
}

/// What is claimed is gone in the challenger's turn: it cannot move, and loses nothing by that.
#[test]
fn a_challenger_of_who_is_gone_loses_nothing() {
	run(|| {
		let (training, defendant) = accused(true);
		let [silent, gives_up] =
			[0, 1].map(|at| challenge(CHALLENGERS[at], &training.accused(defendant)));
		training.answer(silent).unwrap();
		poke(gives_up);
		Claims::set(Default::default());
		assert_noop!(deny(silent, STEP), Error::<Test>::NoSuchDefendant);
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(CHALLENGERS[1]), gives_up));
		assert!(ended(gives_up, Ending::Moot));
		run_for(CLOCK);
		assert!(ended(silent, Ending::Moot));
		for who in [CHALLENGERS[0], CHALLENGERS[1]] {
			assert_eq!(wealth(who), ENDOWMENT);
		}
		assert_eq!(Won::<Test>::iter().count(), 0);
	});
}

/// A cheat that was late goes on by what it says elsewhere, and has no time for anything else.
#[test]
fn who_was_late_and_spoke_elsewhere_has_no_time_left() {
	run(|| {
		let (training, defendant) = accused(false);
		let honest = challenge(CHALLENGERS[0], &training.accused(defendant));
		run_for(CLOCK / 2);
		let friend = challenge(CHALLENGERS[1], &training.accused(defendant));
		ServiceWeight::set(frame_support::weights::Weight::zero());
		run_for(CLOCK / 2);
		assert_eq!(left(honest), 0);
		// Nobody looked, and it says in the other dispute what was due.
		training.answer(friend).unwrap();
		ServiceWeight::set(SERVICE);
		next_block();
		assert_eq!(dispute(honest).stage.turn, Turn::Challenger);
		deny(honest, STEP).unwrap();
		assert_noop!(training.answer(honest), Error::<Test>::TooLate);
		next_block();
		assert!(ended(honest, Ending::Convicted { by_clock: true }));
	});
}

/// A trainer that is a seat of the same job says and loses each by itself.
#[test]
fn one_account_is_two_defendants() {
	run(|| {
		let (training, trainer) = accused(true);
		let other = MadeUp::new(2, false);
		let bundle_root = training.charged().result.bundle_root;
		let seat = Defendant::Seat { job: JOB, who: TRAINERS[0], bundle_root };
		Claims::mutate(|claims| claims.insert(seat, (training.charged(), STAKE)));
		let end = End::of(&other.checkpoints()[1]);
		Revealed::mutate(|all| all.insert((seat, 0), end));
		let mut of_seat = training.accused(seat);
		of_seat.target = Target::Evidence(0);
		of_seat.leaves.pop();
		// A deposit that was lost against the trainer waits on the account of both.
		let lost = challenge(CHALLENGERS[0], &training.accused(trainer));
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(CHALLENGERS[0]), lost));
		let [one, two] = [(1, &of_seat), (2, &training.accused(trainer))]
			.map(|(at, a)| challenge(CHALLENGERS[at], a));
		other.to_the_join(one);
		assert_eq!(
			dispute(two).stage.turn,
			Turn::Defender,
			"nothing of it was said by the trainer"
		);
		assert_ok!(judge(CHALLENGERS[1], one, &other.join()));
		assert_eq!(Convictions::get().len(), 1);
		assert!(Convicted::<Test>::contains_key(JOB, seat));
		assert!(!Convicted::<Test>::contains_key(JOB, trainer));
		// The finder has nothing of what the trainer won.
		assert_eq!(Won::<Test>::get(JOB, trainer), DEPOSIT);
		training.to_the_join(two);
		assert_ok!(judge(TRAINERS[0], two, &training.join()));
		assert_eq!(Court::settle(&trainer, true), 2 * DEPOSIT);
		assert_eq!(Court::settle(&seat, true), 0);
		assert_eq!(Balances::reserved_balance(TRAINERS[0]), 0);
	});
}

/// Deposits that an account has at stake, and those that it won, lie under one reason and are never
/// taken for each other.
#[test]
fn who_accuses_while_it_is_accused_pays_each_from_its_own() {
	run(|| {
		let trainings = [MadeUp::new(1, false), MadeUp::new(2, true)];
		let [cheat, true_one] = [0, 1].map(|at| trainings[at].claimed_by(TRAINERS[at]));
		let lost = challenge(CHALLENGERS[0], &trainings[0].accused(cheat));
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(CHALLENGERS[0]), lost));
		let own = challenge(TRAINERS[0], &trainings[1].accused(true_one));
		assert_eq!(Balances::reserved_balance(TRAINERS[0]), 2 * DEPOSIT);
		let honest = challenge(CHALLENGERS[1], &trainings[0].accused(cheat));
		trainings[0].to_the_join(honest);
		assert_ok!(judge(CHALLENGERS[1], honest, &trainings[0].join()));
		Court::do_try_state().unwrap();
		assert_eq!(Balances::reserved_balance(TRAINERS[0]), DEPOSIT);
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(TRAINERS[0]), own));
		assert_eq!(Balances::reserved_balance(TRAINERS[0]), 0);
		assert_eq!(Won::<Test>::get(JOB, true_one), DEPOSIT);
	});
}

/// What was committed to on another chain cannot be shown on this one.
#[test]
fn a_challenge_of_another_chain_is_none_of_this() {
	run(|| {
		let (training, defendant) = accused(false);
		let accusation = training.accused(defendant);
		let (who, salt) = (CHALLENGERS[0], [3; 32]);
		let digest =
			|| Court::digest(&who, &defendant, &accusation.target, &accusation.claimed, &salt);
		let hash = digest();
		assert_ok!(Court::commit(RuntimeOrigin::signed(who), JOB, hash));
		next_block();
		frame_system::BlockHash::<Test>::insert(0, sp_core::H256::repeat_byte(1));
		assert_ne!(digest(), hash);
		let shown = Court::challenge(RuntimeOrigin::signed(who), accusation, salt);
		assert_noop!(shown, Error::<Test>::WrongReveal);
	});
}

/// Friends change who is heard again and again while all blocks are full: no clock stands by that.
#[test]
fn raising_again_and_again_stops_no_clock() {
	run(|| {
		let (training, defendant) = accused(true);
		let ids = [0, 1, 2, 3].map(|at| challenge(CHALLENGERS[at], &training.accused(defendant)));
		IsFull::set(true);
		let all = || ids.iter().map(|id| CLOCK - left(*id)).sum::<u32>();
		let (begin, before) = (Court::now(), all());
		for (turn, more) in (0..60usize).zip(1 as Balance..) {
			// One of the last two has the largest deposit, and the first is the oldest.
			let id = ids[2 + turn % 2];
			let who = RuntimeOrigin::signed(dispute(id).challenger);
			assert_ok!(Court::raise(who, id, more * 10));
			run_for(1 + turn as u32 % 3);
		}
		// Two clocks ran at any time, and a quarter of the blocks counts; less than a tick of each is
		// left over.
		let blocks = Court::now() - begin;
		let counted = all() - before;
		assert!((blocks / 2 - 4..=blocks / 2).contains(&counted), "{counted} of {blocks} blocks");
	});
}

/// What could be most numbers, lists or tensors in the fewest bytes is refused like anything else.
#[test]
fn openings_that_are_large_in_memory_are_refused() {
	run(|| {
		let (training, defendant) = accused(true);
		let id = challenge(CHALLENGERS[0], &training.accused(defendant));
		training.to_the_join(id);
		let chunks = |numbers| Chunks { numbers, bytes: vec![], siblings: vec![] };
		let tensor = |source, chunks| TensorOpening { source, chunks };
		let many = MAX_OPENINGS - 100;
		let tensors = |tensors| Tensors { rows: None, tensors };
		let nothing = SliceOpening { losses: vec![], correct: vec![], path: vec![] };
		let bombs = [
			Openings::Tensors(tensors(vec![tensor(
				Source::Features,
				chunks(vec![Compact(0); many]),
			)])),
			Openings::Tensors(tensors(vec![tensor(Source::Labels, chunks(vec![])); many / 4])),
			Openings::Mean(MeanOpening { before: None, slices: vec![nothing; many / 3] }),
			Openings::Blob(H256::zero(), chunks(vec![Compact(63); many])),
			Openings::Stretch(StretchOpening {
				before: None,
				tensors: tensors(vec![tensor(Source::Features, chunks(vec![])); many / 4]),
			}),
			Openings::Contents(vec![H256::zero(); many / 32]),
		];
		for bomb in bombs {
			let bytes = bomb.encode();
			assert!(bytes.len() > many - 100 && bytes.len() <= MAX_OPENINGS);
			assert_noop!(judge(TRAINERS[0], id, &bomb), Error::<Test>::WrongOpenings);
		}
		// Lists that say that they are longer than what follows.
		for variant in 0..8u8 {
			for length in [u32::MAX, 1 << 30, 1 << 16] {
				let bytes = [vec![variant], Compact(length).encode(), vec![0; 64]].concat();
				let judged =
					Court::judge(RuntimeOrigin::signed(TRAINERS[0]), id, bytes.try_into().unwrap());
				assert_noop!(judged, Error::<Test>::WrongOpenings);
			}
		}
		assert_eq!(Convictions::get(), []);
	});
}

/// A job whose rows all lie in few chunks: whatever is decided about it weighs what a call says before.
#[test]
fn a_decision_weighs_no_more_than_its_call_says() {
	let mut spec = JobSpec::example();
	(spec.dataset.train_rows, spec.dataset.validation_rows) = (16_384, 4_096);
	(spec.dataset.features, spec.dataset.classes) = (1, 65_536);
	spec.training.batch_size = 16_384;
	let hidden = vec![1].try_into().unwrap();
	spec.model = Model::Mlp { hidden, activation: Activation::Relu };
	let case = Case { spec: spec.check().unwrap(), seed: H256::zero() };
	let lowered = Lowered::new(&case, Computation::Step { step: 0 }).unwrap();
	let result = MadeUp::new(1, true).result();
	let (mut terms, mut rows) = (0, 0);
	for result_index in 0..lowered.results() {
		let all = lowered.terms(result_index, 0).unwrap();
		let length = lowered.stretch(result_index).unwrap();
		let to = match all > length {
			true => To::Chain { taken: length, digest: H256::zero() },
			false => To::Element { bits: 0 },
		};
		let stretch = Stretch { result: result_index, element: 0, from: None, to };
		let at = Moment::Step { segment: 0, step: 0 };
		let piece = Piece::Stretch { at, state: H256::zero(), results: H256::zero(), stretch };
		let used = Used::of(&case, &result, &piece);
		assert_eq!(u64::from(used.terms), all.min(length));
		(terms, rows) = (terms.max(used.terms), rows.max(used.rows));
	}
	println!("{terms} terms, {rows} rows");
	assert!(terms <= Used::MOST.terms && rows <= Used::MOST.rows, "{terms} terms, {rows} rows");
	assert!(terms >= 32_768, "a sum of so many exponentials");
}

/// Whatever a convict still says is refused, and keeps nothing in the state.
#[test]
fn a_convict_stores_nothing_more() {
	run(|| {
		let (training, defendant) = accused(false);
		let [one, two] = [0, 1].map(|at| challenge(CHALLENGERS[at], &training.accused(defendant)));
		let late = training.due(two).unwrap();
		run_for(CLOCK - 2);
		Court::settle(&defendant, false);
		let who = RuntimeOrigin::signed(TRAINERS[0]);
		let place = super::made_up::place(two);
		assert_noop!(Court::open(who, two, place, late), Error::<Test>::AlreadyConvicted);
		assert_eq!(Posts::<Test>::iter().count() + Openeds::<Test>::iter().count(), 0);
		run_for(3);
		assert!([one, two].iter().all(|id| !Disputes::<Test>::contains_key(id)));
		assert_eq!(Convictions::get(), [], "who lost otherwise is not convicted again");
	});
}
