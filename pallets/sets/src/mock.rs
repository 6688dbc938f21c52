//! A runtime of this pallet and balances, with fakes for the market, models on chain and randomness.

use crate as pallet_sets;
use crate::{Event, Set, Sets, Specs};
use codec::Encode;
use frame_support::{
	assert_ok, derive_impl, parameter_types,
	traits::{
		fungible::{InspectHold, MutateHold},
		tokens::Precision,
		ConstU128, ConstU32, Hooks,
	},
	weights::Weight,
	BoundedVec,
};
use sp_runtime::{BuildStorage, DispatchError, DispatchResult};
use std::{
	collections::{BTreeMap, BTreeSet},
	ops::Range,
};
use trainyard_program::{
	needs::MachineClass,
	spec::{CheckedSpec, JobSpec},
};
use trainyard_protocol::{
	accusation::{Leaf, LeafContent},
	bundle::{Checkpoint, Diverged, Evaluation},
	job::{Balance, BlockNumber, Terms, WorkResult},
	merkle,
	sets::{Measure, Plan, Run, SetId, Stage},
	JobId, H256,
};
use trainyard_traits::{AwaitedBlobs, Beacon, BlobStore, JobEnd, JobStanding, PostedJobs, Seed};

pub type AccountId = u64;
type Block = frame_system::mocking::MockBlockU32<Test>;

/// Opens sets.
pub const SUBMITTER: AccountId = 1;
/// Shows what others should not like.
pub const STRANGER: AccountId = 2;
pub const ENDOWMENT: Balance = 1_000_000;
/// Existential deposit.
pub const ED: Balance = 10;

pub const POLL: BlockNumber = 2;
pub const MIN_SHOW: BlockNumber = 5;
pub const MAX_SHOW: BlockNumber = 100;
pub const RETENTION: BlockNumber = 50;
pub const SEED_BLOCKS: BlockNumber = 3;
/// What a job costs, whatever it is.
pub const ESCROW: Balance = 500;
/// Bytes of every model.
pub const BYTES: u64 = 4_096;

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
	#[runtime::pallet_index(32)]
	pub type JobSets = pallet_sets;
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

/// A job that was posted.
#[derive(Clone, Debug)]
pub struct FakeJob {
	pub spec: JobSpec,
	pub terms: Terms,
	pub end: Option<JobEnd>,
}

parameter_types! {
	pub static Posted: Vec<FakeJob> = Vec::new();
	/// With what the market refuses the next jobs; an empty word refuses nothing.
	pub static Refusals: Vec<&'static str> = Vec::new();
	/// Blobs that are complete.
	pub static Stored: BTreeSet<H256> = BTreeSet::new();
	/// How many names each blob has.
	pub static Names: BTreeMap<H256, i32> = BTreeMap::new();
	/// Draws whose seeds are lost.
	pub static LostSeeds: u32 = 0;
	pub static ServiceWeight: Weight = Weight::MAX;
}

/// The market. The escrow of a job is held under the reason of records, so that it shows what cannot be paid, and
/// released again at once, so that books are those of this pallet alone.
pub struct FakeMarket;
impl PostedJobs<AccountId> for FakeMarket {
	fn check(
		_: &AccountId,
		_: &CheckedSpec,
		_: &Terms,
		_: Balance,
	) -> Result<Balance, DispatchError> {
		unreachable!("sets post at once")
	}

	fn post(
		submitter: &AccountId,
		spec: CheckedSpec,
		terms: Terms,
		_: Balance,
	) -> Result<JobId, DispatchError> {
		// What a market does before it fails must be undone.
		Balances::hold(&crate::HoldReason::Record.into(), submitter, ESCROW)?;
		let refusal = Refusals::mutate(|all| (!all.is_empty()).then(|| all.remove(0)));
		if let Some(reason) = refusal.filter(|reason| !reason.is_empty()) {
			return Err(DispatchError::Other(reason));
		}
		let reason = crate::HoldReason::Record.into();
		Balances::release(&reason, submitter, ESCROW, Precision::Exact)?;
		let job = FakeJob { spec: spec.into_spec(), terms, end: None };
		Posted::mutate(|all| {
			all.push(job);
			Ok(all.len() as JobId - 1)
		})
	}

	fn post_weight() -> Weight {
		Weight::from_parts(1_000, 0)
	}

	fn standing(_: JobId) -> JobStanding {
		unreachable!("sets look at results")
	}

	fn ended(job: JobId) -> Option<JobEnd> {
		Posted::get().get(job as usize).map_or(Some(JobEnd::Failed), |job| job.end)
	}

	fn standing_weight() -> Weight {
		Weight::from_parts(10, 0)
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_postable(who: &AccountId) {
		use frame_support::traits::fungible::Mutate;
		assert_ok!(Balances::mint_into(who, Balance::MAX / 1_000));
	}
}

/// Models on chain. What nobody names can be gone at any time, so it is asked for names.
pub struct FakeBlobs;
impl BlobStore for FakeBlobs {
	fn is_complete(root: &H256) -> bool {
		Stored::get().contains(root)
	}

	fn size(root: &H256) -> Option<u64> {
		Self::is_complete(root).then_some(BYTES)
	}

	fn has_chunks(_: &H256, _: Range<u32>) -> bool {
		unreachable!("sets look at whole blobs")
	}
}

impl AwaitedBlobs<AccountId> for FakeBlobs {
	fn owner(_: &H256) -> Option<AccountId> {
		None
	}

	fn expect(root: &H256) {
		Names::mutate(|names| *names.entry(*root).or_default() += 1);
	}

	fn release(root: &H256, _: &[AccountId]) {
		Names::mutate(|names| {
			let count = names.get_mut(root).expect("it was named");
			*count -= 1;
			if *count == 0 {
				names.remove(root);
				// Its owner removes it as soon as it can.
				Stored::mutate(|all| all.remove(root));
			}
		});
	}

	fn watch(_: &H256, _: &AccountId) {}

	fn brought(_: &H256, _: &AccountId) -> u64 {
		0
	}

	fn full_blocks() -> BlockNumber {
		0
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_complete(_: &AccountId, _: u64) -> H256 {
		let root = H256::repeat_byte(0xb1);
		Stored::mutate(|all| all.insert(root));
		root
	}
}

/// A beacon whose seeds follow from the height.
pub struct FakeBeacon;
impl Beacon for FakeBeacon {
	fn draw_height(settled: BlockNumber) -> BlockNumber {
		settled.next_multiple_of(2)
	}

	fn horizon() -> BlockNumber {
		SEED_BLOCKS + 1
	}

	fn seed_weight() -> Weight {
		Weight::from_parts(100, 0)
	}

	fn seed(domain: &[u8], subject: &[u8], after: BlockNumber) -> Seed {
		let ready = after + SEED_BLOCKS + 1;
		if System::block_number() < ready {
			return Seed::NotBefore(ready);
		}
		if let Some(left) = LostSeeds::get().checked_sub(1) {
			LostSeeds::set(left);
			return Seed::Lost;
		}
		Seed::Ready(sp_io::hashing::blake2_256(&(domain, subject, after).encode()).into())
	}
}

impl crate::Config for Test {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Jobs = FakeMarket;
	type Blobs = FakeBlobs;
	type Beacon = FakeBeacon;
	type ServiceWeight = ServiceWeight;
	type PollBlocks = ConstU32<POLL>;
	type MinShowBlocks = ConstU32<MIN_SHOW>;
	type MaxShowBlocks = ConstU32<MAX_SHOW>;
	type RetentionBlocks = ConstU32<RETENTION>;
	type RecordBase = ConstU128<50>;
	type RecordByte = ConstU128<1>;
	type WeightInfo = ();
}

pub fn new_test_ext() -> sp_io::TestExternalities {
	let mut storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	pallet_balances::GenesisConfig::<Test> {
		balances: [SUBMITTER, STRANGER].map(|who| (who, ENDOWMENT)).to_vec(),
		..Default::default()
	}
	.assimilate_storage(&mut storage)
	.unwrap();
	let mut ext = sp_io::TestExternalities::new(storage);
	ext.execute_with(|| {
		System::set_block_number(1);
		Posted::set(Vec::new());
		Refusals::set(Vec::new());
		Stored::set(BTreeSet::new());
		Names::set(BTreeMap::new());
		LostSeeds::set(0);
		ServiceWeight::set(Weight::MAX);
	});
	ext
}

/// Runs `test`, and then checks what must hold in any state.
pub fn run(test: impl FnOnce()) {
	new_test_ext().execute_with(|| {
		test();
		check();
	})
}

/// Checks what must hold in any state, and that models are named for what is there.
pub fn check() {
	JobSets::do_try_state().unwrap();
	let mut names = BTreeMap::<H256, i32>::new();
	for set in Sets::<Test>::iter_values() {
		if matches!(set.stage, Stage::Ended(_)) {
			continue;
		}
		let bases = set.members.iter().filter_map(|member| Some(member.base?.root));
		let results = set.members.iter().filter_map(|member| Some(member.run.result()?.model_root));
		let best = set.best.map(|best| best.model);
		for root in bases.chain(results).chain(best) {
			*names.entry(root).or_default() += 1;
		}
	}
	assert_eq!(Names::get(), names);
	assert!(names.keys().all(FakeBlobs::is_complete), "a model is gone that is needed");
}

/// Blocks until height `number`.
pub fn to(number: BlockNumber) {
	while System::block_number() < number {
		System::set_block_number(System::block_number() + 1);
		System::reset_events();
		JobSets::on_initialize(System::block_number());
	}
}

/// So many blocks more.
pub fn pass(blocks: BlockNumber) {
	to(System::block_number() + blocks)
}

/// This pallet's events since the last block began.
pub fn events() -> Vec<Event<Test>> {
	System::events()
		.into_iter()
		.filter_map(|record| match record.event {
			RuntimeEvent::JobSets(event) => Some(event),
			_ => None,
		})
		.collect()
}

/// So many specifications, which differ in their learning rates.
pub fn specs(count: u32) -> Specs {
	let of = |at: u32| {
		let mut spec = JobSpec::example();
		spec.training.learning_rate_nano = 1_000_000 * u64::from(at + 1);
		spec
	};
	Specs::truncate_from((0..count).map(of).collect())
}

pub fn terms() -> Terms {
	Terms {
		price_per_ut: 5_000_000,
		replicas: 1,
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

/// So many generations, in each of which one is replaced.
pub fn plan(generations: u32) -> Plan {
	Plan {
		measure: Measure::Accuracy,
		generations,
		replaced: 1,
		factors: BoundedVec::truncate_from(vec![800, 1_250]),
		show_blocks: 10,
		max_fee_per_ut: 0,
	}
}

pub fn signed(who: AccountId) -> RuntimeOrigin {
	RuntimeOrigin::signed(who)
}

/// Opens a set of so many members by this plan; returns its number.
pub fn open_with(count: u32, plan: Plan) -> SetId {
	let id = crate::NextSet::<Test>::get();
	assert_ok!(JobSets::open(signed(SUBMITTER), specs(count), terms(), plan));
	id
}

/// Opens a set of so many members and generations.
pub fn open(count: u32, generations: u32) -> SetId {
	open_with(count, plan(generations))
}

pub fn get(id: SetId) -> Set<AccountId> {
	Sets::<Test>::get(id).unwrap()
}

pub fn run_of(id: SetId, member: u32) -> Run {
	get(id).members[member as usize].run
}

/// The job of a member.
pub fn job_of(id: SetId, member: u32) -> JobId {
	run_of(id, member).job().expect("the member has a job")
}

/// The bundle of a job that gets so many of 100 labels right in the end, and more before: the leaves.
fn leaves(job: JobId, correct: u32) -> Vec<LeafContent> {
	let checkpoint = |step: u32, correct| {
		let loss = 1.0 - correct as f32 / 200.0;
		let evaluation = Evaluation::new(loss, correct, 100);
		let state = H256::from_low_u64_be(u64::from(job) + 1);
		let trace = H256::from_low_u64_be(u64::from(step) + 1);
		LeafContent::Checkpoint(Checkpoint { step, state, evaluation, trace })
	};
	vec![checkpoint(0, 1), checkpoint(1, 99), checkpoint(2, 100), checkpoint(3, correct)]
}

/// A leaf of that bundle.
pub fn leaf_at(job: JobId, correct: u32, index: usize) -> Leaf {
	let all = leaves(job, correct);
	let hashes: Vec<H256> = all.iter().map(LeafContent::leaf).collect();
	let path = merkle::proof(&hashes, index).unwrap();
	Leaf { content: all[index], path: BoundedVec::truncate_from(path) }
}

/// The last leaf of that bundle.
pub fn leaf(job: JobId, correct: u32) -> Leaf {
	leaf_at(job, correct, 3)
}

/// The model of a job.
pub fn model_of(job: JobId) -> H256 {
	H256::from_low_u64_be(1_000 + u64::from(job))
}

/// The parameters of that.
pub fn parameters_of(job: JobId) -> H256 {
	H256::from_low_u64_be(2_000 + u64::from(job))
}

/// The result of that job.
pub fn result_of(job: JobId, correct: u32) -> WorkResult {
	let hashes: Vec<H256> = leaves(job, correct).iter().map(LeafContent::leaf).collect();
	let bundle_root = merkle::root(&hashes);
	let (true_root, model_root) = (bundle_root, model_of(job));
	WorkResult { bundle_root, true_root, model_root, segments: 3, diverged: false }
}

/// Says how a job ended.
pub fn set_end(job: JobId, end: JobEnd) {
	Posted::mutate(|all| all[job as usize].end = Some(end));
}

/// Lets a job be accepted that gets so many right.
pub fn accept(job: JobId, correct: u32) {
	let result = result_of(job, correct);
	Stored::mutate(|all| all.insert(result.model_root));
	set_end(job, JobEnd::Accepted(result));
}

/// Lets a job be accepted that diverged after its last checkpoint; returns the last leaf and the one before.
pub fn diverge(job: JobId) -> [Leaf; 2] {
	let mut all = leaves(job, 50);
	all.push(LeafContent::Diverged(Diverged { step: 4, trace: H256::zero() }));
	let hashes: Vec<H256> = all.iter().map(LeafContent::leaf).collect();
	let (bundle_root, model_root) = (merkle::root(&hashes), model_of(job));
	Stored::mutate(|all| all.insert(model_root));
	let true_root = bundle_root;
	let result = WorkResult { bundle_root, true_root, model_root, segments: 3, diverged: true };
	set_end(job, JobEnd::Accepted(result));
	[4, 3].map(|at| {
		let path = BoundedVec::truncate_from(merkle::proof(&hashes, at).unwrap());
		Leaf { content: all[at], path }
	})
}

/// Shows what a member scores that gets so many right, as its submitter.
pub fn show(id: SetId, member: u32, correct: u32) -> DispatchResult {
	let job = job_of(id, member);
	let said = Some(parameters_of(job));
	JobSets::show(signed(SUBMITTER), id, member, leaf(job, correct), said)
}

/// Blocks until no member waits.
pub fn until_posted(id: SetId) {
	while get(id).members.iter().any(|member| member.run == Run::Waiting) {
		pass(1);
	}
}

/// Trains a generation whose members get so many right, and shows them; `None` fails. Then blocks pass until the next
/// generation is posted, or the set has ended.
pub fn generation(id: SetId, all: &[Option<u32>]) {
	until_posted(id);
	let before = get(id).generation;
	for (member, correct) in (0u32..).zip(all) {
		match correct {
			Some(correct) => accept(job_of(id, member), *correct),
			None => set_end(job_of(id, member), JobEnd::Failed),
		}
	}
	for (member, correct) in (0u32..).zip(all) {
		if let Some(correct) = correct {
			assert_ok!(show(id, member, *correct));
		}
	}
	for _ in 0..40 {
		pass(1);
		let set = get(id);
		if matches!(set.stage, Stage::Ended(_)) {
			return;
		}
		if set.generation > before {
			return until_posted(id);
		}
	}
	panic!("the generation does not end");
}

pub fn free(who: AccountId) -> Balance {
	Balances::free_balance(who)
}

pub fn held(who: AccountId) -> Balance {
	Balances::total_balance_on_hold(&who)
}
