//! What clients see.

use super::*;

#[test]
fn the_book_says_the_best_offers_of_both_sides() {
	run(|| {
		let of = |stake, side, maker, taker| Offered { stake, ..offered(side, maker, taker) };
		make(ANNA, result(), of(100, Some(Side::Right), 3, 1));
		let bid = make(TRAINER, result(), of(500, Some(Side::Right), 99, 1));
		make(ANNA, result(), of(400, Some(Side::Right), 99, 1));
		let ask = make(BERT, result(), of(200, Some(Side::Wrong), 1, 199));
		make(BERT, result(), of(300, Some(Side::Wrong), 1, 999));
		// What not everybody can take, or what is on no side, says nothing.
		make(BERT, result(), of(100, None, 1, 1));
		make(BERT, result(), Offered { only: Some(ANNA), ..of(100, Some(Side::Wrong), 9, 1) });
		let view = Betting::odds(&result(), 0, 0);
		let (seen_bid, seen_ask) = (view.bid.unwrap(), view.ask.unwrap());
		assert_eq!((seen_bid.offer, seen_bid.right, seen_bid.own), (bid, 990_000, true));
		assert_eq!((seen_ask.offer, seen_ask.right, seen_ask.own), (ask, 995_000, false));
		assert_eq!((view.offered_right, view.offered_wrong, view.more), (1_000, 500, false));
		assert_ok!(Betting::withdraw(signed(TRAINER), bid));
		let view = Betting::odds(&result(), 0, 0);
		assert_eq!((view.bid.unwrap().left, view.offered_right), (400, 500));
	});
}

#[test]
fn offers_and_bets_are_listed_in_pages() {
	run(|| {
		let first = make(TRAINER, result(), offered(Some(Side::Right), 10, 1));
		let second = make(BERT, result(), offered(Some(Side::Right), 10, 1));
		let other = make(BERT, words(), Offered { panel: Some(panel()), ..offered(None, 1, 1) });
		assert_eq!(Betting::offers_on(&result(), None, 9), [first, second]);
		assert_eq!(Betting::offers_on(&result(), Some(first), 9), [second]);
		assert_eq!(Betting::offers_on(&words(), None, 1), [other]);
		let bets = [first, second, first].map(|offer| take(ANNA, offer, Side::Wrong, 20));
		assert_eq!(Betting::bets(None, None, 2), [bets[0], bets[1]]);
		assert_eq!(Betting::bets(Some(first), None, 9), [bets[0], bets[2]]);
		assert_eq!(Betting::bets(Some(first), Some(bets[0]), 9), [bets[2]]);
		assert_eq!(Betting::bet_of(bets[1]).unwrap().offer, second);
		assert_eq!(Betting::offer_of(other).unwrap().maker, BERT);
		assert!(Betting::offer_of(99).is_none() && Betting::bet_of(99).is_none());
	});
}
