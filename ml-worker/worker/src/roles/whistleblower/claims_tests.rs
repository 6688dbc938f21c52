use super::*;
use std::{path::PathBuf, sync::Mutex};
use trainyard_client::{court::ClaimView, fake::FakeNode, Call, TxError};
use trainyard_protocol::H256;

const MOST: Balance = 64;

fn me() -> AccountId32 {
	AccountId32([1; 32])
}

fn fails(name: &str) -> TxError {
	TxError::Failed { call: "a call".into(), name: name.into(), docs: String::new() }
}

/// It begins without a pledge, and doubles it each time that somebody took its place.
#[test]
fn who_is_displaced_pledges_more_as_far_as_its_owner_allows() {
	let mut one = Claimed::default();
	assert_eq!(one.step(false, 100, 10, MOST), Step::Wait);
	assert_eq!(one.step(false, 109, 10, MOST), Step::Wait, "a server may only have been away");
	let mut pledges = Vec::new();
	for best in 110..116 {
		let Step::Ask(pledge) = one.step(false, best, 10, MOST) else { panic!("{best}") };
		one = Claimed { asked: Some(best), pledge, open: false, ..one };
		pledges.push(pledge);
		assert_eq!(one.step(true, best, 10, MOST), Step::Wait, "it is open");
	}
	assert_eq!(pledges, [0, 4, 8, 16, 32, 64]);
	// With the most there is nothing to add: it tries again after a while.
	assert_eq!(one.step(false, 134, 10, MOST), Step::Wait);
	assert_eq!(one.step(false, 135, 10, MOST), Step::Ask(64));
	one.over = true;
	assert_eq!(one.step(false, 200, 10, MOST), Step::Over);
}

#[test]
fn what_is_not_known_to_have_come_is_sent_again_as_it_was() {
	let mut one = Claimed { since: Some(90), asked: Some(100), pledge: 8, ..Claimed::default() };
	assert_eq!(one.step(false, 119, 10, MOST), Step::Wait);
	assert_eq!(one.step(false, 120, 10, MOST), Step::Ask(8));
	assert_eq!(
		[raised(0, 0), raised(0, 3), raised(3, 4), raised(4, 4)],
		[None, Some(1), Some(4), None]
	);
}

/// What [`Claims`] did, on a chain with these claims of its own, which answers calls in this order.
struct Scene {
	folder: tempfile::TempDir,
	sent: Arc<Mutex<Vec<String>>>,
}

fn result() -> WorkResult {
	let root = H256::zero();
	WorkResult {
		bundle_root: root,
		true_root: root,
		model_root: root,
		segments: 30,
		diverged: false,
	}
}

/// Of which a state has 1,000 bytes.
fn sizes() -> PieceSizes {
	PieceSizes { state: 1_000, ..PieceSizes::default() }
}

fn claim(open: bool, pledge: Balance) -> ClaimView {
	let pieces = Pieces::try_from(vec![Piece::State(2)]).unwrap();
	ClaimView { group: 1, pieces, prepaid: 5, pledge, open, paid: 0 }
}

impl Scene {
	fn new() -> Self {
		Self { folder: tempfile::tempdir().unwrap(), sent: Arc::default() }
	}

	fn record(&self) -> PathBuf {
		self.folder.path().join("result").join("claimed.json")
	}

	fn recorded(&self) -> Claimed {
		load(&self.record()).unwrap().unwrap_or_default()
	}

	fn sent(&self) -> Vec<String> {
		std::mem::take(&mut *self.sent.lock().unwrap())
	}

	async fn claims(
		&self,
		own: &[ClaimView],
		best: u32,
		answers: Vec<Result<(), TxError>>,
	) -> Claims {
		let node = FakeNode::new(|_, _, _| Err("no such method")).storing_claims(3, &me(), own);
		let (sent, answers) = (self.sent.clone(), Mutex::new(answers.into_iter()));
		let log = self.folder.path().join("events.jsonl");
		Claims {
			me: me(),
			chain: Arc::new(node.at(best).chain().await),
			teller: Teller::Test(Arc::new(move |call: &Call| {
				sent.lock().unwrap().push(call.title());
				answers.lock().unwrap().next().unwrap_or(Ok(()))
			})),
			most: MOST,
			prepaid: 2_000,
			byte: 1,
			room: 1_500,
			report: Reporter::new("whistleblower", true, Some(&log)),
		}
	}

	async fn advance(
		&self,
		(own, best): (&[ClaimView], u32),
		lacking: &[Piece],
		answers: Vec<Result<(), TxError>>,
	) -> Result<bool, TaskError> {
		let claims = self.claims(own, best, answers).await;
		let of = (3, 1, &result());
		claims.advance(of, (lacking, &sizes()), &self.record(), 0).await
	}

	fn events(&self) -> String {
		std::fs::read_to_string(self.folder.path().join("events.jsonl")).unwrap_or_default()
	}
}

/// A crowd has all places: it pledges more at once, until it has one.
#[tokio::test]
async fn what_is_refused_is_asked_for_with_more() {
	let scene = Scene::new();
	let full = |name| Err(fails(name));
	let answers = vec![
		full("Verification::TooManyClaims"),
		full("Verification::PledgeTooSmall"),
		full("Verification::TooManyBytes"),
		Ok(()),
	];
	let lacking = [Piece::State(2)];
	assert_eq!(scene.advance((&[], 100), &lacking, answers).await, Ok(true));
	assert_eq!(scene.sent(), vec!["Verification.request"; 4]);
	let Claimed { asked, pledge, open, .. } = scene.recorded();
	assert_eq!((asked, pledge, open), (Some(100), 16, true));
	assert!(scene.events().contains("\"event\":\"asked\""), "{}", scene.events());
	// While it is open nothing is sent, by another process either.
	assert_eq!(scene.advance((&[claim(true, 16)], 103), &lacking, vec![]).await, Ok(true));
	assert_eq!(scene.sent(), [""; 0]);
	// It is open no more, and what it asked for is not stored.
	assert_eq!(scene.advance((&[], 104), &lacking, vec![]).await, Ok(true));
	assert_eq!((scene.sent().len(), scene.recorded().pledge), (1, 32));
	// With the most there is still no room: it is tried again after a while.
	let answers = (0..9).map(|_| full("Verification::TooManyPieces")).collect();
	assert_eq!(scene.advance((&[], 105), &lacking, answers).await, Ok(true));
	assert_eq!((scene.sent().len(), scene.recorded().pledge), (1, MOST));
	assert!(scene.events().contains("ask_refused"), "{}", scene.events());
	assert_eq!(scene.advance((&[], 110), &lacking, vec![]).await, Ok(true));
	assert_eq!(scene.sent(), [""; 0]);
	// What came by then is no matter: another piece is asked for without a pledge.
	assert_eq!(scene.advance((&[], 111), &[Piece::State(9)], vec![]).await, Ok(true));
	let Claimed { pledge, pieces, .. } = scene.recorded();
	assert_eq!((scene.sent().len(), pledge, pieces), (1, 0, vec![Piece::State(9)]));
}

#[tokio::test]
async fn as_much_is_asked_for_as_there_is_money_and_room_for() {
	let scene = Scene::new();
	let lacking = [Piece::State(2), Piece::State(3), Piece::Leaves];
	assert_eq!(scene.advance((&[], 100), &lacking, vec![]).await, Ok(true));
	assert_eq!(scene.recorded().pieces, [Piece::State(2)], "two states are more than a rescue");
	let scene = Scene::new();
	let claims = Claims { prepaid: 999, ..scene.claims(&[], 100, vec![]).await };
	let of = (3, 1, &result());
	let asked = claims.advance(of, (&[Piece::State(2)], &sizes()), &scene.record(), 0).await;
	assert_eq!(asked, Ok(false));
	assert!(scene.recorded().over && scene.sent().is_empty());
	assert!(scene.events().contains("--max-claim"), "{}", scene.events());
}

#[tokio::test]
async fn what_passes_is_waited_for_and_what_does_not_is_over() {
	let lacking = [Piece::State(2)];
	for name in PASSING {
		let scene = Scene::new();
		assert_eq!(scene.advance((&[], 100), &lacking, vec![Err(fails(name))]).await, Ok(true));
		assert!(!scene.recorded().over, "{name}");
	}
	for name in FINAL {
		let scene = Scene::new();
		assert_eq!(scene.advance((&[], 100), &lacking, vec![Err(fails(name))]).await, Ok(false));
		assert_eq!(scene.advance((&[], 190), &lacking, vec![]).await, Ok(false));
		assert_eq!(scene.sent().len(), 1, "{name}");
	}
	// What certainly is not on chain is sent again.
	let scene = Scene::new();
	let poor = vec![Err(fails("Token::FundsUnavailable"))];
	let failed = scene.advance((&[], 100), &lacking, poor).await;
	assert!(matches!(failed, Err(TaskError::Failed(_))));
	assert_eq!(scene.recorded(), Claimed { since: Some(100), ..Claimed::default() });
	assert_eq!(scene.advance((&[], 101), &lacking, vec![]).await, Ok(true));
	assert_eq!(scene.sent().len(), 2);
}

#[tokio::test]
async fn what_came_is_withdrawn_once() {
	let scene = Scene::new();
	let claims = scene.claims(&[claim(true, 0)], 100, vec![]).await;
	claims.withdraw(3, 1, &scene.record()).await;
	assert_eq!(scene.sent(), [""; 0], "this account asked for nothing here");
	let asked = Claimed { asked: Some(90), ..Claimed::default() };
	put(&scene.record(), &asked).unwrap();
	claims.withdraw(3, 1, &scene.record()).await;
	assert_eq!(scene.sent(), ["Verification.withdraw_request"]);
	assert!(!scene.record().exists() && scene.events().contains("withdrawn"));
	// Stored, or displaced: there is nothing to withdraw.
	put(&scene.record(), &asked).unwrap();
	scene.claims(&[claim(false, 0)], 100, vec![]).await.withdraw(3, 1, &scene.record()).await;
	assert!(scene.sent().is_empty() && !scene.record().exists());
	// Where that fails it is tried again.
	put(&scene.record(), &asked).unwrap();
	let away = vec![Err(fails("Token::Frozen"))];
	scene.claims(&[claim(true, 0)], 100, away).await.withdraw(3, 1, &scene.record()).await;
	assert!(scene.record().exists());
}
