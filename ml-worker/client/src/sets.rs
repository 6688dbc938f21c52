//! Sets of jobs: what a client asks of the chain about them, and the calls.

use crate::{AccountId32, Call, Chain, ChainError};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	accusation::Leaf,
	job::Terms,
	sets::{self, Plan, SetId},
	H256,
};

/// A set.
pub type SetView = sets::SetView<AccountId32>;

/// Sets in the answer to one request.
const NUMBERS_AT_ONCE: u32 = 256;

impl Chain {
	/// Returns the set with this number, until it is forgotten.
	pub async fn job_set(&self, id: SetId) -> Result<Option<SetView>, ChainError> {
		self.api("job_set", id, None).await
	}

	/// Returns the numbers of all sets on record, in order. A node returns a part at a time.
	pub async fn job_sets(&self) -> Result<Vec<SetId>, ChainError> {
		let (mut all, mut last) = (Vec::new(), None);
		loop {
			let more: Vec<SetId> = self.api("job_sets", (last, NUMBERS_AT_ONCE), None).await?;
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
}

/// `Sets.open`: open a set of these members, and post their jobs.
pub fn open(specs: &[JobSpec], terms: &Terms, plan: &Plan) -> Call {
	Call::new("Sets", "open", (specs, terms, plan))
}

/// `Sets.show`: show what a member scores, by the last leaf of its accepted result; and say the state hash of the
/// parameters of its model, which its submitter alone may.
pub fn show(id: SetId, member: u32, leaf: &Leaf, parameters: Option<H256>) -> Call {
	Call::new("Sets", "show", (id, member, leaf, parameters))
}

/// `Sets.stop`: end a set after the running generation.
pub fn stop(id: SetId) -> Call {
	Call::new("Sets", "stop", id)
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::fake::FakeNode;
	use codec::{Decode, Encode};
	use trainyard_protocol::{accusation::LeafContent, bundle::Diverged};

	#[tokio::test]
	async fn all_numbers_are_asked_for_part_by_part() {
		let node = FakeNode::new(|method, arguments, _| match method {
			"TrainyardApi_job_sets" => {
				let (after, count) = <(Option<u32>, u32)>::decode(&mut &arguments[..]).unwrap();
				let from = after.map_or(0, |after| after + 1);
				Ok((from..600).take(count as usize).collect::<Vec<u32>>().encode())
			}
			"TrainyardApi_job_set" => Ok(None::<SetView>.encode()),
			_ => Err("no such method"),
		});
		let chain = node.chain().await;
		assert_eq!(chain.job_sets().await.unwrap(), (0..600).collect::<Vec<u32>>());
		assert!(chain.job_set(3).await.unwrap().is_none());
	}

	#[tokio::test]
	async fn a_node_that_repeats_itself_ends_nothing() {
		let same = (5..5 + NUMBERS_AT_ONCE).collect::<Vec<u32>>();
		let node = FakeNode::new(move |_, _, _| Ok(same.encode()));
		let found = node.chain().await.job_sets().await.unwrap();
		assert_eq!(found.len(), 2 * NUMBERS_AT_ONCE as usize);
	}

	#[test]
	fn arguments_have_the_layout_of_the_calls() {
		let content = LeafContent::Diverged(Diverged { step: 5, trace: H256::repeat_byte(2) });
		let leaf = Leaf { content, path: vec![H256::repeat_byte(3)].try_into().unwrap() };
		let said = show(1, 2, &leaf, Some(H256::repeat_byte(7)));
		let head = [1, 0, 0, 0, 2, 0, 0, 0, 1, 5, 0, 0, 0];
		let layout = [&head[..], &[2; 32], &[4], &[3; 32], &[1], &[7; 32]].concat();
		assert_eq!(said.arguments(), layout);
		assert_eq!(stop(5).arguments(), [5, 0, 0, 0]);
	}
}
