//! The traits by which pallets meet. The runtime wires them; a mock needs one pallet and
//! a few one-line fakes.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
	not(test),
	deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

extern crate alloc;

mod bets;
mod claims;
mod court;
mod reputation;

pub use bets::{ConvictionObserver, ResultStage, ResultStanding, Results};
pub use claims::{ClaimPools, PooledClaims};
pub use court::{
	Accusation, Accused, Audited, Charged, ClockTerms, Conviction, Court, CourtRoom, Defendant,
	DisputeId, MoveClock, Stakes, Standing, Window, MAX_WINDOWS,
};
pub use reputation::{JobDeeds, Reputation};

use alloc::vec::Vec;
use core::ops::{Range, RangeInclusive};
use sp_runtime::{DispatchError, DispatchResult, Permill, Weight};
use trainyard_program::spec::CheckedSpec;
use trainyard_protocol::{
	audit::Decision,
	claims::Known,
	duties::{Drawing, Recompute},
	job::{Balance, BlockNumber, Reveal, Terms, WorkResult},
	lottery::Tickets,
	pieces::{Piece, PieceSizes},
	relay::ChunkOpening,
	seats::Resources,
	state::ExpectedTensor,
	JobId, MicroUt, H256,
};

/// What pieces of results consist of, and openings of single chunks of them.
pub trait PieceChunks {
	/// Returns how many chunks of 1 KiB `piece` of this result of `job` has; 0 where it is not opened by
	/// chunks, or the job is not audited.
	fn chunks(job: JobId, result: &WorkResult, piece: Piece) -> u64;
	/// Returns whether `opening` shows chunk `number` of that piece, under the roots of the result or of
	/// the job's specification. Samples are read at the places beside the piece.
	fn opens(
		job: JobId,
		result: &WorkResult,
		piece: (Piece, &H256),
		number: u64,
		opening: &ChunkOpening,
	) -> bool;
	/// Returns the weight of one of both at worst.
	fn weight() -> Weight;
}

/// A seed that forms after a given block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
	/// There are not enough blocks yet; the seed is ready at this height at the earliest.
	NotBefore(BlockNumber),
	/// The seed.
	Ready(H256),
	/// Asked too late: everybody has known the seed for long, or the outputs are gone. Draw again,
	/// from the next draw height.
	Lost,
}

/// Randomness accumulated from the VRF outputs of the authors of the blocks after a *draw height*.
///
/// Draw heights lie apart, so that whoever decides when something is drawn has few to choose from.
/// The last of the authors can withhold a block and so choose between two seeds; an author of all
/// of them (a chain with one authority) can predict it.
pub trait Beacon {
	/// Returns the draw height of what is settled at height `settled`: the first that is not below
	/// it. The blocks after it make the seed.
	fn draw_height(settled: BlockNumber) -> BlockNumber;
	/// Returns the seed for (`domain`, `subject`) from the blocks after the draw height `after`.
	fn seed(domain: &[u8], subject: &[u8], after: BlockNumber) -> Seed;
	/// Returns the most blocks from a draw height to the last block in which its seed is given,
	/// whatever the chain's settings. Whoever draws from what was there at the draw height
	/// remembers it for longer.
	fn horizon() -> BlockNumber;
	/// Returns the weight of one [`Beacon::seed`] at worst.
	fn seed_weight() -> Weight;
}

/// What the chain knows of its own finality.
pub trait Finality {
	/// Returns the greatest height at which a block is final by the word of more than two thirds of the
	/// weight. The truth may be later, and it may stay where it is for as long as a third wants that. It
	/// never falls.
	fn final_height() -> BlockNumber;
}

/// Whether authors keep the data that the chain retains.
pub trait AuthorKeeps {
	/// Returns whether the author of the present block showed what its block asked for, or was asked for
	/// nothing. Asked at the end of a block.
	fn author_keeps() -> bool;
}

/// A chain that retains nothing.
impl AuthorKeeps for () {
	fn author_keeps() -> bool {
		true
	}
}

/// Who makes the blocks of the running session.
pub trait SessionWeights<AccountId> {
	/// Returns the authorities and their weights, at least 1 each.
	fn weights() -> Vec<(AccountId, u64)>;
	/// Benchmarks: makes that many accounts the authorities, and returns them.
	#[cfg(feature = "runtime-benchmarks")]
	fn make_authorities(count: u32) -> Vec<AccountId>;
}

/// Trainers and their power.
pub trait TrainerRegistry<AccountId> {
	/// Returns whether `who` is registered and not leaving.
	fn is_trainer(who: &AccountId) -> bool;
	/// Returns the bond of `who`; 0 for strangers.
	fn bond(who: &AccountId) -> Balance;
	/// Credits verified training work. Strangers get nothing. Returns when that is, in milliseconds
	/// since 1970, for [`TrainerRegistry::revoke_training`]; `None` for strangers.
	fn credit_training(who: &AccountId, work: MicroUt) -> Option<u64>;
	/// Takes back what is left of `work` that was credited at the time `credited`: of the effective
	/// power as much as it still adds after its decay, and all of it from the total; at most what there
	/// is.
	fn revoke_training(who: &AccountId, work: MicroUt, credited: u64);
	/// Returns among how much training power, in micro-ut a day, the part of what blocks mint on which training
	/// decides (six tenths) is shared out: that of those who make blocks, now or in the next session,
	/// whichever is less. Fixed within a session. Below the chain's floor it is the floor, and where a part of
	/// the weight is nobody's it is less by as much, as then all weights bring more blocks.
	fn training_volume() -> MicroUt;
	/// Benchmarks: makes `who` a trainer.
	#[cfg(feature = "runtime-benchmarks")]
	fn make_trainer(who: &AccountId);
}

/// What drilling asks of trainers and does to them.
pub trait Drillers<AccountId> {
	/// Returns whether `who` is a registered trainer with at least the least bond, and not leaving.
	fn is_trainer(who: &AccountId) -> bool;
	/// Returns the bond of `who`; 0 for strangers.
	fn bond(who: &AccountId) -> Balance;
	/// Returns the drilling power of `who`, as the work that would add as much now: what it has to
	/// lose.
	fn drilled(who: &AccountId) -> MicroUt;
	/// Credits verified drilling work. Strangers get nothing.
	fn credit_drilling(who: &AccountId, work: MicroUt);
	/// Takes the drilling power of `work` away, at most what there is: as much effective power as
	/// crediting it now would add. The total of work ever credited stays as it was.
	fn debit_drilling(who: &AccountId, work: MicroUt);
	/// Takes this part of the bond for the jackpot, and all drilling power. Returns the amount
	/// taken.
	fn slash(who: &AccountId, part: Permill) -> Balance;
	/// Benchmarks: makes `who` a trainer with bond and drilling power.
	#[cfg(feature = "runtime-benchmarks")]
	fn make_driller(who: &AccountId);
}

/// Rounds of commit and reveal, one per job.
pub trait Submissions<AccountId> {
	/// Opens a round for `trainers`; commitments are taken from now on. A result that claims a
	/// number of trained segments outside `segments` is not taken.
	fn open(job: JobId, trainers: &[AccountId], segments: RangeInclusive<u32>) -> DispatchResult;
	/// Ends the commit phase: reveals are taken from now on. Returns the trainers that committed.
	fn open_reveals(job: JobId) -> Vec<AccountId>;
	/// Returns whether everyone has committed or, in the reveal phase, whether everyone who
	/// committed has revealed.
	fn is_complete(job: JobId) -> bool;
	/// Ends the reveal phase: nothing is taken any more. Returns what was revealed, in the order of
	/// the trainers given at opening.
	fn close(job: JobId) -> Vec<(AccountId, Reveal)>;
	/// Returns the reveals so far.
	fn reveals(job: JobId) -> Vec<(AccountId, Reveal)>;
	/// Returns who committed, each with its last commitment.
	fn commitments(job: JobId) -> Vec<(AccountId, H256)>;
	/// Forgets the round.
	fn remove(job: JobId);
}

/// Called by the pallets that do a part of a job, when something happened that may let the job go
/// on before its deadline.
pub trait JobObserver {
	/// Looks at `job` again in the next block. Constant, small work.
	fn progressed(job: JobId);
	/// Notes that a trainer of `job` named this model. Called once for each reveal.
	fn revealed(_job: JobId, _model: &H256) {}
	/// Benchmarks: makes `job` one for which [`Self::progressed`] does the most work.
	#[cfg(feature = "runtime-benchmarks")]
	fn make_waiting(_job: JobId) {}
}

/// What became of a job, for whoever posted it for a submitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobStanding {
	/// It goes on.
	Running,
	/// It is audited, and all trainers that revealed, two at least and more than half of those that were
	/// asked for, revealed the same: a model with this root. None of them was convicted, and the training
	/// did not diverge.
	Agreed(H256),
	/// It ended, and a model with this root was accepted whose training did not diverge.
	Accepted(H256),
	/// It ended with no such model, or is not known any more.
	Failed,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobEnd {
	/// Its audit accepted this result, be it one whose training diverged.
	Accepted(WorkResult),
	/// Its submitter took it back, or settled it with its trainers without an audit.
	Stopped,
	/// Nobody took it, or nobody delivered what was accepted; or it is not known any more.
	Failed,
}

/// Jobs that a pallet posts for their submitters.
pub trait PostedJobs<AccountId> {
	/// Fails with what posting such a job would fail with now, but for the balance of the submitter. Returns
	/// what would be held of that for it, besides for its record.
	fn check(
		submitter: &AccountId,
		spec: &CheckedSpec,
		terms: &Terms,
		max_fee_per_ut: Balance,
	) -> Result<Balance, DispatchError>;
	/// Posts a job that any trainer may apply for, by the rules for everybody: its money is held of the
	/// submitter. Changes nothing where it fails only inside a storage layer of the caller.
	fn post(
		submitter: &AccountId,
		spec: CheckedSpec,
		terms: Terms,
		max_fee_per_ut: Balance,
	) -> Result<JobId, DispatchError>;
	/// Returns the weight of one [`PostedJobs::post`], or [`PostedJobs::check`], at worst.
	fn post_weight() -> Weight;
	/// Returns what became of a job.
	fn standing(job: JobId) -> JobStanding;
	/// Returns how a job ended, as far as that does not ask for a model.
	fn ended(job: JobId) -> Option<JobEnd>;
	/// Returns the weight of one [`PostedJobs::standing`], or [`PostedJobs::ended`], at worst.
	fn standing_weight() -> Weight;
	/// Benchmarks: lets such jobs be posted by `who`.
	#[cfg(feature = "runtime-benchmarks")]
	fn make_postable(who: &AccountId);
}

/// A result of a trainer, beside what it has in common with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery<AccountId> {
	/// The trainer.
	pub trainer: AccountId,
	/// Merkle root over the checkpoints, with those that it forced.
	pub bundle_root: H256,
	/// What it is bound to draw these from, see
	/// [`commitment`](trainyard_protocol::forced::commitment).
	pub forced: H256,
}

/// What is to be audited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRequest<AccountId> {
	/// Distinct results, as [`WorkResult::common`] returns them, and who delivered each. A result
	/// says how many segments it has.
	pub groups: Vec<(WorkResult, Vec<Delivery<AccountId>>)>,
	/// The assignment seed.
	pub assignment: H256,
	/// Accounts that may not be on the committee: the submitter and all trainers.
	pub parties: Vec<AccountId>,
	/// How each seat draws segments of each result for itself.
	pub drawing: Drawing,
	/// Size of the committee.
	pub verifiers: u32,
	/// What a seat earns: absence costs a multiple of it.
	pub fee: Balance,
	/// The price of the job's work, done once: what seats of relays earn at least follows from it.
	pub price: Balance,
	/// What a seat needs of its verifier, over all results.
	pub needs: Resources,
	/// What a machine of the job's class computes in a second, in FLOP.
	pub rate: u64,
	/// Blocks in which a seat fetches what it replays, over all results.
	pub fetch: BlockNumber,
	/// What computing the states again takes that trainers do not keep.
	pub recompute: Recompute,
	/// The deposit of a challenge, above 0: a seat that accuses puts as much at stake.
	pub challenge: Balance,
	/// Blocks for which the window for challenges is open at least.
	pub window: BlockNumber,
	/// Blocks for which it is open again after a dispute or a claim ended.
	pub again: BlockNumber,
	/// What the bytes of the pieces of a result follow from.
	pub sizes: PieceSizes,
	/// Price of storing a byte on chain.
	pub storage_byte: Balance,
	/// Most that the owner gives back to seats for what trainers stored because they asked for it.
	pub storage: Balance,
}

/// What says whether a committee could be drawn for an audit that may come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitteeRequest<AccountId> {
	/// Accounts that may not be on it, as far as they are known.
	pub excluded: Vec<AccountId>,
	/// Its size.
	pub verifiers: u32,
	/// How each seat draws segments of each result for itself.
	pub drawing: Drawing,
	/// Segments of a result, at most.
	pub segments: u32,
	/// What a seat earns.
	pub fee: Balance,
	/// What a seat needs of its verifier, over all results that there may be.
	pub needs: Resources,
	/// What a machine of the job's class computes in a second, in FLOP.
	pub rate: u64,
	/// Blocks in which a seat fetches what it replays, over all results.
	pub fetch: BlockNumber,
	/// The deposit of a challenge.
	pub challenge: Balance,
}

/// What an audit reports when it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditStatus<AccountId> {
	/// Ask again at this height.
	Pending(BlockNumber),
	/// Decided.
	Done(Outcome<AccountId>),
}

/// What an audit came to. A trainer that the court convicted has lost, whatever is decided of its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome<AccountId> {
	/// One decision for each group, in order.
	pub decisions: Vec<Decision>,
	/// Who earned an audit fee: once for each, so a verifier that served in two rounds is here twice.
	pub served: Vec<AccountId>,
	/// What seats get back of what they paid for pieces that their draws read; together at most
	/// [`AuditRequest::storage`].
	pub stored: Vec<(AccountId, Balance)>,
	/// Who found forced errors: a part of all fees is theirs. `None` where none was opened, and so
	/// nobody could.
	pub found: Option<Vec<AccountId>>,
	/// Trainers that did not open their forced errors, so that they lose their deposits.
	pub unopened: Vec<AccountId>,
	/// Whether no committee ever sat: nobody looked at any result.
	pub unseated: bool,
	/// What is paid of the results that were accepted, to each of their trainers, where the job pays by lottery.
	pub tickets: Vec<(AccountId, Tickets)>,
}

impl<AccountId> Default for Outcome<AccountId> {
	fn default() -> Self {
		let (decisions, served, stored, found, unopened) = Default::default();
		let (unseated, tickets) = Default::default();
		Self { decisions, served, stored, found, unopened, unseated, tickets }
	}
}

/// Audits, one per job.
pub trait Audits<AccountId> {
	/// Returns whether a committee could be drawn from the verifiers that there are now, if none of them had
	/// another seat.
	fn can_seat(request: &CommitteeRequest<AccountId>) -> bool;
	/// Returns the weight of one [`Audits::can_seat`] at worst.
	fn can_seat_weight() -> Weight;
	/// Opens the audit of `job` at the present block.
	fn open(job: JobId, request: AuditRequest<AccountId>) -> DispatchResult;
	/// Takes the audit as far as it can go at the present block. Work is bounded by the
	/// committee and the pool of verifiers.
	fn advance(job: JobId) -> AuditStatus<AccountId>;
	/// Draws no further committee, where the audit waits for one: for an owner that waits no longer.
	/// What is still open is undecided when accusations of earlier rounds are decided. A round that
	/// runs, or a rescue, goes on to its own end, so that nobody who sees what was drawn is saved by the
	/// clock. An unknown audit stays unknown.
	fn give_up(job: JobId);
	/// Forgets an audit, which stays readable until then.
	fn remove(job: JobId);
	/// Returns what is known of the result of `trainer`. `None` while there is news to come: while seats reveal,
	/// trainers open what they forced, or somebody lacks what it asked for; of a result that has lost; and where
	/// there is no such result.
	fn known(job: JobId, trainer: &AccountId) -> Option<Known>;
	/// Returns for how many segments the result of `trainer` is paid where it is accepted, of a job that pays by lottery,
	/// once nobody can change that; `None` before, and of other jobs.
	fn tickets(job: JobId, trainer: &AccountId) -> Option<u32>;
	/// Returns the weight of one [`Audits::known`] at worst.
	fn known_weight() -> Weight;
	/// Returns the least that a seat pays, of an audit with this fee, which reveals nothing.
	fn silence_cost(fee: Balance) -> Balance;
	/// Returns the weight of one [`Audits::advance`] at worst.
	fn advance_weight() -> Weight;
	/// Benchmarks: lets every committee be drawn, of as many verifiers as there can be.
	#[cfg(feature = "runtime-benchmarks")]
	fn make_pool();
}

/// What a draw of verifiers came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drawn<AccountId> {
	/// Each of these has a seat until [`VerifierPool::release`].
	Seated(Vec<AccountId>),
	/// Enough would be able, and too many of them have no free seat now: draw again later.
	Busy,
	/// Fewer than wanted would be able if nobody had a seat.
	TooFew,
}

/// Bonded verifiers, for a pallet that needs something recomputed outside of an audit.
pub trait VerifierPool<AccountId> {
	/// Draws `count` verifiers from `seed`, at least one, in proportion to the seats that are free
	/// in the bonds that they had at height `after`; the seed formed after that height. The
	/// `excluded` are not drawn, nor who has no room for `needs`.
	fn draw(
		domain: &[u8],
		seed: &H256,
		after: BlockNumber,
		excluded: &[AccountId],
		count: u32,
		needs: &Resources,
	) -> Drawn<AccountId>;
	/// Takes from the bond of `who`, for the jackpot, what it costs to give no verdict in a seat
	/// that would have earned `fee`. Returns the amount taken.
	fn slash_absent(who: &AccountId, fee: Balance) -> Balance;
	/// Does the same for a verdict that contradicts what was decided.
	fn slash_contrary(who: &AccountId, fee: Balance) -> Balance;
	/// Ends the seat of `who`, who was drawn with these `needs`. `present` is whether it gave a
	/// verdict.
	fn release(who: &AccountId, needs: &Resources, present: bool);
	/// Benchmarks: fills the pool. Returns some of it, at least three, whose bonds are real.
	#[cfg(feature = "runtime-benchmarks")]
	fn make_pool() -> Vec<AccountId>;
}

/// Blobs on chain.
pub trait BlobStore {
	/// Returns whether every chunk of the blob with this root was stored.
	fn is_complete(root: &H256) -> bool;
	/// Returns the length of the blob with this root in bytes, once it is registered.
	fn size(root: &H256) -> Option<u64>;
	/// Returns whether these chunks of the blob with this root were stored.
	fn has_chunks(root: &H256, chunks: Range<u32>) -> bool;
}

/// Specifications of jobs, for pallets that look at pieces of their results.
pub trait Specs {
	/// Returns the root of the rows of the data; `None` for an unknown job.
	fn rows_root(job: JobId) -> Option<H256>;
	/// Returns the tensors of the states of a job, in the order of `lower::state`; none for an unknown
	/// job.
	fn tensors(job: JobId) -> Vec<ExpectedTensor>;
	/// Returns the weight of one [`Specs::tensors`] at worst.
	fn tensors_weight() -> Weight;
}

/// Blobs for which running jobs wait. Blocks keep room for their chunks, and nobody removes them.
pub trait AwaitedBlobs<AccountId>: BlobStore {
	/// Returns who holds the deposit of the blob with this root.
	fn owner(root: &H256) -> Option<AccountId>;
	/// Notes that a running job names the blob with this root, which need not be there yet. Every
	/// name is taken back by [`AwaitedBlobs::release`].
	fn expect(root: &H256);
	/// Takes one name back. A complete blob of one of the `keepers` is kept as long from now on as
	/// one that was just completed.
	fn release(root: &H256, keepers: &[AccountId]);
	/// Counts from now on what `who` brings of this blob, which is awaited.
	fn watch(root: &H256, who: &AccountId);
	/// Ends that count. Returns the bytes of the chunks that `who` itself brought meanwhile. Called
	/// before the name that it belongs to is taken back.
	fn brought(root: &H256, who: &AccountId) -> u64;
	/// Returns in how many blocks so far there was no room for another chunk.
	fn full_blocks() -> BlockNumber;
	/// Benchmarks: makes a complete blob of `who` with `size` bytes, and returns its root.
	#[cfg(feature = "runtime-benchmarks")]
	fn make_complete(who: &AccountId, size: u64) -> H256;
}

/// Periods by which a deadline for storing blobs can be moved, at most: nobody can hold a job for
/// ever by filling blocks.
pub const MAX_STANDSTILL: BlockNumber = 3;

/// Returns the deadline of a time for storing blobs that began at `since` and was to end at
/// `deadline`, where `full` of the blocks since had no room for another chunk.
pub fn stood_still(since: BlockNumber, deadline: BlockNumber, full: BlockNumber) -> BlockNumber {
	let most = deadline.saturating_sub(since).saturating_mul(MAX_STANDSTILL);
	deadline.saturating_add(full.min(most))
}
