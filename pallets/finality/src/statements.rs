//! Statements of authors, and what follows from all of them.

use crate::{Config, Error, Event, Final, Noted, Pallet, Statements};
use alloc::vec::Vec;
use core::cmp::Reverse;
use frame_support::{ensure, traits::Get};
use sp_runtime::{DispatchResult, SaturatedConversion};
use trainyard_protocol::job::BlockNumber;
use trainyard_traits::{Finality, SessionWeights};

/// Returns the greatest height such that authorities with more than two thirds of all weight said at
/// least that. `None` where too few have spoken. `said` is ascending by account.
pub fn agreed<A: Ord>(weights: &[(A, u64)], said: &[(A, BlockNumber)]) -> Option<BlockNumber> {
	let mut total = 0u128;
	let mut heard = Vec::new();
	for (who, weight) in weights {
		let weight = u128::from(*weight);
		total = total.saturating_add(weight);
		let at = said.binary_search_by(|(other, _)| other.cmp(who)).ok();
		if let Some((_, height)) = at.and_then(|at| said.get(at)) {
			heard.push((*height, weight));
		}
	}
	heard.sort_by_key(|(height, _)| Reverse(*height));
	let mut sum = 0u128;
	heard.into_iter().find_map(|(height, weight)| {
		sum = sum.saturating_add(weight);
		(sum.saturating_mul(3) > total.saturating_mul(2)).then_some(height)
	})
}

/// Returns the weight of those who said at least `height`, and of all. `said` is ascending by account.
pub fn heard<A: Ord>(
	weights: &[(A, u64)],
	said: &[(A, BlockNumber)],
	height: BlockNumber,
) -> (u64, u64) {
	weights.iter().fold((0, 0), |(heard, total): (u64, u64), (who, weight)| {
		let at = said.binary_search_by(|(other, _)| other.cmp(who)).ok();
		let says = at.and_then(|at| said.get(at)).is_some_and(|(_, own)| *own >= height);
		let part = if says { *weight } else { 0 };
		(heard.saturating_add(part), total.saturating_add(*weight))
	})
}

impl<T: Config> Pallet<T> {
	/// Returns the author of the present block, if it may say now that `height` is final.
	pub(crate) fn speaker(height: BlockNumber) -> Result<T::AccountId, Error<T>> {
		let now = Self::now();
		ensure!(Noted::<T>::get() != Some(now), Error::<T>::AlreadyNoted);
		ensure!(height < now, Error::<T>::NotBelow);
		let author = T::Author::get().ok_or(Error::<T>::NoAuthority)?;
		let said = Statements::<T>::get();
		let at = said.binary_search_by(|(who, _)| who.cmp(&author)).ok();
		let before = at.and_then(|at| said.get(at)).map_or(0, |(_, height)| *height);
		ensure!(height >= before, Error::<T>::Lowered);
		let weights = T::Authorities::weights();
		ensure!(weights.iter().any(|(who, _)| *who == author), Error::<T>::NoAuthority);
		Ok(author)
	}

	/// Notes what `author` says in the present block, forgets those who are no authorities any more,
	/// and raises what is final.
	pub(crate) fn note(author: &T::AccountId, height: BlockNumber) -> DispatchResult {
		let weights = T::Authorities::weights();
		let mut said = Statements::<T>::get();
		said.retain(|(who, _)| weights.iter().any(|(other, _)| other == who));
		match said.binary_search_by(|(who, _)| who.cmp(author)) {
			Ok(at) => {
				if let Some((_, before)) = said.get_mut(at) {
					*before = height;
				}
			}
			// There is room: who is left is an authority, and so is the author.
			Err(at) => said
				.try_insert(at, (author.clone(), height))
				.map_err(|_| Error::<T>::NoAuthority)?,
		}
		if let Some(height) = agreed(&weights, &said).filter(|height| *height > Final::<T>::get()) {
			Final::<T>::put(height);
		}
		Statements::<T>::put(said);
		Noted::<T>::put(Self::now());
		Ok(())
	}

	/// Raises what is final where more than a third of the weight vouches for it.
	pub(crate) fn declare(height: BlockNumber) -> DispatchResult {
		let before = Final::<T>::get();
		ensure!(height > before, Error::<T>::AlreadyFinal);
		let (heard, total) = heard(&T::Authorities::weights(), &Statements::<T>::get(), height);
		let enough = u128::from(heard).saturating_mul(3) > total.into();
		ensure!(enough, Error::<T>::TooFewSaid);
		Final::<T>::put(height);
		Self::deposit_event(Event::FinalDeclared { before, height, heard, total });
		Ok(())
	}

	/// The present height.
	pub(crate) fn now() -> BlockNumber {
		frame_system::Pallet::<T>::block_number().saturated_into()
	}
}

impl<T: Config> Finality for Pallet<T> {
	fn final_height() -> BlockNumber {
		Final::<T>::get()
	}
}
