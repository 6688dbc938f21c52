//! Benchmarks: the statement of an author, and root's call, where all authorities have spoken.

use super::*;
use alloc::vec::Vec;
use frame_benchmarking::v2::*;
use frame_support::{traits::Get, BoundedVec};
use frame_system::RawOrigin;
use trainyard_traits::SessionWeights;

/// As many authorities as there can be, each of which said another height from 10 on; in block 1,000.
fn spoken<T: Config>() -> Vec<T::AccountId> {
	let all = T::Authorities::make_authorities(T::MaxAuthorities::get());
	let mut sorted = all.clone();
	sorted.sort();
	let said = sorted.into_iter().zip(10u32..).collect();
	Statements::<T>::put(BoundedVec::<_, T::MaxAuthorities>::truncate_from(said));
	frame_system::Pallet::<T>::set_block_number(1_000u32.into());
	all
}

#[benchmarks]
mod benchmarks {
	use super::*;

	#[benchmark]
	fn declare_final() {
		spoken::<T>();
		Noted::<T>::put(999);

		#[extrinsic_call]
		_(RawOrigin::Root, 10);

		assert_eq!(Final::<T>::get(), 10);
	}

	#[benchmark]
	fn note_final() -> Result<(), BenchmarkError> {
		let all = spoken::<T>();
		let author = all.first().ok_or("there is an authority")?.clone();

		#[block]
		{
			Pallet::<T>::note(&author, 999)?;
		}

		assert!(Statements::<T>::get().contains(&(author, 999)));
		assert!(Final::<T>::get() > 0);
		Ok(())
	}

	impl_benchmark_test_suite!(Pallet, crate::mock::new_test_ext(), crate::mock::Test);
}
