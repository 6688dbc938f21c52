//! Finds the segments in which a result moved farthest, by its parameters and by its moments, as the seats
//! of an audit do. Where nobody shows it, a committee is asked for samples of all states while results stand, and
//! what its seats have is read at its places.

use super::{look::Looking, Whistleblower};
use crate::roles::{
	common::bundles::states_url,
	openings::{farthest, stretch_files, Came, Place},
};
use serde_json::json;
use std::{
	collections::BTreeSet,
	path::Path,
	time::{Duration, Instant},
};
use trainyard_proof::{
	bundle::{max_checkpoint_bytes, Bundle},
	verify::movement::{any_of, Levels, Measure, Walk},
};
use trainyard_protocol::H256;

/// The longest time that is given to reading how a result moves.
pub(super) const LONGEST: Duration = Duration::from_secs(3_600);
/// The longest time in which one server is read before the next has its turn, so that none that stalls takes the
/// time of the others.
const TURN: Duration = Duration::from_secs(120);

/// Where parts of the states of a result are read: at the places that follow from `random`, from these servers.
#[derive(Clone, Debug)]
pub(super) struct Sampled {
	/// What the places follow from.
	pub random: H256,
	/// Base URLs of servers.
	pub servers: Vec<String>,
	/// Whether these are the places of a relay.
	pub relayed: bool,
}

/// Returns the name of the file in which what was read by a measure is kept, at own places or at those of a relay.
fn kept(measure: Measure, relayed: bool) -> &'static str {
	match (measure, relayed) {
		(Measure::Parameters, false) => "movement-parameters",
		(Measure::Moments, false) => "movement-moments",
		(Measure::Parameters, true) => "movement-parameters-relayed",
		(Measure::Moments, true) => "movement-moments-relayed",
	}
}

/// Removes what was read of a result. Nobody needs it when its segments are chosen.
pub(super) fn forget(folder: &Path) {
	for (measure, relayed) in Measure::ALL.into_iter().flat_map(|of| [(of, false), (of, true)]) {
		let kept = kept(measure, relayed);
		for name in stretch_files(kept).into_iter().chain([kept.to_owned()]) {
			// There is none where nothing was read.
			let _ = std::fs::remove_file(folder.join(name));
		}
	}
}

impl Whistleblower {
	/// Returns the segments in which a result moved farthest, by each measure once, and whether some measure could
	/// not be taken: nobody opens all of its states within `share`. Parts of all states are read, of large tensors
	/// those of the first of `sampled` that has them. The manifest must be in `folder`; what was read before, also
	/// by a process that was killed, is not read again.
	pub(super) async fn moved(
		&self,
		looking: &Looking<'_>,
		sampled: &[Sampled],
		folder: &Path,
		share: Duration,
	) -> (Vec<u32>, bool) {
		let (mut picks, mut problems) = (Vec::new(), BTreeSet::new());
		let (begun, mut came) = (Instant::now(), Came::default());
		for measure in Measure::ALL {
			let left = share.saturating_sub(begun.elapsed());
			let picking = self.pick(looking, measure, sampled, folder, &mut came);
			match tokio::time::timeout(left, picking).await {
				Ok(Ok(pick)) => picks.extend(pick),
				Ok(Err(why)) => drop(problems.insert(why)),
				Err(_) => drop(problems.insert("it takes too long".to_owned())),
			}
		}
		let (Came { answers, bytes }, result) = (came, looking.result.bundle_root);
		let mut fields = json!({
			"result": result, "segments": &picks, "answers": answers, "bytes": bytes,
			"seconds": begun.elapsed().as_secs_f64(),
		});
		let is_whole = problems.is_empty();
		let text = match is_whole {
			true => format!("a result moved farthest in segments {picks:?}"),
			false => {
				let why = problems.into_iter().collect::<Vec<_>>().join("; ");
				fields["reason"] = json!(why);
				format!("how far a result moves is not known, so more is random: {why}")
			}
		};
		self.report.job(looking.job.id, "movement", &text, fields);
		(picks, is_whole)
	}

	/// Returns the segment in which a result moved farthest by a measure; `None` where none can be picked.
	/// Fails in one line where no server has all that is read.
	async fn pick(
		&self,
		looking: &Looking<'_>,
		measure: Measure,
		sampled: &[Sampled],
		folder: &Path,
		came: &mut Came,
	) -> Result<Option<u32>, String> {
		let Looking { spec, result, .. } = looking;
		let bundle = Bundle::open(folder).map_err(|e| e.to_string())?;
		let (mut why, mut guess) = ("nobody serves it".to_owned(), None);
		for of in sampled {
			let listed = bundle.manifest().checkpoints.iter().map(|c| (c.step, c.state_hash));
			let levels = Levels {
				spec,
				checkpoints: listed.collect(),
				diverged: result.diverged,
				measure,
				output: of.random,
				every: looking.job.terms.keep_every,
			};
			let at = (folder, kept(measure, of.relayed));
			for server in &of.servers {
				let base = Some(states_url(server, result));
				let most_bytes = max_checkpoint_bytes(spec);
				let place = Place { folder: folder.to_owned(), base, most_bytes };
				let within = |_: &Walk<'_>, came: &Came| match came.bytes > self.limits.data {
					true => {
						Err("it is larger than what is read of a job (--max-data-mib)".to_owned())
					}
					false => Ok(()),
				};
				// Boxed: what waits for it is large already.
				let reading = Box::pin(farthest(&levels, at, &place, &self.fetcher, came, within));
				match tokio::time::timeout(TURN, reading).await {
					Ok(Ok(pick)) => return Ok(pick),
					Ok(Err(unread)) => {
						// Nobody computes states again for who is no seat: of the stretch any segment is as good.
						if let Some(stretch) = unread.stretch {
							let (every, last) = (levels.every, result.segments);
							guess = Some(any_of(every, last, stretch, rand::random()));
						}
						why = unread.why;
					}
					// What came is kept: the next one goes on.
					Err(_) => why = format!("{server} is too slow"),
				}
			}
		}
		guess.map_or(Err(why), |segment| Ok(Some(segment)))
	}
}
