//! A runtime of this pallet and balances, with fakes for what it meets: a beacon, a blob store, and
//! a market that calls `advance` when the audit asked for it.

use crate as pallet_verification;
use crate::{Entry, HoldReason, H256, SETTLING};
use alloc::collections::BTreeMap;
use codec::Encode;
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
	audit::{
		AuditPhase, Decision, Findings, GroupVerdict, Leaf, Leaves, Piece, PieceSizes, Pieces,
		RejectReason, SegmentEvidence,
	},
	bundle::{Checkpoint, Evaluation},
	commitment,
	job::{BlockNumber, WorkResult},
	merkle,
	seats::Resources,
	views::{AuditView, Standing},
	JobId,
};
use trainyard_traits::{
	AuditRequest, AuditStatus, Audits, AwaitedBlobs, Beacon, BlobStore, JobObserver, Seed,
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
	/// Roots of the blobs that are complete.
	pub static Stored: Vec<H256> = Vec::new();
	/// What somebody brought of a blob that it announced.
	pub static Brought: BTreeMap<(H256, AccountId), u64> = BTreeMap::new();
	/// Length of every blob.
	pub static BlobSize: u64 = 1_000;
	/// What trainers are owed for what they stored.
	pub static Owed: Vec<(AccountId, u128)> = Vec::new();
	/// Jobs that progressed and were not looked at since.
	pub static Progressed: Vec<JobId> = Vec::new();
	/// When the market looks at [`JOB`] next.
	pub static Due: Option<BlockNumber> = None;
	/// The outcome of the audit of [`JOB`].
	pub static Outcome: Option<(Vec<Decision>, Vec<AccountId>)> = None;
	/// Where slashed bonds go.
	pub static JackpotAccount: AccountId = JACKPOT;
	/// Fewest seats of a committee.
	pub static MinSeats: u32 = 1;
	pub static LeastRoom: Resources = Resources { work: 0, memory_mib: 0, disk_mib: 0 };
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
}
impl AwaitedBlobs<AccountId> for FakeBlobs {
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
/// What a false verdict costs.
pub const CONTRARY: u128 = STAKE * 6 / 10;
pub const UNBONDING: u32 = 80;
/// Blocks of a turn.
pub const TURN: u32 = 500;
pub const MAX_WAIT: u32 = 40;
pub const COMMIT: u32 = 10;
pub const REVEAL: u32 = 5;
pub const RESCUE: u32 = 8;
pub const RELAY: u32 = 4;
/// Bytes of the pieces of the results, and the price of one.
pub const SIZES: PieceSizes = PieceSizes { state: 400, manifest: 50, files: 200 };
pub const BYTE: u128 = 2;
/// Segments of the results.
pub const SEGMENTS: u32 = 10;

impl crate::Config for Test {
	type WeightInfo = ();
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Beacon = FakeBeacon;
	type Observer = FakeMarket;
	type Blobs = FakeBlobs;
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
	type RescueBlocks = ConstU32<RESCUE>;
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
		SeedStep::set(1);
		Expected::set(Vec::new());
		FullBlocks::set(0);
		Stored::set(Vec::new());
		Brought::set(BTreeMap::new());
		BlobSize::set(1_000);
		Owed::set(Vec::new());
		Progressed::set(Vec::new());
		Due::set(None);
		Outcome::set(None);
		MinSeats::set(1);
		MaxPool::set(32);
		FreeInflow::set(u128::MAX);
		JackpotAccount::set(JACKPOT);
	});
	ext
}

/// Runs `test`, and then checks what must hold in any state and that no money was made or lost.
pub fn run(test: impl FnOnce()) {
	new_test_ext().execute_with(|| {
		let issuance = Balances::total_issuance();
		test();
		Verification::do_try_state().unwrap();
		assert_eq!(Balances::total_issuance(), issuance);
	});
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

/// A request for an audit of `groups` results by `verifiers` verifiers over 2 of 10 segments of
/// each.
pub fn request(groups: usize, verifiers: u32) -> AuditRequest<AccountId> {
	AuditRequest {
		groups: TRAINERS[..groups]
			.iter()
			.map(|who| {
				let (bundle_root, model_root) = (bundle_of(*who), H256([*who as u8; 32]));
				let result =
					WorkResult { bundle_root, model_root, segments: SEGMENTS, diverged: false };
				(result, vec![*who])
			})
			.collect(),
		parties: [SUBMITTER].into_iter().chain(TRAINERS).collect(),
		audit_segments: 2,
		verifiers,
		fee: FEE,
		needs: NEEDS,
		sizes: SIZES,
		storage_byte: BYTE,
	}
}

/// The checkpoints that a trainer commits to, as leaves.
fn checkpoints(who: AccountId) -> Vec<Checkpoint> {
	(0..=SEGMENTS)
		.map(|step| {
			let evaluation = Evaluation::new(1.0, step, 20);
			let (state, trace) = (H256([who as u8; 32]), H256([step as u8; 32]));
			Checkpoint { step, state, evaluation, trace }
		})
		.collect()
}

fn bundle_of(who: AccountId) -> H256 {
	merkle::root(&checkpoints(who).iter().map(Checkpoint::leaf).collect::<Vec<_>>())
}

/// The leaves of the states among these pieces of what `who` trained.
pub fn leaves(who: AccountId, pieces: &[Piece]) -> Leaves {
	let all = checkpoints(who);
	let hashes: Vec<H256> = all.iter().map(Checkpoint::leaf).collect();
	let leaves: Vec<Leaf> = pieces
		.iter()
		.filter_map(|piece| match piece {
			Piece::State(index) => Some(*index),
			_ => None,
		})
		.map(|index| Leaf {
			index,
			checkpoint: all[index as usize],
			path: merkle::proof(&hashes, index as usize).unwrap().try_into().unwrap(),
		})
		.collect();
	leaves.try_into().unwrap()
}

/// All that an audit of the group reads.
pub fn everything(group: usize) -> Vec<Piece> {
	let drawn = drawn()[group].clone();
	let mut states: Vec<u32> = drawn.iter().flat_map(|s| [*s, s + 1]).chain([SEGMENTS]).collect();
	states.sort();
	states.dedup();
	let mut pieces = vec![Piece::Manifest, Piece::Files];
	pieces.extend(states.into_iter().map(Piece::State));
	pieces.push(Piece::Searched);
	pieces
}

/// `who` asks for these pieces.
pub fn ask(who: AccountId, group: u32, pieces: &[Piece]) -> DispatchResult {
	let pieces: Pieces = pieces.to_vec().try_into().unwrap();
	Verification::request(RuntimeOrigin::signed(who), JOB, group, pieces)
}

/// `who` names `blob` as what holds all that is asked for of `group`, which `of` trained.
pub fn store(who: AccountId, of: AccountId, group: u32, blob: H256) -> DispatchResult {
	let asked = view().groups.get(group as usize).map_or(vec![], |group| group.asked.clone());
	Verification::rescue(RuntimeOrigin::signed(who), JOB, group, blob, leaves(of, &asked))
}

/// `who` announces `blob`, stores it, and names it as [`store`] does.
pub fn upload(who: AccountId, of: AccountId, group: u32, blob: H256) -> DispatchResult {
	Stored::mutate(|stored| stored.retain(|other| *other != blob));
	store(who, of, group, blob)?;
	bring(who, blob, BlobSize::get());
	Stored::mutate(|stored| stored.push(blob));
	store(who, of, group, blob)
}

/// `who` stores that many bytes of `blob`, which count if it announced them.
pub fn bring(who: AccountId, blob: H256, bytes: u64) {
	Brought::mutate(|brought| {
		if let Some(count) = brought.get_mut(&(blob, who)) {
			*count += bytes;
		}
	});
}

/// Opens the audit of [`JOB`], as the market does.
pub fn open(groups: usize, verifiers: u32) {
	Verification::open(JOB, request(groups, verifiers)).unwrap();
	Due::set(Some(System::block_number() as u32 + 1));
}

/// One block of the chain, with the market serving [`JOB`] when it is due or progressed.
pub fn tick() {
	let now = System::block_number() as u32 + 1;
	System::set_block_number(now.into());
	Verification::on_initialize(now.into());
	let progressed = Progressed::take().contains(&JOB);
	if progressed || Due::get().is_some_and(|due| due <= now) {
		match Verification::advance(JOB) {
			AuditStatus::Pending(at) => {
				assert!(at > now, "asked to come back in the past");
				Due::set(Some(at));
			}
			AuditStatus::Done { decisions, served, stored } => {
				Due::set(None);
				Owed::set(stored);
				Outcome::set(Some((decisions, served)));
			}
		}
	}
	Verification::do_try_state().unwrap();
}

/// Ticks until the audit is in a phase that `wanted` accepts.
pub fn tick_until(wanted: impl Fn(&AuditPhase) -> bool) {
	for _ in 0..100 {
		if wanted(&view().phase) {
			return;
		}
		tick();
	}
	panic!("still {:?} behind 100 blocks", view().phase);
}

pub fn view() -> AuditView<AccountId> {
	Verification::audit_view(JOB).unwrap()
}

/// The committee of this round.
pub fn committee() -> Vec<AccountId> {
	view().committee.into_iter().map(|member| member.verifier).collect()
}

pub fn is_committing(phase: &AuditPhase) -> bool {
	matches!(phase, AuditPhase::Committing { .. })
}

pub fn is_revealing(phase: &AuditPhase) -> bool {
	matches!(phase, AuditPhase::Revealing { .. })
}

pub fn is_rescue(phase: &AuditPhase) -> bool {
	matches!(phase, AuditPhase::Rescue { .. })
}

/// A verdict on one group, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Say {
	/// Accept, with the evidence of this number.
	Yes(u8),
	/// Accept, with this evidence, and the training stood still from the beginning.
	Still(u8),
	/// Reject.
	No,
	/// Unavailable.
	Gone,
}

/// What a member of a committee does in a round.
#[derive(Clone, Debug)]
pub enum Act {
	/// Nothing.
	Vanish,
	/// Commits, and nothing more.
	Seal,
	/// Commits and reveals this, one verdict a group.
	Speak(Vec<Say>),
}

/// Evidence for the drawn segments.
pub fn evidence(drawn: &[u32], number: u8) -> Vec<SegmentEvidence> {
	let root = H256([number; 32]);
	drawn
		.iter()
		.map(|segment| SegmentEvidence {
			segment: *segment,
			trace_root: root,
			end_state: root,
			idle_since: None,
		})
		.collect()
}

/// Segments drawn of each result.
pub fn drawn() -> Vec<Vec<u32>> {
	view().groups.into_iter().map(|group| group.drawn).collect()
}

/// Findings that say `says`, for the segments drawn now.
pub fn findings(says: &[Say]) -> Findings {
	let verdicts: Vec<GroupVerdict> = says
		.iter()
		.zip(drawn())
		.map(|(say, drawn)| match say {
			Say::Yes(number) => GroupVerdict::Accept(evidence(&drawn, *number).try_into().unwrap()),
			Say::Still(number) => {
				let mut evidence = evidence(&drawn, *number);
				evidence.iter_mut().for_each(|e| e.idle_since = Some(0));
				GroupVerdict::Accept(evidence.try_into().unwrap())
			}
			Say::No => GroupVerdict::Reject(RejectReason::WrongModel),
			Say::Gone => GroupVerdict::Unavailable,
		})
		.collect();
	verdicts.try_into().unwrap()
}

pub fn salt(who: AccountId) -> [u8; 32] {
	[who as u8; 32]
}

/// Commits `findings` for `who` in the running round.
pub fn commit(who: AccountId, findings: &Findings) -> DispatchResult {
	let hash = commitment::verdict(
		&Verification::genesis(),
		JOB,
		view().round,
		&who,
		findings,
		&salt(who),
	);
	Verification::commit(RuntimeOrigin::signed(who), JOB, hash)
}

pub fn reveal(who: AccountId, findings: &Findings) -> DispatchResult {
	Verification::reveal(RuntimeOrigin::signed(who), JOB, findings.clone(), salt(who))
}

/// Plays one round: seat `i` does `acts[i]`, or vanishes. Returns the committee, after the round.
pub fn round(acts: &[Act]) -> Vec<AccountId> {
	tick_until(is_committing);
	let (number, seats) = (view().round, committee());
	let plan: Vec<(AccountId, Act)> = seats
		.iter()
		.enumerate()
		.map(|(at, who)| (*who, acts.get(at).cloned().unwrap_or(Act::Vanish)))
		.collect();
	for (who, act) in &plan {
		match act {
			Act::Vanish => {}
			Act::Seal => commit(*who, &findings(&[])).unwrap(),
			Act::Speak(says) => commit(*who, &findings(says)).unwrap(),
		}
	}
	let over = |phase: &AuditPhase| !is_committing(phase) && !is_revealing(phase);
	tick_until(|phase| !is_committing(phase) || view().round > number);
	if is_revealing(&view().phase) {
		for (who, act) in &plan {
			if let Act::Speak(says) = act {
				reveal(*who, &findings(says)).unwrap();
			}
		}
		tick_until(over);
	}
	seats
}

/// A round in which everyone says the same about the only group.
pub fn unanimous(say: Say) -> Vec<AccountId> {
	round(&vec![Act::Speak(vec![say]); VERIFIERS.len()])
}

/// The bond of `who`; 0 for strangers.
pub fn bond_of(who: AccountId) -> u128 {
	crate::Pool::<Test>::get().get(&who).map_or(0, |entry| entry.bond)
}
