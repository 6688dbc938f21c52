//! Weights of the calls and of each step of a job. First values, derived by hand from the
//! storage that each touches and with ample time; `frame-omni-bencher` replaces this file.

use core::marker::PhantomData;
use frame_support::{
	traits::Get,
	weights::{constants::RocksDbWeight, Weight},
};

/// Weights of the calls of this pallet and of the steps of a job.
pub trait WeightInfo {
	/// The call.
	fn submit_job() -> Weight;
	/// The call.
	fn order() -> Weight;
	/// The call, for an applicant that displaces another.
	fn apply() -> Weight;
	/// The call.
	fn cancel() -> Weight;
	/// The call, where it does not settle the job.
	fn agree() -> Weight;
	/// The call.
	fn post_listing() -> Weight;
	/// The call.
	fn remove_listing() -> Weight;
	/// The call.
	fn forget() -> Weight;
	/// A look at one height of the agenda and at `n` jobs there that wait on.
	fn serve(n: u32) -> Weight;
	/// A look at a job that waits on.
	fn look() -> Weight;
	/// Applying ends.
	fn close_applications() -> Weight;
	/// Replicas are drawn from `a` applicants.
	fn assign(a: u32) -> Weight;
	/// Training ends.
	fn open_reveals() -> Weight;
	/// Revealing ends.
	fn open_audit() -> Weight;
	/// A job ends, with the most parties to be paid.
	fn settle() -> Weight;
}

/// Microseconds in the unit of time.
const MICRO: u64 = 1_000_000;

/// Weights with the runtime's database.
pub struct SubstrateWeight<T>(PhantomData<T>);

impl<T: frame_system::Config> WeightInfo for SubstrateWeight<T> {
	/// NextJob (r:1 w:1); account and holds (r:2 w:2); job (w:1); agenda (r:1 w:2).
	fn submit_job() -> Weight {
		Weight::from_parts(90 * MICRO, 12_000).saturating_add(T::DbWeight::get().reads_writes(4, 6))
	}

	/// As `submit_job`; listing and trainer (r:2).
	fn order() -> Weight {
		Weight::from_parts(100 * MICRO, 18_000)
			.saturating_add(T::DbWeight::get().reads_writes(6, 6))
	}

	/// Job, applicants, trainer (r:3 w:1); bonds of 64 applicants (r:64); two accounts and their
	/// holds (r:4 w:4); agenda (r:1 w:3).
	fn apply() -> Weight {
		Weight::from_parts(400 * MICRO, 200_000)
			.saturating_add(T::DbWeight::get().reads_writes(72, 8))
	}

	/// Job, applicants (r:2 w:1); account and holds (r:2 w:2); agenda (r:1 w:3).
	fn cancel() -> Weight {
		Weight::from_parts(100 * MICRO, 20_000)
			.saturating_add(T::DbWeight::get().reads_writes(5, 6))
	}

	/// Job (r:1 w:1).
	fn agree() -> Weight {
		Weight::from_parts(40 * MICRO, 6_000).saturating_add(T::DbWeight::get().reads_writes(1, 1))
	}

	/// Trainer (r:1); listing (w:1).
	fn post_listing() -> Weight {
		Weight::from_parts(30 * MICRO, 6_000).saturating_add(T::DbWeight::get().reads_writes(1, 1))
	}

	/// Listing (r:1 w:1).
	fn remove_listing() -> Weight {
		Weight::from_parts(30 * MICRO, 4_000).saturating_add(T::DbWeight::get().reads_writes(1, 1))
	}

	/// Job (r:1 w:1); agenda (w:1); round (w:1); audit (r:1 w:2).
	fn forget() -> Weight {
		Weight::from_parts(60 * MICRO, 30_000).saturating_add(T::DbWeight::get().reads_writes(2, 5))
	}

	/// Cursor (r:1 w:1); agenda (r:1); for each job the agenda (r:1 w:1).
	fn serve(n: u32) -> Weight {
		Weight::from_parts(15 * MICRO, 4_000)
			.saturating_add(Weight::from_parts(15 * MICRO, 3_000).saturating_mul(n.into()))
			.saturating_add(T::DbWeight::get().reads_writes(2, 1))
			.saturating_add(T::DbWeight::get().reads_writes(1, 1).saturating_mul(n.into()))
	}

	/// Agenda (r:2 w:4); job (r:1 w:1); round (r:2); up to 8 models or 2 seeds (r:8).
	fn look() -> Weight {
		Weight::from_parts(80 * MICRO, 60_000)
			.saturating_add(T::DbWeight::get().reads_writes(13, 5))
	}

	/// Agenda (r:2 w:4); job (r:1 w:1); applicants (r:1).
	fn close_applications() -> Weight {
		Weight::from_parts(60 * MICRO, 20_000).saturating_add(T::DbWeight::get().reads_writes(4, 5))
	}

	/// Agenda (r:2 w:4); job (r:1 w:1); applicants (r:1 w:1); seed (r:3); round (r:1 w:1);
	/// per applicant its bond (r:1), account and holds (r:2 w:2).
	fn assign(a: u32) -> Weight {
		Weight::from_parts(150 * MICRO, 40_000)
			.saturating_add(Weight::from_parts(60 * MICRO, 9_000).saturating_mul(a.into()))
			.saturating_add(T::DbWeight::get().reads_writes(8, 7))
			.saturating_add(T::DbWeight::get().reads_writes(3, 2).saturating_mul(a.into()))
	}

	/// Agenda (r:2 w:4); job (r:1 w:1); round (r:1 w:1).
	fn open_reveals() -> Weight {
		Weight::from_parts(100 * MICRO, 25_000)
			.saturating_add(T::DbWeight::get().reads_writes(4, 6))
	}

	/// Agenda (r:2 w:4); job (r:1 w:1); round (r:1 w:1); 8 models (r:8); audit (r:1 w:2).
	fn open_audit() -> Weight {
		Weight::from_parts(200 * MICRO, 80_000)
			.saturating_add(T::DbWeight::get().reads_writes(13, 8))
	}

	/// Job (r:1 w:1); agenda (r:1 w:3); accounts of submitter, 8 trainers, 48 verifiers and
	/// jackpot (r:58 w:58); holds (r:9 w:9); power of 8 trainers (r:16 w:16); issuance.
	/// 115 transfers in all.
	fn settle() -> Weight {
		Weight::from_parts(4_000 * MICRO, 300_000)
			.saturating_add(T::DbWeight::get().reads_writes(86, 89))
	}
}

impl WeightInfo for () {
	fn submit_job() -> Weight {
		Weight::from_parts(90 * MICRO, 12_000)
			.saturating_add(RocksDbWeight::get().reads_writes(4, 6))
	}

	fn order() -> Weight {
		Weight::from_parts(100 * MICRO, 18_000)
			.saturating_add(RocksDbWeight::get().reads_writes(6, 6))
	}

	fn apply() -> Weight {
		Weight::from_parts(400 * MICRO, 200_000)
			.saturating_add(RocksDbWeight::get().reads_writes(72, 8))
	}

	fn cancel() -> Weight {
		Weight::from_parts(100 * MICRO, 20_000)
			.saturating_add(RocksDbWeight::get().reads_writes(5, 6))
	}

	fn agree() -> Weight {
		Weight::from_parts(40 * MICRO, 6_000)
			.saturating_add(RocksDbWeight::get().reads_writes(1, 1))
	}

	fn post_listing() -> Weight {
		Weight::from_parts(30 * MICRO, 6_000)
			.saturating_add(RocksDbWeight::get().reads_writes(1, 1))
	}

	fn remove_listing() -> Weight {
		Weight::from_parts(30 * MICRO, 4_000)
			.saturating_add(RocksDbWeight::get().reads_writes(1, 1))
	}

	fn forget() -> Weight {
		Weight::from_parts(60 * MICRO, 30_000)
			.saturating_add(RocksDbWeight::get().reads_writes(2, 5))
	}

	fn serve(n: u32) -> Weight {
		Weight::from_parts(15 * MICRO, 4_000)
			.saturating_add(Weight::from_parts(15 * MICRO, 3_000).saturating_mul(n.into()))
			.saturating_add(RocksDbWeight::get().reads_writes(2, 1))
			.saturating_add(RocksDbWeight::get().reads_writes(1, 1).saturating_mul(n.into()))
	}

	fn look() -> Weight {
		Weight::from_parts(80 * MICRO, 60_000)
			.saturating_add(RocksDbWeight::get().reads_writes(13, 5))
	}

	fn close_applications() -> Weight {
		Weight::from_parts(60 * MICRO, 20_000)
			.saturating_add(RocksDbWeight::get().reads_writes(4, 5))
	}

	fn assign(a: u32) -> Weight {
		Weight::from_parts(150 * MICRO, 40_000)
			.saturating_add(Weight::from_parts(60 * MICRO, 9_000).saturating_mul(a.into()))
			.saturating_add(RocksDbWeight::get().reads_writes(8, 7))
			.saturating_add(RocksDbWeight::get().reads_writes(3, 2).saturating_mul(a.into()))
	}

	fn open_reveals() -> Weight {
		Weight::from_parts(100 * MICRO, 25_000)
			.saturating_add(RocksDbWeight::get().reads_writes(4, 6))
	}

	fn open_audit() -> Weight {
		Weight::from_parts(200 * MICRO, 80_000)
			.saturating_add(RocksDbWeight::get().reads_writes(13, 8))
	}

	fn settle() -> Weight {
		Weight::from_parts(4_000 * MICRO, 300_000)
			.saturating_add(RocksDbWeight::get().reads_writes(86, 89))
	}
}
