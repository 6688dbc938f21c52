//! What an attack cost whom.

use crate::scene::{Scene, Side};
use serde::Serialize;
use std::{collections::BTreeMap, fmt};
use trainyard_runtime::{AccountId, Balance, TRY};

/// An attack, as it stands in the list.
#[derive(Clone, Copy)]
pub struct Attack {
	/// Its name on the command line.
	pub name: &'static str,
	/// The finding of the review that describes it.
	pub source: &'static str,
	/// What the attacker tries.
	pub tries: &'static str,
	/// The rule that stops it.
	pub rule: &'static str,
	/// Where the honest may still lose something: why, and what would stop it.
	pub left: Option<&'static str>,
	/// Tries it.
	pub run: fn() -> Outcome,
}

/// What an attack left.
pub struct Outcome {
	/// The chain after it.
	pub scene: Scene,
	/// What else there is to see, by what it is.
	pub facts: Vec<(&'static str, String)>,
}

/// What an honest party lost.
#[derive(Debug, Clone, Serialize)]
pub struct Loss {
	/// Who.
	pub party: String,
	/// What it paid for transactions.
	#[serde(with = "trainyard_program::text::decimal")]
	pub fees: Balance,
	/// What it earned, or got from others, beside that.
	#[serde(with = "trainyard_program::text::decimal")]
	pub earned: Balance,
	/// What it lost beside that, and beside what it paid for work that it got.
	#[serde(with = "trainyard_program::text::decimal")]
	pub lost: Balance,
}

/// What an attack comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
	/// The honest lose nothing but transaction fees, and the attacker spends at least what all of
	/// them spend and do not earn back, but those who buy something.
	Stopped,
	/// The honest lose nothing but transaction fees, and these are more than the attacker spends.
	Annoying,
	/// Somebody honest loses more than transaction fees.
	Open,
}

/// The figures of an attack.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
	/// Its name.
	pub name: &'static str,
	/// The finding of the review that describes it.
	pub source: &'static str,
	/// What the attacker tries.
	pub tries: &'static str,
	/// The rule that stops it.
	pub rule: &'static str,
	/// Where the honest may still lose something: why.
	pub left: Option<&'static str>,
	/// What the attacker spent: transaction fees, and what it lost of its money beside them.
	#[serde(with = "trainyard_program::text::decimal")]
	pub spent: Balance,
	/// What the attacker has more than before, fees aside.
	#[serde(with = "trainyard_program::text::decimal")]
	pub gained: Balance,
	/// What the honest lost beyond fees, all together.
	#[serde(with = "trainyard_program::text::decimal")]
	pub lost: Balance,
	/// Every honest party.
	pub honest: Vec<Loss>,
	/// What else there is to see.
	pub facts: BTreeMap<&'static str, String>,
	/// What it comes to.
	pub verdict: Verdict,
}

impl Report {
	/// Tries `attack`, checks the books, and counts.
	pub fn of(attack: &Attack) -> Self {
		let Outcome { mut scene, facts } = (attack.run)();
		scene.check();
		let (mut fees, mut before, mut after, mut others) = (0, 0, 0, 0);
		let mut honest = Vec::new();
		let mut numbers = BTreeMap::<&str, u32>::new();
		for party in scene.parties.clone() {
			let (had, has) = (scene.began(&party.account), scene.worth(&party.account));
			let paid = scene.fees_of(&party.account);
			if party.side == Side::Attacker {
				fees += paid;
				before += had;
				after += has;
				continue;
			}
			let number = numbers.entry(party.role).or_default();
			*number += 1;
			let bought = scene.bought(&party.account);
			let ought = had + scene.earned(&party.account) - bought - paid;
			let (earned, lost) = (has.saturating_sub(ought), ought.saturating_sub(has));
			// Who buys something pays fees for that by its own wish.
			let forced = if bought == 0 { paid + lost } else { lost };
			others += forced.saturating_sub(earned);
			honest.push(Loss {
				party: format!("{} {number}", party.role),
				fees: paid,
				earned,
				lost,
			});
		}
		let spent = fees + before.saturating_sub(fees).saturating_sub(after);
		let gained = after.saturating_sub(before.saturating_sub(fees));
		let lost: Balance = honest.iter().map(|loss| loss.lost).sum();
		let verdict = match (lost, others) {
			(0, others) if others <= spent => Verdict::Stopped,
			(0, _) => Verdict::Annoying,
			_ => Verdict::Open,
		};
		let Attack { name, source, tries, rule, left, .. } = *attack;
		let facts = facts.into_iter().collect();
		Self { name, source, tries, rule, left, spent, gained, lost, honest, facts, verdict }
	}

	/// Returns whether it is as it should be: stopped, or known to be open.
	pub fn is_expected(&self) -> bool {
		match self.left {
			None => self.verdict != Verdict::Open,
			// What is not open any more must not be called that.
			Some(_) => self.verdict == Verdict::Open,
		}
	}
}

/// The head of the table of docs/security.md.
pub const TABLE: &str = "\
| attack | from | it tries | the rule that stops it | attacker spent, TRY | gained | honest lost, beside fees |
|---|---|---|---|---|---|---|";

impl Report {
	/// Returns the row of this attack in that table.
	pub fn row(&self) -> String {
		let Self { name, source, tries, rule, .. } = self;
		let [spent, gained, lost] =
			[self.spent, self.gained, self.lost].map(|units| units as f64 / TRY as f64);
		let open = if self.verdict == Verdict::Open { "**" } else { "" };
		let lost = if self.lost == 0 { "0".into() } else { format!("{open}{lost:.2}{open}") };
		let gained = if self.gained == 0 { "0".into() } else { format!("{gained:.2}") };
		format!("| `{name}` | {source} | {tries} | {rule} | {spent:.2} | {gained} | {lost} |")
	}
}

/// An amount in TRY.
pub fn amount(units: Balance) -> String {
	format!("{:.4} TRY", units as f64 / TRY as f64)
}

impl fmt::Display for Report {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		let word = match (self.verdict, self.left) {
			(Verdict::Stopped, _) => "stopped",
			(Verdict::Annoying, _) => "stopped, and cheaper for the attacker than for the others",
			(Verdict::Open, Some(_)) => "OPEN, as known",
			(Verdict::Open, None) => "OPEN",
		};
		writeln!(f, "{} ({}): {}", self.name, self.source, self.tries)?;
		writeln!(f, "  {word}: {}", self.rule)?;
		writeln!(
			f,
			"  the attacker spent {} and gained {}; the honest lost {} beside fees",
			amount(self.spent),
			amount(self.gained),
			amount(self.lost)
		)?;
		// Parties of one role that came out alike are one line.
		let mut alike = BTreeMap::<(String, Balance, Balance, Balance), u32>::new();
		for Loss { party, fees, earned, lost } in &self.honest {
			let role = party.rsplit_once(' ').map_or(party.as_str(), |(role, _)| role);
			*alike.entry((role.into(), *fees, *earned, *lost)).or_default() += 1;
		}
		for ((role, fees, earned, lost), count) in alike {
			let (fees, earned, lost) = (amount(fees), amount(earned), amount(lost));
			writeln!(f, "  {count} x {role}: fees {fees}, earned {earned}, lost {lost}")?;
		}
		self.facts.iter().try_for_each(|(what, said)| writeln!(f, "  {what}: {said}"))?;
		self.left.iter().try_for_each(|left| writeln!(f, "  left: {left}"))
	}
}

/// An amount for each account.
pub type Money = BTreeMap<AccountId, Balance>;
