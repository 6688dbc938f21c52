//! The whole run of docs/strict-arithmetic.md: from the data, the specification and the seed that
//! the page gives to all that the worker commits to.

use crate::{
	bundle::{Bundle, MODEL_FILE},
	data, hash,
	testing::{on_rows_of, train},
};
use std::{collections::BTreeSet, path::Path, sync::atomic::AtomicBool};
use trainyard_engine::{Data, Table};
use trainyard_program::spec::{Dataset, JobSpec, Normalization};
use trainyard_protocol::blob::Chunked;

const PAGE: &str = include_str!("../../../../docs/strict-arithmetic.md");

/// The text of the last block of code in this language.
fn block(language: &str) -> &'static str {
	let (_, rest) = PAGE.rsplit_once(&format!("```{language}\n")).unwrap();
	rest.split_once("```").unwrap().0
}

fn write(values: &[f32]) -> String {
	values.iter().map(|v| format!("{:08X}", v.to_bits())).collect::<Vec<_>>().join(" ")
}

/// Returns mean and standard deviation of a feature whose inputs are `1000 + y(i)`, in `rows`
/// training rows and one validating row.
fn standard(rows: u32, folder: &Path) -> String {
	let y = |i: u32| ((53 * i + 29) % 97) as f32 - 48.0;
	let lines = (0..=rows).map(|i| format!("{},{}\n", 1000.0 + y(i) / 3.0, i % 2));
	let path = folder.join(format!("{rows}.csv"));
	std::fs::write(&path, format!("y,label\n{}", lines.collect::<String>())).unwrap();
	let dataset = Dataset {
		train_rows: rows,
		validation_rows: 1,
		validation_every: rows + 1,
		features: 1,
		classes: 2,
		feature_divisor: 1,
		normalization: Normalization::Standard,
		..JobSpec::example().dataset
	};
	let normalizer = data::load(&path, None, &dataset).unwrap().train.normalizer.unwrap();
	write(&[normalizer.mean[0], normalizer.deviation[0]])
}

/// The inputs of row `number` of the file.
fn row(number: u32, every: u32, data: &Data) -> String {
	let (group, place) = (number / every, number % every);
	let of = |table: &Table, at: u32| {
		let start = at as usize * table.features;
		write(&table.x[start..start + table.features])
	};
	match place == every - 1 {
		true => of(&data.validation, group),
		false => of(&data.train, group * (every - 1) + place),
	}
}

/// Returns state hash, validation loss, hits and sealed trace of the checkpoint after `step` steps.
fn checkpoint(step: u32, bundle: &Bundle) -> String {
	let found = bundle.manifest().checkpoints.iter().find(|c| c.step == step).unwrap();
	let loss = write(&[found.validation.loss()]);
	let [state, trace] = [found.state_hash, found.trace].map(hex::encode);
	format!("{state} {loss} {} {trace}", found.validation.correct)
}

#[test]
fn the_page_has_a_run_from_its_data_to_its_roots() {
	let folder = tempfile::tempdir().unwrap();
	let csv = folder.path().join("data.csv");
	std::fs::write(&csv, block("csv")).unwrap();
	let spec: JobSpec = serde_json::from_str(block("json")).unwrap();
	let spec = spec.check().unwrap();
	let read = data::load(&csv, None, &spec.dataset).unwrap();
	// Whatever root the page has: what it should be is said below, with the rest.
	let named = on_rows_of(spec.spec().clone(), &csv);
	let bundle = train(&named, &csv, &folder.path().join("bundle"), false, None).unwrap();

	let compute = |name: &str, number: Option<u32>| match (name, number) {
		("standard", Some(rows)) => standard(rows, folder.path()),
		("row", Some(number)) => row(number, spec.dataset.validation_every, &read),
		("rows", None) => {
			let rows = data::read_rows(&csv, None, &spec.dataset, &AtomicBool::new(false));
			hex::encode(rows.unwrap().root())
		}
		("checkpoint", Some(step)) => checkpoint(step, &bundle),
		("bundle_root", None) => hex::encode(bundle.manifest().bundle_root),
		("model", None) => hex::encode(hash::file(&bundle.path(MODEL_FILE)).unwrap().0),
		("model_root", None) => hex::encode(bundle.manifest().model_root.unwrap()),
		("blob", Some(length)) => {
			let bytes: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
			hex::encode(Chunked::new(&bytes).root)
		}
		other => panic!("the page has a vector of unknown kind {other:?}"),
	};
	let (mut wrong, mut kinds, mut steps) = (Vec::new(), BTreeSet::new(), Vec::new());
	for line in block("vectors").lines() {
		let (question, answer) = line.split_once(" = ").unwrap();
		let (name, number) = match question.split_once(' ') {
			Some((name, number)) => (name, Some(number.parse().unwrap())),
			None => (question, None),
		};
		kinds.insert(name);
		steps.extend(number.filter(|_| name == "checkpoint"));
		let found = compute(name, number);
		if found != answer {
			wrong.push(format!("{question} = {found}"));
		}
	}
	assert!(wrong.is_empty(), "these lines should be:\n{}", wrong.join("\n"));
	assert_eq!(named, spec, "the page names other rows");
	assert_eq!(kinds.len(), 8, "{kinds:?}");
	let listed: Vec<u32> = bundle.manifest().checkpoints.iter().map(|c| c.step).collect();
	assert_eq!(steps, listed, "the page has every checkpoint");
	assert!(bundle.manifest().stops_early());
}
