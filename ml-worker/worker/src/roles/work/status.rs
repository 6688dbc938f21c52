//! What `trainyard work` shows: earnings by hour, what is locked, and why nothing came. It is written into
//! the folder every few blocks, so that it can be read while the daemon works, and after it.

use super::{
	accounts::signed,
	booking::Kind,
	facts::Facts,
	ledger::{Ledger, HOUR},
	locked::{locked, Locked},
	part::Part,
	reasons::{reason, Told},
};
use crate::{
	roles::{
		machine::Present,
		store::{self, StoreError},
	},
	table::{table, Align},
};
use serde::{Deserialize, Serialize};
use std::{
	collections::BTreeMap,
	path::{Path, PathBuf},
	time::Duration,
};
use trainyard_client::{amount, AccountId32};
use trainyard_protocol::job::{Balance, BlockNumber};

/// Hours that are shown one by one.
const HOURS: usize = 12;
/// Milliseconds of a second.
const SECOND: u64 = 1_000;

/// What the daemon knows at a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
	/// The account.
	pub account: AccountId32,
	/// The node.
	pub node: String,
	/// When it was written, in milliseconds since 1970.
	pub time: u64,
	/// Since when the daemon works.
	pub since: u64,
	/// The best block.
	pub best: BlockNumber,
	/// Milliseconds from block to block.
	pub block_ms: u64,
	/// Free balance.
	#[serde(with = "trainyard_program::text::decimal")]
	pub free: Balance,
	/// Held balance.
	#[serde(with = "trainyard_program::text::decimal")]
	pub held: Balance,
	/// What is locked.
	pub locked: Vec<Locked>,
	/// What each role does, or why nothing comes.
	pub reasons: BTreeMap<Part, String>,
	/// What is computed, and what waits for it.
	pub computing: Vec<String>,
	/// Drilling and training power, in micro-ut a day.
	pub power: BTreeMap<Part, String>,
}

/// What a status is made of, besides what the chain says.
#[derive(Clone, Debug)]
pub struct Made<'a> {
	/// The roles that are played.
	pub roles: &'a std::collections::BTreeSet<Part>,
	/// The node.
	pub node: &'a str,
	/// Now, in milliseconds since 1970.
	pub now: u64,
	/// Since when the daemon works.
	pub since: u64,
	/// Time from block to block.
	pub block_time: Duration,
	/// What the roles told.
	pub told: &'a Told,
	/// Who computes.
	pub present: &'a [Present],
}

impl Status {
	/// Makes the status of a block.
	pub fn of(facts: &Facts, made: &Made<'_>) -> Self {
		let reasons = made.roles.iter();
		let reasons = reasons.map(|role| (*role, reason(*role, facts, made.told, made.present)));
		let computing = made.present.iter().map(|it| {
			let state = if it.computes { "computes" } else { "waits" };
			format!("{} {state}: {}", it.role, it.what)
		});
		let power = facts.trainer.iter().flat_map(|trainer| {
			let (training, drilling) = (trainer.training_effective, trainer.drilling_effective);
			[(Part::Trainer, training.to_string()), (Part::Driller, drilling.to_string())]
		});
		Self {
			account: facts.me,
			node: made.node.to_owned(),
			time: made.now,
			since: made.since,
			best: facts.best,
			block_ms: u64::try_from(made.block_time.as_millis()).unwrap_or(u64::MAX),
			free: facts.account.free,
			held: facts.account.reserved,
			locked: locked(facts),
			reasons: reasons.collect(),
			computing: computing.collect(),
			power: power.collect(),
		}
	}

	/// Reads the status in `folder`; `None` where there is none.
	pub fn load(folder: &Path) -> Result<Option<Self>, StoreError> {
		store::load(&path(folder))
	}

	/// Writes it.
	pub fn save(&self, folder: &Path) -> Result<(), StoreError> {
		store::save(&path(folder), self)
	}

	/// Says it in one line.
	pub fn line(&self, ledger: &Ledger) -> String {
		let hour = ledger.since_hour((self.time / HOUR * HOUR).saturating_sub(HOUR));
		format!(
			"block {}: {} free, {} held; {} since the last hour began, {} since block {}",
			self.best,
			amount::format(self.free),
			amount::format(self.held),
			signed(hour.all()),
			signed(ledger.all().all()),
			ledger.opened.block
		)
	}
}

fn path(folder: &Path) -> PathBuf {
	folder.join("status.json")
}

/// Writes a status for people.
pub fn text(status: &Status, ledger: &Ledger) -> String {
	let mut text = format!(
		"{} at block {} of {}\n{} free, {} held\n\n",
		status.account,
		status.best,
		status.node,
		amount::format(status.free),
		amount::format(status.held)
	);
	text.push_str(&earned(ledger));
	text.push_str(&locks(status));
	text.push_str("now, and why nothing came\n");
	for (role, reason) in &status.reasons {
		text.push_str(&format!("  {}: {reason}\n", role.name()));
	}
	for line in &status.computing {
		text.push_str(&format!("  {line}\n"));
	}
	text
}

/// Writes what came by hour, in TRY.
fn earned(ledger: &Ledger) -> String {
	let all = ledger.all();
	let parts: Vec<Part> = all.money.keys().copied().collect();
	let powered: Vec<Part> = all.power.keys().copied().collect();
	if parts.is_empty() && powered.is_empty() {
		return format!("nothing came or went since block {}\n\n", ledger.opened.block);
	}
	let mut header = vec![("earned, TRY (hour in UTC)", Align::Left)];
	header.extend(parts.iter().map(|part| (part.name(), Align::Right)));
	header.push(("all", Align::Right));
	let names: Vec<String> =
		powered.iter().map(|part| format!("{} power, ut", part.name())).collect();
	header.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
	let row = |name: String, sums: &super::ledger::Sums| {
		let money = parts.iter().map(|part| coins(sums.of(*part)));
		let power = powered.iter().map(|part| ut(sums.power.get(part).copied().unwrap_or(0)));
		std::iter::once(name).chain(money).chain([coins(sums.all())]).chain(power).collect()
	};
	let shown = ledger.hours.len().saturating_sub(HOURS);
	let mut rows: Vec<Vec<String>> =
		ledger.hours.iter().skip(shown).map(|(hour, sums)| row(clock(*hour), sums)).collect();
	rows.push(row(format!("since block {}", ledger.opened.block), &all));
	let mut text = table(&header, &rows);
	let kinds: BTreeMap<Kind, i128> =
		all.money.values().flatten().fold(BTreeMap::new(), |mut sums, (kind, amount)| {
			*sums.entry(*kind).or_default() += amount.0;
			sums
		});
	let kinds: Vec<String> =
		kinds.iter().map(|(kind, sum)| format!("{} {}", kind.word(), signed(*sum))).collect();
	if !kinds.is_empty() {
		text.push_str(&format!("of that {}\n", kinds.join(", ")));
	}
	text.push('\n');
	text
}

/// Writes what is locked.
fn locks(status: &Status) -> String {
	if status.locked.is_empty() {
		return "nothing is locked\n\n".to_owned();
	}
	let header = [("locked", Align::Right), ("until", Align::Left), ("why", Align::Left)];
	let until = |until: BlockNumber| {
		let left = u64::from(until.saturating_sub(status.best)) * status.block_ms / SECOND;
		format!("block {until}, in {}", time(left))
	};
	let rows: Vec<Vec<String>> = status
		.locked
		.iter()
		.map(|it| {
			let until = it.until.map_or("-".to_owned(), until);
			vec![amount::format(it.amount), until, it.why.clone()]
		})
		.collect();
	table(&header, &rows) + "\n"
}

/// Writes an amount in TRY with its sign, without the name of the currency.
fn coins(amount: i128) -> String {
	let digits = amount::format_scaled(amount.unsigned_abs(), 12);
	match amount {
		0 => "0".to_owned(),
		..0 => format!("-{digits}"),
		_ => format!("+{digits}"),
	}
}

fn ut(work: i64) -> String {
	let digits = amount::format_scaled(u128::from(work.unsigned_abs()), 6);
	if work < 0 {
		format!("-{digits}")
	} else {
		digits
	}
}

/// Writes seconds.
fn time(seconds: u64) -> String {
	match seconds {
		0..60 => format!("{seconds} s"),
		60..3_600 => format!("{} min", seconds / 60),
		3_600..172_800 => format!("{} h", seconds / 3_600),
		_ => format!("{} days", seconds / 86_400),
	}
}

/// Writes the day and the hour of a time in milliseconds since 1970, in UTC.
fn clock(ms: u64) -> String {
	let hours = ms / HOUR;
	let (days, hour) = (hours / 24, hours % 24);
	// Civil from days: Howard Hinnant's algorithm, for days since 1970.
	let shifted = days + 719_468;
	let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
	let year_of_era =
		(day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
	let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	let month_from_march = (5 * day_of_year + 2) / 153;
	let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
	let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
	let year = year_of_era + era * 400 + u64::from(month <= 2);
	format!("{year:04}-{month:02}-{day:02} {hour:02}:00")
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
