use super::*;
use codec::{Decode, Encode};
use std::{path::PathBuf, sync::Mutex};
use trainyard_client::{
	court::ClaimView,
	fake::{self, FakeNode},
	AuditView, Call, JobView, TxError,
};
use trainyard_protocol::{
	audit::AuditPhase,
	job::JobState,
	pieces::{FREE_PIECES, LATE_PIECES},
	H256,
};

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
	assert_eq!(one.step(false, 120, 10, 4), Step::Ask(4), "its owner allows less by now");
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
			most: Some(MOST),
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

/// A result of which some pieces were stored while it stood: the chain asks for a pledge by the number of
/// those, as `places.rs` of the pallet does.
struct Dear {
	scene: Scene,
	/// What a challenge of the job puts at stake.
	challenge: Balance,
	/// The most that the owner allows.
	most: Option<Balance>,
	chain: Arc<Mutex<Shown>>,
}

/// What is on that chain.
#[derive(Default)]
struct Shown {
	best: u32,
	/// How many pieces were stored.
	late: u32,
	/// What is asked for.
	open: Option<ClaimView>,
	/// All claims that came, each with its pieces and its pledge, and whether it was taken.
	heard: Vec<(usize, Balance, bool)>,
	/// Whether the node goes away when it has taken a claim.
	goes_away: bool,
}

/// A deposit of a challenge of a small job.
const SMALL: Balance = 6_000_000_000_000;

impl Shown {
	/// Returns the least pledge for so many further pieces.
	fn least(&self, challenge: Balance, pieces: usize) -> Balance {
		let places = self.late..self.late + pieces as u32;
		let beyond = |place: u32| (place + 1).saturating_sub(FREE_PIECES);
		challenge / 16 * Balance::from(places.map(beyond).sum::<u32>())
	}

	fn answer(&mut self, challenge: Balance, call: &Call) -> Result<(), TxError> {
		assert_eq!(call.title(), "Verification.request");
		let (job, group, pieces, pledge) =
			<(u32, u32, Pieces, Balance)>::decode(&mut call.arguments()).unwrap();
		assert_eq!((job, group), (3, 1));
		let refused = match self.least(challenge, pieces.len()) {
			_ if self.open.is_some() => Some("Verification::AlreadyAsked"),
			_ if pieces.len() as u32 > LATE_PIECES => Some("Verification::TooManyPieces"),
			least => (pledge < least).then_some("Verification::PledgeTooSmall"),
		};
		self.heard.push((pieces.len(), pledge, refused.is_none()));
		if let Some(name) = refused {
			return Err(fails(name));
		}
		self.open = Some(ClaimView { group: 1, pieces, prepaid: 5, pledge, open: true, paid: 0 });
		match std::mem::take(&mut self.goes_away) {
			true => Err(TxError::Unknown { call: call.title(), reason: "it is away".into() }),
			false => Ok(()),
		}
	}
}

impl Dear {
	fn new(late: u32, most: Option<Balance>) -> Self {
		let chain = Shown { best: 100, late, ..Shown::default() };
		let chain = Arc::new(Mutex::new(chain));
		Self { scene: Scene::new(), challenge: SMALL, most, chain }
	}

	/// Does what is due in a process of its own, and returns what was heard on chain.
	async fn advance(
		&self,
		lacking: &[Piece],
	) -> (Result<bool, TaskError>, Vec<(usize, Balance, bool)>) {
		let own: Vec<ClaimView> = self.chain.lock().unwrap().open.clone().into_iter().collect();
		let best = self.chain.lock().unwrap().best;
		let audit = AuditView {
			challenge: self.challenge,
			..fake::audit(AuditPhase::Standing { until: 900 }, vec![])
		};
		let job = JobView { audit: Some(audit), ..fake::job(JobState::Auditing) };
		let node = FakeNode::new(move |method, _, _| match method {
			"TrainyardApi_job" => Ok(Some(job.clone()).encode()),
			_ => Err("no such method"),
		});
		let node = node.storing_claims(3, &me(), &own).at(best);
		let (shown, challenge) = (self.chain.clone(), self.challenge);
		let claims = Claims {
			chain: Arc::new(node.chain().await),
			teller: Teller::Test(Arc::new(move |call: &Call| {
				shown.lock().unwrap().answer(challenge, call)
			})),
			most: self.most,
			prepaid: 1_000_000,
			room: 1_000_000,
			..self.scene.claims(&[], best, vec![]).await
		};
		let of = (3, 1, &result());
		let done = claims.advance(of, (lacking, &sizes()), &self.scene.record(), 0).await;
		(done, std::mem::take(&mut self.chain.lock().unwrap().heard))
	}

	/// Its trainer stores what is asked for. Returns the pledge with that.
	fn stores(&self, lacking: &mut Vec<Piece>) -> Balance {
		let mut chain = self.chain.lock().unwrap();
		let claim = chain.open.take().expect("something is asked for");
		lacking.retain(|piece| !claim.pieces.contains(piece));
		chain.late += claim.pieces.len() as u32;
		chain.best += 40;
		claim.pledge
	}
}

fn states(all: impl IntoIterator<Item = u32>) -> Vec<Piece> {
	all.into_iter().map(Piece::State).collect()
}

/// The attack: a friend of the cheat had eighteen small pieces stored, for less than 1 TRY.
#[tokio::test]
async fn few_stored_pieces_keep_nobody_from_asking() {
	let dear = Dear::new(18, None);
	let mut lacking = states([3, 8, 11, 20, 27]);
	let least = dear.chain.lock().unwrap().least(SMALL, 5);
	assert_eq!(amount::format(least), "9.375 TRY");
	let (done, heard) = dear.advance(&lacking).await;
	assert_eq!(done, Ok(true));
	let tenths = |heard: Vec<(usize, Balance, bool)>| -> Vec<(usize, u64, bool)> {
		let part = |(count, pledge, taken): (usize, Balance, bool)| {
			(count, (pledge / 100_000_000_000) as u64, taken)
		};
		heard.into_iter().map(part).collect()
	};
	// Fewer pieces come before a larger pledge.
	let all = [(5, 0, false), (2, 0, false), (1, 0, false), (1, 15, true)];
	assert_eq!(tenths(heard), all);
	assert_eq!(dear.scene.recorded().pieces, states([3]));
	// While it is open nothing is sent.
	assert_eq!(dear.advance(&lacking).await, (Ok(true), vec![]));
	let mut pledged = dear.stores(&mut lacking);
	let (_, heard) = dear.advance(&lacking).await;
	let all = [(4, 0, false), (2, 0, false), (1, 0, false), (1, 15, true)];
	assert_eq!(tenths(heard), all, "what is left is asked for");
	for _ in 0..3 {
		pledged += dear.stores(&mut lacking);
		let (done, heard) = dear.advance(&lacking).await;
		assert_eq!(
			(done, heard.last().map(|(count, _, taken)| (*count, *taken))),
			(Ok(true), Some((1, true)))
		);
	}
	pledged += dear.stores(&mut lacking);
	assert!(lacking.is_empty());
	assert_eq!(amount::format(pledged), "12 TRY", "of which it has three quarters back");
	// The 80th piece is the last that the default pays for, and 130 deposits were pledged by then.
	let dear = Dear::new(79, None);
	assert_eq!(dear.advance(&states([3])).await.1.last(), Some(&(1, 4 * SMALL, true)));
	assert_eq!(Shown::default().least(SMALL, 80), 130 * SMALL);
	let dear = Dear::new(80, None);
	assert_eq!(dear.advance(&states([3])).await.1.last(), Some(&(1, 4 * SMALL, false)));
}

#[tokio::test]
async fn several_are_asked_for_at_a_time_where_that_is_free() {
	let dear = Dear::new(13, None);
	let mut lacking = states([3, 8, 11, 20, 27]);
	let (_, heard) = dear.advance(&lacking).await;
	assert_eq!(heard, [(5, 0, false), (2, 0, true)]);
	dear.stores(&mut lacking);
	assert_eq!(lacking, states([11, 20, 27]));
	assert_eq!(dear.advance(&lacking).await.1, [(3, 0, false), (1, 0, true)]);
}

/// What was asked for is on disk from before it is sent, so a kill asks for nothing twice.
#[tokio::test]
async fn a_kill_between_two_claims_changes_nothing() {
	let dear = Dear::new(18, None);
	let mut lacking = states([3, 8]);
	dear.chain.lock().unwrap().goes_away = true;
	let (done, heard) = dear.advance(&lacking).await;
	assert!(matches!(done, Err(TaskError::Transient(_))), "{done:?}");
	assert_eq!(heard.last().map(|(count, _, taken)| (*count, *taken)), Some((1, true)));
	let Claimed { pieces, pledge, open, .. } = dear.scene.recorded();
	assert_eq!((pieces, pledge, open), (states([3]), SMALL / 4, false));
	// It is on chain.
	assert_eq!(dear.advance(&lacking).await, (Ok(true), vec![]));
	dear.stores(&mut lacking);
	let (_, heard) = dear.advance(&lacking).await;
	assert_eq!(heard.last().map(|(count, _, taken)| (*count, *taken)), Some((1, true)));
	assert_eq!(dear.scene.recorded().pieces, states([8]));
	// It never came there: the same is sent again after a while, and no more.
	dear.chain.lock().unwrap().open = None;
	let claimed = Claimed { open: false, ..dear.scene.recorded() };
	put(&dear.scene.record(), &claimed).unwrap();
	let lacking = states([3, 8, 9]);
	assert_eq!(dear.advance(&lacking).await, (Ok(true), vec![]));
	dear.chain.lock().unwrap().best += SETTLED;
	assert_eq!(dear.advance(&lacking).await.1, [(1, SMALL / 4, true)]);
	assert_eq!(dear.scene.recorded().pieces, states([8]));
}

#[tokio::test]
async fn who_allows_less_is_refused_and_told_why() {
	let most = SMALL / 6;
	let dear = Dear::new(18, Some(most));
	let lacking = states([3, 8]);
	let (done, heard) = dear.advance(&lacking).await;
	assert_eq!((done, heard.last()), (Ok(true), Some(&(1, most, false))));
	let events = dear.scene.events();
	let why = "a further piece asks for a larger pledge than 1 TRY (--max-pledge)";
	assert!(events.contains("ask_refused") && events.contains(why), "{events}");
	// It tries again after a while, and says what it pledged.
	assert_eq!(dear.advance(&lacking).await, (Ok(true), vec![]));
	dear.chain.lock().unwrap().best += SETTLED;
	assert_eq!(dear.advance(&lacking).await.1, [(1, most, false)]);
	// Who has less than it would pledge is not asked again and again either.
	let scene = Scene::new();
	let fails = |name| Err(fails(name));
	let answers =
		vec![fails("Verification::PledgeTooSmall"), fails("Token error: Funds are unavailable")];
	assert_eq!(scene.advance((&[], 100), &states([2]), answers).await, Ok(true));
	assert_eq!((scene.sent().len(), scene.recorded().pledge), (2, MOST / 16));
	assert!(scene.events().contains("to pledge (--max-pledge)"), "{}", scene.events());
	assert_eq!(scene.advance((&[], 119), &states([2]), vec![]).await, Ok(true));
	assert_eq!(scene.sent(), [""; 0]);
}
