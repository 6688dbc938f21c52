//! Benchmarks: a deed of an account with a record, and forgetting one.

use super::*;
use frame_benchmarking::v2::*;
use frame_system::RawOrigin;
use trainyard_protocol::reputation::HALF_LIFE;
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

	impl_benchmark_test_suite!(Pallet, crate::mock::new_test_ext(), crate::mock::Test);
}
