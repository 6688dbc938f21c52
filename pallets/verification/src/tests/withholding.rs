//! What withholding leaves to a trainer, and asking to a seat: the table in docs/protocol.md.

use crate::{mock::*, HoldReason, H256};
use frame_support::{assert_ok, traits::fungible::InspectHold};
use trainyard_protocol::audit::Decision;

const PROTOCOL: &str = include_str!("../../../../docs/protocol.md");
const BLOB: H256 = H256([77; 32]);

/// What one seat does about the result of a trainer that gives it nothing, or everything.
#[derive(Clone, Copy, Debug)]
enum Seat {
	/// It asks, gets it, and withdraws this many claims.
	Withdraws(u32),
	/// It asks, and commits when it is stored.
	Waits,
	/// It asks, and does nothing more.
	Vanishes,
	/// It asks for nothing and says that the result is unavailable.
	Complains,
}

/// Plays a round in which the first of three seats does `seat`, the others accept, and the trainer
/// stores what is asked for or not. Returns the row of the table: what trainer, seat and escrow are
/// left with, in prices of the bytes; and the decision.
fn row(seat: Seat, stores: bool) -> String {
	let mut shown = String::new();
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let (who, pieces) = (committee()[0], everything(0));
		let bytes = SIZES.sum(pieces.iter().copied(), SEGMENTS);
		let price = u128::from(bytes) * BYTE;
		BlobSize::set(bytes);
		let bond = bond_of(who);
		let money = Balances::free_balance(who);
		let trainer = Balances::free_balance(TRAINERS[0]);
		let mut paid = 0;
		match seat {
			Seat::Withdraws(times) => {
				for _ in 0..times {
					assert_ok!(ask(who, 0, &pieces));
					let signed = RuntimeOrigin::signed(who);
					assert_ok!(Verification::withdraw_request(signed, JOB, 0));
				}
			}
			Seat::Waits | Seat::Vanishes => {
				assert_ok!(ask(who, 0, &pieces));
				tick_until(is_rescue);
				if stores {
					assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
					// The fees of its chunks.
					paid = price;
					tick_until(is_committing);
				}
			}
			Seat::Complains => {}
		}
		if Outcome::get().is_none() && (stores || !matches!(seat, Seat::Waits | Seat::Vanishes)) {
			let yes = Act::Speak(vec![Say::Yes(1)]);
			let first = match seat {
				Seat::Vanishes => Act::Vanish,
				Seat::Complains => Act::Speak(vec![Say::Gone]),
				_ => yes.clone(),
			};
			round(&[first, yes.clone(), yes]);
		}
		while Outcome::get().is_none() {
			tick();
		}
		let (decisions, served) = Outcome::get().unwrap();
		let lost = decisions == [Decision::Unavailable];
		let owed: u128 = Owed::get().iter().map(|(_, amount)| amount).sum();
		assert_eq!(Balances::balance_on_hold(&HoldReason::Claim.into(), &who), 0);
		let part = |amount: u128| match amount {
			0 => "0".to_owned(),
			all if all == price => "P".to_owned(),
			half if half == price / 2 => "P / 2".to_owned(),
			other => panic!("{other} of {price}"),
		};
		let cost = paid - owed - (Balances::free_balance(TRAINERS[0]) - trainer);
		let cost = if lost { "the deposit".to_owned() } else { part(cost) };
		let seat_paid = part(money - Balances::free_balance(who));
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
		("it serves everybody; a seat asks once for what was there", Seat::Withdraws(1), false),
		("it serves everybody; a seat asks twice for what was there", Seat::Withdraws(2), false),
		("it serves everybody; a seat waits until everything is stored", Seat::Waits, true),
		("it serves everybody; a seat asks for everything and vanishes", Seat::Vanishes, true),
		("it withholds from a seat, which asks for nothing", Seat::Complains, false),
	] {
		let row = format!("| {case} | {}", row(seat, stores));
		println!("{row}");
		assert!(PROTOCOL.contains(&row), "docs/protocol.md lacks {row}");
	}
}
