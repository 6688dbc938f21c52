use super::*;
use crate::roles::fetch;

/// An address at which nobody answers.
const NOBODY: &str = "http://127.0.0.1:1";

/// A seat that serves what it fetched at `location`.
fn seat(location: Option<&Text>) -> MemberView {
	MemberView { location: location.cloned(), ..fake::member(AccountId32([8; 32])) }
}

impl Scene {
	/// The trainers serve nobody any more, and neither does the submitter.
	pub(super) fn withhold(&mut self) {
		let nobody = Text::new(NOBODY).unwrap();
		for reveal in self.job.replicas.iter_mut().filter_map(|replica| replica.reveal.as_mut()) {
			reveal.location = nobody.clone();
		}
		self.job.spec.dataset.location = nobody;
	}

	/// The next audits have this seat in the place of another one.
	pub(super) fn seat(&mut self, seat: MemberView) {
		self.audit.committee[0] = seat;
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
	assert_eq!(other.unwrap().findings.verdicts, found.unwrap().findings.verdicts);
	// The state in which the two results part was not drawn: it came from the other seat as well.
	let reported = events(&second);
	assert!(reported.iter().any(|e| e["event"] == "parting" && e["segment"] == 5), "{reported:?}");
	assert!(reported.iter().all(|e| e["event"] != "asked"), "{reported:?}");
}

/// A trainer that gives each seat another part, and the data to one only, hides nothing.
#[tokio::test(flavor = "multi_thread")]
async fn parts_of_a_result_come_from_whoever_has_them() {
	let mut scene = scene().await;
	scene.audit.groups.remove(0);
	scene.job.replicas.remove(0);
	let (first, folder, found) = scene.found("served", false).await;
	let (spec, trained) = (scene.job.spec.clone(), scene.audit.groups[0].result.segments);
	let files = verify::required_files_of(&spec.check().unwrap(), trained, &DRAWN);
	assert!(files.len() > 3);
	let served = scene.folder.path().join("honest");
	for (at, file) in files.iter().enumerate() {
		let dir = if at % 2 == 0 { served.clone() } else { result_folder(&folder, 0) };
		std::fs::remove_file(dir.join(file)).unwrap();
	}
	// Only the trainer has the data.
	std::fs::remove_file(first.home.data(&scene.job.spec.dataset.content_hash)).unwrap();
	scene.job.spec.dataset.location = Text::new(NOBODY).unwrap();
	scene.seat(seat(first.relay.location()));
	let mut fetched = Fetched::default();
	fetched.add(&first.home, &scene.job, &scene.audit, &folder);
	first.relay.serve(fetched);
	let (second, _, other) = scene.found("relayed", false).await;
	assert_eq!(other.unwrap().findings.verdicts, found.unwrap().findings.verdicts);
	assert!(events(&second).iter().all(|e| e["event"] != "unavailable" && e["event"] != "asked"));
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
