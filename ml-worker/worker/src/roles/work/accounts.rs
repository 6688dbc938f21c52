//! Follows the final blocks of the chain and writes into the ledger what they did to the account.

use super::{
	booking::{book, has_sent, jobs_named, Entry, Kind, Known},
	ledger::{Ledger, Point},
	part::Relation,
};
use crate::roles::{report::Reporter, store::StoreError};
use serde_json::json;
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};
use trainyard_client::{amount, AccountId32, Chain, ChainError, Head};
use trainyard_protocol::{job::BlockNumber, JobId};

/// Blocks that are read in one turn, so that the ledger keeps nobody waiting.
const AT_ONCE: BlockNumber = 64;
/// A block this far below the last final one of which the node has no state was pruned.
const PRUNED: BlockNumber = 200;
/// Blocks after which the ledger is written though nothing happened.
const SAVE_EVERY: BlockNumber = 50;

/// The books of an account.
pub struct Accounts {
	chain: Arc<Chain>,
	me: AccountId32,
	folder: PathBuf,
	ledger: Ledger,
	/// Height of the ledger on disk.
	saved: BlockNumber,
}

/// Says why the books cannot be kept now.
#[derive(Debug, thiserror::Error)]
pub enum BooksError {
	/// The chain cannot be asked.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// They cannot be read or written.
	#[error(transparent)]
	Store(#[from] StoreError),
	/// Old ones cannot be put aside.
	#[error("cannot put the ledger of another chain aside: {0}")]
	Aside(#[from] std::io::Error),
}

/// Returns what an account has at a block.
async fn point(chain: &Chain, me: &AccountId32, at: Head) -> Result<Point, ChainError> {
	let account = chain.account_at(me, at.hash).await?;
	let time = chain.time_at(at.hash).await?;
	let balance = account.free.saturating_add(account.reserved);
	Ok(Point { block: at.number, hash: at.hash, time, balance })
}

impl Accounts {
	/// Goes on with the ledger in `folder`, or begins one at the last final block. One of another chain is
	/// put aside.
	pub async fn open(
		chain: Arc<Chain>,
		me: AccountId32,
		folder: PathBuf,
		report: &Reporter,
	) -> Result<Self, BooksError> {
		let found = Ledger::load(&folder)?.filter(|ledger| ledger.account == me);
		let known = match &found {
			// A node that does not have that block yet will have it.
			Some(ledger) => match chain.hash_at(ledger.at.block).await? {
				Some(hash) => hash == ledger.at.hash,
				None => true,
			},
			None => true,
		};
		let ledger = match found.filter(|_| known) {
			Some(ledger) => ledger,
			None => {
				if !known {
					Ledger::put_aside(&folder)?;
					let text = "the ledger of another chain is put aside: ledger.old.json";
					report.general("ledger_put_aside", text, json!({}));
				}
				let head = chain.finalized().await?;
				Ledger::open(me, point(&chain, &me, head).await?)
			}
		};
		ledger.save(&folder)?;
		let saved = ledger.at.block;
		Ok(Self { chain, me, folder, ledger, saved })
	}

	/// Returns the ledger.
	pub fn ledger(&self) -> &Ledger {
		&self.ledger
	}

	/// Reads the next final blocks, a few at a time. Returns whether there are more.
	pub async fn catch_up(&mut self, report: &Reporter) -> Result<bool, BooksError> {
		let last = self.chain.finalized().await?.number;
		let first = self.ledger.at.block.saturating_add(1);
		let until = last.min(self.ledger.at.block.saturating_add(AT_ONCE));
		let mut is_new = false;
		for number in first..=until {
			let Some(hash) = self.chain.hash_at(number).await? else { break };
			let entries = match self.block(Head { number, hash }).await {
				Ok(entries) => entries,
				Err(e) if e.is_connection() || e.is_final() => return Err(e.into()),
				Err(_) if number.saturating_add(PRUNED) < last => self.jump(report).await?,
				Err(e) => return Err(e.into()),
			};
			is_new |= !entries.is_empty();
			report_entries(report, number, &entries);
			if self.ledger.at.block >= until {
				break;
			}
		}
		if is_new || self.ledger.at.block >= self.saved.saturating_add(SAVE_EVERY) {
			self.save()?;
		}
		Ok(self.ledger.at.block < last)
	}

	/// Writes the ledger.
	pub fn save(&mut self) -> Result<(), StoreError> {
		self.ledger.save(&self.folder)?;
		self.saved = self.ledger.at.block;
		Ok(())
	}

	/// Takes over what a block did.
	async fn block(&mut self, at: Head) -> Result<Vec<Entry>, ChainError> {
		let now = point(&self.chain, &self.me, at).await?;
		let events = self.chain.events_at(at.hash).await?;
		let mut relations: BTreeMap<JobId, Relation> = BTreeMap::new();
		for job in jobs_named(&events, &self.me) {
			let view = self.chain.job(job).await?;
			let relation = view.and_then(|view| Relation::of(&view, &self.me));
			relations.extend(relation.map(|relation| (job, relation)));
		}
		let calls = match has_sent(&events, &self.me) {
			true => self.chain.calls_at(at.hash).await?,
			false => Vec::new(),
		};
		let known = Known { me: &self.me, relations: &relations, calls: &calls };
		Ok(self.ledger.note(now, &book(&events, &known)))
	}

	/// Goes on at the last final block: the node has the state of the next one no more. What the balance
	/// moved between is booked as other.
	async fn jump(&mut self, report: &Reporter) -> Result<Vec<Entry>, ChainError> {
		let head = self.chain.finalized().await?;
		let now = point(&self.chain, &self.me, head).await?;
		let from = self.ledger.at.block;
		let text = format!(
			"the node keeps no state of blocks {from} to {}: what they did to the account is booked in \
			 one sum",
			head.number
		);
		report.general("ledger_gap", &text, json!({ "from": from, "to": head.number }));
		Ok(self.ledger.note(now, &Default::default()))
	}
}

/// Reports what came and went, but for fees of transactions, which are many and small.
fn report_entries(report: &Reporter, block: BlockNumber, entries: &[Entry]) {
	for Entry { part, kind, amount, job } in
		entries.iter().filter(|it| it.kind != Kind::Transactions)
	{
		let text = format!("{}: {} {}", part.name(), kind.word(), signed(*amount));
		let fields = json!({
			"part": part, "kind": kind, "amount": amount.to_string(), "about": job, "block": block,
		});
		report.general("booked", &text, fields);
	}
}

/// Writes an amount with its sign.
pub fn signed(amount: i128) -> String {
	let sign = if amount < 0 { "-" } else { "+" };
	format!("{sign}{}", amount::format(amount.unsigned_abs()))
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::fake::FakeNode;
	use trainyard_protocol::H256;

	const ME: AccountId32 = AccountId32([7; 32]);

	async fn open(folder: &std::path::Path, final_at: u32) -> Accounts {
		let node = FakeNode::new(|_, _, _| Err("no runtime")).finalized_at(final_at);
		let chain = Arc::new(node.storing_account(&ME, 10, 20).chain().await);
		let report = Reporter::new("work", true, None);
		Accounts::open(chain, ME, folder.to_owned(), &report).await.unwrap()
	}

	#[tokio::test]
	async fn books_go_on_where_they_were_and_those_of_another_chain_are_put_aside() {
		let folder = tempfile::tempdir().unwrap();
		let opened = open(folder.path(), 30).await.ledger().clone();
		assert_eq!((opened.opened.block, opened.opened.balance), (30, 30));
		let again = open(folder.path(), 90).await.ledger().clone();
		assert_eq!(again, opened, "the blocks between are read later, one by one");
		let mut other = opened.clone();
		other.at.hash = H256::repeat_byte(9);
		other.save(folder.path()).unwrap();
		let new = open(folder.path(), 90).await.ledger().clone();
		assert_eq!((new.opened.block, new.at.block), (90, 90));
		assert!(folder.path().join("ledger.old.json").exists());
	}

	#[test]
	fn amounts_have_their_sign() {
		assert_eq!(signed(4_500_000_000_000), "+4.5 TRY");
		assert_eq!(signed(-250_000_000_000), "-0.25 TRY");
		assert_eq!(signed(0), "+0 TRY");
	}
}
