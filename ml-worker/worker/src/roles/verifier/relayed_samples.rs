//! Samples of all states in relays: what a seat fetches of them, keeps, and opens.
//!
//! The parts at the relay's places are asked for, checkpoint by checkpoint, and what came lies beside the manifest:
//! what was fetched before a kill is not fetched again.

use super::{relays::sources, Verifier};
use crate::roles::{
	checked,
	common::bundles::{fetch_bundle, has_manifest, states_url},
	openings::{Came, Place},
	tasks::{Outcome, TaskError},
};
use serde_json::json;
use std::path::Path;
use trainyard_client::{Head, JobView, RelayView};
use trainyard_program::{spec::CheckedSpec, thinning};
use trainyard_proof::{
	bundle::{
		self, files,
		manifest::checkpoint_file,
		openings::{self, Tensors},
		samples::Samples,
		Bundle,
	},
	verify::{
		movement::{Plan, Request},
		state_leaf,
	},
};
use trainyard_protocol::{
	job::WorkResult,
	relay::{self, ChunkOpening, SampleChunk},
	H256,
};

/// What is read of the checkpoints of a result.
struct Listed {
	plan: Plan,
	/// Index, steps and state hash of each that is kept.
	checkpoints: Vec<(u32, u32, H256)>,
}

impl Listed {
	/// Returns what the manifest in `dir` lists of this result, of which one state in `every` is kept, to be read at these
	/// places; `None` where there is no such manifest.
	fn of(
		dir: &Path,
		(spec, every): (&CheckedSpec, u32),
		result: &WorkResult,
		places: &H256,
	) -> Option<Self> {
		let listed = Bundle::open(dir).ok().filter(|bundle| bundle.root() == result.bundle_root)?;
		let listed = (0u32..).zip(&listed.manifest().checkpoints);
		let kept = listed.filter(|(at, _)| thinning::keeps(every, *at, result.segments));
		let checkpoints = kept.map(|(at, c)| (at, c.step, c.state_hash)).collect();
		Some(Self { plan: Plan::of_samples(spec, places), checkpoints })
	}

	/// Returns what to ask for, of one checkpoint after the other.
	fn requests(&self) -> impl Iterator<Item = Vec<Request>> + '_ {
		let kept = self.checkpoints.iter();
		kept.map(|(at, step, state)| self.plan.requests(*at, *step, *state))
	}
}

/// Returns whether the samples of a checkpoint are in `dir`, and right.
fn is_here(dir: &Path, requests: &[Request]) -> bool {
	let Some(step) = requests.first().map(|request| request.step) else { return true };
	let path = Samples::beside(&dir.join(checkpoint_file(step)));
	let Ok(Some(samples)) = Samples::load(&path) else { return false };
	let shows = |request: &Request| {
		let opening = samples.opening(&request.parts);
		opening.is_some_and(|opening| request.elements(&opening).is_ok())
	};
	requests.iter().all(shows)
}

/// Opens the chunk `number` of the samples of a result, which are in `dir` and were read at these places: of one state in
/// `every`, up to the one of number `last`.
pub(super) fn chunk_of_samples(
	dir: &Path,
	spec: &CheckedSpec,
	(every, last): (u32, u32),
	places: &H256,
	number: u64,
) -> Result<ChunkOpening, TaskError> {
	let lacks = || TaskError::failed("this chunk of the samples is not here");
	let SampleChunk { checkpoint, place } =
		relay::sample_chunk(spec, (every, last), places, number).ok_or_else(lacks)?;
	let leaf = state_leaf(dir, checkpoint).map_err(|e| TaskError::of(&e))?.ok_or_else(lacks)?;
	let file = dir.join(checkpoint_file(leaf.checkpoint.step));
	if file.is_file() {
		let opening = openings::relay_chunk(spec, &file, leaf, &place);
		return opening.map_err(|e| TaskError::of(&e))?.ok_or_else(lacks);
	}
	let samples = Samples::load(&Samples::beside(&file)).map_err(|e| TaskError::of(&e))?;
	let samples = samples.ok_or_else(lacks)?;
	let chunk = samples.chunk(&Tensors::of(spec), &place).ok_or_else(lacks)?;
	relay::open(spec, leaf, samples.contents(), place.tensor, chunk).ok_or_else(lacks)
}

impl Verifier {
	/// Brings the samples of a relay into `dir`, from whoever has them.
	pub(super) async fn fetch_relayed_samples(
		&self,
		job: &JobView,
		relay: &RelayView,
		dir: &Path,
		head: Head,
	) -> Outcome {
		let (spec, me) = (checked(job)?, self.sender.account());
		let audit = job.audit.as_ref();
		let group = audit.and_then(|audit| audit.groups.get(relay.group as usize));
		let result = group.ok_or_else(|| TaskError::failed("there is no such result"))?.result;
		let no_places =
			|| TaskError::failed("it is not drawn yet at which places samples are read");
		let places = relay.places.ok_or_else(no_places)?;
		let every = job.terms.keep_every;
		let here = {
			let (dir, spec) = (dir.to_owned(), spec.clone());
			let all = move || {
				let listed = Listed::of(&dir, (&spec, every), &result, &places);
				listed.is_some_and(|listed| listed.requests().all(|of| is_here(&dir, &of)))
			};
			tokio::task::spawn_blocking(all).await?
		};
		if here {
			return Ok(());
		}
		// What opens a chunk is as much again, at most.
		let _room = self.claim_for_relay(dir, relay.chunks.saturating_mul(2_048))?;
		let give_up = self.end_of_stage(relay, head);
		let mut why = String::from("nobody serves them");
		// Of other seats those that say that they have them: whoever stalls takes time of the others.
		let mut having = relay.clone();
		having.seats.retain(|seat| seat.says == Some(true) && !seat.lost);
		let from = sources(job, &having, &result, me);
		for (at, server) in from.iter().enumerate() {
			let share = super::sources::share(give_up, from.len() - at);
			let fetching = self.fetch_samples(server, (&spec, every), &result, &places, dir);
			match tokio::time::timeout(share, fetching).await {
				Ok(Ok(came)) => {
					let text = format!("samples that are relayed were fetched from {server}");
					let Came { answers, bytes } = came;
					let fields = json!({
						"relay": relay.id, "piece": relay.piece, "answers": answers, "bytes": bytes,
					});
					self.report.job(job.id, "relay_fetched", &text, fields);
					return Ok(());
				}
				Ok(Err(e)) => why = e.to_string(),
				Err(_) => why = format!("{server} is too slow"),
			}
		}
		Err(TaskError::failed(format!("samples that are relayed cannot be had yet: {why}")))
	}

	/// Brings the samples of a result from one server; those that are here are not fetched again.
	async fn fetch_samples(
		&self,
		server: &str,
		(spec, every): (&CheckedSpec, u32),
		result: &WorkResult,
		places: &H256,
		dir: &Path,
	) -> Result<Came, TaskError> {
		let limit = bundle::max_checkpoint_bytes(spec);
		if !has_manifest(dir, result.bundle_root).await {
			fetch_bundle(&self.fetcher, server, result, &[], dir, limit)
				.await
				.map_err(|e| TaskError::of(&e))?;
		}
		let (of, own, at) = (spec.clone(), *result, *places);
		let folder = dir.to_owned();
		let listed =
			tokio::task::spawn_blocking(move || Listed::of(&folder, (&of, every), &own, &at))
				.await?;
		let listed = listed.ok_or_else(|| TaskError::failed("the manifest is missing"))?;
		let base = Some(states_url(server, result));
		let place = Place { folder: dir.to_owned(), base, most_bytes: limit };
		let mut came = Came::default();
		for requests in listed.requests() {
			let Some(first) = requests.first() else { continue };
			let path = Samples::beside(&dir.join(checkpoint_file(first.step)));
			let (folder, asked) = (dir.to_owned(), requests.clone());
			if tokio::task::spawn_blocking(move || is_here(&folder, &asked)).await? {
				continue;
			}
			let mut samples = Samples::default();
			for request in &requests {
				let wrong = |why: String| {
					TaskError::failed(format!("checkpoint {}: {why}", request.checkpoint))
				};
				let opening = place.open(&self.fetcher, request, &mut came).await.map_err(wrong)?;
				request.elements(&opening).map_err(|(_, why)| wrong(why.to_string()))?;
				if !samples.add(&request.parts, opening) {
					return Err(wrong("its parts are of several states".into()));
				}
			}
			if let Some(folder) = path.parent() {
				files::create_private_folder(folder).map_err(|e| TaskError::of(&e))?;
			}
			samples.save(&path).map_err(|e| TaskError::of(&e))?;
		}
		Ok(came)
	}
}
