//! A daemon that computes tasks, audits them, and challenges false claims.

use super::{
	plan::Policy,
	work::{Duty, Keeper, Settings},
};
use crate::{
	args::parse_ut,
	roles::{
		blocks::LookError,
		run::{self, Base, Next, Play, Role, RoleArgs, RoleError},
		tasks::{Outcome, TaskName, Tasks},
	},
};
use serde_json::{json, Map, Value};
use std::{convert::Infallible, future::Future, sync::Arc};
use tracing::warn;
use trainyard_client::{amount, Head};
use trainyard_protocol::{job::Balance, MicroUt};

/// Options of `trainyard task work`.
#[derive(Clone, Debug, clap::Args)]
pub struct TaskWorkArgs {
	#[command(flatten)]
	role: RoleArgs,
	/// Audit no tasks for which this account is drawn as a verifier: where its verifier runs, that does
	#[arg(long)]
	no_audit: bool,
	/// Apply for no tasks: only audit those for which this account is drawn as a verifier, and with --check look at
	/// others
	#[arg(long)]
	no_apply: bool,
	/// Compute tasks of others, too, while their claims can be challenged, and challenge false ones
	#[arg(long)]
	check: bool,
	/// Challenge no claims of tasks of others. What it computed for pay it defends: of a map, where several claims stand,
	/// all lose their deposits
	#[arg(long, conflicts_with = "check")]
	no_challenge: bool,
	/// Least reward for one ut of fuel (in TRY)
	#[arg(long, value_name = "TRY", default_value = "0.5", value_parser = amount::parse)]
	min_price: Balance,
	/// Largest deposit of a replica (in TRY)
	#[arg(long, value_name = "TRY", default_value = "1000", value_parser = amount::parse)]
	max_deposit: Balance,
	/// Largest task, where every step takes all the fuel that it may (in ut)
	#[arg(long, value_name = "UT", default_value = "100", value_parser = parse_ut)]
	max_ut: MicroUt,
	/// Largest output (in MiB)
	#[arg(long, value_name = "MIB", default_value_t = 16)]
	max_output_mib: u64,
	/// Tasks at once for which it applies. They are computed one after the other
	#[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
	at_once: u16,
	/// Balance that stays free for fees (in TRY)
	#[arg(long, value_name = "TRY", default_value = "5", value_parser = amount::parse)]
	reserve: Balance,
	/// Threads for the indices of a map [default: one for each core]
	#[arg(long, value_name = "N", default_value = "0", hide_default_value = true)]
	threads: usize,
	/// For tests of a chain only: make the result of this step or index up
	#[arg(long, value_name = "N", hide = true)]
	test_only_cheat: Option<u32>,
}

impl TaskWorkArgs {
	fn policy(&self) -> Policy {
		Policy {
			apply: !self.no_apply,
			replicas: true,
			audits: !self.no_audit,
			check: self.check,
			// Who cheats would challenge the truth.
			challenge: !self.no_challenge && self.test_only_cheat.is_none(),
			defend: self.test_only_cheat.is_none(),
			min_price: self.min_price,
			max_deposit: self.max_deposit,
			max_ut: self.max_ut,
			max_output: self.max_output_mib.saturating_mul(1 << 20),
			at_once: self.at_once.into(),
		}
	}
}

/// A daemon for tasks.
struct TaskWorker {
	keeper: Arc<Keeper>,
	policy: Policy,
}

/// Gets it ready in a process that plays other roles, too.
pub(crate) async fn prepare(
	args: TaskWorkArgs,
	base: Base,
	stop: impl Future<Output = ()> + 'static,
) -> Result<Play, RoleError<Infallible>> {
	run::prepare::<TaskWorker>(args, base, stop).await
}

/// Runs it until it is asked to stop.
pub async fn run(args: TaskWorkArgs) -> Result<(), RoleError<Infallible>> {
	run::run::<TaskWorker>(args.role.clone(), args).await
}

impl Role for TaskWorker {
	const NAME: &'static str = "task-worker";
	type Args = TaskWorkArgs;
	type Error = Infallible;
	type Key = Duty;

	async fn open(args: TaskWorkArgs, base: &Base) -> Result<Self, RoleError<Infallible>> {
		if args.test_only_cheat.is_some() {
			warn!("this worker CHEATS (--test-only-cheat): it loses its deposits");
		}
		let policy = args.policy();
		let settings = Settings {
			policy,
			reserve: args.reserve,
			threads: args.threads,
			cheat: args.test_only_cheat,
			role: Self::NAME,
		};
		Ok(Self { keeper: Arc::new(Keeper::new(base, settings)), policy })
	}

	fn details(&self) -> (String, Map<String, Value>) {
		let text = match (self.policy.apply, self.policy.check) {
			(true, true) => ", which applies for tasks and checks those of others",
			(true, false) => ", which applies for tasks",
			(false, true) => ", which checks tasks of others",
			(false, false) => ", which audits tasks if it is drawn",
		};
		let fields = Map::from_iter([
			("apply".to_owned(), json!(self.policy.apply)),
			("check".to_owned(), json!(self.policy.check)),
		]);
		(text.to_owned(), fields)
	}

	async fn look(&mut self, head: Head, tasks: &mut Tasks<Duty>) -> Result<Next, LookError> {
		let due = self.keeper.look(head).await?;
		tasks.stop_unless(|running| due.iter().any(|(duty, _)| duty == running));
		for (duty, view) in due {
			let keeper = self.keeper.clone();
			tasks.start_with(duty, |stop| keeper.act(duty, view, head, stop));
		}
		Ok(Next::Block)
	}

	fn name_of(duty: &Duty) -> TaskName {
		duty.name()
	}

	fn ended(&mut self, _: Duty, outcome: &Outcome) -> Next {
		match outcome {
			Ok(()) => Next::AtOnce,
			Err(_) => Next::Block,
		}
	}
}
