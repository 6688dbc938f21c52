//! What a cheat, a griefer or a pair of friends tries.

use super::*;

/// A trainer could bet against its own result, by others' offers on *right*, and have itself convicted. It never wins
/// more than that costs it for good.
#[test]
fn nobody_is_paid_for_being_convicted() {
	run(|| {
		let large = Offered { stake: 20_000, ..offered(Some(Side::Right), 100, 1) };
		let anna = make(ANNA, result(), large.clone());
		let bert = make(BERT, result(), large);
		take(TRAINER, anna, Side::Wrong, 30);
		take(JUDGES[0], bert, Side::Wrong, 20);
		let more = Betting::take(signed(TRAINER), bert, Side::Wrong, 10);
		assert_noop!(more, Error::<Test>::BeyondDeposit);
		// Through takers on *right* as well.
		let wrong = make(TRAINER, result(), offered(Some(Side::Wrong), 1, 1));
		let taken = Betting::take(signed(ANNA), wrong, Side::Right, 100);
		assert_noop!(taken, Error::<Test>::BeyondDeposit);
		// The trainer itself stakes what it likes on what it delivered.
		let own = Offered { stake: 500_000, ..offered(Some(Side::Right), 100, 1) };
		let own = make(TRAINER, result(), own);
		take(ANNA, own, Side::Wrong, 5_000);
		pass(LATE);
		over(Outcome::Wrong);
		pass(POLL);
		assert!(gain(TRAINER) < AT_STAKE as i128);
		assert_eq!(gain(TRAINER), 3_000 - 500_000);
	});
}

/// What a bet that ended staked is free for others.
#[test]
fn the_bound_counts_bets_that_run() {
	run(|| {
		let large = Offered { stake: 20_000, ..offered(Some(Side::Right), 100, 1) };
		let anna = make(ANNA, result(), large);
		let first = take(BERT, anna, Side::Wrong, 50);
		let more = Betting::take(signed(BERT), anna, Side::Wrong, 10);
		assert_noop!(more, Error::<Test>::BeyondDeposit);
		for who in [ANNA, BERT] {
			assert_ok!(Betting::agree(signed(who), first, Some(5_000)));
		}
		take(BERT, anna, Side::Wrong, 50);
	});
}

/// Who is silent before the court, or withholds what it owes, saves no stake by it, and who shuts an honest trainer's
/// line wins nothing.
#[test]
fn silence_saves_no_stake_and_earns_none() {
	run(|| {
		let id = bet_with_trainer();
		pass(LATE);
		over(Outcome::Forfeited);
		assert_ok!(Betting::settle(signed(ANNA), id));
		assert_eq!((gain(TRAINER), gain(ANNA), gain(JACKPOT)), (-1_000, 0, 1_000));
	});
}

/// Somebody sees a conviction in the pool, and takes what stands on *right* before its maker can withdraw it.
#[test]
fn who_takes_what_is_decided_already_wins_nothing() {
	for (waits, ending) in [(LATE - 1, BetEnding::Late), (LATE, BetEnding::Decided(Outcome::Wrong))]
	{
		run(|| {
			let id = make(BERT, result(), offered(Some(Side::Right), 10, 1));
			let bet = take(ANNA, id, Side::Wrong, 100);
			pass(waits);
			over(Outcome::Wrong);
			assert_ok!(Betting::settle(signed(ANNA), bet));
			assert_eq!(endings(), [ending]);
			let won = if ending == BetEnding::Late { 0 } else { 1_000 };
			assert_eq!((gain(ANNA), gain(BERT)), (won, -won));
		});
	}
}

/// The trainer knew all of that before: by a quick conviction by a friend it voids no bet on what it delivered.
#[test]
fn a_cheat_voids_no_bet_by_a_quick_conviction() {
	run(|| {
		let id = bet_with_trainer();
		over(Outcome::Wrong);
		assert_ok!(Betting::settle(signed(ANNA), id));
		assert_eq!((gain(TRAINER), gain(ANNA)), (-1_000, 1_000));
	});
}

/// Nor does a taker void what it lost by having taken it late.
#[test]
fn late_is_for_the_maker_alone() {
	run(|| {
		let id = make(BERT, result(), offered(Some(Side::Wrong), 1, 1));
		let bet = take(ANNA, id, Side::Right, 100);
		over(Outcome::Wrong);
		assert_ok!(Betting::settle(signed(BERT), bet));
		assert_eq!((gain(ANNA), gain(BERT)), (-100, 100));
	});
}

/// The same with a panel: who sees its first vote in the pool.
#[test]
fn who_sees_a_vote_before_it_takes_wins_nothing() {
	run(|| {
		let judged = Offered { panel: Some(panel()), ..offered(Some(Side::Right), 1, 1) };
		let id = make(ANNA, words(), judged);
		let early = take(BERT, id, Side::Wrong, 100);
		pass(LATE);
		let late = take(BERT, id, Side::Wrong, 100);
		assert_ok!(Betting::judge(signed(JUDGES[0]), id, Some(Side::Wrong)));
		let after = Betting::take(signed(BERT), id, Side::Wrong, 100);
		assert_noop!(after, Error::<Test>::NotStanding);
		assert_ok!(Betting::judge(signed(JUDGES[1]), id, Some(Side::Wrong)));
		assert_ok!(Betting::settle(signed(BERT), late));
		assert_eq!(endings(), [BetEnding::Late]);
		assert_ok!(Betting::settle(signed(BERT), early));
		assert_eq!((gain(BERT), gain(ANNA)), (100, -100));
	});
}

/// Whoever bets with itself moves its own money, whatever the odds, and no price: what it took does not stand any
/// more, and what stands anybody may take.
#[test]
fn betting_with_oneself_moves_no_price() {
	run(|| {
		let honest = make(BERT, result(), offered(Some(Side::Wrong), 1, 1));
		let id = make(TRAINER, result(), offered(Some(Side::Right), 100, 1));
		take(ANNA, id, Side::Wrong, 10);
		let view = Betting::odds(&result(), 0, 0);
		assert_eq!((view.bid, view.offered_right), (None, 0));
		assert_eq!(view.ask.unwrap().offer, honest);
		assert_eq!((view.right, view.wrong), (1_000, 10));
		pass(LATE);
		over(Outcome::Wrong);
		pass(POLL);
		assert_eq!(gain(TRAINER) + gain(ANNA), 0);
	});
}

/// An offer that its maker takes back when somebody comes shows nothing: what counts has stood, and needs notice.
#[test]
fn an_offer_that_can_be_taken_back_at_once_shows_no_odds() {
	run(|| {
		make(TRAINER, result(), offered(Some(Side::Right), 100, 1));
		pass(10);
		assert!(Betting::odds(&result(), 10, 0).bid.is_some());
		assert!(Betting::odds(&result(), 10, 1).bid.is_none());
		assert!(Betting::odds(&result(), 11, 0).bid.is_none());
	});
}

/// A friend on both sides cannot end a bet of somebody else, nor agree for it.
#[test]
fn nobody_ends_the_bets_of_others() {
	run(|| {
		let id = bet_with_trainer();
		for who in [BERT, JUDGES[0]] {
			assert_noop!(Betting::agree(signed(who), id, Some(0)), Error::<Test>::NotParty);
		}
		let judged = Betting::judge(signed(JUDGES[0]), 0, None);
		assert_noop!(judged, Error::<Test>::NotOnPanel);
	});
}
