//! The events of the pallet.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod events {
	#[pallet::event]
	#[pallet::generate_deposit(pub(super) fn deposit_event)]
	pub enum Event<T: Config> {
		/// A job was posted and its escrow held.
		JobPosted {
			/// The job.
			job: JobId,
			/// Who posted it.
			submitter: T::AccountId,
			/// The only trainer that may apply, for a job ordered through a listing.
			invited: Option<T::AccountId>,
			/// Work of one replica.
			work: MicroUt,
			/// What is held.
			escrow: Balance,
			/// Protocol fee for a `ut` of training, fixed from now on.
			fee_per_ut: Balance,
		},
		/// A trainer applied and its deposit is held.
		Applied {
			/// The job.
			job: JobId,
			/// Who applied.
			trainer: T::AccountId,
			/// What is held.
			deposit: Balance,
		},
		/// Applying is over; the assignment seed forms from the next blocks.
		ApplicationsClosed {
			/// The job.
			job: JobId,
			/// How many applied.
			applicants: u32,
		},
		/// The blocks that should have made the seed are too old; it forms from the next ones.
		SeedLost {
			/// The job.
			job: JobId,
		},
		/// The seed is known and the replicas are drawn; training begins.
		Assigned {
			/// The job.
			job: JobId,
			/// The assignment seed, shared by all replicas.
			seed: H256,
			/// Who trains.
			trainers: BoundedVec<T::AccountId, ConstU32<MAX_REPLICAS>>,
		},
		/// Training is over; results and models are awaited.
		RevealsOpened {
			/// The job.
			job: JobId,
			/// How many trainers committed.
			committed: u32,
		},
		/// Results are in; verifiers replay.
		AuditOpened {
			/// The job.
			job: JobId,
			/// How many distinct results there are.
			results: u32,
		},
		/// The fate of a replica is known.
		ReplicaEnded {
			/// The job.
			job: JobId,
			/// Whose replica.
			trainer: T::AccountId,
			/// What became of it.
			fate: Fate,
		},
		/// A party is ready to settle at once.
		AgreementProposed {
			/// The job.
			job: JobId,
			/// Who is ready.
			who: T::AccountId,
			/// Total pay of one replica.
			pay: Balance,
		},
		/// A job ended and all its money went where it belongs.
		JobEnded {
			/// The job.
			job: JobId,
			/// How.
			ending: Ending,
			/// Where the money went.
			settlement: Settlement,
		},
		/// Money could not be delivered and went to the jackpot, or was burned where even that
		/// was impossible.
		Diverted {
			/// The job.
			job: JobId,
			/// Who should have received it.
			recipient: T::AccountId,
			/// How much.
			amount: Balance,
			/// Whether it was burned.
			burned: bool,
		},
		/// The record of an ended job was removed.
		Forgotten {
			/// The job.
			job: JobId,
		},
		/// A trainer posted or replaced its listing.
		ListingPosted {
			/// Whose.
			trainer: T::AccountId,
			/// Price of one `ut`.
			price_per_ut: Balance,
			/// Largest job taken.
			max_work: MicroUt,
		},
		/// A trainer removed its listing, or left, which removes it within some blocks.
		ListingRemoved {
			/// Whose.
			trainer: T::AccountId,
		},
		/// An applicant was displaced by one with a larger bond and has its deposit back.
		Displaced {
			/// The job.
			job: JobId,
			/// Who is no applicant any more.
			trainer: T::AccountId,
		},
		/// A party is not ready to settle at once any more.
		AgreementWithdrawn {
			/// The job.
			job: JobId,
			/// Who took its offer back.
			who: T::AccountId,
		},
		/// What was accepted can still be challenged for a while, and a fifth of the deposits stays locked.
		LateProofOpened {
			/// The job.
			job: JobId,
			/// The last block in which a challenge is taken.
			until: BlockNumber,
		},
		/// A trainer was convicted after the settlement: what was locked of its deposit is lost, and its
		/// power of this job.
		LateConviction {
			/// The job.
			job: JobId,
			/// Who.
			trainer: T::AccountId,
			/// Who found it out.
			finder: T::AccountId,
			/// Who has a half of the finder's part, if that is somebody else.
			second: Option<T::AccountId>,
			/// Whether that was proven. If not the trainer was silent.
			proven: bool,
			/// What was taken.
			lost: Balance,
			/// What the finders have of it.
			found: Balance,
		},
		/// What was accepted can be challenged no more, and what was locked is free.
		LateProofOver {
			/// The job.
			job: JobId,
		},
		/// A part of the protocol fee of a job was burned that bought no power: for its place on the market,
		/// by the time.
		PlaceCharged {
			/// The job.
			job: JobId,
			/// What was burned.
			amount: Balance,
		},
		/// The holder of a claim on pay offers it.
		ClaimOffered {
			/// The job.
			job: JobId,
			/// Whose replica is paid.
			trainer: T::AccountId,
			/// Who offers it.
			holder: T::AccountId,
			/// For what, and to whom.
			asked: Asked<T::AccountId>,
		},
		/// An offer of a claim was taken back.
		ClaimWithdrawn {
			/// The job.
			job: JobId,
			/// Whose replica is paid.
			trainer: T::AccountId,
		},
		/// A claim was sold.
		ClaimSold {
			/// The job.
			job: JobId,
			/// Whose replica is paid.
			trainer: T::AccountId,
			/// Who held it.
			seller: T::AccountId,
			/// Who holds it now.
			buyer: T::AccountId,
			/// What it paid for that.
			price: Balance,
		},
		/// A job was settled, and what a replica was paid went to another account than its trainer's.
		ClaimPaid {
			/// The job.
			job: JobId,
			/// Whose replica.
			trainer: T::AccountId,
			/// Who held the claim.
			holder: T::AccountId,
			/// What it was paid.
			amount: Balance,
		},
	}
}
