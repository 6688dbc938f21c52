//! Whatever verifiers, trainers, strangers and the court do, an audit ends in time and no money is made
//! or lost.

use crate::{mock::*, Accusations, AuditRecords, Claims, Pool};
use frame_support::traits::fungible::Inspect;
use proptest::prelude::*;
use sp_core::Pair;
use std::collections::{BTreeMap, BTreeSet};
use trainyard_protocol::{
	audit::{AuditPhase, Decision},
	job::MAX_AUDIT_ROUNDS,
};
use trainyard_traits::{Audits, Court as _};

/// Most blocks that the court hears a dispute.
const HEARING: u32 = 12;
/// Most blocks of an audit: each round its seed, commitments, reveals and window, and the windows that
/// claims and disputes open. After as many without a committee the market of these tests gives up.
const LONGEST: u64 = (MAX_AUDIT_ROUNDS
	* ((SEED_BLOCKS + 1) + (COMMIT + 1) + (REVEAL + 1) + (LENGTH + 1) + 4 * (HEARING + AGAIN))
	+ 12 * (RELAY + 3 * RESCUE + COMMIT + AGAIN + 4)) as u64;
/// Who has no seat.
const STRANGER: AccountId = 50;

fn a_say() -> impl Strategy<Value = Say> {
	prop_oneof![
		4 => Just(Say::Yes),
		1 => Just(Say::Still),
		2 => Just(Say::No),
		2 => Just(Say::Gone),
	]
}

fn act() -> impl Strategy<Value = Act> {
	prop_oneof![
		1 => Just(Act::Vanish),
		1 => Just(Act::Seal),
		6 => proptest::collection::vec(a_say(), 3).prop_map(Act::Speak),
	]
}

/// Free and held money of everyone.
fn wealth() -> u128 {
	[SUBMITTER, JACKPOT, STRANGER]
		.into_iter()
		.chain(TRAINERS)
		.chain(VERIFIERS)
		.map(|who| Balances::total_balance(&who))
		.sum()
}

/// What is done in a block besides: which of all things, by whom, about what.
type Deed = (u8, usize, usize, u8);

/// Somebody claims, withdraws, accuses or sues, or the court decides.
fn meddle((what, who, group, detail): Deed, groups: usize) {
	let seats = committee();
	let seat = seats.get(who % seats.len().max(1)).copied();
	let group = group % groups;
	match what % 8 {
		0 | 1 => {
			let who = if what == 0 { seat } else { Some(STRANGER) };
			let pieces: Vec<_> = everything()
				.into_iter()
				.enumerate()
				.filter(|(at, _)| detail >> (at % 8) & 1 == 1)
				.map(|(_, piece)| piece)
				.collect();
			if let Some(who) = who {
				let _ = pledge(who, group as u32, &pieces, u128::from(who % 7) * 30);
			}
		}
		2 => {
			if let Some(who) = seat.filter(|_| detail < 128).or(Some(STRANGER)) {
				let who = RuntimeOrigin::signed(who);
				let _ = Verification::withdraw_request(who, JOB, group as u32);
			}
		}
		3 => {
			if let Some(who) = seat {
				let signed = RuntimeOrigin::signed(who);
				let _ = Verification::accuse(signed, of_trainer(TRAINERS[group]));
			}
		}
		4 => {
			if let Some(who) = seat {
				let other = seats[usize::from(detail) % seats.len()];
				let signed = RuntimeOrigin::signed(who);
				let _ = Verification::accuse(signed, of_seat(other, TRAINERS[group], 0));
			}
		}
		5 if is_standing(&view().phase) => {
			let of = match seat.filter(|_| detail < 128) {
				Some(seat) => of_seat(seat, TRAINERS[group], 0),
				None => of_trainer(TRAINERS[group]),
			};
			if !FakeCourt::is_accusing(&STRANGER, &of.defendant, &of.target) {
				sue(STRANGER, of);
			}
		}
		_ => {
			if let Some(id) = disputes().get(who) {
				match detail % 4 {
					0 => convict(*id, detail < 128),
					_ => drop(acquit(*id)),
				}
			}
		}
	}
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(64))]

	#[test]
	fn every_audit_ends_in_time(
		pool in 0..=6usize,
		groups in 1..=3usize,
		wanted in 1..=6u32,
		salt in any::<u64>(),
		acts in proptest::collection::vec(proptest::collection::vec(act(), 6), 3),
		rescues in proptest::collection::vec(any::<bool>(), 3),
		deeds in proptest::collection::vec((0..8u8, 0..6usize, 0..3usize, any::<u8>()), 0..30),
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
			let from = RuntimeOrigin::signed(SUBMITTER);
			Balances::transfer_allow_death(from, STRANGER, ENDOWMENT / 2).unwrap();
			let keys_stay = keyed == pool || keys.is_empty();
			let before = wealth();
			let mut sat = BTreeSet::new();
			let start = System::block_number();
			open(groups, wanted);
			if let Some(who) = leaves {
				let _ = Verification::deregister(RuntimeOrigin::signed(VERIFIERS[who]));
			}
			let blob = crate::H256([1; 32]);
			BlobSize::set(40);
			let all = everything();
			let named = all.iter().flat_map(|piece| blobs(TRAINERS[0], piece, blob));
			Stored::set(named.map(|(root, _)| root).collect());
			let (mut deeds, mut keys) = (deeds.into_iter(), keys.into_iter());
			let mut said: BTreeMap<(u32, AccountId), Said> = BTreeMap::new();
			let mut heard: BTreeMap<u64, u64> = BTreeMap::new();
			while Outcome::get().is_none() {
				let view = view();
				let (round, plan) = (view.round, &acts[view.round as usize]);
				for (seat, member) in view.committee.iter().enumerate() {
					let who = member.verifier;
					match (&view.phase, &plan[seat]) {
						(AuditPhase::Committing { .. }, Act::Seal) if member.commitment.is_none() => {
							let hash = crate::H256::zero();
							let _ = Verification::commit(RuntimeOrigin::signed(who), JOB, hash);
						},
						(AuditPhase::Committing { .. }, Act::Speak(says)) if member.commitment.is_none() => {
							let mine = say(who, &says[..groups]);
							let _ = commit(who, &mine);
							said.insert((round, who), mine);
						},
						(AuditPhase::Revealing { .. }, Act::Speak(_)) if member.findings.is_none() => {
							if let Some(mine) = said.get(&(round, who)) {
								let _ = reveal(who, mine);
							}
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
				if let Some(deed) = deeds.next() {
					meddle(deed, groups);
				}
				// The court decides in time.
				let now = System::block_number();
				for id in disputes() {
					let since = *heard.entry(id).or_insert(now);
					if now > since + u64::from(HEARING) && disputes().contains(&id) {
						acquit(id);
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
			assert!(decisions.iter().filter(|decision| decision.is_true()).count() <= 1);
			// Nobody could be drawn, from the beginning to the end.
			if keys_stay && (keyed == 0 || (keyed == 1 && leaves == Some(0))) {
				assert!(decisions.iter().all(|d| *d == Decision::Undecided));
			}
			assert!(served.iter().all(|who| sat.contains(who)));
			assert!(Pool::<Test>::get().values().all(|entry| entry.locked == 0));
			assert_eq!(Accusations::<Test>::iter().count() + Claims::<Test>::iter().count(), 0);
			assert_eq!(wealth() + burned(), before);
			// Nobody but who sat, and who asked for something, lost anything.
			for (at, who) in TRAINERS.iter().enumerate() {
				assert!(Balances::total_balance(who) >= ENDOWMENT, "trainer {at}");
			}
			// The escrow owes no more than it has.
			let owed: u128 = Owed::get().iter().map(|(_, amount)| amount).sum();
			assert!(owed <= STORAGE);
		});
	}
}
