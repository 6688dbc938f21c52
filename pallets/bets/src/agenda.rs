//! The clock: when offers end, and bets are looked at. How due tasks are served is in
//! [`trainyard_pallet_support::agenda`].

use crate::{Agenda, Config, Cursor, Due, Look, Pallet, WeightInfo};
use frame_support::weights::Weight;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::job::BlockNumber;
use trainyard_traits::Results;

impl<T: Config> Clock for Pallet<T> {
	type Runtime = T;
	type Task = Look;
	type Agenda = Agenda<T>;
	type Due = Due<T>;
	type Cursor = Cursor<T>;

	fn look_weight() -> Weight {
		T::WeightInfo::serve(0)
	}

	fn key_weight() -> Weight {
		T::WeightInfo::serve(1).saturating_sub(T::WeightInfo::serve(0))
	}

	fn worst_task() -> Weight {
		Self::worst_look().max(T::WeightInfo::close())
	}

	fn worst_of(task: Look) -> Weight {
		match task {
			Look::Offer(_) => T::WeightInfo::close(),
			Look::Bet(_) => Self::worst_look(),
		}
	}

	fn perform(task: Look) -> Weight {
		match task {
			Look::Offer(offer) => Self::look_at_offer(offer),
			Look::Bet(bet) => Self::look_at_bet(bet),
		}
	}
}

impl<T: Config> Pallet<T> {
	/// The present height.
	pub fn now() -> BlockNumber {
		Self::height()
	}

	/// Returns the largest weight of one look at a bet.
	pub fn worst_look() -> Weight {
		T::WeightInfo::settle().saturating_add(T::Results::standing_weight())
	}

	/// Returns the weight that the hook must be allowed, so that every step can be made.
	pub fn worst_step() -> Weight {
		// One look for this height, and one for whether there is another height.
		Self::worst_task()
			.saturating_add(T::WeightInfo::serve(1))
			.saturating_add(T::WeightInfo::serve(0))
	}
}
