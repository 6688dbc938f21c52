//! What a folder holds before a run begins, and where the run may go on.

use super::TrainError;
use crate::bundle::{
	self, archive,
	files::{self, at},
	lock,
	manifest::{self, Manifest},
	metrics, records, Bundle, Tensors,
};
use primitive_types::H256;
use serde_json::Value;
use std::path::Path;
use trainyard_primitives::{spec::JobSpec, Text};

/// Refuses a folder that holds what is not ours, or a bundle where none is expected.
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
		// Created later; whatever else is wrong with it is told then.
		Err(_) => return Ok(()),
	};
	for entry in entries {
		let name = entry.map_err(at("read the folder", out))?.file_name();
		let name = name.to_string_lossy().into_owned();
		let known = ours.contains(&name.as_str()) || archive::allowed(&name);
		if !known && !name.starts_with(files::TEMPORARY) {
			return Err(TrainError::Foreign { folder: out.to_owned(), name });
		}
	}
	Ok(())
}

/// The bundle to go on with, and the last state up to which everything is whole; a new
/// bundle where there is none.
pub(super) fn begin(
	spec: &JobSpec,
	seed: H256,
	out: &Path,
) -> Result<(Bundle, Option<(u32, Tensors)>), TrainError> {
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
		match bundle.checkpoint(listed.step) {
			Ok(state) => (whole, last) = (whole + 1, Some((listed.step, state))),
			Err(e) => {
				tracing::warn!("{e}; training goes on from the checkpoint before it");
				break;
			}
		}
	}
	let listed = &bundle.manifest().checkpoints[..whole];
	let losses: Vec<f32> = listed.iter().map(|c| c.validation.loss).collect();
	if let Some(end) = spec.ends_after(&losses).map(|segments| segments as usize) {
		if end + 1 < whole {
			tracing::warn!("training stops early at checkpoint {end}; those behind it are dropped");
			let step = bundle.manifest().checkpoints[end].step;
			(whole, last) = (end + 1, Some((step, bundle.checkpoint(step)?)));
		}
	}
	let manifest = bundle.manifest_mut();
	if whole < manifest.checkpoints.len() {
		manifest.checkpoints.truncate(whole);
		(manifest.bundle_root, manifest.model_root) = (None, None);
	}
	// The same work may be had elsewhere by now.
	manifest.spec = spec.clone();
	Ok((bundle, last))
}

/// The first field in which a bundle's specification means another computation than `wanted`;
/// where the files are makes no difference.
fn difference(begun: &JobSpec, wanted: &JobSpec) -> Option<String> {
	let plain = |spec: &JobSpec| {
		let mut spec = spec.clone();
		spec.dataset.location = Text::default();
		for file in spec.dataset.labels.iter_mut().chain(&mut spec.initial_model) {
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
	// Equal as JSON, and yet not equal: that cannot be told in fewer words.
	Some(found.unwrap_or_else(|| "the specifications are not equal".to_owned()))
}

/// Path and values of the first difference of two JSON values.
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

/// Whether nothing is left to do: all checkpoints were found whole, and so is the model.
pub(super) fn is_whole(bundle: &Bundle) -> bool {
	let manifest = bundle.manifest();
	manifest.bundle_root == Some(bundle.root())
		&& manifest.ends_after() == Some(manifest.segments())
		&& manifest.model_root.is_some()
		&& bundle.model_root().ok() == manifest.model_root
}

/// Refuses to begin what cannot be finished on this disk.
pub(super) fn check_space(bundle: &Bundle) -> Result<(), TrainError> {
	let spec = &bundle.manifest().spec;
	let checkpoints = u64::from(spec.segments()) + 1;
	let left = match bundle.manifest().ends_after() {
		Some(_) => 0,
		None => checkpoints.saturating_sub(bundle.manifest().checkpoints.len() as u64),
	};
	let needed =
		bundle::max_checkpoint_bytes(spec).saturating_mul(left).saturating_add(spec.file_bytes());
	// Where the system does not tell, writing will.
	let free = fs4::available_space(bundle.folder()).unwrap_or(u64::MAX);
	if free < needed {
		const MIB: u64 = 1 << 20;
		let folder = bundle.folder().to_owned();
		return Err(TrainError::NoSpace { folder, free: free / MIB, needed: needed.div_ceil(MIB) });
	}
	Ok(())
}
