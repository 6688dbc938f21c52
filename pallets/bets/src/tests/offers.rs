//! What is offered, taken and withdrawn.

use super::*;

#[test]
fn an_offer_holds_its_stake_and_ends_by_itself() {
	run(|| {
		let id = make(TRAINER, result(), offered(Some(Side::Right), 100, 1));
		assert_eq!(held(TRAINER), 1_000 + OFFER_DEPOSIT);
		let made = Event::Offered { offer: id, maker: TRAINER, statement: result(), stake: 1_000 };
		assert_eq!(events(), [made]);
		to(101);
		assert_eq!(offer(id).left, 1_000, "its last block");
		pass(1);
		assert!(Offers::<Test>::get(id).is_none());
		assert_eq!(events(), [Event::Closed { offer: id, returned: 1_000 }]);
		assert_eq!((held(TRAINER), free(TRAINER)), (0, ENDOWMENT));
		assert!(Books::<Test>::get(result()).is_none() && Statements::<Test>::get(JOB) == 0);
	});
}

#[test]
fn what_breaks_a_rule_is_not_offered() {
	run(|| {
		let good = || offered(Some(Side::Right), 100, 1);
		let fails = |who, statement, offered: Offered<AccountId>, error: Error<Test>| {
			assert_noop!(Betting::offer(signed(who), statement, offered), error);
		};
		let odds = |maker, taker| Offered { odds: Odds { maker, taker }, ..good() };
		fails(ANNA, result(), odds(0, 1), Error::BadOdds);
		fails(ANNA, result(), odds(1, MAX_ODDS + 1), Error::BadOdds);
		fails(ANNA, result(), Offered { stake: MIN - 1, ..good() }, Error::StakeTooSmall);
		fails(ANNA, result(), Offered { until: 1, ..good() }, Error::BadExpiry);
		fails(ANNA, result(), Offered { until: 2 + MOST, ..good() }, Error::BadExpiry);
		fails(ANNA, result(), Offered { notice: MOST + 1, ..good() }, Error::BadNotice);
		fails(ANNA, result(), Offered { only: Some(ANNA), ..good() }, Error::OwnOffer);
		let of = |panel| Offered { panel: Some(panel), ..good() };
		fails(ANNA, result(), of(Panel { threshold: 1, ..panel() }), Error::BadPanel);
		fails(ANNA, result(), of(Panel { blocks: MOST + 1, ..panel() }), Error::BadPanel);
		fails(JUDGES[0], result(), of(panel()), Error::OnPanel);
		fails(ANNA, words(), good(), Error::NoArbiter);
		let unknown = Statement::Result { job: JOB, root: H256::zero(), late: false };
		fails(ANNA, unknown, good(), Error::NoSuchResult);
		stage(ResultStage::Awaited);
		fails(ANNA, result(), good(), Error::NotAudited);
		stage(ResultStage::Known);
		fails(ANNA, result(), good(), Error::AlreadyDecided);
		over(Outcome::Right);
		fails(ANNA, result(), good(), Error::AlreadyDecided);
		stage(ResultStage::Open);
		let poor = Betting::offer(signed(POOR), result(), good());
		assert_noop!(poor, sp_runtime::TokenError::FundsUnavailable);
	});
}

#[test]
fn an_offer_is_taken_in_parts() {
	run(|| {
		let id = make(TRAINER, result(), offered(Some(Side::Right), 10, 1));
		let first = take(ANNA, id, Side::Wrong, 60);
		assert_eq!((bet(first).makers, bet(first).takers, offer(id).left), (600, 60, 400));
		let second = take(BERT, id, Side::Wrong, 40);
		assert_eq!((offer(id).left, offer(id).bets), (0, 2));
		assert_eq!(held(TRAINER), 1_000 + OFFER_DEPOSIT);
		assert_eq!((held(ANNA), held(BERT)), (60 + BET_DEPOSIT, 40 + BET_DEPOSIT));
		let book = Books::<Test>::get(result()).unwrap();
		assert_eq!((book.right, book.wrong, book.others), (1_000, 100, 0));
		let taken = Event::Taken {
			offer: id,
			bet: second,
			taker: BERT,
			side: Side::Wrong,
			makers: 400,
			takers: 40,
		};
		assert_eq!(events().last(), Some(&taken));
	});
}

#[test]
fn what_breaks_a_rule_is_not_taken() {
	run(|| {
		let id = make(TRAINER, result(), offered(Some(Side::Right), 10, 1));
		let fails = |who, id, side, amount, error: Error<Test>| {
			assert_noop!(Betting::take(signed(who), id, side, amount), error);
		};
		fails(ANNA, 9, Side::Wrong, 50, Error::NoSuchOffer);
		fails(TRAINER, id, Side::Wrong, 50, Error::OwnOffer);
		fails(ANNA, id, Side::Right, 50, Error::WrongSide);
		fails(ANNA, id, Side::Wrong, 101, Error::NotAsMuchLeft);
		fails(ANNA, id, Side::Wrong, MIN - 1, Error::StakeTooSmall);
		fails(ANNA, id, Side::Wrong, Balance::MAX, Error::AmountOverflow);
		let poor = Betting::take(signed(POOR), id, Side::Wrong, 50);
		assert_noop!(poor, sp_runtime::TokenError::FundsUnavailable);
		let for_bert = Offered { only: Some(BERT), ..offered(Some(Side::Right), 10, 1) };
		let only = make(TRAINER, result(), for_bert);
		fails(ANNA, only, Side::Wrong, 50, Error::NotForYou);
		take(BERT, only, Side::Wrong, 50);
		let judged = Offered { panel: Some(panel()), ..offered(Some(Side::Right), 10, 1) };
		let judged = make(TRAINER, result(), judged);
		fails(JUDGES[1], judged, Side::Wrong, 50, Error::OnPanel);
		// The maker's stake of a long shot is small.
		let long = make(TRAINER, result(), offered(Some(Side::Right), 1, 100));
		fails(ANNA, long, Side::Wrong, 100 * MIN - 1, Error::StakeTooSmall);
		take(ANNA, long, Side::Wrong, 100 * MIN);
		stage(ResultStage::Known);
		fails(ANNA, id, Side::Wrong, 50, Error::AlreadyDecided);
		over(Outcome::Right);
		fails(ANNA, id, Side::Wrong, 50, Error::AlreadyDecided);
		Known::set(Default::default());
		fails(ANNA, id, Side::Wrong, 50, Error::NoSuchResult);
		to(102);
		fails(ANNA, id, Side::Wrong, 50, Error::NoSuchOffer);
	});
}

/// Who asks for information says no side: the taker answers, and stakes on its answer.
#[test]
fn a_solicited_bet_is_on_the_side_that_the_taker_names() {
	for (side, outcome) in [(Side::Right, Outcome::Right), (Side::Wrong, Outcome::Wrong)] {
		run(|| {
			// 1 of the holder's for 20 of whoever answers.
			let id = make(BERT, result(), offered(None, 1, 20));
			take(ANNA, id, side, 2_000);
			pass(LATE);
			over(outcome);
			pass(POLL);
			assert_eq!((gain(ANNA), gain(BERT)), (100, -100));
		});
	}
	// A wrong answer makes good what the holder would have lost by it.
	run(|| {
		let id = make(BERT, result(), offered(None, 1, 20));
		take(ANNA, id, Side::Right, 2_000);
		pass(LATE);
		over(Outcome::Wrong);
		pass(POLL);
		assert_eq!((gain(ANNA), gain(BERT)), (-2_000, 2_000));
	});
}

#[test]
fn a_maker_withdraws_what_is_left_after_its_notice() {
	run(|| {
		let with_notice = Offered { notice: 10, ..offered(Some(Side::Right), 10, 1) };
		let id = make(TRAINER, result(), with_notice);
		take(ANNA, id, Side::Wrong, 50);
		assert_noop!(Betting::withdraw(signed(ANNA), id), Error::<Test>::NotMaker);
		assert_noop!(Betting::withdraw(signed(ANNA), 9), Error::<Test>::NoSuchOffer);
		assert_ok!(Betting::withdraw(signed(TRAINER), id));
		let again = Betting::withdraw(signed(TRAINER), id);
		assert_noop!(again, Error::<Test>::AlreadyWithdrawn);
		pass(9);
		take(BERT, id, Side::Wrong, 20);
		pass(1);
		assert_eq!(events(), [Event::Closed { offer: id, returned: 300 }]);
		let late = Betting::take(signed(BERT), id, Side::Wrong, 20);
		assert_noop!(late, Error::<Test>::NotStanding);
		let again = Betting::withdraw(signed(TRAINER), id);
		assert_noop!(again, Error::<Test>::AlreadyWithdrawn);
		assert_eq!(held(TRAINER), 700 + OFFER_DEPOSIT);
		over(Outcome::Right);
		pass(2 * POLL);
		assert!(Offers::<Test>::get(id).is_none(), "it goes with its last bet");
		assert_eq!((held(TRAINER), gain(TRAINER)), (0, 70));
	});
}

/// What cannot be taken any more waits for no notice.
#[test]
fn what_is_decided_is_withdrawn_at_once() {
	run(|| {
		let with_notice = || Offered { notice: 10, ..offered(Some(Side::Right), 10, 1) };
		let id = make(TRAINER, result(), with_notice());
		let other = make(TRAINER, result(), with_notice());
		assert_ok!(Betting::withdraw(signed(TRAINER), other));
		stage(ResultStage::Known);
		assert_ok!(Betting::withdraw(signed(TRAINER), id));
		assert_ok!(Betting::withdraw(signed(TRAINER), other));
		assert_eq!(held(TRAINER), 0);
	});
}

/// Without room the hook serves nothing and loses nothing, and the maker serves itself.
#[test]
fn a_full_block_puts_the_end_of_an_offer_off() {
	run(|| {
		let id = make(TRAINER, result(), offered(Some(Side::Right), 10, 1));
		ServiceWeight::set(frame_support::weights::Weight::zero());
		pass(200);
		let late = Betting::take(signed(ANNA), id, Side::Wrong, 50);
		assert_noop!(late, Error::<Test>::NotStanding);
		assert_ok!(Betting::withdraw(signed(TRAINER), id));
		assert_eq!(held(TRAINER), 0);
	});
	run(|| {
		make(TRAINER, result(), offered(Some(Side::Right), 10, 1));
		ServiceWeight::set(frame_support::weights::Weight::zero());
		pass(200);
		ServiceWeight::set(frame_support::weights::Weight::MAX);
		pass(1);
		assert_eq!(held(TRAINER), 0);
	});
}
