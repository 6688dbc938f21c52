//! Blocks full of bytes: who pays, and that models still enter.

use frame_support::{assert_ok, traits::fungible::Inspect};
use pallet_transaction_payment::{Multiplier, NextFeeMultiplier};
use sp_keyring::Sr25519Keyring::{self, Bob, Charlie};
use sp_runtime::{transaction_validity::InvalidTransaction, FixedPointNumber, Perquintill};
use trainyard_protocol::{
	blob::{Chunked, MAX_CHUNK},
	H256,
};
use trainyard_runtime::{
	configs::{fees, system::OrdinaryLength},
	*,
};
use trainyard_sandbox::Chain;
use trainyard_traits::AwaitedBlobs;

fn upload(blob: &Chunked, index: usize) -> RuntimeCall {
	pallet_model_storage::Call::upload_chunk {
		root: blob.root,
		index: index as u32,
		proof: blob.proof(index).unwrap().try_into().unwrap(),
		bytes: blob.chunks[index].to_vec().try_into().unwrap(),
	}
	.into()
}

fn bytes() -> Vec<u8> {
	(0..80 * MAX_CHUNK).map(|i| (i ^ (i >> 8)) as u8).collect()
}

/// A chain on which //Bob registered a blob, and a running job names it.
fn with_awaited(blob: &Chunked, size: usize) -> Chain {
	let mut chain = Chain::development();
	chain.run(1);
	let (size, content) = (size as u64, blob.content);
	assert_ok!(
		chain.call(Bob, pallet_model_storage::Call::register { size, content, period: None })
	);
	chain.state(|| <ModelStorage as AwaitedBlobs<AccountId>>::expect(&blob.root));
	chain
}

fn balance(chain: &mut Chain, who: Sr25519Keyring) -> Balance {
	chain.state(|| <Balances as Inspect<AccountId>>::total_balance(&who.to_account_id()))
}

fn multiplier(chain: &mut Chain) -> Multiplier {
	chain.state(TransactionPayment::next_fee_multiplier)
}

/// Fills the open block with remarks of //Charlie. Returns how many bytes of remarks it took.
pub(crate) fn flood(chain: &mut Chain) -> u32 {
	let mut taken = 0;
	for len in [350_000usize, 20_000, 1_000] {
		loop {
			let remark = RuntimeCall::System(frame_system::Call::remark { remark: vec![7; len] });
			match chain.apply(Charlie, remark) {
				Ok(result) => {
					assert_ok!(result);
					taken += len as u32;
				}
				Err(error) => {
					assert_eq!(error, InvalidTransaction::ExhaustsResources.into());
					break;
				}
			}
		}
	}
	taken
}

/// Until chunks had room of their own, eleven remarks of 350 kB kept every large chunk out of a
/// block, for 0.39 TRY: 3.9 TRY a minute, and trainers that could not store their models lost their
/// deposits.
#[test]
fn chunks_enter_blocks_that_are_full_of_remarks() {
	let bytes = bytes();
	let blob = Chunked::new(&bytes);
	assert_eq!(blob.chunks[0].len() as u32, MAX_CHUNK);
	let mut chain = with_awaited(&blob, bytes.len());
	for block in 0..3 {
		let before = balance(&mut chain, Charlie);
		chain.begin();
		let taken = flood(&mut chain);
		assert!(taken > OrdinaryLength::get() - 20_000, "the room is used: {taken}");
		for chunk in 0..2 {
			let stored = chain.apply(Bob, upload(&blob, 2 * block + chunk));
			assert_eq!(stored, Ok(Ok(())), "block {block}, chunk {chunk} after {taken} bytes");
		}
		assert!(chain.apply(Bob, upload(&blob, 79)).is_err(), "there is room for two");
		chain.end();
		let paid = before - balance(&mut chain, Charlie);
		// 0.16 TRY for the bytes, and the rest for 20 transactions and more.
		assert!((TRY / 6..TRY / 2).contains(&paid), "{paid}");
	}
	let full = chain.state(|| <ModelStorage as AwaitedBlobs<AccountId>>::full_blocks());
	assert_eq!(full, 3);
}

/// Chunks had room, but the registration that must come before them had none.
#[test]
fn an_awaited_blob_is_registered_in_a_block_that_is_full_of_remarks() {
	let bytes = bytes();
	let blob = Chunked::new(&bytes);
	let mut chain = Chain::development();
	chain.run(1);
	chain.begin();
	flood(&mut chain);
	let small = || RuntimeCall::System(frame_system::Call::remark { remark: vec![] });
	while let Ok(result) = chain.apply(Charlie, small()) {
		assert_ok!(result);
	}
	let register = || -> RuntimeCall {
		let (size, content) = (bytes.len() as u64, blob.content);
		pallet_model_storage::Call::register { size, content, period: None }.into()
	};
	assert!(chain.apply(Bob, register()).is_err(), "nobody awaits it");
	chain.state(|| <ModelStorage as AwaitedBlobs<AccountId>>::expect(&blob.root));
	assert_eq!(chain.apply(Bob, register()), Ok(Ok(())));
	chain.end();
	let full = chain.state(|| <ModelStorage as AwaitedBlobs<AccountId>>::full_blocks());
	assert_eq!(full, 1);
}

/// What no job waits for shares the room of ordinary transactions while a job waits for anything, and where none
/// does it takes the room for that, too; but not that of moves and of the calls around chunks.
#[test]
fn a_chunk_that_nobody_awaits_has_no_room_of_its_own() {
	let bytes = bytes();
	let blob = Chunked::new(&bytes);
	let mut chain = with_awaited(&blob, bytes.len());
	let other = H256::repeat_byte(9);
	chain.state(|| {
		<ModelStorage as AwaitedBlobs<AccountId>>::release(&blob.root, &[]);
		// Nothing of it is here.
		<ModelStorage as AwaitedBlobs<AccountId>>::expect(&other);
	});
	chain.begin();
	assert_ok!(chain.apply(Bob, upload(&blob, 0)).unwrap());
	assert!(chain.apply(Bob, upload(&blob, 1)).is_err());
	chain.end();
	chain.state(|| <ModelStorage as AwaitedBlobs<AccountId>>::release(&other, &[]));
	chain.begin();
	for index in 1..4 {
		assert_ok!(chain.apply(Bob, upload(&blob, index)).unwrap());
	}
	assert!(chain.apply(Bob, upload(&blob, 4)).is_err());
	chain.end();
}

#[test]
fn bytes_raise_fees_as_weight_does_and_awaited_chunks_raise_none() {
	let bytes = bytes();
	let blob = Chunked::new(&bytes);
	let mut chain = with_awaited(&blob, bytes.len());
	for block in 0..2 {
		chain.begin();
		for chunk in 0..3 {
			assert_ok!(chain.apply(Bob, upload(&blob, 3 * block + chunk)).unwrap());
		}
		chain.end();
	}
	assert_eq!(multiplier(&mut chain), Multiplier::from_u32(1));
	for _ in 0..5 {
		chain.begin();
		flood(&mut chain);
		chain.end();
	}
	let raised = multiplier(&mut chain);
	// Five times (1 + 75e-6 x 3/4), less what a block lacked of being full.
	let least = Multiplier::saturating_from_rational(1_000_270, 1_000_000);
	let most = Multiplier::saturating_from_rational(1_000_282, 1_000_000);
	assert!(least < raised && raised < most, "{raised:?}");
	chain.run(1);
	assert!(multiplier(&mut chain) < raised, "an empty block lowers it");
}

#[test]
fn the_rule_for_bytes_is_that_for_weight() {
	let at = |percent| fees::after(Multiplier::from_u32(2), Perquintill::from_percent(percent));
	assert_eq!(at(25), Multiplier::from_u32(2));
	assert!(at(24) < at(25) && at(25) < at(26) && at(26) < at(100));
	let day = (0..14_400).fold(Multiplier::from_u32(1), |m, _| fees::after(m, Perquintill::one()));
	// e^0.81
	let (least, most) = (Multiplier::from_rational(224, 100), Multiplier::from_rational(226, 100));
	assert!(least < day && day < most, "{day:?}");
	let never = fees::after(Multiplier::from_u32(1), Perquintill::zero());
	assert_eq!(never, Multiplier::from_u32(1), "fees do not fall below what they are");
}

#[test]
fn bytes_cost_more_where_blocks_are_full_and_awaited_chunks_the_same() {
	let bytes = bytes();
	let blob = Chunked::new(&bytes);
	let mut chain = with_awaited(&blob, bytes.len());
	let pay = |chain: &mut Chain, call: RuntimeCall, times: u32| {
		chain.state(|| NextFeeMultiplier::<Runtime>::put(Multiplier::from_u32(times)));
		let before = balance(chain, Bob);
		assert_ok!(chain.call(Bob, call));
		before - balance(chain, Bob)
	};
	let remark = || RuntimeCall::System(frame_system::Call::remark { remark: vec![7; 100_000] });
	let (plain, dear) = (pay(&mut chain, remark(), 1), pay(&mut chain, remark(), 10));
	// All but the fee for a transaction's least weight is multiplied.
	assert!(dear > 8 * plain && dear <= 10 * plain, "{plain} {dear}");
	let (first, second) =
		(pay(&mut chain, upload(&blob, 0), 1), pay(&mut chain, upload(&blob, 1), 10));
	assert!(first.abs_diff(second) < first / 1_000, "{first} {second}");
}
