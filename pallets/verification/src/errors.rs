//! Why calls fail.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod errors {
	#[pallet::error]
	pub enum Error<T> {
		/// The bond is smaller than the minimum.
		BondTooSmall,
		/// The caller is a verifier already, or waits for a place: `bond_extra` raises its bond.
		AlreadyVerifier,
		/// The pool of verifiers and the list of those who wait are full, and nobody who waits has a
		/// smaller bond.
		PoolFull,
		/// The caller is not in the pool of verifiers.
		NotVerifier,
		/// The caller is neither paused nor leaving.
		NothingToResume,
		/// The caller changed too often in the last minutes: try again later.
		TooManyChanges,
		/// The caller has not left the pool of verifiers.
		NotLeaving,
		/// The unbonding period is not over, or running seats lock what is left.
		StillBonded,
		/// This job has an audit already.
		AlreadyOpen,
		/// The request is out of bounds: groups, parties, segments or size of the committee.
		BadRequest,
		/// This job has no audit.
		NoAudit,
		/// The audit takes no commitments now.
		NotCommitting,
		/// The audit takes no reveals now.
		NotRevealing,
		/// The audit takes no rescues now.
		NotRescuing,
		/// The deadline of this phase is over.
		TooLate,
		/// The caller is not on the committee of this round.
		NotOnCommittee,
		/// The caller has not committed in this round.
		NotCommitted,
		/// The caller has revealed in this round already.
		AlreadyRevealed,
		/// Findings and salt do not make the caller's commitment.
		WrongReveal,
		/// The findings have more or fewer verdicts than the job has distinct results.
		WrongNumberOfVerdicts,
		/// The evidence is not for exactly the segments drawn of that result, or a rejection
		/// names a segment that it does not have.
		WrongSegments,
		/// A rejection names a checkpoint that the result does not have.
		NoSuchCheckpoint,
		/// The audit has no such group, or it is decided.
		NoSuchGroup,
		/// Nobody lacks anything of this group.
		NotAsked,
		/// The caller has stored this already, or what is asked for is on chain.
		AlreadyRescued,
		/// Only a trainer of the group can rescue it.
		NotTrainer,
		/// A verifier must have room for the largest audit there may be, `LeastRoom`: declare at least
		/// that much work, memory and disk.
		CapacityTooSmall,
		/// The audit reads no such piece, or the pieces are not each once and ascending.
		NotRead,
		/// The caller has committed in this round: it lacks nothing.
		HasCommitted,
		/// The caller has an open claim on this group.
		AlreadyAsked,
		/// The caller has asked for pieces of this group as often as a seat can.
		TooManyClaims,
		/// The caller, or all seats together, asked as often as they can when nobody else waits.
		TooManyWindows,
		/// Seats asked for as many pieces of this group as there can be.
		TooManyPieces,
		/// The leaves are not those of the states that are asked for, under the revealed root.
		WrongLeaves,
		/// The blob is larger than what is asked for.
		RescueTooLarge,
		/// These 32 bytes are no public key of sr25519 by which somebody can sign.
		NotVrfKey,
	}
}
