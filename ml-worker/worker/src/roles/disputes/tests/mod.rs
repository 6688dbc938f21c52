//! Daemons of both sides play whole disputes on a court in memory.

mod court;
mod driven;

use super::{
	party::{InMemory, Party, PartyError},
	*,
};
use court::{Court, Ending, Kill, Seat};
use std::{collections::BTreeSet, sync::Arc};
use trainyard_client::court::Accusation;
use trainyard_court::{
	game::{
		player::{Denial, Record},
		Claimed, Leaf, Opening, Roots, Stage, Target,
	},
	referee::Openings,
	testing::{
		jobs,
		run::{Change, Job, Run},
	},
};
use trainyard_protocol::merkle;

const TRAINER: AccountId32 = AccountId32([1; 32]);
/// Ticks of a clock.
const CLOCK: u32 = 400;

fn challenger(number: u8) -> AccountId32 {
	AccountId32([10 + number; 32])
}

fn defendant() -> Defendant {
	Defendant::Trainer { job: 9, who: TRAINER }
}

/// Returns what `challenger` accuses `defender` of: where their results part first.
fn accusation(defender: &Run, challenger: &Run) -> Accusation {
	let result = defender.result();
	let target = (0..)
		.find_map(|index| match (defender.leaf(index), challenger.leaf(index)) {
			(None, None) => Some(Target::Model),
			(one, other) if one == other => None,
			(Some(_), Some(_)) if index == 0 => Some(Target::Start),
			(Some(_), Some(_)) => Some(Target::Segment(index - 1)),
			_ => Some(Target::Stop),
		})
		.unwrap();
	let (indices, end) = match target {
		Target::Start => (vec![0], challenger.end_at(0)),
		Target::Segment(segment) => (vec![segment, segment + 1], challenger.end_at(segment + 1)),
		Target::Model => (vec![result.segments], None),
		_ => (vec![], None),
	};
	let all = defender.leaves();
	let leaf = |index: &u32| Leaf {
		content: defender.leaf(*index).unwrap(),
		path: merkle::proof(&all, *index as usize).unwrap().try_into().unwrap(),
	};
	let claimed = end.map_or(Claimed::Other, Claimed::End);
	Accusation {
		defendant: defendant(),
		target,
		claimed,
		leaves: indices.iter().map(leaf).collect(),
	}
}

/// A daemon, its folder and its files.
struct Daemon {
	seat: Seat,
	disputes: Disputes,
	matter: Matter,
	folder: tempfile::TempDir,
	/// What it could not do.
	errors: Vec<String>,
}

impl Daemon {
	fn new(court: &Court, me: AccountId32, matter: Matter, kill: Option<Kill>) -> Self {
		let folder = tempfile::tempdir().unwrap();
		let seat = Seat::new(court, me, kill, folder.path());
		let disputes = Self::started(me, &folder);
		Self { seat, disputes, matter, folder, errors: Vec::new() }
	}

	fn started(me: AccountId32, folder: &tempfile::TempDir) -> Disputes {
		let report = Reporter::new("trainer", true, Some(&folder.path().join("events.jsonl")));
		let webhook = Webhook::new(report.clone(), None).unwrap();
		Disputes::new(me, folder.path(), report, webhook)
	}

	/// Returns what it plans at a block.
	async fn plan(&self) -> Plan {
		let subject = |_: &Dispute| Some(self.matter.subject.clone());
		self.disputes.look(&self.seat, subject).await.unwrap().plan
	}

	/// Does what it does at a block; is started again where it was killed.
	async fn block(&mut self) {
		let plan = self.plan().await;
		for step in plan.steps {
			let matter = self.matter.clone();
			if let Err(e) = self.disputes.carry_out(&self.seat, step, || Ok(matter)).await {
				self.errors.push(e.to_string());
			}
			if std::mem::take(&mut *self.seat.dead.lock().unwrap()) {
				self.disputes = Self::started(self.seat.me, &self.folder);
				return;
			}
		}
	}

	fn events(&self, event: &str) -> Vec<serde_json::Value> {
		let text = std::fs::read_to_string(self.folder.path().join("events.jsonl"));
		let events = text.unwrap_or_default();
		let all = events.lines().map(|line| serde_json::from_str(line).unwrap());
		all.filter(|found: &serde_json::Value| found["event"] == event).collect()
	}
}

fn matter(job: &Job, defender: &Run, record: Run) -> Matter {
	let case = job.world.case.clone();
	let party = Arc::new(InMemory { case: case.clone(), record });
	Matter { subject: Subject { case, result: defender.result() }, party }
}

/// A court in which challengers accuse the trainer, and the daemons of all of them.
struct Scene {
	court: Court,
	ids: Vec<DisputeId>,
	daemons: Vec<Daemon>,
}

impl Scene {
	/// Makes a scene of runs with these changes; challengers come with a deposit each.
	fn new(job: &Job, trainer: Change, challengers: &[(Change, u128)], kill: Option<Kill>) -> Self {
		let court = Court::new(CLOCK);
		let run = Run::new(job, trainer);
		court.claim(defendant(), &job.world.case, &run.result());
		let (mut ids, mut others) = (vec![], vec![]);
		for (number, (change, deposit)) in (0..).zip(challengers) {
			let own = Run::new(job, *change);
			let accusation = accusation(&run, &own);
			ids.push(court.challenge(challenger(number), &accusation, *deposit));
			court.next_block(false);
			others.push(Daemon::new(&court, challenger(number), matter(job, &run, own), kill));
		}
		let record = Run::new(job, trainer);
		let mut daemons = vec![Daemon::new(&court, TRAINER, matter(job, &run, record), kill)];
		daemons.extend(others);
		Self { court, ids, daemons }
	}

	/// Makes blocks until all disputes are over.
	async fn play(&mut self) -> Vec<Ending> {
		for _ in 0..4 * CLOCK {
			for daemon in &mut self.daemons {
				daemon.block().await;
			}
			self.court.next_block(false);
			let endings = self.ids.iter().map(|id| self.court.ending(*id)).collect::<Option<_>>();
			if let Some(endings) = endings {
				return endings;
			}
		}
		panic!("it goes on for ever");
	}

	/// Checks that every move came into a block once, and that none was refused.
	fn check_moves(&self, name: &str) {
		let inner = self.court.inner();
		assert!(inner.refused.is_empty(), "{name}: {:?}", inner.refused);
		let once: BTreeSet<_> = inner.made.iter().map(|made| (made.id, made.stage)).collect();
		assert_eq!(once.len(), inner.made.len(), "{name}: {:?}", inner.made);
	}
}

const CONVICTED: Ending = Ending::Convicted { by_clock: false };
const ACQUITTED: Ending = Ending::Acquitted { by_clock: false };

const CHANGES: [(&str, Change); 5] = [
	("state", Change::Bent { step: 3 }),
	("initial weight", Change::Initial { tensor: 0, element: 7 }),
	("rows", Change::Rows { labels: false }),
	("loss of an evaluation", Change::Mean { checkpoint: 1 }),
	("model", Change::Model { word: 20 }),
];

#[tokio::test]
async fn whoever_computed_honestly_wins_in_both_roles() {
	let job = jobs::small();
	for (name, change) in CHANGES {
		let mut cheat = Scene::new(&job, change, &[(Change::Nothing, 10)], None);
		assert_eq!(cheat.play().await, [CONVICTED], "{name}");
		cheat.check_moves(name);
		let mut accuser = Scene::new(&job, Change::Nothing, &[(change, 10)], None);
		assert_eq!(accuser.play().await, [ACQUITTED], "{name}");
		accuser.check_moves(name);
		assert!(accuser.daemons[0].errors.is_empty(), "{:?}", accuser.daemons[0].errors);
	}
}

/// Both sides are killed at each of their moves: before it is sent, while it is written down, and when
/// it is on its way. No move comes twice, and the same wins.
#[tokio::test]
async fn kills_at_every_move_change_nothing() {
	let job = jobs::small();
	for kill in [Kill::Before, Kill::Torn, Kill::After] {
		for (name, change) in CHANGES {
			let name = format!("{name}, {kill:?}");
			let mut cheat = Scene::new(&job, change, &[(Change::Nothing, 10)], Some(kill));
			assert_eq!(cheat.play().await, [CONVICTED], "{name}");
			cheat.check_moves(&name);
			let mut accuser = Scene::new(&job, Change::Nothing, &[(change, 10)], Some(kill));
			assert_eq!(accuser.play().await, [ACQUITTED], "{name}");
			accuser.check_moves(&name);
			// Every move of the defendant was written down, and killed once.
			let made = accuser.court.inner().made.len();
			let killed: usize =
				accuser.daemons.iter().map(|d| d.seat.killed.lock().unwrap().len()).sum();
			assert_eq!(killed, made, "{name}");
		}
	}
}

/// Three who accuse falsely, and one who is right: what was said once is not said again, two are heard
/// at a time, and all others are moot with the conviction.
#[tokio::test]
async fn many_disputes_are_answered_by_what_was_said_once() {
	let job = jobs::small();
	let (bent, loss) = (Change::Bent { step: 3 }, Change::Loss { step: 3 });
	let slice = Change::Slice { checkpoint: 2, slice: 0 };
	let mut honest =
		Scene::new(&job, Change::Nothing, &[(bent, 10), (bent, 30), (loss, 20), (slice, 10)], None);
	assert_eq!(honest.play().await, [ACQUITTED; 4]);
	honest.check_moves("honest");
	let made = honest.court.inner().made.clone();
	let count = |call| made.iter().filter(|made| made.call == call).count();
	// Ends, a step and a slice are opened once. Where two disputes ask for one of them, one is answered
	// and the others are poked on.
	assert_eq!(count("open"), 3, "{made:?}");
	assert!(count("poke") >= 2, "{made:?}");

	// Friends deny what the cheat says truly.
	let friend = Change::Loss { step: 2 };
	let challengers = [(friend, 10), (Change::Nothing, 20), (friend, 5)];
	let mut cheat = Scene::new(&job, bent, &challengers, None);
	let endings = cheat.play().await;
	assert_eq!(endings[1], CONVICTED, "{endings:?}");
	assert!(endings.contains(&Ending::Moot) || endings.contains(&ACQUITTED), "{endings:?}");
	cheat.check_moves("cheat");
}

/// A party that has nothing to say.
struct Silent;

impl Party for Silent {
	fn post(&self, _: Game<'_, Said>, _: &Stage) -> Result<Option<Roots>, PartyError> {
		Err("the disk is gone".into())
	}

	fn open(&self, _: Game<'_, Said>, _: &Stage) -> Result<Option<Opening>, PartyError> {
		Err("the disk is gone".into())
	}

	fn deny(&self, _: Game<'_, Said>, _: &Stage) -> Result<Option<Denial>, PartyError> {
		Ok(None)
	}

	fn openings(&self, _: &Stage) -> Result<Option<Openings>, PartyError> {
		Ok(None)
	}
}

#[tokio::test]
async fn silence_loses_and_warns() {
	let job = jobs::small();
	let bent = Change::Bent { step: 3 };
	// The trainer is in the right, and cannot say so.
	let mut scene = Scene::new(&job, Change::Nothing, &[(bent, 10)], None);
	scene.daemons[0].matter.party = Arc::new(Silent);
	assert_eq!(scene.play().await, [Ending::Convicted { by_clock: true }]);
	let trainer = &scene.daemons[0];
	assert!(trainer.errors.iter().all(|e| e.contains("the disk is gone")), "{:?}", trainer.errors);
	let warnings = trainer.events("clock_runs");
	let left: Vec<_> = warnings.iter().map(|w| w["left"].as_u64().unwrap()).collect();
	assert_eq!(left, [u64::from(CLOCK) / 2, u64::from(CLOCK) / 4]);
	assert!(warnings.iter().all(|w| w["due"] == "say" && w["side"] == "defender"), "{warnings:?}");
	assert!(scene.daemons[1].events("clock_runs").is_empty());

	// The challenger agrees with everything, or is not there.
	let mut scene = Scene::new(&job, bent, &[(Change::Nothing, 10)], None);
	scene.daemons[1].matter.party = Arc::new(Silent);
	assert_eq!(scene.play().await, [Ending::Acquitted { by_clock: true }]);
	let challenger = &scene.daemons[1];
	assert!(challenger.errors.iter().any(|e| e.contains("the accusation is false")));
	assert_eq!(challenger.events("clock_runs").len(), 2);
}

/// A clock stands in full blocks, and a defendant has nothing to do in disputes that are not heard.
#[tokio::test]
async fn clocks_stand_in_full_blocks_and_where_nobody_is_heard() {
	let job = jobs::small();
	let bent = Change::Bent { step: 3 };
	let scene =
		Scene::new(&job, Change::Nothing, &[(bent, 10), (bent, 20), (bent, 10), (bent, 10)], None);
	let clocks = |scene: &Scene| -> Vec<bool> {
		scene.court.inner().disputes.values().map(|d| d.clocks.since.is_some()).collect()
	};
	assert_eq!(clocks(&scene), [true, true, false, false]);
	let left = |scene: &Scene| {
		let inner = scene.court.inner();
		inner.disputes[&0].left(Side::Defender, &inner.now)
	};
	let before = left(&scene);
	for _ in 0..4 {
		scene.court.next_block(true);
	}
	assert_eq!(left(&scene), before, "no tick counts, and a quarter of the blocks is less");
	let plan = scene.daemons[0].plan().await;
	let ids: Vec<_> = plan.steps.iter().map(|step| step.id).collect();
	assert_eq!(ids, [1, 0]);
}

/// What was computed while the dispute went on is not sent.
#[tokio::test]
async fn a_dispute_that_went_on_is_left_alone() {
	let job = jobs::small();
	let bent = Change::Bent { step: 3 };
	let scene = Scene::new(&job, Change::Nothing, &[(bent, 10)], None);
	let trainer = &scene.daemons[0];
	let carry_out = |step| {
		let matter = trainer.matter.clone();
		trainer.disputes.carry_out(&trainer.seat, step, || Ok(matter))
	};
	let step = Step { id: 0, side: Side::Defender, due: Due::Say };
	let moved = carry_out(step).await.unwrap();
	assert_eq!(moved, Done::Moved);
	// The same step again: it is the challenger's turn.
	let done = carry_out(step).await.unwrap();
	assert_eq!(done, Done::Overtaken);
	let gone = Step { id: 99, ..step };
	let done = carry_out(gone).await.unwrap();
	assert_eq!(done, Done::Overtaken);
	scene.check_moves("one");
}
