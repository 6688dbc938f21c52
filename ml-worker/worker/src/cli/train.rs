//! `trainyard train JOB.toml --out DIR`.

use super::progress::Display;
use crate::args::{DeviceArgs, InputArgs};
use crate::job_toml;
use crate::plot;
use anyhow::Context;
use primitive_types::H256;
use std::{
	num::NonZeroU32,
	path::PathBuf,
	process::ExitCode,
	sync::{
		atomic::{AtomicBool, Ordering},
		Arc,
	},
};
use trainyard_proof::{
	bundle::{self, thinning::Thinning, Bundle},
	train::{self, Cheat, TrainError, TrainOptions},
};

#[derive(Debug, clap::Args)]
pub(super) struct Train {
	/// The job.
	#[arg(value_name = "JOB.toml")]
	job: PathBuf,
	/// Folder for the bundle.
	#[arg(long, value_name = "DIR")]
	out: PathBuf,
	/// Go on with what DIR holds.
	#[arg(long)]
	resume: bool,
	/// Keep one state in so many on disk, with the first and the last: `trainyard restore` computes the
	/// others again when somebody wants them.
	#[arg(long, value_name = "N", default_value = "1")]
	keep_every: NonZeroU32,
	/// Seed, 64 hexadecimal digits. On chain it is drawn after the trainers are; here it is
	/// all zeros where none is given, or what DIR was begun with.
	#[arg(long, value_name = "HEX", value_parser = parse_seed)]
	seed: Option<H256>,
	#[command(flatten)]
	inputs: InputArgs,
	#[command(flatten)]
	device: DeviceArgs,
	/// For tests only: fabricate the last N segments instead of training them.
	#[arg(long, value_name = "N", hide = true)]
	test_only_cheat: Option<u32>,
}

/// Reads a seed from its hexadecimal digits.
pub(crate) fn parse_seed(text: &str) -> Result<H256, String> {
	let digits = text.trim_start_matches("0x");
	match hex::decode(digits) {
		Ok(bytes) if bytes.len() == 32 => Ok(H256::from_slice(&bytes)),
		_ => Err(format!("a seed has 64 hexadecimal digits; this has {}", digits.len())),
	}
}

impl Train {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		self.device.choose()?;
		let job = job_toml::load(&self.job)?;
		let paths = job.inputs(&self.inputs.given(), &self.job)?;
		let seed = match self.seed {
			Some(seed) => seed,
			None if self.resume => {
				Bundle::open(&self.out).map(|b| b.manifest().seed).unwrap_or_default()
			}
			None => H256::zero(),
		};
		let cheat = self.test_only_cheat.map(|segments| Cheat::Fabricate { segments });
		if cheat.is_some() {
			eprintln!("this run CHEATS (--test-only-cheat): its bundle is not the job's");
		}
		let stop = stop_on_signals()?;
		let mut display = Display::new(job.spec.training.steps);
		let result = train::run(
			&job.spec,
			seed,
			&paths,
			TrainOptions {
				out: &self.out,
				resume: self.resume,
				keep: Thinning::every(self.keep_every),
				cheat,
				progress: &mut |at| display.update(at),
				stop: &stop,
			},
		);
		display.finish();
		let bundle = match result {
			Ok(bundle) => bundle,
			Err(stopped @ TrainError::Stopped { .. }) => {
				eprintln!("{stopped}");
				// This is how the shell reports a process that a signal ended.
				return Ok(ExitCode::from(130));
			}
			Err(TrainError::Input(stopped)) if stopped.is_stopped() => {
				eprintln!("{stopped}");
				return Ok(ExitCode::from(130));
			}
			Err(error) => {
				if let TrainError::Diverged { bundle: Some(bundle), .. } = &error {
					plot::illustrate(bundle);
				}
				return Err(error.into());
			}
		};
		plot::illustrate(&bundle);
		let result = bundle.result()?;
		if bundle.manifest().stops_early() {
			println!(
				"stopped      early, after {} of {} segments: the validation loss falls no more",
				result.segments,
				job.spec.segments()
			);
		}
		println!("bundle root  {:?}", result.bundle_root);
		println!("model root   {:?}", result.model_root);
		if let Some(last) = bundle.manifest().checkpoints.last() {
			println!(
				"validation   {:.2} % ({} of {} rows), loss {}",
				100.0 * last.validation.accuracy(),
				last.validation.correct,
				last.validation.labels,
				last.validation.loss()
			);
		}
		if let Some(summary) = display.summary() {
			println!("computed     {summary}");
		}
		println!("bundle       {}", self.out.display());
		println!("picture      {}", bundle.path(bundle::CURVES_FILE).display());
		Ok(ExitCode::SUCCESS)
	}
}

/// Returns a flag that Ctrl-C or a termination signal sets. The second signal ends the process.
pub(in crate::cli) fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
	let stop = Arc::new(AtomicBool::new(false));
	let flag = stop.clone();
	let runtime = tokio::runtime::Builder::new_current_thread()
		.enable_all()
		.build()
		.context("cannot listen for signals")?;
	std::thread::spawn(move || {
		runtime.block_on(async {
			signal().await;
			flag.store(true, Ordering::Relaxed);
			eprintln!("stopping after this step; once more stops at once");
			signal().await;
			std::process::exit(130);
		})
	});
	Ok(stop)
}

/// Waits for Ctrl-C or, on Unix, SIGTERM. If it can listen to neither, it waits for ever.
async fn signal() {
	let interrupt = async {
		if tokio::signal::ctrl_c().await.is_err() {
			std::future::pending::<()>().await;
		}
	};
	#[cfg(unix)]
	let terminate = async {
		use tokio::signal::unix::{signal, SignalKind};
		match signal(SignalKind::terminate()) {
			Ok(mut terminated) => {
				terminated.recv().await;
			}
			Err(_) => std::future::pending().await,
		}
	};
	#[cfg(not(unix))]
	let terminate = std::future::pending::<()>();
	tokio::select! {
		() = interrupt => {},
		() = terminate => {},
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn seeds() {
		assert_eq!(parse_seed(&"07".repeat(32)), Ok(H256::repeat_byte(7)));
		assert_eq!(parse_seed(&format!("0x{}", "07".repeat(32))), Ok(H256::repeat_byte(7)));
		assert!(parse_seed("07").unwrap_err().contains("64"));
		assert!(parse_seed(&"0g".repeat(32)).is_err());
	}
}
