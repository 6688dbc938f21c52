//! Disputes about a trainer's jobs: it defends its results from its bundles, and accuses those who
//! delivered others.

use super::{actions::seed_of, reconcile::dispute_key, Key, Reported, Trainer, NAME};
use crate::roles::{
	blocks::LookError,
	common::bundles::{fetch_bundle, servers, SourceError},
	disputes::{
		accusing::Record,
		bundles::accusations,
		driver::{Driver, Due},
		files::Files,
		parting::{accusable, claimed, forced_of, parting, PartingError, Shown},
		party::{PartyError, Subject},
	},
	job::Job,
	machine::{Class, Need},
	tasks::{stopped, Outcome, TaskError, Tasks},
};
use serde_json::json;
use std::{
	collections::BTreeSet,
	path::Path,
	sync::{atomic::AtomicBool, Arc},
};
use trainyard_client::{
	court::{Accusation, Defendant, Dispute, Side},
	JobView, Transactor,
};
use trainyard_proof::{
	bundle::{files, manifest, max_checkpoint_bytes, shown_file, Bundle},
	court::{Claims, Options},
};
use trainyard_protocol::job::WorkResult;

impl Trainer {
	/// Looks at the disputes of this account, and goes on with them. What is wrong with their files is
	/// reported, and keeps nothing else from being done.
	pub(super) async fn look_at_disputes(
		&self,
		driver: &mut Driver<Arc<Transactor>>,
		jobs: &[Job],
		tasks: &mut Tasks<Key>,
		reported: &mut Reported,
	) -> Result<Due, LookError> {
		let views: Vec<&JobView> = jobs.iter().map(|job| &**job).collect();
		let files = |job: &JobView, dispute: &Dispute| self.files(job, dispute);
		match driver.look(&views, files, tasks, dispute_key).await {
			Ok(due) => Ok(due),
			Err(LookError::Store(e)) => {
				self.report_problem(reported, None, &e);
				Ok(Due::default())
			}
			Err(e) => Err(e),
		}
	}

	/// Returns the files from which this trainer computes its side of a dispute: its own bundle, and the
	/// manifest of whom it accuses.
	fn files(&self, job: &JobView, dispute: &Dispute) -> Option<Files> {
		let seed = job.seed?;
		let own = self.home.bundle_folder(job.id, &seed);
		let own = Files {
			again: job.terms.keep_every.saturating_sub(1),
			..Files::of_bundle(&own, self.home.inputs(&job.spec))
		};
		match (dispute.side_of(self.me())?, &dispute.defendant) {
			(Side::Defender, Defendant::Trainer { .. }) => {
				let spec = job.spec.clone().check().ok();
				let trained = self.cheat.zip(spec).and_then(|(cheat, spec)| cheat.trained(&spec));
				Some(Files { trained, ..own })
			}
			(Side::Challenger, defendant @ Defendant::Trainer { .. }) => {
				let root = self.accusations.result_of(&seed, defendant)?;
				let result = self.accusations.result_folder(job.id, &root);
				let accused = Subject::of(job, defendant)?.result.bundle_root;
				Some(Files { result, ..own }.for_bundle(&accused))
			}
			// That is a verifier's, which may have the same account.
			(_, Defendant::Seat { .. }) => None,
		}
	}

	/// Returns the results of a job whose trainers are all accused, or were.
	pub(super) fn compared(&self, job: &JobView) -> BTreeSet<WorkResult> {
		let (Some(seed), Some(audit)) = (job.seed, &job.audit) else { return BTreeSet::new() };
		let is_done = |result: &WorkResult| {
			let of = |who| Defendant::Trainer { job: job.id, who };
			// Those are accused together.
			accusable(job, result).any(|who| self.accusations.has(&seed, &of(who)))
				|| accusable(job, result).next().is_none()
		};
		audit.groups.iter().map(|group| group.result).filter(is_done).collect()
	}

	/// Finds out where another result parts from this trainer's, computes what is true there, and takes
	/// up an accusation of each trainer that delivered it.
	pub(super) async fn compare(
		self: &Arc<Self>,
		job: &Arc<Job>,
		group: u32,
		stop: Arc<AtomicBool>,
	) -> Outcome {
		let seed = seed_of(job)?;
		let audit = job.audit.as_ref();
		let group = audit.and_then(|audit| audit.groups.get(group as usize));
		let theirs = group.ok_or_else(|| TaskError::failed("there is no such result"))?.result;
		let own = self.record(job.id, seed)?.result;
		let own = own.ok_or_else(|| TaskError::failed("this trainer has no result"))?;
		let bundle = self.home.bundle_folder(job.id, &seed);
		let folder = self.accusations.result_folder(job.id, &theirs.bundle_root);
		files::create_private_folder(&folder)?;
		let fetching = self.bring_manifest(job, &theirs, &own, &bundle, &folder);
		tokio::select! {
			fetched = fetching => fetched?,
			() = stopped(&stop) => return Err(TaskError::Stopped),
		}
		let files = Files {
			result: folder,
			states: bundle.clone(),
			inputs: self.home.inputs(&job.spec),
			blob: None,
			trained: None,
			again: job.terms.keep_every.saturating_sub(1),
		};
		let spec = job.checked()?.clone();
		let subject = Subject { case: trainyard_court::Case { spec, seed }, result: theirs };
		let of = job.clone();
		let (need, what) =
			(Need::by(Class::Duty, job.deadline), format!("results of job {} that part", job.id));
		let _lease = self.machine.lease_until(NAME, &what, need, false, &stop).await?;
		let found = tokio::task::spawn_blocking(move || {
			let mine =
				Claims::of(Bundle::open(&bundle).map_err(|e| files_error(e.into()))?.manifest());
			let options = Options { again: files.again, stop, ..Options::default() };
			let recorder = files.recorder(&subject, options).map_err(files_error)?;
			let claims = recorder.claims().clone();
			let forced = forced_of(&of, &theirs);
			let shown = Shown { result: &theirs, claims: &claims, forced: &forced };
			let mine = Shown { result: &own, claims: &mine, forced: &[] };
			if !shown.is_whole() {
				return Err(PartingError::NotWhole);
			}
			let Some(target) = parting(mine, shown) else { return Ok(Vec::new()) };
			let claimed = claimed(&recorder, shown, target)?;
			accusations((&of, &subject.case.spec), shown, (target, claimed), &files.result)
		});
		let accusations = match found.await? {
			Ok(accusations) => accusations,
			// This trainer's own result is false: it would compute the same again.
			Err(e @ PartingError::Agrees(_)) => return Err(TaskError::Hopeless(e.to_string())),
			Err(e) => return Err(TaskError::of(&e)),
		};
		if let Some(Accusation { target, .. }) = accusations.first() {
			let text = format!(
				"another result parts from this trainer's at {target:?}, where it is false: {} trainers \
				 are accused",
				accusations.len()
			);
			let fields = json!({ "result": theirs.bundle_root, "target": target });
			self.report.job(job.id, "parted", &text, fields);
		}
		for accusation in accusations {
			self.accusations.add(Record::new(seed, theirs.bundle_root, accusation))?;
		}
		Ok(())
	}

	/// Brings the manifest of another result into `folder`.
	async fn bring_manifest(
		&self,
		job: &Job,
		theirs: &WorkResult,
		own: &WorkResult,
		bundle: &Path,
		folder: &Path,
	) -> Result<(), TaskError> {
		if theirs.bundle_root == own.bundle_root {
			let bytes = files::read(&shown_file(bundle, manifest::FILE), manifest::MAX_BYTES)?;
			return Ok(files::write(&folder.join(manifest::FILE), &bytes)?);
		}
		let limit = max_checkpoint_bytes(job.checked()?);
		let mut last = None::<SourceError>;
		for server in servers(job, theirs) {
			match fetch_bundle(&self.fetcher, &server, theirs, &[], folder, limit).await {
				Ok(()) => return Ok(()),
				Err(e) => last = Some(e),
			}
		}
		let why = last.map_or("nobody serves it".into(), |e| e.to_string());
		Err(TaskError::failed(format!("the manifest of another result cannot be had: {why}")))
	}
}

fn files_error(error: PartyError) -> PartingError {
	PartingError::Files(error)
}
