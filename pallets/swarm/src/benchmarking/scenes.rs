//! What benchmarks are made of: swarms, peers, claims and outer steps, each with all that there can be of it.

use crate::*;
use alloc::{vec, vec::Vec};
use codec::Encode;
use frame_benchmarking::v2::*;
use frame_support::{traits::Get, BoundedVec};
use sp_core::ed25519;
use sp_runtime::SaturatedConversion;
use trainyard_program::{
	needs::MachineClass,
	spec::{FileRef, InitialModel, JobSpec, ON_CHAIN},
};
use trainyard_protocol::{
	blob, content,
	federation::{self, PartData, Pieces},
	job::{BlockNumber, Terms},
	model_file::Layout,
	swarm::{
		Averaging, Brought, Contribution, Count, Curve, Model, OuterRule, Pace, Payer, Plan, Point,
		Reward, Stage, Stages, SwarmId, MAX_ANNOUNCED, MAX_CLAIMS, MAX_CONTRIBUTIONS, MAX_DOUBTS,
		MAX_POINTS, MAX_TICKETS,
	},
	Text, H256,
};
use trainyard_traits::{AwaitedBlobs, PostedJobs};

/// Signs nothing: the key of all peers, whose signatures were made for what is benchmarked.
pub const KEY: sp_core::crypto::KeyTypeId = sp_core::crypto::KeyTypeId(*b"swrm");
/// A stake that the price of no job reaches.
pub const STAKE: u128 = 1_000_000_000_000_000;
pub const SALT: [u8; 32] = [7; 32];

/// The rows of a slice of the template.
pub const ROWS: u32 = 1_000;

pub fn at_chain(root: H256, bytes: u64) -> FileRef {
	FileRef { content_hash: root, bytes, location: Text::new(ON_CHAIN).unwrap() }
}

pub fn trained() -> JobSpec {
	let mut spec = JobSpec::example();
	spec.training.steps = spec.training.checkpoint_interval;
	let data = &mut spec.dataset;
	(data.train_rows, data.validation_rows, data.validation_every) = (ROWS, ROWS, 2);
	spec
}

pub fn layout() -> Layout {
	Layout::of(&trained().check().unwrap())
}

/// A file of the model, all of whose numbers are this byte four times.
pub fn file(byte: u8) -> Vec<u8> {
	let layout = layout();
	let mut bytes = layout.header;
	bytes.resize(layout.size as usize, byte);
	bytes
}

pub fn root(bytes: &[u8]) -> H256 {
	blob::root_of(bytes.len() as u64, &content::hash(bytes))
}

pub fn pieces(bytes: &[u8]) -> Pieces {
	Pieces::truncate_from(federation::piece_values(&layout(), bytes).unwrap())
}

pub fn model(bytes: &[u8]) -> Model {
	let parameters = federation::parameters(&layout(), &pieces(bytes)).unwrap();
	Model { root: root(bytes), parameters }
}

pub fn slice(number: u32) -> PartData {
	PartData {
		file: at_chain(H256::from_low_u64_be(u64::from(number) + 1), 100_000),
		labels: None,
		train_rows: ROWS,
		validation_rows: ROWS,
		rows: H256::repeat_byte(3),
	}
}

pub fn slices(count: u32) -> NewSlices {
	BoundedVec::truncate_from((0..count).map(slice).collect())
}

pub fn plan<T: Config>(payer: Payer) -> Plan {
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
			lottery: None,
		},
		max_fee_per_ut: u128::MAX,
	}
}

/// An account with money, for which jobs can be posted.
pub fn rich<T: Config>(index: u32) -> T::AccountId {
	let who: T::AccountId = account("member", index, 0);
	T::Jobs::make_postable(&who);
	who
}

/// A blob of the chain that is complete: with the length of a model, and this content hash.
pub const STORED: H256 = H256::repeat_byte(0xb1);

/// Makes a complete blob with the length of a model; returns its root.
pub fn stored<T: Config>(who: &T::AccountId) -> H256 {
	let root = T::Blobs::make_complete(who, layout().size);
	assert_eq!(root, blob::root_of(layout().size, &STORED));
	root
}

pub fn template(root: H256) -> JobSpec {
	let mut spec = trained();
	let file = at_chain(root, layout().size);
	spec.initial_model = Some(InitialModel { file, parameters: H256::repeat_byte(6) });
	spec
}

/// A swarm with so many slices.
pub fn opened<T: Config>(payer: Payer, count: u32) -> (SwarmId, T::AccountId) {
	at::<T>(1);
	let who = rich::<T>(0);
	let template = template(stored::<T>(&who));
	let budget = if payer == Payer::Budget { 1_000 * STAKE } else { 0 };
	Pallet::<T>::do_open(who.clone(), template, slices(count), plan::<T>(payer), budget).unwrap();
	(0, who)
}

pub fn at<T: Config>(height: BlockNumber) {
	frame_system::Pallet::<T>::set_block_number(height.saturated_into());
}

/// The key of all that is signed here.
pub fn key() -> ed25519::Public {
	sp_io::crypto::ed25519_generate(KEY, Some(b"//Swarm".to_vec()))
}

pub fn signed(digest: &H256) -> ed25519::Signature {
	sp_io::crypto::ed25519_sign(KEY, &key(), &digest.0).unwrap()
}

/// A peer with all that one can have on record.
pub fn peer<T: Config>(id: SwarmId, index: u32) -> T::AccountId {
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
pub fn claimed<T: Config>(id: SwarmId, new: &[u8], own: &[u8], correct: u32) -> Vec<T::AccountId> {
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
pub fn measured<T: Config>(id: SwarmId, stage: Stage) {
	let slice = Slices::<T>::get(id, 0).unwrap();
	Pallet::<T>::expect_slice(&slice.data);
	Swarms::<T>::mutate_extant(id, |swarm| {
		swarm.waiting.retain(|number| *number != 0);
		swarm.stage = stage;
	});
}

pub fn challenging() -> Stage {
	Stage::Challenging { slice: 0, until: 50 }
}

/// As many models in doubt as there can be, each of which `who` challenges. The first of them are what claims
/// are about.
pub fn doubted<T: Config>(id: SwarmId, who: &T::AccountId) {
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
pub const OUTER: OuterRule = OuterRule {
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

pub fn brought() -> Brought {
	let root = H256::repeat_byte(5);
	Brought { base: 2, model: root, velocity: root, data: root, sealed: root, kept: root }
}

/// Owes something to each of these peers for outer steps.
pub fn owing<T: Config>(id: SwarmId, opener: &T::AccountId, peers: &[T::AccountId]) {
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
pub fn stepping<T: Config>(id: SwarmId) -> T::AccountId {
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
