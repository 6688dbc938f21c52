//! Says why a download failed.

use super::LocationError;
use reqwest::StatusCode;
use std::{path::PathBuf, time::Duration};
use trainyard_protocol::H256;

/// Says why a download failed.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
	/// Nobody answers, or the transfer broke off.
	#[error("{url} does not answer: {reason}")]
	NoAnswer {
		/// The location.
		url: String,
		/// What the transport said.
		reason: String,
	},
	/// The server sends, but not all of it came in the time for it.
	#[error("{url} is too slow: {} bytes at most did not arrive in {} s", limit, patience.as_secs())]
	TooSlow {
		/// The location.
		url: String,
		/// The most bytes taken.
		limit: u64,
		/// The time that it had.
		patience: Duration,
	},
	/// The server sends less in a time than it must at least.
	#[error(
		"{url} is too slow: {bytes} bytes came in {:.1} s, at least {rate} a second are asked of it",
		window.as_secs_f64()
	)]
	BelowRate {
		/// The location.
		url: String,
		/// Bytes that came in that time.
		bytes: u64,
		/// The time.
		window: Duration,
		/// Least bytes a second.
		rate: u64,
	},
	/// The server does not have it.
	#[error("{url} answers with {status}")]
	Status {
		/// The location.
		url: String,
		/// The HTTP status.
		status: StatusCode,
	},
	/// The server announces a file of another length. None of it was taken.
	#[error(
		"{url} serves a file of {found} bytes, and {expected} bytes were declared. Either the file \
		 at that location was changed, or the declared length is wrong"
	)]
	WrongLength {
		/// The location.
		url: String,
		/// The length asked for.
		expected: u64,
		/// The length announced.
		found: u64,
	},
	/// There are more bytes than allowed.
	#[error("{url} serves more than the {limit} bytes that are allowed")]
	TooLarge {
		/// The location.
		url: String,
		/// The most bytes taken.
		limit: u64,
	},
	/// The bytes are not those that were asked for.
	#[error(
		"{url} serves other data than declared: its hash is {found:?}, not {expected:?}. \
		 Either the file at that location was changed, or the declared hash is wrong"
	)]
	WrongHash {
		/// The location.
		url: String,
		/// The hash asked for.
		expected: H256,
		/// The hash of what came.
		found: H256,
	},
	/// The checkpoint is not the state that was asked for.
	#[error(
		"{url} serves another state than the {expected:?} that is listed{}",
		found.map_or(String::new(), |found| format!(": it hashes to {found:?}"))
	)]
	WrongState {
		/// The location.
		url: String,
		/// The hash of the state asked for.
		expected: H256,
		/// The hash of the state that came, if what came is one.
		found: Option<H256>,
	},
	/// No location at all.
	#[error("`{url}` is no http://, https://, iroh://, s3://, gs:// or hf:// location")]
	BadUrl {
		/// The URL that was given.
		url: String,
	},
	/// The location must not be asked, or leads to one that must not.
	#[error("{url} is not fetched from: {reason}")]
	Refused {
		/// The location.
		url: String,
		/// What is wrong with it.
		reason: LocationError,
	},
	/// A local file could not be read or written.
	#[error("cannot read or write {}: {source}", path.display())]
	Local {
		/// The file.
		path: PathBuf,
		/// What the system said.
		source: std::io::Error,
	},
}

impl FetchError {
	/// Returns whether trying the same location again soon may help.
	pub fn may_pass(&self) -> bool {
		match self {
			Self::NoAnswer { .. } => true,
			Self::Status { status, .. } => {
				status.is_server_error()
					|| *status == StatusCode::TOO_MANY_REQUESTS
					|| *status == StatusCode::REQUEST_TIMEOUT
			}
			_ => self.is_slow(),
		}
	}

	/// Returns whether the server says that it has it later: it is opened, or computed again.
	pub fn is_later(&self) -> bool {
		matches!(self, Self::Status { status: StatusCode::SERVICE_UNAVAILABLE, .. })
	}

	/// Returns whether the server was too slow. It is asked again only after others had their turn.
	pub(super) fn is_slow(&self) -> bool {
		matches!(self, Self::TooSlow { .. } | Self::BelowRate { .. })
	}

	/// Returns whether the location serves another file than was asked for, so that what came from
	/// it is of no use.
	pub(super) fn is_other_file(&self) -> bool {
		self.is_other_content() || matches!(self, Self::WrongLength { .. } | Self::TooLarge { .. })
	}

	/// Returns whether all of a file came, and it is another one.
	pub(super) fn is_other_content(&self) -> bool {
		matches!(self, Self::WrongHash { .. } | Self::WrongState { .. })
	}
}

/// The system could not make an HTTP client.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up downloads: {}. Are the system's TLS certificates in order?", reason(.0))]
pub struct SetupError(pub(super) reqwest::Error);

/// Returns the innermost message: the outer ones only repeat the URL.
pub(super) fn reason(error: &reqwest::Error) -> String {
	let mut at: &dyn std::error::Error = error;
	while let Some(source) = at.source() {
		at = source;
	}
	match error.is_timeout() {
		true => format!("no answer in time ({at})"),
		false => at.to_string(),
	}
}
