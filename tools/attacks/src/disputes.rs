//! Disputes in a scene: who accuses whom, and the moves of both sides.

use crate::{
	jobs::{Voice, SALT},
	scene::{Party, Scene},
};
use pallet_court::{Convicted, Disputes, Ending, Event};
use sp_runtime::DispatchError;
use std::rc::Rc;
use trainyard_court::testing::run::Run;
use trainyard_protocol::{accusation::Target, audit::AuditPhase, views::AuditView, JobId, H256};
use trainyard_runtime::{
	AccountId, Balance, Court, Runtime, RuntimeCall, RuntimeEvent, System, TaskMarket,
};
use trainyard_sandbox::{bundles::Bundle, disputes::next_move};
use trainyard_traits::{Accusation, Defendant, DisputeId};

impl Scene {
	/// Makes the next move of everyone in the disputes of a job, in the open block. Each side plays by what
	/// it trained; who trained nothing, or is [silent](Scene::silent), has nothing to say.
	pub(crate) fn disputing(&mut self, job: JobId) {
		let mut all: Vec<DisputeId> = self.chain.state(|| {
			let disputes = Disputes::<Runtime>::iter();
			disputes.filter(|(_, d)| d.defendant.job() == job).map(|(id, _)| id).collect()
		});
		all.sort();
		for id in all {
			// What was said in one dispute can end another.
			let Some(dispute) = self.chain.state(|| Disputes::<Runtime>::get(id)) else { continue };
			// With a conviction all others are moot.
			let defendant = &dispute.defendant;
			if self.chain.state(|| Convicted::<Runtime>::contains_key(job, defendant)) {
				continue;
			}
			let (accuser, accused) = (&dispute.challenger, dispute.defendant.who());
			let claims = self.claims.get(&(job, accuser.clone()));
			let claims = claims.filter(|_| !self.silent.contains(accuser)).cloned();
			let said = self.said_by(&dispute.defendant).filter(|_| !self.silent.contains(accused));
			fn run(bundle: &Option<Rc<Bundle>>) -> Option<&Run> {
				bundle.as_ref()?.run.as_ref()
			}
			let due = self.chain.state(|| next_move(id, run(&claims), run(&said)));
			let Some((who, call)) = due else { continue };
			let Some(party) = self.party_of(&who) else { continue };
			if let Some(Err(error)) = self.send(&party, call) {
				panic!("a move in dispute {id} is refused: {error:?}");
			}
		}
	}

	/// What a defendant claims.
	fn said_by(&self, defendant: &Defendant<AccountId>) -> Option<Rc<Bundle>> {
		match defendant {
			Defendant::Trainer { job, who } => {
				let mut works = self.works.iter();
				works.find(|w| w.job == *job && w.trainer.account == *who)?.bundle.clone()
			}
			Defendant::Seat { job, bundle_root, .. } => Some(self.delivered(*job, bundle_root)),
		}
	}

	/// Somebody without a seat binds itself to accuse `trainer` of a segment of what it delivered, which
	/// ends as in `claims`.
	///
	/// # Errors
	///
	/// As the call.
	pub fn binds(
		&mut self,
		who: &Party,
		trainer: &Party,
		(job, segment): (JobId, u32),
		claims: &Rc<Bundle>,
	) -> Result<DisputeId, DispatchError> {
		let accusation = self.accusation(trainer, (job, segment), claims);
		let Accusation { defendant, target, claimed, .. } = &accusation;
		let account = &who.account;
		let (id, hash): (DisputeId, H256) = self.chain.state(|| {
			let id = pallet_court::NextDispute::<Runtime>::get();
			(id, Court::digest(account, defendant, target, claimed, &SALT))
		});
		self.claims.insert((job, account.clone()), claims.clone());
		self.call(who, pallet_court::Call::commit { job, hash })?;
		Ok(id)
	}

	/// It shows to what it bound itself.
	///
	/// # Errors
	///
	/// As the call.
	pub fn shows(
		&mut self,
		who: &Party,
		trainer: &Party,
		(job, segment): (JobId, u32),
	) -> Result<(), DispatchError> {
		let claims = self.claims.get(&(job, who.account.clone())).expect("it is bound").clone();
		let accusation = self.accusation(trainer, (job, segment), &claims);
		self.call(who, pallet_court::Call::challenge { accusation, salt: SALT })
	}

	/// Both.
	pub fn sues(
		&mut self,
		who: &Party,
		trainer: &Party,
		of: (JobId, u32),
		claims: &Rc<Bundle>,
	) -> DisputeId {
		let id = self.binds(who, trainer, of, claims).expect("the window is open");
		self.shows(who, trainer, of).expect("it is what it is bound to");
		id
	}

	/// All of these sue at once, several in a block.
	pub fn all_sue(
		&mut self,
		who: &[Party],
		trainer: &Party,
		of: (JobId, u32),
		claims: &Rc<Bundle>,
	) {
		let (job, _) = of;
		let accusation = self.accusation(trainer, of, claims);
		let Accusation { defendant, target, claimed, .. } = &accusation;
		let digest = |who: &Party| Court::digest(&who.account, defendant, target, claimed, &SALT);
		let hashes = self.chain.state(|| who.iter().map(digest).collect::<Vec<H256>>());
		for party in who {
			self.claims.insert((job, party.account.clone()), claims.clone());
		}
		self.all(who, |party| {
			let at = who.iter().position(|other| other.account == party.account);
			let hash = hashes[at.expect("it is one of them")];
			pallet_court::Call::commit { job, hash }.into()
		});
		self.all(who, |_| {
			let accusation = accusation.clone();
			pallet_court::Call::challenge { accusation, salt: SALT }.into()
		});
	}

	/// What accuses `trainer` of a segment of what it delivered, which ends as in `claims`.
	pub(crate) fn accusation(
		&self,
		trainer: &Party,
		(job, segment): (JobId, u32),
		claims: &Bundle,
	) -> Accusation<AccountId> {
		let defendant = Defendant::Trainer { job, who: trainer.account.clone() };
		let delivered = self.said_by(&defendant).expect("it delivered something");
		let target = Target::Segment(segment);
		let (claimed, leaves) = (claims.claims(&target), delivered.shown(&target));
		Accusation { defendant, target, claimed, leaves }
	}

	/// The call by which the seat `by` accuses another one of its evidence of a segment, once.
	pub(crate) fn accuses_seat(
		&mut self,
		job: JobId,
		by: &Party,
		of: &AccountId,
		segment: u32,
		(delivered, truth): (&Bundle, &Rc<Bundle>),
	) -> Option<(Party, RuntimeCall)> {
		let bundle_root = delivered.root();
		let defendant = Defendant::Seat { job, who: of.clone(), bundle_root };
		if !self.accused.insert((by.account.clone(), defendant.clone())) {
			return None;
		}
		self.claims.insert((job, by.account.clone()), truth.clone());
		let target = Target::Evidence(segment);
		let (claimed, leaves) = (truth.claims(&target), delivered.shown(&target));
		let accusation = Accusation { defendant, target, claimed, leaves };
		Some((by.clone(), pallet_verification::Call::accuse { accusation }.into()))
	}

	/// Makes blocks, in which everyone does what is to be done, until nothing of `job` is disputed.
	pub fn argue(&mut self, job: JobId, voice: Voice) -> Vec<(DisputeId, Ending)> {
		let mut endings = Vec::new();
		for _ in 0..500 {
			let open = self.chain.state(|| pallet_court::Standings::<Runtime>::get(job));
			if open.disputes == 0 && open.commitments == 0 {
				return endings;
			}
			self.begin();
			self.act(voice);
			if self.chain.state(|| pallet_task_market::Lates::<Runtime>::contains_key(job)) {
				// It is none of the active ones any more.
				self.disputing(job);
			}
			self.end();
			endings.extend(self.endings());
		}
		panic!("disputes of job {job} do not end");
	}

	/// How disputes ended in the latest block.
	pub fn endings(&mut self) -> Vec<(DisputeId, Ending)> {
		let ended = self.chain.state(System::events).into_iter().filter_map(|e| match e.event {
			RuntimeEvent::Court(Event::Ended { id, ending }) => Some((id, ending)),
			_ => None,
		});
		ended.collect()
	}

	/// The deposit of a challenge to a result of `job`.
	pub fn challenge_deposit(&mut self, job: JobId) -> Balance {
		self.chain.state(|| TaskMarket::challenge_deposit(job)).expect("it can be challenged")
	}

	/// Takes a job to where its results stand.
	pub fn stands(&mut self, job: JobId, voice: Voice) -> AuditView<AccountId> {
		self.reaches(job, voice, |phase| matches!(phase, AuditPhase::Standing { .. }))
	}
}
