//! Sets and their members.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{
	traits::{ConstU32, PalletError},
	BoundedVec,
};
use scale_info::TypeInfo;
use trainyard_program::spec::{FileRef, InitialModel, JobSpec, SpecError, ON_CHAIN};
use trainyard_protocol::{
	bundle::Evaluation,
	job::{Balance, BlockNumber, Terms},
	sets::{Best, Plan, Run, Stage, MAX_MEMBERS},
	Text, H256,
};

/// Generations on record that are removed in one step.
pub const FORGET_STEP: u32 = 32;

/// What the members of a set train at first.
pub type Specs = BoundedVec<JobSpec, ConstU32<MAX_MEMBERS>>;

/// A set, as far as it changes in a generation; what its members train is beside it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Set<AccountId> {
	/// Who opened it.
	pub submitter: AccountId,
	/// What is offered to the trainers of each job.
	pub terms: Terms,
	/// How it goes on.
	pub plan: Plan,
	/// What is held for its record.
	pub record: Balance,
	/// Where it stands.
	pub stage: Stage,
	/// The running generation, from 0.
	pub generation: u32,
	/// Height at which stage and generation began.
	pub since: BlockNumber,
	/// Whether the submitter wants no further generation.
	pub stopping: bool,
	/// The best of the generations that are over. Its model is kept on chain.
	pub best: Option<Best>,
	/// The members.
	pub members: BoundedVec<Member, ConstU32<MAX_MEMBERS>>,
}

impl<AccountId> Set<AccountId> {
	/// Returns whether no generation comes after the running one.
	pub fn is_last(&self) -> bool {
		self.stopping || self.generation.saturating_add(1) >= self.plan.generations
	}

	/// Returns whether no job of the generation is to be posted, or runs.
	pub fn has_trained(&self) -> bool {
		self.members.iter().all(|member| !matches!(member.run, Run::Waiting | Run::Running(_)))
	}

	/// Returns whether there is nothing more to be shown of the generation. Where another one comes, that is the
	/// parameters of models as well: who shows a score for the submitter does not cut it short.
	pub fn is_settled(&self) -> bool {
		let last = self.is_last();
		self.members.iter().all(|member| match member.run {
			Run::Out(_) => true,
			Run::Shown { parameters, .. } => last || parameters.is_some(),
			Run::Waiting | Run::Running(_) | Run::Accepted { .. } => false,
		})
	}

	/// Returns the scores of the running generation.
	pub fn scores(&self) -> alloc::vec::Vec<Option<Evaluation>> {
		self.members.iter().map(|member| member.run.score()).collect()
	}
}

/// A member in the running generation.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Member {
	/// The model with which it begins, which is kept on chain; `None` in the first generation, and where no model of
	/// it could be trained further so far: then its specification says with which.
	pub base: Option<Base>,
	/// From whose model of the generation before it begins.
	pub parent: Option<u32>,
	/// Where it stands. The model of a result is kept on chain.
	pub run: Run,
}

/// A model on chain from which a member goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Base {
	/// Root of its blob.
	pub root: H256,
	/// Bytes of its file.
	pub bytes: u64,
	/// State hash of its parameters, by the word of the submitter.
	pub parameters: H256,
}

impl Base {
	/// Returns it as the initial model of a job.
	pub fn initial(&self) -> InitialModel {
		let location = Text::new(ON_CHAIN).unwrap_or_default();
		let file = FileRef { content_hash: self.root, bytes: self.bytes, location };
		InitialModel { file, parameters: self.parameters }
	}
}

/// Which rule a specification breaks, inside this pallet's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct SpecFault(pub SpecError);

impl PalletError for SpecFault {
	// One byte: `SpecError` has no fields.
	const MAX_ENCODED_SIZE: usize = 1;
}
