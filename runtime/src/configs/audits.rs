//! Verifiers and audits.

use super::{market::DAYS, money::Jackpot, periods};
use crate::{
	Balance, Balances, Court, Hashrate, ModelStorage, Runtime, RuntimeHoldReason, TaskMarket, TRY,
};
use frame_support::{parameter_types, traits::ConstU32};
use sp_runtime::Permill;
use trainyard_protocol::{
	fees,
	job::BlockNumber,
	seats::{Resources, LEAST_ROOM},
};

/// Longest pause before another draw where there was no committee: about a round. Were it a day, whoever
/// keeps others busy for a moment would hold an audit up for that long.
const MAX_WAIT: BlockNumber = 160;

parameter_types! {
	/// Least bond of a verifier that enters the pool: ten seats.
	pub const MinVerifierBond: Balance = 100 * TRY;
	/// What a seat locks of a bond, and the most that can be lost in it.
	pub const SeatStake: Balance = 10 * TRY;
	/// What a machine of the smallest class has, and replays in the least time for commitments. Audits of
	/// more work have more time.
	pub const LeastRoom: Resources = LEAST_ROOM;
	/// Longer than the two periods of a verdict can be made, see [`periods`].
	pub const VerifierUnbonding: BlockNumber = 15 * DAYS;
	/// Part of the pool's weight that may come in, and that may be displaced, in a day: a sixteenth.
	pub const PoolTurnover: Permill = Permill::from_parts(62_500);
	/// What may in any case: a sixteenth of a full pool of least bonds.
	pub const FreeInflow: Balance = 16 * MinVerifierBond::get();
	/// What a seat of a relay earns for each 4 GiB: it fetches them, keeps them for hours, and serves them.
	pub const RelayFee: Balance = fees::RELAY_FEE;
	/// Part of the stake lost by a member of a committee whose verdict is false.
	pub const ContrarySlash: Permill = Permill::from_percent(100);
}

impl pallet_verification::Config for Runtime {
	type WeightInfo = pallet_verification::weights::SubstrateWeight<Runtime>;
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Beacon = Hashrate;
	type Observer = TaskMarket;
	type Court = Court;
	type Deeds = crate::reputation::Deeds;
	type Blobs = ModelStorage;
	type Chunks = crate::relay::Chunks;
	type RelayFee = RelayFee;
	type RelayHour = periods::RelayHour;
	type Jackpot = Jackpot;
	type MinBond = MinVerifierBond;
	type SeatStake = SeatStake;
	type LeastRoom = LeastRoom;
	type UnbondingBlocks = VerifierUnbonding;
	type TurnoverBlocks = ConstU32<DAYS>;
	type TurnoverShare = PoolTurnover;
	type FreeInflow = FreeInflow;
	type MaxPool = ConstU32<256>;
	type MinSeats = ConstU32<3>;
	type CommitBlocks = periods::VerdictCommitBlocks;
	type RevealBlocks = periods::VerdictRevealBlocks;
	type OpeningBlocks = periods::OpeningBlocks;
	type RelayBlocks = periods::RelayBlocks;
	type RescueBlocks = periods::RescueBlocks;
	type MaxRescue = periods::MaxRescue;
	type Specs = TaskMarket;
	type MaxWaitBlocks = ConstU32<MAX_WAIT>;
	type AbsenceFees = ConstU32<5>;
	type ContrarySlash = ContrarySlash;
	type MaxAbsences = ConstU32<3>;
}
