//! The rule of the fee: bounds, monotony, splitting, fading, and the numbers that the simulation has too.

use super::*;
use proptest::prelude::*;

/// One TRY.
const TRY: Balance = 1_000_000_000_000;
/// A thousandth of it.
const MILLI: Balance = TRY / 1_000;
/// One ut.
const UT: MicroUt = 1_000_000;

/// What `tools/power/price.py` computes by the same rule. `tools/economy-sim --write` writes it.
const VECTORS: &str = include_str!("../../tests/price-vectors.txt");

fn volumes(bought: MicroUt, posted: MicroUt) -> Volumes {
	Volumes { bought, posted, at: 0 }
}

/// A market that buys this much a day, ut, and posts as much.
fn steady(day: MicroUt) -> Volumes {
	volumes(10 * day * UT, day * UT)
}

#[test]
fn the_simulation_has_the_same_numbers() {
	let mut counted = 0;
	for line in VECTORS.lines().filter(|line| !line.starts_with('#')) {
		let cells: Vec<u128> = line.split(' ').map(|cell| cell.parse().unwrap()).collect();
		let [bought, posted, blocks, work, reward, age, volume, expected @ ..] = &cells[..] else {
			panic!("{line}")
		};
		let (blocks, age) = (*blocks as u32, *age as u32);
		let work = *work as u64;
		let aged = volumes(*bought as u64, *posted as u64).aged(blocks);
		let found = [
			aged.bought.into(),
			aged.posted.into(),
			aged.base(*reward),
			aged.fee(*reward, work),
			aged.post(work).take_back(work, age).posted.into(),
			aged.buy(work).credited(*reward, work, aged.base(*reward)).into(),
			place_fee(*reward, age),
			worth(aged.fee(*reward, work), *reward, *volume as u64),
			covered(work, *reward, worth(aged.base(*reward), *reward, *volume as u64)).into(),
			compute(aged.base(*reward), *volume, COMPUTE_PRICE),
		];
		assert_eq!(found[..], *expected, "{line}");
		counted += 1;
	}
	assert!(counted > 50, "the table is there");
}

#[test]
fn the_first_fee_is_that_of_an_empty_market() {
	let first = Volumes::default();
	assert_eq!((first.base(TRY), first.fee(TRY, 1)), (FIRST_FEE, FIRST_FEE));
	assert_eq!(first.free(), 10_000 * UT);
	assert_eq!(first.fee(TRY, 10_000 * UT), FIRST_FEE, "what is free costs the base");
	assert!(first.fee(TRY, 20_000 * UT) > FIRST_FEE);
}

/// What a market burns in a day at the base is 0.15 of what blocks mint, at every volume.
#[test]
fn what_is_burned_stands_in_a_set_relation_to_what_is_minted() {
	for day in [5_000, 80_000, 4_000_000, 24_000_000, 1_000_000_000, 400_000_000_000] {
		for reward in [TRY, TRY / 2, TRY / 10] {
			let burned = Balance::from(day) * steady(day).base(reward);
			let minted = 14_400 * reward;
			let (least, most) = (minted * 1_499 / 10_000, minted * 1_501 / 10_000);
			assert!((least..=most).contains(&burned) || day > 20_000_000_000, "{day}: {burned}");
		}
	}
}

/// Buying at a steady rate leads to ten days of that rate, from below and from above, and burns what it
/// should.
#[test]
fn a_steady_market_settles() {
	for begin in [0, 1_000_000_000 * UT] {
		let (day, mut market, mut burned) = (1_000_000 * UT, volumes(begin, 0), 0);
		for hour in 0..24 * 120u32 {
			market = market.aged(hour * 600).post(day / 24);
			if hour >= 24 * 90 {
				burned += Balance::from(day / 24 / UT) * market.base(TRY);
			}
			market = market.buy(day / 24);
		}
		let minted = 30 * 14_400 * TRY;
		let part = burned * 1_000 / minted;
		assert!((148..=152).contains(&part), "{part}");
		assert!(market.posted < market.free(), "and is not crowded");
	}
}

/// To have a share `x` of the power costs `-ln(1 - x)` times what ten days mint for it, whatever the volume is;
/// to have it at once far more.
#[test]
fn a_share_of_the_power_costs_the_same_at_every_volume() {
	let whole = 15 * 144_000 * TRY / 100;
	for day in [5_000, 1_000_000, 1_000_000_000u64] {
		let (mut market, mut paid) = (steady(day), 0);
		let step = market.bought / 1_000;
		for _ in 0..1_250 {
			paid += Balance::from(step) * market.base(TRY) / Balance::from(UT);
			market = market.buy(step);
		}
		let expected = whole * 811 / 1_000;
		assert!(paid.abs_diff(expected) < expected / 500, "{paid} {expected}");
		let at_once = steady(day).fee(TRY, 1_250 * step) * Balance::from(1_250 * step / UT);
		assert!(at_once > 10 * paid, "{at_once}");
	}
}

#[test]
fn power_that_was_posted_cheaply_and_comes_late_counts_by_what_it_paid() {
	let busy = steady(1_000_000);
	let fee = busy.fee(TRY, 10_000 * UT);
	assert_eq!(busy.credited(TRY, 10_000 * UT, fee), 10_000 * UT);
	// A hundred days later nobody trains.
	let idle = busy.aged(1_440_000);
	let credited = idle.credited(TRY, 10_000 * UT, fee);
	let worth = Balance::from(credited) * idle.base(TRY) / Balance::from(UT);
	assert!(worth <= 10_000 * fee && credited < 100 * UT, "{credited}");
	assert_eq!(idle.credited(TRY, UT, 0), 0);
	assert_eq!(idle.credited(TRY, UT, Balance::MAX), UT);
}

#[test]
fn a_place_costs_by_the_time() {
	let fees = [0, 1, 600, 7_200, 14_400, 1_000_000].map(|age| place_fee(TRY, age));
	assert_eq!(fees, [TRY / 100, TRY / 100, 41_666_666_666, TRY / 2, TRY, TRY]);
	assert_eq!(place_fee(u128::MAX, u32::MAX), u128::MAX);
}

#[test]
fn who_takes_back_at_once_leaves_a_hundredth() {
	let before = steady(5_000);
	let after = before.post(70_000 * UT);
	assert!(after.fee(TRY, UT) > 20 * before.fee(TRY, UT));
	assert_eq!(after.take_back(70_000 * UT, 0), before.post(700 * UT));
	// Half a day later half of what is left stays, for which the place was paid.
	let later = after.aged(7_200);
	let left = later.take_back(70_000 * UT, 7_200).posted - before.aged(7_200).posted;
	let half = faded(70_000 * UT, 7_200, DAY) / 2;
	assert!(left.abs_diff(half) < 10, "{left} {half}");
	assert_eq!(later.take_back(70_000 * UT, DAY), later);
}

#[test]
fn prices_of_a_class_follow_what_burned_fees() {
	let first = ClassPrice::with(None, 5 * MILLI, 1_000, 7);
	assert_eq!(first, ClassPrice { price_per_ut: 5 * MILLI, weight: 1_000, at: 7 });
	let second = ClassPrice::with(Some(first), 8 * MILLI, 2_000, 7);
	assert_eq!((second.price_per_ut, second.weight), (7 * MILLI, 3_000));
	// Ten days later the weight is 1/e of it.
	let aged = second.aged(144_007);
	assert_eq!((aged.price_per_ut, aged.weight), (7 * MILLI, 1_103));
	// No price moves the mean to more than twice of it, and none is too large.
	let wild = ClassPrice::with(Some(second), u128::MAX, 3_000, 7);
	assert_eq!(wild.price_per_ut, 21 * MILLI / 2);
	let wild = ClassPrice::with(Some(second), 0, u64::MAX, 7);
	assert!(wild.price_per_ut < 3_501 * MILLI / 1_000);
	assert_eq!(ClassPrice::with(None, u128::MAX, u64::MAX, 7).price_per_ut, TRY);
	// From nothing it can rise again.
	let free = ClassPrice { price_per_ut: 0, weight: 0, at: 0 };
	assert_eq!(ClassPrice::with(Some(free), TRY, 10, 0).price_per_ut, 1);
}

#[test]
fn the_mean_of_all_classes_goes_by_their_weights() {
	let of = |price_per_ut, weight| ClassPrice { price_per_ut, weight, at: 0 };
	assert_eq!(mean([]), 0);
	assert_eq!(mean([of(5, 10)]), 5);
	assert_eq!(mean([of(5, 30), of(9, 10)]), 6);
	assert_eq!(mean([of(5, 1_000_000), of(TRY, 0)]), 5, "what has faded does not count");
	assert_eq!(mean([of(5, 0), of(9, 0)]), 9, "unless all has");
	assert_eq!(mean([of(TRY, u64::MAX), of(TRY, u64::MAX)]), TRY);
}

prop_compose! {
	fn any_volumes()(bought in 0..=MOST_VOLUME, scale in 0..40u32, posted in 0..=MOST_VOLUME) -> Volumes {
		volumes(bought >> scale, posted >> scale)
	}
}

proptest! {
	#[test]
	fn a_fee_is_bounded(v in any_volumes(), work: u64, reward: u128) {
		let (base, fee) = (v.base(reward), v.fee(reward, work));
		prop_assert!((LEAST_FEE..=MOST_FEE).contains(&base));
		prop_assert!((base..=MOST_FEE).contains(&fee));
	}

	#[test]
	fn more_that_is_posted_costs_more_and_more_that_was_bought_less(
		v in any_volumes(), work in 0u64..1 << 60, more in 0u64..1 << 60, reward in 0..=TRY,
	) {
		let fee = v.fee(reward, work);
		// Rounding of one in 2^30.
		let margin = fee >> 28;
		prop_assert!(v.post(more).fee(reward, work) + margin + 1 >= fee);
		prop_assert!(v.fee(reward, work.saturating_add(more)) + margin + 1 >= fee);
		prop_assert!(v.buy(more).base(reward) <= v.base(reward));
		prop_assert!(v.aged(1_000).base(reward) >= v.base(reward));
	}

	#[test]
	fn one_job_costs_what_its_parts_cost(
		v in any_volumes(), parts in prop::collection::vec(1u64..1 << 45, 1..20),
	) {
		// Each fee for a `ut` is rounded up by less than one unit, and is bounded.
		let cost = |fee: Balance, work: u64| fee * Balance::from(work);
		let work: u64 = parts.iter().sum();
		let whole = v.fee(TRY, work);
		let mut now = v;
		let mut sum = 0;
		for part in &parts {
			let fee = now.fee(TRY, *part);
			prop_assume!(fee < MOST_FEE && whole < MOST_FEE);
			sum += cost(fee, *part);
			now = now.post(*part);
		}
		let whole = cost(whole, work);
		let margin = (whole >> 24) + 2 * Balance::from(work);
		prop_assert!(sum.abs_diff(whole) <= margin, "{sum} {whole}");
		prop_assert!(now.posted == v.post(work).posted);
	}

	#[test]
	fn fading_adds_up(x in 0..=MOST_VOLUME, a in 0u32..1 << 20, b in 0u32..1 << 20) {
		let twice = faded(faded(x, a, WINDOW), b, WINDOW);
		let once = faded(x, a + b, WINDOW);
		prop_assert!(twice.abs_diff(once) <= 2 + (x >> 40), "{twice} {once}");
		prop_assert!(once <= x && faded(x, u32::MAX, WINDOW) == 0);
		let expected = x as f64 * (f64::from(a) * (-1.0 / f64::from(WINDOW)).ln_1p()).exp();
		prop_assert!((faded(x, a, WINDOW) as f64 - expected).abs() <= 2.0 + expected * 1e-9);
	}

	#[test]
	fn a_mean_stays_between(
		mean in 0u64..=u64::MAX, weight in 0..=MOST_VOLUME, price: u128, work: u64, blocks: u32,
	) {
		let before = ClassPrice { price_per_ut: mean.into(), weight, at: 0 };
		let after = ClassPrice::with(Some(before), price, work, blocks);
		let mean = Balance::from(mean);
		prop_assert!(after.price_per_ut >= mean.min(TRY) / 2);
		prop_assert!(after.price_per_ut <= (2 * mean).clamp(1, TRY));
		prop_assert!(after.weight <= MOST_VOLUME);
	}

	#[test]
	fn nobody_is_credited_more_than_the_fee_buys(
		v in any_volumes(), work in 0u64..1 << 50, fee in 0..MOST_FEE, reward in 0..=TRY,
	) {
		let credited = v.credited(reward, work, fee);
		prop_assert!(credited <= work);
		prop_assert!(v.base(reward) * Balance::from(credited) <= fee * Balance::from(work));
	}
}

/// Where all who train make blocks, power is worth four times the base, at every volume; where a part of them does,
/// more by as much.
#[test]
fn power_is_worth_what_it_brings_to_those_who_make_blocks() {
	for day in [5_000, 80_000, 4_000_000, 1_000_000_000] {
		let base = steady(day).base(TRY);
		for tenths in [1, 3, 10] {
			let found = worth(base, TRY, day * UT / 10 * tenths);
			let expected = 40 * base / Balance::from(tenths);
			assert!(found.abs_diff(expected) <= expected / 1_000 + 40, "{day} {tenths}: {found}");
		}
	}
	assert_eq!(worth(FIRST_FEE, TRY, 5_000 * UT), POWER_WORTH * FIRST_FEE);
}

#[test]
fn what_power_is_worth_has_a_least_and_a_most() {
	assert_eq!(worth(0, TRY, 1), 0, "without a fee it is none");
	assert_eq!(worth(7, 0, 0), 28, "four times the fee at least");
	assert_eq!(worth(7, TRY, 0), MOST_FEE, "of no training at all");
	assert_eq!(worth(7, Balance::MAX, MicroUt::MAX), MOST_FEE);
	assert_eq!(worth(MOST_FEE, TRY, 0), 4 * MOST_FEE);
	assert_eq!(worth(Balance::MAX, TRY, UT), Balance::MAX);
}

#[test]
fn what_a_deposit_covers_is_credited() {
	assert_eq!([covered(1_000, 5, 5), covered(1_000, 9, 5)], [1_000, 1_000]);
	assert_eq!([covered(1_000, 1, 4), covered(999, 1, 2), covered(7, 0, 1)], [250, 499, 0]);
	assert_eq!(covered(1_000, 0, 0), 1_000, "what is worth nothing is covered");
	assert_eq!(covered(MicroUt::MAX, MOST_FEE, 4 * MOST_FEE), MicroUt::MAX / 4);
}

/// `min(1 TRY, 52/5 base + 4 mean)`, rounded up.
#[test]
fn what_computing_counts_as_follows_the_market() {
	let counts = |base, mean| compute(base, mean, TRY);
	assert_eq!(counts(10, 0), 104);
	assert_eq!((counts(1, 0), counts(5, 3), counts(6, 3)), (11, 64, 75), "rounded up");
	assert_eq!(counts(0, 7), 28);
	assert_eq!((counts(TRY, 0), counts(0, TRY), counts(10, TRY / 4)), (TRY, TRY, TRY));
	for (base, mean) in [(Balance::MAX, 0), (0, Balance::MAX), (Balance::MAX, Balance::MAX)] {
		assert_eq!(counts(base, mean), TRY);
		assert!(compute(base, mean, Balance::MAX) >= Balance::MAX / 10);
	}
	// On a young chain it is the most, up to 220,000 ut in ten days.
	let of = |bought: MicroUt| counts(volumes(bought * UT, 0).base(TRY), 0);
	assert_eq!([0, 100_000, 220_000].map(of), [TRY; 3]);
	assert!(of(230_000) < TRY && of(230_000) > TRY * 9 / 10);
	assert_eq!(of(40_000_000), 5_616_000_000, "one H100 that trains for itself: 10.4 bases");
	let flooded = steady(4_000_000).post(400_000_000 * UT);
	assert_eq!(counts(flooded.base(TRY), 0), of(40_000_000), "what is posted moves nothing");
}

/// Nobody who trains pays more for a ut than a quarter of what it counts as, or the work loses money.
#[test]
fn no_machine_that_trains_costs_more_than_a_quarter() {
	for (base, mean) in [(540_000_000, 0), (10_000, 1), (540_000_000, 3 * TRY / 100), (7, 9)] {
		// Of what is minted for training authors have 0.54, which is shared out by the training.
		let earned = base * 54 / 15 + mean - base;
		assert!(compute(base, mean, TRY) >= 4 * earned, "{base} {mean}");
	}
}

/// Whoever pays itself as much as it likes for next to no work, before anybody else trains, does not keep audits dear:
/// jobs that come to 50,000 ut bring the mean to a thirtieth of a TRY however few they are, and it goes on falling.
#[test]
fn a_wild_first_price_is_forgotten_as_the_market_grows() {
	let mut price = ClassPrice::with(None, Balance::MAX, 10, 0);
	assert_eq!(price.price_per_ut, TRY, "1 TRY counts of it");
	let mut mean_at = Vec::new();
	for day in 0..60 {
		// The market grows by a tenth in a day.
		let lot = (5_000.0 * 1.1f64.powi(day)) as MicroUt * UT / 24;
		for hour in 0..24 {
			price = ClassPrice::with(Some(price), TRY / 2_000, lot, day as u32 * DAY + hour * 600);
		}
		mean_at.push(price.price_per_ut);
	}
	assert!(mean_at[9] < TRY / 25, "{}", mean_at[9]);
	assert!(mean_at[59] < TRY / 1_000, "{}", mean_at[59]);
}
