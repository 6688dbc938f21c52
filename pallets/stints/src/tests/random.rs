//! Random sequences of calls and blocks: what must hold holds, and money is conserved.

use super::*;
use crate::Phase;
use proptest::prelude::*;

/// Something that somebody does.
#[derive(Clone, Debug)]
enum Step {
	Begin(usize),
	Retire(usize),
	Report(usize, u32),
	Commit(usize, bool),
	Open(usize, bool),
	Reveal(usize, bool),
	Blocks(u32),
	Pool(usize),
	Busy(bool),
	Bond(usize, bool),
}

fn step() -> impl Strategy<Value = Step> {
	let who = || 0..DRILLERS.len();
	prop_oneof![
		2 => who().prop_map(Step::Begin),
		1 => who().prop_map(Step::Retire),
		8 => (who(), 1..50u32).prop_map(|(who, laps)| Step::Report(who, laps)),
		12 => (0..20usize, prop::bool::weighted(0.9)).prop_map(|(v, t)| Step::Commit(v, t)),
		6 => (who(), prop::bool::weighted(0.8)).prop_map(|(who, t)| Step::Open(who, t)),
		12 => (0..20usize, prop::bool::weighted(0.9)).prop_map(|(v, t)| Step::Reveal(v, t)),
		8 => (1..25u32).prop_map(Step::Blocks),
		1 => prop_oneof![Just(2usize), Just(3), Just(8), Just(20)].prop_map(Step::Pool),
		1 => any::<bool>().prop_map(Step::Busy),
		1 => (who(), any::<bool>()).prop_map(|(who, has)| Step::Bond(who, has)),
	]
}

/// The results that a driller's stint of this number has.
fn results(who: AccountId, number: u32, count: u32) -> Vec<H256> {
	laps(who * 1_000 + u64::from(number), count)
}

fn take(step: &Step) {
	match *step {
		Step::Begin(who) => drop(Stinting::begin(signed(DRILLERS[who]))),
		Step::Retire(who) => drop(Stinting::retire(signed(DRILLERS[who]))),
		Step::Report(who, count) => {
			let who = DRILLERS[who];
			let number = Stints::<Test>::get(who).map_or(0, |stint| stint.number);
			let root = root(&results(who, number, count));
			let _ = Stinting::report(signed(who), number, root, count);
		}
		Step::Commit(verifier, truth) => {
			let who = VERIFIERS.start + verifier as u64;
			for view in Stinting::checks(&who) {
				let all = results(view.driller, view.number, view.laps);
				let found = if truth { digest(view.id, &all) } else { H256::repeat_byte(1) };
				let made =
					stint::commitment(&Stinting::genesis_hash(), view.id, &who, &found, &SALT);
				let _ = Stinting::check(signed(who), view.id, made);
			}
		}
		Step::Open(who, truth) => {
			if let Some(view) = Stinting::pending(&DRILLERS[who]) {
				if matches!(get(view.id).phase, Phase::Opening { .. }) {
					let number = if truth { view.number } else { 777 };
					let opened = open(view.id, &results(view.driller, number, view.laps));
					assert!(truth || opened.is_err(), "nothing else is under the root");
				}
			}
		}
		Step::Reveal(verifier, truth) => {
			let who = VERIFIERS.start + verifier as u64;
			for view in Stinting::checks(&who) {
				let all = results(view.driller, view.number, view.laps);
				let found = if truth { digest(view.id, &all) } else { H256::repeat_byte(1) };
				let _ = Stinting::check_reveal(signed(who), view.id, found, SALT);
			}
		}
		Step::Blocks(count) => pass(count),
		Step::Pool(size) => Pool::set(VERIFIERS.take(size).collect()),
		Step::Busy(busy) => Busy::set(busy),
		Step::Bond(who, has) => {
			let bond = if has { BOND } else { 0 };
			Bonds::mutate(|bonds| bonds.insert(DRILLERS[who], bond));
		}
	}
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(128))]

	#[test]
	fn any_sequence_keeps_the_state_whole(steps in proptest::collection::vec(step(), 1..200)) {
		run(|| {
			for step in &steps {
				take(step);
				Stinting::do_try_state().unwrap();
			}
			// Without verifiers everything comes to an end by itself.
			Pool::set(Vec::new());
			pass(8_000);
			assert_eq!(Reports::<Test>::iter().count(), 0);
			assert!(Seated::get().is_empty(), "every seat is released");
			for who in DRILLERS {
				if Stints::<Test>::contains_key(who) {
					assert_ok!(Stinting::retire(signed(who)));
				}
			}
		});
	}
}
