//! What clients ask.

use crate::{Config, Generations, Pallet, Set, Sets};
use alloc::vec::Vec;
use trainyard_protocol::sets::{MemberView, SetId, SetView};

impl<T: Config> Pallet<T> {
	/// Returns the set with this number, until it is forgotten.
	pub fn view(id: SetId) -> Option<SetView<T::AccountId>> {
		let Set {
			submitter, terms, plan, stage, generation, since, stopping, best, members, ..
		} = Sets::<T>::get(id)?;
		let views = (0u32..).zip(&members).filter_map(|(number, member)| {
			let spec = Self::spec_of(id, number, member)?;
			Some(MemberView { spec, parent: member.parent, run: member.run })
		});
		let members = views.collect();
		let generations =
			(0..=generation).filter_map(|generation| Generations::<T>::get(id, generation));
		let generations = generations.collect();
		Some(SetView {
			id,
			submitter,
			terms,
			plan,
			stage,
			generation,
			since,
			stopping,
			best,
			members,
			generations,
		})
	}

	/// Returns the numbers of the sets that are on record, at most `count` of those after `after`, by number.
	pub fn numbers(after: Option<SetId>, count: u32) -> Vec<SetId> {
		let mut all: Vec<SetId> =
			Sets::<T>::iter_keys().filter(|id| after.is_none_or(|after| *id > after)).collect();
		all.sort_unstable();
		all.truncate(count as usize);
		all
	}
}
