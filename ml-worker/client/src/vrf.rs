//! The key by which a verifier draws for itself.

use codec::Encode;
use schnorrkel::{ExpansionMode, MiniSecretKey};
use subxt_signer::{sr25519, DeriveJunction};
use trainyard_protocol::{
	vrf::{self, Subject, VrfSignature},
	H256,
};

/// Path from the key of an account to the hidden key that is the seed of its VRF key.
const PATH: [&str; 3] = ["trainyard", "vrf", "seed"];

/// The key of a verifier's own draws. It signs nothing else.
pub struct VrfKey(schnorrkel::Keypair);

impl VrfKey {
	/// Derives it from the key of an account: whoever has that has this, on any machine.
	///
	/// The library of keys gives no secret bytes away. The public key of a hard derivation is as hard
	/// to know as the secret that it comes from, as long as nobody publishes it. So the public key of
	/// `//trainyard//vrf//seed` below the account is the seed of the VRF key, and must never be used
	/// as an account.
	pub fn of(key: &sr25519::Keypair) -> Self {
		let hidden = key.derive(PATH.map(DeriveJunction::hard)).public_key().0;
		let seed = MiniSecretKey::from_bytes(&hidden).expect("a key has as many bytes as a seed");
		Self(seed.expand_to_keypair(ExpansionMode::Ed25519))
	}

	/// Returns its public key, as the chain has it.
	pub fn public(&self) -> H256 {
		H256(self.0.public.to_bytes())
	}

	/// Signs what a seat draws for.
	pub fn sign<AccountId: Encode>(&self, subject: &Subject<AccountId>) -> VrfSignature {
		vrf::sign(&self.0, subject)
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::keys::{account, from_uri};

	/// Frozen: a verifier whose disk is gone has the same key again.
	#[test]
	fn a_key_is_restored_with_its_account() {
		let of = |uri: &str| VrfKey::of(&from_uri(uri).unwrap()).public();
		assert_eq!(
			hex::encode(of("//Alice")),
			"b674e79bc814c1d8f40def7cdbdf5d89f197ca3f57d37e2399a4d21da96caf02"
		);
		assert_eq!(
			of("//Alice"),
			of("0xe5be9a5092b81bca64be81d212e7f2f9eba183bb7a90954f7b76361f6edb5c0a")
		);
		assert_ne!(of("//Alice"), of("//Bob"));
		// It is no account that somebody may have made.
		for path in ["//Alice", "//Alice//trainyard//vrf", "//Alice//trainyard//vrf//seed"] {
			assert_ne!(of("//Alice").0, from_uri(path).unwrap().public_key().0, "{path}");
		}
	}

	#[test]
	fn a_draw_is_verified_by_the_public_key() {
		let pair = from_uri("//Charlie").unwrap();
		let (key, account) = (VrfKey::of(&pair), account(&pair));
		let (genesis, seed) = (H256([1; 32]), H256([2; 32]));
		let subject =
			Subject { genesis: &genesis, job: 7, round: 0, seed: &seed, account: &account };
		let signature = key.sign(&subject);
		assert!(vrf::is_key(&key.public().0));
		assert!(vrf::output(&key.public().0, &subject, &signature).is_some());
		let other = VrfKey::of(&from_uri("//Dave").unwrap()).public();
		assert_eq!(vrf::output(&other.0, &subject, &signature), None);
	}
}
