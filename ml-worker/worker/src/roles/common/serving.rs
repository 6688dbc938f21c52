//! Starts the server from which others fetch, by TCP or over iroh, and knows where others reach it.

use crate::roles::{
	fetch::{self, Over},
	http::{Endpoint, ServeError, Server, Shelf},
	run::RoleError,
	store::Home,
};
use std::{net::SocketAddr, time::Duration};
use tracing::{info, warn};
use trainyard_protocol::Text;
use trainyard_transport::{Node, NodeError, Options, Relay};

/// How long a start waits for the relay.
const RELAY_PATIENCE: Duration = Duration::from_secs(10);

/// Options on serving over iroh.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct IrohArgs {
	/// Serve over iroh: others reach this machine by a key, through NAT, so that it needs no open port.
	/// Without --public-url nothing listens for HTTP then; with it, that is where others fetch if they
	/// cannot reach the endpoint
	#[arg(long)]
	iroh: bool,
	/// Relay (https://HOST[:PORT]) at which the endpoint waits for those who cannot reach it directly
	#[arg(long, value_name = "URL", requires = "iroh")]
	iroh_relay: Option<Relay>,
	/// UDP address of the endpoint; port 0 takes a free one, and the same again after a restart [default:
	/// a free port on all interfaces]
	#[arg(long, value_name = "ADDRESS", requires = "iroh")]
	iroh_listen: Option<SocketAddr>,
	/// Address at which others reach the endpoint directly, where it is known: that of a port which a
	/// router leads here. Several may be given
	#[arg(long, value_name = "ADDRESS", requires = "iroh")]
	iroh_address: Vec<SocketAddr>,
}

/// Says why a daemon cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServingError {
	/// Nobody could reach it.
	#[error("--listen {0} is reached under an address that only you know: give it with --public-url http://...")]
	NoPublicUrl(SocketAddr),
	/// Not a URL that fits on chain.
	#[error(
		"--public-url `{0}` must be an http:// or https:// URL of at most 256 bytes, without `?` \
		 and `#`: paths are added to it"
	)]
	BadPublicUrl(String),
	/// The server does not run.
	#[error(transparent)]
	Serve(#[from] ServeError),
	/// The endpoint does not run.
	#[error("{0}. Choose another address with --iroh-listen")]
	Endpoint(#[from] NodeError),
	/// Nobody could reach the endpoint.
	#[error(
		"nobody could reach the endpoint: name a relay at which it waits (--iroh-relay https://...), or \
		 the address of a UDP port that leads here (--iroh-listen, --iroh-address)"
	)]
	NoWay,
	/// Not a location that fits on chain.
	#[error("`{0}` is no location of an endpoint of at most 256 bytes: name fewer addresses, or shorter hosts")]
	BadLocation(String),
	/// A path cannot stand in the location of an endpoint.
	#[error("beside --iroh, --public-url `{0}` must be http://HOST[:PORT] or https://HOST[:PORT]")]
	PathBeside(String),
}

/// What serves a shelf, and where others reach it. It stops when this is dropped.
pub struct Served {
	/// Where others fetch.
	pub location: Text,
	_http: Option<Server>,
	_endpoint: Option<Endpoint>,
}

/// Starts what these options say, over iroh and by TCP.
pub async fn serve_by<E: std::error::Error + From<ServingError> + 'static>(
	(listen, public_url): (SocketAddr, Option<&str>),
	(iroh, over): (&IrohArgs, Over),
	home: &Home,
	shelf: Shelf,
) -> Result<Served, RoleError<E>> {
	let own = |e: ServingError| -> RoleError<E> { RoleError::Own(e.into()) };
	let mut http = None;
	if !iroh.iroh || public_url.is_some() {
		http = Some(serve(listen, home, shelf.clone()).await?);
	}
	let url = http.as_ref().map(|server| public_location(public_url, server.address()));
	let url = url.transpose().map_err(own)?;
	if !iroh.iroh {
		// It was started.
		let location = url.ok_or_else(|| own(ServingError::NoWay))?;
		return Ok(Served { location, _http: http, _endpoint: None });
	}
	let node = endpoint(iroh, over, home).await?;
	let mut addresses = iroh.iroh_address.clone();
	if addresses.is_empty() {
		let listens = |address: &SocketAddr| !address.ip().is_unspecified();
		addresses =
			iroh.iroh_listen.iter().filter(|at| listens(at)).flat_map(|_| node.sockets()).collect();
	}
	let endpoint = Endpoint::start(node, shelf);
	let mut location = endpoint.location(addresses);
	if !location.leads_there() {
		return Err(own(ServingError::NoWay));
	}
	location.http = url.map(|url| url.to_string_lossy());
	let text = location.to_string();
	let same = text.parse().is_ok_and(|read: trainyard_transport::Location| read == location);
	if !same && location.http.is_some() {
		return Err(own(ServingError::PathBeside(location.http.unwrap_or_default())));
	}
	let location = Text::new(&text).filter(|_| same);
	let location = location.ok_or_else(|| own(ServingError::BadLocation(text)))?;
	info!("serving over iroh at {location}");
	Ok(Served { location, _http: http, _endpoint: Some(endpoint) })
}

/// Makes the endpoint. With port 0 it takes the port of last time, if it is free.
async fn endpoint<E: std::error::Error + From<ServingError> + 'static>(
	iroh: &IrohArgs,
	over: Over,
	home: &Home,
) -> Result<Node, RoleError<E>> {
	let own = |e: NodeError| -> RoleError<E> { RoleError::Own(ServingError::from(e).into()) };
	let options = Options {
		listen: iroh.iroh_listen,
		relay: iroh.iroh_relay.clone(),
		authorities: over.authorities,
		announced: iroh.iroh_address.clone(),
		..Options::new(home.endpoint_key()?)
	};
	let again = iroh.iroh_listen.filter(|listen| listen.port() == 0).zip(home.last_udp_port());
	let mut node = None;
	if let Some((listen, port)) = again {
		let listen = Some(SocketAddr::new(listen.ip(), port));
		match Node::bind(Options { listen, ..options.clone() }).await {
			Ok(bound) => node = Some(bound),
			Err(e) => {
				warn!("{e}. Another port is taken; what was revealed before is not found there")
			}
		}
	}
	let node = match node {
		Some(node) => node,
		None => Node::bind(options).await.map_err(own)?,
	};
	if let Some(address) = node.sockets().first() {
		home.save_udp_port(address.port())?;
	}
	if tokio::time::timeout(RELAY_PATIENCE, node.waits_at_relay()).await.is_err() {
		let relay = iroh.iroh_relay.as_ref().map(ToString::to_string).unwrap_or_default();
		warn!("the relay {relay} does not answer; the endpoint goes on trying");
	}
	Ok(node)
}

/// Starts the server. With port 0 it takes the port of last time, if it is free: locations
/// that are on chain already name it.
pub async fn serve<E: std::error::Error + From<ServingError> + 'static>(
	listen: SocketAddr,
	home: &Home,
	shelf: Shelf,
) -> Result<Server, RoleError<E>> {
	let before = home.last_port().filter(|_| listen.port() == 0);
	if let Some(port) = before {
		match Server::start(SocketAddr::new(listen.ip(), port), shelf.clone()).await {
			Ok(server) => return Ok(server),
			Err(e) => {
				warn!("{e}. Another port is taken; what was revealed before is not found there")
			}
		}
	}
	let started = Server::start(listen, shelf).await.map_err(ServingError::from);
	let server = started.map_err(|e| RoleError::Own(e.into()))?;
	home.save_port(server.address().port())?;
	Ok(server)
}

/// Returns under which URL others reach the server at `address`: the one that was given, or the
/// address where others can reach that.
pub fn public_location(url: Option<&str>, address: SocketAddr) -> Result<Text, ServingError> {
	let url = match url {
		Some(url) => match fetch::server(url) {
			Some(url) => url,
			None => return Err(ServingError::BadPublicUrl(url.to_owned())),
		},
		None if address.ip().is_unspecified() => return Err(ServingError::NoPublicUrl(address)),
		None => format!("http://{address}"),
	};
	let rest = url.strip_prefix("http://").or(url.strip_prefix("https://"));
	match Text::new(&url) {
		Some(text) if rest.is_some_and(|rest| !rest.is_empty()) => Ok(text),
		_ => Err(ServingError::BadPublicUrl(url)),
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::H256;

	#[test]
	fn a_location_must_be_one_that_others_reach() {
		let local: SocketAddr = "127.0.0.1:8600".parse().unwrap();
		let any: SocketAddr = "0.0.0.0:8600".parse().unwrap();
		let text = |url| public_location(url, local).map(|t| t.to_string_lossy());
		assert_eq!(text(None).unwrap(), "http://127.0.0.1:8600");
		assert_eq!(text(Some("https://me.example/x/")).unwrap(), "https://me.example/x");
		assert!(matches!(text(Some("me.example")), Err(ServingError::BadPublicUrl(_))));
		assert!(matches!(text(Some("http://")), Err(ServingError::BadPublicUrl(_))));
		assert!(matches!(text(Some("http://me/?x")), Err(ServingError::BadPublicUrl(_))));
		let long = format!("http://{}", "x".repeat(300));
		assert!(matches!(text(Some(&long)), Err(ServingError::BadPublicUrl(_))));
		assert!(matches!(public_location(None, any), Err(ServingError::NoPublicUrl(_))));
		assert!(public_location(Some("http://me"), any).is_ok());
	}

	/// Starts what these options of a command line say.
	async fn by(
		url: Option<&str>,
		line: &str,
		home: &Home,
	) -> Result<Served, RoleError<ServingError>> {
		use clap::{Args, FromArgMatches};
		let command = IrohArgs::augment_args(clap::Command::new("x"));
		let words = std::iter::once("x").chain(line.split_whitespace());
		let args =
			IrohArgs::from_arg_matches(&command.try_get_matches_from(words).unwrap()).unwrap();
		let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
		serve_by((any, url), (&args, Over::default()), home, Shelf::default()).await
	}

	#[tokio::test]
	async fn an_endpoint_has_one_key_and_one_port_and_needs_no_other() {
		let dir = tempfile::tempdir().unwrap();
		let home = Home::open(dir.path(), &H256::zero()).unwrap();
		let line = "--iroh --iroh-listen 127.0.0.1:0";
		let first = by(None, line, &home).await.unwrap();
		let location = first.location.to_string_lossy();
		assert!(
			location.starts_with("iroh://") && location.contains(",ip=127.0.0.1:"),
			"{location}"
		);
		assert_eq!(home.last_port(), None, "nothing listens for HTTP");
		drop(first);
		tokio::time::sleep(Duration::from_millis(200)).await;
		let key = home.endpoint_key().unwrap();
		assert!(location.contains(&hex::encode(key.public().as_bytes())));
		#[cfg(unix)]
		{
			use std::os::unix::fs::PermissionsExt;
			let mode = std::fs::metadata(dir.path().join("iroh.key")).unwrap().permissions().mode();
			assert_eq!(mode & 0o777, 0o600);
		}
		let both = by(Some("https://me.example"), line, &home).await.unwrap();
		assert!(both.location.to_string_lossy().ends_with(",https=me.example"));
		assert!(home.last_port().is_some());
		let none = by(None, "", &home).await.unwrap();
		assert!(none.location.to_string_lossy().starts_with("http://127.0.0.1:"));
		for (url, line, why) in [
			(None, "--iroh", "nobody could reach"),
			(Some("https://me.example/x"), line, "must be http://HOST"),
			(None, "--iroh --iroh-listen 192.0.2.1:4433", "cannot listen"),
		] {
			let error = by(url, line, &home).await.err().unwrap().to_string();
			assert!(error.contains(why), "{line}: {error}");
		}
		std::fs::write(dir.path().join("iroh.key"), "x").unwrap();
		assert!(home.endpoint_key().is_err());
	}

	#[tokio::test]
	async fn a_restart_takes_the_same_port() {
		let dir = tempfile::tempdir().unwrap();
		let home = Home::open(dir.path(), &H256::zero()).unwrap();
		let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
		let first = serve::<ServingError>(any, &home, Shelf::default()).await.unwrap();
		let address = first.address();
		// Still taken: another one, which is remembered from now on.
		let second = serve::<ServingError>(any, &home, Shelf::default()).await.unwrap();
		assert_ne!(second.address(), address);
		assert_eq!(home.last_port(), Some(second.address().port()));
		let fixed = serve::<ServingError>(address, &home, Shelf::default()).await;
		assert!(matches!(fixed, Err(RoleError::Own(ServingError::Serve(ServeError::InUse(_))))));
	}
}
