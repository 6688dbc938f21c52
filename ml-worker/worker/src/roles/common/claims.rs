//! Asks on chain for what nobody gives of a result that stands and blocks carry, and pledges for it.
//!
//! What is asked for the trainers store, or the result is lost. For how many pieces at a time, and by which
//! pledge, [`pledges`] says: it begins with no pledge, and pledges more where it is refused or displaced, as
//! far as its owner allows. What is left is asked for when the rest has come.
//!
//! What was done is on disk from before it is sent. Whether a claim is open the chain says.

use super::{
	large::Teller,
	pledges::{self, Bid, PledgeArgs, Refusal},
};
use crate::roles::{
	report::Reporter,
	store::{load, save},
	tasks::TaskError,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{path::Path, sync::Arc};
use tracing::debug;
use trainyard_client::{amount, calls, AccountId32, Chain, ChainError, Head, Transactor, TxError};
use trainyard_proof::bundle::files;
use trainyard_protocol::{
	blob, fees,
	job::{Balance, BlockNumber, WorkResult},
	pieces::{Piece, PieceSizes, Pieces},
	JobId,
};

/// Blocks after which a claim that is not known to have come on chain, or that was refused with the largest
/// pledge, is sent again.
const SETTLED: BlockNumber = 20;
/// Answers that pass: it is asked for, it is stored, or others are being answered now.
const PASSING: [&str; 4] = [
	"Verification::AlreadyAsked",
	"Verification::IsStored",
	"Verification::NotCommitting",
	"Verification::TooLate",
];
/// Answers after which nothing is asked for any more.
const FINAL: [&str; 4] = [
	"Verification::TooManyWindows",
	"Verification::NoSuchGroup",
	"Verification::NoSuchPiece",
	"Verification::NoAudit",
];
/// What the chain answers where nothing is asked for.
const NOT_ASKED: &str = "Verification::NotAsked";

/// Options of what is asked for on chain.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ClaimArgs {
	#[command(flatten)]
	pledges: PledgeArgs,
	/// Prepay up to this for the bytes of what is asked for at a time (in TRY); 0 to ask for nothing. Half of
	/// it is paid where trainers store them
	#[arg(long, value_name = "TRY", default_value = "10", value_parser = amount::parse)]
	max_claim: Balance,
}

impl ClaimArgs {
	/// Returns what asks on this chain.
	pub async fn claims(
		&self,
		sender: &Arc<Transactor>,
		report: Reporter,
	) -> Result<Claims, ChainError> {
		Claims::new(sender, report, self.pledges, self.max_claim).await
	}
}

/// What is known of what is lacking of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claimed {
	/// Height at which something was first seen to be lacking.
	pub since: Option<BlockNumber>,
	/// Height at which it was last asked for, from before that is sent.
	pub asked: Option<BlockNumber>,
	/// What was asked for then.
	pub pieces: Vec<Piece>,
	/// The pledge with that.
	#[serde(with = "trainyard_program::text::decimal")]
	pub pledge: Balance,
	/// Whether that claim came on chain.
	pub open: bool,
	/// Whether nothing is asked for any more.
	pub over: bool,
}

/// What is due on chain for what is lacking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
	/// To ask for it, with this pledge.
	Ask(Balance),
	/// Nothing now.
	Wait,
	/// Nothing any more.
	Over,
}

impl Claimed {
	/// Returns what is due at height `best`, where a claim of this account is `open` or not, and `most` is
	/// the largest pledge. Nothing is asked for before it was lacking for `patience` blocks.
	pub fn step(
		&mut self,
		open: bool,
		best: BlockNumber,
		patience: BlockNumber,
		most: Balance,
	) -> Step {
		if self.over {
			return Step::Over;
		}
		let since = *self.since.get_or_insert(best);
		if open {
			self.open = true;
			return Step::Wait;
		}
		let Some(asked) = self.asked else {
			return match best >= since.saturating_add(patience) {
				true => Step::Ask(0),
				false => Step::Wait,
			};
		};
		// It was on chain: who pledged more took its place.
		if let Some(more) = pledges::raised(self.pledge, most).filter(|_| self.open) {
			return Step::Ask(more);
		}
		match best < asked.saturating_add(SETTLED) {
			true => Step::Wait,
			// Its owner may allow less by now.
			false => Step::Ask(self.pledge.min(most)),
		}
	}

	/// Returns what is asked for of what is `lacking`: the same as before where that did not come.
	fn wanted(&self, lacking: &[Piece]) -> Vec<Piece> {
		let is_wanted = |piece: &&Piece| self.asked.is_none() || self.pieces.contains(piece);
		lacking.iter().filter(is_wanted).copied().collect()
	}
}

/// What is asked for of a result.
#[derive(Clone, Copy)]
struct Asking<'a> {
	/// The job.
	job: JobId,
	/// The number of the result.
	group: u32,
	/// The result.
	result: &'a WorkResult,
	/// What the bytes of its pieces follow from.
	sizes: &'a PieceSizes,
	/// The file that says what was done.
	record: &'a Path,
	/// The largest pledge.
	most: Balance,
}

/// Asks on chain for what nobody gives.
pub struct Claims {
	/// Who asks.
	pub me: AccountId32,
	/// The chain.
	pub chain: Arc<Chain>,
	/// What sends.
	pub teller: Teller,
	/// The largest pledge; where there is none, it follows from the job.
	pub most: Option<Balance>,
	/// The most that is prepaid for the bytes of a claim.
	pub prepaid: Balance,
	/// The price of a byte that is stored.
	pub byte: Balance,
	/// Bytes that the chain carries.
	pub room: u64,
	/// Where it says what it did.
	pub report: Reporter,
}

impl Claims {
	/// Makes what asks on the chain of `sender`, and prepays no more than that for the bytes of a claim.
	pub async fn new(
		sender: &Arc<Transactor>,
		report: Reporter,
		pledges: PledgeArgs,
		prepaid: Balance,
	) -> Result<Self, ChainError> {
		let chain = sender.chain().clone();
		let room = chain.constant("Verification", "MaxRescue").await?;
		let room = room.and_then(|bytes| u64::try_from(bytes).ok());
		let byte = chain.constant("TaskMarket", "StorageByte").await?;
		Ok(Self {
			me: *sender.account(),
			chain,
			teller: Teller::Chain(sender.clone()),
			most: pledges.max_pledge,
			prepaid,
			byte: byte.unwrap_or(fees::STORAGE_BYTE),
			room: room.unwrap_or(blob::room().rescue),
			report,
		})
	}

	/// Returns the bytes that are asked for together: those for which there is money, and room on chain.
	fn bytes(&self) -> u64 {
		let paid = self.prepaid.checked_div(self.byte);
		let paid = paid.map_or(u64::MAX, |bytes| u64::try_from(bytes).unwrap_or(u64::MAX));
		paid.min(self.room)
	}

	/// Returns whether a claim of this account on a result is open.
	async fn is_open(&self, job: JobId, group: u32) -> Result<bool, ChainError> {
		let head = self.chain.head().await?;
		let claims = self.chain.claims_of(job, &self.me, head.hash).await?;
		Ok(claims.iter().any(|claim| claim.group == group && claim.open))
	}

	/// Returns the largest pledge for what is asked for of a job.
	async fn most_for(&self, job: JobId) -> Result<Balance, ChainError> {
		let challenge = match self.most {
			Some(_) => None,
			None => self.chain.job(job).await?.and_then(|job| Some(job.audit?.challenge)),
		};
		Ok(pledges::most(self.most, challenge.unwrap_or_default()))
	}

	/// Does on chain what is due for these pieces of a result, none of which is stored there, by the `record`
	/// of what was done. Nothing is asked for before it was lacking for `patience` blocks. Returns whether
	/// they may still come.
	pub async fn advance(
		&self,
		(job, group, result): (JobId, u32, &WorkResult),
		(lacking, sizes): (&[Piece], &PieceSizes),
		record: &Path,
		patience: BlockNumber,
	) -> Result<bool, TaskError> {
		let best = self.chain.head().await?.number;
		let open = self.is_open(job, group).await?;
		let most = self.most_for(job).await?;
		let before: Claimed = load(record)?.unwrap_or_default();
		let mut claimed = before.clone();
		if !open && !claimed.pieces.iter().any(|piece| lacking.contains(piece)) {
			// What was asked for came, and what is lacking now was not asked for.
			let Claimed { since, over, .. } = claimed;
			claimed = Claimed { since, over, ..Claimed::default() };
		}
		let step = claimed.step(open, best, patience, most);
		if claimed != before {
			put(record, &claimed)?;
		}
		let pledge = match step {
			Step::Ask(pledge) => pledge,
			Step::Wait => return Ok(true),
			Step::Over => return Ok(false),
		};
		let asking = Asking { job, group, result, sizes, record, most };
		let wanted = claimed.wanted(lacking);
		if pledges::that_fit(&wanted, (sizes, result), self.bytes(), 1).is_empty() {
			claimed.over = true;
			put(record, &claimed)?;
			let reason = "it is dearer than --max-claim";
			let text = format!("what nobody gives is not asked for on chain: {reason}");
			let fields = json!({ "result": group, "pieces": lacking, "reason": reason });
			self.report.job(job, "ask_refused", &text, fields);
			return Ok(false);
		}
		self.ask(asking, &wanted, Bid::new(pledge), (claimed, before)).await
	}

	/// Asks for as many of the `wanted` pieces as the chain takes, beginning with this bid. The record is
	/// `claimed`, and was another one `before`. Returns whether they may still come.
	async fn ask(
		&self,
		asking: Asking<'_>,
		wanted: &[Piece],
		mut bid: Bid,
		(mut claimed, before): (Claimed, Claimed),
	) -> Result<bool, TaskError> {
		let Asking { result, sizes, record, most, .. } = asking;
		let of = (sizes, result);
		loop {
			let listed = pledges::that_fit(wanted, of, self.bytes(), bid.pieces);
			bid.pieces = pledges::places(&listed, of);
			let head = self.chain.head().await?;
			let (asked, pledge) = (Some(head.number), bid.pledge);
			claimed = Claimed { asked, pieces: listed, pledge, open: false, ..claimed };
			put(record, &claimed)?;
			let error = match self.send(asking, &claimed, head).await {
				Ok(()) => {
					claimed.open = true;
					put(record, &claimed)?;
					let text = "what nobody gives of a result is asked for on chain";
					self.said(asking, &claimed, ("asked", text), None);
					return Ok(true);
				}
				Err(error) => error,
			};
			if let Some(refusal) = Refusal::of(&error, pledge) {
				match bid.after(refusal, most) {
					Some(next) => bid = next,
					None => {
						let said = ("ask_refused", &*refusal.in_words(pledge));
						self.said(asking, &claimed, said, Some(&error));
						return Ok(true);
					}
				}
				continue;
			}
			if PASSING.iter().any(|name| error.failed_with(name)) {
				return Ok(true);
			}
			if FINAL.iter().any(|name| error.failed_with(name)) {
				claimed.over = true;
				put(record, &claimed)?;
				let said = ("ask_refused", "what nobody gives stays lacking");
				self.said(asking, &claimed, said, Some(&error));
				return Ok(false);
			}
			if !error.is_uncertain() {
				// What certainly is not on chain can be sent again.
				put(record, &Claimed { since: claimed.since, ..before })?;
			}
			return Err(error.into());
		}
	}

	/// Sends the claim of which this is the record, on the chain of `head` only.
	async fn send(&self, asking: Asking<'_>, claimed: &Claimed, head: Head) -> Result<(), TxError> {
		let pieces = Pieces::try_from(claimed.pieces.clone()).unwrap_or_default();
		let call = calls::request_pieces(asking.job, asking.group, &pieces, claimed.pledge);
		self.teller.run(&call.on(head)).await
	}

	/// Reports what became of the claim of which this is the record.
	fn said(
		&self,
		Asking { job, group, .. }: Asking<'_>,
		claimed: &Claimed,
		(event, text): (&str, &str),
		error: Option<&TxError>,
	) {
		let pledge = amount::format(claimed.pledge);
		let mut fields = json!({ "result": group, "pieces": claimed.pieces, "pledge": pledge });
		let text = match error {
			None => text.to_owned(),
			Some(e) => {
				let text = format!("{text}: {e}");
				fields["reason"] = json!(text);
				text
			}
		};
		self.report.job(job, event, &text, fields);
	}

	/// Withdraws what this account asked for of a result, by the `record` of that, if it did: all of it is
	/// here. Where that fails the trainers may store it all the same.
	pub async fn withdraw(&self, job: JobId, group: u32, record: &Path) {
		let asked = |claimed: Claimed| claimed.asked.is_some();
		if !load(record).ok().flatten().is_some_and(asked) {
			return;
		}
		let gone = async {
			if !self.is_open(job, group).await? {
				return Ok(());
			}
			let head = self.chain.head().await?;
			match self.teller.run(&calls::withdraw_request(job, group).on(head)).await {
				Ok(()) => {
					let text = "what was asked for on chain is here";
					self.report.job(job, "withdrawn", text, json!({ "result": group }));
					Ok(())
				}
				Err(e) if e.failed_with(NOT_ASKED) => Ok(()),
				Err(e) => Err(TaskError::from(e)),
			}
		};
		match gone.await {
			Ok(()) => drop(std::fs::remove_file(record)),
			Err(e) => debug!("job {job}: a claim may be open still: {e}"),
		}
	}
}

/// Writes what was done; it is on disk when this returns.
fn put(record: &Path, claimed: &Claimed) -> Result<(), TaskError> {
	if let Some(folder) = record.parent() {
		files::create_private_folder(folder).map_err(|e| TaskError::of(&e))?;
	}
	Ok(save(record, claimed)?)
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
