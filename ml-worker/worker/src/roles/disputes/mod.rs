//! Disputes of a role's account: defends its own results, and goes on with what it accuses of.
//!
//! A dispute is on chain, and a move a function of the job, its files and where the dispute stands. So
//! nothing has to be remembered: at each block [`Disputes::look`] reads the disputes of the account,
//! [`plan`](plan::plan) says what is due in them, and [`Disputes::carry_out`] computes a move, writes it
//! down and sends it. Whoever is killed in between reads the chain again. What was written down is only
//! what keeps a move that may still be on its way from being sent twice.
//!
//! - [`plan`](mod@plan) decides, [`moves`] computes moves, [`party`] is what these come from;
//! - [`files`] are the files of a job, and the recorders over them;
//! - [`parting`] says where two results part, and [`accusing`] brings an accusation to the court;
//! - [`bundles`] are those of all trainers of one result;
//! - [`driver`] does all of it for a role, block by block;
//! - [`journal`] is `disputes/ID/moves.jsonl`;
//! - [`chain`] is a court on a chain.

pub mod accusing;
pub mod bundles;
pub mod chain;
pub mod driver;
pub mod files;
pub mod journal;
pub mod moves;
pub mod parting;
pub mod party;
pub mod plan;
#[cfg(test)]
mod tests;

use super::{
	blocks::LookError,
	common::webhook::Webhook,
	machine::{Class, Machine, Need},
	recent::Recent,
	report::Reporter,
	store::StoreError,
};
use journal::Journal;
use moves::{Move, MoveError};
use party::{Matter, PartyError, Subject};
use plan::{Due, Known, Plan, Step, Urgency, Warning};
use serde_json::json;
use std::{
	collections::BTreeMap,
	future::Future,
	path::{Path, PathBuf},
	sync::{Mutex, MutexGuard, PoisonError},
};
use trainyard_client::{
	court::{Accusation, Commitment, Defendant, Dispute, DisputeId, Refusal, Said, Side, Since},
	AccountId32, ChainError, TxError,
};
use trainyard_court::game::{Game, Turn};
use trainyard_protocol::{job::Balance, JobId, H256};

/// Disputes at a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
	/// The block.
	pub now: Since,
	/// Those that have not ended, of all accounts, by number.
	pub disputes: BTreeMap<DisputeId, Dispute>,
}

/// A court: that of a chain, or one in memory.
pub trait Courtroom: Send + Sync {
	/// Returns all disputes at the best block.
	fn look(&self) -> impl Future<Output = Result<Seen, ChainError>> + Send;

	/// Returns a dispute at the best block, and that block; no dispute where it ended.
	fn dispute(
		&self,
		id: DisputeId,
	) -> impl Future<Output = Result<(Since, Option<Dispute>), ChainError>> + Send;

	/// Returns what a defendant has said so far.
	fn said(&self, defendant: &Defendant) -> impl Future<Output = Result<Said, ChainError>> + Send;

	/// Returns whether a defendant was convicted.
	fn is_convicted(
		&self,
		defendant: &Defendant,
	) -> impl Future<Output = Result<bool, ChainError>> + Send;

	/// Sends a move, and waits until it is in a block and did what it should.
	fn send(&self, id: DisputeId, it: &Move) -> impl Future<Output = Result<(), TxError>> + Send;

	/// Returns the genesis hash, which is in every commitment.
	fn genesis(&self) -> H256;

	/// Returns what this account is bound to about a job, if it is.
	fn bound(
		&self,
		job: JobId,
	) -> impl Future<Output = Result<Option<Commitment>, ChainError>> + Send;

	/// Returns the balance that this account has free, in units of the currency.
	fn free(&self) -> impl Future<Output = Result<Balance, ChainError>> + Send;

	/// Binds this account to a challenge, and waits until that is in a block.
	fn commit(&self, job: JobId, hash: &H256) -> impl Future<Output = Result<(), TxError>> + Send;

	/// Shows an accusation to which this account is bound, and waits until that is in a block.
	fn challenge(
		&self,
		accusation: &Accusation,
		salt: &[u8; 32],
	) -> impl Future<Output = Result<(), TxError>> + Send;
}

/// Why a step was not done. It is planned again at a later block.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
	/// The chain cannot be asked.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// A file of the role cannot be read or written.
	#[error(transparent)]
	Store(#[from] StoreError),
	/// There is no move to send.
	#[error(transparent)]
	Move(#[from] MoveError),
	/// The move was sent, and is not on chain.
	#[error("{error}{}{}", if advice.is_empty() { "" } else { ". " }, advice)]
	Sending {
		/// What happened.
		error: TxError,
		/// What to do.
		advice: &'static str,
	},
	/// The work stopped in the middle.
	#[error("the computation of a move stopped unexpectedly: {0}")]
	Stopped(String),
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
	/// The move is on chain.
	Moved,
	/// The dispute went on, or ended, before the move was computed or sent.
	Overtaken,
}

/// What a look at a court shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looked {
	/// The block, and all disputes that have not ended.
	pub seen: Seen,
	/// What is to be done in those of this account.
	pub plan: Plan,
}

/// The disputes of an account.
pub struct Disputes {
	me: AccountId32,
	folder: PathBuf,
	report: Reporter,
	webhook: Webhook,
	/// What moves are computed on, and for which role.
	machine: (Machine, &'static str),
	journals: Mutex<BTreeMap<DisputeId, Journal>>,
	warned: Mutex<Recent<(DisputeId, plan::Due, Urgency, bool), ()>>,
}

pub(in crate::roles) fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
	shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Disputes {
	/// Makes what `me` keeps of its disputes in `folder`. Nothing is read yet.
	pub fn new(me: AccountId32, folder: &Path, report: Reporter, webhook: Webhook) -> Self {
		let folder = folder.to_owned();
		let (machine, journals, warned) = Default::default();
		Self { me, folder, report, webhook, machine, journals, warned }
	}

	/// Computes moves on this machine from now on, for this role.
	pub fn compute_on(&mut self, machine: Machine, role: &'static str) {
		self.machine = (machine, role);
	}

	/// Returns the account.
	pub fn me(&self) -> &AccountId32 {
		&self.me
	}

	/// Returns the folder of all disputes.
	pub fn folder(&self) -> &Path {
		&self.folder
	}

	/// Returns where events are reported.
	pub fn report(&self) -> &Reporter {
		&self.report
	}

	/// Looks at all disputes, warns of this account's clocks, and returns what is to be done. `subject`
	/// has what those are about that can be computed here.
	pub async fn look<C: Courtroom>(
		&self,
		court: &C,
		subject: impl Fn(&Dispute) -> Option<Subject>,
	) -> Result<Looked, LookError> {
		let seen = court.look().await?;
		let now = seen.now;
		let own = |dispute: &Dispute| dispute.side_of(&self.me).is_some();
		locked(&self.journals).retain(|id, _| seen.disputes.get(id).is_some_and(own));
		let mut convicted: BTreeMap<Defendant, bool> = BTreeMap::new();
		let mut all = BTreeMap::new();
		for (id, dispute) in seen.disputes.iter().filter(|(_, dispute)| own(dispute)) {
			let defendant = dispute.defendant;
			let is_convicted = match convicted.get(&defendant) {
				Some(known) => *known,
				None => court.is_convicted(&defendant).await?,
			};
			convicted.insert(defendant, is_convicted);
			let mut known = self.known(*id, dispute, now.height)?;
			known.convicted = is_convicted;
			// Its own turn is over by itself or by its move; the other side's may need a word, where
			// another dispute can have said what this one asks for.
			let is_waiting = dispute.stage.turn == Turn::Defender
				&& dispute.side_of(&self.me) == Some(Side::Challenger);
			let others = seen.disputes.values().filter(|other| other.defendant == defendant);
			if is_waiting && !known.convicted && others.count() > 1 {
				if let Some(Subject { case, result }) = subject(dispute) {
					let said = court.said(&defendant).await?;
					let game = Game { case: &case, result: &result, said: &said };
					let stage = game.advance(&dispute.stage);
					known.stands = stage.is_ok_and(|stage| stage != dispute.stage);
				}
			}
			all.insert(*id, (dispute.clone(), known));
		}
		let plan = plan::plan(&self.me, &now, &all);
		self.warn(&plan.warnings, &now);
		let metrics = self.report.metrics();
		metrics.clock(plan.least);
		metrics.disputes(all.values().filter_map(|(dispute, _)| dispute.side_of(&self.me)));
		Ok(Looked { seen, plan })
	}

	/// Returns what the journal of a dispute knows.
	fn known(&self, id: DisputeId, dispute: &Dispute, height: u32) -> Result<Known, StoreError> {
		self.with_journal(id, dispute, height, |journal| {
			Ok(Known { clock: journal.clock(), sent: journal.sent(), ..Known::default() })
		})
	}

	fn with_journal<T>(
		&self,
		id: DisputeId,
		dispute: &Dispute,
		height: u32,
		work: impl FnOnce(&mut Journal) -> Result<T, StoreError>,
	) -> Result<T, StoreError> {
		use std::collections::btree_map::Entry;
		match locked(&self.journals).entry(id) {
			Entry::Occupied(mut found) => work(found.get_mut()),
			Entry::Vacant(free) => {
				// Whoever has not moved yet has its whole clock.
				let clock = dispute.clocks.challenger.max(dispute.clocks.defender);
				let job = dispute.defendant.job();
				work(free.insert(Journal::open(&self.folder, id, job, clock, height)?))
			}
		}
	}

	/// Warns of each clock at a half and at a quarter, once for each; shows the least in the metrics.
	fn warn(&self, warnings: &[Warning], now: &Since) {
		for warning in warnings {
			let Step { id, side, due } = warning.step;
			let key = (id, due, warning.urgency, side == Side::Defender);
			if locked(&self.warned).insert(key, ()).is_none() {
				let fields = json!({
					"account": self.me,
					"dispute": id,
					"side": side,
					"due": due.word(),
					"left": warning.left,
					"height": now.height,
				});
				self.webhook.warn("clock_runs", &warning.text(), fields);
			}
		}
	}

	/// Computes the move of a step, writes it down, and sends it. `open` gets the files that it is
	/// computed from, on a thread of its own: that may take long.
	pub async fn carry_out<C: Courtroom>(
		&self,
		court: &C,
		step: Step,
		open: impl FnOnce() -> Result<Matter, PartyError> + Send + 'static,
	) -> Result<Done, StepError> {
		let (_, Some(dispute)) = court.dispute(step.id).await? else { return Ok(Done::Overtaken) };
		let said = court.said(&dispute.defendant).await?;
		let (machine, role) = &self.machine;
		let (need, what) = (Need::by(Class::Clock, 0), format!("a move in dispute {}", step.id));
		let lease = machine.lease(role, &what, need, false).await;
		let computed = {
			let stage = dispute.stage;
			tokio::task::spawn_blocking(move || {
				let matter = open().map_err(MoveError::Party)?;
				Move::compute(&matter, &stage, &said, &step)
			})
		};
		let computed = computed.await;
		drop(lease);
		let it = match computed {
			Ok(Ok(it)) => it,
			Ok(Err(MoveError::NotDue)) => return Ok(Done::Overtaken),
			Ok(Err(error)) => return Err(error.into()),
			Err(e) => return Err(StepError::Stopped(e.to_string())),
		};
		// It may have taken hours: what is not asked for any more is not sent.
		let (now, found) = court.dispute(step.id).await?;
		if found.is_none_or(|found| found.stage != dispute.stage) {
			return Ok(Done::Overtaken);
		}
		let written = it.written(step.id, &dispute, now.height);
		let (name, place, bytes) = (it.name(), written.place.clone(), written.bytes);
		let parts = self.with_journal(step.id, &dispute, now.height, |it| it.write(written))?;
		let job = dispute.defendant.job();
		if parts {
			let text = format!(
				"dispute {}: another move was computed for the same place before. This machine \
				 computes wrong: check its memory",
				step.id
			);
			self.report.job(job, "problem", &text, json!({ "dispute": step.id }));
		}
		match court.send(step.id, &it).await {
			Ok(()) => {
				let text = format!("dispute {}: {name} is on chain", step.id);
				let fields =
					json!({ "dispute": step.id, "call": name, "place": place, "bytes": bytes });
				self.report.job(job, "moved", &text, fields);
				Ok(Done::Moved)
			}
			Err(error) => match Refusal::of(&error) {
				Some(Refusal::Overtaken | Refusal::Over) => Ok(Done::Overtaken),
				refusal => {
					let advice = refusal.map_or("", Refusal::advice);
					Err(StepError::Sending { error, advice })
				}
			},
		}
	}
}

impl Due {
	/// Returns a word for programs.
	pub fn word(self) -> &'static str {
		match self {
			Due::Say => "say",
			Due::Answer => "answer",
			Due::Judge => "judge",
			Due::Poke => "poke",
		}
	}
}
