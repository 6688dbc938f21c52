//! Benchmarks of every call and of each step of a job, at their largest.
//!
//! Other pallets are reached through traits, so a benchmark cannot make a trainer commit, a model
//! be stored or an audit decide. The steps are therefore measured from where this pallet takes
//! over: the draw from a given seed, an audit opened for given results, a settlement for given
//! fates.

use super::*;
use alloc::{collections::BTreeMap, vec, vec::Vec};
use core::hint::black_box;
use frame_benchmarking::v2::*;
use frame_support::{
	traits::{
		fungible::{Mutate, MutateHold},
		Get,
	},
	BoundedVec,
};
use frame_system::RawOrigin;
use sp_runtime::SaturatedConversion;
use trainyard_pallet_support::agenda::Clock;
use trainyard_program::{
	needs::MachineClass,
	spec::{
		DataFormat, EarlyStop, Input, JobSpec, Layer, Model, MAX_LAYERS, MIN_POWER_CLIP_NANO,
		MIN_POWER_DROPOUT_NANO,
	},
	text::MAX_TEXT,
	work::Parts,
};
use trainyard_protocol::{
	audit::Decision,
	claims::{Asked, Seen},
	fees::locked_for_late_proof,
	job::{
		Balance, BlockNumber, Ending, Fate, JobState, Terms, WorkResult, MAX_AUDIT_ROUNDS,
		MAX_AUDIT_SEGMENTS, MAX_REPLICAS, MAX_VERIFIERS,
	},
	lottery, JobId, Text, H256,
};
use trainyard_traits::{
	Audits, BlobStore, Charged, Conviction, JobObserver, Outcome, PooledClaims, TrainerRegistry,
};

/// Enough for anything here, and for a hundred accounts.
const FUNDS: Balance = 1 << 90;

fn funded<T: Config>(name: &'static str, index: u32) -> T::AccountId {
	let who: T::AccountId = account(name, index, 0);
	T::Currency::set_balance(&who, FUNDS);
	who
}

fn trainer<T: Config>(index: u32) -> T::AccountId {
	let who = funded::<T>("trainer", index);
	T::Trainers::make_trainer(&who);
	who
}

/// The longest text that begins with `begin`.
fn longest(begin: &[u8]) -> Text {
	let mut text = begin.to_vec();
	text.resize(MAX_TEXT as usize, b'x');
	Text(BoundedVec::truncate_from(text))
}

/// The specification whose lists of operators are longest: attention has most of them. Its
/// work earns power.
fn spec() -> JobSpec {
	let mut spec = JobSpec::example();
	spec.dataset.location = longest(b"http://");
	spec.dataset.format = DataFormat::Text;
	spec.dataset.feature_divisor = 1;
	let mut layers = vec![Layer::Attention { heads: 1 }; MAX_LAYERS as usize];
	if let [first, second, .., last] = &mut layers[..] {
		*first = Layer::Embedding { width: 4 };
		*second = Layer::Dropout { rate_nano: MIN_POWER_DROPOUT_NANO };
		*last = Layer::Linear { outputs: spec.dataset.classes };
	}
	let layers = BoundedVec::truncate_from(layers);
	spec.model = Model::Layers { input: Input::Tokens, layers };
	spec.training.weight_decay_nano = 1;
	spec.training.clip_norm_nano = MIN_POWER_CLIP_NANO;
	spec.training.early_stop = Some(EarlyStop { patience: 1, min_delta_nano: 0 });
	// Long lists of little work: a job with more work than an audit may take would be refused.
	spec.dataset.features = 2;
	spec.dataset.validation_every = 2;
	// More than are evaluated at a time, so that their memory is counted from a list of its own.
	let rows = spec.slice_rows() + 1;
	spec.dataset.train_rows = rows;
	spec.dataset.validation_rows = rows;
	spec.training.batch_size = 1;
	spec.training.steps = 10 * MAX_AUDIT_SEGMENTS;
	spec.training.checkpoint_interval = spec.training.steps / MAX_AUDIT_SEGMENTS;
	spec
}

/// Terms with the most of everything.
fn terms<T: Config>() -> Terms {
	let terms = Terms {
		price_per_ut: 1_000_000_000_000,
		replicas: MAX_REPLICAS,
		// The largest that is odd.
		verifiers: (MAX_VERIFIERS - 1) | 1,
		audit_segments: MAX_AUDIT_SEGMENTS,
		audit_fee: 0,
		apply_blocks: T::MinPeriod::get(),
		training_blocks: T::MinPeriod::get(),
		machine: MachineClass::Gib8,
		undecided_percent: 20,
		keep_every: 1,
		lottery: None,
	};
	let audit_fee = Pallet::<T>::audit_fee(spec(), &terms).unwrap_or(0);
	Terms { audit_fee, ..terms }
}

fn posted<T: Config>() -> Result<JobId, BenchmarkError> {
	let id = NextJob::<T>::get();
	let submitter = funded::<T>("submitter", 0);
	T::Audits::make_pool();
	Pallet::<T>::do_submit_job(submitter, spec(), terms::<T>(), Balance::MAX)?;
	Ok(id)
}

/// The digest that names the job `id`.
fn digest<T: Config>(id: JobId) -> Result<H256, BenchmarkError> {
	Ok(Jobs::<T>::get(id).ok_or("no such job")?.digest)
}

/// A job that `count` trainers applied for.
fn applied<T: Config>(count: u32) -> Result<JobId, BenchmarkError> {
	let id = posted::<T>()?;
	for index in 0..count {
		Pallet::<T>::do_apply(trainer::<T>(index), id, digest::<T>(id)?, H256::zero())?;
	}
	Ok(id)
}

/// A settled job with the most replicas, of which all can be accused until the height that it returns.
fn late<T: Config>() -> Result<(JobId, BlockNumber), BenchmarkError> {
	let (id, mut job) = training::<T>()?;
	for replica in job.replicas.iter_mut() {
		(replica.fate, replica.segments) = (Fate::Accepted, Some(1));
	}
	Pallet::<T>::end(id, &mut job, Ending::Settled);
	Agenda::<T>::remove(job.deadline, id);
	let deposit = locked_for_late_proof(job.quote.deposit);
	let mut trainers = Vec::new();
	for replica in &job.replicas {
		let who = replica.trainer.clone();
		T::Currency::hold(&HoldReason::Deposit.into(), &who, deposit)?;
		trainers.push(Locked { who, deposit, credited: Some((1, 0)) });
	}
	let from = Pallet::<T>::now();
	let until = from + 100;
	let trainers = BoundedVec::truncate_from(trainers);
	Lates::<T>::insert(id, Late { from, until, trainers });
	let hearing = Hearing { length: 1, again: 1, deposit: 1, work: 1, short: 1, patience: 1 };
	Hearings::<T>::insert(id, hearing);
	Jobs::<T>::insert(id, &job);
	Pallet::<T>::schedule(id, until + 1);
	Ok((id, until))
}

/// A job in training with the most replicas.
fn training<T: Config>() -> Result<(JobId, Job<T::AccountId>), BenchmarkError> {
	let id = applied::<T>(MAX_REPLICAS)?;
	let mut job = Jobs::<T>::get(id).unwrap();
	job.state = JobState::Seeding;
	let applicants = Applicants::<T>::take(id).into_inner();
	let now = Pallet::<T>::now();
	let next = Pallet::<T>::assign(id, &mut job, now, H256::repeat_byte(7), applicants);
	Pallet::<T>::schedule(id, next.unwrap());
	assert_eq!(job.replicas.len() as u32, MAX_REPLICAS);
	Jobs::<T>::insert(id, &job);
	Ok((id, job))
}

/// A distinct result of each replica.
fn results<T: Config>(job: &Job<T::AccountId>) -> BTreeMap<T::AccountId, WorkResult> {
	let result = |i: usize| WorkResult {
		bundle_root: H256::repeat_byte(i as u8),
		true_root: H256::repeat_byte(i as u8),
		model_root: H256::repeat_byte(0x80 | i as u8),
		segments: 1 + i as u32,
		diverged: false,
	};
	job.replicas.iter().enumerate().map(|(i, r)| (r.trainer.clone(), result(i))).collect()
}

/// What each holder asks.
const PRICE: Balance = 1_000_000_000_000;

/// A job in its audit with a distinct result of each replica, and a claim on each on offer. Returns the trainer of the
/// last one.
fn offered<T: Config>() -> Result<(JobId, T::AccountId), BenchmarkError> {
	let (id, mut job) = training::<T>()?;
	let results = results::<T>(&job);
	let now = Pallet::<T>::now();
	assert!(Pallet::<T>::open_audit(id, &mut job, now, &results).is_some());
	Jobs::<T>::insert(id, &job);
	let trainers: Vec<T::AccountId> = job.replicas.iter().map(|r| r.trainer.clone()).collect();
	for trainer in &trainers {
		let only = Some(funded::<T>("buyer", 0));
		let asked = Some(Asked { price: PRICE, until: BlockNumber::MAX, only });
		Pallet::<T>::do_offer_claim(trainer.clone(), id, trainer.clone(), asked)?;
	}
	Ok((id, trainers.last().ok_or("no trainer")?.clone()))
}

/// A job by lottery of the most replicas, of which `who` trains one, whose ticket is worth little.
pub(crate) fn enrollable<T: Config>(who: &T::AccountId) -> Option<JobId> {
	let (id, mut job) = training::<T>().ok()?;
	job.replicas.iter_mut().next()?.trainer = who.clone();
	job.terms.lottery = Some(lottery::LEAST);
	job.terms.audit_fee = job.quote.price;
	Jobs::<T>::insert(id, job);
	Some(id)
}

fn set_height<T: Config>(height: u32) {
	frame_system::Pallet::<T>::set_block_number(height.saturated_into());
}

/// A job in its audit with one trainer, of the specification and the seed of `charged`.
pub(crate) fn audited<T: Config>(charged: &Charged, trainer: &T::AccountId) -> Job<T::AccountId> {
	let Charged { case, results, .. } = charged;
	let quote = Quote {
		parts: Parts { step: 1, evaluation: 1 },
		work: 0,
		training: 0,
		price: 0,
		fee_per_ut: 0,
		worth_per_ut: 0,
		compute_per_ut: 0,
		fee: 0,
		storage: 0,
		escrow: 0,
		deposit: 0,
		record: 0,
		needs: Default::default(),
		sizes: Default::default(),
		results: *results,
		moved: Default::default(),
	};
	let replica = Replica {
		trainer: trainer.clone(),
		forced: H256::zero(),
		fate: Fate::Working,
		result: Some(0),
		segments: Some(charged.result.segments),
		diverged: charged.result.diverged,
		offer: None,
	};
	Job {
		submitter: funded::<T>("submitter", 0),
		invited: None,
		terms: Terms { replicas: 1, ..terms::<T>() },
		digest: H256::zero(),
		quote,
		state: JobState::Auditing,
		posted: 0,
		since: 0,
		deadline: 0,
		seed: Some(case.seed),
		replicas: BoundedVec::truncate_from(vec![replica]),
		offer: None,
		settlement: Default::default(),
	}
}

#[benchmarks]
mod benchmarks {
	use super::*;

	#[benchmark]
	fn submit_job() {
		let submitter = funded::<T>("submitter", 0);
		T::Audits::make_pool();
		let (spec, terms) = (spec(), terms::<T>());

		#[extrinsic_call]
		_(RawOrigin::Signed(submitter), spec, terms, Balance::MAX);

		assert_eq!(NextJob::<T>::get(), 1);
	}

	#[benchmark]
	fn order() -> Result<(), BenchmarkError> {
		let submitter = funded::<T>("submitter", 0);
		T::Audits::make_pool();
		let trainer = trainer::<T>(0);
		let listing = Listing { price_per_ut: 1, max_work: u64::MAX, note: longest(b"") };
		Pallet::<T>::do_post_listing(trainer.clone(), listing)?;
		let (spec, terms) = (spec(), Terms { replicas: 1, ..terms::<T>() });

		#[extrinsic_call]
		_(RawOrigin::Signed(submitter), trainer, spec, terms, Balance::MAX);

		assert_eq!(NextJob::<T>::get(), 1);
		Ok(())
	}

	/// The list is full, and the applicant displaces another: its bond is said to be larger,
	/// as benchmarks cannot choose bonds.
	#[benchmark]
	fn apply() -> Result<(), BenchmarkError> {
		let id = applied::<T>(T::MaxApplicants::get())?;
		let last = trainer::<T>(T::MaxApplicants::get());
		let digest = digest::<T>(id)?;

		#[block]
		{
			T::Trainers::bond(&last);
			let applicant = Applicant {
				trainer: last.clone(),
				bond: Balance::MAX,
				standing: u32::MAX,
				forced: H256::zero(),
			};
			Pallet::<T>::apply_with(applicant, id, digest)?;
		}

		let applicants = Applicants::<T>::get(id);
		assert_eq!(applicants.len() as u32, T::MaxApplicants::get());
		assert!(applicants.iter().any(|applicant| applicant.trainer == last));
		Ok(())
	}

	#[benchmark]
	fn cancel() -> Result<(), BenchmarkError> {
		let id = posted::<T>()?;
		let submitter = Jobs::<T>::get(id).unwrap().submitter;

		#[extrinsic_call]
		_(RawOrigin::Signed(submitter), id);

		assert_eq!(Jobs::<T>::get(id).unwrap().state, JobState::Ended(Ending::Cancelled));
		Ok(())
	}

	#[benchmark]
	fn agree() -> Result<(), BenchmarkError> {
		let (id, job) = training::<T>()?;
		let last = job.replicas.last().unwrap().trainer.clone();

		#[extrinsic_call]
		_(RawOrigin::Signed(last), id, Some(1));

		assert_eq!(Jobs::<T>::get(id).unwrap().replicas.last().unwrap().offer, Some(1));
		Ok(())
	}

	#[benchmark]
	fn post_listing() {
		let trainer = trainer::<T>(0);

		#[extrinsic_call]
		_(RawOrigin::Signed(trainer.clone()), 1, u64::MAX, longest(b""));

		assert!(Listings::<T>::contains_key(&trainer));
	}

	#[benchmark]
	fn remove_listing() -> Result<(), BenchmarkError> {
		let trainer = trainer::<T>(0);
		let listing = Listing { price_per_ut: 1, max_work: u64::MAX, note: longest(b"") };
		Pallet::<T>::do_post_listing(trainer.clone(), listing)?;

		#[extrinsic_call]
		_(RawOrigin::Signed(trainer.clone()));

		assert!(!Listings::<T>::contains_key(&trainer));
		Ok(())
	}

	#[benchmark]
	fn forget() -> Result<(), BenchmarkError> {
		let (id, mut job) = training::<T>()?;
		let results = results::<T>(&job);
		let now = Pallet::<T>::now();
		assert!(Pallet::<T>::open_audit(id, &mut job, now, &results).is_some());
		let decisions = vec![Decision::Accepted; MAX_REPLICAS as usize];
		let outcome = Outcome { decisions, ..Default::default() };
		Pallet::<T>::decide(id, &mut job, &outcome);
		Pallet::<T>::unschedule(id);
		// As when the time for late proof is over.
		Lates::<T>::remove(id);
		Hearings::<T>::remove(id);
		Agenda::<T>::insert(job.deadline, id, ());
		Jobs::<T>::insert(id, &job);
		set_height::<T>(job.deadline);
		let caller: T::AccountId = whitelisted_caller();

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), id);

		assert!(!Jobs::<T>::contains_key(id));
		Ok(())
	}

	#[benchmark]
	fn serve(n: Linear<0, 100>) -> Result<(), BenchmarkError> {
		let due = Pallet::<T>::now() + 1;
		for _ in 0..n {
			let id = posted::<T>()?;
			Pallet::<T>::schedule(id, due);
		}
		set_height::<T>(due);
		Cursor::<T>::put(due);

		#[block]
		{
			Pallet::<T>::serve(due, T::ServiceWeight::get());
		}

		assert_eq!(Cursor::<T>::get(), Some(due + 1));
		assert_eq!(Agenda::<T>::iter_key_prefix(due).count(), 0);
		assert_eq!(Due::<T>::iter().count() as u32, n);
		Ok(())
	}

	#[benchmark]
	fn look() -> Result<(), BenchmarkError> {
		let (id, job) = training::<T>()?;

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert_eq!(Due::<T>::get(id), Some(job.deadline));
		Ok(())
	}

	#[benchmark]
	fn close_applications() -> Result<(), BenchmarkError> {
		let id = applied::<T>(T::MaxApplicants::get())?;
		set_height::<T>(Jobs::<T>::get(id).unwrap().deadline);

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert_eq!(Jobs::<T>::get(id).unwrap().state, JobState::Seeding);
		Ok(())
	}

	#[benchmark]
	fn assign(a: Linear<1, { T::MaxApplicants::get() }>) -> Result<(), BenchmarkError> {
		let id = applied::<T>(a)?;
		let now = Pallet::<T>::now();

		#[block]
		{
			let mut job = Jobs::<T>::get(id).unwrap();
			let applicants = Applicants::<T>::take(id).into_inner();
			let next = Pallet::<T>::assign(id, &mut job, now, H256::repeat_byte(7), applicants);
			Pallet::<T>::schedule(id, next.unwrap());
			Jobs::<T>::insert(id, job);
		}

		assert_eq!(Jobs::<T>::get(id).unwrap().replicas.len() as u32, a.min(MAX_REPLICAS));
		Ok(())
	}

	/// Nobody committed, so this contains the settlement of a failed job.
	#[benchmark]
	fn open_reveals() -> Result<(), BenchmarkError> {
		let (id, job) = training::<T>()?;
		set_height::<T>(job.deadline);

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert_eq!(Jobs::<T>::get(id).unwrap().state, JobState::Ended(Ending::Failed));
		Ok(())
	}

	#[benchmark]
	fn open_audit() -> Result<(), BenchmarkError> {
		let (id, job) = training::<T>()?;
		let results = results::<T>(&job);
		let now = Pallet::<T>::now();

		#[block]
		{
			let mut job = Jobs::<T>::get(id).unwrap();
			for result in results.values() {
				T::Blobs::is_complete(&result.model_root);
			}
			let next = Pallet::<T>::open_audit(id, &mut job, now, &results);
			Pallet::<T>::schedule(id, next.unwrap());
			Jobs::<T>::insert(id, job);
		}

		assert_eq!(Jobs::<T>::get(id).unwrap().state, JobState::Auditing);
		Ok(())
	}

	/// All claims of the job are on offer, and the last is replaced.
	#[benchmark]
	fn offer_claim() -> Result<(), BenchmarkError> {
		let (id, trainer) = offered::<T>()?;
		let only = Some(funded::<T>("buyer", 1));
		let asked = Some(Asked { price: PRICE + 1, until: BlockNumber::MAX, only });

		#[extrinsic_call]
		_(RawOrigin::Signed(trainer.clone()), id, trainer.clone(), asked);

		let claims = Claims::<T>::get(id);
		let offer = claims.last().and_then(|claim| claim.offer.clone()).unwrap();
		assert_eq!(offer.asked.price, PRICE + 1);
		Ok(())
	}

	#[benchmark]
	fn buy_claim() -> Result<(), BenchmarkError> {
		let (id, trainer) = offered::<T>()?;
		let buyer = funded::<T>("buyer", 0);
		let claims = Claims::<T>::get(id);
		let offer = claims.last().and_then(|claim| claim.offer.clone()).unwrap();
		let (root, since) = (offer.known.root, offer.since);
		let seen = Seen { holder: trainer.clone(), root, since };

		#[extrinsic_call]
		_(RawOrigin::Signed(buyer.clone()), id, trainer, seen, PRICE);

		assert_eq!(Claims::<T>::get(id).last().unwrap().holder, buyer);
		Ok(())
	}

	#[benchmark]
	fn enrol_claim() -> Result<(), BenchmarkError> {
		let trainer = trainer::<T>(MAX_REPLICAS);
		let id = enrollable::<T>(&trainer).ok_or("no job can be enrolled")?;
		let pool = funded::<T>("pool", 0);

		#[block]
		{
			<Pallet<T> as PooledClaims<T::AccountId>>::enrol(
				id,
				&trainer,
				&pool,
				BlockNumber::MAX,
			)?;
		}

		assert_eq!(Claims::<T>::get(id)[0].holder, pool);
		Ok(())
	}

	/// All but one replica are accepted, their claims are of other accounts, and a full committee served in every round: the most
	/// payments there can be.
	#[benchmark]
	fn settle() -> Result<(), BenchmarkError> {
		let (id, mut job) = training::<T>()?;
		for replica in job.replicas.iter_mut() {
			replica.fate = Fate::Accepted;
			// Stopped early: a part of the quote is to be computed.
			replica.segments = Some(1);
		}
		job.replicas[0].fate = Fate::Rejected;
		Jobs::<T>::insert(id, &job);
		let claim = |(at, replica): (u32, &Replica<T::AccountId>)| {
			let (trainer, holder) = (replica.trainer.clone(), funded::<T>("holder", at));
			Claim { trainer, holder, offer: None }
		};
		let claims: Vec<_> = (0u32..).zip(&job.replicas).map(claim).collect();
		Claims::<T>::insert(id, BoundedVec::truncate_from(claims));
		let served: Vec<T::AccountId> = (0..MAX_VERIFIERS * MAX_AUDIT_ROUNDS)
			.map(|index| funded::<T>("verifier", index))
			.collect();
		// A full committee found forced errors.
		let found = Some(served.iter().take(MAX_VERIFIERS as usize).cloned().collect());
		let outcome = Outcome { served, found, ..Default::default() };

		#[block]
		{
			let mut job = Jobs::<T>::get(id).unwrap();
			Pallet::<T>::end_audited(id, &mut job, Ending::Settled, &outcome);
			Pallet::<T>::unschedule(id);
			Jobs::<T>::insert(id, job);
		}

		let job = Jobs::<T>::get(id).unwrap();
		assert_eq!(job.state, JobState::Ended(Ending::Settled));
		assert!(job.settlement.slashed_to_jackpot > 0);
		Ok(())
	}

	/// All trainers of a job have a fifth of their deposits back. What the court does is counted apart.
	#[benchmark]
	fn end_late() -> Result<(), BenchmarkError> {
		let (id, until) = late::<T>()?;
		let now = until + 1;

		#[block]
		{
			let mut job = Jobs::<T>::get(id).unwrap();
			let (next, _) = Pallet::<T>::look_at_late(id, &mut job, now);
			assert!(next.is_none());
			Pallet::<T>::unschedule(id);
			Jobs::<T>::insert(id, job);
		}

		assert!(!Lates::<T>::contains_key(id));
		Ok(())
	}

	/// A trainer loses its fifth to a finder, the jackpot and the fire, and its power.
	#[benchmark]
	fn convict_late() -> Result<(), BenchmarkError> {
		let (id, _) = late::<T>()?;
		let who = Jobs::<T>::get(id).unwrap().replicas[0].trainer.clone();
		let second = Some(funded::<T>("finder", 1));
		let conviction =
			Conviction { dispute: 0, finder: funded::<T>("finder", 0), second, proven: true };

		#[block]
		{
			Pallet::<T>::convict(id, &who, &conviction);
			Pallet::<T>::progressed(id);
		}

		let job = Jobs::<T>::get(id).unwrap();
		assert_eq!(job.replicas[0].fate, Fate::Revoked);
		assert!(job.settlement.slashed_to_finders > 0);
		Ok(())
	}

	/// What a trainer claims, where the specification is the largest: its reveal is not there, as
	/// benchmarks cannot make one, so the reads of all of them are counted.
	#[benchmark]
	fn charged() -> Result<(), BenchmarkError> {
		let (id, mut job) = training::<T>()?;
		let results = results::<T>(&job);
		let now = Pallet::<T>::now();
		assert!(Pallet::<T>::open_audit(id, &mut job, now, &results).is_some());
		let trainer = job.replicas[0].trainer.clone();
		Jobs::<T>::insert(id, &job);

		#[block]
		{
			Pallet::<T>::charged(id, &trainer);
			black_box(Specs::<T>::get(id).unwrap().check().is_ok());
		}

		Ok(())
	}

	impl_benchmark_test_suite!(Pallet, crate::mock::new_test_ext(), crate::mock::Test);
}
