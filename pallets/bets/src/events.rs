//! The events of the pallet.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod events {
	#[pallet::event]
	#[pallet::generate_deposit(pub(crate) fn deposit_event)]
	pub enum Event<T: Config> {
		/// Somebody offered a stake.
		Offered {
			/// The offer.
			offer: OfferId,
			/// Whose.
			maker: T::AccountId,
			/// On what.
			statement: Statement,
			/// How much.
			stake: Balance,
		},
		/// A part of an offer was taken.
		Taken {
			/// The offer.
			offer: OfferId,
			/// The bet that it is now.
			bet: BetId,
			/// Who took it.
			taker: T::AccountId,
			/// On which side that is.
			side: Side,
			/// The maker's stake.
			makers: Balance,
			/// The taker's.
			takers: Balance,
		},
		/// An offer was withdrawn, and can be taken up to a block.
		Withdrawn {
			/// The offer.
			offer: OfferId,
			/// From which on it cannot be taken.
			at: BlockNumber,
		},
		/// An offer cannot be taken any more, and what nobody took returned.
		Closed {
			/// The offer.
			offer: OfferId,
			/// What returned.
			returned: Balance,
		},
		/// A side said how it would end a bet now.
		Said {
			/// The bet.
			bet: BetId,
			/// Who.
			who: T::AccountId,
			/// What the maker would have; `None` where the word was taken back.
			to_maker: Option<Balance>,
		},
		/// A member of a panel said what it thinks.
		Judged {
			/// The offer.
			offer: OfferId,
			/// Who.
			who: T::AccountId,
			/// What.
			judgement: Judgement,
		},
		/// A panel decided.
		PanelDecided {
			/// The offer.
			offer: OfferId,
			/// What.
			judgement: Judgement,
		},
		/// A bet ended. Both stakes are in the three amounts.
		BetEnded {
			/// The bet.
			bet: BetId,
			/// How.
			ending: BetEnding,
			/// What the maker had.
			to_maker: Balance,
			/// What the taker had.
			to_taker: Balance,
			/// What the jackpot had, or what was burned where it could not take it.
			forfeited: Balance,
		},
		/// Money could not be moved to whom it belonged, and was burned.
		Burned {
			/// Of whom.
			who: T::AccountId,
			/// How much.
			amount: Balance,
		},
	}
}
