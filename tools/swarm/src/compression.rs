//! Outer steps over compressed updates, beside uncompressed ones: loss, bytes and time.
//!
//! Some peers train a transformer on the same text in orders of their own. After each round of inner steps by AdamW the
//! model takes an outer step by the mean of their updates, of which all but a hundredth is left for later.

use crate::report::table;
use anyhow::{anyhow, bail, Context, Result};
use clap::value_parser;
use std::{collections::BTreeSet, fs, path::PathBuf, sync::Arc, time::Instant};
use trainyard_engine::{Data, Engine, State, Table, TensorMap};
use trainyard_mixing::{
	compress, move_of, norm, Aggregation, Compression, Contribution, Layout, OuterStep, Residual,
	Update,
};
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
	text: PathBuf,
	/// Peers that train.
	#[arg(long, default_value_t = 4, value_parser = value_parser!(u32).range(1..=64))]
	trainers: u32,
	/// Inner steps of a round.
	#[arg(long, default_value_t = 15, value_parser = value_parser!(u32).range(1..=10_000))]
	inner: u32,
	/// Rounds.
	#[arg(long, default_value_t = 12, value_parser = value_parser!(u32).range(1..=10_000))]
	rounds: u32,
	/// Blocks of the transformer.
	#[arg(long, default_value_t = 8, value_parser = value_parser!(u32).range(1..=64))]
	blocks: u32,
	/// Its width, a multiple of its 8 heads.
	#[arg(long, default_value_t = 320, value_parser = value_parser!(u32).range(8..=4_096))]
	width: u32,
	/// Tokens of a row.
	#[arg(long, default_value_t = 64, value_parser = value_parser!(u32).range(8..=1_024))]
	context: u32,
	/// Rows of a batch.
	#[arg(long, default_value_t = 4, value_parser = value_parser!(u32).range(1..=1_024))]
	batch: u32,
}

/// How updates are brought.
#[derive(Clone, Copy, Debug)]
enum Form {
	/// All numbers, and an outer step with momentum.
	Whole { rate: f32, momentum: f32 },
	/// Of each block so many values of so many bits, what is left kept by `keep`, and a plain outer step.
	Picked { picks: u32, bits: u32, keep: f32, rate: f32 },
}

impl Form {
	fn name(self) -> String {
		match self {
			Self::Whole { rate, momentum } => {
				format!("whole, outer rate {rate}, momentum {momentum}")
			}
			Self::Picked { picks, bits, keep, rate } => {
				format!("{picks} of 4,096 in {bits} bits, residual times {keep}, outer rate {rate}")
			}
		}
	}
}

/// Arithmetic as a compiler for floats would have it: two roundings.
#[derive(Clone, Copy, Debug)]
struct Plain;

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
	/// Validation loss after each quarter of the rounds.
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
	let forms = [
		Form::Whole { rate: 0.7, momentum: 0.9 },
		Form::Whole { rate: 1.0, momentum: 0.0 },
		Form::Picked { picks: 128, bits: 2, keep: 0.95, rate: 1.0 },
		Form::Picked { picks: 64, bits: 2, keep: 0.95, rate: 1.0 },
	];
	let engines: Vec<Engine> = (0..size.trainers)
		.map(|peer| {
			Ok(Engine::new(&spec, H256::from_low_u64_be(u64::from(peer) + 1), data.clone())?)
		})
		.collect::<Result<_>>()?;
	let begin = Engine::initial_state(&spec, &H256::repeat_byte(1), None)?.to_host()?;
	let values: u64 = parameters(&begin).map(|(_, tensor)| tensor.data.len() as u64).sum();
	let mut rows = Vec::new();
	for form in forms {
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
		"validation loss after each quarter",
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

fn parameters(state: &TensorMap) -> impl Iterator<Item = (&String, &trainyard_engine::Tensor32)> {
	state.iter().filter(|(name, _)| !name.starts_with(OPTIMIZER_PREFIX))
}

/// Returns all parameters, one after the other.
fn flat(state: &TensorMap) -> Vec<f32> {
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
	let rule = match form {
		Form::Whole { .. } => Compression::new(64, 2)?,
		Form::Picked { picks, bits, .. } => Compression::new(picks, bits)?,
	};
	let layout = Layout::new(rule, parameters(begin).map(|(_, tensor)| tensor.data.len() as u64))?;
	let mut model = flat(begin);
	let mut velocity = vec![0.0; model.len()];
	let mut peers: Vec<(TensorMap, Residual)> =
		engines.iter().map(|_| (begin.clone(), Residual::none(layout.values()))).collect();
	let bytes = match form {
		Form::Whole { .. } => 4 * layout.values(),
		Form::Picked { .. } => layout.bytes(),
	};
	let mut ran = Ran { losses: Vec::new(), bytes, training: 0.0, mixing: [0.0; 2] };
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
		// Evaluating takes as long as a round: once in each quarter.
		if (round + 1) * 4 / size.rounds > round * 4 / size.rounds {
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
	// Each peer makes its own update, and all compute the same model.
	let mut own = 0.0;
	match form {
		Form::Whole { rate, momentum } => {
			let step = OuterStep::new(rate, momentum)?;
			let count = moved.len() as f32;
			let mean: Vec<f32> = (0..model.len())
				.map(|at| {
					moved.iter().map(|to| model[at] - to[at]).fold(0.0, |sum, x| sum + x) / count
				})
				.collect();
			let kept: &mut [f32] = if step.has_velocity() { &mut velocity } else { &mut [] };
			step.apply::<A>(&mut next, kept, &mean)?;
		}
		Form::Picked { keep, rate, .. } => {
			let mut all = Vec::new();
			for (residual, to) in residuals.iter_mut().zip(moved) {
				move_of::<A>(residual, keep, model, to)?;
				all.push(compress::<A>(layout, residual)?);
			}
			own = begun.elapsed().as_secs_f64() * (1.0 - 1.0 / moved.len() as f64);
			let updates = all
				.iter()
				.map(|bytes| Update::read::<A>(layout, bytes))
				.collect::<Result<Vec<_>, _>>()?;
			let rule = Aggregation::new(Some(2.0), 0)?;
			let norms: Vec<f32> = updates.iter().map(norm::<A>).collect();
			let scales = rule.scales(&norms, &vec![1.0; updates.len()]);
			let step = OuterStep::new(rate, 0.0)?;
			let mut left = next.as_mut_slice();
			for at in 0..layout.blocks() {
				let length = layout.length_of(at).unwrap_or(0);
				let of = |(update, scale): (_, &f32)| {
					let update: &Update = update;
					Contribution { block: &update.blocks[at], scale: *scale, weight: 1.0 }
				};
				let peers: Vec<_> = updates.iter().zip(&scales).map(of).collect();
				let (values, rest) = left.split_at_mut(length as usize);
				if let Some(aggregate) = rule.block::<A>(length, &peers) {
					step.apply::<A>(values, &mut [], &aggregate)?;
				}
				left = rest;
			}
		}
	}
	let seconds = begun.elapsed().as_secs_f64() - own;
	Ok(Round { model: next, velocity, left: residuals, seconds })
}

/// Returns what is trained, on rows of the text.
fn prepare(size: &Size) -> Result<(CheckedSpec, Arc<Data>)> {
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

	/// A model and what two peers made of it.
	fn moved() -> (Vec<f32>, Vec<Vec<f32>>) {
		let wave =
			|phase: usize| (0..600).map(|at| ((at * 37 + phase) % 101) as f32 / 100.0).collect();
		(wave(0), vec![wave(3), wave(7)])
	}

	fn mixed_by(form: Form, layout: &Layout) -> (Vec<f32>, Vec<Residual>) {
		let (model, moved) = moved();
		let none = vec![Residual::none(600); 2];
		let round = mixed::<Soft>(form, layout, &model, &[0.0; 600], none, &moved).unwrap();
		(round.model, round.left)
	}

	#[test]
	fn a_plain_outer_step_of_rate_one_is_the_mean_of_the_peers() {
		let layout = Layout::new(Compression::new(64, 2).unwrap(), [500, 100]).unwrap();
		let (next, _) = mixed_by(Form::Whole { rate: 1.0, momentum: 0.0 }, &layout);
		let (_, moved) = moved();
		for (at, next) in next.iter().enumerate() {
			assert!((next - (moved[0][at] + moved[1][at]) / 2.0).abs() < 1e-5);
		}
	}

	#[test]
	fn what_compression_leaves_out_is_in_the_residuals() {
		let layout = Layout::new(Compression::new(512, 3).unwrap(), [500, 100]).unwrap();
		let form = Form::Picked { picks: 512, bits: 3, keep: 1.0, rate: 1.0 };
		let (next, left) = mixed_by(form, &layout);
		let (_, moved) = moved();
		for at in 0..600 {
			// Where nothing was said the model stands still, and all of the movement is left.
			let whole = (moved[0][at] + moved[1][at]) / 2.0;
			let rest = (left[0].0[at] + left[1].0[at]) / 2.0;
			assert!((next[at] - rest - whole).abs() < 1e-5, "{at}: {} {rest} {whole}", next[at]);
		}
		assert!(left.iter().all(|left| left.0.iter().any(|rest| *rest != 0.0)));
	}

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
		};
		assert!(prepare(&size).unwrap_err().to_string().contains("too short"));
		let gone = Size { text: "no/such/file".into(), ..size };
		assert!(prepare(&gone).unwrap_err().to_string().contains("no/such/file"));
	}
}
