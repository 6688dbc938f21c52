//! What a trainer keeps of a job's states, and what computing the others again takes.

use serde::Serialize;
use trainyard_program::{needs::Needs, spec::CheckedSpec, thinning, work::Parts};
use trainyard_protocol::{
	duties::{self, Recompute},
	job::Terms,
};

/// The states of a result, where not all of them are kept.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Kept {
	/// One state in so many is kept.
	every: u32,
	/// States that are kept, of how many.
	kept: u32,
	states: u32,
	/// Bytes of all states, at most.
	all_bytes: u64,
	/// Bytes of those that are kept.
	kept_bytes: u64,
	/// Bytes of those that lie on disk at once, with the two stretches that are computed again.
	held_bytes: u64,
	/// Stretches for whose states one seat may ask in a round, and how many segments each of them has to be computed
	/// again, at most.
	asked: u32,
	segments: u32,
	/// Blocks that every window gets for one stretch, and a round for all that its committee may ask for.
	stretch_blocks: u32,
	round_blocks: u32,
}

impl Kept {
	/// Returns what it is for a job with these terms; `None` where all states are kept.
	pub(super) fn of(spec: &CheckedSpec, terms: &Terms, parts: &Parts) -> Option<Self> {
		let (every, segments) = (terms.keep_every, spec.segments());
		let kept = thinning::kept(every, segments);
		let states = segments.saturating_add(1);
		if kept >= states {
			return None;
		}
		let (needs, replays) = (Needs::of(spec), terms.replays(segments));
		let work = (parts.longest_steps_flop(spec), terms.machine.rate());
		let blocks = Recompute::of(every, segments, work, (terms.verifiers, replays));
		Some(Self {
			every,
			kept,
			states,
			all_bytes: needs.kept_states(1),
			kept_bytes: needs.kept_states(every),
			held_bytes: needs.held_states(every),
			asked: duties::stretches_of_seat(every, segments, replays),
			segments: thinning::segments_of_stretch(every, segments),
			stretch_blocks: blocks.stretch,
			round_blocks: blocks.round,
		})
	}
}

impl std::fmt::Display for Kept {
	fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
		let mib = |bytes: u64| bytes.div_ceil(1 << 20);
		writeln!(
			f,
			"a trainer keeps {} of {} states, one in {}: {} MiB of {}, and {} while two stretches lie there that it \
			 computed again. A seat may ask for states of {} stretches, of up to {} segments each. Windows have {} \
			 blocks more for each stretch, a round of the audit {}",
			self.kept,
			self.states,
			self.every,
			mib(self.kept_bytes),
			mib(self.all_bytes),
			mib(self.held_bytes),
			self.asked,
			self.segments,
			self.stretch_blocks,
			self.round_blocks,
		)
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::spec::JobSpec;

	/// What is said is what the chain counts by.
	#[test]
	fn what_is_kept_and_what_it_takes_is_said() {
		let spec = JobSpec::example().check().unwrap();
		let parts = Parts::of(&spec);
		let terms = |keep_every| Terms {
			price_per_ut: 1,
			replicas: 1,
			verifiers: 3,
			audit_segments: 2,
			audit_fee: 5,
			apply_blocks: 1,
			training_blocks: 1,
			machine: Default::default(),
			undecided_percent: 20,
			keep_every,
			lottery: None,
		};
		assert_eq!(spec.segments(), 30);
		assert_eq!([0, 1].map(|every| Kept::of(&spec, &terms(every), &parts)), [None, None]);
		let kept = Kept::of(&spec, &terms(8), &parts).unwrap();
		// 0, 8, 16, 24 and 30, and seven of each stretch.
		assert_eq!((kept.kept, kept.states, kept.segments), (5, 31, 7));
		assert_eq!(kept.kept_bytes * 31, kept.all_bytes * 5);
		assert_eq!(kept.held_bytes * 31, kept.all_bytes * 19);
		assert_eq!(kept.asked, 4, "no more than there are");
		assert!(kept.stretch_blocks > 0 && kept.round_blocks >= kept.stretch_blocks);
		let text = kept.to_string();
		assert!(text.contains("keeps 5 of 31 states, one in 8"), "{text}");
		let all = Kept::of(&spec, &terms(30), &parts).unwrap();
		assert_eq!((all.kept, all.segments, all.asked), (2, 29, 1));
		assert_eq!(all.held_bytes, all.all_bytes, "all of them lie there then");
	}
}
