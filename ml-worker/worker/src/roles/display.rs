//! Writes states, fates and verdicts as people read them.

use trainyard_client::{amount, AuditView, GroupVerdict, Rejection};
use trainyard_program::spec::JobSpec;
use trainyard_proof::verify::charge;
use trainyard_protocol::{
	audit::{AuditPhase, Decision, Replayed},
	job::{Ending, Fate, JobState, Reveal},
	lottery::Prospect,
	pieces::Piece,
};

/// Names a job's state, or how it ended.
pub fn state(state: &JobState) -> &'static str {
	match state {
		JobState::Open => "open",
		JobState::Seeding => "seeding",
		JobState::Training => "training",
		JobState::Revealing => "revealing",
		JobState::Auditing => "auditing",
		JobState::Ended(Ending::Settled) => "settled",
		JobState::Ended(Ending::Agreed) => "agreed",
		JobState::Ended(Ending::Cancelled) => "cancelled",
		JobState::Ended(Ending::NoApplicants) => "ended without applicants",
		JobState::Ended(Ending::Failed) => "failed",
	}
}

/// Names what became of a replica.
pub fn fate(fate: &Fate) -> &'static str {
	match fate {
		Fate::Working => "working",
		Fate::NotCommitted => "never committed: deposit lost",
		Fate::NotRevealed => "never revealed: deposit lost",
		Fate::ModelMissing => "model not stored: deposit lost",
		Fate::Accepted => "accepted",
		Fate::Rejected => "rejected: deposit lost",
		Fate::Unavailable => "could not be fetched: deposit lost",
		Fate::Undecided => "undecided: deposit returned, paid the part that the terms name",
		Fate::Agreed => "settled by agreement",
		Fate::Idle => "accepted without power: the training stood still",
		Fate::Diverged => {
			"accepted without power: the training diverged, and what was trained is paid"
		}
		Fate::Revoked => {
			"convicted after it was accepted and paid: a fifth of the deposit and its power are lost"
		}
	}
}

/// Names the phase of an audit.
pub fn phase(phase: &AuditPhase) -> &'static str {
	match phase {
		AuditPhase::Drawing { .. } => "drawing a committee",
		AuditPhase::Committing { .. } => "verifiers replay",
		AuditPhase::Revealing { .. } => "verifiers reveal",
		AuditPhase::Opening { .. } => "trainers open what they forced to be false",
		AuditPhase::Standing { .. } => "anybody can challenge results",
		AuditPhase::Rescue { .. } => "waiting for what somebody lacks to be stored on chain",
		AuditPhase::Done => "decided",
	}
}

/// Names what an audit decided.
pub fn decision(decision: &Decision) -> &'static str {
	match decision {
		Decision::Accepted => "accepted",
		Decision::Rejected => "rejected",
		Decision::Unavailable => "unavailable",
		Decision::Undecided => "undecided",
		Decision::Idle => "accepted without power: the training stood still",
	}
}

/// Names pieces of a result.
pub fn pieces(pieces: &[Piece]) -> String {
	let name = |piece: &Piece| match piece {
		Piece::Leaves => "the list of checkpoints".to_owned(),
		Piece::Rows { from, to } => format!("rows {from} to {to} of the data"),
		Piece::State(index) => format!("checkpoint {index}"),
		Piece::Tensor { checkpoint, index } => format!("tensor {index} of checkpoint {checkpoint}"),
		Piece::Samples => "samples of all checkpoints".to_owned(),
	};
	pieces.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Says what a replica of a job is paid that pays by lottery, one of `one_in` segments.
pub fn prospect(prospect: &Prospect, one_in: u32) -> String {
	let Prospect { expected, deviation, least, most, chance } = *prospect;
	let tenth = |millionths: u32| f64::from(millionths) / 10_000.0;
	let paid = match deviation {
		0 => "always that, as all segments are in whole groups of so many".to_owned(),
		_ => format!(
			"{} with {:.2} %, else {}; deviation {}, {} % of the mean",
			amount::format(most),
			tenth(chance),
			amount::format(least),
			amount::format(deviation),
			prospect.percent(),
		),
	};
	format!(
		"lottery  one of {one_in} segments is replayed and pays for all of them; a replica is paid {} on the average: {paid}",
		amount::format(expected)
	)
}

/// Says how many segments the seats of an audit replay.
pub fn draws(audit: &AuditView) -> String {
	if let Some(one_in) = audit.lottery {
		return format!("one of {one_in} segments is drawn and replayed, each by one of them");
	}
	let segments = match audit.audit_segments {
		1 => "1 segment".to_owned(),
		several => format!("{several} segments"),
	};
	match audit.groups.len() {
		1 => format!("each seat draws {segments} for itself"),
		_ => format!("each seat draws {segments} of each result for itself"),
	}
}

/// Says how far a result was trained.
pub fn trained(reveal: &Reveal, spec: &JobSpec) -> String {
	let (done, all) = (reveal.segments, spec.segments());
	match done < all {
		true => format!("stopped early, after {done} of {all} segments"),
		false => format!("all {all} segments"),
	}
}

/// Names a verifier's verdict in one word.
pub fn verdict(verdict: &GroupVerdict) -> &'static str {
	match verdict {
		GroupVerdict::Replayed(_) => "replayed",
		GroupVerdict::Rejected(_) => "rejected",
		GroupVerdict::Unavailable => "unavailable",
	}
}

/// Writes a verifier's verdict with its reason.
pub fn verdict_in_full(verdict: &GroupVerdict) -> String {
	match verdict {
		GroupVerdict::Replayed(Replayed { evidence, .. }) => {
			let equal = format!("replayed ({} segments equal", evidence.len());
			match evidence.iter().find_map(|e| e.idle_since) {
				None => equal + ")",
				Some(since) => {
					format!("{equal}; from segment {since} on the training stands still)")
				}
			}
		}
		GroupVerdict::Unavailable => "unavailable".into(),
		GroupVerdict::Rejected(Rejection { account, target, claimed, leaves }) => {
			let what = charge::in_words(target, claimed, leaves);
			format!("rejected: {what}; accuses {account}")
		}
	}
}
