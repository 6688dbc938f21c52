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
		/// The request is out of bounds: groups, parties, the size of the committee, or no deposit of a
		/// challenge.
		BadRequest,
		/// Each seat draws fewer segments than it must, or more than it can:
		/// `trainyard_protocol::duties::fits`.
		BadAuditSegments,
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
		/// The output is not that of the key that the caller had at the height of the draw, for this
		/// job, round and seed.
		WrongDraw,
		/// The evidence is not for exactly the segments that the caller must replay of that result, or
		/// it names a pick or a parting that there is not.
		WrongSegments,
		/// A path does not lead from evidence to the revealed root: the result says something else.
		WrongPaths,
		/// A rejection accuses somebody who did not deliver that result, or not of a result.
		WrongAccused,
		/// A rejection denies nothing but the trace of a checkpoint, which may be forced: evidence says that
		/// it differs.
		TraceAlone,
		/// The rest of the bond does not cover another accusation. A reveal opens as many as it covers.
		StakeTooSmall,
		/// No results stand now: the audit takes no accusations of seats.
		NotStanding,
		/// The caller did not reveal in this round, or its own evidence was convicted.
		NotRevealed,
		/// The audit has no such group, or it is decided.
		NoSuchGroup,
		/// The audit takes no openings of forced leaves now.
		NotOpening,
		/// The caller has opened its forced leaves.
		AlreadyOpened,
		/// That is not the secret to which the caller is bound since it applied.
		WrongSecret,
		/// The leaves are not those that are drawn, or the bundle differs from the true root in others.
		WrongForced,
		/// Nobody lacks this, of this group.
		NotAsked,
		/// The caller has stored this already, or what is asked for is on chain.
		AlreadyRescued,
		/// Only a trainer of the group can rescue it.
		NotTrainer,
		/// A verifier must have room for the largest audit there may be, `LeastRoom`: declare at least
		/// that much work, memory and disk.
		CapacityTooSmall,
		/// The result has no such piece (rows beyond the last, a checkpoint or a tensor that it has not),
		/// or the pieces are not each once and ascending.
		NoSuchPiece,
		/// The caller has committed in this round: it lacks nothing.
		HasCommitted,
		/// All that is asked for is on chain.
		IsStored,
		/// The caller has an open claim on this group.
		AlreadyAsked,
		/// The caller has asked for pieces of this group as often as somebody can, or as many others
		/// without a seat wait that pledged as much.
		TooManyClaims,
		/// The caller, or all seats together, asked as often as they can when nobody else waits.
		TooManyWindows,
		/// The caller's seat named as many pieces of this group in this round as its share holds. Or as many are
		/// asked for while results stand as there can be at a time, by others who pledged as much. Or there are
		/// too many ranges of rows, beside all rows.
		TooManyPieces,
		/// Leaves do not lead to the revealed root, or a part before these is missing.
		WrongLeaves,
		/// The content hashes are not those of the rows root that the specification names.
		WrongRows,
		/// The tensor does not lead to the state of its checkpoint.
		WrongTensor,
		/// The blob is larger than the file of a state can be.
		RescueTooLarge,
		/// These 32 bytes are no public key of sr25519 by which somebody can sign.
		NotVrfKey,
		/// With these pieces more would be asked for than trainers can store at a time: ask for fewer, or
		/// when what is asked for now is stored, or pledge more than the others while results stand.
		TooManyBytes,
		/// A rescue carries this piece: `request` asks for it.
		FitsOnChain,
		/// No block carries samples of all states: `request_relay` asks for them.
		OnlyRelayed,
		/// As many relays of this job run as there can be: ask again when one has ended.
		TooManyRelays,
		/// There is no relay with this number, or it has ended.
		NoRelay,
		/// The committee says nothing now.
		NotSaying,
		/// The caller has shown that it has the piece, or lost its stake.
		HasSaid,
		/// No chunk is drawn that the caller must open now.
		NothingToShow,
		/// This does not open the chunk that is drawn for the caller, see `relay::opens` in
		/// `trainyard_protocol`.
		WrongChunk,
		/// No majority of the committee has the piece, so nobody is asked for it.
		NotHeld,
		/// There is no such seat, or it did not show that it has the piece.
		NoSuchSeat,
		/// Somebody has doubted the answer: this is the last.
		AlreadyAppealed,
		/// There is no answer yet that could be doubted.
		NoAnswer,
		/// So many pieces of this result were stored for those who asked while results stood that more of them ask
		/// for a larger pledge.
		PledgeTooSmall,
		/// A relay of this result costs more than the caller would pay: relays that run, and that found
		/// what they were asked for, make it dearer.
		RelayTooDear,
	}
}
