//! A relay: where endpoints wait that have no open port, and by which two of them find a direct way to each
//! other. It sees who speaks with whom, and how much, and nothing of what they say. Anyone can run one.

use crate::location::NotALocation;
use iroh::EndpointId;
use iroh_relay::{
	server::{
		reloading_resolver, Access, AccessControl, CertConfig, ClientRateLimit, ClientRequest,
		QuicConfig, RelayConfig, Server, ServerConfig, TlsConfig, DEFAULT_CERT_RELOAD_INTERVAL,
	},
	tls::default_provider,
};
use std::{
	collections::BTreeSet, net::SocketAddr, num::NonZeroU32, path::PathBuf, str::FromStr, sync::Arc,
};

/// The port on which clients look for QUIC beside a relay with TLS: it tells them what their address looks
/// like from outside, which is what hole punching needs.
pub const QUIC_PORT: u16 = iroh_relay::defaults::DEFAULT_RELAY_QUIC_PORT;

/// Certificate and addresses of a relay with TLS.
#[derive(Clone, Debug)]
pub struct Tls {
	/// Where it listens for TLS (TCP).
	pub listen: SocketAddr,
	/// Where it tells clients their address (UDP).
	pub quic: SocketAddr,
	/// The certificate and those above it, as PEM. It is read again when it was renewed.
	pub certificate: PathBuf,
	/// Its key, as PEM.
	pub key: PathBuf,
}

/// What a relay is started with.
#[derive(Clone, Debug)]
pub struct Options {
	/// Where it listens without TLS (TCP). With TLS it says there only that it lives.
	pub listen: SocketAddr,
	/// How it listens with TLS.
	pub tls: Option<Tls>,
	/// Most bytes a second that are taken from one client.
	pub rate: Option<NonZeroU32>,
	/// The endpoints that may wait there and reach others; none for everybody.
	pub only: Option<BTreeSet<EndpointId>>,
}

/// Reads the id of an endpoint: 64 hex digits in lower case, as in a location.
pub fn parse_id(text: &str) -> Result<EndpointId, NotALocation> {
	crate::Location::from_str(&format!("{}{text}", crate::SCHEME))
		.map(|location| location.id)
		.map_err(|_| NotALocation::Id(text.into()))
}

/// Says why a relay does not run.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
	/// The certificate cannot be read.
	#[error("cannot read the certificate {} with its key {}: {why}", certificate.display(), key.display())]
	Certificate {
		/// The certificate.
		certificate: PathBuf,
		/// Its key.
		key: PathBuf,
		/// What was said.
		why: String,
	},
	/// It cannot listen.
	#[error("the relay cannot listen: {0}")]
	Listen(String),
	/// It ended.
	#[error("the relay ended: {0}")]
	Ended(String),
}

/// Lets these endpoints in alone.
#[derive(Debug)]
struct Only(BTreeSet<EndpointId>);

impl AccessControl for Only {
	async fn on_connect(&self, request: &ClientRequest) -> Access {
		match self.0.contains(&request.endpoint_id()) {
			true => Access::Allow,
			false => Access::Deny { reason: Some("this relay is for certain endpoints".into()) },
		}
	}
}

/// A running relay. It ends when this is dropped.
#[derive(Debug)]
pub struct Running(Server);

impl Running {
	/// Returns where it listens without TLS.
	pub fn http(&self) -> Option<SocketAddr> {
		self.0.http_addr()
	}

	/// Returns where it listens with TLS.
	pub fn https(&self) -> Option<SocketAddr> {
		self.0.https_addr()
	}

	/// Waits until it ends by itself, which is an error.
	pub async fn ended(&mut self) -> RelayError {
		match self.0.join().await {
			Ok(Ok(())) => RelayError::Ended("nobody stopped it".into()),
			Ok(Err(e)) => RelayError::Ended(e.to_string()),
			Err(e) => RelayError::Ended(e.to_string()),
		}
	}
}

/// Starts a relay.
pub async fn start(options: Options) -> Result<Running, RelayError> {
	let mut relay = RelayConfig::new(options.listen);
	let mut config = ServerConfig::default();
	if let Some(Tls { listen, quic, certificate, key }) = options.tls {
		let wrong = |why: String| RelayError::Certificate {
			certificate: certificate.clone(),
			key: key.clone(),
			why,
		};
		let provider = default_provider();
		let builder = rustls::ServerConfig::builder_with_provider(provider.clone())
			.with_safe_default_protocol_versions()
			.map_err(|e| wrong(e.to_string()))?
			.with_no_client_auth();
		let interval = DEFAULT_CERT_RELOAD_INTERVAL;
		let resolver = reloading_resolver(&provider, certificate.clone(), key.clone(), interval)
			.await
			.map_err(|e| wrong(format!("{e:#}")))?;
		let server_config = builder.with_cert_resolver(resolver);
		relay.tls = Some(TlsConfig::new(listen, CertConfig::Manual { server_config }));
		config.quic = Some(QuicConfig::new(quic));
	}
	relay.limits.client_rx = options.rate.map(ClientRateLimit::new);
	if let Some(only) = options.only {
		relay.access = Arc::new(Only(only));
	}
	config.relay = Some(relay);
	let started = Server::spawn(config).await;
	started.map(Running).map_err(|e| RelayError::Listen(format!("{e:#}")))
}
