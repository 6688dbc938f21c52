use super::*;
use crate::roles::{fetch, verifier::relay::Fetched};

/// An address at which nobody answers.
const NOBODY: &str = "http://127.0.0.1:1";

/// A seat that serves what it fetched at `location`.
fn seat(location: Option<&Text>) -> MemberView<AccountId32> {
	MemberView {
		verifier: AccountId32([8; 32]),
		commitment: None,
		findings: None,
		location: location.cloned(),
	}
}

impl Scene {
	/// The trainers serve nobody any more, and neither does the submitter.
	fn withhold(&mut self) {
		let nobody = Text::new(NOBODY).unwrap();
		for reveal in self.job.replicas.iter_mut().filter_map(|replica| replica.reveal.as_mut()) {
			reveal.location = nobody.clone();
		}
		self.job.spec.dataset.location = nobody;
	}

	/// The next audits have this seat as well.
	fn seat(&mut self, seat: MemberView<AccountId32>) {
		self.audit.committee = vec![seat];
		self.job.audit = Some(self.audit.clone());
	}
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_served_serves_all() {
	let mut scene = scene().await;
	let (first, folder, found) = scene.found("served", false).await;
	scene.withhold();
	scene.seat(seat(first.relay.location()));
	let mut fetched = Fetched::default();
	fetched.add(&first.home, &scene.job, &scene.audit, &folder);
	first.relay.serve(fetched);
	let (second, _, other) = scene.found("relayed", false).await;
	assert_eq!(other.unwrap().findings, found.unwrap().findings);
	// The state in which the two results part was not drawn: it came from the other seat as well.
	let reported = events(&second);
	assert!(reported.iter().any(|e| e["event"] == "parting" && e["segment"] == 5), "{reported:?}");
	assert!(reported.iter().all(|e| e["event"] != "asked"), "{reported:?}");
}

/// What a seat replayed and found is nobody's business: whoever copied it would be paid for no work.
#[tokio::test(flavor = "multi_thread")]
async fn a_seat_serves_nothing_that_it_found() {
	let mut scene = scene().await;
	let (verifier, folder, _) = scene.found("served", false).await;
	scene.seat(seat(None));
	let mut fetched = Fetched::default();
	fetched.add(&verifier.home, &scene.job, &scene.audit, &folder);
	verifier.relay.serve(fetched);
	let location = verifier.relay.location().unwrap().to_string_lossy();
	let base = fetch::server(&location).unwrap();
	let result = scene.audit.groups[1].result;
	let status = async |path: &str| {
		let url = format!("{base}/bundle/{}/{path}", hex::encode(result.bundle_root));
		reqwest::get(url).await.unwrap().status().as_u16()
	};
	assert_eq!(status("manifest.json").await, 200);
	assert!(folder.join("findings.json").is_file() && folder.join("replays").is_dir());
	let mut found = vec!["findings.json".to_owned(), "../findings.json".to_owned()];
	for entry in std::fs::read_dir(folder.join("replays")).unwrap() {
		let name = entry.unwrap().file_name().into_string().unwrap();
		found.extend([format!("replays/{name}"), format!("../replays/{name}")]);
	}
	assert!(found.len() > 2);
	for path in found {
		assert_eq!(status(&path).await, 404, "{path}");
	}
	// An audit in which it does not sit any more is not served.
	verifier.relay.serve(Fetched::default());
	assert_eq!(status("manifest.json").await, 404);
}
