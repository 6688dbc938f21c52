//! Jobs as they are written, read and written again.

mod files;
mod models;
mod problems;
mod training;

use super::*;
use trainyard_program::spec::{DataFormat, EarlyStop, Optimizer, MAX_NANO};

const DATASET: &str = r#"
[dataset]
location = "https://example.org/digits.csv"
content_hash = "0101010101010101010101010101010101010101010101010101010101010101"
bytes = 264964
train_rows = 1438
validation_rows = 359
features = 64
classes = 10
rows = "0202020202020202020202020202020202020202020202020202020202020202"
feature_divisor = 16
"#;
/// The rows root of the digits.
const DIGITS_ROWS: &str = "6f487f47973c9bbf93cec31312d3e477d71578072a9ee843bddd36b0738b1434";
const MODEL: &str = "[model.mlp]\nhidden = [64, 32]\n";
const TRAINING: &str = "[training]\nsteps = 1500\nbatch_size = 32\ncheckpoint_interval = 50\n\
	learning_rate = 0.002\n";
const ADAMW: &str = "[training.optimizer.adamw]\n";
const TERMS: &str = "[terms]\nprice_per_ut = \"1000\"\naudit_fee = 0.15\n";

fn whole() -> String {
	format!("{DATASET}{MODEL}{TRAINING}{ADAMW}{TERMS}")
}

fn read(text: &str) -> Result<JobFile, Problems> {
	parse(text, Path::new("job.toml"))
}

/// The job with `from` replaced by `to` is refused with one problem, at the line of
/// `line`, about `field`, that says `what`.
fn refused(from: &str, to: &str, field: &str, line: &str, what: &str) {
	let text = whole().replacen(from, to, 1);
	assert_ne!(text, whole(), "{from:?} is not in the job");
	let error = read(&text).expect_err(to);
	let [problem] = &error.problems[..] else { panic!("{to}: {error}") };
	assert_eq!(problem.field, field, "{error}");
	assert_eq!(problem.source, line, "{error}");
	let at = text.lines().position(|l| l == line).expect("the line is in the job") + 1;
	assert_eq!(problem.line, at, "{error}");
	assert!(problem.what.contains(what), "{error}");
	assert!(error.to_string().starts_with(&format!("job.toml:{at}: {field}: ")), "{error}");
}

#[test]
fn a_job_without_local_data() {
	let job = read(&whole()).unwrap();
	let mut spec = JobSpec::example();
	spec.dataset.location = Text::new("https://example.org/digits.csv").unwrap();
	assert_eq!(*job.spec, spec);
	assert_eq!(job.dataset_path, None);
	assert!(job.has_location());
	let terms = job.terms.unwrap();
	assert_eq!(terms.price_per_ut, 1_000_000_000_000_000);
	assert_eq!(terms.audit_fee, 150_000_000_000);
	assert_eq!((terms.replicas, terms.verifiers, terms.audit_segments), (1, 3, 1));
}

/// Each seat draws as many as there are tickets for it, where nothing is said.
#[test]
fn a_lottery_has_its_own_draws() {
	let fee = "audit_fee = 0.15\n";
	let with = |more: &str| read(&whole().replacen(fee, more, 1)).unwrap();
	for (more, lottery, draws) in [
		("", None, 1),
		("lottery = 2\n", Some(2), 5),
		("lottery = 10\n", Some(10), 1),
		("lottery = 128\n", Some(128), 1),
		("lottery = 2\nverifiers = 15\n", Some(2), 1),
		("lottery = 2\naudit_segments = 7\n", Some(2), 7),
	] {
		let job = with(more);
		let terms = job.terms.as_ref().unwrap();
		assert_eq!((terms.lottery, terms.audit_segments), (lottery, draws), "{more}");
		assert_eq!(read(&to_toml(&job)).unwrap(), job);
	}
	let refused = |more: &str, field, line, what| {
		refused(fee, &format!("{fee}{more}\n"), field, line, what);
	};
	refused("lottery = 1", "terms.lottery", "lottery = 1", "128");
	refused("lottery = 129", "terms.lottery", "lottery = 129", "128");
	refused("lottery = 10\nverifiers = 5", "terms.verifiers", "verifiers = 5", "3 segments");
	refused("lottery = 2\naudit_segments = 4", "terms.audit_segments", "audit_segments = 4", "5");
}

#[cfg(all(feature = "hub", feature = "object-stores"))]
#[test]
fn files_may_be_in_stores() {
	let at = |location: &str| {
		let line = format!("location = \"{location}\"");
		read(&whole().replacen(LOCATION, &line, 1))
	};
	for location in ["s3://bucket/a.csv", "gs://bucket/a.csv", "hf://datasets/o/n@v1/a.csv"] {
		let job = at(location).unwrap();
		assert_eq!(job.spec.dataset.location.to_string_lossy(), location);
		assert!(job.has_location());
		assert_eq!(read(&to_toml(&job)).unwrap(), job);
	}
	let wrong = "location = \"s3://Bucket/a.csv\"";
	refused(LOCATION, wrong, "dataset.location", wrong, "a bucket has 3 to 63 lower-case letters");
	let wrong = "location = \"hf://datasets/name/a.csv\"";
	refused(LOCATION, wrong, "dataset.location", wrong, "hf://datasets/OWNER/NAME@REVISION/PATH");
}

#[test]
fn columns_may_be_in_parquet() {
	for (name, format) in
		[("parquet", DataFormat::Parquet), ("parquet_label_first", DataFormat::ParquetLabelFirst)]
	{
		let more = format!("{LOCATION}\nformat = \"{name}\"");
		let job = read(&whole().replacen(LOCATION, &more, 1)).unwrap();
		assert_eq!(job.spec.dataset.format, format);
		assert_eq!(read(&to_toml(&job)).unwrap(), job);
	}
}

/// The line of the location.
const LOCATION: &str = "location = \"https://example.org/digits.csv\"";

#[test]
fn the_shipped_example() {
	let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/digits.toml");
	let job = load(&path).unwrap();
	let mut spec = JobSpec::example();
	spec.dataset.content_hash = job.spec.dataset.content_hash;
	spec.dataset.rows = DIGITS_ROWS.parse().unwrap();
	assert_eq!(*job.spec, spec);
	assert!(job.dataset_path.unwrap().is_file());
	assert!(job.terms.is_some());
}

#[test]
fn the_shipped_example_that_stops_early() {
	let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/early-stop.toml");
	let job = load(&path).unwrap();
	let mut spec = JobSpec::example();
	spec.dataset.content_hash = job.spec.dataset.content_hash;
	spec.dataset.rows = DIGITS_ROWS.parse().unwrap();
	spec.training.steps = 6_000;
	spec.training.early_stop = Some(EarlyStop { patience: 3, min_delta_nano: 1_000_000 });
	assert_eq!(*job.spec, spec);
}

#[test]
fn what_is_written_is_read_again() {
	let mut job = read(&whole()).unwrap();
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
	let mut spec = job.spec.into_spec();
	spec.training.optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: false };
	spec.training.learning_rate_nano = MAX_NANO;
	spec.training.weight_decay_nano = 1;
	spec.dataset.format = DataFormat::CsvLabelFirst;
	job.spec = spec.check().unwrap();
	job.terms = None;
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
	let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/digits.toml");
	let job = load(&example).unwrap();
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
}

#[test]
fn without_an_audit_fee_it_is_open_and_the_highest_least_is_shown() {
	let job = read(&whole().replace("audit_fee = 0.15\n", "")).unwrap();
	assert!(job.audit_fee_is_open && !read(&whole()).unwrap().audit_fee_is_open);
	assert_eq!(read(&to_toml(&job)).unwrap(), job, "it stays open where it is written");
	let terms = job.terms.unwrap();
	let least = trainyard_protocol::fees::audit_fee(&job.spec, &terms).unwrap();
	assert_eq!(terms.audit_fee, least);
	let dear = read(&whole().replace("audit_fee = 0.15\n", "").replace("1000", "1000000")).unwrap();
	assert_eq!(dear.terms.unwrap().audit_fee, least, "whatever the job pays");
}
