//! What happened to a set, and its table.

use crate::table::{table, Align};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use trainyard_client::{amount, SetView};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	bundle::Evaluation,
	sets::{ranking, Run, SetEnding, Stage},
};

/// Something that happened to a set.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
	/// A word for programs.
	pub event: &'static str,
	/// A line for people.
	pub text: String,
	/// Details for programs, an object.
	pub fields: Value,
}

/// Returns how a stage is called.
pub fn stage(stage: &Stage) -> String {
	match stage {
		Stage::Training => "training".into(),
		Stage::Showing { until } => format!("scores are shown until block {until}"),
		Stage::Drawing { .. } => "the next generation is drawn".into(),
		Stage::Ended(SetEnding::Done) => "done".into(),
		Stage::Ended(SetEnding::Stopped) => "ended: stopped by its submitter".into(),
		Stage::Ended(SetEnding::NoScore) => "ended: no member of a generation has a score".into(),
		Stage::Ended(SetEnding::NoModel) => {
			"ended: nobody said the parameters of a model in time".into()
		}
	}
}

/// Returns a score in words.
fn score(found: &Evaluation) -> String {
	format!("accuracy {:.4}, loss {:.6}", found.accuracy(), found.loss())
}

/// Returns what happened to a set between two looks.
pub fn changes(before: Option<&SetView>, now: &SetView) -> Vec<Change> {
	let mut out = Vec::new();
	let mut say = |event, text: String, fields| out.push(Change { event, text, fields });
	let known = before.map_or(0, |before| before.generations.len());
	for (at, generation) in now.generations.iter().enumerate().skip(known) {
		let scores = generation.iter().filter(|trained| trained.score.is_some()).count();
		let text =
			format!("generation {at} is over, {scores} of {} have a score", generation.len());
		say("generation", text, json!({ "generation": at, "scores": scores }));
	}
	let same = before.filter(|before| before.generation == now.generation);
	for (at, member) in now.members.iter().enumerate() {
		let then = same.and_then(|before| before.members.get(at)).map(|member| member.run);
		if then == Some(member.run) {
			continue;
		}
		let (generation, job) = (now.generation, member.run.job());
		let fields = json!({ "generation": generation, "member": at, "job": job });
		match (member.run, job) {
			(Run::Running(job), _) => {
				let text = match member.parent {
					Some(parent) if parent as usize != at => {
						format!("member {at} is job {job}, from the model of member {parent}")
					}
					_ => format!("member {at} is job {job}"),
				};
				say("member_posted", text, fields);
			}
			(Run::Accepted { job, .. }, _) => {
				say("member_accepted", format!("member {at}: job {job} was accepted"), fields);
			}
			(Run::Shown { score: found, .. }, _) => {
				let again = then.is_some_and(|then| then.score() == Some(found));
				if !again {
					let text = format!("member {at}: {}", score(&found));
					let mut fields = fields;
					fields["score"] = json!(found);
					say("member_scored", text, fields);
				}
			}
			(Run::Out(_), None) => {
				say("member_out", format!("member {at} could not be posted"), fields);
			}
			(Run::Out(_), Some(job)) => {
				say("member_out", format!("member {at}: job {job} has no score"), fields);
			}
			(Run::Waiting, _) => {}
		}
	}
	if let Some(best) = now.best.filter(|_| before.is_none_or(|before| before.best != now.best)) {
		let text = format!(
			"the best so far is member {} of generation {}: {}",
			best.member,
			best.generation,
			score(&best.score)
		);
		say("best", text, json!({ "best": best }));
	}
	if before.is_none_or(|before| (before.stage, before.generation) != (now.stage, now.generation))
	{
		let text = format!("generation {}: {}", now.generation, stage(&now.stage));
		say("stage", text, json!({ "stage": now.stage, "generation": now.generation }));
	}
	out
}

/// Collects the fields of a value by their paths.
fn fields_of(value: &Value, at: &str, all: &mut BTreeMap<String, Value>) {
	match value {
		Value::Object(object) => {
			for (key, inner) in object {
				let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
				fields_of(inner, &path, all);
			}
		}
		other => {
			all.insert(at.to_owned(), other.clone());
		}
	}
}

/// Returns the fields of the trainings in which members differ, with the values of each.
fn differences(specs: &[&JobSpec]) -> Vec<(String, Vec<String>)> {
	let read = |spec: &&JobSpec| {
		let mut fields = BTreeMap::new();
		fields_of(&serde_json::to_value(&spec.training).unwrap_or_default(), "", &mut fields);
		fields
	};
	let all: Vec<BTreeMap<String, Value>> = specs.iter().map(read).collect();
	let mut keys: Vec<&String> = all.iter().flat_map(BTreeMap::keys).collect();
	keys.sort();
	keys.dedup();
	let differs = |key: &&String| {
		let mut values = all.iter().map(|fields| fields.get(*key));
		let first = values.next();
		values.any(|value| Some(value) != first)
	};
	let shown = |key: &String| {
		let plain = key.trim_end_matches("_nano");
		let text = |fields: &BTreeMap<String, Value>| match fields.get(key) {
			Some(Value::Number(number)) if plain != key => {
				number.as_u64().map_or("-".into(), |nano| amount::format_scaled(nano.into(), 9))
			}
			Some(Value::String(text)) => text.clone(),
			Some(other) => other.to_string(),
			None => "-".into(),
		};
		(plain.to_owned(), all.iter().map(text).collect())
	};
	keys.into_iter().filter(differs).map(shown).collect()
}

/// Returns the table of the members of the running generation, best first.
pub fn members(view: &SetView) -> String {
	let scores: Vec<Option<Evaluation>> =
		view.members.iter().map(|member| member.run.score()).collect();
	let specs: Vec<&JobSpec> = view.members.iter().map(|member| &member.spec).collect();
	let columns = differences(&specs);
	let mut header = vec![("rank", Align::Right), ("member", Align::Right), ("job", Align::Right)];
	header.extend(columns.iter().map(|(key, _)| (key.as_str(), Align::Right)));
	header.extend([
		("accuracy", Align::Right),
		("loss", Align::Right),
		("from", Align::Right),
		("model", Align::Left),
	]);
	let mut rows = Vec::new();
	for (rank, at) in ranking(view.plan.measure, &scores).into_iter().enumerate() {
		let Some(member) = view.members.get(at as usize) else { continue };
		let dash = || "-".to_owned();
		let score = member.run.score();
		let mut row = vec![
			score.map_or_else(dash, |_| (rank + 1).to_string()),
			at.to_string(),
			member.run.job().map_or_else(dash, |job| job.to_string()),
		];
		let values = columns.iter().map(|(_, values)| values.get(at as usize).cloned());
		row.extend(values.map(Option::unwrap_or_default));
		row.push(score.map_or_else(dash, |score| format!("{:.4}", score.accuracy())));
		row.push(score.map_or_else(dash, |score| format!("{:.6}", score.loss())));
		row.push(member.parent.map_or_else(dash, |parent| parent.to_string()));
		let state = match member.run {
			Run::Waiting => "waits to be posted".to_owned(),
			Run::Running(_) => "trains".to_owned(),
			Run::Out(_) => "no score".to_owned(),
			Run::Accepted { result, .. } | Run::Shown { result, .. } => {
				format!("{:?}", result.model_root)
			}
		};
		row.push(state);
		rows.push(row);
	}
	table(&header, &rows)
}

/// Returns the whole set for people: where it stands, its table, and how to have the best model.
pub fn summary(view: &SetView) -> String {
	let mut text = format!(
		"set {} of {}: {}, generation {} of {}\n\n{}",
		view.id,
		view.submitter,
		stage(&view.stage),
		view.generation.saturating_add(1),
		view.plan.generations,
		members(view)
	);
	if let Some(best) = view.best {
		text += &format!(
			"\nbest: member {} of generation {}, job {}: {}\nmodel: {:?}\nfetch it: trainyard fetch-model {}\n",
			best.member,
			best.generation,
			best.job,
			score(&best.score),
			best.model,
			best.job
		);
	}
	text
}

#[cfg(test)]
pub(super) mod tests {
	use super::*;
	use trainyard_client::{fake, AccountId32};
	use trainyard_protocol::{
		job::{JobState, WorkResult},
		sets::{Best, Measure, MemberView, Plan, Trained},
		H256,
	};

	pub fn result(byte: u8) -> WorkResult {
		let root = H256::repeat_byte(byte);
		let (bundle_root, true_root, model_root) = (root, root, root);
		WorkResult { bundle_root, true_root, model_root, segments: 3, diverged: false }
	}

	pub fn view() -> SetView {
		let member = |at: u32| {
			let mut spec = JobSpec::example();
			spec.training.learning_rate_nano = 1_000_000 * u64::from(at + 1);
			MemberView { spec, parent: None, run: Run::Running(at + 5) }
		};
		SetView {
			id: 3,
			submitter: AccountId32([1; 32]),
			terms: fake::job(JobState::Open).terms,
			plan: Plan {
				measure: Measure::Accuracy,
				generations: 2,
				replaced: 1,
				factors: vec![800].try_into().unwrap(),
				show_blocks: 10,
				max_fee_per_ut: 0,
			},
			stage: Stage::Training,
			generation: 0,
			since: 1,
			stopping: false,
			best: None,
			members: (0..3).map(member).collect(),
			generations: vec![],
		}
	}

	fn shown(job: u32, correct: u32) -> Run {
		let score = Evaluation::new(0.5, correct, 100);
		Run::Shown { job, result: result(job as u8), score, parameters: None }
	}

	fn words(before: Option<&SetView>, now: &SetView) -> Vec<&'static str> {
		changes(before, now).into_iter().map(|change| change.event).collect()
	}

	#[test]
	fn every_change_is_said_once() {
		let opened = view();
		let posted = "member_posted";
		assert_eq!(words(None, &opened), [posted, posted, posted, "stage"]);
		assert!(words(Some(&opened), &opened).is_empty());
		let mut later = opened.clone();
		later.members[0].run = Run::Accepted { job: 5, result: result(1) };
		later.members[1].run = shown(6, 70);
		later.members[2].run = Run::Out(Some(7));
		let said = ["member_accepted", "member_scored", "member_out"];
		assert_eq!(words(Some(&opened), &later), said);
		let mut parameters = later.clone();
		if let Run::Shown { parameters, .. } = &mut parameters.members[1].run {
			*parameters = Some(H256::zero());
		}
		assert!(words(Some(&later), &parameters).is_empty(), "the score was said");
		let mut next = later.clone();
		let trained = Trained {
			parent: None,
			learning_rate_nano: 1,
			job: Some(6),
			score: later.members[1].run.score(),
			model: None,
		};
		next.generations = vec![vec![trained].try_into().unwrap()];
		let score = later.members[1].run.score().unwrap();
		let model = H256::repeat_byte(6);
		next.best = Some(Best { member: 1, generation: 0, job: 6, score, model });
		next.generation = 1;
		for member in &mut next.members {
			member.run = Run::Waiting;
		}
		assert_eq!(words(Some(&later), &next), ["generation", "best", "stage"]);
	}

	#[test]
	fn the_table_is_ranked_and_has_what_differs() {
		let mut view = view();
		view.members[1].run = shown(6, 70);
		view.members[2].run = shown(7, 80);
		let text = members(&view);
		let lines: Vec<&str> = text.lines().collect();
		assert!(lines[0].contains("learning_rate") && !lines[0].contains("batch_size"), "{text}");
		let first: Vec<&str> = lines[1].split_whitespace().collect();
		assert_eq!(first[..6], ["1", "2", "7", "0.003", "0.8000", "0.500000"], "{text}");
		let last: Vec<&str> = lines[3].split_whitespace().collect();
		assert_eq!(last[..4], ["-", "0", "5", "0.001"], "{text}");
		assert!(lines[3].ends_with("trains"));
	}

	#[test]
	fn the_summary_says_how_to_have_the_best() {
		let mut view = view();
		let score = Evaluation::new(0.25, 90, 100);
		let model = H256::repeat_byte(6);
		view.best = Some(Best { member: 1, generation: 0, job: 6, score, model });
		view.stage = Stage::Ended(SetEnding::Done);
		let text = summary(&view);
		for part in ["set 3", "done", "trainyard fetch-model 6", "0.9000", "0x0606"] {
			assert!(text.contains(part), "{part} in {text}");
		}
	}
}
