//! What peers say to each other over a stream of iroh.
//!
//! Whoever connected writes 8 bytes that name the protocol, the length of its question (u32, little endian) and
//! the question in SCALE; the other side answers with a length and an answer. A stream has one question.
//! Models and slices themselves come by `trainyard_transport::download`, under the paths of [`model_path`] and
//! [`slice_path`].

use super::ticket::Signed;
use codec::{Decode, DecodeAll, Encode};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use trainyard_client::AccountId32;
use trainyard_protocol::{federation::PartData, swarm::SwarmId, H256};

/// Name of the protocol.
const NAME: &[u8; 8] = b"TYSWARM1";
/// Longest question or answer.
const MOST: u32 = 64 * 1024;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Question {
	/// Are you there, and what do you have?
	Hello(SwarmId),
	/// May I have the remote model of this ticket?
	Promise(Signed),
	/// What are the roots under the seals of updates to this outer step, and whose contributions are false?
	Updates(SwarmId, u32),
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Answer {
	/// I am there.
	Here {
		/// The roots of models that are served to whoever has a ticket for them.
		models: Vec<H256>,
		/// Slices that are served to everybody.
		slices: Vec<PartData>,
	},
	/// Yes: it is written down.
	Taken,
	/// No.
	Refused(String),
	/// Of a step whose training is over.
	Updates {
		/// Seals of updates, each with the root.
		roots: Vec<(H256, H256)>,
		/// Whose contribution to which of the last steps came to something else when it was computed again.
		false_ones: Vec<(u32, AccountId32)>,
	},
}

/// Returns under what path a model is served to whoever showed the ticket with this digest.
pub fn model_path(swarm: SwarmId, root: &H256, digest: &H256) -> String {
	format!("/swarm/{swarm}/model/{}/{}", hex::encode(root), hex::encode(digest))
}

/// Returns under what path a slice is served.
pub fn slice_path(swarm: SwarmId, hash: &H256) -> String {
	format!("/swarm/{swarm}/slice/{}", hex::encode(hash))
}

/// Returns under what path a file of outer steps is served.
pub fn outer_path(swarm: SwarmId, root: &H256) -> String {
	format!("/swarm/{swarm}/outer/{}", hex::encode(root))
}

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
	/// A model, for a ticket.
	Model(H256, H256),
	/// A slice.
	Slice(H256),
	/// A file of outer steps.
	Outer(H256),
}

/// Reads a path.
pub fn parse(swarm: SwarmId, path: &str) -> Option<Path> {
	let rest = path.strip_prefix(&format!("/swarm/{swarm}/"))?;
	let hash = |text: &str| {
		let mut hash = H256::zero();
		let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
		(is_lower && hex::decode_to_slice(text, &mut hash.0).is_ok()).then_some(hash)
	};
	match rest.split_once('/')? {
		("model", names) => {
			let (root, digest) = names.split_once('/')?;
			Some(Path::Model(hash(root)?, hash(digest)?))
		}
		("slice", name) => Some(Path::Slice(hash(name)?)),
		("outer", name) => Some(Path::Outer(hash(name)?)),
		_ => None,
	}
}

fn invalid(what: impl ToString) -> io::Error {
	io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

async fn write(to: &mut (impl AsyncWrite + Unpin), said: &impl Encode) -> io::Result<()> {
	let bytes = said.encode();
	let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= MOST);
	to.write_u32_le(length.ok_or_else(|| invalid("too much to say at once"))?).await?;
	to.write_all(&bytes).await?;
	to.flush().await
}

async fn read<T: Decode>(from: &mut (impl AsyncRead + Unpin)) -> io::Result<T> {
	let length = from.read_u32_le().await?;
	if length > MOST {
		return Err(invalid("a message is too long"));
	}
	// Memory is taken for what comes, not for what is announced.
	let mut bytes = Vec::new();
	from.take(length.into()).read_to_end(&mut bytes).await?;
	if bytes.len() as u64 != u64::from(length) {
		return Err(io::ErrorKind::UnexpectedEof.into());
	}
	T::decode_all(&mut &bytes[..]).map_err(invalid)
}

/// Asks a question over a stream, and returns the answer.
pub async fn ask(
	stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
	question: &Question,
) -> io::Result<Answer> {
	stream.write_all(NAME).await?;
	write(stream, question).await?;
	read(stream).await
}

/// Reads the question on a stream.
pub async fn question(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Question> {
	let mut name = [0; 8];
	stream.read_exact(&mut name).await?;
	match name == *NAME {
		true => read(stream).await,
		false => Err(invalid("it speaks another protocol")),
	}
}

/// Answers, and ends the stream.
pub async fn answer(stream: &mut (impl AsyncWrite + Unpin), said: &Answer) -> io::Result<()> {
	write(stream, said).await?;
	stream.shutdown().await
}

#[cfg(test)]
mod tests {
	use super::*;

	#[tokio::test]
	async fn questions_and_answers_come_through() {
		let (mut here, mut there) = tokio::io::duplex(1_000);
		let said = Answer::Here { models: vec![H256::repeat_byte(3)], slices: vec![] };
		let other = said.clone();
		let served = tokio::spawn(async move {
			assert_eq!(question(&mut there).await.unwrap(), Question::Hello(7));
			answer(&mut there, &other).await.unwrap();
		});
		assert_eq!(ask(&mut here, &Question::Hello(7)).await.unwrap(), said);
		served.await.unwrap();
	}

	#[tokio::test]
	async fn other_bytes_are_refused_before_memory_is_taken() {
		let of = |bytes: &'static [u8]| async move { question(&mut &bytes[..]).await };
		assert!(of(b"GET / HTTP/1.1\r\n").await.is_err());
		assert!(of(b"TYSWARM1\xff\xff\xff\xff").await.is_err());
		assert!(of(b"TYSWARM1\x05\0\0\0\0\x07\0\0").await.is_err());
		assert!(of(b"TYSWARM1\x05\0\0\0\0\x07\0\0\0").await.is_ok());
		assert!(of(b"TYSWARM1\x06\0\0\0\0\x07\0\0\0\0").await.is_err(), "more than a question");
	}

	#[test]
	fn paths_are_read_as_they_are_written_and_nothing_else_is_one() {
		let (root, digest) = (H256::repeat_byte(0xab), H256::repeat_byte(1));
		let model = model_path(3, &root, &digest);
		assert_eq!(parse(3, &model), Some(Path::Model(root, digest)));
		assert_eq!(parse(3, &slice_path(3, &root)), Some(Path::Slice(root)));
		assert_eq!(parse(4, &model), None);
		for wrong in ["", "/", "/swarm/3/model/../../x", "/swarm/3/slice/", &model.to_uppercase()] {
			assert_eq!(parse(3, wrong), None, "{wrong}");
		}
	}
}
