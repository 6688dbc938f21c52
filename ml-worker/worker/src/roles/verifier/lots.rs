//! What this seat replays of each result: what it draws for itself, and its duties.

use super::Verifier;
use crate::roles::tasks::TaskError;
use std::{
	collections::BTreeSet,
	sync::{Mutex, MutexGuard, PoisonError},
};
use trainyard_client::{AuditView, JobView};
use trainyard_protocol::{
	duties::{self, Drawing},
	job::WorkResult,
	vrf::{self, Subject, VrfSignature},
	H256,
};

/// The draw of this seat in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Draw {
	/// By which it is shown.
	pub signature: VrfSignature,
	/// What the segments are drawn from. Nobody else knows it before the reveal.
	pub output: H256,
	/// The number of the seat, in the order in which the committee was drawn.
	pub seat: usize,
	/// How many seats the committee has.
	pub seats: usize,
}

/// What this seat replays of one result.
#[derive(Debug)]
pub(super) struct Lot {
	draw: Draw,
	/// Place of the result in the audit.
	group: u32,
	result: WorkResult,
	/// The segments that it drew.
	own: Vec<u32>,
	/// The segment that moved most, once it is picked.
	moved: Mutex<Option<u32>>,
}

impl Lot {
	/// Draws segments of the result with the number `group`, in an audit in which each seat draws like this.
	pub fn new(draw: Draw, group: u32, result: WorkResult, drawing: Drawing) -> Self {
		let own = drawing.own(&draw.output, group, &result, (draw.seat, draw.seats));
		Self { draw, group, result, own, moved: Mutex::default() }
	}

	/// Names one segment of a result, whatever the seat drew.
	pub fn only(draw: Draw, group: u32, result: WorkResult, segment: u32) -> Self {
		// No seat with that number has a duty.
		let draw = Draw { seat: usize::MAX, ..draw };
		Self { draw, group, result, own: vec![segment], moved: Mutex::default() }
	}

	fn pick(&self) -> MutexGuard<'_, Option<u32>> {
		self.moved.lock().unwrap_or_else(PoisonError::into_inner)
	}

	/// Returns whether it is the duty of this seat to pick the segment that moved most.
	fn picks(&self) -> bool {
		duties::picks(self.draw.seat, &self.result)
	}

	/// Returns whether that segment is still to be picked.
	pub fn waits_for_pick(&self) -> bool {
		self.picks() && self.pick().is_none()
	}

	/// Notes which segment moved most.
	pub fn note_moved(&self, segment: u32) {
		if self.picks() {
			*self.pick() = Some(segment);
		}
	}

	/// Returns the pick of this seat, where that is its duty and it has made one.
	pub fn moved(&self) -> Option<u32> {
		*self.pick()
	}

	/// Returns one segment more than this seat drew, by the same output: the pick where the movement of
	/// the result cannot be had.
	pub fn one_more(&self) -> Option<u32> {
		let (segments, count) = (self.result.segments, self.own.len() as u32);
		let more = vrf::own_segments(&self.draw.output, self.group, segments, count + 1);
		more.into_iter().find(|segment| !self.own.contains(segment)).or(self.own.first().copied())
	}

	/// Returns what this seat replays of the result, as far as it is known, without the segments where
	/// it parts from others.
	pub fn segments(&self) -> Vec<u32> {
		self.with_parts(&BTreeSet::new())
	}

	/// Returns the same with the segments where the result parts from others.
	pub fn with_parts(&self, parts: &BTreeSet<u32>) -> Vec<u32> {
		let parts: Vec<u32> = parts.iter().copied().collect();
		if self.waits_for_pick() && self.own.is_empty() {
			// By lottery a seat may have nothing but its pick.
			return parts;
		}
		// Before the pick the rest is known already.
		let moved = self.moved().or(self.own.first().copied()).filter(|_| self.picks());
		let seat = self.draw.seat;
		duties::required(&self.own, seat, &self.result, moved, &parts).unwrap_or_default()
	}
}

/// Returns the most segments of one result that a seat of this audit replays by itself.
pub(super) fn most_segments(audit: &AuditView) -> u32 {
	// Seat 0 replays the first segment and the last.
	audit.audit_segments.saturating_add(2)
}

impl Verifier {
	/// Draws what this verifier replays in a round of which it is a seat.
	pub(super) fn draw(&self, job: &JobView, audit: &AuditView) -> Result<Draw, TaskError> {
		let me = self.sender.account();
		let seat = audit.committee.iter().position(|member| member.verifier == *me);
		let none = || TaskError::failed("this account has no seat in the round");
		let member = seat.and_then(|seat| audit.committee.get(seat)).ok_or_else(none)?;
		let seed = audit.seed.ok_or_else(|| TaskError::failed("the round has no seed"))?;
		let (genesis, round) = (self.chain.genesis(), audit.round);
		let subject = Subject { genesis: &genesis, job: job.id, round, seed: &seed, account: me };
		let signature = self.sender.vrf_key().sign(&subject);
		let other = || {
			TaskError::failed(
				"the chain had another VRF key of this account when the committee was drawn, so \
				 nothing that is found here can be revealed",
			)
		};
		let output = vrf::output(&member.vrf_key.0, &subject, &signature).ok_or_else(other)?;
		let seats = audit.committee.len();
		Ok(Draw { signature, output, seat: seat.unwrap_or_default(), seats })
	}

	/// Returns what this seat replays of each result.
	pub(super) fn lots(&self, draw: Draw, audit: &AuditView) -> Vec<Lot> {
		let lot = |(index, group): (u32, &trainyard_client::GroupView)| {
			Lot::new(draw, index, group.result, audit.drawing())
		};
		(0u32..).zip(&audit.groups).map(lot).collect()
	}
}
