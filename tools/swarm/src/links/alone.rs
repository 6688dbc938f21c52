//! One round of training, alone on the machine: how long it takes, and what strict mixing adds to it.

use super::movement::Movement;
use crate::{
	compression::{flat, lengths, prepare, Plain, Size},
	outer::Form,
};
use anyhow::Result;
use serde_json::{json, Value};
use std::{path::Path, time::Instant};
use trainyard_engine::{Engine, State};
use trainyard_mixing::{Layout, Residual};
use trainyard_program::H256;
use trainyard_strict::{Arithmetic, Soft};

/// Rounds that are trained; the first one finds cold caches.
const ROUNDS: u32 = 3;
/// How often mixing is measured, in each arithmetic.
const TURNS: usize = 9;

/// Trains some rounds, writes the model before the last one and its movement to a file, and says what was measured.
pub fn run(size: &Size, to: &Path) -> Result<Value> {
	let size = Size { rounds: ROUNDS, ..size.clone() };
	let (spec, data) = prepare(&size)?;
	let engine = Engine::new(&spec, H256::from_low_u64_be(1), data)?;
	let mut state = Engine::initial_state(&spec, &H256::repeat_byte(1), None)?.to_host()?;
	let tensors: Vec<u64> = lengths(&state).collect();
	let (mut seconds, mut model, mut after) = (Vec::new(), Vec::new(), flat(&state));
	for round in 0..ROUNDS {
		let mut training = State::from_host(state)?;
		let begun = Instant::now();
		for step in 0..size.inner {
			engine.step(&mut training, round * size.inner + step)?;
		}
		seconds.push(begun.elapsed().as_secs_f64());
		state = training.to_host()?;
		model = std::mem::replace(&mut after, flat(&state));
	}
	let moved = after.iter().zip(&model).map(|(after, before)| after - before).collect();
	let movement = Movement { tensors, model, moved };
	movement.write(to)?;
	let mixing = size.updates.iter().map(|form| mixing(*form, &movement, size.trainers));
	Ok(json!({
		"parameters": movement.model.len(),
		"tokens": size.inner * size.batch * size.context,
		"seconds": median(seconds),
		"mixing": mixing.collect::<Result<Vec<_>>>()?,
	}))
}

/// Returns how long a peer takes to make its update and the next model, strictly and in plain floats.
fn mixing(form: Form, movement: &Movement, peers: u32) -> Result<Value> {
	let layout = form.layout(movement.tensors.iter().copied())?;
	let moved: Vec<_> = (0..peers).map(|peer| movement.of(&movement.model, peer, 0)).collect();
	let others = moved[1..]
		.iter()
		.map(|to| {
			let mut left = Residual::none(layout.values());
			form.update::<Soft>(&layout, &mut left, &movement.model, to)
		})
		.collect::<Result<Vec<_>>>()?;
	let (mut strict, mut plain) = (Vec::new(), Vec::new());
	for turn in 0..TURNS {
		// Whoever comes first finds other caches: in turns.
		if turn % 2 == 0 {
			strict.push(timed::<Soft>(form, &layout, movement, &moved[0], &others)?);
		}
		plain.push(timed::<Plain>(form, &layout, movement, &moved[0], &others)?);
		if turn % 2 == 1 {
			strict.push(timed::<Soft>(form, &layout, movement, &moved[0], &others)?);
		}
	}
	Ok(json!({
		"name": form.name(),
		"bytes": form.bytes(&layout),
		"strict": median(strict),
		"plain": median(plain),
	}))
}

/// Returns the seconds of an update and an outer step.
fn timed<A: Arithmetic>(
	form: Form,
	layout: &Layout,
	movement: &Movement,
	to: &[f32],
	others: &[Vec<u8>],
) -> Result<f64> {
	let (mut model, mut velocity) = (movement.model.clone(), form.velocity(layout));
	let mut left = Residual::none(layout.values());
	let begun = Instant::now();
	let own = form.update::<A>(layout, &mut left, &movement.model, to)?;
	let updates: Vec<&[u8]> =
		std::iter::once(&own).chain(others).map(|bytes| bytes.as_slice()).collect();
	form.step::<A>(layout, &mut model, &mut velocity, &updates)?;
	Ok(begun.elapsed().as_secs_f64())
}

/// Returns the upper median of some numbers, 0 of none.
fn median(mut values: Vec<f64>) -> f64 {
	values.sort_by(f64::total_cmp);
	values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
	use super::*;
	use std::fs;

	#[test]
	fn a_round_leaves_a_model_and_its_movement() {
		let to = std::env::temp_dir().join(format!("alone-{}", std::process::id()));
		let text = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ml-worker/examples/data/alice.txt");
		let size = Size {
			text: text.into(),
			trainers: 2,
			inner: 1,
			rounds: 1,
			blocks: 1,
			width: 16,
			context: 8,
			batch: 2,
			updates: vec!["whole".parse().unwrap(), "64".parse().unwrap()],
			measured: 1,
		};
		let found = run(&size, &to).unwrap();
		let movement = Movement::read(&to).unwrap();
		fs::remove_file(&to).unwrap();
		assert_eq!(found["parameters"], movement.model.len());
		assert_eq!(found["tokens"], 16);
		assert_eq!(found["mixing"][0]["bytes"], 4 * movement.model.len());
		assert!(found["mixing"][1]["bytes"].as_u64() < found["mixing"][0]["bytes"].as_u64());
		assert!(movement.moved.iter().any(|moved| *moved != 0.0));
	}
}
