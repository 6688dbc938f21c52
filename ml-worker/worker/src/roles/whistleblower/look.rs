//! Looks at one result: fetches what is drawn of it, replays it, and takes up an accusation of each of
//! its trainers where it is false.

use super::{looked::Looked, Whistleblower};
use crate::roles::{
	common::bundles::{bundle_url, fetch_bundle, servers},
	common::files::{bring, servers as all_servers},
	disputes::{
		accusing::Record,
		files::Files,
		locked,
		parting::{accusable, accusation, claimed, PartingError, Shown},
		party::Subject,
	},
	tasks::{stopped, Outcome, TaskError},
};
use serde_json::json;
use std::{
	collections::HashSet,
	path::Path,
	sync::{atomic::AtomicBool, Arc},
};
use trainyard_client::{
	court::{Accusation, Defendant},
	JobView,
};
use trainyard_court::{
	game::{Claimed, Target},
	Case,
};
use trainyard_program::spec::CheckedSpec;
use trainyard_proof::{
	bundle::{files, manifest::checkpoint_file, max_checkpoint_bytes},
	court::{Options, Recorder},
	data::kept,
};
use trainyard_protocol::job::WorkResult;

/// The folder of the states in that of a bundle.
const STATES: &str = "checkpoints";

/// Returns what can be false of a result of which these segments were drawn, the cheapest first.
fn targets(spec: &CheckedSpec, segments: &[u32]) -> Vec<Target> {
	let stop = spec.training.early_stop.map(|_| Target::Stop);
	let drawn = segments.iter().map(|segment| Target::Segment(*segment));
	stop.into_iter().chain([Target::Start]).chain(drawn).collect()
}

/// Returns the first thing that is false, and what is true instead; `None` where nothing is.
fn first_false(
	recorder: &Recorder,
	shown: Shown<'_>,
	targets: &[Target],
) -> Result<Option<(Target, Claimed)>, PartingError> {
	for target in targets {
		match claimed(recorder, shown, *target) {
			Ok(claimed) => return Ok(Some((*target, claimed))),
			Err(PartingError::Agrees(_)) => {}
			Err(e) => return Err(e),
		}
	}
	Ok(None)
}

impl Whistleblower {
	/// Looks at a result of a job. `relayed` are the base URLs of seats that showed that they have states of
	/// it which are too large for the chain.
	pub(super) async fn look_at(
		self: Arc<Self>,
		job: JobView,
		result: WorkResult,
		relayed: Vec<String>,
		stop: Arc<AtomicBool>,
	) -> Outcome {
		let seed = job.seed.ok_or_else(|| TaskError::failed("the job has no seed"))?;
		let spec = job.spec.clone().check()?;
		let folder = self.accusations.result_folder(job.id, &result.bundle_root);
		let looked = match Looked::load(&folder) {
			Some(looked) => looked,
			None => {
				let looked = Looked::draw(result.trained(), self.segments);
				looked.save(&folder)?;
				looked
			}
		};
		self.make_room(&job, &spec)?;
		tokio::select! {
			fetched = self.fetch((&job, &spec), &result, &looked.segments, &relayed, &folder) => {
				fetched?;
			}
			() = stopped(&stop) => return Err(TaskError::Stopped),
		}
		let of_result = Files::of_bundle(&folder, self.home.inputs(&job.spec));
		let (drawn, of) = (looked.segments.clone(), job.clone());
		let found = tokio::task::spawn_blocking(move || {
			let subject = Subject { case: Case { spec, seed }, result };
			let options = Options { stop, ..Options::default() };
			let recorder = of_result.recorder(&subject, options).map_err(PartingError::Files)?;
			let claims = recorder.claims().clone();
			let shown = Shown { result: &result, claims: &claims };
			if !shown.is_whole() {
				return Err(PartingError::NotWhole);
			}
			let all = targets(&subject.case.spec, &drawn);
			let Some((target, claimed)) = first_false(&recorder, shown, &all)? else {
				return Ok(Vec::new());
			};
			accusable(&of, &result)
				.map(|who| {
					let defendant = Defendant::Trainer { job: of.id, who };
					accusation(defendant, shown, target, claimed)
						.ok_or(PartingError::NoLeaves(target))
				})
				.collect::<Result<Vec<Accusation>, _>>()
		});
		let accusations = found.await?.map_err(|e| TaskError::of(&e))?;
		let segments = &looked.segments;
		let fields = json!({ "result": result.bundle_root, "segments": segments });
		match accusations.first() {
			None => {
				let text = format!("a result is true in segments {segments:?}");
				self.report.job(job.id, "looked_at", &text, fields);
			}
			Some(Accusation { target, .. }) => {
				let text = format!("a result is false: {target:?} is not what it says");
				self.report.job(job.id, "found_false", &text, fields);
			}
		}
		let is_true = accusations.is_empty();
		for accusation in accusations {
			self.accusations.add(Record::new(seed, result.bundle_root, accusation))?;
		}
		Looked { done: true, ..looked }.save(&folder)?;
		if is_true {
			// The states of the next one need the room.
			let states = folder.join(STATES);
			if states.exists() {
				std::fs::remove_dir_all(&states).map_err(files::at("remove", &states))?;
			}
		}
		Ok(())
	}

	/// Makes room for what is fetched. The data of the jobs that are disputed stay.
	fn make_room(&self, job: &JobView, spec: &CheckedSpec) -> Result<(), TaskError> {
		let mut keep: HashSet<_> = spec.files().map(|(_, file)| file.content_hash).collect();
		keep.extend(locked(&self.needed).iter());
		let states = max_checkpoint_bytes(spec).saturating_mul(u64::from(self.segments));
		let rows = kept::length(&spec.dataset);
		let coming = states.saturating_add(spec.file_bytes()).saturating_add(rows);
		match self.quota.make_room(&self.home, &keep, coming)?.missing {
			0 => Ok(()),
			missing => Err(TaskError::failed(format!(
				"job {}: {missing} bytes of disk are missing for what is fetched (--max-disk-mib)",
				job.id
			))),
		}
	}

	/// Brings the files of the job, the manifest of a result and the states with which the segments
	/// begin, into `folder`.
	async fn fetch(
		&self,
		(job, spec): (&JobView, &CheckedSpec),
		result: &WorkResult,
		segments: &[u32],
		relayed: &[String],
		folder: &Path,
	) -> Result<(), TaskError> {
		bring(&self.fetcher, &self.home, spec, &all_servers(job), None).await?;
		// The initial state is computed.
		let needed: Vec<String> = segments
			.iter()
			.filter(|segment| **segment > 0)
			.filter_map(|segment| spec.checkpoint_step(*segment))
			.map(checkpoint_file)
			.collect();
		let (limit, root) = (max_checkpoint_bytes(spec), result.bundle_root);
		let mut why = String::from("nobody serves it");
		for server in servers(job, result).iter().chain(relayed) {
			let base = bundle_url(server, result);
			match fetch_bundle(&self.fetcher, &base, root, &needed, folder, limit).await {
				Ok(()) => return Ok(()),
				Err(e) => why = e.to_string(),
			}
		}
		Err(TaskError::failed(format!("what was drawn of a result cannot be had: {why}")))
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::{
		disputes::accusing::{Accusations, Stakes},
		fetch::{Fetcher, Locations},
		http::{Server, Shelf},
		report::Reporter,
		store::{Home, Quota},
		whistleblower::plan::Limits,
	};
	use std::{collections::HashMap, time::Duration};
	use trainyard_client::{fake, AccountId32, ReplicaView};
	use trainyard_proof::{
		bundle::Bundle,
		testing::{self, SEED},
		train::Cheat,
	};
	use trainyard_protocol::{
		audit::AuditPhase,
		job::{Fate, JobState, Reveal},
		Text, H256,
	};

	/// Looks at a result of two trainers that one of them serves. Returns its trainers that are accused,
	/// the events, and whether states of it stayed.
	async fn look_at(cheat: Option<Cheat>, relayed: bool) -> (Vec<AccountId32>, String, bool) {
		let folder = tempfile::tempdir().unwrap();
		let table = testing::table(folder.path());
		let spec = testing::job(&table);
		let out = folder.path().join("bundle");
		let bundle: Bundle = testing::train(&spec, &table, &out, false, cheat).unwrap();
		let result = bundle.result().unwrap();
		let home = Arc::new(Home::open(&folder.path().join("home"), &H256::zero()).unwrap());
		std::fs::copy(&table, home.data(&spec.dataset.content_hash)).unwrap();
		let shelf = Shelf::default();
		shelf.set(HashMap::from([(result.bundle_root, out)]), HashMap::new());
		let server = Server::start("127.0.0.1:0".parse().unwrap(), shelf).await.unwrap();
		let url = format!("http://{}", server.address());
		// Only a seat of a relay serves it, or a trainer.
		let (location, others) = match relayed {
			true => (Text::new("http://127.0.0.1:1").unwrap(), vec![url]),
			false => (Text::new(&url).unwrap(), vec![]),
		};
		let WorkResult { bundle_root, model_root, segments, diverged } = result;
		let reveal = Reveal { bundle_root, model_root, segments, diverged, location };
		let replica = |n: u8| ReplicaView {
			trainer: AccountId32([n; 32]),
			commitment: None,
			reveal: Some(reveal.clone()),
			fate: Fate::Working,
		};
		let group = fake::group(result);
		let job = JobView {
			id: 9,
			spec: spec.spec().clone(),
			seed: Some(SEED),
			replicas: vec![replica(2), replica(3)],
			audit: Some(fake::audit(AuditPhase::Standing { until: 90 }, vec![group])),
			..fake::job(JobState::Auditing)
		};

		let report = Reporter::new("whistleblower", true, Some(&home.events()));
		let stakes = Stakes { most: 10, reserve: 0, open: 4 };
		let (me, disputes) = (AccountId32([1; 32]), home.disputes());
		let (accusations, _) = Accusations::open(me, &disputes, stakes, report.clone()).unwrap();
		let accusations = Arc::new(accusations);
		let states = accusations.result_folder(9, &bundle_root).join(STATES);
		let whistleblower = Whistleblower {
			fetcher: Fetcher::new(1, Duration::from_millis(10), Locations::Any).unwrap(),
			limits: Limits { segments: 2, work: 0, data: 0, memory: 0 },
			segments: 2,
			quota: Quota::of(u64::MAX),
			accusations: accusations.clone(),
			needed: Default::default(),
			refused: Default::default(),
			report,
			home: home.clone(),
		};
		let looking = Arc::new(whistleblower).look_at(job, result, others, Arc::default());
		looking.await.unwrap();
		let looked = Looked::load(&accusations.result_folder(9, &bundle_root)).unwrap();
		assert!(looked.done && looked.segments.len() == 2);
		let is_accused =
			|who: &AccountId32| accusations.has(&SEED, &Defendant::Trainer { job: 9, who: *who });
		let accused = [2, 3].map(|n| AccountId32([n; 32])).into_iter().filter(is_accused).collect();
		(accused, std::fs::read_to_string(home.events()).unwrap(), states.exists())
	}

	#[tokio::test(flavor = "multi_thread")]
	async fn a_false_result_is_found_and_all_its_trainers_are_accused() {
		let (accused, events, stays) = look_at(Some(Cheat::Fabricate { segments: 6 }), false).await;
		assert_eq!(accused, [AccountId32([2; 32]), AccountId32([3; 32])]);
		assert!(events.contains("found_false"), "{events}");
		assert!(stays || events.contains("Segment(0)"), "a dispute begins with its state");
	}

	#[tokio::test(flavor = "multi_thread")]
	async fn a_true_result_is_left_alone_and_makes_room() {
		for relayed in [false, true] {
			let (accused, events, stays) = look_at(None, relayed).await;
			assert!(accused.is_empty() && !stays);
			assert!(events.contains("looked_at"), "{events}");
		}
	}
}
