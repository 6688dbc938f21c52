//! What is decided, and who is paid.

use crate::{mock::*, Event, Fault};
use trainyard_protocol::{
	audit::{AuditPhase, Decision},
	reputation::{Deed, Role},
};
use trainyard_traits::AuditRequest;

#[test]
fn a_result_that_nobody_challenged_is_accepted_after_its_window() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = unanimous(Say::Yes);
		let opened = System::block_number() as u32;
		let until = opened + LENGTH;
		assert_eq!(view().phase, AuditPhase::Standing { until });
		System::assert_has_event(Event::StandingOpened { job: JOB, until }.into());
		assert_eq!(finish(), (vec![Decision::Accepted], seats.clone()));
		assert_eq!(System::block_number() as u32, until + 1);
		assert!(VERIFIERS[..3].iter().all(|who| bond_of(*who) == BOND));
		System::assert_has_event(
			Event::Decided { job: JOB, group: 0, decision: Decision::Accepted }.into(),
		);
		System::assert_last_event(Event::AuditDone { job: JOB, fees: 3 }.into());
	});
}

/// The last reveal ends the time for reveals in the next block.
#[test]
fn a_complete_round_does_not_wait_for_deadlines() {
	run(|| {
		bonded(3);
		open(1, 3);
		unanimous(Say::Yes);
		// Seed at 4, commitments seen at 5, reveals seen at 6, openings at 7.
		assert_eq!(System::block_number(), 7);
	});
}

/// A bought majority says that an honest result is false: that is so many disputes, and each of them
/// loses its stake.
#[test]
fn a_bought_majority_rejects_nothing() {
	run(|| {
		bonded(5);
		open(1, 5);
		let no = speak(Say::No);
		let seats = round(&[speak(Say::Yes), speak(Say::Yes), no.clone(), no.clone(), no]);
		assert!(is_standing(&view().phase));
		assert_eq!(disputes().len(), 3);
		for id in disputes() {
			assert_eq!(acquit(id), CHALLENGE);
		}
		// Two of five are no majority, so others look at it.
		tick_until(|phase| matches!(phase, AuditPhase::Drawing { .. }));
		assert_eq!((view().round, view().groups[0].decision), (1, None));
		for who in &seats[2..] {
			assert_eq!(bond_of(*who), BOND - CHALLENGE);
		}
		assert_eq!(Balances::free_balance(TRAINERS[0]), ENDOWMENT + 3 * CHALLENGE);
		let second = round(&vec![speak(Say::Yes); 5]);
		let (decisions, served) = finish();
		assert_eq!(decisions, [Decision::Accepted]);
		// Who accused falsely earned nothing in the first round.
		let fees: Vec<_> = seats[..2].iter().copied().chain(second).collect();
		assert_eq!(served, fees);
	});
}

/// One honest seat is enough, whatever the others say.
#[test]
fn one_seat_convicts_against_all_others() {
	run(|| {
		bonded(5);
		open(1, 5);
		let yes = speak(Say::Yes);
		let seats = round(&[yes.clone(), yes.clone(), speak(Say::No), yes.clone(), yes]);
		convict(disputes()[0], true);
		System::assert_has_event(
			Event::TrainerConvicted { job: JOB, group: 0, trainer: TRAINERS[0] }.into(),
		);
		assert_eq!(view().groups[0].decision, Some(Decision::Rejected));
		assert_eq!(view().groups[0].convicted, [TRAINERS[0]]);
		// That of who rejected it waits for the end.
		let fees: Vec<_> = [0, 1, 3, 4, 2].into_iter().map(|at: usize| seats[at]).collect();
		assert_eq!(finish(), (vec![Decision::Rejected], fees));
		assert!(VERIFIERS[..5].iter().all(|who| entry(*who).locked == 0 && bond_of(*who) == BOND));
	});
}

#[test]
fn silence_accepts_nothing() {
	run(|| {
		bonded(3);
		open(1, 3);
		for number in 0..3 {
			tick_until(is_committing);
			assert_eq!(view().round, number);
			round(&[]);
		}
		assert!(is_standing(&view().phase), "what was accused before could still be decided");
		assert_eq!(finish(), (vec![Decision::Undecided], vec![]));
		assert!(VERIFIERS[..3].iter().all(|who| bond_of(*who) == BOND - 3 * ABSENCE));
	});
}

/// The majority is of the seats, not of those who speak.
#[test]
fn half_of_the_seats_or_fewer_accept_nothing() {
	for spoke in 0..=5 {
		run(|| {
			bonded(5);
			open(1, 5);
			let mut acts = vec![speak(Say::Yes); spoke];
			acts.resize(5, Act::Vanish);
			let seats = round(&acts);
			let redrawn = matches!(view().phase, AuditPhase::Drawing { .. });
			assert_eq!(redrawn, spoke < 3, "{spoke}");
			assert_eq!(view().round, u32::from(redrawn));
			for (at, who) in seats.iter().enumerate() {
				let lost = if at < spoke { 0 } else { ABSENCE };
				assert_eq!(bond_of(*who), BOND - lost);
			}
			if !redrawn {
				assert_eq!(finish(), (vec![Decision::Accepted], seats[..spoke].to_vec()));
			}
		});
	}
}

#[test]
fn an_absent_verifier_is_slashed_and_does_not_stop_the_rest() {
	for act in [Act::Vanish, Act::Seal] {
		run(|| {
			bonded(3);
			open(1, 3);
			let seats = round(&[speak(Say::Yes), act, speak(Say::Yes)]);
			let fault = Fault::NoVerdict;
			let verifier = seats[1];
			System::assert_has_event(
				Event::Slashed { verifier, amount: ABSENCE, job: JOB, fault }.into(),
			);
			assert_eq!(bond_of(seats[1]), BOND - ABSENCE);
			assert_eq!(Noted::get(), [(Role::Verifier, verifier, Deed::Late)]);
			// Whoever is absent has no seat any more.
			assert_eq!(entry(seats[1]).locked, 0);
			assert_eq!(finish(), (vec![Decision::Accepted], vec![seats[0], seats[2]]));
		});
	}
}

/// Who says that it could not have it, and could ask for it, decides nothing and pays as for an absence.
#[test]
fn unavailable_is_nobodys_vote() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = round(&[speak(Say::Gone), speak(Say::Yes), speak(Say::Yes)]);
		assert_eq!(finish(), (vec![Decision::Accepted], vec![seats[1], seats[2]]));
		assert_eq!((bond_of(seats[0]), entry(seats[0]).absences), (BOND - ABSENCE, 1));
	});
	run(|| {
		bonded(3);
		open(1, 3);
		for _ in 0..3 {
			round(&[speak(Say::Gone), speak(Say::Gone), speak(Say::Yes)]);
		}
		assert_eq!(finish().0, [Decision::Undecided]);
	});
}

/// What was accused in an earlier round stays before the court: a redraw is no second chance.
#[test]
fn a_redraw_keeps_what_was_accused() {
	run(|| {
		bonded(3);
		open(1, 3);
		let first = round(&[Act::Vanish, speak(Say::No), Act::Vanish]);
		assert_eq!(view().round, 1);
		assert_eq!(disputes().len(), 1);
		// The seat is left, and what it accuses with stays locked.
		assert_eq!(entry(first[1]).locked, CHALLENGE);
		let second = round(&vec![speak(Say::Yes); 3]);
		assert!(is_standing(&view().phase));
		for _ in 0..3 * LENGTH {
			tick();
		}
		assert!(is_standing(&view().phase), "it waits for the court");
		convict(disputes()[0], true);
		assert_eq!(view().groups[0].decision, Some(Decision::Rejected));
		let fees: Vec<_> = second.into_iter().chain([first[1]]).collect();
		assert_eq!(finish(), (vec![Decision::Rejected], fees));
		assert!(VERIFIERS[..3].iter().all(|who| entry(*who).locked == 0));
	});
}

/// Where all are convicted while another committee works, that one is sent home.
#[test]
fn nobody_replays_what_is_convicted() {
	run(|| {
		bonded(3);
		open(1, 3);
		let first = round(&[Act::Vanish, speak(Say::No), Act::Vanish]);
		tick_until(is_committing);
		let fees: Vec<_> = committee().into_iter().chain([first[1]]).collect();
		convict(disputes()[0], false);
		assert_eq!(finish(), (vec![Decision::Rejected], fees));
		assert!(VERIFIERS[..3].iter().all(|who| entry(*who).locked == 0));
	});
}

#[test]
fn a_conviction_before_the_next_draw_ends_the_audit() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = round(&[Act::Vanish, speak(Say::No), Act::Vanish]);
		assert!(matches!(view().phase, AuditPhase::Drawing { .. }));
		convict(disputes()[0], true);
		tick();
		assert_eq!(Outcome::get(), Some((vec![Decision::Rejected], vec![seats[1]])));
	});
}

/// Replicas share the seed: at most one of two different results is true.
#[test]
fn two_results_do_not_both_stand() {
	run(|| {
		bonded(3);
		open(2, 3);
		let both = Act::Speak(vec![Say::Yes, Say::Yes]);
		let seats = round(&vec![both; 3]);
		assert_eq!(finish(), (vec![Decision::Undecided; 2], seats));
	});
	run(|| {
		bonded(3);
		open(2, 3);
		let both = Act::Speak(vec![Say::Yes, Say::Yes]);
		round(&vec![both; 3]);
		// The honest trainer accuses the other one where they part, and that is what decides.
		let id = sue(TRAINERS[0], of_trainer(TRAINERS[1]));
		convict(id, true);
		assert_eq!(finish().0, [Decision::Accepted, Decision::Rejected]);
	});
}

#[test]
fn groups_are_decided_each_for_itself() {
	run(|| {
		bonded(3);
		open(3, 3);
		let seats = round(&vec![Act::Speak(vec![Say::No, Say::Yes, Say::No]); 3]);
		assert_eq!(disputes().len(), 6);
		while let Some(id) = disputes().first() {
			convict(*id, true);
		}
		let decisions = vec![Decision::Rejected, Decision::Accepted, Decision::Rejected];
		assert_eq!(finish(), (decisions, seats));
	});
}

/// A conviction is of one account. Another one that delivered the same result is not convicted by it, and
/// its result is not rejected.
#[test]
fn a_twin_is_convicted_alone() {
	run(|| {
		bonded(3);
		let mut request = request(1, 3);
		request.groups[0] = group_of(&[TRAINERS[0], TRAINERS[1]]);
		open_with(request);
		let seats = unanimous(Say::Yes);
		convict(sue(VERIFIERS[5], of_trainer(TRAINERS[1])), false);
		assert_eq!(view().groups[0].convicted, [TRAINERS[1]]);
		assert_eq!(view().groups[0].decision, None);
		assert_eq!(finish(), (vec![Decision::Accepted], seats));
	});
	run(|| {
		bonded(3);
		let mut request = request(1, 3);
		request.groups[0] = group_of(&[TRAINERS[0], TRAINERS[1]]);
		open_with(request);
		unanimous(Say::Yes);
		for who in [TRAINERS[1], TRAINERS[0]] {
			convict(sue(VERIFIERS[5], of_trainer(who)), true);
		}
		assert_eq!(finish().0, [Decision::Rejected]);
	});
}

/// Training that stood still is accepted and earns no power. One seat alone takes nobody's power.
#[test]
fn a_result_that_stood_still_is_idle() {
	for (says, decision) in [
		([Say::Still, Say::Still, Say::Yes], Decision::Idle),
		([Say::Still, Say::Still, Say::Still], Decision::Idle),
		([Say::Still, Say::Yes, Say::Yes], Decision::Accepted),
	] {
		run(|| {
			bonded(3);
			open(1, 3);
			let seats = round(&says.map(speak));
			assert_eq!(finish(), (vec![decision], seats));
			assert!(VERIFIERS[..3].iter().all(|who| bond_of(*who) == BOND));
		});
	}
}

/// A verifier on a committee cannot save its bond by leaving, and may finish its work.
#[test]
fn leaving_does_not_save_the_bond() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let seats = committee();
		for who in &seats[1..] {
			Verification::deregister(RuntimeOrigin::signed(*who)).unwrap();
		}
		round(&[speak(Say::Yes), Act::Vanish, speak(Say::Yes)]);
		assert_eq!(bond_of(seats[1]), BOND - ABSENCE);
		assert_eq!(finish(), (vec![Decision::Accepted], vec![seats[0], seats[2]]));
	});
}

/// Where training diverged in its first segment there is nothing to draw, and one segment that all replay.
#[test]
fn results_without_a_segment_are_audited() {
	run(|| {
		bonded(3);
		let mut request: AuditRequest<AccountId> = request(1, 3);
		let result = &mut request.groups[0].0;
		(result.segments, result.diverged) = (0, true);
		open_with(request);
		tick_until(is_committing);
		let seats = committee();
		assert_eq!(
			seats.iter().map(|who| wanted_of(*who)).collect::<Vec<_>>(),
			[vec![0], vec![0], vec![0]]
		);
	});
}

/// What somebody must replay of the only result, where nothing can have moved.
fn wanted_of(who: AccountId) -> Vec<u32> {
	let (_, output) = draw_of(who);
	let result = view().groups[0].result;
	let own = trainyard_protocol::vrf::own_segments(&output, 0, result.segments, 2);
	trainyard_protocol::duties::required(&own, seat_of(who), &result, None, &[]).unwrap()
}
