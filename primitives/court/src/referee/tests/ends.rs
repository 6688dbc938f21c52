//! What stands above results: joins, means, stops, begins, and numbers that are not finite.

use super::*;
use trainyard_program::{
	init,
	ops::Role,
	spec::{EarlyStop, InitialModel, StopRule},
};
use trainyard_protocol::{
	bundle::{bundle_leaves, bundle_root, Checkpoint, Diverged, Evaluation},
	content, merkle, trace,
};

#[test]
fn the_end_of_a_step_follows_from_its_results() {
	let mut decided = 0;
	for_each_computation(|_, lowered, made| {
		let Computation::Step { .. } = lowered.computation() else { return };
		let contents = made.results();
		let root = results_root(contents);
		let content = |role| contents[lowered.find(role).unwrap() as usize];
		let loss = f32::from_bits(made.bits(lowered.find(Role::Loss).unwrap(), 0));
		// By the names of the tensors, as the program has them.
		let next = lowered.state().tensors().iter().map(|tensor| {
			let old = lowered.program().state().find(|(_, t)| t.name == tensor.name).unwrap().0;
			content(Role::Next(old))
		});
		let state = lowered.state().hash(&next.collect::<Vec<_>>()).unwrap();
		assert_eq!(state_after(lowered, contents), Ok(state));
		let end = StepEnd { state, loss, logits: content(Role::Logits) };
		assert_eq!(step_join(lowered, &root, &end, contents), Ok(Verdict::Same));
		let size = Openings::Contents(contents.to_vec()).encode().len() as u64;
		assert!(size <= Cost::of_join(lowered).bytes);
		let before = lowered.state().hash(made.state()).unwrap();
		let lies = [
			StepEnd { state: before, ..end },
			StepEnd { loss: f32::from_bits(loss.to_bits() ^ 1), ..end },
			StepEnd { loss: f32::NAN, ..end },
			StepEnd { logits: state, ..end },
		];
		for lie in lies {
			let verdict = step_join(lowered, &root, &lie, contents).unwrap();
			assert!(!verdict.is_same(), "{lie:?}");
			decided += 1;
		}
		let found = step_join(lowered, &root, &lies[0], contents);
		let (found_state, claimed) = (Value::Digest(state), Value::Digest(before));
		assert_eq!(found, Ok(Verdict::Other { found: found_state, claimed }));
		// Not all contents, or others.
		let mut other = contents.to_vec();
		other[0].0[0] ^= 1;
		for wrong in [&contents[1..], &[contents, &[root]].concat(), &other, &[]] {
			let found = step_join(lowered, &root, &end, wrong);
			assert_eq!(found, Err(Refused::WrongOpening));
		}
		let slice = SliceEnd { losses: root, correct: root };
		let found = slice_join(lowered, &root, &slice, contents);
		assert_eq!(found, Err(Refused::NoSuchPiece));
	});
	assert_eq!(decided, 20);
}

#[test]
fn the_end_of_a_slice_follows_from_its_results() {
	let mut decided = 0;
	for_each_computation(|_, lowered, made| {
		let Computation::Slice { .. } = lowered.computation() else { return };
		let contents = made.results();
		let root = results_root(contents);
		let content = |role| contents[lowered.find(role).unwrap() as usize];
		let end = SliceEnd { losses: content(Role::RowLosses), correct: content(Role::Correct) };
		assert_eq!(slice_join(lowered, &root, &end, contents), Ok(Verdict::Same));
		for lie in [SliceEnd { losses: root, ..end }, SliceEnd { correct: end.losses, ..end }] {
			assert!(!slice_join(lowered, &root, &lie, contents).unwrap().is_same());
			decided += 1;
		}
		let found = slice_join(lowered, &root, &end, &contents[1..]);
		assert_eq!(found, Err(Refused::WrongOpening));
		let step = StepEnd { state: root, loss: 0.0, logits: root };
		assert_eq!(step_join(lowered, &root, &step, contents), Err(Refused::NoSuchPiece));
	});
	assert_eq!(decided, 10);
}

/// Every tensor of every state has a next value, so a join needs no state before.
#[test]
fn every_tensor_of_a_state_is_written() {
	for spec in testing::specs() {
		let world = World::new(spec);
		let lowered = Lowered::new(&world.case, Computation::Step { step: 0 }).unwrap();
		let next = lowered.next();
		assert_eq!(next.len(), lowered.state().tensors().len());
		let mut results: Vec<u32> = next.into_iter().map(|result| result.unwrap()).collect();
		results.sort();
		results.dedup();
		assert_eq!(results.len(), lowered.state().tensors().len());
	}
}

/// An evaluation of so many slices: losses and correct labels of each.
fn evaluation(world: &World) -> Vec<(Vec<f32>, Vec<f32>)> {
	let spec = &world.case.spec;
	let labels = |slice: u32| spec.slice(slice).unwrap().len() as u32 * spec.labels_per_row();
	let loss = |slice: u32, at: u32| ((slice * 977 + at * 31) % 1_009) as f32 / 256.0 + 1e-3;
	let hit = |slice: u32, at: u32| u32::from((slice + at).is_multiple_of(3)) as f32;
	(0..spec.slices())
		.map(|slice| {
			let losses = (0..labels(slice)).map(|at| loss(slice, at)).collect();
			(losses, (0..labels(slice)).map(|at| hit(slice, at)).collect())
		})
		.collect()
}

/// The mean of slices: each piece as it is, and as it is not.
#[test]
fn means_are_decided_for_who_is_right() {
	for (rows, pieces_of) in [(100u32, 1), (20_000, 1), (70_000, 4)] {
		let mut spec = testing::specs().remove(0);
		spec.dataset.features = 1;
		(spec.dataset.train_rows, spec.dataset.validation_rows) = (rows * 4, rows);
		let world = World::new(spec);
		let case = &world.case;
		let all = evaluation(&world);
		let bytes: Vec<(Vec<u8>, Vec<u8>)> = all
			.iter()
			.map(|(losses, correct)| (content::le_bytes(losses), content::le_bytes(correct)))
			.collect();
		let leaves: Vec<H256> = (0..)
			.zip(&bytes)
			.map(|(at, (losses, correct))| {
				trace::slice_leaf(at, &content::hash(losses), &content::hash(correct))
			})
			.collect();
		let root = merkle::root(&leaves);
		let (length, count) = (mean_slices(case), case.spec.slices());
		let mut cuts: Vec<Option<u32>> =
			(length..count).step_by(length as usize).map(Some).collect();
		if !cuts.is_empty() {
			cuts.push(Some(count));
		}
		cuts.push(None);
		assert_eq!(cuts.len(), pieces_of, "{length} of {count}");
		let losses: Vec<f32> = all.iter().flat_map(|(losses, _)| losses.clone()).collect();
		let correct: Vec<f32> = all.iter().flat_map(|(_, correct)| correct.clone()).collect();
		let loss = trainyard_strict::sum(losses.iter().copied()) / losses.len() as f32;
		let hits = correct.iter().filter(|hit| **hit == 1.0).count() as u32;
		let found = Evaluation::new(loss, hits, losses.len() as u32);
		assert_eq!(found.labels, rows);
		let (mut from, mut before) = (None, None);
		let (mut sum, mut taken, mut good) = (trainyard_strict::SumChain::default(), 0u64, 0u64);
		for cut in cuts {
			let begin = from.map_or(0, |(taken, _)| taken);
			let end = cut.unwrap_or(count);
			let slices: Vec<SliceOpening> = (begin..end)
				.map(|slice| {
					let (losses, correct) = bytes[slice as usize].clone();
					let path = merkle::proof(&leaves, slice as usize).unwrap();
					SliceOpening { losses, correct, path }
				})
				.collect();
			let before_taken = taken;
			for slice in begin..end {
				for loss in &all[slice as usize].0 {
					sum.add(taken, *loss);
					taken += 1;
				}
				good += all[slice as usize].1.iter().filter(|hit| **hit == 1.0).count() as u64;
			}
			let opening = MeanOpening { before, slices };
			let size = Openings::Mean(opening.clone()).encode().len();
			let digest = court::mean(end, taken, &sum, good);
			let to = match cut {
				Some(taken) => MeanTo::Slices { taken, digest },
				None => MeanTo::Evaluation(found),
			};
			let piece = MeanStretch { from, to };
			assert_eq!(mean(case, &root, &piece, &opening), Ok(Verdict::Same));
			let cost = Cost::of_mean(case, &piece).unwrap();
			assert!(
				size as u64 <= cost.bytes && cost.bytes <= MAX_OPENINGS as u64,
				"{size} {cost:?}"
			);
			assert_eq!(cost.terms, if begin == end { 0 } else { taken - before_taken });
			let lies = match cut {
				Some(taken) => vec![MeanTo::Slices { taken, digest: root }],
				None => vec![
					MeanTo::Evaluation(Evaluation::new(loss + 1.0, hits, rows)),
					MeanTo::Evaluation(Evaluation::new(loss, hits + 1, rows)),
					MeanTo::Evaluation(Evaluation::new(loss, hits, rows + 1)),
					MeanTo::Evaluation(Evaluation::NONE),
				],
			};
			for to in lies {
				let verdict = mean(case, &root, &MeanStretch { from, to }, &opening).unwrap();
				assert!(!verdict.is_same());
			}
			bend_mean(case, &root, &piece, &opening);
			from = Some((end, digest));
			before = Some((trainyard_program::parts::Accumulator::Sum(sum), good));
		}
		// Bounds that are no piece.
		let to = |taken| MeanTo::Slices { taken, digest: root };
		let from = |taken| Some((taken, root));
		let mut others = vec![
			(None, to(count + 1)),
			(None, to(0)),
			(from(0), to(length)),
			(from(count + 1), MeanTo::Evaluation(found)),
			(from(1), MeanTo::Evaluation(found)),
			(from(u32::MAX), to(u32::MAX)),
		];
		if pieces_of > 1 {
			others.extend([(None, MeanTo::Evaluation(found)), (None, to(length + 1))]);
		} else {
			others.extend([(None, to(count)), (from(count), MeanTo::Evaluation(found))]);
		}
		for (from, to) in others {
			let piece = MeanStretch { from, to };
			let found = mean(case, &root, &piece, &MeanOpening::default());
			assert_eq!(found, Err(Refused::NoSuchPiece), "{piece:?}");
		}
	}
}

fn bend_mean(case: &crate::Case, root: &H256, piece: &MeanStretch, good: &MeanOpening) {
	type Bend = fn(&mut MeanOpening);
	let of_slices: [Bend; 7] = [
		|o| o.slices[0].losses[0] ^= 1,
		|o| o.slices[0].correct.truncate(0),
		|o| o.slices[0].losses.extend([0; 4]),
		|o| o.slices[0].path.push(H256::zero()),
		|o| o.slices.truncate(0),
		|o| {
			let again = o.slices[0].clone();
			o.slices.push(again)
		},
		|o| {
			let SliceOpening { losses, correct, .. } = &mut o.slices[0];
			core::mem::swap(losses, correct)
		},
	];
	let of_before: [Bend; 3] = [
		|o| o.before = None,
		|o| o.before.as_mut().unwrap().1 += 1,
		|o| o.before.as_mut().unwrap().0 = Default::default(),
	];
	let mut bends = Vec::new();
	if !good.slices.is_empty() {
		bends.extend(of_slices);
	}
	if good.before.is_some() {
		bends.extend(of_before);
	} else {
		let mut bent = good.clone();
		bent.before = Some((Default::default(), 0));
		assert_eq!(mean(case, root, piece, &bent), Err(Refused::LeftOver));
	}
	for (at, bend) in bends.into_iter().enumerate() {
		let mut bent = good.clone();
		bend(&mut bent);
		assert_eq!(mean(case, root, piece, &bent), Err(Refused::WrongOpening), "bend {at}");
	}
	assert_eq!(good.slices.is_empty(), mean(case, &H256::zero(), piece, good).is_ok());
}

/// A result with these validation losses.
fn result(losses: &[f32], diverged: bool) -> (Committed, Vec<CheckpointOpening>) {
	let checkpoint = |(step, loss): (u32, &f32)| {
		let (state, trace) = (H256::repeat_byte(1), H256::repeat_byte(2));
		Checkpoint { step, state, evaluation: Evaluation::new(*loss, 1, 2), trace }
	};
	let all: Vec<Checkpoint> = (0..).zip(losses).map(checkpoint).collect();
	let last = diverged.then_some(Diverged { step: 9, trace: H256::zero() });
	let leaves = bundle_leaves(all.iter().copied(), last);
	let root = bundle_root(all.iter().copied(), last);
	let open = |(at, checkpoint): (usize, Checkpoint)| CheckpointOpening {
		checkpoint,
		path: merkle::proof(&leaves, at).unwrap(),
	};
	let segments = losses.len() as u32 - 1;
	let opened = all.into_iter().enumerate().map(open).collect();
	(Committed { root, segments, diverged }, opened)
}

/// Plays all pieces of a result, honestly computed; returns the first verdict that is not the same.
fn stops(case: &crate::Case, losses: &[f32], diverged: bool) -> Verdict {
	let (committed, opened) = result(losses, diverged);
	let rule = case.spec.training.early_stop.unwrap();
	let all = losses.len() as u32;
	let mut cuts: Vec<u32> = (STOP_STRETCH..all).step_by(STOP_STRETCH as usize).collect();
	if !cuts.is_empty() {
		cuts.push(all);
	}
	let (mut held, mut from, mut before) = (StopRule::default(), None, None);
	for cut in cuts.into_iter().map(Some).chain([None]) {
		let begin = from.map_or(0, |(taken, _)| taken);
		let end = cut.unwrap_or(all);
		for at in begin..end {
			rule.take(&mut held, at, losses[at as usize]);
		}
		let digest = court::stop(end, &held);
		let checkpoints = opened[begin as usize..end as usize].to_vec();
		let opening = StopOpening { before, checkpoints };
		let piece = StopStretch { from, to: cut.map(|taken| (taken, digest)) };
		let (size, cost) =
			(Openings::Stop(opening.clone()).encode().len(), Cost::of_stop(&committed, &piece));
		let bytes = cost.unwrap().bytes;
		assert!(size as u64 <= bytes && bytes <= MAX_OPENINGS as u64, "{size} {bytes}");
		let verdict = stop(case, &committed, &piece, &opening).unwrap();
		if !verdict.is_same() {
			return verdict;
		}
		if cut.is_some() {
			let lie = StopStretch { to: Some((end, H256::zero())), ..piece };
			assert!(!stop(case, &committed, &lie, &opening).unwrap().is_same());
		}
		bend_stop(case, &committed, &piece, &opening);
		before = Some((held.least.to_bits(), held.waited));
		from = Some((end, digest));
	}
	Verdict::Same
}

fn bend_stop(case: &crate::Case, committed: &Committed, piece: &StopStretch, good: &StopOpening) {
	type Bend = fn(&mut StopOpening);
	let mut bends: Vec<Bend> = Vec::new();
	if !good.checkpoints.is_empty() {
		bends.extend([
			(|o| o.checkpoints[0].checkpoint.state.0[0] ^= 1) as Bend,
			|o| o.checkpoints[0].checkpoint.evaluation = Evaluation::NONE,
			|o| o.checkpoints[0].path.push(H256::zero()),
			|o| o.checkpoints.truncate(0),
			|o| {
				let again = o.checkpoints[0].clone();
				o.checkpoints.push(again)
			},
		]);
	}
	if good.before.is_some() {
		bends.extend([
			(|o| o.before = None) as Bend,
			|o| o.before.as_mut().unwrap().0 ^= 1,
			|o| o.before.as_mut().unwrap().1 += 1,
		]);
	} else {
		let bent = StopOpening { before: Some((0, 0)), ..good.clone() };
		assert_eq!(stop(case, committed, piece, &bent), Err(Refused::LeftOver));
	}
	for (at, bend) in bends.into_iter().enumerate() {
		let mut bent = good.clone();
		bend(&mut bent);
		assert_eq!(stop(case, committed, piece, &bent), Err(Refused::WrongOpening), "bend {at}");
	}
}

#[test]
fn stops_are_decided_for_who_is_right() {
	let mut spec = testing::specs().remove(0);
	spec.training.early_stop = Some(EarlyStop { patience: 2, min_delta_nano: 100_000_000 });
	(spec.training.steps, spec.training.checkpoint_interval) = (1_600, 4);
	let world = World::new(spec.clone());
	let case = &world.case;
	let segments = |n| Value::Segments(n);
	let found = |at: Option<u32>, claimed: u32| {
		let (found, claimed) = (segments(at), segments(Some(claimed)));
		Verdict::Other { found, claimed }
	};
	// It ends at checkpoint 4; it does not end before; it is over there.
	let losses = [2.0, 1.0, 0.5, 0.6, 0.7, 0.1];
	assert_eq!(stops(case, &losses[..5], false), Verdict::Same);
	assert_eq!(stops(case, &losses[..4], false), found(None, 3));
	assert_eq!(stops(case, &losses[..6], false), found(Some(4), 5));
	// Where training diverged, it has not ended before.
	assert_eq!(stops(case, &losses[..4], true), Verdict::Same);
	assert_eq!(stops(case, &losses[..1], true), Verdict::Same);
	assert_eq!(stops(case, &losses[..5], true), found(Some(4), 4));
	assert_eq!(stops(case, &losses[..6], true), found(Some(4), 5));
	// Of many checkpoints: to the end, and one that stops in the third stretch.
	let falling: Vec<f32> = (0..401).map(|at| 1_000.0 - at as f32).collect();
	assert_eq!(stops(case, &falling, false), Verdict::Same);
	assert_eq!(stops(case, &falling[..400], false), found(None, 399));
	let mut stands = falling.clone();
	(stands[300], stands[301]) = (stands[299], stands[299]);
	assert_eq!(stops(case, &stands[..302], false), Verdict::Same);
	assert_eq!(stops(case, &stands, false), found(Some(301), 400));
	// The rule may say so at the very end.
	let mut last = falling.clone();
	(last[399], last[400]) = (last[398], last[398]);
	assert_eq!(stops(case, &last, false), Verdict::Same);
	// Bounds that are no piece, and a job without the rule.
	let (short, _) = result(&losses, false);
	let (long, _) = result(&falling, false);
	let at = |taken| Some((taken, H256::zero()));
	for (result, from, to) in [
		(short, None, at(6)),
		(short, at(6), None),
		(short, None, at(1)),
		(long, None, None),
		(long, None, at(127)),
		(long, None, at(401)),
		(long, at(0), at(128)),
		(long, at(384), at(512)),
		(long, at(384), None),
		(long, at(400), None),
		(Committed { segments: u32::MAX, ..long }, None, None),
	] {
		let piece = StopStretch { from, to };
		let found = stop(case, &result, &piece, &StopOpening::default());
		assert_eq!(found, Err(Refused::NoSuchPiece), "{piece:?}");
	}
	spec.training.early_stop = None;
	let world = World::new(spec);
	let piece = StopStretch { from: None, to: None };
	let found = stop(&world.case, &short, &piece, &StopOpening::default());
	assert_eq!(found, Err(Refused::NoSuchPiece));
}

#[test]
fn initial_elements_are_decided_for_who_is_right() {
	let world = World::new(testing::specs().remove(0));
	let (case, none) = (&world.case, Tensors::default());
	let tensors = StateTensors::of(&case.spec);
	for (index, tensor) in (0..).zip(tensors.tensors()) {
		let drawn = init::initial(&case.seed, tensor);
		for element in [0, drawn.len() as u64 / 2, drawn.len() as u64 - 1] {
			let bits = drawn[element as usize].to_bits();
			assert_eq!(initial(case, index, element, bits, &none), Ok(Verdict::Same));
			let (found, claimed) = (Value::Bits(bits), Value::Bits(bits ^ 1));
			let verdict = Ok(Verdict::Other { found, claimed });
			assert_eq!(initial(case, index, element, bits ^ 1, &none), verdict);
		}
		let end = drawn.len() as u64;
		assert_eq!(initial(case, index, end, 0, &none), Err(Refused::NoSuchPiece));
	}
	let count = tensors.tensors().len() as u32;
	assert_eq!(initial(case, count, 0, 0, &none), Err(Refused::NoSuchPiece));
	let more = Tensors { rows: Some([H256::zero(); 4]), ..none };
	assert_eq!(initial(case, 0, 0, 0, &more), Err(Refused::LeftOver));
}

#[test]
fn a_fine_tuning_begins_with_its_model() {
	let mut spec = testing::specs().remove(0);
	let parameters = StateTensors::parameters(&spec.clone().check().unwrap());
	let model: Vec<Vec<u8>> = (0..)
		.zip(parameters.tensors())
		.map(|(at, _)| {
			let values = (0..parameters.elements(at).unwrap()).map(|i| i as f32 - at as f32);
			content::le_bytes(&values.collect::<Vec<_>>())
		})
		.collect();
	let contents: Vec<H256> = model.iter().map(|bytes| content::hash(bytes)).collect();
	let hash = parameters.hash(&contents).unwrap();
	spec.initial_model = Some(InitialModel { file: spec.dataset.file(), parameters: hash });
	let world = World::new(spec);
	let case = &world.case;
	let all = StateTensors::of(&case.spec);
	let open = |tensor: u32, chunk: u64| {
		let path = parameters.path(&contents, tensor).unwrap();
		let source = Source::Initial { tensor, content: contents[tensor as usize], path };
		let chunks = Chunks::open(&model[tensor as usize], [chunk]).unwrap();
		Tensors { rows: None, tensors: vec![TensorOpening { source, chunks }] }
	};
	for (tensor, bytes) in (0..).zip(&model) {
		let element = bytes.len() as u64 / 4 - 1;
		let bits = (element as f32 - tensor as f32).to_bits();
		let opening = open(tensor, element / 256);
		assert_eq!(initial(case, tensor, element, bits, &opening), Ok(Verdict::Same));
		assert!(!initial(case, tensor, element, bits ^ 1, &opening).unwrap().is_same());
		let missing = Err(Refused::Missing { tensor, index: element });
		assert_eq!(initial(case, tensor, element, bits, &Tensors::default()), missing);
		let rows = Tensors { rows: Some([H256::zero(); 4]), ..opening.clone() };
		assert_eq!(initial(case, tensor, element, bits, &rows), Err(Refused::LeftOver));
		let mut other = opening.clone();
		let Source::Initial { content, .. } = &mut other.tensors[0].source else { panic!() };
		content.0[0] ^= 1;
		assert_eq!(initial(case, tensor, element, bits, &other), Err(Refused::WrongOpening));
		other = opening;
		other.tensors[0].source = Source::Features;
		assert_eq!(initial(case, tensor, element, bits, &other), Err(Refused::LeftOver));
	}
	// What the optimizer keeps begins as always.
	let kept = parameters.tensors().len() as u32;
	assert!(all.tensors().len() as u32 > kept);
	assert_eq!(initial(case, kept, 0, 0, &Tensors::default()), Ok(Verdict::Same));
	assert_eq!(initial(case, kept, 0, 0, &open(0, 0)), Err(Refused::LeftOver));
}

#[test]
fn numbers_past_which_no_training_goes_on_are_found() {
	let world = World::new(testing::specs().remove(0));
	let case = &world.case;
	let lowered = Lowered::new(case, Computation::Step { step: 3 }).unwrap();
	let mut made = Computed::new(&lowered, &world, &world.initial(), None);
	let root = results_root(made.results());
	let of = |made: &Computed, root: &H256, result: u32, element: u64| {
		let opening = proving::open_result(&lowered, made, result, element).unwrap();
		let size = Openings::Tensors(opening.clone()).encode().len() as u64;
		assert!(size <= Cost::of_chunks(case, Some(&lowered), 1).bytes);
		not_finite(&lowered, root, result, element, &opening)
	};
	let loss = lowered.find(Role::Loss).unwrap();
	let next = lowered.next()[0].unwrap();
	assert_eq!(of(&made, &root, loss, 0), Ok(false));
	assert_eq!(of(&made, &root, next, 3), Ok(false));
	// Other results end nothing.
	let logits = lowered.find(Role::Logits).unwrap();
	assert_eq!(of(&made, &root, logits, 0), Err(Refused::NoSuchPiece));
	assert_eq!(of(&made, &H256::zero(), loss, 0), Err(Refused::WrongOpening));
	let len = lowered.part(next).unwrap().len;
	let opening = proving::open_result(&lowered, &made, next, 0).unwrap();
	let found = not_finite(&lowered, &root, next, len, &opening);
	assert_eq!(found, Err(Refused::NoSuchPiece));
	let found = not_finite(&lowered, &root, loss, 0, &opening);
	assert!(matches!(found, Err(Refused::Missing { index: 0, .. })), "{found:?}");
	// A loss that is infinite, a next number that is NaN; an infinite one not yet.
	let last = lowered.results() - 1;
	let of_last = lowered.part(last).unwrap().len as usize;
	assert!(matches!(lowered.role(last), Ok(Role::Next(_))));
	for (value, ends) in [(f32::NAN, true), (f32::INFINITY, false), (1.0, false)] {
		made.write(last, content::le_bytes(&vec![value; of_last]));
		let root = results_root(made.results());
		assert_eq!(of(&made, &root, last, 1), Ok(ends));
	}
	for (value, ends) in [(f32::NAN, true), (f32::NEG_INFINITY, true), (1.0, false)] {
		assert_eq!(ends_training(Role::Loss, value), ends);
		assert!(!ends_training(Role::Logits, value));
	}
	// Of the state at the end of a segment.
	let tensors = StateTensors::of(&case.spec);
	let mut state = world.initial();
	for (value, ends) in [(f32::NAN, true), (f32::INFINITY, true), (0.0, false)] {
		let (at, element) = (2, 1);
		state[at][4..8].copy_from_slice(&content::le_bytes(&[value]));
		let contents: Vec<H256> = state.iter().map(|bytes| content::hash(bytes)).collect();
		let hash = tensors.hash(&contents).unwrap();
		let path = tensors.path(&contents, at as u32).unwrap();
		let source = Source::State { tensor: at as u32, content: contents[at], path };
		let chunks = Chunks::open(&state[at], [0]).unwrap();
		let opening = Tensors { rows: None, tensors: vec![TensorOpening { source, chunks }] };
		let judge = |tensor, element, opening: &Tensors| {
			not_finite_in_state(case, &hash, tensor, element, opening)
		};
		assert_eq!(judge(2, element, &opening), Ok(ends));
		let missing = Refused::Missing { tensor: 3, index: 0 };
		assert_eq!(judge(3, 0, &opening), Err(missing));
		assert_eq!(judge(2, 1 << 40, &opening), Err(Refused::NoSuchPiece));
		assert_eq!(judge(999, 0, &opening), Err(Refused::NoSuchPiece));
		let rows = Tensors { rows: Some([hash; 4]), ..opening.clone() };
		assert_eq!(judge(2, element, &rows), Err(Refused::LeftOver));
		let mut other = opening.clone();
		other.tensors[0].source = Source::Labels;
		assert_eq!(judge(2, element, &other), Err(Refused::LeftOver));
		let found = not_finite_in_state(case, &H256::zero(), 2, element, &opening);
		assert_eq!(found, Err(Refused::WrongOpening));
	}
}
