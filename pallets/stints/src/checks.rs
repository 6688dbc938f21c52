//! Checks: who is drawn, what verifiers find, and what comes of it.
//!
//! The seed that draws a report's samples and verifiers forms after the report, whose root it cannot
//! move. The first verifiers commit to what they computed *before* the driller opens, so none can
//! repeat what was opened instead of computing it. Three of them confirm a report, where none
//! contradicts. They convict nobody: where they do not confirm it fifteen others decide (9, 5 or 3
//! where the pool has no more), by more than two thirds where that costs a bond, and whoever of the
//! three found something else than these pays for it.
//!
//! A driller that is silent about what was drawn loses as much as a liar must fear: power, and a part
//! of its bond for what its power does not cover. So does one whose report the fifteen neither confirm
//! nor refute, where most of them found something else; where they did not, in power alone.

use crate::{
	rules::{is_contradicted, judge, services, Finding, Service},
	stints::ReportOf,
	Config, Error, Event, Pallet, Phase, Report, Reports, Scarce, Seat, Seats, Stints, Task,
	WeightInfo, CHECKERS, CHECK_PAUSE, DOUBTERS, MAX_CHECK_WAIT, MAX_OPEN,
};
use alloc::vec::Vec;
use codec::Encode;
use frame_support::{
	defensive, ensure, pallet_prelude::DispatchResult, traits::Get, weights::Weight, BoundedVec,
};
use sp_runtime::Permill;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	stint::{self, ReportId, CERTAIN},
	MicroUt, H256,
};
use trainyard_traits::{Beacon, Drawn, Drillers, Seed, VerifierPool};

/// Domain of the seed that decides about a check.
const DRAW: &[u8] = b"trainyard/stint/draw/v1";
/// Sizes of the second committee, of which the first is taken that the pool has.
const SECOND: [u32; 4] = [DOUBTERS, 9, 5, 3];

/// Domain of the draw of verifiers from that seed.
const VERIFIERS: &[u8] = b"trainyard/stint/verifiers/v1";

impl<AccountId: PartialEq> Report<AccountId> {
	/// Returns whether the second committee sits.
	pub fn is_doubted(&self) -> bool {
		self.committee.len() > CHECKERS as usize
	}

	/// Returns the seats of the committee that sits now.
	pub fn sitting(&self) -> &[Seat<AccountId>] {
		let first = if self.is_doubted() { CHECKERS as usize } else { 0 };
		self.committee.get(first..).unwrap_or_default()
	}

	/// Returns the seat of `who` in the committee that sits now.
	fn seat_of(&mut self, who: &AccountId) -> Option<&mut Seat<AccountId>> {
		let first = if self.is_doubted() { CHECKERS as usize } else { 0 };
		self.committee.iter_mut().skip(first).find(|seat| seat.who == *who)
	}

	/// Returns what both committees found.
	fn found(&self) -> (Vec<Option<H256>>, Vec<Option<H256>>) {
		let mut all: Vec<_> = self.committee.iter().map(|seat| seat.digest).collect();
		let second = all.split_off((CHECKERS as usize).min(all.len()));
		(all, second)
	}
}

impl<T: Config> Pallet<T> {
	pub(crate) fn do_check(who: T::AccountId, id: ReportId, commitment: H256) -> DispatchResult {
		let mut report = Reports::<T>::get(id).ok_or(Error::<T>::NoSuchReport)?;
		let Phase::Checking { until } = report.phase else {
			return Err(Error::<T>::NotChecking.into());
		};
		ensure!(Self::now() <= until, Error::<T>::NotChecking);
		let seat = report.seat_of(&who).ok_or(Error::<T>::NotSeated)?;
		ensure!(seat.commitment.is_none(), Error::<T>::AlreadyCommitted);
		seat.commitment = Some(commitment);
		if report.sitting().iter().all(|seat| seat.commitment.is_some()) {
			Self::hasten(Task(id));
		}
		Reports::<T>::insert(id, report);
		Self::deposit_event(Event::Committed { report: id, who });
		Ok(())
	}

	pub(crate) fn do_open(
		who: T::AccountId,
		id: ReportId,
		results: &[H256],
		siblings: &[H256],
	) -> DispatchResult {
		let mut report = Reports::<T>::get(id).ok_or(Error::<T>::NoSuchReport)?;
		let Phase::Opening { until, .. } = report.phase else {
			return Err(Error::<T>::NotOpening.into());
		};
		ensure!(Self::now() <= until, Error::<T>::NotOpening);
		ensure!(report.driller == who, Error::<T>::NotSeated);
		ensure!(report.opened.is_none(), Error::<T>::AlreadyRevealed);
		let Report { root, laps, samples, .. } = &report;
		let opens = stint::opens(root, *laps, samples, results, siblings);
		ensure!(opens, Error::<T>::WrongOpening);
		report.opened = Some(stint::digest(results));
		Self::after_reveal(id, report);
		Self::deposit_event(Event::Opened { report: id });
		Ok(())
	}

	pub(crate) fn do_check_reveal(
		who: T::AccountId,
		id: ReportId,
		digest: H256,
		salt: &[u8; 32],
	) -> DispatchResult {
		let mut report = Reports::<T>::get(id).ok_or(Error::<T>::NoSuchReport)?;
		let Phase::Opening { until, .. } = report.phase else {
			return Err(Error::<T>::NotOpening.into());
		};
		ensure!(Self::now() <= until, Error::<T>::NotOpening);
		let seat = report.seat_of(&who).ok_or(Error::<T>::NotSeated)?;
		let commitment = seat.commitment.ok_or(Error::<T>::NotCommitted)?;
		ensure!(seat.digest.is_none(), Error::<T>::AlreadyRevealed);
		let made = stint::commitment(&Self::genesis_hash(), id, &who, &digest, salt);
		ensure!(made == commitment, Error::<T>::WrongReveal);
		seat.digest = Some(digest);
		Self::after_reveal(id, report);
		Self::deposit_event(Event::Revealed { report: id, who });
		Ok(())
	}

	/// Keeps a report in which something was revealed, and looks at it in the next block once the
	/// driller has opened.
	fn after_reveal(id: ReportId, report: ReportOf<T>) {
		if report.opened.is_some() {
			Self::hasten(Task(id));
		}
		Reports::<T>::insert(id, report);
	}

	/// Takes a report as far as it can go at the present block, by one phase. Returns the weight used.
	pub(crate) fn advance(id: ReportId) -> Weight {
		let look = T::WeightInfo::look();
		let Some(mut report) = Reports::<T>::get(id) else { return look };
		let now = Self::now();
		match report.phase {
			Phase::Drawing { after, waits } => match T::Beacon::seed(DRAW, &id.encode(), after) {
				Seed::NotBefore(height) => Self::wait(id, height.saturating_sub(1), look),
				Seed::Lost => {
					report.phase = Phase::Drawing { after: T::Beacon::draw_height(now), waits };
					Reports::<T>::insert(id, report);
					Self::deposit_event(Event::SeedLost { report: id });
					Self::wait(id, now, look)
				}
				Seed::Ready(seed) => Self::draw(id, report, now, after, waits, &seed)
					.saturating_add(T::Beacon::seed_weight()),
			},
			Phase::Checking { until } => {
				if now <= until && report.sitting().iter().any(|seat| seat.commitment.is_none()) {
					return Self::wait(id, until, look);
				}
				let reveals = now.saturating_add(T::CheckBlocks::get());
				let until = now.saturating_add(Self::time_to_open(&report));
				report.phase = Phase::Opening { until, reveals };
				Reports::<T>::insert(id, report);
				Self::deposit_event(Event::OpeningBegan { report: id, until });
				Self::wait(id, reveals, T::WeightInfo::begin_opening())
			}
			Phase::Opening { until, reveals } => {
				let waiting = |seat: &Seat<_>| seat.commitment.is_some() && seat.digest.is_none();
				if report.opened.is_none() && now <= until {
					return Self::wait(id, until, look);
				}
				// Who commits and does not reveal holds up nobody for long.
				if report.sitting().iter().any(waiting) && now <= reveals {
					return Self::wait(id, reveals, look);
				}
				Self::conclude(id, report, now)
			}
		}
	}

	/// Comes back to a report after `until`. Returns the `weight` of having looked.
	fn wait(id: ReportId, until: BlockNumber, weight: Weight) -> Weight {
		Self::schedule(Task(id), until.saturating_add(1));
		weight
	}

	/// Credits a report, or has it checked, as `seed` says. Returns the weight used.
	fn draw(
		id: ReportId,
		mut report: ReportOf<T>,
		now: BlockNumber,
		after: BlockNumber,
		waits: Option<BlockNumber>,
		seed: &H256,
	) -> Weight {
		// That a report is checked, and by which samples, is decided once: whoever keeps verifiers busy
		// gets no other seed to escape by.
		if waits.is_none() {
			if !stint::is_checked(seed, report.chance) {
				Self::credit(id, &report, false);
				return T::WeightInfo::credit();
			}
			report.samples = BoundedVec::truncate_from(stint::samples(seed, report.laps));
		}
		let sizes: &[u32] = if report.committee.is_empty() { &[CHECKERS] } else { &SECOND };
		let mut drawn = Drawn::TooFew;
		let mut weight = Weight::zero();
		for size in sizes {
			// The second committee are others.
			let first = report.committee.iter().map(|seat| seat.who.clone());
			let excluded: Vec<_> = first.chain([report.driller.clone()]).collect();
			drawn = T::Verifiers::draw(VERIFIERS, seed, after, &excluded, *size, &stint::needs());
			weight = weight.saturating_add(T::WeightInfo::draw());
			if !matches!(drawn, Drawn::TooFew) {
				break;
			}
		}
		let Drawn::Seated(verifiers) = drawn else {
			if matches!(drawn, Drawn::TooFew) {
				Scarce::<T>::put(now);
			}
			let waiting = Self::await_verifiers(id, report, now, waits.unwrap_or(now));
			return weight.saturating_add(waiting);
		};
		for who in &verifiers {
			Seats::<T>::insert(who, id, ());
			let seat = Seat { who: who.clone(), commitment: None, digest: None };
			if report.committee.try_push(seat).is_err() {
				defensive!("more seats than both committees have");
			}
		}
		let until = now.saturating_add(T::CheckBlocks::get());
		report.phase = Phase::Checking { until };
		let samples = report.samples.clone();
		Reports::<T>::insert(id, report);
		Self::deposit_event(Event::CheckOpened {
			report: id,
			verifiers: BoundedVec::truncate_from(verifiers),
			samples,
			until,
		});
		Self::wait(id, until, weight)
	}

	/// Draws the verifiers again after a pause, or lets the report be void where none could be had for
	/// too long: nothing is credited unchecked. Returns the weight used.
	fn await_verifiers(
		id: ReportId,
		mut report: ReportOf<T>,
		now: BlockNumber,
		since: BlockNumber,
	) -> Weight {
		let until = now.saturating_add(CHECK_PAUSE);
		if until > since.saturating_add(MAX_CHECK_WAIT) {
			Self::release(&report, id, true);
			Self::forget(id, &report.driller);
			let (first, _) = report.found();
			if report.doubted && is_contradicted(report.opened, &first) {
				let work = stint::at_stake(report.work, report.chance);
				T::Drillers::debit_drilling(&report.driller, work);
				let driller = report.driller.clone();
				Self::deposit_event(Event::Unconfirmed { report: id, driller, work, slashed: 0 });
			} else {
				Self::deposit_event(Event::Void { report: id });
			}
			return T::WeightInfo::conclude(report.committee.len() as u32);
		}
		report.phase = Phase::Drawing { after: T::Beacon::draw_height(until), waits: Some(since) };
		Reports::<T>::insert(id, report);
		Self::deposit_event(Event::CheckPostponed { report: id, until });
		Self::wait(id, until, Weight::zero())
	}

	/// Judges what was opened and revealed. Returns the weight used.
	fn conclude(id: ReportId, mut report: ReportOf<T>, now: BlockNumber) -> Weight {
		let (first, second) = report.found();
		let finding = judge(report.opened, &first, &second);
		if finding == Finding::Doubted {
			let after = T::Beacon::draw_height(now);
			report.phase = Phase::Drawing { after, waits: Some(now) };
			report.doubted = true;
			// They have done what they can, and should not wait with their stakes for others.
			for seat in &report.committee {
				T::Verifiers::release(&seat.who, &stint::needs(), seat.digest.is_some());
			}
			let seats = report.committee.len() as u32;
			Reports::<T>::insert(id, report);
			Self::deposit_event(Event::Doubted { report: id });
			return Self::wait(id, after, T::WeightInfo::conclude(seats));
		}
		Self::release(&report, id, false);
		match finding {
			Finding::Confirmed => Self::credit(id, &report, true),
			Finding::Absent => {
				let work = stint::at_stake(report.work, report.chance);
				let slashed = Self::take_stake(&report, work);
				Self::forget(id, &report.driller);
				let driller = report.driller.clone();
				Self::deposit_event(Event::NotOpened { report: id, driller, work, slashed });
			}
			Finding::Refuted => {
				let slashed = T::Drillers::slash(&report.driller, T::ForgerySlash::get());
				Self::forget(id, &report.driller);
				let driller = report.driller.clone();
				Self::deposit_event(Event::Forged { report: id, driller, slashed });
			}
			Finding::Undecided | Finding::Doubted => {
				let work = stint::at_stake(report.work, report.chance);
				// A liar's friends abstain rather than convict it: what most of the others found is as
				// good a reason as silence.
				let slashed = if is_contradicted(report.opened, &second) {
					Self::take_stake(&report, work)
				} else {
					T::Drillers::debit_drilling(&report.driller, work);
					0
				};
				Self::forget(id, &report.driller);
				let driller = report.driller.clone();
				Self::deposit_event(Event::Unconfirmed { report: id, driller, work, slashed });
			}
		}
		T::WeightInfo::conclude(report.committee.len() as u32)
	}

	/// Takes the power of `work`, and of the bond the part of `ForgerySlash` that the power does not
	/// cover: who has no power to lose could be silent for nothing. Returns what was taken of the bond.
	fn take_stake(report: &ReportOf<T>, work: MicroUt) -> Balance {
		let driller = &report.driller;
		let missing = work.saturating_sub(T::Drillers::drilled(driller));
		if Self::is_covered(report) {
			T::Drillers::debit_drilling(driller, work);
			return 0;
		}
		let part = Permill::from_rational(missing, work);
		let part = Permill::from_parts(part.mul_floor(T::ForgerySlash::get().deconstruct()));
		T::Drillers::slash(driller, part)
	}

	/// Returns the blocks that a driller has to open what was drawn. Long, where its power answers for
	/// its silence: machines are restarted. Others hold seats of verifiers no longer than these take.
	pub(crate) fn time_to_open(report: &ReportOf<T>) -> BlockNumber {
		if Self::is_covered(report) {
			T::OpenBlocks::get().max((Self::period() / 2).min(MAX_OPEN))
		} else {
			T::CheckBlocks::get()
		}
	}

	/// Returns whether a driller has as much power to lose as its silence costs, or had when it reported:
	/// that is so where the check was not certain. (Power decays meanwhile, by a little.)
	fn is_covered(report: &ReportOf<T>) -> bool {
		let stake = stint::at_stake(report.work, report.chance);
		report.chance < CERTAIN || T::Drillers::drilled(&report.driller) >= stake
	}

	/// Pays and slashes the verifiers of a report that is over, and ends their seats. `void` is whether
	/// those who were to decide could not be had.
	fn release(report: &ReportOf<T>, id: ReportId, void: bool) {
		let (first, second) = report.found();
		let (needs, fee) = (stint::needs(), T::CheckFee::get());
		let services = services(&first, &second, void);
		for (at, (seat, service)) in report.committee.iter().zip(services).enumerate() {
			match service {
				Service::Served => Self::pay_check(id, &seat.who),
				Service::Contrary => {
					T::Verifiers::slash_contrary(&seat.who, fee);
				}
				Service::Absent => {
					T::Verifiers::slash_absent(&seat.who, fee);
				}
				Service::InVain => {}
			}
			// Those of a first committee that doubted are free already.
			if !(report.doubted && at < CHECKERS as usize) {
				T::Verifiers::release(&seat.who, &needs, service != Service::Absent);
			}
			Seats::<T>::remove(&seat.who, id);
		}
	}

	/// Credits a report's laps.
	fn credit(id: ReportId, report: &ReportOf<T>, checked: bool) {
		T::Drillers::credit_drilling(&report.driller, report.work);
		Self::forget(id, &report.driller);
		let driller = report.driller.clone();
		Self::deposit_event(Event::Credited { report: id, driller, work: report.work, checked });
	}

	/// Does what a seed says, for benchmarks.
	#[cfg(feature = "runtime-benchmarks")]
	pub(crate) fn draw_for_benchmark(
		id: ReportId,
		report: ReportOf<T>,
		waits: Option<BlockNumber>,
	) {
		let now = Self::now();
		Self::draw(id, report, now, now, waits, &H256::repeat_byte(7));
	}

	/// Returns the weight of the largest step of a report.
	pub(crate) fn worst_report() -> Weight {
		T::WeightInfo::draw()
			.saturating_mul(SECOND.len() as u64)
			.saturating_add(T::WeightInfo::conclude(CHECKERS.saturating_add(DOUBTERS)))
			.saturating_add(T::Beacon::seed_weight())
			.max(T::WeightInfo::credit())
			.max(T::WeightInfo::begin_opening())
	}

	/// Returns whether `who` is in a stint.
	pub fn drills(who: &T::AccountId) -> bool {
		Stints::<T>::contains_key(who)
	}
}
