//! Trains with stock candle: the layers of candle-nn, candle's autograd, candle-nn's AdamW.
//!
//! The code is written as candle's users write it. Where candle has two versions of a function, the
//! one with a gradient is used.

use anyhow::{bail, Context};
use candle_core::{Device, Module, Tensor, Var, D};
use candle_nn::{
	conv::Conv2dConfig, loss::cross_entropy, ops, AdamW, Conv2d, Embedding, Linear, Optimizer,
	ParamsAdamW,
};
use std::collections::BTreeMap;
use trainyard_engine::{State, Table};
use trainyard_program::{
	lower,
	order::{self, Order, TabulatedOrder},
	spec::{self, Activation, CheckedSpec, Input, JobSpec, Layer, Shape, Shaped},
	H256,
};

/// Epsilon of layer norms, as the strict engine has it.
const NORM_EPSILON: f32 = 1e-5;

/// Rows that candle trains on, as tensors.
#[derive(Clone)]
pub struct Rows {
	x: Tensor,
	y: Tensor,
}

impl Rows {
	/// Makes the rows of `table`, in the shape that the model of `spec` takes.
	///
	/// # Errors
	/// Fails if the table does not fit.
	pub fn new(spec: &JobSpec, table: Table) -> candle_core::Result<Self> {
		let labels = spec.labels_per_row() as usize;
		let rows = table.y.len() / labels;
		let shape = (rows, table.features);
		let x = match spec.model.input() {
			Input::Numbers => Tensor::from_vec(table.x, shape, &Device::Cpu)?,
			Input::Image { channels, height, width } => {
				let [c, h, w] = [channels, height, width].map(|extent| extent as usize);
				Tensor::from_vec(table.x, (rows, c, h, w), &Device::Cpu)?
			}
			Input::Tokens => {
				let tokens: Vec<u32> = table.x.iter().map(|token| *token as u32).collect();
				Tensor::from_vec(tokens, shape, &Device::Cpu)?
			}
		};
		Ok(Self { x, y: Tensor::from_vec(table.y, (rows, labels), &Device::Cpu)? })
	}
}

/// A model in training.
pub struct Stock {
	spec: JobSpec,
	seed: H256,
	rows: Rows,
	layers: Vec<Part>,
	/// The parameters, under their names in the state.
	#[cfg(test)]
	parameters: BTreeMap<String, Var>,
	optimizer: AdamW,
	/// The order of the rows in the epoch last used.
	order: TabulatedOrder,
}

/// A layer.
enum Part {
	Linear(Linear),
	Conv2d(Conv2d),
	MaxPool2d { kernel: usize, stride: usize },
	Relu,
	Gelu,
	LayerNorm { weight: Tensor, bias: Tensor },
	Embedding { tokens: Embedding, positions: Tensor },
	Attention(Attention),
	Skip { back: usize },
}

/// Causal self-attention of several heads.
struct Attention {
	query: Linear,
	key: Linear,
	value: Linear,
	output: Linear,
	heads: usize,
	/// `[positions, positions]`: minus infinity above the diagonal.
	mask: Tensor,
}

impl Stock {
	/// Makes the model of `spec` with the parameters of `state`, and an optimizer that has made no
	/// step.
	///
	/// # Errors
	/// Fails if the specification asks for what this model does not have, or the state lacks a
	/// parameter.
	pub fn new(spec: &CheckedSpec, seed: H256, state: &State, rows: Rows) -> anyhow::Result<Self> {
		let mut parameters = Parameters { state, number: 0, vars: BTreeMap::new() };
		let layers =
			spec.layers().iter().map(|at| parameters.part(at)).collect::<anyhow::Result<_>>()?;
		let parameters = parameters.vars;
		let optimizer = AdamW::new(parameters.values().cloned().collect(), settings(spec)?)?;
		Ok(Self {
			spec: spec.spec().clone(),
			seed,
			rows,
			layers,
			#[cfg(test)]
			parameters,
			optimizer,
			order: Order::new(&seed, 0, spec.dataset.train_rows).tabulate(),
		})
	}

	/// The parameters, under their names in the state.
	#[cfg(test)]
	pub fn parameters(&self) -> BTreeMap<&String, &Tensor> {
		self.parameters.iter().map(|(name, var)| (name, var.as_tensor())).collect()
	}

	/// Makes step `step` on the rows that the strict engine takes for it, and returns the loss
	/// before the update.
	///
	/// # Errors
	/// Fails if candle fails.
	pub fn step(&mut self, step: u32) -> anyhow::Result<f32> {
		let (x, y) = self.batch(step)?;
		let loss = cross_entropy(&self.forward(x)?, &y)?;
		self.optimizer.backward_step(&loss)?;
		Ok(loss.to_scalar()?)
	}

	/// Returns inputs and labels of a step.
	fn batch(&mut self, step: u32) -> anyhow::Result<(Tensor, Tensor)> {
		let place = order::place(&self.spec, step);
		if self.order.epoch() != place.epoch {
			let order = Order::new(&self.seed, place.epoch, self.spec.dataset.train_rows);
			self.order = order.tabulate();
		}
		let rows = self.order.rows(place.positions);
		let rows = Tensor::new(rows, &Device::Cpu)?;
		let y = self.rows.y.index_select(&rows, 0)?.flatten_all()?;
		Ok((self.rows.x.index_select(&rows, 0)?, y))
	}

	/// Returns the logits, `[labels, classes]`.
	fn forward(&self, x: Tensor) -> candle_core::Result<Tensor> {
		// What each layer read, for skips.
		let mut inputs: Vec<Tensor> = Vec::with_capacity(self.layers.len());
		let mut x = x;
		for (index, layer) in self.layers.iter().enumerate() {
			let out = match layer {
				Part::Linear(linear) if x.rank() == 4 => linear.forward(&x.flatten_from(1)?)?,
				Part::Linear(linear) => linear.forward(&x)?,
				Part::Conv2d(conv) => conv.forward(&x)?,
				Part::MaxPool2d { kernel, stride } => x.max_pool2d_with_stride(*kernel, *stride)?,
				Part::Relu => x.relu()?,
				Part::Gelu => x.gelu_erf()?,
				Part::LayerNorm { weight, bias } => {
					ops::layer_norm_slow(&x, weight, bias, NORM_EPSILON)?
				}
				Part::Embedding { tokens, positions } => {
					tokens.forward(&x)?.broadcast_add(positions)?
				}
				Part::Attention(attention) => attention.forward(&x)?,
				Part::Skip { back } => (&x + &inputs[index - back])?,
			};
			inputs.push(std::mem::replace(&mut x, out));
		}
		match x.rank() {
			3 => x.flatten(0, 1),
			_ => Ok(x),
		}
	}
}

impl Attention {
	fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
		let (rows, positions, width) = x.dims3()?;
		let depth = width / self.heads;
		let by_head = |x: Tensor| {
			x.reshape((rows, positions, self.heads, depth))?.transpose(1, 2)?.contiguous()
		};
		let query = by_head((self.query.forward(x)? / (depth as f64).sqrt())?)?;
		let key = by_head(self.key.forward(x)?)?;
		let value = by_head(self.value.forward(x)?)?;
		let scores = query.matmul(&key.t()?)?.broadcast_add(&self.mask)?;
		let mixed = ops::softmax(&scores, D::Minus1)?.matmul(&value)?;
		self.output.forward(&mixed.transpose(1, 2)?.reshape((rows, positions, width))?)
	}
}

/// Makes layers, and variables of their parameters.
struct Parameters<'a> {
	state: &'a State,
	/// Layers with parameters so far.
	number: u32,
	vars: BTreeMap<String, Var>,
}

impl Parameters<'_> {
	/// Returns a parameter of the present layer, as a variable.
	fn take(&mut self, name: &str) -> anyhow::Result<Tensor> {
		let name = format!("{}{name}", lower::layer_prefix(self.number));
		let tensor = self.state.tensors.get(&name);
		let tensor = tensor.with_context(|| format!("the state has no tensor {name}"))?;
		let var = Var::from_tensor(tensor)?;
		let tensor = var.as_tensor().clone();
		self.vars.insert(name, var);
		Ok(tensor)
	}

	fn linear(&mut self, prefix: &str) -> anyhow::Result<Linear> {
		let weight = self.take(&format!("{prefix}weight"))?;
		Ok(Linear::new(weight, Some(self.take(&format!("{prefix}bias"))?)))
	}

	fn part(&mut self, at: &Shaped) -> anyhow::Result<Part> {
		let part = match at.layer {
			Layer::MaxPool2d { kernel, stride } => {
				return Ok(Part::MaxPool2d { kernel: kernel as usize, stride: stride as usize });
			}
			Layer::Activation { function: Activation::Relu } => return Ok(Part::Relu),
			Layer::Activation { function: Activation::Gelu } => return Ok(Part::Gelu),
			Layer::Skip { back } => return Ok(Part::Skip { back: back as usize }),
			Layer::Linear { .. } => Part::Linear(self.linear("")?),
			Layer::Conv2d { stride, padding, .. } => {
				let (stride, padding) = (stride as usize, padding as usize);
				let config = Conv2dConfig { stride, padding, ..Conv2dConfig::default() };
				let (weight, bias) = (self.take("weight")?, self.take("bias")?);
				Part::Conv2d(Conv2d::new(weight, Some(bias), config))
			}
			Layer::LayerNorm => {
				Part::LayerNorm { weight: self.take("weight")?, bias: self.take("bias")? }
			}
			Layer::Embedding { width } => Part::Embedding {
				tokens: Embedding::new(self.take("tokens")?, width as usize),
				positions: self.take("positions")?,
			},
			Layer::Attention { heads } => Part::Attention(Attention {
				query: self.linear("query.")?,
				key: self.linear("key.")?,
				value: self.linear("value.")?,
				output: self.linear("output.")?,
				heads: heads as usize,
				mask: mask(at.input)?,
			}),
			layer => bail!("the model of stock candle has no layer {layer:?}"),
		};
		self.number += 1;
		Ok(part)
	}
}

fn mask(shape: Shape) -> candle_core::Result<Tensor> {
	let n = shape.vectors().0 as usize;
	let at = |i: usize| if i % n > i / n { f32::NEG_INFINITY } else { 0.0 };
	Tensor::from_vec((0..n * n).map(at).collect(), (n, n), &Device::Cpu)
}

/// Returns the optimizer's settings.
fn settings(spec: &JobSpec) -> anyhow::Result<ParamsAdamW> {
	let training = &spec.training;
	let spec::Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano } = training.optimizer else {
		bail!("the model of stock candle is trained by AdamW only");
	};
	let number = |nano: u64| nano as f64 / spec::ONE_NANO as f64;
	Ok(ParamsAdamW {
		lr: number(training.learning_rate_nano),
		beta1: number(beta1_nano),
		beta2: number(beta2_nano),
		eps: number(epsilon_nano),
		weight_decay: number(training.weight_decay_nano),
	})
}
