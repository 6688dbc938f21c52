//! The connection to a node.

use super::{babe::BabeConfiguration, AccountId32, ChainError};
use codec::{Decode, DecodeAll, Encode};
use serde::de::DeserializeOwned;
use std::{
	future::Future,
	sync::Arc,
	time::{Duration, Instant},
};
use subxt::{
	backend::LegacyBackend,
	client::OnlineClientAtBlockImpl,
	config::{Header, RpcConfigFor},
	dynamic::{self, Value},
	rpcs::{client::RpcParams, methods::legacy::LegacyRpcMethods, Error as RpcError, RpcClient},
	OnlineClient, SubstrateConfig,
};
use tokio::sync::Mutex;
use tracing::{info, warn};
use trainyard_protocol::{job::BlockNumber, H256, PROTOCOL_VERSION};

/// The chain's types: those of any Substrate chain.
pub(super) type Config = SubstrateConfig;
/// A subxt client that looks at one block.
pub(super) type AtBlock = subxt::client::ClientAtBlock<Config, OnlineClientAtBlockImpl<Config>>;

/// Longest wait for one answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest pause between two attempts to connect.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A block: its height and hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
	/// Height.
	pub number: BlockNumber,
	/// Hash.
	pub hash: H256,
}

/// One live connection.
pub(super) struct Connection {
	pub(super) rpc: RpcClient,
	pub(super) legacy: LegacyRpcMethods<RpcConfigFor<Config>>,
	pub(super) client: OnlineClient<Config>,
	pub(super) genesis: H256,
}

impl Connection {
	async fn open(url: &str) -> Result<Self, ChainError> {
		let unreachable = |reason: String| ChainError::Unreachable { url: url.to_string(), reason };
		let connecting = async {
			let rpc =
				RpcClient::from_insecure_url(url).await.map_err(|e| unreachable(root_cause(&e)))?;
			Self::through(rpc).await.map_err(unreachable)
		};
		match tokio::time::timeout(CONNECT_TIMEOUT, connecting).await {
			Ok(result) => result,
			Err(_) => Err(unreachable(format!("no answer in {} s", CONNECT_TIMEOUT.as_secs()))),
		}
	}

	/// Connects through `rpc`. Fails with what the transport said.
	pub(super) async fn through(rpc: RpcClient) -> Result<Self, String> {
		let backend = LegacyBackend::<Config>::builder().build(rpc.clone());
		let client = OnlineClient::<Config>::from_backend(Arc::new(backend))
			.await
			.map_err(|e| root_cause(&e))?;
		let genesis = H256(client.genesis_hash().0);
		Ok(Self { legacy: LegacyRpcMethods::new(rpc.clone()), rpc, client, genesis })
	}
}

/// The state of the connection, as far as it is known without a request.
#[derive(Clone, Copy, Debug)]
pub struct Link {
	/// Whether the last request reached the node.
	pub connected: bool,
	/// Height of the best block that was last heard of.
	pub best: BlockNumber,
	/// When that was.
	pub heard: Instant,
}

/// A chain, through one of its nodes. It is cheap to share in an `Arc`. The next request after a
/// broken connection connects again.
pub struct Chain {
	url: String,
	genesis: H256,
	connection: Mutex<Option<Arc<Connection>>>,
	link: std::sync::Mutex<Link>,
}

impl Chain {
	/// Connects to the node at `url` and checks that it runs a chain of our protocol. Tries again
	/// for `patience` while nobody answers, or while a node refuses because it is not ready.
	pub async fn connect(url: &str, patience: Duration) -> Result<Self, ChainError> {
		if !url.starts_with("ws://") && !url.starts_with("wss://") {
			return Err(ChainError::BadUrl { url: url.to_string() });
		}
		let started = Instant::now();
		let mut pause = Duration::from_millis(250);
		let mut warned = false;
		loop {
			match Self::try_connect(url).await {
				Err(e) if !e.is_final() && started.elapsed() + pause < patience => {
					if !warned {
						warn!("waiting for the node: {e}");
						warned = true;
					}
					tokio::time::sleep(pause).await;
					pause = (pause * 2).min(LONGEST_PAUSE);
				}
				result => return result,
			}
		}
	}

	async fn try_connect(url: &str) -> Result<Self, ChainError> {
		Self::over(url, Connection::open(url).await?).await
	}

	/// Returns the chain at a new connection, if it is one of our protocol.
	pub(super) async fn over(url: &str, connection: Connection) -> Result<Self, ChainError> {
		let chain = Self::known(url, connection);
		match chain.check_protocol().await {
			Ok(()) => Ok(chain),
			Err(error) if error.is_missing_api() => {
				Err(ChainError::NotTrainyard { url: chain.url, reason: error.to_string() })
			}
			Err(error) => Err(error),
		}
	}

	/// Returns the chain at a connection that was checked before.
	pub(super) fn known(url: &str, connection: Connection) -> Self {
		Self {
			url: url.into(),
			genesis: connection.genesis,
			connection: Mutex::new(Some(Arc::new(connection))),
			link: Link { connected: true, best: 0, heard: Instant::now() }.into(),
		}
	}

	/// Returns the state of the connection.
	pub fn link(&self) -> Link {
		*self.link.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
	}

	fn note(&self, change: impl FnOnce(&mut Link)) {
		change(&mut self.link.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
	}

	/// Checks that the runtime speaks our protocol: an upgrade may have changed it. If a node does
	/// not report its version, the version may still be ours, so that error is not final.
	pub async fn check_protocol(&self) -> Result<(), ChainError> {
		let found: u32 = self.api("protocol_version", (), None).await?;
		if found != PROTOCOL_VERSION {
			return Err(ChainError::OtherProtocol { url: self.url.clone(), found });
		}
		Ok(())
	}

	/// Returns the node's address.
	pub fn url(&self) -> &str {
		&self.url
	}

	/// Returns the genesis hash, which names the chain.
	pub fn genesis(&self) -> H256 {
		self.genesis
	}

	/// Returns the live connection. Makes a new one if there is none.
	pub(super) async fn connection(&self) -> Result<Arc<Connection>, ChainError> {
		let mut slot = self.connection.lock().await;
		if let Some(connection) = &*slot {
			return Ok(connection.clone());
		}
		let opened = Connection::open(&self.url).await;
		self.note(|link| link.connected = opened.is_ok());
		let connection = Arc::new(opened?);
		if connection.genesis != self.genesis {
			return Err(ChainError::OtherChain {
				url: self.url.clone(),
				expected: self.genesis,
				found: connection.genesis,
			});
		}
		info!("connected to {} again", self.url);
		*slot = Some(connection.clone());
		Ok(connection)
	}

	/// Drops `broken`, so that the next request connects again.
	pub(super) async fn forget(&self, broken: &Arc<Connection>) {
		let mut slot = self.connection.lock().await;
		if slot.as_ref().is_some_and(|c| Arc::ptr_eq(c, broken)) {
			*slot = None;
		}
	}

	/// Runs one request, named `method` for messages.
	pub(super) async fn ask<T, F>(
		&self,
		method: &str,
		request: impl FnOnce(Arc<Connection>) -> F,
	) -> Result<T, ChainError>
	where
		F: Future<Output = Result<T, RpcError>>,
	{
		self.ask_within(REQUEST_TIMEOUT, method, request).await
	}

	/// Runs one request that may take this long.
	async fn ask_within<T, F>(
		&self,
		longest: Duration,
		method: &str,
		request: impl FnOnce(Arc<Connection>) -> F,
	) -> Result<T, ChainError>
	where
		F: Future<Output = Result<T, RpcError>>,
	{
		let connection = self.connection().await?;
		let answer = tokio::time::timeout(longest, request(connection.clone())).await;
		let reason = match answer {
			Ok(Ok(value)) => return Ok(value),
			Ok(Err(RpcError::User(e))) => {
				return Err(ChainError::Refused {
					url: self.url.clone(),
					method: method.to_string(),
					reason: user_error(&e),
					code: e.code,
				})
			}
			Ok(Err(e @ (RpcError::Deserialization(_) | RpcError::Decode(_)))) => {
				return Err(ChainError::Unreadable {
					method: method.to_string(),
					reason: e.to_string(),
				})
			}
			Ok(Err(e)) => root_cause(&e),
			Err(_) => format!("no answer in {} s", longest.as_secs()),
		};
		self.forget(&connection).await;
		self.note(|link| link.connected = false);
		Err(ChainError::Lost { url: self.url.clone(), method: method.to_string(), reason })
	}

	/// Sends any JSON-RPC request.
	pub async fn rpc<T: DeserializeOwned>(
		&self,
		method: &str,
		params: RpcParams,
	) -> Result<T, ChainError> {
		self.ask(method, |c| async move { c.rpc.request(method, params).await }).await
	}

	/// Sends any JSON-RPC request, for whose answer a node may compute this long.
	pub async fn slow_rpc<T: DeserializeOwned>(
		&self,
		longest: Duration,
		method: &str,
		params: RpcParams,
	) -> Result<T, ChainError> {
		let ask = |c: Arc<Connection>| async move { c.rpc.request(method, params).await };
		self.ask_within(longest, method, ask).await
	}

	/// Subscribes by these two methods, and returns the first thing that the node tells.
	pub async fn first_of<T: DeserializeOwned>(
		&self,
		longest: Duration,
		subscribe: &str,
		unsubscribe: &str,
	) -> Result<T, ChainError> {
		let ask = |c: Arc<Connection>| async move {
			let mut all = c.rpc.subscribe(subscribe, RpcParams::new(), unsubscribe).await?;
			all.next().await.unwrap_or_else(|| Err(RpcError::Client("it ended".into())))
		};
		self.ask_within(longest, subscribe, ask).await
	}

	/// Calls `TrainyardApi_<method>` with `args` at block `at`, or at the best block.
	pub async fn api<T: Decode>(
		&self,
		method: &str,
		args: impl Encode,
		at: Option<H256>,
	) -> Result<T, ChainError> {
		self.call(&format!("TrainyardApi_{method}"), args, at).await
	}

	/// Calls any runtime API by its whole name, at block `at` or at the best block.
	pub(super) async fn call<T: Decode>(
		&self,
		method: &str,
		args: impl Encode,
		at: Option<H256>,
	) -> Result<T, ChainError> {
		let bytes = self.state_call(method, args.encode(), at).await?;
		T::decode_all(&mut &bytes[..])
			.map_err(|e| ChainError::Unreadable { method: method.into(), reason: e.to_string() })
	}

	/// Calls any runtime API: SCALE bytes in, SCALE bytes out.
	async fn state_call(
		&self,
		method: &str,
		args: Vec<u8>,
		at: Option<H256>,
	) -> Result<Vec<u8>, ChainError> {
		self.ask(method, |c| async move {
			let at = at.map(|h| subxt::utils::H256(h.0));
			c.legacy.state_call(method, Some(&args), at).await
		})
		.await
	}

	/// Returns the best block.
	pub async fn head(&self) -> Result<Head, ChainError> {
		let header = self
			.ask("chain_getHeader", |c| async move {
				let Some(hash) = c.legacy.chain_get_block_hash(None).await? else {
					return Ok(None);
				};
				let header = c.legacy.chain_get_header(Some(hash)).await?;
				Ok(header.map(|h| (h.number(), hash)))
			})
			.await?;
		let unreadable = |reason: &str| ChainError::Unreadable {
			method: "chain_getHeader".into(),
			reason: reason.into(),
		};
		let (number, hash) = header.ok_or_else(|| unreadable("there is no best block"))?;
		let number = u32::try_from(number).map_err(|_| unreadable("the height is past 32 bits"))?;
		self.note(|link| *link = Link { connected: true, best: number, heard: Instant::now() });
		Ok(Head { number, hash: H256(hash.0) })
	}

	/// Waits for a best block other than `seen`; asks a few times per second.
	pub async fn next_head(&self, seen: Option<H256>) -> Result<Head, ChainError> {
		loop {
			let head = self.head().await?;
			if Some(head.hash) != seen {
				return Ok(head);
			}
			tokio::time::sleep(Duration::from_millis(250)).await;
		}
	}

	/// Returns the mean time between blocks while all authorities are there, by BABE's
	/// configuration, which is fixed in genesis.
	pub async fn block_time(&self) -> Result<Duration, ChainError> {
		let method = "BabeApi_configuration";
		let bytes = self.state_call(method, Vec::new(), None).await?;
		let configuration = BabeConfiguration::decode(&mut &bytes[..])
			.map_err(|e| ChainError::Unreadable { method: method.into(), reason: e.to_string() })?;
		Ok(configuration.block_time())
	}

	/// Returns a constant of a pallet, by the names in the metadata; `None` if there is none.
	pub async fn constant(&self, pallet: &str, name: &str) -> Result<Option<u128>, ChainError> {
		let at = self.at_best().await?;
		Ok(at.constants().entry(dynamic::constant::<u128>(pallet, name)).ok())
	}

	/// Returns subxt's client at the best block.
	async fn at_best(&self) -> Result<AtBlock, ChainError> {
		let head = self.head().await?;
		let connection = self.connection().await?;
		let at = connection.client.at_block(subxt::utils::H256(head.hash.0));
		match tokio::time::timeout(REQUEST_TIMEOUT, at).await {
			Ok(Ok(at)) => Ok(at),
			Ok(Err(e)) => {
				self.forget(&connection).await;
				Err(self.lost("metadata", root_cause(&e)))
			}
			Err(_) => {
				self.forget(&connection).await;
				Err(self.lost("metadata", "no answer".into()))
			}
		}
	}

	pub(super) fn lost(&self, method: &str, reason: String) -> ChainError {
		ChainError::Lost { url: self.url.clone(), method: method.into(), reason }
	}

	/// Returns the bytes of `who`'s entry in a storage map, at the best block.
	pub(super) async fn entry(
		&self,
		pallet: &str,
		map: &str,
		who: &AccountId32,
	) -> Result<Option<Vec<u8>>, ChainError> {
		let at = self.at_best().await?;
		let address = dynamic::storage::<([u8; 32],), Value>(pallet, map);
		match at.storage().try_fetch(address, (who.0,)).await {
			Ok(fetched) => Ok(fetched.map(|value| value.bytes().to_vec())),
			Err(e) => {
				let connection = self.connection().await?;
				self.forget(&connection).await;
				Err(self.lost(&format!("{pallet}.{map}"), root_cause(&e)))
			}
		}
	}
}

/// Returns the innermost message of an error, without the layers that it went through.
pub(super) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
	let mut at = error;
	while let Some(source) = at.source() {
		at = source;
	}
	let text = at.to_string();
	let mut rest = text.as_str();
	while let Some(inner) = ["RPC error: ", "client error: ", "Backend error: "]
		.iter()
		.find_map(|p| rest.strip_prefix(p))
	{
		rest = inner;
	}
	rest.to_owned()
}

/// Writes a JSON-RPC error with its data, which usually holds the reason.
pub(super) fn user_error(e: &subxt::rpcs::UserError) -> String {
	match &e.data {
		Some(data) => format!("{}: {}", e.message, data.get().trim_matches('"')),
		None => e.message.clone(),
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::fake::FakeNode;

	#[tokio::test]
	async fn an_address_that_is_none_is_refused_at_once() {
		let error = Chain::connect("127.0.0.1:9944", Duration::from_secs(60)).await.err().unwrap();
		assert!(error.to_string().contains("must begin with ws://"), "{error}");
		assert!(!error.is_connection());
	}

	const MISSING: &str = "Client error: Execution failed: Other: Exported method \
		TrainyardApi_protocol_version is not found";
	const PRUNED: &str = "Client error: Api called for an unknown Block: State already discarded";

	#[tokio::test]
	async fn only_a_missing_api_makes_it_another_chain() {
		let answering = |answer: Result<Vec<u8>, &'static str>| {
			FakeNode::new(move |_, _, _| answer.clone()).connect()
		};
		assert!(answering(Ok(PROTOCOL_VERSION.encode())).await.is_ok());
		let error = answering(Err(MISSING)).await.err().unwrap();
		assert!(matches!(error, ChainError::NotTrainyard { .. }), "{error}");
		let error = answering(Err(PRUNED)).await.err().unwrap();
		assert!(matches!(error, ChainError::Refused { .. }) && !error.is_final(), "{error}");
		let error = answering(Ok(99u32.encode())).await.err().unwrap();
		assert!(matches!(error, ChainError::OtherProtocol { found: 99, .. }), "{error}");
	}

	#[tokio::test]
	async fn a_refusal_on_a_known_chain_is_never_final() {
		for reason in [MISSING, PRUNED] {
			let chain = FakeNode::new(move |_, _, _| Err(reason)).chain().await;
			let error = chain.check_protocol().await.unwrap_err();
			assert!(matches!(error, ChainError::Refused { .. }) && !error.is_final(), "{error}");
		}
		let upgraded = FakeNode::new(|_, _, _| Ok(99u32.encode())).chain().await;
		assert!(upgraded.check_protocol().await.unwrap_err().is_final());
	}

	#[test]
	fn causes_are_reported_without_their_layers() {
		let layered = std::io::Error::other("RPC error: client error: RPC error: no route");
		assert_eq!(root_cause(&layered), "no route");
	}

	#[tokio::test]
	async fn a_dead_node_is_named() {
		// A port that was free a moment ago.
		let port = {
			let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
			listener.local_addr().unwrap().port()
		};
		let url = format!("ws://127.0.0.1:{port}");
		let error = Chain::connect(&url, Duration::ZERO).await.err().unwrap();
		assert!(error.is_connection());
		assert!(error.to_string().contains(&url), "{error}");
	}
}
