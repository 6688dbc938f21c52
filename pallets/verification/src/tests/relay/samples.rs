//! Samples of all states, which no block carries: refusing to open them is no way to hide a jump.

use super::*;
use trainyard_protocol::relay::PRICE_PART;

/// What a seat earns, by the price of the job.
const FEE: u128 = 3;
const OF_ALL: u128 = FEE * SEATS as u128;

fn priced(storage: u128) -> AuditRequest<AccountId> {
	AuditRequest { price: FEE * PRICE_PART, storage, ..request(1, 3) }
}

fn ask_samples(who: AccountId) -> sp_runtime::DispatchResult {
	ask_relay_of(who, Piece::Samples, u128::MAX)
}

/// A trainer that opens its states to nobody loses its result, though each state is on chain where somebody asks
/// for it; and a seat has back what it paid to find that.
#[test]
fn who_opens_samples_to_nobody_loses_its_result() {
	run(|| {
		let seats = sampled_of(priced(STORAGE), &[Say::Yes; 3]);
		mint(seats[1], ENDOWMENT);
		let before = free(seats[1]);
		assert_ok!(ask_samples(seats[1]));
		assert_eq!(for_relays(seats[1]), OF_ALL);
		vote(0, MOST - 1);
		assert!(is_serving(&relay_of(0).stage));
		vote(0, MOST - 1);
		assert!(is_lacking(&relay_of(0).stage));
		relay_over(0);
		ended(Some(false));
		let lacked = FEE * (SEATS as u128 - (MOST as u128 - 1));
		assert_eq!(free(seats[1]), before - lacked);
		assert_eq!(finish().0, [Decision::Unavailable]);
		assert_eq!(Owed::get(), [(seats[1], lacked)]);
	});
}

/// The places are drawn when the states are long committed to, with the first committee, and stay: what seats
/// fetched is not fetched again after a vote, nor by those whom a doubt calls.
#[test]
fn samples_are_read_at_places_that_the_first_committee_draws() {
	run(|| {
		sampled_of(priced(STORAGE), &[Say::Yes; 3]);
		assert_ok!(ask_samples(ASKER));
		assert_eq!(relay_view(0).places, None);
		relay_until(0, is_saying);
		let places = relay_view(0).places.expect("there is a committee");
		let seats = relay_seats(0);
		for who in &seats {
			assert_ok!(say_of(*who, 0, true));
		}
		relay_until(0, is_showing);
		let (who, number) = (seats[0], due_of(seats[0], 0).unwrap());
		let result = result_of(TRAINERS[0]);
		let show = |opening| Verification::show_chunk(RuntimeOrigin::signed(who), 0, opening);
		let elsewhere = sample_of(&result, trainyard_protocol::H256([1; 32]), number);
		assert_noop!(show(elsewhere), Error::<Test>::WrongChunk);
		assert_noop!(show(chunk_of(&result, PIECE, number)), Error::<Test>::WrongChunk);
		assert_ok!(show(sample_of(&result, places, number)));
		for who in &seats[1..] {
			assert_ok!(show_due(*who, 0));
		}
		relay_until(0, is_held);
		appeal(DOUBTER);
		relay_until(0, is_saying);
		assert_ne!(relay_seats(0), seats);
		assert_eq!(relay_view(0).places, Some(places));
		vote(0, APPEAL_SEATS as usize);
		relay_over(0);
		ended(Some(true));
		assert_eq!(finish().0, [Decision::Accepted]);
	});
}

/// The seats that pick by samples have the fees back of a committee that found them held: they had to ask,
/// wherever the trainer showed them to others. Nobody else has.
#[test]
fn who_picks_by_samples_has_its_fees_back() {
	let kept = FEE * u128::from(LACKING_SEATS);
	for (at, storage, back) in [
		(Some(0), kept + OF_ALL, 0),
		(Some(1), kept + OF_ALL, OF_ALL),
		(Some(2), kept + OF_ALL, OF_ALL),
		(Some(1), kept + 9 * OF_ALL, OF_ALL),
		(Some(2), kept + 7, 7),
		(Some(2), kept, 0),
		(None, kept + OF_ALL, 0),
	] {
		run(|| {
			let seats = sampled_of(priced(storage), &[Say::Yes; 3]);
			let asker = at.map_or(ASKER, |at: usize| seats[at]);
			mint(asker, ENDOWMENT);
			assert_ok!(ask_samples(asker));
			vote(0, SEATS as usize);
			relay_over(0);
			let audit = AuditRecords::<Test>::get(JOB).unwrap();
			let owed: u128 = audit.owed.iter().map(|(_, amount)| *amount).sum();
			assert_eq!(owed, back, "{at:?} {storage}");
		});
	}
}

/// A seat that revealed nothing picked nothing.
#[test]
fn who_revealed_nothing_has_no_fees_back() {
	run(|| {
		let yes = || speak(Say::Yes);
		let seats = sampled_after(priced(u128::MAX), &[yes(), Act::Vanish, yes()]);
		mint(seats[1], ENDOWMENT);
		assert_ok!(ask_samples(seats[1]));
		vote(0, SEATS as usize);
		relay_over(0);
		assert!(AuditRecords::<Test>::get(JOB).unwrap().owed.is_empty());
	});
}

/// Samples say nothing of a state: who said that it could not have one pays where nobody asked for that.
#[test]
fn samples_are_no_relay_of_what_is_large() {
	for (piece, pays) in [(Piece::Samples, true), (PIECE, false)] {
		run(|| {
			MaxRescue::set(SIZES.state - 1);
			let seats = sampled_of(priced(STORAGE), &[Say::Yes, Say::Yes, Say::Gone]);
			let before = bond_of(seats[2]);
			assert_ok!(ask_relay_of(ASKER, piece, u128::MAX));
			vote(0, SEATS as usize);
			relay_over(0);
			finish();
			assert_eq!(bond_of(seats[2]) < before, pays, "{piece:?}");
		});
	}
}

/// They have no root by which a block could bring them.
#[test]
fn samples_are_not_claimed() {
	run(|| {
		let seats = sampled_of(priced(STORAGE), &[Say::Yes; 3]);
		for who in [seats[1], ASKER] {
			let pieces = vec![Piece::Samples].try_into().unwrap();
			let origin = RuntimeOrigin::signed(who);
			let asked = Verification::request(origin, JOB, 0, pieces, 0);
			assert_noop!(asked, Error::<Test>::OnlyRelayed);
		}
		assert_noop!(ask_relay(ASKER), Error::<Test>::FitsOnChain);
		assert_eq!(Claims::<Test>::iter().count(), 0);
	});
	run(|| {
		large_state();
		assert_noop!(ask_samples(ASKER), Error::<Test>::NoSuchPiece);
	});
}

/// Many cheap relays make a dear one no dearer than they cost.
#[test]
fn each_relay_makes_the_next_dearer_by_its_own_cost() {
	run(|| {
		MaxRescue::set(SIZES.state - 1);
		sampled_of(priced(STORAGE), &[Say::Yes; 3]);
		for id in 0..2u32 {
			let price = OF_ALL * u128::from(id + 1);
			assert_noop!(
				ask_relay_of(ASKER, Piece::Samples, price - 1),
				Error::<Test>::RelayTooDear
			);
			assert_ok!(ask_relay_of(ASKER, Piece::Samples, price));
			vote(id, SEATS as usize);
			relay_over(id);
		}
		assert_eq!(HeldRelays::<Test>::get(JOB, 0), 2 * OF_ALL);
		let price = ALL + 2 * OF_ALL;
		let cheap = ask_relay_of(ASKER, PIECE, price - 1);
		assert_noop!(cheap, Error::<Test>::RelayTooDear);
		assert_ok!(ask_relay_of(ASKER, PIECE, price));
		// It runs, and counts as if it had found it held.
		let price = OF_ALL + 2 * OF_ALL + ALL;
		let cheap = ask_relay_of(DOUBTER, Piece::Samples, price - 1);
		assert_noop!(cheap, Error::<Test>::RelayTooDear);
		assert_ok!(ask_relay_of(DOUBTER, Piece::Samples, price));
	});
}

/// Whoever claims pieces cannot use up what is due to whoever asks rightly for samples.
#[test]
fn refunds_of_claims_leave_what_relays_of_samples_may_cost() {
	run(|| {
		let kept = FEE * u128::from(LACKING_SEATS);
		sampled_of(priced(kept + 3), &[Say::Yes; 3]);
		let audit = AuditRecords::<Test>::get(JOB).unwrap();
		assert_eq!(Verification::kept_for_relays(&audit), kept);
		let short = crate::AuditOf::<Test> {
			groups: audit
				.groups
				.iter()
				.cloned()
				.map(|mut group| {
					group.result.segments = 2;
					group
				})
				.collect::<Vec<_>>()
				.try_into()
				.unwrap(),
			..audit
		};
		assert_eq!(Verification::kept_for_relays(&short), 0, "nothing is picked of it");
	});
}
