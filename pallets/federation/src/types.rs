//! Federations, their parts, and proposals of aggregates.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{
	traits::{ConstU32, PalletError},
	BoundedVec,
};
use scale_info::TypeInfo;
use trainyard_program::spec::{InitialModel, JobSpec, SpecError};
use trainyard_protocol::{
	content::CHUNK_BYTES,
	federation::{ModelOpening, PartData, Plan, Stage, MAX_PARTS, MAX_PROPOSALS, PIECE_BYTES},
	job::{Balance, BlockNumber, Terms},
	JobId, H256,
};

/// Most results that counted and are not decided. A part whose result would be one more waits for its audit.
pub const MAX_UNDECIDED: u32 = 64;
/// Rounds on record that are removed in one step.
pub const FORGET_STEP: u32 = 32;

/// The data of all parts.
pub type Parts = BoundedVec<PartData, ConstU32<MAX_PARTS>>;
/// One chunk of the aggregate and of each result.
pub type Openings = BoundedVec<ModelOpening, ConstU32<{ MAX_PARTS + 1 }>>;
/// The chunks of a file that hold a piece, which need not begin with one.
pub type PieceBytes = BoundedVec<u8, ConstU32<{ (PIECE_BYTES + 2 * CHUNK_BYTES) as u32 }>>;
/// What leads from these to the root: two ways at most, of a tree with less than 2^32 chunks.
pub type PieceSiblings = BoundedVec<H256, ConstU32<64>>;

/// A federation, as far as it changes; what its parts train is a [`Template`].
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Federation<AccountId> {
	/// Who opened it.
	pub submitter: AccountId,
	/// What is offered to the trainers of each part.
	pub terms: Terms,
	/// How it goes on.
	pub plan: Plan,
	/// What is held for its record.
	pub record: Balance,
	/// What is held for aggregates to come.
	pub fees: Balance,
	/// Bytes of a file of its model.
	pub size: u64,
	/// Where it stands.
	pub stage: Stage,
	/// The running round, from 0.
	pub round: u32,
	/// Height at which stage and round began.
	pub since: BlockNumber,
	/// The model with which the round begins. Where it is on chain it is kept there.
	pub initial: InitialModel,
	/// The parts, in the order of the template.
	pub parts: BoundedVec<Part, ConstU32<MAX_PARTS>>,
	/// Results that counted before their audit decided.
	pub undecided: BoundedVec<Undecided, ConstU32<MAX_UNDECIDED>>,
	/// The first round with one that was found to be false.
	pub tainted: Option<u32>,
	/// The proposals that stand, in order.
	pub proposals: BoundedVec<Proposal<AccountId>, ConstU32<MAX_PROPOSALS>>,
	/// Number of the next proposal.
	pub next_proposal: u32,
}

/// What the parts of a federation train.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Template {
	/// The specification; its data and its initial model are those of a part and of a round.
	pub spec: JobSpec,
	/// The data of each part.
	pub parts: Parts,
}

/// A part in the running round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Part {
	/// How often it was posted, or could not be.
	pub attempts: u32,
	/// The block from which it is posted again.
	pub not_before: BlockNumber,
	/// Its job, while one runs and when it answered.
	pub job: Option<JobId>,
	/// The root of the model that counts, which is kept on chain.
	pub answer: Option<H256>,
	/// Whether the round goes on without it.
	pub given_up: bool,
}

impl Part {
	/// Returns whether the round waits for it.
	pub fn is_open(&self) -> bool {
		self.answer.is_none() && !self.given_up
	}
}

/// A result that counted before its audit decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Undecided {
	/// The round.
	pub round: u32,
	/// Its job.
	pub job: JobId,
	/// The root of the model that counted.
	pub root: H256,
}

/// An aggregate that somebody proposed.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Proposal<AccountId> {
	/// Its number.
	pub number: u32,
	/// Who proposed it.
	pub proposer: AccountId,
	/// What is held of the proposer.
	pub deposit: Balance,
	/// Content hash of its file.
	pub content: H256,
	/// Root of its blob, which is kept on chain.
	pub root: H256,
	/// State hash of its parameters, by the pieces that were said.
	pub parameters: H256,
	/// The last block in which it can be refuted for certain.
	pub until: BlockNumber,
}

/// Which rule a specification breaks, inside this pallet's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct SpecFault(pub SpecError);

impl PalletError for SpecFault {
	// One byte: `SpecError` has no fields.
	const MAX_ENCODED_SIZE: usize = 1;
}
