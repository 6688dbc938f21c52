//! Decides what a party of disputes does next, by a pure function of what the chain says and what it
//! has sent.
//!
//! A defendant answers in the order of its docket, and only the disputes that are heard, two at a time:
//! of the others the clocks stand. A challenger answers all of its own. What is most urgent comes first.

use codec::Encode;
use std::{cmp::Reverse, collections::BTreeMap, fmt};
use trainyard_client::{
	court::{Dispute, DisputeId, Side, Since, JUDGE_AFTER},
	AccountId32,
};
use trainyard_court::game::{Level, Stage, Turn};
use trainyard_proof::hash;
use trainyard_protocol::{job::BlockNumber, H256};

/// Blocks after which a move that is not on chain is sent again: a minute. Sent twice it is refused, and
/// costs a fee.
pub const AGAIN: BlockNumber = 10;
/// Ticks after a clock ran out until the other side pokes the chain about it: by then the chain's own
/// agenda has had its chance.
const POKE_AFTER: u32 = 10;

/// What is due of this account in a dispute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Due {
	/// The defender posts or opens.
	Say,
	/// The challenger denies or shows.
	Answer,
	/// The openings of the piece.
	Judge,
	/// Somebody has to say that a turn is over.
	Poke,
}

impl fmt::Display for Due {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(match self {
			Due::Say => "a post or an opening",
			Due::Answer => "a denial",
			Due::Judge => "the openings of the piece",
			Due::Poke => "a poke",
		})
	}
}

/// How much is left of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Urgency {
	/// A quarter or less.
	Quarter,
	/// A half or less.
	Half,
	/// More.
	Calm,
}

impl Urgency {
	/// Returns how much `left` of a clock of `all` ticks is.
	pub fn of(left: u32, all: u32) -> Self {
		match u64::from(left) {
			left if left.saturating_mul(4) <= all.into() => Self::Quarter,
			left if left.saturating_mul(2) <= all.into() => Self::Half,
			_ => Self::Calm,
		}
	}
}

/// A move that was written down before it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
	/// [`stage_hash`] of where the dispute stood.
	pub stage: H256,
	/// The height at which it was sent.
	pub height: BlockNumber,
}

/// What a party knows of a dispute besides what the chain says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
	/// The ticks that each side had at the beginning.
	pub clock: u32,
	/// The last move that was sent.
	pub sent: Option<Sent>,
	/// Whether what the defender is asked for stands already, since it was said in another dispute.
	pub stands: bool,
	/// Whether the defendant was convicted in another dispute.
	pub convicted: bool,
}

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
	/// In which dispute.
	pub id: DisputeId,
	/// For which side.
	pub side: Side,
	/// What.
	pub due: Due,
}

/// A clock of this account that has run down by a half or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Warning {
	/// What is due.
	pub step: Step,
	/// How much is left.
	pub urgency: Urgency,
	/// The ticks that are left: blocks, as long as these are not full.
	pub left: u32,
}

impl Warning {
	/// Says it in words.
	pub fn text(&self) -> String {
		let part = match self.urgency {
			Urgency::Quarter => "a quarter",
			_ => "a half",
		};
		let Step { id, due, .. } = self.step;
		format!(
			"dispute {id}: {due} of this account is not on chain, and {part} of its clock or less is \
			 left: {} blocks",
			self.left
		)
	}
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
	/// Steps, the most urgent first.
	pub steps: Vec<Step>,
	/// Clocks that somebody should look at.
	pub warnings: Vec<Warning>,
	/// The ticks that are left of the clock of this account that has the fewest, of those that run.
	pub least: Option<u32>,
}

/// Returns the name of where a dispute stands. No dispute stands twice at the same stage.
pub fn stage_hash(stage: &Stage) -> H256 {
	stage.using_encoded(hash::blake2_256)
}

/// Returns what `me` does at `now` about these disputes, by number.
pub fn plan(
	me: &AccountId32,
	now: &Since,
	disputes: &BTreeMap<DisputeId, (Dispute, Known)>,
) -> Plan {
	let mut found: Vec<(Urgency, Place, Step, u32)> = disputes
		.iter()
		.filter_map(|(id, (dispute, known))| of_dispute(me, now, *id, dispute, known))
		.collect();
	found.sort_by_key(|(urgency, place, ..)| (*urgency, *place));
	let mut plan = Plan::default();
	for (urgency, _, step, left) in found {
		let (dispute, known) = &disputes[&step.id];
		if dispute.side_of(me) == Some(dispute.side()) {
			plan.least = Some(plan.least.map_or(left, |least| least.min(left)));
		}
		if urgency < Urgency::Calm {
			plan.warnings.push(Warning { step, urgency, left });
		}
		if !is_under_way(now, dispute, known) {
			plan.steps.push(step);
		}
	}
	plan
}

/// What comes first among what is as urgent: of a defendant the largest deposit, then the oldest; then
/// what a challenger owes, the least clock first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
	Defence(Reverse<u128>, (BlockNumber, DisputeId)),
	Challenge(u32, DisputeId),
	Poke(DisputeId),
}

/// Returns whether the move for where the dispute stands was sent, and may still come into a block.
fn is_under_way(now: &Since, dispute: &Dispute, known: &Known) -> bool {
	known.sent.is_some_and(|sent| {
		let again = sent.height.saturating_add(AGAIN);
		sent.stage == stage_hash(&dispute.stage) && now.height < again
	})
}

fn of_dispute(
	me: &AccountId32,
	now: &Since,
	id: DisputeId,
	dispute: &Dispute,
	known: &Known,
) -> Option<(Urgency, Place, Step, u32)> {
	if dispute.aside || known.convicted {
		return None;
	}
	let side = dispute.side_of(me)?;
	let mover = dispute.side();
	let left = dispute.left(mover, now);
	let runs = dispute.clocks.since;
	let poke = (Urgency::Calm, Place::Poke(id), Step { id, side, due: Due::Poke }, left);
	if runs.is_some() && left == 0 {
		// Nothing can be sent any more. Who gains by that says so where the chain does not by itself.
		let all = dispute.clocks.of(mover);
		let is_late = dispute.clocks.used(mover, now) >= all.saturating_add(POKE_AFTER);
		return (is_late && side != mover).then_some(poke);
	}
	let due = match (dispute.stage.turn, side) {
		(Turn::Defender, Side::Defender) => Due::Say,
		(Turn::Defender, Side::Challenger) => return known.stands.then_some(poke),
		(Turn::Challenger, Side::Challenger) => Due::Answer,
		(Turn::Challenger, Side::Defender) => return None,
		(Turn::Piece, Side::Defender) => Due::Judge,
		(Turn::Piece, Side::Challenger) => {
			// The defender has had time, and who came to the same piece as well.
			let is_early = now.height.saturating_sub(dispute.moved_at) < JUDGE_AFTER;
			let step = Step { id, side, due: Due::Judge };
			let is_piece = matches!(dispute.stage.level, Level::Judge { .. });
			return (is_piece && !is_early).then_some((
				Urgency::Calm,
				Place::Challenge(left, id),
				step,
				left,
			));
		}
	};
	// Of a dispute that is not heard the clock stands.
	runs?;
	let urgency = Urgency::of(left, known.clock);
	let place = match side {
		Side::Defender => Place::Defence(Reverse(dispute.deposit), dispute.age(id)),
		Side::Challenger => Place::Challenge(left, id),
	};
	let due = if known.stands && side == Side::Defender { Due::Poke } else { due };
	Some((urgency, place, Step { id, side, due }, left))
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::court::{Burden, Clocks, Defendant};
	use trainyard_court::game::{Claimed, Piece, Subject, Target};

	const CLOCK: u32 = 2_400;
	const NOW: Since = Since { tick: 1_000, height: 5_000 };

	fn account(of: u8) -> AccountId32 {
		AccountId32([of; 32])
	}

	/// A dispute that trainer 1 answers, brought by 2: `turn` is of the last 100 ticks.
	fn dispute(turn: Turn) -> Dispute {
		let subject =
			Subject { target: Target::Segment(1), begin: H256::repeat_byte(4), end: None };
		let piece = Piece::Initial { tensor: 0, element: 0, bits: 0 };
		let level = if turn == Turn::Piece { Level::Judge { piece } } else { Level::Ends };
		Dispute {
			challenger: account(2),
			defendant: Defendant::Trainer { job: 9, who: account(1) },
			claimed: Claimed::Other,
			stage: Stage { subject, level, turn },
			deposit: 10,
			stake: 0,
			committed_at: 4_000,
			clocks: Clocks {
				challenger: CLOCK,
				defender: CLOCK,
				since: Some(Since { tick: 900, height: 4_900 }),
				challenger_rest: 0,
				defender_rest: 0,
			},
			burden: Burden::default(),
			moved_at: 4_900,
			awake: 4_000,
			aside: false,
			moves: 3,
		}
	}

	fn known() -> Known {
		Known { clock: CLOCK, ..Known::default() }
	}

	fn plan_of(me: u8, dispute: Dispute, known: Known) -> Plan {
		plan(&account(me), &NOW, &BTreeMap::from([(7, (dispute, known))]))
	}

	fn dues(plan: &Plan) -> Vec<(DisputeId, Due)> {
		plan.steps.iter().map(|step| (step.id, step.due)).collect()
	}

	/// What the parties, 1 and 2, and somebody else do.
	#[test]
	fn who_is_to_move_does() {
		let sent = |back: u32, of: Turn| {
			let stage = stage_hash(&dispute(of).stage);
			Known { sent: Some(Sent { stage, height: NOW.height - back }), ..known() }
		};
		let moved = |blocks| Dispute { moved_at: NOW.height - blocks, ..dispute(Turn::Piece) };
		let stands = Known { stands: true, ..known() };
		let convicted = Known { convicted: true, ..known() };
		let aside = Dispute { aside: true, ..dispute(Turn::Defender) };
		let mut unheard = dispute(Turn::Defender);
		unheard.clocks.since = None;
		let over = |turn, ticks: u32| {
			let mut dispute = dispute(turn);
			(dispute.clocks.challenger, dispute.clocks.defender) = (100 - ticks, 100 - ticks);
			dispute
		};
		type Case = (&'static str, Dispute, Known, [Option<Due>; 2]);
		let cases: Vec<Case> = vec![
			("defender", dispute(Turn::Defender), known(), [Some(Due::Say), None]),
			("challenger", dispute(Turn::Challenger), known(), [None, Some(Due::Answer)]),
			("piece", dispute(Turn::Piece), known(), [Some(Due::Judge), Some(Due::Judge)]),
			("piece, fresh", moved(JUDGE_AFTER - 1), known(), [Some(Due::Judge), None]),
			("piece, ripe", moved(JUDGE_AFTER), known(), [Some(Due::Judge), Some(Due::Judge)]),
			("stands", dispute(Turn::Defender), stands, [Some(Due::Poke), Some(Due::Poke)]),
			("convicted", dispute(Turn::Defender), convicted, [None, None]),
			("aside", aside, known(), [None, None]),
			("not heard", unheard, known(), [None, None]),
			("just sent", dispute(Turn::Defender), sent(0, Turn::Defender), [None, None]),
			("still sent", dispute(Turn::Defender), sent(AGAIN - 1, Turn::Defender), [None, None]),
			("lost", dispute(Turn::Defender), sent(AGAIN, Turn::Defender), [Some(Due::Say), None]),
			(
				"on chain",
				dispute(Turn::Defender),
				sent(0, Turn::Challenger),
				[Some(Due::Say), None],
			),
			("answered", dispute(Turn::Challenger), sent(2, Turn::Challenger), [None, None]),
			("over", over(Turn::Defender, 0), known(), [None, None]),
			("long over", over(Turn::Defender, 10), known(), [None, Some(Due::Poke)]),
			("challenger over", over(Turn::Challenger, 10), known(), [Some(Due::Poke), None]),
		];
		for (name, dispute, known, expected) in cases {
			for (me, expected) in (1..).zip(expected) {
				let plan = plan_of(me, dispute.clone(), known);
				let expected: Vec<_> = expected.into_iter().map(|due| (7, due)).collect();
				assert_eq!(dues(&plan), expected, "{name}, {me}");
			}
			assert_eq!(plan_of(3, dispute, known), Plan::default(), "{name}: no party");
		}
	}

	#[test]
	fn clocks_warn_at_a_half_and_at_a_quarter() {
		let of = |turn: Turn, left: u32| {
			let mut dispute = dispute(turn);
			(dispute.clocks.challenger, dispute.clocks.defender) = (left + 100, left + 100);
			dispute
		};
		for (left, expected) in [
			(CLOCK / 2 + 1, None),
			(CLOCK / 2, Some(Urgency::Half)),
			(CLOCK / 4 + 1, Some(Urgency::Half)),
			(CLOCK / 4, Some(Urgency::Quarter)),
			(1, Some(Urgency::Quarter)),
		] {
			for (me, turn) in [(1, Turn::Defender), (2, Turn::Challenger), (1, Turn::Piece)] {
				let plan = plan_of(me, of(turn, left), known());
				assert_eq!(plan.least, Some(left));
				let found: Vec<_> = plan.warnings.iter().map(|w| (w.urgency, w.left)).collect();
				let expected: Vec<_> =
					expected.into_iter().map(|urgency| (urgency, left)).collect();
				assert_eq!(found, expected, "{left} {turn:?}");
			}
			// The other side has nothing to be warned of.
			let plan = plan_of(2, of(Turn::Defender, left), known());
			assert!(plan.warnings.is_empty() && plan.least.is_none());
		}
		// A move that was sent and does not arrive is not forgotten.
		let stage = stage_hash(&dispute(Turn::Defender).stage);
		let sent = Known { sent: Some(Sent { stage, height: NOW.height }), ..known() };
		let plan = plan_of(1, of(Turn::Defender, 500), sent);
		assert!(plan.steps.is_empty() && plan.warnings.len() == 1);
		let text = plan.warnings[0].text();
		assert!(text.contains("dispute 7: a post or an opening"), "{text}");
		assert!(text.ends_with("left: 500 blocks"), "{text}");
	}

	/// Of two that are heard the larger deposit comes first, then the older; what runs out soon comes
	/// before both, and what is not heard waits.
	#[test]
	fn a_defendant_answers_in_the_order_of_its_docket() {
		let of = |deposit: u128, committed_at: u32, heard: bool| {
			let mut dispute = Dispute { deposit, committed_at, ..dispute(Turn::Defender) };
			dispute.clocks.since = dispute.clocks.since.filter(|_| heard);
			dispute
		};
		let mut all = BTreeMap::from([
			(1, (of(10, 10, true), known())),
			(2, (of(10, 11, false), known())),
			(3, (of(30, 12, true), known())),
			(4, (of(10, 13, false), known())),
		]);
		let found = |all: &BTreeMap<_, _>| dues(&plan(&account(1), &NOW, all));
		assert_eq!(found(&all), [(3, Due::Say), (1, Due::Say)]);
		if let Some((dispute, _)) = all.get_mut(&1) {
			dispute.clocks.defender = 700;
		}
		assert_eq!(found(&all), [(1, Due::Say), (3, Due::Say)], "a quarter is left of it");
		// The account accuses somebody else as well: its own defence comes first.
		let mut own = dispute(Turn::Challenger);
		(own.challenger, own.defendant) =
			(account(1), Defendant::Trainer { job: 9, who: account(5) });
		all.insert(0, (own, known()));
		assert_eq!(found(&all), [(1, Due::Say), (3, Due::Say), (0, Due::Answer)]);
	}
}
