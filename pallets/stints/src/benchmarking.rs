//! Benchmarks of every call and step, each in its most expensive case.

use super::{Task, *};
use alloc::vec::Vec;
use frame_benchmarking::v2::*;
use frame_support::{
	traits::{
		fungible::{Inspect, Mutate},
		Get,
	},
	weights::Weight,
	BoundedVec,
};
use frame_system::RawOrigin;
use sp_runtime::SaturatedConversion;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	merkle,
	stint::{self, Samples, Siblings, CERTAIN, SAMPLES},
	H256,
};
use trainyard_traits::{Drillers, VerifierPool};

/// Laps of the reports: with as many samples and siblings as there may be.
const LAPS: u32 = 1 << 12;

/// Gives an account money.
fn fund<T: Config>(who: &T::AccountId) {
	let least: Balance = T::Currency::minimum_balance();
	let money = (T::DrillerDeposit::get() + T::CheckFee::get() + least) * 1_000;
	T::Currency::mint_into(who, money).unwrap();
}

/// A trainer with money.
fn driller<T: Config>(index: u32) -> T::AccountId {
	let who: T::AccountId = account("driller", index, 0);
	T::Drillers::make_driller(&who);
	fund::<T>(&who);
	who
}

/// Moves to a height, in whose block nothing happened yet.
fn at<T: Config>(height: BlockNumber) {
	frame_system::Pallet::<T>::set_block_number(height.saturated_into());
}

/// A driller in a stint that can be reported now.
fn ready<T: Config>() -> T::AccountId {
	let who = driller::<T>(0);
	at::<T>(100);
	Pallet::<T>::do_begin(who.clone()).unwrap();
	at::<T>(100 + T::MinPeriod::get() * 2);
	who
}

/// Results of laps that were not computed, with their root.
fn results() -> (Vec<H256>, H256) {
	let results: Vec<H256> = (0..LAPS).map(|i| stint::lap_seed(&H256::zero(), i)).collect();
	let leaves: Vec<H256> = results.iter().map(stint::leaf).collect();
	let root = merkle::root(&leaves);
	(results, root)
}

/// A report, just made, of a driller that is checked for certain.
fn reported<T: Config>() -> (stint::ReportId, Report<T::AccountId>) {
	fund::<T>(&T::Jackpot::get());
	let who = ready::<T>();
	let (_, root) = results();
	Pallet::<T>::do_report(who, 0, root, LAPS).unwrap();
	let report = Reports::<T>::get(0).unwrap();
	(0, report)
}

/// The same with both committees full, the second at work in this phase.
fn full<T: Config>(phase: impl Fn(BlockNumber) -> Phase) -> (stint::ReportId, Vec<T::AccountId>) {
	let (id, mut report) = reported::<T>();
	let pool = T::Verifiers::make_pool();
	let mut all = pool.clone();
	all.extend((0..CHECKERS + DOUBTERS).map(|i| account("verifier", i, 0)));
	all.truncate((CHECKERS + DOUBTERS) as usize);
	// Those whose bonds are real sit last, where a search ends.
	all.reverse();
	for who in &all {
		Seats::<T>::insert(who, id, ());
	}
	let seat = |who: &T::AccountId| Seat { who: who.clone(), commitment: None, digest: None };
	report.committee = BoundedVec::truncate_from(all.iter().map(seat).collect());
	report.samples = BoundedVec::truncate_from((0..SAMPLES).collect());
	report.chance = CERTAIN;
	report.phase = phase(Pallet::<T>::now() + 10);
	Reports::<T>::insert(id, report);
	(id, all)
}

#[benchmarks]
mod benchmarks {
	use super::*;

	#[benchmark]
	fn begin() {
		let who = driller::<T>(0);
		at::<T>(100);

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()));

		assert!(Pallet::<T>::drills(&who));
	}

	#[benchmark]
	fn retire() {
		let who = ready::<T>();

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()));

		assert!(!Pallet::<T>::drills(&who));
	}

	#[benchmark]
	fn report() {
		fund::<T>(&T::Jackpot::get());
		let who = ready::<T>();
		let (_, root) = results();

		#[extrinsic_call]
		_(RawOrigin::Signed(who), 0, root, LAPS);

		assert!(Reports::<T>::contains_key(0));
	}

	#[benchmark]
	fn check() {
		let (id, all) = full::<T>(|until| Phase::Checking { until });
		let who = all.last().unwrap().clone();

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id, H256::repeat_byte(1));

		assert!(Reports::<T>::get(id).unwrap().committee.last().unwrap().commitment.is_some());
	}

	#[benchmark]
	fn open() {
		let (id, _) = full::<T>(|until| Phase::Opening { until, reveals: until });
		let record = Reports::<T>::get(id).unwrap();
		let (results, _) = results();
		let leaves: Vec<H256> = results.iter().map(stint::leaf).collect();
		// Far from each other, with as many siblings as there may be.
		let samples: Vec<u32> = (0..SAMPLES).map(|i| i * (LAPS / SAMPLES)).collect();
		let siblings = merkle::proof_many(&leaves, &samples).unwrap();
		let opened = samples.iter().map(|at| results[*at as usize]).collect();
		Reports::<T>::mutate(id, |record| {
			record.as_mut().unwrap().samples = BoundedVec::truncate_from(samples);
		});

		#[extrinsic_call]
		_(
			RawOrigin::Signed(record.driller),
			id,
			Samples::truncate_from(opened),
			Siblings::truncate_from(siblings),
		);

		assert!(Reports::<T>::get(id).unwrap().opened.is_some());
	}

	#[benchmark]
	fn check_reveal() {
		let (id, all) = full::<T>(|until| Phase::Opening { until, reveals: until });
		let who = all.last().unwrap().clone();
		let (digest, salt) = (H256::repeat_byte(3), [7; 32]);
		let made = stint::commitment(&Pallet::<T>::genesis_hash(), id, &who, &digest, &salt);
		Reports::<T>::mutate(id, |record| {
			record.as_mut().unwrap().committee.iter_mut().last().unwrap().commitment = Some(made);
		});

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id, digest, salt);

		assert!(Reports::<T>::get(id).unwrap().committee.last().unwrap().digest.is_some());
	}

	#[benchmark]
	fn retarget() {
		Reported::<T>::put(u32::MAX);

		#[block]
		{
			Pallet::<T>::retarget();
		}

		assert_eq!(Pallet::<T>::period(), T::MinPeriod::get() * 2);
	}

	/// A step that finds that it has to wait.
	#[benchmark]
	fn look() {
		let (id, _) = full::<T>(|until| Phase::Checking { until });

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert!(matches!(Reports::<T>::get(id).unwrap().phase, Phase::Checking { .. }));
	}

	#[benchmark]
	fn begin_opening() {
		let (id, _) = full::<T>(|_| Phase::Checking { until: 0 });

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert!(matches!(Reports::<T>::get(id).unwrap().phase, Phase::Opening { .. }));
	}

	#[benchmark]
	fn credit() {
		let (id, mut record) = reported::<T>();
		record.chance = 0;

		#[block]
		{
			Pallet::<T>::draw_for_benchmark(id, record, None);
		}

		assert!(!Reports::<T>::contains_key(id));
	}

	/// Three verifiers of a full pool.
	#[benchmark]
	fn draw() {
		let (id, mut record) = reported::<T>();
		T::Verifiers::make_pool();
		record.chance = CERTAIN;

		#[block]
		{
			Pallet::<T>::draw_for_benchmark(id, record, None);
		}

		assert_eq!(Reports::<T>::get(id).unwrap().committee.len() as u32, CHECKERS);
	}

	/// Both committees sat, with `n` seats together, all of the second are paid, and the driller is
	/// slashed.
	#[benchmark]
	fn conclude(n: Linear<4, { CHECKERS + DOUBTERS }>) {
		let (id, _) = full::<T>(|_| Phase::Opening { until: 0, reveals: 0 });
		Reports::<T>::mutate(id, |record| {
			let record = record.as_mut().unwrap();
			record.doubted = true;
			record.opened = Some(H256::repeat_byte(1));
			while record.committee.len() > n as usize {
				let seat = record.committee.remove(0);
				Seats::<T>::remove(seat.who, id);
			}
			for seat in record.committee.iter_mut() {
				seat.commitment = Some(H256::zero());
				seat.digest = Some(H256::repeat_byte(2));
			}
		});

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert!(!Reports::<T>::contains_key(id));
	}

	/// The keys of tasks that are due, without what is done for them.
	#[benchmark]
	fn serve(n: Linear<0, 16>) {
		for i in 0..n {
			let task = Task(u64::from(i) + 1_000);
			Due::<T>::insert(task, 5);
			Agenda::<T>::insert(5, task, ());
		}
		Cursor::<T>::put(5);

		#[block]
		{
			Pallet::<T>::serve(5, Weight::MAX);
		}

		assert_eq!(Due::<T>::iter().count(), 0);
	}

	impl_benchmark_test_suite!(Pallet, crate::mock::new_test_ext(), crate::mock::Test);
}
