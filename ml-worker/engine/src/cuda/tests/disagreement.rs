//! A device that computes wrong is refused, and the error names what differs. One that cannot
//! compute something leaves it to the processor.

use super::devices;
use crate::{
	cuda::{chains, jobs, Accelerator, Chains, DeviceError, Inputs, Outputs},
	device::{Buffer, DeviceMemory},
	execute::CompiledProgram,
	host,
	tests::{checked, seed, small_spec, ADAM},
	Engine, Target,
};
use std::sync::{
	atomic::{AtomicU32, Ordering},
	Arc,
};
use trainyard_program::{
	ops::{Role, TensorId},
	reference::{self, StepContext},
	H256,
};
use trainyard_protocol::drill::program;

/// A device that executes by the reference, and does something wrong on purpose.
#[derive(Debug, Default)]
struct Scalar {
	wrong: Option<Wrong>,
	/// Programs that were executed.
	runs: AtomicU32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
	/// The last bit of the last number of what has this role.
	Bit(Role),
	/// The same of the next state of this tensor.
	Next(&'static str),
	/// The last bit of the hash of the last chain.
	Chain,
	/// There is no hash of the last chain.
	NoChain,
	/// A program after that many is not possible.
	Unsupported(u32),
}

impl DeviceMemory for Scalar {
	fn upload(&self, values: &[f32]) -> Result<Buffer, DeviceError> {
		Ok(Arc::new(values.to_vec()))
	}

	fn download(&self, buffer: &Buffer, len: usize) -> Result<Vec<f32>, DeviceError> {
		let values = buffer.downcast_ref::<Vec<f32>>().unwrap();
		assert_eq!(values.len(), len);
		Ok(values.clone())
	}
}

fn flip(values: &mut [f32]) {
	let last = values.last_mut().unwrap();
	*last = f32::from_bits(last.to_bits() ^ 1);
}

impl Accelerator for Scalar {
	fn run(
		&self,
		plan: &CompiledProgram,
		inputs: Inputs<'_>,
		wanted: &[TensorId],
	) -> Result<Outputs, DeviceError> {
		let before = self.runs.fetch_add(1, Ordering::Relaxed);
		if self.wrong.is_some_and(|wrong| wrong == Wrong::Unsupported(before)) {
			return Err(DeviceError::Unsupported("a convolution over 2 times 2 windows".into()));
		}
		let state = inputs.state.iter().map(|(name, buffer)| {
			(name.clone(), buffer.downcast_ref::<Vec<f32>>().unwrap().clone())
		});
		let (program, state) = (plan.program(), state.collect());
		let (x, y) = (inputs.features, inputs.labels);
		let values = reference::run_at(program, x, y, &state, inputs.moment).unwrap();
		let values_of = |id: &TensorId| {
			let mut found = values.get(*id).to_vec();
			let role = program.tensor(*id).unwrap().role;
			match self.wrong == Some(Wrong::Bit(role)) {
				// Whether a label was predicted, not how the number is written.
				true if role == Role::Correct => found[0] = 1.0 - found[0],
				true => flip(&mut found),
				false => {}
			}
			found
		};
		let next = program.next_state().map(|(new, old)| {
			let name = program.tensor(old).unwrap().name.clone();
			let mut value = values.get(new).to_vec();
			if self.wrong.is_some_and(|wrong| matches!(wrong, Wrong::Next(n) if n == name)) {
				flip(&mut value);
			}
			let buffer: Buffer = Arc::new(value);
			(name, buffer, false)
		});
		Ok(Outputs { next: next.collect(), values: wanted.iter().map(values_of).collect() })
	}

	fn chains_at_a_time(&self, _size: u32) -> u32 {
		1
	}

	fn chains(
		&self,
		chains: Chains<'_>,
		_go_on: &mut dyn FnMut(u32) -> bool,
	) -> Result<Option<Vec<H256>>, DeviceError> {
		let hash = |seed: &H256| {
			let zeros = vec![0.0; (chains.size * chains.size) as usize];
			let mut state = reference::State::from([(program::STATE.to_owned(), zeros.clone())]);
			let list = |step| match step {
				0 => program::begin(chains.size),
				_ => program::link(chains.size),
			};
			for step in 0..=chains.links {
				let moment = StepContext { seed: *seed, step };
				let values = reference::run_at(&list(step), &zeros, &[], &state, moment);
				values.unwrap().advance(&list(step), &mut state);
			}
			host::hash_of(&state[program::STATE])
		};
		let mut found: Vec<H256> = chains.seeds.iter().map(hash).collect();
		match self.wrong {
			Some(Wrong::Chain) => found.last_mut().unwrap().0[31] ^= 1,
			Some(Wrong::NoChain) => drop(found.pop()),
			_ => {}
		}
		Ok(Some(found))
	}
}

fn checked_with(wrong: Option<Wrong>) -> Result<(), DeviceError> {
	let device: Arc<dyn Accelerator> = Arc::new(Scalar { wrong, ..Scalar::default() });
	jobs::check(&device)?;
	chains::check(&*device)
}

#[test]
fn a_device_that_agrees_is_believed() {
	assert_eq!(checked_with(None), Ok(()));
	for (name, target) in devices() {
		let Target::Cuda(device) = target else { panic!() };
		assert_eq!(jobs::check(&device), Ok(()), "{name}");
		assert_eq!(chains::check(&*device), Ok(()), "{name}");
	}
}

#[test]
fn one_wrong_bit_anywhere_is_found_and_named() {
	for (wrong, job, what) in [
		(Wrong::Bit(Role::Loss), "a multi-layer perceptron", "the loss of a step"),
		(Wrong::Bit(Role::Logits), "a multi-layer perceptron", "number 119 (from 0) of the logits"),
		(Wrong::Bit(Role::RowLosses), "a multi-layer perceptron", "the losses of an evaluation"),
		(Wrong::Bit(Role::Correct), "a multi-layer perceptron", "correct labels there"),
		(
			Wrong::Next("layers.0.weight"),
			"a multi-layer perceptron",
			"layers.0.weight after a step",
		),
		(Wrong::Chain, "a lap of drilling", "another result"),
		(Wrong::NoChain, "a lap of drilling", "no result"),
	] {
		let text = checked_with(Some(wrong)).unwrap_err().to_string();
		assert!(text.contains(job) && text.contains(what), "{wrong:?}: {text}");
		assert!(text.ends_with("use --device cpu"), "{text}");
	}
	let failing = checked_with(Some(Wrong::Unsupported(3))).unwrap_err();
	assert!(matches!(failing, DeviceError::Unsupported(_)), "{failing}");
}

/// A job that the chain takes must not silence a verifier whose GPU cannot compute it.
#[test]
fn what_a_device_cannot_compute_the_processor_does() {
	let (spec, data) = small_spec(vec![6], ADAM);
	let spec = checked(&spec);
	let reference = Engine::with_isa(&spec, seed(), data.clone(), crate::Isa::supported()[0]);
	let reference = reference.unwrap();
	for after in 0..4 {
		let wrong = Some(Wrong::Unsupported(after));
		let target = Target::Cuda(Arc::new(Scalar { wrong, ..Scalar::default() }));
		let engine = Engine::on(&spec, seed(), data.clone(), target).unwrap();
		let mut state = Engine::initial_state(&spec, &seed(), None).unwrap();
		let mut expected = state.clone();
		assert_eq!(engine.fell_back(), None);
		for step in 0..3 {
			let trace = engine.step(&mut state, step).unwrap();
			assert_eq!(trace, reference.step(&mut expected, step).unwrap(), "{after}, {step}");
		}
		let score = engine.evaluate(&state).unwrap();
		assert_eq!(score, reference.evaluate(&expected).unwrap());
		assert_eq!(state.hash().unwrap(), expected.hash().unwrap());
		assert!(engine.fell_back().unwrap().contains("2 times 2 windows"));
	}
}
