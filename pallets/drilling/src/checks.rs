//! Recomputation of a random share of the agreed units.
//!
//! An owner of all seats of a group could agree with itself on garbage. Whether a unit is
//! recomputed, and by whom, is drawn from a seed of blocks after its judgement: nobody can know it
//! while there is still something to reveal.

use crate::{
	all_committed, all_revealed,
	rules::{judge_check, Answer, Finding, Service},
	units::AssignmentOf,
	Assignments, Checking, Config, Error, Event, Failure, Pallet, Phase, Projects, Seat, Task,
	Templates, WeightInfo, CHECKERS, CHECK_PAUSE, MAX_CHECK_WAIT,
};
use alloc::vec::Vec;
use codec::Encode;
use frame_support::{pallet_prelude::DispatchResult, traits::Get, weights::Weight, BoundedVec};
use sp_io::hashing::blake2_256;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	drill::{self, AssignmentId, UnitResult},
	job::BlockNumber,
	seats::Resources,
	stint::{self, CERTAIN},
	H256,
};
use trainyard_traits::{Beacon, Drawn, Drillers, Seed, VerifierPool};

/// Domain of the seed that decides whether a unit is recomputed.
const CHECK: &[u8] = b"trainyard/drill/check/v1";
/// Domain of the number, derived from that seed, that decides it.
const SHARE: &[u8] = b"trainyard/drill/share/v1";
/// Domain of the draw of verifiers from that seed.
const VERIFIERS: &[u8] = b"trainyard/drill/verifiers/v1";

impl<T: Config> Pallet<T> {
	pub(crate) fn do_check(
		who: T::AccountId,
		id: AssignmentId,
		commitment: H256,
	) -> DispatchResult {
		let mut unit = Assignments::<T>::get(id).ok_or(Error::<T>::NoSuchAssignment)?;
		let Phase::CheckCommitting { until } = unit.phase else {
			return Err(Error::<T>::NotCommitting.into());
		};
		Self::seal(unit.verifiers.iter_mut(), &who, until, commitment)?;
		if all_committed(&unit.verifiers) {
			Self::hasten(Task::Unit(id));
		}
		Assignments::<T>::insert(id, unit);
		Self::deposit_event(Event::Committed { assignment: id, who });
		Ok(())
	}

	pub(crate) fn do_check_reveal(
		who: T::AccountId,
		id: AssignmentId,
		result: UnitResult,
		salt: [u8; 32],
	) -> DispatchResult {
		let mut unit = Assignments::<T>::get(id).ok_or(Error::<T>::NoSuchAssignment)?;
		let Phase::CheckRevealing { until } = unit.phase else {
			return Err(Error::<T>::NotRevealing.into());
		};
		Self::open(id, unit.project, unit.verifiers.iter_mut(), &who, until, result, &salt)?;
		if all_revealed(&unit.verifiers) {
			Self::hasten(Task::Unit(id));
		}
		Assignments::<T>::insert(id, unit);
		Self::deposit_event(Event::Revealed { assignment: id, who });
		Ok(())
	}

	/// Returns the seed that decides on a recomputation, from the blocks after `after`.
	pub(crate) fn check_seed(id: AssignmentId, after: BlockNumber) -> Seed {
		T::Beacon::seed(CHECK, &id.encode(), after)
	}

	/// Returns whether `seed` is one of those by which a unit with this chance is recomputed, in parts of
	/// 2^32.
	pub(crate) fn is_checked(seed: &H256, chance: u64) -> bool {
		let hash = (SHARE, seed).using_encoded(blake2_256);
		let (number, _) = hash.split_at(4);
		let number = number.iter().rev().fold(0u64, |acc, byte| (acc << 8) | u64::from(*byte));
		number < chance
	}

	/// Returns the chance that an agreed unit is recomputed: `CheckShare`, or more where those who
	/// agreed have little drilling power to lose beside its work, as for a report of a stint
	/// ([`stint::chance`]). So agreeing on garbage does not pay. Where it is not certain that the data are to
	/// be had, every unit is: else a forger could claim results of data that nobody can look at.
	pub(crate) fn check_chance(unit: &AssignmentOf<T>) -> u64 {
		let project = Projects::<T>::get(unit.project);
		if project.as_ref().is_some_and(|project| project.is_doubtful()) {
			return CERTAIN;
		}
		let work = project.map_or(0, |project| project.difficulty);
		// What is credited nothing brings nothing.
		let credited = |result: &UnitResult| {
			Templates::<T>::get(unit.project).map_or(0, |template| template.credit(work, result))
		};
		let work = unit.agreed.as_ref().map_or(work, credited);
		let agreeing = unit.members.iter().filter(|seat| seat.result == unit.agreed);
		let stock =
			agreeing.fold(0u64, |sum, seat| sum.saturating_add(T::Drillers::drilled(&seat.who)));
		stint::chance(work, stock).max(T::CheckShare::get().mul_floor(CERTAIN))
	}

	/// Settles an agreed unit, or has it recomputed, as `seed` says. Returns the weight used.
	pub(crate) fn draw_check(
		id: AssignmentId,
		mut unit: AssignmentOf<T>,
		now: BlockNumber,
		after: BlockNumber,
		busy: Option<BlockNumber>,
		seed: &H256,
	) -> Weight {
		// That a unit is recomputed is decided once: whoever keeps verifiers busy gets no other seed
		// to escape by.
		// A unit that was doubted is looked at in any case.
		let doubted = unit.agreed.is_none();
		if busy.is_none() && !doubted && !Self::is_checked(seed, Self::check_chance(&unit)) {
			Self::settle(id, &unit);
			return T::WeightInfo::settle();
		}
		match Self::open_check(id, &mut unit, now, after, seed) {
			Drawn::Seated(_) => T::WeightInfo::open_check(),
			// Nothing is credited unchecked, also where there are no verifiers at all.
			Drawn::Busy | Drawn::TooFew => {
				Self::await_verifiers(id, unit, now, busy.unwrap_or(now));
				T::WeightInfo::open_check().saturating_add(T::WeightInfo::settle())
			}
		}
	}

	/// Draws the verifiers again after a pause, or issues the unit again where they have been busy, or
	/// too few, for too long.
	fn await_verifiers(
		id: AssignmentId,
		mut unit: AssignmentOf<T>,
		now: BlockNumber,
		since: BlockNumber,
	) {
		let until = now.saturating_add(CHECK_PAUSE);
		if until > since.saturating_add(MAX_CHECK_WAIT) {
			return Self::fail(id, &unit, Failure::Unchecked);
		}
		let after = T::Beacon::draw_height(until);
		unit.phase = Phase::Settling { after, busy: Some(since) };
		Assignments::<T>::insert(id, unit);
		Self::schedule(Task::Unit(id), until.saturating_add(1));
		Self::deposit_event(Event::CheckPostponed { assignment: id, until });
	}

	/// Draws the verifiers that recompute an agreed unit. Nothing changes where they are busy, or
	/// too few.
	pub(crate) fn open_check(
		id: AssignmentId,
		unit: &mut AssignmentOf<T>,
		now: BlockNumber,
		after: BlockNumber,
		seed: &H256,
	) -> Drawn<T::AccountId> {
		let members: Vec<T::AccountId> = unit.members.iter().map(|m| m.who.clone()).collect();
		let project = Projects::<T>::get(unit.project);
		let needs = project.as_ref().map_or_else(Default::default, |project| project.needs);
		let drawn = T::Verifiers::draw(VERIFIERS, seed, after, &members, CHECKERS, &needs);
		let Drawn::Seated(verifiers) = &drawn else { return drawn };
		// Not what its proposer gives drillers: that would keep verifiers busy for hours.
		let until = now.saturating_add(T::CheckBlocks::get().max(drill::least_blocks(&needs)));
		unit.phase = Phase::CheckCommitting { until };
		let seats = verifiers.iter().cloned().map(Seat::of).collect();
		unit.verifiers = BoundedVec::truncate_from(seats);
		verifiers.iter().for_each(|who| Checking::<T>::insert(who, id, ()));
		Assignments::<T>::insert(id, &*unit);
		Self::schedule(Task::Unit(id), until.saturating_add(1));
		let verifiers = verifiers.clone();
		Self::deposit_event(Event::CheckOpened { assignment: id, verifiers, until });
		drawn
	}

	/// Judges a recomputation: pays and slashes the verifiers, and settles the unit, or takes it
	/// back and slashes whoever agreed on a false result.
	pub(crate) fn conclude_check(id: AssignmentId, unit: AssignmentOf<T>) {
		let answer = |seat: &Seat<T::AccountId>| match seat.result {
			Some(result) => Some(Answer::Result(result)),
			None if seat.declined => Some(Answer::Missing),
			None => None,
		};
		let found: Vec<Option<Answer<UnitResult>>> = unit.verifiers.iter().map(answer).collect();
		let (finding, services) = judge_check(unit.agreed.as_ref(), &found);
		let needs: Resources =
			Projects::<T>::get(unit.project).map_or_else(Default::default, |project| project.needs);
		let fee = T::CheckFee::get();
		for (seat, service) in unit.verifiers.iter().zip(services) {
			match service {
				Service::Served => Self::pay_check(id, &seat.who),
				Service::Contrary => {
					T::Verifiers::slash_contrary(&seat.who, fee);
				}
				Service::Absent => {
					T::Verifiers::slash_absent(&seat.who, fee);
				}
				Service::InVain => {}
			}
			T::Verifiers::release(&seat.who, &needs, service != Service::Absent);
			Checking::<T>::remove(&seat.who, id);
		}
		match finding {
			Finding::Missing => Self::note_data(unit.project, false),
			Finding::Undecided => {}
			Finding::Confirmed | Finding::Refuted | Finding::Present => {
				Self::note_data(unit.project, true);
			}
		}
		match finding {
			Finding::Confirmed => {
				Self::deposit_event(Event::Confirmed { assignment: id });
				Self::settle(id, &unit);
			}
			Finding::Refuted => {
				let forgers = unit
					.members
					.iter()
					.filter(|seat| seat.result.is_some() && seat.result == unit.agreed);
				for seat in forgers {
					let slashed = T::Drillers::slash(&seat.who, T::ForgerySlash::get());
					let driller = seat.who.clone();
					Self::deposit_event(Event::Forged { assignment: id, driller, slashed });
					// A driller that is still in the pool leaves it after the unit that it works
					// on.
					let _ = Self::do_retire(seat.who.clone());
				}
				Self::fail(id, &unit, Failure::Refuted);
			}
			Finding::Present => {
				Self::refute_declined(id, &unit);
				Self::fail(id, &unit, Failure::Declined);
			}
			Finding::Missing => Self::fail(id, &unit, Failure::Missing),
			Finding::Undecided => Self::fail(id, &unit, Failure::Unchecked),
		}
	}
}
