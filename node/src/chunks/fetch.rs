//! A protocol of two messages, by which nodes give chunks to each other: the request is the chunk's
//! `blake2_256`, the response its bytes, or nothing where the node lacks it.
//!
//! The SDK has bitswap for this, but in one network backend only, and in a service that must be asked for
//! on the command line; its crate for storage chains fetches what a block *renews*, and our blocks renew
//! nothing. Whoever asks here checks what it gets, and leaves a liar.

use super::store::{ChunkStore, Indexed};
use async_channel::Receiver;
use codec::{Decode, Encode};
use log::debug;
use sc_network::{
	request_responses::{IncomingRequest, OutgoingResponse},
	service::traits::{NetworkBackend, NetworkService},
	IfDisconnected, PeerId, ProtocolName, ReputationChange,
};
use sp_core::H256;
use std::{sync::Arc, time::Duration};
use trainyard_protocol::blob::{self, MAX_CHUNK};
use trainyard_runtime::opaque::Block;

/// Bytes of a request.
const REQUEST: u64 = 32;
/// Requests of others that wait at a time; more are refused.
const QUEUE: usize = 16;
/// After so long another peer is asked.
const PATIENCE: Duration = Duration::from_secs(20);
/// Peers that are asked for a chunk before it waits for the next round.
const PEERS: usize = 4;
/// What a peer loses that sends other bytes.
const LIAR: ReputationChange = ReputationChange::new_fatal("a chunk with another hash");

/// Returns the name of the protocol on the chain of this genesis block.
pub fn protocol_name(genesis: &H256) -> ProtocolName {
	format!("/{genesis:x}/trainyard/chunks/1").into()
}

/// Returns the protocol's settings for the network, and what others ask.
pub fn protocol<N: NetworkBackend<Block, H256>>(
	genesis: &H256,
) -> (N::RequestResponseProtocolConfig, Receiver<IncomingRequest>) {
	let (sender, receiver) = async_channel::bounded(QUEUE);
	let config = N::request_response_config(
		protocol_name(genesis),
		Vec::new(),
		REQUEST,
		u64::from(MAX_CHUNK) + 16,
		PATIENCE,
		Some(sender),
	);
	(config, receiver)
}

/// Answers what others ask, one after the other, for as long as the node runs.
pub async fn serve<D: Indexed>(store: Arc<ChunkStore<D>>, requests: Receiver<IncomingRequest>) {
	while let Ok(IncomingRequest { peer, payload, pending_response }) = requests.recv().await {
		let chunk = H256::decode(&mut &payload[..]).ok().map(|hash| store.get(&hash));
		let result = chunk.map(|chunk| chunk.encode()).ok_or(());
		let response =
			OutgoingResponse { result, reputation_changes: Vec::new(), sent_feedback: None };
		if pending_response.send(response).is_err() {
			debug!("{peer} did not wait for the chunk that it asked for");
		}
	}
}

/// Asks some of `peers`, beginning with number `turn`, for a chunk, until one has it.
pub async fn fetch(
	network: &Arc<dyn NetworkService>,
	protocol: &ProtocolName,
	peers: &[PeerId],
	turn: usize,
	hash: &H256,
) -> Option<Vec<u8>> {
	for peer in peers.iter().cycle().skip(turn).take(PEERS.min(peers.len())) {
		let (name, connect) = (protocol.clone(), IfDisconnected::ImmediateError);
		let answer = network.request(*peer, name, hash.encode(), None, connect).await;
		let chunk = match answer.map(|(bytes, _)| Option::<Vec<u8>>::decode(&mut &bytes[..])) {
			Ok(Ok(Some(chunk))) => chunk,
			Ok(Ok(None)) => continue,
			Ok(Err(error)) => {
				debug!("{peer} answered for chunk {hash:?} what cannot be read: {error}");
				continue;
			}
			Err(error) => {
				debug!("{peer} does not answer for chunk {hash:?}: {error}");
				continue;
			}
		};
		if blob::chunk_hash(&chunk) == *hash {
			return Some(chunk);
		}
		network.report_peer(*peer, LIAR);
	}
	None
}
