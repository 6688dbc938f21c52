//! Statements of authors, and what follows from all of them.

use crate::{Config, Error, Final, Noted, Pallet, Statements};
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
