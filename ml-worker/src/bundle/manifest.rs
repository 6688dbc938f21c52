//! `manifest.json`: what a bundle claims.

use primitive_types::H256;
use serde::{Deserialize, Serialize};
use trainyard_primitives::{bundle::bundle_root, spec::JobSpec};

/// Name of the file.
pub const FILE: &str = "manifest.json";
/// Longest manifest that is read: 65,537 checkpoints of about 250 bytes, and room.
pub const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// Value of [`Manifest::format`].
pub const FORMAT: &str = "trainyard/bundle/v1";

/// Under which arithmetic a run was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arithmetic {
	/// Replayable bit for bit on any machine.
	Strict,
}

/// Validation of one checkpoint's model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Validation {
	/// Mean cross-entropy over the validation rows.
	pub loss: f32,
	/// Rows classified correctly.
	pub correct: u32,
	/// Validation rows.
	pub rows: u32,
}

impl Validation {
	/// Share of rows classified correctly.
	pub fn accuracy(&self) -> f64 {
		f64::from(self.correct) / f64::from(self.rows.max(1))
	}
}

/// One checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
	/// Steps done.
	pub step: u32,
	/// Hash of the state after them.
	pub state_hash: H256,
	/// Validation of the model in this state.
	pub validation: Validation,
}

/// Which program on which machine made the bundle. For information; nothing checks it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeBy {
	/// Version of the worker.
	pub worker: String,
	/// Processor.
	pub cpu: String,
	/// Cores.
	pub cores: u32,
	/// Operating system and architecture.
	pub system: String,
}

impl MadeBy {
	/// This program on this machine.
	pub fn here() -> Self {
		let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
		let model = cpu.lines().find_map(|line| line.strip_prefix("model name"));
		Self {
			worker: env!("CARGO_PKG_VERSION").to_owned(),
			cpu: model
				.map(|m| m.trim_start_matches([' ', '\t', ':']).to_owned())
				.unwrap_or_default(),
			cores: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
			system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
		}
	}
}

/// What a bundle claims. Only the checkpoints' steps and state hashes are bound by the
/// bundle root; everything else is for readers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
	/// [`FORMAT`].
	pub format: String,
	/// What was trained.
	pub spec: JobSpec,
	/// Assignment seed.
	pub seed: H256,
	/// Class of arithmetic.
	pub arithmetic: Arithmetic,
	/// Checkpoints so far, ascending; all of them once training is over.
	pub checkpoints: Vec<Checkpoint>,
	/// Merkle root over the checkpoints, once training is over.
	pub bundle_root: Option<H256>,
	/// Root of the blob `model.safetensors`, once training is over.
	pub model_root: Option<H256>,
	/// Who made it.
	pub made_by: MadeBy,
}

impl Manifest {
	/// A manifest of a run that has not begun.
	pub fn new(spec: JobSpec, seed: H256) -> Self {
		Self {
			format: FORMAT.to_owned(),
			spec,
			seed,
			arithmetic: Arithmetic::Strict,
			checkpoints: Vec::new(),
			bundle_root: None,
			model_root: None,
			made_by: MadeBy::here(),
		}
	}

	/// Merkle root over the checkpoints listed.
	pub fn computed_root(&self) -> H256 {
		bundle_root(self.checkpoints.iter().map(|c| (c.step, &c.state_hash)))
	}

	/// Reads the bytes of a manifest; the error is one line.
	pub fn parse(bytes: &[u8]) -> Result<Self, String> {
		let manifest: Self = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
		if manifest.format != FORMAT {
			return Err(format!(
				"it is of format {:?}; this worker reads {FORMAT:?}",
				manifest.format
			));
		}
		manifest.spec.validate().map_err(|e| format!("its specification is invalid: {e}"))?;
		Ok(manifest)
	}

	/// The bytes of the file.
	pub fn to_bytes(&self) -> Vec<u8> {
		let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
		bytes.push(b'\n');
		bytes
	}
}

/// Path, inside a bundle, of the checkpoint after `step` steps.
pub fn checkpoint_file(step: u32) -> String {
	format!("checkpoints/step-{step:08}.safetensors")
}

/// The step of a path made by [`checkpoint_file`]; `None` for every other path.
pub fn step_of(path: &str) -> Option<u32> {
	let digits = path.strip_prefix("checkpoints/step-")?.strip_suffix(".safetensors")?;
	let step = digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())??;
	(checkpoint_file(step) == path).then_some(step)
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn manifests_survive_their_file() {
		let mut manifest = Manifest::new(JobSpec::example(), H256::repeat_byte(7));
		let validation = Validation { loss: 0.1, correct: 350, rows: 359 };
		manifest.checkpoints.push(Checkpoint { step: 0, state_hash: H256::zero(), validation });
		manifest.bundle_root = Some(manifest.computed_root());
		assert_eq!(Manifest::parse(&manifest.to_bytes()).unwrap(), manifest);
		manifest.format = "other".to_owned();
		assert!(Manifest::parse(&manifest.to_bytes()).unwrap_err().contains("other"));
		assert!(Manifest::parse(b"{\"format\":").is_err());
	}

	#[test]
	fn checkpoint_paths_have_one_form() {
		assert_eq!(checkpoint_file(50), "checkpoints/step-00000050.safetensors");
		assert_eq!(step_of(&checkpoint_file(0)), Some(0));
		assert_eq!(step_of(&checkpoint_file(100_000_000)), Some(100_000_000));
		for bad in [
			"checkpoints/step-50.safetensors",
			"checkpoints/step-000000050.safetensors",
			"checkpoints/step-+0000050.safetensors",
			"checkpoints/../step-00000050.safetensors",
			"/checkpoints/step-00000050.safetensors",
			"checkpoints/step-.safetensors",
			"checkpoints/step-99999999999.safetensors",
		] {
			assert_eq!(step_of(bad), None, "{bad}");
		}
	}
}
