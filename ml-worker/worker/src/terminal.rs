//! Writes what may hold a stranger's text so that it does nothing on a terminal or in a log.
//!
//! A text of the chain escapes itself where it is shown; errors, URLs and names of files that were
//! made of one do not remember whose it was. So everything is escaped once more where it leaves.

use serde::Serialize;
use std::fmt::Write;
use trainyard_program::text::{acts, Escaped};

/// Returns one line of text.
pub fn line(text: &str) -> String {
	Escaped(text).to_string()
}

/// Returns text of several lines, which may be indented by tabs.
pub fn lines(text: &str) -> String {
	text.split_inclusive(['\n', '\t']).fold(String::new(), |mut out, part| {
		let end = part.len() - usize::from(part.ends_with(['\n', '\t']));
		let (part, end) = part.split_at(end);
		let _ = write!(out, "{}{end}", Escaped(part));
		out
	})
}

/// Returns JSON that means the same and has every such character as `\u202e`; in JSON they can only
/// stand in strings. The ends of its own lines stay.
pub fn json(json: &str) -> String {
	let mut out = String::with_capacity(json.len());
	for c in json.chars() {
		if c != '\n' && acts(c) {
			for unit in c.encode_utf16(&mut [0; 2]) {
				let _ = write!(out, "\\u{unit:04x}");
			}
		} else {
			out.push(c);
		}
	}
	out
}

/// Returns a value as JSON in several lines, as [`json`] writes it.
pub fn pretty(value: &impl Serialize) -> serde_json::Result<String> {
	Ok(json(&serde_json::to_string_pretty(value)?))
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::Text;

	#[test]
	fn json_means_the_same_and_does_nothing() {
		let text = "\x1b[2J\njob 12: paid \u{9b}\u{202e}\u{e0041}\u{7f} \"Größe\\";
		let value = serde_json::json!({ "location": Text::new(text), "n": [1, 2] });
		let [one, many] = [json(&value.to_string()), pretty(&value).unwrap()];
		assert!(!one.chars().any(acts), "{one}");
		assert!(!many.lines().any(|line| line.chars().any(acts)), "{many}");
		for shown in [one, many] {
			assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
			assert!(shown.contains("Größe"));
		}
	}

	#[test]
	fn lines_stay_lines_and_nothing_else() {
		assert_eq!(lines("a:\n\tb\x1b[1m\r"), "a:\n\tb\\u{1b}[1m\\u{d}");
		assert_eq!(line("a\nb"), "a\\u{a}b");
	}
}
