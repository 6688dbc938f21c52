//! What clients ask.

use crate::{Bets, Books, Config, Offers, OffersOn, Pallet, MOST_OFFERS};
use alloc::vec::Vec;
use trainyard_protocol::{
	bets::{Bet, BetId, OddsView, Offer, OfferId, Quoted, Side, Statement, WHOLE},
	job::{Balance, BlockNumber},
};

impl<T: Config> Pallet<T> {
	/// Returns the offer with this number, until it is removed.
	pub fn offer_of(id: OfferId) -> Option<Offer<T::AccountId>> {
		Offers::<T>::get(id)
	}

	/// Returns the bet with this number, while it runs.
	pub fn bet_of(id: BetId) -> Option<Bet<T::AccountId>> {
		Bets::<T>::get(id)
	}

	/// Returns the numbers of the offers on a statement that are on record, at most `count` of those after `after`, by
	/// number.
	pub fn offers_on(statement: &Statement, after: Option<OfferId>, count: u32) -> Vec<OfferId> {
		page(OffersOn::<T>::iter_key_prefix(statement), after, count)
	}

	/// Returns the numbers of the bets that run, at most `count` of those after `after`, by number; with `offer` those
	/// of that one.
	pub fn bets(offer: Option<OfferId>, after: Option<BetId>, count: u32) -> Vec<BetId> {
		let all = Bets::<T>::iter().filter(|(_, bet)| offer.is_none_or(|offer| bet.offer == offer));
		page(all.map(|(id, _)| id), after, count)
	}

	/// Returns what is bet on a statement, and what stands in its book: of offers that anybody may take and that have
	/// stood for `age` blocks, and for whose withdrawal there is as much notice. Who shows odds that it takes back
	/// when somebody comes has shown nothing.
	pub fn odds(statement: &Statement, age: BlockNumber, notice: BlockNumber) -> OddsView {
		let book = Books::<T>::get(statement).unwrap_or_default();
		let mut view = OddsView { right: book.right, wrong: book.wrong, ..Default::default() };
		let now = Self::now();
		let result = Self::standing(statement);
		let own = |who: &T::AccountId| result.as_ref().is_some_and(|of| of.own.contains(who));
		for (looked, id) in OffersOn::<T>::iter_key_prefix(statement).enumerate() {
			if looked >= MOST_OFFERS {
				view.more = true;
				break;
			}
			let Some(offer) = Offers::<T>::get(id) else { continue };
			let Some(side) = offer.offered.side else { continue };
			let stands = offer.is_open(now) && offer.closing.is_none() && offer.left > 0;
			let old = now.saturating_sub(offer.since) >= age && offer.offered.notice >= notice;
			if !stands || !old || offer.offered.only.is_some() {
				continue;
			}
			let probability = offer.offered.odds.probability();
			let right = match side {
				Side::Right => probability,
				Side::Wrong => WHOLE.saturating_sub(probability),
			};
			let (left, since, notice) = (offer.left, offer.since, offer.offered.notice);
			let own = own(&offer.maker);
			let quoted = Quoted { offer: id, right, left, since, notice, own };
			let (sum, best): (&mut Balance, _) = match side {
				Side::Right => (&mut view.offered_right, &mut view.bid),
				Side::Wrong => (&mut view.offered_wrong, &mut view.ask),
			};
			*sum = sum.saturating_add(left);
			// Of equals the larger, so that nobody hides an offer behind a small one at its price.
			let better = |than: &Quoted| match (right.cmp(&than.right), side) {
				(core::cmp::Ordering::Equal, _) => left > than.left,
				(order, Side::Right) => order.is_gt(),
				(order, Side::Wrong) => order.is_lt(),
			};
			if best.as_ref().is_none_or(better) {
				*best = Some(quoted);
			}
		}
		view
	}
}

/// Returns the least of these numbers after `after`, at most `count`.
fn page(all: impl Iterator<Item = u64>, after: Option<u64>, count: u32) -> Vec<u64> {
	let mut all: Vec<u64> = all.filter(|id| after.is_none_or(|after| *id > after)).collect();
	all.sort_unstable();
	all.truncate(count as usize);
	all
}
