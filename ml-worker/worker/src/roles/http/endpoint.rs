//! Serves a shelf over iroh: states by their tensors, each with the proof of its bytes, and everything as
//! the server by TCP does, over streams.

use super::{
	limits::{Limits, Watched},
	routes, state_of, Shelf,
};
use axum::serve::Listener;
use std::{
	fs::File,
	io::{self, BufReader, ErrorKind},
	net::SocketAddr,
	path::PathBuf,
	sync::Arc,
};
use tracing::error;
use trainyard_proof::bundle::{self, manifest};
use trainyard_transport::{Layout, Location, Node, Serving, Stream};

impl trainyard_transport::Shelf for Shelf {
	/// Only checkpoints are served by their parts: whoever fetches knows the hashes of their tensors.
	fn find(&self, path: &str) -> Option<PathBuf> {
		let (root, step) = state_of(path)?;
		let (_, file) = path.strip_prefix("/bundle/")?.split_once('/')?;
		manifest::step_of(file)?;
		self.dropped().parts_asked(&root, step);
		Shelf::find(self, path)
	}

	fn layout(&self, _: &str, file: &File, bytes: u64) -> io::Result<Layout> {
		let (head, parts) = bundle::parts::lengths(&mut BufReader::new(file), bytes)?;
		Ok(Layout { head, parts })
	}
}

/// A server over iroh; it stops when this is dropped.
pub struct Endpoint {
	node: Node,
	task: tokio::task::JoinHandle<()>,
}

impl Endpoint {
	/// Serves what is on `shelf` at this endpoint.
	pub fn start(node: Node, shelf: Shelf) -> Self {
		Self::start_within(Limits::default(), node, shelf)
	}

	/// Does what [`Self::start`] does, within these limits.
	pub fn start_within(limits: Limits, node: Node, shelf: Shelf) -> Self {
		let Limits { connections, per_address, first_byte, stall } = limits;
		let relayed = connections.div_ceil(2);
		let of_connections =
			trainyard_transport::Limits { connections, relayed, per_address, first_byte, stall };
		let serving = node.serve(Arc::new(shelf.clone()), of_connections);
		let listener = Streams { serving, limits };
		let routes = routes(shelf, limits);
		let task = tokio::spawn(async move {
			if let Err(e) = axum::serve(listener, routes).await {
				error!("the server over iroh stopped: {e}");
			}
		});
		Self { node, task }
	}

	/// Returns where it is, with these addresses.
	pub fn location(&self, addresses: Vec<SocketAddr>) -> Location {
		self.node.location(addresses)
	}

	/// Returns the UDP addresses on which it listens.
	pub fn sockets(&self) -> Vec<SocketAddr> {
		self.node.sockets()
	}
}

impl Drop for Endpoint {
	fn drop(&mut self) {
		self.task.abort();
	}
}

/// Streams of HTTP, as a listener hands out connections.
struct Streams {
	serving: Serving,
	limits: Limits,
}

impl Listener for Streams {
	type Io = Watched<Stream>;
	/// The address of whoever asks; none where it came through a relay.
	type Addr = Option<SocketAddr>;

	async fn accept(&mut self) -> (Self::Io, Self::Addr) {
		match self.serving.incoming.recv().await {
			// Connections have the seats.
			Some(came) => (Watched::new(came.stream, self.limits, None), came.address),
			None => std::future::pending().await,
		}
	}

	fn local_addr(&self) -> io::Result<Self::Addr> {
		Err(ErrorKind::Unsupported.into())
	}
}
