//! Every unit of money that this pallet holds or moves: the deposits of challengers, and nothing else.
//!
//! A deposit is held on its owner's account from the commitment to the end. It returns where the
//! dispute is won or moot. What is lost is held on the *defendant's* account from then on: it is the
//! defendant's when it is acquitted, and goes to whoever convicts it. So a friend who sues and loses on
//! purpose pays whoever finds the fraud. What a conviction costs the defendant is not this pallet's
//! business.
//!
//! What a seat loses is a part of its stake, for which it can still be convicted itself. It waits on the
//! defendant's account as well, and can be [asked for again](trainyard_traits::Court::reclaim) until then;
//! if the defendant is convicted it is the jackpot's. So no seat moves its stake to a friend before it is
//! convicted: neither to the one that it accuses, nor to one that convicts that.
//!
//! A payment never fails in a way that loses money or stops a dispute: what cannot be delivered (a
//! recipient that would stay below the existential deposit) goes to the jackpot, and where even that
//! cannot be, it is burned; [`Event::Split`] says where it went.

use crate::{
	Config, DefendantOf, DisputeOf, Error, Event, HoldReason, Pallet, Why, Won, WonOfSeats,
};
use frame_support::{
	defensive, ensure,
	storage::with_storage_layer,
	traits::{
		fungible::{Inspect, MutateHold},
		tokens::{Fortitude, Precision, Preservation, Restriction},
		Get,
	},
};
use sp_runtime::{DispatchError, DispatchResult};
use trainyard_protocol::{job::Balance, JobId};
use trainyard_traits::{Accused, Conviction, DisputeId, Stakes};

impl<T: Config> Pallet<T> {
	/// Holds the deposit of a challenge to `job`. Returns what it is.
	pub(crate) fn hold_deposit(job: JobId, who: &T::AccountId) -> Result<Balance, DispatchError> {
		let deposit = T::Accused::challenge_deposit(job).ok_or(Error::<T>::NotOpen)?;
		Self::hold_more(who, deposit)?;
		Ok(deposit)
	}

	/// Holds `amount` of `who`.
	pub(crate) fn hold_more(who: &T::AccountId, amount: Balance) -> DispatchResult {
		T::Currency::hold(&HoldReason::Challenge.into(), who, amount)
	}

	/// Gives the challenger of a dispute its deposit back.
	pub(crate) fn return_deposit(id: DisputeId, dispute: &DisputeOf<T>) {
		if dispute.stake > 0 {
			T::Stakes::unlock(dispute.defendant.job(), &dispute.challenger);
		}
		Self::give_back(Some(id), &dispute.challenger, dispute.held(), Why::Returned);
	}

	/// Releases held money of `who`.
	pub(crate) fn give_back(id: Option<DisputeId>, who: &T::AccountId, amount: Balance, why: Why) {
		if amount == 0 {
			return;
		}
		let released = with_storage_layer(|| {
			T::Currency::release(&HoldReason::Challenge.into(), who, amount, Precision::Exact)
		});
		match released {
			Ok(_) => Self::say_split(id, Some(who.clone()), amount, why),
			Err(_) => Self::divert(id, who, amount, why),
		}
	}

	/// Moves the lost deposit of a dispute to where it waits for the defendant's end.
	pub(crate) fn lose_deposit(id: DisputeId, dispute: &DisputeOf<T>) {
		let (from, defendant) = (&dispute.challenger, &dispute.defendant);
		let (job, to) = (defendant.job(), defendant.who());
		if dispute.stake > 0 {
			let moved = T::Stakes::forfeit(job, from, defendant, dispute.stake);
			// It came to the free balance, of which as much is held as can be.
			let free = T::Currency::reducible_balance(to, Preservation::Protect, Fortitude::Force);
			let held = moved.min(free);
			if held > 0 && Self::hold_more(to, held).is_ok() {
				Self::win(id, defendant, held);
				WonOfSeats::<T>::mutate(job, defendant, |won| *won = won.saturating_add(held));
			}
		}
		let amount = dispute.held();
		if amount == 0 {
			return;
		}
		// Freezes do not protect money that its owner has put at stake here.
		let moved = with_storage_layer(|| {
			T::Currency::transfer_on_hold(
				&HoldReason::Challenge.into(),
				from,
				to,
				amount,
				Precision::Exact,
				Restriction::OnHold,
				Fortitude::Force,
			)
		});
		match moved {
			Ok(_) => Self::win(id, defendant, amount),
			Err(_) => Self::divert(Some(id), from, amount, Why::Lost),
		}
	}

	/// Notes that so much more is held on the defendant's account.
	fn win(id: DisputeId, defendant: &DefendantOf<T>, amount: Balance) {
		Won::<T>::mutate(defendant.job(), defendant, |won| *won = won.saturating_add(amount));
		Self::say_split(Some(id), Some(defendant.who().clone()), amount, Why::Lost);
	}

	/// Moves the deposits that were lost against `defendant` to who convicted it, and what seats lost to the
	/// jackpot. Where nothing was proven all of it is the jackpot's: nobody earns by keeping somebody from
	/// answering.
	pub(crate) fn pay_finders(
		id: DisputeId,
		defendant: &DefendantOf<T>,
		conviction: &Conviction<T::AccountId>,
	) {
		let (amount, of_seats) = Self::take_won(defendant);
		let lost = amount.saturating_sub(of_seats);
		match conviction.proven {
			true => {
				for (finder, part) in conviction.halves(lost) {
					Self::pay(Some(id), defendant.who(), finder, part, Why::Finder);
				}
			}
			false => Self::pay(Some(id), defendant.who(), &T::Jackpot::get(), lost, Why::NoFinder),
		}
		Self::pay(Some(id), defendant.who(), &T::Jackpot::get(), of_seats, Why::Stake);
	}

	/// Moves the deposits that were lost against `defendant` to `to`. Returns how much they are.
	pub(crate) fn pay_won(defendant: &DefendantOf<T>, to: &T::AccountId, why: Why) -> Balance {
		let (amount, _) = Self::take_won(defendant);
		Self::pay(None, defendant.who(), to, amount, why);
		amount
	}

	/// Forgets what was lost against `defendant`. Returns how much that is, and what of it seats lost.
	pub(crate) fn take_won(defendant: &DefendantOf<T>) -> (Balance, Balance) {
		let job = defendant.job();
		(Won::<T>::take(job, defendant), WonOfSeats::<T>::take(job, defendant))
	}

	/// Moves up to `amount` of what seats lost against `defendant` to `to`. Returns how much.
	pub(crate) fn do_reclaim(
		defendant: &DefendantOf<T>,
		to: &T::AccountId,
		amount: Balance,
	) -> Balance {
		let job = defendant.job();
		let part = amount.min(WonOfSeats::<T>::get(job, defendant));
		if part == 0 || Self::transfer(defendant.who(), to, part).is_err() {
			return 0;
		}
		let less = |stored: &mut Option<Balance>| {
			let left = stored.unwrap_or(0).saturating_sub(part);
			*stored = (left > 0).then_some(left);
		};
		Won::<T>::mutate_exists(job, defendant, less);
		WonOfSeats::<T>::mutate_exists(job, defendant, less);
		Self::say_split(None, Some(to.clone()), part, Why::Reclaimed);
		part
	}

	/// Moves held money of `from` to the free balance of `to`.
	pub(crate) fn pay(
		id: Option<DisputeId>,
		from: &T::AccountId,
		to: &T::AccountId,
		amount: Balance,
		why: Why,
	) {
		if amount == 0 {
			return;
		}
		match Self::transfer(from, to, amount) {
			Ok(()) => Self::say_split(id, Some(to.clone()), amount, why),
			Err(_) => Self::divert(id, from, amount, why),
		}
	}

	/// Brings held money that cannot reach whom it is for to the jackpot, or burns it.
	fn divert(id: Option<DisputeId>, from: &T::AccountId, amount: Balance, why: Why) {
		let jackpot = T::Jackpot::get();
		if Self::transfer(from, &jackpot, amount).is_ok() {
			return Self::say_split(id, Some(jackpot), amount, why);
		}
		let burned = with_storage_layer(|| {
			let reason = HoldReason::Challenge.into();
			T::Currency::burn_held(&reason, from, amount, Precision::Exact, Fortitude::Force)
		});
		match burned {
			Ok(burned) => Self::say_split(id, None, burned, why),
			Err(_) => {
				defensive!("held money can always be burned");
			}
		}
	}

	/// Moves exactly `amount` of held money to the free balance of `to`, or nothing.
	fn transfer(from: &T::AccountId, to: &T::AccountId, amount: Balance) -> DispatchResult {
		with_storage_layer(|| {
			T::Currency::transfer_on_hold(
				&HoldReason::Challenge.into(),
				from,
				to,
				amount,
				Precision::Exact,
				Restriction::Free,
				Fortitude::Force,
			)
		})
		.map(|_| ())
	}

	fn say_split(id: Option<DisputeId>, to: Option<T::AccountId>, amount: Balance, why: Why) {
		Self::deposit_event(Event::Split { id, to, amount, why });
	}

	/// Adds to the deposit of a dispute that runs.
	pub(crate) fn do_raise(who: T::AccountId, id: DisputeId, more: Balance) -> DispatchResult {
		let mut dispute = Self::running(id)?;
		ensure!(dispute.challenger == who, Error::<T>::NotChallenger);
		ensure!(more > 0, Error::<T>::NothingMore);
		Self::hold_more(&who, more)?;
		dispute.deposit = dispute.deposit.saturating_add(more);
		let rank = Self::rank(id, &dispute);
		Self::deposit_event(Event::Raised { id, by: more, rank });
		Self::rank_again(id, dispute);
		Ok(())
	}
}
