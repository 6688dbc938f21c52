//! Executes a whole program on a device.

use super::{
	backend::{Arg, Backend},
	chains,
	launches::Launches,
	operators, Accelerator, Buffer, Chains, DeviceError, DeviceMemory, Inputs, Outputs,
};
use crate::execute::CompiledProgram;
use std::{fmt, sync::Arc};
use trainyard_program::{
	ops::{Program, Role, TensorId},
	H256,
};

/// Executes programs on a device.
pub struct Executor<B: Backend> {
	backend: B,
}

impl<B: Backend> Executor<B> {
	/// Creates an executor for this device.
	pub fn new(backend: B) -> Self {
		Self { backend }
	}

	/// Returns the buffer. Fails if another device made it.
	fn own(buffer: &Buffer) -> Result<Arc<B::Buffer>, DeviceError> {
		let foreign = || DeviceError::Failed { at: "a buffer", why: "of another device".into() };
		buffer.clone().downcast::<B::Buffer>().map_err(|_| foreign())
	}
}

impl<B: Backend> fmt::Debug for Executor<B> {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(&self.backend.name())
	}
}

impl<B: Backend> DeviceMemory for Executor<B> {
	fn upload(&self, values: &[f32]) -> Result<Buffer, DeviceError> {
		Ok(Arc::new(self.backend.upload(values)?))
	}

	fn download(&self, buffer: &Buffer, len: usize) -> Result<Vec<f32>, DeviceError> {
		self.backend.download(&*Self::own(buffer)?, len)
	}
}

impl<B: Backend> Accelerator for Executor<B> {
	fn run(
		&self,
		plan: &CompiledProgram,
		inputs: Inputs<'_>,
		wanted: &[TensorId],
	) -> Result<Outputs, DeviceError> {
		let (backend, program) = (&self.backend, plan.program());
		let mut values: Vec<Option<Arc<B::Buffer>>> = Vec::with_capacity(program.tensors.len());
		for tensor in &program.tensors {
			values.push(match tensor.role {
				Role::Features => Some(Arc::new(backend.upload(inputs.features)?)),
				Role::Labels => Some(Arc::new(backend.upload_integers(inputs.labels)?)),
				Role::State => match inputs.state.get(&tensor.name) {
					Some(buffer) => Some(Self::own(buffer)?),
					None => return Err(DeviceError::Missing(tensor.name.clone())),
				},
				_ => None,
			});
		}
		for (op, dead) in program.ops.iter().zip(plan.dead()) {
			let out = {
				let read = |id| of(program, &values, id).map(Arc::as_ref);
				operators::apply(backend, &op.kind, inputs.moment, len(program, op.out), read)?
			};
			values[op.out as usize] = Some(Arc::new(out));
			for id in dead {
				values[*id as usize] = None;
			}
		}

		let states: Vec<(TensorId, TensorId)> = program.next_state().collect();
		let launches = Launches(backend);
		let flags = launches.filled(0.0, states.len())?;
		for (index, (new, _)) in (0u32..).zip(&states) {
			let n = len(program, *new) as u64;
			let x = Arg::Buffer(&**of(program, &values, *new)?);
			let arguments = [x, Arg::U64(n), Arg::Buffer(&flags), Arg::U32(index)];
			launches.each("find_nan", n, &arguments)?;
		}
		let mut results = Vec::with_capacity(wanted.len());
		for id in wanted {
			results.push(backend.download(of(program, &values, *id)?, len(program, *id))?);
		}
		let flags = backend.download(&flags, states.len())?;
		let mut next = Vec::with_capacity(states.len());
		for ((new, old), flag) in states.into_iter().zip(flags) {
			let name = program.tensors[old as usize].name.clone();
			let buffer: Buffer = of(program, &values, new)?.clone();
			next.push((name, buffer, flag != 0.0));
		}
		Ok(Outputs { next, values: results })
	}

	fn chains_at_a_time(&self, size: u32) -> u32 {
		chains::at_a_time(size, self.backend.multiprocessors())
	}

	fn chains(
		&self,
		chains: Chains<'_>,
		go_on: &mut dyn FnMut(u32) -> bool,
	) -> Result<Option<Vec<H256>>, DeviceError> {
		chains::run(&self.backend, chains, go_on)
	}
}

/// Returns the number of elements of tensor `id`.
fn len(program: &Program, id: TensorId) -> usize {
	program.tensor(id).map_or(0, |tensor| tensor.len() as usize)
}

/// Returns the value of tensor `id`.
fn of<'a, T>(
	program: &Program,
	values: &'a [Option<Arc<T>>],
	id: TensorId,
) -> Result<&'a Arc<T>, DeviceError> {
	let name = || program.tensor(id).map_or("?".into(), |tensor| tensor.name.clone());
	let value = values.get(id as usize).and_then(Option::as_ref);
	value.ok_or_else(|| DeviceError::Missing(name()))
}
