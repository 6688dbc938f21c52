//! Jobs in a scene: who posts, trains and verifies them.
//!
//! [`Scene::act`] makes the next call of everyone who has one to make, as their daemons would. An
//! attacker is one who works with something false, or a verifier with a voice of its own.

use crate::scene::{Party, Scene, Side};
use frame_support::traits::Get;
use sp_runtime::DispatchError;
use std::{collections::BTreeSet, rc::Rc};
use trainyard_court::testing::{
	jobs,
	run::{Change, Job, Run},
};
use trainyard_program::{
	needs::MachineClass,
	spec::{CheckedSpec, JobSpec, ONE_NANO},
	work, MicroUt,
};
use trainyard_protocol::{
	accusation::Target,
	audit::{AuditPhase, Findings, GroupVerdict, Paths},
	blob::Chunked,
	commitment, duties, fees, forced,
	job::{BlockNumber, JobState, Reveal, Settlement, Terms, WorkResult, UNDECIDED_PERCENT},
	pieces::Piece,
	trace::seal,
	views::{AuditView, BundleView, GroupView, JobView, ReplicaView},
	JobId, Text, H256,
};
use trainyard_runtime::{
	api::runtime_decl_for_trainyard_api::TrainyardApi, configs::periods::RevealBlocks, *,
};
use trainyard_sandbox::{
	bundles::{applies, bent, secret, Bundle},
	seats::{Seat, Verdict},
};

/// What everybody salts with: nobody here looks for it.
pub const SALT: [u8; 32] = [7; 32];

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
			register: register { size, content, period: None }.into(),
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

/// How a trainer comes to its result.
#[derive(Clone, Copy)]
pub enum Makes {
	/// It makes it up: of states of this byte, honest where it is [`TRUE`]. Says after how many segments
	/// training left the finite numbers, if it did.
	Up(u8, Option<u32>),
	/// It trains [`trained`], or something that it makes of the honest training.
	Trains(fn(&Job, &Run) -> Run),
	/// What it is given when the job has its seed, see [`crate::transcripts`].
	Later,
}

/// What a trainer brings for a job.
pub struct Work {
	/// The job.
	pub job: JobId,
	/// Who.
	pub trainer: Party,
	/// How it comes to its result.
	pub makes: Makes,
	/// What it delivers, once it has it.
	pub bundle: Option<Rc<Bundle>>,
	/// Its model.
	pub model: Rc<Model>,
	/// Blocks for which it waits before it reveals.
	pub delay: BlockNumber,
	/// Whether it opens the leaves that it forced to be false.
	pub opens: bool,
}

/// What a member of a committee is asked.
pub struct Ask<'a> {
	/// Who.
	pub who: &'a AccountId,
	/// The committee.
	pub audit: &'a AuditView<AccountId>,
	/// The result.
	pub group: &'a GroupView<AccountId>,
	/// What was delivered.
	pub delivered: &'a Rc<Bundle>,
	/// What an honest training delivers.
	pub truth: &'a Rc<Bundle>,
	/// What a cheat would deliver in its place, where the job is trained.
	pub lie: Option<&'a Rc<Bundle>>,
	/// The segments of which it has to reveal evidence.
	pub segments: &'a [u32],
}

/// What one says of a result.
#[derive(Clone)]
pub enum Say {
	/// It vouches for it, by evidence that agrees.
	Vouches,
	/// It says that all traces are right that the trainer gave to it, those that it forced among them.
	Copies,
	/// It says of all traces that they differ, and makes the true ones up.
	Differs,
	/// It accuses one of its trainers of this segment, which ends as in that bundle.
	Rejects(u32, Rc<Bundle>),
	/// It accuses this trainer of it, whether it is out or not.
	Names(AccountId, u32, Rc<Bundle>),
	/// It accuses one of its trainers that it stored something else as the file of that state.
	Garbage(u32),
	/// It could not have or replay it.
	Unavailable,
}

/// What verifiers say; with `None` one says nothing.
pub type Voice<'a> = &'a dyn Fn(&Ask) -> Option<Say>;

/// What an honest verifier says of a result that it could fetch.
pub fn truth(ask: &Ask) -> Option<Say> {
	let mut segments = ask.segments.iter();
	let wrong = segments.find(|segment| ask.delivered.is_false(**segment, ask.truth));
	Some(wrong.map_or(Say::Vouches, |segment| Say::Rejects(*segment, ask.truth.clone())))
}

/// What somebody says who finds any result true.
pub fn accepts(_: &Ask) -> Option<Say> {
	Some(Say::Vouches)
}

/// Terms of a small job, with the least fee for [`JobSpec::noisy_example`].
pub fn terms() -> Terms {
	let price_per_ut = 100 * TRY;
	let spec = JobSpec::noisy_example().check().expect("it is valid");
	let terms = Terms {
		price_per_ut,
		replicas: 1,
		verifiers: 3,
		audit_segments: 2,
		audit_fee: 0,
		apply_blocks: 3,
		training_blocks: 30,
		machine: MachineClass::default(),
		undecided_percent: UNDECIDED_PERCENT,
		keep_every: 1,
		lottery: None,
	};
	with_fee(&spec, terms)
}

/// These terms of [`JobSpec::noisy_example`] with that many replicas, and the least fee for them.
pub fn replicated(replicas: u32) -> Terms {
	let spec = JobSpec::noisy_example().check().expect("it is valid");
	with_fee(&spec, Terms { replicas, ..terms() })
}

/// These terms with the least fee.
pub fn with_fee(spec: &CheckedSpec, terms: Terms) -> Terms {
	let audit_fee = fees::audit_fee(spec, &terms).expect("it is in range");
	Terms { audit_fee, ..terms }
}

/// A small job that is really trained, with data of its own: the court can compute it. It has one
/// segment, so every seat replays it.
pub fn trained() -> Job {
	let mut spec = jobs::spec();
	(spec.training.steps, spec.training.checkpoint_interval) = (2, 2);
	Job::new(spec)
}

/// The same with a file that is smaller than a state.
pub fn compact() -> Job {
	let mut spec = trained().spec().spec().clone();
	spec.dataset.bytes = 1_000;
	Job::new(spec)
}

/// The same in three segments, one of which can be picked by how far it moves.
pub fn segmented() -> Job {
	let mut spec = jobs::spec();
	(spec.training.steps, spec.training.checkpoint_interval) = (6, 2);
	Job::new(spec)
}

/// [`trained`] with noise, so that it earns power.
pub fn powered() -> Job {
	let mut spec = jobs::spec();
	(spec.training.steps, spec.training.checkpoint_interval) = (2, 2);
	(spec.training.clip_norm_nano, spec.training.input_noise_nano) = (ONE_NANO, 10_000_000);
	Job::new(spec)
}

/// What an honest trainer of [`trained`] makes.
pub fn honestly(job: &Job, _: &Run) -> Run {
	Run::new(job, Change::Nothing)
}

/// What a cheat makes: one element of the last step is another, and all that follows from it.
pub fn bends(job: &Job, honest: &Run) -> Run {
	bent(job, honest, 0, 1)
}

/// Terms of [`trained`]. All of it is less than a millionth of a `ut`, so that is what counts, and costs
/// 20 TRY.
pub fn trained_terms() -> Terms {
	let terms = Terms { price_per_ut: 20_000_000 * TRY, audit_segments: 1, ..terms() };
	with_fee(trained().spec(), terms)
}

/// A job of one segment whose audit is nearly this work, or the most that there may be, and its terms.
pub fn heavy(most: Option<MicroUt>) -> (JobSpec, Terms) {
	let most = most.unwrap_or_else(|| duties::most_work(MachineClass::default().rate()));
	let with = |steps: u32| {
		let mut spec = JobSpec::noisy_example();
		spec.training.steps = steps;
		spec.training.checkpoint_interval = steps;
		spec
	};
	let fits = |steps: u32| {
		let spec = with(steps).check().expect("it is valid");
		work::audit_micro_ut(&spec, 1).is_ok_and(|work| work <= most)
	};
	let (mut fit, mut none) = (1, 1 << 26);
	while none - fit > 1 {
		let middle = (fit + none) / 2;
		*if fits(middle) { &mut fit } else { &mut none } = middle;
	}
	let spec = with(fit);
	let checked = spec.clone().check().expect("it is valid");
	(spec, with_fee(&checked, Terms { audit_segments: 1, price_per_ut: 1, ..terms() }))
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
		let call =
			pallet_task_market::Call::submit_job { spec, terms, max_fee_per_ut: Balance::MAX };
		self.call(who, call)?;
		Ok(self.chain.state(pallet_task_market::NextJob::<Runtime>::get) - 1)
	}

	/// From now on `trainer` works on `job`, and brings states of this byte.
	pub fn works(&mut self, trainer: &Party, job: JobId, byte: u8) {
		self.makes(trainer, job, Makes::Up(byte, None));
	}

	/// The same, and says that training left the finite numbers after that many segments.
	pub fn diverges(&mut self, trainer: &Party, job: JobId, byte: u8, segments: u32) {
		self.makes(trainer, job, Makes::Up(byte, Some(segments)));
	}

	/// From now on `trainer` works on `job`, which is [`trained`] or [`powered`].
	pub fn trains(&mut self, trainer: &Party, job: JobId, training: fn(&Job, &Run) -> Run) {
		self.makes(trainer, job, Makes::Trains(training));
	}

	pub(crate) fn makes(&mut self, trainer: &Party, job: JobId, makes: Makes) {
		let (trainer, model) = (trainer.clone(), Model::small(job));
		self.works.push(Work { job, trainer, makes, bundle: None, model, delay: 0, opens: true });
	}

	/// Lets everyone who has a replica of this job make its result.
	fn make(&mut self, view: &JobView<AccountId>) {
		let Some(seed) = view.seed else { return };
		for work in self.works.iter_mut().filter(|w| w.job == view.id && w.bundle.is_none()) {
			if view.replicas.iter().all(|replica| replica.trainer != work.trainer.account) {
				continue;
			}
			let spec = view.spec.clone().check().expect("it was posted");
			let bundle = match work.makes {
				Makes::Later => continue,
				Makes::Up(byte, diverged) => {
					let segments = diverged.unwrap_or(spec.segments());
					Bundle::made_up(&spec, byte, segments, diverged.is_some())
				}
				Makes::Trains(training) => {
					let jobs = [trained(), powered(), compact(), segmented()];
					let job = jobs.into_iter().find(|job| job.spec().spec() == &view.spec);
					let mut job = job.expect("it is a job that can be trained");
					job.world.case.seed = seed;
					let honest = Run::new(&job, Change::Nothing);
					let run = training(&job, &honest);
					work.model = Model::new(&run.model_bytes);
					let lie = Rc::new(Bundle::trained(bends(&job, &honest)));
					self.lies.insert(view.id, lie);
					self.truths.insert(view.id, Rc::new(Bundle::trained(honest)));
					Bundle::trained(run)
				}
			};
			work.bundle = Some(Rc::new(bundle.forced(&seed, &work.trainer.account)));
		}
	}

	/// What was delivered as this result of `job`.
	pub fn delivered(&self, job: JobId, bundle_root: &H256) -> Rc<Bundle> {
		let of_job = self.works.iter().filter(|work| work.job == job);
		let mut bundles = of_job.filter_map(|work| work.bundle.as_ref());
		let bundle = bundles.find(|bundle| bundle.root() == *bundle_root);
		bundle.expect("somebody here delivered it").clone()
	}

	/// What an honest training delivers in the place of this result.
	pub fn truth_of(&self, view: &JobView<AccountId>, result: &WorkResult) -> Rc<Bundle> {
		if let Some(truth) = self.truths.get(&view.id) {
			return truth.clone();
		}
		let spec = view.spec.clone().check().expect("it was posted");
		let same = Bundle::made_up(&spec, TRUE, result.segments, result.diverged);
		Rc::new(match same.true_root() == result.true_root {
			true => same,
			false => Bundle::made_up(&spec, TRUE, spec.segments(), false),
		})
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
			self.make(view);
			let mut calls = Vec::new();
			match view.state {
				JobState::Open => self.applying(view, &mut calls),
				JobState::Training => self.committing(view, &mut calls),
				JobState::Revealing => self.revealing(view, now, &mut calls),
				JobState::Auditing => {
					self.disputing(view.id);
					self.auditing(view, voice, &mut calls);
				}
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
				let apply = applies(&work.trainer.account, view.id, digest);
				calls.push((work.trainer.clone(), apply));
			}
		}
	}

	/// What each replica that does something works on.
	fn of_replicas<'a>(
		&'a self,
		view: &'a JobView<AccountId>,
	) -> impl Iterator<Item = (&'a Work, &'a ReplicaView<AccountId>)> {
		view.replicas.iter().filter_map(|replica| {
			let mut works = self.works.iter();
			let own = works.find(|w| w.job == view.id && w.trainer.account == replica.trainer);
			own.filter(|work| work.bundle.is_some()).map(|work| (work, replica))
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

	/// What a trainer reveals, who has made its result.
	fn reveal_of(work: &Work) -> Reveal {
		let bundle = work.bundle.as_ref().expect("it has a result");
		let result = bundle.result(work.model.root);
		Reveal {
			bundle_root: result.bundle_root,
			true_root: result.true_root,
			model_root: result.model_root,
			segments: result.segments,
			diverged: result.diverged,
			location: Text::new("http://127.0.0.1:8600").expect("it is short"),
		}
	}

	/// What a trainer commits to.
	fn commitment(&self, view: &JobView<AccountId>, work: &Work) -> H256 {
		let result = Self::reveal_of(work).result();
		commitment::result(&self.genesis, view.id, &work.trainer.account, &result, &SALT)
	}

	/// What a trainer of `job` commits to whose states are of this byte.
	pub fn commitment_to(&mut self, job: JobId, trainer: &Party, byte: u8) -> H256 {
		let view = self.job(job);
		let spec = view.spec.clone().check().expect("it was posted");
		let seed = view.seed.expect("it is assigned");
		let bundle = Bundle::made_up(&spec, byte, spec.segments(), false);
		let result = bundle.forced(&seed, &trainer.account).result(Model::small(job).root);
		commitment::result(&self.genesis, job, &trainer.account, &result, &SALT)
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
				let (job, reveal) = (view.id, Self::reveal_of(work));
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
		match audit.phase {
			AuditPhase::Committing { .. } => {
				let waits = audit.committee.iter().filter(|member| member.commitment.is_none());
				let waits: Vec<Party> =
					waits.filter_map(|member| self.party_of(&member.verifier)).collect();
				for party in waits {
					let Some((findings, paths)) = self.finds(view, audit, &party, voice) else {
						continue;
					};
					let who = &party.account;
					let commitment =
						commitment::verdict(&self.genesis, job, round, who, &findings, &SALT);
					self.findings.insert((job, round, who.clone()), (findings, paths));
					calls.push((party, commit { job, commitment }.into()));
				}
			}
			AuditPhase::Revealing { .. } => {
				for member in audit.committee.iter().filter(|member| member.findings.is_none()) {
					let own = self.findings.get(&(job, round, member.verifier.clone())).cloned();
					let party = self.party_of(&member.verifier);
					let (Some((findings, paths)), Some(party)) = (own, party) else { continue };
					calls.push((party, reveal { job, findings, paths, salt: SALT }.into()));
				}
			}
			AuditPhase::Opening { .. } => {
				for (work, _) in self.of_replicas(view).filter(|(work, _)| work.opens) {
					let own = |bundle: &&BundleView<_>| bundle.trainer == work.trainer.account;
					let mut bundles = audit.groups.iter().flat_map(|group| &group.bundles);
					let waits = bundles.find(own).is_some_and(|bundle| bundle.forced.is_none());
					let open = work.bundle.as_ref().filter(|_| waits).and_then(|it| it.opens(job));
					calls.extend(open.map(|call| (work.trainer.clone(), call)));
				}
			}
			AuditPhase::Standing { .. } => self.rechecking(view, audit, calls),
			_ => {}
		}
	}

	/// Who has this account.
	pub fn party_of(&self, who: &AccountId) -> Option<Party> {
		self.parties.iter().find(|party| party.account == *who).cloned()
	}

	/// The seat of a party in the running round of an audit.
	pub fn seat(&self, job: JobId, audit: &AuditView<AccountId>, party: &Party) -> Seat {
		Seat::of(&self.genesis, job, audit, &party.key).expect("it has a seat")
	}

	/// What a seat finds, if it has something to say of every result.
	pub(crate) fn finds(
		&mut self,
		view: &JobView<AccountId>,
		audit: &AuditView<AccountId>,
		party: &Party,
		voice: Voice,
	) -> Option<(Findings<AccountId>, Paths)> {
		let who = &party.account;
		let seat = self.seat(view.id, audit, party);
		let roots = audit.groups.iter().map(|group| &group.result.bundle_root);
		let all: Vec<Rc<Bundle>> = roots.map(|root| self.delivered(view.id, root)).collect();
		let mut verdicts = Vec::new();
		for ((number, group), delivered) in (0u32..).zip(&audit.groups).zip(&all) {
			if group.decision.is_some() {
				verdicts.push(Verdict::unavailable());
				continue;
			}
			let result = &group.result;
			let parts = all.iter().filter_map(|other| delivered.parts_from(other));
			let parts: Vec<u32> = parts.collect::<BTreeSet<u32>>().into_iter().collect();
			let truth = &self.truth_of(view, result);
			let segments = &seat.wanted(number, result, &parts);
			let lie = self.lies.get(&view.id);
			let ask = Ask { who, audit, group, delivered, truth, lie, segments };
			let say = voice(&ask)?;
			verdicts.push(match say.clone() {
				Say::Vouches => {
					seat.vouches(number, result, delivered, &parts).about(group, delivered)
				}
				Say::Copies | Say::Differs => {
					let said = seat.vouches(number, result, delivered, &parts);
					let mut said = said.about(group, delivered);
					let own = |of: &&BundleView<_>| of.root == delivered.root();
					let trainer = &group.bundles.iter().find(own).expect("it is one").trainer;
					let GroupVerdict::Replayed(replayed) = &mut said.said else { continue };
					for evidence in replayed.evidence.iter_mut() {
						if matches!(say, Say::Differs) {
							evidence.differs.get_or_insert(seal(&evidence.trace_root));
							evidence.trace_root = H256::zero();
						} else if evidence.differs.take().is_some() {
							let index = evidence.segment + 1;
							evidence.trace_root = forced::trace_root(&secret(trainer), index);
						}
					}
					said
				}
				Say::Unavailable => Verdict::unavailable(),
				Say::Garbage(state) => {
					let mut stored = group.rescued.iter();
					let found = stored.find(|of| of.piece == Piece::State(state));
					let blob = found.expect("it was stored").blob;
					let account = view.replicas[0].trainer.clone();
					let target = Target::Rescue { blob, state };
					self.claims.insert((view.id, who.clone()), delivered.clone());
					Verdict::rejects(account, target, delivered, delivered)
				}
				Say::Names(account, segment, claims) => {
					let mut bundles = group.bundles.iter();
					let of = bundles.find(|of| of.trainer == account).expect("it delivered it");
					let delivered = self.delivered(view.id, &of.root);
					Verdict::rejects(account, Target::Segment(segment), &delivered, &claims)
				}
				Say::Rejects(segment, claims) => {
					// Each accuses another one of those who delivered it, by the leaves of its bundle.
					let stands = |of: &&BundleView<_>| !group.convicted.contains(&of.trainer);
					let guilty: Vec<_> = group.bundles.iter().filter(stands).collect();
					let BundleView { trainer, root, .. } = guilty[seat.number % guilty.len()];
					let (account, target) = (trainer.clone(), Target::Segment(segment));
					self.claims.insert((view.id, who.clone()), claims.clone());
					Verdict::rejects(account, target, &self.delivered(view.id, root), &claims)
				}
			});
		}
		Some(seat.finds(verdicts))
	}

	/// Honest seats replay what they are drawn to replay again, and accuse whoever was wrong.
	fn rechecking(
		&mut self,
		view: &JobView<AccountId>,
		audit: &AuditView<AccountId>,
		calls: &mut Vec<(Party, RuntimeCall)>,
	) {
		for recheck in &audit.rechecks {
			let Some(by) = self.party_of(&recheck.by).filter(|by| by.side == Side::Honest) else {
				continue;
			};
			let Some(group) = audit.groups.get(recheck.group as usize) else { continue };
			let delivered = self.delivered(view.id, &group.result.bundle_root);
			let truth = self.truth_of(view, &group.result);
			let mut members = audit.committee.iter();
			let is_convicted = members.any(|m| m.verifier == recheck.of && m.convicted);
			if delivered.is_false(recheck.segment, &truth) && !is_convicted {
				calls.extend(self.accuses_seat(
					view.id,
					&by,
					&recheck.of,
					recheck.segment,
					(&delivered, &truth),
				));
			}
		}
	}
}
