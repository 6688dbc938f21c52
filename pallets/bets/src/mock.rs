//! A runtime of this pallet and balances, with a fake for results.

use crate as pallet_bets;
use crate::{Bets, Event, Offers};
use frame_support::{
	assert_ok, derive_impl, parameter_types,
	traits::{fungible::InspectHold, ConstU128, ConstU32, ConstU64, Hooks},
	weights::Weight,
};
use sp_runtime::BuildStorage;
use std::collections::BTreeMap;
use trainyard_protocol::{
	bets::{Bet, BetEnding, BetId, Odds, Offer, OfferId, Offered, Outcome, Panel, Side, Statement},
	job::{Balance, BlockNumber},
	JobId, H256,
};
use trainyard_traits::{ResultStage, ResultStanding, Results};

pub type AccountId = u64;
type Block = frame_system::mocking::MockBlockU32<Test>;

/// Delivered the result.
pub const TRAINER: AccountId = 1;
/// Bet on what others delivered.
pub const ANNA: AccountId = 2;
pub const BERT: AccountId = 3;
/// On panels.
pub const JUDGES: [AccountId; 3] = [11, 12, 13];
/// Without anything.
pub const POOR: AccountId = 20;
pub const JACKPOT: AccountId = 99;
pub const ENDOWMENT: Balance = 1_000_000;
/// Existential deposit.
pub const ED: Balance = 50;
pub const OFFER_DEPOSIT: Balance = 7;
pub const BET_DEPOSIT: Balance = 3;
pub const MIN: Balance = 10;
pub const POLL: BlockNumber = 20;
pub const LATE: BlockNumber = 5;
pub const MOST: BlockNumber = 1_000;
/// What a conviction costs the trainer for good.
pub const AT_STAKE: Balance = 5_000;
pub const JOB: JobId = 4;

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
	#[runtime::pallet_index(33)]
	pub type Betting = pallet_bets;
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
	/// Where results stand. What is not here is not known.
	pub static Known: BTreeMap<Statement, ResultStanding<AccountId>> = BTreeMap::new();
	pub static ServiceWeight: Weight = Weight::MAX;
}

pub struct FakeResults;
impl Results<AccountId> for FakeResults {
	fn standing(statement: &Statement) -> Option<ResultStanding<AccountId>> {
		Known::get().get(statement).cloned()
	}

	fn standing_weight() -> Weight {
		Weight::from_parts(100, 0)
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_open(who: &AccountId) -> Option<(JobId, H256)> {
		let own = vec![*who];
		let standing = ResultStanding { own, at_stake: Balance::MAX, stage: ResultStage::Open };
		Known::mutate(|all| all.insert(result(), standing));
		Some((JOB, root()))
	}
}

impl crate::Config for Test {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Results = FakeResults;
	type Jackpot = ConstU64<JACKPOT>;
	type ServiceWeight = ServiceWeight;
	type PollBlocks = ConstU32<POLL>;
	type LateBlocks = ConstU32<LATE>;
	type MaxBlocks = ConstU32<MOST>;
	type MinStake = ConstU128<MIN>;
	type OfferDeposit = ConstU128<OFFER_DEPOSIT>;
	type BetDeposit = ConstU128<BET_DEPOSIT>;
	type WeightInfo = ();
}

pub const ALL: [AccountId; 7] = [TRAINER, ANNA, BERT, JUDGES[0], JUDGES[1], JUDGES[2], JACKPOT];

pub fn new_test_ext() -> sp_io::TestExternalities {
	let mut storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	pallet_balances::GenesisConfig::<Test> {
		balances: ALL.map(|who| (who, ENDOWMENT)).to_vec(),
		..Default::default()
	}
	.assimilate_storage(&mut storage)
	.unwrap();
	let mut ext = sp_io::TestExternalities::new(storage);
	ext.execute_with(|| {
		System::set_block_number(1);
		ServiceWeight::set(Weight::MAX);
		Known::set(BTreeMap::new());
		stage(ResultStage::Open);
	});
	ext
}

/// Runs `test`, and then checks what must hold in any state, and that no money came or went.
pub fn run(test: impl FnOnce()) {
	new_test_ext().execute_with(|| {
		let money = Balances::total_issuance();
		test();
		check();
		assert_eq!(Balances::total_issuance(), money);
	})
}

/// Checks what must hold in any state.
pub fn check() {
	Betting::do_try_state().unwrap();
}

pub fn root() -> H256 {
	H256::repeat_byte(7)
}

/// The trainer's result is right, for as long as no time for late proof belongs to it.
pub fn result() -> Statement {
	Statement::Result { job: JOB, root: root(), late: false }
}

/// A claim of a task of the trainer, which stands where its result stands.
pub fn task() -> Statement {
	Statement::Task { task: 4, root: root() }
}

pub fn words() -> Statement {
	Statement::Words { hash: H256::repeat_byte(8) }
}

/// Lets the trainer's result stand like this.
pub fn stage(stage: ResultStage) {
	let standing = ResultStanding { own: vec![TRAINER], at_stake: AT_STAKE, stage };
	Known::mutate(|all| {
		let late = Statement::Result { job: JOB, root: root(), late: true };
		for statement in [result(), late, task()] {
			all.insert(statement, standing.clone());
		}
	});
}

/// Lets the job be over like this, by a conviction now where it was one.
pub fn over(outcome: Outcome) {
	let by_court = matches!(outcome, Outcome::Wrong | Outcome::Forfeited);
	stage(ResultStage::Over { outcome, convicted: by_court.then(System::block_number) });
}

/// Blocks until height `number`.
pub fn to(number: BlockNumber) {
	while System::block_number() < number {
		System::set_block_number(System::block_number() + 1);
		System::reset_events();
		Betting::on_initialize(System::block_number());
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
			RuntimeEvent::Betting(event) => Some(event),
			_ => None,
		})
		.collect()
}

/// How bets ended since the last block began.
pub fn endings() -> Vec<BetEnding> {
	let ending = |event| match event {
		Event::BetEnded { ending, .. } => Some(ending),
		_ => None,
	};
	events().into_iter().filter_map(ending).collect()
}

pub fn signed(who: AccountId) -> RuntimeOrigin {
	RuntimeOrigin::signed(who)
}

/// Two of three judges, for 50 blocks.
pub fn panel() -> Panel<AccountId> {
	Panel { members: JUDGES.to_vec().try_into().unwrap(), threshold: 2, blocks: 50 }
}

/// 1,000 on a side at these odds, for 100 blocks.
pub fn offered(side: Option<Side>, maker: u32, taker: u32) -> Offered<AccountId> {
	Offered {
		side,
		odds: Odds { maker, taker },
		stake: 1_000,
		until: System::block_number() + 100,
		notice: 0,
		only: None,
		panel: None,
	}
}

pub fn make(who: AccountId, statement: Statement, offered: Offered<AccountId>) -> OfferId {
	let id = crate::NextOffer::<Test>::get();
	assert_ok!(Betting::offer(signed(who), statement, offered));
	id
}

pub fn take(who: AccountId, offer: OfferId, side: Side, amount: Balance) -> BetId {
	let id = crate::NextBet::<Test>::get();
	assert_ok!(Betting::take(signed(who), offer, side, amount));
	id
}

/// The trainer's standing offer, 10 to 1, of which Anna takes all, as bet 0.
pub fn bet_with_trainer() -> BetId {
	let offer = make(TRAINER, result(), offered(Some(Side::Right), 10, 1));
	take(ANNA, offer, Side::Wrong, 100)
}

pub fn offer(id: OfferId) -> Offer<AccountId> {
	Offers::<Test>::get(id).unwrap()
}

pub fn bet(id: BetId) -> Bet<AccountId> {
	Bets::<Test>::get(id).unwrap()
}

pub fn free(who: AccountId) -> Balance {
	Balances::free_balance(who)
}

pub fn held(who: AccountId) -> Balance {
	Balances::total_balance_on_hold(&who)
}

/// What somebody has more than in the beginning.
pub fn gain(who: AccountId) -> i128 {
	free(who) as i128 + held(who) as i128 - ENDOWMENT as i128
}
