//! Executes elementwise operators of the update together ([`kernels::chain`]): the operators of a
//! parameter chunk by chunk, and all parameters at once.

use super::{
	execute::Values,
	kernels::{
		chain::{self, Chain, Link, Step},
		elementwise::Scale,
		optimizer::{AdamStep, Ema, EmaSquare, MulAdd},
		Isa,
	},
	state::elements,
	EngineError,
};
use candle_core::{Device, Tensor};
use std::{collections::BTreeMap, ops::Range};
use trainyard_program::ops::{Factor, OpKind, Phase, Program, Role, TensorId};
use trainyard_strict as strict;

/// Operators of a program that are executed together.
pub struct Group {
	/// Their numbers.
	ops: Range<usize>,
	chains: Vec<FusedChain>,
}

/// A chain of a group.
struct FusedChain {
	/// Numbers of its operators in the program.
	ops: Vec<usize>,
	/// Tensors that it reads and does not write.
	inputs: Vec<TensorId>,
	/// For each operator, its operands. They number the inputs first and the results after them.
	operands: Vec<[usize; 3]>,
	/// For each operator, whether its result is read elsewhere.
	kept: Vec<bool>,
}

/// What an operator reads.
struct Reads {
	/// Element by element.
	each: Vec<TensorId>,
	/// As single numbers.
	numbers: Vec<TensorId>,
}

/// Returns what an operator of the update reads if it can be part of a chain; `None` for any other.
fn reads(kind: &OpKind) -> Option<Reads> {
	let of = |each: &[TensorId], factors: &[Factor]| {
		let numbers = factors.iter().filter_map(|factor| factor.tensor()).collect();
		Some(Reads { each: each.to_vec(), numbers })
	};
	match *kind {
		OpKind::Scale { x, factor, .. } => of(&[x], &[factor]),
		OpKind::Decay { x, learning_rate, .. } => of(&[x], &[learning_rate]),
		OpKind::MulAdd { x, y, factor, .. } => of(&[x, y], &[factor]),
		OpKind::Ema { average, x, .. } | OpKind::EmaSquare { average, x, .. } => {
			of(&[average, x], &[])
		}
		OpKind::AdamStep { x, m, v, power1, power2, learning_rate, .. } => {
			let powers = [power1, power2].map(Factor::Tensor);
			of(&[x, m, v], &[learning_rate, powers[0], powers[1]])
		}
		_ => None,
	}
}

/// Returns where a group that begins with operator `first` ends. It ends before the first operator
/// that can be part of no group. If an operator reads a result of the group as a number, the group
/// ends right after that result, because numbers must be there when a group begins.
fn end(program: &Program, first: usize) -> usize {
	let mut made = BTreeMap::new();
	for (at, op) in program.ops.iter().enumerate().skip(first) {
		let Some(reads) = reads(&op.kind).filter(|_| op.phase == Phase::Update) else { return at };
		let numbers = reads.numbers.iter().filter_map(|id| made.get(id));
		if let Some(last) = numbers.max() {
			return last + 1;
		}
		made.insert(op.out, at);
	}
	program.ops.len()
}

impl Group {
	/// Returns the group that begins with operator `first` of `program`; `None` if that operator
	/// can be part of no group.
	pub fn at(program: &Program, first: usize) -> Option<Self> {
		let ops = first..end(program, first);
		let mut made = BTreeMap::new();
		let mut chains: Vec<Vec<usize>> = Vec::new();
		for at in ops.clone() {
			let op = &program.ops[at];
			let Some(reads) = reads(&op.kind) else { break };
			let mut joined: Vec<usize> =
				reads.each.iter().filter_map(|id| made.get(id).copied()).collect();
			joined.sort_unstable();
			joined.dedup();
			// The chains of what it reads become one.
			let chain = match joined.split_first() {
				None => {
					chains.push(Vec::new());
					chains.len() - 1
				}
				Some((into, others)) => {
					for other in others {
						let mut moved = std::mem::take(&mut chains[*other]);
						chains[*into].append(&mut moved);
					}
					made.values_mut().filter(|chain| others.contains(chain)).for_each(|chain| {
						*chain = *into;
					});
					*into
				}
			};
			chains[chain].push(at);
			made.insert(op.out, chain);
		}
		let chains = chains.into_iter().filter(|chain| !chain.is_empty());
		let chains = chains.map(|chain| FusedChain::new(program, &ops, chain)).collect();
		(!ops.is_empty()).then_some(Self { ops, chains })
	}

	/// Returns the numbers of its operators in the program.
	pub fn ops(&self) -> Range<usize> {
		self.ops.clone()
	}

	/// Runs the group and returns the results that are read elsewhere.
	pub fn run(
		&self,
		isa: Isa,
		program: &Program,
		values: &Values<'_>,
	) -> Result<Vec<(TensorId, Tensor)>, EngineError> {
		// Everything that is read, as slices that outlive the chains.
		let mut inputs = Vec::new();
		for plan in &self.chains {
			let tensors = plan.inputs.iter().map(|id| values.tensor(*id));
			inputs.push(tensors.map(|tensor| elements(tensor?)).collect::<Result<Vec<_>, _>>()?);
		}
		let chains: Vec<Chain<'_>> = self
			.chains
			.iter()
			.zip(&inputs)
			.map(|(plan, inputs)| {
				let links = plan.ops.iter().zip(&plan.operands).map(|(at, operands)| {
					let step = step(&program.ops[*at].kind, values)?;
					Ok(Link { step, operands: *operands })
				});
				Ok(Chain {
					inputs: inputs.iter().map(|input| input.slice()).collect(),
					links: links.collect::<Result<_, EngineError>>()?,
					kept: plan.kept.clone(),
				})
			})
			.collect::<Result<_, EngineError>>()?;
		let mut results = Vec::new();
		for (plan, made) in self.chains.iter().zip(chain::run(isa, &chains)) {
			let kept = plan.ops.iter().zip(&plan.kept).filter(|(_, kept)| **kept);
			for ((at, _), made) in kept.zip(made) {
				let out = program.ops[*at].out;
				let shape = program.tensor(out).map_or(&[][..], |out| &out.shape);
				let shape: Vec<usize> = shape.iter().map(|extent| *extent as usize).collect();
				results.push((out, Tensor::from_vec(made, shape, &Device::Cpu)?));
			}
		}
		Ok(results)
	}
}

impl FusedChain {
	fn new(program: &Program, group: &Range<usize>, mut ops: Vec<usize>) -> Self {
		ops.sort_unstable();
		let made: Vec<TensorId> = ops.iter().map(|at| program.ops[*at].out).collect();
		let of = |at: &usize| reads(&program.ops[*at].kind).map_or(vec![], |reads| reads.each);
		let mut inputs: Vec<TensorId> = ops.iter().flat_map(of).collect();
		inputs.sort_unstable();
		inputs.dedup();
		inputs.retain(|id| !made.contains(id));
		let number = |id: &TensorId| {
			let result = || made.iter().position(|made| made == id).map(|at| at + inputs.len());
			inputs.iter().position(|input| input == id).or_else(result).unwrap_or_default()
		};
		let operands = ops.iter().map(|at| {
			let mut operands = [0; 3];
			for (operand, id) in operands.iter_mut().zip(of(at)) {
				*operand = number(&id);
			}
			operands
		});
		let operands = operands.collect();
		let is_kept = |id: &TensorId| {
			let local = program.tensors[*id as usize].role == Role::Local;
			let later = &program.ops[group.end..];
			!local || later.iter().any(|op| op.kind.inputs().contains(id))
		};
		let kept = made.iter().map(is_kept).collect();
		Self { ops, inputs, operands, kept }
	}
}

/// Returns what an operator does to each element.
fn step(kind: &OpKind, values: &Values<'_>) -> Result<Step, EngineError> {
	let number = |factor: Factor| match factor {
		Factor::Nano(nano) => Ok(nano.to_f32()),
		Factor::Tensor(id) => values.number(id),
	};
	let rest = |power| values.number(power).map(|power| 1.0 - power);
	Ok(match *kind {
		OpKind::Scale { factor, .. } => Step::Scale(Scale(number(factor)?)),
		OpKind::Decay { learning_rate, weight_decay, .. } => {
			Step::Scale(Scale(strict::decay(number(learning_rate)?, weight_decay.to_f32())))
		}
		OpKind::MulAdd { factor, negate, .. } => {
			let factor = number(factor)?;
			Step::MulAdd(MulAdd(if negate { -factor } else { factor }))
		}
		OpKind::Ema { keep, take, .. } => {
			Step::Ema(Ema { keep: keep.to_f32(), take: take.to_f32() })
		}
		OpKind::EmaSquare { keep, take, .. } => {
			Step::EmaSquare(EmaSquare { keep: keep.to_f32(), take: take.to_f32() })
		}
		OpKind::AdamStep { power1, power2, learning_rate, epsilon, .. } => {
			Step::AdamStep(AdamStep {
				minus_learning_rate: -number(learning_rate)?,
				rest1: rest(power1)?,
				rest2: rest(power2)?,
				epsilon: epsilon.to_f32(),
			})
		}
		ref other => unreachable!("{other:?} is part of no group"),
	})
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::{
		lower,
		spec::{JobSpec, Optimizer, Schedule},
	};

	/// Returns the groups of a program, in order.
	fn groups(program: &Program) -> Vec<Group> {
		let (mut groups, mut at) = (Vec::new(), 0);
		while at < program.ops.len() {
			match Group::at(program, at) {
				Some(group) => {
					assert_eq!(group.ops.start, at);
					at = group.ops.end;
					groups.push(group);
				}
				None => at += 1,
			}
		}
		groups
	}

	/// AdamW: the powers first, which the updates read as numbers; then a chain of four for each
	/// parameter, of which the decayed parameter leaves nothing.
	#[test]
	fn a_parameter_is_a_chain() {
		let mut spec = JobSpec::example();
		spec.training.weight_decay_nano = 1;
		let program = lower::training_step(&spec.check().unwrap());
		let [powers, updates] = &groups(&program)[..] else { panic!("not two groups") };
		assert_eq!(powers.chains.len(), 2);
		assert_eq!(updates.ops.end, program.ops.len());
		assert_eq!(updates.chains.len(), 6);
		for plan in &updates.chains {
			assert_eq!(plan.ops.len(), 4);
			assert_eq!(plan.inputs.len(), 4);
			assert_eq!(plan.kept, [false, true, true, true]);
			assert_eq!(plan.operands[3], [4, 5, 6]);
		}
	}

	/// Every operator of the update that is elementwise is in exactly one chain, and no other.
	#[test]
	fn groups_hold_all_they_can() {
		let adam =
			Optimizer::Adam { beta1_nano: 900_000_000, beta2_nano: 999_000_000, epsilon_nano: 10 };
		let sgd = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: true };
		for optimizer in [JobSpec::example().training.optimizer, adam, sgd] {
			let mut spec = JobSpec::example();
			spec.training.optimizer = optimizer;
			spec.training.weight_decay_nano = 1;
			spec.training.clip_norm_nano = 1;
			spec.training.schedule = Schedule::Cosine { final_rate_nano: 1 };
			let program = lower::training_step(&spec.check().unwrap());
			let groups = groups(&program);
			for group in &groups {
				let mut found: Vec<usize> =
					group.chains.iter().flat_map(|plan| plan.ops.clone()).collect();
				found.sort_unstable();
				assert_eq!(found, group.ops.clone().collect::<Vec<_>>());
			}
			let inside = |at: usize| groups.iter().any(|group| group.ops.contains(&at));
			for (at, op) in program.ops.iter().enumerate() {
				let elementwise = op.phase == Phase::Update && reads(&op.kind).is_some();
				assert_eq!(inside(at), elementwise, "{op:?}");
			}
		}
	}
}
