//! The files of a job that moves are computed from, and the recorders over them.
//!
//! A recorder keeps what it computed, in memory and in `disputes/of-JOB-KEY/`: one at a time for each
//! defendant, whatever disputes there are with it. So the work is there for the next move, for another
//! dispute, and after a kill.

use super::{
	bundles, locked,
	party::{Matter, PartyError, Subject},
};
use codec::Encode;
use std::{
	collections::BTreeMap,
	path::{Path, PathBuf},
	sync::{
		atomic::{AtomicBool, Ordering},
		Arc, Mutex,
	},
};
use trainyard_client::court::Defendant;
use trainyard_program::spec::CheckedSpec;
use trainyard_proof::{
	bundle::Bundle,
	court::{Claims, Options, Recorder},
	hash,
	inputs::{InputPaths, Inputs},
};
use trainyard_protocol::{JobId, H256};

/// Recorders that stay open while nobody uses them: two disputes are heard at a time.
const MOST_OPEN: usize = 2;
/// The beginning of the names of their folders.
const FOLDER: &str = "of-";

/// Where the files of one side of a dispute are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
	/// The folder of the defendant's result, which has its manifest.
	pub result: PathBuf,
	/// The folder of the states with which its segments begin, as in a bundle.
	pub states: PathBuf,
	/// The files that the job reads.
	pub inputs: InputPaths,
	/// The blob that the defendant stored for a state, where the dispute is about that.
	pub blob: Option<PathBuf>,
	/// The specification by which the result was trained, where that is not the job's: that of a
	/// [`Cheat`](trainyard_proof::train::Cheat), which defends what it computed.
	pub trained: Option<CheckedSpec>,
	/// Segments that are trained again at most to have a state: of a result of which not all are kept.
	pub again: u32,
}

impl Files {
	/// Returns those of a bundle, or of what was fetched of one.
	pub fn of_bundle(folder: &Path, inputs: InputPaths) -> Self {
		Self {
			result: folder.to_owned(),
			states: folder.to_owned(),
			inputs,
			blob: None,
			trained: None,
			again: 0,
		}
	}

	/// Returns these with the manifest of the bundle of this root, where it is [kept](bundles::keep) beside
	/// them.
	pub fn for_bundle(self, bundle_root: &H256) -> Self {
		let result = bundles::manifest_of(&self.result, bundle_root);
		Self { result: result.unwrap_or(self.result), ..self }
	}

	/// Opens a recorder for a result. Fails where its manifest is not here, is of another result, or a
	/// file of the job is not what the specification names.
	pub fn recorder(&self, subject: &Subject, options: Options) -> Result<Recorder, PartyError> {
		let bundle = Bundle::open(&self.result)?;
		// A trainer's own has the traces that it computed, and beside it what others are shown.
		let (found, expected) = (bundle.root(), subject.result.bundle_root);
		let shown = bundle.shown()?.filter(|shown| shown.computed_root() == expected);
		// Of a blob the states count alone, which all bundles of a result have.
		let is_blob = self.blob.is_some();
		if !is_blob && found != expected && (found != subject.result.true_root || shown.is_none()) {
			let folder = self.result.display();
			let why = format!("{folder} has the manifest of {found:?}, and not of {expected:?}");
			return Err(why.into());
		}
		let claims = Claims::of(bundle.manifest());
		let inputs = Inputs::load_until(&subject.case.spec, &self.inputs, &options.stop)?;
		let mut case = subject.case.clone();
		if let Some(trained) = &self.trained {
			case.spec = trained.clone();
		}
		let mut recorder = Recorder::new(case, claims, &self.states, inputs, options)?;
		if let Some(shown) = shown {
			recorder = recorder.with_shown(Claims::of(&shown));
		}
		Ok(match &self.blob {
			Some(blob) => recorder.with_blob(blob),
			None => recorder,
		})
	}
}

/// A recorder that is open.
struct Held {
	seed: H256,
	recorder: Arc<Recorder>,
	stop: Arc<AtomicBool>,
	/// When it was asked for, by a number that grows.
	asked: u64,
}

/// The recorders of a role.
pub struct Recorders {
	folder: PathBuf,
	/// Most bytes on disk for each.
	disk: u64,
	/// Most bytes in memory for each.
	memory: u64,
	held: Mutex<(u64, BTreeMap<Defendant, Held>)>,
}

impl Recorders {
	/// Makes those that keep their files in `folder`, of at most `disk` bytes for each defendant, and
	/// have `memory` bytes for the results of a step.
	pub fn new(folder: &Path, disk: u64, memory: u64) -> Self {
		Self { folder: folder.to_owned(), disk, memory, held: Mutex::default() }
	}

	/// Returns the folder of what is computed about a defendant.
	pub fn folder(&self, defendant: &Defendant) -> PathBuf {
		let key = defendant.using_encoded(hash::blake2_256);
		self.folder.join(format!("{FOLDER}{}-{}", defendant.job(), hex::encode(&key.0[..8])))
	}

	/// Returns the job of a folder that [`Self::folder`] names.
	pub fn job_of(name: &str) -> Option<JobId> {
		name.strip_prefix(FOLDER)?.split('-').next()?.parse().ok()
	}

	/// Returns what computes disputes with a defendant. Opening takes long: the rows of the job are
	/// read. Of one defendant only one caller at a time may do it.
	pub fn open(
		&self,
		defendant: &Defendant,
		subject: &Subject,
		files: &Files,
	) -> Result<Matter, PartyError> {
		let matter =
			|recorder: &Arc<Recorder>| Matter { subject: subject.clone(), party: recorder.clone() };
		{
			let (number, held) = &mut *locked(&self.held);
			*number += 1;
			match held.get_mut(defendant) {
				// After a reorganisation the same job may have another seed.
				Some(open) if open.seed == subject.case.seed => {
					open.asked = *number;
					return Ok(matter(&open.recorder));
				}
				_ => drop(held.remove(defendant)),
			}
			while held.len() >= MOST_OPEN {
				let idle = held.iter().filter(|(_, open)| Arc::strong_count(&open.recorder) == 1);
				let Some(oldest) = idle.min_by_key(|(_, open)| open.asked).map(|(key, _)| *key)
				else {
					break;
				};
				held.remove(&oldest);
			}
		}
		let stop = Arc::new(AtomicBool::new(false));
		let options = Options {
			folder: Some(self.folder(defendant)),
			disk: self.disk,
			memory: self.memory,
			again: files.again,
			stop: stop.clone(),
		};
		let recorder = Arc::new(files.recorder(subject, options)?);
		let found = matter(&recorder);
		let (number, held) = &mut *locked(&self.held);
		let (seed, asked) = (subject.case.seed, *number);
		held.insert(*defendant, Held { seed, recorder, stop, asked });
		Ok(found)
	}

	/// Closes all but those that are `wanted`. What they compute ends after the present step; what is
	/// on disk stays.
	pub fn retain(&self, wanted: impl Fn(&Defendant) -> bool) {
		locked(&self.held).1.retain(|defendant, open| {
			let is_wanted = wanted(defendant);
			if !is_wanted {
				open.stop.store(true, Ordering::Relaxed);
			}
			is_wanted
		});
	}
}
