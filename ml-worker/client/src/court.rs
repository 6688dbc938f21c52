//! The court, as its storage has it.
//!
//! - The types of this module are those that `pallet-court` stores: their bytes belong to
//!   `PROTOCOL_VERSION`. Places, stages and digests are those of the game, [`trainyard_court::game`].
//! - `storage.rs` reads them at a block. A runtime without a court stores nothing under its names, so
//!   there everything reads as on a chain without disputes.
//! - `history.rs` reads from blocks how a dispute went.
//! - [`calls`] are the moves, and [`Refusal`] says what a move that failed means.

pub mod calls;
mod history;
mod refusal;
mod storage;

pub use history::{Happened, Sent};
pub use refusal::Refusal;
#[cfg(any(test, feature = "testing"))]
pub(crate) use storage::{claims_key, leaves_key, named_states_key};
pub use storage::{ClaimView, NamedState, Said};

use super::AccountId32;
use codec::{Decode, Encode};
use trainyard_court::game::{Claimed, Leaf, Stage, Target, Turn};
use trainyard_protocol::{
	commitment,
	job::{Balance, BlockNumber},
	JobId, H256,
};

/// The number of a dispute. A commitment has the number of the dispute that it becomes.
pub type DisputeId = u64;

/// Most blocks for which clocks stand still, as a multiple of the blocks in which they run.
const MAX_STANDSTILL: u32 = 3;

/// Blocks from when a dispute came to its piece until its challenger can bring the openings. The
/// defender can at once.
pub const JUDGE_AFTER: BlockNumber = 10;

/// Who is accused: an account by what it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Encode, Decode, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Defendant {
	/// A trainer, of its result.
	Trainer {
		/// Of which job.
		job: JobId,
		/// Who.
		who: AccountId32,
	},
	/// A seat of an audit, of the evidence that it revealed.
	Seat {
		/// Of which job.
		job: JobId,
		/// Who.
		who: AccountId32,
		/// Root of the bundle of the result that it replayed.
		bundle_root: H256,
	},
}

impl Defendant {
	/// Returns the job.
	pub fn job(&self) -> JobId {
		match self {
			Defendant::Trainer { job, .. } | Defendant::Seat { job, .. } => *job,
		}
	}

	/// Returns the account.
	pub fn who(&self) -> &AccountId32 {
		match self {
			Defendant::Trainer { who, .. } | Defendant::Seat { who, .. } => who,
		}
	}
}

/// A side of a dispute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
	/// Who accuses.
	Challenger,
	/// Who is accused.
	Defender,
}

/// A block, by what clocks count and by what people count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, serde::Serialize)]
pub struct Since {
	/// Blocks so far in which the court's room was not full.
	pub tick: u32,
	/// Height.
	pub height: BlockNumber,
}

impl Since {
	/// Returns how many ticks count from then until `now`: those that there were, and at least a
	/// quarter of all blocks.
	pub fn ticks_until(&self, now: &Since) -> u32 {
		let ticks = now.tick.saturating_sub(self.tick);
		let blocks = now.height.saturating_sub(self.height);
		ticks.max(blocks / (MAX_STANDSTILL + 1))
	}

	/// Returns the same as if it had been so many blocks before.
	fn before(&self, blocks: u8) -> Self {
		Self { tick: self.tick, height: self.height.saturating_sub(blocks.into()) }
	}
}

/// The clocks of both sides. One of them runs at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, serde::Serialize)]
pub struct Clocks {
	/// Ticks that the challenger had left when its clock was last read.
	pub challenger: u32,
	/// Ticks that the defender had left when its clock was last read.
	pub defender: u32,
	/// Since when the clock of the side that is to move runs; `None` while it stands.
	pub since: Option<Since>,
	/// Full blocks in which the challenger's clock ran and that are no tick yet: fewer than are one.
	pub challenger_rest: u8,
	/// The same of the defender's clock.
	pub defender_rest: u8,
}

impl Clocks {
	/// Returns the ticks that `side` had left when its clock was last read.
	pub fn of(&self, side: Side) -> u32 {
		match side {
			Side::Challenger => self.challenger,
			Side::Defender => self.defender,
		}
	}

	/// Returns the ticks that `side`, whose clock runs where one does, has used since its clock was last
	/// read.
	pub fn used(&self, side: Side, now: &Since) -> u32 {
		let rest = match side {
			Side::Challenger => self.challenger_rest,
			Side::Defender => self.defender_rest,
		};
		self.since.map_or(0, |since| since.before(rest).ticks_until(now))
	}
}

/// What a dispute is to its defendant's account, which computes all its defences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Burden {
	/// Blocks of work of a defence, at the rate of the job's machines.
	pub work: BlockNumber,
	/// [`Load::ever`] when the defender's clock grew last; `None` until the dispute is heard.
	pub seen: Option<u32>,
	/// Ticks by which that clock can still grow.
	pub room: BlockNumber,
}

/// The defences of an account: disputes that were heard and have not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Load {
	/// How many.
	pub disputes: u32,
	/// Blocks of their work.
	pub open: BlockNumber,
	/// Blocks of work of all that were heard since there was none, modulo 2^32.
	pub ever: u32,
}

/// A dispute that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Dispute {
	/// Who accuses.
	pub challenger: AccountId32,
	/// Who is accused.
	pub defendant: Defendant,
	/// What the challenger says instead.
	pub claimed: Claimed,
	/// How far it has come.
	pub stage: Stage,
	/// What the challenger has at stake, with `stake`, in units of the currency.
	pub deposit: Balance,
	/// The part of it that is a seat's stake.
	pub stake: Balance,
	/// The height at which the challenger bound itself to it.
	pub committed_at: BlockNumber,
	/// What each side has left.
	pub clocks: Clocks,
	/// What it is to the other disputes of its defendant's account.
	pub burden: Burden,
	/// The height of the last move.
	pub moved_at: BlockNumber,
	/// Since which height it has not stood still.
	pub awake: BlockNumber,
	/// Whether it waits for a place in the docket.
	pub aside: bool,
	/// Moves made.
	pub moves: u32,
}

impl Dispute {
	/// Returns the side whose clock runs. At a piece that is the defender's: it loses if nobody brings
	/// the openings.
	pub fn side(&self) -> Side {
		match self.stage.turn {
			Turn::Challenger => Side::Challenger,
			Turn::Defender | Turn::Piece => Side::Defender,
		}
	}

	/// Returns the account of a side.
	pub fn account(&self, side: Side) -> &AccountId32 {
		match side {
			Side::Challenger => &self.challenger,
			Side::Defender => self.defendant.who(),
		}
	}

	/// Returns the side of an account; `None` where it is no party.
	pub fn side_of(&self, who: &AccountId32) -> Option<Side> {
		[Side::Defender, Side::Challenger].into_iter().find(|side| self.account(*side) == who)
	}

	/// Returns the ticks that a side has left.
	pub fn left(&self, side: Side, now: &Since) -> u32 {
		let used = if side == self.side() { self.clocks.used(side, now) } else { 0 };
		self.clocks.of(side).saturating_sub(used)
	}

	/// Lets the defender's clock grow by what was heard of its account since it grew last, as the chain
	/// does when it looks.
	pub(crate) fn grow(&mut self, load: &Load) {
		let Some(seen) = self.burden.seen else { return };
		let more = load.ever.wrapping_sub(seen).min(self.burden.room);
		self.clocks.defender = self.clocks.defender.saturating_add(more);
		self.burden.room -= more;
		self.burden.seen = Some(load.ever);
	}

	/// Returns how old it is: the height of its commitment, and its number. The smaller, the older.
	pub fn age(&self, id: DisputeId) -> (BlockNumber, DisputeId) {
		(self.committed_at, id)
	}
}

/// What somebody bound itself to accuse of, before it shows what.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Commitment {
	/// The job that it is about.
	pub job: JobId,
	/// Who.
	pub who: AccountId32,
	/// [`challenge_hash`] of what is to be shown.
	pub hash: H256,
	/// When it was made.
	pub since: Since,
	/// What is held for it, in units of the currency.
	pub deposit: Balance,
}

/// One dispute in the docket of a defendant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct DocketEntry {
	/// How old it is, and its number.
	pub age: (BlockNumber, DisputeId),
	/// Its deposit, in units of the currency.
	pub deposit: Balance,
	/// Whether the defender is to move in it.
	pub waits: bool,
}

/// Where the disputes of a job stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, serde::Serialize)]
pub struct Standing {
	/// Commitments to challenges that are not open yet.
	pub commitments: u32,
	/// Disputes that run, or wait for a place.
	pub disputes: u32,
	/// The height at which the last dispute ended that was not moot.
	pub ended: Option<BlockNumber>,
}

/// An accusation, as a challenge shows it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Accusation {
	/// Who is accused.
	pub defendant: Defendant,
	/// Of what.
	pub target: Target,
	/// What is true instead.
	pub claimed: Claimed,
	/// What the defendant said there, under its roots: two at most.
	pub leaves: Vec<Leaf>,
}

/// Returns what a challenger is bound by on the chain with this genesis, before it shows its
/// accusation.
pub fn challenge_hash(
	genesis: &H256,
	who: &AccountId32,
	accusation: &Accusation,
	salt: &[u8; 32],
) -> H256 {
	let Accusation { defendant, target, claimed, .. } = accusation;
	commitment::challenge(genesis, &who.0, defendant, target, claimed, salt)
}

#[cfg(test)]
mod tests {
	use super::*;
	use codec::DecodeAll;
	use trainyard_court::game::{Level, Subject};

	fn account(of: u8) -> AccountId32 {
		AccountId32([of; 32])
	}

	pub(super) fn dispute() -> Dispute {
		let target = Target::Segment(3);
		Dispute {
			challenger: account(1),
			defendant: Defendant::Trainer { job: 9, who: account(2) },
			claimed: Claimed::Other,
			stage: Stage {
				subject: Subject { target, begin: H256::repeat_byte(4), end: None },
				level: Level::Ends,
				turn: Turn::Defender,
			},
			deposit: 7,
			stake: 1,
			committed_at: 90,
			clocks: Clocks {
				challenger: 2_400,
				defender: 2_000,
				since: Some(Since { tick: 95, height: 100 }),
				challenger_rest: 3,
				defender_rest: 1,
			},
			burden: Burden { work: 300, seen: Some(900), room: 500 },
			moved_at: 100,
			awake: 91,
			aside: false,
			moves: 2,
		}
	}

	/// Written by hand from the fields of `pallet_court::Dispute`.
	#[test]
	fn a_dispute_decodes_from_the_layout_of_the_pallet() {
		let (one, two) = ("01".repeat(32), "02".repeat(32));
		let stage = format!("0103000000{}000000", "04".repeat(32));
		let clocks = "60090000d0070000015f000000640000000301";
		let burden = "2c0100000184030000f4010000";
		let text = format!(
			"{one}0009000000{two}01{stage}{}{}5a000000{clocks}{burden}640000005b0000000002000000",
			"07000000000000000000000000000000", "01000000000000000000000000000000",
		);
		let bytes = hex::decode(text).unwrap();
		assert_eq!(Dispute::decode_all(&mut &bytes[..]).unwrap(), dispute());
		assert_eq!(dispute().encode(), bytes);
		// The evidence of a seat is that about one result.
		let seat = Defendant::Seat { job: 9, who: account(2), bundle_root: H256::repeat_byte(3) };
		let text = format!("0109000000{two}{}", "03".repeat(32));
		assert_eq!(hex::encode(seat.encode()), text);
	}

	/// Full blocks from before the clock stood count together with those after it.
	#[test]
	fn what_is_less_than_a_tick_is_kept() {
		let mut dispute = dispute();
		let at = |height| Since { tick: 95, height };
		let left = |dispute: &Dispute, height| dispute.left(Side::Defender, &at(height));
		assert_eq!((left(&dispute, 102), left(&dispute, 103)), (2_000, 1_999));
		dispute.clocks.defender_rest = 0;
		assert_eq!((left(&dispute, 103), left(&dispute, 104)), (2_000, 1_999));
	}

	#[test]
	fn ticks_count_and_at_least_a_quarter_of_all_blocks() {
		let at = |tick, height| Since { tick, height };
		for (now, ticks) in [
			(at(95, 100), 0),
			(at(100, 105), 5),
			(at(95, 103), 0),
			(at(95, 104), 1),
			(at(96, 140), 10),
		] {
			assert_eq!(at(95, 100).ticks_until(&now), ticks, "{now:?}");
		}
	}

	/// As the pallet does when it reads a dispute.
	#[test]
	fn a_defenders_clock_grows_by_what_is_heard_beside_it() {
		let mut dispute = dispute();
		let mut grow = |ever| {
			dispute.grow(&Load { disputes: 2, open: 600, ever });
			(dispute.clocks.defender, dispute.clocks.challenger, dispute.burden.room)
		};
		assert_eq!(grow(900), (2_000, 2_400, 500));
		assert_eq!(grow(1_200), (2_300, 2_400, 200));
		assert_eq!(grow(1_200), (2_300, 2_400, 200), "by the same once");
		assert_eq!(grow(1_500), (2_500, 2_400, 0), "no more than there is room");
		let unheard = Dispute { burden: Burden::default(), ..super::tests::dispute() };
		let mut other = unheard.clone();
		other.grow(&Load { disputes: 1, open: 600, ever: 600 });
		assert_eq!(other, unheard);
		// The sum wraps.
		other.burden = Burden { work: 1, seen: Some(u32::MAX - 9), room: 500 };
		other.grow(&Load { disputes: 1, open: 600, ever: 20 });
		assert_eq!(other.clocks.defender, 2_030);
	}

	#[test]
	fn the_clock_of_who_is_to_move_runs() {
		let now = Since { tick: 195, height: 200 };
		let mut dispute = dispute();
		let left = |dispute: &Dispute| {
			[Side::Challenger, Side::Defender].map(|side| dispute.left(side, &now))
		};
		assert_eq!(left(&dispute), [2_400, 1_900]);
		dispute.stage.turn = Turn::Challenger;
		assert_eq!(left(&dispute), [2_300, 2_000]);
		dispute.clocks.since = None;
		assert_eq!(left(&dispute), [2_400, 2_000], "it is not heard");
		assert_eq!(dispute.side_of(&account(2)), Some(Side::Defender));
		assert_eq!(dispute.side_of(&account(3)), None);
	}
}
