//! What benchmarks are made of: a full pool, and the largest audit in each phase.

use crate::*;
use alloc::vec::Vec;
use codec::Encode;
use frame_benchmarking::v2::*;
use frame_support::{
	traits::{
		fungible::{Inspect, Mutate, MutateHold},
		Get,
	},
	BoundedVec,
};
use rand_core::{CryptoRng, RngCore};
use schnorrkel::{ExpansionMode, MiniSecretKey};
use sp_core::sr25519::Public;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	accusation::{LeafContent, Peaks},
	audit::{
		AuditPhase, Ended, Findings, GroupVerdict, Paths, Replayed, SegmentEvidence, MAX_PARTS,
	},
	bundle::{self, Checkpoint, Evaluation},
	duties::{self, Drawing},
	forced,
	job::{Balance, WorkResult, MAX_AUDIT_SEGMENTS, MAX_REPLICAS, MAX_VERIFIERS},
	merkle,
	pieces::{
		seat_share, Answer, Answers, Leaf, LeavesPart, Piece, PieceSizes, Pieces, LATE_PIECES,
		SEAT_PIECES,
	},
	relay::{RelayStage, APPEAL_SEATS, SEATS},
	seats::Resources,
	trace,
	views::Standing,
	vrf, JobId,
};
use trainyard_traits::{Court, Defendant, JobObserver, Window};

pub(super) const JOB: JobId = 7;
pub(super) const SALT: [u8; 32] = [5; 32];
pub(super) const SEED: H256 = H256([1; 32]);
/// Segments of a result before the one in which it diverged.
pub(super) const SEGMENTS: u32 = 1_000;

/// An account with `bond` to put on hold.
pub(super) fn funded<T: Config>(who: &T::AccountId, bond: Balance) {
	let amount = bond.saturating_add(T::Currency::minimum_balance().saturating_mul(10));
	T::Currency::mint_into(who, amount).expect("an account takes money");
}

/// The smallest bond of which slashes can create a jackpot.
pub(super) fn bond<T: Config>() -> Balance {
	T::MinBond::get().max(T::Currency::minimum_balance().saturating_mul(1_000))
}

pub(super) fn verifier<T: Config>(at: u32) -> T::AccountId {
	account("verifier", at, 0)
}

/// What the verifiers have room for, and an audit's seats need.
pub(super) const ROOM: Resources =
	Resources { work: u64::MAX, memory_mib: u32::MAX, disk_mib: u32::MAX };
pub(super) const NEEDS: Resources =
	Resources { work: 2_000_000, memory_mib: 8_192, disk_mib: 1_024 };

/// A point by which somebody could sign: the generator of Ristretto.
pub(super) const KEY: [u8; 32] = [
	0xe2, 0xf2, 0xae, 0x0a, 0x6a, 0xbc, 0x4e, 0x71, 0xa8, 0x84, 0xa9, 0x61, 0xc5, 0x00, 0x51, 0x5f,
	0x58, 0xe3, 0x0b, 0x6a, 0xa5, 0x82, 0xdd, 0x8d, 0xb6, 0xa6, 0x59, 0x45, 0xe0, 0x8d, 0x2d, 0x76,
];

/// A verifier that has been there for long, with the longest record.
pub(super) fn entry(bond: Balance, standing: Standing) -> Entry {
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
pub(super) fn fill_pool<T: Config>(count: u32) {
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

/// Pieces that everybody reads.
fn common() -> impl Iterator<Item = Piece> {
	let rows = Piece::Rows { from: 0, to: 1_100 };
	[Piece::Leaves, rows, Piece::State(SEGMENTS)].into_iter()
}

/// These states, and what everybody reads.
fn with_common(states: core::ops::Range<u32>) -> Pieces {
	let mut pieces: Vec<Piece> = common().chain(states.map(Piece::State)).collect();
	pieces.sort();
	pieces.try_into().expect("fewer than there can be")
}

/// What the seat number `at` asks for: all of its share.
pub(super) fn of_seat(at: u32) -> Pieces {
	let share = seat_share(MAX_VERIFIERS);
	with_common(at.saturating_mul(share)..at.saturating_add(1).saturating_mul(share))
}

/// The states that others ask for, after as many before them.
fn late_states(before: u32) -> core::ops::Range<u32> {
	let from = SEAT_PIECES.saturating_add(before);
	from..from.saturating_add(LATE_PIECES)
}

/// All that a committee can ask for.
pub(super) fn asked_by_seats(stored: bool) -> Vec<Asked> {
	let all = with_seats();
	let asked = |piece: Piece| Asked { stored, ..Asked::new(piece, 1_000_000, false) };
	all.into_iter().map(asked).collect()
}

fn with_seats() -> Vec<Piece> {
	common().chain((0..SEAT_PIECES).map(Piece::State)).collect()
}

/// All seats ask for all of their shares, and `caller` has prepaid a part of it.
pub(super) fn ask_for_everything<T: Config>(audit: &mut AuditOf<T>, caller: &T::AccountId) {
	audit.relay = Some(u32::MAX);
	for group in audit.groups.iter_mut() {
		group.asked = asked_by_seats(false).try_into().expect("fewer than there can be");
	}
	let prepaid = bond::<T>();
	funded::<T>(caller, prepaid);
	T::Currency::hold(&HoldReason::Claim.into(), caller, prepaid).expect("it is funded");
	for (at, member) in (0u32..).zip(&audit.committee) {
		let mine = member.verifier == *caller;
		let claims: Vec<Claim> = (0..MAX_REPLICAS)
			.map(|group| Claim {
				group,
				pieces: of_seat(at),
				prepaid: if mine && group == 7 { prepaid } else { 0 },
				pledge: 0,
				open: true,
				paid: 0,
			})
			.collect();
		Claims::<T>::insert(JOB, &member.verifier, BoundedVec::truncate_from(claims));
	}
}

/// Everybody who can asks for everything while results stand: all seats, and as many others as there can
/// be, after a committee asked for all that it can, and others as well. Each prepaid a part of it. Returns
/// pieces for which there is no room then.
pub(super) fn crowd_out<T: Config>(audit: &mut AuditOf<T>) -> Pieces {
	audit.window = Some(Window::new(0, u32::MAX, 600));
	ask_for_everything::<T>(audit, &verifier::<T>(0));
	let all: Pieces = late_states(LATE_PIECES)
		.map(Piece::State)
		.collect::<Vec<_>>()
		.try_into()
		.expect("fewer than there can be");
	let late = |at: u32, stored| Asked { stored, ..Asked::new(Piece::State(at), 1_000_000, true) };
	for group in audit.groups.iter_mut() {
		let before = late_states(0).map(|at| late(at, true));
		let open = late_states(LATE_PIECES).map(|at| late(at, false));
		let asked: Vec<Asked> =
			asked_by_seats(true).into_iter().chain(before).chain(open).collect();
		group.asked = asked.try_into().expect("as many as there can be");
		group.late = LATE_PIECES;
	}
	let claims: Vec<Claim> = (0..MAX_REPLICAS)
		.map(|group| Claim {
			group,
			pieces: all.clone(),
			prepaid: if group == 7 { bond::<T>() } else { 0 },
			pledge: 0,
			open: true,
			paid: 0,
		})
		.collect();
	let strangers = (0..MAX_STRANGERS).map(|at| account("crowd", at, 0));
	for who in (1..MAX_VERIFIERS).map(verifier::<T>).chain(strangers) {
		funded::<T>(&who, bond::<T>());
		T::Currency::hold(&HoldReason::Claim.into(), &who, bond::<T>()).expect("it is funded");
		Claims::<T>::insert(JOB, &who, BoundedVec::truncate_from(claims.clone()));
	}
	Claims::<T>::insert(JOB, verifier::<T>(0), BoundedVec::truncate_from(claims));
	let others = late_states(LATE_PIECES.saturating_mul(2)).map(Piece::State);
	others.collect::<Vec<_>>().try_into().expect("fewer than there can be")
}

/// The largest audit in `phase`. Everyone on the committee but the last has committed.
pub(super) fn largest<T: Config>(phase: AuditPhase) -> AuditOf<T> {
	let trainers: Vec<T::AccountId> =
		(0..MAX_REPLICAS).map(|at| account("trainer", at, 0)).collect();
	let bundle =
		Bundle { root: H256([1; 32]), forced: H256([4; 32]), opened: false, secret: [0; 32] };
	let group = Group {
		result: WorkResult {
			bundle_root: H256([1; 32]),
			true_root: H256([1; 32]),
			model_root: H256([2; 32]),
			segments: SEGMENTS,
			diverged: true,
		},
		convicted: Default::default(),
		out_at: Default::default(),
		trainers: trainers.clone().try_into().expect("one for each replica"),
		bundles: alloc::vec![bundle; trainers.len()].try_into().expect("one for each replica"),
		decision: None,
		decided_at: None,
		asked: Default::default(),
		late: 0,
		relayed: false,
	};
	let committee: Vec<_> = (0..MAX_VERIFIERS)
		.map(|at| Member {
			verifier: verifier::<T>(at),
			key: KEY,
			commitment: (at + 1 < MAX_VERIFIERS).then_some(H256([3; 32])),
			committed_at: 0,
			revealed: false,
			convicted: false,
			lost: false,
			postponed: Default::default(),
			locked: T::SeatStake::get(),
			began: 0,
		})
		.collect();
	let mut parties = trainers;
	parties.push(account("submitter", 0, 0));
	Audit {
		round: 0,
		phase,
		drawing: Drawing { draws: MAX_AUDIT_SEGMENTS, lottery: None },
		verifiers: MAX_VERIFIERS,
		parties: parties.try_into().expect("as many as there may be"),
		barred: Default::default(),
		groups: alloc::vec![group; MAX_REPLICAS as usize].try_into().expect("one for each replica"),
		committee: committee.try_into().expect("as many as there may be"),
		seed: Some(SEED),
		drawn_at: 0,
		assignment: SEED,
		opened: false,
		mixed: H256::zero(),
		found: Default::default(),
		fee: Balance::MAX,
		price: 1,
		stake: T::SeatStake::get(),
		challenge: T::SeatStake::get(),
		needs: NEEDS,
		time: 120,
		recompute: Default::default(),
		waits: 0,
		sizes: PieceSizes {
			state: 1_000_000,
			train_rows: 1_000,
			validation_rows: 100,
			features: 100,
			labels_per_row: 1,
			samples: 100_000,
			keep_every: 1,
		},
		storage_byte: 100_000,
		storage: Balance::MAX,
		relay: None,
		latest: u32::MAX,
		windows: 0,
		relays: 0,
		length: 2_400,
		again: 600,
		window: None,
		recheck: Rechecks::None,
		served: Default::default(),
		waiting: Default::default(),
		owing: Default::default(),
		owed: Default::default(),
	}
}

/// Lets all bundles of an audit have this root.
pub(super) fn put_root<T: Config>(audit: &mut AuditOf<T>, root: H256) {
	for group in audit.groups.iter_mut() {
		group.result.bundle_root = root;
		group.bundles.iter_mut().for_each(|bundle| bundle.root = root);
	}
}

/// The states that an audit of these reads.
pub(super) fn read() -> impl Iterator<Item = u32> {
	(0..MAX_AUDIT_SEGMENTS.saturating_mul(2)).chain([SEGMENTS])
}

/// All pieces that an audit can read.
pub(super) fn all_pieces() -> Pieces {
	let mut pieces = alloc::vec![Piece::Leaves, Piece::Rows { from: 0, to: 1_100 }];
	pieces.extend(read().map(Piece::State));
	pieces.try_into().expect("fewer than there can be")
}

/// The root of the trace of each segment.
pub(super) const TRACE: H256 = H256([8; 32]);
pub(super) const STATE: H256 = H256([9; 32]);

/// What the leaves under the root of each result say.
pub(super) fn contents() -> Vec<LeafContent> {
	let (evaluation, trace) = (Evaluation::new(1.0, 1, 2), trace::seal(&TRACE));
	let checkpoint =
		|step| LeafContent::Checkpoint(Checkpoint { step, state: STATE, evaluation, trace });
	let diverged = LeafContent::Diverged(bundle::Diverged { step: SEGMENTS, trace });
	(0..=SEGMENTS).map(checkpoint).chain([diverged]).collect()
}

/// The leaves under the root of each result.
pub(super) fn hashes() -> Vec<H256> {
	contents().iter().map(LeafContent::leaf).collect()
}

/// The path to one of them.
pub(super) fn path(hashes: &[H256], index: u32) -> Peaks {
	let path = merkle::proof(hashes, index as usize).expect("it is there");
	path.try_into().expect("ten levels")
}

/// Answers with the files of that many states, in blobs that are not there.
pub(super) fn states(count: u32) -> Answers {
	let (evaluation, trace) = (Evaluation::new(1.0, 1, 2), trace::seal(&TRACE));
	let hashes = hashes();
	let answers: Vec<Answer> = (0..count)
		.map(|index| {
			let checkpoint = Checkpoint { step: index, state: STATE, evaluation, trace };
			let leaf = Leaf { index, checkpoint, path: path(&hashes, index) };
			Answer::State { leaf, blob: H256([index as u8 + 1; 32]) }
		})
		.collect();
	answers.try_into().expect("fewer than there can be")
}

/// An answer with the first part of the leaves.
pub(super) fn first_leaves() -> Answers {
	let part = LeavesPart::of(&contents(), 0).expect("there is one");
	alloc::vec![Answer::Leaves(part)].try_into().expect("one")
}

/// The largest audit, in which a trainer is asked for these pieces of the last result.
pub(super) fn asked_for<T: Config>(trainer: &T::AccountId, pieces: &[Piece]) {
	let mut audit = largest::<T>(AuditPhase::Rescue { until: u32::MAX });
	let last = audit.groups.last_mut().expect("one for each replica");
	last.result = WorkResult {
		bundle_root: merkle::root(&hashes()),
		segments: SEGMENTS,
		diverged: true,
		..last.result
	};
	let asked: Vec<Asked> =
		pieces.iter().map(|piece| Asked::new(*piece, 1_000_000, false)).collect();
	last.asked = asked.try_into().expect("fewer than there can be");
	last.trainers = alloc::vec![trainer.clone()].try_into().expect("one");
	last.bundles.truncate(1);
	last.bundles.iter_mut().for_each(|bundle| bundle.root = last.result.bundle_root);
	AuditRecords::<T>::insert(JOB, audit);
	T::Observer::make_waiting(JOB);
}

/// What the last seat says that draws by `output`: evidence of its own draws, and of as many segments
/// at which results part as there can be.
pub(super) fn longest<A: core::fmt::Debug>(
	draw: vrf::VrfSignature,
	output: &H256,
	hashes: &[H256],
) -> (Findings<A>, Paths) {
	let (mut verdicts, mut paths) = (Vec::new(), Vec::new());
	let result = WorkResult {
		bundle_root: merkle::root(hashes),
		true_root: merkle::root(hashes),
		model_root: H256([2; 32]),
		segments: SEGMENTS,
		diverged: true,
	};
	for group in 0..MAX_REPLICAS {
		let own = vrf::own_segments(output, group, SEGMENTS, MAX_AUDIT_SEGMENTS);
		let free = (0..SEGMENTS).filter(|segment| !own.contains(segment));
		let parts: Vec<u32> = free.take(MAX_PARTS as usize).collect();
		let wanted = duties::required(&own, MAX_VERIFIERS as usize - 1, &result, None, &parts)
			.expect("it is well formed");
		let evidence: Vec<_> = wanted
			.iter()
			.map(|segment| SegmentEvidence {
				segment: *segment,
				trace_root: TRACE,
				ended: Ended::Checkpoint {
					step: segment + 1,
					state: STATE,
					evaluation: Evaluation::new(1.0, 1, 2),
				},
				differs: None,
				idle_since: Some(*segment),
			})
			.collect();
		paths.extend(wanted.iter().map(|segment| path(hashes, segment + 1)));
		verdicts.push(GroupVerdict::Replayed(Replayed {
			bundle: 0,
			evidence: evidence.try_into().expect("as many as there may be"),
			moved: None,
			parts: parts.try_into().expect("one for each other result"),
		}));
	}
	let verdicts = verdicts.try_into().expect("one for each replica");
	(Findings { draw, verdicts }, paths.try_into().expect("one for each segment"))
}

/// Findings of the longest form, whose draw is not looked at.
pub(super) fn long_findings<A: core::fmt::Debug>() -> Findings<A> {
	let draw = vrf::VrfSignature { pre_output: [1; 32], proof: [2; 64] };
	longest(draw, &SEED, &hashes()).0
}

/// What a seat lost to as many defendants as are noted, this much to each.
fn forfeits<T: Config>(each: Balance) -> Forfeits<T::AccountId> {
	let to = |at| (Defendant::Trainer { job: JOB, who: account("trainer", at, 0) }, each);
	Forfeits::truncate_from((0..MAX_FORFEITS).map(to).collect())
}

/// Lets a seat of an audit have lost a stake, which the court can bring back, and have nothing free of its
/// bond.
pub(super) fn drain<T: Config>(audit: &mut AuditOf<T>, who: &T::AccountId) {
	let each = audit.stake / Balance::from(MAX_FORFEITS);
	let lost = forfeits::<T>(each);
	for (defendant, amount) in &lost {
		funded::<T>(defendant.who(), *amount);
		T::Court::make_lost(defendant, *amount);
	}
	Forfeited::<T>::insert(JOB, who, lost);
	audit.member_mut(who).expect("it has a seat").locked = 0;
	Pool::<T>::mutate(|pool| {
		let entry = pool.get_mut(who).expect("it has a bond");
		entry.lock(entry.free());
	});
}

/// The largest audit while results stand, with findings of all seats, each of which lost something to as many
/// as are noted, and with the fees that can wait.
pub(super) fn standing<T: Config>() -> AuditOf<T> {
	fill_pool::<T>(Room::<T::MaxPool>::get());
	funded::<T>(&T::Jackpot::get(), 0);
	let mut audit = largest::<T>(AuditPhase::Standing { until: 0 });
	audit.window = Some(Window::new(0, 0, 0));
	let findings = long_findings::<T::AccountId>();
	let root = merkle::root(&hashes());
	put_root::<T>(&mut audit, root);
	for member in audit.committee.iter_mut() {
		member.commitment = Some(H256([3; 32]));
		member.revealed = true;
		Verdicts::<T>::insert(JOB, &member.verifier, findings.clone());
		Forfeited::<T>::insert(JOB, &member.verifier, forfeits::<T>(1));
	}
	let named = &audit.groups[0].trainers;
	let rejecting = (0..2 * MAX_VERIFIERS)
		.map(|at| Rejecting { seat: verifier::<T>(at % MAX_VERIFIERS), named: named.clone() });
	audit.waiting = BoundedVec::truncate_from(rejecting.collect());
	audit.owing = audit.waiting.clone();
	Pool::<T>::mutate(|pool| {
		for member in &audit.committee {
			if let Some(entry) = pool.get_mut(&member.verifier) {
				entry.lock(member.locked);
			}
		}
	});
	AuditRecords::<T>::insert(JOB, &audit);
	audit
}

/// The same audit, whose trainers opened as many leaves as there can be. Every seat said of the last leaf that
/// it replayed of each result, which was forced, that it is right, and of all others that they differ.
pub(super) fn guessed<T: Config>() -> AuditOf<T> {
	let mut audit = standing::<T>();
	let mut last = 0;
	for member in &audit.committee {
		Verdicts::<T>::mutate(JOB, &member.verifier, |findings| {
			let verdicts = findings.as_mut().map(|findings| findings.verdicts.iter_mut());
			for verdict in verdicts.expect("it revealed") {
				let GroupVerdict::Replayed(replayed) = verdict else { continue };
				for evidence in replayed.evidence.iter_mut() {
					evidence.differs = Some(H256([7; 32]));
				}
				let evidence = replayed.evidence.last_mut().expect("there is some");
				(evidence.differs, last) = (None, evidence.segment);
			}
		});
	}
	let leaf = |index| forced::Forced { index, shown: H256([1; 32]), trace: H256([2; 32]) };
	let others = (1..duties::MAX_FORCED).map(|at| leaf(u32::MAX.saturating_sub(at)));
	let all: Vec<_> = others.chain([leaf(last.saturating_add(1))]).collect();
	for group in audit.groups.iter_mut() {
		group.bundles.iter_mut().for_each(|bundle| bundle.opened = true);
		for trainer in &group.trainers {
			crate::Forced::<T>::insert(JOB, trainer, BoundedVec::truncate_from(all.clone()));
		}
	}
	audit.opened = true;
	let seats: Vec<T::AccountId> = audit.committee.iter().map(|m| m.verifier.clone()).collect();
	for seat in &seats {
		drain::<T>(&mut audit, seat);
	}
	AuditRecords::<T>::insert(JOB, &audit);
	audit
}

/// The piece that relays are about in benchmarks.
pub(super) const PIECE: Piece = Piece::State(1);

/// Who asks for it, who doubts the answer, and who asks a seat for a chunk.
pub(super) fn asker<T: Config>(at: u32) -> T::AccountId {
	account("asker", at, 0)
}

/// The relay number 0 of the largest audit, in this stage: of the most seats, all of which have the piece and
/// are asked for a chunk, each by another account, after somebody doubted the first answer.
pub(super) fn relayed<T: Config>(stage: RelayStage) -> Relay<T::AccountId> {
	let mut audit = standing::<T>();
	audit.relays = 1;
	let bundles = audit.groups.iter_mut().flat_map(|group| group.bundles.iter_mut());
	bundles.for_each(|bundle| bundle.opened = true);
	audit.window = Some(Window::new(0, u32::MAX, 1));
	AuditRecords::<T>::insert(JOB, &audit);
	OpenRelays::<T>::insert(JOB, BoundedVec::truncate_from(alloc::vec![0]));
	NextRelay::<T>::put(1);
	let (fee, stake) = (T::RelayFee::get(), T::SeatStake::get());
	let needs = Resources { work: 0, memory_mib: 0, disk_mib: 1 };
	let reason = HoldReason::Relay.into();
	let prepaid = fee.saturating_mul(APPEAL_SEATS.into());
	for at in 0..APPEAL_SEATS.saturating_add(2) {
		let amount = prepaid.saturating_add(fee);
		funded::<T>(&asker::<T>(at), amount.saturating_mul(2));
		T::Currency::hold(&reason, &asker::<T>(at), amount).expect("it is funded");
	}
	let seat = |at: u32| {
		let who = verifier::<T>(at.saturating_add(MAX_VERIFIERS));
		RelaySeat { says: Some(true), shown: true, ..RelaySeat::new(who) }
	};
	let before: Vec<_> = (APPEAL_SEATS..APPEAL_SEATS.saturating_add(SEATS)).map(seat).collect();
	let seats: Vec<_> = (0..APPEAL_SEATS)
		.map(|at| RelaySeat { asked: Some((asker::<T>(at.saturating_add(2)), true)), ..seat(at) })
		.collect();
	let bond = bond::<T>();
	for seat in before.iter().chain(seats.iter()) {
		funded::<T>(&seat.who, bond);
		T::Currency::hold(&HoldReason::VerifierBond.into(), &seat.who, bond).expect("it is funded");
	}
	Pool::<T>::mutate(|pool| {
		for seat in before.iter().chain(seats.iter()) {
			pool.get_mut(&seat.who).expect("it is in the pool").sit(stake, &needs);
		}
	});
	let now = Pallet::<T>::now();
	let relay = Relay {
		job: JOB,
		group: 7,
		piece: PIECE,
		chunks: 1 << 20,
		by: asker::<T>(0),
		prepaid,
		surcharge: 0,
		fee,
		ask: fee,
		stake,
		needs,
		span: 600,
		places: Some(SEED),
		stage,
		since: (now, 0),
		served: true,
		draws: 0,
		seats: BoundedVec::truncate_from(seats),
		asking: Some(Asking::Running { seed: SEED, until: u32::MAX, since: (now, 0) }),
		appeal: Some(Appeal { by: asker::<T>(1), prepaid, held: true }),
		before: BoundedVec::truncate_from(before),
	};
	Relays::<T>::insert(0, &relay);
	Pallet::<T>::schedule(0, now.saturating_add(1));
	relay
}

/// A result of as many segments as a job can have of which the leaves are cheap to make here, and what
/// opens its forced leaves.
pub(super) fn forced_leaves(secret: &forced::Secret) -> (WorkResult, forced::Opening) {
	let (evaluation, trace) = (Evaluation::new(1.0, 1, 2), trace::seal(&TRACE));
	let checkpoint = |step| Checkpoint { step, state: STATE, evaluation, trace };
	let computed: Vec<Checkpoint> = (0..=SEGMENTS).map(checkpoint).collect();
	let leaves = bundle::bundle_leaves(computed.iter().copied(), None);
	let shown = forced::mark(&SEED, secret, &computed);
	let opening = forced::Opening::of(&SEED, secret, &computed, &leaves).expect("they are few");
	let result = WorkResult {
		bundle_root: bundle::bundle_root(shown, None),
		true_root: merkle::root(&leaves),
		model_root: H256([2; 32]),
		segments: SEGMENTS,
		diverged: false,
	};
	(result, opening)
}

/// What a key of benchmarks signs with: there is no randomness in a runtime, and that key is no secret.
struct AlwaysOne;

impl RngCore for AlwaysOne {
	fn next_u32(&mut self) -> u32 {
		1
	}

	fn next_u64(&mut self) -> u64 {
		1
	}

	fn fill_bytes(&mut self, bytes: &mut [u8]) {
		bytes.fill(1);
	}

	fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rand_core::Error> {
		self.fill_bytes(bytes);
		Ok(())
	}
}

impl CryptoRng for AlwaysOne {}

/// Returns a key, and what it signs of `subject`.
pub(super) fn signed<AccountId: Encode>(
	subject: &vrf::Subject<AccountId>,
) -> (vrf::VrfKey, vrf::VrfSignature) {
	let secret = MiniSecretKey::from_bytes(&[6; 32]).expect("any 32 bytes are");
	let pair = secret.expand_to_keypair(ExpansionMode::Ed25519);
	(pair.public.to_bytes(), vrf::sign_with(&pair, subject, AlwaysOne))
}
