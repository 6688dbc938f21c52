//! What a replica says that a task results in, and its commitment to that.

use crate::{
	spec::{File, Form, TaskSpec},
	state::StateId,
	TaskId, H256,
};
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use sp_crypto_hashing::blake2_256;
use trainyard_protocol::merkle::{self, MAX_PROOF};

/// The way from a leaf to the root of a trace.
pub type Path = BoundedVec<H256, ConstU32<{ MAX_PROOF as u32 }>>;

/// What a task results in, as somebody says.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Claim {
	/// Root of the trace; of a map that of the file of its records.
	pub root: H256,
	/// The state after the last step; of a map the file of its records.
	pub output: StateId,
}

/// What shows that a trace begins with the input of its task and ends with the output of its claim. Of a
/// map it is empty.
#[derive(
	Clone,
	Debug,
	Default,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Ends {
	/// The way from the first leaf to the root.
	pub first: Path,
	/// The way from the last leaf to the root.
	pub last: Path,
}

impl Claim {
	/// Returns whether this claim is one that the task can have: its trace has as many leaves as the task
	/// has states, the first of which is the input and the last the output. So two such claims with one
	/// root are equal, and of two with different roots the traces differ after some step. (A root does not
	/// say of how many leaves it is: one of another number cannot be shown in a dispute.)
	pub fn is_of(&self, spec: &TaskSpec, ends: &Ends) -> bool {
		match spec.form {
			Form::Step { .. } => {
				let Some(count) = spec.leaves() else { return false };
				let input = StateId::Bytes(spec.input).leaf();
				let last = count.saturating_sub(1);
				let fits = |file: &File| file.bytes <= spec.limits.state;
				self.output.file().is_none_or(fits)
					&& merkle::verify(&self.root, &input, 0, count, &ends.first)
					&& merkle::verify(&self.root, &self.output.leaf(), last, count, &ends.last)
			}
			Form::Map { .. } => {
				let fits = |bytes: u32| Some(u64::from(bytes)) == spec.records();
				let no_ends = ends.first.is_empty() && ends.last.is_empty();
				let file = self.output.file();
				no_ends && file.is_some_and(|file| fits(file.bytes) && file.root == self.root)
			}
		}
	}
}

/// Returns the digest of what a task asks for and offers: `blake2_256(SCALE("trainyard/task/v1", spec,
/// terms))`. Whoever applies names it, since a task's number alone may be another's after a fork.
pub fn digest(spec: &TaskSpec, terms: &crate::TaskTerms) -> H256 {
	(b"trainyard/task/v1", spec, terms).using_encoded(blake2_256).into()
}

/// Returns the commitment of a replica, an auditor or a challenger to a claim:
/// `blake2_256(SCALE("trainyard/task/commit/v1", genesis_hash, task, account, claim, salt))`. The account
/// keeps others from copying it, the genesis hash keeps it from another chain.
pub fn commitment<AccountId: Encode>(
	genesis: &H256,
	task: TaskId,
	account: &AccountId,
	claim: &Claim,
	salt: &[u8; 32],
) -> H256 {
	(b"trainyard/task/commit/v1", genesis, task, account, claim, salt)
		.using_encoded(blake2_256)
		.into()
}

/// Returns the commitment of somebody who will show that the record of an index in a claim of a map is false:
/// `blake2_256(SCALE("trainyard/task/refute/v1", genesis_hash, task, account, claim: u8, index: u32, salt))`.
pub fn refutation<AccountId: Encode>(
	genesis: &H256,
	task: TaskId,
	account: &AccountId,
	(claim, index): (u8, u32),
	salt: &[u8; 32],
) -> H256 {
	(b"trainyard/task/refute/v1", genesis, task, account, claim, index, salt)
		.using_encoded(blake2_256)
		.into()
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{spec::testing, Descent, Trace};

	#[test]
	fn a_claim_is_bound_to_input_and_output() {
		let spec = testing::spec(Form::Step { steps: 5 });
		let (leaves, end) = Trace::run(testing::INPUT, 5, |bytes| Ok([bytes, b"x"].concat()));
		let trace = Trace::of(leaves.clone()).unwrap();
		let (claim, ends) = trace.claim(StateId::of(end.as_deref()));
		assert!(claim.is_of(&spec, &ends));
		let longer = testing::spec(Form::Step { steps: 8 });
		assert!(!claim.is_of(&longer, &ends), "a trace of another height");
		let other = TaskSpec { input: File::of(b"other"), ..spec.clone() };
		assert!(!claim.is_of(&other, &ends), "another input");
		let other = Claim { output: StateId::of(Ok(b"other")), ..claim.clone() };
		assert!(!other.is_of(&spec, &ends), "another output");
		let other = Claim { root: H256::zero(), ..claim.clone() };
		assert!(!other.is_of(&spec, &ends), "another root");
		let turned = Ends { first: ends.last.clone(), last: ends.first.clone() };
		assert!(!claim.is_of(&spec, &turned));
		assert!(!claim.is_of(&spec, &Ends::default()));
	}

	/// A root alone does not say of how many leaves it is. Whoever makes one of another number can claim
	/// it, and cannot defend it.
	#[test]
	fn a_trace_of_another_length_cannot_be_shown() {
		let spec = testing::spec(Form::Step { steps: 6 });
		let run = |steps| Trace::run(testing::INPUT, steps, |bytes| Ok([bytes, b"x"].concat()));
		let (short, end) = run(5);
		let trace = Trace::of(short.clone()).unwrap();
		let (claim, ends) = trace.claim(StateId::of(end.as_deref()));
		assert!(claim.is_of(&spec, &ends));
		let truth = Trace::of(run(6).0).unwrap();
		let descent = Descent::begin(7, [claim.root, truth.root()]).unwrap();
		assert!(descent.shows(1, truth.nodes(0, 0..7)));
		assert!(!descent.shows(0, &short));
		for more in short.iter().chain([&claim.root]) {
			let padded = [&short[..], &[*more]].concat();
			assert!(!descent.shows(0, &padded));
		}
	}

	#[test]
	fn a_map_is_its_file_of_records() {
		let spec = testing::spec(Form::Map { count: 10, most: 12 });
		let file = File::of(&[7; 160]);
		let claim = Claim { root: file.root, output: StateId::Bytes(file) };
		assert!(claim.is_of(&spec, &Ends::default()));
		let other = Claim { root: H256::zero(), ..claim.clone() };
		assert!(!other.is_of(&spec, &Ends::default()));
		let short = File::of(&[7; 159]);
		let other = Claim { root: short.root, output: StateId::Bytes(short) };
		assert!(!other.is_of(&spec, &Ends::default()));
		let fault = StateId::Fault(Default::default());
		let other = Claim { root: fault.hash(), output: fault };
		assert!(!other.is_of(&spec, &Ends::default()));
		let ends = Ends { first: vec![H256::zero()].try_into().unwrap(), ..Ends::default() };
		assert!(!claim.is_of(&spec, &ends), "nothing is left over");
	}

	/// The layout is frozen: clients in other languages build it by hand.
	#[test]
	fn layout() {
		let claim =
			Claim { root: H256([2; 32]), output: StateId::Fault(vec![5].try_into().unwrap()) };
		let mut bytes = b"trainyard/task/commit/v1".to_vec();
		bytes.extend([1; 32]);
		bytes.extend(7u32.to_le_bytes());
		bytes.extend([9u8; 32]);
		bytes.extend([2; 32]);
		bytes.extend([1, 1 << 2, 5]);
		bytes.extend([4; 32]);
		let made = commitment(&H256([1; 32]), 7, &[9u8; 32], &claim, &[4; 32]);
		assert_eq!(made, H256(blake2_256(&bytes)));
		let mut bytes = b"trainyard/task/refute/v1".to_vec();
		bytes.extend([1; 32]);
		bytes.extend(7u32.to_le_bytes());
		bytes.extend([9u8; 32]);
		bytes.extend([3, 2, 1, 0, 0]);
		bytes.extend([4; 32]);
		let made = refutation(&H256([1; 32]), 7, &[9u8; 32], (3, 258), &[4; 32]);
		assert_eq!(made, H256(blake2_256(&bytes)));
	}
}
