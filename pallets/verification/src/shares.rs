//! The list of what was asked for of a result: who has how much of it.
//!
//! What is asked for is stored, and stays in the list, so a cheat that stores small pieces for a friend fills
//! what friends can fill, for the fees of it. So the list has three parts, of which none takes room of
//! another:
//!
//! - **What everybody reads**: the leaves, all rows, and the last state. There is always room for these.
//! - **What a committee asks for** in a round. Each seat has an equal [share](seat_share), which counts what it
//!   named and did not withdraw. So a seat that asks for what it does not need takes room of nobody, and
//!   nobody has to pay for room. The next committee begins with an empty list: where it asks for what is on
//!   chain already, the trainers name it again.
//! - **What is asked for while results stand**: [`LATE_PIECES`] at a time. As many are kept of those that are
//!   on chain; where others need the room the oldest are let go, which can be asked for again. So this part is
//!   never full for ever, and each further piece of a result is dearer than the one before (`places`).
//!
//! A seat that used up its share with states, and still lacks some, could not ask for those: its
//! *unavailable* is heard (`Pallet::has_used_up`). It paid for what was stored, and has that back as
//! others have.

use crate::{places::Wanted, Asked, AuditOf, Claims, Config, Error, Group, Kept, Pallet};
use alloc::{collections::BTreeSet, vec::Vec};
use frame_support::{ensure, traits::Get};
use sp_runtime::DispatchResult;
use trainyard_protocol::{
	pieces::{seat_share, Piece, PieceSizes, LATE_PIECES, MAX_RANGES},
	JobId,
};

impl<AccountId> Group<AccountId> {
	/// Returns whether a piece takes of the room that others have: not one that everybody reads.
	pub(crate) fn counts(&self, sizes: &PieceSizes, piece: &Piece) -> bool {
		!sizes.is_common(piece, &self.result)
	}

	/// Counts that what was asked for while results stood is on chain now, and notes of all that it is.
	pub(crate) fn note_stored(&mut self, sizes: &PieceSizes) {
		let result = self.result;
		for asked in self.asked.iter_mut().filter(|asked| !asked.stored) {
			asked.stored = true;
			let counts = asked.late && !sizes.is_common(&asked.piece, &result);
			self.late = self.late.saturating_add(counts.into());
		}
	}

	/// Lets the oldest pieces go that were asked for while results stood, are on chain, and are `such`, as far
	/// as those that are `such` are more than `most`. Returns whether some did.
	fn forget_oldest(&mut self, most: u32, such: impl Fn(&Asked) -> bool) -> bool {
		let is_such = |asked: &Asked| asked.late && such(asked);
		let all = self.asked.iter().filter(|asked| is_such(asked)).count();
		let mut over = all.saturating_sub(most as usize);
		let some = over > 0;
		self.asked.retain(|asked| {
			let goes = over > 0 && asked.stored && is_such(asked);
			over = over.saturating_sub(goes.into());
			!goes
		});
		some
	}
}

impl<T: Config> Pallet<T> {
	/// Returns what of a seat's share of the list of a result is taken: by what it named in this round and did
	/// not withdraw.
	pub(crate) fn named(
		job: JobId,
		audit: &AuditOf<T>,
		who: &T::AccountId,
		group: u32,
	) -> BTreeSet<Piece> {
		let Some(found) = audit.groups.get(group as usize) else { return BTreeSet::new() };
		let claims = Claims::<T>::get(job, who);
		let of_group = claims.iter().filter(|claim| claim.group == group);
		let pieces = of_group.flat_map(|claim| claim.pieces.iter().copied());
		pieces.filter(|piece| found.counts(&audit.sizes, piece)).collect()
	}

	/// Returns whether a seat used up its share of the list of a result with states that are on chain now: it
	/// cannot ask for what it still lacks.
	pub(crate) fn has_used_up(
		job: JobId,
		audit: &AuditOf<T>,
		who: &T::AccountId,
		group: u32,
	) -> bool {
		let named = Self::named(job, audit, who, group);
		let states = named.iter().filter(|piece| matches!(piece, Piece::State(_))).count();
		states >= seat_share(audit.committee.len() as u32) as usize
	}

	/// Fails where a seat of a committee that works has no room for what is `wanted`: what is beyond its
	/// share, or more than trainers can store at a time. There nobody is displaced.
	pub(crate) fn find_room(
		job: JobId,
		audit: &AuditOf<T>,
		who: &T::AccountId,
		wanted: &Wanted<'_>,
	) -> DispatchResult {
		let found = audit.groups.get(wanted.group as usize).ok_or(Error::<T>::NoSuchGroup)?;
		let new = || wanted.pieces.iter().filter(|(piece, _)| !found.has_asked(piece));
		let bytes = new().fold(found.open_bytes(), |sum, (_, size)| sum.saturating_add(*size));
		let is_range = |piece: &Piece| {
			matches!(piece, Piece::Rows { .. }) && found.counts(&audit.sizes, piece)
		};
		let before = found.asked.iter().filter(|asked| is_range(&asked.piece)).count();
		let ranges = before.saturating_add(new().filter(|(piece, _)| is_range(piece)).count());
		let mut own = Self::named(job, audit, who, wanted.group);
		let pieces = wanted.pieces.iter().map(|(piece, _)| *piece);
		own.extend(pieces.filter(|piece| found.counts(&audit.sizes, piece)));
		let share = seat_share(audit.committee.len() as u32);
		let fits = own.len() <= share as usize && ranges <= MAX_RANGES as usize;
		ensure!(fits, Error::<T>::TooManyPieces);
		// Nobody may ask for more than can be stored, and have it taken for withheld.
		ensure!(bytes <= T::MaxRescue::get(), Error::<T>::TooManyBytes);
		Ok(())
	}

	/// Lets the oldest pieces go that were asked for while results stood and are on chain, as far as what is
	/// asked for now needs their room, with the blobs that hold them.
	pub(crate) fn make_room_to_store(job: JobId, audit: &mut AuditOf<T>) {
		let sizes = audit.sizes;
		let mut some = false;
		for group in audit.groups.iter_mut() {
			let result = group.result;
			let counts = |asked: &Asked| !sizes.is_common(&asked.piece, &result);
			some |= group.forget_oldest(LATE_PIECES, counts);
			let is_range = |asked: &Asked| matches!(asked.piece, Piece::Rows { .. });
			some |= group.forget_oldest(MAX_RANGES, |asked| is_range(asked) && counts(asked));
		}
		if some {
			Self::let_go(job, audit);
		}
	}

	/// Lets the blobs go that hold nothing of what is in a list. Those of who stored them are kept for a while.
	fn let_go(job: JobId, audit: &AuditOf<T>) {
		let all: Vec<T::AccountId> = Kept::<T>::iter_key_prefix(job).collect();
		for who in all {
			let Some(group) = audit.groups.iter().find(|group| group.trainers.contains(&who))
			else {
				continue;
			};
			Kept::<T>::mutate(job, &who, |kept| {
				kept.retain(|kept| {
					let stays = group.has_asked(&kept.piece);
					if let (false, Some(root)) = (stays, kept.root) {
						Self::unwatch(&who, &root, core::slice::from_ref(&who));
					}
					stays
				});
			});
		}
	}

	/// Empties the lists for another committee.
	pub(crate) fn empty_lists(job: JobId, audit: &mut AuditOf<T>) {
		Self::end_rescues(job);
		for group in audit.groups.iter_mut() {
			group.asked = Default::default();
		}
	}
}
