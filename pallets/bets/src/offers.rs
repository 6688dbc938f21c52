//! Offers: what is offered, taken and withdrawn, and how one ends.

use crate::{
	Bets, Book, Books, Config, Convicted, Convictions, Error, Event, HoldReason, Look, NextBet,
	NextOffer, Offers, OffersOn, Pallet, Statements, WeightInfo,
};
use frame_support::{
	defensive, ensure, pallet_prelude::DispatchResult, traits::Get, weights::Weight, BoundedVec,
};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	bets::{Bet, Offer, OfferId, Offered, Side, Statement},
	job::{Balance, MAX_REPLICAS},
	JobId,
};
use trainyard_traits::{ConvictionObserver, ResultStage, ResultStanding, Results};

impl<T: Config> Pallet<T> {
	/// Returns where the result stands that a statement is about.
	pub(crate) fn standing(statement: &Statement) -> Option<ResultStanding<T::AccountId>> {
		statement.is_of_a_result().then(|| T::Results::standing(statement)).flatten()
	}

	/// Returns the result that a statement is about, if it can be bet on; `None` of words, on which anybody bets. Fails
	/// with why it cannot be bet on.
	fn check_open(statement: &Statement) -> Result<Option<ResultStanding<T::AccountId>>, Error<T>> {
		if !statement.is_of_a_result() {
			return Ok(None);
		}
		let result = Self::standing(statement).ok_or(Error::<T>::NoSuchResult)?;
		match result.stage {
			ResultStage::Open => Ok(Some(result)),
			ResultStage::Awaited => Err(Error::NotAudited),
			ResultStage::Known | ResultStage::Over { .. } => Err(Error::AlreadyDecided),
		}
	}

	/// Fails with the first rule that an offer breaks.
	fn check_offer(
		who: &T::AccountId,
		statement: &Statement,
		offered: &Offered<T::AccountId>,
	) -> Result<(), Error<T>> {
		let most = T::MaxBlocks::get();
		let now = Self::now();
		ensure!(offered.odds.is_valid(), Error::<T>::BadOdds);
		ensure!(offered.stake >= T::MinStake::get(), Error::<T>::StakeTooSmall);
		let times = now.saturating_add(1)..=now.saturating_add(most);
		ensure!(times.contains(&offered.until), Error::<T>::BadExpiry);
		ensure!(offered.notice <= most, Error::<T>::BadNotice);
		ensure!(offered.only.as_ref() != Some(who), Error::<T>::OwnOffer);
		match &offered.panel {
			Some(panel) => {
				ensure!(panel.is_valid() && panel.blocks <= most, Error::<T>::BadPanel);
				ensure!(!panel.members.contains(who), Error::<T>::OnPanel);
			}
			None => ensure!(statement.is_of_a_result(), Error::<T>::NoArbiter),
		}
		Ok(())
	}

	pub(crate) fn do_offer(
		maker: T::AccountId,
		statement: Statement,
		offered: Offered<T::AccountId>,
	) -> DispatchResult {
		Self::check_offer(&maker, &statement, &offered)?;
		Self::check_open(&statement)?;
		let id = NextOffer::<T>::get();
		let next = id.checked_add(1).ok_or(Error::<T>::TooMany)?;
		let (stake, record) = (offered.stake, T::OfferDeposit::get());
		Self::hold(HoldReason::Stake, &maker, stake)?;
		Self::hold(HoldReason::Record, &maker, record)?;
		NextOffer::<T>::put(next);
		Self::note_offer(&statement, id);
		let panel_until = match (&statement, &offered.panel) {
			(Statement::Words { .. }, Some(panel)) => {
				Some(offered.until.saturating_add(panel.blocks))
			}
			_ => None,
		};
		let members = offered.panel.as_ref().map_or(0, |panel| panel.members.len());
		let expiry = offered.until.saturating_add(1);
		let offer = Offer {
			maker: maker.clone(),
			statement,
			offered,
			left: stake,
			record,
			since: Self::now(),
			closing: None,
			closed: false,
			bets: 0,
			panel_until,
			voted: None,
			votes: BoundedVec::truncate_from(alloc::vec![None; members]),
			verdict: None,
		};
		Offers::<T>::insert(id, offer);
		Self::schedule(Look::Offer(id), expiry);
		Self::deposit_event(Event::Offered { offer: id, maker, statement, stake });
		Ok(())
	}

	pub(crate) fn do_take(
		taker: T::AccountId,
		id: OfferId,
		side: Side,
		amount: Balance,
	) -> DispatchResult {
		let mut offer = Offers::<T>::get(id).ok_or(Error::<T>::NoSuchOffer)?;
		let now = Self::now();
		ensure!(offer.is_open(now), Error::<T>::NotStanding);
		let Offered { odds, side: makers_side, only, panel, .. } = &offer.offered;
		ensure!(only.as_ref().is_none_or(|only| *only == taker), Error::<T>::NotForYou);
		ensure!(offer.maker != taker, Error::<T>::OwnOffer);
		ensure!(*makers_side != Some(side), Error::<T>::WrongSide);
		let judges = panel.as_ref().is_some_and(|panel| panel.members.contains(&taker));
		ensure!(!judges, Error::<T>::OnPanel);
		let makers = odds.makers(amount).ok_or(Error::<T>::AmountOverflow)?;
		ensure!(makers <= offer.left, Error::<T>::NotAsMuchLeft);
		ensure!(amount.min(makers) >= T::MinStake::get(), Error::<T>::StakeTooSmall);
		let result = Self::check_open(&offer.statement)?;
		let mut book = Books::<T>::get(offer.statement).unwrap_or_default();
		let record = T::BetDeposit::get();
		let mut bet = Bet {
			offer: id,
			maker: offer.maker.clone(),
			taker: taker.clone(),
			side,
			makers,
			takers: amount,
			record,
			since: now,
			own: false,
			maker_says: None,
			taker_says: None,
		};
		if let Some(ResultStanding { own, at_stake, .. }) = result {
			bet.own = own.contains(bet.who(Side::Right));
			if !bet.own {
				book.others = book.others.saturating_add(bet.stake(Side::Right));
				ensure!(book.others <= at_stake, Error::<T>::BeyondDeposit);
			}
		}
		for side in [Side::Right, Side::Wrong] {
			let sum = book.of(side);
			*sum = sum.checked_add(bet.stake(side)).ok_or(Error::<T>::AmountOverflow)?;
		}
		let number = NextBet::<T>::get();
		NextBet::<T>::put(number.checked_add(1).ok_or(Error::<T>::TooMany)?);
		Self::hold(HoldReason::Stake, &taker, amount)?;
		Self::hold(HoldReason::Record, &taker, record)?;
		Books::<T>::insert(offer.statement, book);
		offer.left = offer.left.saturating_sub(makers);
		offer.bets = offer.bets.checked_add(1).ok_or(Error::<T>::TooMany)?;
		Offers::<T>::insert(id, offer);
		Bets::<T>::insert(number, bet);
		Self::schedule(Look::Bet(number), now.saturating_add(T::PollBlocks::get()));
		let event = Event::Taken { offer: id, bet: number, taker, side, makers, takers: amount };
		Self::deposit_event(event);
		Ok(())
	}

	pub(crate) fn do_withdraw(who: T::AccountId, id: OfferId) -> DispatchResult {
		let mut offer = Offers::<T>::get(id).ok_or(Error::<T>::NoSuchOffer)?;
		ensure!(offer.maker == who, Error::<T>::NotMaker);
		ensure!(!offer.closed, Error::<T>::AlreadyWithdrawn);
		let now = Self::now();
		let stands = offer.is_open(now) && Self::check_open(&offer.statement).is_ok();
		let notice = if stands { offer.offered.notice } else { 0 };
		ensure!(notice == 0 || offer.closing.is_none(), Error::<T>::AlreadyWithdrawn);
		let at = now.saturating_add(notice);
		Self::deposit_event(Event::Withdrawn { offer: id, at });
		if notice == 0 {
			Self::close(id, offer);
			return Ok(());
		}
		offer.closing = Some(at);
		Self::schedule(Look::Offer(id), offer.closes_at());
		Offers::<T>::insert(id, offer);
		Ok(())
	}

	/// Looks at an offer: ends it where it cannot be taken any more.
	pub(crate) fn look_at_offer(id: OfferId) -> Weight {
		let Some(offer) = Offers::<T>::get(id).filter(|offer| !offer.closed) else {
			defensive!("an offer on the agenda stands");
			Self::unschedule(Look::Offer(id));
			return T::WeightInfo::close();
		};
		let at = offer.closes_at();
		if Self::now() < at {
			Self::schedule(Look::Offer(id), at);
		} else {
			Self::close(id, offer);
		}
		T::WeightInfo::close()
	}

	/// Ends an offer: what nobody took returns. Its record goes with its last bet.
	fn close(id: OfferId, mut offer: Offer<T::AccountId>) {
		Self::unschedule(Look::Offer(id));
		let returned = core::mem::take(&mut offer.left);
		Self::give_back(HoldReason::Stake, &offer.maker, returned);
		offer.closed = true;
		Self::deposit_event(Event::Closed { offer: id, returned });
		Self::put(id, offer);
	}

	/// Puts an offer on record, or removes it where it has ended and no bet of it runs.
	pub(crate) fn put(id: OfferId, offer: Offer<T::AccountId>) {
		if !offer.closed || offer.bets > 0 {
			Offers::<T>::insert(id, offer);
			return;
		}
		Self::give_back(HoldReason::Record, &offer.maker, offer.record);
		Offers::<T>::remove(id);
		Self::forget_offer(&offer.statement, id);
	}

	/// Notes an offer by its statement.
	fn note_offer(statement: &Statement, id: OfferId) {
		OffersOn::<T>::insert(statement, id, ());
		let book = Books::<T>::get(statement);
		if let (None, Some(job)) = (&book, statement.job()) {
			Statements::<T>::mutate(job, |count| *count = count.saturating_add(1));
		}
		let mut book: Book = book.unwrap_or_default();
		book.offers = book.offers.saturating_add(1);
		Books::<T>::insert(statement, book);
	}

	/// Forgets an offer by its statement, and with the last one about a job who was convicted there.
	fn forget_offer(statement: &Statement, id: OfferId) {
		OffersOn::<T>::remove(statement, id);
		let Some(mut book) = Books::<T>::get(statement) else {
			defensive!("a statement with an offer has a book");
			return;
		};
		book.offers = book.offers.saturating_sub(1);
		if book.offers > 0 {
			Books::<T>::insert(statement, book);
			return;
		}
		Books::<T>::remove(statement);
		let Some(job) = statement.job() else { return };
		let left = Statements::<T>::get(job).saturating_sub(1);
		if left > 0 {
			Statements::<T>::insert(job, left);
			return;
		}
		Statements::<T>::remove(job);
		let _ = Convictions::<T>::clear_prefix(job, MAX_REPLICAS, None);
	}

	/// Returns how a trainer was convicted, if that was while there was a statement about its job.
	pub fn conviction(job: JobId, who: &T::AccountId) -> Option<Convicted> {
		Convictions::<T>::get(job, who)
	}
}

impl<T: Config> ConvictionObserver<T::AccountId> for Pallet<T> {
	fn convicted(job: JobId, who: &T::AccountId, proven: bool) {
		if Statements::<T>::get(job) > 0 && !Convictions::<T>::contains_key(job, who) {
			Convictions::<T>::insert(job, who, Convicted { at: Self::now(), proven });
		}
	}

	fn convicted_weight() -> Weight {
		T::DbWeight::get().reads_writes(2, 1)
	}
}
