//! Equivocations: real proofs, and what they cost.

use super::*;
use crate::{
	offences::{prove_babe_key, prove_grandpa_key, session_of_votes, slash_part, SUSPENSION},
	records::{KeyOwnerProof, Offender},
	Convicts, Error, Offenders, Suspended, Trainers,
};
use codec::{Decode, Encode};
use frame_support::{assert_noop, assert_ok, dispatch::Pays};
use frame_system::pallet_prelude::HeaderFor;
use proptest::prelude::*;
use sp_consensus_babe::digests::{CompatibleDigestItem, PreDigest, SecondaryPlainPreDigest};
use sp_core::{Pair, H256};
use sp_runtime::{
	traits::Header as _,
	transaction_validity::{InvalidTransaction, TransactionSource, TransactionValidity},
	Digest, DigestItem, DispatchError, Perbill,
};
use sp_staking::offence::OffenceError;

type BabeProof = sp_consensus_babe::EquivocationProof<HeaderFor<Test>>;
pub(super) type GrandpaProof = sp_consensus_grandpa::EquivocationProof<H256, u32>;

/// Two blocks by `who` in `slot`.
fn two_blocks(who: u64, slot: u64) -> BabeProof {
	let header = |state: u8| {
		let claim = SecondaryPlainPreDigest { authority_index: 0, slot: slot.into() };
		let claim = DigestItem::babe_pre_digest(PreDigest::SecondaryPlain(claim));
		let mut header = HeaderFor::<Test>::new(
			7,
			H256::zero(),
			H256::repeat_byte(state),
			H256::zero(),
			Digest { logs: vec![claim] },
		);
		let seal = babe_pair(who).sign(header.hash().as_ref());
		header.digest_mut().push(DigestItem::babe_seal(seal.into()));
		header
	};
	BabeProof {
		offender: babe_pair(who).public().into(),
		slot: slot.into(),
		first_header: header(1),
		second_header: header(2),
	}
}

/// Two votes of `who` in one round, for blocks of these heights. (The crate's own types
/// are not public; this is their encoding.)
pub(super) fn two_votes(who: u64, set: u64, round: u64, heights: [u32; 2]) -> GrandpaProof {
	let vote = |byte: u8, height: u32| {
		let prevote = (H256::repeat_byte(byte), height);
		let payload = sp_consensus_grandpa::localized_payload(round, set, &(0u8, prevote));
		(prevote, grandpa_pair(who).sign(&payload))
	};
	let votes = (vote(1, heights[0]), vote(2, heights[1]));
	let bytes = (set, 0u8, round, grandpa_pair(who).public(), votes).encode();
	GrandpaProof::decode(&mut &bytes[..]).unwrap()
}

/// A report of `two_blocks` as an author includes it, with the proof of ownership that
/// nodes make.
fn report_blocks(who: u64, slot: u64) -> Result<(), DispatchError> {
	let proof = two_blocks(who, slot);
	let owner = prove_babe_key::<Test>(slot.into(), proof.offender.as_ref()).unwrap();
	submit_blocks(proof, owner)
}

fn submit_blocks(proof: BabeProof, owner: KeyOwnerProof) -> Result<(), DispatchError> {
	let report = Babe::report_equivocation_unsigned(RuntimeOrigin::none(), Box::new(proof), owner);
	report.map(|info| assert_eq!(info.pays_fee, Pays::No)).map_err(|e| e.error)
}

pub(super) fn report_votes(proof: GrandpaProof) -> Result<(), DispatchError> {
	let owner = owner_of(&proof);
	submit_votes(proof, owner)
}

fn owner_of(proof: &GrandpaProof) -> KeyOwnerProof {
	let session = session_of_votes::<Test>(proof).unwrap();
	let kind = sp_consensus_grandpa::KEY_TYPE;
	Hashrate::prove_key(session, kind, proof.offender().as_ref()).unwrap()
}

fn submit_votes(proof: GrandpaProof, owner: KeyOwnerProof) -> Result<(), DispatchError> {
	Grandpa::report_equivocation_unsigned(RuntimeOrigin::none(), Box::new(proof), owner)
		.map(|_| ())
		.map_err(|e| e.error)
}

/// What the pool says of a report.
#[allow(deprecated)]
fn validity(call: impl Into<RuntimeCall>, source: TransactionSource) -> TransactionValidity {
	use sp_runtime::traits::ValidateUnsigned;
	Test::validate_unsigned(source, &call.into())
}

fn slot() -> u64 {
	*Babe::current_slot()
}

/// The part that each offence of `who` has cost.
pub(super) fn lost(who: u64) -> Perbill {
	Convicts::<Test>::get().iter().find(|convict| convict.who == who).unwrap().lost
}

pub(super) fn bond(who: u64) -> u128 {
	Trainers::<Test>::get(who).unwrap().bond
}

#[test]
fn two_blocks_of_one_slot_cost_bond_power_and_candidacy() {
	Genesis::default().run(|| {
		let issued = Balances::total_issuance();
		let money = |who| Balances::free_balance(who);
		run_block(2);
		let (two, jackpot) = (money(2), money(JACKPOT));
		// 1 has 10 of 60: (3 / 6)^2 = 1/4.
		assert_ok!(report_blocks(1, slot()));
		assert_eq!(
			events(),
			vec![
				Event::BlockRewarded { author: 2, reward: 900, jackpot: 100 },
				Event::Equivocated {
					trainer: 1,
					session: 0,
					share: Perbill::from_rational(1u32, 6)
				},
				Event::AuthoritySuspended { trainer: 1 },
				Event::Slashed {
					trainer: 1,
					session: 0,
					part: Perbill::from_percent(25),
					amount: 25,
					reward: 5,
				},
			]
		);
		assert_eq!(bond(1), 75);
		// The block's author is the reporter.
		assert_eq!((money(2), money(JACKPOT)), (two + 5, jackpot + 20));
		assert_eq!(Balances::total_issuance(), issued + 1_000);
		// 7.5 of 10, rounded down.
		assert_eq!(Hashrate::ecp(&1), 7);
		assert!(!Hashrate::is_candidate(&1));
		assert_eq!(Suspended::<Test>::get(1), Some(SUSPENSION));
		// It was announced for the next session, and is out from the one after it.
		run_to_session(1, 2);
		assert_eq!(Session::validators(), vec![1, 2, 3]);
		run_to_session(2, 2);
		assert_eq!(Session::validators(), vec![2, 3]);
	});
}

#[test]
fn two_votes_of_one_round_cost_the_same() {
	Genesis::default().run(|| {
		run_block(2);
		let jackpot = Balances::free_balance(JACKPOT);
		assert_ok!(report_votes(two_votes(1, 0, 3, [1, 2])));
		assert_eq!((bond(1), Hashrate::ecp(&1)), (75, 7));
		assert_eq!(Balances::free_balance(JACKPOT), jackpot + 20);
		assert!(!Hashrate::is_candidate(&1));
	});
}

#[test]
fn a_session_is_punished_once() {
	Genesis::default().run(|| {
		let report = |who, slot| {
			let proof = Box::new(two_blocks(who, slot));
			let owner = prove_babe_key::<Test>(slot.into(), proof.offender.as_ref()).unwrap();
			pallet_babe::Call::<Test>::report_equivocation_unsigned {
				equivocation_proof: proof,
				key_owner_proof: owner,
			}
		};
		let local = |call| validity(call, TransactionSource::Local);
		assert!(local(report(1, slot())).is_ok_and(|valid| !valid.propagate));
		// Only what this node saw itself, or what a block has.
		let foreign = validity(report(1, slot()), TransactionSource::External);
		assert_eq!(foreign, InvalidTransaction::Call.into());
		assert!(validity(report(1, slot()), TransactionSource::InBlock).is_ok());
		assert_ok!(report_blocks(1, slot()));

		// The same again, another slot of the session, and votes in it.
		run_block(2);
		let duplicate = || pallet_babe::Error::<Test>::DuplicateOffenceReport;
		for slot in [slot() - 1, slot()] {
			assert_eq!(local(report(1, slot)), InvalidTransaction::Stale.into());
			assert_noop!(report_blocks(1, slot), duplicate());
		}
		let votes = two_votes(1, 0, 3, [1, 2]);
		assert_noop!(report_votes(votes), pallet_grandpa::Error::<Test>::DuplicateOffenceReport);
		assert_eq!(bond(1), 75);

		// In the next session it costs again.
		run_to_session(1, 2);
		assert_ok!(report_blocks(1, slot()));
		assert_eq!(bond(1), 75 - 18);
	});
}

#[test]
fn company_in_a_session_makes_it_dearer() {
	Genesis { trainers: vec![(1, 10), (2, 10), (3, 80)], min_share: 0 }.run(|| {
		for who in 1..=2 {
			assert_ok!(Hashrate::bond_extra(RuntimeOrigin::signed(who), 8_900));
		}
		let issued = Balances::total_issuance();
		// A tenth: 9 %, below the least of 10 %.
		assert_ok!(report_blocks(1, slot()));
		assert_eq!((bond(1), bond(2)), (8_100, 9_000));
		assert_eq!(lost(1), Perbill::from_percent(10));
		// A fifth together: 36 % each; the first has lost 10 % of it.
		run_block(3);
		assert_ok!(report_blocks(2, slot()));
		assert_eq!(lost(1), Perbill::from_percent(36));
		assert_eq!(bond(2), 5_760);
		assert!(bond(1).abs_diff(5_760) <= 1, "{}", bond(1));
		assert!(Hashrate::trainer(&1).unwrap().ecp.abs_diff(6) <= 1);
		// More than a third: everything.
		assert_ok!(report_blocks(3, slot()));
		assert_eq!((bond(1), bond(2), bond(3)), (0, 0, 0));
		assert_eq!([1, 2, 3].map(|who| Hashrate::ecp(&who)), [0, 0, 0]);
		assert_eq!(Balances::total_issuance(), issued + 1_000);
		assert_eq!(Offenders::<Test>::get(0).to_vec(), vec![1, 2, 3]);

		// A chain without candidates goes on, and forgets with the records.
		run_to_session(3, 1);
		assert_eq!(Session::validators(), vec![1, 2, 3]);
		assert_eq!((Offenders::<Test>::get(3).len(), Convicts::<Test>::get().len()), (0, 3));
		run_to_session(8, 1);
		assert_eq!(Convicts::<Test>::get().len(), 0);
	});
}

/// A set of GRANDPA serves in many sessions, and its members choose the heights of their votes. Who
/// votes twice in different sessions of it, or forks across a change of session, costs what it would
/// have cost in one.
#[test]
fn company_in_other_sessions_makes_it_dearer_too() {
	Genesis { trainers: vec![(1, 10), (2, 10), (3, 10), (4, 60)], min_share: 0 }.run(|| {
		for who in 1..=3 {
			assert_ok!(Hashrate::bond_extra(RuntimeOrigin::signed(who), 8_900));
		}
		run_to_session(3, 4);
		assert_eq!(Grandpa::current_set_id(), 0);
		let vote = |who, session: u32| report_votes(two_votes(who, 0, 3, [session * 5 + 1; 2]));
		// A ninth each. Where each session counted for itself these were three times a ninth of
		// everything.
		assert_ok!(vote(1, 1));
		assert!(bond(1).abs_diff(8_000) <= 1);
		assert_ok!(vote(2, 2));
		assert_eq!((lost(1), lost(2)), (Perbill::from_parts(444_444_443), lost(1)));
		assert!(bond(1).abs_diff(5_000) <= 1 && bond(2).abs_diff(5_000) <= 1);
		assert_ok!(vote(3, 3));
		assert_eq!((bond(1), bond(2), bond(3)), (0, 0, 0));
	});
}

/// One that offends in several sessions counts once for the others, and loses each time.
#[test]
fn the_same_offender_is_counted_once() {
	Genesis { trainers: vec![(1, 10), (2, 10), (3, 80)], min_share: 0 }.run(|| {
		assert_ok!(Hashrate::bond_extra(RuntimeOrigin::signed(1), 9_900));
		assert_ok!(report_blocks(1, slot()));
		assert_eq!(bond(1), 9_000);
		run_to_session(1, 3);
		assert_ok!(report_blocks(1, slot()));
		assert_eq!((bond(1), lost(1)), (8_100, Perbill::from_percent(10)));
		assert_eq!(Convicts::<Test>::get().len(), 1);
		assert_eq!(Convicts::<Test>::get()[0].session, 1);
	});
}

/// What a founder declared is taken in proportion too.
#[test]
fn a_founder_loses_its_part() {
	Genesis::default().run(|| {
		let founders = vec![(1, 1_000), (2, 1_000)];
		crate::Founders::<Test>::put(frame_support::BoundedVec::truncate_from(founders));
		assert_ok!(report_blocks(1, slot()));
		assert_eq!(crate::Founders::<Test>::get().to_vec(), vec![(1, 750), (2, 1_000)]);
	});
}

#[test]
fn what_it_costs_depends_on_power_alone() {
	let part = |of: u128| slash_part(of, 1_200, Perbill::zero());
	assert_eq!(part(0), Perbill::zero());
	assert_eq!(part(12), Perbill::from_parts(900_000));
	assert_eq!(part(120), Perbill::from_percent(9));
	assert_eq!(part(200), Perbill::from_percent(25));
	assert_eq!(part(400), Perbill::one());
	assert_eq!(part(1_200), Perbill::one());
	assert_eq!(slash_part(12, 1_200, Perbill::from_percent(5)), Perbill::from_percent(5));
	assert_eq!(slash_part(0, 0, Perbill::zero()), Perbill::zero());
	assert_eq!(slash_part(u128::MAX, u128::MAX, Perbill::zero()), Perbill::one());
}

#[test]
fn who_reports_itself_gets_nothing_of_it() {
	Genesis::default().run(|| {
		let jackpot = Balances::free_balance(JACKPOT);
		let free = Balances::free_balance(1);
		// 1 made the block.
		assert_ok!(report_blocks(1, slot()));
		assert_eq!(Balances::free_balance(1), free);
		assert_eq!(Balances::free_balance(JACKPOT), jackpot + 25);
	});
}

#[test]
fn anyone_may_sign_a_report() {
	Genesis::default().run(|| {
		let proof = two_blocks(1, slot());
		let owner = prove_babe_key::<Test>(slot().into(), proof.offender.as_ref()).unwrap();
		let report =
			Babe::report_equivocation(RuntimeOrigin::signed(7), Box::new(proof), owner).unwrap();
		assert_eq!(report.pays_fee, Pays::No);
		assert_eq!(Balances::free_balance(7), FUNDS + 5);
	});
}

#[test]
fn false_reports_are_refused() {
	Genesis::default().run(|| {
		run_to_session(1, 1);
		let honest = two_blocks(1, slot());
		let owner = prove_babe_key::<Test>(slot().into(), honest.offender.as_ref()).unwrap();
		type BabeError = pallet_babe::Error<Test>;
		let mut twice = honest.clone();
		twice.second_header = twice.first_header.clone();
		assert_noop!(submit_blocks(twice, owner), BabeError::InvalidEquivocationProof);
		let mut blamed = honest.clone();
		blamed.offender = babe_pair(2).public().into();
		assert_noop!(submit_blocks(blamed, owner), BabeError::InvalidEquivocationProof);
		// The slot is of session 1.
		let other = KeyOwnerProof { session: 0, ..owner };
		assert_noop!(submit_blocks(honest, other), BabeError::InvalidKeyOwnershipProof);
		// A stranger's key.
		assert_noop!(
			submit_blocks(two_blocks(9, slot()), owner),
			BabeError::InvalidKeyOwnershipProof
		);
		assert_eq!(prove_babe_key::<Test>(slot().into(), babe_pair(9).public().as_ref()), None);

		type GrandpaError = pallet_grandpa::Error<Test>;
		let votes = two_votes(1, 0, 3, [6, 6]);
		let owner = owner_of(&votes);
		let other = KeyOwnerProof { session: 0, ..owner };
		assert_noop!(submit_votes(votes.clone(), other), GrandpaError::InvalidKeyOwnershipProof);
		// Signed for another round.
		let mut bytes = votes.encode();
		bytes[9] ^= 1;
		let forged = GrandpaProof::decode(&mut &bytes[..]).unwrap();
		assert_noop!(submit_votes(forged, owner), GrandpaError::InvalidEquivocationProof);
		assert_eq!(bond(1), MIN_BOND);
		assert_ok!(submit_votes(votes, owner));
	});
}

/// One proof serves for one session, whichever of its set's sessions a report names.
#[test]
fn votes_belong_to_one_session() {
	Genesis::default().run(|| {
		run_to_session(3, 2);
		assert_eq!(Grandpa::current_set_id(), 0, "a set of all sessions so far");
		let of = |heights| session_of_votes::<Test>(&two_votes(1, 0, 3, heights));
		assert_eq!(of([7, 8]), Some(1));
		assert_eq!(of([12, 8]), Some(1), "the lower of both");
		assert_eq!(of([0, 16]), Some(0));
		// A height to come says nothing; later it is that of another session.
		assert_eq!(of([u32::MAX, 8]), Some(1));
		assert_eq!(of([17, 8]), Some(1));
		assert_eq!(of([17, 18]), None);

		let votes = two_votes(1, 0, 3, [7, 8]);
		let owner = owner_of(&votes);
		assert_eq!(owner.session, 1);
		// What a node asks for before it has the votes is another; the report corrects it.
		let key = grandpa_pair(1).public();
		assert_eq!(prove_grandpa_key::<Test>(0, key.as_ref()).unwrap().session, 3);
		assert_ok!(submit_votes(votes.clone(), owner));
		for session in 0..=3 {
			let other = KeyOwnerProof { session, ..owner };
			assert!(submit_votes(votes.clone(), other).is_err(), "{session}");
			let call = pallet_grandpa::Call::<Test>::report_equivocation_unsigned {
				equivocation_proof: Box::new(votes.clone()),
				key_owner_proof: other,
			};
			assert!(validity(call, TransactionSource::Local).is_err(), "{session}");
		}
		assert_eq!(bond(1), 75);
	});
}

/// Sets are remembered as long as sessions, and bound the sessions of their votes.
#[test]
fn votes_of_an_earlier_set_count() {
	Genesis::default().run(|| {
		set_power(3, 300);
		run_to_session(2, 2);
		assert_eq!(Grandpa::current_set_id(), 1);
		run_to_session(3, 2);
		// A vote of the old set for the block that changed it is one of its last session.
		let votes = two_votes(1, 0, 9, [11, 11]);
		assert_eq!(session_of_votes::<Test>(&votes), Some(1));
		assert_ok!(report_votes(votes));
		// 10 of 60, as it was then.
		assert_eq!(lost(1), Perbill::from_percent(25));
		assert_eq!(session_of_votes::<Test>(&two_votes(1, 7, 9, [11, 11])), None, "no such set");
		// And the new set's votes for older blocks of its first.
		assert_eq!(session_of_votes::<Test>(&two_votes(2, 1, 9, [1, 2])), Some(2));
	});
}

/// Whatever an authority did can be reported as long as its bond is held.
#[test]
fn old_sessions_count_while_the_bond_is_held() {
	Genesis::default().run(|| {
		// 1 leaves at once, and is an authority of session 1 all the same.
		assert_ok!(Hashrate::deregister(RuntimeOrigin::signed(1)));
		run_to_session(1, 1);
		let (first, last) = (slot() - 1, slot() + EPOCH - 1);
		run_to(UNBONDING, 2);
		assert_noop!(Hashrate::withdraw(RuntimeOrigin::signed(1)), Error::<Test>::StillBonded);
		assert_eq!(Session::current_index(), 3);
		assert_ok!(report_blocks(1, first));
		assert_eq!(bond(1), 75);
		assert_ok!(report_blocks(1, last));
		assert_eq!(bond(1), 57);
		// Session 1 ends with block 10, which finality overtakes with block 13.
		run_to(12 + UNBONDING, 2);
		assert_noop!(Hashrate::withdraw(RuntimeOrigin::signed(1)), Error::<Test>::StillInForce);
		run_block(2);
		assert_ok!(Hashrate::withdraw(RuntimeOrigin::signed(1)));
		assert!(!Suspended::<Test>::contains_key(1));
		// It is gone with its bond; the records go a little later.
		let proof = two_blocks(2, first);
		run_to_session(7, 2);
		assert_eq!(prove_babe_key::<Test>(first.into(), proof.offender.as_ref()), None);
		let gone = KeyOwnerProof { session: 0, authorities: 3 };
		assert_noop!(
			submit_blocks(proof, gone),
			pallet_babe::Error::<Test>::InvalidKeyOwnershipProof
		);
	});
}

#[test]
fn one_without_a_bond_loses_nothing_more() {
	Genesis::default().run(|| {
		Trainers::<Test>::remove(1);
		crate::Power::<Test>::remove(1);
		crate::LastServed::<Test>::remove(1);
		Hashrate::delist(&1);
		let jackpot = Balances::free_balance(JACKPOT);
		assert_ok!(report_blocks(1, slot()));
		assert_eq!(Balances::free_balance(JACKPOT), jackpot);
		assert!(!Suspended::<Test>::contains_key(1));
		assert_noop!(report_blocks(1, slot()), pallet_babe::Error::<Test>::DuplicateOffenceReport);
	});
}

#[test]
fn the_suspended_stand_again_later() {
	Genesis::default().run(|| {
		assert_ok!(report_blocks(1, slot()));
		assert_ok!(Hashrate::bond_extra(RuntimeOrigin::signed(1), 100));
		let stand = || Hashrate::set_candidate(RuntimeOrigin::signed(1), true);
		assert_noop!(stand(), Error::<Test>::Suspended);
		run_to_session(SUSPENSION - 1, 2);
		assert_noop!(stand(), Error::<Test>::Suspended);
		run_to_session(SUSPENSION, 2);
		assert_ok!(stand());
		assert!(!Suspended::<Test>::contains_key(1));
	});
}

#[test]
fn only_authorities_of_a_session_offend_in_it() {
	Genesis::default().run(|| {
		register(5);
		let punish = |who, session| Hashrate::punish(&Offender { who, session }, None);
		assert_eq!(punish(5, 0), Err(OffenceError::Other(0)));
		assert_eq!(punish(1, 1), Err(OffenceError::Other(0)));
		assert_eq!(punish(1, 0), Ok(()));
		assert_eq!(punish(1, 0), Err(OffenceError::DuplicateReport));
	});
}

proptest! {
	/// Whoever offends in whatever order, each loses what all of them together cost.
	#[test]
	fn the_order_of_reports_does_not_matter(
		powers in proptest::collection::vec(1..1_000u64, 4),
		order in Just(vec![1u64, 2, 3, 4]).prop_shuffle(),
		count in 1..=4usize,
	) {
		let trainers = powers.iter().enumerate().map(|(i, p)| (i as u64 + 1, *p)).collect();
		Genesis { trainers, min_share: 0 }.run(|| {
			for who in 1..=4 {
				Hashrate::bond_extra(RuntimeOrigin::signed(who), 9_000).unwrap();
			}
			for who in &order[..count] {
				Hashrate::punish(&Offender { who: *who, session: 0 }, Some(&9)).unwrap();
				Hashrate::do_try_state().unwrap();
			}
			let of = |who: &u64| u128::from(powers[*who as usize - 1]);
			let offending: u128 = order[..count].iter().map(of).sum();
			let all: u128 = powers.iter().map(|p| u128::from(*p)).sum();
			let part = slash_part(offending, all, Perbill::from_percent(10));
			for who in 1..=4 {
				let lost = 9_100 - bond(who);
				if order[..count].contains(&who) {
					// Each report rounds down once.
					assert!(part.mul_floor(9_100u128).abs_diff(lost) <= 4, "{lost} of {part:?}");
				} else {
					assert_eq!(lost, 0);
				}
			}
		});
	}
}
