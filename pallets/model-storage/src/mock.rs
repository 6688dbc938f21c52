//! A runtime of this pallet, balances, and a call that runs another one inside.

use crate as pallet_model_storage;
use crate::{Call, ChunkProof, DirectUpload, OnBlobComplete, UrgentCalls, H256};
use frame_support::{
	derive_impl,
	dispatch::GetDispatchInfo,
	parameter_types,
	traits::{ConstU128, ConstU32, ConstU64, Hooks},
};
use frame_system::EnsureSigned;
use sp_runtime::{
	traits::DispatchTransaction, transaction_validity::TransactionValidityError, BuildStorage,
	DispatchResult,
};
use trainyard_protocol::{
	blob::Chunked,
	job::BlockNumber,
	retention::{self, Answers, Question},
};

/// A call that dispatches another one, as batch, proxy, multisig and sudo do.
#[frame_support::pallet(dev_mode)]
pub mod nest {
	use frame_support::{dispatch::GetDispatchInfo, pallet_prelude::*};
	use frame_system::pallet_prelude::*;
	use sp_runtime::traits::Dispatchable;

	#[pallet::pallet]
	pub struct Pallet<T>(_);

	#[pallet::config]
	pub trait Config: frame_system::Config {
		type Inner: Parameter
			+ Dispatchable<RuntimeOrigin = Self::RuntimeOrigin>
			+ GetDispatchInfo
			+ From<frame_system::Call<Self>>;
		type Who: EnsureOrigin<Self::RuntimeOrigin>;
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Runs `inner` as the caller.
		pub fn nest(origin: OriginFor<T>, inner: Box<T::Inner>) -> DispatchResult {
			T::Who::ensure_origin(origin.clone())?;
			inner.dispatch(origin).map(|_| ()).map_err(|e| e.error)
		}
	}
}

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
	pub type ModelStorage = pallet_model_storage;
	#[runtime::pallet_index(3)]
	pub type Nest = crate::mock::nest;
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

impl nest::Config for Test {
	type Inner = RuntimeCall;
	type Who = EnsureSigned<AccountId>;
}

parameter_types! {
	/// Roots with which [`Completions`] was called.
	pub static Heard: Vec<H256> = Vec::new();
	/// What the author of the block before put out.
	pub static Entropy: Option<H256> = Some(H256([7; 32]));
}

/// Writes down each root with which it is called.
pub struct Completions;
impl OnBlobComplete for Completions {
	fn blob_complete(root: H256) {
		Heard::mutate(|heard| heard.push(root));
	}
}

/// BOB's remarks with event, and, as moves in a dispute, what BOB pays others.
pub struct BobsRemarks;
impl UrgentCalls<AccountId, RuntimeCall> for BobsRemarks {
	fn may_be(call: &RuntimeCall) -> bool {
		let remark =
			matches!(call, RuntimeCall::System(frame_system::Call::remark_with_event { .. }));
		remark || Self::is_move(call)
	}

	fn is_move(call: &RuntimeCall) -> bool {
		matches!(call, RuntimeCall::Balances(pallet_balances::Call::transfer_keep_alive { .. }))
	}

	fn is_urgent(who: &AccountId, call: &RuntimeCall) -> bool {
		Self::may_be(call) && *who == BOB
	}
}

pub const BASE: u128 = 1_000;
pub const PER_BYTE: u128 = 2;
pub const MAX_BLOB: u64 = 1024 * 1024;
pub const UPLOAD_PERIOD: u32 = 20;
pub const RETENTION: u32 = 100;
pub const GRACE: u32 = 10;
/// For a KiB and a block.
pub const RENT: u128 = 5;
pub const MIN_PERIOD: u32 = 8;
pub const MAX_PERIOD: u32 = 400;
pub const LOST_AFTER: u32 = 200;
/// What ordinary transactions may take of the 3,932,160 bytes of a block that normal ones have.
pub const ORDINARY: u32 = 2_000_000;

impl crate::Config for Test {
	type WeightInfo = ();
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type OnComplete = Completions;
	type DepositBase = ConstU128<BASE>;
	type DepositPerByte = ConstU128<PER_BYTE>;
	type MaxBlob = ConstU64<MAX_BLOB>;
	type UploadPeriod = ConstU32<UPLOAD_PERIOD>;
	type RentPerKib = ConstU128<RENT>;
	type Retention = ConstU32<RETENTION>;
	type MinPeriod = ConstU32<MIN_PERIOD>;
	type MaxPeriod = ConstU32<MAX_PERIOD>;
	type LostAfter = ConstU32<LOST_AFTER>;
	type Entropy = Entropy;
	type Grace = ConstU32<GRACE>;
	type RemoveStep = ConstU32<5>;
	type OrdinaryLength = ConstU32<ORDINARY>;
	type Urgent = BobsRemarks;
}

/// Owners of blobs, well funded.
pub const ALICE: AccountId = 1;
pub const BOB: AccountId = 2;
/// Has just the existential deposit.
pub const PAUPER: AccountId = 3;
pub const ENDOWMENT: u128 = 100_000_000;

pub fn new_test_ext() -> sp_io::TestExternalities {
	let mut storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	pallet_balances::GenesisConfig::<Test> {
		balances: vec![(ALICE, ENDOWMENT), (BOB, ENDOWMENT), (PAUPER, 1)],
		..Default::default()
	}
	.assimilate_storage(&mut storage)
	.unwrap();
	let mut ext = sp_io::TestExternalities::new(storage);
	ext.execute_with(|| {
		System::set_block_number(1);
		System::set_extrinsic_index(0);
		Heard::set(Vec::new());
		// A clock serves every block from the first on.
		ModelStorage::on_idle(1, frame_support::weights::Weight::MAX);
	});
	ext
}

/// Runs `test` and checks what must hold in any state before and after it.
pub fn run(test: impl FnOnce()) -> sp_io::TestExternalities {
	let mut ext = new_test_ext();
	ext.execute_with(|| {
		ModelStorage::do_try_state().unwrap();
		test();
		ModelStorage::do_try_state().unwrap();
	});
	ext
}

/// `len` bytes, no two chunks alike.
pub fn bytes(len: usize) -> Vec<u8> {
	(0..len as u64).map(|i| (i ^ (i >> 8) ^ (i >> 12)) as u8).collect()
}

/// The upload of chunk `index` of `blob`.
pub fn upload_call(blob: &Chunked, index: usize) -> RuntimeCall {
	let proof: ChunkProof = blob.proof(index).unwrap().try_into().unwrap();
	Call::upload_chunk {
		root: blob.root,
		index: index as u32,
		proof,
		bytes: blob.chunks[index].to_vec().try_into().unwrap(),
	}
	.into()
}

/// Applies `call` as an extrinsic of `who`, after the extension: the outer error is that of an
/// extrinsic that no block takes, the inner one that of the call.
pub fn apply(
	who: AccountId,
	call: RuntimeCall,
) -> Result<DispatchResult, TransactionValidityError> {
	apply_of(who, call, 0)
}

/// The same with a length of the extrinsic.
pub fn apply_of(
	who: AccountId,
	call: RuntimeCall,
	len: usize,
) -> Result<DispatchResult, TransactionValidityError> {
	let info = call.get_dispatch_info();
	DirectUpload::<Test>::new()
		.dispatch_transaction(RuntimeOrigin::signed(who), call, &info, len, 0)
		.map(|result| result.map(|_| ()).map_err(|e| e.error))
}

/// Uploads every chunk of a registered `blob`, in order.
pub fn upload_all(who: AccountId, blob: &Chunked) {
	for index in 0..blob.chunks.len() {
		apply(who, upload_call(blob, index)).unwrap().unwrap();
	}
}

/// Begins block `height`, whose predecessor's author put out something of its own.
pub fn begin(height: BlockNumber) {
	System::set_block_number(height.into());
	System::set_extrinsic_index(0);
	Entropy::set(Some(H256::from_low_u64_be(height.into())));
	ModelStorage::on_initialize(height.into());
}

/// Ends the block that began, with as much weight as `left` for what waits.
pub fn end(left: frame_support::weights::Weight) {
	let height = System::block_number();
	ModelStorage::on_idle(height, left);
	ModelStorage::on_finalize(height);
	ModelStorage::do_try_state().unwrap();
}

/// A block of this height in which nobody shows anything.
pub fn silent_block(height: BlockNumber) {
	begin(height);
	end(frame_support::weights::Weight::MAX);
}

/// Sets the height where no blocks were made between.
pub fn skip_to(height: BlockNumber) {
	System::set_block_number(height.into());
}

/// What the next block asks for, answered from these blobs.
pub fn answers(blobs: &[&Chunked]) -> Answers {
	let questions = ModelStorage::questions();
	let show = |question: Option<Question>| {
		let asked = question?;
		let blob = blobs.iter().find(|blob| blob.root == asked.root)?;
		retention::show(&asked, blob.chunks.get(asked.index as usize)?).ok()
	};
	Answers { drawn: show(questions.drawn), doubted: show(questions.doubted) }
}
