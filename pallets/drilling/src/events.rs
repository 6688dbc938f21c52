//! The events of the pallet.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod events {
	#[pallet::event]
	#[pallet::generate_deposit(pub(super) fn deposit_event)]
	pub enum Event<T: Config> {
		/// A project was proposed and its deposit held.
		ProjectProposed {
			/// The project.
			project: ProjectId,
			/// Who proposed it.
			proposer: T::AccountId,
			/// Work of each unit.
			difficulty: MicroUt,
			/// How many units there are.
			units: u32,
			/// What is held.
			deposit: Balance,
			/// Last block for votes.
			until: BlockNumber,
		},
		/// A trainer voted on a project.
		Voted {
			/// The project.
			project: ProjectId,
			/// Who.
			voter: T::AccountId,
			/// Whether for it.
			aye: bool,
			/// With which bond.
			weight: Balance,
		},
		/// A project was approved: its units count from now on.
		ProjectApproved {
			/// The project.
			project: ProjectId,
			/// Bonds for it.
			ayes: Balance,
			/// Bonds against it.
			nays: Balance,
		},
		/// A project was rejected.
		ProjectRejected {
			/// The project.
			project: ProjectId,
			/// Bonds for it.
			ayes: Balance,
			/// Bonds against it.
			nays: Balance,
			/// What its proposer lost to the jackpot: nothing, or where two thirds were against it
			/// the deposit.
			lost: Balance,
		},
		/// A trainer asked for the end of an active project: trainers vote.
		RecallOpened {
			/// The project.
			project: ProjectId,
			/// Who asked.
			who: T::AccountId,
			/// Last block for votes.
			until: BlockNumber,
		},
		/// The vote on the end of a project is over, and it goes on.
		ProjectKept {
			/// The project.
			project: ProjectId,
			/// Bonds for it.
			ayes: Balance,
			/// Bonds against it.
			nays: Balance,
		},
		/// A vote ended a project.
		ProjectRecalled {
			/// The project.
			project: ProjectId,
			/// Bonds for it.
			ayes: Balance,
			/// Bonds against it.
			nays: Balance,
			/// What its proposer lost to the jackpot.
			lost: Balance,
		},
		/// Verifiers found again and again that a project's data are not to be had: it has ended.
		ProjectSuspended {
			/// The project.
			project: ProjectId,
			/// What its proposer lost to the jackpot.
			lost: Balance,
		},
		/// A project was ended by its proposer.
		ProjectWithdrawn {
			/// The project.
			project: ProjectId,
		},
		/// All units of a project are computed or given up, or its time is over.
		ProjectDone {
			/// The project.
			project: ProjectId,
			/// Units with a result.
			agreed: u32,
			/// Units given up.
			abandoned: u32,
		},
		/// A project was removed with all that belongs to it, and its deposit returned.
		ProjectCleared {
			/// The project.
			project: ProjectId,
			/// What was returned.
			deposit: Balance,
		},
		/// A trainer entered the pool of drillers.
		Enlisted {
			/// Who.
			driller: T::AccountId,
		},
		/// A driller computes units of these projects from now on, and of no others.
		Chose {
			/// Who.
			driller: T::AccountId,
			/// Which.
			projects: Chosen,
		},
		/// The pool has no room for a trainer in this turn: it waits.
		Waits {
			/// Who.
			driller: T::AccountId,
		},
		/// A driller makes room for a larger bond, when it has done what it works on. It cannot
		/// change its mind, and comes back as a newcomer.
		Displaced {
			/// Who.
			driller: T::AccountId,
		},
		/// A driller left the pool: it wished so, or is no trainer any more.
		Retired {
			/// Who.
			driller: T::AccountId,
		},
		/// A driller was removed from the pool, because it did not do its part.
		Dismissed {
			/// Who.
			driller: T::AccountId,
		},
		/// A batch of drillers and units was noted; the seed of the next blocks assigns the units.
		BatchClosed {
			/// How many drillers were ready.
			drillers: u32,
			/// How many units are handed out.
			units: u32,
		},
		/// A unit was given to a group of drillers.
		Assigned {
			/// The assignment.
			assignment: AssignmentId,
			/// Of which project.
			project: ProjectId,
			/// Which unit.
			index: u32,
			/// Seed of the unit.
			seed: H256,
			/// Who computes it.
			drillers: BoundedVec<T::AccountId, ConstU32<{ MAX_UNIT_REPLICAS as u32 }>>,
			/// Last block for commitments.
			until: BlockNumber,
		},
		/// A driller or a verifier committed.
		Committed {
			/// To which assignment's result.
			assignment: AssignmentId,
			/// Who.
			who: T::AccountId,
		},
		/// A driller or a verifier said that a unit's data are not to be had. A driller gets no more
		/// units of this project until it chooses it again.
		Declined {
			/// The assignment.
			assignment: AssignmentId,
			/// Who.
			who: T::AccountId,
		},
		/// Most drillers of a unit said that its data are not to be had: verifiers look for them.
		Doubted {
			/// The assignment.
			assignment: AssignmentId,
		},
		/// Committing is over; the drillers, or the verifiers, reveal.
		RevealOpened {
			/// The assignment.
			assignment: AssignmentId,
			/// Last block for reveals.
			until: BlockNumber,
		},
		/// A driller or a verifier revealed.
		Revealed {
			/// The assignment.
			assignment: AssignmentId,
			/// Who.
			who: T::AccountId,
		},
		/// A driller lost as much drilling power as the unit would have brought.
		PowerLost {
			/// In which assignment.
			assignment: AssignmentId,
			/// Who.
			driller: T::AccountId,
			/// The work of the unit.
			work: MicroUt,
			/// What for.
			fault: Fault,
		},
		/// A group agreed on a result.
		Agreed {
			/// The assignment.
			assignment: AssignmentId,
			/// The unit's result.
			result: UnitResult,
			/// How many agree.
			agreeing: u8,
		},
		/// A unit ended without a result and waits to be handed out again.
		Reissued {
			/// The assignment that failed.
			assignment: AssignmentId,
			/// Of which project.
			project: ProjectId,
			/// Which unit.
			index: u32,
			/// Why.
			failure: Failure,
		},
		/// A unit ended without a result and is given up.
		Abandoned {
			/// The assignment that failed.
			assignment: AssignmentId,
			/// Of which project.
			project: ProjectId,
			/// Which unit.
			index: u32,
			/// Why.
			failure: Failure,
		},
		/// An agreed unit is recomputed.
		CheckOpened {
			/// The assignment.
			assignment: AssignmentId,
			/// By whom.
			verifiers: Vec<T::AccountId>,
			/// Last block for commitments.
			until: BlockNumber,
		},
		/// A recomputation confirmed the agreed result.
		Confirmed {
			/// The assignment.
			assignment: AssignmentId,
		},
		/// A recomputation refuted the agreed result: this driller had agreed on it and lost a part
		/// of its bond and all its drilling power.
		Forged {
			/// The assignment.
			assignment: AssignmentId,
			/// Who.
			driller: T::AccountId,
			/// What was taken of the bond.
			slashed: Balance,
		},
		/// A verifier was paid for a recomputation.
		CheckPaid {
			/// The assignment.
			assignment: AssignmentId,
			/// Who.
			verifier: T::AccountId,
			/// How much: less than the fee, or nothing, where the jackpot has no more.
			fee: Balance,
		},
		/// The result of a unit is kept, and each of those who agreed is credited.
		Credited {
			/// The assignment.
			assignment: AssignmentId,
			/// Of which project.
			project: ProjectId,
			/// Which unit.
			index: u32,
			/// What each is credited.
			work: MicroUt,
			/// How many are.
			agreeing: u8,
		},
		/// The blocks of a seed are too old; it forms from the next ones.
		SeedLost,
		/// An agreed unit was drawn to be recomputed, and the verifiers are busy: they are drawn
		/// again.
		CheckPostponed {
			/// The assignment.
			assignment: AssignmentId,
			/// Not before this block.
			until: BlockNumber,
		},
	}
}
