//! Jobs, results and models.

use super::{
	audits::RelayFee,
	money::{state_deposit, Jackpot, LengthFee},
	periods,
	system::{OrdinaryLength, MAX_BLOCK_WEIGHT},
};
use crate::{
	AccountId, Balance, Balances, Court, Hashrate, ModelStorage, Pools, Reputation, Runtime,
	RuntimeCall, RuntimeHoldReason, Submissions, System, TaskMarket, Verification, MICROUNIT,
};
use frame_support::{
	parameter_types,
	traits::{ConstU32, ConstU64, Get},
	weights::Weight,
};
use pallet_model_storage::UrgentCalls;
use sp_runtime::Perbill;
use trainyard_protocol::{
	blob, fees,
	job::{BlockNumber, MIN_AUDIT_FEE},
	price,
};

/// Blocks of a day, at 6 s each. Periods below are written in these; a chain with other
/// block times has other days.
pub const DAYS: BlockNumber = 14_400;
/// Milliseconds of a block in which periods are written.
pub const BLOCK_MS: u64 = 86_400_000 / DAYS as u64;

parameter_types! {
	/// A fifth of a block may go into serving due jobs at its beginning.
	pub ServiceWeight: Weight = Perbill::from_percent(20) * MAX_BLOCK_WEIGHT;
	/// Least deposit of a trainer, before the audit fees.
	pub const MinDeposit: Balance = fees::MIN_DEPOSIT;
	/// The most that computing counts as: 1 TRY for the work of 7 minutes on 1,000 MFLOPS.
	pub const ComputePrice: Balance = fees::COMPUTE_PRICE;
	/// Twice what a verdict with evidence costs in transaction fees.
	pub const MinAuditFee: Balance = MIN_AUDIT_FEE;
	/// Deposit for the record of a job, besides its specification.
	pub const RecordBase: Balance = state_deposit(5, 3_000);
	/// Deposit for each byte of the specification on record.
	pub const RecordByte: Balance = state_deposit(0, 1);
	/// Least blocks for applying, training, and each period that root may set.
	pub const MinPeriod: BlockNumber = 3;
	/// Most blocks for applying: a week.
	pub const MaxApplyBlocks: BlockNumber = 7 * DAYS;
	/// Most blocks for training: a quarter of a year.
	pub const MaxTrainingBlocks: BlockNumber = 90 * DAYS;
	/// Blocks between two checks for models that are still being stored.
	pub const ModelPollBlocks: BlockNumber = 2;
	/// Price of storing a byte on chain, of which seats and escrow pay half.
	pub const StorageByte: Balance = fees::STORAGE_BYTE;
	/// Blocks for which an ended job is kept: a month.
	pub const JobRetention: BlockNumber = 30 * DAYS;
}

const _: () = assert!(RecordBase::get() == fees::RECORD_BASE, "clients show another deposit");
const _: () = assert!(RecordByte::get() == fees::RECORD_BYTE, "clients show another deposit");

const _: () = assert!(LengthFee::get() < fees::STORAGE_BYTE, "storing costs more than the length");

/// What the present block mints.
pub struct PresentReward;

impl Get<Balance> for PresentReward {
	fn get() -> Balance {
		Hashrate::block_reward(System::block_number())
	}
}

const _: () = assert!(
	price::LEAST_BOUGHT / (price::WINDOW / price::DAY) as u64 == pallet_hashrate::TRAINING_FLOOR,
	"the fee falls from the volume on from which training has its whole part of the weight"
);

impl pallet_task_market::Config for Runtime {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Trainers = Hashrate;
	type Submissions = Submissions;
	type Audits = Verification;
	type Court = Court;
	type Pools = Pools;
	type Reputation = Reputation;
	type Patience = periods::Patience;
	type LateBlocks = periods::LateBlocks;
	type BlockTime = ConstU64<BLOCK_MS>;
	type Beacon = Hashrate;
	type Blobs = ModelStorage;
	type Jackpot = Jackpot;
	type ServiceWeight = ServiceWeight;
	type MinDeposit = MinDeposit;
	type BlockReward = PresentReward;
	type ComputePrice = ComputePrice;
	type MinAuditFee = MinAuditFee;
	type MaxRescue = periods::MaxRescue;
	type MaxBlob = MaxBlob;
	type RelayFee = RelayFee;
	type StorageByte = StorageByte;
	type RecordBase = RecordBase;
	type RecordByte = RecordByte;
	type MinPeriod = MinPeriod;
	type MaxApplyBlocks = MaxApplyBlocks;
	type MaxTrainingBlocks = MaxTrainingBlocks;
	type RevealBlocks = periods::RevealBlocks;
	type AuditDeadline = periods::AuditDeadline;
	type ModelPollBlocks = ModelPollBlocks;
	type RetentionBlocks = JobRetention;
	type MaxApplicants = ConstU32<64>;
	type WeightInfo = pallet_task_market::weights::SubstrateWeight<Runtime>;
}

impl pallet_reputation::Config for Runtime {
	type WeightInfo = pallet_reputation::weights::SubstrateWeight<Runtime>;
}

impl pallet_submissions::Config for Runtime {
	type Observer = TaskMarket;
	type WeightInfo = pallet_submissions::weights::SubstrateWeight<Runtime>;
}

parameter_types! {
	/// Deposit for a blob of no bytes.
	pub const BlobDepositBase: Balance = state_deposit(4, 400);
	/// A blob of 1 MiB holds about 1 TRY.
	pub const BlobDepositPerByte: Balance = MICROUNIT;
	/// The largest model that a specification may ask for (four bytes a parameter), and
	/// 1 MiB for what surrounds it.
	pub const MaxBlob: u64 = blob::MAX_BLOB;
	/// What keeping a KiB for a block of 6 s costs: 0.2 TRY for a MiB and a month, what 100 nodes pay for
	/// their disks (tools/power/storage.py).
	pub const BlobRent: Balance = 452;
	/// Blocks for storing all chunks of a blob.
	pub const UploadPeriod: BlockNumber = 600;
	/// Blocks for which a blob is kept where its owner says nothing else: a month. For so long a job's
	/// model is kept after its end.
	pub const BlobRetention: BlockNumber = 30 * DAYS;
	/// Least blocks that are paid for: a day.
	pub const BlobMinPeriod: BlockNumber = DAYS;
	/// Most blocks that are paid for in advance: a year.
	pub const BlobMaxPeriod: BlockNumber = 365 * DAYS;
	/// Blocks after its end in which a blob can be renewed or adopted: a day.
	pub const BlobGrace: BlockNumber = DAYS;
	/// Blocks after which a chunk is lost that no author showed: a day.
	pub const ChunkLostAfter: BlockNumber = DAYS;
}

impl pallet_model_storage::Config for Runtime {
	type WeightInfo = pallet_model_storage::weights::SubstrateWeight<Runtime>;
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	// The market looks for models by itself; verifiers learn of rescues by a call.
	type OnComplete = ();
	type DepositBase = BlobDepositBase;
	type DepositPerByte = BlobDepositPerByte;
	type MaxBlob = MaxBlob;
	type UploadPeriod = UploadPeriod;
	type RentPerKib = BlobRent;
	type Retention = BlobRetention;
	type MinPeriod = BlobMinPeriod;
	type MaxPeriod = BlobMaxPeriod;
	type Grace = BlobGrace;
	type LostAfter = ChunkLostAfter;
	type Entropy = pallet_hashrate::authorities::AuthorVrf<Runtime>;
	type RemoveStep = ConstU32<64>;
	type OrdinaryLength = OrdinaryLength;
	type Urgent = OpenRescues;
}

/// The calls by which a trainer announces and names a rescue of its result, while seats ask for it; and
/// the moves in disputes of whoever is to move.
pub struct OpenRescues;

impl UrgentCalls<AccountId, RuntimeCall> for OpenRescues {
	fn may_be(call: &RuntimeCall) -> bool {
		let is_rescue =
			matches!(call, RuntimeCall::Verification(pallet_verification::Call::rescue { .. }));
		is_rescue || Self::is_move(call)
	}

	fn is_move(call: &RuntimeCall) -> bool {
		use pallet_court::Call;
		use pallet_tasks::Call as TaskCall;
		match call {
			RuntimeCall::Court(call) => matches!(
				call,
				Call::challenge { .. }
					| Call::post { .. }
					| Call::open { .. }
					| Call::deny { .. }
					| Call::judge { .. }
					| Call::show { .. }
			),
			RuntimeCall::Tasks(call) => matches!(
				call,
				TaskCall::seal { .. }
					| TaskCall::challenge { .. }
					| TaskCall::show { .. }
					| TaskCall::execute { .. }
					| TaskCall::refute { .. }
			),
			_ => false,
		}
	}

	fn is_urgent(who: &AccountId, call: &RuntimeCall) -> bool {
		match call {
			RuntimeCall::Court(call) => return Court::is_urgent(who, call),
			RuntimeCall::Tasks(call) => return crate::Tasks::is_urgent(who, call),
			_ => {}
		}
		let RuntimeCall::Verification(pallet_verification::Call::rescue { job, group, .. }) = call
		else {
			return false;
		};
		Verification::awaits_answer(*job, *group, who)
	}
}
