//! A runtime of this pallet and balances, with fakes for blobs, verifiers and randomness, and a referee whose
//! module is a few bytes.

use crate as pallet_tasks;
use crate::{Brought, Disputes, Event, Inline, OpenedRecord, Subject, Task, Tasks, MAX_INLINE};
use codec::Encode;
use frame_support::{
	assert_ok, derive_impl, parameter_types,
	traits::{ConstU128, ConstU32, Hooks},
	weights::Weight,
};
use sp_runtime::{BuildStorage, DispatchResult};
use std::{collections::BTreeMap, ops::Range};
use trainyard_protocol::{
	content, draw,
	job::{Balance, BlockNumber},
	seats::Resources,
};
use trainyard_task::{
	claim,
	state::{record, record_chunks, Call},
	views::{Phase, Side, Stage, TaskEnd},
	Bounds, Claim, Ends, Fault, File, Form, Limits, StateId, TaskId, TaskSpec, TaskTerms, Trace,
	H256,
};
use trainyard_traits::{AwaitedBlobs, Beacon, BlobStore, Drawn, MoveClock, Seed, VerifierPool};

pub type AccountId = u64;
type Block = frame_system::mocking::MockBlockU32<Test>;

/// Posts tasks.
pub const SUBMITTER: AccountId = 1;
/// Accounts that compute.
pub const REPLICAS: [AccountId; 4] = [11, 12, 13, 14];
/// Accounts that challenge.
pub const CHALLENGERS: [AccountId; 2] = [51, 52];
/// Verifiers.
pub const VERIFIERS: Range<AccountId> = 21..26;
/// What every account starts with.
pub const ENDOWMENT: Balance = 1_000_000;
/// Existential deposit.
pub const ED: Balance = 10;
/// Blocks that make a seed.
pub const SEED_BLOCKS: BlockNumber = 2;
/// Blocks for a move.
pub const MOVE: BlockNumber = 12;
/// Blocks for which tasks are kept.
pub const RETENTION: BlockNumber = 50;
/// Deposit for a record.
pub const RECORD: Balance = 70;

/// A module that adds four to each byte, and is stuck where the first is 255.
pub const MODULE: &[u8] = &[5, 1];
/// A module that cannot be executed.
pub const STRANGE: &[u8] = b"strange";
/// The input of tasks: what never gets stuck.
pub const INPUT: &[u8] = &[1, 2, 3];
/// An input that gets stuck at step 64.
pub const FATAL: &[u8] = &[3];

pub const BOUNDS: Bounds = Bounds {
	fuel: 10_000,
	block_fuel: 1_000_000,
	block_bytes: 1_000,
	fuel_price: 3,
	deposit: 60,
	least: 3,
	window: 10,
	most: 1_000,
};

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
	#[runtime::pallet_index(31)]
	pub type Tasking = pallet_tasks;
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

parameter_types! {
	/// Lengths of blobs, and whether they are complete.
	pub static Stored: BTreeMap<H256, (u64, bool)> = BTreeMap::new();
	/// Who named a blob how often.
	pub static Names: BTreeMap<H256, u32> = BTreeMap::new();
	/// Blobs that were released for keepers.
	pub static Kept: Vec<(H256, Vec<AccountId>)> = Vec::new();
	pub static FullBlocks: BlockNumber = 0;
	/// Blocks whose room for moves was full.
	pub static FullOfMoves: BlockNumber = 0;
	/// The verifiers.
	pub static Pool: Vec<AccountId> = Vec::new();
	/// Whether all verifiers have something else to do.
	pub static Busy: bool = false;
	/// Seats of verifiers, not yet released.
	pub static Seated: Vec<AccountId> = Vec::new();
	/// Verifiers slashed for absence, in order.
	pub static Absent: Vec<AccountId> = Vec::new();
	/// Verifiers slashed for contradiction, in order.
	pub static Contrary: Vec<AccountId> = Vec::new();
	/// Varies the seeds.
	pub static SeedSalt: u64 = 0;
	/// How many more times the beacon has lost a seed.
	pub static LostSeeds: u32 = 0;
	pub static ServiceWeight: Weight = Weight::MAX;
	pub static ChainBounds: Bounds = BOUNDS;
	/// The input of tasks that are posted.
	pub static Start: Vec<u8> = INPUT.to_vec();
	/// How often the referee executed something.
	pub static Executed: u32 = 0;
}

pub struct FakeBlobs;
impl BlobStore for FakeBlobs {
	fn is_complete(root: &H256) -> bool {
		Stored::get().get(root).is_some_and(|(_, complete)| *complete)
	}
	fn size(root: &H256) -> Option<u64> {
		Stored::get().get(root).map(|(bytes, _)| *bytes)
	}
	fn has_chunks(_: &H256, _: Range<u32>) -> bool {
		unreachable!("tasks look at whole blobs")
	}
}

impl AwaitedBlobs<AccountId> for FakeBlobs {
	fn owner(_: &H256) -> Option<AccountId> {
		None
	}
	fn expect(root: &H256) {
		Names::mutate(|names| *names.entry(*root).or_default() += 1);
	}
	fn release(root: &H256, keepers: &[AccountId]) {
		Kept::mutate(|kept| kept.push((*root, keepers.to_vec())));
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
	fn make_complete(_: &AccountId, size: u64) -> H256 {
		let root = trainyard_protocol::blob::root_of(size, &H256::repeat_byte(0xb1));
		Stored::mutate(|all| all.insert(root, (size, true)));
		root
	}
}

/// Says that a blob of these bytes is on chain.
pub fn store(bytes: &[u8]) {
	let file = File::of(bytes);
	Stored::mutate(|all| all.insert(file.root, (file.bytes.into(), true)));
}

/// The verifiers in [`Pool`].
pub struct FakeMoves;
impl MoveClock for FakeMoves {
	fn ticks() -> u32 {
		System::block_number().saturating_sub(FullOfMoves::get())
	}
}

pub struct FakeVerifiers;
impl VerifierPool<AccountId> for FakeVerifiers {
	fn draw(
		domain: &[u8],
		seed: &H256,
		_after: BlockNumber,
		excluded: &[AccountId],
		count: u32,
		_needs: &Resources,
	) -> Drawn<AccountId> {
		let pool = Pool::get().into_iter().filter(|who| !excluded.contains(who));
		let eligible: Vec<_> = pool.map(|who| (who, 1)).collect();
		if eligible.len() < count as usize {
			return Drawn::TooFew;
		}
		if Busy::get() {
			return Drawn::Busy;
		}
		let drawn = draw::weighted(domain, seed, &eligible, count as usize);
		Seated::mutate(|seats| seats.extend(drawn.iter().copied()));
		Drawn::Seated(drawn)
	}
	fn slash_absent(who: &AccountId, _: Balance) -> Balance {
		Absent::mutate(|list| list.push(*who));
		1
	}
	fn slash_contrary(who: &AccountId, _: Balance) -> Balance {
		Contrary::mutate(|list| list.push(*who));
		2
	}
	fn release(who: &AccountId, _: &Resources, _: bool) {
		Seated::mutate(|seats| {
			let at = seats.iter().position(|other| other == who).expect("it has a seat");
			seats.remove(at);
		});
	}
	#[cfg(feature = "runtime-benchmarks")]
	fn make_pool() -> Vec<AccountId> {
		Pool::set(VERIFIERS.collect());
		// Benchmarks put them on seats that nobody drew.
		Seated::set(VERIFIERS.collect());
		VERIFIERS.collect()
	}
}

/// Seeds that are ready [`SEED_BLOCKS`] blocks later, but lost [`LostSeeds`] times.
pub struct FakeBeacon;
impl Beacon for FakeBeacon {
	fn draw_height(settled: BlockNumber) -> BlockNumber {
		settled
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
		let bytes = (domain, subject, after, SeedSalt::get()).encode();
		Seed::Ready(sp_io::hashing::blake2_256(&bytes).into())
	}
}

/// What [`MODULE`] makes of a state: every byte plus four; stuck where the first is 255.
pub fn step(state: &[u8]) -> Result<Vec<u8>, Fault> {
	if state.first().is_none_or(|byte| *byte == 255) {
		return Err(vec![9].try_into().unwrap());
	}
	Ok(state.iter().map(|byte| byte.wrapping_add(4)).collect())
}

/// What [`MODULE`] makes of an index: the index times the first byte of the input; stuck at 7.
pub fn map(input: &[u8], index: u32) -> Result<Vec<u8>, Fault> {
	if index == 7 {
		return Err(vec![9].try_into().unwrap());
	}
	Ok((index * u32::from(input[0])).to_le_bytes().to_vec())
}

/// Executes [`MODULE`].
pub struct FakeReferee;
impl crate::Referee for FakeReferee {
	fn execute(module: &[u8], _: &Limits, call: Call<'_>) -> Option<Result<Vec<u8>, Fault>> {
		Executed::mutate(|count| *count += 1);
		if module == STRANGE {
			return None;
		}
		Some(match call {
			Call::Step { state } => step(state),
			Call::Map { input, index } => map(input, index),
		})
	}
	fn weight(limits: &Limits) -> Weight {
		Weight::from_parts(limits.fuel, 0)
	}
}

impl crate::Config for Test {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Blobs = FakeBlobs;
	type Verifiers = FakeVerifiers;
	type Beacon = FakeBeacon;
	type Referee = FakeReferee;
	type Bounds = ChainBounds;
	type ServiceWeight = ServiceWeight;
	type MoveBlocks = ConstU32<MOVE>;
	type Moves = FakeMoves;
	type RetentionBlocks = ConstU32<RETENTION>;
	type RecordDeposit = ConstU128<RECORD>;
	type WeightInfo = ();
}

pub fn new_test_ext() -> sp_io::TestExternalities {
	let mut storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	let rich = [SUBMITTER].into_iter().chain(REPLICAS).chain(CHALLENGERS).chain(VERIFIERS);
	pallet_balances::GenesisConfig::<Test> {
		balances: rich.map(|who| (who, ENDOWMENT)).collect(),
		..Default::default()
	}
	.assimilate_storage(&mut storage)
	.unwrap();
	let mut ext = sp_io::TestExternalities::new(storage);
	ext.execute_with(|| {
		System::set_block_number(1);
		Stored::set(BTreeMap::new());
		Names::set(BTreeMap::new());
		Kept::set(Vec::new());
		FullBlocks::set(0);
		Pool::set(VERIFIERS.collect());
		Busy::set(false);
		Seated::set(Vec::new());
		Absent::set(Vec::new());
		Contrary::set(Vec::new());
		SeedSalt::set(0);
		LostSeeds::set(0);
		ServiceWeight::set(Weight::MAX);
		ChainBounds::set(BOUNDS);
		Executed::set(0);
		Start::set(INPUT.to_vec());
		for bytes in [MODULE, STRANGE, INPUT, FATAL] {
			store(bytes);
		}
	});
	ext
}

/// Money that there is, and what events say was burned.
pub fn run(test: impl FnOnce()) {
	new_test_ext().execute_with(|| {
		let issuance = Balances::total_issuance();
		BURNED.with_borrow_mut(|burned| *burned = 0);
		test();
		count_burned();
		Tasking::do_try_state().unwrap();
		let burned = BURNED.with_borrow(|burned| *burned);
		assert_eq!(Balances::total_issuance() + burned, issuance, "money is made or lost");
	})
}

std::thread_local! {
	static BURNED: std::cell::RefCell<Balance> = const { std::cell::RefCell::new(0) };
}

/// Adds up what was burned since the last block began.
fn count_burned() {
	for event in events() {
		if let Event::Burned { amount, .. } = event {
			BURNED.with_borrow_mut(|burned| *burned += amount);
		}
	}
}

/// Blocks until height `number`.
pub fn to(number: BlockNumber) {
	while System::block_number() < number {
		count_burned();
		System::set_block_number(System::block_number() + 1);
		System::reset_events();
		Tasking::on_initialize(System::block_number());
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
			RuntimeEvent::Tasking(event) => Some(event),
			_ => None,
		})
		.collect()
}

pub fn signed(who: AccountId) -> RuntimeOrigin {
	RuntimeOrigin::signed(who)
}

pub fn free(who: AccountId) -> Balance {
	Balances::free_balance(who)
}

/// All that an account has.
pub fn total(who: AccountId) -> Balance {
	use frame_support::traits::fungible::Inspect;
	Balances::total_balance(&who)
}

pub fn spec(form: Form) -> TaskSpec {
	TaskSpec {
		module: File::of(MODULE),
		input: File::of(&Start::get()),
		form,
		limits: Limits { fuel: 1_000, pages: 2, state: 64 },
	}
}

/// Terms with an audit for certain.
pub fn terms() -> TaskTerms {
	TaskTerms {
		reward: 100,
		replicas: 2,
		deposit: 80,
		audit: 1_000,
		audit_fee: 30,
		apply: 4,
		compute: 6,
		reveal: BOUNDS.least + 9,
		challenge: 15,
	}
}

/// Terms with an audit in one of a thousand tasks, which [`SeedSalt`] 0 does not draw.
pub fn rarely() -> TaskTerms {
	TaskTerms { audit: 1, deposit: 199_800, ..terms() }
}

/// What a challenge of a task by [`rarely`] puts at stake.
pub const STAKE: Balance = 1_998;

pub const STEPS: Form = Form::Step { steps: 300 };
pub const MAP: Form = Form::Map { count: 10, most: 8 };
/// A salt for everybody.
pub const SALT: [u8; 32] = [7; 32];

pub fn get(id: TaskId) -> Task<AccountId> {
	Tasks::<Test>::get(id).unwrap()
}

pub fn post(form: Form, terms: TaskTerms) -> TaskId {
	let id = crate::NextTask::<Test>::get();
	assert_ok!(Tasking::post(signed(SUBMITTER), Box::new(spec(form)), Box::new(terms)));
	id
}

pub fn apply(id: TaskId, who: AccountId) -> DispatchResult {
	let task = get(id);
	Tasking::apply(signed(who), id, claim::digest(&task.spec, &task.terms))
}

/// A task that is being computed by these replicas.
pub fn computing(form: Form, terms: TaskTerms, replicas: &[AccountId]) -> TaskId {
	let id = post(form, TaskTerms { replicas: replicas.len() as u8, ..terms });
	for who in replicas {
		assert_ok!(apply(id, *who));
	}
	until(id, |phase| matches!(phase, Phase::Computing { .. }));
	id
}

/// Blocks until the phase of a task is such.
pub fn until(id: TaskId, wanted: impl Fn(Phase) -> bool) {
	for _ in 0..2_000 {
		if wanted(get(id).phase) {
			return;
		}
		pass(1);
	}
	panic!("task {id} stays {:?}", get(id).phase);
}

pub fn until_ended(id: TaskId) -> TaskEnd {
	until(id, |phase| matches!(phase, Phase::Ended(_)));
	match get(id).phase {
		Phase::Ended(end) => end,
		_ => unreachable!(),
	}
}

/// A run, true or with lies.
#[derive(Clone, Debug)]
pub struct Run {
	pub states: Vec<Result<Vec<u8>, Fault>>,
	pub trace: Option<Trace>,
	pub claim: Claim,
	pub ends: Ends,
	/// The bytes of the output, if it is no fault.
	pub output: Option<Vec<u8>>,
}

/// A run of a task in steps, in which the state after some steps is another one.
pub fn run_of(steps: u32, lies: &[(u32, &[u8])]) -> Run {
	let mut states = vec![Ok(Start::get())];
	for number in 1..=steps {
		let lie = lies.iter().find(|(at, _)| *at == number).map(|(_, bytes)| Ok(bytes.to_vec()));
		let before = states.last().unwrap().clone();
		states.push(lie.unwrap_or_else(|| before.and_then(|bytes: Vec<u8>| step(&bytes))));
	}
	let leaves = states.iter().map(|state| StateId::of(state.as_deref()).leaf()).collect();
	let trace = Trace::of(leaves).unwrap();
	let last = states.last().unwrap().clone();
	let (claim, ends) = trace.claim(StateId::of(last.as_deref()));
	Run { states, trace: Some(trace), claim, ends, output: last.ok() }
}

/// All records of a map, with lies at some indices.
pub fn map_of((count, most): (u32, u32), lies: &[u32]) -> Run {
	let all: Vec<u8> = (0..count)
		.flat_map(|index| {
			let result = map(INPUT, index);
			let result = if lies.contains(&index) { Ok(vec![99]) } else { result };
			record(result.as_deref(), most)
		})
		.collect();
	let file = File::of(&all);
	let claim = Claim { root: file.root, output: StateId::Bytes(file) };
	Run { states: vec![], trace: None, claim, ends: Ends::default(), output: Some(all) }
}

/// The true run of a task.
pub fn truth(id: TaskId) -> Run {
	match get(id).spec.form {
		Form::Step { steps } => run_of(steps, &[]),
		Form::Map { count, most } => map_of((count, most), &[]),
	}
}

pub fn commit(id: TaskId, who: AccountId, run: &Run) -> DispatchResult {
	let made = claim::commitment(&Tasking::genesis_hash(), id, &who, &run.claim, &SALT);
	Tasking::commit(signed(who), id, made)
}

/// Reveals, with the output where it is short, and stores it otherwise.
pub fn reveal(id: TaskId, who: AccountId, run: &Run) -> DispatchResult {
	let output = run.output.clone().filter(|bytes| bytes.len() <= MAX_INLINE as usize);
	if let Some(bytes) = run.output.as_ref().filter(|bytes| bytes.len() > MAX_INLINE as usize) {
		store(bytes);
	}
	let output = output.map(|bytes| Inline::try_from(bytes).unwrap());
	Tasking::reveal(signed(who), id, run.claim.clone(), Box::new(run.ends.clone()), output, SALT)
}

/// Lets a task come to the time for challenges: each of these commits and reveals its run, and who audits the
/// run of the auditor.
pub fn deliver(id: TaskId, runs: &[(AccountId, &Run)], auditor: Option<&Run>) {
	for (who, run) in runs {
		assert_ok!(commit(id, *who, run));
	}
	until(id, |phase| matches!(phase, Phase::Auditing { .. } | Phase::Revealing { .. }));
	let audits = get(id).auditor.map(|auditor| auditor.who);
	if let (Some(who), Some(run)) = (audits, auditor) {
		assert_ok!(commit(id, who, run));
	}
	until(id, |phase| matches!(phase, Phase::Revealing { .. }));
	for (who, run) in runs {
		assert_ok!(reveal(id, *who, run));
	}
	if let (Some(who), Some(run)) = (audits, auditor) {
		assert_ok!(reveal(id, who, run));
	}
	until(id, |phase| matches!(phase, Phase::Challenging { .. } | Phase::Ended(_)));
}

/// Seals a run in one block, and challenges by it in the next.
pub fn challenge(id: TaskId, who: AccountId, number: u8, run: &Run) -> DispatchResult {
	let made = claim::commitment(&Tasking::genesis_hash(), id, &who, &run.claim, &SALT);
	Tasking::seal(signed(who), id, made)?;
	pass(1);
	let ends = Box::new(run.ends.clone());
	Tasking::challenge(signed(who), id, number, run.claim.clone(), ends, SALT)
}

/// The nodes that a side has to show.
pub fn show(id: TaskId, dispute: u32, side: u8, run: &Run) -> DispatchResult {
	let Stage::Descending(descent) = Disputes::<Test>::get(id, dispute).unwrap().stage else {
		panic!("nothing is to be shown")
	};
	let nodes = run.trace.as_ref().unwrap().nodes(descent.below(), descent.due());
	let nodes = nodes.to_vec().try_into().unwrap();
	Tasking::show(signed(CHALLENGERS[1]), id, dispute, side, nodes)
}

/// Both sides move until a step is left.
pub fn narrow(id: TaskId, dispute: u32, runs: [&Run; 2]) {
	while let Some(found) = Disputes::<Test>::get(id, dispute) {
		if !matches!(found.stage, Stage::Descending(_)) {
			return;
		}
		for (side, run) in runs.iter().enumerate() {
			assert_ok!(show(id, dispute, side as u8, run));
		}
	}
}

/// Executes the step that is in dispute, from a run that is true up to there.
pub fn execute(id: TaskId, dispute: u32, run: &Run) -> DispatchResult {
	let Stage::Executing { index, .. } = Disputes::<Test>::get(id, dispute).unwrap().stage else {
		panic!("nothing is to be executed")
	};
	let before = index as usize - 1;
	let brought = match run.states[before].clone() {
		Ok(state) => Brought::Bytes {
			module: MODULE.to_vec().try_into().unwrap(),
			state: state.try_into().unwrap(),
		},
		Err(fault) => Brought::Fault(fault),
	};
	let path = run.trace.as_ref().unwrap().proof(index - 1).unwrap().try_into().unwrap();
	Tasking::execute(signed(CHALLENGERS[1]), id, dispute, Box::new(brought), path)
		.map(drop)
		.map_err(|error| error.error)
}

/// A dispute to its end.
pub fn fight(id: TaskId, dispute: u32, runs: [&Run; 2]) {
	narrow(id, dispute, runs);
	assert_ok!(execute(id, dispute, runs[0]));
}

/// An opening of a record of a map.
pub fn opened(run: &Run, (index, most): (u32, u32)) -> OpenedRecord {
	let all = run.output.as_ref().unwrap();
	let (first, end) = record_chunks(index, most);
	let siblings = content::open_many(all, first..end).unwrap();
	let to = (end as usize * 1024).min(all.len());
	OpenedRecord {
		index,
		content: content::hash(all),
		chunks: all[first as usize * 1024..to].to_vec().try_into().unwrap(),
		siblings: siblings.try_into().unwrap(),
		module: MODULE.to_vec().try_into().unwrap(),
		input: INPUT.to_vec().try_into().unwrap(),
	}
}

/// Seals an index in one block, and refutes it in the next.
pub fn refute(id: TaskId, who: AccountId, number: u8, opened: OpenedRecord) -> DispatchResult {
	let at = (number, opened.index);
	let made = claim::refutation(&Tasking::genesis_hash(), id, &who, at, &SALT);
	Tasking::seal(signed(who), id, made)?;
	pass(1);
	Tasking::refute(signed(who), id, number, Box::new(opened), SALT)
		.map(drop)
		.map_err(|error| error.error)
}

/// Numbers of the disputes that run.
pub fn disputes(id: TaskId) -> Vec<u32> {
	let mut all: Vec<_> = Disputes::<Test>::iter_key_prefix(id).collect();
	all.sort();
	all
}

/// The numbers of the claims of a dispute.
pub fn claims_of(id: TaskId, dispute: u32) -> [Option<u8>; 2] {
	Disputes::<Test>::get(id, dispute).unwrap().sides.map(|side| match side {
		Side::Claim(number) => Some(number),
		Side::Challenger { .. } => None,
	})
}

pub fn overdue(subject: Subject) -> DispatchResult {
	Tasking::poke(signed(SUBMITTER), subject).map(drop).map_err(|error| error.error)
}
