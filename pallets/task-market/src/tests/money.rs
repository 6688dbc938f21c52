//! Sharing out of slashed deposits, and payments that cannot be delivered.

use crate::{lost_deposit, mock::*, Event, TotalBurned};
use frame_support::assert_ok;
use proptest::prelude::*;
use trainyard_program::needs::Needs;
use trainyard_protocol::{
	audit::Decision,
	duties,
	fees::LostShares,
	job::{Balance, Fate, Terms},
	relay::PRICE_PART,
};

const FEE: Balance = 10_000;

#[test]
fn fates_cost_what_they_deserve() {
	for fate in [
		Fate::NotCommitted,
		Fate::NotRevealed,
		Fate::ModelMissing,
		Fate::Unavailable,
		Fate::Rejected,
	] {
		assert_eq!(lost_deposit(fate, 103), 103);
	}
	for fate in [Fate::Working, Fate::Accepted, Fate::Undecided, Fate::Agreed] {
		assert_eq!(lost_deposit(fate, 103), 0);
	}
}

proptest! {
	#[test]
	fn shares_add_up(
		lost in any::<u128>(), loss in any::<u128>(), proven in any::<bool>(), challenge in any::<u128>(),
	) {
		for s in [
			LostShares::of(lost, loss, proven, challenge),
			LostShares::withheld(lost, loss),
			LostShares::unburned(lost, loss),
		] {
			let parts = [s.submitter, s.burned, s.finder, s.jackpot];
			let sum = parts.into_iter().try_fold(0u128, |sum, part| sum.checked_add(part));
			prop_assert_eq!(sum, Some(lost));
			prop_assert!(s.submitter <= loss && s.finder <= s.burned);
		}
	}

	/// A cheat's deposit pays all audit fees that the submitter can have paid, whatever the
	/// terms: a job that is rejected or cannot be had costs the submitter nothing.
	#[test]
	fn a_deposit_covers_every_audit_fee(
		price in 1u128..1_000_000, fee in 2_500u128..=10_000, half in 1u32..8,
	) {
		let verifiers = 2 * half + 1;
		let spec = noisy();
		let terms = Terms { price_per_ut: price, audit_fee: fee, verifiers, ..terms(1) };
		let quote =
			new_test_ext().execute_with(|| TaskMarket::checked_quote(&spec, &terms)).unwrap();
		let fees = fee * Balance::from(verifiers) * 3;
		for fate in [Fate::Rejected, Fate::Unavailable] {
			prop_assert!(lost_deposit(fate, quote.deposit) >= fees);
		}
		prop_assert!(quote.escrow == quote.price + quote.fee + fees + quote.storage);
	}

	/// The stake is three times what a replica is worth, however many segments there are: the price, or the
	/// power, which is worth four times the fee at most.
	#[test]
	fn a_deposit_does_not_grow_with_the_segments(
		price in 1u128..1_000_000_000_000, interval in 1u32..=1_500,
	) {
		let mut spec = trainyard_program::spec::JobSpec::noisy_example();
		spec.training.checkpoint_interval = interval;
		let audit_segments = duties::least_draws(spec.segments(), 3);
		let terms = Terms { price_per_ut: price, audit_segments, ..terms(1) };
		let (terms, quote) = new_test_ext().execute_with(|| {
			let terms = with_least_fee(&spec, terms);
			let quote = TaskMarket::checked_quote(&spec.check().unwrap(), &terms).unwrap();
			(terms, quote)
		});
		let worth = quote.price.max(4 * quote.fee);
		prop_assert_eq!(quote.deposit, (3 * worth).max(50_000) + 9 * terms.audit_fee);
	}
}

/// A fee that does not make an account exist, and pays for what is replayed.
const UNPAYABLE: Balance = ED - 1;

/// A job whose only verifier is an account that does not exist, for a fee that is too small
/// to make it exist.
fn job_with_unpayable_verifier() -> u32 {
	MinAuditFee::set(UNPAYABLE);
	let terms =
		Terms { audit_fee: UNPAYABLE, price_per_ut: 100_000, audit_segments: 2, ..terms(1) };
	let id = post_with(SUBMITTER, terms);
	apply(id, &[11]);
	run_to_state(id, trainyard_protocol::job::JobState::Training);
	commit(id, 11);
	run_to_state(id, trainyard_protocol::job::JobState::Revealing);
	reveal(id, 11, 1);
	run_to_state(id, trainyard_protocol::job::JobState::Auditing);
	decide(id, &[Decision::Accepted], &[500]);
	run_to_end(id);
	id
}

#[test]
fn what_cannot_be_delivered_goes_to_the_jackpot() {
	run(|| {
		assert_ok!(Balances::transfer_keep_alive(RuntimeOrigin::signed(OTHER), JACKPOT, ED));
		let id = job_with_unpayable_verifier();
		assert_eq!((free(500), free(JACKPOT)), (0, ED + UNPAYABLE));
		let diverted =
			Event::Diverted { job: id, recipient: 500, amount: UNPAYABLE, burned: false };
		assert!(events().contains(&diverted));
		assert_eq!(TotalBurned::<Test>::get(), job(id).quote.fee);
		assert_eq!(job(id).settlement.paid_to_verifiers, UNPAYABLE, "booked under its purpose");
	});
}

#[test]
fn what_not_even_the_jackpot_can_take_is_burned() {
	run(|| {
		let id = job_with_unpayable_verifier();
		assert_eq!((free(500), free(JACKPOT)), (0, 0));
		let diverted = Event::Diverted { job: id, recipient: 500, amount: UNPAYABLE, burned: true };
		assert!(events().contains(&diverted));
		assert_eq!(TotalBurned::<Test>::get(), job(id).quote.fee + UNPAYABLE);
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
		assert_eq!(free(SUBMITTER), ED + job(id).quote.escrow - place_of(id));
	});
}

/// What seats get back of what they paid for storing comes from the escrow, up to what was set aside for
/// it, and every unit is accounted for.
#[test]
fn storing_is_paid_from_the_escrow() {
	for (byte, owed) in [(1, 0), (7, 1_001), (7, 3_000_000_000), (999, 3_000_000_000)] {
		run(|| {
			StorageByte::set(byte);
			let id = post(1);
			let quote = job(id).quote;
			// Three seats, of four draws and two by duty each.
			let rescue = Needs::of(&noisy()).lacking(18, MaxRescue::get(), 1).stored;
			// And what relays of samples may cost.
			let relays = 123 * (quote.price / PRICE_PART);
			assert_eq!(quote.storage, u128::from(rescue) * byte / 2 + relays);
			apply(id, &[11]);
			run_to_state(id, trainyard_protocol::job::JobState::Training);
			commit(id, 11);
			run_to_state(id, trainyard_protocol::job::JobState::Revealing);
			reveal(id, 11, 1);
			run_to_state(id, trainyard_protocol::job::JobState::Auditing);
			let before = (free(11) + quote.deposit, free(VERIFIERS[0]));
			decide(id, &[Decision::Accepted], &[]);
			AuditBook::mutate(|book| {
				let audit = book.get_mut(&id).unwrap();
				let bytes = audit.request.sizes;
				assert_eq!(bytes.train_rows, noisy().dataset.train_rows);
				let seat = VERIFIERS[0];
				audit.outcome.stored = vec![(seat, owed / 2), (seat, owed - owed / 2)];
			});
			run_to_end(id);
			let paid = owed.min(quote.storage);
			let settlement = job(id).settlement;
			assert_eq!(settlement.paid_to_trainers, quote.price);
			assert_eq!(settlement.paid_to_verifiers, paid);
			assert_eq!(free(11), before.0 + quote.price);
			assert_eq!(free(VERIFIERS[0]), before.1 + paid);
			assert_eq!(settlement.refunded, quote.escrow - quote.price - quote.fee - paid);
		});
	}
}

/// An audit of one accepted replica, in which these served and these found forced errors.
fn audited(served: &[AccountId], found: Option<&[AccountId]>) -> u32 {
	let id = post(1);
	apply(id, &[11]);
	run_to_state(id, trainyard_protocol::job::JobState::Training);
	commit(id, 11);
	run_to_state(id, trainyard_protocol::job::JobState::Revealing);
	reveal(id, 11, 1);
	run_to_state(id, trainyard_protocol::job::JobState::Auditing);
	decide(id, &[Decision::Accepted], served);
	AuditBook::mutate(|book| {
		let outcome = &mut book.get_mut(&id).unwrap().outcome;
		outcome.found = found.map(|found| found.to_vec());
	});
	run_to_end(id);
	id
}

/// A tenth of all fees of an audit is for who found forced errors, in equal parts; the jackpot's where
/// nobody did. Somebody with all seats has what it would have without them.
#[test]
fn a_tenth_of_the_fees_is_for_who_finds_forced_errors() {
	let [one, two, three] = VERIFIERS[..3] else { panic!("three verifiers") };
	let tenth = FEE / 10;
	for (found, prizes, jackpot) in [
		(None, [0; 3], 0),
		(Some(&[][..]), [0; 3], 3 * tenth),
		(Some(&[two][..]), [0, 3 * tenth, 0], 0),
		(Some(&[one, three][..]), [3 * tenth / 2, 0, 3 * tenth / 2], 3 * tenth % 2),
		(Some(&[one, two, three, one][..]), [tenth; 3], 0),
	] {
		run(|| {
			assert_ok!(Balances::transfer_keep_alive(RuntimeOrigin::signed(OTHER), JACKPOT, ED));
			let before = [one, two, three].map(free);
			let id = audited(&[one, two, three], found);
			let fee = if found.is_some() { FEE - tenth } else { FEE };
			for ((who, before), prize) in [one, two, three].into_iter().zip(before).zip(prizes) {
				assert_eq!(free(who), before + fee + prize, "{found:?}");
			}
			assert_eq!(free(JACKPOT), ED + jackpot);
			let settlement = job(id).settlement;
			assert_eq!(settlement.prizes_to_jackpot, jackpot);
			assert_eq!(settlement.paid_to_verifiers, 3 * FEE - jackpot);
			let quote = job(id).quote;
			assert_eq!(settlement.refunded, quote.escrow - quote.price - quote.fee - 3 * FEE);
		});
	}
}

/// Who does not open what it forced loses its deposit as if it had revealed nothing: the submitter is
/// whole, and the rest is the jackpot's.
#[test]
fn who_does_not_open_loses_its_deposit() {
	run(|| {
		assert_ok!(Balances::transfer_keep_alive(RuntimeOrigin::signed(OTHER), JACKPOT, ED));
		let id = auditing(&[(11, 1), (12, 1)]);
		let deposit = job(id).quote.deposit;
		decide(id, &[Decision::Accepted], &[VERIFIERS[0]]);
		AuditBook::mutate(|book| {
			let outcome = &mut book.get_mut(&id).unwrap().outcome;
			outcome.unopened = vec![12];
			outcome.found = Some(vec![VERIFIERS[0]]);
		});
		run_to_end(id);
		assert_eq!(
			job(id).replicas.iter().map(|r| r.fate).collect::<Vec<_>>(),
			vec![Fate::Accepted, Fate::NotRevealed]
		);
		let settlement = job(id).settlement;
		assert_eq!(settlement.slashed_to_jackpot, deposit, "the other one delivered");
		assert_eq!(free(JACKPOT), ED + deposit);
	});
	run(|| {
		assert_ok!(Balances::transfer_keep_alive(RuntimeOrigin::signed(OTHER), JACKPOT, ED));
		let id = auditing(&[(11, 1)]);
		decide(id, &[Decision::Rejected], &[VERIFIERS[0]]);
		AuditBook::mutate(|book| {
			let outcome = &mut book.get_mut(&id).unwrap().outcome;
			outcome.unopened = vec![11];
			outcome.found = Some(vec![]);
		});
		run_to_end(id);
		assert_eq!(
			job(id).replicas.iter().map(|r| r.fate).collect::<Vec<_>>(),
			vec![Fate::NotRevealed]
		);
		let settlement = job(id).settlement;
		assert_eq!(settlement.slashed_to_submitter, FEE, "what checking cost, prizes and all");
		assert_eq!(settlement.slashed_to_jackpot, job(id).quote.deposit - FEE);
		assert_eq!(free(SUBMITTER), ENDOWMENT);
	});
}
