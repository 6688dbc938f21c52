//! Jobs that pay by lottery: what seats replay, and what is paid of it.

use crate::{mock::*, AuditRecords, Error};
use frame_support::{assert_noop, assert_ok};
use trainyard_protocol::{
	audit::{AuditPhase, Decision, GroupVerdict},
	duties::Drawing,
	job::WorkResult,
	lottery::{mix, Strata, Tickets},
	H256,
};
use trainyard_traits::{AuditRequest, Audits};

/// One of three segments: strata of 3, 3, 3 and 1, of seats 2, 1, 0 and 2.
const THIRDS: Drawing = Drawing { draws: 2, lottery: Some(3) };

fn strata() -> Strata {
	Strata::new(SEGMENTS, 3)
}

fn by_lottery(groups: usize, verifiers: u32) -> AuditRequest<AccountId> {
	AuditRequest { drawing: THIRDS, ..request(groups, verifiers) }
}

/// What the outputs of these seats mix to.
fn mixed(seats: &[AccountId]) -> H256 {
	seats.iter().fold(H256::zero(), |mixed, who| mix(&mixed, &draw_of(*who).1))
}

/// What the audit said is paid.
fn tickets() -> Vec<(AccountId, Tickets)> {
	Whole::get().expect("it is over").tickets
}

#[test]
fn seats_replay_tickets_and_duties() {
	run(|| {
		bonded(3);
		open_with(by_lottery(1, 3));
		tick_until(is_committing);
		let seats = committee();
		let mut all = Vec::new();
		for (number, who) in seats.iter().enumerate() {
			let own = strata().drawn(&draw_of(*who).1, 0, number as u32, 3);
			let duties = [&[0, SEGMENTS - 1][..], &[PICK], &[PICK]][number];
			let mut expected = [&own[..], duties].concat();
			expected.sort_unstable();
			expected.dedup();
			assert_eq!(wanted(*who, 0), expected);
			all.extend(own);
		}
		all.sort_unstable();
		assert_eq!(all.iter().map(|one| one / 3).collect::<Vec<_>>(), [0, 1, 2, 3]);
	});
}

/// Whatever each trainer drew is paid, and nothing else; all of it was proven.
#[test]
fn a_whole_stratum_is_paid_and_the_rest_by_luck() {
	let (mut won, mut lost) = (0, 0);
	for salt in 0..24 {
		run(|| {
			SeedSalt::set(salt);
			bonded(3);
			open_with(by_lottery(1, 3));
			tick_until(is_committing);
			assert_eq!(Verification::tickets_of(JOB, &TRAINERS[0]), None, "nothing is drawn");
			let seats = unanimous(Say::Yes);
			let mixed = mixed(&seats);
			let wins = strata().rest_wins(&mixed, &secret(TRAINERS[0]));
			let paid = 9 + 3 * u32::from(wins);
			tick_until(is_standing);
			assert_eq!(Verification::tickets_of(JOB, &TRAINERS[0]), Some(paid));
			assert_eq!(Verification::tickets_of(JOB, &TRAINERS[1]), None);
			assert_eq!(finish().0, [Decision::Accepted]);
			assert_eq!(tickets(), [(TRAINERS[0], Tickets { paid, proven: paid })]);
			(won, lost) = (won + u32::from(wins), lost + u32::from(!wins));
		});
	}
	// A third of them: 8 of 24, with a deviation of 2.3.
	assert!(won > 0 && lost > 0, "{won} {lost}");
}

/// Each replica of a result has a ticket of its own, by its own secret; and the escrow mode has none.
#[test]
fn replicas_have_their_own_luck() {
	let mut differ = 0;
	for salt in 0..12 {
		run(|| {
			SeedSalt::set(salt);
			bonded(3);
			let groups = vec![group_of(&TRAINERS[..2])];
			open_with(AuditRequest { groups, ..by_lottery(1, 3) });
			let mixed = mixed(&unanimous(Say::Yes));
			finish();
			let said = tickets();
			for (at, (who, tickets)) in said.iter().enumerate() {
				assert_eq!(*who, TRAINERS[at]);
				let wins = strata().rest_wins(&mixed, &secret(*who));
				assert_eq!(tickets.paid, 9 + 3 * u32::from(wins));
			}
			differ += u32::from(said[0].1 != said[1].1);
		});
	}
	assert!(differ > 0);
	run(|| {
		bonded(3);
		open(1, 3);
		unanimous(Say::Yes);
		assert_eq!((finish().0, tickets()), (vec![Decision::Accepted], vec![]));
	});
}

/// Neither a submitter saves by keeping a seat silent, nor has a trainer power of what its seat did not show.
#[test]
fn a_silent_seat_moves_no_money_and_makes_no_power() {
	for silent in 0..3 {
		for say in [Act::Vanish, Act::Seal, speak(Say::Gone)] {
			run(|| {
				bonded(3);
				open_with(by_lottery(1, 3));
				let mut acts = vec![speak(Say::Yes); 3];
				acts[silent] = say.clone();
				let seats = round(&acts);
				// Who says that it could not have the result has revealed its output.
				let spoke = |at: usize| at != silent || matches!(say, Act::Speak(_));
				let heard: Vec<AccountId> =
					(0..3).filter(|at| spoke(*at)).map(|at| seats[at]).collect();
				let mixed = mixed(&heard);
				assert_eq!(finish().0, [Decision::Accepted]);
				let wins = strata().rest_wins(&mixed, &secret(TRAINERS[0]));
				let expected = strata().tickets(wins, 3, |seat| seat as usize != silent);
				assert_eq!(tickets(), [(TRAINERS[0], expected)]);
				assert_eq!(expected.paid, 9 + 3 * u32::from(wins));
				assert!(expected.proven <= 9);
			});
		}
	}
}

/// Seat 2 has the first stratum: what it revealed of it counts no more when it was convicted.
#[test]
fn convicted_evidence_proves_nothing() {
	run(|| {
		bonded(3);
		open_with(by_lottery(1, 3));
		let seats = unanimous(Say::Yes);
		let outputs = mixed(&seats);
		convict(sue(VERIFIERS[5], of_seat(seats[2], TRAINERS[0], wanted(seats[2], 0)[0])), true);
		assert_eq!(finish().0, [Decision::Accepted]);
		let wins = strata().rest_wins(&outputs, &secret(TRAINERS[0]));
		let expected = strata().tickets(wins, 3, |seat| seat != 2);
		assert_eq!(tickets(), [(TRAINERS[0], expected)]);
		assert_eq!(expected.proven, 6);
	});
}

/// One false ticket loses everything: there is no accepted result, and no ticket of it.
#[test]
fn a_convict_has_no_ticket() {
	run(|| {
		bonded(3);
		open_with(by_lottery(1, 3));
		unanimous(Say::Yes);
		convict(sue(VERIFIERS[5], of_trainer(TRAINERS[0])), true);
		assert_eq!((finish().0, tickets()), (vec![Decision::Rejected], vec![]));
	});
	// Of two replicas the other one keeps its own.
	run(|| {
		bonded(3);
		let groups = vec![group_of(&TRAINERS[..2])];
		open_with(AuditRequest { groups, ..by_lottery(1, 3) });
		unanimous(Say::Yes);
		convict(sue(VERIFIERS[5], of_trainer(TRAINERS[0])), true);
		assert_eq!(finish().0, [Decision::Accepted]);
		assert_eq!(tickets().iter().map(|(who, _)| *who).collect::<Vec<_>>(), [TRAINERS[1]]);
	});
}

/// A trainer that has a friend accuse it opens its secret when it likes. It cannot choose a moment at which it wins: the
/// outputs of all who reveal count.
#[test]
fn who_opens_early_fixes_nothing() {
	run(|| {
		bonded(3);
		open_with(by_lottery(1, 3));
		tick_until(is_committing);
		let seats = committee();
		let all: Vec<Said> = seats.iter().map(|who| say(*who, &[Say::Yes])).collect();
		for (who, said) in seats.iter().zip(&all) {
			assert_ok!(commit(*who, said));
		}
		tick_until(is_revealing);
		assert_ok!(reveal(seats[0], &all[0]));
		// A dispute of an earlier round, say.
		let dispute = sue(VERIFIERS[5], of_trainer(TRAINERS[0]));
		assert_ok!(open_forced(TRAINERS[0]));
		let early = AuditRecords::<Test>::get(JOB).unwrap().mixed;
		assert_ok!(reveal(seats[1], &all[1]));
		assert_ok!(reveal(seats[2], &all[2]));
		acquit(dispute);
		assert_eq!(finish().0, [Decision::Accepted]);
		let late = AuditRecords::<Test>::get(JOB).unwrap().mixed;
		assert_eq!(late, mixed(&seats));
		assert_ne!(early, late);
		let wins = strata().rest_wins(&late, &secret(TRAINERS[0]));
		assert_eq!(tickets()[0].1.paid, 9 + 3 * u32::from(wins));
	});
}

/// A committee that was not heard leaves nothing behind, and after the secrets were opened no other one draws again.
#[test]
fn outputs_of_the_round_count_in_which_trainers_open() {
	run(|| {
		bonded(6);
		open_with(by_lottery(1, 3));
		round(&[speak(Say::Yes), Act::Vanish, Act::Vanish]);
		tick_until(is_committing);
		assert_eq!(AuditRecords::<Test>::get(JOB).unwrap().mixed, H256::zero());
		let seats = unanimous(Say::Yes);
		let first = mixed(&seats);
		assert_eq!(AuditRecords::<Test>::get(JOB).unwrap().mixed, first);
		// Their evidence is convicted, so that there is too little of it.
		convict(sue(VERIFIERS[5], of_seat(seats[0], TRAINERS[0], wanted(seats[0], 0)[0])), true);
		convict(sue(VERIFIERS[5], of_seat(seats[1], TRAINERS[0], wanted(seats[1], 0)[0])), true);
		tick_until(is_committing);
		assert_eq!(view().round, 2);
		unanimous(Say::Yes);
		assert_eq!(finish().0, [Decision::Accepted]);
		assert_eq!(AuditRecords::<Test>::get(JOB).unwrap().mixed, first);
		let wins = strata().rest_wins(&first, &secret(TRAINERS[0]));
		assert_eq!(tickets()[0].1.paid, 9 + 3 * u32::from(wins));
	});
}

/// Evidence of other segments than the tickets is refused, be they those that the seat would draw without a lottery.
#[test]
fn evidence_is_of_the_tickets() {
	run(|| {
		bonded(3);
		open_with(by_lottery(1, 3));
		tick_until(is_committing);
		let who = committee()[2];
		let mut wrong = say(who, &[Say::Yes]);
		let GroupVerdict::Replayed(replayed) = &mut wrong.findings.verdicts[0] else { panic!() };
		let (ticket, other) = (wanted(who, 0)[0], (wanted(who, 0)[0] + 1) % 3);
		assert!(ticket < 3);
		let mut segments: Vec<u32> = wanted(who, 0);
		segments[0] = other;
		replayed.evidence = evidence(TRAINERS[0], &segments).try_into().unwrap();
		let wrong = said(who, wrong.findings.verdicts.to_vec(), paths(TRAINERS[0], &segments));
		assert_ok!(commit(who, &wrong));
		tick_until(is_revealing);
		assert_noop!(reveal(who, &wrong), Error::<Test>::WrongSegments);
	});
}

#[test]
fn committees_fit_what_was_trained() {
	run(|| {
		let of = |draws, one_in, verifiers| AuditRequest {
			drawing: Drawing { draws, lottery: Some(one_in) },
			..request(1, verifiers)
		};
		let bad = Error::<Test>::BadAuditSegments;
		assert_noop!(Verification::open(JOB, of(1, 3, 3)), bad);
		let bad = Error::<Test>::BadAuditSegments;
		assert_noop!(Verification::open(JOB, of(17, 3, 3)), bad);
		assert_ok!(Verification::open(1, of(2, 3, 3)));
		assert_ok!(Verification::open(2, of(1, 10, 3)));
	});
	// Five seats were wanted for ten segments, one of two of which wins. Training ended after four: of two strata no
	// more than three seats can have something to replay.
	run(|| {
		bonded(6);
		let short = |request: AuditRequest<AccountId>| {
			let groups = request.groups.into_iter();
			let cut = |(result, all)| (WorkResult { segments: 4, ..result }, all);
			groups.map(cut).collect::<Vec<_>>()
		};
		let five =
			AuditRequest { drawing: Drawing { draws: 1, lottery: Some(2) }, ..request(1, 5) };
		open_with(AuditRequest { groups: short(five.clone()), ..five.clone() });
		tick_until(is_committing);
		assert_eq!(committee().len(), 3);
		Verification::remove(JOB);
		open_with(five);
		tick_until(is_committing);
		assert_eq!(committee().len(), 5);
	});
	// Where three can be drawn of five that were wanted, they would replay more than was counted.
	run(|| {
		bonded(3);
		let five =
			|draws| AuditRequest { drawing: Drawing { draws, lottery: Some(2) }, ..request(1, 5) };
		open_with(five(1));
		(0..30).for_each(|_| tick());
		assert!(matches!(view().phase, AuditPhase::Drawing { .. }));
		Verification::remove(JOB);
		open_with(five(2));
		tick_until(is_committing);
		assert_eq!(committee().len(), 3);
	});
}
