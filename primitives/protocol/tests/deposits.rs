//! What jobs of 1 to 100,000 ut cost: the table in `docs/protocol.md`, computed again.
//!
//! `cargo test --release -p trainyard-protocol --test deposits -- --nocapture` prints it.

use trainyard_program::{
	spec::{JobSpec, MAX_SEGMENTS},
	work::Parts,
};
use trainyard_protocol::{
	fees::{pay_of_all, Rates, Sums},
	job::{Balance, Terms, MAX_AUDIT_WORK},
};

const PROTOCOL: &str = include_str!("../../../docs/protocol.md");
const TRY: Balance = 1_000_000_000_000;
/// A thousandth of a ut.
const MILLI_UT: u128 = 432_000_000;
/// Steps of an interval: with its evaluation, about as much as one segment may be.
const INTERVAL: u32 = 1_880;

fn terms(replicas: u32) -> Terms {
	Terms {
		price_per_ut: TRY,
		replicas,
		verifiers: 3,
		audit_segments: 1,
		audit_fee: 4 * TRY,
		apply_blocks: 20,
		training_blocks: 600,
		machine: Default::default(),
		undecided_percent: 20,
	}
}

/// `amount` in TRY, rounded to tenths, with groups of digits.
fn shown(amount: Balance) -> String {
	let tenths = (amount + TRY / 20) / (TRY / 10);
	let digits = (tenths / 10).to_string();
	let mut text = String::new();
	for (at, digit) in digits.chars().enumerate() {
		if at > 0 && (digits.len() - at).is_multiple_of(3) {
			text.push(',');
		}
		text.push(digit);
	}
	match tenths % 10 {
		0 => text,
		tenth => format!("{text}.{tenth}"),
	}
}

/// One line of the table: steps of a thousandth of a ut, evaluations of 0.04 ut each.
fn row(ut: u32) -> String {
	let mut spec = JobSpec::example();
	spec.training.steps = ut * 1_000;
	spec.training.checkpoint_interval = INTERVAL.min(spec.training.steps);
	let parts = Parts { step: MILLI_UT, evaluation: 40 * MILLI_UT };
	assert!(parts.drawn_micro_ut(&spec, 1).unwrap() <= MAX_AUDIT_WORK);
	let segments = spec.segments();
	assert!(segments <= MAX_SEGMENTS);
	let sums = Sums::of(&spec, &terms(1), &parts, 0, &Rates::RUNTIME).unwrap();
	// Before, nothing was added where a training stands still, the fee was on all work, each replica
	// was paid in full, and all work was power.
	let fee = Balance::from(sums.work) * (TRY / 1_000_000);
	let audit = 9 * 2 * TRY;
	let deposit = TRY.max((sums.price + fee) * Balance::from(segments)) + audit;
	let micro = |work: u64| shown(Balance::from(work) * (TRY / 1_000_000));
	format!(
		"| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
		shown(Balance::from(ut) * TRY),
		shown(Balance::from(segments) * TRY),
		shown(sums.price),
		shown(3 * sums.price),
		shown(pay_of_all(sums.price, 3).unwrap()),
		micro(sums.work),
		micro(sums.training),
		shown(deposit),
		shown(sums.deposit),
	)
}

#[test]
fn the_table_in_the_docs_is_what_the_functions_return() {
	let rows: Vec<String> = [1, 10, 100, 1_000, 10_000, 100_000].map(row).to_vec();
	println!("{}", rows.join("\n"));
	for row in rows {
		assert!(PROTOCOL.contains(&row), "docs/protocol.md lacks {row}");
	}
}
