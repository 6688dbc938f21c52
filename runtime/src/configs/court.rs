//! Disputes.

use super::{money::Jackpot, system::MAX_BLOCK_WEIGHT};
use crate::{
	court::{Defendants, MovesRoom},
	Balances, Runtime, RuntimeHoldReason, Verification,
};
use frame_support::{parameter_types, traits::ConstU32, weights::Weight};
use sp_runtime::Perbill;
use trainyard_protocol::court::REVEAL_TICKS;

parameter_types! {
	/// A twentieth of a block may go into clocks that ran out.
	pub CourtWeight: Weight = Perbill::from_percent(5) * MAX_BLOCK_WEIGHT;
}

impl pallet_court::Config for Runtime {
	type WeightInfo = pallet_court::weights::SubstrateWeight<Runtime>;
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Accused = Defendants;
	type Deeds = crate::reputation::Deeds;
	type Stakes = Verification;
	type Room = MovesRoom;
	type Jackpot = Jackpot;
	type RevealBlocks = ConstU32<REVEAL_TICKS>;
	type ServiceWeight = CourtWeight;
}
