//! `trainyard reputation`: what an account did.

use super::{connect, print_json};
use crate::{
	args::{KeyArgs, NodeArgs},
	table::{table, Align},
};
use serde_json::json;
use std::process::ExitCode;
use trainyard_client::{
	amount,
	keys::{self, parse_account},
	AccountId32,
};
use trainyard_protocol::{
	job::Balance,
	reputation::{Record, Role, WHOLE},
	views::RecordView,
	watch::WATCH_BLOCKS,
};

/// Options of `trainyard reputation`.
#[derive(Debug, clap::Args)]
pub struct ReputationOf {
	/// An account (SS58, hex or //Alice); without it, that of the key
	#[arg(value_name = "ACCOUNT", value_parser = parse_account)]
	account: Option<AccountId32>,
	#[command(flatten)]
	key: KeyArgs,
	#[command(flatten)]
	node: NodeArgs,
	/// Show how many look at results of others, and what one more may expect, in the place of an account
	#[arg(long, conflicts_with = "account")]
	watchers: bool,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// Returns millionths in percent.
pub(super) fn millionths(parts: u32) -> String {
	format!("{:.1} %", f64::from(parts) * 100.0 / f64::from(WHOLE))
}

/// Returns all in a record that is not to somebody's credit.
pub(super) fn against(record: &Record) -> Balance {
	record.late.saturating_add(record.failed).saturating_add(record.convicted)
}

impl ReputationOf {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		if self.watchers {
			let view = connect(&self.node).await?.watchers().await?;
			if self.json {
				return print_json(&view);
			}
			println!(
				"alive     {} in the last watch of {WATCH_BLOCKS} blocks, {} so far in this one",
				view.alive, view.so_far
			);
			println!(
				"found     {}, which fades by half in four weeks: {} a day",
				amount::format(view.prizes),
				amount::format(view.per_day)
			);
			println!("expects   one more {} a day", amount::format(view.next));
			return Ok(ExitCode::SUCCESS);
		}
		let account = match self.account {
			Some(account) => account,
			None => keys::account(&self.key.keypair()?),
		};
		let records = connect(&self.node).await?.reputation(&account).await?;
		if self.json {
			return print_json(&json!({ "account": account, "records": records }));
		}
		if records.is_empty() {
			println!(
				"{account} did nothing so far that is remembered: no job that it took part in burned a fee, \
				 or all of it has faded"
			);
			return Ok(ExitCode::SUCCESS);
		}
		println!("{account}, in fees that were burned for it and fade by half in four weeks\n");
		print!("{}", shown(&records));
		Ok(ExitCode::SUCCESS)
	}
}

fn shown(records: &[RecordView]) -> String {
	let row = |view: &RecordView| {
		let Record { done, late, failed, convicted, wronged, .. } = view.record;
		let mut row = vec![json!(view.role).as_str().unwrap_or_default().to_owned()];
		row.extend([done, late, failed, convicted, wronged].map(amount::format));
		// Nobody but trainers is drawn by what it did, and nobody's word but theirs and that of seats is forecast.
		let is_trainer = view.role == Role::Trainer;
		let speaks = is_trainer || view.role == Role::Verifier;
		row.push(if speaks { millionths(view.right) } else { "-".into() });
		row.push(if is_trainer { millionths(view.standing) } else { "-".into() });
		row
	};
	let header = [
		("as", Align::Left),
		("done", Align::Right),
		("late", Align::Right),
		("failed", Align::Right),
		("convicted", Align::Right),
		("accused wrongly", Align::Right),
		("right", Align::Right),
		("of its bond is drawn", Align::Right),
	];
	table(&header, &records.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::reputation::Deed;

	#[test]
	fn what_does_not_follow_from_a_role_is_not_shown_for_it() {
		let record = Record::default().with(Deed::Done, 10_000_000_000_000, 0);
		let shown = shown(&[
			RecordView::of(Role::Trainer, record),
			RecordView::of(Role::Submitter, record),
		]);
		let lines: Vec<&str> = shown.lines().collect();
		assert!(lines[1].starts_with("trainer") && lines[1].contains("95.0 %"), "{shown}");
		assert!(lines[1].trim_end().ends_with("75.0 %"), "{shown}");
		assert!(lines[2].starts_with("submitter") && !lines[2].contains('%'), "{shown}");
	}
}
