//! The audit as a state machine.
//!
//! ```text
//! Drawing -> Committing -> Revealing -> Opening -> Standing -> Done
//!    ^         |  ^  |        |                     |  ^  |
//!    |         v  |  |        |                     v  |  |
//!    |       Rescue  |        |                   Rescue  |
//!    +- next round --+--------+---------------------------+ at most MAX_AUDIT_ROUNDS
//! ```
//!
//! - Without a committee there is no round: the draw is made again after a pause that doubles each
//!   time, up to `MaxWaitBlocks`. The owner of the audit decides how long it waits for verifiers,
//!   and ends an audit that waits by `give_up`.
//! - While it commits, a seat can ask for what it lacks (`claims`). Others have `RelayBlocks` to give
//!   it to the seat. What is lacking after that the trainers store on chain in a window that fits its
//!   bytes (`rescue`); a group of which nobody does is lost. The same committee goes on after that:
//!   a new one would be a second draw for a cheat that serves nobody.
//! - Where half of the seats or fewer said something of a result, another committee is drawn. What was
//!   accused before stays before the court, so that is no second chance.
//! - In `Opening` trainers open what they forced to be false (`forced`). Where all have, it has no block of
//!   its own.
//! - Then results stand (`standing`) until nobody challenges anything any more.
//! - A result whose trainers are all convicted is decided at once, and so is one of which nobody stored
//!   what was asked for. Of all others it is said at the end.

use crate::{
	rejections::named, Audit, AuditOf, AuditRecords, Bundle, Config, Error, Event, Forced, Group,
	Pallet, Rechecks, Rejecting, Room, Uploading, Verdicts, WeightInfo, MAX_PARTIES,
};
use alloc::vec::Vec;
use frame_support::{ensure, traits::Get, weights::Weight, BoundedVec};
use sp_runtime::DispatchResult;
use trainyard_pallet_support::majority::is_majority;
use trainyard_protocol::{
	audit::{AuditPhase, Decision, Findings, GroupVerdict},
	claims::Known,
	duties::{self, Drawing},
	job::{Balance, BlockNumber, MAX_AUDIT_ROUNDS, MAX_VERIFIERS},
	seats::Resources,
	JobId, H256,
};
use trainyard_traits::{
	AuditRequest, AuditStatus, Audits, Beacon, CommitteeRequest, Court, Delivery, Outcome, Seed,
};

/// Blocks for which an audit waits when there is no committee for the first time.
const FIRST_WAIT: BlockNumber = 10;

/// What a look at an audit leads to.
pub(crate) enum Step {
	/// It moved: look again.
	Again,
	/// Nothing can happen before this height, unless everyone is done earlier.
	Wait(BlockNumber),
	/// It is decided.
	Over,
}

impl<T: Config> Audits<T::AccountId> for Pallet<T> {
	fn can_seat(request: &CommitteeRequest<T::AccountId>) -> bool {
		Self::has_committee(request)
	}

	/// Counting who could be drawn is a part of drawing.
	fn can_seat_weight() -> Weight {
		T::WeightInfo::seat(Room::<T::MaxPool>::get())
	}

	fn open(job: JobId, request: AuditRequest<T::AccountId>) -> DispatchResult {
		ensure!(!AuditRecords::<T>::contains_key(job), Error::<T>::AlreadyOpen);
		let (drawing, wanted) = (request.drawing, request.verifiers);
		let mut results = request.groups.iter().map(|(result, _)| drawing.segments_of(result));
		let fits = |segments| drawing.fits(segments, drawing.most_seats(segments, wanted));
		let drawn = results.all(fits);
		let audit = Self::audit_of(request).ok_or(Error::<T>::BadRequest)?;
		ensure!(drawn, Error::<T>::BadAuditSegments);
		Self::deposit_event(Event::AuditOpened { job, groups: audit.groups.len() as u32 });
		AuditRecords::<T>::insert(job, audit);
		Ok(())
	}

	/// Takes the audit on. An unknown audit is done, without any decision.
	fn advance(job: JobId) -> AuditStatus<T::AccountId> {
		let Some(mut audit) = AuditRecords::<T>::get(job) else {
			return AuditStatus::Done(Outcome::default());
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
		let tickets = match wait {
			Some(_) => Vec::new(),
			None => Self::tickets(job, &audit),
		};
		match wait {
			Some(height) => AuditStatus::Pending(height),
			None => AuditStatus::Done(Outcome {
				unopened: audit.unopened(),
				found: audit.opened.then(|| audit.found.into_inner()),
				decisions: audit
					.groups
					.iter()
					.map(|group| group.decision.unwrap_or(Decision::Undecided))
					.collect(),
				stored: audit.owed.into_inner(),
				served: audit.served.into_inner(),
				unseated: audit.drawn_at == 0,
				tickets,
			}),
		}
	}

	fn give_up(job: JobId) {
		let waits = |audit: &AuditOf<T>| matches!(audit.phase, AuditPhase::Drawing { .. });
		if let Some(mut audit) = AuditRecords::<T>::get(job).filter(waits) {
			// No committee is drawn any more.
			audit.round = MAX_AUDIT_ROUNDS.saturating_sub(1);
			Self::end_early(job, &mut audit, Self::now());
			AuditRecords::<T>::insert(job, audit);
		}
	}

	fn remove(job: JobId) {
		if let Some(mut audit) = AuditRecords::<T>::take(job) {
			Self::dissolve(job, &mut audit);
			Self::drop_verdicts(job, &audit);
			Self::drop_claims(job, &mut audit);
			Self::drop_relays(job, &mut audit);
			Self::end_rescues(job);
			Self::forget_named(job);
			for trainer in audit.groups.iter().flat_map(|group| &group.trainers) {
				Forced::<T>::remove(job, trainer);
			}
		}
	}

	fn known(job: JobId, trainer: &T::AccountId) -> Option<Known> {
		Self::known_of(job, trainer)
	}

	fn tickets(job: JobId, trainer: &T::AccountId) -> Option<u32> {
		Self::tickets_of(job, trainer)
	}

	fn known_weight() -> Weight {
		T::DbWeight::get().reads(1)
	}

	/// A seat loses no more than it locks, at least what [`duties::seat_stake`] says of certain hits, unless its verifier
	/// has no more than the least bond.
	fn silence_cost(fee: Balance) -> Balance {
		// Whatever it draws, as of a result without a segment.
		let locked = duties::seat_stake(T::SeatStake::get(), 0, fee, [], |_| 0);
		fee.saturating_mul(T::AbsenceFees::get().into()).min(locked).min(T::MinBond::get())
	}

	fn advance_weight() -> Weight {
		T::WeightInfo::close_round()
			.saturating_add(T::WeightInfo::seat(Room::<T::MaxPool>::get()))
			.saturating_add(T::WeightInfo::close_standing())
			.saturating_add(T::WeightInfo::charge_unasked())
			.saturating_add(T::WeightInfo::close_opening())
			.saturating_add(T::Beacon::seed_weight().saturating_mul(2))
			.saturating_add(T::Court::standing_weight())
			.saturating_add(Self::rescues_weight())
			.saturating_add(Self::deeds_weight())
			.saturating_add(Self::tickets_weight())
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_pool() {
		crate::benchmarking::full_pool::<T>();
	}
}

impl<T: Config> Pallet<T> {
	/// Returns what a seat puts at stake at most, what it takes of a verifier's room, and how many blocks it has,
	/// of which fetching and computing again take those that `moved` says, where results have these numbers of `segments` and it is one of so many `seats` that draw so.
	pub(crate) fn seat_terms(
		needs: Resources,
		(rate, moved): (u64, (BlockNumber, BlockNumber)),
		(challenge, fee): (Balance, Balance),
		segments: Vec<u32>,
		(drawing, seats): (Drawing, u32),
	) -> (Balance, Resources, BlockNumber) {
		let draws = |segments| drawing.fewest(segments, seats);
		let stake = duties::seat_stake(T::SeatStake::get(), challenge, fee, segments, draws);
		// Verifiers declare what they replay in the least time, and have more for more.
		let least = T::CommitBlocks::get();
		let replay = duties::commit_blocks(needs.work, rate, least);
		let time = duties::round_blocks(replay, moved, least);
		(stake, Resources { work: duties::work_of(needs.work, replay, least), ..needs }, time)
	}

	/// Returns the audit that `request` asks for; `None` when it is out of bounds.
	pub(crate) fn audit_of(request: AuditRequest<T::AccountId>) -> Option<AuditOf<T>> {
		let AuditRequest {
			groups,
			assignment,
			parties,
			drawing,
			verifiers,
			fee,
			price,
			needs,
			rate,
			fetch,
			recompute,
			challenge,
			window,
			again,
			sizes,
			storage_byte,
			storage,
		} = request;
		let fits = !groups.is_empty()
			&& groups.iter().all(|(result, trainers)| result.trained() > 0 && !trainers.is_empty())
			&& (1..=MAX_VERIFIERS).contains(&verifiers)
			&& challenge > 0;
		if !fits {
			return None;
		}
		let segments: Vec<u32> = groups.iter().map(|(result, _)| result.segments).collect();
		let moved = (fetch, recompute.round);
		let (stake, needs, time) = Self::seat_terms(
			needs,
			(rate, moved),
			(challenge, fee),
			segments,
			(drawing, verifiers),
		);
		let groups = groups
			.into_iter()
			.map(|(result, trainers)| {
				let bundle = |delivery: &Delivery<_>| {
					let Delivery { bundle_root: root, forced, .. } = *delivery;
					Bundle { root, forced, opened: false, secret: Default::default() }
				};
				let bundles: Vec<Bundle> = trainers.iter().map(bundle).collect();
				let trainers: Vec<_> = trainers.into_iter().map(|one| one.trainer).collect();
				Some(Group {
					result,
					trainers: trainers.try_into().ok()?,
					bundles: bundles.try_into().ok()?,
					convicted: Default::default(),
					out_at: Default::default(),
					decision: None,
					decided_at: None,
					asked: Default::default(),
					late: 0,
					relayed: false,
				})
			})
			.collect::<Option<Vec<_>>>()?;
		let parties =
			BoundedVec::<_, frame_support::traits::ConstU32<MAX_PARTIES>>::try_from(parties);
		Some(Audit {
			round: 0,
			phase: Self::drawing(Self::now()),
			drawing,
			verifiers,
			parties: parties.ok()?,
			barred: Default::default(),
			groups: groups.try_into().ok()?,
			committee: Default::default(),
			seed: None,
			drawn_at: 0,
			assignment,
			opened: false,
			mixed: H256::zero(),
			found: Default::default(),
			fee,
			price,
			stake,
			challenge,
			needs,
			time,
			recompute,
			waits: 0,
			sizes,
			storage_byte,
			storage,
			relay: None,
			latest: 0,
			windows: 0,
			relays: 0,
			length: window,
			again,
			window: None,
			recheck: Rechecks::None,
			served: Default::default(),
			waiting: Default::default(),
			owing: Default::default(),
			owed: Default::default(),
		})
	}

	/// Takes the audit one phase further, if it is time.
	fn step(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) -> Step {
		match audit.phase {
			AuditPhase::Drawing { .. } if audit.is_decided() => {
				Self::end_early(job, audit, now);
				Step::Again
			}
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
			AuditPhase::Committing { .. } if audit.is_decided() => {
				Self::close_unheard(job, audit);
				Self::end_early(job, audit, now);
				Step::Again
			}
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
					Self::close_reveals(job, audit, now);
				}
				Step::Again
			}
			AuditPhase::Revealing { until } => {
				if now <= until && !audit.all_revealed() {
					return Step::Wait(until.saturating_add(1));
				}
				Self::close_reveals(job, audit, now);
				Step::Again
			}
			AuditPhase::Opening { until } => {
				if let Some(until) = Self::opening_until(job, audit, until, now) {
					audit.phase = AuditPhase::Opening { until };
					return Step::Wait(until.saturating_add(1));
				}
				Uploading::<T>::remove(job);
				Self::close_opening(job, audit);
				Self::open_standing(job, audit, now);
				Step::Again
			}
			AuditPhase::Standing { .. } => Self::look_at_standing(job, audit, now),
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

	/// Ends the time for reveals: notes whose fee is earned or waits, takes what absence costs, and lets results
	/// stand, or starts the next round where half of the seats or fewer said something of one.
	pub(crate) fn close_reveals(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) {
		let findings: Vec<Option<Findings<T::AccountId>>> = audit
			.committee
			.iter()
			.map(|m| m.revealed.then(|| Verdicts::<T>::get(job, &m.verifier)).flatten())
			.collect();
		let says = |findings: &Option<Findings<T::AccountId>>, at: usize| {
			let verdict = findings.as_ref().and_then(|findings| findings.verdicts.get(at));
			verdict.is_some_and(|verdict| !matches!(verdict, GroupVerdict::Unavailable))
		};
		let open: Vec<usize> = audit.undecided().map(|(at, _)| at).collect();
		let seats = audit.committee.len();
		let is_heard = |at: &usize| {
			let spoke = findings.iter().filter(|findings| says(findings, *at)).count();
			is_majority(spoke, seats)
		};
		let heard = open.iter().all(is_heard);
		for (member, findings) in audit.committee.iter().zip(&findings) {
			let speaks = member.revealed && open.iter().all(|at| says(findings, *at));
			let Some(findings) = findings.as_ref().filter(|_| speaks && !member.lost) else {
				continue;
			};
			let named = named(findings, &open);
			// Bounded by the rounds and the size of a committee.
			let _ = match named.is_empty() {
				true => audit.served.try_push(member.verifier.clone()).is_ok(),
				false => {
					let rejecting = Rejecting { seat: member.verifier.clone(), named };
					audit.waiting.try_push(rejecting).is_ok()
				}
			};
		}
		let said = audit.committee.iter().zip(&findings);
		let absent: Vec<bool> = said
			.map(|(member, found)| Self::is_absent(job, audit, member, found.as_ref()))
			.collect();
		Self::close_seats(job, audit, &absent);
		Self::drop_claims(job, audit);
		let is_last = audit.round.saturating_add(1) >= MAX_AUDIT_ROUNDS;
		if heard || is_last || Self::stands_unheard(audit, &findings) {
			Self::open_opening(job, audit, now);
			return;
		}
		Self::note_owing(job, audit);
		Self::leave_seats(job, audit);
		Self::next_round(job, audit, now);
	}

	/// Ends a round that needs nothing any more: every result is decided, and whether a seat was ready
	/// nobody can know, so all earned the fee.
	pub(crate) fn close_unheard(job: JobId, audit: &mut AuditOf<T>) {
		for member in audit.committee.iter().filter(|member| !member.lost) {
			// Bounded by the rounds and the size of a committee.
			let _ = audit.served.try_push(member.verifier.clone());
		}
		Self::unload_seats(audit);
		Self::leave_seats(job, audit);
		Self::drop_claims(job, audit);
	}

	/// Draws another committee. What the last one revealed is forgotten, but not whom it accused.
	pub(crate) fn next_round(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) {
		Self::drop_verdicts(job, audit);
		Self::drop_claims(job, audit);
		Self::empty_lists(job, audit);
		audit.committee = Default::default();
		audit.seed = None;
		if !audit.opened {
			audit.mixed = H256::zero();
		}
		audit.window = None;
		audit.recheck = Rechecks::None;
		audit.round = audit.round.saturating_add(1);
		audit.phase = Self::drawing(now);
	}

	/// Ends an audit that draws no further committee: at once, or when the court has decided what earlier
	/// ones accused others of.
	pub(crate) fn end_early(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) {
		match T::Court::standing(job).is_quiet() {
			true => Self::finish(job, audit, Decision::Undecided),
			false => Self::open_opening(job, audit, now),
		}
	}

	/// Ends the audit; what is still open is decided like this.
	pub(crate) fn finish(job: JobId, audit: &mut AuditOf<T>, decision: Decision) {
		Self::decide(job, audit, |_, _| Some(decision));
		Self::pay_waiting(audit);
		Self::charge_owing(job, audit);
		audit.phase = AuditPhase::Done;
		audit.window = None;
		audit.recheck = Rechecks::None;
		Self::drop_claims(job, audit);
		Self::end_rescues(job);
		Self::forget_named(job);
		Self::deposit_event(Event::AuditDone { job, fees: audit.served.len() as u32 });
	}

	/// Asks `rule` about each group in turn, and decides the groups still open for which it returns
	/// a decision.
	pub(crate) fn decide(
		job: JobId,
		audit: &mut AuditOf<T>,
		mut rule: impl FnMut(u32, &Group<T::AccountId>) -> Option<Decision>,
	) {
		let now = Self::now();
		for (at, group) in (0u32..).zip(audit.groups.iter_mut()) {
			let decision = rule(at, group);
			if let (None, Some(decision)) = (group.decision, decision) {
				(group.decision, group.decided_at) = (Some(decision), Some(now));
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
