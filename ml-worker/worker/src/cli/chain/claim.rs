//! `trainyard claim`: claims on what replicas are paid.

use super::{connect, print_json, sender};
use crate::{
	args::{KeyArgs, NodeArgs},
	table::{table, Align},
	terminal,
};
use anyhow::{bail, ensure, Context};
use clap::Subcommand;
use serde_json::json;
use std::process::ExitCode;
use trainyard_client::{
	amount,
	claims::{self as calls, Asked, ClaimView, Seen},
	keys::parse_account,
	AccountId32, Chain,
};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	JobId,
};

/// What to do with claims.
#[derive(Debug, Subcommand)]
pub enum ClaimCommand {
	/// Offers the claim on what a replica is paid, which is its trainer's until it is sold, while the result is audited
	Offer(Offer),
	/// Buys a claim that is on offer: you are paid when the job is settled, and the price does not return where the
	/// result turns out to be false
	Buy(Buy),
	/// Takes an offer back
	Withdraw(Of),
	/// Lists claims that were offered or sold; or all of a job
	List(List),
}

/// Options of `trainyard claim offer`.
#[derive(Debug, clap::Args)]
pub struct Offer {
	#[command(flatten)]
	of: Of,
	/// What you ask for it (in TRY)
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	price: Balance,
	/// Blocks for which it can be bought: the longer, the rather it is bought only where that is safe
	#[arg(long, value_name = "BLOCKS", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
	blocks: BlockNumber,
	/// This account alone may buy it
	#[arg(long, value_name = "ACCOUNT", value_parser = parse_account)]
	only: Option<AccountId32>,
}

/// Options of `trainyard claim buy`.
#[derive(Debug, clap::Args)]
pub struct Buy {
	#[command(flatten)]
	of: Of,
	/// The most that you pay (in TRY)
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	most: Balance,
}

/// Which claim, and who asks.
#[derive(Debug, clap::Args)]
pub struct Of {
	/// The job
	#[arg(long, value_name = "JOB")]
	job: JobId,
	/// Whose replica; without it the only one that can be meant
	#[arg(long, value_name = "ACCOUNT", value_parser = parse_account)]
	trainer: Option<AccountId32>,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
}

/// Options of `trainyard claim list`.
#[derive(Debug, clap::Args)]
pub struct List {
	/// All claims of this job
	#[arg(long, value_name = "JOB")]
	job: Option<JobId>,
	#[command(flatten)]
	node: NodeArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// Returns the claim that is meant: that of `trainer`, or the only one that `fits`.
fn chosen(
	job: JobId,
	views: Vec<ClaimView>,
	trainer: Option<&AccountId32>,
	fits: impl Fn(&ClaimView) -> bool,
) -> anyhow::Result<ClaimView> {
	ensure!(!views.is_empty(), "job {job} is not audited: claims are sold in the audit alone");
	if let Some(trainer) = trainer {
		let found = views.into_iter().find(|view| view.trainer == *trainer);
		return found.with_context(|| format!("{trainer} has no result in the audit of job {job}"));
	}
	let mut fitting: Vec<ClaimView> = views.into_iter().filter(fits).collect();
	match (fitting.pop(), fitting.is_empty()) {
		(Some(one), true) => Ok(one),
		(None, _) => {
			bail!("job {job} has no such claim: look at `trainyard claim list --job {job}`")
		}
		(Some(_), false) => bail!("job {job} has several such claims: name one by --trainer"),
	}
}

/// Says why a claim cannot be sold now, if so.
fn barred(view: &ClaimView) -> Option<&'static str> {
	match (view.known, view.disputed) {
		(_, true) => Some("disputed"),
		(None, _) => Some("news to come"),
		(Some(_), false) => None,
	}
}

/// Says what is on offer.
fn offered(view: &ClaimView) -> String {
	match (&view.offer, barred(view)) {
		(None, _) => "-".into(),
		(Some(_), Some(why)) => why.into(),
		(Some(offer), None) if view.stands => {
			let only = offer.asked.only.as_ref();
			let only = only.map_or(String::new(), |who| format!(", for {who} alone"));
			let until = offer.asked.until;
			format!("{} until block {until}{only}", amount::format(offer.asked.price))
		}
		(Some(_), None) => "lapsed".into(),
	}
}

/// Says what a claim is paid.
fn paid(view: &ClaimView) -> String {
	let pay = view.pay;
	match pay.least == pay.most {
		true => amount::format(pay.most),
		false => format!("{} or {}", amount::format(pay.least), amount::format(pay.most)),
	}
}

/// Writes claims as a table.
fn listed(all: &[(JobId, ClaimView)]) -> String {
	let header = [
		("job", Align::Right),
		("trainer", Align::Left),
		("holder", Align::Left),
		("is paid", Align::Right),
		("for sale at", Align::Left),
	];
	let row = |(job, view): &(JobId, ClaimView)| {
		let (trainer, holder) = (view.trainer.to_string(), view.holder.to_string());
		vec![job.to_string(), trainer, holder, paid(view), offered(view)]
	};
	table(&header, &all.iter().map(row).collect::<Vec<_>>())
}

impl ClaimCommand {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		match self {
			Self::Offer(args) => args.run().await,
			Self::Buy(args) => args.run().await,
			Self::List(args) => args.run().await,
			Self::Withdraw(args) => {
				let sender = sender(&args.node, &args.key).await?;
				let views = sender.chain().claims(args.job).await?;
				let own = sender.account();
				let fits = |view: &ClaimView| view.holder == *own && view.offer.is_some();
				let view = chosen(args.job, views, args.trainer.as_ref(), fits)?;
				sender.run(&calls::offer(args.job, &view.trainer, None)).await?;
				println!("the claim on job {} is not on offer any more", args.job);
				Ok(ExitCode::SUCCESS)
			}
		}
	}
}

impl Offer {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let Self { of, price, blocks, only } = self;
		let sender = sender(&of.node, &of.key).await?;
		let chain = sender.chain();
		let head = chain.head().await?;
		let own = sender.account();
		let views = chain.claims(of.job).await?;
		let view = chosen(of.job, views, of.trainer.as_ref(), |view| view.holder == *own)?;
		ensure!(view.holder == *own, "{} holds that claim, and may offer it", view.holder);
		let until = head.number.saturating_add(blocks);
		let asked = Asked { price, until, only };
		sender.run(&calls::offer(of.job, &view.trainer, Some(&asked)).on(head)).await?;
		println!(
			"on offer for {} until block {until}: what {} is paid for job {}, {}",
			amount::format(price),
			view.trainer,
			of.job,
			paid(&view)
		);
		Ok(ExitCode::SUCCESS)
	}
}

impl Buy {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let Self { of, most } = self;
		let sender = sender(&of.node, &of.key).await?;
		let chain = sender.chain();
		let head = chain.head().await?;
		let views = chain.claims(of.job).await?;
		let view = chosen(of.job, views, of.trainer.as_ref(), |view| view.stands)?;
		let offer = view.offer.as_ref().filter(|_| view.stands).with_context(|| {
			format!("the claim of {} cannot be bought now: {}", view.trainer, offered(&view))
		})?;
		let price = offer.asked.price;
		ensure!(
			price <= most,
			"it costs {}, which is more than --most {}",
			amount::format(price),
			amount::format(most)
		);
		let (root, since) = (offer.known.root, offer.since);
		let seen = Seen { holder: view.holder.clone(), root, since };
		sender.run(&calls::buy(of.job, &view.trainer, &seen, most).on(head)).await?;
		println!(
			"bought for {}: what {} is paid for job {}, {} where its result {root:?} is accepted",
			amount::format(price),
			view.trainer,
			of.job,
			paid(&view)
		);
		Ok(ExitCode::SUCCESS)
	}
}

/// Returns all claims that were offered or sold, or all of one job.
async fn all(chain: &Chain, job: Option<JobId>) -> anyhow::Result<Vec<(JobId, ClaimView)>> {
	if let Some(job) = job {
		let views = chain.claims(job).await?;
		return Ok(views.into_iter().map(|view| (job, view)).collect());
	}
	let mut found = Vec::new();
	for job in chain.claimed_jobs().await? {
		let views = chain.claims(job).await?;
		let traded = views.into_iter().filter(|v| v.offer.is_some() || v.holder != v.trainer);
		found.extend(traded.map(|view| (job, view)));
	}
	Ok(found)
}

impl List {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.node).await?;
		let all = all(&chain, self.job).await?;
		if self.json {
			let claims: Vec<_> =
				all.iter().map(|(job, claim)| json!({ "job": job, "claim": claim })).collect();
			return print_json(&claims);
		}
		match all.is_empty() {
			true => println!("no claim was offered or sold"),
			false => print!("{}", terminal::lines(&listed(&all))),
		}
		Ok(ExitCode::SUCCESS)
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::{
		claims::{Known, Offer, Pay},
		H256,
	};

	fn who(byte: u8) -> AccountId32 {
		AccountId32([byte; 32])
	}

	fn view(trainer: u8, stands: bool) -> ClaimView {
		let known = Known { root: H256::repeat_byte(trainer), round: 0, stands: true, asked: 0 };
		let asked = Asked { price: 90_000_000_000_000, until: 700, only: None };
		ClaimView {
			trainer: who(trainer),
			holder: who(9),
			pay: Pay { expected: 5, least: 3_000_000_000_000, most: 6_000_000_000_000 },
			known: Some(known),
			disputed: false,
			offer: Some(Offer { asked, since: 4, known }),
			stands,
		}
	}

	#[test]
	fn the_only_claim_that_fits_is_meant() {
		let all = || vec![view(1, true), view(2, false)];
		let stands = |view: &ClaimView| view.stands;
		assert_eq!(chosen(7, all(), None, stands).unwrap(), view(1, true));
		assert_eq!(chosen(7, all(), Some(&who(2)), stands).unwrap(), view(2, false));
		let error = |views, trainer: Option<&AccountId32>, fits: fn(&ClaimView) -> bool| {
			chosen(7, views, trainer, fits).unwrap_err().to_string()
		};
		assert!(error(all(), None, |_| true).contains("--trainer"));
		assert!(error(all(), None, |_| false).contains("claim list --job 7"));
		assert!(error(all(), Some(&who(3)), |_| true).contains("no result"));
		assert!(error(Vec::new(), None, |_| true).contains("not audited"));
	}

	#[test]
	fn a_list_says_what_can_be_bought() {
		let lapsed = view(2, false);
		let disputed = ClaimView { disputed: true, ..view(3, false) };
		let moves = ClaimView { known: None, ..view(4, false) };
		let none = ClaimView { offer: None, ..view(5, false) };
		let all = [view(1, true), lapsed, disputed, moves, none];
		let text = listed(&all.map(|view| (7, view)));
		let lines: Vec<&str> = text.lines().collect();
		assert!(lines[1].contains("90 TRY") && lines[1].contains("3 TRY or 6 TRY"), "{text}");
		for (line, word) in lines[2..].iter().zip(["lapsed", "disputed", "news to come", "-"]) {
			assert!(line.ends_with(word), "{text}");
		}
	}
}
