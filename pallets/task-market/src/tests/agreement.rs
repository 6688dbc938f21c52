//! Settling at once by agreement of all parties.

use crate::{mock::*, Error, Event, HoldReason};
use frame_support::{assert_noop, assert_ok, dispatch::GetDispatchInfo};
use trainyard_protocol::{
	audit::Decision,
	job::{Balance, Ending, Fate, JobState, Settlement},
};

fn agree(who: AccountId, id: u32, pay: impl Into<Option<Balance>>) -> sp_runtime::DispatchResult {
	let pay = pay.into();
	TaskMarket::agree(RuntimeOrigin::signed(who), id, pay).map(|_| ()).map_err(|e| e.error)
}

#[test]
fn all_parties_settle_at_once() {
	run(|| {
		let id = training(&[11, 12]);
		let quote = job(id).quote;
		assert_ok!(agree(SUBMITTER, id, 7_000));
		let said = Event::AgreementProposed { job: id, who: SUBMITTER, pay: 7_000 };
		System::assert_last_event(said.into());
		assert_ok!(agree(11, id, 7_000));
		assert_eq!(job(id).state, JobState::Training, "one is missing");
		assert_ok!(agree(12, id, 7_000));
		assert_eq!(job(id).state, JobState::Ended(Ending::Agreed));
		let expected = Settlement {
			escrowed: quote.escrow,
			paid_to_trainers: 14_000,
			burned: place_of(id),
			refunded: quote.escrow - 14_000 - place_of(id),
			..Default::default()
		};
		assert_eq!(job(id).settlement, expected);
		assert!(job(id).replicas.iter().all(|r| r.fate == Fate::Agreed));
		assert_eq!((free(11), free(12)), (ENDOWMENT + 7_000, ENDOWMENT + 7_000));
		assert_eq!(held(HoldReason::Deposit, 11), 0);
		assert_eq!(Credited::get(), vec![], "no power for what nobody checked");
		assert!(Rounds::get()[&id].closed);
		run_to(TaskMarket::now() + 20);
		assert_eq!(job(id).state, JobState::Ended(Ending::Agreed));
	});
}

#[test]
fn words_must_be_the_same_and_can_be_changed() {
	run(|| {
		let id = training(&[11]);
		assert_ok!(agree(11, id, 9_000));
		assert_ok!(agree(SUBMITTER, id, 8_000));
		assert_eq!(job(id).state, JobState::Training);
		assert_ok!(agree(11, id, 8_000));
		assert_eq!(job(id).state, JobState::Ended(Ending::Agreed));
		assert_eq!(job(id).settlement.paid_to_trainers, 8_000);
	});
}

#[test]
fn nothing_and_the_full_price_are_possible() {
	run(|| {
		for full in [false, true] {
			let id = training(&[11]);
			let pay = if full { job(id).quote.price } else { 0 };
			assert_ok!(agree(11, id, pay));
			assert_ok!(agree(SUBMITTER, id, pay));
			assert_eq!(job(id).settlement.paid_to_trainers, pay);
			assert_eq!(job(id).state, JobState::Ended(Ending::Agreed));
		}
	});
}

/// An owner of submitter and trainer sees which segments are drawn; it must not be able to
/// save the deposit of a cheat.
#[test]
fn an_audit_cannot_be_agreed_away() {
	run(|| {
		let id = auditing(&[(11, 1)]);
		for who in [SUBMITTER, 11] {
			assert_noop!(agree(who, id, 1), Error::<Test>::NotRunning);
			assert_noop!(agree(who, id, None), Error::<Test>::NotRunning);
		}
		decide(id, &[Decision::Rejected], &VERIFIERS);
		run_to_end(id);
		assert_eq!(job(id).settlement.slashed, job(id).quote.deposit);
	});
}

#[test]
fn a_word_can_be_taken_back() {
	run(|| {
		let id = training(&[11]);
		assert_ok!(agree(11, id, 5));
		assert_ok!(agree(11, id, None));
		System::assert_last_event(Event::AgreementWithdrawn { job: id, who: 11 }.into());
		assert_ok!(agree(SUBMITTER, id, 5));
		assert_eq!(job(id).state, JobState::Training);
		// Two that are not ready are not agreed.
		assert_ok!(agree(SUBMITTER, id, None));
		assert_eq!((job(id).state, job(id).offer), (JobState::Training, None));
	});
}

#[test]
fn words_lapse_with_the_state() {
	run(|| {
		let id = training(&[11, 12]);
		assert_ok!(agree(SUBMITTER, id, 5));
		assert_ok!(agree(11, id, 5));
		commit(id, 11);
		commit(id, 12);
		run_to_state(id, JobState::Revealing);
		assert_eq!(job(id).offer, None);
		assert!(job(id).replicas.iter().all(|r| r.offer.is_none()));
		assert_ok!(agree(12, id, 5));
		assert_eq!(job(id).state, JobState::Revealing, "the others' words were for training");
	});
}

#[test]
fn who_is_out_need_not_agree_and_is_not_spared() {
	run(|| {
		let id = training(&[11, 12]);
		commit(id, 11);
		run_to_state(id, JobState::Revealing);
		assert_noop!(agree(12, id, 5), Error::<Test>::NotAParty);
		assert_ok!(agree(11, id, 5));
		assert_ok!(agree(SUBMITTER, id, 5));
		let (quote, s) = (job(id).quote, job(id).settlement);
		assert_eq!(job(id).state, JobState::Ended(Ending::Agreed));
		assert_eq!((s.paid_to_trainers, s.slashed), (5, quote.deposit));
		assert_eq!(s.slashed_to_jackpot, quote.deposit);
		assert_eq!(free(12), ENDOWMENT - quote.deposit);
	});
}

#[test]
fn agreeing_is_checked() {
	run(|| {
		assert_noop!(agree(SUBMITTER, 0, 0), Error::<Test>::NoSuchJob);
		let id = post(1);
		assert_noop!(agree(SUBMITTER, id, 0), Error::<Test>::NotRunning);
		apply(id, &[11]);
		run_to_state(id, JobState::Seeding);
		assert_noop!(agree(SUBMITTER, id, 0), Error::<Test>::NotRunning);
		run_to_state(id, JobState::Training);
		let price = job(id).quote.price;
		assert_noop!(agree(SUBMITTER, id, price + 1), Error::<Test>::PayAbovePrice);
		assert_noop!(agree(OTHER, id, 0), Error::<Test>::NotAParty);
		assert_noop!(agree(12, id, 0), Error::<Test>::NotAParty);
		run_to_end(id);
		assert_noop!(agree(SUBMITTER, id, 0), Error::<Test>::NotRunning);
	});
}

#[test]
fn a_word_alone_weighs_less_than_a_settlement() {
	run(|| {
		let id = training(&[11]);
		let call = crate::Call::<Test>::agree { job: id, pay: Some(1) };
		let most = call.get_dispatch_info().call_weight;
		let word = TaskMarket::agree(RuntimeOrigin::signed(11), id, Some(1)).unwrap();
		assert!(word.actual_weight.unwrap().all_lt(most));
		let settled = TaskMarket::agree(RuntimeOrigin::signed(SUBMITTER), id, Some(1)).unwrap();
		assert_eq!(settled.actual_weight.unwrap(), most);
	});
}
