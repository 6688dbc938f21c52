//! Outer steps: who contributed to them, what of that counts, and who shares in what they bring.
//!
//! The chain keeps what peers committed to and for what they vouch; updates themselves go from peer to peer. A
//! contribution that counts brings its peer shares, and what the budget pays for a better model is shared by
//! them: who claims has the fee back and a tenth of the rest, for what a claim risks, and half of all at most. So all that false
//! contributions can take is a part of what a *measured* gain brings, never more of the budget.
//!
//! What counts of a step is counted when the next contribution comes, or something is shared.

use crate::{
	Config, Contributions, ContributionsOf, Error, Event, HoldReason, Pallet, Peer, Peers, Swarm,
	Swarms,
};
use frame_support::{defensive, ensure, pallet_prelude::DispatchResult, traits::Get};
use trainyard_protocol::{
	job::Balance,
	swarm::{
		self, Averaging, Brought, Contribution, OuterRule, Payer, Plan, SwarmId, KEPT_STEPS,
		MAX_CONTRIBUTIONS, MAX_LATE,
	},
	H256,
};

/// What one share brought is counted in parts of an amount: two to the power of this in a whole one.
const FRACTION: u32 = 32;
/// Of what is shared a claimant has one part of so many.
const CLAIMANTS_PART: Balance = 10;

impl<T: Config> Pallet<T> {
	/// Fails where the rule of averaging is not valid, or does not go with the payer.
	pub(crate) fn check_averaging(plan: &Plan) -> Result<(), Error<T>> {
		let Averaging::Outer(rule) = plan.averaging else { return Ok(()) };
		rule.check().map_err(|fault| Error::InvalidAveraging(crate::AveragingFault(fault)))?;
		ensure!(plan.payer == Payer::Budget, Error::<T>::OuterNeedsBudget);
		// Each peer has a place in each step.
		ensure!(plan.max_peers <= MAX_CONTRIBUTIONS, Error::<T>::BadPeers);
		let most = T::MaxBlocks::get();
		ensure!(rule.train <= most && rule.vouch <= most, Error::<T>::BadBlocks);
		Ok(())
	}

	/// Returns the most bytes that contributions to a swarm take in the state.
	pub(crate) fn contribution_bytes(plan: &Plan) -> Balance {
		match plan.averaging {
			Averaging::Pairs => 0,
			Averaging::Outer(_) => {
				let each = <Contribution<T::AccountId> as codec::MaxEncodedLen>::max_encoded_len();
				let each = Balance::try_from(each).unwrap_or(Balance::MAX);
				let count = plan.max_peers.min(MAX_CONTRIBUTIONS);
				each.saturating_mul(count.into()).saturating_mul(KEPT_STEPS.into())
			}
		}
	}

	/// Returns the rule of a swarm that takes outer steps and has not ended.
	fn rule(swarm: &Swarm<T::AccountId>) -> Result<OuterRule, Error<T>> {
		ensure!(Self::takes_claims(swarm), Error::<T>::HasEnded);
		match swarm.plan.averaging {
			Averaging::Pairs => Err(Error::<T>::NoOuterSteps),
			Averaging::Outer(rule) => Ok(rule),
		}
	}

	pub(crate) fn do_contribute(
		who: T::AccountId,
		id: SwarmId,
		step: u32,
		brought: Brought,
	) -> DispatchResult {
		let mut swarm = Swarms::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		let rule = Self::rule(&swarm)?;
		// Before the peer is read, whose shares may be counted.
		Self::tally(id, &mut swarm);
		let mut peer = Peers::<T>::get(id, &who).ok_or(Error::<T>::NotPeer)?;
		ensure!(peer.leaving.is_none(), Error::<T>::IsLeaving);
		ensure!(swarm.seed.is_some(), Error::<T>::NoSeed);
		let moment = rule.moment(swarm.began, Self::now());
		ensure!(moment.step == step && moment.trains, Error::<T>::NotNow);
		let late = step.checked_sub(brought.base).ok_or(Error::<T>::WrongBase)?;
		ensure!(late <= MAX_LATE, Error::<T>::WrongBase);
		let mut all = Contributions::<T>::get(id, step);
		ensure!(all.iter().all(|one| one.peer != who), Error::<T>::HasContributed);
		let before = core::mem::replace(&mut peer.kept, brought.kept);
		let contribution = Contribution { peer: who.clone(), before, brought, vouches: None };
		let number = u32::try_from(all.len()).unwrap_or(u32::MAX);
		all.try_push(contribution).map_err(|_| Error::<T>::TooManyContributions)?;
		if number == 0 {
			Self::remember_step(id, &mut swarm, step);
		}
		Contributions::<T>::insert(id, step, all);
		Peers::<T>::insert(id, &who, peer);
		Swarms::<T>::insert(id, swarm);
		Self::deposit_event(Event::Contributed { swarm: id, step, number, peer: who });
		Ok(())
	}

	/// Puts a step on record that has its first contribution, and forgets the oldest one.
	fn remember_step(id: SwarmId, swarm: &mut Swarm<T::AccountId>, step: u32) {
		if swarm.steps.len() >= KEPT_STEPS as usize {
			Contributions::<T>::remove(id, swarm.steps.remove(0));
		}
		if swarm.steps.try_push(step).is_err() {
			defensive!("the oldest step was forgotten");
		}
		swarm.open_step = Some(step);
	}

	pub(crate) fn do_vouch(
		who: T::AccountId,
		id: SwarmId,
		step: u32,
		list: H256,
		vouches: u64,
	) -> DispatchResult {
		let swarm = Swarms::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		let rule = Self::rule(&swarm)?;
		let moment = rule.moment(swarm.began, Self::now());
		ensure!(moment.step == step && !moment.trains, Error::<T>::NotNow);
		let mut all = Contributions::<T>::get(id, step);
		ensure!(swarm::list_of(&all) == list, Error::<T>::OtherContributions);
		let known = match all.len() >= MAX_CONTRIBUTIONS as usize {
			true => u64::MAX,
			false => (1u64 << all.len()).saturating_sub(1),
		};
		ensure!(vouches & !known == 0, Error::<T>::WrongVouches);
		let own = all.iter_mut().find(|one| one.peer == who).ok_or(Error::<T>::NotContributor)?;
		own.vouches = Some(vouches);
		Contributions::<T>::insert(id, step, all);
		Self::deposit_event(Event::Vouched { swarm: id, step, peer: who, vouches });
		Ok(())
	}

	/// Counts what counts of the last step that has contributions, once it is over.
	fn tally(id: SwarmId, swarm: &mut Swarm<T::AccountId>) {
		let (Some(step), Averaging::Outer(rule)) = (swarm.open_step, swarm.plan.averaging) else {
			return;
		};
		if !rule.is_over(swarm.began, step, Self::now()) {
			return;
		}
		swarm.open_step = None;
		let all: ContributionsOf<T::AccountId> = Contributions::<T>::get(id, step);
		let counted = swarm::counted(&all);
		for (at, one) in all.iter().enumerate() {
			if (counted >> at) & 1 == 0 {
				continue;
			}
			// Who left meanwhile shares in nothing.
			let Some(mut peer) = Peers::<T>::get(id, &one.peer) else { continue };
			let shares = swarm::shares(step.saturating_sub(one.brought.base));
			Self::accrue(swarm, &mut peer);
			peer.shares = peer.shares.saturating_add(shares);
			swarm.shares = swarm.shares.saturating_add(shares);
			Peers::<T>::insert(id, &one.peer, peer);
		}
		let contributions = u32::try_from(all.len()).unwrap_or(u32::MAX);
		Self::deposit_event(Event::Stepped { swarm: id, step, contributions, counted });
	}

	/// Adds what the shares of a peer brought since that was done last to what is owed to it.
	fn accrue(swarm: &Swarm<T::AccountId>, peer: &mut Peer<T::AccountId>) {
		peer.owed = Self::owed(swarm, peer);
		peer.entered = swarm.per_share;
	}

	/// Returns what is owed to a peer for its shares.
	pub(crate) fn owed(swarm: &Swarm<T::AccountId>, peer: &Peer<T::AccountId>) -> Balance {
		let since = swarm.per_share.saturating_sub(peer.entered);
		let brought = since.saturating_mul(peer.shares.into()) >> FRACTION;
		peer.owed.saturating_add(brought)
	}

	/// Pays a gain of a model that outer steps made: the fee and a tenth of the rest, half of all at most, to who
	/// claimed it. What remains is owed to all by their shares. Returns what the claimant was paid.
	pub(crate) fn share_gain(
		id: SwarmId,
		swarm: &mut Swarm<T::AccountId>,
		claimant: &T::AccountId,
		due: Balance,
	) -> Balance {
		Self::tally(id, swarm);
		let all = due.min(swarm.budget);
		// Not more than a half: or who owns slices, whose the fee is, would claim what is worth no more than it.
		let fee = swarm.plan.claim_fee.min(all);
		let tenth = all.saturating_sub(fee).checked_div(CLAIMANTS_PART).unwrap_or_default();
		let own = fee.saturating_add(tenth).min(all / 2);
		let shared = all.saturating_sub(own);
		let scaled = shared.checked_mul(1 << FRACTION);
		let each = scaled.and_then(|scaled| scaled.checked_div(swarm.shares.into()));
		let Some(per_share) = each.and_then(|each| swarm.per_share.checked_add(each)) else {
			// Nobody has shares.
			return Self::pay_from_budget(id, swarm, claimant, all);
		};
		let paid = Self::pay_from_budget(id, swarm, claimant, own);
		swarm.per_share = per_share;
		swarm.budget = swarm.budget.saturating_sub(shared);
		swarm.pot = swarm.pot.saturating_add(shared);
		let shares = swarm.shares;
		Self::deposit_event(Event::Shared { swarm: id, amount: shared, shares });
		paid
	}

	/// Pays a peer what its shares brought, as far as the limit of a peer goes. Returns how much.
	pub(crate) fn pay_shares(
		swarm: &mut Swarm<T::AccountId>,
		who: &T::AccountId,
		peer: &mut Peer<T::AccountId>,
	) -> Balance {
		Self::accrue(swarm, peer);
		let room = swarm.plan.most_per_peer.saturating_sub(peer.from_budget);
		let paid = peer.owed.min(room).min(swarm.pot);
		if paid == 0 || !Self::hand_over(HoldReason::Budget, &swarm.opener, who, paid) {
			return 0;
		}
		swarm.pot = swarm.pot.saturating_sub(paid);
		peer.owed = peer.owed.saturating_sub(paid);
		peer.from_budget = peer.from_budget.saturating_add(paid);
		peer.earned = peer.earned.saturating_add(paid);
		paid
	}

	/// Pays a peer that goes what its shares brought, and takes them out of the others' way.
	pub(crate) fn redeem(
		id: SwarmId,
		swarm: &mut Swarm<T::AccountId>,
		who: &T::AccountId,
		peer: &mut Peer<T::AccountId>,
	) {
		let amount = Self::pay_shares(swarm, who, peer);
		swarm.shares = swarm.shares.saturating_sub(core::mem::take(&mut peer.shares));
		if amount > 0 {
			Self::deposit_event(Event::Collected { swarm: id, peer: who.clone(), amount });
		}
	}

	pub(crate) fn do_collect(who: T::AccountId, id: SwarmId) -> DispatchResult {
		let mut swarm = Swarms::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		let mut peer = Peers::<T>::get(id, &who).ok_or(Error::<T>::NotPeer)?;
		let amount = Self::pay_shares(&mut swarm, &who, &mut peer);
		ensure!(amount > 0, Error::<T>::NothingToCollect);
		Swarms::<T>::insert(id, swarm);
		Peers::<T>::insert(id, &who, peer);
		Self::deposit_event(Event::Collected { swarm: id, peer: who, amount });
		Ok(())
	}

	/// Forgets all contributions to a swarm, and returns to its opener what nobody collected.
	pub(crate) fn end_steps(id: SwarmId, swarm: &mut Swarm<T::AccountId>) {
		for step in core::mem::take(&mut swarm.steps) {
			Contributions::<T>::remove(id, step);
		}
		let left = core::mem::take(&mut swarm.pot);
		Self::give_back(HoldReason::Budget, &swarm.opener, left);
	}
}
