//! Who has a place among those who ask for something while results stand.
//!
//! Places, pieces and bytes are bounded, and whoever asks has what it prepaid back when it withdraws. So
//! a crowd could ask for nothing again and again, and keep all others from asking. Two rules make room:
//!
//! - **Who pledges more displaces who pledged least**, by the part of the room that each takes. A pledge
//!   is held beside the price of the bytes. Who is displaced has both back at once. All room is sixteen
//!   parts: a part is one of [`MAX_STRANGERS`] places, and a 16th of the bytes, the [pieces](LATE_PIECES) and
//!   the ranges that can be asked for at a time. So a crowd that keeps out who needs one part locks 16 times what
//!   that one does.
//! - **A part of a pledge is the price of its place**, one in [`PLEDGE_PART`]. It goes to the jackpot when
//!   its owner withdraws, or has what it asked for from the chain. It returns to who was displaced, and
//!   where the result is lost: who asked for what is withheld pays nothing.
//!
//! A crowd that keeps somebody out who is ready to pledge L for a part pays `16 L / 4` for each time that
//! others have to give what was asked for (30 blocks): 4 L, so 320 L in a window of 2,400 blocks. A false
//! result brings two prices at most, its pay and its power. So a crowd loses as soon as somebody is ready
//! to pledge a 160th of the price, of which it has all back.
//!
//! What is stored takes room of nobody, since the oldest of it is let go (`shares`). But trainers have to
//! store whatever is asked for, and a cheat could let go what others asked for by having more stored. So
//! whoever asks for more than the first [`FREE_PIECES`] of a result pledges for each a part of the deposit of a
//! challenge that grows with the number of those that were stored before. To make the next piece dearer by
//! one such deposit a crowd has sixteen stored; so it pledges the square of what others then need. For 68
//! pieces these are 86 deposits, of which it has 64 back, and the 69th asks for three.

use crate::{
	AuditOf, Claim, Claims, Config, Error, Event, Pallet, ALL_CLAIMS, FREE_PIECES, MAX_STRANGERS,
	PIECE_PART, PLEDGE_PART,
};
use alloc::{collections::BTreeSet, vec::Vec};
use core::ops::Range;
use frame_support::{
	ensure,
	traits::{ConstU32, Get},
	BoundedVec,
};
use sp_runtime::DispatchResult;
use trainyard_protocol::{
	job::Balance,
	pieces::{Piece, LATE_PIECES, MAX_RANGES},
	JobId,
};

/// What somebody is about to ask for.
pub(crate) struct Wanted<'a> {
	/// Of which result.
	pub group: u32,
	/// The pieces, none of which is stored, with their bytes.
	pub pieces: &'a [(Piece, u64)],
}

/// Parts of all room.
const PARTS: u32 = MAX_STRANGERS;

/// Somebody who asked, with its claims.
struct Claimant<AccountId> {
	/// Whether it has a seat, and so takes no place of a stranger.
	sits: bool,
	/// What it pledged for each part that it takes of the room.
	rank: Balance,
	/// Who.
	who: AccountId,
	/// Its claims.
	claims: BoundedVec<Claim, ConstU32<ALL_CLAIMS>>,
}

/// Returns the least pledge for pieces of a result with these numbers, from 0, in the order in which they are
/// stored.
pub(crate) fn least_pledge(challenge: Balance, places: Range<u32>) -> Balance {
	let beyond = |place: u32| place.saturating_add(1).saturating_sub(FREE_PIECES);
	let parts = places.fold(0u32, |sum, place| sum.saturating_add(beyond(place)));
	challenge.checked_div(PIECE_PART).unwrap_or(0).saturating_mul(parts.into())
}

impl<T: Config> Pallet<T> {
	/// Returns how many parts of all room these pieces take, of that many bytes.
	fn parts<'a>(pieces: impl Iterator<Item = &'a Piece>, bytes: u64) -> u32 {
		let (mut count, mut ranges) = (0u32, 0u32);
		for piece in pieces {
			count = count.saturating_add(1);
			ranges = ranges.saturating_add(u32::from(matches!(piece, Piece::Rows { .. })));
		}
		let of = |number: u64, most: u64| {
			let parts = number.saturating_mul(PARTS.into()).div_ceil(most.max(1));
			u32::try_from(parts).unwrap_or(u32::MAX)
		};
		of(bytes, T::MaxRescue::get())
			.max(of(count.into(), LATE_PIECES.into()))
			.max(of(ranges.into(), MAX_RANGES.into()))
			.max(1)
	}

	/// Returns what somebody pledged with its open claims, and how many parts of all room they take.
	fn pledged(audit: &AuditOf<T>, claims: &[Claim]) -> (Balance, u32) {
		let open = claims.iter().filter(|claim| claim.open);
		open.fold((0, 0), |(sum, parts), claim| {
			let group = audit.groups.get(claim.group as usize);
			let bytes = group.map_or(0, |group| group.bytes_of(|p| claim.pieces.contains(p)));
			let own = Self::parts(claim.pieces.iter(), bytes);
			(sum.saturating_add(claim.pledge), parts.saturating_add(own))
		})
	}

	/// Fails where there is no room for what is `wanted` of a result, beside what these other claims name.
	/// Returns the numbers of those pieces that are new, from 0, counted with all that were stored.
	fn has_room<'a>(
		audit: &AuditOf<T>,
		wanted: &Wanted<'_>,
		claims: impl Iterator<Item = &'a Claim>,
	) -> Result<Range<u32>, Error<T>> {
		let group = audit.groups.get(wanted.group as usize).ok_or(Error::<T>::NoSuchGroup)?;
		let mut all = BTreeSet::new();
		for claim in claims.filter(|claim| claim.open && claim.group == wanted.group) {
			all.extend(claim.pieces.iter().copied());
		}
		let mut bytes = group.bytes_of(|piece| all.contains(piece));
		let counted = |all: &BTreeSet<Piece>| {
			let counted = all.iter().filter(|piece| group.counts(&audit.sizes, piece));
			let is_range = |piece: &&Piece| matches!(piece, Piece::Rows { .. });
			(counted.clone().count() as u32, counted.filter(is_range).count() as u32)
		};
		let (before, _) = counted(&all);
		for (piece, size) in wanted.pieces {
			if all.insert(*piece) {
				bytes = bytes.saturating_add(*size);
			}
		}
		let (after, ranges) = counted(&all);
		ensure!(after <= LATE_PIECES && ranges <= MAX_RANGES, Error::<T>::TooManyPieces);
		// Nobody may ask for more than can be stored, and have it taken for withheld.
		ensure!(bytes <= T::MaxRescue::get(), Error::<T>::TooManyBytes);
		Ok(group.late.saturating_add(before)..group.late.saturating_add(after))
	}

	/// Makes room for what `who` wants while results stand: displaces who pledged least, as long as that is
	/// less, for each part of the room, than `pledge` with what `who` pledged before.
	pub(crate) fn find_place(
		job: JobId,
		audit: &mut AuditOf<T>,
		who: &T::AccountId,
		wanted: &Wanted<'_>,
		pledge: Balance,
	) -> DispatchResult {
		let sits = |of: &T::AccountId| audit.committee.iter().any(|m| m.verifier == *of);
		let own = Claims::<T>::get(job, who);
		let (before, parts) = Self::pledged(audit, &own);
		let bytes = wanted.pieces.iter().fold(0u64, |sum, (_, size)| sum.saturating_add(*size));
		let parts =
			parts.saturating_add(Self::parts(wanted.pieces.iter().map(|(piece, _)| piece), bytes));
		let each = |sum: Balance, parts: u32| sum.checked_div(parts.max(1).into()).unwrap_or(0);
		let mine = each(before.saturating_add(pledge), parts);
		let enters = own.is_empty() && !sits(who);
		let others = Claims::<T>::iter_prefix(job).filter(|(other, _)| other != who);
		let mut others: Vec<Claimant<T::AccountId>> = others
			.map(|(who, claims)| {
				let (sum, parts) = Self::pledged(audit, &claims);
				Claimant { sits: sits(&who), rank: each(sum, parts), who, claims }
			})
			.collect();
		// By account where they pledged as much, so that the order is not that of the map.
		others.sort_by(|a, b| (a.rank, &a.who).cmp(&(b.rank, &b.who)));
		let mut displaced = Vec::new();
		let places = loop {
			let claims = others.iter().flat_map(|other| &other.claims).chain(&own);
			let strangers = others.iter().filter(|other| !other.sits).count();
			let is_full = enters && strangers >= MAX_STRANGERS as usize;
			let error = match Self::has_room(audit, wanted, claims) {
				_ if is_full => Error::<T>::TooManyClaims,
				Ok(places) => break places,
				Err(error) => error,
			};
			let asks = |claim: &Claim| claim.open && claim.group == wanted.group;
			let least = others.iter().position(|other| match is_full {
				true => !other.sits,
				false => other.claims.iter().any(asks),
			});
			let Some(at) = least else { return Err(error.into()) };
			let least = others.remove(at);
			ensure!(least.rank < mine, error);
			displaced.push(least);
		};
		let least = least_pledge(audit.challenge, places);
		ensure!(pledge >= least, Error::<T>::PledgeTooSmall);
		if displaced.is_empty() {
			return Ok(());
		}
		for Claimant { who: other, mut claims, .. } in displaced {
			for claim in claims.iter_mut().filter(|claim| claim.open) {
				claim.open = false;
				Self::return_claim(&other, claim);
				let (other, group, by) = (other.clone(), claim.group, who.clone());
				Self::deposit_event(Event::AskerDisplaced { job, group, who: other, by });
			}
			Self::keep_claims(job, audit, &other, claims);
		}
		let relay = audit.relay;
		Self::forget_unasked(job, audit);
		// Who comes in the place of others has no more time than they had.
		audit.relay = relay;
		Ok(())
	}

	/// Returns what is held for a claim to its owner.
	pub(crate) fn return_claim(who: &T::AccountId, claim: &mut Claim) {
		let held = claim.prepaid.saturating_add(claim.pledge);
		(claim.prepaid, claim.pledge) = (0, 0);
		Self::release_claim(who, held);
	}

	/// Takes the price of the place from the pledge of a claim, and returns the rest of the pledge.
	pub(crate) fn take_pledge(job: JobId, who: &T::AccountId, claim: &mut Claim) {
		let pledge = core::mem::take(&mut claim.pledge);
		let price = pledge.checked_div(PLEDGE_PART).unwrap_or(0);
		let amount = Self::move_claim(who, &T::Jackpot::get(), price);
		Self::release_claim(who, pledge.saturating_sub(amount));
		if amount > 0 {
			let (who, group) = (who.clone(), claim.group);
			Self::deposit_event(Event::PledgeTaken { job, group, who, amount });
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn pieces_are_free_at_first_and_dear_at_the_end() {
		assert_eq!(least_pledge(1_600, 0..FREE_PIECES), 0);
		assert_eq!(least_pledge(1_600, FREE_PIECES..FREE_PIECES + 1), 100);
		assert_eq!(least_pledge(1_600, 10..FREE_PIECES + 3), 100 + 200 + 300);
		// What the docs say: of 68, of the next one, and that it goes on.
		let all = least_pledge(1_600, 0..68);
		assert_eq!((all / 1_600, (all - all / PLEDGE_PART) / 1_600), (86, 64));
		assert_eq!(least_pledge(1_600, 68..69), 5_300);
		assert_eq!(least_pledge(1_600, 1_000..1_001), 98_500);
	}
}
