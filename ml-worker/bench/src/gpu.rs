//! Measures a GPU against the processor: training steps of the strict engine, and laps of drilling. Both
//! compute the same bits, which is checked before anything is timed.

use super::{
	median,
	train::{step_flop, Case, SEED},
};
use anyhow::{ensure, Context};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::{
	sync::Arc,
	time::{Duration, Instant},
};
use trainyard_engine::{Compute, Engine, State, Target};
use trainyard_program::{spec::CheckedSpec, H256};
use trainyard_proof::drill::{LapBatches, Laps};
use trainyard_protocol::stint::LAP;

/// Shortest time of a side's turn: the resolution of the clock does not matter then.
const SHORTEST: Duration = Duration::from_millis(200);
/// Fewest turns.
const TURNS: usize = 3;
/// Steps after which the states of both sides are compared.
const CHECKED_STEPS: u32 = 2;
/// Laps of a GPU that are compared with the processor's.
const CHECKED_LAPS: u32 = 8;

/// What was measured of a kind of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
	/// Its name.
	pub name: String,
	/// What it consists of, for people.
	pub what: String,
	/// Floating-point operations of one step or lap, by the count that the chain pays by.
	pub flop: u64,
	/// Turns.
	pub turns: usize,
	/// Median of steps or laps in a second on the processor, with all threads.
	pub processor: f64,
	/// The same on the GPU.
	pub gpu: f64,
	/// Median of the speed of the GPU over the processor's in the same turn.
	pub ratio: f64,
}

/// Times both sides in turns for about `time`, in at least three turns. Each closure works for as many
/// steps as it is told.
fn in_turns(
	time: Duration,
	mut processor: impl FnMut(u32) -> anyhow::Result<()>,
	mut gpu: impl FnMut(u32) -> anyhow::Result<()>,
) -> anyhow::Result<(usize, [f64; 3])> {
	fn rate(work: &mut dyn FnMut(u32) -> anyhow::Result<()>, count: u32) -> anyhow::Result<f64> {
		let begun = Instant::now();
		work(count)?;
		Ok(f64::from(count) / begun.elapsed().as_secs_f64())
	}
	// The first step of each allocates memory.
	let counts =
		[&mut processor as &mut dyn FnMut(u32) -> anyhow::Result<()>, &mut gpu].map(|work| {
			rate(work, 1)?;
			let once = rate(work, 1)?;
			anyhow::Ok((SHORTEST.as_secs_f64() * once).ceil().clamp(1.0, 1e6) as u32)
		});
	let [of_processor, of_gpu] = counts;
	let (of_processor, of_gpu) = (of_processor?, of_gpu?);
	let (mut slow, mut fast, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
	let begun = Instant::now();
	while ratios.len() < TURNS || begun.elapsed() < time {
		let a = rate(&mut processor, of_processor)?;
		let b = rate(&mut gpu, of_gpu)?;
		(slow.push(a), fast.push(b), ratios.push(b / a));
	}
	Ok((ratios.len(), [median(&slow), median(&fast), median(&ratios)]))
}

/// Measures training steps of `case` on the processor, with all threads, and on `gpu`.
///
/// # Errors
/// Fails if the engine fails, or if both do not come to the same state.
pub fn train(case: &Case, gpu: &Target, time: Duration) -> anyhow::Result<Row> {
	let spec: CheckedSpec = case.spec.clone().check()?;
	let data = Arc::new(case.data());
	let initial = Engine::initial_state(&spec, &SEED, None)?;
	let begin = |target: Target| -> anyhow::Result<(Engine, State)> {
		Ok((Engine::on(&spec, SEED, data.clone(), target)?, initial.clone()))
	};
	let mut sides = [begin(Compute::Cpu.target()?)?, begin(gpu.clone())?];
	for (engine, state) in &mut sides {
		for step in 0..CHECKED_STEPS {
			engine.step(state, step)?;
		}
	}
	let [here, there] = [sides[0].1.hash()?, sides[1].1.hash()?];
	ensure!(here == there, "{}: the GPU comes to another state than the processor", case.name);
	let steps = |(mut engine, mut state): (Engine, State)| {
		let mut next = CHECKED_STEPS;
		move |count: u32| -> anyhow::Result<()> {
			for _ in 0..count {
				Engine::step(&mut engine, &mut state, next)?;
				next += 1;
			}
			Ok(())
		}
	};
	let [processor, gpu] = sides;
	let (turns, [processor, gpu, ratio]) = in_turns(time, steps(processor), steps(gpu))?;
	let flop = step_flop(&spec)?;
	let parameters = spec.parameters();
	let what =
		format!("{}; {parameters} parameters, batch {}", case.layers, spec.training.batch_size);
	Ok(Row { name: case.name.clone(), what, flop, turns, processor, gpu, ratio })
}

/// Measures laps of drilling on the processor, with all threads, and on `gpu`.
///
/// # Errors
/// Fails if laps cannot be computed, or differ.
pub fn laps(gpu: &Target, time: Duration) -> anyhow::Result<Row> {
	let laps = Laps::chosen()?;
	let batches = LapBatches::new(gpu)?.context("laps at a time need a GPU")?;
	let (seed, many) = (H256::repeat_byte(7), batches.at_a_time());
	let found = batches.compute(&seed, 0..many)?;
	for (index, result) in (0u32..).zip(&found).take(CHECKED_LAPS as usize) {
		batches.confirm(&seed, index, result)?;
	}
	let processor = |count: u32| {
		// A lap on each thread, as a driller does.
		let all = count * rayon::current_num_threads() as u32;
		(0..all).into_par_iter().try_for_each(|index| laps.compute(&seed, index).map(drop))?;
		Ok(())
	};
	let mut next = 0;
	let gpu = |count: u32| {
		for _ in 0..count {
			batches.compute(&seed, next..next + many)?;
			next = (next + many) % (1 << 30);
		}
		Ok(())
	};
	let (turns, [processor, gpu, ratio]) = in_turns(time, processor, gpu)?;
	let threads = rayon::current_num_threads() as f64;
	let many = f64::from(many);
	Ok(Row {
		name: "laps".into(),
		what: format!("of drilling, {many} at a time"),
		flop: u64::try_from(LAP.flop()?)?,
		turns,
		processor: processor * threads,
		gpu: gpu * many,
		ratio: ratio * many / threads,
	})
}
