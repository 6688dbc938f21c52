//! The period follows the number of reports.

use super::*;
use crate::{Period, Reported, Window};

/// Lets `times` as many reports have come as are wanted, and the window end. Returns the period.
fn window(times: f64) -> u32 {
	// The first block begins the first window.
	pass(1);
	let (since, ends) = Window::<Test>::get();
	Reported::<Test>::put((f64::from(PER_BLOCK * (ends - since)) * times) as u32);
	to(ends);
	Stinting::period()
}

#[test]
fn the_period_doubles_and_halves_with_the_reports() {
	run(|| {
		assert_eq!(Stinting::period(), MIN_PERIOD);
		assert_eq!(window(0.0), MIN_PERIOD);
		assert_eq!((window(1.0), Period::<Test>::get()), (MIN_PERIOD, None));
		assert_eq!(window(1.5), MIN_PERIOD * 3 / 2);
		assert!(events().contains(&Event::PeriodSet { period: 30 }));
		assert_eq!(window(100.0), 60, "twice at most");
		assert_eq!(window(100.0), 120);
		let (since, ends) = Window::<Test>::get();
		assert_eq!(ends - since, 360, "three periods");
		assert_eq!(window(1.0), 120);
		assert_eq!(window(0.01), 60, "half at least");
		assert_eq!(window(0.0), 30);
		assert_eq!(window(0.0), MIN_PERIOD, "and never less than the least");
		assert_eq!(Reported::<Test>::get(), 0);
		let (since, ends) = Window::<Test>::get();
		assert_eq!(ends - since, RETARGET);
	});
}

/// A stint keeps the times with which it began, however the period moves.
#[test]
fn a_stint_keeps_its_times() {
	run(|| {
		while Stinting::period() < 160 {
			window(10.0);
		}
		assert_ok!(Stinting::begin(signed(DRILLER)));
		let stint = Stints::<Test>::get(DRILLER).unwrap();
		assert_eq!(stint.until - stint.begun, 320, "two periods");
		Period::<Test>::put(MIN_PERIOD);
		to(stint.until);
		assert_ok!(Stinting::report(signed(DRILLER), stint.number, H256::zero(), 1));
	});
}

/// However many drill, a block takes the same number of reports. Here drillers report as soon as they
/// may, all of them at once in the beginning.
#[test]
fn blocks_take_a_constant_number_of_reports() {
	run(|| {
		pass(1);
		let most = DRILLERS.len() as u32;
		for drillers in [most, 40, 400, 2_000] {
			// When each may report next.
			let mut due = vec![System::block_number(); drillers as usize];
			let (mut counts, mut number) = (Vec::new(), 0u32);
			for _ in 0..24_000 {
				pass(1);
				let now = System::block_number();
				let period = Stinting::period();
				let mut count = 0;
				for from in due.iter_mut().filter(|from| **from <= now) {
					number += 1;
					let seed = stint::seed(&H256::zero(), &number, number);
					*from = now + period + stint::delay(&seed, period);
					count += 1;
				}
				Reported::<Test>::mutate(|n| *n += count);
				counts.push(count);
			}
			let late = &counts[12_000..];
			let mean = late.iter().sum::<u32>() as f64 / late.len() as f64;
			let peak = *late.iter().max().unwrap();
			assert!(mean <= f64::from(PER_BLOCK) * 1.1, "{drillers}: {mean}");
			assert!(peak <= PER_BLOCK * 6, "{drillers}: {peak} in one block");
			assert!(Stinting::period() == MIN_PERIOD || mean > f64::from(PER_BLOCK) * 0.85);
		}
	});
}
