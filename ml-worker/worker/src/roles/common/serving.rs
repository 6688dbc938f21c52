//! Starts the server from which others fetch, and knows its public address.

use crate::roles::{
	fetch,
	http::{ServeError, Server, Shelf},
	run::RoleError,
	store::Home,
};
use std::net::SocketAddr;
use tracing::warn;
use trainyard_protocol::Text;

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
