//! Says where a result parts from what was computed here, and what it is accused of.

use super::party::PartyError;
use std::collections::BTreeSet;
use trainyard_client::{
	court::{Accusation, Defendant},
	AccountId32, JobView,
};
use trainyard_court::game::{player::Record, Claimed, Leaf, LeafContent, Target};
use trainyard_proof::court::{Claims, RecordError, Recorder};
use trainyard_protocol::{
	accusation::Peaks,
	blob::Chunked,
	bundle::{bundle_leaves, Checkpoint},
	forced::Forced,
	job::{JobState, WorkResult},
	merkle,
};

/// A result in the clear.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
	/// What is committed to.
	pub result: &'a WorkResult,
	/// Its leaves.
	pub claims: &'a Claims,
	/// Those of them that its trainer opened as forced.
	pub forced: &'a [Forced],
}

impl Shown<'_> {
	/// Returns whether the leaves are those under the root, as many as were revealed.
	pub fn is_whole(&self) -> bool {
		let Claims { checkpoints, diverged } = self.claims;
		let segments = u32::try_from(checkpoints.len()).ok().and_then(|n| n.checked_sub(1));
		let root = merkle::root(&bundle_leaves(checkpoints.iter().copied(), *diverged));
		root == self.result.bundle_root
			&& segments == Some(self.result.segments)
			&& diverged.is_some() == self.result.diverged
	}

	/// Returns what a leaf says, with its true trace where it was opened as forced.
	fn computed(&self, index: u32) -> Option<LeafContent> {
		let leaf = self.leaf(index)?;
		let forced = self.forced.iter().find(|forced| forced.index == index);
		Some(match (leaf, forced) {
			(LeafContent::Checkpoint(leaf), Some(forced)) if leaf.trace == forced.shown => {
				LeafContent::Checkpoint(Checkpoint { trace: forced.trace, ..leaf })
			}
			(leaf, _) => leaf,
		})
	}

	/// Returns what a leaf says.
	fn leaf(&self, index: u32) -> Option<LeafContent> {
		let Claims { checkpoints, diverged } = self.claims;
		match checkpoints.get(index as usize) {
			Some(checkpoint) => Some(LeafContent::Checkpoint(*checkpoint)),
			None if index as usize == checkpoints.len() => diverged.map(LeafContent::Diverged),
			None => None,
		}
	}
}

/// Returns the first thing at which `theirs` is another result than `own`; `None` where both say the
/// same.
pub fn parting(own: Shown<'_>, theirs: Shown<'_>) -> Option<Target> {
	for index in 0u32.. {
		match (own.computed(index), theirs.computed(index)) {
			(None, None) => break,
			(own, theirs) if own == theirs => {}
			(Some(_), Some(_)) => {
				return Some(index.checked_sub(1).map_or(Target::Start, Target::Segment));
			}
			// One of them ended sooner, and nothing before says why.
			_ => return Some(Target::Stop),
		}
	}
	(own.result.model_root != theirs.result.model_root).then_some(Target::Model)
}

/// Returns the leaves of a result that its trainer opened as forced.
pub fn forced_of(job: &JobView, result: &WorkResult) -> Vec<Forced> {
	let groups = job.audit.iter().flat_map(|audit| &audit.groups);
	let mut bundles = groups.flat_map(|group| &group.bundles);
	let bundle = bundles.find(|bundle| bundle.root == result.bundle_root);
	bundle.and_then(|bundle| bundle.forced.clone()).unwrap_or_default()
}

/// Returns the trainers of a job that delivered a result, each in a bundle of its own, and can be accused: not
/// those whom the court convicted, and of a job that was settled those of whom something is still locked.
pub fn accusable<'a>(
	job: &'a JobView,
	result: &'a WorkResult,
) -> impl Iterator<Item = AccountId32> + 'a {
	let groups = job.audit.iter().flat_map(|audit| &audit.groups);
	let convicted: BTreeSet<_> = groups.flat_map(|group| &group.convicted).collect();
	let delivered = job.replicas.iter().filter(|replica| {
		let revealed = replica.reveal.as_ref().map(|reveal| reveal.result().common());
		revealed == Some(result.common())
	});
	let has_ended = matches!(job.state, JobState::Ended(_));
	let late = job.late.iter().flat_map(|late| &late.trainers);
	let late: BTreeSet<_> = late.map(|locked| locked.trainer).collect();
	let is_free = move |who: &AccountId32| has_ended && !late.contains(who);
	let accusable = move |who: &AccountId32| !convicted.contains(who) && !is_free(who);
	delivered.map(|replica| replica.trainer).filter(accusable)
}

/// Says why nobody is accused.
#[derive(Debug, thiserror::Error)]
pub enum PartingError {
	/// What would be claimed cannot be computed.
	#[error(transparent)]
	Record(#[from] RecordError),
	/// Nothing is false there.
	#[error(
		"what was computed here is what the other result says ({0:?}): it is this account's own result \
		 that is false, or this machine computes wrong. Nobody is accused"
	)]
	Agrees(Target),
	/// The result has nothing there.
	#[error("the other result has no leaves for an accusation about {0:?}")]
	NoLeaves(Target),
	/// Its leaves are others than those that were revealed.
	#[error("the manifest has not as many checkpoints as were revealed, or is another one")]
	NotWhole,
	/// The files cannot be read.
	#[error("the files cannot be read: {0}")]
	Files(PartyError),
}

/// Returns what is true instead of what a result says about `target`, computed by `recorder`, which
/// has its claims. Fails with [`PartingError::Agrees`] where that is what it says.
pub fn claimed(
	recorder: &Recorder,
	theirs: Shown<'_>,
	target: Target,
) -> Result<Claimed, PartingError> {
	let said = |index| theirs.computed(index).map(|leaf| leaf.end());
	let (claimed, is_false) = match target {
		Target::Start => {
			let end = recorder.start()?;
			(Claimed::End(end), said(0) != Some(end))
		}
		Target::Segment(segment) => {
			let end = recorder.end(segment)?;
			(Claimed::End(end), said(segment.saturating_add(1)) != Some(end))
		}
		Target::Stop => {
			let losses = theirs.claims.checkpoints.iter().map(|it| it.evaluation.loss());
			let losses: Vec<f32> = losses.collect();
			let ends = recorder.case().spec.ends_after(&losses);
			(Claimed::Other, ends != Some(theirs.result.segments))
		}
		Target::Model => {
			let root = recorder.model(|bytes| Chunked::new(bytes).root);
			(Claimed::Other, root.is_some_and(|root| root != theirs.result.model_root))
		}
		// What is stored and what a seat revealed are in no result.
		Target::Rescue { .. } | Target::Evidence(_) => return Err(PartingError::NoLeaves(target)),
	};
	match is_false {
		true => Ok(claimed),
		false => Err(PartingError::Agrees(target)),
	}
}

/// Returns the accusation of `defendant`, whose result says `theirs`; `None` where it has no such
/// leaves.
pub fn accusation(
	defendant: Defendant,
	theirs: Shown<'_>,
	target: Target,
	claimed: Claimed,
) -> Option<Accusation> {
	let indices = match target {
		Target::Start => vec![0],
		Target::Segment(segment) => vec![segment, segment.checked_add(1)?],
		Target::Evidence(segment) => vec![segment],
		Target::Model => vec![theirs.result.segments],
		Target::Rescue { state, .. } => vec![state],
		Target::Stop => vec![],
	};
	let Claims { checkpoints, diverged } = theirs.claims;
	let all = bundle_leaves(checkpoints.iter().copied(), *diverged);
	let leaf = |index: u32| {
		let path = Peaks::try_from(merkle::proof(&all, index as usize)?).ok()?;
		Some(Leaf { content: theirs.leaf(index)?, path })
	};
	let leaves = indices.into_iter().map(leaf).collect::<Option<Vec<_>>>()?;
	Some(Accusation { defendant, target, claimed, leaves })
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::{
		bundle::{Checkpoint, Diverged, Evaluation},
		H256,
	};

	fn claims(leaves: u8) -> Claims {
		let of = |index: u8| Checkpoint {
			step: 10 * u32::from(index),
			state: H256::repeat_byte(index),
			evaluation: Evaluation::new(1.0, 1, 2),
			trace: H256::repeat_byte(0x10 + index),
		};
		Claims { checkpoints: (0..leaves).map(of).collect(), diverged: None }
	}

	fn result(claims: &Claims, model: u8) -> WorkResult {
		let Claims { checkpoints, diverged } = claims;
		WorkResult {
			bundle_root: merkle::root(&bundle_leaves(checkpoints.iter().copied(), *diverged)),
			true_root: merkle::root(&bundle_leaves(checkpoints.iter().copied(), *diverged)),
			model_root: H256::repeat_byte(model),
			segments: checkpoints.len() as u32 - 1,
			diverged: diverged.is_some(),
		}
	}

	#[test]
	fn results_part_at_the_first_leaf_that_differs() {
		let own = claims(5);
		let bent = |index: usize, change: fn(&mut Checkpoint)| {
			let mut claims = own.clone();
			claims.checkpoints[index..].iter_mut().for_each(change);
			claims
		};
		let diverged = Some(Diverged { step: 33, trace: H256::zero() });
		let gone = Claims { diverged, ..claims(4) };
		let cases = [
			("same", own.clone(), 7, None),
			("model", own.clone(), 8, Some(Target::Model)),
			("start", bent(0, |it| it.state.0[0] ^= 1), 7, Some(Target::Start)),
			("state", bent(3, |it| it.state.0[0] ^= 1), 7, Some(Target::Segment(2))),
			("trace", bent(1, |it| it.trace.0[0] ^= 1), 8, Some(Target::Segment(0))),
			("loss", bent(4, |it| it.evaluation.correct = 2), 7, Some(Target::Segment(3))),
			("ended sooner", claims(4), 7, Some(Target::Stop)),
			("went on", claims(6), 7, Some(Target::Stop)),
			("diverged", gone, 7, Some(Target::Segment(3))),
		];
		let mine = result(&own, 7);
		let mine = Shown { forced: &[], result: &mine, claims: &own };
		for (name, claims, model, expected) in cases {
			let result = result(&claims, model);
			let theirs = Shown { forced: &[], result: &result, claims: &claims };
			assert!(theirs.is_whole(), "{name}");
			assert_eq!(parting(mine, theirs), expected, "{name}");
			assert_eq!(parting(theirs, mine).is_some(), expected.is_some(), "{name}");
		}
	}

	#[test]
	fn an_accusation_shows_leaves_under_the_root_of_the_accused() {
		let claims =
			Claims { diverged: Some(Diverged { step: 33, trace: H256::zero() }), ..claims(4) };
		let result = result(&claims, 7);
		let theirs = Shown { forced: &[], result: &result, claims: &claims };
		let who = trainyard_client::AccountId32([2; 32]);
		let defendant = Defendant::Trainer { job: 9, who };
		for (target, indices) in [
			(Target::Start, vec![0]),
			(Target::Segment(0), vec![0, 1]),
			(Target::Segment(3), vec![3, 4]),
			(Target::Model, vec![3]),
			(Target::Stop, vec![]),
			(Target::Evidence(2), vec![2]),
		] {
			let found = accusation(defendant, theirs, target, Claimed::Other).unwrap();
			assert_eq!((found.target, found.leaves.len()), (target, indices.len()));
			for (leaf, index) in found.leaves.iter().zip(indices) {
				let (root, count) = (&result.bundle_root, result.leaves());
				assert!(merkle::verify(root, &leaf.content.leaf(), index, count, &leaf.path));
			}
		}
		assert!(accusation(defendant, theirs, Target::Segment(4), Claimed::Other).is_none());
		// Leaves that are fewer than was revealed are not those of the result.
		let less = WorkResult { segments: 4, ..result };
		assert!(!Shown { forced: &[], result: &less, claims: &claims }.is_whole());
	}
}
