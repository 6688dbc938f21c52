//! Jobs in a scene: who posts, trains and verifies them.
//!
//! [`Scene::act`] makes the next call of everyone who has one to make, as their daemons would. An
//! attacker is one who works with a false root, or a verifier with a voice of its own.

use crate::{
	scene::{Party, Scene},
	states,
};
use frame_support::traits::Get;
use sp_runtime::DispatchError;
use std::rc::Rc;
use trainyard_program::{
	needs::MachineClass,
	spec::{JobSpec, ONE_NANO},
	work,
};
use trainyard_protocol::{
	audit::{AuditPhase, Findings, GroupVerdict, RejectReason, SegmentEvidence},
	blob::Chunked,
	commitment, fees,
	job::{BlockNumber, JobState, Reveal, Settlement, Terms, MAX_AUDIT_WORK, UNDECIDED_PERCENT},
	views::{AuditView, GroupView, JobView},
	JobId, Text, H256,
};
use trainyard_runtime::{
	api::runtime_decl_for_trainyard_api::TrainyardApi, configs::periods::RevealBlocks, *,
};

/// What everybody salts with: nobody here looks for it.
const SALT: [u8; 32] = [7; 32];

/// The states of an honest result hash to this byte, again and again.
pub const TRUE: u8 = 1;

/// The calls that store a model.
pub struct Model {
	/// Its root.
	pub root: H256,
	/// The call that registers it.
	pub register: RuntimeCall,
	/// The calls that store its chunks.
	pub uploads: Vec<RuntimeCall>,
}

impl Model {
	/// A model of these bytes.
	pub fn new(bytes: &[u8]) -> Rc<Self> {
		use pallet_model_storage::Call::{register, upload_chunk};
		let file = Chunked::new(bytes);
		let (size, content) = (bytes.len() as u64, file.content);
		let upload = |index: usize| {
			let proof = file.proof(index).expect("it has the chunk");
			upload_chunk {
				root: file.root,
				index: index as u32,
				proof: proof.try_into().expect("it is short"),
				bytes: file.chunks[index].to_vec().try_into().expect("it is a chunk"),
			}
			.into()
		};
		Rc::new(Self {
			root: file.root,
			register: register { size, content }.into(),
			uploads: (0..file.chunks.len()).map(upload).collect(),
		})
	}

	/// A small model, another one for each number.
	pub fn small(number: u32) -> Rc<Self> {
		let mut bytes = vec![3; 2_000];
		bytes[..4].copy_from_slice(&number.to_le_bytes());
		Self::new(&bytes)
	}
}

/// What a trainer brings for a job.
pub struct Work {
	/// The job.
	pub job: JobId,
	/// Who.
	pub trainer: Party,
	/// Its model.
	pub model: Rc<Model>,
	/// Of what byte the states of its bundle are; [`TRUE`] where it is honest.
	pub byte: u8,
	/// After how many segments training left the finite numbers, as it says.
	pub diverged: Option<u32>,
	/// Blocks for which it waits before it reveals.
	pub delay: BlockNumber,
}

/// What a member of a committee is asked.
pub struct Ask<'a> {
	/// Who.
	pub who: &'a AccountId,
	/// Its place in the committee.
	pub seat: usize,
	/// The committee.
	pub audit: &'a AuditView<AccountId>,
	/// The result.
	pub group: &'a GroupView,
}

/// What verifiers say; with `None` one says nothing.
pub type Voice<'a> = &'a dyn Fn(&Ask) -> Option<GroupVerdict>;

/// What an honest verifier says of a result that it could fetch.
pub fn truth(ask: &Ask) -> Option<GroupVerdict> {
	let result = &ask.group.result;
	Some(if states::is_of(TRUE, result) {
		accepts(ask)?
	} else {
		GroupVerdict::Reject(match result.diverged_in() {
			Some(segment) => RejectReason::NotDiverged(found(segment)),
			None => RejectReason::WrongSegment(found(*ask.group.drawn.first()?)),
		})
	})
}

/// What somebody says who finds any result true.
pub fn accepts(ask: &Ask) -> Option<GroupVerdict> {
	let replayed: Vec<_> = ask.group.drawn.iter().map(|segment| found(*segment)).collect();
	Some(GroupVerdict::Accept(replayed.try_into().expect("there are few")))
}

/// What a replay of a segment is said to have found.
fn found(segment: u32) -> SegmentEvidence {
	SegmentEvidence {
		segment,
		trace_root: H256::repeat_byte(TRUE),
		end_state: H256::repeat_byte(TRUE),
		idle_since: None,
	}
}

/// Terms of a small job, with the least fee for [`JobSpec::noisy_example`].
pub fn terms() -> Terms {
	let price_per_ut = 100 * TRY;
	let spec = JobSpec::noisy_example().check().expect("it is valid");
	let audit_fee = fees::audit_fee(&spec, 2, price_per_ut).expect("it is in range");
	Terms {
		price_per_ut,
		replicas: 1,
		verifiers: 3,
		audit_segments: 2,
		audit_fee,
		apply_blocks: 3,
		training_blocks: 30,
		machine: MachineClass::default(),
		undecided_percent: UNDECIDED_PERCENT,
	}
}

/// A job of one segment whose audit is nearly the largest there may be, and its terms.
pub fn heavy() -> (JobSpec, Terms) {
	let with = |steps: u32| {
		let mut spec = JobSpec::noisy_example();
		spec.training.steps = steps;
		spec.training.checkpoint_interval = steps;
		spec
	};
	let fits = |steps: u32| {
		let spec = with(steps).check().expect("it is valid");
		work::audit_micro_ut(&spec, 1).is_ok_and(|work| work <= MAX_AUDIT_WORK)
	};
	let (mut fit, mut none) = (1, 1 << 26);
	while none - fit > 1 {
		let middle = (fit + none) / 2;
		*if fits(middle) { &mut fit } else { &mut none } = middle;
	}
	let spec = with(fit);
	let checked = spec.clone().check().expect("it is valid");
	let audit_fee = fees::audit_fee(&checked, 1, 1).expect("it is in range");
	(spec, Terms { audit_segments: 1, price_per_ut: 1, audit_fee, ..terms() })
}

/// A rate or a share, in the units of a specification.
pub fn nano(number: f64) -> u64 {
	(number * ONE_NANO as f64) as u64
}

impl Scene {
	/// Posts a job. Returns its number.
	pub fn post(
		&mut self,
		who: &Party,
		spec: &JobSpec,
		terms: &Terms,
	) -> Result<JobId, DispatchError> {
		let (spec, terms) = (spec.clone(), terms.clone());
		self.call(who, pallet_task_market::Call::submit_job { spec, terms })?;
		Ok(self.chain.state(pallet_task_market::NextJob::<Runtime>::get) - 1)
	}

	/// From now on `trainer` works on `job`, and brings a bundle of this byte.
	pub fn works(&mut self, trainer: &Party, job: JobId, byte: u8) {
		let (trainer, model) = (trainer.clone(), Model::small(job));
		self.works.push(Work { job, trainer, model, byte, diverged: None, delay: 0 });
	}

	/// The same, and says that training left the finite numbers after that many segments.
	pub fn diverges(&mut self, trainer: &Party, job: JobId, byte: u8, segments: u32) {
		self.works(trainer, job, byte);
		if let Some(work) = self.works.last_mut() {
			work.diverged = Some(segments);
		}
	}

	/// A job as clients see it.
	pub fn job(&mut self, job: JobId) -> JobView<AccountId> {
		self.chain.state(|| Runtime::job(job)).expect("it is on record")
	}

	/// Makes blocks, in each of which everyone does what is to be done, until `reached` holds.
	pub fn until(
		&mut self,
		job: JobId,
		voice: Voice,
		reached: impl Fn(&JobView<AccountId>) -> bool,
	) -> JobView<AccountId> {
		for _ in 0..2_000 {
			let view = self.job(job);
			if reached(&view) {
				return view;
			}
			self.begin();
			self.act(voice);
			self.end();
		}
		panic!("nothing comes of the job in 2,000 blocks: {:?}", self.job(job));
	}

	/// Takes jobs to their ends. Returns where the money of each went.
	pub fn settle(&mut self, jobs: &[JobId], voice: Voice) -> Vec<Settlement> {
		let ended = |view: &JobView<AccountId>| matches!(view.state, JobState::Ended(_));
		jobs.iter().map(|job| self.until(*job, voice, ended).settlement).collect()
	}

	/// Makes the next call of everyone, in the open block.
	pub fn act(&mut self, voice: Voice) {
		let jobs = self.chain.state(Runtime::active_jobs);
		let now = self.height();
		for view in &jobs {
			let mut calls = Vec::new();
			match view.state {
				JobState::Open => self.applying(view, &mut calls),
				JobState::Training => self.committing(view, &mut calls),
				JobState::Revealing => self.revealing(view, now, &mut calls),
				JobState::Auditing => self.auditing(view, voice, &mut calls),
				JobState::Seeding | JobState::Ended(_) => {}
			}
			for (who, call) in calls {
				// What has no room in this block comes in the next one.
				if let Some(Err(error)) = self.send(&who, call) {
					panic!("somebody is refused in {:?} of {}: {error:?}", view.state, view.id);
				}
			}
		}
	}

	fn applying(&self, view: &JobView<AccountId>, calls: &mut Vec<(Party, RuntimeCall)>) {
		for work in self.works.iter().filter(|work| work.job == view.id) {
			if !view.applicants.contains(&work.trainer.account) {
				let digest = commitment::job(&view.spec, &view.terms);
				let apply = pallet_task_market::Call::apply { job: view.id, digest };
				calls.push((work.trainer.clone(), apply.into()));
			}
		}
	}

	/// What each replica that does something works on.
	fn of_replicas<'a>(
		&'a self,
		view: &'a JobView<AccountId>,
	) -> impl Iterator<Item = (&'a Work, &'a trainyard_protocol::views::ReplicaView<AccountId>)> {
		view.replicas.iter().filter_map(|replica| {
			let mut works = self.works.iter();
			let own = works.find(|w| w.job == view.id && w.trainer.account == replica.trainer);
			own.map(|work| (work, replica))
		})
	}

	fn committing(&self, view: &JobView<AccountId>, calls: &mut Vec<(Party, RuntimeCall)>) {
		for (work, replica) in self.of_replicas(view) {
			if replica.commitment.is_none() {
				let commitment = self.commitment(view, work);
				let commit = pallet_submissions::Call::commit { job: view.id, commitment };
				calls.push((work.trainer.clone(), commit.into()));
			}
		}
	}

	/// What a trainer reveals.
	fn reveal_of(view: &JobView<AccountId>, work: &Work) -> Reveal {
		let segments = work.diverged.unwrap_or(view.spec.segments());
		let diverged = work.diverged.is_some();
		Reveal {
			bundle_root: states::root(work.byte, segments, diverged),
			model_root: work.model.root,
			segments,
			diverged,
			location: Text::new("http://127.0.0.1:8600").expect("it is short"),
		}
	}

	/// What a trainer commits to.
	pub fn commitment(&self, view: &JobView<AccountId>, work: &Work) -> H256 {
		let result = Self::reveal_of(view, work).result();
		commitment::result(&self.genesis, view.id, &work.trainer.account, &result, &SALT)
	}

	fn revealing(
		&mut self,
		view: &JobView<AccountId>,
		now: BlockNumber,
		calls: &mut Vec<(Party, RuntimeCall)>,
	) {
		let since = view.deadline - self.chain.state(RevealBlocks::get);
		let mut stored = Vec::new();
		for (work, replica) in self.of_replicas(view) {
			if replica.commitment.is_none() || now < since + work.delay {
				continue;
			}
			if replica.reveal.is_none() {
				let (job, reveal) = (view.id, Self::reveal_of(view, work));
				let reveal = pallet_submissions::Call::reveal { job, reveal, salt: SALT };
				calls.push((work.trainer.clone(), reveal.into()));
			}
			// One of those who have the same model stores it.
			if stored.iter().all(|(_, model): &(Party, Rc<Model>)| model.root != work.model.root) {
				stored.push((work.trainer.clone(), work.model.clone()));
			}
		}
		for (trainer, model) in stored {
			let missing = match self.chain.state(|| Runtime::blob(model.root)) {
				Some(blob) => blob.missing,
				None => {
					calls.push((trainer.clone(), model.register.clone()));
					(0..model.uploads.len() as u32).collect()
				}
			};
			let some = missing.iter().take(3).map(|index| model.uploads[*index as usize].clone());
			calls.extend(some.map(|upload| (trainer.clone(), upload)));
		}
	}

	fn auditing(
		&mut self,
		view: &JobView<AccountId>,
		voice: Voice,
		calls: &mut Vec<(Party, RuntimeCall)>,
	) {
		use pallet_verification::Call::{commit, reveal};
		let Some(audit) = &view.audit else { return };
		let (job, round) = (view.id, audit.round);
		for (seat, member) in audit.committee.iter().enumerate() {
			let who = &member.verifier;
			let Some(party) = self.parties.iter().find(|party| party.account == *who).cloned()
			else {
				continue;
			};
			match audit.phase {
				AuditPhase::Committing { .. } if member.commitment.is_none() => {
					let asks = audit.groups.iter().map(|group| Ask { who, seat, audit, group });
					let said: Option<Vec<GroupVerdict>> = asks.map(|ask| voice(&ask)).collect();
					let Some(said) = said else { continue };
					let findings = Findings::try_from(said).expect("there are few");
					let commitment =
						commitment::verdict(&self.genesis, job, round, who, &findings, &SALT);
					self.findings.insert((job, round, who.clone()), findings);
					calls.push((party, commit { job, commitment }.into()));
				}
				AuditPhase::Revealing { .. } if member.findings.is_none() => {
					let own = self.findings.get(&(job, round, who.clone())).cloned();
					let Some(findings) = own else { continue };
					calls.push((party, reveal { job, findings, salt: SALT }.into()));
				}
				_ => {}
			}
		}
	}
}
