//! Posts a job to a node and follows it to its end.
//!
//! ```sh
//! ./scripts/demo --keep     # in another terminal: a local chain with trainers and verifiers
//! cargo run --release --locked -p trainyard-client --example submit_job
//! ```

use std::{sync::Arc, time::Duration};
use trainyard_client::{amount, calls, keys, Chain, Transactor};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	job::{JobState, Terms},
	views::QuoteView,
	H256,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
	let chain = Arc::new(Chain::connect("ws://127.0.0.1:9944", Duration::from_secs(10)).await?);

	// What to train, and what is paid for it. The data are named by their hash, and by the root of
	// the rows that they hold: trainers refuse anything else that they find at the location.
	let mut spec = JobSpec::example();
	spec.dataset.content_hash = DIGITS.parse()?;
	spec.dataset.rows = DIGITS_ROWS.parse()?;
	let mut terms = Terms {
		price_per_ut: amount::parse("1000")?,
		replicas: 1,
		verifiers: 3,
		audit_segments: 3,
		audit_fee: 0,
		apply_blocks: 20,
		training_blocks: 200,
		machine: Default::default(),
		undecided_percent: 20,
		keep_every: 1,
		lottery: None,
	};
	// What a verifier is paid at least follows the market; a hundredth more, since it may rise until then.
	let least = chain.audit_fee(&spec, &terms).await?.ok_or("the specification is invalid")?;
	terms.audit_fee = least + least.div_ceil(100);
	let quote = chain.quote(&spec, &terms).await?;
	let Some(QuoteView { work, fee_per_ut, escrow, deposit, .. }) = quote else {
		return Err("the chain would refuse this job".into());
	};
	println!("work {work} micro-ut, escrow {}", amount::format(escrow));
	println!("a trainer deposits {}", amount::format(deposit));

	// When this returns, the call was signed and sent and is in a block.
	let sender = Transactor::new(chain.clone(), keys::from_uri("//Ferdie")?);
	// The protocol fee may rise until then. More than a tenth more we do not pay.
	let most = 2 * fee_per_ut;
	let included = sender.run(&calls::submit_job(&spec, &terms, most)).await?;
	let job = included.job.ok_or("the block holds no event of a job")?;
	println!("job {job} in block {:?}", included.block);

	// Look at the state at each block, as everybody else does.
	let (mut seen, mut state): (Option<H256>, Option<JobState>) = (None, None);
	loop {
		seen = Some(chain.next_head(seen).await?.hash);
		let view = chain.job(job).await?.ok_or("the chain forgot the job")?;
		if state.as_ref() != Some(&view.state) {
			println!("{:?}", view.state);
		}
		if let JobState::Ended(_) = view.state {
			return Ok(());
		}
		state = Some(view.state);
	}
}

/// The BLAKE2-256 hash of `ml-worker/examples/data/digits.csv`, as `trainyard hash` prints it.
const DIGITS: &str = "3ecfbe7b2d640426e86d82a039eecac12af5c7539aeda615aafd1ab300095f17";
/// Their rows root, as `trainyard estimate ml-worker/examples/digits.toml` prints it.
const DIGITS_ROWS: &str = "6f487f47973c9bbf93cec31312d3e477d71578072a9ee843bddd36b0738b1434";
