//! A section that names a file by content: `path`, `content_hash`, `bytes`, `location`.

use super::{hash_of, location_of, reader::Section, NO_LOCATION};
use crate::hash;
use std::{
	fmt::Write,
	path::{Path, PathBuf},
};
use trainyard_primitives::{
	spec::{FileRef, MAX_DATASET_BYTES},
	Text,
};

/// The file that the section names, and where it lies here. With a local file hash and length
/// are known; what is said of them must agree. Without one all must be said.
pub(super) fn read(section: &Section<'_, '_>, job: &Path) -> Option<(FileRef, Option<PathBuf>)> {
	let content_hash = hash_of(section, "content_hash");
	let bytes = section.integer("bytes", 1..=MAX_DATASET_BYTES);
	let location = location_of(section);
	let path = section.text("path", "the path of a file, relative to this one");
	let path = path.map(|path| job.parent().unwrap_or(Path::new("")).join(path));
	section.finish();
	let Some(path) = path else {
		let why = "it may only be left out where path names a local file";
		section.require("location", &format!("an http:// or https:// URL; {why}"));
		section.require("content_hash", &format!("64 hexadecimal digits; {why}"));
		section.require("bytes", &format!("a whole number; {why}"));
		let file = FileRef { content_hash: content_hash?, bytes: bytes?, location: location? };
		return Some((file, None));
	};
	let (found, length) = match hash::file(&path) {
		Ok(found) => found,
		Err(error) => {
			section.complain("path", format!("cannot read {}: {error}", path.display()));
			return None;
		}
	};
	if let Some(said) = content_hash.filter(|said| *said != found) {
		section.complain(
			"content_hash",
			format!(
				"it is {said:?}, but the file at {} has {found:?}; use the file that is meant, or \
				 leave content_hash out",
				section.name("path")
			),
		);
	}
	if let Some(said) = bytes.filter(|said| *said != length) {
		let path = section.name("path");
		section.complain("bytes", format!("it is {said}, but the file at {path} has {length}"));
	}
	let location = location.or_else(|| Text::new(NO_LOCATION)).unwrap_or_default();
	Some((FileRef { content_hash: found, bytes: length, location }, Some(path)))
}

/// The fields of the file, below the section's head.
pub(super) fn write(out: &mut String, file: &FileRef, path: Option<&Path>) {
	let quoted = |text: &str| toml::Value::from(text).to_string();
	// Writing to a String cannot fail.
	if let Some(path) = path {
		let _ = writeln!(out, "path = {}", quoted(&path.to_string_lossy()));
	}
	if is_given(&file.location) {
		let _ = writeln!(out, "location = {}", quoted(&file.location.to_string_lossy()));
	}
	let _ = writeln!(out, "content_hash = \"{:?}\"\nbytes = {}", file.content_hash, file.bytes);
}

/// Whether a location is one, and not the stand-in of a file that names none.
pub(super) fn is_given(location: &Text) -> bool {
	location.to_string_lossy() != NO_LOCATION
}
