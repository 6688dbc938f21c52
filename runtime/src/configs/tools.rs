//! Calls around calls: sudo, batches, proxies.

use super::money::state_deposit;
use crate::{Balance, Balances, OriginCaller, Runtime, RuntimeCall, RuntimeEvent, System};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{
	parameter_types,
	traits::{ConstU32, InstanceFilter},
};
use scale_info::TypeInfo;
use sp_runtime::traits::BlakeTwo256;

/// Only the presets for development and local networks name a sudo account; without one
/// nobody can call it.
impl pallet_sudo::Config for Runtime {
	type RuntimeEvent = RuntimeEvent;
	type RuntimeCall = RuntimeCall;
	type WeightInfo = pallet_sudo::weights::SubstrateWeight<Runtime>;
}

impl pallet_utility::Config for Runtime {
	type RuntimeEvent = RuntimeEvent;
	type RuntimeCall = RuntimeCall;
	type PalletsOrigin = OriginCaller;
	type WeightInfo = pallet_utility::weights::SubstrateWeight<Runtime>;
}

parameter_types! {
	/// Deposit of an account that has proxies,
	pub const ProxyDepositBase: Balance = state_deposit(1, 8);
	/// and for each of them.
	pub const ProxyDepositFactor: Balance = state_deposit(0, 33);
	/// Deposit of a proxy that announces calls,
	pub const AnnouncementDepositBase: Balance = state_deposit(1, 16);
	/// and for each of them.
	pub const AnnouncementDepositFactor: Balance = state_deposit(0, 68);
}

impl pallet_proxy::Config for Runtime {
	type RuntimeEvent = RuntimeEvent;
	type RuntimeCall = RuntimeCall;
	type Currency = Balances;
	type ProxyType = ProxyType;
	type ProxyDepositBase = ProxyDepositBase;
	type ProxyDepositFactor = ProxyDepositFactor;
	type MaxProxies = ConstU32<32>;
	type WeightInfo = pallet_proxy::weights::SubstrateWeight<Runtime>;
	type MaxPending = ConstU32<32>;
	type CallHasher = BlakeTwo256;
	type AnnouncementDepositBase = AnnouncementDepositBase;
	type AnnouncementDepositFactor = AnnouncementDepositFactor;
	type BlockNumberProvider = System;
}

/// What a proxy may do for its account.
#[derive(
	Clone,
	Copy,
	Debug,
	Default,
	PartialEq,
	Eq,
	PartialOrd,
	Ord,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub enum ProxyType {
	/// Everything.
	#[default]
	Any,
	/// A worker's errands: jobs, results, models, verdicts, but no money sent and no bond touched.
	/// It lets a daemon work with a key that cannot empty the account.
	Worker,
}

impl InstanceFilter<RuntimeCall> for ProxyType {
	fn filter(&self, call: &RuntimeCall) -> bool {
		match self {
			ProxyType::Any => true,
			ProxyType::Worker => match call {
				// `order` and `submit_job` spend the account's money on others' work; who sells a claim gives pay away.
				RuntimeCall::TaskMarket(call) => !matches!(
					call,
					pallet_task_market::Call::submit_job { .. }
						| pallet_task_market::Call::order { .. }
						| pallet_task_market::Call::agree { .. }
						| pallet_task_market::Call::offer_claim { .. }
						| pallet_task_market::Call::buy_claim { .. }
				),
				RuntimeCall::Submissions(_) => true,
				RuntimeCall::Reputation(pallet_reputation::Call::watch {}) => true,
				// Applications and challenges put a deposit at stake, as for jobs; `post` spends on others' work.
				RuntimeCall::Tasks(call) => !matches!(
					call,
					pallet_tasks::Call::post { .. } | pallet_tasks::Call::cancel { .. }
				),
				// Time that is paid for is gone, so for longer than jobs need the owner pays itself.
				RuntimeCall::ModelStorage(call) => {
					use pallet_model_storage::Call;
					matches!(
						call,
						Call::register { period: None, .. }
							| Call::register_version { period: None, .. }
							| Call::upload_chunk { .. }
							| Call::reuse_chunk { .. }
							| Call::remove { .. }
					)
				}
				RuntimeCall::Verification(call) => !matches!(
					call,
					pallet_verification::Call::register { .. }
						| pallet_verification::Call::bond_extra { .. }
						| pallet_verification::Call::deregister { .. }
						| pallet_verification::Call::withdraw { .. }
						// No role asks for relays by itself, and what they cost does not all return.
						| pallet_verification::Call::request_relay { .. }
						| pallet_verification::Call::appeal { .. }
						| pallet_verification::Call::ask_seats { .. }
				),
				// An accusation has a deposit as an application has. More is not put at stake, and
				// nothing given up.
				RuntimeCall::Court(call) => !matches!(
					call,
					pallet_court::Call::raise { .. } | pallet_court::Call::withdraw { .. }
				),
				// A project puts a deposit at stake.
				RuntimeCall::Drilling(call) => !matches!(
					call,
					pallet_drilling::Call::propose { .. }
						| pallet_drilling::Call::withdraw_project { .. }
				),
				// A stint has a deposit, which returns, and reports pay for their checks.
				RuntimeCall::Stints(_) => true,
				RuntimeCall::Utility(
					pallet_utility::Call::batch { .. }
					| pallet_utility::Call::batch_all { .. }
					| pallet_utility::Call::force_batch { .. },
				) => true,
				_ => false,
			},
		}
	}

	fn is_superset(&self, other: &Self) -> bool {
		self == &ProxyType::Any || self == other
	}
}
