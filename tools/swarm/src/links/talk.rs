//! What peers say to each other over a stream of the transport.
//!
//! A stream begins with the name of the protocol (8 bytes), what it is for (a byte), a peer and a round (u32) and a
//! length (u64), little endian. An update is followed by its bytes, and answered by a byte once all are there. Who
//! wants an update is answered by a length, 0 where it is not there, and the bytes.

use anyhow::{bail, Result};
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Name of the protocol.
const NAME: &[u8; 8] = b"TYOUTER1";
/// Bytes that are written at once.
const PIECE: usize = 64 << 10;
/// What says that all has come.
const TAKEN: u8 = 1;

/// What a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
	/// An update of the peer that is named comes.
	Update,
	/// The update of the peer that is named is wanted.
	Want,
	/// The peer that is named has begun again.
	Hello,
}

/// How a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
	/// What it is for.
	pub kind: Kind,
	/// Of which peer.
	pub peer: u32,
	/// Of which round.
	pub round: u32,
	/// Bytes that come.
	pub bytes: u64,
}

/// Counts what a peer sends of its update. It may be one that is killed in the middle.
#[derive(Debug)]
pub struct Sending {
	sent: AtomicU64,
	dies_at: Option<u64>,
}

impl Sending {
	/// Begins to count; at so many bytes the process is killed, without another word to anybody.
	pub fn new(dies_at: Option<u64>) -> Self {
		Self { sent: AtomicU64::new(0), dies_at }
	}

	/// Returns the bytes that were sent.
	pub fn sent(&self) -> u64 {
		self.sent.load(Ordering::Relaxed)
	}

	fn add(&self, bytes: u64) {
		let sent = self.sent.fetch_add(bytes, Ordering::Relaxed) + bytes;
		if self.dies_at.is_some_and(|dies_at| sent >= dies_at) {
			std::process::abort();
		}
	}
}

/// Writes how a stream begins.
async fn begin(stream: &mut (impl AsyncWrite + Unpin), head: Head) -> Result<()> {
	stream.write_all(NAME).await?;
	stream.write_u8(head.kind as u8).await?;
	stream.write_u32_le(head.peer).await?;
	stream.write_u32_le(head.round).await?;
	stream.write_u64_le(head.bytes).await?;
	Ok(())
}

/// Reads how a stream begins.
pub async fn head(stream: &mut (impl AsyncRead + Unpin)) -> Result<Head> {
	let mut name = [0; 8];
	stream.read_exact(&mut name).await?;
	if name != *NAME {
		bail!("it speaks another protocol");
	}
	let kind = stream.read_u8().await?;
	let known = [Kind::Update, Kind::Want, Kind::Hello].into_iter();
	let Some(kind) = known.into_iter().find(|known| *known as u8 == kind) else {
		bail!("a stream of an unknown kind, {kind}");
	};
	let (peer, round) = (stream.read_u32_le().await?, stream.read_u32_le().await?);
	Ok(Head { kind, peer, round, bytes: stream.read_u64_le().await? })
}

/// Reads exactly so many bytes, `most` at most.
pub async fn bytes(
	stream: &mut (impl AsyncRead + Unpin),
	count: u64,
	most: u64,
) -> Result<Vec<u8>> {
	if count > most {
		bail!("{count} bytes of {most} at most");
	}
	// Memory is taken for what comes, not for what is announced.
	let mut bytes = Vec::new();
	stream.take(count).read_to_end(&mut bytes).await?;
	match bytes.len() as u64 == count {
		true => Ok(bytes),
		false => bail!("{} of {count} bytes came", bytes.len()),
	}
}

/// Sends an update, and returns when all of it is there.
pub async fn send(
	stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
	head: Head,
	update: &[u8],
	sending: &Sending,
) -> Result<()> {
	begin(stream, head).await?;
	for piece in update.chunks(PIECE) {
		stream.write_all(piece).await?;
		sending.add(piece.len() as u64);
	}
	stream.flush().await?;
	taken(stream).await
}

/// Says that a peer has begun again, and returns when that is known.
pub async fn hello(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), peer: u32) -> Result<()> {
	begin(stream, Head { kind: Kind::Hello, peer, round: 0, bytes: 0 }).await?;
	stream.flush().await?;
	taken(stream).await
}

async fn taken(stream: &mut (impl AsyncRead + Unpin)) -> Result<()> {
	match stream.read_u8().await? {
		TAKEN => Ok(()),
		other => bail!("it answers {other}"),
	}
}

/// Says that all has come, and ends the stream.
pub async fn take(stream: &mut (impl AsyncWrite + Unpin)) -> Result<()> {
	stream.write_u8(TAKEN).await?;
	Ok(stream.shutdown().await?)
}

/// Asks for the update of a peer; `None` where it is not there.
pub async fn want(
	stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
	peer: u32,
	round: u32,
	most: u64,
) -> Result<Option<Vec<u8>>> {
	begin(stream, Head { kind: Kind::Want, peer, round, bytes: 0 }).await?;
	stream.flush().await?;
	match stream.read_u64_le().await? {
		0 => Ok(None),
		count => Ok(Some(bytes(stream, count, most).await?)),
	}
}

/// Answers who wants an update, and ends the stream.
pub async fn give(stream: &mut (impl AsyncWrite + Unpin), update: Option<&[u8]>) -> Result<()> {
	let update = update.unwrap_or_default();
	stream.write_u64_le(update.len() as u64).await?;
	stream.write_all(update).await?;
	Ok(stream.shutdown().await?)
}

#[cfg(test)]
mod tests {
	use super::*;

	fn update(bytes: u64) -> Head {
		Head { kind: Kind::Update, peer: 3, round: 9, bytes }
	}

	#[tokio::test]
	async fn updates_come_and_are_given_to_who_wants_them() {
		let said: Vec<u8> = (0..200_000u32).map(|at| at as u8).collect();
		let (mut here, mut there) = tokio::io::duplex(1_000);
		let expected = said.clone();
		let served = tokio::spawn(async move {
			let head = head(&mut there).await.unwrap();
			assert_eq!(head, update(200_000));
			assert_eq!(bytes(&mut there, head.bytes, 200_000).await.unwrap(), expected);
			take(&mut there).await.unwrap();
		});
		let sending = Sending::new(None);
		send(&mut here, update(200_000), &said, &sending).await.unwrap();
		assert_eq!(sending.sent(), 200_000);
		served.await.unwrap();

		for had in [Some(said), None] {
			let (mut here, mut there) = tokio::io::duplex(1_000);
			let given = had.clone();
			let served = tokio::spawn(async move {
				let head = head(&mut there).await.unwrap();
				assert_eq!((head.kind, head.peer, head.round), (Kind::Want, 3, 9));
				give(&mut there, given.as_deref()).await.unwrap();
			});
			assert_eq!(want(&mut here, 3, 9, 200_000).await.unwrap(), had);
			served.await.unwrap();
		}
	}

	#[tokio::test]
	async fn other_bytes_and_too_many_are_refused() {
		for wrong in [&b"TYSWARM1\0aaaaaaaaaaaaaaaa"[..], b"TYOUTER1\x03aaaaaaaaaaaaaaaa", b"TYS"] {
			assert!(head(&mut &wrong[..]).await.is_err());
		}
		assert!(bytes(&mut &[0; 8][..], 9, 8).await.is_err());
		assert!(bytes(&mut &[0; 8][..], 8, 7).await.is_err());
		assert_eq!(bytes(&mut &[0; 8][..], 8, 8).await.unwrap(), [0; 8]);
	}

	#[tokio::test]
	async fn who_breaks_off_has_not_sent() {
		let (mut here, mut there) = tokio::io::duplex(1_000);
		let served = tokio::spawn(async move {
			let head = head(&mut there).await.unwrap();
			assert!(bytes(&mut there, head.bytes, 1_000).await.is_err());
		});
		begin(&mut here, update(100)).await.unwrap();
		here.write_all(&[0; 99]).await.unwrap();
		drop(here);
		served.await.unwrap();
	}
}
