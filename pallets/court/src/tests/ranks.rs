//! Dockets: whose clock runs, and who waits.

use super::made_up::{deny, MadeUp, STEP};
use crate::{docket::DOCKET, mock::*, Aside, Disputes, Ending, Error, Event, Side};
use alloc::collections::BTreeSet;
use frame_support::{assert_noop, assert_ok};
use trainyard_protocol::job::Balance;
use trainyard_traits::{Accusation, Defendant, DisputeId};

/// Many challenge at the same time, in the order of their accounts. Returns their disputes.
fn crowd(count: usize, accusation: &Accusation<AccountId>) -> Vec<DisputeId> {
	let Accusation { defendant, target, claimed, .. } = accusation;
	let first = crate::NextDispute::<Test>::get();
	let salt = [1; 32];
	// Nobody accuses twice of the same at a time.
	let taken: BTreeSet<AccountId> = Disputes::<Test>::iter().map(|(_, d)| d.challenger).collect();
	let all: Vec<AccountId> = CROWD.filter(|who| !taken.contains(who)).take(count).collect();
	for who in &all {
		let hash = Court::digest(who, defendant, target, claimed, &salt);
		assert_ok!(Court::commit(RuntimeOrigin::signed(*who), JOB, hash));
	}
	run_unchecked(1);
	for who in &all {
		assert_ok!(Court::challenge(RuntimeOrigin::signed(*who), accusation.clone(), salt));
	}
	(first..).take(count).collect()
}

fn accused() -> (MadeUp, Defendant<AccountId>, Accusation<AccountId>) {
	let training = MadeUp::new(1, true);
	let defendant = training.claimed_by(TRAINERS[0]);
	let accusation = training.accused(defendant);
	(training, defendant, accusation)
}

fn raise(id: DisputeId, by: Balance) {
	assert_ok!(Court::raise(RuntimeOrigin::signed(dispute(id).challenger), id, by));
}

fn left(id: DisputeId) -> u32 {
	dispute(id).clocks.left(Side::Defender, &Court::moment())
}

fn happened(event: Event<Test>) -> bool {
	System::events().iter().any(|record| record.event == RuntimeEvent::Court(event.clone()))
}

#[test]
fn two_are_heard_and_the_clocks_of_others_stand() {
	run(|| {
		let (training, defendant, accusation) = accused();
		let all = crowd(4, &accusation);
		run_for(10);
		assert_eq!([0, 1, 2, 3].map(|at| left(all[at])), [90, 90, 100, 100]);
		// The largest deposit takes the first place, and the oldest of the others the second.
		raise(all[3], 1);
		assert_eq!(docket(&defendant).heard(), [Some(all[3]), Some(all[0])]);
		assert!(happened(Event::Raised { id: all[3], by: 1, rank: 0 }));
		assert!(happened(Event::Heard { id: all[3] }));
		run_for(10);
		assert_eq!([0, 1, 2, 3].map(|at| left(all[at])), [80, 90, 100, 90]);
		// Where the challenger is to move it is its own clock that runs, and another dispute is heard.
		training.answer(all[3]).unwrap();
		assert_eq!(docket(&defendant).heard(), [Some(all[0]), Some(all[1])]);
		run_for(10);
		assert_eq!([0, 1, 2].map(|at| left(all[at])), [70, 80, 100]);
		let challenger = |id| dispute(id).clocks.left(Side::Challenger, &Court::moment());
		assert_eq!(challenger(all[3]), 90);
		deny(all[3], STEP).unwrap();
		assert_eq!((left(all[3]), dispute(all[3]).clocks.challenger), (90, 90));
		assert_eq!(docket(&defendant).heard(), [Some(all[3]), Some(all[0])]);
	});
}

#[test]
fn deposits_grow() {
	run(|| {
		let (_, _, accusation) = accused();
		let all = crowd(2, &accusation);
		let (mine, other) = (RuntimeOrigin::signed(1_000), RuntimeOrigin::signed(1_001));
		assert_noop!(Court::raise(other, all[0], 5), Error::<Test>::NotChallenger);
		assert_noop!(Court::raise(mine.clone(), all[0], 0), Error::<Test>::NothingMore);
		assert_noop!(Court::raise(mine.clone(), 77, 5), Error::<Test>::NoDispute);
		assert_noop!(
			Court::raise(mine.clone(), all[0], ENDOWMENT),
			sp_runtime::TokenError::FundsUnavailable
		);
		assert_ok!(Court::raise(mine.clone(), all[0], 5));
		assert_eq!(dispute(all[0]).deposit, DEPOSIT + 5);
		assert_eq!(Balances::reserved_balance(1_000), DEPOSIT + 5);
		// All of it is at stake.
		assert_ok!(Court::withdraw(mine.clone(), all[0]));
		assert_eq!(wealth(1_000), ENDOWMENT - DEPOSIT - 5);
		assert_noop!(Court::raise(mine, all[0], 5), Error::<Test>::NoDispute);
	});
}

/// A trainer answers a thousand challenges, two at a time, each within the clock of that dispute, and
/// earns their deposits.
#[test]
fn a_thousand_challenges_make_nobody_late() {
	run(|| {
		let (training, defendant, accusation) = accused();
		let all = crowd(1_000, &accusation);
		assert_eq!(docket(&defendant).entries().len(), DOCKET as usize);
		assert_eq!(Aside::<Test>::iter_prefix(defendant).count(), 1_000 - DOCKET as usize);
		let mut answered = 0u32;
		while Disputes::<Test>::iter_keys().next().is_some() {
			// It works for nearly half of a clock on each, one after the other.
			run_unchecked(CLOCK / 2 - 1);
			// What it has said serves all that come into the docket, and nobody denies the truth.
			for entry in docket(&defendant).entries().to_vec() {
				let _ = Court::poke(RuntimeOrigin::signed(SUBMITTER), entry.id());
			}
			if let Some(id) = docket(&defendant).heard().into_iter().flatten().next() {
				training.answer(id).unwrap();
				answered += 1;
			}
			assert_eq!(Convictions::get(), [], "after {answered} answers");
		}
		assert_eq!(answered, 1, "one answer served all");
		run_fast(1);
		assert_eq!(crate::Won::<Test>::get(JOB, defendant), 1_000 * DEPOSIT);
		assert_eq!(all.len(), 1_000);
	});
}

/// Friends with ever larger deposits cannot keep a challenge with the least from being heard: it grows
/// older than they are.
#[test]
fn nobody_is_passed_for_ever() {
	run(|| {
		SideClock::set(10);
		let (_, defendant, accusation) = accused();
		let friends = crowd(DOCKET as usize, &accusation);
		for (id, more) in friends.iter().zip(1u128..) {
			raise(*id, more);
		}
		let [poor] = crowd(1, &accusation)[..] else { panic!("one") };
		assert!(dispute(poor).aside);
		let begin = Court::now();
		let mut heard = false;
		for deposit in 1_000u128.. {
			// Another friend comes in every block and pays more than all before; the heard ones
			// withdraw before the clock runs out.
			let [friend] = crowd(1, &accusation)[..] else { panic!("one") };
			raise(friend, deposit);
			for id in docket(&defendant).heard().into_iter().flatten() {
				if id == poor {
					heard = true;
				} else if left(id) <= 2 {
					let who = RuntimeOrigin::signed(dispute(id).challenger);
					assert_ok!(Court::withdraw(who, id));
				}
			}
			if heard {
				break;
			}
			assert!(Court::now() < begin + 64 * 10 * 2, "it is passed for ever");
		}
		// From then on it is heard until the defender moves.
		assert!(left(poor) > 0);
		run_fast(10);
		assert_eq!(Convictions::get()[0].1.dispute, poor);
	});
}

#[test]
fn friends_do_not_fill_a_docket() {
	run(|| {
		let (training, defendant, accusation) = accused();
		let friends = crowd(DOCKET as usize, &accusation);
		let [honest] = crowd(1, &accusation)[..] else { panic!("one") };
		assert!(dispute(honest).aside && happened(Event::SetAside { id: honest }));
		// What waits has clocks that stand.
		run_for(5);
		assert_eq!(left(honest), CLOCK);
		// With a larger deposit it takes the place of the least among the younger half.
		raise(honest, 1);
		assert!(!dispute(honest).aside && dispute(friends[63]).aside);
		assert_eq!(docket(&defendant).heard(), [Some(honest), Some(friends[0])]);
		assert!(happened(Event::SetAside { id: friends[63] }));
		// It displaced nobody of the older half, and neither does anybody else.
		let rich = crowd(40, &accusation);
		rich.iter().for_each(|id| raise(*id, 1_000));
		assert!(friends[..32].iter().all(|id| !dispute(*id).aside));
		assert!(friends[32..].iter().all(|id| dispute(*id).aside));
		assert_eq!(rich.iter().filter(|id| !dispute(**id).aside).count(), 32);
		// What was set aside moves on if somebody moves, and comes back when there is room.
		assert!(dispute(friends[40]).aside);
		training.answer(friends[40]).unwrap();
		let who = RuntimeOrigin::signed(dispute(friends[0]).challenger);
		assert_ok!(Court::withdraw(who, friends[0]));
		assert!(!dispute(friends[32]).aside, "the oldest that waits");
		let who = RuntimeOrigin::signed(dispute(friends[1]).challenger);
		assert_ok!(Court::withdraw(who, friends[1]));
		assert!(!dispute(friends[33]).aside && dispute(friends[40]).aside);
	});
}

#[test]
fn what_was_set_aside_can_be_taken_back() {
	run(|| {
		let (training, defendant, accusation) = accused();
		let friends = crowd(DOCKET as usize, &accusation);
		let all = crowd(3, &accusation);
		let who = dispute(all[1]).challenger;
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(who), all[1]));
		assert!(happened(Event::Ended { id: all[1], ending: Ending::TakenBack }));
		assert_eq!(wealth(who), ENDOWMENT);
		assert_eq!(crate::Won::<Test>::get(JOB, defendant), 0);
		// A conviction makes all others moot, those that wait too.
		training.to_the_join(friends[0]);
		let false_one = MadeUp::new(1, false);
		Claims::mutate(|claims| claims.insert(defendant, (false_one.charged(), STAKE)));
		run_fast(CLOCK);
		assert_eq!(Convictions::get().len(), 1);
		run_fast(10);
		assert_eq!(Disputes::<Test>::iter().count(), 0);
		let finder = Convictions::get()[0].1.finder;
		let others = CROWD.filter(|who| *who != finder);
		assert!(others.into_iter().all(|who| wealth(who) == ENDOWMENT));
	});
}
