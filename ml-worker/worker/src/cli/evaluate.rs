//! `trainyard evaluate MODEL.safetensors JOB.toml`.

use crate::args::InputArgs;
use crate::job_toml;
use anyhow::{bail, Context};
use primitive_types::H256;
use std::{path::PathBuf, process::ExitCode};
use trainyard_engine::{first_nan, Engine, State};
use trainyard_program::spec::JobSpec;
use trainyard_proof::{
	bundle::{self, files, tensors},
	hash,
	inputs::{self, Inputs},
};

#[derive(Debug, clap::Args)]
pub(super) struct Evaluate {
	/// The model.
	#[arg(value_name = "MODEL.safetensors")]
	model: PathBuf,
	/// The job that it was trained for; its validation rows are used.
	#[arg(value_name = "JOB.toml")]
	job: PathBuf,
	#[command(flatten)]
	inputs: InputArgs,
	/// Print JSON.
	#[arg(long)]
	json: bool,
}

impl Evaluate {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let mut job = job_toml::load(&self.job)?;
		// This is the model to evaluate, whatever the training began with.
		job.spec = JobSpec { initial_model: None, ..job.spec.into_spec() }.check()?;
		let Inputs { data, .. } =
			Inputs::load(&job.spec, &job.inputs(&self.inputs.given(), &self.job)?)?;
		let bytes = files::read(&self.model, bundle::max_checkpoint_bytes(&job.spec))?;
		let model = tensors::decode(&bytes)
			.with_context(|| format!("{} is not a model", self.model.display()))?;
		let nan = || Some(format!("{} holds a NaN", first_nan(&model)?));
		if let Some(what) = inputs::misfit(&job.spec, &model).or_else(nan) {
			bail!("{} is not a model of {}: {what}", self.model.display(), self.job.display());
		}
		let root = hash::blob_root(&self.model)
			.map_err(|e| anyhow::anyhow!("cannot read {}: {e}", self.model.display()))?;
		let engine = Engine::new(&job.spec, H256::zero(), data)?;
		// An evaluation reads only parameters, so the optimizer's part of the state does not
		// matter.
		let mut state = Engine::initial_state(&job.spec, &H256::zero(), None)?.to_host()?;
		state.extend(model);
		let found = engine.evaluate(&State::from_host(state)?)?;
		if self.json {
			let shown = serde_json::json!({
				"accuracy": found.accuracy(),
				"loss": f64::from(found.loss()),
				"correct": found.correct,
				"rows": found.labels,
				"model_root": root,
			});
			println!("{}", serde_json::to_string_pretty(&shown)?);
		} else {
			println!("model root   {root:?}");
			println!(
				"validation   {:.2} % ({} of {} rows), loss {}",
				100.0 * found.accuracy(),
				found.correct,
				found.labels,
				found.loss()
			);
		}
		Ok(ExitCode::SUCCESS)
	}
}
