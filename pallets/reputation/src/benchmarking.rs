//! Benchmarks: a deed of an account with a record, and forgetting one.

use super::{watching::CLEARED_AT_ONCE, *};
use frame_benchmarking::v2::*;
use frame_system::RawOrigin;
use trainyard_protocol::{reputation::HALF_LIFE, watch::WATCH_BLOCKS};
use trainyard_traits::Reputation as _;

#[benchmarks]
mod benchmarks {
	use super::*;

	#[benchmark]
	fn note() {
		let who: T::AccountId = account("trainer", 0, 0);
		frame_system::Pallet::<T>::set_block_number(1u32.into());
		Pallet::<T>::note(Role::Trainer, &who, Deed::Done, Balance::MAX);
		// Half-lives are shifts; what is left of one takes all of the table.
		frame_system::Pallet::<T>::set_block_number(HALF_LIFE.into());

		#[block]
		{
			Pallet::<T>::note(Role::Trainer, &who, Deed::Convicted, Balance::MAX);
		}

		assert!(Pallet::<T>::record(Role::Trainer, &who).convicted > 0);
	}

	#[benchmark]
	fn forget() {
		let (who, caller): (T::AccountId, T::AccountId) =
			(account("trainer", 0, 0), whitelisted_caller());
		frame_system::Pallet::<T>::set_block_number(1u32.into());
		Pallet::<T>::note(Role::Trainer, &who, Deed::Done, 1);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), Role::Trainer, who.clone());

		assert!(Records::<T>::get(&who, Role::Trainer).is_none());
	}

	#[benchmark]
	fn watch() {
		let caller: T::AccountId = whitelisted_caller();
		frame_system::Pallet::<T>::set_block_number(WATCH_BLOCKS.into());

		#[extrinsic_call]
		_(RawOrigin::Signed(caller));

		assert_eq!(Pallet::<T>::watch_view().so_far, 1);
	}

	#[benchmark]
	fn clear(n: Linear<0, CLEARED_AT_ONCE>) {
		frame_system::Pallet::<T>::set_block_number(1u32.into());
		for number in 0..n {
			let who: T::AccountId = account("watcher", number, 0);
			Pallet::<T>::do_watch(who).unwrap();
		}
		frame_system::Pallet::<T>::set_block_number((3 * WATCH_BLOCKS).into());

		#[block]
		{
			Pallet::<T>::clear_old();
		}

		assert_eq!(Watching::<T>::iter().count(), 0);
	}

	impl_benchmark_test_suite!(Pallet, crate::mock::new_test_ext(), crate::mock::Test);
}
