use super::*;
use crate::roles::{
	common::{
		claims::Claims,
		large::{Large, Teller},
		webhook::Webhook,
	},
	disputes::accusing::{Accusations, Stakes},
	fetch::{Fetcher, Locations},
	report::Reporter,
	store::{Home, Quota},
	whistleblower::{bets::Bets, plan::Limits},
};
use codec::{Decode, Encode};
use std::{
	sync::{Arc, Mutex},
	time::Duration,
};
use trainyard_client::{
	fake::{self, FakeNode},
	AccountId32, Call, RelayView,
};
use trainyard_protocol::{job::JobState, pieces::Pieces, H256};

/// What was asked for, by which call.
type Sent = BTreeSet<(String, Vec<Piece>)>;

/// What is asked for on a chain that carries `room` bytes, by which call, of a result of which nothing is
/// here.
async fn asked(room: u64) -> Sent {
	asked_of(room, 3, async |whistleblower, looking, folder| {
		let waits = whistleblower.ask(looking, &[], folder, 40).await;
		assert_eq!(waits, Ok(true));
	})
	.await
}

/// What is asked for of a result of so many segments, where this is done in each of ten blocks.
async fn asked_of(
	room: u64,
	segments: u32,
	act: impl AsyncFn(&Whistleblower, &Looking<'_>, &Path),
) -> Sent {
	let folder = tempfile::tempdir().unwrap();
	let home = Arc::new(Home::open(&folder.path().join("home"), &H256::zero()).unwrap());
	let report = Reporter::new("whistleblower", true, Some(&home.events()));
	let node = FakeNode::new(|method, _, _| match method {
		"TrainyardApi_relays_of" => Ok(Vec::<RelayView>::new().encode()),
		_ => Err("no such method"),
	});
	let chain = Arc::new(node.growing().chain().await);
	let sent: Arc<Mutex<BTreeSet<(String, Vec<Piece>)>>> = Arc::default();
	let log = sent.clone();
	let teller = Teller::Test(Arc::new(move |call: &Call| {
		let (title, arguments) = (call.title(), call.arguments());
		let mut arguments = &arguments[..];
		let pieces = match title.as_str() {
			"Verification.request_relay" => {
				let (_, _, piece) = <(u32, u32, Piece)>::decode(&mut arguments).unwrap();
				vec![piece]
			}
			_ => <(u32, u32, Pieces)>::decode(&mut arguments).unwrap().2.into_inner(),
		};
		log.lock().unwrap().insert((title, pieces));
		Ok(())
	}));
	let me = AccountId32([1; 32]);
	let stakes = Stakes { most: 10, reserve: 0, open: 4 };
	let (accusations, _) = Accusations::open(me, &home.disputes(), stakes, report.clone()).unwrap();
	let webhook = Webhook::new(report.clone(), None).unwrap();
	let whistleblower = Whistleblower {
		large: Large {
			chain: chain.clone(),
			teller: teller.clone(),
			most: Some(50),
			room,
			webhook,
		},
		claims: Claims {
			me,
			chain,
			teller,
			most: Some(0),
			prepaid: u128::MAX,
			byte: 1,
			room,
			report: report.clone(),
		},
		bets: Bets { sender: None, most: 0, reserve: 0, report: report.clone() },
		fetcher: Fetcher::new(1, Duration::from_millis(10), Locations::Any).unwrap(),
		limits: Limits { segments: 2, work: u64::MAX, data: u64::MAX, memory: 0 },
		machine: Default::default(),
		quota: Quota::of(u64::MAX),
		accusations: Arc::new(accusations),
		needed: Default::default(),
		refused: Default::default(),
		report,
		home,
	};
	let (bundle_root, model_root) = Default::default();
	let (true_root, diverged) = (bundle_root, false);
	let result = WorkResult { bundle_root, true_root, model_root, segments, diverged };
	let standing = AuditPhase::Standing { until: 40 };
	let audit = Some(fake::audit(standing, vec![fake::group(result)]));
	let job = JobView { audit, ..fake::job(JobState::Auditing) };
	let spec = job.spec.clone().check().unwrap();
	let looking = Looking { job: &job, spec: &spec, result: &result, servers: &[] };
	// Blocks pass meanwhile, so that a server could have come back.
	for _ in 0..10 {
		act(&whistleblower, &looking, &folder.path().join("result")).await;
	}
	let sent = sent.lock().unwrap().clone();
	sent
}

/// Samples are asked of a committee, once, where a segment can be picked by them.
#[tokio::test]
async fn samples_are_asked_for_where_a_segment_can_be_picked() {
	let relay = ("Verification.request_relay".to_owned(), vec![Piece::Samples]);
	for (segments, asked) in [(3, [relay].into()), (2, Sent::new())] {
		let waits = segments == 3;
		let sent = asked_of(u64::MAX, segments, async |whistleblower, looking, folder| {
			assert_eq!(whistleblower.ask_samples(looking, folder).await, Ok(waits));
		});
		assert_eq!(sent.await, asked, "{segments}");
	}
}

/// Rows that no block carries are asked of a committee, and smaller ones by a claim.
#[tokio::test]
async fn rows_are_claimed_where_blocks_carry_them_and_relayed_where_none_does() {
	let spec = trainyard_program::spec::JobSpec::example().check().unwrap();
	let sizes = sizes_of(&spec);
	let bytes: u64 = sizes.contents().iter().sum();
	let claim = |pieces: &[Piece]| ("Verification.request".to_owned(), pieces.to_vec());
	let relay = ("Verification.request_relay".to_owned(), vec![sizes.all_rows()]);
	let small = asked(bytes + 1_000).await;
	assert_eq!(small, [claim(&[Piece::Leaves, sizes.all_rows()])].into());
	let large = asked(bytes - 1).await;
	assert_eq!(large, [claim(&[Piece::Leaves]), relay].into());
}
