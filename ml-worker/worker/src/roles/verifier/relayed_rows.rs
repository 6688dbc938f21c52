//! All rows of a job in relays: what a seat fetches of them, decodes and opens.
//!
//! The files of the data lie in the folder of the relay, and the decoded rows beside them. What lies in the
//! cache goes when others need its room, and whoever said that it has the rows must open a chunk of them or
//! loses its stake. Files and rows that the cache has are linked from there.

use super::{
	relays::other_seats,
	sources::{file_url, share, time_for, Source},
	Verifier,
};
use crate::roles::{
	common::files::servers,
	fetch::{Content, Wanted},
	replay::Scale,
	store::Home,
	tasks::{Outcome, TaskError},
};
use serde_json::json;
use std::{
	path::Path,
	sync::atomic::AtomicBool,
	time::{Duration, Instant},
};
use tracing::debug;
use trainyard_client::{Head, JobView, RelayView};
use trainyard_program::spec::{CheckedSpec, FileRef, InputFile, JobSpec};
use trainyard_proof::{
	bundle::{self, files},
	court::rows_chunk,
	data::kept,
	inputs::{check_content, InputPaths},
};
use trainyard_protocol::relay::ChunkOpening;

/// Returns the specification of a job without its initial model, of which no row is made.
fn of_rows(job: &JobView) -> Result<CheckedSpec, TaskError> {
	let spec = JobSpec { initial_model: None, ..job.spec.clone() };
	Ok(spec.check()?)
}

/// Returns where the files and the rows are in the folder of a relay.
fn paths_in(dir: &Path, spec: &JobSpec) -> InputPaths {
	InputPaths::in_bundle(dir, spec).with_rows_in(dir, spec)
}

/// Takes a file over from the cache, if it is there.
fn take_over(cached: &Path, own: &Path) {
	if !cached.is_file() || own.exists() {
		return;
	}
	let copy = |_| std::fs::copy(cached, own).map(drop);
	if let Err(e) = std::fs::hard_link(cached, own).or_else(copy) {
		debug!("{} is not taken over: {e}", cached.display());
	}
}

/// Returns whether a file of the job is in the folder of a relay, and right; it is taken over from the cache.
fn has_file(home: &Home, dir: &Path, which: InputFile, file: &FileRef) -> bool {
	let own = dir.join(bundle::input_file(which));
	let is_right = || check_content(&own, which, file).is_ok();
	if is_right() {
		return true;
	}
	drop(std::fs::remove_file(&own));
	take_over(&home.data(&file.content_hash), &own);
	is_right()
}

/// Opens the chunk `number` of all rows of a job, which are in `dir`.
pub(super) fn chunk_of_rows(
	dir: &Path,
	job: &JobView,
	number: u64,
	stop: &AtomicBool,
) -> Result<ChunkOpening, TaskError> {
	let spec = of_rows(job)?;
	let path = dir.join(kept::name(&spec.dataset));
	let opening = rows_chunk(&spec, &path, number, stop).map_err(|e| TaskError::of(&e))?;
	opening.ok_or_else(|| TaskError::failed("the rows are not here, or have no such chunk"))
}

impl Verifier {
	/// Brings the data of a job into `dir`, from whoever has them, and decodes them there. They are here once
	/// their rows were found to be those that the specification names.
	pub(super) async fn fetch_relayed_rows(
		&self,
		job: &JobView,
		relay: &RelayView,
		dir: &Path,
		head: Head,
	) -> Outcome {
		let (spec, me) = (of_rows(job)?, self.sender.account());
		let bytes = spec.file_bytes();
		if bytes > self.max_data {
			return Err(TaskError::failed(format!(
				"the data of a relay have {bytes} bytes, more than are taken (--max-data-mib)"
			)));
		}
		let bytes = bytes.saturating_add(kept::length(&spec.dataset));
		let _room = self.claim_for_relay(dir, bytes)?;
		files::create_folder(dir).map_err(|e| TaskError::of(&e))?;
		let (trainers, seats) = (servers(job), other_seats(relay, me));
		// For the submitter's server nobody has a deposit.
		let sources: Vec<Source<'_>> = trainers
			.iter()
			.map(|url| Source::Served(url))
			.chain(seats.iter().map(|url| Source::Relayed(url)))
			.chain([Source::Submitter])
			.collect();
		let (give_up, all) = (self.end_of_stage(relay, head), spec.files().collect::<Vec<_>>());
		for (at, (which, file)) in all.iter().enumerate() {
			let until = Instant::now() + share(give_up, all.len() - at);
			let from = self.bring_file(&sources, dir, (*which, file), until).await?;
			if let Some(from) = from {
				let text = format!("a piece that is relayed was fetched from {from}");
				let fields = json!({ "relay": relay.id, "piece": relay.piece });
				self.report.job(job.id, "relay_fetched", &text, fields);
			}
		}
		let paths = paths_in(dir, &spec);
		if let (Some(cached), Some(own)) = (self.home.inputs(&spec).rows, paths.rows.clone()) {
			tokio::task::spawn_blocking(move || take_over(&cached, &own)).await?;
		}
		let (of, until) = (Scale(spec.spec().clone()), relay.until.unwrap_or(head.number));
		// Whoever stops this drops it, and the process ends.
		let never = AtomicBool::new(false);
		let decoded =
			self.replayers.decode(of, std::slice::from_ref(&paths), until, &never).await?;
		decoded.map_err(|why| TaskError::failed(format!("the data of a relay: {why}")))?;
		// Where there is no room for them, they are decoded all the same.
		match paths.rows.is_some_and(|path| path.is_file()) {
			true => Ok(()),
			false => Err(TaskError::failed("the decoded rows of a relay cannot be kept")),
		}
	}

	/// Brings a file of a job into `dir`, until `give_up`. Returns from where, unless it was here.
	async fn bring_file(
		&self,
		sources: &[Source<'_>],
		dir: &Path,
		(which, file): (InputFile, &FileRef),
		give_up: Instant,
	) -> Result<Option<String>, TaskError> {
		let (home, folder, known) = (self.home.clone(), dir.to_owned(), file.clone());
		let look = move || has_file(&home, &folder, which, &known);
		if tokio::task::spawn_blocking(look).await? {
			return Ok(None);
		}
		let path = dir.join(bundle::input_file(which));
		let content = Content::of(file);
		let (mut why, mut waiting) = (String::from("nobody serves it"), sources);
		while let Some((source, rest)) = waiting.split_first() {
			waiting = rest;
			let Some(url) = file_url(source, file) else { continue };
			let wanted = Wanted { url: &url, path: &path, content };
			let time: Duration = time_for(source, give_up, rest);
			match tokio::time::timeout(time, self.fetcher.fetch(&wanted)).await {
				Ok(Ok(())) => return Ok(Some(url)),
				Ok(Err(e)) => why = e.to_string(),
				Err(_) => why = format!("{url} is too slow"),
			}
		}
		let field = which.field();
		Err(TaskError::failed(format!(
			"a piece that is relayed cannot be had yet: the job's {field}: {why}"
		)))
	}
}
