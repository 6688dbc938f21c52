use super::*;
use crate::{referee::Lowered, testing};
use std::collections::BTreeSet;
use trainyard_program::{
	ops::OpKind,
	spec::{JobSpec, Layer, Model},
};

/// Numbers the operators: whoever adds one comes here, and sees to a dispute about it.
fn number(kind: &OpKind) -> usize {
	match kind {
		OpKind::MatMul { .. } => 0,
		OpKind::AddRow { .. } => 1,
		OpKind::Relu { .. } => 2,
		OpKind::ReluGrad { .. } => 3,
		OpKind::LogSoftmax { .. } => 4,
		OpKind::RowLoss { .. } => 5,
		OpKind::RowLossGrad { .. } => 6,
		OpKind::Correct { .. } => 7,
		OpKind::Mean { .. } => 8,
		OpKind::SumRows { .. } => 9,
		OpKind::Scale { .. } => 10,
		OpKind::Decay { .. } => 11,
		OpKind::MulAdd { .. } => 12,
		OpKind::Ema { .. } => 13,
		OpKind::EmaSquare { .. } => 14,
		OpKind::AdamStep { .. } => 15,
		OpKind::Add { .. } => 16,
		OpKind::Activation { .. } => 17,
		OpKind::ActivationGrad { .. } => 18,
		OpKind::BatchMatMul { .. } => 19,
		OpKind::SwapAxes { .. } => 20,
		OpKind::Conv2d { .. } => 21,
		OpKind::Conv2dWeightGrad { .. } => 22,
		OpKind::Conv2dInputGrad { .. } => 23,
		OpKind::AddChannel { .. } => 24,
		OpKind::SumChannels { .. } => 25,
		OpKind::MaxPool2d { .. } => 26,
		OpKind::MaxPool2dGrad { .. } => 27,
		OpKind::AvgPool2d { .. } => 28,
		OpKind::AvgPool2dGrad { .. } => 29,
		OpKind::LayerNorm { .. } => 30,
		OpKind::LayerNormGrad { .. } => 31,
		OpKind::LayerNormWeightGrad { .. } => 32,
		OpKind::RmsNorm { .. } => 33,
		OpKind::RmsNormGrad { .. } => 34,
		OpKind::RmsNormWeightGrad { .. } => 35,
		OpKind::Embedding { .. } => 36,
		OpKind::EmbeddingGrad { .. } => 37,
		OpKind::CausalSoftmax { .. } => 38,
		OpKind::CausalSoftmaxGrad { .. } => 39,
		OpKind::Dropout { .. } => 40,
		OpKind::Noise { .. } => 41,
		OpKind::SquaredLoss { .. } => 42,
		OpKind::SquaredLossGrad { .. } => 43,
		OpKind::SumSquares { .. } => 44,
		OpKind::ClipFactor { .. } => 45,
		OpKind::LearningRate { .. } => 46,
		// Work units of drilling have it, and no job.
		OpKind::Whetstone { .. } => 47,
	}
}

/// Operators of jobs: all but the last.
const OPERATORS: usize = 47;

/// A part by its name and its operator's.
fn name(lowered: &Lowered<'_>, result: u32) -> (usize, String) {
	let part = lowered.part(result).unwrap();
	let kind = &lowered.program().ops[part.op as usize].kind;
	let text = format!("{:?}", part.part);
	let name: String = text.chars().take_while(|c| !"{ ".contains(*c)).collect();
	(number(kind), name)
}

/// A mapping: a false number in any of its results, in a step or in an evaluation, convicts, and so does
/// another vector at the beginning, or one that a step changed.
#[test]
fn a_mapping_is_decided_for_who_is_right() {
	let mapped = |spec: &JobSpec| match &spec.model {
		Model::Layers { layers, .. } => matches!(layers[0], Layer::Mapping { .. }),
		_ => false,
	};
	let mut spec = testing::specs().into_iter().find(mapped).unwrap();
	(spec.training.steps, spec.training.checkpoint_interval) = (3, 3);
	let job = Job::new(spec);
	let honest = Run::new(&job, Change::Nothing);
	let mut changes = vec![Change::Initial { tensor: 0, element: 1 }, Change::Bent { step: 1 }];
	for at in [Moment::Step { segment: 0, step: 1 }, Moment::Slice { checkpoint: 1, slice: 0 }] {
		let computation = at.computation().unwrap();
		let lowered = Lowered::new(&job.world.case, computation).unwrap();
		let results = (0..lowered.results()).filter(|result| {
			let op = &lowered.program().ops[lowered.part(*result).unwrap().op as usize];
			let name = &lowered.program().tensors[op.out as usize].name;
			let of = ["bands", "patches", "along.", "part.", "reflected.", "mapped", "mapping."];
			of.iter().any(|prefix| name.starts_with(prefix))
		});
		let results: Vec<u32> = results.collect();
		assert_eq!(results.len(), if matches!(at, Moment::Step { .. }) { 11 } else { 9 });
		for result in results {
			let element = lowered.part(result).unwrap().len / 2;
			let bits = run::other(honest.computed_at(&at).bits(result, element));
			changes.push(Change::Element { at, result, element, bits });
		}
	}
	for change in changes {
		let changed = Run::new(&job, change);
		let (_, played) = decide(&format!("{change:?}"), &job, &honest, &changed);
		assert_eq!(played.judged(), Outcome::Convicted, "{change:?}");
		if let (Change::Element { at, result, element, .. }, Some(piece)) = (change, played.piece) {
			let Piece::Stretch { at: found, stretch, .. } = piece else { panic!("{piece:?}") };
			assert_eq!((found, stretch.result, stretch.element), (at, result, element));
		}
	}
}

#[test]
fn every_operator_is_decided_for_who_is_right() {
	let (mut decided, mut met) = (BTreeSet::new(), BTreeSet::new());
	let mut most = (0, 0);
	for mut spec in testing::specs() {
		(spec.training.steps, spec.training.checkpoint_interval) = (3, 3);
		let job = Job::new(spec);
		let honest = Run::new(&job, Change::Nothing);
		let moments =
			[Moment::Step { segment: 0, step: 1 }, Moment::Slice { checkpoint: 1, slice: 0 }];
		for at in moments {
			let computation = at.computation().unwrap();
			let lowered = Lowered::new(&job.world.case, computation).unwrap();
			for result in 0..lowered.results() {
				let name = name(&lowered, result);
				met.insert(name.clone());
				if decided.contains(&name) {
					continue;
				}
				let len = lowered.part(result).unwrap().len;
				for element in BTreeSet::from([len / 2, 0, len - 1]) {
					let bits = run::other(honest.computed_at(&at).bits(result, element));
					let change = Change::Element { at, result, element, bits };
					let changed = Run::new(&job, change);
					// Nothing is false where nothing comes of it.
					if Table::new(&job, &changed, &honest).accusation().is_none() {
						continue;
					}
					let (_, played) = decide(&format!("{name:?}"), &job, &honest, &changed);
					assert_eq!(played.judged(), Outcome::Convicted);
					let Some(Piece::Stretch { at: found, stretch, .. }) = played.piece else {
						panic!("{played:?}");
					};
					assert_eq!((found, stretch.result, stretch.element), (at, result, element));
					most = (most.0.max(played.transactions), most.1.max(played.largest));
					decided.insert(name);
					break;
				}
			}
		}
	}
	let operators: BTreeSet<usize> = decided.iter().map(|(number, _)| *number).collect();
	println!("{} parts of {} operators; at most {most:?}", decided.len(), operators.len());
	assert_eq!(operators, (0..OPERATORS).collect());
	assert_eq!(decided, met, "some parts were not disputed");
}
