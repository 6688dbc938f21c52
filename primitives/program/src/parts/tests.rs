//! Parts against whole operators, and what holds of every part.

mod cases;
mod counts;
mod opened;
mod whole;

use super::*;
use crate::{
	lower,
	needs::MachineClass,
	ops::{OpKind, TensorId},
	reference::{self, ExecError},
};
use cases::Case;
use codec::{Decode, Encode};
use core::{cell::Cell, ops::Range};
use opened::{Chunk, Opened, OpenedError, Recorder};
use std::collections::BTreeSet;

/// A tensor between the parts of a case; the operands come before it.
const BETWEEN: TensorId = 10;

/// The operands of a case and what lies between its parts. Counts what is read; one number may be
/// missing.
struct Counted<'a> {
	operands: &'a [Vec<f32>],
	between: Vec<Vec<f32>>,
	labels: &'a [u32],
	reads: Cell<u64>,
	missing: Option<u64>,
}

impl Counted<'_> {
	fn count(&self) -> Result<(), ExecError> {
		let at = self.reads.get();
		self.reads.set(at + 1);
		match self.missing {
			Some(missing) if missing == at => Err(ExecError::Missing { tensor: "one".into() }),
			_ => Ok(()),
		}
	}
}

impl Inputs for Counted<'_> {
	type Error = ExecError;

	fn number(&self, tensor: TensorId, index: u64) -> Result<f32, ExecError> {
		self.count()?;
		let x = match tensor.checked_sub(BETWEEN) {
			Some(at) => &self.between[at as usize],
			None => &self.operands[tensor as usize],
		};
		Ok(x[index as usize])
	}

	fn label(&self, index: u64) -> Result<u32, ExecError> {
		self.count()?;
		Ok(self.labels[index as usize])
	}
}

/// Calls `f` with every part of a case, the number of its elements, and what it reads.
fn for_each_part(case: &Case, mut f: impl FnMut(&Part, u64, &mut Counted<'_>)) -> Vec<f32> {
	let Case { kind, operands, labels, moment } = case;
	let mut inputs =
		Counted { operands, between: vec![], labels, reads: Cell::new(0), missing: None };
	let Expanded { between, last } = expand(kind, BETWEEN).unwrap();
	let moment = Moment::from(*moment);
	for (part, len) in between {
		f(&part, len, &mut inputs);
		let x = (0..len).map(|i| element(&part, i, &moment, &inputs).unwrap()).collect();
		inputs.between.push(x);
	}
	let len = kind.elements();
	f(&last, len, &mut inputs);
	(0..len).map(|i| element(&last, i, &moment, &inputs).unwrap()).collect()
}

fn bits(x: &[f32]) -> Vec<u32> {
	x.iter().map(|x| if x.is_nan() { 0x7FC0_0000 } else { x.to_bits() }).collect()
}

#[test]
fn every_operator_has_a_case() {
	let seen: BTreeSet<usize> = cases::all().iter().map(|case| cases::number(&case.kind)).collect();
	assert_eq!(seen, (0..cases::KINDS).collect());
}

#[test]
fn parts_compute_what_whole_operators_do() {
	let mut compared = 0;
	for case in cases::all() {
		let found = for_each_part(&case, |_, _, _| {});
		assert_eq!(found.len() as u64, case.kind.elements(), "{:?}", case.kind);
		let operands = |id: TensorId| Ok::<_, ExecError>(case.operands[id as usize].as_slice());
		let executed = reference::operator(&case.kind, &case.labels, case.moment, operands);
		assert_eq!(bits(&executed.unwrap()), bits(&found), "{:?}", case.kind);
		if let Some(expected) = whole::operator(&case) {
			assert_eq!(bits(&found), bits(&expected), "{:?}", case.kind);
			compared += 1;
		}
	}
	assert!(compared > 40, "{compared}");
}

/// What a chain holds is all that it needs: stretches of any length, each from what the one before
/// it left, give the same element.
#[test]
fn chains_stop_and_go_on() {
	let (mut chains, mut stretches) = (0, 0);
	for case in cases::all() {
		let moment = Moment::from(case.moment);
		for_each_part(&case, |part, len, inputs| {
			for index in (0..len).step_by(1 + len as usize / 7) {
				let expected = element(part, index, &moment, inputs).unwrap();
				let terms = terms(part, index);
				chains += u64::from(terms > 0);
				for stride in [1, 2, 3, 7, 16, 100, 511, 512, 1_025] {
					let mut kept = start(part, index, inputs).unwrap();
					let mut at = 0;
					while at < terms {
						let end = terms.min(at + stride);
						let mut next = kept;
						advance(part, index, &mut next, at..end, inputs).unwrap();
						(kept, at) = (next, end);
						stretches += 1;
					}
					let found = finish(part, index, &kept, &moment, inputs).unwrap();
					assert_eq!(bits(&[found]), bits(&[expected]), "{part:?} {index} {stride}");
				}
			}
		});
	}
	assert!(chains > 300 && stretches > 10_000, "{chains} {stretches}");
}

/// A term reads at most 5 numbers. What is read before and after a chain is bounded too, by 10.
#[test]
fn terms_and_rests_read_little() {
	let (mut most_of_term, mut most_of_rest) = (0, 0);
	for case in cases::all() {
		let moment = Moment::from(case.moment);
		for_each_part(&case, |part, len, inputs| {
			let read = |f: &mut dyn FnMut()| {
				let before = inputs.reads.get();
				f();
				inputs.reads.get() - before
			};
			for index in 0..len {
				let mut kept = Accumulator::None;
				let begun = read(&mut || kept = start(part, index, inputs).unwrap());
				for t in 0..terms(part, index) {
					let range: Range<u64> = t..t + 1;
					let of_term = read(&mut || {
						advance(part, index, &mut kept, range.clone(), inputs).unwrap();
					});
					most_of_term = most_of_term.max(of_term);
				}
				let ended = read(&mut || {
					finish(part, index, &kept, &moment, inputs).unwrap();
				});
				most_of_rest = most_of_rest.max(begun.max(ended));
			}
		});
	}
	assert_eq!((most_of_term, most_of_rest), (5, MAX_REST_READS));
}

/// What a chain holds has one form in bytes, which says all of it.
#[test]
fn accumulators_have_one_form() {
	let mut seen = BTreeSet::new();
	for case in cases::all() {
		for_each_part(&case, |part, len, inputs| {
			for index in (0..len).step_by(1 + len as usize / 5) {
				let mut kept = start(part, index, inputs).unwrap();
				for end in [terms(part, index) / 2, terms(part, index)] {
					let begin = if end == terms(part, index) { end / 2 } else { 0 };
					advance(part, index, &mut kept, begin..end, inputs).unwrap();
					let bytes = kept.encode();
					assert_eq!(bytes.len(), kept.size_hint());
					let found = Accumulator::decode(&mut &bytes[..]).unwrap();
					assert_eq!(found.encode(), bytes, "{part:?}");
					// It goes on as what it was made of.
					let moment = Moment::from(case.moment);
					if end == terms(part, index) {
						let expected = finish(part, index, &kept, &moment, inputs).unwrap();
						let again = finish(part, index, &found, &moment, inputs).unwrap();
						assert_eq!(bits(&[again]), bits(&[expected]), "{part:?}");
					}
					assert!(Accumulator::decode(&mut &bytes[..bytes.len() - 1]).is_err());
					seen.insert(bytes[0]);
				}
			}
		});
	}
	assert_eq!(seen, (0..9).collect());
	assert!(Accumulator::decode(&mut &[9u8, 0, 0, 0, 0][..]).is_err());
	// A NaN has one form: 7FC00000, little endian.
	let nan = f32::from_bits(0xFFC0_0001);
	assert_eq!(Accumulator::Add(nan).encode(), [4, 0, 0, 0xC0, 0x7F]);
	assert!(Accumulator::decode(&mut &[4u8, 1, 0, 0xC0, 0x7F][..]).is_err());
	let largest = Accumulator::Largest { value: -0.0, at: 258 };
	assert_eq!(largest.encode(), [6, 0, 0, 0, 0x80, 2, 1, 0, 0]);
}

/// Returns the number of elements of a tensor of a case, or of one between its parts.
fn elements_of(inputs: &Counted<'_>, id: TensorId) -> u64 {
	let len = match id.checked_sub(BETWEEN) {
		Some(at) => inputs.between[at as usize].len(),
		None => inputs.operands[id as usize].len(),
	};
	len as u64
}

/// No stretch reads other tensors, or more chunks of one, than is said of it; and the longest
/// stretches take no more bytes than they may.
#[test]
fn stretches_read_no_more_than_they_say() {
	let (mut stretched, mut full) = (0, 0);
	for case in cases::all() {
		for_each_part(&case, |part, len, inputs| {
			let elements = |id: TensorId| elements_of(inputs, id);
			let reads = reads(part);
			for index in (0..len).step_by(1 + len as usize / 5) {
				let all = terms(part, index);
				for length in [1, 2, 5, 16, 300].into_iter().filter(|length| *length <= all) {
					for begin in [0, (all - length) / 2, all - length] {
						let mut kept = start(part, index, inputs).unwrap();
						advance(part, index, &mut kept, 0..begin, inputs).unwrap();
						let recorder = Recorder::new(inputs, LABELS);
						let range = begin..begin + length;
						advance(part, index, &mut kept, range, &recorder).unwrap();
						let chunks = recorder.into_chunks();
						for tensor in chunks.iter().map(|chunk| chunk.tensor) {
							let found =
								chunks.iter().filter(|chunk| chunk.tensor == tensor).count();
							let said = match reads.iter().find(|read| read.tensor == tensor) {
								Some(read) => read.reach.chunks(length, elements(tensor).into()),
								None => u64::from(tensor == LABELS),
							};
							assert!(found as u64 <= said, "{part:?} {tensor} {found} {said}");
							full += u64::from(found as u64 == said);
						}
						stretched += 1;
					}
				}
			}
			for bytes in [0, 2_000, 20_000, 200_000] {
				let stored = |id| Storage::from(elements(id));
				let terms = stretch(part, bytes, stored);
				let cost = |terms| stretch_bytes(part, terms, stored);
				assert!(terms.is_power_of_two() && (terms == 1 || cost(terms) <= bytes));
				assert!(terms == MAX_STRETCH || cost(terms * 2) > bytes);
			}
		});
	}
	assert!(stretched > 5_000 && full > stretched / 2, "{stretched} {full}");
}

/// A column of a large matrix is read a kibibyte for a number, and a row 256 numbers for one.
#[test]
fn rows_and_columns_make_stretches() {
	let (a, b, large) = (0, 1, 1u64 << 32);
	let of = |transpose_a, transpose_b| {
		let (m, n, k) = (1 << 16, 1 << 16, 1 << 16);
		let kind = OpKind::MatMul { a, b, transpose_a, transpose_b, m, n, k };
		stretch(&Part::Whole(kind), 200 << 10, |_| large.into())
	};
	// Both by columns, one by columns, both by rows.
	assert_eq!((of(true, false), of(true, true), of(false, true)), (64, 128, 16_384));
	let kind = OpKind::MatMul {
		a,
		b,
		transpose_a: true,
		transpose_b: false,
		m: 1 << 16,
		n: 1 << 16,
		k: 1 << 16,
	};
	assert_eq!(stretches(&Part::Whole(kind), 5, 200 << 10, |_| large.into()), 1_024);
	// Hashes beside m of 2^24 chunks: m (24 - log2 m).
	assert_eq!(opening_bytes(64, large), 64 * 1_024 + 64 * 18 * 32);
	assert_eq!(opening_bytes(1, 256), 1_024);
	assert_eq!(opening_bytes(0, large), 0);
}

/// Of a batch, the rows lie anywhere among all training rows. No matter where, what is said of the
/// chunks that terms read is enough, and of some batches no more than enough.
#[test]
fn rows_of_a_batch_lie_anywhere() {
	let (rows, all) = (40u64, 1_000u64);
	let mut equal = 0;
	for width in [1u64, 3, 100, 256, 300, 1_000] {
		let stored = Storage { elements: all * width, run: width };
		for stride in [1, 2, width, width + 1] {
			for terms in [1u64, 2, 7, 30, 256, 300] {
				let mut most = 0;
				for begin in [0, 1, width - 1, width / 2] {
					for step in [1u64, 7, 333] {
						let read: BTreeSet<u64> = (0..terms)
							.map(|term| begin + term * stride)
							.filter(|at| *at < rows * width)
							.map(|at| (at / width * step % all * width + at % width) / 256)
							.collect();
						most = most.max(read.len() as u64);
					}
				}
				let said = Reach::Along(stride).chunks(terms, stored);
				assert!(most <= said && said <= terms, "{width} {stride} {terms}: {most} {said}");
				equal += u32::from(most == said);
			}
		}
	}
	assert!(equal > 60, "{equal}");
	// A row of one number is a chunk for each, where a tensor by itself is one for 256.
	let scattered = Storage { elements: 1 << 32, run: 1 };
	assert_eq!(Reach::Along(1).chunks(256, scattered), 256);
	assert_eq!(Reach::Along(1).chunks(256, (1 << 32).into()), 2);
}

#[test]
fn an_element_is_refused_where_a_number_is_missing() {
	let mut refused = 0;
	for case in cases::all() {
		let moment = Moment::from(case.moment);
		for_each_part(&case, |part, len, inputs| {
			let index = len / 2;
			inputs.reads.set(0);
			element(part, index, &moment, inputs).unwrap();
			let reads = inputs.reads.get();
			for missing in (0..reads).step_by(1 + reads as usize / 20) {
				inputs.reads.set(0);
				inputs.missing = Some(missing);
				let found = element(part, index, &moment, inputs);
				assert!(matches!(found, Err(ExecError::Missing { .. })), "{part:?} {missing}");
				refused += 1;
			}
			inputs.missing = None;
		});
	}
	assert!(refused > 200, "{refused}");
}

/// The number of the labels of all cases.
const LABELS: TensorId = 9;

/// Returns the words of a chunk of what a case reads.
fn words(inputs: &Counted<'_>, chunk: Chunk) -> Vec<u32> {
	let start = (chunk.number * CHUNK_ELEMENTS) as usize;
	let of = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
	let all = match chunk.tensor {
		LABELS => inputs.labels.to_vec(),
		id if id >= BETWEEN => of(&inputs.between[(id - BETWEEN) as usize]),
		id => of(&inputs.operands[id as usize]),
	};
	all[start..all.len().min(start + CHUNK_ELEMENTS as usize)].to_vec()
}

/// A referee that is shown the chunks that an element reads computes the same bits, and none where
/// it is not shown one of them.
#[test]
fn a_referee_computes_from_opened_chunks_alone() {
	let (mut judged, mut most) = (0, 0);
	for case in cases::all() {
		let moment = Moment::from(case.moment);
		for_each_part(&case, |part, len, inputs| {
			for index in (0..len).step_by(1 + len as usize / 5) {
				let recorder = Recorder::new(inputs, LABELS);
				let expected = element(part, index, &moment, &recorder).unwrap();
				let chunks = recorder.into_chunks();
				let mut opened = Opened::new(LABELS);
				for chunk in &chunks {
					opened.insert(*chunk, words(inputs, *chunk));
				}
				let found = element(part, index, &moment, &opened).unwrap();
				assert_eq!(bits(&[found]), bits(&[expected]), "{part:?} {index}");
				for missing in &chunks {
					let mut less = Opened::new(LABELS);
					for chunk in chunks.iter().filter(|chunk| *chunk != missing) {
						less.insert(*chunk, words(inputs, *chunk));
					}
					let found = element(part, index, &moment, &less);
					let Err(OpenedError::Missing { tensor, index }) = found else {
						panic!("{part:?} computes {found:?} without {missing:?}");
					};
					assert_eq!((tensor, index / CHUNK_ELEMENTS), (missing.tensor, missing.number));
				}
				judged += 1;
				most = most.max(chunks.len());
			}
		});
	}
	assert!(judged > 2_000 && most > 10, "{judged} {most}");
}

#[test]
fn chains_have_no_terms_after_their_last() {
	let mut refused = 0;
	for case in cases::all() {
		for_each_part(&case, |part, len, inputs| {
			let (index, all) = (len - 1, terms(part, len - 1));
			for (begin, end) in [(all, all + 1), (0, all + 1), (all + 1, all + 1), (1, 0)] {
				let mut kept = start(part, index, inputs).unwrap();
				let before = kept;
				let range = Range { start: begin, end };
				let found = advance(part, index, &mut kept, range, inputs);
				assert_eq!(found, Err(ExecError::Part(PartError::NoSuchTerms)), "{part:?}");
				assert_eq!(kept.encode(), before.encode());
				refused += 1;
			}
			let mut kept = start(part, index, inputs).unwrap();
			assert_eq!(advance(part, index, &mut kept, all..all, inputs), Ok(()));
		});
	}
	assert!(refused > 1_000, "{refused}");
}

/// The bytes of what chains hold, by hand: others build them too.
#[test]
fn the_layout_of_accumulators() {
	let words = |variant: u8, words: &[u32]| {
		let bytes = words.iter().flat_map(|word| word.to_le_bytes());
		core::iter::once(variant).chain(bytes).collect::<Vec<u8>>()
	};
	let one = 0x3F80_0000;
	let dot = trainyard_strict::DotChain { total: 1.0, block: -0.0 };
	assert_eq!(Accumulator::None.encode(), [0]);
	assert_eq!(Accumulator::Dot(dot).encode(), words(1, &[one, 0x8000_0000]));
	let mut sum = trainyard_strict::SumChain::default();
	// The lanes of a level one after the other, level by level.
	(sum.lanes[0][1], sum.lanes[2][3]) = (1.0, -2.0);
	let mut lanes = [0; 64];
	(lanes[1], lanes[35]) = (one, 0xC000_0000);
	assert_eq!(Accumulator::Sum(sum).encode(), words(2, &lanes));
	let dots = Accumulator::Dots { sum: 2.0, dot };
	assert_eq!(dots.encode(), words(3, &[0x4000_0000, one, 0x8000_0000]));
	assert_eq!(Accumulator::Add(1.0).encode(), words(4, &[one]));
	assert_eq!(Accumulator::Max(f32::NEG_INFINITY).encode(), words(5, &[0xFF80_0000]));
	let largest = Accumulator::Largest { value: 1.0, at: 9 };
	assert_eq!(largest.encode(), words(6, &[one, 9]));
	assert_eq!(Accumulator::First(7).encode(), words(7, &[7]));
	let mut lane = [0.0; trainyard_strict::whetstone::VARIABLES];
	lane[9] = 1.0;
	assert_eq!(Accumulator::Lane(lane).encode(), words(8, &[0, 0, 0, 0, 0, 0, 0, 0, 0, one]));
}

/// Nothing is summed that does not fit the memory of a machine class.
#[test]
fn no_job_sums_more_terms_than_a_chain_holds() {
	for class in MachineClass::ALL {
		assert!(class.limits().memory / 4 <= trainyard_strict::MAX_SUM_TERMS);
	}
}

/// A block of a dot product joins the total with the first term after it, one of a sum as soon as it
/// is full.
#[test]
fn blocks_join_at_their_time() {
	let mut dot = trainyard_strict::DotChain::default();
	let mut sum = trainyard_strict::SumChain::default();
	for taken in 0..512 {
		dot.add(taken, 1.0, 1.0);
	}
	assert_eq!((dot.total, dot.block), (0.0, 512.0));
	dot.add(512, 1.0, 3.0);
	assert_eq!((dot.total, dot.block), (512.0, 3.0));
	for taken in 0..1_024 {
		sum.add(taken, 1.0);
	}
	assert_eq!((sum.lanes[0], sum.lanes[1][0]), ([0.0; 16], 1_024.0));
}

#[test]
fn chains_refuse_what_is_not_theirs() {
	let case = cases::all().into_iter().find(|case| matches!(case.kind, OpKind::MatMul { .. }));
	let case = case.unwrap();
	for_each_part(&case, |part, _, inputs| {
		let mut other = Accumulator::Add(0.0);
		let found = advance(part, 0, &mut other, 0..1, inputs);
		assert_eq!(found, Err(ExecError::Part(PartError::WrongAccumulator)));
		let moment = Moment::from(case.moment);
		let found = finish(part, 0, &other, &moment, inputs);
		assert_eq!(found, Err(ExecError::Part(PartError::WrongAccumulator)));
	});
	let norm = cases::all().into_iter().find(|case| matches!(case.kind, OpKind::LayerNorm { .. }));
	let norm = norm.unwrap();
	for_each_part(&norm, |_, _, inputs| {
		let whole = Part::Whole(norm.kind.clone());
		let found = element(&whole, 0, &Moment::from(norm.moment), inputs);
		assert_eq!(found, Err(ExecError::Part(PartError::NotAPart)));
	});
}

/// Of every job: each tensor is written once and before it is read, with as many elements as it has.
#[test]
fn lists_are_in_order() {
	let (mut parts, mut between) = (0, 0);
	for spec in lower::tests::lists::specs() {
		for program in [lower::training_step(&spec), lower::evaluation(&spec)] {
			let list = PartList::of(&program).unwrap();
			let given = |id: &TensorId| program.ops.iter().all(|op| op.out != *id);
			let mut known: BTreeSet<TensorId> =
				(0..program.tensors.len() as TensorId).filter(given).collect();
			for PartOp { out, len, op, part } in &list.parts {
				assert!(part.inputs().iter().all(|id| known.contains(id)), "{part:?}");
				assert!(known.insert(*out), "{part:?} writes again");
				match program.tensor(*out) {
					Some(tensor) => {
						assert_eq!(tensor.len(), u128::from(*len), "{part:?}");
						assert_eq!(program.ops[*op as usize].out, *out);
					}
					None => between += 1,
				}
				parts += 1;
			}
			let written = program.ops.iter().all(|op| known.contains(&op.out));
			assert!(written);
		}
	}
	assert!(parts > 1_000 && between > 50, "{parts} {between}");
}

#[test]
fn numbers_of_tensors_run_out_without_a_panic() {
	for case in cases::all() {
		let whole = matches!(expand(&case.kind, 0).unwrap().last, Part::Whole(_));
		for first in [TensorId::MAX, TensorId::MAX - 1] {
			match expand(&case.kind, first) {
				Ok(_) => {}
				Err(error) => assert!(!whole && error == PartError::TooManyTensors),
			}
		}
	}
}
