//! What jobs of 1 to 100,000 ut cost: the table in `docs/protocol.md`, computed again.
//!
//! `cargo test --release -p trainyard-protocol --test deposits -- --nocapture` prints it.

use trainyard_program::{
	needs::{Lacking, MachineClass},
	spec::{JobSpec, MAX_SEGMENTS},
	work::Parts,
};
use trainyard_protocol::{
	duties,
	fees::{least_audit_fee, pay_of_all, Rates, Sums, DEPOSIT_MULTIPLE},
	job::{Balance, Terms},
};

const PROTOCOL: &str = include_str!("../../../docs/protocol.md");
const DECISION: &str =
	include_str!("../../../docs/decisions/0029-a-court-decides-by-recomputing.md");
/// Verifiers of an audit.
const SEATS: u32 = 3;
const TRY: Balance = 1_000_000_000_000;
/// A thousandth of a ut.
const MILLI_UT: u128 = 432_000_000;
/// Steps of an interval: with its evaluation, about as much as one segment may be.
const INTERVAL: u32 = 1_880;

fn terms(audit_segments: u32, audit_fee: Balance) -> Terms {
	Terms {
		price_per_ut: TRY,
		replicas: 1,
		verifiers: SEATS,
		audit_segments,
		audit_fee,
		apply_blocks: 20,
		training_blocks: 600,
		machine: Default::default(),
		undecided_percent: 20,
		keep_every: 1,
		lottery: None,
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
	let spec = spec.check().unwrap();
	let parts = Parts { step: MILLI_UT, evaluation: 40 * MILLI_UT };
	let segments = spec.segments();
	assert!(segments <= MAX_SEGMENTS);
	let draws = duties::least_draws(segments, SEATS);
	assert!(duties::fits(draws, segments, SEATS));
	let work = parts.audit_micro_ut(&spec, terms(draws, 0).replays(segments)).unwrap();
	assert!(work <= duties::most_work(MachineClass::Gib8.rate()));
	let fee = least_audit_fee(work, TRY, 0).unwrap();
	// Where power is worth no more than the price.
	let rates = Rates { fee_per_ut: TRY / 4, worth_per_ut: TRY, ..Rates::RUNTIME };
	let sums = Sums::of(&spec, &terms(draws, fee), &parts, &Lacking::default(), &rates).unwrap();
	assert_eq!(sums.deposit, TRY.max(3 * sums.price) + 9 * fee);
	// Until protocol 10, with one segment drawn.
	let before = TRY.max((sums.price + 4 * sums.fee) * Balance::from(segments)) + 9 * 4 * TRY;
	let micro = |work: u64| shown(Balance::from(work) * (TRY / 1_000_000));
	format!(
		"| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
		shown(Balance::from(ut) * TRY),
		shown(Balance::from(segments) * TRY),
		shown(sums.price),
		shown(pay_of_all(sums.price, 3).unwrap()),
		micro(sums.training),
		draws,
		shown(3 * fee),
		shown(before),
		shown(sums.deposit),
	)
}

/// The multiple for which decision 0029 computes that no attack pays.
#[test]
fn a_deposit_is_three_times_what_a_job_is_worth() {
	assert_eq!(DEPOSIT_MULTIPLE, 3);
	assert!(DECISION.contains("A trainer's deposit is **three times** the larger of price"));
	assert!(DECISION.contains("the least multiple that holds for every job is 2.96"));
}

#[test]
fn the_table_in_the_docs_is_what_the_functions_return() {
	let rows: Vec<String> = [1, 10, 100, 1_000, 10_000, 100_000].map(row).to_vec();
	println!("{}", rows.join("\n"));
	for row in rows {
		assert!(PROTOCOL.contains(&row), "docs/protocol.md lacks {row}");
	}
}
