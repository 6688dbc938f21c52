//! Swarms as clients see them.

use super::{Count, Model, Plan, Stage, SwarmId};
use crate::{
	federation::PartData,
	job::{Balance, BlockNumber},
	JobId, Text, H256,
};
use alloc::vec::Vec;
use codec::{Decode, Encode};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use trainyard_program::spec::JobSpec;

/// A slice.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct SliceView<AccountId> {
	/// Its number.
	pub number: u32,
	/// Who shows it where it is drawn.
	pub owner: AccountId,
	/// Its rows.
	pub data: PartData,
	/// Whether it waits to be drawn. Another one is measured by, or was shown.
	pub waits: bool,
}

/// A claim of the running round.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct ClaimView<AccountId> {
	/// Its number.
	pub number: u32,
	/// Who claims.
	pub claimant: AccountId,
	/// What it committed to.
	pub commitment: H256,
	/// The model that is better, once it was said.
	pub model: Option<Model>,
	/// The model with which it is compared.
	pub base: Option<Model>,
	/// The counts of both.
	pub counts: Option<(Count, Count)>,
	/// Who pays, where a ticket says so.
	pub payer: Option<AccountId>,
	/// The remote model with which the base was mixed.
	pub remote: Option<H256>,
	/// Who found it false.
	pub refuter: Option<AccountId>,
}

/// A model whose counts were doubted in the running round.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct DoubtView<AccountId> {
	/// The model.
	pub model: Model,
	/// Who challenges now, and the job that measures it.
	pub challenge: Option<(AccountId, JobId)>,
	/// How often the market did not measure it.
	pub failures: u8,
	/// What it counted, once that was shown.
	pub proven: Option<Count>,
}

/// A peer.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct PeerView<AccountId> {
	/// The account that is paid.
	pub account: AccountId,
	/// The key that signs for it: an Ed25519 key, and its id in the network of peers.
	pub key: H256,
	/// The block in which it joined.
	pub since: BlockNumber,
	/// What it does: a sum of [roles](super::role).
	pub roles: u8,
	/// Where it can be reached.
	pub location: Text,
	/// The roots of its models, in order of announcement, each with the block of that.
	pub models: Vec<(H256, BlockNumber)>,
	/// What claims against it can take.
	#[serde(with = "trainyard_program::text::decimal")]
	pub purse: Balance,
	/// What it paid others for tickets.
	#[serde(with = "trainyard_program::text::decimal")]
	pub paid: Balance,
	/// What others, or the budget, paid it.
	#[serde(with = "trainyard_program::text::decimal")]
	pub earned: Balance,
	/// Its shares in what outer steps bring: 128 for each contribution that counted, less for late ones.
	pub shares: u64,
	/// What it can collect for them.
	#[serde(with = "trainyard_program::text::decimal")]
	pub owed: Balance,
	/// Root of what it keeps from its last contribution to an outer step; zero for nothing.
	pub kept: H256,
	/// The block in which it said that it leaves.
	pub leaving: Option<BlockNumber>,
}

/// A swarm.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct SwarmView<AccountId> {
	/// Its number.
	pub id: SwarmId,
	/// Who opened it.
	pub opener: AccountId,
	/// What is trained, but for the data.
	pub template: JobSpec,
	/// How it goes on.
	pub plan: Plan,
	/// The block in which it began.
	pub began: BlockNumber,
	/// What noise of peers is drawn from, once there is a seed.
	pub seed: Option<H256>,
	/// Where the running round stands.
	pub stage: Stage,
	/// How many rounds there were.
	pub round: u32,
	/// The block in which the running round began, or the last one where none runs.
	pub round_began: BlockNumber,
	/// The block in which the round before that began: a ticket that expired since then can still be claimed by.
	pub previous_began: BlockNumber,
	/// The best model so far.
	pub best: Model,
	/// The progress that was paid, as a score in millionths: the floor, and all gains.
	pub progress: u32,
	/// What is left to be paid.
	#[serde(with = "trainyard_program::text::decimal")]
	pub budget: Balance,
	/// How many peers there are.
	pub peers: u32,
	/// The shares of all peers in what outer steps bring.
	pub shares: u64,
	/// Outer steps whose contributions are remembered, ascending.
	pub steps: Vec<u32>,
	/// The slices.
	pub slices: Vec<SliceView<AccountId>>,
	/// The claims of the running round.
	pub claims: Vec<ClaimView<AccountId>>,
	/// The models in doubt in the running round.
	pub doubts: Vec<DoubtView<AccountId>>,
}
