//! Who watches.
//!
//! An account says once in a watch that it looks; that costs a transaction and no deposit, since what is kept of a watch
//! is removed after the next one, some at each block.

use crate::{Alive, Config, Error, Event, Found, Oldest, Pallet, Watching, WeightInfo};
use frame_support::{ensure, pallet_prelude::DispatchResult, weights::Weight};
use trainyard_protocol::watch::{watch_of, WatchView};

/// Accounts that are removed at the beginning of a block, of watches that are over.
pub const CLEARED_AT_ONCE: u32 = 8;

impl<T: Config> Pallet<T> {
	pub(crate) fn do_watch(who: T::AccountId) -> DispatchResult {
		let watch = watch_of(Self::now());
		ensure!(!Watching::<T>::contains_key(watch, &who), Error::<T>::HasSaidSo);
		Watching::<T>::insert(watch, &who, ());
		Alive::<T>::mutate(watch, |alive| *alive = alive.saturating_add(1));
		Self::deposit_event(Event::Watches { who, watch });
		Ok(())
	}

	/// Removes some of what is left of watches before the last one.
	pub(crate) fn clear_old() -> Weight {
		let watch = Oldest::<T>::get();
		if watch.saturating_add(1) >= watch_of(Self::now()) {
			return T::WeightInfo::clear(0);
		}
		let keys = Watching::<T>::iter_key_prefix(watch).take(CLEARED_AT_ONCE as usize);
		let keys: alloc::vec::Vec<_> = keys.collect();
		let count = u32::try_from(keys.len()).unwrap_or(u32::MAX);
		for who in keys {
			Watching::<T>::remove(watch, who);
		}
		if count < CLEARED_AT_ONCE {
			Alive::<T>::remove(watch);
			Oldest::<T>::put(watch.saturating_add(1));
		}
		T::WeightInfo::clear(count)
	}

	/// Returns how many watch, and what one more may expect.
	pub fn watch_view() -> WatchView {
		let watch = watch_of(Self::now());
		let of = |watch: Option<u32>| watch.map_or(0, Alive::<T>::get);
		let prizes = Found::<T>::get().aged(Self::now());
		WatchView::new(watch, of(watch.checked_sub(1)), of(Some(watch)), prizes)
	}
}
