//! What is stored of a relay.

use crate::HoldReason;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{traits::ConstU32, BoundedVec};
use scale_info::TypeInfo;
use trainyard_pallet_support::majority::is_majority;
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	pieces::Piece,
	relay::{RelayStage, APPEAL_SEATS, SEATS},
	seats::Resources,
	JobId, H256,
};
use trainyard_traits::stood_still;

/// Relays of one job that run at a time.
pub const MAX_RELAYS: u32 = 8;
/// How often a committee is looked for in vain before a relay ends without an answer.
pub const MAX_RELAY_DRAWS: u32 = 8;

/// Why money is on hold for relays.
pub(crate) const REASON: HoldReason = HoldReason::Relay;

/// A committee of a relay.
pub type RelaySeats<AccountId> = BoundedVec<RelaySeat<AccountId>, ConstU32<APPEAL_SEATS>>;

/// A piece that is asked of a committee.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Relay<AccountId> {
	/// Of which job.
	pub job: JobId,
	/// Of which result, in the audit's order.
	pub group: u32,
	/// Which piece.
	pub piece: Piece,
	/// Chunks of 1 KiB that it has.
	pub chunks: u64,
	/// Who asked for it.
	pub by: AccountId,
	/// What that account has on hold for it: the fees of the seats, and the surcharge.
	pub prepaid: Balance,
	/// The part of it that no seat has.
	pub surcharge: Balance,
	/// What a seat earns.
	pub fee: Balance,
	/// What a chunk costs that somebody asks of a seat.
	pub ask: Balance,
	/// What a seat locks of its bond.
	pub stake: Balance,
	/// What a seat needs of its verifier: disk.
	pub needs: Resources,
	/// Blocks of each of its periods.
	pub span: BlockNumber,
	/// The seed of the first committee, at whose places samples are read.
	pub places: Option<H256>,
	/// Where it stands.
	pub stage: RelayStage,
	/// Since when, and how many blocks had no room before that.
	pub since: (BlockNumber, BlockNumber),
	/// Whether the trainers had their time to serve the committee.
	pub served: bool,
	/// How often no committee could be drawn.
	pub draws: u32,
	/// The committee.
	pub seats: RelaySeats<AccountId>,
	/// Chunks that seats are asked for, while the piece is held.
	pub asking: Option<Asking>,
	/// The doubt in the first answer.
	pub appeal: Option<Appeal<AccountId>>,
	/// The committee that gave it.
	pub before: BoundedVec<RelaySeat<AccountId>, ConstU32<SEATS>>,
}

/// A seat of a relay.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct RelaySeat<AccountId> {
	/// Who.
	pub who: AccountId,
	/// Whether it says that it has the piece.
	pub says: Option<bool>,
	/// Whether it opened a chunk since it said so.
	pub shown: bool,
	/// Whether it lost its stake: it did not open what it had to.
	pub lost: bool,
	/// Who asks it for a chunk, and whether that chunk is drawn with the running ones.
	pub asked: Option<(AccountId, bool)>,
}

impl<AccountId> RelaySeat<AccountId> {
	/// Returns a seat that said nothing so far.
	pub fn new(who: AccountId) -> Self {
		Self { who, says: None, shown: false, lost: false, asked: None }
	}

	/// Returns whether it has the piece, as it showed.
	pub fn has(&self) -> bool {
		self.shown && !self.lost
	}

	/// Returns whether it says that it has the piece and did not show it yet.
	pub fn owes(&self) -> bool {
		self.says == Some(true) && !self.shown && !self.lost
	}

	/// Returns whether it earns the fee where `held` is the answer; without an answer whoever spoke does.
	pub fn earns(&self, held: Option<bool>) -> bool {
		!self.lost
			&& match held {
				Some(held) => self.says == Some(held) && self.shown == held,
				None => self.says.is_some(),
			}
	}
}

/// Chunks that seats are asked for.
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
pub enum Asking {
	/// Their seed forms from blocks after this one.
	Seeding {
		/// Height whose successors make it.
		after: BlockNumber,
	},
	/// They are drawn.
	Running {
		/// By which seed.
		seed: H256,
		/// Last block for them, as long as blocks have room.
		until: BlockNumber,
		/// Since when, and how many blocks had no room before that.
		since: (BlockNumber, BlockNumber),
	},
}

/// A doubt in the answer of the first committee.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Appeal<AccountId> {
	/// Whose.
	pub by: AccountId,
	/// What that account has on hold for it: the fees of the second committee.
	pub prepaid: Balance,
	/// Whether the answer was that the piece is held.
	pub held: bool,
}

impl<AccountId> Relay<AccountId> {
	/// Returns what all seats of the first committee earn together.
	pub fn of_first_committee(&self) -> Balance {
		self.fee.saturating_mul(SEATS.into())
	}

	/// Returns whether a majority has the piece, as it showed: of the committee, and where somebody doubts its answer
	/// of both committees together. Of the second alone, whoever doubts a true answer would need one majority, and
	/// whoever gave a false one two.
	pub fn is_held(&self) -> bool {
		let all = self.before.iter().chain(self.seats.iter());
		let having = all.filter(|seat| seat.has()).count();
		is_majority(having, self.before.len().saturating_add(self.seats.len()))
	}

	/// Returns whether a seat can still say something that matters.
	pub fn is_saying(&self) -> bool {
		self.seats.iter().any(|seat| match self.served {
			false => seat.says.is_none(),
			true => seat.says != Some(true) && !seat.lost,
		})
	}

	/// Returns the last block of a period that ends at `until` and began with this stage, where `full`
	/// blocks had no room so far.
	pub fn last(&self, until: BlockNumber, full: BlockNumber) -> BlockNumber {
		last(self.since, until, full)
	}

	/// Returns the committee of `who`, while it runs.
	pub fn seat_mut(&mut self, who: &AccountId) -> Option<&mut RelaySeat<AccountId>>
	where
		AccountId: PartialEq,
	{
		self.seats.iter_mut().find(|seat| seat.who == *who)
	}
}

/// Returns the last block of a period that began `since` and ends at `until` as long as blocks have room.
pub(crate) fn last(
	since: (BlockNumber, BlockNumber),
	until: BlockNumber,
	full: BlockNumber,
) -> BlockNumber {
	let (begun, before) = since;
	stood_still(begun, until, full.saturating_sub(before))
}
