//! Limits what strangers may take of the server: the number of connections, and their time. They
//! are not layers of `tower`, because a layer sees a request only after its head was read, and
//! these limits are for connections that never send one, or do not read the answer.

use axum::serve::Listener;
use std::{
	collections::HashMap,
	future::Future,
	io::{self, ErrorKind, IoSlice},
	net::{IpAddr, Ipv6Addr, SocketAddr},
	pin::Pin,
	sync::{Arc, Mutex, MutexGuard},
	task::{Context, Poll},
	time::Duration,
};
use tokio::{
	io::{AsyncRead, AsyncWrite, ReadBuf},
	net::{TcpListener, TcpStream},
	sync::{OwnedSemaphorePermit, Semaphore},
	time::{Instant, Sleep},
};
use tracing::debug;

/// Limits of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
	/// Connections at once; more wait in the system's queue.
	pub connections: usize,
	/// Connections at once from one IPv4 address or one /64 of IPv6; more are closed.
	/// Loopback is exempt: a reverse proxy on this machine speaks for many.
	pub per_address: usize,
	/// Longest time from the connection to the first byte of an answer.
	pub first_byte: Duration,
	/// Longest time from one byte that the client took to the next, or to the end of an
	/// idle connection.
	pub stall: Duration,
}

impl Default for Limits {
	fn default() -> Self {
		Self {
			connections: 128,
			per_address: 8,
			first_byte: Duration::from_secs(10),
			stall: Duration::from_secs(30),
		}
	}
}

/// Connections by [`peer`].
type Counts = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// A listener whose connections obey [`Limits`].
pub(super) struct Limited {
	inner: TcpListener,
	limits: Limits,
	free: Arc<Semaphore>,
	counts: Counts,
}

impl Limited {
	/// Limits the connections of `inner`.
	pub(super) fn new(inner: TcpListener, limits: Limits) -> Self {
		let free = Arc::new(Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS)));
		Self { inner, limits, free, counts: Counts::default() }
	}
}

impl Listener for Limited {
	type Io = Watched<TcpStream>;
	type Addr = SocketAddr;

	async fn accept(&mut self) -> (Self::Io, Self::Addr) {
		loop {
			let Ok(permit) = self.free.clone().acquire_owned().await else {
				// Nobody closes the semaphore.
				return std::future::pending().await;
			};
			let (stream, address) = Listener::accept(&mut self.inner).await;
			match Seat::take(permit, address.ip(), self.limits.per_address, &self.counts) {
				Some(seat) => return (Watched::new(stream, self.limits, Some(seat)), address),
				None => debug!("{address} has too many connections; one more is closed"),
			}
		}
	}

	fn local_addr(&self) -> io::Result<SocketAddr> {
		self.inner.local_addr()
	}
}

/// Returns the address whose connections count together; `None` for loopback.
fn peer(address: IpAddr) -> Option<IpAddr> {
	match address.to_canonical() {
		address if address.is_loopback() => None,
		// One customer has a /64 at least.
		IpAddr::V6(v6) => Some(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into()),
		v4 => Some(v4),
	}
}

fn locked(counts: &Counts) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
	counts.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The right to one connection; it ends when this is dropped.
pub(super) struct Seat {
	peer: Option<IpAddr>,
	counts: Counts,
	_permit: OwnedSemaphorePermit,
}

impl Seat {
	/// Takes a seat for `address`; `None` if it has `most` already.
	fn take(
		permit: OwnedSemaphorePermit,
		address: IpAddr,
		most: usize,
		counts: &Counts,
	) -> Option<Self> {
		let peer = peer(address);
		if let Some(peer) = peer {
			let mut counts = locked(counts);
			let count = counts.get(&peer).copied().unwrap_or(0);
			if count >= most {
				return None;
			}
			counts.insert(peer, count + 1);
		}
		Some(Self { peer, counts: counts.clone(), _permit: permit })
	}
}

impl Drop for Seat {
	fn drop(&mut self) {
		let Some(peer) = self.peer else { return };
		let mut counts = locked(&self.counts);
		match counts.get_mut(&peer) {
			Some(count) if *count > 1 => *count -= 1,
			_ => {
				counts.remove(&peer);
			}
		}
	}
}

/// A connection that fails with [`ErrorKind::TimedOut`] when the other side takes no byte
/// in time, whether it asks for nothing, asks too slowly or does not read the answer.
pub(super) struct Watched<S> {
	inner: S,
	stall: Duration,
	end: Pin<Box<Sleep>>,
	_seat: Option<Seat>,
}

impl<S> Watched<S> {
	/// Watches a connection, which may have a seat.
	pub(super) fn new(inner: S, limits: Limits, seat: Option<Seat>) -> Self {
		let end = Box::pin(tokio::time::sleep(limits.first_byte));
		Self { inner, stall: limits.stall, end, _seat: seat }
	}

	/// Fails when the time is over; otherwise wakes the task then.
	fn in_time(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
		match self.end.as_mut().poll(cx) {
			Poll::Ready(()) => Err(ErrorKind::TimedOut.into()),
			Poll::Pending => Ok(()),
		}
	}

	/// Notes the outcome of a write: progress gives new time.
	fn written(
		&mut self,
		cx: &mut Context<'_>,
		result: Poll<io::Result<usize>>,
	) -> Poll<io::Result<usize>> {
		match result {
			Poll::Ready(Ok(n)) if n > 0 => {
				self.end.as_mut().reset(Instant::now() + self.stall);
				Poll::Ready(Ok(n))
			}
			Poll::Pending => {
				self.in_time(cx)?;
				Poll::Pending
			}
			done => done,
		}
	}
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
	fn poll_read(
		mut self: Pin<&mut Self>,
		cx: &mut Context<'_>,
		buffer: &mut ReadBuf<'_>,
	) -> Poll<io::Result<()>> {
		// This comes first: a request that drips in is no progress.
		self.in_time(cx)?;
		Pin::new(&mut self.inner).poll_read(cx, buffer)
	}
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
	fn poll_write(
		mut self: Pin<&mut Self>,
		cx: &mut Context<'_>,
		bytes: &[u8],
	) -> Poll<io::Result<usize>> {
		let result = Pin::new(&mut self.inner).poll_write(cx, bytes);
		self.written(cx, result)
	}

	fn poll_write_vectored(
		mut self: Pin<&mut Self>,
		cx: &mut Context<'_>,
		pieces: &[IoSlice<'_>],
	) -> Poll<io::Result<usize>> {
		let result = Pin::new(&mut self.inner).poll_write_vectored(cx, pieces);
		self.written(cx, result)
	}

	fn is_write_vectored(&self) -> bool {
		self.inner.is_write_vectored()
	}

	fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
		match Pin::new(&mut self.inner).poll_flush(cx) {
			Poll::Pending => {
				self.in_time(cx)?;
				Poll::Pending
			}
			done => done,
		}
	}

	fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
		Pin::new(&mut self.inner).poll_shutdown(cx)
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	fn seats(free: &Arc<Semaphore>, counts: &Counts, address: &str, most: usize) -> Option<Seat> {
		let permit = free.clone().try_acquire_owned().unwrap();
		Seat::take(permit, address.parse().unwrap(), most, counts)
	}

	#[test]
	fn an_address_has_its_share_and_gets_it_back() {
		let (free, counts) = (Arc::new(Semaphore::new(9)), Counts::default());
		let take = |address| seats(&free, &counts, address, 2);
		let first = take("203.0.113.7").unwrap();
		// The same host on a socket for both families.
		let second = take("::ffff:203.0.113.7").unwrap();
		assert!(take("203.0.113.7").is_none());
		let other = take("203.0.113.8").unwrap();
		assert_eq!(free.available_permits(), 6, "a refused connection keeps none");
		drop(first);
		let third = take("203.0.113.7").unwrap();
		assert!(take("203.0.113.7").is_none());
		drop((second, other, third));
		assert_eq!(free.available_permits(), 9);
		assert!(locked(&counts).is_empty());
	}

	#[test]
	fn a_network_of_ipv6_is_one_address_and_loopback_is_exempt() {
		let (free, counts) = (Arc::new(Semaphore::new(9)), Counts::default());
		let take = |address| seats(&free, &counts, address, 1);
		let _one = take("2a00:1:2:3:4::5").unwrap();
		assert!(take("2a00:1:2:3:ffff::1").is_none());
		let _next = take("2a00:1:2:4::5").unwrap();
		let _local = ["127.0.0.1", "127.0.0.1", "::1", "::1", "::ffff:127.0.0.1"]
			.map(|address| take(address).unwrap());
	}
}
