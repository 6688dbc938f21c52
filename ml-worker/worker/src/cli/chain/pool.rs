//! `trainyard pool`: pools that carry the variance of lotteries.

use super::{connect, print_json, sender};
use crate::{
	args::{KeyArgs, NodeArgs},
	table::{table, Align},
	terminal,
};
use anyhow::{ensure, Context};
use clap::Subcommand;
use serde_json::json;
use std::process::ExitCode;
use trainyard_client::{
	amount,
	keys::parse_account,
	pools::{self as calls, Pool},
	AccountId32,
};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	pools::{PoolId, Rules, MOST_FEE},
	JobId,
};

/// What to do with pools.
#[derive(Debug, Subcommand)]
pub enum PoolCommand {
	/// Makes a pool, and puts a stake into it
	Create(Create),
	/// Puts a stake into a pool in which no claim is enrolled
	Join(Join),
	/// Takes your part out of a pool in which no claim is enrolled
	Leave(Of),
	/// Enrols your claim on what a job by lottery pays you, while you train it: you are paid the mean less the pool's fee
	Enrol(Enrol),
	/// Lists pools
	List(List),
}

/// Options of `trainyard pool create`.
#[derive(Debug, clap::Args)]
pub struct Create {
	/// What the pool keeps of the mean (in percent)
	#[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..=i64::from(MOST_FEE)))]
	fee: u8,
	/// Least standing of a trainer that enrols (in percent; one without a record has 100)
	#[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100))]
	least_standing: u32,
	/// Blocks for which it enrols claims, before it waits until they are settled and members may leave
	#[arg(long, value_name = "BLOCKS", default_value_t = 100_800)]
	period: BlockNumber,
	/// What you put in (in TRY)
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	stake: Balance,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
}

/// Options of `trainyard pool join`.
#[derive(Debug, clap::Args)]
pub struct Join {
	/// What you put in (in TRY)
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	stake: Balance,
	#[command(flatten)]
	of: Of,
}

/// Options of `trainyard pool enrol`.
#[derive(Debug, clap::Args)]
pub struct Enrol {
	/// The job that you train
	#[arg(long, value_name = "JOB")]
	job: JobId,
	#[command(flatten)]
	of: Of,
}

/// Options of commands about a pool.
#[derive(Debug, clap::Args)]
pub struct Of {
	/// Number of the pool
	#[arg(value_name = "POOL")]
	pool: PoolId,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
}

/// Options of `trainyard pool list`.
#[derive(Debug, clap::Args)]
pub struct List {
	/// Show what this account has in them
	#[arg(long, value_name = "ACCOUNT", value_parser = parse_account)]
	of: Option<AccountId32>,
	#[command(flatten)]
	node: NodeArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// Returns what `shares` of a pool are worth.
fn worth(pool: &Pool, shares: Balance) -> Balance {
	let part = shares as f64 / pool.shares.max(1) as f64;
	(pool.capital as f64 * part) as Balance
}

/// Returns the least shares for a stake by what a pool is now: a hundredth less, for what is rounded here.
fn least_shares(pool: &Pool, stake: Balance) -> Balance {
	let shares = stake as f64 * pool.shares as f64 / pool.capital.max(1) as f64;
	(shares * 0.99) as Balance
}

/// Writes pools as a table; with what an account has in them.
fn listed(all: &[(PoolId, Pool, Option<Balance>)]) -> String {
	let header = [
		("pool", Align::Right),
		("fee", Align::Right),
		("least standing", Align::Right),
		("capital", Align::Right),
		("free", Align::Right),
		("claims", Align::Right),
		("period ends at", Align::Right),
		("yours", Align::Right),
	];
	let row = |(id, pool, shares): &(PoolId, Pool, Option<Balance>)| {
		let ends = pool.since.saturating_add(pool.rules.period);
		vec![
			id.to_string(),
			format!("{} %", pool.rules.fee),
			format!("{} %", pool.rules.standing / 10_000),
			amount::format(pool.capital),
			amount::format(pool.free()),
			pool.enrolled.to_string(),
			ends.to_string(),
			shares.map_or("-".into(), |shares| amount::format(worth(pool, shares))),
		]
	};
	table(&header, &all.iter().map(row).collect::<Vec<_>>())
}

impl PoolCommand {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		match self {
			Self::Create(args) => args.run().await,
			Self::Join(args) => args.run().await,
			Self::List(args) => args.run().await,
			Self::Leave(args) => {
				let sender = sender(&args.node, &args.key).await?;
				sender.run(&calls::leave(args.pool)).await?;
				println!("you have left pool {}", args.pool);
				Ok(ExitCode::SUCCESS)
			}
			Self::Enrol(Enrol { job, of }) => {
				let sender = sender(&of.node, &of.key).await?;
				let head = sender.chain().head().await?;
				let pool = sender.chain().pool(of.pool).await?;
				let pool = pool.with_context(|| format!("there is no pool {}", of.pool))?;
				sender.run(&calls::enrol(of.pool, job).on(head)).await?;
				println!(
					"enrolled: pool {} pays you {} % of what job {job} pays on the average, if your result is found true",
					of.pool,
					100 - u32::from(pool.rules.fee)
				);
				Ok(ExitCode::SUCCESS)
			}
		}
	}
}

impl Create {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let Self { fee, least_standing, period, stake, node, key } = self;
		let sender = sender(&node, &key).await?;
		let rules = Rules { fee, standing: least_standing * 10_000, period };
		sender.run(&calls::create(&rules, stake)).await?;
		let chain = sender.chain();
		for id in chain.pools().await?.into_iter().rev() {
			if chain.pool(id).await?.is_some_and(|pool| pool.maker == *sender.account()) {
				println!("pool {id} has {}", amount::format(stake));
				return Ok(ExitCode::SUCCESS);
			}
		}
		anyhow::bail!("the pool was made, and is gone already");
	}
}

impl Join {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let Self { stake, of } = self;
		let sender = sender(&of.node, &of.key).await?;
		let head = sender.chain().head().await?;
		let pool = sender.chain().pool(of.pool).await?;
		let pool = pool.with_context(|| format!("there is no pool {}", of.pool))?;
		ensure!(
			pool.enrolled == 0,
			"{} claims are enrolled in pool {}: nobody joins until they are settled",
			pool.enrolled,
			of.pool
		);
		let least = least_shares(&pool, stake);
		sender.run(&calls::join(of.pool, stake, least).on(head)).await?;
		println!("{} are in pool {}", amount::format(stake), of.pool);
		Ok(ExitCode::SUCCESS)
	}
}

impl List {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.node).await?;
		let mut all = Vec::new();
		for id in chain.pools().await? {
			let Some(pool) = chain.pool(id).await? else { continue };
			let shares = match &self.of {
				Some(who) => Some(chain.pool_shares(id, who).await?),
				None => None,
			};
			all.push((id, pool, shares));
		}
		if self.json {
			let pools: Vec<_> = all
				.iter()
				.map(|(id, pool, shares)| {
					json!({ "id": id, "pool": pool, "shares": shares.map(|s| s.to_string()) })
				})
				.collect();
			return print_json(&pools);
		}
		match all.is_empty() {
			true => println!("there are no pools"),
			false => print!("{}", terminal::lines(&listed(&all))),
		}
		Ok(ExitCode::SUCCESS)
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	fn pool() -> Pool {
		Pool {
			maker: AccountId32([1; 32]),
			rules: Rules { fee: 5, standing: 900_000, period: 100 },
			capital: 30_000_000_000_000,
			shares: 20_000_000_000_000,
			reserved: 10_000_000_000_000,
			enrolled: 2,
			since: 7,
			quiet: 3,
		}
	}

	#[test]
	fn a_list_says_what_is_free_and_what_shares_are_worth() {
		let text = listed(&[(4, pool(), None), (5, pool(), Some(10_000_000_000_000))]);
		let lines: Vec<&str> = text.lines().collect();
		for words in ["5 %", "90 %", "30 TRY", "20 TRY", "107"] {
			assert!(lines[1].contains(words), "{words}: {text}");
		}
		assert!(lines[1].ends_with('-') && lines[2].ends_with("15 TRY"), "{text}");
	}

	#[test]
	fn a_stake_has_its_shares_but_for_a_hundredth() {
		assert_eq!(least_shares(&pool(), 3_000), 1_980);
	}
}
