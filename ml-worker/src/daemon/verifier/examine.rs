//! The verdict on one result: fetching it from whoever has it, and replaying it.

use super::Verifier;
use crate::{
	bundle::{
		self, archive,
		manifest::{self, Manifest},
	},
	chain::{blobs, AuditView, JobView},
	daemon::fetch::{FetchError, Wanted},
	data,
	engine::Data,
	verify::{self, AuditReport},
};
use anyhow::Context;
use serde_json::json;
use std::{
	collections::BTreeSet,
	path::Path,
	sync::Arc,
	time::{Duration, Instant},
};
use tracing::{debug, info};
use trainyard_primitives::{audit::GroupVerdict, job::WorkResult, spec::JobSpec, H256};

/// Pause between two rounds over all sources of a bundle.
const PAUSE: Duration = Duration::from_secs(2);

impl Verifier {
	/// The verdict on one result. Whatever cannot be had in time is unavailable; an error is
	/// only what is wrong on this machine.
	pub(super) async fn examine(
		&self,
		job: &JobView,
		audit: &AuditView,
		index: usize,
		dir: &Path,
		give_up: Instant,
	) -> anyhow::Result<(GroupVerdict, Option<AuditReport>)> {
		let group = audit.groups.get(index).context("there is no such result")?;
		let seed = job.seed.context("the job has no seed")?;
		let sources = sources(job, &group.result);
		if job.spec.dataset.bytes > self.max_data {
			return Ok((GroupVerdict::Unavailable, None));
		}
		loop {
			let mut problems = Vec::new();
			let mut attempts: Vec<Source> = sources.iter().map(|url| Source::Served(url)).collect();
			attempts.extend(group.rescued.map(Source::Rescued));
			for source in attempts {
				let fetched = self.fetch(job, audit, &group.result, &source, dir, give_up).await;
				let data = match fetched {
					Ok(data) => data,
					Err(problem) => {
						problems.push(format!("{problem:#}"));
						continue;
					}
				};
				let (spec, expected) = (job.spec.clone(), group.result);
				let (dir, drawn) = (dir.to_owned(), audit.drawn.clone());
				let audited = tokio::task::spawn_blocking(move || {
					verify::audit(&dir, &spec, seed, data, expected, &drawn)
				});
				match audited.await?? {
					(GroupVerdict::Unavailable, report) => problems.push(report.summary),
					(verdict, report) => return Ok((verdict, Some(report))),
				}
			}
			if Instant::now() + PAUSE >= give_up {
				let text = format!("result {index} could not be had: {}", problems.join("; "));
				let fields = json!({ "result": index, "problems": problems });
				self.report.job(job.id, "unavailable", &text, fields);
				return Ok((GroupVerdict::Unavailable, None));
			}
			tokio::time::sleep(PAUSE).await;
		}
	}

	/// Brings what an audit needs into `dir`, from one source, and reads the data.
	async fn fetch(
		&self,
		job: &JobView,
		audit: &AuditView,
		result: &WorkResult,
		source: &Source<'_>,
		dir: &Path,
		give_up: Instant,
	) -> anyhow::Result<Arc<Data>> {
		match source {
			Source::Rescued(root) => self.fetch_rescue(job, audit, *root, dir).await?,
			Source::Served(base) => {
				let base = format!("{base}/bundle/{}", hex::encode(result.bundle_root));
				let left = give_up.saturating_duration_since(Instant::now());
				let fetching = self.fetch_bundle(job, audit, result, &base, dir);
				tokio::time::timeout(left.max(Duration::from_secs(1)), fetching)
					.await
					.with_context(|| format!("{base} is too slow"))??;
			}
		}
		self.data(job, source, dir).await
	}

	async fn fetch_bundle(
		&self,
		job: &JobView,
		audit: &AuditView,
		result: &WorkResult,
		base: &str,
		dir: &Path,
	) -> anyhow::Result<()> {
		let path = dir.join(manifest::FILE);
		self.file(base, manifest::FILE, &path, manifest::MAX_BYTES).await?;
		let bytes = tokio::fs::read(&path).await?;
		let manifest = Manifest::parse(&bytes)
			.map_err(|why| anyhow::anyhow!("{base}/{} cannot be read: {why}", manifest::FILE))?;
		anyhow::ensure!(
			manifest.computed_root() == result.bundle_root,
			"{base}/{} is not the manifest that was revealed",
			manifest::FILE
		);
		let limit = bundle::max_checkpoint_bytes(&job.spec);
		let needed = verify::required_files_of(&job.spec, &audit.drawn);
		for file in &needed {
			self.file(base, file, &dir.join(file), limit).await?;
		}
		// The other checkpoints serve the report only: what is not to be had is left out.
		for file in optional_files(&job.spec, &needed, self.max_rules) {
			let path = dir.join(&file);
			if tokio::fs::try_exists(&path).await.unwrap_or(false) {
				continue;
			}
			if let Err(e) = self.file(base, &file, &path, limit).await {
				debug!("{e}");
				break;
			}
		}
		Ok(())
	}

	/// One file of a bundle. What lies there from an earlier attempt is fetched again: it may
	/// have been wrong.
	async fn file(
		&self,
		base: &str,
		name: &str,
		path: &Path,
		limit: u64,
	) -> Result<(), FetchError> {
		let url = format!("{base}/{name}");
		self.fetcher.fetch(&Wanted { url: &url, path, limit, content_hash: None }).await
	}

	async fn fetch_rescue(
		&self,
		job: &JobView,
		audit: &AuditView,
		root: H256,
		dir: &Path,
	) -> anyhow::Result<()> {
		let limit = rescue_limit(&job.spec, &audit.drawn);
		let bytes = blobs::load(&self.chain, root, limit).await.context("the rescue")?;
		info!("job {}: rescued states read from the chain, {} bytes", job.id, bytes.len());
		let dir = dir.to_owned();
		tokio::task::spawn_blocking(move || archive::unpack(&bytes, &dir, limit))
			.await?
			.context("the rescue")?;
		Ok(())
	}

	/// The job's data: from the cache, the submitter's location, the trainer, or a rescue.
	async fn data(
		&self,
		job: &JobView,
		source: &Source<'_>,
		dir: &Path,
	) -> anyhow::Result<Arc<Data>> {
		let dataset = job.spec.dataset.clone();
		let cached = self.home.data(&dataset.content_hash);
		let mut urls = vec![dataset.location.to_string_lossy()];
		if let Source::Served(base) = source {
			urls.push(format!("{base}/blob/{}", hex::encode(dataset.content_hash)));
		}
		let mut path = None;
		let mut problem = None;
		for url in &urls {
			let wanted = Wanted {
				url,
				path: &cached,
				limit: dataset.bytes,
				content_hash: Some(dataset.content_hash),
			};
			match self.fetcher.fetch(&wanted).await {
				Ok(()) => {
					path = Some(cached.clone());
					break;
				}
				Err(e) => problem = Some(e),
			}
		}
		let rescued = dir.join(bundle::DATASET_FILE);
		let path = match (path, problem) {
			(Some(path), _) => path,
			(None, _) if matches!(source, Source::Rescued(_)) && rescued.is_file() => rescued,
			(None, problem) => anyhow::bail!(
				"the data cannot be had: {}",
				problem.map(|e| e.to_string()).unwrap_or_default()
			),
		};
		let data = tokio::task::spawn_blocking(move || data::load(&path, &dataset))
			.await?
			.context("data")?;
		Ok(Arc::new(data))
	}
}

/// Where a result can be had.
enum Source<'a> {
	/// A trainer's server, by its base URL.
	Served(&'a str),
	/// A rescue archive on chain, by its root.
	Rescued(H256),
}

/// Base URLs of the trainers that revealed this result.
fn sources(job: &JobView, result: &WorkResult) -> Vec<String> {
	let urls: BTreeSet<String> = job
		.replicas
		.iter()
		.filter_map(|replica| replica.reveal.as_ref())
		.filter(|reveal| reveal.result() == *result)
		.map(|reveal| reveal.location.to_string_lossy().trim_end_matches('/').to_owned())
		.collect();
	urls.into_iter().collect()
}

/// Checkpoints beyond `needed`, if all of them together have at most `limit` bytes.
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

#[cfg(test)]
mod tests {
	use super::*;

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
	fn a_rescue_of_the_example_fits_its_limit() {
		let spec = JobSpec::example();
		let files = verify::rescue_files(&spec, &[0, 9]).len() as u64;
		let states = (files - 2) * bundle::max_checkpoint_bytes(&spec);
		assert!(rescue_limit(&spec, &[0, 9]) > states + spec.dataset.bytes);
	}
}
