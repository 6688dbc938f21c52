//! Stores a file on chain as fast as blocks take it, from several accounts, through kills, other
//! uploaders and reorganisations.
//!
//! Nothing is written down on the way. At each block the chain says which chunks it lacks, and the
//! node which nonces of each sender wait in its pool; what is neither stored nor on its way is sent.
//! So a chunk whose transaction was dropped, or whose block was given up, is sent again unasked until
//! all are in a final block. A chunk is paid once, whatever happens: the pool takes one transaction
//! for each nonce, and a chunk that is stored is in no block a second time.

mod board;
mod plan;

pub use board::Source;

use super::BlobError;
use crate::{calls, BlobView, Chain, ChainError, Head, Refusal, Transactor, TxError};
use board::{registration, Board, Desk, Look};
use futures::{stream, StreamExt};
use plan::{Plan, Turn};
use std::{
	collections::BTreeSet,
	sync::Arc,
	time::{Duration, Instant},
};
use tracing::debug;
use trainyard_protocol::{blob, job::Balance, retention, H256};

/// `InvalidTransaction::Custom` of a chunk that is stored already, in `pallet-model-storage`.
const CHUNK_STORED: u8 = 102;
/// The same of a chunk that the other blob does not have any more.
const NOT_KEPT: u8 = 107;

/// Longest wait for transactions of an earlier run before a file is registered, in times of
/// [`Settings::grace`]: a minute.
const LONGEST_WAIT: u32 = 15;

/// How a file is stored.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
	/// Bytes of chunks that are on their way at once, at least one chunk.
	pub window: u64,
	/// Which chunk is sent first. Uploaders of one file that begin at different chunks hardly ever
	/// send the same one.
	pub begin: u32,
	/// For how many blocks from its completion on the blob is kept; a month where that is not said.
	pub period: Option<u32>,
	/// Root of the blob that it descends from, as the chain is told where the blob is registered.
	pub parent: Option<H256>,
	/// Whether storing ends with the final block, and not with the best one, that has the last chunk.
	pub until_final: bool,
	/// Time without progress after which storing is given up.
	pub patience: Duration,
	/// Time between two looks at the chain.
	pub pause: Duration,
	/// How long the pool may not yet show a transaction that was sent.
	pub grace: Duration,
}

impl Default for Settings {
	fn default() -> Self {
		Self {
			window: 12 << 20,
			begin: 0,
			period: None,
			parent: None,
			until_final: true,
			patience: Duration::from_secs(900),
			pause: Duration::from_millis(300),
			grace: Duration::from_secs(4),
		}
	}
}

/// What happens while a file is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
	/// The blob is being registered.
	Registering,
	/// What stands in its place is being removed.
	Removing,
	/// Transactions of an earlier run wait in the pool; they are waited for.
	Waiting,
	/// At this block so many chunks are stored.
	Stored {
		/// The block.
		height: u32,
		/// Chunks.
		chunks: u32,
		/// Their bytes.
		bytes: u64,
		/// Chunks on their way.
		under_way: usize,
	},
	/// All chunks are stored; the block is not final yet.
	Finalizing,
	/// Blocks that had so many stored chunks are not on the chain any more.
	Reorganised {
		/// Chunks that are missing again.
		chunks: u32,
	},
	/// A sender has no money left, and sends no more.
	Poor {
		/// Which.
		sender: usize,
		/// The node's words.
		reason: String,
	},
	/// Something did not work and is tried again.
	Trouble(String),
}

/// What storing a file came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
	/// Root of the blob.
	pub root: H256,
	/// Chunks that were stored when it began.
	pub before: u32,
	/// Transactions that the pool took.
	pub sent: u32,
	/// Of these, chunks that were taken over from another blob.
	pub reused: u32,
	/// Of those sent, chunks that were sent before.
	pub again: u32,
	/// First and last height that was looked at while chunks were missing.
	pub heights: (u32, u32),
}

/// What storing a file costs now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
	/// What is held of the owner and returns when the blob is removed.
	pub deposit: Balance,
	/// What is held of the owner for the time of the blob, and burned as it passes.
	pub rent: Balance,
	/// Fees of all transactions that are still needed.
	pub fees: Balance,
}

/// Returns deposit and rent of a blob of `size` bytes that is kept for this `period`.
async fn held(
	chain: &Chain,
	size: u64,
	period: Option<u32>,
) -> Result<(Balance, Balance), ChainError> {
	let constant = async |name: &str| -> Result<Balance, ChainError> {
		let value = chain.constant("ModelStorage", name).await?;
		value.ok_or_else(|| ChainError::Unreadable {
			method: format!("ModelStorage.{name}"),
			reason: "the runtime has no such constant".into(),
		})
	};
	let bytes = constant("DepositPerByte").await?.saturating_mul(size.into());
	let deposit = constant("DepositBase").await?.saturating_add(bytes);
	let blocks = match period {
		Some(period) => period,
		None => u32::try_from(constant("Retention").await?).unwrap_or(u32::MAX),
	};
	Ok((deposit, retention::rent(constant("RentPerKib").await?, size, blocks)))
}

/// Returns what it would cost to store a new blob of `size` bytes whose content is not known yet, and to keep it for a
/// month.
///
/// # Errors
///
/// As of [`cost`].
pub async fn cost_of(sender: &Transactor, size: u64) -> Result<Cost, BlobError> {
	let (deposit, rent) = held(sender.chain(), size, None).await?;
	let form = sender.form().await?;
	let bytes = vec![0; blob::chunk_size_at(size, 0).unwrap_or_default() as usize];
	let chunks = blob::chunk_count(size).unwrap_or(u32::MAX);
	let proof = vec![H256::zero(); chunks.checked_ilog2().unwrap_or_default() as usize + 1];
	let upload = calls::upload_chunk(&H256::zero(), 0, &proof, &bytes);
	let each = sender.fee(&form, &upload).await?;
	Ok(Cost { deposit, rent, fees: each.saturating_mul(Balance::from(chunks).saturating_add(1)) })
}

/// Returns what it would cost to store the blob of this outline, of which `missing` chunks are not on
/// chain, and to keep it for this `period`. Fees are those of the present blocks; they rise where blocks are full.
///
/// # Errors
///
/// Fails where the node cannot be asked, or its runtime is too different.
pub async fn cost(
	sender: &Transactor,
	source: &Source,
	view: Option<&BlobView>,
	period: Option<u32>,
	parent: Option<H256>,
) -> Result<Cost, BlobError> {
	let (chain, outline) = (sender.chain(), source.outline());
	let missing = view.map_or_else(|| (0..outline.chunks()).collect(), |view| view.missing.clone());
	let same = source.same();
	let (light, heavy): (Vec<u32>, Vec<u32>) =
		missing.into_iter().partition(|index| same.contains(index));
	let form = sender.form().await?;
	let mut cost = Cost { deposit: 0, rent: 0, fees: 0 };
	if view.is_none() {
		(cost.deposit, cost.rent) = held(chain, outline.size(), period).await?;
		cost.fees = sender.fee(&form, &registration(outline, period, parent)).await?;
	}
	let mut add = |count: usize, fee: Balance| {
		let fees = fee.saturating_mul(count as Balance);
		cost.fees = cost.fees.saturating_add(fees);
	};
	if let Some(index) = light.first() {
		let proof = outline.proof(*index).unwrap_or_default();
		let reuse = calls::reuse_chunk(&outline.root(), *index, &H256::zero(), &proof);
		add(light.len(), sender.fee(&form, &reuse).await?);
	}
	if !heavy.is_empty() {
		let bytes = vec![0; blob::chunk_size_at(outline.size(), 0).unwrap_or_default() as usize];
		let proof = outline.proof(0).unwrap_or_default();
		let upload = calls::upload_chunk(&outline.root(), 0, &proof, &bytes);
		add(heavy.len(), sender.fee(&form, &upload).await?);
	}
	Ok(cost)
}

/// Stores the blob of `source` on chain. The first of the `senders` registers it and holds its
/// deposit, all of them send chunks. They must be of one chain, and at least one. `told` hears what
/// happens. It may be dropped, or killed, at any time, and called again.
///
/// # Errors
///
/// Fails where the deposit or fees cannot be paid, where the file changes, and where nothing was
/// stored for as long as the settings say.
pub async fn upload(
	senders: &[Arc<Transactor>],
	source: &Source,
	settings: Settings,
	told: impl FnMut(Progress),
) -> Result<Report, BlobError> {
	upload_to(&Desk::new(senders, source, settings.period, settings.parent), source, settings, told)
		.await
}

/// When something moved last, and why nothing does.
struct Patience {
	limit: Duration,
	since: Instant,
	trouble: Option<BlobError>,
}

impl Patience {
	fn moved(&mut self) {
		self.since = Instant::now();
		self.trouble = None;
	}

	/// Notes what does not work. Fails with it if nothing has for too long.
	fn bear(&mut self, error: impl Into<BlobError>) -> Result<(), BlobError> {
		let error = error.into();
		if self.since.elapsed() >= self.limit {
			return Err(error);
		}
		self.trouble = Some(error);
		Ok(())
	}

	/// Fails if nothing moved for too long, with what did not work, or `otherwise`.
	fn check(&mut self, otherwise: impl FnOnce() -> BlobError) -> Result<(), BlobError> {
		match self.since.elapsed() >= self.limit {
			true => Err(self.trouble.take().unwrap_or_else(otherwise)),
			false => Ok(()),
		}
	}
}

async fn upload_to<B: Board>(
	board: &B,
	source: &Source,
	settings: Settings,
	mut told: impl FnMut(Progress),
) -> Result<Report, BlobError> {
	let outline = source.outline();
	let (root, size, all) = (outline.root(), outline.size(), outline.chunks());
	let mut plan = Plan::new(outline, settings, source.same());
	let mut report = Report { root, before: 0, sent: 0, reused: 0, again: 0, heights: (0, 0) };
	let mut patience = Patience { limit: settings.patience, since: Instant::now(), trouble: None };
	let mut known: Option<u32> = None;
	let mut seen: Option<Head> = None;
	let mut registrations = 0;
	let mut waiting: Option<Instant> = None;
	loop {
		let look = match board.look().await {
			Ok(look) => look,
			Err(error) if !error.is_final() => {
				told(Progress::Trouble(error.to_string()));
				patience.bear(error)?;
				tokio::time::sleep(settings.pause * 4).await;
				continue;
			}
			Err(error) => return Err(error.into()),
		};
		let is_new = seen != Some(look.head);
		seen = Some(look.head);
		let missing = match &look.blob {
			None => {
				// What an earlier run sent may register it yet, and would make this one fail for a fee.
				// Who sends other things all the time does not wait for ever.
				let since = *waiting.get_or_insert_with(Instant::now);
				let is_long = since.elapsed() > settings.grace * LONGEST_WAIT;
				if !is_long && look.accounts.first().is_some_and(|first| first.next > first.used) {
					told(Progress::Waiting);
					tokio::time::sleep(settings.pause * 2).await;
					continue;
				}
				told(Progress::Registering);
				registrations += 1;
				step(board.register().await, registrations, &mut patience, &mut told)?;
				tokio::time::sleep(settings.pause).await;
				continue;
			}
			Some(view) if view.removing => {
				told(Progress::Removing);
				step(board.remove().await, 0, &mut patience, &mut told)?;
				tokio::time::sleep(settings.pause).await;
				continue;
			}
			Some(view) => view.missing.iter().copied().collect::<BTreeSet<u32>>(),
		};
		(registrations, waiting) = (0, None);
		let lacking = u32::try_from(missing.len()).unwrap_or(u32::MAX);
		let stored = all.saturating_sub(lacking);
		match known {
			None => report.before = stored,
			Some(before) if stored < before => {
				told(Progress::Reorganised { chunks: before - stored });
			}
			Some(_) => {}
		}
		if known != Some(stored) {
			patience.moved();
		}
		if lacking > 0 || known.is_some_and(|before| before < all) {
			let height = look.head.number;
			let first = if report.heights.0 == 0 { height } else { report.heights.0 };
			report.heights = (first, height);
		}
		if is_new || known != Some(stored) {
			let bytes = missing.iter().filter_map(|index| blob::chunk_size_at(size, *index));
			let left: u64 = bytes.map(u64::from).sum();
			let under_way = plan.under_way(&look, &missing);
			let bytes = size.saturating_sub(left);
			let height = look.head.number;
			told(Progress::Stored { height, chunks: stored, bytes, under_way });
		}
		known = Some(stored);
		if missing.is_empty() {
			match settings.until_final {
				false => return Ok(report),
				true => match board.is_final().await {
					Ok(true) => return Ok(report),
					Ok(false) => told(Progress::Finalizing),
					Err(error) if !error.is_final() => patience.bear(error)?,
					Err(error) => return Err(error.into()),
				},
			}
			patience.check(|| stuck(root, 0, all))?;
			tokio::time::sleep(settings.pause * 2).await;
			continue;
		}
		patience.check(|| stuck(root, lacking, all))?;
		let turns = plan.turns(&look, &missing);
		if plan.all_poor(look.accounts.len()) {
			return Err(patience.trouble.take().unwrap_or_else(|| stuck(root, lacking, all)));
		}
		send(board, source, turns, &mut plan, &mut report, &mut patience, &mut told).await?;
		tokio::time::sleep(settings.pause).await;
	}
}

/// Looks at what became of a call beside the chunks, which is sent once at a time. An error that says
/// why it cannot work ends storing at the second try; anything else is tried again.
fn step(
	sent: Result<(), TxError>,
	tries: u32,
	patience: &mut Patience,
	told: &mut impl FnMut(Progress),
) -> Result<(), BlobError> {
	let Err(error) = sent else {
		patience.moved();
		return Ok(());
	};
	// Somebody with the same file may have been faster, and then the next look says so.
	if tries > 1 && !error.is_uncertain() {
		return Err(error.into());
	}
	told(Progress::Trouble(error.to_string()));
	patience.bear(error)
}

fn stuck(root: H256, missing: u32, chunks: u32) -> BlobError {
	BlobError::Incomplete { root, missing: missing as usize, chunks }
}

/// Sends what is planned: one sender beside the other, each in the order of its nonces.
async fn send<B: Board>(
	board: &B,
	source: &Source,
	turns: Vec<Turn>,
	plan: &mut Plan,
	report: &mut Report,
	patience: &mut Patience,
	told: &mut impl FnMut(Progress),
) -> Result<(), BlobError> {
	let count = turns.len().max(1);
	let light = plan.light().clone();
	let light = &light;
	let mut rounds = stream::iter(turns)
		.map(|turn| one_turn(board, source, turn, light))
		.buffer_unordered(count);
	while let Some((sender, done, ended)) = rounds.next().await {
		for (index, nonce) in done {
			report.sent += 1;
			report.reused += u32::from(light.contains(&index));
			report.again += u32::from(plan.sent(sender, index, nonce));
		}
		match ended {
			Ok(()) => {}
			Err(Stop::Local(error)) => return Err(error),
			Err(Stop::Refused { index, nonce, refusal }) => match refusal {
				// Of a chunk that was lost the record is there, too, and only bytes bring it back.
				Refusal::Custom(CHUNK_STORED) => {
					plan.is_stored(index);
					plan.is_heavy(index);
				}
				Refusal::Custom(NOT_KEPT) => plan.is_heavy(index),
				// The next look says what the chain has, and which nonces are free.
				Refusal::NonceTaken => plan.taken(sender, nonce),
				Refusal::NonceUsed | Refusal::Custom(_) => {}
				Refusal::PoolFull => plan.rest(sender),
				Refusal::Poor(reason) => {
					patience.trouble = Some(BlobError::Poor { reason: reason.clone() });
					plan.is_poor(sender);
					told(Progress::Poor { sender, reason });
				}
				Refusal::Other(error) => {
					debug!("chunk {index}: {error}");
					told(Progress::Trouble(error.to_string()));
					plan.rest(sender);
					patience.bear(error)?;
				}
			},
		}
	}
	Ok(())
}

/// Why a sender sends no more of its turn.
enum Stop {
	Local(BlobError),
	Refused { index: u32, nonce: u64, refusal: Refusal },
}

/// Sends chunks of one sender, until one is refused. Returns which the pool took, with their nonces.
async fn one_turn<B: Board>(
	board: &B,
	source: &Source,
	turn: Turn,
	light: &BTreeSet<u32>,
) -> (usize, Vec<(u32, u64)>, Result<(), Stop>) {
	let Turn { sender, nonce: first, chunks } = turn;
	let mut done = Vec::new();
	for (nonce, index) in (first..).zip(chunks) {
		let parcel = match source.parcel(index, light.contains(&index)).await {
			Ok(parcel) => parcel,
			Err(error) => return (sender, done, Err(Stop::Local(error))),
		};
		let proof = source.outline().proof(index).unwrap_or_default();
		match board.send(sender, nonce, index, &proof, &parcel).await {
			Ok(()) => done.push((index, nonce)),
			Err(refusal) => {
				return (sender, done, Err(Stop::Refused { index, nonce, refusal }));
			}
		}
	}
	(sender, done, Ok(()))
}

#[cfg(test)]
#[path = "uploading_tests.rs"]
mod tests;
