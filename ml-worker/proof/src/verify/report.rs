//! `trainyard verify DIR`: checks a bundle by itself, with every file of it.

use super::{
	checks::{Case, Outcome},
	movement::Pick,
	replay::NoReplays,
	rules,
	states::check_next,
	Aids, AuditReport, Status, VerifyError,
};
use crate::{
	bundle::{self, Bundle, Manifest},
	inputs::{self, GivenFiles, Inputs},
	restore,
};
use serde::Serialize;
use std::{collections::BTreeSet, path::Path, sync::atomic::AtomicBool, time::Instant};
use trainyard_program::spec::CheckedSpec;
use trainyard_protocol::{bundle::Evaluation, duties, job::WorkResult};

/// Which segments to replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
	/// All of them.
	All,
	/// That many, drawn by this machine's randomness.
	Random(u32),
}

impl std::str::FromStr for Choice {
	type Err = String;

	fn from_str(s: &str) -> Result<Self, String> {
		match s {
			"all" => Ok(Choice::All),
			s => s
				.parse()
				.map(Choice::Random)
				.map_err(|_| format!("{s:?} is neither a number of segments nor \"all\"")),
		}
	}
}

impl Choice {
	/// Returns the chosen ones of that many segments.
	pub(super) fn draw(self, segments: u32) -> BTreeSet<u32> {
		match self {
			Choice::Random(count) if count < segments => {
				let mut drawn = BTreeSet::new();
				while (drawn.len() as u32) < count {
					drawn.insert(rand::random_range(0..segments));
				}
				drawn
			}
			_ => (0..segments).collect(),
		}
	}
}

/// The findings about a bundle.
#[derive(Clone, Debug, Serialize)]
pub struct Full {
	/// Whether everything is as it should be. The rules do not count.
	pub passed: bool,
	/// What was trained.
	pub spec: CheckedSpec,
	/// The bundle's roots.
	pub result: WorkResult,
	/// The checks and their figures.
	pub report: AuditReport,
	/// Where the run moved farthest by each measure, if somebody asked for that; [`full`] does not.
	#[serde(skip_serializing_if = "Vec::is_empty")]
	pub movement: Vec<Pick>,
}

/// Checks the bundle in `dir` against its own manifest: all files, the segments chosen by replay,
/// and the rules. The files in `given` are used instead of the bundle's copies. Fails if it cannot
/// be checked: files are missing, or training has not ended.
pub fn full(dir: &Path, choice: Choice, given: &GivenFiles) -> Result<Full, VerifyError> {
	let begun = Instant::now();
	let bundle = Bundle::open(dir)?;
	let manifest = bundle.manifest();
	let spec = manifest.spec.clone();
	let Some(model_root) = manifest.model_root else {
		return Err(VerifyError::CannotCheck(format!(
			"training in {} has not ended: {} checkpoints of {} at most are there. `trainyard \
			 train … --resume` goes on",
			dir.display(),
			manifest.checkpoints.len(),
			spec.segments() + 1
		)));
	};
	let paths = given.or_of_bundle(dir, &spec);
	for (which, file) in spec.files() {
		if let Some(missing) = paths.get(which).filter(|path| !path.exists()) {
			return Err(VerifyError::CannotCheck(format!(
				"the {} is missing: {} is not there. Name the file with {}; its content hash is \
				 {:?}",
				inputs::name_of(which),
				missing.display(),
				inputs::option_of(which),
				file.content_hash
			)));
		}
	}
	let inputs = Inputs::load(&spec, &paths)?;
	let data = inputs.data.clone();
	let (bundle_root, segments) = (manifest.bundle_root, manifest.segments());
	let diverged = manifest.diverged.is_some();
	let result = WorkResult { bundle_root, true_root: bundle_root, model_root, segments, diverged };
	let mut drawn = choice.draw(segments);
	if let (Some(last), false) = (result.diverged_in(), matches!(choice, Choice::Random(0))) {
		drawn.insert(last);
	}

	let mut report = AuditReport::default();
	let mut passed = all_files(&bundle, &result, &mut report)?;
	if let Some(shown) = bundle.shown()? {
		passed &= check_shown(manifest, &shown, &mut report);
	}
	let (seed, never) = (manifest.seed, AtomicBool::new(false));
	let aids = Aids { replays: &NoReplays, fetch: &|_| () };
	let case =
		Case { bundle: &bundle, spec: &spec, seed, inputs, expected: result, stop: &never, aids };
	let outcome = case.examine(&drawn, &mut report)?;
	passed &= matches!(outcome, Outcome::Replayed(_));
	if let Outcome::Missing(what) = &outcome {
		return Err(VerifyError::CannotCheck(what.clone()));
	}
	// A run that diverged before its first step has nothing to measure.
	let measured = manifest.checkpoints.iter().all(|c| c.validation != Evaluation::NONE);
	if matches!(outcome, Outcome::Replayed(_)) && measured {
		match rules::assess(&bundle, &spec, seed, data) {
			Ok(rules) => report.rules = Some(rules),
			// Every file is there: rules that cannot be computed are the bundle's fault.
			Err(e) => {
				report.note("rules", Status::Fail, e.to_string());
				passed = false;
			}
		}
	}
	if let Some(wrong) = report.rules.as_ref().map(|r| r.wrong_metrics) {
		let status = if wrong == 0 { Status::Pass } else { Status::Fail };
		let count = manifest.checkpoints.len();
		report.note("metrics", status, format!("{} of {count} are right", count as u32 - wrong));
		passed &= wrong == 0;
	}
	report.summary = match (&outcome, passed) {
		(Outcome::Replayed(_), false) => "failed: see the checks".to_owned(),
		(Outcome::Replayed(evidence), true) if evidence.is_empty() => {
			"passed, but no segment was replayed: that the work was done is not shown".to_owned()
		}
		(Outcome::Replayed(evidence), true) => {
			let equal = match result.diverged_in() {
				Some(last) => format!(
					"passed: {} segments replayed; training diverged in segment {last}",
					evidence.len()
				),
				None => format!("passed: {} segments replayed, equal in every bit", evidence.len()),
			};
			match evidence.iter().find_map(|e| e.idle_since) {
				None => equal,
				Some(since) => {
					format!("{equal}; from segment {since} on the training stands still")
				}
			}
		}
		(Outcome::Tampered(what), _) => format!("failed: {what}"),
		(outcome, _) => outcome.summary(),
	};
	report.seconds = begun.elapsed().as_secs_f64();
	Ok(Full { passed, spec, result, report, movement: Vec::new() })
}

/// Checks what others are shown of a run: it must differ from what was computed in as many traces as are
/// forced, and in nothing else.
fn check_shown(manifest: &Manifest, shown: &Manifest, report: &mut AuditReport) -> bool {
	let both = || manifest.checkpoints.iter().zip(&shown.checkpoints);
	let forced: Vec<usize> =
		both().enumerate().filter(|(_, (own, shown))| own != shown).map(|(at, _)| at).collect();
	let mut same = shown.clone();
	same.bundle_root = manifest.bundle_root;
	for (listed, (own, _)) in same.checkpoints.iter_mut().zip(both()) {
		listed.trace = own.trace;
	}
	let expected = duties::forced_errors(manifest.segments()) as usize;
	let fits = same == *manifest
		&& forced.len() == expected
		&& forced.first() != Some(&0)
		&& shown.computed_root() == shown.bundle_root;
	let (status, detail) = match fits {
		true => {
			let root = shown.bundle_root;
			let text = format!(
				"the traces of checkpoints {forced:?} are forced in what others are shown, of root \
				 {root:?}; those here are the true ones"
			);
			(Status::Pass, text)
		}
		false => {
			let text = "what others are shown differs in more than the traces that are forced";
			(Status::Fail, text.to_owned())
		}
	};
	report.note("forced errors", status, detail);
	fits
}

/// Checks the files that no replay reads: every checkpoint (its hash, its tensors, its
/// numbers), and the model.
fn all_files(
	bundle: &Bundle,
	result: &WorkResult,
	report: &mut AuditReport,
) -> Result<bool, VerifyError> {
	let (mut wrong, mut before) = (Vec::new(), None);
	for (index, checkpoint) in (0u32..).zip(&bundle.manifest().checkpoints) {
		if !bundle.has_checkpoint(checkpoint.step) {
			let file = bundle::manifest::checkpoint_file(checkpoint.step);
			let (folder, missing) = (bundle.folder().display(), restore::missing(bundle).len());
			let all = bundle.manifest().checkpoints.len();
			return Err(VerifyError::CannotCheck(format!(
				"{file} is missing: {missing} of {all} states are not there. If they were thinned out, \
				 `trainyard restore {folder}` computes them again"
			)));
		}
		match bundle.checkpoint(checkpoint.step) {
			Err(e) => wrong.push(e.to_string()),
			// The hash is right, but a forger writes the hash, too.
			Ok(state) => {
				let spec = &bundle.manifest().spec;
				let last = before.as_ref().map_or((index, &state), |(at, last)| (*at, last));
				if let Err(found) = check_next(spec, last, (index, &state)) {
					let file = bundle::manifest::checkpoint_file(checkpoint.step);
					wrong.push(format!("{file}: {}", found.why));
				}
				before = Some((index, state));
			}
		}
	}
	if !bundle.model().is_file() {
		return Err(VerifyError::CannotCheck(format!("{} is missing", bundle::MODEL_FILE)));
	}
	let found = bundle.model_root()?;
	if found != result.model_root {
		let name = bundle::MODEL_FILE;
		wrong.push(format!("{name} has root {found:?}, not {:?}", result.model_root));
	}
	let count = bundle.manifest().checkpoints.len();
	let (status, detail) = match wrong.first() {
		None => (Status::Pass, format!("{count} checkpoints and {}", bundle::MODEL_FILE)),
		Some(first) => {
			(Status::Fail, format!("{} are damaged or not the job's: {first}", wrong.len()))
		}
	};
	report.note("files", status, detail);
	Ok(wrong.is_empty())
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn segments_are_chosen() {
		assert_eq!("all".parse(), Ok(Choice::All));
		assert_eq!("3".parse(), Ok(Choice::Random(3)));
		assert!("three".parse::<Choice>().is_err());
		assert_eq!(Choice::All.draw(4).len(), 4);
		assert_eq!(Choice::Random(9).draw(4).len(), 4);
		assert_eq!(Choice::Random(0).draw(4).len(), 0);
		let drawn = Choice::Random(3).draw(30);
		assert!(drawn.len() == 3 && drawn.iter().all(|s| *s < 30));
	}
}
