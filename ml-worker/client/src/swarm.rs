//! Swarms: what a client asks of the chain about them, and the calls.

use crate::{AccountId32, Call, Chain, ChainError};
use codec::Compact;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	accusation::Leaf,
	federation::{ModelOpening, PartData},
	job::{Balance, BlockNumber},
	swarm::{self, Brought, Model, Plan, SwarmId},
	H256,
};

/// A swarm.
pub type SwarmView = swarm::SwarmView<AccountId32>;
/// A peer of one.
pub type PeerView = swarm::PeerView<AccountId32>;
/// A contribution to an outer step.
pub type Contribution = swarm::Contribution<AccountId32>;
/// A promise of a peer.
pub type Ticket = swarm::Ticket<AccountId32>;
/// A payment of a peer.
pub type Payment = swarm::Payment<AccountId32>;
/// What a claimant says of its claim.
pub type Said = swarm::Said<AccountId32>;
/// A ticket with what proves it.
pub type Promise = swarm::Promise<AccountId32>;
pub use trainyard_protocol::swarm::{Signature, Which};

/// Swarms, or peers, in the answer to one request.
const AT_ONCE: u32 = 256;

impl Chain {
	/// Returns the swarm with this number, until it is forgotten.
	pub async fn swarm(&self, id: SwarmId) -> Result<Option<SwarmView>, ChainError> {
		self.api("swarm", id, None).await
	}

	/// Returns the numbers of all swarms on record, in order. A node returns a part at a time.
	pub async fn swarms(&self) -> Result<Vec<SwarmId>, ChainError> {
		let (mut all, mut last) = (Vec::new(), None);
		loop {
			let more: Vec<SwarmId> = self.api("swarms", (last, AT_ONCE), None).await?;
			let done = more.len() < AT_ONCE as usize;
			// A node that repeats itself would keep this here for ever.
			let goes_on = more.last().copied() > last;
			last = more.last().copied().or(last);
			all.extend(more);
			if done || !goes_on {
				return Ok(all);
			}
		}
	}

	/// Returns one peer of a swarm.
	pub async fn swarm_peer(
		&self,
		id: SwarmId,
		account: &AccountId32,
	) -> Result<Option<PeerView>, ChainError> {
		self.api("swarm_peer", (id, *account), None).await
	}

	/// Returns the digests of the tickets for which a peer paid this maker, as long as they may be claimed by.
	pub async fn swarm_paid(
		&self,
		id: SwarmId,
		payer: &AccountId32,
		maker: &AccountId32,
	) -> Result<Vec<H256>, ChainError> {
		self.api("swarm_paid", (id, *payer, *maker), None).await
	}

	/// Returns the contributions to an outer step, in their order, as long as they are remembered.
	pub async fn swarm_step(
		&self,
		id: SwarmId,
		step: u32,
	) -> Result<Vec<Contribution>, ChainError> {
		self.api("swarm_step", (id, step), None).await
	}

	/// Returns all peers of a swarm, by account. A node returns a part at a time.
	pub async fn swarm_peers(&self, id: SwarmId) -> Result<Vec<PeerView>, ChainError> {
		let (mut all, mut last) = (Vec::<PeerView>::new(), None::<AccountId32>);
		loop {
			let arguments = (id, last, AT_ONCE);
			let more: Vec<PeerView> = self.api("swarm_peers", arguments, None).await?;
			let done = more.len() < AT_ONCE as usize;
			let next = more.last().map(|peer| peer.account);
			let goes_on = next > last;
			last = next.or(last);
			all.extend(more);
			if done || !goes_on {
				return Ok(all);
			}
		}
	}
}

/// `Swarm.contribute`: commit to a contribution to the outer step that runs.
pub fn contribute(id: SwarmId, step: u32, brought: &Brought) -> Call {
	Call::new("Swarm", "contribute", (id, step, brought))
}

/// `Swarm.vouch`: vouch for contributions to the outer step that runs, a bit for each in the order of
/// [`swarm::list_of`].
pub fn vouch(id: SwarmId, step: u32, list: &H256, vouches: u64) -> Call {
	Call::new("Swarm", "vouch", (id, step, list, vouches))
}

/// `Swarm.collect`: be paid what the shares in outer steps brought.
pub fn collect(id: SwarmId) -> Call {
	Call::new("Swarm", "collect", id)
}

/// `Swarm.open`: open a swarm with these slices; its budget and deposits are held.
pub fn open(template: &JobSpec, slices: &[PartData], plan: &Plan, budget: Balance) -> Call {
	Call::new("Swarm", "open", (template, slices, plan, Compact(budget)))
}

/// `Swarm.add_slices`: add slices; a deposit is held for each.
pub fn add_slices(id: SwarmId, slices: &[PartData]) -> Call {
	Call::new("Swarm", "add_slices", (id, slices))
}

/// `Swarm.join`: be a peer whose key signed [`swarm::joining`].
pub fn join(id: SwarmId, key: &H256, signature: &Signature, roles: u8, location: &str) -> Call {
	Call::new("Swarm", "join", (id, key, signature, roles, location))
}

/// `Swarm.update`: change what the peer does, and where it can be reached.
pub fn update(id: SwarmId, roles: u8, location: &str) -> Call {
	Call::new("Swarm", "update", (id, roles, location))
}

/// `Swarm.announce`: say that the peer has a model with this root.
pub fn announce(id: SwarmId, root: &H256) -> Call {
	Call::new("Swarm", "announce", (id, root))
}

/// `Swarm.fund`: put this much more into the peer's purse.
pub fn fund(id: SwarmId, amount: Balance) -> Call {
	Call::new("Swarm", "fund", (id, Compact(amount)))
}

/// `Swarm.pay`: pay other peers for tickets.
pub fn pay(id: SwarmId, payments: &[Payment]) -> Call {
	Call::new("Swarm", "pay", (id, payments))
}

/// `Swarm.leave`: say that the peer leaves; and, after the time for its tickets, go with what it has.
pub fn leave(id: SwarmId) -> Call {
	Call::new("Swarm", "leave", id)
}

/// `Swarm.claim`: commit to a claim by [`swarm::commitment`]; a stake and a fee are held.
pub fn claim(id: SwarmId, commitment: &H256) -> Call {
	Call::new("Swarm", "claim", (id, commitment))
}

/// `Swarm.say`: say what claim `number` was about, and what was counted.
pub fn say(id: SwarmId, number: u32, said: &Said, salt: &[u8; 32]) -> Call {
	Call::new("Swarm", "say", (id, number, said, salt))
}

/// `Swarm.challenge`: have the market count what this model gets right, for this audit fee; a deposit is held.
pub fn challenge(id: SwarmId, model: &Model, audit_fee: Balance) -> Call {
	Call::new("Swarm", "challenge", (id, model, Compact(audit_fee)))
}

/// `Swarm.testify`: show what the job that measures this model counted: leaf 0 of its accepted result.
pub fn testify(id: SwarmId, model: &Model, leaf: &Leaf) -> Call {
	Call::new("Swarm", "testify", (id, model, leaf))
}

/// `Swarm.refute_piece`: show that the value of a piece is false, by the chunks of the file that hold it and
/// what leads from these to its root.
pub fn refute_piece(
	id: SwarmId,
	claim: u32,
	which: Which,
	piece: u32,
	bytes: &[u8],
	siblings: &[H256],
) -> Call {
	Call::new("Swarm", "refute_piece", (id, claim, which, piece, bytes, siblings))
}

/// `Swarm.refute_mean`: show that the model of a claim by ticket is not the mean of the two that the ticket
/// names, by one chunk of it, of the payer's and of the remote one.
pub fn refute_mean(id: SwarmId, claim: u32, chunk: u64, openings: &[ModelOpening; 3]) -> Call {
	Call::new("Swarm", "refute_mean", (id, claim, chunk, openings))
}

/// `Swarm.close`: end the caller's swarm sooner.
pub fn close(id: SwarmId) -> Call {
	Call::new("Swarm", "close", id)
}

/// Returns how far above the present height a ticket may hold that is signed now.
pub fn expires(now: BlockNumber, plan: &Plan) -> BlockNumber {
	now.saturating_add(plan.ticket_blocks)
}
