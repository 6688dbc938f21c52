//! The events of the pallet.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod events {
	#[pallet::event]
	#[pallet::generate_deposit(pub(crate) fn deposit_event)]
	pub enum Event<T: Config> {
		/// A federation was opened.
		Opened {
			/// Its number.
			federation: FederationId,
			/// Who opened it.
			submitter: T::AccountId,
			/// How many parts it has.
			parts: u32,
			/// How many rounds.
			rounds: u32,
			/// What is held for all aggregates.
			fees: Balance,
		},
		/// A part is a job.
		PartPosted {
			/// The federation.
			federation: FederationId,
			/// The round.
			round: u32,
			/// Number of the part.
			part: u32,
			/// The job.
			job: JobId,
		},
		/// A part could not be posted; it is tried again, three times in all.
		PartNotPosted {
			/// The federation.
			federation: FederationId,
			/// The round.
			round: u32,
			/// Number of the part.
			part: u32,
			/// Why.
			error: DispatchError,
		},
		/// The job of a part ended without a model that can be used.
		PartFailed {
			/// The federation.
			federation: FederationId,
			/// The round.
			round: u32,
			/// Number of the part.
			part: u32,
			/// The job.
			job: JobId,
		},
		/// A part has a result that counts.
		PartAnswered {
			/// The federation.
			federation: FederationId,
			/// The round.
			round: u32,
			/// Number of the part.
			part: u32,
			/// The job.
			job: JobId,
			/// Root of its model.
			model: H256,
			/// Whether its audit has decided.
			decided: bool,
		},
		/// A round goes on without a part.
		PartGivenUp {
			/// The federation.
			federation: FederationId,
			/// The round.
			round: u32,
			/// Number of the part.
			part: u32,
		},
		/// The aggregate of a round is waited for.
		Aggregating {
			/// The federation.
			federation: FederationId,
			/// The round.
			round: u32,
			/// Parts that answered.
			answers: u32,
		},
		/// An aggregate was proposed.
		Proposed {
			/// The federation.
			federation: FederationId,
			/// The round.
			round: u32,
			/// Number of the proposal.
			proposal: u32,
			/// Who proposed it.
			proposer: T::AccountId,
			/// Root of its blob.
			model: H256,
			/// The last block in which it can be refuted.
			until: BlockNumber,
		},
		/// A proposal was refuted.
		Refuted {
			/// The federation.
			federation: FederationId,
			/// Number of the proposal.
			proposal: u32,
			/// Who proposed it.
			proposer: T::AccountId,
			/// Who refuted it.
			refuter: T::AccountId,
			/// What the refuter has of the deposit.
			reward: Balance,
			/// What of it is burned.
			burned: Balance,
		},
		/// A round has its model.
		RoundEnded {
			/// The federation.
			federation: FederationId,
			/// The round.
			round: u32,
			/// Root of the model.
			model: H256,
			/// Who proposed it.
			proposer: T::AccountId,
			/// What it was paid.
			fee: Balance,
		},
		/// A result that counted in a round was found to be false: the models from there on were made of it.
		TaintedFrom {
			/// The federation.
			federation: FederationId,
			/// The round.
			round: u32,
			/// The job of the result.
			job: JobId,
		},
		/// A federation is over.
		Ended {
			/// The federation.
			federation: FederationId,
			/// How.
			ending: FederationEnding,
			/// Rounds that have a model.
			rounds: u32,
			/// What was held for aggregates and returned.
			refunded: Balance,
		},
		/// The record of a federation was removed, and the deposit for it returned.
		Forgotten {
			/// The federation.
			federation: FederationId,
		},
	}
}
