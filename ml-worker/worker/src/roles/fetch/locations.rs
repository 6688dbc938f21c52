//! Decides which locations a daemon fetches from.
//!
//! Strangers name locations, in specifications and reveals. A daemon that asked everything they
//! name would let them reach services of its own machine and network. So private addresses are
//! refused: in the URL, as the address of a name, and after a redirect.

use super::{
	iroh::{is_iroh, Over},
	stores::{NotAPlace, Place, StoreArgs, Stores},
};
use reqwest::{
	dns::{Addrs, Name, Resolve, Resolving},
	redirect::Policy,
	ClientBuilder, Url,
};
use serde_json::Value;
use std::{
	error::Error,
	net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
	path::PathBuf,
};
use subxt::rpcs::client::RpcParams;
use trainyard_client::{Chain, ChainError};
use trainyard_transport::NotALocation;

/// Most redirects followed.
const REDIRECTS: usize = 4;

/// Options on locations.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct LocationArgs {
	/// Fetch from loopback, private and other local addresses, too, and through the proxy
	/// that the environment names. Jobs and results name the locations, so anybody can make
	/// this machine ask services that only it can reach. A node of a chain of type Development
	/// on this machine (ws://127.0.0.1) allows it anyway
	#[arg(long)]
	allow_private_locations: bool,
	/// Fetch from iroh:// locations through relays alone: nothing is sent to an address that another
	/// endpoint names while a direct way is looked for, and everything takes the longer way
	#[arg(long)]
	iroh_relays_only: bool,
	/// Trust the certificates in this file (PEM), too, for relays
	#[arg(long, value_name = "FILE")]
	iroh_relay_ca: Option<PathBuf>,
	#[command(flatten)]
	stores: StoreArgs,
}

impl LocationArgs {
	/// Returns whether the option was given.
	pub fn allows_private(&self) -> bool {
		self.allow_private_locations
	}

	/// Returns how endpoints of iroh are asked.
	pub fn over(&self) -> Over {
		Over { authorities: self.iroh_relay_ca.clone(), relay_only: self.iroh_relays_only }
	}

	/// Returns where stores are, and for what credentials are used.
	pub fn stores(&self) -> Stores {
		self.stores.stores_for(None)
	}

	/// Does what [`Self::stores`] does, and uses credentials for this location, too: the owner of this machine
	/// names it.
	pub fn stores_for(&self, own: Option<&str>) -> Stores {
		self.stores.stores_for(own)
	}

	/// Returns what may be fetched from: everything if the option was given, or if the node is on
	/// this machine and its chain for development; else what is public.
	pub async fn locations(&self, chain: &Chain) -> Result<Locations, ChainError> {
		if self.allow_private_locations {
			return Ok(Locations::Any);
		}
		if !is_on_this_machine(chain.url()) {
			return Ok(Locations::Public);
		}
		match chain.rpc("system_chainType", RpcParams::new()).await {
			Ok(kind) if is_development(&kind) => Ok(Locations::Any),
			Ok(_) => Ok(Locations::Public),
			Err(e) if e.is_connection() => Err(e),
			// If a node does not say, this is the careful answer.
			Err(_) => Ok(Locations::Public),
		}
	}
}

/// Returns whether a chain of this type (`system_chainType`) is for development. A chain of type
/// Local is not: that is what others join whose specification was made from the preset `local`.
fn is_development(kind: &Value) -> bool {
	kind.as_str() == Some("Development")
}

/// Returns whether a URL leads to this machine by its loopback address.
fn is_on_this_machine(url: &str) -> bool {
	let Ok(url) = Url::parse(url) else { return false };
	match literal(&url) {
		Some(address) => address.to_canonical().is_loopback(),
		None => url.host_str() == Some("localhost"),
	}
}

/// Returns the address in a URL, if it names one. Unusual forms like 0x7f.1 have become addresses
/// in the usual form when a URL is parsed.
fn literal(url: &Url) -> Option<IpAddr> {
	let host = url.host_str().unwrap_or_default();
	host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Returns the base URL of a trainer's server, to which paths are added. None if it has a query or
/// a fragment: the paths would become a part of these, and the request one for something else.
pub fn server(location: &str) -> Option<String> {
	let base = location.trim_end_matches('/');
	(!base.contains(['?', '#'])).then(|| base.to_owned())
}

/// The locations that may be fetched from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locations {
	/// Those with public addresses.
	Public,
	/// All.
	Any,
}

/// Says why a location is not fetched from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
	/// No location at all.
	#[error("`{url}` is no http://, https://, iroh://, s3://, gs:// or hf:// location")]
	NotHttp {
		/// The URL that was given.
		url: String,
	},
	/// Begins as the location of an endpoint, and is none.
	#[error("`{url}` is no location of an endpoint: {why}")]
	NotIroh {
		/// The URL that was given.
		url: String,
		/// What is wrong with it.
		why: NotALocation,
	},
	/// Begins as the location of a file in a store, and is none.
	#[error("`{url}` is no location of a file in a store: {why}")]
	NotAPlace {
		/// The URL that was given.
		url: String,
		/// What is wrong with it.
		why: NotAPlace,
	},
	/// The location of an endpoint names no way there that may be gone.
	#[error(
		"`{url}` names no public address and no relay. Its owner must name one; or start this daemon \
		 with --allow-private-locations if you trust everyone who names locations on this chain"
	)]
	NoWay {
		/// The URL that was given.
		url: String,
	},
	/// No public address.
	#[error(
		"`{host}` is at {address}, which is no public address. Its owner must serve it at a \
		 public one; or start this daemon with --allow-private-locations if you trust everyone \
		 who names locations on this chain"
	)]
	Private {
		/// Name or address in the URL.
		host: String,
		/// Its address.
		address: IpAddr,
	},
}

impl Locations {
	/// Checks the scheme of a URL and, if it names one, its address. Names are checked when they
	/// are resolved.
	pub fn check(self, url: &str) -> Result<(), LocationError> {
		if is_iroh(url) {
			return self.endpoint(url).map(drop);
		}
		if let Some(place) = Place::parse(url) {
			// Its server is checked when it is asked.
			return place
				.map(drop)
				.map_err(|why| LocationError::NotAPlace { url: url.into(), why });
		}
		match Url::parse(url) {
			Ok(url) => self.check_parsed(&url),
			Err(_) => Err(LocationError::NotHttp { url: url.into() }),
		}
	}

	/// Does what [`Self::check`] does for a URL of HTTP.
	pub(super) fn check_parsed(self, url: &Url) -> Result<(), LocationError> {
		if !matches!(url.scheme(), "http" | "https") {
			return Err(LocationError::NotHttp { url: url.to_string() });
		}
		match literal(url) {
			Some(address) if self == Self::Public && !is_public(address) => {
				let host = url.host_str().unwrap_or_default().into();
				Err(LocationError::Private { host, address })
			}
			_ => Ok(()),
		}
	}

	/// Makes a client that obeys this for the addresses of names and after redirects.
	/// [`Self::check`] is for the URLs that it is given.
	pub(super) fn restrict(self, client: ClientBuilder) -> ClientBuilder {
		self.restrict_with(client, System)
	}

	/// Does what [`Self::restrict`] does, with names resolved by `names`.
	fn restrict_with(self, client: ClientBuilder, names: impl Resolve + 'static) -> ClientBuilder {
		let limited = Policy::limited(REDIRECTS);
		let redirects = Policy::custom(move |attempt| match self.check_parsed(attempt.url()) {
			Ok(()) => limited.redirect(attempt),
			Err(e) => attempt.error(e),
		});
		let client = client.redirect(redirects);
		match self {
			Self::Any => client,
			// A proxy would resolve the names itself, and the addresses would not be checked.
			Self::Public => client.no_proxy().dns_resolver(PublicOnly(names)),
		}
	}
}

/// Returns the refusal that made a request fail, if one did. The HTTP client keeps what resolvers
/// and redirect policies say as errors of no type, so that it is found again by its type alone.
pub(super) fn refusal(error: &(dyn Error + 'static)) -> Option<LocationError> {
	std::iter::successors(Some(error), |&e| e.source())
		.find_map(|e| e.downcast_ref::<LocationError>())
		.cloned()
}

/// Resolves names as this machine does.
struct System;

impl Resolve for System {
	fn resolve(&self, name: Name) -> Resolving {
		Box::pin(async move {
			let found: Vec<SocketAddr> =
				tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
			Ok(Box::new(found.into_iter()) as Addrs)
		})
	}
}

/// Keeps only the public addresses of what an inner resolver returns. The connection is made to
/// these and the name is not looked up again, so that it cannot change in between.
struct PublicOnly<R>(R);

impl<R: Resolve> Resolve for PublicOnly<R> {
	fn resolve(&self, name: Name) -> Resolving {
		let host = name.as_str().to_owned();
		let resolving = self.0.resolve(name);
		Box::pin(async move {
			let (public, other): (Vec<_>, Vec<_>) =
				resolving.await?.partition(|found| is_public(found.ip()));
			match other.first() {
				Some(found) if public.is_empty() => {
					Err(LocationError::Private { host, address: found.ip() }.into())
				}
				_ => Ok(Box::new(public.into_iter()) as Addrs),
			}
		})
	}
}

/// Returns whether an address can be that of a server for everyone, by IANA's registries of special
/// addresses. If an IPv6 address carries an IPv4 address, that one counts.
pub(super) fn is_public(address: IpAddr) -> bool {
	match address {
		IpAddr::V4(v4) => is_public_v4(v4),
		IpAddr::V6(v6) => is_public_v6(v6),
	}
}

fn is_public_v4(address: Ipv4Addr) -> bool {
	// Metadata and control of Azure: a public address that every machine there reaches.
	const AZURE: [u8; 4] = [168, 63, 129, 16];
	let octets = address.octets();
	let special = match octets {
		// This network; private use; loopback.
		[0 | 10 | 127, ..] => true,
		// Carrier-grade NAT.
		[100, b, ..] => b & 0xc0 == 64,
		// Link-local, where most metadata services are.
		[169, 254, ..] => true,
		// Private use.
		[172, b, ..] => b & 0xf0 == 16,
		[192, 168, ..] => true,
		// Protocols; documentation; the old 6to4 relays.
		[192, 0, 0 | 2, _] | [192, 88, 99, _] => true,
		// Benchmarks of networks; documentation.
		[198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => true,
		// Multicast, reserved, broadcast.
		[224..=255, ..] => true,
		_ => false,
	};
	!special && octets != AZURE
}

fn is_public_v6(address: Ipv6Addr) -> bool {
	let [a, b, c, d, e, f, g, h] = address.segments();
	let v4 = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
	match (a, b) {
		// IPv4 in IPv6, and through NAT64.
		(0, 0) if [c, d, e, f] == [0, 0, 0, 0xffff] => is_public_v4(v4(g, h)),
		(0x64, 0xff9b) if [c, d, e, f] == [0; 4] => is_public_v4(v4(g, h)),
		// 6to4.
		(0x2002, _) => is_public_v4(v4(b, c)),
		// Protocols, among them Teredo; documentation.
		(0x2001, ..0x200) | (0x2001, 0xdb8) => false,
		(0x3fff, ..0x1000) => false,
		// Everything else that was ever given to somebody: so not loopback, unspecified,
		// unique-local, link-local, site-local and multicast.
		_ => a & 0xe000 == 0x2000,
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::fetch::{Content, FetchError, Fetcher, Wanted};
	use serde_json::json;
	use std::time::Duration;
	use trainyard_client::fake::FakeNode;

	const PRIVATE: &[&str] = &[
		"0.0.0.0",
		"0.1.2.3",
		"10.1.2.3",
		"100.64.0.1",
		"100.100.100.200",
		"100.127.255.255",
		"127.0.0.1",
		"127.9.9.9",
		"168.63.129.16",
		"169.254.169.254",
		"172.16.0.1",
		"172.31.255.255",
		"192.0.0.192",
		"192.168.1.1",
		"198.18.0.1",
		"224.0.0.1",
		"240.0.0.1",
		"255.255.255.255",
		"::",
		"::1",
		"::7f00:1",
		"::ffff:127.0.0.1",
		"::ffff:192.168.1.1",
		"64:ff9b::a00:1",
		"64:ff9b:1::1",
		"100::1",
		"2001::1",
		"2001:db8::1",
		"2002:7f00:1::",
		"fc00::1",
		"fd00:ec2::254",
		"fe80::1",
		"fec0::1",
		"ff02::1",
	];
	const PUBLIC: &[&str] = &[
		"1.1.1.1",
		"100.63.255.255",
		"100.128.0.1",
		"168.63.129.17",
		"169.253.1.1",
		"172.15.0.1",
		"172.32.0.1",
		"192.0.1.1",
		"192.167.1.1",
		"198.20.0.1",
		"223.255.255.1",
		"::ffff:1.1.1.1",
		"64:ff9b::101:101",
		"2002:101:101::1",
		"2606:4700:4700::1111",
		"2a00:1450:4001::1",
	];

	fn host(address: &str) -> String {
		match address.contains(':') {
			true => format!("[{address}]"),
			false => address.to_owned(),
		}
	}

	#[test]
	fn literal_addresses_are_refused_unless_they_are_public() {
		for address in PRIVATE {
			for scheme in ["http", "https"] {
				let url = format!("{scheme}://user@{}:8000/data", host(address));
				let error = Locations::Public.check(&url).unwrap_err();
				assert!(matches!(error, LocationError::Private { .. }), "{url}: {error}");
				assert!(error.to_string().contains("--allow-private-locations"), "{error}");
				assert_eq!(Locations::Any.check(&url), Ok(()));
			}
		}
		for address in PUBLIC {
			assert_eq!(Locations::Public.check(&format!("http://{}/", host(address))), Ok(()));
		}
		// Other spellings of 127.0.0.1.
		for host in
			["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1.", "\u{ff11}27.0.0.1"]
		{
			let error = Locations::Public.check(&format!("http://{host}/")).unwrap_err();
			let LocationError::Private { address, .. } = error else { panic!("{host}: {error}") };
			assert_eq!(address, Ipv4Addr::LOCALHOST, "{host}");
		}
		for url in ["file:///etc/passwd", "ftp://1.1.1.1/", "gopher://1.1.1.1/", "data", ""] {
			for locations in [Locations::Public, Locations::Any] {
				let error = locations.check(url).unwrap_err();
				assert!(matches!(error, LocationError::NotHttp { .. }), "{url}: {error}");
			}
		}
	}

	/// Resolves every name to these.
	struct Fixed(&'static [&'static str]);

	impl Resolve for Fixed {
		fn resolve(&self, _name: Name) -> Resolving {
			let found: Vec<_> =
				self.0.iter().map(|a| SocketAddr::new(a.parse().unwrap(), 0)).collect();
			Box::pin(async move { Ok(Box::new(found.into_iter()) as Addrs) })
		}
	}

	#[tokio::test]
	async fn names_of_private_addresses_are_refused() {
		for address in PRIVATE {
			let names = Fixed(std::slice::from_ref(address));
			let builder = reqwest::Client::builder();
			let client = Locations::Public.restrict_with(builder, names).build().unwrap();
			let error = client.get("http://data.example:1/file").send().await.unwrap_err();
			let address = address.parse().unwrap();
			let expected = LocationError::Private { host: "data.example".into(), address };
			assert_eq!(refusal(&error), Some(expected), "{error:?}");
		}
	}

	#[tokio::test]
	async fn a_name_leads_to_its_public_addresses_only() {
		let names = PublicOnly(Fixed(&["10.0.0.1", "1.1.1.1", "::1", "2606:4700::1111"]));
		let found = names.resolve("data.example".parse().unwrap()).await.unwrap();
		let found: Vec<_> = found.map(|address| address.ip().to_string()).collect();
		assert_eq!(found, ["1.1.1.1", "2606:4700::1111"]);
	}

	fn any() -> LocationArgs {
		LocationArgs { allow_private_locations: true, ..careful() }
	}

	fn careful() -> LocationArgs {
		LocationArgs::default()
	}

	/// Returns what is fetched from with a node at `url` whose chain is of type `kind`.
	async fn allowed(args: &LocationArgs, url: &'static str, kind: Value) -> Locations {
		let node = FakeNode::new(|_, _, _| Err("unused")).reached_at(url).of_type(kind);
		args.locations(&node.chain().await).await.unwrap()
	}

	/// Networks that others join are founded with `--chain local`, and are of type Local.
	#[tokio::test]
	async fn only_the_option_or_a_development_node_here_allows_private_locations() {
		let here = "ws://127.0.0.1:9944";
		assert_eq!(allowed(&careful(), here, json!("Development")).await, Locations::Any);
		assert_eq!(
			allowed(&careful(), "ws://localhost:1", json!("Development")).await,
			Locations::Any
		);
		let elsewhere = ["ws://10.0.0.7:9944", "wss://node.example", "ws://localhost.example:1"];
		for url in elsewhere {
			let kind = json!("Development");
			assert_eq!(allowed(&careful(), url, kind).await, Locations::Public, "{url}");
		}
		for kind in [json!("Local"), json!("Live"), json!({ "Custom": "Development" }), json!(null)]
		{
			assert_eq!(allowed(&careful(), here, kind.clone()).await, Locations::Public, "{kind}");
			assert_eq!(allowed(&any(), here, kind).await, Locations::Any);
		}
		// This node does not report its type.
		let chain = FakeNode::new(|_, _, _| Err("unused")).reached_at(here).chain().await;
		assert_eq!(careful().locations(&chain).await.unwrap(), Locations::Public);
	}

	#[tokio::test]
	async fn a_chain_of_type_local_leads_to_no_private_location() {
		let node = FakeNode::new(|_, _, _| Err("unused")).reached_at("ws://127.0.0.1:9944");
		let chain = node.of_type(json!("Local")).chain().await;
		let locations = careful().locations(&chain).await.unwrap();
		let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
		listener.set_nonblocking(true).unwrap();
		let url = format!("http://{}/admin", listener.local_addr().unwrap());
		let dir = tempfile::tempdir().unwrap();
		let (path, content) = (dir.path().join("data"), Content::Any { limit: 9 });
		let fetcher = Fetcher::new(1, Duration::ZERO, locations).unwrap();
		let error = fetcher.fetch(&Wanted { url: &url, path: &path, content }).await.unwrap_err();
		assert!(matches!(error, FetchError::Refused { .. }), "{error}");
		assert!(listener.accept().is_err(), "nobody knocked");
	}

	#[test]
	fn a_node_is_here_by_its_loopback_address() {
		for url in
			["ws://127.0.0.1:9944", "ws://127.9.9.9", "wss://[::1]:1", "ws://[::ffff:127.0.0.1]"]
		{
			assert!(is_on_this_machine(url), "{url}");
		}
		for url in
			["ws://127.0.0.1.example", "ws://0.0.0.0", "ws://[::2]", "ws://alice:9944", "here"]
		{
			assert!(!is_on_this_machine(url), "{url}");
		}
	}

	#[test]
	fn paths_are_added_to_servers_only() {
		assert_eq!(server("http://me/x/").as_deref(), Some("http://me/x"));
		for location in ["http://victim/page?", "http://victim/page?q=", "http://victim/page#"] {
			assert_eq!(server(location), None);
		}
	}
}
