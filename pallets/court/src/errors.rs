//! Why calls fail.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod errors {
	#[pallet::error]
	pub enum Error<T> {
		/// The job takes no challenges now.
		NotOpen,
		/// The caller is bound to a challenge to this job already: show it first.
		HasCommitted,
		/// The caller is not bound to a challenge to this job.
		NotCommitted,
		/// A challenge is shown in the block after its commitment at the earliest, and the challenger brings
		/// the openings of a piece 10 blocks after the dispute came to it.
		TooEarly,
		/// The time is over: for showing what was committed to, or the clock of whoever is to move ran
		/// out.
		TooLate,
		/// What is shown is not what the caller is bound to.
		WrongReveal,
		/// There is no such result, or no such evidence, of that account.
		NoSuchDefendant,
		/// Nobody accuses itself.
		Oneself,
		/// The account was convicted in another dispute: nothing is to be done.
		AlreadyConvicted,
		/// There is no such dispute, or it ended.
		NoDispute,
		/// Only who brought the dispute can do this.
		NotChallenger,
		/// Only who is accused can do this.
		NotDefender,
		/// The caller is no side of the dispute.
		NotASide,
		/// It is the other side's turn, or another move is due.
		NotYourTurn,
		/// A deposit grows by something.
		NothingMore,
		/// Nothing is due: no clock ran out.
		NotDue,
		/// The result, or the evidence, has nothing that such a dispute could be about.
		NoSuchTarget,
		/// The leaves are not those that the target needs, or are not under the bundle root.
		WrongLeaves,
		/// What is claimed is what the defendant says itself, or no end where the target has one.
		NothingDenied,
		/// The dispute stands at another place than the move is for.
		WrongPlace,
		/// The defendant said this before: `poke` ends its turn.
		AlreadySaid,
		/// The place takes another number of digests.
		WrongCount,
		/// The values of the parts of a content do not merge into it.
		WrongRoots,
		/// What is opened does not lead from what was agreed to what was denied.
		WrongOpening,
		/// There are not as many claims.
		NoSuchClaim,
		/// No such number makes a training diverge.
		NoSuchWitness,
		/// What was said before is not there.
		Unsaid,
		/// The specification has no such computation, or one that has no court.
		NoSuchComputation,
		/// There is no such piece of this training.
		NoSuchPiece,
		/// An element that the piece reads was not opened.
		Missing,
		/// The openings are too long.
		TooLong,
		/// Something was opened that the piece does not read.
		LeftOver,
		/// A tensor was opened twice.
		Twice,
		/// The openings are not of this kind of piece, or a hash does not lead to what was agreed.
		WrongOpenings,
		/// Chunks that were opened are not of their tensor.
		WrongChunks,
		/// A NaN was opened by other bits than the canonical ones.
		NotCanonical,
		/// The piece cannot be computed from what it reads.
		NotComputable,
		/// No number is left for another dispute.
		NoNumberLeft,
		/// The caller accuses this defendant of the same already, in a dispute that has not ended.
		AlreadyAccused,
	}
}
