//! Computes what a job asks of a machine, from its specification and terms alone.

use trainyard_program::{
	lower,
	ops::{OpKind, Program, Role, TensorId},
	spec::CheckedSpec,
};
use trainyard_proof::{bundle, data::kept};
use trainyard_protocol::job::Terms;

/// Rows that an evaluation takes at a time, at most.
const EVALUATION_ROWS: u32 = 1_024;
/// Columns to which a product's right operand is padded when it is packed, at most.
const PANEL: u64 = 64;
/// Bytes of a manifest for each checkpoint, at most.
const MANIFEST_ENTRY: u64 = 512;
/// Bytes of a manifest and an archive's index besides.
const MANIFEST_BASE: u64 = 64 * 1024;
/// Seconds that putting a checkpoint on disk takes besides its bytes: four files synced.
const CHECKPOINT_SECONDS: f64 = 0.02;
/// Bytes of checkpoints that are hashed, encoded and written in a second.
const CHECKPOINT_SPEED: f64 = 1e8;

/// Needs of one job, in bytes unless said otherwise. Saturates instead of overflowing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
	/// Memory while it trains: data, initial model, copies of the state, and the most tensors of a
	/// program that live at once; or twice the rescue archive, if that is more.
	pub memory: u64,
	/// Disk: all checkpoints, the model, the files that the job reads, once fetched and once in the
	/// bundle, and their rows once decoded.
	pub disk: u64,
	/// Number of checkpoints.
	pub checkpoints: u64,
	/// The largest checkpoint.
	pub checkpoint: u64,
	/// The model's file.
	pub model: u64,
	/// The largest archive that a rescue can ask for, see [`trainyard_proof::bundle::archive`].
	pub rescue: u64,
}

impl Needs {
	/// Returns the needs of a job.
	pub fn of(spec: &CheckedSpec, terms: &Terms) -> Self {
		let dataset = &spec.dataset;
		let checkpoints = u64::from(spec.segments()).saturating_add(1);
		let checkpoint = bundle::max_checkpoint_bytes(spec);
		let model = spec.parameters().saturating_mul(4).saturating_add(16_384);
		let manifest = MANIFEST_ENTRY.saturating_mul(checkpoints).saturating_add(MANIFEST_BASE);
		// Both ends of each drawn segment, and the last checkpoint.
		let drawn = u64::from(terms.audit_segments).saturating_mul(2).saturating_add(1);
		let rescue = checkpoint
			.saturating_mul(drawn.min(checkpoints))
			.saturating_add(spec.file_bytes())
			.saturating_add(manifest);
		let disk = checkpoint
			.saturating_mul(checkpoints)
			.saturating_add(manifest)
			.saturating_add(model)
			.saturating_add(spec.file_bytes().saturating_mul(2))
			.saturating_add(kept::length(dataset));
		let rows = u64::from(dataset.train_rows) + u64::from(dataset.validation_rows);
		let row = u64::from(dataset.features) * 4 + 8;
		// A table grows by doubling.
		let data = rows.saturating_mul(row).saturating_mul(2);
		let step = live(&lower::training_step(spec));
		let evaluated = dataset.validation_rows.min(EVALUATION_ROWS);
		let evaluation = live(&lower::evaluation_of(spec, evaluated));
		// While a step runs there are the state and the last two checkpoints; while one is
		// written also the next checkpoint and its encoding.
		let copies = |n: u64| checkpoint.saturating_mul(n);
		let states =
			copies(3).saturating_add(step).max(copies(4).saturating_add(evaluation)).max(copies(5));
		// While it is read there are three copies, of parameters alone, and no state yet.
		let initial = spec.initial_model.as_ref().map_or(0, |file| file.bytes);
		let training = data.saturating_add(initial).saturating_add(states);
		let memory = training.max(rescue.saturating_mul(2));
		Self { memory, disk, checkpoints, checkpoint, model, rescue }
	}

	/// Returns the seconds for putting all checkpoints on disk.
	pub fn checkpoint_seconds(&self) -> f64 {
		let one = CHECKPOINT_SECONDS + self.checkpoint as f64 / CHECKPOINT_SPEED;
		self.checkpoints as f64 * one
	}
}

/// Returns the most bytes of a program's tensors that live at once, not counting the given state. A
/// local tensor is freed after its last reader, everything else stays.
fn live(program: &Program) -> u64 {
	let bytes = |id: TensorId| {
		let len = program.tensor(id).map_or(0, |tensor| tensor.len());
		u64::try_from(len.saturating_mul(4)).unwrap_or(u64::MAX)
	};
	let is = |id: TensorId, role: Role| program.tensor(id).is_some_and(|t| t.role == role);
	let mut last = vec![usize::MAX; program.tensors.len()];
	for (at, op) in program.ops.iter().enumerate() {
		for id in op.kind.inputs() {
			last[id as usize] = at;
		}
	}
	let given = [Role::Features, Role::Labels].map(|role| program.find(role).map_or(0, bytes));
	let mut now = given[0].saturating_add(given[1]);
	let mut most = now;
	for (at, op) in program.ops.iter().enumerate() {
		let packed = match &op.kind {
			OpKind::MatMul { n, k, .. } => {
				u64::from(*n).next_multiple_of(PANEL).saturating_mul(u64::from(*k) * 4)
			}
			_ => 0,
		};
		now = now.saturating_add(bytes(op.out));
		most = most.max(now.saturating_add(packed));
		for id in op.kind.inputs() {
			if last[id as usize] == at && is(id, Role::Local) {
				// Read twice by the same operator, it still dies once.
				last[id as usize] = usize::MAX;
				now = now.saturating_sub(bytes(id));
			}
		}
	}
	most
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::spec::{DataFormat, FileRef, JobSpec, Model};

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
		}
	}

	/// 17 GB for each activation of a specification that has next to no parameters.
	#[test]
	fn wide_layers_and_batches_are_counted() {
		let mut spec = JobSpec::example();
		let small = needs(&spec);
		assert!(small.memory < 64 << 20, "{small:?}");
		spec.dataset.features = 1;
		(spec.dataset.train_rows, spec.dataset.validation_rows) = (80_000, 20_000);
		spec.training.batch_size = 65_536;
		let Model::Mlp { hidden, .. } = &mut spec.model else { unreachable!() };
		*hidden = vec![65_536].try_into().unwrap();
		let wide = needs(&spec);
		let activation = 65_536u64 * 65_536 * 4;
		assert!(wide.memory > 2 * activation && wide.memory < 8 * activation, "{wide:?}");
	}

	#[test]
	fn disk_and_rescue_follow_the_checkpoints() {
		let mut spec = JobSpec::example();
		let few = needs(&spec);
		assert_eq!(few.checkpoints, u64::from(spec.segments()) + 1);
		assert!(few.disk >= few.checkpoints * few.checkpoint + 2 * spec.dataset.bytes);
		assert!(few.rescue >= 7 * few.checkpoint + spec.dataset.bytes);
		assert!(few.rescue < 8 * few.checkpoint + spec.dataset.bytes + (1 << 20));
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
		let file = FileRef { bytes: 1 << 30, ..plain.dataset.file() };
		let tuned = JobSpec { initial_model: Some(file.clone()), ..plain.clone() };
		let (few, more) = (needs(&plain), needs(&tuned));
		assert_eq!(more.disk - few.disk, 2 * file.bytes);
		assert_eq!(more.rescue - few.rescue, file.bytes);
		assert_eq!(more.memory, 2 * more.rescue);
		assert_eq!((more.model, more.checkpoint), (few.model, few.checkpoint));
		let mut labelled = plain.clone();
		labelled.dataset.format = DataFormat::Idx;
		labelled.dataset.labels = Some(file.clone());
		assert_eq!(needs(&labelled).disk, more.disk);
	}

	/// What the executor frees, the count frees: three tensors in a row never live at once.
	#[test]
	fn locals_die_after_their_last_reader() {
		let spec = JobSpec::example().check().unwrap();
		let program = lower::training_step(&spec);
		let all: u128 = program.tensors.iter().map(|t| t.len() * 4).sum();
		let most = u128::from(live(&program));
		let given = program.tensor(program.find(Role::Features).unwrap()).unwrap().len() * 4;
		assert!(most > given && most < all, "{most} of {all}");
	}
}
