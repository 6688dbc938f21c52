//! The section `[dataset]`, and `[dataset.labels]` inside it.

use super::{
	file::{self, agree, agree_on_hash, File, COMPUTED, WHY},
	hash_of,
	reader::{Document, Section},
	JobFile, VALIDATION_EVERY,
};
use primitive_types::H256;
use std::{
	fmt::Write,
	path::{Path, PathBuf},
	sync::atomic::AtomicBool,
};
use trainyard_program::spec::{DataFormat, Dataset, Normalization, MAX_WIDTH};
use trainyard_proof::data::{self, Inspection};

/// Names of the formats.
const FORMATS: [(&str, DataFormat); 9] = [
	("csv_label_last", DataFormat::CsvLabelLast),
	("csv_label_first", DataFormat::CsvLabelFirst),
	("text", DataFormat::Text),
	("idx", DataFormat::Idx),
	("npy", DataFormat::Npy),
	("npz", DataFormat::Npz),
	("safetensors", DataFormat::Safetensors),
	("parquet", DataFormat::Parquet),
	("parquet_label_first", DataFormat::ParquetLabelFirst),
];
/// Names of the normalisations.
const NORMALIZATIONS: [(&str, Normalization); 2] =
	[("none", Normalization::None), ("standard", Normalization::Standard)];

/// The section, read.
pub(super) struct Read {
	pub dataset: Dataset,
	/// The data on this machine.
	pub path: Option<PathBuf>,
	/// The labels on this machine.
	pub labels_path: Option<PathBuf>,
}

/// Reads the section. `job` is the path of the file that holds it.
pub(super) fn read(document: &Document<'_>, section: &Section<'_, '_>, job: &Path) -> Option<Read> {
	let anything = || 1..=u64::from(u32::MAX);
	let format = section.choice("format", &FORMATS).unwrap_or(DataFormat::CsvLabelLast);
	let normalization = section.choice("normalization", &NORMALIZATIONS).unwrap_or_default();
	let every =
		section.integer("validation_every", 2..=u64::from(u32::MAX)).unwrap_or(VALIDATION_EVERY);
	let divisor = section.integer("feature_divisor", anything()).unwrap_or(1);
	let train_rows = section.integer("train_rows", anything());
	let validation_rows = section.integer("validation_rows", anything());
	let features = section.integer("features", 1..=u64::from(MAX_WIDTH));
	let classes = section.integer("classes", 2..=u64::from(MAX_WIDTH));
	let file = File::read(section, job);
	let rows = hash_of(section, "rows", COMPUTED);
	let labels_section = section.section("labels");
	let labels = labels_section.exists().then(|| File::read(&labels_section, job));
	labels_section.finish();
	section.finish();

	let path = file.path.clone();
	let labels_path = labels.as_ref().and_then(|labels| labels.path.clone());
	if format == DataFormat::Text && path.is_some() {
		section.require("features", "the context: how many tokens a row of text has");
	}
	if (format == DataFormat::Idx) != labels.is_some() {
		section.complain(
			"labels",
			match labels {
				Some(_) => {
					"only the format idx keeps labels in a file of their own; leave the \
					section [dataset.labels] out"
				}
				None => {
					"the section is missing: the format idx keeps labels in a file of their \
					own. Add [dataset.labels] with path = \"FILE\", or with location, content_hash \
					and bytes"
				}
			},
		);
		return None;
	}
	if labels.is_some() && path.is_some() != labels_path.is_some() {
		let missing = if path.is_some() { &labels_section } else { section };
		missing.require("path", "the path of a file; the other of the two files has one");
		return None;
	}
	// If the files are at hand, everything else is known; otherwise the job must say it.
	let found = match &path {
		Some(path) => {
			// If there is no context, that was already reported.
			let context = features.unwrap_or(1) as u32;
			match data::inspect(path, labels_path.as_deref(), format, every as u32, context) {
				Ok(found) => Some(found),
				Err(error) => {
					section.complain("path", error.to_string());
					return None;
				}
			}
		}
		None => {
			if !section.exists() {
				document.complain(
					"dataset",
					"the section [dataset] is missing; it says what to train on: path = \"FILE.csv\"",
				);
				return None;
			}
			file.require(section);
			if let Some(labels) = &labels {
				labels.require(&labels_section);
			}
			for key in ["train_rows", "validation_rows", "features", "classes"] {
				section.require(key, &format!("a whole number; {WHY}"));
			}
			section.require(
				"rows",
				&format!("the rows root, 64 hexadecimal digits: {COMPUTED}; {WHY}"),
			);
			None
		}
	};
	let from_file = |get: fn(&Inspection) -> u64| found.as_ref().map(get);
	// More classes than labels seen are allowed, fewer are not.
	let classes = match (classes, from_file(|f| u64::from(f.classes))) {
		(Some(said), Some(found)) if said < found => {
			section.complain(
				"classes",
				format!(
					"it is {said}, but the labels in the file at dataset.path go up to {}",
					found - 1
				),
			);
			None
		}
		(said, found) => said.or(found),
	};
	let small = |key: &'static str, n: Option<u64>| {
		let n = n?;
		let small = u32::try_from(n);
		if small.is_err() {
			section.complain(key, format!("{n} is too large; at most {}", u32::MAX));
		}
		small.ok()
	};
	let train_rows = agree(section, "train_rows", train_rows, from_file(|f| f.train_rows));
	let validation_rows =
		agree(section, "validation_rows", validation_rows, from_file(|f| f.validation_rows));
	let features = agree(section, "features", features, from_file(|f| u64::from(f.features)));
	let labels = match labels {
		Some(labels) => {
			let found = found.as_ref().and_then(|found| found.labels);
			Some(labels.resolve(&labels_section, found))
		}
		None => None,
	};
	let file = file.resolve(section, found.as_ref().map(|f| (f.content_hash, f.bytes)))?;
	let mut dataset = Dataset {
		content_hash: file.content_hash,
		bytes: file.bytes,
		location: file.location,
		format,
		train_rows: small("train_rows", train_rows)?,
		validation_rows: small("validation_rows", validation_rows)?,
		validation_every: every as u32,
		features: small("features", features)?,
		classes: small("classes", classes)?,
		feature_divisor: divisor as u32,
		labels: match labels {
			Some(labels) => Some(labels?),
			None => None,
		},
		normalization,
		rows: H256::zero(),
	};
	// Without the file, `require` has complained where the root is missing.
	let computed = match &path {
		Some(path) => {
			let never = AtomicBool::new(false);
			match data::read_rows(path, labels_path.as_deref(), &dataset, &never) {
				Ok(found) => Some(found.root()),
				Err(error) => {
					section.complain("path", error.to_string());
					return None;
				}
			}
		}
		None => None,
	};
	dataset.rows = agree_on_hash(section, "rows", rows, computed)?;
	Some(Read { dataset, path, labels_path })
}

/// Writes the section, with every field.
pub(super) fn write(out: &mut String, job: &JobFile) {
	fn name<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
		names.iter().find(|(_, named)| named == value).map_or("", |(name, _)| name)
	}
	let d = &job.spec.dataset;
	// Writing to a String cannot fail.
	let _ = writeln!(out, "[dataset]");
	file::write(out, &d.file(), job.dataset_path.as_deref());
	let _ = writeln!(
		out,
		"format = \"{}\"\ntrain_rows = {}\nvalidation_rows = {}\nvalidation_every = {}\n\
		 features = {}\nclasses = {}\nfeature_divisor = {}\nnormalization = \"{}\"\n\
		 rows = \"{:?}\"",
		name(&FORMATS, &d.format),
		d.train_rows,
		d.validation_rows,
		d.validation_every,
		d.features,
		d.classes,
		d.feature_divisor,
		name(&NORMALIZATIONS, &d.normalization),
		d.rows
	);
	if let Some(labels) = &d.labels {
		let _ = writeln!(out, "\n[dataset.labels]");
		file::write(out, labels, job.labels_path.as_deref());
	}
}
