//! Slots as the client claims them: `sc_consensus_babe`'s own function with keys in a
//! keystore, against the exact thresholds `1 - (1 - c)^(weight / total)`. No network; seeds
//! are fixed, so a run gives the same claims as any other.

use sc_consensus_babe::{authorship::claim_slot_using_keys, Epoch};
use sp_consensus_babe::{digests::PreDigest, AuthorityId, BabeEpochConfiguration};
use sp_core::H256;
use sp_io::hashing::blake2_256;
use sp_keystore::{testing::MemoryKeystore, Keystore, KeystorePtr};
use sp_runtime::RuntimeAppPublic;
use std::thread;
use trainyard_runtime::presets::LOTTERY;

/// Slots of an epoch; each has a randomness of its own.
const EPOCH_SLOTS: u64 = 250;

/// A two-sided p-value of 10^-4 of the normal distribution, in standard deviations. The
/// binomial counts here are all so large that the normal distribution stands for them.
const P_1E_4: f64 = 3.8906;

/// Who claimed a slot: element `i` is authority `i`.
type Claims = Vec<bool>;

/// Authorities with these weights, whose keys come from fixed seeds, and a keystore with all
/// of the keys.
fn authorities(weights: &[u64]) -> (KeystorePtr, Vec<(AuthorityId, u64)>) {
	let keystore = MemoryKeystore::new();
	let list = (0u32..)
		.zip(weights)
		.map(|(i, weight)| {
			// A raw seed: the keystore makes the pair again at every use, and a phrase would take
			// ten times as long as the claim.
			let seed = format!("{:?}", H256(blake2_256(&i.to_le_bytes())));
			let key = keystore.sr25519_generate_new(AuthorityId::ID, Some(&seed)).unwrap();
			(key.into(), *weight)
		})
		.collect();
	(keystore.into(), list)
}

/// Epoch `index` of these authorities.
fn epoch(index: u64, authorities: &[(AuthorityId, u64)], config: BabeEpochConfiguration) -> Epoch {
	sp_consensus_babe::Epoch {
		epoch_index: index,
		start_slot: (index * EPOCH_SLOTS).into(),
		duration: EPOCH_SLOTS,
		authorities: authorities.to_vec(),
		randomness: blake2_256(&index.to_le_bytes()),
		config,
	}
	.into()
}

/// Which of the authorities the client lets claim each of the first `slots` slots. Each authority
/// is asked separately, as on its own node.
fn claims(weights: &[u64], slots: u64, config: BabeEpochConfiguration) -> Vec<Claims> {
	assert_eq!(slots % EPOCH_SLOTS, 0);
	let (keystore, list) = authorities(weights);
	let of_epoch = |index: u64| {
		let epoch = epoch(index, &list, config.clone());
		let claim = |slot: u64, authority: usize| {
			let key = [(list[authority].0.clone(), authority)];
			claim_slot_using_keys(slot.into(), &epoch, &keystore, &key).is_some_and(|(made, by)| {
				assert!(matches!(made, PreDigest::Primary(_)) && by == key[0].0);
				true
			})
		};
		let first = index * EPOCH_SLOTS;
		(first..first + EPOCH_SLOTS)
			.map(|slot| (0..list.len()).map(|authority| claim(slot, authority)).collect())
			.collect::<Vec<Claims>>()
	};
	let threads = thread::available_parallelism().map_or(1, |n| n.get() as u64);
	let epochs = slots / EPOCH_SLOTS;
	let share = epochs.div_ceil(threads);
	thread::scope(|scope| {
		let of_epoch = &of_epoch;
		let parts: Vec<_> = (0..threads)
			.map(|part| (part * share).min(epochs)..((part + 1) * share).min(epochs))
			.map(|part| scope.spawn(move || part.flat_map(of_epoch).collect::<Vec<_>>()))
			.collect();
		parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
	})
}

/// The exact probability that an authority with this share of the weight claims a slot.
fn threshold(c: f64, share: f64) -> f64 {
	1.0 - (1.0 - c).powf(share)
}

/// `c` of a configuration.
fn c_of(config: &BabeEpochConfiguration) -> f64 {
	config.c.0 as f64 / config.c.1 as f64
}

/// Asserts that `count` of `n` is what a binomial distribution gives with p > 10^-4.
#[track_caller]
fn assert_binomial(what: &str, count: usize, n: usize, probability: f64) {
	let (n, count) = (n as f64, count as f64);
	let deviation = (n * probability * (1.0 - probability)).sqrt();
	assert!(deviation > 3.0, "{what}: too few for the normal distribution");
	let z = (count - n * probability) / deviation;
	println!("{what}: {count} of {n}, {:.6} for {probability:.6}, z = {z:.2}", count / n);
	assert!(z.abs() < P_1E_4, "{what}: {count} of {n} where {probability} was expected, z = {z}");
}

/// Asserts that each authority's claims, the filled and the contested slots are as the
/// thresholds say.
#[track_caller]
fn assert_as_thresholds(weights: &[u64], slots: &[Claims], c: f64) {
	let total: u64 = weights.iter().sum();
	let share = |weight: &u64| *weight as f64 / total as f64;
	for (i, weight) in weights.iter().enumerate() {
		let count = slots.iter().filter(|slot| slot[i]).count();
		let what = format!("claims of weight {weight} of {total}");
		assert_binomial(&what, count, slots.len(), threshold(c, share(weight)));
	}
	let won = |slot: &&Claims| slot.iter().filter(|claim| **claim).count();
	let filled = slots.iter().filter(|slot| won(slot) > 0).count();
	assert_binomial("filled slots", filled, slots.len(), c);
	// One winner: all others lose, each with (1 - c)^share.
	let alone: f64 =
		weights.iter().map(|w| threshold(c, share(w)) * (1.0 - c).powf(1.0 - share(w))).sum();
	let contested = slots.iter().filter(|slot| won(slot) > 1).count();
	assert_binomial("contested slots", contested, slots.len(), c - alone);
}

#[test]
fn claims_of_a_hundred_thousand_slots_are_as_the_thresholds() {
	let weights = [1, 2, 3, 4];
	assert_eq!(c_of(&LOTTERY), 0.25);
	let slots = claims(&weights, 100_000, LOTTERY);
	assert_eq!(slots.len(), 100_000);
	assert_as_thresholds(&weights, &slots, 0.25);
}

#[test]
fn other_weights_and_other_c_are_as_the_thresholds() {
	let half = BabeEpochConfiguration { c: (1, 2), ..LOTTERY };
	let cases = [
		(vec![7, 7, 7, 7], LOTTERY),
		(vec![1_000_000_000_000, 3_000_000_000_000, 12_000_000_000_000], half),
		// Nearly the largest sum that there can be.
		(vec![1 << 60, 1 << 61], LOTTERY),
	];
	for (weights, config) in cases {
		let slots = claims(&weights, 5_000, config.clone());
		assert_as_thresholds(&weights, &slots, c_of(&config));
	}
}

#[test]
fn a_weight_too_small_to_win_stops_nobody() {
	let weights = [1, 1 << 61];
	let slots = claims(&weights, 500, LOTTERY);
	assert!(slots.iter().all(|slot| !slot[0]), "1 of 2^61 wins nothing in 500 slots");
	let filled = slots.iter().filter(|slot| slot[1]).count();
	assert_binomial("filled slots", filled, slots.len(), 0.25);
}

/// Whether a trainer has all its weight in one identity or in sixteen, the slots that it
/// wins are equally many; only slots in which several of its identities win make the sum of
/// claims larger, and one block of such a slot can stay.
#[test]
fn splitting_an_identity_wins_no_more_slots() {
	let (parts, count) = (16u64, 4_000);
	let weights: Vec<u64> = [parts].into_iter().chain((0..parts).map(|_| 1)).collect();
	let slots = claims(&weights, count, LOTTERY);
	let (c, n) = (0.25, slots.len());
	let whole = slots.iter().filter(|slot| slot[0]).count();
	assert_binomial("slots of the whole", whole, n, threshold(c, 0.5));
	let split = slots.iter().filter(|slot| slot[1..].iter().any(|claim| *claim)).count();
	assert_binomial("slots of the sixteen", split, n, threshold(c, 0.5));
	let claimed: usize = slots.iter().map(|s| s[1..].iter().filter(|c| **c).count()).sum();
	let each = threshold(c, 0.5 / parts as f64);
	assert_binomial("claims of the sixteen", claimed, n * parts as usize, each);
}
