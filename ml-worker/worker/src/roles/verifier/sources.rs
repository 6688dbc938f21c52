//! Fetches what an audit reads, from whichever source has it.

use super::{rescued::Stored, round::Round, Verifier};
pub(super) use crate::roles::common::bundles::{
	fetch_bundle, fetch_bundle_from, fetch_state, has_manifest, has_state, servers, states_url,
	SourceError,
};
pub(super) use crate::roles::common::rescues::places;
use crate::roles::{
	fetch::{Content, Fetcher, Wanted},
	replay::{ReplayError, Scale},
	store::Home,
};
use serde_json::json;
use std::{
	path::Path,
	sync::atomic::Ordering,
	time::{Duration, Instant},
};
use tracing::debug;
use trainyard_client::{GroupView, JobView};
use trainyard_program::spec::{CheckedSpec, FileRef, JobSpec};
use trainyard_proof::{
	bundle::{self, manifest},
	inputs::{check_content, InputPaths},
};
use trainyard_protocol::{blob, job::WorkResult};

/// One part in this many of the time for fetching stays for the servers of a rescued result.
const REST_FOR_SERVERS: u32 = 16;

/// A place where a result can be had.
pub(super) enum Source<'a> {
	/// The folder of the result, which has what came before.
	Here,
	/// A trainer's server, by its base URL.
	Served(&'a str),
	/// The server of another seat, by its base URL. It has what that seat could fetch.
	Relayed(&'a str),
	/// A piece that a trainer stored on chain.
	Rescued(Stored),
	/// The locations that the submitter names for the files of the job. They have nothing else.
	Submitter,
}

impl std::fmt::Display for Source<'_> {
	fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
		match self {
			Source::Here => write!(f, "what is here"),
			Source::Submitter => write!(f, "the submitter"),
			Source::Served(base) => write!(f, "{base}"),
			Source::Relayed(base) => write!(f, "another verifier, {base},"),
			Source::Rescued(stored) => write!(f, "{stored}"),
		}
	}
}

/// Returns the time of one of `waiting` sources that must still be asked until `give_up`.
pub(super) fn share(give_up: Instant, waiting: usize) -> Duration {
	let left = give_up.saturating_duration_since(Instant::now());
	let waiting = u32::try_from(waiting.max(1)).unwrap_or(u32::MAX);
	(left / waiting).max(Duration::from_secs(1))
}

/// Returns the time of a source, after which the `waiting` ones are asked until `give_up`. What is on
/// chain nobody can make slow but this machine's own node, so it gets all but a small rest. All other
/// seats together get as much as one trainer: a trainer that is slow leaves them, and the submitter,
/// their parts of the time.
pub(super) fn time_for(source: &Source<'_>, give_up: Instant, waiting: &[Source<'_>]) -> Duration {
	let relays = waiting.iter().filter(|source| matches!(source, Source::Relayed(_))).count();
	match source {
		Source::Served(_) => share(give_up, 1 + waiting.len() - relays + relays.min(1)),
		Source::Relayed(_) | Source::Submitter => share(give_up, 1 + waiting.len()),
		Source::Here | Source::Rescued(_) if waiting.is_empty() => share(give_up, 1),
		Source::Here | Source::Rescued(_) => {
			let left = give_up.saturating_duration_since(Instant::now());
			(left - left / REST_FOR_SERVERS).max(Duration::from_secs(1))
		}
	}
}

/// Returns where a source has a file that the job reads.
pub(super) fn file_url(source: &Source<'_>, file: &FileRef) -> Option<String> {
	match source {
		Source::Served(base) | Source::Relayed(base) => {
			Some(format!("{base}/blob/{}", hex::encode(file.content_hash)))
		}
		Source::Submitter => Some(file.location.to_string_lossy()),
		Source::Here | Source::Rescued(_) => None,
	}
}

/// Returns the checkpoint files beyond `needed` of a result with `trained` segments, if all
/// checkpoint files of its bundle together have at most `limit` bytes.
fn optional_files(spec: &CheckedSpec, trained: u32, needed: &[String], limit: u64) -> Vec<String> {
	let count = u64::from(trained).saturating_add(1);
	if bundle::max_checkpoint_bytes(spec).saturating_mul(count) > limit {
		return Vec::new();
	}
	(0..=trained)
		.filter_map(|index| spec.checkpoint_step(index))
		.map(manifest::checkpoint_file)
		.filter(|file| !needed.contains(file))
		.collect()
}

/// Brings the files that a job reads into `dir` from one source, if they are neither there nor in the
/// cache. They do not go into the cache, because others that wait for the same file would wait for a
/// slow server. What cannot be had keeps nobody from the rest; the first error is returned.
async fn fetch_inputs(
	fetcher: &Fetcher,
	home: &Home,
	spec: &JobSpec,
	source: &Source<'_>,
	dir: &Path,
	give_up: Instant,
) -> Result<(), SourceError> {
	let files: Vec<_> = spec.files().collect();
	let mut first = Ok(());
	for (at, (which, file)) in files.iter().enumerate() {
		let (which, file) = (*which, file.clone());
		let (cached, path) = (home.data(&file.content_hash), dir.join(bundle::input_file(which)));
		let known = file.clone();
		let here = move || check_content(&cached, which, &known).is_ok();
		if tokio::task::spawn_blocking(here).await? {
			continue;
		}
		let Some(url) = file_url(source, &file) else { continue };
		let content = Content::of(&file);
		let wanted = Wanted { url: &url, path: &path, content };
		// The files after this one need their time too.
		let share = share(give_up, files.len() - at);
		let problem = match tokio::time::timeout(share, fetcher.fetch(&wanted)).await {
			Ok(Ok(())) => continue,
			Ok(Err(e)) => e.to_string(),
			Err(_) => format!("{url} is too slow"),
		};
		first = first.and(Err(SourceError::NoInput { field: which.field(), problem }));
	}
	first
}

impl Verifier {
	/// Brings what the audit of a result needs into `dir`, from one source, and reads the
	/// files of the job. `share` is the time that it has.
	pub(super) async fn fetch(
		&self,
		round: &Round<'_>,
		index: usize,
		source: &Source<'_>,
		dir: &Path,
		share: Duration,
	) -> Result<InputPaths, SourceError> {
		let give_up = Instant::now() + share;
		let nothing = || SourceError::Lacking(format!("result {index}"));
		let group = round.audit.groups.get(index).ok_or_else(nothing)?;
		let (spec, result) = (&round.spec, &group.result);
		let needed = round.needed(index);
		let states = match source {
			Source::Here | Source::Submitter => self.has_states(round, group, &needed, dir).await,
			Source::Rescued(stored) => {
				let read = self.fetch_rescue(round, (index, group), stored, dir).await;
				let here = self.has_states(round, group, &needed, dir).await;
				here.map_err(|missing| read.err().unwrap_or(missing))
			}
			Source::Served(server) | Source::Relayed(server) => {
				let limit = bundle::max_checkpoint_bytes(spec);
				let all = servers(round.job, result);
				fetch_bundle_from(&self.fetcher, server, &all, result, &needed, dir, limit).await
			}
		};
		// Where states are missing, the files of the job are brought all the same: others may have
		// the states, and not these.
		if states.is_ok() {
			match self.decode_inputs(round, dir).await {
				Err(SourceError::Data(_)) if file_url(source, &spec.dataset.file()).is_some() => {}
				decoded => return decoded,
			}
		}
		let known = round.inputs.lock().await.is_some();
		let inputs = match known {
			true => Ok(()),
			false => fetch_inputs(&self.fetcher, &self.home, spec, source, dir, give_up).await,
		};
		states?;
		inputs?;
		self.decode_inputs(round, dir).await
	}

	/// Fails if the manifest or one of the `needed` checkpoint files of a result is missing in `dir`.
	async fn has_states(
		&self,
		round: &Round<'_>,
		group: &GroupView,
		needed: &[String],
		dir: &Path,
	) -> Result<(), SourceError> {
		if !has_manifest(dir, group.result.bundle_root).await {
			return Err(SourceError::Lacking(manifest::FILE.to_owned()));
		}
		let limit = bundle::max_checkpoint_bytes(&round.spec);
		for file in needed {
			if !has_state(dir, file, limit).await {
				return Err(SourceError::Lacking(file.clone()));
			}
		}
		Ok(())
	}

	/// Brings checkpoint files that an audit asks for while it looks where a standstill began. All that
	/// such a search reads share the time that is left. What was rescued is there already.
	pub(super) async fn fetch_searched(
		&self,
		round: &Round<'_>,
		group: &GroupView,
		source: &Source<'_>,
		dir: &Path,
		files: &[String],
	) -> Result<(), String> {
		let (Source::Served(server) | Source::Relayed(server)) = source else {
			return Err(format!("{source} lacks {}", files.join(", ")));
		};
		let base = states_url(server, &group.result);
		let limit = bundle::max_checkpoint_bytes(&round.spec);
		let waiting = blob::searched_states(group.result.segments) as usize;
		for file in files {
			let time = share(round.give_up_searched, waiting);
			let fetching = fetch_state(&self.fetcher, &base, file, dir, limit);
			match tokio::time::timeout(time, fetching).await {
				Ok(fetched) => fetched.map_err(|e| e.to_string())?,
				Err(_) => return Err(format!("{base}/{file} is too slow")),
			}
		}
		Ok(())
	}

	/// Brings the checkpoints that no audit reads into `dir`, for the report. Checkpoints that
	/// cannot be had, or have more bytes than wanted, are left out.
	pub(super) async fn fetch_others(
		&self,
		job: &JobView,
		spec: &CheckedSpec,
		result: &WorkResult,
		dir: &Path,
	) {
		// Nobody computes states again for figures that decide nothing.
		if job.terms.keep_every > 1 {
			return;
		}
		let limit = bundle::max_checkpoint_bytes(spec);
		for server in servers(job, result) {
			let base = states_url(&server, result);
			for file in optional_files(spec, result.segments, &[], self.max_rules) {
				if let Err(e) = fetch_state(&self.fetcher, &base, &file, dir, limit).await {
					debug!("{e}");
					break;
				}
			}
		}
	}

	/// Decodes the data of the job in a process, once in a round. Returns where its files are: in the
	/// cache, or in the folder of a result, from where they go into the cache.
	async fn decode_inputs(
		&self,
		round: &Round<'_>,
		dir: &Path,
	) -> Result<InputPaths, SourceError> {
		let mut kept = round.inputs.lock().await;
		if let Some(inputs) = kept.as_ref() {
			return Ok(inputs.clone());
		}
		if round.cannot_decode() {
			return Err(SourceError::CannotDecode);
		}
		let spec = &round.spec;
		let places = places(&self.home, spec, dir);
		// Where this takes longer than there is time for, nobody waits for it any more. Any file
		// that is not the job's has a different hash and is not read.
		let of = Scale(spec.spec().clone());
		let decoded = self.replayers.decode(of, &places, round.until, &round.stop).await;
		if let Err(ReplayError::Died(how)) = &decoded {
			round.deaths.fetch_add(1, Ordering::Relaxed);
			let fields = json!({ "action": "decode", "reason": how });
			self.report.job(round.job.id, "failed_attempt", &format!("the data: {how}"), fields);
		}
		let found = decoded?.map_err(SourceError::Data)?;
		let [cached, own, _] = places;
		let mut here = found.clone();
		for (which, _) in spec.files() {
			let (found, own, cached) = (found.get(which), own.get(which), cached.get(which));
			let (true, Some(own), Some(cached)) = (found == own, own, cached) else { continue };
			match keep(own, cached).await {
				Ok(()) => here.put(which, cached.to_owned()),
				// The rows that it holds may be here without it.
				Err(e) => debug!("{} stays where it is: {e}", own.display()),
			}
		}
		Ok(kept.insert(here).clone())
	}
}

/// Moves a file.
async fn keep(from: &Path, to: &Path) -> std::io::Result<()> {
	if let Some(folder) = to.parent() {
		tokio::fs::create_dir_all(folder).await?;
	}
	tokio::fs::rename(from, to).await
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
