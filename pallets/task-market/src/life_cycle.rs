//! The state machine of a job: the only place where a job's state changes.
//!
//! A job moves when [`Pallet::advance`] looks at it, at a height that the agenda names, or ends by
//! the calls `cancel` and `agree`, which only its parties may make (see [`crate::parties`]). Every
//! state has a deadline and an outcome when it passes, so nobody's money is locked by someone who
//! vanished:
//!
//! | state | ends when | and then |
//! |---|---|---|
//! | Open | its deadline; the invited trainer applied | Seeding, or `NoApplicants` |
//! | Seeding | the seed of the next draw height is there (nobody is needed) | Training |
//! | Training | all committed, or its deadline | Revealing, or `Failed` |
//! | Revealing | all revealed and all models stored, or its deadline, which moves while blocks have no room for chunks | Auditing, or `Failed` |
//! | Auditing | the audit decided (each round has deadlines of its own, and results stand until nothing is or can be disputed), or it has no committee `AuditDeadline` after it began | `Settled` or `Failed` |
//! | Ended | `RetentionBlocks` after that, and not while what was accepted can be challenged | its records are removed |

use crate::{
	Agenda, Applicant, Applicants, Config, Event, Hearings, Job, Jobs, Lates, Pallet, Replica,
	Specs, Uploading, WeightInfo,
};
use alloc::{collections::BTreeMap, vec::Vec};
use codec::Encode;
use frame_support::{defensive, traits::Get, weights::Weight, BoundedVec};
use trainyard_pallet_support::agenda::Clock;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	audit::Decision,
	draw,
	job::{Balance, BlockNumber, Ending, Fate, JobState, Reveal, WorkResult, MAX_REPLICAS},
	reputation::Role,
	seats::Resources,
	JobId, H256,
};
use trainyard_traits::{
	stood_still, AuditRequest, AuditStatus, Audits, AwaitedBlobs, Beacon, BlobStore, Delivery,
	Outcome, Reputation, Seed, Submissions, TrainerRegistry,
};

/// Domain of the assignment seed; the subject is the job's number, encoded.
pub const SEED_DOMAIN: &[u8] = b"trainyard/assign/v1";
/// Domain of the draw of replicas from the assignment seed.
pub const REPLICAS_DOMAIN: &[u8] = b"trainyard/replicas/v1";

/// Where a look at a job leads: the height of the next look, or `None` if the job ended.
type Next = Option<BlockNumber>;

impl<T: Config> Pallet<T> {
	/// Looks at a job: moves it on if what it waits for is there or its deadline has passed,
	/// and puts it on the agenda again unless it ended. Returns the weight of what was done,
	/// at most [`Self::worst_advance`].
	pub fn advance(id: JobId) -> Weight {
		let Some(mut job) = Jobs::<T>::get(id) else {
			defensive!("a job on the agenda exists");
			Self::unschedule(id);
			return T::WeightInfo::look();
		};
		let now = Self::now();
		let (next, weight) = match job.state {
			JobState::Open => Self::look_at_open(id, &mut job, now),
			JobState::Seeding => Self::look_at_seeding(id, &mut job, now),
			JobState::Training => Self::look_at_training(id, &mut job, now),
			JobState::Revealing => Self::look_at_revealing(id, &mut job, now),
			JobState::Auditing => Self::look_at_auditing(id, &mut job, now),
			JobState::Ended(_) if Lates::<T>::contains_key(id) => {
				Self::look_at_late(id, &mut job, now)
			}
			JobState::Ended(_) => {
				if now >= job.deadline {
					Self::drop_records(id, &job);
				}
				return Self::forget_weight().saturating_add(T::DbWeight::get().reads(1));
			}
		};
		match next {
			Some(at) => Self::schedule(id, at),
			None => Self::unschedule(id),
		}
		Jobs::<T>::insert(id, job);
		weight
	}

	/// Returns the largest weight of one [`Self::advance`].
	pub fn worst_advance() -> Weight {
		[
			JobState::Open,
			JobState::Seeding,
			JobState::Training,
			JobState::Revealing,
			JobState::Auditing,
			JobState::Ended(Ending::Settled),
		]
		.iter()
		.fold(Weight::zero(), |worst, state| worst.max(Self::worst_of_state(state)))
	}

	/// Returns the largest weight of one [`Self::advance`] of a job in this state.
	pub(crate) fn worst_of_state(state: &JobState) -> Weight {
		let settle = Self::settle_weight();
		match state {
			JobState::Open => T::WeightInfo::close_applications().max(settle),
			JobState::Seeding => {
				let applicants = T::MaxApplicants::get();
				let records = T::Reputation::note_weight().saturating_mul(applicants.into());
				let assign = T::WeightInfo::assign(applicants).saturating_add(records);
				Self::seed_weight().saturating_add(assign).saturating_add(settle)
			}
			JobState::Training => T::WeightInfo::open_reveals().saturating_add(settle),
			JobState::Revealing => {
				let open = Self::open_audit_weight().saturating_add(settle);
				Self::models_weight().saturating_add(T::WeightInfo::look().max(open))
			}
			JobState::Auditing => T::Audits::advance_weight()
				.saturating_add(T::WeightInfo::look())
				.saturating_add(Self::give_up_weight())
				.saturating_add(settle)
				.saturating_add(Self::disputes_weight()),
			JobState::Ended(_) => {
				let late = T::DbWeight::get().reads(1);
				Self::forget_weight().max(Self::late_weight()).saturating_add(late)
			}
		}
	}

	/// Returns the weight of opening an audit, with how its results can be challenged.
	fn open_audit_weight() -> Weight {
		T::WeightInfo::open_audit().saturating_add(T::DbWeight::get().reads_writes(2, 1))
	}

	/// Returns the weight of asking for a seed. Benchmarks cannot make its blocks.
	fn seed_weight() -> Weight {
		T::Beacon::seed_weight()
	}

	/// Returns the weight of giving an audit up that waits: its record.
	fn give_up_weight() -> Weight {
		T::DbWeight::get().reads_writes(1, 1)
	}

	/// Returns the weight of looking for every replica's model. Benchmarks cannot store them.
	fn models_weight() -> Weight {
		T::DbWeight::get().reads(u64::from(MAX_REPLICAS).saturating_add(2))
	}

	fn look_at_open(id: JobId, job: &mut Job<T::AccountId>, now: BlockNumber) -> (Next, Weight) {
		let applicants = Applicants::<T>::decode_len(id).unwrap_or(0);
		let complete = now >= job.deadline || (job.invited.is_some() && applicants > 0);
		if !complete {
			return (Some(job.deadline), T::WeightInfo::look());
		}
		if applicants == 0 {
			Self::end(id, job, Ending::NoApplicants);
			return (None, Self::settle_weight());
		}
		let applicants = applicants as u32;
		Self::deposit_event(Event::ApplicationsClosed { job: id, applicants });
		// The deadline was fixed when the job was posted. Where full blocks look at the job late, the
		// height stays that of the deadline.
		let closed = now.min(job.deadline);
		(Some(Self::await_seed(job, now, closed)), T::WeightInfo::close_applications())
	}

	/// Begins to wait for the seed of the draw height of what was settled at `settled`. Returns the
	/// height of the next look.
	fn await_seed(
		job: &mut Job<T::AccountId>,
		now: BlockNumber,
		settled: BlockNumber,
	) -> BlockNumber {
		let next = now.saturating_add(1);
		Self::enter(job, JobState::Seeding, now, next);
		job.since = T::Beacon::draw_height(settled);
		next
	}

	fn look_at_seeding(id: JobId, job: &mut Job<T::AccountId>, now: BlockNumber) -> (Next, Weight) {
		match id.using_encoded(|subject| T::Beacon::seed(SEED_DOMAIN, subject, job.since)) {
			Seed::Ready(seed) => {
				let applicants = Applicants::<T>::take(id);
				let weight = T::WeightInfo::assign(applicants.len() as u32)
					.saturating_add(Self::seed_weight());
				match Self::assign(id, job, now, seed, applicants.into_inner()) {
					Some(deadline) => (Some(deadline), weight),
					None => (None, weight.saturating_add(Self::settle_weight())),
				}
			}
			Seed::NotBefore(at) => {
				job.deadline = at.max(now.saturating_add(1));
				(Some(job.deadline), T::WeightInfo::look().saturating_add(Self::seed_weight()))
			}
			Seed::Lost => {
				Self::deposit_event(Event::SeedLost { job: id });
				let next = Self::await_seed(job, now, now);
				(Some(next), T::WeightInfo::look().saturating_add(Self::seed_weight()))
			}
		}
	}

	/// Returns what the job trains.
	pub(crate) fn spec(id: JobId) -> Option<JobSpec> {
		let spec = Specs::<T>::get(id);
		if spec.is_none() {
			defensive!("every job on record has a specification");
		}
		spec
	}

	/// Draws the replicas from the `applicants`, returns the others' deposits and begins
	/// training. An applicant counts with the bond that it had when it applied, or with less if it
	/// lost some: the author of the last block of a seed knows what a raise would bring. Of that
	/// [as much](trainyard_protocol::reputation::Record::standing) counts as its record as a trainer said when it
	/// applied, or less if it is worse now.
	pub(crate) fn assign(
		id: JobId,
		job: &mut Job<T::AccountId>,
		now: BlockNumber,
		seed: H256,
		applicants: Vec<Applicant<T::AccountId>>,
	) -> Next {
		let mut candidates: Vec<(T::AccountId, Balance)> = applicants
			.iter()
			.map(|a| {
				let standing = T::Reputation::record(Role::Trainer, &a.trainer).standing();
				(a.trainer.clone(), a.weight(T::Trainers::bond(&a.trainer), standing))
			})
			.collect();
		candidates.sort();
		let wanted = job.terms.replicas as usize;
		let drawn = draw::weighted(REPLICAS_DOMAIN, &seed, &candidates, wanted);
		for (applicant, _) in &candidates {
			if !drawn.contains(applicant) {
				Self::return_deposit(id, applicant, &job.quote);
			}
		}
		let trainers = BoundedVec::truncate_from(drawn);
		let forced = |trainer: &T::AccountId| {
			let found = applicants.iter().find(|applicant| applicant.trainer == *trainer);
			found.map_or(H256::zero(), |applicant| applicant.forced)
		};
		let replicas = trainers
			.iter()
			.map(|trainer| Replica {
				trainer: trainer.clone(),
				forced: forced(trainer),
				fate: Fate::Working,
				result: None,
				segments: None,
				diverged: false,
				offer: None,
			})
			.collect();
		job.replicas = BoundedVec::truncate_from(replicas);
		job.seed = Some(seed);
		let opened = Self::spec(id).is_some_and(|spec| {
			T::Submissions::open(id, &trainers, spec.possible_segments()).is_ok()
		});
		if !opened {
			// Nobody's fault: everything goes back.
			Self::conclude(id, job, |_| Some(Fate::Undecided));
			Self::end(id, job, Ending::Failed);
			return None;
		}
		let deadline = now.saturating_add(job.terms.training_blocks);
		Self::enter(job, JobState::Training, now, deadline);
		Self::deposit_event(Event::Assigned { job: id, seed, trainers });
		Some(deadline)
	}

	fn look_at_training(
		id: JobId,
		job: &mut Job<T::AccountId>,
		now: BlockNumber,
	) -> (Next, Weight) {
		if now < job.deadline && !T::Submissions::is_complete(id) {
			return (Some(job.deadline), T::WeightInfo::look());
		}
		let weight = T::WeightInfo::open_reveals();
		match Self::open_reveals(id, job, now) {
			Some(deadline) => (Some(deadline), weight),
			None => (None, weight.saturating_add(Self::settle_weight())),
		}
	}

	/// Ends training.
	pub(crate) fn open_reveals(id: JobId, job: &mut Job<T::AccountId>, now: BlockNumber) -> Next {
		let committed = T::Submissions::open_reveals(id);
		Self::conclude(id, job, |r| {
			(!committed.contains(&r.trainer)).then_some(Fate::NotCommitted)
		});
		if committed.is_empty() {
			T::Submissions::close(id);
			Self::end(id, job, Ending::Failed);
			return None;
		}
		let committed = committed.len() as u32;
		Self::deposit_event(Event::RevealsOpened { job: id, committed });
		let blocks = T::RevealBlocks::get().saturating_add(job.quote.moved.store);
		let deadline = now.saturating_add(blocks);
		Self::enter(job, JobState::Revealing, now, deadline);
		Uploading::<T>::insert(id, (T::Blobs::full_blocks(), deadline));
		Some(deadline)
	}

	/// Returns until when a job waits for models: a deadline stands still in blocks that had no room
	/// for another chunk.
	fn upload_deadline(id: JobId, job: &Job<T::AccountId>) -> BlockNumber {
		let Some((before, first)) = Uploading::<T>::get(id) else { return job.deadline };
		let full = T::Blobs::full_blocks().saturating_sub(before);
		stood_still(job.since, first, full)
	}

	fn look_at_revealing(
		id: JobId,
		job: &mut Job<T::AccountId>,
		now: BlockNumber,
	) -> (Next, Weight) {
		if now < job.deadline && !T::Submissions::is_complete(id) {
			return (Some(job.deadline), T::WeightInfo::look());
		}
		let stored = |(_, reveal): &(_, Reveal)| T::Blobs::is_complete(&reveal.model_root);
		if !T::Submissions::reveals(id).iter().all(stored) {
			if now >= job.deadline {
				job.deadline = job.deadline.max(Self::upload_deadline(id, job));
			}
			if now < job.deadline {
				// Nothing informs this pallet of a stored model, so it looks again.
				let poll = now.saturating_add(T::ModelPollBlocks::get());
				let weight = T::WeightInfo::look().saturating_add(Self::models_weight());
				return (Some(poll.min(job.deadline)), weight);
			}
		}
		let reveals = T::Submissions::close(id);
		let weight = Self::open_audit_weight().saturating_add(Self::models_weight());
		match Self::close_reveals(id, job, now, reveals) {
			Some(next) => (Some(next), weight),
			None => (None, weight.saturating_add(Self::settle_weight())),
		}
	}

	/// Ends the reveal phase: a trainer that revealed nothing, or whose model is not stored, is
	/// out.
	fn close_reveals(
		id: JobId,
		job: &mut Job<T::AccountId>,
		now: BlockNumber,
		reveals: Vec<(T::AccountId, Reveal)>,
	) -> Next {
		Uploading::<T>::remove(id);
		let results: BTreeMap<T::AccountId, WorkResult> =
			reveals.into_iter().map(|(trainer, reveal)| (trainer, reveal.result())).collect();
		Self::conclude(id, job, |r| match results.get(&r.trainer) {
			None => Some(Fate::NotRevealed),
			Some(result) if !T::Blobs::is_complete(&result.model_root) => Some(Fate::ModelMissing),
			Some(_) => None,
		});
		Self::open_audit(id, job, now, &results)
	}

	/// Opens the audit of the replicas still working: equal results are checked once.
	pub(crate) fn open_audit(
		id: JobId,
		job: &mut Job<T::AccountId>,
		now: BlockNumber,
		results: &BTreeMap<T::AccountId, WorkResult>,
	) -> Next {
		let mut groups = BTreeMap::<WorkResult, Vec<Delivery<T::AccountId>>>::new();
		for replica in job.replicas.iter().filter(|r| r.fate == Fate::Working) {
			if let Some(result) = results.get(&replica.trainer) {
				let Replica { trainer, forced, .. } = replica.clone();
				let bundle_root = result.bundle_root;
				let delivery = Delivery { trainer, bundle_root, forced };
				groups.entry(result.common()).or_default().push(delivery);
			}
		}
		if groups.is_empty() {
			Self::end(id, job, Ending::Failed);
			return None;
		}
		let groups: Vec<_> = groups.into_iter().collect();
		for replica in &mut job.replicas {
			let delivered = (0u32..)
				.zip(&groups)
				.find(|(_, (_, all))| all.iter().any(|one| one.trainer == replica.trainer));
			replica.result = delivered.map(|(at, _)| at);
			replica.segments = delivered.map(|(_, (result, _))| result.trained());
			replica.diverged = delivered.is_some_and(|(_, (result, _))| result.diverged);
		}
		let results = groups.len() as u32;
		// Every result is replayed. The disk is counted for all that there may be.
		let needs = Resources {
			work: job.quote.needs.work.saturating_mul(results.into()),
			..job.quote.needs
		};
		let parties = core::iter::once(job.submitter.clone())
			.chain(job.replicas.iter().map(|r| r.trainer.clone()))
			.collect();
		let hearing = Self::spec(id).and_then(|spec| Self::hearing(job, &spec));
		let request = hearing.zip(job.seed).map(|(hearing, assignment)| AuditRequest {
			groups,
			assignment,
			parties,
			drawing: job.terms.drawing(),
			verifiers: job.terms.verifiers,
			fee: job.terms.audit_fee,
			price: job.quote.price,
			needs,
			rate: job.terms.machine.rate(),
			fetch: job.quote.moved.fetch,
			recompute: job.quote.moved.recompute,
			challenge: hearing.deposit,
			window: hearing.length,
			again: hearing.again,
			sizes: job.quote.sizes,
			storage_byte: T::StorageByte::get(),
			storage: job.quote.storage,
		});
		let opened = request.is_some_and(|request| T::Audits::open(id, request).is_ok());
		let Some(hearing) = hearing.filter(|_| opened) else {
			// Nobody's fault: no audit, so no loss, and the part for what was trained.
			Self::conclude(id, job, |_| Some(Fate::Undecided));
			Self::end(id, job, Ending::Failed);
			return None;
		};
		let next = now.saturating_add(1);
		Self::enter(job, JobState::Auditing, now, next);
		Hearings::<T>::insert(id, hearing);
		Self::deposit_event(Event::AuditOpened { job: id, results });
		Some(next)
	}

	fn look_at_auditing(
		id: JobId,
		job: &mut Job<T::AccountId>,
		now: BlockNumber,
	) -> (Next, Weight) {
		let mut weight = T::Audits::advance_weight().saturating_add(T::WeightInfo::look());
		let last = job.since.saturating_add(T::AuditDeadline::get());
		if now >= last {
			// A round that runs goes on; the next one does not begin.
			T::Audits::give_up(id);
			weight = weight.saturating_add(Self::give_up_weight());
		}
		match T::Audits::advance(id) {
			AuditStatus::Pending(at) => {
				let next = at.max(now.saturating_add(1));
				job.deadline = if now < last { next.min(last) } else { next };
				(Some(job.deadline), weight)
			}
			AuditStatus::Done(outcome) => {
				let next = Self::decide(id, job, &outcome);
				let settle = Self::settle_weight().saturating_add(Self::disputes_weight());
				(next, weight.saturating_add(settle))
			}
		}
	}

	/// Ends a job by what its audit came to. Who was convicted is rejected, whatever was decided, and who
	/// did not open its forced leaves has revealed half of its result. Returns the height of the next look,
	/// where what was accepted can still be challenged.
	pub(crate) fn decide(
		id: JobId,
		job: &mut Job<T::AccountId>,
		outcome: &Outcome<T::AccountId>,
	) -> Next {
		Self::conclude(id, job, |r| {
			if Self::is_guilty(id, &r.trainer) {
				return Some(Fate::Rejected);
			}
			if outcome.unopened.contains(&r.trainer) {
				return Some(Fate::NotRevealed);
			}
			let decision = r.result.and_then(|at| outcome.decisions.get(at as usize));
			Some(match decision {
				Some(Decision::Accepted | Decision::Idle) if r.diverged => Fate::Diverged,
				Some(Decision::Accepted) => Fate::Accepted,
				Some(Decision::Idle) => Fate::Idle,
				Some(Decision::Rejected) => Fate::Rejected,
				Some(Decision::Unavailable) => Fate::Unavailable,
				Some(Decision::Undecided) | None => Fate::Undecided,
			})
		});
		let accepted = job.replicas.iter().any(|r| r.fate.is_true());
		let ending = if accepted { Ending::Settled } else { Ending::Failed };
		Self::end_audited(id, job, ending, outcome)
	}

	/// Sets the fate of every replica still working for which `fate` names one.
	pub(crate) fn conclude(
		id: JobId,
		job: &mut Job<T::AccountId>,
		fate: impl Fn(&Replica<T::AccountId>) -> Option<Fate>,
	) {
		for replica in job.replicas.iter_mut().filter(|r| r.fate == Fate::Working) {
			if let Some(fate) = fate(replica) {
				replica.fate = fate;
				let trainer = replica.trainer.clone();
				Self::deposit_event(Event::ReplicaEnded { job: id, trainer, fate });
			}
		}
	}

	/// Begins `state`, which ends at `deadline` at the latest. Offers to settle at once were made
	/// in an earlier state and end with it.
	fn enter(
		job: &mut Job<T::AccountId>,
		state: JobState,
		now: BlockNumber,
		deadline: BlockNumber,
	) {
		job.state = state;
		job.since = now;
		job.deadline = deadline;
		job.offer = None;
		for replica in &mut job.replicas {
			replica.offer = None;
		}
	}

	/// Returns the weight of ending a job, but for what was disputed of it.
	pub(crate) fn settle_weight() -> Weight {
		T::WeightInfo::settle()
			.saturating_add(Self::release_weight())
			.saturating_add(Self::deeds_weight())
			.saturating_add(Self::claims_weight())
			.saturating_add(T::DbWeight::get().reads_writes(1, 1))
	}

	/// Lets the models go that the job named. Those of its trainers are kept for a while.
	fn release_models(id: JobId) {
		Uploading::<T>::remove(id);
		let reveals = T::Submissions::reveals(id);
		let trainers: Vec<T::AccountId> =
			reveals.iter().map(|(trainer, _)| trainer.clone()).collect();
		for (_, reveal) in reveals {
			T::Blobs::release(&reveal.model_root, &trainers);
		}
	}

	/// Returns the weight of letting every replica's model go. Benchmarks cannot store them.
	pub(crate) fn release_weight() -> Weight {
		let models = u64::from(MAX_REPLICAS);
		T::DbWeight::get().reads_writes(
			models.saturating_mul(4).saturating_add(1),
			models.saturating_mul(4).saturating_add(1),
		)
	}

	/// Ends a job whose replicas' fates are known: moves all its money, and puts it on the agenda
	/// to be forgotten. Whoever calls takes it out of [`crate::Due`]. Nothing of it was audited, or nothing
	/// is accepted, so nothing can be challenged any more.
	pub(crate) fn end(id: JobId, job: &mut Job<T::AccountId>, ending: Ending) {
		Self::end_audited(id, job, ending, &Outcome::default());
	}

	/// Does what [`Self::end`] does after an audit, where something may be accepted. Then it returns the
	/// height of the next look, which whoever calls puts into [`crate::Due`].
	pub(crate) fn end_audited(
		id: JobId,
		job: &mut Job<T::AccountId>,
		ending: Ending,
		outcome: &Outcome<T::AccountId>,
	) -> Next {
		let convicted = Self::convicted(id, job);
		let settlement = Self::settle(id, job, outcome);
		job.settlement = settlement;
		Self::note_deeds(job, ending, outcome, &convicted, &settlement);
		Self::release_models(id);
		let now = Self::now();
		let until = now.saturating_add(T::RetentionBlocks::get());
		Self::enter(job, JobState::Ended(ending), now, until);
		Self::deposit_event(Event::JobEnded { job: id, ending, settlement });
		let late = Lates::<T>::get(id).map(|late| late.until.saturating_add(1));
		if late.is_none() {
			Agenda::<T>::insert(until, id, ());
		}
		late
	}
}
