//! The audit as a state machine.
//!
//! ```text
//! Drawing -> Committing -> Revealing -> all groups decided ----------------> Done
//!    ^         |  ^  |        |     -> a group without majority               ^
//!    |         |  |  +-nobody-+                |                              |
//!    |         v  |                            |                              |
//!    |       Rescue -> what was asked for is stored, or its group is lost ----+
//!    +------------------- next round, at most MAX_AUDIT_ROUNDS <--------------+
//! ```
//!
//! - Without a committee there is no round: the draw is made again after a pause that doubles each
//!   time, up to `MaxWaitBlocks`. The owner of the audit decides how long it waits for verifiers,
//!   and ends an audit that waits by `give_up`.
//! - While it commits, a seat can ask for what it lacks (`claims`). Others have `RelayBlocks` to give
//!   it to the seat. What is lacking after that the trainers store on chain in a window that fits its
//!   bytes (`rescue`); a group of which nobody does is lost. The same committee goes on after that:
//!   a new one would be a second draw for a cheat that serves nobody.
//! - A group decided in one round is not asked about in the next.
//! - If two groups pass in one round, neither is decided, and a group that passes after another is
//!   not decided either: at most one result is true. The next round replays other segments.

use crate::{
	verdicts::{stance, tally, Outcome, Stance, Vote},
	Audit, AuditOf, AuditRecords, Config, Error, Event, Fault, Group, Pallet, Room, Verdicts,
	WeightInfo, MAX_PARTIES,
};
use alloc::vec::Vec;
use frame_support::{ensure, traits::Get, weights::Weight, BoundedVec};
use sp_runtime::DispatchResult;
use trainyard_protocol::{
	audit::{AuditPhase, Decision, Findings, GroupVerdict, Piece},
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
			let (decisions, served, stored) = Default::default();
			return AuditStatus::Done { decisions, served, stored };
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
				stored: Self::owed(&audit),
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
		if let Some(mut audit) = AuditRecords::<T>::take(job) {
			Self::dissolve(&audit);
			Self::drop_verdicts(job, &audit);
			Self::drop_claims(job, &mut audit);
			Self::end_rescues(job);
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
		let AuditRequest {
			groups,
			parties,
			audit_segments,
			verifiers,
			fee,
			needs,
			sizes,
			storage_byte,
		} = request;
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
					asked: Default::default(),
					storers: Default::default(),
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
			sizes,
			storage_byte,
			relay: None,
			latest: 0,
			windows: 0,
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
						Self::open_commit(audit, now);
					} else {
						Self::wait_for_verifiers(job, audit, now);
					}
					Step::Again
				}
			},
			AuditPhase::Committing { until } => {
				match audit.relay {
					Some(relay) if now <= relay => return Step::Wait(relay.saturating_add(1)),
					Some(_) => {
						Self::open_rescue(job, audit, now);
						return Step::Again;
					}
					None => {}
				}
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
				Self::close_rescue(job, audit, now);
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

	/// Decides what the committee's verdicts decide, notes whose fee is earned, slashes, and starts the
	/// next round.
	pub(crate) fn close_round(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) {
		let findings: Vec<Option<Findings>> = audit
			.committee
			.iter()
			.map(|m| m.revealed.then(|| Verdicts::<T>::get(job, &m.verifier)).flatten())
			.collect();
		let votes: Vec<Vec<Vote>> = (0u32..)
			.zip(&audit.groups)
			.map(|(at, _)| {
				let members = audit.committee.iter().zip(&findings);
				members
					.map(|(member, findings)| {
						match findings.as_ref().and_then(|f| f.get(at as usize)) {
							None => Vote::Nothing,
							Some(GroupVerdict::Unavailable)
								if !Self::was_answered(job, &member.verifier, at) =>
							{
								Vote::Unasked
							}
							Some(verdict) => Vote::Says(verdict),
						}
					})
					.collect()
			})
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
			if contradicts {
				group.drawn = Default::default();
				// What was stored of these segments the next ones do not read.
				let last = Piece::State(group.result.segments);
				group.asked.retain(|asked| match asked.piece {
					Piece::Manifest | Piece::Files => true,
					Piece::State(_) => asked.piece == last,
					Piece::Searched => false,
				});
			}
			if group.decision.is_none() {
				for (worst, vote) in stances.iter_mut().zip(votes) {
					*worst = (*worst).max(stance(*vote, outcome.as_ref()));
				}
			}
			decisions.push(outcome.map(|outcome| outcome.decision()));
		}
		let mut decisions = decisions.into_iter();
		Self::decide(job, audit, |_, _| decisions.next().flatten());

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
		Self::next_round(job, audit, now);
	}

	/// Ends a round that needs no verdicts any more: its trainers did not store what was asked for, and
	/// whether a seat was ready nobody can know, so all earned the fee.
	pub(crate) fn close_unheard(job: JobId, audit: &mut AuditOf<T>) {
		for member in &audit.committee {
			// Bounded by the rounds and the size of a committee.
			let _ = audit.served.try_push(member.verifier.clone());
		}
		let faults: Vec<Option<Fault>> = audit.committee.iter().map(|_| None).collect();
		Self::close_seats(job, audit, &faults);
	}

	/// Ends the audit when everything is decided or no round is left, else starts the next.
	fn next_round(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) {
		let next = audit.round.saturating_add(1);
		if !audit.is_decided() && next < MAX_AUDIT_ROUNDS {
			Self::drop_verdicts(job, audit);
			Self::drop_claims(job, audit);
			audit.committee = Default::default();
			audit.round = next;
			audit.phase = Self::drawing(now);
			return;
		}
		Self::end_undecided(job, audit);
	}

	/// Ends the audit; what is still open stays undecided.
	pub(crate) fn end_undecided(job: JobId, audit: &mut AuditOf<T>) {
		Self::decide(job, audit, |_, _| Some(Decision::Undecided));
		audit.phase = AuditPhase::Done;
		Self::drop_claims(job, audit);
		Self::end_rescues(job);
		Self::deposit_event(Event::AuditDone { job, fees: audit.served.len() as u32 });
	}

	/// Asks `rule` about each group in turn, and decides the groups still open for which it returns
	/// a decision.
	pub(crate) fn decide(
		job: JobId,
		audit: &mut AuditOf<T>,
		mut rule: impl FnMut(u32, &Group<T::AccountId>) -> Option<Decision>,
	) {
		for (at, group) in (0u32..).zip(audit.groups.iter_mut()) {
			let decision = rule(at, group);
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
