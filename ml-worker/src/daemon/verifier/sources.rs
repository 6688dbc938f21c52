//! Fetching what an audit reads, from whoever has it.

use super::{round::Round, Verifier};
use crate::{
	bundle::{
		self, archive,
		manifest::{self, Manifest},
		Bundle,
	},
	chain::{blobs, JobView},
	daemon::fetch::{FetchError, Fetcher, Wanted},
	data,
	engine::Data,
	verify,
};
use anyhow::Context;
use std::{
	collections::BTreeSet,
	path::Path,
	sync::Arc,
	time::{Duration, Instant},
};
use tracing::{debug, info};
use trainyard_primitives::{job::WorkResult, spec::JobSpec, H256};

/// Where a result can be had.
pub(super) enum Source<'a> {
	/// A trainer's server, by its base URL.
	Served(&'a str),
	/// A rescue archive on chain, by its root.
	Rescued(H256),
}

impl std::fmt::Display for Source<'_> {
	fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
		match self {
			Source::Served(base) => write!(f, "{base}"),
			Source::Rescued(root) => write!(f, "the rescue {root:?} on chain"),
		}
	}
}

/// Base URLs of the trainers that revealed this result.
pub(super) fn servers(job: &JobView, result: &WorkResult) -> Vec<String> {
	let urls: BTreeSet<String> = job
		.replicas
		.iter()
		.filter_map(|replica| replica.reveal.as_ref())
		.filter(|reveal| reveal.result() == *result)
		.map(|reveal| reveal.location.to_string_lossy().trim_end_matches('/').to_owned())
		.collect();
	urls.into_iter().collect()
}

/// Where the files of a bundle are served.
pub(super) fn bundle_url(server: &str, result: &WorkResult) -> String {
	format!("{server}/bundle/{}", hex::encode(result.bundle_root))
}

/// The time of one of `waiting` sources that are still to be asked until `give_up`.
pub(super) fn share(give_up: Instant, waiting: usize) -> Duration {
	let left = give_up.saturating_duration_since(Instant::now());
	let waiting = u32::try_from(waiting.max(1)).unwrap_or(u32::MAX);
	(left / waiting).max(Duration::from_secs(1))
}

/// Where the data are asked for: the trainer that serves the result, then the submitter.
fn data_urls(source: &Source<'_>, location: &str, content_hash: H256) -> Vec<String> {
	let served = match source {
		Source::Served(base) => Some(format!("{base}/blob/{}", hex::encode(content_hash))),
		Source::Rescued(_) => None,
	};
	served.into_iter().chain([location.to_owned()]).collect()
}

/// Checkpoint files beyond `needed`, if all of a bundle's together have at most `limit`
/// bytes.
fn optional_files(spec: &JobSpec, needed: &[String], limit: u64) -> Vec<String> {
	let count = u64::from(spec.segments()).saturating_add(1);
	if bundle::max_checkpoint_bytes(spec).saturating_mul(count) > limit {
		return Vec::new();
	}
	(0..=spec.segments())
		.filter_map(|index| spec.checkpoint_step(index))
		.map(manifest::checkpoint_file)
		.filter(|file| !needed.contains(file))
		.collect()
}

/// Most bytes of a rescue archive.
fn rescue_limit(spec: &JobSpec, drawn: &[u32]) -> u64 {
	let states = verify::required_files_of(spec, drawn).len() as u64;
	bundle::max_checkpoint_bytes(spec)
		.saturating_mul(states)
		.saturating_add(spec.dataset.bytes)
		.saturating_add(manifest::MAX_BYTES)
		.saturating_add(1 << 20)
}

/// Whether `dir` holds this checkpoint file, and it is the state that the manifest there
/// lists.
pub(super) async fn has_state(dir: &Path, file: &str, limit: u64) -> bool {
	let Some(step) = manifest::step_of(file) else { return false };
	let dir = dir.to_owned();
	let read = move || Bundle::open(&dir).and_then(|bundle| bundle.checkpoint_within(step, limit));
	tokio::task::spawn_blocking(move || read().is_ok()).await.unwrap_or(false)
}

/// Whether `dir` holds the manifest of this root.
async fn has_manifest(dir: &Path, root: H256) -> bool {
	let dir = dir.to_owned();
	let read = move || Bundle::open(&dir).is_ok_and(|bundle| bundle.root() == root);
	tokio::task::spawn_blocking(read).await.unwrap_or(false)
}

/// One file of a bundle, whatever lies there already.
async fn fetch_file(
	fetcher: &Fetcher,
	base: &str,
	name: &str,
	dir: &Path,
	limit: u64,
) -> Result<(), FetchError> {
	let (url, path) = (format!("{base}/{name}"), dir.join(name));
	fetcher.fetch(&Wanted { url: &url, path: &path, limit, content_hash: None }).await
}

/// Brings the state in checkpoint file `name` into `dir`, where the manifest lies. What is
/// there already, and right, is not fetched again.
pub(super) async fn fetch_state(
	fetcher: &Fetcher,
	base: &str,
	name: &str,
	dir: &Path,
	limit: u64,
) -> Result<(), FetchError> {
	match has_state(dir, name, limit).await {
		true => Ok(()),
		false => fetch_file(fetcher, base, name, dir, limit).await,
	}
}

/// Brings manifest and checkpoint files `needed` of the bundle at `base`, whose root is
/// `root`, into `dir`. What is there already, and right, is not fetched again.
async fn fetch_bundle(
	fetcher: &Fetcher,
	base: &str,
	root: H256,
	needed: &[String],
	dir: &Path,
	limit: u64,
) -> anyhow::Result<()> {
	if !has_manifest(dir, root).await {
		fetch_file(fetcher, base, manifest::FILE, dir, manifest::MAX_BYTES).await?;
		let bytes = tokio::fs::read(dir.join(manifest::FILE)).await?;
		let manifest = Manifest::parse(&bytes)
			.map_err(|why| anyhow::anyhow!("{base}/{} cannot be read: {why}", manifest::FILE))?;
		anyhow::ensure!(
			manifest.computed_root() == root,
			"{base}/{} is not the manifest that was revealed",
			manifest::FILE
		);
	}
	for file in needed {
		fetch_state(fetcher, base, file, dir, limit).await?;
	}
	Ok(())
}

impl Verifier {
	/// Brings what an audit needs into `dir`, from one source, and reads the data. `share`
	/// is the time that it has.
	pub(super) async fn fetch(
		&self,
		round: &Round<'_>,
		result: &WorkResult,
		source: &Source<'_>,
		dir: &Path,
		share: Duration,
	) -> anyhow::Result<Arc<Data>> {
		let give_up = Instant::now() + share;
		let spec = &round.job.spec;
		match source {
			Source::Rescued(root) => self.fetch_rescue(round, *root, dir).await?,
			Source::Served(server) => {
				let base = bundle_url(server, result);
				let needed = verify::required_files_of(spec, &round.audit.drawn);
				let limit = bundle::max_checkpoint_bytes(spec);
				fetch_bundle(&self.fetcher, &base, result.bundle_root, &needed, dir, limit).await?;
			}
		}
		self.data(round, source, dir, give_up).await
	}

	/// Brings the checkpoints that no audit reads into `dir`, for the report. What is not to
	/// be had, or has more bytes than is wished for, is left out.
	pub(super) async fn fetch_others(&self, job: &JobView, result: &WorkResult, dir: &Path) {
		let limit = bundle::max_checkpoint_bytes(&job.spec);
		for server in servers(job, result) {
			let base = bundle_url(&server, result);
			for file in optional_files(&job.spec, &[], self.max_rules) {
				if let Err(e) = fetch_state(&self.fetcher, &base, &file, dir, limit).await {
					debug!("{e}");
					break;
				}
			}
		}
	}

	async fn fetch_rescue(&self, round: &Round<'_>, root: H256, dir: &Path) -> anyhow::Result<()> {
		let limit = rescue_limit(&round.job.spec, &round.audit.drawn);
		let bytes = blobs::load(&self.chain, root, limit).await.context("the rescue")?;
		info!("job {}: rescued states read from the chain, {} bytes", round.job.id, bytes.len());
		let dir = dir.to_owned();
		tokio::task::spawn_blocking(move || archive::unpack(&bytes, &dir, limit))
			.await?
			.context("the rescue")?;
		Ok(())
	}

	/// The job's data: from the cache, a rescue, the trainer, or the submitter's location,
	/// which is the only one that nobody has a deposit for.
	async fn data(
		&self,
		round: &Round<'_>,
		source: &Source<'_>,
		dir: &Path,
		give_up: Instant,
	) -> anyhow::Result<Arc<Data>> {
		if let Ok(data) = self.read_data(round, dir).await {
			return Ok(data);
		}
		let dataset = &round.job.spec.dataset;
		let urls = data_urls(source, &dataset.location.to_string_lossy(), dataset.content_hash);
		// Not into the cache: who waits for the same file would wait for a slow server.
		let path = dir.join(bundle::DATASET_FILE);
		let mut problem = None;
		for (asked, url) in urls.iter().enumerate() {
			let wanted = Wanted {
				url,
				path: &path,
				limit: dataset.bytes,
				content_hash: Some(dataset.content_hash),
			};
			let share = share(give_up, urls.len() - asked);
			match tokio::time::timeout(share, self.fetcher.fetch(&wanted)).await {
				Ok(Ok(())) => return self.read_data(round, dir).await.context("data"),
				Ok(Err(e)) => problem = Some(e.to_string()),
				Err(_) => problem = Some(format!("{url} is too slow")),
			}
		}
		anyhow::bail!("the data cannot be had: {}", problem.unwrap_or_default())
	}

	/// The job's data, as they lie here: in memory, in the cache, or in the folder of a
	/// result, from where they go into the cache.
	async fn read_data(&self, round: &Round<'_>, dir: &Path) -> anyhow::Result<Arc<Data>> {
		let mut kept = round.data.lock().await;
		if let Some(data) = kept.as_ref() {
			return Ok(data.clone());
		}
		let dataset = &round.job.spec.dataset;
		let (cached, own) = (self.home.data(&dataset.content_hash), dir.join(bundle::DATASET_FILE));
		// Anything else than the data has another hash and is not loaded.
		if let Ok(data) = load(&cached, dataset).await {
			return Ok(kept.insert(data).clone());
		}
		let data = load(&own, dataset).await?;
		if let Err(e) = keep(&own, &cached).await {
			debug!("{} stays where it is: {e}", own.display());
		}
		Ok(kept.insert(data).clone())
	}
}

/// Loads data, checked by their hash.
async fn load(
	path: &Path,
	dataset: &trainyard_primitives::spec::Dataset,
) -> anyhow::Result<Arc<Data>> {
	let (path, dataset) = (path.to_owned(), dataset.clone());
	let loaded = tokio::task::spawn_blocking(move || data::load(&path, None, &dataset)).await??;
	Ok(Arc::new(loaded))
}

/// Moves a file.
async fn keep(from: &Path, to: &Path) -> std::io::Result<()> {
	if let Some(folder) = to.parent() {
		tokio::fs::create_dir_all(folder).await?;
	}
	tokio::fs::rename(from, to).await
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{
		daemon::{
			fetch::Locations,
			http::{Server, Shelf},
		},
		testing,
	};

	#[test]
	fn the_report_asks_for_all_checkpoints_only_where_they_are_small() {
		let spec = JobSpec::example();
		let needed = verify::required_files_of(&spec, &[3, 4]);
		let all = optional_files(&spec, &needed, u64::MAX);
		assert_eq!(all.len() + needed.len(), spec.segments() as usize + 1);
		assert!(all.iter().all(|file| bundle::servable(file) && !needed.contains(file)));
		assert!(optional_files(&spec, &needed, 1_000).is_empty());
		assert!(optional_files(&spec, &needed, 0).is_empty());
	}

	#[test]
	fn the_submitters_location_is_asked_last() {
		let hash = H256::repeat_byte(7);
		let urls = data_urls(&Source::Served("http://trainer"), "http://submitter/data", hash);
		let blob = format!("http://trainer/blob/{}", hex::encode(hash));
		assert_eq!(urls, [blob, "http://submitter/data".to_owned()]);
		let urls = data_urls(&Source::Rescued(hash), "http://submitter/data", hash);
		assert_eq!(urls, ["http://submitter/data"]);
	}

	#[test]
	fn no_source_takes_the_time_of_the_next() {
		let give_up = Instant::now() + Duration::from_secs(900);
		assert!(share(give_up, 3) <= Duration::from_secs(300));
		assert!(share(give_up, 1) > share(give_up, 3));
		assert_eq!(share(Instant::now(), 2), Duration::from_secs(1));
	}

	#[test]
	fn a_rescue_of_the_example_fits_its_limit() {
		let spec = JobSpec::example();
		let files = verify::rescue_files(&spec, &[0, 9]).len() as u64;
		let states = (files - 2) * bundle::max_checkpoint_bytes(&spec);
		assert!(rescue_limit(&spec, &[0, 9]) > states + spec.dataset.bytes);
	}

	#[tokio::test]
	async fn what_is_here_and_right_is_not_fetched_again() {
		let folder = tempfile::tempdir().unwrap();
		let table = testing::table(folder.path());
		let spec = testing::job(&table);
		let served = folder.path().join("served");
		let root = testing::train(&spec, &table, &served, false, None).unwrap().root();
		let shelf = Shelf::default();
		shelf.set([(root, served.clone())].into(), Default::default());
		let server = Server::start("127.0.0.1:0".parse().unwrap(), shelf).await.unwrap();
		let base = format!("http://{}/bundle/{}", server.address(), hex::encode(root));
		let fetcher = Fetcher::new(1, Duration::from_millis(10), Locations::Any).unwrap();
		let (dir, limit) = (folder.path().join("fetched"), bundle::max_checkpoint_bytes(&spec));
		let needed = verify::required_files_of(&spec, &[1, 4]);
		let again = || fetch_bundle(&fetcher, &base, root, &needed, &dir, limit);
		again().await.unwrap();
		for file in &needed {
			assert!(has_state(&dir, file, limit).await, "{file}");
		}
		// Nobody has these any more: whoever asks for them is refused.
		for file in needed.iter().map(String::as_str).chain([manifest::FILE]) {
			std::fs::rename(served.join(file), served.join(file).with_extension("away")).unwrap();
		}
		again().await.unwrap();
		// A wrong file is asked for.
		std::fs::write(dir.join(&needed[0]), b"wrong").unwrap();
		assert!(again().await.is_err());
		let away = served.join(&needed[0]).with_extension("away");
		std::fs::rename(away, served.join(&needed[0])).unwrap();
		again().await.unwrap();
		assert!(has_state(&dir, &needed[0], limit).await);
		std::fs::write(dir.join(manifest::FILE), b"{}").unwrap();
		assert!(again().await.is_err());
	}
}
