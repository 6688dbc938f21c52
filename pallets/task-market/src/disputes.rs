//! What the court asks about the results of jobs, and what a conviction does to their trainers.
//!
//! While a job is audited its results can be challenged, if [`Config::Patience`] lets the window open. A
//! job is not decided before the window is over and nothing is disputed. A trainer that the court
//! convicted is rejected then, whatever else was decided about its result, and its deposit is shared out
//! by [`ConvictionShares`](trainyard_protocol::fees::ConvictionShares); a challenger's lost deposit is
//! the trainer's where it keeps its own.

use crate::{
	Config, Guilt, Guilty, Hearing, Hearings, Job, Jobs, Pallet, Replica, Specs, WeightInfo,
};
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
	job::{Balance, BlockNumber, Fate, JobState, MAX_REPLICAS},
	JobId,
};
use trainyard_traits::{Charged, Conviction, Court, Defendant, Submissions, Window};

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

	/// Opens the window of a job whose audit begins now, if there is any patience.
	pub(crate) fn open_window(id: JobId, job: &Job<T::AccountId>, now: BlockNumber) {
		let patience = T::Patience::get();
		if patience == 0 {
			return;
		}
		// What cannot be counted was not posted.
		let hearing = Specs::<T>::get(id).and_then(|spec| Self::hearing(job, &spec, now, patience));
		if let Some(hearing) = hearing {
			Hearings::<T>::insert(id, hearing);
		}
	}

	fn hearing(
		job: &Job<T::AccountId>,
		spec: &JobSpec,
		now: BlockNumber,
		patience: BlockNumber,
	) -> Option<Hearing> {
		let parts = &job.quote.parts;
		let machine = u128::from(job.terms.machine.rate());
		let in_block = machine.saturating_mul(T::BlockTime::get().into()) / 1_000;
		let blocks = |flop: Result<u128, SpecError>| {
			let blocks = flop.ok()?.div_ceil(in_block.max(1));
			Some(BlockNumber::try_from(blocks).unwrap_or(BlockNumber::MAX))
		};
		// After a dispute there is time for one replay, and to challenge.
		let again = blocks(parts.longest_flop(spec))?.saturating_add(patience / 4);
		let length = patience.max(again);
		// Two disputes are heard at a time.
		let clock = |flop| Some(blocks(flop)?.saturating_mul(2).saturating_add(patience));
		let short = clock(parts.evaluation_defence_flop())?;
		let until = now.saturating_add(length).saturating_sub(1);
		let (price, fee) = (job.terms.price_per_ut, T::FeePerUt::get());
		Some(Hearing {
			window: Window { from: now, until, again },
			deposit: fees::challenge_deposit(spec, parts, price, fee)?,
			clock: clock(parts.defence_flop(spec))?.max(short),
			short,
		})
	}

	/// Returns the height at which a job whose audit is over can be decided at the earliest, unless that
	/// is now: while its window is open, or something is disputed.
	pub(crate) fn is_heard_until(id: JobId, now: BlockNumber) -> Option<BlockNumber> {
		let Hearing { window, .. } = Hearings::<T>::get(id)?;
		let standing = T::Court::standing(id);
		if window.is_over(now, &standing) {
			return None;
		}
		// Whatever begins or ends lets the job be looked at. A look is a record or two, so one now and
		// then costs little.
		let next = now.saturating_add(window.again.max(1));
		Some(match window.over_at(&standing) {
			over if over > now => over,
			_ => next,
		})
	}

	/// Returns the weight of one [`Self::is_heard_until`].
	pub(crate) fn hearing_weight() -> Weight {
		T::DbWeight::get().reads(1).saturating_add(T::Court::standing_weight())
	}

	/// Returns whether the court convicted a trainer of a job that has not ended.
	pub(crate) fn is_guilty(id: JobId, trainer: &T::AccountId) -> bool {
		Guilty::<T>::contains_key(id, trainer)
	}

	/// Says to the court what became of the trainers of a job whose fates are known. Returns what
	/// challengers lost to those that keep their deposits.
	pub(crate) fn settle_disputes(id: JobId, job: &Job<T::AccountId>) -> Balance {
		let lost = |replica: &Replica<_>| crate::lost_deposit(replica.fate, 1) > 0;
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
			.reads_writes(trainers.saturating_mul(2).saturating_add(1), trainers.saturating_add(1));
		own.saturating_add(T::Court::settle_weight().saturating_mul(trainers))
	}

	/// Returns the job, where it is audited and the result of `who` can still be challenged.
	fn accusable(id: JobId, who: &T::AccountId) -> Option<Job<T::AccountId>> {
		let job = Jobs::<T>::get(id).filter(|job| job.state == JobState::Auditing)?;
		let mut replicas = job.replicas.iter();
		let works = replicas.any(|r| r.trainer == *who && r.fate == Fate::Working);
		(works && Hearings::<T>::contains_key(id)).then_some(job)
	}

	/// Returns what the trainer `who` of `job` claims; `None` where it claims nothing, or nothing any
	/// more.
	pub fn charged(job: JobId, who: &T::AccountId) -> Option<Charged> {
		let found = Self::accusable(job, who)?;
		let reveals = T::Submissions::reveals(job);
		let (_, reveal) = reveals.into_iter().find(|(trainer, _)| trainer == who)?;
		let spec = Specs::<T>::get(job)?.check().ok()?;
		let case = Case { spec, seed: found.seed? };
		Some(Charged { case, result: reveal.result(), results: found.quote.results })
	}

	/// Returns the weight of one [`Self::charged`] at worst. Checking a specification is a small part of
	/// what posting a job takes.
	pub fn charged_weight() -> Weight {
		T::WeightInfo::charged()
	}

	/// Returns the window of a job, while it is audited.
	pub fn window(job: JobId) -> Option<Window> {
		Hearings::<T>::get(job).map(|hearing| hearing.window)
	}

	/// Returns the deposit of a challenge to a result of a job, while it is audited.
	pub fn challenge_deposit(job: JobId) -> Option<Balance> {
		Hearings::<T>::get(job).map(|hearing| hearing.deposit)
	}

	/// Returns the blocks that each side of a dispute about this target has for all its moves; none for
	/// a job that is not audited.
	pub fn clock(job: JobId, target: &Target) -> BlockNumber {
		Hearings::<T>::get(job).map_or(0, |hearing| match target {
			Target::Segment(_) | Target::Evidence(_) => hearing.clock,
			Target::Start | Target::Stop | Target::Model | Target::Rescue { .. } => hearing.short,
		})
	}

	/// Convicts the trainer `who` of `job`: it is rejected when the job is decided.
	pub fn convict(job: JobId, who: &T::AccountId, conviction: &Conviction<T::AccountId>) {
		if Self::accusable(job, who).is_some() {
			let Conviction { finder, proven, .. } = conviction;
			Guilty::<T>::insert(job, who, Guilt { finder: finder.clone(), proven: *proven });
		}
	}

	/// Returns the weight of one [`Self::convict`] at worst, and of looking at the job again.
	pub fn convict_weight() -> Weight {
		T::DbWeight::get().reads_writes(5, 4)
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
		let window = Window { from: 0, until: BlockNumber::MAX, again: 1 };
		let deposit = fees::CHALLENGE_BASE;
		Hearings::<T>::insert(id, Hearing { window, deposit, clock: 1_000, short: 1_000 });
		id
	}
}
