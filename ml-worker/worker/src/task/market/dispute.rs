//! What is brought to the chain in a dispute, and of a record that is false.

use crate::task::{run, Program, TaskError};
use std::path::Path;
use trainyard_client::tasks::{Brought, OpenedRecord};
use trainyard_protocol::content;
use trainyard_task::{
	claim::Path as Way,
	state::{record_chunks, RECORD_HEAD},
	Form, TaskSpec, Trace,
};

/// What a task is computed from.
#[derive(Clone, Debug)]
pub struct Inputs {
	/// The module.
	pub module: Vec<u8>,
	/// The input.
	pub input: Vec<u8>,
}

/// Returns the state before the step that ends with the leaf of this index, and its way to the root of the trace.
///
/// # Errors
///
/// [`TaskError`] where this machine cannot compute that state again. `None` where the trace has no such leaf.
pub fn brought(
	program: &Program,
	spec: &TaskSpec,
	inputs: &Inputs,
	trace: &Trace,
	index: u32,
	folder: &Path,
) -> Result<Option<(Brought, Way)>, TaskError> {
	let Some(before) = index.checked_sub(1) else { return Ok(None) };
	let way = trace.proof(before).and_then(|path| Way::try_from(path).ok());
	let Some(way) = way else { return Ok(None) };
	let state = run::state_after(program, &inputs.input, (before, spec.units()), folder)?;
	let brought = match state {
		Ok(state) => Brought::Bytes { module: inputs.module.clone(), state },
		Err(fault) => Brought::Fault(fault),
	};
	Ok(Some((brought, way)))
}

/// Returns the first index at which two files of records differ. `None` where they are equal, or not of this task.
pub fn first_difference(spec: &TaskSpec, own: &[u8], other: &[u8]) -> Option<u32> {
	let Form::Map { most, .. } = spec.form else { return None };
	let width = usize::try_from(most.checked_add(RECORD_HEAD)?).ok()?;
	let pairs = own.chunks(width).zip(other.chunks(width));
	let found = (0u32..).zip(pairs).find(|(_, (a, b))| a != b);
	found.map(|(index, _)| index)
}

/// Opens the record of an index in a file of records, for whoever shows that it is false.
pub fn opened(
	spec: &TaskSpec,
	inputs: &Inputs,
	records: &[u8],
	index: u32,
) -> Option<OpenedRecord> {
	let Form::Map { count, most } = spec.form else { return None };
	if index >= count {
		return None;
	}
	let (first, end) = record_chunks(index, most);
	let siblings = content::open_many(records, first..end).ok()?;
	let chunk = content::CHUNK_BYTES;
	let from = usize::try_from(first.checked_mul(chunk)?).ok()?;
	let to = usize::try_from(end.checked_mul(chunk)?).ok()?.min(records.len());
	Some(OpenedRecord {
		index,
		content: content::hash(records),
		chunks: records.get(from..to)?.to_vec(),
		siblings,
		module: inputs.module.clone(),
		input: inputs.input.clone(),
	})
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::task::run::{run, Options};
	use std::sync::atomic::AtomicBool;
	use trainyard_task::{
		state::{opened_record, record, Begin},
		File, Limits, StateId,
	};

	fn example(name: &str) -> Vec<u8> {
		let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/tasks");
		std::fs::read(Path::new(folder).join(name)).unwrap()
	}

	const LIMITS: Limits = Limits { fuel: 32_000_000, pages: 32, state: 4_096 };

	fn task(name: &str, input: &[u8], form: Form) -> (Program, TaskSpec, Inputs) {
		let inputs = Inputs { module: example(name), input: input.to_vec() };
		let spec = TaskSpec {
			module: File::of(&inputs.module),
			input: File::of(input),
			form,
			limits: LIMITS,
		};
		(Program::of_task(&spec, &inputs.module, 1).unwrap(), spec, inputs)
	}

	fn computed(
		program: &Program,
		spec: &TaskSpec,
		inputs: &Inputs,
		keep: &Path,
		cheat: Option<u32>,
	) -> run::Finished {
		let stop = AtomicBool::new(false);
		let options = Options {
			keep: Some(keep),
			states: true,
			cheat,
			until: None,
			stop: &stop,
			progress: &mut |_| {},
		};
		run(program, spec.clone(), &inputs.input, options).unwrap()
	}

	/// Whatever step is in dispute, whoever is right brings the state before it, and the step ends with its leaf.
	#[test]
	fn any_state_can_be_brought() {
		let folder = tempfile::tempdir().unwrap();
		let (program, spec, inputs) =
			task("pi.wasm", &7u64.to_le_bytes(), Form::Step { steps: 600 });
		let honest = computed(&program, &spec, &inputs, folder.path(), None);
		let trace = honest.trace.as_ref().unwrap();
		// Two steps lie between states that are kept.
		assert_eq!(std::fs::read_dir(folder.path().join("states")).unwrap().count(), 200);
		for index in [1, 2, 3, 4, 301, 600] {
			let (brought, way) =
				brought(&program, &spec, &inputs, trace, index, folder.path()).unwrap().unwrap();
			let Brought::Bytes { state, module } = &brought else { panic!("{brought:?}") };
			assert_eq!(*module, inputs.module);
			let leaf = StateId::of(Ok(state)).leaf();
			assert_eq!(trace.nodes(0, index - 1..index), [leaf]);
			assert!(trainyard_protocol::merkle::verify(&trace.root(), &leaf, index - 1, 601, &way));
			let after = Begin::Bytes(state).after(|state| {
				program.execute(trainyard_task_vm::Call::Step(state)).unwrap().result
			});
			assert_eq!(trace.nodes(0, index..index + 1), [after.leaf()]);
		}
		let past = brought(&program, &spec, &inputs, trace, 602, folder.path()).unwrap();
		assert!(past.is_none());
		// Where nothing is kept, it takes longer.
		std::fs::remove_dir_all(folder.path().join("states")).unwrap();
		assert!(brought(&program, &spec, &inputs, trace, 600, folder.path()).unwrap().is_some());
	}

	#[test]
	fn a_cheat_parts_from_the_truth_where_it_cheats() {
		let folder = tempfile::tempdir().unwrap();
		let (program, spec, inputs) =
			task("pi.wasm", &7u64.to_le_bytes(), Form::Step { steps: 20 });
		let path = |name: &str| folder.path().join(name);
		let honest = computed(&program, &spec, &inputs, &path("honest"), None);
		let cheat = computed(&program, &spec, &inputs, &path("cheat"), Some(12));
		let leaves = |run: &run::Finished| run.trace.as_ref().unwrap().nodes(0, 0..21).to_vec();
		let (a, b) = (leaves(&honest), leaves(&cheat));
		assert_eq!(a.iter().zip(&b).position(|(a, b)| a != b), Some(13));
	}

	#[test]
	fn a_false_record_is_found_and_opened() {
		let folder = tempfile::tempdir().unwrap();
		let input: Vec<u8> = [0.1f64, 0.05, 0.02, 0.03, 0.001, 0.25]
			.iter()
			.flat_map(|number| number.to_le_bytes())
			.chain([16u32, 20].iter().flat_map(|number| number.to_le_bytes()))
			.collect();
		let (program, spec, inputs) = task("sweep.wasm", &input, Form::Map { count: 64, most: 32 });
		let path = |name: &str| folder.path().join(name);
		let honest = computed(&program, &spec, &inputs, &path("honest"), None).output.unwrap();
		let cheat = computed(&program, &spec, &inputs, &path("cheat"), Some(50)).output.unwrap();
		assert_eq!(first_difference(&spec, &honest, &honest), None);
		assert_eq!(first_difference(&spec, &honest, &cheat), Some(50));
		let opening = opened(&spec, &inputs, &cheat, 50).unwrap();
		let file = File::of(&cheat);
		let shown = opened_record(
			&file,
			&opening.content,
			(50, 64, 32),
			&opening.chunks,
			&opening.siblings,
		)
		.unwrap();
		let call = trainyard_task_vm::Call::Map(&inputs.input, 50);
		let truth = program.execute(call).unwrap().result;
		assert_ne!(shown, record(truth.as_deref(), 32));
		assert_eq!(&honest[50 * 36..51 * 36], record(truth.as_deref(), 32));
		assert!(opened(&spec, &inputs, &cheat, 64).is_none());
	}

	/// A module that the machine refuses has one result, which anybody can claim.
	#[test]
	fn what_is_refused_is_computed_all_the_same() {
		let folder = tempfile::tempdir().unwrap();
		let (program, spec, inputs) = task("pi.wasm", b"seed", Form::Map { count: 3, most: 20 });
		assert!(program.prepared().is_none(), "it computes steps");
		let found = computed(&program, &spec, &inputs, folder.path(), None);
		let refused = record(Err(&trainyard_task::state::refused()), 20);
		assert_eq!(found.output.unwrap(), refused.repeat(3));
	}
}
