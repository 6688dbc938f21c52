//! Equivocations: real proofs, reported as nodes report them, through the runtime API, the
//! pool's check and a block.

use codec::{Decode, Encode};
use frame_support::{storage::with_transaction, BoundedVec};
use sp_consensus_babe::{
	digests::{CompatibleDigestItem, PreDigest, SecondaryPlainPreDigest},
	runtime_decl_for_babe_api::BabeApi,
	Slot,
};
use sp_consensus_grandpa::runtime_decl_for_grandpa_api::GrandpaApi;
use sp_core::{Pair, H256};
use sp_keyring::{
	Ed25519Keyring,
	Sr25519Keyring::{self, Alice, Bob, Charlie, Dave},
};
use sp_runtime::{
	traits::Header as _,
	transaction_validity::{
		InvalidTransaction, TransactionPriority, TransactionSource, TransactionValidity,
	},
	Digest, DigestItem, DispatchError, TransactionOutcome,
};
use trainyard_protocol::views::WHOLE_WEIGHT;
use trainyard_runtime::{
	configs::{money::Jackpot, session::UnbondingBlocks},
	presets::GENESIS_BOND,
	*,
};
use trainyard_sandbox::Chain;

type BabeProof = sp_consensus_babe::EquivocationProof<Header>;
type GrandpaProof = sp_consensus_grandpa::EquivocationProof<H256, BlockNumber>;

/// Two blocks by `who` in `slot`, sealed.
fn two_blocks(who: Sr25519Keyring, slot: Slot) -> BabeProof {
	let header = |state: u8| {
		let claim = SecondaryPlainPreDigest { authority_index: 1, slot };
		let claim = DigestItem::babe_pre_digest(PreDigest::SecondaryPlain(claim));
		let (state, digest) = (H256::repeat_byte(state), Digest { logs: vec![claim] });
		let mut header = Header::new(9, H256::zero(), state, H256::zero(), digest);
		let seal = who.pair().sign(header.hash().as_ref());
		header.digest_mut().push(DigestItem::babe_seal(seal.into()));
		header
	};
	let offender = who.public().into();
	BabeProof { offender, slot, first_header: header(1), second_header: header(2) }
}

/// Two precommits of `who` in one round, for blocks of height 3 and 4. (The crate's own
/// types are not public; this is their encoding.)
fn two_votes(who: Ed25519Keyring, set: u64) -> GrandpaProof {
	let round = 5u64;
	let vote = |height: BlockNumber| {
		let precommit = (H256::from_low_u64_be(height.into()), height);
		let payload = sp_consensus_grandpa::localized_payload(round, set, &(1u8, precommit));
		(precommit, who.pair().sign(&payload))
	};
	let bytes = (set, 1u8, round, who.public(), (vote(3), vote(4))).encode();
	GrandpaProof::decode(&mut &bytes[..]).unwrap()
}

/// Reports as BABE's client does; returns what is in the pool then.
fn report_blocks(chain: &mut Chain, proof: BabeProof) -> UncheckedExtrinsic {
	let (reported, mut pool) = chain.pooled(|| {
		let (slot, key) = (proof.slot, proof.offender.clone());
		let owner = <Runtime as BabeApi<Block>>::generate_key_ownership_proof(slot, key)?;
		<Runtime as BabeApi<Block>>::submit_report_equivocation_unsigned_extrinsic(proof, owner)
	});
	assert_eq!((reported, pool.len()), (Some(()), 1));
	pool.remove(0)
}

/// BABE's import reports headers without their seals. In the pool such a report would keep the true
/// one out.
#[test]
fn blocks_without_seals_are_not_reported() {
	let mut chain = Chain::local();
	chain.run(10);
	let whole = two_blocks(Bob, chain.state(Babe::current_slot));
	let bare = |mut header: Header| {
		header.digest_mut().pop();
		header
	};
	let (first, second) = (whole.first_header.clone(), whole.second_header.clone());
	let one = BabeProof { first_header: bare(first.clone()), ..whole.clone() };
	let both = BabeProof { second_header: bare(second), ..one.clone() };
	let same = BabeProof { second_header: first, ..whole.clone() };
	for proof in [one, both, same] {
		let (reported, pool) = chain.pooled(|| {
			let (slot, key) = (proof.slot, proof.offender.clone());
			let owner = <Runtime as BabeApi<Block>>::generate_key_ownership_proof(slot, key)?;
			<Runtime as BabeApi<Block>>::submit_report_equivocation_unsigned_extrinsic(proof, owner)
		});
		assert_eq!((reported, pool.len()), (None, 0));
	}
	let report = report_blocks(&mut chain, whole);
	bob_is_punished(&mut chain, report);
}

/// Reports as GRANDPA's client does; returns what is in the pool then.
fn report_votes(chain: &mut Chain, proof: GrandpaProof) -> UncheckedExtrinsic {
	let (reported, mut pool) = chain.pooled(|| {
		let (set, key) = (proof.set_id(), proof.offender().clone());
		let owner = <Runtime as GrandpaApi<Block>>::generate_key_ownership_proof(set, key)?;
		<Runtime as GrandpaApi<Block>>::submit_report_equivocation_unsigned_extrinsic(proof, owner)
	});
	assert_eq!((reported, pool.len()), (Some(()), 1));
	pool.remove(0)
}

/// Returns what the pool says.
fn validity(
	chain: &mut Chain,
	report: &UncheckedExtrinsic,
	source: TransactionSource,
) -> TransactionValidity {
	chain.state(|| {
		with_transaction(|| {
			let hash = System::block_hash(System::block_number());
			let validity = Executive::validate_transaction(source, report.clone(), hash);
			TransactionOutcome::Rollback(Ok::<_, DispatchError>(validity))
		})
		.unwrap()
	})
}

/// Checks what must hold after a report of //Bob, one of four with the same power.
fn bob_is_punished(chain: &mut Chain, report: UncheckedExtrinsic) {
	let pool = validity(chain, &report, TransactionSource::Local).unwrap();
	assert_eq!(pool.priority, TransactionPriority::MAX);
	assert_eq!(pool.longevity, u64::from(UnbondingBlocks::get()));
	assert!(!pool.propagate, "what a node saw itself goes into its own blocks only");
	let foreign = validity(chain, &report, TransactionSource::External);
	assert_eq!(foreign, Err(InvalidTransaction::Call.into()));

	let (alice, bob) = (Alice.to_account_id(), Bob.to_account_id());
	let money = |chain: &mut Chain| {
		chain.state(|| {
			let free = |who: &AccountId| Balances::free_balance(who);
			(free(&alice), free(&Jackpot::get()), Balances::total_issuance())
		})
	};
	let before = money(chain);
	let track = pallet_hashrate::power::Track {
		effective: 1_000_000 << 64,
		updated: u64::MAX,
		..Default::default()
	};
	let ledger = pallet_hashrate::power::Ledger { drilling: track, training: track };
	chain.state(|| pallet_hashrate::Power::<Runtime>::insert(&bob, ledger));
	chain.begin();
	chain.state(|| {
		Executive::apply_extrinsic(report.clone()).unwrap().unwrap();
		// The same report again, in the same block, is stale.
		let again = Executive::apply_extrinsic(report.clone());
		assert_eq!(again, Err(InvalidTransaction::Stale.into()));
	});
	chain.end();

	// A quarter of the weight: (3/4)^2 = 9/16 of bond and power, a tenth of it for //Alice,
	// who made the block.
	let lost = GENESIS_BOND * 9 / 16;
	let trainer = chain.state(|| Hashrate::trainer(&bob).unwrap());
	assert_eq!(trainer.bond, GENESIS_BOND - lost);
	assert!(!trainer.candidate);
	let left = 1_000_000 * 7 / 16;
	assert!(
		trainer.drilling_effective.abs_diff(left) <= 1
			&& trainer.training_effective.abs_diff(left) <= 1
	);
	let minted = chain.state(|| Hashrate::block_reward(System::block_number()));
	let after = money(chain);
	assert_eq!(after.0, before.0 + lost / 10 + (minted - minted / 10));
	assert_eq!(after.1, before.1 + lost - lost / 10 + minted / 10);
	assert_eq!(after.2, before.2 + minted);
	let stale = validity(chain, &report, TransactionSource::Local);
	assert_eq!(stale, Err(InvalidTransaction::Stale.into()));
	let stand = pallet_hashrate::Call::set_candidate { candidate: true };
	assert_eq!(chain.call(Bob, stand), Err(pallet_hashrate::Error::<Runtime>::Suspended.into()));
}

#[test]
fn two_blocks_of_one_slot_are_punished() {
	let mut chain = Chain::local();
	chain.run(10);
	let proof = two_blocks(Bob, chain.state(Babe::current_slot));
	let report = report_blocks(&mut chain, proof);
	bob_is_punished(&mut chain, report);
	// It was announced for session 1 and is out of session 2. (The others are there, though
	// //Alice makes all blocks.)
	chain.state(|| {
		let all = pallet_hashrate::Candidates::<Runtime>::get().into_inner();
		pallet_hashrate::Authored::<Runtime>::put(BoundedVec::truncate_from(all));
	});
	chain.run(240);
	assert_eq!(chain.state(Session::current_index), 2);
	let mut others = [Alice, Charlie, Dave].map(|key| key.to_account_id());
	others.sort();
	assert_eq!(chain.state(Session::validators), others);
}

#[test]
fn two_votes_of_one_round_are_punished() {
	let mut chain = Chain::local();
	chain.run(10);
	let report = report_votes(&mut chain, two_votes(Ed25519Keyring::Bob, 0));
	bob_is_punished(&mut chain, report);
}

/// The keys in use count, not those that were set since; and the session is over.
#[test]
fn an_old_session_and_new_keys_do_not_help() {
	let mut chain = Chain::local();
	chain.run(10);
	let slot = chain.state(Babe::current_slot);
	chain.state(|| {
		let keys = SessionKeys {
			babe: Sr25519Keyring::One.public().into(),
			grandpa: Ed25519Keyring::One.public().into(),
		};
		pallet_session::NextKeys::<Runtime>::insert(Bob.to_account_id(), keys);
	});
	chain.run(120);
	assert_eq!(chain.state(Session::current_index), 1);
	let report = report_blocks(&mut chain, two_blocks(Bob, slot));
	bob_is_punished(&mut chain, report);
}

#[test]
fn strangers_cannot_be_reported() {
	let mut chain = Chain::local();
	chain.run(10);
	let proof = two_blocks(Sr25519Keyring::Eve, chain.state(Babe::current_slot));
	let (slot, key) = (proof.slot, proof.offender.clone());
	let votes = two_votes(Ed25519Keyring::Eve, 0);
	let (owners, pool) = chain.pooled(|| {
		let voter = votes.offender().clone();
		(
			<Runtime as BabeApi<Block>>::generate_key_ownership_proof(slot, key).is_some(),
			<Runtime as GrandpaApi<Block>>::generate_key_ownership_proof(0, voter).is_some(),
		)
	});
	assert_eq!((owners, pool.len()), ((false, false), 0));
}

/// A lone authority loses everything, and its chain goes on.
#[test]
fn the_last_authority_stays() {
	let mut chain = Chain::development();
	chain.run(5);
	let proof = two_blocks(Alice, chain.state(Babe::current_slot));
	let report = report_blocks(&mut chain, proof);
	chain.begin();
	chain.state(|| Executive::apply_extrinsic(report).unwrap().unwrap());
	chain.end();
	let trainer = chain.state(|| Hashrate::trainer(&Alice.to_account_id()).unwrap());
	assert_eq!((trainer.bond, trainer.candidate, trainer.ecp), (0, false, 0));
	chain.run(60);
	assert_eq!(chain.state(Session::validators), [Alice.to_account_id()]);
	assert_eq!(chain.state(Babe::authorities)[0].1, 1);
}

/// Each authority of a genesis is on record with its power.
#[test]
fn genesis_is_on_record() {
	Chain::local().state(|| {
		let record = pallet_hashrate::Records::<Runtime>::get(0).unwrap();
		assert_eq!(record.len(), 4);
		for member in record {
			assert_eq!(member.weight, WHOLE_WEIGHT / 4);
		}
	});
}
