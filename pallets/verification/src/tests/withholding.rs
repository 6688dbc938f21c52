//! What withholding leaves to a trainer, and asking to a seat: the table in docs/protocol.md.

use super::rescues::{prepaid, withdraw, BLOB};
use crate::mock::*;
use frame_support::assert_ok;
use trainyard_protocol::{
	audit::Decision,
	pieces::{is_read, Piece},
};
use trainyard_traits::AuditRequest;

const PROTOCOL: &str = include_str!("../../../../docs/protocol.md");

/// What somebody does about the result of a trainer that gives it nothing, or everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seat {
	/// It asks, gets it, and withdraws this many claims.
	Withdraws(u32),
	/// It asks for what its draws read, and commits when that is stored.
	Waits,
	/// It asks for something that they do not read, and commits when that is stored.
	Curious,
	/// It asks for what they read, and does nothing more.
	Vanishes,
	/// It asks for nothing and says that the result is unavailable.
	Complains,
	/// It has no seat, and asks while results stand.
	Stranger,
}

/// Plays a round in which the first of three seats, or a stranger, does `seat`, the others reveal, and the
/// trainer stores what is asked for or not. Returns the row of the table: what trainer, seat and escrow
/// are left with, in prices of the bytes.
fn row(seat: Seat, stores: bool) -> String {
	let mut shown = String::new();
	run(|| {
		bonded(3);
		open_with(AuditRequest { storage: u128::MAX, ..request(1, 3) });
		tick_until(is_committing);
		let seats = committee();
		let who = if seat == Seat::Stranger { VERIFIERS[5] } else { seats[0] };
		let (segments, result) = (wanted(seats[0], 0), result_of(TRAINERS[0]));
		let reads = |piece: &Piece| is_read(piece, &segments, &result);
		let mut pieces = everything();
		pieces.retain(|piece| reads(piece) != (seat == Seat::Curious));
		let bytes = SIZES.sum(pieces.iter().copied(), &result, &TENSORS);
		let price = u128::from(bytes) * BYTE;
		let (bond, money) = (bond_of(who), Balances::free_balance(who));
		let trainer = Balances::free_balance(TRAINERS[0]);
		let yes = speak(Say::Yes);
		let mut first = yes.clone();
		let mut paid = 0;
		match seat {
			Seat::Withdraws(times) => {
				for _ in 0..times {
					assert_ok!(ask(who, 0, &pieces));
					assert_ok!(withdraw(who, 0));
				}
			}
			Seat::Complains => first = speak(Say::Gone),
			Seat::Waits | Seat::Curious | Seat::Vanishes | Seat::Stranger => {
				if seat == Seat::Stranger {
					round(&vec![yes.clone(); 3]);
				}
				assert_ok!(ask(who, 0, &pieces));
				tick_until(is_rescue);
				if stores {
					assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
					// The fees of its chunks.
					paid = price;
				}
				tick_until(|phase| !is_rescue(phase));
				if seat == Seat::Vanishes {
					first = Act::Vanish;
				}
			}
		}
		if is_committing(&view().phase) {
			round(&[first, yes.clone(), yes]);
		}
		let (decisions, served) = finish();
		let lost = decisions == [Decision::Unavailable];
		assert_eq!(decisions[0].is_true(), !lost);
		let owed: u128 = Owed::get().iter().map(|(_, amount)| amount).sum();
		assert_eq!(prepaid(who), 0);
		let part = |amount: u128| match amount {
			0 => "0".to_owned(),
			half if half == price / 2 => "P / 2".to_owned(),
			other => panic!("{other} of {price}"),
		};
		let cost = paid - (Balances::free_balance(TRAINERS[0]) - trainer);
		let cost = if lost { "the deposit".to_owned() } else { part(cost) };
		let seat_paid = part(money - Balances::free_balance(who) - owed);
		let fee = match (served.contains(&who), bond - bond_of(who)) {
			(true, 0) => "the fee",
			(false, 0) => "no fee",
			(false, ABSENCE) => "loses five fees",
			other => panic!("{other:?}"),
		};
		shown = format!("{cost} | {seat_paid} | {fee} | {} |", part(owed));
	});
	shown
}

#[test]
fn the_table_in_the_docs_is_what_is_left_to_each() {
	for (case, seat, stores) in [
		("it withholds from a seat, which gets it from another one", Seat::Withdraws(1), false),
		("it withholds from one seat or from all, and stores when it must", Seat::Waits, true),
		("it withholds from one seat or from all, and stores nothing", Seat::Waits, false),
		("it serves everybody; a seat asks twice for what was there", Seat::Withdraws(2), false),
		("it serves everybody; a seat waits until everything is stored", Seat::Waits, true),
		("it serves everybody; a seat asks for what its draws do not read", Seat::Curious, true),
		("it serves everybody; a seat asks for everything and vanishes", Seat::Vanishes, true),
		("it withholds from a seat, which asks for nothing", Seat::Complains, false),
		("somebody without a seat asks while results stand, and it stores", Seat::Stranger, true),
		("somebody without a seat asks, and it stores nothing", Seat::Stranger, false),
	] {
		let row = format!("| {case} | {}", row(seat, stores));
		println!("{row}");
		assert!(PROTOCOL.contains(&row), "docs/protocol.md lacks {row}");
	}
}
