//! `trainyard seal`: files that one key opens.

use anyhow::{bail, Context};
use clap::Subcommand;
use std::{
	fs::File,
	io::{BufWriter, ErrorKind, Read, Write},
	path::{Path, PathBuf},
	process::ExitCode,
};
use tempfile::NamedTempFile;
use trainyard_proof::hash;
use trainyard_seal::{PublicKey, Sealer, SecretKey, MAGIC};

/// What to do with sealed files and their keys.
#[derive(Debug, Subcommand)]
pub(super) enum SealCommand {
	/// Makes a key in a new file that its owner alone may read, and prints the public key, for which
	/// others seal. Whoever loses the file loses what is sealed for it.
	Keygen {
		/// The new file.
		#[arg(value_name = "KEYFILE")]
		file: PathBuf,
	},
	/// Prints the public key of a key.
	Public {
		/// File of the key.
		#[arg(value_name = "KEYFILE")]
		file: PathBuf,
	},
	/// Seals a file for a public key; the same file and key make the same sealed file.
	File {
		/// The file.
		#[arg(value_name = "FILE")]
		file: PathBuf,
		/// The public key.
		#[arg(long = "for", value_name = "PUBLIC_KEY")]
		recipient: String,
		/// The sealed file.
		#[arg(long, value_name = "FILE")]
		out: PathBuf,
	},
	/// Opens a sealed file.
	Open {
		/// The sealed file.
		#[arg(value_name = "FILE")]
		file: PathBuf,
		/// File of the key.
		#[arg(long, value_name = "KEYFILE")]
		key: PathBuf,
		/// The opened file, which its owner alone may read.
		#[arg(long, value_name = "FILE")]
		out: PathBuf,
	},
}

impl SealCommand {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		match self {
			Self::Keygen { file } => {
				let key = SecretKey::generate()?;
				key.write_new(&file)?;
				println!("{}", key.public());
				eprintln!(
					"{} has the secret key. Keep a copy: nothing else opens what is sealed for it",
					file.display()
				);
			}
			Self::Public { file } => println!("{}", SecretKey::read(&file)?.public()),
			Self::File { file, recipient, out } => {
				// Read here: where it is a secret key, the command line would print it with its error.
				let recipient: PublicKey = recipient.parse().context("--for")?;
				seal_file(&file, &recipient, &out)?;
				let root = hash::blob_root(&out);
				let root = root.with_context(|| format!("cannot read {}", out.display()))?;
				println!("{}: sealed for {recipient}, blob root {root:?}", out.display());
			}
			Self::Open { file, key, out } => {
				let bytes = open_file(&file, &SecretKey::read(&key)?, &out)?;
				println!("{}: {bytes} bytes", out.display());
			}
		}
		Ok(ExitCode::SUCCESS)
	}
}

/// Seals the file at `from` for `recipient` into a new file at `out`.
fn seal_file(from: &Path, recipient: &PublicKey, out: &Path) -> anyhow::Result<()> {
	let cannot = || format!("cannot seal {}", from.display());
	let sealer = Sealer::of(read(from)?, recipient).with_context(cannot)?;
	let plain = read(from)?;
	new_file(out, |new| {
		std::io::copy(&mut sealer.reader(plain), new).with_context(cannot)?;
		Ok(())
	})
}

/// Opens the sealed file at `from` with `key` into a new file at `out`, and returns its bytes.
///
/// # Errors
///
/// Fails where it does not open, and where something is at `out` already. Then nothing new is there.
pub(super) fn open_file(from: &Path, key: &SecretKey, out: &Path) -> anyhow::Result<u64> {
	let sealed = read(from)?;
	new_file(out, |new| {
		let opened = trainyard_seal::open(sealed, key, new);
		opened.with_context(|| format!("cannot open {} with this key", from.display()))
	})
}

/// Returns whether the file at `path` begins as sealed files do.
pub(super) fn is_sealed(path: &Path) -> bool {
	let mut begin = [0; MAGIC.len()];
	let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
	read.is_ok() && begin == MAGIC
}

fn read(path: &Path) -> anyhow::Result<File> {
	File::open(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Writes a file beside `out`, which its owner alone may read, and names it `out` when it is whole.
fn new_file<T>(
	out: &Path,
	write: impl FnOnce(&mut BufWriter<&mut File>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
	let taken = || format!("{} is there already; remove it, or name another", out.display());
	if out.symlink_metadata().is_ok() {
		bail!(taken());
	}
	let folder = match out.parent() {
		Some(folder) if !folder.as_os_str().is_empty() => folder,
		_ => Path::new("."),
	};
	let cannot = || format!("cannot write {}", out.display());
	let mut new = NamedTempFile::new_in(folder).with_context(cannot)?;
	let mut buffered = BufWriter::with_capacity(1 << 20, new.as_file_mut());
	let written = write(&mut buffered)?;
	buffered.flush().with_context(cannot)?;
	drop(buffered);
	new.as_file().sync_all().with_context(cannot)?;
	match new.persist_noclobber(out) {
		Ok(_) => Ok(written),
		Err(e) if e.error.kind() == ErrorKind::AlreadyExists => bail!(taken()),
		Err(e) => Err(e.error).with_context(cannot),
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	fn names(folder: &Path) -> Vec<String> {
		let entries = std::fs::read_dir(folder).unwrap();
		let mut names: Vec<_> =
			entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
		names.sort();
		names
	}

	#[test]
	fn a_file_is_sealed_and_opened() {
		let folder = tempfile::tempdir().unwrap();
		let at = |name: &str| folder.path().join(name);
		let run = |command: SealCommand| command.run().unwrap();
		run(SealCommand::Keygen { file: at("key") });
		let recipient = SecretKey::read(&at("key")).unwrap().public().to_string();
		std::fs::write(at("model"), vec![7; 100_000]).unwrap();
		let for_it =
			|out| SealCommand::File { file: at("model"), recipient: recipient.clone(), out };
		run(for_it(at("sealed")));
		run(for_it(at("again")));
		// Whoever gives the secret key by mistake finds it in no log.
		let secret = std::fs::read_to_string(at("key")).unwrap();
		let secret =
			secret.split_whitespace().find(|word| word.starts_with("seal-secret-")).unwrap();
		let wrong = SealCommand::File { file: at("model"), recipient: secret.into(), out: at("x") };
		let error = format!("{:#}", wrong.run().unwrap_err());
		assert!(error.contains("secret key") && !error.contains(&secret[20..30]), "{error}");
		assert!(std::fs::read(at("sealed")).unwrap() == std::fs::read(at("again")).unwrap());
		assert!(is_sealed(&at("sealed")) && !is_sealed(&at("model")) && !is_sealed(&at("none")));
		run(SealCommand::Open { file: at("sealed"), key: at("key"), out: at("opened") });
		assert!(std::fs::read(at("opened")).unwrap() == vec![7; 100_000]);
		#[cfg(unix)]
		{
			use std::os::unix::fs::PermissionsExt;
			let mode = |name| std::fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
			assert_eq!((mode("key"), mode("opened")), (0o600, 0o600));
		}
	}

	#[test]
	fn what_does_not_open_leaves_nothing() {
		let folder = tempfile::tempdir().unwrap();
		let at = |name: &str| folder.path().join(name);
		let (key, other) = (SecretKey::from_bytes(&[1; 32]), SecretKey::from_bytes(&[2; 32]));
		std::fs::write(at("model"), vec![7; 200_000]).unwrap();
		seal_file(&at("model"), key.public(), &at("sealed")).unwrap();
		let before = names(folder.path());
		let error = open_file(&at("sealed"), &other, &at("out")).unwrap_err();
		assert!(format!("{error:#}").contains("sealed for another key"), "{error:#}");
		let error = open_file(&at("model"), &key, &at("out")).unwrap_err();
		assert!(format!("{error:#}").contains("no sealed file"), "{error:#}");
		// The first pieces open, and the last one does not.
		let sealed = std::fs::read(at("sealed")).unwrap();
		std::fs::write(at("sealed"), &sealed[..sealed.len() - 1]).unwrap();
		let error = open_file(&at("sealed"), &key, &at("out")).unwrap_err();
		assert!(format!("{error:#}").contains("damaged"), "{error:#}");
		assert_eq!(names(folder.path()), before);
		// What is there stays.
		std::fs::write(at("sealed"), &sealed).unwrap();
		let error = open_file(&at("sealed"), &key, &at("model")).unwrap_err();
		assert!(format!("{error:#}").contains("is there already"), "{error:#}");
		assert_eq!(std::fs::read(at("model")).unwrap().len(), 200_000);
	}
}
