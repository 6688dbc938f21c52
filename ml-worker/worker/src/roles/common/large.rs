//! Pieces that are too large for the chain and that nobody gives, states, all rows, and samples: what is done on
//! chain to have them.
//!
//! A committee is asked for one such piece at a time, since each further relay of a result is dearer. While
//! that runs the piece is fetched from the seats that showed that they have it. Where they give it to
//! nobody each of them is asked for a chunk on chain, which costs those their stake that lack it, and then
//! the answer is doubted. A relay that ends is the end of it: where the piece was not to be had the result
//! is lost, and where it was held whoever could not have it would have to pay more each time.
//!
//! What was done is on disk from before it is sent, so a kill asks for nothing twice.

use super::webhook::Webhook;
use crate::roles::{
	store::{load, save},
	tasks::TaskError,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{collections::BTreeMap, path::Path, sync::Arc};
use trainyard_client::{
	amount, calls, Call, Chain, ChainError, Head, RelayView, Transactor, TxError,
};
use trainyard_program::{spec::CheckedSpec, units};
use trainyard_proof::{
	bundle::{self, files},
	verify::sizes_of,
};
use trainyard_protocol::{
	blob, fees,
	job::{Balance, BlockNumber},
	pieces::{Piece, PieceSizes},
	relay::{self, RelayId, RelayStage},
	JobId,
};

/// Blocks after which a request that is not known to have come on chain is sent again.
const SETTLED: BlockNumber = 20;
/// What the chain answers where somebody asks for the same already.
const ASKED: &str = "Verification::AlreadyAsked";
/// Where somebody has doubted the answer already.
const DOUBTED: &str = "Verification::AlreadyAppealed";
/// Where as many relays run as there can be.
const TOO_MANY: &str = "Verification::TooManyRelays";
/// What is prepaid for a relay at most where its owner names nothing, unless it costs more: 50 TRY.
const MOST: Balance = 50_000_000_000_000;
/// Answers after which nothing is asked for any more: it is too dear, or too late, or of no use.
const FINAL: [&str; 6] = [
	"Verification::RelayTooDear",
	"Verification::TooLate",
	"Verification::NotStanding",
	"Verification::NoSuchGroup",
	"Verification::NoSuchPiece",
	"Verification::FitsOnChain",
];

/// What is known of a piece that is lacking.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lacked {
	/// Height at which it was first seen to be lacking.
	pub since: Option<BlockNumber>,
	/// Height at which a committee was asked for it by this account, from before that is sent.
	pub asked: Option<BlockNumber>,
	/// The relay of it that was seen, whoever asked.
	pub relay: Option<RelayId>,
	/// Height at which it was first seen to be held.
	pub held: Option<BlockNumber>,
	/// Whether the seats that have it were asked for chunks.
	pub seats_asked: bool,
	/// Whether nothing is done about it any more.
	pub over: bool,
}

/// The pieces of a result that are lacking. Keys of JSON are texts, so a file lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(Piece, Lacked)>", into = "Vec<(Piece, Lacked)>")]
pub struct AllLacked(BTreeMap<Piece, Lacked>);

impl From<Vec<(Piece, Lacked)>> for AllLacked {
	fn from(listed: Vec<(Piece, Lacked)>) -> Self {
		Self(listed.into_iter().collect())
	}
}

impl From<AllLacked> for Vec<(Piece, Lacked)> {
	fn from(all: AllLacked) -> Self {
		all.0.into_iter().collect()
	}
}

/// What is due on chain for a piece that is lacking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
	/// To ask a committee for it.
	Ask,
	/// To ask these seats for chunks.
	AskSeats(RelayId, Vec<u32>),
	/// To doubt that it is held.
	Doubt(RelayId),
	/// Nothing now.
	Wait,
	/// Nothing any more.
	Over,
}

impl Step {
	/// Returns the event of what was done for a piece, and what its owner reads of that.
	fn in_words(&self, piece: &Piece) -> (&'static str, String) {
		let what = in_words(piece);
		match self {
			Self::Ask => (
				"relay_asked",
				format!("a committee is asked for {what}, which nobody gives and no block carries"),
			),
			Self::AskSeats(..) => {
				("relay_seats_asked", format!("seats are asked for chunks of {what}"))
			}
			Self::Doubt(_) | Self::Wait | Self::Over => (
				"relay_doubted",
				format!("it is doubted that seats have {what}, which nobody gives"),
			),
		}
	}
}

impl Lacked {
	/// Returns what is due at height `best`, with the `relay` of the piece that runs, if there is one.
	/// Nobody is asked before it was lacking for `patience` blocks.
	pub fn step(
		&mut self,
		relay: Option<&RelayView>,
		best: BlockNumber,
		patience: BlockNumber,
	) -> Step {
		if self.over {
			return Step::Over;
		}
		let since = *self.since.get_or_insert(best);
		let Some(relay) = relay else {
			// A relay lasts longer than a few blocks: what was not seen was not asked.
			let sent = self.asked.is_some_and(|at| best < at.saturating_add(SETTLED));
			return match (self.relay, sent) {
				(Some(_), _) => Step::Over,
				(None, false) if best >= since.saturating_add(patience) => Step::Ask,
				(None, _) => Step::Wait,
			};
		};
		self.relay = Some(relay.id);
		let (RelayStage::Held { .. }, Some(until)) = (relay.stage, relay.until) else {
			(self.held, self.seats_asked) = (None, false);
			return Step::Wait;
		};
		let since = *self.held.get_or_insert(best);
		let (passed, all) = (best.saturating_sub(since), until.saturating_sub(since));
		let having: Vec<u32> = (0u32..)
			.zip(&relay.seats)
			.filter(|(_, seat)| seat.shown && !seat.lost)
			.map(|(number, _)| number)
			.collect();
		if !self.seats_asked && passed >= all / 3 && !having.is_empty() {
			return Step::AskSeats(relay.id, having);
		}
		match passed >= all / 3 * 2 && !relay.appealed {
			true => Step::Doubt(relay.id),
			false => Step::Wait,
		}
	}
}

/// What sends calls.
#[derive(Clone)]
pub enum Teller {
	/// To the chain.
	Chain(Arc<Transactor>),
	/// To a test, which answers for the chain.
	#[cfg(test)]
	Test(Arc<dyn Fn(&Call) -> Result<(), TxError> + Send + Sync>),
}

impl Teller {
	/// Sends a call, and waits until it is in a block.
	pub async fn run(&self, call: &Call) -> Result<(), TxError> {
		match self {
			Self::Chain(sender) => sender.run(call).await.map(drop),
			#[cfg(test)]
			Self::Test(answer) => answer(call),
		}
	}
}

/// Returns for how many blocks a piece is looked for before a committee is asked for it: a part of what is
/// left of the window that ends at `until`, and ten minutes at most. A server may only have been away.
pub fn patience(until: BlockNumber, best: BlockNumber) -> BlockNumber {
	(until.saturating_sub(best) / 16).clamp(2, 100)
}

/// Returns what a piece is, in words.
pub fn in_words(piece: &Piece) -> &'static str {
	match piece {
		Piece::Leaves => "the list of checkpoints",
		Piece::Rows { .. } => "the rows of the data",
		Piece::State(_) => "a state",
		Piece::Tensor { .. } => "a tensor",
		Piece::Samples => "samples of all states",
	}
}

/// Options of what is asked of committees.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct RelayArgs {
	/// Where nobody gives a state that no block carries, or the data where none carries their rows, or opens
	/// states to show how far a result moves, prepay up to this for a committee that says whether it is to be
	/// had, and up to this for a larger one where that is doubted (in TRY); 0 for never. A committee has 15.5, a
	/// doubt costs 30.5, for each 4 GiB, a tenth for openings of states, and 2.48 % and 4.88 % of the price at
	/// least. It returns where the piece is not to be had [default: 50, and what two committees and a doubt cost
	/// where that is more]
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	max_relay: Option<Balance>,
}

impl RelayArgs {
	/// Returns what asks on this chain.
	pub async fn large(
		&self,
		sender: &Arc<Transactor>,
		webhook: Webhook,
	) -> Result<Large, ChainError> {
		let chain = sender.chain().clone();
		let known = chain.constant("Verification", "MaxRescue").await?;
		let room = known.and_then(|bytes| u64::try_from(bytes).ok());
		Ok(Large {
			room: room.unwrap_or(blob::room().rescue),
			chain,
			teller: Teller::Chain(sender.clone()),
			most: self.max_relay,
			webhook,
		})
	}
}

/// Asks committees for pieces that are too large for the chain.
pub struct Large {
	/// The chain.
	pub chain: Arc<Chain>,
	/// What sends.
	pub teller: Teller,
	/// The most that is prepaid for a relay, or for a doubt; `None` for 50 TRY, and what two committees, or the
	/// doubt, cost where that is more.
	pub most: Option<Balance>,
	/// Bytes that the chain carries.
	pub room: u64,
	/// Where the owner is told what it costs.
	pub webhook: Webhook,
}

impl Large {
	/// Returns whether no rescue carries a state of this job.
	pub fn is_large(&self, spec: &CheckedSpec) -> bool {
		bundle::max_checkpoint_bytes(spec) > self.room
	}

	/// Returns all rows of this job as a piece where no rescue carries them.
	pub fn large_rows(&self, spec: &CheckedSpec) -> Option<Piece> {
		let sizes = sizes_of(spec);
		let bytes = sizes.contents().into_iter().fold(0, u64::saturating_add);
		(bytes > self.room).then(|| sizes.all_rows())
	}

	/// Returns whether there is something in a result of this job that no rescue carries.
	pub fn has_large_pieces(&self, spec: &CheckedSpec) -> bool {
		self.is_large(spec) || self.large_rows(spec).is_some()
	}

	/// Does on chain what is due for these pieces of a result, by the `record` of what was done. Nobody is
	/// asked before they were lacking for `patience` blocks. Returns whether they may still come.
	pub async fn advance(
		&self,
		(job, group): (JobId, u32),
		lacking: &[Piece],
		record: &Path,
		patience: BlockNumber,
	) -> Result<bool, TaskError> {
		let head = self.chain.head().await?;
		let relays = self.chain.relays_of(job, head.hash).await?;
		let mut all: AllLacked = load(record)?.unwrap_or_default();
		let mut waits = false;
		for piece in lacking.iter().copied() {
			let mut one = all.0.get(&piece).cloned().unwrap_or_default();
			let relay = relays.iter().find(|of| (of.group, of.piece) == (group, piece));
			let step = one.step(relay, head.number, patience);
			let call = match &step {
				Step::Wait => None,
				Step::Over => {
					one.over = true;
					None
				}
				// One after the other: the first may be the end of the result.
				Step::Ask if waits => continue,
				Step::Ask => {
					one.asked = Some(head.number);
					let most = self.most_for((job, group), piece).await?;
					Some((calls::request_relay(job, group, piece, most), most))
				}
				Step::AskSeats(id, seats) => {
					one.seats_asked = true;
					// A chunk costs the same of each piece.
					let each = fees::RELAY_FEE / relay::ASK_PART;
					let most = each.saturating_mul(seats.len() as Balance);
					Some((calls::ask_seats(*id, seats), most))
				}
				Step::Doubt(id) => {
					let most = self.doubt(relay);
					let is_too_dear = self.most.is_some_and(|named| most > named);
					(!is_too_dear).then(|| (calls::appeal(*id), most))
				}
			};
			let before = all.0.insert(piece, one.clone());
			if before.as_ref() != Some(&one) {
				self.save(record, &all)?;
			}
			if let Some((call, most)) = call {
				let sent = self.send((job, group, piece), &step, (call, most), head).await;
				let kept = match sent {
					Ok(true) => None,
					// Nothing can come of it any more.
					Ok(false) => Some(Lacked { over: true, ..one }),
					// What certainly is not on chain can be sent again.
					Err(e) if !matches!(e, TaskError::Transient(_)) => {
						all.0.insert(piece, before.unwrap_or_default());
						self.save(record, &all)?;
						return Err(e);
					}
					Err(e) => return Err(e),
				};
				if let Some(kept) = kept {
					all.0.insert(piece, kept);
					self.save(record, &all)?;
				}
			}
			waits |= all.0.get(&piece).is_some_and(|one| !one.over);
		}
		Ok(waits)
	}

	/// Returns the most that is prepaid for a relay of this piece of a result.
	async fn most_for(
		&self,
		(job, group): (JobId, u32),
		piece: Piece,
	) -> Result<Balance, TaskError> {
		if let Some(most) = self.most {
			return Ok(most);
		}
		let Some(job) = self.chain.job(job).await? else { return Ok(MOST) };
		let groups = job.audit.as_ref().map(|audit| &audit.groups[..]).unwrap_or_default();
		let Some(group) = groups.get(group as usize) else { return Ok(MOST) };
		let sizes =
			PieceSizes { keep_every: job.terms.keep_every, ..sizes_of(&job.spec.clone().check()?) };
		let bytes = sizes.of(&piece, &group.result, &[]);
		let price = units::price(job.work, job.terms.price_per_ut).unwrap_or(Balance::MAX);
		let fees = relay::Fees::of(fees::RELAY_FEE, price);
		let committee = fees.of_seats(&piece, bytes, relay::SEATS).unwrap_or(Balance::MAX);
		Ok(committee.saturating_mul(2).max(MOST))
	}

	/// Returns what it costs to doubt the answer of a relay.
	fn doubt(&self, relay: Option<&RelayView>) -> Balance {
		let fee = relay.map_or(Balance::MAX, |relay| relay.fee);
		fee.saturating_mul(relay::APPEAL_SEATS.into())
	}

	fn save(&self, record: &Path, all: &AllLacked) -> Result<(), TaskError> {
		if let Some(folder) = record.parent() {
			files::create_private_folder(folder).map_err(|e| TaskError::of(&e))?;
		}
		Ok(save(record, all)?)
	}

	/// Sends a call, and tells the owner what it costs. Returns false if nothing can come of it any more.
	async fn send(
		&self,
		(job, group, piece): (JobId, u32, Piece),
		step: &Step,
		(call, most): (Call, Balance),
		head: Head,
	) -> Result<bool, TaskError> {
		let sent = self.teller.run(&call.on(head)).await;
		let (event, text) = step.in_words(&piece);
		match sent {
			Ok(()) => {
				let most = amount::format(most);
				let text = format!("job {job}: {text}, for at most {most}");
				let fields =
					json!({ "job": job, "result": group, "piece": piece, "at_most": most });
				self.webhook.warn(event, &text, fields);
				Ok(true)
			}
			Err(e) if [ASKED, DOUBTED, TOO_MANY].iter().any(|name| e.failed_with(name)) => Ok(true),
			Err(e) if FINAL.iter().any(|name| e.failed_with(name)) => {
				let what = in_words(&piece);
				let text = format!("job {job}: no committee is asked for {what}: {e}");
				let fields = json!({ "job": job, "result": group, "piece": piece });
				self.webhook.warn("relay_refused", &text, fields);
				Ok(false)
			}
			Err(e) => Err(e.into()),
		}
	}
}

#[cfg(test)]
#[path = "large_tests.rs"]
mod tests;
