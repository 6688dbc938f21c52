//! Follows the chain block by block, and goes on where a look at it fails.

use super::store::StoreError;
use std::time::Duration;
use tracing::warn;
use trainyard_client::{Chain, ChainError, Head};
use trainyard_protocol::H256;

/// Waits for the next best block for as long as it takes: a node that is away is asked again and
/// again. Fails only if asking again cannot help.
pub async fn next_block(chain: &Chain, seen: Option<H256>) -> Result<Head, ChainError> {
	let mut pause = Duration::from_millis(250);
	let mut away = false;
	loop {
		match chain.next_head(seen).await {
			Ok(head) => return Ok(head),
			Err(e) if e.is_final() => return Err(e),
			Err(e) => {
				if !away {
					warn!("waiting for the node: {e}");
					away = true;
				}
				tokio::time::sleep(pause).await;
				pause = (pause * 2).min(Duration::from_secs(3));
			}
		}
	}
}

/// Says why a look at the chain was not finished.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
	/// The chain cannot be asked.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// A file of the role cannot be read or written.
	#[error(transparent)]
	Store(#[from] StoreError),
}

/// Remembers the last complaint, so that each is printed once.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
	last: String,
}

impl Complaints {
	/// Handles a look that failed. Returns without an error where the caller can look again at the
	/// next block: for every reason on this machine, and for every reason of the node unless the
	/// chain is not ours any more.
	pub async fn tolerate(&mut self, chain: &Chain, error: LookError) -> Result<(), ChainError> {
		let (text, of_chain) = match error {
			LookError::Chain(e) if e.is_final() => return Err(e),
			// The caller waits for the next block anyway.
			LookError::Chain(e) if e.is_connection() => return Ok(()),
			LookError::Chain(e) => (e.to_string(), true),
			LookError::Store(e) => (e.to_string(), false),
		};
		if self.last != text {
			warn!("{text}; looking again at the next block");
			self.last = text;
		}
		if of_chain {
			// An upgrade of the runtime may have changed the protocol. Only a version that the node
			// reports shows that: a node that also refuses this request may answer again later.
			if let Err(e) = chain.check_protocol().await {
				if e.is_final() {
					return Err(e);
				}
			}
		}
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use codec::Encode;
	use trainyard_client::fake::FakeNode;

	#[tokio::test]
	async fn a_refusal_ends_no_daemon_and_another_protocol_does() {
		let mut complaints = Complaints::default();
		for reason in ["State already discarded", "Exported method job is not found"] {
			let chain = FakeNode::new(move |_, _, _| Err(reason)).chain().await;
			let error = chain.job(1).await.unwrap_err();
			complaints.tolerate(&chain, error.into()).await.unwrap();
			assert!(complaints.last.contains(reason), "{complaints:?}");
		}
		let upgraded = FakeNode::new(|method, _, _| match method {
			"TrainyardApi_protocol_version" => Ok(99u32.encode()),
			_ => Ok(vec![7]),
		});
		let chain = upgraded.chain().await;
		let error = chain.job(1).await.unwrap_err();
		assert!(!error.is_final(), "{error}");
		let end = complaints.tolerate(&chain, error.into()).await.unwrap_err();
		assert!(matches!(end, ChainError::OtherProtocol { found: 99, .. }), "{end}");
	}

	#[tokio::test]
	async fn a_file_that_cannot_be_written_is_no_question_to_the_chain() {
		let chain = FakeNode::new(|method, _, _| panic!("{method}")).chain().await;
		let mut complaints = Complaints::default();
		complaints.tolerate(&chain, StoreError::NoFolder.into()).await.unwrap();
		assert_eq!(complaints.last, StoreError::NoFolder.to_string());
	}
}
