//! Why calls fail.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod errors {
	#[pallet::error]
	pub enum Error<T> {
		/// There is no project with this number, or it was cleared.
		NoSuchProject,
		/// The template breaks a rule; the error inside says which.
		InvalidTemplate(TemplateFault),
		/// Replicas must be 2 to 7.
		BadReplicas,
		/// Units must be 1 to `MaxUnits`.
		BadUnits,
		/// `commit_blocks` must be `MinCommitBlocks` to `MaxCommitBlocks`.
		BadPeriod,
		/// The work of a unit takes longer than `commit_blocks` at 2 GFLOP/s, the slowest rate at which
		/// drillers may compute, with reading its data: give more blocks.
		TooHasty,
		/// As many projects as there may be are in review or active: wait for one to end.
		TooManyProjects,
		/// As many projects of the caller as there may be are in review or active: wait for one to
		/// end.
		TooManyOwn,
		/// Each file that units read must be named as a blob on this chain, in the order of the
		/// specification, and nothing else.
		WrongData,
		/// A blob with data is not on this chain, not complete, or of another length than the file.
		DataNotStored,
		/// A blob with data is another account's: only who holds the deposit of a blob can promise
		/// that it stays.
		NotYourData,
		/// The deposit would exceed the range of amounts, or there are no numbers left.
		Overflow,
		/// No vote on the project is open: its review is over, and nobody has asked for its end.
		NotInReview,
		/// The project is not active.
		NotActive,
		/// A vote on the end of the project is open already: vote in it.
		AlreadyRecalled,
		/// A vote kept the project a short while ago: no other is opened for some reviews.
		RecalledLately,
		/// The caller is no registered trainer, or its bond was slashed below the least: add to it
		/// with `hashrate.bond_extra`.
		NotATrainer,
		/// A proposer does not vote on its own project.
		OwnProject,
		/// The caller has voted already in this vote.
		AlreadyVoted,
		/// Only the proposer may do this.
		NotProposer,
		/// The project has ended.
		AlreadyEnded,
		/// The project has not ended, or not `KeepBlocks` ago, or a unit of it is still in the
		/// hands of drillers.
		StillKept,
		/// The caller is in the pool of drillers already, also where a larger bond displaced it and
		/// it still works on a unit; or it waits for a place.
		AlreadyEnlisted,
		/// The pool of drillers and the list of those who wait are full, and nobody who waits has a
		/// smaller bond.
		PoolFull,
		/// The caller is not in the pool of drillers, and does not wait for a place.
		NotEnlisted,
		/// A driller must choose one project at least of which it computes units.
		NothingChosen,
		/// A project that the caller chose is not there, or has ended.
		ChosenEnded,
		/// Chosen projects must be in ascending order, each once.
		ChosenTwice,
		/// The caller is leaving the pool already.
		AlreadyRetiring,
		/// There is no such assignment any more.
		NoSuchAssignment,
		/// The assignment takes no commitments of this kind now.
		NotCommitting,
		/// The assignment takes no reveals of this kind now.
		NotRevealing,
		/// The deadline is over.
		TooLate,
		/// The caller has no part in this assignment.
		NotAssigned,
		/// The caller has committed already, or said that the data are not to be had.
		AlreadyCommitted,
		/// The caller has not committed.
		NotCommitted,
		/// This unit reads no data: there is nothing that could not be had.
		NoData,
		/// The caller has revealed already.
		AlreadyRevealed,
		/// Result and salt do not make the caller's commitment.
		WrongReveal,
		/// The result has a form that no unit of this template can have: a score where there is
		/// none, or a score of a different number of labels.
		WrongForm,
	}
}
