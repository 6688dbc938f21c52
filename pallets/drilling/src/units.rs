//! The life of an assignment, up to agreement: commit, reveal, judgement; and its end.

use crate::{
	all_committed, all_revealed,
	rules::{judge, Brought, Lot, Verdict},
	Assignment, Assignments, Config, Error, Event, Failure, Fault, Former, Outcome, Pallet, Phase,
	Projects, Seat, Task, Templates, WeightInfo,
};
use alloc::vec::Vec;
use frame_support::{ensure, pallet_prelude::DispatchResult, traits::Get, weights::Weight};
use frame_system::pallet_prelude::BlockNumberFor;
use sp_runtime::traits::Zero;
use trainyard_pallet_support::{agenda::Clock, majority::is_majority};
use trainyard_protocol::{
	drill::{self, AssignmentId, UnitResult},
	job::BlockNumber,
	MicroUt, H256,
};
use trainyard_traits::{Beacon, Drillers, Seed};

/// An assignment of a runtime's accounts.
pub(crate) type AssignmentOf<T> = Assignment<<T as frame_system::Config>::AccountId>;

/// Returns what each of a group of `replicas` has of a unit's work, rounded down: replicas of one
/// computation share it, or an owner of several would compute once and be credited often.
fn shared(work: MicroUt, replicas: usize) -> MicroUt {
	work.checked_div(replicas as u64).unwrap_or(0)
}

impl<T: Config> Pallet<T> {
	pub(crate) fn do_commit(
		who: T::AccountId,
		id: AssignmentId,
		commitment: H256,
	) -> DispatchResult {
		let mut unit = Assignments::<T>::get(id).ok_or(Error::<T>::NoSuchAssignment)?;
		let Phase::Committing { until } = unit.phase else {
			return Err(Error::<T>::NotCommitting.into());
		};
		Self::seal(unit.members.iter_mut(), &who, until, commitment)?;
		if all_committed(&unit.members) {
			Self::hasten(Task::Unit(id));
		}
		Assignments::<T>::insert(id, unit);
		Self::deposit_event(Event::Committed { assignment: id, who });
		Ok(())
	}

	pub(crate) fn do_reveal(
		who: T::AccountId,
		id: AssignmentId,
		result: UnitResult,
		salt: [u8; 32],
	) -> DispatchResult {
		let mut unit = Assignments::<T>::get(id).ok_or(Error::<T>::NoSuchAssignment)?;
		let Phase::Revealing { until } = unit.phase else {
			return Err(Error::<T>::NotRevealing.into());
		};
		Self::open(id, unit.project, unit.members.iter_mut(), &who, until, result, &salt)?;
		if all_revealed(&unit.members) {
			Self::hasten(Task::Unit(id));
		}
		Assignments::<T>::insert(id, unit);
		Self::deposit_event(Event::Revealed { assignment: id, who });
		Ok(())
	}

	/// Takes the answer of `who` that the data of its unit are not to be had: a driller's, which
	/// computes no more units of this project, or a verifier's.
	pub(crate) fn do_decline(who: T::AccountId, id: AssignmentId) -> DispatchResult {
		let mut unit = Assignments::<T>::get(id).ok_or(Error::<T>::NoSuchAssignment)?;
		let (seats, until): (&mut [Seat<T::AccountId>], _) = match unit.phase {
			Phase::Committing { until } => (unit.members.as_mut(), until),
			Phase::CheckCommitting { until } => (unit.verifiers.as_mut(), until),
			_ => return Err(Error::<T>::NotCommitting.into()),
		};
		let reads = Projects::<T>::get(unit.project).is_some_and(|p| !p.data.is_empty());
		ensure!(reads, Error::<T>::NoData);
		let seat = seats.iter_mut().find(|seat| seat.who == who);
		let seat = seat.ok_or(Error::<T>::NotAssigned)?;
		ensure!(Self::now() <= until, Error::<T>::TooLate);
		ensure!(seat.commitment.is_none() && !seat.declined, Error::<T>::AlreadyCommitted);
		seat.declined = true;
		if all_committed(seats) {
			Self::hasten(Task::Unit(id));
		}
		if matches!(unit.phase, Phase::Committing { .. }) {
			Self::unchoose(&who, unit.project);
		}
		Assignments::<T>::insert(id, unit);
		Self::deposit_event(Event::Declined { assignment: id, who });
		Ok(())
	}

	/// Takes the commitment of `who`, one of `seats`.
	pub(crate) fn seal<'a>(
		mut seats: impl Iterator<Item = &'a mut Seat<T::AccountId>>,
		who: &T::AccountId,
		until: BlockNumber,
		commitment: H256,
	) -> DispatchResult
	where
		T::AccountId: 'a,
	{
		let seat = seats.find(|seat| seat.who == *who);
		let seat = seat.ok_or(Error::<T>::NotAssigned)?;
		ensure!(Self::now() <= until, Error::<T>::TooLate);
		ensure!(seat.commitment.is_none() && !seat.declined, Error::<T>::AlreadyCommitted);
		seat.commitment = Some(commitment);
		Ok(())
	}

	/// Takes the reveal of `who`, one of `seats`.
	pub(crate) fn open<'a>(
		id: AssignmentId,
		project: drill::ProjectId,
		mut seats: impl Iterator<Item = &'a mut Seat<T::AccountId>>,
		who: &T::AccountId,
		until: BlockNumber,
		result: UnitResult,
		salt: &[u8; 32],
	) -> DispatchResult
	where
		T::AccountId: 'a,
	{
		let seat = seats.find(|seat| seat.who == *who);
		let seat = seat.ok_or(Error::<T>::NotAssigned)?;
		ensure!(Self::now() <= until, Error::<T>::TooLate);
		let commitment = seat.commitment.ok_or(Error::<T>::NotCommitted)?;
		ensure!(seat.result.is_none(), Error::<T>::AlreadyRevealed);
		let made = drill::commitment(&Self::genesis_hash(), id, who, &result, salt);
		ensure!(made == commitment, Error::<T>::WrongReveal);
		let template = Templates::<T>::get(project).ok_or(Error::<T>::NoSuchProject)?;
		ensure!(template.takes(&result), Error::<T>::WrongForm);
		seat.result = Some(result);
		Ok(())
	}

	/// Returns the hash of the first block, which commitments cover.
	pub fn genesis_hash() -> H256 {
		frame_system::Pallet::<T>::block_hash(BlockNumberFor::<T>::zero())
	}

	/// Returns the weight of the largest step of an assignment.
	pub(crate) fn worst_unit() -> Weight {
		T::WeightInfo::judge()
			.max(
				T::WeightInfo::open_check()
					.saturating_add(T::WeightInfo::settle())
					.saturating_add(T::Beacon::seed_weight()),
			)
			.max(Self::conclude_weight())
			.max(T::WeightInfo::open_reveals())
	}

	/// Returns the weight of the end of a recomputation: a group is slashed, or the project suspended since
	/// nobody has its data.
	fn conclude_weight() -> Weight {
		T::WeightInfo::judge_check().max(T::WeightInfo::suspend())
	}

	/// Takes an assignment as far as it can go at the present block, by one phase. Returns the
	/// weight used.
	pub(crate) fn advance(id: AssignmentId) -> Weight {
		let look = T::WeightInfo::look_at_unit();
		let Some(mut unit) = Assignments::<T>::get(id) else { return look };
		let now = Self::now();
		match unit.phase {
			Phase::Committing { until } => {
				if now <= until && !all_committed(&unit.members) {
					return Self::wait(id, until, look);
				}
				let committed = unit.members.iter().filter(|m| m.commitment.is_some()).count();
				if is_majority(committed, unit.members.len()) {
					let until = Self::open_reveals(id, now);
					unit.phase = Phase::Revealing { until };
					Assignments::<T>::insert(id, unit);
					return T::WeightInfo::open_reveals();
				}
				// A majority may have had a result, had there been data.
				let declined = unit.members.iter().filter(|seat| seat.declined).count();
				let with = committed.saturating_add(declined);
				if declined > 0 && is_majority(with, unit.members.len()) {
					Self::doubt(id, unit, now);
				} else {
					// Nothing can be agreed on: a driller that did its part is not asked for more.
					Self::conclude(id, unit, now, |_| Brought::Unasked);
				}
				T::WeightInfo::judge()
			}
			Phase::Revealing { until } => {
				if now <= until && !all_revealed(&unit.members) {
					return Self::wait(id, until, look);
				}
				Self::conclude(id, unit, now, |seat| match seat.result {
					Some(result) => Brought::Result(result),
					None => Brought::Sealed,
				});
				T::WeightInfo::judge()
			}
			Phase::Settling { after, busy } => match Self::check_seed(id, after) {
				Seed::NotBefore(height) => Self::wait(id, height.saturating_sub(1), look),
				Seed::Lost => {
					unit.phase = Phase::Settling { after: T::Beacon::draw_height(now), busy };
					Assignments::<T>::insert(id, unit);
					Self::deposit_event(Event::SeedLost);
					Self::wait(id, now, look)
				}
				Seed::Ready(seed) => Self::draw_check(id, unit, now, after, busy, &seed)
					.saturating_add(T::Beacon::seed_weight()),
			},
			Phase::CheckCommitting { until } => {
				if now <= until && !all_committed(&unit.verifiers) {
					return Self::wait(id, until, look);
				}
				if unit.verifiers.iter().any(|seat| seat.commitment.is_some()) {
					let until = Self::open_reveals(id, now);
					unit.phase = Phase::CheckRevealing { until };
					Assignments::<T>::insert(id, unit);
					return T::WeightInfo::open_reveals();
				}
				Self::conclude_check(id, unit);
				Self::conclude_weight()
			}
			Phase::CheckRevealing { until } => {
				if now <= until && !all_revealed(&unit.verifiers) {
					return Self::wait(id, until, look);
				}
				Self::conclude_check(id, unit);
				Self::conclude_weight()
			}
		}
	}

	/// Comes back to an assignment after `until`. Returns the `weight` of having looked.
	fn wait(id: AssignmentId, until: BlockNumber, weight: Weight) -> Weight {
		Self::schedule(Task::Unit(id), until.saturating_add(1));
		weight
	}

	/// Begins a time of reveals; returns its last block.
	fn open_reveals(id: AssignmentId, now: BlockNumber) -> BlockNumber {
		let until = now.saturating_add(T::RevealBlocks::get());
		Self::schedule(Task::Unit(id), until.saturating_add(1));
		Self::deposit_event(Event::RevealOpened { assignment: id, until });
		until
	}

	/// Judges a group; `open` says what a member that committed brought. All members are free
	/// again; losses are taken at once, and credit waits for the draw of recomputations.
	fn conclude(
		id: AssignmentId,
		mut unit: AssignmentOf<T>,
		now: BlockNumber,
		open: impl Fn(&Seat<T::AccountId>) -> Brought<UnitResult>,
	) {
		let Some(project) = Projects::<T>::get(unit.project) else {
			return Assignments::<T>::remove(id);
		};
		let brought: Vec<_> = unit
			.members
			.iter()
			.map(|seat| match seat.commitment {
				Some(_) => open(seat),
				None if seat.declined => Brought::Missing,
				None => Brought::Nothing,
			})
			.collect();
		let (verdict, lots) = judge(project.rule, &brought);
		let work = shared(project.difficulty, unit.members.len());
		let mut agreeing = 0u8;
		for (seat, lot) in unit.members.iter().zip(lots) {
			let fault = match lot {
				Lot::Agrees => {
					agreeing = agreeing.saturating_add(1);
					None
				}
				Lot::Spared => None,
				Lot::Contradicts => Some(Fault::Contrary),
				Lot::NotCommitted => Some(Fault::NotCommitted),
				Lot::NotRevealed => Some(Fault::NotRevealed),
			};
			if let Some(fault) = fault {
				Self::lose(id, &seat.who, work, fault);
			}
			match fault {
				Some(Fault::NotCommitted | Fault::NotRevealed) => Self::dismiss(&seat.who),
				Some(Fault::Contrary | Fault::Declined) | None => Self::release(&seat.who, id),
			}
		}
		match verdict {
			Verdict::Agreed(result) => {
				unit.agreed = Some(result);
				let after = T::Beacon::draw_height(now);
				unit.phase = Phase::Settling { after, busy: None };
				Assignments::<T>::insert(id, unit);
				Self::schedule(Task::Unit(id), now.saturating_add(1));
				Self::deposit_event(Event::Agreed { assignment: id, result, agreeing });
			}
			Verdict::Disagreed => Self::fail(id, &unit, Failure::Disagreed),
			Verdict::TooFew => Self::fail(id, &unit, Failure::TooFew),
		}
	}

	/// Has verifiers look for the data of a unit that has no majority because members say that they are not
	/// to be had. Those who committed are free again; those who said so are when that is decided; who did
	/// neither loses what it would anyhow.
	fn doubt(id: AssignmentId, mut unit: AssignmentOf<T>, now: BlockNumber) {
		let work = Projects::<T>::get(unit.project).map_or(0, |project| project.difficulty);
		let work = shared(work, unit.members.len());
		for seat in unit.members.iter().filter(|seat| !seat.declined) {
			if seat.commitment.is_some() {
				Self::release(&seat.who, id);
			} else {
				Self::lose(id, &seat.who, work, Fault::NotCommitted);
				Self::dismiss(&seat.who);
			}
		}
		Self::note_doubt(unit.project, true);
		unit.phase = Phase::Settling { after: T::Beacon::draw_height(now), busy: None };
		Assignments::<T>::insert(id, unit);
		Self::schedule(Task::Unit(id), now.saturating_add(1));
		Self::deposit_event(Event::Doubted { assignment: id });
	}

	/// Takes the power of this work from a driller.
	fn lose(id: AssignmentId, who: &T::AccountId, work: MicroUt, fault: Fault) {
		T::Drillers::debit_drilling(who, work);
		let driller = who.clone();
		Self::deposit_event(Event::PowerLost { assignment: id, driller, work, fault });
	}

	/// Punishes those who said of data that verifiers had that they are not to be had: they lose what
	/// silence costs, and come back as newcomers.
	pub(crate) fn refute_declined(id: AssignmentId, unit: &AssignmentOf<T>) {
		let work = Projects::<T>::get(unit.project).map_or(0, |project| project.difficulty);
		let work = shared(work, unit.members.len());
		for seat in unit.members.iter().filter(|seat| seat.declined) {
			Self::lose(id, &seat.who, work, Fault::Declined);
			Self::dismiss(&seat.who);
			Former::<T>::remove(&seat.who);
		}
	}

	/// Ends an assignment without a result.
	pub(crate) fn fail(id: AssignmentId, unit: &AssignmentOf<T>, failure: Failure) {
		Assignments::<T>::remove(id);
		if unit.agreed.is_none() && !unit.phase.is_computing() {
			// It was doubted.
			Self::note_doubt(unit.project, false);
			let declined = unit.members.iter().filter(|seat| seat.declined);
			declined.for_each(|seat| Self::release(&seat.who, id));
		}
		Self::fail_unit(id, unit.project, unit.index, unit.attempt, failure);
	}

	/// Ends an assignment with its agreed result: it is kept, and those who agreed on it are
	/// credited.
	pub(crate) fn settle(id: AssignmentId, unit: &AssignmentOf<T>) {
		Assignments::<T>::remove(id);
		let Some(result) = unit.agreed else { return };
		let who: Vec<_> =
			unit.members.iter().filter(|m| m.result == Some(result)).map(|m| &m.who).collect();
		let agreeing = who.len() as u8;
		let outcome = Outcome { result, agreeing };
		let work = shared(Self::keep_result(unit.project, unit.index, outcome), unit.members.len());
		for driller in who {
			T::Drillers::credit_drilling(driller, work);
		}
		Self::deposit_event(Event::Credited {
			assignment: id,
			project: unit.project,
			index: unit.index,
			work,
			agreeing,
		});
	}
}
