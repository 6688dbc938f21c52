//! A section that names a file by content: `path`, `content_hash`, `bytes`, `location`.

use super::{hash_of, reader::Section, NO_LOCATION};
use crate::roles::fetch::{NotAPlace, Place, MAY_MOVE};
use primitive_types::H256;
use std::{
	fmt::Write,
	path::{Path, PathBuf},
};
use tracing::warn;
use trainyard_program::{
	spec::{FileRef, MAX_DATASET_BYTES},
	text::MAX_TEXT,
	Text,
};
use trainyard_proof::hash;

/// Why a field may not be left out.
pub(super) const WHY: &str = "it may only be left out where path names a local file";

/// What a location is.
const LOCATIONS: &str = "an http://, https://, iroh://, s3://, gs:// or hf:// URL";

/// How to come by a hash of what a file holds.
pub(super) const COMPUTED: &str =
	"trainyard estimate JOB.toml prints them where path names the file";

/// What a section says of a file.
pub(super) struct File {
	pub path: Option<PathBuf>,
	location: Option<Text>,
	content_hash: Option<H256>,
	bytes: Option<u64>,
}

impl File {
	pub(super) fn read(section: &Section<'_, '_>, job: &Path) -> Self {
		let content_hash = hash_of(section, "content_hash", "trainyard hash FILE prints them");
		let bytes = section.integer("bytes", 1..=MAX_DATASET_BYTES);
		let location = location_of(section);
		let path = section.text("path", "the path of a file, relative to this one");
		let path = path.map(|path| job.parent().unwrap_or(Path::new("")).join(path));
		Self { path, location, content_hash, bytes }
	}

	/// Complains about what is missing if the file is not at hand.
	pub(super) fn require(&self, section: &Section<'_, '_>) {
		section.require("location", &format!("{LOCATIONS}; {WHY}"));
		section.require("content_hash", &format!("64 hexadecimal digits; {WHY}"));
		section.require("bytes", &format!("a whole number; {WHY}"));
	}

	/// Returns the file, with what was found at its path.
	pub(super) fn resolve(
		self,
		section: &Section<'_, '_>,
		found: Option<(H256, u64)>,
	) -> Option<FileRef> {
		if let (Some(said), Some((found, _))) = (self.content_hash, found) {
			if said != found {
				section.complain(
					"content_hash",
					format!(
						"it is {said:?}, but the file at {} has {found:?}; use the file that is \
						 meant, or leave content_hash out",
						section.name("path")
					),
				);
			}
		}
		Some(FileRef {
			content_hash: self.content_hash.or(found.map(|(hash, _)| hash))?,
			bytes: agree(section, "bytes", self.bytes, found.map(|(_, bytes)| bytes))?,
			location: match (self.location, found) {
				(Some(location), _) => location,
				(None, Some(_)) => Text::new(NO_LOCATION).unwrap_or_default(),
				(None, None) => return None,
			},
		})
	}
}

/// Returns what the section says, or else what was found in the file; both must agree.
pub(super) fn agree(
	section: &Section<'_, '_>,
	key: &'static str,
	said: Option<u64>,
	found: Option<u64>,
) -> Option<u64> {
	match (said, found) {
		(Some(said), Some(found)) if said != found => {
			let path = section.name("path");
			section.complain(key, format!("it is {said}, but the file at {path} has {found}"));
			None
		}
		(said, found) => said.or(found),
	}
}

/// Returns what the section says, or else what was computed from the file; both must agree.
pub(super) fn agree_on_hash(
	section: &Section<'_, '_>,
	key: &'static str,
	said: Option<H256>,
	found: Option<H256>,
) -> Option<H256> {
	match (said, found) {
		(Some(said), Some(found)) if said != found => {
			let path = section.name("path");
			section.complain(
				key,
				format!(
					"it is {said:?}, but what the file at {path} holds has {found:?}; use the file \
					 that is meant, or leave {key} out"
				),
			);
			None
		}
		(said, found) => said.or(found),
	}
}

fn location_of(section: &Section<'_, '_>) -> Option<Text> {
	let text = Text::new(section.text("location", LOCATIONS)?);
	let Some(text) = text else {
		section.complain("location", format!("longer than {MAX_TEXT} bytes"));
		return None;
	};
	match Place::parse(&text.to_string_lossy()) {
		Some(Ok(place)) if place.may_move() => warn!("{}: {MAY_MOVE}", section.name("location")),
		// Others can ask what this build cannot.
		Some(Err(NotAPlace::NoFeature(_))) => {}
		Some(Err(why)) => section.complain("location", format!("`{text}`: {why}")),
		_ => {}
	}
	Some(text)
}

/// What a section says of an initial model.
pub(super) struct Initial {
	/// Its file.
	pub file: FileRef,
	/// Where that is on this machine.
	pub path: Option<PathBuf>,
	/// The state hash of its parameters, as the section says. If the file is here, it is computed and
	/// must agree.
	pub parameters: Option<H256>,
}

/// Returns the initial model that the section names. If its file is here, hash and length are known,
/// and what the section says of them must agree. Otherwise the section must say everything.
pub(super) fn read_initial(section: &Section<'_, '_>, job: &Path) -> Option<Initial> {
	let file = File::read(section, job);
	let parameters = hash_of(section, "parameters", COMPUTED);
	section.finish();
	let path = file.path.clone();
	let found = match &path {
		Some(path) => match hash::file(path) {
			Ok(found) => Some(found),
			Err(error) => {
				section.complain("path", format!("cannot read {}: {error}", path.display()));
				return None;
			}
		},
		None => {
			file.require(section);
			section.require("parameters", &format!("64 hexadecimal digits: {COMPUTED}; {WHY}"));
			None
		}
	};
	Some(Initial { file: file.resolve(section, found)?, path, parameters })
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

/// Returns whether a location was given: it is not the placeholder of a file that names none.
pub(super) fn is_given(location: &Text) -> bool {
	location.to_string_lossy() != NO_LOCATION
}
