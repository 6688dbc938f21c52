//! Thins the states of a bundle out, and computes those again that are not there.
//!
//! A state that is computed again is compared with the hash that the manifest lists, so it is the one that was there,
//! on any machine.

use crate::{
	bundle::{
		files::{self, at},
		lock::{Lock, LockError},
		manifest::checkpoint_file,
		tensors,
		thinning::Thinning,
		Bundle, BundleError, Checkpoint, FileError,
	},
	inputs::{InputError, InputPaths, Inputs},
};
use std::{
	path::Path,
	sync::atomic::{AtomicBool, Ordering},
};
use trainyard_engine::{state_hash, Compute, Engine, EngineError, NanRule, State};

/// Says why states cannot be thinned out, or computed again.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
	/// The bundle cannot be read.
	#[error(transparent)]
	Bundle(#[from] BundleError),
	/// Another process writes the folder.
	#[error(transparent)]
	Lock(#[from] LockError),
	/// A file cannot be read, written or removed.
	#[error(transparent)]
	File(#[from] FileError),
	/// The data, the labels or the initial model are not those of the job.
	#[error(transparent)]
	Input(#[from] InputError),
	/// The engine failed.
	#[error(transparent)]
	Engine(EngineError),
	/// Training is not over.
	#[error(
		"training of the bundle in {0} is not over: finish it with `trainyard train --resume`, which \
		 takes --keep-every as well"
	)]
	Unfinished(std::path::PathBuf),
	/// The bundle lists no checkpoint of this step.
	#[error("the bundle has no checkpoint of step {step}; it has {first} to {last}")]
	NoStep {
		/// The step that was asked for.
		step: u32,
		/// The first step of the bundle.
		first: u32,
		/// The last one.
		last: u32,
	},
	/// What was computed is not what the manifest lists.
	#[error(
		"from the state of step {from} training comes to another state in step {step} than the manifest \
		 lists: {from} or the manifest is false, or this machine makes errors. `trainyard verify` replays \
		 what is there"
	)]
	OtherState {
		/// Step of the state from which it was computed.
		from: u32,
		/// The step in which it differs.
		step: u32,
	},
	/// No state before it is there.
	#[error(
		"no state before step {0} is there, not even that of step 0, from which all others follow"
	)]
	NothingBefore(u32),
	/// Stopped on request.
	#[error("stopped; what was computed is kept, and the same command goes on")]
	Stopped,
}

/// What was done to the states of a bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changed {
	/// States that were removed, or computed and written.
	pub states: u32,
	/// Their bytes.
	pub bytes: u64,
	/// Steps that were computed.
	pub steps: u64,
}

/// Removes the states that `thinning` does not keep from the finished bundle in `folder`. Nothing is removed whose
/// predecessors are not there to compute it from.
pub fn thin(folder: &Path, thinning: Thinning) -> Result<Changed, RestoreError> {
	let _lock = Lock::take(folder)?;
	let bundle = Bundle::open(folder)?;
	if !bundle.is_finished() {
		return Err(RestoreError::Unfinished(folder.to_owned()));
	}
	// Before anything goes, what the rest follows from is looked at: it must be whole.
	let listed = &bundle.manifest().checkpoints;
	let last = bundle.manifest().segments();
	for (index, checkpoint) in (0u32..).zip(listed) {
		if thinning.keeps(index, last) {
			bundle.checkpoint(checkpoint.step)?;
		}
	}
	Ok(sweep(&bundle, thinning, 0, last)?)
}

/// Removes the states from index `from` up to `last`, without it, that are not kept.
pub(crate) fn sweep(
	bundle: &Bundle,
	thinning: Thinning,
	from: u32,
	last: u32,
) -> Result<Changed, FileError> {
	let mut changed = Changed::default();
	let listed = (0u32..).zip(&bundle.manifest().checkpoints);
	for (index, checkpoint) in listed.skip(from as usize) {
		if index >= last || thinning.keeps(index, last) {
			continue;
		}
		let path = bundle.path(&checkpoint_file(checkpoint.step));
		let Ok(about) = std::fs::metadata(&path) else { continue };
		std::fs::remove_file(&path).map_err(at("remove", &path))?;
		changed.states = changed.states.saturating_add(1);
		changed.bytes = changed.bytes.saturating_add(about.len());
	}
	Ok(changed)
}

/// Returns the steps of the states that a bundle lists and that are not there.
pub fn missing(bundle: &Bundle) -> Vec<u32> {
	let steps = bundle.manifest().checkpoints.iter().map(|listed| listed.step);
	steps.filter(|step| !bundle.has_checkpoint(*step)).collect()
}

/// Computes the states after these `steps` again that are not there, each from the nearest one before it that is, and
/// writes them. `progress` is told how many steps of how many are computed.
///
/// Once `stop` is set it ends after the present step; states that were written stay.
pub fn restore(
	folder: &Path,
	paths: &InputPaths,
	steps: &[u32],
	progress: &mut dyn FnMut(u64, u64),
	stop: &AtomicBool,
) -> Result<Changed, RestoreError> {
	restore_on(Compute::chosen(), folder, paths, steps, progress, stop)
}

/// Does what [`restore`] does, on this device.
pub fn restore_on(
	device: Compute,
	folder: &Path,
	paths: &InputPaths,
	steps: &[u32],
	progress: &mut dyn FnMut(u64, u64),
	stop: &AtomicBool,
) -> Result<Changed, RestoreError> {
	let _lock = Lock::take(folder)?;
	let bundle = Bundle::open(folder)?;
	let runs = plan(&bundle, steps)?;
	if runs.is_empty() {
		return Ok(Changed::default());
	}
	let spec = &bundle.manifest().spec;
	let inputs = Inputs::load_until(spec, paths, stop)?;
	let target = device.target().map_err(RestoreError::Engine)?;
	let seed = bundle.manifest().seed;
	let engine = Engine::on(spec, seed, inputs.data, target).map_err(RestoreError::Engine)?;
	let all = runs.iter().map(Stretch::steps).sum();
	let mut changed = Changed::default();
	for stretch in runs {
		compute(&engine, &bundle, &stretch, &mut changed, &mut |done| progress(done, all), stop)?;
	}
	Ok(changed)
}

/// A stretch of a run: from a state that is there, over the checkpoints behind it.
struct Stretch {
	from: Checkpoint,
	/// The checkpoints up to the last one that is wanted, each with whether it is.
	to: Vec<(Checkpoint, bool)>,
}

impl Stretch {
	/// Returns how many steps it takes.
	fn steps(&self) -> u64 {
		self.to.last().map_or(0, |(last, _)| u64::from(last.step.saturating_sub(self.from.step)))
	}
}

/// Returns what is to be computed so that the states after these steps are there.
fn plan(bundle: &Bundle, steps: &[u32]) -> Result<Vec<Stretch>, RestoreError> {
	let listed = &bundle.manifest().checkpoints;
	for step in steps {
		if !listed.iter().any(|checkpoint| checkpoint.step == *step) {
			let [first, last] =
				[listed.first(), listed.last()].map(|it| it.map_or(0, |it| it.step));
			return Err(RestoreError::NoStep { step: *step, first, last });
		}
	}
	let (mut runs, mut open): (Vec<Stretch>, Option<Stretch>) = (Vec::new(), None);
	for checkpoint in listed {
		let is_here = bundle.has_checkpoint(checkpoint.step);
		let is_wanted = !is_here && steps.contains(&checkpoint.step);
		if is_here {
			runs.extend(open.take());
			open = Some(Stretch { from: *checkpoint, to: Vec::new() });
		} else if let Some(stretch) = &mut open {
			stretch.to.push((*checkpoint, is_wanted));
		} else if is_wanted {
			return Err(RestoreError::NothingBefore(checkpoint.step));
		}
	}
	runs.extend(open);
	for stretch in &mut runs {
		while stretch.to.last().is_some_and(|(_, is_wanted)| !is_wanted) {
			stretch.to.pop();
		}
	}
	runs.retain(|stretch| !stretch.to.is_empty());
	Ok(runs)
}

/// Computes a stretch.
fn compute(
	engine: &Engine,
	bundle: &Bundle,
	stretch: &Stretch,
	changed: &mut Changed,
	progress: &mut dyn FnMut(u64),
	stop: &AtomicBool,
) -> Result<(), RestoreError> {
	let failed = RestoreError::Engine;
	let begun = bundle.checkpoint(stretch.from.step)?;
	let mut state = State::from_host(begun).map_err(failed)?;
	let mut from = stretch.from.step;
	for (listed, is_wanted) in &stretch.to {
		let other = || RestoreError::OtherState { from: stretch.from.step, step: listed.step };
		for step in from..listed.step {
			if stop.load(Ordering::Relaxed) {
				return Err(RestoreError::Stopped);
			}
			match engine.step(&mut state, step) {
				Ok(_) => {}
				// No state of a bundle lies behind a divergence.
				Err(EngineError::NotANumber { .. }) => return Err(other()),
				Err(e) => return Err(failed(e)),
			}
			changed.steps = changed.steps.saturating_add(1);
			progress(changed.steps);
		}
		from = listed.step;
		let raw = state.to_host().map_err(failed)?;
		// Each is compared, so that an error is found where it is.
		if state_hash(&raw, NanRule::Allow).map_err(failed)? != listed.state_hash {
			return Err(other());
		}
		if *is_wanted {
			let bytes = tensors::encode(&raw);
			files::write(&bundle.path(&checkpoint_file(listed.step)), &bytes)?;
			changed.states = changed.states.saturating_add(1);
			changed.bytes = changed.bytes.saturating_add(bytes.len() as u64);
		}
	}
	Ok(())
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{
		bundle::CHECKPOINTS,
		testing::{job, table, train},
	};
	use std::{collections::BTreeMap, num::NonZeroU32, path::PathBuf};

	static NEVER: AtomicBool = AtomicBool::new(false);

	fn every(n: u32) -> Thinning {
		Thinning::every(NonZeroU32::new(n).unwrap())
	}

	struct Trained {
		_folder: tempfile::TempDir,
		data: PathBuf,
		out: PathBuf,
		bundle: Bundle,
	}

	/// Six segments of ten steps.
	fn trained() -> Trained {
		let folder = tempfile::tempdir().unwrap();
		let data = table(folder.path());
		let out = folder.path().join("bundle");
		let bundle = train(&job(&data), &data, &out, false, None).unwrap();
		assert_eq!(bundle.manifest().segments(), 6);
		Trained { _folder: folder, data, out, bundle }
	}

	impl Trained {
		fn states(&self) -> BTreeMap<String, Vec<u8>> {
			let all = std::fs::read_dir(self.out.join(CHECKPOINTS)).unwrap();
			all.map(|entry| {
				let path = entry.unwrap().path();
				let name = path.file_name().unwrap().to_string_lossy().into_owned();
				(name, std::fs::read(path).unwrap())
			})
			.collect()
		}

		fn restore(&self, steps: &[u32]) -> Result<Changed, RestoreError> {
			restore(&self.out, &InputPaths::data(&self.data), steps, &mut |_, _| {}, &NEVER)
		}
	}

	#[test]
	fn what_was_thinned_out_is_computed_again_to_the_bit() {
		let it = trained();
		let whole = it.states();
		let size = whole.values().next().unwrap().len() as u64;
		let gone = thin(&it.out, every(4)).unwrap();
		assert_eq!(gone, Changed { states: 4, bytes: 4 * size, steps: 0 });
		assert_eq!(missing(&it.bundle), [10, 20, 30, 50]);
		assert_eq!(thin(&it.out, every(4)).unwrap(), Changed::default(), "again nothing");

		// One alone, and nothing between.
		assert_eq!(it.restore(&[20]).unwrap(), Changed { states: 1, bytes: size, steps: 20 });
		assert_eq!(missing(&it.bundle), [10, 30, 50]);
		// From the nearest one: ten steps each.
		let mut told = Vec::new();
		let paths = InputPaths::data(&it.data);
		let all = missing(&it.bundle);
		let again =
			restore(&it.out, &paths, &all, &mut |done, of| told.push((done, of)), &NEVER).unwrap();
		assert_eq!(again, Changed { states: 3, bytes: 3 * size, steps: 30 });
		assert_eq!((told.len(), told[0], told[29]), (30, (1, 30), (30, 30)));
		assert_eq!(it.states(), whole);
		assert_eq!(it.restore(&all).unwrap(), Changed::default());
	}

	#[test]
	fn a_stop_keeps_what_was_written() {
		let it = trained();
		let whole = it.states();
		thin(&it.out, every(6)).unwrap();
		let (all, stop) = (missing(&it.bundle), AtomicBool::new(false));
		let mut progress = |done, _| stop.store(done >= 25, Ordering::Relaxed);
		let error = restore(&it.out, &InputPaths::data(&it.data), &all, &mut progress, &stop);
		assert!(matches!(error, Err(RestoreError::Stopped)));
		assert_eq!(missing(&it.bundle), [30, 40, 50]);
		assert_eq!(it.restore(&all).unwrap().steps, 30);
		assert_eq!(it.states(), whole);
	}

	#[test]
	fn what_is_damaged_is_not_built_upon() {
		let it = trained();
		// Nothing goes where what it follows from is not whole.
		let kept = it.out.join(checkpoint_file(40));
		let bytes = std::fs::read(&kept).unwrap();
		std::fs::write(&kept, &bytes[..bytes.len() - 4]).unwrap();
		assert!(matches!(thin(&it.out, every(4)), Err(RestoreError::Bundle(_))));
		assert!(missing(&it.bundle).is_empty());
		std::fs::write(&kept, bytes).unwrap();
		thin(&it.out, every(4)).unwrap();

		assert!(matches!(
			it.restore(&[11]),
			Err(RestoreError::NoStep { step: 11, first: 0, last: 60 })
		));
		// A manifest that lists another state.
		let path = it.out.join(crate::bundle::manifest::FILE);
		let before = std::fs::read_to_string(&path).unwrap();
		let hash = format!("{:?}", it.bundle.manifest().checkpoints[2].state_hash);
		std::fs::write(&path, before.replace(&hash, &format!("0x{}", "7".repeat(64)))).unwrap();
		let error = it.restore(&[30]).unwrap_err();
		assert!(matches!(error, RestoreError::OtherState { from: 0, step: 20 }), "{error}");
		assert_eq!(missing(&it.bundle), [10, 20, 30, 50], "nothing is written behind it");
		std::fs::write(&path, before).unwrap();
		std::fs::remove_file(it.out.join(checkpoint_file(0))).unwrap();
		assert!(matches!(it.restore(&[10]), Err(RestoreError::NothingBefore(10))));
		assert_eq!(it.restore(&[50]).unwrap().steps, 10);
	}
}
