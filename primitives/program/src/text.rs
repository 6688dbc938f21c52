//! Short UTF-8 text on chain: URLs, names of hardware.

use alloc::{string::String, vec::Vec};
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::fmt::{self, Write};
use scale_info::TypeInfo;

/// Longest [`Text`], in bytes.
pub const MAX_TEXT: u32 = 256;

/// How locations of servers begin: HTTP, and endpoints of iroh.
const SERVERS: &[&str] = &["http://", "https://", "iroh://"];
/// How locations of files in stores begin: buckets of S3's kind, of Google's, and repositories of the hub
/// of Hugging Face.
const STORES: &[&str] = &["s3://", "gs://", "hf://"];

/// At most [`MAX_TEXT`] bytes of text, meant as UTF-8. Nothing on chain depends on it being valid;
/// readers decode it lossily.
#[derive(
	Clone,
	Default,
	PartialEq,
	Eq,
	PartialOrd,
	Ord,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Text(pub BoundedVec<u8, ConstU32<MAX_TEXT>>);

impl Text {
	/// Returns the text of `s`, or `None` when it is longer than [`MAX_TEXT`] bytes.
	pub fn new(s: &str) -> Option<Self> {
		BoundedVec::try_from(Vec::from(s.as_bytes())).ok().map(Self)
	}

	/// Returns the text as it was written, for programs that act on it: a URL that is fetched. Bytes
	/// that are not UTF-8 read as U+FFFD. A person is shown the text itself, which is [`Escaped`].
	pub fn to_string_lossy(&self) -> String {
		String::from_utf8_lossy(&self.0).into_owned()
	}

	/// Returns whether it is a location from which a file can be fetched, as far as a chain needs to know: in
	/// UTF-8, it is that of a [server](Self::is_server), or begins with `s3://`, `gs://` or `hf://`, and
	/// something follows.
	pub fn is_location(&self) -> bool {
		self.is_server() || self.begins_with_one_of(STORES)
	}

	/// Returns whether it is a location at which a worker can serve, to which paths are added: in UTF-8, it
	/// begins with `http://`, `https://` or `iroh://`, and something follows.
	pub fn is_server(&self) -> bool {
		self.begins_with_one_of(SERVERS)
	}

	fn begins_with_one_of(&self, beginnings: &[&str]) -> bool {
		let location = core::str::from_utf8(&self.0).unwrap_or_default();
		let rest = beginnings.iter().find_map(|begin| location.strip_prefix(begin));
		rest.is_some_and(|rest| !rest.is_empty())
	}

	/// Returns whether there is no text.
	pub fn is_empty(&self) -> bool {
		self.0.is_empty()
	}
}

impl fmt::Debug for Text {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_char('"')?;
		for c in self.to_string_lossy().chars() {
			match c {
				'\'' => f.write_char(c)?,
				c if acts(c) => write!(f, "{}", c.escape_unicode())?,
				c => write!(f, "{}", c.escape_debug())?,
			}
		}
		f.write_char('"')
	}
}

impl fmt::Display for Text {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		Escaped(&self.to_string_lossy()).fmt(f)
	}
}

/// Text of a stranger as a terminal or a log may show it: what would act there, or hide, is written
/// as `\u{1b}`. So no text clears a screen, forges a line, or reads in another order than it has.
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		for c in self.0.chars() {
			match acts(c) {
				true => write!(f, "{}", c.escape_unicode())?,
				false => f.write_char(c)?,
			}
		}
		Ok(())
	}
}

/// Returns whether a character acts on a terminal or cannot be seen: control characters, ends of
/// lines and paragraphs, marks of direction, and characters without width.
pub fn acts(c: char) -> bool {
	c.is_control()
		|| matches!(
			c,
			'\u{ad}'
				| '\u{34f}' | '\u{61c}'
				| '\u{115f}'..='\u{1160}'
				| '\u{17b4}'..='\u{17b5}'
				| '\u{180b}'..='\u{180f}'
				| '\u{200b}'..='\u{200f}'
				| '\u{2028}'..='\u{202e}'
				| '\u{2060}'..='\u{206f}'
				| '\u{3164}' | '\u{feff}'
				| '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
				| '\u{e0000}'..='\u{e0fff}'
		)
}

impl serde::Serialize for Text {
	fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
		s.serialize_str(&self.to_string_lossy())
	}
}

impl<'de> serde::Deserialize<'de> for Text {
	fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
		let s = String::deserialize(d)?;
		Text::new(&s).ok_or_else(|| {
			serde::de::Error::custom(alloc::format!(
				"text of {} bytes; at most {MAX_TEXT} are allowed",
				s.len()
			))
		})
	}
}

/// Serde of a `u128` as a decimal string: JSON numbers lose digits above 2^53.
pub mod decimal {
	use super::String;
	use serde::{de::Error, Deserialize, Deserializer, Serializer};

	/// Writes `n` as a string.
	pub fn serialize<S: Serializer>(n: &u128, s: S) -> Result<S::Ok, S::Error> {
		s.collect_str(n)
	}

	/// Reads a string of digits.
	pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<u128, D::Error> {
		String::deserialize(d)?.parse().map_err(D::Error::custom)
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use alloc::{format, string::ToString};

	#[test]
	fn files_have_more_places_than_servers() {
		let of = |text: &str| {
			let text = Text::new(text).unwrap();
			(text.is_location(), text.is_server())
		};
		for both in ["http://a", "https://a/b", "iroh://0123"] {
			assert_eq!(of(both), (true, true), "{both}");
		}
		for file in ["s3://bucket/key", "gs://bucket/key", "hf://datasets/a/b@c/d", "s3://?"] {
			assert_eq!(of(file), (true, false), "{file}");
		}
		for none in
			["", "s3://", "gs://", "hf://", "http://", "s3:/a", "S3://a/b", "chain:", "file:///a"]
		{
			assert_eq!(of(none), (false, false), "{none}");
		}
		let broken = Text(Vec::from(&b"s3://\xff"[..]).try_into().unwrap());
		assert!(!broken.is_location());
	}

	#[test]
	fn no_text_acts_on_what_shows_it() {
		for (written, shown) in [
			("http://\x1b[2J\njob 12: accepted", "http://\\u{1b}[2J\\u{a}job 12: accepted"),
			("a\r\tb\u{7f}\0", "a\\u{d}\\u{9}b\\u{7f}\\u{0}"),
			("\u{9b}31m\u{85}", "\\u{9b}31m\\u{85}"),
			("pay \u{202e}001\u{2069}\u{200f}", "pay \\u{202e}001\\u{2069}\\u{200f}"),
			("x\u{2028}y\u{200b}\u{feff}\u{e0041}", "x\\u{2028}y\\u{200b}\\u{feff}\\u{e0041}"),
		] {
			let text = Text::new(written).unwrap();
			assert_eq!(text.to_string(), shown);
			for shown in [text.to_string(), format!("{text:?}")] {
				assert!(!shown.chars().any(acts), "{shown:?}");
			}
			assert_eq!(text.to_string_lossy(), written, "what is acted on is not changed");
		}
		let hidden = Text::new("a\u{34f}\u{3164}\u{ffa0}'b").unwrap();
		assert_eq!(format!("{hidden:?}"), "\"a\\u{34f}\\u{3164}\\u{ffa0}'b\"");
		let good = "https://example.org/Größe/数据?x=1&y=\u{1f642} it's \"fine\"";
		assert_eq!(Text::new(good).unwrap().to_string(), good);
		let broken = Text(Vec::from(&b"a\xff\x1bb"[..]).try_into().unwrap());
		assert_eq!(broken.to_string(), "a\u{fffd}\\u{1b}b");
	}
}
