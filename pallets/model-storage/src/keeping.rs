//! What keeping a blob costs, for how long it is kept, and its end.
//!
//! Two amounts are held of the owner: a deposit for the bytes, which returns, and rent for the time,
//! prepaid. When the blob goes, [`Config::RentPerKib`] for each block since its registration is burned,
//! of the rent first, and the rest of both returns. Nothing is moved before that, so a blob costs no work
//! while it lies there.
//!
//! The agenda removes blobs whose time is over, a bounded part of them in each block.

use crate::{
	types::deposit_for, Agenda, Awaited, BlobOf, Blobs, Chunks, Config, Cursor, Due, Error, Event,
	HoldReason, Pallet, Versions, WeightInfo, H256,
};
use alloc::vec::Vec;
use frame_support::{
	ensure,
	pallet_prelude::DispatchResult,
	traits::{
		fungible::MutateHold,
		tokens::{Fortitude, Precision},
		Get,
	},
	weights::Weight,
};
use sp_runtime::ArithmeticError;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	retention::{self, KeepingView},
};

/// Blocks after which a blob whose time is over is looked at again where a job waits for it.
const AWAITED_PAUSE: BlockNumber = 600;

impl<T: Config> Clock for Pallet<T> {
	type Runtime = T;
	type Task = H256;
	type Agenda = Agenda<T>;
	type Due = Due<T>;
	type Cursor = Cursor<T>;

	fn look_weight() -> Weight {
		T::DbWeight::get().reads_writes(2, 1)
	}

	fn key_weight() -> Weight {
		T::DbWeight::get().reads_writes(1, 1)
	}

	fn worst_task() -> Weight {
		T::WeightInfo::remove(T::RemoveStep::get())
	}

	/// Removes a blob whose time is over, or a part of it.
	fn perform(root: H256) -> Weight {
		let Some(blob) = Blobs::<T>::get(root) else {
			Self::unschedule(root);
			return T::DbWeight::get().reads_writes(2, 1);
		};
		let (now, at) = (Self::height(), Self::due_after(blob.expires));
		// A job that names it meanwhile waits for its end, and registers it again.
		if blob.removing.is_none() {
			let wait = match Awaited::<T>::contains_key(root) {
				true => Some(now.saturating_add(AWAITED_PAUSE)),
				false if now < at => Some(at),
				false => None,
			};
			if let Some(at) = wait {
				Self::schedule(root, at);
				return T::DbWeight::get().reads_writes(3, 3);
			}
		}
		match Self::shrink(root, blob) {
			Ok(looked) => {
				if Blobs::<T>::contains_key(root) {
					Self::schedule(root, now.saturating_add(1));
				}
				T::WeightInfo::remove(looked)
			}
			// Neither burning what is held nor releasing it fails with `BestEffort`.
			Err(error) => {
				log::error!(target: "runtime::model-storage", "cannot remove {root:?}: {error:?}");
				Self::schedule(root, now.saturating_add(AWAITED_PAUSE));
				T::WeightInfo::remove(T::RemoveStep::get())
			}
		}
	}
}

impl<T: Config> Pallet<T> {
	/// Returns the block in which a blob that expires so is removed by the agenda: when anyone may.
	pub(crate) fn due_after(expires: BlockNumber) -> BlockNumber {
		expires.saturating_add(T::Grace::get()).saturating_add(1)
	}

	/// Returns the period that was asked for, or the usual one. Fails where it is too short or too long.
	pub(crate) fn checked_period(period: Option<BlockNumber>) -> Result<BlockNumber, Error<T>> {
		let period = period.unwrap_or_else(T::Retention::get);
		ensure!(period >= T::MinPeriod::get(), Error::<T>::PeriodTooShort);
		ensure!(period <= T::MaxPeriod::get(), Error::<T>::PeriodTooLong);
		Ok(period)
	}

	/// Returns what keeping `size` bytes for so many blocks costs.
	pub(crate) fn rent_for(size: u64, blocks: BlockNumber) -> Balance {
		retention::rent(T::RentPerKib::get(), size, blocks)
	}

	/// Returns what is burned where the blob goes at height `now`: its rent since it was registered, of
	/// `MinPeriod` at least, and no more than is held for it. One of which nothing is stored owes nothing.
	pub(crate) fn due(blob: &BlobOf<T>, now: BlockNumber) -> Balance {
		if blob.stored == 0 {
			return 0;
		}
		let blocks = now.min(blob.expires).saturating_sub(blob.since);
		let rent = Self::rent_for(blob.size, blocks.max(T::MinPeriod::get()));
		rent.min(blob.deposit.saturating_add(blob.rent))
	}

	/// Burns what is due of what is held for a blob.
	pub(crate) fn charge(root: &H256, blob: &mut BlobOf<T>) -> DispatchResult {
		let due = Self::due(blob, Self::now());
		let reason = HoldReason::Blob.into();
		let burned = T::Currency::burn_held(
			&reason,
			&blob.owner,
			due,
			Precision::BestEffort,
			Fortitude::Force,
		)?;
		let of_rent = due.min(blob.rent);
		blob.rent = blob.rent.saturating_sub(of_rent);
		blob.deposit = blob.deposit.saturating_sub(due.saturating_sub(of_rent));
		Self::deposit_event(Event::RentBurned {
			root: *root,
			owner: blob.owner.clone(),
			amount: burned,
		});
		Ok(())
	}

	/// Forgets a blob of which no chunk record is left, and releases what is held for it.
	pub(crate) fn end(root: H256, blob: BlobOf<T>) -> DispatchResult {
		let held = blob.deposit.saturating_add(blob.rent);
		let reason = HoldReason::Blob.into();
		let deposit = T::Currency::release(&reason, &blob.owner, held, Precision::BestEffort)?;
		Blobs::<T>::remove(root);
		Versions::<T>::remove(root);
		Self::unschedule(root);
		Self::deposit_event(Event::Removed { root, owner: blob.owner, deposit });
		Ok(())
	}

	/// Lets the owner keep a complete blob for `blocks` more than it has paid for. While it has paid for
	/// a block to come, they count from the last one, and from now on otherwise.
	pub(crate) fn do_renew(who: T::AccountId, root: H256, blocks: BlockNumber) -> DispatchResult {
		Blobs::<T>::try_mutate(root, |slot| {
			let blob = slot.as_mut().ok_or(Error::<T>::UnknownBlob)?;
			ensure!(blob.owner == who, Error::<T>::NotOwner);
			ensure!(blob.removing.is_none(), Error::<T>::BeingRemoved);
			ensure!(blob.is_complete(), Error::<T>::Incomplete);
			ensure!(blocks > 0, Error::<T>::PeriodTooShort);
			let now = Self::now();
			let expires = blob.expires.max(now).saturating_add(blocks);
			ensure!(expires.saturating_sub(now) <= T::MaxPeriod::get(), Error::<T>::PeriodTooLong);
			// Blocks between its end and now count as well: it lay there.
			let rent = Self::rent_for(blob.size, expires.saturating_sub(blob.expires));
			T::Currency::hold(&HoldReason::Blob.into(), &who, rent)?;
			blob.rent = blob.rent.checked_add(rent).ok_or(ArithmeticError::Overflow)?;
			blob.expires = expires;
			Self::deposit_event(Event::Renewed { root, expires, rent });
			Ok(())
		})
	}

	/// Gives a complete blob whose time is over to a new owner, which pays for it as if it had just been
	/// completed. The old one gets back what is not burned.
	pub(crate) fn do_adopt(
		who: T::AccountId,
		root: H256,
		period: Option<BlockNumber>,
	) -> DispatchResult {
		let period = Self::checked_period(period)?;
		Blobs::<T>::try_mutate(root, |slot| {
			let blob = slot.as_mut().ok_or(Error::<T>::UnknownBlob)?;
			ensure!(blob.removing.is_none(), Error::<T>::BeingRemoved);
			ensure!(blob.is_complete(), Error::<T>::Incomplete);
			let now = Self::now();
			ensure!(now > blob.expires, Error::<T>::NotExpired);
			Self::charge(&root, blob)?;
			let reason = HoldReason::Blob.into();
			let held = blob.deposit.saturating_add(blob.rent);
			T::Currency::release(&reason, &blob.owner, held, Precision::BestEffort)?;
			let deposit = deposit_for::<T>(blob.size).ok_or(ArithmeticError::Overflow)?;
			let rent = Self::rent_for(blob.size, period);
			let held = deposit.checked_add(rent).ok_or(ArithmeticError::Overflow)?;
			T::Currency::hold(&reason, &who, held)?;
			let from = core::mem::replace(&mut blob.owner, who.clone());
			let expires = now.saturating_add(period);
			(blob.deposit, blob.rent, blob.period) = (deposit, rent, period);
			(blob.since, blob.expires, blob.kept) = (now, expires, 0);
			Self::deposit_event(Event::Adopted { root, from, owner: who, expires, deposit, rent });
			Ok(())
		})
	}

	/// Keeps a complete blob that one of the `keepers` was to bring. Its owner cannot remove it before its time is over, or
	/// as long as one is kept that was just completed, whichever is sooner; and where the owner is one of the
	/// `keepers`, it has paid for as long.
	///
	/// Nobody keeps a stranger's deposit on hold by naming its blob.
	pub(crate) fn keep_after(root: &H256, blob: &mut BlobOf<T>, keepers: &[T::AccountId]) {
		let wanted = Self::now().saturating_add(T::Retention::get());
		if keepers.contains(&blob.owner) && wanted > blob.expires {
			let more = Self::rent_for(blob.size, wanted.saturating_sub(blob.expires));
			match T::Currency::hold(&HoldReason::Blob.into(), &blob.owner, more) {
				Ok(()) => {
					blob.rent = blob.rent.saturating_add(more);
					blob.expires = wanted;
				}
				// An owner without money keeps it for as long as its deposit pays for, so that jobs are
				// no way to keep bytes for nothing.
				Err(_) => {
					let held = blob.deposit.saturating_add(blob.rent);
					let blocks = held.checked_div(Self::rent_for(blob.size, 1));
					let blocks = blocks.and_then(|blocks| u32::try_from(blocks).ok());
					let paid = blob.since.saturating_add(blocks.unwrap_or(u32::MAX));
					blob.expires = paid.min(wanted).max(blob.expires);
				}
			}
			Self::deposit_event(Event::Extended { root: *root, expires: blob.expires });
		}
		blob.kept = blob.kept.max(blob.expires.min(wanted));
	}

	/// Returns what keeping a blob costs and when it ends.
	pub(crate) fn keeping_view(root: H256) -> Option<KeepingView> {
		let blob = Blobs::<T>::get(root)?;
		let (mut doubted, mut lost) = (Vec::new(), Vec::new());
		for index in 0..blob.chunks {
			match Chunks::<T>::get(root, index).map(|chunk| chunk.place) {
				Some(crate::Place::Doubted) => doubted.push(index),
				Some(crate::Place::Lost) => lost.push(index),
				_ => {}
			}
		}
		// Of one that is being removed everything is burned already.
		let due = blob.removing.map_or_else(|| Self::due(&blob, Self::now()), |_| 0);
		Some(KeepingView {
			deposit: blob.deposit,
			rent: blob.rent,
			due,
			since: blob.since,
			expires: blob.expires,
			kept: blob.kept,
			awaited: Awaited::<T>::get(root).unwrap_or(0),
			doubted,
			lost,
		})
	}
}
