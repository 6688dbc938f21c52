//! The commands that only look at a chain.

use super::{
	connect, print_json,
	reputation::{against, millionths},
	ut,
};
use crate::args::{KeyArgs, NodeArgs};
use crate::{
	roles::{display, submit},
	table::{table, Align},
};
use anyhow::bail;
use serde_json::json;
use std::{path::PathBuf, process::ExitCode};
use trainyard_client::{
	amount, blobs,
	keys::{self, parse_account},
	AccountId32, FinalityView, JobView, LockedView, RecheckView,
};
use trainyard_proof::bundle::files;
use trainyard_protocol::{
	fees,
	job::{Fate, JobState},
	price::{self, ClassPrice},
	views::{ClassPriceView, MarketView, WHOLE_WEIGHT},
	JobId,
};

/// Largest model that is read from the chain, in bytes.
const MAX_MODEL: u64 = 4 << 30;

/// Returns a part of the whole weight in percent.
pub(super) fn share(parts: u64) -> String {
	format!("{:.3} %", parts as f64 / WHOLE_WEIGHT as f64 * 100.0)
}

/// Options of commands that only read.
#[derive(Debug, clap::Args)]
pub struct Read {
	#[command(flatten)]
	node: NodeArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// Options of `trainyard status`.
#[derive(Debug, clap::Args)]
pub struct Status {
	/// Number of a job; without it, the newest jobs
	#[arg(value_name = "JOB")]
	job: Option<JobId>,
	/// How many jobs are listed
	#[arg(long, value_name = "N", default_value_t = 20)]
	count: u32,
	#[command(flatten)]
	read: Read,
}

/// Options of `trainyard trainers`.
#[derive(Debug, clap::Args)]
pub struct Trainers {
	/// List the authorities instead, and up to which block each says that blocks are final
	#[arg(long)]
	finality: bool,
	#[command(flatten)]
	read: Read,
}

/// Options of `trainyard fetch-model`.
#[derive(Debug, clap::Args)]
pub struct FetchModel {
	/// Number of the job
	#[arg(value_name = "JOB")]
	job: JobId,
	/// Where the model is written (safetensors)
	#[arg(long, value_name = "FILE")]
	out: PathBuf,
	#[command(flatten)]
	read: Read,
}

/// Options of `trainyard balance`.
#[derive(Debug, clap::Args)]
pub struct BalanceOf {
	/// An account (SS58, hex or //Alice); without it, that of the key
	#[arg(value_name = "ACCOUNT", value_parser = parse_account)]
	account: Option<AccountId32>,
	#[command(flatten)]
	key: KeyArgs,
	#[command(flatten)]
	read: Read,
}

/// Says what training costs now.
fn prices(market: &MarketView) -> String {
	let MarketView { fee_per_ut, base_fee_per_ut, bought, posted, free, prices } = market;
	let crowded = match fee_per_ut > base_fee_per_ut {
		true => format!(
			", of which {} because much was posted",
			amount::format(fee_per_ut - base_fee_per_ut)
		),
		false => String::new(),
	};
	let mut lines = vec![
		format!("protocol fee for 1 ut of power   {}{crowded}", amount::format(*fee_per_ut)),
		format!("trained for it, fading in 10 days   {} ut", ut(u128::from(*bought))),
		format!(
			"posted, fading in a day   {} ut; the fee rises above {} ut",
			ut(u128::from(*posted)),
			ut(u128::from(*free))
		),
	];
	for ClassPriceView { machine, price } in prices {
		let ClassPrice { price_per_ut, weight, .. } = price;
		let class = json!(machine).as_str().unwrap_or_default().to_owned();
		let mean = amount::format(*price_per_ut);
		let inverse = match *price_per_ut {
			0 => "any number of".to_owned(),
			price => format!("{:.6}", 1e12 / price as f64),
		};
		lines.push(format!(
			"paid for 1 ut on {class}   {mean} ({inverse} ut per TRY), mean over {} ut",
			ut(u128::from(*weight))
		));
		let counts = price::compute(*base_fee_per_ut, *price_per_ut, fees::COMPUTE_PRICE);
		lines.push(format!(
			"computing 1 ut counts as   {}, on {class}: what audits and challenges cost",
			amount::format(counts)
		));
	}
	if prices.is_empty() {
		lines.push("paid for 1 ut   nothing yet: no job was accepted".into());
		let counts = price::compute(*base_fee_per_ut, 0, fees::COMPUTE_PRICE);
		lines.push(format!(
			"computing 1 ut counts as   {}: what audits and challenges cost",
			amount::format(counts)
		));
	}
	lines.join("\n")
}

impl Read {
	pub(super) async fn market(self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.node).await?;
		let (listings, trainers) = (chain.listings().await?, chain.trainers().await?);
		let market = chain.market().await?;
		let power = |who: &AccountId32| trainers.iter().find(|t| t.account == *who);
		if self.json {
			let all: Vec<_> = listings
				.iter()
				.map(|offer| json!({ "offer": offer, "trainer": power(&offer.trainer) }))
				.collect();
			return print_json(&json!({ "market": market, "offers": all }));
		}
		println!("{}\n", prices(&market));
		if listings.is_empty() {
			println!(
				"nobody offers training now; `trainyard submit` posts a job that any of {} \
				 trainer(s) may take",
				trainers.len()
			);
			return Ok(ExitCode::SUCCESS);
		}
		let rows: Vec<Vec<String>> = listings
			.iter()
			.map(|offer| {
				vec![
					offer.trainer.to_string(),
					amount::format(offer.price_per_ut),
					ut(u128::from(offer.max_work)),
					power(&offer.trainer).map_or("-".into(), |t| ut(t.training_effective)),
					amount::format(offer.record.done),
					amount::format(against(&offer.record)),
					millionths(offer.record.right()),
					offer.note.to_string(),
				]
			})
			.collect();
		let header = [
			("trainer", Align::Left),
			("price of 1 ut", Align::Right),
			("largest job, ut", Align::Right),
			("training power, ut/day", Align::Right),
			("done, in fees", Align::Right),
			("late or wrong", Align::Right),
			("right", Align::Right),
			("note", Align::Left),
		];
		print!("{}", table(&header, &rows));
		Ok(ExitCode::SUCCESS)
	}
}

/// Says up to which block the chain knows that blocks are final, and how far below the best block `best`
/// each authority says that they are. Those who hold it back are first: who said nothing, then who said
/// least.
fn finality(view: &FinalityView, best: u32) -> String {
	let whole = view.authorities.iter().map(|one| u128::from(one.weight)).sum::<u128>().max(1);
	let mut all: Vec<_> = view.authorities.iter().collect();
	all.sort_by_key(|one| (one.said, one.account));
	let rows: Vec<Vec<String>> = all
		.iter()
		.map(|one| {
			let lag = |said: u32| best.saturating_sub(said).to_string();
			vec![
				one.account.to_string(),
				format!("{:.3} %", u128::from(one.weight) as f64 / whole as f64 * 100.0),
				one.said.map_or("nothing".into(), |said| said.to_string()),
				one.said.map_or("-".into(), lag),
			]
		})
		.collect();
	let header = [
		("authority", Align::Left),
		("weight", Align::Right),
		("says final", Align::Right),
		("blocks below the best", Align::Right),
	];
	let height = view.height;
	format!(
		"the chain knows that block {height} is final, {} below the best block {best}\n\n{}",
		best.saturating_sub(height),
		table(&header, &rows)
	)
}

impl Trainers {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let Read { node, json } = self.read;
		let chain = connect(&node).await?;
		if self.finality {
			let Some(view) = chain.finality().await? else {
				bail!("this chain does not say what its authorities know to be final");
			};
			let best = chain.head().await?.number;
			if json {
				return print_json(&json!({ "best": best, "finality": view }));
			}
			print!("{}", finality(&view, best));
			return Ok(ExitCode::SUCCESS);
		}
		let trainers = chain.trainers().await?;
		if json {
			return print_json(&trainers);
		}
		let weight = |w: Option<u64>| w.map_or("-".to_owned(), |w| share(w));
		let rows: Vec<Vec<String>> = trainers
			.iter()
			.map(|t| {
				vec![
					t.account.to_string(),
					amount::format(t.bond),
					ut(t.training_total),
					ut(t.training_effective),
					ut(t.drilling_effective),
					share(t.ecp as u64),
					weight(t.weight),
					weight(t.next_weight),
					match t.hardware.cores {
						0 => "-".to_owned(),
						cores => format!("{cores} x {}", t.hardware.cpu),
					},
				]
			})
			.collect();
		let header = [
			("trainer", Align::Left),
			("bond", Align::Right),
			("trained, ut", Align::Right),
			("training power, ut/day", Align::Right),
			("drilling power, ut/day", Align::Right),
			("total ECP", Align::Right),
			("weight", Align::Right),
			("next", Align::Right),
			("hardware", Align::Left),
		];
		print!("{}", table(&header, &rows));
		Ok(ExitCode::SUCCESS)
	}
}

impl Status {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.read.node).await?;
		if let Some(id) = self.job {
			let job = chain.job(id).await?.ok_or(submit::SubmitError::NoSuchJob(id))?;
			if self.read.json {
				return print_json(&job);
			}
			print!("{}", job_in_full(&job));
			return Ok(ExitCode::SUCCESS);
		}
		let jobs = chain.recent_jobs(self.count).await?;
		if self.read.json {
			return print_json(&jobs);
		}
		if jobs.is_empty() {
			println!("no jobs yet; `trainyard submit JOB.toml` posts one");
			return Ok(ExitCode::SUCCESS);
		}
		let rows: Vec<Vec<String>> = jobs
			.iter()
			.map(|job| {
				let ended = matches!(job.state, JobState::Ended(_));
				vec![
					job.id.to_string(),
					display::state(&job.state).to_owned(),
					if ended { "-".to_owned() } else { job.deadline.to_string() },
					ut(u128::from(job.work)),
					amount::format(job.terms.price_per_ut),
					format!("{}/{}", job.replicas.len(), job.terms.replicas),
					job.submitter.to_string(),
				]
			})
			.collect();
		let header = [
			("job", Align::Right),
			("state", Align::Left),
			("until block", Align::Right),
			("ut", Align::Right),
			("price of 1 ut", Align::Right),
			("replicas", Align::Right),
			("submitter", Align::Left),
		];
		print!("{}", table(&header, &rows));
		Ok(ExitCode::SUCCESS)
	}
}

fn job_in_full(job: &JobView) -> String {
	let mut out = submit::summary(job);
	if !matches!(job.state, JobState::Ended(_)) {
		out.push_str(&format!("\nthis state ends at block {} at the latest\n", job.deadline));
	}
	if let Some(late) = &job.late {
		let taken = match late.open {
			true => format!("can be challenged until block {}", late.until),
			false => "is challenged, and no further challenge is taken".into(),
		};
		out.push_str(&format!("\nwhat was accepted {taken}; until then there are locked:\n"));
		for LockedView { trainer, locked } in &late.trainers {
			out.push_str(&format!("  {} of {trainer}\n", amount::format(*locked)));
		}
	}
	if !job.applicants.is_empty() {
		let names: Vec<String> = job.applicants.iter().map(ToString::to_string).collect();
		out.push_str(&format!("applicants: {}\n", names.join(", ")));
	}
	for replica in &job.replicas {
		if let Some(reveal) = &replica.reveal {
			out.push_str(&format!(
				"{} revealed:\n  trained      {}\n  bundle root  {:?}\n  model root   {:?}\n  \
				 served at    {}\n",
				replica.trainer,
				display::trained(reveal, &job.spec),
				reveal.bundle_root,
				reveal.model_root,
				reveal.location
			));
		}
	}
	if let Some(audit) = &job.audit {
		out.push_str(&format!(
			"audit: round {}, {}, {}\n",
			audit.round,
			display::phase(&audit.phase),
			display::draws(audit)
		));
		for member in &audit.committee {
			let said = match (&member.findings, member.commitment.is_some()) {
				(Some(findings), _) => {
					let verdicts: Vec<String> =
						findings.verdicts.iter().map(display::verdict_in_full).collect();
					verdicts.join("; ")
				}
				(None, true) => "committed".into(),
				(None, false) => "nothing yet".into(),
			};
			let lost = if member.convicted { "; the court convicted its evidence" } else { "" };
			out.push_str(&format!("  verifier {}: {said}{lost}\n", member.verifier));
		}
		for recheck in &audit.rechecks {
			let RecheckView { by, of, group, segment } = recheck;
			out.push_str(&format!(
				"  {by} replays segment {segment} of result {group} again, evidence of {of}\n"
			));
		}
		for (index, group) in audit.groups.iter().enumerate() {
			for trainer in &group.convicted {
				out.push_str(&format!("  result {index}: the court convicted {trainer}\n"));
			}
		}
	}
	out
}

impl FetchModel {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.read.node).await?;
		let id = self.job;
		let job = chain.job(id).await?.ok_or(submit::SubmitError::NoSuchJob(id))?;
		let revealed = || job.replicas.iter().filter_map(|r| Some((r, r.reveal.as_ref()?)));
		let accepted = |fate: &Fate| fate.is_true() || *fate == Fate::Agreed;
		let Some((replica, reveal)) =
			revealed().find(|(r, _)| accepted(&r.fate)).or_else(|| revealed().next())
		else {
			bail!("job {id} has no model: it is {}", display::state(&job.state));
		};
		if !accepted(&replica.fate) {
			eprintln!("warning: this model is not accepted: {}", display::fate(&replica.fate));
		}
		let root = reveal.model_root;
		let bytes = blobs::load(&chain, root, MAX_MODEL).await?;
		files::write(&self.out, &bytes)?;
		if self.read.json {
			return print_json(&json!({
				"job": id, "file": self.out, "bytes": bytes.len(), "root": root,
				"trainer": replica.trainer, "fate": replica.fate,
			}));
		}
		println!("{}: {} bytes, root {root:?} as on chain", self.out.display(), bytes.len());
		Ok(ExitCode::SUCCESS)
	}
}

impl BalanceOf {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let who = match self.account {
			Some(account) => account,
			None => keys::account(&self.key.keypair()?),
		};
		let chain = connect(&self.read.node).await?;
		let account = chain.account(&who).await?;
		if self.read.json {
			return print_json(&json!({ "account": who, "balance": account }));
		}
		println!(
			"{who}\n  free  {}\n  held  {} (bonds, escrow, deposits)",
			amount::format(account.free),
			amount::format(account.reserved)
		);
		Ok(ExitCode::SUCCESS)
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::views::SaidView;

	/// Who holds finality back is first.
	#[test]
	fn authorities_are_listed_by_what_they_say_of_finality() {
		let one =
			|byte: u8, weight, said| SaidView { account: AccountId32([byte; 32]), weight, said };
		let authorities = vec![
			one(1, 50, Some(97)),
			one(2, 25, None),
			one(3, 15, Some(9)),
			one(4, 10, Some(101)),
		];
		let text = finality(&FinalityView { height: 9, authorities }, 100);
		let lines: Vec<&str> = text.lines().collect();
		assert_eq!(lines[0], "the chain knows that block 9 is final, 91 below the best block 100");
		let of = |line: &str| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
		let rows: Vec<String> = lines[3..].iter().map(|line| of(line)).collect();
		// The node's best block may be older than what the state says.
		let expected = ["25.000 % nothing -", "15.000 % 9 91", "50.000 % 97 3", "10.000 % 101 0"];
		assert_eq!(rows, expected);
		assert!(lines[3].starts_with(&AccountId32([2; 32]).to_string()));
	}
}
