//! What is asked for on chain, and taken back.

use super::*;
use crate::roles::store::AskedRecord;
use std::sync::Mutex;
use trainyard_client::{court::ClaimView, Call, RescuedView, TxError};
use trainyard_protocol::pieces::{Piece, Pieces, FREE_PIECES};

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

/// A result that stands, which nobody serves and this seat could not have, on a chain that asks for a pledge by
/// the number of pieces that were stored, as `places.rs` of the pallet does.
struct Standing {
	scene: Scene,
	/// What the owner allows.
	most: Option<u128>,
	/// The best block.
	best: u32,
	/// Time between two blocks.
	block_time: Duration,
	chain: Arc<Mutex<Dear>>,
}

/// What is on that chain.
#[derive(Default)]
struct Dear {
	/// How many pieces were stored that not everybody reads.
	late: u32,
	/// What is asked for.
	open: Option<ClaimView>,
	/// What was sent: how many such pieces, with which pledge, and whether that was taken.
	heard: Vec<(usize, u128, bool)>,
	withdrawn: usize,
}

/// What a challenge puts at stake.
const CHALLENGE: u128 = 160;

impl Dear {
	fn answer(&mut self, last: u32, call: &Call) -> Result<(), TxError> {
		assert_eq!(call.title(), "Verification.request");
		let (_, _, pieces, pledge) =
			<(u32, u32, Pieces, u128)>::decode(&mut call.arguments()).unwrap();
		let counts = |piece: &&Piece| matches!(piece, Piece::State(at) if *at != last);
		let count = pieces.iter().filter(counts).count();
		let beyond = |place: u32| (place + 1).saturating_sub(FREE_PIECES);
		let parts: u32 = (self.late..self.late + count as u32).map(beyond).sum();
		let taken = pledge >= CHALLENGE / 16 * u128::from(parts);
		self.heard.push((count, pledge, taken));
		if !taken {
			let (call, docs) = (call.title(), String::new());
			let name = "Verification::PledgeTooSmall".to_owned();
			return Err(TxError::Failed { call, name, docs });
		}
		self.open = Some(ClaimView { group: 0, pieces, prepaid: 5, pledge, open: true, paid: 0 });
		Ok(())
	}
}

impl Standing {
	async fn new(late: u32, most: Option<u128>) -> Self {
		let mut scene = scene().await;
		scene.withhold();
		scene.audit.groups.remove(0);
		let own = scene.audit.committee.iter_mut().find(|member| member.verifier == me());
		let findings = fake::findings(vec![GroupVerdict::Unavailable]);
		own.expect("it has a seat").findings = Some(findings);
		scene.audit.phase = AuditPhase::Standing { until: 61 };
		scene.audit.challenge = CHALLENGE;
		let chain = Arc::new(Mutex::new(Dear { late, ..Dear::default() }));
		// So little time that what nobody gives is asked for at once.
		let block_time = Duration::from_millis(10);
		Self { scene, most, best: 1, block_time, chain }
	}

	/// The seat in a process of its own, and the job as it sees it.
	async fn seat(&mut self) -> (Verifier, JobView) {
		let open = self.chain.lock().unwrap().open.clone();
		let named = open.iter().flat_map(|claim| claim.pieces.iter().copied()).collect();
		self.scene.audit.groups[0].asked = named;
		let job = JobView { audit: Some(self.scene.audit.clone()), ..self.scene.job.clone() };
		let shown = job.clone();
		let node = FakeNode::new(move |method, _, _| match method {
			"TrainyardApi_job" => Ok(Some(shown.clone()).encode()),
			"TrainyardApi_relays_of" => Ok(Vec::<RelayView>::new().encode()),
			_ => Err("no such method"),
		});
		let own: Vec<ClaimView> = open.into_iter().collect();
		let node = node.storing_claims(3, &me(), &own).at(self.best);
		let mut verifier = verifier_on(&self.scene.folder.path().join("seat"), node).await;
		verifier.block_time = self.block_time;
		verifier.claims.most = self.most;
		let (chain, last) = (self.chain.clone(), self.scene.audit.groups[0].result.segments);
		verifier.claims.teller =
			Teller::Test(Arc::new(move |call: &Call| chain.lock().unwrap().answer(last, call)));
		let chain = self.chain.clone();
		verifier.asker = Asker::Test(Arc::new(move |said| {
			assert_eq!(said, Said::Withdrawn(0), "nothing is asked for as by a committee");
			let mut chain = chain.lock().unwrap();
			(chain.open, chain.withdrawn) = (None, chain.withdrawn + 1);
			Ok(())
		}));
		(verifier, job)
	}

	/// Looks at the result again, and returns what came of it, what was sent, and the events.
	async fn looks(&mut self) -> (Outcome, Vec<(usize, u128, bool)>, Vec<Value>) {
		let (verifier, job) = self.seat().await;
		let audit = job.audit.clone().unwrap();
		let folder = verifier.folder(&job, &audit);
		let never = Arc::new(AtomicBool::new(false));
		let looked = verifier.look_again(&job, &audit, &folder, 1, never).await;
		let heard = std::mem::take(&mut self.chain.lock().unwrap().heard);
		(looked, heard, events(&verifier))
	}

	/// Its trainer stores what is asked for. Returns what was pledged for it.
	fn stores(&mut self) -> u128 {
		let mut chain = self.chain.lock().unwrap();
		let claim = chain.open.take().expect("something is asked for");
		let group = &mut self.scene.audit.groups[0];
		let last = group.result.segments;
		let counts = |piece: &&Piece| matches!(piece, Piece::State(at) if *at != last);
		chain.late += claim.pieces.iter().filter(counts).count() as u32;
		group.stored.extend(claim.pieces.iter().copied());
		claim.pledge
	}
}

/// The attack: a friend of the cheat had eighteen small pieces stored. A seat that lacks more states than are
/// free asks for one after the other, and pledges.
#[tokio::test(flavor = "multi_thread")]
async fn a_seat_pledges_for_what_it_lacks_of_results_that_stand() {
	let mut standing = Standing::new(18, None).await;
	let (looked, heard, _) = standing.looks().await;
	assert!(matches!(looked, Err(TaskError::Transient(_))), "{looked:?}");
	let lacks = heard[0].0;
	assert_eq!(heard.first(), Some(&(lacks, 0, false)), "nothing is pledged at first");
	assert_eq!(heard.last(), Some(&(1, CHALLENGE / 4, true)), "{heard:?}");
	assert!(lacks > 2 && heard.iter().all(|(count, pledge, _)| *count == 1 || *pledge == 0));
	// What everybody reads takes no place, so it comes with the first.
	let claim = standing.chain.lock().unwrap().open.clone().unwrap();
	let last = standing.scene.audit.groups[0].result.segments;
	assert_eq!(claim.pieces.first(), Some(&Piece::Leaves));
	assert_eq!(claim.pieces.last(), Some(&Piece::State(last)));
	// While it is open, nothing is sent; neither after a kill.
	let (looked, heard, _) = standing.looks().await;
	assert!(matches!(looked, Err(TaskError::Transient(_))), "{looked:?}");
	assert_eq!(heard, []);
	let mut pledged = standing.stores();
	for left in (1..lacks).rev() {
		let (looked, heard, _) = standing.looks().await;
		assert!(matches!(looked, Err(TaskError::Transient(_))), "{looked:?}");
		assert_eq!(heard.first(), Some(&(left, 0, false)), "what is left is asked for");
		assert_eq!(heard.last().map(|(count, _, taken)| (*count, *taken)), Some((1, true)));
		pledged += standing.stores();
	}
	assert!(pledged < 4 * CHALLENGE * lacks as u128);
	// It has asked for everything.
	let (looked, heard, reported) = standing.looks().await;
	assert_eq!((looked, heard), (Ok(()), vec![]));
	assert_eq!(reported.iter().filter(|e| e["event"] == "asked").count(), lacks);
	assert!(reported.iter().any(|e| e["event"] == "looked_again"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seat_whose_owner_allows_less_says_so_and_tries_again() {
	let mut standing = Standing::new(18, Some(CHALLENGE / 16)).await;
	let (looked, heard, reported) = standing.looks().await;
	assert!(matches!(looked, Err(TaskError::Transient(_))), "{looked:?}");
	assert_eq!(heard.last(), Some(&(1, CHALLENGE / 16, false)));
	let refused = reported.iter().find(|e| e["event"] == "ask_refused");
	let why = refused.expect("it says so")["reason"].as_str().unwrap_or_default();
	assert!(why.contains("PledgeTooSmall"), "{why}");
	// The owner allows more.
	(standing.most, standing.best) = (None, 21);
	let (_, heard, _) = standing.looks().await;
	let part = CHALLENGE / 16;
	assert_eq!(heard, [(1, part, false), (1, 2 * part, false), (1, 4 * part, true)]);
}

/// What came after all is not asked for any more.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_seat_asked_for_by_a_pledge_is_withdrawn_when_it_is_here() {
	let mut standing = Standing::new(18, None).await;
	let (looked, _, _) = standing.looks().await;
	assert!(matches!(looked, Err(TaskError::Transient(_))), "{looked:?}");
	standing.block_time = Duration::from_secs(1);
	let url = format!("http://{}", standing.scene._server.address());
	for replica in &mut standing.scene.job.replicas {
		replica.reveal.as_mut().unwrap().location = Text::new(&url).unwrap();
	}
	let (looked, heard, reported) = standing.looks().await;
	assert_eq!((looked, heard), (Ok(()), vec![]));
	assert_eq!(standing.chain.lock().unwrap().withdrawn, 1);
	assert!(reported.iter().any(|e| e["event"] == "withdrawn"));
}
