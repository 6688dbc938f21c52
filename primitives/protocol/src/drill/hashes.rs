//! Seeds, results and commitments of units, to the byte.

use super::{AssignmentId, ProjectId, UnitResult, CALIBRATION_CYCLES, CALIBRATION_LANES};
use crate::{
	drill::program::STATE,
	merkle,
	state::{state_hash, TensorDigest},
	H256,
};
use alloc::vec;
use codec::Encode;
use sp_crypto_hashing::blake2_256;
use trainyard_strict::whetstone::VARIABLES;

/// Returns the seed of unit `index` of `project`, from the beacon's seed after its assignment:
/// `blake2_256(SCALE("trainyard/drill/seed/v1", beacon, project, index))`.
pub fn unit_seed(beacon: &H256, project: ProjectId, index: u32) -> H256 {
	(b"trainyard/drill/seed/v1", beacon, project, index).using_encoded(blake2_256).into()
}

/// Returns a driller's commitment to the result of an assignment, or a verifier's commitment to the
/// result of its recomputation: `blake2_256(SCALE("trainyard/drill/v1", genesis_hash, assignment,
/// account, result, salt))`.
pub fn commitment<AccountId: Encode>(
	genesis: &H256,
	assignment: AssignmentId,
	account: &AccountId,
	result: &UnitResult,
	salt: &[u8; 32],
) -> H256 {
	(b"trainyard/drill/v1", genesis, assignment, account, result, salt)
		.using_encoded(blake2_256)
		.into()
}

/// Returns the result of a chain whose last `X`, `[size, size]`, has this [content
/// hash](crate::content::hash): `blake2_256(SCALE("trainyard/drill/chain/v1", state_hash))` with the
/// [`state_hash`] of the one tensor `x`.
pub fn chain_state(size: u32, content: H256) -> H256 {
	(b"trainyard/drill/chain/v1", only(vec![size, size], content)).using_encoded(blake2_256).into()
}

/// Returns the result of a calibration whose lanes, `[VARIABLES, CALIBRATION_LANES]`, end with this
/// content hash: `blake2_256(SCALE("trainyard/drill/calibration/v1", state_hash, cycles: u32))`
/// with the [`state_hash`] of the one tensor `x` and [`CALIBRATION_CYCLES`].
pub fn calibration_state(content: H256) -> H256 {
	let state = only(vec![VARIABLES as u32, CALIBRATION_LANES], content);
	(b"trainyard/drill/calibration/v1", state, CALIBRATION_CYCLES).using_encoded(blake2_256).into()
}

/// Returns the result of a trial: `blake2_256(SCALE("trainyard/drill/trial/v1", state_hash, root))`
/// with the [`state_hash`] of the training state at its end, and the Merkle root of its trace: a
/// leaf for each step and one for the evaluation at the end ([`crate::trace`]). So even a step that
/// does not change the state cannot be left out.
pub fn trial_state(state_hash: &H256, trace: &[H256]) -> H256 {
	(b"trainyard/drill/trial/v1", state_hash, merkle::root(trace)).using_encoded(blake2_256).into()
}

/// Returns the result of a trial that diverged in `step` (from 0): its loss, or a parameter after
/// it, is not a number (or in the evaluation at the end, which counts as the step after the last):
/// `blake2_256(SCALE("trainyard/drill/diverged/v1", step: u32, root))` with the Merkle root of the
/// trace of the steps before.
pub fn diverged_state(step: u32, trace: &[H256]) -> H256 {
	(b"trainyard/drill/diverged/v1", step, merkle::root(trace)).using_encoded(blake2_256).into()
}

/// Returns the hash of a state of one tensor, `x`.
fn only(shape: alloc::vec::Vec<u32>, content: H256) -> H256 {
	state_hash(vec![TensorDigest::of_f32(STATE.into(), shape, content)])
}
