//! The events of the pallet.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod events {
	#[pallet::event]
	#[pallet::generate_deposit(pub(crate) fn deposit_event)]
	pub enum Event<T: Config> {
		/// A trainer registered.
		Registered {
			/// Who.
			trainer: T::AccountId,
			/// Its bond.
			bond: Balance,
		},
		/// A trainer added to its bond.
		BondExtended {
			/// Who.
			trainer: T::AccountId,
			/// The bond now.
			bond: Balance,
		},
		/// A trainer reported its hardware again.
		HardwareUpdated {
			/// Who.
			trainer: T::AccountId,
		},
		/// A trainer began or ceased to stand for block authorship.
		CandidacyChanged {
			/// Who.
			trainer: T::AccountId,
			/// Whether it stands now.
			candidate: bool,
		},
		/// A full list of candidates gave up its weakest for a stronger one.
		CandidateDisplaced {
			/// Who does not stand any more.
			trainer: T::AccountId,
			/// Who took the place.
			by: T::AccountId,
		},
		/// An authority made no block where many were expected, or equivocated, and is no candidate
		/// any more.
		AuthoritySuspended {
			/// Who.
			trainer: T::AccountId,
		},
		/// A trainer is leaving; its bond stays held.
		Leaving {
			/// Who.
			trainer: T::AccountId,
			/// Height from which the bond can be withdrawn.
			free_at: BlockNumber,
		},
		/// A trainer left with its bond; its power is forgotten.
		Withdrawn {
			/// Who.
			trainer: T::AccountId,
			/// What was released.
			bond: Balance,
		},
		/// Verified training work was credited.
		TrainingCredited {
			/// To whom.
			trainer: T::AccountId,
			/// How much, micro-ut.
			work: MicroUt,
			/// Effective training power now, whole micro-ut per day.
			effective: u64,
		},
		/// Training work that was credited was found to be false, and what is left of it is taken.
		TrainingRevoked {
			/// From whom.
			trainer: T::AccountId,
			/// What was credited, micro-ut.
			work: MicroUt,
			/// Effective training power now, whole micro-ut per day.
			effective: u64,
		},
		/// Verified drilling work was credited.
		DrillingCredited {
			/// To whom.
			trainer: T::AccountId,
			/// How much, micro-ut.
			work: MicroUt,
			/// Effective drilling power now, whole micro-ut per day.
			effective: u64,
		},
		/// Drilling power was taken away for work that was false or missing.
		DrillingDebited {
			/// From whom.
			trainer: T::AccountId,
			/// As much as crediting this would add, micro-ut.
			work: MicroUt,
			/// Effective drilling power now, whole micro-ut per day.
			effective: u64,
		},
		/// A part of a trainer's bond went to the jackpot, and all its drilling power is gone.
		DrillerSlashed {
			/// Who.
			trainer: T::AccountId,
			/// What was taken of the bond.
			amount: Balance,
		},
		/// An authority equivocated.
		Equivocated {
			/// Who.
			trainer: T::AccountId,
			/// When.
			session: SessionIndex,
			/// Share of the weight of all that have equivocated in sessions on record so far.
			share: Perbill,
		},
		/// A trainer lost a part of its bond and of its power for an equivocation: its own, or that
		/// of others in sessions on record.
		Slashed {
			/// Who.
			trainer: T::AccountId,
			/// The session of the equivocation.
			session: SessionIndex,
			/// The part of what it had.
			part: Perbill,
			/// What was taken of the bond.
			amount: Balance,
			/// The reporter's part of that; the jackpot got the rest.
			reward: Balance,
		},
		/// The block's reward was minted.
		BlockRewarded {
			/// Who made the block.
			author: T::AccountId,
			/// The author's part; 0 where it did not show what its block asked for.
			reward: Balance,
			/// The jackpot's part.
			jackpot: Balance,
		},
	}
}
