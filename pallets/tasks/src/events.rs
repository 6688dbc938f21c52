//! The events of the pallet.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod events {
	#[pallet::event]
	#[pallet::generate_deposit(pub(crate) fn deposit_event)]
	pub enum Event<T: Config> {
		/// A task was posted.
		Posted {
			/// Number of the task.
			task: TaskId,
			/// Who posted it.
			submitter: T::AccountId,
			/// What is held for rewards and an audit.
			escrow: Balance,
		},
		/// Somebody applied to compute a task.
		Applied {
			/// Number of the task.
			task: TaskId,
			/// Who.
			who: T::AccountId,
		},
		/// The replicas were drawn. They compute.
		Drawn {
			/// Number of the task.
			task: TaskId,
			/// Who.
			replicas: BoundedVec<T::AccountId, ConstU32<{ MAX_REPLICAS as u32 }>>,
			/// The last block to commit.
			until: BlockNumber,
		},
		/// A seed was asked for too late: it is drawn again, by a later one.
		SeedLost {
			/// Number of the task.
			task: TaskId,
		},
		/// A replica or an auditor committed to its claim.
		Committed {
			/// Number of the task.
			task: TaskId,
			/// Who.
			who: T::AccountId,
		},
		/// A verifier computes a task again.
		AuditBegan {
			/// Number of the task.
			task: TaskId,
			/// Who.
			auditor: T::AccountId,
			/// The last block to commit.
			until: BlockNumber,
		},
		/// Nobody could be had for an audit, or who was drawn was silent: it is drawn again, or the task ends.
		AuditMissed {
			/// Number of the task.
			task: TaskId,
			/// Who was silent.
			auditor: Option<T::AccountId>,
			/// Whether it is drawn again.
			again: bool,
		},
		/// Claims are shown.
		RevealsBegan {
			/// Number of the task.
			task: TaskId,
			/// Whether a verifier committed too.
			audited: bool,
			/// The last block for that.
			until: BlockNumber,
		},
		/// Somebody showed its claim.
		Revealed {
			/// Number of the task.
			task: TaskId,
			/// Who.
			who: T::AccountId,
			/// Number of the claim.
			claim: u8,
		},
		/// Anybody can challenge claims.
		ChallengesBegan {
			/// Number of the task.
			task: TaskId,
			/// The last block for that.
			until: BlockNumber,
		},
		/// Two claims are in dispute.
		Disputed {
			/// Number of the task.
			task: TaskId,
			/// Number of the dispute.
			dispute: u32,
			/// Number of the claim on its first side.
			claim: u8,
			/// Who challenges it, where that is not another claim.
			challenger: Option<T::AccountId>,
		},
		/// A side of a dispute showed nodes of its trace.
		Shown {
			/// Number of the task.
			task: TaskId,
			/// Number of the dispute.
			dispute: u32,
			/// Which side.
			side: u8,
		},
		/// A dispute is about one step, which waits to be executed.
		Narrowed {
			/// Number of the task.
			task: TaskId,
			/// Number of the dispute.
			dispute: u32,
			/// The step, from 1.
			step: u32,
		},
		/// A dispute is over.
		DisputeEnded {
			/// Number of the task.
			task: TaskId,
			/// Number of the dispute.
			dispute: u32,
			/// Which sides are convicted.
			convicted: [bool; 2],
		},
		/// A claim was convicted.
		Convicted {
			/// Number of the task.
			task: TaskId,
			/// Number of the claim.
			claim: u8,
		},
		/// A record of a map was executed and is another one.
		Refuted {
			/// Number of the task.
			task: TaskId,
			/// Number of the claim.
			claim: u8,
			/// The index.
			index: u32,
			/// Who showed it.
			by: T::AccountId,
		},
		/// Somebody lost a deposit, or a part.
		Slashed {
			/// Number of the task.
			task: TaskId,
			/// Who.
			who: T::AccountId,
			/// How much.
			amount: Balance,
		},
		/// Somebody who proved something false, or had to answer what was, has a part of a deposit.
		Compensated {
			/// Number of the task.
			task: TaskId,
			/// Who.
			who: T::AccountId,
			/// How much.
			amount: Balance,
		},
		/// Somebody was paid for a task.
		Paid {
			/// Number of the task.
			task: TaskId,
			/// Who.
			who: T::AccountId,
			/// How much.
			amount: Balance,
		},
		/// Money was burned.
		Burned {
			/// Whose.
			who: T::AccountId,
			/// How much.
			amount: Balance,
		},
		/// A task ended.
		Ended {
			/// Number of the task.
			task: TaskId,
			/// How.
			end: TaskEnd,
			/// What its submitter has back.
			refund: Balance,
		},
		/// Somebody sealed what it will challenge.
		Sealed {
			/// Number of the task.
			task: TaskId,
			/// Who.
			who: T::AccountId,
		},
		/// A seal was taken back.
		Unsealed {
			/// Number of the task.
			task: TaskId,
			/// Who.
			who: T::AccountId,
		},
	}
}
