//! Benchmarks of every call and step, each in its most expensive case. What is asked of results is weighed for itself.

use super::*;
use alloc::vec::Vec;
use frame_benchmarking::v2::*;
use frame_support::{
	traits::{fungible::Mutate, Get},
	BoundedVec,
};
use frame_system::RawOrigin;
use sp_runtime::SaturatedConversion;
use trainyard_protocol::{
	bets::{BetId, Odds, OfferId, Offered, Panel, Side, Statement, MAX_PANEL},
	job::{Balance, BlockNumber, MAX_REPLICAS},
	H256,
};
use trainyard_traits::{ConvictionObserver, Results};

fn rich<T: Config>(name: &'static str, number: u32) -> T::AccountId {
	let who: T::AccountId = account(name, number, 0);
	// Benchmarks may panic.
	T::Currency::mint_into(&who, Balance::MAX / 1_000_000).unwrap();
	who
}

fn panel<T: Config>() -> Vec<T::AccountId> {
	(0..MAX_PANEL).map(|number| account("member", number, 0)).collect()
}

fn at<T: Config>(height: BlockNumber) {
	frame_system::Pallet::<T>::set_block_number(height.saturated_into());
}

fn offered<T: Config>() -> Offered<T::AccountId> {
	Offered {
		side: Some(Side::Right),
		odds: Odds { maker: 100, taker: 1 },
		stake: T::MinStake::get().saturating_mul(1_000),
		until: Pallet::<T>::now().saturating_add(T::MaxBlocks::get()),
		notice: 0,
		only: None,
		panel: Some(Panel {
			members: BoundedVec::truncate_from(panel::<T>()),
			threshold: MAX_PANEL,
			blocks: 1,
		}),
	}
}

fn words() -> Statement {
	Statement::Words { hash: H256::repeat_byte(1) }
}

/// An offer on words, of which there is no other.
fn made<T: Config>() -> (OfferId, T::AccountId) {
	let maker = rich::<T>("maker", 0);
	let id = NextOffer::<T>::get();
	Pallet::<T>::do_offer(maker.clone(), words(), offered::<T>()).unwrap();
	(id, maker)
}

/// A bet on words, of the last part of an offer that has ended.
fn taken<T: Config>() -> (BetId, OfferId, T::AccountId, T::AccountId) {
	let (offer, maker) = made::<T>();
	let taker = rich::<T>("taker", 0);
	let bet = NextBet::<T>::get();
	let stake = T::MinStake::get();
	Pallet::<T>::do_take(taker.clone(), offer, Side::Wrong, stake).unwrap();
	Pallet::<T>::do_withdraw(maker.clone(), offer).unwrap();
	(bet, offer, maker, taker)
}

#[benchmarks]
mod benchmarks {
	use super::*;

	#[benchmark]
	fn offer() {
		let maker = rich::<T>("maker", 0);
		let (job, root) = T::Results::make_open(&maker).unwrap();
		let statement = Statement::Result { job, root, late: false };

		#[extrinsic_call]
		_(RawOrigin::Signed(maker), statement, offered::<T>());

		assert_eq!(Books::<T>::get(statement).unwrap().offers, 1);
	}

	#[benchmark]
	fn take() {
		let (maker, taker) = (rich::<T>("maker", 0), rich::<T>("taker", 0));
		let (job, root) = T::Results::make_open(&maker).unwrap();
		let statement = Statement::Result { job, root, late: false };
		Pallet::<T>::do_offer(maker, statement, offered::<T>()).unwrap();

		#[extrinsic_call]
		_(RawOrigin::Signed(taker), 0, Side::Wrong, T::MinStake::get());

		assert!(Bets::<T>::contains_key(0));
	}

	/// The last offer about a job, as many of whose trainers as there may be were convicted.
	#[benchmark]
	fn withdraw() {
		let maker = rich::<T>("maker", 0);
		let (job, root) = T::Results::make_open(&maker).unwrap();
		let statement = Statement::Result { job, root, late: false };
		Pallet::<T>::do_offer(maker.clone(), statement, offered::<T>()).unwrap();
		for number in 0..MAX_REPLICAS {
			let trainer: T::AccountId = account("trainer", number, 0);
			Pallet::<T>::convicted(job, &trainer, true);
		}

		#[extrinsic_call]
		_(RawOrigin::Signed(maker), 0);

		assert!(!Offers::<T>::contains_key(0));
		assert_eq!(Convictions::<T>::iter_keys().count(), 0);
	}

	/// The last bet of an offer that has ended.
	#[benchmark]
	fn agree() {
		let (bet, one, maker, taker) = taken::<T>();
		Pallet::<T>::do_agree(maker, bet, Some(0)).unwrap();

		#[extrinsic_call]
		_(RawOrigin::Signed(taker), bet, Some(0));

		assert!(!Offers::<T>::contains_key(one));
	}

	/// The last vote that a panel needs.
	#[benchmark]
	fn judge() {
		let (one, _) = made::<T>();
		let mut members = panel::<T>();
		let last = members.pop().unwrap();
		for member in members {
			Pallet::<T>::do_judge(member, one, Some(Side::Wrong)).unwrap();
		}

		#[extrinsic_call]
		_(RawOrigin::Signed(last), one, Some(Side::Wrong));

		assert!(Offers::<T>::get(one).unwrap().verdict.is_some());
	}

	/// The last bet of an offer that has ended, won by the taker.
	#[benchmark]
	fn settle() {
		let (bet, one, _, taker) = taken::<T>();
		at::<T>(Pallet::<T>::now().saturating_add(T::LateBlocks::get()).saturating_add(1));
		for member in panel::<T>() {
			Pallet::<T>::do_judge(member, one, Some(Side::Wrong)).unwrap();
		}

		#[extrinsic_call]
		_(RawOrigin::Signed(taker), bet);

		assert!(!Offers::<T>::contains_key(one));
	}

	/// The end of an offer.
	#[benchmark]
	fn close() {
		let (one, _) = made::<T>();
		at::<T>(Pallet::<T>::now().saturating_add(T::MaxBlocks::get()).saturating_add(1));

		#[block]
		{
			Pallet::<T>::look_at_offer(one);
		}

		assert!(!Offers::<T>::contains_key(one));
	}

	/// A look at a height, and at `n` tasks that do not exist.
	#[benchmark]
	fn serve(n: Linear<0, 16>) {
		let now = 100;
		at::<T>(now);
		Cursor::<T>::put(now);
		for id in 0..n {
			Agenda::<T>::insert(now, Look::Bet(1_000 + u64::from(id)), ());
		}

		#[block]
		{
			// Only the keys: what is done for one is weighed for itself.
			let mut taken = 0;
			for task in Agenda::<T>::iter_key_prefix(now) {
				Agenda::<T>::remove(now, task);
				Due::<T>::remove(task);
				taken += 1;
			}
			assert_eq!(taken, n);
			Cursor::<T>::put(now);
		}
	}

	impl_benchmark_test_suite!(Pallet, crate::mock::new_test_ext(), crate::mock::Test);
}
