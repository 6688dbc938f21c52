//! What an outer step computes, of models as they are in files: `docs/mixing.md` says it in words. Nothing here
//! knows of peers, of a chain or of a network.

use std::borrow::Borrow;
use trainyard_engine::{Tensor32, TensorMap};
use trainyard_mixing::{compress, move_of, Counted, Fault, Layout, Residual, Update};
use trainyard_program::{
	lower::{self, OPTIMIZER_PREFIX},
	spec::CheckedSpec,
};
use trainyard_proof::bundle::tensors;
use trainyard_protocol::{
	model_file,
	swarm::{OuterFault, OuterRule},
};
use trainyard_strict::Soft;

/// Prefix of the names of a residual's tensors in the file of what a peer keeps.
const RESIDUAL_PREFIX: &str = "residual.";

/// Says why an outer step, or a contribution to one, cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
	/// The numbers of the swarm are not valid.
	#[error("the swarm's numbers of outer steps are not valid: {0}")]
	Rule(OuterFault),
	/// Numbers are not finite, or do not belong together.
	#[error("{0}")]
	Fault(Fault),
	/// The file of what a peer keeps has other tensors than the swarm's model.
	#[error("what a peer keeps is not of this swarm's model: {0}")]
	Kept(String),
}

/// What all outer steps of a swarm have in common.
#[derive(Clone, Debug)]
pub struct Frame {
	rule: OuterRule,
	layout: Layout,
	/// Names and shapes of the parameters, in the order of the file.
	parameters: Vec<(String, Vec<u32>)>,
	/// Names and shapes of what the optimizer keeps.
	optimizer: Vec<(String, Vec<u32>)>,
}

/// What a peer keeps from one contribution to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
	/// What its updates did not say.
	pub residual: Residual,
	/// What the optimizer keeps.
	pub optimizer: TensorMap,
}

fn values(shape: &[u32]) -> u64 {
	shape.iter().fold(1, |product: u64, side| product.saturating_mul((*side).into()))
}

fn zeros(shape: &[u32]) -> Tensor32 {
	let data = vec![0.0; usize::try_from(values(shape)).unwrap_or(0)];
	Tensor32 { shape: shape.to_vec(), data }
}

impl Frame {
	/// Makes one for what is trained.
	pub fn new(spec: &CheckedSpec, rule: OuterRule) -> Result<Self, StepError> {
		let all = lower::state(spec).into_iter().map(|tensor| (tensor.name, tensor.shape));
		let (mut optimizer, mut parameters): (Vec<_>, Vec<_>) =
			all.partition(|(name, _)| name.starts_with(OPTIMIZER_PREFIX));
		optimizer.sort();
		parameters.sort();
		let compression = rule.compression().map_err(StepError::Rule)?;
		let lengths = parameters.iter().map(|(_, shape)| values(shape));
		let layout = Layout::new(compression, lengths).map_err(StepError::Fault)?;
		Ok(Self { rule, layout, parameters, optimizer })
	}

	/// Returns the numbers of the swarm.
	pub fn rule(&self) -> &OuterRule {
		&self.rule
	}

	/// Returns the bytes of an update.
	pub fn update_bytes(&self) -> u64 {
		self.layout.bytes()
	}

	/// Returns the bytes of the file of what a peer keeps.
	pub fn kept_bytes(&self) -> u64 {
		let residual = self.parameters.iter();
		let residual =
			residual.map(|(name, shape)| (format!("{RESIDUAL_PREFIX}{name}"), shape.clone()));
		let mut all: Vec<_> = residual.chain(self.optimizer.iter().cloned()).collect();
		all.sort();
		model_file::Layout::new(all).size
	}

	/// Returns whether models have a velocity.
	pub fn has_velocity(&self) -> bool {
		self.rule.momentum > 0
	}

	/// Returns a velocity, or another tensor for each parameter, that is 0.
	pub fn nothing(&self) -> TensorMap {
		self.parameters.iter().map(|(name, shape)| (name.clone(), zeros(shape))).collect()
	}

	/// Returns the numbers of a model, one after the other.
	fn flat(&self, model: &TensorMap) -> Result<Vec<f32>, StepError> {
		let mut all = Vec::with_capacity(usize::try_from(self.layout.values()).unwrap_or(0));
		for (name, shape) in &self.parameters {
			match model.get(name).filter(|tensor| tensor.shape == *shape) {
				Some(tensor) => all.extend_from_slice(&tensor.data),
				None => return Err(StepError::Fault(Fault::Shape)),
			}
		}
		Ok(all)
	}

	/// Returns the model with these numbers.
	fn model(&self, values: &[f32]) -> TensorMap {
		let mut left = values;
		let mut model = self.nothing();
		for tensor in model.values_mut() {
			let (own, rest) = left.split_at(tensor.data.len().min(left.len()));
			if own.len() == tensor.data.len() {
				tensor.data.copy_from_slice(own);
			}
			left = rest;
		}
		model
	}

	/// Returns what a peer keeps that begins: no residual, and an optimizer as before its first step.
	pub fn fresh(&self, optimizer: TensorMap) -> Kept {
		Kept { residual: Residual::none(self.layout.values()), optimizer }
	}

	/// Returns the file of what a peer keeps.
	pub fn write_kept(&self, kept: &Kept) -> Vec<u8> {
		let residual = self.model(&kept.residual.0).into_iter();
		let mut all: TensorMap =
			residual.map(|(name, tensor)| (format!("{RESIDUAL_PREFIX}{name}"), tensor)).collect();
		all.extend(kept.optimizer.clone());
		tensors::encode(&all)
	}

	/// Reads the file of what a peer keeps. All its numbers are finite.
	pub fn read_kept(&self, bytes: &[u8]) -> Result<Kept, StepError> {
		let wrong = |what: &str| StepError::Kept(what.to_owned());
		let all = tensors::decode(bytes).map_err(|e| wrong(&e.to_string()))?;
		if !all.values().all(|tensor| tensor.data.iter().all(|x| x.is_finite())) {
			return Err(wrong("a number is not finite"));
		}
		let (mut residual, mut optimizer) = (TensorMap::new(), TensorMap::new());
		for (name, tensor) in all {
			match name.strip_prefix(RESIDUAL_PREFIX) {
				Some(name) => residual.insert(name.to_owned(), tensor),
				None => optimizer.insert(name, tensor),
			};
		}
		let same = |(name, shape): &(String, Vec<u32>)| {
			optimizer.get(name).is_some_and(|tensor| tensor.shape == *shape)
		};
		if optimizer.len() != self.optimizer.len() || !self.optimizer.iter().all(same) {
			return Err(wrong("its optimizer keeps other tensors"));
		}
		if residual.len() != self.parameters.len() {
			return Err(wrong("its residual has other tensors"));
		}
		let residual = self.flat(&residual).map_err(|_| wrong("its residual has other tensors"))?;
		Ok(Kept { residual: Residual(residual), optimizer })
	}

	/// Returns the update of a peer whose training moved the model so; what it does not say stays in the residual.
	pub fn contribute(
		&self,
		residual: &mut Residual,
		from: &TensorMap,
		to: &TensorMap,
	) -> Result<Vec<u8>, StepError> {
		let (from, to) = (self.flat(from)?, self.flat(to)?);
		move_of::<Soft>(residual, self.rule.kept_part(), &from, &to).map_err(StepError::Fault)?;
		compress::<Soft>(&self.layout, residual).map_err(StepError::Fault)
	}

	/// Reads an update.
	pub fn read_update(&self, bytes: &[u8]) -> Result<Update, StepError> {
		Update::read::<Soft>(&self.layout, bytes).map_err(StepError::Fault)
	}

	/// Takes the outer step by these updates, which are in the ascending order of their peers: returns the next
	/// model and its velocity. Where no update has a weight, or a number would not be finite, both stay as they
	/// are.
	pub fn next<U: Borrow<Update>>(
		&self,
		model: &TensorMap,
		velocity: Option<&TensorMap>,
		updates: &[Counted<U>],
	) -> Result<(TensorMap, Option<TensorMap>), StepError> {
		let same = || Ok((model.clone(), velocity.cloned()));
		let aggregation = self.rule.aggregation().map_err(StepError::Rule)?;
		let step = self.rule.outer_step().map_err(StepError::Rule)?;
		let mut values = self.flat(model)?;
		let mut speed = match velocity {
			Some(velocity) if step.has_velocity() => self.flat(velocity)?,
			None if !step.has_velocity() => Vec::new(),
			_ => return Err(StepError::Fault(Fault::Shape)),
		};
		let taken =
			step.take::<Soft, _>(&self.layout, aggregation, updates, &mut values, &mut speed);
		match taken {
			Ok(true) => {}
			Ok(false) | Err(Fault::NotFinite) => return same(),
			Err(fault) => return Err(StepError::Fault(fault)),
		}
		let velocity = step.has_velocity().then(|| self.model(&speed));
		Ok((self.model(&values), velocity))
	}
}
