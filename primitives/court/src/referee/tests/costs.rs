//! What an element costs, operator by operator, beside the sum of exponentials by whose terms a decision is
//! weighed, in one run:
//!
//! ```text
//! cargo test --release --locked -p trainyard-court --lib referee::tests::costs -- --ignored --nocapture
//! ```

use super::{operators::number, *};
use crate::Case;
use std::{
	collections::BTreeMap,
	hint::black_box,
	time::{Duration, Instant},
};
use trainyard_program::{
	ops::TensorId,
	parts::{self, Inputs, Part, PartError},
	reference::StepContext,
	spec::{JobSpec, Model},
};

/// Numbers that cost nothing: what is brought is weighed by its bytes.
struct Numbers;

impl Inputs for Numbers {
	type Error = PartError;

	fn number(&self, _: TensorId, _: u64) -> Result<f32, PartError> {
		// A token as well.
		Ok(black_box(1.0))
	}

	fn label(&self, _: u64) -> Result<u32, PartError> {
		Ok(0)
	}
}

/// The least time of one run of some, in nanoseconds.
fn nanoseconds(mut run: impl FnMut()) -> f64 {
	let mut rounds = 1u32;
	let mut timed = |rounds: u32| {
		let begun = Instant::now();
		(0..rounds).for_each(|_| run());
		begun.elapsed()
	};
	while timed(rounds) < Duration::from_millis(2) {
		rounds *= 2;
	}
	let best = (0..7).map(|_| timed(rounds)).min().unwrap();
	best.as_secs_f64() * 1e9 / f64::from(rounds)
}

/// Jobs with every operator, small and with larger batches, and one with wide layers.
fn jobs() -> Vec<JobSpec> {
	let small = testing::specs();
	let batched = small.iter().cloned().map(|mut spec| {
		(spec.dataset.train_rows, spec.dataset.validation_rows) = (8_192, 2_048);
		spec.training.batch_size = 2_048;
		spec
	});
	let wide = small.iter().cloned().filter_map(|mut spec| {
		let Model::Mlp { hidden, .. } = &mut spec.model else { return None };
		*hidden = vec![4_096].try_into().ok()?;
		(spec.dataset.features, spec.dataset.classes) = (4_096, 2_048);
		Some(spec)
	});
	let all: Vec<JobSpec> = batched.chain(wide).collect();
	small.into_iter().chain(all).collect()
}

/// The name of a part.
fn name(part: &Part) -> String {
	let text = match part {
		Part::Whole(kind) => format!("{kind:?}"),
		_ => format!("{part:?}"),
	};
	text.split([' ', '{', '(']).next().unwrap_or_default().to_owned()
}

#[test]
#[ignore = "measures: it takes a minute, and means something in a release build on an idle machine"]
fn costs_of_every_operator() {
	const TERMS: u32 = 16_384;
	let exponentials = nanoseconds(|| {
		let sum = (0..TERMS)
			.fold(0f32, |sum, at| sum + trainyard_strict::exp(-(black_box(at) as f32) / 900.0));
		black_box(sum);
	});
	let weighed = exponentials / f64::from(TERMS);
	let mut dearest: BTreeMap<usize, (u64, String, f64)> = BTreeMap::new();
	for spec in jobs() {
		let Ok(spec) = spec.check() else { continue };
		let case = Case { spec, seed: H256::repeat_byte(7) };
		for computation in [Computation::Step { step: 0 }, Computation::Slice { slice: 0 }] {
			let Ok(lowered) = Lowered::new(&case, computation) else { continue };
			let moment = StepContext { seed: case.seed, step: 0 }.into();
			for at in lowered.parts() {
				let Some(number) = number(&at.part) else { continue };
				let element = at.len / 2;
				let terms = parts::terms(&at.part, element);
				if dearest.get(&number).is_some_and(|(most, ..)| *most >= terms) {
					continue;
				}
				let each = nanoseconds(|| {
					let element = parts::element(&at.part, black_box(element), &moment, &Numbers);
					black_box(element.unwrap());
				});
				dearest.insert(number, (terms, name(&at.part), each));
			}
		}
	}
	println!("a term of the sum of exponentials: {weighed:.2} ns");
	println!("| operator | terms | element, µs | a term, ns | of that | beside what its terms weigh, µs |");
	println!("|---|---|---|---|---|---|");
	for (terms, name, each) in dearest.values() {
		let term = each / (*terms).max(1) as f64;
		let beside = (each - *terms as f64 * weighed).max(0.0) / 1e3;
		let ratio = term / weighed;
		println!("| {name} | {terms} | {:.3} | {term:.2} | {ratio:.2} | {beside:.3} |", each / 1e3);
	}
	assert_eq!(dearest.len(), super::operators::NUMBERS);
}
