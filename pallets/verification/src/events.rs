//! The events of the pallet.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod events {
	#[pallet::event]
	#[pallet::generate_deposit(pub(super) fn deposit_event)]
	pub enum Event<T: Config> {
		/// A verifier came, or returned with a new bond.
		Registered {
			/// Who.
			verifier: T::AccountId,
			/// Its bond.
			bond: Balance,
			/// Whether it can be drawn, or waits for a place.
			standing: Standing,
		},
		/// A verifier that waited, for a place or for its key, has a place.
		Admitted {
			/// Who.
			verifier: T::AccountId,
			/// Its bond.
			bond: Balance,
		},
		/// A verifier lost its place to a larger bond, and waits for one. Its bond is free.
		Displaced {
			/// Who.
			verifier: T::AccountId,
			/// By whom.
			by: T::AccountId,
		},
		/// A verifier was absent too often. It keeps its bond, and its place for a turn, and is not
		/// drawn.
		Paused {
			/// Who.
			verifier: T::AccountId,
		},
		/// A verifier ended its pause, or did not leave after all.
		Resumed {
			/// Who.
			verifier: T::AccountId,
			/// Whether it can be drawn, or waits for a place.
			standing: Standing,
		},
		/// A verifier declared what it has room for.
		CapacityDeclared {
			/// Who.
			verifier: T::AccountId,
			/// For what.
			capacity: Resources,
		},
		/// A verifier set the key of its own draws.
		VrfKeySet {
			/// Who.
			verifier: T::AccountId,
			/// The key.
			key: Public,
		},
		/// A verifier raised its bond.
		BondRaised {
			/// Who.
			verifier: T::AccountId,
			/// Its bond now.
			bond: Balance,
		},
		/// A verifier left the pool.
		Left {
			/// Who.
			verifier: T::AccountId,
			/// Last block in which its bond cannot be withdrawn.
			until: BlockNumber,
		},
		/// A verifier that left, or waited, got back what no seat locks of its bond.
		Withdrawn {
			/// Who.
			verifier: T::AccountId,
			/// How much.
			amount: Balance,
		},
		/// A verifier lost a part of its bond: to the jackpot, or to whom it accused.
		Slashed {
			/// Who.
			verifier: T::AccountId,
			/// How much.
			amount: Balance,
			/// In which job's audit.
			job: JobId,
			/// What for.
			fault: Fault,
		},
		/// An audit was opened.
		AuditOpened {
			/// Of which job.
			job: JobId,
			/// Number of distinct results.
			groups: u32,
		},
		/// The committee of a round was drawn; it commits. What each seat replays only the seat knows.
		CommitteeDrawn {
			/// Of which job.
			job: JobId,
			/// Round, from 0.
			round: u32,
			/// The committee, in the order drawn.
			committee: Vec<T::AccountId>,
			/// The seed, of which each seat signs its own draws.
			seed: H256,
		},
		/// Too few verifiers have a free seat for a committee. This was no round: the draw is made
		/// again.
		NoCommittee {
			/// Of which job.
			job: JobId,
			/// Round, from 0.
			round: u32,
			/// Height after which the next seed forms.
			after: BlockNumber,
		},
		/// A member of a committee committed its findings.
		Committed {
			/// Of which job.
			job: JobId,
			/// Who.
			verifier: T::AccountId,
		},
		/// Committing is over; the committee reveals.
		RevealOpened {
			/// Of which job.
			job: JobId,
			/// Last block for reveals.
			until: BlockNumber,
		},
		/// Trainers open what they forced to be false.
		OpeningBegan {
			/// Of which job.
			job: JobId,
			/// Last block for that.
			until: BlockNumber,
		},
		/// A trainer opened its forced leaves.
		ForcedOpened {
			/// Of which job.
			job: JobId,
			/// Who.
			trainer: T::AccountId,
			/// From which they are drawn, with the assignment seed.
			secret: Secret,
			/// The leaves.
			forced: AllForced,
		},
		/// A trainer did not open them, and loses its deposit as if it had revealed nothing.
		NotOpened {
			/// Of which job.
			job: JobId,
			/// Who.
			trainer: T::AccountId,
		},
		/// A member of a committee revealed its findings.
		Revealed {
			/// Of which job.
			job: JobId,
			/// Who.
			verifier: T::AccountId,
		},
		/// Results stand: anybody can challenge them, and evidence.
		StandingOpened {
			/// Of which job.
			job: JobId,
			/// Last block for that, if nothing is disputed.
			until: BlockNumber,
		},
		/// Evidence was drawn that other seats replay again.
		RechecksDrawn {
			/// Of which job.
			job: JobId,
			/// Who replays which segment of whose evidence.
			rechecks: Vec<Recheck<T::AccountId>>,
		},
		/// A seat accused somebody, with a stake.
		Accused {
			/// Who.
			verifier: T::AccountId,
			/// Of what the court hears it.
			dispute: DisputeId,
			/// What it has at stake.
			stake: Balance,
		},
		/// An accusation of a seat was not lost: its stake is free.
		AccusationOver {
			/// Of which job.
			job: JobId,
			/// Who.
			verifier: T::AccountId,
		},
		/// The court convicted a trainer of a result.
		TrainerConvicted {
			/// Of which job.
			job: JobId,
			/// Of which result.
			group: u32,
			/// Who.
			trainer: T::AccountId,
		},
		/// The court convicted the evidence of a seat, which lost its stake.
		EvidenceConvicted {
			/// Of which job.
			job: JobId,
			/// Who.
			verifier: T::AccountId,
			/// How much was burned.
			burned: Balance,
			/// Who found it.
			finder: T::AccountId,
			/// Who has a half of the finder's part, if that is somebody else.
			second: Option<T::AccountId>,
			/// What the finders have of it.
			found: Balance,
			/// What the jackpot has of it.
			jackpot: Balance,
		},
		/// Somebody still lacks what it asked for: the trainers store it, or lose.
		RescueOpened {
			/// Of which job.
			job: JobId,
			/// Last block for `rescue`.
			until: BlockNumber,
		},
		/// A trainer stored a piece that was asked for.
		Rescued {
			/// Of which job.
			job: JobId,
			/// Which result.
			group: u32,
			/// Which piece.
			piece: Piece,
			/// Which of its trainers stored it.
			trainer: T::AccountId,
		},
		/// A result was decided.
		Decided {
			/// Of which job.
			job: JobId,
			/// Which result.
			group: u32,
			/// What was decided.
			decision: Decision,
		},
		/// All results of a job are decided.
		AuditDone {
			/// Of which job.
			job: JobId,
			/// Audit fees earned.
			fees: u32,
		},
		/// A verifier lost a part of its bond to the jackpot for what it did when it was drawn
		/// for a recomputation that is no audit.
		SlashedInRecompute {
			/// Who.
			verifier: T::AccountId,
			/// How much.
			amount: Balance,
			/// What for.
			fault: Fault,
		},
		/// A trainer is going to store a piece that was asked for of a result.
		RescueAnnounced {
			/// Of which job.
			job: JobId,
			/// Which result.
			group: u32,
			/// Which piece.
			piece: Piece,
			/// Root of a blob that is going to hold it.
			blob: H256,
			/// Who.
			trainer: T::AccountId,
		},
		/// Somebody lacks pieces of a result, and nobody gave them to it.
		Asked {
			/// Of which job.
			job: JobId,
			/// Which result.
			group: u32,
			/// Who.
			who: T::AccountId,
			/// Which pieces.
			pieces: Pieces,
			/// What it prepaid for their bytes.
			prepaid: Balance,
			/// What it pledged for its place, while results stand.
			pledge: Balance,
			/// Last block in which others can give them to it.
			until: BlockNumber,
		},
		/// Somebody has what it asked for.
		RequestWithdrawn {
			/// Of which job.
			job: JobId,
			/// Which result.
			group: u32,
			/// Who.
			who: T::AccountId,
		},
		/// What was asked for is stored or lost; the committee goes on.
		CommitReopened {
			/// Of which job.
			job: JobId,
			/// Last block for commitments.
			until: BlockNumber,
		},
		/// Somebody asked for a piece that is too large for the chain.
		RelayAsked {
			/// Number of the relay.
			relay: RelayId,
			/// Of which job.
			job: JobId,
			/// Which result.
			group: u32,
			/// Which piece.
			piece: Piece,
			/// Who.
			who: T::AccountId,
			/// What it prepaid.
			prepaid: Balance,
		},
		/// The committee of a relay was drawn: each of its seats says whether it has the piece.
		RelayDrawn {
			/// Which.
			relay: RelayId,
			/// The seats, in the order drawn.
			seats: Vec<T::AccountId>,
			/// Last block for that.
			until: BlockNumber,
		},
		/// A seat said whether it has the piece.
		RelaySaid {
			/// Of which relay.
			relay: RelayId,
			/// Who.
			who: T::AccountId,
			/// Whether it has it.
			has: bool,
		},
		/// The chunks were drawn that seats must open: of all that said that they have the piece, or of
		/// those that are asked for one.
		RelayChunksDrawn {
			/// Of which relay.
			relay: RelayId,
			/// By which seed.
			seed: H256,
			/// Last block for them.
			until: BlockNumber,
		},
		/// A seat opened the chunk that was drawn for it.
		RelayShown {
			/// Of which relay.
			relay: RelayId,
			/// Who.
			who: T::AccountId,
			/// Number of the chunk.
			chunk: u64,
		},
		/// The trainers had their time to serve a committee, which says again what it has.
		RelayVote {
			/// Which relay.
			relay: RelayId,
			/// Last block for that.
			until: BlockNumber,
		},
		/// A committee answered.
		RelayAnswered {
			/// Which relay.
			relay: RelayId,
			/// Whether a majority has the piece.
			held: bool,
			/// Whether the trainers had their time to serve it before. If not, and it is not held, they have
			/// it now.
			last: bool,
			/// Last block of what follows: fetching, serving, or doubting the answer.
			until: BlockNumber,
		},
		/// Somebody asks seats for chunks.
		RelaySeatsAsked {
			/// Of which relay.
			relay: RelayId,
			/// Who.
			who: T::AccountId,
			/// The numbers of the seats.
			seats: Vec<u32>,
		},
		/// Somebody doubts an answer: a larger committee is drawn.
		RelayAppealed {
			/// Of which relay.
			relay: RelayId,
			/// Who.
			who: T::AccountId,
			/// Whether the answer was that the piece is held.
			held: bool,
			/// What it prepaid.
			prepaid: Balance,
		},
		/// No larger committee could be drawn. The answer stands, and what was prepaid returns.
		RelayAppealFailed {
			/// Of which relay.
			relay: RelayId,
		},
		/// A seat of a relay lost a part of its bond to the jackpot.
		RelaySlashed {
			/// Of which relay.
			relay: RelayId,
			/// Who.
			verifier: T::AccountId,
			/// How much.
			amount: Balance,
			/// What for.
			fault: Fault,
		},
		/// A relay ended.
		RelayEnded {
			/// Which.
			relay: RelayId,
			/// Whether the piece is held; `None` where nobody can say: no committee could be drawn, or the
			/// result was decided meanwhile.
			held: Option<bool>,
		},
		/// A seat rejected what a trainer delivered, and its bond covers no accusation of it now: it can
		/// accuse while results stand.
		AccusationPostponed {
			/// Of which job.
			job: JobId,
			/// The seat.
			verifier: T::AccountId,
			/// The trainer.
			trainer: T::AccountId,
		},
		/// A seat rejected a result by naming a trainer that was out before it committed: that says nothing of
		/// the result, and counts as if it was unavailable.
		RejectionVoid {
			/// Of which job.
			job: JobId,
			/// The seat.
			verifier: T::AccountId,
			/// Which result.
			group: u32,
		},
		/// Somebody who asked was displaced by who pledged more, and has back what it had on hold.
		AskerDisplaced {
			/// Of which job.
			job: JobId,
			/// Which result.
			group: u32,
			/// Who.
			who: T::AccountId,
			/// Who came in its place.
			by: T::AccountId,
		},
		/// A part of a pledge went to the jackpot: the price of a place among those who ask.
		PledgeTaken {
			/// Of which job.
			job: JobId,
			/// Which result.
			group: u32,
			/// Whose.
			who: T::AccountId,
			/// How much.
			amount: Balance,
		},
	}
}
