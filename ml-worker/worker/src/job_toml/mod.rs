//! Reads JOB.toml: a training job as people write it. `docs/job-toml.md` describes every field;
//! `examples/digits.toml` is a job that works.

mod dataset;
mod file;
mod model;
pub mod project;
mod reader;
mod training;

pub use reader::{Problem, Problems};

use primitive_types::H256;
use reader::{problem_at, Document, Section};
use std::{
	fmt::Write,
	path::{Path, PathBuf},
};
use toml::de::DeTable;
use trainyard_client::amount::{self, format_scaled};
use trainyard_program::{
	needs::MachineClass,
	spec::{CheckedSpec, InitialModel, InputFile, JobSpec, Training},
};
use trainyard_proof::inputs::{self, GivenFiles, InputPaths};
use trainyard_protocol::{
	duties,
	fees::{audit_fee, most_audit_fee, COMPUTE_PRICE, MOST_AUDIT_FEE},
	job::{
		Terms, MAX_AUDIT_SEGMENTS, MAX_REPLICAS, MAX_VERIFIERS, MIN_AUDIT_FEE, MIN_VERIFIERS,
		UNDECIDED_PERCENT,
	},
	lottery::{self, Strata},
	Text,
};

/// The location in the specification of a job whose file gives none: training offline needs none.
/// The name is reserved (RFC 2606) and never answers; such a job cannot be posted.
pub const NO_LOCATION: &str = "http://no-location.invalid/";

/// Default of `dataset.validation_every`.
pub const VALIDATION_EVERY: u64 = 5;

/// A job from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFile {
	/// What to train.
	pub spec: CheckedSpec,
	/// What is offered; a job that is only trained on this machine needs no terms.
	pub terms: Option<Terms>,
	/// Whether the terms leave the fee of a verifier open. It is then the least that the chain takes when the job is
	/// sent, and in `terms` the highest that this can be.
	pub audit_fee_is_open: bool,
	/// The data on this machine, if the file names them.
	pub dataset_path: Option<PathBuf>,
	/// The labels on this machine, if they have their own file and the job names it.
	pub labels_path: Option<PathBuf>,
	/// The initial model on this machine, if the file names one.
	pub initial_model_path: Option<PathBuf>,
}

impl JobFile {
	/// Returns whether the job says where its files can be had.
	pub fn has_location(&self) -> bool {
		self.without_location().is_none()
	}

	/// Returns the first file for which the job does not say where it can be had; its location is
	/// [`NO_LOCATION`], and the job cannot be posted.
	pub fn without_location(&self) -> Option<InputFile> {
		let mut files = self.spec.files();
		files.find(|(_, file)| !file::is_given(&file.location)).map(|(which, _)| which)
	}

	/// Returns the path of a file on this machine, if the job names it.
	fn path(&self, which: InputFile) -> Option<&Path> {
		match which {
			InputFile::Data => self.dataset_path.as_deref(),
			InputFile::Labels => self.labels_path.as_deref(),
			InputFile::InitialModel => self.initial_model_path.as_deref(),
		}
	}

	/// Returns the paths of the files that the job reads: those `given`, otherwise those that it
	/// names. `job` is its own path, for messages.
	pub fn inputs(&self, given: &GivenFiles, job: &Path) -> Result<InputPaths, JobTomlError> {
		let place = |which| given.get(which).or(self.path(which));
		for (which, file) in self.spec.files() {
			if place(which).is_none() {
				let (job, location) = (job.to_owned(), file.location);
				return Err(JobTomlError::NoPath { job, which, location });
			}
		}
		Ok(InputPaths::of(&self.spec, |which, _| place(which).unwrap_or(Path::new("")).into()))
	}
}

/// Says why there is no job.
#[derive(Debug, thiserror::Error)]
pub enum JobTomlError {
	/// The file cannot be read.
	#[error(
		"cannot read the job file {}: {error}. ml-worker/examples/digits.toml is a job to \
		 start from",
		.path.display()
	)]
	Read {
		/// The file.
		path: PathBuf,
		/// Why.
		error: std::io::Error,
	},
	/// The file of a project cannot be read.
	#[error(
		"cannot read the project file {}: {error}. ml-worker/examples/drill-chain.toml is a \
		 project to start from",
		.path.display()
	)]
	ReadProject {
		/// The file.
		path: PathBuf,
		/// Why.
		error: std::io::Error,
	},
	/// The file is wrong.
	#[error(transparent)]
	Wrong(#[from] Problems),
	/// A file that the job reads is not here.
	#[error(
		"{}: {field}.path: the job names no local file, and this needs one. Add path = \"FILE\" \
		 to [{field}], or give {} FILE. It is said to be at {location}",
		.job.display(),
		inputs::option_of(*.which),
		field = .which.field()
	)]
	NoPath {
		/// The job file.
		job: PathBuf,
		/// Which file it reads.
		which: InputFile,
		/// Where that can be had.
		location: Text,
	},
}

/// Reads the job in the file at `path`. A local dataset is read to fill in and check what
/// the job says about it.
pub fn load(path: &Path) -> Result<JobFile, JobTomlError> {
	let text = std::fs::read_to_string(path)
		.map_err(|error| JobTomlError::Read { path: path.to_owned(), error })?;
	Ok(parse(&text, path)?)
}

/// Reads the job in `text`; `path` is where the text comes from, for messages and for a
/// relative dataset path.
pub fn parse(text: &str, path: &Path) -> Result<JobFile, Problems> {
	let root = DeTable::parse(text).map_err(|e| {
		let at = e.span().map_or(0, |span| span.start);
		let what = format!("this is not TOML: {}", e.message());
		Problems { file: path.to_owned(), problems: vec![problem_at(text, at, "", what)] }
	})?;
	let document = Document::new(text, root.get_ref());
	let job = read_job(&document, root.get_ref(), path);
	document.finish(path.to_owned())?;
	// If something is missing, there was a complaint about it.
	job.ok_or_else(|| Problems {
		file: path.to_owned(),
		problems: vec![problem_at(text, 0, "", "the job is not complete".into())],
	})
}

/// Reads a training alone: `text` has the section `[training]` of a job, and nothing else. `path` is where its
/// values come from, for messages.
pub fn parse_training(text: &str, path: &Path) -> Result<Training, Problems> {
	let root = DeTable::parse(text).map_err(|e| {
		let at = e.span().map_or(0, |span| span.start);
		let what = format!("this is not TOML: {}", e.message());
		Problems { file: path.to_owned(), problems: vec![problem_at(text, at, "", what)] }
	})?;
	let document = Document::new(text, root.get_ref());
	let section = Section::root(&document, root.get_ref());
	let training = training::read(&section.section("training"));
	section.finish();
	document.finish(path.to_owned())?;
	training.ok_or_else(|| Problems {
		file: path.to_owned(),
		problems: vec![problem_at(text, 0, "training", "the training is not complete".into())],
	})
}

fn read_job<'a>(document: &Document<'a>, table: &DeTable<'a>, path: &Path) -> Option<JobFile> {
	let root = Section::root(document, table);
	let dataset = dataset::read(document, &root.section("dataset"), path);
	let model = model::read(&root.section("model"));
	let training = training::read(&root.section("training"));
	let initial_section = root.section("initial_model");
	let initial = match root.has("initial_model") {
		true => Some(file::read_initial(&initial_section, path)),
		false => None,
	};
	let terms = root.section("terms");
	let terms = match root.has("terms") {
		true => Some(read_terms(&terms, training.as_ref())),
		false => None,
	};
	root.finish();
	let dataset::Read { dataset, path: dataset_path, labels_path } = dataset?;
	let spec = JobSpec { dataset, model: model?, training: training?, initial_model: None };
	let mut spec = check(document, spec)?;
	let mut initial_model_path = None;
	if let Some(model) = initial {
		let model = model?;
		let parameters = parameters(document, &initial_section, &spec, &model)?;
		initial_model_path = model.path;
		let initial_model = Some(InitialModel { file: model.file, parameters });
		spec = check(document, JobSpec { initial_model, ..spec.into_spec() })?;
	}
	let terms = match terms {
		Some(terms) => Some(terms?),
		None => None,
	};
	let audit_fee_is_open = matches!(terms, Some((_, None)));
	let terms = terms.map(|(terms, audit_fee)| with_audit_fee(document, &spec, terms, audit_fee));
	Some(JobFile { spec, terms, audit_fee_is_open, dataset_path, labels_path, initial_model_path })
}

/// Checks a specification, and complains of the field that breaks a rule.
fn check(document: &Document<'_>, spec: JobSpec) -> Option<CheckedSpec> {
	spec.check()
		.map_err(|error| {
			let field = error.field();
			let plain = field.trim_end_matches("_nano");
			let field = if document.has(field) { field } else { plain };
			document.complain(field, error.to_string());
		})
		.ok()
}

/// Returns the state hash of the parameters with which a job for `spec` begins: what its section says
/// of them, or else what is computed from the file. Both must agree.
fn parameters(
	document: &Document<'_>,
	section: &Section<'_, '_>,
	spec: &CheckedSpec,
	initial: &file::Initial,
) -> Option<H256> {
	let computed = match &initial.path {
		Some(path) => match inputs::read_initial_model(spec, &initial.file, path) {
			Ok((_, parameters)) => Some(parameters),
			Err(error) => {
				document.complain("initial_model.path", error.to_string());
				return None;
			}
		},
		None => None,
	};
	file::agree_on_hash(section, "parameters", initial.parameters, computed)
}

/// Returns the hash that a section says; `how` is how to come by it.
fn hash_of(section: &Section<'_, '_>, key: &'static str, how: &str) -> Option<H256> {
	let allowed = format!("64 hexadecimal digits ({how})");
	let digits = section.text(key, &allowed)?;
	let digits = digits.trim_start_matches("0x");
	let bytes = hex::decode(digits).ok().filter(|bytes| bytes.len() == 32);
	if bytes.is_none() {
		let what = format!("it has {} characters; allowed: {allowed}", digits.len());
		section.complain(key, what);
	}
	bytes.map(|bytes| H256::from_slice(&bytes))
}

/// Returns `terms` with the given fee, or else with the highest that the least can be. What the least is follows the
/// market; complained of is what no chain takes at any time.
fn with_audit_fee(
	document: &Document<'_>,
	spec: &CheckedSpec,
	terms: Terms,
	given: Option<u128>,
) -> Terms {
	// A fee that cannot be counted is none that the chain would take, and there it is said.
	let Ok(highest) = audit_fee(spec, &terms) else {
		return Terms { audit_fee: given.unwrap_or(0), ..terms };
	};
	let audit_fee = given.unwrap_or(highest);
	let most = most_audit_fee(highest);
	if audit_fee < MIN_AUDIT_FEE || audit_fee > most {
		document.complain(
			"terms.audit_fee",
			format!(
				"it is {}; allowed: {} to {}. The least follows the market: it is the price of the {} segments \
				 that a verifier replays, at what computing counts as ({} for a ut at most), and {} at \
				 least, and the most is {} times that: verifiers put more at stake where the fee is \
				 higher, and few could. Without the field it is the least when the job is posted",
				amount::format(audit_fee),
				amount::format(MIN_AUDIT_FEE),
				amount::format(most),
				terms.replays(spec.segments()),
				amount::format(COMPUTE_PRICE),
				amount::format(MIN_AUDIT_FEE),
				MOST_AUDIT_FEE
			),
		);
	}
	Terms { audit_fee, ..terms }
}

/// Reads the terms, in which the audit fee is still missing, and that fee, if it is given.
fn read_terms(
	section: &Section<'_, '_>,
	training: Option<&Training>,
) -> Option<(Terms, Option<u128>)> {
	let money = |key: &'static str, least: u128, needed: bool| {
		let allowed = format!(
			"an amount of {0} with at most {1} decimals, at least {2}: \"1.5\"",
			amount::SYMBOL,
			amount::DECIMALS,
			format_scaled(least, amount::DECIMALS)
		);
		if needed {
			section.require(key, &allowed);
		}
		section.decimal(key, amount::DECIMALS, least..=u128::MAX, amount::SYMBOL, &allowed)
	};
	let price_per_ut = money("price_per_ut", 1, true);
	let audit_fee = money("audit_fee", 0, false);
	let blocks = || 1..=u64::from(u32::MAX);
	let segments = training.map(|t| t.steps.div_ceil(t.checkpoint_interval.max(1)).max(1));
	let replicas = section.integer("replicas", 1..=u64::from(MAX_REPLICAS));
	let largest = (MAX_VERIFIERS - 1) | 1;
	let verifiers = section.integer("verifiers", u64::from(MIN_VERIFIERS)..=u64::from(largest));
	if let Some(even) = verifiers.filter(|n| n % 2 == 0) {
		section.complain("verifiers", format!("it is {even}; allowed: an odd number"));
	}
	let one_in = u64::from(lottery::LEAST)..=u64::from(lottery::MOST);
	let one_in = section.integer("lottery", one_in).map(|n| n as u32);
	let (all, seats) = (segments.unwrap_or(1), verifiers.unwrap_or(3) as u32);
	let least = match one_in {
		// One of each stratum, which are dealt to all.
		Some(one_in) => Strata::new(all, one_in).count().div_ceil(seats.max(1)),
		// Each seat draws so many that all together find a fake.
		None => duties::least_draws(all, seats),
	};
	if let Some(one_in) = one_in.filter(|_| segments.is_some()) {
		let tickets = Strata::new(all, one_in).count();
		if seats > lottery::most_seats(all, one_in) {
			section.complain(
				"verifiers",
				format!(
					"by lottery = {one_in} there are {tickets} segments to replay, so {seats} verifiers would not all have \
					 one; allowed: 3, or no more than there are such segments"
				),
			);
		}
		if least > MAX_AUDIT_SEGMENTS {
			section.complain(
				"lottery",
				format!(
					"one of {one_in} segments are {tickets}, {least} for each of {seats} verifiers; allowed: {MAX_AUDIT_SEGMENTS} \
					 for each at most. Name a larger number, more verifiers, or longer segments"
				),
			);
		}
	}
	let most = segments.map_or(MAX_AUDIT_SEGMENTS, |n| n.min(MAX_AUDIT_SEGMENTS)).max(least);
	let audit_segments = section.integer("audit_segments", u64::from(least)..=u64::from(most));
	let apply_blocks = section.integer("apply_blocks", blocks());
	let training_blocks = section.integer("training_blocks", blocks());
	let classes = MachineClass::ALL.map(|class| (class.name(), class));
	let machine = section.choice("machine", &classes);
	let undecided = section.integer("undecided_percent", 0..=100);
	// The chain refuses one by which computing states again would take longer than a day.
	let keep_every = section.integer("keep_every", 1..=u64::from(segments.unwrap_or(u32::MAX)));
	section.finish();
	let terms = Terms {
		price_per_ut: price_per_ut?,
		replicas: replicas.unwrap_or(1) as u32,
		verifiers: verifiers.unwrap_or(3) as u32,
		audit_segments: audit_segments.map_or(least, |n| n as u32),
		audit_fee: 0,
		apply_blocks: apply_blocks.unwrap_or(20) as u32,
		training_blocks: training_blocks.unwrap_or(600) as u32,
		machine: machine.unwrap_or_default(),
		undecided_percent: undecided.map_or(UNDECIDED_PERCENT, |percent| percent as u8),
		keep_every: keep_every.unwrap_or(1) as u32,
		lottery: one_in,
	};
	Some((terms, audit_fee))
}

/// Writes a JOB.toml of this job, with every field written out but an open fee of verifiers.
pub fn to_toml(job: &JobFile) -> String {
	let mut out = String::new();
	dataset::write(&mut out, job);
	if let Some(initial) = &job.spec.initial_model {
		let _ = writeln!(out, "\n[initial_model]");
		file::write(&mut out, &initial.file, job.initial_model_path.as_deref());
		let _ = writeln!(out, "parameters = \"{:?}\"", initial.parameters);
	}
	model::write(&mut out, &job.spec.model);
	training::write(&mut out, &job.spec.training);
	if let Some(terms) = &job.terms {
		let money = |n: u128| format_scaled(n, amount::DECIMALS);
		let audit_fee = match job.audit_fee_is_open {
			true => String::new(),
			false => format!("audit_fee = \"{}\"\n", money(terms.audit_fee)),
		};
		let _ = writeln!(
			out,
			"\n[terms]\nprice_per_ut = \"{}\"\nreplicas = {}\nverifiers = {}\naudit_segments = {}\n\
			 {audit_fee}apply_blocks = {}\ntraining_blocks = {}\nmachine = \"{}\"\n\
			 undecided_percent = {}\nkeep_every = {}",
			money(terms.price_per_ut),
			terms.replicas,
			terms.verifiers,
			terms.audit_segments,
			terms.apply_blocks,
			terms.training_blocks,
			terms.machine.name(),
			terms.undecided_percent,
			terms.keep_every
		);
		if let Some(one_in) = terms.lottery {
			let _ = writeln!(out, "lottery = {one_in}");
		}
	}
	out
}

#[cfg(test)]
mod tests;
