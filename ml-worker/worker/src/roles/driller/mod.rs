//! The driller: computes laps of stints all the time, and units of projects where its owner wants that.

mod choice;
mod plan;
mod stint;
mod tally;

use super::{
	blocks::LookError,
	common::registration::{register, RegistrationError},
	machine::Machine,
	report::Reporter,
	run::{self, Base, Ended, Next, Play, Role, RoleArgs, RoleError},
	store::{Home, Quota, Space, UnitRecord},
	tasks::{word, Outcome, TaskError, TaskName, Tasks},
	units::{self, is_lost, Part, Step, Units},
};
use choice::Wanted;
use plan::{plan, Pool, Situation};
use serde_json::{json, Map, Value};
use std::{
	collections::{HashMap, HashSet},
	future::Future,
	num::NonZeroUsize,
	sync::Arc,
	time::Duration,
};
use tally::Tally;
use tracing::warn;
use trainyard_client::{
	amount, calls, AccountId32, Chain, ChainError, Head, ProjectView, Transactor,
};
use trainyard_engine::Compute;
use trainyard_protocol::{
	drill::{AssignmentId, Chosen, ProjectId, ProjectState, MAX_CHOSEN},
	job::{Balance, BlockNumber},
	H256,
};

/// Blocks between two looks at the projects.
const PROJECTS_EVERY: BlockNumber = 8;
/// Blocks after which other projects have their turn, where there are more than a driller may choose.
const TURN: BlockNumber = 14_400;
/// How long the driller tries to leave the pool when it is asked to stop.
const FAREWELL: Duration = Duration::from_secs(20);

/// Options of `trainyard driller`.
#[derive(Clone, Debug, clap::Args)]
pub struct DrillerArgs {
	#[command(flatten)]
	role: RoleArgs,
	/// Register as a trainer with this bond (in TRY) if the account is none yet
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	bond: Option<Balance>,
	/// Threads to compute with [default: all cores]
	#[arg(long, value_name = "N")]
	threads: Option<NonZeroUsize>,
	/// Disk for everything in the folder (in MiB): data of trials that no unit needs are removed
	/// first, and units whose data it cannot hold are not computed [default: half of what is free at
	/// the start]
	#[arg(long, value_name = "MIB")]
	max_disk_mib: Option<u64>,
	/// Compute units of projects beside stints: of all, or of these kinds and numbers ("chain,trial,7"). The
	/// account enters the pool of drillers, and loses power for each unit that it is given and does not
	/// compute in time. A unit brings each of those who compute it its part of the work
	#[arg(long, value_name = "WHICH", num_args = 0..=1, default_missing_value = "all")]
	projects: Option<Wanted>,
	/// With --projects, also those that take power from all who computed a unit where their results
	/// differ; otherwise only such of them as are named by number
	#[arg(long, requires = "projects")]
	all_lose: bool,
	/// Compute no stints, only units of projects
	#[arg(long, requires = "projects")]
	no_stints: bool,
	/// Compute at most this many laps a second, in all threads and on the GPU together
	#[arg(long, value_name = "N", conflicts_with = "no_stints", value_parser = parse_pace)]
	max_laps_per_second: Option<f64>,
	/// Stop after this many units: leave the pool of drillers, and end when they are judged
	#[arg(long, value_name = "N", requires = "projects")]
	units: Option<u32>,
	/// Stop after this many credited stints: give the last one up, and end
	#[arg(long, value_name = "N", conflicts_with_all = ["units", "no_stints"])]
	stints: Option<u32>,
	/// FOR TESTS: compute nothing and commit to made-up results. Power is lost, and the bond where
	/// a recomputation finds it
	#[arg(long)]
	test_only_cheat: bool,
}

impl DrillerArgs {
	/// Returns the threads to compute with.
	pub fn threads(&self) -> Option<NonZeroUsize> {
		self.threads
	}
}

/// Reads a number of laps a second.
fn parse_pace(text: &str) -> Result<f64, String> {
	let pace = text.parse::<f64>().ok().filter(|pace| (0.001..=1e9).contains(pace));
	pace.ok_or_else(|| "a number from 0.001 on is needed, for example 2.5".to_owned())
}

/// Says why the driller cannot work at all.
#[derive(Debug, thiserror::Error)]
pub enum DrillerError {
	/// The account is not a trainer, or cannot become one.
	#[error(transparent)]
	Registration(#[from] RegistrationError),
}

impl From<DrillerError> for RoleError<DrillerError> {
	fn from(error: DrillerError) -> Self {
		Self::Own(error)
	}
}

/// A task that runs beside the look at the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
	/// A step of a unit.
	Unit(AssignmentId, H256, Step),
	/// A change of the pool.
	Pool(Pool),
	/// The data of a project.
	Data(ProjectId),
	/// A step of a stint.
	Stint(stint::Step),
}

/// What a daemon remembers between two blocks.
#[derive(Default)]
struct Memory {
	/// Units that were computed here, by assignment and seed.
	records: HashMap<(AssignmentId, H256), UnitRecord>,
	tally: Tally,
	stints: stint::Stints,
	/// Units revealed by this process.
	revealed: u32,
	/// Height at which it was decided to take no more units.
	leaving: Option<BlockNumber>,
	/// Whether the chain knows that.
	retiring: bool,
	/// Whether it was in the pool at the last block.
	enlisted: Option<bool>,
	/// Projects whose data were fetched, or could not be.
	prepared: HashSet<ProjectId>,
	/// Height of the last look at the projects, and what was open then.
	projects: Option<BlockNumber>,
	listed: Vec<ProjectView>,
	/// The projects of which it would be given units: active ones whose data are here.
	wanted: Vec<ProjectId>,
	/// The project of the unit in hand.
	in_hand: Option<ProjectId>,
	/// Units whose record is gone; each is reported once.
	lost: HashSet<AssignmentId>,
	/// Units whose records cannot be read; each is reported once.
	damaged: HashSet<String>,
}

impl Memory {
	/// Returns the number of units whose outcome is not known.
	fn open(&self) -> usize {
		self.records.values().filter(|record| record.settled.is_none()).count()
	}

	/// Describes what this process has done.
	fn summary(&self) -> String {
		format!("{}; {}", self.tally.summary(self.open()), self.stints.summary())
	}
}

struct Driller {
	chain: Arc<Chain>,
	sender: Arc<Transactor>,
	home: Arc<Home>,
	units: Arc<Units>,
	/// Units, and stints, after which it ends.
	most: Option<u32>,
	most_stints: Option<u32>,
	/// The projects of which it computes units, if of any.
	projects: Option<Wanted>,
	/// Whether it computes stints.
	laps: bool,
	/// Threads that compute laps, and the most laps of a second.
	threads: usize,
	pace: Option<f64>,
	/// On which they rest while others compute.
	machine: Machine,
	report: Reporter,
}

/// The driller as a role: what its tasks share, and what it remembers between two blocks.
struct DrillerRole {
	driller: Arc<Driller>,
	memory: Memory,
}

/// Runs a driller until it is asked to stop, or has computed as many units as it should.
pub async fn run(args: DrillerArgs) -> Result<(), RoleError<DrillerError>> {
	run::run::<DrillerRole>(args.role.clone(), args).await
}

/// Gets a driller ready in a process that plays other roles, too.
pub(in crate::roles) async fn prepare(
	args: DrillerArgs,
	base: Base,
	stop: impl Future<Output = ()> + 'static,
) -> Result<Play, RoleError<DrillerError>> {
	run::prepare::<DrillerRole>(args, base, stop).await
}

impl Role for DrillerRole {
	const NAME: &'static str = "driller";
	type Args = DrillerArgs;
	type Error = DrillerError;
	type Key = Key;

	async fn open(args: DrillerArgs, base: &Base) -> Result<Self, RoleError<DrillerError>> {
		let Base { chain, sender, home, report, machine } = base.clone();
		register(&chain, &sender, args.bond, &report).await.map_err(DrillerError::from)?;
		let space = Space::new(Quota::new(args.max_disk_mib, &home));
		let units = Units::new(base, Part::Driller, space, args.test_only_cheat);
		let units = Arc::new(units);
		let (records, damaged) = home.units()?;
		for problem in damaged {
			let text = problem.to_string();
			report.general("problem", &text, json!({ "reason": text }));
		}
		if args.test_only_cheat {
			warn!("this driller CHEATS (--test-only-cheat): it loses power, and its bond");
		}
		let memory = Memory {
			records: records.into_iter().map(|r| ((r.assignment, r.seed), r)).collect(),
			..Memory::default()
		};
		let driller = Arc::new(Driller {
			chain,
			sender,
			home,
			units,
			most: args.units,
			most_stints: args.stints,
			projects: args.projects.map(|wanted| wanted.with_all_lose(args.all_lose)),
			laps: !args.no_stints,
			threads: rayon::current_num_threads(),
			pace: args.max_laps_per_second,
			machine,
			report,
		});
		Ok(Self { driller, memory })
	}

	fn details(&self) -> (String, Map<String, Value>) {
		let threads = rayon::current_num_threads();
		let text = match Compute::chosen() {
			Compute::Cpu => format!(", {threads} threads"),
			gpu => format!(", {threads} threads and {gpu}"),
		};
		(text, Map::new())
	}

	async fn look(&mut self, head: Head, tasks: &mut Tasks<Key>) -> Result<Next, LookError> {
		self.driller.look(&mut self.memory, tasks, head).await
	}

	fn name_of(key: &Key) -> TaskName {
		match key {
			Key::Unit(id, _, step) => TaskName::new(word(step)).of(format!("assignment {id}")),
			Key::Pool(change) => TaskName::new(word(change)),
			Key::Data(project) => TaskName::new("data")
				.of(format!("project {project}"))
				.or_else("it is not chosen without them; it will be tried again"),
			Key::Stint(step) => match step {
				stint::Step::Begin => TaskName::new("begin").of("a stint"),
				stint::Step::Report(number) => {
					TaskName::new("report").of(format!("stint {number}"))
				}
				stint::Step::Open(id) => TaskName::new("open").of(format!("report {id}")),
				stint::Step::Retire => TaskName::new("retire").of("a stint"),
			},
		}
	}

	fn ended(&mut self, key: Key, outcome: &Outcome) -> Next {
		match outcome {
			Ok(()) => {
				self.driller.note(&mut self.memory, key);
				// The next step may be due.
				return Next::AtOnce;
			}
			Err(TaskError::Stopped) => {
				let text = "the computation stopped: its time is over";
				self.driller.report.general("stopped_computing", text, json!({}));
			}
			Err(TaskError::Transient(_)) => {}
			Err(TaskError::Hopeless(_) | TaskError::Failed(_)) => {
				if let Key::Data(_) | Key::Pool(_) = key {
					// It is tried again at the next look at the projects, and does not delay other
					// units; a project that was chosen may have ended.
					self.memory.projects = None;
				}
			}
		}
		Next::Block
	}

	async fn leave(&mut self, _: Ended) -> Option<String> {
		if self.driller.projects.is_some() {
			self.driller.retire().await;
		}
		Some(format!("stopping. {}", self.memory.summary()))
	}
}

impl Driller {
	fn me(&self) -> &AccountId32 {
		self.sender.account()
	}

	/// Looks at the chain once and starts what must be done. Returns when to look again; never if
	/// the driller is done.
	async fn look(
		self: &Arc<Self>,
		memory: &mut Memory,
		tasks: &mut Tasks<Key>,
		head: Head,
	) -> Result<Next, LookError> {
		let me = *self.me();
		if self.laps {
			self.look_at_stint(memory, tasks, head).await?;
		}
		let Some(wanted) = &self.projects else {
			let done = memory.leaving.is_some() && memory.stints.is_over();
			return Ok(if done { Next::Never } else { Next::Block });
		};
		self.prepare(wanted, memory, tasks, head).await?;
		let assignment = self.chain.drilling_assignment(&me, head.hash).await?;
		let enlisted = self.chain.drilling_pool(head.hash).await?.contains(&me);
		let chosen = self.chain.drilling_chosen(&me, head.hash).await?;
		self.report_pool(memory, enlisted);
		if memory.leaving.is_none() && self.most.is_some_and(|most| memory.revealed >= most) {
			memory.leaving = Some(head.number);
		}
		memory.in_hand = assignment.as_ref().map(|view| view.project);
		let record = match &assignment {
			Some(view) => match self.home.load_unit(view.id, &view.seed) {
				Ok(record) => record,
				Err(e) => {
					// Without the record it is not known whether something else was committed.
					let text = e.to_string();
					if memory.damaged.insert(text.clone()) {
						self.report.general("problem", &text, json!({ "reason": text }));
					}
					return Ok(Next::Block);
				}
			},
			None => None,
		};
		let plan = plan(&Situation {
			best: head.number,
			assignment: assignment.as_ref(),
			found: record.is_some(),
			enlisted,
			retiring: memory.retiring,
			wanted: &memory.wanted,
			chosen: &chosen,
			lacking: assignment.as_ref().is_some_and(|view| self.units.is_lacking(view.id)),
			leaving: memory.leaving.is_some(),
		});
		if let (Some(view), Some(step)) = (&assignment, plan.unit) {
			let key = Key::Unit(view.id, view.seed, step);
			let (units, view) = (self.units.clone(), view.clone());
			tasks.start_with(key, |stop| units.act(view, step, record, head, stop));
		} else if let Some(view) = assignment.as_ref().filter(|v| is_lost(v, record.is_some())) {
			if memory.lost.insert(view.id) {
				units::report_lost(&self.report, view);
			}
		}
		if let Some(change) = plan.pool {
			let (me, chosen) = (self.clone(), memory.wanted.clone());
			tasks.start(Key::Pool(change), async move { me.change_pool(change, &chosen).await });
		}
		// A computation whose time is over only takes processors from the next one.
		let wanted = assignment.as_ref().map(|view| (view.id, view.seed));
		tasks.stop_unless(|key| match key {
			Key::Unit(id, seed, Step::Compute) => wanted == Some((*id, *seed)),
			_ => true,
		});
		self.settle(memory, wanted, head.number).await?;
		let Some(since) = memory.leaving else { return Ok(Next::Block) };
		let waited = head.number.saturating_sub(since) > tally::PATIENCE;
		let done = assignment.is_none() && !enlisted && (memory.open() == 0 || waited);
		// A report that is drawn wants to be opened.
		let over = !self.laps || memory.stints.is_over();
		Ok(if done && over { Next::Never } else { Next::Block })
	}

	/// Fetches the data of active trials that it would compute and that were not tried yet. It chooses a
	/// project when its data are here: so no unit of it can be missed for want of them.
	async fn prepare(
		self: &Arc<Self>,
		wanted: &Wanted,
		memory: &mut Memory,
		tasks: &mut Tasks<Key>,
		head: Head,
	) -> Result<(), ChainError> {
		let due = memory.projects.is_none_or(|last| head.number.abs_diff(last) >= PROJECTS_EVERY);
		if due {
			memory.projects = Some(head.number);
			memory.listed = self.chain.drilling_open_projects(head.hash).await?;
		}
		let active = memory
			.listed
			.iter()
			.filter(|project| project.state == ProjectState::Active && wanted.takes(project));
		let mut ready = Vec::new();
		for project in active {
			if memory.prepared.contains(&project.id) || project.data.is_empty() {
				ready.push(project.id);
			} else if due {
				let (key, me, project) = (Key::Data(project.id), self.clone(), project.clone());
				tasks.start(key, async move { me.fetch(&project).await });
			}
		}
		// Where there are too many all have their day: nobody keeps the others out.
		if ready.len() > MAX_CHOSEN as usize {
			let turn = (head.number / TURN) as usize % ready.len();
			ready.rotate_left(turn);
			ready.truncate(MAX_CHOSEN as usize);
			ready.sort_unstable();
		}
		memory.wanted = ready;
		Ok(())
	}

	async fn fetch(&self, project: &ProjectView) -> Outcome {
		if let Some(spec) = project.template.trial(0) {
			self.units.data(&format!("project {}", project.id), &spec, &project.data).await?;
			let text = format!("the data of project {} are here", project.id);
			self.report.general("data", &text, json!({ "project": project.id }));
		}
		Ok(())
	}

	async fn change_pool(&self, change: Pool, wanted: &[ProjectId]) -> Outcome {
		let chosen = Chosen::truncate_from(wanted.to_vec());
		let (call, done) = match change {
			Pool::Enlist => (calls::enlist(&chosen), "Drilling::AlreadyEnlisted"),
			Pool::Choose => (calls::choose(&chosen), "Drilling::NotEnlisted"),
			Pool::Retire => (calls::retire(), "Drilling::AlreadyRetiring"),
		};
		match self.sender.run(&call).await {
			Err(e) if e.failed_with(done) || e.failed_with("Drilling::NotEnlisted") => Ok(()),
			result => Ok(result.map(drop)?),
		}
	}

	/// Reports when the driller enters or leaves the pool.
	fn report_pool(&self, memory: &mut Memory, enlisted: bool) {
		if memory.enlisted.replace(enlisted) == Some(enlisted) {
			return;
		}
		if enlisted {
			let text = "in the pool of drillers: units come when projects have them";
			self.report.general("enlisted", text, json!({}));
		} else {
			memory.retiring = false;
			let text = match memory.leaving {
				Some(_) => "left the pool of drillers",
				None => "not in the pool of drillers",
			};
			self.report.general("not_enlisted", text, json!({}));
		}
	}

	/// Takes note of a task that did what it should.
	fn note(&self, memory: &mut Memory, key: Key) {
		match key {
			Key::Unit(id, seed, Step::Compute) => {
				// As it lies on disk.
				if let Ok(Some(record)) = self.home.load_unit(id, &seed) {
					memory.tally.computed += 1;
					memory.tally.seconds += record.seconds;
					memory.records.insert((id, seed), record);
				}
			}
			Key::Unit(_, _, Step::Reveal) => memory.revealed += 1,
			Key::Unit(_, _, Step::Decline) => {
				// It is chosen again when its data are here.
				memory.prepared.retain(|project| Some(*project) != memory.in_hand);
			}
			Key::Pool(Pool::Retire) => memory.retiring = true,
			Key::Data(project) => {
				memory.prepared.insert(project);
			}
			Key::Stint(stint::Step::Retire) => memory.stints.note_retired(),
			Key::Stint(_) | Key::Unit(_, _, Step::Commit) | Key::Pool(_) => {}
		}
	}

	/// Checks the outcome of the units that were computed, except the one in hand.
	async fn settle(
		&self,
		memory: &mut Memory,
		in_hand: Option<(AssignmentId, H256)>,
		best: BlockNumber,
	) -> Result<(), LookError> {
		let open: Vec<UnitRecord> = memory
			.records
			.iter()
			.filter(|(key, record)| record.settled.is_none() && in_hand != Some(**key))
			.map(|(_, record)| record.clone())
			.collect();
		for mut record in open {
			let Some(settled) = tally::look(&self.chain, &record, best).await? else { continue };
			record.settled = Some(settled);
			self.home.save_unit(&record)?;
			memory.tally.settle(&record, settled);
			let metrics = self.report.metrics();
			if settled.agreed {
				metrics.ended("agreed");
				metrics.credited(record.work);
			} else {
				metrics.ended("not_agreed");
			}
			memory.records.insert((record.assignment, record.seed), record.clone());
			self.report_settled(&record, memory, settled.agreed).await?;
		}
		let old = memory.records.extract_if(|_, record| tally::is_old(record, best));
		for ((id, seed), _) in old.collect::<Vec<_>>() {
			self.home.remove_unit(id, &seed)?;
		}
		Ok(())
	}

	async fn report_settled(
		&self,
		record: &UnitRecord,
		memory: &Memory,
		agreed: bool,
	) -> Result<(), ChainError> {
		let tally = &memory.tally;
		let trainer = self.chain.trainer(self.me()).await?;
		let power = trainer.map_or(0, |trainer| trainer.drilling_effective);
		let event = if agreed { "agreed" } else { "not_agreed" };
		let outcome = match (agreed, record.work) {
			(true, 0) => "agreed, without credit: the trial diverged".to_owned(),
			(true, work) => format!("agreed: {} ut credited", units::ut(work)),
			(false, _) => "not agreed: nothing is credited, or power was lost".to_owned(),
		};
		let day = amount::format_scaled(power, 6);
		let text = format!("{outcome}; drilling power {day} ut a day. {}", memory.summary());
		let fields = json!({
			"work": if agreed { record.work } else { 0 },
			"drilling_power": power.to_string(),
			"agreed": tally.agreed,
			"not_agreed": tally.lost,
		});
		let unit = (record.assignment, record.project, record.index);
		units::report_unit(&self.report, unit, event, &text, fields);
		Ok(())
	}

	/// Leaves the pool if no unit is in hand, because no further unit would be computed.
	async fn retire(&self) {
		let leave = async {
			let head = self.chain.head().await?;
			if let Some(view) = self.chain.drilling_assignment(self.me(), head.hash).await? {
				let unit = (view.id, view.project, view.index);
				let text = format!(
					"not finished: start again before block {}, or its power is lost",
					view.deadline
				);
				units::report_unit(&self.report, unit, "unfinished", &text, json!({}));
			} else if self.chain.drilling_pool(head.hash).await?.contains(self.me()) {
				self.change_pool(Pool::Retire, &[]).await?;
			}
			Ok::<_, TaskError>(())
		};
		match tokio::time::timeout(FAREWELL, leave).await {
			Ok(Ok(())) => {}
			Ok(Err(e)) => warn!("still in the pool of drillers, perhaps: {e}"),
			Err(_) => warn!("still in the pool of drillers, perhaps: the node did not answer"),
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::store::unit_tests::record;
	use trainyard_client::{fake::FakeNode, keys};

	/// A driller that is in the pool, on a chain that answers nothing.
	async fn role(folder: &std::path::Path) -> DrillerRole {
		let chain = Arc::new(FakeNode::new(|_, _, _| Err("no such method")).chain().await);
		let base = Base {
			sender: Arc::new(Transactor::new(chain.clone(), keys::from_uri("//Bob").unwrap())),
			home: Arc::new(Home::open(folder, &H256::zero()).unwrap()),
			report: Reporter::new("driller", true, None),
			machine: Default::default(),
			chain,
		};
		let space = Space::new(Quota::of(u64::MAX));
		let units = Arc::new(Units::new(&base, Part::Driller, space, false));
		let Base { chain, sender, home, report, machine } = base;
		let (most, most_stints, laps, threads) = (None, None, true, 1);
		let projects = Some("all".parse().unwrap());
		let driller = Arc::new(Driller {
			chain,
			sender,
			home,
			units,
			most,
			most_stints,
			projects,
			laps,
			threads,
			pace: None,
			machine,
			report,
		});
		DrillerRole { driller, memory: Memory::default() }
	}

	#[tokio::test]
	async fn what_follows_from_the_end_of_a_task() {
		let folder = tempfile::tempdir().unwrap();
		let mut role = role(folder.path()).await;
		let record = record(3);
		role.driller.home.save_unit(&record).unwrap();
		let unit = |step| Key::Unit(record.assignment, record.seed, step);
		assert_eq!(role.ended(unit(Step::Compute), &Err(TaskError::Stopped)), Next::Block);
		assert_eq!(role.memory.tally, Tally::default());
		for step in [Step::Compute, Step::Commit, Step::Reveal] {
			assert_eq!(role.ended(unit(step), &Ok(())), Next::AtOnce);
		}
		assert_eq!((role.memory.tally.computed, role.memory.open()), (1, 1));
		assert_eq!(role.memory.revealed, 1);
		let lost = Err(TaskError::Transient("the node was away".into()));
		assert_eq!(role.ended(unit(Step::Reveal), &lost), Next::Block);
		assert_eq!(role.memory.revealed, 1, "the chain shows whether it was");

		// Data that could not be had are asked for at the next look at the projects, which is due.
		role.memory.projects = Some(40);
		assert_eq!(role.ended(Key::Data(2), &Err(TaskError::failed("404"))), Next::Block);
		assert!(role.memory.projects.is_none() && role.memory.prepared.is_empty());
		role.memory.projects = Some(40);
		assert_eq!(role.ended(Key::Data(2), &Ok(())), Next::AtOnce);
		assert!(role.memory.projects == Some(40) && role.memory.prepared.contains(&2));
		assert_eq!(role.ended(Key::Pool(Pool::Retire), &Ok(())), Next::AtOnce);
		assert!(role.memory.retiring);

		let keys = [unit(Step::Commit), Key::Pool(Pool::Enlist), Key::Data(2)];
		let names = keys.map(|key| DrillerRole::name_of(&key).to_string());
		assert_eq!(names, ["assignment 3: commit", "enlist", "project 2: data"]);
	}
}
