//! Reads PROJECT.toml: a project of drilling as people write it. `docs/drilling.md` describes every
//! field; `examples/drill-*.toml` are projects that work.

use super::{
	reader::{nano_range, problem_at, Document, Problems, Section},
	JobTomlError,
};
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use trainyard_program::{spec::MAX_NANO, text::MAX_TEXT};
use trainyard_protocol::{
	drill::{
		DrillError, Mismatch, Template, TrialData, TrialTemplate, MAX_CHAIN_SIZE, MAX_RATES,
		MAX_TRIAL_FILES, MAX_UNIT_REPLICAS, MIN_CHAIN_SIZE, MIN_UNIT_REPLICAS,
	},
	job::BlockNumber,
	Text, H256,
};

/// Default of `replicas`.
const REPLICAS: u8 = 3;
/// Default of `commit_blocks`.
const COMMIT_BLOCKS: BlockNumber = 50;
/// The sections of which the file must have exactly one.
const TEMPLATES: &str = "[chain], [trial] or [calibration]";

/// The files that units read, in the order of their specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
	/// On this machine; none where units read nothing.
	Files(Vec<PathBuf>),
	/// On chain already.
	Blobs(TrialData),
}

/// A project from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFile {
	/// What it is about.
	pub title: Text,
	/// What its units compute. It is valid.
	pub template: Template,
	/// Where the files that units read are on this machine, or what blobs of the chain they are.
	pub data: Data,
	/// What happens if results differ.
	pub rule: Mismatch,
	/// Trainers that compute the same unit.
	pub replicas: u8,
	/// Units.
	pub units: u32,
	/// Blocks for computing a unit.
	pub commit_blocks: BlockNumber,
}

/// Reads the project in the file at `path`, and the job of a trial beside it.
pub fn load(path: &Path) -> Result<ProjectFile, JobTomlError> {
	let text = std::fs::read_to_string(path)
		.map_err(|error| JobTomlError::ReadProject { path: path.to_owned(), error })?;
	Ok(parse(&text, path)?)
}

/// Reads the project in `text`; `path` is where the text comes from, for messages and for the
/// path of a trial's job.
pub fn parse(text: &str, path: &Path) -> Result<ProjectFile, Problems> {
	let root = DeTable::parse(text).map_err(|e| {
		let at = e.span().map_or(0, |span| span.start);
		let what = format!("this is not TOML: {}", e.message());
		Problems { file: path.to_owned(), problems: vec![problem_at(text, at, "", what)] }
	})?;
	let document = Document::new(text, root.get_ref());
	let project = read(&document, root.get_ref(), path);
	document.finish(path.to_owned())?;
	// If something is missing, there was a complaint about it.
	project.ok_or_else(|| Problems {
		file: path.to_owned(),
		problems: vec![problem_at(text, 0, "", "the project is not complete".into())],
	})
}

fn read<'a>(document: &Document<'a>, table: &DeTable<'a>, path: &Path) -> Option<ProjectFile> {
	let root = Section::root(document, table);
	let about = format!("a line of text, at most {MAX_TEXT} bytes");
	root.require("title", &about);
	root.require("units", "a whole number, at least 1");
	let title = root.text("title", &about).and_then(|title| {
		let text = Text::new(title).filter(|text| !text.is_empty());
		if text.is_none() {
			root.complain("title", format!("it has {} bytes; allowed: {about}", title.len()));
		}
		text
	});
	let rules = [("majority", Mismatch::Majority), ("all_lose", Mismatch::AllLose)];
	let rule = root.choice("rule", &rules).unwrap_or_default();
	let range = u64::from(MIN_UNIT_REPLICAS)..=u64::from(MAX_UNIT_REPLICAS);
	let replicas = root.integer("replicas", range).map_or(REPLICAS, |n| n as u8);
	let units = root.integer("units", 1..=u64::from(u32::MAX));
	let blocks = root.integer("commit_blocks", 1..=u64::from(u32::MAX));
	let (chain, trial, calibration) =
		(root.section("chain"), root.section("trial"), root.section("calibration"));
	let given = [&chain, &trial, &calibration].iter().filter(|s| s.exists()).count();
	if given != 1 {
		let what = format!("{given} templates are given; give exactly one of {TEMPLATES}");
		document.complain("", what);
		return None;
	}
	let (field, template) = if chain.exists() {
		("chain", read_chain(&chain).map(no_data))
	} else if trial.exists() {
		("trial", read_trial(&trial, path))
	} else {
		("calibration", read_calibration(&calibration).map(no_data))
	};
	root.finish();
	let (template, data) = template?;
	if let Err(error) = template.validate() {
		let field = match error {
			DrillError::BadSize => "chain.size",
			DrillError::NoRates => "trial.learning_rates",
			DrillError::Spec(_)
			| DrillError::NoPower(_)
			| DrillError::EarlyStop
			| DrillError::DataTooLarge => "trial.job",
			_ => field,
		};
		document.complain(field, error.to_string());
	}
	Some(ProjectFile {
		title: title?,
		template,
		data,
		rule,
		replicas,
		units: units? as u32,
		commit_blocks: blocks.map_or(COMMIT_BLOCKS, |n| n as u32),
	})
}

/// Returns a template of units that read nothing.
fn no_data(template: Template) -> (Template, Data) {
	(template, Data::Files(Vec::new()))
}

fn read_chain(section: &Section<'_, '_>) -> Option<Template> {
	let sizes = u64::from(MIN_CHAIN_SIZE)..=u64::from(MAX_CHAIN_SIZE);
	section.require("size", &format!("a whole number from {MIN_CHAIN_SIZE} to {MAX_CHAIN_SIZE}"));
	section.require("links", "a whole number, at least 1");
	let size = section.integer("size", sizes);
	let links = section.integer("links", 1..=u64::from(u32::MAX));
	section.finish();
	Some(Template::Chain { size: size? as u32, links: links? as u32 })
}

fn read_calibration(section: &Section<'_, '_>) -> Option<Template> {
	section.require("passes", "a whole number, at least 1");
	let passes = section.integer("passes", 1..=u64::from(u32::MAX));
	section.finish();
	Some(Template::Calibration { passes: passes? as u32 })
}

fn read_trial(section: &Section<'_, '_>, path: &Path) -> Option<(Template, Data)> {
	let rates = format!("a list of 1 to {MAX_RATES} numbers, each {}", nano_range(&(1..=MAX_NANO)));
	section.require("job", "the path of a JOB.toml, relative to this file");
	section.require("learning_rates", &rates);
	let job = section.text("job", "the path of a JOB.toml, relative to this file");
	let learning_rates = read_rates(section, &rates);
	let blobs = read_blobs(section);
	section.finish();
	let job: PathBuf = path.parent().unwrap_or(Path::new("")).join(job?);
	let file = match super::load(&job) {
		Ok(file) => file,
		Err(error) => {
			section.complain("job", error.to_string());
			return None;
		}
	};
	let data = match blobs {
		Some(blobs) => Data::Blobs(blobs),
		None => {
			let files = file.spec.files().map(|(which, _)| {
				let here = file.path(which).map(Path::to_owned);
				here.ok_or_else(|| which.field())
			});
			match files.collect::<Result<Vec<PathBuf>, _>>() {
				Ok(files) => Data::Files(files),
				Err(field) => {
					let what = format!(
						"{}: {field}.path is missing: the files of a trial are stored on chain, from this \
						 machine. Where they are there already, give trial.blobs",
						job.display()
					);
					section.complain("job", what);
					return None;
				}
			}
		}
	};
	let learning_rates_nano = learning_rates?.try_into().ok()?;
	let trial = TrialTemplate { spec: file.spec.into_spec(), learning_rates_nano };
	Some((Template::Trial(trial), data))
}

/// Reads the roots of blobs that are on chain already.
fn read_blobs(section: &Section<'_, '_>) -> Option<TrialData> {
	let allowed =
		"the roots of the blobs with the files, data before labels, 64 hexadecimal digits each";
	let values = section.list("blobs", MAX_TRIAL_FILES as usize, allowed)?;
	let mut roots = Vec::with_capacity(values.len());
	for value in values {
		let text = value.as_str().map(|text| text.trim_start_matches("0x"));
		let mut root = H256::zero();
		match text.map(|text| hex::decode_to_slice(text, root.as_bytes_mut())) {
			Some(Ok(())) => roots.push(root),
			_ => {
				let number = roots.len() + 1;
				section.complain("blobs", format!("entry {number} is none; allowed: {allowed}"));
				return None;
			}
		}
	}
	roots.try_into().ok()
}

/// Reads the learning rates, as counts of 10^-9.
fn read_rates(section: &Section<'_, '_>, allowed: &str) -> Option<Vec<u64>> {
	let values = section.list("learning_rates", MAX_RATES as usize, allowed)?;
	let mut rates = Vec::with_capacity(values.len());
	for value in values {
		let number = match value {
			DeValue::Integer(n) if n.radix() == 10 => {
				trainyard_client::amount::parse_scaled(n.as_str(), 9)
			}
			DeValue::Float(x) => trainyard_client::amount::parse_scaled(x.as_str(), 9),
			_ => Err(trainyard_client::amount::DecimalError::Malformed),
		};
		match number.ok().and_then(|n| u64::try_from(n).ok()).filter(|n| (1..=MAX_NANO).contains(n))
		{
			Some(rate) => rates.push(rate),
			None => {
				let number = rates.len() + 1;
				section.complain(
					"learning_rates",
					format!("entry {number} is none; allowed: {allowed}"),
				);
				return None;
			}
		}
	}
	Some(rates)
}

#[cfg(test)]
mod tests {
	use super::*;

	/// Reads the project in this text, as if it were a file among the examples.
	fn read(text: &str) -> Result<ProjectFile, String> {
		let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/test.toml"));
		parse(text, path).map_err(|e| e.to_string())
	}

	#[test]
	fn the_examples_are_projects() {
		let load = |name: &str| {
			let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
			load(&path).unwrap_or_else(|e| panic!("{name}: {e}"))
		};
		assert!(matches!(
			load("drill-calibration.toml").template,
			Template::Calibration { passes: 1.. }
		));
		assert!(matches!(load("drill-chain.toml").template, Template::Chain { .. }));
		let digits = load("drill-digits.toml");
		let Template::Trial(trial) = &digits.template else { panic!("{digits:?}") };
		assert!(trial.learning_rates_nano.len() > 3);
		// Every rate is tried equally often.
		assert_eq!(digits.units % trial.learning_rates_nano.len() as u32, 0);
		let Data::Files(files) = &digits.data else { panic!("{digits:?}") };
		assert!(files.len() == 1 && files[0].ends_with("data/digits.csv"), "{files:?}");
	}

	#[test]
	fn what_is_left_out_has_a_default() {
		let text = "title = \"t\"\nunits = 7\n[chain]\nsize = 64\nlinks = 2000\n";
		let expected = ProjectFile {
			title: Text::new("t").unwrap(),
			template: Template::Chain { size: 64, links: 2_000 },
			data: Data::Files(Vec::new()),
			rule: Mismatch::Majority,
			replicas: 3,
			units: 7,
			commit_blocks: 50,
		};
		assert_eq!(read(text).unwrap(), expected);
		let all = format!("rule = \"all_lose\"\nreplicas = 5\ncommit_blocks = 9\n{text}");
		let given =
			ProjectFile { rule: Mismatch::AllLose, replicas: 5, commit_blocks: 9, ..expected };
		assert_eq!(read(&all).unwrap(), given);
	}

	#[test]
	fn learning_rates_are_exact() {
		let text = "title = \"t\"\nunits = 1\n[trial]\njob = \"drill-digits-job.toml\"\n\
		            learning_rates = [1e-3, 0.000001, 0.1]\n";
		let Template::Trial(trial) = read(text).unwrap().template else { panic!() };
		assert_eq!(trial.learning_rates_nano.to_vec(), [1_000_000, 1_000, 100_000_000]);
	}

	#[test]
	fn data_may_be_on_chain_already() {
		let text = format!(
			"title = \"t\"\nunits = 1\n[trial]\njob = \"drill-digits-job.toml\"\n\
			 learning_rates = [0.1]\nblobs = [\"0x{}\"]\n",
			"ab".repeat(32)
		);
		let blobs = vec![H256::repeat_byte(0xab)].try_into().unwrap();
		assert_eq!(read(&text).unwrap().data, Data::Blobs(blobs));
	}

	#[test]
	fn what_is_wrong_is_named() {
		let head = "title = \"t\"\nunits = 7\n";
		let job = "job = \"drill-digits-job.toml\"\n";
		let cases = [
			("units = 7\n[chain]\nsize = 64\nlinks = 2000", "title: the field is missing"),
			("title = \"\"\nunits = 7\n[calibration]\npasses = 50", "title: it has 0 bytes"),
			("title = \"t\"\n[calibration]\npasses = 50", "units: the field is missing"),
			("title = ", "this is not TOML"),
			(head, "0 templates are given"),
			(
				&format!("{head}[chain]\nsize = 64\nlinks = 9\n[calibration]\npasses = 1"),
				"2 templates are given",
			),
			(&format!("{head}[chain]\nsize = 8\nlinks = 9"), "allowed: a whole number from 16"),
			(&format!("{head}[chain]\nsize = 64\nlinks = 1"), "at least 1000 micro-ut"),
			(&format!("{head}[chain]\nsize = 64\nlinks = 4000000000"), "at most 1000000 micro-ut"),
			(&format!("{head}[chain]\nsize = 64\nlinks = 2000\nlink = 1"), "no such field"),
			(
				&format!("rule = \"some\"\n{head}[calibration]\npasses = 50"),
				"\"some\" is not known",
			),
			(&format!("replicas = 1\n{head}[calibration]\npasses = 50"), "from 2 to 7"),
			(&format!("{head}[trial]\nlearning_rates = [0.1]"), "trial.job: the field is missing"),
			(&format!("{head}[trial]\n{job}"), "trial.learning_rates: the field is missing"),
			(&format!("{head}[trial]\n{job}learning_rates = []"), "1 to 64 learning rates"),
			(&format!("{head}[trial]\n{job}learning_rates = [0.1, 0]"), "entry 2 is none"),
			(&format!("{head}[trial]\n{job}learning_rates = 1"), "it is 1; allowed"),
			(
				&format!("{head}[trial]\n{job}learning_rates = [0.1]\nblobs = [\"0xab\"]"),
				"trial.blobs: entry 1 is none",
			),
			(
				&format!("{head}[trial]\njob = \"nowhere.toml\"\nlearning_rates = [0.1]"),
				"cannot read the job file",
			),
			(
				&format!("{head}[trial]\njob = \"digits.toml\"\nlearning_rates = [0.1]"),
				"set training.input_noise to 0.001 to 1",
			),
		];
		for (text, expected) in cases {
			let error = read(text).unwrap_err();
			assert!(error.contains(expected), "{text}\n{error}");
		}
	}
}
