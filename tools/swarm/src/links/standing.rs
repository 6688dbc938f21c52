//! What a peer has from round to round, and does not lose when it is killed.

use super::movement::{floats, put};
use crate::outer::Form;
use anyhow::{bail, Context, Result};
use std::{
	fs,
	io::{ErrorKind, Read},
	path::Path,
};
use trainyard_mixing::{Layout, Residual};
use trainyard_transport::{Deadlines, MOST_TEXT};

/// Its name in the folder of a peer.
const NAME: &str = "standing";
/// That of how long updates took.
const TIMES: &str = "updates.times";
/// Bytes before the numbers: the round, and how many numbers each part has.
const HEAD: usize = 28;

/// A model after some rounds, and what the peer has beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
	/// Rounds that it has behind it.
	pub round: u32,
	/// The model, equal to that of all others after as many rounds.
	pub model: Vec<f32>,
	/// What the outer step keeps.
	pub velocity: Vec<f32>,
	/// What this peer did not say yet.
	pub residual: Residual,
}

impl Standing {
	/// Begins with a model.
	pub fn new(form: Form, layout: &Layout, model: Vec<f32>) -> Self {
		let residual = match form {
			Form::Whole { .. } => Residual(Vec::new()),
			Form::Picked { .. } => Residual::none(layout.values()),
		};
		Self { round: 0, model, velocity: form.velocity(layout), residual }
	}

	/// Writes it to a folder, whole or not at all.
	pub fn write(&self, folder: &Path) -> Result<()> {
		let parts = [&self.model, &self.velocity, &self.residual.0];
		let mut bytes =
			Vec::with_capacity(HEAD + parts.map(|part| 4 * part.len()).iter().sum::<usize>());
		bytes.extend_from_slice(&self.round.to_le_bytes());
		parts.iter().for_each(|part| bytes.extend_from_slice(&(part.len() as u64).to_le_bytes()));
		parts.iter().for_each(|part| put(&mut bytes, part));
		write(folder, NAME, &bytes)
	}

	/// Reads what a folder has; `None` where there is nothing yet.
	pub fn read(folder: &Path) -> Result<Option<Self>> {
		let path = folder.join(NAME);
		let bytes = match fs::read(&path) {
			Ok(bytes) => bytes,
			Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
			Err(e) => return Err(e).with_context(|| format!("cannot read {}", path.display())),
		};
		Self::parse(&bytes).map(Some).with_context(|| format!("{} is broken", path.display()))
	}

	fn parse(bytes: &[u8]) -> Result<Self> {
		let (round, rest) = bytes.split_first_chunk().context("it is empty")?;
		let (lengths, rest) =
			rest.split_first_chunk::<24>().context("it ends within the lengths")?;
		let (lengths, _) = lengths.as_chunks();
		let lengths = lengths.iter().map(|length| u64::from_le_bytes(*length).saturating_mul(4));
		let (mut parts, mut left) = (Vec::new(), rest);
		for length in lengths {
			let length = usize::try_from(length)?;
			let (part, after) = left.split_at_checked(length).context("it ends within a part")?;
			parts.push(floats(part));
			left = after;
		}
		let (Ok([model, velocity, residual]), []) = (<[Vec<f32>; 3]>::try_from(parts), left) else {
			bail!("it has more or fewer than three parts");
		};
		let round = u32::from_le_bytes(*round);
		Ok(Self { round, model, velocity, residual: Residual(residual) })
	}

	/// Returns the hash of the model, in hexadecimal.
	pub fn hash(&self) -> String {
		let mut hasher = blake3::Hasher::new();
		let mut bytes = Vec::with_capacity(4 << 14);
		for values in self.model.chunks(1 << 14) {
			bytes.clear();
			put(&mut bytes, values);
			hasher.update(&bytes);
		}
		hasher.finalize().to_hex().to_string()
	}
}

/// Writes a file of a folder, whole or not at all.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
	let (new, path) = (folder.join(format!("{name}.new")), folder.join(name));
	fs::write(&new, bytes)
		.and_then(|()| fs::rename(&new, &path))
		.with_context(|| format!("cannot write {}", path.display()))
}

/// Writes down how long updates took: [`Deadlines::text`].
pub fn write_times(folder: &Path, times: &str) -> Result<()> {
	write(folder, TIMES, times.as_bytes())
}

/// Takes note of how long updates took before, where that was written down. What cannot be read is said, and not
/// known.
pub fn read_times(folder: &Path, deadlines: &mut Deadlines) {
	let path = folder.join(TIMES);
	let mut read = || -> Result<()> {
		let mut text = String::new();
		match fs::File::open(&path) {
			Ok(file) => file.take(MOST_TEXT + 1).read_to_string(&mut text)?,
			Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
			Err(e) => return Err(e.into()),
		};
		Ok(deadlines.remember(&text)?)
	};
	if let Err(e) = read() {
		eprintln!("how long updates took before cannot be read from {}: {e:#}", path.display());
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use std::time::Duration;

	#[test]
	fn what_was_written_is_there_after_a_restart_and_a_part_of_it_is_refused() {
		let folder = std::env::temp_dir().join(format!("standing-{}", std::process::id()));
		fs::create_dir_all(&folder).unwrap();
		assert_eq!(Standing::read(&folder).unwrap(), None);
		for name in ["momentum", "64"] {
			let form: Form = name.parse().unwrap();
			let layout = form.layout([5, 2]).unwrap();
			let mut standing = Standing::new(form, &layout, (0..7).map(|at| at as f32).collect());
			let hash = standing.hash();
			standing.round = 12;
			standing.write(&folder).unwrap();
			let read = Standing::read(&folder).unwrap().unwrap();
			assert_eq!((&read, read.hash()), (&standing, hash.clone()));
			standing.model[6] = 6.5;
			assert_ne!(standing.hash(), hash);
		}
		let bytes = fs::read(folder.join(NAME)).unwrap();
		fs::remove_dir_all(&folder).unwrap();
		for end in 0..bytes.len() {
			assert!(Standing::parse(&bytes[..end]).is_err(), "{end}");
		}
		assert!(Standing::parse(&[&bytes[..], &[0]].concat()).is_err());
	}

	#[test]
	fn who_begins_again_waits_as_long_as_before() {
		let folder = std::env::temp_dir().join(format!("times-{}", std::process::id()));
		fs::create_dir_all(&folder).unwrap();
		let [first, least, most] = [3_370, 250, 60_000].map(Duration::from_millis);
		let fresh = || Deadlines::new(first, least, most);
		let limit = || {
			let mut deadlines = fresh();
			read_times(&folder, &mut deadlines);
			deadlines.limit(0)
		};
		assert_eq!(limit(), first, "nothing is known yet");
		let mut before = fresh();
		[210, 190, 340].map(Duration::from_millis).into_iter().for_each(|time| before.seen(time));
		write_times(&folder, &before.text()).unwrap();
		assert_eq!(limit(), before.limit(0));
		assert!(limit() < first);
		fs::write(folder.join(TIMES), "no times").unwrap();
		assert_eq!(limit(), first);
		fs::remove_dir_all(&folder).unwrap();
	}
}
