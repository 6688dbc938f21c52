//! Picks the segment in which a result moved farthest, which is the duty of two seats.

use super::{
	round::Round,
	sources::{states_url, Source},
	Verifier,
};
use crate::roles::openings::{farthest, Came, Place, Unread};
use serde_json::json;
use std::{
	path::Path,
	time::{Duration, Instant},
};
use trainyard_proof::{
	bundle::{self, Bundle},
	verify::movement::{Levels, Measure, Walk},
};
use trainyard_protocol::H256;

/// The file in which the reading of a result's movement is kept, in the folder of the result.
pub(super) const KEPT: &str = "movement";
/// Time between two reports about a reading.
const REPORTED: Duration = Duration::from_secs(60);

/// Where parts of states are read.
pub(super) struct Origin<'a> {
	/// The base URL of a server, beside the folder of the result.
	pub server: Option<&'a str>,
	/// What it is called in reports.
	pub name: String,
}

impl Verifier {
	/// Returns the segment in which the result of this index moved farthest, by what this seat looks at
	/// ([`Measure`]) and as `source` shows it; `None`
	/// where nothing moves in those that can be picked, or there are none. Parts of all its states are
	/// read, whose manifest must be in `dir`; what was read before, also by a process that was killed, is
	/// not read again. Where a state was committed to that no honest run has, the segment is the one at
	/// whose end it is. Fails where not all of it is to be had there, in one line.
	pub(super) async fn moved(
		&self,
		round: &Round<'_>,
		index: usize,
		source: &Source<'_>,
		dir: &Path,
	) -> Result<Option<u32>, String> {
		let server = match source {
			Source::Served(server) | Source::Relayed(server) => Some(server.as_ref()),
			Source::Here | Source::Rescued(_) | Source::Submitter => None,
		};
		let from = Origin { server, name: source.to_string() };
		let moved = self.moved_at(round, index, (&round.draw.output, KEPT), &from, dir).await;
		moved.map_err(|unread| unread.why)
	}

	/// The same at the places that follow from this `output`; what was read is kept in the file of this name.
	pub(super) async fn moved_at(
		&self,
		round: &Round<'_>,
		index: usize,
		(output, kept): (&H256, &str),
		source: &Origin<'_>,
		dir: &Path,
	) -> Result<Option<u32>, Unread> {
		let group = round.audit.groups.get(index).ok_or("there is no such result".to_owned())?;
		let base = source.server.map(|server| states_url(server, &group.result));
		let most_bytes = bundle::max_checkpoint_bytes(&round.spec);
		let place = Place { folder: dir.to_owned(), base, most_bytes };
		let no_duty = "it is the duty of another seat".to_owned();
		let measure = Measure::of_seat(round.draw.seat).ok_or(no_duty)?;
		let listed = Bundle::open(dir).map_err(|e| e.to_string())?;
		if listed.root() != group.result.bundle_root {
			return Err("the manifest here is of another result".to_owned().into());
		}
		let listed = listed.manifest().checkpoints.iter().map(|c| (c.step, c.state_hash));
		let levels = Levels {
			spec: &round.spec,
			checkpoints: listed.collect(),
			diverged: group.result.diverged,
			measure,
			output: *output,
			every: round.job.terms.keep_every,
		};
		let mut read = 0;
		let (mut came, begun, mut reported) = (Came::default(), Instant::now(), Instant::now());
		let report = |read: u32, came: &Came| {
			let all = group.result.segments;
			let (Came { answers, bytes }, seconds) = (*came, begun.elapsed().as_secs_f64());
			let text = format!(
				"result {index}: the movement of {read} of {all} segments is read; {bytes} bytes in \
				 {answers} answers from {}",
				source.name
			);
			let fields = json!({
				"result": index, "read": read, "segments": all, "answers": answers, "bytes": bytes,
				"seconds": seconds,
			});
			self.report.job(round.job.id, "movement", &text, fields);
		};
		let note = |walk: &Walk<'_>, came: &Came| {
			read = walk.segments();
			if reported.elapsed() >= REPORTED {
				report(read, came);
				reported = Instant::now();
			}
			Ok(())
		};
		// Boxed: what waits for it is large already.
		let reading = farthest(&levels, (dir, kept), &place, &self.fetcher, &mut came, note);
		let farthest = Box::pin(reading).await;
		let farthest = farthest.map_err(|unread| Unread {
			why: format!("{}: {}", source.name, unread.why),
			..unread
		})?;
		report(read, &came);
		Ok(farthest)
	}
}
