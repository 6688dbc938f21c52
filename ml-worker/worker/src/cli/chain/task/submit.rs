//! `trainyard task submit` and `follow`.

use super::{
	super::{asked, FAILED},
	accepted, connect, output, sender,
};
use crate::{
	args::{KeyArgs, NodeArgs},
	cli::task::What,
	roles::{blocks::next_block, report::Reporter},
	task::{
		self,
		market::{dispute::Inputs, tell},
	},
	terminal,
};
use anyhow::{bail, Context};
use serde_json::json;
use std::{
	path::{Path, PathBuf},
	process::ExitCode,
};
use trainyard_client::{
	amount, blobs,
	tasks::{self as calls, TaskView},
	Chain, Transactor,
};
use trainyard_proof::bundle::files;
use trainyard_protocol::job::{Balance, BlockNumber};
use trainyard_task::{
	claim::digest, spec::CERTAIN, views::Phase, Offer, TaskId, TaskSpec, TaskTerms,
};

/// Balance that stays for fees and for the deposits of two blobs when a task is posted (in base units).
const FEE_MARGIN: Balance = 1_000_000_000_000;

/// Reads a chance, as thousandths.
fn chance(text: &str) -> Result<u16, String> {
	let thousandths = amount::parse_scaled(text, 3).map_err(|error| error.to_string())?;
	let thousandths =
		u16::try_from(thousandths).ok().filter(|chance| (1..=CERTAIN).contains(chance));
	thousandths.ok_or_else(|| "a chance is from 0.001 to 1".to_owned())
}

/// Options of `trainyard task submit`.
#[derive(Debug, clap::Args)]
pub struct Submit {
	#[command(flatten)]
	what: What,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	/// What each replica earns whose claim stands (in TRY)
	#[arg(long, value_name = "TRY", value_parser = amount::parse, required_unless_present = "price")]
	reward: Option<Balance>,
	/// The same for one ut of the most fuel that the task may take
	#[arg(long, value_name = "TRY", value_parser = amount::parse, conflicts_with = "reward")]
	price: Option<Balance>,
	/// How many compute it
	#[arg(long, value_name = "N", default_value_t = 2)]
	replicas: u8,
	/// Chance of an audit
	#[arg(long, value_name = "P", default_value = "0.1", value_parser = chance)]
	audit: u16,
	/// What an auditor earns (in TRY) [default: the least that the chain takes]
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	audit_fee: Option<Balance>,
	/// What each replica puts at stake (in TRY) [default: the least that the chain takes]
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	deposit: Option<Balance>,
	/// Blocks for applications [default: 10]
	#[arg(long, value_name = "BLOCKS")]
	apply_blocks: Option<BlockNumber>,
	/// Blocks for computing [default: 10 more than the chain's least for its fuel]
	#[arg(long, value_name = "BLOCKS")]
	compute_blocks: Option<BlockNumber>,
	/// Blocks for showing claims and storing outputs [default: 10, and what storing takes]
	#[arg(long, value_name = "BLOCKS")]
	reveal_blocks: Option<BlockNumber>,
	/// Blocks in which anybody can challenge [default: the chain's least]
	#[arg(long, value_name = "BLOCKS")]
	challenge_blocks: Option<BlockNumber>,
	/// File for the result
	#[arg(long, value_name = "FILE")]
	out: Option<PathBuf>,
	/// Post it without asking
	#[arg(long)]
	yes: bool,
	/// Post it, though the same task of this account runs; without this that one is followed
	#[arg(long)]
	again: bool,
	/// Only post it; exit code 0 when it is on chain
	#[arg(long, conflicts_with = "out")]
	no_follow: bool,
	/// One JSON object per event; the last one is the whole task
	#[arg(long)]
	json: bool,
}

/// Options of `trainyard task follow`.
#[derive(Debug, clap::Args)]
pub struct Follow {
	/// Number of the task
	#[arg(value_name = "TASK")]
	id: TaskId,
	#[command(flatten)]
	node: NodeArgs,
	/// File for the result
	#[arg(long, value_name = "FILE")]
	out: Option<PathBuf>,
	/// One JSON object per event; the last one is the whole task
	#[arg(long)]
	json: bool,
}

impl Submit {
	fn offer(&self) -> Offer {
		Offer {
			reward: self.reward,
			price: self.price,
			replicas: self.replicas,
			audit: self.audit,
			audit_fee: self.audit_fee,
			deposit: self.deposit,
			apply: self.apply_blocks,
			compute: self.compute_blocks,
			reveal: self.reveal_blocks,
			challenge: self.challenge_blocks,
		}
	}

	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let (_, spec, Inputs { module, input }) = self.what.read(1)?;
		let sender = sender(&self.node, &self.key).await?;
		let chain = sender.chain().clone();
		let bounds = chain.task_bounds().await?;
		let terms = self.offer().terms(&spec, &bounds).with_context(|| {
			format!(
				"the chain would not take it. It asks for {} of deposit, {} blocks for challenges, {} to {} \
				 blocks for each other period, and a block of computing for {} units of fuel, of which this task \
				 may take {}",
				amount::format(bounds.deposit),
				bounds.window,
				bounds.least,
				bounds.most,
				bounds.block_fuel,
				spec.fuel()
			)
		})?;
		let report = Reporter::new("submitter", self.json, None);
		let running = posted(&sender, None, &spec, &terms).await?;
		if let Some(view) = running.filter(|_| !self.again) {
			let text = format!("task {} is the same and runs: --again posts another", view.id);
			report.general("resumed", &text, json!({ "task": view.id }));
			if self.no_follow {
				return Ok(ExitCode::SUCCESS);
			}
			return follow(&chain, view.id, self.out.as_deref(), &report, self.json).await;
		}
		let record = chain.constant("Tasks", "RecordDeposit").await?.unwrap_or_default();
		let escrow = terms.escrow().context("the rewards exceed the range of amounts")?;
		let held = escrow.saturating_add(record);
		let account = *sender.account();
		let free = chain.account(&account).await?.free;
		if free < held.saturating_add(FEE_MARGIN) {
			bail!(
				"this task holds {} when it is posted, and {account} has {} free. Bring balance to the account, \
				 or lower reward or replicas",
				amount::format(held),
				amount::format(free)
			);
		}
		eprint!("{}", cost(&spec, &terms, record));
		if !self.yes && !asked()? {
			return Ok(ExitCode::from(FAILED));
		}
		for bytes in [&module, &input] {
			blobs::store(&sender, bytes).await?;
		}
		let known = chain.tasks(None).await?.last().copied();
		sender.run(&calls::post(&spec, &terms)).await?;
		let view = posted(&sender, known, &spec, &terms).await?.context(
			"the task was posted, but its number was not found: trainyard task show lists all",
		)?;
		let text = format!("task {} is posted, {} held in escrow", view.id, amount::format(escrow));
		let fields = json!({ "task": view.id, "escrow": escrow.to_string(), "submitter": account });
		report.general("posted", &text, fields);
		if self.no_follow {
			return Ok(ExitCode::SUCCESS);
		}
		follow(&chain, view.id, self.out.as_deref(), &report, self.json).await
	}
}

impl Follow {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.node).await?;
		let report = Reporter::new("submitter", self.json, None);
		follow(&chain, self.id, self.out.as_deref(), &report, self.json).await
	}
}

/// Returns what a task costs, as lines.
fn cost(spec: &TaskSpec, terms: &TaskTerms, record: Balance) -> String {
	let work = task::work(spec.fuel()).unwrap_or_default() as f64 / 1e6;
	let held = terms.escrow().unwrap_or_default();
	let mut out = format!("computes    {}, {work:.3} ut at most\n", tell::form(&spec.form));
	let mut add = |name: &str, text: String| out.push_str(&format!("{name:<12}{text}\n"));
	add("pays", format!("{} to each of {} replicas", amount::format(terms.reward), terms.replicas));
	add(
		"audit",
		format!(
			"{} with a chance of {:.1} %",
			amount::format(terms.audit_fee),
			f64::from(terms.audit) / 10.0
		),
	);
	add("deposit", format!("{} of each replica", amount::format(terms.deposit)));
	add(
		"takes",
		format!(
			"{} blocks to apply, {} to compute, {} to show, {} to challenge, at most",
			terms.apply, terms.compute, terms.reveal, terms.challenge
		),
	);
	add(
		"held",
		format!(
			"{}, of which what nobody earns returns, and {} for the record until a week after the end; and module and \
			 input are stored for a month (trainyard model ls --mine)",
			amount::format(held),
			amount::format(record)
		),
	);
	out
}

/// Returns the task of this account with a number above `known` that is this one and not over.
async fn posted(
	sender: &Transactor,
	known: Option<TaskId>,
	spec: &TaskSpec,
	terms: &TaskTerms,
) -> anyhow::Result<Option<TaskView>> {
	let wanted = digest(spec, terms);
	for id in sender.chain().tasks(known).await? {
		let view = sender.chain().task(id).await?;
		let own = view.filter(|view| {
			let is_same = digest(&view.spec, &view.terms) == wanted;
			let runs = !matches!(view.phase, Phase::Ended(_));
			view.submitter == *sender.account() && is_same && runs
		});
		if own.is_some() {
			return Ok(own);
		}
	}
	Ok(None)
}

/// Follows a task to its end, and writes its result.
async fn follow(
	chain: &Chain,
	id: TaskId,
	out: Option<&Path>,
	report: &Reporter,
	as_json: bool,
) -> anyhow::Result<ExitCode> {
	let (mut seen, mut last) = (None, String::new());
	let view = loop {
		let head = next_block(chain, seen).await?;
		seen = Some(head.hash);
		let view = match chain.task(id).await {
			Ok(Some(view)) => view,
			Ok(None) => super::task(chain, id).await?,
			Err(error) if error.is_connection() => continue,
			Err(error) => return Err(error.into()),
		};
		let text = tell::phase(&view);
		if text != last {
			let fields = json!({ "task": id, "phase": tell::phase_name(&view.phase) });
			report.general("phase", &format!("task {id} {text}"), fields);
			last = text;
		}
		if matches!(view.phase, Phase::Ended(_)) {
			break view;
		}
	};
	let accepted = accepted(&view);
	if let (Some((number, claim)), Some(out)) = (accepted, out) {
		let bytes = output(chain, id, number, claim).await?;
		files::write(out, &bytes)?;
	}
	if as_json {
		let ended = json!({ "event": "ended", "task": id, "view": tell::json(&view) });
		println!("{}", terminal::json(&ended.to_string()));
	} else {
		print!("\n{}", terminal::lines(&tell::lines(&view)));
		if let (Some(_), Some(out)) = (accepted, out) {
			println!("file        {}", out.display());
		}
	}
	Ok(ExitCode::from(if accepted.is_some() { 0 } else { FAILED }))
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn chances_are_thousandths() {
		assert_eq!(chance("0.1"), Ok(100));
		assert_eq!(chance("1"), Ok(1_000));
		assert_eq!(chance("0.001"), Ok(1));
		for wrong in ["0", "1.001", "0.0001", "x", "-1"] {
			assert!(chance(wrong).is_err(), "{wrong}");
		}
	}
}
