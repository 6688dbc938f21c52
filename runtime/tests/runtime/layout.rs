//! Freezes what encoded transactions, events and stored keys are made of. Whoever must
//! change a line here raises `spec_version` and, where calls or extensions change,
//! `transaction_version`.

use codec::Encode;
use frame_support::traits::{GetCallIndex, GetCallName, PalletsInfoAccess};
use sp_keyring::{Ed25519Keyring, Sr25519Keyring};
use sp_runtime::traits::TransactionExtension;
use trainyard_protocol::H256;
use trainyard_runtime::*;

#[test]
fn pallet_indices() {
	let pallets: Vec<(usize, &str)> =
		AllPalletsWithSystem::infos().into_iter().map(|info| (info.index, info.name)).collect();
	assert_eq!(
		pallets,
		[
			(0, "System"),
			(1, "Timestamp"),
			(2, "Balances"),
			(3, "TransactionPayment"),
			(4, "Hashrate"),
			(5, "Babe"),
			(6, "Grandpa"),
			(7, "Authorship"),
			(8, "Session"),
			(9, "Sudo"),
			(10, "Utility"),
			(11, "Proxy"),
			(12, "Parameters"),
			(20, "TaskMarket"),
			(21, "Submissions"),
			(22, "ModelStorage"),
			(23, "Verification"),
			(24, "Drilling"),
			(25, "Court"),
			(26, "Stints"),
			(27, "Finality"),
			(28, "Federation"),
			(29, "Swarm"),
			(30, "Tasks"),
			(31, "Reputation"),
			(32, "Sets"),
			(33, "Bets"),
			(34, "Pools"),
		]
	);
}

/// Names of a pallet's calls in the order of their indices, which must be 0, 1, 2, …
fn calls<C: GetCallIndex + GetCallName>() -> Vec<&'static str> {
	let mut calls: Vec<(u8, &str)> =
		C::get_call_indices().iter().copied().zip(C::get_call_names().iter().copied()).collect();
	calls.sort();
	for (expected, (index, name)) in calls.iter().enumerate() {
		assert_eq!(usize::from(*index), expected, "{name}");
	}
	calls.into_iter().map(|(_, name)| name).collect()
}

#[test]
fn call_indices() {
	assert_eq!(
		calls::<pallet_hashrate::Call<Runtime>>(),
		[
			"register",
			"bond_extra",
			"update_hardware",
			"set_candidate",
			"deregister",
			"withdraw",
			"purge_keys"
		]
	);
	assert_eq!(
		calls::<pallet_task_market::Call<Runtime>>(),
		[
			"submit_job",
			"order",
			"apply",
			"cancel",
			"poke",
			"agree",
			"post_listing",
			"remove_listing",
			"forget",
			"offer_claim",
			"buy_claim"
		]
	);
	assert_eq!(calls::<pallet_submissions::Call<Runtime>>(), ["commit", "reveal"]);
	assert_eq!(
		calls::<pallet_model_storage::Call<Runtime>>(),
		[
			"register",
			"upload_chunk",
			"renew",
			"remove",
			"adopt",
			"prove",
			"reuse_chunk",
			"register_version"
		]
	);
	assert_eq!(
		calls::<pallet_verification::Call<Runtime>>(),
		[
			"register",
			"deregister",
			"withdraw",
			"commit",
			"reveal",
			"rescue",
			"bond_extra",
			"set_capacity",
			"resume",
			"request",
			"withdraw_request",
			"set_location",
			"set_vrf_key",
			"accuse",
			"request_relay",
			"say",
			"show_chunk",
			"ask_seats",
			"appeal",
			"open_forced",
		]
	);
	assert_eq!(
		calls::<pallet_drilling::Call<Runtime>>(),
		[
			"propose",
			"vote",
			"enlist",
			"retire",
			"commit",
			"reveal",
			"check",
			"check_reveal",
			"withdraw_project",
			"clear",
			"choose",
			"decline",
			"recall"
		]
	);
	assert_eq!(
		calls::<pallet_stints::Call<Runtime>>(),
		["begin", "retire", "report", "check", "open", "check_reveal"]
	);
	assert_eq!(calls::<pallet_finality::Call<Runtime>>(), ["note_final", "declare_final"]);
	assert_eq!(calls::<pallet_reputation::Call<Runtime>>(), ["forget", "watch"]);
	assert_eq!(
		calls::<pallet_federation::Call<Runtime>>(),
		["open", "cancel", "propose", "refute", "refute_piece", "poke"]
	);
	assert_eq!(calls::<pallet_sets::Call<Runtime>>(), ["open", "show", "stop", "poke"]);
	assert_eq!(calls::<pallet_pools::Call<Runtime>>(), ["create", "join", "leave", "enrol"]);
	assert_eq!(
		calls::<pallet_bets::Call<Runtime>>(),
		["offer", "take", "withdraw", "agree", "judge", "settle"]
	);
	assert_eq!(
		calls::<pallet_swarm::Call<Runtime>>(),
		[
			"open",
			"add_slices",
			"join",
			"update",
			"announce",
			"fund",
			"pay",
			"leave",
			"claim",
			"say",
			"challenge",
			"testify",
			"refute_piece",
			"refute_mean",
			"close",
			"poke",
			"contribute",
			"vouch",
			"collect",
		]
	);
	assert_eq!(
		calls::<pallet_tasks::Call<Runtime>>(),
		[
			"post",
			"cancel",
			"apply",
			"commit",
			"reveal",
			"seal",
			"unseal",
			"challenge",
			"show",
			"execute",
			"refute",
			"poke",
		]
	);
	assert_eq!(
		calls::<pallet_court::Call<Runtime>>(),
		[
			"commit",
			"challenge",
			"raise",
			"withdraw",
			"post",
			"open",
			"deny",
			"judge",
			"show",
			"poke"
		]
	);
}

/// Nodes and wallets report equivocations by these calls.
#[test]
fn report_calls() {
	let owner = pallet_hashrate::records::KeyOwnerProof { session: 5, authorities: 4 };
	assert_eq!(owner.encode(), [5, 0, 0, 0, 4, 0, 0, 0]);
	assert_eq!(
		calls::<pallet_babe::Call<Runtime>>()[..2],
		["report_equivocation", "report_equivocation_unsigned"]
	);
	assert_eq!(
		calls::<pallet_grandpa::Call<Runtime>>()[..2],
		["report_equivocation", "report_equivocation_unsigned"]
	);
}

/// Every client signs over these, in this order.
#[test]
fn transaction_extensions() {
	let names: Vec<_> = TxExtension::metadata().into_iter().map(|m| m.identifier).collect();
	assert_eq!(
		names,
		[
			"CheckNonZeroSender",
			"CheckSpecVersion",
			"CheckTxVersion",
			"CheckGenesis",
			"CheckMortality",
			"CheckNonce",
			"CheckWeight",
			"ChargeTransactionPayment",
			"DirectUpload",
			"WeightReclaim",
		]
	);
}

/// Stored beside every held balance.
#[test]
fn hold_reasons() {
	let reason = |reason: RuntimeHoldReason| reason.encode();
	assert_eq!(reason(pallet_hashrate::HoldReason::Bond.into()), [4, 0]);
	assert_eq!(reason(pallet_session::HoldReason::Keys.into()), [8, 0]);
	assert_eq!(reason(pallet_task_market::HoldReason::Escrow.into()), [20, 0]);
	assert_eq!(reason(pallet_task_market::HoldReason::Deposit.into()), [20, 1]);
	assert_eq!(reason(pallet_task_market::HoldReason::Record.into()), [20, 2]);
	assert_eq!(reason(pallet_model_storage::HoldReason::Blob.into()), [22, 0]);
	assert_eq!(reason(pallet_verification::HoldReason::VerifierBond.into()), [23, 0]);
	assert_eq!(reason(pallet_verification::HoldReason::Relay.into()), [23, 2]);
	assert_eq!(reason(pallet_drilling::HoldReason::Project.into()), [24, 0]);
	assert_eq!(reason(pallet_court::HoldReason::Challenge.into()), [25, 0]);
	assert_eq!(reason(pallet_stints::HoldReason::Driller.into()), [26, 0]);
	assert_eq!(reason(pallet_tasks::HoldReason::Escrow.into()), [30, 0]);
	assert_eq!(reason(pallet_tasks::HoldReason::Record.into()), [30, 1]);
	assert_eq!(reason(pallet_tasks::HoldReason::Replica.into()), [30, 2]);
	assert_eq!(reason(pallet_tasks::HoldReason::Challenge.into()), [30, 3]);
}

#[test]
fn session_keys_are_babe_then_grandpa() {
	let keys = SessionKeys {
		babe: Sr25519Keyring::Alice.public().into(),
		grandpa: Ed25519Keyring::Alice.public().into(),
	};
	let expected = [Sr25519Keyring::Alice.public().0, Ed25519Keyring::Alice.public().0].concat();
	assert_eq!(keys.encode(), expected);
}

/// Clients in other languages build calls by hand: `[pallet, call] ++ arguments`.
#[test]
fn a_call_is_two_indices_and_its_arguments() {
	let digest = H256::repeat_byte(9);
	let call: RuntimeCall =
		pallet_task_market::Call::apply { job: 7, digest, forced: H256([8; 32]) }.into();
	let bytes = [vec![20, 2, 7, 0, 0, 0], vec![9; 32], vec![8; 32]].concat();
	assert_eq!(call.encode(), bytes);
	let call: RuntimeCall = pallet_hashrate::Call::set_candidate { candidate: true }.into();
	assert_eq!(call.encode(), [4, 3, 1]);
	let call: RuntimeCall = pallet_finality::Call::note_final { height: 300 }.into();
	assert_eq!(call.encode(), [vec![27, 0], codec::Compact(300u32).encode()].concat());
	assert_eq!(&FINALITY_INHERENT, b"trn_finl");
}
