//! A model, and by how much a round of training moved it, in a file.

use anyhow::{bail, Context, Result};
use std::{fs, path::Path};

/// Most tensors of a model.
const MOST_TENSORS: u64 = 1 << 16;

/// A model that is trained, and what one round of training did to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Movement {
	/// How many values each tensor has.
	pub tensors: Vec<u64>,
	/// The model.
	pub model: Vec<f32>,
	/// What training added to each value.
	pub moved: Vec<f32>,
}

impl Movement {
	/// Returns what a peer's copy moves to in a round: by the same movement, begun at another place for each peer
	/// and round, so that peers say different things.
	pub fn of(&self, from: &[f32], peer: u32, round: u32) -> Vec<f32> {
		let length = self.moved.len();
		let begin = (peer as usize * 7_919 + round as usize * 104_729) % length.max(1);
		let moved = self.moved[begin..].iter().chain(&self.moved[..begin]);
		from.iter().zip(moved).map(|(from, moved)| from + moved).collect()
	}

	/// Writes it to a file.
	pub fn write(&self, to: &Path) -> Result<()> {
		let mut bytes = Vec::with_capacity(8 * (1 + self.tensors.len() + self.model.len()));
		bytes.extend_from_slice(&(self.tensors.len() as u64).to_le_bytes());
		self.tensors.iter().for_each(|length| bytes.extend_from_slice(&length.to_le_bytes()));
		put(&mut bytes, &self.model);
		put(&mut bytes, &self.moved);
		fs::write(to, bytes).with_context(|| format!("cannot write {}", to.display()))
	}

	/// Reads a file.
	pub fn read(from: &Path) -> Result<Self> {
		let bytes = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
		Self::parse(&bytes).with_context(|| format!("{} has no movement", from.display()))
	}

	fn parse(bytes: &[u8]) -> Result<Self> {
		let (count, rest) = bytes.split_first_chunk().context("it is empty")?;
		let count = u64::from_le_bytes(*count);
		if count > MOST_TENSORS {
			bail!("{count} tensors");
		}
		let (lengths, rest) =
			rest.split_at_checked(8 * count as usize).context("it ends within the lengths")?;
		let (lengths, _) = lengths.as_chunks();
		let tensors: Vec<u64> = lengths.iter().map(|length| u64::from_le_bytes(*length)).collect();
		let values = tensors.iter().fold(0u64, |sum, length| sum.saturating_add(*length));
		if rest.len() as u64 != values.saturating_mul(8) {
			bail!("{} bytes of {values} values", rest.len());
		}
		let (model, moved) = rest.split_at(rest.len() / 2);
		Ok(Self { tensors, model: floats(model), moved: floats(moved) })
	}
}

/// Adds numbers to some bytes.
pub fn put(bytes: &mut Vec<u8>, values: &[f32]) {
	values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

/// Returns the numbers that some bytes are.
pub fn floats(bytes: &[u8]) -> Vec<f32> {
	let (numbers, _) = bytes.as_chunks();
	numbers.iter().map(|number| f32::from_le_bytes(*number)).collect()
}

#[cfg(test)]
mod tests {
	use super::*;

	fn example() -> Movement {
		let values = |factor: f32| (0..5).map(|at| at as f32 * factor).collect();
		Movement { tensors: vec![3, 2], model: values(1.0), moved: values(0.5) }
	}

	#[test]
	fn a_file_has_what_was_written_and_others_are_refused() {
		let path = std::env::temp_dir().join(format!("movement-{}", std::process::id()));
		example().write(&path).unwrap();
		assert_eq!(Movement::read(&path).unwrap(), example());
		let bytes = fs::read(&path).unwrap();
		fs::remove_file(&path).unwrap();
		for end in 0..bytes.len() {
			assert!(Movement::parse(&bytes[..end]).is_err(), "{end}");
		}
		let endless = [u64::MAX.to_le_bytes(), [0; 8]].concat();
		assert!(Movement::parse(&endless).is_err());
	}

	#[test]
	fn peers_and_rounds_differ_in_where_the_movement_begins() {
		let example = example();
		let of = |peer, round| example.of(&[0.0; 5], peer, round);
		assert_eq!(of(0, 0), example.moved);
		assert_ne!(of(0, 0), of(1, 0));
		assert_ne!(of(1, 0), of(1, 1));
		for mut values in [of(1, 0), of(3, 7)] {
			values.sort_by(f32::total_cmp);
			assert_eq!(values, example.moved);
		}
	}
}
