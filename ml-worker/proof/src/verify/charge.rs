//! What a result is accused of.

use crate::bundle::Manifest;
use primitive_types::H256;
use serde::{Deserialize, Serialize};
use std::fmt;
use trainyard_program::spec::CheckedSpec;
use trainyard_protocol::{
	accusation::{Claimed, End, Leaf, LeafContent, Leaves, Peaks, Target},
	audit::{Rejection, SegmentEvidence},
	bundle::Evaluation,
	job::WorkResult,
	merkle,
	trace::seal,
};

/// The leaves of a bundle, with the paths from them to its root.
pub struct BundleTree {
	contents: Vec<LeafContent>,
	hashes: Vec<H256>,
}

impl BundleTree {
	/// Takes the leaves that a manifest lists.
	pub fn of(manifest: &Manifest) -> Self {
		let checkpoints = manifest.checkpoints.iter().map(|c| LeafContent::Checkpoint(c.bound()));
		let contents: Vec<_> =
			checkpoints.chain(manifest.diverged.map(LeafContent::Diverged)).collect();
		let hashes = contents.iter().map(LeafContent::leaf).collect();
		Self { contents, hashes }
	}

	/// Returns the leaves in order.
	pub fn contents(&self) -> &[LeafContent] {
		&self.contents
	}

	/// Returns the path from the leaf of this index to the root; `None` where there is no such leaf.
	pub fn path(&self, index: u32) -> Option<Peaks> {
		merkle::proof(&self.hashes, index as usize)?.try_into().ok()
	}

	/// Returns the leaf of this index and its path.
	fn leaf(&self, index: u32) -> Option<Leaf> {
		let content = *self.contents.get(index as usize)?;
		Some(Leaf { content, path: self.path(index)? })
	}
}

/// What is false in a result, with what shows that the result says so: whoever delivered it can be
/// accused of it, and is convicted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
	/// What is false.
	pub target: Target,
	/// What is true instead.
	pub claimed: Claimed,
	/// What the result says there, under its root.
	pub leaves: Leaves,
}

impl Charge {
	/// Makes a charge of what the bundle of `manifest` says; `None` where it has no such leaves.
	pub fn new(manifest: &Manifest, target: Target, claimed: Claimed) -> Option<Self> {
		let tree = BundleTree::of(manifest);
		let indices = match target {
			Target::Start => vec![0],
			Target::Segment(segment) => vec![segment, segment.checked_add(1)?],
			Target::Evidence(segment) => vec![segment],
			Target::Stop => vec![],
			Target::Model => vec![manifest.segments()],
			Target::Rescue { state, .. } => vec![state],
		};
		let leaves =
			indices.into_iter().map(|index| tree.leaf(index)).collect::<Option<Vec<_>>>()?;
		Some(Self { target, claimed, leaves: leaves.try_into().ok()? })
	}

	/// Charges a result with the end of the segment of which `found` is the replay; `None` where it says
	/// the same of it, or nothing.
	pub fn of_segment(manifest: &Manifest, found: &SegmentEvidence) -> Option<Self> {
		let claimed = super::replay::claimed_end(manifest, found.segment)?;
		let end = Some(found.end()).filter(|_| claimed != found.leaf())?;
		Self::new(manifest, Target::Segment(found.segment), Claimed::End(end))
	}

	/// Charges a result with the leaf of this index, which no true result has, whatever was computed.
	pub fn of_leaf(manifest: &Manifest, index: u32) -> Option<Self> {
		let target = index.checked_sub(1).map_or(Target::Start, Target::Segment);
		Self::new(manifest, target, Claimed::Other)
	}

	/// Makes it the rejection of a result by which `account` is accused.
	pub fn against<AccountId>(self, account: AccountId) -> Rejection<AccountId> {
		let Self { target, claimed, leaves } = self;
		Rejection { account, target, claimed, leaves }
	}
}

impl fmt::Display for Charge {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(&in_words(&self.target, &self.claimed, &self.leaves))
	}
}

/// Says what somebody is accused of. The words are the same wherever a person reads them: in a
/// verifier's report, in the log, in the list of an audit's verdicts.
pub fn in_words(target: &Target, claimed: &Claimed, leaves: &[Leaf]) -> String {
	match (target, claimed, leaves) {
		(Target::Start, Claimed::End(_), _) => {
			"checkpoint 0 is not the initial state of the job with its evaluation".to_owned()
		}
		(Target::Start, Claimed::Other, _) => {
			"checkpoint 0 is none that the specification asks for".to_owned()
		}
		(Target::Segment(segment), Claimed::Other, _) => {
			let checkpoint = u64::from(*segment) + 1;
			format!("checkpoint {checkpoint} is none that the specification asks for")
		}
		(Target::Segment(segment), Claimed::End(end), [_, committed]) => {
			match (end, committed.content.end()) {
				(End::Checkpoint { .. }, End::Diverged(_)) => {
					format!("segment {segment} does not diverge, as is claimed")
				}
				(
					End::Checkpoint { state, evaluation, .. },
					End::Checkpoint { state: same, evaluation: other, .. },
				) if *state == same && *evaluation != other => {
					let checkpoint = u64::from(*segment) + 1;
					format!("the evaluation of checkpoint {checkpoint} is not the committed one")
				}
				_ => format!("segment {segment} has another end or trace than the committed one"),
			}
		}
		(Target::Segment(segment), Claimed::End(_), _) => {
			format!("segment {segment} has another end or trace than the committed one")
		}
		(Target::Stop, ..) => "by its losses training ends elsewhere".to_owned(),
		(Target::Model, ..) => "the model is not the last checkpoint's".to_owned(),
		(Target::Rescue { state, .. }, ..) => {
			format!("what was stored as checkpoint {state} is something else")
		}
		(Target::Evidence(segment), ..) => {
			format!("the evidence of segment {segment} is not what its replay comes to")
		}
	}
}

/// Returns the index of the first leaf that no true result of the job has in its place, whatever was
/// computed: the court convicts by it alone.
pub fn impossible(
	spec: &CheckedSpec,
	expected: &WorkResult,
	contents: &[LeafContent],
) -> Option<u32> {
	let labels =
		u64::from(spec.dataset.validation_rows).saturating_mul(spec.labels_per_row().into());
	let nothing = seal(&merkle::root(&[]));
	let is_possible = |(index, content): &(u32, &LeafContent)| match content {
		LeafContent::Checkpoint(checkpoint) if *index <= expected.segments => {
			let evaluation = checkpoint.evaluation;
			let unevaluated =
				evaluation == Evaluation::NONE && *index == 0 && expected.diverged_in() == Some(0);
			spec.checkpoint_step(*index) == Some(checkpoint.step)
				&& match unevaluated {
					true => checkpoint.trace == nothing,
					false => {
						evaluation.loss().is_finite() && u64::from(evaluation.labels) == labels
					}
				}
		}
		LeafContent::Diverged(end) if *index > expected.segments => {
			let ends = [expected.segments, expected.segments.saturating_add(1)];
			match ends.map(|index| spec.checkpoint_step(index)) {
				[Some(from), Some(to)] => (from..=to).contains(&end.step),
				_ => false,
			}
		}
		_ => false,
	};
	(0u32..).zip(contents).find(|leaf| !is_possible(leaf)).map(|(index, _)| index)
}
