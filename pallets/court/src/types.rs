//! What the pallet stores.

use crate::{
	clocks::{Clocks, Since},
	docket::Age,
};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{traits::ConstU32, BoundedVec};
use scale_info::TypeInfo;
use trainyard_court::{
	game::{Claimed, Place, Stage, Turn},
	referee::MAX_OPENINGS,
};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	JobId, H256,
};
use trainyard_traits::{Defendant, DisputeId};

/// A [`Dispute`] of a runtime's accounts.
pub type DisputeOf<T> = Dispute<<T as frame_system::Config>::AccountId>;
/// A [`Commitment`] of a runtime's accounts.
pub type CommitmentOf<T> = Commitment<<T as frame_system::Config>::AccountId>;
/// A [`Defendant`] of a runtime's accounts.
pub type DefendantOf<T> = Defendant<<T as frame_system::Config>::AccountId>;

/// The openings of a piece, SCALE-encoded.
pub type OpeningBytes = BoundedVec<u8, ConstU32<{ MAX_OPENINGS as u32 }>>;

/// Derives what everything has that is stored.
macro_rules! stored {
	($($item:item)*) => {$(
		#[derive(
			Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
		)]
		$item
	)*};
}

stored! {
	/// What somebody bound itself to accuse of, before it shows what.
	pub struct Commitment<AccountId> {
		/// The job that it is about.
		pub job: JobId,
		/// Who.
		pub who: AccountId,
		/// `commitment::challenge` of what is to be shown.
		pub hash: H256,
		/// When it was made.
		pub since: Since,
		/// What is held for it.
		pub deposit: Balance,
	}

	/// What a dispute is to its defendant's account, which computes all its defences.
	pub struct Burden {
		/// Blocks of work of a defence, at the rate of the job's machines.
		pub work: BlockNumber,
		/// [`Load::ever`] when the defender's clock grew last; `None` until the dispute is heard.
		pub seen: Option<u32>,
		/// Ticks by which that clock can still grow.
		pub room: BlockNumber,
	}

	/// The defences of an account: disputes that were heard and have not ended.
	#[derive(Default)]
	pub struct Load {
		/// How many.
		pub disputes: u32,
		/// Blocks of their work.
		pub open: BlockNumber,
		/// Blocks of work of all that were heard since there was none, modulo 2^32.
		pub ever: u32,
	}

	/// A dispute that has not ended.
	pub struct Dispute<AccountId> {
		/// Who accuses.
		pub challenger: AccountId,
		/// Who is accused.
		pub defendant: Defendant<AccountId>,
		/// What the challenger says instead.
		pub claimed: Claimed,
		/// How far it has come.
		pub stage: Stage,
		/// What the challenger has at stake, with `stake`.
		pub deposit: Balance,
		/// The part of it that is locked where [`Stakes`](trainyard_traits::Stakes) are, not held here.
		pub stake: Balance,
		/// The height at which the challenger bound itself to it.
		pub committed_at: BlockNumber,
		/// What each side has left.
		pub clocks: Clocks,
		/// What it is to the other disputes of its defendant's account.
		pub burden: Burden,
		/// The height of the last move.
		pub moved_at: BlockNumber,
		/// Since which height it has not stood still: that of the commitment, or of the move after it last did.
		pub awake: BlockNumber,
		/// Whether it waits for a place in the docket.
		pub aside: bool,
		/// Moves made.
		pub moves: u32,
	}

	/// A dispute as clients see it.
	pub struct DisputeView<AccountId> {
		/// Its number.
		pub id: DisputeId,
		/// As it is stored.
		pub dispute: Dispute<AccountId>,
		/// Ticks that the challenger and the defender have left, now.
		pub left: [u32; 2],
		/// Where it stands, for the call that is made next; none at a piece.
		pub place: Option<Place>,
		/// Whether the clock of the side that is to move runs.
		pub runs: bool,
		/// Whether the defendant lost elsewhere, so that it ends soon.
		pub is_moot: bool,
	}

	/// A side of a dispute.
	#[derive(Copy)]
	pub enum Side {
		/// Who accuses.
		Challenger,
		/// Who is accused.
		Defender,
	}

	/// What can be due.
	#[derive(Copy)]
	pub enum Task {
		/// The time to show what was committed to.
		Commitment(DisputeId),
		/// The clock of whoever is to move.
		Dispute(DisputeId),
		/// Disputes that are moot since this one ended.
		Close(DisputeId),
		/// What seats of a job won by disputes with them.
		Acquit(JobId),
		/// What was said in the disputes of a job.
		Forget(JobId),
	}

	/// How a dispute ended.
	#[derive(Copy)]
	pub enum Ending {
		/// What the defendant claims is false, or it was silent.
		Convicted {
			/// Whether it was silent.
			by_clock: bool,
		},
		/// The challenger denied what is true, or was silent.
		Acquitted {
			/// Whether it was silent.
			by_clock: bool,
		},
		/// The challenger gave up.
		Withdrawn,
		/// The challenger took its deposit back, since its dispute was set aside.
		TakenBack,
		/// The defendant lost elsewhere.
		Moot,
		/// The leaf was forced: the defendant opened the true one, and that is what the challenger says.
		Forced,
	}

	/// Why money moved.
	#[derive(Copy)]
	pub enum Why {
		/// A deposit returns to the challenger.
		Returned,
		/// A lost deposit is held by the defendant until it is settled who gets it.
		Lost,
		/// The deposits that others lost against a convicted defendant go to whoever convicted it.
		Finder,
		/// The deposits that challengers lost go to the defendant.
		Acquitted,
		/// The deposits that challengers lost go to the jackpot: the defendant lost, and nobody proved
		/// it here.
		NoFinder,
		/// A commitment was not shown in time.
		NotShown,
		/// What seats lost against a convicted defendant goes to the jackpot: nobody pays a friend of its
		/// own by it.
		Stake,
		/// What a seat lost goes back to it, since it is convicted itself: its stake is taken of it.
		Reclaimed,
	}
}

/// What somebody puts at stake to open a dispute.
pub struct Opening<AccountId> {
	/// Who accuses.
	pub challenger: AccountId,
	/// The height at which it bound itself to that.
	pub committed_at: BlockNumber,
	/// What it has at stake, with `stake`.
	pub deposit: Balance,
	/// The part of it that is locked elsewhere.
	pub stake: Balance,
}

impl<AccountId> Dispute<AccountId> {
	/// Returns the side that is to move. At a piece that is the defender: it loses if nobody brings the
	/// openings.
	pub fn side(&self) -> Side {
		match self.stage.turn {
			Turn::Challenger => Side::Challenger,
			Turn::Defender | Turn::Piece => Side::Defender,
		}
	}

	/// Returns how old it is.
	pub fn age(&self, id: DisputeId) -> Age {
		(self.committed_at, id)
	}

	/// Notes a move at height `now`. Where nobody had moved for more than `idle` blocks it stood still
	/// before.
	pub fn touch(&mut self, now: BlockNumber, idle: BlockNumber) {
		if now.saturating_sub(self.moved_at) > idle {
			self.awake = now;
		}
		self.moved_at = now;
	}

	/// Returns since when it has not stood still, and its number, at height `now`; where it does stand still
	/// that is its last move.
	pub fn wakeful(&self, id: DisputeId, now: BlockNumber, idle: BlockNumber) -> Age {
		match now.saturating_sub(self.moved_at) > idle {
			true => (self.moved_at, id),
			false => (self.awake, id),
		}
	}

	/// Returns what is held of the challenger for it.
	pub fn held(&self) -> Balance {
		self.deposit.saturating_sub(self.stake)
	}
}
