use super::*;
use crate::roles::{
	fetch::{FetchError, Locations},
	http::{Server, Shelf},
};
use trainyard_program::{
	spec::{DataFormat, Dataset, InitialModel},
	Text,
};
use trainyard_proof::{testing, verify};
use trainyard_protocol::H256;

#[test]
fn the_report_asks_for_all_checkpoints_only_where_they_are_small() {
	let spec = JobSpec::example().check().unwrap();
	// Not more than there are of one that stopped early.
	for trained in [spec.segments(), 12] {
		let needed = verify::required_files_of(&spec, trained, &[3, 4]);
		let all = optional_files(&spec, trained, &needed, u64::MAX);
		assert_eq!(all.len() + needed.len(), trained as usize + 1);
		assert!(all.iter().all(|file| bundle::servable(file) && !needed.contains(file)));
		assert!(optional_files(&spec, trained, &needed, 1_000).is_empty());
		assert!(optional_files(&spec, trained, &needed, 0).is_empty());
	}
}

#[test]
fn each_source_is_asked_for_its_own_copy_of_a_file() {
	let hash = H256::repeat_byte(7);
	let location = Text::new("http://submitter/data").unwrap();
	let file = FileRef { content_hash: hash, bytes: 1, location };
	let url = |source: Source<'_>| file_url(&source, &file);
	let blob = |base: &str| Some(format!("{base}/blob/{}", hex::encode(hash)));
	assert_eq!(url(Source::Served("http://trainer")), blob("http://trainer"));
	assert_eq!(url(Source::Relayed("http://seat")), blob("http://seat"));
	assert_eq!(url(Source::Submitter).as_deref(), Some("http://submitter/data"));
	// Whoever stores garbage sends nobody to the submitter's server.
	assert_eq!((url(Source::Rescued(Stored::Leaves)), url(Source::Here)), (None, None));
}

#[tokio::test]
async fn three_files_come_from_wherever_each_is() {
	let folder = tempfile::tempdir().unwrap();
	let home = Home::open(&folder.path().join("home"), &H256::zero()).unwrap();
	let fetcher = Fetcher::new(1, Duration::from_millis(10), Locations::Any).unwrap();
	let mut served = std::collections::HashMap::new();
	let mut file = |name: &str| {
		let (path, bytes) = (folder.path().join(name), name.repeat(20_000));
		std::fs::write(&path, &bytes).unwrap();
		let (content_hash, bytes) = trainyard_proof::hash::file(&path).unwrap();
		served.insert(content_hash, path);
		let location = Text::new("http://127.0.0.1:1/gone").unwrap();
		FileRef { content_hash, bytes, location }
	};
	let mut spec = JobSpec::example();
	let (data, model, mut labels) = (file("data"), file("model"), file("labels"));
	let Dataset { content_hash, bytes, location, .. } = &mut spec.dataset;
	(*content_hash, *bytes, *location) = (data.content_hash, data.bytes, data.location);
	// The data are here already, the trainer serves the model, the submitter the labels.
	std::fs::copy(folder.path().join("data"), home.data(content_hash)).unwrap();
	let serve = |hash: H256| {
		let shelf = Shelf::default();
		shelf.set(Default::default(), [(hash, served[&hash].clone())].into());
		Server::start("127.0.0.1:0".parse().unwrap(), shelf)
	};
	let trainer = serve(model.content_hash).await.unwrap();
	let submitter = serve(labels.content_hash).await.unwrap();
	let hash = hex::encode(labels.content_hash);
	let location = format!("http://{}/blob/{hash}", submitter.address());
	labels.location = Text::new(&location).unwrap();
	spec.dataset.format = DataFormat::Idx;
	let begins = InitialModel { file: model, parameters: H256::repeat_byte(3) };
	(spec.dataset.labels, spec.initial_model) = (Some(labels), Some(begins));

	let base = format!("http://{}", trainer.address());
	let (dir, source) = (folder.path().join("result"), Source::Served(&base));
	let give_up = Instant::now() + Duration::from_secs(60);
	let fetch = |source| {
		let (fetcher, home, spec, dir) = (&fetcher, &home, &spec, &dir);
		async move { fetch_inputs(fetcher, home, spec, &source, dir, give_up).await }
	};
	// What it does not have keeps nobody from the model.
	let error = fetch(source).await.unwrap_err().to_string();
	assert!(error.starts_with("the job's dataset.labels cannot be had: "), "{error}");
	assert!(dir.join(bundle::INITIAL_MODEL_FILE).is_file());
	fetch(Source::Submitter).await.unwrap();
	let places = places(&home, &spec, &dir);
	assert_eq!(
		InputPaths::first_right(&spec, &places),
		InputPaths {
			data: places[0].data.clone(),
			rows: places[0].rows.clone(),
			..places[1].clone()
		}
	);
	for (which, file) in spec.files() {
		let path = InputPaths::first_right(&spec, &places);
		check_content(path.get(which).unwrap(), which, &file).unwrap();
	}
	// Without the trainer the model is nowhere, and it is said which file is missing.
	drop(trainer);
	fetch(Source::Submitter).await.unwrap();
	std::fs::remove_file(dir.join(bundle::INITIAL_MODEL_FILE)).unwrap();
	let error = fetch(Source::Submitter).await.unwrap_err().to_string();
	assert!(error.starts_with("the job's initial_model cannot be had: "), "{error}");
}

#[test]
fn no_source_takes_the_time_of_the_next() {
	let give_up = Instant::now() + Duration::from_secs(900);
	assert!(share(give_up, 3) <= Duration::from_secs(300));
	assert!(share(give_up, 1) > share(give_up, 3));
	assert_eq!(share(Instant::now(), 2), Duration::from_secs(1));
}

/// It cannot be made slow, and whoever asks for it must not call it slow after half of the time.
#[test]
fn a_rescue_has_nearly_all_of_the_time_and_a_server_its_share() {
	let give_up = Instant::now() + Duration::from_secs(900);
	let servers = || [Source::Served("http://there"), Source::Served("http://here")];
	let rescue = Source::Rescued(Stored::Leaves);
	let rescued = time_for(&rescue, give_up, &servers());
	assert!(rescued > Duration::from_secs(830), "{rescued:?}");
	assert!(rescued < Duration::from_secs(850), "something is left for the servers");
	assert!(time_for(&rescue, give_up, &[]) > Duration::from_secs(890));
	let server = Source::Served("http://first");
	assert!(time_for(&server, give_up, &servers()) <= Duration::from_secs(300));
	assert_eq!(time_for(&rescue, Instant::now(), &servers()), Duration::from_secs(1));
}

/// A trainer that drips does not keep a seat from the others, nor do many seats keep it from a
/// trainer.
#[test]
fn all_other_seats_have_as_much_time_as_one_trainer() {
	let give_up = Instant::now() + Duration::from_secs(900);
	let seat = || Source::Relayed("http://seat");
	let trainer = Source::Served("http://trainer");
	let asked = time_for(&trainer, give_up, &[seat(), seat(), seat(), seat()]);
	assert!((445..=450).contains(&asked.as_secs()), "{asked:?}");
	let two = time_for(&trainer, give_up, &[Source::Served("http://other"), seat(), seat()]);
	assert!((295..=300).contains(&two.as_secs()), "{two:?}");
	let shared = time_for(&seat(), give_up, &[seat(), seat()]);
	assert!((295..=300).contains(&shared.as_secs()), "{shared:?}");
}

/// The submitter may drip as well: what it has, others may have given.
#[test]
fn the_submitter_takes_only_its_share_and_is_the_last() {
	let give_up = Instant::now() + Duration::from_secs(900);
	let trainer = Source::Served("http://trainer");
	let asked = time_for(&trainer, give_up, &[Source::Relayed("http://seat"), Source::Submitter]);
	assert!((295..=300).contains(&asked.as_secs()), "{asked:?}");
	let seat = time_for(&Source::Relayed("http://seat"), give_up, &[Source::Submitter]);
	assert!((445..=450).contains(&seat.as_secs()), "{seat:?}");
	let last = time_for(&Source::Submitter, give_up, &[]);
	assert!(last > Duration::from_secs(890), "{last:?}");
}

/// A bundle that is served, and where what is fetched of it goes.
struct Remote {
	_folder: tempfile::TempDir,
	_server: Server,
	served: std::path::PathBuf,
	url: String,
	result: WorkResult,
	fetcher: Fetcher,
	dir: std::path::PathBuf,
	limit: u64,
	needed: Vec<String>,
}

impl Remote {
	async fn start() -> Self {
		let folder = tempfile::tempdir().unwrap();
		let table = testing::table(folder.path());
		let spec = testing::job(&table);
		let served = folder.path().join("served");
		let bundle = testing::train(&spec, &table, &served, false, None).unwrap();
		bundle.force(&[7; 32]).unwrap();
		let result = bundle.result().unwrap();
		assert_ne!(result.bundle_root, result.true_root);
		let shelf = Shelf::default();
		let roots = [result.bundle_root, result.true_root];
		shelf.set(roots.map(|root| (root, served.clone())).into(), Default::default());
		let server = Server::start("127.0.0.1:0".parse().unwrap(), shelf).await.unwrap();
		Self {
			served,
			result,
			url: format!("http://{}", server.address()),
			fetcher: Fetcher::new(1, Duration::from_millis(10), Locations::Any).unwrap(),
			dir: folder.path().join("fetched"),
			limit: bundle::max_checkpoint_bytes(&spec),
			needed: verify::required_files_of(&spec, spec.segments(), &[1, 4]),
			_folder: folder,
			_server: server,
		}
	}

	async fn fetch(&self) -> Result<(), SourceError> {
		let Self { fetcher, url, result, needed, dir, limit, .. } = self;
		fetch_bundle(fetcher, url, result, needed, dir, *limit).await
	}
}

/// A trainer that gives each seat another part of a result hides it from nobody.
#[tokio::test]
async fn what_one_server_lacks_keeps_nobody_from_the_rest() {
	let remote = Remote::start().await;
	let Remote { served, dir, limit, needed, .. } = &remote;
	std::fs::remove_file(served.join(&needed[0])).unwrap();
	std::fs::write(served.join(&needed[1]), b"wrong").unwrap();
	let error = remote.fetch().await.unwrap_err();
	assert!(error.to_string().contains(&needed[0]), "the first one: {error}");
	for file in needed {
		let lacks = [&needed[0], &needed[1]].contains(&file);
		assert_eq!(has_state(dir, file, *limit).await, !lacks, "{file}");
	}
}

#[tokio::test]
async fn what_is_here_and_right_is_not_fetched_again() {
	let remote = Remote::start().await;
	let Remote { served, dir, limit, needed, .. } = &remote;
	let again = || remote.fetch();
	again().await.unwrap();
	for file in needed {
		assert!(has_state(dir, file, *limit).await, "{file}");
	}
	// Nobody has these any more: requests for them are refused.
	for file in needed.iter().map(String::as_str).chain([bundle::SHOWN_FILE]) {
		std::fs::rename(served.join(file), served.join(file).with_extension("away")).unwrap();
	}
	again().await.unwrap();
	// A wrong file is asked for.
	std::fs::write(dir.join(&needed[0]), b"wrong").unwrap();
	assert!(again().await.is_err());
	let away = served.join(&needed[0]).with_extension("away");
	std::fs::rename(away, served.join(&needed[0])).unwrap();
	again().await.unwrap();
	assert!(has_state(dir, &needed[0], *limit).await);
	std::fs::write(dir.join(manifest::FILE), b"{}").unwrap();
	assert!(again().await.is_err());
}

/// A part is known by the state that it is of and by the server that sent it, so the transfer goes on
/// when this one is asked again.
#[tokio::test]
async fn a_checkpoint_whose_transfer_broke_off_goes_on() {
	let folder = tempfile::tempdir().unwrap();
	let table = testing::table(folder.path());
	let spec = testing::job(&table);
	let served = folder.path().join("served");
	let bundle = testing::train(&spec, &table, &served, false, None).unwrap();
	let (root, result) = (bundle.root(), bundle.result().unwrap());
	let shelf = Shelf::default();
	shelf.set([(root, served.clone())].into(), Default::default());
	let server = Server::start("127.0.0.1:0".parse().unwrap(), shelf).await.unwrap();
	let url = format!("http://{}", server.address());
	let base = states_url(&url, &result);
	let fetcher = Fetcher::new(1, Duration::from_millis(10), Locations::Any).unwrap();
	let (dir, limit) = (folder.path().join("fetched"), bundle::max_checkpoint_bytes(&spec));
	fetch_bundle(&fetcher, &url, &result, &[], &dir, limit).await.unwrap();

	let listed = bundle.manifest().checkpoints.last().unwrap();
	let name = manifest::checkpoint_file(listed.step);
	let mut bytes = std::fs::read(served.join(&name)).unwrap();
	let half = bytes.len() / 2;
	let content = Content::State { hash: listed.state_hash, limit };
	let part = content.part(&dir.join(&name), &format!("{base}/{name}"));
	std::fs::create_dir_all(part.parent().unwrap()).unwrap();
	std::fs::write(&part, &bytes[..half]).unwrap();
	// The server has the rest only.
	bytes[..half].fill(0);
	std::fs::write(served.join(&name), &bytes).unwrap();
	fetch_state(&fetcher, &base, &name, &dir, limit).await.unwrap();
	assert!(has_state(&dir, &name, limit).await && !part.exists());

	// A part that is wrong is thrown away, and the server's file is the wrong one as well.
	std::fs::remove_file(dir.join(&name)).unwrap();
	std::fs::write(&part, b"wrong").unwrap();
	let error = fetch_state(&fetcher, &base, &name, &dir, limit).await.unwrap_err();
	assert!(matches!(error, FetchError::WrongState { .. }), "{error}");
	assert!(!dir.join(&name).exists() && !part.exists());
}

#[test]
fn a_base_that_swallows_paths_is_no_server() {
	use trainyard_client::{fake, AccountId32, ReplicaView};
	use trainyard_protocol::job::{Fate, JobState, Reveal};
	let (bundle_root, model_root) = (H256::repeat_byte(1), H256::repeat_byte(2));
	let result = WorkResult {
		bundle_root,
		true_root: bundle_root,
		model_root,
		segments: 3,
		diverged: false,
	};
	let mut job = fake::job(JobState::Auditing);
	job.replicas = ["http://victim/page?", "http://honest/", "http://victim/#"]
		.map(|location| {
			let location = Text::new(location).unwrap();
			let reveal = Reveal {
				bundle_root,
				true_root: bundle_root,
				model_root,
				segments: 3,
				diverged: false,
				location,
			};
			let trainer = AccountId32([1; 32]);
			ReplicaView {
				trainer,
				commitment: Some(H256([5; 32])),
				reveal: Some(reveal),
				fate: Fate::Working,
			}
		})
		.to_vec();
	assert_eq!(servers(&job, &result), ["http://honest"]);
	assert_eq!(crate::roles::common::files::servers(&job), ["http://honest"]);
}
