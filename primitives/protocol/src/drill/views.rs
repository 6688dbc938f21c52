//! What the runtime API returns about drilling.

use super::{AssignmentId, Mismatch, ProjectId, Template, TrialData, UnitResult};
use crate::{
	job::{Balance, BlockNumber},
	MicroUt, Text, H256,
};
use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};

/// Where a project stands.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ProjectState {
	/// Trainers vote on it.
	Review,
	/// Its units are given out.
	Active,
	/// Too few, or more nays than ayes.
	Rejected,
	/// Its owner ended it.
	Withdrawn,
	/// Every unit is agreed or abandoned, or its time is over.
	Done,
	/// A vote ended it.
	Recalled,
	/// Its data could not be had.
	Suspended,
}

/// A vote on whether an active project ends.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
pub struct Recall {
	/// Last block for votes.
	pub until: BlockNumber,
	/// Sum of the bonds that want to keep it.
	#[serde(with = "trainyard_program::text::decimal")]
	pub ayes: Balance,
	/// Sum of the bonds that want to end it.
	#[serde(with = "trainyard_program::text::decimal")]
	pub nays: Balance,
}

/// A project.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct ProjectView<AccountId> {
	/// Its number.
	pub id: ProjectId,
	/// Who proposed it.
	pub owner: AccountId,
	/// What it is about.
	pub title: Text,
	/// What its units compute.
	pub template: Template,
	/// Blobs on this chain with the files that units read, in the order of the specification's.
	pub data: TrialData,
	/// What happens where results differ.
	pub rule: Mismatch,
	/// Trainers that compute the same unit.
	pub replicas: u8,
	/// Units in all.
	pub units: u32,
	/// Blocks for computing a unit, up to the commitment.
	pub commit_blocks: BlockNumber,
	/// Work of one unit: what each of its trainers is credited.
	pub difficulty: MicroUt,
	/// The deposit that is held from its owner.
	#[serde(with = "trainyard_program::text::decimal")]
	pub deposit: Balance,
	/// Where it stands.
	pub state: ProjectState,
	/// Last block of its review; of an active project, of its time; for a project that is over, the
	/// height after which it may be cleared.
	pub deadline: BlockNumber,
	/// Sum of the bonds that voted for it.
	#[serde(with = "trainyard_program::text::decimal")]
	pub ayes: Balance,
	/// Sum of the bonds that voted against it.
	#[serde(with = "trainyard_program::text::decimal")]
	pub nays: Balance,
	/// The vote that may end it, while there is one.
	pub recall: Option<Recall>,
	/// How many times in a row verifiers found that its data are not to be had.
	pub missing: u8,
	/// Units being computed or judged.
	pub open: u32,
	/// Units with a result.
	pub agreed: u32,
	/// Units given up after several attempts.
	pub abandoned: u32,
}

/// What an assignment waits for.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum UnitPhase {
	/// Commitments.
	Commit,
	/// Reveals.
	Reveal,
	/// The chain: for the judgement, or for the draw that decides whether it is recomputed.
	Judgement,
}

/// An assignment as seen by an account that computes it: one of its trainers, or one of the
/// verifiers that recompute it. For a verifier phase, deadline, members and what is done are those
/// of the recomputation.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct AssignmentView<AccountId> {
	/// Its number.
	pub id: AssignmentId,
	/// The project; its template says what to compute.
	pub project: ProjectId,
	/// The unit's number in the project.
	pub index: u32,
	/// The unit's seed.
	pub seed: H256,
	/// What it waits for.
	pub phase: UnitPhase,
	/// Height at which the phase ends at the latest.
	pub deadline: BlockNumber,
	/// The accounts that compute it.
	pub members: Vec<AccountId>,
	/// Whether the account that was asked for has committed.
	pub committed: bool,
	/// Whether it has revealed.
	pub revealed: bool,
	/// Whether it has said that the data are not to be had.
	pub declined: bool,
}

/// A unit on which its trainers agreed.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct UnitOutcome {
	/// The unit's number in the project.
	pub index: u32,
	/// Its result.
	pub result: UnitResult,
	/// How many trainers found it.
	pub replicas: u8,
}
