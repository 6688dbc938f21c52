//! Sharing out of slashed deposits, and payments that cannot be delivered.

use crate::{lost_deposit, mock::*, Event, SlashShares, TotalBurned};
use frame_support::assert_ok;
use proptest::prelude::*;
use trainyard_primitives::{
	audit::Decision,
	job::{Balance, Fate, Terms},
};

#[test]
fn slashed_money_is_shared_by_rule() {
	let shares = |slashed, loss, services| {
		let s = SlashShares::of(slashed, loss, services);
		(s.submitter, s.per_service, s.jackpot)
	};
	// Nobody lost and nobody served.
	assert_eq!(shares(100, 0, 0), (0, 0, 100));
	// Half to those who served, half to the jackpot.
	assert_eq!(shares(100, 0, 2), (0, 25, 50));
	// What does not divide goes to the jackpot.
	assert_eq!(shares(101, 0, 3), (0, 16, 53));
	// The submitter comes first, and gets its loss at most.
	assert_eq!(shares(100, 30, 1), (30, 35, 35));
	assert_eq!(shares(100, 100, 1), (100, 0, 0));
	assert_eq!(shares(100, 200, 1), (100, 0, 0));
	assert_eq!(shares(0, 10, 1), (0, 0, 0));
	assert_eq!(shares(Balance::MAX, 0, 1), (0, Balance::MAX / 2, Balance::MAX / 2 + 1));
}

#[test]
fn fates_cost_what_they_deserve() {
	for fate in [Fate::NotCommitted, Fate::NotRevealed, Fate::ModelMissing, Fate::Rejected] {
		assert_eq!(lost_deposit(fate, 103), 103);
	}
	assert_eq!(lost_deposit(Fate::Unavailable, 103), 25);
	for fate in [Fate::Working, Fate::Accepted, Fate::Undecided, Fate::Agreed] {
		assert_eq!(lost_deposit(fate, 103), 0);
	}
}

proptest! {
	#[test]
	fn shares_add_up(slashed in any::<u128>(), loss in any::<u128>(), services in 0u32..200) {
		let s = SlashShares::of(slashed, loss, services);
		let verifiers = s.per_service.checked_mul(Balance::from(services)).unwrap();
		prop_assert_eq!(
			s.submitter.checked_add(verifiers).unwrap().checked_add(s.jackpot),
			Some(slashed)
		);
		prop_assert!(s.submitter <= loss);
		prop_assert!(s.jackpot >= verifiers);
	}

	/// A cheat's deposit pays all audit fees that the submitter can have paid, whatever the
	/// terms: a rejected job costs the submitter nothing.
	#[test]
	fn a_deposit_covers_every_audit_fee(
		price in 1u128..1_000_000_000_000, fee in 100u128..1_000_000_000, verifiers in 1u32..=16,
	) {
		let spec = trainyard_primitives::spec::JobSpec::example();
		let terms = Terms { price_per_ut: price, audit_fee: fee, verifiers, ..terms(1) };
		let quote = TaskMarket::checked_quote(&spec, &terms).unwrap();
		let fees = fee * Balance::from(verifiers) * 3;
		prop_assert!(lost_deposit(Fate::Rejected, quote.deposit) >= fees);
		prop_assert!(quote.escrow == quote.price + quote.fee + fees);
	}
}

/// A job whose only verifier is an account that does not exist, for a fee that is too small
/// to make it exist.
fn job_with_unpayable_verifier() -> u32 {
	let id = post_with(SUBMITTER, Terms { audit_fee: 100, ..terms(1) });
	apply(id, &[11]);
	run_to_state(id, trainyard_primitives::job::JobState::Training);
	commit(id, 11);
	run_to_state(id, trainyard_primitives::job::JobState::Revealing);
	reveal(id, 11, 1);
	run_to_state(id, trainyard_primitives::job::JobState::Auditing);
	decide(id, &[Decision::Accepted], &[500]);
	run_to_end(id);
	id
}

#[test]
fn what_cannot_be_delivered_goes_to_the_jackpot() {
	run(|| {
		assert_ok!(Balances::transfer_keep_alive(RuntimeOrigin::signed(OTHER), JACKPOT, ED));
		let id = job_with_unpayable_verifier();
		assert_eq!((free(500), free(JACKPOT)), (0, ED + 100));
		let diverted = Event::Diverted { job: id, recipient: 500, amount: 100, burned: false };
		assert!(events().contains(&diverted));
		assert_eq!(TotalBurned::<Test>::get(), job(id).quote.fee);
		assert_eq!(job(id).settlement.paid_to_verifiers, 100, "booked under its purpose");
	});
}

#[test]
fn what_not_even_the_jackpot_can_take_is_burned() {
	run(|| {
		let id = job_with_unpayable_verifier();
		assert_eq!((free(500), free(JACKPOT)), (0, 0));
		let diverted = Event::Diverted { job: id, recipient: 500, amount: 100, burned: true };
		assert!(events().contains(&diverted));
		assert_eq!(TotalBurned::<Test>::get(), job(id).quote.fee + 100);
	});
}

#[test]
fn a_submitter_with_nothing_left_but_its_escrow_is_refunded() {
	run(|| {
		let id = post(1);
		let origin = RuntimeOrigin::signed(SUBMITTER);
		assert_ok!(Balances::transfer_all(origin, OTHER, false));
		assert_eq!(free(SUBMITTER), ED, "the hold keeps the account alive");
		run_to_end(id);
		assert_eq!(free(SUBMITTER), ED + job(id).quote.escrow);
	});
}
