//! What both sides of a bet, and the panel of an offer, say.

use crate::{Bets, Config, Error, Event, Offers, Pallet};
use frame_support::{ensure, pallet_prelude::DispatchResult};
use trainyard_protocol::{
	bets::{BetEnding, BetId, Judgement, OfferId},
	job::Balance,
};

impl<T: Config> Pallet<T> {
	pub(crate) fn do_agree(
		who: T::AccountId,
		id: BetId,
		to_maker: Option<Balance>,
	) -> DispatchResult {
		let mut bet = Bets::<T>::get(id).ok_or(Error::<T>::NoSuchBet)?;
		ensure!(to_maker.is_none_or(|amount| amount <= bet.both()), Error::<T>::BadSplit);
		if who == bet.maker {
			bet.maker_says = to_maker;
		} else if who == bet.taker {
			bet.taker_says = to_maker;
		} else {
			return Err(Error::<T>::NotParty.into());
		}
		Self::deposit_event(Event::Said { bet: id, who, to_maker });
		if to_maker.is_some() && bet.maker_says == bet.taker_says {
			let mut offer = Offers::<T>::get(bet.offer).ok_or(Error::<T>::NoSuchOffer)?;
			Self::end(id, &bet, &mut offer, BetEnding::Agreed);
			Self::put(bet.offer, offer);
		} else {
			Bets::<T>::insert(id, bet);
		}
		Ok(())
	}

	pub(crate) fn do_judge(who: T::AccountId, id: OfferId, judgement: Judgement) -> DispatchResult {
		let mut offer = Offers::<T>::get(id).ok_or(Error::<T>::NoSuchOffer)?;
		let panel = offer.offered.panel.as_ref().ok_or(Error::<T>::NotOnPanel)?;
		let seat = panel.members.iter().position(|member| *member == who);
		let seat = seat.ok_or(Error::<T>::NotOnPanel)?;
		let threshold = panel.threshold;
		ensure!(offer.verdict.is_none(), Error::<T>::AlreadyJudged);
		ensure!(Self::panels_turn(&mut offer), Error::<T>::NotPanelsTurn);
		*offer.votes.get_mut(seat).ok_or(Error::<T>::NotOnPanel)? = Some(judgement);
		offer.voted = offer.voted.or(Some(Self::now()));
		Self::deposit_event(Event::Judged { offer: id, who, judgement });
		let same = offer.votes.iter().filter(|vote| **vote == Some(judgement)).count();
		if u32::try_from(same).unwrap_or(u32::MAX) >= threshold {
			offer.verdict = Some(judgement);
			Self::deposit_event(Event::PanelDecided { offer: id, judgement });
		}
		Offers::<T>::insert(id, offer);
		Ok(())
	}
}
