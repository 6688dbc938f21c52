//! Benchmarks of every call, and of the two heavy steps of an audit, at their worst.

use super::*;
use alloc::vec::Vec;
use frame_benchmarking::v2::*;
use frame_support::{
	traits::{
		fungible::{Inspect, Mutate, MutateHold},
		Get,
	},
	BoundedVec,
};
use frame_system::RawOrigin;
use sp_core::sr25519::Public;
use sp_runtime::traits::SaturatedConversion;
use trainyard_protocol::{
	audit::{
		AuditPhase, Findings, GroupVerdict, Leaf, Leaves, Piece, PieceSizes, Pieces, RejectReason,
		SegmentEvidence,
	},
	bundle::{self, Checkpoint, Evaluation},
	commitment,
	job::{Balance, WorkResult, MAX_AUDIT_SEGMENTS, MAX_REPLICAS, MAX_VERIFIERS},
	merkle,
	seats::Resources,
	views::Standing,
	JobId,
};
use trainyard_traits::{AwaitedBlobs, BlobStore, JobObserver};

const JOB: JobId = 7;
const SALT: [u8; 32] = [5; 32];
/// Segments of a result before the one in which it diverged.
const SEGMENTS: u32 = 1_000;

/// An account with `bond` to put on hold.
fn funded<T: Config>(who: &T::AccountId, bond: Balance) {
	let amount = bond.saturating_add(T::Currency::minimum_balance().saturating_mul(10));
	T::Currency::mint_into(who, amount).expect("an account takes money");
}

/// The smallest bond of which slashes can create a jackpot.
fn bond<T: Config>() -> Balance {
	T::MinBond::get().max(T::Currency::minimum_balance().saturating_mul(1_000))
}

fn verifier<T: Config>(at: u32) -> T::AccountId {
	account("verifier", at, 0)
}

/// What the verifiers have room for, and an audit's seats need.
const ROOM: Resources = Resources { work: u64::MAX, memory_mib: u32::MAX, disk_mib: u32::MAX };
const NEEDS: Resources = Resources { work: 2_000_000, memory_mib: 8_192, disk_mib: 1_024 };

/// A point by which somebody could sign: the generator of Ristretto.
const KEY: [u8; 32] = [
	0xe2, 0xf2, 0xae, 0x0a, 0x6a, 0xbc, 0x4e, 0x71, 0xa8, 0x84, 0xa9, 0x61, 0xc5, 0x00, 0x51, 0x5f,
	0x58, 0xe3, 0x0b, 0x6a, 0xa5, 0x82, 0xdd, 0x8d, 0xb6, 0xa6, 0x59, 0x45, 0xe0, 0x8d, 0x2d, 0x76,
];

/// A verifier that has been there for long, with the longest record.
fn entry(bond: Balance, standing: Standing) -> Entry {
	let mut entry = Entry::new(bond, ROOM, 0);
	entry.counted = bond;
	for now in 0..4 {
		let _ = entry.weights.push(now, Balance::from(now), SETTLING);
		let room = Resources { work: ROOM.work.saturating_sub(now.into()), ..ROOM };
		let _ = entry.capacity.push(now, room, SETTLING);
		let _ = entry.vrf.push(now, Public::from_raw([now as u8; 32]), SETTLING);
	}
	entry.put(standing, 0);
	entry
}

/// Fills the pool with `count` verifiers, who take their places and then wait; those who can be on
/// a committee have their bond on hold.
fn fill_pool<T: Config>(count: u32) {
	let bond = bond::<T>();
	let mut pool = PoolOf::<T>::new();
	for at in 0..count {
		let who = verifier::<T>(at);
		if at < MAX_VERIFIERS {
			funded::<T>(&who, bond);
			T::Currency::hold(&HoldReason::VerifierBond.into(), &who, bond).expect("it is funded");
		}
		let standing = match at < T::MaxPool::get() {
			true => Standing::Active,
			false => Standing::Waiting { since: 0 },
		};
		pool.try_insert(who, entry(bond, standing)).expect("the pool has room");
	}
	Pool::<T>::put(pool);
	Inflow::<T>::put(Balance::MAX);
}

/// A full pool, for other pallets' benchmarks; returns those verifiers whose bonds are on hold.
pub(crate) fn full_pool<T: Config>() -> Vec<T::AccountId> {
	fill_pool::<T>(T::MaxPool::get());
	(0..MAX_VERIFIERS.min(T::MaxPool::get())).map(verifier::<T>).collect()
}

/// All seats ask for everything, and `caller` has prepaid a part of it.
fn ask_for_everything<T: Config>(audit: &mut AuditOf<T>, caller: &T::AccountId) {
	audit.relay = Some(u32::MAX);
	let pieces = all_pieces();
	let asked: Vec<Asked> =
		pieces.iter().map(|piece| Asked { piece: *piece, stored: false }).collect();
	for group in audit.groups.iter_mut() {
		group.asked = asked.clone().try_into().expect("fewer than there can be");
	}
	let prepaid = bond::<T>();
	funded::<T>(caller, prepaid);
	T::Currency::hold(&HoldReason::Claim.into(), caller, prepaid).expect("it is funded");
	for member in &audit.committee {
		let mine = member.verifier == *caller;
		let claims: Vec<Claim> = (0..MAX_REPLICAS)
			.map(|group| Claim {
				group,
				pieces: pieces.clone(),
				prepaid: if mine && group == 7 { prepaid } else { 0 },
				open: true,
				answered: false,
			})
			.collect();
		Claims::<T>::insert(JOB, &member.verifier, BoundedVec::truncate_from(claims));
	}
}

/// The largest audit in `phase`. Everyone on the committee but the last has committed.
fn largest<T: Config>(phase: AuditPhase) -> AuditOf<T> {
	let trainers: Vec<T::AccountId> =
		(0..MAX_REPLICAS).map(|at| account("trainer", at, 0)).collect();
	let group = Group {
		result: WorkResult {
			bundle_root: H256([1; 32]),
			model_root: H256([2; 32]),
			segments: SEGMENTS,
			diverged: true,
		},
		drawn: drawn().try_into().expect("as many as there may be"),
		trainers: trainers.clone().try_into().expect("one for each replica"),
		decision: None,
		asked: Default::default(),
		storers: Default::default(),
	};
	let committee: Vec<_> = (0..MAX_VERIFIERS)
		.map(|at| Member {
			verifier: verifier::<T>(at),
			commitment: (at + 1 < MAX_VERIFIERS).then_some(H256([3; 32])),
			revealed: false,
			began: 0,
		})
		.collect();
	let mut parties = trainers;
	parties.push(account("submitter", 0, 0));
	Audit {
		round: 0,
		phase,
		audit_segments: MAX_AUDIT_SEGMENTS,
		verifiers: MAX_VERIFIERS,
		parties: parties.try_into().expect("as many as there may be"),
		groups: alloc::vec![group; MAX_REPLICAS as usize].try_into().expect("one for each replica"),
		committee: committee.try_into().expect("as many as there may be"),
		fee: Balance::MAX,
		stake: T::SeatStake::get(),
		needs: NEEDS,
		waits: 0,
		sizes: PieceSizes { state: 1_000_000, manifest: 1_000, files: 1_000_000 },
		storage_byte: 100_000,
		relay: None,
		latest: u32::MAX,
		windows: 0,
		served: Default::default(),
	}
}

/// The segments to replay: every other one, so that each reads two states, and the one in which
/// training left the finite numbers.
fn drawn() -> Vec<u32> {
	(0..MAX_AUDIT_SEGMENTS).map(|at| at.saturating_mul(2)).chain([SEGMENTS]).collect()
}

/// The states that an audit of these reads.
fn read() -> impl Iterator<Item = u32> {
	(0..MAX_AUDIT_SEGMENTS.saturating_mul(2)).chain([SEGMENTS])
}

/// All pieces that an audit can read.
fn all_pieces() -> Pieces {
	let mut pieces = alloc::vec![Piece::Manifest, Piece::Files];
	pieces.extend(read().map(Piece::State));
	pieces.try_into().expect("fewer than there can be")
}

/// The root of all checkpoints, and the leaves of those that an audit reads.
fn leaves() -> (H256, Leaves) {
	let (state, evaluation, trace) = (H256([9; 32]), Evaluation::new(1.0, 1, 2), H256([8; 32]));
	let checkpoint = |step| Checkpoint { step, state, evaluation, trace };
	let diverged = bundle::Diverged { step: SEGMENTS, trace };
	let hashes = bundle::bundle_leaves((0..=SEGMENTS).map(checkpoint), Some(diverged));
	let leaves: Vec<Leaf> = read()
		.map(|index| Leaf {
			index,
			checkpoint: checkpoint(index),
			path: merkle::proof(&hashes, index as usize)
				.expect("it is there")
				.try_into()
				.expect("ten levels"),
		})
		.collect();
	(merkle::root(&hashes), leaves.try_into().expect("fewer than there can be"))
}

fn accept() -> GroupVerdict {
	let evidence: Vec<_> = drawn()
		.into_iter()
		.map(|segment| SegmentEvidence {
			segment,
			trace_root: H256([8; 32]),
			end_state: H256([9; 32]),
			idle_since: None,
		})
		.collect();
	GroupVerdict::Accept(evidence.try_into().expect("one for each segment"))
}

fn longest_findings() -> Findings {
	alloc::vec![accept(); MAX_REPLICAS as usize].try_into().expect("one for each replica")
}

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

	#[benchmark]
	fn reveal() {
		let caller = verifier::<T>(MAX_VERIFIERS - 1);
		let findings = longest_findings();
		let mut audit = largest::<T>(AuditPhase::Revealing { until: u32::MAX });
		let genesis = Pallet::<T>::genesis();
		for member in audit.committee.iter_mut() {
			if member.verifier == caller {
				member.commitment =
					Some(commitment::verdict(&genesis, JOB, 0, &caller, &findings, &SALT));
			} else {
				member.revealed = true;
			}
		}
		AuditRecords::<T>::insert(JOB, audit);
		T::Observer::make_waiting(JOB);

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()), JOB, findings, SALT);

		assert!(Verdicts::<T>::contains_key(JOB, &caller));
	}

	/// Without a complete blob, which only the runtime's blob store could make, the call would
	/// stop: the look at the store is made here.
	#[benchmark]
	fn rescue() {
		let trainer: T::AccountId = account("trainer", MAX_REPLICAS - 1, 0);
		let mut audit = largest::<T>(AuditPhase::Rescue { until: u32::MAX });
		let (root, leaves) = leaves();
		let last = MAX_REPLICAS as usize - 1;
		audit.groups[last].result.bundle_root = root;
		let asked: Vec<Asked> =
			all_pieces().iter().map(|piece| Asked { piece: *piece, stored: false }).collect();
		audit.groups[last].asked = asked.try_into().expect("fewer than there can be");
		audit.groups[last].trainers = alloc::vec![trainer.clone()].try_into().expect("one");
		AuditRecords::<T>::insert(JOB, audit);
		T::Observer::make_waiting(JOB);
		// It announced another one before.
		let (other, blob) = (H256([6; 32]), H256([7; 32]));
		T::Blobs::expect(&other);
		T::Blobs::watch(&other, &trainer);
		Announced::<T>::insert(JOB, &trainer, other);

		#[block]
		{
			let _ = T::Blobs::is_complete(&blob);
			Pallet::<T>::note_rescue(trainer, JOB, MAX_REPLICAS - 1, blob, leaves, Some(1))
				.expect("its states are asked for");
		}

		assert!(AuditRecords::<T>::get(JOB).is_some_and(|audit| !audit.awaits_rescue()));
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

	/// The second claim on a result, for all that there is.
	#[benchmark]
	fn request() {
		let caller = verifier::<T>(MAX_VERIFIERS - 1);
		let audit = largest::<T>(AuditPhase::Committing { until: u32::MAX });
		AuditRecords::<T>::insert(JOB, audit);
		T::Observer::make_waiting(JOB);
		funded::<T>(&caller, 100_000_000_000_000);
		let pieces = all_pieces();
		let before =
			Claim { group: 7, pieces: pieces.clone(), prepaid: 0, open: false, answered: true };
		Claims::<T>::insert(JOB, &caller, BoundedVec::truncate_from(alloc::vec![before]));

		#[extrinsic_call]
		_(RawOrigin::Signed(caller.clone()), JOB, 7, pieces);

		assert_eq!(Claims::<T>::get(JOB, &caller).len(), 2);
	}

	/// Everybody asks for everything.
	#[benchmark]
	fn withdraw_request() {
		let caller = verifier::<T>(MAX_VERIFIERS - 1);
		let mut audit = largest::<T>(AuditPhase::Committing { until: u32::MAX });
		ask_for_everything::<T>(&mut audit, &caller);
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

	/// All results are rejected, each by the majority that it takes, and everyone accepts some
	/// of them: all are slashed.
	#[benchmark]
	fn close_round() {
		fill_pool::<T>(Room::<T::MaxPool>::get());
		funded::<T>(&T::Jackpot::get(), 0);
		let mut audit = largest::<T>(AuditPhase::Revealing { until: 0 });
		let seats = MAX_VERIFIERS as usize;
		for (at, member) in audit.committee.iter_mut().enumerate() {
			member.commitment = Some(H256([3; 32]));
			member.revealed = true;
			let mut findings = longest_findings();
			for (group, verdict) in findings.iter_mut().enumerate() {
				if (at + 2 * group) % seats > (seats - 1) / 2 - 1 {
					*verdict = GroupVerdict::Reject(RejectReason::WrongModel);
				}
			}
			Verdicts::<T>::insert(JOB, &member.verifier, findings);
		}
		AuditRecords::<T>::insert(JOB, &audit);

		#[block]
		{
			let mut audit = AuditRecords::<T>::get(JOB).expect("it was just inserted");
			let now = frame_system::Pallet::<T>::block_number().saturated_into();
			Pallet::<T>::close_round(JOB, &mut audit, now);
			AuditRecords::<T>::insert(JOB, audit);
		}

		let audit = AuditRecords::<T>::get(JOB).expect("it stays until it is forgotten");
		assert!(audit.is_decided());
		assert!(audit.served.is_empty());
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
		for group in audit.groups.iter_mut() {
			group.drawn = Default::default();
		}
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
		assert_eq!(seats, Some(if odd < T::MinSeats::get() { 0 } else { odd }));
	}

	impl_benchmark_test_suite!(Pallet, crate::mock::new_test_ext(), crate::mock::Test);
}
