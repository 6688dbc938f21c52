//! Finds what a folder holds before a run begins, and where the run may go on.

use super::TrainError;
use crate::bundle::{
	self,
	files::{self, at},
	lock,
	manifest::{self, Manifest},
	metrics::{self, Line},
	records,
	thinning::Thinning,
	Bundle, Checkpoint,
};
use primitive_types::H256;
use serde_json::Value;
use std::{collections::BTreeMap, path::Path};
use trainyard_engine::{Engine, State, TensorMap};
use trainyard_program::{
	spec::{CheckedSpec, JobSpec},
	Text,
};
use trainyard_protocol::bundle::Evaluation;

/// Refuses a folder that holds files that are not ours, or a bundle where none is expected.
pub(super) fn check_folder(out: &Path, resume: bool) -> Result<(), TrainError> {
	if out.join(manifest::FILE).exists() {
		return match resume {
			true => Ok(()),
			false => Err(TrainError::Exists(out.to_owned())),
		};
	}
	let ours =
		[lock::FILE, metrics::FILE, records::CSV_FILE, records::EVENTS_FILE, bundle::CHECKPOINTS];
	let entries = match std::fs::read_dir(out) {
		Ok(entries) => entries,
		// It is created later; whatever else is wrong with it is reported then.
		Err(_) => return Ok(()),
	};
	for entry in entries {
		let name = entry.map_err(at("read the folder", out))?.file_name();
		let name = name.to_string_lossy().into_owned();
		let known = ours.contains(&name.as_str()) || bundle::audited(&name);
		if !known && !name.starts_with(files::TEMPORARY) {
			return Err(TrainError::Foreign { folder: out.to_owned(), name });
		}
	}
	Ok(())
}

/// Returns the bundle to go on with, and the last state up to which everything is whole; a new
/// bundle if there is none.
pub(super) fn begin(
	spec: &CheckedSpec,
	seed: H256,
	out: &Path,
	keep_states: Thinning,
) -> Result<(Bundle, Option<(u32, TensorMap)>), TrainError> {
	if !out.join(manifest::FILE).exists() {
		return Ok((Bundle::create(out, Manifest::new(spec.clone(), seed)), None));
	}
	let mut bundle = Bundle::open(out)?;
	let other =
		|what, difference| Err(TrainError::Other { folder: out.to_owned(), what, difference });
	let begun = bundle.manifest();
	if let Some(difference) = difference(&begun.spec, spec) {
		return other("job", difference);
	}
	if begun.seed != seed {
		return other("seed", format!("its seed is {:?}, not {seed:?}", begun.seed));
	}
	let (mut whole, mut last) = (0, None);
	for (index, listed) in (0u32..).zip(&bundle.manifest().checkpoints) {
		if Some(listed.step) != spec.checkpoint_step(index) {
			tracing::warn!("checkpoint {index} is of step {}, not of this job", listed.step);
			break;
		}
		// What was thinned out follows from what was kept before it.
		if !keep_states.keeps(index, u32::MAX) && !bundle.has_checkpoint(listed.step) {
			continue;
		}
		match bundle.checkpoint(listed.step) {
			Ok(state) => (whole, last) = (index as usize + 1, Some((listed.step, state))),
			Err(e) => {
				tracing::warn!("{e}; training goes on from the checkpoint before it");
				break;
			}
		}
	}
	if bundle.manifest().bundle_root != bundle.root() {
		// No file shows which of them is wrong: a trace is known by its replay alone.
		tracing::warn!(
			"the manifest lists other checkpoints than were written: training begins again"
		);
		(whole, last) = (0, None);
	}
	let first = bundle.manifest().checkpoints.first();
	if first.is_some_and(|first| first.validation == Evaluation::NONE) {
		// It diverged before its first step, which the run finds again.
		(whole, last) = (0, None);
	}
	keep(&mut bundle, whole);
	// The files may have other locations by now.
	bundle.manifest_mut().spec = spec.clone();
	Ok((bundle, last))
}

/// Drops all checkpoints after the first `whole` from the bundle in `out`, so that the next run goes
/// on after them.
pub fn keep_until(out: &Path, whole: u32) -> Result<(), TrainError> {
	let _lock = lock::Lock::take(out)?;
	let mut bundle = Bundle::open(out)?;
	keep(&mut bundle, whole as usize);
	Ok(bundle.write_manifest()?)
}

/// Drops all checkpoints after the first `whole`, and that training diverged after the last: the next
/// run finds that again.
fn keep(bundle: &mut Bundle, whole: usize) {
	let manifest = bundle.manifest_mut();
	if whole < manifest.checkpoints.len() || manifest.diverged.is_some() {
		manifest.checkpoints.truncate(whole);
		(manifest.diverged, manifest.model_root) = (None, None);
	}
}

/// Checks the evaluations of the kept checkpoints, and drops the checkpoints after an early stop.
/// `last` is step and state of the last of them; returns the step and state to go on with, none if
/// training begins again.
///
/// A state is known by its hash; its evaluation is a number in the manifest, which no file covers
/// before the training ends. The last one is computed again, and so is every one for which
/// `metrics.jsonl`, a separate file, does not say the same. From the first that is wrong on, the
/// checkpoints are dropped: its trace, which has the evaluation as a leaf, would be wrong as well.
pub(super) fn evaluations(
	engine: &Engine,
	bundle: &mut Bundle,
	last: (u32, TensorMap),
) -> Result<Option<(u32, TensorMap)>, TrainError> {
	let recorded = metrics::read(bundle.folder())?;
	let recorded: BTreeMap<u32, Line> = recorded
		.into_iter()
		.filter(|line| line.validation_loss.is_some())
		.map(|line| (line.step, line))
		.collect();
	let (mut corrections, mut wrong) = (BTreeMap::new(), None);
	for index in 0..bundle.manifest().checkpoints.len() {
		let Checkpoint { step, validation: said, .. } = bundle.manifest().checkpoints[index];
		let line = recorded.get(&step);
		if step != last.0 && line == Some(&Line::validation(step, &said)) {
			continue;
		}
		let state = match step == last.0 {
			true => last.1.clone(),
			false if !bundle.has_checkpoint(step) => {
				tracing::warn!(
					"the manifest and metrics.jsonl differ about step {step}, whose state was thinned out; \
					 training goes on from the checkpoint before it"
				);
				wrong = Some(index);
				break;
			}
			false => bundle.checkpoint(step)?,
		};
		let state = State::from_host(state).map_err(TrainError::Engine)?;
		let found = engine.evaluate(&state).map_err(TrainError::Engine)?;
		if found != said {
			tracing::warn!(
				"the manifest says of step {step}: {said:?}, but its state gives {found:?}; training \
				 goes on from the checkpoint before it"
			);
			wrong = Some(index);
			break;
		}
		let right = Line::validation(step, &found);
		if line.is_some_and(|line| *line != right) {
			corrections.insert(step, right);
		}
	}
	if !corrections.is_empty() {
		metrics::correct(bundle.folder(), &corrections)?;
	}

	if let Some(wrong) = wrong {
		keep(bundle, wrong);
	}
	let listed = &bundle.manifest().checkpoints;
	let losses: Vec<f32> = listed.iter().map(|c| c.validation.loss()).collect();
	let end = bundle.manifest().spec.ends_after(&losses).map(|segments| segments as usize + 1);
	if let Some(end) = end.filter(|end| *end < listed.len()) {
		tracing::warn!(
			"training stops early at checkpoint {}; those behind it are dropped",
			end - 1
		);
		keep(bundle, end);
	}
	// A state that was thinned out is none to go on with.
	while let Some(listed) = bundle.manifest().checkpoints.last() {
		match listed.step {
			step if step == last.0 => return Ok(Some(last)),
			step if bundle.has_checkpoint(step) => {
				return Ok(Some((step, bundle.checkpoint(step)?)));
			}
			_ => keep(bundle, bundle.manifest().checkpoints.len().saturating_sub(1)),
		}
	}
	Ok(None)
}

/// Returns the first field in which a bundle's specification means a computation that differs from
/// `wanted`; where the files are makes no difference.
fn difference(begun: &JobSpec, wanted: &JobSpec) -> Option<String> {
	let plain = |spec: &JobSpec| {
		let mut spec = spec.clone();
		spec.dataset.location = Text::default();
		let initial = spec.initial_model.as_mut().map(|model| &mut model.file);
		for file in spec.dataset.labels.iter_mut().chain(initial) {
			file.location = Text::default();
		}
		spec
	};
	let (begun, wanted) = (plain(begun), plain(wanted));
	if begun == wanted {
		return None;
	}
	let json = |spec| serde_json::to_value(spec).unwrap_or_default();
	let found = first_difference(String::new(), &json(begun), &json(wanted));
	// They are equal as JSON, and yet not equal; nothing shorter can be said.
	Some(found.unwrap_or_else(|| "the specifications are not equal".to_owned()))
}

/// Returns path and values of the first difference of two JSON values.
fn first_difference(path: String, a: &Value, b: &Value) -> Option<String> {
	if a == b {
		return None;
	}
	if let (Value::Object(fields), Value::Object(others)) = (a, b) {
		if fields.keys().eq(others.keys()) {
			let below = |name: &str| match path.as_str() {
				"" => name.to_owned(),
				path => format!("{path}.{name}"),
			};
			return fields
				.iter()
				.find_map(|(name, value)| first_difference(below(name), value, &others[name]));
		}
	}
	Some(format!("its {path} is {a}, not {b}"))
}

/// Returns whether nothing is left to do: all checkpoints were found whole, and so is the model.
pub(super) fn is_whole(bundle: &Bundle) -> bool {
	let manifest = bundle.manifest();
	manifest.bundle_root == bundle.root()
		&& manifest.ends_after() == Some(manifest.segments())
		&& manifest.model_root.is_some()
		&& bundle.model_root().ok() == manifest.model_root
}

/// Refuses to begin what cannot be finished on this disk.
pub(super) fn check_space(bundle: &Bundle, keep: Thinning) -> Result<(), TrainError> {
	let spec = &bundle.manifest().spec;
	let listed = u32::try_from(bundle.manifest().checkpoints.len()).unwrap_or(u32::MAX);
	let left = match bundle.manifest().ends_after() {
		Some(_) => 0,
		// Besides what is kept the last one is there until the next.
		None => {
			let kept = keep.kept(spec.segments()).saturating_sub(listed.div_ceil(keep.step()));
			u64::from(kept).saturating_add((keep != Thinning::NONE).into())
		}
	};
	let needed =
		bundle::max_checkpoint_bytes(spec).saturating_mul(left).saturating_add(spec.file_bytes());
	// If the system does not report it, writing will fail instead.
	let free = fs4::available_space(bundle.folder()).unwrap_or(u64::MAX);
	if free < needed {
		const MIB: u64 = 1 << 20;
		let folder = bundle.folder().to_owned();
		return Err(TrainError::NoSpace { folder, free: free / MIB, needed: needed.div_ceil(MIB) });
	}
	Ok(())
}
