//! Outer steps: contributions, vouching, and shares in what they bring.

use super::*;
use crate::AveragingFault;
use trainyard_protocol::{
	swarm::{Averaging, OuterFault, OuterRule, KEPT_STEPS, MAX_CONTRIBUTIONS},
	H256,
};

/// A swarm of outer steps whose seed is there, with these peers.
fn ready(who: core::ops::Range<u64>) -> u32 {
	let id = open_with(outer_plan());
	who.for_each(|who| join(id, who));
	to_step(id, 1, true);
	assert!(get(id).seed.is_some());
	id
}

fn contribute(id: u32, who: u64, step: u32, base: u32) -> frame_support::dispatch::DispatchResult {
	Swarming::contribute(signed(who), id, step, brought(base, who as u8))
}

#[test]
fn the_rule_is_checked() {
	run(|| {
		store(&model_file(0));
		let open = |plan: Plan, budget| {
			Swarming::open(signed(OPENER), Box::new(template()), slices(0..5), plan, budget)
		};
		let by = |rule| Plan { averaging: Averaging::Outer(rule), ..outer_plan() };
		let fault = |fault| Error::<Test>::InvalidAveraging(AveragingFault(fault));
		let wrong = by(OuterRule { picks: 0, ..RULE });
		assert_noop!(open(wrong, BUDGET), fault(OuterFault::Compression));
		let wrong = by(OuterRule { vouch: 0, ..RULE });
		assert_noop!(open(wrong, BUDGET), fault(OuterFault::Blocks));
		let wrong = by(OuterRule { train: MAX + 1, ..RULE });
		assert_noop!(open(wrong, BUDGET), Error::<Test>::BadBlocks);
		let wrong = Plan { averaging: Averaging::Outer(RULE), ..plan(Payer::Peers) };
		assert_noop!(open(wrong, 0), Error::<Test>::OuterNeedsBudget);
		let wrong = Plan { max_peers: MAX_CONTRIBUTIONS + 1, ..outer_plan() };
		assert_noop!(open(wrong, BUDGET), Error::<Test>::BadPeers);
		let mut still = template();
		still.training.input_noise_nano = 0;
		let open_still =
			Swarming::open(signed(OPENER), Box::new(still), slices(0..5), outer_plan(), BUDGET);
		assert_noop!(open_still, Error::<Test>::NoNoise);
		let pairs = open_with(plan(Payer::Budget));
		let before = get(pairs).record;
		let id = open_with(outer_plan());
		assert!(get(id).record > before + 30_000, "the opener pays for what steps put on record");
	});
}

#[test]
fn contributions_come_in_their_time_and_once() {
	run(|| {
		let pairs = open(Payer::Budget);
		join(pairs, 11);
		assert_noop!(contribute(pairs, 11, 0, 0), Error::<Test>::NoOuterSteps);
		assert_noop!(vouch(pairs, 11, 0, 0), Error::<Test>::NoOuterSteps);
		let id = open_with(outer_plan());
		join(id, 11);
		assert_noop!(contribute(id, 11, 0, 0), Error::<Test>::NoSeed);
		assert_noop!(contribute(9, 11, 0, 0), Error::<Test>::NoSuchSwarm);
		to_step(id, 1, true);
		assert_noop!(contribute(id, 12, 1, 1), Error::<Test>::NotPeer);
		assert_noop!(contribute(id, 11, 0, 0), Error::<Test>::NotNow);
		assert_noop!(contribute(id, 11, 2, 2), Error::<Test>::NotNow);
		assert_noop!(contribute(id, 11, 1, 2), Error::<Test>::WrongBase);
		assert_noop!(vouch(id, 11, 1, 0), Error::<Test>::NotNow);
		assert_ok!(contribute(id, 11, 1, 1));
		assert_noop!(contribute(id, 11, 1, 0), Error::<Test>::HasContributed);
		let all = Swarming::step(id, 1);
		assert_eq!((all.len(), all[0].peer, all[0].before), (1, 11, H256::zero()));
		assert_eq!((all[0].brought, all[0].vouches), (brought(1, 11), None));
		assert_eq!(peer(id, 11).kept, H256::repeat_byte(11));
		join(id, 12);
		assert_ok!(Swarming::leave(signed(12), id));
		assert_noop!(contribute(id, 12, 1, 1), Error::<Test>::IsLeaving);
		to_step(id, 1, false);
		join(id, 13);
		assert_noop!(contribute(id, 13, 1, 1), Error::<Test>::NotNow);
		to_step(id, 8, true);
		assert_noop!(contribute(id, 11, 8, 0), Error::<Test>::WrongBase);
		assert_ok!(contribute(id, 11, 8, 1));
		assert_eq!(Swarming::step(id, 8)[0].before, H256::repeat_byte(11), "what it left before");
	});
}

#[test]
fn who_contributed_vouches_and_its_last_word_counts() {
	run(|| {
		let id = ready(11..14);
		(11..13).for_each(|who| {
			assert_ok!(contribute(id, who, 1, 1));
		});
		to_step(id, 1, false);
		let first = |who, bits| vouch(id, who, 1, bits);
		assert_noop!(first(13, 1), Error::<Test>::NotContributor);
		assert_noop!(first(11, 4), Error::<Test>::WrongVouches);
		let other = Swarming::vouch(signed(11), id, 1, H256::zero(), 1);
		assert_noop!(other, Error::<Test>::OtherContributions);
		assert_ok!(first(11, 1));
		assert_ok!(first(11, 3));
		assert_ok!(first(12, 2));
		assert_eq!(Swarming::step(id, 1)[0].vouches, Some(3));
		to_step(id, 2, true);
		assert_noop!(first(12, 3), Error::<Test>::NotNow);
		assert_ok!(contribute(id, 11, 2, 2));
		let stepped = Event::Stepped { swarm: id, step: 1, contributions: 2, counted: 2 };
		assert!(events().contains(&stepped));
		// A half is not more than a half, and one who was late has a half of the shares.
		assert_eq!((peer(id, 11).shares, peer(id, 12).shares), (0, 128));
		assert_ok!(contribute(id, 12, 2, 1));
		to_step(id, 2, false);
		assert_ok!(vouch(id, 11, 2, 3));
		to_step(id, 3, true);
		assert_ok!(contribute(id, 11, 3, 3));
		assert_eq!((peer(id, 11).shares, peer(id, 12).shares, get(id).shares), (128, 192, 320));
	});
}

#[test]
fn a_gain_is_shared_by_what_was_contributed() {
	run(|| {
		let id = ready(11..15);
		outer_step(id, 1, 11..14);
		outer_step(id, 2, 11..13);
		to_step(id, 3, true);
		// 14 claims what the others made: a gain of 25 labels is 2,500.
		let all = round(id, 14, 1, 525, 500);
		let shared = (2_500 - FEE) - (2_500 - FEE) / 10;
		let event = Event::Shared { swarm: id, amount: shared, shares: 5 * 128 };
		assert!(happened(&all, |one| *one == event), "{all:?}");
		assert_eq!(peer(id, 14).earned, FEE + (2_500 - FEE) / 10);
		let owed = |who| Swarming::peer(id, &who).unwrap().owed;
		let part = shared * 2 / 5;
		assert_eq!([owed(11), owed(12), owed(13), owed(14)], [part, part, shared / 5, 0]);
		assert_eq!((get(id).budget, get(id).pot), (BUDGET - 2_500, shared));
		let before = free(11);
		assert_ok!(Swarming::collect(signed(11), id));
		assert_eq!((free(11), owed(11), peer(id, 11).earned), (before + part, 0, part));
		assert_noop!(Swarming::collect(signed(11), id), Error::<Test>::NothingToCollect);
		assert_noop!(Swarming::collect(signed(14), id), Error::<Test>::NothingToCollect);
		assert_noop!(Swarming::collect(signed(20), id), Error::<Test>::NotPeer);
		assert_noop!(Swarming::collect(signed(11), 9), Error::<Test>::NoSuchSwarm);
		// Who goes is paid, and has no part in what comes after.
		assert_ok!(Swarming::leave(signed(12), id));
		pass(60);
		assert_ok!(Swarming::leave(signed(12), id));
		assert_eq!(get(id).shares, 3 * 128);
		round(id, 14, 2, 550, 525);
		assert_eq!([owed(11), owed(13)], [shared * 2 / 3, shared / 5 + shared / 3]);
		check();
		// What nobody collected is paid when the swarm is forgotten, and the opener has back what remains.
		to(1_100);
		pass(RETENTION + 20);
		assert!(crate::Swarms::<Test>::get(id).is_none());
		assert_eq!(held(OPENER), 0);
		assert_eq!(free(13), ENDOWMENT + shared / 5 + shared / 3);
		check();
	});
}

#[test]
fn without_shares_the_claimant_has_all_and_the_limit_of_a_peer_holds() {
	run(|| {
		let id = open_with(Plan { most_per_peer: 1_000, ..outer_plan() });
		join(id, 11);
		join(id, 12);
		to_step(id, 1, true);
		round(id, 11, 1, 505, 500);
		assert_eq!(peer(id, 11).earned, 500, "nobody has contributed");
		let step = RULE.moment(get(id).began, System::block_number()).step + 1;
		outer_step(id, step, 12..13);
		to_step(id, step + 1, true);
		round(id, 11, 2, 525, 505);
		assert_ok!(Swarming::collect(signed(12), id));
		assert_eq!((peer(id, 11).earned, peer(id, 12).earned), (718, 1_000));
		assert_noop!(Swarming::collect(signed(12), id), Error::<Test>::NothingToCollect);
		check();
	});
}

/// A claim of a gain that is worth no more than its fee does not pay, whoever owns the slices.
#[test]
fn a_claimant_has_half_of_a_small_gain_at_most() {
	run(|| {
		let plan = Plan { claim_fee: 400, ..outer_plan() };
		let id = open_with(plan);
		(11..13).for_each(|who| join(id, who));
		outer_step(id, 1, 11..12);
		to_step(id, 2, true);
		round(id, 12, 1, 505, 500);
		assert_eq!(peer(id, 12).earned, 250, "of 500 points that are worth 500");
		assert_eq!(Swarming::peer(id, &11).unwrap().owed, 250, "the other half is shared");
		check();
	});
}

#[test]
fn the_last_steps_are_remembered() {
	run(|| {
		let id = ready(11..12);
		for step in 1..=KEPT_STEPS + 2 {
			outer_step(id, step, 11..12);
		}
		let kept: Vec<u32> = (3..=KEPT_STEPS + 2).collect();
		assert_eq!(Swarming::view(id).unwrap().steps, kept);
		assert!(Swarming::step(id, 2).is_empty() && !Swarming::step(id, 3).is_empty());
		check();
	});
}

/// Somebody with most of the peers can take what a gain brings from the others, and nothing else.
#[test]
fn a_majority_of_false_contributions_takes_a_part_of_measured_gain_alone() {
	run(|| {
		let id = ready(11..16);
		to_step(id, 1, true);
		(11..16).for_each(|who| {
			assert_ok!(contribute(id, who, 1, 1));
		});
		to_step(id, 1, false);
		(11..13).for_each(|who| {
			assert_ok!(vouch(id, who, 1, 0b00011));
		});
		(13..16).for_each(|who| {
			assert_ok!(vouch(id, who, 1, 0b11100));
		});
		to_step(id, 2, true);
		assert_ok!(contribute(id, 11, 2, 2));
		assert_eq!(
			(11..16).map(|who| peer(id, who).shares).collect::<Vec<_>>(),
			[0, 0, 128, 128, 128]
		);
		// Without a gain nothing is theirs, and a loss costs who claimed.
		let all = round(id, 13, 1, 480, 500);
		assert!(!happened(&all, |event| matches!(event, Event::Shared { .. })));
		assert_noop!(Swarming::collect(signed(13), id), Error::<Test>::NothingToCollect);
		assert_eq!(get(id).budget, BUDGET);
	});
}

/// A minority that vouches for its own, and for nobody else, changes nothing.
#[test]
fn a_minority_neither_brings_its_own_in_nor_keeps_others_out() {
	run(|| {
		let id = ready(11..16);
		to_step(id, 1, true);
		(11..16).for_each(|who| {
			assert_ok!(contribute(id, who, 1, 1));
		});
		to_step(id, 1, false);
		(11..14).for_each(|who| {
			assert_ok!(vouch(id, who, 1, 0b00111));
		});
		(14..16).for_each(|who| {
			assert_ok!(vouch(id, who, 1, 0b11000));
		});
		to_step(id, 2, true);
		assert_ok!(contribute(id, 11, 2, 2));
		assert_eq!(
			(11..16).map(|who| peer(id, who).shares).collect::<Vec<_>>(),
			[128, 128, 128, 0, 0]
		);
	});
}
