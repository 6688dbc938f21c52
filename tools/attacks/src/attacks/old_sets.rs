//! Sets of GRANDPA whose members have left.

use crate::{
	report::{amount, Attack, Outcome},
	scene::{answer, Party, Scene, Side},
};
use sp_keyring::{
	Ed25519Keyring,
	Sr25519Keyring::{Alice, Bob, Charlie, Dave},
};
use trainyard_protocol::job::BlockNumber;
use trainyard_runtime::{
	configs::session::UnbondingBlocks, presets::GENESIS_BOND, Executive, Hashrate, Session,
};
use trainyard_sandbox::{
	votes::{report, two_votes},
	Chain,
};

/// The attacks of this file.
pub const ALL: &[Attack] = &[Attack {
	name: "votes-after-unbonding",
	source: "chain-consensus L-3",
	tries: "leaves with half of the weight, waits out a stall of finality until its bonds are free, and \
	        votes for two chains in the old set",
	rule: "who was in a set that finality did not overtake stays bonded, and on record, for a day after it \
	       does",
	left: None,
	run: votes_after_unbonding,
}];

/// Epochs of the local preset.
const EPOCH: BlockNumber = 120;

fn votes_after_unbonding() -> Outcome {
	let mut chain = Chain::local();
	chain.made_by([Alice, Bob, Charlie, Dave]);
	let mut scene = Scene::on(chain);
	let old = [(Bob, Ed25519Keyring::Bob), (Charlie, Ed25519Keyring::Charlie)];
	let parties = old.map(|(key, _)| {
		let account = key.to_account_id();
		Party { role: "authority", side: Side::Attacker, key: key.into(), account }
	});
	scene.parties.extend(parties.iter().cloned());
	scene.run(20);
	scene.start();
	let bond = |scene: &mut Scene, who: &Party| {
		scene.chain.state(|| Hashrate::trainer(&who.account).map_or(0, |trainer| trainer.bond))
	};
	for who in &parties {
		assert_eq!(bond(&mut scene, who), GENESIS_BOND);
		scene.call(who, pallet_hashrate::Call::deregister {}).expect("it may leave");
	}
	// Their votes are missing from here on, and the others make all blocks.
	scene.chain.stall(true);
	scene.chain.made_by([Alice, Dave]);
	scene.run(3 * EPOCH);
	let serving = scene.chain.state(Session::validators);
	assert!(parties.iter().all(|who| !serving.contains(&who.account)), "others have followed");
	scene.chain.leap(UnbondingBlocks::get());
	scene.run(2 * EPOCH);
	let withdraw = pallet_hashrate::Call::withdraw {};
	let refused: Vec<_> =
		parties.iter().map(|who| answer(scene.call(who, withdraw.clone()))).collect();
	assert_eq!(refused, ["StillInForce"; 2]);

	// Both vote twice about a block of their last session, which their set can still make final.
	for (_, key) in old {
		let votes = two_votes(&key.pair(), 0, EPOCH + 10);
		let report = report(&mut scene.chain, votes).expect("they are on record");
		scene.begin();
		scene.chain.state(|| Executive::apply_extrinsic(report)).expect("valid").expect("true");
		scene.end();
	}
	let left = parties.each_ref().map(|who| bond(&mut scene, who));
	assert_eq!(left, [0, 0]);

	// A change is final in the end, and a day later they are free, without anything.
	scene.chain.stall(false);
	scene.run(2 * EPOCH);
	let early = answer(scene.call(&parties[0], withdraw.clone()));
	assert_eq!(early, "StillInForce");
	scene.chain.leap(UnbondingBlocks::get());
	scene.run(1);
	for who in &parties {
		scene.call(who, withdraw.clone()).expect("it is free");
	}
	let facts = vec![
		("withdrawing a day after leaving, while finality stalls", refused[0].clone()),
		("bonds of both", amount(2 * GENESIS_BOND)),
		("what they have of these after voting twice", amount(left[0] + left[1])),
		("withdrawing as soon as blocks are final again", early),
	];
	Outcome { scene, facts }
}
