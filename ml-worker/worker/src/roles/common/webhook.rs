//! Tells a role's owner by HTTP what needs somebody to look: one `POST` of a JSON object for each
//! warning. The address is the owner's own, so it may be a private one.

use crate::roles::report::Reporter;
use reqwest::{header, redirect, Client, Url};
use serde_json::{json, Value};
use std::time::Duration;
use tracing::warn;

/// Longest time for one message.
const PATIENCE: Duration = Duration::from_secs(10);

/// Says why there is no webhook.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
	/// It is no address.
	#[error("--warn-webhook must be an http:// or https:// URL: {0}")]
	BadUrl(String),
	/// The client cannot be made.
	#[error("cannot make an HTTP client for --warn-webhook: {0}")]
	Client(#[from] reqwest::Error),
}

/// Reports warnings, and sends them to the owner's address if there is one.
#[derive(Clone, Debug)]
pub struct Webhook {
	report: Reporter,
	target: Option<(Client, Url)>,
}

impl Webhook {
	/// Makes a webhook that reports to `report` and sends to `url`, if it is given.
	pub fn new(report: Reporter, url: Option<&str>) -> Result<Self, WebhookError> {
		let target = match url {
			None => None,
			Some(text) => {
				let bad = |why: String| WebhookError::BadUrl(why);
				let url = Url::parse(text).map_err(|e| bad(e.to_string()))?;
				if !matches!(url.scheme(), "http" | "https") {
					return Err(bad(format!("its scheme is {}", url.scheme())));
				}
				let client = Client::builder()
					.timeout(PATIENCE)
					.redirect(redirect::Policy::none())
					.user_agent(concat!("trainyard/", env!("CARGO_PKG_VERSION")))
					.build()?;
				Some((client, url))
			}
		};
		Ok(Self { report, target })
	}

	/// Reports `event` and sends it; nothing waits for the answer. What cannot be delivered is in the
	/// log.
	pub fn warn(&self, event: &str, text: &str, fields: Value) {
		self.report.general(event, text, fields.clone());
		let Some((client, url)) = self.target.clone() else { return };
		let mut body = json!({ "event": event, "text": text });
		if let (Some(body), Value::Object(fields)) = (body.as_object_mut(), fields) {
			body.extend(fields);
		}
		tokio::spawn(async move {
			let sent = client
				.post(url)
				.header(header::CONTENT_TYPE, "application/json")
				.body(body.to_string())
				.send()
				.await
				.and_then(|answer| answer.error_for_status());
			if let Err(e) = sent {
				// Without its address, which may hold a secret.
				warn!("a warning could not be sent to --warn-webhook: {}", e.without_url());
			}
		});
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use tokio::{
		io::{AsyncReadExt, AsyncWriteExt},
		net::TcpListener,
	};

	#[tokio::test]
	async fn a_warning_is_reported_and_posted() {
		let dir = tempfile::tempdir().unwrap();
		let log = dir.path().join("events.jsonl");
		let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
		let url = format!("http://{}/hook", listener.local_addr().unwrap());
		let report = Reporter::new("verifier", true, Some(&log));
		let webhook = Webhook::new(report, Some(&url)).unwrap();
		webhook.warn("deadline_near", "3 blocks left", json!({ "job": 7 }));
		let (mut stream, _) = listener.accept().await.unwrap();
		let mut text = String::new();
		while !text.ends_with('}') {
			let mut piece = [0; 1024];
			let n = stream.read(&mut piece).await.unwrap();
			text.push_str(std::str::from_utf8(&piece[..n]).unwrap());
		}
		stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
		assert!(text.starts_with("POST /hook HTTP/1.1\r\n"), "{text}");
		let (_, body) = text.split_once("\r\n\r\n").unwrap();
		let body: Value = serde_json::from_str(body).unwrap();
		assert_eq!(body, json!({ "event": "deadline_near", "text": "3 blocks left", "job": 7 }));
		assert!(std::fs::read_to_string(log).unwrap().contains("deadline_near"));
	}

	#[tokio::test]
	async fn an_address_must_be_one() {
		let report = || Reporter::new("verifier", true, None);
		for url in ["hooks.example", "file:///etc/passwd", ""] {
			assert!(Webhook::new(report(), Some(url)).is_err(), "{url}");
		}
		Webhook::new(report(), None).unwrap().warn("paused", "nobody listens", json!({}));
	}
}
