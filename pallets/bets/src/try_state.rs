//! What must always hold in this pallet's storage.

use crate::{
	Bets, Book, Books, Config, Convictions, Due, HoldReason, Look, NextBet, NextOffer, Offers,
	OffersOn, Pallet, Statements,
};
use alloc::collections::BTreeMap;
use frame_support::{ensure, traits::fungible::InspectHold};
use sp_runtime::TryRuntimeError;
use trainyard_protocol::{
	bets::{OfferId, Side, Statement},
	job::Balance,
	JobId,
};

impl<T: Config> Pallet<T> {
	/// Checks that
	/// - offers that stand and bets are on the agenda, and nothing else is;
	/// - what is held of each account is what its offers and bets say;
	/// - books, counts and lists say what the offers and bets say.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		let mut stakes = BTreeMap::<T::AccountId, Balance>::new();
		let mut records = BTreeMap::<T::AccountId, Balance>::new();
		let add = |to: &mut BTreeMap<T::AccountId, Balance>, who: &T::AccountId, amount| {
			let sum = to.entry(who.clone()).or_default();
			*sum = sum.saturating_add(amount);
		};
		let mut books = BTreeMap::<Statement, Book>::new();
		let mut bets = BTreeMap::<OfferId, u32>::new();
		let mut tasks = 0usize;
		for (id, bet) in Bets::<T>::iter() {
			ensure!(id < NextBet::<T>::get(), "a bet of a number to come");
			ensure!(Due::<T>::contains_key(Look::Bet(id)), "a bet is not on the agenda");
			tasks = tasks.saturating_add(1);
			let offer = Offers::<T>::get(bet.offer).ok_or("a bet without an offer")?;
			ensure!(offer.maker == bet.maker && bet.maker != bet.taker, "a bet of the wrong two");
			ensure!(offer.offered.side != Some(bet.side), "both on one side");
			add(&mut stakes, &bet.maker, bet.makers);
			add(&mut stakes, &bet.taker, bet.takers);
			add(&mut records, &bet.taker, bet.record);
			let count = bets.entry(bet.offer).or_default();
			*count = count.saturating_add(1);
			let book = books.entry(offer.statement).or_default();
			for side in [Side::Right, Side::Wrong] {
				let sum = book.of(side);
				*sum = sum.saturating_add(bet.stake(side));
			}
			if !bet.own && offer.statement.is_of_a_result() {
				book.others = book.others.saturating_add(bet.stake(Side::Right));
			}
		}
		for (id, offer) in Offers::<T>::iter() {
			ensure!(id < NextOffer::<T>::get(), "an offer of a number to come");
			ensure!(OffersOn::<T>::contains_key(offer.statement, id), "an offer is not listed");
			let due = Due::<T>::contains_key(Look::Offer(id));
			ensure!(due != offer.closed, "an offer stands without an end, or ends twice");
			tasks = tasks.saturating_add(usize::from(due));
			ensure!(!offer.closed || (offer.left == 0 && offer.bets > 0), "an offer is over");
			ensure!(offer.left <= offer.offered.stake, "more is left than there was");
			ensure!(bets.get(&id).copied().unwrap_or(0) == offer.bets, "bets are miscounted");
			add(&mut stakes, &offer.maker, offer.left);
			add(&mut records, &offer.maker, offer.record);
			let book = books.entry(offer.statement).or_default();
			book.offers = book.offers.saturating_add(1);
		}
		ensure!(Due::<T>::iter_keys().count() == tasks, "something else is on the agenda");
		let listed = OffersOn::<T>::iter_keys().count();
		ensure!(listed == Offers::<T>::iter_keys().count(), "a list of no offers");
		let mut statements = BTreeMap::<JobId, u32>::new();
		for job in books.keys().filter_map(Statement::job) {
			let count = statements.entry(job).or_default();
			*count = count.saturating_add(1);
		}
		ensure!(books == Books::<T>::iter().collect(), "a book says something else");
		ensure!(statements == Statements::<T>::iter().collect(), "statements are miscounted");
		for (job, _) in Convictions::<T>::iter_keys() {
			ensure!(statements.contains_key(&job), "a conviction about which nobody bets");
		}
		for (reason, owed) in [(HoldReason::Stake, stakes), (HoldReason::Record, records)] {
			let reason = reason.into();
			for (who, amount) in owed {
				let there = T::Currency::balance_on_hold(&reason, &who);
				ensure!(there == amount, "what is held is not what is owed");
			}
		}
		Ok(())
	}
}
