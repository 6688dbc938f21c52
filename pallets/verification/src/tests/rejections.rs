//! Rejections: which count, and when their seats have a fee.

use crate::{mock::*, AuditRecords, Error, Event, Verdicts};
use frame_support::{assert_noop, assert_ok};
use trainyard_protocol::{
	accusation::{Claimed, End, Leaf, LeafContent, Target},
	audit::{Decision, GroupVerdict, Rejection},
	bundle::{Checkpoint, Diverged},
	trace, H256,
};
use trainyard_traits::AuditRequest;

/// Rejects the only result.
fn rejects(who: AccountId, rejection: Rejection<AccountId>) -> Said {
	said(who, vec![GroupVerdict::Rejected(rejection)], vec![])
}

/// An audit of a result that two trainers delivered, by three seats.
fn of_two() {
	bonded(3);
	let groups = vec![group_of(&[TRAINERS[0], TRAINERS[1]])];
	open_with(AuditRequest { groups, ..request(1, 3) });
}

/// Of two trainers of a result the first is convicted. Seats of the next round that reject the result by
/// naming it put nothing at risk, so that says nothing: it costs what absence costs, and earns nothing.
#[test]
fn who_names_a_convict_says_nothing() {
	run(|| {
		Silent::set(vec![TRAINERS[0]]);
		of_two();
		let first = unanimous(Say::Yes);
		tick_until(is_committing);
		assert_eq!((view().round, view().groups[0].convicted.clone()), (1, vec![TRAINERS[0]]));
		let out = AuditRecords::<Test>::get(JOB).unwrap().groups[0].out_at[0];
		while System::block_number() as u32 <= out + RELAY {
			tick();
		}
		let seats = unanimous(Say::No);
		assert_eq!((view().round, disputes().len()), (2, 0), "nobody said anything of it");
		assert!(seats.iter().all(|who| bond_of(*who) == BOND - ABSENCE));
		for verifier in seats {
			let event = Event::RejectionVoid { job: JOB, verifier, group: 0 };
			System::assert_has_event(event.into());
		}
		assert_eq!(AuditRecords::<Test>::get(JOB).unwrap().waiting.len(), 0);
		round(&vec![Act::Vanish; 3]);
		assert_eq!(finish(), (vec![Decision::Undecided], first));
	});
}

/// A seat cannot take back what it committed to: who named a trainer that is convicted after that, or a
/// little before, is heard, and was right.
#[test]
fn who_committed_before_the_conviction_is_heard() {
	for late in [false, true] {
		run(|| {
			of_two();
			tick_until(is_committing);
			let seats = committee();
			let other = sue(VERIFIERS[5], of_trainer(TRAINERS[0]));
			let of = |who: &AccountId| rejects(*who, rejection(TRAINERS[0]));
			let all: Vec<Said> = seats.iter().map(of).collect();
			let commits = || {
				for (who, said) in seats.iter().zip(&all) {
					assert_ok!(commit(*who, said));
				}
			};
			if late {
				convict(other, true);
				tick();
				commits();
			} else {
				commits();
				convict(other, true);
			}
			tick_until(is_revealing);
			for (who, said) in seats.iter().zip(&all) {
				assert_ok!(reveal(*who, said));
			}
			assert!(disputes().is_empty(), "it is convicted already");
			assert!(Verdicts::<Test>::iter_values()
				.all(|said| matches!(said.verdicts[0], GroupVerdict::Rejected(_))));
			tick_until(is_standing);
			assert!(seats.iter().all(|who| bond_of(*who) == BOND), "nobody is absent");
			// Nobody vouches for what the other one delivered, in two rounds more.
			tick_until(is_committing);
			round(&vec![Act::Vanish; 3]);
			round(&vec![Act::Vanish; 3]);
			let (decisions, served) = finish();
			assert_eq!((decisions, served), (vec![Decision::Undecided], seats));
		});
	}
}

/// The rejection of a segment of the bundle of the first trainer, by this end.
fn of_segment(segment: u32, end: End) -> Rejection<AccountId> {
	let shown = shown(TRAINERS[0]);
	let leaf = |index: u32| {
		let content = LeafContent::Checkpoint(shown[index as usize]);
		Leaf { content, path: leaf_by(TRAINERS[0], TRAINERS[0], index).path }
	};
	Rejection {
		account: TRAINERS[0],
		target: Target::Segment(segment),
		claimed: Claimed::End(end),
		leaves: vec![leaf(segment), leaf(segment + 1)].try_into().unwrap(),
	}
}

/// A leaf can be forced, so who finds another trace than it has says so in its evidence. It cannot stop
/// replaying there, and keep the result from being accepted at no risk.
#[test]
fn a_trace_alone_is_not_rejected() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let seats = committee();
		let Checkpoint { step, state, evaluation, .. } = shown(TRAINERS[0])[4];
		let trace = trace::seal(&H256([9; 32]));
		let forced = of_segment(3, End::Checkpoint { state, evaluation, trace });
		let state = H256([9; 32]);
		let false_state = of_segment(3, End::Checkpoint { state, evaluation, trace });
		let diverged = of_segment(3, End::Diverged(Diverged { step, trace }));
		let all = seats.iter().zip([forced, false_state, diverged]);
		let all: Vec<Said> = all.map(|(who, of)| rejects(*who, of)).collect();
		for (who, said) in seats.iter().zip(&all) {
			assert_ok!(commit(*who, said));
		}
		tick_until(is_revealing);
		assert_noop!(reveal(seats[0], &all[0]), Error::<Test>::TraceAlone);
		assert_ok!(reveal(seats[1], &all[1]));
		assert_ok!(reveal(seats[2], &all[2]));
		assert_eq!(disputes().len(), 2);
		tick_until(|phase| !is_revealing(phase));
		assert_eq!(bond_of(seats[0]), BOND - ABSENCE);
		disputes().into_iter().for_each(|id| assert_eq!(acquit(id), CHALLENGE));
	});
}

/// A dispute can end without a loser. Then the seat that brought it has its stake, and no fee: only a
/// conviction says that it was right.
#[test]
fn who_rejects_and_takes_it_back_earns_nothing() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = round(&[speak(Say::No), speak(Say::Yes), speak(Say::Yes)]);
		call_off(0);
		assert_eq!(finish(), (vec![Decision::Accepted], seats[1..].to_vec()));
		assert_eq!((bond_of(seats[0]), entry(seats[0]).locked), (BOND, 0));
	});
	// Others convict it, in the next round.
	run(|| {
		bonded(3);
		open(1, 3);
		let first = round(&[speak(Say::No), Act::Vanish, Act::Vanish]);
		call_off(0);
		let second = unanimous(Say::Yes);
		convict(sue(SUBMITTER, of_trainer(TRAINERS[0])), true);
		let fees: Vec<_> = second.into_iter().chain([first[0]]).collect();
		assert_eq!(finish(), (vec![Decision::Rejected], fees));
	});
}

/// A result that is lost since nobody stored what was asked for was not to be accepted, so who rejected it
/// lost nothing by looking.
#[test]
fn who_rejects_what_is_lost_has_its_fee() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = round(&[speak(Say::No), speak(Say::Yes), speak(Say::Yes)]);
		assert!(is_standing(&view().phase));
		assert_ok!(ask(VERIFIERS[5], 0, &[trainyard_protocol::pieces::Piece::State(3)]));
		tick_until(|phase| is_rescue(phase));
		tick_until(|phase| !is_rescue(phase));
		assert_eq!(view().groups[0].decision, Some(Decision::Unavailable));
		call_off(0);
		let fees: Vec<_> = [1, 2, 0].into_iter().map(|at: usize| seats[at]).collect();
		assert_eq!(finish(), (vec![Decision::Unavailable], fees));
	});
}
