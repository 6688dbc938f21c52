//! A state goes from its trainer to a seat of a relay, and on to others, and so do the data.

use super::{
	super::super::{relayed_rows::chunk_of_rows, relays::chunk_of},
	*,
};
use crate::roles::store::result_folder;
use trainyard_client::RelaySeatView;
use trainyard_proof::bundle::manifest::checkpoint_file;
use trainyard_protocol::{
	pieces::Piece,
	relay::{self, RelayStage},
};

/// The index of the state, of the honest result.
const STATE: u32 = 2;

fn relay(location: Option<Text>) -> RelayView {
	let seat = RelaySeatView {
		who: AccountId32([8; 32]),
		says: Some(true),
		shown: true,
		lost: false,
		due: None,
		location,
	};
	RelayView {
		id: 7,
		job: 3,
		group: 1,
		piece: Piece::State(STATE),
		chunks: 0,
		places: None,
		by: AccountId32([9; 32]),
		fee: 5,
		stage: RelayStage::Held { until: 70 },
		until: Some(70),
		appealed: false,
		seats: vec![seat],
	}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_goes_from_its_trainer_to_a_seat_and_on_to_others() {
	let mut scene = scene().await;
	scene.job.audit = Some(scene.audit.clone());
	let head = Head { hash: fake::hash(1), number: 10 };
	let first = verifier(&scene.folder.path().join("first")).await;
	let dir = |name: &str| result_folder(&scene.folder.path().join(name), 1);
	let (here, there) = (dir("here"), dir("there"));
	first.fetch_relayed(&scene.job, &relay(None), &here, head).await.unwrap();

	// What is here is found again after a kill, whoever serves it then.
	scene.job.replicas.clear();
	let again = verifier(&scene.folder.path().join("again")).await;
	again.fetch_relayed(&scene.job, &relay(None), &here, head).await.unwrap();
	let nobody = again.fetch_relayed(&scene.job, &relay(None), &there, head).await;
	assert!(nobody.is_err(), "nobody serves it");

	let result = scene.audit.groups[1].result;
	let mut fetched = Fetched::default();
	fetched.add_bundle(&result, here);
	first.relay.serve(fetched);
	let location = first.relay.location().cloned();
	again.fetch_relayed(&scene.job, &relay(location), &there, head).await.unwrap();

	// Every chunk that a seed can draw opens from what came by another seat, as the chain checks it.
	let spec = scene.job.spec.clone().check().unwrap();
	let file = checkpoint_file(spec.checkpoint_step(STATE).unwrap());
	let piece = Piece::State(STATE);
	let chunks = relay::chunks(&spec, 1, &result, piece);
	assert!(chunks > 3);
	for number in 0..chunks {
		let opening = chunk_of(&there, &spec, (STATE, &file), number).unwrap();
		assert!(
			relay::opens(&spec, 1, &result, (piece, &H256::zero()), number, &opening),
			"chunk {number}"
		);
		assert!(!relay::opens(&spec, 1, &result, (piece, &H256::zero()), number ^ 1, &opening));
	}
	assert!(chunk_of(&there, &spec, (STATE, &file), chunks).is_err());
	assert!(chunk_of(&there, &spec, (STATE + 1, "none"), 0).is_err());
}

/// A relay of all rows of the job.
fn relay_of_rows(scene: &Scene, location: Option<Text>) -> RelayView {
	let dataset = &scene.job.spec.dataset;
	let to = dataset.train_rows + dataset.validation_rows;
	RelayView { piece: Piece::Rows { from: 0, to }, ..relay(location) }
}

/// [`scene`], in which the submitter serves its data to nobody any more, and one trainer does.
async fn scene_of_rows() -> Scene {
	let mut scene = scene().await;
	scene.job.audit = Some(scene.audit.clone());
	scene.job.replicas.remove(0);
	scene.job.spec.dataset.location = Text::new("http://127.0.0.1:1").unwrap();
	scene
}

impl Scene {
	/// Lets a seat of a relay of the rows bring them into the folder `name`.
	async fn brings(&self, seat: &Verifier, location: Option<Text>, name: &str) -> Outcome {
		let head = Head { hash: fake::hash(1), number: 10 };
		let dir = result_folder(&self.folder.path().join(name), 1);
		seat.fetch_relayed(&self.job, &relay_of_rows(self, location), &dir, head).await
	}
}

#[tokio::test(flavor = "multi_thread")]
async fn the_data_go_from_a_trainer_to_a_seat_and_on_to_others() {
	let mut scene = scene_of_rows().await;
	let first = verifier(&scene.folder.path().join("first")).await;
	scene.brings(&first, None, "here").await.unwrap();
	assert!(events(&first).iter().any(|e| e["event"] == "relay_fetched"));

	// What is here is found again after a kill, whoever serves it then.
	scene.job.replicas.clear();
	let again = verifier(&scene.folder.path().join("again")).await;
	scene.brings(&again, None, "here").await.unwrap();
	let nobody = scene.brings(&again, None, "there").await;
	assert!(nobody.is_err(), "nobody serves it");

	let dir = |name: &str| result_folder(&scene.folder.path().join(name), 1);
	let mut fetched = Fetched::default();
	fetched.add_files(&scene.job.spec, &dir("here"));
	first.relay.serve(fetched);
	scene.brings(&again, first.relay.location().cloned(), "there").await.unwrap();

	// Every chunk that a seed can draw opens from what came by another seat, as the chain checks it.
	let (spec, never) = (scene.job.spec.clone().check().unwrap(), AtomicBool::new(false));
	let (result, piece) = (scene.audit.groups[1].result, relay_of_rows(&scene, None).piece);
	let chunks = relay::chunks(&spec, 1, &result, piece);
	assert_eq!(chunks, 4, "inputs and labels of those that train and of those that validate");
	for number in 0..chunks {
		let opening = chunk_of_rows(&dir("there"), &scene.job, number, &never).unwrap();
		assert!(
			relay::opens(&spec, 1, &result, (piece, &H256::zero()), number, &opening),
			"chunk {number}"
		);
		assert!(!relay::opens(&spec, 1, &result, (piece, &H256::zero()), number ^ 1, &opening));
	}
	assert!(chunk_of_rows(&dir("there"), &scene.job, chunks, &never).is_err());
	assert!(chunk_of_rows(&dir("nowhere"), &scene.job, 0, &never).is_err());
}

/// Who says that it has the rows must open a chunk of them, and give them away.
#[tokio::test(flavor = "multi_thread")]
async fn damaged_or_other_data_are_not_here() {
	let mut scene = scene_of_rows().await;
	let seat = verifier(&scene.folder.path().join("seat")).await;
	scene.brings(&seat, None, "here").await.unwrap();
	let dir = result_folder(&scene.folder.path().join("here"), 1);
	let never = AtomicBool::new(false);
	let spoil = |name: &str| {
		let path = dir.join(name);
		let mut bytes = std::fs::read(&path).unwrap();
		let middle = bytes.len() / 2;
		bytes[middle] ^= 1;
		std::fs::write(&path, bytes).unwrap();
	};
	let (data, rows) = (bundle::input_file(InputFile::Data), kept::name(&scene.job.spec.dataset));
	let trainers = std::mem::take(&mut scene.job.replicas);

	// Damaged rows are decoded again.
	spoil(&rows);
	assert!(chunk_of_rows(&dir, &scene.job, 0, &never).is_err());
	scene.brings(&seat, None, "here").await.unwrap();
	assert!(chunk_of_rows(&dir, &scene.job, 0, &never).is_ok());

	// Of damaged data the rows are here, which others could not fetch.
	spoil(data);
	assert!(scene.brings(&seat, None, "here").await.is_err());
	scene.job.replicas = trainers;
	scene.brings(&seat, None, "here").await.unwrap();

	// The right file, whose rows are not those that the specification names.
	scene.job.spec.dataset.rows = H256::repeat_byte(9);
	let error = scene.brings(&seat, None, "here").await.unwrap_err().to_string();
	assert!(error.contains("dataset.rows is 0x0909"), "{error}");
}

/// What the cache has need not be fetched, and stays when the cache needs its room for something else.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_cache_has_is_kept_for_the_relay() {
	let mut scene = scene_of_rows().await;
	scene.job.replicas.clear();
	let seat = verifier(&scene.folder.path().join("seat")).await;
	let cached = seat.home.data(&scene.job.spec.dataset.content_hash);
	std::fs::copy(scene.folder.path().join("table.csv"), &cached).unwrap();
	scene.brings(&seat, None, "here").await.unwrap();
	std::fs::remove_file(cached).unwrap();
	scene.brings(&seat, None, "here").await.unwrap();
	let dir = result_folder(&scene.folder.path().join("here"), 1);
	assert!(chunk_of_rows(&dir, &scene.job, 0, &AtomicBool::new(false)).is_ok());
}

/// No row is made of the initial model, so a seat of a relay of the rows does without it.
#[tokio::test(flavor = "multi_thread")]
async fn rows_of_a_fine_tuning_need_no_initial_model() {
	let mut scene = scene_of_fine_tuning().await;
	scene.job.audit = Some(scene.audit.clone());
	scene.job.replicas.remove(0);
	let model = &mut scene.job.spec.initial_model.as_mut().unwrap().file;
	model.content_hash = H256::repeat_byte(5);
	let seat = verifier(&scene.folder.path().join("seat")).await;
	scene.brings(&seat, None, "here").await.unwrap();
	let dir = result_folder(&scene.folder.path().join("here"), 1);
	assert!(!dir.join(bundle::input_file(InputFile::InitialModel)).exists());
	assert!(chunk_of_rows(&dir, &scene.job, 3, &AtomicBool::new(false)).is_ok());
}
