//! The openings of pieces.

use super::{at, contents, first, mean_of, slice_leaves, Player, Record};
use crate::{
	game::types::{Level, Moment, Piece, Stage},
	referee::{
		model_chunks, proving, stored_chunks, CheckpointOpening, Chunks, MeanOpening, MeanTo,
		Openings, SliceOpening, Source, StateTensors, StopOpening, TensorOpening, Tensors,
	},
};
use alloc::{collections::BTreeMap, vec, vec::Vec};
use trainyard_program::{
	lower::OPTIMIZER_PREFIX,
	parts::{Accumulator, CHUNK_ELEMENTS},
};
use trainyard_protocol::{content, merkle};
use trainyard_strict::canonical_bits;

impl<R: Record> Player<'_, R> {
	/// Returns the openings of the piece to which a dispute has come.
	pub fn openings(&self, stage: &Stage) -> Option<Openings> {
		let Level::Judge { piece } = stage.level else { return None };
		match piece {
			Piece::Stretch { at, stretch, .. } => {
				let (lowered, holder) = (self.lowered(&at)?, self.record.computed(&at)?);
				proving::open_stretch(&lowered, holder, &stretch).ok().map(Openings::Stretch)
			}
			Piece::Initial { tensor, element, .. } => {
				self.open_initial(tensor, element).map(Openings::Tensors)
			}
			Piece::StepJoin { segment, step, .. } => {
				self.contents(&Moment::Step { segment, step }).map(Openings::Contents)
			}
			Piece::SliceJoin { checkpoint, slice, .. } => {
				self.contents(&Moment::Slice { checkpoint, slice }).map(Openings::Contents)
			}
			Piece::Mean { checkpoint, stretch, .. } => {
				let slices = self.record.slices(checkpoint)?;
				let from = stretch.from.map_or(0, |(taken, _)| taken);
				let to = match (stretch.to, stretch.from) {
					(MeanTo::Slices { taken, .. }, _) => taken,
					(MeanTo::Evaluation(_), None) => u32::try_from(slices.len()).ok()?,
					(MeanTo::Evaluation(_), Some(_)) => from,
				};
				let before = match stretch.from {
					Some((taken, _)) => {
						let (_, sum, correct) = mean_of(first(&slices, taken)?);
						Some((Accumulator::Sum(sum), correct))
					}
					None => None,
				};
				let leaves = slice_leaves(&slices);
				let opened = (from..to).map(|slice| {
					let (losses, correct) = at(&slices, slice.into())?.clone();
					let path = merkle::proof(&leaves, usize::try_from(slice).ok()?)?;
					Some(SliceOpening { losses, correct, path })
				});
				Some(Openings::Mean(MeanOpening { before, slices: opened.collect::<Option<_>>()? }))
			}
			Piece::Stop(stretch) => {
				let checkpoints = self.record.checkpoints();
				let from = stretch.from.map_or(0, |(taken, _)| taken);
				let to = match (stretch.to, stretch.from) {
					(Some((taken, _)), _) => taken,
					(None, None) => u32::try_from(checkpoints.len()).ok()?,
					(None, Some(_)) => from,
				};
				let before = match stretch.from {
					Some((taken, _)) => {
						let rule = self.rule_after(taken, None)?;
						Some((canonical_bits(rule.least), rule.waited))
					}
					None => None,
				};
				let leaves = self.record.leaves();
				let opened = (from..to).map(|index| {
					let checkpoint = *at(checkpoints, index.into())?;
					let path = merkle::proof(&leaves, usize::try_from(index).ok()?)?;
					Some(CheckpointOpening { checkpoint, path })
				});
				let checkpoints = opened.collect::<Option<_>>()?;
				Some(Openings::Stop(StopOpening { before, checkpoints }))
			}
			Piece::NotFinite { segment, step, result, element, .. } => {
				let at = Moment::Step { segment, step };
				let (lowered, holder) = (self.lowered(&at)?, self.record.computed(&at)?);
				let opened = proving::open_result(&lowered, holder, result, element);
				opened.ok().map(Openings::Tensors)
			}
			Piece::NotFiniteState { tensor, element, .. } => {
				let steps = self.steps_of_end(stage)?;
				let chunk = (tensor, element / CHUNK_ELEMENTS);
				self.open_state(steps, &[chunk]).map(Openings::Tensors)
			}
			Piece::Model { chunk, .. } => {
				let last = self.record.checkpoints().last()?;
				let chunks = model_chunks(self.case, chunk);
				self.open_state(last.step, &chunks).map(Openings::Tensors)
			}
			Piece::StoredHeader { chunk, .. } => {
				let blob = self.record.blob()?;
				let chunks = Chunks::open(&blob, [chunk]).ok()?;
				Some(Openings::Blob(content::hash(&blob), chunks))
			}
			Piece::Stored { tensor, chunk, .. } => {
				let blob = self.record.blob()?;
				let chunks = Chunks::open(&blob, stored_chunks(self.case, tensor, chunk)).ok()?;
				Some(Openings::Blob(content::hash(&blob), chunks))
			}
		}
	}

	/// Opens an element of the model with which a fine-tuning begins; nothing where it is drawn.
	fn open_initial(&self, tensor: u32, element: u64) -> Option<Tensors> {
		let name = &StateTensors::of(&self.case.spec).get(tensor)?.name.clone();
		if self.case.spec.initial_model.is_none() || name.starts_with(OPTIMIZER_PREFIX) {
			return Some(Tensors::default());
		}
		let parameters = self.record.parameters();
		let all = contents(&parameters);
		let path = StateTensors::parameters(&self.case.spec).path(&all, tensor)?;
		let source = Source::Initial { tensor, content: *at(&all, tensor.into())?, path };
		let bytes = at(&parameters, tensor.into())?;
		let chunks = Chunks::open(bytes, [element / CHUNK_ELEMENTS]).ok()?;
		Some(Tensors { rows: None, tensors: vec![TensorOpening { source, chunks }] })
	}

	/// Opens chunks of a state, by tensor and chunk.
	fn open_state(&self, steps: u32, chunks: &[(u32, u64)]) -> Option<Tensors> {
		let tensors = self.record.tensors(steps)?;
		let (all, named) = (contents(&tensors), StateTensors::of(&self.case.spec));
		let mut numbers = BTreeMap::<u32, Vec<u64>>::new();
		for (tensor, chunk) in chunks {
			numbers.entry(*tensor).or_default().push(*chunk);
		}
		let open = |(tensor, numbers): (u32, Vec<u64>)| {
			let path = named.path(&all, tensor)?;
			let source = Source::State { tensor, content: *at(&all, tensor.into())?, path };
			let chunks = Chunks::open(at(&tensors, tensor.into())?, numbers).ok()?;
			Some(TensorOpening { source, chunks })
		};
		let tensors = numbers.into_iter().map(open).collect::<Option<_>>()?;
		Some(Tensors { rows: None, tensors })
	}
}
