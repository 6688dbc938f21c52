//! Disputes before the court: whom it accuses, and what it is asked.
//!
//! The court hears disputes between one challenger and one [`Defendant`]. It knows nothing of jobs: what
//! was claimed, what is at stake and for how long it can be disputed is [`Accused`] to say, and what a
//! conviction costs is its to move. The court moves the deposits of challengers alone.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use sp_runtime::{DispatchError, Weight};
use trainyard_court::Case;
use trainyard_protocol::{
	accusation::{Claimed, End, Leaves, Target},
	forced::Forced,
	job::{Balance, BlockNumber, WorkResult},
	JobId, H256,
};

/// The number of a dispute. A commitment has the number of the dispute that it becomes.
pub type DisputeId = u64;

/// Windows, one after the other, for which a window can be held open by disputes that convict nobody: a
/// week of the shortest. So nobody holds a job for ever by suing a friend.
pub const MAX_WINDOWS: BlockNumber = 42;

/// Who is accused: an account by what it said. Posts, clocks and convictions are its own, never those of
/// others who said the same.
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
)]
pub enum Defendant<AccountId> {
	/// A trainer, of its result.
	Trainer {
		/// Of which job.
		job: JobId,
		/// Who.
		who: AccountId,
	},
	/// A seat of an audit, of the evidence that it revealed.
	Seat {
		/// Of which job.
		job: JobId,
		/// Who.
		who: AccountId,
		/// Root of the bundle of the result that it replayed: one seat may replay the same segment of
		/// several results, from different states.
		bundle_root: H256,
	},
}

impl<AccountId> Defendant<AccountId> {
	/// Returns the job.
	pub fn job(&self) -> JobId {
		match self {
			Defendant::Trainer { job, .. } | Defendant::Seat { job, .. } => *job,
		}
	}

	/// Returns the account.
	pub fn who(&self) -> &AccountId {
		match self {
			Defendant::Trainer { who, .. } | Defendant::Seat { who, .. } => who,
		}
	}
}

/// The blocks in which results of a job, and the evidence about them, can be challenged.
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
)]
pub struct Window {
	/// The first of them.
	pub from: BlockNumber,
	/// The last of them, if nothing is disputed.
	pub until: BlockNumber,
	/// For how many blocks it is open after a dispute ended: one replay, and time to challenge. 0 of a
	/// window that ends with `until` whatever is disputed: that for late proof.
	pub again: BlockNumber,
	/// For how many blocks it was to be open when it opened. Claims move `until`, and must not move
	/// what is counted by this.
	pub length: BlockNumber,
}

impl Window {
	/// Returns a window that opens at height `from` for that many blocks more.
	pub fn new(from: BlockNumber, length: BlockNumber, again: BlockNumber) -> Self {
		Self { from, until: from.saturating_add(length), again, length }
	}

	/// Returns a window that nothing holds open after `until`.
	pub fn once(from: BlockNumber, until: BlockNumber) -> Self {
		let length = until.saturating_sub(from);
		Self { from, until, again: 0, length }
	}

	/// Returns the last block in which a challenge is taken whatever is disputed: that many windows after
	/// it opened, or the end of the last claim.
	pub fn last(&self) -> BlockNumber {
		if self.again == 0 {
			return self.until;
		}
		self.last_claim().max(self.until)
	}

	/// Returns the last block in which a claim begins that moves `until`: so many windows after it opened.
	pub fn last_claim(&self) -> BlockNumber {
		let length = self.length.saturating_add(1);
		self.from.saturating_add(length.saturating_mul(MAX_WINDOWS))
	}

	/// Returns whether a challenge is taken at height `now`, where the disputes stand like this.
	pub fn is_open(&self, now: BlockNumber, standing: &Standing) -> bool {
		if now < self.from || now > self.last() {
			return false;
		}
		now <= self.until || standing.disputes > 0 || now <= self.until_again(standing)
	}

	/// Returns whether everything is over at height `now`: no challenge is taken, and none waits. From
	/// then on the job can be decided.
	pub fn is_over(&self, now: BlockNumber, standing: &Standing) -> bool {
		now > self.until && !self.is_open(now, standing) && standing.is_quiet()
	}

	/// Returns the first block in which everything is over where the disputes stand like this, if
	/// nothing runs and nothing begins.
	pub fn over_at(&self, standing: &Standing) -> BlockNumber {
		let again = self.until_again(standing).min(self.last());
		self.until.max(again).saturating_add(1)
	}

	/// Returns the last block in which it is open because a dispute ended; 0 where none did.
	fn until_again(&self, standing: &Standing) -> BlockNumber {
		standing.ended.map_or(0, |ended| ended.saturating_add(self.again))
	}
}

/// Where the disputes of a job stand.
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
)]
pub struct Standing {
	/// Commitments to challenges that are not open yet.
	pub commitments: u32,
	/// Disputes that run, or wait for a place.
	pub disputes: u32,
	/// The height at which the last dispute ended that was not moot.
	pub ended: Option<BlockNumber>,
}

impl Standing {
	/// Returns whether nothing runs or waits.
	pub fn is_quiet(&self) -> bool {
		self.commitments == 0 && self.disputes == 0
	}
}

/// How somebody was convicted.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Conviction<AccountId> {
	/// In which dispute.
	pub dispute: DisputeId,
	/// Who is paid for it: the oldest of those who came to the piece that was proved.
	pub finder: AccountId,
	/// Who has a half of the finder's part, if that is somebody else: the first of those in whose disputes
	/// something happened all the time.
	pub second: Option<AccountId>,
	/// Whether the referee computed something else. If not the defender was silent, and its finder gets
	/// no part of the deposit beyond a challenge deposit.
	pub proven: bool,
}

impl<AccountId> Conviction<AccountId> {
	/// Returns what each finder has of `amount`: halves where there are two, and the odd unit is the first
	/// one's.
	pub fn halves(&self, amount: Balance) -> impl Iterator<Item = (&AccountId, Balance)> {
		let half = self.second.as_ref().map_or(0, |_| amount / 2);
		let first = (&self.finder, amount.saturating_sub(half));
		core::iter::once(first).chain(self.second.as_ref().map(|second| (second, half)))
	}
}

/// What a defendant claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charged {
	/// The computation.
	pub case: Case,
	/// Its result; of a seat the one that it replayed.
	pub result: WorkResult,
	/// The most results of a step of it, or of a slice of an evaluation: what it costs to lower it.
	pub results: u32,
}

/// What a defence about a target takes, and what time there is for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockTerms {
	/// Blocks that each side has for all its moves: twice the work, because two disputes are heard at a
	/// time, and four hours.
	pub ticks: BlockNumber,
	/// Blocks of work, at the rate of the job's machines.
	pub work: BlockNumber,
	/// Most blocks by which the defender's clock grows for other defences of its account.
	pub room: BlockNumber,
}

/// Results and evidence that can be accused, for the court.
pub trait Accused<AccountId> {
	/// Returns what `defendant` claims; `None` where it claims nothing, or nothing any more.
	fn case(defendant: &Defendant<AccountId>) -> Option<Charged>;
	/// Returns what a seat revealed of a segment: the end that it computed. `None` where it revealed
	/// nothing of it.
	fn evidence(defendant: &Defendant<AccountId>, segment: u32) -> Option<End>;
	/// Returns whether a trainer stored the blob with this root as the file of the state of checkpoint
	/// `state`.
	fn stored(defendant: &Defendant<AccountId>, blob: &H256, state: u32) -> bool;
	/// Returns the leaf `index` of the result of a trainer, where it opened it as forced.
	fn forced(_defendant: &Defendant<AccountId>, _index: u32) -> Option<Forced> {
		None
	}
	/// Returns the window of `job`: the running one or, after it is settled, that for late proof. `None`
	/// for a job that has none, before, between and after them.
	fn window(job: JobId) -> Option<Window>;
	/// Returns the deposit of a challenge: what a defence costs.
	fn challenge_deposit(job: JobId) -> Option<Balance>;
	/// Returns what a defence about `target` takes, and what time there is for it.
	fn clock(defendant: &Defendant<AccountId>, target: &Target) -> ClockTerms;
	/// Convicts `defendant`, once: what it put at stake is lost, moved now or when the job ends.
	fn convict(defendant: &Defendant<AccountId>, conviction: &Conviction<AccountId>);
	/// Looks at `job` again in the next block: a dispute began or ended.
	fn moved(job: JobId);
	/// Returns the weight of one [`Accused::case`] at worst.
	fn case_weight() -> Weight;
	/// Returns the weight of one [`Accused::convict`] and one [`Accused::moved`] at worst.
	fn convict_weight() -> Weight;
	/// Benchmarks: lets somebody claim this, as the trainer of a job whose window is open. `None` where
	/// that cannot be made.
	#[cfg(feature = "runtime-benchmarks")]
	fn make_accused(_charged: Charged) -> Option<Defendant<AccountId>> {
		None
	}
}

/// What an audit knows of those whom the court accuses: the part of [`Accused`] that verification has.
/// Cases, deposits and clocks are the market's.
pub trait Audited<AccountId> {
	/// Returns the result with this bundle root, if the seat `who` revealed evidence of it that was not
	/// convicted.
	fn replayed(job: JobId, who: &AccountId, bundle_root: &H256) -> Option<WorkResult>;
	/// Returns the end of a segment that the seat `who` revealed of the result with this bundle root.
	fn evidence(job: JobId, who: &AccountId, bundle_root: &H256, segment: u32) -> Option<End>;
	/// Returns whether the trainer `who` stored the blob with this root as the file of the state of
	/// checkpoint `state`, because that was asked for.
	fn stored(job: JobId, who: &AccountId, blob: &H256, state: u32) -> bool;
	/// Returns the leaf `index` of the result of the trainer `who`, where it opened it as forced.
	fn forced(job: JobId, who: &AccountId, index: u32) -> Option<Forced>;
	/// Returns the window in which results and evidence can be challenged, while it is open.
	fn window(job: JobId) -> Option<Window>;
	/// Notes a conviction. A seat loses its stake at once; what a trainer loses is the market's to move.
	fn convict(defendant: &Defendant<AccountId>, conviction: &Conviction<AccountId>);
	/// Returns the weight of one [`Audited::convict`] at worst.
	fn convict_weight() -> Weight;
}

/// What seats have at stake when they accuse.
pub trait Stakes<AccountId> {
	/// Moves up to `amount` of the stake of the seat `who` to the free balance of the defendant `to`.
	/// Returns how much. While the seat can be convicted itself, [`Court::reclaim`] can ask for it again.
	fn forfeit(job: JobId, who: &AccountId, to: &Defendant<AccountId>, amount: Balance) -> Balance;
	/// Says that the accusation of the seat `who` was not lost: its stake is free.
	fn unlock(job: JobId, who: &AccountId);
}

/// The room that blocks keep for the court's calls.
pub trait CourtRoom {
	/// Returns whether it is full in this block. Asked when the block ends.
	fn is_full() -> bool;
	/// Returns the weight of [`CourtRoom::is_full`] at worst.
	fn weight() -> Weight;
}

/// The clock of moves in disputes, for other pallets whose moves have the same room.
pub trait MoveClock {
	/// Returns how many blocks there were in which that room was not full.
	fn ticks() -> u32;

	/// Returns how many blocks count of those since `height`, at which there were `ticks`: those that had room, and
	/// at least one of [`MAX_STANDSTILL`](crate::MAX_STANDSTILL) + 1, so that nobody stops a clock for ever.
	fn counted(ticks: u32, height: BlockNumber, now: BlockNumber) -> u32 {
		let had_room = Self::ticks().saturating_sub(ticks);
		let all = now.saturating_sub(height);
		had_room.max(all.checked_div(crate::MAX_STANDSTILL.saturating_add(1)).unwrap_or(0))
	}
}

/// An accusation, as a challenge shows it.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Accusation<AccountId> {
	/// Who is accused.
	pub defendant: Defendant<AccountId>,
	/// Of what.
	pub target: Target,
	/// What is true instead.
	pub claimed: Claimed,
	/// What the defendant said there, under its roots.
	pub leaves: Leaves,
}

/// The court, for the pallets whose results and evidence it judges.
pub trait Court<AccountId> {
	/// Opens a dispute for the seat `by`, which bound itself to it at height `committed_at` and has
	/// `stake` locked until [`Stakes`] says otherwise. It needs no further deposit.
	fn accuse(
		by: &AccountId,
		accusation: Accusation<AccountId>,
		committed_at: BlockNumber,
		stake: Balance,
	) -> Result<DisputeId, DispatchError>;
	/// Returns whether `by` accuses `defendant` of `target` in a dispute that has not ended: nobody does so
	/// twice at a time.
	fn is_accusing(by: &AccountId, defendant: &Defendant<AccountId>, target: &Target) -> bool;
	/// Returns where the disputes of `job` stand.
	fn standing(job: JobId) -> Standing;
	/// Ends what `defendant` is accused of where the court did not convict it: moves the deposits of
	/// challengers that lost against it to the defendant if it is `acquitted`, otherwise to the
	/// jackpot, and then every dispute with it is moot. Returns the amount. Called again when a later
	/// time for challenges is over.
	fn settle(defendant: &Defendant<AccountId>, acquitted: bool) -> Balance;
	/// Says that whatever seats of `job` revealed holds where the court convicted nobody of it: in the
	/// next blocks each has the deposits of the challengers that lost against it. No dispute with a seat
	/// may be open.
	fn acquit_seats(job: JobId);
	/// Moves up to `amount` of what seats lost against `defendant`, and what waits for its end, to the free
	/// balance of `to`. Returns how much: nothing of a defendant that was convicted or settled.
	fn reclaim(defendant: &Defendant<AccountId>, to: &AccountId, amount: Balance) -> Balance;
	/// Forgets what was said in disputes of `job`, a part in each of the next blocks. None may be open.
	fn forget(job: JobId);
	/// Returns the weight of one [`Court::accuse`] at worst.
	fn accuse_weight() -> Weight;
	/// Returns the weight of one [`Court::standing`].
	fn standing_weight() -> Weight;
	/// Returns the weight of one [`Court::settle`] at worst.
	fn settle_weight() -> Weight;
	/// Returns the weight of one [`Court::acquit_seats`] at worst. What follows is the court's own.
	fn acquit_seats_weight() -> Weight;
	/// Returns the weight of one [`Court::forget`] at worst.
	fn forget_weight() -> Weight;
	/// Benchmarks: lets `amount` be what seats lost against `defendant`, which has it free.
	#[cfg(feature = "runtime-benchmarks")]
	fn make_lost(_defendant: &Defendant<AccountId>, _amount: Balance) {}
}

#[cfg(test)]
mod tests {
	use super::*;

	const WINDOW: Window = Window { from: 100, until: 199, again: 20, length: 99 };

	fn standing(disputes: u32, ended: Option<BlockNumber>) -> Standing {
		Standing { commitments: 0, disputes, ended }
	}

	#[test]
	fn a_window_opens_again_and_not_for_ever() {
		let quiet = Standing::default();
		for (now, is_open) in [(99, false), (100, true), (199, true), (200, false)] {
			assert_eq!(WINDOW.is_open(now, &quiet), is_open);
			assert_eq!(WINDOW.is_over(now, &quiet), now == 200);
		}
		let ended = standing(0, Some(210));
		assert!(WINDOW.is_open(230, &ended) && !WINDOW.is_over(230, &ended));
		assert!(!WINDOW.is_open(231, &ended) && WINDOW.is_over(231, &ended));
		assert_eq!((WINDOW.over_at(&quiet), WINDOW.over_at(&ended)), (200, 231));
		assert_eq!(WINDOW.over_at(&standing(0, Some(150))), 200);
		assert_eq!(WINDOW.over_at(&standing(0, Some(4_299))), 4_301);
		let running = standing(1, None);
		assert_eq!(WINDOW.last(), 100 + 42 * 100);
		assert!(WINDOW.is_open(4_300, &running) && !WINDOW.is_open(4_301, &running));
		assert!(!WINDOW.is_over(4_301, &running), "a dispute goes on to its end");
		assert!(WINDOW.is_over(4_301, &standing(0, Some(4_299))));
	}

	/// A claim is withdrawn for nothing. If each moved the end of all by 42 times what it moved the
	/// window, sixteen of them would hold a job for ever.
	#[test]
	fn a_claim_moves_the_end_by_no_more_than_itself() {
		assert_eq!(Window::new(100, 99, 20), WINDOW);
		let running = standing(1, None);
		let mut window = WINDOW;
		for claim in 1..=16 {
			let now = window.last();
			assert!(window.is_open(now, &running) && !window.is_open(now + 1, &running));
			window.until = now + window.again;
			assert_eq!(window.last(), WINDOW.last() + claim * WINDOW.again);
		}
	}

	#[test]
	fn two_finders_share_what_one_would_have() {
		let of = |second, amount| {
			let conviction = Conviction { dispute: 0, finder: 'a', second, proven: true };
			conviction.halves(amount).map(|(who, part)| (*who, part)).collect::<Vec<_>>()
		};
		assert_eq!(of(None, 7), [('a', 7)]);
		assert_eq!(of(Some('b'), 7), [('a', 4), ('b', 3)]);
		assert_eq!(of(Some('b'), 0), [('a', 0), ('b', 0)]);
	}

	#[test]
	fn a_window_for_late_proof_opens_once() {
		let window = Window::once(100, 199);
		for standing in [standing(0, None), standing(0, Some(190)), standing(3, Some(190))] {
			assert!(window.is_open(100, &standing) && window.is_open(199, &standing));
			assert!(!window.is_open(99, &standing) && !window.is_open(200, &standing));
			assert_eq!(window.is_over(200, &standing), standing.is_quiet(), "what runs goes on");
			assert_eq!((window.last(), window.over_at(&standing)), (199, 200));
		}
	}

	#[test]
	fn a_commitment_holds_a_job_and_no_window() {
		let bound = Standing { commitments: 1, ..Standing::default() };
		assert!(!WINDOW.is_open(200, &bound) && !WINDOW.is_over(200, &bound));
	}
}
