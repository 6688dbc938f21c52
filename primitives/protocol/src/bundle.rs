//! Hashes of a Proof-of-Training bundle: its checkpoints, and how their training ended.

use crate::{merkle, H256};
use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode, Input, MaxEncodedLen};
use core::fmt;
use scale_info::TypeInfo;
use serde::{de::Error as _, Deserialize, Deserializer, Serialize};
use trainyard_strict::canonical_bits;

/// How the model of a state does on the validation rows. A checkpoint has one, and so has a trial
/// of drilling.
///
/// Roots and results bind the bits of the loss, so it is kept, compared and encoded by them; a NaN
/// by its [canonical bits](canonical_bits). An encoding with other bits of a NaN is refused.
#[derive(
	Clone,
	Copy,
	PartialEq,
	Eq,
	PartialOrd,
	Ord,
	Encode,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
	/// The canonical bits of the mean loss, a binary32.
	#[serde(deserialize_with = "read_loss_bits")]
	loss_bits: u32,
	/// Labels that the model predicts.
	pub correct: u32,
	/// Labels: one for each row, or for each input of a text.
	pub labels: u32,
}

impl Evaluation {
	/// What stands for the evaluation of an initial state whose validation loss is infinite or NaN:
	/// training has diverged before its first step. Every other evaluation has labels.
	pub const NONE: Evaluation = Evaluation { loss_bits: 0, correct: 0, labels: 0 };

	/// Returns an evaluation with this mean loss and `correct` labels predicted of `labels`.
	pub fn new(loss: f32, correct: u32, labels: u32) -> Self {
		Self { loss_bits: canonical_bits(loss), correct, labels }
	}

	/// Returns the mean loss over the labels of the validation rows.
	pub fn loss(&self) -> f32 {
		f32::from_bits(self.loss_bits)
	}

	/// Returns the share of labels that the model predicts.
	pub fn accuracy(&self) -> f64 {
		f64::from(self.correct) / f64::from(self.labels.max(1))
	}
}

/// Why the encoding of an evaluation is refused.
const NOT_CANONICAL: &str = "the loss is a NaN by other bits than 7FC00000";

/// Returns whether these are the bits of a loss by which it is kept.
fn is_canonical(loss_bits: u32) -> bool {
	canonical_bits(f32::from_bits(loss_bits)) == loss_bits
}

fn read_loss_bits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
	let loss_bits = u32::deserialize(deserializer)?;
	is_canonical(loss_bits).then_some(loss_bits).ok_or_else(|| D::Error::custom(NOT_CANONICAL))
}

impl Decode for Evaluation {
	fn decode<I: Input>(input: &mut I) -> Result<Self, codec::Error> {
		let (loss_bits, correct, labels) = Decode::decode(input)?;
		let found = Self { loss_bits, correct, labels };
		is_canonical(loss_bits).then_some(found).ok_or_else(|| NOT_CANONICAL.into())
	}
}

impl DecodeWithMemTracking for Evaluation {}

impl fmt::Debug for Evaluation {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		let Self { correct, labels, .. } = self;
		let mut fields = f.debug_struct("Evaluation");
		fields.field("loss", &self.loss()).field("correct", correct).field("labels", labels);
		fields.finish()
	}
}

/// What a bundle commits to of one checkpoint.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
pub struct Checkpoint {
	/// Steps done.
	pub step: u32,
	/// Hash of the state after them.
	pub state: H256,
	/// Evaluation of the model in this state: whether training stops early depends on it.
	pub evaluation: Evaluation,
	/// The [sealed](crate::trace::seal) trace of the segment that ends here; of checkpoint 0, that of
	/// its evaluation alone, without a leaf where that is [`Evaluation::NONE`].
	pub trace: H256,
}

impl Checkpoint {
	/// Returns its leaf in the bundle tree: Merkle leaf over SCALE("trainyard/checkpoint/v2", step:
	/// u32, state hash, bits of the validation loss: u32, correct labels: u32, labels: u32, sealed
	/// trace).
	pub fn leaf(&self) -> H256 {
		(b"trainyard/checkpoint/v2", self).using_encoded(merkle::leaf)
	}
}

/// What a bundle commits to of a training that left the finite numbers after its last checkpoint.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
pub struct Diverged {
	/// The step in which that was noticed, or, where it was at the end of the segment, the one after
	/// its last.
	pub step: u32,
	/// The [sealed](crate::trace::seal) trace of the steps before it in this segment.
	pub trace: H256,
}

impl Diverged {
	/// Returns its leaf, the last one in the bundle tree: Merkle leaf over
	/// SCALE("trainyard/diverged/v2", step: u32, sealed trace).
	pub fn leaf(&self) -> H256 {
		(b"trainyard/diverged/v2", self).using_encoded(merkle::leaf)
	}
}

/// Returns the bundle root: Merkle root of the checkpoints' leaves in ascending step, checkpoint 0
/// included; and, where training `diverged` after the last of them, one leaf more.
pub fn bundle_root(
	checkpoints: impl IntoIterator<Item = Checkpoint>,
	diverged: Option<Diverged>,
) -> H256 {
	merkle::root(&bundle_leaves(checkpoints, diverged))
}

/// Returns the leaves under the [`bundle_root`].
pub fn bundle_leaves(
	checkpoints: impl IntoIterator<Item = Checkpoint>,
	diverged: Option<Diverged>,
) -> Vec<H256> {
	let leaves = checkpoints.into_iter().map(|checkpoint| checkpoint.leaf());
	leaves.chain(diverged.map(|diverged| diverged.leaf())).collect()
}

#[cfg(test)]
mod tests {
	use super::*;
	use sp_crypto_hashing::blake2_256;

	fn checkpoint(step: u32) -> Checkpoint {
		let evaluation = Evaluation { loss_bits: 1.5f32.to_bits(), correct: 7, labels: 9 };
		let trace = H256([step as u8 + 100; 32]);
		Checkpoint { step, state: H256([step as u8; 32]), evaluation, trace }
	}

	/// The layout is frozen: verifiers in other languages build it by hand.
	#[test]
	fn layout_of_the_leaves() {
		let mut bytes = vec![0];
		bytes.extend(b"trainyard/checkpoint/v2");
		bytes.extend(5u32.to_le_bytes());
		bytes.extend([5; 32]);
		bytes.extend(1.5f32.to_le_bytes());
		bytes.extend(7u32.to_le_bytes());
		bytes.extend(9u32.to_le_bytes());
		bytes.extend([105; 32]);
		assert_eq!(checkpoint(5).leaf(), H256(blake2_256(&bytes)));

		let mut bytes = vec![0];
		bytes.extend(b"trainyard/diverged/v2");
		bytes.extend(258u32.to_le_bytes());
		bytes.extend([7; 32]);
		let diverged = Diverged { step: 258, trace: H256([7; 32]) };
		assert_eq!(diverged.leaf(), H256(blake2_256(&bytes)));
	}

	#[test]
	fn every_nan_of_a_loss_is_the_same() {
		let (one, other) = (f32::from_bits(0x7FC0_0001), f32::from_bits(0xFF80_0001));
		assert_eq!(Evaluation::new(one, 7, 9), Evaluation::new(other, 7, 9));
		assert_eq!(Evaluation::new(one, 7, 9).encode()[..4], 0x7FC0_0000u32.to_le_bytes());
	}

	#[test]
	fn a_loss_that_is_a_nan_by_other_bits_is_not_decoded() {
		for loss_bits in [0x7FC0_0000u32, 0x7F80_0000, 0xFF80_0000, 0x8000_0000] {
			let found = Evaluation::new(f32::from_bits(loss_bits), 7, 9);
			assert_eq!(Evaluation::decode(&mut &found.encode()[..]), Ok(found));
			let text = serde_json::to_string(&found).unwrap();
			assert_eq!(serde_json::from_str::<Evaluation>(&text).unwrap(), found);
		}
		for loss_bits in [0x7FC0_0001u32, 0x7F80_0001, 0xFFC0_0000, u32::MAX] {
			let bytes = (5u32, H256::zero(), loss_bits, 7u32, 9u32).encode();
			assert!(Checkpoint::decode(&mut &bytes[..]).is_err(), "{loss_bits:08X}");
			let error = Evaluation::decode(&mut &bytes[36..]).unwrap_err().to_string();
			assert!(error.contains("7FC00000"), "{error}");
			let text = format!(r#"{{"loss_bits":{loss_bits},"correct":7,"labels":9}}"#);
			let error = serde_json::from_str::<Evaluation>(&text).unwrap_err().to_string();
			assert!(error.contains("7FC00000"), "{error}");
		}
	}

	/// Clients read evaluations in results of work units, as SCALE and as JSON.
	#[test]
	fn layout_of_an_evaluation() {
		let found = Evaluation::new(1.5, 7, 9);
		let bytes = [1.5f32.to_le_bytes(), 7u32.to_le_bytes(), 9u32.to_le_bytes()].concat();
		assert_eq!(found.encode(), bytes);
		assert_eq!(Evaluation::decode(&mut &bytes[..]).unwrap(), found);
		assert_eq!(Evaluation::max_encoded_len(), bytes.len());
		let text = serde_json::to_string(&found).unwrap();
		assert_eq!(text, r#"{"loss_bits":1069547520,"correct":7,"labels":9}"#);
		assert_eq!(serde_json::from_str::<Evaluation>(&text).unwrap(), found);
		let zero = Evaluation::new(0.0, 7, 9);
		assert_ne!(Evaluation::new(-0.0, 7, 9), zero, "bits are compared");
	}

	#[test]
	fn the_root_binds_every_part_of_every_checkpoint() {
		let all: Vec<Checkpoint> = (0..4).map(checkpoint).collect();
		let root = bundle_root(all.clone(), None);
		let diverged = Diverged { step: 4, trace: H256([9; 32]) };
		let changes: [fn(&mut Checkpoint); 6] = [
			|c| c.step += 1,
			|c| c.state = H256::zero(),
			|c| c.evaluation.loss_bits ^= 1,
			|c| c.evaluation.correct -= 1,
			|c| c.evaluation.labels += 1,
			|c| c.trace = H256::zero(),
		];
		for at in 1..4 {
			for change in changes {
				let mut other = all.clone();
				change(&mut other[at]);
				assert_ne!(bundle_root(other, None), root);
			}
			assert_ne!(bundle_root(all[..at].to_vec(), None), root, "fewer checkpoints");
			assert_ne!(bundle_root(all[..at].to_vec(), Some(diverged)), root, "it diverged");
		}
		let leaves: Vec<H256> = all.iter().map(Checkpoint::leaf).chain([diverged.leaf()]).collect();
		assert_eq!(bundle_root(all.clone(), Some(diverged)), merkle::root(&leaves));
		let later = Diverged { step: 5, ..diverged };
		let other = Diverged { trace: H256::zero(), ..diverged };
		for end in [later, other] {
			assert_ne!(bundle_root(all.clone(), Some(end)), merkle::root(&leaves));
		}
	}
}
