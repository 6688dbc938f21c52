//! Asks endpoints of iroh: for states by their tensors, from several at once, and for everything else by
//! HTTP over a stream.

use super::{
	answer::Answer, drop_parts, locations, Content, FetchError, Fetcher, LocationError, Locations,
	Pace, Wanted, READ_TIMEOUT,
};
use std::{io::ErrorKind, path::PathBuf, sync::Arc};
use tokio::sync::OnceCell;
use tracing::debug;
use trainyard_proof::bundle;
use trainyard_protocol::H256;
use trainyard_transport::{
	download, record_of, DownloadError, Index, Location, Node, Options, SecretKey, Source,
	SourceError, SCHEME,
};

/// How endpoints are asked.
#[derive(Clone, Debug, Default)]
pub struct Over {
	/// Certificates of authorities, as PEM, that are trusted beside the usual ones for relays.
	pub authorities: Option<PathBuf>,
	/// Whether nothing is sent to the addresses of other endpoints, but all of it through relays.
	pub relay_only: bool,
}

/// This machine's endpoint for asking others, made when the first is asked. Its key is a new one each time:
/// who fetches needs no name. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Own {
	over: Over,
	node: Arc<OnceCell<Node>>,
}

impl Own {
	pub(super) fn new(over: Over) -> Self {
		Self { over, node: Arc::default() }
	}

	async fn node(&self, locations: Locations) -> Result<&Node, String> {
		let bind = || async {
			let Over { authorities, relay_only } = self.over.clone();
			let public_only = locations.only();
			let secret = SecretKey::generate();
			Node::bind(Options { authorities, relay_only, public_only, ..Options::new(secret) })
				.await
		};
		self.node.get_or_try_init(bind).await.map_err(|e| e.to_string())
	}
}

/// Returns whether a URL is that of an endpoint.
pub(super) fn is_iroh(url: &str) -> bool {
	url.starts_with(SCHEME)
}

impl Locations {
	/// Returns what decides about addresses; none where all are allowed.
	pub(crate) fn only(self) -> Option<fn(std::net::IpAddr) -> bool> {
		match self {
			Self::Public => Some(locations::is_public),
			Self::Any => None,
		}
	}

	/// Takes the URL of an endpoint apart, without the ways there that are not to be gone.
	pub(super) fn endpoint(self, url: &str) -> Result<(Location, &str), LocationError> {
		let not_iroh = |why| LocationError::NotIroh { url: url.into(), why };
		let (location, path) = Location::split(url).map_err(not_iroh)?;
		let mut kept = match self.only() {
			Some(only) => location.among(only),
			None => location,
		};
		kept.http = kept.http.filter(|http| self.check(http).is_ok());
		match kept.leads_there() || kept.http.is_some() {
			true => Ok((kept, path)),
			false => Err(LocationError::NoWay { url: url.into() }),
		}
	}
}

impl Fetcher {
	/// Returns the same fetcher, which asks endpoints so.
	pub fn over(self, over: Over) -> Self {
		Self { own: Own::new(over), ..self }
	}

	/// Asks an endpoint by HTTP for what is at `url` from byte `from` on. Where it cannot be reached, the
	/// server is asked that the location names beside it, if there is one.
	pub(super) async fn ask_endpoint(&self, url: &str, from: u64) -> Result<Answer, FetchError> {
		let refused = |reason| FetchError::Refused { url: url.into(), reason };
		let (location, path) = self.locations.endpoint(url).map_err(refused)?;
		let no_answer = |reason: String| FetchError::NoAnswer { url: url.into(), reason };
		let asked = async {
			let node = self.own.node(self.locations).await?;
			let stream = node.open(&location).await.map_err(|e| e.to_string())?;
			Answer::over(stream, path, from, self.signed(path)).await
		};
		match (asked.await, &location.http) {
			(Ok(answer), _) => Ok(answer),
			(Err(why), Some(http)) => {
				debug!("{url}: {why}; asking {http}");
				self.ask_http(&format!("{http}{path}"), from).await
			}
			(Err(why), None) => Err(no_answer(why)),
		}
	}

	/// Brings a state from all of these endpoints at once, each tensor checked as it comes, and puts it in
	/// its place. `None` where none of them is an endpoint that gives it so, and it is to be asked for
	/// otherwise.
	pub(super) async fn together(
		&self,
		wanted: &Wanted<'_>,
		others: &[String],
	) -> Option<Result<(), FetchError>> {
		let Wanted { url, path, content } = *wanted;
		let Content::State { hash, limit } = content else { return None };
		let mut sources = Vec::new();
		for url in std::iter::once(url).chain(others.iter().map(String::as_str)) {
			let endpoint = is_iroh(url).then(|| self.locations.endpoint(url).ok()).flatten();
			let Some((location, path)) = endpoint.filter(|(at, _)| at.leads_there()) else {
				continue;
			};
			let source = Source { location, path: path.to_owned() };
			if !sources.contains(&source) {
				sources.push(source);
			}
		}
		if sources.is_empty() {
			return None;
		}
		let node = match self.own.node(self.locations).await {
			Ok(node) => node,
			Err(reason) => return Some(Err(FetchError::NoAnswer { url: url.into(), reason })),
		};
		let accept = |index: &Index| {
			let parts: Vec<_> =
				index.parts.iter().map(|p| (p.bytes, H256(*p.hash.as_bytes()))).collect();
			bundle::parts::hash_of_parts(&index.head, &parts) == Some(hash)
		};
		let part = content.part(path, SCHEME);
		let Pace { grace, window, rate } = self.pace;
		let pace = trainyard_transport::Pace { grace, window, rate, silence: READ_TIMEOUT };
		let of_all = trainyard_transport::Wanted {
			part: &part,
			sources: &sources,
			limit,
			accept: &accept,
			pace,
		};
		let came = match download(node, &of_all).await {
			Ok(came) => came,
			Err(DownloadError::Local { path, source }) => {
				return Some(Err(FetchError::Local { path, source }));
			}
			Err(DownloadError::Sources(errors)) => {
				let reason = DownloadError::Sources(errors.clone()).to_string();
				// One that has it in another form may give it whole; and so may its server.
				let otherwise = |e: &SourceError| {
					matches!(
						e,
						SourceError::Refused(_)
							| SourceError::OtherFile
							| SourceError::Unreachable(_)
					)
				};
				debug!("{url}: {reason}");
				return match errors.iter().any(otherwise) {
					true => None,
					false => Some(Err(FetchError::NoAnswer { url: url.into(), reason })),
				};
			}
		};
		debug!("{}: {came:?}", path.display());
		let checked = content.check(url, &part).await;
		let placed = match checked {
			Ok(()) => match tokio::fs::rename(&part, path).await {
				Ok(()) => drop_parts(&content.stem(path), 0),
				Err(e) => Err(e),
			},
			Err(e) => {
				// The disk lost some of what was noted to be there.
				let _ = tokio::fs::remove_file(record_of(&part)).await;
				let _ = tokio::fs::remove_file(&part).await;
				debug!("{e}; asking otherwise");
				return None;
			}
		};
		Some(placed.map_err(|source| FetchError::Local { path: path.to_owned(), source }))
	}
}

/// Removes an unfinished file, and the record of what is whole of it.
pub(super) fn remove_part(part: &std::path::Path) -> std::io::Result<()> {
	for path in [part.to_owned(), record_of(part)] {
		match std::fs::remove_file(path) {
			Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
			_ => {}
		}
	}
	Ok(())
}

#[cfg(test)]
#[path = "iroh_tests.rs"]
mod tests;
