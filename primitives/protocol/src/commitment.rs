//! Hashes that bind an account to something: to a result or a challenge before it is shown, and to the
//! job that it means to train. The account in a commitment keeps others from copying it; domain and genesis
//! hash keep it from being replayed on another chain.

use crate::{
	job::{Terms, WorkResult},
	JobId, H256,
};
use codec::Encode;
use sp_crypto_hashing::blake2_256;
use trainyard_program::spec::JobSpec;

/// Returns the digest of what a job asks for and offers: `blake2_256(SCALE("trainyard/job/v1", spec,
/// terms))`. Whoever applies names it, since a job's number alone may be another job's after a fork.
pub fn job(spec: &JobSpec, terms: &Terms) -> H256 {
	(b"trainyard/job/v1", spec, terms).using_encoded(blake2_256).into()
}

/// Returns a trainer's commitment to a result: `blake2_256(SCALE("trainyard/commit/v4",
/// genesis_hash, job, account, bundle_root, true_root, model_root, segments: u32, diverged: bool, salt))`.
pub fn result<AccountId: Encode>(
	genesis: &H256,
	job: JobId,
	account: &AccountId,
	result: &WorkResult,
	salt: &[u8; 32],
) -> H256 {
	// It encodes as its fields in their order.
	(b"trainyard/commit/v4", genesis, job, account, result, salt).using_encoded(blake2_256).into()
}

/// Returns a verifier's commitment to its findings in round `round` of a job's audit:
/// `blake2_256(SCALE("trainyard/verdict/v1", genesis_hash, job, round, account, findings, salt))`.
pub fn verdict<AccountId: Encode, Findings: Encode>(
	genesis: &H256,
	job: JobId,
	round: u32,
	account: &AccountId,
	findings: &Findings,
	salt: &[u8; 32],
) -> H256 {
	(b"trainyard/verdict/v1", genesis, job, round, account, findings, salt)
		.using_encoded(blake2_256)
		.into()
}

/// Returns a challenger's commitment to what it will accuse of:
/// `blake2_256(SCALE("trainyard/challenge/v1", genesis_hash, challenger, defendant, target, claimed,
/// salt))`. The job is in the defendant.
pub fn challenge<AccountId: Encode>(
	genesis: &H256,
	challenger: &AccountId,
	defendant: &impl Encode,
	target: &impl Encode,
	claimed: &impl Encode,
	salt: &[u8; 32],
) -> H256 {
	(b"trainyard/challenge/v1", genesis, challenger, defendant, target, claimed, salt)
		.using_encoded(blake2_256)
		.into()
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::needs::MachineClass;

	#[test]
	fn a_jobs_digest_binds_specification_and_terms() {
		let spec = JobSpec::example();
		let terms = Terms {
			price_per_ut: 1,
			replicas: 1,
			verifiers: 3,
			audit_segments: 4,
			audit_fee: 5,
			apply_blocks: 6,
			training_blocks: 7,
			machine: MachineClass::Gib8,
			undecided_percent: 20,
			keep_every: 1,
			lottery: None,
		};
		let bytes = [b"trainyard/job/v1".to_vec(), spec.encode(), terms.encode()].concat();
		assert_eq!(job(&spec, &terms), H256(blake2_256(&bytes)));
		let mut other = spec.clone();
		other.training.steps += 1;
		assert_ne!(job(&other, &terms), job(&spec, &terms));
		assert_ne!(
			job(&spec, &Terms { undecided_percent: 21, ..terms.clone() }),
			job(&spec, &terms)
		);
		assert_ne!(job(&spec, &Terms { audit_fee: 6, ..terms }), job(&spec, &terms));
	}

	/// The layout is frozen: clients in other languages build it by hand.
	#[test]
	fn layout() {
		let (bundle_root, true_root, model_root) = (H256([2; 32]), H256([5; 32]), H256([3; 32]));
		let shown =
			WorkResult { bundle_root, true_root, model_root, segments: 258, diverged: false };
		let mut bytes = b"trainyard/commit/v4".to_vec();
		bytes.extend([1; 32]);
		bytes.extend(7u32.to_le_bytes());
		bytes.extend([9u8; 32]);
		bytes.extend([2; 32]);
		bytes.extend([5; 32]);
		bytes.extend([3; 32]);
		bytes.extend([2, 1, 0, 0]);
		bytes.push(0);
		bytes.extend([4; 32]);
		let made = result(&H256([1; 32]), 7, &[9u8; 32], &shown, &[4; 32]);
		assert_eq!(made, H256(blake2_256(&bytes)));
		let diverged = WorkResult { diverged: true, ..shown };
		let flag = bytes.len() - 33;
		bytes[flag] = 1;
		let made = result(&H256([1; 32]), 7, &[9u8; 32], &diverged, &[4; 32]);
		assert_eq!(made, H256(blake2_256(&bytes)));
	}

	/// The layout is frozen: clients in other languages build it by hand.
	#[test]
	fn layout_of_a_challenge() {
		// A trainer (0) of job 7, segment (1) 258, an end (0) that is a checkpoint (0).
		let defendant = (0u8, 7u32, [8u8; 32]);
		let (target, claimed) = ((1u8, 258u32), (0u8, 0u8, H256([2; 32])));
		let mut bytes = b"trainyard/challenge/v1".to_vec();
		bytes.extend([1; 32]);
		bytes.extend([9; 32]);
		bytes.extend([0, 7, 0, 0, 0]);
		bytes.extend([8; 32]);
		bytes.extend([1, 2, 1, 0, 0]);
		bytes.extend([0, 0]);
		bytes.extend([2; 32]);
		bytes.extend([4; 32]);
		let (genesis, who) = (H256([1; 32]), [9u8; 32]);
		let made = challenge(&genesis, &who, &defendant, &target, &claimed, &[4; 32]);
		assert_eq!(made, H256(blake2_256(&bytes)));
	}
}
