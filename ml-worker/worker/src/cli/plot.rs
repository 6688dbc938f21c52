//! `trainyard plot DIR…`.

use anyhow::bail;
use std::{path::PathBuf, process::ExitCode};

#[derive(Debug, clap::Args)]
pub(super) struct Plot {
	/// Folder of a bundle; several are drawn into one picture.
	#[arg(value_name = "DIR", required = true)]
	dirs: Vec<PathBuf>,
	/// Where to write the picture: for one bundle DIR/curves.svg if not given, for several it
	/// must be.
	#[arg(long, value_name = "FILE.svg")]
	out: Option<PathBuf>,
}

impl Plot {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let path = match (&self.dirs[..], self.out) {
			([dir], None) => crate::plot::write_curves(dir)?,
			(dirs, Some(path)) => {
				crate::plot::write_runs(dirs, &path)?;
				path
			}
			(_, None) => bail!(
				"--out: {} bundles make one picture, and it belongs to none of their folders. Say \
				 where it goes: --out FILE.svg",
				self.dirs.len()
			),
		};
		println!("{}", path.display());
		Ok(ExitCode::SUCCESS)
	}
}
