//! Benchmarks of every call, of what a decision computes, and of the services of the agenda, at their
//! worst: the docket is full, and a dispute takes another's place in it.

use super::*;
use crate::{
	clocks::{Clocks, Since},
	costs::{MAX_ROWS, MAX_TERMS},
	docket::DOCKET,
};
use alloc::{vec, vec::Vec};
use codec::Encode;
use core::hint::black_box;
use frame_benchmarking::v2::*;
use frame_support::{
	traits::{
		fungible::{Inspect, Mutate, MutateHold},
		Get,
	},
	BoundedVec,
};
use frame_system::RawOrigin;
use sp_runtime::traits::SaturatedConversion;
use trainyard_court::{
	game::{
		types::{FAN, MAX_TENSORS},
		After, ChunkBytes, Claimed, Contents, End, Leaf, LeafContent, Level, Moment, Opened,
		Opening as GameOpening, Owner, Peaks, Piece, Place, Roots, Scene, Stage, Subject, Target,
		Turn, Witness,
	},
	referee::{results_root, Computation, Lowered, Openings, MAX_OPENINGS},
	Case,
};
use trainyard_pallet_support::agenda::Clock;
use trainyard_program::{
	ops::Role,
	order::Order,
	spec::{Activation, DataFormat, JobSpec, Model, MAX_BLOCKS},
};
use trainyard_protocol::{
	bundle::{Checkpoint, Evaluation},
	content::{self, Node},
	court,
	job::{Balance, WorkResult, MAX_REPLICAS},
	merkle::{self, Frontier},
	trace, JobId, H256,
};
use trainyard_traits::{Accusation, Accused, Charged, ClockTerms, Defendant, DisputeId};

const SALT: [u8; 32] = [5; 32];
/// Steps before and after what is disputed.
const STEPS: u32 = 64;
const SCENE_STEP: u32 = 3;

/// An MLP with a gradient of 64 chunks.
fn wide() -> JobSpec {
	let mut spec = JobSpec::example();
	let hidden = BoundedVec::truncate_from(vec![128, 128]);
	spec.model = Model::Mlp { hidden, activation: Activation::Relu };
	(spec.training.steps, spec.training.checkpoint_interval) = (STEPS, STEPS);
	spec
}

fn case(spec: JobSpec) -> Case {
	Case { spec: spec.check().expect("it is valid"), seed: H256::repeat_byte(5) }
}

fn charged(spec: JobSpec, bundle_root: H256, segments: u32) -> Charged {
	let result = WorkResult {
		bundle_root,
		true_root: bundle_root,
		model_root: H256::zero(),
		segments,
		diverged: false,
	};
	Charged { case: case(spec), result, results: 100 }
}

fn fund<T: Config>(who: &T::AccountId) {
	let amount = T::Currency::minimum_balance().saturating_mul(1_000_000);
	T::Currency::mint_into(who, amount).expect("an account takes money");
}

/// Somebody who claims this, with money of its own.
fn accused<T: Config>(charged: Charged) -> DefendantOf<T> {
	let defendant = T::Accused::make_accused(charged).expect("somebody can claim it");
	fund::<T>(defendant.who());
	fund::<T>(&T::Jackpot::get());
	defendant
}

/// A deposit for which the jackpot or a defendant can exist.
fn deposit<T: Config>() -> Balance {
	T::Currency::minimum_balance().saturating_mul(10)
}

fn challenger<T: Config>(at: u32) -> T::AccountId {
	account("challenger", at, 0)
}

/// A stage at the ends of the first segment, which are to be opened.
fn ends(turn: Turn) -> Stage {
	let subject = Subject { target: Target::Segment(0), begin: H256::zero(), end: None };
	Stage { subject, level: Level::Ends, turn }
}

/// Lets somebody have a dispute at this stage.
fn dispute<T: Config>(
	challenger: T::AccountId,
	defendant: &DefendantOf<T>,
	stage: Stage,
	deposit: Balance,
) -> DisputeId {
	fund::<T>(&challenger);
	T::Currency::hold(&HoldReason::Challenge.into(), &challenger, deposit).expect("it is funded");
	let id = Pallet::<T>::next_id().expect("there are numbers");
	Standings::<T>::mutate(defendant.job(), |standing| standing.disputes += 1);
	let dispute = Dispute {
		challenger,
		defendant: defendant.clone(),
		claimed: Claimed::Other,
		stage,
		deposit,
		stake: 0,
		committed_at: id as u32,
		clocks: Clocks::new(1_000),
		burden: Burden::new(&ClockTerms { ticks: 1_000, work: 1, room: 1_000 }),
		moved_at: 0,
		awake: id as u32,
		aside: false,
		moves: 0,
	};
	let suit = (defendant, &dispute.challenger, dispute.stage.subject.target);
	Suits::<T>::insert(suit, id);
	Pallet::<T>::enter(id, dispute);
	id
}

/// Fills a docket but for so many places with disputes in which the defender is to move.
fn fill<T: Config>(defendant: &DefendantOf<T>, but: u32) {
	for at in but..DOCKET {
		dispute::<T>(challenger::<T>(at), defendant, ends(Turn::Defender), deposit::<T>());
	}
}

/// What a dispute about the step [`SCENE_STEP`] is about.
fn scene(after: H256) -> Scene {
	let after = After::Next { state: after, loss: 0, logits: H256::zero() };
	Scene::Step { segment: 0, step: SCENE_STEP, state: H256::zero(), after }
}

/// Contents of all results of a step, and their root.
fn results(lowered: &Lowered<'_>) -> (Vec<H256>, H256) {
	let contents: Vec<H256> =
		(0..lowered.results()).map(|at| H256::repeat_byte(at as u8)).collect();
	let mut frontier = Frontier::new();
	for (index, content) in (0u32..).zip(&contents) {
		frontier.push(court::result_leaf(index, content)).expect("it is whole");
	}
	(contents, frontier.root())
}

fn stage(level: Level, turn: Turn) -> Stage {
	Stage { level, turn, ..ends(turn) }
}

/// A content of 64 chunks, and the values of its parts.
fn large() -> (Vec<u8>, Roots) {
	let bytes = vec![7u8; 64 * 1_024];
	let parts = Node::whole(bytes.len() as u64).parts(bytes.len() as u64, 6).expect("it exists");
	let values = parts.iter().map(|part| part.value(&bytes).expect("it exists")).collect();
	(bytes, Roots::truncate_from(values))
}

/// The result of [`wide`] with 64 chunks.
fn large_result(case: &Case) -> u32 {
	let lowered = Lowered::new(case, Computation::Step { step: SCENE_STEP }).expect("it exists");
	let found = lowered.parts().iter().position(|part| part.len == 16_384);
	found.expect("a gradient has as many elements") as u32
}

/// A transformer of so many layers.
fn deep(layers: u32) -> JobSpec {
	let mut spec = JobSpec::example();
	spec.dataset.format = DataFormat::Text;
	spec.dataset.feature_divisor = 1;
	(spec.dataset.features, spec.dataset.classes) = (8, 7);
	spec.model =
		Model::Transformer { layers, heads: 1, width: 2, mlp_factor: 1, dropout_nano: 100_000_000 };
	spec
}

fn set_height<T: Config>(height: u32) {
	frame_system::Pallet::<T>::set_block_number(height.saturated_into());
}

#[benchmarks]
mod benchmarks {
	use super::*;

	#[benchmark]
	fn commit() {
		let defendant = accused::<T>(charged(wide(), H256::zero(), 1));
		let caller: T::AccountId = whitelisted_caller();
		let needed = T::Accused::challenge_deposit(defendant.job()).expect("it has a window");
		T::Currency::mint_into(&caller, needed.saturating_mul(2)).expect("an account takes money");
		let job: JobId = defendant.job();

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()), job, H256::repeat_byte(9));

		assert!(CommittedBy::<T>::contains_key(job, &caller));
	}

	/// The leaves are deep in the largest bundle, and the dispute displaces another one.
	#[benchmark]
	fn challenge() {
		let mut spec = wide();
		(spec.training.steps, spec.training.checkpoint_interval) = (65_536, 1);
		let labels = spec.dataset.validation_rows;
		let trace = trace::seal(&H256::zero());
		let leaf = |at: u32| Checkpoint {
			step: at,
			state: H256::repeat_byte(at as u8),
			evaluation: Evaluation::new(1.0, 1, labels),
			trace,
		};
		let all = [leaf(0), leaf(1)];
		let above = (0..16u8).map(H256::repeat_byte);
		let root =
			above.clone().fold(merkle::node(&all[0].leaf(), &all[1].leaf()), |left, right| {
				merkle::node(&left, &right)
			});
		let shown = |at: usize| {
			let path: Vec<H256> = [all[1 - at].leaf()].into_iter().chain(above.clone()).collect();
			Leaf { content: LeafContent::Checkpoint(all[at]), path: Peaks::truncate_from(path) }
		};
		let defendant = accused::<T>(charged(spec, root, 65_536));
		let other = Checkpoint { state: H256::repeat_byte(77), ..all[1] };
		let accusation = Accusation {
			defendant: defendant.clone(),
			target: Target::Segment(0),
			claimed: Claimed::End(End::of(&other)),
			leaves: BoundedVec::truncate_from(vec![shown(0), shown(1)]),
		};
		fill::<T>(&defendant, 0);
		let caller: T::AccountId = whitelisted_caller();
		let deposit = deposit::<T>().saturating_mul(2);
		fund::<T>(&caller);
		T::Currency::hold(&HoldReason::Challenge.into(), &caller, deposit).expect("it is funded");
		let Accusation { target, claimed, .. } = &accusation;
		let hash = Pallet::<T>::digest(&caller, &defendant, target, claimed, &SALT);
		let (job, since) = (defendant.job(), Since::default());
		let id = Pallet::<T>::next_id().expect("there are numbers");
		let commitment = Commitment { job, who: caller.clone(), hash, since, deposit };
		Commitments::<T>::insert(id, commitment);
		CommittedBy::<T>::insert(job, &caller, id);
		Pallet::<T>::schedule(Task::Commitment(id), 9);
		set_height::<T>(2);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), accusation, SALT);

		assert!(Disputes::<T>::get(id).is_some_and(|dispute| !dispute.aside));
		assert_eq!(Aside::<T>::iter().count(), 1);
	}

	/// A dispute that waits displaces another one.
	#[benchmark]
	fn raise() {
		let defendant = accused::<T>(charged(wide(), H256::zero(), 1));
		fill::<T>(&defendant, 0);
		let caller: T::AccountId = whitelisted_caller();
		let id = dispute::<T>(caller.clone(), &defendant, ends(Turn::Defender), deposit::<T>());
		assert!(Disputes::<T>::get(id).is_some_and(|dispute| dispute.aside));

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), id, 1);

		assert!(Disputes::<T>::get(id).is_some_and(|dispute| !dispute.aside));
	}

	/// A dispute that waits takes the place.
	#[benchmark]
	fn withdraw() {
		let defendant = accused::<T>(charged(wide(), H256::zero(), 1));
		let caller: T::AccountId = whitelisted_caller();
		let id = dispute::<T>(caller.clone(), &defendant, ends(Turn::Defender), deposit::<T>());
		fill::<T>(&defendant, 0);
		assert_eq!(Aside::<T>::iter().count(), 1);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), id);

		assert_eq!(Aside::<T>::iter().count(), 0);
	}

	/// The values of 64 parts, which merge.
	#[benchmark]
	fn post() {
		let defendant = accused::<T>(charged(wide(), H256::zero(), 1));
		let (bytes, roots) = large();
		let (content, result) = (content::hash(&bytes), large_result(&case(wide())));
		let before = H256::zero();
		let owner = Owner { scene: scene(H256::zero()), result, before };
		let node = Node::whole(bytes.len() as u64);
		let level = Level::Content { owner, node, value: content };
		let stage = stage(level, Turn::Defender);
		let place = stage.place().expect("it is no piece");
		let id = dispute::<T>(challenger::<T>(99), &defendant, stage, deposit::<T>());
		fill::<T>(&defendant, 1);

		#[extrinsic_call]
		_(RawOrigin::Signed(defendant.who().clone()), id, place, roots);

		assert!(Posts::<T>::iter().next().is_some());
	}

	/// A result, with the values of the 64 parts of its content.
	#[benchmark]
	fn open() {
		let defendant = accused::<T>(charged(wide(), H256::zero(), 1));
		let (bytes, roots) = large();
		let (content, from) = (content::hash(&bytes), large_result(&case(wide())));
		let mut frontier = Frontier::new();
		for index in 0..from {
			frontier.push(court::result_leaf(index, &H256::zero())).expect("it is whole");
		}
		let (agreed, results) = (frontier.root(), Peaks::truncate_from(frontier.peaks.clone()));
		frontier.push(court::result_leaf(from, &content)).expect("it is whole");
		let (scene, denied) = (scene(H256::zero()), Some(frontier.root()));
		let level = Level::Results { scene, from, to: from + 1, agreed, denied };
		let stage = stage(level, Turn::Defender);
		let place = stage.place().expect("it is no piece");
		let id = dispute::<T>(challenger::<T>(99), &defendant, stage, deposit::<T>());
		fill::<T>(&defendant, 1);
		let opened = Opened::Result { content, results };
		let (none, chunk) = (Contents::new(), ChunkBytes::new());
		let opening = GameOpening { opened, contents: none, chunk, roots };

		#[extrinsic_call]
		_(RawOrigin::Signed(defendant.who().clone()), id, place, opening);

		assert!(Posts::<T>::iter().next().is_some());
	}

	/// What is hashed for the tensors of a state that is opened.
	#[benchmark]
	fn contents(n: Linear<1, { MAX_TENSORS }>) {
		let names: Vec<Vec<u8>> =
			(0..n).map(|at| alloc::format!("optimizer.second.layer.{at}").into_bytes()).collect();
		let part = n.div_ceil(FAN);

		#[block]
		{
			let leaves: Vec<H256> = names
				.iter()
				.map(|name| (name, [64u32; 4], [7u8; 32]).using_encoded(merkle::leaf))
				.collect();
			black_box(merkle::root(&leaves));
			let mut frontier = Frontier::new();
			for at in 0..n {
				let _ = frontier.push(court::result_leaf(at, &H256::zero()));
				if at % part == 0 {
					black_box(frontier.root());
				}
			}
		}
	}

	/// One of 64 milestones is denied.
	#[benchmark]
	fn deny() {
		let defendant = accused::<T>(charged(wide(), H256::zero(), 1));
		let (from, to) = (0, STEPS);
		let (agreed, denied) = (H256::zero(), H256::repeat_byte(1));
		let stage = stage(Level::Steps { from, to, agreed, denied }, Turn::Challenger);
		let place = stage.place().expect("it is no piece");
		let caller: T::AccountId = whitelisted_caller();
		let id = dispute::<T>(caller.clone(), &defendant, stage, deposit::<T>());
		fill::<T>(&defendant, 1);
		let roots = Roots::truncate_from(vec![H256::repeat_byte(2); STEPS as usize - 1]);
		Posts::<T>::insert((defendant.job(), &defendant, place), roots);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), id, place, 7);

		assert!(Disputes::<T>::get(id).is_some_and(|dispute| dispute.moves == 1));
	}

	#[benchmark]
	fn show() {
		let defendant = accused::<T>(charged(wide(), H256::zero(), 1));
		let case = case(wide());
		let lowered =
			Lowered::new(&case, Computation::Step { step: SCENE_STEP }).expect("it exists");
		let (to, result) = (lowered.results(), lowered.find(Role::Loss).expect("it has a loss"));
		let (scene, agreed) = (scene(H256::zero()), merkle::root(&[]));
		let level = Level::Results { scene, from: 0, to, agreed, denied: None };
		let stage = stage(level, Turn::Challenger);
		let place = stage.place().expect("it is no piece");
		let caller: T::AccountId = whitelisted_caller();
		let id = dispute::<T>(caller.clone(), &defendant, stage, deposit::<T>());
		fill::<T>(&defendant, 1);
		let mut counts = trainyard_court::game::ranges::boundaries32(0, to, 1);
		counts.push(to);
		let roots = Roots::truncate_from(vec![H256::repeat_byte(2); counts.len()]);
		Posts::<T>::insert((defendant.job(), &defendant, place), roots);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), id, place, Witness::Result { result, element: 0 });

		assert!(Disputes::<T>::get(id).is_some_and(|dispute| dispute.stage.turn == Turn::Piece));
	}

	/// Lowering the computation of a step of so many layers, and taking it apart.
	#[benchmark]
	fn lower(l: Linear<1, { MAX_BLOCKS }>) {
		let case = case(deep(l));

		#[block]
		{
			black_box(
				Lowered::new(&case, Computation::Step { step: 1 }).map(|found| found.results()),
			)
			.expect("it exists");
		}
	}

	/// A join convicts, and 63 other disputes stand elsewhere: each is looked at for who came to the piece.
	#[benchmark]
	fn judge() {
		let defendant = accused::<T>(charged(wide(), H256::zero(), 1));
		let case = case(wide());
		let lowered =
			Lowered::new(&case, Computation::Step { step: SCENE_STEP }).expect("it exists");
		let (all, results) = results(&lowered);
		let after = H256::zero();
		let (segment, step, loss, logits) = (0, SCENE_STEP, 0, H256::zero());
		let piece = Piece::StepJoin { segment, step, results, after, loss, logits };
		let stage = stage(Level::Judge { piece }, Turn::Piece);
		fill::<T>(&defendant, 1);
		let caller: T::AccountId = whitelisted_caller();
		let id = dispute::<T>(caller.clone(), &defendant, stage, deposit::<T>());
		set_height::<T>(JUDGE_AFTER + 1);
		let brought = Openings::Contents(all).encode();
		// Seats lost against it, and others as much.
		let lost = deposit::<T>();
		<Pallet<T> as trainyard_traits::Court<_>>::make_lost(&defendant, lost);
		Pallet::<T>::hold_more(defendant.who(), lost).expect("it has that");
		Won::<T>::mutate(defendant.job(), &defendant, |won| *won += lost);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), id, OpeningBytes::truncate_from(brought));

		assert!(Convicted::<T>::contains_key(defendant.job(), &defendant));
	}

	/// Decoding and hashing so many KiB of openings: chunks with their paths, or the contents of results.
	#[benchmark]
	fn openings(b: Linear<1, { (MAX_OPENINGS / 1_024) as u32 }>) {
		let bytes = vec![7u8; b as usize * 1_024];
		let hash = content::hash(&bytes);
		let length = bytes.len() as u64;
		let all = u64::from(b);
		let siblings = content::open_many(&bytes, 0..all).expect("they are its chunks");
		let brought = (bytes, siblings.clone()).encode();

		#[block]
		{
			let (bytes, siblings) =
				<(Vec<u8>, Vec<H256>) as codec::Decode>::decode(&mut &brought[..])
					.expect("it was encoded");
			let chunks = (0..all).zip(bytes.chunks(1_024));
			content::verify_many(&hash, length, chunks, &siblings).expect("they are its chunks");
			let hashes: Vec<H256> = bytes
				.chunks_exact(32)
				.filter_map(|bytes| Some(H256(<[u8; 32]>::try_from(bytes).ok()?)))
				.collect();
			black_box(results_root(&hashes));
		}
	}

	/// So many terms of the dearest chain, a sum of exponentials.
	#[benchmark]
	fn terms(t: Linear<1, { MAX_TERMS }>) {
		#[block]
		{
			let sum =
				(0..t).fold(0f32, |sum, at| sum + trainyard_strict::exp(-(at as f32) / 900.0));
			black_box(sum);
		}
	}

	/// Looking up so many rows of a large data set.
	#[benchmark]
	fn rows(r: Linear<1, { MAX_ROWS }>) {
		let order = Order::new(&H256::repeat_byte(5), 3, 1_000_003);

		#[block]
		{
			for at in 0..r {
				black_box(order.at(at * 5_000));
			}
		}
	}

	/// A look at a height with so many tasks, each taken off.
	#[benchmark]
	fn serve(n: Linear<0, 64>) {
		for id in 0..n {
			Pallet::<T>::schedule(Task::Forget(id), 2);
		}
		set_height::<T>(2);

		#[block]
		{
			for (task, ()) in Agenda::<T>::iter_prefix(2) {
				Agenda::<T>::remove(2, task);
			}
			Cursor::<T>::put(3);
		}

		assert_eq!(Agenda::<T>::iter().count(), 0);
	}

	/// The challenger's clock ran out: its deposit moves, and a dispute that waits takes the place.
	#[benchmark]
	fn expire() {
		let defendant = accused::<T>(charged(wide(), H256::zero(), 1));
		let (who, turn) = (challenger::<T>(99), Turn::Challenger);
		let id = dispute::<T>(who, &defendant, ends(turn), deposit::<T>());
		fill::<T>(&defendant, 0);
		Ticks::<T>::put(1_000);
		set_height::<T>(1_001);

		#[block]
		{
			Pallet::<T>::perform(Task::Dispute(id));
		}

		assert!(!Disputes::<T>::contains_key(id));
		assert_eq!(Aside::<T>::iter().count(), 0);
	}

	#[benchmark]
	fn lapse() {
		let defendant = accused::<T>(charged(wide(), H256::zero(), 1));
		let (who, deposit) = (challenger::<T>(0), deposit::<T>());
		fund::<T>(&who);
		T::Currency::hold(&HoldReason::Challenge.into(), &who, deposit).expect("it is funded");
		let (job, since) = (defendant.job(), Since::default());
		let commitment = Commitment { job, who: who.clone(), hash: H256::zero(), since, deposit };
		Commitments::<T>::insert(0, commitment);
		CommittedBy::<T>::insert(job, &who, 0);
		Ticks::<T>::put(T::RevealBlocks::get() + 1);

		#[block]
		{
			Pallet::<T>::perform(Task::Commitment(0));
		}

		assert!(!Commitments::<T>::contains_key(0));
	}

	#[benchmark]
	fn close() {
		let defendant = accused::<T>(charged(wide(), H256::zero(), 1));
		fill::<T>(&defendant, 0);
		Convicted::<T>::insert(defendant.job(), &defendant, Some(0));
		Closing::<T>::insert(0, &defendant);

		#[block]
		{
			Pallet::<T>::perform(Task::Close(0));
		}

		let left = Dockets::<T>::get(&defendant).entries().len();
		assert_eq!(left, DOCKET as usize - CLOSE_STEP);
	}

	/// The most seats of one service, each of which won deposits, and the trainers of the job beside
	/// them.
	#[benchmark]
	fn acquit() {
		let defendant = accused::<T>(charged(wide(), H256::zero(), 1));
		let job = defendant.job();
		let amount = deposit::<T>();
		for at in 0..ACQUIT_STEP as u32 + MAX_REPLICAS {
			let who: T::AccountId = account("seat", at, 0);
			fund::<T>(&who);
			T::Currency::hold(&HoldReason::Challenge.into(), &who, amount).expect("it has that");
			let bundle_root = H256::repeat_byte(at as u8);
			let won = match at < MAX_REPLICAS {
				true => Defendant::Trainer { job, who },
				false => Defendant::Seat { job, who, bundle_root },
			};
			Won::<T>::insert(job, &won, amount);
			WonOfSeats::<T>::insert(job, won, amount);
		}

		#[block]
		{
			Pallet::<T>::perform(Task::Acquit(job));
		}

		assert_eq!(Won::<T>::iter().count(), MAX_REPLICAS as usize);
	}

	#[benchmark]
	fn forget() {
		let defendant = accused::<T>(charged(wide(), H256::zero(), 1));
		let job = defendant.job();
		for from in 0..FORGET_STEP {
			let place = Place::Results { at: Moment::Initial, from, to: 1_000 };
			let roots = Roots::truncate_from(vec![H256::zero(); FAN as usize]);
			Posts::<T>::insert((job, &defendant, place), roots);
		}

		#[block]
		{
			Pallet::<T>::perform(Task::Forget(job));
		}

		assert_eq!(Posts::<T>::iter().count(), 0);
	}

	#[benchmark]
	fn close_block() {
		#[block]
		{
			Pallet::<T>::close_block();
		}

		assert!(Ticks::<T>::get() <= 1);
	}

	impl_benchmark_test_suite!(Pallet, crate::mock::new_test_ext(), crate::mock::Test);
}
