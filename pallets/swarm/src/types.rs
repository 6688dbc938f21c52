//! Swarms, their peers, slices, claims and challenges.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{
	traits::{ConstU32, PalletError},
	BoundedVec,
};
use scale_info::TypeInfo;
use trainyard_program::spec::SpecError;
use trainyard_protocol::{
	content::CHUNK_BYTES,
	federation::{ModelOpening, PartData, PIECE_BYTES},
	job::{Balance, BlockNumber},
	swarm::{
		Contribution, Count, CurveFault, Model, OuterFault, Payment, Plan, Stage, KEPT_STEPS,
		MAX_ANNOUNCED, MAX_CONTRIBUTIONS, MAX_DOUBTS, MAX_PAYMENTS, MAX_SLICES, MAX_TICKETS,
	},
	JobId, Text, H256,
};

pub use trainyard_protocol::swarm::{Promise, Said, Which};

/// Slices on record that were shown: who considers a claim tries its model on them first.
pub const MAX_SHOWN: u32 = 8;
/// Claims that are settled in one step.
pub const SETTLE_STEP: u32 = 4;
/// Peers that are let go in one step when a swarm is forgotten.
pub const FORGET_STEP: u32 = 8;

/// Slices in one call.
pub type NewSlices = BoundedVec<PartData, ConstU32<MAX_SLICES>>;
/// Payments in one call.
pub type Payments<AccountId> = BoundedVec<Payment<AccountId>, ConstU32<MAX_PAYMENTS>>;
/// The chunks of a file that hold a piece, which need not begin with one.
pub type PieceBytes = BoundedVec<u8, ConstU32<{ (PIECE_BYTES + 2 * CHUNK_BYTES) as u32 }>>;
/// What leads from these to the root: two ways at most, of a tree with less than 2^32 chunks.
pub type PieceSiblings = BoundedVec<H256, ConstU32<64>>;
/// A chunk of the model that is claimed, of the payer's and of the remote one.
pub type MeanOpenings = [ModelOpening; 3];

/// A swarm.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Swarm<AccountId> {
	/// Who opened it.
	pub opener: AccountId,
	/// How it goes on.
	pub plan: Plan,
	/// What is held for its record.
	pub record: Balance,
	/// What is left to be paid.
	pub budget: Balance,
	/// Bytes of a file of its model.
	pub size: u64,
	/// Labels of a slice.
	pub labels: u32,
	/// Rows of a slice that train, and that validate.
	pub rows: (u32, u32),
	/// Most bytes of the files of a slice: those of the first.
	pub slice_bytes: u64,
	/// Height at which it began.
	pub began: BlockNumber,
	/// The end by which pay changes with time, whatever became of the plan's.
	pub planned_end: BlockNumber,
	/// What noise of peers is drawn from.
	pub seed: Option<H256>,
	/// Height after which that forms.
	pub seed_after: BlockNumber,
	/// Where the running round stands.
	pub stage: Stage,
	/// How many rounds there were.
	pub round: u32,
	/// Height at which the running round began.
	pub round_began: BlockNumber,
	/// Height at which the one before it began: a ticket that expired in it can still be claimed by.
	pub previous_began: BlockNumber,
	/// Height at which the last round ended.
	pub idle_since: BlockNumber,
	/// The pace of what the running round pays, in thousandths.
	pub pace: u32,
	/// The number of slices when the running round began: none that was added since is drawn in it.
	pub drawable: u32,
	/// Slices that were drawn in it.
	pub draws: u32,
	/// Claims that were made in it.
	pub claims: u32,
	/// Those of them of which it was said what they are about.
	pub said: u32,
	/// Blocks without room for chunks before the present stage began.
	pub full: BlockNumber,
	/// The best model so far, which is kept on chain.
	pub best: Model,
	/// Who claimed that.
	pub maker: Option<AccountId>,
	/// The best one when the running round began, with which its claims are compared.
	pub compared: Model,
	/// The best score of the round's claims so far, while they are settled.
	pub best_score: u32,
	/// The progress that was paid, in millionths: the floor, and all gains.
	pub progress: u32,
	/// How many peers there are.
	pub peers: u32,
	/// Number of the next slice.
	pub next_slice: u32,
	/// Slices that wait to be drawn, in order.
	pub waiting: BoundedVec<u32, ConstU32<MAX_SLICES>>,
	/// The last slices that were shown.
	pub shown: BoundedVec<u32, ConstU32<MAX_SHOWN>>,
	/// Outer steps whose contributions are remembered, ascending.
	pub steps: BoundedVec<u32, ConstU32<KEPT_STEPS>>,
	/// The last of them, as long as it was not counted.
	pub open_step: Option<u32>,
	/// Shares of all peers in what outer steps bring.
	pub shares: u64,
	/// What one share brought since the swarm began, times 2^32.
	pub per_share: u128,
	/// What of the budget was shared and nobody collected.
	pub pot: Balance,
}

/// Rows by which gain is measured.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Slice<AccountId> {
	/// Who stores it on chain when it is drawn.
	pub owner: AccountId,
	/// The rows.
	pub data: PartData,
	/// What is held of the owner.
	pub deposit: Balance,
}

/// A peer of a swarm.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Peer<AccountId> {
	/// The key that signs for it.
	pub key: H256,
	/// Height at which it joined.
	pub since: BlockNumber,
	/// What it does.
	pub roles: u8,
	/// Where it can be reached.
	pub location: Text,
	/// What is held for its record.
	pub deposit: Balance,
	/// What claims against it can take.
	pub purse: Balance,
	/// The last models that it announced, each with the height.
	pub models: BoundedVec<(H256, BlockNumber), ConstU32<MAX_ANNOUNCED>>,
	/// What it paid for tickets that may still be claimed.
	pub settled: BoundedVec<Settled<AccountId>, ConstU32<MAX_TICKETS>>,
	/// Tickets that it claimed, until they expire.
	pub claimed: BoundedVec<(H256, BlockNumber), ConstU32<MAX_TICKETS>>,
	/// What it paid others.
	pub paid: Balance,
	/// What others, or the budget, paid it.
	pub earned: Balance,
	/// What of that was the budget's.
	pub from_budget: Balance,
	/// Its shares in what outer steps bring.
	pub shares: u64,
	/// What one share had brought when `owed` was counted, times 2^32.
	pub entered: u128,
	/// What its shares had brought then, and it did not collect.
	pub owed: Balance,
	/// Root of what it keeps from its last contribution to an outer step; zero for nothing.
	pub kept: H256,
	/// Height at which it said that it leaves.
	pub leaving: Option<BlockNumber>,
}

/// What was paid for a ticket.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Settled<AccountId> {
	/// Its digest.
	pub ticket: H256,
	/// Who was paid.
	pub to: AccountId,
	/// How much, in all.
	pub paid: Balance,
	/// The last block in which a claim by it can begin.
	pub expires: BlockNumber,
}

/// A claim of the running round.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Claim<AccountId> {
	/// Who claims.
	pub claimant: AccountId,
	/// To what it committed.
	pub commitment: H256,
	/// What is held of the claimant: the stake and the fee of the plan.
	pub held: Balance,
	/// What it is about.
	pub said: Option<Spoken<AccountId>>,
	/// Who found a count of it false.
	pub refuter: Option<AccountId>,
}

/// What a claim is about.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Spoken<AccountId> {
	/// The model that is better.
	pub model: Model,
	/// Content hash of its file.
	pub content: H256,
	/// What it gets right.
	pub new: Count,
	/// What the model gets right with which it is compared.
	pub base: Count,
	/// The mixing, where a peer pays.
	pub mixing: Option<Mixing<AccountId>>,
}

impl<AccountId> Spoken<AccountId> {
	/// Returns the model with which it is compared: the payer's, or, where the budget pays, the best one when the
	/// round began.
	pub fn base_model(&self, best: Model) -> Model {
		self.mixing.as_ref().map_or(best, |mixing| mixing.own)
	}
}

/// A mixing for which a peer owes.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Mixing<AccountId> {
	/// Who owes.
	pub payer: AccountId,
	/// Digest of the ticket.
	pub ticket: H256,
	/// The payer's model.
	pub own: Model,
	/// Content hash of its file.
	pub own_content: H256,
	/// Root of the model that it was mixed with.
	pub remote: H256,
}

/// A model whose counts are in doubt in the running round.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Doubt<AccountId> {
	/// The model.
	pub model: Model,
	/// The challenge that runs.
	pub challenge: Option<Challenge<AccountId>>,
	/// How often the market did not measure it.
	pub failures: u8,
	/// What it counted.
	pub proven: Option<Count>,
}

/// All of them.
pub type DoubtsOf<AccountId> = BoundedVec<Doubt<AccountId>, ConstU32<MAX_DOUBTS>>;

/// The contributions to an outer step.
pub type ContributionsOf<AccountId> =
	BoundedVec<Contribution<AccountId>, ConstU32<MAX_CONTRIBUTIONS>>;

/// A challenge of what was said of a model.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Challenge<AccountId> {
	/// Who challenges.
	pub challenger: AccountId,
	/// What is held of it.
	pub deposit: Balance,
	/// The job that counts.
	pub job: JobId,
	/// Height at which it was seen that the job has a result.
	pub answered: Option<BlockNumber>,
	/// Whether a claim that it was about was refuted in another way meanwhile.
	pub excused: bool,
}

/// Which rule a specification breaks, inside this pallet's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct SpecFault(pub SpecError);

impl PalletError for SpecFault {
	// One byte: `SpecError` has no fields.
	const MAX_ENCODED_SIZE: usize = 1;
}

/// Which rule a reward breaks, inside this pallet's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct RewardFault(pub CurveFault);

impl PalletError for RewardFault {
	// One byte: `CurveFault` has no fields.
	const MAX_ENCODED_SIZE: usize = 1;
}

/// Which rule the numbers of outer steps break, inside this pallet's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct AveragingFault(pub OuterFault);

impl PalletError for AveragingFault {
	// One byte: `OuterFault` has no fields.
	const MAX_ENCODED_SIZE: usize = 1;
}
