//! Reads TOML so that every complaint names file, line and field, and says what is allowed. All
//! complaints are collected, so that a person can correct a file in one go. This is why no type
//! here derives `Deserialize`: serde returns at the first error.

use std::{
	cell::RefCell,
	collections::{BTreeMap, BTreeSet},
	fmt,
	ops::{Range, RangeInclusive},
	path::PathBuf,
};
use toml::de::{DeTable, DeValue};
use trainyard_client::amount::{parse_scaled, DecimalError};

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
	/// Line, from 1.
	pub line: usize,
	/// The field, with its sections: `training.batch_size`. Empty if the file is not TOML.
	pub field: String,
	/// What is wrong and what is allowed.
	pub what: String,
	/// The line as it is in the file.
	pub source: String,
}

/// Everything that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
	/// The file.
	pub file: PathBuf,
	/// In order of lines; at least one.
	pub problems: Vec<Problem>,
}

impl fmt::Display for Problems {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		for (i, problem) in self.problems.iter().enumerate() {
			if i > 0 {
				writeln!(f)?;
			}
			write!(f, "{}:{}: ", self.file.display(), problem.line)?;
			if !problem.field.is_empty() {
				write!(f, "{}: ", problem.field)?;
			}
			write!(f, "{}", problem.what)?;
			if !problem.source.is_empty() {
				write!(f, "\n  {:>4} | {}", problem.line, problem.source)?;
			}
		}
		Ok(())
	}
}

impl std::error::Error for Problems {}

/// A document under examination.
pub(super) struct Document<'a> {
	text: &'a str,
	/// The place of every key, by its full name.
	keys: BTreeMap<String, Range<usize>>,
	problems: RefCell<Vec<Problem>>,
}

impl<'a> Document<'a> {
	pub(super) fn new(text: &'a str, root: &DeTable<'a>) -> Self {
		let mut keys = BTreeMap::new();
		collect_keys("", root, &mut keys);
		Self { text, keys, problems: RefCell::default() }
	}

	/// Complains about `field`. If it is not in the file, the line is that of the closest section
	/// that is.
	pub(super) fn complain(&self, field: &str, what: impl Into<String>) {
		let mut name = field;
		let at = loop {
			match (self.keys.get(name), name.rsplit_once('.')) {
				(Some(span), _) => break span.start,
				(None, Some((section, _))) => name = section,
				(None, None) => break 0,
			}
		};
		self.problems.borrow_mut().push(problem_at(self.text, at, field, what.into()));
	}

	pub(super) fn has(&self, field: &str) -> bool {
		self.keys.contains_key(field)
	}

	/// Fails if there was a complaint.
	pub(super) fn finish(&self, file: PathBuf) -> Result<(), Problems> {
		let mut problems = self.problems.borrow().clone();
		problems.sort_by_key(|p| p.line);
		match problems.is_empty() {
			true => Ok(()),
			false => Err(Problems { file, problems }),
		}
	}
}

/// Makes a problem at byte `at` of `text`.
pub(super) fn problem_at(text: &str, at: usize, field: &str, what: String) -> Problem {
	let before = text.get(..at).unwrap_or(text);
	let line = before.matches('\n').count() + 1;
	let source = text.lines().nth(line - 1).unwrap_or_default().trim_end().to_owned();
	Problem { line, field: field.to_owned(), what, source }
}

fn collect_keys(section: &str, table: &DeTable<'_>, keys: &mut BTreeMap<String, Range<usize>>) {
	for (key, value) in table.iter() {
		let name = join(section, key.get_ref());
		if let Some(inner) = value.get_ref().as_table() {
			collect_keys(&name, inner, keys);
		}
		keys.insert(name, key.span());
	}
}

fn join(section: &str, key: &str) -> String {
	match section {
		"" => key.to_owned(),
		section => format!("{section}.{key}"),
	}
}

/// A section of a document, of which some fields are known.
pub(super) struct Section<'d, 'a> {
	document: &'d Document<'a>,
	path: String,
	table: Option<&'d DeTable<'a>>,
	known: RefCell<BTreeSet<&'static str>>,
}

impl<'d, 'a> Section<'d, 'a> {
	/// Returns the whole document as a section.
	pub(super) fn root(document: &'d Document<'a>, table: &'d DeTable<'a>) -> Self {
		Self { document, path: String::new(), table: Some(table), known: RefCell::default() }
	}

	/// Returns the full name of a field.
	pub(super) fn name(&self, key: &str) -> String {
		join(&self.path, key)
	}

	/// Complains about a field of this section.
	pub(super) fn complain(&self, key: &str, what: impl Into<String>) {
		self.document.complain(&self.name(key), what);
	}

	/// Returns whether the field is in the file.
	pub(super) fn has(&self, key: &'static str) -> bool {
		self.value(key).is_some()
	}

	/// Returns whether the section is in the file.
	pub(super) fn exists(&self) -> bool {
		self.table.is_some()
	}

	fn value(&self, key: &'static str) -> Option<&'d DeValue<'a>> {
		self.known.borrow_mut().insert(key);
		self.table?.iter().find(|(k, _)| k.get_ref() == key).map(|(_, v)| v.get_ref())
	}

	/// Returns a section inside this one.
	pub(super) fn section(&self, key: &'static str) -> Section<'d, 'a> {
		let table = self.value(key).and_then(|value| {
			let table = value.as_table();
			if table.is_none() {
				self.mistyped(key, value, &format!("a section: [{}]", self.name(key)));
			}
			table
		});
		let path = self.name(key);
		Section { document: self.document, path, table, known: RefCell::default() }
	}

	fn mistyped(&self, key: &str, value: &DeValue<'_>, allowed: &str) {
		self.complain(key, format!("it is {}; allowed: {allowed}", describe(value)));
	}

	/// Complains if a required field is missing.
	pub(super) fn require(&self, key: &'static str, allowed: &str) {
		if !self.has(key) {
			let example = format!("the field is missing; allowed: {allowed}");
			self.complain(key, example);
		}
	}

	/// Reads a piece of text.
	pub(super) fn text(&self, key: &'static str, allowed: &str) -> Option<&'d str> {
		let value = self.value(key)?;
		let text = value.as_str();
		if text.is_none() {
			self.mistyped(key, value, allowed);
		}
		text
	}

	/// Reads one of some words.
	pub(super) fn choice<T: Copy>(&self, key: &'static str, words: &[(&str, T)]) -> Option<T> {
		let allowed: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
		let word = self.text(key, &allowed.join(" or "))?;
		let found = words.iter().find(|(w, _)| *w == word).map(|(_, value)| *value);
		if found.is_none() {
			let hint = closest(word, words.iter().map(|(w, _)| *w));
			self.complain(
				key,
				format!("{word:?} is not known{hint}; allowed: {}", allowed.join(" or ")),
			);
		}
		found
	}

	/// Reads a whole number in a range.
	pub(super) fn integer(&self, key: &'static str, range: RangeInclusive<u64>) -> Option<u64> {
		let value = self.value(key)?;
		let number = integer_of(value).filter(|n| range.contains(n));
		if number.is_none() {
			self.mistyped(key, value, &whole_numbers(&range));
		}
		number
	}

	/// Reads a list of whole numbers in a range, at most `most` of them.
	pub(super) fn integers(
		&self,
		key: &'static str,
		range: RangeInclusive<u64>,
		most: usize,
	) -> Option<Vec<u64>> {
		let allowed = format!("a list of at most {most} numbers, each {}", whole_numbers(&range));
		let value = self.value(key)?;
		let Some(list) = value.as_array() else {
			self.mistyped(key, value, &allowed);
			return None;
		};
		if list.len() > most {
			self.complain(key, format!("it has {} entries; allowed: {allowed}", list.len()));
			return None;
		}
		let mut numbers = Vec::new();
		for entry in list.iter() {
			match integer_of(entry.get_ref()).filter(|n| range.contains(n)) {
				Some(n) => numbers.push(n),
				None => {
					let what = describe(entry.get_ref());
					self.complain(key, format!("one entry is {what}; allowed: {allowed}"));
					return None;
				}
			}
		}
		Some(numbers)
	}

	/// Reads the entries of a list, at most `most` of them.
	pub(super) fn list(
		&self,
		key: &'static str,
		most: usize,
		allowed: &str,
	) -> Option<Vec<&'d DeValue<'a>>> {
		let value = self.value(key)?;
		let Some(list) = value.as_array() else {
			self.mistyped(key, value, allowed);
			return None;
		};
		if list.len() > most {
			self.complain(key, format!("it has {} entries; allowed: {allowed}", list.len()));
			return None;
		}
		Some(list.iter().map(|entry| entry.get_ref()).collect())
	}

	/// Reads a list of texts, at most `most` of them.
	pub(super) fn texts(
		&self,
		key: &'static str,
		most: usize,
		allowed: &str,
	) -> Option<Vec<&'d str>> {
		let value = self.value(key)?;
		let Some(list) = value.as_array() else {
			self.mistyped(key, value, allowed);
			return None;
		};
		if list.len() > most {
			self.complain(key, format!("it has {} entries; allowed: {allowed}", list.len()));
			return None;
		}
		let mut texts = Vec::new();
		for entry in list.iter() {
			let Some(text) = entry.get_ref().as_str() else {
				let what = describe(entry.get_ref());
				self.complain(key, format!("one entry is {what}; allowed: {allowed}"));
				return None;
			};
			texts.push(text);
		}
		Some(texts)
	}

	/// Reads yes or no.
	pub(super) fn boolean(&self, key: &'static str) -> Option<bool> {
		let value = self.value(key)?;
		let found = value.as_bool();
		if found.is_none() {
			self.mistyped(key, value, "true or false");
		}
		found
	}

	/// Reads a decimal number, written as number or text, times `10^decimals`.
	pub(super) fn decimal(
		&self,
		key: &'static str,
		decimals: u32,
		range: RangeInclusive<u128>,
		suffix: &str,
		allowed: &str,
	) -> Option<u128> {
		let value = self.value(key)?;
		let parsed = match value {
			DeValue::Integer(n) if n.radix() == 10 => parse_scaled(n.as_str(), decimals),
			DeValue::Float(x) => parse_scaled(x.as_str(), decimals),
			DeValue::String(s) => {
				parse_scaled(s.trim().trim_end_matches(suffix).trim_end(), decimals)
			}
			_ => Err(DecimalError::Malformed),
		};
		match parsed {
			Ok(n) if range.contains(&n) => Some(n),
			Ok(_) => {
				self.mistyped(key, value, allowed);
				None
			}
			Err(why) => {
				self.complain(
					key,
					format!("it is {}, which is {why}; allowed: {allowed}", describe(value)),
				);
				None
			}
		}
	}

	/// Reads a number that is given either as a decimal (`key`) or as a count of 10^-9
	/// (`nano_key`).
	pub(super) fn nano(
		&self,
		key: &'static str,
		nano_key: &'static str,
		range: RangeInclusive<u64>,
	) -> Option<u64> {
		let allowed = nano_range(&range);
		if self.has(key) && self.has(nano_key) {
			self.complain(
				nano_key,
				format!("{key} is given as well; give one of the two, they mean the same"),
			);
			return None;
		}
		if self.has(nano_key) {
			return self.integer(nano_key, range);
		}
		let range = u128::from(*range.start())..=u128::from(*range.end());
		self.decimal(key, 9, range, "", &allowed).and_then(|n| u64::try_from(n).ok())
	}

	/// Complains about every field that was not asked for.
	pub(super) fn finish(&self) {
		let known = self.known.borrow();
		for (key, _) in self.table.into_iter().flat_map(|table| table.iter()) {
			let key: &str = key.get_ref();
			if !known.contains(key) {
				let hint = closest(key, known.iter().copied());
				let all: Vec<&str> = known.iter().copied().collect();
				let place = match self.path.as_str() {
					"" => "the file".to_owned(),
					path => format!("[{path}]"),
				};
				let what = format!("no such field{hint}; {place} may have: {}", all.join(", "));
				self.complain(key, what);
			}
		}
	}
}

/// Writes what a range of counts of 10^-9 allows, as decimals.
pub(super) fn nano_range(range: &RangeInclusive<u64>) -> String {
	let decimal = |n: &u64| trainyard_client::amount::format_scaled(u128::from(*n), 9);
	format!(
		"a number from {} to {} with at most 9 decimals",
		decimal(range.start()),
		decimal(range.end())
	)
}

fn whole_numbers(range: &RangeInclusive<u64>) -> String {
	match *range.end() {
		u64::MAX => format!("a whole number, at least {}", range.start()),
		end => format!("a whole number from {} to {end}", range.start()),
	}
}

fn integer_of(value: &DeValue<'_>) -> Option<u64> {
	let integer = value.as_integer()?;
	u64::from_str_radix(integer.as_str().trim_start_matches('+'), integer.radix()).ok()
}

/// Describes a value as it is named in a complaint.
fn describe(value: &DeValue<'_>) -> String {
	match value {
		DeValue::String(s) if s.len() <= 80 => format!("the text {s:?}"),
		DeValue::String(_) => "a long text".to_owned(),
		DeValue::Integer(n) => n.to_string(),
		DeValue::Float(x) => x.to_string(),
		DeValue::Boolean(b) => b.to_string(),
		DeValue::Datetime(_) => "a date".to_owned(),
		DeValue::Array(_) => "a list".to_owned(),
		DeValue::Table(_) => "a section".to_owned(),
	}
}

/// Returns `; did you mean …?` if a known word is close to `word`, otherwise nothing.
fn closest<'w>(word: &str, known: impl Iterator<Item = &'w str>) -> String {
	known
		.map(|k| (distance(word, k), k))
		.filter(|(d, k)| *d <= 2.max(k.len() / 3))
		.min()
		.map(|(_, k)| format!("; did you mean {k}?"))
		.unwrap_or_default()
}

/// Returns the edit distance (Levenshtein 1966) over bytes.
fn distance(a: &str, b: &str) -> usize {
	let mut row: Vec<usize> = (0..=b.len()).collect();
	for (i, x) in a.bytes().enumerate() {
		let mut diagonal = i;
		row[0] = i + 1;
		for (j, y) in b.bytes().enumerate() {
			let cost = diagonal + usize::from(x != y);
			diagonal = row[j + 1];
			row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
		}
	}
	row[b.len()]
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn distances() {
		assert_eq!(distance("batch_sise", "batch_size"), 1);
		assert_eq!(distance("", "abc"), 3);
		assert_eq!(distance("kitten", "sitting"), 3);
		assert_eq!(
			closest("lerning_rate", ["steps", "learning_rate"].into_iter()),
			"; did you mean learning_rate?"
		);
		assert_eq!(closest("zzzz", ["steps", "learning_rate"].into_iter()), "");
	}
}
