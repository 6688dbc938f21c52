//! What the processes of a crew say to each other.
//!
//! Both sides of a TCP connection send eight bytes, which name this protocol, and 32 drawn ones. From these and
//! the secret of the crew come two keys, one for each direction, and then each side sends messages:
//!
//! ```text
//! length of kind and content, u64 little endian
//! keyed BLAKE3 hash of the number of the message (u64, from 0), the length, kind and content
//! kind, one byte
//! content
//! ```
//!
//! So who does not know the secret is not listened to, and no bit of a sum is changed on the way unseen. Nothing is
//! encrypted: across a network that is not the owner's, the connection belongs into a tunnel.

use codec::{Decode, Encode};
use rand::Rng;
use std::{
	fmt,
	io::{self, Read, Write},
	net::TcpStream,
	time::Duration,
};
use trainyard_engine::raw_bytes;
use trainyard_program::{spec::JobSpec, H256};

/// What a connection begins with.
const MAGIC: [u8; 8] = *b"TYRANKS1";
/// Context of the key of messages to a worker.
const TO_WORKER: &str = "trainyard: messages of a crew to a worker, version 1";
/// Context of the key of messages to the crew.
const TO_CREW: &str = "trainyard: messages of a worker to its crew, version 1";
/// How long a beginning may take.
const GREETING: Duration = Duration::from_secs(10);
/// Bytes before the kind of a message.
const HEAD: usize = 40;
/// Longest message that is neither numbers nor a specification.
pub const SHORT: u64 = 4 << 10;
/// Longest specification.
pub const JOB: u64 = 1 << 20;

/// Says why nothing more can be said on a connection.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
	/// The connection failed.
	#[error("the connection failed: {0}")]
	Io(#[from] io::Error),
	/// It was closed in the middle of a message.
	#[error("the connection was closed in the middle of a message")]
	Closed,
	/// The other side speaks something else.
	#[error("the other side is no crew of trainyard and no worker of one, or of another version")]
	Magic,
	/// A message is not signed by the secret.
	#[error(
		"a message is not what the other side sent: the secrets differ, or it was changed on the way"
	)]
	Forged,
	/// A message is longer than it can be.
	#[error("a message of {bytes} bytes came, where {limit} are the most")]
	Long {
		/// Its length.
		bytes: u64,
		/// The most that is read.
		limit: u64,
	},
	/// A message cannot be understood.
	#[error("a message cannot be understood: {0}")]
	Unknown(&'static str),
	/// The other side says no.
	#[error("the other side says: {0}")]
	Refused(String),
}

/// What all processes of a crew know, and nobody else.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl Secret {
	/// Draws one.
	pub fn draw() -> Self {
		Self(rand::rng().random())
	}

	/// Reads one from its 64 hexadecimal digits.
	pub fn parse(text: &str) -> Option<Self> {
		hex::decode(text.trim()).ok()?.try_into().ok().map(Self)
	}

	/// Returns its hexadecimal digits.
	pub fn to_hex(&self) -> String {
		hex::encode(self.0)
	}
}

/// It is not printed.
impl fmt::Debug for Secret {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str("Secret")
	}
}

/// The kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
	/// A worker: its version.
	Hello = 1,
	/// The crew takes it.
	Welcome,
	/// Either: why not.
	No,
	/// The crew: a [`Job`].
	Job,
	/// The crew: the parameters from here on, by their bytes.
	Parameters,
	/// The crew: a [`Task`], and the bytes of its inputs and its labels.
	Node,
	/// A worker: the bytes of the sum.
	Sum,
}

impl Kind {
	fn of(byte: u8) -> Option<Self> {
		use Kind::*;
		[Hello, Welcome, No, Job, Parameters, Node, Sum]
			.into_iter()
			.find(|kind| *kind as u8 == byte)
	}
}

/// What is trained.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Job {
	/// Its number among those of the crew.
	pub number: u32,
	/// The seed of the training.
	pub seed: H256,
	/// Its virtual ranks.
	pub ranks: u32,
	/// The specification.
	pub spec: JobSpec,
}

/// A node that is to be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Task {
	/// The step.
	pub step: u32,
	/// Level of the node.
	pub level: u32,
	/// Its index there.
	pub index: u32,
}

/// Bytes of a [`Task`].
pub const TASK: usize = 12;

/// A direction of a connection.
struct Half {
	key: [u8; 32],
	count: u64,
}

impl Half {
	/// Returns the hash of the next message.
	fn next<'a>(&mut self, length: u64, parts: impl Iterator<Item = &'a [u8]>) -> blake3::Hash {
		let mut hasher = blake3::Hasher::new_keyed(&self.key);
		hasher.update(&self.count.to_le_bytes()).update(&length.to_le_bytes());
		for part in parts {
			hasher.update(part);
		}
		self.count = self.count.saturating_add(1);
		hasher.finalize()
	}
}

/// A connection on which both sides know the same secret.
pub struct Channel {
	stream: TcpStream,
	sent: Half,
	received: Half,
}

impl Channel {
	/// Begins as the crew: takes a worker that knows the secret and is of the same version.
	pub fn accept(stream: TcpStream, secret: &Secret) -> Result<Self, WireError> {
		let mut channel = Self::begin(stream, secret, true)?;
		let ours = env!("CARGO_PKG_VERSION");
		match channel.receive(SHORT)? {
			Some((Kind::Hello, theirs)) if theirs == ours.as_bytes() => {
				channel.send(Kind::Welcome, &[])?;
				channel.patient(None)?;
				Ok(channel)
			}
			Some((Kind::Hello, theirs)) => {
				let theirs = String::from_utf8_lossy(&theirs).into_owned();
				let why = format!("this crew is of trainyard {ours}, and the worker of {theirs}");
				channel.send(Kind::No, &[why.as_bytes()])?;
				Err(WireError::Refused(why))
			}
			_ => Err(WireError::Unknown("it is no greeting")),
		}
	}

	/// Begins as a worker.
	pub fn connect(stream: TcpStream, secret: &Secret) -> Result<Self, WireError> {
		let mut channel = Self::begin(stream, secret, false)?;
		channel.send(Kind::Hello, &[env!("CARGO_PKG_VERSION").as_bytes()])?;
		match channel.receive(SHORT)? {
			Some((Kind::Welcome, _)) => {
				channel.patient(None)?;
				Ok(channel)
			}
			Some((Kind::No, why)) => {
				Err(WireError::Refused(String::from_utf8_lossy(&why).into_owned()))
			}
			// A crew that does not know this secret closes the connection.
			None => Err(WireError::Refused("nothing; is the secret that of the crew?".into())),
			Some(_) => Err(WireError::Unknown("it is no greeting")),
		}
	}

	fn begin(mut stream: TcpStream, secret: &Secret, is_crew: bool) -> Result<Self, WireError> {
		stream.set_nodelay(true)?;
		stream.set_read_timeout(Some(GREETING))?;
		stream.set_write_timeout(Some(GREETING))?;
		let own: [u8; 32] = rand::rng().random();
		stream.write_all(&[&MAGIC[..], &own].concat())?;
		let (mut magic, mut other) = ([0; 8], [0; 32]);
		stream.read_exact(&mut magic)?;
		if magic != MAGIC {
			return Err(WireError::Magic);
		}
		stream.read_exact(&mut other)?;
		let drawn = if is_crew { [own, other] } else { [other, own] };
		let from = [&secret.0[..], &drawn.concat()].concat();
		let half = |context| Half { key: blake3::derive_key(context, &from), count: 0 };
		let (to_worker, to_crew) = (half(TO_WORKER), half(TO_CREW));
		let (sent, received) = if is_crew { (to_worker, to_crew) } else { (to_crew, to_worker) };
		Ok(Self { stream, sent, received })
	}

	/// Waits for so long at most from now on, for what comes and for what is sent to be taken.
	pub fn patient(&self, time: Option<Duration>) -> Result<(), WireError> {
		self.stream.set_read_timeout(time)?;
		Ok(self.stream.set_write_timeout(time)?)
	}

	/// Sends a message whose content is these parts.
	pub fn send(&mut self, kind: Kind, parts: &[&[u8]]) -> Result<(), WireError> {
		let length = parts.iter().fold(1u64, |sum, part| sum.saturating_add(part.len() as u64));
		let kind = [kind as u8];
		let all = || std::iter::once(&kind[..]).chain(parts.iter().copied());
		let hash = self.sent.next(length, all());
		// One write for what is short.
		let mut head = Vec::with_capacity(HEAD + 1);
		head.extend_from_slice(&length.to_le_bytes());
		head.extend_from_slice(hash.as_bytes());
		head.extend_from_slice(&kind);
		self.stream.write_all(&head)?;
		for part in parts {
			self.stream.write_all(part)?;
		}
		Ok(())
	}

	/// Receives a message of at most so many bytes; `None` where the other side closed the connection after its last
	/// one.
	pub fn receive(&mut self, limit: u64) -> Result<Option<(Kind, Vec<u8>)>, WireError> {
		let mut head = Vec::with_capacity(HEAD);
		(&mut self.stream).take(HEAD as u64).read_to_end(&mut head)?;
		let (length, hash) = match head.split_first_chunk::<8>() {
			None if head.is_empty() => return Ok(None),
			Some((length, hash)) if hash.len() == 32 => (u64::from_le_bytes(*length), hash),
			_ => return Err(WireError::Closed),
		};
		if length > limit {
			return Err(WireError::Long { bytes: length, limit });
		}
		// It grows as bytes come: a length alone takes no memory.
		let mut message = Vec::new();
		(&mut self.stream).take(length).read_to_end(&mut message)?;
		if message.len() as u64 != length {
			return Err(WireError::Closed);
		}
		let expected = self.received.next(length, std::iter::once(&message[..]));
		// This comparison takes the same time wherever they differ.
		if !blake3::Hash::from_slice(hash).is_ok_and(|hash| hash == expected) {
			return Err(WireError::Forged);
		}
		let kind = message.first().copied().and_then(Kind::of);
		let kind = kind.ok_or(WireError::Unknown("it is of no known kind"))?;
		message.drain(..1);
		Ok(Some((kind, message)))
	}

	/// Closes the connection in both directions. What the other side reads next is its end.
	pub fn close(&self) {
		// It may be closed already.
		let _ = self.stream.shutdown(std::net::Shutdown::Both);
	}
}

/// Returns the bytes of labels, little endian.
pub fn label_bytes(labels: &[u32]) -> Vec<u8> {
	labels.iter().flat_map(|label| label.to_le_bytes()).collect()
}

/// Reads labels from their bytes.
pub fn labels(bytes: &[u8]) -> Vec<u32> {
	bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Returns the bytes of numbers, little endian.
pub fn number_bytes(numbers: &[f32]) -> &[u8] {
	raw_bytes(numbers)
}

/// Reads numbers from their bytes.
pub fn numbers(bytes: &[u8]) -> Vec<f32> {
	bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
}
