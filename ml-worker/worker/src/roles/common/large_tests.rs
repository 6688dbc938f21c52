use super::*;
use crate::roles::report::Reporter;
use codec::Encode;
use std::sync::Mutex;
use trainyard_client::{
	fake::{self, FakeNode},
	AccountId32, RelaySeatView,
};
use trainyard_protocol::{
	audit::AuditPhase,
	job::{JobState, WorkResult},
};

const UNTIL: BlockNumber = 160;

fn seat(n: u8, shown: bool, lost: bool) -> RelaySeatView {
	let who = AccountId32([n; 32]);
	RelaySeatView { who, says: Some(true), shown, lost, due: None, location: None }
}

/// All rows of a job.
const ROWS: Piece = Piece::Rows { from: 0, to: 40 };

fn relay(index: u32, stage: RelayStage) -> RelayView {
	let until = match stage {
		RelayStage::Drawing { .. } | RelayStage::Seeding { .. } => None,
		_ => Some(UNTIL),
	};
	RelayView {
		id: 7,
		job: 3,
		group: 1,
		piece: Piece::State(index),
		chunks: 1_000,
		places: None,
		by: AccountId32([9; 32]),
		fee: 5,
		stage,
		until,
		appealed: false,
		seats: vec![
			seat(1, true, false),
			seat(2, false, false),
			seat(3, true, true),
			seat(4, true, false),
		],
	}
}

fn held(index: u32) -> RelayView {
	relay(index, RelayStage::Held { until: UNTIL })
}

/// A server may only have been away; then one relay is asked for, and what is not on chain is sent again.
#[test]
fn a_committee_is_asked_once_and_after_a_while() {
	let mut one = Lacked::default();
	assert_eq!(one.step(None, 100, 10), Step::Wait);
	assert_eq!(one.step(None, 109, 10), Step::Wait);
	assert_eq!(one.step(None, 110, 10), Step::Ask);
	one.asked = Some(110);
	assert_eq!(one.step(None, 129, 10), Step::Wait);
	assert_eq!(one.step(None, 130, 10), Step::Ask, "it was not on chain");
	one.asked = Some(130);
	let saying = relay(2, RelayStage::Saying { until: UNTIL });
	assert_eq!(one.step(Some(&saying), 131, 10), Step::Wait);
	assert_eq!(one.relay, Some(7));
	assert_eq!(one.step(None, 170, 10), Step::Over, "its relay has ended");
	let of_another = &mut Lacked::default();
	assert_eq!(of_another.step(Some(&saying), 100, 10), Step::Wait, "somebody else asked");
}

/// Those who say that they have it bring chunks, and then the answer is doubted.
#[test]
fn what_is_held_and_given_to_nobody_is_asked_for_and_doubted() {
	let mut one = Lacked::default();
	assert_eq!(one.step(Some(&held(2)), 100, 10), Step::Wait);
	assert_eq!(one.step(Some(&held(2)), 119, 10), Step::Wait);
	assert_eq!(one.step(Some(&held(2)), 120, 10), Step::AskSeats(7, vec![0, 3]));
	one.seats_asked = true;
	assert_eq!(one.step(Some(&held(2)), 139, 10), Step::Wait);
	assert_eq!(one.step(Some(&held(2)), 140, 10), Step::Doubt(7));
	let doubted = RelayView { appealed: true, ..held(2) };
	assert_eq!(one.step(Some(&doubted), 141, 10), Step::Wait, "only once");
	// The larger committee has an hour of its own.
	let lacking = relay(2, RelayStage::Lacking { until: UNTIL });
	assert_eq!(one.step(Some(&lacking), 150, 10), Step::Wait);
	assert_eq!((one.held, one.seats_asked), (None, false));
	one.over = true;
	assert_eq!(one.step(Some(&held(2)), 150, 10), Step::Over);
}

/// What [`Large`] did, on a chain with these relays at this height, which answers calls by `answer`.
struct Scene {
	folder: tempfile::TempDir,
	sent: Arc<Mutex<Vec<String>>>,
}

impl Scene {
	fn new() -> Self {
		Self { folder: tempfile::tempdir().unwrap(), sent: Arc::default() }
	}

	fn record(&self) -> std::path::PathBuf {
		self.folder.path().join("round").join("lacked-1.json")
	}

	fn recorded(&self) -> BTreeMap<Piece, Lacked> {
		load::<AllLacked>(&self.record()).unwrap().unwrap_or_default().0
	}

	fn sent(&self) -> Vec<String> {
		std::mem::take(&mut *self.sent.lock().unwrap())
	}

	/// What is done for the states of these checkpoints.
	async fn advance(
		&self,
		chain: (Vec<RelayView>, BlockNumber),
		lacking: &[u32],
		most: Balance,
		answer: fn() -> Result<(), TxError>,
	) -> Result<bool, TaskError> {
		let lacking: Vec<Piece> = lacking.iter().copied().map(Piece::State).collect();
		self.advance_for(chain, &lacking, most, answer).await
	}

	async fn advance_for(
		&self,
		(relays, best): (Vec<RelayView>, BlockNumber),
		lacking: &[Piece],
		most: Balance,
		answer: fn() -> Result<(), TxError>,
	) -> Result<bool, TaskError> {
		let node = FakeNode::new(move |method, _, _| match method {
			"TrainyardApi_relays_of" => Ok(relays.encode()),
			_ => Err("no such method"),
		});
		let log = self.folder.path().join("events.jsonl");
		let report = Reporter::new("verifier", true, Some(&log));
		let sent = self.sent.clone();
		let teller = Teller::Test(Arc::new(move |call: &Call| {
			sent.lock().unwrap().push(call.title());
			answer()
		}));
		let large = Large {
			chain: Arc::new(node.at(best).chain().await),
			teller,
			most: Some(most),
			room: 1_000,
			webhook: Webhook::new(report, None).unwrap(),
		};
		large.advance((3, 1), lacking, &self.record(), 0).await
	}
}

fn fails(name: &str) -> TxError {
	TxError::Failed { call: "a call".into(), name: name.into(), docs: String::new() }
}

#[tokio::test]
async fn one_state_is_asked_for_at_a_time_and_a_kill_asks_for_none_twice() {
	let scene = Scene::new();
	let waits = scene.advance((vec![], 100), &[2, 3], 50, || Ok(())).await;
	assert_eq!(waits, Ok(true));
	assert_eq!(scene.sent(), ["Verification.request_relay"]);
	assert_eq!(scene.recorded()[&Piece::State(2)].asked, Some(100));
	// It is on disk: another process knows.
	assert_eq!(scene.advance((vec![], 101), &[2, 3], 50, || Ok(())).await, Ok(true));
	let saying = relay(2, RelayStage::Saying { until: UNTIL });
	assert_eq!(scene.advance((vec![saying], 102), &[2, 3], 50, || Ok(())).await, Ok(true));
	assert_eq!(scene.sent(), [""; 0]);
	// It came, and the other one is asked for.
	assert_eq!(scene.advance((vec![held(2)], 103), &[3], 50, || Ok(())).await, Ok(true));
	assert_eq!(scene.sent(), ["Verification.request_relay"]);
	let log = std::fs::read_to_string(scene.folder.path().join("events.jsonl")).unwrap();
	assert_eq!(log.matches("relay_asked").count(), 2, "{log}");
}

#[tokio::test]
async fn what_is_too_dear_stays_lacking() {
	let scene = Scene::new();
	let too_dear = || Err(fails("Verification::RelayTooDear"));
	assert_eq!(scene.advance((vec![], 100), &[2], 1, too_dear).await, Ok(false));
	assert_eq!(scene.sent().len(), 1);
	assert!(scene.recorded()[&Piece::State(2)].over);
	assert_eq!(scene.advance((vec![], 200), &[2], 1, || Ok(())).await, Ok(false));
	assert_eq!(scene.sent(), [""; 0]);
	// What failed for another reason is tried again.
	let scene = Scene::new();
	let poor = || Err(fails("Token::FundsUnavailable"));
	assert!(matches!(
		scene.advance((vec![], 100), &[2], 50, poor).await,
		Err(TaskError::Failed(_))
	));
	assert_eq!(scene.recorded()[&Piece::State(2)], Lacked::default());
	assert_eq!(scene.advance((vec![], 101), &[2], 50, || Ok(())).await, Ok(true));
	assert_eq!(scene.sent().len(), 2);
}

#[tokio::test]
async fn seats_are_asked_before_their_answer_is_doubted_as_far_as_that_is_paid_for() {
	let scene = Scene::new();
	// 61 fees of 5.
	for (best, most, sent) in [
		(100, 305, ""),
		(120, 305, "Verification.ask_seats"),
		(121, 305, ""),
		(140, 304, ""),
		(141, 305, "Verification.appeal"),
	] {
		let waits = scene.advance((vec![held(2)], best), &[2], most, || Ok(())).await;
		assert_eq!(waits, Ok(true));
		let expected: Vec<&str> = if sent.is_empty() { vec![] } else { vec![sent] };
		assert_eq!(scene.sent(), expected, "{best}");
	}
	assert_eq!(scene.advance((vec![], 170), &[2], 305, || Ok(())).await, Ok(false), "it ended");
}

/// Rows are asked for as states are, and what is reported says which of them it is.
#[tokio::test]
async fn rows_are_asked_for_as_states_are() {
	let scene = Scene::new();
	let lacking = [ROWS, Piece::State(2)];
	let waits = scene.advance_for((vec![], 100), &lacking, 305, || Ok(())).await;
	assert_eq!(waits, Ok(true));
	assert_eq!(scene.sent(), ["Verification.request_relay"]);
	assert_eq!(scene.recorded()[&ROWS].asked, Some(100));
	let of_rows = || RelayView { piece: ROWS, ..held(2) };
	// It is held for 59 blocks.
	for (best, sent) in
		[(101, vec![]), (120, vec!["Verification.ask_seats"]), (139, vec!["Verification.appeal"])]
	{
		let waits = scene.advance_for((vec![of_rows()], best), &lacking, 305, || Ok(())).await;
		assert_eq!(waits, Ok(true));
		assert_eq!(scene.sent(), sent, "{best}");
	}
	// They came, and the state is asked for.
	assert_eq!(scene.advance((vec![of_rows()], 140), &[2], 305, || Ok(())).await, Ok(true));
	assert_eq!(scene.sent(), ["Verification.request_relay"]);
	for (step, text) in [
		(Step::Ask, "a committee is asked for the rows of the data, which nobody gives"),
		(Step::AskSeats(7, vec![0]), "seats are asked for chunks of the rows of the data"),
		(Step::Doubt(7), "it is doubted that seats have the rows of the data"),
	] {
		let (_, found) = step.in_words(&ROWS);
		assert!(found.starts_with(text), "{found}");
		let (_, found) = step.in_words(&Piece::State(2));
		assert!(found.starts_with(&text.replace("the rows of the data", "a state")), "{found}");
	}
}

/// A record that cannot be read is no reason to ask again for what may have been asked for.
#[tokio::test]
async fn a_damaged_record_is_said_and_nothing_is_asked() {
	let scene = Scene::new();
	assert_eq!(scene.advance((vec![], 100), &[2], 50, || Ok(())).await, Ok(true));
	scene.sent();
	// As it was written before rows were relayed, and cut.
	for text in ["{ \"2\": { \"since\": 100 } }", "[[{ \"state\": 2 }"] {
		std::fs::write(scene.record(), text).unwrap();
		let ended = scene.advance((vec![], 120), &[2], 50, || Ok(())).await;
		let Err(TaskError::Failed(why)) = ended else { panic!("{ended:?}") };
		assert!(why.contains("lacked-1.json cannot be understood"), "{why}");
		assert_eq!(scene.sent(), [""; 0]);
	}
}

#[tokio::test]
async fn what_a_rescue_carries_is_not_relayed() {
	let scene = Scene::new();
	let log = scene.folder.path().join("events.jsonl");
	let report = Reporter::new("verifier", true, Some(&log));
	let mut large = Large {
		chain: Arc::new(FakeNode::new(|_, _, _| Err("no such method")).at(1).chain().await),
		teller: Teller::Test(Arc::new(|_: &Call| Ok(()))),
		most: Some(0),
		room: 0,
		webhook: Webhook::new(report, None).unwrap(),
	};
	let spec = trainyard_program::spec::JobSpec::example().check().unwrap();
	// 1,797 rows of 64 inputs and a label.
	let (rows, state) = (1_797 * 65 * 4, bundle::max_checkpoint_bytes(&spec));
	let all = Piece::Rows { from: 0, to: 1_797 };
	for (room, is_large, large_rows) in [
		(0, true, Some(all)),
		(rows - 1, state > rows - 1, Some(all)),
		(rows, state > rows, None),
		(state - 1, true, (rows > state - 1).then_some(all)),
		(u64::MAX, false, None),
	] {
		large.room = room;
		assert_eq!((large.is_large(&spec), large.large_rows(&spec)), (is_large, large_rows));
	}
}

/// Where its owner names nothing, a relay may cost 50 TRY, or what two committees cost: of a dear job each has more.
#[tokio::test]
async fn without_a_limit_two_committees_are_paid_for() {
	const TRY: Balance = 1_000_000_000_000;
	let scene = Scene::new();
	let log = scene.folder.path().join("events.jsonl");
	let (bundle_root, model_root) = Default::default();
	let (true_root, segments, diverged) = (bundle_root, 30, false);
	let result = WorkResult { bundle_root, true_root, model_root, segments, diverged };
	let until = AuditPhase::Standing { until: 90 };
	let mut job = fake::job(JobState::Auditing);
	job.audit = Some(fake::audit(until, vec![fake::group(result)]));
	job.work = 6_000_000;
	// A fee is 6,000 TRY / 1,250.
	for (price, named, most) in
		[(TRY, None, 50 * TRY), (1_000 * TRY, None, 62 * 48 * TRY / 10), (1_000 * TRY, Some(7), 7)]
	{
		let mut job = job.clone();
		job.terms.price_per_ut = price;
		let node = FakeNode::new(move |method, _, _| match method {
			"TrainyardApi_job" => Ok(Some(job.clone()).encode()),
			_ => Err("no such method"),
		});
		let large = Large {
			chain: Arc::new(node.at(9).chain().await),
			teller: Teller::Test(Arc::new(|_: &Call| Ok(()))),
			most: named,
			room: 1_000,
			webhook: Webhook::new(Reporter::new("verifier", true, Some(&log)), None).unwrap(),
		};
		for piece in [Piece::Samples, Piece::State(3)] {
			assert_eq!(large.most_for((3, 0), piece).await, Ok(most), "{price} {piece:?}");
		}
	}
}
