//! Benchmarks of every call and step, each in its most expensive case that can be made here: models are those
//! of the example, and what the largest specification costs to lower is added in the weights by hand.

use super::*;
use alloc::{boxed::Box, vec, vec::Vec};
use codec::Encode;
use frame_benchmarking::v2::*;
use frame_support::{traits::Get, BoundedVec};
use frame_system::RawOrigin;
use sp_core::ed25519;
use sp_runtime::SaturatedConversion;
use trainyard_program::{
	needs::MachineClass,
	spec::{FileRef, InitialModel, JobSpec, ON_CHAIN},
};
use trainyard_protocol::{
	accusation::{Leaf, LeafContent, Peaks},
	blob,
	bundle::{Checkpoint, Evaluation},
	content::{self, CHUNK_BYTES},
	federation::{self, ModelOpening, PartData, Pieces},
	job::{BlockNumber, Terms},
	model_file::Layout,
	swarm::{
		self, Averaging, Brought, Contribution, Count, Curve, Model, OuterRule, Pace, Payer,
		Payment, Plan, Point, Reward, Stage, Stages, SwarmId, Ticket, MAX_ANNOUNCED, MAX_CLAIMS,
		MAX_CONTRIBUTIONS, MAX_DOUBTS, MAX_PAYMENTS, MAX_POINTS, MAX_SLICES, MAX_TICKETS,
	},
	Text, H256,
};
use trainyard_traits::{AwaitedBlobs, PostedJobs};

/// Signs nothing: the key of all peers, whose signatures were made for what is benchmarked.
const KEY: sp_core::crypto::KeyTypeId = sp_core::crypto::KeyTypeId(*b"swrm");
/// A stake that the price of no job reaches.
const STAKE: u128 = 1_000_000_000_000_000;
const SALT: [u8; 32] = [7; 32];

/// The rows of a slice of the template.
const ROWS: u32 = 1_000;

fn at_chain(root: H256, bytes: u64) -> FileRef {
	FileRef { content_hash: root, bytes, location: Text::new(ON_CHAIN).unwrap() }
}

fn trained() -> JobSpec {
	let mut spec = JobSpec::example();
	spec.training.steps = spec.training.checkpoint_interval;
	let data = &mut spec.dataset;
	(data.train_rows, data.validation_rows, data.validation_every) = (ROWS, ROWS, 2);
	spec
}

fn layout() -> Layout {
	Layout::of(&trained().check().unwrap())
}

/// A file of the model, all of whose numbers are this byte four times.
fn file(byte: u8) -> Vec<u8> {
	let layout = layout();
	let mut bytes = layout.header;
	bytes.resize(layout.size as usize, byte);
	bytes
}

fn root(bytes: &[u8]) -> H256 {
	blob::root_of(bytes.len() as u64, &content::hash(bytes))
}

fn pieces(bytes: &[u8]) -> Pieces {
	Pieces::truncate_from(federation::piece_values(&layout(), bytes).unwrap())
}

fn model(bytes: &[u8]) -> Model {
	let parameters = federation::parameters(&layout(), &pieces(bytes)).unwrap();
	Model { root: root(bytes), parameters }
}

fn slice(number: u32) -> PartData {
	PartData {
		file: at_chain(H256::from_low_u64_be(u64::from(number) + 1), 100_000),
		labels: None,
		train_rows: ROWS,
		validation_rows: ROWS,
		rows: H256::repeat_byte(3),
	}
}

fn slices(count: u32) -> NewSlices {
	BoundedVec::truncate_from((0..count).map(slice).collect())
}

fn plan<T: Config>(payer: Payer) -> Plan {
	let points = (0..MAX_POINTS).map(|at| Point { score: at * 10_000, worth: at.into() });
	let curve = Curve::Table(BoundedVec::truncate_from(points.collect()));
	let least = T::MinBlocks::get().max(T::MinWindow::get());
	Plan {
		reward: Reward { curve, pace: Pace { first: 1_000, last: 1_000 }, floor: 0, stake: STAKE },
		payer,
		averaging: Averaging::Pairs,
		most_per_peer: u128::MAX,
		claim_fee: T::MinClaimFee::get(),
		slice_deposit: STAKE,
		open_slices: true,
		private: false,
		max_peers: 1_000,
		stages: Stages { collect: least, show: least, count: least, challenge: least },
		ticket_blocks: least,
		end: T::MaxLife::get(),
		appeal: Terms {
			price_per_ut: 1_000_000_000_000_000,
			replicas: 1,
			verifiers: 3,
			audit_segments: 1,
			audit_fee: trainyard_protocol::job::MIN_AUDIT_FEE,
			apply_blocks: 20,
			training_blocks: 20,
			machine: MachineClass::Gib8,
			undecided_percent: 20,
			keep_every: 1,
		},
		max_fee_per_ut: u128::MAX,
	}
}

/// An account with money, for which jobs can be posted.
fn rich<T: Config>(index: u32) -> T::AccountId {
	let who: T::AccountId = account("member", index, 0);
	T::Jobs::make_postable(&who);
	who
}

/// A blob of the chain that is complete: with the length of a model, and this content hash.
const STORED: H256 = H256::repeat_byte(0xb1);

/// Makes a complete blob with the length of a model; returns its root.
fn stored<T: Config>(who: &T::AccountId) -> H256 {
	let root = T::Blobs::make_complete(who, layout().size);
	assert_eq!(root, blob::root_of(layout().size, &STORED));
	root
}

fn template(root: H256) -> JobSpec {
	let mut spec = trained();
	let file = at_chain(root, layout().size);
	spec.initial_model = Some(InitialModel { file, parameters: H256::repeat_byte(6) });
	spec
}

/// A swarm with so many slices.
fn opened<T: Config>(payer: Payer, count: u32) -> (SwarmId, T::AccountId) {
	at::<T>(1);
	let who = rich::<T>(0);
	let template = template(stored::<T>(&who));
	let budget = if payer == Payer::Budget { 1_000 * STAKE } else { 0 };
	Pallet::<T>::do_open(who.clone(), template, slices(count), plan::<T>(payer), budget).unwrap();
	(0, who)
}

fn at<T: Config>(height: BlockNumber) {
	frame_system::Pallet::<T>::set_block_number(height.saturated_into());
}

/// The key of all that is signed here.
fn key() -> ed25519::Public {
	sp_io::crypto::ed25519_generate(KEY, Some(b"//Swarm".to_vec()))
}

fn signed(digest: &H256) -> ed25519::Signature {
	sp_io::crypto::ed25519_sign(KEY, &key(), &digest.0).unwrap()
}

/// A peer with all that one can have on record.
fn peer<T: Config>(id: SwarmId, index: u32) -> T::AccountId {
	let who = rich::<T>(index);
	let key = H256::from_low_u64_be(u64::from(index) + 1);
	let deposit = T::PeerDeposit::get();
	Pallet::<T>::hold(HoldReason::Peer, &who, deposit).unwrap();
	Pallet::<T>::hold(HoldReason::Purse, &who, STAKE).unwrap();
	let models: Vec<_> = (0..MAX_ANNOUNCED)
		.map(|at| (H256((b"model", index, at).using_encoded(sp_io::hashing::blake2_256)), 1))
		.collect();
	for (root, _) in &models {
		Announced::<T>::insert(id, root, &who);
	}
	let ticket = |at: u32| H256::from_low_u64_be(1_000 + u64::from(at));
	let settled = (0..MAX_TICKETS).map(|at| Settled {
		ticket: ticket(at),
		to: who.clone(),
		paid: 1,
		expires: 0,
	});
	let claimed = (0..MAX_TICKETS).map(|at| (ticket(at), 0));
	let peer = Peer {
		key,
		since: 1,
		roles: 7,
		location: Text::new(&"x".repeat(100)).unwrap(),
		deposit,
		purse: STAKE,
		models: BoundedVec::truncate_from(models),
		settled: BoundedVec::truncate_from(settled.collect()),
		claimed: BoundedVec::truncate_from(claimed.collect()),
		paid: 0,
		earned: 0,
		from_budget: 0,
		shares: 0,
		entered: 0,
		owed: 0,
		kept: H256::zero(),
		leaving: None,
	};
	Keys::<T>::insert(id, key, &who);
	Peers::<T>::insert(id, &who, peer);
	Swarms::<T>::mutate_extant(id, |swarm| swarm.peers += 1);
	who
}

/// Puts as many claims on record as a round can have, each about two files, with so many labels right.
fn claimed<T: Config>(id: SwarmId, new: &[u8], own: &[u8], correct: u32) -> Vec<T::AccountId> {
	let payer = peer::<T>(id, 999);
	let count = |correct| Count { correct, labels: ROWS };
	let all: Vec<T::AccountId> = (0..MAX_CLAIMS).map(|index| peer::<T>(id, 100 + index)).collect();
	for (number, who) in (0..).zip(&all) {
		let held = STAKE + T::MinClaimFee::get();
		Pallet::<T>::hold(HoldReason::Claim, who, held).unwrap();
		let mixing = Mixing {
			payer: payer.clone(),
			ticket: H256::repeat_byte(9),
			own: model(own),
			own_content: content::hash(own),
			remote: root(own),
		};
		for root in [root(new), root(own), root(own)] {
			T::Blobs::expect(&root);
		}
		// The last one is false in its last piece.
		let mut said = pieces(new);
		if number + 1 == MAX_CLAIMS {
			*said.last_mut().unwrap() = H256::zero();
		}
		SaidPieces::<T>::insert(id, (number, Which::New), said);
		SaidPieces::<T>::insert(id, (number, Which::Own), pieces(own));
		let said = Some(Spoken {
			model: model(new),
			content: content::hash(new),
			new: count(correct),
			base: count(100),
			mixing: Some(mixing),
		});
		let commitment = H256::zero();
		Claims::<T>::insert(
			id,
			number,
			Claim { claimant: who.clone(), commitment, held, said, refuter: None },
		);
	}
	Swarms::<T>::mutate_extant(id, |swarm| {
		(swarm.claims, swarm.said, swarm.seed) = (MAX_CLAIMS, MAX_CLAIMS, Some(H256::zero()));
		(swarm.drawable, swarm.pace) = (swarm.next_slice, 1_000);
	});
	all
}

/// Makes slice 0 the one that is measured by.
fn measured<T: Config>(id: SwarmId, stage: Stage) {
	let slice = Slices::<T>::get(id, 0).unwrap();
	Pallet::<T>::expect_slice(&slice.data);
	Swarms::<T>::mutate_extant(id, |swarm| {
		swarm.waiting.retain(|number| *number != 0);
		swarm.stage = stage;
	});
}

fn challenging() -> Stage {
	Stage::Challenging { slice: 0, until: 50 }
}

/// As many models in doubt as there can be, each of which `who` challenges. The first of them are what claims
/// are about.
fn doubted<T: Config>(id: SwarmId, who: &T::AccountId) {
	let doubt = |at: u32| {
		let deposit = T::ChallengeDeposit::get();
		Pallet::<T>::hold(HoldReason::Challenge, who, deposit).unwrap();
		let (challenger, job, answered) = (who.clone(), u32::MAX, None);
		let challenge = Challenge { challenger, deposit, job, answered, excused: false };
		let model = match at {
			0 => model(&file(1)),
			1 => model(&file(2)),
			_ => Model { root: H256::from_low_u64_be(at.into()), parameters: H256::zero() },
		};
		Doubt { model, challenge: Some(challenge), failures: 0, proven: None }
	};
	Doubts::<T>::insert(id, BoundedVec::truncate_from((0..MAX_DOUBTS).map(doubt).collect()));
}

/// Outer steps of as many blocks as there have to be at least.
const OUTER: OuterRule = OuterRule {
	picks: 64,
	bits: 2,
	keep: 950,
	rate: 1_000,
	momentum: 0,
	clip: Some(2_000),
	trim: 0,
	inner: 30,
	train: 10,
	vouch: 5,
};

fn brought() -> Brought {
	let root = H256::repeat_byte(5);
	Brought { base: 2, model: root, velocity: root, data: root, sealed: root, kept: root }
}

/// Owes something to each of these peers for outer steps.
fn owing<T: Config>(id: SwarmId, opener: &T::AccountId, peers: &[T::AccountId]) {
	let each = T::MinClaimFee::get();
	let count = peers.len() as u64;
	let all = each * u128::from(count);
	Pallet::<T>::hold(HoldReason::Budget, opener, all).unwrap();
	Swarms::<T>::mutate_extant(id, |swarm| {
		(swarm.shares, swarm.per_share, swarm.pot) = (count, each << 32, all);
	});
	for who in peers {
		Peers::<T>::mutate(id, who, |peer| peer.as_mut().unwrap().shares = 1);
	}
}

/// Goes on to outer step 2, to which all peers but the returned one contributed, as all of them did to step 1.
fn stepping<T: Config>(id: SwarmId) -> T::AccountId {
	let all: Vec<T::AccountId> =
		(1..=MAX_CONTRIBUTIONS).map(|index| peer::<T>(id, index)).collect();
	let of = |peers: &[T::AccountId]| {
		let contribution = |peer: &T::AccountId| Contribution {
			peer: peer.clone(),
			before: H256::zero(),
			brought: Brought { base: 1, ..brought() },
			vouches: Some(u64::MAX),
		};
		ContributionsOf::<T::AccountId>::truncate_from(peers.iter().map(contribution).collect())
	};
	Contributions::<T>::insert(id, 1, of(&all));
	let before = all.split_last().unwrap();
	Contributions::<T>::insert(id, 2, of(before.1));
	Swarms::<T>::mutate_extant(id, |swarm| {
		swarm.plan.averaging = Averaging::Outer(OUTER);
		swarm.seed = Some(H256::zero());
		swarm.began = 0;
		(swarm.steps, swarm.open_step) = (BoundedVec::truncate_from(vec![1, 2]), Some(1));
	});
	at::<T>(2 * OUTER.blocks());
	before.0.clone()
}

#[benchmarks]
mod benchmarks {
	use super::*;

	#[benchmark]
	fn open(n: Linear<1, { MAX_SLICES }>) {
		at::<T>(1);
		let who = rich::<T>(0);
		let template = template(stored::<T>(&who));
		let plan = plan::<T>(Payer::Budget);

		#[extrinsic_call]
		_(RawOrigin::Signed(who), Box::new(template), slices(n), plan, 1_000 * STAKE);

		assert!(Swarms::<T>::contains_key(0));
	}

	#[benchmark]
	fn add_slices(n: Linear<1, 63>) {
		let (id, who) = opened::<T>(Payer::Budget, 1);

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id, slices(n));

		assert_eq!(Swarms::<T>::get(id).unwrap().waiting.len() as u32, n + 1);
	}

	#[benchmark]
	fn join() {
		let (id, _) = opened::<T>(Payer::Peers, 1);
		let who = rich::<T>(1);
		let signature = signed(&swarm::joining(&Pallet::<T>::genesis(), id, &who));
		let location = Text::new(&"x".repeat(100)).unwrap();

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id, H256(key().0), signature, 7, location);

		assert_eq!(Swarms::<T>::get(id).unwrap().peers, 1);
	}

	#[benchmark]
	fn update() {
		let (id, _) = opened::<T>(Payer::Peers, 1);
		let who = peer::<T>(id, 1);

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()), id, 1, Text::default());

		assert_eq!(Peers::<T>::get(id, &who).unwrap().roles, 1);
	}

	#[benchmark]
	fn announce() {
		let (id, _) = opened::<T>(Payer::Peers, 1);
		let who = peer::<T>(id, 1);
		let root = H256::repeat_byte(1);
		// The oldest of the peer's makes room.
		at::<T>(100_000);
		Swarms::<T>::mutate_extant(id, |swarm| {
			(swarm.round_began, swarm.plan.end) = (100_000, 200_000);
		});

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()), id, root);

		assert_eq!(Announced::<T>::get(id, root), Some(who));
	}

	#[benchmark]
	fn fund() {
		let (id, _) = opened::<T>(Payer::Peers, 1);
		let who = peer::<T>(id, 1);

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()), id, STAKE);

		assert_eq!(Peers::<T>::get(id, &who).unwrap().purse, 2 * STAKE);
	}

	#[benchmark]
	fn pay(n: Linear<1, { MAX_PAYMENTS }>) {
		let (id, _) = opened::<T>(Payer::Peers, 1);
		let who = peer::<T>(id, 1);
		let makers: Vec<T::AccountId> =
			(0..MAX_TICKETS).map(|at| peer::<T>(id, 100 + at)).collect();
		let payments = (0..n).map(|at| Payment {
			to: makers[(at % MAX_TICKETS) as usize].clone(),
			amount: STAKE,
			ticket: H256::from_low_u64_be(1 + u64::from(at % MAX_TICKETS)),
			expires: 2,
		});
		let payments = BoundedVec::truncate_from(payments.collect());

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()), id, payments);

		assert_eq!(Peers::<T>::get(id, &who).unwrap().paid, STAKE * u128::from(n));
	}

	#[benchmark]
	fn leave() {
		let (id, opener) = opened::<T>(Payer::Peers, 1);
		let who = peer::<T>(id, 1);
		owing::<T>(id, &opener, core::slice::from_ref(&who));
		Peers::<T>::mutate(id, &who, |peer| peer.as_mut().unwrap().leaving = Some(1));
		at::<T>(100_000);

		#[extrinsic_call]
		_(RawOrigin::Signed(who.clone()), id);

		assert!(!Peers::<T>::contains_key(id, &who));
	}

	#[benchmark]
	fn claim() {
		let (id, _) = opened::<T>(Payer::Budget, 1);
		let who = peer::<T>(id, 1);

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id, H256::zero());

		assert_eq!(Swarms::<T>::get(id).unwrap().claims, 1);
	}

	/// Merges `n` values, and lowers the specification; a real claim has as many pieces as its models.
	#[benchmark]
	fn say(n: Linear<2, 16_384>) {
		let (id, opener) = opened::<T>(Payer::Peers, 2);
		let (who, payer) = (peer::<T>(id, 1), peer::<T>(id, 2));
		let root = stored::<T>(&opener);
		Peers::<T>::mutate(id, &payer, |peer| peer.as_mut().unwrap().key = H256(key().0));
		Announced::<T>::insert(id, root, &who);
		let ticket = Ticket {
			swarm: id,
			payer,
			maker: who.clone(),
			own: root,
			remote: root,
			expires: 1,
			nonce: 0,
		};
		let genesis = Pallet::<T>::genesis();
		let digest = ticket.digest(&genesis);
		let commitment = swarm::commitment(&genesis, id, &who, &root, Some(&digest), &SALT);
		Pallet::<T>::do_claim(who.clone(), id, commitment).unwrap();
		measured::<T>(id, Stage::Counting { slice: 0, until: 50 });
		let own = pieces(&file(1));
		let counted = Count { correct: 1, labels: ROWS };
		let (signature, own_pieces) = (signed(&digest).0, own.clone());
		let promise = Some(Promise { ticket, signature, own_content: STORED, own_pieces });
		let said = Said { content: STORED, pieces: own, new: counted, base: counted, promise };
		let wide = Layout::new([("x".into(), vec![n / 2 * 65_536])]);
		let values = vec![H256::repeat_byte(1); n as usize / 2];

		#[block]
		{
			let _ = federation::parameters(&wide, &values);
			let _ = federation::parameters(&wide, &values);
			Pallet::<T>::do_say(who, id, 0, said, &SALT).unwrap();
		}

		assert_eq!(Swarms::<T>::get(id).unwrap().said, 1);
	}

	/// The market's part is weighed by itself.
	#[benchmark]
	fn challenge() {
		let (id, _) = opened::<T>(Payer::Peers, 2);
		claimed::<T>(id, &file(1), &file(2), 200);
		measured::<T>(id, challenging());
		let who = rich::<T>(5);

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id, model(&file(2)), trainyard_protocol::job::MIN_AUDIT_FEE);

		assert_eq!(Doubts::<T>::get(id).len(), 1);
	}

	/// All but the job's result, which the market tells.
	#[benchmark]
	fn testify() {
		let (id, _) = opened::<T>(Payer::Peers, 2);
		claimed::<T>(id, &file(1), &file(2), 200);
		measured::<T>(id, challenging());
		let who = rich::<T>(5);
		doubted::<T>(id, &who);
		let swarm = Swarms::<T>::get(id).unwrap();
		let (state, trace) = (H256::zero(), H256::zero());
		let start = Checkpoint { step: 0, state, evaluation: Evaluation::new(1.0, 1, 1), trace };
		let path = Peaks::truncate_from(vec![H256::zero()]);
		let leaf = Leaf { content: LeafContent::Checkpoint(start), path };
		let counted = Count { correct: 7, labels: ROWS };

		#[block]
		{
			assert!(Pallet::<T>::do_testify(id, model(&file(1)), &leaf).is_err());
			let hash = leaf.content.leaf();
			let _ = trainyard_protocol::merkle::verify(&H256::zero(), &hash, 0, 2, &leaf.path);
			assert!(Pallet::<T>::contradict(id, &swarm, &model(&file(1)), &counted, &who));
		}
	}

	#[benchmark]
	fn refute_piece() {
		let (id, _) = opened::<T>(Payer::Peers, 2);
		let bytes = file(1);
		claimed::<T>(id, &bytes, &file(2), 200);
		measured::<T>(id, challenging());
		let who = rich::<T>(5);
		let all = federation::pieces(&layout());
		let (number, piece) = (all.len() as u32 - 1, all[all.len() - 1]);
		let chunks = piece.chunks();
		let siblings = content::open_many(&bytes, chunks.clone()).unwrap();
		let last = ((chunks.end * CHUNK_BYTES) as usize).min(bytes.len());
		let own = bytes[(chunks.start * CHUNK_BYTES) as usize..last].to_vec();

		#[extrinsic_call]
		_(
			RawOrigin::Signed(who),
			id,
			MAX_CLAIMS - 1,
			Which::New,
			number,
			PieceBytes::truncate_from(own),
			PieceSiblings::truncate_from(siblings),
		);

		assert!(!Claims::<T>::contains_key(id, MAX_CLAIMS - 1));
	}

	#[benchmark]
	fn refute_mean() {
		let (id, _) = opened::<T>(Payer::Peers, 2);
		claimed::<T>(id, &file(1), &file(2), 200);
		measured::<T>(id, challenging());
		let who = rich::<T>(5);
		let chunk = 8;
		let opening = |byte| ModelOpening::new(&file(byte), chunk).unwrap();
		let openings = Box::new([opening(1), opening(2), opening(2)]);

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id, MAX_CLAIMS - 1, chunk, openings);

		assert!(!Claims::<T>::contains_key(id, MAX_CLAIMS - 1));
	}

	#[benchmark]
	fn close() {
		let (id, who) = opened::<T>(Payer::Budget, 1);

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id);

		assert!(Swarms::<T>::get(id).unwrap().plan.end < T::MaxLife::get());
	}

	/// The last of as many as can contribute, after a step to which as many did, all of which count.
	#[benchmark]
	fn contribute() {
		let (id, _) = opened::<T>(Payer::Budget, 1);
		let who = stepping::<T>(id);

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id, 2, brought());

		assert_eq!(Swarms::<T>::get(id).unwrap().shares, 128 * u64::from(MAX_CONTRIBUTIONS));
	}

	#[benchmark]
	fn vouch() {
		let (id, _) = opened::<T>(Payer::Budget, 1);
		let who = stepping::<T>(id);
		Pallet::<T>::contribute(RawOrigin::Signed(who.clone()).into(), id, 2, brought()).unwrap();
		at::<T>(3 * OUTER.blocks() - 1);
		let list = swarm::list_of(&Contributions::<T>::get(id, 2));

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id, 2, list, u64::MAX);

		assert!(Contributions::<T>::get(id, 2).iter().any(|one| one.vouches == Some(u64::MAX)));
	}

	#[benchmark]
	fn collect() {
		let (id, opener) = opened::<T>(Payer::Budget, 1);
		let who = peer::<T>(id, 1);
		owing::<T>(id, &opener, core::slice::from_ref(&who));

		#[extrinsic_call]
		_(RawOrigin::Signed(who), id);

		assert_eq!(Swarms::<T>::get(id).unwrap().pot, 0);
	}

	#[benchmark]
	fn look() {
		let (id, _) = opened::<T>(Payer::Peers, MAX_SLICES);
		claimed::<T>(id, &file(1), &file(2), 200);
		Swarms::<T>::mutate_extant(id, |swarm| swarm.stage = Stage::Collecting { until: 0 });

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert!(matches!(Swarms::<T>::get(id).unwrap().stage, Stage::Drawing { .. }));
	}

	#[benchmark]
	fn count() {
		let (id, _) = opened::<T>(Payer::Peers, MAX_SLICES);
		claimed::<T>(id, &file(1), &file(2), 200);
		measured::<T>(id, Stage::Counting { slice: 0, until: 50 });
		at::<T>(100_000);

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert_eq!(Swarms::<T>::get(id).unwrap().said, 0);
	}

	#[benchmark]
	fn doubt() {
		let (id, _) = opened::<T>(Payer::Peers, 2);
		claimed::<T>(id, &file(1), &file(2), 200);
		measured::<T>(id, challenging());
		let who = rich::<T>(5);
		doubted::<T>(id, &who);

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert!(Doubts::<T>::get(id).iter().all(|one| one.challenge.is_none()));
	}

	#[benchmark]
	fn draw() {
		let (id, _) = opened::<T>(Payer::Peers, MAX_SLICES);
		claimed::<T>(id, &file(1), &file(2), 200);
		let mut swarm = Swarms::<T>::get(id).unwrap();

		#[block]
		{
			Pallet::<T>::draw(id, &mut swarm, 10, &H256::repeat_byte(5));
			Swarms::<T>::insert(id, &swarm);
		}

		assert!(matches!(swarm.stage, Stage::Showing { .. }));
	}

	#[benchmark]
	fn show() {
		let (id, _) = opened::<T>(Payer::Peers, MAX_SLICES);
		claimed::<T>(id, &file(1), &file(2), 200);
		measured::<T>(id, Stage::Showing { slice: 0, until: 50 });
		Swarms::<T>::mutate_extant(id, |swarm| swarm.draws = 2);
		at::<T>(10_000);

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert_eq!(Swarms::<T>::get(id).unwrap().claims, 0);
	}

	#[benchmark]
	fn settle(n: Linear<0, { SETTLE_STEP }>) {
		let (id, _) = opened::<T>(Payer::Peers, MAX_SLICES);
		claimed::<T>(id, &file(1), &file(2), 200);
		let next = MAX_CLAIMS - n;
		measured::<T>(id, Stage::Settling { slice: 0, next });
		for number in 0..next {
			let found = Claims::<T>::get(id, number).unwrap();
			Pallet::<T>::drop_claim(id, number, &found);
		}

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert_eq!(Swarms::<T>::get(id).unwrap().stage, Stage::Idle);
	}

	#[benchmark]
	fn end() {
		let (id, _) = opened::<T>(Payer::Budget, MAX_SLICES);
		Swarms::<T>::mutate_extant(id, |swarm| {
			(swarm.seed, swarm.plan.end) = (Some(H256::zero()), 1);
		});
		at::<T>(10);

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert_eq!(Swarms::<T>::get(id).unwrap().stage, Stage::Ended);
	}

	#[benchmark]
	fn forget(n: Linear<0, { FORGET_STEP }>) {
		let (id, opener) = opened::<T>(Payer::Peers, 1);
		let all: Vec<T::AccountId> = (0..n).map(|index| peer::<T>(id, 10 + index)).collect();
		owing::<T>(id, &opener, &all);
		Swarms::<T>::mutate_extant(id, |swarm| {
			(swarm.seed, swarm.plan.end) = (Some(H256::zero()), 1);
		});
		at::<T>(10);
		Pallet::<T>::advance(id);

		#[block]
		{
			Pallet::<T>::advance(id);
		}

		assert_eq!(Peers::<T>::iter_prefix(id).count(), 0);
	}

	/// A look at a height, and at `n` swarms that do not exist.
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
