//! Keeps what the chain retains, and says what this node lacks of it.
//!
//! After each block that becomes final, once in [`PAUSE`] at most, the keeper looks at [`PAGE`] chunks of
//! the chain's list, in turn, and at the last ones, which are the newest. It fetches what is missing from
//! peers. A node that prunes bodies copies each chunk to a file before that. Where two whole rounds did
//! not meet a chunk it is retained no more, and its file goes.

use super::{
	fetch,
	store::{ChunkStore, Indexed},
};
use crate::{
	client::FullClient,
	metrics::{gauge, Gauge64},
};
use futures::{stream, StreamExt};
use log::{debug, info, warn};
use sc_client_api::BlockchainEvents;
use sc_network::{service::traits::NetworkService, ProtocolName};
use sc_network_sync::SyncingService;
use serde::Serialize;
use sp_api::ProvideRuntimeApi;
use sp_blockchain::HeaderBackend;
use sp_consensus::SyncOracle;
use sp_core::H256;
use std::{
	collections::BTreeSet,
	sync::{Arc, Mutex, PoisonError},
	time::{Duration, Instant},
};
use substrate_prometheus_endpoint::{PrometheusError, Registry};
use trainyard_protocol::retention::{RetainedChunk, RetentionView};
use trainyard_runtime::{api::TrainyardApi, opaque::Block};

/// Least time between two looks.
const PAUSE: Duration = Duration::from_secs(3);
/// Chunks of one look.
const PAGE: u32 = 1_000;
/// Chunks that are fetched in one look at most.
const FETCHED: usize = 64;
/// Of these so many at once.
const AT_ONCE: usize = 4;
/// Bytes that are copied to files in one look at most.
const COPIED: usize = 64 << 20;
/// Time after which a node that lacks chunks says so again.
const AGAIN: Duration = Duration::from_secs(600);

/// What this node has of what the chain retains, as of the last whole round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
	/// Whether a whole round was made since the node started.
	pub looked: bool,
	/// Chunks that the chain retains.
	pub retained: u32,
	/// Chunks that an author could not show, and nobody since.
	pub doubted: u32,
	/// Chunks that are lost: nobody showed them for a day.
	pub lost: u32,
	/// Of those retained or doubted, how many this node has.
	pub held: u32,
	/// How many it lacks.
	pub missing: u32,
	/// Bytes of these.
	pub missing_bytes: u64,
	/// Chunks that this node has fetched from others since it started.
	pub fetched: u64,
	/// Whether this node prunes the bodies of blocks, and so keeps chunks as files of their own.
	pub prunes: bool,
	/// What that means and what to do.
	pub advice: String,
}

/// What others read of the keeper.
pub type Shared = Arc<Mutex<Status>>;

/// The metrics.
pub struct Metrics {
	retained: Gauge64,
	doubted: Gauge64,
	lost: Gauge64,
	held: Gauge64,
	missing: Gauge64,
}

impl Metrics {
	/// Registers all of them; they are 0 until the first whole round.
	pub fn register(r: &Registry) -> Result<Self, PrometheusError> {
		Ok(Self {
			retained: gauge(
				r,
				"trainyard_storage_chunks_retained",
				"Chunks that the chain retains",
			)?,
			doubted: gauge(
				r,
				"trainyard_storage_chunks_doubted",
				"Chunks that an author could not show, and nobody since",
			)?,
			lost: gauge(r, "trainyard_storage_chunks_lost", "Chunks that are lost")?,
			held: gauge(
				r,
				"trainyard_storage_chunks_held",
				"Retained or doubted chunks that this node has",
			)?,
			missing: gauge(
				r,
				"trainyard_storage_chunks_missing",
				"Retained or doubted chunks that this node lacks",
			)?,
		})
	}

	fn set(&self, status: &Status) {
		self.retained.set(status.retained.into());
		self.doubted.set(status.doubted.into());
		self.lost.set(status.lost.into());
		self.held.set(status.held.into());
		self.missing.set(status.missing.into());
	}
}

/// How a round through the list stands.
#[derive(Default)]
pub struct Round {
	/// The place of the next look.
	next: u32,
	/// What was met, and of that what is here.
	met: BTreeSet<H256>,
	held: u32,
	missing: u32,
	missing_bytes: u64,
	/// What was met in the round before.
	before: Option<BTreeSet<H256>>,
}

impl Round {
	/// Notes a chunk. Returns whether it is missing, the first time.
	pub fn note<D: Indexed>(&mut self, store: &ChunkStore<D>, chunk: &RetainedChunk) -> bool {
		if !self.met.insert(chunk.hash) {
			return false;
		}
		let here = store.has(&chunk.hash);
		if here {
			self.held += 1;
		} else {
			self.missing += 1;
			self.missing_bytes += u64::from(chunk.length);
		}
		!here
	}

	/// Notes that a chunk that was missing is here.
	pub fn came(&mut self, chunk: &RetainedChunk) {
		self.held += 1;
		self.missing = self.missing.saturating_sub(1);
		self.missing_bytes = self.missing_bytes.saturating_sub(u64::from(chunk.length));
	}

	/// Ends the round. Returns the files that neither it nor the one before has met.
	pub fn end<D: Indexed>(&mut self, store: &ChunkStore<D>) -> Vec<H256> {
		let met = std::mem::take(&mut self.met);
		let gone = self.before.as_ref().map_or_else(Vec::new, |before| {
			let files = store.files().unwrap_or_default();
			files.into_iter().filter(|hash| !met.contains(hash) && !before.contains(hash)).collect()
		});
		*self = Self { before: Some(met), ..Self::default() };
		gone
	}
}

/// Returns what a node in this state should do.
pub fn advice(status: &Status, peers: usize) -> String {
	if !status.looked {
		return "this node has not looked yet at what it has: it looks once it is in step with the \
		        chain"
			.into();
	}
	if status.missing == 0 {
		return "this node has every chunk that the chain retains".into();
	}
	let cause = match status.prunes {
		true => "it pruned them before they were copied, lost their files, or came by warp sync",
		false => "it came by warp sync, or its database lost them",
	};
	format!(
		"this node lacks {} chunks ({} bytes) of {}: {cause}. Blocks that ask for them have no reward. It \
		 fetches them from its {peers} peers while they have them; if that does not help, connect it to \
		 nodes that have them (--reserved-nodes), or let whoever has the file upload it again once a \
		 chunk is lost",
		status.missing,
		status.missing_bytes,
		status.retained + status.doubted,
	)
}

/// What the keeper works with.
pub struct Keeper {
	/// The client.
	pub client: Arc<FullClient>,
	/// Whether the node is in step with the chain, and who its peers are.
	pub sync: Arc<SyncingService<Block>>,
	/// The network.
	pub network: Arc<dyn NetworkService>,
	/// The name of the protocol by which peers are asked.
	pub protocol: ProtocolName,
	/// Where chunks are.
	pub store: Arc<ChunkStore<FullClient>>,
	/// Whether bodies of blocks are pruned.
	pub prunes: bool,
	/// What others read.
	pub shared: Shared,
	/// The metrics, if anybody asks for them.
	pub metrics: Option<Metrics>,
}

impl Keeper {
	/// Runs for as long as the node does.
	pub async fn run(self) {
		let mut blocks = self.client.finality_notification_stream();
		let (mut round, mut next) = (Round::default(), Instant::now());
		let mut told: Option<Instant> = None;
		self.share(|status| status.prunes = self.prunes);
		while blocks.next().await.is_some() {
			if Instant::now() < next || self.sync.is_major_syncing() {
				continue;
			}
			match self.look(&mut round).await {
				Ok(Some(status)) => self.tell(&status, &mut told),
				Ok(None) => {}
				Err(error) => debug!("cannot look at what the chain retains: {error}"),
			}
			next = Instant::now() + PAUSE;
		}
	}

	fn share(&self, change: impl FnOnce(&mut Status)) -> Status {
		let mut status = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
		change(&mut status);
		status.clone()
	}

	/// Looks at a part of the list. Returns how the node stands where a round ended with it.
	async fn look(&self, round: &mut Round) -> Result<Option<Status>, String> {
		let (best, api) = (self.client.info().best_hash, self.client.runtime_api());
		let failed = |e: sp_api::ApiError| e.to_string();
		let view: RetentionView = api.retention(best).map_err(failed)?;
		let page = api.retained_chunks(best, round.next, PAGE).map_err(failed)?;
		let ends = round.next.saturating_add(PAGE) >= view.chunks;
		let mut chunks = page;
		if !ends {
			// The newest of them may be pruned before the round comes to them.
			let newest = view.chunks.saturating_sub(PAGE);
			chunks.extend(api.retained_chunks(best, newest, PAGE).map_err(failed)?);
		}
		for (root, index, _) in &view.doubted {
			let hash = api.chunk_hash(best, *root, *index).map_err(failed)?;
			let blob = api.blob(best, *root).map_err(failed)?;
			let length =
				blob.and_then(|blob| trainyard_protocol::blob::chunk_size_at(blob.size, *index));
			if let (Some(hash), Some(length)) = (hash, length) {
				chunks.push(RetainedChunk { root: *root, index: *index, hash, length });
			}
		}
		let missing: Vec<RetainedChunk> =
			chunks.iter().filter(|chunk| round.note(&self.store, chunk)).cloned().collect();
		if self.prunes {
			self.copy(&chunks);
		}
		let fetched = self.fetch(&missing, round).await;
		round.next = round.next.saturating_add(PAGE);
		if !ends {
			self.share(|status| status.fetched += fetched);
			return Ok(None);
		}
		let peers = self.sync.peers_info().await.map_or(0, |peers| peers.len());
		let status = self.share(|status| {
			status.looked = true;
			(status.retained, status.lost) = (view.chunks, view.lost);
			status.doubted = view.doubted.len() as u32;
			(status.held, status.missing) = (round.held, round.missing);
			status.missing_bytes = round.missing_bytes;
			status.fetched += fetched;
			status.advice = advice(status, peers);
		});
		for hash in round.end(&self.store) {
			debug!("chunk {hash:?} is retained no more");
			if let Err(error) = self.store.drop_file(&hash) {
				warn!(
					"cannot remove chunk {hash:?} from {}: {error}",
					self.store.folder().display()
				);
			}
		}
		Ok(Some(status))
	}

	/// Copies chunks that are in the database alone to files.
	fn copy(&self, chunks: &[RetainedChunk]) {
		let mut copied = 0;
		for chunk in chunks.iter().filter(|chunk| !self.store.has_file(&chunk.hash)) {
			let Some(bytes) = self.store.get(&chunk.hash) else { continue };
			if let Err(error) = self.store.keep(&chunk.hash, &bytes) {
				let folder = self.store.folder().display();
				warn!("cannot keep chunk {:?} in {folder}: {error}", chunk.hash);
				return;
			}
			copied += bytes.len();
			if copied >= COPIED {
				return;
			}
		}
	}

	/// Fetches some of the missing chunks from peers. Returns how many came.
	async fn fetch(&self, missing: &[RetainedChunk], round: &mut Round) -> u64 {
		let peers = self.sync.peers_info().await.unwrap_or_default();
		let peers: Vec<_> = peers.into_iter().map(|(peer, _)| peer).collect();
		if missing.is_empty() || peers.is_empty() {
			return 0;
		}
		let peers = &peers;
		let one = |(turn, chunk): (usize, RetainedChunk)| async move {
			let bytes =
				fetch::fetch(&self.network, &self.protocol, peers, turn, &chunk.hash).await?;
			match self.store.keep(&chunk.hash, &bytes) {
				Ok(()) => Some(chunk),
				Err(error) => {
					let folder = self.store.folder().display();
					warn!("cannot keep chunk {:?} in {folder}: {error}", chunk.hash);
					None
				}
			}
		};
		let wanted = missing.iter().take(FETCHED).cloned().enumerate();
		let coming = stream::iter(wanted).map(one).buffer_unordered(AT_ONCE);
		let came: Vec<RetainedChunk> = coming.filter_map(futures::future::ready).collect().await;
		came.iter().for_each(|chunk| round.came(chunk));
		came.len() as u64
	}

	/// Says how the node stands, where it lacks something, or lacks nothing any more.
	fn tell(&self, status: &Status, told: &mut Option<Instant>) {
		if let Some(metrics) = &self.metrics {
			metrics.set(status);
		}
		if status.missing == 0 {
			if told.take().is_some() {
				info!("{}", status.advice);
			}
		} else if told.is_none_or(|at| at.elapsed() >= AGAIN) {
			warn!("{}", status.advice);
			*told = Some(Instant::now());
		}
	}
}
