//! `trainyard model get --from`: brings a file from a location that is not the chain.

use crate::{
	encoding,
	roles::fetch::{Content, Fetcher, LocationArgs, Locations, Wanted},
};
use anyhow::Context;
use std::{path::Path, time::Duration};
use trainyard_protocol::{blob, H256};

/// Tries for a location, and the pause before the second one.
const TRIES: (u32, Duration) = (5, Duration::from_secs(1));

/// Returns what asks a location that the owner of this machine names, with the credentials for it.
pub(super) fn fetcher(options: &LocationArgs, location: &str) -> anyhow::Result<Fetcher> {
	let locations = match options.allows_private() {
		true => Locations::Any,
		false => Locations::Public,
	};
	let (tries, pause) = TRIES;
	Ok(Fetcher::new(tries, pause, locations)?
		.over(options.over())
		.with_stores(options.stores_for(Some(location))))
}

/// Brings the file with this root from a location to `out`, and checks it. With its length a transfer that broke off goes
/// on. Returns its length.
pub(super) async fn bring(
	root: H256,
	location: &str,
	bytes: Option<u64>,
	options: &LocationArgs,
	out: &Path,
) -> anyhow::Result<u64> {
	let read = |path: &Path| {
		let file = std::fs::File::open(path)?;
		Ok::<_, std::io::Error>((file.metadata()?.len(), blob::root_of_reader(file)?))
	};
	// It came before, and was not opened or decoded.
	if let Ok((size, found)) = read(out) {
		if found == root {
			return Ok(size);
		}
	}
	let content = match bytes {
		Some(bytes) => Content::Blob { root, bytes },
		None => Content::Any { limit: blob::MAX_BLOB },
	};
	// Under another name until it is known to be the right one.
	let came = encoding::with_end(out, ".came");
	let wanted = Wanted { url: location, path: &came, content };
	fetcher(options, location)?.fetch(&wanted).await?;
	let (size, found) = read(&came).with_context(|| format!("cannot read {}", came.display()))?;
	if found != root {
		std::fs::remove_file(&came).with_context(|| format!("cannot remove {}", came.display()))?;
		anyhow::bail!(
			"{location} has another file: {size} bytes with the root {found:?}. Nothing of it was kept"
		);
	}
	std::fs::rename(&came, out)
		.with_context(|| format!("cannot name {} {}", came.display(), out.display()))?;
	Ok(size)
}
