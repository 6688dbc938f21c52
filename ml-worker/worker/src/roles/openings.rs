//! Brings parts of the checkpoints of a result: from its folder where they lie there whole, and else from
//! a server, which opens them ([`super::http`]).

use super::fetch::{FetchError, Fetcher};
use codec::DecodeAll;
use reqwest::StatusCode;
use std::{
	path::{Path, PathBuf},
	time::Duration,
};
use tracing::debug;
use trainyard_proof::{
	bundle::{manifest::checkpoint_file, openings::Opening},
	verify::movement::{Fault, Levels, Movement, Request, Walk},
};

/// A checkpoint file of fewer bytes is fetched whole: then the server has nothing to hash.
const WHOLE_FILE: u64 = 64 << 10;
/// Pause before a server is asked again that has no time now.
const BUSY_PAUSE: Duration = Duration::from_secs(2);

/// Where the parts of the checkpoints of one result are looked for.
#[derive(Clone, Debug)]
pub struct Place {
	/// The folder of the result.
	pub folder: PathBuf,
	/// The URL at which a server has its bundle, if one is asked.
	pub base: Option<String>,
	/// Most bytes of a checkpoint file of the job.
	pub most_bytes: u64,
}

/// What came from a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Came {
	/// Answers with openings.
	pub answers: u64,
	/// Their bytes.
	pub bytes: u64,
}

impl Place {
	/// Returns what was asked for, if the folder has it or the server gives it; the error is one line.
	/// What the folder has is checked; what the server gives is not. What came is added to `came`.
	///
	/// A server that has no time now is asked again and again: the caller has to stop waiting.
	pub async fn open(
		&self,
		fetcher: &Fetcher,
		request: &Request,
		came: &mut Came,
	) -> Result<Opening, String> {
		if let Some(opening) = self.open_here(request).await {
			return Ok(opening);
		}
		let Some(base) = &self.base else { return Err("it is not here".into()) };
		let file = (format!("{base}/{}", checkpoint_file(request.step)), self.most_bytes);
		let (step, parts) = (request.step, &request.parts);
		let of_parts = (format!("{base}/openings/{step}?parts={parts}"), request.most_bytes());
		let mut whole = self.most_bytes <= WHOLE_FILE;
		let body = loop {
			let (url, limit) = if whole { &file } else { &of_parts };
			match fetcher.get(url, *limit).await {
				Ok(body) => break body,
				Err(FetchError::Status { status: StatusCode::SERVICE_UNAVAILABLE, .. }) => {
					debug!("{url} is busy");
					tokio::time::sleep(BUSY_PAUSE).await;
				}
				// Who keeps samples of states has no whole one.
				Err(FetchError::Status { status: StatusCode::NOT_FOUND, .. }) if whole => {
					whole = false;
				}
				Err(e) => return Err(e.to_string()),
			}
		};
		came.answers += 1;
		came.bytes += body.len() as u64;
		match whole {
			true => {
				let opening = Opening::of_bytes(&body, &request.parts);
				opening.map_err(|e| format!("{}: {e}", file.0))
			}
			false => Opening::decode_all(&mut &body[..])
				.map_err(|_| format!("{} answers with something else than openings", of_parts.0)),
		}
	}

	/// Returns what was asked for, if the folder has a checkpoint file that shows it.
	async fn open_here(&self, request: &Request) -> Option<Opening> {
		let (path, request) = (self.folder.join(checkpoint_file(request.step)), request.clone());
		let open = move || {
			let opening = Opening::of_file(&path, &request.parts).ok()?;
			request.elements(&opening).is_ok().then_some(opening)
		};
		tokio::task::spawn_blocking(open).await.ok().flatten()
	}
}

/// What a walk came to.
enum Read {
	/// All of it was read.
	All(Movement),
	/// A state was committed to that no honest run has: that of this checkpoint.
	NotFinite(u32),
}

/// Why it is not known in which segment a run moved farthest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
	/// In one line.
	pub why: String,
	/// The stretch between two kept states in which it moved farthest, where these were read and those between them
	/// were not: nobody computes them again.
	pub stretch: Option<u32>,
}

impl From<String> for Unread {
	fn from(why: String) -> Self {
		Self { why, stretch: None }
	}
}

/// Reads the rest of a walk.
async fn read(
	walk: &mut Walk<'_>,
	place: &Place,
	fetcher: &Fetcher,
	came: &mut Came,
	note: &mut impl FnMut(&Walk<'_>, &Came) -> Result<(), String>,
) -> Result<Read, String> {
	while let Some(request) = walk.request() {
		let answer = place.open(fetcher, &request, came).await;
		match walk.answer(&request, answer) {
			Ok(()) => note(walk, came)?,
			Err(Fault::NotFinite { checkpoint, .. }) => return Ok(Read::NotFinite(checkpoint)),
			Err(fault) => return Err(fault.to_string()),
		}
	}
	Ok(Read::All(walk.movement()))
}

/// Returns the names of the files in which it is kept what was read of the two stretches of a run, beside the file of
/// this name for the kept states.
pub fn stretch_files(kept: &str) -> [String; 2] {
	["first", "picked"].map(|which| format!("{kept}-{which}"))
}

/// Reads the rest of a run from `place`, and returns the segment in which it moved farthest; `None` where
/// nothing moves in those that can be picked, or there are none. Where a state was committed to that no
/// honest run has, it is the segment at whose end that is. What came is added to `came`, and `note` looks
/// at it after each answer: the reading ends with its error, as with that of a place that does not have
/// all of it. What was read is kept in the file of this name in `folder`, and in two [beside it](stretch_files).
pub async fn farthest(
	levels: &Levels<'_>,
	(folder, kept): (&Path, &str),
	place: &Place,
	fetcher: &Fetcher,
	came: &mut Came,
	mut note: impl FnMut(&Walk<'_>, &Came) -> Result<(), String>,
) -> Result<Option<u32>, Unread> {
	let begin = |walk: &mut Walk<'_>, name: &str| {
		walk.keep_in(&folder.join(name)).map_err(|e| e.to_string())
	};
	let before = |checkpoint: u32| checkpoint.saturating_sub(1);
	let mut walk = levels.kept();
	begin(&mut walk, kept)?;
	let stretches = match read(&mut walk, place, fetcher, came, &mut note).await? {
		Read::All(movement) => {
			let stretches = levels.stretches(&movement);
			if stretches.is_empty() {
				return Ok(movement.pick().map(|pick| pick.segment));
			}
			stretches
		}
		Read::NotFinite(checkpoint) if levels.every <= 1 => return Ok(Some(before(checkpoint))),
		Read::NotFinite(checkpoint) => levels.stretch_of(before(checkpoint)).into_iter().collect(),
	};
	let mut picks = Vec::new();
	for (stretch, name) in stretches.iter().zip(stretch_files(kept)) {
		let mut walk = levels.stretch(*stretch);
		begin(&mut walk, &name)?;
		let found = read(&mut walk, place, fetcher, came, &mut note).await;
		match found.map_err(|why| Unread { why, stretch: stretches.last().copied() })? {
			Read::All(movement) => picks.extend(movement.pick()),
			Read::NotFinite(checkpoint) => return Ok(Some(before(checkpoint))),
		}
	}
	Ok(Levels::best(picks).map(|pick| pick.segment))
}

#[cfg(test)]
#[path = "openings_tests.rs"]
mod tests;
