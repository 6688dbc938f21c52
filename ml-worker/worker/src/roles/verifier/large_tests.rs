//! What a seat does, while results stand, about states and rows that are too large for the chain.

use super::*;
use crate::roles::{common::large::Teller, store::result_folder};
use std::sync::Mutex as Shared;
use trainyard_client::{court::Defendant, Call, GroupVerdict, RelaySeatView};
use trainyard_protocol::{pieces::Piece, relay::RelayStage};

/// The relays that run.
type Relays = Arc<Shared<Vec<RelayView>>>;

/// A verifier in the folder `name` on a chain that carries `room` bytes, whose relays find at once that one seat
/// has the piece, and serves it as the trainers of the scene did.
async fn verifier_with_relays(scene: &Scene, name: &str, room: u64) -> (Verifier, Relays) {
	let giver = format!("http://{}", scene._server.address());
	let relays = Relays::default();
	let (shown, asked) = (relays.clone(), relays.clone());
	let node = FakeNode::new(move |method, _, _| match method {
		"TrainyardApi_relays_of" => Ok(shown.lock().unwrap().encode()),
		_ => Err("no such method"),
	});
	let mut verifier = verifier_on(&scene.folder.path().join(name), node.growing()).await;
	(verifier.large.room, verifier.large.most) = (room, Some(50));
	verifier.large.teller = Teller::Test(Arc::new(move |call: &Call| {
		assert_eq!(call.title(), "Verification.request_relay");
		let mut relays = asked.lock().unwrap();
		let seat = RelaySeatView {
			who: AccountId32([77; 32]),
			says: Some(true),
			shown: true,
			lost: false,
			due: None,
			location: Text::new(&giver),
		};
		let arguments = call.arguments();
		let (_, _, piece, most) = <(u32, u32, Piece, u128)>::decode(&mut &arguments[..]).unwrap();
		assert_eq!(most, 50);
		assert!(relays.iter().all(|relay| relay.piece != piece), "it is asked for once");
		let id = relays.len() as u32;
		relays.push(RelayView {
			id,
			job: 3,
			group: 0,
			piece,
			chunks: 9,
			places: None,
			by: me(),
			fee: 1,
			stage: RelayStage::Held { until: 100_000 },
			until: Some(100_000),
			appealed: false,
			seats: vec![seat],
		});
		Ok(())
	}));
	(verifier, relays)
}

/// Everything is withheld from a seat; the committee that it asks has the state, and one seat of that gives
/// it. So the false segment is found, and its trainer accused.
#[tokio::test(flavor = "multi_thread")]
async fn what_one_seat_of_a_relay_gives_convicts_who_withheld_it() {
	let mut scene = scene().await;
	scene.withhold();
	let (mut verifier, relays) = verifier_with_relays(&scene, "lacks", 1).await;

	// Seat 0 replays the last segment as well.
	scene.audit.committee.rotate_right(1);
	let verdicts = vec![GroupVerdict::Unavailable; 2];
	scene.audit.committee[0].findings = Some(fake::findings(verdicts));
	scene.audit.phase = AuditPhase::Standing { until: 61 };
	scene.job.audit = Some(scene.audit.clone());
	let folder = verifier.folder(&scene.job, &scene.audit);
	let dir = result_folder(&folder, 0);
	std::fs::create_dir_all(&dir).unwrap();
	let manifest = "manifest.json";
	std::fs::copy(scene.folder.path().join("cheat").join(manifest), dir.join(manifest)).unwrap();

	let record = verifier.home.load_standing(&folder).unwrap();
	let due = verifier.looks_again(&scene.job, &scene.audit, &record);
	assert_eq!(due, Some(Duty::LookAgain));
	let never = Arc::new(AtomicBool::new(false));
	verifier.look_again(&scene.job, &scene.audit, &folder, 1, never).await.unwrap();

	let record = verifier.home.load_standing(&folder).unwrap();
	assert_eq!(record.looked.iter().copied().collect::<Vec<_>>(), [0]);
	let [accused] = &record.accused[..] else { panic!("{:?}", record.accused) };
	let accusation = &accused.accusation.0;
	let who = AccountId32([1; 32]);
	assert_eq!(accusation.defendant, Defendant::Trainer { job: 3, who });
	assert_eq!(accusation.target, Target::Segment(5));
	assert!(!relays.lock().unwrap().is_empty());
	let reported = events(&verifier);
	for event in ["relay_asked", "looked_again"] {
		assert!(reported.iter().any(|e| e["event"] == event), "{event}: {reported:?}");
	}
	// The other result is left.
	assert_eq!(verifier.looks_again(&scene.job, &scene.audit, &record), Some(Duty::LookAgain));
	verifier.large.room = u64::MAX;
	assert_eq!(verifier.looks_again(&scene.job, &scene.audit, &record), None, "claims bring it");
}

/// [`scene`] on a longer table, whose rows have more bytes than a state.
async fn scene_of_many_rows() -> Scene {
	let folder = tempfile::tempdir().unwrap();
	let table = testing::table(folder.path());
	let text = std::fs::read_to_string(&table).unwrap();
	let (head, rows) = text.split_once('\n').unwrap();
	std::fs::write(&table, format!("{head}\n{}", rows.repeat(20))).unwrap();
	scene_of(folder, testing::job(&table), InputPaths::data(table)).await
}

/// The states are here and nobody gives the data, of which no block carries the rows. A committee is asked for
/// them, and not the trainers by a claim.
#[tokio::test(flavor = "multi_thread")]
async fn data_that_one_seat_of_a_relay_gives_are_replayed() {
	let mut scene = scene_of_many_rows().await;
	scene.withhold();
	scene.audit.groups.remove(0);
	let spec = scene.job.spec.clone().check().unwrap();
	let room = bundle::max_checkpoint_bytes(&spec);
	let (mut verifier, relays) = verifier_with_relays(&scene, "lacks", room).await;
	verifier.asker = Asker::Test(Arc::new(|said| panic!("{said:?}")));
	let own = scene.audit.committee.iter_mut().find(|member| member.verifier == me());
	let verdicts = vec![GroupVerdict::Unavailable];
	own.expect("it has a seat").findings = Some(fake::findings(verdicts));
	scene.audit.phase = AuditPhase::Standing { until: 61 };
	scene.job.audit = Some(scene.audit.clone());
	let folder = verifier.folder(&scene.job, &scene.audit);
	let (dir, served) = (result_folder(&folder, 0), scene.folder.path().join("honest"));
	std::fs::create_dir_all(dir.join(bundle::CHECKPOINTS)).unwrap();
	let trained = scene.audit.groups[0].result.segments;
	for file in verify::required_files_of(&spec, trained, &DRAWN) {
		std::fs::copy(served.join(&file), dir.join(&file)).unwrap();
	}
	std::fs::copy(served.join("manifest.json"), dir.join("manifest.json")).unwrap();

	let record = verifier.home.load_standing(&folder).unwrap();
	let due = verifier.looks_again(&scene.job, &scene.audit, &record);
	assert_eq!(due, Some(Duty::LookAgain));
	let never = Arc::new(AtomicBool::new(false));
	verifier.look_again(&scene.job, &scene.audit, &folder, 1, never).await.unwrap();
	let record = verifier.home.load_standing(&folder).unwrap();
	assert!(record.looked.contains(&0) && record.accused.is_empty());
	let pieces: Vec<Piece> = relays.lock().unwrap().iter().map(|relay| relay.piece).collect();
	assert_eq!(pieces, [verify::sizes_of(&spec).all_rows()]);
	let reported = events(&verifier);
	for event in ["relay_asked", "looked_again"] {
		assert!(reported.iter().any(|e| e["event"] == event), "{event}: {reported:?}");
	}
	assert!(reported.iter().all(|e| e["event"] != "unavailable"), "{reported:?}");
	// What a rescue carries is claimed.
	verifier.large.room = u64::MAX;
	let never_looked = Default::default();
	assert_eq!(verifier.looks_again(&scene.job, &scene.audit, &never_looked), None);
}

/// What a seat could not have when it revealed came since. It asks a committee all the same where nobody did,
/// since it would pay for its word otherwise, and for nothing where somebody did.
#[tokio::test(flavor = "multi_thread")]
async fn what_came_late_is_asked_for_where_nobody_did() {
	for (is_large, relayed) in [(true, false), (true, true), (false, false)] {
		let mut scene = scene_of_many_rows().await;
		let spec = scene.job.spec.clone().check().unwrap();
		let state = bundle::max_checkpoint_bytes(&spec);
		let node = FakeNode::new(move |method, _, _| match method {
			"TrainyardApi_relays_of" => Ok(Vec::<RelayView>::new().encode()),
			_ => Err("no such method"),
		});
		let mut verifier = verifier_on(&scene.folder.path().join("seat"), node.growing()).await;
		(verifier.large.room, verifier.large.most) = (if is_large { 1 } else { state }, Some(50));
		let sent: Arc<Shared<Vec<Piece>>> = Arc::default();
		let log = sent.clone();
		verifier.large.teller = Teller::Test(Arc::new(move |call: &Call| {
			assert_eq!(call.title(), "Verification.request_relay");
			let arguments = call.arguments();
			let (_, _, piece, _) = <(u32, u32, Piece, u128)>::decode(&mut &arguments[..]).unwrap();
			log.lock().unwrap().push(piece);
			Ok(())
		}));
		// The honest result alone, which is served.
		scene.audit.groups.remove(0);
		scene.audit.groups[0].relayed = relayed;
		let verdicts = vec![GroupVerdict::Unavailable];
		let own = scene.audit.committee.iter_mut().find(|member| member.verifier == me());
		own.expect("it has a seat").findings = Some(fake::findings(verdicts));
		scene.audit.phase = AuditPhase::Standing { until: 61 };
		scene.job.audit = Some(scene.audit.clone());
		let folder = verifier.folder(&scene.job, &scene.audit);
		let never = Arc::new(AtomicBool::new(false));
		verifier.look_again(&scene.job, &scene.audit, &folder, 1, never).await.unwrap();
		let wanted = match (relayed, is_large) {
			(true, _) => vec![],
			(false, true) => vec![Piece::State(scene.audit.groups[0].result.segments)],
			(false, false) => vec![verify::sizes_of(&spec).all_rows()],
		};
		assert_eq!(*sent.lock().unwrap(), wanted);
		assert!(events(&verifier).iter().any(|e| e["event"] == "looked_again"));
	}
}
