//! A runtime of this pallet alone. Tests say who is an authority, and who makes the present block.

use crate as pallet_finality;
use frame_support::{derive_impl, parameter_types, traits::ConstU32};
use sp_runtime::BuildStorage;
use trainyard_protocol::job::BlockNumber;
use trainyard_traits::SessionWeights;

type Block = frame_system::mocking::MockBlockU32<Test>;

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
	#[runtime::pallet_index(27)]
	pub type Finality = pallet_finality;
}

#[derive_impl(frame_system::config_preludes::TestDefaultConfig)]
impl frame_system::Config for Test {
	type Block = Block;
}

parameter_types! {
	/// Authorities of the running session and their weights.
	pub static Weights: Vec<(u64, u64)> = Vec::new();
	/// Who makes the present block.
	pub static Author: Option<u64> = None;
}

pub struct Authorities;
impl SessionWeights<u64> for Authorities {
	fn weights() -> Vec<(u64, u64)> {
		Weights::get()
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_authorities(count: u32) -> Vec<u64> {
		Weights::set((1..=u64::from(count)).map(|who| (who, 10 + who)).collect());
		(1..=u64::from(count)).collect()
	}
}

impl pallet_finality::Config for Test {
	type Authorities = Authorities;
	type Author = Author;
	type MaxAuthorities = ConstU32<5>;
	type WeightInfo = ();
}

pub fn new_test_ext() -> sp_io::TestExternalities {
	let storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	let mut ext = sp_io::TestExternalities::new(storage);
	ext.execute_with(|| System::set_block_number(1));
	ext
}

/// Runs `test` where these are authorities, and checks the invariants after it.
pub fn run(weights: &[(u64, u64)], test: impl FnOnce()) {
	Weights::set(weights.to_vec());
	Author::set(None);
	new_test_ext().execute_with(|| {
		test();
		Finality::do_try_state().unwrap();
	});
}

/// The block of height `number`, by `author`, in which nothing was said yet.
pub fn block(number: BlockNumber, author: u64) {
	System::set_block_number(number);
	Author::set(Some(author));
}

/// The same, and its author says that `height` is final.
pub fn says(number: BlockNumber, author: u64, height: BlockNumber) {
	block(number, author);
	Finality::note_final(RuntimeOrigin::none(), height).unwrap();
	Finality::do_try_state().unwrap();
}
