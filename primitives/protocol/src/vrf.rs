//! What a verifier draws for itself, by a verifiable random function (VRF).
//!
//! Whoever sits in a round signs what the round is, by the key that the chain had of it before the
//! seed formed. The signature has one output, which nobody can choose and nobody else can compute
//! before it is shown, and from which the segments of that seat are drawn. The VRF is the one of
//! sr25519 (schnorrkel on Ristretto), with the bytes and transcripts of `sp_core::sr25519::vrf`.

use crate::{draw, JobId, H256};
use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use merlin::Transcript;
use rand_core::{CryptoRng, RngCore};
use scale_info::TypeInfo;
use schnorrkel::{
	context::attach_rng,
	vrf::{VRFPreOut, VRFProof, VRF_PREOUT_LENGTH, VRF_PROOF_LENGTH},
	Keypair, PublicKey, PUBLIC_KEY_LENGTH,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Label of the transcript that is signed.
const DRAW: &[u8] = b"trainyard/draw/v1";
/// Context in which the bytes of an output are taken.
const OUTPUT: &[u8] = b"trainyard/segments/v1";
/// Domain, with the index of a result, of the draw of its segments from an output.
const OWN: &[u8; 16] = b"trainyard/own/v1";
/// Domain, with the index of a tensor, of the draw of the chunks that are read of it.
const MOVEMENT: &[u8; 21] = b"trainyard/movement/v1";

/// A public key: a compressed point of Ristretto.
pub type VrfKey = [u8; PUBLIC_KEY_LENGTH];

/// What a seat draws for. Chain, job and round keep an output from being used a second time, the
/// seed keeps it from being known before, and the account keeps two seats with one key apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject<'a, AccountId> {
	/// Hash of the chain's first block.
	pub genesis: &'a H256,
	/// Whose audit.
	pub job: JobId,
	/// Its round, from 0.
	pub round: u32,
	/// Seed from which the committee of this round was drawn.
	pub seed: &'a H256,
	/// The verifier.
	pub account: &'a AccountId,
}

impl<AccountId: Encode> Subject<'_, AccountId> {
	/// Returns the transcript: its label, and then each field by its name, as its SCALE bytes.
	pub fn transcript(&self) -> Transcript {
		let mut transcript = Transcript::new(DRAW);
		transcript.append_message(b"genesis", &self.genesis.0);
		transcript.append_message(b"job", &self.job.to_le_bytes());
		transcript.append_message(b"round", &self.round.to_le_bytes());
		transcript.append_message(b"seed", &self.seed.0);
		self.account.using_encoded(|account| transcript.append_message(b"account", account));
		transcript
	}
}

/// A signature with its output, not checked. It has the bytes of `sp_core::sr25519::vrf::VrfSignature`.
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
)]
pub struct VrfSignature {
	/// The point from which the output is hashed.
	pub pre_output: [u8; VRF_PREOUT_LENGTH],
	/// The proof that it is the only one of this key.
	pub proof: [u8; VRF_PROOF_LENGTH],
}

/// Writes the bytes as three words of 32: the point and both halves of the proof.
impl Serialize for VrfSignature {
	fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
		let mut halves = [H256::zero(); 2];
		for (half, bytes) in halves.iter_mut().zip(self.proof.chunks(32)) {
			half.0.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
		}
		(H256(self.pre_output), halves).serialize(serializer)
	}
}

impl<'de> Deserialize<'de> for VrfSignature {
	fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
		let (point, halves) = <(H256, [H256; 2])>::deserialize(deserializer)?;
		let mut proof = [0; VRF_PROOF_LENGTH];
		for (bytes, half) in proof.chunks_mut(32).zip(halves) {
			bytes.iter_mut().zip(half.0).for_each(|(to, from)| *to = from);
		}
		Ok(Self { pre_output: point.0, proof })
	}
}

/// Returns whether somebody can sign by `key`: it is a point, and not the neutral one, whose outputs
/// no verification takes.
pub fn is_key(key: &VrfKey) -> bool {
	*key != VrfKey::default() && PublicKey::from_bytes(key).is_ok()
}

/// Returns the output of `signature`, if it is that of `key` for `subject`.
pub fn output<AccountId: Encode>(
	key: &VrfKey,
	subject: &Subject<AccountId>,
	signature: &VrfSignature,
) -> Option<H256> {
	let key = PublicKey::from_bytes(key).ok()?;
	let pre_output = VRFPreOut::from_bytes(&signature.pre_output).ok()?;
	let proof = VRFProof::from_bytes(&signature.proof).ok()?;
	let (in_out, _) = key.vrf_verify(subject.transcript(), &pre_output, &proof).ok()?;
	Some(H256(in_out.make_bytes(OUTPUT)))
}

/// Signs `subject`. The output is always the same, the proof never.
#[cfg(feature = "std")]
pub fn sign<AccountId: Encode>(pair: &Keypair, subject: &Subject<AccountId>) -> VrfSignature {
	let (in_out, proof, _) = pair.vrf_sign(subject.transcript());
	VrfSignature { pre_output: in_out.to_preout().to_bytes(), proof: proof.to_bytes() }
}

/// As `sign` does, with randomness from `random`, for where a system has none. Whoever can guess what `random`
/// returns learns the secret key from the proof.
pub fn sign_with<AccountId: Encode>(
	pair: &Keypair,
	subject: &Subject<AccountId>,
	random: impl RngCore + CryptoRng,
) -> VrfSignature {
	// What `vrf_sign` does, but for the source of randomness.
	let extra = attach_rng(Transcript::new(b"VRF"), random);
	let (in_out, proof, _) = pair.vrf_sign_extra(subject.transcript(), extra);
	VrfSignature { pre_output: in_out.to_preout().to_bytes(), proof: proof.to_bytes() }
}

/// Draws what the seat with this `output` replays of result `group`: `count` of its `segments`, or
/// all where it has fewer, in ascending order.
pub fn own_segments(output: &H256, group: u32, segments: u32, count: u32) -> Vec<u32> {
	draw::distinct(&(OWN, group).encode(), output, segments, count)
}

/// Draws which chunks the seat with this `output` reads of a tensor that has `chunks` of them, to see
/// how far it moves from checkpoint to checkpoint: `count`, or all where it has fewer, in ascending
/// order. `tensor` is its index among the tensors of a state in ascending bytewise order of name.
pub fn own_chunks(output: &H256, tensor: u32, chunks: u32, count: u32) -> Vec<u32> {
	draw::distinct(&(MOVEMENT, tensor).encode(), output, chunks, count)
}

#[cfg(test)]
mod tests {
	use super::*;
	use schnorrkel::{ExpansionMode, MiniSecretKey};

	const GENESIS: H256 = H256([1; 32]);
	const SEED: H256 = H256([2; 32]);
	const WHO: [u8; 32] = [3; 32];
	const SUBJECT: Subject<'static, [u8; 32]> =
		Subject { genesis: &GENESIS, job: 258, round: 1, seed: &SEED, account: &WHO };

	fn pair(seed: u8) -> Keypair {
		MiniSecretKey::from_bytes(&[seed; 32]).unwrap().expand_to_keypair(ExpansionMode::Ed25519)
	}

	fn key(seed: u8) -> VrfKey {
		pair(seed).public.to_bytes()
	}

	fn bytes<const N: usize>(text: &str) -> [u8; N] {
		hex::decode(text).unwrap().try_into().unwrap()
	}

	/// Frozen: clients in other languages draw by this.
	#[test]
	fn vectors() {
		let signature = VrfSignature {
			pre_output: bytes("36af5693aaca2a1dcfbb181d0b76ca5b94eac74122c5b8fbe5c4ed7c770c860d"),
			proof: bytes(concat!(
				"4dfb7450d5a384cda1d7bfb768112a8b2ec48279516104dc5fa2a4f7b8540a0e",
				"95c544ddfe058861c020ee6a78e13a55f7545d4dbf31a96c8a9fee6c4657e507",
			)),
		};
		let output = output(&key(7), &SUBJECT, &signature).unwrap();
		assert_eq!(
			hex::encode(key(7)),
			"7c0f469d3bd340bae718203fa30ca071a5e37c751e891dbded837b213d45d91d"
		);
		assert_eq!(
			hex::encode(output),
			"e3e47669a5b58cd97f98d50b884e1571afb1fc3db6e849f616b81f704f7b1210"
		);
		assert_eq!(own_segments(&output, 0, 1_000, 5), [364, 544, 570, 824, 838]);
		assert_eq!(own_segments(&output, 1, 1_000, 5), [225, 436, 556, 689, 867]);
		assert_eq!(own_segments(&output, 0, 4, 5), [0, 1, 2, 3]);
		assert_eq!(signature.encode(), [&signature.pre_output[..], &signature.proof].concat());
		let text = serde_json::to_string(&signature).unwrap();
		assert_eq!(serde_json::from_str::<VrfSignature>(&text).unwrap(), signature);
		let words = [&text[4..68], &text[74..138], &text[143..207]].concat();
		assert_eq!(words, hex::encode(signature.encode()), "{text}");
	}

	/// The randomness is of the proof alone.
	#[test]
	fn an_output_is_the_same_whatever_is_random() {
		let signed = [sign(&pair(7), &SUBJECT), sign_with(&pair(7), &SUBJECT, rand_core::OsRng)];
		assert_eq!(signed[0].pre_output, signed[1].pre_output);
		assert_ne!(signed[0].proof, signed[1].proof);
		assert!(signed.iter().all(|by| output(&key(7), &SUBJECT, by).is_some()));
	}

	/// The domain is its 16 bytes without a length, and the index.
	#[test]
	fn layout_of_the_domain_of_own_draws() {
		let domain = [&b"trainyard/own/v1"[..], &[2, 1, 0, 0]].concat();
		let expected = draw::distinct(&domain, &SEED, 1_000, 7);
		assert_eq!(own_segments(&SEED, 258, 1_000, 7), expected);
	}

	#[test]
	fn layout_of_the_domain_of_own_chunks() {
		let domain = [&b"trainyard/movement/v1"[..], &[2, 1, 0, 0]].concat();
		let expected = draw::distinct(&domain, &SEED, 4_096, 2);
		assert_eq!(own_chunks(&SEED, 258, 4_096, 2), expected);
		assert_ne!(own_chunks(&SEED, 259, 4_096, 2), expected);
	}

	/// Nobody gets a second draw by signing again.
	#[test]
	fn an_output_is_the_only_one_of_its_key() {
		let (one, two) = (sign(&pair(7), &SUBJECT), sign(&pair(7), &SUBJECT));
		assert_ne!(one.proof, two.proof);
		let outputs = [one, two].map(|signature| output(&key(7), &SUBJECT, &signature).unwrap());
		assert_eq!(outputs[0], outputs[1]);
	}

	#[test]
	fn whatever_is_another_has_another_output_and_no_signature() {
		let (genesis, seed, account) = (H256([9; 32]), H256([8; 32]), [4; 32]);
		let signature = sign(&pair(7), &SUBJECT);
		let right = output(&key(7), &SUBJECT, &signature).unwrap();
		for other in [
			Subject { genesis: &genesis, ..SUBJECT },
			Subject { job: 259, ..SUBJECT },
			Subject { round: 2, ..SUBJECT },
			Subject { seed: &seed, ..SUBJECT },
			Subject { account: &account, ..SUBJECT },
			// What is signed is not only the bytes in a row.
			Subject { job: 1, round: 258, ..SUBJECT },
		] {
			assert_eq!(output(&key(7), &other, &signature), None, "{other:?}");
			let own = output(&key(7), &other, &sign(&pair(7), &other)).unwrap();
			assert_ne!(own, right, "{other:?}");
			assert_ne!(own_segments(&own, 0, 1_000, 15), own_segments(&right, 0, 1_000, 15));
		}
		assert_eq!(output(&key(8), &SUBJECT, &signature), None);
		let own = output(&key(8), &SUBJECT, &sign(&pair(8), &SUBJECT)).unwrap();
		assert_ne!(own, right);
	}

	#[test]
	fn each_result_has_a_draw_of_its_own() {
		assert_ne!(own_segments(&SEED, 0, 1_000, 15), own_segments(&SEED, 1, 1_000, 15));
	}

	#[test]
	fn what_was_changed_is_refused() {
		let good = sign(&pair(7), &SUBJECT);
		let check = |signature: &VrfSignature| output(&key(7), &SUBJECT, signature);
		assert!(check(&good).is_some());
		for bit in (0..256).step_by(5) {
			let mut bad = good;
			bad.pre_output[bit / 8] ^= 1 << (bit % 8);
			assert_eq!(check(&bad), None, "bit {bit} of the point");
		}
		for bit in (0..512).step_by(7) {
			let mut bad = good;
			bad.proof[bit / 8] ^= 1 << (bit % 8);
			assert_eq!(check(&bad), None, "bit {bit} of the proof");
		}
		// Another's point with this proof, and the other way round.
		let other = sign(&pair(8), &SUBJECT);
		assert_eq!(check(&VrfSignature { pre_output: other.pre_output, ..good }), None);
		assert_eq!(check(&VrfSignature { proof: other.proof, ..good }), None);
	}

	/// Scalars are below the order of the group, so that no signature has a second form.
	#[test]
	fn no_scalar_of_a_proof_has_two_forms() {
		let order: [u8; 32] =
			bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
		let good = sign(&pair(7), &SUBJECT);
		for half in 0..2 {
			let mut bad = good;
			let mut carry = 0u16;
			for (byte, add) in bad.proof[32 * half..][..32].iter_mut().zip(order) {
				let sum = u16::from(*byte) + u16::from(add) + carry;
				(*byte, carry) = (sum as u8, sum >> 8);
			}
			assert_eq!(carry, 0, "it still fits");
			assert_eq!(output(&key(7), &SUBJECT, &bad), None, "half {half}");
		}
	}

	#[test]
	fn a_key_is_a_point_that_can_sign() {
		assert!(is_key(&key(7)));
		assert!(!is_key(&[0; 32]), "the neutral point");
		// An odd number, and one that is not below the prime, are no encodings.
		let mut odd = key(7);
		odd[0] |= 1;
		assert!(!is_key(&odd) && !is_key(&[0xff; 32]));
		let nobody = VrfSignature { pre_output: [0; 32], proof: [0; 64] };
		assert_eq!(output(&[0; 32], &SUBJECT, &nobody), None);
		assert_eq!(output(&odd, &SUBJECT, &sign(&pair(7), &SUBJECT)), None);
	}
}
