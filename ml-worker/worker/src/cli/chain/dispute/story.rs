//! What storage says about a dispute.

use serde::Serialize;
use std::fmt::Write;
use trainyard_client::{
	amount,
	court::{Commitment, Defendant, Dispute, DisputeId, Happened, Said, Sent, Side, Since},
	AccountId32,
};
use trainyard_court::game::{words, Claimed, End, Level, Turn};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	JobId,
};

/// What is known of a number.
#[derive(Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum Story {
	/// Somebody is bound to a challenge, and has not shown it.
	Committed {
		id: DisputeId,
		job: JobId,
		challenger: AccountId32,
		since: BlockNumber,
		#[serde(with = "trainyard_program::text::decimal")]
		deposit: Balance,
	},
	/// It runs.
	Running(Box<Running>),
	/// It is over: storage keeps nothing of it.
	Ended {
		id: DisputeId,
		/// What happened, as far as the node keeps it.
		history: Vec<Happened>,
	},
}

/// A dispute that runs.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Running {
	pub id: DisputeId,
	pub job: JobId,
	pub challenger: AccountId32,
	pub defendant: Defendant,
	/// What it is about.
	pub target: String,
	/// What the challenger says instead.
	pub claimed: String,
	/// Where it stands.
	pub place: String,
	/// Whose clock runs, or stands.
	pub side: Side,
	/// What is due of that side.
	pub due: &'static str,
	/// Blocks that it has left, as long as these are not full.
	pub left: u32,
	/// What both sides have left.
	pub challenger_left: u32,
	pub defender_left: u32,
	/// Whether the clock runs; it stands while the dispute is not heard.
	pub runs: bool,
	/// Whether it waits for a place in the docket.
	pub aside: bool,
	/// The height of the commitment, and of the last move.
	pub committed_at: BlockNumber,
	pub moved_at: BlockNumber,
	/// Moves made.
	pub moves: u32,
	/// What the challenger has at stake, and the part of it that is a seat's stake.
	#[serde(with = "trainyard_program::text::decimal")]
	pub deposit: Balance,
	#[serde(with = "trainyard_program::text::decimal")]
	pub stake: Balance,
	/// Deposits that other challengers lost against this defendant.
	#[serde(with = "trainyard_program::text::decimal")]
	pub won: Balance,
	/// Whether the defendant was convicted in another dispute, so that this one is moot.
	pub convicted: bool,
	/// The disputes of this defendant that take part, the oldest first.
	pub docket: Vec<DisputeId>,
	/// What the defendant has said so far, in all disputes.
	pub said: Vec<String>,
	/// What happened, as far as the node keeps it.
	pub history: Vec<Happened>,
}

fn claim(claimed: &Claimed) -> String {
	match claimed {
		Claimed::End(End::Checkpoint { state, evaluation, .. }) => {
			format!("it ends in state {state:?}, with the validation loss {}", evaluation.loss())
		}
		Claimed::End(End::Diverged(diverged)) => {
			format!("training diverges in step {}", diverged.step)
		}
		Claimed::Other => "it is something else".into(),
	}
}

/// Lists what a defendant has said.
pub(super) fn said(said: &Said) -> Vec<String> {
	let posted = said.posted.iter().map(|(place, roots)| {
		let digests = words::count(roots.len(), "digest", "digests");
		format!("posted {digests} at {}", words::place(place))
	});
	let opened = said.opened.keys().map(|place| format!("opened {}", words::place(place)));
	posted.chain(opened).collect()
}

/// Writes what happened, a line for each transaction.
fn tell(history: &[Happened], text: &mut String) -> std::fmt::Result {
	for Happened { block, by, events } in history {
		let events = events.join("; ");
		match by {
			Some(Sent { call, sender, bytes, fee }) => {
				let sender = sender.map_or_else(|| "nobody".into(), |sender| sender.to_string());
				let fee = fee.map_or_else(|| "no".into(), amount::format);
				writeln!(
					text,
					"block {block}: {sender}: {call}, {bytes} bytes, {fee} fee: {events}"
				)?;
			}
			None => writeln!(text, "block {block}: {events}")?,
		}
	}
	Ok(())
}

impl Running {
	/// Returns what the record of a dispute says, without what is kept of its defendant.
	pub(super) fn of(id: DisputeId, dispute: &Dispute, now: &Since) -> Self {
		let side = dispute.side();
		let stage = &dispute.stage;
		let place = match (&stage.level, stage.place()) {
			(Level::Judge { piece }, _) => {
				// Storage has no names.
				let piece = words::piece(piece, |tensor| format!("tensor {tensor}"));
				format!("the piece that is left: {piece}")
			}
			(_, Some(place)) => words::place(&place),
			(_, None) => String::new(),
		};
		let due = match stage.turn {
			Turn::Defender => "the defender posts or opens",
			Turn::Challenger => "the challenger denies",
			Turn::Piece => "either side brings the openings",
		};
		Self {
			id,
			job: dispute.defendant.job(),
			challenger: dispute.challenger,
			defendant: dispute.defendant,
			target: words::target(&stage.subject.target),
			claimed: claim(&dispute.claimed),
			place,
			side,
			due,
			left: dispute.left(side, now),
			challenger_left: dispute.left(Side::Challenger, now),
			defender_left: dispute.left(Side::Defender, now),
			runs: dispute.clocks.since.is_some(),
			aside: dispute.aside,
			committed_at: dispute.committed_at,
			moved_at: dispute.moved_at,
			moves: dispute.moves,
			deposit: dispute.deposit,
			stake: dispute.stake,
			won: 0,
			convicted: false,
			docket: Vec::new(),
			said: Vec::new(),
			history: Vec::new(),
		}
	}

	fn write(&self, text: &mut String) -> std::fmt::Result {
		let who = match &self.defendant {
			Defendant::Trainer { who, .. } => format!("trainer {who}"),
			Defendant::Seat { who, .. } => format!("seat {who}"),
		};
		writeln!(text, "dispute {} of job {}, about {}", self.id, self.job, self.target)?;
		writeln!(text, "{} accuses {who}: {}", self.challenger, self.claimed)?;
		writeln!(text, "it stands at {}", self.place)?;
		let clock = match (self.convicted, self.aside, self.runs) {
			(true, ..) => "the defendant was convicted elsewhere: this dispute is moot".into(),
			(_, true, _) => "it waits for a place in the docket, and clocks stand".into(),
			(.., true) => format!("{}, and has {} blocks left", self.due, self.left),
			(.., false) => format!("{}; its clock stands until it is heard", self.due),
		};
		writeln!(text, "{clock}")?;
		writeln!(
			text,
			"left: {} blocks of the defender, {} of the challenger",
			self.defender_left, self.challenger_left
		)?;
		writeln!(
			text,
			"{} moves since block {}, the last in block {}",
			self.moves, self.committed_at, self.moved_at
		)?;
		writeln!(
			text,
			"deposit {}, of which {} are a seat's stake; the defendant holds {} that others lost",
			amount::format(self.deposit),
			amount::format(self.stake),
			amount::format(self.won)
		)?;
		let docket: Vec<_> = self.docket.iter().map(DisputeId::to_string).collect();
		if !docket.is_empty() {
			writeln!(text, "disputes with the same defendant: {}", docket.join(", "))?;
		}
		self.said.iter().try_for_each(|said| writeln!(text, "  {said}"))?;
		tell(&self.history, text)
	}
}

impl Story {
	/// Returns what is known of a number that has no dispute now; `None` where it never had one.
	pub(super) fn without_a_record(
		id: DisputeId,
		commitment: Option<Commitment>,
		next: DisputeId,
		history: Vec<Happened>,
	) -> Option<Self> {
		match commitment {
			Some(Commitment { job, who, since, deposit, .. }) => {
				Some(Self::Committed { id, job, challenger: who, since: since.height, deposit })
			}
			None => (id < next).then_some(Self::Ended { id, history }),
		}
	}

	/// Says it in words.
	pub(super) fn text(&self) -> String {
		match self {
			Self::Committed { id, job, challenger, since, deposit } => format!(
				"{challenger} is bound to challenge a result of job {job} since block {since}, as dispute \
				 {id}; it deposited {}\n",
				amount::format(*deposit)
			),
			Self::Ended { id, history } => {
				let mut text = format!("dispute {id} is over\n");
				if history.is_empty() {
					text += "this node keeps no blocks of that time: an archive says how it went\n";
				}
				// Writing into a string cannot fail.
				let _ = tell(history, &mut text);
				text
			}
			Self::Running(running) => {
				let mut text = String::new();
				// Writing into a string cannot fail.
				let _ = running.write(&mut text);
				text
			}
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::court::{Burden, Clocks};
	use trainyard_court::game::{Piece, Place, Roots, Stage, Subject, Target};
	use trainyard_protocol::H256;

	fn account(of: u8) -> AccountId32 {
		AccountId32([of; 32])
	}

	fn running() -> Running {
		at(Level::Ends)
	}

	fn at(level: Level) -> Running {
		let target = Target::Segment(3);
		let subject = Subject { target, begin: H256::zero(), end: None };
		let dispute = Dispute {
			challenger: account(1),
			defendant: Defendant::Trainer { job: 9, who: account(2) },
			claimed: Claimed::Other,
			stage: Stage { subject, level, turn: Turn::Defender },
			deposit: 6_000_000_000_000,
			stake: 0,
			committed_at: 90,
			clocks: Clocks {
				challenger: 2_400,
				defender: 2_000,
				since: Some(Since { tick: 100, height: 100 }),
				challenger_rest: 0,
				defender_rest: 0,
			},
			burden: Burden::default(),
			moved_at: 100,
			awake: 90,
			aside: false,
			moves: 4,
		};
		Running::of(7, &dispute, &Since { tick: 150, height: 150 })
	}

	#[test]
	fn a_dispute_that_runs_is_told() {
		let mut posts = Said::default();
		let place = Place::Ends { target: Target::Segment(3) };
		posts.posted.insert(place, Roots::truncate_from(vec![H256::zero(); 5]));
		let it = Running { docket: vec![5, 7], said: said(&posts), ..running() };
		let text = Story::Running(Box::new(it)).text();
		for part in [
			"dispute 7 of job 9, about segment 3\n",
			"the defender posts or opens, and has 1950 blocks left",
			"4 moves since block 90, the last in block 100",
			"disputes with the same defendant: 5, 7",
			"it stands at segment 3\n",
			"posted 5 digests at segment 3\n",
		] {
			assert!(text.contains(part), "{part}: {text}");
		}
		for (it, part) in [
			(Running { convicted: true, ..running() }, "this dispute is moot"),
			(Running { aside: true, ..running() }, "waits for a place"),
			(Running { runs: false, ..running() }, "stands until it is heard"),
		] {
			let text = Story::Running(Box::new(it)).text();
			assert!(text.contains(part), "{part}: {text}");
		}
		let piece = Piece::Initial { tensor: 4, element: 5, bits: 0 };
		let text = Story::Running(Box::new(at(Level::Judge { piece }))).text();
		let expected = "it stands at the piece that is left: element 5 of tensor 4 of the initial";
		assert!(text.contains(expected), "{text}");
		let json = serde_json::to_value(Story::Running(Box::new(running()))).unwrap();
		assert_eq!((&json["state"], &json["left"]), (&"running".into(), &1_950.into()));
		assert_eq!(json["defendant"]["trainer"]["job"], 9);
	}

	#[test]
	fn a_number_without_a_dispute_is_told() {
		let commitment = Commitment {
			job: 9,
			who: account(1),
			hash: H256::zero(),
			since: Since { tick: 3, height: 80 },
			deposit: 1,
		};
		let moved = Happened {
			block: 77,
			by: Some(Sent {
				call: "Court.judge".into(),
				sender: Some(account(2)),
				bytes: 900,
				fee: Some(500_000_000_000),
			}),
			events: vec!["Judged".into(), "ended: the challenger lost".into()],
		};
		let of = |commitment, next| Story::without_a_record(4, commitment, next, vec![]);
		let told = Story::without_a_record(4, None, 5, vec![moved]).unwrap().text();
		let expected = format!(
			"block 77: {}: Court.judge, 900 bytes, 0.5 TRY fee: Judged; ended: the challenger lost",
			account(2)
		);
		assert!(told.contains(&expected), "{told}");
		assert!(of(Some(commitment), 5).unwrap().text().contains("since block 80, as dispute 4"));
		assert!(of(None, 5).unwrap().text().contains("dispute 4 is over"));
		assert!(of(None, 4).is_none());
	}
}
