//! The steps of a task.
//!
//! | phase | goes on when | and then |
//! |---|---|---|
//! | Open | the blocks for applications passed | Drawing; Ended where too few applied |
//! | Drawing | the seed is there | Computing |
//! | Computing | all replicas committed, or its blocks passed | Sampling; Ended where nobody did |
//! | Sampling | the seed is there | Auditing, or Revealing |
//! | Auditing | the auditor committed, or its blocks passed | Revealing; Sampling again, three times at most, and then Ended |
//! | Revealing | all showed, and all outputs are stored; or its blocks passed | Challenging; Ended where nobody delivered |
//! | Challenging | its blocks passed, and no dispute runs | Ended |
//!
//! A replica learns whether there is an audit after it committed, and nobody sees a claim before all have
//! committed. Times for storing stand still while blocks have no room, as [`stood_still`] says.

use crate::{
	posting::TaskOf, Config, Event, HoldReason, Out, Pallet, Replica, Subject, Tasks, WeightInfo,
	AUDIT_PAUSE, MAX_TRIES, POLL_BLOCKS, SILENCE_PART,
};
use alloc::vec::Vec;
use codec::Encode;
use frame_support::{defensive, traits::Get, weights::Weight, BoundedVec};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{draw, job::BlockNumber, H256};
use trainyard_task::{
	spec::CERTAIN,
	views::{Phase, TaskEnd},
	TaskId,
};
use trainyard_traits::{stood_still, AwaitedBlobs, Beacon, Drawn, Seed, VerifierPool};

/// Domain of the seed by which replicas are drawn.
const REPLICAS: &[u8] = b"trainyard/task/replicas/v1";
/// Domain of the seed by which audits are drawn.
const AUDIT: &[u8] = b"trainyard/task/audit/v1";
/// Domain of the draw of who audits: by that of whether there is an audit, the lowest accounts of the pool would have
/// each.
const AUDITOR: &[u8] = b"trainyard/task/auditor/v1";

impl<T: Config> Pallet<T> {
	/// Looks at a task: does what can be done of the phase that it is in, and puts it on the agenda again.
	/// Returns the weight of what was done, at most [`Self::worst_advance`].
	pub(crate) fn advance(id: TaskId) -> Weight {
		let Some(mut task) = Tasks::<T>::get(id) else {
			defensive!("a task on the agenda exists");
			return T::WeightInfo::look();
		};
		let now = Self::now();
		let look = T::WeightInfo::look();
		let (next, weight) = match task.phase {
			Phase::Open { until } if now <= until => (until.saturating_add(1), look),
			Phase::Open { .. } => {
				(Self::close_applications(id, &mut task, now), Self::end_weight())
			}
			Phase::Drawing { after } => (
				Self::look_at_drawing(id, &mut task, now, after),
				T::WeightInfo::draw().saturating_add(T::Beacon::seed_weight()),
			),
			Phase::Computing { until } => {
				let waits = task.replicas.iter().any(|replica| replica.commitment.is_none());
				if waits && now <= until {
					(until.saturating_add(1), look)
				} else {
					(Self::end_computing(id, &mut task, now), Self::end_weight())
				}
			}
			Phase::Sampling { after, tries } => (
				Self::look_at_sampling(id, &mut task, now, (after, tries)),
				T::WeightInfo::sample()
					.saturating_add(T::Beacon::seed_weight())
					.saturating_add(Self::end_weight()),
			),
			Phase::Auditing { until, tries } => {
				let waits = task.auditor.as_ref().is_some_and(|a| a.commitment.is_none());
				if waits && now <= until {
					(until.saturating_add(1), look)
				} else {
					let next = Self::end_auditing(id, &mut task, now, tries);
					(next, T::WeightInfo::sample().saturating_add(Self::end_weight()))
				}
			}
			Phase::Revealing { since, full, until } => {
				let next = Self::look_at_revealing(id, &mut task, now, (since, full, until));
				(next, Self::end_weight())
			}
			Phase::Challenging { until } => {
				if now <= until {
					(until.saturating_add(1), look)
				} else if task.running > 0 {
					(now.saturating_add(T::MoveBlocks::get()), look)
				} else {
					(Self::settle(id, &mut task, now), Self::end_weight())
				}
			}
			Phase::Ended(_) => {
				Self::forget(id, &task);
				return T::WeightInfo::forget();
			}
		};
		Tasks::<T>::insert(id, task);
		Self::schedule(Subject::Task(id), next);
		weight
	}

	/// Returns the weight of what ends a phase at worst, and so may end the task.
	fn end_weight() -> Weight {
		T::WeightInfo::close_reveals().max(T::WeightInfo::settle())
	}

	/// Returns the largest weight of one [`Self::advance`].
	pub(crate) fn worst_advance() -> Weight {
		let seed = T::Beacon::seed_weight();
		[
			Self::end_weight(),
			T::WeightInfo::draw().saturating_add(seed),
			T::WeightInfo::sample().saturating_add(seed).saturating_add(Self::end_weight()),
			T::WeightInfo::forget(),
		]
		.into_iter()
		.fold(T::WeightInfo::look(), |most, step| most.max(step))
	}

	/// Returns when a task that ended now is forgotten.
	fn retained(now: BlockNumber) -> BlockNumber {
		now.saturating_add(T::RetentionBlocks::get())
	}

	fn close_applications(id: TaskId, task: &mut TaskOf<T>, now: BlockNumber) -> BlockNumber {
		if task.applicants.len() < usize::from(task.terms.replicas) {
			Self::end(id, task, TaskEnd::Untaken);
			return Self::retained(now);
		}
		let after = T::Beacon::draw_height(now);
		task.phase = Phase::Drawing { after };
		after.saturating_add(1)
	}

	fn look_at_drawing(
		id: TaskId,
		task: &mut TaskOf<T>,
		now: BlockNumber,
		after: BlockNumber,
	) -> BlockNumber {
		let seed = match T::Beacon::seed(REPLICAS, &id.encode(), after) {
			Seed::NotBefore(height) => return height,
			Seed::Lost => {
				let after = T::Beacon::draw_height(now);
				task.phase = Phase::Drawing { after };
				Self::deposit_event(Event::SeedLost { task: id });
				return after.saturating_add(1);
			}
			Seed::Ready(seed) => seed,
		};
		Self::draw_replicas(id, task, now, &seed)
	}

	/// Draws the replicas, and lets the others go.
	pub(crate) fn draw_replicas(
		id: TaskId,
		task: &mut TaskOf<T>,
		now: BlockNumber,
		seed: &H256,
	) -> BlockNumber {
		let mut all: Vec<_> = task.applicants.iter().cloned().map(|who| (who, 1)).collect();
		all.sort();
		// Each application has the same deposit at stake, and so the same weight: whoever comes under many
		// names pays for each.
		let drawn = draw::weighted(REPLICAS, seed, &all, task.terms.replicas.into());
		task.applicants.retain(|who| !drawn.contains(who));
		Self::dismiss_applicants(task);
		let deposit = task.terms.deposit;
		let replicas = drawn.iter().cloned();
		let replicas = replicas.map(|who| Replica { who, deposit, commitment: None, claim: None });
		task.replicas = BoundedVec::truncate_from(replicas.collect());
		let until = now.saturating_add(task.terms.compute);
		task.phase = Phase::Computing { until };
		let replicas = BoundedVec::truncate_from(drawn);
		Self::deposit_event(Event::Drawn { task: id, replicas, until });
		until.saturating_add(1)
	}

	/// Lets the replicas go that did not commit.
	fn end_computing(id: TaskId, task: &mut TaskOf<T>, now: BlockNumber) -> BlockNumber {
		let (committed, silent): (Vec<_>, Vec<_>) = core::mem::take(&mut task.replicas)
			.into_iter()
			.partition(|replica| replica.commitment.is_some());
		for replica in silent {
			// Nobody earns by it: a submitter whose task takes longer than it says gains nothing.
			let lost = replica.deposit / SILENCE_PART;
			let rest = replica.deposit.saturating_sub(lost);
			Self::give_back(HoldReason::Replica, &replica.who, rest);
			Self::forfeit(id, HoldReason::Replica, &replica.who, lost, &[]);
		}
		if committed.is_empty() {
			Self::end(id, task, TaskEnd::Undelivered);
			return Self::retained(now);
		}
		task.replicas = BoundedVec::truncate_from(committed);
		let after = T::Beacon::draw_height(now);
		task.phase = Phase::Sampling { after, tries: 0 };
		after.saturating_add(1)
	}

	fn look_at_sampling(
		id: TaskId,
		task: &mut TaskOf<T>,
		now: BlockNumber,
		(after, tries): (BlockNumber, u8),
	) -> BlockNumber {
		let seed = match T::Beacon::seed(AUDIT, &id.encode(), after) {
			Seed::NotBefore(height) => return height,
			Seed::Lost => {
				let after = T::Beacon::draw_height(now);
				// Whoever fills the hook to miss a seed by which there is an audit has one for certain.
				task.phase = Phase::Sampling { after, tries: tries.max(1) };
				Self::deposit_event(Event::SeedLost { task: id });
				return after.saturating_add(1);
			}
			Seed::Ready(seed) => seed,
		};
		Self::draw_auditor(id, task, now, (after, tries), &seed)
	}

	/// Draws whether the task is audited, and by whom.
	pub(crate) fn draw_auditor(
		id: TaskId,
		task: &mut TaskOf<T>,
		now: BlockNumber,
		(after, tries): (BlockNumber, u8),
		seed: &H256,
	) -> BlockNumber {
		// That there is an audit is drawn once: whoever keeps verifiers busy gets no other draw to escape by.
		if tries == 0 && !Self::is_audited(seed, task.terms.audit) {
			return Self::begin_reveals(id, task, now);
		}
		let replicas = task.replicas.iter().map(|replica| replica.who.clone());
		let excluded = replicas.chain([task.submitter.clone()]).chain(task.silent.iter().cloned());
		let excluded: Vec<_> = excluded.collect();
		let needs = task.spec.needs();
		let drawn = T::Verifiers::draw(AUDITOR, seed, after, &excluded, 1, &needs);
		let auditor = match drawn {
			Drawn::Seated(drawn) => drawn.into_iter().next(),
			Drawn::Busy | Drawn::TooFew => None,
		};
		let Some(who) = auditor else {
			return Self::missed(id, task, now, tries, None);
		};
		let until = now.saturating_add(task.terms.compute);
		Self::deposit_event(Event::AuditBegan { task: id, auditor: who.clone(), until });
		task.auditor = Some(Replica { who, deposit: 0, commitment: None, claim: None });
		task.phase = Phase::Auditing { until, tries };
		until.saturating_add(1)
	}

	/// Returns whether a seed says that a task is audited, with this chance in thousandths.
	pub(crate) fn is_audited(seed: &H256, chance: u16) -> bool {
		let drawn = draw::distinct(AUDIT, seed, CERTAIN.into(), 1);
		drawn.first().is_some_and(|drawn| *drawn < u32::from(chance))
	}

	/// Goes on after nobody could be drawn for an audit, or who was drawn was silent.
	fn missed(
		id: TaskId,
		task: &mut TaskOf<T>,
		now: BlockNumber,
		tries: u8,
		auditor: Option<T::AccountId>,
	) -> BlockNumber {
		let tries = tries.saturating_add(1);
		let again = tries < MAX_TRIES;
		Self::deposit_event(Event::AuditMissed { task: id, auditor, again });
		if !again {
			// What was to be audited and was not is not paid, or whoever keeps verifiers away would be paid for
			// anything.
			Self::end(id, task, TaskEnd::Unaudited);
			return Self::retained(now);
		}
		let after = T::Beacon::draw_height(now.saturating_add(AUDIT_PAUSE));
		task.phase = Phase::Sampling { after, tries };
		after.saturating_add(1)
	}

	fn end_auditing(id: TaskId, task: &mut TaskOf<T>, now: BlockNumber, tries: u8) -> BlockNumber {
		if task.auditor.as_ref().is_some_and(|auditor| auditor.commitment.is_some()) {
			return Self::begin_reveals(id, task, now);
		}
		// Nothing was asked of it but to come: the periods are the submitter's, and a verifier need not do tasks.
		let silent = Self::dismiss_auditor(task, true);
		if let Some(who) = &silent {
			let noted = task.silent.try_push(who.clone());
			debug_assert!(noted.is_ok(), "as many as tries");
		}
		Self::missed(id, task, now, tries, silent)
	}

	/// Ends the seat of the auditor, who is `present` where it did what it was to do.
	pub(crate) fn dismiss_auditor(task: &mut TaskOf<T>, present: bool) -> Option<T::AccountId> {
		let auditor = task.auditor.take()?;
		if !present {
			T::Verifiers::slash_absent(&auditor.who, task.terms.audit_fee);
		}
		T::Verifiers::release(&auditor.who, &task.spec.needs(), present);
		Some(auditor.who)
	}

	fn begin_reveals(id: TaskId, task: &mut TaskOf<T>, now: BlockNumber) -> BlockNumber {
		let until = now.saturating_add(task.terms.reveal);
		let full = T::Blobs::full_blocks();
		task.phase = Phase::Revealing { since: now, full, until };
		let audited = task.auditor.is_some();
		Self::deposit_event(Event::RevealsBegan { task: id, audited, until });
		until.saturating_add(1)
	}

	fn look_at_revealing(
		id: TaskId,
		task: &mut TaskOf<T>,
		now: BlockNumber,
		(since, full, until): (BlockNumber, BlockNumber, BlockNumber),
	) -> BlockNumber {
		let full = T::Blobs::full_blocks().saturating_sub(full);
		let until = stood_still(since, until, full);
		let shown = Self::all_revealed(task);
		let stored = || (0..task.claims.len()).all(|claim| Self::is_stored(task, claim));
		if now <= until && !(shown && stored()) {
			// Nobody says that a blob is complete.
			let poll = now.saturating_add(POLL_BLOCKS);
			let end = until.saturating_add(1);
			return if shown { end.min(poll) } else { end };
		}
		Self::close_reveals(id, task, now)
	}

	/// Returns whether everybody who committed has shown its claim.
	pub(crate) fn all_revealed(task: &TaskOf<T>) -> bool {
		task.replicas.iter().chain(&task.auditor).all(|replica| replica.claim.is_some())
	}

	/// Lets those go that did not deliver, and opens the time for challenges.
	pub(crate) fn close_reveals(id: TaskId, task: &mut TaskOf<T>, now: BlockNumber) -> BlockNumber {
		for number in 0..task.claims.len() {
			let stored = Self::is_stored(task, number);
			if let Some(claimed) = task.claims.get_mut(number) {
				claimed.out = (!stored).then_some(Out { at: now, proven: false });
			}
		}
		let stands = |task: &TaskOf<T>, replica: &Replica<T::AccountId>| {
			let claim = replica.claim.and_then(|number| task.claims.get(usize::from(number)));
			claim.is_some_and(|claimed| !claimed.convicted())
		};
		let (delivered, silent): (Vec<_>, Vec<_>) = core::mem::take(&mut task.replicas)
			.into_iter()
			.partition(|replica| stands(task, replica));
		for replica in silent {
			// It committed, and may have seen since that it is audited.
			Self::forfeit(id, HoldReason::Replica, &replica.who, replica.deposit, &[]);
		}
		task.replicas = BoundedVec::truncate_from(delivered);
		if task.auditor.as_ref().is_some_and(|auditor| !stands(task, auditor)) {
			Self::dismiss_auditor(task, false);
		}
		if task.replicas.is_empty() {
			return Self::finish(id, task, now, TaskEnd::Undelivered);
		}
		let until = now.saturating_add(task.terms.challenge);
		task.phase = Phase::Challenging { until };
		Self::deposit_event(Event::ChallengesBegan { task: id, until });
		Self::pair(id, task);
		until.saturating_add(1)
	}

	/// Pays who is to be paid, and ends a task.
	pub(crate) fn settle(id: TaskId, task: &mut TaskOf<T>, now: BlockNumber) -> BlockNumber {
		let end = Self::judge(task);
		match end {
			TaskEnd::Accepted(number) => {
				let claim = Some(number);
				let stands = task.replicas.iter().filter(|replica| replica.claim == claim);
				let paid: Vec<_> = stands.map(|replica| replica.who.clone()).collect();
				for who in paid {
					let reward = task.terms.reward;
					task.escrow = Self::pay(id, &task.submitter, task.escrow, &who, reward);
				}
			}
			TaskEnd::Unresolved => {
				// Each of them could have shown which of the others is false, and nobody did.
				for replica in &mut task.replicas {
					let deposit = core::mem::take(&mut replica.deposit);
					Self::forfeit(id, HoldReason::Replica, &replica.who, deposit, &[]);
				}
			}
			_ => {}
		}
		Self::finish(id, task, now, end)
	}

	/// Pays an auditor whose claim stands, and ends a task.
	fn finish(id: TaskId, task: &mut TaskOf<T>, now: BlockNumber, end: TaskEnd) -> BlockNumber {
		let stands = |number: u8| {
			let claimed = task.claims.get(usize::from(number));
			claimed.is_some_and(|claimed| !claimed.convicted())
		};
		let auditor = task.auditor.as_ref().filter(|auditor| auditor.claim.is_some_and(stands));
		let auditor = auditor.map(|auditor| auditor.who.clone());
		let unresolved = end == TaskEnd::Unresolved;
		// One that is convicted has paid for that.
		let present = auditor.is_none() || !unresolved;
		if let Some(who) = auditor.filter(|_| !unresolved) {
			let fee = task.terms.audit_fee;
			task.escrow = Self::pay(id, &task.submitter, task.escrow, &who, fee);
		}
		Self::dismiss_auditor(task, present);
		Self::end(id, task, end);
		Self::retained(now)
	}

	/// Returns how a task ends whose claims nobody challenges any more.
	fn judge(task: &TaskOf<T>) -> TaskEnd {
		let numbers = (0u8..).zip(&task.claims);
		let mut live =
			numbers.filter(|(_, claimed)| !claimed.convicted()).map(|(number, _)| number);
		match (live.next(), live.next()) {
			(None, _) => TaskEnd::Refuted,
			(Some(_), Some(_)) => TaskEnd::Unresolved,
			(Some(number), None) => {
				let claim = Some(number);
				if task.replicas.iter().any(|replica| replica.claim == claim) {
					TaskEnd::Accepted(number)
				} else {
					TaskEnd::Refuted
				}
			}
		}
	}

	/// Ends a task: everything that is held goes back but the deposit for its record.
	pub(crate) fn end(id: TaskId, task: &mut TaskOf<T>, end: TaskEnd) {
		Self::dismiss_applicants(task);
		for replica in &mut task.replicas {
			let deposit = core::mem::take(&mut replica.deposit);
			Self::give_back(HoldReason::Replica, &replica.who, deposit);
		}
		let refund = core::mem::take(&mut task.escrow);
		Self::give_back(HoldReason::Escrow, &task.submitter, refund);
		let submitter = core::slice::from_ref(&task.submitter);
		for file in [&task.spec.module, &task.spec.input] {
			T::Blobs::release(&file.root, submitter);
		}
		let accepted = match end {
			TaskEnd::Accepted(number) => Some(number),
			_ => None,
		};
		for (number, claimed) in (0u8..).zip(&task.claims) {
			let Some(file) = Self::blob_of(claimed) else { continue };
			let keepers = task.replicas.iter().filter(|_| accepted == Some(number));
			let keepers: Vec<_> = keepers.map(|replica| replica.who.clone()).collect();
			T::Blobs::release(&file.root, &keepers);
		}
		task.phase = Phase::Ended(end);
		Self::deposit_event(Event::Ended { task: id, end, refund });
		Self::schedule(Subject::Task(id), Self::retained(Self::now()));
	}
}
