use super::*;
use crate::{
	fees::{pay_of_all, pay_of_each, DEPOSIT_MULTIPLE, LATE_PART},
	job::MAX_AUDIT_SEGMENTS,
};
use proptest::prelude::*;

const PAY: Balance = 1_000_000_000_000;

fn hash(of: impl Encode) -> H256 {
	of.using_encoded(blake2_256).into()
}

/// A simulated audit of a committee of `seats` seats, all of whom reveal: whether the last ticket wins, and which
/// segments were replayed.
fn play(strata: &Strata, job: u32, seats: u32) -> (Tickets, Vec<u32>) {
	let outputs: Vec<H256> = (0..seats).map(|seat| hash(("output", job, seat))).collect();
	let mixed = outputs.iter().fold(H256::zero(), |mixed, output| mix(&mixed, output));
	let wins = strata.rest_wins(&mixed, &hash(("secret", job)).0);
	let drawn = |(seat, output)| strata.drawn(output, 0, seat, seats);
	let mut replayed: Vec<u32> = (0..seats).zip(&outputs).flat_map(drawn).collect();
	replayed.sort_unstable();
	(strata.tickets(wins, seats, |_| true), replayed)
}

proptest! {
	#[test]
	fn one_of_each_stratum_is_drawn_by_the_seat_to_which_it_belongs(
		segments in 0u32..2_000, one_in in 2u32..129, seats in 1u32..16, seed in any::<[u8; 32]>(),
	) {
		let strata = Strata::new(segments, one_in);
		let mut all = Vec::new();
		for seat in 0..seats {
			let drawn = strata.drawn(&H256(seed), 1, seat, seats);
			prop_assert!(drawn.windows(2).all(|two| two[0] < two[1]));
			let of_seat: Vec<u32> = strata.of_seat(seat, seats).collect();
			prop_assert_eq!(drawn.iter().map(|one| one / one_in).collect::<Vec<_>>(), of_seat);
			all.extend(drawn);
		}
		all.sort_unstable();
		prop_assert_eq!(all.len() as u32, strata.count());
		prop_assert!(all.iter().all(|one| *one < segments));
		prop_assert_eq!(all.iter().map(|one| one / one_in).collect::<Vec<_>>(), (0..strata.count()).collect::<Vec<_>>());
	}

	/// The mean over both outcomes of the last ticket is the pay without a lottery, but for less than a unit of each
	/// rounding; and what is paid is the least or the most that was shown.
	#[test]
	fn the_mean_is_what_the_job_pays_without_a_lottery(
		segments in 1u32..100_000, one_in in 2u32..129, pay in 0u128..1 << 100,
	) {
		let strata = Strata::new(segments, one_in);
		let prospect = Prospect::of(pay, segments, one_in);
		let paid = |wins| {
			let tickets = strata.tickets(wins, 3, |_| true);
			assert_eq!(tickets.paid, tickets.proven, "all were heard");
			share(pay, tickets.paid, segments)
		};
		prop_assert_eq!((prospect.least, prospect.expected), (paid(false), pay));
		prop_assert_eq!(if strata.rest() > 0 { prospect.most } else { prospect.least }, paid(true));
		prop_assert!(paid(true) <= strata.most_of(pay).unwrap());
		prop_assert!(strata.most_of(pay).unwrap() >= pay);
		// In parts of `one_in`: as often as the last ticket wins, and does not.
		let (wins, loses) = (Balance::from(strata.rest()), Balance::from(one_in - strata.rest()));
		let sum = wins * paid(true) + loses * paid(false);
		let all = pay * Balance::from(one_in);
		prop_assert!(sum <= all && all - sum <= Balance::from(one_in), "{} of {}", sum, all);
	}

	/// However much wins, the escrow has it, to the unit.
	#[test]
	fn the_escrow_covers_what_wins(
		segments in 1u32..10_000, one_in in 2u32..129, price in 0u128..1 << 90, replicas in 1u32..9,
	) {
		let strata = Strata::new(segments, one_in);
		let held = pay_of_all(strata.most_of(price).unwrap(), replicas).unwrap();
		let each = pay_of_each(share(price, strata.most(), segments), replicas);
		prop_assert!(each * Balance::from(replicas) <= held);
	}

	#[test]
	fn nothing_overflows(segments in any::<u32>(), one_in in any::<u32>(), pay in any::<u128>(), seats in any::<u32>()) {
		let strata = Strata::new(segments, one_in);
		let _ = (strata.most_of(pay), strata.most(), strata.fewest(seats));
		let _ = (Prospect::of(pay, segments, one_in).percent(), fits(16, segments, one_in, seats));
		let _ = Strata::seat_of(segments, seats);
	}
}

#[test]
fn every_segment_is_drawn_as_often_as_others_of_its_stratum() {
	let strata = Strata::new(23, 10);
	let mut hits = [0u32; 23];
	for job in 0..10_000 {
		play(&strata, job, 3).1.iter().for_each(|one| hits[*one as usize] += 1);
	}
	// 1,000 expected of whole strata, with a deviation of 30: five of them. A third of the rest, 47.
	assert!(hits[..20].iter().all(|hits| (850..=1_150).contains(hits)), "{hits:?}");
	assert!(hits[20..].iter().all(|hits| (3_098..=3_569).contains(hits)), "{hits:?}");
	// Strata are independent of each other: pairs of the first two are drawn together in one of a hundred.
	let both = (0..10_000).filter(|job| {
		let drawn = play(&strata, *job, 3).1;
		drawn.contains(&0) && drawn.contains(&10)
	});
	assert!((50..=150).contains(&both.count()));
}

/// 10,000 jobs by the functions that the chain calls, beside the escrow mode, in which each pays `PAY`. Run it with
/// `cargo test --release -p trainyard-protocol lottery -- --nocapture`.
#[test]
fn ten_thousand_jobs_pay_what_the_escrow_mode_pays() {
	const JOBS: u32 = 10_000;
	println!("| segments | one in | replayed | mean pay | deviation | shown before | least | most | wins |");
	println!("|---|---|---|---|---|---|---|---|---|");
	for (segments, one_in, seats) in [
		(1, 10, 3),
		(5, 10, 3),
		(30, 10, 3),
		(33, 10, 3),
		(99, 20, 3),
		(100, 8, 3),
		(1_000, 128, 3),
		(1_000, 30, 5),
	] {
		let strata = Strata::new(segments, one_in);
		assert!(fits(MAX_AUDIT_SEGMENTS, segments, one_in, seats));
		let shown = Prospect::of(PAY, segments, one_in);
		let (mut sum, mut squares, mut wins, mut replayed) = (0.0, 0.0, 0u32, 0usize);
		for job in 0..JOBS {
			let (tickets, drawn) = play(&strata, job, seats);
			let paid = share(PAY, tickets.paid, segments);
			assert!(paid == shown.least || paid == shown.most);
			wins += u32::from(paid > shown.least);
			replayed += drawn.len();
			let part = paid as f64 / PAY as f64;
			sum += part;
			squares += part * part;
		}
		let mean = sum / f64::from(JOBS);
		let deviation = (squares / f64::from(JOBS) - mean * mean).max(0.0).sqrt();
		let by_rule = shown.deviation as f64 / PAY as f64;
		// Five deviations of the mean of so many.
		assert!((mean - 1.0).abs() <= 5.0 * by_rule / 100.0 + 1e-9, "{segments}: {mean}");
		assert!((deviation - by_rule).abs() <= 0.1 * by_rule + 1e-6, "{deviation} {by_rule}");
		assert_eq!(replayed as u32, JOBS * segments.div_ceil(one_in));
		println!(
			"| {segments} | {one_in} | {} | {mean:.4} | {deviation:.4} | {by_rule:.4} | {:.3} | {:.3} | {:.2} % |",
			segments.div_ceil(one_in),
			shown.least as f64 / PAY as f64,
			shown.most as f64 / PAY as f64,
			f64::from(wins) / f64::from(JOBS) * 100.0,
		);
	}
}

/// A result of which `fakes` segments are false escapes with the product, over the strata, of the chances that none of
/// them is the ticket; and no ticket of one that escapes is false, so no false one is paid.
#[test]
fn fakes_outside_tickets_escape_as_often_as_predicted() {
	const JOBS: u32 = 10_000;
	for (segments, one_in, fakes) in [
		(30, 10, vec![4]),
		(30, 10, vec![4, 14, 24]),
		(30, 10, vec![0, 1, 2, 3, 4]),
		(33, 10, vec![31]),
		(200, 20, (0..200).step_by(20).collect()),
	] {
		let strata = Strata::new(segments, one_in);
		let mut escapes = 1.0;
		for stratum in 0..strata.count() {
			let size = (segments - stratum * one_in).min(one_in);
			let of = fakes.iter().filter(|fake| **fake / one_in == stratum).count();
			escapes *= 1.0 - of as f64 / f64::from(size);
		}
		let escaped = (0..JOBS).filter(|job| {
			let (_, drawn) = play(&strata, *job, 3);
			drawn.iter().all(|one| !fakes.contains(one))
		});
		let share = escaped.count() as f64 / f64::from(JOBS);
		let deviation = (escapes * (1.0 - escapes) / f64::from(JOBS)).sqrt();
		assert!((share - escapes).abs() < 5.0 * deviation, "{fakes:?}: {share} {escapes}");
		// With one false segment in each of `k` whole strata that is (1 - p)^k, and no more.
		println!(
			"{} of {segments} false, one in {one_in}: {share:.4} escape, {escapes:.4} predicted",
			fakes.len()
		);
	}
}

/// What a cheat gains beside the honest way that makes `fakes` of `segments` segments false, spread evenly over the
/// strata, where it owns the share `own` of the seats, which pass all that it made. Computing a segment costs as much
/// as it is paid (`price`), and power is worth `worth` a segment; a friend that convicts it has a quarter back. In
/// prices of a segment. With `wash` the pay is its own money.
fn gain(segments: u32, one_in: u32, fakes: u32, own: f64, wash: bool) -> f64 {
	let strata = Strata::new(segments, one_in);
	let unit: Balance = 1_000_000;
	let all = unit * Balance::from(segments);
	let deposit = (strata.most_of(all).unwrap() * DEPOSIT_MULTIPLE) as f64 / unit as f64 * 0.75;
	let earned = f64::from(segments) * if wash { 1.0 } else { 2.0 };
	// Each stratum by itself: caught by its ticket, where its seat is not the cheat's.
	let mut escapes = 1.0;
	for stratum in 0..strata.count() {
		let size = f64::from((segments - stratum * one_in).min(one_in));
		let of = fakes / strata.count() + u32::from(stratum < fakes % strata.count());
		escapes *= 1.0 - (1.0 - own) * (f64::from(of) / size).min(1.0);
	}
	f64::from(fakes) - (1.0 - escapes) * (deposit + earned)
}

/// No share of false segments pays, for owners of up to 40 % of the seats, where a segment is worth as much power as it
/// costs: by the deposit, of which the ticket is a part where there are few segments. (Seats are counted as independent
/// of each other: what an owner of several gains by their being drawn together is less than this leaves.)
#[test]
fn no_number_of_fakes_pays() {
	for (segments, one_in) in
		[(1, 128), (5, 10), (10, 100), (30, 10), (100, 128), (129, 128), (240, 5), (1_000, 64)]
	{
		for own in [0.0, 0.1, 0.4] {
			for fakes in 1..=segments {
				for wash in [false, true] {
					let gain = gain(segments, one_in, fakes, own, wash);
					assert!(gain < 0.0, "{segments} {one_in} {fakes} {own} {wash}: {gain}");
				}
			}
		}
	}
	// A fifth of the deposit that stays locked is for late proof alone.
	assert_eq!(LATE_PART, 5);
}

/// What a trainer has at stake goes by the most that tickets can bring, which it knows to have won before results stand.
#[test]
fn the_deposit_counts_the_ticket() {
	let stake = |segments, one_in| Strata::new(segments, one_in).most_of(PAY).unwrap();
	assert_eq!(
		(stake(1, 100), stake(10, 100), stake(100, 100), stake(1_000, 100)),
		(100 * PAY, 10 * PAY, PAY, PAY)
	);
	assert_eq!(Strata::new(3, 4).most_of(10), Some(14), "rounded up");
	assert_eq!(
		(Strata::new(3, 2).most_of(10), Strata::new(3, 2).most_of(u128::MAX)),
		(Some(14), None)
	);
}

#[test]
fn what_nobody_proved_is_paid_and_makes_no_power() {
	// Strata 0 to 3 belong to seats 2, 1, 0 and 2.
	let strata = Strata::new(35, 10);
	assert_eq!(
		[0, 1, 2, 3].map(|stratum| Strata::seat_of(stratum, 3)),
		[Some(2), Some(1), Some(0), Some(2)]
	);
	let tickets = |wins, silent| strata.tickets(wins, 3, |seat| seat != silent);
	assert_eq!(tickets(true, 9), Tickets { paid: 40, proven: 40 });
	assert_eq!(tickets(false, 9), Tickets { paid: 30, proven: 30 });
	assert_eq!(tickets(true, 2), Tickets { paid: 40, proven: 20 });
	assert_eq!(tickets(false, 2), Tickets { paid: 30, proven: 20 });
	assert_eq!(tickets(true, 0), Tickets { paid: 40, proven: 30 });
	assert_eq!(Strata::new(30, 10).tickets(true, 3, |_| true).paid, 30, "there is no rest");
	assert_eq!(Strata::new(0, 10).tickets(true, 3, |_| true), Tickets::default());
	assert_eq!(Strata::seat_of(3, 0), None);
}

/// Neither the seats alone nor the trainer alone knows whether the last ticket wins, and every replica has a ticket of
/// its own.
#[test]
fn the_last_ticket_depends_on_all_seats_and_on_the_secret() {
	let strata = Strata::new(5, 10);
	let outputs: Vec<H256> = (0..3u32).map(hash).collect();
	let mixed = |without: usize| {
		let others = outputs.iter().enumerate().filter(|(at, _)| *at != without);
		others.fold(H256::zero(), |mixed, (_, output)| mix(&mixed, output))
	};
	let wins = |mixed: &H256| {
		(0..2_000u32).map(|n| strata.rest_wins(mixed, &hash(n).0)).collect::<Vec<_>>()
	};
	let all = wins(&mixed(9));
	let half = all.iter().filter(|wins| **wins).count();
	assert!((880..=1_120).contains(&half), "{half}");
	for silent in 0..3 {
		let other = wins(&mixed(silent));
		let same = all.iter().zip(&other).filter(|(a, b)| a == b).count();
		assert!((880..=1_120).contains(&same), "{same}");
	}
	let turned = outputs.iter().rev().fold(H256::zero(), |mixed, output| mix(&mixed, output));
	assert_eq!(turned, mixed(9), "in whatever order they came");
}

#[test]
fn seats_have_something_to_replay() {
	assert!(fits(2, 30, 5, 3) && fits(3, 30, 5, 3) && !fits(1, 30, 5, 3));
	assert!(fits(1, 5, 10, 3), "three seats have duties");
	assert!(!fits(1, 30, 10, 5) && fits(1, 50, 10, 5), "and more need a stratum each");
	assert!(!fits(1, 30, 10, 0));
	for (segments, one_in, seats) in
		[(50u32, 10u32, 5u32), (55, 10, 5), (59, 10, 5), (41, 10, 5), (240, 2, 15)]
	{
		let strata = Strata::new(segments, one_in);
		assert!((0..seats)
			.all(|seat| strata.of_seat(seat, seats).count() as u32 >= strata.fewest(seats)));
	}
	assert_eq!((Strata::new(5, 10).fewest(3), Strata::new(100, 10).fewest(3)), (1, 3));
}

#[test]
fn variance_is_shown() {
	// Five of ten: ten segments or none, each by half.
	let shown = Prospect::of(PAY, 5, 10);
	assert_eq!(
		shown,
		Prospect { expected: PAY, deviation: PAY, least: 0, most: 2 * PAY, chance: 500_000 }
	);
	assert_eq!(shown.percent(), 100);
	let even = Prospect::of(PAY, 30, 10);
	assert_eq!(
		even,
		Prospect { expected: PAY, deviation: 0, least: PAY, most: PAY, chance: MILLION }
	);
	// 33 of ten: root(3 x 7) = 4.58 segments of 33.
	let shown = Prospect::of(PAY, 33, 10);
	assert_eq!((shown.percent(), shown.chance), (14, 300_000));
	assert_eq!(shown.deviation / 1_000_000_000, 138);
	assert_eq!((shown.least, shown.most), (PAY * 30 / 33, PAY * 40 / 33));
	// One segment of 128: 128 prices by one chance in 128.
	let shown = Prospect::of(PAY, 1, 128);
	assert_eq!((shown.most, shown.chance, shown.percent()), (128 * PAY, 7_813, 1_127));
}

/// Frozen: seats and chain draw by these bytes.
#[test]
fn layout() {
	let (output, seats) = (H256([7; 32]), 3);
	let mut bytes = b"trainyard/ticket/v1".to_vec();
	bytes.extend([2, 0, 0, 0, 1, 0, 0, 0]);
	let at = draw::distinct(&bytes, &output, 10, 1);
	// The domain of a draw is encoded with its length; the same bytes are the domain here.
	assert_eq!(Strata::new(30, 10).drawn(&output, 2, 1, seats), [10 + at[0]]);
	let seed = H256(blake2_256(&[[1; 32], [2; 32]].concat()));
	let place = draw::distinct(b"trainyard/rest/v1", &seed, 10, 1);
	assert_eq!(Strata::new(5, 10).rest_wins(&H256([1; 32]), &[2; 32]), place[0] < 5);
	assert_eq!(Tickets { paid: 1, proven: 2 }.encode(), [1, 0, 0, 0, 2, 0, 0, 0]);
}
