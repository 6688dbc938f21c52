//! A runtime of this pallet and balances, with fakes for what it meets: a beacon, a blob store, a court,
//! and a market that calls `advance` when the audit asked for it.

mod audit;
mod court;
mod relay;

pub use audit::*;
pub use court::*;
pub use relay::*;

use crate as pallet_verification;
use crate::{Entry, Event, Fault, HoldReason, H256, SETTLING};
use alloc::collections::BTreeMap;
use codec::Encode;
use core::ops::Range;
use frame_support::{
	derive_impl, parameter_types,
	traits::{
		fungible::{Mutate, MutateHold},
		ConstU128, ConstU32, Hooks,
	},
};
use sp_core::{sr25519, Pair};
use sp_runtime::{BuildStorage, DispatchResult, Permill, Weight};
use trainyard_protocol::{
	audit::Decision,
	job::BlockNumber,
	pieces::{Piece, PieceSizes},
	reputation::{Deed, Role},
	seats::Resources,
	state::ExpectedTensor,
	views::Standing,
	JobId,
};
use trainyard_traits::{AwaitedBlobs, Beacon, BlobStore, JobDeeds, JobObserver, Seed, Specs};

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
	pub type Verification = pallet_verification;
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
	type ExistentialDeposit = ConstU128<1>;
	type AccountStore = System;
}

parameter_types! {
	/// Blocks after which a seed is lost.
	pub static SeedWindow: BlockNumber = 200;
	/// Blocks between two draw heights.
	pub static SeedStep: BlockNumber = 1;
	/// Varies the seeds.
	pub static SeedSalt: u64 = 0;
	/// Roots of the blobs that are awaited.
	pub static Expected: Vec<H256> = Vec::new();
	/// Blocks without room for another chunk.
	pub static FullBlocks: BlockNumber = 0;
	/// Chunks that are stored of blobs that are not complete.
	pub static Parts: Vec<(H256, u32)> = Vec::new();
	/// Roots of the blobs that are complete.
	pub static Stored: Vec<H256> = Vec::new();
	/// What somebody brought of a blob that it announced.
	pub static Brought: BTreeMap<(H256, AccountId), u64> = BTreeMap::new();
	/// Length of every blob.
	pub static BlobSize: u64 = 400;
	/// What seats get back of their claims.
	pub static Owed: Vec<(AccountId, u128)> = Vec::new();
	/// Jobs that progressed and were not looked at since.
	pub static Progressed: Vec<JobId> = Vec::new();
	/// When the market looks at [`JOB`] next.
	pub static Due: Option<BlockNumber> = None;
	/// The outcome of the audit of [`JOB`].
	pub static Outcome: Option<(Vec<Decision>, Vec<AccountId>)> = None;
	/// All that the audit of [`JOB`] came to.
	pub static Whole: Option<trainyard_traits::Outcome<AccountId>> = None;
	/// Trainers that do not open by themselves what they forced.
	pub static Silent: Vec<AccountId> = Vec::new();
	/// Where slashed bonds go.
	pub static JackpotAccount: AccountId = JACKPOT;
	/// Fewest seats of a committee.
	pub static MinSeats: u32 = 1;
	/// Most bytes that can be asked for at a time.
	pub static MaxRescue: u64 = u64::MAX;
	pub static LeastRoom: Resources = Resources { work: 0, memory_mib: 0, disk_mib: 0 };
	/// What tests gave to accounts beside what these have from the beginning.
	pub static Minted: u128 = 0;
	/// Places in the pool.
	pub static MaxPool: u32 = 32;
	/// What comes in during a turn whatever the pool's size.
	pub static FreeInflow: u128 = u128::MAX;
	pub const TurnoverShare: Permill = Permill::from_parts(62_500);
	pub const ContrarySlash: Permill = Permill::from_percent(60);
}

/// Blocks that make a seed.
pub const SEED_BLOCKS: BlockNumber = 2;

/// Seeds that are ready [`SEED_BLOCKS`] blocks after a multiple of [`SeedStep`], and lost after
/// [`SeedWindow`] more.
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
		let now = System::block_number() as u32;
		let ready = after + SEED_BLOCKS + 1;
		if now < ready {
			Seed::NotBefore(ready)
		} else if now > ready + SeedWindow::get() {
			Seed::Lost
		} else {
			let bytes = (domain, subject, after, SeedSalt::get()).encode();
			Seed::Ready(sp_io::hashing::blake2_256(&bytes).into())
		}
	}
}

/// The blobs in [`Stored`].
pub struct FakeBlobs;
impl BlobStore for FakeBlobs {
	fn is_complete(root: &H256) -> bool {
		Stored::get().contains(root)
	}
	fn size(root: &H256) -> Option<u64> {
		Self::is_complete(root).then(BlobSize::get)
	}
	fn has_chunks(root: &H256, mut chunks: Range<u32>) -> bool {
		chunks.all(|chunk| Parts::get().contains(&(*root, chunk)))
	}
}
impl AwaitedBlobs<AccountId> for FakeBlobs {
	fn owner(_: &H256) -> Option<AccountId> {
		None
	}
	#[cfg(feature = "runtime-benchmarks")]
	fn make_complete(_: &AccountId, _: u64) -> H256 {
		unreachable!("nothing here asks for it")
	}
	fn expect(root: &H256) {
		Expected::mutate(|expected| expected.push(*root));
	}
	fn release(root: &H256, _: &[AccountId]) {
		Expected::mutate(|expected| {
			let at = expected.iter().position(|other| other == root).expect("it is awaited");
			expected.remove(at);
		});
	}
	fn watch(root: &H256, who: &AccountId) {
		assert!(Expected::get().contains(root), "it is awaited");
		Brought::mutate(|brought| *brought.entry((*root, *who)).or_insert(0) += 0);
	}
	fn brought(root: &H256, who: &AccountId) -> u64 {
		assert!(Expected::get().contains(root), "it is awaited");
		Brought::mutate(|brought| brought.remove(&(*root, *who)).unwrap_or(0))
	}
	fn full_blocks() -> BlockNumber {
		FullBlocks::get()
	}
}

/// The specification of [`JOB`]: the rows root, and two tensors of a state.
pub struct FakeSpecs;
impl Specs for FakeSpecs {
	fn rows_root(job: JobId) -> Option<H256> {
		(job == JOB).then(|| SIZES.rows(CONTENTS).root())
	}
	fn tensors(job: JobId) -> Vec<ExpectedTensor> {
		let tensor = |name: &str, shape, index| ExpectedTensor {
			name: name.into(),
			shape: vec![shape],
			index,
			count: 2,
		};
		let all = vec![tensor("b", 10, 1), tensor("a", 80, 0)];
		if job == JOB {
			all
		} else {
			vec![]
		}
	}
	fn tensors_weight() -> Weight {
		Weight::zero()
	}
}

/// Notes in [`Progressed`].
pub struct FakeMarket;
impl JobObserver for FakeMarket {
	fn progressed(job: JobId) {
		Progressed::mutate(|jobs| jobs.push(job));
	}
}

pub const MIN_BOND: u128 = 1_000;
/// What a seat locks.
pub const STAKE: u128 = 100;
/// What a seat earns.
pub const FEE: u128 = 3;
/// What absence costs.
pub const ABSENCE: u128 = 5 * FEE;
/// What a false verdict costs in a recomputation.
pub const CONTRARY: u128 = STAKE * 6 / 10;
pub const UNBONDING: u32 = 15_000;
/// Blocks of a turn.
pub const TURN: u32 = 500;
pub const MAX_WAIT: u32 = 40;
pub const COMMIT: u32 = 10;
pub const REVEAL: u32 = 5;
pub const OPENING: u32 = 30;
pub const RESCUE: u32 = 8;
pub const RELAY: u32 = 4;
/// What an accusation puts at stake.
pub const CHALLENGE: u128 = 40;
/// Blocks of the window for challenges, and for which it is open again.
pub const LENGTH: u32 = 12;
pub const AGAIN: u32 = 6;
/// What the owner of the audit gives back for claims at most.
pub const STORAGE: u128 = 2_000;
/// What the bytes of the pieces of the results follow from, and the price of one.
pub const SIZES: PieceSizes = PieceSizes {
	state: 400,
	train_rows: 20,
	validation_rows: 5,
	features: 1,
	labels_per_row: 1,
	samples: 0,
	keep_every: 1,
};
/// The same of states that have samples.
pub const SAMPLED: PieceSizes = PieceSizes { samples: 1_024, ..SIZES };
/// Contents of the rows.
pub const CONTENTS: [H256; 4] = [H256([21; 32]), H256([22; 32]), H256([23; 32]), H256([24; 32])];
/// Bytes of the tensors of a state.
pub const TENSORS: [u64; 2] = [40, 320];
/// All rows: 200 bytes.
pub const ROWS: Piece = Piece::Rows { from: 0, to: 25 };
pub const BYTE: u128 = 2;
/// Segments of the results.
pub const SEGMENTS: u32 = 10;

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
	type Beacon = FakeBeacon;
	type Observer = FakeMarket;
	type Court = FakeCourt;
	type Deeds = FakeDeeds;
	type Specs = FakeSpecs;
	type Blobs = FakeBlobs;
	type Chunks = FakeChunks;
	type RelayFee = ConstU128<RELAY_FEE>;
	type RelayHour = ConstU32<HOUR>;
	type Jackpot = JackpotAccount;
	type MinBond = ConstU128<MIN_BOND>;
	type UnbondingBlocks = ConstU32<UNBONDING>;
	type MaxPool = MaxPool;
	type SeatStake = ConstU128<STAKE>;
	type LeastRoom = LeastRoom;
	type TurnoverBlocks = ConstU32<TURN>;
	type TurnoverShare = TurnoverShare;
	type FreeInflow = FreeInflow;
	type MinSeats = MinSeats;
	type CommitBlocks = ConstU32<COMMIT>;
	type RevealBlocks = ConstU32<REVEAL>;
	type OpeningBlocks = ConstU32<OPENING>;
	type RescueBlocks = ConstU32<RESCUE>;
	type MaxRescue = MaxRescue;
	type RelayBlocks = ConstU32<RELAY>;
	type MaxWaitBlocks = ConstU32<MAX_WAIT>;
	type AbsenceFees = ConstU32<5>;
	type MaxAbsences = ConstU32<3>;
	type ContrarySlash = ContrarySlash;
}

/// The job that is audited.
pub const JOB: JobId = 5;
/// Who posted it.
pub const SUBMITTER: AccountId = 1;
/// Who trained it; each delivers a result of its own where there are several.
pub const TRAINERS: [AccountId; 3] = [2, 3, 4];
/// Accounts with money to become verifiers.
pub const VERIFIERS: [AccountId; 6] = [10, 11, 12, 13, 14, 15];
pub const JACKPOT: AccountId = 99;
pub const ENDOWMENT: u128 = 100_000;
/// Bond of a verifier in these tests: well above the minimum.
pub const BOND: u128 = 10_000;

pub fn new_test_ext() -> sp_io::TestExternalities {
	let mut storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	let rich = [SUBMITTER].into_iter().chain(TRAINERS).chain(VERIFIERS);
	pallet_balances::GenesisConfig::<Test> {
		balances: rich.map(|who| (who, ENDOWMENT)).chain([(JACKPOT, 1)]).collect(),
		..Default::default()
	}
	.assimilate_storage(&mut storage)
	.unwrap();
	let mut ext = sp_io::TestExternalities::new(storage);
	ext.execute_with(|| {
		System::set_block_number(1);
		SeedWindow::set(200);
		SeedSalt::set(0);
		Noted::set(Vec::new());
		SeedStep::set(1);
		Expected::set(Vec::new());
		FullBlocks::set(0);
		Stored::set(Vec::new());
		Brought::set(BTreeMap::new());
		BlobSize::set(400);
		Parts::set(Vec::new());
		Owed::set(Vec::new());
		Progressed::set(Vec::new());
		Due::set(None);
		Outcome::set(None);
		forget_court();
		MinSeats::set(1);
		MaxRescue::set(u64::MAX);
		Minted::set(0);
		MaxPool::set(32);
		FreeInflow::set(u128::MAX);
		JackpotAccount::set(JACKPOT);
		Silent::set(Vec::new());
		Whole::set(None);
	});
	ext
}

/// As [`new_test_ext`], with places for the largest committees.
#[cfg(feature = "runtime-benchmarks")]
pub fn benchmark_ext() -> sp_io::TestExternalities {
	let mut ext = new_test_ext();
	ext.execute_with(|| {
		MaxPool::set(128);
		MaxRescue::set(1 << 30);
	});
	ext
}

/// Runs `test`, and then checks what must hold in any state and that no money was made or lost but what
/// was burned of convicted seats.
pub fn run(test: impl FnOnce()) {
	new_test_ext().execute_with(|| {
		let issuance = Balances::total_issuance();
		test();
		Verification::do_try_state().unwrap();
		assert_eq!(Balances::total_issuance() + burned(), issuance + Minted::get());
	});
}

/// What was burned so far.
pub fn burned() -> u128 {
	System::events()
		.into_iter()
		.map(|record| match record.event {
			RuntimeEvent::Verification(Event::EvidenceConvicted { burned, .. }) => burned,
			RuntimeEvent::Verification(Event::Slashed {
				amount, fault: Fault::Guessed, ..
			}) => amount / 2,
			_ => 0,
		})
		.sum()
}

/// What the verifiers of these tests declare, and what a seat needs.
pub const ROOM: Resources = Resources { work: 1_000, memory_mib: 8_192, disk_mib: 10_000 };
pub const NEEDS: Resources = Resources { work: 10, memory_mib: 1_024, disk_mib: 100 };

/// A key that can sign.
pub fn pair(number: u8) -> sr25519::Pair {
	sr25519::Pair::from_seed(&[number; 32])
}

/// The key of whoever needs one and does not sign.
pub fn key() -> sr25519::Public {
	thread_local!(static KEY: sr25519::Public = pair(1).public());
	KEY.with(|key| *key)
}

pub fn set_key(who: AccountId, key: sr25519::Public) -> DispatchResult {
	Verification::set_vrf_key(RuntimeOrigin::signed(who), key)
}

/// Registers, with no key.
pub fn register_keyless(who: AccountId, bond: u128) -> DispatchResult {
	Verification::register(RuntimeOrigin::signed(who), bond, ROOM)
}

/// Registers, and sets a key where there is none.
pub fn register(who: AccountId, bond: u128) -> DispatchResult {
	register_keyless(who, bond)?;
	match entry(who).has_key() {
		true => Ok(()),
		false => set_key(who, key()),
	}
}

/// Bonds the first `count` of [`VERIFIERS`].
pub fn bonded(count: usize) {
	for who in &VERIFIERS[..count] {
		register(*who, BOND).unwrap();
	}
}

/// The record of `who`.
pub fn entry(who: AccountId) -> Entry {
	crate::Pool::<Test>::get().get(&who).cloned().unwrap()
}

/// An entry of the pool that has been there since `now`.
pub fn seated(bond: u128, now: BlockNumber) -> Entry {
	let mut entry = Entry::new(bond, ROOM, now);
	entry.vrf.force(now, key(), SETTLING);
	entry.counted = bond;
	entry.put(Standing::Active, now);
	entry
}

/// Fills `count` places with strangers of this bond, who have been there for long.
pub fn filled(accounts: std::ops::Range<AccountId>, bond: u128) {
	let mut pool = crate::Pool::<Test>::get();
	for who in accounts {
		Balances::mint_into(&who, bond + 1).unwrap();
		Balances::hold(&HoldReason::VerifierBond.into(), &who, bond).unwrap();
		pool.try_insert(who, seated(bond, 0)).unwrap();
	}
	crate::Pool::<Test>::put(pool);
}

/// Goes to the end of the running turn.
pub fn next_turn() {
	let now = System::block_number() as u32;
	let end = (now / TURN + 1) * TURN;
	System::set_block_number(end.into());
	Verification::on_initialize(end.into());
	Verification::do_try_state().unwrap();
}

/// The bond of `who`; 0 for strangers.
pub fn bond_of(who: AccountId) -> u128 {
	crate::Pool::<Test>::get().get(&who).map_or(0, |entry| entry.bond)
}
