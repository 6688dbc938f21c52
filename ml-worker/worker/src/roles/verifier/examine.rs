//! Reaches the verdict on one result by itself: fetches it from whichever source has it, and
//! replays it.

use super::{
	parting::state_in,
	relay,
	rescued::{stored, was_read},
	round::Round,
	sources::{servers, time_for, Source},
	Verifier,
};
use crate::roles::{
	replay::{unexpected, Figures, JobOf, ReplayError, Reply, Work},
	tasks::{stopped, with_causes, TaskError},
};
use serde_json::json;
use std::{
	collections::BTreeSet,
	path::Path,
	time::{Duration, Instant},
};
use tracing::debug;
use trainyard_client::GroupView;
use trainyard_program::needs::Needs;
use trainyard_proof::{inputs::InputPaths, verify::Verdict};
use trainyard_protocol::{blob::searched_states, pieces::Piece};

/// How often the process that replays a result, or decodes the data of a round, may die.
pub(super) const DEATHS: u32 = 2;
/// Pause between two rounds over all sources.
pub(super) const PAUSE: Duration = Duration::from_secs(2);

/// Returns where a result is looked for, in order. The owner of what is on chain cannot make it slow,
/// so that is asked first. Other seats have what the trainers gave to them, or nothing yet. For the
/// submitter's server nobody has a deposit, so it is asked last, and for the files of the job only.
fn attempts<'a>(
	round: &Round<'_>,
	group: &GroupView,
	servers: &'a [String],
	relays: &'a [String],
) -> Vec<Source<'a>> {
	let rescued = stored(group, &round.spec).into_iter().map(Source::Rescued);
	let served = servers.iter().map(|url| Source::Served(url));
	let relayed = relays.iter().map(|url| Source::Relayed(url));
	// While they are decoded, they are here.
	let has_inputs = round.inputs.try_lock().is_ok_and(|inputs| inputs.is_some());
	let submitter = (!has_inputs).then_some(Source::Submitter);
	std::iter::once(Source::Here)
		.chain(rescued)
		.chain(served)
		.chain(relayed)
		.chain(submitter)
		.collect()
}

impl Verifier {
	/// Returns the verdict on one result. What cannot be had is asked for on chain, and a result that
	/// cannot be had after that is unavailable. A claim is withdrawn once nothing is lacking. Fails only
	/// if something is wrong on this machine, if the round was stopped, or if it is worth to wait for
	/// what was asked for.
	pub(super) async fn examine(
		&self,
		round: &Round<'_>,
		index: usize,
	) -> Result<(Verdict, Option<Figures>), TaskError> {
		let (job, seed) = (round.job, round.seed);
		let unknown = || TaskError::failed("there is no such result");
		let group = round.audit.groups.get(index).ok_or_else(unknown)?;
		let lot = round.lots.get(index).ok_or_else(unknown)?;
		let dir = round.folder_of(index);
		let servers = servers(job, &group.result);
		let mut relays = relay::others(round.audit, self.sender.account());
		if job.spec.file_bytes() > self.max_data || !self.has_memory(round, index) {
			return Ok((Verdict::Unavailable, None));
		}
		if !self.wait_for_room(round, group, index).await? {
			return Ok((Verdict::Unavailable, None));
		}
		let mut deaths = 0;
		loop {
			let mut problems = Vec::new();
			let (mut whole, mut wanted) = (false, BTreeSet::new());
			relays.extend(self.new_relays(round, group, &relays).await);
			let attempts = attempts(round, group, &servers, &relays);
			let mut waiting = attempts.as_slice();
			while let Some((source, rest)) = waiting.split_first() {
				waiting = rest;
				round.check()?;
				if let Source::Rescued(stored) = source {
					let revealed = group.result.bundle_root;
					let read = was_read(&self.home, &round.spec, &dir, revealed, stored).await;
					if read || (whole && wanted.is_empty()) {
						problems.extend(read.then(|| format!("{source} has no more")));
						continue;
					}
				}
				// The time covers bundle and data together, and no server takes the time of those
				// after it.
				let share = time_for(source, round.give_up, waiting);
				let inputs = match self.bring(round, index, source, &dir, share).await? {
					Ok(inputs) => inputs,
					Err(problem) => {
						problems.push(problem);
						continue;
					}
				};
				whole = true;
				if lot.waits_for_pick() {
					match self.pick(round, index, source, &dir, share).await? {
						Ok(()) => {}
						Err(problem) => {
							problems.push(problem);
							continue;
						}
					}
				}
				// Other results wait for room, and the replay may take long.
				self.has_fetched(&round.spec, &dir)?;
				let work = Work::Audit {
					job: JobOf::new(&round.spec, seed, inputs),
					dir: dir.clone(),
					expected: group.result,
					segments: lot.segments(),
					round: round.folder.to_owned(),
				};
				// The replay does not wait for a block.
				let withdrawing = self.withdraw(round, index, Some(&[]));
				let replaying = self.replay(round, group, source, &dir, work.clone());
				let ((), replayed) = tokio::join!(withdrawing, replaying);
				match replayed {
					Ok(Reply::Audited(Verdict::Unavailable, figures)) => {
						self.fetches_again(round.audit, &round.spec, group, &dir);
						problems.push(figures.summary);
					}
					Ok(Reply::Wants(files)) => {
						// A rescue may have it, and needs its room.
						self.fetches_again(round.audit, &round.spec, group, &dir);
						wanted.extend(files.iter().filter_map(|file| state_in(&round.spec, file)));
						problems.push(format!("{source} does not give {}", files.join(", ")));
					}
					Ok(Reply::Audited(verdict @ Verdict::False(_), figures)) => {
						self.withdraw(round, index, None).await;
						let verdict = self.confirmed(round, index, verdict, work).await?;
						return Ok((verdict, Some(figures)));
					}
					Ok(Reply::Audited(verdict, figures)) => {
						// Whatever was looked for is found.
						self.withdraw(round, index, None).await;
						return Ok((verdict, Some(figures)));
					}
					Ok(other) => return Err(unexpected(&other).into()),
					Err(ReplayError::Died(how)) => {
						deaths += 1;
						let text = format!("result {index}: {how}");
						let fields = json!({ "action": "replay", "reason": how, "result": index });
						self.report.job(job.id, "failed_attempt", &text, fields);
						problems.push(how);
					}
					Err(error) => return Err(error.into()),
				}
			}
			if let (true, true, Some(more)) = (whole, lot.waits_for_pick(), lot.one_more()) {
				let text = format!(
					"result {index}: its movement cannot be had, so segment {more} is replayed as well: \
					 {}",
					problems.join("; ")
				);
				let fields = json!({ "result": index, "segment": more, "problems": problems });
				self.report.job(job.id, "not_moved", &text, fields);
				self.note_unseen(round.folder, index)?;
				lot.note_moved(more);
				continue;
			}
			let dead = deaths >= DEATHS || round.cannot_decode();
			if dead || Instant::now() + PAUSE >= round.give_up {
				let more: Vec<Piece> = wanted.into_iter().collect();
				if !dead && self.ask(round, group, index, &more).await? {
					let text = format!("result {index} is not here yet: {}", problems.join("; "));
					return Err(TaskError::Transient(text));
				}
				// What was stored for it, and is something else, convicts whoever stored it.
				if let Some((_, charge)) = self.stored_garbage(job, group, &dir).await {
					return Ok((Verdict::False(Box::new(charge)), None));
				}
				let text = format!("result {index} could not be had: {}", problems.join("; "));
				let fields = json!({ "result": index, "problems": problems });
				self.report.job(job.id, "unavailable", &text, fields);
				return Ok((Verdict::Unavailable, None));
			}
			tokio::time::sleep(PAUSE).await;
		}
	}

	/// Returns a verdict that a result is false, as the processor confirms it: whoever accuses because a GPU
	/// computed wrong loses its stake.
	async fn confirmed(
		&self,
		round: &Round<'_>,
		index: usize,
		verdict: Verdict,
		work: Work,
	) -> Result<Verdict, TaskError> {
		let Some(processor) = self.replayers.on_processor() else { return Ok(verdict) };
		let Reply::Audited(again, _) = processor.run(work, round.until, &round.stop).await? else {
			return Ok(Verdict::Unavailable);
		};
		if again != verdict {
			let text = format!(
				"result {index}: the GPU finds it false, and the processor something else. This machine \
				 computes wrong: verify by --device cpu"
			);
			self.report.job(round.job.id, "problem", &text, json!({ "result": index }));
		}
		Ok(again)
	}

	/// Brings what this seat reads of a result from one source, within `share`. Returns in one line why
	/// that does not have it.
	async fn bring(
		&self,
		round: &Round<'_>,
		index: usize,
		source: &Source<'_>,
		dir: &Path,
		share: Duration,
	) -> Result<Result<InputPaths, String>, TaskError> {
		let fetching = self.fetch(round, index, source, dir, share);
		let fetched = tokio::select! {
			fetched = tokio::time::timeout(share, fetching) => fetched,
			() = stopped(&round.stop) => return Err(TaskError::Stopped),
		};
		Ok(match fetched {
			Ok(fetched) => fetched.map_err(|problem| with_causes(&problem)),
			Err(_) => Err(format!("{source} is too slow")),
		})
	}

	/// Picks the segment in which a result moved farthest, and brings the states at its ends, from one
	/// source. Returns in one line why that does not have them.
	async fn pick(
		&self,
		round: &Round<'_>,
		index: usize,
		source: &Source<'_>,
		dir: &Path,
		share: Duration,
	) -> Result<Result<(), String>, TaskError> {
		let Some(lot) = round.lots.get(index) else { return Ok(Ok(())) };
		let moving = tokio::time::timeout(share, self.moved(round, index, source, dir));
		let moved = tokio::select! {
			moved = moving => moved.unwrap_or_else(|_| Err(format!("{source} is too slow"))),
			() = stopped(&round.stop) => return Err(TaskError::Stopped),
		};
		// Where nothing moves, any segment is as good.
		match moved.map(|found| found.or_else(|| lot.one_more())) {
			Ok(Some(segment)) => lot.note_moved(segment),
			Ok(None) => {}
			Err(problem) => return Ok(Err(problem)),
		}
		Ok(self.bring(round, index, source, dir, share).await?.map(drop))
	}

	/// Replays a result, and fetches what that asks for until it asks for no more. Returns
	/// [`Reply::Wants`] where it cannot be had. What was replayed is kept from one time to the next.
	async fn replay(
		&self,
		round: &Round<'_>,
		group: &GroupView,
		source: &Source<'_>,
		dir: &Path,
		work: Work,
	) -> Result<Reply, ReplayError> {
		let mut searched = 0;
		loop {
			let reply = self.replayers.run(work.clone(), round.until, &round.stop).await?;
			let Reply::Wants(files) = &reply else { return Ok(reply) };
			searched += files.len();
			if files.is_empty() || searched > searched_states(group.result.segments) as usize {
				return Ok(reply);
			}
			let fetching = self.fetch_searched(round, group, source, dir, files);
			let fetched = tokio::select! {
				fetched = fetching => fetched,
				() = stopped(&round.stop) => return Err(ReplayError::Stopped),
			};
			if let Err(problem) = fetched {
				debug!("{problem}");
				return Ok(reply);
			}
		}
	}

	/// Returns whether the memory for replays suffices for a result, counted as the chain and trainers
	/// count ([`Needs`]). A replay that does not fit would end the whole verifier, and with it its
	/// other audits; the chain takes no job that a machine of its class could not hold.
	fn has_memory(&self, round: &Round<'_>, index: usize) -> bool {
		let needed = Needs::of(&round.spec).memory();
		let fits = needed <= self.max_memory;
		if !fits {
			let mib = |bytes: u64| bytes.div_ceil(1024 * 1024);
			let text = format!(
				"result {index}: a replay needs up to {} MiB of memory, more than the {} MiB that it \
				 may take (--max-memory-mib), so it counts as unavailable",
				mib(needed),
				mib(self.max_memory)
			);
			let fields = json!({ "action": "replay", "reason": text, "result": index });
			self.report.job(round.job.id, "failed_attempt", &text, fields);
		}
		fits
	}

	/// Takes room for one result. Waits for other audits to end where there is too little; returns
	/// false if there was none in time.
	async fn wait_for_room(
		&self,
		round: &Round<'_>,
		group: &GroupView,
		index: usize,
	) -> Result<bool, TaskError> {
		loop {
			round.check()?;
			let missing =
				match self.claim(round.audit, &round.spec, group, &round.folder_of(index))? {
					Ok(claimed) => {
						round
							.claims
							.lock()
							.unwrap_or_else(|poisoned| poisoned.into_inner())
							.push(claimed);
						return Ok(true);
					}
					Err(missing) => missing,
				};
			if Instant::now() + PAUSE >= round.give_up {
				let mib = missing.div_ceil(1024 * 1024);
				let text = format!(
					"result {index}: {mib} MiB are missing for it within --max-disk-mib and on the \
					 disk, so it counts as unavailable"
				);
				let fields = json!({ "action": "fetch", "reason": text, "result": index });
				self.report.job(round.job.id, "failed_attempt", &text, fields);
				return Ok(false);
			}
			tokio::time::sleep(PAUSE).await;
		}
	}
}
