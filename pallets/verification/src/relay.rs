//! Pieces that are too large for the chain, and samples of all states: a committee says whether they are to be
//! had.
//!
//! Whoever lacks such a piece while results stand asks for it, and prepays the seats of a committee that is
//! drawn for it from the pool, without the job's parties, its audit's committee and the asker.
//!
//! - Each seat says within an hour whether it has the piece. Who says so opens a chunk, by a seed that
//!   nobody knew then; who does not loses its stake. More than half of *all* seats make a majority.
//! - Where none has it the trainers have an hour to serve it to the committee, which then says it again.
//!   If it still lacks it the result is *unavailable*, unless somebody doubts that.
//! - Where a majority has it, whoever asked fetches it from the seats. For an hour anybody can ask any of
//!   them for a chunk that a later seed draws; who does not bring it loses its stake, and where no
//!   majority is left that has it, it is as if there had been none.
//! - Whoever doubts an answer can ask for a larger committee once, at its cost. Then what the majority of both
//!   together has stands.
//!
//! *Money.* A seat earns its fee where its word is the answer: who says nothing without looking earns
//! nothing where others have the piece, and who says yes without having it loses its stake. Who says nothing
//! at all pays as for an audit that it was absent from. What seats did not earn returns; where a doubt was
//! right, what the first committee did not earn is the doubter's, up to what it paid. Who asked for what
//! was not to be had has what it paid back from the audit's escrow for storing, which the trainers' deposit
//! makes whole. So has whoever asked meanwhile for another piece of that result. A seat of the audit that
//! lacked the result, or was drawn to replay it again, has the fees of the seats back from there as well, where
//! the piece was held; of samples a seat that picks by them has. Each answer that a piece is held, and each
//! relay that runs, makes the next relay of that result dearer by what its committee cost: asking again and
//! again costs the square of it. The rest of that goes to the jackpot.
//!
//! *Time.* Relays are opened for as long as challenges can be, and each ends after at most fourteen periods
//! and the seeds between them. Meanwhile the window is open. Periods stand still where blocks have no room,
//! at most three times their length.

mod endings;
mod record;
mod steps;

use crate::{
	AuditOf, AuditRecords, Config, Error, Event, HeldRelays, Locations, NextRelay, OpenRelays,
	Pallet, Relays,
};
use alloc::vec::Vec;
use frame_support::{
	ensure,
	traits::{fungible::MutateHold, Get},
	BoundedVec,
};
use record::REASON;
use sp_runtime::{ArithmeticError, DispatchResult};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	content::CHUNK_BYTES,
	job::{Balance, WorkResult},
	pieces::Piece,
	relay::{
		self, ChunkOpening, RelayId, RelaySeatView, RelayStage, RelayView, APPEAL_SEATS, ASK_PART,
		SEATS,
	},
	seats::Resources,
	JobId, H256,
};
use trainyard_traits::{AwaitedBlobs, Beacon, PieceChunks, MAX_WINDOWS};

pub use record::*;

/// Seats of a relay, by their numbers.
pub type SeatNumbers = BoundedVec<u32, frame_support::traits::ConstU32<APPEAL_SEATS>>;

impl<T: Config> Pallet<T> {
	pub(crate) fn do_request_relay(
		who: T::AccountId,
		job: JobId,
		group: u32,
		piece: Piece,
		most: Balance,
	) -> DispatchResult {
		let chunks = |result: &WorkResult| T::Chunks::chunks(job, result, piece);
		Self::open_relay(who, job, (group, piece), most, chunks)
	}

	/// Opens a relay of a piece of a group that has as many chunks as `chunks` returns of its result, for at
	/// most `most`.
	pub(crate) fn open_relay(
		who: T::AccountId,
		job: JobId,
		(group, piece): (u32, Piece),
		most: Balance,
		chunks: impl FnOnce(&WorkResult) -> u64,
	) -> DispatchResult {
		let mut audit = AuditRecords::<T>::get(job).ok_or(Error::<T>::NoAudit)?;
		let now = Self::now();
		let window = audit.window.ok_or(Error::<T>::NotStanding)?;
		// What moves the end of the window must have an end itself.
		let last = window.from.saturating_add(audit.length.saturating_mul(MAX_WINDOWS));
		ensure!(now <= last && Self::is_open(job, &audit, now), Error::<T>::TooLate);
		let found = audit
			.groups
			.get(group as usize)
			.filter(|found| found.decision.is_none())
			.ok_or(Error::<T>::NoSuchGroup)?;
		let result = found.result;
		let tensors = Self::tensor_bytes(job, core::iter::once(piece));
		ensure!(audit.sizes.exist(&[piece], &result, tensors.len()), Error::<T>::NoSuchPiece);
		let bytes = audit.sizes.of(&piece, &result, &tensors);
		let carried = piece.is_answered() && bytes <= T::MaxRescue::get();
		ensure!(!carried, Error::<T>::FitsOnChain);
		let chunks = chunks(&result);
		ensure!(chunks > 0, Error::<T>::NoSuchPiece);
		let mut open = OpenRelays::<T>::get(job);
		let same = |id: &RelayId| {
			Relays::<T>::get(id).is_some_and(|relay| (relay.group, relay.piece) == (group, piece))
		};
		ensure!(!open.iter().any(same), Error::<T>::AlreadyAsked);
		let id = NextRelay::<T>::get();
		ensure!((open.len() as u32) < MAX_RELAYS, Error::<T>::TooManyRelays);

		let opened = chunks.saturating_mul(CHUNK_BYTES);
		let hours = relay::hours(opened);
		let again = audit.recompute.blocks_of(piece.checkpoint(), result.segments);
		let fee = Self::relay_fees(&audit).of_seat(&piece, opened);
		let committee = fee.saturating_mul(SEATS.into());
		// Those that run count as if they had found it held: whoever asks for much at once pays no less.
		let running = open.iter().filter_map(Relays::<T>::get).filter(|r| r.group == group);
		let held = HeldRelays::<T>::get(job, group);
		let surcharge =
			running.fold(held, |sum, relay| sum.saturating_add(relay.of_first_committee()));
		let prepaid = committee.checked_add(surcharge).ok_or(ArithmeticError::Overflow)?;
		ensure!(prepaid <= most, Error::<T>::RelayTooDear);
		T::Currency::hold(&REASON.into(), &who, prepaid)?;
		let disk_mib = match piece {
			// Of rows the files and what is decoded of them, which every seat of the audit has as well.
			Piece::Rows { .. } => audit.needs.disk_mib,
			// What opens a chunk is kept as well: 31 hashes at most, and the content of its tensor.
			Piece::Samples => {
				u32::try_from(bytes.saturating_mul(2).div_ceil(1 << 20)).unwrap_or(u32::MAX)
			}
			_ => u32::try_from(bytes.div_ceil(1 << 20)).unwrap_or(u32::MAX),
		};
		let relay = Relay {
			job,
			group,
			piece,
			chunks,
			by: who.clone(),
			prepaid,
			surcharge,
			fee,
			ask: T::RelayFee::get().checked_div(ASK_PART).unwrap_or(0),
			stake: T::SeatStake::get(),
			needs: Resources { work: 0, memory_mib: 0, disk_mib },
			// Trainers may have to compute a state again before they give it.
			span: T::RelayHour::get().saturating_mul(hours).saturating_add(again),
			places: None,
			stage: RelayStage::Drawing { after: T::Beacon::draw_height(now) },
			since: (now, T::Blobs::full_blocks()),
			served: false,
			draws: 0,
			seats: Default::default(),
			asking: None,
			appeal: None,
			before: Default::default(),
		};
		open.try_push(id).map_err(|_| Error::<T>::TooManyRelays)?;
		if let Some(found) = audit.groups.get_mut(group as usize) {
			// By samples nobody replays anything: who lacked a state asks for that.
			found.relayed |= piece != Piece::Samples;
		}
		NextRelay::<T>::put(id.saturating_add(1));
		OpenRelays::<T>::insert(job, &open);
		audit.relays = open.len() as u32;
		AuditRecords::<T>::insert(job, audit);
		Relays::<T>::insert(id, relay);
		Self::schedule(id, now.saturating_add(1));
		Self::deposit_event(Event::RelayAsked { relay: id, job, group, piece, who, prepaid });
		Ok(())
	}

	/// Returns what seats of relays of an audit's results earn.
	pub(crate) fn relay_fees(audit: &AuditOf<T>) -> relay::Fees {
		relay::Fees::of(T::RelayFee::get(), audit.price)
	}

	pub(crate) fn do_say(who: T::AccountId, id: RelayId, has: bool) -> DispatchResult {
		let mut relay = Relays::<T>::get(id).ok_or(Error::<T>::NoRelay)?;
		let RelayStage::Saying { until } = relay.stage else {
			return Err(Error::<T>::NotSaying.into());
		};
		let last = relay.last(until, T::Blobs::full_blocks());
		ensure!(Self::now() <= last, Error::<T>::TooLate);
		let seat = relay.seat_mut(&who).ok_or(Error::<T>::NotOnCommittee)?;
		// Who showed it has it, and who lost its stake is not heard any more.
		ensure!(!seat.shown && !seat.lost, Error::<T>::HasSaid);
		seat.says = Some(has);
		let done = !relay.is_saying();
		Relays::<T>::insert(id, relay);
		Self::deposit_event(Event::RelaySaid { relay: id, who, has });
		if done {
			Self::hasten(id);
		}
		Ok(())
	}

	pub(crate) fn do_show_chunk(
		who: T::AccountId,
		id: RelayId,
		opening: ChunkOpening,
	) -> DispatchResult {
		Self::take_chunk(who, id, |job, results, piece, number| {
			let result = results.iter().find(|result| opening.fits(result));
			result.is_some_and(|of| T::Chunks::opens(job, of, piece, number, &opening))
		})
	}

	/// Takes what a seat brings, where `opens` says that it is the chunk of this number, of the result in one of
	/// these bundles.
	pub(crate) fn take_chunk(
		who: T::AccountId,
		id: RelayId,
		opens: impl FnOnce(JobId, &[WorkResult], (Piece, &H256), u64) -> bool,
	) -> DispatchResult {
		let mut relay = Relays::<T>::get(id).ok_or(Error::<T>::NoRelay)?;
		let (job, piece, chunks, ask) = (relay.job, relay.piece, relay.chunks, relay.ask);
		// There is a committee, so there are places.
		let places = relay.places.unwrap_or_default();
		let at = relay.seats.iter().position(|seat| seat.who == who);
		let at = at.ok_or(Error::<T>::NotOnCommittee)?;
		let (seed, last) = Self::due(&relay, at).ok_or(Error::<T>::NothingToShow)?;
		ensure!(Self::now() <= last, Error::<T>::TooLate);
		let audit = AuditRecords::<T>::get(job).ok_or(Error::<T>::NoAudit)?;
		let group = audit.groups.get(relay.group as usize).ok_or(Error::<T>::NoSuchGroup)?;
		// In whichever bundle it has: at which seats look changes when a trainer is convicted. What opened its
		// forced leaves has the same states as all others.
		let results = group.opened_results();
		let number = relay::drawn(&seed, &who, chunks);
		ensure!(opens(job, &results, (piece, &places), number), Error::<T>::WrongChunk);
		let Some(seat) = relay.seats.get_mut(at) else {
			return Err(Error::<T>::NotOnCommittee.into());
		};
		match seat.asked.take() {
			Some((payer, _)) if seat.shown => {
				Self::pay_for_relay(&payer, &who, ask);
			}
			asked => (seat.asked, seat.shown) = (asked, true),
		}
		let shows = matches!(relay.stage, RelayStage::Showing { .. });
		let done = match shows {
			true => !relay.seats.iter().any(RelaySeat::owes),
			false => !relay.seats.iter().any(|s| matches!(s.asked, Some((_, true)))),
		};
		Relays::<T>::insert(id, relay);
		Self::deposit_event(Event::RelayShown { relay: id, who, chunk: number });
		if done {
			Self::hasten(id);
		}
		Ok(())
	}

	/// Returns by which seed the seat number `at` must open a chunk now, and the last block for that;
	/// `None` where it must not.
	fn due(relay: &Relay<T::AccountId>, at: usize) -> Option<(H256, u32)> {
		let seat = relay.seats.get(at)?;
		let full = T::Blobs::full_blocks();
		match (relay.stage, relay.asking) {
			(RelayStage::Showing { seed, until }, _) if seat.owes() => {
				Some((seed, relay.last(until, full)))
			}
			(RelayStage::Held { .. }, Some(Asking::Running { seed, until, since }))
				if seat.has() && matches!(seat.asked, Some((_, true))) =>
			{
				Some((seed, record::last(since, until, full)))
			}
			_ => None,
		}
	}

	pub(crate) fn do_ask_seats(
		who: T::AccountId,
		id: RelayId,
		numbers: SeatNumbers,
	) -> DispatchResult {
		let mut relay = Relays::<T>::get(id).ok_or(Error::<T>::NoRelay)?;
		let RelayStage::Held { until } = relay.stage else {
			return Err(Error::<T>::NotHeld.into());
		};
		let last = relay.last(until, T::Blobs::full_blocks());
		ensure!(Self::now() <= last, Error::<T>::TooLate);
		let mut price: Balance = 0;
		for number in &numbers {
			let seat = relay.seats.get_mut(*number as usize).ok_or(Error::<T>::NoSuchSeat)?;
			ensure!(seat.has(), Error::<T>::NoSuchSeat);
			// Whoever asks a seat that is asked has nothing to add.
			if seat.asked.is_none() {
				seat.asked = Some((who.clone(), false));
				price = price.saturating_add(relay.ask);
			}
		}
		ensure!(price > 0, Error::<T>::AlreadyAsked);
		T::Currency::hold(&REASON.into(), &who, price)?;
		Relays::<T>::insert(id, relay);
		Self::deposit_event(Event::RelaySeatsAsked { relay: id, who, seats: numbers.to_vec() });
		Self::hasten(id);
		Ok(())
	}

	pub(crate) fn do_appeal(who: T::AccountId, id: RelayId) -> DispatchResult {
		let mut relay = Relays::<T>::get(id).ok_or(Error::<T>::NoRelay)?;
		ensure!(relay.appeal.is_none(), Error::<T>::AlreadyAppealed);
		let (until, held) = match relay.stage {
			RelayStage::Held { until } => (until, true),
			RelayStage::Lacking { until } => (until, false),
			_ => return Err(Error::<T>::NoAnswer.into()),
		};
		let now = Self::now();
		ensure!(now <= relay.last(until, T::Blobs::full_blocks()), Error::<T>::TooLate);
		let prepaid = relay.fee.saturating_mul(APPEAL_SEATS.into());
		T::Currency::hold(&REASON.into(), &who, prepaid)?;
		// What seats were asked for is not needed any more.
		Self::end_asking(&mut relay);
		// At most as many as the first committee has.
		relay.before = BoundedVec::truncate_from(core::mem::take(&mut relay.seats).into_inner());
		relay.appeal = Some(Appeal { by: who.clone(), prepaid, held });
		(relay.served, relay.draws) = (false, 0);
		relay.stage = RelayStage::Drawing { after: T::Beacon::draw_height(now) };
		Relays::<T>::insert(id, relay);
		Self::schedule(id, now.saturating_add(1));
		Self::deposit_event(Event::RelayAppealed { relay: id, who, held, prepaid });
		Ok(())
	}

	/// Returns the relays of a job that run, as clients read them.
	pub(crate) fn relays_view(job: JobId) -> Vec<RelayView<T::AccountId>> {
		let ids = OpenRelays::<T>::get(job);
		ids.iter().filter_map(|id| Self::relay_view(*id)).collect()
	}

	fn relay_view(id: RelayId) -> Option<RelayView<T::AccountId>> {
		let relay = Relays::<T>::get(id)?;
		let full = T::Blobs::full_blocks();
		let until = match relay.stage {
			RelayStage::Drawing { .. } | RelayStage::Seeding { .. } => None,
			RelayStage::Saying { until }
			| RelayStage::Showing { until, .. }
			| RelayStage::Serving { until }
			| RelayStage::Held { until }
			| RelayStage::Lacking { until } => Some(relay.last(until, full)),
		};
		let seats = relay
			.seats
			.iter()
			.enumerate()
			.map(|(at, seat)| RelaySeatView {
				who: seat.who.clone(),
				says: seat.says,
				shown: seat.shown,
				lost: seat.lost,
				due: Self::due(&relay, at)
					.map(|(seed, _)| relay::drawn(&seed, &seat.who, relay.chunks)),
				location: Locations::<T>::get(&seat.who),
			})
			.collect();
		Some(RelayView {
			id,
			job: relay.job,
			group: relay.group,
			piece: relay.piece,
			chunks: relay.chunks,
			places: relay.places,
			by: relay.by,
			fee: relay.fee,
			stage: relay.stage,
			until,
			appealed: relay.appeal.is_some(),
			seats,
		})
	}
}
