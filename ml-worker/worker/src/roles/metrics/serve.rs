//! The page that Prometheus reads.
//!
//! | request | answer |
//! |---|---|
//! | `GET /metrics` | all metrics of the role |
//! | `GET /health` | 200 `ok` while the role follows its node; 503 and the reason otherwise |

use super::{in_try, Metrics};
use axum::{
	extract::State,
	http::{header, StatusCode},
	response::{IntoResponse, Response},
	routing::get,
	Router,
};
use std::{
	io::ErrorKind,
	net::{IpAddr, Ipv4Addr, SocketAddr},
	sync::Arc,
	time::{Duration, Instant},
};
use tokio::{net::TcpListener, sync::Mutex};
use tracing::{debug, error, info};
use trainyard_client::{AccountId32, Chain, Link};

/// A role asks for the best block four times a second. If it has not heard of any for this long, it
/// hangs, or its node does.
const SILENCE: Duration = Duration::from_secs(60);
/// The balance is asked for at most once in this time,
const BALANCE_EVERY: Duration = Duration::from_secs(30);
/// and Prometheus does not wait longer for it.
const BALANCE_PATIENCE: Duration = Duration::from_secs(3);

/// Options of a role about its metrics.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct MetricsArgs {
	/// Show metrics to Prometheus at this port of this machine: /metrics, and /health
	/// [default: none are shown]
	#[arg(long, value_name = "PORT")]
	prometheus_port: Option<u16>,
	/// Show them to other machines, too
	#[arg(long, requires = "prometheus_port")]
	prometheus_external: bool,
}

/// Says why metrics are not shown.
#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
	/// Somebody else listens there.
	#[error(
		"port {} of {} is in use by another program. Stop that one, or choose another port with \
		 --prometheus-port", .0.port(), .0.ip()
	)]
	InUse(SocketAddr),
	/// Not allowed.
	#[error("cannot listen on {address}: {source}. Choose another port with --prometheus-port")]
	CannotListen {
		/// The address.
		address: SocketAddr,
		/// What the system said.
		source: std::io::Error,
	},
}

impl MetricsArgs {
	/// Shows `metrics`, if a port is given, until the returned value is dropped.
	pub async fn serve(
		&self,
		metrics: &Metrics,
		chain: &Arc<Chain>,
		account: &AccountId32,
	) -> Result<Option<Exporter>, MetricsError> {
		metrics.identify(account);
		let Some(port) = self.prometheus_port else { return Ok(None) };
		let ip = match self.prometheus_external {
			true => Ipv4Addr::UNSPECIFIED,
			false => Ipv4Addr::LOCALHOST,
		};
		let address = SocketAddr::new(IpAddr::V4(ip), port);
		let exporter = Exporter::start(address, metrics.clone(), chain.clone(), *account).await?;
		info!("metrics at http://{}/metrics", exporter.address());
		Ok(Some(exporter))
	}
}

/// A running page; it is taken down when this is dropped.
pub struct Exporter {
	address: SocketAddr,
	task: tokio::task::JoinHandle<()>,
}

/// What the page is made of.
#[derive(Clone)]
struct Page {
	metrics: Metrics,
	chain: Arc<Chain>,
	account: AccountId32,
	/// When the balance was last asked for.
	asked: Arc<Mutex<Option<Instant>>>,
}

impl Exporter {
	/// Shows the metrics of a role of `account` on `chain` at `address`; port 0 takes any.
	pub async fn start(
		address: SocketAddr,
		metrics: Metrics,
		chain: Arc<Chain>,
		account: AccountId32,
	) -> Result<Self, MetricsError> {
		let refused = |source: std::io::Error| match source.kind() {
			ErrorKind::AddrInUse => MetricsError::InUse(address),
			_ => MetricsError::CannotListen { address, source },
		};
		let listener = TcpListener::bind(address).await.map_err(refused)?;
		let address = listener
			.local_addr()
			.map_err(|source| MetricsError::CannotListen { address, source })?;
		let page = Page { metrics, chain, account, asked: Arc::default() };
		let routes = Router::new()
			.route("/metrics", get(show))
			.route("/health", get(health))
			.with_state(page);
		let task = tokio::spawn(async move {
			if let Err(e) = axum::serve(listener, routes).await {
				error!("the page with the metrics stopped: {e}");
			}
		});
		Ok(Self { address, task })
	}

	/// Returns its address.
	pub fn address(&self) -> SocketAddr {
		self.address
	}
}

impl Drop for Exporter {
	fn drop(&mut self) {
		self.task.abort();
	}
}

async fn show(State(page): State<Page>) -> Response {
	page.refresh().await;
	match page.metrics.text() {
		Ok(text) => ([(header::CONTENT_TYPE, Metrics::content_type())], text).into_response(),
		Err(e) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{e}\n")).into_response(),
	}
}

async fn health(State(page): State<Page>) -> Response {
	match illness(&page.chain.link(), page.chain.url()) {
		None => "ok\n".into_response(),
		Some(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")).into_response(),
	}
}

/// Returns what is wrong with a role that last heard from its node as `link` says; `None` if
/// nothing is.
fn illness(link: &Link, url: &str) -> Option<String> {
	let silent = link.heard.elapsed();
	if !link.connected {
		return Some(format!("{url} does not answer, since {} s", silent.as_secs()));
	}
	(silent > SILENCE).then(|| format!("no look at the chain of {url} for {} s", silent.as_secs()))
}

impl Page {
	/// Sets the metrics whose values must be asked for.
	async fn refresh(&self) {
		let link = self.chain.link();
		self.metrics.connected.set(link.connected.into());
		self.metrics.best.set(link.best.into());
		let mut asked = self.asked.lock().await;
		let due = asked.is_none_or(|asked| asked.elapsed() >= BALANCE_EVERY);
		if !due || !link.connected {
			return;
		}
		*asked = Some(Instant::now());
		let asking = self.chain.account(&self.account);
		match tokio::time::timeout(BALANCE_PATIENCE, asking).await {
			Ok(Ok(account)) => {
				let set = |kind: &str, amount| {
					self.metrics.balance.with_label_values(&[kind]).set(in_try(amount));
				};
				set("free", account.free);
				set("held", account.reserved);
			}
			Ok(Err(e)) => debug!("no balance for the metrics: {e}"),
			Err(_) => debug!("no balance for the metrics: the node is slow"),
		}
	}
}

#[cfg(test)]
mod tests {
	use super::{super::tests::value, *};
	use tokio::{
		io::{AsyncReadExt, AsyncWriteExt},
		net::TcpStream,
	};
	use trainyard_client::fake::FakeNode;

	const ANY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

	async fn get(address: SocketAddr, path: &str) -> (u16, String) {
		let mut stream = TcpStream::connect(address).await.unwrap();
		let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
		stream.write_all(request.as_bytes()).await.unwrap();
		let mut answer = String::new();
		stream.read_to_string(&mut answer).await.unwrap();
		let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
		(status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
	}

	#[tokio::test]
	async fn metrics_and_health_are_shown() {
		let node = FakeNode::new(|_, _, _| Ok(Vec::new())).at(42);
		let chain = Arc::new(node.chain().await);
		let metrics = Metrics::new("verifier");
		let account = AccountId32([7; 32]);
		let exporter = Exporter::start(ANY, metrics.clone(), chain.clone(), account).await.unwrap();
		chain.head().await.unwrap();
		metrics.ended("accept");

		let (status, text) = get(exporter.address(), "/metrics").await;
		assert_eq!(status, 200);
		for (sample, expected) in [
			("trainyard_worker_connected{role=\"verifier\"}", 1.0),
			("trainyard_worker_best_block{role=\"verifier\"}", 42.0),
			("trainyard_worker_jobs_total{outcome=\"accept\",role=\"verifier\"}", 1.0),
		] {
			assert_eq!(value(&text, sample), Some(expected), "{sample}\n{text}");
		}
		assert_eq!(get(exporter.address(), "/health").await, (200, "ok\n".into()));
		assert_eq!(get(exporter.address(), "/").await.0, 404);
	}

	#[tokio::test]
	async fn a_port_is_needed_and_must_be_free() {
		let chain = Arc::new(FakeNode::new(|_, _, _| Ok(Vec::new())).chain().await);
		let metrics = Metrics::new("trainer");
		let account = AccountId32([7; 32]);
		let none = MetricsArgs::default().serve(&metrics, &chain, &account).await.unwrap();
		assert!(none.is_none());
		let taken = Exporter::start(ANY, metrics.clone(), chain.clone(), account).await.unwrap();
		let port = taken.address().port();
		let args = MetricsArgs { prometheus_port: Some(port), prometheus_external: false };
		let error = args.serve(&metrics, &chain, &account).await.err().unwrap().to_string();
		assert!(error.contains(&format!("port {port}")), "{error}");
		assert!(error.contains("--prometheus-port"), "{error}");
		drop(taken);
	}

	#[test]
	fn a_role_without_its_node_is_ill() {
		let now = Instant::now();
		let well = Link { connected: true, best: 7, heard: now };
		assert_eq!(illness(&well, "ws://x"), None);
		let lost = illness(&Link { connected: false, ..well }, "ws://x").unwrap();
		assert!(lost.contains("ws://x does not answer"), "{lost}");
		if let Some(before) = now.checked_sub(2 * SILENCE) {
			let hung = illness(&Link { heard: before, ..well }, "ws://x").unwrap();
			assert!(hung.contains("no look at the chain"), "{hung}");
		}
	}
}
