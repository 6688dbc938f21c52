//! What a verifier has room for, and what a seat on a committee takes of it.

use crate::MicroUt;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use trainyard_program::needs::MachineClass;

/// The least that a verifier has room for: what a seat on a committee can need at most. If some could not
/// take every audit, whoever makes one larger would be judged by the others alone.
pub const LEAST_ROOM: Resources = Resources {
	// What a machine of the class replays in the least time for commitments: 120 blocks at 6 s, of which
	// seven twelfths are for that.
	work: 2_000_000,
	memory_mib: (MachineClass::Gib8.limits().memory >> 20) as u32,
	disk_mib: (MachineClass::Gib8.most_disk() >> 20) as u32,
};

/// An amount of work, memory and disk: what a verifier declares, or what one seat needs.
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
	Serialize,
	Deserialize,
)]
pub struct Resources {
	/// Work of one round, in millionths of a `ut`.
	#[codec(compact)]
	pub work: MicroUt,
	/// Memory, in MiB.
	#[codec(compact)]
	pub memory_mib: u32,
	/// Disk, in MiB.
	#[codec(compact)]
	pub disk_mib: u32,
}

impl Resources {
	/// Returns whether whoever has all this, and already needs `load`, can take `needs` as well.
	/// Work and disk add up over seats. Memory does not: one segment is replayed at a time.
	pub fn can_take(&self, load: &Self, needs: &Self) -> bool {
		let fits = |has: u64, load: u64, more: u64| {
			load.checked_add(more).is_some_and(|together| together <= has)
		};
		fits(self.work, load.work, needs.work)
			&& needs.memory_mib <= self.memory_mib
			&& fits(self.disk_mib.into(), load.disk_mib.into(), needs.disk_mib.into())
	}

	/// Returns this load and that of one more seat. Memory is no part of a load.
	pub fn and(&self, needs: &Self) -> Self {
		Self {
			work: self.work.saturating_add(needs.work),
			memory_mib: self.memory_mib,
			disk_mib: self.disk_mib.saturating_add(needs.disk_mib),
		}
	}

	/// Returns this load without that of a seat that ended.
	pub fn without(&self, needs: &Self) -> Self {
		Self {
			work: self.work.saturating_sub(needs.work),
			memory_mib: self.memory_mib,
			disk_mib: self.disk_mib.saturating_sub(needs.disk_mib),
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	fn of(work: MicroUt, memory_mib: u32, disk_mib: u32) -> Resources {
		Resources { work, memory_mib, disk_mib }
	}

	#[test]
	fn work_and_disk_add_up_and_memory_does_not() {
		let has = of(10, 8, 100);
		let none = Resources::default();
		assert!(has.can_take(&none, &of(10, 8, 100)));
		for needs in [of(11, 1, 1), of(1, 9, 1), of(1, 1, 101)] {
			assert!(!has.can_take(&none, &needs), "{needs:?}");
		}
		let load = none.and(&of(6, 8, 60));
		assert!(has.can_take(&load, &of(4, 8, 40)));
		assert!(!has.can_take(&load, &of(5, 1, 1)) && !has.can_take(&load, &of(1, 1, 41)));
		assert!(!has.can_take(&load, &of(MicroUt::MAX, 1, 1)), "no overflow");
		assert_eq!(load.without(&of(6, 8, 60)), none);
	}

	/// Frozen: calls carry these bytes.
	#[test]
	fn layout() {
		assert_eq!(of(1, 2, 70).encode(), [1 << 2, 2 << 2, 0x19, 0x01]);
	}
}
