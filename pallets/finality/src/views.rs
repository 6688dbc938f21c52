//! What clients see of it.

use crate::{Config, Final, Pallet, Statements};
use trainyard_protocol::views::{FinalityView, SaidView};
use trainyard_traits::SessionWeights;

impl<T: Config> Pallet<T> {
	/// Returns what is final, and what each authority of the running session said last.
	pub fn view() -> FinalityView<T::AccountId> {
		let said = Statements::<T>::get();
		let authorities = T::Authorities::weights()
			.into_iter()
			.map(|(account, weight)| {
				let at = said.binary_search_by(|(other, _)| other.cmp(&account)).ok();
				let height = at.and_then(|at| said.get(at)).map(|(_, height)| *height);
				SaidView { account, weight, said: height }
			})
			.collect();
		FinalityView { height: Final::<T>::get(), authorities }
	}
}
