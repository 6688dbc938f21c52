//! Forced errors: leaves of a bundle whose trace a trainer makes false on purpose.
//!
//! Whoever says of a result that it is right, and did not replay it, is found by them: at places that
//! nobody knows but the trainer, the committed root has a trace that no replay gives. State and evaluation
//! of such a leaf are true, since the next segment begins there. A second committed root, by which
//! replicas are compared, has the true traces.
//!
//! The places follow from the assignment seed, which nobody knows before trainers apply, and a secret to
//! which each is bound since it applied; so no trainer chooses them. After the committee has revealed, the
//! trainer [opens](Opening) them.

use crate::{
	bundle::Checkpoint,
	draw,
	duties::{forced_errors, MAX_FORCED},
	job::WorkResult,
	merkle::{self, MAX_PROOF},
	trace::seal,
	H256,
};
use alloc::vec::Vec;
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use sp_crypto_hashing::blake2_256;

/// Domain of the draw of the indices, and of what stands for a trace.
const DOMAIN: &[u8; 19] = b"trainyard/forced/v1";
/// Most hashes beside the forced leaves of a result: a path for each.
pub const MAX_SIBLINGS: u32 = MAX_FORCED * MAX_PROOF as u32;

/// What a trainer draws the indices of its forced leaves from, with the assignment seed.
pub type Secret = [u8; 32];

/// Returns what a trainer is bound to when it applies: `blake2_256(SCALE(secret))`.
pub fn commitment(secret: &Secret) -> H256 {
	secret.using_encoded(blake2_256).into()
}

/// Returns the indices of the forced leaves of a result with that many `segments`, ascending: of
/// [`forced_errors`] of the leaves `1..=segments`, by the assignment `seed` and the secret. Neither the
/// initial state nor the end of a run that diverged is ever forced.
pub fn indices(seed: &H256, secret: &Secret, segments: u32) -> Vec<u32> {
	let seed = (seed, secret).using_encoded(blake2_256).into();
	let drawn = draw::distinct(DOMAIN, &seed, segments, forced_errors(segments));
	drawn.into_iter().map(|segment| segment.saturating_add(1)).collect()
}

/// Returns what stands for the trace root of the forced leaf `index`:
/// `blake2_256(SCALE("trainyard/forced/v1", secret, index: u32))`.
pub fn trace_root(secret: &Secret, index: u32) -> H256 {
	(DOMAIN, secret, index).using_encoded(blake2_256).into()
}

/// Returns a leaf as it is in the bundle where it is forced: with the [sealed](seal) [trace
/// root](trace_root) that stands for its own.
pub fn forced(secret: &Secret, index: u32, leaf: &Checkpoint) -> Checkpoint {
	Checkpoint { trace: seal(&trace_root(secret, index)), ..*leaf }
}

/// A forced leaf that was opened.
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
pub struct Forced {
	/// Index of the leaf.
	pub index: u32,
	/// Its sealed trace in the bundle.
	pub shown: H256,
	/// Its true sealed trace.
	pub trace: H256,
}

/// The forced leaves of a result, ascending.
pub type AllForced = BoundedVec<Forced, ConstU32<MAX_FORCED>>;

/// What opens the forced leaves of a result.
#[derive(
	Clone,
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
pub struct Opening {
	/// These leaves as they were computed, ascending.
	pub leaves: BoundedVec<Checkpoint, ConstU32<MAX_FORCED>>,
	/// The hashes beside them, as [`proof_many`](merkle::proof_many) returns them. Both roots have the
	/// same, which shows that they are equal everywhere else.
	pub siblings: BoundedVec<H256, ConstU32<MAX_SIBLINGS>>,
}

impl Opening {
	/// Returns what opens a result of these `checkpoints`, as they were computed, and of the `leaves`
	/// that they and the end of a run that diverged have. `None` where there are too many.
	pub fn of(
		seed: &H256,
		secret: &Secret,
		checkpoints: &[Checkpoint],
		leaves: &[H256],
	) -> Option<Self> {
		let segments = u32::try_from(checkpoints.len()).ok()?.checked_sub(1)?;
		let indices = indices(seed, secret, segments);
		let siblings = match indices.is_empty() {
			true => Vec::new(),
			false => merkle::proof_many(leaves, &indices)?,
		};
		let at = |index: &u32| checkpoints.get(usize::try_from(*index).ok()?).copied();
		let opened = indices.iter().map(at).collect::<Option<Vec<_>>>()?;
		Some(Self { leaves: opened.try_into().ok()?, siblings: siblings.try_into().ok()? })
	}

	/// Returns the forced leaves of `result`. `None` unless these are just those that seed and secret draw,
	/// each has in the bundle root what stands for its trace and in the true root another one, and both
	/// roots are equal in all other leaves.
	pub fn check(&self, seed: &H256, secret: &Secret, result: &WorkResult) -> Option<AllForced> {
		let indices = indices(seed, secret, result.segments);
		if indices.len() != self.leaves.len() {
			return None;
		}
		if indices.is_empty() {
			let equal = result.bundle_root == result.true_root && self.siblings.is_empty();
			return equal.then(AllForced::default);
		}
		let (mut shown, mut computed, mut all) = (Vec::new(), Vec::new(), AllForced::default());
		for (index, leaf) in indices.into_iter().zip(&self.leaves) {
			let in_bundle = forced(secret, index, leaf);
			let opened = Forced { index, shown: in_bundle.trace, trace: leaf.trace };
			if opened.shown == opened.trace || all.try_push(opened).is_err() {
				return None;
			}
			shown.push((index, in_bundle.leaf()));
			computed.push((index, leaf.leaf()));
		}
		let root = |leaves: &[_]| merkle::root_by_many(leaves, result.leaves(), &self.siblings);
		let fits =
			root(&shown) == Some(result.bundle_root) && root(&computed) == Some(result.true_root);
		fits.then_some(all)
	}
}

/// Returns the checkpoints of a bundle, which were computed as `checkpoints`, with those made false that
/// seed and secret draw.
pub fn mark(seed: &H256, secret: &Secret, checkpoints: &[Checkpoint]) -> Vec<Checkpoint> {
	let segments = u32::try_from(checkpoints.len()).unwrap_or(u32::MAX).saturating_sub(1);
	let drawn = indices(seed, secret, segments);
	let leaf = |(index, leaf): (u32, &Checkpoint)| match drawn.binary_search(&index) {
		Ok(_) => forced(secret, index, leaf),
		Err(_) => *leaf,
	};
	(0u32..).zip(checkpoints).map(leaf).collect()
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::bundle::{bundle_leaves, Diverged, Evaluation};

	const SECRET: Secret = [7; 32];
	const SEED: H256 = H256([8; 32]);

	fn checkpoints(segments: u32) -> Vec<Checkpoint> {
		(0..=segments)
			.map(|step| Checkpoint {
				step,
				state: H256([step as u8; 32]),
				evaluation: Evaluation::new(1.5, 3, 20),
				trace: seal(&H256([step as u8 + 1; 32])),
			})
			.collect()
	}

	fn result(segments: u32, end: Option<Diverged>) -> (WorkResult, Opening) {
		let computed = checkpoints(segments);
		let leaves = bundle_leaves(computed.iter().copied(), end);
		let shown = bundle_leaves(mark(&SEED, &SECRET, &computed), end);
		let result = WorkResult {
			bundle_root: merkle::root(&shown),
			true_root: merkle::root(&leaves),
			model_root: H256::zero(),
			segments,
			diverged: end.is_some(),
		};
		(result, Opening::of(&SEED, &SECRET, &computed, &leaves).unwrap())
	}

	/// Frozen: trainers and verifiers in other languages compute these.
	#[test]
	fn layout() {
		assert_eq!(commitment(&SECRET), H256(blake2_256(&[7; 32])));
		let mut bytes = b"trainyard/forced/v1".to_vec();
		bytes.extend([7; 32]);
		bytes.extend([2, 1, 0, 0]);
		assert_eq!(trace_root(&SECRET, 258), H256(blake2_256(&bytes)));
		let mut sealed = b"trainyard/trace/v2".to_vec();
		sealed.extend(blake2_256(&bytes));
		let leaf = checkpoints(0)[0];
		let made = forced(&SECRET, 258, &leaf);
		assert_eq!(made, Checkpoint { trace: H256(blake2_256(&sealed)), ..leaf });
		// The draw: of 100 segments seven, by a seed of seed and secret.
		let seed = blake2_256(&[[8; 32], [7; 32]].concat());
		let drawn = draw::distinct(b"trainyard/forced/v1", &H256(seed), 100, 7);
		let all: Vec<u32> = drawn.iter().map(|segment| segment + 1).collect();
		assert_eq!(indices(&SEED, &SECRET, 100), all);
		assert_eq!((indices(&SEED, &SECRET, 1), indices(&SEED, &SECRET, 0)), (vec![1], vec![]));
		let forced = Forced { index: 258, shown: H256([1; 32]), trace: H256([2; 32]) };
		let bytes = [&[2, 1, 0, 0][..], &[1; 32], &[2; 32]].concat();
		assert_eq!(forced.encode(), bytes);
		let opening = Opening {
			leaves: vec![leaf].try_into().unwrap(),
			siblings: vec![H256([3; 32])].try_into().unwrap(),
		};
		assert_eq!(opening.encode(), [&[4][..], &leaf.encode(), &[4], &[3; 32]].concat());
	}

	#[test]
	fn what_is_forced_is_opened() {
		let end = Diverged { step: 9, trace: H256([9; 32]) };
		for (segments, end) in [
			(1, None),
			(2, None),
			(16, None),
			(17, None),
			(100, None),
			(40, Some(end)),
			(1, Some(end)),
		] {
			let (result, opening) = result(segments, end);
			let all = opening.check(&SEED, &SECRET, &result).unwrap();
			assert_eq!(all.len() as u32, forced_errors(segments));
			assert_ne!(result.bundle_root, result.true_root);
			for Forced { index, shown, trace } in all {
				assert!((1..=segments).contains(&index));
				assert_eq!(trace, checkpoints(segments)[index as usize].trace);
				assert_eq!(shown, seal(&trace_root(&SECRET, index)));
			}
		}
		// What diverged before the end of its first segment has no leaf to force.
		let (nothing, opening) = result(0, Some(end));
		assert_eq!(nothing.bundle_root, nothing.true_root);
		assert_eq!(opening.check(&SEED, &SECRET, &nothing), Some(AllForced::default()));
		let other = WorkResult { true_root: H256([1; 32]), ..nothing };
		assert_eq!(opening.check(&SEED, &SECRET, &other), None);
	}

	/// Forced errors at other places, too few, none, another secret, another true leaf, and a second
	/// difference between the roots.
	#[test]
	fn anything_else_is_refused() {
		let (result, opening) = result(40, None);
		let refused = |opening: &Opening, result: &WorkResult| {
			assert_eq!(opening.check(&SEED, &SECRET, result), None);
		};
		assert_eq!(opening.check(&SEED, &[9; 32], &result), None);
		assert_eq!(opening.check(&H256([9; 32]), &SECRET, &result), None);
		for at in 0..opening.leaves.len() {
			let mut other = opening.clone();
			other.leaves[at].trace = H256([1; 32]);
			refused(&other, &result);
			let mut other = opening.clone();
			other.leaves[at].state = H256([200; 32]);
			refused(&other, &result);
		}
		let mut fewer = opening.clone();
		fewer.leaves.pop();
		refused(&fewer, &result);
		let mut longer = opening.clone();
		longer.siblings.try_push(H256::zero()).unwrap();
		refused(&longer, &result);
		refused(&Opening { siblings: Default::default(), ..opening.clone() }, &result);
		// A root without any, or with one that is not drawn.
		refused(&opening, &WorkResult { bundle_root: result.true_root, ..result });
		let computed = checkpoints(40);
		let drawn = indices(&SEED, &SECRET, 40);
		let other = (1..=40).find(|index| !drawn.contains(index)).unwrap();
		for more in [other, 0] {
			let mut shown = mark(&SEED, &SECRET, &computed);
			shown[more as usize] = forced(&SECRET, more, &computed[more as usize]);
			let bundle_root = merkle::root(&bundle_leaves(shown, None));
			refused(&opening, &WorkResult { bundle_root, ..result });
		}
		let mut shown = mark(&SEED, &SECRET, &computed);
		shown[drawn[0] as usize] = computed[drawn[0] as usize];
		let bundle_root = merkle::root(&bundle_leaves(shown, None));
		refused(&opening, &WorkResult { bundle_root, ..result });
		refused(&opening, &WorkResult { segments: 39, ..result });
		// What stands for a trace is no true one.
		let mut same = computed.clone();
		same[drawn[0] as usize] = forced(&SECRET, drawn[0], &computed[drawn[0] as usize]);
		let leaves = bundle_leaves(same.iter().copied(), None);
		let opening = Opening::of(&SEED, &SECRET, &same, &leaves).unwrap();
		refused(&opening, &WorkResult { true_root: merkle::root(&leaves), ..result });
	}
}
