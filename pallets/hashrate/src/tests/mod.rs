//! Tests, by behaviour.

mod attacks;
mod beacon;
mod candidacy;
mod drillers;
mod genesis;
mod in_force;
mod keys;
mod liveness;
mod money;
mod offences;
mod power;
mod records;
mod registry;
mod rewards;
mod session;
mod trainers;
mod weights;

use crate::{mock::*, Event};
use trainyard_protocol::{views::Hardware, Text};

/// Some hardware.
fn hardware() -> Hardware {
	Hardware {
		cpu: Text::new("eight slow cores").unwrap(),
		cores: 8,
		memory_mib: 16_384,
		gpu: Text::default(),
	}
}

/// Registers `who` with the minimum bond.
fn register(who: u64) {
	Hashrate::register(RuntimeOrigin::signed(who), MIN_BOND, hardware()).unwrap();
}

/// Makes `who` a candidate with keys and `power`.
fn stand(who: u64, power: u64) {
	register(who);
	set_keys(who);
	set_power(who, power);
	Hashrate::set_candidate(RuntimeOrigin::signed(who), true).unwrap();
}

/// Asserts that the latest event of this pallet is `event`.
#[track_caller]
fn assert_last(event: Event<Test>) {
	assert_eq!(events().last(), Some(&event));
}
