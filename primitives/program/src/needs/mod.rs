//! What a job asks of every machine that computes it, from its specification alone: memory, rows,
//! bytes to fetch, bytes to store in a rescue. The chain refuses what a machine of the job's
//! [`MachineClass`] could not carry; trainers and verifiers decide by the same numbers.
//!
//! A job whose numbers nobody counted would be a trap: a large machine trains it, every small one
//! that is drawn to verify it dies, and the work is never paid.

mod class;
mod live;

pub use class::{Limits, MachineClass, Resource, Room, Shortage};

use crate::{lower, order, samples, spec::CheckedSpec, thinning, work::Parts};
use class::ROWS_BESIDE;
use live::{bytes_of, live};

/// Memory for programs and for threads, in bytes: seven buffers of 1 MiB that each of 16 keeps.
const BASE: u64 = 128 << 20;
/// Most bytes of a checkpoint's index, and of each tensor's entry in it besides its name.
const INDEX_BYTES: u64 = 1_024;
/// Most bytes of a tensor's entry for each letter of its name, which may be escaped.
const LETTER_BYTES: u64 = 6;
/// Most bytes of a manifest for each checkpoint.
const MANIFEST_ENTRY: u64 = 512;
/// Bytes of a leaf of a bundle in an answer on chain.
pub const LEAF_BYTES: u64 = 81;
/// Most bytes of a manifest, and of an archive's index, beyond those of its entries.
const MANIFEST_BASE: u64 = 64 * 1_024;

/// Needs of one job, in bytes. They saturate instead of overflowing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
	/// Tensors of a training step that live at once, without the state; and what gives the order of
	/// the rows.
	pub step: u64,
	/// Tensors of an evaluation that live at once, without the state, for the rows that are taken
	/// at a time; and the losses of all validation rows.
	pub evaluation: u64,
	/// A checkpoint: all tensors of the state, in a file.
	pub checkpoint: u64,
	/// The model, in a file: four bytes a parameter, and 1 MiB for what surrounds them.
	pub model: u64,
	/// The initial model of a fine-tuning.
	pub initial: u64,
	/// Rows of the data, decoded: inputs and labels.
	pub rows: u64,
	/// Text of the data that is read at most, decompressed ([`Dataset::text_bytes`]).
	///
	/// [`Dataset::text_bytes`]: crate::spec::Dataset::text_bytes
	pub text: u64,
	/// The largest content of the rows, as they are hashed: inputs or labels of those that train, or of
	/// those that validate.
	pub content: u64,
	/// Files that the job reads.
	pub files: u64,
	/// Segments.
	segments: u32,
	/// The [samples] of a state.
	pub samples: u64,
}

/// What somebody can lack of a result that nobody serves, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lacking {
	/// What trainers then store on chain.
	pub stored: u64,
	/// A state that no rescue carries, of which a relay committee decides; 0 where a rescue carries each.
	pub relayed: u64,
	/// All rows where no rescue carries them, of which a relay committee decides as well; else 0.
	pub relayed_rows: u64,
	/// The [samples] of all states that are kept, of which a relay committee decides too; 0 where no segment can be picked by
	/// them.
	pub samples: u64,
}

impl Needs {
	/// Returns the needs of a job, and the work of its parts. The operator lists are made here, and
	/// they are most of what this costs: ask for both at once.
	pub fn and_parts(spec: &CheckedSpec) -> (Self, Parts) {
		let dataset = &spec.dataset;
		let (step, whole) = (lower::training_step(spec), lower::evaluation(spec));
		let parts = Parts::of_lists(&step, &whole);
		let slice = spec.slice_rows();
		let evaluation = match dataset.validation_rows <= slice {
			true => live(&whole),
			false => live(&lower::evaluation_of(spec, slice)),
		};
		let labels = u64::from(spec.labels_per_row());
		let width = u64::from(dataset.features).saturating_add(labels);
		let extent = dataset.extent();
		// What gives the order of an epoch and of the next; losses of all labels and of those at
		// a time.
		let order = order::table_bytes(dataset.train_rows).saturating_mul(2);
		let losses = u64::from(dataset.validation_rows).saturating_mul(labels).saturating_mul(8);
		let needs = Self {
			step: live(&step).saturating_add(order),
			evaluation: evaluation.saturating_add(losses),
			checkpoint: checkpoint_bytes(spec),
			model: spec.parameters().saturating_mul(4).saturating_add(ROWS_BESIDE),
			initial: spec.initial_model.as_ref().map_or(0, |model| model.file.bytes),
			rows: extent.rows.saturating_mul(width).saturating_mul(4),
			text: dataset.text_bytes(),
			content: content_bytes(spec),
			files: spec.file_bytes(),
			segments: spec.segments(),
			samples: samples::chunks_of_state(spec).saturating_mul(samples::CHUNK_BYTES),
		};
		(needs, parts)
	}

	/// Returns the needs of a job.
	pub fn of(spec: &CheckedSpec) -> Self {
		Self::and_parts(spec).0
	}

	/// Returns the memory of training and replaying, without the rows of the data, which are kept in
	/// a file where they are many: the initial model, and besides a step the state and the last two
	/// checkpoints; besides an evaluation also the next one; besides neither its encoding, too.
	pub fn memory(&self) -> u64 {
		let copies = |n: u64| self.checkpoint.saturating_mul(n);
		let step = copies(3).saturating_add(self.step);
		let evaluation = copies(4).saturating_add(self.evaluation);
		let most = step.max(evaluation).max(copies(5));
		most.saturating_add(self.initial).saturating_add(BASE)
	}

	/// Returns what can be lacking of a result of which `replayed` segments are replayed, where a rescue
	/// has `room` bytes: the states that are read, the rows as they were decoded, and the list of
	/// checkpoints. They are asked for one after the other where they are more than a rescue together.
	/// Of the states one in `every` is kept by the trainer, and there are samples of these.
	pub fn lacking(&self, replayed: u32, room: u64, every: u32) -> Lacking {
		let (states, relayed) = match self.checkpoint <= room {
			true => (self.lacked_states(replayed), 0),
			false => (0, self.checkpoint),
		};
		// Where a rescue does not carry all rows, ranges of them can be asked for as far as one does.
		let besides = self.rows.min(room).saturating_add(self.leaves());
		let relayed_rows = if self.rows <= room { 0 } else { self.rows };
		let stored = states.saturating_add(besides);
		Lacking { stored, relayed, relayed_rows, samples: self.all_samples(every) }
	}

	/// Returns the bytes of the samples of all states that are [kept](crate::thinning), one in `every`; 0 where no
	/// segment can be picked by them.
	pub fn all_samples(&self, every: u32) -> u64 {
		samples::chunks_of_run(self.samples, every, self.segments)
	}

	/// Returns the bytes of the states that can be asked for: those that are read, and the first one, which
	/// has the model of a fine-tuning for who cannot fetch its file.
	fn lacked_states(&self, replayed: u32) -> u64 {
		let read = read_states(self.segments, replayed);
		let all = u64::from(self.segments).saturating_add(1);
		let begin = u64::from(self.initial != 0);
		self.checkpoint.saturating_mul(read.saturating_add(begin).min(all))
	}

	/// Returns the most bytes of the list of checkpoints as trainers show it on chain.
	fn leaves(&self) -> u64 {
		LEAF_BYTES.saturating_mul(u64::from(self.segments).saturating_add(2))
	}

	/// Returns the most bytes of the states of a result that its trainer [keeps](crate::thinning), one in `every`.
	pub fn kept_states(&self, every: u32) -> u64 {
		self.checkpoint.saturating_mul(thinning::kept(every, self.segments).into())
	}

	/// Returns the most bytes that a trainer holds of states of a result: what it keeps, and two stretches that it
	/// computed again, of which it serves one while it computes the other; no more than all.
	pub fn held_states(&self, every: u32) -> u64 {
		let two = thinning::segments_of_stretches(every, self.segments, 2);
		self.kept_states(every).saturating_add(self.checkpoint.saturating_mul(two.into()))
	}

	/// Returns the most bytes of a manifest, and of the index of an archive that holds it.
	pub fn manifest(&self) -> u64 {
		let checkpoints = u64::from(self.segments).saturating_add(1);
		MANIFEST_ENTRY.saturating_mul(checkpoints).saturating_add(MANIFEST_BASE)
	}

	/// Returns the most bytes that a verifier fetches in a round: the files, and of each result that
	/// may differ the states of the segments that it replays, with its manifest.
	pub fn download(&self, replayed: u32, results: u32) -> u64 {
		self.states(replayed)
			.saturating_add(self.manifest())
			.saturating_mul(u64::from(results))
			.saturating_add(self.files)
	}

	/// Returns the most bytes of disk that a verifier of such a round takes: what it fetches, and the file
	/// of the decoded rows.
	pub fn disk(&self, replayed: u32, results: u32) -> u64 {
		self.download(replayed, results).saturating_add(self.rows).saturating_add(ROWS_BESIDE)
	}

	/// Returns the bytes of the states that an audit of that many segments reads.
	fn states(&self, segments: u32) -> u64 {
		self.checkpoint.saturating_mul(read_states(self.segments, segments))
	}

	/// Returns every number that has a limit beside it: of a job of which a verifier replays `replayed`
	/// segments of at most `results` results, on machines of this class and a chain with this room. States
	/// have none of their own: those that no rescue carries are asked of a relay committee.
	pub fn beside(
		&self,
		class: MachineClass,
		replayed: u32,
		results: u32,
		room: Room,
	) -> [Shortage; 6] {
		let limits = class.limits();
		let of = |resource, needed, limit| Shortage { resource, needed, limit };
		[
			of(Resource::Memory, self.memory(), limits.memory),
			of(Resource::Rows, self.rows, limits.rows),
			of(Resource::Text, self.text, limits.text),
			of(Resource::Download, self.download(replayed, results), limits.download),
			of(Resource::Rescue, self.files.saturating_add(self.leaves()), room.rescue),
			of(Resource::Content, self.content, room.blob),
		]
	}
}

/// Returns the most bytes of a checkpoint file of this job.
pub fn checkpoint_bytes(spec: &CheckedSpec) -> u64 {
	lower::state(spec).iter().fold(INDEX_BYTES, |sum, tensor| {
		let elements = tensor.shape.iter().fold(1u128, |n, d| n.saturating_mul(u128::from(*d)));
		let name = LETTER_BYTES.saturating_mul(tensor.name.len() as u64);
		sum.saturating_add(bytes_of(elements)).saturating_add(INDEX_BYTES).saturating_add(name)
	})
}

/// Returns the most states that are read to find where a standstill began among that many segments:
/// both ends of each segment that a search by halves looks at.
pub fn searched_states(segments: u32) -> u32 {
	u32::BITS.saturating_sub(segments.leading_zeros()).saturating_mul(2)
}

/// Returns the most states that an audit of `drawn` of these segments reads: both ends of each, the
/// last, and those of a search.
pub fn read_states(segments: u32, drawn: u32) -> u64 {
	let ends = u64::from(drawn).saturating_mul(2).saturating_add(1);
	let read = ends.saturating_add(u64::from(searched_states(segments)));
	read.min(u64::from(segments).saturating_add(1))
}

/// Returns the bytes of the largest of the four contents under the rows root: inputs and labels of the rows
/// that train, and of those that validate, 4 bytes a number.
fn content_bytes(spec: &CheckedSpec) -> u64 {
	let dataset = &spec.dataset;
	let rows = u64::from(dataset.train_rows.max(dataset.validation_rows));
	let width = u64::from(dataset.features.max(dataset.labels_per_row()));
	rows.saturating_mul(width).saturating_mul(4)
}

#[cfg(test)]
mod tests;
