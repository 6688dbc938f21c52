//! How a seat shows a trainer's server who asks for a state: by a signature of its account.
//!
//! A trainer computes states again that it does not keep, for seats alone. The signature says of which chain, result
//! and state, so it is of use for nothing else. Whoever sees it can ask for the same state, which the seat wants.

use codec::Encode;
use subxt::utils::AccountId32;
use subxt_signer::sr25519::{self, Keypair, PublicKey, Signature};
use trainyard_protocol::H256;

/// The header of a request that says who asks.
pub const HEADER: &str = "trainyard-seat";

/// A state that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateRequest {
	/// The chain.
	pub genesis: H256,
	/// The root by which the result is served, which is of one job and one seed.
	pub root: H256,
	/// Steps done at the checkpoint.
	pub step: u32,
}

impl StateRequest {
	/// Returns what is signed. No transaction begins like this.
	fn payload(&self) -> Vec<u8> {
		let Self { genesis, root, step } = self;
		let mut bytes = b"<Bytes>".to_vec();
		(b"trainyard/state/v1", genesis, root, step).encode_to(&mut bytes);
		bytes.extend_from_slice(b"</Bytes>");
		bytes
	}

	/// Returns the header's value: the account, a colon, and its signature, both in hexadecimal.
	pub fn signed_by(&self, key: &Keypair) -> String {
		let signature = key.sign(&self.payload());
		format!("{}:{}", hex::encode(key.public_key().0), hex::encode(signature.0))
	}

	/// Returns the account that signed this request, if the header's value shows one.
	pub fn signer(&self, header: &str) -> Option<AccountId32> {
		let (account, signature) = header.split_once(':')?;
		let account: [u8; 32] = hex::decode(account).ok()?.try_into().ok()?;
		let signature: [u8; 64] = hex::decode(signature).ok()?.try_into().ok()?;
		sr25519::verify(&Signature(signature), self.payload(), &PublicKey(account))
			.then_some(AccountId32(account))
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::keys::{account, from_uri};

	#[test]
	fn a_request_shows_who_asks_for_one_state_of_one_chain() {
		let (alice, bob) = (from_uri("//Alice").unwrap(), from_uri("//Bob").unwrap());
		let request = StateRequest { genesis: H256([1; 32]), root: H256([2; 32]), step: 50 };
		let header = request.signed_by(&alice);
		assert_eq!(request.signer(&header), Some(account(&alice)));
		assert_ne!(request.signer(&request.signed_by(&bob)), Some(account(&alice)));
		for other in [
			StateRequest { genesis: H256([9; 32]), ..request },
			StateRequest { root: H256([9; 32]), ..request },
			StateRequest { step: 51, ..request },
		] {
			assert_eq!(other.signer(&header), None, "{other:?}");
		}
		let (who, signature) = header.split_once(':').unwrap();
		let as_bob = format!("{}:{signature}", hex::encode(account(&bob).0));
		for bad in ["", ":", who, signature, &header[1..], &format!("{header}0"), &as_bob] {
			assert_eq!(request.signer(bad), None, "{bad}");
		}
	}
}
