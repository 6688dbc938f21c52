//! What attackers try, and what comes of it. The figures are in `docs/proof-of-hashrate.md`.

use super::*;
use trainyard_traits::TrainerRegistry;

const WEEK_MS: u64 = 604_800_000;

/// The session keys' public keys in BABE of the present session, in the authorities' order.
fn babe_keys() -> Vec<sp_consensus_babe::AuthorityId> {
	Babe::authorities().into_iter().map(|(key, _)| key).collect()
}

/// The share of `who` in weights that come in the order of `validators`.
fn share(validators: &[u64], weights: &[u64], who: &[u64]) -> f64 {
	assert_eq!(validators.len(), weights.len());
	let part: u64 =
		validators.iter().zip(weights).filter(|(v, _)| who.contains(v)).map(|(_, w)| w).sum();
	part as f64 / weights.iter().sum::<u64>() as f64
}

/// One identity or three: the same weight in BABE and in GRANDPA, and so the same slots and
/// the same part of finality. With one head one vote the three would hold three quarters.
#[test]
fn splitting_changes_no_share_of_the_weight() {
	let run = |trainers: Vec<(u64, u64)>, mine: &[u64]| {
		let mut found = vec![];
		Genesis { trainers, min_share: 0 }.run(|| {
			run_to_session(2, 1);
			let validators = Session::validators();
			found = [babe_weights(), next_babe_weights(), grandpa_weights()]
				.map(|weights| share(&validators, &weights, mine))
				.to_vec();
		});
		found
	};
	let whole = run(vec![(1, 60), (2, 30)], &[2]);
	let split = run(vec![(1, 60), (2, 10), (3, 10), (4, 10)], &[2, 3, 4]);
	assert_eq!(whole, vec![1.0 / 3.0; 3]);
	assert_eq!(split, whole);
}

/// Parts below the least power of an authority count for nothing.
#[test]
fn crumbs_below_the_least_power_are_lost() {
	Genesis { trainers: vec![(1, 60), (2, 10), (3, 10), (4, 10)], min_share: 20 }.run(|| {
		run_to_session(2, 1);
		assert_eq!(Session::validators(), vec![1]);
		assert_eq!(babe_weights(), vec![60]);
	});
}

/// However many identities there are, none that is weaker takes the place of a stronger one;
/// and each of them has bonded.
#[test]
fn a_flood_of_identities_displaces_nobody_stronger() {
	Genesis::default().run(|| {
		let flood = 4..=6;
		for who in flood.clone() {
			stand(who, 9);
		}
		run_to_session(1, 1);
		run_to_session(3, 2);
		// Four fit: the three that are stronger, and one of the others.
		assert_eq!(Session::validators(), vec![1, 2, 3, 4]);
		assert_eq!(babe_weights(), vec![10, 20, 30, 9]);
		let bonds: u128 = flood.map(|who| Hashrate::trainer(&who).unwrap().bond).sum();
		assert_eq!(bonds, 3 * MIN_BOND);
	});
}

/// Computing for an hour at a rate makes 1 - 2^(-1/168) = 0.41 % of it count, and half of
/// that is left a week later: 27 times the power of all others, for an hour, are a tenth.
#[test]
fn renting_for_an_hour_is_worth_little() {
	Genesis { trainers: vec![(1, 0)], min_share: 0 }.run(|| {
		register(5);
		// The chain has begun: power decays.
		run_to(2, 1);
		let rate = 1_000_000_000_000u64; // micro-ut a day
		let minute = rate / 1_440;
		for _ in 0..60 {
			pallet_timestamp::Now::<Test>::mutate(|now| *now += 60_000);
			Hashrate::credit_training(&5, minute);
		}
		let counts = Hashrate::ecp(&5) as f64 / (0.6 * rate as f64);
		let exact = 1.0 - 2f64.powf(-1.0 / 168.0);
		assert!((counts / exact - 1.0).abs() < 1e-4, "{counts} {exact}");
		let others = 1.0;
		let share = 27.0 * counts / (others + 27.0 * counts);
		assert!((share - 0.1).abs() < 0.001, "{share}");
		pallet_timestamp::Now::<Test>::mutate(|now| *now += WEEK_MS);
		let left = Hashrate::ecp(&5) as f64 / (0.6 * rate as f64);
		assert!((left / counts - 0.5).abs() < 1e-6, "{left}");
	});
}

/// Work that is credited once a session has been announced counts from the session after it on,
/// when the renter has paid for all the time between.
#[test]
fn power_that_comes_after_the_announcement_waits() {
	Genesis::default().run(|| {
		run_to_session(1, 1);
		set_power(2, 1_000_000);
		while Session::current_index() < 2 {
			assert_eq!(babe_weights(), vec![10, 20, 30]);
			assert_eq!(grandpa_weights(), vec![10, 20, 30]);
			run_block(1);
		}
		assert_eq!(babe_weights(), vec![10, 20, 30]);
		run_to_session(3, 1);
		assert_eq!(babe_weights(), vec![10, 1_000_000, 30]);
	});
}

/// A key that is set now makes blocks three sessions later, under a randomness of which no output
/// was made yet when it was set: there is nothing to choose it by, also not for the author of a
/// session's last block.
#[test]
fn a_new_key_meets_a_randomness_that_nobody_had() {
	Genesis::default().run(|| {
		run_to(3, 1);
		let known = [Babe::randomness(), pallet_babe::NextRandomness::<Test>::get()];
		let mut fresh = keys(2);
		fresh.babe = keys(12).babe;
		pallet_session::NextKeys::<Test>::insert(2, fresh);
		let old = babe_keys();
		run_to_session(1, 1);
		assert_eq!(babe_keys(), old, "not in the next session yet");
		let mixed = pallet_babe::NextRandomness::<Test>::get();
		run_to_session(2, 1);
		assert_eq!(Session::validators(), vec![1, 3]);
		assert_eq!(Babe::randomness(), mixed, "whose last outputs came after the key");
		run_to_session(3, 1);
		assert_eq!(babe_keys().len(), 3);
		assert_ne!(babe_keys(), old);
		assert!(![known.as_slice(), &[mixed]].concat().contains(&Babe::randomness()));
	});
}

/// Every block of an epoch, the last too, changes the randomness of the epoch after the next:
/// otherwise short epochs would all be known for ever, and keys could be chosen by them.
#[test]
fn the_last_block_of_an_epoch_changes_a_later_randomness() {
	let randomness_of_the_epoch_after_next = |last: u64| {
		let mut found = [0; 32];
		Genesis::default().run(|| {
			run_to(4, 1);
			assert_eq!(Session::current_index(), 0);
			run_block(last);
			assert_eq!(Session::current_index(), 0);
			run_to_session(1, 1);
			found = pallet_babe::NextRandomness::<Test>::get();
			run_to_session(2, 1);
			assert_eq!(Babe::randomness(), found);
		});
		found
	};
	assert_ne!(randomness_of_the_epoch_after_next(1), randomness_of_the_epoch_after_next(2));
}

/// A hundred identities of a fifth of the weight set their keys in a session's last block, each the
/// one of twenty with the most slots. Where such keys counted they would win three times their slots.
/// They win nothing: they are not there.
#[test]
fn keys_ground_in_the_last_block_make_no_block() {
	Genesis::default().run(|| {
		run_to_session(1, 1);
		for who in [4, 5] {
			stand(who, 20);
		}
		run_to_session(4, 3);
		assert_eq!(Session::validators(), vec![2, 3, 4, 5]);
		run_to(24, 3);
		// The next block begins session 5, and mixes the randomness of session 6.
		for who in [4, 5] {
			let mut ground = keys(who);
			ground.babe = keys(who + 10).babe;
			pallet_session::NextKeys::<Test>::insert(who, ground);
		}
		run_to_session(6, 3);
		assert!(![4, 5].iter().any(|who| Session::validators().contains(who)));
	});
}

/// What a third of an empty market costs is what the floors say, and not "ten ut". Of a market with
/// volume five times its drilling, or one and a quarter of its training.
#[test]
fn a_third_of_the_weight_costs_the_floors_at_least() {
	use crate::shares::{Claim, Floors, Totals};
	let floors = Floors { drilling: 1_000_000, training: 1_000 };
	let share = |own: Claim, others: Claim| {
		let founder = Claim { founder: 1, ..Default::default() };
		let totals = Totals::of(floors, [own, others, founder].iter());
		totals.share(&own) as f64 / trainyard_protocol::views::WHOLE_WEIGHT as f64
	};
	let drilling = |drilling| Claim { drilling, ..Default::default() };
	let training = |training| Claim { training, ..Default::default() };
	let third = |found: f64| assert!((found - 1.0 / 3.0).abs() < 0.001, "{found}");
	// Ten ut of one's own, in a market where there is nothing else.
	assert!(share(drilling(10), Claim::default()) < 1e-5);
	third(share(drilling(833_334), Claim::default()));
	third(share(training(556), Claim::default()));
	// Others' training does not make drilling cheaper, and the other way round.
	third(share(drilling(833_334), training(100_000)));
	third(share(training(556), drilling(100_000_000)));
	// Beside others of the same kind.
	third(share(drilling(5 * 2_000_000), drilling(2_000_000)));
	third(share(training(1_250 * 2), training(1_000 * 2)));
	// All of the drilling there is never decides on more than 0.4.
	assert!(share(drilling(u64::MAX), drilling(1_000_000)) <= 0.4);
}
