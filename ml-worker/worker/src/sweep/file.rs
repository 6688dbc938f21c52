//! A sweep as people write it: SWEEP.toml with a job and the values that are tried.

use crate::job_toml::{self, JobFile, JobTomlError, Problems};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::{Table, Value};
use trainyard_program::spec::{CheckedSpec, JobSpec, SpecError};
use trainyard_protocol::{
	draw,
	job::BlockNumber,
	sets::{
		Measure, Plan, MAX_FACTOR, MAX_FACTORS, MAX_GENERATIONS, MAX_MEMBERS, MIN_MEMBERS, ONE,
	},
	H256,
};

/// Domain of the draw of a sample.
const SAMPLE: &[u8] = b"trainyard/sweep/sample/v1";
/// Blocks for showing scores where nobody says otherwise: an hour at 6 s.
const SHOW_BLOCKS: BlockNumber = 600;

/// Says why there is no sweep.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
	/// The file cannot be read.
	#[error("cannot read the sweep file {}: {error}. docs/sets.md has one to start from", .path.display())]
	Read {
		/// The file.
		path: PathBuf,
		/// Why.
		error: std::io::Error,
	},
	/// The file cannot be understood.
	#[error("{}: {why}", .path.display())]
	Parse {
		/// The file.
		path: PathBuf,
		/// What is wrong, and where.
		why: String,
	},
	/// The job cannot be read.
	#[error(transparent)]
	Job(#[from] JobTomlError),
	/// A member's training cannot be read.
	#[error("{member}: {problems}")]
	Training {
		/// Its values.
		member: String,
		/// What is wrong.
		problems: Problems,
	},
	/// A member is not valid.
	#[error("{member}: {error}")]
	Spec {
		/// Its values.
		member: String,
		/// What is wrong.
		error: SpecError,
	},
	/// There are too few members, or too many.
	#[error(
		"a set has {MIN_MEMBERS} to {MAX_MEMBERS} members, and these are {0}: name more or fewer values, set `seeds`, \
		 or let `sample` draw some of them"
	)]
	Members(u64),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SweepFile {
	job: PathBuf,
	#[serde(default)]
	sweep: SweepToml,
	pbt: Option<PbtToml>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SweepToml {
	measure: Measure,
	seeds: u32,
	sample: Option<u32>,
	seed: u64,
	show_blocks: BlockNumber,
	training: Table,
}

impl Default for SweepToml {
	fn default() -> Self {
		let (measure, seeds, sample, seed) = (Measure::Accuracy, 1, None, 0);
		let training = Table::new();
		Self { measure, seeds, sample, seed, show_blocks: SHOW_BLOCKS, training }
	}
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PbtToml {
	generations: u32,
	replaced: Option<u32>,
	#[serde(default = "usual_factors")]
	factors: Vec<f64>,
}

fn usual_factors() -> Vec<f64> {
	vec![0.8, 1.25]
}

/// A sweep from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
	/// The job of which the members are made.
	pub job: JobFile,
	/// What each member trains.
	pub members: Vec<CheckedSpec>,
	/// How it goes on; the fee is left open.
	pub plan: Plan,
}

/// Values that are tried for one key of `[training]`.
#[derive(Clone, Debug, PartialEq)]
struct Axis {
	key: Vec<String>,
	values: Vec<Value>,
}

/// Reads the sweep in the file at `path`, and the job that it names, by a path that is relative to it.
pub fn load(path: &Path) -> Result<Sweep, SweepError> {
	let read = |path: &Path| {
		std::fs::read_to_string(path)
			.map_err(|error| SweepError::Read { path: path.to_owned(), error })
	};
	let parse = |why: String| SweepError::Parse { path: path.to_owned(), why };
	let file: SweepFile = toml::from_str(&read(path)?).map_err(|e| parse(e.to_string()))?;
	let folder = path.parent().unwrap_or(Path::new("."));
	let job_path = folder.join(&file.job);
	let job = job_toml::load(&job_path)?;
	// It was read as a job, so it is TOML.
	let base: Table = toml::from_str(&read(&job_path)?).map_err(|e| parse(e.to_string()))?;
	let base = base.get("training").and_then(Value::as_table).cloned().unwrap_or_default();
	let mut axes = Vec::new();
	axes_of(&file.sweep.training, &mut Vec::new(), &mut axes).map_err(parse)?;
	let picks = picks(&axes, &file.sweep)?;
	let mut members = Vec::new();
	for pick in picks {
		let spec = member(&job.spec, &base, &axes, pick, path)?;
		members.extend(std::iter::repeat_n(spec, file.sweep.seeds as usize));
	}
	let plan = plan(&file, members.len()).map_err(parse)?;
	Ok(Sweep { job, members, plan })
}

/// Collects the lists of values in a table, and in those in it.
fn axes_of(table: &Table, at: &mut Vec<String>, all: &mut Vec<Axis>) -> Result<(), String> {
	for (key, value) in table {
		at.push(key.clone());
		match value {
			Value::Table(inner) => axes_of(inner, at, all)?,
			Value::Array(values) if !values.is_empty() => {
				all.push(Axis { key: at.clone(), values: values.clone() });
			}
			_ => {
				let name = at.join(".");
				return Err(format!("sweep.training.{name}: give a list of the values to try"));
			}
		}
		at.pop();
	}
	Ok(())
}

/// Returns which combinations of values there are members of: all, or a sample.
fn picks(axes: &[Axis], sweep: &SweepToml) -> Result<Vec<u32>, SweepError> {
	let all = axes.iter().try_fold(1u64, |all, axis| all.checked_mul(axis.values.len() as u64));
	let all = all.unwrap_or(u64::MAX);
	let count = sweep.sample.map_or(all, |sample| all.min(sample.into()));
	let members = count.saturating_mul(sweep.seeds.into());
	if !(u64::from(MIN_MEMBERS)..=u64::from(MAX_MEMBERS)).contains(&members) {
		return Err(SweepError::Members(members));
	}
	// A grid of more than that is too large to be drawn from.
	let bound = u32::try_from(all).map_err(|_| SweepError::Members(all))?;
	let count = u32::try_from(count).unwrap_or(u32::MAX);
	let seed = H256::from_low_u64_be(sweep.seed);
	Ok(draw::distinct(SAMPLE, &seed, bound, count))
}

/// Returns what the member trains that has combination `pick` of the values; the last key changes fastest.
fn member(
	job: &JobSpec,
	base: &Table,
	axes: &[Axis],
	pick: u32,
	path: &Path,
) -> Result<CheckedSpec, SweepError> {
	let (mut training, mut rest, mut name) = (base.clone(), pick as usize, Vec::new());
	for axis in axes.iter().rev() {
		let count = axis.values.len().max(1);
		if let Some(value) = axis.values.get(rest % count) {
			name.push(format!("{} = {value}", axis.key.join(".")));
			put(&mut training, &axis.key, value.clone());
		}
		rest /= count;
	}
	name.reverse();
	let member = name.join(", ");
	let whole = Table::from_iter([("training".to_owned(), Value::Table(training))]);
	let parse =
		|e: toml::ser::Error| SweepError::Parse { path: path.to_owned(), why: e.to_string() };
	let text = toml::to_string(&whole).map_err(parse)?;
	let training = job_toml::parse_training(&text, path)
		.map_err(|problems| SweepError::Training { member: member.clone(), problems })?;
	let spec = JobSpec { training, ..job.clone() };
	spec.check().map_err(|error| SweepError::Spec { member, error })
}

/// Puts a value into a table, and tables in it where there are none.
fn put(table: &mut Table, key: &[String], value: Value) {
	let Some((first, rest)) = key.split_first() else { return };
	if rest.is_empty() {
		table.insert(first.clone(), value);
		return;
	}
	let inner = table.entry(first.clone()).or_insert_with(|| Value::Table(Table::new()));
	if let Value::Table(inner) = inner {
		put(inner, rest, value);
	}
}

/// Returns how a set of so many members goes on.
fn plan(file: &SweepFile, members: usize) -> Result<Plan, String> {
	let members = u32::try_from(members).unwrap_or(u32::MAX);
	let SweepToml { measure, show_blocks, .. } = file.sweep;
	let mut plan = Plan {
		measure,
		generations: 1,
		replaced: 0,
		factors: Default::default(),
		show_blocks,
		max_fee_per_ut: 0,
	};
	let Some(pbt) = &file.pbt else { return Ok(plan) };
	if !(1..=MAX_GENERATIONS).contains(&pbt.generations) {
		let found = pbt.generations;
		return Err(format!("pbt.generations is {found}; allowed: 1 to {MAX_GENERATIONS}"));
	}
	plan.generations = pbt.generations;
	plan.replaced = pbt.replaced.unwrap_or(members.div_ceil(4));
	if plan.replaced > members / 2 {
		let (found, most) = (plan.replaced, members / 2);
		return Err(format!("pbt.replaced is {found}; allowed: 0 to {most}, half of the members"));
	}
	let thousandths = |factor: &f64| {
		let rounded = (factor * f64::from(ONE)).round();
		(1.0..=f64::from(MAX_FACTOR)).contains(&rounded).then_some(rounded as u32)
	};
	let factors: Option<Vec<u32>> = pbt.factors.iter().map(thousandths).collect();
	let factors = factors.filter(|factors| !factors.is_empty() || plan.replaced == 0);
	let factors = factors.and_then(|factors| factors.try_into().ok());
	plan.factors = factors.ok_or(format!(
		"pbt.factors: give 1 to {MAX_FACTORS} numbers, each from 0.001 to {}",
		MAX_FACTOR / ONE
	))?;
	Ok(plan)
}

#[cfg(test)]
mod tests {
	use super::*;

	/// A file beside the example of the digits.
	fn read(text: &str) -> Result<Sweep, SweepError> {
		let folder = tempfile::tempdir().unwrap();
		let job = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits.toml");
		let path = folder.path().join("sweep.toml");
		std::fs::write(&path, format!("job = {job:?}\n{text}")).unwrap();
		load(&path)
	}

	fn text_of(result: Result<Sweep, SweepError>) -> String {
		result.unwrap_err().to_string()
	}

	#[test]
	fn a_grid_has_all_combinations() {
		let sweep = read(
			"[sweep]\nmeasure = \"loss\"\n[sweep.training]\nbatch_size = [16, 32]\n\
			 learning_rate = [0.001, 0.00005, 1e-4]\n[sweep.training.optimizer.adamw]\nbeta1 = [0.9]\n",
		);
		let sweep = sweep.unwrap();
		let tried: Vec<(u32, u64)> = sweep
			.members
			.iter()
			.map(|spec| (spec.training.batch_size, spec.training.learning_rate_nano))
			.collect();
		let rates = [1_000_000, 50_000, 100_000];
		let ought: Vec<(u32, u64)> =
			[16, 32].into_iter().flat_map(|batch| rates.map(|rate| (batch, rate))).collect();
		assert_eq!(tried, ought);
		assert_eq!((sweep.plan.measure, sweep.plan.generations), (Measure::Loss, 1));
		let base = sweep.job.spec.clone().into_spec();
		let mut first = sweep.members[0].clone().into_spec();
		first.training = base.training.clone();
		assert_eq!(first, base, "nothing else differs");
	}

	#[test]
	fn seeds_are_the_same_specification_several_times() {
		let sweep = read("[sweep]\nseeds = 3\n").unwrap();
		assert_eq!(sweep.members, vec![sweep.job.spec.clone(); 3]);
		let sweep = read("[sweep]\nseeds = 2\n[sweep.training]\nbatch_size = [8, 16]\n").unwrap();
		let sizes: Vec<u32> = sweep.members.iter().map(|spec| spec.training.batch_size).collect();
		assert_eq!(sizes, [8, 8, 16, 16]);
	}

	#[test]
	fn a_sample_is_drawn_by_its_seed() {
		let sample = |seed: u32| {
			let text = format!(
				"[sweep]\nsample = 5\nseed = {seed}\n[sweep.training]\nbatch_size = [1,2,3,4,5,6,7,8]\n\
				 learning_rate = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]\n"
			);
			read(&text).unwrap().members
		};
		assert_eq!(sample(1), sample(1));
		assert_ne!(sample(1), sample(2));
		assert_eq!(sample(1).len(), 5);
	}

	#[test]
	fn a_population_has_usual_values() {
		let text = "[sweep.training]\nlearning_rate = [0.001, 0.002, 0.003, 0.004, 0.005]\n[pbt]\ngenerations = 4\n";
		let plan = read(text).unwrap().plan;
		assert_eq!((plan.generations, plan.replaced), (4, 2));
		assert_eq!(plan.factors.to_vec(), [800, 1_250]);
		let plan = read(&format!("{text}replaced = 1\nfactors = [0.5]\n")).unwrap().plan;
		assert_eq!((plan.replaced, plan.factors.to_vec()), (1, vec![500]));
	}

	#[test]
	fn the_example_is_that_of_the_page() {
		let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/sweep.toml");
		let sweep = load(Path::new(example)).unwrap();
		assert_eq!((sweep.members.len(), sweep.plan.generations, sweep.plan.replaced), (6, 4, 2));
		let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sets.md");
		let page = std::fs::read_to_string(page).unwrap();
		assert!(page.contains(&std::fs::read_to_string(example).unwrap()));
	}

	#[test]
	fn what_is_wrong_is_said() {
		assert!(text_of(read("")).contains("2 to 32 members"));
		assert!(text_of(read("[sweep]\nseeds = 33\n")).contains("these are 33"));
		let one = text_of(read("[sweep.training]\nbatch_size = 3\n"));
		assert!(one.contains("sweep.training.batch_size: give a list"), "{one}");
		let unknown = text_of(read("[sweep.training]\nbatchsize = [3, 4]\n"));
		assert!(unknown.contains("batchsize = 3"), "{unknown}");
		let invalid = text_of(read("[sweep.training]\nlearning_rate = [0.1, -1.0]\n"));
		assert!(invalid.contains("learning_rate = -1"), "{invalid}");
		let seeds = "[sweep]\nseeds = 4\n";
		let many = text_of(read(&format!("{seeds}[pbt]\ngenerations = 65\n")));
		assert!(many.contains("1 to 64"), "{many}");
		let half = text_of(read(&format!("{seeds}[pbt]\ngenerations = 2\nreplaced = 3\n")));
		assert!(half.contains("0 to 2"), "{half}");
		let factor = text_of(read(&format!("{seeds}[pbt]\ngenerations = 2\nfactors = [11.0]\n")));
		assert!(factor.contains("0.001 to 10"), "{factor}");
		assert!(text_of(load(Path::new("/nowhere.toml"))).contains("docs/sets.md"));
		assert!(text_of(read("[swep]\n")).contains("swep"));
	}
}
