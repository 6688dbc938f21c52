//! Accepts connections, within limits on what strangers may take.
//!
//! A connection costs memory and its requests reading and hashing, so there are few at once, and few from one
//! address. Those that come through relays have no address that could be counted; they have a part of all
//! places, so that they cannot keep out those who come directly. Keys cost nothing, so they do not count.

use crate::{
	node::Stream,
	protocol::{self, Request},
	provider::Provider,
};
use iroh::{
	endpoint::{Connection, IncomingAddr, RecvStream, SendStream, VarInt},
	Endpoint, EndpointId,
};
use std::{
	collections::HashMap,
	io::{self, ErrorKind},
	net::{IpAddr, Ipv6Addr, SocketAddr},
	sync::{Arc, Mutex, PoisonError},
	time::Duration,
};
use tokio::{
	io::AsyncReadExt,
	sync::{mpsc, oneshot},
	task::{JoinHandle, JoinSet},
};
use tracing::debug;

/// Limits of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
	/// Connections at once; more are refused.
	pub connections: usize,
	/// Connections at once that came through a relay; more are refused.
	pub relayed: usize,
	/// Connections at once from one IPv4 address or one /64 of IPv6; more are refused. Loopback is exempt.
	pub per_address: usize,
	/// Longest time for a handshake, and for a request.
	pub first_byte: Duration,
	/// Longest time from one byte that the other side took to the next, and until a connection without
	/// requests is ended.
	pub stall: Duration,
}

impl Default for Limits {
	fn default() -> Self {
		Self {
			connections: 128,
			relayed: 64,
			per_address: 8,
			first_byte: Duration::from_secs(10),
			stall: Duration::from_secs(30),
		}
	}
}

/// A stream for another protocol.
#[derive(Debug)]
pub struct Incoming {
	/// The stream.
	pub stream: Stream,
	/// Whose it is.
	pub from: EndpointId,
	/// Its address when it connected; none where it came through a relay.
	pub address: Option<SocketAddr>,
}

/// Serving under way. It ends when this is dropped.
#[derive(Debug)]
pub struct Serving {
	/// Streams for another protocol; those that nobody takes are ended.
	pub incoming: mpsc::Receiver<Incoming>,
	task: JoinHandle<()>,
}

impl Drop for Serving {
	fn drop(&mut self) {
		self.task.abort();
	}
}

/// By what connections are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum From {
	Relay,
	Address(IpAddr),
	/// Loopback: a program on this machine.
	Here,
}

impl From {
	fn of(address: &IncomingAddr) -> Self {
		let IncomingAddr::Ip(address) = address else { return Self::Relay };
		match address.ip().to_canonical() {
			address if address.is_loopback() => Self::Here,
			// One customer has a /64 at least.
			IpAddr::V6(v6) => {
				Self::Address(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into())
			}
			v4 => Self::Address(v4),
		}
	}
}

/// Connections under way, by where they came from.
#[derive(Clone, Default)]
struct Seats(Arc<Mutex<HashMap<From, usize>>>);

impl Seats {
	fn locked(&self) -> std::sync::MutexGuard<'_, HashMap<From, usize>> {
		self.0.lock().unwrap_or_else(PoisonError::into_inner)
	}

	/// Takes a seat; `None` where there is none.
	fn take(&self, from: From, limits: &Limits) -> Option<Seat> {
		let mut taken = self.locked();
		let most = match from {
			From::Relay => limits.relayed,
			From::Address(_) => limits.per_address,
			From::Here => limits.connections,
		};
		let (all, of_it) = (taken.values().sum::<usize>(), taken.get(&from).copied());
		let of_it = of_it.unwrap_or_default();
		if all >= limits.connections || of_it >= most {
			return None;
		}
		taken.insert(from, of_it + 1);
		Some(Seat { seats: self.clone(), from })
	}
}

/// The right to one connection; it ends when this is dropped.
struct Seat {
	seats: Seats,
	from: From,
}

impl Drop for Seat {
	fn drop(&mut self) {
		let mut taken = self.seats.locked();
		match taken.get_mut(&self.from) {
			Some(count) if *count > 1 => *count -= 1,
			_ => {
				taken.remove(&self.from);
			}
		}
	}
}

/// Connections that others opened, as long as they are served.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accepted(Arc<Mutex<HashMap<usize, Connection>>>);

impl Accepted {
	fn locked(&self) -> std::sync::MutexGuard<'_, HashMap<usize, Connection>> {
		self.0.lock().unwrap_or_else(PoisonError::into_inner)
	}

	/// Takes note of a connection until the returned value is dropped.
	fn note(&self, connection: &Connection) -> Noted {
		let id = connection.stable_id();
		self.locked().insert(id, connection.clone());
		Noted { all: self.clone(), id }
	}

	/// Ends all that this endpoint opened.
	pub(crate) fn close(&self, of: EndpointId) {
		let all = self.locked();
		for connection in all.values().filter(|connection| connection.remote_id() == of) {
			connection.close(VarInt::from_u32(0), b"forgotten");
		}
	}
}

/// A connection that is served.
struct Noted {
	all: Accepted,
	id: usize,
}

impl Drop for Noted {
	fn drop(&mut self) {
		self.all.locked().remove(&self.id);
	}
}

/// Serves until the returned value is dropped.
pub(crate) fn start(
	endpoint: Endpoint,
	provider: Provider,
	limits: Limits,
	accepted: Accepted,
) -> Serving {
	let (to, incoming) = mpsc::channel(limits.connections.max(1));
	let task = tokio::spawn(async move {
		let seats = Seats::default();
		// They end with this task.
		let mut connections = JoinSet::new();
		while let Some(connecting) = endpoint.accept().await {
			while connections.try_join_next().is_some() {}
			let address = connecting.remote_addr();
			let Some(seat) = seats.take(From::of(&address), &limits) else {
				debug!("{address:?} or all have too many connections; one more is refused");
				connecting.refuse();
				continue;
			};
			let address = match address {
				IncomingAddr::Ip(address) => Some(address),
				_ => None,
			};
			let server = Server { provider: provider.clone(), limits, to: to.clone(), address };
			let accepted = accepted.clone();
			connections.spawn(async move {
				let _seat = seat;
				match tokio::time::timeout(limits.first_byte, connecting).await {
					Ok(Ok(connection)) => {
						let _noted = accepted.note(&connection);
						server.connection(connection).await;
					}
					Ok(Err(e)) => debug!("a connection was not made: {e}"),
					Err(_) => debug!("a connection was not made in time"),
				}
			});
		}
	});
	Serving { incoming, task }
}

/// Serves one connection.
#[derive(Clone)]
struct Server {
	provider: Provider,
	limits: Limits,
	to: mpsc::Sender<Incoming>,
	address: Option<SocketAddr>,
}

impl Server {
	async fn connection(&self, connection: Connection) {
		let mut requests = JoinSet::new();
		loop {
			tokio::select! {
				accepted = connection.accept_bi() => {
					let Ok((send, receive)) = accepted else { break };
					let (server, connection) = (self.clone(), connection.clone());
					requests.spawn(async move {
						if let Err(e) = server.request(connection, send, receive).await {
							debug!("a request ended early: {e}");
						}
					});
				}
				_ = requests.join_next(), if !requests.is_empty() => {}
				() = tokio::time::sleep(self.limits.stall), if requests.is_empty() => break,
			}
		}
		connection.close(VarInt::from_u32(0), b"idle");
	}

	async fn request(
		&self,
		connection: Connection,
		mut send: SendStream,
		mut receive: RecvStream,
	) -> io::Result<()> {
		let late = |_| io::Error::from(ErrorKind::TimedOut);
		let first_byte = self.limits.first_byte;
		let kind = tokio::time::timeout(first_byte, receive.read_u8()).await.map_err(late)??;
		if kind == protocol::BYTES {
			let (ends, ended) = oneshot::channel();
			let from = connection.remote_id();
			let stream = Stream::new(connection, send, receive, Some(ends));
			if self.to.try_send(Incoming { stream, from, address: self.address }).is_ok() {
				// An error: it was dropped.
				let _ = ended.await;
			}
			return Ok(());
		}
		let reading = Request::read(kind, &mut receive);
		let request = tokio::time::timeout(first_byte, reading).await.map_err(late)??;
		let answer = tokio::select! {
			answer = self.provider.answer(request) => answer,
			// Whoever asked has gone, or does not want it any more.
			_ = send.stopped() => return Ok(()),
		};
		let mut left = &answer[..];
		while !left.is_empty() {
			let writing = send.write(left);
			let n = tokio::time::timeout(self.limits.stall, writing).await.map_err(late)??;
			left = left.get(n..).unwrap_or_default();
		}
		send.finish().map_err(io::Error::other)?;
		// It is on its way: the connection stays until the other side has it, or is too slow.
		let _ = tokio::time::timeout(self.limits.stall, send.stopped()).await;
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn an_address_has_its_share_and_relays_cannot_take_all() {
		let limits = Limits { connections: 5, relayed: 2, per_address: 1, ..Limits::default() };
		let seats = Seats::default();
		let of = |text: &str| From::of(&IncomingAddr::Ip(text.parse().unwrap()));
		let take = |from| seats.take(from, &limits);
		let one = take(of("203.0.113.7:1")).unwrap();
		assert!(take(of("[::ffff:203.0.113.7]:2")).is_none());
		let _six = take(of("[2a00:1:2:3:4::5]:1")).unwrap();
		assert!(take(of("[2a00:1:2:3:ffff::1]:1")).is_none());
		let _relayed = [take(From::Relay).unwrap(), take(From::Relay).unwrap()];
		assert!(take(From::Relay).is_none());
		let here = take(of("127.0.0.1:1")).unwrap();
		assert!(take(of("[::1]:1")).is_none(), "all are taken");
		drop((one, here));
		let _here = [take(of("[::1]:1")).unwrap(), take(of("127.0.0.1:2")).unwrap()];
		assert!(take(of("203.0.113.8:1")).is_none());
	}
}
