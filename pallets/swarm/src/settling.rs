//! What becomes of each claim, in the order in which they were made.
//!
//! | a claim | the claimant | the fee |
//! |---|---|---|
//! | of which nothing was said, or whose models are not on chain | loses its stake, which is burned | is burned |
//! | that a challenge found false, or that was refuted | loses its stake: half to who found that, half burned | the owner's of the slice |
//! | with a model that the market could not measure | has its stake back | is burned |
//! | whose model is better | is paid what [`Reward::due`](trainyard_protocol::swarm::Reward::due) says, and has its stake back | the owner's |
//! | whose model is worse | loses as much of its stake: burned, or to the peer that would have paid | the owner's |
//! | else | has its stake back | is burned |
//!
//! So serving rows to measure by is a trade of its own, and claims of nothing cost their fee whoever's slices
//! they are measured by. What claims lose is never the opener's.
//!
//! By `Budget` claims of one round share one comparison: each is paid for what it adds to the best before it, so
//! no gain is paid twice. Where peers take outer steps, it is shared among all whose contributions count
//! ([`crate::outer`]).

use crate::{
	Claim, Claims, Config, Doubts, DoubtsOf, Event, HoldReason, Mixing, Pallet, Peers, Settled,
	Slice, Spoken, Swarm, SETTLE_STEP,
};
use frame_support::defensive;
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	swarm::{Averaging, Due, Measured, Stage, SwarmId, ONE},
};
use trainyard_traits::AwaitedBlobs;

impl<T: Config> Pallet<T> {
	/// Settles some claims, and after the last ends the round. Returns the height of the next look.
	pub(crate) fn look_at_settling(
		id: SwarmId,
		swarm: &mut Swarm<T::AccountId>,
		now: BlockNumber,
		number: u32,
		next: u32,
	) -> BlockNumber {
		let end = next.saturating_add(SETTLE_STEP).min(swarm.claims);
		let slice = Self::slice(id, number).ok();
		let doubts = Doubts::<T>::get(id);
		for claim in next..end {
			// It may have been refuted.
			let Some(found) = Claims::<T>::get(id, claim) else { continue };
			Self::settle(id, swarm, claim, found, slice.as_ref(), &doubts);
		}
		if end < swarm.claims {
			swarm.stage = Stage::Settling { slice: number, next: end };
			return now.saturating_add(1);
		}
		for doubt in Doubts::<T>::take(id) {
			if let Some(challenge) = doubt.challenge {
				defensive!("a round ends when all challenges have");
				Self::end_challenge(&challenge, true);
			}
		}
		Self::note_shown(id, swarm, number);
		Self::next_round(id, swarm, now)
	}

	/// Takes the fee of a claim: for the owner of this slice, or it is burned.
	pub(crate) fn take_fee(
		claim: &mut Claim<T::AccountId>,
		fee: Balance,
		slice: Option<&Slice<T::AccountId>>,
	) {
		let fee = fee.min(claim.held);
		claim.held = claim.held.saturating_sub(fee);
		let (from, owner) = (&claim.claimant, slice.map(|slice| &slice.owner));
		let paid = owner.is_some_and(|owner| Self::hand_over(HoldReason::Claim, from, owner, fee));
		if !paid {
			Self::burn(HoldReason::Claim, from, fee);
		}
	}

	/// Takes the stake of a false claim: half is the refuter's, half is burned. Returns what the refuter has.
	pub(crate) fn take_stake(claim: &Claim<T::AccountId>, refuter: &T::AccountId) -> Balance {
		let half = claim.held / 2;
		let paid = Self::hand_over(HoldReason::Claim, &claim.claimant, refuter, half);
		let reward = if paid { half } else { 0 };
		Self::burn(HoldReason::Claim, &claim.claimant, claim.held.saturating_sub(reward));
		reward
	}

	/// Returns whether a model of a claim could not be measured.
	fn is_unmeasured(
		swarm: &Swarm<T::AccountId>,
		doubts: &DoubtsOf<T::AccountId>,
		spoken: &Spoken<T::AccountId>,
	) -> bool {
		let base = spoken.base_model(swarm.compared);
		doubts.iter().any(|doubt| {
			let about = doubt.model == spoken.model || doubt.model == base;
			about && doubt.proven.is_none() && doubt.failures > 0
		})
	}

	/// Settles one claim.
	fn settle(
		id: SwarmId,
		swarm: &mut Swarm<T::AccountId>,
		number: u32,
		mut claim: Claim<T::AccountId>,
		slice: Option<&Slice<T::AccountId>>,
		doubts: &DoubtsOf<T::AccountId>,
	) {
		Self::drop_claim(id, number, &claim);
		let (claimant, fee) = (claim.claimant.clone(), swarm.plan.claim_fee);
		let Some(spoken) = claim.said.take() else {
			Self::take_fee(&mut claim, fee, None);
			Self::burn(HoldReason::Claim, &claimant, claim.held);
			Self::deposit_event(Event::Abandoned { swarm: id, claim: number, claimant });
			return;
		};
		if let Some(refuter) = claim.refuter.clone() {
			Self::take_fee(&mut claim, fee, slice);
			let reward = Self::take_stake(&claim, &refuter);
			let claim = number;
			Self::deposit_event(Event::Refuted { swarm: id, claim, claimant, refuter, reward });
			return;
		}
		let due = match Self::is_unmeasured(swarm, doubts, &spoken) {
			true => None,
			false => Some(Self::due(swarm, &spoken)),
		};
		let decides = matches!(due, Some(Due::Gain { .. } | Due::Loss { .. }));
		Self::take_fee(&mut claim, fee, slice.filter(|_| decides));
		let (swarm_id, claim_number) = (id, number);
		match due {
			Some(Due::Gain { amount, points }) => {
				Self::pay_gain(id, swarm, number, &claimant, &spoken, (amount, points))
			}
			Some(Due::Loss { amount }) => {
				let amount = amount.min(claim.held);
				claim.held = claim.held.saturating_sub(amount);
				let payer = spoken.mixing.as_ref().map(|mixing| &mixing.payer);
				let reason = HoldReason::Claim;
				let paid =
					payer.is_some_and(|payer| Self::hand_over(reason, &claimant, payer, amount));
				if !paid {
					Self::burn(HoldReason::Claim, &claimant, amount);
				}
				let (swarm, claim, claimant) = (swarm_id, claim_number, claimant.clone());
				Self::deposit_event(Event::Lost { swarm, claim, claimant, amount });
			}
			Some(Due::Nothing) => {
				let (swarm, claim, claimant) = (swarm_id, claim_number, claimant.clone());
				Self::deposit_event(Event::Even { swarm, claim, claimant });
			}
			None => {
				let (swarm, claim, claimant) = (swarm_id, claim_number, claimant.clone());
				Self::deposit_event(Event::Unmeasured { swarm, claim, claimant });
			}
		}
		Self::give_back(HoldReason::Claim, &claimant, claim.held);
	}

	/// Returns what a claim comes to by its counts.
	fn due(swarm: &Swarm<T::AccountId>, spoken: &Spoken<T::AccountId>) -> Due {
		let (base, new) = (spoken.base.score(), spoken.new.score());
		let (from, best) = match spoken.mixing {
			None => (swarm.progress, swarm.best_score.max(base)),
			Some(_) => (base.max(swarm.plan.reward.floor), base),
		};
		swarm.plan.reward.due(swarm.pace, from, Measured { base, best, new })
	}

	/// Pays a gain, and makes its model the best one where the budget pays.
	fn pay_gain(
		id: SwarmId,
		swarm: &mut Swarm<T::AccountId>,
		claim: u32,
		claimant: &T::AccountId,
		spoken: &Spoken<T::AccountId>,
		(due, points): (Balance, u32),
	) {
		let (amount, payer) = match &spoken.mixing {
			None => {
				let paid = match swarm.plan.averaging {
					Averaging::Pairs => Self::pay_from_budget(id, swarm, claimant, due),
					Averaging::Outer(_) => Self::share_gain(id, swarm, claimant, due),
				};
				Self::take_best(swarm, claimant, spoken, points);
				(paid, None)
			}
			Some(mixing) => {
				let paid = Self::pay_from_purse(id, mixing, claimant, due);
				(paid, Some(mixing.payer.clone()))
			}
		};
		let (claimant, model) = (claimant.clone(), spoken.model.root);
		Self::deposit_event(Event::Gained {
			swarm: id,
			claim,
			claimant,
			model,
			points,
			amount,
			due,
			payer,
		});
	}

	/// Makes the model of a claim the best one.
	fn take_best(
		swarm: &mut Swarm<T::AccountId>,
		maker: &T::AccountId,
		spoken: &Spoken<T::AccountId>,
		points: u32,
	) {
		T::Blobs::expect(&spoken.model.root);
		Self::release_best(swarm);
		(swarm.best, swarm.best_score) = (spoken.model, spoken.new.score());
		swarm.maker = Some(maker.clone());
		swarm.progress = swarm.progress.saturating_add(points).min(ONE);
	}

	/// Lets the best model go. It is kept for whoever brought it, as other models are.
	pub(crate) fn release_best(swarm: &Swarm<T::AccountId>) {
		let keeper = swarm.maker.as_ref().unwrap_or(&swarm.opener);
		T::Blobs::release(&swarm.best.root, core::slice::from_ref(keeper));
	}

	/// Pays from the budget, as far as the limit of a peer goes. Returns what was paid.
	pub(crate) fn pay_from_budget(
		id: SwarmId,
		swarm: &mut Swarm<T::AccountId>,
		who: &T::AccountId,
		amount: Balance,
	) -> Balance {
		let Some(mut peer) = Peers::<T>::get(id, who) else { return 0 };
		let room = swarm.plan.most_per_peer.saturating_sub(peer.from_budget);
		let paid = amount.min(room).min(swarm.budget);
		if paid == 0 || !Self::hand_over(HoldReason::Budget, &swarm.opener, who, paid) {
			return 0;
		}
		swarm.budget = swarm.budget.saturating_sub(paid);
		peer.from_budget = peer.from_budget.saturating_add(paid);
		peer.earned = peer.earned.saturating_add(paid);
		Peers::<T>::insert(id, who, peer);
		paid
	}

	/// Pays what a peer owes by a ticket and has not paid by itself, as far as its purse goes. Returns what was
	/// paid.
	fn pay_from_purse(
		id: SwarmId,
		mixing: &Mixing<T::AccountId>,
		who: &T::AccountId,
		amount: Balance,
	) -> Balance {
		let Some(mut payer) = Peers::<T>::get(id, &mixing.payer) else { return 0 };
		let same = |settled: &&Settled<T::AccountId>| {
			settled.ticket == mixing.ticket && settled.to == *who
		};
		let settled = payer.settled.iter().find(same);
		let missing = amount.saturating_sub(settled.map_or(0, |settled| settled.paid));
		let paid = missing.min(payer.purse);
		if paid == 0 || !Self::hand_over(HoldReason::Purse, &mixing.payer, who, paid) {
			return 0;
		}
		payer.purse = payer.purse.saturating_sub(paid);
		payer.paid = payer.paid.saturating_add(paid);
		Peers::<T>::insert(id, &mixing.payer, payer);
		if let Some(mut peer) = Peers::<T>::get(id, who) {
			peer.earned = peer.earned.saturating_add(paid);
			Peers::<T>::insert(id, who, peer);
		}
		paid
	}
}
