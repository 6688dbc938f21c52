//! Looks at one result: chooses segments of it, fetches and replays them, and takes up an accusation of
//! each of its trainers where it is false.

use super::{
	choice::choose,
	looked::Looked,
	moved,
	plan::{memory, until},
	Whistleblower, NAME,
};
use crate::roles::{
	common::bundles::{fetch_bundle, servers},
	common::files::{bring, servers as all_servers},
	common::rescues::has_inputs,
	disputes::{
		accusing::Record,
		bundles::accusations,
		files::Files,
		locked,
		parting::{claimed, forced_of, PartingError, Shown},
		party::Subject,
	},
	machine::{memory::Promised, Class, Need},
	tasks::{stopped, Outcome, TaskError},
};
use serde_json::json;
use std::{
	collections::HashSet,
	path::Path,
	sync::{atomic::AtomicBool, Arc},
	time::Duration,
};
use tokio::runtime::Handle;
use trainyard_client::{
	court::{Accusation, Defendant},
	AccountId32, JobView,
};
use trainyard_court::{
	game::{words, Claimed, Target},
	Case,
};
use trainyard_program::spec::CheckedSpec;
use trainyard_proof::{
	bundle::{files, manifest::checkpoint_file, max_checkpoint_bytes},
	court::{Options, Recorder},
	data::kept,
};
use trainyard_protocol::{job::WorkResult, H256};

/// The folder of the states in that of a bundle.
const STATES: &str = "checkpoints";

/// The result that is looked at.
pub(super) struct Looking<'a> {
	/// Its job.
	pub job: &'a JobView,
	/// What is trained there.
	pub spec: &'a CheckedSpec,
	/// The result.
	pub result: &'a WorkResult,
	/// Base URLs at which it may be served.
	pub servers: &'a [String],
}

/// Returns what can be false of a result of which these segments are replayed, in the order in which it is
/// looked at: what is cheap, and then the segments in theirs.
fn targets(spec: &CheckedSpec, segments: &[u32]) -> Vec<Target> {
	let stop = spec.training.early_stop.map(|_| Target::Stop);
	let chosen = segments.iter().map(|segment| Target::Segment(*segment));
	stop.into_iter().chain([Target::Start]).chain(chosen).collect()
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
	/// it which are too large for the chain, or the data; `share` is the time in which it is read how it moves.
	pub(super) async fn look_at(
		self: Arc<Self>,
		job: JobView,
		result: WorkResult,
		relayed: Vec<String>,
		share: Duration,
		stop: Arc<AtomicBool>,
	) -> Outcome {
		let seed = job.seed.ok_or_else(|| TaskError::failed("the job has no seed"))?;
		let spec = job.spec.clone().check()?;
		let folder = self.accusations.result_folder(job.id, &result.true_root);
		let looked = match Looked::load(&folder) {
			Some(looked) => looked,
			None => {
				let looked = Looked::begin();
				looked.save(&folder)?;
				looked
			}
		};
		let _memory = self.take_memory(&spec)?;
		self.make_room(&job, &spec)?;
		let servers: Vec<String> = servers(&job, &result).into_iter().chain(relayed).collect();
		let looking = Looking { job: &job, spec: &spec, result: &result, servers: &servers };
		// In a box, for what it waits for is deep.
		let bringing = Box::pin(self.bring(&looking, looked, &folder, share));
		let brought = tokio::select! {
			brought = bringing => brought,
			() = stopped(&stop) => return Err(TaskError::Stopped),
		};
		let garbage = self.garbage(&looking, &folder).await;
		let (looked, segments) = match brought {
			Ok(brought) => brought,
			// Who stored something else for what is lacking is accused of that.
			Err(_) if garbage.is_some() => {
				(Looked::load(&folder).unwrap_or_else(Looked::begin), Vec::new())
			}
			Err(e) => {
				let chosen = Looked::load(&folder).and_then(|looked| looked.segments);
				return Err(self.lacked(&looking, &chosen.unwrap_or_default(), &folder, e).await);
			}
		};
		self.withdraw(&looking, &folder).await;
		let mut accusations = match &garbage {
			Some(_) if segments.is_empty() => Vec::new(),
			_ => self.replay((&job, &spec, seed), result, &segments, &folder, stop).await?,
		};
		let is_new = |of: &Accusation| accusations.iter().all(|it| it.defendant != of.defendant);
		if let Some(garbage) = garbage.filter(is_new) {
			accusations.push(garbage);
		}
		let mut fields = json!({ "result": result.bundle_root, "segments": segments });
		match accusations.first() {
			None => {
				let text = format!("a result is true in segments {segments:?}");
				self.report.job(job.id, "looked_at", &text, fields);
			}
			Some(Accusation { target, .. }) => {
				let target = words::target(target);
				fields["target"] = json!(target);
				let text = format!("a result is false: {target} is not what it says");
				self.report.job(job.id, "found_false", &text, fields);
			}
		}
		let is_true = accusations.is_empty();
		let accused: Vec<AccountId32> = accusations
			.iter()
			.filter_map(|accusation| match &accusation.defendant {
				Defendant::Trainer { who, .. } => Some(*who),
				_ => None,
			})
			.collect();
		for accusation in accusations {
			self.accusations.add(Record::new(seed, result.true_root, accusation))?;
		}
		Looked { done: true, ..looked }.save(&folder)?;
		// Accusing does not wait for it: who is accused could keep it from that by offers that nobody can take.
		self.bets.take(&job, &accused).await;
		if is_true {
			// The states of the next one need the room.
			let states = folder.join(STATES);
			if states.exists() {
				std::fs::remove_dir_all(&states).map_err(files::at("remove", &states))?;
			}
		}
		Ok(())
	}

	/// Replays these segments of a result whose files are in `folder`, and returns an accusation of each of its
	/// trainers by the first that is false; none where all are true.
	async fn replay(
		&self,
		(job, spec, seed): (&JobView, &CheckedSpec, H256),
		result: WorkResult,
		segments: &[u32],
		folder: &Path,
		stop: Arc<AtomicBool>,
	) -> Result<Vec<Accusation>, TaskError> {
		let of_result = Files::of_bundle(folder, self.inputs(&job.spec, folder));
		let (spec, chosen, of) = (spec.clone(), segments.to_vec(), job.clone());
		let dir = folder.to_owned();
		let (machine, flag, handle) = (self.machine.clone(), stop.clone(), Handle::current());
		let need = Need::by(Class::Watch, until(job));
		let what = format!("a look at a result of job {}", job.id);
		let found = tokio::task::spawn_blocking(move || {
			let subject = Subject { case: Case { spec, seed }, result };
			let options = Options { stop, ..Options::default() };
			let recorder = of_result.recorder(&subject, options).map_err(PartingError::Files)?;
			let claims = recorder.claims().clone();
			let forced = forced_of(&of, &result);
			let shown = Shown { result: &result, claims: &claims, forced: &forced };
			if !shown.is_whole() {
				return Err(PartingError::NotWhole);
			}
			for target in targets(&subject.case.spec, &chosen) {
				// Between two of them others may go first, for as long as they take.
				let leased = machine.lease_until(NAME, &what, need, false, &flag);
				let Ok(_lease) = handle.block_on(leased) else { return Ok(None) };
				if let Some(found) = first_false(&recorder, shown, &[target])? {
					return accusations((&of, &subject.case.spec), shown, found, &dir).map(Some);
				}
			}
			Ok(Some(Vec::new()))
		});
		found.await?.map_err(|e| TaskError::of(&e))?.ok_or(TaskError::Stopped)
	}

	/// Takes the memory of a replay, if others of this machine leave as much of what may be used.
	fn take_memory(&self, spec: &CheckedSpec) -> Result<Promised, TaskError> {
		let (needed, beside) = (memory(spec), self.machine.memory_beside(NAME));
		let left = self.limits.memory.saturating_sub(beside);
		// That it is not more than may be used was looked at before.
		if beside > 0 && needed > left {
			return Err(TaskError::failed(format!(
				"a replay may need {} MiB of memory, and other roles of this machine leave {} MiB now",
				needed.div_ceil(1 << 20),
				left >> 20
			)));
		}
		Ok(self.machine.take_memory(NAME, needed))
	}

	/// Makes room for what is fetched. The data of the jobs that are disputed stay.
	fn make_room(&self, job: &JobView, spec: &CheckedSpec) -> Result<(), TaskError> {
		let mut keep: HashSet<_> = spec.files().map(|(_, file)| file.content_hash).collect();
		keep.extend(locked(&self.needed).iter());
		let count = self.limits.count(job, spec);
		let states = max_checkpoint_bytes(spec).saturating_mul(u64::from(count));
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

	/// Brings the files of the job and the manifest of a result, chooses its segments where that was not
	/// done before, and brings the states with which they begin, into `folder`. Returns the look and its
	/// segments.
	async fn bring(
		&self,
		looking: &Looking<'_>,
		mut looked: Looked,
		folder: &Path,
		share: Duration,
	) -> Result<(Looked, Vec<u32>), TaskError> {
		let Looking { job, spec, result, servers } = looking;
		let trainers = all_servers(job);
		let others = servers.iter().filter(|url| !trainers.contains(url));
		let serving: Vec<String> = trainers.iter().chain(others).cloned().collect();
		let inputs = bring(&self.fetcher, &self.home, spec, &serving, None).await;
		let segments = match looked.segments.clone() {
			Some(segments) => segments,
			None => {
				self.fetch(looking, &[], folder).await?;
				let sampled = self.sampled(looking, &looked.random).await;
				let (picks, is_whole) = self.moved(looking, &sampled, folder, share).await;
				if !is_whole && self.ask_samples(looking, folder).await? {
					let text = "nobody shows how far a result moves; a committee is asked for it";
					return Err(TaskError::Transient(text.into()));
				}
				let segments = choose(&picks, result.trained(), self.limits.count(job, spec));
				looked.segments = Some(segments.clone());
				looked.save(folder)?;
				moved::forget(folder);
				segments
			}
		};
		self.fetch(looking, &segments, folder).await?;
		if let Err(e) = inputs {
			// They may be on chain.
			self.fetch_stored(looking, &[], folder).await;
			if has_inputs(&self.home, spec, folder).await != (true, true) {
				return Err(e.into());
			}
		}
		Ok((looked, segments))
	}

	/// Brings the manifest of a result and the states with which these segments begin into `folder`, from its
	/// servers or from the chain.
	async fn fetch(
		&self,
		looking: &Looking<'_>,
		segments: &[u32],
		folder: &Path,
	) -> Result<(), TaskError> {
		let Looking { spec, result, servers, .. } = looking;
		// The initial state is computed.
		let needed: Vec<String> = segments
			.iter()
			.filter(|segment| **segment > 0)
			.filter_map(|segment| spec.checkpoint_step(*segment))
			.map(checkpoint_file)
			.collect();
		let limit = max_checkpoint_bytes(spec);
		let mut why = String::from("nobody serves it");
		for server in *servers {
			match fetch_bundle(&self.fetcher, server, result, &needed, folder, limit).await {
				Ok(()) => return Ok(()),
				Err(e) => why = e.to_string(),
			}
		}
		match self.fetch_stored(looking, &needed, folder).await {
			true => Ok(()),
			false => {
				Err(TaskError::failed(format!("what is replayed of a result cannot be had: {why}")))
			}
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::{
		common::{
			claims::Claims,
			large::{Large, Teller},
			webhook::Webhook,
		},
		disputes::{
			accusing::{Accusations, Stakes},
			bundles::manifest_of,
		},
		fetch::{Fetcher, Locations},
		http::{Server, Shelf},
		report::Reporter,
		store::{Home, Quota},
		whistleblower::{bets::Bets, plan::Limits},
	};
	use axum::{extract::Request, http::StatusCode, response::IntoResponse, Router};
	use codec::{Decode, Encode};
	use std::{collections::HashMap, path::PathBuf};
	use trainyard_client::{
		court::{Defendant, NamedState},
		fake::{self, FakeNode},
		AccountId32, BlobView, Call, Chain, RelaySeatView, RelayView, ReplicaView, RescuedView,
		TxError,
	};
	use trainyard_program::spec::{Activation, Model};
	use trainyard_proof::{
		bundle::{shown_file, Bundle},
		inputs::{InputPaths, Inputs},
		testing::{self, SEED},
		train::Cheat,
	};
	use trainyard_protocol::{
		accusation::LeafContent,
		audit::AuditPhase,
		blob::Chunked,
		forced::Forced,
		job::{Fate, JobState, Reveal},
		merkle,
		pieces::{self, Piece},
		relay::RelayStage,
		views::BundleView,
		Text,
	};

	/// Who serves a result.
	#[derive(Clone, Copy, PartialEq, Eq)]
	enum Served {
		/// A trainer.
		ByTrainer,
		/// A seat of a relay, and no trainer.
		ByRelay,
		/// A trainer, but no parts of its states.
		WithoutParts,
		/// The same, and a seat of a relay that has samples of them.
		Sampled,
		/// Nobody: all of it is on chain.
		OnChain,
		/// Nobody, and one of its trainers stored something else as the files of all states.
		Garbage,
	}

	/// Returns a chain on which the leaves of a bundle are stored, and the files of its states or something
	/// else, and these blobs.
	async fn storing(bundle: &Bundle, garbage: bool) -> (Chain, Vec<RescuedView>) {
		let shown = bundle.shown().unwrap().unwrap();
		let hashes: Vec<H256> = shown.leaves().iter().map(LeafContent::leaf).collect();
		let steps = shown.checkpoints.iter().map(|checkpoint| checkpoint.step);
		let file = |step| match garbage {
			true => format!("not the state after step {step}").into_bytes(),
			false => std::fs::read(bundle.path(&checkpoint_file(step))).unwrap(),
		};
		let files: Vec<Vec<u8>> = steps.map(file).collect();
		let piece = |index| Piece::State(index);
		let views: Vec<RescuedView> = (0u32..)
			.zip(&files)
			.map(|(at, bytes)| RescuedView { piece: piece(at), blob: Chunked::new(bytes).root })
			.collect();
		let bytes_of = move |root: H256| {
			let mut found = files.iter().filter(|bytes| Chunked::new(bytes).root == root);
			found.next().cloned().ok_or("no such blob")
		};
		let node = FakeNode::new(move |method, arguments, _| match method {
			"TrainyardApi_blob" => {
				let bytes = bytes_of(H256::decode(&mut &arguments[..]).unwrap())?;
				let (size, chunks) = (bytes.len() as u64, Chunked::new(&bytes).chunks.len() as u32);
				let (owner, missing) = (AccountId32([2; 32]), vec![]);
				let (expires, removing) = (90, false);
				Ok(Some(BlobView { owner, size, chunks, missing, expires, removing }).encode())
			}
			"trainyard_modelChunk" => {
				let (root, index) = <(H256, u32)>::decode(&mut &arguments[..]).unwrap();
				Ok(Chunked::new(&bytes_of(root)?).chunks[index as usize].to_vec())
			}
			"TrainyardApi_relays_of" => Ok(Vec::<RelayView>::new().encode()),
			_ => Err("no such method"),
		});
		let stores = AccountId32([2; 32]);
		let named = |(at, view): (usize, &RescuedView)| {
			let path = merkle::proof(&hashes, at).unwrap().try_into().unwrap();
			let (index, checkpoint) = (at as u32, shown.checkpoints[at].bound());
			let leaf = pieces::Leaf { index, checkpoint, path };
			NamedState { leaf, blob: view.blob, stored: true }
		};
		let named: Vec<NamedState> = views.iter().enumerate().map(named).collect();
		let node = node.storing_named_states(9, &stores, &named);
		(node.storing_leaves(9, &stores, &shown.leaves()).growing().chain().await, views)
	}

	/// What a look came to.
	struct Came {
		/// The segments that were replayed, in their order.
		segments: Vec<u32>,
		/// The trainers of the result that are accused.
		accused: Vec<AccountId32>,
		events: String,
		/// Whether states of it stayed.
		stays: bool,
	}

	/// A job on the table at `path` with 30 segments.
	fn long(path: &Path) -> CheckedSpec {
		testing::changed(&testing::job(path), |spec| {
			spec.training.checkpoint_interval = 2;
			spec.training.learning_rate_nano = 1_000_000;
		})
	}

	/// A job whose states are larger than what is fetched whole.
	fn wide(path: &Path) -> CheckedSpec {
		testing::changed(&long(path), |spec| {
			let hidden = vec![128, 128].try_into().unwrap();
			spec.model = Model::Mlp { hidden, activation: Activation::Relu };
		})
	}

	/// Looks at a result of two trainers that one of them serves, in two segments; each has forced other
	/// leaves to be false, and opened them. Checks that whoever is accused is by its own leaves. `spoil`
	/// changes the bundle in a folder.
	async fn look_at(
		spec: fn(&Path) -> CheckedSpec,
		cheat: Option<Cheat>,
		spoil: impl FnOnce(&CheckedSpec, &Path, &Path),
		served: Served,
	) -> Came {
		let folder = tempfile::tempdir().unwrap();
		let table = testing::table(folder.path());
		let spec = spec(&table);
		let out = folder.path().join("bundle");
		testing::train(&spec, &table, &out, false, cheat).unwrap();
		spoil(&spec, &table, &out);
		let bundle = Bundle::open(&out).unwrap();
		let shown_by = |n: u8| {
			let secret = [n; 32];
			bundle.force(&secret).unwrap();
			let result = bundle.result().unwrap();
			let opened = bundle.opening(&secret).unwrap().check(&SEED, &secret, &result).unwrap();
			(result, opened.to_vec())
		};
		let [(other, theirs), (result, own)] = [3, 2].map(shown_by);
		assert!(other.common() == result.common() && other.bundle_root != result.bundle_root);
		assert_ne!(own[0].index, theirs[0].index);
		let home = Arc::new(Home::open(&folder.path().join("home"), &H256::zero()).unwrap());
		std::fs::copy(&table, home.data(&spec.dataset.content_hash)).unwrap();
		let shelf = Shelf::default();
		let roots = [result.bundle_root, result.true_root];
		shelf.set(HashMap::from(roots.map(|root| (root, out.clone()))), HashMap::new());
		let server = Server::start("127.0.0.1:0".parse().unwrap(), shelf).await.unwrap();
		let open = format!("http://{}", server.address());
		let url = match served {
			Served::WithoutParts | Served::Sampled => {
				files_of([result.bundle_root, result.true_root], out).await
			}
			_ => open.clone(),
		};
		let (location, others) = match served {
			Served::ByRelay => (Text::new("http://127.0.0.1:1").unwrap(), vec![url]),
			Served::OnChain | Served::Garbage => (Text::new("http://127.0.0.1:1").unwrap(), vec![]),
			_ => (Text::new(&url).unwrap(), vec![]),
		};
		let WorkResult { true_root, model_root, segments, diverged, .. } = result;
		let replica = |n: u8| {
			let bundle_root = if n == 2 { result.bundle_root } else { other.bundle_root };
			let location = location.clone();
			let reveal =
				Reveal { bundle_root, true_root, model_root, segments, diverged, location };
			ReplicaView {
				trainer: AccountId32([n; 32]),
				commitment: None,
				reveal: Some(reveal),
				fate: Fate::Working,
			}
		};
		let of = |n: u8, root: H256, forced: &Vec<Forced>| BundleView {
			trainer: AccountId32([n; 32]),
			root,
			forced: Some(forced.clone()),
		};
		let mut group = fake::group(result);
		group.bundles = vec![of(2, result.bundle_root, &own), of(3, other.bundle_root, &theirs)];
		let relays: Vec<RelayView> =
			(served == Served::Sampled).then(|| relay_of_samples(&open)).into_iter().collect();
		let node = FakeNode::new(move |method, _, _| match method {
			"TrainyardApi_relays_of" => Ok(relays.encode()),
			_ => Err("no such method"),
		});
		let mut chain = node.growing().chain().await;
		if matches!(served, Served::OnChain | Served::Garbage) {
			(chain, group.rescued) = storing(&bundle, served == Served::Garbage).await;
			group.stored = group.rescued.iter().map(|of| of.piece).chain([Piece::Leaves]).collect();
		}
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
		let folder = accusations.result_folder(9, &true_root);
		let chain = Arc::new(chain);
		let large = Large {
			// Whatever it asks for is more than it would pay.
			teller: Teller::Test(Arc::new(|_: &Call| {
				let name = "Verification::RelayTooDear".into();
				Err(TxError::Failed { call: "a call".into(), name, docs: String::new() })
			})),
			chain,
			most: Some(0),
			room: u64::MAX,
			webhook: Webhook::new(report.clone(), None).unwrap(),
		};
		let claims = Claims {
			me,
			chain: large.chain.clone(),
			teller: large.teller.clone(),
			most: Some(0),
			prepaid: 0,
			byte: 1,
			room: u64::MAX,
			report: report.clone(),
		};
		let whistleblower = Whistleblower {
			large,
			claims,
			bets: Bets { sender: None, most: 0, reserve: 0, report: report.clone() },
			fetcher: Fetcher::new(1, Duration::from_millis(10), Locations::Any).unwrap(),
			limits: Limits { segments: 2, work: u64::MAX, data: u64::MAX, memory: 0 },
			machine: Default::default(),
			quota: Quota::of(u64::MAX),
			accusations: accusations.clone(),
			needed: Default::default(),
			refused: Default::default(),
			report,
			home: home.clone(),
		};
		let (minute, whistleblower) = (Duration::from_secs(60), Arc::new(whistleblower));
		let mut looks = 0;
		loop {
			let (this, job, others) = (whistleblower.clone(), job.clone(), others.clone());
			match this.look_at(job, result, others, minute, Arc::default()).await {
				Ok(()) => break,
				// It waits for what it asks for, or until it is worth to ask.
				Err(TaskError::Transient(_)) if looks < 40 => looks += 1,
				Err(e) => panic!("{e}"),
			}
		}
		let looked = Looked::load(&folder).unwrap();
		assert!(looked.done);
		let is_accused = |who: &AccountId32| {
			let root = if who.0[0] == 2 { result.bundle_root } else { other.bundle_root };
			let is = accusations.has(&SEED, &Defendant::Trainer { job: 9, who: *who });
			assert!(!is || manifest_of(&folder, &root).is_some(), "a dispute needs its leaves");
			is
		};
		let accused = [2, 3].map(|n| AccountId32([n; 32])).into_iter().filter(is_accused).collect();
		let events = std::fs::read_to_string(home.events()).unwrap();
		let stays = folder.join(STATES).exists();
		Came { segments: looked.segments.unwrap(), accused, events, stays }
	}

	/// A relay of the samples of the only result, which a seat at this URL has.
	fn relay_of_samples(url: &str) -> RelayView {
		let seat = RelaySeatView {
			who: AccountId32([8; 32]),
			says: Some(true),
			shown: true,
			lost: false,
			due: None,
			location: Text::new(url),
		};
		RelayView {
			id: 7,
			job: 9,
			group: 0,
			piece: Piece::Samples,
			chunks: 9,
			places: Some(H256::repeat_byte(5)),
			by: AccountId32([1; 32]),
			fee: 5,
			stage: RelayStage::Held { until: 90 },
			until: Some(90),
			appealed: false,
			seats: vec![seat],
		}
	}

	/// Serves the files of a bundle by both of its roots, and opens nothing.
	async fn files_of(roots: [H256; 2], bundle: PathBuf) -> String {
		let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
		let url = format!("http://{}", listener.local_addr().unwrap());
		let begins = roots.map(|root| format!("/bundle/{}/", hex::encode(root)));
		let routes = Router::new().fallback(move |asked: Request| {
			let mut names =
				begins.iter().filter_map(|begin| asked.uri().path().strip_prefix(begin));
			let path = names.next().map(|name| shown_file(&bundle, name));
			let file = path.and_then(|path| std::fs::read(path).ok());
			async move { file.ok_or(StatusCode::NOT_FOUND).into_response() }
		});
		tokio::spawn(async move { axum::serve(listener, routes).await });
		url
	}

	const UNSPOILT: fn(&CheckedSpec, &Path, &Path) = |_, _, _| {};

	#[tokio::test(flavor = "multi_thread")]
	async fn a_false_result_is_found_and_all_its_trainers_are_accused() {
		let cheat = Some(Cheat::Fabricate { segments: 6 });
		let Came { accused, events, stays, .. } =
			look_at(testing::job, cheat, UNSPOILT, Served::ByTrainer).await;
		assert_eq!(accused, [AccountId32([2; 32]), AccountId32([3; 32])]);
		assert!(events.contains("found_false"), "{events}");
		assert!(stays || events.contains("segment 0"), "a dispute begins with its state");
	}

	#[tokio::test(flavor = "multi_thread")]
	async fn a_true_result_is_left_alone_and_makes_room() {
		for served in [Served::ByTrainer, Served::ByRelay] {
			let Came { segments, accused, events, stays } =
				look_at(testing::job, None, UNSPOILT, served).await;
			assert!(segments.len() == 2 && accused.is_empty() && !stays);
			assert!(events.contains("looked_at"), "{events}");
		}
	}

	/// One of 30 segments is a jump, from which everything else is truly trained. It is the first that is
	/// replayed, whatever else is drawn.
	#[tokio::test(flavor = "multi_thread")]
	async fn a_jump_is_found_by_the_first_replay() {
		let of_trainer = Served::ByTrainer;
		for (spec, jump, served) in [
			(long as fn(&Path) -> CheckedSpec, 11, of_trainer),
			(wide, 20, of_trainer),
			// Its trainer opens no states, and a committee has samples of them.
			(wide, 20, Served::Sampled),
		] {
			let spoil = |spec: &CheckedSpec, table: &Path, out: &Path| {
				let inputs = Inputs::load(spec, &InputPaths::data(table)).unwrap();
				let state = testing::jump(spec, &inputs, out, jump, |state| {
					for (name, tensor) in state {
						// Of the optimizer's tensors the powers are known, so those stay.
						let by = match name.starts_with("optimizer.") {
							true if name.contains("power") => 1.0,
							true => 8.0,
							false => 0.7,
						};
						tensor.data.iter_mut().for_each(|x| *x *= by);
					}
				});
				assert_eq!(state.0.manifest().checkpoints.len(), 31);
			};
			let Came { segments, accused, events, .. } = look_at(spec, None, spoil, served).await;
			assert_eq!(segments[0], jump as u32 - 1, "{events}");
			assert_eq!(accused.len(), 2, "{events}");
			let found = format!("\"target\":\"segment {}\"", jump - 1);
			assert!(events.contains(&found) && !events.contains("reason"), "{events}");
		}
	}

	/// What somebody asked for on chain is replayed from there, and whoever stored something else is accused
	/// of that.
	#[tokio::test(flavor = "multi_thread")]
	async fn what_nobody_serves_is_read_from_the_chain() {
		let Came { segments, accused, events, .. } =
			look_at(testing::job, None, UNSPOILT, Served::OnChain).await;
		assert!(segments.len() == 2 && accused.is_empty(), "{events}");
		assert!(events.contains("looked_at"), "{events}");
		let cheat = Some(Cheat::Fabricate { segments: 6 });
		let Came { accused, events, .. } =
			look_at(testing::job, cheat, UNSPOILT, Served::OnChain).await;
		assert_eq!(accused.len(), 2, "{events}");
		let Came { accused, events, .. } =
			look_at(testing::job, None, UNSPOILT, Served::Garbage).await;
		assert_eq!(accused, [AccountId32([2; 32])], "{events}");
		assert!(events.contains("the file that is stored for state"), "{events}");
	}

	/// Where nobody opens states by parts, and a relay of samples is too dear, segments are random.
	#[tokio::test(flavor = "multi_thread")]
	async fn without_parts_of_states_segments_are_random() {
		let Came { segments, accused, events, stays } =
			look_at(wide, None, UNSPOILT, Served::WithoutParts).await;
		assert!(segments.len() == 2 && segments[0] != segments[1]);
		assert!(accused.is_empty() && !stays);
		assert!(events.contains("\"reason\":\"checkpoint 0, "), "{events}");
		assert!(events.contains("\"event\":\"relay_refused\""), "{events}");
		assert!(events.contains("looked_at"), "{events}");
	}
}
