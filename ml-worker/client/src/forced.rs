//! The secrets from which a trainer's forced leaves are drawn.

use codec::Encode;
use sp_crypto_hashing::blake2_256;
use subxt_signer::{sr25519, DeriveJunction};
use trainyard_protocol::{forced::Secret, JobId, H256};
use trainyard_task::TaskId;

/// Path from the key of an account to the hidden key from which its secrets follow.
const PATH: [&str; 3] = ["trainyard", "forced", "seed"];

/// From what a trainer's secrets follow, one for each job.
pub struct ForcedKey([u8; 32]);

impl ForcedKey {
	/// Derives it from the key of an account: whoever has that has this, on any machine. So no secret to
	/// which a trainer is bound is lost with a disk, and no kill comes between a secret and the application
	/// that names it.
	///
	/// It is a public key that nobody publishes, as [`VrfKey`](crate::VrfKey::of) says.
	pub fn of(key: &sr25519::Keypair) -> Self {
		Self(key.derive(PATH.map(DeriveJunction::hard)).public_key().0)
	}

	/// Returns the secret for a job of this digest
	/// ([`commitment::job`](trainyard_protocol::commitment::job)) on the chain with this genesis block.
	pub fn secret(&self, genesis: &H256, job: JobId, digest: &H256) -> Secret {
		(self.0, genesis, job, digest).using_encoded(blake2_256)
	}

	/// Returns the salt of what an account commits to for the task of this digest
	/// ([`claim::digest`](trainyard_task::claim::digest)). Whoever has the key has it again after a disk is gone, and
	/// one that computes the task again comes to the same claim.
	pub fn salt(&self, genesis: &H256, task: TaskId, digest: &H256) -> [u8; 32] {
		(b"trainyard/task/salt/v1", self.0, genesis, task, digest).using_encoded(blake2_256)
	}

	/// Returns the salt of what an account seals before it challenges a claim of that task. It is another one, since
	/// that of a commitment is known once its claim was shown, and few things are sealed.
	pub fn seal_salt(&self, genesis: &H256, task: TaskId, digest: &H256) -> [u8; 32] {
		(b"trainyard/task/seal/v1", self.0, genesis, task, digest).using_encoded(blake2_256)
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::keys::from_uri;

	/// Frozen: a trainer whose disk is gone opens what it forced.
	#[test]
	fn secrets_are_restored_with_their_account() {
		let key = |uri: &str| ForcedKey::of(&from_uri(uri).unwrap());
		let (genesis, digest) = (H256([1; 32]), H256([2; 32]));
		let secret = key("//Alice").secret(&genesis, 7, &digest);
		let same = "0xe5be9a5092b81bca64be81d212e7f2f9eba183bb7a90954f7b76361f6edb5c0a";
		assert_eq!(key(same).secret(&genesis, 7, &digest), secret);
		let bytes = [&key("//Alice").0[..], &[1; 32], &[7, 0, 0, 0], &[2; 32]].concat();
		assert_eq!(secret, blake2_256(&bytes));
		for other in [
			key("//Bob").secret(&genesis, 7, &digest),
			key("//Alice").secret(&H256([3; 32]), 7, &digest),
			key("//Alice").secret(&genesis, 8, &digest),
			key("//Alice").secret(&genesis, 7, &H256([3; 32])),
		] {
			assert_ne!(other, secret);
		}
		let salt = key("//Alice").salt(&genesis, 7, &digest);
		let head = b"trainyard/task/salt/v1";
		assert_eq!(salt, blake2_256(&[&head[..], &bytes].concat()));
		assert_ne!(key("//Alice").seal_salt(&genesis, 7, &digest), salt);
	}
}
