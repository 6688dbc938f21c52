//! `manifest.json`: what a bundle claims.

use primitive_types::H256;
use serde::{Deserialize, Serialize};
use trainyard_program::spec::{CheckedSpec, JobSpec};
use trainyard_protocol::{
	accusation::LeafContent,
	bundle::{self, bundle_root, Diverged, Evaluation},
};

/// Name of the file.
pub const FILE: &str = "manifest.json";
/// Longest manifest that is read: 65,537 checkpoints of about 330 bytes, and room.
pub const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// Value of [`Manifest::format`].
pub const FORMAT: &str = "trainyard/bundle/v3";

/// The class of arithmetic under which a run was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arithmetic {
	/// Replayable bit for bit on any machine.
	Strict,
}

/// An evaluation in the files of a bundle and in reports: `loss` as the decimal number of the
/// binary64 of the same value, `correct`, and the labels as `rows`. The root binds the bits of
/// the loss, and readers of JSON may be off by a unit in the last place of a binary64.
pub(crate) mod validation {
	use serde::{Deserialize, Deserializer, Serialize, Serializer};
	use trainyard_protocol::bundle::Evaluation;

	#[derive(Serialize, Deserialize)]
	struct Validation {
		loss: f64,
		correct: u32,
		rows: u32,
	}

	impl From<&Evaluation> for Validation {
		fn from(found: &Evaluation) -> Self {
			let Evaluation { correct, labels: rows, .. } = *found;
			Self { loss: found.loss().into(), correct, rows }
		}
	}

	pub fn serialize<S: Serializer>(found: &Evaluation, serializer: S) -> Result<S::Ok, S::Error> {
		Validation::from(found).serialize(serializer)
	}

	pub fn serialize_all<S: Serializer>(
		found: &[Evaluation],
		serializer: S,
	) -> Result<S::Ok, S::Error> {
		serializer.collect_seq(found.iter().map(Validation::from))
	}

	pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Evaluation, D::Error> {
		let Validation { loss, correct, rows } = Validation::deserialize(deserializer)?;
		Ok(Evaluation::new(loss as f32, correct, rows))
	}
}

/// One checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
	/// Steps done.
	pub step: u32,
	/// Hash of the state after them.
	pub state_hash: H256,
	/// Evaluation of the model in this state.
	#[serde(with = "validation")]
	pub validation: Evaluation,
	/// The sealed trace of the segment that ends here, of checkpoint 0 that of its evaluation; see
	/// [`bundle::Checkpoint::trace`].
	pub trace: H256,
}

impl Checkpoint {
	/// Returns what the bundle root binds of it, which is everything.
	pub fn bound(&self) -> bundle::Checkpoint {
		let Self { step, state_hash: state, validation: evaluation, trace } = *self;
		bundle::Checkpoint { step, state, evaluation, trace }
	}
}

/// Names the worker and the machine that made the bundle. It informs; nothing checks it.
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
	/// Returns the values of this worker on this machine.
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

/// What a bundle claims. Only the checkpoints, and where training diverged after them, are bound by
/// the bundle root; everything else is for readers. Its specification is a valid one: a file is read
/// with a [`JobSpec`] in that place, which [`Manifest::parse`] checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest<Spec = CheckedSpec> {
	/// [`FORMAT`].
	pub format: String,
	/// What was trained.
	pub spec: Spec,
	/// Assignment seed.
	pub seed: H256,
	/// Class of arithmetic.
	pub arithmetic: Arithmetic,
	/// Checkpoints so far, ascending; after the training all of them, or fewer if it stopped early.
	pub checkpoints: Vec<Checkpoint>,
	/// Where training left the finite numbers after the last checkpoint, which ended it.
	#[serde(default)]
	pub diverged: Option<Diverged>,
	/// Merkle root over the checkpoints so far, and of a run that diverged over that. Of a run that is
	/// not over it shows whether the list is still what was written.
	pub bundle_root: H256,
	/// Root of the blob `model.safetensors`, once training is over.
	pub model_root: Option<H256>,
	/// Who made it.
	pub made_by: MadeBy,
}

impl Manifest {
	/// A manifest of a run that has not begun.
	pub fn new(spec: CheckedSpec, seed: H256) -> Self {
		Self {
			format: FORMAT.to_owned(),
			spec,
			seed,
			arithmetic: Arithmetic::Strict,
			checkpoints: Vec::new(),
			diverged: None,
			bundle_root: bundle_root([], None),
			model_root: None,
			made_by: MadeBy::here(),
		}
	}

	/// Returns the manifest of a result whose bundle has these leaves, as somebody writes it who did not
	/// train; `None` where they are not those of a bundle: a leaf behind that of a divergence.
	pub fn of_leaves(spec: CheckedSpec, seed: H256, leaves: &[LeafContent]) -> Option<Self> {
		let mut manifest = Self::new(spec, seed);
		for leaf in leaves {
			match *leaf {
				LeafContent::Checkpoint(end) if manifest.diverged.is_none() => {
					let bundle::Checkpoint { step, state, evaluation, trace } = end;
					let (state_hash, validation) = (state, evaluation);
					manifest.checkpoints.push(Checkpoint { step, state_hash, validation, trace });
				}
				LeafContent::Diverged(end) if manifest.diverged.is_none() => {
					manifest.diverged = Some(end);
				}
				LeafContent::Checkpoint(_) | LeafContent::Diverged(_) => return None,
			}
		}
		manifest.bundle_root = manifest.computed_root();
		Some(manifest)
	}

	/// Returns what the leaves under the root say.
	pub fn leaves(&self) -> Vec<LeafContent> {
		let checkpoints = self.checkpoints.iter().map(Checkpoint::bound);
		let diverged = self.diverged.map(LeafContent::Diverged);
		checkpoints.map(LeafContent::Checkpoint).chain(diverged).collect()
	}

	/// Returns the Merkle root over the checkpoints listed.
	pub fn computed_root(&self) -> H256 {
		bundle_root(self.checkpoints.iter().map(Checkpoint::bound), self.diverged)
	}

	/// Returns the number of segments trained to their ends so far.
	pub fn segments(&self) -> u32 {
		u32::try_from(self.checkpoints.len()).unwrap_or(u32::MAX).saturating_sub(1)
	}

	/// Returns the segment in which training left the finite numbers, if it did.
	pub fn diverged_in(&self) -> Option<u32> {
		self.diverged.map(|_| self.segments())
	}

	/// Returns after how many segments training is over, by the validation losses of the
	/// checkpoints listed; `None` while it goes on.
	pub fn ends_after(&self) -> Option<u32> {
		let losses: Vec<f32> = self.checkpoints.iter().map(|c| c.validation.loss()).collect();
		self.spec.ends_after(&losses)
	}

	/// Returns whether training is over before all segments were trained.
	pub fn stops_early(&self) -> bool {
		self.ends_after().is_some_and(|end| end < self.spec.segments())
	}

	/// Reads the bytes of a manifest; the error is one line.
	pub fn parse(bytes: &[u8]) -> Result<Self, String> {
		let read: Manifest<JobSpec> = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
		if read.format != FORMAT {
			return Err(format!("it is of format {:?}; this worker reads {FORMAT:?}", read.format));
		}
		let spec = read.spec.check().map_err(|e| format!("its specification is invalid: {e}"))?;
		Ok(Self {
			format: read.format,
			spec,
			seed: read.seed,
			arithmetic: read.arithmetic,
			checkpoints: read.checkpoints,
			diverged: read.diverged,
			bundle_root: read.bundle_root,
			model_root: read.model_root,
			made_by: read.made_by,
		})
	}

	/// Returns the bytes of the file.
	pub fn to_bytes(&self) -> Vec<u8> {
		let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
		bytes.push(b'\n');
		bytes
	}
}

/// Returns the path, inside a bundle, of the checkpoint after `step` steps.
pub fn checkpoint_file(step: u32) -> String {
	format!("checkpoints/step-{step:08}.safetensors")
}

/// Returns the step of a path made by [`checkpoint_file`]; `None` for every other path.
pub fn step_of(path: &str) -> Option<u32> {
	let digits = path.strip_prefix("checkpoints/step-")?.strip_suffix(".safetensors")?;
	let step = digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())??;
	(checkpoint_file(step) == path).then_some(step)
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::spec::EarlyStop;

	#[test]
	fn manifests_survive_their_file() {
		let mut manifest = Manifest::new(JobSpec::example().check().unwrap(), H256::repeat_byte(7));
		let validation = Evaluation::new(0.1, 350, 359);
		let (state_hash, trace) = (H256::repeat_byte(1), H256::repeat_byte(2));
		manifest.checkpoints.push(Checkpoint { step: 0, state_hash, validation, trace });
		let finite = manifest.computed_root();
		manifest.bundle_root = finite;
		assert_eq!(Manifest::parse(&manifest.to_bytes()).unwrap(), manifest);
		manifest.checkpoints[0].trace.0[31] ^= 1;
		assert_ne!(manifest.computed_root(), finite, "the root binds the trace");
		manifest.checkpoints[0].trace.0[31] ^= 1;
		let diverged = Diverged { step: 7, trace: H256::repeat_byte(3) };
		manifest.diverged = Some(diverged);
		assert_ne!(manifest.computed_root(), finite, "the root binds it");
		assert_eq!(manifest.diverged_in(), Some(0));
		assert_eq!(Manifest::parse(&manifest.to_bytes()).unwrap(), manifest);
		// It may be left out.
		let text = String::from_utf8(manifest.to_bytes()).unwrap();
		let (before, rest) = text.split_once("  \"diverged\": {").unwrap();
		let (_, after) = rest.split_once("},\n").unwrap();
		let read = Manifest::parse([before, after].concat().as_bytes()).unwrap();
		assert_eq!(read, Manifest { diverged: None, ..manifest.clone() });
		manifest.format = "other".to_owned();
		assert!(Manifest::parse(&manifest.to_bytes()).unwrap_err().contains("other"));
		assert!(Manifest::parse(b"{\"format\":").is_err());
	}

	/// An evaluation as it is written in the file.
	#[derive(Serialize, Deserialize)]
	#[serde(transparent)]
	struct Listed(#[serde(with = "validation")] Evaluation);

	#[test]
	fn an_evaluation_has_the_names_of_the_format() {
		let text = serde_json::to_string(&Listed(Evaluation::new(0.5, 350, 359))).unwrap();
		assert_eq!(text, r#"{"loss":0.5,"correct":350,"rows":359}"#);
	}

	#[test]
	fn an_invalid_specification_is_no_manifest() {
		let manifest = Manifest::new(JobSpec::example().check().unwrap(), H256::zero());
		let text = String::from_utf8(manifest.to_bytes()).unwrap();
		let text = text.replace("\"batch_size\": 32", "\"batch_size\": 0");
		let error = Manifest::parse(text.as_bytes()).unwrap_err();
		assert!(error.starts_with("its specification is invalid: "), "{error}");
	}

	/// The root binds the bits of a loss: what is read must be what was written.
	#[test]
	fn every_loss_survives_its_decimal_form() {
		let mut bits = 1u32;
		for _ in 0..200_000 {
			bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
			let loss = f32::from_bits(bits & 0x7FFF_FFFF);
			if loss.is_finite() {
				let validation = Listed(Evaluation::new(loss, 0, 1));
				let text = serde_json::to_string(&validation).unwrap();
				let Listed(read) = serde_json::from_str(&text).unwrap();
				assert_eq!(read.loss().to_bits(), loss.to_bits(), "{text}");
			}
		}
		for edge in [0.0, -0.0, f32::MIN_POSITIVE, f32::from_bits(1), f32::MAX, 0.1] {
			let validation = Listed(Evaluation::new(edge, 0, 1));
			let text = serde_json::to_string(&validation).unwrap();
			let Listed(read) = serde_json::from_str(&text).unwrap();
			assert_eq!(read.loss().to_bits(), edge.to_bits(), "{text}");
		}
		// JSON cannot hold a number that is not finite.
		let endless = Listed(Evaluation::new(f32::INFINITY, 0, 1));
		let text = serde_json::to_string(&endless).unwrap();
		assert!(serde_json::from_str::<Listed>(&text).is_err(), "{text}");
	}

	#[test]
	fn a_manifest_knows_where_training_ends() {
		let mut spec = JobSpec::example();
		spec.training.early_stop = Some(EarlyStop { patience: 2, min_delta_nano: 0 });
		let mut manifest = Manifest::new(spec.clone().check().unwrap(), H256::zero());
		assert_eq!((manifest.segments(), manifest.ends_after()), (0, None));
		for (step, loss) in [(0, 2.0), (50, 1.0), (100, 1.5), (150, 1.0)] {
			assert!(!manifest.stops_early());
			let validation = Evaluation::new(loss, 0, 1);
			let (state_hash, trace) = (H256::zero(), H256::zero());
			manifest.checkpoints.push(Checkpoint { step, state_hash, validation, trace });
		}
		assert_eq!((manifest.segments(), manifest.ends_after()), (3, Some(3)));
		assert!(manifest.stops_early());
		spec.training.steps = 150;
		manifest.spec = spec.check().unwrap();
		assert!(!manifest.stops_early(), "its end is not early");
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
