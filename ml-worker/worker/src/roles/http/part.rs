//! Which bytes of a file a request asks for: `Range` and `If-Range` of HTTP (RFC 9110).
//!
//! One range is answered. A list of ranges, another unit or anything that is no range is passed over, as
//! the standard allows: the answer is the whole file.

use axum::http::{header, HeaderMap};

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
	/// All of it.
	Whole,
	/// From this byte on: `bytes=N-`.
	From(u64),
	/// From the first to the second byte, both included: `bytes=N-M`.
	Within(u64, u64),
	/// So many bytes at the end: `bytes=-N`.
	Last(u64),
}

impl Part {
	/// Returns what these headers ask for, of a file that has this tag, if it has one. Whoever has a part of a
	/// file with another tag (`If-Range`) is sent the whole.
	pub(super) fn asked(headers: &HeaderMap, tag: Option<&str>) -> Self {
		let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
		let Some(range) = text(header::RANGE) else { return Self::Whole };
		match text(header::IF_RANGE) {
			Some(had) if Some(had) != tag => Self::Whole,
			_ => Self::read(range).unwrap_or(Self::Whole),
		}
	}

	/// Reads the value of `Range`; `None` where it is passed over.
	fn read(range: &str) -> Option<Self> {
		let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
		// Not `+5`, which the parser of numbers takes.
		let number = |digits: &str| match digits.bytes().all(|byte| byte.is_ascii_digit()) {
			true => digits.parse::<u64>().ok(),
			false => None,
		};
		match (first, last) {
			("", last) => Some(Self::Last(number(last)?)),
			(first, "") => Some(Self::From(number(first)?)),
			(first, last) => {
				let (first, last) = (number(first)?, number(last)?);
				(first <= last).then_some(Self::Within(first, last))
			}
		}
	}

	/// Returns the place in a file of `size` bytes: the first byte, and the one after the last; `None`
	/// where the file has none of them.
	pub(super) fn place(self, size: u64) -> Option<(u64, u64)> {
		match self {
			// Who has nothing yet asks for an empty file, too.
			Self::Whole | Self::From(0) => Some((0, size)),
			Self::From(first) => (first < size).then_some((first, size)),
			Self::Within(first, last) => {
				(first < size).then_some((first, last.saturating_add(1).min(size)))
			}
			Self::Last(count) => {
				(count.min(size) > 0).then_some((size.saturating_sub(count), size))
			}
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use axum::http::{HeaderName, HeaderValue};

	#[test]
	fn one_range_is_read_and_others_are_passed_over() {
		for (range, part) in [
			("bytes=0-", Part::From(0)),
			("bytes=12-", Part::From(12)),
			("bytes=1-2", Part::Within(1, 2)),
			("bytes=7-7", Part::Within(7, 7)),
			("bytes=-5", Part::Last(5)),
		] {
			assert_eq!(Part::read(range), Some(part), "{range}");
		}
		for other in [
			"",
			"bytes=",
			"bytes=-",
			"items=1-",
			"bytes=1-,5-",
			"bytes=1-2,4-5",
			"bytes=3-2",
			"bytes=+1-",
			"bytes=--1",
			"bytes=99999999999999999999-",
		] {
			assert_eq!(Part::read(other), None, "{other}");
		}
	}

	#[test]
	fn parts_have_their_place() {
		for (part, place) in [
			(Part::Whole, Some((0, 10))),
			(Part::From(4), Some((4, 10))),
			(Part::From(10), None),
			(Part::Within(2, 5), Some((2, 6))),
			(Part::Within(2, u64::MAX), Some((2, 10))),
			(Part::Within(10, 11), None),
			(Part::Last(3), Some((7, 10))),
			(Part::Last(11), Some((0, 10))),
			(Part::Last(0), None),
		] {
			assert_eq!(part.place(10), place, "{part:?}");
		}
		for part in [Part::Whole, Part::From(0)] {
			assert_eq!(part.place(0), Some((0, 0)), "{part:?}");
		}
		for part in [Part::From(1), Part::Within(0, 0), Part::Last(1)] {
			assert_eq!(part.place(0), None, "{part:?}");
		}
	}

	#[test]
	fn a_part_of_another_file_is_not_gone_on_with() {
		let headers = |all: &[(HeaderName, &str)]| -> HeaderMap {
			all.iter()
				.map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
				.collect()
		};
		let range = (header::RANGE, "bytes=4-");
		let had = |tag| headers(&[range.clone(), (header::IF_RANGE, tag)]);
		let tag = Some("\"ab\"");
		assert_eq!(Part::asked(&headers(&[]), tag), Part::Whole);
		assert_eq!(Part::asked(&headers(&[range.clone()]), tag), Part::From(4));
		assert_eq!(Part::asked(&had("\"ab\""), tag), Part::From(4));
		assert_eq!(Part::asked(&had("\"cd\""), tag), Part::Whole);
		assert_eq!(Part::asked(&had("W/\"ab\""), tag), Part::Whole, "a weak tag says too little");
		assert_eq!(Part::asked(&had("\"ab\""), None), Part::Whole);
	}
}
