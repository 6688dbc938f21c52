//! What the chain knows of its own finality, and what follows from that for bonds.

use codec::Encode;
use frame_support::{
	assert_ok,
	dispatch::{DispatchClass, GetDispatchInfo},
	inherent::InherentData,
	storage::with_transaction,
};
use sp_block_builder::runtime_decl_for_block_builder::BlockBuilder;
use sp_inherents::InherentIdentifier;
use sp_keyring::{
	Ed25519Keyring,
	Sr25519Keyring::{self, Alice, Bob, Charlie, Dave},
};
use sp_runtime::{
	transaction_validity::{InvalidTransaction, TransactionSource},
	DispatchError, TransactionOutcome,
};
use trainyard_runtime::{
	api::runtime_decl_for_trainyard_api::TrainyardApi, configs::session::UnbondingBlocks, *,
};
use trainyard_sandbox::{
	votes::{report, two_votes},
	Chain, FINALITY_LAG,
};

/// Under this name nodes give the time.
const TIMESTAMP: InherentIdentifier = *b"timstap0";

fn known(chain: &mut Chain) -> BlockNumber {
	chain.state(<Runtime as TrainyardApi<Block, AccountId>>::final_height)
}

fn withdraw(chain: &mut Chain) -> Result<(), DispatchError> {
	chain.call(Bob, pallet_hashrate::Call::withdraw {}).map_err(DispatchError::stripped)
}

fn still_in_force() -> Result<(), DispatchError> {
	Err(DispatchError::from(pallet_hashrate::Error::<Runtime>::StillInForce).stripped())
}

#[test]
fn a_chain_of_one_knows_what_its_authority_knows() {
	let mut chain = Chain::development();
	chain.run(1);
	assert_eq!(known(&mut chain), 0);
	// Across a change of session, whose first block names its author among the new authorities.
	for number in 2..=50 {
		chain.run(1);
		assert_eq!(known(&mut chain), (number - 1 as BlockNumber).saturating_sub(FINALITY_LAG));
	}
	assert!(chain.state(Session::current_index) > 1);
	chain.stall(true);
	let last = known(&mut chain);
	chain.run(30);
	assert!(known(&mut chain) - last <= 1);
	chain.stall(false);
	chain.run(1);
	assert_eq!(known(&mut chain), 80 - FINALITY_LAG);
}

#[test]
fn half_of_the_authorities_say_nothing_that_counts() {
	let mut chain = Chain::local();
	chain.made_by([Alice, Bob]);
	chain.run(30);
	assert_eq!(known(&mut chain), 0);
	chain.made_by([Alice, Bob, Charlie]);
	chain.run(30);
	assert!(known(&mut chain) > 50);
}

/// Half of the weight is silent, so what the others say frees nobody. Root takes their word, and no more.
#[test]
fn root_declares_what_half_of_the_authorities_say() {
	let mut chain = Chain::local();
	let sudo = |chain: &mut Chain, height| {
		let call: RuntimeCall = pallet_finality::Call::declare_final { height }.into();
		chain.call(Alice, pallet_sudo::Call::sudo { call: Box::new(call) }).unwrap();
		let events = chain.state(System::events);
		events.into_iter().find_map(|record| match record.event {
			RuntimeEvent::Sudo(pallet_sudo::Event::Sudid { sudo_result }) => Some(sudo_result),
			_ => None,
		})
	};
	let refused =
		|error: pallet_finality::Error<Runtime>| Some(Err(DispatchError::from(error).stripped()));
	let stripped = |result: Option<Result<(), DispatchError>>| {
		result.map(|result| result.map_err(DispatchError::stripped))
	};
	chain.made_by([Alice, Bob]);
	chain.run(130);
	let view = chain.state(<Runtime as TrainyardApi<Block, AccountId>>::finality);
	let lagging: Vec<_> = view.authorities.iter().filter(|one| one.said.is_none()).collect();
	assert_eq!((view.height, view.authorities.len(), lagging.len()), (0, 4, 2));
	let said = |who: Sr25519Keyring| {
		let one = view.authorities.iter().find(|one| one.account == who.to_account_id());
		one.unwrap().said.unwrap()
	};
	assert!(said(Alice).min(said(Bob)) >= 130 - FINALITY_LAG - 2);
	// Nobody has seen the block before this one become final.
	let none = stripped(sudo(&mut chain, 130));
	assert_eq!(none, refused(pallet_finality::Error::TooFewSaid));
	assert_eq!(chain.state(|| pallet_hashrate::Overtaken::<Runtime>::get(0)), None);
	assert_eq!(sudo(&mut chain, 121), Some(Ok(())));
	assert_eq!(known(&mut chain), 121);
	let again = stripped(sudo(&mut chain, 121));
	assert_eq!(again, refused(pallet_finality::Error::AlreadyFinal));
	// The session that ended with block 120 is overtaken, and settled a day later.
	let at = chain.state(|| pallet_hashrate::Overtaken::<Runtime>::get(0));
	assert_eq!(at, Some(133));
	let call = pallet_finality::Call::declare_final { height: 122 };
	let bob = chain.call(Bob, call).map_err(DispatchError::stripped);
	assert_eq!(bob, Err(DispatchError::BadOrigin));
}

/// What a node puts into its blocks, and that none checks what others put into theirs.
#[test]
fn nodes_make_the_inherent_and_take_that_of_others() {
	let mut chain = Chain::development();
	chain.run(9);
	chain.begin();
	let now: u64 = chain.state(pallet_timestamp::Now::<Runtime>::get);
	chain.state(|| {
		let again = || {
			pallet_finality::Noted::<Runtime>::kill();
			let mut data = InherentData::new();
			data.put_data(TIMESTAMP, &now).unwrap();
			data.put_data(FINALITY_INHERENT, &8u32).unwrap();
			let made = <Runtime as BlockBuilder<Block>>::inherent_extrinsics(data);
			TransactionOutcome::Rollback(Ok::<_, DispatchError>(made))
		};
		let made = with_transaction(again).unwrap();
		assert_eq!(made.len(), 2);
		let note: RuntimeCall = pallet_finality::Call::note_final { height: 8 }.into();
		assert_eq!(made[1].function, note);
		let header = System::finalize();
		let block = Block { header, extrinsics: made };
		let mut other = InherentData::new();
		other.put_data(TIMESTAMP, &now).unwrap();
		other.put_data(FINALITY_INHERENT, &2u32).unwrap();
		let checked = <Runtime as BlockBuilder<Block>>::check_inherents(block.into(), other);
		assert!(checked.ok() && !checked.fatal_error());
	});
}

#[test]
fn nobody_sends_it_as_a_transaction() {
	let mut chain = Chain::development();
	chain.run(5);
	let note: RuntimeCall = pallet_finality::Call::note_final { height: 1 }.into();
	let info = chain.state(|| note.get_dispatch_info());
	assert_eq!(info.class, DispatchClass::Mandatory);
	assert!(info.call_weight.ref_time() > 0);
	assert!(info.call_weight.ref_time() < configs::system::MAX_BLOCK_WEIGHT.ref_time() / 100);
	let bare = UncheckedExtrinsic::new_bare(note.clone());
	assert!(bare.encode().len() < 10);
	let said = chain.state(|| {
		with_transaction(|| {
			let hash = System::block_hash(System::block_number());
			let said = Executive::validate_transaction(TransactionSource::External, bare, hash);
			TransactionOutcome::Rollback(Ok::<_, DispatchError>(said))
		})
	});
	assert_eq!(said.unwrap(), Err(InvalidTransaction::MandatoryValidation.into()));
	chain.begin();
	assert!(chain.apply(Bob, note.clone()).is_err(), "no signed transaction is mandatory");
	chain.end();
	let batch = pallet_utility::Call::batch_all { calls: vec![note] };
	let refused = chain.call(Bob, batch).map_err(DispatchError::stripped);
	assert_eq!(refused, Err(DispatchError::BadOrigin));
}

/// A day of stall and more: an authority that left has its bond at stake for as long as its set can vote.
#[test]
fn a_stall_holds_the_bonds_of_the_set_in_force() {
	let mut chain = Chain::local();
	chain.made_by([Alice, Bob, Charlie, Dave]);
	chain.run(20);
	chain.stall(true);
	assert_ok!(chain.call(Bob, pallet_hashrate::Call::deregister {}));
	chain.run(400);
	chain.leap(2 * UnbondingBlocks::get());
	chain.run(400);
	assert!(!chain.state(Session::validators).contains(&Bob.to_account_id()));
	assert_eq!(withdraw(&mut chain), still_in_force());
	let before = chain.state(|| Hashrate::trainer(&Bob.to_account_id()).unwrap().bond);
	let votes = two_votes(&Ed25519Keyring::Bob.pair(), 0, 130);
	let report = report(&mut chain, votes).expect("it is on record");
	chain.begin();
	chain.state(|| Executive::apply_extrinsic(report).unwrap().unwrap());
	chain.end();
	let after = chain.state(|| Hashrate::trainer(&Bob.to_account_id()).unwrap().bond);
	// A quarter of the weight: (3/4)^2.
	assert_eq!(after, before - before * 9 / 16);

	chain.stall(false);
	chain.run(20);
	assert_eq!(withdraw(&mut chain), still_in_force());
	chain.leap(UnbondingBlocks::get() - 40);
	assert_eq!(withdraw(&mut chain), still_in_force());
	chain.run(40);
	assert_ok!(withdraw(&mut chain));
	assert!(trainyard_sandbox::books::check(&mut chain).is_ok());
}
