//! Posts a job, and follows it to its end.

mod changes;

pub use changes::{changes, Change};

use super::{
	blocks::{next_block, Complaints},
	display,
	report::Reporter,
};
use crate::{
	demands,
	table::{table, Align},
};
use std::time::Duration;
use tracing::{debug, info, warn};
use trainyard_client::{
	amount, calls, AccountId32, Chain, ChainError, JobView, Transactor, TxError, MORTALITY,
};
use trainyard_program::spec::{CheckedSpec, JobSpec};
use trainyard_protocol::{
	fees,
	job::{Balance, BlockNumber, JobState, Terms},
	lottery::Prospect,
	views::QuoteView,
	JobId, MicroUt,
};

/// Balance that stays for fees when a job is posted: a hundredth of a coin.
const FEE_MARGIN: Balance = 10_000_000_000;

/// The number of blocks in which a job is looked for if its posting was lost in flight.
const LOOKS: u32 = 12;
/// Longest time for that.
const LOOK_TIMEOUT: Duration = Duration::from_secs(120);
/// Newest jobs among which it is looked for.
const NEWEST: u32 = 50;

/// Says why a job could not be posted or followed.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
	/// The chain would refuse it.
	#[error("the chain would refuse this job: {0}")]
	Refused(String),
	/// Not enough balance.
	#[error(
		"the escrow of this job is {}, but {account} has {} free, and {} more are held for its \
		 record. Bring balance to the account, or lower terms.price_per_ut, replicas, verifiers or \
		 audit_fee",
		amount::format(*.escrow), amount::format(*.free), amount::format(*.record)
	)]
	Balance {
		/// What would be held until it ends.
		escrow: Balance,
		/// What would be held until its record is removed.
		record: Balance,
		/// What is free.
		free: Balance,
		/// The account.
		account: AccountId32,
	},
	/// The protocol fee is above what the submitter pays.
	#[error(
		"the protocol fee for a ut of this job is {} now, and you pay {} at most. Wait: what others \
		 posted fades in a day, and what is trained lowers the fee; `trainyard market` shows it. Or \
		 raise --max-fee",
		amount::format(*.fee_per_ut), amount::format(*.most)
	)]
	Fee {
		/// What it is.
		fee_per_ut: Balance,
		/// What the submitter pays.
		most: Balance,
	},
	/// It was posted, but its number cannot be found.
	#[error("the job was posted, but its number was not found; `trainyard status` lists it")]
	Lost,
	/// It was sent, but was not seen on chain.
	#[error(
		"{0}. The job may be posted or not: check `trainyard status` before you post again, or \
		 its escrow may be held twice"
	)]
	Uncertain(TxError),
	/// The chain knows no such job.
	#[error("the chain knows no job {0}; ended jobs are forgotten after a while")]
	NoSuchJob(JobId),
	/// The chain could not be asked.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// The transaction failed.
	#[error(transparent)]
	Tx(#[from] TxError),
}

/// A posted job.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
	/// Its number.
	pub job: JobId,
	/// Work of one replica.
	pub work: MicroUt,
	/// What is held.
	pub escrow: Balance,
	/// Where it pays by lottery: what a replica is paid whose result is accepted.
	pub lottery: Option<Prospect>,
}

/// Returns the most that a submitter pays for a `ut` who named nothing and was quoted this fee: twice as much.
/// Others may post in the meantime, and the base rises where little is trained. With little more than the quote
/// whoever posts a little before it would keep it out.
fn most_fee(quoted: Balance) -> Balance {
	quoted.saturating_mul(2)
}

/// Returns these terms, which leave the fee of a verifier open, with the fee that is offered now: what the chain takes
/// at least, and a hundredth more where that may rise until the job is in a block.
pub async fn with_audit_fee(
	chain: &Chain,
	spec: &CheckedSpec,
	terms: &Terms,
) -> Result<Terms, ChainError> {
	let audit_fee = match (chain.audit_fee(spec, terms).await?, fees::audit_fee(spec, terms)) {
		(Some(least), Ok(highest)) => fees::offered_audit_fee(least, highest),
		// The chain refuses this job, and it is said why.
		(None, _) | (_, Err(_)) => terms.audit_fee,
	};
	Ok(Terms { audit_fee, ..terms.clone() })
}

/// Posts a job; with `trainer`, orders it from that trainer through its listing. It is not posted where the
/// protocol fee for a `ut` is above `max_fee`, or without that twice what the chain quotes.
pub async fn post(
	sender: &Transactor,
	spec: &CheckedSpec,
	terms: &Terms,
	trainer: Option<&AccountId32>,
	max_fee: Option<Balance>,
) -> Result<Posted, SubmitError> {
	let chain = sender.chain();
	if let Some(reason) = demands::refusal(spec, terms) {
		return Err(SubmitError::Refused(reason));
	}
	let Some(quote) = chain.quote(spec, terms).await? else {
		return Err(SubmitError::Refused(why_refused(chain, spec, terms).await?));
	};
	let QuoteView { work, escrow, record, fee_per_ut, lottery, .. } = quote;
	let most = max_fee.unwrap_or(most_fee(fee_per_ut));
	if fee_per_ut > most {
		return Err(SubmitError::Fee { fee_per_ut, most });
	}
	let account = *sender.account();
	let free = chain.account(&account).await?.free;
	if free < escrow.saturating_add(record).saturating_add(FEE_MARGIN) {
		return Err(SubmitError::Balance { escrow, record, free, account });
	}
	let call = match trainer {
		Some(trainer) => calls::order(trainer, spec, terms, most),
		None => calls::submit_job(spec, terms, most),
	};
	let newest = chain.recent_jobs(1).await?.first().map(|job| job.id);
	let lost = Sent { newest, account: &account, spec, terms, trainer };
	let job = match sender.run(&call).await {
		Ok(included) => match included.job {
			Some(job) => job,
			None => lost.find(chain).await.ok_or(SubmitError::Lost)?,
		},
		Err(error @ TxError::Unknown { .. }) => {
			warn!("{error}; looking whether the job is on chain");
			lost.find(chain).await.ok_or(SubmitError::Uncertain(error))?
		}
		Err(error) => return Err(error.into()),
	};
	Ok(Posted { job, work, escrow, lottery })
}

/// A job that was sent, with what identifies it among those on chain.
struct Sent<'a> {
	/// The newest job before it was sent.
	newest: Option<JobId>,
	account: &'a AccountId32,
	spec: &'a JobSpec,
	terms: &'a Terms,
	trainer: Option<&'a AccountId32>,
}

impl Sent<'_> {
	fn is(&self, job: &JobView) -> bool {
		self.newest.is_none_or(|newest| job.id > newest)
			&& job.submitter == *self.account
			&& job.spec == *self.spec
			&& job.terms == *self.terms
			&& job.invited.as_ref() == self.trainer
	}

	/// Returns its number, if it comes on chain in the next blocks.
	async fn find(&self, chain: &Chain) -> Option<JobId> {
		let looking = async {
			let mut seen = None;
			for _ in 0..LOOKS {
				let head = next_block(chain, seen).await.ok()?;
				seen = Some(head.hash);
				match chain.recent_jobs(NEWEST).await {
					Ok(jobs) => {
						if let Some(job) = jobs.iter().find(|job| self.is(job)) {
							return Some(job.id);
						}
					}
					Err(e) => debug!("{e}; looking again at the next block"),
				}
			}
			None
		};
		tokio::time::timeout(LOOK_TIMEOUT, looking).await.ok().flatten()
	}
}

/// Returns why the chain makes no quote for a job.
async fn why_refused(
	chain: &Chain,
	spec: &CheckedSpec,
	terms: &Terms,
) -> Result<String, ChainError> {
	let constant = |name| chain.constant("TaskMarket", name);
	if let Some(least) = chain.audit_fee(spec, terms).await? {
		if let Some(problem) = fee_problem(terms.audit_fee, least) {
			return Ok(problem);
		}
	}
	let least = constant("MinPeriod").await?.unwrap_or(0);
	let applying = constant("MaxApplyBlocks").await?.unwrap_or(u128::from(u32::MAX));
	let training = constant("MaxTrainingBlocks").await?.unwrap_or(u128::from(u32::MAX));
	Ok(period_problem(terms, least, applying, training).unwrap_or_else(|| {
		format!(
			"terms: replicas, verifiers or audit_segments are out of range (the job has {} \
				 segments), the price is zero, an amount is too large, or the chain allows less than \
				 `trainyard estimate` shows",
			spec.segments()
		)
	}))
}

/// Returns what is wrong with the fee of a verifier where the chain takes no less than `least`.
fn fee_problem(fee: Balance, least: Balance) -> Option<String> {
	let most = fees::most_audit_fee(least);
	(!(least..=most).contains(&fee)).then(|| {
		format!(
			"terms.audit_fee is {}; the chain takes {} to {} for this job now. That follows the market: name \
			 one of these, or leave audit_fee out, and post again",
			amount::format(fee),
			amount::format(least),
			amount::format(most)
		)
	})
}

fn period_problem(terms: &Terms, least: u128, applying: u128, training: u128) -> Option<String> {
	let wrong = |field: &str, value: BlockNumber, most: u128| {
		(!(least..=most).contains(&u128::from(value)))
			.then(|| format!("terms.{field} is {value}; the chain takes {least} to {most} blocks"))
	};
	wrong("apply_blocks", terms.apply_blocks, applying)
		.or_else(|| wrong("training_blocks", terms.training_blocks, training))
}

/// Follows a job, a line per change, until it has ended; returns its last view. A job that was seen
/// in a block that another fork replaced comes back while its transaction may still be included; a
/// node that refuses or is away is asked again.
pub async fn follow(chain: &Chain, job: JobId, report: &Reporter) -> Result<JobView, SubmitError> {
	let mut before: Option<JobView> = None;
	let mut seen = None;
	let mut absent_since = None;
	let mut complaints = Complaints::default();
	loop {
		let head = next_block(chain, seen).await?;
		seen = Some(head.hash);
		let now = match chain.job(job).await {
			Ok(Some(view)) => view,
			Ok(None) => {
				if absent_since.is_none() {
					info!("job {job} is not on the best chain; waiting for it to come back");
				}
				let since = *absent_since.get_or_insert(head.number);
				if u64::from(head.number.saturating_sub(since)) >= MORTALITY {
					return Err(SubmitError::NoSuchJob(job));
				}
				continue;
			}
			Err(e) => {
				complaints.tolerate(chain, e.into()).await?;
				continue;
			}
		};
		absent_since = None;
		for change in changes(before.as_ref(), &now) {
			report.job(job, change.event, &change.text, change.fields);
		}
		if matches!(now.state, JobState::Ended(_)) {
			return Ok(now);
		}
		before = Some(now);
	}
}

/// Describes how a job ended and where its money went.
pub fn summary(job: &JobView) -> String {
	let s = &job.settlement;
	let mut out = format!("job {}: {}\n", job.id, display::state(&job.state));
	if !job.replicas.is_empty() {
		let rows: Vec<Vec<String>> = job
			.replicas
			.iter()
			.map(|r| {
				let trained = r.reveal.as_ref().map(|reveal| display::trained(reveal, &job.spec));
				let trained = trained.unwrap_or_else(|| "-".to_owned());
				vec![r.trainer.to_string(), display::fate(&r.fate).to_owned(), trained]
			})
			.collect();
		let header = [("trainer", Align::Left), ("fate", Align::Left), ("trained", Align::Left)];
		out.push_str(&table(&header, &rows));
		out.push('\n');
	}
	let most = match job.spec.training.early_stop {
		Some(_) => "work of one replica, at most",
		None => "work of one replica",
	};
	let mut rows = vec![
		(most, format!("{} ut", amount::format_scaled(u128::from(job.work), 6))),
		("protocol fee for 1 ut", amount::format(job.fee_per_ut)),
		("computing 1 ut counts as", amount::format(job.compute_per_ut)),
		("escrowed", amount::format(s.escrowed)),
		("  paid to trainers", amount::format(s.paid_to_trainers)),
		("  paid to verifiers", amount::format(s.paid_to_verifiers)),
		("  burned (protocol fee)", amount::format(s.burned)),
		("  refunded", amount::format(s.refunded)),
	];
	if s.prizes_to_jackpot > 0 {
		let prizes = amount::format(s.prizes_to_jackpot);
		rows.insert(6, ("  prizes that nobody earned", prizes));
	}
	if s.slashed > 0 {
		rows.extend([
			("slashed from deposits", amount::format(s.slashed)),
			("  to the submitter", amount::format(s.slashed_to_submitter)),
			("  to the jackpot", amount::format(s.slashed_to_jackpot)),
			("  to those who convicted", amount::format(s.slashed_to_finders)),
			("  burned", amount::format(s.slashed_burned)),
		]);
	}
	let rows: Vec<Vec<String>> =
		rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
	out.push_str(&table(&[("money", Align::Left), ("", Align::Right)], &rows));
	out
}

#[cfg(test)]
mod tests {
	use super::*;
	use codec::Encode;
	use trainyard_client::fake::{job, FakeNode};
	use trainyard_protocol::{
		job::{Ending, Settlement, MIN_AUDIT_FEE},
		PROTOCOL_VERSION,
	};

	/// A growing chain whose job API answers like `answer`, by height.
	async fn chain_of_one(
		api: &'static str,
		answer: impl Fn(u32) -> Result<Vec<u8>, &'static str> + Send + Sync + 'static,
	) -> Chain {
		let runtime = move |method: &str, _: &[u8], height: u32| match method {
			"TrainyardApi_protocol_version" => Ok(PROTOCOL_VERSION.encode()),
			_ if method == api => answer(height),
			_ => Err("no such method"),
		};
		FakeNode::new(runtime).growing().chain().await
	}

	#[tokio::test]
	async fn a_job_that_is_gone_for_a_while_is_waited_for() {
		let ended = job(JobState::Ended(Ending::Settled));
		let open = job(JobState::Open);
		let shown = ended.clone();
		let chain = chain_of_one("TrainyardApi_job", move |height| match height {
			0..5 => Ok(None::<JobView>.encode()),
			5..7 => Ok(Some(open.clone()).encode()),
			7..9 => Err("State already discarded"),
			9..60 => Ok(None::<JobView>.encode()),
			_ => Ok(Some(shown.clone()).encode()),
		})
		.await;
		let report = Reporter::new("test", true, None);
		assert_eq!(follow(&chain, 3, &report).await.unwrap(), ended);
	}

	#[test]
	fn a_fee_that_is_too_low_or_too_high_is_named() {
		let fee = |milli: Balance| fee_problem(milli * 1_000_000_000, MIN_AUDIT_FEE);
		assert_eq!((fee(100), fee(400)), (None, None));
		let text = |milli| fee(milli).unwrap();
		assert!(
			text(99).contains("is 0.099 TRY; the chain takes 0.1 TRY to 0.4 TRY"),
			"{}",
			text(99)
		);
		assert!(text(401).contains("is 0.401 TRY"), "{}", text(401));
	}

	/// Where computing counts as a fifth of the most, a hundredth more than the least is offered.
	#[tokio::test]
	async fn who_leaves_the_fee_open_offers_what_the_chain_takes() {
		let spec = JobSpec::example().check().unwrap();
		let terms = job(JobState::Open).terms;
		let highest = fees::audit_fee(&spec, &terms).unwrap();
		for (least, offered) in [
			(Some(highest / 5), highest / 5 + highest / 500),
			(Some(highest), highest),
			(None, terms.audit_fee),
		] {
			let answer = move |_| Ok(least.encode());
			let chain = chain_of_one("TrainyardApi_audit_fee", answer).await;
			let found = with_audit_fee(&chain, &spec, &terms).await.unwrap();
			assert_eq!(found, Terms { audit_fee: offered, ..terms.clone() });
		}
	}

	#[tokio::test]
	async fn a_job_that_never_comes_is_given_up() {
		let chain = chain_of_one("TrainyardApi_job", |_| Ok(None::<JobView>.encode())).await;
		let report = Reporter::new("test", true, None);
		let error = follow(&chain, 3, &report).await.unwrap_err();
		assert!(matches!(error, SubmitError::NoSuchJob(3)), "{error}");
	}

	#[tokio::test]
	async fn a_job_lost_in_flight_is_found_by_what_it_is() {
		let own = JobView { id: 8, ..job(JobState::Open) };
		let mut other_terms = own.clone();
		other_terms.terms.audit_fee += 1;
		let mut other_spec = own.clone();
		other_spec.spec.training.steps += 1;
		let others = vec![
			JobView { id: 9, submitter: AccountId32([9; 32]), ..own.clone() },
			JobView { id: 10, invited: Some(AccountId32([9; 32])), ..own.clone() },
			JobView { id: 11, ..other_terms },
			JobView { id: 12, ..other_spec },
			// The same, posted before.
			JobView { id: 7, ..own.clone() },
		];
		let sent = Sent {
			newest: Some(7),
			account: &own.submitter,
			spec: &own.spec,
			terms: &own.terms,
			trainer: None,
		};
		let (without, with) = (others.clone(), [others, vec![own.clone()]].concat());
		let chain = chain_of_one("TrainyardApi_recent_jobs", move |height| match height {
			0..4 => Ok(without.encode()),
			4 => Err("State already discarded"),
			_ => Ok(with.encode()),
		})
		.await;
		assert_eq!(sent.find(&chain).await, Some(8));

		let chain =
			chain_of_one("TrainyardApi_recent_jobs", |_| Ok(Vec::<JobView>::new().encode())).await;
		assert_eq!(sent.find(&chain).await, None);
		let lost = TxError::Unknown { call: "TaskMarket.submit_job".into(), reason: "gone".into() };
		let text = SubmitError::Uncertain(lost).to_string();
		assert!(text.contains("check `trainyard status` before you post again"), "{text}");
	}

	#[test]
	fn the_summary_names_every_sum() {
		let settlement = Settlement {
			escrowed: 10_000_000_000_000,
			paid_to_trainers: 1_000_000_000_000,
			paid_to_verifiers: 2_000_000_000_000,
			burned: 3_000_000_000_000,
			refunded: 4_000_000_000_000,
			..Settlement::default()
		};
		let mut job = JobView { settlement, ..job(JobState::Ended(Ending::Settled)) };
		let text = summary(&job);
		for part in ["0.006012 ut", "10 TRY", "1 TRY", "2 TRY", "3 TRY", "4 TRY", "settled"] {
			assert!(text.contains(part), "{part} in {text}");
		}
		assert!(!text.contains("slashed"));
		job.settlement.slashed = 5_500_000_000_000;
		assert!(summary(&job).contains("5.5 TRY"));
	}

	#[test]
	fn periods_out_of_range_are_named() {
		let mut terms = job(JobState::Open).terms;
		assert_eq!(period_problem(&terms, 5, 100, 100), None);
		assert!(period_problem(&terms, 11, 100, 100).unwrap().contains("apply_blocks is 10"));
		terms.training_blocks = 101;
		assert!(period_problem(&terms, 5, 100, 100).unwrap().contains("5 to 100 blocks"));
	}
}
