//! Session keys that are chosen when the randomness of their session is known.

use crate::{
	report::{Attack, Outcome},
	scene::{Party, Scene, Side, BOND},
};
use codec::Encode;
use sp_consensus_babe::{make_vrf_transcript, Epoch};
use sp_core::{crypto::Pair, ed25519, proof_of_possession::ProofOfPossessionGenerator, sr25519};
use sp_keyring::Sr25519Keyring::{Alice, Bob, Charlie, Dave};
use sp_runtime::traits::{BlakeTwo256, Hash};
use trainyard_protocol::{job::BlockNumber, views::Hardware};
use trainyard_runtime::{
	AccountId, Babe, Hashrate, Runtime, RuntimeCall, Session, SessionKeys, TRY,
};
use trainyard_sandbox::Chain;
use trainyard_traits::{SessionWeights, TrainerRegistry};

/// The attacks of this file.
pub const ALL: &[Attack] = &[Attack {
	name: "session-keys",
	source: "chain-consensus M-1",
	tries: "sets the best of ten keys for each of 96 identities when the randomness of their session is known",
	rule: "keys count only if they were there when the session began whose blocks mix that randomness",
	left: None,
	run: session_keys,
}];

/// As many as there is room for beside the four authorities of the network.
const IDENTITIES: usize = 96;
/// Keys that each of them tries.
const KEYS: u32 = 10;
/// Epochs of the local preset.
const EPOCH: BlockNumber = 120;
/// In whose last block keys are set.
const SESSION: u32 = 4;

/// The key number `number` of an identity for making blocks.
fn babe(who: &AccountId, number: u32) -> sr25519::Pair {
	sr25519::Pair::from_seed(&BlakeTwo256::hash_of(&(who, number)).0)
}

/// The call by which an identity sets its key of this number.
fn sets(party: &Party, number: u32) -> RuntimeCall {
	let owner = party.account.encode();
	let mut babe = babe(&party.account, number);
	let mut grandpa = ed25519::Pair::from_seed(&BlakeTwo256::hash(&owner).0);
	let keys = SessionKeys { babe: babe.public().into(), grandpa: grandpa.public().into() };
	let proof =
		(babe.generate_proof_of_possession(&owner), grandpa.generate_proof_of_possession(&owner));
	pallet_session::Call::set_keys { keys, proof: proof.encode() }.into()
}

/// The slots of an epoch that a key wins with this part of the weight, as a client counts them.
fn slots(key: &sr25519::Pair, epoch: &Epoch, part: f64) -> u32 {
	let (numerator, denominator) = epoch.config.c;
	let chance = 1.0 - (1.0 - numerator as f64 / denominator as f64).powf(part);
	let threshold = (chance * 2f64.powi(128)) as u128;
	let wins = |slot: &u64| {
		let slot = (*epoch.start_slot + slot).into();
		let data = make_vrf_transcript(&epoch.randomness, slot, epoch.epoch_index);
		let score: [u8; 16] = key.make_bytes(b"substrate-babe-vrf", &data);
		u128::from_le_bytes(score) < threshold
	};
	(0..epoch.duration).filter(wins).count() as u32
}

/// A network in the session after [`SESSION`], and the identities, which are authorities since two
/// sessions. In the last block of it they set the keys with these numbers, where there are any.
fn stage(ground: Option<&[u32]>) -> (Scene, Vec<Party>) {
	let mut chain = Chain::local();
	let four = [Alice, Bob, Charlie, Dave];
	chain.made_by(four);
	let mut scene = Scene::on(chain);
	scene.parties.extend(four.map(|key| {
		let account = key.to_account_id();
		Party { role: "authority", side: Side::Honest, key: key.into(), account }
	}));
	let money = BOND + 100 * TRY;
	let own: Vec<Party> =
		(0..IDENTITIES).map(|_| scene.party("identity", Side::Attacker, money)).collect();
	scene.all(&own, |party| {
		let register =
			pallet_hashrate::Call::register { bond: BOND, hardware: Hardware::default() };
		let stand = pallet_hashrate::Call::set_candidate { candidate: true };
		let calls = vec![register.into(), sets(party, 0), stand.into()];
		pallet_utility::Call::batch_all { calls }.into()
	});
	// Half of the volume of training that decides on 0.6 of the weight.
	scene.chain.state(|| {
		let floor = pallet_hashrate::VolumeFloors::<Runtime>::get().training as f64;
		let each = floor / 2.0 / IDENTITIES as f64 * 7.0 / std::f64::consts::LN_2;
		for party in &own {
			Hashrate::credit_training(&party.account, each as u64).expect("it is registered");
		}
	});
	let session = |scene: &mut Scene| scene.chain.state(Session::current_index);
	while session(&mut scene) < SESSION {
		scene.run(1);
	}
	scene.run(EPOCH - 2);
	scene.start();
	scene.begin();
	for (party, number) in own.iter().zip(ground.unwrap_or_default()) {
		let result = scene.send(party, sets(party, *number)).expect("there is room in the block");
		result.expect("an authority may set other keys");
	}
	scene.end();
	assert_eq!(session(&mut scene), SESSION, "the last block of the session");
	scene.run(1);
	assert_eq!(session(&mut scene), SESSION + 1);
	(scene, own)
}

/// The part of the weight of one of `own`, which all have the same, in the epoch that follows.
fn part(epoch: &Epoch, own: &[Party]) -> f64 {
	let all: u64 = epoch.authorities.iter().map(|(_, weight)| weight).sum();
	let key = babe(&own[0].account, 0).public().into();
	let one = epoch.authorities.iter().find(|(other, _)| *other == key);
	one.expect("it is an authority").1 as f64 / all as f64
}

/// How many of these are authorities of the running session.
fn serving(scene: &mut Scene, own: &[Party]) -> usize {
	let all = scene.chain.state(Hashrate::weights);
	own.iter().filter(|party| all.iter().any(|(who, _)| *who == party.account)).count()
}

fn session_keys() -> Outcome {
	// Whoever makes the last block of a session knows what this chain says in the next one.
	let (mut scene, own) = stage(None);
	let epoch = scene.chain.state(Babe::next_epoch);
	let part = part(&epoch, &own);
	scene.run(EPOCH);
	assert_eq!(serving(&mut scene, &own), IDENTITIES, "they are there if they set nothing");
	let (mut plain, mut best, mut chosen) = (0, 0, Vec::new());
	for party in &own {
		let won = |number: u32| slots(&babe(&party.account, number), &epoch, part);
		// The key that they have is one of the ten.
		let all: Vec<u32> = (0..KEYS).map(won).collect();
		let most = all.iter().copied().max().unwrap_or(0);
		plain += all[0];
		best += most;
		// All change, so that all are counted.
		let of = |number: &u32| all[*number as usize];
		chosen.push((1..KEYS).max_by_key(of).unwrap_or(1));
	}

	let (mut scene, own) = stage(Some(&chosen));
	let same = scene.chain.state(Babe::next_epoch);
	assert_eq!(same.randomness, epoch.randomness, "keys change nothing of it");
	scene.run(EPOCH);
	let there = serving(&mut scene, &own);
	assert_eq!(there, 0);
	// They are back in the session after it, under a randomness that nobody had.
	let later = scene.chain.state(Babe::next_epoch);
	scene.run(EPOCH);
	assert_eq!(serving(&mut scene, &own), IDENTITIES);
	let after: u32 = own
		.iter()
		.zip(&chosen)
		.map(|(party, number)| slots(&babe(&party.account, *number), &later, part))
		.sum();
	assert!(best > 2 * plain && after < best);
	let facts = vec![
		("identities, with part of the weight", format!("{IDENTITIES}, {:.1} %", 9600.0 * part)),
		("slots of the session", epoch.duration.to_string()),
		("slots that their keys win", plain.to_string()),
		(
			"slots that the best of ten keys each would win, by the rule before",
			format!("{best}, {:.1} times as many", f64::from(best) / f64::from(plain.max(1))),
		),
		("identities with such keys among the authorities of that session", there.to_string()),
		("slots that they win by the rule now", "0".into()),
		("slots that these keys win in the session after it", after.to_string()),
	];
	Outcome { scene, facts }
}
