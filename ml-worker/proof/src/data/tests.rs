//! Every format against CSV, and what is refused.

use super::*;
use crate::testing::SEED;
use flate2::{write::GzEncoder, Compression};
use proptest::prelude::*;
use std::{io::Write, sync::Arc};
use trainyard_engine::{Engine, Table};
use trainyard_program::spec::{Activation, FileRef, JobSpec, Model};

mod formats;
mod malformed;
#[cfg(feature = "parquet")]
mod parquet;
mod roots;
mod streamed;

/// A folder to write data into.
struct Folder(tempfile::TempDir);

impl Folder {
	fn new() -> Self {
		Self(tempfile::tempdir().unwrap())
	}

	fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
		let path = self.0.path().join(name);
		std::fs::write(&path, bytes).unwrap();
		path
	}
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
	let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
	encoder.write_all(bytes).unwrap();
	encoder.finish().unwrap()
}

/// Small whole numbers and their labels, as every format can hold them.
struct Rows8 {
	features: usize,
	x: Vec<u8>,
	y: Vec<u8>,
}

impl Rows8 {
	/// Rows whose first input determines the label.
	fn new(rows: usize, features: usize, classes: u8) -> Self {
		let y: Vec<u8> = (0..rows).map(|row| (row * 7 % usize::from(classes)) as u8).collect();
		let input = |i: usize| match i % features {
			0 => y[i / features] * 40 + (i % 7) as u8,
			column => (i * (column + 3) * 5 % 251) as u8,
		};
		let x = (0..rows * features).map(input).collect();
		Self { features, x, y }
	}

	fn rows(&self) -> impl Iterator<Item = (&[u8], u8)> {
		self.x.chunks(self.features).zip(self.y.iter().copied())
	}

	/// CSV with the label first or last, `write` writing it.
	fn csv(&self, first: bool, write: impl Fn(u8) -> String) -> String {
		let names = (0..self.features).map(|i| format!("f{i}")).collect::<Vec<_>>().join(",");
		let mut text =
			if first { format!("# label,{names}\n") } else { format!("{names},label\n") };
		for (x, y) in self.rows() {
			let x: Vec<String> = x.iter().map(|x| x.to_string()).collect();
			let (x, y) = (x.join(","), write(y));
			text += &if first { format!("{y},{x}\n") } else { format!("{x},{y}\n") };
		}
		text
	}
}

/// Numbers as bytes of a type that a NumPy header names.
fn encode(descr: &str, numbers: impl Iterator<Item = u8>) -> Vec<u8> {
	let mut bytes = Vec::new();
	for number in numbers {
		let n = i64::from(number);
		let mut one = match &descr[1..] {
			"f4" => (n as f32).to_le_bytes().to_vec(),
			"f8" => (n as f64).to_le_bytes().to_vec(),
			kind => n.to_le_bytes()[..kind[1..].parse().unwrap()].to_vec(),
		};
		if descr.starts_with('>') {
			one.reverse();
		}
		bytes.extend(one);
	}
	bytes
}

fn npy(descr: &str, shape: &[usize], numbers: impl Iterator<Item = u8>) -> Vec<u8> {
	let extents: String = shape.iter().map(|extent| format!("{extent},")).collect();
	let header =
		format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}\n");
	let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
	bytes.extend((header.len() as u16).to_le_bytes());
	bytes.extend(header.as_bytes());
	bytes.extend(encode(descr, numbers));
	bytes
}

fn idx(kind: u8, descr: &str, shape: &[usize], numbers: impl Iterator<Item = u8>) -> Vec<u8> {
	let mut bytes = vec![0, 0, kind, shape.len() as u8];
	shape.iter().for_each(|extent| bytes.extend((*extent as u32).to_be_bytes()));
	bytes.extend(encode(descr, numbers));
	bytes
}

/// A safetensors file of `x` and `y` with these types, shapes and bytes.
fn safetensors(tensors: [(&str, &str, Vec<usize>, Vec<u8>); 2]) -> Vec<u8> {
	let mut header = serde_json::Map::new();
	let mut data = Vec::new();
	for (name, dtype, shape, bytes) in tensors {
		let begin = data.len();
		data.extend(bytes);
		let info = serde_json::json!({
			"dtype": dtype, "shape": shape, "data_offsets": [begin, data.len()],
		});
		header.insert(name.into(), info);
	}
	let header = serde_json::to_vec(&header).unwrap();
	[&(header.len() as u64).to_le_bytes()[..], &header, &data].concat()
}

/// A ZIP archive of these entries, stored or deflated.
fn archive(entries: &[(&str, Vec<u8>)], deflated: bool) -> Vec<u8> {
	let (mut out, mut directory) = (Vec::new(), Vec::new());
	for (name, bytes) in entries {
		let packed = match deflated {
			true => {
				let mut encoder =
					flate2::write::DeflateEncoder::new(Vec::new(), Compression::fast());
				encoder.write_all(bytes).unwrap();
				encoder.finish().unwrap()
			}
			false => bytes.clone(),
		};
		let mut crc = flate2::Crc::new();
		crc.update(bytes);
		let method: u16 = if deflated { 8 } else { 0 };
		let mut common = Vec::new();
		common.extend([20, 0, 0, 0]);
		common.extend(method.to_le_bytes());
		common.extend([0; 4]);
		common.extend(crc.sum().to_le_bytes());
		common.extend((packed.len() as u32).to_le_bytes());
		common.extend((bytes.len() as u32).to_le_bytes());
		common.extend((name.len() as u16).to_le_bytes());
		common.extend([0; 2]);
		directory.extend(b"PK\x01\x02\x14\x00");
		directory.extend(&common);
		directory.extend([0; 10]);
		directory.extend((out.len() as u32).to_le_bytes());
		directory.extend(name.as_bytes());
		out.extend(b"PK\x03\x04");
		out.extend(&common);
		out.extend(name.as_bytes());
		out.extend(packed);
	}
	let (begin, entries) = (out.len() as u32, entries.len() as u16);
	out.extend(&directory);
	out.extend(b"PK\x05\x06\x00\x00\x00\x00");
	out.extend([entries.to_le_bytes(), entries.to_le_bytes()].concat());
	out.extend((directory.len() as u32).to_le_bytes());
	out.extend(begin.to_le_bytes());
	out.extend([0; 2]);
	out
}

/// The specification of data, as the files say it.
fn dataset_of(
	data: &Path,
	labels: Option<&Path>,
	format: DataFormat,
	every: u32,
) -> Result<Dataset, DataError> {
	let i = inspect(data, labels, format, every, 3)?;
	let location = JobSpec::example().dataset.location;
	Ok(Dataset {
		content_hash: i.content_hash,
		bytes: i.bytes,
		labels: i.labels.map(|(content_hash, bytes)| FileRef {
			content_hash,
			bytes,
			location: location.clone(),
		}),
		format,
		train_rows: i.train_rows as u32,
		validation_rows: i.validation_rows as u32,
		validation_every: every,
		features: i.features,
		classes: i.classes,
		feature_divisor: if format == DataFormat::Text { 1 } else { 4 },
		..JobSpec::example().dataset
	})
}

/// Trains a little on these data; the root over a checkpoint for each step.
fn root_of(data: Data, dataset: &Dataset) -> H256 {
	let mut spec = JobSpec { dataset: dataset.clone(), ..JobSpec::example() };
	let hidden = vec![5].try_into().unwrap();
	spec.model = Model::Mlp { hidden, activation: Activation::Relu };
	spec.training.steps = 12;
	spec.training.batch_size = 4;
	spec.training.checkpoint_interval = 1;
	let spec = spec.check().unwrap();
	let engine = Engine::new(&spec, SEED, Arc::new(data)).unwrap();
	let mut state = Engine::initial_state(&spec, &SEED, None).unwrap();
	let mut hashes = Vec::new();
	for step in 0..spec.training.steps {
		engine.step(&mut state, step).unwrap();
		// The validation rows take part.
		let loss = engine.evaluate(&state).unwrap().loss().to_le_bytes();
		let hash = state.hash().unwrap();
		hashes.push(crate::hash::blake2_256(&[hash.as_bytes(), &loss].concat()));
	}
	trainyard_protocol::merkle::root(&hashes)
}

/// All rows of a table.
fn rows_of(table: &Table, labels: usize) -> Vec<(Vec<f32>, Vec<u32>)> {
	let mut rows = Vec::new();
	let see = |_, x: &[f32], y: &[u32]| {
		rows.push((x.to_vec(), y.to_vec()));
		Ok::<_, io::Error>(())
	};
	table.each(labels, see).unwrap();
	rows
}
