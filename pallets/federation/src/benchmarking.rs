//! Benchmarks of every call and step, each in its most expensive case that can be made here: models are those
//! of the example, and what the largest specification costs to lower is added in the weights by hand.

use super::*;
use alloc::{boxed::Box, vec, vec::Vec};
use frame_benchmarking::v2::*;
use frame_support::{traits::Get, BoundedVec};
use frame_system::RawOrigin;
use sp_runtime::SaturatedConversion;
use trainyard_program::{
	needs::MachineClass,
	spec::{FileRef, InitialModel, JobSpec},
};
use trainyard_protocol::{
	blob,
	content::{self, CHUNK_BYTES},
	federation::{
		self, FederationId, ModelOpening, PartData, Pieces, Plan, Round, Rule, Stage, MAX_PARTS,
		MAX_PROPOSALS,
	},
	job::{BlockNumber, Terms},
	model_file::Layout,
	H256,
};
use trainyard_traits::{AwaitedBlobs, PostedJobs};

/// What trains.
fn template() -> JobSpec {
	let mut spec = JobSpec::example();
	let file = FileRef { content_hash: H256::repeat_byte(5), ..spec.dataset.file() };
	spec.initial_model = Some(InitialModel { file, parameters: H256::repeat_byte(6) });
	spec
}

/// So many parts, each with the rows of the template.
fn parts(count: u32) -> Parts {
	let data = template().dataset;
	let part = |_| PartData {
		file: data.file(),
		labels: None,
		train_rows: data.train_rows,
		validation_rows: data.validation_rows,
		rows: data.rows,
	};
	BoundedVec::truncate_from((0..count).map(part).collect())
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
		rounds: 1,
		min_parts: 1,
		rule: Rule::Agreed,
		round_blocks: T::MinRoundBlocks::get(),
		stop_if_tainted: false,
		aggregate_fee: T::MinAggregateFee::get(),
		max_fee_per_ut: u128::MAX,
	}
}

/// An account with money, for which jobs can be posted.
fn rich<T: Config>(index: u32) -> T::AccountId {
	let who: T::AccountId = account("member", index, 0);
	T::Jobs::make_postable(&who);
	who
}

/// A federation of so many parts.
fn opened<T: Config>(count: u32) -> (FederationId, T::AccountId) {
	let who = rich::<T>(0);
	let (terms, plan) = (terms(), plan::<T>());
	Pallet::<T>::do_open(who.clone(), template(), parts(count), terms, plan).unwrap();
	(0, who)
}

/// A file of the model, all of whose numbers are this byte four times.
fn file(byte: u8) -> Vec<u8> {
	let layout = Layout::of(&template().check().unwrap());
	let mut bytes = layout.header;
	bytes.resize(layout.size as usize, byte);
	bytes
}

/// A federation all of whose parts answered with a model on chain.
fn aggregating<T: Config>() -> (FederationId, T::AccountId) {
	let (id, who) = opened::<T>(MAX_PARTS);
	let root = blob::root_of(file(1).len() as u64, &content::hash(&file(1)));
	Federations::<T>::mutate_extant(id, |federation| {
		federation.stage = Stage::Aggregating;
		for part in federation.parts.iter_mut() {
			(part.job, part.answer) = (Some(0), Some(root));
			T::Blobs::expect(&root);
		}
	});
	(id, who)
}

/// The same, with as many proposals as there may be of one file.
fn proposed<T: Config>(bytes: &[u8]) -> (FederationId, T::AccountId) {
	let (id, who) = aggregating::<T>();
	let layout = Layout::of(&template().check().unwrap());
	let content = content::hash(bytes);
	let root = blob::root_of(bytes.len() as u64, &content);
	let proposer = rich::<T>(1);
	Federations::<T>::mutate_extant(id, |federation| {
		for number in 0..MAX_PROPOSALS {
			let mut said = federation::piece_values(&layout, bytes).unwrap();
			// The last is false in its last piece.
			if number + 1 == MAX_PROPOSALS {
				*said.last_mut().unwrap() = H256::zero();
			}
			let deposit = T::ProposalDeposit::get();
			Pallet::<T>::hold(HoldReason::Proposal, &proposer, deposit).unwrap();
			T::Blobs::expect(&root);
			let (proposer, parameters) = (proposer.clone(), H256::from_low_u64_be(number.into()));
			let until = 1;
			let proposal = Proposal { number, proposer, deposit, content, root, parameters, until };
			federation.proposals.try_push(proposal).unwrap();
			ProposedPieces::<T>::insert(id, number, Pieces::truncate_from(said));
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

	#[benchmark]
	fn open(n: Linear<1, { MAX_PARTS }>) {
		let who = rich::<T>(0);

		#[extrinsic_call]
		_(RawOrigin::Signed(who), Box::new(template()), parts(n), terms(), plan::<T>());

		assert!(Federations::<T>::contains_key(0));
	}

	#[benchmark]
	fn cancel() {
		let (id, who) = proposed::<T>(&file(2));

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id);

		assert!(matches!(Federations::<T>::get(id).unwrap().stage, Stage::Ended(_)));
	}

	/// Merges `n` values, and lowers the specification; a real proposal has as many pieces as its model.
	#[benchmark]
	fn propose(n: Linear<0, 8_192>) {
		let (id, _) = aggregating::<T>();
		let who = rich::<T>(1);
		let root = T::Blobs::make_complete(&who, file(1).len() as u64);
		let content = H256::repeat_byte(0xb1);
		assert_eq!(root, blob::root_of(file(1).len() as u64, &content));
		let layout = Layout::of(&template().check().unwrap());
		let said = federation::piece_values(&layout, &file(1)).unwrap();
		let wide = Layout::new([("x".into(), vec![n.max(1) * 65_536])]);
		let values = vec![H256::repeat_byte(1); n as usize];

		#[block]
		{
			let _ = federation::parameters(&wide, &values);
			Pallet::<T>::do_propose(who, id, content, Pieces::truncate_from(said)).unwrap();
		}

		assert_eq!(Federations::<T>::get(id).unwrap().proposals.len(), 1);
	}

	#[benchmark]
	fn refute() {
		let (id, _) = proposed::<T>(&file(2));
		let who = rich::<T>(2);
		let chunk = 20;
		let own = ModelOpening::new(&file(1), chunk).unwrap();
		let mut shown = vec![ModelOpening::new(&file(2), chunk).unwrap()];
		shown.extend(vec![own; MAX_PARTS as usize]);
		let shown = Openings::truncate_from(shown);

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id, MAX_PROPOSALS - 1, chunk, shown);

		assert_eq!(Federations::<T>::get(id).unwrap().proposals.len() as u32, MAX_PROPOSALS - 1);
	}

	#[benchmark]
	fn refute_piece() {
		let (id, _) = proposed::<T>(&file(1));
		let who = rich::<T>(2);
		let layout = Layout::of(&template().check().unwrap());
		let all = federation::pieces(&layout);
		let (number, piece) = (all.len() as u32 - 1, all[all.len() - 1]);
		let bytes = file(1);
		let chunks = piece.chunks();
		let siblings = content::open_many(&bytes, chunks.clone()).unwrap();
		let end = ((chunks.end * CHUNK_BYTES) as usize).min(bytes.len());
		let own = bytes[(chunks.start * CHUNK_BYTES) as usize..end].to_vec();

		#[extrinsic_call]
		_(
			RawOrigin::Signed(who),
			id,
			MAX_PROPOSALS - 1,
			number,
			PieceBytes::truncate_from(own),
			PieceSiblings::truncate_from(siblings),
		);

		assert_eq!(Federations::<T>::get(id).unwrap().proposals.len() as u32, MAX_PROPOSALS - 1);
	}

	#[benchmark]
	fn look() {
		let (id, _) = proposed::<T>(&file(2));
		at::<T>(100);

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert_eq!(Federations::<T>::get(id).unwrap().round, 1);
	}

	#[benchmark]
	fn post() {
		let (id, _) = opened::<T>(MAX_PARTS);
		let federation = Federations::<T>::get(id).unwrap();

		#[block]
		{
			let template = Templates::<T>::get(id).unwrap();
			let data = template.parts.last().unwrap();
			Pallet::<T>::spec_of(&template.spec, data, &federation.initial).unwrap();
		}
	}

	#[benchmark]
	fn forget() {
		let (id, who) = opened::<T>(MAX_PARTS);
		Pallet::<T>::do_cancel(who, id).unwrap();
		for round in 0..FORGET_STEP {
			let part = (0, 0, H256::zero());
			let parts = BoundedVec::truncate_from(vec![part; MAX_PARTS as usize]);
			let (root, parameters) = (H256::zero(), H256::zero());
			Rounds::<T>::insert(id, round, Round { root, parameters, parts, at: 1 });
		}

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert!(Rounds::<T>::iter_key_prefix(id).count() <= 1);
	}

	/// A look at a height, and at `n` federations that do not exist.
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
