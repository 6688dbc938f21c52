//! `trainyard model get`: brings a file from the chain, or from an archive.

use super::{
	encode::{self, Bound},
	from, mib, parse_root, Bytes,
};
use crate::{
	cli::{
		chain::{print_json, PATIENCE},
		seal,
	},
	encoding::{self, Header},
	roles::fetch::LocationArgs,
};
use anyhow::{bail, Context};
use serde_json::json;
use std::{
	fs::File,
	io::ErrorKind,
	path::{Path, PathBuf},
	process::ExitCode,
	sync::{Arc, Mutex},
	time::Instant,
};
use trainyard_client::{
	blobs::{self, BlobError, Fetched, Got},
	BlobView, Chain,
};
use trainyard_protocol::{blob, H256};
use trainyard_seal::{PublicKey, Sealer, SecretKey};

/// Options of `trainyard model get`.
#[derive(Debug, clap::Args)]
pub struct Get {
	/// Root of the file
	#[arg(value_name = "ROOT", value_parser = parse_root)]
	root: H256,
	/// Where it is written; ROOT.bin in this folder if it is not named
	#[arg(long, value_name = "FILE")]
	out: Option<PathBuf>,
	/// Open it, where it is sealed, with the secret key in this file. What was encoded before it was sealed is decoded
	/// after that, by `trainyard model decode`
	#[arg(long, value_name = "KEYFILE", conflicts_with = "decode")]
	unseal: Option<PathBuf>,
	/// WebSocket addresses of nodes' RPC; several share the work
	#[arg(
		long,
		env = "TRAINYARD_NODE",
		default_value = "ws://127.0.0.1:9944",
		value_name = "URL",
		num_args = 1..,
		value_delimiter = ','
	)]
	node: Vec<String>,
	/// Bring it from this location and not from the chain: what `trainyard model archive` put there, or any https:// or
	/// iroh:// location. It is checked by the root
	#[arg(long, value_name = "LOCATION")]
	from: Option<String>,
	/// Its length: with it a transfer from a location that broke off goes on
	#[arg(long, value_name = "N", requires = "from")]
	bytes: Option<u64>,
	#[command(flatten)]
	locations: LocationArgs,
	/// Decode what came, check it by its header, and keep only that
	#[arg(long)]
	decode: bool,
	#[command(flatten)]
	bound: Bound,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

impl Get {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let root = self.root;
		let out = self.out.clone().unwrap_or_else(|| PathBuf::from(format!("{root:?}.bin")));
		let key = self.unseal.as_deref().map(SecretKey::read).transpose()?;
		match self.decode {
			// What is decoded has another root, which nobody knows before.
			true => encode::must_be_free(&out)?,
			false => {
				if let Some(size) = here(&out, root, key.as_ref().map(SecretKey::public))? {
					return self.tell(&out, size, None, None, 0.0);
				}
			}
		}
		// What is decoded has a part of its own.
		let part = match self.decode {
			true => part(&encoding::with_end(&out, ".encoded")),
			false => part(&out),
		};
		if let Some(location) = &self.from {
			let begun = Instant::now();
			let size = from::bring(root, location, self.bytes, &self.locations, &part).await?;
			let seconds = begun.elapsed().as_secs_f64();
			let header = self.put_in_place(&part, &out, key.as_ref()).await?;
			return self.tell_from(&out, location, size, header, seconds);
		}
		let nodes = self.connect().await?;
		let view = known(&nodes, root).await?;
		let plain = match &key {
			Some(_) => trainyard_seal::plain_len(view.size).with_context(|| {
				format!(
					"{root:?} has {}, as no sealed file has: do without --unseal",
					mib(view.size)
				)
			})?,
			None => 0,
		};
		check_room(&part, view.size, plain)?;
		let display = Mutex::new(Bytes::new(view.size, "here", self.json));
		let show = |fetched: Fetched| {
			let mut display = display.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
			match fetched {
				Fetched::Here { chunks, bytes } => {
					display.update(bytes, &format!("; {chunks} of {} chunks", view.chunks));
				}
				Fetched::Dropped { url, reason } => {
					// Standard output stays JSON, and this is worth knowing.
					let line = format!("warning: {url} is asked no more: {reason}");
					eprintln!("{}", crate::terminal::line(&line));
				}
			}
		};
		let result = blobs::download(&nodes, root, &part, show).await;
		let seconds = {
			let display = display.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
			display.finish();
			display.seconds()
		};
		let got = result.map_err(|error| explain(error, &part))?;
		let header = self.put_in_place(&part, &out, key.as_ref()).await?;
		self.tell(&out, got.size, Some((&nodes, &got)), header, seconds)
	}

	/// Gives what came its name, opened or decoded if that is wanted; returns what the header of an encoded file says
	/// then.
	async fn put_in_place(
		&self,
		part: &Path,
		out: &Path,
		key: Option<&SecretKey>,
	) -> anyhow::Result<Option<Header>> {
		let came = || format!("the file came as it is stored, and is in {}", part.display());
		let mut header = None;
		if let Some(key) = key {
			seal::open_file(part, key, out).with_context(came)?;
		} else if self.decode {
			header = Some(encode::decoded(part, out, self.bound).await.with_context(came)?);
		} else {
			std::fs::rename(part, out)
				.with_context(|| format!("cannot name {} {}", part.display(), out.display()))?;
			if seal::is_sealed(out) {
				eprintln!("it is a sealed file: `trainyard seal open` opens it with its key");
			}
			return Ok(None);
		}
		std::fs::remove_file(part).with_context(|| format!("cannot remove {}", part.display()))?;
		Ok(header)
	}

	/// Connects to all nodes of one chain that answer. Fails where none does.
	async fn connect(&self) -> anyhow::Result<Vec<Arc<Chain>>> {
		let connecting = self.node.iter().map(|url| Chain::connect(url, PATIENCE));
		let mut nodes: Vec<Arc<Chain>> = Vec::new();
		let mut last = None;
		for (url, connected) in self.node.iter().zip(futures::future::join_all(connecting).await) {
			let reason = match connected {
				Ok(chain) => match nodes.first().filter(|one| one.genesis() != chain.genesis()) {
					None => {
						nodes.push(Arc::new(chain));
						continue;
					}
					Some(first) => {
						anyhow::anyhow!("{url} is of another chain than {}", first.url())
					}
				},
				Err(error) => error.into(),
			};
			if self.node.len() > 1 {
				eprintln!("{}", crate::terminal::line(&format!("warning: {reason:#}")));
			}
			last = Some(reason);
		}
		match last {
			Some(reason) if nodes.is_empty() => Err(reason),
			_ => Ok(nodes),
		}
	}

	fn tell_from(
		&self,
		out: &Path,
		location: &str,
		size: u64,
		header: Option<Header>,
		seconds: f64,
	) -> anyhow::Result<ExitCode> {
		let root = self.root;
		if self.json {
			return print_json(&json!({
				"root": root,
				"file": out,
				"size": size,
				"from": location,
				"unsealed": self.unseal.is_some(),
				"seconds": seconds,
				"decoded": header.as_ref().map(encode::shown),
			}));
		}
		let what = match header {
			Some(_) => "encoded".into(),
			None => out.display().to_string(),
		};
		println!("{what}: {} in {seconds:.1} s from {location}, root {root:?}", mib(size));
		if let Some(header) = header {
			println!("{}", encode::told(out, &header));
		}
		Ok(ExitCode::SUCCESS)
	}

	fn tell(
		&self,
		out: &Path,
		size: u64,
		got: Option<(&[Arc<Chain>], &Got)>,
		header: Option<Header>,
		seconds: f64,
	) -> anyhow::Result<ExitCode> {
		let root = self.root;
		let by = |(nodes, got): (&[Arc<Chain>], &Got)| {
			let by = nodes.iter().zip(&got.by);
			by.map(|(node, chunks)| json!({ "node": node.url(), "chunks": chunks }))
				.collect::<Vec<_>>()
		};
		if self.json {
			return print_json(&json!({
				"root": root,
				"file": out,
				"size": size,
				"unsealed": self.unseal.is_some(),
				"chunks": blob::chunk_count(size),
				"before": got.map_or(blob::chunk_count(size), |(_, got)| Some(got.before)),
				"by": got.map(by).unwrap_or_default(),
				"seconds": seconds,
				"decoded": header.as_ref().map(encode::shown),
			}));
		}
		match got {
			None => println!("{}: it is here already, root {root:?}", out.display()),
			Some((_, got)) => {
				let bytes = got.size as f64 / 1_048_576.0 / seconds.max(1e-9);
				let what = match header {
					Some(_) => "encoded".into(),
					None => out.display().to_string(),
				};
				let opened = if self.unseal.is_some() { ", opened" } else { "" };
				println!(
					"{what}: {} in {seconds:.1} s ({bytes:.1} MiB/s), root {root:?} as on chain{opened}",
					mib(got.size)
				);
			}
		}
		if let Some(header) = header {
			println!("{}", encode::told(out, &header));
		}
		Ok(ExitCode::SUCCESS)
	}
}

/// Returns the length of what is stored under `root` if the file is that, or, with the key for which it
/// is sealed, what it opens to; `None` if there is no file. Fails where a different one stands there.
fn here(out: &Path, root: H256, sealed_for: Option<&PublicKey>) -> anyhow::Result<Option<u64>> {
	let cannot = || format!("cannot read {}", out.display());
	let file = match File::open(out) {
		Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
		opened => opened.with_context(cannot)?,
	};
	let (found, size) = match sealed_for {
		Some(key) => {
			let sealer = Sealer::of(&file, key).with_context(cannot)?;
			let sealed = sealer.reader(File::open(out).with_context(cannot)?);
			(blob::root_of_reader(sealed).with_context(cannot)?, sealer.sealed_len())
		}
		None => (blob::root_of_reader(&file).with_context(cannot)?, file.metadata()?.len()),
	};
	if found != root {
		bail!(
			"{} is there and is another file; remove it, or name another by --out",
			out.display()
		);
	}
	Ok(Some(size))
}

/// Returns what is said of the blob by a node that knows it as a whole.
async fn known(nodes: &[Arc<Chain>], root: H256) -> anyhow::Result<BlobView> {
	let mut last: BlobError = BlobError::Unknown { root };
	for node in nodes {
		match node.blob(root).await {
			Ok(Some(view)) if view.missing.is_empty() && !view.removing => return Ok(view),
			Ok(Some(view)) if view.removing => last = BlobError::Unknown { root },
			Ok(Some(view)) => {
				last = BlobError::Incomplete {
					root,
					missing: view.missing.len(),
					chunks: view.chunks,
				};
			}
			Ok(None) => {}
			Err(error) => last = error.into(),
		}
	}
	Err(last.into())
}

/// Returns the file that is filled until it is whole.
fn part(out: &Path) -> PathBuf {
	encoding::with_end(out, ".part")
}

/// Fails where the disk has no room for what is missing, and `more` bytes beside it.
pub(super) fn check_room(part: &Path, size: u64, more: u64) -> anyhow::Result<()> {
	let folder = match part.parent() {
		Some(folder) if !folder.as_os_str().is_empty() => folder,
		_ => Path::new("."),
	};
	let here = std::fs::metadata(part).map_or(0, |about| about.len());
	let needed = size.saturating_sub(here).saturating_add(more);
	let free = fs4::available_space(folder)
		.with_context(|| format!("cannot look at the folder {}", folder.display()))?;
	if free < needed {
		bail!(
			"{} has room for {}, and {} are needed. Make room, or name another place by --out",
			folder.display(),
			mib(free),
			mib(needed)
		);
	}
	Ok(())
}

/// Says what to do after a download that failed.
fn explain(error: BlobError, part: &Path) -> anyhow::Error {
	let full = matches!(&error, BlobError::Local { source, .. }
		if matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded));
	let what = match full {
		true => "the disk is full; make room, and the same command goes on",
		false => "it did not come as a whole; the same command goes on",
	};
	anyhow::Error::from(error).context(format!("{what} (what came is in {})", part.display()))
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn what_stands_in_the_place_is_looked_at() {
		let folder = tempfile::tempdir().unwrap();
		let out = folder.path().join("model");
		let root = blob::root_of_reader(&b"here"[..]).unwrap();
		assert_eq!(here(&out, root, None).unwrap(), None);
		std::fs::write(&out, "here").unwrap();
		assert_eq!(here(&out, root, None).unwrap(), Some(4));
		std::fs::write(&out, "there").unwrap();
		assert!(here(&out, root, None).unwrap_err().to_string().contains("is another file"));
		assert_eq!(part(&out), folder.path().join("model.part"));
	}

	/// Of a sealed file what it opens to is what is wanted.
	#[test]
	fn what_was_opened_before_is_known() {
		let folder = tempfile::tempdir().unwrap();
		let out = folder.path().join("model");
		let (key, other) = (SecretKey::from_bytes(&[1; 32]), SecretKey::from_bytes(&[2; 32]));
		let sealer = Sealer::of(&b"here"[..], key.public()).unwrap();
		let root = blob::root_of_reader(sealer.reader(&b"here"[..])).unwrap();
		assert_eq!(here(&out, root, Some(key.public())).unwrap(), None);
		std::fs::write(&out, "here").unwrap();
		assert_eq!(here(&out, root, Some(key.public())).unwrap(), Some(sealer.sealed_len()));
		for key in [None, Some(other.public())] {
			assert!(here(&out, root, key).unwrap_err().to_string().contains("is another file"));
		}
	}

	#[test]
	fn a_full_disk_is_seen_before_and_after() {
		let folder = tempfile::tempdir().unwrap();
		let part = folder.path().join("model.part");
		check_room(&part, 1, 1).unwrap();
		for (size, more) in [(1 << 62, 0), (1, 1 << 62)] {
			let error = check_room(&part, size, more).unwrap_err().to_string();
			assert!(error.contains("Make room"), "{error}");
		}
		let source = std::io::Error::from(ErrorKind::StorageFull);
		let error = explain(BlobError::Local { path: part.clone(), source }, &part);
		assert!(format!("{error:#}").contains("the disk is full; make room"), "{error:#}");
	}
}
