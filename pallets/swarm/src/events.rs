//! The events of the pallet.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod events {
	#[pallet::event]
	#[pallet::generate_deposit(pub(crate) fn deposit_event)]
	pub enum Event<T: Config> {
		/// A swarm was opened.
		Opened {
			/// Its number.
			swarm: SwarmId,
			/// Who opened it.
			opener: T::AccountId,
			/// What it can pay.
			budget: Balance,
		},
		/// Somebody added slices.
		SlicesAdded {
			/// The swarm.
			swarm: SwarmId,
			/// Their owner.
			owner: T::AccountId,
			/// The number of the first.
			first: u32,
			/// How many.
			count: u32,
		},
		/// A peer joined.
		Joined {
			/// The swarm.
			swarm: SwarmId,
			/// The account that is paid.
			peer: T::AccountId,
			/// Its key.
			key: H256,
			/// What it does.
			roles: u8,
		},
		/// An account tried to join with a key that another account has: who was first keeps it.
		Duplicate {
			/// The swarm.
			swarm: SwarmId,
			/// The key.
			key: H256,
			/// Whose it is.
			first: T::AccountId,
			/// Who tried.
			second: T::AccountId,
		},
		/// A peer does something else, or can be reached elsewhere.
		Updated {
			/// The swarm.
			swarm: SwarmId,
			/// The peer.
			peer: T::AccountId,
			/// What it does.
			roles: u8,
		},
		/// A peer has a model with this root.
		Announced {
			/// The swarm.
			swarm: SwarmId,
			/// The peer.
			peer: T::AccountId,
			/// The root.
			root: H256,
		},
		/// A peer has more in its purse.
		Funded {
			/// The swarm.
			swarm: SwarmId,
			/// The peer.
			peer: T::AccountId,
			/// What is in it.
			purse: Balance,
		},
		/// A peer paid another one for a ticket.
		Paid {
			/// The swarm.
			swarm: SwarmId,
			/// Who paid.
			from: T::AccountId,
			/// Who was paid.
			to: T::AccountId,
			/// How much.
			amount: Balance,
			/// Digest of the ticket.
			ticket: H256,
		},
		/// A peer says that it leaves.
		Leaving {
			/// The swarm.
			swarm: SwarmId,
			/// The peer.
			peer: T::AccountId,
			/// The block from which on it can go, if no round runs then that began before.
			from: BlockNumber,
		},
		/// A peer left.
		Left {
			/// The swarm.
			swarm: SwarmId,
			/// The peer.
			peer: T::AccountId,
			/// What it had of purse and deposit.
			returned: Balance,
		},
		/// Somebody claims a gain.
		Claimed {
			/// The swarm.
			swarm: SwarmId,
			/// The round.
			round: u32,
			/// Number of the claim.
			claim: u32,
			/// Who claims.
			claimant: T::AccountId,
		},
		/// A slice was drawn, and is to be shown.
		Drawn {
			/// The swarm.
			swarm: SwarmId,
			/// The round.
			round: u32,
			/// Number of the slice.
			slice: u32,
			/// Who shows it.
			owner: T::AccountId,
			/// The last block for that.
			until: BlockNumber,
		},
		/// A slice that was drawn was not shown, or was on chain before that, where it measures nothing: its deposit
		/// is lost.
		Withheld {
			/// The swarm.
			swarm: SwarmId,
			/// Number of the slice.
			slice: u32,
			/// Who withheld it.
			owner: T::AccountId,
			/// What of its deposit claimants had.
			shared: Balance,
			/// What of it was burned.
			burned: Balance,
		},
		/// A slice is on chain: claimants count.
		Shown {
			/// The swarm.
			swarm: SwarmId,
			/// Number of the slice.
			slice: u32,
			/// The last block for that.
			until: BlockNumber,
		},
		/// A claimant said what it counted.
		Said {
			/// The swarm.
			swarm: SwarmId,
			/// Number of the claim.
			claim: u32,
			/// Root of the model that is better.
			model: H256,
			/// What it gets right.
			new: Count,
			/// What the other gets right.
			base: Count,
		},
		/// Counts can be challenged.
		Challengeable {
			/// The swarm.
			swarm: SwarmId,
			/// The last block for that.
			until: BlockNumber,
		},
		/// A count was challenged: a job measures the model.
		Challenged {
			/// The swarm.
			swarm: SwarmId,
			/// Who challenged.
			challenger: T::AccountId,
			/// Root of the model.
			model: H256,
			/// The job.
			job: JobId,
		},
		/// What the job of a challenge counted was shown.
		Proven {
			/// The swarm.
			swarm: SwarmId,
			/// Root of the model.
			model: H256,
			/// The count.
			count: Count,
			/// Whether a claim said otherwise.
			upheld: bool,
		},
		/// A challenge came to nothing. There is time for another one.
		ChallengeFailed {
			/// The swarm.
			swarm: SwarmId,
			/// Root of the model.
			model: H256,
			/// The job.
			job: JobId,
			/// Whether that is the challenger's fault, who stopped the job, or did not show what it counted; the
			/// market did not measure it otherwise.
			fault: bool,
		},
		/// A claim was found false: it is out of the round, and its stake is lost.
		Refuted {
			/// The swarm.
			swarm: SwarmId,
			/// Number of the claim.
			claim: u32,
			/// Who claimed.
			claimant: T::AccountId,
			/// Who showed that.
			refuter: T::AccountId,
			/// What of the stake was the refuter's.
			reward: Balance,
		},
		/// A claim stands, and its model is better.
		Gained {
			/// The swarm.
			swarm: SwarmId,
			/// Number of the claim.
			claim: u32,
			/// Who claimed.
			claimant: T::AccountId,
			/// Root of the model.
			model: H256,
			/// By how much, in millionths.
			points: u32,
			/// What it was paid.
			amount: Balance,
			/// What it should have been paid: more where budget, purse or the limit of a peer ended.
			due: Balance,
			/// Who paid, if it was a peer.
			payer: Option<T::AccountId>,
		},
		/// A claim stands, and its model is worse.
		Lost {
			/// The swarm.
			swarm: SwarmId,
			/// Number of the claim.
			claim: u32,
			/// Who claimed.
			claimant: T::AccountId,
			/// What it lost of its stake.
			amount: Balance,
		},
		/// A model of a claim was not measured, though that was tried: nobody is paid, and the stake returns.
		Unmeasured {
			/// The swarm.
			swarm: SwarmId,
			/// Number of the claim.
			claim: u32,
			/// Who claimed.
			claimant: T::AccountId,
		},
		/// A claim stands, and changes nothing.
		Even {
			/// The swarm.
			swarm: SwarmId,
			/// Number of the claim.
			claim: u32,
			/// Who claimed.
			claimant: T::AccountId,
		},
		/// A claimant did not say what it counted: its stake is lost.
		Abandoned {
			/// The swarm.
			swarm: SwarmId,
			/// Number of the claim.
			claim: u32,
			/// Who claimed.
			claimant: T::AccountId,
		},
		/// Money that was held of an account was burned.
		Burned {
			/// The account.
			who: T::AccountId,
			/// How much.
			amount: Balance,
		},
		/// There was no slice for a round: stakes and fees returned.
		NoSlice {
			/// The swarm.
			swarm: SwarmId,
			/// The round.
			round: u32,
		},
		/// A round is over.
		RoundEnded {
			/// The swarm.
			swarm: SwarmId,
			/// The round.
			round: u32,
			/// Root of the best model.
			best: H256,
			/// The progress that was paid so far, in millionths.
			progress: u32,
		},
		/// Who opened a swarm ends it sooner.
		Closing {
			/// The swarm.
			swarm: SwarmId,
			/// The last block in which a claim begins.
			end: BlockNumber,
		},
		/// A swarm is over.
		Ended {
			/// The swarm.
			swarm: SwarmId,
			/// What was left of the budget and returned.
			refunded: Balance,
		},
		/// A peer committed to a contribution to an outer step.
		Contributed {
			/// The swarm.
			swarm: SwarmId,
			/// The outer step.
			step: u32,
			/// Number of the contribution in it.
			number: u32,
			/// Who contributes.
			peer: T::AccountId,
		},
		/// A peer vouched for contributions to an outer step.
		Vouched {
			/// The swarm.
			swarm: SwarmId,
			/// The outer step.
			step: u32,
			/// Who vouches.
			peer: T::AccountId,
			/// For which, a bit for each.
			vouches: u64,
		},
		/// It was counted what counts of an outer step.
		Stepped {
			/// The swarm.
			swarm: SwarmId,
			/// The outer step.
			step: u32,
			/// How many contributions there are.
			contributions: u32,
			/// Which count, a bit for each.
			counted: u64,
		},
		/// What a better model brought is owed to all that contributed.
		Shared {
			/// The swarm.
			swarm: SwarmId,
			/// How much, besides what the claimant was paid.
			amount: Balance,
			/// Among how many shares.
			shares: u64,
		},
		/// A peer was paid what its shares brought.
		Collected {
			/// The swarm.
			swarm: SwarmId,
			/// The peer.
			peer: T::AccountId,
			/// How much.
			amount: Balance,
		},
		/// The record of a swarm was removed.
		Forgotten {
			/// The swarm.
			swarm: SwarmId,
		},
	}
}
