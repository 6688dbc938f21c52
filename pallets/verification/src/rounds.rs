//! The audit as a state machine.
//!
//! ```text
//! Drawing -> Committing -> Revealing -> all groups decided ----------------> Done
//!    ^           |             |     -> a group unavailable -> Rescue --+      ^
//!    |           +-- nobody ---+     -> a group without majority        |      |
//!    +------------------- next round, at most MAX_AUDIT_ROUNDS <--------+------+
//! ```
//!
//! - Without a committee there is no round: the draw is made again after a pause that doubles each
//!   time, up to `MaxWaitBlocks`. The owner of the audit decides how long it waits for verifiers,
//!   and ends an audit that waits by `give_up`.
//! - A group whose majority is *unavailable* opens a rescue window, once. Without a rescue, or when
//!   it cannot be fetched in a later round either, it is unavailable. If it is rescued when no
//!   round is left, it stays undecided: its trainers did what was asked of them.
//! - A group decided in one round is not asked about in the next.
//! - If two groups pass in one round, neither is decided, and a group that passes after another is
//!   not decided either: at most one result is true. The next round replays other segments.

use crate::{
	verdicts::{stance, tally, Outcome, Stance},
	Audit, AuditOf, AuditRecords, Config, Error, Event, Fault, Group, Pallet, Rescue, Room,
	Verdicts, WeightInfo, MAX_PARTIES,
};
use alloc::vec::Vec;
use frame_support::{ensure, traits::Get, weights::Weight, BoundedVec};
use sp_runtime::DispatchResult;
use trainyard_protocol::{
	audit::{AuditPhase, Decision, Findings},
	job::{BlockNumber, MAX_AUDIT_ROUNDS, MAX_AUDIT_SEGMENTS, MAX_VERIFIERS},
	JobId,
};
use trainyard_traits::{AuditRequest, AuditStatus, Audits, Beacon, Seed};

/// Blocks for which an audit waits when there is no committee for the first time.
const FIRST_WAIT: BlockNumber = 10;

/// What a look at an audit leads to.
enum Step {
	/// It moved: look again.
	Again,
	/// Nothing can happen before this height, unless everyone is done earlier.
	Wait(BlockNumber),
	/// It is decided.
	Over,
}

impl<T: Config> Audits<T::AccountId> for Pallet<T> {
	fn open(job: JobId, request: AuditRequest<T::AccountId>) -> DispatchResult {
		ensure!(!AuditRecords::<T>::contains_key(job), Error::<T>::AlreadyOpen);
		let audit = Self::audit_of(request).ok_or(Error::<T>::BadRequest)?;
		Self::deposit_event(Event::AuditOpened { job, groups: audit.groups.len() as u32 });
		AuditRecords::<T>::insert(job, audit);
		Ok(())
	}

	/// Takes the audit on. An unknown audit is done, without any decision.
	fn advance(job: JobId) -> AuditStatus<T::AccountId> {
		let Some(mut audit) = AuditRecords::<T>::get(job) else {
			return AuditStatus::Done { decisions: Vec::new(), served: Vec::new() };
		};
		let now = Self::now();
		// Ends: every step but the last brings the audit to a later phase or round, and a seed of
		// blocks after `now` is not there yet.
		let wait = loop {
			match Self::step(job, &mut audit, now) {
				Step::Again => {}
				Step::Wait(height) => break Some(height.max(now.saturating_add(1))),
				Step::Over => break None,
			}
		};
		AuditRecords::<T>::insert(job, &audit);
		match wait {
			Some(height) => AuditStatus::Pending(height),
			None => AuditStatus::Done {
				decisions: audit
					.groups
					.iter()
					.map(|group| group.decision.unwrap_or(Decision::Undecided))
					.collect(),
				served: audit.served.into_inner(),
			},
		}
	}

	fn give_up(job: JobId) {
		let waits = |audit: &AuditOf<T>| matches!(audit.phase, AuditPhase::Drawing { .. });
		if let Some(mut audit) = AuditRecords::<T>::get(job).filter(waits) {
			Self::end_undecided(job, &mut audit);
			AuditRecords::<T>::insert(job, audit);
		}
	}

	fn remove(job: JobId) {
		if let Some(audit) = AuditRecords::<T>::take(job) {
			Self::dissolve(&audit);
			Self::drop_verdicts(job, &audit);
		}
	}

	fn advance_weight() -> Weight {
		T::WeightInfo::close_round()
			.saturating_add(T::WeightInfo::seat(Room::<T::MaxPool>::get()))
			.saturating_add(T::Beacon::seed_weight())
			.saturating_add(Self::rescues_weight())
	}
}

impl<T: Config> Pallet<T> {
	/// Returns the audit that `request` asks for; `None` when it is out of bounds.
	fn audit_of(request: AuditRequest<T::AccountId>) -> Option<AuditOf<T>> {
		let AuditRequest { groups, parties, audit_segments, verifiers, fee, needs } = request;
		let fits = !groups.is_empty()
			&& groups.iter().all(|(result, _)| result.trained() > 0)
			&& (1..=MAX_VERIFIERS).contains(&verifiers)
			&& (1..=MAX_AUDIT_SEGMENTS).contains(&audit_segments);
		if !fits {
			return None;
		}
		let groups = groups
			.into_iter()
			.map(|(result, trainers)| {
				Some(Group {
					result,
					trainers: trainers.try_into().ok()?,
					drawn: Default::default(),
					decision: None,
					rescue: Rescue::NotNeeded,
				})
			})
			.collect::<Option<Vec<_>>>()?;
		Some(Audit {
			round: 0,
			phase: Self::drawing(Self::now()),
			audit_segments,
			verifiers,
			parties: BoundedVec::<_, frame_support::traits::ConstU32<MAX_PARTIES>>::try_from(
				parties,
			)
			.ok()?,
			groups: groups.try_into().ok()?,
			committee: Default::default(),
			fee,
			stake: T::SeatStake::get(),
			needs,
			waits: 0,
			served: Default::default(),
		})
	}

	/// Takes the audit one phase further, if it is time.
	fn step(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) -> Step {
		match audit.phase {
			AuditPhase::Drawing { after } => match Self::seed(job, audit.round, after) {
				Seed::NotBefore(height) => Step::Wait(height),
				Seed::Lost => {
					audit.phase = Self::drawing(now);
					Step::Wait(now.saturating_add(1))
				}
				Seed::Ready(seed) => {
					if Self::seat(job, audit, &seed, after) {
						audit.waits = 0;
						let until = now.saturating_add(T::CommitBlocks::get());
						audit.phase = AuditPhase::Committing { until };
					} else {
						Self::wait_for_verifiers(job, audit, now);
					}
					Step::Again
				}
			},
			AuditPhase::Committing { until } => {
				if now <= until && !audit.all_committed() {
					return Step::Wait(until.saturating_add(1));
				}
				if audit.committee.iter().any(|member| member.commitment.is_some()) {
					let until = now.saturating_add(T::RevealBlocks::get());
					audit.phase = AuditPhase::Revealing { until };
					Self::deposit_event(Event::RevealOpened { job, until });
				} else {
					Self::close_round(job, audit, now);
				}
				Step::Again
			}
			AuditPhase::Revealing { until } => {
				if now <= until && !audit.all_revealed() {
					return Step::Wait(until.saturating_add(1));
				}
				Self::close_round(job, audit, now);
				Step::Again
			}
			AuditPhase::Rescue { until } => {
				if audit.awaits_rescue() {
					let until = Self::rescue_until(job, until);
					if now <= until {
						audit.phase = AuditPhase::Rescue { until };
						return Step::Wait(until.saturating_add(1));
					}
				}
				Self::decide(job, audit, |group| {
					(group.rescue == Rescue::Asked).then_some(Decision::Unavailable)
				});
				Self::next_round(job, audit, now);
				Step::Again
			}
			AuditPhase::Done => Step::Over,
		}
	}

	/// Puts the draw off, each time twice as long as before.
	fn wait_for_verifiers(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) {
		let longer = 1u32.checked_shl(audit.waits).unwrap_or(u32::MAX);
		let pause = FIRST_WAIT.saturating_mul(longer).min(T::MaxWaitBlocks::get());
		audit.waits = audit.waits.saturating_add(1);
		let after = now.saturating_add(pause);
		audit.phase = AuditPhase::Drawing { after };
		Self::deposit_event(Event::NoCommittee { job, round: audit.round, after });
	}

	/// Decides what the committee's verdicts decide, notes whose fee is earned, slashes, and opens
	/// the rescue window or starts the next round.
	pub(crate) fn close_round(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) {
		let findings: Vec<Option<Findings>> = audit
			.committee
			.iter()
			.map(|m| m.revealed.then(|| Verdicts::<T>::get(job, &m.verifier)).flatten())
			.collect();
		let votes: Vec<Vec<_>> = (0..audit.groups.len())
			.map(|at| findings.iter().map(|f| f.as_ref().and_then(|f| f.get(at))).collect())
			.collect();
		let outcomes: Vec<Option<Outcome>> = audit
			.groups
			.iter()
			.zip(&votes)
			.map(|(group, votes)| tally(votes).filter(|_| group.decision.is_none()))
			.collect();
		// All replicas share the seed, so at most one result is true. The segments drawn do not
		// distinguish two that pass: others must be drawn.
		let passed = outcomes.iter().filter(|o| matches!(o, Some(Outcome::Accept(_)))).count();
		let known = audit.groups.iter().any(|g| g.decision.is_some_and(|d| d.is_true()));
		let contradiction = passed > usize::from(!known);
		let mut stances: Vec<Stance> = findings.iter().map(|_| Stance::Agrees).collect();
		let mut decisions = Vec::new();
		for ((group, votes), outcome) in audit.groups.iter_mut().zip(&votes).zip(outcomes) {
			let contradicts = contradiction && matches!(outcome, Some(Outcome::Accept(_)));
			let outcome = outcome.filter(|_| !contradicts);
			// The rescued states are those of the segments drawn, so the group keeps them.
			if contradicts && group.rescue == Rescue::NotNeeded {
				group.drawn = Default::default();
			}
			if group.decision.is_none() {
				for (worst, vote) in stances.iter_mut().zip(votes) {
					*worst = (*worst).max(stance(*vote, outcome.as_ref()));
				}
			}
			decisions.push(match outcome {
				None => None,
				Some(Outcome::Unavailable) if group.rescue == Rescue::NotNeeded => {
					group.rescue = Rescue::Asked;
					None
				}
				Some(outcome) => Some(outcome.decision()),
			});
		}
		let mut decisions = decisions.into_iter();
		Self::decide(job, audit, |_| decisions.next().flatten());

		for (member, stance) in audit.committee.iter().zip(&stances) {
			if *stance == Stance::Agrees {
				// Bounded by the rounds and the size of a committee.
				let _ = audit.served.try_push(member.verifier.clone());
			}
		}
		let faults: Vec<Option<Fault>> = stances
			.into_iter()
			.map(|stance| match stance {
				Stance::Agrees | Stance::InVain => None,
				Stance::Silent => Some(Fault::NoVerdict),
				Stance::Contradicts => Some(Fault::Contrary),
			})
			.collect();
		Self::close_seats(job, audit, &faults);

		if audit.awaits_rescue() {
			let until = Self::begin_rescue(job, now);
			audit.phase = AuditPhase::Rescue { until };
			Self::deposit_event(Event::RescueOpened { job, until });
		} else {
			Self::next_round(job, audit, now);
		}
	}

	/// Ends the audit when everything is decided or no round is left, else starts the next.
	fn next_round(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) {
		let next = audit.round.saturating_add(1);
		if !audit.is_decided() && next < MAX_AUDIT_ROUNDS {
			Self::drop_verdicts(job, audit);
			audit.committee = Default::default();
			audit.round = next;
			audit.phase = Self::drawing(now);
			return;
		}
		Self::end_undecided(job, audit);
	}

	/// Ends the audit; what is still open stays undecided.
	fn end_undecided(job: JobId, audit: &mut AuditOf<T>) {
		Self::decide(job, audit, |_| Some(Decision::Undecided));
		audit.phase = AuditPhase::Done;
		Self::end_rescues(job);
		Self::deposit_event(Event::AuditDone { job, fees: audit.served.len() as u32 });
	}

	/// Asks `rule` about each group in turn, and decides the groups still open for which it returns
	/// a decision.
	fn decide(
		job: JobId,
		audit: &mut AuditOf<T>,
		mut rule: impl FnMut(&Group<T::AccountId>) -> Option<Decision>,
	) {
		for (at, group) in (0u32..).zip(audit.groups.iter_mut()) {
			let decision = rule(group);
			if let (None, Some(decision)) = (group.decision, decision) {
				group.decision = Some(decision);
				Self::deposit_event(Event::Decided { job, group: at, decision });
			}
		}
	}

	/// Forgets the findings of the audit's present committee.
	fn drop_verdicts(job: JobId, audit: &AuditOf<T>) {
		for member in audit.committee.iter().filter(|member| member.revealed) {
			Verdicts::<T>::remove(job, &member.verifier);
		}
	}
}
