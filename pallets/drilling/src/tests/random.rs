//! Whatever happens in whatever order: the books stay straight in every state, power is what
//! was agreed on, and everything comes to an end once everyone has vanished.

use crate::{
	mock, mock::*, Assignments, Due, Event, HoldReason, NextProject, Phase, Projects, Results,
};
use frame_support::{
	assert_ok, storage::with_storage_layer, traits::fungible::InspectHold, weights::Weight,
};
use proptest::prelude::*;
use sp_runtime::{DispatchResult, Permill};
use std::collections::BTreeMap;
use trainyard_protocol::drill::{AssignmentId, Mismatch};

/// Something that someone does. Numbers choose among what there is. At `Work` all members of
/// a group do their part with one result, at `Recompute` all verifiers with the one given.
#[derive(Clone, Debug)]
enum Deed {
	Propose { other: bool, all_lose: bool, replicas: u8, units: u32 },
	Vote { project: u32, voter: usize, aye: bool },
	Approve { project: u32 },
	Withdraw { project: u32 },
	Clear { project: u32 },
	Enlist { driller: usize },
	Retire { driller: usize },
	Choose { driller: usize, project: u32 },
	Decline { unit: usize, seat: usize, check: bool },
	Recall { project: u32, voter: usize },
	Commit { unit: usize, seat: usize, result: u8 },
	Reveal { unit: usize, seat: usize },
	Check { unit: usize, seat: usize, result: u8 },
	CheckReveal { unit: usize, seat: usize },
	Work { unit: usize },
	Recompute { unit: usize, result: u8 },
	LeaveTrainers { driller: usize },
	JoinTrainers { driller: usize },
	Verifiers { count: usize },
	Busy { busy: bool },
	LoseSeeds { count: u32 },
	Crowd { crowded: bool },
	Blocks { count: u32 },
}

fn deed() -> impl Strategy<Value = Deed> {
	let (project, driller, unit, seat) = (0u32..5, 0usize..8, 0usize..4, 0usize..7);
	// Mostly one result, or nobody would ever agree.
	let result = || prop_oneof![6 => Just(1u8), 1 => Just(2u8), 1 => Just(3u8)];
	prop_oneof![
		4 => (any::<bool>(), any::<bool>(), 1u8..5, 0u32..12).prop_map(
			|(other, all_lose, replicas, units)| Deed::Propose { other, all_lose, replicas, units },
		),
		12 => (project.clone(), 0usize..3, prop::bool::weighted(0.8))
			.prop_map(|(project, voter, aye)| Deed::Vote { project, voter, aye }),
		1 => project.clone().prop_map(|project| Deed::Withdraw { project }),
		3 => (project.clone(), 0usize..3)
			.prop_map(|(project, voter)| Deed::Recall { project, voter }),
		4 => (driller.clone(), project.clone())
			.prop_map(|(driller, project)| Deed::Choose { driller, project }),
		8 => (unit.clone(), seat.clone(), any::<bool>())
			.prop_map(|(unit, seat, check)| Deed::Decline { unit, seat, check }),
		2 => project.prop_map(|project| Deed::Clear { project }),
		12 => driller.clone().prop_map(|driller| Deed::Enlist { driller }),
		2 => driller.clone().prop_map(|driller| Deed::Retire { driller }),
		8 => (unit.clone(), seat.clone(), result())
			.prop_map(|(unit, seat, result)| Deed::Commit { unit, seat, result }),
		8 => (unit.clone(), seat.clone()).prop_map(|(unit, seat)| Deed::Reveal { unit, seat }),
		4 => (unit.clone(), seat.clone(), result())
			.prop_map(|(unit, seat, result)| Deed::Check { unit, seat, result }),
		4 => (unit.clone(), seat).prop_map(|(unit, seat)| Deed::CheckReveal { unit, seat }),
		40 => unit.clone().prop_map(|unit| Deed::Work { unit }),
		16 => (unit, 1u8..3).prop_map(|(unit, result)| Deed::Recompute { unit, result }),
		4 => (0u32..5).prop_map(|project| Deed::Approve { project }),
		1 => driller.clone().prop_map(|driller| Deed::LeaveTrainers { driller }),
		2 => driller.prop_map(|driller| Deed::JoinTrainers { driller }),
		1 => (0usize..=4).prop_map(|count| Deed::Verifiers { count }),
		1 => prop::bool::weighted(0.3).prop_map(|busy| Deed::Busy { busy }),
		1 => (0u32..3).prop_map(|count| Deed::LoseSeeds { count }),
		1 => prop::bool::weighted(0.3).prop_map(|crowded| Deed::Crowd { crowded }),
		24 => (1u32..4).prop_map(|count| Deed::Blocks { count }),
	]
}

/// The assignment that number `n` stands for among those in a phase that `wanted` accepts.
fn among(n: usize, wanted: impl Fn(&Phase) -> bool) -> Option<AssignmentId> {
	let mut ids: Vec<_> = Assignments::<Test>::iter()
		.filter(|(_, unit)| wanted(&unit.phase))
		.map(|(id, _)| id)
		.collect();
	ids.sort();
	ids.get(n % ids.len().max(1)).copied()
}

fn seat_of(seats: &[crate::Seat<AccountId>], n: usize) -> AccountId {
	seats[n % seats.len()].who
}

/// Reveals what `who` really committed, because only that opens. `result_of` reveals the result
/// that goes by a number.
fn opens(
	who: AccountId,
	id: AssignmentId,
	result_of: impl Fn(u8) -> DispatchResult,
) -> DispatchResult {
	let unit = unit(id);
	let seat = unit.members.iter().chain(&unit.verifiers).find(|seat| seat.who == who);
	let commitment = seat.and_then(|seat| seat.commitment);
	let made = (1..=3).find(|n| {
		let hash = trainyard_protocol::drill::commitment(
			&Drilling::genesis_hash(),
			id,
			&who,
			&result(*n),
			&salt(who),
		);
		Some(hash) == commitment
	});
	result_of(made.unwrap_or(1))
}

/// Does it, where it is possible; whatever is refused changes nothing.
fn perform(deed: Deed) {
	let any = |n: u32| n % NextProject::<Test>::get().max(1);
	let _ = with_storage_layer(|| -> DispatchResult {
		match deed {
			Deed::Propose { other, all_lose, replicas, units } => {
				let who = if other { OTHER } else { PROPOSER };
				let rule = if all_lose { Mismatch::AllLose } else { Mismatch::Majority };
				propose_by(who, template(), rule, replicas, units)
			}
			Deed::Vote { project, voter, aye } => {
				Drilling::vote(signed(VOTERS[voter]), any(project), aye)
			}
			Deed::Withdraw { project } => {
				let id = any(project);
				let who = Projects::<Test>::get(id).map_or(OTHER, |project| project.proposer);
				Drilling::withdraw_project(signed(who), id)
			}
			Deed::Clear { project } => Drilling::clear(signed(OTHER), any(project)),
			Deed::Enlist { driller } => enlist(DRILLERS[driller]),
			Deed::Choose { driller, project } => {
				let chosen = vec![any(project)].try_into().unwrap();
				Drilling::choose(signed(DRILLERS[driller]), chosen)
			}
			Deed::Recall { project, voter } => {
				Drilling::recall(signed(VOTERS[voter]), any(project))
			}
			Deed::Decline { unit: n, seat, check } => {
				let phase = if check { checking } else { committing };
				let Some(id) = among(n, phase) else { return Ok(()) };
				let unit = unit(id);
				let seats = if check { unit.verifiers.to_vec() } else { unit.members.to_vec() };
				Drilling::decline(signed(seat_of(&seats, seat)), id)
			}
			Deed::Retire { driller } => Drilling::retire(signed(DRILLERS[driller])),
			Deed::Commit { unit: n, seat, result: number } => match among(n, committing) {
				Some(id) => commit(seat_of(&unit(id).members, seat), id, result(number)),
				None => Ok(()),
			},
			Deed::Reveal { unit: n, seat } => match among(n, revealing) {
				Some(id) => {
					let who = seat_of(&unit(id).members, seat);
					opens(who, id, |made| reveal(who, id, result(made)))
				}
				None => Ok(()),
			},
			Deed::Check { unit: n, seat, result: number } => match among(n, checking) {
				Some(id) => mock::check(seat_of(&unit(id).verifiers, seat), id, result(number)),
				None => Ok(()),
			},
			Deed::CheckReveal { unit: n, seat } => match among(n, check_revealing) {
				Some(id) => {
					let who = seat_of(&unit(id).verifiers, seat);
					opens(who, id, |made| check_reveal(who, id, result(made)))
				}
				None => Ok(()),
			},
			Deed::Work { unit: n } => {
				if let Some(id) = among(n, committing) {
					for who in who(&unit(id).members) {
						let _ = commit(who, id, result(1));
					}
				}
				if let Some(id) = among(n, revealing) {
					for who in who(&unit(id).members) {
						let _ = opens(who, id, |made| reveal(who, id, result(made)));
					}
				}
				Ok(())
			}
			Deed::Recompute { unit: n, result: number } => {
				if let Some(id) = among(n, checking) {
					for who in who(&unit(id).verifiers) {
						let _ = mock::check(who, id, result(number));
					}
				}
				if let Some(id) = among(n, check_revealing) {
					for who in who(&unit(id).verifiers) {
						let _ = opens(who, id, |made| check_reveal(who, id, result(made)));
					}
				}
				Ok(())
			}
			Deed::Approve { project } => {
				for who in VOTERS {
					let _ = Drilling::vote(signed(who), any(project), true);
				}
				Ok(())
			}
			Deed::LeaveTrainers { driller } => {
				Bonds::mutate(|bonds| bonds.remove(&DRILLERS[driller]));
				Ok(())
			}
			Deed::JoinTrainers { driller } => {
				Bonds::mutate(|bonds| bonds.insert(DRILLERS[driller], BOND));
				Ok(())
			}
			Deed::Verifiers { count } => {
				let some = VERIFIERS.into_iter().take(count).map(|who| (who, BOND));
				VerifierBonds::set(some.collect());
				Ok(())
			}
			Deed::Busy { busy } => {
				VerifiersBusy::set(busy);
				Ok(())
			}
			Deed::LoseSeeds { count } => {
				LostSeeds::set(count);
				Ok(())
			}
			Deed::Crowd { crowded } => {
				ServiceWeight::set(if crowded { Drilling::worst_step() } else { Weight::MAX });
				Ok(())
			}
			Deed::Blocks { .. } => Ok(()),
		}
	});
}

/// Units credited so far: how many agreed, and the work of their project. What a project kept is
/// forgotten when it is cleared, at the earliest in the block that credits its last unit.
type Book = BTreeMap<(u32, u32), (u8, u64)>;

/// Checks what must hold after every deed.
fn check(issuance: u128, book: &mut Book) {
	Drilling::do_try_state().unwrap();
	assert_eq!(Balances::total_issuance(), issuance, "money was made or lost");
	for event in events() {
		if let Event::Credited { project, index, work, agreeing, .. } = event {
			let known = book.insert((project, index), (agreeing, work));
			assert_eq!(known, None, "a unit was credited twice");
		}
	}
	System::reset_events();
	for (project, index, outcome) in Results::<Test>::iter() {
		let project_of = Projects::<Test>::get(project).unwrap();
		let template = crate::Templates::<Test>::get(project).unwrap();
		let credit = template.credit(project_of.difficulty, &outcome.result);
		let work = credit / u64::from(project_of.replicas);
		assert_eq!(
			book.get(&(project, index)),
			Some(&(outcome.agreeing, work)),
			"a result changed"
		);
	}
	let expected: u64 = book.values().map(|(agreeing, work)| u64::from(*agreeing) * work).sum();
	let credited: u64 = Credited::get().into_iter().map(|(_, work)| work).sum();
	assert_eq!(credited, expected, "power that nobody agreed on");
}

proptest! {
	#![proptest_config(ProptestConfig { cases: 128, max_shrink_iters: 1_000, ..Default::default() })]

	#[test]
	fn the_books_stay_straight_and_everything_ends(
		deeds in prop::collection::vec(deed(), 1..300),
		salt in any::<u64>(),
		share in prop::sample::select(vec![0u32, 500_000, 1_000_000]),
	) {
		new_test_ext().execute_with(|| {
			SeedSalt::set(salt);
			CheckShare::set(Permill::from_parts(share));
			let issuance = Balances::total_issuance();
			let mut book = Book::new();
			// There is something to do from the beginning.
			active(Mismatch::Majority, 3, 8);
			active(Mismatch::AllLose, 2, 4);
			assert_ok!(propose_by(PROPOSER, trial(), Mismatch::Majority, 3, 9));
			approve(2);
			enlisted(6);
			for deed in deeds {
				// Each block is looked at: one may credit a unit, and the next one forget it.
				let blocks = if let Deed::Blocks { count } = deed { count } else { 0 };
				perform(deed);
				check(issuance, &mut book);
				for _ in 0..blocks {
					let used = next_block();
					assert!(used.all_lte(ServiceWeight::get()));
					check(issuance, &mut book);
				}
			}

			// Everyone retires and vanishes. Reviews end, units under way run out of time, and
			// what ended is removed; projects that wait for drillers are ended by their proposers.
			ServiceWeight::set(Weight::MAX);
			VerifiersBusy::set(false);
			VerifierBonds::set(VERIFIERS.into_iter().map(|who| (who, BOND)).collect());
			for driller in DRILLERS {
				let _ = Drilling::retire(signed(driller));
			}
			for _ in 0..120 + crate::CHECK_PAUSE {
				next_block();
				check(issuance, &mut book);
			}
			assert_eq!(Assignments::<Test>::iter().count(), 0, "an assignment did not end");
			assert_eq!(crate::Pool::<Test>::count(), 0, "a driller did not leave");
			for id in 0..NextProject::<Test>::get() {
				if let Some(project) = Projects::<Test>::get(id) {
					let _ = Drilling::withdraw_project(signed(project.proposer), id);
				}
			}
			for _ in 0..KEEP + 3 {
				next_block();
				check(issuance, &mut book);
			}
			assert_eq!(Projects::<Test>::iter().count(), 0, "a project was not removed");
			assert_eq!(Due::<Test>::iter().count(), 0, "something is still due");
			assert_eq!(crate::CleanDue::<Test>::iter().count(), 0, "a removal is still due");
			for who in [PROPOSER, OTHER] {
				assert_eq!(Balances::balance_on_hold(&HoldReason::Project.into(), &who), 0);
			}
		});
	}
}
