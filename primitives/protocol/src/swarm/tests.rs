use super::*;
use proptest::prelude::*;

fn reward(curve: Curve) -> Reward {
	Reward { curve, pace: Pace { first: 1_000, last: 1_000 }, floor: 500_000, stake: 1_000_000 }
}

fn linear() -> Reward {
	reward(Curve::Linear { factor: 1_000_000 })
}

fn table(points: &[(u32, Balance)]) -> Curve {
	let points = points.iter().map(|(score, worth)| Point { score: *score, worth: *worth });
	Curve::Table(points.collect::<Vec<_>>().try_into().unwrap())
}

#[test]
fn curves_rise_as_they_say() {
	let linear = Curve::Linear { factor: 1_000 };
	assert_eq!([0, 500_000, ONE, 2 * ONE].map(|at| linear.worth(at)), [0, 500, 1_000, 1_000]);
	let power = Curve::Power { factor: 1_000, exponent: 2 };
	assert_eq!([0, 500_000, ONE].map(|at| power.worth(at)), [0, 250, 1_000]);
	let table = table(&[(400_000, 10), (600_000, 110), (900_000, 110)]);
	let at = [0, 400_000, 500_000, 600_000, 700_000, ONE];
	assert_eq!(at.map(|at| table.worth(at)), [10, 10, 60, 110, 110, 110]);
}

#[test]
fn what_breaks_a_rule_is_refused() {
	let check = |curve: Curve| curve.check();
	assert_eq!(check(Curve::Linear { factor: Balance::MAX }), Err(CurveFault::TooMuch));
	assert_eq!(check(Curve::Power { factor: 1, exponent: 1 }), Err(CurveFault::BadExponent));
	assert_eq!(check(Curve::Power { factor: 1, exponent: 9 }), Err(CurveFault::BadExponent));
	assert_eq!(check(table(&[])), Err(CurveFault::NoPoints));
	assert_eq!(check(table(&[(5, 1), (5, 2)])), Err(CurveFault::NotRising));
	assert_eq!(check(table(&[(5, 2), (6, 1)])), Err(CurveFault::NotRising));
	assert_eq!(check(table(&[(5, 2), (ONE + 1, 3)])), Err(CurveFault::NotRising));
	assert_eq!(check(table(&[(5, 2), (6, 2)])), Ok(()));
	let with = |change: fn(&mut Reward)| {
		let mut reward = linear();
		change(&mut reward);
		reward.check()
	};
	assert_eq!(with(|_| ()), Ok(()));
	assert_eq!(with(|reward| reward.floor = ONE), Err(CurveFault::BadFloor));
	assert_eq!(with(|reward| reward.pace.first = 100_001), Err(CurveFault::BadPace));
	assert_eq!(with(|reward| reward.pace = Pace { first: 0, last: 0 }), Err(CurveFault::BadPace));
}

#[test]
fn a_pace_goes_in_a_straight_line() {
	let pace = Pace { first: 2_000, last: 1_000 };
	let at = [0, 10, 15, 20, 30].map(|now| pace.at(10, now, 20));
	assert_eq!(at, [2_000, 2_000, 1_500, 1_000, 1_000]);
	assert_eq!(pace.at(10, 10, 10), 1_000);
}

#[test]
fn a_claim_is_a_bet_with_two_ends() {
	let due = |base, best, new| linear().due(1_000, 500_000, Measured { base, best, new });
	assert_eq!(due(600_000, 600_000, 610_000), Due::Gain { amount: 10_000, points: 10_000 });
	assert_eq!(due(600_000, 600_000, 590_000), Due::Loss { amount: 10_000 });
	assert_eq!(due(600_000, 600_000, 600_000), Due::Nothing);
	// Somebody else was first with a part of it, or with all of it.
	assert_eq!(due(600_000, 604_000, 610_000), Due::Gain { amount: 6_000, points: 6_000 });
	assert_eq!(due(600_000, 620_000, 610_000), Due::Nothing);
	assert_eq!(due(600_000, 620_000, 590_000), Due::Loss { amount: 10_000 });
	// Below the floor nothing is paid; what is above it is.
	assert_eq!(due(300_000, 300_000, 450_000), Due::Nothing);
	assert_eq!(due(300_000, 300_000, 510_000), Due::Gain { amount: 10_000, points: 10_000 });
}

#[test]
fn nobody_is_paid_or_loses_more_than_the_stake() {
	let reward = Reward { stake: 100, ..linear() };
	let due = |new| reward.due(1_000, 0, Measured { base: 600_000, best: 600_000, new });
	assert_eq!(due(900_000), Due::Gain { amount: 100, points: 300_000 });
	assert_eq!(due(300_000), Due::Loss { amount: 100 });
}

#[test]
fn counts_have_scores() {
	assert_eq!(Count { correct: 1, labels: 3 }.score(), 333_333);
	assert_eq!(Count { correct: 3, labels: 3 }.score(), ONE);
	assert_eq!(Count { correct: 9, labels: 3 }.score(), ONE);
	assert_eq!(Count { correct: 0, labels: 0 }.score(), 0);
	let found = Evaluation::new(1.5, 7, 9);
	assert_eq!(Count::of(&found, 9), Count { correct: 7, labels: 9 });
	assert_eq!(Count::of(&Evaluation::NONE, 9), Count { correct: 0, labels: 9 });
}

/// Clients make the same bytes.
#[test]
fn what_is_signed_and_committed_has_this_layout() {
	let (genesis, root) = (H256([1; 32]), H256([2; 32]));
	let ticket = Ticket {
		swarm: 3,
		payer: 4u64,
		maker: 5u64,
		own: H256([6; 32]),
		remote: H256([7; 32]),
		expires: 8,
		nonce: 9,
	};
	let bytes = [
		&b"trainyard/swarm/ticket/v1"[..],
		&[1; 32],
		&3u32.to_le_bytes(),
		&4u64.to_le_bytes(),
		&5u64.to_le_bytes(),
		&[6; 32],
		&[7; 32],
		&8u32.to_le_bytes(),
		&9u32.to_le_bytes(),
	]
	.concat();
	assert_eq!(ticket.digest(&genesis), H256(blake2_256(&bytes)));
	let bytes =
		[&b"trainyard/swarm/join/v1"[..], &[1; 32], &3u32.to_le_bytes(), &4u64.to_le_bytes()]
			.concat();
	assert_eq!(joining(&genesis, 3, &4u64), H256(blake2_256(&bytes)));
	let bytes = [
		&b"trainyard/swarm/claim/v1"[..],
		&[1; 32],
		&3u32.to_le_bytes(),
		&4u64.to_le_bytes(),
		&[2; 32],
		&[1],
		&[7; 32],
		&[9; 32],
	]
	.concat();
	let made = commitment(&genesis, 3, &4u64, &root, Some(&H256([7; 32])), &[9; 32]);
	assert_eq!(made, H256(blake2_256(&bytes)));
	assert_ne!(made, commitment(&genesis, 3, &4u64, &root, None, &[9; 32]));
}

#[test]
fn a_plan_is_read_from_json() {
	let curve = r#"{"power": {"factor": "1000", "exponent": 3}}"#;
	let read: Curve = serde_json::from_str(curve).unwrap();
	assert_eq!(read, Curve::Power { factor: 1_000, exponent: 3 });
	let curve =
		r#"{"table": [{"score": 400000, "worth": "10"}, {"score": 600000, "worth": "110"}]}"#;
	let read: Curve = serde_json::from_str(curve).unwrap();
	assert_eq!(read, table(&[(400_000, 10), (600_000, 110)]));
}

#[test]
fn a_loss_near_the_top_is_not_cut() {
	let reward = reward(Curve::Linear { factor: 1_000_000 });
	let measured = Measured { base: 970_000, best: 970_000, new: 920_000 };
	assert_eq!(reward.due(1_000, 970_000, measured), Due::Loss { amount: 50_000 });
}

fn curves() -> impl Strategy<Value = Curve> {
	let points = proptest::collection::btree_map(0..=ONE, 0u128..1_000_000, 1..10);
	let rising = points.prop_map(|points| {
		let mut sum = 0;
		let points = points.into_iter().map(|(at, rise)| {
			sum += rise;
			(at, sum)
		});
		table(&points.collect::<Vec<_>>())
	});
	prop_oneof![
		(0u128..1 << 60).prop_map(|factor| Curve::Linear { factor }),
		(0u128..1 << 60, 2u8..=8).prop_map(|(factor, exponent)| Curve::Power { factor, exponent }),
		rising,
	]
}

proptest! {
	#[test]
	fn worth_never_falls(curve in curves(), a in 0..=ONE, b in 0..=ONE) {
		prop_assert_eq!(curve.check(), Ok(()));
		prop_assert!(curve.worth(a.min(b)) <= curve.worth(a.max(b)));
	}

	/// Whoever claims without a gain expects nothing: what chance brings, chance takes.
	#[test]
	fn a_bet_is_fair(curve in curves(), from in 0..=ONE, base in 500_000..750_000u32, by in 1..250_000u32) {
		let reward = reward(curve);
		let due = |new| reward.due(1_000, from, Measured { base, best: base, new });
		let Due::Gain { amount: won, .. } = due(base + by) else { panic!("no gain") };
		let Due::Loss { amount: lost } = due(base - by) else { panic!("no loss") };
		// Beyond the top there is no such gain.
		if from + by <= ONE {
			prop_assert_eq!(won, lost);
		}
	}

	/// However progress is cut into claims, all of it together brings no more than what the curve rises by.
	#[test]
	fn claims_add_up(curve in curves(), steps in proptest::collection::vec(1..20_000u32, 1..20)) {
		let reward = Reward { stake: Balance::MAX, ..reward(curve.clone()) };
		let (mut at, mut sum) = (reward.floor, 0);
		for step in steps {
			let measured = Measured { base: at, best: at, new: at + step };
			if let Due::Gain { amount, .. } = reward.due(1_000, at, measured) {
				sum += amount;
			}
			at += step;
		}
		prop_assert!(sum <= curve.worth(at) - curve.worth(reward.floor));
	}
}
