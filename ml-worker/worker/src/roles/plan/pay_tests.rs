//! Which job pays most in an hour.

use super::*;
use trainyard_client::{fake, JobView};
use trainyard_protocol::job::Ending;

const TRY: Balance = 1_000_000_000_000;

fn limits(speed: f64) -> Limits {
	Limits {
		min_price: 0,
		min_undecided: 0,
		max_deviation: 0,
		max_work: MicroUt::MAX,
		max_parallel: 2,
		max_data: u64::MAX,
		max_memory: u64::MAX,
		max_rescue: u64::MAX,
		reserve: 0,
		speed,
		grace: 20,
	}
}

fn job(id: JobId, price_per_ut: Balance, state: JobState) -> Job {
	let view = fake::job(state);
	let terms = trainyard_protocol::job::Terms { price_per_ut, ..view.terms.clone() };
	Job::new(JobView { id, terms, work: 500_000, ..view })
}

#[test]
fn an_hour_brings_the_price_of_the_work_less_the_fees() {
	let free = Prices::default();
	// 500,000 micro-ut are 216 GFLOP: 216 s at 1 GFLOPS, and some time for checkpoints.
	let open = job(1, 10 * TRY, JobState::Open);
	let seconds = 216.0 + open.needs().unwrap().checkpoint_seconds();
	let expected = 5.0 * 3_600.0 / seconds;
	let found = |speed, prices| hourly(&open, &limits(speed), &prices).unwrap() as f64 / TRY as f64;
	assert!((found(1e9, free) - expected).abs() < 1e-6, "{} {expected}", found(1e9, free));
	assert!(found(2e9, free) > 1.5 * expected, "a machine twice as fast");
	// Four calls of its own, one to register the model, and its chunks.
	let chunks = blob::chunk_count(open.needs().unwrap().model).unwrap();
	let fees = Prices { fee_call: TRY / 10, ..free };
	let less = (5.0 - 0.1 * f64::from(5 + chunks)) * 3_600.0 / seconds;
	assert!((found(1e9, fees) - less).abs() < 1e-6, "{} {less}", found(1e9, fees));
	assert!(found(1e9, Prices { fee_call: TRY, ..free }) < 0.0, "fees eat it up");
}

#[test]
fn jobs_are_sorted_by_pay_and_what_was_taken_stays_first() {
	let (limits, prices) = (limits(1e9), Prices::default());
	let mut jobs = vec![
		job(1, TRY, JobState::Open),
		job(2, 3 * TRY, JobState::Open),
		job(3, TRY, JobState::Training),
		job(4, 3 * TRY, JobState::Open),
		job(5, 9 * TRY, JobState::Ended(Ending::Settled)),
		job(6, 2 * TRY, JobState::Open),
	];
	jobs.sort_by_cached_key(|job| by_pay(job, &limits, &prices));
	let order: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
	assert_eq!(order, [3, 5, 2, 4, 6, 1]);
}
