//! Benchmarks of every call and step, each in its most expensive case. What is asked of the market is weighed for itself.

use super::*;
use frame_benchmarking::v2::*;
use frame_support::traits::{
	fungible::{Inspect, Mutate},
	Get,
};
use frame_system::RawOrigin;
use trainyard_protocol::{
	job::Balance,
	pools::{PoolId, Rules},
};
use trainyard_traits::{ClaimPools, PooledClaims};

/// What each member puts in.
const STAKE: Balance = 1 << 70;

fn rich<T: Config>(name: &'static str) -> T::AccountId {
	let who: T::AccountId = account(name, 0, 0);
	// Benchmarks may panic.
	T::Currency::mint_into(&who, STAKE * 4).unwrap();
	who
}

fn rules<T: Config>() -> Rules {
	Rules { fee: 5, standing: 0, period: T::MaxPeriod::get() }
}

/// A pool, and its maker.
fn made<T: Config>() -> (PoolId, T::AccountId) {
	let maker = rich::<T>("maker");
	let id = NextPool::<T>::get();
	Pallet::<T>::do_create(maker.clone(), rules::<T>(), STAKE).unwrap();
	(id, maker)
}

#[benchmarks]
mod benchmarks {
	use super::*;

	#[benchmark]
	fn create() {
		let maker = rich::<T>("maker");

		#[extrinsic_call]
		_(RawOrigin::Signed(maker.clone()), rules::<T>(), STAKE);

		assert_eq!(Pallet::<T>::shares_of(0, &maker), STAKE);
	}

	#[benchmark]
	fn join() {
		let (id, _) = made::<T>();
		let who = rich::<T>("member");

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()), id, STAKE, 1);

		assert!(Pallet::<T>::shares_of(id, &who) > 0);
	}

	/// The last member leaves that is not the maker.
	#[benchmark]
	fn leave() {
		let (id, maker) = made::<T>();
		let who = rich::<T>("member");
		Pallet::<T>::do_join(who.clone(), id, STAKE, 1).unwrap();
		Pallet::<T>::do_leave(maker, id).unwrap();

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id);

		assert!(Pallet::<T>::pool(id).is_none());
	}

	#[benchmark]
	fn enrol() -> Result<(), BenchmarkError> {
		let (id, _) = made::<T>();
		let trainer = rich::<T>("trainer");
		let job = T::Claims::make_enrollable(&trainer).ok_or("no job can be enrolled")?;

		#[extrinsic_call]
		_(RawOrigin::Signed(trainer.clone()), id, job);

		assert!(Claims::<T>::contains_key(job, trainer));
		Ok(())
	}

	#[benchmark]
	fn paid() -> Result<(), BenchmarkError> {
		let (id, _) = made::<T>();
		let trainer = rich::<T>("trainer");
		let job = T::Claims::make_enrollable(&trainer).ok_or("no job can be enrolled")?;
		Pallet::<T>::do_enrol(trainer.clone(), id, job)?;
		let got = T::Currency::minimum_balance();
		T::Currency::mint_into(&Pallet::<T>::account_of(id), got)?;

		#[block]
		{
			Pallet::<T>::paid(job, &trainer, got, Some(got));
		}

		assert!(!Claims::<T>::contains_key(job, trainer));
		Ok(())
	}

	impl_benchmark_test_suite!(Pallet, crate::mock::new_test_ext(), crate::mock::Test);
}
