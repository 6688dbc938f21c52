//! `trainyard thin DIR` and `trainyard restore DIR`.

use super::train::stop_on_signals;
use crate::args::{DeviceArgs, InputArgs};
use anyhow::bail;
use indicatif::{ProgressBar, ProgressStyle};
use std::{io::IsTerminal, num::NonZeroU32, path::PathBuf, process::ExitCode};
use trainyard_proof::{
	bundle::{thinning::Thinning, Bundle},
	restore::{self, RestoreError},
};

const MIB: u64 = 1 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct Thin {
	/// Folder of the bundle.
	#[arg(value_name = "DIR")]
	dir: PathBuf,
	/// Keep one state in so many, with the first and the last.
	#[arg(
		long,
		value_name = "N",
		required_unless_present = "within_mib",
		conflicts_with = "within_mib"
	)]
	keep_every: Option<NonZeroU32>,
	/// Keep as many as take so much of the disk (in MiB).
	#[arg(long, value_name = "MIB")]
	within_mib: Option<u64>,
}

impl Thin {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let bundle = Bundle::open(&self.dir)?;
		let spec = &bundle.manifest().spec;
		let thinning = match (self.keep_every, self.within_mib) {
			(Some(every), _) => Thinning::every(every),
			(None, mib) => {
				let bytes = mib.unwrap_or_default().saturating_mul(MIB);
				let Some(thinning) = Thinning::within(spec, bytes) else {
					let least = Thinning::every(NonZeroU32::MAX).bytes(spec).div_ceil(MIB);
					bail!("the first state and the last take {least} MiB: give --within-mib at least that");
				};
				thinning
			}
		};
		let gone = restore::thin(&self.dir, thinning)?;
		println!(
			"removed {} of {} states, {:.1} MiB; one in {} is kept, and `trainyard restore {}` computes \
			 the others again",
			gone.states,
			bundle.manifest().checkpoints.len(),
			gone.bytes as f64 / MIB as f64,
			thinning.step(),
			self.dir.display()
		);
		Ok(ExitCode::SUCCESS)
	}
}

#[derive(Debug, clap::Args)]
pub(super) struct Restore {
	/// Folder of the bundle.
	#[arg(value_name = "DIR")]
	dir: PathBuf,
	/// Only the states after these steps, separated by commas.
	#[arg(long, value_name = "STEP,…", value_delimiter = ',')]
	steps: Vec<u32>,
	#[command(flatten)]
	inputs: InputArgs,
	#[command(flatten)]
	device: DeviceArgs,
}

impl Restore {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		self.device.choose()?;
		let bundle = Bundle::open(&self.dir)?;
		let steps = match self.steps.is_empty() {
			true => restore::missing(&bundle),
			false => self.steps,
		};
		let paths = self.inputs.given().or_of_bundle(&self.dir, &bundle.manifest().spec);
		let stop = stop_on_signals()?;
		let bar = std::io::stderr().is_terminal().then(|| {
			let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} steps, {eta} left");
			let bar = ProgressBar::new(0);
			match style {
				Ok(style) => bar.with_style(style),
				Err(_) => bar,
			}
		});
		let mut progress = |done, all| {
			if let Some(bar) = &bar {
				bar.set_length(all);
				bar.set_position(done);
			}
		};
		let restored = restore::restore(&self.dir, &paths, &steps, &mut progress, &stop);
		if let Some(bar) = bar {
			bar.finish_and_clear();
		}
		let restored = match restored {
			Ok(restored) => restored,
			Err(stopped @ RestoreError::Stopped) => {
				eprintln!("{stopped}");
				// This is how the shell reports a process that a signal ended.
				return Ok(ExitCode::from(130));
			}
			Err(RestoreError::Input(stopped)) if stopped.is_stopped() => {
				eprintln!("{stopped}");
				return Ok(ExitCode::from(130));
			}
			Err(error) => return Err(error.into()),
		};
		println!(
			"computed {} states again, {:.1} MiB, in {} steps: each has the hash that the manifest lists",
			restored.states,
			restored.bytes as f64 / MIB as f64,
			restored.steps
		);
		Ok(ExitCode::SUCCESS)
	}
}
