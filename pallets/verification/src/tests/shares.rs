//! How much of the list of a result somebody has: nobody fills it for others.

use super::{
	claims::price,
	rescues::{seated, withdraw, BLOB},
};
use crate::{mock::*, Asked, AuditRecords, Claims, Error, Group, Kept, FREE_PIECES};
use core::ops::Range;
use frame_support::{assert_noop, assert_ok};
use trainyard_protocol::{
	audit::Decision,
	duties,
	pieces::{is_read, seat_share, Piece, LATE_PIECES, MAX_PIECES, SEAT_PIECES},
	vrf,
};
use trainyard_traits::Audited;

/// Segments of a result with more states than a list has room for.
const LONG: u32 = 120;
/// The share of one of three seats.
const SHARE: u32 = SEAT_PIECES / 3;
/// Somebody without a seat.
const STRANGER: AccountId = VERIFIERS[5];

fn states(range: Range<u32>) -> Vec<Piece> {
	range.map(Piece::State).collect()
}

fn group() -> Group<AccountId> {
	AuditRecords::<Test>::get(JOB).unwrap().groups[0].clone()
}

fn change(change: impl FnOnce(&mut Group<AccountId>)) {
	AuditRecords::<Test>::mutate(JOB, |audit| change(&mut audit.as_mut().unwrap().groups[0]));
}

/// Three seats that can commit to what they find of a long result.
fn long() -> Vec<AccountId> {
	bonded(3);
	let mut request = request(1, 3);
	let (result, _) = long_result(LONG, TRAINERS[0]);
	request.groups[0].0 = result.common();
	request.groups[0].1[0].bundle_root = result.bundle_root;
	open_with(request);
	tick_until(is_committing);
	committee()
}

/// The trainer answers with all that is asked for.
fn store_all() {
	tick_until(is_rescue);
	change(|group| group.asked.iter_mut().for_each(|asked| asked.answer(0)));
	Due::set(Some(0));
	tick_until(|phase| !is_rescue(phase));
}

/// A friend of a cheat that stores whatever the friend asks for fills its own share, and nobody else's.
#[test]
fn a_seat_takes_no_room_of_another() {
	run(|| {
		let seats = long();
		assert_eq!(seat_share(3), SHARE);
		for many in [MAX_PIECES, SHARE + 1] {
			assert_noop!(ask(seats[0], 0, &states(0..many)), Error::<Test>::TooManyPieces);
		}
		for (who, from) in seats.iter().zip([0, SHARE]).take(2) {
			assert_ok!(ask(*who, 0, &states(from..from + SHARE)));
			store_all();
			assert_eq!(group().asked.len() as u32, from + SHARE);
			// Not one more, whether it is in the list or not.
			for piece in [Piece::State(LONG - 1), Piece::Tensor { checkpoint: 0, index: 0 }] {
				assert_noop!(ask(*who, 0, &[piece]), Error::<Test>::TooManyPieces);
			}
		}
		// What everybody reads is in nobody's share.
		let common = [Piece::Leaves, SIZES.all_rows(), Piece::State(LONG)];
		assert_ok!(ask(seats[1], 0, &common));
		// The third has all of its own, beside that.
		let mut own = states(2 * SHARE..LONG);
		let tensor = |at: u32| Piece::Tensor { checkpoint: at, index: 0 };
		own.extend((0..3 * SHARE - LONG).map(tensor));
		assert_eq!(own.len() as u32, SHARE);
		assert_ok!(ask(seats[2], 0, &own));
		assert_eq!(group().asked.len() as u32, 3 * SHARE + 3);
	});
}

/// What a seat had from others takes nothing of its share.
#[test]
fn what_is_withdrawn_takes_no_room() {
	run(|| {
		let seats = long();
		assert_ok!(ask(seats[1], 0, &states(0..SHARE)));
		assert_ok!(ask(seats[0], 0, &states(0..SHARE)));
		assert_ok!(withdraw(seats[0], 0));
		store_all();
		let audit = AuditRecords::<Test>::get(JOB).unwrap();
		assert!(Verification::named(JOB, &audit, &seats[0], 0).is_empty());
		assert_ok!(ask(seats[0], 0, &states(SHARE..2 * SHARE)));
	});
}

/// Of ranges of rows a committee has four, beside all rows.
#[test]
fn ranges_are_few() {
	run(|| {
		let seats = seated(1);
		let range = |from: u32| Piece::Rows { from, to: from + 1 };
		let four: Vec<Piece> = (0..4).map(range).collect();
		assert_ok!(ask(seats[0], 0, &four));
		assert_noop!(ask(seats[1], 0, &[range(4)]), Error::<Test>::TooManyPieces);
		assert_ok!(ask(seats[1], 0, &[range(3)]));
		assert_ok!(ask(seats[2], 0, &[SIZES.all_rows()]));
	});
}

/// Whatever friends asked for in one round, the next one has the whole list.
#[test]
fn another_committee_begins_with_an_empty_list() {
	run(|| {
		let seats = seated(1);
		let pieces = everything();
		assert_ok!(ask(seats[0], 0, &pieces));
		tick_until(is_rescue);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		assert_noop!(ask(seats[1], 0, &pieces), Error::<Test>::IsStored);
		assert_eq!(view().groups[0].stored, pieces);
		round(&vec![Act::Vanish; 3]);
		tick_until(is_committing);
		assert_eq!((view().round, view().groups[0].stored.clone()), (1, vec![]));
		assert!(Expected::get().is_empty() && Kept::<Test>::iter().count() == 0);
		let seat = committee()[0];
		assert_ok!(ask(seat, 0, &pieces));
		// It is there, so the trainer is paid for the leaves alone.
		tick_until(is_rescue);
		let money = Balances::free_balance(TRAINERS[0]);
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		assert_eq!(Balances::free_balance(TRAINERS[0]), money + price(&[Piece::Leaves]) / 2);
	});
}

/// However much a committee asked for, those who ask while results stand have room of their own.
#[test]
fn what_seats_asked_for_takes_no_room_of_strangers() {
	run(|| {
		bonded(3);
		open(1, 3);
		unanimous(Say::Yes);
		change(|group| {
			for at in 0..SEAT_PIECES {
				let piece = Piece::Tensor { checkpoint: 1_000 + at, index: 0 };
				let asked = Asked { stored: true, ..Asked::new(piece, 1, false) };
				group.asked.try_push(asked).unwrap();
			}
		});
		assert_ok!(ask(STRANGER, 0, &[Piece::Leaves, Piece::State(3)]));
		store_all();
		assert_eq!((group().asked.len() as u32, group().late), (SEAT_PIECES + 2, 1));
		assert_eq!(finish().0, [Decision::Accepted]);
	});
}

/// Pieces that are asked for while results stand never fill the list: the oldest are let go, and each further
/// one is dearer.
#[test]
fn strangers_find_room_however_much_was_stored() {
	run(|| {
		bonded(3);
		open(1, 3);
		unanimous(Say::Yes);
		let stores = || {
			tick_until(is_rescue);
			assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
			tick_until(is_standing);
		};
		let tensors = (0..=SEGMENTS)
			.flat_map(|checkpoint| (0..2).map(move |index| Piece::Tensor { checkpoint, index }));
		let first: Vec<Piece> = states(0..SEGMENTS).into_iter().chain(tensors).collect();
		assert_eq!(first.len() as u32, LATE_PIECES);
		let part = CHALLENGE / 16;
		let dear: u128 = (1..=u128::from(LATE_PIECES - FREE_PIECES)).sum();
		let too_little = pledge(STRANGER, 0, &first, dear * part - 1);
		assert_eq!(too_little, Err(Error::<Test>::PledgeTooSmall.into()));
		let range = |from: u32| Piece::Rows { from, to: from + 1 };
		let mut too_many = vec![range(0)];
		too_many.extend(&first);
		assert_noop!(pledge(STRANGER, 0, &too_many, 50_000), Error::<Test>::TooManyPieces);
		assert_ok!(pledge(STRANGER, 0, &first, dear * part));
		// The list is full as long as these are asked for.
		assert_noop!(ask(VERIFIERS[4], 0, &[range(0)]), Error::<Test>::TooManyPieces);
		stores();
		assert_eq!(view().groups[0].stored, first);
		let awaited = Expected::get().len();
		assert_eq!(awaited as u32, LATE_PIECES);
		// Three more let the first three go. What everybody reads lets nothing go, and costs nothing.
		let more: Vec<Piece> = (0..3).map(range).collect();
		assert_noop!(pledge(STRANGER, 0, &more, 53 * part), Error::<Test>::PledgeTooSmall);
		assert_ok!(pledge(STRANGER, 0, &more, (17 + 18 + 19) * part));
		assert_ok!(ask(VERIFIERS[4], 0, &[Piece::Leaves]));
		stores();
		let left: Vec<Piece> = first[3..].iter().chain(&more).copied().collect();
		let mut stored = view().groups[0].stored.clone();
		stored.retain(|piece| *piece != Piece::Leaves);
		assert_eq!((stored, group().late), (left, LATE_PIECES + 3));
		// Each range is in the blobs of inputs and labels.
		assert_eq!(Expected::get().len(), awaited - 3 + 3 * 2);
		// What was let go stays what its trainer said that it is: of garbage it is accused all the same.
		assert!(Verification::stored(JOB, &TRAINERS[0], &of_state(BLOB, 0), 0));
		assert!(!Verification::stored(JOB, &TRAINERS[0], &of_state(BLOB, 1), 0));
		assert!(Verification::stored(JOB, &TRAINERS[0], &of_state(BLOB, 3), 3));
		// What was let go can be asked for again.
		assert_noop!(
			pledge(STRANGER, 0, &first[..1], 20 * part - 1),
			Error::<Test>::PledgeTooSmall
		);
		assert_ok!(pledge(STRANGER, 0, &first[..1], 20 * part));
		stores();
		assert!(Verification::stored(JOB, &TRAINERS[0], &of_state(BLOB, 0), 0));
		assert_eq!(finish().0, [Decision::Accepted]);
		assert!(Expected::get().is_empty());
	});
}

/// A seat that used up its share could not ask for what it still lacks, so it is heard, and has back what it
/// paid for what its draws read. One that could ask pays for its silence.
#[test]
fn who_used_up_its_share_is_heard() {
	run(|| {
		let seats = long();
		let own = |who: AccountId, seat: usize| {
			let (_, output) = draw_of(who);
			vrf::own_segments(&output, 0, LONG, duties::own_draws(2, seat))
		};
		let result = view().groups[0].result;
		let read = |seat: usize| {
			let segments = own(seats[seat], seat);
			let of = move |piece: &Piece| is_read(piece, &segments, &result);
			states(0..LONG).into_iter().partition::<Vec<_>, _>(of)
		};
		let (reads, others) = read(0);
		let mut all: Vec<Piece> =
			reads.iter().chain(&others).copied().take(SHARE as usize).collect();
		all.sort();
		assert_ok!(ask(seats[0], 0, &all));
		let (reads_1, others_1) = read(1);
		let mut one_less: Vec<Piece> =
			reads_1.iter().chain(&others_1).copied().take(SHARE as usize - 1).collect();
		one_less.sort();
		assert_ok!(ask(seats[1], 0, &one_less));
		// No states, so it asked for next to nothing.
		let tensor = |at: u32| Piece::Tensor { checkpoint: at, index: 0 };
		assert_ok!(ask(seats[2], 0, &(0..SHARE).map(tensor).collect::<Vec<_>>()));
		store_all();
		// What trainers had of it.
		for who in &seats {
			Claims::<Test>::mutate(JOB, who, |claims| claims[0].paid = 420);
		}
		let plan: Vec<Said> = seats.iter().map(|who| say(*who, &[Say::Gone])).collect();
		for (who, said) in seats.iter().zip(&plan) {
			assert_ok!(commit(*who, said));
		}
		tick_until(is_revealing);
		for (who, said) in seats.iter().zip(&plan) {
			assert_ok!(reveal(*who, said));
		}
		let back = 420 * reads.len() as u128 / u128::from(SHARE);
		let owed = AuditRecords::<Test>::get(JOB).unwrap().owed.into_inner();
		assert_eq!(owed, [(seats[0], back)]);
		tick();
		let paid: Vec<u128> = seats.iter().map(|who| BOND - bond_of(*who)).collect();
		assert_eq!(paid, [0, ABSENCE, ABSENCE]);
		assert_eq!(view().round, 1, "nobody gave evidence");
	});
}
