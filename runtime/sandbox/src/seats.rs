//! Seats of audits: what they draw for themselves, and what they reveal.

use crate::{bundles::Bundle, Key};
use sp_core::Pair;
use trainyard_protocol::{
	accusation::{Peaks, Target},
	audit::{Findings, GroupVerdict, Paths, Rejection, Replayed},
	duties::{self, Drawing},
	job::WorkResult,
	views::{AuditView, GroupView},
	vrf::{self, Subject, VrfSignature},
	JobId, H256,
};
use trainyard_runtime::AccountId;

/// What seats 1 and 2 pick as the segment that moved most, unless a test says otherwise.
pub const PICK: u32 = 0;

/// A seat in a round that has its seed.
pub struct Seat {
	/// Its number in the order drawn.
	pub number: usize,
	/// The signature by which it draws.
	pub signature: VrfSignature,
	/// The output of that.
	pub output: H256,
	/// How it draws.
	pub drawing: Drawing,
	/// Seats of the committee.
	pub seats: usize,
}

impl Seat {
	/// The seat of `key` in the running round of an audit; none where it has none.
	pub fn of(genesis: &H256, job: JobId, audit: &AuditView<AccountId>, key: &Key) -> Option<Self> {
		let account = key.account();
		let number = audit.committee.iter().position(|seat| seat.verifier == account)?;
		let (seed, round) = (audit.seed?, audit.round);
		let (drawing, seats) = (audit.drawing(), audit.committee.len());
		let subject = Subject { genesis, job, round, seed: &seed, account: &account };
		let signature = vrf::sign(key.0.as_ref(), &subject);
		let output = vrf::output(&key.0.public().0, &subject, &signature)?;
		Some(Self { number, signature, output, drawing, seats })
	}

	/// Segments of result number `group` that it draws for itself.
	pub fn own(&self, group: u32, result: &WorkResult) -> Vec<u32> {
		self.drawing.own(&self.output, group, result, (self.number, self.seats))
	}

	/// The segment that it picks by its duty.
	fn moved(&self, result: &WorkResult) -> Option<u32> {
		(matches!(self.number, 1 | 2) && result.segments > 0).then_some(PICK)
	}

	/// Segments of result number `group` of which it reveals evidence, where that parts from others in
	/// `parts`.
	pub fn wanted(&self, group: u32, result: &WorkResult, parts: &[u32]) -> Vec<u32> {
		let (own, moved) = (self.own(group, result), self.moved(result));
		duties::required(&own, self.number, result, moved, parts).expect("it does its duties")
	}

	/// A verdict that vouches for result number `group`, by evidence of what `bundle` says, with its
	/// paths. The bundle is that of the first trainer of the result; [`Verdict::about`] names another one.
	pub fn vouches(
		&self,
		group: u32,
		result: &WorkResult,
		bundle: &Bundle,
		parts: &[u32],
	) -> Verdict {
		let segments = self.wanted(group, result, parts);
		let evidence: Vec<_> = segments.iter().filter_map(|s| bundle.evidence(*s)).collect();
		let replayed = Replayed {
			bundle: 0,
			evidence: evidence.try_into().expect("there are few"),
			moved: self.moved(result),
			parts: parts.to_vec().try_into().expect("there are few"),
		};
		let paths = segments.iter().filter_map(|segment| bundle.path(segment + 1)).collect();
		Verdict { said: GroupVerdict::Replayed(replayed), paths }
	}

	/// Its findings by these verdicts, one of each result, and the paths of all.
	pub fn finds(&self, verdicts: Vec<Verdict>) -> (Findings<AccountId>, Paths) {
		let mut paths = Vec::new();
		let mut said = Vec::new();
		for verdict in verdicts {
			paths.extend(verdict.paths);
			said.push(verdict.said);
		}
		let verdicts = said.try_into().expect("there are few results");
		let findings = Findings { draw: self.signature, verdicts };
		(findings, paths.try_into().expect("there are few segments"))
	}
}

/// What a seat says of a result, and the paths of its evidence.
#[derive(Clone, Debug)]
pub struct Verdict {
	/// The verdict.
	pub said: GroupVerdict<AccountId>,
	/// A path for each evidence.
	pub paths: Vec<Peaks>,
}

impl Verdict {
	/// It could not have or replay the result.
	pub fn unavailable() -> Self {
		Self { said: GroupVerdict::Unavailable, paths: Vec::new() }
	}

	/// The same about `bundle`, whosever it is of the trainers of this result.
	pub fn about(mut self, group: &GroupView<AccountId>, bundle: &Bundle) -> Self {
		let own = group.bundles.iter().position(|other| other.root == bundle.root());
		if let (GroupVerdict::Replayed(replayed), Some(own)) = (&mut self.said, own) {
			replayed.bundle = own as u32;
		}
		self
	}

	/// It accuses a trainer of `target` of what it delivered: `truth` says something else.
	pub fn rejects(account: AccountId, target: Target, delivered: &Bundle, truth: &Bundle) -> Self {
		let (claimed, leaves) = (truth.claims(&target), delivered.shown(&target));
		let rejection = Rejection { account, target, claimed, leaves };
		Self { said: GroupVerdict::Rejected(rejection), paths: Vec::new() }
	}
}
