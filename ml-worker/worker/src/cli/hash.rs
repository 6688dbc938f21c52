//! `trainyard hash FILE`.

use anyhow::Context;
use std::{
	path::{Path, PathBuf},
	process::ExitCode,
};
use trainyard_proof::hash;

#[derive(Debug, clap::Args)]
pub(super) struct Hash {
	/// The file.
	#[arg(value_name = "FILE")]
	file: PathBuf,
	/// Print JSON.
	#[arg(long)]
	json: bool,
}

impl Hash {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		print(&self.file, self.json)?;
		Ok(ExitCode::SUCCESS)
	}
}

/// Prints what the command prints of a file.
pub(super) fn print(file: &Path, json: bool) -> anyhow::Result<()> {
	let read = || Ok((hash::file(file)?, hash::blob_root(file)?));
	let ((content_hash, bytes), blob_root) = read()
		.map_err(|e: std::io::Error| e)
		.with_context(|| format!("cannot read {}", file.display()))?;
	if json {
		let found = serde_json::json!({
			"content_hash": content_hash,
			"bytes": bytes,
			"blob_root": blob_root,
		});
		println!("{}", serde_json::to_string_pretty(&found)?);
	} else {
		println!("content hash  {content_hash:?}");
		println!("bytes         {bytes}");
		println!("blob root     {blob_root:?}");
	}
	Ok(())
}
