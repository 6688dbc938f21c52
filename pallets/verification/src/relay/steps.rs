//! The clock of relays: from the draw of a committee to its answer.

use super::record::{last, Asking, Relay, RelaySeat, MAX_RELAY_DRAWS};
use crate::{
	seats::Seating, AuditRecords, Config, Event, Fault, Pallet, Pool, RelayAgenda, RelayCursor,
	RelayDue, Relays, Room, WeightInfo,
};
use alloc::vec::Vec;
use codec::Encode;
use frame_support::{
	traits::{fungible::MutateHold, tokens::Precision, Get},
	weights::Weight,
	BoundedVec,
};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	job::BlockNumber,
	relay::{RelayId, RelayStage, APPEAL_SEATS, SEATS},
	H256,
};
use trainyard_traits::{AwaitedBlobs, Beacon, Seed};

/// Domain of the seeds of a relay.
const SEED: &[u8] = b"trainyard/relay/v1";
/// Domain of the draw of a committee.
const COMMITTEE: &[u8] = b"trainyard/relay/committee/v1";
/// Blocks until a committee is looked for again, the first time.
const FIRST_WAIT: BlockNumber = 10;
/// The part of a period in which a seat brings a chunk that it is asked for.
const BRING_PART: BlockNumber = 6;
/// Relays that a block takes a step further at least.
const STEPS: u64 = 2;

/// What a look at a relay leads to.
enum Next {
	/// It moved: look again.
	Again,
	/// Nothing can happen before this height, unless everyone is done earlier.
	Wait(BlockNumber),
	/// It ends: the piece is held, or it is not; `None` where nobody said so.
	End(Option<bool>),
}

impl<T: Config> Clock for Pallet<T> {
	type Runtime = T;
	type Task = RelayId;
	type Agenda = RelayAgenda<T>;
	type Due = RelayDue<T>;
	type Cursor = RelayCursor<T>;

	fn look_weight() -> Weight {
		T::DbWeight::get().reads_writes(2, 1)
	}

	fn key_weight() -> Weight {
		T::DbWeight::get().reads_writes(1, 1)
	}

	fn worst_task() -> Weight {
		// A step reads two seeds at most: of the stage, and of the chunks that are asked for.
		T::WeightInfo::relay_step()
			.saturating_add(T::WeightInfo::seat(Room::<T::MaxPool>::get()))
			.saturating_add(T::Beacon::seed_weight().saturating_mul(2))
	}

	fn perform(id: RelayId) -> Weight {
		RelayDue::<T>::remove(id);
		Self::step_relay(id);
		Self::worst_task()
	}
}

impl<T: Config> Pallet<T> {
	/// Returns the most weight that a block gives to relays: that of two steps.
	pub(crate) fn relays_weight() -> Weight {
		let step = <Self as Clock>::worst_task().saturating_add(<Self as Clock>::key_weight());
		let look = <Self as Clock>::look_weight().saturating_mul(STEPS);
		step.saturating_mul(STEPS).saturating_add(look)
	}

	/// Takes a relay as far as it goes at this height.
	pub(crate) fn step_relay(id: RelayId) {
		let Some(mut relay) = Relays::<T>::get(id) else { return };
		let now = Self::now();
		let open = AuditRecords::<T>::get(relay.job).is_some_and(|audit| {
			let group = audit.groups.get(relay.group as usize);
			group.is_some_and(|group| group.decision.is_none())
		});
		// Ends: a stage is left once in a look, but for one in which nobody has anything to do, and the
		// two votes have an end.
		loop {
			let next = match open {
				true => Self::look_at_relay(id, &mut relay, now),
				// Of what is decided nobody needs to know more.
				false => Next::End(None),
			};
			match next {
				Next::Again => {}
				Next::Wait(at) => {
					Relays::<T>::insert(id, relay);
					Self::schedule(id, at);
					return;
				}
				Next::End(held) => return Self::end_relay(id, relay, held),
			}
		}
	}

	fn look_at_relay(id: RelayId, relay: &mut Relay<T::AccountId>, now: BlockNumber) -> Next {
		let full = T::Blobs::full_blocks();
		match relay.stage {
			RelayStage::Drawing { after } => {
				let subject = (id, relay.appeal.is_some(), relay.draws).encode();
				match T::Beacon::seed(SEED, &subject, after) {
					Seed::NotBefore(at) => Next::Wait(at),
					Seed::Lost => {
						let after = T::Beacon::draw_height(now);
						relay.stage = RelayStage::Drawing { after };
						Next::Wait(now.saturating_add(1))
					}
					Seed::Ready(seed) => Self::draw_relay(id, relay, &seed, after, now),
				}
			}
			RelayStage::Saying { until } => {
				let last = relay.last(until, full);
				if now <= last && relay.is_saying() {
					return Next::Wait(last.saturating_add(1));
				}
				match relay.seats.iter().any(RelaySeat::owes) {
					true => {
						let after = T::Beacon::draw_height(now);
						relay.stage = RelayStage::Seeding { after };
						Next::Again
					}
					false => Self::answer_relay(id, relay, now),
				}
			}
			RelayStage::Seeding { after } => {
				let subject = (id, relay.appeal.is_some(), relay.served, b"show").encode();
				match T::Beacon::seed(SEED, &subject, after) {
					Seed::NotBefore(at) => Next::Wait(at),
					Seed::Lost => {
						let after = T::Beacon::draw_height(now);
						relay.stage = RelayStage::Seeding { after };
						Next::Wait(now.saturating_add(1))
					}
					Seed::Ready(seed) => {
						let until = Self::begin(relay, now);
						relay.stage = RelayStage::Showing { seed, until };
						Self::deposit_event(Event::RelayChunksDrawn { relay: id, seed, until });
						Next::Again
					}
				}
			}
			RelayStage::Showing { until, .. } => {
				let last = relay.last(until, full);
				if now <= last && relay.seats.iter().any(RelaySeat::owes) {
					return Next::Wait(last.saturating_add(1));
				}
				Self::lose_seats(id, relay, RelaySeat::owes);
				Self::answer_relay(id, relay, now)
			}
			RelayStage::Serving { until } => {
				let last = relay.last(until, full);
				if now <= last {
					return Next::Wait(last.saturating_add(1));
				}
				relay.served = true;
				let until = Self::begin(relay, now);
				relay.stage = RelayStage::Saying { until };
				Self::deposit_event(Event::RelayVote { relay: id, until });
				Next::Again
			}
			RelayStage::Held { until } => {
				let last = relay.last(until, full);
				let asking = Self::look_at_asking(id, relay, now);
				if !relay.is_held() {
					Self::end_asking(relay);
					return Self::answer_relay(id, relay, now);
				}
				match asking {
					Some(at) if now <= last => Next::Wait(at.min(last.saturating_add(1))),
					Some(at) => Next::Wait(at),
					None if now <= last => Next::Wait(last.saturating_add(1)),
					None => Next::End(Some(true)),
				}
			}
			RelayStage::Lacking { until } => {
				let last = relay.last(until, full);
				match now <= last {
					true => Next::Wait(last.saturating_add(1)),
					false => Next::End(Some(false)),
				}
			}
		}
	}

	/// Begins a period of a relay; returns its last block.
	fn begin(relay: &mut Relay<T::AccountId>, now: BlockNumber) -> BlockNumber {
		relay.since = (now, T::Blobs::full_blocks());
		now.saturating_add(relay.span)
	}

	/// Draws the committee of a relay, or looks for one later. Where there is none the answer stands that
	/// there is, or nothing is said.
	fn draw_relay(
		id: RelayId,
		relay: &mut Relay<T::AccountId>,
		seed: &H256,
		after: BlockNumber,
		now: BlockNumber,
	) -> Next {
		let Some(audit) = AuditRecords::<T>::get(relay.job) else { return Next::End(None) };
		let mut excluded: Vec<T::AccountId> = audit.parties.into_inner();
		excluded.extend(audit.barred);
		excluded.extend(audit.committee.into_iter().map(|member| member.verifier));
		excluded.extend(relay.before.iter().map(|seat| seat.who.clone()));
		excluded.push(relay.by.clone());
		excluded.extend(relay.appeal.iter().map(|appeal| appeal.by.clone()));
		let seating =
			Seating { after, excluded: &excluded, needs: &relay.needs, stake: relay.stake };
		let (wanted, least) = match relay.appeal {
			None => (SEATS, T::MinSeats::get()),
			// A smaller one would be no better.
			Some(_) => (APPEAL_SEATS, (relay.before.len() as u32).saturating_add(1)),
		};
		let count = |eligible: usize| {
			let seats = wanted.min(eligible as u32);
			let odd = seats.saturating_sub(u32::from(seats.is_multiple_of(2)));
			if odd >= least {
				odd as usize
			} else {
				0
			}
		};
		let drawn = Self::seat_drawn(COMMITTEE, seed, &seating, count, false);
		if drawn.is_empty() {
			relay.draws = relay.draws.saturating_add(1);
			if relay.draws >= MAX_RELAY_DRAWS {
				return Self::without_committee(id, relay);
			}
			let longer = 1u32.checked_shl(relay.draws).unwrap_or(u32::MAX);
			let pause = FIRST_WAIT.saturating_mul(longer).min(T::MaxWaitBlocks::get());
			let after = T::Beacon::draw_height(now.saturating_add(pause));
			relay.stage = RelayStage::Drawing { after };
			return Next::Again;
		}
		relay.places.get_or_insert(*seed);
		let seats: Vec<T::AccountId> = drawn.into_iter().map(|(who, _)| who).collect();
		relay.seats =
			BoundedVec::truncate_from(seats.iter().cloned().map(RelaySeat::new).collect());
		let until = Self::begin(relay, now);
		relay.stage = RelayStage::Saying { until };
		Self::deposit_event(Event::RelayDrawn { relay: id, seats, until });
		Next::Again
	}

	/// Ends what no committee can be drawn for: with the answer that somebody doubted, or without one.
	fn without_committee(id: RelayId, relay: &mut Relay<T::AccountId>) -> Next {
		let Some(appeal) = relay.appeal.take() else { return Next::End(None) };
		Self::release_for_relay(&appeal.by, appeal.prepaid);
		relay.seats = BoundedVec::truncate_from(core::mem::take(&mut relay.before).into_inner());
		Self::deposit_event(Event::RelayAppealFailed { relay: id });
		Next::End(Some(appeal.held))
	}

	/// Finds what the committee says after a vote, or after seats lost their stakes.
	fn answer_relay(id: RelayId, relay: &mut Relay<T::AccountId>, now: BlockNumber) -> Next {
		let until = Self::begin(relay, now);
		let (held, served) = (relay.is_held(), relay.served);
		relay.stage = match (held, served) {
			(true, _) => RelayStage::Held { until },
			(false, false) => RelayStage::Serving { until },
			(false, true) if relay.appeal.is_some() => return Next::End(Some(false)),
			(false, true) => RelayStage::Lacking { until },
		};
		Self::deposit_event(Event::RelayAnswered { relay: id, held, last: served, until });
		Next::Again
	}

	/// Looks at the chunks that seats are asked for. Returns when something can happen next; `None` where
	/// nobody is asked.
	fn look_at_asking(
		id: RelayId,
		relay: &mut Relay<T::AccountId>,
		now: BlockNumber,
	) -> Option<BlockNumber> {
		loop {
			match relay.asking {
				None => {
					relay.seats.iter().find(|seat| seat.asked.is_some())?;
					for seat in relay.seats.iter_mut() {
						if let Some((_, runs)) = seat.asked.as_mut() {
							*runs = true;
						}
					}
					let after = T::Beacon::draw_height(now);
					relay.asking = Some(Asking::Seeding { after });
				}
				Some(Asking::Seeding { after }) => {
					let subject = (id, after, b"ask").encode();
					match T::Beacon::seed(SEED, &subject, after) {
						Seed::NotBefore(at) => return Some(at),
						Seed::Lost => {
							let after = T::Beacon::draw_height(now);
							relay.asking = Some(Asking::Seeding { after });
							return Some(now.saturating_add(1));
						}
						Seed::Ready(seed) => {
							let time = relay.span.checked_div(BRING_PART).unwrap_or(1).max(3);
							let until = now.saturating_add(time);
							let since = (now, T::Blobs::full_blocks());
							relay.asking = Some(Asking::Running { seed, until, since });
							let relay = id;
							Self::deposit_event(Event::RelayChunksDrawn { relay, seed, until });
						}
					}
				}
				Some(Asking::Running { until, since, .. }) => {
					let runs = |seat: &RelaySeat<_>| matches!(seat.asked, Some((_, true)));
					let end = last(since, until, T::Blobs::full_blocks());
					if now <= end && relay.seats.iter().any(runs) {
						return Some(end.saturating_add(1));
					}
					Self::lose_seats(id, relay, runs);
					relay.asking = None;
				}
			}
		}
	}

	/// Takes their stakes from the seats that did not open what they had to. Who asked them has its money
	/// back.
	fn lose_seats(
		id: RelayId,
		relay: &mut Relay<T::AccountId>,
		is_late: impl Fn(&RelaySeat<T::AccountId>) -> bool,
	) {
		if !relay.seats.iter().any(&is_late) {
			return;
		}
		let (fee, stake, ask) = (relay.fee, relay.stake, relay.ask);
		Pool::<T>::mutate(|pool| {
			for seat in relay.seats.iter_mut().filter(|seat| is_late(seat)) {
				seat.lost = true;
				if let Some((payer, _)) = seat.asked.take() {
					Self::release_for_relay(&payer, ask);
				}
				let Some(entry) = pool.get_mut(&seat.who) else { continue };
				let fault = Fault::NotShown;
				let amount = Self::take(entry, &seat.who, fault, fee, stake);
				entry.unlock(stake);
				let verifier = seat.who.clone();
				Self::deposit_event(Event::RelaySlashed { relay: id, verifier, amount, fault });
			}
		});
	}

	/// Ends what seats are asked for, without a fault of theirs.
	pub(crate) fn end_asking(relay: &mut Relay<T::AccountId>) {
		relay.asking = None;
		let ask = relay.ask;
		for seat in relay.seats.iter_mut() {
			if let Some((payer, _)) = seat.asked.take() {
				Self::release_for_relay(&payer, ask);
			}
		}
	}

	/// Gives back what `who` has on hold for a relay.
	pub(crate) fn release_for_relay(who: &T::AccountId, amount: u128) {
		if amount > 0 {
			let reason = super::record::REASON.into();
			let _ = T::Currency::release(&reason, who, amount, Precision::BestEffort);
		}
	}
}
