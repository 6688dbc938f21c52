//! The openings of pieces.

use super::{at, first, mean_of, Player, Record, Slices, StateAt};
use crate::{
	game::types::{Level, Moment, Piece, Stage},
	referee::{
		model_chunks, proving, stored_chunks, CheckpointOpening, Chunks, MeanOpening, MeanStretch,
		MeanTo, Openings, SliceOpening, Source, StateTensors, StopOpening, TensorOpening, Tensors,
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
				proving::open_stretch(&lowered, &holder, &stretch).ok().map(Openings::Stretch)
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
				let opened = |slices: &Slices| open_mean(&stretch, slices);
				self.record.slices(checkpoint, opened)?.map(Openings::Mean)
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
				let opened = proving::open_result(&lowered, &holder, result, element);
				opened.ok().map(Openings::Tensors)
			}
			Piece::NotFiniteState { tensor, element, .. } => {
				let chunk = (tensor, element / CHUNK_ELEMENTS);
				self.open_state(self.state_of_end(stage)?, &[chunk]).map(Openings::Tensors)
			}
			Piece::Model { chunk, .. } => {
				let last = self.record.checkpoints().len().checked_sub(1)?;
				let last = StateAt::Checkpoint(u32::try_from(last).ok()?);
				self.open_state(last, &model_chunks(self.case, chunk)).map(Openings::Tensors)
			}
			Piece::StoredHeader { chunk, .. } => self.open_blob(&[chunk]),
			Piece::Stored { tensor, chunk, .. } => {
				self.open_blob(&stored_chunks(self.case, tensor, chunk))
			}
		}
	}

	/// Opens an element of the model with which a fine-tuning begins; nothing where it is drawn.
	fn open_initial(&self, tensor: u32, element: u64) -> Option<Tensors> {
		let name = &StateTensors::of(&self.case.spec).get(tensor)?.name.clone();
		if self.case.spec.initial_model.is_none() || name.starts_with(OPTIMIZER_PREFIX) {
			return Some(Tensors::default());
		}
		let all = self.record.parameters()?;
		let path = StateTensors::parameters(&self.case.spec).path(&all, tensor)?;
		let source = Source::Initial { tensor, content: *at(&all, tensor.into())?, path };
		let open = |bytes: &[u8]| Chunks::open(bytes, [element / CHUNK_ELEMENTS]).ok();
		let chunks = self.record.parameter(tensor, open)??;
		Some(Tensors { rows: None, tensors: vec![TensorOpening { source, chunks }] })
	}

	/// Opens chunks of a state, by tensor and chunk.
	fn open_state(&self, state: StateAt, chunks: &[(u32, u64)]) -> Option<Tensors> {
		let (all, named) = (self.record.contents(state)?, StateTensors::of(&self.case.spec));
		let mut numbers = BTreeMap::<u32, Vec<u64>>::new();
		for (tensor, chunk) in chunks {
			numbers.entry(*tensor).or_default().push(*chunk);
		}
		let open = |(tensor, numbers): (u32, Vec<u64>)| {
			let path = named.path(&all, tensor)?;
			let source = Source::State { tensor, content: *at(&all, tensor.into())?, path };
			let open = |bytes: &[u8]| Chunks::open(bytes, numbers).ok();
			let chunks = self.record.tensor(state, tensor, open)??;
			Some(TensorOpening { source, chunks })
		};
		let tensors = numbers.into_iter().map(open).collect::<Option<_>>()?;
		Some(Tensors { rows: None, tensors })
	}

	/// Opens chunks of the blob that stands for a state.
	fn open_blob(&self, numbers: &[u64]) -> Option<Openings> {
		let open = |blob: &[u8]| {
			let chunks = Chunks::open(blob, numbers.iter().copied()).ok()?;
			Some(Openings::Blob(content::hash(blob), chunks))
		};
		self.record.blob(open)?
	}
}

/// Opens what a stretch of a mean reads.
fn open_mean(stretch: &MeanStretch, slices: &Slices) -> Option<MeanOpening> {
	let from = stretch.from.map_or(0, |(taken, _)| taken);
	let to = match (stretch.to, stretch.from) {
		(MeanTo::Slices { taken, .. }, _) => taken,
		(MeanTo::Evaluation(_), None) => u32::try_from(slices.bytes().len()).ok()?,
		(MeanTo::Evaluation(_), Some(_)) => from,
	};
	let before = match stretch.from {
		Some((taken, _)) => {
			let (_, sum, correct) = mean_of(first(slices.bytes(), taken)?);
			Some((Accumulator::Sum(sum), correct))
		}
		None => None,
	};
	let opened = (from..to).map(|slice| {
		let (losses, correct) = at(slices.bytes(), slice.into())?.clone();
		let path = merkle::proof(slices.leaves(), usize::try_from(slice).ok()?)?;
		Some(SliceOpening { losses, correct, path })
	});
	Some(MeanOpening { before, slices: opened.collect::<Option<_>>()? })
}
