//! The events of the pallet: all that an indexer needs to tell the story of a dispute.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod events {
	#[pallet::event]
	#[pallet::generate_deposit(pub(super) fn deposit_event)]
	pub enum Event<T: Config> {
		/// Somebody bound itself to a challenge.
		Committed {
			/// The number that the dispute will have.
			id: DisputeId,
			/// The job that it is about.
			job: JobId,
			/// Who.
			challenger: T::AccountId,
			/// What is held for it.
			deposit: Balance,
		},
		/// What somebody was bound to was not shown in time.
		Lapsed {
			/// The number.
			id: DisputeId,
		},
		/// A dispute began.
		Challenged {
			/// Its number.
			id: DisputeId,
			/// Who accuses.
			challenger: T::AccountId,
			/// Who is accused.
			defendant: DefendantOf<T>,
			/// Of what.
			target: Target,
			/// What the challenger says instead.
			claimed: Claimed,
			/// What the challenger has at stake.
			deposit: Balance,
			/// How many disputes of the docket have larger deposits.
			rank: u32,
			/// Blocks that each side has for all its moves.
			clock: BlockNumber,
		},
		/// A deposit grew.
		Raised {
			/// The dispute.
			id: DisputeId,
			/// By how much.
			by: Balance,
			/// How many disputes of the docket have larger deposits.
			rank: u32,
		},
		/// The defender's clock runs in this dispute from now on.
		Heard {
			/// The dispute.
			id: DisputeId,
		},
		/// A dispute has no place in the docket until one ends. Its clocks stand.
		SetAside {
			/// The dispute.
			id: DisputeId,
		},
		/// A defendant posted digests.
		Posted {
			/// The dispute in which it did so.
			id: DisputeId,
			/// Where.
			place: Place,
			/// What.
			roots: Roots,
		},
		/// A defendant opened what it was asked for.
		Opened {
			/// The dispute in which it did so.
			id: DisputeId,
			/// Where.
			place: Place,
			/// What.
			opened: game::Opened,
		},
		/// The defender's turn is over: what it is asked for it said in another dispute.
		Passed {
			/// The dispute.
			id: DisputeId,
		},
		/// A challenger denied a claim.
		Denied {
			/// The dispute.
			id: DisputeId,
			/// Where.
			place: Place,
			/// The first of what the defendant claims there that it denies.
			at: u32,
		},
		/// A challenger agreed with all, and showed a number that is not finite.
		Shown {
			/// The dispute.
			id: DisputeId,
			/// Where.
			place: Place,
			/// The number.
			witness: Witness,
		},
		/// The referee computed a piece.
		Judged {
			/// The dispute.
			id: DisputeId,
			/// By whom the openings were brought.
			by: T::AccountId,
			/// The piece.
			piece: Piece,
			/// What it found.
			judgement: Judgement,
		},
		/// A dispute ended.
		Ended {
			/// Its number.
			id: DisputeId,
			/// How.
			ending: Ending,
		},
		/// Money moved.
		Split {
			/// By the end of which dispute or commitment; none where a defendant was settled.
			id: Option<DisputeId>,
			/// To whom: its free balance or, for what was lost, its hold. None where it could not be
			/// delivered, and was burned.
			to: Option<T::AccountId>,
			/// How much.
			amount: Balance,
			/// Why.
			why: Why,
		},
	}
}
