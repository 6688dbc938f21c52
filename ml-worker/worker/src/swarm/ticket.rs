//! Tickets as they are signed, sent and checked.

use codec::{Decode, Encode};
use serde::{Deserialize, Serialize};
use trainyard_client::{
	swarm::{PeerView, Ticket},
	AccountId32,
};
use trainyard_protocol::{job::BlockNumber, swarm::SwarmId, H256};
use trainyard_transport::{EndpointId, SecretKey, Signature};

/// A ticket with the signature of the payer's key.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, Serialize, Deserialize)]
pub struct Signed {
	/// The ticket.
	pub ticket: Ticket,
	/// The signature of its digest.
	#[serde(with = "of_hex")]
	pub signature: [u8; 64],
}

/// A signature as hex digits.
mod of_hex {
	use serde::{Deserialize, Deserializer, Serializer};

	pub fn serialize<S: Serializer>(bytes: &[u8; 64], s: S) -> Result<S::Ok, S::Error> {
		s.serialize_str(&hex::encode(bytes))
	}

	pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<[u8; 64], D::Error> {
		let (text, mut bytes) = (String::deserialize(d)?, [0; 64]);
		hex::decode_to_slice(&text, &mut bytes).map_err(serde::de::Error::custom)?;
		Ok(bytes)
	}
}

/// Why a ticket is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
	/// It is of another swarm.
	#[error("the ticket is for swarm {0}")]
	OtherSwarm(SwarmId),
	/// It promises something to another one, whose model is not here.
	#[error("the ticket is for {0}, and its model is not here")]
	OtherMaker(AccountId32),
	/// It is a promise to oneself.
	#[error("a peer cannot promise itself anything")]
	Oneself,
	/// Whoever signed is no peer.
	#[error("{0} is no peer of this swarm, as far as the chain is known here")]
	NoPeer(AccountId32),
	/// Whoever signed leaves, and its purse with it.
	#[error("{0} leaves the swarm")]
	Leaves(AccountId32),
	/// The key of the payer did not sign it.
	#[error("the ticket is not signed by the key with which {0} joined")]
	Signature(AccountId32),
	/// The model that is asked for was not announced.
	#[error("no model {0:?} was announced by the maker")]
	NotAnnounced(H256),
	/// The model with which it is to be mixed was not announced.
	#[error("the payer announced no model {0:?} with which that could be mixed")]
	OwnNotAnnounced(H256),
	/// It is over.
	#[error("the ticket held until block {expires}, and it is block {height}")]
	Expired {
		/// The last block in which it can be claimed.
		expires: BlockNumber,
		/// The present one.
		height: BlockNumber,
	},
	/// It holds for longer than the plan allows, so the chain would not take it.
	#[error("the ticket holds until block {expires}: {most} is the last that the plan allows")]
	TooLong {
		/// The last block in which it can be claimed.
		expires: BlockNumber,
		/// The last one that may stand there.
		most: BlockNumber,
	},
	/// The payer gave too many that it has not paid.
	#[error("{0} tickets of this payer are neither paid nor expired: more are not taken")]
	TooMany(usize),
	/// The payer took a model to begin with a short time ago.
	#[error("a peer begins once: name the model of yours that is to be mixed")]
	BeganBefore,
}

impl Signed {
	/// Signs a ticket.
	pub fn by(key: &SecretKey, genesis: &H256, ticket: Ticket) -> Self {
		let signature = key.sign(ticket.digest(genesis).as_bytes()).to_bytes();
		Self { ticket, signature }
	}

	/// Returns what names the ticket: also for who pays for it.
	pub fn digest(&self, genesis: &H256) -> H256 {
		self.ticket.digest(genesis)
	}

	/// Returns whether this key signed it.
	pub fn is_by(&self, key: &H256, genesis: &H256) -> bool {
		let Ok(key) = EndpointId::from_bytes(&key.0) else { return false };
		let signature = Signature::from_bytes(&self.signature);
		key.verify(self.digest(genesis).as_bytes(), &signature).is_ok()
	}

	/// Returns whether the payer asks for a model to begin with, and has none of its own: the mean of a model
	/// with itself is no better than it, so such a ticket promises nothing.
	pub fn begins(&self) -> bool {
		self.ticket.own == self.ticket.remote
	}
}

/// What a ticket is checked against.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
	/// Genesis hash of the chain.
	pub genesis: H256,
	/// The swarm.
	pub swarm: SwarmId,
	/// The best model on chain, which everybody has.
	pub best: H256,
	/// Blocks for which a ticket holds, at most.
	pub ticket_blocks: BlockNumber,
	/// Height of the best block.
	pub height: BlockNumber,
	/// The peers.
	pub peers: &'a [PeerView],
}

impl Situation<'_> {
	fn peer(&self, account: &AccountId32) -> Option<&PeerView> {
		self.peers.iter().find(|peer| peer.account == *account)
	}

	/// Checks that the chain would take a claim by this ticket: that the payer is a peer and signed it, that
	/// both models were announced, and that it holds now and not for too long. The first rule that it breaks is
	/// the error.
	pub fn check(&self, signed: &Signed) -> Result<(), Refusal> {
		let Signed { ticket, .. } = signed;
		let payer = &ticket.payer;
		if ticket.swarm != self.swarm {
			return Err(Refusal::OtherSwarm(ticket.swarm));
		}
		if *payer == ticket.maker {
			return Err(Refusal::Oneself);
		}
		let from = self.peer(payer).ok_or(Refusal::NoPeer(*payer))?;
		if from.leaving.is_some() {
			return Err(Refusal::Leaves(*payer));
		}
		if !signed.is_by(&from.key, &self.genesis) {
			return Err(Refusal::Signature(*payer));
		}
		let has = |peer: &PeerView, root: &H256| peer.models.iter().any(|(known, _)| known == root);
		if !self.peer(&ticket.maker).is_some_and(|maker| has(maker, &ticket.remote)) {
			return Err(Refusal::NotAnnounced(ticket.remote));
		}
		if !signed.begins() && ticket.own != self.best && !has(from, &ticket.own) {
			return Err(Refusal::OwnNotAnnounced(ticket.own));
		}
		let (expires, height) = (ticket.expires, self.height);
		if expires < height {
			return Err(Refusal::Expired { expires, height });
		}
		// The payer may see a block that is not seen here yet.
		let most = height.saturating_add(self.ticket_blocks).saturating_add(SEEN_LATER);
		if expires > most {
			return Err(Refusal::TooLong { expires, most });
		}
		Ok(())
	}
}

/// Blocks by which two nodes may differ.
const SEEN_LATER: BlockNumber = 3;

#[cfg(test)]
mod tests {
	use super::*;
	use crate::swarm::testing::{account, peer_view};

	const GENESIS: H256 = H256::repeat_byte(9);

	fn key(n: u8) -> SecretKey {
		SecretKey::from_bytes(&[n; 32])
	}

	fn root(n: u8) -> H256 {
		H256::repeat_byte(n)
	}

	fn ticket() -> Ticket {
		Ticket {
			swarm: 3,
			payer: account(1),
			maker: account(2),
			own: root(1),
			remote: root(2),
			expires: 120,
			nonce: 7,
		}
	}

	fn check(change: impl FnOnce(&mut Ticket), by: u8, leaving: bool) -> Result<(), Refusal> {
		let mut peers = [peer_view(account(1), &key(1)), peer_view(account(2), &key(2))];
		peers[0].models = vec![(root(1), 90)];
		peers[1].models = vec![(root(5), 80), (root(2), 95)];
		peers[0].leaving = leaving.then_some(99);
		let situation = Situation {
			genesis: GENESIS,
			swarm: 3,
			best: root(8),
			ticket_blocks: 50,
			height: 100,
			peers: &peers,
		};
		let mut ticket = ticket();
		change(&mut ticket);
		situation.check(&Signed::by(&key(by), &GENESIS, ticket))
	}

	#[test]
	fn what_the_chain_would_take_is_taken() {
		assert_eq!(check(|_| {}, 1, false), Ok(()));
		assert_eq!(check(|t| t.remote = root(5), 1, false), Ok(()));
		assert_eq!(check(|t| t.own = root(8), 1, false), Ok(()), "everybody has the best one");
		assert_eq!(check(|t| t.own = root(2), 1, false), Ok(()), "it begins");
		assert_eq!(check(|t| t.expires = 100, 1, false), Ok(()));
		assert_eq!(check(|t| t.expires = 153, 1, false), Ok(()));
	}

	#[test]
	fn everything_else_is_refused() {
		let refused = |change: fn(&mut Ticket)| check(change, 1, false).unwrap_err();
		assert_eq!(refused(|t| t.swarm = 4), Refusal::OtherSwarm(4));
		assert_eq!(refused(|t| t.maker = account(1)), Refusal::Oneself);
		assert_eq!(refused(|t| t.payer = account(7)), Refusal::NoPeer(account(7)));
		assert_eq!(refused(|t| t.maker = account(7)), Refusal::NotAnnounced(root(2)));
		assert_eq!(refused(|t| t.remote = root(1)), Refusal::NotAnnounced(root(1)));
		assert_eq!(refused(|t| t.own = root(4)), Refusal::OwnNotAnnounced(root(4)));
		assert_eq!(refused(|t| t.expires = 99), Refusal::Expired { expires: 99, height: 100 });
		assert_eq!(refused(|t| t.expires = 154), Refusal::TooLong { expires: 154, most: 153 });
		assert_eq!(check(|_| {}, 2, false), Err(Refusal::Signature(account(1))));
		assert_eq!(check(|_| {}, 1, true), Err(Refusal::Leaves(account(1))));
	}

	#[test]
	fn a_signature_is_of_one_ticket_and_one_chain() {
		let signed = Signed::by(&key(1), &GENESIS, ticket());
		let public = H256(*key(1).public().as_bytes());
		assert!(signed.is_by(&public, &GENESIS));
		assert!(!signed.is_by(&public, &root(1)));
		assert!(!signed.is_by(&root(0), &GENESIS));
		let mut other = signed.clone();
		other.ticket.nonce = 8;
		assert!(!other.is_by(&public, &GENESIS));
		let text = serde_json::to_string(&signed).unwrap();
		assert_eq!(serde_json::from_str::<Signed>(&text).unwrap(), signed);
		assert_eq!(Signed::decode(&mut &signed.encode()[..]).unwrap(), signed);
	}
}
