//! `trainyard model encode` and `decode`: files in another form.

use super::mib;
use crate::{
	cli::chain::print_json,
	encoding::{self, Encoding, Header},
};
use anyhow::{bail, Context};
use serde_json::json;
use std::{
	path::{Path, PathBuf},
	process::ExitCode,
};

/// Options of `trainyard model encode`.
#[derive(Debug, clap::Args)]
pub struct Encode {
	/// The file
	#[arg(value_name = "FILE")]
	file: PathBuf,
	/// The form
	#[arg(long = "as", value_name = "ENCODING")]
	encoding: Encoding,
	/// Where it is written; beside the file, as FILE.zst or with the form in its name, if it is not named
	#[arg(long, value_name = "FILE")]
	out: Option<PathBuf>,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// Options of `trainyard model decode`.
#[derive(Debug, clap::Args)]
pub struct Decode {
	/// The encoded file
	#[arg(value_name = "FILE")]
	file: PathBuf,
	/// Where it is written; beside the file, without .zst or with "decoded" in its name, if it is not named
	#[arg(long, value_name = "FILE")]
	out: Option<PathBuf>,
	#[command(flatten)]
	bound: Bound,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// How much a file may become.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Bound {
	/// Decode to so much at most (in GiB), whatever the file says
	#[arg(long, value_name = "GIB", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
	max_gib: u64,
}

impl Bound {
	pub(super) fn bytes(self) -> u64 {
		self.max_gib << 30
	}
}

impl Encode {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let out = self.out.unwrap_or_else(|| self.encoding.name_of(&self.file));
		must_be_free(&out)?;
		let header = encoded(self.encoding, &self.file, &out).await?;
		let size = std::fs::metadata(&out)?.len();
		if self.json {
			return print_json(&json!({ "file": out, "bytes": size, "header": shown(&header) }));
		}
		println!("{}: {}, {} before", out.display(), mib(size), mib(header.size));
		Ok(ExitCode::SUCCESS)
	}
}

impl Decode {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let out = self.out.unwrap_or_else(|| match self.file.extension() {
			Some(end) if end == "zst" => self.file.with_extension(""),
			_ => encoding::within(&self.file, "decoded"),
		});
		let header = decoded(&self.file, &out, self.bound).await?;
		if self.json {
			return print_json(&json!({ "file": out, "header": shown(&header) }));
		}
		println!("{}", told(&out, &header));
		Ok(ExitCode::SUCCESS)
	}
}

/// Encodes a file on a thread that may compute for long.
pub(super) async fn encoded(encoding: Encoding, file: &Path, out: &Path) -> anyhow::Result<Header> {
	let (from, to) = (file.to_owned(), out.to_owned());
	tokio::task::spawn_blocking(move || encoding::encode(encoding, &from, &to))
		.await?
		.with_context(|| format!("cannot encode {} as {encoding}", file.display()))
}

/// Decodes a file on a thread that may compute for long, into a place where nothing stands, with room on
/// its disk.
pub(super) async fn decoded(file: &Path, out: &Path, bound: Bound) -> anyhow::Result<Header> {
	must_be_free(out)?;
	let (from, to) = (file.to_owned(), out.to_owned());
	let work = move || -> anyhow::Result<Header> {
		if let Some(header) = encoding::header(&from)? {
			super::get::check_room(&to, header.decoded_size.min(bound.bytes()), 0)?;
		}
		Ok(encoding::decode(&from, &to, bound.bytes())?)
	};
	tokio::task::spawn_blocking(work)
		.await?
		.with_context(|| format!("cannot decode {}", file.display()))
}

/// Fails where a file stands.
pub(super) fn must_be_free(out: &Path) -> anyhow::Result<()> {
	if out.exists() {
		bail!("{} is there already; remove it, or name another by --out", out.display());
	}
	Ok(())
}

/// What a decoded file is, in a sentence.
pub(super) fn told(out: &Path, header: &Header) -> String {
	let Header { encoding, root, decoded_root, decoded_size, .. } = header;
	let of = match encoding.is_lossless() {
		true => "the very file that was encoded".to_owned(),
		false => format!("rounded from the file with root {root:?}"),
	};
	format!("{}: {}, root {decoded_root:?}, {of}", out.display(), mib(*decoded_size))
}

/// The header for programs.
pub(super) fn shown(header: &Header) -> serde_json::Value {
	json!({
		"encoding": header.encoding.name(),
		"root": header.root,
		"size": header.size,
		"decoded_root": header.decoded_root,
		"decoded_size": header.decoded_size,
	})
}

#[cfg(test)]
mod tests {
	use super::*;

	#[tokio::test]
	async fn a_file_goes_there_and_back_and_nothing_is_written_over() {
		let folder = tempfile::tempdir().unwrap();
		let path = |name: &str| folder.path().join(name);
		std::fs::write(path("model"), [5; 100_000]).unwrap();
		let encode =
			|| Encode { file: path("model"), encoding: Encoding::Zstd, out: None, json: true };
		assert_eq!(encode().run().await.unwrap(), ExitCode::SUCCESS);
		let error = encode().run().await.unwrap_err().to_string();
		assert!(error.contains("model.zst is there already"), "{error}");
		let decode = |out: Option<PathBuf>, max_gib| Decode {
			file: path("model.zst"),
			out,
			bound: Bound { max_gib },
			json: false,
		};
		let error = decode(None, 1).run().await.unwrap_err().to_string();
		assert!(error.contains("is there already"), "{error}");
		assert_eq!(decode(Some(path("back")), 1).run().await.unwrap(), ExitCode::SUCCESS);
		assert_eq!(std::fs::read(path("back")).unwrap(), [5; 100_000]);
		let error = decode(Some(path("none")), 0).run().await.unwrap_err();
		assert!(format!("{error:#}").contains("allow more by --max-gib"), "{error:#}");
	}
}
