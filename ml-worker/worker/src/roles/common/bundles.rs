//! Bundles of others: where they are served, and bringing them here.

use crate::roles::{
	fetch::{self, Content, FetchError, Fetcher, Wanted},
	replay::ReplayError,
};
use std::{collections::BTreeSet, path::Path, time::Duration};
use tokio::task::JoinError;
use tracing::debug;
use trainyard_client::{blobs::BlobError, ChainError, JobView, RelayView};
use trainyard_proof::{
	bundle::{
		files::FileError,
		manifest::{self, Manifest},
		Bundle,
	},
	data::DataError,
};
use trainyard_protocol::{job::WorkResult, pieces::Piece, H256};

/// Pause before a server is asked again that computes a state.
const LATER: Duration = Duration::from_secs(5);

/// Says why a source does not give what an audit needs.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
	/// A file that the job reads is nowhere.
	#[error("the job's {field} cannot be had: {problem}")]
	NoInput {
		/// Its field in the specification.
		field: &'static str,
		/// What the last place said.
		problem: String,
	},
	/// The manifest cannot be understood.
	#[error("{base}/{} cannot be read: {why}", manifest::FILE)]
	Manifest {
		/// The URL of the bundle.
		base: String,
		/// What is wrong.
		why: String,
	},
	/// The manifest is of a different bundle.
	#[error("{base}/{} is not the manifest that was revealed", manifest::FILE)]
	OtherManifest {
		/// The URL of the bundle.
		base: String,
	},
	/// A file of the bundle is not here yet.
	#[error("{0} is missing")]
	Lacking(String),
	/// A download failed.
	#[error(transparent)]
	Fetch(#[from] FetchError),
	/// A file that was fetched cannot be read.
	#[error(transparent)]
	Read(#[from] std::io::Error),
	/// The rescue cannot be read from the chain.
	#[error("the rescue")]
	Rescue(#[source] BlobError),
	/// What the chain keeps cannot be read.
	#[error("the chain")]
	Chain(#[from] ChainError),
	/// What was stored is not what it should be.
	#[error("{0}")]
	Garbage(String),
	/// A file cannot be read or written.
	#[error(transparent)]
	File(#[from] FileError),
	/// Rows that were stored cannot be kept.
	#[error(transparent)]
	Rows(#[from] DataError),
	/// The files that the job reads are not here, or hold something else.
	#[error("data: {0}")]
	Data(String),
	/// The process that decodes the data gave no answer.
	#[error("data: {0}")]
	Decoding(#[from] ReplayError),
	/// The process that decodes the data died before, so that it is not tried again.
	#[error("the data cannot be decoded on this machine")]
	CannotDecode,
	/// A thread that read files ended unexpectedly.
	#[error(transparent)]
	Ended(#[from] JoinError),
}

/// Returns the base URLs of the trainers that revealed this result, first of those whose bundle it is: the
/// others have the same states.
pub fn servers(job: &JobView, result: &WorkResult) -> Vec<String> {
	let of = |own: bool| {
		let reveals = job.replicas.iter().filter_map(|replica| replica.reveal.as_ref());
		let urls: BTreeSet<String> = reveals
			.filter(|reveal| reveal.result().common() == result.common())
			.filter(|reveal| (reveal.bundle_root == result.bundle_root) == own)
			.filter_map(|reveal| fetch::server(&reveal.location.to_string_lossy()))
			.collect();
		urls
	};
	let (own, others) = (of(true), of(false));
	let others: Vec<String> = others.difference(&own).cloned().collect();
	own.into_iter().chain(others).collect()
}

/// Returns the base URLs of those seats of these relays that showed that they have a state of this result
/// which is too large for the chain, or the data: these are those of all results of the job.
pub fn relayed(job: &JobView, result: &WorkResult, relays: &[RelayView]) -> Vec<String> {
	let groups = job.audit.as_ref().map(|audit| &audit.groups[..]).unwrap_or_default();
	let is_of_use = |relay: &&RelayView| {
		let group = groups.get(relay.group as usize);
		matches!(relay.piece, Piece::Rows { .. })
			|| group.is_some_and(|group| group.result.common() == result.common())
	};
	let urls: BTreeSet<String> = relays.iter().filter(is_of_use).flat_map(having).collect();
	urls.into_iter().collect()
}

/// Returns the base URLs of the seats of a relay that showed that they have its piece.
pub fn having(relay: &RelayView) -> Vec<String> {
	let shown = relay.seats.iter().filter(|seat| seat.shown && !seat.lost);
	let locations = shown.filter_map(|seat| seat.location.as_ref());
	locations.filter_map(|location| fetch::server(&location.to_string_lossy())).collect()
}

/// Returns the URL at which the states of a result are served, and openings of them: by the root that all
/// its trainers have in common.
pub fn states_url(server: &str, result: &WorkResult) -> String {
	format!("{server}/bundle/{}", hex::encode(result.true_root))
}

/// Returns the URL at which the manifest of a bundle is served: each trainer has one of its own.
fn manifest_url(server: &str, result: &WorkResult) -> String {
	format!("{server}/bundle/{}", hex::encode(result.bundle_root))
}

/// Returns whether `dir` holds this checkpoint file, and it is the state that the manifest there
/// lists.
pub async fn has_state(dir: &Path, file: &str, limit: u64) -> bool {
	let Some(step) = manifest::step_of(file) else { return false };
	let dir = dir.to_owned();
	let read = move || Bundle::open(&dir).and_then(|bundle| bundle.checkpoint_within(step, limit));
	tokio::task::spawn_blocking(move || read().is_ok()).await.unwrap_or(false)
}

/// Returns whether `dir` holds the manifest of this root.
pub async fn has_manifest(dir: &Path, root: H256) -> bool {
	let dir = dir.to_owned();
	let read = move || Bundle::open(&dir).is_ok_and(|bundle| bundle.root() == root);
	tokio::task::spawn_blocking(read).await.unwrap_or(false)
}

/// Returns the state in this checkpoint file by the manifest in `dir`, if it lists the file.
async fn listed_state(dir: &Path, file: &str) -> Option<H256> {
	let (step, dir) = (manifest::step_of(file)?, dir.to_owned());
	let read = move || {
		let bundle = Bundle::open(&dir).ok()?;
		let listed = bundle.manifest().checkpoints.iter().find(|c| c.step == step)?;
		Some(listed.state_hash)
	};
	tokio::task::spawn_blocking(read).await.ok().flatten()
}

/// Fetches one file of a bundle.
async fn fetch_file(
	fetcher: &Fetcher,
	base: &str,
	name: &str,
	others: &[String],
	dir: &Path,
	content: Content,
) -> Result<(), FetchError> {
	let (url, path) = (format!("{base}/{name}"), dir.join(name));
	let others: Vec<String> = others.iter().map(|base| format!("{base}/{name}")).collect();
	fetcher.fetch_from(&Wanted { url: &url, path: &path, content }, &others).await
}

/// Brings the state in checkpoint file `name` into `dir`, where the manifest is. What is there
/// already, and right, is not fetched again; of a transfer that broke off only the rest is. Where the server
/// computes the state again for a seat it is asked until it has it: the caller has to stop waiting.
pub async fn fetch_state(
	fetcher: &Fetcher,
	base: &str,
	name: &str,
	dir: &Path,
	limit: u64,
) -> Result<(), FetchError> {
	fetch_state_from(fetcher, base, &[], name, dir, limit).await
}

/// Does what [`fetch_state`] does with a state that is at these `others`, too.
async fn fetch_state_from(
	fetcher: &Fetcher,
	base: &str,
	others: &[String],
	name: &str,
	dir: &Path,
	limit: u64,
) -> Result<(), FetchError> {
	if has_state(dir, name, limit).await {
		return Ok(());
	}
	let content = match listed_state(dir, name).await {
		Some(hash) => Content::State { hash, limit },
		None => Content::Any { limit },
	};
	loop {
		match fetch_file(fetcher, base, name, others, dir, content.clone()).await {
			Err(e) if e.is_later() && fetcher.is_seat() => {
				debug!("{e}");
				tokio::time::sleep(LATER).await;
			}
			fetched => return fetched,
		}
	}
}

/// Brings manifest and checkpoint files `needed` of the bundle of this result from a server into `dir`. What
/// is there already, and right, is not fetched again. A file that the server does not have, or has wrong,
/// keeps nobody from the others; the first error is returned.
pub async fn fetch_bundle(
	fetcher: &Fetcher,
	server: &str,
	result: &WorkResult,
	needed: &[String],
	dir: &Path,
	limit: u64,
) -> Result<(), SourceError> {
	fetch_bundle_from(fetcher, server, &[], result, needed, dir, limit).await
}

/// Does what [`fetch_bundle`] does with states that these `others` have, too: they are brought from all of
/// them at once that are endpoints of iroh.
pub async fn fetch_bundle_from(
	fetcher: &Fetcher,
	server: &str,
	others: &[String],
	result: &WorkResult,
	needed: &[String],
	dir: &Path,
	limit: u64,
) -> Result<(), SourceError> {
	if !has_manifest(dir, result.bundle_root).await {
		let base = manifest_url(server, result);
		let content = Content::Any { limit: manifest::MAX_BYTES };
		fetch_file(fetcher, &base, manifest::FILE, &[], dir, content).await?;
		let bytes = tokio::fs::read(dir.join(manifest::FILE)).await?;
		let manifest = Manifest::parse(&bytes)
			.map_err(|why| SourceError::Manifest { base: base.clone(), why })?;
		if manifest.computed_root() != result.bundle_root {
			return Err(SourceError::OtherManifest { base });
		}
	}
	let (base, mut first) = (states_url(server, result), Ok(()));
	let others = others.iter().filter(|other| *other != server);
	let others: Vec<String> = others.map(|other| states_url(other, result)).collect();
	for file in needed {
		match fetch_state_from(fetcher, &base, &others, file, dir, limit).await {
			Ok(()) => {}
			// It is away.
			Err(e @ FetchError::NoAnswer { .. }) => return first.and(Err(e.into())),
			Err(e) => first = first.and(Err(e.into())),
		}
	}
	first
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::{fake, AccountId32, RelaySeatView};
	use trainyard_protocol::{audit::AuditPhase, job::JobState, relay::RelayStage, Text};

	/// A relay of this piece of the first result, in which seat `n` showed it and another one did not.
	fn relay(piece: Piece, n: u8) -> RelayView {
		let seat = |n: u8, shown| RelaySeatView {
			who: AccountId32([n; 32]),
			says: Some(true),
			shown,
			lost: false,
			due: None,
			location: Text::new(&format!("http://203.0.113.{n}")),
		};
		RelayView {
			id: 7,
			job: 3,
			group: 0,
			piece,
			chunks: 9,
			places: None,
			by: AccountId32([9; 32]),
			fee: 5,
			stage: RelayStage::Held { until: 90 },
			until: Some(90),
			appealed: false,
			seats: vec![seat(n, true), seat(99, false)],
		}
	}

	/// Rows are those of all results; a state is that of one.
	#[test]
	fn seats_with_the_data_are_of_use_for_every_result() {
		let result = |n: u8| WorkResult {
			bundle_root: H256::repeat_byte(n),
			true_root: H256::repeat_byte(n),
			model_root: H256::zero(),
			segments: 3,
			diverged: false,
		};
		let groups = [1, 2].map(|n| fake::group(result(n))).to_vec();
		let audit = Some(fake::audit(AuditPhase::Standing { until: 90 }, groups));
		let job = JobView { audit, ..fake::job(JobState::Auditing) };
		let relays = [relay(Piece::State(2), 1), relay(Piece::Rows { from: 0, to: 9 }, 2)];
		let of = |n: u8| relayed(&job, &result(n), &relays);
		assert_eq!(of(1), ["http://203.0.113.1", "http://203.0.113.2"]);
		assert_eq!(of(2), ["http://203.0.113.2"]);
	}
}
