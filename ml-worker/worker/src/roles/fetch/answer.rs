//! The answer to a request, by TCP or over a stream of iroh.

use super::{no_answer, FetchError, CONNECT_TIMEOUT, READ_TIMEOUT};
use http_body_util::{BodyExt, Empty};
use hyper::{
	body::{Body, Bytes, Incoming},
	client::conn::http1,
	header, Request,
};
use hyper_util::rt::TokioIo;
use reqwest::StatusCode;
use std::future::Future;
use tokio::time::timeout;
use trainyard_client::seat;
use trainyard_transport::Stream;

/// An answer of which the body is still to come.
pub(super) enum Answer {
	Tcp(reqwest::Response),
	Iroh(hyper::Response<Incoming>),
}

/// Waits for something that an endpoint sends; the error is one line.
async fn awaited<T, E: std::fmt::Display>(
	what: impl Future<Output = Result<T, E>>,
) -> Result<T, String> {
	match timeout(READ_TIMEOUT, what).await {
		Ok(Ok(came)) => Ok(came),
		Ok(Err(e)) => Err(e.to_string()),
		Err(_) => Err("no answer in time".into()),
	}
}

impl Answer {
	/// Asks for what is at a path from byte `from` on, as the seat that `signed` it.
	pub(super) async fn over(
		stream: Stream,
		path: &str,
		from: u64,
		signed: Option<String>,
	) -> Result<Self, String> {
		let shaking = http1::handshake(TokioIo::new(stream));
		let (mut sender, connection) = timeout(CONNECT_TIMEOUT, shaking)
			.await
			.map_err(|_| "no answer in time".to_owned())?
			.map_err(|e| e.to_string())?;
		// It ends with the answer, and with the stream.
		tokio::spawn(connection);
		let path = if path.is_empty() { "/" } else { path };
		let mut request = Request::get(path).header(header::HOST, "iroh");
		if from > 0 {
			request = request.header(header::RANGE, format!("bytes={from}-"));
		}
		if let Some(signed) = signed {
			request = request.header(seat::HEADER, signed);
		}
		let request = request.body(Empty::<Bytes>::new()).map_err(|e| e.to_string())?;
		awaited(sender.send_request(request)).await.map(Self::Iroh)
	}

	pub(super) fn status(&self) -> StatusCode {
		match self {
			Self::Tcp(response) => response.status(),
			Self::Iroh(response) => response.status(),
		}
	}

	/// Returns the length that was announced, if one was.
	pub(super) fn content_length(&self) -> Option<u64> {
		match self {
			Self::Tcp(response) => response.content_length(),
			Self::Iroh(response) => response.body().size_hint().exact(),
		}
	}

	/// Returns the next bytes; `None` at the end.
	pub(super) async fn chunk(&mut self, url: &str) -> Result<Option<Bytes>, FetchError> {
		let response = match self {
			Self::Tcp(response) => return response.chunk().await.map_err(|e| no_answer(url, &e)),
			Self::Iroh(response) => response,
		};
		loop {
			let Some(frame) = response.body_mut().frame().await else { return Ok(None) };
			let broken =
				|e: hyper::Error| FetchError::NoAnswer { url: url.into(), reason: e.to_string() };
			// What is no data are trailers.
			if let Ok(bytes) = frame.map_err(broken)?.into_data() {
				return Ok(Some(bytes));
			}
		}
	}
}
