//! Finds out that a port is taken before anything starts, and reports it.
//!
//! Left alone, the SDK moves JSON-RPC to a random port, drops the Prometheus endpoint and
//! only logs that it cannot listen for peers: the node runs and nobody finds it.

use sc_cli::Error;
use sc_service::{config::Multiaddr, Configuration};
use std::net::{IpAddr, SocketAddr, TcpListener};

/// A port that the node is going to open.
struct Claim {
	address: SocketAddr,
	what: &'static str,
	option: &'static str,
}

impl Claim {
	fn check(&self) -> Result<(), Error> {
		ensure_free(self.address, self.what, self.option)
	}
}

/// What the JSON-RPC port is for.
const RPC: &str = "JSON-RPC";

/// The ports that the node is going to open.
pub struct Claims(Vec<Claim>);

impl Claims {
	/// Collects the ports that `config` asks for, and stops JSON-RPC from moving to another
	/// one.
	///
	/// `rpc_fixed`: JSON-RPC endpoints come from `--rpc-port` or the default, and not from
	/// `--experimental-rpc-endpoint`, whose `retry-random-port` is the user's own choice.
	pub fn of(config: &mut Configuration, rpc_fixed: bool) -> Self {
		let mut claims = Vec::new();
		let mut claim = |address, what, option| claims.push(Claim { address, what, option });
		for endpoint in config.rpc.addr.iter_mut().flatten() {
			if rpc_fixed {
				endpoint.retry_random_port = false;
			}
			if !endpoint.retry_random_port && !endpoint.is_optional {
				claim(endpoint.listen_addr, RPC, "--rpc-port");
			}
		}
		if let Some(prometheus) = &config.prometheus_config {
			claim(prometheus.port, "Prometheus", "--prometheus-port (or --no-prometheus)");
		}
		for address in config.network.listen_addresses.iter().filter_map(tcp) {
			claim(address, "Peer-to-peer", "--port");
		}
		Self(claims)
	}

	/// Fails with a message that names the port and its option where one cannot be opened.
	pub fn check(&self) -> Result<(), Error> {
		self.0.iter().try_for_each(Claim::check)
	}

	/// Returns what to say of `error`, which kept the node from starting: somebody may have taken
	/// the JSON-RPC port since [`Self::check`], and the SDK does not say which port it was. (It
	/// reports no error for the others; and this node itself may have opened some of them already.)
	pub fn explain(&self, error: sc_service::Error) -> Error {
		if !error.to_string().contains("in use") {
			return error.into();
		}
		let rpc = self.0.iter().filter(|claim| claim.what == RPC);
		let taken = rpc.map(Claim::check).find_map(Result::err);
		taken.unwrap_or(error.into())
	}
}

/// Returns the socket that a multiaddress `/ip4/…/tcp/…` or `/ip6/…/tcp/…` stands for.
pub fn tcp(address: &Multiaddr) -> Option<SocketAddr> {
	let text = address.to_string();
	let mut parts = text.split('/').skip(1);
	let (kind, ip, transport, port) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
	if !matches!(kind, "ip4" | "ip6") || transport != "tcp" {
		return None;
	}
	Some(SocketAddr::new(ip.parse::<IpAddr>().ok()?, port.parse().ok()?))
}

/// Fails if nobody could listen at `address` now. Port 0 (any) is always free.
pub fn ensure_free(address: SocketAddr, what: &str, option: &str) -> Result<(), Error> {
	if address.port() == 0 {
		return Ok(());
	}
	match TcpListener::bind(address) {
		Ok(_) => Ok(()),
		Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Err(refused(format!(
			"{what} port {} is already in use at {}. Is another node running? Stop it, or choose \
			 another port with {option}.",
			address.port(),
			address.ip(),
		))),
		// A machine without IPv6, say: whoever needs the address will complain.
		Err(error) if error.kind() == std::io::ErrorKind::AddrNotAvailable => Ok(()),
		Err(error) => Err(refused(format!(
			"Cannot open {what} port {} at {}: {error}. Choose another port with {option}.",
			address.port(),
			address.ip(),
		))),
	}
}

/// Returns an error that says `message` and nothing else.
fn refused(message: String) -> Error {
	Error::Application(message.into())
}
