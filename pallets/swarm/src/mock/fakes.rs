//! What the pallet meets: a market, blobs and a beacon.

use super::*;
use codec::Encode;
use sp_runtime::DispatchError;
use trainyard_program::spec::{CheckedSpec, JobSpec};
use trainyard_protocol::{blob, JobId};
use trainyard_traits::{AwaitedBlobs, Beacon, BlobStore, JobEnd, JobStanding, PostedJobs, Seed};

/// A job that was posted.
#[derive(Clone, Debug)]
pub struct FakeJob {
	pub submitter: AccountId,
	pub spec: JobSpec,
	pub terms: Terms,
	pub end: Option<JobEnd>,
}

/// A blob.
#[derive(Clone, Debug)]
pub struct FakeBlob {
	pub bytes: Vec<u8>,
	pub is_complete: bool,
}

/// The market: a job costs [`ESCROW`], burned.
pub struct FakeMarket;
impl PostedJobs<AccountId> for FakeMarket {
	fn check(
		_: &AccountId,
		_: &CheckedSpec,
		_: &Terms,
		_: Balance,
	) -> Result<Balance, DispatchError> {
		match Refusals::get().first() {
			Some(reason) => Err(DispatchError::Other(reason)),
			None => Ok(ESCROW),
		}
	}

	fn post(
		submitter: &AccountId,
		spec: CheckedSpec,
		terms: Terms,
		_: Balance,
	) -> Result<JobId, DispatchError> {
		if let Some(reason) = Refusals::mutate(|all| (!all.is_empty()).then(|| all.remove(0))) {
			return Err(DispatchError::Other(reason));
		}
		let (submitter, spec) = (*submitter, spec.into_spec());
		let job = FakeJob { submitter, spec, terms, end: None };
		Posted::mutate(|all| {
			all.push(job);
			Ok(all.len() as JobId - 1)
		})
	}

	fn post_weight() -> Weight {
		Weight::from_parts(1_000, 0)
	}

	fn standing(_: JobId) -> JobStanding {
		unreachable!("swarms ask how jobs ended")
	}

	fn ended(job: JobId) -> Option<JobEnd> {
		let Some(job) = Posted::get().get(job as usize).cloned() else {
			return Some(JobEnd::Failed);
		};
		job.end
	}

	fn standing_weight() -> Weight {
		Weight::from_parts(10, 0)
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_postable(who: &AccountId) {
		use frame_support::traits::fungible::Mutate;
		assert_ok!(Balances::mint_into(who, Balance::MAX / 1_000));
	}
}

/// Blobs on chain.
pub struct FakeBlobs;
impl BlobStore for FakeBlobs {
	fn is_complete(root: &H256) -> bool {
		Stored::get().get(root).is_some_and(|blob| blob.is_complete)
	}

	fn size(root: &H256) -> Option<u64> {
		Stored::get().get(root).map(|blob| blob.bytes.len() as u64)
	}

	fn has_chunks(_: &H256, _: Range<u32>) -> bool {
		unreachable!("swarms look at whole blobs")
	}
}

impl AwaitedBlobs<AccountId> for FakeBlobs {
	fn owner(root: &H256) -> Option<AccountId> {
		Stored::get().contains_key(root).then(|| Owner::get())
	}

	fn expect(root: &H256) {
		Names::mutate(|names| *names.entry(*root).or_default() += 1);
	}

	fn release(root: &H256, _: &[AccountId]) {
		Names::mutate(|names| {
			let count = names.get_mut(root).expect("it was named");
			*count -= 1;
			if *count == 0 {
				names.remove(root);
			}
		});
	}

	fn watch(_: &H256, _: &AccountId) {}

	fn brought(_: &H256, _: &AccountId) -> u64 {
		0
	}

	fn full_blocks() -> BlockNumber {
		FullBlocks::get()
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_complete(who: &AccountId, size: u64) -> H256 {
		Owner::set(*who);
		let root = blob::root_of(size, &H256::repeat_byte(0xb1));
		let bytes = vec![0; size as usize];
		Stored::mutate(|all| all.insert(root, FakeBlob { bytes, is_complete: true }));
		root
	}
}

/// A beacon whose seeds follow from the height.
pub struct FakeBeacon;
impl Beacon for FakeBeacon {
	fn draw_height(settled: BlockNumber) -> BlockNumber {
		settled.next_multiple_of(2)
	}
	fn horizon() -> BlockNumber {
		SEED_BLOCKS + 1
	}
	fn seed_weight() -> Weight {
		Weight::zero()
	}
	fn seed(domain: &[u8], subject: &[u8], after: BlockNumber) -> Seed {
		let ready = after + SEED_BLOCKS + 1;
		if System::block_number() < ready {
			return Seed::NotBefore(ready);
		}
		if let Some(left) = LostSeeds::get().checked_sub(1) {
			LostSeeds::set(left);
			return Seed::Lost;
		}
		Seed::Ready(sp_io::hashing::blake2_256(&(domain, subject, after).encode()).into())
	}
}
