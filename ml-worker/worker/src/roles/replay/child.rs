//! The process that replays: it takes one request from its standard input, answers it on its standard
//! output, and ends. It ends at once when its standard input does, that is, when the daemon is gone.

use super::request::{Figures, JobOf, Reply, Request, Scale, Work};
use crate::roles::store::SavedReplays;
use serde_json::to_value;
use std::{
	io::{BufRead, Read, Write},
	path::PathBuf,
	process::ExitCode,
	sync::{atomic::AtomicBool, Mutex},
};
use trainyard_engine::Compute;
use trainyard_program::spec::{CheckedSpec, JobSpec};
use trainyard_proof::{
	bundle::Bundle,
	drill,
	inputs::{InputPaths, Inputs},
	verify::{self, rules, Aids, Contest, Judged, Verdict},
};
use trainyard_protocol::{drill::Template, job::WorkResult, H256};

/// The first bytes of the line that holds the reply: libraries may print lines of their own.
pub const MARK: &str = "trainyard-reply ";
/// The longest request that is read.
const MAX_REQUEST: u64 = 64 << 20;
/// Exit code if the daemon is gone.
const ALONE: i32 = 3;

/// Nobody asks such a process to stop: its daemon ends it.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Answers the request on standard input.
pub fn main() -> ExitCode {
	main_with(answer)
}

/// Answers it by `answer`.
pub(super) fn main_with(answer: impl FnOnce(Work) -> Result<Reply, String>) -> ExitCode {
	// An allocation that fails prints a backtrace where it is asked for, which allocates, fails, and
	// waits for ever for the lock of the first backtrace. There is no other thread yet.
	std::env::set_var("RUST_BACKTRACE", "0");
	let mut line = String::new();
	let read = std::io::stdin().lock().take(MAX_REQUEST).read_line(&mut line);
	let request: Request = match read.map(|_| serde_json::from_str(&line)) {
		Ok(Ok(request)) => request,
		Ok(Err(e)) => return unreadable(&e),
		Err(e) => return unreadable(&e),
	};
	std::thread::spawn(|| {
		let mut byte = [0];
		while let Ok(1..) = std::io::stdin().lock().read(&mut byte) {}
		std::process::exit(ALONE);
	});
	let reply = match limit(request.memory).and_then(|()| choose(&request.device)) {
		Ok(()) => answer(request.work).unwrap_or_else(Reply::Failed),
		Err(why) => Reply::Failed(why),
	};
	let written = serde_json::to_string(&reply).map_err(std::io::Error::other);
	// What a library printed may have left a line open.
	match written.and_then(|text| writeln!(std::io::stdout(), "\n{MARK}{text}")) {
		Ok(()) => ExitCode::SUCCESS,
		Err(e) => unreadable(&e),
	}
}

fn unreadable(error: &dyn std::error::Error) -> ExitCode {
	eprintln!("this command is for a role of trainyard, which starts it by itself: {error}");
	ExitCode::FAILURE
}

/// Bounds the memory of this process. An allocation beyond it fails, which ends the process.
///
/// What is bounded is memory that is private and may be written to (`RLIMIT_DATA`), and not the
/// address space (`RLIMIT_AS`): drivers of GPUs reserve hundreds of gigabytes of addresses, and
/// neither these nor files that are only read take any memory.
#[cfg(unix)]
fn limit(bytes: u64) -> Result<(), String> {
	use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
	let before = getrlimit(Resource::Data);
	let most = before.maximum.map_or(bytes, |most| most.min(bytes));
	let limit = Rlimit { current: Some(most), maximum: Some(most) };
	setrlimit(Resource::Data, limit).map_err(|e| format!("cannot bound this process's memory: {e}"))
}

/// Such a system has no such limit that a process could set: memory is only counted beforehand.
#[cfg(not(unix))]
fn limit(_bytes: u64) -> Result<(), String> {
	Ok(())
}

fn choose(device: &str) -> Result<(), String> {
	device.parse::<Compute>()?.choose().map_err(|e| e.to_string())
}

fn text(error: impl std::fmt::Display) -> String {
	error.to_string()
}

fn checked(spec: Scale<JobSpec>) -> Result<CheckedSpec, String> {
	spec.0.check().map_err(text)
}

/// Returns a job with its seed and what it reads.
fn opened(job: JobOf) -> Result<(CheckedSpec, H256, Inputs), String> {
	let spec = checked(job.spec)?;
	let inputs = Inputs::load(&spec, &job.paths.into()).map_err(text)?;
	Ok((spec, job.seed, inputs))
}

/// Does what is asked for.
pub(super) fn answer(work: Work) -> Result<Reply, String> {
	match work {
		Work::Decode { spec, places } => {
			let places: Vec<InputPaths> = places.into_iter().map(Into::into).collect();
			decode(&checked(spec)?, &places)
		}
		Work::Audit { job, dir, expected, segments, round } => {
			audit(job, dir, expected, &segments, round)
		}
		Work::Judge { job, rivals } => {
			let (spec, seed, inputs) = opened(job)?;
			let mut contest = Contest::new(&spec, seed, inputs, &rivals).map_err(text)?;
			Ok(match contest.judge(&NEVER).map_err(text)? {
				Judged::Over => Reply::Judged(None),
				Judged::Lacks(file) => Reply::Wants(vec![file]),
				Judged::Found(found) => Reply::Judged(Some((found.evidence, found.charged))),
			})
		}
		Work::Rules { job, dir } => {
			let bundle = Bundle::open(&dir).map_err(text)?;
			if !bundle.manifest().checkpoints.iter().all(|c| bundle.has_checkpoint(c.step)) {
				return Err("not all checkpoints are at hand".to_owned());
			}
			let (spec, seed, inputs) = opened(job)?;
			let rules = rules::assess_until(&bundle, &spec, seed, inputs.data, &NEVER);
			let rules = rules.map_err(text)?;
			let applied = rules.rules.iter().filter(|rule| rule.kept.is_some()).count();
			let kept = rules.rules.iter().filter(|rule| rule.kept == Some(true)).count();
			Ok(Reply::Rules(applied, kept, to_value(&rules).map_err(text)?))
		}
		Work::Unit { template, index, seed, paths } => {
			unit(&template.0, index, seed, paths.map(Into::into))
		}
		#[cfg(test)]
		Work::Test(work) => super::tests::do_as_asked(work),
	}
}

fn decode(spec: &CheckedSpec, places: &[InputPaths]) -> Result<Reply, String> {
	let paths = InputPaths::first_right(spec, places);
	Ok(match Inputs::load(spec, &paths) {
		Ok(_) => Reply::Decoded(paths.into()),
		Err(e) => Reply::NoData(text(e)),
	})
}

fn audit(
	job: JobOf,
	dir: PathBuf,
	expected: WorkResult,
	segments: &[u32],
	round: PathBuf,
) -> Result<Reply, String> {
	let (spec, seed, inputs) = opened(job)?;
	let replays = SavedReplays::of(&round, &Compute::chosen().to_string());
	let job = (&spec, seed);
	let wanted = Mutex::new(Vec::new());
	let note = |file: &str| {
		if !dir.join(file).exists() {
			wanted.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(file.to_owned());
		}
	};
	let aids = Aids { replays: &replays, fetch: &note };
	let audited = verify::audit_with(&dir, job, inputs, expected, segments, &NEVER, aids);
	let (verdict, report) = audited.map_err(text)?;
	// The daemon fetches them and asks again; what was replayed is kept.
	let wanted = wanted.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
	if verdict == Verdict::Unavailable && !wanted.is_empty() {
		return Ok(Reply::Wants(wanted));
	}
	Ok(Reply::Audited(verdict, Figures::from(report)))
}

fn unit(
	template: &Template,
	index: u32,
	seed: H256,
	paths: Option<InputPaths>,
) -> Result<Reply, String> {
	let data = match (template.trial(index), paths) {
		(Some(spec), Some(paths)) => Some(Inputs::load(&spec, &paths).map_err(text)?.data),
		_ => None,
	};
	let mut progress = |_, _| {};
	let begun = std::time::Instant::now();
	let options = drill::Options::chosen(data, &mut progress, &NEVER).map_err(text)?;
	let result = drill::compute(drill::Unit { template, index, seed }, options).map_err(text)?;
	Ok(Reply::Computed(result, begun.elapsed().as_secs_f64()))
}
