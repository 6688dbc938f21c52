//! Jobs, results and models.

use super::{
	money::{state_deposit, Jackpot},
	system::MAX_BLOCK_WEIGHT,
};
use crate::{
	Balance, Balances, Hashrate, ModelStorage, Runtime, RuntimeHoldReason, Submissions, TaskMarket,
	Verification, MICROUNIT, MILLIUNIT, UNIT,
};
use frame_support::{parameter_types, traits::ConstU32, weights::Weight};
use sp_runtime::Perbill;
use trainyard_primitives::{job::BlockNumber, spec::MAX_PARAMETERS};

/// Blocks of a day, at 6 s each. Periods below are written in these; a chain with other
/// block times has other days.
pub const DAYS: BlockNumber = 14_400;

parameter_types! {
	/// A fifth of a block may go into serving due jobs at its beginning.
	pub ServiceWeight: Weight = Perbill::from_percent(20) * MAX_BLOCK_WEIGHT;
	pub const MinDeposit: Balance = UNIT;
	/// The floor price of power: 1 TRY for the work of 7 minutes on 1,000 MFLOPS.
	pub const FeePerUt: Balance = UNIT;
	/// Pays for a verifier's two transactions, several times over.
	pub const MinAuditFee: Balance = 50 * MILLIUNIT;
	pub const MinPeriod: BlockNumber = 3;
	pub const MaxApplyBlocks: BlockNumber = 7 * DAYS;
	pub const MaxTrainingBlocks: BlockNumber = 90 * DAYS;
	/// The largest model there can be (1 GiB, three chunks a block) takes 342 blocks.
	pub const RevealBlocks: BlockNumber = 600;
	pub const ModelPollBlocks: BlockNumber = 2;
	pub const JobRetention: BlockNumber = 30 * DAYS;
}

impl pallet_task_market::Config for Runtime {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Trainers = Hashrate;
	type Submissions = Submissions;
	type Audits = Verification;
	type Beacon = Hashrate;
	type Blobs = ModelStorage;
	type Jackpot = Jackpot;
	type ServiceWeight = ServiceWeight;
	type MinDeposit = MinDeposit;
	type FeePerUt = FeePerUt;
	type MinAuditFee = MinAuditFee;
	type MinPeriod = MinPeriod;
	type MaxApplyBlocks = MaxApplyBlocks;
	type MaxTrainingBlocks = MaxTrainingBlocks;
	type RevealBlocks = RevealBlocks;
	type ModelPollBlocks = ModelPollBlocks;
	type RetentionBlocks = JobRetention;
	type MaxApplicants = ConstU32<64>;
	type WeightInfo = pallet_task_market::weights::SubstrateWeight<Runtime>;
}

impl pallet_submissions::Config for Runtime {
	type Observer = TaskMarket;
	type WeightInfo = pallet_submissions::weights::SubstrateWeight<Runtime>;
}

parameter_types! {
	pub const BlobDepositBase: Balance = state_deposit(2, 200);
	/// A blob of 1 MiB holds about 1 TRY.
	pub const BlobDepositPerByte: Balance = MICROUNIT;
	/// The largest model that a specification may ask for (four bytes a parameter), and
	/// 1 MiB for what surrounds it.
	pub const MaxBlob: u64 = 4 * MAX_PARAMETERS + 1024 * 1024;
	pub const UploadPeriod: BlockNumber = 600;
	pub const BlobRetention: BlockNumber = 30 * DAYS;
	pub const BlobGrace: BlockNumber = DAYS;
}

impl pallet_model_storage::Config for Runtime {
	type WeightInfo = pallet_model_storage::weights::SubstrateWeight<Runtime>;
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	// The market looks for models by itself; verifiers are told of rescues by a call.
	type OnComplete = ();
	type DepositBase = BlobDepositBase;
	type DepositPerByte = BlobDepositPerByte;
	type MaxBlob = MaxBlob;
	type UploadPeriod = UploadPeriod;
	type Retention = BlobRetention;
	type Grace = BlobGrace;
	type RemoveStep = ConstU32<64>;
}
