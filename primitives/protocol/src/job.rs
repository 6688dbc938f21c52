//! Terms, states and endings of a job.

use crate::{duties::Drawing, lottery, Text, H256};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use trainyard_program::needs::MachineClass;

/// Amounts of currency.
pub type Balance = u128;
/// Heights.
pub type BlockNumber = u32;

/// Most replicas of a job.
pub const MAX_REPLICAS: u32 = 8;
/// Least verifiers of a committee: of two, one who vanishes leaves no majority.
pub const MIN_VERIFIERS: u32 = 3;
/// Most verifiers of a committee. The size of a committee is odd.
pub const MAX_VERIFIERS: u32 = 16;
/// Least fee of a verifier for a round, in the currency's smallest unit: 0.1 TRY. A verdict with
/// evidence costs a seat half of that in transaction fees, and a tenth of it is the prize of forced
/// errors.
pub const MIN_AUDIT_FEE: Balance = 100_000_000_000;
/// Most segments of a result that each verifier draws for itself.
pub const MAX_AUDIT_SEGMENTS: u32 = 16;
/// Part of the pay in percent that a trainer of an undecided result is paid, where a submitter names
/// no other, and the least that a trainer takes where it names none.
pub const UNDECIDED_PERCENT: u8 = 20;
/// Committees that are drawn for an audit before it stays undecided, one after another where half of
/// the seats or fewer revealed something. The escrow covers the fees of all of them; what was not needed
/// is refunded.
pub const MAX_AUDIT_ROUNDS: u32 = 3;

/// What a submitter offers.
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
pub struct Terms {
	/// Price of one `ut` of work. Of several replicas, all together are paid what
	/// [`fees::pay_of_all`](crate::fees::pay_of_all) says.
	#[serde(with = "trainyard_program::text::decimal")]
	pub price_per_ut: Balance,
	/// How many trainers train the same job, 1 to [`MAX_REPLICAS`].
	pub replicas: u32,
	/// Size of the audit committee: odd, and from [`MIN_VERIFIERS`] to [`MAX_VERIFIERS`].
	pub verifiers: u32,
	/// Segments that each verifier draws for itself, as [`Drawing::fits`] says and at most the job's. It
	/// replays a few more, see [`Drawing::replays`].
	pub audit_segments: u32,
	/// Fee of one verifier for one round, at least [`fees::audit_fee`](crate::fees::audit_fee).
	#[serde(with = "trainyard_program::text::decimal")]
	pub audit_fee: Balance,
	/// Blocks for applications.
	pub apply_blocks: BlockNumber,
	/// Blocks for training, up to the commitment.
	pub training_blocks: BlockNumber,
	/// The machines that train and verify it: the job asks no more than these can carry.
	#[serde(default)]
	pub machine: MachineClass,
	/// Part of the pay in percent, 0 to 100, that the trainers of an undecided result are paid
	/// ([`fees::undecided_pay`](crate::fees::undecided_pay)): the model is on chain before the audit
	/// begins, so without it whoever keeps verifiers away has a model for nothing.
	#[serde(default = "undecided_percent")]
	pub undecided_percent: u8,
	/// One state in so many is [kept](trainyard_program::thinning) by trainers, with the first one and the last, 1 to
	/// the segments of the job; 1 keeps all. The others are computed again where somebody asks for them, for which
	/// there is [time](crate::duties::Recompute).
	#[serde(default = "keep_every")]
	pub keep_every: u32,
	/// Where the job pays by [lottery]: of how many segments one is replayed and wins, [`lottery::LEAST`] to
	/// [`lottery::MOST`]. Without it seats draw [`Terms::audit_segments`] each, and all that is accepted is paid.
	#[serde(default)]
	pub lottery: Option<u32>,
}

impl Terms {
	/// Returns how seats draw what they replay.
	pub fn drawing(&self) -> Drawing {
		Drawing { draws: self.audit_segments, lottery: self.lottery }
	}

	/// Returns what a trainer of a job of so many `segments` is paid by [lottery], where it is paid `pay` without;
	/// `None` where the job does not pay so.
	pub fn prospect(&self, pay: Balance, segments: u32) -> Option<lottery::Prospect> {
		Some(lottery::Prospect::of(pay, segments, self.lottery?))
	}

	/// Returns the most segments of a result of a job with that many that a seat replays in a round.
	pub fn replays(&self, segments: u32) -> u32 {
		self.drawing().replays(segments, self.replicas)
	}

	/// Returns the most segments of such a result that all seats together replay in a round.
	pub fn replayed_by_all(&self, segments: u32) -> u32 {
		self.replays(segments).saturating_mul(self.verifiers).min(segments)
	}
}

/// Returns how many states are kept by terms in JSON that say nothing of it: all.
fn keep_every() -> u32 {
	1
}

/// Returns the part for undecided results of terms in JSON that name none.
fn undecided_percent() -> u8 {
	UNDECIDED_PERCENT
}

/// Where a job stands.
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
pub enum JobState {
	/// Trainers apply.
	Open,
	/// Applying is over; the assignment seed forms from later blocks.
	Seeding,
	/// Trainers train and commit.
	Training,
	/// Trainers reveal and upload the model.
	Revealing,
	/// Verifiers replay and give verdicts.
	Auditing,
	/// Over; see [`Ending`].
	Ended(Ending),
}

/// How a job ended.
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
pub enum Ending {
	/// At least one replica was accepted and paid, be it one that diverged.
	Settled,
	/// All parties agreed to settle without an audit.
	Agreed,
	/// The submitter took it back before anyone applied.
	Cancelled,
	/// Nobody applied, or the invited trainer did not.
	NoApplicants,
	/// No trainer delivered an acceptable result; see each replica's fate.
	Failed,
}

/// What became of one replica.
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
pub enum Fate {
	/// Not over yet.
	Working,
	/// No commitment by the deadline: the deposit is lost.
	NotCommitted,
	/// No valid reveal by the deadline: the deposit is lost.
	NotRevealed,
	/// The model was not stored on chain in time: the deposit is lost.
	ModelMissing,
	/// The audit accepted it: paid, deposit returned, power credited.
	Accepted,
	/// The audit rejected it: the deposit is lost.
	Rejected,
	/// Verifiers could not fetch it, and its rescue did not help or did not come: the deposit is
	/// lost. A milder rule would be a way out for a cheat who sees what was drawn.
	Unavailable,
	/// The audit reached no quorum, or there was no committee until the last deadline: paid the part
	/// that the terms name, deposit returned, no power.
	Undecided,
	/// Settled by agreement: paid as agreed, deposit returned, no power.
	Agreed,
	/// The audit accepted it, but the training stood still: paid, deposit returned, no power.
	Idle,
	/// The audit accepted it, and the training diverged: paid for what it trained, deposit returned,
	/// no power, no protocol fee but for its place.
	Diverged,
	/// The audit accepted it, and it was convicted in the week after that: what it was paid stays, the
	/// part of the deposit that was still locked is lost, and so is the power.
	Revoked,
}

impl Fate {
	/// Returns whether the audit found the result true.
	pub fn is_true(&self) -> bool {
		matches!(self, Fate::Accepted | Fate::Idle | Fate::Diverged)
	}
}

/// A result as revealed.
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
pub struct Reveal {
	/// Merkle root over the checkpoints, some of which have a [forced](crate::forced) trace.
	pub bundle_root: H256,
	/// Merkle root over the checkpoints as they were computed. Replicas agree in it, and differ in
	/// `bundle_root`, since each forces leaves of its own.
	pub true_root: H256,
	/// Root of the blob `model.safetensors`.
	pub model_root: H256,
	/// Segments trained to their ends: all of the job's, or fewer where it stopped early or diverged.
	pub segments: u32,
	/// Whether training left the finite numbers in the segment after these, the last that was
	/// trained.
	#[serde(default)]
	pub diverged: bool,
	/// Where bundle and data are served: the base URL of the trainer's HTTP server.
	pub location: Text,
}

impl Reveal {
	/// Returns what it says of the result, without where that is served.
	pub fn result(&self) -> WorkResult {
		WorkResult {
			bundle_root: self.bundle_root,
			true_root: self.true_root,
			model_root: self.model_root,
			segments: self.segments,
			diverged: self.diverged,
		}
	}
}

/// A result. Honest replicas have all of it in common, bit for bit, but the [bundle
/// root](WorkResult::bundle_root).
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	PartialOrd,
	Ord,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
pub struct WorkResult {
	/// Merkle root over the checkpoints, some of which have a [forced](crate::forced) trace.
	pub bundle_root: H256,
	/// Merkle root over the checkpoints as they were computed. Replicas agree in it, and differ in
	/// `bundle_root`, since each forces leaves of its own.
	pub true_root: H256,
	/// Root of the blob `model.safetensors`.
	pub model_root: H256,
	/// Segments trained to their ends, each with a checkpoint there: all of the job's, or fewer where
	/// it stopped early or diverged.
	pub segments: u32,
	/// Whether training left the finite numbers in the segment after these. That one was trained and
	/// has no end; it is replayed whatever is drawn.
	#[serde(default)]
	pub diverged: bool,
}

impl WorkResult {
	/// Returns what honest replicas have in common: the same with the true root in the place of the
	/// bundle's.
	pub fn common(&self) -> WorkResult {
		WorkResult { bundle_root: self.true_root, ..*self }
	}

	/// Returns how many segments were trained: with the one that has no end, where it diverged.
	pub fn trained(&self) -> u32 {
		self.segments.saturating_add(u32::from(self.diverged))
	}

	/// Returns how many leaves are under its bundle root: one for each checkpoint, and one more where
	/// it diverged.
	pub fn leaves(&self) -> u32 {
		self.trained().saturating_add(1)
	}

	/// Returns the segment in which training left the finite numbers, if it did.
	pub fn diverged_in(&self) -> Option<u32> {
		self.diverged.then_some(self.segments)
	}
}

/// Where the money of a job went. The sum that came in (escrow, deposits) equals the sum that went
/// out.
#[derive(
	Clone,
	Copy,
	Debug,
	Default,
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
pub struct Settlement {
	/// Held from the submitter at posting.
	#[serde(with = "trainyard_program::text::decimal")]
	pub escrowed: Balance,
	/// Paid from the escrow to trainers.
	#[serde(with = "trainyard_program::text::decimal")]
	pub paid_to_trainers: Balance,
	/// Paid from the escrow to verifiers.
	#[serde(with = "trainyard_program::text::decimal")]
	pub paid_to_verifiers: Balance,
	/// Paid from the escrow to the jackpot: the part of the audit's fees that is for those who find forced
	/// errors, where nobody found one.
	#[serde(with = "trainyard_program::text::decimal")]
	pub prizes_to_jackpot: Balance,
	/// Burned from the escrow: the protocol fee on the training of accepted replicas, and for the place of
	/// what bought no power.
	#[serde(with = "trainyard_program::text::decimal")]
	pub burned: Balance,
	/// Returned from the escrow to the submitter.
	#[serde(with = "trainyard_program::text::decimal")]
	pub refunded: Balance,
	/// Taken from trainers' deposits.
	#[serde(with = "trainyard_program::text::decimal")]
	pub slashed: Balance,
	/// Part of what was slashed that went to the submitter for its loss.
	#[serde(with = "trainyard_program::text::decimal")]
	pub slashed_to_submitter: Balance,
	/// Part of what was slashed that went to the jackpot.
	#[serde(with = "trainyard_program::text::decimal")]
	pub slashed_to_jackpot: Balance,
	/// Part of what was slashed that was burned: of deposits of trainers that the court convicted, or
	/// that did not store what was asked for.
	#[serde(with = "trainyard_program::text::decimal")]
	pub slashed_burned: Balance,
	/// Part of what was slashed that went to those who convicted trainers.
	#[serde(with = "trainyard_program::text::decimal")]
	pub slashed_to_finders: Balance,
	/// Deposits that challengers lost to trainers of this job, which were theirs at its end. They are
	/// part of no other sum.
	#[serde(with = "trainyard_program::text::decimal")]
	pub won: Balance,
}
