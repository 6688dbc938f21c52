//! Results that stand: the window in which anybody can challenge them, the evidence that is replayed
//! again, and what is accepted at the end.
//!
//! A result is accepted if nobody convicted it, no other result stands beside it, and more than half of
//! the seats revealed evidence of it that was not convicted. Nothing is accepted because nobody spoke, and
//! nothing is rejected because many did.
//!
//! Training can also stand still, which no court decides. It does so where, of the seats that replayed
//! that late by their draws or duties, more than half and two at least found it: one seat alone takes nobody's
//! power, and what a seat picked by itself says nothing.

use crate::{rounds::Step, AuditOf, Config, Event, Pallet, Recheck, Rechecks, Verdicts, RECHECKS};
use alloc::vec::Vec;
use codec::Encode;
use frame_support::BoundedVec;
use trainyard_pallet_support::majority::is_majority;
use trainyard_protocol::{
	audit::{AuditPhase, Decision, GroupVerdict, Replayed, SegmentEvidence},
	draw,
	job::{BlockNumber, MAX_AUDIT_ROUNDS},
	JobId, H256,
};
use trainyard_traits::{Beacon, Court, Seed, Window};

/// Domain of the seed by which evidence is drawn, and of the draw of those who replay it again.
const RECHECK: &[u8] = b"trainyard/recheck/v1";
/// Domain, with the number of who replays it, of the draw of a segment.
const RECHECKED: &[u8; 28] = b"trainyard/recheck/segment/v1";

/// Returns what a seat replayed that it did not choose: neither its pick nor where it says that results
/// part. No court decides where training stood still, so two seats that picked a late segment would say so
/// of any result.
fn drawn(replayed: &Replayed) -> impl Iterator<Item = &SegmentEvidence> {
	let is_chosen = |e: &&SegmentEvidence| {
		replayed.moved == Some(e.segment) || replayed.parts.contains(&e.segment)
	};
	replayed.evidence.iter().filter(move |e| !is_chosen(e))
}

/// Returns whether the training stood still, as those found who `replayed` it.
pub fn stood_still(replayed: &[Replayed]) -> bool {
	let since = |replayed: &Replayed| drawn(replayed).filter_map(|e| e.idle_since).min();
	replayed.iter().filter_map(since).any(|since| {
		let late = |replayed: &&Replayed| drawn(replayed).any(|e| e.segment >= since);
		let found = |replayed: &&Replayed| {
			drawn(replayed).any(|e| e.segment >= since && e.idle_since.is_some())
		};
		let witnesses = replayed.iter().filter(late).count();
		let finders = replayed.iter().filter(found).count();
		finders >= 2 && is_majority(finders, witnesses)
	})
}

impl<T: Config> Pallet<T> {
	/// Returns the window for challenges of an audit at height `now`, while results stand. While somebody
	/// lacks what it asked for it is open.
	pub(crate) fn window_of(audit: &AuditOf<T>, now: BlockNumber) -> Option<Window> {
		let window = audit.window?;
		let waits = match audit.phase {
			AuditPhase::Standing { .. } => audit.relay.is_some() || audit.relays > 0,
			AuditPhase::Rescue { .. } => true,
			_ => return None,
		};
		let until = if waits { window.until.max(now) } else { window.until };
		Some(Window { until, ..window })
	}

	/// Returns whether results can be challenged.
	pub(crate) fn is_open(job: JobId, audit: &AuditOf<T>, now: BlockNumber) -> bool {
		let standing = T::Court::standing(job);
		Self::window_of(audit, now).is_some_and(|window| window.is_open(now, &standing))
	}

	/// Lets the window be open again after a claim ended.
	pub(crate) fn open_again(audit: &mut AuditOf<T>, now: BlockNumber) {
		let until = now.saturating_add(audit.again);
		if let Some(window) = audit.window.as_mut() {
			window.until = window.until.max(until);
			if let AuditPhase::Standing { until } = &mut audit.phase {
				*until = window.until;
			}
		}
	}

	/// Opens the window.
	pub(crate) fn open_standing(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) {
		let window = Window::new(now, audit.length, audit.again);
		let until = window.until;
		audit.window = Some(window);
		audit.phase = AuditPhase::Standing { until };
		let after = T::Beacon::draw_height(now);
		audit.recheck = Rechecks::Drawing { after };
		Self::deposit_event(Event::StandingOpened { job, until });
	}

	/// Benchmarks: lets this result of `trainer` stand for ever.
	#[cfg(feature = "runtime-benchmarks")]
	pub fn make_standing(
		job: JobId,
		result: trainyard_protocol::job::WorkResult,
		trainer: T::AccountId,
	) -> Option<()> {
		let until = BlockNumber::MAX;
		let (bundle_root, forced) = (result.bundle_root, H256::zero());
		let delivery = trainyard_traits::Delivery { trainer: trainer.clone(), bundle_root, forced };
		let mut audit = Self::audit_of(trainyard_traits::AuditRequest {
			groups: alloc::vec![(result, alloc::vec![delivery])],
			assignment: H256::zero(),
			parties: alloc::vec![trainer],
			drawing: trainyard_protocol::duties::Drawing { draws: 1, lottery: None },
			verifiers: 3,
			fee: 1,
			price: 1,
			needs: Default::default(),
			rate: 1,
			fetch: 0,
			recompute: Default::default(),
			challenge: 1,
			window: until,
			again: 1,
			sizes: Default::default(),
			storage_byte: 0,
			storage: 0,
		})?;
		audit.window = Some(Window::new(0, until, 1));
		audit.phase = AuditPhase::Standing { until };
		crate::AuditRecords::<T>::insert(job, audit);
		Some(())
	}

	/// Looks at results that stand.
	pub(crate) fn look_at_standing(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) -> Step {
		match audit.relay {
			Some(relay) if now <= relay => return Step::Wait(relay.saturating_add(1)),
			Some(_) => {
				Self::open_rescue(job, audit, now);
				return Step::Again;
			}
			None => {}
		}
		let seed_at = Self::draw_rechecks(job, audit, now);
		if audit.relays > 0 {
			// Their end is told.
			let at = now.saturating_add(audit.again.max(1));
			return Step::Wait(seed_at.map_or(at, |seed_at| seed_at.min(at)));
		}
		let standing = T::Court::standing(job);
		let Some(window) = Self::window_of(audit, now) else { return Step::Over };
		if window.is_over(now, &standing) {
			Self::close_standing(job, audit, now);
			return Step::Again;
		}
		let ends = match now <= window.until {
			true => window.until.saturating_add(1),
			// The court says when something ended.
			false => now.saturating_add(window.again.max(1)),
		};
		Step::Wait(seed_at.map_or(ends, |at| at.min(ends)))
	}

	/// Draws the evidence that is replayed again, when its seed is there. Returns the height at which it
	/// is, where it is not.
	fn draw_rechecks(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) -> Option<BlockNumber> {
		let Rechecks::Drawing { after } = audit.recheck else { return None };
		let seed = match T::Beacon::seed(RECHECK, &(job, audit.round).encode(), after) {
			Seed::NotBefore(height) => return Some(height),
			Seed::Lost => {
				audit.recheck = Rechecks::Drawing { after: T::Beacon::draw_height(now) };
				return Some(now.saturating_add(1));
			}
			Seed::Ready(seed) => seed,
		};
		let drawn = Self::rechecks_of(job, audit, &seed);
		if !drawn.is_empty() {
			let rechecks = drawn.to_vec();
			Self::deposit_event(Event::RechecksDrawn { job, rechecks });
		}
		audit.recheck = Rechecks::Drawn(drawn);
		None
	}

	/// Draws two of the seats that revealed evidence, and for each a segment of another one's evidence.
	pub(crate) fn rechecks_of(
		job: JobId,
		audit: &AuditOf<T>,
		seed: &H256,
	) -> BoundedVec<Recheck<T::AccountId>, frame_support::traits::ConstU32<RECHECKS>> {
		let mut all: Vec<(T::AccountId, u32, u32)> = Vec::new();
		let mut seats: Vec<T::AccountId> = Vec::new();
		for member in audit.committee.iter().filter(|m| m.revealed && !m.convicted) {
			let who = &member.verifier;
			let Some(findings) = Verdicts::<T>::get(job, who) else { continue };
			let before = all.len();
			for (group, verdict) in (0u32..).zip(findings.verdicts) {
				if let GroupVerdict::Replayed(replayed) = verdict {
					let segments = replayed.evidence.into_iter().map(|e| e.segment);
					all.extend(segments.map(|segment| (who.clone(), group, segment)));
				}
			}
			if all.len() > before {
				seats.push(who.clone());
			}
		}
		let checkers = draw::distinct(RECHECK, seed, seats.len() as u32, RECHECKS);
		let drawn = (0u32..).zip(checkers).filter_map(|(number, at)| {
			let by = seats.get(at as usize)?;
			let others: Vec<_> = all.iter().filter(|(who, _, _)| who != by).collect();
			let domain = (RECHECKED, number).encode();
			let picked = draw::distinct(&domain, seed, others.len() as u32, 1);
			let (of, group, segment) = others.get(*picked.first()? as usize)?;
			Some(Recheck { by: by.clone(), of: of.clone(), group: *group, segment: *segment })
		});
		BoundedVec::truncate_from(drawn.collect())
	}

	/// Returns what the seats revealed of each result that is not decided, of evidence that was not
	/// convicted. What somebody found in a bundle says something of the result if its forced leaves were
	/// opened: until then it may differ from others anywhere.
	pub(crate) fn replays_of(job: JobId, audit: &AuditOf<T>) -> Vec<(usize, Vec<Replayed>)> {
		let findings: Vec<_> = audit
			.committee
			.iter()
			.filter(|member| member.revealed && !member.convicted)
			.filter_map(|member| Verdicts::<T>::get(job, &member.verifier))
			.collect();
		let of = |at: usize| {
			let verdicts = findings.iter().filter_map(|findings| findings.verdicts.get(at));
			let replays = verdicts.filter_map(|verdict| match verdict {
				GroupVerdict::Replayed(replayed) => Some(replayed),
				_ => None,
			});
			replays.filter(|replayed| audit.is_of_result(at, replayed)).cloned().collect()
		};
		audit.undecided().map(|(at, _)| (at, of(at))).collect()
	}

	/// Ends the window: accepts what can be. Where one result stands and has too little evidence, another
	/// committee is drawn, if there is a round left.
	pub(crate) fn close_standing(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) {
		Self::judge_differences(job, audit);
		Self::charge_unasked(job, audit);
		Self::charge_postponed(job, audit);
		Self::leave_seats(job, audit);
		let replays = Self::replays_of(job, audit);
		let seats = audit.committee.len();
		let mut decision = Decision::Undecided;
		if let [(_, replayed)] = replays.as_slice() {
			if is_majority(replayed.len(), seats) {
				decision = match stood_still(replayed) {
					true => Decision::Idle,
					false => Decision::Accepted,
				};
			} else if audit.round.saturating_add(1) < MAX_AUDIT_ROUNDS {
				Self::next_round(job, audit, now);
				return;
			}
		}
		Self::finish(job, audit, decision);
	}
}
