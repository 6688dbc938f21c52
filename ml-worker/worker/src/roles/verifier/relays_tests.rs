//! A state goes from its trainer to a seat of a relay, and on to others.

use super::{super::super::relays::chunk_of, *};
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
	let chunks = relay::chunks(&spec, piece);
	assert!(chunks > 3);
	for number in 0..chunks {
		let opening = chunk_of(&there, &spec, (STATE, &file), number).unwrap();
		assert!(relay::opens(&spec, &result, piece, number, &opening), "chunk {number}");
		assert!(!relay::opens(&spec, &result, piece, number ^ 1, &opening));
	}
	assert!(chunk_of(&there, &spec, (STATE, &file), chunks).is_err());
	assert!(chunk_of(&there, &spec, (STATE + 1, "none"), 0).is_err());
}
