//! The steps of a federation.
//!
//! | stage | goes on when | and then |
//! |---|---|---|
//! | Training | every part answered or was given up; or, `round_blocks` after it began, `min_parts` answered | Aggregating, or `TooFewParts` |
//! | Aggregating | the first proposal in order outlasted its window; or, with none, `AggregateBlocks` passed | the next round, Finishing, or `NoAggregate` |
//! | Finishing | all results that counted are decided | `Done` |
//! | Ended | `RetentionBlocks` after that | its records are removed |
//!
//! A part fails where its job ends without a model, or where it cannot be posted: because its submitter has
//! too little money, or because the market moved. It is tried `MAX_ATTEMPTS` times, and a job always ends by
//! the market's deadlines; so no stage lasts for ever.

use crate::{
	Config, Event, Federation, Federations, HoldReason, Pallet, Part, ProposedPieces, Rounds,
	Template, Templates, Undecided, WeightInfo, FORGET_STEP,
};
use alloc::vec::Vec;
use frame_support::{
	defensive, storage::with_storage_layer, traits::Get, weights::Weight, BoundedVec,
};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	federation::{FederationEnding, FederationId, Rule, Stage, MAX_ATTEMPTS, MAX_PARTS},
	job::BlockNumber,
	JobId, H256,
};
use trainyard_traits::{AwaitedBlobs, BlobStore, JobStanding, PostedJobs};

impl<T: Config> Pallet<T> {
	/// Looks at a federation: does what can be done of the stage that it is in, and puts it on the agenda again.
	/// Returns the weight of what was done, at most [`Self::worst_advance`].
	pub fn advance(id: FederationId) -> Weight {
		let Some(mut federation) = Federations::<T>::get(id) else {
			defensive!("a federation on the agenda exists");
			Self::unschedule(id);
			return T::WeightInfo::look();
		};
		let now = Self::now();
		if let Stage::Ended(_) = federation.stage {
			return Self::forget(id, &federation);
		}
		let mut weight = T::WeightInfo::look().saturating_add(Self::standings_weight());
		let stopped = Self::look_at_undecided(id, &mut federation);
		let next = if stopped {
			Self::end(id, &mut federation, FederationEnding::Tainted)
		} else {
			match federation.stage {
				Stage::Training => {
					let (next, more) = Self::look_at_training(id, &mut federation, now);
					weight = weight.saturating_add(more);
					next
				}
				Stage::Aggregating => Self::look_at_aggregating(id, &mut federation, now),
				Stage::Finishing | Stage::Ended(_) => match federation.undecided.is_empty() {
					true => Self::end(id, &mut federation, FederationEnding::Done),
					false => now.saturating_add(T::PollBlocks::get()),
				},
			}
		};
		Self::schedule(id, next);
		Federations::<T>::insert(id, federation);
		weight
	}

	/// Returns the largest weight of one [`Self::advance`].
	pub fn worst_advance() -> Weight {
		let look = T::WeightInfo::look()
			.saturating_add(Self::standings_weight())
			.saturating_add(Self::standings_weight())
			.saturating_add(T::WeightInfo::post())
			.saturating_add(T::Jobs::post_weight());
		look.max(T::WeightInfo::forget())
	}

	/// Returns the weight of asking what became of as many jobs as a federation has parts.
	fn standings_weight() -> Weight {
		T::Jobs::standing_weight().saturating_mul(MAX_PARTS.into())
	}

	/// Looks at the oldest results that counted and were not decided. Returns whether all ends for one of
	/// them.
	fn look_at_undecided(id: FederationId, federation: &mut Federation<T::AccountId>) -> bool {
		let before = federation.tainted;
		let (mut kept, mut rest) = (Vec::new(), Vec::new());
		for (at, entry) in federation.undecided.iter().enumerate() {
			if at >= MAX_PARTS as usize {
				rest.push(*entry);
				continue;
			}
			match T::Jobs::standing(entry.job) {
				JobStanding::Running | JobStanding::Agreed(_) => kept.push(*entry),
				JobStanding::Accepted(root) if root == entry.root => {}
				JobStanding::Accepted(_) | JobStanding::Failed => {
					let Undecided { round, job, .. } = *entry;
					let first = federation.tainted.map_or(round, |first| first.min(round));
					federation.tainted = Some(first);
					Self::deposit_event(Event::TaintedFrom { federation: id, round, job });
				}
			}
		}
		// Those that were not looked at are first the next time.
		rest.extend(kept);
		federation.undecided = BoundedVec::truncate_from(rest);
		federation.plan.stop_if_tainted && federation.tainted != before
	}

	fn look_at_training(
		id: FederationId,
		federation: &mut Federation<T::AccountId>,
		now: BlockNumber,
	) -> (BlockNumber, Weight) {
		let mut parts = core::mem::take(&mut federation.parts);
		let mut weight = Self::standings_weight();
		let mut posted = false;
		for (number, part) in (0u32..).zip(parts.iter_mut()) {
			if !part.is_open() {
				continue;
			}
			match part.job {
				Some(job) => Self::look_at_part(id, federation, number, part, job),
				// One at a time: posting is the most work.
				None if now >= part.not_before && !posted => {
					posted = true;
					weight = weight.saturating_add(T::WeightInfo::post());
					weight = weight.saturating_add(T::Jobs::post_weight());
					Self::post(id, federation, number, part);
				}
				None => {}
			}
		}
		let answers = parts.iter().filter(|part| part.answer.is_some()).count();
		let answers = u32::try_from(answers).unwrap_or(u32::MAX);
		let enough = answers >= federation.plan.min_parts;
		let late = now >= federation.since.saturating_add(federation.plan.round_blocks);
		if enough && late {
			for (number, part) in (0u32..).zip(parts.iter_mut()).filter(|(_, part)| part.is_open())
			{
				Self::give_up(id, federation.round, number, part);
			}
		}
		let waits = parts.iter().any(Part::is_open);
		// One that can be posted does not wait for the others.
		let ready = |part: &Part| part.is_open() && part.job.is_none() && now >= part.not_before;
		let soon = parts.iter().any(ready);
		federation.parts = parts;
		let next = match (waits, enough) {
			(true, _) if soon => now.saturating_add(1),
			(true, _) => now.saturating_add(T::PollBlocks::get()),
			(false, true) => {
				federation.stage = Stage::Aggregating;
				federation.since = now;
				let round = federation.round;
				Self::deposit_event(Event::Aggregating { federation: id, round, answers });
				let last = now.saturating_add(T::AggregateBlocks::get());
				Self::next_poll(federation, now, last)
			}
			(false, false) => Self::end(id, federation, FederationEnding::TooFewParts),
		};
		(next, weight)
	}

	/// Looks what became of the job of a part.
	fn look_at_part(
		id: FederationId,
		federation: &mut Federation<T::AccountId>,
		number: u32,
		part: &mut Part,
		job: JobId,
	) {
		let fits = |root: &H256| {
			T::Blobs::size(root) == Some(federation.size) && T::Blobs::is_complete(root)
		};
		let (model, decided) = match T::Jobs::standing(job) {
			JobStanding::Accepted(root) if fits(&root) => (root, true),
			JobStanding::Agreed(root) if federation.plan.rule == Rule::Agreed && fits(&root) => {
				(root, false)
			}
			// What does not fit is false: its audit will say so.
			JobStanding::Running | JobStanding::Agreed(_) => return,
			JobStanding::Failed | JobStanding::Accepted(_) => {
				let (federation, round) = (id, federation.round);
				Self::deposit_event(Event::PartFailed { federation, round, part: number, job });
				part.job = None;
				return Self::missed(federation, round, number, part);
			}
		};
		let round = federation.round;
		if !decided {
			let entry = Undecided { round, job, root: model };
			if federation.undecided.try_push(entry).is_err() {
				// It waits until earlier ones are decided.
				return;
			}
		}
		T::Blobs::expect(&model);
		part.answer = Some(model);
		let (federation, part) = (id, number);
		Self::deposit_event(Event::PartAnswered { federation, round, part, job, model, decided });
	}

	/// Posts a part.
	fn post(id: FederationId, federation: &Federation<T::AccountId>, number: u32, part: &mut Part) {
		part.attempts = part.attempts.saturating_add(1);
		let round = federation.round;
		let posting = || {
			let template = Templates::<T>::get(id).ok_or(crate::Error::<T>::NoSuchFederation)?;
			let Template { spec, parts } = template;
			let data = parts.get(number as usize).ok_or(crate::Error::<T>::BadParts)?;
			let spec = Self::spec_of(&spec, data, &federation.initial)?;
			let most = federation.plan.max_fee_per_ut;
			T::Jobs::post(&federation.submitter, spec, federation.terms.clone(), most)
		};
		match with_storage_layer(posting) {
			Ok(job) => {
				part.job = Some(job);
				let (federation, part) = (id, number);
				Self::deposit_event(Event::PartPosted { federation, round, part, job });
			}
			Err(error) => {
				let federation = id;
				let event = Event::PartNotPosted { federation, round, part: number, error };
				Self::deposit_event(event);
				Self::missed(id, round, number, part);
			}
		}
	}

	/// Lets a part wait that failed, or gives it up.
	fn missed(id: FederationId, round: u32, number: u32, part: &mut Part) {
		part.not_before = Self::now().saturating_add(T::RetryBlocks::get());
		if part.attempts >= MAX_ATTEMPTS {
			Self::give_up(id, round, number, part);
		}
	}

	fn give_up(id: FederationId, round: u32, number: u32, part: &mut Part) {
		part.given_up = true;
		Self::deposit_event(Event::PartGivenUp { federation: id, round, part: number });
	}

	/// Lets the models go that answer in the running round.
	pub(crate) fn release_answers(federation: &Federation<T::AccountId>) {
		for root in federation.parts.iter().filter_map(|part| part.answer) {
			T::Blobs::release(&root, &[]);
		}
	}

	/// Ends a federation: returns what is held for it but the deposit for its record, and lets go of all
	/// models. Returns the height of the next look.
	pub(crate) fn end(
		id: FederationId,
		federation: &mut Federation<T::AccountId>,
		ending: FederationEnding,
	) -> BlockNumber {
		let now = Self::now();
		let refunded = core::mem::take(&mut federation.fees);
		Self::give_back(HoldReason::Fees, &federation.submitter, refunded);
		for proposal in core::mem::take(&mut federation.proposals) {
			Self::drop_proposal(id, &proposal);
			Self::give_back(HoldReason::Proposal, &proposal.proposer, proposal.deposit);
		}
		Self::release_answers(federation);
		Self::release_initial(federation);
		for part in federation.parts.iter_mut() {
			*part = Part { given_up: true, ..Part::default() };
		}
		federation.undecided = BoundedVec::new();
		federation.stage = Stage::Ended(ending);
		federation.since = now;
		let rounds = federation.round;
		Self::deposit_event(Event::Ended { federation: id, ending, rounds, refunded });
		now.saturating_add(T::RetentionBlocks::get())
	}

	/// Removes some of the record of a federation that ended, and with the last of it the rest.
	fn forget(id: FederationId, federation: &Federation<T::AccountId>) -> Weight {
		let now = Self::now();
		let removed = Rounds::<T>::clear_prefix(id, FORGET_STEP, None);
		if removed.maybe_cursor.is_some() {
			Self::schedule(id, now.saturating_add(1));
			return T::WeightInfo::forget();
		}
		Self::unschedule(id);
		Self::give_back(HoldReason::Record, &federation.submitter, federation.record);
		Federations::<T>::remove(id);
		Templates::<T>::remove(id);
		Self::deposit_event(Event::Forgotten { federation: id });
		T::WeightInfo::forget()
	}

	/// Removes what is kept of a proposal besides its place in the order.
	pub(crate) fn drop_proposal(id: FederationId, proposal: &crate::Proposal<T::AccountId>) {
		ProposedPieces::<T>::remove(id, proposal.number);
		T::Blobs::release(&proposal.root, core::slice::from_ref(&proposal.proposer));
	}
}
