//! `trainyard plot DIR`.

use std::{path::PathBuf, process::ExitCode};

#[derive(Debug, clap::Args)]
pub(super) struct Plot {
	/// Folder of the bundle.
	#[arg(value_name = "DIR")]
	dir: PathBuf,
}

impl Plot {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		println!("{}", crate::plot::write_curves(&self.dir)?.display());
		Ok(ExitCode::SUCCESS)
	}
}
