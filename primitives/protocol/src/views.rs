//! What the runtime API returns to clients, one view for each subject.

use crate::{
	audit::{AuditPhase, Decision},
	duties::Drawing,
	job::{Balance, BlockNumber, Fate, JobState, Reveal, Settlement, Terms, WorkResult},
	pieces::Piece,
	price::ClassPrice,
	reputation::{Record, Role},
	seats::Resources,
	JobId, MicroUt, Text, H256,
};
use alloc::{string::String, vec::Vec};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use trainyard_program::{needs::MachineClass, spec::JobSpec};

/// A job and everything around it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct JobView<AccountId> {
	/// Its number.
	pub id: JobId,
	/// Who posted it.
	pub submitter: AccountId,
	/// The only trainer that may apply, if the job was ordered through its listing.
	pub invited: Option<AccountId>,
	/// What to train.
	pub spec: JobSpec,
	/// What is offered.
	pub terms: Terms,
	/// Work of one replica; an upper bound, where the job may stop early.
	pub work: MicroUt,
	/// The part of it that is training steps, the rest is evaluations. All replicas together are
	/// credited this as power, where it earns power.
	pub training: MicroUt,
	/// Deposit of one trainer.
	#[serde(with = "trainyard_program::text::decimal")]
	pub deposit: Balance,
	/// Where it stands.
	pub state: JobState,
	/// Height at which the present state ends at the latest.
	pub deadline: BlockNumber,
	/// Assignment seed, once drawn.
	pub seed: Option<H256>,
	/// Who applied, until the draw.
	pub applicants: Vec<AccountId>,
	/// Who trains.
	pub replicas: Vec<ReplicaView<AccountId>>,
	/// The audit, while and after it runs.
	pub audit: Option<AuditView<AccountId>>,
	/// Where the money went, at the end.
	pub settlement: Settlement,
	/// For how long what was accepted can still be challenged; none before the job is settled, and
	/// after that time.
	pub late: Option<LateView<AccountId>>,
	/// Held from the submitter until this record is removed.
	#[serde(with = "trainyard_program::text::decimal")]
	pub record: Balance,
	/// Protocol fee for a `ut` of training, as it was when the job was posted; 0 where the job earns no power.
	/// Where the base fee is above it when the job is accepted, its power counts by what the fee buys.
	#[serde(with = "trainyard_program::text::decimal")]
	pub fee_per_ut: Balance,
	/// What computing a `ut` counted as when the job was posted: fees of its seats and deposits of challenges to its
	/// results go by it as long as there are any.
	#[serde(with = "trainyard_program::text::decimal")]
	pub compute_per_ut: Balance,
}

/// A settled job whose accepted results can still be challenged, or are.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct LateView<AccountId> {
	/// The last block in which a challenge is taken.
	pub until: BlockNumber,
	/// Whether a challenge is taken now. If not, those that were taken go on.
	pub open: bool,
	/// Who can be accused, each with what is locked of its deposit.
	pub trainers: Vec<LockedView<AccountId>>,
}

/// A trainer whose result was accepted and can still be challenged.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct LockedView<AccountId> {
	/// Who.
	pub trainer: AccountId,
	/// What is locked of its deposit.
	#[serde(with = "trainyard_program::text::decimal")]
	pub locked: Balance,
}

/// What a job comes to before it is posted. For one that may stop early, these are the largest
/// sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct QuoteView {
	/// Work of one replica.
	pub work: MicroUt,
	/// The part of it that is training steps: what all replicas together are credited as power,
	/// where it earns power.
	pub training: MicroUt,
	/// Price of the work, done once.
	#[serde(with = "trainyard_program::text::decimal")]
	pub price: Balance,
	/// Pay of one accepted replica, where as many train as are wanted.
	#[serde(with = "trainyard_program::text::decimal")]
	pub pay: Balance,
	/// Protocol fee for a `ut` of training, if the job were posted now: name it, or a little more, where you
	/// post. 0 where the job earns no power.
	#[serde(with = "trainyard_program::text::decimal")]
	pub fee_per_ut: Balance,
	/// Protocol fee of all replicas together, burned.
	#[serde(with = "trainyard_program::text::decimal")]
	pub fee: Balance,
	/// Held from the submitter: the pay of all replicas, the fee, and the fees of a full committee
	/// for all rounds that an audit may take.
	#[serde(with = "trainyard_program::text::decimal")]
	pub escrow: Balance,
	/// Held from each trainer.
	#[serde(with = "trainyard_program::text::decimal")]
	pub deposit: Balance,
	/// Held from the submitter besides, until the job's record is removed.
	#[serde(with = "trainyard_program::text::decimal")]
	pub record: Balance,
	/// What computing a `ut` counts as, if the job were posted now: the least `audit_fee` is the price of what a seat
	/// replays at it, and the deposit of a challenge has the price of a defence.
	#[serde(with = "trainyard_program::text::decimal")]
	pub compute_per_ut: Balance,
	/// Blocks in which a seat fetches what it replays, if all results differ: of those that are more than half of
	/// the least time for commitments, the time is longer.
	pub fetch_blocks: BlockNumber,
	/// Blocks that storing the model adds to the time for revealing.
	pub store_blocks: BlockNumber,
	/// Blocks in which a trainer computes all states again that a committee may ask for and that it does not keep:
	/// they are added to the time for commitments. 0 where all are kept.
	pub recompute_blocks: BlockNumber,
	/// Blocks in which it computes those of one stretch between two kept states again: what each stretch of which
	/// something is asked for adds to the time for a rescue, and one to the window and to the clocks of disputes.
	pub stretch_blocks: BlockNumber,
	/// Where the job pays by lottery: what a trainer of each replica is paid whose result is accepted.
	pub lottery: Option<crate::lottery::Prospect>,
}

/// What training costs now.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct MarketView {
	/// Protocol fee for a `ut` of a small job that is posted now.
	#[serde(with = "trainyard_program::text::decimal")]
	pub fee_per_ut: Balance,
	/// The same where not much was posted.
	#[serde(with = "trainyard_program::text::decimal")]
	pub base_fee_per_ut: Balance,
	/// Training whose fee was burned; it fades in ten days.
	pub bought: MicroUt,
	/// Training that was posted; it fades in a day.
	pub posted: MicroUt,
	/// How much may be posted before the fee is above its base.
	pub free: MicroUt,
	/// What a `ut` cost where a job was accepted, by class of machines.
	pub prices: Vec<ClassPriceView>,
}

/// What a `ut` cost on the market of a class of machines: a mean by the training whose fee was burned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct ClassPriceView {
	/// The class.
	pub machine: MachineClass,
	/// The mean.
	pub price: ClassPrice,
}

/// One replica of a job.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct ReplicaView<AccountId> {
	/// Who trains it.
	pub trainer: AccountId,
	/// What it committed to, if it did.
	pub commitment: Option<H256>,
	/// What it revealed.
	pub reveal: Option<Reveal>,
	/// What became of it.
	pub fate: Fate,
}

/// An audit.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct AuditView<AccountId> {
	/// Round, from 0.
	pub round: u32,
	/// Where it stands.
	pub phase: AuditPhase,
	/// Segments of each result that each seat draws for itself, at most where the job pays by lottery.
	pub audit_segments: u32,
	/// Where the job pays by [lottery](crate::lottery): of how many segments one is drawn.
	pub lottery: Option<u32>,
	/// What each accusation of a seat puts at stake.
	#[serde(with = "trainyard_program::text::decimal")]
	pub challenge: Balance,
	/// Seed of this round, of which seats sign their draws; none before the committee is drawn.
	pub seed: Option<H256>,
	/// Distinct results, what was decided, what is asked for, and the blobs that hold it.
	pub groups: Vec<GroupView<AccountId>>,
	/// The committee of this round, in the order drawn.
	pub committee: Vec<MemberView<AccountId>>,
	/// Evidence that others of the committee are drawn to replay again.
	pub rechecks: Vec<RecheckView<AccountId>>,
}

impl<AccountId> AuditView<AccountId> {
	/// Returns how seats draw what they replay.
	pub fn drawing(&self) -> Drawing {
		Drawing { draws: self.audit_segments, lottery: self.lottery }
	}
}

/// A segment of somebody's evidence that another seat replays.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct RecheckView<AccountId> {
	/// Who replays it.
	pub by: AccountId,
	/// Whose evidence.
	pub of: AccountId,
	/// Of which result.
	pub group: u32,
	/// Of which segment.
	pub segment: u32,
}

/// The bundle of a trainer.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct BundleView<AccountId> {
	/// Whose.
	pub trainer: AccountId,
	/// Its root.
	pub root: H256,
	/// The leaves that are forced, once it opened them.
	pub forced: Option<Vec<crate::forced::Forced>>,
}

/// One distinct result under audit.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct GroupView<AccountId> {
	/// The roots, and how far it was trained; of the bundle at which the seats of this round look.
	pub result: WorkResult,
	/// The bundles of those who delivered it, in the order in which evidence names them.
	pub bundles: Vec<BundleView<AccountId>>,
	/// Those of its trainers whom the court convicted.
	pub convicted: Vec<AccountId>,
	/// What was decided, if anything.
	pub decision: Option<Decision>,
	/// What is asked for and is not on chain.
	pub asked: Vec<Piece>,
	/// What was asked for before, and is on chain.
	pub stored: Vec<Piece>,
	/// The blobs in which trainers of this result stored it. What was asked for as a state is there as
	/// often as trainers stored one, and a blob that is not the file of it convicts who did; leaves are
	/// in the state of the chain.
	pub rescued: Vec<RescuedView>,
	/// Whether somebody asked a committee for a state of it that no rescue carries. Where nobody did, seats that
	/// could not have it pay for that when results do not stand any more.
	pub relayed: bool,
}

/// A blob in which a trainer stored a piece of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct RescuedView {
	/// The piece.
	pub piece: Piece,
	/// Root of the blob.
	pub blob: H256,
}

/// One member of a committee.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct MemberView<AccountId> {
	/// Who.
	pub verifier: AccountId,
	/// What it committed to in this round, if it did.
	pub commitment: Option<H256>,
	/// Its key at the height of the draw, by which it signs its own draws.
	pub vrf_key: H256,
	/// Its findings, once revealed.
	pub findings: Option<crate::audit::Findings<AccountId>>,
	/// Whether the court convicted its evidence.
	pub convicted: bool,
	/// The results that it rejected and accuses nobody of, since its bond covered no further accusation:
	/// it can accuse while results stand.
	pub postponed: Vec<u32>,
	/// Where it serves other seats what it fetched, if it does: the base URL of an HTTP server.
	pub location: Option<Text>,
}

/// Hardware as its owner reports it; nothing checks it.
#[derive(
	Clone,
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
pub struct Hardware {
	/// Processor.
	pub cpu: Text,
	/// Cores.
	pub cores: u32,
	/// Memory in MiB.
	pub memory_mib: u32,
	/// Accelerator; empty for none.
	pub gpu: Text,
}

/// The whole weight of all authorities of a session: shares of it are given in these parts.
pub const WHOLE_WEIGHT: u64 = 1_000_000_000_000;

/// A trainer.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct TrainerView<AccountId> {
	/// Who.
	pub account: AccountId,
	/// Bond.
	#[serde(with = "trainyard_program::text::decimal")]
	pub bond: Balance,
	/// Hardware as reported.
	pub hardware: Hardware,
	/// Whether it stands for block authorship.
	pub candidate: bool,
	/// Training work ever credited.
	#[serde(with = "trainyard_program::text::decimal")]
	pub training_total: u128,
	/// Effective training power, micro-ut a day.
	#[serde(with = "trainyard_program::text::decimal")]
	pub training_effective: u128,
	/// Drilling work ever credited.
	#[serde(with = "trainyard_program::text::decimal")]
	pub drilling_total: u128,
	/// Effective drilling power, micro-ut a day.
	#[serde(with = "trainyard_program::text::decimal")]
	pub drilling_effective: u128,
	/// Total ECP: its share of the weight among those who stand (of one that does not stand, what it
	/// would be if it did), in parts of [`WHOLE_WEIGHT`].
	#[serde(with = "trainyard_program::text::decimal")]
	pub ecp: u128,
	/// Weight among the authorities of the running session, if it is one.
	pub weight: Option<u64>,
	/// Weight announced for the next session, if it will be one.
	pub next_weight: Option<u64>,
}

/// What the chain knows of its own finality.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct FinalityView<AccountId> {
	/// Up to which height blocks are final by the word of more than two thirds of the weight, or by
	/// that of root and more than a third.
	pub height: BlockNumber,
	/// The authorities of the running session.
	pub authorities: Vec<SaidView<AccountId>>,
}

/// What an authority said last of finality.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct SaidView<AccountId> {
	/// Who.
	pub account: AccountId,
	/// Its weight in the running session.
	pub weight: u64,
	/// Up to which height blocks are final as far as it knows. `None` if it said nothing.
	pub said: Option<BlockNumber>,
}

/// Where a verifier stands.
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
pub enum Standing {
	/// It is drawn.
	Active,
	/// It was absent too often, keeps its place, and is not drawn until it resumes.
	Paused,
	/// It has no place, because it has set no VRF key, the pool was full, or a larger bond displaced
	/// it.
	Waiting {
		/// Since this height.
		since: BlockNumber,
	},
	/// It left.
	Left {
		/// At this height.
		since: BlockNumber,
	},
}

/// A verifier and its bond.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct VerifierView {
	/// Where it stands.
	pub standing: Standing,
	/// Its bond, as it is held.
	#[serde(with = "trainyard_program::text::decimal")]
	pub bond: Balance,
	/// The part of it that running seats lock.
	#[serde(with = "trainyard_program::text::decimal")]
	pub locked: Balance,
	/// The part of it that counts in draws.
	#[serde(with = "trainyard_program::text::decimal")]
	pub counted: Balance,
	/// What it declared to have room for.
	pub capacity: Resources,
	/// What its running seats need.
	pub load: Resources,
	/// Seats without a verdict among the last hundred.
	pub absences: u32,
	/// Where it serves other seats what it fetched, if it does: the base URL of an HTTP server.
	pub location: Option<Text>,
	/// The bytes of the key of its own draws, once it has set one; without it it has no place.
	pub vrf_key: Option<H256>,
}

/// A dispute before the court that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct DisputeView<AccountId> {
	/// Its number.
	pub id: u64,
	/// Of which job.
	pub job: JobId,
	/// Who accuses.
	pub challenger: AccountId,
	/// Who is accused.
	pub defendant: AccountId,
	/// Root of the bundle that it replayed, of a seat that is accused of its evidence; none of a trainer.
	pub bundle_root: Option<H256>,
	/// What the challenger says instead.
	pub claimed: crate::accusation::Claimed,
	/// Where it stands, in words: what the next call names. None at a piece.
	pub place: Option<String>,
	/// Who is to move.
	pub turn: DisputeTurn,
	/// What the challenger has at stake.
	#[serde(with = "trainyard_program::text::decimal")]
	pub deposit: Balance,
	/// The height at which the challenger bound itself to it.
	pub committed_at: BlockNumber,
	/// The height of the last move.
	pub moved_at: BlockNumber,
	/// Moves made.
	pub moves: u32,
	/// Blocks that the challenger has left, as long as they are not full.
	pub challenger_left: BlockNumber,
	/// Blocks that the defender has left, as long as they are not full.
	pub defender_left: BlockNumber,
	/// Whether the clock of the side that is to move runs.
	pub runs: bool,
	/// Whether it waits for a place in the docket.
	pub aside: bool,
	/// Whether the defendant lost elsewhere, so that it ends soon.
	pub moot: bool,
}

/// Who is to move in a dispute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DisputeTurn {
	/// The defender posts or opens something.
	Defender,
	/// The challenger names the first claim that it denies.
	Challenger,
	/// A piece is left: either side brings the openings, and the defender loses if nobody does.
	Piece,
}

/// A trainer's offer.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct ListingView<AccountId> {
	/// Whose.
	pub trainer: AccountId,
	/// Price of one `ut`.
	#[serde(with = "trainyard_program::text::decimal")]
	pub price_per_ut: Balance,
	/// Largest job taken.
	pub max_work: MicroUt,
	/// Free text.
	pub note: Text,
	/// What it did as a trainer.
	pub record: Record,
}

/// What an account did in a role, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct RecordView {
	/// As what.
	pub role: Role,
	/// What it did.
	pub record: Record,
	/// How much of its bond counts where trainers are drawn, in millionths. Nobody else is drawn by it.
	pub standing: u32,
	/// A forecast of the chance that a result of it is right, in millionths.
	pub right: u32,
}

impl RecordView {
	/// Returns what follows from a record.
	pub fn of(role: Role, record: Record) -> Self {
		Self { role, record, standing: record.standing(), right: record.right() }
	}
}

/// A blob as it stands in the list of all.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct StoredView<AccountId> {
	/// Its root.
	pub root: H256,
	/// Who registered it.
	pub owner: AccountId,
	/// Length in bytes.
	pub size: u64,
	/// Chunks in all.
	pub chunks: u32,
	/// Chunks that are stored.
	pub stored: u32,
	/// What is held of the owner for it, rent included.
	#[serde(with = "trainyard_program::text::decimal")]
	pub deposit: Balance,
	/// Height after which it may be removed.
	pub expires: BlockNumber,
	/// Whether its removal has begun.
	pub removing: bool,
	/// How many running jobs name it; it is not removed while one does.
	pub awaited: u32,
	/// Root of the blob that it descends from, where its owner said so.
	pub parent: Option<H256>,
}

/// Most versions that are returned at once.
pub const MAX_VERSIONS: u32 = 256;

/// A blob as a version of others.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct VersionView<AccountId> {
	/// Its root.
	pub root: H256,
	/// Root of the blob that it descends from, where its owner said so; that one need not be on chain any
	/// more.
	pub parent: Option<H256>,
	/// How many versions there were before it, as its owner says.
	pub number: u32,
	/// Length in bytes.
	pub size: u64,
	/// Whether all of its chunks are stored.
	pub whole: bool,
	/// The block from which on its time counts.
	pub since: BlockNumber,
	/// Height after which it may be removed.
	pub expires: BlockNumber,
	/// Who registered it.
	pub owner: AccountId,
}

/// Values of some chunks of a blob as nodes of the tree over its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkValues {
	/// Length of the blob in bytes.
	pub size: u64,
	/// Values of chunks that follow each other.
	pub values: Vec<H256>,
}

/// A blob on chain.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct BlobView<AccountId> {
	/// Who registered it.
	pub owner: AccountId,
	/// Length in bytes.
	pub size: u64,
	/// Chunks in all.
	pub chunks: u32,
	/// Indices of chunks not yet stored.
	pub missing: Vec<u32>,
	/// Height after which it may be removed.
	pub expires: BlockNumber,
	/// Whether its removal has begun: it takes no chunks, anyone may go on with `remove`, and when it
	/// is gone it can be registered again.
	pub removing: bool,
}
