//! Benchmarks of every call and of each step of the hook, at their largest.
//!
//! The state is written directly, because a benchmark cannot wait for a seed. Trainers and
//! verifiers are real ones of the runtime.

use super::*;
use alloc::{vec, vec::Vec};
use frame_benchmarking::v2::*;
use frame_support::{
	traits::{fungible::Mutate, Get},
	BoundedVec,
};
use frame_system::RawOrigin;
use sp_runtime::SaturatedConversion;
use trainyard_pallet_support::agenda::Clock;
use trainyard_program::{
	spec::{Input, JobSpec, Layer, Model, MAX_LAYERS, MIN_POWER_CLIP_NANO, POWER_NOISE_NANO},
	text::MAX_TEXT,
};
use trainyard_protocol::{
	bundle::Evaluation,
	drill::{
		commitment, AssignmentId, Chosen, Mismatch, ProjectId, Recall, Template, TrialData,
		TrialTemplate, UnitResult, MAX_CHOSEN, MAX_RATES, MAX_UNIT_REPLICAS,
	},
	job::{Balance, BlockNumber},
	Text, H256,
};
use trainyard_traits::{AwaitedBlobs, Drawn, Drillers, VerifierPool};

/// Enough for anything here.
const FUNDS: Balance = 1 << 90;
const SALT: [u8; 32] = [5; 32];
const GROUP: u32 = MAX_UNIT_REPLICAS as u32;

fn funded<T: Config>(name: &'static str, index: u32) -> T::AccountId {
	let who: T::AccountId = account(name, index, 0);
	T::Currency::set_balance(&who, FUNDS);
	who
}

fn driller<T: Config>(index: u32) -> T::AccountId {
	let who = funded::<T>("driller", index);
	T::Drillers::make_driller(&who);
	who
}

/// The longest text that begins with `begin`.
fn longest(begin: &[u8]) -> Text {
	let mut text = begin.to_vec();
	text.resize(MAX_TEXT as usize, b'x');
	Text(BoundedVec::truncate_from(text))
}

/// A trial with the longest lists of operators.
fn template() -> Template {
	let mut spec = JobSpec::example();
	spec.dataset.location = longest(b"http://");
	let mut layers = vec![Layer::Linear { outputs: 16 }; MAX_LAYERS as usize];
	if let Some(last) = layers.last_mut() {
		*last = Layer::Linear { outputs: spec.dataset.classes };
	}
	let layers = BoundedVec::truncate_from(layers);
	spec.model = Model::Layers { input: Input::Numbers, layers };
	spec.training.weight_decay_nano = 1;
	spec.training.clip_norm_nano = MIN_POWER_CLIP_NANO;
	spec.training.input_noise_nano = *POWER_NOISE_NANO.start();
	let rates = vec![1_000_000; MAX_RATES as usize];
	Template::Trial(TrialTemplate { spec, learning_rates_nano: BoundedVec::truncate_from(rates) })
}

/// The blobs with the data of [`template`].
fn data<T: Config>(proposer: &T::AccountId) -> TrialData {
	let files = template().file_bytes().into_iter();
	BoundedVec::truncate_from(files.map(|size| T::Blobs::make_complete(proposer, size)).collect())
}

/// As many projects as a driller may choose, the last that are open.
fn chosen<T: Config>() -> Chosen {
	if OpenProjects::<T>::get().is_empty() {
		OpenProjects::<T>::put(BoundedVec::truncate_from((0..MAX_CHOSEN).collect()));
	}
	let mut open = OpenProjects::<T>::get().into_inner();
	let more = open.len().saturating_sub(MAX_CHOSEN as usize);
	BoundedVec::truncate_from(open.split_off(more))
}

fn proposed<T: Config>(rule: Mismatch, units: u32) -> Result<ProjectId, BenchmarkError> {
	let id = NextProject::<T>::get();
	// Of many accounts: one may have few open projects. All deposits are the least.
	let proposer = funded::<T>("proposer", id);
	let data = data::<T>(&proposer);
	let open = OpenProjects::<T>::take();
	let blocks = T::MaxCommitBlocks::get();
	let title = longest(b"");
	let replicas = MAX_UNIT_REPLICAS;
	Pallet::<T>::do_propose(proposer, title, template(), data, rule, replicas, units, blocks)?;
	OpenProjects::<T>::mutate(|ids| {
		*ids = BoundedVec::truncate_from(open.into_iter().chain([id]).collect());
	});
	Ok(id)
}

/// A project that is active, with a part in the turns.
fn active<T: Config>(rule: Mismatch, units: u32) -> Result<ProjectId, BenchmarkError> {
	let id = proposed::<T>(rule, units)?;
	let mut project = Projects::<T>::get(id).unwrap();
	(project.stage, project.until) = (Stage::Active, T::LifeBlocks::get());
	Pallet::<T>::look_again(id, &project);
	Projects::<T>::insert(id, project);
	Pallet::<T>::give_turn(id);
	Ok(id)
}

fn score() -> Evaluation {
	Evaluation::new(0.0, 0, JobSpec::example().dataset.validation_rows)
}

fn result(number: u8) -> UnitResult {
	UnitResult { state: H256::repeat_byte(number), score: Some(score()) }
}

fn commitment_of<T: Config>(id: AssignmentId, who: &T::AccountId, result: &UnitResult) -> H256 {
	commitment(&Pallet::<T>::genesis_hash(), id, who, result, &SALT)
}

fn set_height<T: Config>(height: BlockNumber) {
	frame_system::Pallet::<T>::set_block_number(height.saturated_into());
}

/// Fills the pool with `drillers` drillers.
fn fill_pool<T: Config>(drillers: u32) {
	Inflow::<T>::put(Balance::from(drillers));
	for index in 0..drillers {
		let who = driller::<T>(index);
		Pallet::<T>::do_enlist(who, chosen::<T>()).expect("the pool has room");
	}
}

/// An assignment of the largest group, in its first phase; the pool is full.
fn assigned<T: Config>(rule: Mismatch) -> Result<AssignmentId, BenchmarkError> {
	let project = active::<T>(rule, T::MaxUnits::get())?;
	fill_pool::<T>(T::MaxDrillers::get());
	let mut record = Projects::<T>::get(project).unwrap();
	let (index, attempt) = Pallet::<T>::take_unit(project, &mut record).unwrap();
	Projects::<T>::insert(project, &record);
	let mut group = Ready::<T>::take().into_inner();
	Ready::<T>::put(BoundedVec::truncate_from(group.split_off(GROUP as usize)));
	let replicas = MAX_UNIT_REPLICAS;
	let slot = Slot { project, index, attempt, replicas, choosers: replicas.into() };
	Pallet::<T>::assign(Pallet::<T>::now(), &slot, &record, &H256::repeat_byte(1), group);
	Ok(NextAssignment::<T>::get() - 1)
}

/// Returns who has these seats.
fn who<AccountId: Clone>(seats: &[Seat<AccountId>]) -> Vec<AccountId> {
	seats.iter().map(|seat| seat.who.clone()).collect()
}

/// Writes the seats of an assignment, by their places, and its phase.
fn edit<T: Config>(id: AssignmentId, edit: impl FnOnce(&mut Assignment<T::AccountId>)) {
	Assignments::<T>::mutate(id, |unit| edit(unit.as_mut().unwrap()));
}

/// Has these drillers make room, each for an heir of its own.
fn displace<T: Config>(drillers: Vec<T::AccountId>) {
	let heirs: Vec<_> =
		(0..drillers.len() as u32).map(|at| driller::<T>(2 * T::MaxDrillers::get() + at)).collect();
	for who in drillers {
		Pool::<T>::mutate(who, |driller| {
			if let Some(driller) = driller {
				(driller.retiring, driller.displaced) = (true, true);
			}
		});
	}
	Heirs::<T>::put(BoundedVec::truncate_from(heirs));
}

/// An assignment whose members all committed and revealed: different results where they `differ`,
/// otherwise one.
fn revealed<T: Config>(rule: Mismatch, differ: bool) -> Result<AssignmentId, BenchmarkError> {
	let id = assigned::<T>(rule)?;
	let until = Pallet::<T>::now() + T::RevealBlocks::get();
	edit::<T>(id, |unit| {
		unit.phase = Phase::Revealing { until };
		for (at, seat) in unit.members.iter_mut().enumerate() {
			let shown = result(if differ { at as u8 } else { 0 });
			seat.commitment = Some(H256::repeat_byte(2));
			seat.result = Some(shown);
		}
	});
	Ok(id)
}

/// An assignment that is recomputed; `found` is what each verifier revealed.
fn checked<T: Config>(found: Option<UnitResult>) -> Result<AssignmentId, BenchmarkError> {
	let id = revealed::<T>(Mismatch::Majority, false)?;
	let verifiers: Vec<T::AccountId> = T::Verifiers::make_pool();
	let until = Pallet::<T>::now() + T::RevealBlocks::get();
	edit::<T>(id, |unit| {
		unit.agreed = Some(result(0));
		unit.phase = match found {
			Some(_) => Phase::CheckRevealing { until },
			None => Phase::CheckCommitting { until },
		};
		let seats = verifiers.into_iter().take(CHECKERS as usize).map(Seat::of).collect();
		unit.verifiers = BoundedVec::truncate_from(seats);
		for seat in unit.verifiers.iter_mut() {
			seat.commitment = found.map(|_| H256::repeat_byte(2));
			seat.result = found;
		}
	});
	Ok(id)
}

#[benchmarks]
mod benchmarks {
	use super::*;

	#[benchmark]
	fn propose() {
		let proposer = funded::<T>("proposer", 0);
		let (units, blocks) = (T::MaxUnits::get(), T::MaxCommitBlocks::get());
		let (title, template, data) = (longest(b""), template(), data::<T>(&proposer));

		#[extrinsic_call]
		_(
			RawOrigin::Signed(proposer),
			title,
			template,
			data,
			Mismatch::Majority,
			MAX_UNIT_REPLICAS,
			units,
			blocks,
		);

		assert_eq!(NextProject::<T>::get(), 1);
	}

	#[benchmark]
	fn vote() -> Result<(), BenchmarkError> {
		let id = proposed::<T>(Mismatch::Majority, 1)?;
		let voter = driller::<T>(0);

		#[extrinsic_call]
		_(RawOrigin::Signed(voter.clone()), id, true);

		assert_eq!(Votes::<T>::get(id, &voter), Some(Ballot { round: 0, aye: true }));
		Ok(())
	}

	#[benchmark]
	fn enlist() {
		fill_pool::<T>(T::MaxDrillers::get() - 1);
		Inflow::<T>::put(1);
		let last = driller::<T>(T::MaxDrillers::get());
		let projects = chosen::<T>();

		#[extrinsic_call]
		_(RawOrigin::Signed(last.clone()), projects);

		assert!(Pool::<T>::contains_key(&last));
	}

	/// Everybody who waits has a bond of its own, and nobody comes in.
	#[benchmark]
	fn turn() {
		fill_pool::<T>(T::MaxDrillers::get());
		let waiting: Vec<_> = (0..T::MaxDrillers::get())
			.map(|at| (driller::<T>(T::MaxDrillers::get() + at), Balance::from(at)))
			.collect();
		Waiting::<T>::put(BoundedVec::truncate_from(waiting));
		// A whole pool left in the turn before. No more can: few newcomers enter in a turn.
		for at in 0..T::MaxDrillers::get() {
			Former::<T>::insert(account::<T::AccountId>("former", at, 0), 0);
		}
		set_height::<T>(T::TurnoverBlocks::get());

		#[block]
		{
			Pallet::<T>::turn();
		}

		assert_eq!(Pool::<T>::count(), T::MaxDrillers::get());
		assert!(Former::<T>::iter_keys().all(|who| who != account("former", 0, 0)));
	}

	#[benchmark]
	fn retire() {
		fill_pool::<T>(T::MaxDrillers::get());
		let last = Ready::<T>::get().last().unwrap().clone();

		#[extrinsic_call]
		_(RawOrigin::Signed(last.clone()));

		assert!(!Pool::<T>::contains_key(&last));
	}

	#[benchmark]
	fn choose() {
		fill_pool::<T>(1);
		let (who, projects) = (Ready::<T>::get()[0].clone(), chosen::<T>());

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()), projects.clone());

		assert_eq!(Choices::<T>::get(&who), projects);
	}

	/// The last of a group whose others have done their part.
	#[benchmark]
	fn decline() -> Result<(), BenchmarkError> {
		let id = assigned::<T>(Mismatch::Majority)?;
		edit::<T>(id, |unit| {
			for seat in unit.members.iter_mut().rev().skip(1) {
				seat.declined = true;
			}
		});
		let last = Assignments::<T>::get(id).unwrap().members.last().unwrap().who.clone();

		#[extrinsic_call]
		_(RawOrigin::Signed(last), id);

		assert!(all_committed(&Assignments::<T>::get(id).unwrap().members));
		Ok(())
	}

	#[benchmark]
	fn recall() -> Result<(), BenchmarkError> {
		let id = active::<T>(Mismatch::Majority, 1)?;
		let who = driller::<T>(0);

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id);

		assert!(Projects::<T>::get(id).unwrap().recall.is_some());
		Ok(())
	}

	#[benchmark]
	fn commit() -> Result<(), BenchmarkError> {
		let id = assigned::<T>(Mismatch::Majority)?;
		edit::<T>(id, |unit| {
			for seat in unit.members.iter_mut().skip(1) {
				seat.commitment = Some(H256::repeat_byte(2));
			}
		});
		let first = Assignments::<T>::get(id).unwrap().members[0].who.clone();

		#[extrinsic_call]
		_(RawOrigin::Signed(first), id, H256::repeat_byte(3));

		assert!(all_committed(&Assignments::<T>::get(id).unwrap().members));
		Ok(())
	}

	#[benchmark]
	fn reveal() -> Result<(), BenchmarkError> {
		let id = revealed::<T>(Mismatch::Majority, false)?;
		let last = Assignments::<T>::get(id).unwrap().members.last().unwrap().who.clone();
		edit::<T>(id, |unit| {
			let seat = unit.members.last_mut().unwrap();
			seat.commitment = Some(commitment_of::<T>(id, &last, &result(0)));
			seat.result = None;
		});

		#[extrinsic_call]
		_(RawOrigin::Signed(last), id, result(0), SALT);

		assert!(Assignments::<T>::get(id).unwrap().members.iter().all(|m| m.result.is_some()));
		Ok(())
	}

	#[benchmark]
	fn check() -> Result<(), BenchmarkError> {
		let id = checked::<T>(None)?;
		edit::<T>(id, |unit| {
			for seat in unit.verifiers.iter_mut().skip(1) {
				seat.commitment = Some(H256::repeat_byte(2));
			}
		});
		let first = Assignments::<T>::get(id).unwrap().verifiers[0].who.clone();

		#[extrinsic_call]
		_(RawOrigin::Signed(first), id, H256::repeat_byte(3));

		assert!(all_committed(&Assignments::<T>::get(id).unwrap().verifiers));
		Ok(())
	}

	#[benchmark]
	fn check_reveal() -> Result<(), BenchmarkError> {
		let id = checked::<T>(Some(result(0)))?;
		let last = Assignments::<T>::get(id).unwrap().verifiers.last().unwrap().who.clone();
		edit::<T>(id, |unit| {
			let seat = unit.verifiers.last_mut().unwrap();
			seat.commitment = Some(commitment_of::<T>(id, &last, &result(0)));
			seat.result = None;
		});

		#[extrinsic_call]
		_(RawOrigin::Signed(last), id, result(0), SALT);

		assert!(Assignments::<T>::get(id).unwrap().verifiers.iter().all(|v| v.result.is_some()));
		Ok(())
	}

	/// Ends an active project, among as many as there may be.
	#[benchmark]
	fn withdraw_project() -> Result<(), BenchmarkError> {
		let mut id = 0;
		for _ in 0..T::MaxProjects::get() {
			id = active::<T>(Mismatch::Majority, 1)?;
		}
		let proposer = Projects::<T>::get(id).unwrap().proposer;

		#[extrinsic_call]
		_(RawOrigin::Signed(proposer), id);

		assert!(!Projects::<T>::get(id).unwrap().is_open());
		Ok(())
	}

	/// The last step, with as many entries as a step removes.
	#[benchmark]
	fn clear() -> Result<(), BenchmarkError> {
		let id = proposed::<T>(Mismatch::Majority, T::MaxUnits::get())?;
		let mut project = Projects::<T>::get(id).unwrap();
		Pallet::<T>::close(id, &mut project, Stage::Done { at: Pallet::<T>::now() });
		Projects::<T>::insert(id, project);
		for index in 0..CLEAR_STEP - 1 {
			Results::<T>::insert(id, index, Outcome { result: result(0), agreeing: 7 });
		}
		set_height::<T>(Pallet::<T>::now() + T::KeepBlocks::get());
		let caller: T::AccountId = whitelisted_caller();

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), id);

		assert!(!Projects::<T>::contains_key(id));
		Ok(())
	}

	/// Tasks that do nothing: this measures the cost of looking at the agenda itself.
	#[benchmark]
	fn serve(n: Linear<0, 100>) {
		let due = Pallet::<T>::now() + 1;
		for id in 0..n {
			Pallet::<T>::schedule(Task::Unit(id.into()), due);
		}
		set_height::<T>(due);
		Cursor::<T>::put(due);

		#[block]
		{
			Pallet::<T>::serve(due, frame_support::weights::Weight::MAX);
		}

		assert_eq!(Cursor::<T>::get(), Some(due + 1));
		assert_eq!(Due::<T>::iter().count(), 0);
	}

	#[benchmark]
	fn look_at_unit() -> Result<(), BenchmarkError> {
		let id = assigned::<T>(Mismatch::Majority)?;

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert!(Due::<T>::contains_key(Task::Unit(id)));
		Ok(())
	}

	#[benchmark]
	fn look_at_batch() {
		fill_pool::<T>(T::MaxDrillers::get());

		#[block]
		{
			Pallet::<T>::tend_batch(Pallet::<T>::now(), frame_support::weights::Weight::MAX);
		}

		assert!(!Batch::<T>::exists());
	}

	/// Condemned by a vote on its end: the deposit goes to the jackpot, the removal is scheduled, and
	/// nothing of it is handed out any more.
	#[benchmark]
	fn end_review() -> Result<(), BenchmarkError> {
		for _ in 1..T::MaxProjects::get() {
			active::<T>(Mismatch::Majority, 1)?;
		}
		let id = active::<T>(Mismatch::Majority, T::MaxUnits::get())?;
		Projects::<T>::mutate(id, |project| {
			let asked = Recall { until: 0, ayes: 0, nays: Balance::MAX };
			project.as_mut().unwrap().recall = Some(asked);
		});
		set_height::<T>(1);

		#[block]
		{
			Pallet::<T>::end_review(id);
		}

		let project = Projects::<T>::get(id).unwrap();
		assert!(matches!(project.stage, Stage::Recalled { .. }));
		assert_eq!(project.deposit, 0);
		Ok(())
	}

	#[benchmark]
	fn open_reveals() -> Result<(), BenchmarkError> {
		let id = assigned::<T>(Mismatch::Majority)?;
		edit::<T>(id, |unit| {
			for seat in unit.members.iter_mut() {
				seat.commitment = Some(H256::repeat_byte(2));
			}
		});

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert!(matches!(Assignments::<T>::get(id).unwrap().phase, Phase::Revealing { .. }));
		Ok(())
	}

	/// All lose, and the unit is issued again. All were displaced.
	#[benchmark]
	fn judge() -> Result<(), BenchmarkError> {
		let id = revealed::<T>(Mismatch::AllLose, true)?;
		displace::<T>(who(&Assignments::<T>::get(id).unwrap().members));
		let project = Assignments::<T>::get(id).unwrap().project;

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert!(!Assignments::<T>::contains_key(id));
		assert_eq!(Retries::<T>::get(project, 0), Some(1));
		assert_eq!(Ready::<T>::decode_len(), Some(T::MaxDrillers::get() as usize));
		Ok(())
	}

	/// The last unit of a project, with the largest group.
	#[benchmark]
	fn settle() -> Result<(), BenchmarkError> {
		let id = revealed::<T>(Mismatch::Majority, false)?;
		edit::<T>(id, |unit| {
			unit.agreed = Some(result(0));
			unit.phase = Phase::Settling { after: 0, busy: None };
		});
		let project = Assignments::<T>::get(id).unwrap().project;
		Projects::<T>::mutate(project, |p| p.as_mut().unwrap().units = 1);

		#[block]
		{
			Pallet::<T>::check_seed(id, 0);
			let unit = Assignments::<T>::get(id).unwrap();
			Pallet::<T>::settle(id, &unit);
		}

		assert!(Results::<T>::contains_key(project, 0));
		assert!(Projects::<T>::get(project).unwrap().stage.ended().is_some());
		Ok(())
	}

	#[benchmark]
	fn open_check() -> Result<(), BenchmarkError> {
		let id = revealed::<T>(Mismatch::Majority, false)?;
		edit::<T>(id, |unit| {
			unit.agreed = Some(result(0));
			unit.phase = Phase::Settling { after: 0, busy: None };
		});
		T::Verifiers::make_pool();

		#[block]
		{
			Pallet::<T>::check_seed(id, 0);
			let mut unit = Assignments::<T>::get(id).unwrap();
			let now = Pallet::<T>::now();
			let drawn = Pallet::<T>::open_check(id, &mut unit, now, now, &H256::repeat_byte(7));
			assert!(matches!(drawn, Drawn::Seated(_)));
		}

		let unit = Assignments::<T>::get(id).unwrap();
		assert_eq!(unit.verifiers.len() as u32, CHECKERS);
		Ok(())
	}

	/// Refuted: everyone in the group is slashed, and verifiers are paid.
	#[benchmark]
	fn judge_check() -> Result<(), BenchmarkError> {
		let id = checked::<T>(Some(result(1)))?;
		T::Currency::set_balance(&T::Jackpot::get(), FUNDS);
		edit::<T>(id, |unit| unit.verifiers[0].result = Some(result(0)));

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert!(!Assignments::<T>::contains_key(id));
		Ok(())
	}

	/// No verifier has the data either, for the last time that is borne: the project is suspended, and its
	/// deposit lost.
	#[benchmark]
	fn suspend() -> Result<(), BenchmarkError> {
		let id = checked::<T>(None)?;
		T::Currency::set_balance(&T::Jackpot::get(), FUNDS);
		edit::<T>(id, |unit| {
			unit.agreed = None;
			for seat in unit.members.iter_mut() {
				(seat.declined, seat.commitment, seat.result) = (true, None, None);
			}
			unit.verifiers.iter_mut().for_each(|seat| seat.declined = true);
		});
		let project = Assignments::<T>::get(id).unwrap().project;
		Projects::<T>::mutate(project, |project| {
			let project = project.as_mut().unwrap();
			(project.missing, project.proven) = (MISSING_AT_FIRST - 1, false);
		});

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		let project = Projects::<T>::get(project).unwrap();
		assert!(matches!(project.stage, Stage::Suspended { .. }) && project.deposit == 0);
		assert!(!Assignments::<T>::contains_key(id));
		Ok(())
	}

	/// The whole pool is ready, whatever is handed out, and all projects are looked at.
	#[benchmark]
	fn close_batch(g: Linear<0, { T::MaxGroups::get() }>) -> Result<(), BenchmarkError> {
		let mut last = 0;
		for _ in 0..T::MaxProjects::get() {
			last = active::<T>(Mismatch::Majority, T::MaxUnits::get())?;
		}
		fill_pool::<T>(T::MaxDrillers::get());
		// Only the last has units that somebody wants, and so many of them.
		Projects::<T>::mutate(last, |project| {
			let project = project.as_mut().unwrap();
			(project.units, project.proven) = (g.max(1), true);
		});
		let others = (0..MAX_CHOSEN - 1).map(|other| last + 1 + other);
		let chosen: Chosen = match g {
			0 => BoundedVec::truncate_from(others.collect()),
			_ => BoundedVec::truncate_from([last].into_iter().chain(others).collect()),
		};
		for who in Ready::<T>::get() {
			Choices::<T>::insert(who, &chosen);
		}

		#[block]
		{
			assert_eq!(Pallet::<T>::close_batch(Pallet::<T>::now()), Some(g));
		}

		assert_eq!(BatchPlan::<T>::get().len() as u32, g);
		Ok(())
	}

	/// As many as may be displaced in a turn were.
	#[benchmark]
	fn deal(g: Linear<1, { T::MaxGroups::get() }>) -> Result<(), BenchmarkError> {
		for _ in 0..T::MaxProjects::get() {
			active::<T>(Mismatch::Majority, T::MaxUnits::get())?;
		}
		fill_pool::<T>(T::MaxDrillers::get());
		for id in OpenProjects::<T>::get() {
			Projects::<T>::mutate(id, |project| project.as_mut().unwrap().proven = true);
		}
		Pallet::<T>::close_batch(Pallet::<T>::now());
		// `g` of the units, and all the drillers.
		let mut returned = Vec::new();
		BatchPlan::<T>::mutate(|plan| {
			while plan.len() as u32 > g {
				returned.extend(plan.pop());
			}
		});
		for slot in returned {
			let mut project = Projects::<T>::get(slot.project).unwrap();
			Pallet::<T>::put_back(slot.project, &mut project, slot.index, slot.attempt);
			Projects::<T>::insert(slot.project, project);
		}

		let all = BatchDrillers::<T>::get().into_iter().rev().map(|(who, _)| who);
		displace::<T>(all.take(T::FreeInflow::get() as usize).collect());

		#[block]
		{
			Pallet::<T>::deal(Pallet::<T>::now(), &H256::repeat_byte(7));
		}

		assert_eq!(NextAssignment::<T>::get(), u64::from(g));
		Ok(())
	}

	impl_benchmark_test_suite!(Pallet, crate::mock::new_test_ext(), crate::mock::Test);
}
