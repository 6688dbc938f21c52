//! What a dispute came to: its transactions, their costs, and everyone's money.

use super::matters::{Matter, Role, ROLES};
use crate::report::amount;
use serde::Serialize;
use std::fmt;
use trainyard_protocol::job::BlockNumber;
use trainyard_runtime::{Balance, TRY};

/// A transaction of a dispute.
#[derive(Clone, Debug, Serialize)]
pub struct Move {
	/// The block, counted from the one before the first of the dispute.
	pub block: BlockNumber,
	/// `challenger` or `defender`.
	pub by: &'static str,
	/// The call.
	pub call: &'static str,
	/// What it says.
	pub says: String,
	/// Bytes of the signed transaction.
	pub bytes: usize,
	/// Weight that was used, in picoseconds of reference time, with that of any transaction.
	pub weight: u64,
	/// Weight that the call says before it is dispatched, with the same: what is not used returns.
	pub declared: u64,
	/// The fee that was paid.
	#[serde(with = "trainyard_program::text::decimal")]
	pub fee: Balance,
	/// Seconds in which the party computed it, from its record in memory.
	pub computed: f64,
	/// Seconds in which the runtime applied the transaction: natively, its signature included.
	pub applied: f64,
}

/// What somebody had.
#[derive(Clone, Debug, Serialize)]
pub struct Purse {
	/// Who.
	pub who: &'static str,
	/// What it had before the dispute, on hold or free.
	#[serde(with = "trainyard_program::text::decimal")]
	pub before: Balance,
	/// What it has when its job has ended.
	#[serde(with = "trainyard_program::text::decimal")]
	pub after: Balance,
	/// What it paid for transactions in between, those of the dispute and others.
	#[serde(with = "trainyard_program::text::decimal")]
	pub fees: Balance,
}

impl Purse {
	/// What it gained beside fees; below 0 what it lost.
	pub fn gained(&self) -> i128 {
		(self.after + self.fees) as i128 - self.before as i128
	}
}

/// A dispute from the first transaction to the last payment.
#[derive(Clone, Debug, Serialize)]
pub struct Transcript {
	/// What is disputed.
	pub name: &'static str,
	/// Its job, or the same in words.
	pub what: &'static str,
	/// Who is wrong.
	pub role: Role,
	/// What is accused.
	pub target: String,
	/// The transactions.
	pub moves: Vec<Move>,
	/// The kind of the piece; `clock` where none was decided.
	pub kind: &'static str,
	/// The operator of a piece that is an element.
	pub operator: Option<&'static str>,
	/// The piece in words, and what the runtime found.
	pub piece: Option<[String; 2]>,
	/// Whether the defendant was convicted.
	pub convicted: bool,
	/// What became of the trainer's result.
	pub fate: String,
	/// What everyone had: the submitter, the trainer, the challenger, and the seats together.
	pub purses: Vec<Purse>,
	/// What was burned of what they had.
	#[serde(with = "trainyard_program::text::decimal")]
	pub burned: Balance,
	/// What the jackpot has of it.
	#[serde(with = "trainyard_program::text::decimal")]
	pub jackpot: Balance,
	/// The deposit of the challenge.
	#[serde(with = "trainyard_program::text::decimal")]
	pub deposit: Balance,
	/// Seconds in which the runs of both sides were made, by the reference in memory.
	pub trained: f64,
}

/// An amount in TRY that may be a loss.
fn signed(units: i128) -> String {
	let sign = if units < 0 { "-" } else { "+" };
	format!("{sign}{:.4}", units.unsigned_abs() as f64 / TRY as f64)
}

/// Milliseconds of a weight.
pub fn ms(weight: u64) -> f64 {
	weight as f64 / 1e9
}

impl Transcript {
	/// Returns the bytes of all transactions.
	pub fn bytes(&self) -> usize {
		self.moves.iter().map(|made| made.bytes).sum()
	}

	/// Returns the weight that all of them used.
	pub fn weight(&self) -> u64 {
		self.moves.iter().map(|made| made.weight).sum()
	}

	/// Returns the fees of a side, `challenger` or `defender`, for its moves.
	pub fn fees(&self, by: &str) -> Balance {
		self.moves.iter().filter(|made| made.by == by).map(|made| made.fee).sum()
	}

	fn gained(&self, who: &str) -> i128 {
		let of = self.purses.iter().find(|purse| purse.who == who);
		of.map_or(0, Purse::gained)
	}

	/// Checks that whoever is right won, that the dispute came to the piece that it should, and that no
	/// money came from nowhere or went there.
	///
	/// # Errors
	///
	/// Returns what is not as it should be.
	pub fn check(&self, matter: &Matter) -> Result<(), String> {
		let Self { name, role, kind, .. } = self;
		let wrong = |what: String| Err(format!("{name} {}: {what}", role.name()));
		if self.convicted != (*role == Role::Cheat) {
			return wrong(format!("the defendant was convicted: {}", self.convicted));
		}
		let expected = matter.pieces[ROLES.iter().position(|r| r == role).unwrap_or_default()];
		if *kind != expected {
			return wrong(format!("the piece is {kind}, not {expected}"));
		}
		if matter.is_operator() && self.operator != Some(name) {
			return wrong(format!("the piece is of {:?}", self.operator));
		}
		let brought = self.moves.iter().rfind(|made| made.call == "judge");
		if let Some(read) = matter.reads {
			if !brought.is_some_and(|made| made.says.contains(read)) {
				return wrong(format!("the piece does not read {read}"));
			}
		}
		// A seat's conviction leaves the result that it vouched for.
		let stands = *role == Role::Accuser || matter.accuses_a_seat();
		if stands != matches!(self.fate.as_str(), "Accepted" | "Diverged") {
			return wrong(format!("the result is {}", self.fate));
		}
		let paid = self.purses.iter().find(|purse| purse.who == "challenger");
		if paid.map(|purse| purse.fees) != Some(self.fees("challenger")) {
			return wrong("the challenger paid for something else".into());
		}
		let gained: i128 = self.purses.iter().map(Purse::gained).sum();
		if gained + (self.burned + self.jackpot) as i128 != 0 {
			let (burned, jackpot) = (self.burned, self.jackpot);
			return wrong(format!("{gained} with {burned} burned and {jackpot} in the jackpot"));
		}
		let (challenger, deposit) = (self.gained("challenger"), self.deposit as i128);
		let right = match role {
			Role::Cheat => challenger > 0,
			Role::Accuser => challenger == -deposit,
		};
		if !right {
			return wrong(format!("the challenger gained {challenger}, with {deposit} at stake"));
		}
		Ok(())
	}
}

impl Transcript {
	/// Returns all of it that is the same each time: all but the seconds.
	pub fn story(&self) -> String {
		let mut story = String::new();
		self.tell(&mut story).expect("a string takes everything");
		story
	}

	fn tell(&self, f: &mut impl fmt::Write) -> fmt::Result {
		let Self { name, what, role, target, moves, .. } = self;
		writeln!(f, "{name} ({what}), {}; accused is {target}", role.name())?;
		writeln!(f, "  block  by          call       bytes  weight, ms   fee, TRY  what it says")?;
		for made in moves {
			let Move { block, by, call, says, bytes, weight, fee, .. } = made;
			let (weight, fee) = (ms(*weight), *fee as f64 / TRY as f64);
			writeln!(
				f,
				"  {block:>5}  {by:<10}  {call:<9} {bytes:>6} {weight:>11.3} {fee:>10.5}  {says}"
			)?;
		}
		let declared = moves.iter().map(|made| made.declared).sum();
		writeln!(
			f,
			"  {} transactions, {} bytes, {:.3} ms of {:.3} that the calls name; fees: challenger {}, \
			 defender {}",
			moves.len(),
			self.bytes(),
			ms(self.weight()),
			ms(declared),
			amount(self.fees("challenger")),
			amount(self.fees("defender")),
		)?;
		match &self.piece {
			Some([piece, found]) => writeln!(f, "  decided: {piece}. {found}")?,
			None => writeln!(f, "  decided by a clock: a side did not move")?,
		}
		let (won, lost) = match self.convicted {
			true => ("challenger", "the defendant is convicted"),
			false => ("defendant", "the challenger denied what is true"),
		};
		writeln!(f, "  the {won} wins: {lost}; the trainer's result is {}", self.fate)?;
		for purse in &self.purses {
			let Purse { who, before, after, fees } = purse;
			writeln!(
				f,
				"  {who:<11}  had {}, has {}, paid {} of fees: {} beside these",
				amount(*before),
				amount(*after),
				amount(*fees),
				signed(purse.gained()),
			)?;
		}
		let gained: i128 = self.purses.iter().map(Purse::gained).sum();
		let all = gained + (self.burned + self.jackpot) as i128;
		writeln!(
			f,
			"  burned {}, to the jackpot {}: together {}",
			amount(self.burned),
			amount(self.jackpot),
			signed(all)
		)
	}
}

impl fmt::Display for Transcript {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		let moves = &self.moves;
		f.write_str(&self.story())?;
		let seconds = |of: fn(&Move) -> f64| moves.iter().map(of).sum::<f64>();
		let judged = moves.iter().filter(|made| made.call == "judge").map(|made| made.applied);
		writeln!(
			f,
			"  seconds: runs of both sides {:.4}, their moves {:.4}; the runtime {:.4}, of it the decision \
			 {:.4}",
			self.trained,
			seconds(|made| made.computed),
			seconds(|made| made.applied),
			judged.sum::<f64>().abs(),
		)
	}
}
