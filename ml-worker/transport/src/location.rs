//! Where somebody serves, in one text.
//!
//! `iroh://ID[,ip=ADDRESS:PORT]…[,relay=HOST[:PORT] | ,plain-relay=HOST[:PORT]][,http=HOST[:PORT] | ,https=HOST[:PORT]]`
//!
//! | field | meaning |
//! |---|---|
//! | `ID` | the public key of the endpoint, 64 hex digits in lower case. Whoever answers proves that it has the secret one |
//! | `ip=` | an address at which it may be reached directly, at most four |
//! | `relay=`, `plain-relay=` | the relay at which it waits, with TLS or without |
//! | `http=`, `https=` | a server of the same files, asked where the endpoint cannot be reached |
//!
//! The fields come in this order. A path may follow, from the first `/` on: so a location is a base to which
//! paths are added, as an `http://` URL is.

use iroh::{EndpointAddr, EndpointId, RelayUrl};
use std::{
	fmt,
	net::{IpAddr, SocketAddr},
	str::FromStr,
};

/// What every location begins with.
pub const SCHEME: &str = "iroh://";
/// Most direct addresses in a location.
const MOST_ADDRESSES: usize = 4;
/// Longest name of a host.
const MOST_HOST: usize = 253;

/// A relay: a server at which an endpoint waits for those who cannot reach it directly. It sees who speaks
/// with whom and how much, and nothing of what they say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Relay {
	/// Whether it is reached by TLS.
	pub tls: bool,
	/// Its host, and its port if it is not the usual one.
	pub host: String,
}

impl Relay {
	/// Returns its URL.
	pub fn url(&self) -> RelayUrl {
		let scheme = if self.tls { "https" } else { "http" };
		let url = format!("{scheme}://{}", self.host);
		// A host was checked when it was read.
		url.parse().unwrap_or_else(|_| unreachable_url())
	}

	/// Returns its address, if it is named by that and not by a name.
	pub fn address(&self) -> Option<IpAddr> {
		literal(&self.host)
	}
}

/// Stands for a host that no location can have: nobody can listen there.
fn unreachable_url() -> RelayUrl {
	let url = "https://invalid.".parse();
	url.unwrap_or_else(|e| panic!("a constant URL is one: {e}"))
}

impl FromStr for Relay {
	type Err = NotALocation;

	/// Reads `https://HOST[:PORT]` or `http://HOST[:PORT]`.
	fn from_str(text: &str) -> Result<Self, NotALocation> {
		let base = text.strip_suffix('/').unwrap_or(text);
		let (tls, host) = match (base.strip_prefix("https://"), base.strip_prefix("http://")) {
			(Some(host), _) => (true, host),
			(None, Some(host)) => (false, host),
			(None, None) => return Err(NotALocation::Field(text.into())),
		};
		is_host(host)
			.then(|| Self { tls, host: host.into() })
			.ok_or_else(|| NotALocation::Host(host.into()))
	}
}

impl fmt::Display for Relay {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		write!(f, "{}://{}", if self.tls { "https" } else { "http" }, self.host)
	}
}

/// Where an endpoint is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
	/// Its public key.
	pub id: EndpointId,
	/// Where it may be reached directly.
	pub addresses: Vec<SocketAddr>,
	/// Where it waits.
	pub relay: Option<Relay>,
	/// The base URL of a server of the same files, without a `/` at the end.
	pub http: Option<String>,
}

/// Says why a text is no location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotALocation {
	/// It begins otherwise.
	#[error("it does not begin with {SCHEME}")]
	Scheme,
	/// Not the key of an endpoint.
	#[error("`{0}` is no id of an endpoint: 64 hex digits in lower case")]
	Id(String),
	/// A field that there is not, or not there, or not as often.
	#[error(
		"`{0}` is none of ip=, relay=, plain-relay=, http=, https=, which come in this order, ip= at most \
		 {MOST_ADDRESSES} times and one relay"
	)]
	Field(String),
	/// Not an address.
	#[error("`{0}` is no address with a port, like 203.0.113.7:4433 or [2001:db8::1]:4433, in its usual form")]
	Address(String),
	/// Not a host.
	#[error("`{0}` is no host like relay.example.org or relay.example.org:8443")]
	Host(String),
}

/// Returns whether a text is the name or the address of a host, with a port if it likes.
fn is_host(text: &str) -> bool {
	let (name, port) = match text.rsplit_once(':') {
		Some((name, port)) if !port.contains(']') => (name, Some(port)),
		_ => (text, None),
	};
	let is_port = |port: &str| port.parse::<u16>().is_ok_and(|n| n > 0 && n.to_string() == port);
	let is_v6 =
		|name: &str| name.parse::<std::net::Ipv6Addr>().is_ok_and(|a| a.to_string() == name);
	let bracketed = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
	let named = |name: &str| {
		let of_name =
			|c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
		let labels = name.strip_suffix('.').unwrap_or(name).split('.');
		// A number at the end is an address in some form: then in the usual one.
		let last = name.rsplit('.').next().unwrap_or_default();
		let is_number = last.chars().all(|c| c.is_ascii_digit()) || last.starts_with("0x");
		name.len() <= MOST_HOST
			&& name.chars().all(of_name)
			&& labels.clone().all(|label| !label.is_empty() && label.len() <= 63)
			&& (!is_number || name.parse::<std::net::Ipv4Addr>().is_ok())
	};
	port.is_none_or(is_port) && bracketed.map_or_else(|| named(name), is_v6)
}

/// Returns the address in a host with or without a port, if it names one.
fn literal(host: &str) -> Option<IpAddr> {
	let address = host.parse().ok();
	let with_port = || host.parse::<SocketAddr>().ok().map(|address| address.ip());
	let bracketed = || host.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
	address.or_else(with_port).or_else(bracketed)
}

impl Location {
	/// Makes one without any way to get there.
	pub fn new(id: EndpointId) -> Self {
		Self { id, addresses: Vec::new(), relay: None, http: None }
	}

	/// Takes a URL apart: where it is, and the path there, which is empty or begins with `/`.
	pub fn split(url: &str) -> Result<(Self, &str), NotALocation> {
		let rest = url.strip_prefix(SCHEME).ok_or(NotALocation::Scheme)?;
		let end = rest.find('/').unwrap_or(rest.len());
		let (base, path) = rest.split_at(end);
		Ok((Self::fields(base)?, path))
	}

	/// Reads what stands between the scheme and the path.
	fn fields(text: &str) -> Result<Self, NotALocation> {
		let mut fields = text.split(',');
		let id = fields.next().unwrap_or_default();
		let mut location = Self::new(id_of(id).ok_or_else(|| NotALocation::Id(id.into()))?);
		for field in fields {
			let wrong = || NotALocation::Field(field.into());
			let (name, value) = field.split_once('=').ok_or_else(wrong)?;
			let host = || match is_host(value) {
				true => Ok(value.to_owned()),
				false => Err(NotALocation::Host(value.into())),
			};
			let before = location.relay.is_none() && location.http.is_none();
			match name {
				"ip" if before && location.addresses.len() < MOST_ADDRESSES => {
					let no_address = || NotALocation::Address(value.into());
					let address: SocketAddr = value.parse().map_err(|_| no_address())?;
					let known = location.addresses.contains(&address);
					if known || address.to_string() != value || address.port() == 0 {
						return Err(no_address());
					}
					location.addresses.push(address);
				}
				"relay" | "plain-relay" if before => {
					location.relay = Some(Relay { tls: name == "relay", host: host()? });
				}
				"http" | "https" if location.http.is_none() => {
					location.http = Some(format!("{name}://{}", host()?));
				}
				_ => return Err(wrong()),
			}
		}
		Ok(location)
	}

	/// Returns it for iroh.
	pub(crate) fn endpoint(&self) -> EndpointAddr {
		let mut to = EndpointAddr::new(self.id);
		for address in &self.addresses {
			to = to.with_ip_addr(*address);
		}
		match &self.relay {
			Some(relay) => to.with_relay_url(relay.url()),
			None => to,
		}
	}

	/// Returns whether there is a way to the endpoint.
	pub fn leads_there(&self) -> bool {
		!self.addresses.is_empty() || self.relay.is_some()
	}

	/// Returns the same without addresses, of itself or of its relay, for which `is_allowed` says no. A
	/// relay's name is not looked up here: see [`Options::public_only`](crate::Options::public_only).
	pub fn among(mut self, is_allowed: impl Fn(IpAddr) -> bool) -> Self {
		self.addresses.retain(|address| is_allowed(address.ip()));
		self.relay = self.relay.filter(|relay| relay.address().is_none_or(&is_allowed));
		self
	}
}

/// Reads the id of an endpoint in its one form.
fn id_of(text: &str) -> Option<EndpointId> {
	let bytes: [u8; 32] = hex::decode(text).ok()?.try_into().ok()?;
	(hex::encode(bytes) == text).then_some(())?;
	EndpointId::from_bytes(&bytes).ok()
}

impl FromStr for Location {
	type Err = NotALocation;

	fn from_str(text: &str) -> Result<Self, NotALocation> {
		match Self::split(text)? {
			(location, "" | "/") => Ok(location),
			(_, path) => Err(NotALocation::Field(path.into())),
		}
	}
}

impl fmt::Display for Location {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		write!(f, "{SCHEME}{}", hex::encode(self.id.as_bytes()))?;
		for address in &self.addresses {
			write!(f, ",ip={address}")?;
		}
		if let Some(relay) = &self.relay {
			write!(f, ",{}={}", if relay.tls { "relay" } else { "plain-relay" }, relay.host)?;
		}
		match self.http.as_deref().and_then(|url| url.split_once("://")) {
			Some((scheme, host)) => write!(f, ",{scheme}={host}"),
			None => Ok(()),
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	fn id() -> String {
		hex::encode(iroh::SecretKey::from_bytes(&[7; 32]).public().as_bytes())
	}

	#[test]
	fn a_location_has_one_form() {
		for rest in [
			"",
			",ip=203.0.113.7:4433",
			",ip=203.0.113.7:4433,ip=[2001:db8::1]:1,relay=relay.example.org",
			",relay=relay.example.org:8443,https=me.example",
			",plain-relay=127.0.0.1:3340,http=[::1]:80",
			",http=127.0.0.1",
		] {
			let text = format!("iroh://{}{rest}", id());
			let (location, path) = Location::split(&text).unwrap();
			assert_eq!((location.to_string(), path), (text.clone(), ""));
			let url = format!("{text}/bundle/ab?parts=0,1");
			let (again, path) = Location::split(&url).unwrap();
			assert_eq!((again, path), (location.clone(), "/bundle/ab?parts=0,1"));
			assert_eq!(text.parse::<Location>().unwrap(), location);
			assert!(url.parse::<Location>().is_err());
		}
	}

	#[test]
	fn other_forms_are_refused_and_say_why() {
		let five = (1..6).map(|n| format!(",ip=203.0.113.{n}:1")).collect::<String>();
		for (rest, why) in [
			(",ip=203.0.113.7", "no address"),
			(",ip=203.0.113.7:0", "no address"),
			(",ip=203.0.113.07:1", "no address"),
			(",ip=203.0.113.7:01", "no address"),
			(",ip=[2001:DB8::1]:1", "no address"),
			(",ip=203.0.113.7:1,ip=203.0.113.7:1", "no address"),
			(&five, "at most"),
			(",relay=a,ip=203.0.113.7:1", "in this order"),
			(",relay=a,relay=b", "one relay"),
			(",http=a,https=b", "none of"),
			(",relay=", "no host"),
			(",relay=a b", "no host"),
			(",relay=a@b", "no host"),
			(",relay=A.example", "no host"),
			(",relay=a..b", "no host"),
			(",relay=a:0", "no host"),
			(",relay=a:70000", "no host"),
			(",relay=[::1", "no host"),
			(",relay=0x7f.1", "no host"),
			(",relay=127.1", "no host"),
			(",relay=2130706433", "no host"),
			(",https=me.example?x", "no host"),
			(",https=me.example#x", "no host"),
			(",", "none of"),
			(",x=1", "none of"),
		] {
			let error = Location::split(&format!("iroh://{}{rest}", id())).unwrap_err();
			assert!(error.to_string().contains(why), "{rest}: {error}");
		}
		let upper = id().to_uppercase();
		for id in ["", "ab", &upper, &id()[1..]] {
			let error = Location::split(&format!("iroh://{id}")).unwrap_err();
			assert!(matches!(error, NotALocation::Id(_)), "{id}: {error}");
		}
		assert_eq!(Location::split("http://x").unwrap_err(), NotALocation::Scheme);
	}

	#[test]
	fn addresses_that_are_not_allowed_are_left_out() {
		let text = format!("iroh://{},ip=10.0.0.1:1,ip=1.1.1.1:1,relay=10.0.0.2:8443", id());
		let location: Location = text.parse().unwrap();
		let public = location.among(|address| !address.to_string().starts_with("10."));
		assert_eq!(public.to_string(), format!("iroh://{},ip=1.1.1.1:1", id()));
		assert!(public.leads_there());
		assert!(!public.among(|_| false).leads_there());
		let named: Location = format!("iroh://{},relay=relay.example", id()).parse().unwrap();
		assert_eq!(named.clone().among(|_| false), named, "names are looked up later");
	}

	#[test]
	fn a_relay_is_read_from_its_url() {
		let relay: Relay = "https://relay.example:8443/".parse().unwrap();
		assert_eq!(relay.to_string(), "https://relay.example:8443");
		assert_eq!(relay.url().to_string(), "https://relay.example:8443/");
		assert!("http://[::1]:3340".parse::<Relay>().unwrap().address().is_some());
		for text in ["relay.example", "ftp://x", "https://x/y", "https://", "https://u@x"] {
			assert!(text.parse::<Relay>().is_err(), "{text}");
		}
	}

	proptest! {
		#[test]
		fn no_text_makes_it_panic_and_what_is_read_has_one_form(rest in "[,=a-z0-9.:\\[\\]/-]{0,80}") {
			let text = format!("iroh://{}{rest}", id());
			if let Ok((location, path)) = Location::split(&text) {
				prop_assert_eq!(format!("{location}{path}"), text);
				let _ = location.endpoint();
			}
		}
	}
}
