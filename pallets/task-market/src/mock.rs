//! A runtime of this pallet and balances, with fakes for everything behind a trait: tests
//! play trainers, verifiers and randomness by their helpers.

use crate as pallet_task_market;
use crate::{Config, Due, Job, Jobs, TotalBurned};
use frame_support::{
	assert_ok, derive_impl, parameter_types,
	traits::{fungible::InspectHold, ConstU128, ConstU32, ConstU64, Hooks},
	weights::Weight,
};
use sp_runtime::{BuildStorage, DispatchError, DispatchResult};
use std::{
	collections::{BTreeMap, BTreeSet},
	ops::RangeInclusive,
};
use trainyard_program::{
	needs::MachineClass,
	spec::{CheckedSpec, EarlyStop, JobSpec},
};
use trainyard_protocol::{
	audit::Decision,
	job::{Balance, JobState, Reveal, Terms, WorkResult},
	JobId, MicroUt, Text, H256,
};
use trainyard_traits as traits;
use trainyard_traits::{AuditRequest, AuditStatus, JobObserver, Outcome, Seed};

pub type AccountId = u64;
type Block = frame_system::mocking::MockBlockU32<Test>;

/// Posts jobs.
pub const SUBMITTER: AccountId = 1;
/// Posts jobs too.
pub const OTHER: AccountId = 2;
/// Trainers, registered with equal bonds.
pub const TRAINERS: [AccountId; 5] = [11, 12, 13, 14, 15];
/// Verifiers; the market knows them from what audits report.
pub const VERIFIERS: [AccountId; 3] = [21, 22, 23];
/// Receives what belongs to nobody.
pub const JACKPOT: AccountId = 99;
/// What every account but the jackpot starts with.
pub const ENDOWMENT: Balance = 1_000_000_000_000_000;
/// Existential deposit.
pub const ED: Balance = 1_000;
/// Blocks after which a fake audit that nobody decided gives up.
pub const AUDIT_BLOCKS: u32 = 40;
/// Blocks for which an audit waits for verifiers.
pub const AUDIT_DEADLINE: u32 = 60;

#[frame_support::runtime]
mod runtime {
	#[runtime::runtime]
	#[runtime::derive(
		RuntimeCall,
		RuntimeEvent,
		RuntimeError,
		RuntimeOrigin,
		RuntimeFreezeReason,
		RuntimeHoldReason,
		RuntimeSlashReason,
		RuntimeLockId,
		RuntimeTask,
		RuntimeViewFunction
	)]
	pub struct Test;

	#[runtime::pallet_index(0)]
	pub type System = frame_system;
	#[runtime::pallet_index(2)]
	pub type Balances = pallet_balances;
	#[runtime::pallet_index(20)]
	pub type TaskMarket = pallet_task_market;
}

#[derive_impl(frame_system::config_preludes::TestDefaultConfig)]
impl frame_system::Config for Test {
	type Block = Block;
	type AccountData = pallet_balances::AccountData<Balance>;
}

#[derive_impl(pallet_balances::config_preludes::TestDefaultConfig)]
impl pallet_balances::Config for Test {
	type Balance = Balance;
	type ExistentialDeposit = ConstU128<ED>;
	type AccountStore = System;
}

/// A round of the fake submissions.
#[derive(Clone, Default)]
pub struct FakeRound {
	pub trainers: Vec<AccountId>,
	pub committed: BTreeMap<AccountId, H256>,
	pub reveals: BTreeMap<AccountId, Reveal>,
	/// Segments that a result may have.
	pub segments: Option<RangeInclusive<u32>>,
	pub revealing: bool,
	pub closed: bool,
}

/// An audit of the fake verifiers.
#[derive(Clone)]
pub struct FakeAudit {
	pub request: AuditRequest<AccountId>,
	pub opened: u32,
	pub decisions: Option<Vec<Decision>>,
	/// What it comes to beside the decisions.
	pub outcome: Outcome<AccountId>,
}

parameter_types! {
	/// Bonds of the registered trainers.
	pub static Bonds: BTreeMap<AccountId, Balance> = BTreeMap::new();
	/// Power credited, in order.
	pub static Credited: Vec<(AccountId, MicroUt)> = Vec::new();
	/// The least fee of a verifier.
	pub static MinAuditFee: Balance = 2_500;
	/// Blocks between two draw heights.
	pub static SeedStep: u32 = 1;
	/// How many more times the beacon has lost a seed.
	pub static LostSeeds: u32 = 0;
	pub static Rounds: BTreeMap<JobId, FakeRound> = BTreeMap::new();
	pub static AuditBook: BTreeMap<JobId, FakeAudit> = BTreeMap::new();
	/// Models that are awaited, with the number of reveals that name them.
	pub static Expected: BTreeMap<H256, u32> = BTreeMap::new();
	/// Models that were let go, and for whom they are kept.
	pub static Kept: Vec<(H256, Vec<AccountId>)> = Vec::new();
	/// Blocks without room for another chunk.
	pub static FullBlocks: u32 = 0;
	/// Models that are not stored completely.
	pub static MissingModels: BTreeSet<H256> = BTreeSet::new();
	pub static RefuseRounds: bool = false;
	pub static RefuseAudits: bool = false;
	pub static ServiceWeight: Weight = Weight::MAX;
	pub static MaxRescue: u64 = 1 << 30;
	pub static MaxBlob: u64 = 1 << 32;
	/// What a seat of a relay earns. Nothing, but where a test is about it.
	pub static RelayFee: Balance = 0;
	/// There are no verifiers: audits wait until somebody gives them up.
	pub static NoVerifiers: bool = false;
	/// A committee sits, which nobody ends but itself.
	pub static CommitteeSits: bool = false;
	/// Price of storing a byte. Nothing, but where a test is about it.
	pub static StorageByte: Balance = 0;
	/// Deposits for records. Nothing, but where a test is about them.
	pub static RecordBase: Balance = 0;
	pub static RecordByte: Balance = 0;
	/// For how long machines may be away.
	pub static Patience: u32 = 0;
	/// For how long accepted results can be challenged after the settlement.
	pub static LateBlocks: u32 = 0;
	/// Disputes that run, as the fake court says.
	pub static Disputes: u32 = 0;
	/// Power that was taken back, in order: whose, how much, and when it was credited.
	pub static Revoked: Vec<(AccountId, MicroUt, u64)> = Vec::new();
	/// What challengers lost to each trainer, as the fake court says.
	pub static Won: Balance = 0;
	/// Whom the court was told to be acquitted or not, in order.
	pub static Acquittals: Vec<(AccountId, bool)> = Vec::new();
	/// Jobs of which the court was told that what seats revealed is final, in order.
	pub static AcquittedSeats: Vec<JobId> = Vec::new();
	/// Jobs of which the court was told to forget what was said, in order.
	pub static ForgottenDisputes: Vec<JobId> = Vec::new();
}

pub struct FakeTrainers;
impl traits::TrainerRegistry<AccountId> for FakeTrainers {
	fn is_trainer(who: &AccountId) -> bool {
		Bonds::get().contains_key(who)
	}
	fn bond(who: &AccountId) -> Balance {
		Bonds::get().get(who).copied().unwrap_or(0)
	}
	/// It is as late in milliseconds as in blocks.
	fn credit_training(who: &AccountId, work: MicroUt) -> Option<u64> {
		Credited::mutate(|credited| credited.push((*who, work)));
		Bonds::get().contains_key(who).then(|| System::block_number().into())
	}
	fn revoke_training(who: &AccountId, work: MicroUt, credited: u64) {
		Revoked::mutate(|revoked| revoked.push((*who, work, credited)));
	}
	#[cfg(feature = "runtime-benchmarks")]
	fn make_trainer(who: &AccountId) {
		Bonds::mutate(|bonds| bonds.insert(*who, 1_000));
	}
}

/// A seed two blocks after `after`, which is a multiple of [`SeedStep`].
pub struct FakeBeacon;
impl traits::Beacon for FakeBeacon {
	fn draw_height(settled: u32) -> u32 {
		settled.next_multiple_of(SeedStep::get())
	}
	fn horizon() -> u32 {
		3
	}
	fn seed_weight() -> Weight {
		Weight::zero()
	}
	fn seed(domain: &[u8], subject: &[u8], after: u32) -> Seed {
		if LostSeeds::get() > 0 {
			LostSeeds::mutate(|left| *left -= 1);
			return Seed::Lost;
		}
		match after + 2 {
			at if at > TaskMarket::now() => Seed::NotBefore(at),
			_ => Seed::Ready(seed_of(domain, subject, after)),
		}
	}
}

/// The fake beacon's seed.
pub fn seed_of(domain: &[u8], subject: &[u8], after: u32) -> H256 {
	H256(sp_io::hashing::blake2_256(&[domain, subject, &after.to_le_bytes()].concat()))
}

pub struct FakeSubmissions;
impl traits::Submissions<AccountId> for FakeSubmissions {
	fn open(job: JobId, trainers: &[AccountId], segments: RangeInclusive<u32>) -> DispatchResult {
		if RefuseRounds::get() {
			return Err(DispatchError::Other("refused"));
		}
		let (trainers, segments) = (trainers.to_vec(), Some(segments));
		let round = FakeRound { trainers, segments, ..Default::default() };
		Rounds::mutate(|rounds| rounds.insert(job, round));
		Ok(())
	}
	fn open_reveals(job: JobId) -> Vec<AccountId> {
		Rounds::mutate(|rounds| rounds.get_mut(&job).unwrap().revealing = true);
		Self::commitments(job).into_iter().map(|(who, _)| who).collect()
	}
	fn is_complete(job: JobId) -> bool {
		let Some(round) = Rounds::get().remove(&job) else { return false };
		if round.revealing {
			round.reveals.len() == round.committed.len()
		} else {
			round.committed.len() == round.trainers.len()
		}
	}
	fn close(job: JobId) -> Vec<(AccountId, Reveal)> {
		Rounds::mutate(|rounds| rounds.get_mut(&job).map(|round| round.closed = true));
		Self::reveals(job)
	}
	fn reveals(job: JobId) -> Vec<(AccountId, Reveal)> {
		let round = Rounds::get().remove(&job).unwrap_or_default();
		round.trainers.iter().filter_map(|t| Some((*t, round.reveals.get(t)?.clone()))).collect()
	}
	fn commitments(job: JobId) -> Vec<(AccountId, H256)> {
		let round = Rounds::get().remove(&job).unwrap_or_default();
		let of = |trainer| Some((trainer, *round.committed.get(&trainer)?));
		round.trainers.into_iter().filter_map(of).collect()
	}
	fn remove(job: JobId) {
		Rounds::mutate(|rounds| rounds.remove(&job));
	}
}

pub struct FakeAudits;
impl traits::Audits<AccountId> for FakeAudits {
	fn open(job: JobId, request: AuditRequest<AccountId>) -> DispatchResult {
		if RefuseAudits::get() {
			return Err(DispatchError::Other("refused"));
		}
		let opened = TaskMarket::now();
		let audit = FakeAudit { request, opened, decisions: None, outcome: Default::default() };
		AuditBook::mutate(|book| book.insert(job, audit));
		Ok(())
	}
	fn advance(job: JobId) -> AuditStatus<AccountId> {
		let audit = AuditBook::get().remove(&job).unwrap();
		let until = audit.opened + AUDIT_BLOCKS;
		let undecided = vec![Decision::Undecided; audit.request.groups.len()];
		match audit.decisions {
			Some(decisions) => AuditStatus::Done(Outcome { decisions, ..audit.outcome }),
			None if NoVerifiers::get() || CommitteeSits::get() => {
				AuditStatus::Pending(TaskMarket::now() + 10)
			}
			None if TaskMarket::now() < until => AuditStatus::Pending(until),
			None => AuditStatus::Done(Outcome { decisions: undecided, ..audit.outcome }),
		}
	}
	fn give_up(job: JobId) {
		if CommitteeSits::get() {
			return;
		}
		AuditBook::mutate(|book| {
			if let Some(audit) = book.get_mut(&job).filter(|audit| audit.decisions.is_none()) {
				audit.decisions = Some(vec![Decision::Undecided; audit.request.groups.len()]);
			}
		});
	}
	fn remove(job: JobId) {
		AuditBook::mutate(|book| book.remove(&job));
	}
	fn advance_weight() -> Weight {
		Weight::from_parts(1_000_000, 1_000)
	}
}

/// A court of which tests say what it does.
pub struct FakeCourt;
impl traits::Court<AccountId> for FakeCourt {
	fn accuse(
		_: &AccountId,
		_: traits::Accusation<AccountId>,
		_: u32,
		_: Balance,
	) -> Result<u64, DispatchError> {
		Err(DispatchError::Other("no seat accuses here"))
	}
	fn is_accusing(
		_: &AccountId,
		_: &traits::Defendant<AccountId>,
		_: &trainyard_protocol::accusation::Target,
	) -> bool {
		false
	}
	fn standing(_: JobId) -> traits::Standing {
		traits::Standing { disputes: Disputes::get(), ..Default::default() }
	}
	fn settle(defendant: &traits::Defendant<AccountId>, acquitted: bool) -> Balance {
		Acquittals::mutate(|all| all.push((*defendant.who(), acquitted)));
		Won::get()
	}
	fn acquit_seats(job: JobId) {
		AcquittedSeats::mutate(|all| all.push(job));
	}
	fn forget(job: JobId) {
		ForgottenDisputes::mutate(|all| all.push(job));
	}
	fn accuse_weight() -> Weight {
		Weight::zero()
	}
	fn standing_weight() -> Weight {
		Weight::zero()
	}
	fn settle_weight() -> Weight {
		Weight::zero()
	}
	fn acquit_seats_weight() -> Weight {
		Weight::zero()
	}
	fn forget_weight() -> Weight {
		Weight::zero()
	}
}

pub struct FakeBlobs;
impl traits::BlobStore for FakeBlobs {
	fn is_complete(root: &H256) -> bool {
		!MissingModels::get().contains(root)
	}
	fn size(_: &H256) -> Option<u64> {
		None
	}
	fn has_chunks(_: &H256, _: core::ops::Range<u32>) -> bool {
		false
	}
}
impl traits::AwaitedBlobs<AccountId> for FakeBlobs {
	fn expect(root: &H256) {
		Expected::mutate(|expected| *expected.entry(*root).or_insert(0) += 1);
	}
	fn release(root: &H256, keepers: &[AccountId]) {
		Expected::mutate(|expected| {
			let names = expected.get_mut(root).expect("it is awaited");
			*names -= 1;
			if *names == 0 {
				expected.remove(root);
			}
		});
		Kept::mutate(|kept| kept.push((*root, keepers.to_vec())));
	}
	fn watch(_: &H256, _: &AccountId) {}
	fn brought(_: &H256, _: &AccountId) -> u64 {
		0
	}
	fn full_blocks() -> u32 {
		FullBlocks::get()
	}
}

parameter_types! {
	pub const Jackpot: AccountId = JACKPOT;
}

impl Config for Test {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Trainers = FakeTrainers;
	type Submissions = FakeSubmissions;
	type Audits = FakeAudits;
	type Court = FakeCourt;
	type Patience = Patience;
	type LateBlocks = LateBlocks;
	type BlockTime = ConstU64<6_000>;
	type Beacon = FakeBeacon;
	type Blobs = FakeBlobs;
	type Jackpot = Jackpot;
	type ServiceWeight = ServiceWeight;
	type MinDeposit = ConstU128<50_000>;
	type FeePerUt = ConstU128<1_000_000>;
	type MinAuditFee = MinAuditFee;
	type StorageByte = StorageByte;
	type MaxRescue = MaxRescue;
	type MaxBlob = MaxBlob;
	type RelayFee = RelayFee;
	type RecordBase = RecordBase;
	type RecordByte = RecordByte;
	type MinPeriod = ConstU32<2>;
	type MaxApplyBlocks = ConstU32<20>;
	type MaxTrainingBlocks = ConstU32<50>;
	type RevealBlocks = ConstU32<15>;
	type AuditDeadline = ConstU32<AUDIT_DEADLINE>;
	type ModelPollBlocks = ConstU32<3>;
	type RetentionBlocks = ConstU32<25>;
	type MaxApplicants = ConstU32<8>;
	type WeightInfo = ();
}

pub fn new_test_ext() -> sp_io::TestExternalities {
	let mut storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	let endowed = [SUBMITTER, OTHER].into_iter().chain(TRAINERS).chain(VERIFIERS);
	pallet_balances::GenesisConfig::<Test> {
		balances: endowed.map(|who| (who, ENDOWMENT)).collect(),
		..Default::default()
	}
	.assimilate_storage(&mut storage)
	.unwrap();
	let mut ext = sp_io::TestExternalities::new(storage);
	ext.execute_with(|| {
		Bonds::set(TRAINERS.iter().map(|t| (*t, 1_000)).collect());
		Credited::set(Vec::new());
		LostSeeds::set(0);
		SeedStep::set(1);
		MinAuditFee::set(2_500);
		Expected::set(BTreeMap::new());
		Kept::set(Vec::new());
		FullBlocks::set(0);
		Rounds::set(BTreeMap::new());
		AuditBook::set(BTreeMap::new());
		MissingModels::set(BTreeSet::new());
		RefuseRounds::set(false);
		RefuseAudits::set(false);
		ServiceWeight::set(Weight::MAX);
		MaxRescue::set(1 << 30);
		MaxBlob::set(1 << 32);
		RelayFee::set(0);
		NoVerifiers::set(false);
		CommitteeSits::set(false);
		StorageByte::set(0);
		RecordBase::set(0);
		RecordByte::set(0);
		Patience::set(0);
		LateBlocks::set(0);
		Disputes::set(0);
		Revoked::set(Vec::new());
		Won::set(0);
		Acquittals::set(Vec::new());
		AcquittedSeats::set(Vec::new());
		ForgottenDisputes::set(Vec::new());
		System::set_block_number(1);
		TaskMarket::on_initialize(1);
	});
	ext
}

/// Runs `test` and checks after it that the books balance.
pub fn run<R>(test: impl FnOnce() -> R) -> R {
	new_test_ext().execute_with(|| {
		let issuance = Balances::total_issuance();
		let result = test();
		check(issuance);
		result
	})
}

/// The invariants: storage is consistent, and of the issuance at the beginning nothing is
/// missing but what was burned.
pub fn check(issuance: Balance) {
	TaskMarket::do_try_state().unwrap();
	assert_eq!(Balances::total_issuance() + TotalBurned::<Test>::get(), issuance);
	let sum: Balance =
		frame_system::Account::<Test>::iter_values().map(|a| a.data.free + a.data.reserved).sum();
	assert_eq!(Balances::total_issuance(), sum);
}

/// Begins the next block; returns what serving the agenda weighed.
pub fn next_block() -> Weight {
	let next = System::block_number() + 1;
	System::set_block_number(next);
	TaskMarket::on_initialize(next)
}

/// Begins blocks up to height `n`.
pub fn run_to(n: u32) {
	while TaskMarket::now() < n {
		next_block();
		TaskMarket::do_try_state().unwrap();
	}
}

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
	assert_ok!(TaskMarket::submit_job(RuntimeOrigin::signed(who), spec, terms));
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
	trainers.iter().for_each(|trainer| commit(id, *trainer));
	run_to_state(id, JobState::Revealing);
	results.iter().for_each(|(trainer, result)| reveal(id, *trainer, *result));
	run_to_state(id, JobState::Auditing);
	id
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
