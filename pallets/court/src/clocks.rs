//! The clocks of a dispute, and the agenda of all of them.
//!
//! Each side has one clock for all its moves. A clock counts *ticks*, the blocks in which the court's
//! room was not full, so whoever fills blocks lets nobody run out; but at least a quarter of all blocks,
//! so that nobody stops a clock for ever. The challenger's runs in its turn, the defender's in its turn
//! where the dispute is [heard](crate::docket), and both stand while the dispute is set aside. A
//! defender's grows by the other defences of its account (`load.rs`).
//!
//! What counts is the tick in which a clock runs out, not the block in which somebody looks: a move that
//! comes later is refused, and whatever the agenda brings late costs nobody.

use crate::{
	Agenda, Closing, CommitmentOf, Commitments, Config, Convicted, Cursor, DisputeOf, Disputes,
	Due, Ending, Error, Pallet, Side, Task, Ticks, WeightInfo,
};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{ensure, traits::Get, weights::Weight};
use scale_info::TypeInfo;
use sp_runtime::DispatchError;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::job::BlockNumber;
use trainyard_traits::{Accused, CourtRoom, DisputeId, MoveClock, MAX_STANDSTILL};

/// When something began to count.
#[derive(
	Clone,
	Copy,
	Debug,
	Default,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Since {
	/// At which tick.
	pub tick: u32,
	/// At which height.
	pub height: BlockNumber,
}

impl Since {
	/// Returns how many ticks count from then until `now`: those that there were, and at least one for
	/// each `MAX_STANDSTILL + 1` blocks.
	pub fn ticks_until(&self, now: &Since) -> u32 {
		let ticks = now.tick.saturating_sub(self.tick);
		let blocks = now.height.saturating_sub(self.height);
		let least = blocks.checked_div(MAX_STANDSTILL.saturating_add(1)).unwrap_or(0);
		ticks.max(least)
	}
}

/// The clocks of both sides. One of them runs at most.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Clocks {
	/// Ticks that the challenger had left when its clock was last read.
	pub challenger: u32,
	/// Ticks that the defender had left when its clock was last read.
	pub defender: u32,
	/// Since when the clock of the side that is to move runs; `None` while it stands.
	pub since: Option<Since>,
	/// Full blocks in which the challenger's clock ran and that are no tick yet: fewer than are one.
	pub challenger_rest: u8,
	/// The same of the defender's clock. So a clock that is stopped and started again and again does
	/// not stand.
	pub defender_rest: u8,
}

impl Clocks {
	/// Returns clocks that stand, with this many ticks for each side.
	pub fn new(ticks: u32) -> Self {
		let (challenger_rest, defender_rest) = (0, 0);
		Self { challenger: ticks, defender: ticks, since: None, challenger_rest, defender_rest }
	}

	/// Returns what `side`, which is to move, has left.
	pub fn left(&self, side: Side, now: &Since) -> u32 {
		self.read(side, now).0
	}

	/// Returns what `side`, which is to move, has left, and the full blocks that are no tick yet.
	fn read(&self, side: Side, now: &Since) -> (u32, u8) {
		let (left, rest) = match side {
			Side::Challenger => (self.challenger, self.challenger_rest),
			Side::Defender => (self.defender, self.defender_rest),
		};
		let Some(mut since) = self.since else { return (left, rest) };
		// As if it had been started so many blocks before.
		since.height = since.height.saturating_sub(rest.into());
		let ticks = since.ticks_until(now);
		let blocks = now.height.saturating_sub(since.height);
		let counted = ticks.saturating_mul(MAX_STANDSTILL.saturating_add(1));
		let rest = u8::try_from(blocks.saturating_sub(counted)).unwrap_or_default();
		(left.saturating_sub(ticks), rest)
	}

	/// Lets the clock of the side that is to move run.
	pub fn start(&mut self, now: &Since) {
		self.since = self.since.or(Some(*now));
	}

	/// Lets the clock of `side`, which is to move, stand.
	pub fn stop(&mut self, side: Side, now: &Since) {
		let read = self.read(side, now);
		match side {
			Side::Challenger => (self.challenger, self.challenger_rest) = read,
			Side::Defender => (self.defender, self.defender_rest) = read,
		}
		self.since = None;
	}
}

impl<T: Config> Clock for Pallet<T> {
	type Runtime = T;
	type Task = Task;
	type Agenda = Agenda<T>;
	type Due = Due<T>;
	type Cursor = Cursor<T>;

	fn look_weight() -> Weight {
		T::WeightInfo::serve(0)
	}

	fn key_weight() -> Weight {
		T::WeightInfo::serve(1).saturating_sub(T::WeightInfo::serve(0))
	}

	fn worst_task() -> Weight {
		Self::expire_weight()
			.max(T::WeightInfo::lapse())
			.max(T::WeightInfo::close())
			.max(T::WeightInfo::acquit())
			.max(T::WeightInfo::forget())
	}

	fn perform(task: Task) -> Weight {
		Due::<T>::remove(task);
		match task {
			Task::Commitment(id) => {
				Self::look_at_commitment(id);
				T::WeightInfo::lapse()
			}
			Task::Dispute(id) => {
				let side = Disputes::<T>::get(id).map(|dispute| dispute.side());
				Self::look_at_dispute(id);
				match side {
					Some(Side::Defender) => Self::expire_weight(),
					// Nothing was computed, and nobody convicted.
					_ => T::WeightInfo::expire().saturating_add(T::Accused::case_weight()),
				}
			}
			Task::Close(id) => {
				if let Some(defendant) = Closing::<T>::get(id) {
					Self::close_some(id, &defendant);
				}
				T::WeightInfo::close()
			}
			Task::Acquit(job) => {
				Self::acquit_some(job);
				T::WeightInfo::acquit()
			}
			Task::Forget(job) => {
				Self::forget_some(job);
				T::WeightInfo::forget()
			}
		}
	}
}

impl<T: Config> MoveClock for Pallet<T> {
	fn ticks() -> u32 {
		Ticks::<T>::get()
	}
}

impl<T: Config> Pallet<T> {
	/// The present height.
	pub fn now() -> BlockNumber {
		Self::height()
	}

	/// The present height and tick.
	pub(crate) fn moment() -> Since {
		Since { tick: Ticks::<T>::get(), height: Self::now() }
	}

	/// Counts the block if the court's room was not full in it.
	pub(crate) fn close_block() {
		if !T::Room::is_full() {
			Ticks::<T>::mutate(|ticks| *ticks = ticks.saturating_add(1));
		}
	}

	/// Returns whether the side that is to move has no time left.
	pub(crate) fn is_over(dispute: &DisputeOf<T>) -> bool {
		dispute.clocks.left(dispute.side(), &Self::moment()) == 0
	}

	/// Returns whether it is too late to show what was committed to.
	pub(crate) fn has_lapsed(commitment: &CommitmentOf<T>) -> bool {
		commitment.since.ticks_until(&Self::moment()) > T::RevealBlocks::get()
	}

	/// Lets the clock of the side that is to move run, and looks again when it can have run out.
	pub(crate) fn start(id: DisputeId, dispute: &mut DisputeOf<T>) {
		let now = Self::moment();
		Self::grow(dispute);
		dispute.clocks.start(&now);
		let left = dispute.clocks.left(dispute.side(), &now);
		Self::schedule(Task::Dispute(id), now.height.saturating_add(left));
	}

	/// Lets the clock of the side that is to move stand. One that has run out is served in the next block.
	pub(crate) fn stop(id: DisputeId, dispute: &mut DisputeOf<T>) {
		let now = Self::moment();
		Self::grow(dispute);
		dispute.clocks.stop(dispute.side(), &now);
		match dispute.clocks.left(dispute.side(), &now) {
			0 => Self::schedule(Task::Dispute(id), now.height),
			_ => Self::unschedule(Task::Dispute(id)),
		}
	}

	/// Serves what is due of the dispute, or the commitment, with this number.
	pub(crate) fn do_poke(id: DisputeId) -> Result<(), DispatchError> {
		if let Some(commitment) = Commitments::<T>::get(id) {
			ensure!(Self::has_lapsed(&commitment), Error::<T>::NotDue);
			Self::unschedule(Task::Commitment(id));
			Self::look_at_commitment(id);
			return Ok(());
		}
		let dispute = Self::read(id).ok_or(Error::<T>::NoDispute)?;
		ensure!(Self::serve_dispute(id, dispute), Error::<T>::NotDue);
		Ok(())
	}

	/// Ends a commitment that nobody opened in time; looks again if there is time.
	fn look_at_commitment(id: DisputeId) {
		let Some(commitment) = Commitments::<T>::get(id) else { return };
		if Self::has_lapsed(&commitment) {
			Self::lapse(id, commitment);
		} else {
			let now = Self::moment();
			let passed = commitment.since.ticks_until(&now);
			let left = T::RevealBlocks::get().saturating_sub(passed).saturating_add(1);
			Self::schedule(Task::Commitment(id), now.height.saturating_add(left));
		}
	}

	/// Serves a dispute; looks again if nothing is due and its clock runs.
	fn look_at_dispute(id: DisputeId) {
		let Some(mut dispute) = Self::read(id) else { return };
		if !Self::serve_dispute(id, dispute.clone()) && dispute.clocks.since.is_some() {
			Self::start(id, &mut dispute);
		}
	}

	/// Ends a dispute whose clock ran out. Where what the defender is asked for stands already, its turn
	/// is over instead. Returns whether anything was due.
	fn serve_dispute(id: DisputeId, dispute: DisputeOf<T>) -> bool {
		if Convicted::<T>::contains_key(dispute.defendant.job(), &dispute.defendant) {
			Self::end(id, dispute, Ending::Moot);
			return true;
		}
		if let Some(stage) = Self::said_since(&dispute) {
			// What was said in another dispute is said in all, and nobody is convicted for not saying it
			// twice.
			Self::pass(id, dispute, stage);
			return true;
		}
		if !Self::is_over(&dispute) {
			return false;
		}
		let ending = match dispute.side() {
			// About a claim that is gone neither side can move, and neither loses by that.
			_ if T::Accused::case(&dispute.defendant).is_none() => Ending::Moot,
			Side::Challenger => Ending::Acquitted { by_clock: true },
			Side::Defender => Ending::Convicted { by_clock: true },
		};
		Self::end(id, dispute, ending);
		true
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	fn at(tick: u32, height: BlockNumber) -> Since {
		Since { tick, height }
	}

	#[test]
	fn ticks_count_and_at_least_a_quarter_of_all_blocks() {
		let since = at(10, 100);
		assert_eq!(since.ticks_until(&at(10, 100)), 0);
		assert_eq!(since.ticks_until(&at(15, 105)), 5);
		assert_eq!(since.ticks_until(&at(15, 108)), 5, "three full blocks");
		assert_eq!(since.ticks_until(&at(10, 103)), 0);
		assert_eq!(since.ticks_until(&at(10, 104)), 1);
		assert_eq!(since.ticks_until(&at(11, 140)), 10);
	}

	/// Full blocks count a quarter over all moves together, however often a clock is stopped.
	#[test]
	fn a_clock_that_is_stopped_again_and_again_does_not_stand() {
		for span in 1..9 {
			let mut clocks = Clocks::new(100);
			for begin in (0..160).step_by(span as usize) {
				clocks.start(&at(7, begin));
				clocks.stop(Side::Defender, &at(7, (begin + span).min(160)));
			}
			assert_eq!((clocks.defender, clocks.defender_rest), (60, 0), "{span}");
		}
		// Blocks with room count once, and leave nothing over.
		let mut clocks = Clocks::new(100);
		for begin in (0..60).step_by(3) {
			clocks.start(&at(begin, begin));
			clocks.stop(Side::Challenger, &at(begin + 3, begin + 3));
		}
		assert_eq!((clocks.challenger, clocks.challenger_rest, clocks.defender), (40, 0, 100));
	}

	#[test]
	fn each_side_has_its_own_clock() {
		let mut clocks = Clocks::new(20);
		assert_eq!(clocks.left(Side::Defender, &at(9, 9)), 20, "it stands");
		clocks.start(&at(10, 10));
		clocks.start(&at(12, 12));
		assert_eq!(
			clocks.left(Side::Defender, &at(15, 15)),
			15,
			"it runs since it was started first"
		);
		clocks.stop(Side::Defender, &at(16, 16));
		assert_eq!((clocks.challenger, clocks.defender, clocks.since), (20, 14, None));
		clocks.start(&at(20, 20));
		assert_eq!(clocks.left(Side::Challenger, &at(39, 39)), 1);
		assert_eq!(clocks.left(Side::Challenger, &at(40, 40)), 0);
		clocks.stop(Side::Challenger, &at(99, 99));
		assert_eq!((clocks.challenger, clocks.defender), (0, 14));
	}
}
