//! Whatever happens in whatever order, money is conserved, and everything ends.

use super::*;
use proptest::prelude::*;

const PEOPLE: [AccountId; 4] = [TRAINER, ANNA, BERT, JUDGES[0]];

fn side(seed: u32) -> Side {
	if seed.is_multiple_of(2) {
		Side::Right
	} else {
		Side::Wrong
	}
}

fn act(what: u8, who: u8, which: u8, seed: u32) {
	let who = PEOPLE[usize::from(who) % PEOPLE.len()];
	let statement = match seed % 3 {
		0 => result(),
		1 => Statement::Result { job: JOB, root: root(), late: true },
		_ => words(),
	};
	let which = u64::from(which) % 6;
	let amount = Balance::from(seed % 700);
	match what {
		0..=2 => {
			let sides = [None, Some(Side::Right), Some(Side::Wrong)];
			let offered = Offered {
				stake: Balance::from(seed % 5_000),
				notice: seed % 7,
				panel: (!seed.is_multiple_of(4)).then(panel),
				until: System::block_number() + seed % 90,
				..offered(sides[(seed / 7) as usize % 3], seed % 13, 1 + seed % 5)
			};
			let _ = Betting::offer(signed(who), statement, offered);
		}
		3..=6 => {
			let _ = Betting::take(signed(who), which, side(seed), amount);
		}
		7 => {
			let _ = Betting::withdraw(signed(who), which);
		}
		8 => {
			let word = (!seed.is_multiple_of(3)).then_some(amount / 200 * 100);
			let _ = Betting::agree(signed(who), which, word);
		}
		9 => {
			let judgement = (!seed.is_multiple_of(3)).then(|| side(seed));
			let _ = Betting::judge(signed(JUDGES[seed as usize % 3]), which, judgement);
		}
		10 => {
			let _ = Betting::settle(signed(who), which);
		}
		11 => {
			Betting::convicted(JOB, &who, seed.is_multiple_of(2));
			stage(ResultStage::Known);
		}
		12 if seed.is_multiple_of(5) => {
			let all = [Outcome::Right, Outcome::Wrong, Outcome::Forfeited, Outcome::Unknown];
			over(all[(seed / 5) as usize % 4]);
		}
		13 if seed.is_multiple_of(5) => Known::set(Default::default()),
		14 => stage(ResultStage::Open),
		_ => pass(seed % 15),
	}
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(256))]

	#[test]
	fn money_is_conserved_and_everything_ends(
		acts in proptest::collection::vec((0u8..16, any::<u8>(), any::<u8>(), any::<u32>()), 1..120),
		ending in 0usize..4,
	) {
		run(|| {
			let money = Balances::total_issuance();
			for (what, who, which, seed) in acts {
				act(what, who, which, seed);
				check();
				assert_eq!(Balances::total_issuance(), money);
			}
			// Then nobody does anything any more, and the job ends by its deadlines.
			let all = [Outcome::Right, Outcome::Wrong, Outcome::Forfeited, Outcome::Unknown];
			over(all[ending]);
			pass(300);
			assert_eq!((Bets::<Test>::iter().count(), Offers::<Test>::iter().count()), (0, 0));
			assert_eq!(Convictions::<Test>::iter().count(), 0);
			assert!(ALL.iter().all(|who| held(*who) == 0));
			assert_eq!(ALL.iter().map(|who| gain(*who)).sum::<i128>(), 0);
		});
	}
}
