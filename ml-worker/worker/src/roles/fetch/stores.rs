//! Files in stores: buckets of S3's kind, of Google's, and repositories of the hub of Hugging Face.
//!
//! A location names a store's file by the store's own words, and is asked for by HTTP at an endpoint that
//! the owner of this machine chose: no stranger names the host. It then goes the way of every `https://`
//! location, through the same client, with the same checks of addresses, lengths and rates.
//!
//! | location | is asked for at |
//! |---|---|
//! | `s3://BUCKET/KEY` | `https://BUCKET.s3[.REGION].amazonaws.com/KEY`, or `ENDPOINT/BUCKET/KEY` |
//! | `gs://BUCKET/KEY` | `https://storage.googleapis.com/BUCKET/KEY`, or `ENDPOINT/BUCKET/KEY` |
//! | `hf://[datasets/]OWNER/NAME[@REVISION]/PATH` | `HUB/[datasets/]OWNER/NAME/resolve/REVISION/PATH` |
//!
//! Strangers name locations, so nothing of this machine's credentials is used unless its owner allowed it for
//! that location ([`Stores::with_credentials`]).

use super::sign::{self, Action, Keys};
use reqwest::{
	header::{HeaderMap, HeaderValue, ACCEPT_ENCODING, AUTHORIZATION},
	Method, Url,
};
use std::{fmt, str::FromStr, time::SystemTime};

/// How the locations of stores begin.
const S3: &str = "s3://";
const GS: &str = "gs://";
const HUB: &str = "hf://";

/// Where the stores are unless somebody says otherwise.
const AMAZON: &str = "amazonaws.com";
const GOOGLE: &str = "https://storage.googleapis.com";
const HUGGING_FACE: &str = "https://huggingface.co";
/// The region of S3 where none is named.
const FIRST_REGION: &str = "us-east-1";
/// The revision of a repository where none is named.
const MAIN: &str = "main";

/// What is said of a location of a hub whose revision may move.
pub const MAY_MOVE: &str =
	"the location names no commit, so its file may change, and then nobody can fetch what the job names. Write \
	 hf://…@COMMIT/… with the 40 digits of the commit";

/// Kinds of stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
	/// Buckets of S3's kind.
	S3,
	/// Buckets of Google's.
	Gs,
	/// Repositories of a hub.
	Hub,
}

/// Says why a location of a store is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAPlace {
	/// The bucket's name.
	#[error("a bucket has 3 to 63 lower-case letters, digits, dots and dashes, and a key follows it: {0}BUCKET/KEY")]
	Bucket(&'static str),
	/// The repository's name.
	#[error("it must be hf://datasets/OWNER/NAME@REVISION/PATH or hf://OWNER/NAME@REVISION/PATH")]
	Repository,
	/// The path.
	#[error("its path has an empty part, `.`, `..` or a control character")]
	Path,
	/// This build cannot ask such stores.
	#[error(
		"this build of trainyard was made without its feature `{0}`: build it with that feature"
	)]
	NoFeature(&'static str),
}

/// A file in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
	kind: Kind,
	/// The bucket; of a hub the repository, with `datasets/` before it if it is one of those.
	holder: String,
	/// The revision, of a hub.
	revision: Option<String>,
	/// The key or the path.
	path: String,
}

impl Place {
	/// Takes the location of a file in a store apart; `None` for other locations.
	pub fn parse(url: &str) -> Option<Result<Self, NotAPlace>> {
		for (kind, begin) in [(Kind::S3, S3), (Kind::Gs, GS)] {
			if let Some(rest) = url.strip_prefix(begin) {
				let here = feature("object-stores", cfg!(feature = "object-stores"));
				return Some(here.and_then(|()| Self::bucket(kind, begin, rest)));
			}
		}
		let rest = url.strip_prefix(HUB)?;
		let here = feature("hub", cfg!(feature = "hub"));
		Some(here.and_then(|()| Self::repository(rest)))
	}

	fn bucket(kind: Kind, begin: &'static str, rest: &str) -> Result<Self, NotAPlace> {
		let wrong = || NotAPlace::Bucket(begin);
		let (bucket, path) = rest.split_once('/').ok_or_else(wrong)?;
		if !is_bucket(bucket, kind == Kind::Gs) || path.is_empty() {
			return Err(wrong());
		}
		check_path(path)?;
		Ok(Self { kind, holder: bucket.into(), revision: None, path: path.into() })
	}

	fn repository(rest: &str) -> Result<Self, NotAPlace> {
		let wrong = || NotAPlace::Repository;
		let (datasets, rest) = match rest.strip_prefix("datasets/") {
			Some(rest) => ("datasets/", rest),
			None => ("", rest),
		};
		let (owner, rest) = rest.split_once('/').ok_or_else(wrong)?;
		let (name, path) = rest.split_once('/').ok_or_else(wrong)?;
		let (name, revision) = match name.split_once('@') {
			Some((name, revision)) => (name, Some(revision)),
			None => (name, None),
		};
		// `datasets`, `spaces` and `api` would lead to other parts of a hub.
		let reserved = ["datasets", "spaces", "models", "api"].contains(&owner);
		if reserved || !is_name(owner) || !is_name(name) || path.is_empty() {
			return Err(wrong());
		}
		if revision.is_some_and(|revision| !is_revision(revision)) {
			return Err(wrong());
		}
		check_path(path)?;
		Ok(Self {
			kind: Kind::Hub,
			holder: format!("{datasets}{owner}/{name}"),
			revision: revision.map(str::to_owned),
			path: path.into(),
		})
	}

	/// Returns whether files can be put there: into buckets they can.
	pub(super) fn is_bucket(&self) -> bool {
		self.kind != Kind::Hub
	}

	/// Returns whether what is there may change: a file of a hub whose revision is no commit's hash. The content
	/// hash of a job would not fit then.
	pub fn may_move(&self) -> bool {
		let is_commit = |revision: &String| {
			revision.len() == 40
				&& revision.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
		};
		self.kind == Kind::Hub && !self.revision.as_ref().is_some_and(is_commit)
	}
}

/// Says that a feature is not in this build.
fn feature(name: &'static str, is_there: bool) -> Result<(), NotAPlace> {
	match is_there {
		true => Ok(()),
		false => Err(NotAPlace::NoFeature(name)),
	}
}

/// Names of buckets can stand before the name of a host: nothing in them ends it, or begins a port or a path.
fn is_bucket(name: &str, of_google: bool) -> bool {
	let inside = |b: u8| {
		b.is_ascii_lowercase()
			|| b.is_ascii_digit()
			|| b == b'-'
			|| b == b'.'
			|| (of_google && b == b'_')
	};
	let ends = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
	let bytes = name.as_bytes();
	(3..=63).contains(&bytes.len())
		&& bytes.iter().all(|b| inside(*b))
		&& ends(bytes.first().copied())
		&& ends(bytes.last().copied())
		&& !name.contains("..")
}

fn is_name(name: &str) -> bool {
	let inside = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
	(1..=96).contains(&name.len())
		&& name.bytes().all(inside)
		&& !name.starts_with('.')
		&& !name.contains("..")
}

/// A branch, a tag or a commit; a slash in it is written as `%2F`.
fn is_revision(revision: &str) -> bool {
	let plain = revision.replace("%2F", "-");
	is_name(&plain)
}

/// Parts of a path that a server would take for something else are refused.
fn check_path(path: &str) -> Result<(), NotAPlace> {
	let wrong = |part: &str| matches!(part, "" | "." | "..");
	match path.split('/').any(wrong) || path.chars().any(char::is_control) {
		true => Err(NotAPlace::Path),
		false => Ok(()),
	}
}

/// Writes a path so that every byte that could mean something else in a URL is encoded, as signatures want it.
fn encoded(path: &str) -> String {
	let mut out = String::with_capacity(path.len());
	for byte in path.bytes() {
		match byte {
			b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
				out.push(char::from(byte));
			}
			byte => out.push_str(&format!("%{byte:02X}")),
		}
	}
	out
}

/// Options on stores.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct StoreArgs {
	/// Server of S3's kind for s3:// locations, https://HOST[:PORT][/PATH]; without it Amazon's
	#[arg(long, value_name = "URL", env = "AWS_ENDPOINT_URL")]
	s3_endpoint: Option<Base>,
	/// Region of the buckets of s3:// locations, where it has to be named
	#[arg(long, value_name = "REGION", env = "AWS_REGION", value_parser = parse_region)]
	s3_region: Option<String>,
	/// Server for gs:// locations; without it Google's
	#[arg(long, value_name = "URL")]
	gs_endpoint: Option<Base>,
	/// Hub for hf:// locations; without it that of Hugging Face
	#[arg(long, value_name = "URL", env = "HF_ENDPOINT")]
	hub_url: Option<Base>,
	/// Use the credentials of this machine's environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
	/// AWS_SESSION_TOKEN; GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY; HF_TOKEN) for locations that begin so:
	/// s3://BUCKET[/BEGIN], gs://BUCKET[/BEGIN], hf://[datasets/]OWNER/NAME. May be given several times;
	/// without it they are used for nothing. What is there can be fetched by this machine for anybody's job
	/// that names its hash, and is then served to others
	#[arg(long, value_name = "LOCATION")]
	credentials_for: Vec<Own>,
}

impl StoreArgs {
	/// Returns the stores that these options say; credentials are used for the location `own` as well.
	pub(super) fn stores_for(&self, own: Option<&str>) -> Stores {
		let stores = Stores {
			s3: self.s3_endpoint.clone(),
			region: self.s3_region.clone(),
			gs: self.gs_endpoint.clone(),
			hub: self.hub_url.clone(),
			..Stores::default()
		};
		let named = own.filter(|url| matches!(Place::parse(url), Some(Ok(_))));
		let named = named.map(|url| Own(url.to_owned()));
		let own: Vec<_> = self.credentials_for.iter().cloned().chain(named).collect();
		match own.is_empty() {
			// They are not even read.
			true => stores,
			false => stores.with_credentials(own, Credentials::of_environment()),
		}
	}
}

fn parse_region(text: &str) -> Result<String, String> {
	match is_region(text) {
		true => Ok(text.to_owned()),
		false => Err("a region has lower-case letters, digits and dashes".into()),
	}
}

/// The URL of a store's server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base(String);

impl FromStr for Base {
	type Err = String;

	fn from_str(text: &str) -> Result<Self, String> {
		let wrong =
			|| format!("`{text}` must be http://HOST[:PORT][/PATH] or https://HOST[:PORT][/PATH]");
		let url = Url::parse(text).map_err(|_| wrong())?;
		let plain = url.query().is_none()
			&& url.fragment().is_none()
			&& url.username().is_empty()
			&& url.password().is_none();
		match matches!(url.scheme(), "http" | "https") && url.has_host() && plain {
			true => Ok(Self(url.as_str().trim_end_matches('/').to_owned())),
			false => Err(wrong()),
		}
	}
}

impl fmt::Display for Base {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(&self.0)
	}
}

/// The beginning of locations for which this machine's credentials are used: `s3://BUCKET[/BEGIN]`,
/// `gs://BUCKET[/BEGIN]`, `hf://[datasets/]OWNER/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own(String);

impl FromStr for Own {
	type Err = String;

	fn from_str(text: &str) -> Result<Self, String> {
		let begin = text.trim_end_matches('/');
		// Whatever follows it must make a place.
		match Place::parse(&format!("{begin}/x")) {
			Some(Ok(place)) if place.kind != Kind::Hub || place.path == "x" => {
				Ok(Self(begin.to_owned()))
			}
			Some(Err(why @ NotAPlace::NoFeature(_))) => Err(why.to_string()),
			_ => Err(format!(
				"`{text}` must be s3://BUCKET[/BEGIN], gs://BUCKET[/BEGIN] or hf://[datasets/]OWNER/NAME"
			)),
		}
	}
}

impl Own {
	/// Returns whether `url` is there: names end where a part of a path ends, or a revision begins.
	fn has(&self, url: &str) -> bool {
		match url.strip_prefix(&self.0) {
			Some(rest) => {
				rest.is_empty()
					|| rest.starts_with('/')
					|| (url.starts_with(HUB) && rest.starts_with('@'))
			}
			None => false,
		}
	}
}

/// Credentials of this machine. What they are is not shown.
#[derive(Clone, Default)]
pub struct Credentials {
	/// Of S3.
	pub s3: Option<Keys>,
	/// Of Google, for its interface of S3's kind.
	pub gs: Option<Keys>,
	/// Of the hub.
	pub hub: Option<String>,
}

impl fmt::Debug for Credentials {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str("Credentials(..)")
	}
}

impl Credentials {
	/// Reads them from the environment, by the names that other programs read.
	pub fn of_environment() -> Self {
		let keys = |id: &str, secret: &str, token: Option<String>| {
			Some(Keys { id: variable(id)?, secret: variable(secret)?, token })
		};
		Self {
			s3: keys("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", variable("AWS_SESSION_TOKEN")),
			gs: keys("GS_ACCESS_KEY_ID", "GS_SECRET_ACCESS_KEY", None),
			hub: variable("HF_TOKEN"),
		}
	}
}

/// Returns what an environment variable says, if it says something.
fn variable(name: &str) -> Option<String> {
	std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Where stores are, and for which locations credentials are used. By default those are the public ones, and
/// nothing is.
#[derive(Clone, Debug, Default)]
pub struct Stores {
	/// The server of S3's kind, if it is not Amazon's.
	pub s3: Option<Base>,
	/// The region of the buckets of S3, if it is known.
	pub region: Option<String>,
	/// The server of Google's kind, if it is not Google's.
	pub gs: Option<Base>,
	/// The hub, if it is not that of Hugging Face.
	pub hub: Option<Base>,
	own: Vec<Own>,
	credentials: Credentials,
}

/// What is asked for, and with which headers.
pub(super) struct Asked {
	pub url: Url,
	pub headers: HeaderMap,
	/// Whether an answer that leads elsewhere is followed. With a signature it is not.
	pub follow: bool,
}

impl Stores {
	/// Returns the same stores, where these credentials are used for the locations that begin so.
	pub fn with_credentials(self, own: Vec<Own>, credentials: Credentials) -> Self {
		Self { own, credentials, ..self }
	}

	/// Returns whether credentials may be used for a location.
	fn is_own(&self, url: &str) -> bool {
		self.own.iter().any(|own| own.has(url))
	}

	/// Returns what to ask for to get the file at `place`, which `url` named, in this region if its store said
	/// that it is there. `None` where the endpoint makes no URL.
	pub(super) fn request(&self, url: &str, place: &Place, region: Option<&str>) -> Option<Asked> {
		self.request_to(&Action::of(Method::GET), url, place, region)
	}

	/// Does what [`Self::request`] does, to do something else with the file.
	pub(super) fn request_to(
		&self,
		action: &Action,
		url: &str,
		place: &Place,
		region: Option<&str>,
	) -> Option<Asked> {
		let target = self.target(place, region)?;
		let own = self.is_own(url);
		let mut asked = Asked { url: target, headers: HeaderMap::new(), follow: true };
		if action.method == Method::PUT {
			// Who signs says it, too; a store checks it from whomever it comes.
			let body = HeaderValue::from_str(&action.body).ok()?;
			asked.headers.insert("x-amz-content-sha256", body);
		}
		for (name, value) in &action.about {
			asked.headers.insert(*name, HeaderValue::from_str(value).ok()?);
		}
		if place.kind == Kind::Gs && action.method == Method::GET {
			// Without it Google's servers send what is stored compressed decompressed: other bytes than were
			// declared.
			asked.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
		}
		if !own {
			return Some(asked);
		}
		let region = region.or(self.region.as_deref());
		let keys = match place.kind {
			Kind::S3 => {
				self.credentials.s3.as_ref().map(|keys| (keys, region.unwrap_or(FIRST_REGION)))
			}
			Kind::Gs => self.credentials.gs.as_ref().map(|keys| (keys, "auto")),
			Kind::Hub => None,
		};
		if let Some((keys, region)) = keys {
			let signed = sign::headers(action, &asked.url, keys, region, SystemTime::now())?;
			asked.headers.extend(signed);
			asked.follow = false;
		}
		if let (Kind::Hub, Some(token)) = (place.kind, &self.credentials.hub) {
			// The client leaves it out where an answer leads to another host.
			let mut value = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
			value.set_sensitive(true);
			asked.headers.insert(AUTHORIZATION, value);
		}
		Some(asked)
	}

	fn target(&self, place: &Place, region: Option<&str>) -> Option<Url> {
		let Place { kind, holder, revision, path } = place;
		let path = encoded(path);
		let text = match kind {
			Kind::S3 => match &self.s3 {
				Some(base) => format!("{base}/{holder}/{path}"),
				None => {
					let region = region.or(self.region.as_deref());
					// A certificate is for one name before the store's: not for two.
					match (holder.contains('.'), region) {
						(true, region) => format!(
							"https://s3.{}.{AMAZON}/{holder}/{path}",
							region.unwrap_or(FIRST_REGION)
						),
						(false, Some(region)) => {
							format!("https://{holder}.s3.{region}.{AMAZON}/{path}")
						}
						(false, None) => format!("https://{holder}.s3.{AMAZON}/{path}"),
					}
				}
			},
			Kind::Gs => {
				let base = self.gs.as_ref().map_or(GOOGLE, |base| &base.0);
				format!("{base}/{holder}/{path}")
			}
			Kind::Hub => {
				let base = self.hub.as_ref().map_or(HUGGING_FACE, |base| &base.0);
				let revision = revision.as_deref().unwrap_or(MAIN);
				format!("{base}/{holder}/resolve/{revision}/{path}")
			}
		};
		Url::parse(&text).ok()
	}

	/// Returns the region in which a bucket of `place` is, if Amazon's answer says that it is in another one
	/// than was asked.
	pub(super) fn other_region(&self, place: &Place, headers: &HeaderMap) -> Option<String> {
		if place.kind != Kind::S3 || self.s3.is_some() {
			return None;
		}
		let region = headers.get("x-amz-bucket-region")?.to_str().ok()?;
		is_region(region).then(|| region.to_owned())
	}
}

/// Regions stand in the name of a host.
fn is_region(region: &str) -> bool {
	(1..=40).contains(&region.len())
		&& region.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

#[cfg(all(test, feature = "hub", feature = "object-stores"))]
#[path = "stores_tests.rs"]
mod tests;
