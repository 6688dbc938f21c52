//! Asks on chain for what nobody gives of a result and blocks carry, and pledges for a place among those who
//! ask.
//!
//! What is asked for the trainers store, or the result is lost. Places are bounded, and whoever pledges more
//! for one displaces who pledged least. So this begins with no pledge, and doubles it each time that it is
//! refused or displaced, as far as its owner allows. A pledge returns where the result is lost, and but for
//! a quarter where what was asked for is stored.
//!
//! What was done is on disk from before it is sent. Whether a claim is open the chain says.

use crate::roles::{
	common::large::Teller,
	report::Reporter,
	store::{load, save},
	tasks::TaskError,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{path::Path, sync::Arc};
use tracing::debug;
use trainyard_client::{amount, calls, AccountId32, Chain, ChainError, Transactor, TxError};
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
/// The first pledge is the largest divided by this.
const FIRST_PART: Balance = 16;
/// Answers to a claim for which there is no room: others pledged more, or the list is long.
const FULL: [&str; 4] = [
	"Verification::TooManyClaims",
	"Verification::TooManyPieces",
	"Verification::TooManyBytes",
	"Verification::PledgeTooSmall",
];
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
/// Pieces that are asked for at a time: as many as are asked for without a pledge where nobody else asks.
const AT_ONCE: usize = 16;
/// What the chain answers where nothing is asked for.
const NOT_ASKED: &str = "Verification::NotAsked";

/// Options of what is asked for on chain.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ClaimArgs {
	/// Where nobody gives what is replayed of a result, it is asked for on chain. Pledge up to this for a
	/// place among those who ask (in TRY), as far as others pledge; 0 for nothing. It returns where the
	/// result is lost, and but for a quarter where what was asked for is stored
	#[arg(long, value_name = "TRY", default_value = "4", value_parser = amount::parse)]
	max_pledge: Balance,
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
		let chain = sender.chain().clone();
		let room = chain.constant("Verification", "MaxRescue").await?;
		let room = room.and_then(|bytes| u64::try_from(bytes).ok());
		let byte = chain.constant("TaskMarket", "StorageByte").await?;
		Ok(Claims {
			me: *sender.account(),
			chain,
			teller: Teller::Chain(sender.clone()),
			most: self.max_pledge,
			prepaid: self.max_claim,
			byte: byte.unwrap_or(fees::STORAGE_BYTE),
			room: room.unwrap_or(blob::room().rescue),
			report,
		})
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

/// Returns the pledge that follows after `pledge` where `most` is the largest; `None` after that.
fn raised(pledge: Balance, most: Balance) -> Option<Balance> {
	let more = match pledge {
		0 => most.div_ceil(FIRST_PART),
		_ => pledge.saturating_mul(2),
	};
	(pledge < most).then(|| more.min(most))
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
		if let Some(more) = raised(self.pledge, most).filter(|_| self.open) {
			return Step::Ask(more);
		}
		match best < asked.saturating_add(SETTLED) {
			true => Step::Wait,
			false => Step::Ask(self.pledge),
		}
	}
}

/// Asks on chain for what nobody gives.
pub struct Claims {
	/// Who asks.
	pub me: AccountId32,
	/// The chain.
	pub chain: Arc<Chain>,
	/// What sends.
	pub teller: Teller,
	/// The largest pledge.
	pub most: Balance,
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
	/// Returns the first of these pieces that are asked for together: those for which there is money, and room
	/// on chain.
	fn that_fit(&self, pieces: &[Piece], sizes: &PieceSizes, result: &WorkResult) -> Vec<Piece> {
		let mut taken = 0u64;
		let mut fits = |piece: &&Piece| {
			let all = taken.saturating_add(sizes.of(piece, result, &[]));
			let price = Balance::from(all).saturating_mul(self.byte);
			let fits = all <= self.room && price <= self.prepaid;
			taken = if fits { all } else { taken };
			fits
		};
		pieces.iter().filter(|piece| fits(piece)).take(AT_ONCE).copied().collect()
	}

	/// Returns whether a claim of this account on a result is open.
	async fn is_open(&self, job: JobId, group: u32) -> Result<bool, ChainError> {
		let head = self.chain.head().await?;
		let claims = self.chain.claims_of(job, &self.me, head.hash).await?;
		Ok(claims.iter().any(|claim| claim.group == group && claim.open))
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
		let before: Claimed = load(record)?.unwrap_or_default();
		let mut claimed = before.clone();
		if !open && !claimed.pieces.iter().any(|piece| lacking.contains(piece)) {
			// What was asked for came, and what is lacking now was not asked for.
			let Claimed { since, over, .. } = claimed;
			claimed = Claimed { since, over, ..Claimed::default() };
		}
		let step = claimed.step(open, best, patience, self.most);
		if claimed != before {
			put(record, &claimed)?;
		}
		let mut pledge = match step {
			Step::Ask(pledge) => pledge,
			Step::Wait => return Ok(true),
			Step::Over => return Ok(false),
		};
		let fitting = self.that_fit(lacking, sizes, result);
		let fields = json!({ "result": group, "pieces": fitting });
		claimed.pieces = fitting.clone();
		let pieces = Pieces::try_from(fitting).unwrap_or_default();
		if pieces.is_empty() {
			claimed.over = true;
			put(record, &claimed)?;
			let reason = "it is dearer than --max-claim";
			let text = format!("what nobody gives is not asked for on chain: {reason}");
			let fields = json!({ "result": group, "pieces": lacking, "reason": reason });
			self.report.job(job, "ask_refused", &text, fields);
			return Ok(false);
		}
		loop {
			let head = self.chain.head().await?;
			claimed = Claimed { asked: Some(head.number), pledge, open: false, ..claimed };
			put(record, &claimed)?;
			let call = calls::request_pieces(job, group, &pieces, pledge);
			let said = |event: &str, text: &str, error: Option<&TxError>| {
				let mut fields = fields.clone();
				fields["pledge"] = json!(amount::format(pledge));
				let text = match error {
					None => text.to_owned(),
					Some(e) => {
						fields["reason"] = json!(e.to_string());
						format!("{text}: {e}")
					}
				};
				self.report.job(job, event, &text, fields);
			};
			match self.teller.run(&call.on(head)).await {
				Ok(()) => {
					claimed.open = true;
					put(record, &claimed)?;
					said("asked", "what nobody gives of a result is asked for on chain", None);
					return Ok(true);
				}
				Err(e) if FULL.iter().any(|name| e.failed_with(name)) => {
					match raised(pledge, self.most) {
						Some(more) => pledge = more,
						None => {
							said(
								"ask_refused",
								"there is no room to ask on chain for now",
								Some(&e),
							);
							return Ok(true);
						}
					}
				}
				Err(e) if PASSING.iter().any(|name| e.failed_with(name)) => return Ok(true),
				Err(e) if FINAL.iter().any(|name| e.failed_with(name)) => {
					claimed.over = true;
					put(record, &claimed)?;
					said("ask_refused", "what nobody gives stays lacking", Some(&e));
					return Ok(false);
				}
				Err(e) if e.is_uncertain() => return Err(e.into()),
				Err(e) => {
					// What certainly is not on chain can be sent again.
					put(record, &Claimed { since: claimed.since, ..before })?;
					return Err(e.into());
				}
			}
		}
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
