//! Fetches the files that a job reads before anything is at stake: dead or wrong files are never a
//! trainer's loss.

use crate::roles::{
	fetch::{self, Content, FetchError, Fetcher, Wanted},
	store::Home,
	tasks::StopOnDrop,
};
use std::{
	future::Future,
	time::{Duration, Instant},
};
use tokio::{
	sync::{Semaphore, SemaphorePermit},
	task::JoinError,
};
use trainyard_client::JobView;
use trainyard_program::spec::{CheckedSpec, FileRef, JobSpec};
use trainyard_proof::{
	data::DataError,
	inputs::{InputError, Inputs},
};

/// Held while the files of a stranger's job are read for the first time: strangers choose how long
/// that takes. A thread whose job is gone ends soon after, and there are never more of them than
/// this.
pub(crate) static READING: Semaphore = Semaphore::const_new(2);

/// Says why the files of a job are not here.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
	/// No place has one of them, or has the right one; asking again does not help.
	#[error("{0}")]
	Gone(FetchError),
	/// They are as declared, and are no data of the job's kind.
	#[error("the data do not fit the job's specification: {0}")]
	Data(DataError),
	/// They are as declared, and another one does not fit the job.
	#[error("{0}")]
	Unfit(InputError),
	/// A place does not answer now, or this machine cannot take the file.
	#[error(transparent)]
	Fetch(FetchError),
	/// One of them takes longer than there is time for.
	#[error("{0} did not come within the time for applications")]
	TooLate(&'static str),
	/// They cannot be read for a reason on this machine.
	#[error(transparent)]
	Local(InputError),
	/// The thread that read them ended unexpectedly.
	#[error(transparent)]
	Ended(#[from] JoinError),
}

impl FilesError {
	/// Returns whether it is the job's own fault, or asks what this build cannot do, so that asking again is
	/// useless.
	pub fn is_hopeless(&self) -> bool {
		match self {
			Self::Gone(_) | Self::Data(_) | Self::Unfit(_) => true,
			Self::Local(e) => e.lacks_feature(),
			Self::Fetch(_) | Self::TooLate(_) | Self::Ended(_) => false,
		}
	}
}

/// Returns whether it is useless to try the location again: the fault will pass neither on the
/// server nor on this machine.
fn lasts(error: &FetchError) -> bool {
	!error.may_pass() && !matches!(error, FetchError::Local { .. })
}

/// Returns the base URLs of the trainers that revealed a result of the job: they serve its files.
pub fn servers(job: &JobView) -> Vec<String> {
	let reveals = job.replicas.iter().filter_map(|replica| replica.reveal.as_ref());
	reveals.filter_map(|reveal| fetch::server(&reveal.location.to_string_lossy())).collect()
}

/// Brings all files of a job into the cache, within `patience` if there is one, and checks that
/// they are what its specification says. If a location of the submitter is gone, the `servers` of
/// other trainers are asked.
pub async fn fetch(
	fetcher: &Fetcher,
	home: &Home,
	spec: &CheckedSpec,
	servers: &[String],
	patience: Option<Duration>,
) -> Result<(), FilesError> {
	bring(fetcher, home, spec, servers, patience).await?;
	read(home, spec, None).await
}

/// Does what [`fetch()`] does for a job at which nothing is at stake yet: its files are read when it is
/// its turn among such jobs.
pub async fn fetch_in_turn(
	fetcher: &Fetcher,
	home: &Home,
	spec: &CheckedSpec,
	servers: &[String],
	patience: Option<Duration>,
) -> Result<(), FilesError> {
	bring(fetcher, home, spec, servers, patience).await?;
	// Nobody closes it.
	let turn = READING.acquire().await.ok();
	read(home, spec, turn).await
}

/// Checks that the files of a job, which are in the cache, hold what its specification says. Whoever
/// reads holds the `turn`.
async fn read(
	home: &Home,
	spec: &CheckedSpec,
	turn: Option<SemaphorePermit<'static>>,
) -> Result<(), FilesError> {
	let (spec, paths, reading) = (spec.clone(), home.inputs(spec), StopOnDrop::default());
	let stop = reading.flag();
	let read = move || {
		let _turn = turn;
		Inputs::load_until(&spec, &paths, &stop)
	};
	match tokio::task::spawn_blocking(read).await? {
		Ok(_) => Ok(()),
		Err(e) if e.is_local() => Err(FilesError::Local(e)),
		Err(InputError::Data(e)) => Err(FilesError::Data(e)),
		Err(e) => Err(FilesError::Unfit(e)),
	}
}

/// Does what [`fetch()`] does without reading what the files hold; each has the right content hash.
pub async fn bring(
	fetcher: &Fetcher,
	home: &Home,
	spec: &JobSpec,
	servers: &[String],
	patience: Option<Duration>,
) -> Result<(), FilesError> {
	let begun = Instant::now();
	for (which, file) in spec.files() {
		let left = patience.map(|patience| patience.saturating_sub(begun.elapsed()));
		let fetched = within(left, one(fetcher, home, &file, servers)).await;
		let problems = fetched.ok_or(FilesError::TooLate(which.field()))?;
		let lasting = problems.iter().all(lasts);
		if let Some(e) = problems.into_iter().next() {
			return Err(if lasting { FilesError::Gone(e) } else { FilesError::Fetch(e) });
		}
	}
	Ok(())
}

/// Returns the outcome of `task`; `None` if it did not end in the time that is `left`.
async fn within<T>(left: Option<Duration>, task: impl Future<Output = T>) -> Option<T> {
	match left {
		Some(left) => tokio::time::timeout(left, task).await.ok(),
		None => Some(task.await),
	}
}

/// Brings one file into the cache. Returns what went wrong at each place that was asked; nothing if
/// the file is here.
async fn one(
	fetcher: &Fetcher,
	home: &Home,
	file: &FileRef,
	servers: &[String],
) -> Vec<FetchError> {
	let (path, hash) = (home.data(&file.content_hash), hex::encode(file.content_hash));
	let served = servers.iter().map(|base| format!("{base}/blob/{hash}"));
	let mut problems = Vec::new();
	for url in std::iter::once(file.location.to_string_lossy()).chain(served) {
		let content = Content::of(file);
		let wanted = Wanted { url: &url, path: &path, content };
		match fetcher.fetch(&wanted).await {
			Ok(()) => return Vec::new(),
			Err(e) => problems.push(e),
		}
	}
	problems
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::{
		fetch::Locations,
		http::{Server, Shelf},
	};
	use std::{collections::HashMap, path::PathBuf};
	use trainyard_program::{
		spec::{Activation, DataFormat, InitialModel, InputFile, Model},
		Text, H256,
	};
	use trainyard_proof::{
		hash,
		testing::{changed, job, table, train, tuned},
	};

	fn fetcher() -> Fetcher {
		Fetcher::new(1, Duration::from_millis(10), Locations::Any).unwrap()
	}

	/// A trainer's folder, and a server of the files `served`.
	async fn scene(served: HashMap<H256, PathBuf>) -> (tempfile::TempDir, Home, Server, String) {
		let folder = tempfile::tempdir().unwrap();
		let home = Home::open(folder.path(), &H256::zero()).unwrap();
		let shelf = Shelf::default();
		shelf.set(HashMap::new(), served);
		let server = Server::start("127.0.0.1:0".parse().unwrap(), shelf).await.unwrap();
		let base = format!("http://{}", server.address());
		(folder, home, server, base)
	}

	fn at(base: &str, hash: &H256) -> Text {
		Text::new(&format!("{base}/blob/{}", hex::encode(hash))).unwrap()
	}

	#[tokio::test]
	async fn three_files_of_a_job_arrive_and_broken_transfers_go_on() {
		let from = tempfile::tempdir().unwrap();
		let mut spec = JobSpec::example();
		let mut served = HashMap::new();
		let mut file = |name: &str, length: usize| {
			let (path, bytes) = (from.path().join(name), vec![name.as_bytes()[0]; length]);
			std::fs::write(&path, &bytes).unwrap();
			let content_hash = hash::blake2_256(&bytes);
			served.insert(content_hash, path);
			FileRef { content_hash, bytes: length as u64, location: Text::default() }
		};
		let [data, mut labels, mut model] =
			[("data", 200_000), ("labels", 70_000), ("model", 3)].map(|(n, len)| file(n, len));
		let (_folder, home, server, base) = scene(served).await;
		// The submitter's server has the data only; a trainer serves the rest.
		let nowhere = Text::new("http://127.0.0.1:1/gone").unwrap();
		(labels.location, model.location) = (nowhere.clone(), nowhere);
		spec.dataset.format = DataFormat::Idx;
		spec.dataset.location = at(&base, &data.content_hash);
		(spec.dataset.content_hash, spec.dataset.bytes) = (data.content_hash, data.bytes);
		let begins = InitialModel { file: model, parameters: H256::repeat_byte(3) };
		(spec.dataset.labels, spec.initial_model) = (Some(labels), Some(begins));
		assert!(spec.clone().check().is_ok());

		let error = bring(&fetcher(), &home, &spec, &[], None).await.unwrap_err();
		assert!(!error.is_hopeless(), "{error}");
		let paths = home.inputs(&spec);
		let path = |which| paths.get(which).unwrap();
		assert!(path(InputFile::Data).is_file() && !path(InputFile::Labels).exists());
		// The part of the labels that came before the transfer broke off.
		let labels = spec.dataset.labels.as_ref().unwrap();
		let content = Content::File { hash: labels.content_hash, bytes: labels.bytes };
		let url = at(&base, &labels.content_hash).to_string_lossy();
		let part = content.part(path(InputFile::Labels), &url);
		std::fs::write(&part, [b'l'; 40_000]).unwrap();
		let servers = ["http://127.0.0.1:1".to_owned(), base];
		bring(&fetcher(), &home, &spec, &servers, None).await.unwrap();
		for (which, file) in spec.files() {
			trainyard_proof::inputs::check_content(path(which), which, &file).unwrap();
		}
		assert!(!part.exists());
		// Nobody is asked again.
		drop(server);
		bring(&fetcher(), &home, &spec, &[], None).await.unwrap();

		// A file that is longer than declared is not taken, wherever it is.
		std::fs::remove_file(path(InputFile::Data)).unwrap();
		let (_folder, home, _server, base) =
			scene([(data.content_hash, from.path().join("data"))].into()).await;
		spec.dataset.location = at(&base, &data.content_hash);
		spec.dataset.bytes -= 1;
		let error = bring(&fetcher(), &home, &spec, &[], None).await.unwrap_err();
		assert!(error.is_hopeless(), "{error}");
		// A server that takes the request and never answers: only the time can end it.
		let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
		let silent_base = format!("http://{}", silent.local_addr().unwrap());
		spec.dataset.location = at(&silent_base, &data.content_hash);
		let patience = Some(Duration::ZERO);
		let error = bring(&fetcher(), &home, &spec, &[], patience).await.unwrap_err();
		assert!(!error.is_hopeless(), "{error}");
		assert!(error.to_string().starts_with("dataset did not come within"), "{error}");
	}

	#[tokio::test(flavor = "multi_thread")]
	async fn what_does_not_fit_the_specification_is_found_before_applying() {
		let from = tempfile::tempdir().unwrap();
		let data = table(from.path());
		let published = train(&job(&data), &data, &from.path().join("out"), false, None).unwrap();
		let (spec, paths) = tuned(&job(&data), &data, &published);
		let served = spec
			.files()
			.map(|(which, file)| (file.content_hash, paths.get(which).unwrap().to_owned()));
		let (_folder, home, _server, base) = scene(served.collect()).await;
		let spec = changed(&spec, |spec| {
			spec.dataset.location = at(&base, &spec.dataset.content_hash);
			let model = &mut spec.initial_model.as_mut().unwrap().file;
			model.location = at(&base, &model.content_hash);
		});
		fetch(&fetcher(), &home, &spec, &[], None).await.unwrap();

		// The right files, of which the specification says something else.
		let root = H256::repeat_byte(9);
		let other = changed(&spec, |spec| spec.initial_model.as_mut().unwrap().parameters = root);
		let error = fetch(&fetcher(), &home, &other, &[], None).await.unwrap_err();
		assert!(error.is_hopeless(), "{error}");
		assert!(error.to_string().contains("initial_model.parameters is 0x0909"), "{error}");
		let other = changed(&spec, |spec| spec.dataset.rows = root);
		let error = fetch_in_turn(&fetcher(), &home, &other, &[], None).await.unwrap_err();
		assert!(error.is_hopeless(), "{error}");
		assert!(error.to_string().contains("dataset.rows is 0x0909"), "{error}");

		// The same file, for a job with another model.
		let hidden = vec![9].try_into().unwrap();
		let model = Model::Mlp { hidden, activation: Activation::Relu };
		let spec = changed(&spec, |spec| spec.model = model);
		let error = fetch(&fetcher(), &home, &spec, &[], None).await.unwrap_err();
		assert!(error.is_hopeless(), "{error}");
		assert!(error.to_string().contains("cannot be the initial model of this job"), "{error}");
	}

	#[test]
	fn only_what_the_submitter_did_wrong_is_held_against_the_job() {
		let url = || "http://there".to_owned();
		let status = |code: u16| FetchError::Status {
			url: url(),
			status: reqwest::StatusCode::from_u16(code).unwrap(),
		};
		let (expected, found) = (H256::zero(), H256::repeat_byte(1));
		let lasting = [
			FetchError::WrongHash { url: url(), expected, found },
			FetchError::WrongLength { url: url(), expected: 2, found: 3 },
			FetchError::TooLarge { url: url(), limit: 1 },
			FetchError::BadUrl { url: url() },
			status(404),
		];
		assert!(lasting.iter().all(lasts));
		let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
		let window = Duration::from_secs(1);
		let passing = [
			FetchError::NoAnswer { url: url(), reason: "refused".into() },
			FetchError::BelowRate { url: url(), bytes: 1, window, rate: 2 },
			FetchError::Local { path: "data".into(), source: full },
			status(503),
		];
		assert!(!passing.iter().any(lasts));
		// What this build cannot read it declines, and says which feature is missing.
		let data = || DataError::NoFeature { path: "data".into(), feature: "parquet" };
		let lacking = FilesError::Local(InputError::Data(data()));
		assert!(
			lacking.is_hopeless() && lacking.to_string().contains("feature `parquet`"),
			"{lacking}"
		);
		assert!(data().is_local(), "it is nothing against the job");
	}
}
