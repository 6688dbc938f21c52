//! Why the chain could not be asked.

use trainyard_primitives::{H256, PROTOCOL_VERSION};

/// Why the chain could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
	/// Not a WebSocket URL.
	#[error("`{url}` is no address of a node: it must begin with ws:// or wss://, like ws://127.0.0.1:9944")]
	BadUrl {
		/// What was given.
		url: String,
	},
	/// Nobody answers.
	#[error(
		"cannot reach a node at {url} ({reason}). Is it running, and is that its RPC address?"
	)]
	Unreachable {
		/// The node's address.
		url: String,
		/// What the transport said.
		reason: String,
	},
	/// The connection broke, or an answer took too long.
	#[error("lost the node at {url} during {method}: {reason}")]
	Lost {
		/// The node's address.
		url: String,
		/// What was asked.
		method: String,
		/// What the transport said.
		reason: String,
	},
	/// The node refused the request.
	#[error("the node at {url} refused {method}: {reason}")]
	Refused {
		/// The node's address.
		url: String,
		/// What was asked.
		method: String,
		/// The node's words.
		reason: String,
		/// JSON-RPC error code, 0 where there is none.
		code: i32,
	},
	/// The node runs some other chain.
	#[error("the node at {url} does not run a Trainyard chain: its runtime has no TrainyardApi ({reason})")]
	NotTrainyard {
		/// The node's address.
		url: String,
		/// The node's words.
		reason: String,
	},
	/// The runtime speaks another protocol.
	#[error(
		"the chain at {url} speaks version {found} of the protocol, this program version \
		 {PROTOCOL_VERSION}. Use the release of `trainyard` that belongs to the chain"
	)]
	OtherProtocol {
		/// The node's address.
		url: String,
		/// The chain's version.
		found: u32,
	},
	/// Behind a known address there is another chain than before.
	#[error(
		"the node at {url} now runs another chain (genesis {found:?}, before {expected:?}). \
		 Start this program again if that is meant"
	)]
	OtherChain {
		/// The node's address.
		url: String,
		/// Genesis hash at the first connection.
		expected: H256,
		/// Genesis hash now.
		found: H256,
	},
	/// An answer that cannot be read.
	#[error("cannot read the node's answer to {method}: {reason}")]
	Unreadable {
		/// What was asked.
		method: String,
		/// Why.
		reason: String,
	},
}

impl ChainError {
	/// Whether asking again later may help: the node was not to be had.
	pub fn is_connection(&self) -> bool {
		matches!(self, Self::Unreachable { .. } | Self::Lost { .. })
	}
}
