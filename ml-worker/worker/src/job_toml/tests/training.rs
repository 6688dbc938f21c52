//! The section `[training]`, and how numbers are spelled.

use super::*;
use trainyard_program::spec::{EarlyStop, Loss, Optimizer, Schedule, MAX_NANO};

#[test]
fn options_of_the_training() {
	let options = "learning_rate = 0.002\nloss = \"mean_squared_error\"\nschedule = \"cosine\"\n\
		final_learning_rate = 0.0001\nwarmup_steps = 10\nclip_norm = 1.5\ninput_noise = 0.01\n\
		[training.early_stop]\npatience = 3\nmin_delta = 0.001\n";
	let text = whole()
		.replace("learning_rate = 0.002\n", options)
		.replace(ADAMW, "[training.optimizer.sgd]\nmomentum = 0.9\nnesterov = true\n");
	let job = read(&text).unwrap();
	let t = &job.spec.training;
	assert_eq!(t.loss, Loss::MeanSquaredError);
	assert_eq!(t.schedule, Schedule::Cosine { final_rate_nano: 100_000 });
	assert_eq!((t.warmup_steps, t.clip_norm_nano), (10, 1_500_000_000));
	assert_eq!(t.input_noise_nano, 10_000_000);
	assert_eq!(t.early_stop, Some(EarlyStop { patience: 3, min_delta_nano: 1_000_000 }));
	assert_eq!(t.optimizer, Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: true });
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
	let adam = read(&whole().replace("adamw", "adam")).unwrap();
	assert!(matches!(adam.spec.training.optimizer, Optimizer::Adam { .. }));
	assert_eq!(read(&to_toml(&adam)).unwrap(), adam);
}

#[test]
fn numbers_are_exact_in_every_spelling() {
	for (text, nano) in [
		("learning_rate = 2e-3", 2_000_000),
		("learning_rate = \"0.002\"", 2_000_000),
		("learning_rate_nano = 2_000_000", 2_000_000),
		("learning_rate = 0.000000001", 1),
		("learning_rate = 1000", MAX_NANO),
		("learning_rate = 0.123456789", 123_456_789),
	] {
		let job = read(&whole().replace("learning_rate = 0.002", text)).unwrap();
		assert_eq!(job.spec.training.learning_rate_nano, nano, "{text}");
	}
}
