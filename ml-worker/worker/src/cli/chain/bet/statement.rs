//! What a bet is on, as the command line says it.

use anyhow::{bail, Context};
use trainyard_client::{tasks::TaskView, AccountId32, Chain, JobView};
use trainyard_protocol::{
	bets::{Statement, TaskId},
	JobId, H256,
};

/// What the command line names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Named {
	/// A job.
	pub job: Option<JobId>,
	/// Or a task.
	pub task: Option<TaskId>,
	/// A result of it; without it the own, or the only one.
	pub root: Option<H256>,
	/// Whether the week of late proof belongs to it.
	pub late: bool,
	/// Or words.
	pub words: Option<H256>,
}

/// Returns the root that a statement about `of` is about where none is named: of the own result, or of the only one.
fn only(
	of: &str,
	mut revealed: Vec<(AccountId32, H256)>,
	own: Option<&AccountId32>,
) -> anyhow::Result<H256> {
	if let Some((_, root)) = revealed.iter().find(|(who, _)| Some(who) == own) {
		return Ok(*root);
	}
	revealed.sort_by_key(|(_, root)| *root);
	revealed.dedup_by_key(|(_, root)| *root);
	match revealed.as_slice() {
		[] => bail!("nobody has revealed a result of {of} yet"),
		[(_, root)] => Ok(*root),
		_ => {
			let line = |(who, root): &(AccountId32, H256)| format!("  {root:?} by {who}");
			let all: Vec<String> = revealed.iter().map(line).collect();
			bail!("{of} has several results; name one by --root:\n{}", all.join("\n"))
		}
	}
}

fn of_job(job: &JobView) -> Vec<(AccountId32, H256)> {
	let replicas = job.replicas.iter();
	let shown = replicas.filter_map(|one| Some((one.trainer, one.reveal.as_ref()?.bundle_root)));
	shown.collect()
}

fn of_task(task: &TaskView) -> Vec<(AccountId32, H256)> {
	let all = task.replicas.iter().chain(&task.auditor);
	let claim = |number: u8| task.claims.get(usize::from(number)).map(|(claim, _)| claim.root);
	all.filter_map(|one| Some((one.who, claim(one.claim?)?))).collect()
}

/// Returns the statement that is named. `own` is whose result is meant where several stand.
pub(super) async fn statement(
	chain: &Chain,
	named: Named,
	own: Option<&AccountId32>,
) -> anyhow::Result<Statement> {
	let Named { job, task, root, late, words } = named;
	if let Some(task) = task {
		let root = match root {
			Some(root) => root,
			None => {
				let view = chain.task(task).await?;
				let view = view.with_context(|| format!("the chain knows no task {task}"))?;
				only(&format!("task {task}"), of_task(&view), own)?
			}
		};
		return Ok(Statement::Task { task, root });
	}
	let Some(job) = job else {
		return Ok(Statement::Words { hash: words.context("name a --job, --task, or --words")? });
	};
	let root = match root {
		Some(root) => root,
		None => {
			let view = chain.job(job).await?;
			let view = view.with_context(|| format!("the chain knows no job {job}"))?;
			only(&format!("job {job}"), of_job(&view), own)?
		}
	};
	Ok(Statement::Result { job, root, late })
}

/// Says what a statement is about.
pub(super) fn about(statement: &Statement) -> String {
	match statement {
		Statement::Result { job, root, late } => {
			let week = if *late { ", with the week of late proof" } else { "" };
			format!("result {root:?} of job {job}{week}")
		}
		Statement::Task { task, root } => format!("claim {root:?} of task {task}"),
		Statement::Words { hash } => format!("words with the hash {hash:?}"),
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	/// Who names no root means its own result, or the only one that there is.
	#[test]
	fn a_result_is_found_where_there_is_one() {
		let who = |n| AccountId32([n; 32]);
		let root = H256::repeat_byte;
		let several = vec![(who(1), root(5)), (who(2), root(6)), (who(3), root(5))];
		assert_eq!(only("job 7", several.clone(), Some(&who(2))).unwrap(), root(6));
		let error = only("job 7", several.clone(), Some(&who(9))).unwrap_err().to_string();
		assert_eq!(error.lines().count(), 3, "each result once: {error}");
		assert!(error.contains("job 7") && error.contains("--root"), "{error}");
		let equal = vec![(who(1), root(5)), (who(3), root(5))];
		assert_eq!(only("job 7", equal, None).unwrap(), root(5));
		let none = only("task 4", Vec::new(), None).unwrap_err().to_string();
		assert!(none.contains("nobody") && none.contains("task 4"), "{none}");
	}
}
