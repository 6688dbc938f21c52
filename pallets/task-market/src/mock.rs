//! A runtime of this pallet and balances, with fakes for everything behind a trait: tests
//! play trainers, verifiers and randomness by their helpers.

mod fakes;
mod play;

pub use fakes::*;
pub use play::*;

use crate as pallet_task_market;
use crate::{Config, Due, Job, Jobs, TotalBurned};
use frame_support::{
	assert_ok, derive_impl, parameter_types,
	traits::{fungible::InspectHold, ConstU128, ConstU32, ConstU64, Hooks},
	weights::Weight,
};
use sp_runtime::{BuildStorage, DispatchError, DispatchResult};
use std::{
	collections::{BTreeMap, BTreeSet},
	ops::RangeInclusive,
};
use trainyard_program::{
	needs::MachineClass,
	spec::{CheckedSpec, EarlyStop, JobSpec},
};
use trainyard_protocol::{
	audit::Decision,
	claims,
	job::{Balance, JobState, Reveal, Terms, WorkResult},
	price::LEAST_BOUGHT,
	reputation::{Deed, Record, Role},
	JobId, MicroUt, Text, H256,
};
use trainyard_traits as traits;
use trainyard_traits::{AuditRequest, AuditStatus, CommitteeRequest, JobObserver, Outcome, Seed};

pub type AccountId = u64;
type Block = frame_system::mocking::MockBlockU32<Test>;

/// Posts jobs.
pub const SUBMITTER: AccountId = 1;
/// Posts jobs too.
pub const OTHER: AccountId = 2;
/// Trainers, registered with equal bonds.
pub const TRAINERS: [AccountId; 5] = [11, 12, 13, 14, 15];
/// Verifiers; the market knows them from what audits report.
pub const VERIFIERS: [AccountId; 3] = [21, 22, 23];
/// Receives what belongs to nobody.
pub const JACKPOT: AccountId = 99;
/// What every account but the jackpot starts with.
pub const ENDOWMENT: Balance = 1_000_000_000_000_000;
/// Existential deposit.
pub const ED: Balance = 1_000;
/// Blocks after which a fake audit that nobody decided gives up.
pub const AUDIT_BLOCKS: u32 = 40;
/// Blocks for which an audit waits for verifiers.
pub const AUDIT_DEADLINE: u32 = 60;

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
	#[runtime::pallet_index(20)]
	pub type TaskMarket = pallet_task_market;
}

#[derive_impl(frame_system::config_preludes::TestDefaultConfig)]
impl frame_system::Config for Test {
	type Block = Block;
	type AccountData = pallet_balances::AccountData<Balance>;
}

#[derive_impl(pallet_balances::config_preludes::TestDefaultConfig)]
impl pallet_balances::Config for Test {
	type Balance = Balance;
	type ExistentialDeposit = ConstU128<ED>;
	type AccountStore = System;
}

parameter_types! {
	/// Bonds of the registered trainers.
	pub static Bonds: BTreeMap<AccountId, Balance> = BTreeMap::new();
	/// Power credited, in order.
	pub static Credited: Vec<(AccountId, MicroUt)> = Vec::new();
	/// The least fee of a verifier.
	pub static MinAuditFee: Balance = 2_500;
	/// Blocks between two draw heights.
	pub static SeedStep: u32 = 1;
	/// How many more times the beacon has lost a seed.
	pub static LostSeeds: u32 = 0;
	pub static Rounds: BTreeMap<JobId, FakeRound> = BTreeMap::new();
	pub static AuditBook: BTreeMap<JobId, FakeAudit> = BTreeMap::new();
	/// Models that are awaited, with the number of reveals that name them.
	pub static Expected: BTreeMap<H256, u32> = BTreeMap::new();
	/// Models that were let go, and for whom they are kept.
	pub static Kept: Vec<(H256, Vec<AccountId>)> = Vec::new();
	/// Blocks without room for another chunk.
	pub static FullBlocks: u32 = 0;
	/// Models that are not stored completely.
	pub static MissingModels: BTreeSet<H256> = BTreeSet::new();
	pub static RefuseRounds: bool = false;
	pub static RefuseAudits: bool = false;
	pub static ServiceWeight: Weight = Weight::MAX;
	pub static MaxRescue: u64 = 1 << 30;
	pub static MaxBlob: u64 = 1 << 32;
	/// What a seat of a relay earns. Nothing, but where a test is about it.
	pub static RelayFee: Balance = 0;
	/// There are no verifiers: audits wait until somebody gives them up.
	pub static NoVerifiers: bool = false;
	/// Whether a committee could be drawn for what is posted, and what was asked last.
	pub static CanSeat: bool = true;
	pub static Asked: Option<CommitteeRequest<AccountId>> = None;
	/// A committee sits, which nobody ends but itself.
	pub static CommitteeSits: bool = false;
	/// Price of storing a byte. Nothing, but where a test is about it.
	pub static StorageByte: Balance = 0;
	/// Deposits for records. Nothing, but where a test is about them.
	pub static RecordBase: Balance = 0;
	pub static RecordByte: Balance = 0;
	/// What a block mints. As it is, the fee for a `ut` in an empty market is 1,000,000 units.
	pub static BlockReward: Balance = 2_314_814;
	/// Among how much training power, micro-ut a day, six tenths of all blocks are shared out. As it is, power
	/// is worth four times the fee in an empty market.
	pub static TrainingVolume: MicroUt = LEAST_BOUGHT / 10;
	/// For how long machines may be away.
	pub static Patience: u32 = 0;
	/// For how long accepted results can be challenged after the settlement.
	pub static LateBlocks: u32 = 0;
	/// Disputes that run, as the fake court says, and when the last one ended.
	pub static Disputes: u32 = 0;
	pub static DisputeEnded: Option<u32> = None;
	/// What pools were told: job, trainer, what was paid, and the mean.
	pub static Told: Vec<(JobId, AccountId, Balance, Option<Balance>)> = Vec::new();
	/// How far audits are, as they say what is known: round, whether results stand, and what was asked for; none while
	/// there is news to come.
	pub static News: Option<(u32, bool, u32)> = Some((0, false, 0));
	/// For how many segments a lottery pays, where that is known.
	pub static TicketsOf: Option<u32> = None;
	/// Power that was taken back, in order: whose, how much, and when it was credited.
	pub static Revoked: Vec<(AccountId, MicroUt, u64)> = Vec::new();
	/// What challengers lost to each trainer, as the fake court says.
	pub static Won: Balance = 0;
	/// Whom the court was told to be acquitted or not, in order.
	pub static Acquittals: Vec<(AccountId, bool)> = Vec::new();
	/// Jobs of which the court was told that what seats revealed is final, in order.
	pub static AcquittedSeats: Vec<JobId> = Vec::new();
	/// Jobs of which the court was told to forget what was said, in order.
	pub static ForgottenDisputes: Vec<JobId> = Vec::new();
}

parameter_types! {
	pub const Jackpot: AccountId = JACKPOT;
}

impl Config for Test {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Trainers = FakeTrainers;
	type Submissions = FakeSubmissions;
	type Audits = FakeAudits;
	type Court = FakeCourt;
	type Pools = FakePools;
	type Reputation = FakeReputation;
	type Patience = Patience;
	type LateBlocks = LateBlocks;
	type BlockTime = ConstU64<6_000>;
	type Beacon = FakeBeacon;
	type Blobs = FakeBlobs;
	type Jackpot = Jackpot;
	type ServiceWeight = ServiceWeight;
	type MinDeposit = ConstU128<50_000>;
	type BlockReward = BlockReward;
	type ComputePrice = ConstU128<1_000_000>;
	type MinAuditFee = MinAuditFee;
	type StorageByte = StorageByte;
	type MaxRescue = MaxRescue;
	type MaxBlob = MaxBlob;
	type RelayFee = RelayFee;
	type RecordBase = RecordBase;
	type RecordByte = RecordByte;
	type MinPeriod = ConstU32<2>;
	type MaxApplyBlocks = ConstU32<200>;
	type MaxTrainingBlocks = ConstU32<50>;
	type RevealBlocks = ConstU32<15>;
	type AuditDeadline = ConstU32<AUDIT_DEADLINE>;
	type ModelPollBlocks = ConstU32<3>;
	type RetentionBlocks = ConstU32<25>;
	type MaxApplicants = ConstU32<8>;
	type WeightInfo = ();
}

pub fn new_test_ext() -> sp_io::TestExternalities {
	let mut storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	let endowed = [SUBMITTER, OTHER].into_iter().chain(TRAINERS).chain(VERIFIERS);
	pallet_balances::GenesisConfig::<Test> {
		balances: endowed.map(|who| (who, ENDOWMENT)).collect(),
		..Default::default()
	}
	.assimilate_storage(&mut storage)
	.unwrap();
	let mut ext = sp_io::TestExternalities::new(storage);
	ext.execute_with(|| {
		Bonds::set(TRAINERS.iter().map(|t| (*t, 1_000)).collect());
		Credited::set(Vec::new());
		LostSeeds::set(0);
		SeedStep::set(1);
		MinAuditFee::set(2_500);
		Expected::set(BTreeMap::new());
		Kept::set(Vec::new());
		FullBlocks::set(0);
		Rounds::set(BTreeMap::new());
		AuditBook::set(BTreeMap::new());
		MissingModels::set(BTreeSet::new());
		RefuseRounds::set(false);
		RefuseAudits::set(false);
		ServiceWeight::set(Weight::MAX);
		MaxRescue::set(1 << 30);
		MaxBlob::set(1 << 32);
		RelayFee::set(0);
		NoVerifiers::set(false);
		CanSeat::set(true);
		Asked::set(None);
		CommitteeSits::set(false);
		StorageByte::set(0);
		RecordBase::set(0);
		RecordByte::set(0);
		BlockReward::set(2_314_814);
		TrainingVolume::set(LEAST_BOUGHT / 10);
		Patience::set(0);
		LateBlocks::set(0);
		Disputes::set(0);
		DisputeEnded::set(None);
		Told::set(Vec::new());
		News::set(Some((0, false, 0)));
		TicketsOf::set(None);
		Revoked::set(Vec::new());
		Won::set(0);
		Acquittals::set(Vec::new());
		AcquittedSeats::set(Vec::new());
		ForgottenDisputes::set(Vec::new());
		Noted::set(Vec::new());
		Known::set(BTreeMap::new());
		FoundPrizes::set(0);
		System::set_block_number(1);
		TaskMarket::on_initialize(1);
	});
	ext
}

/// Runs `test` and checks after it that the books balance.
pub fn run<R>(test: impl FnOnce() -> R) -> R {
	new_test_ext().execute_with(|| {
		let issuance = Balances::total_issuance();
		let result = test();
		check(issuance);
		result
	})
}

/// The invariants: storage is consistent, and of the issuance at the beginning nothing is
/// missing but what was burned.
pub fn check(issuance: Balance) {
	TaskMarket::do_try_state().unwrap();
	assert_eq!(Balances::total_issuance() + TotalBurned::<Test>::get(), issuance);
	let sum: Balance =
		frame_system::Account::<Test>::iter_values().map(|a| a.data.free + a.data.reserved).sum();
	assert_eq!(Balances::total_issuance(), sum);
}

/// Begins the next block; returns what serving the agenda weighed.
pub fn next_block() -> Weight {
	let next = System::block_number() + 1;
	System::set_block_number(next);
	TaskMarket::on_initialize(next)
}

/// Begins blocks up to height `n`.
pub fn run_to(n: u32) {
	while TaskMarket::now() < n {
		next_block();
		TaskMarket::do_try_state().unwrap();
	}
}
