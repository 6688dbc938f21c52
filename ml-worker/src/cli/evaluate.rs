//! `trainyard evaluate MODEL.safetensors JOB.toml`.

use crate::{
	bundle::{self, files, tensors, Tensors},
	data,
	engine::{Engine, State},
	hash, job_toml,
};
use anyhow::{bail, Context};
use primitive_types::H256;
use std::{path::PathBuf, process::ExitCode, sync::Arc};
use trainyard_primitives::{lower, spec::JobSpec};

#[derive(Debug, clap::Args)]
pub(super) struct Evaluate {
	/// The model.
	#[arg(value_name = "MODEL.safetensors")]
	model: PathBuf,
	/// The job that it was trained for; its validation rows are used.
	#[arg(value_name = "JOB.toml")]
	job: PathBuf,
	/// The data, where the job names no local file.
	#[arg(long, value_name = "FILE")]
	data: Option<PathBuf>,
	/// Print JSON.
	#[arg(long)]
	json: bool,
}

impl Evaluate {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let job = job_toml::load(&self.job)?;
		let path = self.data.or(job.dataset_path).with_context(|| {
			format!(
				"{}: dataset.path: the job names no local file; add one, or give --data FILE",
				self.job.display()
			)
		})?;
		let data = data::load(&path, &job.spec.dataset)?;
		let bytes = files::read(&self.model, bundle::max_checkpoint_bytes(&job.spec))?;
		let model = tensors::decode(&bytes)
			.with_context(|| format!("{} is not a model", self.model.display()))?;
		if let Some(what) = wrong_model(&job.spec, &model) {
			bail!("{} is not a model of {}: {what}", self.model.display(), self.job.display());
		}
		let root = hash::blob_root(&self.model)
			.map_err(|e| anyhow::anyhow!("cannot read {}: {e}", self.model.display()))?;
		let engine = Engine::new(&job.spec, H256::zero(), Arc::new(data))?;
		// An evaluation reads parameters only; the optimizer's part may be any.
		let State { tensors: mut state, .. } = Engine::initial_state(&job.spec, &H256::zero())?;
		state.extend(tensors::to_candle(&model)?);
		let evaluation = engine.evaluate(&State::new(state))?;
		let validation = crate::train::validation(&evaluation);
		if self.json {
			let found = serde_json::json!({
				"accuracy": validation.accuracy(),
				"loss": validation.loss,
				"correct": validation.correct,
				"rows": validation.rows,
				"model_root": root,
			});
			println!("{}", serde_json::to_string_pretty(&found)?);
		} else {
			println!("model root   {root:?}");
			println!(
				"validation   {:.2} % ({} of {} rows), loss {}",
				100.0 * validation.accuracy(),
				validation.correct,
				validation.rows,
				validation.loss
			);
		}
		Ok(ExitCode::SUCCESS)
	}
}

/// What keeps `model` from being a model of this job, if anything.
fn wrong_model(spec: &JobSpec, model: &Tensors) -> Option<String> {
	let expected: Vec<_> = lower::state(spec)
		.into_iter()
		.filter(|t| !t.name.starts_with(lower::OPTIMIZER_PREFIX))
		.collect();
	for tensor in &expected {
		match model.get(&tensor.name) {
			None => return Some(format!("it has no tensor {}", tensor.name)),
			Some(found) if found.shape != tensor.shape => {
				return Some(format!(
					"{} has shape {:?}, the job's has {:?}",
					tensor.name, found.shape, tensor.shape
				))
			}
			Some(_) => {}
		}
	}
	let other = model.keys().find(|name| expected.iter().all(|t| t.name != **name));
	other
		.map(|name| format!("it has a tensor {name:?}, which the job's model has not"))
		.or_else(|| tensors::first_nan(model).map(|name| format!("{name} holds a NaN")))
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::bundle::Tensor32;

	#[test]
	fn models_of_other_jobs_are_named() {
		let spec = JobSpec::example();
		let mut model: Tensors = lower::state(&spec)
			.into_iter()
			.filter(|t| !t.name.starts_with(lower::OPTIMIZER_PREFIX))
			.map(|t| {
				let n = t.shape.iter().product::<u32>() as usize;
				(t.name, Tensor32 { shape: t.shape, data: vec![0.0; n] })
			})
			.collect();
		assert_eq!(wrong_model(&spec, &model), None);
		let extra = Tensor32 { shape: vec![1], data: vec![0.0] };
		model.insert("extra".into(), extra.clone());
		assert!(wrong_model(&spec, &model).unwrap().contains("\"extra\""));
		model.remove("extra");
		model.insert("layers.0.bias".into(), extra);
		assert!(wrong_model(&spec, &model).unwrap().contains("shape [1]"));
		model.remove("layers.0.bias");
		assert!(wrong_model(&spec, &model).unwrap().contains("no tensor layers.0.bias"));
	}
}
