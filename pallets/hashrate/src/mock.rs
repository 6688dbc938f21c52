//! A runtime of this pallet with the real Babe, Grandpa, Session, Authorship and Timestamp,
//! and a chain that makes blocks with real VRF signatures.

use crate as pallet_hashrate;
use crate::{
	authorities::{AuthorVrf, BlockAuthor, KeepCandidateKeys, WeightedBabe, WeightedGrandpa},
	offences::{BabeReports, GrandpaReports, ReportWeight},
	power::{Ledger, Track},
	records::KeyOwnerProof,
	Power,
};
use codec::Encode;
use frame_support::{
	derive_impl, parameter_types,
	traits::{BuildGenesisConfig, ConstU128, ConstU32, ConstU64, OnFinalize, OnInitialize},
};
use pallet_session::SessionHandler;
use sp_consensus_babe::{
	digests::{PreDigest, PrimaryPreDigest, SecondaryPlainPreDigest},
	AllowedSlots, BabeEpochConfiguration, BABE_ENGINE_ID,
};
use sp_core::{
	crypto::{Pair, VrfSecret},
	ed25519, sr25519,
};
use sp_runtime::{
	impl_opaque_keys,
	traits::{ConvertInto, OpaqueKeys},
	BuildStorage, Digest, DigestItem, Perbill, Permill,
};
use trainyard_protocol::{job::Balance, views::WHOLE_WEIGHT};

type Block = frame_system::mocking::MockBlockU32<Test>;

/// Milliseconds of a slot.
pub const SLOT: u64 = 2_000;
/// Slots of an epoch.
pub const EPOCH: u64 = 5;
/// Blocks of a seed.
pub const SEED_BLOCKS: u32 = 2;
/// Smallest bond.
pub const MIN_BOND: Balance = 100;
/// Blocks until a bond is free.
pub const UNBONDING: u32 = 20;
/// The jackpot's account.
pub const JACKPOT: u64 = 99;
/// What everyone from 1 to 20 has.
pub const FUNDS: Balance = 10_000;

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
	pub type Timestamp = pallet_timestamp;
	#[runtime::pallet_index(2)]
	pub type Balances = pallet_balances;
	#[runtime::pallet_index(4)]
	pub type Hashrate = pallet_hashrate;
	#[runtime::pallet_index(5)]
	pub type Babe = pallet_babe;
	#[runtime::pallet_index(6)]
	pub type Grandpa = pallet_grandpa;
	#[runtime::pallet_index(7)]
	pub type Authorship = pallet_authorship;
	#[runtime::pallet_index(8)]
	pub type Session = pallet_session;
}

impl_opaque_keys! {
	pub struct SessionKeys {
		pub babe: WeightedBabe<Test>,
		pub grandpa: WeightedGrandpa<Test>,
	}
}

#[derive_impl(frame_system::config_preludes::TestDefaultConfig)]
impl frame_system::Config for Test {
	type Block = Block;
	type AccountData = pallet_balances::AccountData<Balance>;
	type BaseCallFilter = KeepCandidateKeys<Test>;
}

impl pallet_timestamp::Config for Test {
	type Moment = u64;
	type OnTimestampSet = Babe;
	type MinimumPeriod = crate::MinimumPeriod<Test>;
	type WeightInfo = ();
}

#[derive_impl(pallet_balances::config_preludes::TestDefaultConfig)]
impl pallet_balances::Config for Test {
	type Balance = Balance;
	type ExistentialDeposit = ConstU128<10>;
	type AccountStore = System;
}

parameter_types! {
	pub static BlockReward: Balance = 1_000;
	pub static RewardHalfLife: u32 = u32::MAX;
	pub static RewardTail: Balance = 0;
	pub const MinSlash: Perbill = Perbill::from_percent(10);
	pub const ReporterShare: Permill = Permill::from_percent(20);
	pub const JackpotShare: Permill = Permill::from_percent(10);
	pub const Jackpot: u64 = JACKPOT;
	/// The last height that becomes final, while finality stalls.
	pub static Stall: Option<u32> = None;
}

/// How many blocks finality is behind.
pub const LAG: u32 = 2;

/// What the chain knows to be final.
pub struct Known;

impl trainyard_traits::Finality for Known {
	fn final_height() -> u32 {
		let last = System::block_number().saturating_sub(LAG);
		Stall::get().map_or(last, |stall| stall.min(last))
	}
}

parameter_types! {
	/// Whether the authors of blocks have what these ask for.
	pub static Keeps: bool = true;
}

pub struct Data;
impl trainyard_traits::AuthorKeeps for Data {
	fn author_keeps() -> bool {
		Keeps::get()
	}
}

impl crate::Config for Test {
	type RuntimeHoldReason = RuntimeHoldReason;
	type Currency = Balances;
	type Time = Timestamp;
	type Session = Session;
	type VrfOutput = AuthorVrf<Test>;
	type Finality = Known;
	type Data = Data;
	type MinBond = ConstU128<MIN_BOND>;
	type UnbondingBlocks = ConstU32<UNBONDING>;
	type MaxCandidates = ConstU32<6>;
	type MaxAuthorities = ConstU32<4>;
	type BlockReward = BlockReward;
	type RewardHalfLife = RewardHalfLife;
	type RewardTail = RewardTail;
	type MinSlash = MinSlash;
	type ReporterShare = ReporterShare;
	type JackpotShare = JackpotShare;
	type Jackpot = Jackpot;
	type WeightInfo = ();
}

impl pallet_babe::Config for Test {
	type EpochDuration = crate::EpochLength<Test>;
	type ExpectedBlockTime = crate::SlotDuration<Test>;
	type EpochChangeTrigger = pallet_babe::ExternalTrigger;
	type DisabledValidators = Session;
	type WeightInfo = ReportWeight<Test>;
	type MaxAuthorities = ConstU32<4>;
	type MaxNominators = ConstU32<0>;
	type KeyOwnerProof = KeyOwnerProof;
	type EquivocationReportSystem = BabeReports<Test>;
}

impl<C> frame_system::offchain::CreateTransactionBase<C> for Test
where
	RuntimeCall: From<C>,
{
	type Extrinsic = frame_system::mocking::MockUncheckedExtrinsic<Test>;
	type RuntimeCall = RuntimeCall;
}

impl<C> frame_system::offchain::CreateBare<C> for Test
where
	RuntimeCall: From<C>,
{
	fn create_bare(call: RuntimeCall) -> Self::Extrinsic {
		Self::Extrinsic::new_bare(call)
	}
}

impl pallet_grandpa::Config for Test {
	type RuntimeEvent = RuntimeEvent;
	type WeightInfo = ReportWeight<Test>;
	type MaxAuthorities = ConstU32<4>;
	type MaxNominators = ConstU32<0>;
	type MaxSetIdSessionEntries = ConstU64<3>;
	type KeyOwnerProof = KeyOwnerProof;
	type EquivocationReportSystem = GrandpaReports<Test>;
}

impl pallet_authorship::Config for Test {
	type FindAuthor = BlockAuthor<Test>;
	type EventHandler = Hashrate;
}

impl pallet_session::Config for Test {
	type RuntimeEvent = RuntimeEvent;
	type ValidatorId = u64;
	type ValidatorIdOf = ConvertInto;
	type ShouldEndSession = Babe;
	type NextSessionRotation = Babe;
	type SessionManager = Hashrate;
	type SessionHandler = <SessionKeys as OpaqueKeys>::KeyTypeIdProviders;
	type Keys = SessionKeys;
	type DisablingStrategy = ();
	type WeightInfo = ();
	type Currency = Balances;
	type KeyDeposit = ConstU128<0>;
}

/// The BABE key of `who`.
pub fn babe_pair(who: u64) -> sr25519::Pair {
	sr25519::Pair::from_seed(&[who as u8; 32])
}

/// The GRANDPA key of `who`.
pub fn grandpa_pair(who: u64) -> ed25519::Pair {
	ed25519::Pair::from_seed(&[who as u8; 32])
}

/// The session keys of `who`.
pub fn keys(who: u64) -> SessionKeys {
	SessionKeys { babe: babe_pair(who).public().into(), grandpa: grandpa_pair(who).public().into() }
}

/// Gives `who` session keys.
pub fn set_keys(who: u64) {
	if pallet_session::NextKeys::<Test>::get(who).is_none() {
		System::inc_consumers(&who).unwrap();
	}
	pallet_session::NextKeys::<Test>::insert(who, keys(who));
}

/// Gives `who` a Total ECP of exactly `power` that does not decay during a test: it is
/// dated later than any block. (The floors are the whole weight, below which shares are powers.)
pub fn set_power(who: u64, power: u64) {
	let track = Track { total: 0, effective: u128::from(power) << 64, updated: u64::MAX };
	Power::<Test>::insert(who, Ledger { drilling: track, training: track });
}

/// How the chain begins.
pub struct Genesis {
	/// Trainers, each bonding [`MIN_BOND`], with keys, a candidate, and with this power.
	pub trainers: Vec<(u64, u64)>,
	/// Least share of an authority, which is its power here.
	pub min_share: u64,
}

impl Default for Genesis {
	fn default() -> Self {
		Self { trainers: vec![(1, 10), (2, 20), (3, 30)], min_share: 0 }
	}
}

impl Genesis {
	/// The chain before its first block. Session is built last, as in a runtime where its
	/// index is the highest, when trainers have their power.
	pub fn build(self) -> sp_io::TestExternalities {
		let mut storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
		let balances = (1..=20).map(|who| (who, FUNDS)).chain([(JACKPOT, 10)]).collect::<Vec<_>>();
		pallet_balances::GenesisConfig::<Test> { balances, ..Default::default() }
			.assimilate_storage(&mut storage)
			.unwrap();
		crate::GenesisConfig::<Test> {
			trainers: self.trainers.iter().map(|(who, _)| (*who, MIN_BOND, true)).collect(),
			min_share: self.min_share,
			drilling_floor: WHOLE_WEIGHT,
			training_floor: WHOLE_WEIGHT,
			slot_duration: SLOT,
			epoch_length: EPOCH,
			seed_blocks: SEED_BLOCKS,
			seed_step: 1,
			..Default::default()
		}
		.assimilate_storage(&mut storage)
		.unwrap();
		pallet_babe::GenesisConfig::<Test> {
			epoch_config: BabeEpochConfiguration {
				c: (1, 3),
				allowed_slots: AllowedSlots::PrimaryAndSecondaryPlainSlots,
			},
			..Default::default()
		}
		.assimilate_storage(&mut storage)
		.unwrap();
		pallet_grandpa::GenesisConfig::<Test>::default().assimilate_storage(&mut storage).unwrap();
		let mut ext: sp_io::TestExternalities = storage.into();
		Stall::set(None);
		ext.execute_with(|| {
			for (who, power) in &self.trainers {
				set_power(*who, *power);
			}
			pallet_session::GenesisConfig::<Test> {
				keys: self.trainers.iter().map(|(who, _)| (*who, *who, keys(*who))).collect(),
				..Default::default()
			}
			.build();
		});
		ext
	}

	/// Runs `test` on the chain, after its first block, then checks this pallet's state.
	pub fn run(self, test: impl FnOnce()) {
		let author = self.trainers.first().map(|(who, _)| *who);
		self.build().execute_with(|| {
			run_block(author.expect("a chain needs an authority"));
			test();
			Hashrate::do_try_state().unwrap();
		})
	}
}

/// The chain that benchmarks are tested on.
pub fn new_test_ext() -> sp_io::TestExternalities {
	// Some of them fill the list of candidates themselves.
	let mut ext = Genesis { trainers: vec![], min_share: 0 }.build();
	ext.execute_with(|| System::set_block_number(1));
	ext
}

/// Which slot a block claims.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
	/// With a VRF output that enters BABE's randomness.
	Primary,
	/// Without any VRF output.
	Plain,
}

/// The digest by which `author` claims `slot`, as a client makes it: an epoch that begins
/// with this very block uses what was announced for it.
fn claim(slot: u64, author: u64, claim: Claim) -> Digest {
	let begun = *Babe::genesis_slot() != 0;
	let turns = begun && slot - *Babe::current_epoch_start() >= EPOCH;
	let (authorities, randomness) = if turns {
		(pallet_babe::NextAuthorities::<Test>::get(), pallet_babe::NextRandomness::<Test>::get())
	} else {
		(Babe::authorities(), Babe::randomness())
	};
	let epoch = if begun { (slot - *Babe::genesis_slot()) / EPOCH } else { 0 };
	let pair = babe_pair(author);
	let authority_index = authorities
		.iter()
		.position(|(key, _)| *key == pair.public().into())
		.expect("the author is an authority") as u32;
	let slot = slot.into();
	let pre_digest = match claim {
		Claim::Primary => PreDigest::Primary(PrimaryPreDigest {
			authority_index,
			slot,
			vrf_signature: pair.vrf_sign(
				&sp_consensus_babe::make_vrf_transcript(&randomness, slot, epoch).into_sign_data(),
			),
		}),
		Claim::Plain => {
			PreDigest::SecondaryPlain(SecondaryPlainPreDigest { authority_index, slot })
		}
	};
	Digest { logs: vec![DigestItem::PreRuntime(BABE_ENGINE_ID, pre_digest.encode())] }
}

fn run(slot: u64, author: u64, kind: Claim) {
	let number = System::block_number() + 1;
	let parent = if number == 1 { System::parent_hash() } else { System::finalize().hash() };
	let digest = claim(slot, author, kind);
	System::reset_events();
	System::initialize(&number, &parent, &digest);
	AllPalletsWithSystem::on_initialize(number);
	Timestamp::set(RuntimeOrigin::none(), slot * SLOT).unwrap();
	AllPalletsWithSystem::on_finalize(number);
}

/// The next slot; the first is 100.
fn next_slot() -> u64 {
	(*Babe::current_slot()).max(99) + 1
}

/// A whole block by `author` in the next slot. What a test does afterwards happens at that
/// height.
pub fn run_block(author: u64) {
	run(next_slot(), author, Claim::Primary)
}

/// The same in a secondary slot without VRF output.
pub fn run_plain_block(author: u64) {
	run(next_slot(), author, Claim::Plain)
}

/// A whole block by `author` in `slot`, which is later than that of any block.
pub fn run_slot(slot: u64, author: u64) {
	run(slot, author, Claim::Primary)
}

/// Blocks by `author` until height `number`.
pub fn run_to(number: u32, author: u64) {
	while System::block_number() < number {
		run_block(author)
	}
}

/// Blocks by `author` until session `index` has begun with the last of them.
pub fn run_to_session(index: u32, author: u64) {
	while Session::current_index() < index {
		run_block(author)
	}
}

/// The session handlers, as Session calls them in genesis.
pub fn genesis_handlers(validators: &[(u64, SessionKeys)]) {
	<Test as pallet_session::Config>::SessionHandler::on_genesis_session(validators)
}

/// BABE's present weights.
pub fn babe_weights() -> Vec<u64> {
	Babe::authorities().iter().map(|(_, weight)| *weight).collect()
}

/// BABE's announced weights.
pub fn next_babe_weights() -> Vec<u64> {
	pallet_babe::NextAuthorities::<Test>::get().iter().map(|(_, weight)| *weight).collect()
}

/// GRANDPA's present weights.
pub fn grandpa_weights() -> Vec<u64> {
	Grandpa::grandpa_authorities().iter().map(|(_, weight)| *weight).collect()
}

/// This pallet's events since the last block began.
pub fn events() -> Vec<crate::Event<Test>> {
	System::events()
		.into_iter()
		.filter_map(|record| match record.event {
			RuntimeEvent::Hashrate(event) => Some(event),
			_ => None,
		})
		.collect()
}
