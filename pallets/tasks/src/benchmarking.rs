//! Benchmarks of every call and step, each in its most expensive case. What executing a step takes, and hashing
//! what is brought for it, is in [`Referee::weight`].

use super::{Task, *};
use alloc::{boxed::Box, vec, vec::Vec};
use frame_benchmarking::v2::*;
use frame_support::{
	traits::{
		fungible::{Inspect, Mutate},
		Get,
	},
	BoundedVec,
};
use frame_system::RawOrigin;
use sp_runtime::SaturatedConversion;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	content,
	job::{Balance, BlockNumber},
};
use trainyard_task::{
	claim,
	spec::{CERTAIN, MAX_STEPS},
	state::{record, record_chunks},
	views::{Phase, Side, Stage, TaskEnd},
	Claim, Descent, Ends, File, Form, Limits, Nodes, StateId, TaskId, TaskSpec, TaskTerms, Trace,
	FAN, H256,
};
use trainyard_traits::{AwaitedBlobs, MoveClock, VerifierPool};

/// The salt of all commitments.
const SALT: [u8; 32] = [7; 32];
/// The number of all tasks.
const ID: TaskId = 0;

/// An account with money.
fn rich<T: Config>(name: &'static str, index: u32) -> T::AccountId {
	let who: T::AccountId = account(name, index, 0);
	fund::<T>(&who);
	who
}

fn fund<T: Config>(who: &T::AccountId) {
	let least: Balance = T::Currency::minimum_balance();
	let bounds = T::Bounds::get();
	let money = (T::RecordDeposit::get() + bounds.deposit + bounds.fuel_price + least) * 10_000;
	T::Currency::mint_into(who, money).unwrap();
}

/// Moves to a height, in whose block nothing happened yet.
fn at<T: Config>(height: BlockNumber) {
	frame_system::Pallet::<T>::set_block_number(height.saturated_into());
}

fn spec<T: Config>(form: Form, module: File, input: File) -> TaskSpec {
	let fuel = T::Bounds::get().fuel;
	TaskSpec { module, input, form, limits: Limits { fuel, pages: 1, state: 1_024 } }
}

fn terms<T: Config>(spec: &TaskSpec) -> TaskTerms {
	let bounds = T::Bounds::get();
	TaskTerms {
		reward: 1_000,
		replicas: 8,
		deposit: bounds.deposit,
		audit: CERTAIN,
		audit_fee: TaskTerms::least_audit_fee(spec, &bounds),
		apply: bounds.least,
		compute: bounds.most,
		reveal: bounds.least,
		challenge: bounds.window.max(bounds.least),
	}
}

/// A module and an input on chain whose bytes nobody knows.
fn files<T: Config>(who: &T::AccountId) -> (File, File) {
	let file = |bytes: u32| File { bytes, root: T::Blobs::make_complete(who, bytes.into()) };
	(file(1_000), file(900))
}

/// A task in this phase with that many replicas, each with its deposit, and an auditor, whose claims are the
/// first or the second.
fn task<T: Config>(form: Form, replicas: u32, phase: Phase) -> Task<T::AccountId> {
	at::<T>(100);
	let submitter = rich::<T>("submitter", 0);
	let (module, input) = files::<T>(&submitter);
	let spec = spec::<T>(form, module, input);
	let terms = terms::<T>(&spec);
	let (escrow, record) = (terms.escrow().unwrap(), T::RecordDeposit::get());
	T::Currency::mint_into(&submitter, escrow * 2).unwrap();
	Pallet::<T>::hold(HoldReason::Escrow, &submitter, escrow).unwrap();
	Pallet::<T>::hold(HoldReason::Record, &submitter, record).unwrap();
	T::Blobs::expect(&module.root);
	T::Blobs::expect(&input.root);
	let auditor = T::Verifiers::make_pool().into_iter().next().unwrap();
	fund::<T>(&auditor);
	let commitment = Some(H256::zero());
	let seats = (0..replicas).map(|index| {
		let who = rich::<T>("replica", index);
		Pallet::<T>::hold(HoldReason::Replica, &who, terms.deposit).unwrap();
		let claim = Some((index % 2) as u8);
		Replica { who, deposit: terms.deposit, commitment, claim }
	});
	let replicas = BoundedVec::truncate_from(seats.collect());
	let auditor = Replica { who: auditor, deposit: 0, commitment, claim: Some(1) };
	let claims = (1..=MAX_CLAIMS).map(|number| {
		let file = File {
			bytes: MAX_INLINE + number,
			root: T::Blobs::make_complete(&submitter, u64::from(MAX_INLINE + number)),
		};
		T::Blobs::expect(&file.root);
		let root = H256::repeat_byte(number as u8);
		Claimed {
			claim: Claim { root, output: StateId::Bytes(file) },
			out: (number > 2).then_some(Out { at: 1, proven: true }),
		}
	});
	let claims = BoundedVec::truncate_from(claims.collect());
	NextTask::<T>::put(ID + 1);
	Pallet::<T>::schedule(Subject::Task(ID), 1_000);
	Task {
		submitter,
		spec,
		terms,
		escrow,
		record,
		phase,
		applicants: BoundedVec::new(),
		replicas,
		auditor: Some(auditor),
		silent: BoundedVec::new(),
		claims,
		next_dispute: 0,
		running: 0,
		challenges: 0,
	}
}

const STEPS: Form = Form::Step { steps: MAX_STEPS };

fn challenging<T: Config>() -> Task<T::AccountId> {
	let mut task = task::<T>(STEPS, 8, Phase::Challenging { until: 10_000 });
	task.terms.challenge = 100;
	task
}

/// Applicants for all places, who are not known as replicas.
fn applied<T: Config>(task: &mut Task<T::AccountId>, count: u32) {
	let all = (0..count).map(|index| {
		let who = rich::<T>("applicant", index);
		Pallet::<T>::hold(HoldReason::Replica, &who, task.terms.deposit).unwrap();
		who
	});
	task.applicants = BoundedVec::truncate_from(all.collect());
}

/// As many disputes as there may be of the first claim, of which all but this one are somebody's who
/// challenges. In each a side has shown its nodes.
fn disputed<T: Config>(task: &mut Task<T::AccountId>, stage: Stage) {
	let until = 5_000;
	let (since, ticks) = (Pallet::<T>::now(), T::Moves::ticks());
	let shown = || Some(Nodes::truncate_from(vec![H256::zero(); FAN as usize]));
	for number in 0..MAX_CHALLENGES {
		let who = rich::<T>("challenger", number);
		let deposit = T::Bounds::get().deposit;
		Pallet::<T>::hold(HoldReason::Challenge, &who, deposit).unwrap();
		let claim = Claim { root: H256::zero(), output: StateId::Fault(Default::default()) };
		let sides = [Side::Claim(0), Side::Challenger { who, claim, deposit }];
		let dispute =
			Dispute { sides, stage: stage.clone(), shown: [shown(), None], until, since, ticks };
		Disputes::<T>::insert(ID, number, dispute);
		Pallet::<T>::schedule(Subject::Dispute(ID, number), until + 1);
	}
	let sides = [Side::Claim(0), Side::Claim(1)];
	let dispute = Dispute { sides, stage, shown: [None, None], until, since, ticks };
	Disputes::<T>::insert(ID, MAX_CHALLENGES, dispute);
	Pallet::<T>::schedule(Subject::Dispute(ID, MAX_CHALLENGES), until + 1);
	task.challenges = MAX_CHALLENGES;
	task.running = MAX_CHALLENGES + 1;
	task.next_dispute = MAX_CHALLENGES + 1;
}

/// A claim of a task with a trace of two states, which does not say that it is so short.
fn short_claim(input: &File, steps: u32) -> (Claim, Ends) {
	let leaf = StateId::Bytes(*input).leaf();
	let output = StateId::of(Ok(&[1; MAX_INLINE as usize / 4]));
	let mut leaves = vec![leaf; steps as usize];
	leaves.push(output.leaf());
	Trace::of(leaves).unwrap().claim(output)
}

fn made<T: Config>(who: &T::AccountId, claim: &Claim) -> H256 {
	claim::commitment(&Pallet::<T>::genesis_hash(), ID, who, claim, &SALT)
}

#[benchmarks]
mod benchmarks {
	use super::*;

	#[benchmark]
	fn post() {
		let who = rich::<T>("submitter", 0);
		let (module, input) = files::<T>(&who);
		let spec = spec::<T>(Form::Step { steps: 100 }, module, input);
		let terms = terms::<T>(&spec);
		T::Currency::mint_into(&who, terms.escrow().unwrap() * 2).unwrap();

		#[extrinsic_call]
		_(RawOrigin::Signed(who), Box::new(spec), Box::new(terms));

		assert!(Tasks::<T>::contains_key(ID));
	}

	#[benchmark]
	fn cancel() {
		let mut task = task::<T>(STEPS, 0, Phase::Open { until: 10_000 });
		task.auditor = None;
		applied::<T>(&mut task, MAX_APPLICANTS);
		let who = task.submitter.clone();
		Tasks::<T>::insert(ID, task);

		#[extrinsic_call]
		_(RawOrigin::Signed(who), ID);

		assert!(matches!(Tasks::<T>::get(ID).unwrap().phase, Phase::Ended(_)));
	}

	#[benchmark]
	fn apply() {
		let mut task = task::<T>(STEPS, 0, Phase::Open { until: 10_000 });
		applied::<T>(&mut task, MAX_APPLICANTS - 1);
		let digest = claim::digest(&task.spec, &task.terms);
		Tasks::<T>::insert(ID, task);
		let who = rich::<T>("other", 0);

		#[extrinsic_call]
		_(RawOrigin::Signed(who), ID, digest);

		assert_eq!(Tasks::<T>::get(ID).unwrap().applicants.len() as u32, MAX_APPLICANTS);
	}

	#[benchmark]
	fn commit() {
		let mut task = task::<T>(STEPS, 8, Phase::Computing { until: 10_000 });
		task.auditor = None;
		let last = task.replicas.last_mut().unwrap();
		last.commitment = None;
		let who = last.who.clone();
		Tasks::<T>::insert(ID, task);

		#[extrinsic_call]
		_(RawOrigin::Signed(who), ID, H256::zero());

		assert!(Tasks::<T>::get(ID).unwrap().replicas.iter().all(|r| r.commitment.is_some()));
	}

	#[benchmark]
	fn reveal() {
		let steps = 1_000;
		let phase = Phase::Revealing { since: 99, full: 0, until: 10_000 };
		let mut task = task::<T>(Form::Step { steps }, 8, phase);
		let (claim, ends) = short_claim(&task.spec.input, steps);
		task.claims.pop();
		let last = task.replicas.last_mut().unwrap();
		let who = last.who.clone();
		(last.commitment, last.claim) = (Some(made::<T>(&who, &claim)), None);
		Tasks::<T>::insert(ID, task);
		let output = Some(BoundedVec::truncate_from(vec![1; MAX_INLINE as usize / 4]));

		#[extrinsic_call]
		_(RawOrigin::Signed(who), ID, claim, Box::new(ends), output, SALT);

		assert_eq!(Outputs::<T>::iter().count(), 1);
	}

	#[benchmark]
	fn seal() {
		Tasks::<T>::insert(ID, challenging::<T>());
		let who = rich::<T>("other", 0);

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()), ID, H256::zero());

		assert!(Seals::<T>::contains_key(ID, who));
	}

	#[benchmark]
	fn unseal() {
		Tasks::<T>::insert(ID, challenging::<T>());
		let who = rich::<T>("other", 0);
		Pallet::<T>::do_seal(who.clone(), ID, H256::zero()).unwrap();

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()), ID);

		assert!(!Seals::<T>::contains_key(ID, who));
	}

	#[benchmark]
	fn challenge() {
		let steps = 1_000;
		let mut task = challenging::<T>();
		task.spec.form = Form::Step { steps };
		let (own, ends) = short_claim(&task.spec.input, steps);
		let descent =
			Descent::begin(MAX_STEPS + 1, [H256::repeat_byte(1), H256::repeat_byte(2)]).unwrap();
		disputed::<T>(&mut task, Stage::Descending(descent));
		Disputes::<T>::remove(ID, 0);
		Pallet::<T>::unschedule(Subject::Dispute(ID, 0));
		(task.running, task.challenges) = (MAX_CHALLENGES, MAX_CHALLENGES - 1);
		Tasks::<T>::insert(ID, task);
		let who = rich::<T>("other", 0);
		Pallet::<T>::do_seal(who.clone(), ID, made::<T>(&who, &own)).unwrap();
		at::<T>(101);

		#[extrinsic_call]
		_(RawOrigin::Signed(who), ID, 0, own, Box::new(ends), SALT);

		assert_eq!(Tasks::<T>::get(ID).unwrap().challenges, MAX_CHALLENGES);
	}

	#[benchmark]
	fn show() {
		let mut task = challenging::<T>();
		let nodes = |byte: u8| {
			let mut nodes = vec![H256::zero(); FAN as usize];
			*nodes.last_mut().unwrap() = H256::repeat_byte(byte);
			nodes
		};
		let roots = [1, 2].map(|byte| trainyard_protocol::merkle::root(&nodes(byte)));
		let descent = Descent::begin(MAX_STEPS + 1, roots).unwrap();
		let mut dispute = {
			disputed::<T>(&mut task, Stage::Descending(descent));
			Disputes::<T>::get(ID, 0).unwrap()
		};
		dispute.shown = [Some(BoundedVec::truncate_from(nodes(1))), None];
		Disputes::<T>::insert(ID, 0, dispute);
		Tasks::<T>::insert(ID, task);
		let who = rich::<T>("other", 0);
		let nodes = BoundedVec::truncate_from(nodes(2));

		#[extrinsic_call]
		_(RawOrigin::Signed(who), ID, 0, 1, nodes);

		let stage = Disputes::<T>::get(ID, 0).unwrap().stage;
		assert!(matches!(stage, Stage::Descending(next) if next != descent));
	}

	#[benchmark]
	fn execute() {
		let mut task = challenging::<T>();
		let fault: trainyard_task::Fault = Default::default();
		let stuck = StateId::of(Err(&fault)).leaf();
		let leaves = vec![stuck; 1_001];
		let trace = Trace::of(leaves).unwrap();
		task.spec.form = Form::Step { steps: 1_000 };
		task.claims[1].claim.root = trace.root();
		let stage = Stage::Executing { index: 1_000, leaves: [H256::zero(), stuck] };
		disputed::<T>(&mut task, stage);
		Tasks::<T>::insert(ID, task);
		let who = rich::<T>("other", 0);
		let path = trace.proof(999).unwrap().try_into().unwrap();
		let brought = Box::new(Brought::Fault(fault));

		#[extrinsic_call]
		_(RawOrigin::Signed(who), ID, MAX_CHALLENGES, brought, path);

		assert!(Tasks::<T>::get(ID).unwrap().claims[0].convicted());
		assert_eq!(Disputes::<T>::iter().count(), 0);
	}

	#[benchmark]
	fn refute() {
		let (count, most) = (200, 1_000);
		let phase = Phase::Challenging { until: 10_000 };
		let mut task = task::<T>(Form::Map { count, most }, 8, phase);
		// Refused, which is a result like another: what executing takes is counted apart.
		let module = vec![0];
		let input = vec![1; 1_000];
		task.spec.module = File::of(&module);
		task.spec.input = File::of(&input);
		let all: Vec<u8> =
			(0..count).flat_map(|_| record(Ok(&vec![0x77; most as usize]), most)).collect();
		let file = File::of(&all);
		task.claims[0].claim = Claim { root: file.root, output: StateId::Bytes(file) };
		Tasks::<T>::insert(ID, task);
		let (index, who) = (count / 2, rich::<T>("other", 0));
		let genesis = Pallet::<T>::genesis_hash();
		let sealed = claim::refutation(&genesis, ID, &who, (0, index), &SALT);
		Pallet::<T>::do_seal(who.clone(), ID, sealed).unwrap();
		at::<T>(101);
		let (first, end) = record_chunks(index, most);
		let opened = OpenedRecord {
			index,
			content: content::hash(&all),
			chunks: BoundedVec::truncate_from(
				all[first as usize * 1_024..(end as usize * 1_024).min(all.len())].to_vec(),
			),
			siblings: BoundedVec::truncate_from(content::open_many(&all, first..end).unwrap()),
			module: BoundedVec::truncate_from(module),
			input: BoundedVec::truncate_from(input),
		};

		#[extrinsic_call]
		_(RawOrigin::Signed(who), ID, 0, Box::new(opened), SALT);

		assert!(Tasks::<T>::get(ID).unwrap().claims[0].convicted());
	}

	#[benchmark]
	fn look() {
		Tasks::<T>::insert(ID, challenging::<T>());

		#[block]
		{
			Pallet::<T>::advance(ID);
		}

		assert_eq!(Due::<T>::get(Subject::Task(ID)), Some(10_001));
	}

	#[benchmark]
	fn draw() {
		let mut task = task::<T>(STEPS, 0, Phase::Drawing { after: 100 });
		task.auditor = None;
		applied::<T>(&mut task, MAX_APPLICANTS);

		#[block]
		{
			Pallet::<T>::draw_replicas(ID, &mut task, 100, &H256::repeat_byte(7));
		}

		assert_eq!(task.replicas.len(), 8);
	}

	#[benchmark]
	fn sample() {
		let mut task = task::<T>(STEPS, 8, Phase::Sampling { after: 100, tries: 0 });
		task.auditor = None;

		#[block]
		{
			Pallet::<T>::draw_auditor(ID, &mut task, 100, (100, 1), &H256::repeat_byte(7));
		}

		assert!(!matches!(task.phase, Phase::Sampling { tries: 0, .. }));
	}

	#[benchmark]
	fn close_reveals() {
		let phase = Phase::Revealing { since: 99, full: 0, until: 99 };
		let mut task = task::<T>(STEPS, 8, phase);

		#[block]
		{
			Pallet::<T>::close_reveals(ID, &mut task, 100);
		}

		assert!(matches!(task.phase, Phase::Challenging { .. }) && task.running > 0);
	}

	#[benchmark]
	fn settle() {
		let mut task = challenging::<T>();
		for replica in &mut task.replicas {
			replica.claim = Some(1);
		}
		task.claims[0].out = Some(Out { at: 1, proven: true });

		#[block]
		{
			Pallet::<T>::settle(ID, &mut task, 20_000);
		}

		assert_eq!(task.phase, Phase::Ended(TaskEnd::Accepted(1)));
	}

	#[benchmark]
	fn end_dispute() {
		let mut task = challenging::<T>();
		let stage = Stage::Descending(
			Descent::begin(MAX_STEPS + 1, [H256::repeat_byte(1), H256::repeat_byte(2)]).unwrap(),
		);
		disputed::<T>(&mut task, stage);
		Tasks::<T>::insert(ID, task);
		let mut dispute = Disputes::<T>::get(ID, MAX_CHALLENGES).unwrap();
		dispute.shown = [None, Some(Nodes::truncate_from(vec![H256::zero(); FAN as usize]))];
		Disputes::<T>::insert(ID, MAX_CHALLENGES, dispute);
		at::<T>(5_001);

		#[block]
		{
			Pallet::<T>::look_at_dispute(ID, MAX_CHALLENGES);
		}

		assert_eq!(Disputes::<T>::iter().count(), 0);
	}

	#[benchmark]
	fn forget() {
		let task = task::<T>(STEPS, 0, Phase::Ended(TaskEnd::Refuted));
		for number in 0..MAX_CLAIMS {
			let output = BoundedVec::truncate_from(vec![1; MAX_INLINE as usize]);
			Outputs::<T>::insert(ID, number as u8, output);
		}
		Tasks::<T>::insert(ID, task.clone());

		#[block]
		{
			Pallet::<T>::forget(ID, &task);
		}

		assert_eq!(Outputs::<T>::iter().count(), 0);
	}

	/// Of `n` tasks, each of which is taken off the agenda.
	#[benchmark]
	fn serve(n: Linear<0, 16>) {
		at::<T>(1);
		Pallet::<T>::serve(1, frame_support::weights::Weight::MAX);
		for number in 0..n {
			// Of no dispute nothing is done.
			Due::<T>::insert(Subject::Dispute(ID, number), 2);
			Agenda::<T>::insert(2, Subject::Dispute(ID, number), ());
		}
		at::<T>(2);

		#[block]
		{
			for subject in Agenda::<T>::iter_key_prefix(2) {
				Agenda::<T>::remove(2, subject);
				Due::<T>::remove(subject);
			}
			Cursor::<T>::put(3);
		}

		assert_eq!(Agenda::<T>::iter().count(), 0);
	}

	impl_benchmark_test_suite!(Pallet, crate::mock::new_test_ext(), crate::mock::Test);
}
