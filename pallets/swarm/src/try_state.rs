//! What must always hold in this pallet's storage.

use crate::{
	Announced, Claims, Config, Contributions, Doubts, Due, HoldReason, Keys, NextSwarm, Pallet,
	Peers, SaidPieces, Slices, Swarms, Templates, Which,
};
use alloc::collections::{BTreeMap, BTreeSet};
use frame_support::{ensure, traits::fungible::InspectHold};
use sp_runtime::TryRuntimeError;
use trainyard_protocol::{job::Balance, swarm::Stage};

/// Sums of what should be held, by account and place of the reason in [`REASONS`].
type Held<T> = BTreeMap<(<T as frame_system::Config>::AccountId, usize), Balance>;

/// What is held, in the order of these sums.
const REASONS: [HoldReason; 7] = [
	HoldReason::Budget,
	HoldReason::Record,
	HoldReason::Slice,
	HoldReason::Peer,
	HoldReason::Purse,
	HoldReason::Claim,
	HoldReason::Challenge,
];

fn add<T: Config>(held: &mut Held<T>, who: &T::AccountId, reason: usize, amount: Balance) {
	let sum = held.entry((who.clone(), reason)).or_default();
	*sum = sum.saturating_add(amount);
}

impl<T: Config> Pallet<T> {
	/// Checks that
	/// - every swarm has a template, is on the agenda, and nothing else is;
	/// - what is held of each account is what swarms, slices, peers, claims and challenges say;
	/// - each peer has its key and its models to itself, and none is counted twice;
	/// - claims are those of running rounds, with the pieces of what was said, and no others;
	/// - shares are those of peers, and what is owed for them was shared;
	/// - contributions are those of steps on record, one of each peer;
	/// - slices are those that wait, that is measured by, or that were shown.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		let mut held = Held::<T>::new();
		let (mut swarms, mut slices, mut claims, mut steps) = (0usize, 0usize, 0usize, 0usize);
		for (id, swarm) in Swarms::<T>::iter() {
			swarms = swarms.saturating_add(1);
			ensure!(id < NextSwarm::<T>::get(), "a swarm of a number to come");
			ensure!(Due::<T>::contains_key(id), "a swarm is not on the agenda");
			ensure!(Templates::<T>::contains_key(id), "a swarm without a template");
			add::<T>(&mut held, &swarm.opener, 0, swarm.budget.saturating_add(swarm.pot));
			add::<T>(&mut held, &swarm.opener, 1, swarm.record);
			let doubts = Doubts::<T>::get(id);
			for challenge in doubts.iter().filter_map(|doubt| doubt.challenge.as_ref()) {
				add::<T>(&mut held, &challenge.challenger, 6, challenge.deposit);
			}
			let current = match swarm.stage {
				Stage::Showing { slice, .. }
				| Stage::Counting { slice, .. }
				| Stage::Challenging { slice, .. }
				| Stage::Settling { slice, .. } => Some(slice),
				Stage::Idle | Stage::Collecting { .. } | Stage::Drawing { .. } | Stage::Ended => {
					None
				}
			};
			let known = swarm.waiting.iter().chain(&swarm.shown).chain(&current);
			for number in known {
				slices = slices.saturating_add(1);
				let slice = Slices::<T>::get(id, number).ok_or("a slice is not on record")?;
				let shown = swarm.shown.contains(number);
				ensure!(!shown || slice.deposit == 0, "a deposit for what was shown");
				add::<T>(&mut held, &slice.owner, 2, slice.deposit);
			}
			let over = matches!(swarm.stage, Stage::Idle | Stage::Ended);
			ensure!(!over || swarm.claims == 0, "claims of no round");
			ensure!(!over || doubts.is_empty(), "challenges of no round");
			ensure!(swarm.stage != Stage::Ended || swarm.budget == 0, "a budget of what is over");
			for (number, claim) in Claims::<T>::iter_prefix(id) {
				claims = claims.saturating_add(1);
				ensure!(number < swarm.claims, "a claim of a number to come");
				add::<T>(&mut held, &claim.claimant, 5, claim.held);
				let said = claim.said.as_ref();
				for (which, there) in [
					(Which::New, said.is_some()),
					(Which::Own, said.is_some_and(|spoken| spoken.mixing.is_some())),
				] {
					let pieces = SaidPieces::<T>::contains_key(id, (number, which));
					ensure!(pieces == there, "pieces of nothing, or none of something");
				}
			}
			let (mut peers, mut shares, mut owed) = (0u32, 0u64, 0u128);
			for (who, peer) in Peers::<T>::iter_prefix(id) {
				peers = peers.saturating_add(1);
				shares = shares.saturating_add(peer.shares);
				owed = owed.saturating_add(Self::owed(&swarm, &peer));
				add::<T>(&mut held, &who, 3, peer.deposit);
				add::<T>(&mut held, &who, 4, peer.purse);
				ensure!(Keys::<T>::get(id, peer.key) == Some(who.clone()), "somebody else's key");
				for (root, _) in &peer.models {
					let maker = Announced::<T>::get(id, root);
					ensure!(maker == Some(who.clone()), "somebody else's model");
				}
			}
			ensure!(peers == swarm.peers, "peers that are not counted");
			ensure!(shares == swarm.shares, "shares of nobody");
			ensure!(owed <= swarm.pot, "more is owed than was shared");
			for step in &swarm.steps {
				steps = steps.saturating_add(1);
				let all = Contributions::<T>::get(id, step);
				let contributors: BTreeSet<_> = all.iter().map(|one| &one.peer).collect();
				ensure!(
					!all.is_empty() && contributors.len() == all.len(),
					"one peer twice in a step"
				);
			}
			ensure!(swarm.steps.is_sorted(), "outer steps in disorder");
			let last = swarm.steps.last().copied();
			ensure!(swarm.open_step.is_none() || swarm.open_step == last, "an open step of before");
			ensure!(Keys::<T>::iter_key_prefix(id).count() == peers as usize, "keys of nobody");
		}
		ensure!(Due::<T>::iter_keys().count() == swarms, "something else is on the agenda");
		ensure!(Templates::<T>::iter_keys().count() == swarms, "templates of no swarm");
		ensure!(Slices::<T>::iter_keys().count() == slices, "slices of no swarm");
		ensure!(Claims::<T>::iter_keys().count() == claims, "claims of no swarm");
		ensure!(Contributions::<T>::iter_keys().count() == steps, "contributions to no swarm");
		for ((who, reason), amount) in held {
			let reason = REASONS.get(reason).ok_or("no such reason")?;
			let there = T::Currency::balance_on_hold(&(*reason).into(), &who);
			ensure!(there == amount, "what is held is not what is owed");
		}
		Ok(())
	}
}
