//! Whatever verifiers and trainers do, an audit ends in time and no money is made or lost.

use crate::{mock::*, AuditRecords, Pool};
use frame_support::traits::fungible::Inspect;
use proptest::prelude::*;
use sp_core::Pair;
use std::collections::BTreeSet;
use trainyard_protocol::{
	audit::{AuditPhase, Decision},
	job::MAX_AUDIT_ROUNDS,
};
use trainyard_traits::Audits;

/// Most windows that the claims of a round open one after the other: of six seats, two of each, on
/// three results.
const WINDOWS: u32 = 36;
/// Most blocks of an audit: each round its seed, commitments, reveals, and for each claim its time
/// and its window. After as many without a committee the market of these tests gives up.
const LONGEST: u64 = (MAX_AUDIT_ROUNDS
	* ((SEED_BLOCKS + 1) + (COMMIT + 1) + (REVEAL + 1) + WINDOWS * (RELAY + RESCUE + COMMIT + 3)))
	as u64;

fn say() -> impl Strategy<Value = Say> {
	prop_oneof![
		4 => Just(Say::Yes(1)),
		1 => Just(Say::Yes(2)),
		3 => Just(Say::No),
		3 => Just(Say::Gone),
	]
}

fn act() -> impl Strategy<Value = Act> {
	prop_oneof![
		1 => Just(Act::Vanish),
		1 => Just(Act::Seal),
		6 => proptest::collection::vec(say(), 3).prop_map(Act::Speak),
	]
}

/// Free and held money of everyone.
fn wealth() -> u128 {
	[SUBMITTER, JACKPOT]
		.into_iter()
		.chain(TRAINERS)
		.chain(VERIFIERS)
		.map(|who| Balances::total_balance(&who))
		.sum()
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(96))]

	#[test]
	fn every_audit_ends_in_time(
		pool in 0..=6usize,
		groups in 1..=3usize,
		wanted in 1..=6u32,
		salt in any::<u64>(),
		acts in proptest::collection::vec(proptest::collection::vec(act(), 6), 3),
		rescues in proptest::collection::vec(any::<bool>(), 3),
		claims in proptest::collection::vec((0..6usize, 0..3usize, any::<u8>(), 0..4u8), 0..8),
		leaves in proptest::option::of(0..6usize),
		keyless in 0..=2usize,
		keys in proptest::collection::vec((0..7usize, 1..4u8), 0..8),
	) {
		run(|| {
			SeedSalt::set(salt);
			let keyed = pool.saturating_sub(keyless);
			bonded(keyed);
			for who in &VERIFIERS[keyed..pool] {
				register_keyless(*who, BOND).unwrap();
			}
			let keys_stay = keyed == pool || keys.is_empty();
			let before = wealth();
			let mut sat = BTreeSet::new();
			let start = System::block_number();
			open(groups, wanted);
			if let Some(who) = leaves {
				let _ = Verification::deregister(RuntimeOrigin::signed(VERIFIERS[who]));
			}
			let blob = crate::H256([1; 32]);
			Stored::set(vec![blob]);
			BlobSize::set(40);
			let (mut claims, mut keys) = (claims.into_iter(), keys.into_iter());
			while Outcome::get().is_none() {
				let view = view();
				let plan = &acts[view.round as usize];
				for (seat, member) in view.committee.iter().enumerate() {
					let who = member.verifier;
					match (&view.phase, &plan[seat]) {
						(AuditPhase::Committing { .. }, Act::Seal) => {
							let _ = commit(who, &findings(&[]));
						},
						(AuditPhase::Committing { .. }, Act::Speak(says)) => {
							let _ = commit(who, &findings(&says[..groups]));
						},
						(AuditPhase::Revealing { .. }, Act::Speak(says)) => {
							let _ = reveal(who, &findings(&says[..groups]));
						},
						_ => {},
					}
				}
				if is_rescue(&view.phase) {
					for group in (0..groups).filter(|group| rescues[*group]) {
						let trainer = TRAINERS[group];
						let _ = store(trainer, trainer, group as u32, blob);
					}
				}
				if is_committing(&view.phase) {
					if let Some((seat, group, pieces, withdrawn)) = claims.next() {
						let seat = view.committee.get(seat % view.committee.len().max(1));
						if let (Some(seat), true) = (seat, group < groups) {
							let wanted: Vec<_> = everything(group)
								.into_iter()
								.enumerate()
								.filter(|(at, _)| pieces >> (at % 8) & 1 == 1)
								.map(|(_, piece)| piece)
								.collect();
							let _ = ask(seat.verifier, group as u32, &wanted);
							if withdrawn == 0 {
								let who = RuntimeOrigin::signed(seat.verifier);
								let _ = Verification::withdraw_request(who, JOB, group as u32);
							}
						}
					}
				}
				// Of some that are no verifiers, too.
				if let Some((who, number)) = keys.next() {
					let _ = set_key(VERIFIERS[who % VERIFIERS.len()], pair(number).public());
				}
				tick();
				sat.extend(committee());
				assert!(sat.iter().all(|who| entry(*who).has_key()));
				let waits = AuditRecords::<Test>::get(JOB).unwrap().waits;
				if waits > 0 && System::block_number() > start + LONGEST {
					Verification::give_up(JOB);
					Due::set(Some(System::block_number() as u32));
				}
				assert!(System::block_number() <= start + 2 * LONGEST, "it takes too long");
			}
			let (decisions, served) = Outcome::get().unwrap();
			assert_eq!(decisions.len(), groups);
			assert!(served.len() <= (MAX_AUDIT_ROUNDS * wanted) as usize, "too many fees");
			// Nobody could be drawn, from the beginning to the end.
			if keys_stay && (keyed == 0 || (keyed == 1 && leaves == Some(0))) {
				assert!(decisions.iter().all(|d| *d == Decision::Undecided));
			}
			assert!(served.iter().all(|who| sat.contains(who)));
			assert!(Pool::<Test>::get().values().all(|entry| entry.locked == 0));
			assert_eq!(wealth(), before);
			// What the jackpot and trainers gained, verifiers lost: of their bonds, and for claims.
			let has = |who: &AccountId| Balances::total_balance(who);
			let lost: u128 = VERIFIERS.iter().map(|who| ENDOWMENT - has(who)).sum();
			let trainers: u128 = TRAINERS.iter().map(|who| has(who) - ENDOWMENT).sum();
			assert_eq!(Balances::free_balance(JACKPOT) + trainers, 1 + lost);
			// The escrow owes at most half of the price of all that can be asked for of each result.
			let owed: u128 = Owed::get().iter().map(|(_, amount)| amount).sum();
			assert!(owed <= 40 * BYTE / 2 * u128::from(crate::MAX_WINDOWS) * groups as u128);
		});
	}
}
