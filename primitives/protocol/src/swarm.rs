//! Swarms: peers that train one model without a coordinator, and are paid for what makes it better.
//!
//! Whoever opens a swarm names what is trained, a [`Plan`] with a reward, and *slices*: files of rows by which
//! gain is measured. A slice is named by its root and is shown, on chain, only after it was drawn. Accounts
//! join as peers with a key that signs for them ([`joining`]), announce models by their roots, and pay one
//! another. What is claimed is decided in rounds:
//!
//! 1. *Collecting*: peers commit to claims ([`commitment`]), each with a stake.
//! 2. *Drawing*: later blocks draw a slice that none of the claimants owns.
//! 3. *Showing*: its owner stores it on chain, or loses a deposit.
//! 4. *Counting*: claimants say which models they mean, and how many labels of the slice these get right.
//! 5. *Challenging*: who doubts a count has the market measure it; who finds a false file shows it. What the
//!    market could not measure is not paid.
//! 6. *Settling*: each claim is a bet with two ends, see [`Reward::due`].
//!
//! Between, peers train, and mix what they have: by pairs, or all together by outer steps ([`Averaging`]).
//!
//! By [`Payer::Budget`] a claim compares a model with the best one so far, and the budget of the swarm pays.
//! By [`Payer::Peers`] it is about one mixing: a peer signs a [`Ticket`] for the model of another one, and its
//! purse pays for what the mean of both is better by than its own model.

mod outer;
mod said;
mod ticket;
mod views;
mod worth;

pub use outer::{
	counted, list_of, noise, sealed, shares, Averaging, Brought, Contribution, Moment, OuterFault,
	OuterRule, KEPT_STEPS, MAX_CONTRIBUTIONS, MAX_INNER, MAX_LATE,
};
pub use said::{Promise, Said, Signature, Which};
pub use ticket::{Ticket, TICKET_BYTES};
pub use views::{ClaimView, DoubtView, PeerView, SliceView, SwarmView};
pub use worth::{Curve, CurveFault, Due, Measured, Pace, Point, Reward, MAX_POINTS, ONE};

use crate::{
	bundle::Evaluation,
	federation::PartData,
	job::{Balance, BlockNumber, Terms},
	H256,
};
use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use sp_crypto_hashing::blake2_256;

/// Number of a swarm: 0, 1, 2, … in order of opening.
pub type SwarmId = u32;

/// Most slices that wait to be drawn.
pub const MAX_SLICES: u32 = 64;
/// Slices of one peer that wait, beside those of who opened the swarm.
pub const MAX_OWN_SLICES: u32 = 4;
/// Least labels of a slice.
pub const MIN_LABELS: u32 = 100;
/// Most claims of a round.
pub const MAX_CLAIMS: u32 = 16;
/// Claims of one peer in a round.
pub const MAX_OWN_CLAIMS: u32 = 2;
/// Models that can be in doubt in a round: two of each claim, and the best one.
pub const MAX_DOUBTS: u32 = 2 * MAX_CLAIMS + 1;
/// How often a model is measured again that the market did not measure.
pub const MAX_FAILURES: u8 = 3;
/// Slices that are drawn in a round until one is shown.
pub const MAX_DRAWS: u32 = 3;
/// Models that a peer has announced and that are remembered.
pub const MAX_ANNOUNCED: u32 = 16;
/// Tickets of a peer that are remembered until they expire: those that it paid, and those that it claimed.
pub const MAX_TICKETS: u32 = 32;
/// Payments in one call.
pub const MAX_PAYMENTS: u32 = 64;

/// What a peer does in a swarm: a sum of these. It may be changed at any time.
pub mod role {
	/// Serves data for others to train on.
	pub const DATA: u8 = 1;
	/// Trains.
	pub const TRAIN: u8 = 2;
	/// Takes models of others, mixes them with its own, and pays for what that brings.
	pub const MIX: u8 = 4;
	/// All of them.
	pub const ALL: u8 = DATA | TRAIN | MIX;
}

/// Who pays for gain.
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
pub enum Payer {
	/// The budget of the swarm, for what a model is better by than the best one that was claimed before.
	Budget,
	/// The peer whose model got better, to the maker of the model that it was mixed with.
	Peers,
}

/// Blocks that each stage of a round has.
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
#[serde(deny_unknown_fields)]
pub struct Stages {
	/// For further claims, after the first.
	pub collect: BlockNumber,
	/// For the owner of the slice that was drawn, to store it on chain.
	pub show: BlockNumber,
	/// For claimants, to say what they counted.
	pub count: BlockNumber,
	/// For challenges.
	pub challenge: BlockNumber,
}

impl Stages {
	/// Returns all of them, in order.
	pub fn all(&self) -> [BlockNumber; 4] {
		[self.collect, self.show, self.count, self.challenge]
	}
}

/// How a swarm goes on.
#[derive(
	Clone,
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
#[serde(deny_unknown_fields)]
pub struct Plan {
	/// What gain is worth.
	pub reward: Reward,
	/// Who pays it.
	pub payer: Payer,
	/// How models are mixed.
	pub averaging: Averaging,
	/// What is paid from the budget to one peer in all, at most.
	#[serde(with = "trainyard_program::text::decimal")]
	pub most_per_peer: Balance,
	/// What a claim costs, whatever comes of it. It is paid to the owner of the slice that was shown for it.
	#[serde(with = "trainyard_program::text::decimal")]
	pub claim_fee: Balance,
	/// Deposit of a slice: lost where it is drawn and not shown.
	#[serde(with = "trainyard_program::text::decimal")]
	pub slice_deposit: Balance,
	/// Whether peers may add slices; otherwise only who opened the swarm.
	pub open_slices: bool,
	/// Whether data stay with their peers: nobody serves any, and all gain is measured by slices.
	pub private: bool,
	/// Most peers at a time.
	pub max_peers: u32,
	/// Blocks of the stages of a round.
	pub stages: Stages,
	/// Blocks for which a ticket holds, at most. A peer that leaves waits as long for its purse.
	pub ticket_blocks: BlockNumber,
	/// The last block in which a claim begins.
	pub end: BlockNumber,
	/// What is offered to the market for measuring a model, by whoever challenges a count.
	pub appeal: Terms,
	/// The most protocol fee for a `ut` at which that is posted.
	#[serde(with = "trainyard_program::text::decimal")]
	pub max_fee_per_ut: Balance,
}

/// A model of a swarm: a blob on chain.
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
pub struct Model {
	/// Root of its blob.
	pub root: H256,
	/// State hash of its parameters.
	pub parameters: H256,
}

/// How many labels of a slice a model gets right.
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
#[serde(deny_unknown_fields)]
pub struct Count {
	/// Those that it gets right.
	pub correct: u32,
	/// All of them.
	pub labels: u32,
}

impl Count {
	/// Returns the part that is right, in millionths; 0 where there are no labels.
	pub fn score(&self) -> u32 {
		let right = u64::from(self.correct.min(self.labels)).saturating_mul(u64::from(ONE));
		right.checked_div(u64::from(self.labels)).map_or(0, |score| score as u32)
	}

	/// Returns what an evaluation counted of a slice with so many labels. One of a model whose loss is not
	/// finite counts nothing as right.
	pub fn of(evaluation: &Evaluation, labels: u32) -> Self {
		match *evaluation == Evaluation::NONE {
			true => Self { correct: 0, labels },
			false => Self { correct: evaluation.correct, labels: evaluation.labels },
		}
	}
}

/// One payment of a peer.
#[derive(
	Clone,
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
pub struct Payment<AccountId> {
	/// Who is paid: the account of another peer.
	pub to: AccountId,
	/// How much.
	#[serde(with = "trainyard_program::text::decimal")]
	pub amount: Balance,
	/// The [digest](Ticket::digest) of the ticket for which that is.
	pub ticket: H256,
	/// The last block in which that ticket can be claimed.
	pub expires: BlockNumber,
}

/// Returns what a peer's key signs so that it speaks for an account in a swarm:
/// `blake2_256(SCALE("trainyard/swarm/join/v1", genesis_hash, swarm, account))`.
pub fn joining<AccountId: Encode>(genesis: &H256, swarm: SwarmId, account: &AccountId) -> H256 {
	(b"trainyard/swarm/join/v1", genesis, swarm, account).using_encoded(blake2_256).into()
}

/// Returns a commitment to a claim: `blake2_256(SCALE("trainyard/swarm/claim/v1", genesis_hash, swarm,
/// account, root, ticket: Option<H256>, salt))`, over the root of the model that is better and the digest of the
/// ticket by which a peer owes for it.
pub fn commitment<AccountId: Encode>(
	genesis: &H256,
	swarm: SwarmId,
	account: &AccountId,
	root: &H256,
	ticket: Option<&H256>,
	salt: &[u8; 32],
) -> H256 {
	(b"trainyard/swarm/claim/v1", genesis, swarm, account, root, ticket, salt)
		.using_encoded(blake2_256)
		.into()
}

/// Returns the roots of the blobs of a slice; `None` where a file of it is not on chain.
pub fn slice_roots(slice: &PartData) -> Option<Vec<H256>> {
	let files = core::iter::once(&slice.file).chain(slice.labels.as_ref());
	files.map(|file| file.is_on_chain().then_some(file.content_hash)).collect()
}

/// Where a round stands.
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
pub enum Stage {
	/// Nothing is claimed.
	Idle,
	/// Claims are taken in, up to this block.
	Collecting {
		/// The last block for claims.
		until: BlockNumber,
	},
	/// A slice is drawn from the blocks after this one.
	Drawing {
		/// The draw height.
		after: BlockNumber,
	},
	/// The owner of a slice has to store it.
	Showing {
		/// Number of the slice.
		slice: u32,
		/// The last block for that.
		until: BlockNumber,
	},
	/// Claimants say what they counted.
	Counting {
		/// Number of the slice.
		slice: u32,
		/// The last block for that.
		until: BlockNumber,
	},
	/// Counts can be challenged.
	Challenging {
		/// Number of the slice.
		slice: u32,
		/// The last block for that; what was challenged may take longer.
		until: BlockNumber,
	},
	/// Claims are settled in order.
	Settling {
		/// Number of the slice.
		slice: u32,
		/// Number of the next claim.
		next: u32,
	},
	/// Over.
	Ended,
}

/// Returns the height below which a ticket must have expired so that no claim by it can begin or be decided any
/// more. While a round runs nobody can claim: what expires in it holds for the next one, so a running round takes
/// what the one before it held up.
pub fn forgets_before(
	stage: &Stage,
	now: BlockNumber,
	round_began: BlockNumber,
	previous_began: BlockNumber,
) -> BlockNumber {
	match stage {
		Stage::Ended => now,
		// A round that begins now takes what expired in the last one.
		Stage::Idle => now.min(round_began),
		_ => now.min(previous_began),
	}
}

#[cfg(test)]
mod tests;
