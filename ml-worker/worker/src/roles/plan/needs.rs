//! Computes what a job asks of a machine, from its specification and terms alone.

use trainyard_program::{needs, spec::CheckedSpec, units, MicroUt};
use trainyard_proof::data::kept;
use trainyard_protocol::{
	blob,
	job::{Balance, Terms},
};

/// Bytes of a manifest for each checkpoint, at most.
const MANIFEST_ENTRY: u64 = 512;
/// Bytes of a manifest and of what leads to the states besides.
const MANIFEST_BASE: u64 = 64 * 1024;
/// Seconds that putting a checkpoint on disk takes besides its bytes: four files synced.
const CHECKPOINT_SECONDS: f64 = 0.02;
/// Bytes of checkpoints that are hashed, encoded and written in a second.
const CHECKPOINT_SPEED: f64 = 1e8;

/// Needs of one job, in bytes unless said otherwise. Saturates instead of overflowing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
	/// Memory while it trains, as the chain counts it ([`needs::Needs::memory`]), and the rows of the
	/// data; or twice what a rescue brings, if that is more.
	pub memory: u64,
	/// Disk: all checkpoints that are kept and room for some that are computed again, the model, the files that the job reads, once fetched and once in the
	/// bundle, and their rows once decoded.
	pub disk: u64,
	/// Number of checkpoints.
	pub checkpoints: u64,
	/// The largest checkpoint.
	pub checkpoint: u64,
	/// The model's file.
	pub model: u64,
	/// All that seats of an audit can ask to be stored on chain at once, at most.
	pub rescue: u64,
	/// Rows of the data, decoded.
	pub rows: u64,
	/// A state that is too large for the chain: seats of relays are served it, and a false answer of theirs
	/// is doubted. 0 where there is none.
	pub relayed: u64,
	/// The rows where they are too large for the chain, of which the same holds; else 0.
	pub relayed_rows: u64,
	/// The samples of all states, of which the same holds; 0 where no segment is picked by them.
	pub samples: u64,
	/// The price of the work, done once, from which it follows what relays cost at least.
	pub price: Balance,
}

impl Needs {
	/// Returns the needs of a job.
	pub fn of(spec: &CheckedSpec, terms: &Terms) -> Self {
		let (counted, parts) = needs::Needs::and_parts(spec);
		let work = parts.micro_ut_of(spec, spec.segments()).unwrap_or(MicroUt::MAX);
		let price = units::price(work, terms.price_per_ut).unwrap_or(Balance::MAX);
		let checkpoints = u64::from(spec.segments()).saturating_add(1);
		let checkpoint = counted.checkpoint;
		let model = spec.parameters().saturating_mul(4).saturating_add(16_384);
		let manifest = MANIFEST_ENTRY.saturating_mul(checkpoints).saturating_add(MANIFEST_BASE);
		let room = blob::room().rescue;
		let lacking =
			counted.lacking(terms.replayed_by_all(spec.segments()), room, terms.keep_every);
		// More is asked for when that is stored.
		let rescue = lacking.stored.min(room);
		let disk = counted
			.held_states(terms.keep_every)
			.saturating_add(manifest)
			.saturating_add(model)
			.saturating_add(spec.file_bytes().saturating_mul(2))
			.saturating_add(kept::length(&spec.dataset));
		// What is stored on chain of states that are not kept lies on disk before.
		let disk = match terms.keep_every {
			0 | 1 => disk,
			_ => disk.saturating_add(rescue),
		};
		// A table grows by doubling.
		let table = counted.rows.saturating_mul(2);
		let training = counted.memory().saturating_add(table);
		let memory = training.max(rescue.saturating_mul(2));
		let (rows, relayed, relayed_rows) = (counted.rows, lacking.relayed, lacking.relayed_rows);
		let samples = lacking.samples;
		Self {
			memory,
			disk,
			checkpoints,
			checkpoint,
			model,
			rescue,
			rows,
			relayed,
			relayed_rows,
			samples,
			price,
		}
	}

	/// Returns whether relays can be asked about a result: a segment is picked by samples, or `room` bytes, which
	/// the chain carries, are not enough for a state, or for all rows.
	pub fn may_be_relayed(&self, room: u64) -> bool {
		self.samples > 0 || self.checkpoint.max(self.rows) > room
	}

	/// Returns the seconds for putting all checkpoints on disk.
	pub fn checkpoint_seconds(&self) -> f64 {
		let one = CHECKPOINT_SECONDS + self.checkpoint as f64 / CHECKPOINT_SPEED;
		self.checkpoints as f64 * one
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::{
		spec::{DataFormat, FileRef, InitialModel, JobSpec},
		H256,
	};

	fn needs(spec: &JobSpec) -> Needs {
		Needs::of(&spec.clone().check().unwrap(), &terms())
	}

	fn terms() -> Terms {
		Terms {
			price_per_ut: 1,
			replicas: 1,
			verifiers: 3,
			audit_segments: 3,
			audit_fee: 1,
			apply_blocks: 10,
			training_blocks: 60,
			machine: Default::default(),
			undecided_percent: 20,
			keep_every: 1,
			lottery: None,
		}
	}

	/// Trainers count what the chain counts.
	#[test]
	fn a_trainer_counts_as_the_chain_does() {
		let mut spec = JobSpec::example();
		let small = needs(&spec);
		assert!(small.memory < 192 << 20, "{small:?}");
		spec.training.batch_size = 1_438;
		let checked = spec.clone().check().unwrap();
		let counted = trainyard_program::needs::Needs::of(&checked);
		let large = needs(&spec);
		assert_eq!(large.memory, counted.memory() + 2 * counted.rows);
		let lacking = counted.lacking(15, blob::room().rescue, 1);
		assert_eq!((large.checkpoint, large.rescue), (counted.checkpoint, lacking.stored));
		assert_eq!((large.rows, large.relayed, large.relayed_rows), (counted.rows, 0, 0));
	}

	/// Rows are relayed as states are, each where blocks do not carry it.
	#[test]
	fn what_no_block_carries_is_relayed() {
		let mut spec = JobSpec::example();
		assert!(needs(&spec).may_be_relayed(u64::MAX), "its samples");
		let few = Needs { samples: 0, ..needs(&spec) };
		for (room, relayed) in [
			(few.checkpoint.max(few.rows), false),
			(few.checkpoint.max(few.rows) - 1, true),
			(few.checkpoint.min(few.rows) - 1, true),
		] {
			assert_eq!(few.may_be_relayed(room), relayed, "{room}");
		}
		let room = blob::room().rescue;
		(spec.dataset.train_rows, spec.dataset.validation_rows) = (4_000_000, 1_000_000);
		let many = needs(&spec);
		assert!(many.rows > room && many.checkpoint < room);
		assert_eq!((many.relayed, many.relayed_rows), (0, many.rows));
		assert!(many.may_be_relayed(room));
	}

	#[test]
	fn disk_and_rescue_follow_the_checkpoints() {
		let mut spec = JobSpec::example();
		let few = needs(&spec);
		assert_eq!(few.checkpoints, u64::from(spec.segments()) + 1);
		assert!(few.disk >= few.checkpoints * few.checkpoint + 2 * spec.dataset.bytes);
		// Three seats may ask for all of its states.
		let rows = trainyard_program::needs::Needs::of(&spec.clone().check().unwrap()).rows;
		let all = few.checkpoints * few.checkpoint + rows;
		assert!((all..all + (1 << 20)).contains(&few.rescue), "{few:?}");
		spec.training.steps = 65_536;
		spec.training.checkpoint_interval = 1;
		let many = needs(&spec);
		assert_eq!(many.checkpoints, 65_537);
		assert!(many.disk >= 65_537 * many.checkpoint);
		assert!(many.checkpoint_seconds() > 1_000.0, "{}", many.checkpoint_seconds());
	}

	#[test]
	fn every_file_is_counted() {
		let plain = JobSpec::example();
		let file = FileRef { bytes: 1 << 28, ..plain.dataset.file() };
		let begins = InitialModel { file: file.clone(), parameters: H256::repeat_byte(3) };
		let tuned = JobSpec { initial_model: Some(begins), ..plain.clone() };
		let (few, more) = (needs(&plain), needs(&tuned));
		assert_eq!(more.disk - few.disk, 2 * file.bytes);
		// Seats ask for all of its states, the first one is among them.
		assert_eq!(more.rescue, few.rescue);
		assert_eq!((more.model, more.checkpoint), (few.model, few.checkpoint));
		let mut labelled = plain.clone();
		labelled.dataset.format = DataFormat::Idx;
		labelled.dataset.labels = Some(file.clone());
		assert_eq!(needs(&labelled).disk, more.disk);
	}
}
