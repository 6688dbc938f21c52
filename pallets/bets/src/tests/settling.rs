//! Who decides a bet, and what follows.

use super::*;

#[test]
fn each_outcome_moves_the_stakes_once() {
	for (outcome, trainer, anna, jackpot) in [
		(Outcome::Right, 100, -100, 0),
		(Outcome::Wrong, -1_000, 1_000, 0),
		(Outcome::Forfeited, -1_000, 0, 1_000),
		(Outcome::Unknown, 0, 0, 0),
	] {
		run(|| {
			let id = bet_with_trainer();
			pass(LATE);
			assert_noop!(Betting::settle(signed(BERT), id), Error::<Test>::NotDecided);
			over(outcome);
			assert_ok!(Betting::settle(signed(BERT), id));
			assert_eq!(endings(), [BetEnding::Decided(outcome)]);
			assert_eq!((gain(TRAINER), gain(ANNA), gain(JACKPOT)), (trainer, anna, jackpot));
			assert_eq!(held(ANNA), 0);
			assert_noop!(Betting::settle(signed(BERT), id), Error::<Test>::NoSuchBet);
			pass(200);
			assert_eq!(held(TRAINER), 0);
		});
	}
}

/// The same where the taker is on the other side.
#[test]
fn a_taker_on_right_is_treated_alike() {
	for (outcome, anna, bert, jackpot) in [
		(Outcome::Right, -1_000, 1_000, 0),
		(Outcome::Wrong, 500, -500, 0),
		(Outcome::Forfeited, 0, -500, 500),
		(Outcome::Unknown, 0, 0, 0),
	] {
		run(|| {
			let id = make(ANNA, result(), offered(Some(Side::Wrong), 2, 1));
			take(BERT, id, Side::Right, 500);
			pass(LATE);
			over(outcome);
			pass(POLL);
			assert_eq!((gain(ANNA), gain(BERT), gain(JACKPOT)), (anna, bert, jackpot));
		});
	}
}

/// Nobody needs to call anything.
#[test]
fn a_bet_ends_by_itself() {
	run(|| {
		bet_with_trainer();
		pass(300);
		assert_eq!(Bets::<Test>::iter().count(), 1, "it waits for its job");
		over(Outcome::Right);
		pass(POLL);
		assert_eq!((Bets::<Test>::iter().count(), Offers::<Test>::iter().count()), (0, 0));
		assert_eq!((gain(TRAINER), held(TRAINER)), (100, 0));
	});
}

#[test]
fn a_job_that_is_not_known_any_more_decides_nothing() {
	run(|| {
		let id = bet_with_trainer();
		Known::set(Default::default());
		assert_ok!(Betting::settle(signed(ANNA), id));
		assert_eq!(endings(), [BetEnding::Decided(Outcome::Unknown)]);
		assert_eq!((gain(TRAINER), gain(ANNA)), (0, 0));
	});
}

#[test]
fn both_sides_agree_at_any_time() {
	run(|| {
		let id = bet_with_trainer();
		let agree = |who, to_maker| Betting::agree(signed(who), id, to_maker);
		assert_noop!(agree(BERT, Some(1)), Error::<Test>::NotParty);
		assert_noop!(agree(ANNA, Some(1_101)), Error::<Test>::BadSplit);
		assert_ok!(agree(ANNA, Some(1_050)));
		assert_eq!(
			events().last(),
			Some(&Event::Said { bet: id, who: ANNA, to_maker: Some(1_050) })
		);
		assert_ok!(agree(TRAINER, Some(1_060)));
		assert_ok!(agree(ANNA, None));
		assert_ok!(agree(TRAINER, None));
		assert_eq!(Bets::<Test>::iter().count(), 1, "no word is no agreement");
		assert_ok!(agree(TRAINER, Some(1_060)));
		assert_ok!(agree(ANNA, Some(1_060)));
		assert_eq!(endings(), [BetEnding::Agreed]);
		assert_eq!((gain(TRAINER), gain(ANNA)), (60, -60));
		assert_noop!(agree(ANNA, None), Error::<Test>::NoSuchBet);
	});
	run(|| {
		let id = bet_with_trainer();
		for who in [ANNA, TRAINER] {
			assert_ok!(Betting::agree(signed(who), id, Some(0)));
		}
		assert_eq!((gain(TRAINER), gain(ANNA)), (-1_000, 1_000));
	});
}

/// What belongs to an account that cannot take it is burned, and the bet ends all the same.
#[test]
fn what_the_jackpot_cannot_take_is_burned() {
	new_test_ext().execute_with(|| {
		let small = Offered { stake: MIN, ..offered(Some(Side::Right), 1, 1) };
		let id = make(TRAINER, result(), small);
		let bet = take(ANNA, id, Side::Wrong, MIN);
		pass(LATE);
		over(Outcome::Forfeited);
		assert_ok!(Balances::transfer_allow_death(signed(JACKPOT), BERT, ENDOWMENT));
		let money = Balances::total_issuance();
		assert_ok!(Betting::settle(signed(ANNA), bet));
		assert!(events().contains(&Event::Burned { who: TRAINER, amount: MIN }));
		assert_eq!(endings(), [BetEnding::Decided(Outcome::Forfeited)]);
		assert_eq!((free(JACKPOT), Balances::total_issuance()), (0, money - MIN));
		assert_eq!((gain(TRAINER), gain(ANNA)), (-(MIN as i128), 0));
		check();
	});
}

#[test]
fn convictions_are_noted_while_somebody_bets_on_the_job() {
	run(|| {
		Betting::convicted(JOB, &TRAINER, true);
		assert!(Betting::conviction(JOB, &TRAINER).is_none());
		let id = make(TRAINER, result(), offered(Some(Side::Right), 10, 1));
		let late = Statement::Result { job: JOB, root: root(), late: true };
		let other = make(ANNA, late, offered(Some(Side::Right), 10, 1));
		pass(3);
		Betting::convicted(JOB, &TRAINER, true);
		Betting::convicted(JOB, &BERT, false);
		Betting::convicted(JOB + 1, &BERT, false);
		pass(1);
		Betting::convicted(JOB, &TRAINER, false);
		let noted = Betting::conviction(JOB, &TRAINER).unwrap();
		assert_eq!((noted.at, noted.proven), (4, true), "the first counts");
		assert_eq!(Convictions::<Test>::iter().count(), 2);
		assert_ok!(Betting::withdraw(signed(TRAINER), id));
		check();
		assert_eq!(Convictions::<Test>::iter().count(), 2);
		assert_ok!(Betting::withdraw(signed(ANNA), other));
		assert_eq!(Convictions::<Test>::iter().count(), 0);
	});
}
