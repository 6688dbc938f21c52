//! A court in memory: the rules of the game, clocks and dockets of the pallet, and a pool.

use super::super::{moves::Move, plan::stage_hash, Courtroom, Seen};
use std::{
	collections::{BTreeMap, BTreeSet},
	path::{Path, PathBuf},
	sync::{Arc, Mutex, MutexGuard},
};
use trainyard_client::{
	court::{
		challenge_hash, Accusation, Burden, Clocks, Commitment, Defendant, Dispute, DisputeId,
		Said, Side, Since, JUDGE_AFTER,
	},
	AccountId32, ChainError, TxError,
};
use trainyard_court::{
	game::{Game, Moved, Next, Outcome, Refused, Stage, Turn},
	Case,
};
use trainyard_protocol::{
	job::{Balance, WorkResult},
	JobId, H256,
};

/// How a dispute ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
	Convicted { by_clock: bool },
	Acquitted { by_clock: bool },
	Moot,
}

/// What happens to a daemon when it sends a move for the first time where a dispute stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kill {
	/// It is killed before the move is sent.
	Before,
	/// The same, while the line about it was being written.
	Torn,
	/// It is killed when the move is in the pool; three blocks later it is in a block.
	After,
}

/// A move that came into a block.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Made {
	pub id: DisputeId,
	pub stage: H256,
	pub call: &'static str,
}

#[derive(Default)]
pub struct Inner {
	pub now: Since,
	pub disputes: BTreeMap<DisputeId, Dispute>,
	pub ended: BTreeMap<DisputeId, Ending>,
	pub made: Vec<Made>,
	pub refused: Vec<(DisputeId, &'static str, String)>,
	said: BTreeMap<Defendant, Said>,
	claims: BTreeMap<Defendant, (Case, WorkResult)>,
	convicted: BTreeSet<Defendant>,
	pool: Vec<(u32, AccountId32, DisputeId, Move)>,
	/// What accounts are bound to.
	pub bound: BTreeMap<(JobId, AccountId32), Commitment>,
	next: DisputeId,
	clock: u32,
}

/// The court.
#[derive(Clone)]
pub struct Court(Arc<Mutex<Inner>>);

impl Court {
	/// Makes a court whose clocks have so many ticks.
	pub fn new(clock: u32) -> Self {
		let now = Since { tick: 100, height: 100 };
		Self(Arc::new(Mutex::new(Inner { now, clock, ..Inner::default() })))
	}

	pub fn inner(&self) -> MutexGuard<'_, Inner> {
		self.0.lock().unwrap()
	}

	/// Lets a defendant claim a result.
	pub fn claim(&self, defendant: Defendant, case: &Case, result: &WorkResult) {
		self.inner().claims.insert(defendant, (case.clone(), *result));
	}

	/// Begins a dispute.
	pub fn challenge(&self, by: AccountId32, accusation: &Accusation, deposit: u128) -> DisputeId {
		self.inner().challenge(by, accusation, deposit)
	}

	/// Makes the next block. Clocks stand in one that is full.
	pub fn next_block(&self, full: bool) {
		self.inner().next_block(full);
	}

	/// Returns how a dispute ended, if it did.
	pub fn ending(&self, id: DisputeId) -> Option<Ending> {
		self.inner().ended.get(&id).copied()
	}
}

impl Inner {
	fn challenge(&mut self, by: AccountId32, accusation: &Accusation, deposit: u128) -> DisputeId {
		let Accusation { defendant, target, claimed, leaves } = accusation;
		let (case, result) = self.claims[defendant].clone();
		let said = self.said.entry(*defendant).or_default();
		let game = Game { case: &case, result: &result, said: &*said };
		let Moved { next, said: fresh } = game.begin(*target, claimed, leaves, None).unwrap();
		said.extend(fresh);
		let Next::Stage(stage) = next else { panic!("the leaves decide it") };
		let id = self.next;
		self.next += 1;
		let clocks = Clocks {
			challenger: self.clock,
			defender: self.clock,
			since: None,
			challenger_rest: 0,
			defender_rest: 0,
		};
		let height = self.now.height;
		self.disputes.insert(
			id,
			Dispute {
				challenger: by,
				defendant: *defendant,
				claimed: *claimed,
				stage,
				deposit,
				stake: 0,
				committed_at: height,
				clocks,
				burden: Burden::default(),
				moved_at: height,
				awake: height,
				aside: false,
				moves: 0,
			},
		);
		self.hear(defendant);
		id
	}

	/// Stops the clock of whoever is to move.
	fn stop(&mut self, id: DisputeId) {
		let now = self.now;
		if let Some(dispute) = self.disputes.get_mut(&id) {
			let side = dispute.side();
			let left = dispute.left(side, &now);
			match side {
				Side::Challenger => dispute.clocks.challenger = left,
				Side::Defender => dispute.clocks.defender = left,
			}
			dispute.clocks.since = None;
		}
	}

	/// Lets the clocks run that should: those of challengers in their turn, and the defendant's in the
	/// dispute with the largest deposit and in the oldest of the others.
	fn hear(&mut self, defendant: &Defendant) {
		let mine = |dispute: &Dispute| dispute.defendant == *defendant;
		let waits: Vec<_> = self
			.disputes
			.iter()
			.filter(|(_, dispute)| mine(dispute) && dispute.side() == Side::Defender)
			.map(|(id, dispute)| (dispute.deposit, std::cmp::Reverse(dispute.age(*id)), *id))
			.collect();
		let first = waits.iter().max().map(|(.., id)| *id);
		let rest = waits.iter().filter(|(.., id)| Some(*id) != first);
		let second = rest.max_by_key(|(_, age, _)| *age).map(|(.., id)| *id);
		let all = self.disputes.iter().filter(|(_, dispute)| mine(dispute));
		let ids: Vec<_> = all.map(|(id, _)| *id).collect();
		for id in ids {
			let dispute = &self.disputes[&id];
			let runs = dispute.side() == Side::Challenger || [first, second].contains(&Some(id));
			match (runs, dispute.clocks.since) {
				(true, None) => {
					let now = self.now;
					if let Some(dispute) = self.disputes.get_mut(&id) {
						dispute.clocks.since = Some(now);
					}
				}
				(false, Some(_)) => self.stop(id),
				_ => {}
			}
		}
	}

	pub fn end(&mut self, id: DisputeId, ending: Ending) {
		let Some(dispute) = self.disputes.remove(&id) else { return };
		self.ended.insert(id, ending);
		if matches!(ending, Ending::Convicted { .. }) {
			self.convicted.insert(dispute.defendant);
			let of = |(_, other): &(&DisputeId, &Dispute)| other.defendant == dispute.defendant;
			let others: Vec<_> = self.disputes.iter().filter(of).map(|(id, _)| *id).collect();
			for id in others {
				self.end(id, Ending::Moot);
			}
		}
		self.hear(&dispute.defendant);
	}

	/// Returns where a dispute stands by what was said since, if that is further.
	fn said_since(&self, dispute: &Dispute) -> Option<Stage> {
		let (case, result) = self.claims.get(&dispute.defendant)?;
		let said = self.said.get(&dispute.defendant)?;
		let game = Game { case, result, said };
		let stage = game.advance(&dispute.stage).ok()?;
		(dispute.stage.turn == Turn::Defender && stage != dispute.stage).then_some(stage)
	}

	fn go_to(&mut self, id: DisputeId, stage: Stage) {
		self.stop(id);
		let Some(dispute) = self.disputes.get_mut(&id) else { return };
		dispute.stage = stage;
		let defendant = dispute.defendant;
		self.hear(&defendant);
	}

	fn next_block(&mut self, full: bool) {
		self.now.height += 1;
		self.now.tick += u32::from(!full);
		let now = self.now.height;
		let (due, later): (Vec<_>, Vec<_>) =
			std::mem::take(&mut self.pool).into_iter().partition(|(height, ..)| *height <= now);
		self.pool = later;
		for (_, who, id, it) in due {
			let _ = self.apply(&who, id, &it);
		}
		let ids: Vec<_> = self.disputes.keys().copied().collect();
		for id in ids {
			let Some(dispute) = self.disputes.get(&id).cloned() else { continue };
			let side = dispute.side();
			if dispute.clocks.since.is_none() || dispute.left(side, &self.now) > 0 {
				continue;
			}
			match (self.said_since(&dispute), side) {
				(Some(stage), _) => self.go_to(id, stage),
				(None, Side::Challenger) => self.end(id, Ending::Acquitted { by_clock: true }),
				(None, Side::Defender) => self.end(id, Ending::Convicted { by_clock: true }),
			}
		}
	}

	/// Does what a call does in a block; returns the name of the error where it fails.
	pub fn apply(
		&mut self,
		who: &AccountId32,
		id: DisputeId,
		it: &Move,
	) -> Result<(), &'static str> {
		let stage = self.disputes.get(&id).map(|dispute| stage_hash(&dispute.stage));
		let result = self.try_apply(who, id, it);
		match (stage, result) {
			(Some(stage), Ok(())) => self.made.push(Made { id, stage, call: it.name() }),
			(_, result) => {
				let why = result.err().unwrap_or_default().to_owned();
				self.refused.push((id, it.name(), why));
			}
		}
		result
	}

	fn try_apply(
		&mut self,
		who: &AccountId32,
		id: DisputeId,
		it: &Move,
	) -> Result<(), &'static str> {
		let dispute = self.disputes.get(&id).cloned().ok_or("NoDispute")?;
		let (side, turn) = match it {
			Move::Poke => {
				let stage = self.said_since(&dispute).ok_or("NotDue")?;
				self.go_to(id, stage);
				return Ok(());
			}
			Move::Post(..) | Move::Open(..) => (Side::Defender, Turn::Defender),
			Move::Deny(..) | Move::Show(..) => (Side::Challenger, Turn::Challenger),
			Move::Judge(_) => (dispute.side_of(who).ok_or("NotASide")?, Turn::Piece),
		};
		if dispute.account(side) != who {
			return Err("NotDefender");
		}
		if dispute.stage.turn != turn {
			return Err("NotYourTurn");
		}
		let is_early = self.now.height - dispute.moved_at < JUDGE_AFTER;
		if turn == Turn::Piece && side == Side::Challenger && is_early {
			return Err("TooEarly");
		}
		if dispute.left(dispute.side(), &self.now) == 0 {
			return Err("TooLate");
		}
		let (case, result) = self.claims[&dispute.defendant].clone();
		let said = self.said.entry(dispute.defendant).or_default();
		let game = Game { case: &case, result: &result, said: &*said };
		let stage = &dispute.stage;
		let moved = match it {
			Move::Post(place, roots) => game.post(stage, place, roots),
			Move::Open(place, opening) => game.open(stage, place, opening),
			Move::Deny(place, at) => game.deny(stage, place, *at),
			Move::Show(place, witness) => game.show(stage, place, witness),
			Move::Judge(openings) => game.judge(stage, openings).map(|(moved, _)| moved),
			Move::Poke => return Err("NotDue"),
		};
		let Moved { next, said: fresh } = moved.map_err(|refused| match refused {
			Refused::WrongPlace => "WrongPlace",
			Refused::AlreadySaid => "AlreadySaid",
			_ => "WrongOpening",
		})?;
		said.extend(fresh);
		match next {
			Next::Stage(stage) => {
				let height = self.now.height;
				if let Some(dispute) = self.disputes.get_mut(&id) {
					dispute.moves += 1;
					dispute.moved_at = height;
				}
				self.go_to(id, stage);
			}
			Next::Ended(Outcome::Convicted) => self.end(id, Ending::Convicted { by_clock: false }),
			Next::Ended(Outcome::Acquitted) => self.end(id, Ending::Acquitted { by_clock: false }),
		}
		Ok(())
	}
}

/// The court as one account sees it.
#[derive(Clone)]
pub struct Seat {
	pub court: Court,
	pub me: AccountId32,
	/// What happens when it sends a move for the first time where a dispute stands.
	pub kill: Option<Kill>,
	/// Where it was killed already.
	pub killed: Arc<Mutex<BTreeSet<H256>>>,
	/// Whether it was killed just now.
	pub dead: Arc<Mutex<bool>>,
	/// Its disputes on disk.
	pub folder: PathBuf,
}

impl Seat {
	pub fn new(court: &Court, me: AccountId32, kill: Option<Kill>, folder: &Path) -> Self {
		let (court, folder) = (court.clone(), folder.to_owned());
		Self { court, me, kill, killed: Arc::default(), dead: Arc::default(), folder }
	}

	/// Returns how it is killed when it sends something about an accusation, the first time.
	fn is_killed_accusing(&self, what: &str) -> Option<Kill> {
		let name = trainyard_proof::hash::blake2_256(what.as_bytes());
		let kill = self.kill.filter(|kill| *kill != Kill::Torn)?;
		let kill = self.killed.lock().unwrap().insert(name).then_some(kill)?;
		*self.dead.lock().unwrap() = true;
		Some(kill)
	}

	fn is_killed(&self, id: DisputeId) -> Option<Kill> {
		let kill = self.kill?;
		let stage = stage_hash(&self.court.inner().disputes.get(&id)?.stage);
		self.killed.lock().unwrap().insert(stage).then_some(kill)
	}
}

impl Courtroom for Seat {
	async fn look(&self) -> Result<Seen, ChainError> {
		let inner = self.court.inner();
		Ok(Seen { now: inner.now, disputes: inner.disputes.clone() })
	}

	async fn dispute(&self, id: DisputeId) -> Result<(Since, Option<Dispute>), ChainError> {
		let inner = self.court.inner();
		Ok((inner.now, inner.disputes.get(&id).cloned()))
	}

	async fn said(&self, defendant: &Defendant) -> Result<Said, ChainError> {
		Ok(self.court.inner().said.get(defendant).cloned().unwrap_or_default())
	}

	async fn is_convicted(&self, defendant: &Defendant) -> Result<bool, ChainError> {
		Ok(self.court.inner().convicted.contains(defendant))
	}

	async fn send(&self, id: DisputeId, it: &Move) -> Result<(), TxError> {
		let call = it.call(id).title();
		if let Some(kill) = self.is_killed(id) {
			*self.dead.lock().unwrap() = true;
			match kill {
				Kill::Before => {}
				Kill::Torn => {
					let path = self.folder.join(id.to_string()).join("moves.jsonl");
					let bytes = std::fs::read(&path).unwrap();
					std::fs::write(&path, &bytes[..bytes.len() - 7]).unwrap();
				}
				Kill::After => {
					let mut inner = self.court.inner();
					let height = inner.now.height + 3;
					inner.pool.push((height, self.me, id, it.clone()));
				}
			}
			return Err(TxError::Unknown { call, reason: "killed".into() });
		}
		self.court.inner().apply(&self.me, id, it).map_err(|name| TxError::Failed {
			call,
			name: format!("Court::{name}"),
			docs: String::new(),
		})
	}

	fn genesis(&self) -> H256 {
		H256::repeat_byte(0x77)
	}

	async fn bound(&self, job: JobId) -> Result<Option<Commitment>, ChainError> {
		Ok(self.court.inner().bound.get(&(job, self.me)).cloned())
	}

	async fn free(&self) -> Result<Balance, ChainError> {
		Ok(Balance::MAX / 2)
	}

	async fn commit(&self, job: JobId, hash: &H256) -> Result<(), TxError> {
		let kill = self.is_killed_accusing("commit");
		if kill != Some(Kill::Before) {
			let mut inner = self.court.inner();
			let since = inner.now;
			let bound = Commitment { job, who: self.me, hash: *hash, since, deposit: 10 };
			let before = inner.bound.insert((job, self.me), bound);
			assert!(before.is_none(), "the court refuses another commitment");
		}
		match kill {
			Some(_) => Err(killed("Court.commit")),
			None => Ok(()),
		}
	}

	async fn challenge(&self, accusation: &Accusation, salt: &[u8; 32]) -> Result<(), TxError> {
		let kill = self.is_killed_accusing("challenge");
		if kill != Some(Kill::Before) {
			let mut inner = self.court.inner();
			let job = accusation.defendant.job();
			let bound = inner.bound.remove(&(job, self.me)).expect("it is bound");
			assert!(inner.now.height > bound.since.height, "a block later");
			assert_eq!(challenge_hash(&self.genesis(), &self.me, accusation, salt), bound.hash);
			inner.challenge(self.me, accusation, bound.deposit);
		}
		match kill {
			Some(_) => Err(killed("Court.challenge")),
			None => Ok(()),
		}
	}
}

fn killed(call: &str) -> TxError {
	TxError::Unknown { call: call.into(), reason: "killed".into() }
}
