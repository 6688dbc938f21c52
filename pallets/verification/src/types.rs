//! What the pallet stores.

use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{traits::ConstU32, BoundedVec};
use scale_info::TypeInfo;
use trainyard_protocol::{
	audit::{AuditPhase, Decision, Replayed},
	duties::{Drawing, Recompute},
	forced::Secret,
	job::{Balance, BlockNumber, WorkResult, MAX_AUDIT_ROUNDS, MAX_REPLICAS, MAX_VERIFIERS},
	pieces::{
		Leaf, Piece, PieceSizes, Pieces, COMMON_PIECES, LATE_PIECES, MAX_ASKED, MAX_RANGES,
		SEAT_PIECES,
	},
	seats::Resources,
	vrf::VrfKey,
};
use trainyard_traits::{Defendant, Window};

pub use trainyard_protocol::{pieces::FREE_PIECES, H256};

/// Most parties of a job: the submitter and its trainers.
pub const MAX_PARTIES: u32 = MAX_REPLICAS + 1;
/// Most fees that one audit can cost.
pub const MAX_FEES: u32 = MAX_VERIFIERS * MAX_AUDIT_ROUNDS;
/// Most entries of what is given back: of each seat and round, and of who asked for a piece of each
/// result, and who doubted an answer, where it was not to be had.
pub const MAX_OWED: u32 = MAX_FEES + 3 * MAX_REPLICAS;

/// Times in one audit that trainers can be asked to store something for committees. The bound is for the
/// records: no minority of a committee can use it up in a round, see [`MAX_BEGUN`].
pub const MAX_WINDOWS: u32 = MAX_VERIFIERS + 1;
/// Times in a round that one seat can ask when nobody else does: what it lacks, and what it finds to
/// lack when it has that. Whenever others ask it can join them.
pub const MAX_BEGUN: u32 = 2;
/// Claims of an account on one result in a round.
pub const MAX_CLAIMS: u32 = 3;
/// Claims of an account.
pub const ALL_CLAIMS: u32 = MAX_CLAIMS * MAX_REPLICAS;
/// Most accounts without a seat that have claims at a time.
pub const MAX_STRANGERS: u32 = 16;
/// The deposit of a challenge in this many parts is what each further piece makes the pledge larger by.
pub const PIECE_PART: Balance = 16;
/// A pledge in this many parts is the price of a place among those who ask while results stand.
pub const PLEDGE_PART: Balance = 4;
/// Most blobs in which a trainer stores what is asked for of its result: one for each piece that is kept, and
/// for rows one for each of the four contents.
pub const MAX_KEPT: u32 = COMMON_PIECES + SEAT_PIECES + LATE_PIECES + 3 * (1 + 2 * MAX_RANGES);
/// Seats that replay a segment of another one again.
pub const RECHECKS: u32 = 2;
/// Most defendants of whom is known what a seat lost to them: what it loses to others is the jackpot's.
pub const MAX_FORFEITS: u32 = 8;

/// What a seat lost by accusations, and to whom.
pub type Forfeits<AccountId> = BoundedVec<(Defendant<AccountId>, Balance), ConstU32<MAX_FORFEITS>>;

/// An [`Audit`] of a runtime's accounts.
pub type AuditOf<T> = Audit<<T as frame_system::Config>::AccountId>;

/// The audit of one job.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Audit<AccountId> {
	/// Round, from 0.
	pub round: u32,
	/// Where it stands.
	pub phase: AuditPhase,
	/// How each seat draws segments of each result for itself.
	pub drawing: Drawing,
	/// Size of the committee that is wanted.
	pub verifiers: u32,
	/// Accounts that may not be on the committee.
	pub parties: BoundedVec<AccountId, ConstU32<MAX_PARTIES>>,
	/// Who was convicted as a seat of an earlier round, and may not be on a committee either.
	pub barred: BoundedVec<AccountId, ConstU32<MAX_FEES>>,
	/// The distinct results.
	pub groups: BoundedVec<Group<AccountId>, ConstU32<MAX_REPLICAS>>,
	/// The committee of this round, in the order drawn.
	pub committee: BoundedVec<Member<AccountId>, ConstU32<MAX_VERIFIERS>>,
	/// Seed of this round; none before its committee is drawn.
	pub seed: Option<H256>,
	/// Height at which the committee of this round was drawn; 0 before.
	pub drawn_at: BlockNumber,
	/// The assignment seed, from which forced leaves are drawn.
	pub assignment: H256,
	/// Whether the time to open forced leaves is over.
	pub opened: bool,
	/// What the outputs mix to by which seats drew that revealed, up to the end of that time: by it and the secrets of
	/// trainers the last tickets of a lottery win.
	pub mixed: H256,
	/// The seats that found some.
	pub found: BoundedVec<AccountId, ConstU32<MAX_VERIFIERS>>,
	/// What a seat earns.
	pub fee: Balance,
	/// The price of the job's work, done once.
	pub price: Balance,
	/// What a seat locks of its verifier's bond.
	pub stake: Balance,
	/// What each accusation of a seat puts at stake: the deposit of a challenge, or the stake of a seat
	/// where that is less.
	pub challenge: Balance,
	/// What a seat needs of its verifier, its work as that which is done in the least time for
	/// commitments.
	pub needs: Resources,
	/// Blocks for commitments.
	pub time: BlockNumber,
	/// What computing the states again takes that trainers do not keep.
	pub recompute: Recompute,
	/// How often no committee could be drawn for this round.
	pub waits: u32,
	/// What the bytes of the pieces of a result follow from.
	pub sizes: PieceSizes,
	/// Price of storing a byte on chain.
	pub storage_byte: Balance,
	/// What is left for what seats get back of their claims.
	pub storage: Balance,
	/// While somebody lacks what it asked for: the last block in which others can give it.
	pub relay: Option<BlockNumber>,
	/// The height beyond which no claim moves the end of the time for commitments.
	pub latest: BlockNumber,
	/// How often trainers were asked to store something for a committee.
	pub windows: u32,
	/// Relays of its results that run.
	pub relays: u32,
	/// Blocks for which the window for challenges is open at least.
	pub length: BlockNumber,
	/// Blocks for which it is open again after something ended.
	pub again: BlockNumber,
	/// The window for challenges, while results stand.
	pub window: Option<Window>,
	/// Which evidence is replayed again.
	pub recheck: Rechecks<AccountId>,
	/// A fee was earned for each entry.
	pub served: BoundedVec<AccountId, ConstU32<MAX_FEES>>,
	/// Seats that rejected something, which have their fee if they were right.
	pub waiting: BoundedVec<Rejecting<AccountId>, ConstU32<MAX_FEES>>,
	/// Seats of rounds that were not heard that rejected something without an accusation, which pay as for an
	/// absence if they were not right.
	pub owing: BoundedVec<Rejecting<AccountId>, ConstU32<MAX_FEES>>,
	/// What seats get back of what they paid for pieces that their draws read, and others of what they
	/// paid for relays of what was not to be had.
	pub owed: BoundedVec<(AccountId, Balance), ConstU32<MAX_OWED>>,
}

/// A seat that rejected something. It was right if all that it named are out at the end, or their results lost.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Rejecting<AccountId> {
	/// The seat.
	pub seat: AccountId,
	/// The trainers that it named.
	pub named: BoundedVec<AccountId, ConstU32<MAX_REPLICAS>>,
}

/// Where the draw of the evidence that is replayed again stands.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub enum Rechecks<AccountId> {
	/// Nobody replays anything again.
	None,
	/// The seed forms from blocks after this one.
	Drawing {
		/// Height whose successors make the seed.
		after: BlockNumber,
	},
	/// These were drawn.
	Drawn(BoundedVec<Recheck<AccountId>, ConstU32<RECHECKS>>),
}

/// A segment of somebody's evidence that another seat replays again.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Recheck<AccountId> {
	/// Who replays it.
	pub by: AccountId,
	/// Whose evidence.
	pub of: AccountId,
	/// Of which result.
	pub group: u32,
	/// Of which segment.
	pub segment: u32,
}

/// What an account has at stake with accusations of an audit.
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
pub struct Accusing {
	/// For each of them.
	pub stake: Balance,
	/// How many are not decided.
	pub open: u32,
	/// What the seat still owes of the stake of its own evidence, which was convicted while these
	/// accusations locked it: what of it is freed, or lost to others, goes to the jackpot first.
	pub owed: Balance,
}

impl Accusing {
	/// Returns what accusations that are not decided have at stake, and the seat does not owe.
	pub fn left(&self) -> Balance {
		self.stake.saturating_mul(self.open.into()).saturating_sub(self.owed)
	}
}

/// The bundle of one trainer of a result.
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
pub struct Bundle {
	/// Its root, over checkpoints of which some are forced.
	pub root: H256,
	/// What its trainer is bound to draw these from.
	pub forced: H256,
	/// Whether it has opened them.
	pub opened: bool,
	/// The secret to which it was bound, once it opened them.
	pub secret: Secret,
}

/// One distinct result under audit.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Group<AccountId> {
	/// What they have in common: the roots, and how many segments were trained.
	pub result: WorkResult,
	/// Who delivered it.
	pub trainers: BoundedVec<AccountId, ConstU32<MAX_REPLICAS>>,
	/// Their bundles, in the same order.
	pub bundles: BoundedVec<Bundle, ConstU32<MAX_REPLICAS>>,
	/// Those of them whom the court convicted, and who did not open what they forced to be false: they are
	/// out.
	pub convicted: BoundedVec<AccountId, ConstU32<MAX_REPLICAS>>,
	/// The heights at which they were, in the same order.
	pub out_at: BoundedVec<BlockNumber, ConstU32<MAX_REPLICAS>>,
	/// What was decided.
	pub decision: Option<Decision>,
	/// The height at which it was.
	pub decided_at: Option<BlockNumber>,
	/// What was asked for since this round began, see `shares`.
	pub asked: BoundedVec<Asked, ConstU32<MAX_ASKED>>,
	/// How many pieces, but those that everybody reads, were asked for while results stood, and stored, in all
	/// rounds.
	pub late: u32,
	/// Whether somebody asked a committee for a state of it.
	pub relayed: bool,
}

/// A piece of a result that was asked for.
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
pub struct Asked {
	/// Which.
	pub piece: Piece,
	/// Its most bytes, by the specification.
	pub bytes: u64,
	/// Whether it is on chain: the window in which a trainer answered is over.
	pub stored: bool,
	/// Which trainers of the group answered with it, one bit for each.
	pub answered: u8,
	/// Whether it was asked for while results stood.
	pub late: bool,
}

impl Asked {
	/// Returns a piece of that many bytes that nobody asked for before.
	pub fn new(piece: Piece, bytes: u64, late: bool) -> Self {
		Self { piece, bytes, stored: false, answered: 0, late }
	}

	/// Returns whether the trainer at this place of its group has nothing more to answer: it did, or
	/// another one did with what the chain knows to be right.
	pub fn is_answered_by(&self, trainer: usize) -> bool {
		let own = u32::try_from(trainer).ok().and_then(|at| 1u8.checked_shl(at)).unwrap_or(0);
		self.answered & own != 0 || self.piece.is_checked() && self.answered != 0
	}

	/// Notes that it answered.
	pub fn answer(&mut self, trainer: usize) {
		let own = u32::try_from(trainer).ok().and_then(|at| 1u8.checked_shl(at)).unwrap_or(0);
		self.answered |= own;
	}
}

/// A blob in which a trainer stores a piece that was asked for.
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
pub struct KeptBlob {
	/// Which piece.
	pub piece: Piece,
	/// Its root; none for leaves, which the answers brought themselves.
	pub root: Option<H256>,
	/// Whether it was stored when the trainer named it. It is announced before.
	pub stored: bool,
	/// Bytes of it that the trainer is paid for: of the chunks that it brought after it had announced
	/// them, or of leaves.
	pub paid: u64,
}

/// The file of a state, as a trainer named it.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct NamedState {
	/// The leaf of its bundle that says which state it is.
	pub leaf: Leaf,
	/// The root of the blob.
	pub blob: H256,
	/// Whether the blob was stored when it was named last. It is announced before.
	pub stored: bool,
}

/// What an account asked for of one result.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Claim {
	/// Of which result.
	pub group: u32,
	/// What; nothing any more where it was withdrawn.
	pub pieces: Pieces,
	/// What the account has on hold for the bytes.
	pub prepaid: Balance,
	/// What it has on hold for its place among those who ask while results stand.
	pub pledge: Balance,
	/// Whether it still lacks them.
	pub open: bool,
	/// What trainers that stored them had of it.
	pub paid: Balance,
}

/// One member of a committee.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Member<AccountId> {
	/// Who.
	pub verifier: AccountId,
	/// Its VRF key at the height of the draw.
	pub key: VrfKey,
	/// Its commitment.
	pub commitment: Option<H256>,
	/// Height of its commitment.
	pub committed_at: BlockNumber,
	/// Whether its findings are in `Verdicts`.
	pub revealed: bool,
	/// Whether the court convicted its evidence.
	pub convicted: bool,
	/// Whether it lost an accusation.
	pub lost: bool,
	/// The results that it rejected and accuses nobody of, since its bond covered no further accusation.
	pub postponed: BoundedVec<u32, ConstU32<MAX_REPLICAS>>,
	/// What the seat still locks of its bond.
	pub locked: Balance,
	/// How often it asked in this round when nobody else did, see [`MAX_BEGUN`].
	pub began: u32,
}

/// What a verifier lost a part of its bond for.
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
pub enum Fault {
	/// It revealed nothing, or said that it could not have a result though it could ask for it on chain.
	NoVerdict,
	/// It contradicted what was decided in a recomputation.
	Contrary,
	/// It lost an accusation.
	LostAccusation,
	/// It said that it has a piece, and did not open a chunk of it that was drawn.
	NotShown,
	/// It said that a leaf is right which is forced, or differs where nothing does.
	Guessed,
}

impl<AccountId: PartialEq> Audit<AccountId> {
	/// Returns the seat of `who`.
	pub fn member_mut(&mut self, who: &AccountId) -> Option<&mut Member<AccountId>> {
		self.committee.iter_mut().find(|member| member.verifier == *who)
	}

	/// Returns whether there is a committee and all of it has committed.
	pub fn all_committed(&self) -> bool {
		!self.committee.is_empty() && self.committee.iter().all(|m| m.commitment.is_some())
	}

	/// Returns whether every trainer that can still win has opened its forced leaves.
	pub fn all_opened(&self) -> bool {
		self.undecided().all(|(_, group)| {
			let mut all = group.trainers.iter().zip(&group.bundles);
			all.all(|(trainer, bundle)| bundle.opened || group.convicted.contains(trainer))
		})
	}

	/// Returns whether everyone who committed has revealed.
	pub fn all_revealed(&self) -> bool {
		self.committee.iter().all(|m| m.revealed || m.commitment.is_none())
	}

	/// Returns whether a trainer of some undecided result can still store what is asked for.
	pub fn awaits_rescue(&self) -> bool {
		self.groups.iter().filter(|group| group.is_asked()).any(|group| {
			let waits = |asked: &Asked| {
				!asked.stored && (0..group.trainers.len()).any(|at| !asked.is_answered_by(at))
			};
			group.asked.iter().any(waits)
		})
	}

	/// Returns whether its committee works: its seats take of what verifiers have room for.
	pub fn works(&self) -> bool {
		match self.phase {
			AuditPhase::Committing { .. } | AuditPhase::Revealing { .. } => true,
			AuditPhase::Rescue { .. } => self.window.is_none(),
			AuditPhase::Drawing { .. }
			| AuditPhase::Opening { .. }
			| AuditPhase::Standing { .. }
			| AuditPhase::Done => false,
		}
	}

	/// Returns the results that are not decided, with their numbers.
	pub fn undecided(&self) -> impl Iterator<Item = (usize, &Group<AccountId>)> {
		self.groups.iter().enumerate().filter(|(_, group)| group.decision.is_none())
	}

	/// Returns whether every result has its decision.
	pub fn is_decided(&self) -> bool {
		self.groups.iter().all(|g| g.decision.is_some())
	}
}

impl<AccountId: Clone + PartialEq> Group<AccountId> {
	/// Notes at height `now` that a trainer of this result is out. Returns whether it was not before.
	pub fn put_out(&mut self, who: &AccountId, now: BlockNumber) -> bool {
		let is_new = self.trainers.contains(who) && !self.convicted.contains(who);
		// There are no more than trainers.
		is_new && self.convicted.try_push(who.clone()).is_ok() && self.out_at.try_push(now).is_ok()
	}

	/// Returns the height at which a trainer of this result was out, if it is.
	pub fn out_since(&self, who: &AccountId) -> Option<BlockNumber> {
		let at = self.convicted.iter().position(|other| other == who)?;
		self.out_at.get(at).copied()
	}
}

impl<AccountId> Group<AccountId> {
	/// Returns whether a trainer of it was put out at this height or later.
	pub fn lost_trainer_since(&self, height: BlockNumber) -> bool {
		self.out_at.iter().any(|at| *at >= height)
	}

	/// Returns what is asked for and is not on chain.
	pub fn open_pieces(&self) -> impl Iterator<Item = Piece> + '_ {
		self.asked.iter().filter(|asked| !asked.stored).map(|asked| asked.piece)
	}

	/// Returns the bytes of what is asked for and is not on chain.
	pub fn open_bytes(&self) -> u64 {
		let open = self.asked.iter().filter(|asked| !asked.stored);
		open.fold(0, |sum, asked| sum.saturating_add(asked.bytes))
	}

	/// Returns the numbers of the states of which something is asked for and is not on chain.
	pub fn open_states(&self) -> impl Iterator<Item = u32> + '_ {
		self.open_pieces().filter_map(|piece| piece.checkpoint())
	}

	/// Returns the bytes of these pieces together, of those that were asked for.
	pub fn bytes_of(&self, pieces: impl Fn(&Piece) -> bool) -> u64 {
		let named = self.asked.iter().filter(|asked| pieces(&asked.piece));
		named.fold(0, |sum, asked| sum.saturating_add(asked.bytes))
	}

	/// Returns what was asked for and is on chain.
	pub fn stored_pieces(&self) -> impl Iterator<Item = Piece> + '_ {
		self.asked.iter().filter(|asked| asked.stored).map(|asked| asked.piece)
	}

	/// Returns whether a piece is in the list of what was asked for.
	pub fn has_asked(&self, piece: &Piece) -> bool {
		self.asked.iter().any(|asked| asked.piece == *piece)
	}

	/// Returns the result of its trainer number `at`.
	pub fn result_of(&self, at: usize) -> Option<WorkResult> {
		let bundle = self.bundles.get(at)?;
		Some(WorkResult { bundle_root: bundle.root, ..self.result })
	}

	/// Returns the result in each bundle whose trainer opened its forced leaves.
	pub fn opened_results(&self) -> Vec<WorkResult> {
		let opened = self.bundles.iter().filter(|bundle| bundle.opened);
		opened.map(|bundle| WorkResult { bundle_root: bundle.root, ..self.result }).collect()
	}

	/// Returns the result in the bundle at which seats of round `round` look: that of the trainers in turn,
	/// without those that are out.
	pub fn looked_at(&self, round: u32) -> Option<WorkResult>
	where
		AccountId: PartialEq,
	{
		let (count, first) = (self.trainers.len(), usize::try_from(round).ok()?);
		let turn = |at: usize| first.saturating_add(at).checked_rem(count);
		let mut all = (0..count).filter_map(turn);
		let stands = |at: &usize| {
			self.trainers.get(*at).is_some_and(|trainer| !self.convicted.contains(trainer))
		};
		self.result_of(all.clone().find(stands).or_else(|| all.next())?)
	}

	/// Returns the result of which a seat looked at this bundle.
	pub fn result_in(&self, replayed: &Replayed) -> Option<WorkResult> {
		self.result_of(usize::try_from(replayed.bundle).ok()?)
	}

	/// Returns whether somebody lacks something of it that is not on chain.
	pub fn is_asked(&self) -> bool {
		self.decision.is_none() && self.asked.iter().any(|asked| !asked.stored)
	}
}
