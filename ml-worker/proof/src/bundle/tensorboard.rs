//! Event files of TensorBoard: records in TensorFlow's framing (TFRecord), each a protocol
//! buffer `tensorflow.Event`. Of the messages in tensorflow/core/util/event.proto and
//! tensorflow/core/framework/summary.proto only the fields that a scalar needs are here.

use super::points::Point;
use crc::{Crc, CRC_32_ISCSI};
use prost::Message;

/// What the first event of a file says: the version of the format.
const FILE_VERSION: &str = "brain.Event:2";

const CRC32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);

#[derive(Clone, PartialEq, Message)]
struct Event {
	/// Seconds since 1970. Always 0 here: the files hold no times, so that they do not
	/// depend on when a run was interrupted.
	#[prost(double, tag = "1")]
	wall_time: f64,
	#[prost(int64, tag = "2")]
	step: i64,
	/// An event has either this or a summary.
	#[prost(string, optional, tag = "3")]
	file_version: Option<String>,
	#[prost(message, optional, tag = "5")]
	summary: Option<Summary>,
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
	#[prost(message, repeated, tag = "1")]
	value: Vec<Value>,
}

#[derive(Clone, PartialEq, Message)]
struct Value {
	#[prost(string, tag = "1")]
	tag: String,
	/// Optional, so that a zero is written too.
	#[prost(float, optional, tag = "2")]
	simple_value: Option<f32>,
}

/// Returns the bytes with which a file begins.
pub(super) fn head() -> Vec<u8> {
	frame(&Event { file_version: Some(FILE_VERSION.into()), ..Event::default() }.encode_to_vec())
}

/// Returns the event of a step. The part of a tag before the slash groups charts.
pub(super) fn event(point: &Point) -> Vec<u8> {
	let value = [
		("loss/training", point.loss),
		("learning_rate", point.learning_rate),
		("loss/validation", point.validation_loss),
		("accuracy/validation", point.validation_accuracy),
		("gradient_norm", point.gradient_norm),
	]
	.into_iter()
	.filter(|(_, value)| value.is_some())
	.map(|(tag, simple_value)| Value { tag: tag.into(), simple_value })
	.collect();
	let event =
		Event { step: point.step.into(), summary: Some(Summary { value }), ..Event::default() };
	frame(&event.encode_to_vec())
}

/// Returns a record: length, its checksum, content, its checksum; little endian.
fn frame(content: &[u8]) -> Vec<u8> {
	let length = (content.len() as u64).to_le_bytes();
	let parts = [&length[..], &masked(&length), content, &masked(content)];
	parts.concat()
}

/// CRC-32C as TFRecord stores it: rotated and shifted, so that the checksum of bytes which
/// hold checksums stays a good one.
fn masked(bytes: &[u8]) -> [u8; 4] {
	CRC32C.checksum(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

/// Returns the steps of a whole event file, each with its tags and values. Panics if anything is
/// wrong with it.
#[cfg(test)]
pub(super) fn read(mut bytes: &[u8]) -> Vec<(i64, Vec<(String, f32)>)> {
	let mut events = Vec::new();
	while !bytes.is_empty() {
		let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
		assert_eq!(bytes[8..12], masked(&bytes[..8]), "checksum of a length");
		let (content, rest) = bytes[12..].split_at(length);
		assert_eq!(rest[..4], masked(content), "checksum of an event");
		events.push(Event::decode(content).unwrap());
		bytes = &rest[4..];
	}
	let first = events.remove(0);
	assert_eq!(first.file_version.as_deref(), Some(FILE_VERSION));
	events
		.into_iter()
		.map(|event| {
			let values = event.summary.unwrap().value;
			(event.step, values.into_iter().map(|v| (v.tag, v.simple_value.unwrap())).collect())
		})
		.collect()
}

#[cfg(test)]
mod tests {
	use super::*;

	/// Written by the Python package tensorboard 2.21: its `event_pb2.Event` of the same fields
	/// through its `RecordWriter`.
	const HEAD: &str = "0f000000000000006d532b091a0d627261696e2e4576656e743a32fc985129";
	const EVENT: &str =
		"3700000000000000e7e8ca5910ac022a320a140a0d6c6f73732f747261696e696e67150000\
		00000a1a0a1361636375726163792f76616c69646174696f6e150000403f5c68bbb1";

	#[test]
	fn records_are_tensorboards() {
		assert_eq!(hex::encode(head()), HEAD);
		let point = Point {
			step: 300,
			loss: Some(0.0),
			learning_rate: None,
			validation_loss: None,
			validation_accuracy: Some(0.75),
			gradient_norm: None,
		};
		assert_eq!(hex::encode(event(&point)), EVENT);
	}

	/// The check value of the catalogue of CRCs, and RFC 3720, B.4.
	#[test]
	fn the_checksum_is_castagnolis() {
		assert_eq!(CRC32C.checksum(b"123456789"), 0xe306_9283);
		assert_eq!(CRC32C.checksum(&[0; 32]), 0x8a91_36aa);
	}
}
