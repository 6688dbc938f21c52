//! What is asked for on chain, and taken back.

use super::*;
use crate::roles::store::AskedRecord;
use std::sync::Mutex;
use trainyard_client::RescuedView;
use trainyard_client::TxError;
use trainyard_protocol::pieces::Piece;

/// Answers for the chain, and notes what was said there.
fn heard(
	verifier: &mut Verifier,
	answer: impl Fn(&Said) -> Option<&'static str> + Send + Sync + 'static,
) -> Arc<Mutex<Vec<Said>>> {
	let said = Arc::new(Mutex::new(Vec::new()));
	let log = said.clone();
	verifier.asker = Asker::Test(Arc::new(move |what| {
		let refused = answer(&what);
		log.lock().unwrap().push(what);
		match refused {
			None => Ok(()),
			Some(name) => {
				let (call, docs) = ("Verification.call".to_owned(), String::new());
				Err(TxError::Failed { call, name: name.to_owned(), docs })
			}
		}
	}));
	said
}

async fn audited(scene: &Scene, verifier: &Verifier) -> Outcome {
	let folder = verifier.folder(&scene.job, &scene.audit);
	let stop = Arc::new(AtomicBool::new(false));
	verifier.audit(&scene.job, &scene.audit, &folder, 1, stop).await
}

fn taken(said: &Mutex<Vec<Said>>) -> Vec<Said> {
	std::mem::take(&mut *said.lock().unwrap())
}

fn count(verifier: &Verifier, event: &str) -> usize {
	events(verifier).iter().filter(|e| e["event"] == event).count()
}

/// Otherwise the trainers store for nothing what all have.
#[tokio::test(flavor = "multi_thread")]
async fn what_came_after_all_is_not_asked_for_any_more() {
	let scene = scene().await;
	let mut verifier = verifier(&scene.folder.path().join("seat")).await;
	let said = heard(&mut verifier, |_| None);
	let folder = verifier.folder(&scene.job, &scene.audit);
	let states = vec![Piece::Leaves, Piece::State(0), Piece::State(7)];
	let asked = |more: Vec<Piece>| AskedRecord { pieces: states.clone(), more, sent: true };
	verifier.home.save_asked(&folder, 1, &asked(vec![])).unwrap();
	audited(&scene, &verifier).await.unwrap();
	assert_eq!(taken(&said), [Said::Withdrawn(1)], "once, and of no other result");
	assert_eq!(count(&verifier, "withdrawn"), 1);
	assert_eq!(verifier.home.load_asked(&folder, 1).unwrap(), None);

	// What only a search wants is withdrawn when there is a verdict: it looked for nothing more.
	verifier.home.save_asked(&folder, 0, &asked(vec![Piece::State(7)])).unwrap();
	verifier.home.save_asked(&folder, 1, &asked(vec![Piece::State(4)])).unwrap();
	audited(&scene, &verifier).await.unwrap();
	let mut withdrawn = taken(&said);
	withdrawn.sort_by_key(|said| format!("{said:?}"));
	assert_eq!(withdrawn, [Said::Withdrawn(0), Said::Withdrawn(1)]);
	assert_eq!(count(&verifier, "withdrawn"), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_is_not_open_is_forgotten() {
	let scene = scene().await;
	let mut verifier = verifier(&scene.folder.path().join("seat")).await;
	let said = heard(&mut verifier, |_| Some("Verification::NotAsked"));
	let folder = verifier.folder(&scene.job, &scene.audit);
	let asked = AskedRecord { pieces: vec![Piece::Leaves], more: vec![], sent: false };
	verifier.home.save_asked(&folder, 1, &asked).unwrap();
	audited(&scene, &verifier).await.unwrap();
	assert_eq!(taken(&said), [Said::Withdrawn(1)]);
	assert_eq!(count(&verifier, "withdrawn"), 0);
	assert_eq!(verifier.home.load_asked(&folder, 1).unwrap(), None);

	// The chain says that nobody asks for it: no fee is paid to hear that.
	let job = JobView { audit: Some(scene.audit.clone()), ..scene.job.clone() };
	let node = FakeNode::new(move |method, _, _| match method {
		"TrainyardApi_job" => Ok(Some(job.clone()).encode()),
		_ => Err("no such method"),
	});
	let mut verifier = verifier_on(&scene.folder.path().join("other"), node).await;
	let said = heard(&mut verifier, |_| None);
	let folder = verifier.folder(&scene.job, &scene.audit);
	verifier.home.save_asked(&folder, 1, &asked).unwrap();
	audited(&scene, &verifier).await.unwrap();
	assert_eq!(taken(&said), []);
	assert_eq!(verifier.home.load_asked(&folder, 1).unwrap(), None);
}

/// A scene of the honest result alone that nobody serves, and a seat that has little time.
async fn nobody_serves() -> (Scene, Verifier) {
	let mut scene = scene().await;
	scene.withhold();
	scene.audit.groups.remove(0);
	let mut verifier = verifier(&scene.folder.path().join("seat")).await;
	verifier.block_time = Duration::from_millis(100);
	(scene, verifier)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_gives_is_asked_for_once_and_waited_for() {
	let (mut scene, mut verifier) = nobody_serves().await;
	let said = heard(&mut verifier, |_| None);
	let ended = audited(&scene, &verifier).await;
	assert!(matches!(ended, Err(TaskError::Transient(_))), "{ended:?}");
	let trained = scene.audit.groups[0].result.segments;
	let spec = scene.job.spec.clone().check().unwrap();
	let rows = verify::sizes_of(&spec).all_rows();
	let mut lacks = vec![Piece::Leaves, rows];
	let states = verify::required_checkpoints(trained, &DRAWN);
	lacks.extend(states.into_iter().map(Piece::State));
	assert_eq!(taken(&said), [Said::Asked(0, lacks.clone())]);
	// It is open: a further claim would only cost a fee.
	scene.audit.groups[0].asked = lacks.clone();
	let ended = audited(&scene, &verifier).await;
	assert!(matches!(ended, Err(TaskError::Transient(_))), "{ended:?}");
	assert_eq!(taken(&said), []);
	// Where the folder was lost, the chain says that this seat asks.
	std::fs::remove_dir_all(verifier.folder(&scene.job, &scene.audit)).unwrap();
	let said = heard(&mut verifier, |_| Some("Verification::AlreadyAsked"));
	let ended = audited(&scene, &verifier).await;
	assert!(matches!(ended, Err(TaskError::Transient(_))), "{ended:?}");
	assert_eq!(taken(&said), [Said::Asked(0, lacks)]);
	let folder = verifier.folder(&scene.job, &scene.audit);
	assert!(verifier.home.load_asked(&folder, 0).unwrap().unwrap().sent);
}

/// Others asked for it, and what was stored is of no use: who does not say that it lacks it is not
/// heard.
#[tokio::test(flavor = "multi_thread")]
async fn who_lacks_what_is_stored_asks_for_it_and_waits_no_longer() {
	let (mut scene, mut verifier) = nobody_serves().await;
	let said = heard(&mut verifier, |_| None);
	let group = &mut scene.audit.groups[0];
	let states = verify::required_checkpoints(group.result.segments, &DRAWN);
	let rows = verify::sizes_of(&scene.job.spec.clone().check().unwrap()).all_rows();
	group.stored = vec![Piece::Leaves, rows];
	group.stored.extend(states.into_iter().map(Piece::State));
	let blob = H256::repeat_byte(5);
	group.rescued = vec![RescuedView { piece: Piece::State(0), blob }];
	audited(&scene, &verifier).await.unwrap();
	let [Said::Asked(0, pieces)] = &taken(&said)[..] else { panic!() };
	assert_eq!(pieces.len(), scene.audit.groups[0].stored.len());
	let folder = verifier.folder(&scene.job, &scene.audit);
	let found = verifier.home.load_findings(&folder).unwrap().unwrap();
	assert_eq!(found.findings.verdicts[..], [GroupVerdict::Unavailable]);
	assert_eq!(verifier.home.load_asked(&folder, 0).unwrap(), None, "no claim is open");
	// One piece is not on chain: it may come.
	std::fs::remove_file(folder.join("findings.json")).unwrap();
	scene.audit.groups[0].stored.retain(|piece| *piece != rows);
	let ended = audited(&scene, &verifier).await;
	assert!(matches!(ended, Err(TaskError::Transient(_))), "{ended:?}");
}
