//! This machine's endpoint.

use crate::{
	location::{Location, Relay},
	names::{Allowed, Filtered},
	protocol,
	provider::{Provider, Shelf},
	serve::{self, Accepted, Limits, Serving},
};
use iroh::{
	dns::DnsResolver,
	endpoint::{presets::Minimal, Connection, QuicTransportConfig, RecvStream, SendStream, VarInt},
	tls::CaTlsConfig,
	Endpoint, EndpointId, RelayConfig, RelayMap, RelayMode, SecretKey,
};
use rustls::pki_types::{pem::PemObject, CertificateDer};
use std::{
	collections::HashMap,
	io,
	net::{Ipv4Addr, SocketAddr},
	path::PathBuf,
	pin::Pin,
	sync::{Arc, Mutex, PoisonError},
	task::{Context, Poll},
	time::Duration,
};
use tokio::{
	io::{AsyncRead, AsyncWrite, AsyncWriteExt, Join, ReadBuf},
	sync::oneshot,
};

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Requests under way at once on a connection.
const STREAMS: u32 = 64;
/// Endpoints whose connections are kept for the next request.
const MOST_KEPT: usize = 256;
/// Relays that are asked how this machine looks from outside.
const MOST_RELAYS: usize = 8;

/// What an endpoint is made with.
#[derive(Clone, Debug)]
pub struct Options {
	/// The key by which others know it.
	pub secret: SecretKey,
	/// UDP address and port to listen on; none for any of them, on all interfaces.
	pub listen: Option<SocketAddr>,
	/// The relay at which it waits for those who cannot reach it directly.
	pub relay: Option<Relay>,
	/// Certificates of authorities, as PEM, that are trusted beside the usual ones for relays.
	pub authorities: Option<PathBuf>,
	/// If set, names of relays are taken to those of their addresses alone for which it returns true.
	/// Addresses in a [`Location`] are for [`Location::among`].
	pub public_only: Option<Allowed>,
	/// Whether it uses relays alone: then it sends nothing to any address that another endpoint names.
	pub relay_only: bool,
	/// Addresses at which it is reached from elsewhere, if they are known: those of a port that a router
	/// leads here.
	pub announced: Vec<SocketAddr>,
}

impl Options {
	/// Makes options for one that goes anywhere, and waits nowhere.
	pub fn new(secret: SecretKey) -> Self {
		Self {
			secret,
			listen: None,
			relay: None,
			authorities: None,
			public_only: None,
			relay_only: false,
			announced: Vec::new(),
		}
	}
}

/// Says why there is no endpoint.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
	/// The address cannot be listened on.
	#[error("cannot listen on {address} (UDP): {why}")]
	Listen {
		/// The address.
		address: SocketAddr,
		/// What was said.
		why: String,
	},
	/// The certificates cannot be read.
	#[error("cannot read certificates from {}: {why}", path.display())]
	Authorities {
		/// The file.
		path: PathBuf,
		/// What was said.
		why: String,
	},
	/// No socket could be made.
	#[error("cannot open an endpoint: {0}")]
	Bind(String),
}

/// Says why an endpoint could not be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
	/// The location names no way to it.
	#[error("neither an address nor a relay is named where it could be reached")]
	NoWay,
	/// It could not be connected to.
	#[error("no connection: {0}")]
	Unreachable(String),
}

/// A connection to whom something is asked, if there is one.
type Slot = Arc<tokio::sync::Mutex<Option<Connection>>>;

/// This machine's endpoint. Clones share it.
#[derive(Clone, Debug)]
pub struct Node {
	endpoint: Endpoint,
	relay: Option<Relay>,
	relays: RelayMap,
	connections: Arc<Mutex<HashMap<EndpointId, Slot>>>,
	accepted: Accepted,
	_closes: Arc<Closes>,
}

/// Closes an endpoint when nobody has it any more.
#[derive(Debug)]
struct Closes(Endpoint);

impl Drop for Closes {
	fn drop(&mut self) {
		let endpoint = self.0.clone();
		// Without a runtime the process ends, and nobody is told.
		if let Ok(runtime) = tokio::runtime::Handle::try_current() {
			runtime.spawn(async move { endpoint.close().await });
		}
	}
}

impl Node {
	/// Makes an endpoint.
	pub async fn bind(options: Options) -> Result<Self, NodeError> {
		let relays = RelayMap::empty();
		if let Some(relay) = &options.relay {
			// Without TLS it has no QUIC that would say how this machine looks from there.
			let config = match relay.tls {
				true => RelayConfig::from(relay.url()),
				false => RelayConfig::new(relay.url(), None),
			};
			relays.insert(relay.url(), Arc::new(config));
		}
		let streams = VarInt::from_u32(STREAMS);
		let transport = QuicTransportConfig::builder()
			.max_concurrent_bidi_streams(streams)
			.max_concurrent_uni_streams(VarInt::from_u32(0))
			.datagram_receive_buffer_size(None)
			.build();
		let names = match options.public_only {
			Some(allowed) => DnsResolver::custom(Filtered::new(allowed)),
			None => crate::names::system(),
		};
		let mut builder = Endpoint::builder(Minimal)
			.secret_key(options.secret)
			.alpns(vec![protocol::ALPN.to_vec()])
			// It reaches the relays of others by their URLs, too.
			.relay_mode(RelayMode::Custom(relays.clone()))
			.transport_config(transport)
			.dns_resolver(names);
		if let Some(path) = &options.authorities {
			let wrong = |e: rustls::pki_types::pem::Error| NodeError::Authorities {
				path: path.clone(),
				why: e.to_string(),
			};
			let found = CertificateDer::pem_file_iter(path).map_err(wrong)?;
			let found: Vec<_> = found.collect::<Result<_, _>>().map_err(wrong)?;
			builder = builder.ca_tls_config(CaTlsConfig::default().with_extra_roots(found));
		}
		for address in options.announced {
			builder = builder.external_addr(address);
		}
		if options.relay_only {
			builder = builder.clear_ip_transports();
		} else if let Some(address) = options.listen {
			let refused = |why: String| NodeError::Listen { address, why };
			builder = builder.clear_ip_transports();
			builder = builder.bind_addr(address).map_err(|e| refused(e.to_string()))?;
			// Whoever listens on one IPv6 address still reaches those who have IPv4 alone.
			if address.is_ipv6() && address.ip().is_unspecified() {
				let v4 = SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port()));
				builder = builder.bind_addr(v4).map_err(|e| refused(e.to_string()))?;
			}
			let endpoint = builder.bind().await.map_err(|e| refused(whole(&e)))?;
			return Ok(Self::of(endpoint, options.relay, relays));
		}
		let endpoint = builder.bind().await.map_err(|e| NodeError::Bind(whole(&e)))?;
		Ok(Self::of(endpoint, options.relay, relays))
	}

	fn of(endpoint: Endpoint, relay: Option<Relay>, relays: RelayMap) -> Self {
		let _closes = Arc::new(Closes(endpoint.clone()));
		Self {
			endpoint,
			relay,
			relays,
			connections: Arc::default(),
			accepted: Accepted::default(),
			_closes,
		}
	}

	/// Returns the key by which others know it.
	pub fn id(&self) -> EndpointId {
		self.endpoint.id()
	}

	/// Returns the UDP addresses on which it listens.
	pub fn sockets(&self) -> Vec<SocketAddr> {
		self.endpoint.bound_sockets()
	}

	/// Returns where it is: its key, these direct addresses, and its relay.
	pub fn location(&self, addresses: Vec<SocketAddr>) -> Location {
		Location { addresses, relay: self.relay.clone(), ..Location::new(self.id()) }
	}

	/// Waits until it is connected to its relay, if it has one.
	pub async fn waits_at_relay(&self) {
		if self.relay.is_some() {
			self.endpoint.online().await;
		}
	}

	/// Serves what is on `shelf` to whoever connects, until the returned value is dropped, which hands out
	/// streams for another protocol.
	pub fn serve(&self, shelf: Arc<dyn Shelf>, limits: Limits) -> Serving {
		serve::start(self.endpoint.clone(), Provider::new(shelf), limits, self.accepted.clone())
	}

	/// Opens a stream for another protocol.
	pub async fn open(&self, to: &Location) -> Result<Stream, OpenError> {
		self.open_for(to, &[protocol::BYTES]).await
	}

	/// Opens a stream that begins with these bytes.
	pub(crate) async fn open_for(&self, to: &Location, first: &[u8]) -> Result<Stream, OpenError> {
		let unreachable = |e: &dyn std::error::Error| OpenError::Unreachable(whole(e));
		let mut fresh = false;
		loop {
			let (connection, is_new) = self.connect(to, fresh).await?;
			let opened = async {
				let (mut send, receive) = connection.open_bi().await.map_err(io::Error::from)?;
				send.write_all(first).await.map_err(io::Error::from)?;
				Ok::<_, io::Error>((send, receive))
			};
			let opened = tokio::time::timeout(CONNECT, opened).await;
			match opened.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
				Ok((send, receive)) => return Ok(Stream::new(connection, send, receive, None)),
				// One that was kept may have ended since.
				Err(_) if !is_new && !fresh => fresh = true,
				Err(e) => return Err(unreachable(&e)),
			}
		}
	}

	/// Ends the connection that is kept to an endpoint, if there is one: whoever knows that the other side began
	/// again asks it by a new one, where an old one would be waited for until it is idle for long.
	pub async fn forget(&self, id: EndpointId) {
		if let Some(connection) = self.slot(id).lock().await.take() {
			connection.close(VarInt::from_u32(0), b"forgotten");
		}
	}

	/// Ends all connections with an endpoint, also those that it opened: whoever knows that it is elsewhere by now
	/// reaches it there. As long as one of them lasts, iroh sends even what begins a new one to the address that was
	/// good for the others, and one that a killed process opened lasts until it is idle for long.
	pub async fn moved(&self, id: EndpointId) {
		self.accepted.close(id);
		self.forget(id).await;
	}

	/// Returns a connection, and whether it is a new one. It is where `fresh`.
	async fn connect(&self, to: &Location, fresh: bool) -> Result<(Connection, bool), OpenError> {
		let slot = self.slot(to.id);
		let mut kept = slot.lock().await;
		match &*kept {
			Some(connection) if !fresh && connection.close_reason().is_none() => {
				return Ok((connection.clone(), false));
			}
			_ => *kept = None,
		}
		if !to.leads_there() {
			return Err(OpenError::NoWay);
		}
		if let Some(relay) = to.relay.as_ref().filter(|relay| relay.tls) {
			// It says how this machine looks from outside: without that no direct way is found to somebody
			// who, like this machine, has no open port.
			let url = relay.url();
			if self.relays.len() < MOST_RELAYS && !self.relays.contains(&url) {
				let config = Arc::new(RelayConfig::from(url.clone()));
				self.endpoint.insert_relay(url, config).await;
			}
		}
		let connecting = self.endpoint.connect(to.endpoint(), protocol::ALPN);
		let connected = tokio::time::timeout(CONNECT, connecting).await;
		let connection = match connected {
			Ok(Ok(connection)) => connection,
			Ok(Err(e)) => return Err(OpenError::Unreachable(whole(&e))),
			Err(_) => return Err(OpenError::Unreachable("no answer in time".into())),
		};
		*kept = Some(connection.clone());
		Ok((connection, true))
	}

	fn slot(&self, id: EndpointId) -> Slot {
		let mut all = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
		if all.len() >= MOST_KEPT {
			let ended = |slot: &Slot| match slot.try_lock() {
				Ok(kept) => kept.as_ref().is_none_or(|kept| kept.close_reason().is_some()),
				Err(_) => false,
			};
			all.retain(|_, slot| !ended(slot));
			// All are in use: then the others are forgotten, and end when their requests do.
			if all.len() >= MOST_KEPT {
				all.clear();
			}
		}
		all.entry(id).or_default().clone()
	}

	/// Returns the ways by which it is connected to an endpoint now, as text: `ip:…` or `relay:…`, the one
	/// in use first.
	pub async fn ways_to(&self, id: EndpointId) -> Vec<String> {
		let slot = self.slot(id);
		let kept = slot.lock().await;
		let Some(connection) = &*kept else { return Vec::new() };
		let mut ways: Vec<_> = connection
			.paths()
			.iter()
			.map(|path| (!path.is_selected(), path.remote_addr().to_string()))
			.collect();
		ways.sort();
		ways.into_iter().map(|(_, way)| way).collect()
	}

	/// Ends all connections, and tells the others.
	pub async fn close(&self) {
		self.endpoint.close().await;
	}
}

/// Returns an error with its causes, in one line.
fn whole(error: &dyn std::error::Error) -> String {
	let mut text = error.to_string();
	let mut at = error.source();
	while let Some(cause) = at {
		let cause_text = cause.to_string();
		if !text.contains(&cause_text) {
			text = format!("{text}: {cause_text}");
		}
		at = cause.source();
	}
	text
}

/// A stream of bytes in both directions. Its connection lives as long as it does.
#[derive(Debug)]
pub struct Stream {
	inner: Join<RecvStream, SendStream>,
	_connection: Connection,
	/// Whoever counts the streams of a connection learns that this one ended.
	_ends: Option<oneshot::Sender<()>>,
}

impl Stream {
	pub(crate) fn new(
		connection: Connection,
		send: SendStream,
		receive: RecvStream,
		ends: Option<oneshot::Sender<()>>,
	) -> Self {
		Self { inner: tokio::io::join(receive, send), _connection: connection, _ends: ends }
	}

	/// Says that nothing more is written.
	pub(crate) async fn finish(&mut self) -> io::Result<()> {
		self.inner.shutdown().await
	}
}

impl AsyncRead for Stream {
	fn poll_read(
		mut self: Pin<&mut Self>,
		cx: &mut Context<'_>,
		buffer: &mut ReadBuf<'_>,
	) -> Poll<io::Result<()>> {
		Pin::new(&mut self.inner).poll_read(cx, buffer)
	}
}

impl AsyncWrite for Stream {
	fn poll_write(
		mut self: Pin<&mut Self>,
		cx: &mut Context<'_>,
		bytes: &[u8],
	) -> Poll<io::Result<usize>> {
		Pin::new(&mut self.inner).poll_write(cx, bytes)
	}

	fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
		Pin::new(&mut self.inner).poll_flush(cx)
	}

	fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
		Pin::new(&mut self.inner).poll_shutdown(cx)
	}
}
