//! A driller's stints and reports, and the period.
//!
//! The *period* is the least number of blocks from the beginning of a stint to its report; each stint
//! lasts up to a half more, by its seed, so that drillers do not all report at once. From time to time
//! the period changes by the reports that came: where they were twice as many as blocks are to take it
//! doubles, as far as it may. So a block takes the same number of reports whether ten drill or a
//! million; what grows is the stint. A stint keeps the times with which it began.

use crate::{
	Config, Error, Event, NextReport, Pallet, Period, Phase, Report, Reported, Reports, Scarce,
	Stint, Stints, Task, Window, SCARCITY,
};
use frame_support::{ensure, pallet_prelude::DispatchResult, traits::Get};
use sp_runtime::{traits::Zero, SaturatedConversion};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	stint::{self, CERTAIN, MAX_LAPS},
	H256,
};
use trainyard_traits::{Beacon, Drillers};

/// A report of a runtime's accounts.
pub(crate) type ReportOf<T> = Report<<T as frame_system::Config>::AccountId>;

impl<T: Config> Pallet<T> {
	pub(crate) fn do_begin(who: T::AccountId) -> DispatchResult {
		ensure!(T::Drillers::is_trainer(&who), Error::<T>::NotATrainer);
		let (number, report, deposit) = match Stints::<T>::get(&who) {
			Some(old) => (old.number.saturating_add(1), old.report, old.deposit),
			None => (0, None, Self::hold(&who)?),
		};
		Self::next_stint(who, number, report, deposit);
		Ok(())
	}

	/// Puts `who` into a stint that begins now.
	fn next_stint(
		who: T::AccountId,
		number: u32,
		report: Option<stint::ReportId>,
		deposit: Balance,
	) {
		let begun = Self::now();
		let hash = frame_system::Pallet::<T>::block_hash(
			stint::seed_height(begun)
				.saturated_into::<frame_system::pallet_prelude::BlockNumberFor<T>>(),
		);
		let seed = stint::seed(&hash, &who, number);
		let period = Self::period();
		let from = begun.saturating_add(period).saturating_add(stint::delay(&seed, period));
		let until = begun.saturating_add(T::MaxStint::get().max(period.saturating_mul(2)));
		Stints::<T>::insert(&who, Stint { number, begun, seed, from, until, report, deposit });
		Self::deposit_event(Event::Begun { driller: who, number, seed });
	}

	pub(crate) fn do_retire(who: T::AccountId) -> DispatchResult {
		let stint = Stints::<T>::get(&who).ok_or(Error::<T>::NoStint)?;
		ensure!(stint.report.is_none(), Error::<T>::Unsettled);
		Stints::<T>::remove(&who);
		Self::give_back(&who, stint.deposit);
		Self::deposit_event(Event::Retired { driller: who });
		Ok(())
	}

	pub(crate) fn do_report(
		who: T::AccountId,
		number: u32,
		root: H256,
		laps: u32,
	) -> DispatchResult {
		let stint = Stints::<T>::get(&who).ok_or(Error::<T>::NoStint)?;
		ensure!(T::Drillers::is_trainer(&who), Error::<T>::NotATrainer);
		ensure!(stint.number == number, Error::<T>::OtherStint);
		ensure!(stint.report.is_none(), Error::<T>::Unsettled);
		ensure!((1..=MAX_LAPS).contains(&laps), Error::<T>::BadLaps);
		let now = Self::now();
		ensure!(now >= stint.from, Error::<T>::TooEarly);
		ensure!(now <= stint.until, Error::<T>::TooLate);

		let (work, stock) = (stint::work(laps), T::Drillers::drilled(&who));
		let most = stint::most_work(stint.from.saturating_sub(stint.begun), stock);
		ensure!(work <= most, Error::<T>::TooMuch);
		let scarce = Scarce::<T>::get().is_some_and(|at| now <= at.saturating_add(SCARCITY));
		let chance = if scarce { CERTAIN } else { stint::chance(work, stock) };
		let fee = Self::check_price(chance);
		Self::pay_for_checks(&who, fee)?;

		let id = NextReport::<T>::get();
		NextReport::<T>::put(id.saturating_add(1));
		Reported::<T>::mutate(|n| *n = n.saturating_add(1));
		let after = T::Beacon::draw_height(now);
		let report = Report {
			driller: who.clone(),
			number: stint.number,
			seed: stint.seed,
			root,
			laps,
			work,
			chance,
			phase: Phase::Drawing { after, waits: None },
			samples: Default::default(),
			opened: None,
			doubted: false,
			committee: Default::default(),
		};
		Reports::<T>::insert(id, report);
		Self::schedule(Task(id), after.saturating_add(1));
		Self::deposit_event(Event::Reported {
			report: id,
			driller: who.clone(),
			laps,
			work,
			chance,
			fee,
		});
		Self::next_stint(who, stint.number.saturating_add(1), Some(id), stint.deposit);
		Ok(())
	}

	/// Forgets a report that is settled: its driller may report again.
	pub(crate) fn forget(id: stint::ReportId, driller: &T::AccountId) {
		Reports::<T>::remove(id);
		Stints::<T>::mutate(driller, |stint| {
			if let Some(stint) = stint {
				stint.report = stint.report.filter(|report| *report != id);
			}
		});
	}

	/// Returns the least number of blocks from the beginning of a stint to its report.
	pub fn period() -> BlockNumber {
		Period::<T>::get().unwrap_or(0).max(T::MinPeriod::get())
	}

	/// Sets the period by the reports since it was set: as many times as long as they were too many,
	/// at most twice and at least half of what it was.
	pub(crate) fn retarget() {
		let now = Self::now();
		let (since, _) = Window::<T>::get();
		let wanted = u64::from(T::ReportsPerBlock::get())
			.saturating_mul(now.saturating_sub(since).into())
			.max(1);
		let (came, period) = (u64::from(Reported::<T>::take()), Self::period());
		let right = u64::from(period).saturating_mul(came).div_ceil(wanted);
		let right = BlockNumber::try_from(right).unwrap_or(BlockNumber::MAX);
		let next = right.clamp(period / 2, period.saturating_mul(2)).max(T::MinPeriod::get());
		if next != period {
			Period::<T>::put(next);
			Self::deposit_event(Event::PeriodSet { period: next });
		}
		// Shorter windows than stints would count all of them or none.
		let length = T::RetargetBlocks::get().max(next.saturating_mul(3));
		Window::<T>::put((now, now.saturating_add(length)));
	}

	/// Returns the hash of the first block, which commitments cover.
	pub fn genesis_hash() -> H256 {
		frame_system::Pallet::<T>::block_hash(
			frame_system::pallet_prelude::BlockNumberFor::<T>::zero(),
		)
	}
}
