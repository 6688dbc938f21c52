//! The pool of drillers, and how units are assigned to them.
//!
//! A *batch* notes all drillers who are ready, and the units to hand out, with the active projects
//! taking turns. The seed from the blocks after the next draw height then shuffles the drillers, and each
//! unit takes as many as it needs from the front; drillers that are left over are ready again. The
//! author of the last of these blocks knows the seed while it makes its block, and nothing that it
//! can include changes who gets what: it can only keep a group from forming, by a driller that
//! ceases to be a trainer with a bond, or a project that is withdrawn.
//!
//! A batch waits until more than half of the pool is ready. Otherwise an owner of many identities
//! could let them become ready in one block, while everyone else computes, and would be drawn into
//! a group with itself; and the members of a group, who are ready together, would meet again for
//! ever. So an owner of a share `s` of the pool has less than `2 s` of any batch.

use crate::{
	rules::is_majority, Assignment, Assignments, Batch, BatchDrillers, BatchPlan, Config, Error,
	Event, NextAssignment, Pallet, Phase, Pool, Project, Projects, Ready, Seat, Seats, Slot, Stage,
	Task, Turns, WeightInfo,
};
use alloc::{
	collections::{BTreeSet, VecDeque},
	vec::Vec,
};
use codec::Encode;
use frame_support::{
	defensive, ensure, pallet_prelude::DispatchResult, traits::Get, weights::Weight, BoundedVec,
};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	draw,
	drill::{unit_seed, AssignmentId, ProjectId},
	job::BlockNumber,
	H256,
};
use trainyard_traits::{Beacon, Drillers, Seed};

/// Domain of the seed of a batch.
const BATCH: &[u8] = b"trainyard/drill/batch/v1";
/// Domain of the shuffle of a batch's drillers.
const SHUFFLE: &[u8] = b"trainyard/drill/shuffle/v1";

impl<T: Config> Pallet<T> {
	pub(crate) fn do_retire(who: T::AccountId) -> DispatchResult {
		if Self::stop_waiting(&who) || Self::give_up_claim(&who) {
			Self::deposit_event(Event::Retired { driller: who });
			return Ok(());
		}
		let mut driller = Pool::<T>::get(&who).ok_or(Error::<T>::NotEnlisted)?;
		ensure!(!driller.retiring, Error::<T>::AlreadyRetiring);
		let was_ready = Ready::<T>::mutate(|ready| {
			let at = ready.iter().position(|other| *other == who)?;
			Some(ready.remove(at))
		});
		if was_ready.is_some() {
			Self::leave(who);
		} else {
			driller.retiring = true;
			Pool::<T>::insert(&who, driller);
		}
		Ok(())
	}

	/// Puts a driller of the pool among those who are ready.
	pub(crate) fn make_ready(who: T::AccountId) {
		Ready::<T>::mutate(|ready| {
			if ready.try_push(who).is_err() {
				// There is room for the whole pool.
				defensive!("more drillers are ready than there may be");
			}
		});
	}

	/// Takes a driller that is neither ready nor in a batch out of the pool, as it wished.
	pub(crate) fn leave(who: T::AccountId) {
		let left = Pool::<T>::take(&who);
		Self::deposit_event(Event::Retired { driller: who.clone() });
		Self::vacated(who, left);
	}

	/// Releases a driller that did its part in an assignment: it is ready again, or leaves.
	pub(crate) fn release(who: &T::AccountId, id: AssignmentId) {
		let driller = Pool::<T>::get(who).filter(|driller| driller.assignment == Some(id));
		let Some(mut driller) = driller else { return };
		if driller.retiring || !T::Drillers::is_trainer(who) {
			return Self::leave(who.clone());
		}
		driller.assignment = None;
		Pool::<T>::insert(who, driller);
		Self::make_ready(who.clone());
	}

	/// Removes a driller that did not do its part in an assignment from the pool.
	pub(crate) fn dismiss(who: &T::AccountId) {
		let left = Pool::<T>::take(who);
		Self::deposit_event(Event::Dismissed { driller: who.clone() });
		Self::vacated(who.clone(), left);
	}

	/// Returns the weight of the largest batch.
	pub(crate) fn worst_batch() -> Weight {
		let groups = T::MaxGroups::get();
		let deal = T::WeightInfo::deal(groups).saturating_add(T::Beacon::seed_weight());
		T::WeightInfo::close_batch(groups).max(deal)
	}

	/// Notes a batch, or hands its units out once there is a seed, in a block that has room for it.
	/// Returns the weight used.
	pub(crate) fn tend_batch(now: BlockNumber, room: Weight) -> Weight {
		let look = T::WeightInfo::look_at_batch();
		if !Self::worst_batch().all_lte(room) {
			return Weight::zero();
		}
		let Some(closed) = Batch::<T>::get() else {
			return Self::close_batch(now).map_or(look, T::WeightInfo::close_batch);
		};
		match T::Beacon::seed(BATCH, &closed.encode(), closed) {
			Seed::NotBefore(_) => look,
			Seed::Lost => {
				Batch::<T>::put(T::Beacon::draw_height(now));
				Self::deposit_event(Event::SeedLost);
				look
			}
			Seed::Ready(seed) => {
				let groups = BatchPlan::<T>::decode_len().unwrap_or(0) as u32;
				Self::deal(now, &seed);
				T::WeightInfo::deal(groups).saturating_add(T::Beacon::seed_weight())
			}
		}
	}

	/// Notes which drillers are ready and what they will compute. Returns how many units are handed
	/// out; `None` where it did not have to look at projects.
	pub(crate) fn close_batch(now: BlockNumber) -> Option<u32> {
		let mut turns: VecDeque<ProjectId> = Turns::<T>::get().into_inner().into();
		let ready = Ready::<T>::decode_len().unwrap_or(0);
		if turns.is_empty() || !is_majority(ready, Pool::<T>::count() as usize) {
			return None;
		}
		let mut plan = Vec::new();
		let mut free = ready;
		// Projects that need more drillers than are left keep their turn.
		let mut waiting = Vec::new();
		while plan.len() < T::MaxGroups::get() as usize {
			let Some(id) = turns.pop_front() else { break };
			let Some(mut project) = Projects::<T>::get(id) else { continue };
			let replicas = project.replicas;
			let Some(left) = free.checked_sub(usize::from(replicas)) else {
				waiting.push(id);
				continue;
			};
			let Some((index, attempt)) = Self::take_unit(id, &mut project) else { continue };
			free = left;
			plan.push(Slot { project: id, index, attempt, replicas });
			if project.has_units() {
				turns.push_back(id);
			}
			Projects::<T>::insert(id, project);
		}
		let units = plan.len() as u32;
		if units > 0 {
			waiting.extend(turns);
			Turns::<T>::put(BoundedVec::truncate_from(waiting));
			BatchPlan::<T>::put(BoundedVec::truncate_from(plan));
			BatchDrillers::<T>::put(Ready::<T>::take());
			Batch::<T>::put(T::Beacon::draw_height(now));
			Self::deposit_event(Event::BatchClosed { drillers: ready as u32, units });
		}
		Some(units)
	}

	/// Assigns the units of the batch to its drillers.
	pub(crate) fn deal(now: BlockNumber, seed: &H256) {
		Batch::<T>::kill();
		let plan = BatchPlan::<T>::take();
		let drillers = BatchDrillers::<T>::take();
		let seats = plan.iter().fold(0usize, |sum, s| sum.saturating_add(usize::from(s.replicas)));
		let tickets: Vec<(T::AccountId, u128)> = drillers.into_iter().map(|who| (who, 1)).collect();
		let drawn = draw::weighted(SHUFFLE, seed, &tickets, seats);
		let taken: BTreeSet<&T::AccountId> = drawn.iter().collect();
		let mut idle: Vec<T::AccountId> =
			tickets.into_iter().map(|(who, _)| who).filter(|who| !taken.contains(who)).collect();
		let mut drawn = drawn.into_iter();
		for slot in plan {
			let group: Vec<T::AccountId> = drawn.by_ref().take(slot.replicas.into()).collect();
			let Some(mut project) = Projects::<T>::get(slot.project) else {
				idle.extend(group);
				continue;
			};
			// A trainer that is leaving may soon have no bond to answer for its results.
			let able = group.iter().all(T::Drillers::is_trainer);
			let whole = group.len() == usize::from(slot.replicas);
			if able && whole && project.stage == Stage::Active {
				Self::assign(now, &slot, &project, seed, group);
			} else {
				Self::put_back(slot.project, &mut project, slot.index, slot.attempt);
				Projects::<T>::insert(slot.project, project);
				let (able, others) = group.into_iter().partition(T::Drillers::is_trainer);
				idle.extend::<Vec<_>>(able);
				Vec::into_iter(others).for_each(Self::leave);
			}
		}
		let (leaving, staying): (Vec<_>, Vec<_>) =
			idle.into_iter().partition(|who| Pool::<T>::get(who).is_none_or(|d| d.retiring));
		leaving.into_iter().for_each(Self::leave);
		Ready::<T>::mutate(|ready| {
			for who in staying {
				if ready.try_push(who).is_err() {
					defensive!("more drillers are ready than there may be");
				}
			}
		});
	}

	/// Gives a unit to a group.
	pub(crate) fn assign(
		now: BlockNumber,
		slot: &Slot,
		project: &Project<T::AccountId>,
		seed: &H256,
		group: Vec<T::AccountId>,
	) {
		let id = NextAssignment::<T>::get();
		NextAssignment::<T>::put(id.saturating_add(1));
		for who in &group {
			Pool::<T>::mutate(who, |driller| {
				if let Some(driller) = driller {
					driller.assignment = Some(id);
				}
			});
		}
		let until = now.saturating_add(project.commit_blocks);
		let seed = unit_seed(seed, slot.project, slot.index);
		let assignment = Assignment {
			project: slot.project,
			index: slot.index,
			attempt: slot.attempt,
			seed,
			phase: Phase::Committing { until },
			members: Seats::truncate_from(group.iter().cloned().map(Seat::of).collect()),
			agreed: None,
			verifiers: Default::default(),
		};
		Assignments::<T>::insert(id, assignment);
		Self::schedule(Task::Unit(id), until.saturating_add(1));
		Self::deposit_event(Event::Assigned {
			assignment: id,
			project: slot.project,
			index: slot.index,
			seed,
			drillers: BoundedVec::truncate_from(group),
			until,
		});
	}
}
