//! A runtime of this pallet and balances, with fakes for everything behind a trait: a ledger
//! of power, verifiers, and a beacon.

use crate as pallet_drilling;
use crate::{Assignment, Assignments, Event, Phase, Projects, Seat, Stage, Task};
use codec::Encode;
use frame_support::{
	assert_ok, derive_impl, parameter_types,
	traits::{ConstU128, ConstU32, ConstU8, Hooks},
	weights::Weight,
};
use sp_runtime::{BuildStorage, DispatchResult, Permill};
use std::collections::{BTreeMap, BTreeSet};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	bundle::Evaluation,
	draw,
	drill::{self, AssignmentId, Mismatch, ProjectId, Template, TrialTemplate, UnitResult},
	job::{Balance, BlockNumber},
	seats::Resources,
	MicroUt, Text, H256,
};
use trainyard_traits::{AwaitedBlobs, Beacon, BlobStore, Drawn, Drillers, Seed, VerifierPool};

pub type AccountId = u64;
type Block = frame_system::mocking::MockBlockU32<Test>;

/// Proposes projects.
pub const PROPOSER: AccountId = 1;
/// Proposes projects too.
pub const OTHER: AccountId = 2;
/// Trainers that vote.
pub const VOTERS: [AccountId; 3] = [5, 6, 7];
/// Trainers that drill.
pub const DRILLERS: [AccountId; 8] = [11, 12, 13, 14, 15, 16, 17, 18];
/// Verifiers.
pub const VERIFIERS: [AccountId; 4] = [21, 22, 23, 24];
/// Takes lost deposits, pays fees.
pub const JACKPOT: AccountId = 99;
/// What every account but the jackpot starts with.
pub const ENDOWMENT: Balance = 100_000;
/// Existential deposit.
pub const ED: Balance = 10;
/// Bond of every trainer.
pub const BOND: Balance = 100;
/// Least bond of a trainer.
pub const MIN_BOND: Balance = 60;
/// Blocks that make a seed.
pub const SEED_BLOCKS: BlockNumber = 2;

pub const PROJECT_DEPOSIT: Balance = 1_000;
pub const UNIT_DEPOSIT: Balance = 10;
pub const REVIEW: BlockNumber = 5;
pub const MIN_APPROVAL: Balance = 150;
pub const COMMIT: BlockNumber = 10;
pub const REVEAL: BlockNumber = 5;
pub const CHECK: BlockNumber = 12;
pub const KEEP: BlockNumber = 20;
pub const LIFE: BlockNumber = 10_000;
pub const CHECK_FEE: Balance = 7;
/// Blocks within which a driller returns at once.
pub const RETURN: BlockNumber = 60;
/// A project that was never there.
pub const NOTHING: ProjectId = 1_000_000;
/// Blocks of a turn.
pub const TURN: BlockNumber = 500;

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
	#[runtime::pallet_index(24)]
	pub type Drilling = pallet_drilling;
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
	/// Bonds of the registered trainers.
	pub static Bonds: BTreeMap<AccountId, Balance> = BTreeMap::new();
	/// Drilling power of everybody, as work.
	pub static Drilled: MicroUt = MicroUt::MAX;
	/// Power credited, in order.
	pub static Credited: Vec<(AccountId, MicroUt)> = Vec::new();
	/// Power taken away, in order.
	pub static Debited: Vec<(AccountId, MicroUt)> = Vec::new();
	/// Trainers whose bond was slashed, in order.
	pub static Forgers: Vec<AccountId> = Vec::new();
	/// How many drillers come in during a turn whatever the pool's size.
	pub static FreeDrillers: u32 = u32::MAX;
	pub const TurnoverShare: Permill = Permill::from_parts(62_500);
	/// Bonds of the verifiers.
	pub static VerifierBonds: BTreeMap<AccountId, Balance> = BTreeMap::new();
	/// What each of these seats was drawn for.
	pub static Needed: Vec<Resources> = Vec::new();
	/// Whether all verifiers have something else to do.
	pub static VerifiersBusy: bool = false;
	/// Seats of verifiers, not yet released.
	pub static VerifierSeats: Vec<AccountId> = Vec::new();
	/// Verifiers slashed for absence, in order.
	pub static Absent: Vec<AccountId> = Vec::new();
	/// Verifiers slashed for contradiction, in order.
	pub static Contrary: Vec<AccountId> = Vec::new();
	/// Blocks between two draw heights.
	pub static SeedStep: BlockNumber = 1;
	/// Varies the seeds.
	pub static SeedSalt: u64 = 0;
	/// The blobs that are complete: owner, length, and how many name them.
	pub static Stored: BTreeMap<H256, (AccountId, u64, u32)> = BTreeMap::new();
	/// How many more times the beacon has lost a seed.
	pub static LostSeeds: u32 = 0;
	pub static CheckShare: Permill = Permill::zero();
	pub static ServiceWeight: Weight = Weight::MAX;
	pub static JackpotAccount: AccountId = JACKPOT;
	pub const ForgerySlash: Permill = Permill::from_percent(50);
}

/// The trainers in [`Bonds`], except those whose bond is below [`MIN_BOND`].
pub struct FakeDrillers;
impl Drillers<AccountId> for FakeDrillers {
	fn is_trainer(who: &AccountId) -> bool {
		Self::bond(who) >= MIN_BOND
	}

	fn bond(who: &AccountId) -> Balance {
		Bonds::get().get(who).copied().unwrap_or(0)
	}

	fn drilled(_who: &AccountId) -> MicroUt {
		Drilled::get()
	}

	fn credit_drilling(who: &AccountId, work: MicroUt) {
		Credited::mutate(|list| list.push((*who, work)));
	}

	fn debit_drilling(who: &AccountId, work: MicroUt) {
		Debited::mutate(|list| list.push((*who, work)));
	}

	fn slash(who: &AccountId, part: Permill) -> Balance {
		Forgers::mutate(|list| list.push(*who));
		let taken = part.mul_floor(Self::bond(who));
		Bonds::mutate(|bonds| {
			if let Some(bond) = bonds.get_mut(who) {
				*bond -= taken;
			}
		});
		taken
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_driller(who: &AccountId) {
		Bonds::mutate(|bonds| bonds.insert(*who, BOND));
	}
}

/// The verifiers in [`VerifierBonds`].
pub struct FakeVerifiers;
impl VerifierPool<AccountId> for FakeVerifiers {
	fn draw(
		domain: &[u8],
		seed: &H256,
		_after: BlockNumber,
		excluded: &[AccountId],
		count: u32,
		needs: &Resources,
	) -> Drawn<AccountId> {
		let bonds = VerifierBonds::get().into_iter();
		let eligible: Vec<_> = bonds.filter(|(who, _)| !excluded.contains(who)).collect();
		if eligible.len() < count as usize {
			return Drawn::TooFew;
		}
		if VerifiersBusy::get() {
			return Drawn::Busy;
		}
		let drawn = draw::weighted(domain, seed, &eligible, count as usize);
		VerifierSeats::mutate(|seats| seats.extend(drawn.iter().copied()));
		Needed::mutate(|list| list.extend(drawn.iter().map(|_| *needs)));
		Drawn::Seated(drawn)
	}

	fn slash_absent(who: &AccountId, fee: Balance) -> Balance {
		assert_eq!(fee, CHECK_FEE);
		Absent::mutate(|list| list.push(*who));
		1
	}

	fn slash_contrary(who: &AccountId, fee: Balance) -> Balance {
		assert_eq!(fee, CHECK_FEE);
		Contrary::mutate(|list| list.push(*who));
		2
	}

	fn release(who: &AccountId, needs: &Resources, _present: bool) {
		Needed::mutate(|list| {
			if let Some(at) = list.iter().position(|other| other == needs) {
				list.remove(at);
			}
		});
		VerifierSeats::mutate(|seats| {
			if let Some(at) = seats.iter().position(|other| other == who) {
				seats.remove(at);
			}
		});
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_pool() -> Vec<AccountId> {
		VerifierBonds::set(VERIFIERS.into_iter().map(|who| (who, BOND)).collect());
		VERIFIERS.to_vec()
	}
}

/// Seeds that are ready [`SEED_BLOCKS`] blocks after a multiple of [`SeedStep`], but lost
/// [`LostSeeds`] times.
pub struct FakeBeacon;
impl Beacon for FakeBeacon {
	fn draw_height(settled: BlockNumber) -> BlockNumber {
		settled.next_multiple_of(SeedStep::get())
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

/// The blobs in [`Stored`].
pub struct FakeBlobs;
impl BlobStore for FakeBlobs {
	fn is_complete(root: &H256) -> bool {
		Stored::get().contains_key(root)
	}
	fn size(root: &H256) -> Option<u64> {
		Stored::get().get(root).map(|(_, size, _)| *size)
	}
	fn has_chunks(_: &H256, _: std::ops::Range<u32>) -> bool {
		unreachable!("whole blobs are asked for")
	}
}
impl AwaitedBlobs<AccountId> for FakeBlobs {
	fn owner(root: &H256) -> Option<AccountId> {
		Stored::get().get(root).map(|(owner, _, _)| *owner)
	}
	fn expect(root: &H256) {
		Stored::mutate(|blobs| blobs.get_mut(root).expect("it is complete").2 += 1);
	}
	fn release(root: &H256, keepers: &[AccountId]) {
		assert!(keepers.is_empty());
		Stored::mutate(|blobs| blobs.get_mut(root).expect("it was named").2 -= 1);
	}
	fn watch(_: &H256, _: &AccountId) {}
	fn brought(_: &H256, _: &AccountId) -> u64 {
		0
	}
	fn full_blocks() -> BlockNumber {
		0
	}
	#[cfg(feature = "runtime-benchmarks")]
	fn make_complete(who: &AccountId, size: u64) -> H256 {
		Stored::mutate(|blobs| blobs.insert(data(), (*who, size, 0)));
		data()
	}
}

impl crate::Config for Test {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Drillers = FakeDrillers;
	type Verifiers = FakeVerifiers;
	type Blobs = FakeBlobs;
	type Beacon = FakeBeacon;
	type Jackpot = JackpotAccount;
	type ServiceWeight = ServiceWeight;
	type ProjectDeposit = ConstU128<PROJECT_DEPOSIT>;
	type UnitDeposit = ConstU128<UNIT_DEPOSIT>;
	type MaxProjects = ConstU32<8>;
	type MaxOwnProjects = ConstU32<4>;
	type MaxUnits = ConstU32<100>;
	type LifeBlocks = ConstU32<LIFE>;
	type ReviewBlocks = ConstU32<REVIEW>;
	type MinApproval = ConstU128<MIN_APPROVAL>;
	type MinCommitBlocks = ConstU32<3>;
	type MaxCommitBlocks = ConstU32<200>;
	type RevealBlocks = ConstU32<REVEAL>;
	type CheckBlocks = ConstU32<CHECK>;
	type KeepBlocks = ConstU32<KEEP>;
	type MaxAttempts = ConstU8<3>;
	type MaxDrillers = ConstU32<16>;
	type TurnoverBlocks = ConstU32<TURN>;
	type TurnoverShare = TurnoverShare;
	type FreeInflow = FreeDrillers;
	type ReturnBlocks = ConstU32<RETURN>;
	type MaxGroups = ConstU32<2>;
	type CheckShare = CheckShare;
	type CheckFee = ConstU128<CHECK_FEE>;
	type ForgerySlash = ForgerySlash;
	type WeightInfo = ();
}

pub fn new_test_ext() -> sp_io::TestExternalities {
	let mut storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	let rich = [PROPOSER, OTHER].into_iter().chain(VOTERS).chain(DRILLERS).chain(VERIFIERS);
	pallet_balances::GenesisConfig::<Test> {
		balances: rich.map(|who| (who, ENDOWMENT)).chain([(JACKPOT, ED + 1_000)]).collect(),
		..Default::default()
	}
	.assimilate_storage(&mut storage)
	.unwrap();
	let mut ext = sp_io::TestExternalities::new(storage);
	ext.execute_with(|| {
		System::set_block_number(1);
		Bonds::set(VOTERS.into_iter().chain(DRILLERS).map(|who| (who, BOND)).collect());
		Drilled::set(MicroUt::MAX);
		Credited::set(Vec::new());
		Debited::set(Vec::new());
		Forgers::set(Vec::new());
		VerifierBonds::set(VERIFIERS.into_iter().map(|who| (who, BOND)).collect());
		FreeDrillers::set(u32::MAX);
		VerifiersBusy::set(false);
		Needed::set(Vec::new());
		VerifierSeats::set(Vec::new());
		Absent::set(Vec::new());
		Contrary::set(Vec::new());
		Stored::set([(data(), (PROPOSER, trial().file_bytes()[0], 0))].into());
		SeedSalt::set(0);
		SeedStep::set(1);
		LostSeeds::set(0);
		CheckShare::set(Permill::zero());
		ServiceWeight::set(Weight::MAX);
		JackpotAccount::set(JACKPOT);
	});
	ext
}

/// Runs `test`, and then checks what must hold in any state and that no money was made or lost.
pub fn run(test: impl FnOnce()) {
	new_test_ext().execute_with(|| {
		let issuance = Balances::total_issuance();
		test();
		Drilling::do_try_state().unwrap();
		assert_eq!(Balances::total_issuance(), issuance);
		let mut seated: Vec<_> = Assignments::<Test>::iter_values()
			.flat_map(|unit| unit.verifiers)
			.map(|seat| seat.who)
			.collect();
		let mut seats = VerifierSeats::get();
		let named: usize = Projects::<Test>::iter_values().map(|project| project.data.len()).sum();
		let awaited: u32 = Stored::get().values().map(|(_, _, names)| names).sum();
		assert_eq!(awaited as usize, named, "data stay as long as a project is open");
		seated.sort();
		seats.sort();
		assert_eq!(seats, seated, "a seat is released when its recomputation ends");
	});
}

pub fn signed(who: AccountId) -> RuntimeOrigin {
	RuntimeOrigin::signed(who)
}

/// Makes a block. Returns the weight of its beginning.
pub fn next_block() -> Weight {
	let now = System::block_number() + 1;
	System::set_block_number(now);
	let used = Drilling::on_initialize(now);
	Drilling::do_try_state().unwrap();
	used
}

/// Makes `count` blocks.
pub fn blocks(count: u32) {
	for _ in 0..count {
		next_block();
	}
}

/// Events of this pallet so far.
pub fn events() -> Vec<Event<Test>> {
	System::events()
		.into_iter()
		.filter_map(|record| match record.event {
			RuntimeEvent::Drilling(event) => Some(event),
			_ => None,
		})
		.collect()
}

/// A chain of 256 x 256 matrices.
pub fn template() -> Template {
	Template::Chain { size: 256, links: 16 }
}

/// The work of a unit of [`template`].
pub fn work() -> MicroUt {
	template().difficulty().unwrap()
}

/// A trial with two learning rates.
pub fn trial() -> Template {
	let mut spec = JobSpec::example();
	spec.training.input_noise_nano = 1_000_000;
	let rates = vec![10_000_000, 20_000_000].try_into().unwrap();
	Template::Trial(TrialTemplate { spec, learning_rates_nano: rates })
}

/// The blob with the data of [`trial`].
pub fn data() -> H256 {
	H256::repeat_byte(0xda)
}

/// A score that units of [`trial`] may have.
pub fn score(loss: f32) -> Evaluation {
	let labels = JobSpec::example().dataset.validation_rows;
	Evaluation::new(loss, labels / 2, labels)
}

/// Proposes by `who`.
pub fn propose_by(
	who: AccountId,
	template: Template,
	rule: Mismatch,
	replicas: u8,
	units: u32,
) -> DispatchResult {
	let title = Text::new("a project").unwrap();
	let data = match template {
		Template::Trial(_) => vec![data()],
		_ => Vec::new(),
	};
	let data = data.try_into().unwrap();
	Drilling::propose(signed(who), title, template, data, rule, replicas, units, COMMIT)
}

/// Proposes a project of chains with majority rule; its number.
pub fn propose(replicas: u8, units: u32) -> ProjectId {
	assert_ok!(propose_by(PROPOSER, template(), Mismatch::Majority, replicas, units));
	crate::NextProject::<Test>::get() - 1
}

/// Votes a project through.
pub fn approve(id: ProjectId) {
	for who in VOTERS {
		assert_ok!(Drilling::vote(signed(who), id, true));
	}
	while project(id).stage == Stage::Review {
		next_block();
	}
	assert_eq!(project(id).stage, Stage::Active);
}

/// An active project of chains.
pub fn active(rule: Mismatch, replicas: u8, units: u32) -> ProjectId {
	assert_ok!(propose_by(PROPOSER, template(), rule, replicas, units));
	let id = crate::NextProject::<Test>::get() - 1;
	approve(id);
	id
}

/// Notes that verifiers have had the data of a project.
pub fn prove(id: ProjectId) {
	Projects::<Test>::mutate(id, |project| project.as_mut().unwrap().proven = true);
}

/// Enlists the first `count` of [`DRILLERS`].
pub fn enlisted(count: usize) {
	for who in &DRILLERS[..count] {
		assert_ok!(enlist(*who));
	}
}

/// Enlists `who` for all projects that are open; for one that was never there, where none is.
pub fn enlist(who: AccountId) -> DispatchResult {
	let open = crate::OpenProjects::<Test>::get();
	if open.is_empty() {
		// As if it had chosen a project that ended since.
		crate::OpenProjects::<Test>::mutate(|open| open.try_push(NOTHING).unwrap());
		let enlisted = Drilling::enlist(signed(who), vec![NOTHING].try_into().unwrap());
		crate::OpenProjects::<Test>::kill();
		return enlisted;
	}
	Drilling::enlist(signed(who), open.into_inner().try_into().unwrap())
}

pub fn project(id: ProjectId) -> crate::Project<AccountId> {
	Projects::<Test>::get(id).unwrap()
}

pub fn unit(id: AssignmentId) -> Assignment<AccountId> {
	Assignments::<Test>::get(id).unwrap()
}

pub fn who(seats: &[Seat<AccountId>]) -> Vec<AccountId> {
	seats.iter().map(|seat| seat.who).collect()
}

/// Makes blocks until assignment `id` is there, in a phase that `wanted` accepts.
pub fn until(id: AssignmentId, wanted: impl Fn(&Phase) -> bool) {
	for _ in 0..100 {
		if Assignments::<Test>::get(id).is_some_and(|unit| wanted(&unit.phase)) {
			return;
		}
		next_block();
	}
	panic!("no such phase in 100 blocks: {:?}", Assignments::<Test>::get(id));
}

/// Makes blocks until assignment `id` is over.
pub fn until_over(id: AssignmentId) {
	for _ in 0..100 {
		if !Assignments::<Test>::contains_key(id) {
			return;
		}
		next_block();
	}
	panic!("not over in 100 blocks: {:?}", Assignments::<Test>::get(id));
}

pub fn committing(phase: &Phase) -> bool {
	matches!(phase, Phase::Committing { .. })
}

pub fn revealing(phase: &Phase) -> bool {
	matches!(phase, Phase::Revealing { .. })
}

pub fn settling(phase: &Phase) -> bool {
	matches!(phase, Phase::Settling { .. })
}

pub fn checking(phase: &Phase) -> bool {
	matches!(phase, Phase::CheckCommitting { .. })
}

pub fn check_revealing(phase: &Phase) -> bool {
	matches!(phase, Phase::CheckRevealing { .. })
}

pub fn result(number: u8) -> UnitResult {
	UnitResult { state: H256::repeat_byte(number), score: None }
}

pub fn salt(who: AccountId) -> [u8; 32] {
	[who as u8; 32]
}

fn sealed(who: AccountId, id: AssignmentId, result: &UnitResult) -> H256 {
	drill::commitment(&Drilling::genesis_hash(), id, &who, result, &salt(who))
}

pub fn commit(who: AccountId, id: AssignmentId, result: UnitResult) -> DispatchResult {
	Drilling::commit(signed(who), id, sealed(who, id, &result))
}

pub fn reveal(who: AccountId, id: AssignmentId, result: UnitResult) -> DispatchResult {
	Drilling::reveal(signed(who), id, result, salt(who))
}

pub fn check(who: AccountId, id: AssignmentId, result: UnitResult) -> DispatchResult {
	Drilling::check(signed(who), id, sealed(who, id, &result))
}

pub fn check_reveal(who: AccountId, id: AssignmentId, result: UnitResult) -> DispatchResult {
	Drilling::check_reveal(signed(who), id, result, salt(who))
}

/// What someone does in an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
	/// Nothing.
	Vanish,
	/// Commits, and nothing more.
	Seal,
	/// Says that the data are not to be had.
	Decline,
	/// Commits and reveals this.
	Say(u8),
}

/// Lets the members of assignment `id` do `acts`, in the order of their seats, up to the
/// judgement. Returns the members.
pub fn play(id: AssignmentId, acts: &[Act]) -> Vec<AccountId> {
	until(id, committing);
	let members = who(&unit(id).members);
	assert_eq!(members.len(), acts.len());
	for (who, act) in members.iter().zip(acts) {
		match act {
			Act::Vanish => {}
			Act::Decline => Drilling::decline(signed(*who), id).unwrap(),
			Act::Seal => commit(*who, id, result(0)).unwrap(),
			Act::Say(number) => commit(*who, id, result(*number)).unwrap(),
		}
	}
	while Assignments::<Test>::get(id).is_some_and(|unit| committing(&unit.phase)) {
		next_block();
	}
	if Assignments::<Test>::get(id).is_some_and(|unit| revealing(&unit.phase)) {
		for (who, act) in members.iter().zip(acts) {
			if let Act::Say(number) = act {
				assert_ok!(reveal(*who, id, result(*number)));
			}
		}
		while Assignments::<Test>::get(id).is_some_and(|unit| revealing(&unit.phase)) {
			next_block();
		}
	}
	members
}

/// The same for the verifiers who recompute it, up to its end. Returns the verifiers.
pub fn play_check(id: AssignmentId, acts: &[Act]) -> Vec<AccountId> {
	until(id, checking);
	let verifiers = who(&unit(id).verifiers);
	assert_eq!(verifiers.len(), acts.len());
	for (who, act) in verifiers.iter().zip(acts) {
		match act {
			Act::Vanish => {}
			Act::Decline => Drilling::decline(signed(*who), id).unwrap(),
			Act::Seal => check(*who, id, result(0)).unwrap(),
			Act::Say(number) => check(*who, id, result(*number)).unwrap(),
		}
	}
	while Assignments::<Test>::get(id).is_some_and(|unit| checking(&unit.phase)) {
		next_block();
	}
	if Assignments::<Test>::get(id).is_some_and(|unit| check_revealing(&unit.phase)) {
		for (who, act) in verifiers.iter().zip(acts) {
			if let Act::Say(number) = act {
				assert_ok!(check_reveal(*who, id, result(*number)));
			}
		}
		until_over(id);
	}
	verifiers
}

/// Accounts in the pool that have no unit: they are ready, or already in a batch.
pub fn idle() -> BTreeSet<AccountId> {
	let (ready, batch) = (crate::Ready::<Test>::get(), crate::BatchDrillers::<Test>::get());
	ready.into_iter().chain(batch.into_iter().map(|(who, _)| who)).collect()
}

/// How many times unit `index` of a project was issued, where it waits to be issued again or is
/// already planned.
pub fn attempts(project: ProjectId, index: u32) -> Option<u8> {
	let planned = crate::BatchPlan::<Test>::get();
	let slot = planned.iter().find(|slot| (slot.project, slot.index) == (project, index));
	slot.map(|slot| slot.attempt).or_else(|| crate::Retries::<Test>::get(project, index))
}

/// Height at which assignment `id` is looked at next.
pub fn due(id: AssignmentId) -> Option<BlockNumber> {
	crate::Due::<Test>::get(Task::Unit(id))
}
