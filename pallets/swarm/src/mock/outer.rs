//! Outer steps as they are played.

use super::*;
use frame_support::dispatch::DispatchResult;
use trainyard_protocol::swarm::{Brought, OuterRule};

/// Outer steps of ten blocks for training and five for vouching.
pub const RULE: OuterRule = OuterRule {
	picks: 64,
	bits: 2,
	keep: 950,
	rate: 1_000,
	momentum: 0,
	clip: Some(2_000),
	trim: 0,
	inner: 30,
	train: 10,
	vouch: 5,
};

/// A plan of outer steps.
pub fn outer_plan() -> Plan {
	Plan { averaging: Averaging::Outer(RULE), ..plan(Payer::Budget) }
}

/// What a peer brings to an outer step that begins with the model of `base`.
pub fn brought(base: u32, seed: u8) -> Brought {
	let root = H256::repeat_byte(seed);
	Brought { base, model: root, velocity: H256::zero(), data: root, sealed: root, kept: root }
}

/// Goes on to the training of an outer step, or to its vouching.
pub fn to_step(id: SwarmId, step: u32, trains: bool) {
	let first = get(id).began + step * RULE.blocks() + if trains { 0 } else { RULE.train };
	let now = System::block_number();
	assert!(first >= now, "step {step} is over at {now}");
	pass(first - now);
}

/// One outer step to which these contribute, all of whom vouch for all of them.
pub fn outer_step(id: SwarmId, step: u32, who: Range<AccountId>) {
	to_step(id, step, true);
	let all = (1u64 << (who.end - who.start)) - 1;
	for peer in who.clone() {
		assert_ok!(Swarming::contribute(signed(peer), id, step, brought(step, peer as u8)));
	}
	to_step(id, step, false);
	for peer in who {
		assert_ok!(vouch(id, peer, step, all));
	}
}

/// Vouches for the contributions that there are.
pub fn vouch(id: SwarmId, who: AccountId, step: u32, bits: u64) -> DispatchResult {
	let list = swarm::list_of(&Swarming::step(id, step));
	Swarming::vouch(signed(who), id, step, list, bits)
}
