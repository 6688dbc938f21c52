//! What somebody lacks: given by others, stored on chain, or lost. What it costs: `claims`.

use crate::{mock::*, Error, Event, HoldReason, NamedStates, H256};
use frame_support::{assert_noop, assert_ok, traits::fungible::InspectHold};
use sp_runtime::DispatchError;
use trainyard_protocol::{
	accusation::LeafContent,
	audit::{AuditPhase, Decision},
	pieces::{Answer, LeavesPart, Piece},
	views::RescuedView,
};
use trainyard_traits::AuditRequest;

pub(super) const BLOB: H256 = H256([77; 32]);
pub(super) const OTHER: H256 = H256([78; 32]);
/// Blocks for storing what a seat asks for: its bytes take one.
const WINDOW: u32 = RESCUE + 1;

/// An audit of that many results by three seats, who can commit.
pub(super) fn seated(groups: usize) -> Vec<AccountId> {
	bonded(3);
	open(groups, 3);
	tick_until(is_committing);
	committee()
}

/// The first seat asks for these pieces of the only result, and nobody gives them to it.
pub(super) fn window(pieces: &[Piece]) -> Vec<AccountId> {
	let seats = seated(1);
	assert_ok!(ask(seats[0], 0, pieces));
	tick_until(is_rescue);
	seats
}

pub(super) fn withdraw(who: AccountId, group: u32) -> sp_runtime::DispatchResult {
	Verification::withdraw_request(RuntimeOrigin::signed(who), JOB, group)
}

pub(super) fn prepaid(who: AccountId) -> u128 {
	Balances::balance_on_hold(&HoldReason::Claim.into(), &who)
}

/// What is held for claims, of everybody.
pub(super) fn claimed() -> u128 {
	VERIFIERS.iter().map(|who| prepaid(*who)).sum()
}

pub(super) fn until() -> u32 {
	match view().phase {
		AuditPhase::Committing { until } | AuditPhase::Rescue { until } => until,
		phase => panic!("{phase:?} has no end"),
	}
}

#[test]
fn the_committee_that_lacked_something_goes_on_by_the_same_draws() {
	run(|| {
		let seats = seated(1);
		let before: Vec<_> = seats.iter().map(|who| wanted(*who, 0)).collect();
		let now = System::block_number() as u32;
		assert_ok!(ask(seats[1], 0, &everything()));
		let end = now + RELAY;
		assert_eq!(view().groups[0].asked, everything());
		assert_eq!(until(), end + COMMIT, "who gets it from others must still replay it");
		tick_until(is_rescue);
		assert_eq!(System::block_number() as u32, end + 1);
		assert_eq!(until(), end + 1 + WINDOW);
		// Nobody else draws, and nobody was slashed.
		assert_eq!(committee(), seats);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		let (piece, trainer) = (Piece::State(SEGMENTS), TRAINERS[0]);
		System::assert_last_event(Event::Rescued { job: JOB, group: 0, piece, trainer }.into());
		assert_eq!(Progressed::get(), vec![JOB]);
		tick();
		let after: Vec<_> = seats.iter().map(|who| wanted(*who, 0)).collect();
		assert_eq!((view().round, committee(), after), (0, seats.clone(), before));
		assert_eq!(until(), System::block_number() as u32 + COMMIT);
		let group = &view().groups[0];
		assert_eq!((group.stored.clone(), group.asked.clone()), (everything(), vec![]));
		let named: Vec<(Piece, H256)> = everything()
			.into_iter()
			.flat_map(|piece| {
				blobs(TRAINERS[0], &piece, BLOB).into_iter().map(move |b| (piece, b.0))
			})
			.collect();
		let rescued: Vec<_> = group.rescued.iter().map(|r| (r.piece, r.blob)).collect();
		assert_eq!(rescued, named);
		let leaves = Verification::leaves(JOB, TRAINERS[0]);
		assert_eq!(leaves.len() as u32, SEGMENTS + 1);
		let roots: Vec<H256> = named.into_iter().map(|(_, root)| root).collect();
		assert_eq!(Expected::get(), roots, "they stay while the audit runs");
		round(&vec![speak(Say::Yes); 3]);
		assert_eq!(finish(), (vec![Decision::Accepted], seats));
		assert!(Expected::get().is_empty());
		assert!(Verification::leaves(JOB, TRAINERS[0]).is_empty());
	});
}

/// A trainer that stores nothing of what is asked for loses, and whether a seat was ready nobody knows.
#[test]
fn what_nobody_stores_is_lost() {
	run(|| {
		let seats = window(&everything());
		let money = Balances::free_balance(seats[0]) + prepaid(seats[0]);
		assert_eq!(finish(), (vec![Decision::Unavailable], seats.clone()));
		assert_eq!((view().round, Balances::free_balance(seats[0])), (0, money));
		assert!(seats.iter().all(|who| bond_of(*who) == BOND && entry(*who).locked == 0));
	});
}

/// An audit of one result that two trainers revealed, in the window for these pieces.
fn window_of_two(pieces: &[Piece]) {
	bonded(3);
	let mut request: AuditRequest<AccountId> = request(1, 3);
	request.groups[0] = group_of(&[TRAINERS[0], TRAINERS[1]]);
	open_with(request);
	tick_until(is_committing);
	assert_ok!(ask(committee()[0], 0, pieces));
	tick_until(is_rescue);
}

const LAST: Piece = Piece::State(SEGMENTS);

/// A co-replica that names garbage as a state names it for itself alone, and is not paid for the other's
/// bytes.
#[test]
fn each_trainer_of_a_result_names_its_own_file_of_a_state() {
	run(|| {
		window_of_two(&[LAST]);
		let free = || [0, 1].map(|at| Balances::free_balance(TRAINERS[at]));
		let before = free();
		BlobSize::set(2);
		assert_ok!(upload(TRAINERS[1], TRAINERS[0], 0, OTHER));
		assert_noop!(store(TRAINERS[1], TRAINERS[0], 0, BLOB), Error::<Test>::AlreadyRescued);
		assert!(Progressed::get().is_empty(), "the other one has its time");
		BlobSize::set(400);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		let rescued = |blob| RescuedView { piece: LAST, blob: of_state(blob, SEGMENTS) };
		assert_eq!(view().groups[0].rescued, vec![rescued(BLOB), rescued(OTHER)]);
		// Who stores two bytes takes nothing of the other's.
		assert_eq!(free(), [before[0] + 400 * BYTE / 2, before[1] + 2 * BYTE / 2]);
	});
}

/// What the chain knows to be right is stored once, by whoever of the trainers comes first.
#[test]
fn what_is_checked_is_answered_once() {
	run(|| {
		let tensor = Piece::Tensor { checkpoint: 3, index: 1 };
		window_of_two(&[Piece::Leaves, ROWS, tensor]);
		assert_ok!(upload(TRAINERS[1], TRAINERS[0], 0, OTHER));
		assert_eq!(Progressed::get(), vec![JOB], "nobody has anything more to store");
		assert_noop!(store(TRAINERS[0], TRAINERS[0], 0, BLOB), Error::<Test>::AlreadyRescued);
		tick_until(is_committing);
		assert_eq!(view().groups[0].stored, [Piece::Leaves, ROWS, tensor]);
		let bytes = SIZES.sum([Piece::Leaves, ROWS, tensor], &result_of(TRAINERS[0]), &TENSORS);
		let has = [0, 1].map(|at| Balances::free_balance(TRAINERS[at]) - ENDOWMENT);
		assert_eq!(has, [0, u128::from(bytes) * BYTE / 2]);
	});
}

/// Withholding is no business: a blob that was there before, or that others bring, is not paid.
#[test]
fn a_trainer_is_paid_for_what_it_stored_and_for_nothing_else() {
	run(|| {
		window_of_two(&[LAST]);
		let (seat, money) = (committee()[0], Balances::free_balance(committee()[0]));
		let whole = money + prepaid(seat);
		let [blob, other] = [BLOB, OTHER].map(|blob| of_state(blob, SEGMENTS));
		// Its own, of another job.
		Stored::set(vec![blob]);
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
		// Announced while another one was storing it; nor does a second word begin another count.
		assert_ok!(store(TRAINERS[1], TRAINERS[0], 0, OTHER));
		bring(TRAINERS[0], other, 400);
		assert_ok!(store(TRAINERS[1], TRAINERS[0], 0, OTHER));
		Stored::mutate(|stored| stored.push(other));
		assert_ok!(store(TRAINERS[1], TRAINERS[0], 0, OTHER));
		tick_until(is_committing);
		assert_eq!(Balances::free_balance(seat), whole);
		assert!(Brought::get().is_empty());
	});
}

/// Replicas have the same states, so everybody can foresee the root of a file. Whoever announces or
/// registers it first takes nothing of who brings it, and those who bring it together share.
#[test]
fn one_blob_of_two_trainers_is_paid_by_what_each_brought() {
	let half = 400 * BYTE / 2;
	for (bytes, paid) in [(400, [half, 0]), (240, [half * 6 / 10, half * 4 / 10])] {
		run(|| {
			window_of_two(&[LAST]);
			let blob = of_state(BLOB, SEGMENTS);
			for who in [TRAINERS[1], TRAINERS[0]] {
				assert_ok!(store(who, TRAINERS[0], 0, BLOB));
			}
			bring(TRAINERS[0], blob, bytes);
			bring(TRAINERS[1], blob, 400 - bytes);
			Stored::set(vec![blob]);
			for who in [TRAINERS[1], TRAINERS[0]] {
				assert_ok!(store(who, TRAINERS[0], 0, BLOB));
			}
			tick_until(is_committing);
			let has = [0, 1].map(|at| Balances::free_balance(TRAINERS[at]) - ENDOWMENT);
			assert_eq!(has, paid);
			assert!(Brought::get().is_empty());
		});
	}
}

/// Whatever a co-replica stores beside it, an honest trainer has its half; and nobody is paid for more
/// bytes than were asked for.
#[test]
fn garbage_beside_the_states_takes_nothing_of_what_they_are_paid() {
	run(|| {
		let pieces = [Piece::State(0), LAST];
		window_of_two(&pieces);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		assert_ok!(upload(TRAINERS[1], TRAINERS[0], 0, OTHER));
		tick_until(is_committing);
		let most = SIZES.sum(pieces, &result_of(TRAINERS[0]), &TENSORS);
		let half = u128::from(most) * BYTE / 2;
		let has = [0, 1].map(|at| Balances::free_balance(TRAINERS[at]) - ENDOWMENT);
		assert_eq!(has, [half, half]);
	});
	run(|| {
		window(&[Piece::Rows { from: 0, to: 3 }]);
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
		let named = blobs(TRAINERS[0], &ROWS, BLOB);
		// The chunks of other rows are not paid for.
		named[..2].iter().for_each(|(root, _)| bring(TRAINERS[0], *root, 1_000));
		Stored::set(named.into_iter().map(|(root, _)| root).collect());
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		let has = Balances::free_balance(TRAINERS[0]) - ENDOWMENT;
		assert_eq!(
			has,
			u128::from(SIZES.spans(0, 3).iter().map(|s| s.bytes).sum::<u64>()) * BYTE / 2
		);
	});
}

/// Answers `who` gives alone, for a piece of the result of [`TRAINERS`]' first.
fn give(who: AccountId, answers: Vec<Answer>) -> sp_runtime::DispatchResult {
	Verification::rescue(RuntimeOrigin::signed(who), JOB, 0, answers.try_into().unwrap())
}

/// What the chain can check it does not take otherwise; nothing of it is announced.
#[test]
fn garbage_is_no_answer() {
	run(|| {
		let tensor = Piece::Tensor { checkpoint: 3, index: 1 };
		window(&[Piece::Leaves, ROWS, LAST, tensor]);
		let (own, other) = (TRAINERS[0], TRAINERS[1]);
		// Everything but the rows is of what another one trained.
		for (piece, error) in [
			(Piece::Leaves, Error::<Test>::WrongLeaves),
			(LAST, Error::<Test>::WrongLeaves),
			(tensor, Error::<Test>::WrongLeaves),
		] {
			assert_noop!(give(own, vec![answer(other, &piece, BLOB)]), error);
		}
		let Answer::Tensor { leaf, index, content, path } = answer(own, &tensor, BLOB) else {
			panic!("a tensor")
		};
		let of = |content, path| Answer::Tensor { leaf: leaf.clone(), index, content, path };
		let wrong = Error::<Test>::WrongTensor;
		assert_noop!(give(own, vec![of(H256::zero(), path.clone())]), wrong);
		let wrong = Error::<Test>::WrongTensor;
		assert_noop!(give(own, vec![of(content, Default::default())]), wrong);
		for at in 0..4 {
			let mut contents = CONTENTS;
			contents[at] = H256::zero();
			let rows = Answer::Rows { from: 0, to: 25, contents };
			assert_noop!(give(own, vec![rows]), Error::<Test>::WrongRows);
		}
		let Answer::Leaves(mut part) = answer(own, &Piece::Leaves, BLOB) else { panic!("leaves") };
		part.leaves.pop();
		assert_noop!(give(own, vec![Answer::Leaves(part)]), Error::<Test>::WrongLeaves);
		// What nobody asked for.
		for piece in [Piece::State(0), Piece::Rows { from: 0, to: 3 }] {
			assert_noop!(give(own, vec![answer(own, &piece, BLOB)]), Error::<Test>::NotAsked);
		}
		assert_noop!(give(own, vec![]), Error::<Test>::NotAsked);
		BlobSize::set(SIZES.state + 1);
		Stored::set(vec![of_state(BLOB, SEGMENTS)]);
		assert_noop!(give(own, vec![answer(own, &LAST, BLOB)]), Error::<Test>::RescueTooLarge);
		assert!(Expected::get().is_empty());
		BlobSize::set(SIZES.state);
		assert_ok!(give(own, vec![answer(own, &LAST, BLOB)]));
		// One of four pieces does not save a result.
		assert_eq!(finish().0, [Decision::Unavailable]);
		assert_eq!(Balances::free_balance(own), ENDOWMENT);
		assert!(Expected::get().is_empty());
	});
}

/// Of a blob whose rows were asked for the chunks that hold them are enough.
#[test]
fn rows_are_there_when_their_chunks_are() {
	run(|| {
		let few = Piece::Rows { from: 3, to: 22 };
		window(&[few]);
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
		let named = blobs(TRAINERS[0], &few, BLOB);
		assert_eq!((named.len(), Expected::get().len()), (4, 4));
		let chunks: Vec<_> = named.iter().map(|(root, _)| (*root, 0)).collect();
		Parts::set(chunks[..3].to_vec());
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
		assert_eq!(view().groups[0].rescued, vec![], "labels that validate are missing");
		assert_eq!(Expected::get().len(), 4);
		Parts::set(chunks);
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
		assert_eq!(view().groups[0].rescued.len(), 4);
		tick_until(is_committing);
		round(&vec![speak(Say::Yes); 3]);
		assert_eq!(finish().0, [Decision::Accepted]);
		assert!(Expected::get().is_empty());
	});
}

/// Blocks have room for what was announced, and wait for it while they are full.
#[test]
fn a_rescue_that_is_announced_has_room_and_time() {
	run(|| {
		window(&[LAST]);
		let last = until();
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, OTHER));
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
		let blob = of_state(BLOB, SEGMENTS);
		System::assert_last_event(
			Event::RescueAnnounced { job: JOB, group: 0, piece: LAST, blob, trainer: TRAINERS[0] }
				.into(),
		);
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
		assert_eq!(Expected::get(), vec![blob], "the last word counts");
		assert!(view().groups[0].rescued.is_empty());
		FullBlocks::set(5);
		while System::block_number() < u64::from(last + 4) {
			tick();
		}
		assert_eq!(view().phase, AuditPhase::Rescue { until: last + 5 });
		BlobSize::set(250);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		assert_eq!(Expected::get(), vec![blob], "the committee needs it");
		// Whoever finds garbage in it accuses by the leaf that the trainer showed.
		let named = NamedStates::<Test>::get(JOB, TRAINERS[0]);
		assert!(named.len() == 1 && named[0].stored && named[0].blob == blob);
		assert!(named[0].leaf.index == SEGMENTS && named[0].leaf.fits(&view().groups[0].result));
		round(&vec![speak(Say::Yes); 3]);
		assert_eq!(finish().0, vec![Decision::Accepted]);
		assert!(Expected::get().is_empty());
		assert!(!NamedStates::<Test>::iter_keys().any(|_| true));
	});
}

/// Nobody keeps an announcement out by filling blocks, and nobody an audit for ever.
#[test]
fn a_rescue_waits_while_blocks_are_full_and_not_for_ever() {
	for announced in [false, true] {
		run(|| {
			window(&[ROWS]);
			let last = u64::from(until());
			if announced {
				assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
			}
			FullBlocks::set(1_000_000);
			finish();
			assert_eq!(System::block_number(), last + 3 * u64::from(WINDOW) + 1);
			assert!(Expected::get().is_empty() && Brought::get().is_empty());
		});
	}
}

#[test]
fn rescues_have_conditions() {
	run(|| {
		let none = answers(TRAINERS[0], &[LAST], BLOB);
		Stored::set(vec![of_state(BLOB, SEGMENTS)]);
		let call =
			|who, group| Verification::rescue(RuntimeOrigin::signed(who), JOB, group, none.clone());
		assert_noop!(call(TRAINERS[0], 0), Error::<Test>::NoAudit);
		let seats = seated(2);
		assert_noop!(call(TRAINERS[0], 0), Error::<Test>::NotRescuing);
		assert_ok!(ask(seats[0], 0, &[LAST]));
		assert!(!Verification::awaits_answer(JOB, 0, &TRAINERS[0]), "nobody is to store it yet");
		tick_until(is_rescue);
		assert_noop!(
			Verification::rescue(RuntimeOrigin::none(), JOB, 0, none.clone()),
			DispatchError::BadOrigin
		);
		for group in [2, u32::MAX] {
			assert_noop!(call(TRAINERS[0], group), Error::<Test>::NoSuchGroup);
		}
		for who in [TRAINERS[1], SUBMITTER] {
			assert_noop!(call(who, 0), Error::<Test>::NotTrainer);
			assert!(!Verification::awaits_answer(JOB, 0, &who));
		}
		assert_noop!(call(TRAINERS[1], 1), Error::<Test>::NotAsked);
		// Seats wait, too.
		assert_noop!(ask(seats[1], 1, &[ROWS]), Error::<Test>::NotCommitting);
		assert_noop!(withdraw(seats[0], 0), Error::<Test>::NotCommitting);
		let blind = Verification::commit(RuntimeOrigin::signed(seats[0]), JOB, H256::zero());
		assert_eq!(blind, Err(Error::<Test>::NotCommitting.into()));
		let last = u64::from(until());
		System::set_block_number(last + 1);
		assert_noop!(call(TRAINERS[0], 0), Error::<Test>::TooLate);
		System::set_block_number(last);
		assert!(Verification::awaits_answer(JOB, 0, &TRAINERS[0]));
		assert_ok!(call(TRAINERS[0], 0));
		assert_noop!(call(TRAINERS[0], 0), Error::<Test>::AlreadyRescued);
		assert!(!Verification::awaits_answer(JOB, 0, &TRAINERS[0]));
	});
}

/// Leaves of a long run come part by part, in order. Each trainer brings those of its own bundle: another
/// one's part is no part of them.
#[test]
fn leaves_come_in_parts() {
	run(|| {
		let [(result, parts), (other, others)] = [0, 1].map(|at| long_result(520, TRAINERS[at]));
		assert_ne!(result.bundle_root, other.bundle_root);
		bonded(3);
		let mut request: AuditRequest<AccountId> = request(1, 3);
		let mut deliveries = group_of(&[TRAINERS[0], TRAINERS[1]]).1;
		deliveries[0].bundle_root = result.bundle_root;
		deliveries[1].bundle_root = other.bundle_root;
		request.groups[0] = (result.common(), deliveries);
		request.drawing.draws = 16;
		open_with(request);
		tick_until(is_committing);
		assert_ok!(ask(committee()[0], 0, &[Piece::Leaves]));
		tick_until(is_rescue);
		let part = |at: usize| vec![Answer::Leaves(parts[at].clone())];
		let of_other = |at: usize| vec![Answer::Leaves(others[at].clone())];
		assert_noop!(give(TRAINERS[0], part(1)), Error::<Test>::WrongLeaves);
		assert_ok!(give(TRAINERS[0], part(0)));
		assert_noop!(give(TRAINERS[0], part(0)), Error::<Test>::AlreadyRescued);
		// A part in which nothing is forced is the same in both, and does not go into the wrong one.
		assert_noop!(give(TRAINERS[1], of_other(1)), Error::<Test>::WrongLeaves);
		assert_ok!(give(TRAINERS[1], of_other(0)));
		assert!(Progressed::get().is_empty());
		assert_ok!(give(TRAINERS[1], of_other(1)));
		assert_eq!(Progressed::get(), vec![JOB], "one of them is enough");
		assert_noop!(give(TRAINERS[0], part(1)), Error::<Test>::AlreadyRescued);
		tick_until(is_committing);
		let all = |parts: &[LeavesPart]| -> Vec<LeafContent> {
			parts.iter().flat_map(|part| part.leaves.iter().copied()).collect()
		};
		assert_eq!(Verification::leaves(JOB, TRAINERS[1]), all(&others));
		assert_eq!(Verification::leaves(JOB, TRAINERS[0]), all(&parts[..1]));
		let has = [0, 1].map(|at| Balances::free_balance(TRAINERS[at]) - ENDOWMENT);
		assert_eq!(has, [512 * 81 * BYTE / 2, 521 * 81 * BYTE / 2]);
	});
}

#[test]
fn of_several_results_only_the_one_that_is_not_stored_is_lost() {
	run(|| {
		let seats = seated(3);
		for group in 0..2 {
			assert_ok!(ask(seats[0], group, &[ROWS]));
		}
		tick_until(is_rescue);
		assert_ok!(upload(TRAINERS[1], TRAINERS[1], 1, BLOB));
		// The other one's time is not over.
		assert!(Progressed::get().is_empty());
		tick_until(is_committing);
		let open: Vec<_> = view().groups.iter().map(|group| group.decision).collect();
		assert_eq!(open, vec![Some(Decision::Unavailable), None, None]);
		assert_noop!(ask(seats[1], 0, &[ROWS]), Error::<Test>::NoSuchGroup);
		round(&vec![Act::Speak(vec![Say::Gone, Say::Yes, Say::No]); 3]);
		convict(disputes()[0], true);
		let decisions = vec![Decision::Unavailable, Decision::Accepted, Decision::Rejected];
		assert_eq!(finish(), (decisions, seats));
	});
}
