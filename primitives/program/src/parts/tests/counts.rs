//! How many results a step has, one for each part: what a dispute over a step narrows down to one.

use crate::{
	lower,
	parts::PartList,
	spec::{
		DataFormat, Input, JobSpec, Layer, Model, Optimizer, Schedule, MAX_BLOCKS, MAX_LAYERS,
		ONE_NANO,
	},
};

fn results(spec: JobSpec) -> usize {
	PartList::of(&lower::training_step(&spec.check().unwrap())).unwrap().parts.len()
}

/// A transformer with all that makes a step longer: dropout, clipping, decay, a schedule.
fn transformer(layers: u32) -> JobSpec {
	let mut spec = JobSpec::example();
	spec.dataset.format = DataFormat::Text;
	spec.dataset.feature_divisor = 1;
	(spec.dataset.features, spec.dataset.classes) = (8, 7);
	spec.training.batch_size = 2;
	spec.training.clip_norm_nano = ONE_NANO;
	spec.training.weight_decay_nano = 50_000_000;
	spec.training.schedule = Schedule::Cosine { final_rate_nano: 0 };
	let (beta1_nano, beta2_nano, epsilon_nano) = (900_000_000, 990_000_000, 10);
	spec.training.optimizer = Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano };
	let dropout_nano = 100_000_000;
	spec.model = Model::Transformer { layers, heads: 2, width: 8, mlp_factor: 2, dropout_nano };
	spec
}

/// The numbers of docs/decisions/0029-a-court-decides-by-recomputing.md.
#[test]
fn steps_have_as_many_results_as_the_record_says() {
	let of = |layers| results(transformer(layers));
	assert_eq!([results(JobSpec::example()), of(4), of(8)], [44, 862, 1_650]);
	assert_eq!((of(5) - of(4), of(MAX_BLOCKS)), (197, 4_802));
	// The longest step that we know: as many attentions as there may be layers.
	let mut longest = transformer(1);
	let attention = Layer::Attention { heads: 2 };
	let mut layers = vec![attention; MAX_LAYERS as usize];
	layers[0] = Layer::Embedding { width: 8 };
	layers[MAX_LAYERS as usize - 1] = Layer::Linear { outputs: 7 };
	let input = Input::Tokens;
	longest.model = Model::Layers { input, layers: layers.try_into().unwrap() };
	assert_eq!(results(longest), 6_060);
}
