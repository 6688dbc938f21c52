//! The steps of a round.
//!
//! | stage | goes on when | and then |
//! |---|---|---|
//! | Idle | somebody claims; or the swarm's time is over | Collecting; Ended |
//! | Collecting | `collect` blocks after the first claim | Drawing |
//! | Drawing | the seed is there | Showing; Idle, with all stakes returned, where no slice can be drawn |
//! | Showing | the slice is on chain; or `show` blocks passed | Counting; Drawing again, three times at most |
//! | Counting | every claim was said; or `count` blocks passed | Challenging |
//! | Challenging | `challenge` blocks passed, and every challenge is decided | Settling |
//! | Settling | all claims are settled | Idle; Ended |
//!
//! Times stand still while blocks have no room for chunks, as [`stood_still`] says. A job always ends by the
//! market's deadlines, and what it counted is shown within `show` blocks or not at all. A challenge that came to
//! nothing gives others `challenge` blocks more: by its own fault it has cost its deposit, and the market fails
//! to measure a model `MAX_FAILURES` times at most. So no stage lasts for ever.

use crate::{
	Challenge, Claims, Config, Doubt, Doubts, Event, HoldReason, Pallet, Peers, Slice, Slices,
	Swarm, Swarms, Templates, WeightInfo, FORGET_STEP, MAX_SHOWN, SETTLE_STEP,
};
use alloc::{collections::BTreeSet, vec::Vec};
use codec::Encode;
use frame_support::{defensive, traits::Get, weights::Weight, BoundedVec};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	draw,
	job::{Balance, BlockNumber},
	swarm::{Stage, SwarmId, MAX_CLAIMS, MAX_DOUBTS, MAX_DRAWS},
	H256,
};
use trainyard_traits::{stood_still, AwaitedBlobs, Beacon, JobEnd, PostedJobs, Seed};

/// Domain of the seed by which a slice is drawn.
const SLICE: &[u8] = b"trainyard/swarm/slice";
/// Domain of the seed of a swarm.
const SWARM: &[u8] = b"trainyard/swarm/seed";

impl<T: Config> Pallet<T> {
	/// Looks at a swarm: does what can be done of the stage that it is in, and puts it on the agenda again.
	/// Returns the weight of what was done, at most [`Self::worst_advance`].
	pub fn advance(id: SwarmId) -> Weight {
		let Some(mut swarm) = Swarms::<T>::get(id) else {
			defensive!("a swarm on the agenda exists");
			Self::unschedule(id);
			return T::WeightInfo::look();
		};
		let now = Self::now();
		Self::look_at_seed(id, &mut swarm, now);
		let (next, weight) = match swarm.stage {
			Stage::Idle => (Self::look_at_idle(id, &mut swarm, now), T::WeightInfo::end()),
			Stage::Collecting { until } if now <= until => {
				(until.saturating_add(1), T::WeightInfo::look())
			}
			Stage::Collecting { .. } => {
				(Self::begin_drawing(&mut swarm, now), T::WeightInfo::look())
			}
			Stage::Drawing { after } => {
				(Self::look_at_drawing(id, &mut swarm, now, after), Self::drawing_weight())
			}
			Stage::Showing { slice, until } => {
				(Self::look_at_showing(id, &mut swarm, now, slice, until), T::WeightInfo::show())
			}
			Stage::Counting { slice, until } => {
				(Self::look_at_counting(id, &mut swarm, now, slice, until), T::WeightInfo::count())
			}
			Stage::Challenging { slice, until } => {
				let next = Self::look_at_challenging(id, &mut swarm, now, slice, until);
				(next, Self::challenging_weight())
			}
			Stage::Settling { slice, next } => {
				let next = Self::look_at_settling(id, &mut swarm, now, slice, next);
				(next, Self::settling_weight())
			}
			Stage::Ended => return Self::forget(id, swarm),
		};
		Self::schedule(id, next);
		Swarms::<T>::insert(id, swarm);
		weight.saturating_add(T::Beacon::seed_weight())
	}

	fn drawing_weight() -> Weight {
		T::WeightInfo::draw().saturating_add(T::Beacon::seed_weight())
	}

	fn settling_weight() -> Weight {
		// The outer step that is over is counted once for all claims.
		T::WeightInfo::settle(SETTLE_STEP).saturating_add(T::WeightInfo::contribute())
	}

	fn challenging_weight() -> Weight {
		let standings = T::Jobs::standing_weight().saturating_mul(MAX_DOUBTS.into());
		T::WeightInfo::doubt().saturating_add(standings)
	}

	/// Returns the largest weight of one [`Self::advance`].
	pub fn worst_advance() -> Weight {
		let steps = [
			T::WeightInfo::end(),
			T::WeightInfo::show(),
			T::WeightInfo::count(),
			Self::settling_weight(),
			T::WeightInfo::forget(FORGET_STEP),
			Self::drawing_weight(),
			Self::challenging_weight(),
		];
		let most = steps.into_iter().fold(T::WeightInfo::look(), |most, step| most.max(step));
		most.saturating_add(T::Beacon::seed_weight())
	}

	/// Returns a slice on record.
	pub(crate) fn slice(id: SwarmId, number: u32) -> Result<Slice<T::AccountId>, crate::Error<T>> {
		Slices::<T>::get(id, number).ok_or(crate::Error::<T>::NothingToDraw)
	}

	/// Takes the seed of a swarm where it has formed.
	fn look_at_seed(id: SwarmId, swarm: &mut Swarm<T::AccountId>, now: BlockNumber) {
		if swarm.seed.is_some() {
			return;
		}
		match id.using_encoded(|subject| T::Beacon::seed(SWARM, subject, swarm.seed_after)) {
			Seed::Ready(seed) => swarm.seed = Some(seed),
			Seed::Lost => swarm.seed_after = T::Beacon::draw_height(now),
			Seed::NotBefore(_) => {}
		}
	}

	/// Returns when an idle swarm is looked at next: when its seed forms, or at its end.
	pub(crate) fn rest(swarm: &Swarm<T::AccountId>, now: BlockNumber) -> BlockNumber {
		let end = swarm.plan.end.saturating_add(1);
		match swarm.seed {
			None => end.min(swarm.seed_after.max(now).saturating_add(T::PollBlocks::get())),
			Some(_) => end,
		}
	}

	fn look_at_idle(id: SwarmId, swarm: &mut Swarm<T::AccountId>, now: BlockNumber) -> BlockNumber {
		match now > swarm.plan.end {
			true => Self::end(id, swarm, now),
			false => Self::rest(swarm, now),
		}
	}

	fn begin_drawing(swarm: &mut Swarm<T::AccountId>, now: BlockNumber) -> BlockNumber {
		let after = T::Beacon::draw_height(now);
		swarm.stage = Stage::Drawing { after };
		after.saturating_add(1)
	}

	fn look_at_drawing(
		id: SwarmId,
		swarm: &mut Swarm<T::AccountId>,
		now: BlockNumber,
		after: BlockNumber,
	) -> BlockNumber {
		let subject = (id, swarm.round, swarm.draws).encode();
		let seed = match T::Beacon::seed(SLICE, &subject, after) {
			Seed::NotBefore(height) => return height,
			Seed::Lost => return Self::begin_drawing(swarm, now),
			Seed::Ready(seed) => seed,
		};
		Self::draw(id, swarm, now, &seed)
	}

	/// Draws a slice by this seed. Returns the height of the next look.
	pub(crate) fn draw(
		id: SwarmId,
		swarm: &mut Swarm<T::AccountId>,
		now: BlockNumber,
		seed: &H256,
	) -> BlockNumber {
		let claimants: BTreeSet<T::AccountId> = (0..swarm.claims.min(MAX_CLAIMS))
			.filter_map(|claim| Claims::<T>::get(id, claim))
			.map(|claim| claim.claimant)
			.collect();
		let mut candidates = Vec::new();
		let drawable = swarm.drawable;
		for number in swarm.waiting.clone().into_iter().filter(|number| *number < drawable) {
			let Ok(slice) = Self::slice(id, number) else { continue };
			if Self::is_shown(&slice.data) {
				// Everybody could fit a model to it, and an owner could leave a choice of others.
				swarm.waiting.retain(|other| *other != number);
				Self::withhold(id, swarm, number, slice);
			} else if !claimants.contains(&slice.owner) {
				candidates.push((number, slice));
			}
		}
		let count = u32::try_from(candidates.len()).unwrap_or(u32::MAX);
		let drawn = draw::distinct(SLICE, seed, count, 1).first().copied().unwrap_or_default();
		let drawn = usize::try_from(drawn).unwrap_or(usize::MAX);
		if drawn >= candidates.len() {
			return Self::give_up(id, swarm, now);
		}
		let (number, slice) = candidates.swap_remove(drawn);
		swarm.waiting.retain(|other| *other != number);
		Self::expect_slice(&slice.data);
		let until = now.saturating_add(swarm.plan.stages.show);
		swarm.stage = Stage::Showing { slice: number, until };
		swarm.full = T::Blobs::full_blocks();
		let (round, owner) = (swarm.round, slice.owner);
		Self::deposit_event(Event::Drawn { swarm: id, round, slice: number, owner, until });
		now.saturating_add(T::PollBlocks::get())
	}

	/// Returns the deadline of a stage of so many blocks that was to end at `until`, where blocks were full.
	pub(crate) fn later(
		swarm: &Swarm<T::AccountId>,
		until: BlockNumber,
		blocks: BlockNumber,
	) -> BlockNumber {
		let full = T::Blobs::full_blocks().saturating_sub(swarm.full);
		stood_still(until.saturating_sub(blocks), until, full)
	}

	fn look_at_showing(
		id: SwarmId,
		swarm: &mut Swarm<T::AccountId>,
		now: BlockNumber,
		number: u32,
		until: BlockNumber,
	) -> BlockNumber {
		let Ok(slice) = Self::slice(id, number) else {
			defensive!("a slice that was drawn is on record");
			return Self::give_up(id, swarm, now);
		};
		if Self::is_shown(&slice.data) {
			let until = now.saturating_add(swarm.plan.stages.count);
			swarm.stage = Stage::Counting { slice: number, until };
			swarm.full = T::Blobs::full_blocks();
			Self::deposit_event(Event::Shown { swarm: id, slice: number, until });
			return until.saturating_add(1);
		}
		let until = Self::later(swarm, until, swarm.plan.stages.show);
		if now <= until {
			return now.saturating_add(T::PollBlocks::get()).min(until.saturating_add(1));
		}
		Self::release_slice(&slice.data, &[]);
		Self::withhold(id, swarm, number, slice);
		swarm.draws = swarm.draws.saturating_add(1);
		match swarm.draws < MAX_DRAWS {
			true => Self::begin_drawing(swarm, now),
			false => Self::give_up(id, swarm, now),
		}
	}

	/// Takes the deposit of a slice that was not shown, or too early: half of it is the claimants', and half is burned.
	fn withhold(id: SwarmId, swarm: &Swarm<T::AccountId>, number: u32, slice: Slice<T::AccountId>) {
		Slices::<T>::remove(id, number);
		let half = slice.deposit / 2;
		let each = half.checked_div(swarm.claims.into()).unwrap_or_default();
		let mut shared: Balance = 0;
		for claim in (0..swarm.claims).filter_map(|claim| Claims::<T>::get(id, claim)) {
			if each > 0 && Self::hand_over(HoldReason::Slice, &slice.owner, &claim.claimant, each) {
				shared = shared.saturating_add(each);
			}
		}
		let burned = slice.deposit.saturating_sub(shared);
		Self::burn(HoldReason::Slice, &slice.owner, burned);
		let (slice, owner) = (number, slice.owner);
		Self::deposit_event(Event::Withheld { swarm: id, slice, owner, shared, burned });
	}

	/// Ends a round for which there is no slice: whoever claimed has everything back.
	fn give_up(id: SwarmId, swarm: &mut Swarm<T::AccountId>, now: BlockNumber) -> BlockNumber {
		for number in 0..swarm.claims {
			let Some(claim) = Claims::<T>::get(id, number) else { continue };
			Self::drop_claim(id, number, &claim);
			Self::give_back(HoldReason::Claim, &claim.claimant, claim.held);
		}
		let round = swarm.round;
		Self::deposit_event(Event::NoSlice { swarm: id, round });
		Self::next_round(id, swarm, now)
	}

	/// Lets a swarm wait for the next claims. Returns the height of the next look.
	pub(crate) fn next_round(
		id: SwarmId,
		swarm: &mut Swarm<T::AccountId>,
		now: BlockNumber,
	) -> BlockNumber {
		let (round, best, progress) = (swarm.round, swarm.best.root, swarm.progress);
		Self::deposit_event(Event::RoundEnded { swarm: id, round, best, progress });
		swarm.round = round.saturating_add(1);
		swarm.stage = Stage::Idle;
		swarm.idle_since = now;
		(swarm.claims, swarm.said, swarm.draws, swarm.best_score) = (0, 0, 0, 0);
		Self::rest(swarm, now)
	}

	fn look_at_counting(
		id: SwarmId,
		swarm: &mut Swarm<T::AccountId>,
		now: BlockNumber,
		slice: u32,
		until: BlockNumber,
	) -> BlockNumber {
		let until = Self::later(swarm, until, swarm.plan.stages.count);
		let mut missing = Vec::new();
		for number in 0..swarm.claims {
			let Some(claim) = Claims::<T>::get(id, number) else { continue };
			let whole = claim.said.as_ref().is_some_and(|spoken| Self::is_whole(swarm, spoken));
			if !whole {
				missing.push((number, claim));
			}
		}
		if !missing.is_empty() && now <= until {
			return now.saturating_add(T::PollBlocks::get()).min(until.saturating_add(1));
		}
		for (number, mut claim) in missing {
			// As if nothing had been said.
			Self::drop_claim(id, number, &claim);
			if claim.said.take().is_some() {
				swarm.said = swarm.said.saturating_sub(1);
			}
			Claims::<T>::insert(id, number, claim);
		}
		if swarm.said == 0 {
			swarm.stage = Stage::Settling { slice, next: 0 };
			return now.saturating_add(1);
		}
		let until = now.saturating_add(swarm.plan.stages.challenge);
		swarm.stage = Stage::Challenging { slice, until };
		swarm.full = T::Blobs::full_blocks();
		Self::deposit_event(Event::Challengeable { swarm: id, until });
		until.saturating_add(1)
	}

	fn look_at_challenging(
		id: SwarmId,
		swarm: &mut Swarm<T::AccountId>,
		now: BlockNumber,
		slice: u32,
		until: BlockNumber,
	) -> BlockNumber {
		let mut doubts = Doubts::<T>::get(id);
		let (mut open, mut ended) = (false, false);
		for doubt in doubts.iter_mut() {
			let Some(challenge) = doubt.challenge.take() else { continue };
			match Self::look_at_challenge(id, swarm, doubt, challenge, now) {
				Some(challenge) => {
					doubt.challenge = Some(challenge);
					open = true;
				}
				None => ended = true,
			}
		}
		Doubts::<T>::insert(id, doubts);
		let mut until = until;
		if ended {
			// Others have time to challenge again.
			until = until.max(now.saturating_add(swarm.plan.stages.challenge));
			swarm.stage = Stage::Challenging { slice, until };
		}
		let last = Self::later(swarm, until, swarm.plan.stages.challenge);
		let poll = now.saturating_add(T::PollBlocks::get());
		match (now <= last, open) {
			(true, true) => poll.min(last.saturating_add(1)),
			(true, false) => last.saturating_add(1),
			(false, true) => poll,
			(false, false) => {
				swarm.stage = Stage::Settling { slice, next: 0 };
				now.saturating_add(1)
			}
		}
	}

	/// Returns a challenge while its job goes on, or what that counted is waited for; otherwise it came to
	/// nothing.
	fn look_at_challenge(
		id: SwarmId,
		swarm: &Swarm<T::AccountId>,
		doubt: &mut Doubt<T::AccountId>,
		mut challenge: Challenge<T::AccountId>,
		now: BlockNumber,
	) -> Option<Challenge<T::AccountId>> {
		let fault = match T::Jobs::ended(challenge.job) {
			None => return Some(challenge),
			Some(JobEnd::Accepted(_)) => {
				let answered = *challenge.answered.get_or_insert(now);
				let until = answered.saturating_add(swarm.plan.stages.show);
				if now <= Self::later(swarm, until, swarm.plan.stages.show) {
					return Some(challenge);
				}
				true
			}
			Some(JobEnd::Stopped) => true,
			Some(JobEnd::Failed) => {
				doubt.failures = doubt.failures.saturating_add(1);
				false
			}
		};
		Self::end_challenge(&challenge, !fault);
		let (model, job) = (doubt.model.root, challenge.job);
		Self::deposit_event(Event::ChallengeFailed { swarm: id, model, job, fault });
		None
	}

	/// Ends a swarm: returns what is left of the budget and the deposits of slices, and lets the best model go.
	/// Returns the height of the next look.
	fn end(id: SwarmId, swarm: &mut Swarm<T::AccountId>, now: BlockNumber) -> BlockNumber {
		let refunded = core::mem::take(&mut swarm.budget);
		Self::give_back(HoldReason::Budget, &swarm.opener, refunded);
		for number in core::mem::take(&mut swarm.waiting) {
			let Some(slice) = Slices::<T>::take(id, number) else { continue };
			Self::give_back(HoldReason::Slice, &slice.owner, slice.deposit);
		}
		for number in core::mem::take(&mut swarm.shown) {
			Slices::<T>::remove(id, number);
		}
		Self::release_best(swarm);
		swarm.stage = Stage::Ended;
		Self::deposit_event(Event::Ended { swarm: id, refunded });
		now.saturating_add(T::RetentionBlocks::get())
	}

	/// Lets some peers of a swarm go that ended, and with the last of them the rest of its record.
	fn forget(id: SwarmId, mut swarm: Swarm<T::AccountId>) -> Weight {
		let now = Self::now();
		let some: Vec<_> = Peers::<T>::iter_prefix(id).take(FORGET_STEP as usize).collect();
		let weight = T::WeightInfo::forget(u32::try_from(some.len()).unwrap_or(FORGET_STEP));
		let is_over = some.is_empty();
		for (who, mut peer) in some {
			swarm.peers = swarm.peers.saturating_sub(1);
			Self::redeem(id, &mut swarm, &who, &mut peer);
			Self::let_go(id, &who, &peer);
		}
		if !is_over {
			Self::schedule(id, now.saturating_add(1));
			Swarms::<T>::insert(id, swarm);
			return weight;
		}
		Self::unschedule(id);
		Self::end_steps(id, &mut swarm);
		Self::give_back(HoldReason::Record, &swarm.opener, swarm.record);
		Swarms::<T>::remove(id);
		Templates::<T>::remove(id);
		Self::deposit_event(Event::Forgotten { swarm: id });
		weight
	}

	/// Notes that a slice was shown, whose deposit returns, and forgets the oldest.
	pub(crate) fn note_shown(id: SwarmId, swarm: &mut Swarm<T::AccountId>, number: u32) {
		let Ok(mut slice) = Self::slice(id, number) else { return };
		let deposit = core::mem::take(&mut slice.deposit);
		Self::give_back(HoldReason::Slice, &slice.owner, deposit);
		Self::release_slice(&slice.data, core::slice::from_ref(&slice.owner));
		Slices::<T>::insert(id, number, slice);
		let mut shown: Vec<u32> = core::mem::take(&mut swarm.shown).into_inner();
		if shown.len() >= MAX_SHOWN as usize {
			Slices::<T>::remove(id, shown.remove(0));
		}
		shown.push(number);
		swarm.shown = BoundedVec::truncate_from(shown);
	}
}
