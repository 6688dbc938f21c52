//! Equivocations that are spread, so that each looks small.

use crate::{
	report::{amount, Attack, Outcome},
	scene::{Party, Scene, Side},
};
use sp_keyring::{
	Ed25519Keyring,
	Sr25519Keyring::{Alice, Bob, Charlie, Dave},
};
use trainyard_protocol::job::BlockNumber;
use trainyard_runtime::{presets::GENESIS_BOND, Executive, Hashrate};
use trainyard_sandbox::{
	votes::{report, two_votes},
	Chain,
};

/// The attacks of this file.
pub const ALL: &[Attack] = &[Attack {
	name: "diluted-votes",
	source: "chain-consensus M-4",
	tries: "votes twice with half of the weight, each identity about a block of another session, so that \
	        no session has many offenders",
	rule: "what is taken follows from all who offended in sessions on record",
	left: None,
	run: diluted_votes,
}];

/// Epochs of the local preset.
const EPOCH: BlockNumber = 120;

fn diluted_votes() -> Outcome {
	let mut chain = Chain::local();
	chain.made_by([Alice, Bob, Charlie, Dave]);
	let mut scene = Scene::on(chain);
	let own = [(Bob, Ed25519Keyring::Bob), (Charlie, Ed25519Keyring::Charlie)];
	let parties = own.map(|(key, _)| {
		let account = key.to_account_id();
		Party { role: "authority", side: Side::Attacker, key: key.into(), account }
	});
	scene.parties.extend(parties.iter().cloned());
	scene.run(20);
	scene.start();
	// Finality stalls, so that one set serves in several sessions.
	scene.chain.stall(true);
	scene.run(2 * EPOCH);
	let bond = |scene: &mut Scene, who: &Party| {
		scene.chain.state(|| Hashrate::trainer(&who.account).map_or(0, |trainer| trainer.bond))
	};
	let mut left = Vec::new();
	for ((_, key), height) in own.into_iter().zip([10, EPOCH + 10]) {
		let votes = two_votes(&key.pair(), 0, height);
		let report = report(&mut scene.chain, votes).expect("they are on record");
		scene.begin();
		scene.chain.state(|| Executive::apply_extrinsic(report)).expect("valid").expect("true");
		scene.end();
		left.push(parties.each_ref().map(|who| bond(&mut scene, who)));
	}
	assert!(left[0][0] > 0 && left[0][0] < GENESIS_BOND, "a quarter of the weight loses a part");
	assert_eq!(left[0][1], GENESIS_BOND);
	assert_eq!(left[1], [0, 0], "half of it loses everything, also who came first");
	let facts = vec![
		("bonds of both", amount(2 * GENESIS_BOND)),
		("what the first has after its votes", amount(left[0][0])),
		("what both have after those of the second", amount(left[1][0] + left[1][1])),
	];
	Outcome { scene, facts }
}
