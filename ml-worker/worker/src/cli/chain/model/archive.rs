//! `trainyard model archive`: puts a file into an object store.

use super::{from::fetcher, mib, Bytes};
use crate::{cli::chain::print_json, roles::fetch::LocationArgs};
use anyhow::Context;
use serde_json::json;
use std::{
	path::PathBuf,
	process::ExitCode,
	sync::{
		atomic::{AtomicU64, Ordering},
		Arc,
	},
	time::{Duration, Instant},
};

/// Time between two looks at what was sent.
const LOOK: Duration = Duration::from_millis(250);

/// Options of `trainyard model archive`.
#[derive(Debug, clap::Args)]
pub struct Archive {
	/// The file; `trainyard model get` brings one from the chain
	#[arg(value_name = "FILE")]
	file: PathBuf,
	/// Where it goes: s3://BUCKET/KEY, at any server of S3's kind (--s3-endpoint), or gs://BUCKET/KEY. The keys in the
	/// environment are used for it
	#[arg(value_name = "LOCATION")]
	location: String,
	/// Replace another file that is there
	#[arg(long)]
	overwrite: bool,
	#[command(flatten)]
	locations: LocationArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

impl Archive {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let Self { file, location, overwrite, .. } = &self;
		let size = std::fs::metadata(file)
			.with_context(|| format!("cannot read {}", file.display()))?
			.len();
		let fetcher = fetcher(&self.locations, location)?;
		let (sent, begun) = (Arc::new(AtomicU64::new(0)), Instant::now());
		let mut display = Bytes::new(size, "sent", self.json);
		let archiving = fetcher.archive(file, location, *overwrite, sent.clone());
		tokio::pin!(archiving);
		let archived = loop {
			tokio::select! {
				archived = &mut archiving => break archived?,
				() = tokio::time::sleep(LOOK) => display.update(sent.load(Ordering::Relaxed), ""),
			}
		};
		display.finish();
		let (root, bytes, seconds) = (archived.root, archived.bytes, begun.elapsed().as_secs_f64());
		if self.json {
			return print_json(&json!({
				"location": location, "root": root, "bytes": bytes, "sent": archived.sent, "seconds": seconds,
			}));
		}
		match archived.sent {
			true => println!("{location}: {} in {seconds:.1} s, root {root:?}", mib(bytes)),
			false => println!("{location}: it is there already, {}, root {root:?}", mib(bytes)),
		}
		println!(
			"It comes back, and is checked, by: trainyard model get {root:?} --from '{location}' --bytes {bytes}"
		);
		Ok(ExitCode::SUCCESS)
	}
}
