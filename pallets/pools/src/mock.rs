//! A runtime of this pallet and balances, with a fake market: tests play what it pays.

use crate as pallet_pools;
use crate::{Event, Pools as AllPools};
use frame_support::{
	derive_impl, parameter_types,
	traits::{fungible::Mutate, tokens::Preservation, ConstU128, ConstU32},
	weights::Weight,
	PalletId,
};
use sp_runtime::{traits::IdentityLookup, BuildStorage, DispatchError};
use std::collections::BTreeMap;
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	pools::{Pool, PoolId, Rules},
	reputation::{Deed, Record, Role},
	JobId,
};
use trainyard_traits::{ClaimPools, PooledClaims, Reputation};

/// Wide enough for the account of each pool.
pub type AccountId = u128;
type Block = frame_system::mocking::MockBlockU32<Test>;

/// Makes pools.
pub const MAKER: AccountId = 1;
/// Put capital in.
pub const ANNA: AccountId = 2;
pub const BERT: AccountId = 3;
/// Train.
pub const TRAINERS: [AccountId; 3] = [11, 12, 13];
/// Pays what tickets bring.
pub const MARKET: AccountId = 90;
/// Without anything.
pub const POOR: AccountId = 20;
pub const ENDOWMENT: Balance = 1_000_000;
/// Existential deposit.
pub const ED: Balance = 50;
pub const MIN: Balance = 1_000;
pub const REST: BlockNumber = 10;
/// What a claim may cost.
pub const RESERVE: Balance = 400;

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
	#[runtime::pallet_index(2)]
	pub type Balances = pallet_balances;
	#[runtime::pallet_index(34)]
	pub type Pools = pallet_pools;
}

#[derive_impl(frame_system::config_preludes::TestDefaultConfig)]
impl frame_system::Config for Test {
	type Block = Block;
	type AccountId = AccountId;
	type Lookup = IdentityLookup<AccountId>;
	type AccountData = pallet_balances::AccountData<Balance>;
}

#[derive_impl(pallet_balances::config_preludes::TestDefaultConfig)]
impl pallet_balances::Config for Test {
	type Balance = Balance;
	type ExistentialDeposit = ConstU128<ED>;
	type AccountStore = System;
}

parameter_types! {
	pub const Id: PalletId = PalletId(*b"trn/pool");
	/// Jobs of which somebody trains a replica, and what each may cost. What is not here cannot be enrolled.
	pub static Trained: BTreeMap<(JobId, AccountId), Balance> = BTreeMap::new();
	/// When jobs end.
	pub static Ends: BlockNumber = 0;
	/// Who was made the holder of what.
	pub static Held: BTreeMap<(JobId, AccountId), AccountId> = BTreeMap::new();
	/// What is known of trainers.
	pub static Known: BTreeMap<AccountId, Record> = BTreeMap::new();
}

pub struct FakeClaims;
impl PooledClaims<AccountId> for FakeClaims {
	fn enrol(
		job: JobId,
		who: &AccountId,
		pool: &AccountId,
		by: BlockNumber,
	) -> Result<Balance, DispatchError> {
		if Ends::get() > by {
			return Err(DispatchError::Other("it takes too long"));
		}
		if Held::get().contains_key(&(job, *who)) {
			return Err(DispatchError::Other("somebody else holds it"));
		}
		let reserve = Trained::get().get(&(job, *who)).copied();
		let reserve = reserve.ok_or(DispatchError::Other("nothing to enrol"))?;
		Held::mutate(|held| held.insert((job, *who), *pool));
		Ok(reserve)
	}

	fn enrol_weight() -> Weight {
		Weight::from_parts(100, 0)
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_enrollable(who: &AccountId) -> Option<JobId> {
		Trained::mutate(|all| all.insert((7, *who), RESERVE));
		Some(7)
	}
}

pub struct FakeReputation;
impl Reputation<AccountId> for FakeReputation {
	fn note(_: Role, _: &AccountId, _: Deed, _: Balance) {}
	fn record(role: Role, who: &AccountId) -> Record {
		assert_eq!(role, Role::Trainer);
		Known::get().get(who).copied().unwrap_or_default()
	}
	fn found(_: Balance) {}
	fn note_weight() -> Weight {
		Weight::zero()
	}
}

impl crate::Config for Test {
	type Currency = Balances;
	type Claims = FakeClaims;
	type Reputation = FakeReputation;
	type PalletId = Id;
	type MinStake = ConstU128<MIN>;
	type MinPeriod = ConstU32<5>;
	type MaxPeriod = ConstU32<1_000>;
	type Rest = ConstU32<REST>;
	type WeightInfo = ();
}

pub fn new_test_ext() -> sp_io::TestExternalities {
	let mut storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	let endowed = [MAKER, ANNA, BERT, MARKET].into_iter().chain(TRAINERS);
	pallet_balances::GenesisConfig::<Test> {
		balances: endowed.map(|who| (who, ENDOWMENT)).collect(),
		..Default::default()
	}
	.assimilate_storage(&mut storage)
	.unwrap();
	let mut ext = sp_io::TestExternalities::new(storage);
	ext.execute_with(|| {
		System::set_block_number(1);
		Held::set(BTreeMap::new());
		Known::set(BTreeMap::new());
		let all = (0..8).flat_map(|job| TRAINERS.map(|who| ((job, who), RESERVE)));
		Trained::set(all.collect());
	});
	ext
}

/// Runs `test`, and checks after it that the books balance: nothing is made or burned here.
pub fn run(test: impl FnOnce()) {
	new_test_ext().execute_with(|| {
		let issuance = Balances::total_issuance();
		test();
		check(issuance);
	});
}

pub fn check(issuance: Balance) {
	Pools::do_try_state().unwrap();
	assert_eq!(Balances::total_issuance(), issuance);
}

pub fn signed(who: AccountId) -> RuntimeOrigin {
	RuntimeOrigin::signed(who)
}

/// 5 % of the mean, any trainer, 100 blocks.
pub fn rules() -> Rules {
	Rules { fee: 5, standing: 0, period: 100 }
}

/// A pool of the maker with this capital.
pub fn made(stake: Balance) -> PoolId {
	let id = crate::NextPool::<Test>::get();
	Pools::create(signed(MAKER), rules(), stake).unwrap();
	id
}

/// The market settles the job of a claim that is enrolled, and pays the pool this.
pub fn settle(job: JobId, trainer: AccountId, got: Balance, mean: Option<Balance>) {
	let holder = Held::mutate(|held| held.remove(&(job, trainer))).expect("it is enrolled");
	if got > 0 {
		Balances::transfer(&MARKET, &holder, got, Preservation::Preserve).unwrap();
	}
	<Pools as ClaimPools<AccountId>>::paid(job, &trainer, got, mean);
}

pub fn pool(id: PoolId) -> Pool<AccountId> {
	AllPools::<Test>::get(id).unwrap()
}

pub fn free(who: AccountId) -> Balance {
	Balances::free_balance(who)
}

pub fn run_to(height: BlockNumber) {
	System::set_block_number(height);
}

pub fn events() -> Vec<Event<Test>> {
	let records = System::events().into_iter();
	let ours = records.filter_map(|record| match record.event {
		RuntimeEvent::Pools(event) => Some(event),
		_ => None,
	});
	ours.collect()
}
