//! Reads parts of all checkpoints of a run, one after the other.

use super::{kept::Kept, Measure, Movement, Plan};
use crate::bundle::{
	manifest::checkpoint_file,
	openings::{Opening, Parts, Tensors, WrongOpening},
	Bundle, FileError,
};
use primitive_types::H256;
use std::{
	path::{Path, PathBuf},
	sync::Arc,
};
use trainyard_program::spec::CheckedSpec;

/// What a [`Source`] is asked for.
#[derive(Clone, Debug)]
pub struct Request {
	/// Index of the checkpoint.
	pub checkpoint: u32,
	/// Steps done there.
	pub step: u32,
	/// Hash of the state there.
	pub state: H256,
	/// What of it.
	pub parts: Parts,
	pub(super) tensors: Arc<Tensors>,
}

impl Request {
	/// Returns the most bytes that an opening of it has.
	pub fn most_bytes(&self) -> u64 {
		self.tensors.most_bytes(&self.parts)
	}

	/// Returns the elements of each part, if `opening` shows them. The error has the index of the first
	/// part that it does not show.
	pub fn elements(&self, opening: &Opening) -> Result<Vec<Vec<f32>>, (usize, WrongOpening)> {
		opening.elements(&self.state, &self.tensors, &self.parts)
	}
}

/// Opens parts of the checkpoints of one result.
pub trait Source {
	/// Returns the parts asked for. Nothing in the answer is believed. The error is one line.
	fn open(&mut self, request: &Request) -> Result<Opening, String>;
}

/// The checkpoint files in the folder of a bundle.
#[derive(Clone, Debug)]
pub struct Local(
	/// The folder.
	pub PathBuf,
);

impl Source for Local {
	fn open(&mut self, request: &Request) -> Result<Opening, String> {
		let path = self.0.join(checkpoint_file(request.step));
		Opening::of_file(&path, &request.parts).map_err(|e| e.to_string())
	}
}

/// Says why the movement of a run is not known.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
	/// The source does not give a part of a state.
	#[error("checkpoint {checkpoint}, {tensor}: it cannot be had: {why}")]
	Missing {
		/// Index of the checkpoint.
		checkpoint: u32,
		/// Name of the tensor.
		tensor: String,
		/// What the source said, in one line.
		why: String,
	},
	/// The source gives something else.
	#[error("checkpoint {checkpoint}, {tensor}: what came does not open the state: {why}")]
	Wrong {
		/// Index of the checkpoint.
		checkpoint: u32,
		/// Name of the tensor.
		tensor: String,
		/// What is wrong.
		why: WrongOpening,
	},
	/// The state that was committed to is none of an honest run, which holds finite numbers only.
	#[error("checkpoint {checkpoint}, {tensor}: it holds {value}")]
	NotFinite {
		/// Index of the checkpoint.
		checkpoint: u32,
		/// Name of the tensor.
		tensor: String,
		/// The first such number.
		value: f32,
	},
	/// What was measured cannot be kept on this machine.
	#[error(transparent)]
	File(#[from] FileError),
}

impl Fault {
	/// Returns whether it is this machine's, and says nothing of the run.
	pub fn is_local(&self) -> bool {
		matches!(self, Self::File(_))
	}
}

/// A reading of a run under way.
///
/// Its memory is the parts of two checkpoints, one answer, and 8 bytes for each tensor and segment.
#[derive(Debug)]
pub struct Walk<'a> {
	spec: &'a CheckedSpec,
	/// Whether training diverged after the last checkpoint.
	diverged: bool,
	plan: Plan,
	/// Index, steps and state hash of each checkpoint that is read, ascending.
	checkpoints: Vec<(u32, u32, H256)>,
	/// Index of the last checkpoint of the run.
	last: u32,
	/// How far each part moved, of the segments so far.
	moved: Vec<Vec<f64>>,
	/// Where these are kept, if they are.
	kept: Option<Kept>,
	/// Index of the checkpoint that is read.
	at: usize,
	/// What came of it so far.
	now: Vec<Vec<f32>>,
	/// The one before it, where that was read.
	before: Option<Vec<Vec<f32>>>,
	/// Of how many parts each is asked for alone, as they did not come together.
	alone: usize,
}

impl<'a> Walk<'a> {
	/// Begins with the run of `spec` that has these checkpoints, by steps and state hashes, and `diverged`
	/// after them or not, as the seat with this VRF `output` that picks by `measure`. They must be those
	/// that the trainer revealed.
	pub fn new(
		spec: &'a CheckedSpec,
		checkpoints: impl IntoIterator<Item = (u32, H256)>,
		diverged: bool,
		measure: Measure,
		output: &H256,
	) -> Self {
		let checkpoints = (0u32..).zip(checkpoints).map(|(at, (step, state))| (at, step, state));
		let checkpoints: Vec<_> = checkpoints.collect();
		Self {
			spec,
			diverged,
			plan: Plan::of(spec, measure, output),
			last: checkpoints.last().map_or(0, |(at, ..)| *at),
			checkpoints,
			moved: Vec::new(),
			kept: None,
			at: 0,
			now: Vec::new(),
			before: None,
			alone: 0,
		}
	}

	/// Reads only those checkpoints whose index is `wanted`: what is measured is how far the run moves from each of
	/// them to the next.
	pub fn among(mut self, wanted: impl Fn(u32) -> bool) -> Self {
		self.checkpoints.retain(|(at, ..)| wanted(*at));
		self
	}

	/// Begins with the run of this bundle, which must be that of its revealed root.
	pub fn of_bundle(bundle: &'a Bundle, measure: Measure, output: &H256) -> Self {
		let manifest = bundle.manifest();
		let listed = manifest.checkpoints.iter().map(|c| (c.step, c.state_hash));
		Self::new(&manifest.spec, listed, manifest.diverged.is_some(), measure, output)
	}

	/// Keeps what is measured in the file at `path` from now on, and goes on after what it has of this
	/// run and plan already.
	pub fn keep_in(&mut self, path: &Path) -> Result<(), FileError> {
		let checkpoints: Vec<_> =
			self.checkpoints.iter().map(|(_, step, state)| (*step, *state)).collect();
		let (kept, moved) = Kept::open(path, &self.plan, &checkpoints)?;
		self.kept = Some(kept);
		// A segment needs both of its ends: that in which the next one begins is read again.
		self.at = moved.len();
		(self.moved, self.now, self.before) = (moved, Vec::new(), None);
		Ok(())
	}

	/// Returns what is read of every checkpoint.
	pub fn plan(&self) -> &Plan {
		&self.plan
	}

	/// Returns the number of segments, or of stretches of them, that have been measured.
	pub fn segments(&self) -> u32 {
		u32::try_from(self.moved.len()).unwrap_or(u32::MAX)
	}

	/// Returns what to ask for next, whose answer [`Self::answer`] takes; `None` where all has been read.
	/// A run without a segment that was trained to its end has nothing to read.
	pub fn request(&self) -> Option<Request> {
		let most = if self.alone > 0 { 1 } else { usize::MAX };
		let segments = self.checkpoints.len().saturating_sub(1);
		if self.moved.len() >= segments || self.plan.parts.is_empty() {
			return None;
		}
		let (checkpoint, step, state) = *self.checkpoints.get(self.at)?;
		self.plan.request((checkpoint, step, state), self.now.len(), most)
	}

	/// Returns the name of the tensor of this part of the checkpoint that is read.
	fn name(&self, part: usize) -> String {
		self.plan.names.get(self.now.len().saturating_add(part)).cloned().unwrap_or_default()
	}

	/// Takes the answer to what [`Self::request`] returned last: an opening, in which nothing is believed,
	/// or in one line why there is none. After a fault it can go on with another source.
	///
	/// Where several parts do not come together, or come wrong, each is asked for alone next, so that
	/// the fault names the tensor.
	pub fn answer(
		&mut self,
		request: &Request,
		answer: Result<Opening, String>,
	) -> Result<(), Fault> {
		let missing =
			|why| Fault::Missing { checkpoint: request.checkpoint, tensor: self.name(0), why };
		let taken = match answer {
			Ok(opening) => self.take(request, &opening),
			Err(why) => Err(missing(why)),
		};
		match taken {
			Ok(()) => self.alone = self.alone.saturating_sub(1),
			Err(Fault::Missing { .. } | Fault::Wrong { .. }) if request.parts.len() > 1 => {
				self.alone = request.parts.len();
			}
			Err(fault) => {
				self.alone = 0;
				return Err(fault);
			}
		}
		Ok(())
	}

	/// Returns how far each part moved, in the segments that have been measured.
	pub fn movement(&self) -> Movement {
		let ends = self.checkpoints.iter().zip(self.checkpoints.iter().skip(1));
		let spans = ends.map(|((from, ..), (to, ..))| (*from, *to)).collect();
		Movement::new(self.spec, &self.plan, &self.moved, (spans, self.last, self.diverged))
	}

	/// Takes an opening.
	fn take(&mut self, request: &Request, opening: &Opening) -> Result<(), Fault> {
		let checkpoint = request.checkpoint;
		let found = request.elements(opening).map_err(|(part, why)| Fault::Wrong {
			checkpoint,
			tensor: self.name(part),
			why,
		})?;
		for (part, elements) in found.iter().enumerate() {
			if let Some(value) = elements.iter().find(|x| !x.is_finite()) {
				return Err(Fault::NotFinite {
					checkpoint,
					tensor: self.name(part),
					value: *value,
				});
			}
		}
		self.now.extend(found);
		if self.now.len() < self.plan.parts.len() {
			return Ok(());
		}
		let now = std::mem::take(&mut self.now);
		if let Some(before) = &self.before {
			let moved: Vec<f64> = before.iter().zip(&now).map(|(x, y)| farthest(x, y)).collect();
			if let Some(kept) = &mut self.kept {
				kept.push(&moved)?;
			}
			self.moved.push(moved);
		}
		self.before = Some(now);
		self.at += 1;
		Ok(())
	}

	/// Reads the rest of the run. After a fault it can be called again, with another source as well,
	/// and goes on where it stopped.
	pub fn run(&mut self, source: &mut dyn Source) -> Result<Movement, Fault> {
		while let Some(request) = self.request() {
			let answer = source.open(&request);
			self.answer(&request, answer)?;
		}
		Ok(self.movement())
	}
}

/// Returns the largest distance of two elements at one place.
fn farthest(from: &[f32], to: &[f32]) -> f64 {
	let distances = from.iter().zip(to).map(|(x, y)| (f64::from(*y) - f64::from(*x)).abs());
	distances.fold(0.0, f64::max)
}
