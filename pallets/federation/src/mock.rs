//! A runtime of this pallet and balances, with fakes for the market and for models on chain.

use crate as pallet_federation;
use crate::{Event, Federation, Federations, Openings, Parts};
use frame_support::{
	assert_ok, derive_impl, parameter_types,
	traits::{
		fungible::{InspectHold, MutateHold},
		tokens::Precision,
		ConstU128, ConstU32, Hooks,
	},
	weights::Weight,
};
use sp_runtime::{BuildStorage, DispatchError};
use std::{
	collections::{BTreeMap, BTreeSet},
	ops::Range,
};
use trainyard_program::{
	needs::MachineClass,
	spec::{CheckedSpec, FileRef, InitialModel, JobSpec, ON_CHAIN},
};
use trainyard_protocol::{
	blob, content,
	federation::{self, FederationId, ModelOpening, PartData, Pieces, Plan, Rule, Stage},
	job::{Balance, BlockNumber, Terms},
	model_file::Layout,
	JobId, Text, H256,
};
use trainyard_traits::{AwaitedBlobs, BlobStore, JobEnd, JobStanding, PostedJobs};

pub type AccountId = u64;
type Block = frame_system::mocking::MockBlockU32<Test>;

/// Opens federations.
pub const SUBMITTER: AccountId = 1;
/// Propose and refute.
pub const PROPOSERS: Range<AccountId> = 11..21;
pub const ENDOWMENT: Balance = 1_000_000;
/// Existential deposit.
pub const ED: Balance = 10;

pub const WINDOW: BlockNumber = 10;
pub const AGGREGATE: BlockNumber = 40;
pub const POLL: BlockNumber = 2;
pub const RETRY: BlockNumber = 5;
pub const MIN_ROUND: BlockNumber = 3;
pub const RETENTION: BlockNumber = 50;
pub const DEPOSIT: Balance = 1_000;
pub const FEE: Balance = 100;
/// What a job costs, whatever it is.
pub const ESCROW: Balance = 500;

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
	#[runtime::pallet_index(28)]
	pub type Fed = pallet_federation;
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
	pub standing: JobStanding,
}

/// A blob.
#[derive(Clone, Debug)]
pub struct FakeBlob {
	pub bytes: Vec<u8>,
	pub is_complete: bool,
}

parameter_types! {
	pub static Posted: Vec<FakeJob> = Vec::new();
	/// With what the market refuses the next jobs.
	pub static Refusals: Vec<&'static str> = Vec::new();
	pub static Stored: BTreeMap<H256, FakeBlob> = BTreeMap::new();
	/// How many names each blob has.
	pub static Names: BTreeMap<H256, i32> = BTreeMap::new();
	pub static ServiceWeight: Weight = Weight::MAX;
}

/// The market: a job costs [`ESCROW`], burned, so that what a job holds shows.
pub struct FakeMarket;
impl PostedJobs<AccountId> for FakeMarket {
	fn check(
		_: &AccountId,
		_: &CheckedSpec,
		_: &Terms,
		_: Balance,
	) -> Result<Balance, DispatchError> {
		match Refusals::get().first() {
			Some(reason) => Err(DispatchError::Other(reason)),
			None => Ok(ESCROW),
		}
	}

	fn post(
		submitter: &AccountId,
		spec: CheckedSpec,
		terms: Terms,
		_: Balance,
	) -> Result<JobId, DispatchError> {
		// What a market does before it fails must be undone.
		Balances::hold(&crate::HoldReason::Proposal.into(), submitter, ESCROW)?;
		if let Some(reason) = Refusals::mutate(|all| (!all.is_empty()).then(|| all.remove(0))) {
			return Err(DispatchError::Other(reason));
		}
		let reason = crate::HoldReason::Proposal.into();
		Balances::release(&reason, submitter, ESCROW, Precision::Exact)?;
		let job = FakeJob { spec: spec.into_spec(), terms, standing: JobStanding::Running };
		Posted::mutate(|all| {
			all.push(job);
			Ok(all.len() as JobId - 1)
		})
	}

	fn post_weight() -> Weight {
		Weight::from_parts(1_000, 0)
	}

	fn standing(job: JobId) -> JobStanding {
		Posted::get().get(job as usize).map_or(JobStanding::Failed, |job| job.standing)
	}

	fn ended(_: JobId) -> Option<JobEnd> {
		unreachable!("federations look at models alone")
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

/// Models on chain.
pub struct FakeBlobs;
impl BlobStore for FakeBlobs {
	fn is_complete(root: &H256) -> bool {
		Stored::get().get(root).is_some_and(|blob| blob.is_complete)
	}

	fn size(root: &H256) -> Option<u64> {
		Stored::get().get(root).map(|blob| blob.bytes.len() as u64)
	}

	fn has_chunks(_: &H256, _: Range<u32>) -> bool {
		unreachable!("federations look at whole blobs")
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
	fn make_complete(_: &AccountId, size: u64) -> H256 {
		let root = blob::root_of(size, &H256::repeat_byte(0xb1));
		let bytes = vec![0; size as usize];
		Stored::mutate(|all| all.insert(root, FakeBlob { bytes, is_complete: true }));
		root
	}
}

impl crate::Config for Test {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Jobs = FakeMarket;
	type Blobs = FakeBlobs;
	type ServiceWeight = ServiceWeight;
	type Window = ConstU32<WINDOW>;
	type AggregateBlocks = ConstU32<AGGREGATE>;
	type PollBlocks = ConstU32<POLL>;
	type RetryBlocks = ConstU32<RETRY>;
	type MinRoundBlocks = ConstU32<MIN_ROUND>;
	type RetentionBlocks = ConstU32<RETENTION>;
	type MinAggregateFee = ConstU128<FEE>;
	type ProposalDeposit = ConstU128<DEPOSIT>;
	type RecordBase = ConstU128<50>;
	type RecordByte = ConstU128<1>;
	type WeightInfo = ();
}

pub fn new_test_ext() -> sp_io::TestExternalities {
	let mut storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	let rich = PROPOSERS.chain([SUBMITTER]);
	pallet_balances::GenesisConfig::<Test> {
		balances: rich.map(|who| (who, ENDOWMENT)).collect(),
		..Default::default()
	}
	.assimilate_storage(&mut storage)
	.unwrap();
	let mut ext = sp_io::TestExternalities::new(storage);
	ext.execute_with(|| {
		System::set_block_number(1);
		Posted::set(Vec::new());
		Refusals::set(Vec::new());
		Stored::set(BTreeMap::new());
		Names::set(BTreeMap::new());
		ServiceWeight::set(Weight::MAX);
	});
	ext
}

/// Runs `test`, and then checks what must hold in any state, and that blobs are named for what is there.
pub fn run(test: impl FnOnce()) {
	new_test_ext().execute_with(|| {
		test();
		check();
	})
}

/// Checks what must hold in any state.
pub fn check() {
	Fed::do_try_state().unwrap();
	let mut names = BTreeMap::<H256, i32>::new();
	for federation in Federations::<Test>::iter_values() {
		let initial = Some(federation.initial.file).filter(|file| file.is_on_chain());
		let over = matches!(federation.stage, Stage::Ended(_));
		let initial = initial.filter(|_| !over).map(|file| file.content_hash);
		let answers = federation.parts.iter().filter_map(|part| part.answer);
		let proposals = federation.proposals.iter().map(|proposal| proposal.root);
		for root in answers.chain(proposals).chain(initial) {
			*names.entry(root).or_default() += 1;
		}
	}
	assert_eq!(Names::get(), names);
}

/// Blocks until height `number`.
pub fn to(number: BlockNumber) {
	while System::block_number() < number {
		System::set_block_number(System::block_number() + 1);
		System::reset_events();
		Fed::on_initialize(System::block_number());
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
			RuntimeEvent::Fed(event) => Some(event),
			_ => None,
		})
		.collect()
}

/// What trains: the digits, from a model on chain.
pub fn template() -> JobSpec {
	let mut spec = JobSpec::example();
	let file = FileRef { content_hash: H256::repeat_byte(5), ..spec.dataset.file() };
	spec.initial_model = Some(InitialModel { file, parameters: H256::repeat_byte(6) });
	spec
}

pub fn layout() -> Layout {
	Layout::of(&template().check().unwrap())
}

/// The data of a part with so many rows that train, a multiple of 4.
pub fn part(rows: u32) -> PartData {
	let file = FileRef {
		content_hash: H256::from_low_u64_be(u64::from(rows) + 1),
		..template().dataset.file()
	};
	let rows_root = H256::from_low_u64_be(u64::from(rows) + 2);
	PartData { file, labels: None, train_rows: rows, validation_rows: rows / 4, rows: rows_root }
}

/// So many parts.
pub fn parts(count: u32) -> Parts {
	Parts::truncate_from((0..count).map(|at| part(100 * (at + 1))).collect())
}

pub fn terms() -> Terms {
	Terms {
		price_per_ut: 5_000_000,
		replicas: 2,
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

pub fn plan() -> Plan {
	Plan {
		rounds: 2,
		min_parts: 2,
		rule: Rule::Agreed,
		round_blocks: 100,
		stop_if_tainted: false,
		aggregate_fee: FEE,
		max_fee_per_ut: 0,
	}
}

/// Opens a federation of so many parts by this plan; returns its number.
pub fn open_with(count: u32, plan: Plan) -> FederationId {
	let id = crate::NextFederation::<Test>::get();
	let origin = RuntimeOrigin::signed(SUBMITTER);
	assert_ok!(Fed::open(origin, Box::new(template()), parts(count), terms(), plan));
	id
}

/// Opens a federation of two parts.
pub fn open() -> FederationId {
	open_with(2, plan())
}

pub fn get(id: FederationId) -> Federation<AccountId> {
	Federations::<Test>::get(id).unwrap()
}

/// A file of the model, whose numbers follow from `seed`.
pub fn model(seed: u32) -> Vec<u8> {
	let layout = layout();
	let mut bytes = layout.header.clone();
	let mut at = 0u32;
	while (bytes.len() as u64) < layout.size {
		at += 1;
		bytes.extend_from_slice(&((seed * 31 + at) as f32 / 1_024.0).to_le_bytes());
	}
	bytes
}

/// Puts a file on chain; returns its root.
pub fn store(bytes: &[u8]) -> H256 {
	let root = blob::root_of(bytes.len() as u64, &content::hash(bytes));
	Stored::mutate(|all| all.insert(root, FakeBlob { bytes: bytes.to_vec(), is_complete: true }));
	root
}

/// The model that is named as the initial one, on chain.
pub fn initial_on_chain(root: H256) -> InitialModel {
	let (bytes, location) = (layout().size, Text::new(ON_CHAIN).unwrap());
	let file = FileRef { content_hash: root, bytes, location };
	InitialModel { file, parameters: H256::repeat_byte(6) }
}

/// Says what became of a job.
pub fn set(job: JobId, standing: JobStanding) {
	Posted::mutate(|all| all[job as usize].standing = standing);
}

/// The job of a part.
pub fn job_of(id: FederationId, part: u32) -> JobId {
	get(id).parts[part as usize].job.expect("the part has a job")
}

/// Blocks until all parts have jobs.
pub fn until_posted(id: FederationId) {
	while get(id).parts.iter().any(|part| part.is_open() && part.job.is_none()) {
		pass(1);
	}
}

/// Lets the jobs of all open parts agree in models of these seeds, one for each part.
pub fn answer(id: FederationId, seeds: &[u32]) {
	until_posted(id);
	for (at, seed) in seeds.iter().enumerate() {
		set(job_of(id, at as u32), JobStanding::Agreed(store(&model(*seed))));
	}
	pass(POLL + 1);
	assert_eq!(get(id).stage, Stage::Aggregating);
}

/// The files of the results of the running round, with their weights.
fn answers(id: FederationId) -> (Vec<f32>, Vec<Vec<u8>>) {
	let template = crate::Templates::<Test>::get(id).unwrap();
	let answered = get(id).parts.into_iter().zip(template.parts);
	let answered = answered.filter_map(|(part, data)| Some((data.train_rows, part.answer?)));
	let (rows, roots): (Vec<u32>, Vec<H256>) = answered.unzip();
	let files = roots.iter().map(|root| Stored::get()[root].bytes.clone()).collect();
	(federation::weights(&rows), files)
}

/// The true aggregate of the running round.
pub fn aggregate(id: FederationId) -> Vec<u8> {
	let (weights, files) = answers(id);
	let parts: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
	federation::aggregate(&layout(), &weights, 0, &parts).unwrap()
}

/// The values of the pieces of a file.
pub fn pieces(file: &[u8]) -> Pieces {
	Pieces::truncate_from(federation::piece_values(&layout(), file).unwrap())
}

/// Lets somebody store a file and propose it; returns the number of the proposal.
pub fn propose(who: AccountId, id: FederationId, file: &[u8]) -> u32 {
	store(file);
	let number = get(id).next_proposal;
	let content = content::hash(file);
	assert_ok!(Fed::propose(RuntimeOrigin::signed(who), id, content, pieces(file)));
	number
}

/// What refutes a proposal of this file at a chunk, if it is false there.
pub fn openings(id: FederationId, file: &[u8], chunk: u64) -> Openings {
	let (_, files) = answers(id);
	let all = std::iter::once(file).chain(files.iter().map(Vec::as_slice));
	let opened = all.map(|file| ModelOpening::new(file, chunk).unwrap());
	Openings::truncate_from(opened.collect())
}

/// Brings a round to its model.
pub fn finish_round(id: FederationId, seeds: &[u32]) {
	answer(id, seeds);
	let file = aggregate(id);
	propose(PROPOSERS.start, id, &file);
	pass(WINDOW + 2);
}

pub fn free(who: AccountId) -> Balance {
	Balances::free_balance(who)
}

pub fn held(who: AccountId) -> Balance {
	Balances::total_balance_on_hold(&who)
}

/// Jobs that agree or were accepted, of all that were posted.
pub fn standing_jobs() -> BTreeSet<JobId> {
	(0..)
		.zip(Posted::get())
		.filter(|(_, job)| job.standing != JobStanding::Running)
		.map(|(id, _)| id)
		.collect()
}
