//! A runtime of this pallet and balances, and a small market whose trainers and seats are accused: it
//! has their deposits, and splits them as the plan says.

use crate as pallet_court;
use crate::{docket::Docket, DefendantOf, DisputeOf};
use alloc::collections::BTreeMap;
use frame_support::{
	derive_impl, parameter_types,
	traits::{
		fungible::Mutate,
		tokens::{Fortitude, Precision, Preservation},
		ConstU32, Hooks,
	},
	weights::Weight,
};
use sp_runtime::BuildStorage;
use trainyard_court::game::{End, Target};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	reputation::{Deed, Role},
	JobId, H256,
};
use trainyard_traits::{
	Accusation, Accused, Charged, ClockTerms, Conviction, CourtRoom, Defendant, DisputeId,
	JobDeeds, Stakes, Window, MAX_WINDOWS,
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
	#[runtime::pallet_index(1)]
	pub type Balances = pallet_balances;
	#[runtime::pallet_index(2)]
	pub type Court = pallet_court;
}

pub type AccountId = u64;
pub type Block = frame_system::mocking::MockBlock<Test>;

#[derive_impl(frame_system::config_preludes::TestDefaultConfig)]
impl frame_system::Config for Test {
	type Block = Block;
	type AccountData = pallet_balances::AccountData<u128>;
}

#[derive_impl(pallet_balances::config_preludes::TestDefaultConfig)]
impl pallet_balances::Config for Test {
	type Balance = u128;
	type ExistentialDeposit = LeastBalance;
	type AccountStore = System;
}

parameter_types! {
	/// What accounts claim, and have at stake with the market.
	pub static Claims: BTreeMap<Defendant<AccountId>, (Charged, Balance)> = BTreeMap::new();
	/// What seats revealed of a segment.
	pub static Revealed: BTreeMap<(Defendant<AccountId>, u32), End> = BTreeMap::new();
	/// The windows of jobs.
	pub static Windows: BTreeMap<JobId, Window> = BTreeMap::new();
	/// What was convicted.
	pub static Convictions: Vec<(Defendant<AccountId>, Conviction<AccountId>)> = Vec::new();
	/// What was burned of deposits.
	pub static Burned: Balance = 0;
	/// Seats whose stakes are locked by an accusation.
	pub static Locked: Vec<(JobId, AccountId)> = Vec::new();
	/// Whether the court's room is full.
	pub static IsFull: bool = false;
	/// Where deposits go that nobody else gets.
	pub static JackpotAccount: AccountId = JACKPOT;
	/// Ticks of each side.
	pub static SideClock: BlockNumber = CLOCK;
	/// Blocks of work of a defence.
	pub static DefenceWork: BlockNumber = 0;
	/// Most ticks by which a clock grows.
	pub static ClockRoom: BlockNumber = CLOCK * MAX_WINDOWS;
	/// The existential deposit.
	pub static LeastBalance: Balance = 1;
	/// Most weight of the agenda in a block.
	pub static ServiceWeight: Weight = SERVICE;
}

/// A twentieth of a block.
pub const SERVICE: Weight = Weight::from_parts(100_000_000_000, u64::MAX);
/// A challenge deposit.
pub const DEPOSIT: Balance = 600;
/// What a trainer has at stake.
pub const STAKE: Balance = 30_000;
/// What audits cost the submitter of a job of which nothing is accepted.
pub const AUDIT: Balance = 2_000;
/// Ticks of each side of a dispute.
pub const CLOCK: BlockNumber = 100;
/// Ticks to show a challenge.
pub const REVEAL: BlockNumber = 50;
/// The job.
pub const JOB: JobId = 5;
pub const SUBMITTER: AccountId = 1;
/// Those who trained it.
pub const TRAINERS: [AccountId; 3] = [2, 3, 4];
/// Those who challenge.
pub const CHALLENGERS: [AccountId; 4] = [10, 11, 12, 13];
/// A seat of the audit.
pub const SEAT: AccountId = 20;
/// Where the market has deposits.
pub const MARKET: AccountId = 98;
pub const JACKPOT: AccountId = 99;
/// Accounts of many more who challenge.
pub const CROWD: core::ops::Range<AccountId> = 1_000..2_100;
pub const ENDOWMENT: Balance = 1_000_000;
/// The window of [`JOB`].
pub const WINDOW: Window = Window { from: 1, until: 100, again: 30, length: 99 };

/// A market that moves deposits as soon as somebody is convicted.
pub struct Market;
impl Accused<AccountId> for Market {
	fn case(defendant: &Defendant<AccountId>) -> Option<Charged> {
		Claims::get().get(defendant).map(|(charged, _)| charged.clone())
	}
	fn evidence(defendant: &Defendant<AccountId>, segment: u32) -> Option<End> {
		Revealed::get().get(&(*defendant, segment)).copied()
	}
	fn stored(_: &Defendant<AccountId>, blob: &H256, _: u32) -> bool {
		*blob == H256([7; 32])
	}
	fn window(job: JobId) -> Option<Window> {
		Windows::get().get(&job).copied()
	}
	fn challenge_deposit(job: JobId) -> Option<Balance> {
		Windows::get().get(&job).map(|_| DEPOSIT)
	}
	fn clock(_: &Defendant<AccountId>, _: &Target) -> ClockTerms {
		ClockTerms { ticks: SideClock::get(), work: DefenceWork::get(), room: ClockRoom::get() }
	}
	fn convict(defendant: &Defendant<AccountId>, conviction: &Conviction<AccountId>) {
		let stake = Claims::mutate(|claims| {
			let (_, stake) = claims.get_mut(defendant).expect("it claims something");
			core::mem::take(stake)
		});
		assert!(stake > 0, "nobody is convicted twice");
		Convictions::mutate(|all| all.push((*defendant, conviction.clone())));
		let whole = stake.min(AUDIT);
		let left = stake - whole;
		let finder = match conviction.proven {
			true => left / 4,
			false => DEPOSIT.min(left / 4),
		};
		let burned = left / 2;
		let pay = |to: AccountId, amount| {
			Balances::transfer(&MARKET, &to, amount, Preservation::Expendable).unwrap();
		};
		pay(SUBMITTER, whole);
		for (who, part) in conviction.halves(finder) {
			pay(*who, part);
		}
		pay(JACKPOT, left - burned - finder);
		let exact = (Precision::Exact, Fortitude::Force);
		Balances::burn_from(&MARKET, burned, Preservation::Expendable, exact.0, exact.1).unwrap();
		Burned::mutate(|all| *all += burned);
	}
	fn moved(_: JobId) {}
	fn case_weight() -> Weight {
		Weight::zero()
	}
	fn convict_weight() -> Weight {
		Weight::zero()
	}
	#[cfg(feature = "runtime-benchmarks")]
	fn make_accused(charged: Charged) -> Option<Defendant<AccountId>> {
		let defendant = Defendant::Trainer { job: JOB, who: TRAINERS[0] };
		Claims::mutate(|claims| claims.insert(defendant, (charged, STAKE)));
		Some(defendant)
	}
}

impl Stakes<AccountId> for Market {
	fn forfeit(job: JobId, who: &AccountId, to: &Defendant<AccountId>, amount: Balance) -> Balance {
		Self::unlock(job, who);
		Balances::transfer(who, to.who(), amount, Preservation::Expendable).unwrap()
	}
	fn unlock(job: JobId, who: &AccountId) {
		Locked::mutate(|locked| {
			let at = locked.iter().position(|other| *other == (job, *who)).expect("it is locked");
			locked.remove(at);
		});
	}
}

/// Room that is full when [`IsFull`] says so.
pub struct Room;
impl CourtRoom for Room {
	fn is_full() -> bool {
		IsFull::get()
	}
	fn weight() -> Weight {
		Weight::zero()
	}
}

parameter_types! {
	/// What was noted of accounts, in order.
	pub static Noted: Vec<(Role, AccountId, Deed)> = Vec::new();
}

pub struct FakeDeeds;

impl JobDeeds<AccountId> for FakeDeeds {
	fn note(_: JobId, role: Role, who: &AccountId, deed: Deed) {
		Noted::mutate(|noted| noted.push((role, *who, deed)));
	}

	fn note_weight() -> Weight {
		Weight::zero()
	}
}

impl crate::Config for Test {
	type WeightInfo = ();
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Accused = Market;
	type Deeds = FakeDeeds;
	type Stakes = Market;
	type Room = Room;
	type Jackpot = JackpotAccount;
	type RevealBlocks = ConstU32<REVEAL>;
	type ServiceWeight = ServiceWeight;
}

pub fn new_test_ext() -> sp_io::TestExternalities {
	let mut storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	let rich =
		[SUBMITTER, SEAT, MARKET].into_iter().chain(TRAINERS).chain(CHALLENGERS).chain(CROWD);
	pallet_balances::GenesisConfig::<Test> {
		balances: rich.map(|who| (who, ENDOWMENT)).chain([(JACKPOT, 1)]).collect(),
		..Default::default()
	}
	.assimilate_storage(&mut storage)
	.unwrap();
	let mut ext = sp_io::TestExternalities::new(storage);
	ext.execute_with(|| {
		System::set_block_number(1);
		Claims::set(BTreeMap::new());
		Revealed::set(BTreeMap::new());
		Windows::set(BTreeMap::from([(JOB, WINDOW)]));
		Convictions::set(Vec::new());
		Noted::set(Vec::new());
		Burned::set(0);
		Locked::set(Vec::new());
		IsFull::set(false);
		JackpotAccount::set(JACKPOT);
		LeastBalance::set(1);
		SideClock::set(CLOCK);
		DefenceWork::set(0);
		ClockRoom::set(CLOCK * MAX_WINDOWS);
		ServiceWeight::set(SERVICE);
		Court::on_initialize(1);
	});
	ext
}

/// Runs `test`, and then checks what must hold in any state and that no money was made or lost.
pub fn run(test: impl FnOnce()) {
	new_test_ext().execute_with(|| {
		let issuance = Balances::total_issuance();
		test();
		check(issuance);
	});
}

/// Checks what must hold in any state where the issuance was this much at the beginning.
pub fn check(issuance: Balance) {
	Court::do_try_state().unwrap();
	assert_eq!(Balances::total_issuance() + Burned::get(), issuance);
	let sum: Balance =
		frame_system::Account::<Test>::iter_values().map(|a| a.data.free + a.data.reserved).sum();
	assert_eq!(Balances::total_issuance(), sum);
}

/// Goes to the next block.
pub fn next_block() {
	let now = System::block_number();
	Court::on_finalize(now);
	System::set_block_number(now + 1);
	System::reset_events();
	Court::on_initialize(now + 1);
	Court::do_try_state().unwrap();
}

/// Goes on by so many blocks, and checks what must hold after the last of them.
pub fn run_fast(blocks: BlockNumber) {
	run_unchecked(blocks);
	Court::do_try_state().unwrap();
}

/// Goes on by so many blocks, and checks nothing.
pub fn run_unchecked(blocks: BlockNumber) {
	for _ in 0..blocks {
		let now = System::block_number();
		Court::on_finalize(now);
		System::set_block_number(now + 1);
		System::reset_events();
		Court::on_initialize(now + 1);
	}
}

/// Goes on by so many blocks.
pub fn run_for(blocks: BlockNumber) {
	(0..blocks).for_each(|_| next_block());
}

/// The docket of a defendant.
pub fn docket(defendant: &DefendantOf<Test>) -> Docket {
	crate::Dockets::<Test>::get(defendant)
}

/// A dispute.
pub fn dispute(id: DisputeId) -> DisputeOf<Test> {
	crate::Disputes::<Test>::get(id).unwrap()
}

/// What an account has, free and held.
pub fn wealth(who: AccountId) -> Balance {
	use frame_support::traits::fungible::Inspect;
	Balances::total_balance(&who)
}

/// Binds `who` to an accusation, and shows it in the next block. Returns the number of the dispute.
pub fn challenge(who: AccountId, accusation: &Accusation<AccountId>) -> DisputeId {
	let salt = [who as u8; 32];
	let Accusation { defendant, target, claimed, .. } = accusation;
	let hash = Court::digest(&who, defendant, target, claimed, &salt);
	let id = crate::NextDispute::<Test>::get();
	Court::commit(RuntimeOrigin::signed(who), defendant.job(), hash).unwrap();
	next_block();
	Court::challenge(RuntimeOrigin::signed(who), accusation.clone(), salt).unwrap();
	id
}
