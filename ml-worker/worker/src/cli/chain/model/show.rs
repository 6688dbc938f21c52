//! `trainyard model ls`, `log`, `renew` and `rm`.

use super::{clock, expiry, mib, parse_root, usual_period};
use crate::{
	args::{KeyArgs, NodeArgs},
	cli::chain::{connect, print_json, sender},
	table::{table, Align},
};
use anyhow::bail;
use serde_json::json;
use std::{process::ExitCode, time::Duration};
use trainyard_client::{
	amount, calls,
	keys::{self, parse_account},
	AccountId32, StoredView, Transactor, VersionView,
};
use trainyard_protocol::H256;

/// Most calls of `remove` for one blob: 2^32 bytes in chunks of 1 MiB, 64 in a call, and as many
/// again for what others do meanwhile.
const MOST_STEPS: u32 = 128;

/// Options of `trainyard model ls`.
#[derive(Debug, clap::Args)]
pub struct List {
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	/// Those of this account (SS58, hex or //Alice), instead of that of the key
	#[arg(long, value_name = "ACCOUNT", value_parser = parse_account, conflicts_with_all = ["all", "mine"])]
	owner: Option<AccountId32>,
	/// Those of the account of the key; this is what is listed without an option
	#[arg(long, conflicts_with = "all")]
	mine: bool,
	/// All files on chain
	#[arg(long)]
	all: bool,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// Most versions that `log` shows.
const MOST_VERSIONS: usize = 10_000;

/// Options of `trainyard model log`.
#[derive(Debug, clap::Args)]
pub struct Log {
	/// Root of the newest version
	#[arg(value_name = "ROOT", value_parser = parse_root)]
	root: H256,
	#[command(flatten)]
	node: NodeArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// Options of `trainyard model renew`.
#[derive(Debug, clap::Args)]
pub struct Renew {
	/// Root of the file
	#[arg(value_name = "ROOT", value_parser = parse_root)]
	root: H256,
	/// For so many blocks more; their rent is held [default: a month]
	#[arg(long, value_name = "BLOCKS")]
	blocks: Option<u32>,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// Options of `trainyard model rm`.
#[derive(Debug, clap::Args)]
pub struct Remove {
	/// Root of the file
	#[arg(value_name = "ROOT", value_parser = parse_root)]
	root: H256,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

impl List {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let owner = match (self.all, self.owner) {
			(true, _) => None,
			(false, Some(owner)) => Some(owner),
			(false, None) => Some(keys::account(&self.key.keypair()?)),
		};
		let chain = connect(&self.node).await?;
		let mut blobs = chain.stored_blobs().await?;
		blobs.retain(|blob| owner.as_ref().is_none_or(|owner| *owner == blob.owner));
		let (now, block) = clock(&chain).await?;
		if self.json {
			return print_json(&json!({
				"block": now, "block_seconds": block.as_secs_f64(), "blobs": blobs,
			}));
		}
		if blobs.is_empty() {
			match owner {
				None => println!("no files are on chain; `trainyard model put FILE` stores one"),
				Some(owner) => {
					println!("no files of {owner} are on chain; --all lists those of others")
				}
			}
			return Ok(ExitCode::SUCCESS);
		}
		print!("{}", listed(&blobs, now, block));
		Ok(ExitCode::SUCCESS)
	}
}

/// Lists blobs, those that expire first at the top.
fn listed(blobs: &[StoredView], now: u32, block: Duration) -> String {
	let mut blobs: Vec<_> = blobs.iter().collect();
	blobs.sort_by_key(|blob| (blob.expires, blob.root));
	let rows: Vec<Vec<String>> = blobs
		.iter()
		.map(|blob| {
			let state = match blob {
				StoredView { removing: true, .. } => "being removed".to_owned(),
				StoredView { awaited: 1.., stored, chunks, .. } if stored == chunks => {
					format!("named by {} job(s)", blob.awaited)
				}
				StoredView { awaited: 1.., .. } => format!("awaited by {} job(s)", blob.awaited),
				StoredView { stored, chunks, .. } if stored < chunks => "incomplete".into(),
				_ if blob.expires < now => "expired".into(),
				_ => "whole".into(),
			};
			vec![
				format!("{:?}", blob.root),
				mib(blob.size),
				format!("{}/{}", blob.stored, blob.chunks),
				state,
				expiry(blob.expires, now, block),
				amount::format(blob.deposit),
				blob.owner.to_string(),
				blob.parent.map(|parent| format!("{parent:?}")).unwrap_or_default(),
			]
		})
		.collect();
	let header = [
		("root", Align::Left),
		("size", Align::Right),
		("chunks", Align::Right),
		("state", Align::Left),
		("expires", Align::Left),
		("held", Align::Right),
		("owner", Align::Left),
		("parent", Align::Left),
	];
	table(&header, &rows)
}

impl Log {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let (root, chain) = (self.root, connect(&self.node).await?);
		let versions = chain.versions(root, MOST_VERSIONS).await?;
		if versions.is_empty() {
			bail!("the chain knows no file with root {root:?}; it may have expired");
		}
		if self.json {
			return print_json(&versions);
		}
		let (now, block) = clock(&chain).await?;
		print!("{}", logged(&versions, now, block));
		Ok(ExitCode::SUCCESS)
	}
}

/// Lists versions, the newest at the top.
fn logged(versions: &[VersionView], now: u32, block: Duration) -> String {
	let rows: Vec<Vec<String>> = versions
		.iter()
		.map(|one| {
			vec![
				format!("{:?}", one.root),
				one.number.to_string(),
				mib(one.size),
				if one.whole { "whole" } else { "incomplete" }.into(),
				expiry(one.expires, now, block),
				one.owner.to_string(),
			]
		})
		.collect();
	let header = [
		("root", Align::Left),
		("version", Align::Right),
		("size", Align::Right),
		("state", Align::Left),
		("expires", Align::Left),
		("owner", Align::Left),
	];
	let mut text = table(&header, &rows);
	if let Some(parent) = versions.last().and_then(|last| last.parent) {
		text += &match versions.len() >= MOST_VERSIONS {
			true => format!("and more, from {parent:?} on\n"),
			false => format!(
				"its parent {parent:?} is not on chain any more, or was registered again since\n"
			),
		};
	}
	text
}

impl Renew {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let root = self.root;
		let sender = sender(&self.node, &self.key).await?;
		let chain = sender.chain();
		let Some(before) = chain.blob(root).await? else {
			bail!("the chain knows no file with root {root:?}; it may have expired");
		};
		let (now, block) = clock(chain).await?;
		let is_own = before.owner == *sender.account();
		if !is_own && before.expires >= now {
			bail!(
				"{root:?} is of {}, who alone can renew it while its time runs, {}",
				before.owner,
				expiry(before.expires, now, block)
			);
		}
		if !before.missing.is_empty() {
			bail!(
				"{} of {} chunks of {root:?} are missing: `trainyard model put FILE` stores them first",
				before.missing.len(),
				before.chunks
			);
		}
		let call = match (is_own, self.blocks) {
			(true, Some(blocks)) => calls::renew_blob(&root, blocks),
			(true, None) => calls::renew_blob(&root, usual_period(chain).await?),
			(false, period) => calls::adopt_blob(&root, period),
		};
		sender.run(&call).await.map_err(|error| explain_period(error.into()))?;
		let (now, block) = clock(chain).await?;
		let expires = chain.blob(root).await?.map(|blob| blob.expires);
		if self.json {
			return print_json(&json!({
				"root": root, "expired_before": before.expires, "expires": expires,
			}));
		}
		let until = expires.map(|expires| expiry(expires, now, block));
		println!("{root:?} is kept until {}", until.unwrap_or_default());
		Ok(ExitCode::SUCCESS)
	}
}

impl Remove {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let root = self.root;
		let sender = sender(&self.node, &self.key).await?;
		let chain = sender.chain();
		let Some(before) = chain.blob(root).await? else {
			bail!("the chain knows no file with root {root:?}: it is gone already");
		};
		// What is due rises by the rent of the blocks until then.
		let keeping = chain.keeping(root).await?;
		let steps = remove(&sender, root).await.map_err(|error| explain(error, before.expires))?;
		let (held, due) =
			keeping.map_or((0, 0), |view| (view.deposit.saturating_add(view.rent), view.due));
		let back = held.saturating_sub(due);
		if self.json {
			return print_json(&json!({
				"root": root, "calls": steps, "owner": before.owner,
				"returned": back.to_string(), "burned": due.to_string(),
			}));
		}
		println!(
			"{root:?} is removed, in {steps} call(s); about {} returned to {}, and {} of rent were burned",
			amount::format(back),
			before.owner,
			amount::format(due)
		);
		Ok(ExitCode::SUCCESS)
	}
}

/// Removes a blob step by step until it is gone. Returns how many calls that took.
async fn remove(sender: &Transactor, root: H256) -> anyhow::Result<u32> {
	let mut steps = 0;
	while sender.chain().blob(root).await?.is_some() {
		if steps == MOST_STEPS {
			bail!("{root:?} is not gone after {steps} calls: somebody stores it again meanwhile");
		}
		sender.run(&calls::remove_blob(&root)).await?;
		steps += 1;
	}
	Ok(steps)
}

/// Adds what to do to why a blob cannot be removed.
fn explain(error: anyhow::Error, expires: u32) -> anyhow::Error {
	let text = error.to_string();
	let hint = if text.contains("NotExpired") {
		format!(
			"its owner can remove it when it is complete and the time is over for which a job named it; \
			 otherwise it can be removed after block {expires}"
		)
	} else if text.contains("NotOwner") {
		"only its owner can remove it now; others can when it has been expired for a while".into()
	} else if text.contains("Awaited") {
		"a job names it; it can be removed when no job does".into()
	} else {
		return error;
	};
	error.context(hint)
}

/// Adds what to do to why a blob cannot be renewed.
fn explain_period(error: anyhow::Error) -> anyhow::Error {
	let text = error.to_string();
	let hint = if text.contains("PeriodTooLong") {
		"nobody pays for more than a year ahead: give fewer --blocks"
	} else if text.contains("PeriodTooShort") {
		"a file is renewed for a block at least, and taken over for a day at least: give more --blocks"
	} else {
		return error;
	};
	error.context(hint)
}

#[cfg(test)]
mod tests {
	use super::*;

	fn blob(byte: u8, stored: u32, expires: u32, awaited: u32, removing: bool) -> StoredView {
		let owner = AccountId32([1; 32]);
		let (root, size, deposit) = (H256::repeat_byte(byte), 3 << 20, 5_000_000_000_000);
		let parent = (byte == 5).then_some(H256::repeat_byte(0xfe));
		let chunks = 3;
		StoredView {
			root,
			owner,
			size,
			chunks,
			stored,
			deposit,
			expires,
			removing,
			awaited,
			parent,
		}
	}

	#[test]
	fn versions_are_listed_back_to_the_first_that_is_there() {
		let version = |number: u32, parent: Option<u8>| VersionView {
			root: H256::repeat_byte(number as u8),
			parent: parent.map(H256::repeat_byte),
			number,
			size: 3 << 20,
			whole: number != 2,
			since: 1,
			expires: 200,
			owner: AccountId32([1; 32]),
		};
		let block = Duration::from_secs(6);
		let mut versions = vec![version(2, Some(1)), version(1, Some(0)), version(0, None)];
		let text = logged(&versions, 100, block);
		let lines: Vec<&str> = text.lines().collect();
		assert_eq!(lines.len(), 4, "{text}");
		assert!(lines[1].contains("incomplete") && lines[3].contains("whole"), "{text}");
		versions.pop();
		let text = logged(&versions, 100, block);
		assert!(
			text.ends_with("is not on chain any more, or was registered again since\n"),
			"{text}"
		);
		assert!(text.contains(&format!("{:?}", H256::zero())), "{text}");
	}

	#[test]
	fn blobs_are_listed_with_what_is_said_of_them() {
		let blobs = [
			blob(1, 3, 200, 0, false),
			blob(2, 3, 90, 0, false),
			blob(3, 2, 120, 0, false),
			blob(4, 1, 110, 2, false),
			blob(5, 3, 130, 1, false),
			blob(6, 1, 80, 0, true),
		];
		let text = listed(&blobs, 100, Duration::from_secs(6));
		let lines: Vec<&str> = text.lines().skip(1).collect();
		for (line, state) in lines.iter().zip([
			"being removed",
			"expired",
			"awaited by 2 job(s)",
			"incomplete",
			"named by 1 job(s)",
			"whole",
		]) {
			assert!(
				line.contains(state) && line.contains("3.0 MiB") && line.contains("5 TRY"),
				"{text}"
			);
		}
		assert!(lines[4].trim_end().ends_with("fefe"), "{text}");
		assert!(
			lines[1].contains("block 90, 1 min ago") && lines[5].contains("in 10 min"),
			"{text}"
		);
	}

	#[test]
	fn why_nothing_is_removed_comes_with_what_to_do() {
		for (name, hint) in [
			("ModelStorage::NotExpired", "after block 7"),
			("ModelStorage::NotOwner", "only its owner"),
			("ModelStorage::Awaited", "a job names it"),
			("Other", "Other"),
		] {
			let error = explain(anyhow::anyhow!("{name}"), 7);
			assert!(format!("{error:#}").contains(hint), "{error:#}");
		}
		for (name, hint) in [
			("ModelStorage::PeriodTooLong", "fewer --blocks"),
			("ModelStorage::PeriodTooShort", "more --blocks"),
			("Other", "Other"),
		] {
			let error = explain_period(anyhow::anyhow!("{name}"));
			assert!(format!("{error:#}").contains(hint), "{error:#}");
		}
	}
}
