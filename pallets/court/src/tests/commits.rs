//! Commit, then challenge.

use super::made_up::MadeUp;
use crate::{
	mock::*, Commitments, Disputes, Ending, Error, Event, NextDispute, Standings, WeightInfo, Why,
};
use frame_support::weights::Weight;
use frame_support::{assert_noop, assert_ok, dispatch::GetDispatchInfo};
use trainyard_court::game::{Claimed, End, Target};
use trainyard_protocol::{JobId, H256};
use trainyard_traits::{Accusation, Court as _, Defendant, Standing};

const SALT: [u8; 32] = [9; 32];

fn commit(who: AccountId, accusation: &Accusation<AccountId>) {
	let Accusation { defendant, target, claimed, .. } = accusation;
	let hash = Court::digest(&who, defendant, target, claimed, &SALT);
	assert_ok!(Court::commit(RuntimeOrigin::signed(who), JOB, hash));
}

fn show(
	who: AccountId,
	accusation: &Accusation<AccountId>,
) -> frame_support::dispatch::DispatchResult {
	let shown = Court::challenge(RuntimeOrigin::signed(who), accusation.clone(), SALT);
	shown.map(drop).map_err(|refused| refused.error)
}

/// A trainer and what it can be accused of.
fn accused() -> Accusation<AccountId> {
	let training = MadeUp::new(1, false);
	let defendant = training.claimed_by(TRAINERS[0]);
	training.accused(defendant)
}

fn happened(event: Event<Test>) -> bool {
	System::events().iter().any(|record| record.event == RuntimeEvent::Court(event.clone()))
}

#[test]
fn a_challenge_begins_a_dispute() {
	run(|| {
		let accusation = accused();
		let who = CHALLENGERS[0];
		commit(who, &accusation);
		let bound = Standing { commitments: 1, disputes: 0, ended: None };
		assert_eq!(Court::standing(JOB), bound);
		assert_eq!(Balances::reserved_balance(who), DEPOSIT);
		next_block();
		assert_ok!(show(who, &accusation));
		assert_eq!(Court::standing(JOB), Standing { commitments: 0, disputes: 1, ended: None });
		let made = dispute(0);
		assert_eq!((made.challenger, made.deposit, made.stake), (who, DEPOSIT, 0));
		assert_eq!((made.defendant, made.committed_at), (accusation.defendant, 1));
		assert_eq!((made.clocks.challenger, made.clocks.defender), (CLOCK, CLOCK));
		assert!(made.clocks.since.is_some(), "it is heard");
		assert!(happened(Event::Challenged {
			id: 0,
			challenger: who,
			defendant: accusation.defendant,
			target: accusation.target,
			claimed: accusation.claimed,
			deposit: DEPOSIT,
			rank: 0,
			clock: CLOCK,
		}));
		assert!(happened(Event::Heard { id: 0 }));
		// Another one may follow.
		commit(who, &accusation);
	});
}

#[test]
fn commitments_are_taken_in_the_window() {
	run(|| {
		let who = RuntimeOrigin::signed(CHALLENGERS[0]);
		let unknown: JobId = 77;
		assert_noop!(Court::commit(who.clone(), unknown, H256::zero()), Error::<Test>::NotOpen);
		run_for(WINDOW.until - 1);
		assert_ok!(Court::commit(who.clone(), JOB, H256::zero()));
		assert_noop!(Court::commit(who.clone(), JOB, H256::zero()), Error::<Test>::HasCommitted);
		assert_noop!(
			Court::commit(RuntimeOrigin::signed(777), JOB, H256::zero()),
			sp_runtime::TokenError::FundsUnavailable
		);
		next_block();
		// A commitment holds the job, and no window.
		let other = RuntimeOrigin::signed(CHALLENGERS[1]);
		assert_noop!(Court::commit(other, JOB, H256::zero()), Error::<Test>::NotOpen);
		assert!(!WINDOW.is_over(Court::now(), &Court::standing(JOB)));
		run_for(REVEAL + 1);
		assert!(WINDOW.is_over(Court::now(), &Court::standing(JOB)));
	});
}

#[test]
fn a_challenge_in_the_last_block_counts() {
	run(|| {
		let accusation = accused();
		run_for(WINDOW.until - 1);
		commit(CHALLENGERS[0], &accusation);
		run_for(REVEAL);
		assert_ok!(show(CHALLENGERS[0], &accusation));
		// While it runs others may follow, and for a while after it.
		commit(CHALLENGERS[1], &accusation);
		next_block();
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(CHALLENGERS[0]), 0));
		run_for(REVEAL);
		assert_noop!(
			Court::commit(RuntimeOrigin::signed(CHALLENGERS[2]), JOB, H256::zero()),
			Error::<Test>::NotOpen
		);
	});
}

#[test]
fn a_window_that_is_held_open_ends() {
	run(|| {
		let accusation = accused();
		let mut held = 0;
		for who in CROWD {
			if !WINDOW.is_open(Court::now(), &Court::standing(JOB)) {
				break;
			}
			commit(who, &accusation);
			next_block();
			assert_ok!(show(who, &accusation));
			let id = NextDispute::<Test>::get() - 1;
			assert_ok!(Court::withdraw(RuntimeOrigin::signed(who), id));
			run_fast(WINDOW.again);
			held += 1;
		}
		assert!((100..CROWD.count()).contains(&held), "{held} friends");
		assert!(Court::now() > WINDOW.last() && Court::now() < WINDOW.last() + 2 * WINDOW.again);
		run_fast(1);
		assert!(WINDOW.is_over(Court::now(), &Court::standing(JOB)));
	});
}

#[test]
fn what_is_shown_must_be_what_was_committed_to() {
	run(|| {
		let accusation = accused();
		let who = CHALLENGERS[0];
		assert_noop!(show(who, &accusation), Error::<Test>::NotCommitted);
		commit(who, &accusation);
		assert_noop!(show(who, &accusation), Error::<Test>::TooEarly);
		next_block();
		let mut other = accusation.clone();
		other.target = Target::Segment(1);
		assert_noop!(show(who, &other), Error::<Test>::WrongReveal);
		other = accusation.clone();
		other.claimed = Claimed::Other;
		assert_noop!(show(who, &other), Error::<Test>::WrongReveal);
		other = accusation.clone();
		let bundle_root = H256([3; 32]);
		other.defendant = Defendant::Seat { job: JOB, who: TRAINERS[0], bundle_root };
		assert_noop!(show(who, &other), Error::<Test>::WrongReveal);
		let salted = Court::challenge(RuntimeOrigin::signed(who), accusation.clone(), [8; 32]);
		assert_noop!(salted, Error::<Test>::WrongReveal);
		assert_ok!(show(who, &accusation));
		assert_noop!(show(who, &accusation), Error::<Test>::NotCommitted);
	});
}

#[test]
fn a_challenge_that_nothing_is_about_is_refused() {
	run(|| {
		let training = MadeUp::new(1, false);
		let good = accused();
		let nobody = Defendant::Trainer { job: JOB, who: TRAINERS[1] };
		let said = Claimed::End(End::of(&training.checkpoints()[1]));
		let cases: Vec<(Error<Test>, Accusation<AccountId>)> = vec![
			(Error::NoSuchDefendant, Accusation { defendant: nobody, ..good.clone() }),
			(Error::NothingDenied, Accusation { claimed: said, ..good.clone() }),
			(Error::NothingDenied, Accusation { claimed: Claimed::Other, ..good.clone() }),
			(Error::NoSuchTarget, Accusation { target: Target::Segment(2), ..good.clone() }),
			(Error::NoSuchTarget, Accusation { target: Target::Stop, ..good.clone() }),
			(Error::NoSuchTarget, Accusation { target: Target::Evidence(0), ..good.clone() }),
			(
				Error::NoSuchTarget,
				Accusation {
					target: Target::Rescue { blob: H256::zero(), state: 1 },
					..good.clone()
				},
			),
			(Error::WrongLeaves, Accusation { target: Target::Segment(1), ..good.clone() }),
			(
				Error::WrongLeaves,
				Accusation { leaves: vec![training.leaf(0)].try_into().unwrap(), ..good.clone() },
			),
			(
				Error::WrongLeaves,
				Accusation {
					leaves: vec![training.leaf(0), training.leaf(2)].try_into().unwrap(),
					..good.clone()
				},
			),
		];
		// A seat is accused of its evidence alone.
		let bundle_root = H256([3; 32]);
		let evident = Defendant::Seat { job: JOB, who: TRAINERS[2], bundle_root };
		Claims::mutate(|claims| claims.insert(evident, (training.charged(), STAKE)));
		let of_seat = Accusation { defendant: evident, ..good.clone() };
		let unsaid = Accusation { target: Target::Evidence(0), ..of_seat.clone() };
		let cases = cases
			.into_iter()
			.chain([(Error::NoSuchTarget, of_seat), (Error::NoSuchTarget, unsaid)]);
		for (who, (error, accusation)) in CROWD.zip(cases) {
			commit(who, &accusation);
			next_block();
			assert_noop!(show(who, &accusation), error);
		}
		commit(TRAINERS[0], &good);
		next_block();
		assert_noop!(show(TRAINERS[0], &good), Error::<Test>::Oneself);
		assert_eq!(Disputes::<Test>::iter().count(), 0);
	});
}

/// What is seen in the pool names its account.
#[test]
fn a_copied_challenge_cannot_be_opened() {
	run(|| {
		let accusation = accused();
		commit(CHALLENGERS[0], &accusation);
		let hash = Commitments::<Test>::get(0).unwrap().hash;
		let copyist = RuntimeOrigin::signed(CHALLENGERS[1]);
		// The hash is copied, and then what is shown.
		assert_ok!(Court::commit(copyist, JOB, hash));
		next_block();
		assert_noop!(show(CHALLENGERS[1], &accusation), Error::<Test>::WrongReveal);
		assert_ok!(show(CHALLENGERS[0], &accusation));
		assert_noop!(show(CHALLENGERS[1], &accusation), Error::<Test>::WrongReveal);
		run_for(REVEAL + 1);
		assert_eq!(wealth(CHALLENGERS[1]), ENDOWMENT - DEPOSIT);
		assert_eq!(wealth(CHALLENGERS[0]), ENDOWMENT);
	});
}

#[test]
fn unopened_commitments_cost() {
	run(|| {
		let accusation = accused();
		commit(CHALLENGERS[0], &accusation);
		run_for(REVEAL);
		assert_noop!(Court::poke(RuntimeOrigin::signed(1), 0), Error::<Test>::NotDue);
		assert_eq!(wealth(JACKPOT), 1);
		next_block();
		assert_eq!(wealth(JACKPOT), 1 + DEPOSIT);
		assert_eq!(wealth(CHALLENGERS[0]), ENDOWMENT - DEPOSIT);
		assert!(happened(Event::Lapsed { id: 0 }));
		let (to, why) = (Some(JACKPOT), Why::NotShown);
		assert!(happened(Event::Split { id: Some(0), to, amount: DEPOSIT, why }));
		assert_noop!(show(CHALLENGERS[0], &accusation), Error::<Test>::NotCommitted);
		// It opened no window again.
		assert_eq!(Court::standing(JOB), Standing::default());
	});
}

/// The time to show a challenge stands still where blocks have no room for it, and not for ever.
#[test]
fn full_blocks_lapse_no_commitment() {
	run(|| {
		let accusation = accused();
		IsFull::set(true);
		commit(CHALLENGERS[0], &accusation);
		commit(CHALLENGERS[1], &accusation);
		run_for(3 * REVEAL);
		assert_ok!(show(CHALLENGERS[0], &accusation));
		assert_noop!(Court::poke(RuntimeOrigin::signed(1), 1), Error::<Test>::NotDue);
		// Nothing is served any more.
		ServiceWeight::set(Weight::zero());
		run_for(REVEAL + 4);
		assert_noop!(show(CHALLENGERS[1], &accusation), Error::<Test>::TooLate);
		assert_ok!(Court::poke(RuntimeOrigin::signed(1), 1));
		assert_eq!(wealth(JACKPOT), 1 + DEPOSIT);
	});
}

/// A challenge that comes too late because another one was faster costs nothing.
#[test]
fn a_challenge_of_a_convict_is_moot() {
	run(|| {
		let accusation = accused();
		commit(CHALLENGERS[0], &accusation);
		Court::settle(&accusation.defendant, false);
		next_block();
		let before = Standings::<Test>::get(JOB).ended;
		assert_ok!(show(CHALLENGERS[0], &accusation));
		assert_eq!(Balances::reserved_balance(CHALLENGERS[0]), 0);
		assert_eq!(Court::standing(JOB), Standing { commitments: 0, disputes: 0, ended: before });
		assert!(happened(Event::Ended { id: 0, ending: Ending::Moot }));
	});
}

#[test]
fn numbers_are_given_out_once() {
	run(|| {
		NextDispute::<Test>::put(u64::MAX);
		assert_noop!(
			Court::commit(RuntimeOrigin::signed(CHALLENGERS[0]), JOB, H256::zero()),
			Error::<Test>::NoNumberLeft
		);
	});
}

/// A challenge pays for the results of the step that it is about, not for the most that there can be.
#[test]
fn what_a_challenge_did_not_use_returns() {
	run(|| {
		let accusation = accused();
		let call = crate::Call::<Test>::challenge { accusation: accusation.clone(), salt: SALT };
		let most = call.get_dispatch_info().call_weight;
		let dispatch = |who: AccountId| {
			Court::challenge(RuntimeOrigin::signed(who), accusation.clone(), SALT).unwrap()
		};
		(0..2).for_each(|at| commit(CHALLENGERS[at], &accusation));
		next_block();
		let used = dispatch(CHALLENGERS[0]).actual_weight.unwrap();
		assert_eq!(used, Court::moved_weight(<() as WeightInfo>::challenge(), 44));
		assert!(used.ref_time() < most.ref_time() / 2, "{used} of {most}");
		// Where somebody else was first, nothing is lowered at all.
		assert_eq!(Court::settle(&accusation.defendant, false), 0);
		let moot = dispatch(CHALLENGERS[1]).actual_weight.unwrap();
		assert_eq!(moot, <() as WeightInfo>::challenge());
		assert!(moot.ref_time() < used.ref_time());
	});
}
