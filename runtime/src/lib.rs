//! The Trainyard runtime: wiring only. What the chain does is in the pallets; here they
//! meet.
//!
//! - [`configs`] has one file for each subject;
//! - [`apis`] answers nodes and clients, [`api`] declares our own API and `views` composes what
//!   it returns;
//! - [`court`] says whom the court accuses;
//! - [`presets`] are the genesis states that come with the runtime.
//!
//! # Versions
//!
//! A runtime that is on a chain is never changed without a higher `spec_version`: nodes and clients
//! know a runtime by it. `transaction_version` rises when the bytes of an existing call or of the
//! transaction extensions change (an index, an argument, a type): an old signed transaction must
//! not mean something else. `impl_version` is for rebuilds that behave the same. The tests in
//! `tests/runtime/layout.rs` freeze the indices: whoever changes one of them there changes the
//! versions here. `PROTOCOL_VERSION` in `trainyard-protocol` is what workers compare.

#![cfg_attr(not(feature = "std"), no_std)]
// What the macros of the SDK and the build of the wasm generate has no docs.
#![allow(missing_docs)]
// The macros make one large enum of all calls.
#![recursion_limit = "256"]
#![cfg_attr(
	not(any(test, feature = "runtime-benchmarks", feature = "try-runtime")),
	deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

#[cfg(feature = "std")]
include!(concat!(env!("OUT_DIR"), "/wasm_binary.rs"));

extern crate alloc;

pub mod api;
pub mod apis;
pub mod bets;
pub mod configs;
pub mod court;
pub mod presets;
pub mod relay;
pub mod reputation;
mod tasks;
mod views;

use alloc::{borrow::Cow, vec::Vec};
use sp_runtime::{
	generic,
	traits::{BlakeTwo256, IdentifyAccount, Verify},
	MultiAddress, MultiSignature,
};
use sp_version::RuntimeVersion;

pub use configs::session::SessionKeys;
pub use pallet_finality::INHERENT_IDENTIFIER as FINALITY_INHERENT;
pub use pallet_model_storage::INHERENT_IDENTIFIER as RETENTION_INHERENT;

/// Any of the signature schemes that accounts may use.
pub type Signature = MultiSignature;
/// Accounts: the public key, or its hash.
pub type AccountId = <<Signature as Verify>::Signer as IdentifyAccount>::AccountId;
/// Amounts of currency, in units of 10^-12 TRY.
pub type Balance = trainyard_protocol::job::Balance;
/// Transactions of an account so far.
pub type Nonce = u32;
/// Hashes of blocks, transactions and state.
pub type Hash = sp_core::H256;
/// Heights.
pub type BlockNumber = trainyard_protocol::job::BlockNumber;
/// Accounts as transactions name them.
pub type Address = MultiAddress<AccountId, ()>;
/// Block headers.
pub type Header = generic::Header<BlockNumber, BlakeTwo256>;
/// Blocks.
pub type Block = generic::Block<Header, UncheckedExtrinsic>;

/// What accompanies a transaction and is checked before its call runs.
pub type TxExtension = (
	frame_system::CheckNonZeroSender<Runtime>,
	frame_system::CheckSpecVersion<Runtime>,
	frame_system::CheckTxVersion<Runtime>,
	frame_system::CheckGenesis<Runtime>,
	frame_system::CheckEra<Runtime>,
	frame_system::CheckNonce<Runtime>,
	frame_system::CheckWeight<Runtime>,
	configs::fees::ChargeFees,
	pallet_model_storage::DirectUpload<Runtime>,
	frame_system::WeightReclaim<Runtime>,
);

/// Transactions as they travel.
pub type UncheckedExtrinsic =
	generic::UncheckedExtrinsic<Address, RuntimeCall, Signature, TxExtension>;
/// What a transaction's signature covers.
pub type SignedPayload = generic::SignedPayload<RuntimeCall, TxExtension>;

/// Executes blocks.
pub type Executive = frame_executive::Executive<
	Runtime,
	Block,
	frame_system::ChainContext<Runtime>,
	Runtime,
	AllPalletsWithSystem,
>;

/// Blocks as the node sees them: transactions are bytes to it.
pub mod opaque {
	use super::*;
	pub use sp_runtime::OpaqueExtrinsic as UncheckedExtrinsic;

	/// Block headers.
	pub type Header = super::Header;
	/// Blocks.
	pub type Block = generic::Block<Header, UncheckedExtrinsic>;
	/// Numbers blocks.
	pub type BlockId = generic::BlockId<Block>;
}

/// Name of the currency.
pub const TOKEN_SYMBOL: &str = "TRY";
/// Decimals of the currency.
pub const TOKEN_DECIMALS: u8 = 12;
/// Prefix of addresses: 42, the one of networks that have none of their own.
pub const SS58_PREFIX: u16 = 42;

/// One TRY.
pub const TRY: Balance = 1_000_000_000_000;
/// One thousandth of a TRY.
pub const MILLIUNIT: Balance = TRY / 1_000;
/// One millionth of a TRY.
pub const MICROUNIT: Balance = MILLIUNIT / 1_000;
/// Least balance that keeps an account in the state.
pub const EXISTENTIAL_DEPOSIT: Balance = MILLIUNIT;

/// Version of this runtime; for what raises which number see the crate's documentation.
#[sp_version::runtime_version]
pub const VERSION: RuntimeVersion = RuntimeVersion {
	spec_name: Cow::Borrowed("trainyard"),
	impl_name: Cow::Borrowed("trainyard"),
	authoring_version: 1,
	spec_version: 27,
	impl_version: 0,
	apis: apis::RUNTIME_API_VERSIONS,
	transaction_version: 17,
	system_version: 1,
};

/// The pallets. Indices are part of every encoded call, event and error; `Hashrate` comes
/// before `Babe` and `Session`, whose genesis reads what it wrote.
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
	pub struct Runtime;

	#[runtime::pallet_index(0)]
	pub type System = frame_system;

	#[runtime::pallet_index(1)]
	pub type Timestamp = pallet_timestamp;

	#[runtime::pallet_index(2)]
	pub type Balances = pallet_balances;

	#[runtime::pallet_index(3)]
	pub type TransactionPayment = pallet_transaction_payment;

	#[runtime::pallet_index(4)]
	pub type Hashrate = pallet_hashrate;

	#[runtime::pallet_index(5)]
	pub type Babe = pallet_babe;

	#[runtime::pallet_index(6)]
	pub type Grandpa = pallet_grandpa;

	#[runtime::pallet_index(7)]
	pub type Authorship = pallet_authorship;

	#[runtime::pallet_index(8)]
	pub type Session = pallet_session;

	#[runtime::pallet_index(9)]
	pub type Sudo = pallet_sudo;

	#[runtime::pallet_index(10)]
	pub type Utility = pallet_utility;

	#[runtime::pallet_index(11)]
	pub type Proxy = pallet_proxy;

	#[runtime::pallet_index(12)]
	pub type Parameters = pallet_parameters;

	#[runtime::pallet_index(20)]
	pub type TaskMarket = pallet_task_market;

	#[runtime::pallet_index(21)]
	pub type Submissions = pallet_submissions;

	#[runtime::pallet_index(22)]
	pub type ModelStorage = pallet_model_storage;

	#[runtime::pallet_index(23)]
	pub type Verification = pallet_verification;

	#[runtime::pallet_index(24)]
	pub type Drilling = pallet_drilling;

	#[runtime::pallet_index(25)]
	pub type Court = pallet_court;

	#[runtime::pallet_index(26)]
	pub type Stints = pallet_stints;

	#[runtime::pallet_index(27)]
	pub type Finality = pallet_finality;

	#[runtime::pallet_index(28)]
	pub type Federation = pallet_federation;

	#[runtime::pallet_index(29)]
	pub type Swarm = pallet_swarm;

	#[runtime::pallet_index(30)]
	pub type Tasks = pallet_tasks;

	#[runtime::pallet_index(31)]
	pub type Reputation = pallet_reputation;

	#[runtime::pallet_index(32)]
	pub type Sets = pallet_sets;

	#[runtime::pallet_index(33)]
	pub type Bets = pallet_bets;

	#[runtime::pallet_index(34)]
	pub type Pools = pallet_pools;
}
