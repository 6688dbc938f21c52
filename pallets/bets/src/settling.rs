//! Who decides a bet, and what follows.
//!
//! | outcome | of the stake on *right* | of the stake on *wrong* |
//! |---|---|---|
//! | right | returns | to whoever bet on *right* |
//! | wrong | to whoever bet on *wrong* | returns |
//! | forfeited: who delivered the result did not stand by it | to the jackpot | returns |
//! | unknown, or late | returns | returns |
//!
//! A job decides first, then the panel of the offer if there is one, and what nobody decides is unknown. Every bet is
//! looked at again and again until it ends: a job ends by its deadlines, and so does the time of a panel.

use crate::{Bets, Books, Config, Error, Event, HoldReason, Look, Offers, Pallet};
use frame_support::{
	defensive, ensure, pallet_prelude::DispatchResult, traits::Get, weights::Weight,
};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	bets::{Bet, BetEnding, BetId, Offer, Outcome, Side},
	job::{Balance, BlockNumber},
};
use trainyard_traits::ResultStage;

/// What is known of a bet.
pub(crate) enum Known {
	/// Nothing; look again at this height.
	Waits(BlockNumber),
	/// What became of its statement, and the height at which others may have seen what decided it.
	Decided(Outcome, Option<BlockNumber>),
}

/// Where both stakes of a bet go.
struct Split {
	/// What the maker has.
	to_maker: Balance,
	/// What the taker has.
	to_taker: Balance,
	/// What nobody may win.
	forfeited: Balance,
}

impl<T: Config> Pallet<T> {
	/// Returns what decides the bets of an offer, and whether the record of the offer changed.
	fn decide(offer: &mut Offer<T::AccountId>) -> Known {
		let wait = || Self::now().saturating_add(T::PollBlocks::get());
		if !offer.statement.is_of_a_result() {
			return Self::ask_panel(offer);
		}
		match Self::standing(&offer.statement).map(|result| result.stage) {
			Some(ResultStage::Over { outcome: Outcome::Unknown, .. }) | None => {
				Self::ask_panel(offer)
			}
			Some(ResultStage::Over { outcome, convicted }) => Known::Decided(outcome, convicted),
			Some(_) => Known::Waits(wait()),
		}
	}

	/// Returns whether it is the panel's turn now, and notes until when that is.
	pub(crate) fn panels_turn(offer: &mut Offer<T::AccountId>) -> bool {
		let (now, Some(panel)) = (Self::now(), &offer.offered.panel) else { return false };
		if offer.panel_until.is_none() {
			let stage = Self::standing(&offer.statement).map(|result| result.stage);
			let undecided =
				matches!(stage, None | Some(ResultStage::Over { outcome: Outcome::Unknown, .. }));
			offer.panel_until = undecided.then(|| now.saturating_add(panel.blocks));
		}
		offer.panel_until.is_some_and(|until| now <= until)
	}

	/// Returns what the panel of an offer says, which nobody else decides.
	fn ask_panel(offer: &mut Offer<T::AccountId>) -> Known {
		if let Some(verdict) = offer.verdict {
			return Known::Decided(verdict.into(), offer.voted);
		}
		let now = Self::now();
		let until = match (&offer.offered.panel, offer.panel_until) {
			(None, _) => return Known::Decided(Outcome::Unknown, None),
			(Some(_), Some(until)) => until,
			(Some(panel), None) => {
				let until = now.saturating_add(panel.blocks);
				offer.panel_until = Some(until);
				until
			}
		};
		if now > until {
			return Known::Decided(Outcome::Unknown, None);
		}
		Known::Waits(now.saturating_add(T::PollBlocks::get()).min(until.saturating_add(1)))
	}

	/// Returns whether others may have seen what decided a bet against its maker before it was taken. Who delivered a
	/// result knew all of that before: it may not void bets by having itself convicted.
	fn is_late(bet: &Bet<T::AccountId>, outcome: Outcome, seen: Option<BlockNumber>) -> bool {
		let makers_side = bet.side.other();
		let against = match outcome {
			Outcome::Right => makers_side == Side::Wrong,
			Outcome::Wrong | Outcome::Forfeited => makers_side == Side::Right,
			Outcome::Unknown => false,
		};
		let knew = makers_side == Side::Right && bet.own;
		let limit = bet.since.saturating_add(T::LateBlocks::get());
		against && !knew && seen.is_some_and(|seen| seen < limit)
	}

	/// Returns where both stakes of a bet go.
	fn split(bet: &Bet<T::AccountId>, ending: BetEnding) -> Split {
		let Bet { makers, takers, side, .. } = *bet;
		let both = bet.both();
		let to = |winner: Side| match winner == side {
			true => Split { to_maker: 0, to_taker: both, forfeited: 0 },
			false => Split { to_maker: both, to_taker: 0, forfeited: 0 },
		};
		match ending {
			BetEnding::Decided(Outcome::Right) => to(Side::Right),
			BetEnding::Decided(Outcome::Wrong) => to(Side::Wrong),
			BetEnding::Decided(Outcome::Forfeited) if side == Side::Right => {
				Split { to_maker: makers, to_taker: 0, forfeited: takers }
			}
			BetEnding::Decided(Outcome::Forfeited) => {
				Split { to_maker: 0, to_taker: takers, forfeited: makers }
			}
			BetEnding::Decided(Outcome::Unknown) | BetEnding::Late => {
				Split { to_maker: makers, to_taker: takers, forfeited: 0 }
			}
			BetEnding::Agreed => {
				let to_maker = bet.maker_says.unwrap_or(makers).min(both);
				Split { to_maker, to_taker: both.saturating_sub(to_maker), forfeited: 0 }
			}
		}
	}

	/// Ends a bet: moves both stakes, and removes it. The caller puts the offer on record.
	pub(crate) fn end(
		id: BetId,
		bet: &Bet<T::AccountId>,
		offer: &mut Offer<T::AccountId>,
		ending: BetEnding,
	) {
		let split = Self::split(bet, ending);
		let Split { to_maker, to_taker, forfeited } = split;
		let Bet { maker, taker, makers, takers, .. } = bet;
		// Each side first pays what it owes the other, then the jackpot, and has the rest of its own back.
		let to_other = (makers.saturating_sub(to_maker), takers.saturating_sub(to_taker));
		let (lost_maker, lost_taker) = match bet.side {
			Side::Right => (0, forfeited),
			Side::Wrong => (forfeited, 0),
		};
		let jackpot = T::Jackpot::get();
		for (who, other, stake, owed, lost) in [
			(maker, taker, *makers, to_other.0, lost_maker),
			(taker, maker, *takers, to_other.1, lost_taker),
		] {
			Self::hand_over(who, &jackpot, lost);
			let owed = owed.saturating_sub(lost);
			Self::hand_over(who, other, owed);
			let kept = stake.saturating_sub(lost).saturating_sub(owed);
			Self::give_back(HoldReason::Stake, who, kept);
		}
		Self::give_back(HoldReason::Record, taker, bet.record);
		let mut book = Books::<T>::get(offer.statement).unwrap_or_default();
		for side in [Side::Right, Side::Wrong] {
			let sum = book.of(side);
			*sum = sum.saturating_sub(bet.stake(side));
		}
		if !bet.own && offer.statement.is_of_a_result() {
			book.others = book.others.saturating_sub(bet.stake(Side::Right));
		}
		Books::<T>::insert(offer.statement, book);
		offer.bets = offer.bets.saturating_sub(1);
		Bets::<T>::remove(id);
		Self::unschedule(Look::Bet(id));
		Self::deposit_event(Event::BetEnded { bet: id, ending, to_maker, to_taker, forfeited });
	}

	/// Looks at a bet: ends it if it is decided. Returns whether it ended.
	fn try_end(id: BetId, bet: &Bet<T::AccountId>, mut offer: Offer<T::AccountId>) -> bool {
		match Self::decide(&mut offer) {
			Known::Waits(at) => {
				Offers::<T>::insert(bet.offer, offer);
				Self::schedule(Look::Bet(id), at);
				false
			}
			Known::Decided(outcome, seen) => {
				let ending = match Self::is_late(bet, outcome, seen) {
					true => BetEnding::Late,
					false => BetEnding::Decided(outcome),
				};
				Self::end(id, bet, &mut offer, ending);
				Self::put(bet.offer, offer);
				true
			}
		}
	}

	/// Looks at a bet that is due.
	pub(crate) fn look_at_bet(id: BetId) -> Weight {
		let found = Bets::<T>::get(id).and_then(|bet| Some((Offers::<T>::get(bet.offer)?, bet)));
		match found {
			Some((offer, bet)) => {
				Self::try_end(id, &bet, offer);
			}
			None => {
				defensive!("a bet on the agenda exists, with its offer");
				Self::unschedule(Look::Bet(id));
			}
		}
		Self::worst_look()
	}

	pub(crate) fn do_settle(id: BetId) -> DispatchResult {
		let bet = Bets::<T>::get(id).ok_or(Error::<T>::NoSuchBet)?;
		let offer = Offers::<T>::get(bet.offer).ok_or(Error::<T>::NoSuchOffer)?;
		ensure!(Self::try_end(id, &bet, offer), Error::<T>::NotDecided);
		Ok(())
	}
}
