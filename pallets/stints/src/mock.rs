//! A runtime of this pallet and balances, with fakes for everything behind a trait: a ledger of power,
//! verifiers, and a beacon.

use crate as pallet_stints;
use crate::{Event, Phase, Report, Reports, Stints};
use codec::Encode;
use frame_support::{
	assert_ok, derive_impl, parameter_types,
	traits::{ConstU128, ConstU32, Hooks},
	weights::Weight,
};
use sp_runtime::{BuildStorage, Permill};
use std::collections::BTreeMap;
use trainyard_protocol::{
	draw,
	job::{Balance, BlockNumber},
	merkle,
	seats::Resources,
	stint::{self, ReportId, Samples, Siblings},
	MicroUt, H256,
};
use trainyard_traits::{Beacon, Drawn, Drillers, Seed, VerifierPool};

pub type AccountId = u64;
type Block = frame_system::mocking::MockBlockU32<Test>;

/// Trainers that drill.
pub const DRILLERS: [AccountId; 4] = [11, 12, 13, 14];
/// Verifiers.
pub const VERIFIERS: std::ops::Range<AccountId> = 21..41;
/// Takes what reports pay, pays fees.
pub const JACKPOT: AccountId = 99;
/// What every account but the jackpot starts with.
pub const ENDOWMENT: Balance = 100_000;
/// Existential deposit.
pub const ED: Balance = 10;
/// Bond of every trainer.
pub const BOND: Balance = 100;
/// Blocks that make a seed.
pub const SEED_BLOCKS: BlockNumber = 2;

pub const DEPOSIT: Balance = 50;
pub const MIN_PERIOD: BlockNumber = 20;
pub const MAX_STINT: BlockNumber = 200;
pub const PER_BLOCK: u32 = 2;
pub const RETARGET: BlockNumber = 100;
pub const CHECK: BlockNumber = 12;
pub const OPEN: BlockNumber = 15;
pub const CHECK_FEE: Balance = 64;

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
	#[runtime::pallet_index(26)]
	pub type Stinting = pallet_stints;
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
	/// Drilling power, as work that would add it now. It does not decay here.
	pub static Stock: BTreeMap<AccountId, MicroUt> = BTreeMap::new();
	/// Trainers whose bond was slashed, in order.
	pub static Forgers: Vec<AccountId> = Vec::new();
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
	pub const JackpotAccount: AccountId = JACKPOT;
	pub const ForgerySlash: Permill = Permill::from_percent(50);
}

/// The trainers in [`Bonds`].
pub struct FakeDrillers;
impl Drillers<AccountId> for FakeDrillers {
	fn is_trainer(who: &AccountId) -> bool {
		Self::bond(who) > 0
	}

	fn bond(who: &AccountId) -> Balance {
		Bonds::get().get(who).copied().unwrap_or(0)
	}

	fn drilled(who: &AccountId) -> MicroUt {
		Stock::get().get(who).copied().unwrap_or(0)
	}

	fn credit_drilling(who: &AccountId, work: MicroUt) {
		Stock::mutate(|all| *all.entry(*who).or_default() += work);
	}

	fn debit_drilling(who: &AccountId, work: MicroUt) {
		Stock::mutate(|all| {
			let stock = all.entry(*who).or_default();
			*stock = stock.saturating_sub(work);
		});
	}

	fn slash(who: &AccountId, part: Permill) -> Balance {
		Forgers::mutate(|list| list.push(*who));
		Stock::mutate(|all| all.remove(who));
		let taken = part.mul_floor(Self::bond(who));
		Bonds::mutate(|bonds| *bonds.entry(*who).or_default() -= taken);
		taken
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_driller(who: &AccountId) {
		Bonds::mutate(|bonds| bonds.insert(*who, BOND));
	}
}

/// The verifiers in [`Pool`].
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
		assert_eq!(*needs, stint::needs());
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

	fn release(who: &AccountId, _needs: &Resources, _present: bool) {
		Seated::mutate(|seats| {
			if let Some(at) = seats.iter().position(|other| other == who) {
				seats.remove(at);
			}
		});
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_pool() -> Vec<AccountId> {
		Pool::set(VERIFIERS.collect());
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

impl crate::Config for Test {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Drillers = FakeDrillers;
	type Verifiers = FakeVerifiers;
	type Beacon = FakeBeacon;
	type Jackpot = JackpotAccount;
	type ServiceWeight = ServiceWeight;
	type DrillerDeposit = ConstU128<DEPOSIT>;
	type MinPeriod = ConstU32<MIN_PERIOD>;
	type MaxStint = ConstU32<MAX_STINT>;
	type ReportsPerBlock = ConstU32<PER_BLOCK>;
	type RetargetBlocks = ConstU32<RETARGET>;
	type CheckBlocks = ConstU32<CHECK>;
	type OpenBlocks = ConstU32<OPEN>;
	type CheckFee = ConstU128<CHECK_FEE>;
	type ForgerySlash = ForgerySlash;
	type WeightInfo = ();
}

pub fn new_test_ext() -> sp_io::TestExternalities {
	let mut storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	let rich = DRILLERS.into_iter().chain(VERIFIERS);
	pallet_balances::GenesisConfig::<Test> {
		balances: rich.map(|who| (who, ENDOWMENT)).chain([(JACKPOT, ED + 10_000)]).collect(),
		..Default::default()
	}
	.assimilate_storage(&mut storage)
	.unwrap();
	let mut ext = sp_io::TestExternalities::new(storage);
	ext.execute_with(|| {
		System::set_block_number(1);
		Bonds::set(DRILLERS.into_iter().map(|who| (who, BOND)).collect());
		Stock::set(BTreeMap::new());
		Forgers::set(Vec::new());
		Pool::set(VERIFIERS.collect());
		Busy::set(false);
		Seated::set(Vec::new());
		Absent::set(Vec::new());
		Contrary::set(Vec::new());
		SeedSalt::set(0);
		LostSeeds::set(0);
		ServiceWeight::set(Weight::MAX);
	});
	ext
}

/// Runs `test`, and then checks what must hold in any state and that no money was made or lost.
pub fn run(test: impl FnOnce()) {
	new_test_ext().execute_with(|| {
		let issuance = Balances::total_issuance();
		test();
		Stinting::do_try_state().unwrap();
		assert_eq!(Balances::total_issuance(), issuance);
	})
}

/// Blocks until height `number`.
pub fn to(number: BlockNumber) {
	while System::block_number() < number {
		System::set_block_number(System::block_number() + 1);
		System::reset_events();
		Stinting::on_initialize(System::block_number());
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
			RuntimeEvent::Stinting(event) => Some(event),
			_ => None,
		})
		.collect()
}

/// Results of a driller's laps, true or not. Nothing here computes them.
pub fn laps(of: AccountId, count: u32) -> Vec<H256> {
	(0..count).map(|i| stint::lap_seed(&H256::from_low_u64_be(of), i)).collect()
}

/// The root over results.
pub fn root(results: &[H256]) -> H256 {
	merkle::root(&results.iter().map(stint::leaf).collect::<Vec<_>>())
}

/// Lets `who` begin a stint and report these results as soon as it may. Returns the report's number.
pub fn report(who: AccountId, results: &[H256]) -> ReportId {
	let now = System::block_number();
	if Stints::<Test>::get(who).is_none_or(|stint| now > stint.until) {
		assert_ok!(Stinting::begin(RuntimeOrigin::signed(who)));
	}
	let stint = Stints::<Test>::get(who).unwrap();
	to(stint.from);
	let laps = results.len() as u32;
	assert_ok!(Stinting::report(RuntimeOrigin::signed(who), stint.number, root(results), laps));
	Stints::<Test>::get(who).unwrap().report.unwrap()
}

/// The report with this number.
pub fn get(id: ReportId) -> Report<AccountId> {
	Reports::<Test>::get(id).unwrap()
}

/// Blocks until verifiers sit.
pub fn until_checked(id: ReportId) {
	while !matches!(get(id).phase, Phase::Checking { .. }) {
		pass(1);
	}
}

/// The verifiers that sit now.
pub fn sitting(id: ReportId) -> Vec<AccountId> {
	get(id).sitting().iter().map(|seat| seat.who).collect()
}

/// The digest of the samples of a report in `results`.
pub fn digest(id: ReportId, results: &[H256]) -> H256 {
	let found: Vec<H256> = get(id).samples.iter().map(|at| results[*at as usize]).collect();
	stint::digest(&found)
}

/// A verifier's salt.
pub const SALT: [u8; 32] = [7; 32];

/// Lets a verifier commit to a digest.
pub fn commit(id: ReportId, who: AccountId, digest: H256) {
	let made = stint::commitment(&Stinting::genesis_hash(), id, &who, &digest, &SALT);
	assert_ok!(Stinting::check(RuntimeOrigin::signed(who), id, made));
}

/// Opens the samples of a report.
pub fn open(id: ReportId, results: &[H256]) -> sp_runtime::DispatchResult {
	let report = get(id);
	let leaves: Vec<H256> = results.iter().map(stint::leaf).collect();
	let siblings = merkle::proof_many(&leaves, &report.samples).unwrap();
	let found = report.samples.iter().map(|at| results[*at as usize]).collect();
	Stinting::open(
		RuntimeOrigin::signed(report.driller),
		id,
		Samples::truncate_from(found),
		Siblings::truncate_from(siblings),
	)
}

/// Has the committee that sits find `of(seat)`, none where that is `None`, and the driller open
/// `results`, where it does. Goes on until the report is judged, or the second committee is waited for.
pub fn check(id: ReportId, opened: Option<&[H256]>, of: impl Fn(usize) -> Option<H256>) {
	until_checked(id);
	let seats = sitting(id);
	for (seat, who) in seats.iter().enumerate() {
		if let Some(digest) = of(seat) {
			commit(id, *who, digest);
		}
	}
	while !matches!(get(id).phase, Phase::Opening { .. }) {
		pass(1);
	}
	for (seat, who) in seats.iter().enumerate() {
		if let Some(digest) = of(seat) {
			assert_ok!(Stinting::check_reveal(RuntimeOrigin::signed(*who), id, digest, SALT));
		}
	}
	if let Some(results) = opened {
		assert_ok!(open(id, results));
	}
	while Reports::<Test>::get(id).is_some_and(|r| matches!(r.phase, Phase::Opening { .. })) {
		pass(1);
	}
}
