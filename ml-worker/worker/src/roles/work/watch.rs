//! Keeps the books and the status up to date beside the roles, and shows them.

use super::{
	accounts::{Accounts, BooksError},
	facts::{Asker, Facts},
	now,
	part::Part,
	reasons::Told,
	status::{self, Made, Status},
	Shared,
};
use crate::{
	roles::{blocks::next_block, store::Home},
	terminal,
};
use serde_json::{json, Map, Value};
use std::{
	path::Path,
	time::{Duration, Instant},
};
use tokio::sync::mpsc::UnboundedReceiver;
use tracing::warn;
use trainyard_client::{ChainError, Head};
use trainyard_protocol::{job::BlockNumber, H256};

/// Blocks between two statuses on disk.
const STATUS_EVERY: BlockNumber = 5;
/// How long the last look at the chain may take when the daemon ends.
const FAREWELL: Duration = Duration::from_secs(10);

/// Keeps the books and shows the status, beside the roles.
pub(super) struct Watcher<'a> {
	pub(super) shared: &'a Shared,
	pub(super) books: Accounts,
	pub(super) asker: Asker,
	pub(super) told: Told,
	pub(super) ears: UnboundedReceiver<Map<String, Value>>,
	pub(super) block_time: Duration,
	pub(super) since: u64,
	/// Time between two reports of the status; zero for none but the last.
	pub(super) every: Duration,
	pub(super) json: bool,
}

impl Watcher<'_> {
	/// Watches the chain. Ends only where it is not ours any more.
	pub(super) async fn watch(&mut self) -> Result<(), ChainError> {
		let mut seen = None;
		let mut complaint = String::new();
		let (mut shown, mut written) = (Instant::now(), None::<BlockNumber>);
		loop {
			let head = next_block(&self.shared.chain, seen).await?;
			seen = Some(head.hash);
			let due = written.is_none_or(|last| head.number.abs_diff(last) >= STATUS_EVERY);
			match self.look(head, due).await {
				Ok(()) if due => written = Some(head.number),
				Ok(()) => {}
				Err(BooksError::Chain(e)) if e.is_final() => return Err(e),
				Err(error) => {
					let text = error.to_string();
					if text != complaint {
						warn!("the books: {text}; looking again at the next block");
						complaint = text;
					}
				}
			}
			if !self.every.is_zero() && shown.elapsed() >= self.every {
				shown = Instant::now();
				self.show();
			}
		}
	}

	/// Looks once: reads final blocks, and writes the status where it is `due`.
	async fn look(&mut self, head: Head, due: bool) -> Result<(), BooksError> {
		self.books.catch_up(&self.shared.report).await?;
		if due {
			self.write_status(head).await?;
		}
		Ok(())
	}

	async fn write_status(&mut self, head: Head) -> Result<(), BooksError> {
		let facts = self.facts(head).await?;
		while let Ok(event) = self.ears.try_recv() {
			self.told.note(&event);
		}
		self.told.retain(&facts.jobs);
		let shared = self.shared;
		let made = Made {
			roles: &shared.roles,
			node: shared.chain.url(),
			now: now(),
			since: self.since,
			block_time: self.block_time,
			told: &self.told,
			present: &shared.machine.present(),
		};
		Status::of(&facts, &made).save(&shared.folder)?;
		Ok(())
	}

	async fn facts(&mut self, head: Head) -> Result<Facts, ChainError> {
		let shared = self.shared;
		let me = *shared.sender.account();
		let blobs = blobs(&shared.folder(Part::Trainer), &shared.chain.genesis());
		self.asker.facts(&shared.chain, me, head, blobs).await
	}

	/// Shows the last status that was written.
	fn show(&self) {
		let folder = &self.shared.folder;
		let (status, ledger) = (Status::load(folder), self.books.ledger());
		let status = match status {
			Ok(Some(status)) => status,
			Ok(None) => return,
			Err(e) => return warn!("{e}"),
		};
		let line = status.line(ledger);
		let fields = json!({
			"status": status, "all": ledger.all(), "opened": ledger.opened, "at": ledger.at,
		});
		self.shared.report.general("status", &line, fields);
		if !self.json {
			print!("{}", terminal::lines(&status::text(&status, ledger)));
		}
	}

	/// Reads what became final meanwhile, and shows the last status.
	pub(super) async fn end(&mut self) {
		let last = async {
			while self.books.catch_up(&self.shared.report).await? {}
			let head = self.shared.chain.head().await?;
			self.write_status(head).await
		};
		match tokio::time::timeout(FAREWELL, last).await {
			Ok(Ok(())) => {}
			Ok(Err(e)) => warn!("the last look at the books: {e}"),
			Err(_) => warn!("the last look at the books took too long"),
		}
		if let Err(e) = self.books.save() {
			warn!("{e}");
		}
		self.show();
	}
}

/// Returns the roots of the blobs that the trainer in this folder may have stored.
pub(super) fn blobs(folder: &Path, genesis: &H256) -> Vec<H256> {
	match Home::blobs_in(folder, genesis) {
		Ok(blobs) => blobs,
		Err(e) => {
			warn!("{e}");
			Vec::new()
		}
	}
}
