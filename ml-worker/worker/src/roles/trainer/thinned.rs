//! Results of which this trainer does not keep all states: computes those again that seats ask for, and that it must store.

use super::{Trainer, NAME};
use crate::roles::{
	checked,
	http::dropped::{Dropped, Next, Thinned, Work},
	job::Job,
	machine::{Class, Machine, Need},
	report::Reporter,
	tasks::TaskError,
};
use serde_json::json;
use std::{
	collections::{BTreeMap, BTreeSet},
	num::NonZeroU32,
	path::{Path, PathBuf},
	sync::{
		atomic::{AtomicBool, Ordering},
		Arc,
	},
	time::{Duration, Instant},
};
use trainyard_client::{AccountId32, JobView, RelayView};
use trainyard_proof::{
	bundle::{manifest::checkpoint_file, thinning::Thinning},
	inputs::InputPaths,
	restore::{self, Changed, RestoreError},
};
use trainyard_protocol::{
	audit::AuditPhase,
	duties,
	job::{Reveal, Terms},
	pieces::Piece,
	H256,
};

/// Pause before a folder is looked at again in which another task computes.
const LOCKED_PAUSE: Duration = Duration::from_secs(2);

/// Returns which states the trainers of a job keep.
pub(super) fn kept(terms: &Terms) -> Thinning {
	NonZeroU32::new(terms.keep_every).map_or(Thinning::NONE, Thinning::every)
}

/// Returns the steps of the states that these pieces are, or are parts of.
pub(super) fn steps_of(job: &JobView, pieces: &[Piece]) -> Vec<u32> {
	let states: BTreeSet<u32> = pieces.iter().filter_map(Piece::checkpoint).collect();
	states.into_iter().filter_map(|state| job.spec.checkpoint_step(state)).collect()
}

/// Computes the states after these `steps` that are not in `folder`. Returns the files that are new there. Waits while
/// another task computes there.
pub(super) fn restored(
	folder: &Path,
	inputs: &InputPaths,
	steps: &[u32],
	stop: &AtomicBool,
) -> Result<(Vec<PathBuf>, Changed), RestoreError> {
	loop {
		// What another task makes meanwhile is not this one's to remove.
		let files = steps.iter().map(|step| folder.join(checkpoint_file(*step)));
		let lacking: Vec<PathBuf> = files.filter(|file| !file.is_file()).collect();
		if lacking.is_empty() {
			return Ok((lacking, Changed::default()));
		}
		match restore::restore(folder, inputs, steps, &mut |_, _| {}, stop) {
			Err(RestoreError::Lock(e)) if stop.load(Ordering::Relaxed) => {
				return Err(RestoreError::Lock(e));
			}
			Err(RestoreError::Lock(_)) => std::thread::sleep(LOCKED_PAUSE),
			made => return made.map(|changed| (lacking, changed)),
		}
	}
}

/// Removes files that were computed for one purpose.
pub(super) fn remove(files: &[PathBuf]) {
	for file in files {
		// It is removed with the folder of the job.
		if let Err(e) = std::fs::remove_file(file) {
			tracing::debug!("{}: {e}", file.display());
		}
	}
}

/// What computes states again for seats; it stops when this is dropped.
pub(super) struct Restorer {
	task: tokio::task::JoinHandle<()>,
	stop: Arc<AtomicBool>,
}

impl Restorer {
	/// Begins to compute what is asked for at `dropped`.
	pub fn start(dropped: Dropped, machine: Machine, report: Reporter) -> Self {
		let stop = Arc::new(AtomicBool::new(false));
		let task = tokio::spawn(run(dropped, machine, report, stop.clone()));
		Self { task, stop }
	}
}

impl Drop for Restorer {
	fn drop(&mut self) {
		self.stop.store(true, Ordering::Relaxed);
		self.task.abort();
	}
}

async fn run(dropped: Dropped, machine: Machine, report: Reporter, stop: Arc<AtomicBool>) {
	loop {
		match dropped.next() {
			Next::Idle => dropped.wait().await,
			Next::Later(pause) => {
				// Something else may be asked for that lies there.
				let _ = tokio::time::timeout(pause, dropped.wait()).await;
			}
			Next::Work(mut work) => {
				let what = format!("states of job {} that a seat asks for", work.of.job);
				// A seat waits for it: it comes before what is due later.
				let _lease = machine.lease(NAME, &what, Need::by(Class::Duty, 0), false).await;
				if !dropped.begin(&mut work) {
					continue;
				}
				let made = compute(&work, &report, &stop).await;
				dropped.done(&work, made);
			}
		}
	}
}

/// Computes a stretch, and says so.
async fn compute(work: &Work, report: &Reporter, stop: &Arc<AtomicBool>) -> Result<(), String> {
	let (begun, stop, own) = (Instant::now(), stop.clone(), work.clone());
	let made = tokio::task::spawn_blocking(move || {
		restored(&own.of.folder, &own.of.inputs, &own.steps, &stop)
	});
	let made = made.await.map_err(|e| e.to_string())?;
	let Work { of, stretch, .. } = work;
	match made {
		Ok((_, Changed { states, bytes, steps })) => {
			let seconds = begun.elapsed().as_secs_f64();
			let text = format!(
				"{states} states were computed again, which are not kept and a seat asked for: {steps} steps in \
				 {seconds:.1} s"
			);
			let fields = json!({
				"stretch": stretch, "states": states, "bytes": bytes, "steps": steps, "seconds": seconds,
			});
			report.job(of.job, "restored", &text, fields);
			Ok(())
		}
		Err(e) => {
			let text = format!("states that a seat asks for cannot be computed again: {e}");
			report.job(of.job, "restore_failed", &text, json!({ "stretch": stretch }));
			Err(text)
		}
	}
}

impl Trainer {
	/// Notes who sits in relays about the result of a job, and in which.
	pub(super) fn note_relay_seats(&self, job: &JobView, relays: &[RelayView]) {
		let mut all = super::locked(&self.relay_seats);
		let of_job = all.entry(job.id).or_default();
		for relay in relays {
			for seat in &relay.seats {
				of_job.entry(seat.who).or_default().insert(relay.id);
			}
		}
	}

	/// Returns a result of which not all states are kept, as seats may ask for those; `None` where all are, or nobody
	/// replays it now.
	pub(super) fn thinned(&self, job: &Job, reveal: &Reveal, seed: &H256) -> Option<Arc<Thinned>> {
		let every = job.terms.keep_every;
		let audit = job.audit.as_ref().filter(|_| every > 1)?;
		let spec = checked(job).ok()?;
		let steps: Option<Vec<u32>> =
			(0..=reveal.segments).map(|index| spec.checkpoint_step(index)).collect();
		let replays = job.terms.replays(spec.segments());
		let most = duties::stretches_of_seat(every, spec.segments(), replays);
		let mut readers: BTreeMap<AccountId32, u32> = match audit.phase {
			AuditPhase::Done => BTreeMap::new(),
			_ => audit.committee.iter().map(|seat| (seat.verifier, most)).collect(),
		};
		// A relay is about one state.
		for (who, relays) in super::locked(&self.relay_seats).get(&job.id).into_iter().flatten() {
			let more = u32::try_from(relays.len()).unwrap_or(u32::MAX);
			let of_reader = readers.entry(*who).or_default();
			*of_reader = of_reader.saturating_add(more);
		}
		Some(Arc::new(Thinned {
			job: job.id,
			genesis: self.chain.genesis(),
			round: audit.round,
			folder: self.home.bundle_folder(job.id, seed),
			inputs: self.home.inputs(&spec),
			every,
			steps: steps?,
			readers,
		}))
	}
}

/// Says why states cannot be computed again.
impl From<RestoreError> for TaskError {
	fn from(error: RestoreError) -> Self {
		match error {
			RestoreError::Stopped => TaskError::Stopped,
			error => TaskError::of(&error),
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::http::{Server, Shelf};
	use std::collections::HashMap;
	use trainyard_client::{
		fake,
		keys::{account, from_uri, Keypair},
		seat::{StateRequest, HEADER},
	};
	use trainyard_proof::{bundle::Bundle, testing};
	use trainyard_protocol::job::JobState;

	const GENESIS: H256 = H256([1; 32]);

	/// A trained bundle of six segments of which one state in three is kept, a server, and what computes for it.
	struct Scene {
		_folder: tempfile::TempDir,
		out: PathBuf,
		bundle: Bundle,
		whole: Vec<Vec<u8>>,
		server: Server,
		alice: Keypair,
		_restorer: Restorer,
	}

	impl Scene {
		async fn new() -> Self {
			let folder = tempfile::tempdir().unwrap();
			let data = testing::table(folder.path());
			let out = folder.path().join("bundle");
			let bundle = testing::train(&testing::job(&data), &data, &out, false, None).unwrap();
			let listed = &bundle.manifest().checkpoints;
			let steps: Vec<u32> = listed.iter().map(|checkpoint| checkpoint.step).collect();
			let file = |step: &u32| std::fs::read(out.join(checkpoint_file(*step))).unwrap();
			let whole = steps.iter().map(file).collect();
			let terms = Terms { keep_every: 3, ..fake::job(JobState::Auditing).terms };
			restore::thin(&out, kept(&terms)).unwrap();
			let (shelf, alice) = (Shelf::default(), from_uri("//Alice").unwrap());
			shelf.set(HashMap::from([(bundle.root(), out.clone())]), HashMap::new());
			let of = Thinned {
				job: 7,
				genesis: GENESIS,
				round: 0,
				folder: out.clone(),
				inputs: InputPaths::data(&data),
				every: 3,
				steps,
				readers: [(account(&alice), 2)].into(),
			};
			shelf.dropped().set(HashMap::from([(bundle.root(), Arc::new(of))]));
			let server =
				Server::start("127.0.0.1:0".parse().unwrap(), shelf.clone()).await.unwrap();
			let report = Reporter::new("trainer", true, Some(&folder.path().join("events")));
			let _restorer = Restorer::start(shelf.dropped().clone(), Machine::default(), report);
			Self { _folder: folder, out, bundle, whole, server, alice, _restorer }
		}

		async fn get(&self, file: &str, step: u32, key: Option<&Keypair>) -> reqwest::Response {
			let root = self.bundle.root();
			let url =
				format!("http://{}/bundle/{}/{file}", self.server.address(), hex::encode(root));
			let mut request = reqwest::Client::new().get(url);
			if let Some(key) = key {
				let signed = StateRequest { genesis: GENESIS, root, step }.signed_by(key);
				request = request.header(HEADER, signed);
			}
			request.send().await.unwrap()
		}
	}

	/// A seat waits and has the state, a stranger is refused, and what is kept is anybody's.
	#[tokio::test]
	async fn a_seat_has_what_is_not_kept_and_a_stranger_has_not() {
		let scene = Scene::new().await;
		let file = checkpoint_file(20);
		assert!(!scene.out.join(&file).is_file());
		let bob = from_uri("//Bob").unwrap();
		for key in [None, Some(&bob)] {
			let response = scene.get(&file, 20, key).await;
			assert_eq!(response.status().as_u16(), 403);
			assert!(response.text().await.unwrap().contains("Verification.request"));
		}
		let opened = "openings/20?parts=0";
		assert_eq!(scene.get(opened, 20, None).await.status().as_u16(), 403);
		assert!(!scene.out.join(&file).is_file(), "nothing was computed");
		assert_eq!(scene.get(&checkpoint_file(30), 30, None).await.status().as_u16(), 200);
		assert_eq!(scene.get(&checkpoint_file(25), 25, Some(&scene.alice)).await.status(), 404);

		let first = scene.get(&file, 20, Some(&scene.alice)).await;
		assert_eq!(first.status().as_u16(), 503);
		assert_eq!(first.headers()["retry-after"], "5");
		assert!(first.text().await.unwrap().contains("computed again"));
		let came = loop {
			let response = scene.get(&file, 20, Some(&scene.alice)).await;
			match response.status().as_u16() {
				503 => tokio::time::sleep(Duration::from_millis(50)).await,
				status => {
					assert_eq!(status, 200);
					break response.bytes().await.unwrap();
				}
			}
		};
		assert!(came == scene.whole[2], "to the bit");
		// All of the stretch is there, and what is there is served to anybody.
		assert_eq!(scene.get(&checkpoint_file(10), 10, None).await.status().as_u16(), 200);
		assert_eq!(scene.get(opened, 20, None).await.status().as_u16(), 200);
	}

	/// A made-up state between kept ones is none that training comes to: it is never served.
	#[tokio::test]
	async fn a_false_state_is_not_computed() {
		let scene = Scene::new().await;
		let path = scene.out.join(trainyard_proof::bundle::manifest::FILE);
		let text = std::fs::read_to_string(&path).unwrap();
		let hash = format!("{:?}", scene.bundle.manifest().checkpoints[4].state_hash);
		std::fs::write(&path, text.replace(&hash, &format!("0x{}", "7".repeat(64)))).unwrap();
		let file = checkpoint_file(40);
		let failed = loop {
			let response = scene.get(&file, 40, Some(&scene.alice)).await;
			match response.status().as_u16() {
				503 => tokio::time::sleep(Duration::from_millis(50)).await,
				status => {
					assert_eq!(status, 500);
					break response.text().await.unwrap();
				}
			}
		};
		assert!(failed.contains("another state"), "{failed}");
		assert!(!scene.out.join(&file).is_file());
	}

	/// What must be stored on chain is computed for that, and goes again.
	#[test]
	fn what_is_stored_is_computed_before() {
		let folder = tempfile::tempdir().unwrap();
		let data = testing::table(folder.path());
		let out = folder.path().join("bundle");
		testing::train(&testing::job(&data), &data, &out, false, None).unwrap();
		let whole = std::fs::read(out.join(checkpoint_file(20))).unwrap();
		let terms = Terms { keep_every: 6, ..fake::job(JobState::Auditing).terms };
		assert_eq!(kept(&Terms { keep_every: 0, ..terms.clone() }), Thinning::NONE);
		restore::thin(&out, kept(&terms)).unwrap();
		let (inputs, stop) = (InputPaths::data(&data), AtomicBool::new(false));
		let (files, changed) = restored(&out, &inputs, &[0, 20, 40], &stop).unwrap();
		assert_eq!((files.len(), changed.states, changed.steps), (2, 2, 40));
		assert!(std::fs::read(&files[0]).unwrap() == whole);
		assert_eq!(restored(&out, &inputs, &[0, 20], &stop).unwrap().1, Changed::default());
		remove(&files);
		assert!(files.iter().all(|file| !file.is_file()) && out.join(checkpoint_file(0)).is_file());
		let job = fake::job(JobState::Auditing);
		let pieces = [
			Piece::Leaves,
			Piece::State(2),
			Piece::Tensor { checkpoint: 2, index: 1 },
			Piece::State(3),
		];
		let expected: Vec<u32> =
			[2, 3].into_iter().filter_map(|at| job.spec.checkpoint_step(at)).collect();
		assert_eq!(steps_of(&job, &pieces), expected);
	}
}
