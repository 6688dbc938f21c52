//! Federated rounds: what a client asks of the chain about them, and the calls.

use crate::{AccountId32, Call, Chain, ChainError};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	federation::{self, FederationId, ModelOpening, PartData, Pieces, Plan},
	job::Terms,
	H256,
};

/// A federation.
pub type FederationView = federation::FederationView<AccountId32>;
/// A proposal of an aggregate.
pub type ProposalView = federation::ProposalView<AccountId32>;

/// Federations in the answer to one request.
const NUMBERS_AT_ONCE: u32 = 256;

impl Chain {
	/// Returns the federation with this number, until it is forgotten.
	pub async fn federation(&self, id: FederationId) -> Result<Option<FederationView>, ChainError> {
		self.api("federation", id, None).await
	}

	/// Returns the numbers of all federations on record, in order. A node returns a part at a time.
	pub async fn federations(&self) -> Result<Vec<FederationId>, ChainError> {
		let (mut all, mut last) = (Vec::new(), None);
		loop {
			let arguments = (last, NUMBERS_AT_ONCE);
			let more: Vec<FederationId> = self.api("federations", arguments, None).await?;
			let done = more.len() < NUMBERS_AT_ONCE as usize;
			// A node that repeats itself would keep this here for ever.
			let goes_on = more.last().copied() > last;
			last = more.last().copied().or(last);
			all.extend(more);
			if done || !goes_on {
				return Ok(all);
			}
		}
	}

	/// Returns the values of the pieces that a proposal names which stands.
	pub async fn federation_pieces(
		&self,
		id: FederationId,
		proposal: u32,
	) -> Result<Option<Pieces>, ChainError> {
		self.api("federation_pieces", (id, proposal), None).await
	}
}

/// `Federation.open`: open a federation of these parts; what its aggregates are paid is held.
pub fn open(template: &JobSpec, parts: &[PartData], terms: &Terms, plan: &Plan) -> Call {
	Call::new("Federation", "open", (template, parts, terms, plan))
}

/// `Federation.cancel`: post no more jobs for it.
pub fn cancel(id: FederationId) -> Call {
	Call::new("Federation", "cancel", id)
}

/// `Federation.propose`: propose the aggregate of the running round, a blob on chain with this content hash and
/// these values of the pieces of its tensors; a deposit is held.
pub fn propose(id: FederationId, content: &H256, pieces: &[H256]) -> Call {
	Call::new("Federation", "propose", (id, content, pieces))
}

/// `Federation.refute`: show that a proposal is false at a chunk, by the chunk of its file and of the model of
/// each part that answered.
pub fn refute(id: FederationId, proposal: u32, chunk: u64, openings: &[ModelOpening]) -> Call {
	Call::new("Federation", "refute", (id, proposal, chunk, openings))
}

/// `Federation.refute_piece`: show that the value of a piece is false, by the chunks of the file that hold it and
/// what leads from these to its root.
pub fn refute_piece(
	id: FederationId,
	proposal: u32,
	piece: u32,
	bytes: &[u8],
	siblings: &[H256],
) -> Call {
	Call::new("Federation", "refute_piece", (id, proposal, piece, bytes, siblings))
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::fake::FakeNode;
	use codec::{Decode, Encode};

	#[tokio::test]
	async fn all_numbers_are_asked_for_part_by_part() {
		let node = FakeNode::new(|method, arguments, _| match method {
			"TrainyardApi_federations" => {
				let (after, count) = <(Option<u32>, u32)>::decode(&mut &arguments[..]).unwrap();
				let from = after.map_or(0, |after| after + 1);
				Ok((from..600).take(count as usize).collect::<Vec<u32>>().encode())
			}
			"TrainyardApi_federation" => Ok(None::<FederationView>.encode()),
			_ => Err("no such method"),
		});
		let chain = node.chain().await;
		assert_eq!(chain.federations().await.unwrap(), (0..600).collect::<Vec<u32>>());
		assert!(chain.federation(3).await.unwrap().is_none());
	}

	#[tokio::test]
	async fn a_node_that_repeats_itself_ends_nothing() {
		let same = (5..5 + NUMBERS_AT_ONCE).collect::<Vec<u32>>();
		let node = FakeNode::new(move |_, _, _| Ok(same.encode()));
		let found = node.chain().await.federations().await.unwrap();
		assert_eq!(found.len(), 2 * NUMBERS_AT_ONCE as usize);
	}

	#[test]
	fn arguments_have_the_layout_of_the_calls() {
		let call = refute_piece(1, 2, 3, &[9, 8], &[H256::repeat_byte(7)]);
		let layout = [&[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 8, 9, 8, 4][..], &[7; 32]].concat();
		assert_eq!(call.arguments(), layout);
		assert_eq!(cancel(5).arguments(), [5, 0, 0, 0]);
		assert_eq!(propose(1, &H256::zero(), &[]).arguments().len(), 4 + 32 + 1);
		assert_eq!(refute(1, 2, 3, &[]).arguments().len(), 4 + 4 + 8 + 1);
	}
}
