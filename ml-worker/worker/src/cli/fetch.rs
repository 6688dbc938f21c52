//! `trainyard fetch LOCATION FILE`.

use super::hash;
use crate::roles::{
	fetch::{Content, Fetcher, LocationArgs, Locations, Place, Wanted, MAY_MOVE},
	http::parse_hash,
};
use anyhow::bail;
use primitive_types::H256;
use std::{path::PathBuf, process::ExitCode, time::Duration};
use tracing::warn;
use trainyard_program::spec::MAX_DATASET_BYTES;

/// Options of `trainyard fetch`.
#[derive(Debug, clap::Args)]
pub(super) struct FetchCommand {
	/// Where the file is: an http://, https://, iroh://, s3://, gs:// or hf:// location, as in a job
	location: String,
	/// Where it is written
	#[arg(value_name = "FILE")]
	file: PathBuf,
	/// Its content hash. With it and --bytes a transfer that broke off goes on, and another file is refused
	#[arg(long, value_name = "HASH", value_parser = hash_of, requires = "bytes")]
	content_hash: Option<H256>,
	/// Its length
	#[arg(long, value_name = "N", requires = "content_hash")]
	bytes: Option<u64>,
	/// Use no credentials. Without this they are used as if --credentials-for named the location: it is yours to
	/// name
	#[arg(long)]
	anonymous: bool,
	#[command(flatten)]
	locations: LocationArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

fn hash_of(text: &str) -> Result<H256, String> {
	parse_hash(text).ok_or_else(|| "64 hexadecimal digits".into())
}

impl FetchCommand {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
		let result = runtime.block_on(self.bring());
		runtime.shutdown_background();
		result?;
		hash::print(&self.file, self.json)?;
		Ok(ExitCode::SUCCESS)
	}

	async fn bring(&self) -> anyhow::Result<()> {
		let Self { location, file, .. } = self;
		let content = match (self.content_hash, self.bytes) {
			(Some(hash), Some(bytes)) if bytes <= MAX_DATASET_BYTES => {
				Content::File { hash, bytes }
			}
			(Some(_), Some(_)) => bail!("--bytes: files of jobs have at most {MAX_DATASET_BYTES}"),
			_ => Content::Any { limit: MAX_DATASET_BYTES },
		};
		if let Some(Ok(place)) = Place::parse(location) {
			if place.may_move() {
				warn!("{}", MAY_MOVE);
			}
		}
		let own = Some(location.as_str()).filter(|_| !self.anonymous);
		let locations = match self.locations.allows_private() {
			true => Locations::Any,
			false => Locations::Public,
		};
		let fetcher = Fetcher::new(5, Duration::from_secs(1), locations)?
			.over(self.locations.over())
			.with_stores(self.locations.stores_for(own));
		fetcher.fetch(&Wanted { url: location, path: file, content }).await?;
		Ok(())
	}
}
