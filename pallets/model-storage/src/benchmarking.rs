//! Benchmarks of every call and of the transaction extension.

use super::{types::Marker, *};
use alloc::{vec, vec::Vec};
use frame_benchmarking::v2::*;
use frame_support::{
	dispatch::{DispatchInfo, PostDispatchInfo},
	traits::{
		fungible::{Inspect, Mutate, MutateHold},
		Get, IsSubType,
	},
};
use frame_system::{Config as SystemConfig, RawOrigin};
use sp_runtime::traits::{AsTransactionAuthorizedOrigin, DispatchTransaction, Dispatchable, One};
use trainyard_protocol::{
	blob::{self, MAX_CHUNK},
	content::Node,
	retention::{self, Answers, Question, MAX_DOUBTED},
};

/// A caller that can pay the deposit of a blob of `size` bytes.
fn funded<T: Config>(size: u64) -> T::AccountId {
	let who: T::AccountId = whitelisted_caller();
	let deposit = types::deposit_for::<T>(size).expect("the deposit of a blob is an amount");
	let rent = Pallet::<T>::rent_for(size, T::MaxPeriod::get());
	let least = T::Currency::minimum_balance().saturating_mul(10);
	let amount = deposit.saturating_add(rent).saturating_add(least);
	T::Currency::mint_into(&who, amount).expect("an account takes money");
	who
}

/// Chunks of a blob whose last one has a path of ten nodes. The largest blob of the runtime has a
/// chunk more, and paths of eleven.
const CHUNKS: u32 = 1024;

/// A blob of [`CHUNKS`] chunks that lacks only its last one, of `len` bytes. The values of the other
/// chunks are made up, so that nobody needs to hash them.
fn almost_complete<T: Config>(len: u32) -> (H256, u32, ChunkProof, ChunkBytes) {
	let bytes = vec![7u8; len as usize];
	let last = CHUNKS - 1;
	let size = u64::from(last) * u64::from(MAX_CHUNK) + u64::from(len);
	let node = blob::chunk_node(size, last).expect("it is the last chunk");
	let mut values: Vec<H256> = (0..last).map(|i| H256([i as u8; 32])).collect();
	values.push(node.value_of(size, &bytes).expect("the chunk is so long"));
	let (whole, levels) = (Node::whole(size), blob::levels(size));
	let content = whole.merge(size, levels, &values).expect("there is a value for each chunk");
	let proof = whole.part_path(size, levels, &values, last.into()).expect("it is a part");
	let root = blob::root_of(size, &content);
	Blobs::<T>::insert(
		root,
		Blob {
			owner: whitelisted_caller(),
			size,
			content,
			chunks: CHUNKS,
			stored: last,
			lost: 0,
			deposit: 0,
			rent: 0,
			since: 0,
			period: 0,
			expires: 1,
			kept: 0,
			removing: None,
		},
	);
	let (proof, bytes) = (proof.try_into(), bytes.try_into());
	(root, last, proof.expect("10 nodes"), bytes.expect("one chunk"))
}

/// An expired, complete blob of `chunks` chunks with its deposit on hold. Each of its chunks is followed
/// on the list by one of another blob, which takes its place.
fn expired<T: Config>(chunks: u32) -> (T::AccountId, H256) {
	let size = u64::from(chunks) * u64::from(MAX_CHUNK);
	let owner = funded::<T>(size);
	let deposit = types::deposit_for::<T>(size).expect("the deposit of a blob is an amount");
	let rent = Pallet::<T>::rent_for(size, T::MinPeriod::get());
	T::Currency::hold(&HoldReason::Blob.into(), &owner, deposit + rent).expect("it is funded");
	let root = H256([1; 32]);
	for blob in [root, H256([4; 32])] {
		for index in 0..chunks {
			Pallet::<T>::list(blob, index, MAX_CHUNK, H256([2; 32]), H256([5; 32]));
		}
	}
	Blobs::<T>::insert(
		root,
		Blob {
			owner: owner.clone(),
			size,
			content: H256([3; 32]),
			chunks,
			stored: chunks,
			lost: 0,
			deposit,
			rent,
			since: 0,
			period: T::MinPeriod::get(),
			expires: 0,
			kept: 0,
			removing: None,
		},
	);
	frame_system::Pallet::<T>::set_block_number(One::one());
	(owner, root)
}

/// As many doubted chunks of 1 MiB as there can be, of a blob of made-up bytes whose last chunk is real.
/// Returns the root of the blob and the chunk.
fn doubted<T: Config>() -> (H256, Vec<u8>) {
	let (root, last, _, bytes) = almost_complete::<T>(MAX_CHUNK);
	let size = u64::from(CHUNKS) * u64::from(MAX_CHUNK);
	let node = blob::chunk_node(size, last).expect("it is the last chunk");
	let value = node.value_of(size, &bytes).expect("the chunk is so long");
	let place = Place::Doubted;
	for index in CHUNKS - MAX_DOUBTED..CHUNKS {
		Chunks::<T>::insert(root, index, Chunk { hash: H256([2; 32]), value, place });
		let doubt = Doubt { root, index, since: 0 };
		Doubted::<T>::try_append(doubt).expect("there are no more");
	}
	(root, bytes.into_inner())
}

#[benchmarks(where
	T: Send + Sync,
	<T as SystemConfig>::RuntimeCall: Dispatchable<Info = DispatchInfo, PostInfo = PostDispatchInfo>
		+ IsSubType<Call<T>>
		+ From<Call<T>>
		+ From<frame_system::Call<T>>,
	<<T as SystemConfig>::RuntimeCall as Dispatchable>::RuntimeOrigin: AsTransactionAuthorizedOrigin,
)]
mod benchmarks {
	use super::*;

	#[benchmark]
	fn register() {
		let size = T::MaxBlob::get();
		let caller = funded::<T>(size);
		let content = H256([9; 32]);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), size, content, None);

		assert!(Blobs::<T>::contains_key(blob::root_of(size, &content)));
	}

	#[benchmark]
	fn upload_chunk(b: Linear<1, { MAX_CHUNK }>) {
		let caller: T::AccountId = whitelisted_caller();
		let (root, index, proof, bytes) = almost_complete::<T>(b);
		frame_system::Pallet::<T>::set_extrinsic_index(0);
		let (hash, value) = (blob::chunk_hash(&bytes), H256([3; 32]));
		TopLevelUpload::<T>::put(Marker { extrinsic: 0, hash, value });
		Brought::<T>::insert(root, &caller, 0);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), root, index, proof, bytes);

		assert!(Blobs::<T>::get(root).is_some_and(|blob| blob.is_complete()));
	}

	/// The last chunk of a large blob, which another blob of the same size has.
	#[benchmark]
	fn reuse_chunk() {
		let caller: T::AccountId = whitelisted_caller();
		let (root, index, proof, bytes) = almost_complete::<T>(MAX_CHUNK);
		let from = H256([8; 32]);
		let blob = Blobs::<T>::get(root).expect("it was made");
		let node = blob::chunk_node(blob.size, index).expect("it is the last chunk");
		let value = node.value_of(blob.size, &bytes).expect("the chunk is so long");
		Pallet::<T>::list(from, index, MAX_CHUNK, blob::chunk_hash(&bytes), value);
		Blobs::<T>::insert(from, blob);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), root, index, from, proof);

		assert!(Blobs::<T>::get(root).is_some_and(|blob| blob.is_complete()));
	}

	/// A version of one that is a version.
	#[benchmark]
	fn register_version() {
		let (_, parent) = expired::<T>(1);
		Versions::<T>::insert(parent, Version { parent: H256([7; 32]), number: 3 });
		let size = T::MaxBlob::get();
		let caller: T::AccountId = account("owner", 0, 0);
		let deposit = types::deposit_for::<T>(size).expect("the deposit of a blob is an amount");
		let rent = Pallet::<T>::rent_for(size, T::Retention::get());
		let least = T::Currency::minimum_balance().saturating_mul(10);
		T::Currency::mint_into(&caller, deposit + rent + least).expect("an account takes money");
		let content = H256([9; 32]);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), size, content, None, parent);

		let root = blob::root_of(size, &content);
		assert_eq!(Versions::<T>::get(root), Some(Version { parent, number: 4 }));
	}

	#[benchmark]
	fn renew() {
		let (owner, root) = expired::<T>(1);

		#[extrinsic_call]
		_(RawOrigin::Signed(owner), root, T::MinPeriod::get());

		assert!(Blobs::<T>::get(root).is_some_and(|blob| blob.expires > 0));
	}

	#[benchmark]
	fn adopt() {
		let (_, root) = expired::<T>(1);
		let caller: T::AccountId = account("adopter", 0, 0);
		let size = u64::from(MAX_CHUNK);
		let deposit = types::deposit_for::<T>(size).expect("the deposit of a blob is an amount");
		let rent = Pallet::<T>::rent_for(size, T::Retention::get());
		let least = T::Currency::minimum_balance().saturating_mul(10);
		T::Currency::mint_into(&caller, deposit + rent + least).expect("an account takes money");

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()), root, None);

		assert!(Blobs::<T>::get(root).is_some_and(|blob| blob.owner == caller));
	}

	/// Of the last doubted chunk, which goes back to the list, twice: what is drawn is shown, too.
	#[benchmark]
	fn prove() {
		let (root, chunk) = doubted::<T>();
		let of = Some((root, CHUNKS - 1));
		let seed = H256([6; 32]);
		Asked::<T>::put(Draw { seed, drawn: of, doubted: of, answered: false, shown: false });
		let asked = Question {
			root,
			size: u64::from(CHUNKS) * u64::from(MAX_CHUNK),
			index: CHUNKS - 1,
			hash: H256([2; 32]),
			kib: retention::kib(&seed, MAX_CHUNK),
		};
		let shown = retention::show(&asked, &chunk).expect("it is the chunk");
		let answers = Answers { drawn: Some(shown.clone()), doubted: Some(shown) };

		#[extrinsic_call]
		_(RawOrigin::None, answers);

		assert!(Asked::<T>::get().is_some_and(|asked| asked.shown));
		assert_eq!(Doubted::<T>::get().len() as u32, MAX_DOUBTED - 1);
	}

	/// A draw of the list, and the end of a block in which a chunk is doubted and another one is lost.
	#[benchmark]
	fn draw() {
		let (root, _) = doubted::<T>();
		Doubted::<T>::mutate(|all| all.pop());
		for index in 0..2 {
			Pallet::<T>::list(root, index, MAX_CHUNK, H256([2; 32]), H256([5; 32]));
		}
		LastFound::<T>::put(1);
		let late = T::LostAfter::get();
		frame_system::Pallet::<T>::set_block_number(late.into());

		#[block]
		{
			Pallet::<T>::begin_draw();
			Pallet::<T>::close_draw();
		}

		assert_eq!((RetainedCount::<T>::get(), LostChunks::<T>::get()), (1, 1));
	}

	#[benchmark]
	fn remove(n: Linear<1, { T::RemoveStep::get() }>) {
		let (owner, root) = expired::<T>(n);

		#[extrinsic_call]
		_(RawOrigin::Signed(owner), root);

		assert!(!Blobs::<T>::contains_key(root));
	}

	#[benchmark]
	fn direct_upload(b: Linear<1, { MAX_CHUNK }>) {
		let caller: T::AccountId = whitelisted_caller();
		let (root, index, proof, bytes) = almost_complete::<T>(b);
		Awaited::<T>::insert(root, 1);
		let call: <T as SystemConfig>::RuntimeCall =
			Call::<T>::upload_chunk { root, index, proof, bytes }.into();
		let info = DispatchInfo::default();
		frame_system::Pallet::<T>::set_extrinsic_index(0);

		#[block]
		{
			DirectUpload::<T>::new()
				.test_run(RawOrigin::Signed(caller).into(), &call, &info, 0, 0, |_| Ok(().into()))
				.expect("the upload is valid")
				.expect("and did nothing");
		}

		assert!(!TopLevelUpload::<T>::exists());
	}

	#[benchmark]
	fn ordinary() {
		let caller: T::AccountId = whitelisted_caller();
		let call: <T as SystemConfig>::RuntimeCall =
			frame_system::Call::<T>::remark { remark: vec![1] }.into();
		let info = DispatchInfo::default();

		#[block]
		{
			DirectUpload::<T>::new()
				.test_run(RawOrigin::Signed(caller).into(), &call, &info, 7, 0, |_| Ok(().into()))
				.expect("the call is valid")
				.expect("and did nothing");
		}

		assert_eq!(Ordinary::<T>::get(), 7);
	}

	/// A block that is full.
	#[benchmark]
	fn close_block() {
		frame_system::BlockSize::<T>::put(u32::MAX);

		#[block]
		{
			Pallet::<T>::close_block();
		}

		assert_eq!(FullBlocks::<T>::get(), 1);
	}

	impl_benchmark_test_suite!(Pallet, crate::mock::new_test_ext(), crate::mock::Test);
}
