//! Benchmarks of every call and step, each in its most expensive case that can be made here: specifications are
//! those of the example, and what the largest one costs is added in the weights by hand.

use super::*;
use alloc::{vec, vec::Vec};
use frame_benchmarking::v2::*;
use frame_support::{traits::Get, BoundedVec};
use frame_system::RawOrigin;
use sp_runtime::SaturatedConversion;
use trainyard_program::{needs::MachineClass, spec::JobSpec};
use trainyard_protocol::{
	accusation::{Leaf, LeafContent},
	bundle::{Checkpoint, Evaluation},
	job::{BlockNumber, Terms, WorkResult},
	merkle,
	sets::{
		Generation, Measure, Plan, Run, SetEnding, SetId, Stage, Trained, MAX_GENERATIONS,
		MAX_MEMBERS,
	},
	H256,
};
use trainyard_traits::{AwaitedBlobs, PostedJobs};

fn specs(count: u32) -> Specs {
	BoundedVec::truncate_from(vec![JobSpec::example(); count as usize])
}

fn terms() -> Terms {
	Terms {
		price_per_ut: 1_000_000_000_000_000,
		replicas: 2,
		verifiers: 3,
		audit_segments: 4,
		audit_fee: trainyard_protocol::job::MIN_AUDIT_FEE,
		apply_blocks: 20,
		training_blocks: 20,
		machine: MachineClass::Gib8,
		undecided_percent: 20,
		keep_every: 1,
		lottery: None,
	}
}

fn plan<T: Config>() -> Plan {
	Plan {
		measure: Measure::Loss,
		generations: MAX_GENERATIONS,
		replaced: MAX_MEMBERS / 2,
		factors: BoundedVec::truncate_from(vec![800, 1_250]),
		show_blocks: T::MinShowBlocks::get(),
		max_fee_per_ut: u128::MAX,
	}
}

/// A set of as many members as there may be.
fn opened<T: Config>() -> (SetId, T::AccountId) {
	let who: T::AccountId = account("member", 0, 0);
	T::Jobs::make_postable(&who);
	let specs = specs(MAX_MEMBERS);
	Pallet::<T>::do_open(who.clone(), specs, terms(), plan::<T>()).unwrap();
	(0, who)
}

/// The last leaf of a bundle of many checkpoints, and the result.
fn shown(model_root: H256) -> (WorkResult, Leaf) {
	let (step, evaluation) = (1_023, Evaluation::new(0.5, 9, 10));
	let (state, trace) = (H256::repeat_byte(1), H256::repeat_byte(2));
	let content = LeafContent::Checkpoint(Checkpoint { step, state, evaluation, trace });
	let mut hashes = vec![H256::repeat_byte(3); 1_023];
	hashes.push(content.leaf());
	let path = merkle::proof(&hashes, 1_023).unwrap();
	let path = BoundedVec::truncate_from(path);
	let bundle_root = merkle::root(&hashes);
	let true_root = bundle_root;
	let result =
		WorkResult { bundle_root, true_root, model_root, segments: 1_023, diverged: false };
	(result, Leaf { content, path })
}

/// A set all of whose members began with a model, and have another.
fn trained<T: Config>() -> (SetId, T::AccountId) {
	let (id, who) = opened::<T>();
	let root = T::Blobs::make_complete(&who, 100_000);
	let (result, _) = shown(root);
	let (parameters, score) = (H256::repeat_byte(4), Evaluation::new(0.5, 9, 10));
	Sets::<T>::mutate_extant(id, |set| {
		set.stage = Stage::Showing { until: 1 };
		for member in set.members.iter_mut() {
			member.base = Some(Base { root, bytes: 100_000, parameters });
			member.parent = Some(0);
			let parameters = Some(parameters);
			member.run = Run::Shown { job: 0, result, score, parameters };
			T::Blobs::expect(&root);
			T::Blobs::expect(&root);
		}
	});
	(id, who)
}

fn at<T: Config>(height: BlockNumber) {
	frame_system::Pallet::<T>::set_block_number(height.saturated_into());
}

#[benchmarks]
mod benchmarks {
	use super::*;

	/// With the market's part, which is weighed for itself.
	#[benchmark]
	fn open(n: Linear<2, { MAX_MEMBERS }>) {
		let who: T::AccountId = account("member", 0, 0);
		T::Jobs::make_postable(&who);
		let plan = Plan { replaced: 1, ..plan::<T>() };

		#[extrinsic_call]
		_(RawOrigin::Signed(who), specs(n), terms(), plan);

		assert_eq!(Sets::<T>::get(0).unwrap().members.len() as u32, n);
	}

	#[benchmark]
	fn show() {
		let (id, who) = opened::<T>();
		let (result, leaf) = shown(H256::zero());
		Sets::<T>::mutate_extant(id, |set| {
			set.members[31].run = Run::Accepted { job: 0, result };
			T::Blobs::expect(&H256::zero());
		});

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id, MAX_MEMBERS - 1, leaf, Some(H256::zero()));

		assert!(Sets::<T>::get(id).unwrap().members[31].run.score().is_some());
	}

	#[benchmark]
	fn stop() {
		let (id, who) = trained::<T>();
		Sets::<T>::mutate_extant(id, |set| set.stage = Stage::Drawing { after: 1 });

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id);

		let stage = Sets::<T>::get(id).unwrap().stage;
		assert_eq!(stage, Stage::Ended(SetEnding::Stopped));
	}

	/// A look at what is not over.
	#[benchmark]
	fn look() {
		let (id, _) = trained::<T>();
		Sets::<T>::mutate_extant(id, |set| {
			set.stage = Stage::Showing { until: 100 };
			if let Run::Shown { parameters, .. } = &mut set.members[31].run {
				*parameters = None;
			}
		});

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert_eq!(Sets::<T>::get(id).unwrap().stage, Stage::Showing { until: 100 });
	}

	/// The end of the last generation.
	#[benchmark]
	fn conclude() {
		let (id, _) = trained::<T>();
		Sets::<T>::mutate_extant(id, |set| set.generation = MAX_GENERATIONS - 1);
		at::<T>(100);

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert_eq!(Sets::<T>::get(id).unwrap().stage, Stage::Ended(SetEnding::Done));
	}

	#[benchmark]
	fn post() {
		let (id, _) = trained::<T>();
		let set = Sets::<T>::get(id).unwrap();

		#[block]
		{
			let spec = Pallet::<T>::spec_of(id, MAX_MEMBERS - 1, &set.members[31]).unwrap();
			Pallet::<T>::checked(spec).unwrap();
		}
	}

	#[benchmark]
	fn breed() {
		let (id, _) = trained::<T>();
		let mut set = Sets::<T>::get(id).unwrap();
		Sets::<T>::mutate_extant(id, |set| set.generation = 1);

		#[block]
		{
			Pallet::<T>::breed(id, &mut set, &H256::repeat_byte(5));
		}

		assert_eq!(set.generation, 1);
	}

	#[benchmark]
	fn forget() {
		let (id, _) = opened::<T>();
		Sets::<T>::mutate_extant(id, |set| set.stage = Stage::Ended(SetEnding::Done));
		let trained =
			Trained { parent: None, learning_rate_nano: 1, job: None, score: None, model: None };
		let all: Vec<Trained> = vec![trained; MAX_MEMBERS as usize];
		for generation in 0..FORGET_STEP {
			Generations::<T>::insert(id, generation, Generation::truncate_from(all.clone()));
		}

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert!(Generations::<T>::iter_key_prefix(id).count() <= 1);
	}

	/// A look at a height, and at `n` sets that do not exist.
	#[benchmark]
	fn serve(n: Linear<0, 16>) {
		let now = 100;
		at::<T>(now);
		Cursor::<T>::put(now);
		for id in 0..n {
			Agenda::<T>::insert(now, 1_000 + id, ());
		}

		#[block]
		{
			// Only the keys: what is done for one is weighed for itself.
			let mut taken = 0;
			for id in Agenda::<T>::iter_key_prefix(now) {
				Agenda::<T>::remove(now, id);
				Due::<T>::remove(id);
				taken += 1;
			}
			assert_eq!(taken, n);
			Cursor::<T>::put(now);
		}
	}

	impl_benchmark_test_suite!(Pallet, crate::mock::new_test_ext(), crate::mock::Test);
}
