//! Benchmarks of every call and hook, each in its most expensive case.

use super::*;
use crate::power::Ledger;
use alloc::vec::Vec;
use frame_benchmarking::v2::*;
use frame_support::{
	traits::{
		fungible::{Inspect, Mutate},
		Get,
	},
	BoundedVec,
};
use frame_system::{pallet_prelude::BlockNumberFor, RawOrigin};
use pallet_authorship::EventHandler;
use pallet_session::SessionManager;
use sp_runtime::SaturatedConversion;
use trainyard_program::text::MAX_TEXT;
use trainyard_protocol::{
	job::Balance,
	views::{Hardware, WHOLE_WEIGHT},
	Text, H256,
};

/// The longest report of hardware.
fn hardware() -> Hardware {
	let text = Text(BoundedVec::truncate_from(alloc::vec![b'x'; MAX_TEXT as usize]));
	Hardware { cpu: text.clone(), cores: 256, memory_mib: 1 << 20, gpu: text }
}

/// An account with three bonds' worth of money.
fn funded<T: Config>(name: &'static str, index: u32) -> T::AccountId {
	let who: T::AccountId = account(name, index, 0);
	let funds: Balance = T::MinBond::get() * 3 + T::Currency::minimum_balance() * 2;
	T::Currency::mint_into(&who, funds).unwrap();
	who
}

/// A trainer.
fn trainer<T: Config>(name: &'static str, index: u32) -> T::AccountId {
	let who = funded::<T>(name, index);
	Pallet::<T>::do_register(&who, T::MinBond::get(), hardware()).unwrap();
	who
}

/// Gives `who` power that was credited a while ago, so that reading it decays it.
fn empower<T: Config>(who: &T::AccountId, work: u64) {
	let mut ledger = Ledger::default();
	let clock = Pallet::<T>::clock();
	ledger.training.credit(work, &clock);
	ledger.drilling.credit(work, &clock);
	ledger.training.updated = ledger.training.updated.saturating_sub(123_456_789);
	ledger.drilling.updated = ledger.drilling.updated.saturating_sub(123_456_789);
	Power::<T>::insert(who, ledger);
}

/// `count` candidates with keys and power, and no others, whatever the genesis names.
fn candidates<T: Config>(count: u32) -> Vec<T::AccountId> {
	Candidates::<T>::kill();
	MinShare::<T>::put(0);
	let all: Vec<_> = (0..count)
		.map(|i| {
			let who = trainer::<T>("candidate", i);
			T::Session::make_keys(&who);
			empower::<T>(&who, 1_000 + u64::from(i));
			Pallet::<T>::enlist(&who).unwrap();
			who
		})
		.collect();
	Pallet::<T>::note_keys();
	all
}

#[benchmarks]
mod benchmarks {
	use super::*;

	#[benchmark]
	fn register() {
		let who = funded::<T>("trainer", 0);

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()), T::MinBond::get(), hardware());

		assert!(Trainers::<T>::contains_key(&who));
	}

	#[benchmark]
	fn bond_extra() {
		let who = trainer::<T>("trainer", 0);

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()), T::MinBond::get());

		assert_eq!(Trainers::<T>::get(&who).unwrap().bond, T::MinBond::get() * 2);
	}

	#[benchmark]
	fn update_hardware() {
		let who = trainer::<T>("trainer", 0);
		let report = Hardware { cores: 7, ..hardware() };

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()), report.clone());

		assert_eq!(Trainers::<T>::get(&who).unwrap().hardware, report);
	}

	#[benchmark]
	fn set_candidate() {
		candidates::<T>(T::MaxCandidates::get());
		let who = trainer::<T>("trainer", 0);
		T::Session::make_keys(&who);
		empower::<T>(&who, 1_000_000_000);

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()), true);

		assert!(Pallet::<T>::is_candidate(&who));
	}

	#[benchmark]
	fn deregister() {
		let who = candidates::<T>(T::MaxCandidates::get()).remove(0);

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()));

		assert!(Trainers::<T>::get(&who).unwrap().free_at.is_some());
		assert!(!Pallet::<T>::is_candidate(&who));
	}

	#[benchmark]
	fn withdraw() {
		let who = trainer::<T>("trainer", 0);
		// It was an authority long ago.
		LastServed::<T>::insert(&who, 1);
		OldestRecord::<T>::put(1);
		Overtaken::<T>::insert(1, 0);
		empower::<T>(&who, 1_000);
		Absence::<T>::insert(&who, 1);
		Pallet::<T>::do_deregister(&who).unwrap();
		let free_at = Trainers::<T>::get(&who).unwrap().free_at.unwrap();
		frame_system::Pallet::<T>::set_block_number(free_at.saturated_into());

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()));

		assert!(!Trainers::<T>::contains_key(&who));
	}

	#[benchmark]
	fn purge_keys() {
		candidates::<T>(T::MaxCandidates::get());
		Pallet::<T>::choose();
		CurrentWeights::<T>::put(NextWeights::<T>::get());
		let who = trainer::<T>("trainer", 0);
		T::Session::make_keys(&who);

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()));

		assert!(!T::Session::has_keys(&who));
	}

	#[benchmark]
	fn on_initialize() {
		frame_system::Pallet::<T>::set_block_number(300u32.into());
		LatestVrf::<T>::put(H256::repeat_byte(1));

		#[block]
		{
			Pallet::<T>::record_output();
		}

		assert!(Outputs::<T>::get((299 % 256) as u8).is_some_and(|(block, _)| block == 299));
	}

	/// So many sessions are overtaken.
	#[benchmark]
	fn note_overtaken(n: Linear<0, { in_force::OVERTAKEN_AT_ONCE }>) {
		frame_system::Pallet::<T>::set_block_number(300u32.into());
		OldestRecord::<T>::put(1);
		for session in 1..=n + 1 {
			Starts::<T>::insert(session, 0);
		}
		Starts::<T>::remove(n + 2);
		Unfinal::<T>::put(1);
		let overtaken;

		#[block]
		{
			overtaken = Pallet::<T>::note_overtaken();
		}

		assert_eq!(overtaken, n);
	}

	#[benchmark]
	fn note_author() {
		let who = candidates::<T>(1).remove(0);
		let mut others: Vec<T::AccountId> =
			(1..T::MaxAuthorities::get()).map(|i| account("other", i, 0)).collect();
		others.sort();
		Authored::<T>::put(BoundedVec::truncate_from(others));
		Absence::<T>::insert(&who, 1);

		#[block]
		{
			<Pallet<T> as EventHandler<T::AccountId, BlockNumberFor<T>>>::note_author(who.clone());
			Pallet::<T>::reward();
		}

		assert!(Authored::<T>::get().contains(&who));
		assert!(!Absence::<T>::contains_key(&who));
	}

	#[benchmark]
	fn change_session(c: Linear<1, { T::MaxCandidates::get() }>) {
		candidates::<T>(c);
		Pallet::<T>::choose();
		CurrentWeights::<T>::put(NextWeights::<T>::get());
		SessionBlocks::<T>::put(1);
		let chosen;

		#[block]
		{
			<Pallet<T> as SessionManager<T::AccountId>>::end_session(0);
			<Pallet<T> as SessionManager<T::AccountId>>::start_session(1);
			chosen = <Pallet<T> as SessionManager<T::AccountId>>::new_session(2);
		}

		assert_eq!(chosen.unwrap().len() as u32, c.min(T::MaxAuthorities::get()));
	}

	/// The last of `n` authorities equivocates, which makes it more expensive for the others.
	#[benchmark]
	fn punish(n: Linear<1, { T::MaxAuthorities::get() }>) {
		let (session, empty) = (T::Session::current_index(), [0; 32]);
		let all = candidates::<T>(n);
		let member = |who: &T::AccountId| crate::records::Member {
			who: who.clone(),
			weight: 1_000,
			babe: empty,
			grandpa: empty,
		};
		let members = all.iter().map(member).collect();
		Records::<T>::insert(session, BoundedVec::<_, T::MaxAuthorities>::truncate_from(members));
		let offender = |who: &T::AccountId| crate::records::Offender { who: who.clone(), session };
		let (last, others) = all.split_last().unwrap();
		let mut earlier = others.to_vec();
		earlier.sort();
		let convicts = earlier.iter().cloned().map(|who| crate::offences::Convict {
			who,
			session,
			share: WHOLE_WEIGHT / 1_000,
			lost: T::MinSlash::get(),
		});
		Convicts::<T>::put(BoundedVec::<_, T::MaxAuthorities>::truncate_from(convicts.collect()));
		Offenders::<T>::insert(session, BoundedVec::<_, T::MaxAuthorities>::truncate_from(earlier));
		let reporter = funded::<T>("reporter", 0);

		#[block]
		{
			Pallet::<T>::punish(&offender(last), Some(&reporter)).unwrap();
		}

		assert!(Pallet::<T>::is_known(&offender(last)));
		assert!(Trainers::<T>::get(last).unwrap().bond < T::MinBond::get());
		assert!(!Pallet::<T>::is_candidate(last));
	}

	impl_benchmark_test_suite!(Pallet, crate::mock::new_test_ext(), crate::mock::Test);
}
