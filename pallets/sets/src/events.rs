//! The events of the pallet.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod events {
	#[pallet::event]
	#[pallet::generate_deposit(pub(crate) fn deposit_event)]
	pub enum Event<T: Config> {
		/// A set was opened, and its first jobs posted.
		Opened {
			/// Its number.
			set: SetId,
			/// Who opened it.
			submitter: T::AccountId,
			/// How many members it has.
			members: u32,
			/// How many generations.
			generations: u32,
			/// What is held for its record.
			record: Balance,
		},
		/// A member is a job.
		Posted {
			/// The set.
			set: SetId,
			/// The generation.
			generation: u32,
			/// Number of the member.
			member: u32,
			/// The job.
			job: JobId,
		},
		/// A member could not be posted, and is out of this generation.
		NotPosted {
			/// The set.
			set: SetId,
			/// The generation.
			generation: u32,
			/// Number of the member.
			member: u32,
			/// Why.
			error: DispatchError,
		},
		/// The job of a member ended without a result, or with one that diverged.
		Failed {
			/// The set.
			set: SetId,
			/// The generation.
			generation: u32,
			/// Number of the member.
			member: u32,
			/// The job.
			job: JobId,
		},
		/// The score of a member was shown, or its submitter said the parameters of its model.
		Shown {
			/// The set.
			set: SetId,
			/// The generation.
			generation: u32,
			/// Number of the member.
			member: u32,
			/// The job.
			job: JobId,
			/// The evaluation of the last checkpoint.
			score: Evaluation,
			/// State hash of the parameters of its model, by the word of the submitter.
			parameters: Option<H256>,
		},
		/// All jobs of a generation have ended, and scores are waited for.
		Showing {
			/// The set.
			set: SetId,
			/// The generation.
			generation: u32,
			/// The last block for it.
			until: BlockNumber,
		},
		/// A generation is over.
		GenerationEnded {
			/// The set.
			set: SetId,
			/// The generation.
			generation: u32,
			/// How many members have a score.
			scores: u32,
			/// The best of all generations so far.
			best: Option<Best>,
		},
		/// A member goes on from the model of a better one.
		Replaced {
			/// The set.
			set: SetId,
			/// The generation that begins.
			generation: u32,
			/// Number of the member.
			member: u32,
			/// From whose model it goes on.
			parent: u32,
			/// Its learning rate x 10^9.
			learning_rate_nano: u64,
		},
		/// The submitter wants no further generation.
		Stopping {
			/// The set.
			set: SetId,
		},
		/// A set is over.
		Ended {
			/// The set.
			set: SetId,
			/// How.
			ending: SetEnding,
			/// The best of all generations.
			best: Option<Best>,
		},
		/// The record of a set was removed, and the deposit for it returned.
		Forgotten {
			/// The set.
			set: SetId,
		},
	}
}
