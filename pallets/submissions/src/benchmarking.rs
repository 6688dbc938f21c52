//! Benchmarks: the last trainer of the largest round.

use super::*;
use alloc::vec::Vec;
use frame_benchmarking::v2::*;
use frame_support::BoundedVec;
use frame_system::RawOrigin;
use trainyard_program::text::MAX_TEXT;
use trainyard_protocol::{
	commitment,
	job::{Reveal, MAX_REPLICAS},
	JobId, Text, H256,
};
use trainyard_traits::{JobObserver, Submissions};

const JOB: JobId = 7;
const SALT: [u8; 32] = [9; 32];
/// Segments of the job.
const SEGMENTS: u32 = 30;

fn trainers<T: Config>() -> Vec<T::AccountId> {
	(0..MAX_REPLICAS).map(|i| account("trainer", i, 0)).collect()
}

/// A reveal with the longest location.
fn longest_reveal() -> Reveal {
	let mut location = b"http://".to_vec();
	location.resize(MAX_TEXT as usize, b'x');
	Reveal {
		bundle_root: H256::repeat_byte(1),
		true_root: H256::repeat_byte(1),
		model_root: H256::repeat_byte(2),
		segments: SEGMENTS,
		diverged: false,
		location: Text(BoundedVec::truncate_from(location)),
	}
}

fn commitment_of<T: Config>(trainer: &T::AccountId) -> H256 {
	let genesis = Pallet::<T>::genesis_hash();
	commitment::result(&genesis, JOB, trainer, &longest_reveal().result(), &SALT)
}

#[benchmarks]
mod benchmarks {
	use super::*;

	#[benchmark]
	fn commit() -> Result<(), BenchmarkError> {
		let mut all = trainers::<T>();
		Pallet::<T>::open(JOB, &all, SEGMENTS..=SEGMENTS)?;
		let last = all.pop().unwrap();
		for trainer in all {
			Pallet::<T>::do_commit(JOB, trainer.clone(), commitment_of::<T>(&trainer))?;
		}
		let commitment = commitment_of::<T>(&last);
		T::Observer::make_waiting(JOB);

		#[extrinsic_call]
		_(RawOrigin::Signed(last), JOB, commitment);

		assert!(Pallet::<T>::is_complete(JOB));
		Ok(())
	}

	#[benchmark]
	fn reveal() -> Result<(), BenchmarkError> {
		let mut all = trainers::<T>();
		Pallet::<T>::open(JOB, &all, SEGMENTS..=SEGMENTS)?;
		for trainer in &all {
			Pallet::<T>::do_commit(JOB, trainer.clone(), commitment_of::<T>(trainer))?;
		}
		Pallet::<T>::open_reveals(JOB);
		let last = all.pop().unwrap();
		for trainer in all {
			Pallet::<T>::do_reveal(JOB, trainer, longest_reveal(), SALT)?;
		}
		T::Observer::make_waiting(JOB);

		#[extrinsic_call]
		_(RawOrigin::Signed(last), JOB, longest_reveal(), SALT);

		assert_eq!(Pallet::<T>::reveals(JOB).len() as u32, MAX_REPLICAS);
		Ok(())
	}

	impl_benchmark_test_suite!(Pallet, crate::mock::new_test_ext(), crate::mock::Test);
}
