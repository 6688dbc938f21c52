//! A runtime of this pallet and balances, with fakes for the market, for blobs and for randomness.

use crate as pallet_swarm;
use crate::{Claims, Event, MeanOpenings, Peer, Promise, Said, Swarm, Swarms};
use codec::Encode;
use frame_support::{
	assert_ok, derive_impl, parameter_types,
	traits::{fungible::InspectHold, ConstU128, ConstU32, Hooks},
	weights::Weight,
};
use sp_core::{ed25519, Pair};
use sp_runtime::{BuildStorage, DispatchError};
use std::{collections::BTreeMap, ops::Range};
use trainyard_program::{
	needs::MachineClass,
	spec::{CheckedSpec, FileRef, InitialModel, JobSpec, ON_CHAIN},
};
use trainyard_protocol::{
	accusation::{Leaf, LeafContent, Peaks},
	blob,
	bundle::{self, Checkpoint, Evaluation},
	content,
	federation::{self, ModelOpening, PartData, Pieces},
	job::{Balance, BlockNumber, Terms, WorkResult},
	merkle,
	model_file::Layout,
	swarm::{
		self, Averaging, Brought, Count, Curve, Model, OuterRule, Pace, Payer, Plan, Reward, Stage,
		Stages, SwarmId, Ticket,
	},
	JobId, Text, H256,
};
use trainyard_traits::{AwaitedBlobs, Beacon, BlobStore, JobEnd, JobStanding, PostedJobs, Seed};

pub type AccountId = u64;
type Block = frame_system::mocking::MockBlockU32<Test>;

/// Opens swarms.
pub const OPENER: AccountId = 1;
/// Are peers.
pub const PEERS: Range<AccountId> = 11..31;
pub const ENDOWMENT: Balance = 1_000_000;
/// Existential deposit.
pub const ED: Balance = 10;

pub const POLL: BlockNumber = 2;
pub const MIN: BlockNumber = 3;
pub const MAX: BlockNumber = 100;
/// Least blocks of the stages in which others act.
pub const WINDOW: BlockNumber = 4;
pub const LIFE: BlockNumber = 2_000;
pub const RETENTION: BlockNumber = 50;
pub const FEE: Balance = 20;
pub const CHALLENGE: Balance = 300;
pub const PEER: Balance = 40;
/// What a job costs, whatever it is.
pub const ESCROW: Balance = 500;
pub const STAKE: Balance = 5_000;
pub const BUDGET: Balance = 100_000;
/// Blocks of a seed.
pub const SEED_BLOCKS: BlockNumber = 2;
/// Labels of each slice.
pub const LABELS: u32 = 1_000;

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
	#[runtime::pallet_index(29)]
	pub type Swarming = pallet_swarm;
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
	pub submitter: AccountId,
	pub spec: JobSpec,
	pub terms: Terms,
	pub end: Option<JobEnd>,
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
	/// Whose all blobs are.
	pub static Owner: AccountId = OPENER;
	/// How many names each blob has.
	pub static Names: BTreeMap<H256, i32> = BTreeMap::new();
	/// What was burned before the present block.
	pub static BurnedBefore: Balance = 0;
	pub static FullBlocks: BlockNumber = 0;
	/// How many more times the beacon has lost a seed.
	pub static LostSeeds: u32 = 0;
	pub static ServiceWeight: Weight = Weight::MAX;
}

/// The market: a job costs [`ESCROW`], burned.
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
		if let Some(reason) = Refusals::mutate(|all| (!all.is_empty()).then(|| all.remove(0))) {
			return Err(DispatchError::Other(reason));
		}
		let (submitter, spec) = (*submitter, spec.into_spec());
		let job = FakeJob { submitter, spec, terms, end: None };
		Posted::mutate(|all| {
			all.push(job);
			Ok(all.len() as JobId - 1)
		})
	}

	fn post_weight() -> Weight {
		Weight::from_parts(1_000, 0)
	}

	fn standing(_: JobId) -> JobStanding {
		unreachable!("swarms ask how jobs ended")
	}

	fn ended(job: JobId) -> Option<JobEnd> {
		let Some(job) = Posted::get().get(job as usize).cloned() else {
			return Some(JobEnd::Failed);
		};
		job.end
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

/// Blobs on chain.
pub struct FakeBlobs;
impl BlobStore for FakeBlobs {
	fn is_complete(root: &H256) -> bool {
		Stored::get().get(root).is_some_and(|blob| blob.is_complete)
	}

	fn size(root: &H256) -> Option<u64> {
		Stored::get().get(root).map(|blob| blob.bytes.len() as u64)
	}

	fn has_chunks(_: &H256, _: Range<u32>) -> bool {
		unreachable!("swarms look at whole blobs")
	}
}

impl AwaitedBlobs<AccountId> for FakeBlobs {
	fn owner(root: &H256) -> Option<AccountId> {
		Stored::get().contains_key(root).then(|| Owner::get())
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
		FullBlocks::get()
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_complete(who: &AccountId, size: u64) -> H256 {
		Owner::set(*who);
		let root = blob::root_of(size, &H256::repeat_byte(0xb1));
		let bytes = vec![0; size as usize];
		Stored::mutate(|all| all.insert(root, FakeBlob { bytes, is_complete: true }));
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
		Weight::zero()
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
	type MinBlocks = ConstU32<MIN>;
	type MinWindow = ConstU32<WINDOW>;
	type MaxBlocks = ConstU32<MAX>;
	type MaxLife = ConstU32<LIFE>;
	type RetentionBlocks = ConstU32<RETENTION>;
	type MinClaimFee = ConstU128<FEE>;
	type ChallengeDeposit = ConstU128<CHALLENGE>;
	type PeerDeposit = ConstU128<PEER>;
	type RecordBase = ConstU128<50>;
	type RecordByte = ConstU128<1>;
	type WeightInfo = ();
}

pub fn new_test_ext() -> sp_io::TestExternalities {
	let mut storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	pallet_balances::GenesisConfig::<Test> {
		balances: PEERS.chain([OPENER]).map(|who| (who, ENDOWMENT)).collect(),
		..Default::default()
	}
	.assimilate_storage(&mut storage)
	.unwrap();
	let mut ext = sp_io::TestExternalities::new(storage);
	// Benchmarks sign with a key of their own.
	ext.register_extension(sp_keystore::KeystoreExt::new(
		sp_keystore::testing::MemoryKeystore::new(),
	));
	ext.execute_with(|| {
		System::set_block_number(1);
		Posted::set(Vec::new());
		Refusals::set(Vec::new());
		Stored::set(BTreeMap::new());
		Names::set(BTreeMap::new());
		Owner::set(OPENER);
		FullBlocks::set(0);
		BurnedBefore::set(0);
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

/// Checks what must hold in any state, and that blobs are named for what is there.
pub fn check() {
	Swarming::do_try_state().unwrap();
	let mut names = BTreeMap::<H256, i32>::new();
	for (id, swarm) in Swarms::<Test>::iter() {
		if swarm.stage != Stage::Ended {
			*names.entry(swarm.best.root).or_default() += 1;
		}
		if let Stage::Showing { slice, .. }
		| Stage::Counting { slice, .. }
		| Stage::Challenging { slice, .. }
		| Stage::Settling { slice, .. } = swarm.stage
		{
			let slice = crate::Slices::<Test>::get(id, slice).unwrap();
			for root in swarm::slice_roots(&slice.data).unwrap() {
				*names.entry(root).or_default() += 1;
			}
		}
		for spoken in Claims::<Test>::iter_prefix_values(id).filter_map(|claim| claim.said) {
			*names.entry(spoken.model.root).or_default() += 1;
			if let Some(mixing) = spoken.mixing {
				*names.entry(mixing.own.root).or_default() += 1;
				*names.entry(mixing.remote).or_default() += 1;
			}
		}
	}
	assert_eq!(Names::get(), names);
}

/// Blocks until height `number`.
pub fn to(number: BlockNumber) {
	while System::block_number() < number {
		System::set_block_number(System::block_number() + 1);
		BurnedBefore::set(burned());
		System::reset_events();
		Swarming::on_initialize(System::block_number());
	}
}

/// What was burned so far.
pub fn burned() -> Balance {
	let burned = |event: Event<Test>| match event {
		Event::Burned { amount, .. } => amount,
		_ => 0,
	};
	BurnedBefore::get() + events().into_iter().map(burned).sum::<Balance>()
}

/// So many blocks more.
pub fn pass(blocks: BlockNumber) {
	to(System::block_number() + blocks)
}

/// Blocks until a swarm is where `reached` says.
pub fn until(id: SwarmId, reached: impl Fn(&Stage) -> bool) {
	for _ in 0..300 {
		if reached(&get(id).stage) {
			return;
		}
		pass(1);
	}
	panic!("never there: {:?}", get(id).stage);
}

/// This pallet's events since the last block began.
pub fn events() -> Vec<Event<Test>> {
	System::events()
		.into_iter()
		.filter_map(|record| match record.event {
			RuntimeEvent::Swarming(event) => Some(event),
			_ => None,
		})
		.collect()
}

pub fn signed(who: AccountId) -> RuntimeOrigin {
	RuntimeOrigin::signed(who)
}

pub fn text(text: &str) -> Text {
	Text::new(text).unwrap()
}

/// What is trained: the digits in one segment, from a model on chain.
pub fn template() -> JobSpec {
	let mut spec = trained();
	let file = on_chain(&model_file(0));
	spec.initial_model = Some(InitialModel { file, parameters: parameters(&model_file(0)) });
	spec
}

/// The same without its model: half of the rows validate.
fn trained() -> JobSpec {
	let mut spec = JobSpec::example();
	spec.training.steps = spec.training.checkpoint_interval;
	spec.training.input_noise_nano = 1_000_000;
	let data = &mut spec.dataset;
	(data.train_rows, data.validation_rows, data.validation_every) = (LABELS, LABELS, 2);
	spec
}

pub fn layout() -> Layout {
	Layout::of(&trained().check().unwrap())
}

/// A file of the model, whose numbers follow from `seed`.
pub fn model_file(seed: u32) -> Vec<u8> {
	let layout = layout();
	let mut bytes = layout.header.clone();
	let mut at = 0u32;
	while (bytes.len() as u64) < layout.size {
		at += 1;
		bytes.extend_from_slice(&((seed * 31 + at) as f32 / 1_024.0).to_le_bytes());
	}
	bytes
}

/// The mean of two files.
pub fn mean(one: &[u8], two: &[u8]) -> Vec<u8> {
	federation::aggregate(&layout(), &federation::weights(&[1, 1]), 0, &[one, two]).unwrap()
}

pub fn root(file: &[u8]) -> H256 {
	blob::root_of(file.len() as u64, &content::hash(file))
}

/// The values of the pieces of a file.
pub fn pieces(file: &[u8]) -> Pieces {
	Pieces::truncate_from(federation::piece_values(&layout(), file).unwrap())
}

pub fn parameters(file: &[u8]) -> H256 {
	federation::parameters(&layout(), &pieces(file)).unwrap()
}

pub fn model(file: &[u8]) -> Model {
	Model { root: root(file), parameters: parameters(file) }
}

fn on_chain(file: &[u8]) -> FileRef {
	FileRef { content_hash: root(file), bytes: file.len() as u64, location: text(ON_CHAIN) }
}

/// Puts a file on chain; returns its root.
pub fn store(bytes: &[u8]) -> H256 {
	let root = root(bytes);
	Stored::mutate(|all| all.insert(root, FakeBlob { bytes: bytes.to_vec(), is_complete: true }));
	root
}

/// The file of slice `number`.
pub fn slice_file(number: u32) -> Vec<u8> {
	(0..5_000u32).map(|at| (at * 7 + number) as u8).collect()
}

/// The rows of slice `number`.
pub fn slice(number: u32) -> PartData {
	PartData {
		file: on_chain(&slice_file(number)),
		labels: None,
		train_rows: LABELS,
		validation_rows: LABELS,
		rows: H256::from_low_u64_be(u64::from(number) + 1),
	}
}

pub fn slices(numbers: Range<u32>) -> crate::NewSlices {
	crate::NewSlices::truncate_from(numbers.map(slice).collect())
}

pub fn terms() -> Terms {
	Terms {
		price_per_ut: 5_000_000,
		replicas: 1,
		verifiers: 3,
		audit_segments: 1,
		audit_fee: 10_000,
		apply_blocks: 5,
		training_blocks: 20,
		machine: MachineClass::Gib8,
		undecided_percent: 20,
		keep_every: 1,
	}
}

/// A plan that pays 1 for ten millionths: a label of a thousand is 100.
pub fn plan(payer: Payer) -> Plan {
	Plan {
		reward: Reward {
			curve: Curve::Linear { factor: 100_000 },
			pace: Pace { first: 1_000, last: 1_000 },
			floor: 500_000,
			stake: STAKE,
		},
		payer,
		averaging: Averaging::Pairs,
		most_per_peer: 50_000,
		claim_fee: FEE,
		slice_deposit: STAKE,
		open_slices: false,
		private: false,
		max_peers: 20,
		stages: Stages { collect: 5, show: 6, count: 7, challenge: 8 },
		ticket_blocks: 30,
		end: 1_000,
		appeal: terms(),
		max_fee_per_ut: 0,
	}
}

/// Outer steps of ten blocks for training and five for vouching.
pub const RULE: OuterRule = OuterRule {
	picks: 64,
	bits: 2,
	keep: 950,
	rate: 1_000,
	momentum: 0,
	clip: Some(2_000),
	trim: 0,
	inner: 30,
	train: 10,
	vouch: 5,
};

/// A plan of outer steps.
pub fn outer_plan() -> Plan {
	Plan { averaging: Averaging::Outer(RULE), ..plan(Payer::Budget) }
}

/// What a peer brings to an outer step that begins with the model of `base`.
pub fn brought(base: u32, seed: u8) -> Brought {
	let root = H256::repeat_byte(seed);
	Brought { base, model: root, velocity: H256::zero(), data: root, sealed: root, kept: root }
}

/// Goes on to the training of an outer step, or to its vouching.
pub fn to_step(id: SwarmId, step: u32, trains: bool) {
	let first = get(id).began + step * RULE.blocks() + if trains { 0 } else { RULE.train };
	let now = System::block_number();
	assert!(first >= now, "step {step} is over at {now}");
	pass(first - now);
}

/// One outer step to which these contribute, all of whom vouch for all of them.
pub fn outer_step(id: SwarmId, step: u32, who: Range<AccountId>) {
	to_step(id, step, true);
	let all = (1u64 << (who.end - who.start)) - 1;
	for peer in who.clone() {
		assert_ok!(Swarming::contribute(signed(peer), id, step, brought(step, peer as u8)));
	}
	to_step(id, step, false);
	for peer in who {
		assert_ok!(vouch(id, peer, step, all));
	}
}

/// Vouches for the contributions that there are.
pub fn vouch(
	id: SwarmId,
	who: AccountId,
	step: u32,
	bits: u64,
) -> frame_support::dispatch::DispatchResult {
	let list = swarm::list_of(&Swarming::step(id, step));
	Swarming::vouch(signed(who), id, step, list, bits)
}

/// Opens a swarm with slices 0 to 4 by this plan; returns its number.
pub fn open_with(plan: Plan) -> SwarmId {
	store(&model_file(0));
	let id = crate::NextSwarm::<Test>::get();
	let budget = if plan.payer == Payer::Budget { BUDGET } else { 0 };
	assert_ok!(Swarming::open(signed(OPENER), Box::new(template()), slices(0..5), plan, budget));
	id
}

pub fn open(payer: Payer) -> SwarmId {
	open_with(plan(payer))
}

pub fn get(id: SwarmId) -> Swarm<AccountId> {
	Swarms::<Test>::get(id).unwrap()
}

pub fn peer(id: SwarmId, who: AccountId) -> Peer<AccountId> {
	crate::Peers::<Test>::get(id, who).unwrap()
}

/// The key of a peer.
pub fn key(who: AccountId) -> ed25519::Pair {
	ed25519::Pair::from_seed(&[who as u8; 32])
}

pub fn public(who: AccountId) -> H256 {
	H256(key(who).public().0)
}

pub fn genesis() -> H256 {
	Swarming::genesis()
}

/// What the key of `signer` signs so that it speaks for an account.
pub fn joining(id: SwarmId, who: AccountId, signer: AccountId) -> ed25519::Signature {
	key(signer).sign(&swarm::joining(&genesis(), id, &who).0)
}

pub fn join(id: SwarmId, who: AccountId) {
	let signature = joining(id, who, who);
	let location = text("iroh://somewhere");
	assert_ok!(Swarming::join(signed(who), id, public(who), signature, 6, location));
}

pub fn commitment(id: SwarmId, who: AccountId, file: &[u8], ticket: Option<H256>) -> H256 {
	swarm::commitment(&genesis(), id, &who, &root(file), ticket.as_ref(), &[7; 32])
}

/// Commits to a claim by the budget, of the file of this seed; returns its number.
pub fn claim(id: SwarmId, who: AccountId, seed: u32) -> u32 {
	let commitment = commitment(id, who, &model_file(seed), None);
	assert_ok!(Swarming::claim(signed(who), id, commitment));
	get(id).claims - 1
}

/// Shows the slice that was drawn; goes on to counting.
pub fn show(id: SwarmId) -> u32 {
	until(id, |stage| matches!(stage, Stage::Showing { .. }));
	let Stage::Showing { slice, .. } = get(id).stage else { unreachable!() };
	store(&slice_file(slice));
	until(id, |stage| matches!(stage, Stage::Counting { .. }));
	slice
}

pub fn count(correct: u32) -> Count {
	Count { correct, labels: LABELS }
}

pub fn said(file: &[u8], new: u32, base: u32) -> Box<Said<AccountId>> {
	let (content, pieces) = (content::hash(file), pieces(file));
	Box::new(Said { content, pieces, new: count(new), base: count(base), promise: None })
}

/// Says of a claim by the budget how many labels of 1,000 its model and the best one get right.
pub fn say(id: SwarmId, who: AccountId, number: u32, seed: u32, new: u32, base: u32) {
	let file = model_file(seed);
	store(&file);
	assert_ok!(Swarming::say(signed(who), id, number, said(&file, new, base), [7; 32]));
}

/// Goes on until claims can be challenged.
pub fn until_challenging(id: SwarmId) {
	until(id, |stage| matches!(stage, Stage::Challenging { .. }));
}

/// Goes on until the round is over. Returns what happened in the last block.
pub fn finish(id: SwarmId) -> Vec<Event<Test>> {
	let mut all = Vec::new();
	for _ in 0..300 {
		all.extend(events());
		if matches!(get(id).stage, Stage::Idle | Stage::Ended) {
			return all;
		}
		pass(1);
	}
	panic!("a round without an end: {:?}", get(id).stage);
}

/// One round in which `who` claims the model of this seed, with these counts.
pub fn round(id: SwarmId, who: AccountId, seed: u32, new: u32, base: u32) -> Vec<Event<Test>> {
	let number = claim(id, who, seed);
	show(id);
	say(id, who, number, seed, new, base);
	finish(id)
}

/// A ticket of `payer` for the model of seed `remote` of `maker`, from its own model of seed `own`.
pub fn ticket(
	id: SwarmId,
	payer: AccountId,
	maker: AccountId,
	own: u32,
	remote: u32,
) -> Ticket<AccountId> {
	Ticket {
		swarm: id,
		payer,
		maker,
		own: root(&model_file(own)),
		remote: root(&model_file(remote)),
		expires: System::block_number() + 20,
		nonce: 0,
	}
}

pub fn promise(ticket: &Ticket<AccountId>, own: u32) -> Promise<AccountId> {
	let own = model_file(own);
	Promise {
		ticket: ticket.clone(),
		signature: key(ticket.payer).sign(&ticket.digest(&genesis()).0).0,
		own_content: content::hash(&own),
		own_pieces: pieces(&own),
	}
}

/// Lets the job of a challenge be settled: its model gets so many labels right.
pub fn measure(job: JobId, correct: u32) -> Leaf {
	let evaluation = Evaluation::new(1.0, correct, LABELS);
	measure_with(job, evaluation)
}

/// Says how the job of a challenge ended.
pub fn end_job(job: JobId, end: JobEnd) {
	Posted::mutate(|all| all[job as usize].end = Some(end));
}

/// The last job that was posted.
pub fn last_job() -> JobId {
	Posted::get().len() as JobId - 1
}

pub fn challenge(id: SwarmId, who: AccountId, of: u32) -> JobId {
	assert_ok!(Swarming::challenge(signed(who), id, model(&model_file(of)), 10_000));
	last_job()
}

pub fn testify(id: SwarmId, who: AccountId, of: u32, leaf: Leaf) {
	assert_ok!(Swarming::testify(signed(who), id, model(&model_file(of)), leaf));
}

pub fn measure_with(job: JobId, evaluation: Evaluation) -> Leaf {
	let at = |step: u32| Checkpoint {
		step,
		state: H256::repeat_byte(step as u8),
		evaluation,
		trace: H256::repeat_byte(9),
	};
	let leaves = bundle::bundle_leaves([at(0), at(1)], None);
	let root = merkle::root(&leaves);
	let result = WorkResult {
		bundle_root: root,
		true_root: root,
		model_root: H256::repeat_byte(8),
		segments: 1,
		diverged: false,
	};
	Posted::mutate(|all| {
		all[job as usize].end = Some(JobEnd::Accepted(result));
	});
	let path = Peaks::truncate_from(merkle::proof(&leaves, 0).unwrap());
	Leaf { content: LeafContent::Checkpoint(at(0)), path }
}

/// A chunk of three files.
pub fn openings(chunk: u64, files: [&[u8]; 3]) -> Box<MeanOpenings> {
	Box::new(files.map(|file| ModelOpening::new(file, chunk).unwrap()))
}

pub fn free(who: AccountId) -> Balance {
	Balances::free_balance(who)
}

pub fn held(who: AccountId) -> Balance {
	Balances::total_balance_on_hold(&who)
}

/// Takes somebody's free money, but for so much.
pub fn impoverish(who: AccountId, left: Balance) {
	let gone = free(who) - left;
	assert_ok!(Balances::transfer_allow_death(signed(who), 99, gone));
}
