//! Attacks on the court that nothing else here is about.

use super::made_up::{deny, judge, MadeUp, STEP};
use crate::{
	costs::Used, mock::*, Convicted, Disputes, Ending, Error, Event, OpeningBytes, Side, Won,
	JUDGE_AFTER,
};
use codec::Compact;
use frame_support::{assert_noop, assert_ok};
use trainyard_court::{
	game::{Moment, Piece, Turn},
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
use trainyard_protocol::H256;
use trainyard_traits::{Defendant, DisputeId};

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
