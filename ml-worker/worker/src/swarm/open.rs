//! A swarm as people write it: SWARM.toml with a job, slices, and what is paid.

use crate::{
	federate::prepare::PrepareError,
	job_toml::{self, JobFile, JobTomlError},
};
use serde::{Deserialize, Deserializer};
use std::{
	path::{Path, PathBuf},
	sync::atomic::AtomicBool,
};
use trainyard_client::amount;
use trainyard_program::spec::{CheckedSpec, FileRef, SpecError, ON_CHAIN};
use trainyard_proof::{
	bundle::files::{self, FileError},
	data::{self, DataError},
	hash,
};
use trainyard_protocol::{
	federation::PartData,
	job::{Balance, BlockNumber, Terms},
	swarm::{
		Averaging, Curve, CurveFault, OuterRule, Pace, Payer, Plan, Point, Reward, Stages,
		MAX_CONTRIBUTIONS, MAX_POINTS, MAX_SLICES, MIN_LABELS,
	},
	Text,
};

/// Says why no swarm can be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
	/// The file cannot be read.
	#[error("cannot read the swarm file {}: {error}. docs/swarm.md has one to start from", .path.display())]
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
	/// The job has no terms.
	#[error("{} has no [terms]: they are offered to the market where a count is challenged", .0.display())]
	NoTerms(PathBuf),
	/// The reward is refused.
	#[error("reward: {0}")]
	Reward(CurveFault),
	/// There are no slices, or too many.
	#[error("a swarm has 1 to {MAX_SLICES} slices at a time, and this one names {0}")]
	Slices(usize),
	/// A slice cannot be used.
	#[error("{}: {what}", .path.display())]
	Slice {
		/// Its file.
		path: PathBuf,
		/// What is wrong.
		what: String,
	},
	/// A slice cannot be read.
	#[error(transparent)]
	Data(#[from] DataError),
	/// A file cannot be read or written.
	#[error(transparent)]
	File(#[from] FileError),
	/// The first model cannot be made.
	#[error(transparent)]
	Prepare(#[from] PrepareError),
	/// The job is not valid.
	#[error("the job is not valid: {0}")]
	Spec(#[from] SpecError),
}

/// An amount, as people write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Amount(Balance);

impl<'de> Deserialize<'de> for Amount {
	fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
		let text = String::deserialize(d)?;
		let parsed = amount::parse(&text);
		parsed.map(Self).map_err(|e| serde::de::Error::custom(format!("`{text}`: {e}")))
	}
}

/// What a model is worth.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum CurveToml {
	Linear { factor: Amount },
	Power { factor: Amount, exponent: u8 },
	Table { points: Vec<PointToml> },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PointToml {
	score: f64,
	worth: Amount,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RewardToml {
	curve: CurveToml,
	#[serde(default = "steady")]
	pace: Pace,
	/// A part of 1.
	floor: f64,
	stake: Amount,
}

fn steady() -> Pace {
	Pace { first: 1_000, last: 1_000 }
}

fn usual_stages() -> Stages {
	Stages { collect: 50, show: 200, count: 200, challenge: 200 }
}

fn few_peers() -> u32 {
	64
}

fn ticket_blocks() -> BlockNumber {
	600
}

fn yes() -> bool {
	true
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SwarmToml {
	job: PathBuf,
	slices: Vec<PathBuf>,
	#[serde(default)]
	budget: Amount,
	payer: Payer,
	most_per_peer: Option<Amount>,
	claim_fee: Amount,
	slice_deposit: Amount,
	#[serde(default)]
	open_slices: bool,
	#[serde(default = "yes")]
	private: bool,
	#[serde(default = "few_peers")]
	max_peers: u32,
	#[serde(default = "usual_stages")]
	stages: Stages,
	#[serde(default = "ticket_blocks")]
	ticket_blocks: BlockNumber,
	blocks: BlockNumber,
	max_fee_per_ut: Option<Amount>,
	reward: RewardToml,
	/// Without it peers mix by pairs.
	outer: Option<OuterToml>,
}

/// Outer steps.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OuterToml {
	#[serde(default = "few_picks")]
	picks: u16,
	#[serde(default = "few_bits")]
	bits: u8,
	/// A part of 1.
	#[serde(default = "most")]
	keep: f64,
	#[serde(default = "whole")]
	rate: f64,
	#[serde(default)]
	momentum: f64,
	/// 0 for none.
	#[serde(default = "twice")]
	clip: f64,
	#[serde(default)]
	trim: u8,
	inner: u32,
	train: BlockNumber,
	vouch: BlockNumber,
}

fn few_picks() -> u16 {
	64
}

fn few_bits() -> u8 {
	2
}

fn most() -> f64 {
	0.95
}

fn whole() -> f64 {
	1.0
}

fn twice() -> f64 {
	2.0
}

/// Returns a number in thousandths.
fn thousandths(number: f64) -> Option<u16> {
	let scaled = (number * 1e3).round();
	(0.0..=f64::from(u16::MAX)).contains(&scaled).then_some(scaled as u16)
}

impl OuterToml {
	/// Returns the rule; otherwise what is wrong with it.
	fn rule(&self) -> Result<OuterRule, String> {
		let number = |name: &str, number: f64| {
			thousandths(number).ok_or(format!("outer.{name} is a number from 0 to 65.535"))
		};
		let clip = number("clip", self.clip)?;
		let rule = OuterRule {
			picks: self.picks,
			bits: self.bits,
			keep: number("keep", self.keep)?,
			rate: number("rate", self.rate)?,
			momentum: number("momentum", self.momentum)?,
			clip: (clip > 0).then_some(clip),
			trim: self.trim,
			inner: self.inner,
			train: self.train,
			vouch: self.vouch,
		};
		rule.check().map_err(|fault| format!("outer: {fault}"))?;
		Ok(rule)
	}
}

/// A swarm from a file.
#[derive(Debug)]
pub struct SwarmFile {
	/// What is trained.
	pub job: JobFile,
	/// The files of the slices.
	pub slices: Vec<PathBuf>,
	/// What is put into it.
	pub budget: Balance,
	/// How it goes on, but that its end is in blocks from its beginning, and that the most fee may be left open.
	pub plan: Plan,
	/// Whether the file says how high the protocol fee of a measurement may be.
	pub fee_is_named: bool,
}

/// Returns a part of 1 in millionths.
fn millionths(part: f64) -> Option<u32> {
	let scaled = (part * 1e6).round();
	(0.0..=1e6).contains(&scaled).then_some(scaled as u32)
}

/// Reads the swarm in the file at `path`, and the job that it names. Paths in it are relative to it.
pub fn load(path: &Path) -> Result<SwarmFile, OpenError> {
	let read = std::fs::read_to_string(path);
	let text = read.map_err(|error| OpenError::Read { path: path.to_owned(), error })?;
	let wrong = |why: String| OpenError::Parse { path: path.to_owned(), why };
	let file: SwarmToml = toml::from_str(&text).map_err(|e| wrong(e.to_string()))?;
	let beside = |named: &PathBuf| path.parent().unwrap_or(Path::new("")).join(named);
	let job = job_toml::load(&beside(&file.job))?;
	let appeal: Terms = job.terms.clone().ok_or_else(|| OpenError::NoTerms(beside(&file.job)))?;
	let curve = match file.reward.curve {
		CurveToml::Linear { factor } => Curve::Linear { factor: factor.0 },
		CurveToml::Power { factor, exponent } => Curve::Power { factor: factor.0, exponent },
		CurveToml::Table { points } => {
			let point = |PointToml { score, worth }: &PointToml| {
				let score = millionths(*score);
				let score =
					score.ok_or_else(|| wrong("reward.curve: a score is a part of 1".into()))?;
				Ok::<_, OpenError>(Point { score, worth: worth.0 })
			};
			let points: Vec<Point> = points.iter().map(point).collect::<Result<_, _>>()?;
			let most = format!("reward.curve: a table has at most {MAX_POINTS} points");
			Curve::Table(points.try_into().map_err(|_| wrong(most))?)
		}
	};
	let floor = millionths(file.reward.floor);
	let floor = floor.ok_or_else(|| wrong("reward.floor is a part of 1, like 0.6".into()))?;
	let reward = Reward { curve, pace: file.reward.pace, floor, stake: file.reward.stake.0 };
	reward.check().map_err(OpenError::Reward)?;
	let slices: Vec<PathBuf> = file.slices.iter().map(beside).collect();
	if slices.is_empty() || slices.len() > MAX_SLICES as usize {
		return Err(OpenError::Slices(slices.len()));
	}
	let averaging = match &file.outer {
		None => Averaging::Pairs,
		Some(_) if !job.spec.has_noise() => {
			return Err(wrong(
				"[outer] needs noise in the job, or one training could be contributed by many: set \
				 training.input_noise to 0.001 to 1, or for tokens a dropout of at least 0.01 behind the embedding"
					.into(),
			));
		}
		Some(outer) if file.payer == Payer::Budget && file.max_peers <= MAX_CONTRIBUTIONS => {
			Averaging::Outer(outer.rule().map_err(wrong)?)
		}
		Some(_) => {
			let most = MAX_CONTRIBUTIONS;
			return Err(wrong(format!(
				"[outer] goes with payer = \"budget\" and max_peers of {most} at most"
			)));
		}
	};
	let plan = Plan {
		reward,
		payer: file.payer,
		averaging,
		most_per_peer: file.most_per_peer.map_or(file.budget.0, |most| most.0),
		claim_fee: file.claim_fee.0,
		slice_deposit: file.slice_deposit.0,
		open_slices: file.open_slices,
		private: file.private,
		max_peers: file.max_peers,
		stages: file.stages,
		ticket_blocks: file.ticket_blocks,
		end: file.blocks,
		appeal,
		max_fee_per_ut: file.max_fee_per_ut.map_or(0, |fee| fee.0),
	};
	let fee_is_named = file.max_fee_per_ut.is_some();
	Ok(SwarmFile { job, slices, budget: file.budget.0, plan, fee_is_named })
}

/// Returns what names a slice: the root of its file, which nobody else has until it is drawn.
pub fn slice(spec: &CheckedSpec, path: &Path) -> Result<PartData, OpenError> {
	let wrong = |what: String| OpenError::Slice { path: path.to_owned(), what };
	let template = &spec.dataset;
	if template.labels.is_some() {
		return Err(wrong("slices whose labels are files of their own cannot be used here".into()));
	}
	let (every, inputs) = (template.validation_every, template.features);
	let found = data::inspect(path, None, template.format, every, inputs)?;
	if found.features != inputs || found.classes > template.classes {
		return Err(wrong(format!(
			"it has {} inputs and {} classes, and the job {inputs} and {}",
			found.features, found.classes, template.classes
		)));
	}
	let small =
		|rows: u64| u32::try_from(rows).map_err(|_| wrong(format!("{rows} rows are too many")));
	let root = hash::blob_root(path).map_err(files::at("read", path))?;
	let location = Text::new(ON_CHAIN).unwrap_or_default();
	let file = FileRef { content_hash: root, bytes: found.bytes, location };
	let (train_rows, validation_rows) = (small(found.train_rows)?, small(found.validation_rows)?);
	let mut dataset = template.clone();
	(dataset.train_rows, dataset.validation_rows) = (train_rows, validation_rows);
	let rows = data::read_rows(path, None, &dataset, &AtomicBool::new(false))?.root();
	Ok(PartData { file, labels: None, train_rows, validation_rows, rows })
}

/// Returns where the file of a slice is kept for the day on which it is drawn.
pub fn kept(folder: &Path, slice: &PartData) -> PathBuf {
	folder.join("shown").join(hex::encode(slice.file.content_hash))
}

/// Hashes slices of a swarm that trains this, and keeps a copy of each in `folder`: their owner must show those that
/// are drawn, or loses a deposit.
pub fn slices(
	spec: &CheckedSpec,
	paths: &[PathBuf],
	folder: &Path,
) -> Result<Vec<PartData>, OpenError> {
	files::create_private_folder(&folder.join("shown"))?;
	let mut all = Vec::<PartData>::new();
	for path in paths {
		let made = slice(spec, path)?;
		let labels = made.validation_rows.saturating_mul(spec.labels_per_row());
		if labels < MIN_LABELS {
			let what = format!(
				"{labels} labels validate, and a slice has {MIN_LABELS} at least: make it longer, or more rows \
				 validate by dataset.validation_every"
			);
			return Err(OpenError::Slice { path: path.clone(), what });
		}
		let rows = |slice: &PartData| (slice.train_rows, slice.validation_rows);
		if let Some(first) = all.first().filter(|first| rows(first) != rows(&made)) {
			let (other, first) = (rows(&made), rows(first));
			let what = format!(
				"it has {} rows that train and {} that validate, and the first slice {} and {}: all have as many, \
				 so that what measuring by one costs is known",
				other.0, other.1, first.0, first.1
			);
			return Err(OpenError::Slice { path: path.clone(), what });
		}
		let bytes = files::read(path, made.file.bytes)?;
		files::write_private(&kept(folder, &made), &bytes)?;
		all.push(made);
	}
	// The chain takes none whose file is longer than the first one's.
	all.sort_by_key(|slice| std::cmp::Reverse(slice.file.bytes));
	Ok(all)
}

#[cfg(test)]
mod tests {
	use super::*;

	const SWARM: &str = r#"
job = "job.toml"
slices = ["a.csv", "b.csv"]
budget = "100"
payer = "peers"
claim_fee = "0.1"
slice_deposit = "5"
blocks = 10000

[reward]
curve = { linear = { factor = "10" } }
floor = 0.6
stake = "2"
"#;

	fn written(text: &str) -> tempfile::TempDir {
		let dir = tempfile::tempdir().unwrap();
		let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
		let job = std::fs::read_to_string(format!("{examples}/digits.toml")).unwrap();
		let job = job.replace("data/digits.csv\"  ", &format!("{examples}/data/digits.csv\""));
		std::fs::write(dir.path().join("job.toml"), job).unwrap();
		let digits = std::fs::read_to_string(format!("{examples}/data/digits.csv")).unwrap();
		let (header, rows) = digits.split_once('\n').unwrap();
		let rows: Vec<&str> = rows.lines().collect();
		for (name, part) in ["a.csv", "b.csv"].iter().zip(rows.chunks(600)) {
			let text = format!("{header}\n{}\n", part.join("\n"));
			std::fs::write(dir.path().join(name), text).unwrap();
		}
		std::fs::write(dir.path().join("swarm.toml"), text).unwrap();
		dir
	}

	#[test]
	fn a_swarm_is_read_and_its_slices_are_named() {
		let dir = written(SWARM);
		let file = load(&dir.path().join("swarm.toml")).unwrap();
		let unit = amount::parse("1").unwrap();
		assert_eq!((file.budget, file.plan.most_per_peer), (100 * unit, 100 * unit));
		assert_eq!(file.plan.reward.curve, Curve::Linear { factor: 10 * unit });
		assert_eq!((file.plan.reward.floor, file.plan.payer), (600_000, Payer::Peers));
		assert!(file.plan.private && !file.plan.open_slices && !file.fee_is_named);
		let folder = dir.path().join("opened");
		let all = slices(&file.job.spec, &file.slices, &folder).unwrap();
		assert_eq!(all.len(), 2);
		assert!(all[0].file.bytes >= all[1].file.bytes, "the chain takes none that is longer");
		for name in ["a.csv", "b.csv"] {
			let bytes = std::fs::read(dir.path().join(name)).unwrap();
			let root = super::super::models::root_of(&bytes);
			let slice = all.iter().find(|slice| slice.file.content_hash == root).unwrap();
			assert_eq!((slice.train_rows, slice.validation_rows), (480, 120));
			assert!(slice.file.is_on_chain());
			assert_eq!(std::fs::read(kept(&folder, slice)).unwrap(), bytes);
		}
	}

	#[test]
	fn outer_steps_are_read() {
		let budget = SWARM.replace("\"peers\"", "\"budget\"");
		let outer = "[outer]\ninner = 30\ntrain = 20\nvouch = 8\n";
		let with_noise = |text: &str| {
			let dir = written(text);
			let path = dir.path().join("job.toml");
			let job = std::fs::read_to_string(&path).unwrap();
			let job = job.replace("# input_noise = 0.001", "input_noise = 0.001");
			std::fs::write(path, job).unwrap();
			dir
		};
		let still = written(&format!("{budget}{outer}"));
		let error = load(&still.path().join("swarm.toml")).unwrap_err().to_string();
		assert!(error.contains("set training.input_noise"), "{error}");
		let dir = with_noise(&format!("{budget}{outer}momentum = 0.9\nclip = 0\n"));
		let file = load(&dir.path().join("swarm.toml")).unwrap();
		let rule = OuterRule {
			picks: 64,
			bits: 2,
			keep: 950,
			rate: 1_000,
			momentum: 900,
			clip: None,
			trim: 0,
			inner: 30,
			train: 20,
			vouch: 8,
		};
		assert_eq!(file.plan.averaging, Averaging::Outer(rule));
		for (swarm, rest, said) in [
			(SWARM, "", "goes with payer = \"budget\""),
			(&budget, "picks = 0", "picks are 1 to 4096"),
			(&budget, "rate = 70", "outer.rate is a number from 0 to 65.535"),
			(&budget, "keep = 1.5", "keep is at most 1000 thousandths"),
			(&budget, "steps = 3", "unknown field `steps`"),
		] {
			let dir = with_noise(&format!("{swarm}{outer}{rest}\n"));
			let error = load(&dir.path().join("swarm.toml")).unwrap_err().to_string();
			assert!(error.contains(said), "{error}");
		}
	}

	#[test]
	fn what_is_wrong_is_said() {
		for (from, to, said) in [
			("budget = \"100\"", "budget = \"much\"", "`much`"),
			("floor = 0.6", "floor = 60", "floor is a part of 1"),
			("floor = 0.6", "floor = 1.0", "below 1000000"),
			("\"peers\"", "\"nobody\"", "unknown variant"),
			("[\"a.csv\", \"b.csv\"]", "[]", "names 0"),
			("blocks = 10000", "blocks = 10000\nwhat = 1", "unknown field"),
			("job.toml", "none.toml", "cannot read the job file"),
		] {
			let dir = written(&SWARM.replace(from, to));
			let error = load(&dir.path().join("swarm.toml")).unwrap_err().to_string();
			assert!(error.contains(said), "{to}: {error}");
		}
		let dir = written(SWARM);
		std::fs::write(dir.path().join("b.csv"), "1,2,0\n3,4,1\n").unwrap();
		let file = load(&dir.path().join("swarm.toml")).unwrap();
		let error = slices(&file.job.spec, &file.slices, dir.path()).unwrap_err().to_string();
		assert!(error.contains("2 inputs"), "{error}");
		let refused = |rows: usize| {
			let dir = written(SWARM);
			let text = std::fs::read_to_string(dir.path().join("b.csv")).unwrap();
			let some: Vec<&str> = text.lines().take(rows + 1).collect();
			std::fs::write(dir.path().join("b.csv"), some.join("\n") + "\n").unwrap();
			let file = load(&dir.path().join("swarm.toml")).unwrap();
			slices(&file.job.spec, &file.slices, dir.path()).unwrap_err().to_string()
		};
		assert!(refused(400).contains("80 labels validate"));
		assert!(refused(595).contains("119 that validate, and the first slice 480 and 120"));
	}
}
