//! Trains a small job into a bundle, checks the bundle as a stranger would, and shows that a
//! changed file is found.

use std::sync::atomic::AtomicBool;
use trainyard_program::{
	spec::{Activation, DataFormat, Dataset, JobSpec, Model},
	H256,
};
use trainyard_proof::{
	bundle::{manifest::checkpoint_file, thinning::Thinning},
	data,
	inputs::{GivenFiles, InputPaths},
	train::{self, TrainOptions},
	verify::{full, Choice},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
	let folder = tempfile::tempdir()?;

	// Data: three classes around three points.
	let mut csv = String::from("a,b,label\n");
	for i in 0..60 {
		csv += &format!("{},{},{}\n", 4 * (i % 3) + i % 2, i % 5, i % 3);
	}
	let path = folder.path().join("data.csv");
	std::fs::write(&path, csv)?;

	// The job. It describes the data as reading them shows.
	let found = data::inspect(&path, None, DataFormat::CsvLabelLast, 5, 1)?;
	let mut spec = JobSpec::example();
	spec.dataset = Dataset {
		content_hash: found.content_hash,
		bytes: found.bytes,
		train_rows: u32::try_from(found.train_rows)?,
		validation_rows: u32::try_from(found.validation_rows)?,
		validation_every: 5,
		features: found.features,
		classes: found.classes,
		feature_divisor: 1,
		..spec.dataset
	};
	let never = AtomicBool::new(false);
	spec.dataset.rows = data::read_rows(&path, None, &spec.dataset, &never)?.root();
	let hidden = vec![8].try_into().map_err(|_| "too many layers")?;
	spec.model = Model::Mlp { hidden, activation: Activation::Relu };
	(spec.training.steps, spec.training.checkpoint_interval) = (60, 20);
	spec.training.batch_size = 8;
	let spec = spec.check()?;

	// Training leaves a folder, the bundle.
	let out = folder.path().join("bundle");
	let options = TrainOptions {
		out: &out,
		resume: false,
		keep: Thinning::NONE,
		cheat: None,
		progress: &mut |_| {},
		stop: &never,
	};
	let bundle = train::run(&spec, H256::repeat_byte(7), &InputPaths::data(&path), options)?;
	println!("bundle root {:?}", bundle.root());

	// A stranger replays every segment, bit for bit.
	let given = GivenFiles { data: Some(path), ..GivenFiles::default() };
	let checked = full(&out, Choice::All, &given)?;
	println!("{}", checked.report.summary);
	assert!(checked.passed);

	// Flip one bit of one checkpoint.
	let checkpoint = out.join(checkpoint_file(40));
	let mut bytes = std::fs::read(&checkpoint)?;
	if let Some(last) = bytes.last_mut() {
		*last ^= 1;
	}
	std::fs::write(&checkpoint, bytes)?;
	let checked = full(&out, Choice::All, &given)?;
	println!("{}", checked.report.summary);
	assert!(!checked.passed);
	Ok(())
}
