//! A runtime of this pallet alone; the observer keeps a list of the jobs with which it was called.

use crate as pallet_submissions;
use frame_support::{derive_impl, parameter_types, traits::ConstU32, BoundedVec};
use sp_runtime::BuildStorage;
use std::ops::RangeInclusive;
use trainyard_protocol::{commitment, job::Reveal, JobId, Text, H256};
use trainyard_traits::JobObserver;

pub type AccountId = u64;
type Block = frame_system::mocking::MockBlock<Test>;

#[frame_support::runtime]
mod runtime {
	#[runtime::runtime]
	#[runtime::derive(
		RuntimeCall,
		RuntimeEvent,
		RuntimeError,
		RuntimeOrigin,
		RuntimeFreezeReason,
		RuntimeHoldReason,
		RuntimeSlashReason,
		RuntimeLockId,
		RuntimeTask,
		RuntimeViewFunction
	)]
	pub struct Test;

	#[runtime::pallet_index(0)]
	pub type System = frame_system;
	#[runtime::pallet_index(21)]
	pub type Submissions = pallet_submissions;
}

#[derive_impl(frame_system::config_preludes::TestDefaultConfig)]
impl frame_system::Config for Test {
	type Block = Block;
}

parameter_types! {
	/// Jobs reported as progressed, in order.
	pub static Progressed: Vec<JobId> = Vec::new();
}

pub struct Observer;
impl JobObserver for Observer {
	fn progressed(job: JobId) {
		Progressed::mutate(|jobs| jobs.push(job));
	}
}

impl pallet_submissions::Config for Test {
	type Observer = Observer;
	type WeightInfo = ();
}

/// Hash of block 0 in the tests.
pub const GENESIS: H256 = H256([0xAB; 32]);

pub fn new_test_ext() -> sp_io::TestExternalities {
	let storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	let mut ext = sp_io::TestExternalities::new(storage);
	ext.execute_with(|| {
		System::set_block_number(1);
		frame_system::BlockHash::<Test>::insert(0, GENESIS);
		Progressed::set(Vec::new());
	});
	ext
}

/// Runs `test` and checks the invariants after it.
pub fn run(test: impl FnOnce()) {
	new_test_ext().execute_with(|| {
		test();
		Submissions::do_try_state().unwrap();
	});
}

/// Segments that a result can have in the rounds of these tests.
pub const SEGMENTS: RangeInclusive<u32> = 4..=7;

/// A reveal that differs by `byte`.
pub fn reveal(byte: u8) -> Reveal {
	Reveal {
		bundle_root: H256::repeat_byte(byte),
		true_root: H256::repeat_byte(byte),
		model_root: H256::repeat_byte(byte ^ 0x55),
		segments: 7,
		diverged: false,
		location: Text::new("http://127.0.0.1:8600").unwrap(),
	}
}

/// The commitment of `who` to `reveal(byte)` with the salt of `byte`s.
pub fn commitment(job: JobId, who: AccountId, byte: u8) -> H256 {
	commitment::result(&GENESIS, job, &who, &reveal(byte).result(), &[byte; 32])
}

/// Text of raw bytes.
pub fn text(bytes: &[u8]) -> Text {
	Text(BoundedVec::<u8, ConstU32<256>>::try_from(bytes.to_vec()).unwrap())
}
