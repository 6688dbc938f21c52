//! Joins: what stands above all results of a computation.

use super::{Computation, Lowered};
use crate::case::{Refused, Value, Verdict};
use alloc::vec::Vec;
use trainyard_program::ops::Role;
use trainyard_protocol::{content, court, merkle, H256};

/// What a defendant said of a step beside its results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepEnd {
	/// Hash of the state after it.
	pub state: H256,
	/// The loss.
	pub loss: f32,
	/// Content hash of the logits.
	pub logits: H256,
}

/// What a defendant said of a slice beside its results: the content hashes of losses and of correct
/// labels in its leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceEnd {
	/// Content hash of the losses.
	pub losses: H256,
	/// Content hash of the correct labels.
	pub correct: H256,
}

/// Decides about the end of a step whose results are agreed, `results` being the prefix root over all
/// of them: whether state, loss and logits are those among the results. `contents` are the contents
/// of all results, in order.
pub fn step_join(
	lowered: &Lowered<'_>,
	results: &H256,
	end: &StepEnd,
	contents: &[H256],
) -> Result<Verdict, Refused> {
	let Computation::Step { .. } = lowered.computation() else { return Err(Refused::NoSuchPiece) };
	check(lowered, results, contents)?;
	let loss = content::hash(&content::le_bytes(&[end.loss]));
	let state = state_after(lowered, contents)?;
	first_difference([
		(state, end.state),
		(result(lowered, Role::Loss, contents)?, loss),
		(result(lowered, Role::Logits, contents)?, end.logits),
	])
}

/// Decides about the end of a slice whose results are agreed, as [`step_join`].
pub fn slice_join(
	lowered: &Lowered<'_>,
	results: &H256,
	end: &SliceEnd,
	contents: &[H256],
) -> Result<Verdict, Refused> {
	let Computation::Slice { .. } = lowered.computation() else {
		return Err(Refused::NoSuchPiece);
	};
	check(lowered, results, contents)?;
	first_difference([
		(result(lowered, Role::RowLosses, contents)?, end.losses),
		(result(lowered, Role::Correct, contents)?, end.correct),
	])
}

/// Returns the hash of the state after a step with these contents of all results. Every tensor of the
/// state has a next value, whatever the specification: fails with [`Refused::NoSuchPiece`] where one
/// has none.
pub fn state_after(lowered: &Lowered<'_>, contents: &[H256]) -> Result<H256, Refused> {
	let next = lowered.next();
	let content = |result: Option<u32>| content_of(result, contents);
	let after = next.into_iter().map(content).collect::<Option<Vec<_>>>();
	after.and_then(|after| lowered.state().hash(&after)).ok_or(Refused::NoSuchPiece)
}

/// Returns the content of the result with this role.
fn result(lowered: &Lowered<'_>, role: Role, contents: &[H256]) -> Result<H256, Refused> {
	content_of(lowered.find(role), contents).ok_or(Refused::NoSuchPiece)
}

fn content_of(result: Option<u32>, contents: &[H256]) -> Option<H256> {
	contents.get(usize::try_from(result?).ok()?).copied()
}

/// Checks that these are the contents of all results under the agreed root.
fn check(lowered: &Lowered<'_>, results: &H256, contents: &[H256]) -> Result<(), Refused> {
	if contents.len() != lowered.parts().len() || results_root(contents) != *results {
		return Err(Refused::WrongOpening);
	}
	Ok(())
}

/// Returns the prefix root over the leaves of results with these contents.
pub fn results_root(contents: &[H256]) -> H256 {
	let leaves = (0..).zip(contents).map(|(index, content)| court::result_leaf(index, content));
	merkle::root(&leaves.collect::<Vec<_>>())
}

/// Compares pairs of what was found and what was claimed.
fn first_difference<const N: usize>(pairs: [(H256, H256); N]) -> Result<Verdict, Refused> {
	let verdicts =
		pairs.map(|(found, claimed)| Verdict::of(Value::Digest(found), Value::Digest(claimed)));
	let other = verdicts.into_iter().find(|verdict| !verdict.is_same());
	Ok(other.unwrap_or(Verdict::Same))
}
