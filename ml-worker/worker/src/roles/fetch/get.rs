//! Takes a short answer into memory.

use super::{FetchError, Fetcher};
use reqwest::StatusCode;
use tracing::debug;

impl Fetcher {
	/// Returns what `url` answers with, `limit` bytes at most. Nothing shows whether it is right: whoever
	/// asks checks it. It is asked several times where that may help, and has the time for each that a
	/// file of `limit` bytes has.
	pub async fn get(&self, url: &str, limit: u64) -> Result<Vec<u8>, FetchError> {
		self.allow(url)?;
		let patience = self.pace.patience(limit);
		let mut attempt = 1;
		loop {
			let taken = tokio::time::timeout(patience, self.take(url, limit)).await;
			let error = match taken {
				Ok(Ok(body)) => return Ok(body),
				Ok(Err(error)) => error,
				Err(_) => FetchError::TooSlow { url: url.into(), limit, patience },
			};
			if !error.may_pass() || error.is_slow() || attempt >= self.tries {
				return Err(error);
			}
			debug!("{error}; trying again");
			tokio::time::sleep(self.pause * 2u32.saturating_pow(attempt - 1)).await;
			attempt += 1;
		}
	}

	/// Asks once.
	async fn take(&self, url: &str, limit: u64) -> Result<Vec<u8>, FetchError> {
		let too_large = || FetchError::TooLarge { url: url.into(), limit };
		let mut response = self.ask(url, 0).await?;
		let status = response.status();
		if status != StatusCode::OK {
			return Err(FetchError::Status { url: url.into(), status });
		}
		if response.content_length().is_some_and(|length| length > limit) {
			return Err(too_large());
		}
		let mut body = Vec::new();
		while let Some(piece) = response.chunk(url).await? {
			if (body.len() as u64).saturating_add(piece.len() as u64) > limit {
				return Err(too_large());
			}
			body.extend_from_slice(&piece);
		}
		Ok(body)
	}
}
