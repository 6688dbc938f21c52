//! Outer steps over compressed updates, beside uncompressed ones: loss, bytes and time.
//!
//! Some peers train a transformer on the same text in orders of their own. After each round of inner steps by AdamW the
//! model takes an outer step by the mean of their updates, of which all but a hundredth is left for later.

use crate::{outer::Form, report::table};
use anyhow::{anyhow, bail, Context, Result};
use clap::value_parser;
use std::{collections::BTreeSet, fs, path::PathBuf, sync::Arc, time::Instant};
use trainyard_engine::{Data, Engine, State, Table, TensorMap};
use trainyard_mixing::{Layout, Residual};
use trainyard_program::{
	lower::OPTIMIZER_PREFIX,
	spec::{CheckedSpec, DataFormat, JobSpec, Model, Optimizer},
	H256,
};
use trainyard_strict::{Arithmetic, Soft};

/// The size of what is trained.
#[derive(Clone, Debug, clap::Args)]
pub struct Size {
	/// The text that is trained on.
	#[arg(long, default_value = "ml-worker/examples/data/alice.txt")]
	pub text: PathBuf,
	/// Peers that train.
	#[arg(long, default_value_t = 4, value_parser = value_parser!(u32).range(1..=64))]
	pub trainers: u32,
	/// Inner steps of a round.
	#[arg(long, default_value_t = 15, value_parser = value_parser!(u32).range(1..=10_000))]
	pub inner: u32,
	/// Rounds.
	#[arg(long, default_value_t = 12, value_parser = value_parser!(u32).range(1..=10_000))]
	pub rounds: u32,
	/// Blocks of the transformer.
	#[arg(long, default_value_t = 8, value_parser = value_parser!(u32).range(1..=64))]
	pub blocks: u32,
	/// Its width, a multiple of its 8 heads.
	#[arg(long, default_value_t = 328, value_parser = value_parser!(u32).range(8..=4_096))]
	pub width: u32,
	/// Tokens of a row.
	#[arg(long, default_value_t = 64, value_parser = value_parser!(u32).range(8..=1_024))]
	pub context: u32,
	/// Rows of a batch.
	#[arg(long, default_value_t = 4, value_parser = value_parser!(u32).range(1..=1_024))]
	pub batch: u32,
	/// How updates are brought, one run each: `momentum`, `whole`, or how many of 4,096 values in 2 bits.
	#[arg(long, value_delimiter = ',', default_value = "momentum,whole,128,64")]
	pub updates: Vec<Form>,
	/// In so many parts of the rounds the loss is measured once, at their end.
	#[arg(long, default_value_t = 4, value_parser = value_parser!(u32).range(1..=10_000))]
	pub measured: u32,
}

/// Arithmetic as a compiler for floats would have it: two roundings.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Arithmetic for Plain {
	#[inline(always)]
	fn fma(a: f32, b: f32, c: f32) -> f32 {
		a * b + c
	}

	#[inline(always)]
	fn sqrt(x: f32) -> f32 {
		x.sqrt()
	}
}

/// What a run came to.
struct Ran {
	/// Validation loss after each part of the rounds.
	losses: Vec<f32>,
	/// Bytes of an update.
	bytes: u64,
	/// Seconds of training of a peer in a round.
	training: f64,
	/// Seconds in which a peer makes its update and computes the next model, strictly and in plain floats.
	mixing: [f64; 2],
}

/// What mixing gives after a round, and how long a peer takes.
struct Round {
	model: Vec<f32>,
	velocity: Vec<f32>,
	left: Vec<Residual>,
	seconds: f64,
}

/// Trains by each form and returns the tables.
pub fn run(size: &Size) -> Result<String> {
	let (spec, data) = prepare(size)?;
	let engines: Vec<Engine> = (0..size.trainers)
		.map(|peer| {
			Ok(Engine::new(&spec, H256::from_low_u64_be(u64::from(peer) + 1), data.clone())?)
		})
		.collect::<Result<_>>()?;
	let begin = Engine::initial_state(&spec, &H256::repeat_byte(1), None)?.to_host()?;
	let values: u64 = lengths(&begin).sum();
	let mut rows = Vec::new();
	for form in size.updates.iter().copied() {
		eprintln!("{}", form.name());
		let ran = train(size, form, &engines, &begin)?;
		let whole = 4 * values;
		rows.push(vec![
			form.name(),
			ran.bytes.to_string(),
			format!("{:.0}", whole as f64 / ran.bytes as f64),
			ran.losses.iter().map(|loss| format!("{loss:.3}")).collect::<Vec<_>>().join(", "),
			format!("{:.2}", ran.training),
			format!("{:.3}", ran.mixing[0]),
			format!("{:.3}", ran.mixing[1]),
			format!(
				"{:.2} %",
				100.0 * (ran.mixing[0] - ran.mixing[1]) / (ran.training + ran.mixing[1])
			),
		]);
	}
	let head = [
		"updates",
		"bytes",
		"times less than binary32",
		&format!("validation loss after each {}", part(size.measured)),
		"training, s",
		"mixing, s",
		"in plain floats, s",
		"strict mixing makes a round longer by",
	];
	let what = format!(
		"{values} parameters, {} peers, {} rounds of {} inner steps of {} x {} tokens\n\n",
		size.trainers, size.rounds, size.inner, size.batch, size.context
	);
	Ok(what + &table(&head, &rows))
}

fn part(of: u32) -> String {
	match of {
		4 => "quarter".into(),
		of => format!("1/{of} of the rounds"),
	}
}

fn parameters(state: &TensorMap) -> impl Iterator<Item = (&String, &trainyard_engine::Tensor32)> {
	state.iter().filter(|(name, _)| !name.starts_with(OPTIMIZER_PREFIX))
}

/// Returns how many values each tensor of the model has.
pub fn lengths(state: &TensorMap) -> impl Iterator<Item = u64> + '_ {
	parameters(state).map(|(_, tensor)| tensor.data.len() as u64)
}

/// Returns all parameters, one after the other.
pub fn flat(state: &TensorMap) -> Vec<f32> {
	parameters(state).flat_map(|(_, tensor)| tensor.data.iter().copied()).collect()
}

/// Puts parameters into a state.
fn put(state: &mut TensorMap, values: &[f32]) {
	let mut left = values;
	for (_, tensor) in state.iter_mut().filter(|(name, _)| !name.starts_with(OPTIMIZER_PREFIX)) {
		let (own, rest) = left.split_at(tensor.data.len());
		tensor.data.copy_from_slice(own);
		left = rest;
	}
}

fn train(size: &Size, form: Form, engines: &[Engine], begin: &TensorMap) -> Result<Ran> {
	let layout = form.layout(lengths(begin))?;
	let mut model = flat(begin);
	let mut velocity = form.velocity(&layout);
	let mut peers: Vec<(TensorMap, Residual)> =
		engines.iter().map(|_| (begin.clone(), Residual::none(layout.values()))).collect();
	let mut ran =
		Ran { losses: Vec::new(), bytes: form.bytes(&layout), training: 0.0, mixing: [0.0; 2] };
	for round in 0..size.rounds {
		let mut moved = Vec::new();
		for (engine, (state, _)) in engines.iter().zip(&mut peers) {
			put(state, &model);
			let from = Instant::now();
			let mut training = State::from_host(std::mem::take(state))?;
			for step in 0..size.inner {
				engine.step(&mut training, round * size.inner + step)?;
			}
			*state = training.to_host()?;
			ran.training += from.elapsed().as_secs_f64();
			moved.push(flat(state));
		}
		// Whoever comes first finds cold caches: in turns.
		let residuals = || peers.iter().map(|(_, residual)| residual.clone()).collect::<Vec<_>>();
		let strict = || mixed::<Soft>(form, &layout, &model, &velocity, residuals(), &moved);
		let plain = || mixed::<Plain>(form, &layout, &model, &velocity, residuals(), &moved);
		let (next, other) = match round % 2 {
			0 => (strict()?, plain()?),
			_ => {
				let other = plain()?;
				(strict()?, other)
			}
		};
		ran.mixing[0] += next.seconds;
		ran.mixing[1] += other.seconds;
		(model, velocity) = (next.model, next.velocity);
		for ((_, residual), left) in peers.iter_mut().zip(next.left) {
			*residual = left;
		}
		// Evaluating takes as long as a round: once in each part.
		let part_of =
			|round: u32| u64::from(round) * u64::from(size.measured) / u64::from(size.rounds);
		if part_of(round + 1) > part_of(round) {
			let mut scored = peers[0].0.clone();
			put(&mut scored, &model);
			let loss = engines[0].evaluate(&State::from_host(scored)?)?.loss();
			eprintln!("  round {}: loss {loss:.4}", round + 1);
			ran.losses.push(loss);
		}
	}
	ran.training /= f64::from(size.rounds) * engines.len() as f64;
	ran.mixing = ran.mixing.map(|seconds| seconds / f64::from(size.rounds));
	Ok(ran)
}

/// Mixes what peers moved to.
fn mixed<A: Arithmetic>(
	form: Form,
	layout: &Layout,
	model: &[f32],
	velocity: &[f32],
	mut residuals: Vec<Residual>,
	moved: &[Vec<f32>],
) -> Result<Round> {
	let (mut next, mut velocity) = (model.to_vec(), velocity.to_vec());
	let begun = Instant::now();
	let updates = residuals
		.iter_mut()
		.zip(moved)
		.map(|(residual, to)| form.update::<A>(layout, residual, model, to))
		.collect::<Result<Vec<_>>>()?;
	// Each peer makes its own update, and all compute the same model.
	let others = begun.elapsed().as_secs_f64() * (1.0 - 1.0 / moved.len() as f64);
	let updates: Vec<&[u8]> = updates.iter().map(|bytes| &bytes[..]).collect();
	form.step::<A>(layout, &mut next, &mut velocity, &updates)?;
	let seconds = begun.elapsed().as_secs_f64() - others;
	Ok(Round { model: next, velocity, left: residuals, seconds })
}

/// Returns what is trained, on rows of the text.
pub fn prepare(size: &Size) -> Result<(CheckedSpec, Arc<Data>)> {
	let text =
		fs::read(&size.text).with_context(|| format!("cannot read {}", size.text.display()))?;
	let bytes: BTreeSet<u8> = text.iter().copied().collect();
	let token = |byte: u8| bytes.range(..byte).count() as u32;
	let tokens: Vec<u32> = text.iter().map(|byte| token(*byte)).collect();
	let context = size.context as usize;
	let mut data = Data::default();
	for table in [&mut data.train, &mut data.validation] {
		table.features = context;
	}
	let mut counts = [0u32; 2];
	for (number, row) in tokens.windows(context + 1).step_by(context).enumerate() {
		let validates = number % 10 == 9;
		let table: &mut Table = if validates { &mut data.validation } else { &mut data.train };
		table.x.extend(row[..context].iter().map(|token| *token as f32));
		table.y.extend_from_slice(&row[1..]);
		counts[usize::from(validates)] += 1;
	}
	if counts[0] < size.batch || counts[1] == 0 {
		bail!("{} is too short for rows of {context} tokens", size.text.display());
	}
	let mut spec = JobSpec::example();
	let dataset = &mut spec.dataset;
	dataset.format = DataFormat::Text;
	dataset.features = size.context;
	dataset.feature_divisor = 1;
	dataset.classes = bytes.len() as u32;
	[dataset.train_rows, dataset.validation_rows] = counts;
	dataset.validation_every = 10;
	spec.model = Model::Transformer {
		layers: size.blocks,
		heads: 8,
		width: size.width,
		mlp_factor: 4,
		dropout_nano: 0,
	};
	let training = &mut spec.training;
	training.steps = size.inner * size.rounds;
	training.checkpoint_interval = training.steps;
	training.batch_size = size.batch;
	training.optimizer =
		Optimizer::AdamW { beta1_nano: 900_000_000, beta2_nano: 950_000_000, epsilon_nano: 10 };
	training.learning_rate_nano = 500_000;
	training.clip_norm_nano = 1_000_000_000;
	training.warmup_steps = (training.steps / 10).min(100);
	let spec = spec.check().map_err(|error| anyhow!("the specification: {error}"))?;
	Ok((spec, Arc::new(data)))
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn a_text_that_is_too_short_is_refused() {
		let size = Size {
			text: "Cargo.toml".into(),
			trainers: 1,
			inner: 1,
			rounds: 1,
			blocks: 1,
			width: 8,
			context: 1_024,
			batch: 64,
			updates: Vec::new(),
			measured: 4,
		};
		assert!(prepare(&size).unwrap_err().to_string().contains("too short"));
		let gone = Size { text: "no/such/file".into(), ..size };
		assert!(prepare(&gone).unwrap_err().to_string().contains("no/such/file"));
	}
}
