//! A runtime of this pallet and balances, with fakes for the market, for blobs and for randomness.

mod disputes;
mod fakes;
mod models;
mod outer;
mod rounds;

pub use disputes::*;
pub use fakes::*;
pub use models::*;
pub use outer::*;
pub use rounds::*;

use crate as pallet_swarm;
use crate::{Claims, Event, Peer, Swarm, Swarms};
use frame_support::{
	assert_ok, derive_impl, parameter_types,
	traits::{fungible::InspectHold, ConstU128, ConstU32, Hooks},
	weights::Weight,
};
use sp_core::{ed25519, Pair};
use sp_runtime::BuildStorage;
use std::{collections::BTreeMap, ops::Range};
use trainyard_program::needs::MachineClass;
use trainyard_protocol::{
	job::{Balance, BlockNumber, Terms},
	swarm::{self, Averaging, Curve, Pace, Payer, Plan, Reward, Stage, Stages, SwarmId},
	Text, H256,
};

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
		lottery: None,
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
