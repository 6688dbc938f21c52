//! What the court asks about the results of jobs, and what a conviction does to their trainers.
//!
//! Results can be challenged while the audit lets them stand, for as long as [`Config::Patience`] and the
//! work of the job say. A trainer that the court convicted is rejected when the audit is over, whatever
//! was decided about its result, and its deposit is shared out by
//! [`LostShares`](trainyard_protocol::fees::LostShares); a challenger's lost deposit is the trainer's
//! where it keeps its own.

use crate::{Config, Guilty, Hearing, Hearings, Job, Jobs, Pallet, Replica, Specs, WeightInfo};
use alloc::vec::Vec;
use frame_support::{traits::Get, weights::Weight};
use trainyard_court::{
	game::{types::MAX_RESULTS, Target},
	Case,
};
use trainyard_program::{
	lower,
	ops::Program,
	parts::PartList,
	spec::{CheckedSpec, JobSpec, SpecError},
};
use trainyard_protocol::{
	fees,
	job::{Balance, BlockNumber, Fate, JobState, WorkResult, MAX_REPLICAS},
	state::ExpectedTensor,
	JobId, H256,
};
use trainyard_traits::{
	Charged, ClockTerms, Conviction, Court, Defendant, Reputation, Submissions, MAX_WINDOWS,
};

impl<T: Config> trainyard_traits::Specs for Pallet<T> {
	fn rows_root(job: JobId) -> Option<H256> {
		Specs::<T>::get(job).map(|spec| spec.dataset.rows)
	}

	fn tensors(job: JobId) -> Vec<ExpectedTensor> {
		let spec = Specs::<T>::get(job).and_then(|spec| spec.check().ok());
		spec.map(|spec| ExpectedTensor::all(&spec)).unwrap_or_default()
	}

	/// Listing the tensors of a state is a small part of what posting a job takes.
	fn tensors_weight() -> Weight {
		T::WeightInfo::charged()
	}
}

impl<T: Config> Pallet<T> {
	/// Returns the most results of a step of this job, or of a slice of an evaluation: what lowering it
	/// costs the court. `None` where a step has more than a dispute can be about.
	pub(crate) fn results(spec: &CheckedSpec) -> Option<u32> {
		let count = |program: &Program| {
			let PartList { parts } = PartList::of(program).ok()?;
			u32::try_from(parts.len()).ok()
		};
		let step = count(&lower::training_step(spec))?;
		let slice = count(&lower::evaluation_of(spec, spec.slice_rows()))?;
		Some(step.max(slice)).filter(|results| *results <= MAX_RESULTS)
	}

	/// Returns how the results of a job can be challenged. `None` where that cannot be counted; no such
	/// job was posted.
	pub(crate) fn hearing(job: &Job<T::AccountId>, spec: &JobSpec) -> Option<Hearing> {
		let patience = T::Patience::get();
		let parts = &job.quote.parts;
		let machine = u128::from(job.terms.machine.rate());
		let in_block = machine.saturating_mul(T::BlockTime::get().into()) / 1_000;
		let blocks = |flop: Result<u128, SpecError>| {
			let blocks = flop.ok()?.div_ceil(in_block.max(1));
			Some(BlockNumber::try_from(blocks).unwrap_or(BlockNumber::MAX))
		};
		// Whoever replays a segment may have to wait for the state before it, and so may who defends one.
		let stretch = job.quote.moved.recompute.stretch;
		let replay = blocks(parts.longest_flop(spec))?.saturating_add(stretch);
		let again = replay.saturating_add(patience / 4).max(1);
		let short = blocks(parts.evaluation_defence_flop())?;
		Some(Hearing {
			length: patience.max(again),
			again,
			deposit: fees::challenge_deposit(spec, parts, job.quote.compute_per_ut)?,
			work: blocks(parts.defence_flop(spec))?.saturating_add(stretch).max(short),
			short,
			patience,
		})
	}

	/// Returns whether the court convicted a trainer of a job that has not ended.
	pub(crate) fn is_guilty(id: JobId, trainer: &T::AccountId) -> bool {
		Guilty::<T>::contains_key(id, trainer)
	}

	/// Says to the court what became of the trainers of a job whose fates are known, and that what its
	/// seats revealed is final. Returns what challengers lost to trainers that keep their deposits.
	pub(crate) fn settle_disputes(id: JobId, job: &Job<T::AccountId>) -> Balance {
		let lost = |replica: &Replica<_>| crate::lost_deposit(replica.fate, 1) > 0;
		T::Court::acquit_seats(id);
		job.replicas.iter().fold(0, |sum: Balance, replica| {
			let acquitted = !lost(replica);
			let who = replica.trainer.clone();
			let amount = T::Court::settle(&Defendant::Trainer { job: id, who }, acquitted);
			sum.saturating_add(if acquitted { amount } else { 0 })
		})
	}

	/// Returns the weight of what ending a job costs where it can have been disputed: its hearing, and
	/// what each trainer lost or won.
	pub(crate) fn disputes_weight() -> Weight {
		let trainers = u64::from(MAX_REPLICAS);
		let own = T::DbWeight::get()
			.reads_writes(trainers.saturating_mul(2).saturating_add(2), trainers.saturating_add(2));
		own.saturating_add(T::Court::settle_weight().saturating_mul(trainers))
			.saturating_add(T::Court::acquit_seats_weight())
	}

	/// Returns the job, where it is audited.
	fn audited(id: JobId) -> Option<Job<T::AccountId>> {
		Jobs::<T>::get(id).filter(|job| job.state == JobState::Auditing)
	}

	/// Returns the job, where it is audited and the result of `who` can be challenged.
	fn accusable(id: JobId, who: &T::AccountId) -> Option<Job<T::AccountId>> {
		let job = Self::audited(id)?;
		let mut replicas = job.replicas.iter();
		let works = replicas.any(|r| r.trainer == *who && r.fate == Fate::Working);
		(works && Hearings::<T>::contains_key(id)).then_some(job)
	}

	/// Returns what the trainer `who` of `job` claims; `None` where it claims nothing, or nothing any
	/// more.
	pub fn charged(job: JobId, who: &T::AccountId) -> Option<Charged> {
		let found = Self::accusable(job, who).or_else(|| Self::late_accusable(job, who))?;
		let reveals = T::Submissions::reveals(job);
		let (_, reveal) = reveals.into_iter().find(|(trainer, _)| trainer == who)?;
		Self::case_of(job, &found, reveal.result())
	}

	/// Returns what a seat of the audit of `job` claims that replayed this `result`; `None` for a job that
	/// is not audited.
	pub fn charged_seat(job: JobId, result: WorkResult) -> Option<Charged> {
		Self::case_of(job, &Self::audited(job)?, result)
	}

	/// Returns of how many states of a job trainers keep one; 1, by which they keep all, of an unknown job.
	/// One read.
	pub fn keep_every(job: JobId) -> u32 {
		Jobs::<T>::get(job).map_or(1, |job| job.terms.keep_every)
	}

	fn case_of(id: JobId, job: &Job<T::AccountId>, result: WorkResult) -> Option<Charged> {
		let spec = Specs::<T>::get(id)?.check().ok()?;
		Some(Charged { case: Case { spec, seed: job.seed? }, result, results: job.quote.results })
	}

	/// Returns the weight of one [`Self::charged`] or [`Self::charged_seat`] at worst. Checking a specification is a small part of
	/// what posting a job takes.
	pub fn charged_weight() -> Weight {
		T::WeightInfo::charged()
	}

	/// Returns the deposit of a challenge to a result of a job, while it can be challenged.
	pub fn challenge_deposit(job: JobId) -> Option<Balance> {
		Hearings::<T>::get(job).map(|hearing| hearing.deposit)
	}

	/// Returns what a defence about this target takes, and what time there is for it; none for a job of
	/// which nothing can be challenged.
	pub fn clock(job: JobId, target: &Target) -> ClockTerms {
		let Some(hearing) = Hearings::<T>::get(job) else { return ClockTerms::default() };
		let work = match target {
			Target::Segment(_) | Target::Evidence(_) => hearing.work,
			Target::Start | Target::Stop | Target::Model | Target::Rescue { .. } => hearing.short,
		};
		let patience = hearing.patience;
		// Two disputes are heard at a time.
		let ticks = work.saturating_mul(2).saturating_add(patience);
		// As long as a window can be held open.
		ClockTerms { ticks, work, room: patience.saturating_mul(MAX_WINDOWS) }
	}

	/// Convicts the trainer `who` of `job`: it is rejected when the job is decided, or loses at once what
	/// it still has at stake where that is over.
	pub fn convict(job: JobId, who: &T::AccountId, conviction: &Conviction<T::AccountId>) {
		if Self::accusable(job, who).is_some() {
			Guilty::<T>::insert(job, who, conviction);
		} else {
			Self::convict_late(job, who, conviction);
		}
	}

	/// Returns the weight of one [`Self::convict`] at worst, and of looking at the job again.
	pub fn convict_weight() -> Weight {
		T::WeightInfo::convict_late()
			.saturating_add(T::Reputation::note_weight().saturating_mul(2))
			.max(T::DbWeight::get().reads_writes(5, 4))
	}

	/// Benchmarks: makes a job with this specification and seed whose window is open for ever, audited,
	/// with one trainer. The caller sees to what that revealed.
	#[cfg(feature = "runtime-benchmarks")]
	pub fn make_accused(charged: &Charged, trainer: &T::AccountId) -> JobId {
		use crate::{benchmarking, NextJob};
		use trainyard_pallet_support::agenda::Clock;
		let id = NextJob::<T>::get();
		NextJob::<T>::put(id.saturating_add(1));
		let spec = charged.case.spec.spec().clone();
		let job = benchmarking::audited::<T>(charged, trainer);
		Specs::<T>::insert(id, spec);
		Jobs::<T>::insert(id, job);
		Self::schedule(id, BlockNumber::MAX);
		let (length, again, deposit) = (BlockNumber::MAX, 1, fees::CHALLENGE_BASE);
		let (work, short, patience) = (500, 500, 0);
		let hearing = Hearing { length, again, deposit, work, short, patience };
		Hearings::<T>::insert(id, hearing);
		id
	}
}
