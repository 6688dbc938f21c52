//! Reads the section `[training]`.

use super::reader::{nano_range, Section};
use std::fmt::Write;
use trainyard_client::amount::format_scaled;
use trainyard_program::spec::{
	EarlyStop, Loss, Optimizer, Schedule, Training, MAX_BATCH, MAX_NANO, MAX_STEPS, ONE_NANO,
};

pub(super) fn read(section: &Section<'_, '_>) -> Option<Training> {
	let rates = 1..=MAX_NANO;
	section.require("steps", &format!("a whole number from 1 to {MAX_STEPS}"));
	section.require("batch_size", &format!("a whole number from 1 to {MAX_BATCH}"));
	section.require("checkpoint_interval", "a whole number from 1 to steps");
	let steps = section.integer("steps", 1..=u64::from(MAX_STEPS));
	let most_steps = steps.unwrap_or(u64::from(MAX_STEPS));
	let batch_size = section.integer("batch_size", 1..=u64::from(MAX_BATCH));
	let interval = section.integer("checkpoint_interval", 1..=most_steps);
	if !section.has("learning_rate_nano") {
		section.require("learning_rate", &nano_range(&rates));
	}
	let learning_rate = section.nano("learning_rate", "learning_rate_nano", rates);
	let weight_decay = section.nano("weight_decay", "weight_decay_nano", 0..=MAX_NANO).unwrap_or(0);
	let loss = section.choice(
		"loss",
		&[("cross_entropy", Loss::CrossEntropy), ("mean_squared_error", Loss::MeanSquaredError)],
	);
	let constant = section.choice("schedule", &[("constant", true), ("cosine", false)]);
	let final_rate = section.nano("final_learning_rate", "final_learning_rate_nano", 0..=MAX_NANO);
	let schedule = match (constant, final_rate) {
		(Some(false), rate) => Schedule::Cosine { final_rate_nano: rate.unwrap_or(0) },
		(_, Some(_)) => {
			let what = "it has a meaning only beside schedule = \"cosine\"";
			section.complain("final_learning_rate", what);
			return None;
		}
		_ => Schedule::Constant,
	};
	let warmup = section.integer("warmup_steps", 0..=most_steps.saturating_sub(1)).unwrap_or(0);
	let clip_norm = section.nano("clip_norm", "clip_norm_nano", 0..=MAX_NANO).unwrap_or(0);
	let input_noise = section.nano("input_noise", "input_noise_nano", 0..=MAX_NANO).unwrap_or(0);
	let early_stop = read_early_stop(&section.section("early_stop"));
	let optimizer = read_optimizer(&section.section("optimizer"), section);
	section.finish();
	Some(Training {
		steps: steps? as u32,
		batch_size: batch_size? as u32,
		checkpoint_interval: interval? as u32,
		optimizer: optimizer?,
		learning_rate_nano: learning_rate?,
		weight_decay_nano: weight_decay,
		loss: loss.unwrap_or_default(),
		schedule,
		warmup_steps: warmup as u32,
		clip_norm_nano: clip_norm,
		input_noise_nano: input_noise,
		early_stop,
	})
}

fn read_early_stop(section: &Section<'_, '_>) -> Option<EarlyStop> {
	if !section.exists() {
		return None;
	}
	section.require("patience", "checkpoints without progress, at least 1");
	let patience = section.integer("patience", 1..=u64::from(u32::MAX));
	let min_delta = section.nano("min_delta", "min_delta_nano", 0..=MAX_NANO).unwrap_or(0);
	section.finish();
	Some(EarlyStop { patience: patience? as u32, min_delta_nano: min_delta })
}

fn read_optimizer(section: &Section<'_, '_>, training: &Section<'_, '_>) -> Option<Optimizer> {
	let below_one = || 0..=ONE_NANO - 1;
	let [sgd, adamw, adam] = ["sgd", "adamw", "adam"].map(|key| section.section(key));
	section.finish();
	let given = [&sgd, &adamw, &adam].iter().filter(|s| s.exists()).count();
	if given != 1 {
		let found = if given == 0 { "no optimizer is given" } else { "two optimizers are given" };
		training.complain(
			"optimizer",
			format!(
				"{found}; allowed: one section, [training.optimizer.adamw], \
				 [training.optimizer.adam] or [training.optimizer.sgd]"
			),
		);
		return None;
	}
	if sgd.exists() {
		let momentum = sgd.nano("momentum", "momentum_nano", below_one()).unwrap_or(0);
		let nesterov = sgd.boolean("nesterov").unwrap_or(false);
		sgd.finish();
		return Some(Optimizer::Sgd { momentum_nano: momentum, nesterov });
	}
	let section = if adamw.exists() { &adamw } else { &adam };
	let beta1 = section.nano("beta1", "beta1_nano", below_one());
	let beta2 = section.nano("beta2", "beta2_nano", below_one());
	let epsilon = section.nano("epsilon", "epsilon_nano", 1..=MAX_NANO);
	section.finish();
	let (beta1_nano, beta2_nano) = (beta1.unwrap_or(900_000_000), beta2.unwrap_or(999_000_000));
	let epsilon_nano = epsilon.unwrap_or(10);
	Some(match adamw.exists() {
		true => Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano },
		false => Optimizer::Adam { beta1_nano, beta2_nano, epsilon_nano },
	})
}

/// Writes the section of a training.
pub(super) fn write(out: &mut String, t: &Training) {
	let nano = |n: u64| {
		let text = format_scaled(u128::from(n), 9);
		if text.contains('.') {
			text
		} else {
			format!("{text}.0")
		}
	};
	let loss = match t.loss {
		Loss::CrossEntropy => "cross_entropy",
		Loss::MeanSquaredError => "mean_squared_error",
	};
	let schedule = match t.schedule {
		Schedule::Constant => "schedule = \"constant\"".to_owned(),
		Schedule::Cosine { final_rate_nano } => {
			format!("schedule = \"cosine\"\nfinal_learning_rate = {}", nano(final_rate_nano))
		}
	};
	// Writing to a String cannot fail.
	let _ = writeln!(
		out,
		"\n[training]\nsteps = {}\nbatch_size = {}\ncheckpoint_interval = {}\nlearning_rate = {}\n\
		 weight_decay = {}\nloss = \"{loss}\"\n{schedule}\nwarmup_steps = {}\nclip_norm = {}\n\
		 input_noise = {}",
		t.steps,
		t.batch_size,
		t.checkpoint_interval,
		nano(t.learning_rate_nano),
		nano(t.weight_decay_nano),
		t.warmup_steps,
		nano(t.clip_norm_nano),
		nano(t.input_noise_nano)
	);
	if let Some(EarlyStop { patience, min_delta_nano }) = t.early_stop {
		let min_delta = nano(min_delta_nano);
		let _ = writeln!(
			out,
			"\n[training.early_stop]\npatience = {patience}\nmin_delta = {min_delta}"
		);
	}
	let mut adam = |name: &str, [beta1, beta2, epsilon]: [u64; 3]| {
		let (beta1, beta2, epsilon) = (nano(beta1), nano(beta2), nano(epsilon));
		writeln!(
			out,
			"\n[training.optimizer.{name}]\nbeta1 = {beta1}\nbeta2 = {beta2}\nepsilon = {epsilon}"
		)
	};
	let _ = match t.optimizer {
		Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano } => {
			adam("adamw", [beta1_nano, beta2_nano, epsilon_nano])
		}
		Optimizer::Adam { beta1_nano, beta2_nano, epsilon_nano } => {
			adam("adam", [beta1_nano, beta2_nano, epsilon_nano])
		}
		Optimizer::Sgd { momentum_nano, nesterov } => {
			let momentum = nano(momentum_nano);
			writeln!(
				out,
				"\n[training.optimizer.sgd]\nmomentum = {momentum}\nnesterov = {nesterov}"
			)
		}
	};
}
