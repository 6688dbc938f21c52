//! Who is drawn.

use crate::{mock::*, Event};
use frame_support::{
	assert_ok,
	traits::{fungible::MutateHold, tokens::Precision},
};
use std::collections::BTreeSet;
use trainyard_protocol::duties::Drawing;
use trainyard_protocol::{
	audit::{AuditPhase, Decision},
	seats::Resources,
	vrf,
};
use trainyard_traits::{AuditRequest, AuditStatus, Audits, CommitteeRequest};

#[test]
fn a_committee_and_segments_are_drawn_from_later_blocks() {
	run(|| {
		bonded(6);
		open(1, 3);
		let ready = 1 + SEED_BLOCKS + 1;
		tick_until(is_committing);
		assert_eq!(System::block_number(), u64::from(ready));
		let view = view();
		assert_eq!(view.phase, AuditPhase::Committing { until: ready + COMMIT });
		assert_eq!(Due::get(), Some(ready + COMMIT + 1));
		let distinct: BTreeSet<_> = committee().into_iter().collect();
		assert_eq!(distinct.len(), 3);
		let seed = view.seed.unwrap();
		System::assert_last_event(
			Event::CommitteeDrawn { job: JOB, round: 0, committee: committee(), seed }.into(),
		);
		// Each keeps the key that it had then.
		assert!(view.committee.iter().all(|member| member.vrf_key.0 == key().0));
	});
}

#[test]
fn parties_are_never_drawn() {
	run(|| {
		for who in [SUBMITTER, TRAINERS[0], TRAINERS[1]] {
			assert_ok!(register(who, ENDOWMENT / 2));
		}
		bonded(1);
		for salt in 0..20 {
			SeedSalt::set(salt);
			open(1, 3);
			tick_until(is_committing);
			assert_eq!(committee(), vec![VERIFIERS[0]]);
			Verification::remove(JOB);
		}
	});
}

#[test]
fn seeds_change_the_draw() {
	run(|| {
		bonded(6);
		let (mut committees, mut segments) = (BTreeSet::new(), BTreeSet::new());
		for salt in 0..30 {
			SeedSalt::set(salt);
			open(1, 3);
			tick_until(is_committing);
			committees.insert(committee());
			segments.insert(wanted(committee()[0], 0));
			Verification::remove(JOB);
		}
		assert!(committees.len() > 10 && segments.len() > 10);
	});
}

#[test]
fn heavier_bonds_are_drawn_more_often() {
	run(|| {
		bonded(4);
		assert_ok!(Verification::bond_extra(RuntimeOrigin::signed(10), 5 * BOND));
		let mut heavy = 0;
		for salt in 0..200 {
			SeedSalt::set(salt);
			assert_ok!(Verification::open(JOB, request(1, 1)));
			System::set_block_number(System::block_number() + 3);
			Verification::advance(JOB);
			heavy += u32::from(committee() == vec![10]);
			Verification::remove(JOB);
		}
		// 6 of 9 parts: 133 expected, standard deviation 6.7; six of them.
		assert!((93..=173).contains(&heavy), "{heavy}");
	});
}

#[test]
fn a_small_pool_makes_a_small_committee() {
	run(|| {
		bonded(3);
		open(1, 5);
		let committee = unanimous(Say::Yes);
		assert_eq!(committee.len(), 3);
		assert_eq!(finish(), (vec![Decision::Accepted], committee));
	});
}

/// An even committee could be split by half of it.
#[test]
fn a_committee_is_odd() {
	run(|| {
		for (bonds, wanted, seats) in [(2, 5, 1), (4, 5, 3), (6, 6, 5), (6, 2, 1)] {
			crate::Pool::<Test>::kill();
			for who in &VERIFIERS[..bonds] {
				let mut pool = crate::Pool::<Test>::get();
				pool.try_insert(*who, seated(BOND, 0)).unwrap();
				crate::Pool::<Test>::put(pool);
			}
			open(1, wanted);
			System::set_block_number(System::block_number() + 3);
			Verification::advance(JOB);
			assert_eq!(committee().len(), seats);
			Verification::remove(JOB);
		}
		crate::Pool::<Test>::kill();
	});
}

#[test]
fn nobody_is_seated_below_the_least_number_of_seats() {
	run(|| {
		MinSeats::set(3);
		bonded(2);
		open(1, 3);
		for _ in 0..SEED_BLOCKS + 1 {
			tick();
		}
		let after = System::block_number() as u32 + 10;
		System::assert_last_event(Event::NoCommittee { job: JOB, round: 0, after }.into());
		assert!(committee().is_empty() && view().seed.is_none());
		// A third one makes a committee possible, in the same round.
		register(VERIFIERS[2], BOND).unwrap();
		assert_eq!(unanimous(Say::Yes).len(), 3);
		assert_eq!((finish().0, view().round), (vec![Decision::Accepted], 0));
	});
}

/// The author of the last block of a seed knows the draw: what it includes must not matter.
#[test]
fn what_comes_behind_the_height_of_the_draw_does_not_change_it() {
	let drawn_behind = |meddle: fn()| {
		let mut result = Vec::new();
		run(|| {
			bonded(4);
			System::set_block_number(100);
			for salt in 0..20 {
				SeedSalt::set(salt);
				open(1, 3);
				System::set_block_number(System::block_number() + 2);
				meddle();
				System::set_block_number(System::block_number() + 1);
				Verification::advance(JOB);
				result.push(committee());
				Verification::remove(JOB);
				// As it was, for the next draw.
				crate::Pool::<Test>::kill();
				for who in VERIFIERS {
					let reason: RuntimeHoldReason = crate::HoldReason::VerifierBond.into();
					Balances::release_all(&reason, &who, Precision::BestEffort).unwrap();
				}
				bonded(4);
				let settled = u64::from(crate::SETTLING) + 20;
				System::set_block_number(System::block_number() + settled);
			}
		});
		result
	};
	let undisturbed = drawn_behind(|| ());
	let enter = || {
		for who in &VERIFIERS[4..] {
			assert_ok!(register(*who, 5 * BOND));
		}
	};
	assert_eq!(drawn_behind(enter), undisturbed);
	let raise = || {
		for who in &VERIFIERS[..2] {
			assert_ok!(Verification::bond_extra(RuntimeOrigin::signed(*who), 3 * BOND));
		}
	};
	assert_eq!(drawn_behind(raise), undisturbed);
	let leave = || {
		assert_ok!(Verification::deregister(RuntimeOrigin::signed(VERIFIERS[1])));
	};
	assert_eq!(drawn_behind(leave), undisturbed);
}

#[test]
fn all_segments_can_be_drawn() {
	run(|| {
		bonded(1);
		let all = AuditRequest { drawing: Drawing { draws: 10, lottery: None }, ..request(1, 1) };
		assert_ok!(Verification::open(JOB, all));
		System::set_block_number(10);
		Verification::advance(JOB);
		assert_eq!(wanted(committee()[0], 0), (0..10).collect::<Vec<u32>>());
	});
}

/// Each seat draws for itself, of each result among the segments that it has: a trainer that claims to
/// have stopped early does not keep the later segments of others from being drawn.
#[test]
fn each_seat_draws_for_itself_of_each_result() {
	run(|| {
		bonded(3);
		let (mut draws, mut late) = (BTreeSet::new(), 0);
		for salt in 0..10 {
			SeedSalt::set(salt);
			let mut request =
				AuditRequest { drawing: Drawing { draws: 3, lottery: None }, ..request(3, 3) };
			for ((result, _), segments) in request.groups.iter_mut().zip([100, 2, 100]) {
				result.segments = segments;
			}
			assert_ok!(Verification::open(JOB, request));
			System::set_block_number(System::block_number() + 3);
			Verification::advance(JOB);
			for who in committee() {
				let (_, output) = draw_of(who);
				let of = |group, segments| vrf::own_segments(&output, group, segments, 3);
				assert_eq!(of(1, 2), [0, 1], "all of a result that has fewer");
				late += of(0, 100).iter().filter(|segment| **segment >= 50).count();
				draws.insert(of(0, 100));
				draws.insert(of(2, 100));
			}
			Verification::remove(JOB);
		}
		// Equal sets of three of a hundred are one in 161,700.
		assert_eq!(draws.len(), 60);
		// 45 of 90 expected, standard deviation 4.7; six of them.
		assert!((17..=73).contains(&late), "{late}: a short result shrank the others' draw");
	});
}

#[test]
fn a_lost_seed_is_drawn_again() {
	run(|| {
		bonded(3);
		SeedWindow::set(5);
		assert_ok!(Verification::open(JOB, request(1, 3)));
		System::set_block_number(50);
		assert_eq!(Verification::advance(JOB), AuditStatus::Pending(51));
		assert_eq!(view().phase, AuditPhase::Drawing { after: 50 });
		System::set_block_number(51);
		assert_eq!(Verification::advance(JOB), AuditStatus::Pending(50 + SEED_BLOCKS + 1));
		System::set_block_number(53);
		assert_eq!(Verification::advance(JOB), AuditStatus::Pending(53 + COMMIT + 1));
	});
}

/// The trainer decides in which block it reveals, and knows the outputs of its own blocks to come.
#[test]
fn the_height_of_the_draw_is_not_that_of_the_reveal() {
	run(|| {
		bonded(3);
		SeedStep::set(16);
		for opened in [2, 9, 16] {
			System::set_block_number(opened);
			assert_ok!(Verification::open(JOB, request(1, 3)));
			assert_eq!(view().phase, AuditPhase::Drawing { after: 16 }, "opened at {opened}");
			assert_eq!(Verification::advance(JOB), AuditStatus::Pending(16 + SEED_BLOCKS + 1));
			Verification::remove(JOB);
		}
		// Neither is that of a draw that was lost, nor that of another round.
		System::set_block_number(20);
		SeedWindow::set(5);
		assert_ok!(Verification::open(JOB, request(1, 3)));
		System::set_block_number(70);
		Verification::advance(JOB);
		assert_eq!(view().phase, AuditPhase::Drawing { after: 80 });
		System::set_block_number(83);
		Verification::advance(JOB);
		System::set_block_number(83 + u64::from(COMMIT) + 1);
		Verification::advance(JOB);
		assert_eq!((view().round, view().phase), (1, AuditPhase::Drawing { after: 96 }));
	});
}

/// Who keeps the verifiers away must not use up the rounds: the audit waits, each time longer.
#[test]
fn rounds_without_a_committee_do_not_count() {
	run(|| {
		open(1, 3);
		let mut draws = Vec::new();
		for _ in 0..400 {
			let before = view().phase;
			tick();
			if view().phase != before {
				draws.push(System::block_number());
			}
		}
		let pauses: Vec<u64> = draws.windows(2).map(|pair| pair[1] - pair[0]).collect();
		let seed = u64::from(SEED_BLOCKS + 1);
		assert_eq!(pauses[..4], [10, 20, 40, 40].map(|pause| pause + seed), "{draws:?}");
		assert_eq!((view().round, Outcome::get()), (0, None));
		// Verifiers that come in the end have all rounds.
		bonded(3);
		for number in 0..3 {
			tick_until(is_committing);
			assert_eq!(view().round, number);
			round(&[speak(Say::Yes), Act::Vanish, Act::Vanish]);
		}
		assert_eq!(finish().0, [Decision::Undecided]);
	});
}

/// The pause begins small again when there was a committee.
#[test]
fn pauses_are_forgotten_with_a_committee() {
	run(|| {
		open(1, 3);
		tick_until(|phase| matches!(phase, AuditPhase::Drawing { after } if *after > 30));
		bonded(3);
		tick_until(is_committing);
		let record = crate::AuditRecords::<Test>::get(JOB).unwrap();
		assert_eq!((record.waits, record.round), (0, 0));
	});
}

/// The owner of the audit decides how long it waits. Whoever sees what was drawn is not saved by the
/// clock: a round that runs, and a rescue, end by themselves.
#[test]
fn an_audit_can_be_given_up() {
	run(|| {
		open(2, 3);
		Verification::give_up(JOB);
		assert_eq!(
			Verification::advance(JOB),
			AuditStatus::Done(trainyard_traits::Outcome {
				decisions: vec![Decision::Undecided; 2],
				unseated: true,
				..Default::default()
			})
		);
		Verification::remove(JOB);
		bonded(3);
		for wanted in [is_committing, is_revealing, is_rescue, is_standing] {
			open(1, 3);
			tick_until(is_committing);
			if wanted(&AuditPhase::Revealing { until: 0 }) {
				let who = committee()[0];
				commit(who, &say(who, &[Say::Gone])).unwrap();
			} else if wanted(&AuditPhase::Rescue { until: 0 }) {
				ask(committee()[0], 0, &everything()).unwrap();
			} else if wanted(&AuditPhase::Standing { until: 0 }) {
				unanimous(Say::Yes);
			}
			tick_until(wanted);
			let before = crate::AuditRecords::<Test>::get(JOB);
			Verification::give_up(JOB);
			assert_eq!(crate::AuditRecords::<Test>::get(JOB), before);
			// The next round is given up before it has a committee.
			tick_until(|phase| matches!(phase, AuditPhase::Drawing { .. } | AuditPhase::Done));
			Verification::give_up(JOB);
			Verification::give_up(JOB);
			Verification::do_try_state().unwrap();
			assert!(VERIFIERS[..3].iter().all(|who| entry(*who).locked == 0));
			let AuditStatus::Done(trainyard_traits::Outcome { decisions, unseated, .. }) =
				Verification::advance(JOB)
			else {
				panic!("it is over");
			};
			assert!(!unseated, "a committee sat, though a later one did not");
			let decision = if wanted(&AuditPhase::Rescue { until: 0 }) {
				Decision::Unavailable
			} else if wanted(&AuditPhase::Standing { until: 0 }) {
				Decision::Accepted
			} else {
				Decision::Undecided
			};
			assert_eq!(decisions, [decision]);
			Verification::remove(JOB);
			for who in &VERIFIERS[..3] {
				let _ = Verification::resume(RuntimeOrigin::signed(*who));
			}
		}
	});
}

/// What was accused before is decided by the court, however little time the owner has.
#[test]
fn giving_up_waits_for_the_court() {
	run(|| {
		bonded(3);
		open(1, 3);
		round(&[speak(Say::No), Act::Vanish, Act::Vanish]);
		assert!(matches!(view().phase, AuditPhase::Drawing { .. }));
		Verification::give_up(JOB);
		tick_until(is_standing);
		for _ in 0..3 * LENGTH {
			tick();
		}
		convict(0, true);
		assert_eq!(finish().0, [Decision::Rejected]);
	});
	run(|| {
		bonded(3);
		open(1, 3);
		round(&[speak(Say::No), Act::Vanish, Act::Vanish]);
		Verification::give_up(JOB);
		Due::set(Some(0));
		tick_until(is_standing);
		acquit(0);
		assert_eq!(finish(), (vec![Decision::Undecided], vec![]));
	});
}

/// Nobody forgets an audit that runs; if somebody did, no seat would stay taken.
#[test]
fn a_running_audit_that_is_forgotten_frees_its_seats() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		Verification::remove(JOB);
		assert!(VERIFIERS[..3].iter().all(|who| entry(*who).locked == 0));
	});
}

/// Whoever names fifteen verifiers and lets each draw three of 1,000 segments, where only three can be
/// drawn, has nine drawn and not 45.
#[test]
fn a_smaller_committee_draws_no_less() {
	for (segments, is_drawn) in [(1_000, false), (200, true)] {
		run(|| {
			bonded(3);
			let mut request =
				AuditRequest { drawing: Drawing { draws: 3, lottery: None }, ..request(1, 15) };
			request.groups[0].0.segments = segments;
			assert_ok!(Verification::open(JOB, request));
			System::set_block_number(System::block_number() + 3);
			Verification::advance(JOB);
			assert_eq!(committee().len(), if is_drawn { 3 } else { 0 }, "{segments}");
			Verification::remove(JOB);
		});
	}
}

/// What says beforehand whether a committee can be drawn says what the draw does.
#[test]
fn whether_there_is_a_committee_is_known_before() {
	let ask = |verifiers, audit_segments, segments| CommitteeRequest {
		excluded: vec![SUBMITTER],
		verifiers,
		drawing: Drawing { draws: audit_segments, lottery: None },
		segments,
		fee: FEE,
		needs: NEEDS,
		rate: 2_000_000_000,
		fetch: 0,
		challenge: CHALLENGE,
	};
	let can = |request: &CommitteeRequest<AccountId>| Verification::can_seat(request);
	run(|| {
		assert!(!can(&ask(3, 2, SEGMENTS)), "there is nobody");
		MinSeats::set(3);
		bonded(2);
		assert!(!can(&ask(3, 2, SEGMENTS)), "fewer than the least");
		for who in &VERIFIERS[2..5] {
			assert_ok!(register(*who, BOND));
		}
		assert!(can(&ask(3, 2, SEGMENTS)) && can(&ask(5, 2, SEGMENTS)));
		// Fifteen seats of 1,000 segments draw three each. Five that draw three see less than is counted on.
		assert!(!can(&ask(15, 3, 1_000)) && can(&ask(15, 9, 1_000)));
		// Parties are not drawn, nor who has too little for the stake that nearly all have.
		let own = |excluded: &[AccountId]| CommitteeRequest {
			excluded: excluded.to_vec(),
			..ask(3, 2, SEGMENTS)
		};
		assert!(can(&own(&VERIFIERS[..2])) && !can(&own(&VERIFIERS[..3])));
		// A stake that nobody has is bounded by what nearly all have.
		assert!(can(&CommitteeRequest { challenge: 1_000 * BOND, ..ask(3, 2, SEGMENTS) }));
		// Nobody has room for so much memory.
		let needs = Resources { memory_mib: u32::MAX, ..NEEDS };
		assert!(!can(&CommitteeRequest { needs, ..ask(3, 2, SEGMENTS) }));
		// Who has a seat now has a free one when that ends.
		crate::Pool::<Test>::mutate(|pool| {
			for who in &VERIFIERS[..5] {
				let entry = pool.get_mut(who).unwrap();
				entry.locked = entry.bond;
			}
		});
		assert!(can(&ask(3, 2, SEGMENTS)));
		crate::Pool::<Test>::mutate(|pool| {
			for who in &VERIFIERS[..5] {
				pool.get_mut(who).unwrap().locked = 0;
			}
		});
		for who in &VERIFIERS[..3] {
			assert_ok!(Verification::deregister(RuntimeOrigin::signed(*who)));
		}
		assert!(!can(&ask(3, 2, SEGMENTS)), "who left is not drawn");
	});
}

/// The same terms are answered as they are drawn, for every size of the pool.
#[test]
fn what_can_be_seated_is_seated() {
	for bonds in 0..6 {
		for (wanted, least) in [(3, 1), (3, 3), (5, 3), (15, 3)] {
			run(|| {
				MinSeats::set(least);
				bonded(bonds);
				let AuditRequest { parties, drawing, needs, rate, challenge, .. } =
					request(1, wanted);
				let asked = CommitteeRequest {
					excluded: parties,
					verifiers: wanted,
					drawing,
					segments: SEGMENTS,
					fee: FEE,
					needs,
					rate,
					fetch: 0,
					challenge,
				};
				let can = Verification::can_seat(&asked);
				open(1, wanted);
				System::set_block_number(System::block_number() + u64::from(SEED_BLOCKS) + 1);
				Verification::advance(JOB);
				assert_eq!(is_committing(&view().phase), can, "{wanted} of {bonds}");
			});
		}
	}
}
