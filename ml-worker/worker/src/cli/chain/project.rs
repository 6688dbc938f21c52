//! `trainyard project`: projects of drilling.

use super::{connect, print_json, sender, ut};
use crate::args::{KeyArgs, NodeArgs};
use crate::{
	job_toml::project::{self, Data},
	plot::trials::{self, Trial},
	roles::units::{describe, rate},
	table::{grouped, table, Align},
};
use anyhow::{bail, Context};
use clap::Subcommand;
use serde_json::json;
use std::{cmp::Ordering, path::PathBuf, process::ExitCode};
use trainyard_client::{amount, blobs, calls, ChainError, ProjectView, Transactor};
use trainyard_protocol::drill::{
	Mismatch, ProjectId, ProjectState, Template, TrialData, UnitOutcome, UnitResult,
};

/// Results of a project that are listed.
const LISTED: usize = 20;

/// What to do with projects of drilling.
#[derive(Debug, Subcommand)]
pub enum ProjectCommand {
	/// Proposes a project; trainers vote on it, and its units count once it is approved
	Propose(Propose),
	/// Votes on a project in review, with the bond of the account, which is a trainer
	Vote(Vote),
	/// Asks for the end of an active project: trainers vote on it, and this vote is against it
	Recall(Change),
	/// Takes back a project in review, or ends an active one; only by its proposer
	Withdraw(Change),
	/// Removes what the chain keeps of a project that is long over, and returns its deposit
	Clear(Change),
	/// Lists the projects
	List(List),
	/// Shows a project and its results, the best first
	Show(Show),
}

/// Options of `trainyard project propose`.
#[derive(Debug, clap::Args)]
pub struct Propose {
	/// The project
	#[arg(value_name = "PROJECT.toml")]
	project: PathBuf,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
}

/// Options of `trainyard project vote`.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("opinion").required(true).args(["aye", "nay"])))]
pub struct Vote {
	/// Number of the project
	#[arg(value_name = "PROJECT")]
	project: ProjectId,
	/// For it
	#[arg(long)]
	aye: bool,
	/// Against it
	#[arg(long)]
	nay: bool,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
}

/// Options of commands that change a project.
#[derive(Debug, clap::Args)]
pub struct Change {
	/// Number of the project
	#[arg(value_name = "PROJECT")]
	project: ProjectId,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
}

/// Options of `trainyard project list`.
#[derive(Debug, clap::Args)]
pub struct List {
	#[command(flatten)]
	node: NodeArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// Options of `trainyard project show`.
#[derive(Debug, clap::Args)]
pub struct Show {
	/// Number of the project
	#[arg(value_name = "PROJECT")]
	project: ProjectId,
	#[command(flatten)]
	node: NodeArgs,
	/// List all results, and not only the first
	#[arg(long)]
	all: bool,
	/// Draw loss and accuracy by learning rate into this file
	#[arg(long, value_name = "FILE.svg")]
	svg: Option<PathBuf>,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

impl ProjectCommand {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		match self {
			Self::Propose(args) => args.run().await,
			Self::Vote(args) => args.run().await,
			Self::Withdraw(args) => {
				let sender = sender(&args.node, &args.key).await?;
				sender.run(&calls::withdraw_project(args.project)).await?;
				println!("project {} is withdrawn", args.project);
				Ok(ExitCode::SUCCESS)
			}
			Self::Recall(args) => {
				let sender = sender(&args.node, &args.key).await?;
				sender.run(&calls::recall_project(args.project)).await?;
				let project = sender.chain().drilling_project(args.project).await?;
				let recall = project.and_then(|project| project.recall);
				let recall = recall.with_context(|| no_such(args.project))?;
				println!(
					"trainers vote until block {} on the end of project {}: {} for it, {} against it; \
					 trainyard project vote {} --nay, or --aye to keep it",
					recall.until,
					args.project,
					amount::format(recall.ayes),
					amount::format(recall.nays),
					args.project
				);
				Ok(ExitCode::SUCCESS)
			}
			Self::Clear(args) => {
				let sender = sender(&args.node, &args.key).await?;
				sender.run(&calls::clear_project(args.project)).await?;
				match sender.chain().drilling_project(args.project).await? {
					Some(_) => {
						println!("a part of project {} is cleared; clear it again", args.project)
					}
					None => println!("project {} is cleared", args.project),
				}
				Ok(ExitCode::SUCCESS)
			}
			Self::List(args) => args.run().await,
			Self::Show(args) => args.run().await,
		}
	}
}

impl Propose {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let file = project::load(&self.project)?;
		let difficulty = file.template.difficulty().map_err(|e| anyhow::anyhow!("{e}"))?;
		let sender = sender(&self.node, &self.key).await?;
		let data = store(&sender, file.data).await?;
		let known = |projects: &[ProjectView]| projects.last().map(|project| project.id);
		let open = || async {
			let head = sender.chain().head().await?;
			sender.chain().drilling_open_projects(head.hash).await
		};
		let before = known(&open().await?);
		sender
			.run(&calls::propose_project(
				&file.title,
				&file.template,
				&data,
				file.rule,
				file.replicas,
				file.units,
				file.commit_blocks,
			))
			.await?;
		let projects = open().await?;
		let mine = projects
			.iter()
			.rev()
			.find(|project| Some(project.id) > before && project.owner == *sender.account());
		let Some(project) = mine else {
			bail!(
				"the project was proposed, but it is not on chain: look at trainyard project list"
			)
		};
		println!(
			"project {}: {} units of {}, {} ut each; {} is held. Trainers vote until block {}: \
			 trainyard project vote {} --aye",
			project.id,
			grouped(project.units),
			describe(&project.template, 0),
			ut(u128::from(difficulty)),
			amount::format(project.deposit),
			project.deadline,
			project.id
		);
		Ok(ExitCode::SUCCESS)
	}
}

/// Stores the files that units read on chain, and returns their blobs.
async fn store(sender: &Transactor, data: Data) -> anyhow::Result<TrialData> {
	let files = match data {
		Data::Blobs(blobs) => return Ok(blobs),
		Data::Files(files) => files,
	};
	let mut roots = Vec::with_capacity(files.len());
	for path in files {
		let what = || format!("cannot store {} on chain", path.display());
		let bytes = std::fs::read(&path).with_context(what)?;
		eprintln!("storing {} on chain ({} bytes)", path.display(), grouped(bytes.len() as u64));
		roots.push(blobs::store(sender, &bytes).await.with_context(what)?);
	}
	Ok(TrialData::truncate_from(roots))
}

impl Vote {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let sender = sender(&self.node, &self.key).await?;
		sender.run(&calls::vote_on_project(self.project, self.aye)).await?;
		let project = sender.chain().drilling_project(self.project).await?;
		let project = project.with_context(|| no_such(self.project))?;
		println!(
			"voted {} project {}: {} for it, {} against it, until block {}",
			if self.aye { "for" } else { "against" },
			self.project,
			amount::format(project.recall.map_or(project.ayes, |recall| recall.ayes)),
			amount::format(project.recall.map_or(project.nays, |recall| recall.nays)),
			project.recall.map_or(project.deadline, |recall| recall.until)
		);
		Ok(ExitCode::SUCCESS)
	}
}

fn no_such(project: ProjectId) -> String {
	format!("there is no project {project}; trainyard project list shows them all")
}

fn state(state: ProjectState) -> &'static str {
	match state {
		ProjectState::Review => "in review",
		ProjectState::Active => "active",
		ProjectState::Rejected => "rejected",
		ProjectState::Withdrawn => "withdrawn",
		ProjectState::Done => "done",
		ProjectState::Recalled => "recalled",
		ProjectState::Suspended => "suspended",
	}
}

impl List {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let projects = connect(&self.node).await?.drilling_projects().await.map_err(explain)?;
		if self.json {
			return print_json(&projects);
		}
		if projects.is_empty() {
			println!("no projects; `trainyard project propose PROJECT.toml` proposes one");
			return Ok(ExitCode::SUCCESS);
		}
		let rows: Vec<Vec<String>> = projects
			.iter()
			.map(|project| {
				vec![
					project.id.to_string(),
					state(project.state).to_owned(),
					format!("{}/{}", project.agreed, project.units),
					project.open.to_string(),
					ut(u128::from(project.difficulty)),
					project.replicas.to_string(),
					describe(&project.template, 0),
					project.title.to_string(),
				]
			})
			.collect();
		let header = [
			("project", Align::Right),
			("state", Align::Left),
			("agreed", Align::Right),
			("open", Align::Right),
			("ut a unit", Align::Right),
			("replicas", Align::Right),
			("units", Align::Left),
			("title", Align::Left),
		];
		print!("{}", table(&header, &rows));
		Ok(ExitCode::SUCCESS)
	}
}

impl Show {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.node).await?;
		let project = chain.drilling_project(self.project).await.map_err(explain)?;
		let project = project.with_context(|| no_such(self.project))?;
		let mut results = chain.drilling_results(self.project).await?;
		results.sort_by(|a, b| order(&a.result, &b.result).then(a.index.cmp(&b.index)));
		if let Some(path) = &self.svg {
			let Template::Trial(_) = &project.template else {
				bail!("--svg: project {} has no trials to draw", self.project)
			};
			let trials: Vec<Trial> = results.iter().filter_map(|r| trial(&project, r)).collect();
			trials::write(&project.title.to_string(), &trials, path)?;
			eprintln!("{}", path.display());
		}
		if self.json {
			return print_json(&json!({ "project": project, "results": results }));
		}
		print!("{}", summary(&project));
		let listed = if self.all { results.len() } else { LISTED.min(results.len()) };
		if listed > 0 {
			print!("\n{}", table(&header(&project), &rows(&project, &results[..listed])));
			let rest = results.len() - listed;
			if rest > 0 {
				println!("and {rest} more: --all lists them");
			}
		}
		Ok(ExitCode::SUCCESS)
	}
}

/// Adds a hint to the error that a runtime without drilling gives.
fn explain(error: ChainError) -> anyhow::Error {
	let old = error.to_string().contains("is not found");
	let error = anyhow::Error::from(error);
	match old {
		true => error.context("the chain's runtime has no drilling"),
		false => error,
	}
}

/// Orders results, the better first: the lower loss, then more hits; no result comes last.
fn order(a: &UnitResult, b: &UnitResult) -> Ordering {
	match (&a.score, &b.score) {
		(Some(a), Some(b)) => a.loss().total_cmp(&b.loss()).then(b.correct.cmp(&a.correct)),
		(Some(_), None) => Ordering::Less,
		(None, Some(_)) => Ordering::Greater,
		(None, None) => Ordering::Equal,
	}
}

/// Returns what is drawn of a result.
fn trial(project: &ProjectView, outcome: &UnitOutcome) -> Option<Trial> {
	let Template::Trial(template) = &project.template else { return None };
	let score = outcome.result.score?;
	Some(Trial {
		rate: template.learning_rate_nano(outcome.index)? as f64 / 1e9,
		loss: f64::from(score.loss()),
		accuracy: score.accuracy(),
	})
}

fn summary(project: &ProjectView) -> String {
	let ends = match project.state {
		ProjectState::Review => format!("votes are taken until block {}", project.deadline),
		ProjectState::Active => match project.recall {
			None => format!("units are given out until block {}", project.deadline),
			Some(recall) => format!(
				"units are given out; votes on its end until block {}: {} for it, {} against it",
				recall.until,
				amount::format(recall.ayes),
				amount::format(recall.nays)
			),
		},
		ProjectState::Suspended => {
			format!("its data are not to be had; kept until block {}", project.deadline)
		}
		_ => format!("kept until block {}", project.deadline),
	};
	let rule = match project.rule {
		Mismatch::Majority => "the majority holds, others lose the unit's work",
		Mismatch::AllLose => "where results differ, all lose the unit's work",
	};
	format!(
		"project {}: {}\n  state        {}; {ends}\n  proposed by  {} ({} held)\n  votes        {} \
		 for it, {} against it\n  units        {}: {} agreed, {} open, {} given up\n  each is      \
		 {}, {} ut\n  computed by  {} trainers within {} blocks; {rule}\n",
		project.id,
		project.title,
		state(project.state),
		project.owner,
		amount::format(project.deposit),
		amount::format(project.ayes),
		amount::format(project.nays),
		grouped(project.units),
		grouped(project.agreed),
		grouped(project.open),
		grouped(project.abandoned),
		describe(&project.template, 0),
		ut(u128::from(project.difficulty)),
		project.replicas,
		project.commit_blocks
	)
}

fn header(project: &ProjectView) -> Vec<(&'static str, Align)> {
	match project.template {
		Template::Trial(_) => vec![
			("unit", Align::Right),
			("learning rate", Align::Right),
			("validation loss", Align::Right),
			("accuracy, %", Align::Right),
			("agreed by", Align::Right),
			("result", Align::Left),
		],
		_ => vec![("unit", Align::Right), ("agreed by", Align::Right), ("result", Align::Left)],
	}
}

fn rows(project: &ProjectView, results: &[UnitOutcome]) -> Vec<Vec<String>> {
	let row = |outcome: &UnitOutcome| {
		let mut cells = vec![outcome.index.to_string()];
		if let Template::Trial(template) = &project.template {
			cells.push(template.learning_rate_nano(outcome.index).map_or("-".into(), rate));
			match outcome.result.score {
				Some(score) => {
					let share = 100.0 * score.accuracy();
					cells.extend([format!("{:.4}", score.loss()), format!("{share:.2}")]);
				}
				None => cells.extend(["diverged".to_owned(), "-".to_owned()]),
			}
		}
		cells.extend([outcome.replicas.to_string(), format!("{:?}", outcome.result.state)]);
		cells
	};
	results.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::fake;
	use trainyard_program::spec::JobSpec;
	use trainyard_protocol::{bundle::Evaluation, drill::TrialTemplate, H256};

	fn project() -> ProjectView {
		let spec = JobSpec::example();
		let learning_rates_nano = vec![1_000_000, 20_000_000].try_into().unwrap();
		fake::project(Template::Trial(TrialTemplate { spec, learning_rates_nano }))
	}

	fn outcome(index: u32, loss: Option<f32>) -> UnitOutcome {
		let score = loss.map(|loss| Evaluation::new(loss, 180, 360));
		UnitOutcome { index, result: UnitResult { state: H256::zero(), score }, replicas: 3 }
	}

	#[test]
	fn the_best_result_stands_first() {
		let mut results =
			vec![outcome(0, None), outcome(1, Some(2.0)), outcome(2, Some(0.25)), outcome(3, None)];
		results.sort_by(|a, b| order(&a.result, &b.result).then(a.index.cmp(&b.index)));
		let places: Vec<u32> = results.iter().map(|r| r.index).collect();
		assert_eq!(places, [2, 1, 0, 3]);
		let text = table(&header(&project()), &rows(&project(), &results));
		let lines: Vec<&str> = text.lines().collect();
		assert!(lines[1].contains("0.001") && lines[1].contains("0.2500  "), "{text}");
		assert!(lines[2].contains("0.02") && lines[2].contains("50.00"), "{text}");
		assert!(lines[3].contains("diverged"), "{text}");
		let drawn: Vec<Trial> = results.iter().filter_map(|r| trial(&project(), r)).collect();
		assert_eq!(drawn[0], Trial { rate: 0.001, loss: 0.25, accuracy: 0.5 });
		assert_eq!(drawn.len(), 2);
	}

	#[test]
	fn a_project_is_described_in_words() {
		let text = summary(&project());
		for part in [
			"project 2: Which rate?",
			"active; units are given out until block 90",
			"0.0044 ut",
			"2,000",
		] {
			assert!(text.contains(part), "{text}");
		}
	}
}
