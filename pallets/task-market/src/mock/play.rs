//! Jobs as they are played: posted, trained, delivered and decided; and what an account has.

use super::*;

/// The specification of most jobs here.
pub fn noisy() -> CheckedSpec {
	JobSpec::noisy_example().check().unwrap()
}

/// These terms with the least fee of verifiers for this specification.
pub fn with_least_fee(spec: &JobSpec, terms: Terms) -> Terms {
	let audit_fee = TaskMarket::audit_fee(spec.clone(), &terms).expect("it is valid");
	Terms { audit_fee, ..terms }
}

/// Terms of a job: `replicas` replicas and 3 verifiers, with the highest fee of these.
pub fn terms(replicas: u32) -> Terms {
	Terms {
		price_per_ut: 5_000_000,
		replicas,
		verifiers: 3,
		audit_segments: 4,
		audit_fee: 10_000,
		apply_blocks: 5,
		training_blocks: 20,
		machine: MachineClass::Gib8,
		undecided_percent: 20,
		keep_every: 1,
		lottery: None,
	}
}

/// Audit fees that an escrow and a deposit cover with [`terms`]: 3 verifiers in 3 rounds.
pub const AUDIT: Balance = 90_000;

/// Posts the example job by the submitter; returns its number.
pub fn post(replicas: u32) -> JobId {
	post_with(SUBMITTER, terms(replicas))
}

/// Posts the example job with these terms; returns its number.
pub fn post_with(who: AccountId, terms: Terms) -> JobId {
	post_spec(who, JobSpec::noisy_example(), terms)
}

/// Posts this job; returns its number.
pub fn post_spec(who: AccountId, spec: JobSpec, terms: Terms) -> JobId {
	let id = crate::NextJob::<Test>::get();
	assert_ok!(TaskMarket::submit_job(RuntimeOrigin::signed(who), spec, terms, Balance::MAX));
	id
}

/// The example job, which may stop early from its third segment on.
pub fn stopping() -> JobSpec {
	let mut spec = JobSpec::noisy_example();
	spec.training.early_stop = Some(EarlyStop { patience: 3, min_delta_nano: 0 });
	spec
}

/// Lets `trainers` apply.
pub fn apply(id: JobId, trainers: &[AccountId]) {
	for trainer in trainers {
		assert_ok!(TaskMarket::apply(
			RuntimeOrigin::signed(*trainer),
			id,
			digest(id),
			forced(*trainer)
		));
	}
}

/// What a trainer draws its forced leaves from.
pub fn forced(trainer: AccountId) -> H256 {
	H256::repeat_byte(trainer as u8)
}

/// The digest that names the job `id`; zero for none.
pub fn digest(id: JobId) -> H256 {
	crate::Jobs::<Test>::get(id).map_or(H256::zero(), |job| job.digest)
}

/// Posts a job for as many replicas as there are `trainers`, lets them apply and brings it
/// to training; returns its number.
pub fn training(trainers: &[AccountId]) -> JobId {
	let id = post(trainers.len() as u32);
	apply(id, trainers);
	run_to_state(id, JobState::Training);
	id
}

/// Brings a new job to auditing with the given results, one for each trainer.
pub fn auditing(results: &[(AccountId, u8)]) -> JobId {
	let trainers: Vec<AccountId> = results.iter().map(|(trainer, _)| *trainer).collect();
	let id = training(&trainers);
	audited(id, results);
	id
}

/// Takes a job in training to its audit, with these results.
pub fn audited(id: JobId, results: &[(AccountId, u8)]) {
	results.iter().for_each(|(trainer, _)| commit(id, *trainer));
	run_to_state(id, JobState::Revealing);
	results.iter().for_each(|(trainer, result)| reveal(id, *trainer, *result));
	run_to_state(id, JobState::Auditing);
}

/// Begins blocks until `id` is in `state`; panics where it does not come in 100 blocks.
pub fn run_to_state(id: JobId, state: JobState) {
	for _ in 0..100 {
		if job(id).state == state {
			return;
		}
		run_to(TaskMarket::now() + 1);
	}
	panic!("job {id} is {:?}, not {state:?}", job(id).state);
}

/// Begins blocks until `id` has ended.
pub fn run_to_end(id: JobId) {
	for _ in 0..100 {
		if matches!(job(id).state, JobState::Ended(_)) {
			return;
		}
		run_to(TaskMarket::now() + 1);
	}
	panic!("job {id} is still {:?}", job(id).state);
}

/// `trainer` commits.
pub fn commit(id: JobId, trainer: AccountId) {
	let commitment = H256::from_low_u64_be(trainer);
	Rounds::mutate(|rounds| {
		rounds.get_mut(&id).unwrap().committed.insert(trainer, commitment);
	});
	notify_if_complete(id);
}

/// `trainer` reveals the result that goes by `byte`, of all segments of the job.
pub fn reveal(id: JobId, trainer: AccountId, byte: u8) {
	reveal_after(id, trainer, byte, crate::Specs::<Test>::get(id).unwrap().segments());
}

/// `trainer` reveals the result that goes by `byte` and stopped after that many segments.
pub fn reveal_after(id: JobId, trainer: AccountId, byte: u8, segments: u32) {
	reveal_result(id, trainer, Reveal { segments, ..reveal_of(byte) });
}

/// `trainer` reveals the result that goes by `byte`, which diverged after that many segments.
pub fn reveal_diverged(id: JobId, trainer: AccountId, byte: u8, segments: u32) {
	reveal_result(id, trainer, Reveal { segments, diverged: true, ..reveal_of(byte) });
}

fn reveal_result(id: JobId, trainer: AccountId, reveal: Reveal) {
	Rounds::mutate(|rounds| {
		let round = rounds.get_mut(&id).unwrap();
		// As the pallet does.
		let possible = round.segments.as_ref().unwrap();
		assert!(match reveal.diverged {
			true => reveal.segments < *possible.end(),
			false => possible.contains(&reveal.segments),
		});
		// Each forces leaves of its own.
		let bundle_root = H256::from_low_u64_be(trainer);
		let shown = Reveal { bundle_root, ..reveal.clone() };
		round.reveals.insert(trainer, shown);
	});
	TaskMarket::revealed(id, &reveal.model_root);
	notify_if_complete(id);
}

fn notify_if_complete(id: JobId) {
	if <FakeSubmissions as traits::Submissions<AccountId>>::is_complete(id) {
		TaskMarket::progressed(id);
	}
}

/// The result that goes by `byte`, of all segments of the example.
pub fn reveal_of(byte: u8) -> Reveal {
	Reveal {
		bundle_root: H256::repeat_byte(byte),
		true_root: H256::repeat_byte(byte),
		model_root: model_of(byte),
		segments: 30,
		diverged: false,
		location: Text::new("http://127.0.0.1:8600").unwrap(),
	}
}

/// The same, as `trainer` reveals it.
pub fn reveal_by(trainer: AccountId, byte: u8) -> Reveal {
	Reveal { bundle_root: H256::from_low_u64_be(trainer), ..reveal_of(byte) }
}

/// The model of the result that goes by `byte`.
pub fn model_of(byte: u8) -> H256 {
	H256::repeat_byte(byte ^ 0x80)
}

/// The audit decides; `served` earned fees.
pub fn decide(id: JobId, decisions: &[Decision], served: &[AccountId]) {
	AuditBook::mutate(|book| {
		let audit = book.get_mut(&id).unwrap();
		audit.decisions = Some(decisions.to_vec());
		audit.outcome.served = served.to_vec();
	});
	TaskMarket::progressed(id);
}

/// Whom a group of an audit is of.
pub fn trainers_of(group: &(WorkResult, Vec<traits::Delivery<AccountId>>)) -> Vec<AccountId> {
	let mut trainers: Vec<AccountId> = group.1.iter().map(|one| one.trainer).collect();
	trainers.sort();
	trainers
}

/// The record of a job.
pub fn job(id: JobId) -> Job<AccountId> {
	Jobs::<Test>::get(id).unwrap()
}

/// Height at which a job is looked at next.
pub fn due(id: JobId) -> u32 {
	Due::<Test>::get(id).unwrap()
}

/// What was burned of the fee of a job for its place on the market.
pub fn place_of(id: JobId) -> Balance {
	let charged = events().into_iter().filter_map(|event| match event {
		crate::Event::PlaceCharged { job, amount } if job == id => Some(amount),
		_ => None,
	});
	charged.sum()
}

/// Free balance.
pub fn free(who: AccountId) -> Balance {
	Balances::free_balance(who)
}

/// What `who` has on hold for `reason`.
pub fn held(reason: crate::HoldReason, who: AccountId) -> Balance {
	Balances::balance_on_hold(&reason.into(), &who)
}

/// This pallet's events so far.
pub fn events() -> Vec<crate::Event<Test>> {
	System::events()
		.into_iter()
		.filter_map(|record| match record.event {
			RuntimeEvent::TaskMarket(event) => Some(event),
			_ => None,
		})
		.collect()
}
