//! Says why a request to the chain failed.

use trainyard_protocol::{H256, PROTOCOL_VERSION};

/// Says why a request to the chain failed.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
	/// Not a WebSocket URL.
	#[error("`{url}` is no address of a node: it must begin with ws:// or wss://, like ws://127.0.0.1:9944")]
	BadUrl {
		/// The URL that was given.
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
		/// The request.
		method: String,
		/// What the transport said.
		reason: String,
	},
	/// The node refused the request.
	#[error("the node at {url} refused {method}: {reason}")]
	Refused {
		/// The node's address.
		url: String,
		/// The request.
		method: String,
		/// The node's words.
		reason: String,
		/// JSON-RPC error code, 0 where there is none.
		code: i32,
	},
	/// The node does not run a Trainyard chain.
	#[error("the node at {url} does not run a Trainyard chain: its runtime has no TrainyardApi ({reason})")]
	NotTrainyard {
		/// The node's address.
		url: String,
		/// The node's words.
		reason: String,
	},
	/// The runtime speaks a different protocol.
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
	/// At a known address there is now a different chain.
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
		/// The request.
		method: String,
		/// Why.
		reason: String,
	},
}

impl ChainError {
	/// Returns whether a retry can never help: this is not the chain, or not the protocol, that was
	/// meant.
	pub fn is_final(&self) -> bool {
		matches!(
			self,
			Self::BadUrl { .. }
				| Self::NotTrainyard { .. }
				| Self::OtherProtocol { .. }
				| Self::OtherChain { .. }
		)
	}

	/// Returns whether the node said that its runtime has no such API. A node that is syncing, that
	/// has pruned a state, or that is short of memory refuses in other words.
	pub(super) fn is_missing_api(&self) -> bool {
		let Self::Refused { reason, .. } = self else { return false };
		// These are the words of sc-executor.
		reason.contains("Exported method") && reason.contains("is not found")
	}

	/// Returns whether a later retry may help: the node could not be reached.
	pub fn is_connection(&self) -> bool {
		matches!(self, Self::Unreachable { .. } | Self::Lost { .. })
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn errors_say_whether_waiting_helps() {
		let url = || "ws://node".to_string();
		let lost =
			ChainError::Lost { url: url(), method: "m".into(), reason: "connection closed".into() };
		assert!(lost.is_connection() && !lost.is_final());
		let refused = ChainError::Refused {
			url: url(),
			method: "m".into(),
			reason: "no state".into(),
			code: 1,
		};
		assert!(!refused.is_connection() && !refused.is_final());
		assert!(!refused.is_missing_api());
		let other = ChainError::OtherProtocol { url: url(), found: 99 };
		assert!(!other.is_connection() && other.is_final());
		assert!(other.to_string().contains("version 99"));
	}
}
