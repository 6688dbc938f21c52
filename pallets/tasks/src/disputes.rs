//! Disputes: two traces are narrowed to one step, which is executed; and records of maps, which are executed
//! at once.
//!
//! Claims of replicas and auditors that differ are in dispute by themselves, two and two, until one is left.
//! Besides, anybody with a trace of its own can challenge a claim. Each side is bound to a trace, and what it
//! shows hashes to that: it does not matter who brings it, so anybody may, and nobody can play badly for
//! somebody else. Silence loses, on both sides where both are silent.
//!
//! A claim that is convicted is out, and who challenged it elsewhere has its deposit back. One that was attacked
//! and stands can be challenged for as long again: filling the places for challenges with false ones delays
//! others, and burns a deposit each time.
//!
//! Who challenges seals before what it will say. So nobody takes the prize by copying what it sees in the pool
//! of transactions.

use crate::{
	posting::TaskOf, Brought, Call as PalletCall, Config, Dispute, Disputes, Error, Event,
	HoldReason, OpenedRecord, Out, Pallet, Referee, Seal, Seals, Subject, Tasks, WeightInfo,
	CHALLENGE_PART, MAX_CHALLENGES,
};
use alloc::{collections::BTreeSet, vec::Vec};
use frame_support::{
	defensive, ensure, pallet_prelude::DispatchResult, traits::Get, weights::Weight,
};
use sp_runtime::DispatchError;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{job::BlockNumber, merkle};
use trainyard_task::{
	claim::{self, Path},
	descent::{convicted, Narrowed},
	state::{opened_record, record, Begin, Call},
	views::{Phase, Side, Stage},
	Claim, Descent, Ends, Form, Nodes, StateId, TaskId, H256,
};
use trainyard_traits::{MoveClock, VerifierPool};

/// A dispute of a runtime's accounts.
pub(crate) type DisputeOf<T> = Dispute<<T as frame_system::Config>::AccountId>;

impl<T: Config> Pallet<T> {
	/// Puts claims in dispute that differ and are not, two and two.
	pub(crate) fn pair(id: TaskId, task: &mut TaskOf<T>) {
		if matches!(task.spec.form, Form::Map { .. }) {
			// Whoever knows a false record shows it.
			return;
		}
		let busy: BTreeSet<u8> = Disputes::<T>::iter_prefix_values(id)
			.filter_map(|dispute| match dispute.sides {
				[Side::Claim(a), Side::Claim(b)] => Some([a, b]),
				_ => None,
			})
			.flatten()
			.collect();
		let free = (0u8..).zip(&task.claims).filter(|(_, claimed)| !claimed.convicted());
		let free = free.filter(|(number, _)| !busy.contains(number));
		let free: Vec<_> = free.map(|(number, claimed)| (number, claimed.claim.root)).collect();
		for pair in free.chunks_exact(2) {
			let [(a, first), (b, second)] = pair else { continue };
			let sides = [Side::Claim(*a), Side::Claim(*b)];
			if Self::open_dispute(id, task, sides, [*first, *second]).is_err() {
				defensive!("claims of a task have different roots");
			}
		}
	}

	fn open_dispute(
		id: TaskId,
		task: &mut TaskOf<T>,
		sides: [Side<T::AccountId>; 2],
		roots: [H256; 2],
	) -> Result<(), Error<T>> {
		let count = task.spec.leaves().ok_or(Error::<T>::IsMap)?;
		let descent = Descent::begin(count, roots).ok_or(Error::<T>::SameClaim)?;
		let number = task.next_dispute;
		task.next_dispute = number.checked_add(1).ok_or(Error::<T>::TooMany)?;
		task.running = task.running.saturating_add(1);
		let challenger = match &sides {
			[_, Side::Challenger { who, .. }] => Some(who.clone()),
			_ => None,
		};
		if challenger.is_some() {
			task.challenges = task.challenges.saturating_add(1);
		}
		let claim = match &sides {
			[Side::Claim(claim), _] => *claim,
			_ => u8::MAX,
		};
		let stage = Stage::Descending(descent);
		let mut dispute =
			Dispute { sides, stage, shown: [None, None], until: 0, since: 0, ticks: 0 };
		Self::begin_move(id, number, &mut dispute);
		Disputes::<T>::insert(id, number, dispute);
		Self::deposit_event(Event::Disputed { task: id, dispute: number, claim, challenger });
		Ok(())
	}

	/// Lets the time for the next move of a dispute begin.
	fn begin_move(id: TaskId, number: u32, dispute: &mut DisputeOf<T>) {
		dispute.since = Self::now();
		dispute.ticks = T::Moves::ticks();
		dispute.until = dispute.since.saturating_add(T::MoveBlocks::get());
		Self::schedule(Subject::Dispute(id, number), dispute.until.saturating_add(1));
	}

	/// Returns for how many blocks after this one the move that is due can be made, if all have room; `None` where
	/// it is too late. Blocks whose room for moves is full do not count, as in the court.
	fn blocks_left(dispute: &DisputeOf<T>) -> Option<BlockNumber> {
		let counted = T::Moves::counted(dispute.ticks, dispute.since, Self::now());
		T::MoveBlocks::get().checked_sub(counted)
	}

	/// Returns whether blocks keep room for this call of `who`: a move in a dispute that runs, a challenge that was
	/// sealed, or a seal of who computed the task. It reads one record.
	pub fn is_urgent(who: &T::AccountId, call: &PalletCall<T>) -> bool {
		match call {
			PalletCall::show { task, dispute, side, .. } => Disputes::<T>::get(task, dispute)
				.is_some_and(|dispute| {
					let shown = dispute.shown.get(usize::from(*side));
					matches!(dispute.stage, Stage::Descending(_)) && shown == Some(&None)
				}),
			PalletCall::execute { task, dispute, .. } => Disputes::<T>::get(task, dispute)
				.is_some_and(|dispute| matches!(dispute.stage, Stage::Executing { .. })),
			PalletCall::challenge { task, .. } | PalletCall::refute { task, .. } => {
				Seals::<T>::contains_key(task, who)
			}
			PalletCall::seal { task, .. } => Tasks::<T>::get(task).is_some_and(|task| {
				let mut all = task.replicas.iter().chain(&task.auditor);
				matches!(task.phase, Phase::Challenging { .. }) && all.any(|one| one.who == *who)
			}),
			_ => false,
		}
	}

	/// Returns the task, where it can be challenged now.
	fn challenged(id: TaskId) -> Result<TaskOf<T>, Error<T>> {
		let task = Self::task(id)?;
		let Phase::Challenging { until } = task.phase else {
			return Err(Error::<T>::NotChallenging);
		};
		ensure!(Self::now() <= until, Error::<T>::NotChallenging);
		Ok(task)
	}

	pub(crate) fn do_seal(who: T::AccountId, id: TaskId, commitment: H256) -> DispatchResult {
		let task = Self::challenged(id)?;
		ensure!(!Seals::<T>::contains_key(id, &who), Error::<T>::HasSealed);
		// Whoever challenges falsely delays what others have at stake.
		let part = task.terms.deposit.checked_div(CHALLENGE_PART).unwrap_or_default();
		let deposit = T::Bounds::get().deposit.max(part);
		Self::hold(HoldReason::Challenge, &who, deposit)?;
		Seals::<T>::insert(id, &who, Seal { commitment, deposit, at: Self::now() });
		Self::deposit_event(Event::Sealed { task: id, who });
		Ok(())
	}

	pub(crate) fn do_unseal(who: T::AccountId, id: TaskId) -> DispatchResult {
		let seal = Seals::<T>::take(id, &who).ok_or(Error::<T>::NotSealed)?;
		Self::give_back(HoldReason::Challenge, &who, seal.deposit);
		Self::deposit_event(Event::Unsealed { task: id, who });
		Ok(())
	}

	/// Takes the seal of `who`, which it made in an earlier block, and to this commitment.
	fn break_seal(id: TaskId, who: &T::AccountId, made: H256) -> Result<Seal, Error<T>> {
		let seal = Seals::<T>::get(id, who).ok_or(Error::<T>::NotSealed)?;
		ensure!(seal.at < Self::now(), Error::<T>::SealedNow);
		ensure!(seal.commitment == made, Error::<T>::WrongCommitment);
		Seals::<T>::remove(id, who);
		Ok(seal)
	}

	/// Returns a claim that was not convicted.
	fn live(task: &TaskOf<T>, number: u8) -> Result<&Claim, Error<T>> {
		let claimed = task.claims.get(usize::from(number));
		let claimed = claimed.filter(|claimed| !claimed.convicted());
		claimed.map(|claimed| &claimed.claim).ok_or(Error::<T>::NoSuchClaim)
	}

	pub(crate) fn do_challenge(
		who: T::AccountId,
		id: TaskId,
		number: u8,
		own: Claim,
		ends: &Ends,
		salt: &[u8; 32],
	) -> DispatchResult {
		let mut task = Self::challenged(id)?;
		let roots = [Self::live(&task, number)?.root, own.root];
		ensure!(task.spec.leaves().is_some(), Error::<T>::IsMap);
		ensure!(task.challenges < MAX_CHALLENGES, Error::<T>::TooManyChallenges);
		ensure!(own.is_of(&task.spec, ends), Error::<T>::WrongClaim);
		ensure!(!Self::is_disputed_by(id, &task, number, &own.root), Error::<T>::SameClaim);
		let made = claim::commitment(&Self::genesis_hash(), id, &who, &own, salt);
		let deposit = Self::break_seal(id, &who, made)?.deposit;
		let sides = [Side::Claim(number), Side::Challenger { who, claim: own, deposit }];
		Self::open_dispute(id, &mut task, sides, roots)?;
		Tasks::<T>::insert(id, task);
		Ok(())
	}

	/// Returns whether a trace is that of a claim that was not convicted, or is in dispute with this claim. Who has it as well can bring its
	/// nodes there; a dispute of its own would be a race for what is shown first.
	fn is_disputed_by(id: TaskId, task: &TaskOf<T>, number: u8, root: &H256) -> bool {
		task.claims.iter().any(|claimed| !claimed.convicted() && claimed.claim.root == *root)
			|| Disputes::<T>::iter_prefix_values(id).any(|dispute| match &dispute.sides {
				[Side::Claim(of), Side::Challenger { claim, .. }] => {
					*of == number && claim.root == *root
				}
				_ => false,
			})
	}

	pub(crate) fn do_show(id: TaskId, number: u32, side: u8, nodes: Nodes) -> DispatchResult {
		let mut dispute = Disputes::<T>::get(id, number).ok_or(Error::<T>::NoSuchDispute)?;
		let Stage::Descending(descent) = dispute.stage else {
			return Err(Error::<T>::NotDescending.into());
		};
		ensure!(Self::blocks_left(&dispute).is_some(), Error::<T>::TooLate);
		let at = usize::from(side);
		let place = dispute.shown.get_mut(at).ok_or(Error::<T>::NoSuchSide)?;
		ensure!(place.is_none(), Error::<T>::HasShown);
		ensure!(descent.shows(at, &nodes), Error::<T>::WrongNodes);
		*place = Some(nodes);
		Self::deposit_event(Event::Shown { task: id, dispute: number, side });
		if let [Some(a), Some(b)] = &dispute.shown {
			// What both have shown hashes to nodes that differ, so some of it does.
			let narrowed = descent.narrow([a, b]).ok_or(Error::<T>::WrongNodes)?;
			dispute.stage = match narrowed {
				Narrowed::Deeper(descent) => Stage::Descending(descent),
				Narrowed::Leaf { index, leaves } => {
					Self::deposit_event(Event::Narrowed { task: id, dispute: number, step: index });
					Stage::Executing { index, leaves }
				}
			};
			dispute.shown = [None, None];
			Self::begin_move(id, number, &mut dispute);
		}
		Disputes::<T>::insert(id, number, dispute);
		Ok(())
	}

	/// Fails where no step of this dispute waits to be executed.
	pub(crate) fn ensure_executing(id: TaskId, number: u32) -> Result<(), Error<T>> {
		let dispute = Disputes::<T>::get(id, number).ok_or(Error::<T>::NoSuchDispute)?;
		ensure!(matches!(dispute.stage, Stage::Executing { .. }), Error::<T>::NotExecuting);
		Ok(())
	}

	/// Executes the step that is in dispute. Returns the weight of what was executed.
	pub(crate) fn do_execute(
		id: TaskId,
		number: u32,
		brought: &Brought,
		path: &Path,
	) -> Result<Weight, DispatchError> {
		let mut task = Self::task(id)?;
		let dispute = Disputes::<T>::get(id, number).ok_or(Error::<T>::NoSuchDispute)?;
		let Stage::Executing { index, leaves } = dispute.stage else {
			return Err(Error::<T>::NotExecuting.into());
		};
		ensure!(Self::blocks_left(&dispute).is_some(), Error::<T>::TooLate);
		let count = task.spec.leaves().ok_or(Error::<T>::IsMap)?;
		let begin = match brought {
			Brought::Bytes { state, .. } => Begin::Bytes(state),
			Brought::Fault(fault) => Begin::Fault(fault),
		};
		let (before, leaf) =
			(index.checked_sub(1).ok_or(Error::<T>::WrongState)?, begin.id().leaf());
		// Up to this leaf both traces are equal, so the way to either root will do.
		let mut roots = dispute.sides.iter().filter_map(|side| Self::root_of(&task, side));
		let leads = roots.any(|root| merkle::verify(&root, &leaf, before, count, path));
		ensure!(leads, Error::<T>::WrongState);
		let (after, weight) = match brought {
			Brought::Bytes { module, state } => {
				let call = Call::Step { state };
				(Self::executed(&task, module, call)?, T::Referee::weight(&task.spec.limits))
			}
			Brought::Fault(fault) => (Err(fault.clone()), Weight::zero()),
		};
		let after = StateId::of(after.as_deref()).leaf();
		Self::end_dispute(id, &mut task, number, dispute, convicted(&after, leaves), true);
		Tasks::<T>::insert(id, task);
		Ok(weight)
	}

	/// Executes what the module of a task does, which is brought.
	fn executed(
		task: &TaskOf<T>,
		module: &[u8],
		call: Call<'_>,
	) -> Result<Result<Vec<u8>, trainyard_task::Fault>, Error<T>> {
		let named = trainyard_task::File::of(module) == task.spec.module;
		ensure!(named, Error::<T>::WrongModule);
		T::Referee::execute(module, &task.spec.limits, call).ok_or(Error::<T>::CannotExecute)
	}

	/// Returns the root of the trace of a side.
	fn root_of(task: &TaskOf<T>, side: &Side<T::AccountId>) -> Option<H256> {
		match side {
			Side::Claim(number) => {
				task.claims.get(usize::from(*number)).map(|claimed| claimed.claim.root)
			}
			Side::Challenger { claim, .. } => Some(claim.root),
		}
	}

	/// Executes an index of a map, whose record is opened. Returns the weight of that.
	pub(crate) fn do_refute(
		who: T::AccountId,
		id: TaskId,
		number: u8,
		opened: &OpenedRecord,
		salt: &[u8; 32],
	) -> Result<Weight, DispatchError> {
		let mut task = Self::challenged(id)?;
		let Form::Map { count, most } = task.spec.form else {
			return Err(Error::<T>::IsNoMap.into());
		};
		let output = Self::live(&task, number)?.output.clone();
		let file = output.file().ok_or(Error::<T>::NoSuchClaim)?;
		let index = opened.index;
		let made = claim::refutation(&Self::genesis_hash(), id, &who, (number, index), salt);
		let deposit = Self::break_seal(id, &who, made)?.deposit;
		let at = (index, count, most);
		let (content, siblings) = (&opened.content, &opened.siblings);
		let shown = opened_record(file, content, at, &opened.chunks, siblings);
		let shown = shown.map_err(|_| Error::<T>::WrongOpening)?;
		let input = trainyard_task::File::of(&opened.input) == task.spec.input;
		ensure!(input, Error::<T>::WrongState);
		let call = Call::Map { input: &opened.input, index };
		let result = Self::executed(&task, &opened.module, call)?;
		ensure!(record(result.as_deref(), most) != shown, Error::<T>::NotRefuted);
		Self::give_back(HoldReason::Challenge, &who, deposit);
		let by = who.clone();
		Self::deposit_event(Event::Refuted { task: id, claim: number, index, by });
		Self::convict(id, &mut task, number, &[who], true);
		let weight = T::Referee::weight(&task.spec.limits);
		Tasks::<T>::insert(id, task);
		Ok(weight)
	}

	/// Looks at a dispute whose time is over. Returns the weight used.
	pub(crate) fn look_at_dispute(id: TaskId, number: u32) -> Weight {
		let (Some(mut task), Some(dispute)) = (Tasks::<T>::get(id), Disputes::<T>::get(id, number))
		else {
			defensive!("a dispute on the agenda exists");
			return T::WeightInfo::look();
		};
		if let Some(left) = Self::blocks_left(&dispute) {
			let until = Self::now().saturating_add(left);
			Disputes::<T>::insert(id, number, Dispute { until, ..dispute });
			Self::schedule(Subject::Dispute(id, number), until.saturating_add(1));
			return T::WeightInfo::look();
		}
		// Where a step waits to be executed, both could have brought it.
		let silent = [0usize, 1].map(|side| dispute.shown.get(side).is_none_or(Option::is_none));
		Self::end_dispute(id, &mut task, number, dispute, silent, false);
		Tasks::<T>::insert(id, task);
		T::WeightInfo::end_dispute()
	}

	/// Ends a dispute that convicts these sides, and all others of the claims among them. `proven` says that a step was
	/// executed; else those were silent.
	fn end_dispute(
		id: TaskId,
		task: &mut TaskOf<T>,
		number: u32,
		dispute: DisputeOf<T>,
		convicted: [bool; 2],
		proven: bool,
	) {
		Self::remove_dispute(id, task, number, &dispute);
		Self::deposit_event(Event::DisputeEnded { task: id, dispute: number, convicted });
		let [first, second] = &dispute.sides;
		let members = [first, second].map(|side| Self::members(task, side));
		let none: &[T::AccountId] = &[];
		let [of_first, of_second] = &members;
		let [loses, loses_too] = convicted;
		let winners = |stands: bool, members| if stands { members } else { none };
		for (side, loses, winners) in [
			(first, loses, winners(!loses_too, of_second.as_slice())),
			(second, loses_too, winners(!loses, of_first.as_slice())),
		] {
			match side {
				Side::Claim(claim) if loses => Self::convict(id, task, *claim, winners, proven),
				Side::Challenger { who, deposit, .. } if loses => {
					Self::forfeit(id, HoldReason::Challenge, who, *deposit, winners);
				}
				Side::Challenger { who, deposit, .. } => {
					Self::give_back(HoldReason::Challenge, who, *deposit);
				}
				Side::Claim(_) => {}
			}
		}
		Self::pair(id, task);
		Self::reopen(id, task);
	}

	fn remove_dispute(id: TaskId, task: &mut TaskOf<T>, number: u32, dispute: &DisputeOf<T>) {
		Disputes::<T>::remove(id, number);
		Self::unschedule(Subject::Dispute(id, number));
		task.running = task.running.saturating_sub(1);
		if matches!(dispute.sides, [_, Side::Challenger { .. }]) {
			task.challenges = task.challenges.saturating_sub(1);
		}
	}

	/// Lets what is left be challenged for as long again as machines may be away.
	fn reopen(id: TaskId, task: &mut TaskOf<T>) {
		let Phase::Challenging { until } = task.phase else { return };
		let again = Self::now().saturating_add(T::Bounds::get().window);
		let until = until.max(again);
		task.phase = Phase::Challenging { until };
		Self::schedule(Subject::Task(id), until.saturating_add(1));
	}

	/// Returns whose a side is.
	fn members(task: &TaskOf<T>, side: &Side<T::AccountId>) -> Vec<T::AccountId> {
		match side {
			Side::Claim(number) => {
				let all = task.replicas.iter().chain(&task.auditor);
				let own = all.filter(|replica| replica.claim == Some(*number));
				Self::distinct(own.map(|replica| replica.who.clone()).collect())
			}
			Side::Challenger { who, .. } => alloc::vec![who.clone()],
		}
	}

	/// Convicts a claim: whoever made it loses its deposit, and its other disputes are over.
	fn convict(
		id: TaskId,
		task: &mut TaskOf<T>,
		number: u8,
		winners: &[T::AccountId],
		proven: bool,
	) {
		let Some(claimed) = task.claims.get_mut(usize::from(number)) else { return };
		if claimed.convicted() {
			return;
		}
		claimed.out = Some(Out { at: Self::now(), proven });
		Self::deposit_event(Event::Convicted { task: id, claim: number });
		for replica in task.replicas.iter_mut().filter(|one| one.claim == Some(number)) {
			let deposit = core::mem::take(&mut replica.deposit);
			Self::forfeit(id, HoldReason::Replica, &replica.who, deposit, winners);
		}
		let auditor = task.auditor.as_ref().filter(|auditor| auditor.claim == Some(number));
		if let Some(auditor) = auditor {
			T::Verifiers::slash_contrary(&auditor.who, task.terms.audit_fee);
		}
		let involved: Vec<_> = Disputes::<T>::iter_prefix(id)
			.filter(|(_, dispute)| dispute.sides.contains(&Side::Claim(number)))
			.collect();
		for (other, dispute) in involved {
			Self::remove_dispute(id, task, other, &dispute);
			if let [_, Side::Challenger { who, deposit, .. }] = &dispute.sides {
				Self::give_back(HoldReason::Challenge, who, *deposit);
			}
			let convicted = [false, false];
			Self::deposit_event(Event::DisputeEnded { task: id, dispute: other, convicted });
		}
	}
}
