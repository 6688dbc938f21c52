//! Samples of all states: how they go from a trainer to seats of a relay and on to others, and what a seat sees by
//! them of a result whose trainer opens its states to no seat.

use super::{
	super::super::{
		moved::Origin, relayed_samples::chunk_of_samples, round::Standing as Stands,
		unseen::sees_moved,
	},
	*,
};
use crate::roles::{common::large::Teller, http::Shelf, store::result_folder};
use axum::{extract::Request as Asked, http::StatusCode, response::IntoResponse, Router};
use std::{collections::HashMap, sync::Mutex as Shared};
use trainyard_client::{court::Defendant, Call, GroupVerdict, RelaySeatView, TxError};
use trainyard_program::spec::{Activation, Model};
use trainyard_proof::{
	bundle::Bundle,
	inputs::Inputs,
	verify::movement::{Local, Measure, Walk},
};
use trainyard_protocol::{
	audit::Replayed,
	pieces::Piece,
	relay::{self, RelayStage},
};

/// The places of the relay.
const PLACES: H256 = H256([5; 32]);
/// The result of which it is.
const INDEX: usize = 1;
/// The checkpoint at which a jump ends there.
const JUMP: usize = 4;

fn relay_of_samples(location: Option<Text>, chunks: u64) -> RelayView {
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
		group: INDEX as u32,
		piece: Piece::Samples,
		chunks,
		places: Some(PLACES),
		by: AccountId32([9; 32]),
		fee: 5,
		stage: RelayStage::Held { until: 100_000 },
		until: Some(100_000),
		appealed: false,
		seats: vec![seat],
	}
}

/// [`scene`] with states that are read by parts, or whole.
async fn scene_of_states(wide: bool) -> Scene {
	let folder = tempfile::tempdir().unwrap();
	let table = testing::table(folder.path());
	let spec = testing::changed(&testing::job(&table), |spec| {
		let hidden = if wide { vec![128, 128] } else { vec![8] }.try_into().unwrap();
		spec.model = Model::Mlp { hidden, activation: Activation::Relu };
		spec.training.learning_rate_nano = 1_000_000;
	});
	let mut scene = scene_of(folder, spec, InputPaths::data(table)).await;
	scene.job.audit = Some(scene.audit.clone());
	scene
}

#[tokio::test(flavor = "multi_thread")]
async fn samples_go_from_a_trainer_to_a_seat_and_on_to_others() {
	for wide in [true, false] {
		let mut scene = scene_of_states(wide).await;
		let spec = scene.job.spec.clone().check().unwrap();
		let result = scene.audit.groups[INDEX].result;
		let chunks = relay::chunks(&spec, 1, &result, Piece::Samples);
		let head = Head { hash: fake::hash(1), number: 10 };
		let dir = |name: &str| result_folder(&scene.folder.path().join(name), INDEX);
		let (here, there) = (dir("here"), dir("there"));
		let first = verifier(&scene.folder.path().join("first")).await;
		let none = relay_of_samples(None, chunks);
		first.fetch_relayed(&scene.job, &none, &here, head).await.unwrap();
		let size = files_of(&here);
		assert!(!wide || size < files_of(&scene.folder.path().join("honest")) / 2, "{size}");

		// What is here is found again after a kill, whoever serves it then; what is damaged is not.
		scene.job.replicas.clear();
		let again = verifier(&scene.folder.path().join("again")).await;
		again.fetch_relayed(&scene.job, &none, &here, head).await.unwrap();
		let nobody = again.fetch_relayed(&scene.job, &none, &there, head).await;
		assert!(nobody.is_err(), "nobody serves it");
		let mut fetched = Fetched::default();
		fetched.add_bundle(&result, here.clone());
		first.relay.serve(fetched);
		let other = relay_of_samples(first.relay.location().cloned(), chunks);
		again.fetch_relayed(&scene.job, &other, &there, head).await.unwrap();
		let mut names: Vec<_> = std::fs::read_dir(there.join("checkpoints"))
			.unwrap()
			.map(|entry| entry.unwrap().path())
			.filter(|path| path.extension().is_some_and(|own| own == "samples"))
			.collect();
		names.sort();
		assert_eq!(names.len(), 7, "one of each state");
		let good = std::fs::read(&names[3]).unwrap();
		let mut bad = good.clone();
		let middle = bad.len() / 2;
		bad[middle] ^= 1;
		std::fs::write(&names[3], bad).unwrap();
		assert!(again.fetch_relayed(&scene.job, &none, &there, head).await.is_err());
		again.fetch_relayed(&scene.job, &other, &there, head).await.unwrap();
		assert_eq!(std::fs::read(&names[3]).unwrap(), good);

		// Every chunk that a seed can draw opens from what came by another seat, as the chain checks it.
		let piece = (Piece::Samples, &PLACES);
		for number in 0..chunks {
			let opening =
				chunk_of_samples(&there, &spec, (1, result.segments), &PLACES, number).unwrap();
			assert!(relay::opens(&spec, 1, &result, piece, number, &opening), "chunk {number}");
			assert!(!relay::opens(&spec, 1, &result, piece, number ^ 1, &opening));
		}
		assert!(chunk_of_samples(&there, &spec, (1, result.segments), &PLACES, chunks).is_err());

		// Who picks by them reads at these seats what the whole bundle says.
		let honest = scene.folder.path().join("honest");
		let bundle = Bundle::open(&honest).unwrap();
		let location = again.relay.location().cloned();
		let mut fetched = Fetched::default();
		fetched.add_bundle(&result, there.clone());
		again.relay.serve(fetched);
		for (measure, seat) in Measure::ALL.into_iter().zip(1..) {
			let mut walk = Walk::of_bundle(&bundle, measure, &PLACES);
			let whole = walk.run(&mut Local(honest.clone())).unwrap().pick();
			let reads = verifier(&scene.folder.path().join(format!("reads-{seat}"))).await;
			let folder = scene.folder.path().join(format!("round-{seat}"));
			let own = result_folder(&folder, INDEX);
			std::fs::create_dir_all(&own).unwrap();
			std::fs::copy(honest.join("manifest.json"), own.join("manifest.json")).unwrap();
			let draw = Draw { seat, ..reads.draw(&scene.job, &scene.audit).unwrap() };
			let of = Stands {
				job: &scene.job,
				audit: &scene.audit,
				folder: &folder,
				until: 90,
				best: 1,
			};
			let lots = reads.lots(draw, &scene.audit);
			let round = reads.round_of(of, (draw, lots), Arc::default()).unwrap();
			let url = location.as_ref().unwrap().to_string_lossy();
			let origin = Origin { server: Some(&url), name: url.to_string() };
			let at = (&PLACES, "kept");
			let found = reads.moved_at(&round, INDEX, at, &origin, &own).await.unwrap();
			assert_eq!(found, whole.map(|pick| pick.segment), "{measure:?}");
		}
	}
}

impl Scene {
	/// Lets this account sit on seat 1, and vouch for the result by what it drew, which stands now.
	fn vouches(&mut self) {
		let last = self.audit.committee.len() - 1;
		self.audit.committee.swap(1, last);
		let replayed = Replayed {
			bundle: 0,
			evidence: Default::default(),
			moved: Some(1),
			parts: Default::default(),
		};
		let verdicts = vec![GroupVerdict::Unavailable, GroupVerdict::Replayed(replayed)];
		self.audit.committee[1].findings = Some(fake::findings(verdicts));
		self.audit.phase = AuditPhase::Standing { until: 61 };
		self.job.audit = Some(self.audit.clone());
	}
}

/// Returns the bytes of all files in a folder.
fn files_of(folder: &Path) -> u64 {
	bundle::files::size(folder).unwrap()
}

/// Serves what `url` does, but opens no states by parts.
async fn closed(url: String) -> String {
	let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
	let own = format!("http://{}", listener.local_addr().unwrap());
	let routes = Router::new().fallback(move |asked: Asked| {
		let path = asked.uri().path().to_owned();
		let (is_closed, to) = (path.contains("/openings/"), format!("{url}{path}"));
		async move {
			if is_closed {
				return StatusCode::NOT_FOUND.into_response();
			}
			match reqwest::get(to).await {
				Ok(answer) => (answer.status(), answer.bytes().await.unwrap()).into_response(),
				Err(_) => StatusCode::BAD_GATEWAY.into_response(),
			}
		}
	});
	tokio::spawn(async move { axum::serve(listener, routes).await });
	own
}

/// A trainer opens its states to no seat, and one segment of its result is a jump that no seat drew. The seat that
/// picks by what moves asks a committee, reads at the committee's places what one of its seats has, and
/// accuses.
#[tokio::test(flavor = "multi_thread")]
async fn who_opens_its_states_to_no_seat_hides_no_jump() {
	let mut scene = scene_of_states(true).await;
	let out = scene.folder.path().join("honest");
	let spec = scene.job.spec.clone().check().unwrap();
	let table = InputPaths::data(scene.folder.path().join("table.csv"));
	let inputs = Inputs::load(&spec, &table).unwrap();
	let (jumped, _) = testing::jump(&spec, &inputs, &out, JUMP, |state| {
		for (name, tensor) in state {
			if !name.starts_with("optimizer.") {
				tensor.data.iter_mut().for_each(|x| *x *= 0.5);
			}
		}
	});
	let result = jumped.result().unwrap();
	let shelf = Shelf::default();
	let file = &scene.job.spec.dataset.content_hash;
	let table = scene.folder.path().join("table.csv");
	shelf.set(HashMap::from([(result.bundle_root, out.clone())]), HashMap::from([(*file, table)]));
	let server = Server::start("127.0.0.1:0".parse().unwrap(), shelf).await.unwrap();
	let open = format!("http://{}", server.address());
	let reveal = scene.job.replicas[INDEX].reveal.as_mut().unwrap();
	reveal.location = Text::new(&closed(open.clone()).await).unwrap();
	(reveal.bundle_root, reveal.true_root) = (result.bundle_root, result.true_root);
	reveal.model_root = result.model_root;
	scene.audit.groups[INDEX] = fake::group(result);

	// A chain on which whoever asks for samples finds at once that a seat has them.
	let relays: Arc<Shared<Vec<RelayView>>> = Arc::default();
	let (shown, asked) = (relays.clone(), relays.clone());
	let node = FakeNode::new(move |method, _, _| match method {
		"TrainyardApi_relays_of" => Ok(shown.lock().unwrap().encode()),
		_ => Err("no such method"),
	});
	let name = scene.folder.path().join("seat");
	let mut verifier = verifier_on(&name, node.growing()).await;
	(verifier.large.most, verifier.block_time) = (Some(50), Duration::from_millis(10));
	verifier.large.teller = Teller::Test(Arc::new(move |call: &Call| {
		assert_eq!(call.title(), "Verification.request_relay");
		let arguments = call.arguments();
		let (job, group, piece) = <(u32, u32, Piece)>::decode(&mut &arguments[..]).unwrap();
		assert_eq!((job, group, piece), (3, INDEX as u32, Piece::Samples));
		asked.lock().unwrap().push(relay_of_samples(Text::new(&open), 9));
		Ok(())
	}));

	scene.vouches();
	let folder = verifier.folder(&scene.job, &scene.audit);
	let dir = result_folder(&folder, INDEX);
	std::fs::create_dir_all(&dir).unwrap();
	std::fs::copy(out.join("manifest.json"), dir.join("manifest.json")).unwrap();
	verifier.note_unseen(&folder, INDEX).unwrap();

	let due = |verifier: &Verifier| {
		let record = verifier.home.load_standing(&folder).unwrap();
		(sees_moved(&scene.audit, &me(), &record), record)
	};
	assert_eq!(due(&verifier).0, Some(Duty::SeeMoved));
	let (job, audit) = (&scene.job, &scene.audit);
	verifier.see_moved(job, audit, &folder, 1, Arc::default()).await.unwrap();
	let (left, record) = due(&verifier);
	assert_eq!(left, None);
	let [accused] = &record.accused[..] else { panic!("{:?}", events(&verifier)) };
	let accusation = &accused.accusation.0;
	let who = AccountId32([2; 32]);
	assert_eq!(accusation.defendant, Defendant::Trainer { job: 3, who });
	assert_eq!(accusation.target, Target::Segment(JUMP as u32 - 1));
	let reported = events(&verifier);
	assert!(reported.iter().any(|e| e["event"] == "relay_asked"), "{reported:?}");
	let saw = reported.iter().find(|e| e["event"] == "saw_moved").unwrap();
	assert_eq!((&saw["segment"], &saw["verdict"]), (&(JUMP - 1).into(), &"false".into()));
}

/// Where asking is too dear, or of no use, the seat stays with what it found.
#[tokio::test(flavor = "multi_thread")]
async fn where_nobody_asks_it_stays_unknown() {
	let mut scene = scene_of_states(true).await;
	scene.job.replicas.clear();
	let node = FakeNode::new(move |method, _, _| match method {
		"TrainyardApi_relays_of" => Ok(Vec::<RelayView>::new().encode()),
		_ => Err("no such method"),
	});
	let mut verifier = verifier_on(&scene.folder.path().join("seat"), node.growing()).await;
	verifier.block_time = Duration::from_millis(10);
	verifier.large.teller = Teller::Test(Arc::new(|_: &Call| {
		let name = "Verification::RelayTooDear".into();
		Err(TxError::Failed { call: "a call".into(), name, docs: String::new() })
	}));
	scene.vouches();
	let folder = verifier.folder(&scene.job, &scene.audit);
	verifier.note_unseen(&folder, INDEX).unwrap();
	let (job, audit) = (&scene.job, &scene.audit);
	verifier.see_moved(job, audit, &folder, 1, Arc::default()).await.unwrap();
	let record = verifier.home.load_standing(&folder).unwrap();
	assert!(record.unseen.is_empty() && record.accused.is_empty());
	let reported = events(&verifier);
	let saw = reported.iter().find(|e| e["event"] == "saw_moved").unwrap();
	assert!(saw["reason"].is_string() && saw["segment"].is_null(), "{saw}");
}
