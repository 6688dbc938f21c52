//! Deterministic tasks: what a client asks of the chain about them, and the calls.

use crate::{AccountId32, Call, Chain, ChainError};
use codec::Encode;
use trainyard_protocol::{job::BlockNumber, H256};
use trainyard_task::{claim::Path, views, Claim, Ends, Fault, TaskSpec, TaskTerms};

pub use trainyard_task::{Bounds, TaskId};

/// A task.
pub type TaskView = views::TaskView<AccountId32>;
/// A dispute between two claims of one.
pub type DisputeView = views::DisputeView<AccountId32>;
/// A side of that.
pub type Side = views::Side<AccountId32>;
/// One that computes a task.
pub type ReplicaView = views::ReplicaView<AccountId32>;

/// Tasks in the answer to one request.
const NUMBERS_AT_ONCE: u32 = 256;

/// The state with which the step in dispute begins, as it is brought.
#[derive(Clone, Debug, PartialEq, Eq, Encode)]
pub enum Brought {
	/// The bytes of module and state.
	#[codec(index = 0)]
	Bytes {
		/// The module.
		module: Vec<u8>,
		/// The state.
		state: Vec<u8>,
	},
	/// A fault, after which nothing is executed.
	#[codec(index = 1)]
	Fault(Fault),
}

/// A record of a map, as it is opened, with all that it is computed from.
#[derive(Clone, Debug, PartialEq, Eq, Encode)]
pub struct OpenedRecord {
	/// Its index.
	pub index: u32,
	/// Content hash of the file of all records.
	pub content: H256,
	/// The chunks of 1 KiB in which it is.
	pub chunks: Vec<u8>,
	/// What lies beside the ways from these to the content hash.
	pub siblings: Vec<H256>,
	/// The module.
	pub module: Vec<u8>,
	/// The input.
	pub input: Vec<u8>,
}

impl Chain {
	/// Returns the task with this number, until it is forgotten.
	pub async fn task(&self, id: TaskId) -> Result<Option<TaskView>, ChainError> {
		self.api("task", id, None).await
	}

	/// Returns the numbers of all tasks on record that are above `after`, in order. A node returns a part at a time.
	pub async fn tasks(&self, after: Option<TaskId>) -> Result<Vec<TaskId>, ChainError> {
		let (mut all, mut last) = (Vec::new(), after);
		loop {
			let more: Vec<TaskId> = self.api("tasks", (last, NUMBERS_AT_ONCE), None).await?;
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

	/// Returns the output of a claim, where the chain keeps it itself.
	pub async fn task_output(&self, id: TaskId, claim: u8) -> Result<Option<Vec<u8>>, ChainError> {
		self.api("task_output", (id, claim), None).await
	}

	/// Returns what an account sealed for a task, and in which block.
	pub async fn task_seal(
		&self,
		id: TaskId,
		who: &AccountId32,
	) -> Result<Option<(H256, BlockNumber)>, ChainError> {
		self.api("task_seal", (id, *who), None).await
	}

	/// Returns what a task may ask for and offer.
	pub async fn task_bounds(&self) -> Result<Bounds, ChainError> {
		self.api("task_bounds", (), None).await
	}
}

/// `Tasks.post`: post a task whose module and input are on chain; rewards, the fee of an audit and a deposit are held.
pub fn post(spec: &TaskSpec, terms: &TaskTerms) -> Call {
	Call::new("Tasks", "post", (spec, terms))
}

/// `Tasks.cancel`: take a task back as long as applications are taken.
pub fn cancel(id: TaskId) -> Call {
	Call::new("Tasks", "cancel", id)
}

/// `Tasks.apply`: apply to compute the task of this [digest](trainyard_task::claim::digest).
pub fn apply(id: TaskId, digest: &H256) -> Call {
	Call::new("Tasks", "apply", (id, digest))
}

/// `Tasks.commit`: commit to a claim by its [commitment](trainyard_task::claim::commitment).
pub fn commit(id: TaskId, commitment: &H256) -> Call {
	Call::new("Tasks", "commit", (id, commitment))
}

/// `Tasks.reveal`: show the claim, with the proofs of its ends, and an output that is short.
pub fn reveal(
	id: TaskId,
	claim: &Claim,
	ends: &Ends,
	output: Option<&[u8]>,
	salt: &[u8; 32],
) -> Call {
	Call::new("Tasks", "reveal", (id, claim, ends, output, salt))
}

/// `Tasks.seal`: seal what will be challenged; a deposit is held.
pub fn seal(id: TaskId, commitment: &H256) -> Call {
	Call::new("Tasks", "seal", (id, commitment))
}

/// `Tasks.unseal`: take a seal back.
pub fn unseal(id: TaskId) -> Call {
	Call::new("Tasks", "unseal", id)
}

/// `Tasks.challenge`: challenge a claim by another one.
pub fn challenge(id: TaskId, claim: u8, own: &Claim, ends: &Ends, salt: &[u8; 32]) -> Call {
	Call::new("Tasks", "challenge", (id, claim, own, ends, salt))
}

/// `Tasks.show`: show the nodes that are due of a side of a dispute.
pub fn show(id: TaskId, dispute: u32, side: u8, nodes: &[H256]) -> Call {
	Call::new("Tasks", "show", (id, dispute, side, nodes))
}

/// `Tasks.execute`: have the step executed that is in dispute, by the state before it and the way from that to the root
/// of the trace.
pub fn execute(id: TaskId, dispute: u32, brought: &Brought, path: &Path) -> Call {
	Call::new("Tasks", "execute", (id, dispute, brought, path))
}

/// `Tasks.refute`: show that a record of a claim is false.
pub fn refute(id: TaskId, claim: u8, opened: &OpenedRecord, salt: &[u8; 32]) -> Call {
	Call::new("Tasks", "refute", (id, claim, opened, salt))
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::fake::FakeNode;
	use codec::Decode;
	use trainyard_task::{File, StateId};

	#[tokio::test]
	async fn all_numbers_are_asked_for_part_by_part() {
		let node = FakeNode::new(|method, arguments, _| match method {
			"TrainyardApi_tasks" => {
				let (after, count) = <(Option<u32>, u32)>::decode(&mut &arguments[..]).unwrap();
				let from = after.map_or(0, |after| after + 1);
				Ok((from..600).take(count as usize).collect::<Vec<u32>>().encode())
			}
			"TrainyardApi_task" => Ok(None::<TaskView>.encode()),
			_ => Err("no such method"),
		});
		let chain = node.chain().await;
		assert_eq!(chain.tasks(None).await.unwrap(), (0..600).collect::<Vec<u32>>());
		assert_eq!(chain.tasks(Some(590)).await.unwrap(), (591..600).collect::<Vec<u32>>());
		assert!(chain.task(3).await.unwrap().is_none());
	}

	#[tokio::test]
	async fn a_node_that_repeats_itself_ends_nothing() {
		let same = (5..5 + NUMBERS_AT_ONCE).collect::<Vec<u32>>();
		let node = FakeNode::new(move |_, _, _| Ok(same.encode()));
		let found = node.chain().await.tasks(None).await.unwrap();
		assert_eq!(found.len(), 2 * NUMBERS_AT_ONCE as usize);
	}

	/// The layout of the calls' arguments, byte by byte.
	#[test]
	fn arguments_have_the_layout_of_the_calls() {
		let output = StateId::Bytes(File { bytes: 3, root: H256([2; 32]) });
		let claim = Claim { root: H256([1; 32]), output };
		let bytes = [&[1; 32][..], &[0, 3, 0, 0, 0], &[2; 32]].concat();
		let said = reveal(7, &claim, &Ends::default(), Some(b"abc"), &[9; 32]);
		let layout = [&[7, 0, 0, 0], &bytes[..], &[0, 0], &[1, 12], b"abc", &[9; 32]].concat();
		assert_eq!(said.arguments(), layout);
		let brought = Brought::Bytes { module: vec![5], state: vec![6, 7] };
		let said = execute(7, 2, &brought, &Path::default());
		assert_eq!(said.arguments(), [7, 0, 0, 0, 2, 0, 0, 0, 0, 4, 5, 8, 6, 7, 0]);
		let fault = Brought::Fault(vec![1, 2].try_into().unwrap());
		let said = execute(7, 2, &fault, &Path::default());
		assert_eq!(said.arguments(), [7, 0, 0, 0, 2, 0, 0, 0, 1, 8, 1, 2, 0]);
		let opened = OpenedRecord {
			index: 4,
			content: H256([3; 32]),
			chunks: vec![8],
			siblings: vec![],
			module: vec![5],
			input: vec![6],
		};
		let said = refute(7, 1, &opened, &[9; 32]);
		let layout = [&[7, 0, 0, 0, 1, 4, 0, 0, 0][..], &[3; 32], &[4, 8, 0, 4, 5, 4, 6], &[9; 32]];
		assert_eq!(said.arguments(), layout.concat());
	}
}
