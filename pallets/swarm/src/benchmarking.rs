//! Benchmarks of every call and step, each in its most expensive case that can be made here: models are those
//! of the example, and what the largest specification costs to lower is added in the weights by hand.

mod scenes;

use super::*;
use alloc::{boxed::Box, vec, vec::Vec};
use frame_benchmarking::v2::*;
use frame_support::{traits::Get, BoundedVec};
use frame_system::RawOrigin;
use scenes::*;
use trainyard_protocol::{
	accusation::{Leaf, LeafContent, Peaks},
	bundle::{Checkpoint, Evaluation},
	content::{self, CHUNK_BYTES},
	federation::{self, ModelOpening},
	model_file::Layout,
	swarm::{
		self, Count, Payer, Payment, Stage, Ticket, MAX_CLAIMS, MAX_CONTRIBUTIONS, MAX_PAYMENTS,
		MAX_SLICES, MAX_TICKETS,
	},
	Text, H256,
};

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
