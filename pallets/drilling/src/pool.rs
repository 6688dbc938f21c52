//! The pool of drillers, and how units are assigned to them.
//!
//! Drillers compute units of the projects that they chose, and of no others: nobody is given a unit
//! whose deadline, data or rule it did not accept.
//!
//! A *batch* notes all drillers who are ready, with what they chose, and the units to hand out, with
//! the active projects taking turns. The seed from the blocks after the next draw height then shuffles
//! the drillers, and each unit takes the first of them who chose its project; drillers that are left
//! over are ready again, and so are units. The author of the last of these blocks knows the seed while it
//! makes its block, and nothing that it can include changes who gets what: it can only keep a group
//! from forming, by a driller that ceases to be a trainer with a bond, or a project that is withdrawn.
//!
//! A project's units wait until more than half of those who chose it are ready. Otherwise an owner of
//! many identities could let them become ready in one block, while everyone else computes, and would be
//! drawn into a group with itself; and the members of a group, who are ready together, would meet again
//! for ever. So an owner of a share `s` of those who chose a project has less than `2 s` of those who
//! may be drawn for it, also where other units took some of them before. Who has had a unit for more than
//! [`BUSY_BLOCKS`] does not count, so that nobody keeps others waiting by a long unit of its own.

use crate::{
	Assignment, Assignments, Batch, BatchDrillers, BatchPlan, Choices, Coming, Config, Error,
	Event, NextAssignment, OpenProjects, Pallet, Phase, Pool, Project, Projects, Ready, Seat,
	Seats, Slot, Task, Turns, WeightInfo, BUSY_BLOCKS,
};
use alloc::{
	collections::{BTreeMap, VecDeque},
	vec::Vec,
};
use codec::Encode;
use frame_support::{
	defensive, ensure, pallet_prelude::DispatchResult, traits::Get, weights::Weight, BoundedVec,
};
use trainyard_pallet_support::{agenda::Clock, majority::is_majority};
use trainyard_protocol::{
	draw,
	drill::{unit_seed, AssignmentId, Chosen, ProjectId},
	job::BlockNumber,
	H256,
};
use trainyard_traits::{Beacon, Drillers, Seed};

/// Domain of the seed of a batch.
const BATCH: &[u8] = b"trainyard/drill/batch/v1";
/// Domain of the shuffle of a batch's drillers.
const SHUFFLE: &[u8] = b"trainyard/drill/shuffle/v1";

impl<T: Config> Pallet<T> {
	/// Changes what a driller, in the pool or not yet, computes.
	pub(crate) fn do_choose(who: T::AccountId, projects: Chosen) -> DispatchResult {
		ensure!(Choices::<T>::contains_key(&who), Error::<T>::NotEnlisted);
		Self::check_choice(&projects)?;
		Self::choose_from_now(&who, &projects);
		Self::deposit_event(Event::Chose { driller: who, projects });
		Ok(())
	}

	/// Notes the choice of a driller. One that is at work, or in a batch, chooses for the time when it is
	/// ready: else it could wait for nobody, and have others wait for it, wherever it likes.
	pub(crate) fn choose_from_now(who: &T::AccountId, projects: &Chosen) {
		if Pool::<T>::contains_key(who) && !Ready::<T>::get().contains(who) {
			Coming::<T>::insert(who, projects);
		} else {
			Choices::<T>::insert(who, projects);
		}
	}

	/// Fails unless these are open projects, at least one, each once.
	pub(crate) fn check_choice(projects: &Chosen) -> DispatchResult {
		ensure!(!projects.is_empty(), Error::<T>::NothingChosen);
		let pairs = projects.iter().zip(projects.iter().skip(1));
		ensure!(pairs.into_iter().all(|(one, next)| one < next), Error::<T>::ChosenTwice);
		let open = OpenProjects::<T>::get();
		ensure!(projects.iter().all(|id| open.contains(id)), Error::<T>::ChosenEnded);
		Ok(())
	}

	/// Takes a project out of the choice of `who`.
	pub(crate) fn unchoose(who: &T::AccountId, project: ProjectId) {
		Choices::<T>::mutate_extant(who, |chosen| chosen.retain(|id| *id != project));
		Coming::<T>::remove(who);
	}

	pub(crate) fn do_retire(who: T::AccountId) -> DispatchResult {
		if Self::stop_waiting(&who) || Self::give_up_claim(&who) {
			Choices::<T>::remove(&who);
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

	/// Lets the choice count that a driller made while it was at work, or in a batch.
	fn take_choice(who: &T::AccountId) {
		if let Some(projects) = Coming::<T>::take(who) {
			Choices::<T>::insert(who, projects);
		}
	}

	/// Puts a driller of the pool among those who are ready.
	pub(crate) fn make_ready(who: T::AccountId) {
		Self::take_choice(&who);
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
		let ready = Ready::<T>::get();
		if turns.is_empty() || ready.is_empty() {
			return None;
		}
		// How many of the pool chose each project. Who has had a unit for long counts nowhere: it would keep
		// others waiting.
		let mut choosers = BTreeMap::<ProjectId, u32>::new();
		let mut choices = BTreeMap::<T::AccountId, Chosen>::new();
		let busy_since = now.saturating_sub(BUSY_BLOCKS);
		for (who, driller) in Pool::<T>::iter() {
			if driller.assignment.is_some() && driller.worked < busy_since {
				continue;
			}
			let chosen = Choices::<T>::get(&who);
			for id in &chosen {
				let count = choosers.entry(*id).or_default();
				*count = count.saturating_add(1);
			}
			choices.insert(who, chosen);
		}
		let drillers: Vec<(T::AccountId, Chosen)> = ready
			.into_iter()
			.map(|who| {
				let chosen = choices.remove(&who).unwrap_or_default();
				(who, chosen)
			})
			.collect();
		let mut free: Vec<&Chosen> = drillers.iter().map(|(_, chosen)| chosen).collect();
		let mut drawn = BTreeMap::<ProjectId, usize>::new();
		let mut plan = Vec::new();
		let mut served = Vec::new();
		while plan.len() < T::MaxGroups::get() as usize {
			let Some(id) = turns.pop_front() else { break };
			let Some(mut project) = Projects::<T>::get(id) else { continue };
			let replicas = project.replicas;
			let willing = free.iter().filter(|chosen| chosen.contains(&id)).count();
			let of_own = drawn.entry(id).or_default();
			let choosers = choosers.get(&id).copied().unwrap_or(0);
			// Others may have taken those who chose it: then the rest would meet itself.
			let enough = is_majority(willing.saturating_add(*of_own), choosers as usize);
			let waits = project.is_doubtful() && project.running > 0;
			if !enough || waits || willing < usize::from(replicas) {
				// It keeps its turn.
				continue;
			}
			let Some((index, attempt)) = Self::take_unit(id, &mut project) else { continue };
			*of_own = of_own.saturating_add(usize::from(replicas));
			let mut group = replicas;
			free.retain(|chosen| {
				let taken = group > 0 && chosen.contains(&id);
				group = group.saturating_sub(u8::from(taken));
				!taken
			});
			plan.push(Slot { project: id, index, attempt, replicas, choosers });
			served.push((id, project.has_units()));
			if project.has_units() {
				turns.push_back(id);
			}
			Projects::<T>::insert(id, project);
		}
		let units = plan.len() as u32;
		if units > 0 {
			// Those that were served take their next turn after all others.
			Turns::<T>::mutate(|turns| {
				for (id, has_more) in served {
					turns.retain(|other| *other != id);
					if has_more && turns.try_push(id).is_err() {
						defensive!("more active projects than there may be");
					}
				}
			});
			BatchPlan::<T>::put(BoundedVec::truncate_from(plan));
			let count = drillers.len() as u32;
			BatchDrillers::<T>::put(BoundedVec::truncate_from(drillers));
			Ready::<T>::kill();
			Batch::<T>::put(T::Beacon::draw_height(now));
			Self::deposit_event(Event::BatchClosed { drillers: count, units });
		}
		Some(units)
	}

	/// Assigns the units of the batch to its drillers.
	pub(crate) fn deal(now: BlockNumber, seed: &H256) {
		Batch::<T>::kill();
		let plan = BatchPlan::<T>::take();
		let drillers = BatchDrillers::<T>::take();
		let chosen: BTreeMap<T::AccountId, Chosen> = drillers.iter().cloned().collect();
		let tickets: Vec<(T::AccountId, u128)> =
			drillers.into_iter().map(|(who, _)| (who, 1)).collect();
		let mut free = draw::weighted(SHUFFLE, seed, &tickets, tickets.len());
		let (mut idle, mut drawn) = (Vec::new(), BTreeMap::<ProjectId, usize>::new());
		for slot in plan {
			let Some(mut project) = Projects::<T>::get(slot.project) else { continue };
			let chose = |who: &T::AccountId| {
				chosen.get(who).is_some_and(|chosen| chosen.contains(&slot.project))
			};
			let willing: Vec<&T::AccountId> = free.iter().filter(|who| chose(who)).collect();
			let of_own = drawn.entry(slot.project).or_default();
			// Who chose it may have had a turn in another group: that follows from the seed.
			let left = willing.len().saturating_add(*of_own);
			let enough = is_majority(left, slot.choosers as usize);
			let group: Vec<T::AccountId> =
				willing.into_iter().take(slot.replicas.into()).cloned().collect();
			let whole = enough && group.len() == usize::from(slot.replicas);
			if whole {
				*of_own = of_own.saturating_add(group.len());
				free.retain(|who| !group.contains(who));
			}
			// A trainer that is leaving may soon have no bond to answer for its results.
			let able = group.iter().all(T::Drillers::is_trainer);
			if able && whole && project.is_given_out() {
				Self::assign(now, &slot, &project, seed, group);
				continue;
			}
			Self::put_back(slot.project, &mut project, slot.index, slot.attempt);
			Projects::<T>::insert(slot.project, project);
			if whole {
				// These have no other turn: whoever makes this block could choose who does.
				idle.extend(group);
			}
		}
		idle.extend(free);
		let (leaving, staying): (Vec<_>, Vec<_>) = idle.into_iter().partition(|who| {
			let stays = Pool::<T>::get(who).is_some_and(|driller| !driller.retiring);
			!stays || !T::Drillers::is_trainer(who)
		});
		leaving.into_iter().for_each(Self::leave);
		staying.iter().for_each(Self::take_choice);
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
					driller.worked = now;
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
