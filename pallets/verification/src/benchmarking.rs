//! Benchmarks of every call, and of the heavy steps of an audit, at their worst.

mod scenes;

pub(crate) use scenes::full_pool;

use super::*;
use alloc::vec::Vec;
use frame_benchmarking::v2::*;
use frame_support::{
	traits::{fungible::MutateHold, Get},
	BoundedVec,
};
use frame_system::RawOrigin;
use scenes::*;
use sp_core::sr25519::Public;
use sp_runtime::traits::SaturatedConversion;
use trainyard_protocol::{
	audit::{AuditPhase, Decision, GroupVerdict},
	commitment, duties, forced,
	job::{Balance, MAX_AUDIT_SEGMENTS, MAX_REPLICAS, MAX_VERIFIERS},
	merkle,
	pieces::{Piece, MAX_ANSWERS},
	relay::{RelayStage, APPEAL_SEATS, SEATS},
	views::Standing,
	vrf,
};
use trainyard_traits::{Audited, AwaitedBlobs, Conviction, Defendant, JobObserver};

#[benchmarks]
mod benchmarks {
	use super::*;

	#[benchmark]
	fn register() {
		let caller: T::AccountId = whitelisted_caller();
		// Somebody who waits must make room.
		fill_pool::<T>(Room::<T::MaxPool>::get());
		let weakest = verifier::<T>(T::MaxPool::get());
		let least = bond::<T>();
		funded::<T>(&weakest, least);
		T::Currency::hold(&HoldReason::VerifierBond.into(), &weakest, least).expect("it is funded");
		Pool::<T>::mutate(|pool| {
			for (who, entry) in pool.iter_mut().filter(|(_, entry)| !entry.has_place()) {
				entry.bond = entry.bond.saturating_add(Balance::from(*who != weakest));
			}
		});
		let bond = least.saturating_add(1);
		funded::<T>(&caller, bond);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()), bond, ROOM);

		assert!(Pool::<T>::get().contains_key(&caller) && !Pool::<T>::get().contains_key(&weakest));
	}

	/// Who waits takes the bond at once.
	#[benchmark]
	fn deregister() {
		fill_pool::<T>(Room::<T::MaxPool>::get());
		let caller = verifier::<T>(0);
		Pool::<T>::mutate(|pool| {
			let entry = pool.get_mut(&caller).expect("it is in the pool");
			entry.put(Standing::Waiting { since: 0 }, 0);
		});

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()));

		assert!(!Pool::<T>::get().contains_key(&caller));
	}

	#[benchmark]
	fn withdraw() {
		fill_pool::<T>(Room::<T::MaxPool>::get());
		let caller = verifier::<T>(0);
		Pool::<T>::mutate(|pool| {
			let entry = pool.get_mut(&caller).expect("it is in the pool");
			entry.put(Standing::Left { since: 0 }, 0);
		});
		let height = T::UnbondingBlocks::get().saturating_add(1);
		frame_system::Pallet::<T>::set_block_number(height.into());

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()));

		assert!(!Pool::<T>::get().contains_key(&caller));
	}

	#[benchmark]
	fn set_capacity() {
		fill_pool::<T>(Room::<T::MaxPool>::get());
		frame_system::Pallet::<T>::set_block_number(100u32.into());
		let caller = verifier::<T>(0);
		let room = T::LeastRoom::get();

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()), room);

		assert_eq!(
			Pool::<T>::get().get(&caller).and_then(|entry| entry.capacity.latest()),
			Some(room)
		);
	}

	/// The first one, with which a verifier takes a place.
	#[benchmark]
	fn set_vrf_key() {
		fill_pool::<T>(Room::<T::MaxPool>::get());
		frame_system::Pallet::<T>::set_block_number(100u32.into());
		let caller = verifier::<T>(0);
		Pool::<T>::mutate(|pool| {
			let entry = pool.get_mut(&caller).expect("it is in the pool");
			entry.vrf = Default::default();
			entry.put(Standing::Waiting { since: 50 }, 50);
		});

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()), Public::from_raw(KEY));

		assert!(Pool::<T>::get().get(&caller).is_some_and(|entry| entry.is_active()));
	}

	#[benchmark]
	fn resume() {
		fill_pool::<T>(Room::<T::MaxPool>::get());
		frame_system::Pallet::<T>::set_block_number(100u32.into());
		let caller = verifier::<T>(0);
		Pool::<T>::mutate(|pool| {
			let entry = pool.get_mut(&caller).expect("it is in the pool");
			entry.put(Standing::Paused, 50);
		});

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()));

		assert!(Pool::<T>::get().get(&caller).is_some_and(|entry| entry.is_active()));
	}

	/// All who wait are strong enough, and all others are paused and count for nothing, so that the
	/// allowance of a turn ends nothing: everybody is exchanged.
	#[benchmark]
	fn turn() {
		fill_pool::<T>(Room::<T::MaxPool>::get());
		Pool::<T>::mutate(|pool| {
			for entry in pool.iter_mut().map(|(_, entry)| entry) {
				entry.counted = 0;
				if entry.has_place() {
					entry.put(Standing::Paused, 0);
				} else {
					entry.bond = entry.bond.saturating_mul(2);
					entry.put(entry.standing, 0);
				}
			}
		});

		#[block]
		{
			Pallet::<T>::turn(1_000);
		}

		assert!(Pool::<T>::get()
			.values()
			.all(|entry| { entry.has_place() == (entry.bond > bond::<T>()) }));
	}

	/// Everybody asks for everything, and the last seat has what it asked for.
	#[benchmark]
	fn commit() {
		let caller = verifier::<T>(MAX_VERIFIERS - 1);
		let mut audit = largest::<T>(AuditPhase::Committing { until: u32::MAX });
		ask_for_everything::<T>(&mut audit, &caller);
		AuditRecords::<T>::insert(JOB, audit);
		T::Observer::make_waiting(JOB);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), JOB, H256([4; 32]));

		assert!(AuditRecords::<T>::get(JOB).is_some_and(|audit| audit.all_committed()));
		assert!(Claims::<T>::get(JOB, verifier::<T>(MAX_VERIFIERS - 1)).iter().all(|c| !c.open));
	}

	/// Everybody found all results true, and reveals as much evidence as there can be.
	#[benchmark]
	fn reveal() {
		let caller = verifier::<T>(MAX_VERIFIERS - 1);
		let mut audit = largest::<T>(AuditPhase::Revealing { until: u32::MAX });
		let genesis = Pallet::<T>::genesis();
		let hashes = hashes();
		let root = merkle::root(&hashes);
		put_root::<T>(&mut audit, root);
		let subject =
			vrf::Subject { genesis: &genesis, job: JOB, round: 0, seed: &SEED, account: &caller };
		let (key, draw) = signed(&subject);
		let output = vrf::output(&key, &subject, &draw).expect("it was just signed");
		let (findings, paths) = longest(draw, &output, &hashes);
		for member in audit.committee.iter_mut() {
			if member.verifier == caller {
				member.key = key;
				member.commitment =
					Some(commitment::verdict(&genesis, JOB, 0, &caller, &findings, &SALT));
			} else {
				member.revealed = true;
			}
		}
		// It paid for pieces of all of them.
		let pieces = all_pieces();
		let asked = asked_by_seats(true);
		for group in audit.groups.iter_mut() {
			group.asked = asked.clone().try_into().expect("fewer than there can be");
		}
		let claims: Vec<Claim> = (0..MAX_REPLICAS)
			.flat_map(|group| (0..MAX_CLAIMS).map(move |_| group))
			.map(|group| Claim {
				group,
				pieces: pieces.clone(),
				prepaid: 0,
				pledge: 0,
				open: false,
				paid: 9,
			})
			.collect();
		Claims::<T>::insert(JOB, &caller, BoundedVec::truncate_from(claims));
		AuditRecords::<T>::insert(JOB, audit);
		T::Observer::make_waiting(JOB);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()), JOB, findings, paths, SALT);

		assert!(Verdicts::<T>::contains_key(JOB, &caller));
		assert!(AuditRecords::<T>::get(JOB).is_some_and(|audit| audit.owed.len() == 1));
	}

	/// What the court does about it comes with [`Court::accuse_weight`](trainyard_traits::Court).
	#[benchmark]
	fn accuse() {
		let audit = standing::<T>();
		let caller = verifier::<T>(0);
		let other = verifier::<T>(1);
		let root = audit.groups[0].result.bundle_root;
		// The second one: the stake of the seat is used up.
		Pallet::<T>::put_at_stake(JOB, &caller).expect("it has a seat");

		#[block]
		{
			let found = AuditRecords::<T>::get(JOB);
			assert!(found.is_some() && Pallet::<T>::replayed(JOB, &other, &root).is_some());
			Pallet::<T>::put_at_stake(JOB, &caller).expect("the bond covers it");
		}

		assert_eq!(Accusations::<T>::get(JOB, &caller).open, 2);
	}

	/// As many leaves as there can be, of a result with the longest paths that those of jobs have, by the last
	/// trainer that is awaited.
	#[benchmark]
	fn open_forced() {
		let mut audit = largest::<T>(AuditPhase::Opening { until: u32::MAX });
		let caller: T::AccountId = account("trainer", 0, 0);
		let secret = [5; 32];
		let (result, opening) = forced_leaves(&secret);
		for group in audit.groups.iter_mut() {
			// A trainer delivers one result.
			group.trainers.remove(0);
			group.bundles.remove(0);
			group.bundles.iter_mut().for_each(|bundle| bundle.opened = true);
		}
		let own = Bundle {
			root: result.bundle_root,
			forced: forced::commitment(&secret),
			opened: false,
			secret: [0; 32],
		};
		let last = audit.groups.last_mut().expect("one for each replica");
		last.result = result;
		last.trainers.try_push(caller.clone()).expect("one was removed");
		last.bundles.try_push(own).expect("one was removed");
		AuditRecords::<T>::insert(JOB, &audit);
		T::Observer::make_waiting(JOB);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()), JOB, secret, opening);

		assert!(crate::Forced::<T>::contains_key(JOB, &caller));
		assert!(AuditRecords::<T>::get(JOB).is_some_and(|audit| audit.all_opened()));
	}

	/// Of each result one trainer did not open, and every seat said of a forced leaf of each that it is right:
	/// all of them lose their stakes.
	#[benchmark]
	fn close_opening() {
		let mut audit = guessed::<T>();
		(audit.window, audit.opened) = (None, false);
		let silent: T::AccountId = account("trainer", MAX_REPLICAS - 1, 0);
		crate::Forced::<T>::remove(JOB, &silent);
		for group in audit.groups.iter_mut() {
			group.bundles.last_mut().expect("one for each replica").opened = false;
		}
		AuditRecords::<T>::insert(JOB, &audit);
		frame_system::Pallet::<T>::set_block_number(100u32.into());
		Uploading::<T>::insert(JOB, (0, 0, 1));

		#[block]
		{
			let mut audit = AuditRecords::<T>::get(JOB).expect("it was just inserted");
			let now = Pallet::<T>::now();
			assert_eq!(Pallet::<T>::rescue_until(JOB, 1), 1);
			Uploading::<T>::remove(JOB);
			Pallet::<T>::close_opening(JOB, &mut audit);
			Pallet::<T>::open_standing(JOB, &mut audit, now);
			AuditRecords::<T>::insert(JOB, audit);
		}

		let audit = AuditRecords::<T>::get(JOB).expect("it was just inserted");
		assert!(audit.committee.iter().all(|member| member.convicted));
		assert!(audit.groups.iter().all(|group| group.convicted.as_slice() == [silent.clone()]));
	}

	/// Of a seat whose stake is split, after it lost all of it to as many defendants as are noted, with two
	/// finders.
	#[benchmark]
	fn convict() {
		let mut audit = standing::<T>();
		let who = verifier::<T>(MAX_VERIFIERS - 1);
		let [finder, second]: [T::AccountId; 2] = [0, 1].map(|at| account("finder", at, 0));
		funded::<T>(&finder, 0);
		funded::<T>(&second, 0);
		drain::<T>(&mut audit, &who);
		AuditRecords::<T>::insert(JOB, &audit);
		let bundle_root = audit.groups[0].result.bundle_root;
		let defendant = Defendant::Seat { job: JOB, who: who.clone(), bundle_root };
		let locked = Pool::<T>::get().get(&who).map(|entry| entry.locked);

		#[block]
		{
			let second = Some(second);
			let conviction = Conviction { dispute: 1, finder, second, proven: true };
			Pallet::<T>::convict(&defendant, &conviction);
		}

		assert!(!Forfeited::<T>::contains_key(JOB, &who));
		// What came back was lost at once, and what other seats lock stays.
		let after = Pool::<T>::get().get(&who).map(|entry| (entry.bond, entry.locked));
		assert_eq!(after.map(|(bond, _)| bond), locked);
		assert_eq!(after.map(|(_, locked)| locked), locked);
	}

	/// All are announced in the place of others. With a complete blob, which only the runtime's blob
	/// store could make, as much is read and written.
	#[benchmark]
	fn rescue(n: Linear<1, { MAX_ANSWERS }>) {
		let trainer: T::AccountId = account("trainer", MAX_REPLICAS - 1, 0);
		let pieces: Vec<Piece> = (0..n).map(Piece::State).collect();
		asked_for::<T>(&trainer, &pieces);
		let before = |piece: &Piece| {
			let root = H256(sp_io::hashing::blake2_256(&codec::Encode::encode(piece)));
			T::Blobs::expect(&root);
			T::Blobs::watch(&root, &trainer);
			KeptBlob { piece: *piece, root: Some(root), stored: false, paid: 0 }
		};
		let kept: Vec<KeptBlob> = pieces.iter().map(before).collect();
		Kept::<T>::insert(JOB, &trainer, BoundedVec::truncate_from(kept));
		let answers = states(n);

		#[extrinsic_call]
		_(RawOrigin::Signed(trainer.clone()), JOB, MAX_REPLICAS - 1, answers);

		assert_eq!(Kept::<T>::get(JOB, &trainer).len() as u32, n);
	}

	/// A whole part.
	#[benchmark]
	fn rescue_leaves() {
		let trainer: T::AccountId = account("trainer", MAX_REPLICAS - 1, 0);
		asked_for::<T>(&trainer, &[Piece::Leaves]);
		let answers = first_leaves();

		#[extrinsic_call]
		rescue(RawOrigin::Signed(trainer.clone()), JOB, MAX_REPLICAS - 1, answers);

		assert!(ShownLeaves::<T>::contains_key(JOB, &trainer));
	}

	#[benchmark]
	fn set_location() {
		fill_pool::<T>(Room::<T::MaxPool>::get());
		let caller = verifier::<T>(0);
		let text = trainyard_protocol::Text::new(&"x".repeat(256));

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()), text);

		assert!(Locations::<T>::contains_key(&caller));
	}

	/// Of as much as there can be, by somebody who displaces everybody else.
	#[benchmark]
	fn request() {
		let caller: T::AccountId = account("stranger", 0, 0);
		let mut audit = largest::<T>(AuditPhase::Standing { until: u32::MAX });
		let pieces = crowd_out::<T>(&mut audit);
		AuditRecords::<T>::insert(JOB, audit);
		T::Observer::make_waiting(JOB);
		let pledge = T::SeatStake::get().saturating_mul(100);
		funded::<T>(&caller, pledge.saturating_add(100_000_000_000_000));

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()), JOB, 7, pieces, pledge);

		assert_eq!(Claims::<T>::iter_prefix(JOB).count(), 1);
	}

	/// Everybody who can asks for everything while results stand.
	#[benchmark]
	fn withdraw_request() {
		let caller = verifier::<T>(MAX_VERIFIERS - 1);
		let mut audit = largest::<T>(AuditPhase::Standing { until: u32::MAX });
		crowd_out::<T>(&mut audit);
		Claims::<T>::mutate(JOB, &caller, |claims| {
			claims.iter_mut().for_each(|claim| claim.pledge = claim.prepaid / 2);
			claims.iter_mut().for_each(|claim| claim.prepaid /= 2);
		});
		funded::<T>(&T::Jackpot::get(), 0);
		AuditRecords::<T>::insert(JOB, audit);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()), JOB, 7);

		assert!(Claims::<T>::get(JOB, &caller).iter().any(|claim| !claim.open));
	}

	#[benchmark]
	fn bond_extra() {
		fill_pool::<T>(Room::<T::MaxPool>::get());
		frame_system::Pallet::<T>::set_block_number(100u32.into());
		let caller = verifier::<T>(0);
		let amount = bond::<T>();
		funded::<T>(&caller, amount);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()), amount);

		assert_eq!(Pool::<T>::get().get(&caller).map(|entry| entry.bond), Some(2 * amount));
	}

	/// Beside all others that there can be.
	#[benchmark]
	fn request_relay() {
		let relay = relayed::<T>(RelayStage::Held { until: u32::MAX });
		let others = MAX_RELAYS.saturating_sub(1);
		for id in 0..others {
			let piece = Piece::State(id.saturating_add(2));
			Relays::<T>::insert(id, Relay { piece, ..relay.clone() });
		}
		OpenRelays::<T>::insert(JOB, BoundedVec::truncate_from((0..others).collect()));
		NextRelay::<T>::put(others);
		AuditRecords::<T>::mutate(JOB, |audit| {
			audit.as_mut().expect("it was just inserted").sizes.state =
				T::MaxRescue::get().saturating_add(1);
		});
		let caller = asker::<T>(0);
		// Each that runs makes it dearer.
		let most = T::RelayFee::get().saturating_mul(SEATS.saturating_mul(MAX_RELAYS).into());
		funded::<T>(&caller, most.saturating_mul(2));

		#[block]
		{
			Pallet::<T>::open_relay(caller, JOB, (7, PIECE), Balance::MAX, |_| 1)
				.expect("it is too large");
		}

		assert_eq!(OpenRelays::<T>::get(JOB).len() as u32, MAX_RELAYS);
	}

	/// The last seat to say something.
	#[benchmark]
	fn say() {
		let mut relay = relayed::<T>(RelayStage::Saying { until: u32::MAX });
		let one = relay.seats.last_mut().expect("it has seats");
		(one.says, one.shown) = (None, false);
		let caller = one.who.clone();
		Relays::<T>::insert(0, relay);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), 0, true);

		assert!(Relays::<T>::get(0).is_some_and(|relay| !relay.is_saying()));
	}

	/// A chunk that somebody asked for. What the opening takes is [`Config::Chunks`] to say.
	#[benchmark]
	fn show_chunk() {
		let relay = relayed::<T>(RelayStage::Held { until: u32::MAX });
		let caller = relay.seats.last().expect("it has seats").who.clone();

		#[block]
		{
			Pallet::<T>::take_chunk(caller, 0, |_, _, _, _| true).expect("it is asked for");
		}

		let relay = Relays::<T>::get(0).expect("it runs");
		assert!(relay.seats.last().is_some_and(|one| one.asked.is_none()));
	}

	#[benchmark]
	fn ask_seats() {
		let mut relay = relayed::<T>(RelayStage::Held { until: u32::MAX });
		relay.seats.iter_mut().for_each(|one| one.asked = None);
		Relays::<T>::insert(0, relay);
		let caller = asker::<T>(0);
		let all = BoundedVec::truncate_from((0..APPEAL_SEATS).collect());
		funded::<T>(&caller, T::RelayFee::get().saturating_mul(APPEAL_SEATS.into()));

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), 0, all);

		assert!(Relays::<T>::get(0).is_some_and(|r| r.seats.iter().all(|s| s.asked.is_some())));
	}

	/// Of which every seat was asked for a chunk.
	#[benchmark]
	fn appeal() {
		let mut relay = relayed::<T>(RelayStage::Held { until: u32::MAX });
		(relay.appeal, relay.before) = Default::default();
		Relays::<T>::insert(0, relay);
		let caller = asker::<T>(1);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller), 0);

		assert!(Relays::<T>::get(0).is_some_and(|relay| relay.appeal.is_some()));
	}

	/// No seat brings what it is asked for, so nobody has the piece any more, and the relay ends: those
	/// who said so first are paid, and the result is lost.
	#[benchmark]
	fn relay_step() {
		let mut relay = relayed::<T>(RelayStage::Held { until: 0 });
		for one in relay.before.iter_mut() {
			(one.says, one.shown) = (Some(false), false);
		}
		let since = (0, 0);
		relay.asking = Some(Asking::Running { seed: SEED, until: 0, since });
		relay.since = since;
		Relays::<T>::insert(0, relay);
		frame_system::Pallet::<T>::set_block_number(100u32.into());

		#[block]
		{
			Pallet::<T>::step_relay(0);
		}

		assert!(Relays::<T>::get(0).is_none());
		let lost = AuditRecords::<T>::get(JOB)
			.is_some_and(|audit| audit.groups.get(7).is_some_and(|group| group.decision.is_some()));
		assert!(lost);
	}

	/// All seats revealed as much as there can be, and lack one result: all are slashed, and all of it is
	/// forgotten, as another committee is drawn.
	#[benchmark]
	fn close_round() {
		let mut audit = standing::<T>();
		audit.window = None;
		audit.phase = AuditPhase::Revealing { until: 0 };
		// All that they asked for of the others is on chain.
		for (at, member) in (0u32..).zip(&audit.committee) {
			let claim = |group| Claim {
				group,
				pieces: of_seat(at),
				prepaid: 0,
				pledge: 0,
				open: false,
				paid: 0,
			};
			let claims = (0..MAX_REPLICAS - 1).map(claim).collect();
			Claims::<T>::insert(JOB, &member.verifier, BoundedVec::truncate_from(claims));
		}
		for group in audit.groups.iter_mut() {
			group.asked = asked_by_seats(true).try_into().expect("fewer than there can be");
		}
		AuditRecords::<T>::insert(JOB, &audit);
		for member in &audit.committee {
			Verdicts::<T>::mutate(JOB, &member.verifier, |findings| {
				let last = findings.as_mut().and_then(|findings| findings.verdicts.last_mut());
				*last.expect("it was just inserted") = GroupVerdict::Unavailable;
			});
		}
		let before = Pool::<T>::get();

		#[block]
		{
			let mut audit = AuditRecords::<T>::get(JOB).expect("it was just inserted");
			let now = frame_system::Pallet::<T>::block_number().saturated_into();
			Pallet::<T>::close_reveals(JOB, &mut audit, now);
			AuditRecords::<T>::insert(JOB, audit);
		}

		let audit = AuditRecords::<T>::get(JOB).expect("it stays until it is forgotten");
		assert_eq!((audit.round, audit.served.len()), (1, 0));
		assert_eq!(Verdicts::<T>::iter_prefix(JOB).count(), 0);
		let bond = |pool: &pool::PoolOf<T>, at| pool.get(&verifier::<T>(at)).map(|of| of.bond);
		let after = Pool::<T>::get();
		assert!((0..MAX_VERIFIERS).all(|at| bond(&after, at) < bond(&before, at)));
	}

	/// No seat could have the last result, whose states are large, and none asked a committee for one. All
	/// seats of earlier rounds owe for what they rejected, as they do at the end of an audit.
	#[benchmark]
	fn charge_unasked() {
		let mut audit = standing::<T>();
		audit.sizes.state = T::MaxRescue::get().saturating_add(1);
		for member in &audit.committee {
			Verdicts::<T>::mutate(JOB, &member.verifier, |findings| {
				let said = findings.as_mut().and_then(|said| said.verdicts.last_mut());
				*said.expect("it revealed") = GroupVerdict::Unavailable;
			});
		}
		AuditRecords::<T>::insert(JOB, &audit);
		let before = Pool::<T>::get();

		#[block]
		{
			let mut audit = AuditRecords::<T>::get(JOB).expect("it was just inserted");
			Pallet::<T>::charge_unasked(JOB, &mut audit);
			Pallet::<T>::charge_owing(JOB, &mut audit);
			AuditRecords::<T>::insert(JOB, audit);
		}

		let bond = |pool: &pool::PoolOf<T>, at| pool.get(&verifier::<T>(at)).map(|of| of.bond);
		let after = Pool::<T>::get();
		assert!((0..MAX_VERIFIERS).all(|at| bond(&after, at) < bond(&before, at)));
	}

	/// The evidence of all seats is looked at to draw what is replayed again, and at the end: as where it
	/// stands to the end, and as where each of them loses its stake for it, so that another committee is
	/// drawn for the only result that is left.
	#[benchmark]
	fn close_standing() {
		guessed::<T>();

		#[block]
		{
			let mut audit = AuditRecords::<T>::get(JOB).expect("it was just inserted");
			let now = frame_system::Pallet::<T>::block_number().saturated_into();
			let drawn = Pallet::<T>::rechecks_of(JOB, &audit, &SEED);
			audit.recheck = Rechecks::Drawn(drawn);
			for (_, replayed) in Pallet::<T>::replays_of(JOB, &audit) {
				let _ = standing::stood_still(&replayed);
			}
			for group in audit.groups.iter_mut().skip(1) {
				(group.decision, group.decided_at) = (Some(Decision::Rejected), Some(0));
			}
			Pallet::<T>::close_standing(JOB, &mut audit, now);
			AuditRecords::<T>::insert(JOB, audit);
		}

		let audit = AuditRecords::<T>::get(JOB).expect("it stays until it is forgotten");
		assert_eq!((audit.round, audit.barred.len() as u32), (1, MAX_VERIFIERS));
		assert_eq!(Verdicts::<T>::iter_prefix(JOB).count(), 0);
	}

	#[benchmark]
	fn seat(p: Linear<1, { Room::<T::MaxPool>::get() }>) {
		fill_pool::<T>(p);
		// Everybody who is on record can still be drawn, in the draws of a moment ago.
		Pool::<T>::mutate(|pool| {
			for entry in pool.iter_mut().map(|(_, entry)| entry) {
				entry.put(Standing::Active, 0);
			}
		});
		let mut audit = largest::<T>(AuditPhase::Drawing { after: 0 });
		audit.committee = Default::default();
		audit.seed = None;
		AuditRecords::<T>::insert(JOB, &audit);

		#[block]
		{
			let mut audit = AuditRecords::<T>::get(JOB).expect("it was just inserted");
			let _ = Pallet::<T>::seed(JOB, 0, 0);
			let _ = Pallet::<T>::seat(JOB, &mut audit, &H256([1; 32]), 0);
			AuditRecords::<T>::insert(JOB, audit);
		}

		let seats = AuditRecords::<T>::get(JOB).map(|audit| audit.committee.len() as u32);
		let odd = p.min(MAX_VERIFIERS).saturating_sub(1) / 2 * 2 + 1;
		// One seat draws too little of so many segments.
		let draws = duties::fits(MAX_AUDIT_SEGMENTS, SEGMENTS, odd);
		assert_eq!(seats, Some(if odd < T::MinSeats::get() || !draws { 0 } else { odd }));
	}

	impl_benchmark_test_suite!(Pallet, crate::mock::benchmark_ext(), crate::mock::Test);
}
