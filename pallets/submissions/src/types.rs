//! A round and its parts.

use codec::{Decode, Encode, MaxEncodedLen};
use frame_support::{traits::ConstU32, BoundedVec};
use scale_info::TypeInfo;
use trainyard_protocol::{
	job::{Reveal, WorkResult, MAX_REPLICAS},
	H256,
};

/// What a round takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub enum Phase {
	/// Commitments.
	Committing,
	/// Reveals of what was committed.
	Revealing,
	/// Nothing.
	Closed,
}

/// What one trainer has delivered.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Entry<AccountId> {
	/// Who.
	pub trainer: AccountId,
	/// Hash that binds its result.
	pub commitment: Option<H256>,
	/// The result, once shown.
	pub reveal: Option<Reveal>,
}

/// The round of a job.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Round<AccountId> {
	/// What it takes.
	pub phase: Phase,
	/// One entry per trainer, in the order given at opening.
	pub entries: BoundedVec<Entry<AccountId>, ConstU32<MAX_REPLICAS>>,
	/// Fewest segments that a result of the job can have.
	pub least_segments: u32,
	/// Most segments that a result of the job can have.
	pub most_segments: u32,
}

impl<AccountId: PartialEq> Round<AccountId> {
	/// Returns the entry of `trainer`.
	pub fn entry_mut(&mut self, trainer: &AccountId) -> Option<&mut Entry<AccountId>> {
		self.entries.iter_mut().find(|entry| entry.trainer == *trainer)
	}

	/// Returns whether a result of the job can have as many segments. One that diverged can have any
	/// number below all of them.
	pub fn takes(&self, result: &WorkResult) -> bool {
		match result.diverged {
			true => result.segments < self.most_segments,
			false => (self.least_segments..=self.most_segments).contains(&result.segments),
		}
	}

	/// Returns whether nothing is left to wait for in the present phase.
	pub fn is_complete(&self) -> bool {
		match self.phase {
			Phase::Committing => self.entries.iter().all(|e| e.commitment.is_some()),
			Phase::Revealing => {
				self.entries.iter().all(|e| e.commitment.is_none() || e.reveal.is_some())
			}
			Phase::Closed => true,
		}
	}
}
