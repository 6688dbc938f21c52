//! What audits leave on the disk, and what makes room for them.

use super::*;

/// A verifier that has served `old`, and has data that nobody needs; with the bytes of its folder.
fn with_leftovers(verifier: &Verifier) -> (PathBuf, PathBuf, u64) {
	let old = verifier.home.audit_folder(2, 0, &"an audit that is over");
	let findings = fake::findings(vec![GroupVerdict::Unavailable]);
	let record = FindingsRecord::new(2, 0, findings, Default::default());
	verifier.home.save_findings(&old, &record).unwrap();
	let state = result_folder(&old, 0).join("checkpoints");
	std::fs::create_dir_all(&state).unwrap();
	std::fs::write(state.join("0.safetensors"), vec![1; 1 << 20]).unwrap();
	let idle = verifier.home.data(&H256::repeat_byte(8));
	std::fs::write(&idle, vec![8; 1 << 20]).unwrap();
	(old, idle, verifier.home.used().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_other_audits_left_makes_room_and_a_full_disk_is_no_verdict() {
	let scene = scene().await;
	let checked = scene.job.spec.clone().check().unwrap();
	let each = scene
		.audit
		.groups
		.iter()
		.map(|g| room::needed(&scene.audit, &checked, g, 1 << 20))
		.sum::<u64>();
	// Room for this audit alone, within what is there already.
	let mut verifier = verifier(&scene.folder.path().join("full")).await;
	verifier.block_time = Duration::from_millis(100);
	let (old, idle, used) = with_leftovers(&verifier);
	let folder = verifier.folder(&scene.job, &scene.audit);
	let audit = |verifier: Verifier| {
		let (job, audit, folder) = (scene.job.clone(), scene.audit.clone(), folder.clone());
		async move {
			let stop = Arc::new(AtomicBool::new(false));
			verifier.audit(&job, &audit, &folder, 1, stop).await.unwrap();
			let found = verifier.home.load_findings(&folder).unwrap().unwrap();
			std::fs::remove_file(folder.join("findings.json")).unwrap();
			(verifier, found.findings.verdicts)
		}
	};
	let files = 2 * (checked.file_bytes() + kept::length(&checked.dataset));
	verifier.space = Space::new(Quota::of(used - (2 << 20) + each + files - 1));
	let (mut verifier, found) = audit(verifier).await;
	assert!(found.contains(&GroupVerdict::Unavailable), "one byte is missing for both: {found:?}");
	let reported = events(&verifier);
	let says = |e: &Value| e["event"] == "failed_attempt" && e["action"] == "fetch";
	assert!(reported.iter().any(says), "{reported:?}");

	std::fs::remove_dir_all(&folder).unwrap();
	// The files of the job are in the cache now.
	let (_, _, used) = with_leftovers(&verifier);
	// Its events are written meanwhile.
	verifier.space = Space::new(Quota::of(used - (2 << 20) + each + (1 << 16)));
	let (verifier, found) = audit(verifier).await;
	assert!(matches!(found[1], GroupVerdict::Replayed(_)), "{found:?}");
	assert!(!result_folder(&old, 0).exists() && !idle.exists());
	assert!(verifier.home.load_findings(&old).unwrap().is_some(), "its salt is still there");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_in_the_cache_and_what_was_fetched_take_no_room_from_other_results() {
	let scene = scene().await;
	let checked = scene.job.spec.clone().check().unwrap();
	let mut verifier = verifier(&scene.folder.path().join("full")).await;
	let folder = verifier.folder(&scene.job, &scene.audit);
	let groups = &scene.audit.groups;
	let [first, second] = [0, 1].map(|index| result_folder(&folder, index));
	let states: u64 = groups.iter().map(|g| room::needed(&scene.audit, &checked, g, 1 << 20)).sum();
	let files = checked.file_bytes() + kept::length(&checked.dataset);
	// Room for the states of both results, and for the files of the job and their rows once.
	verifier.space = Space::new(Quota::of(verifier.home.used().unwrap() + states + files));
	let _first = verifier.claim(&scene.audit, &checked, &groups[0], &first).unwrap().ok().unwrap();
	let other = || verifier.claim(&scene.audit, &checked, &groups[1], &second).unwrap();
	assert_eq!(other().err(), Some(files), "each may fetch them");
	// The first one has fetched and decoded them, and they went into the cache.
	let table = scene.folder.path().join("table.csv");
	std::fs::copy(&table, verifier.home.data(&checked.dataset.content_hash)).unwrap();
	trainyard_proof::inputs::Inputs::load(&checked, &verifier.home.inputs(&checked)).unwrap();
	let copy = second.join(bundle::input_file(InputFile::Data));
	std::fs::create_dir_all(&second).unwrap();
	std::fs::copy(&table, &copy).unwrap();
	std::fs::write(second.join("dataset.csv.0011223344556677.part"), b"a,b").unwrap();
	assert_eq!(other().err(), Some(files), "the first one still claims them");
	assert_eq!(std::fs::read_dir(&second).unwrap().count(), 0);
	verifier.has_fetched(&checked, &first).unwrap();
	assert!(other().is_ok());
	// It was not enough: the states may have to be fetched again, the files not.
	verifier.fetches_again(&scene.audit, &checked, &groups[0], &first);
	assert!(other().is_ok());
	std::fs::write(folder.join("byte"), b"x").unwrap();
	assert_eq!(other().err(), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_folder_of_an_audit_goes_some_time_after_it_is_over() {
	let dir = tempfile::tempdir().unwrap();
	let folder = |verifier: &Verifier, job| {
		let folder = verifier.home.audit_folder(job, 0, &job);
		std::fs::create_dir_all(result_folder(&folder, 0)).unwrap();
		folder
	};
	let node = FakeNode::new(|method, arguments, _| match method {
		"TrainyardApi_protocol_version" => Ok(PROTOCOL_VERSION.encode()),
		// The chain has forgotten job 1.
		"TrainyardApi_job" if *arguments == 1u32.encode() => Ok(None::<JobView>.encode()),
		"TrainyardApi_job" => Ok(Some(fake::job(JobState::Ended(Ending::Settled))).encode()),
		_ => Err("no such method"),
	});
	let verifier = verifier_on(dir.path(), node).await;
	let [forgotten, ended, another, wanted] = [1, 2, 3, 4].map(|job| folder(&verifier, job));
	let active = [3, 4].map(|id| JobView { id, ..fake::job(JobState::Auditing) });
	let still = HashSet::from([wanted.clone()]);
	let look = |number| {
		let (verifier, active, still) = (&verifier, &active, &still);
		async move {
			let head = Head { hash: fake::hash(1), number };
			verifier.tidy(active, still, head).await.unwrap();
		}
	};
	// A node that imports several blocks at once shows none of the round heights.
	for number in [1_003, 1_009, 1_051, 1_103, 1_109] {
		look(number).await;
		assert!(ended.exists() && another.exists(), "a reorganisation may bring it back");
	}
	look(1_113).await;
	assert!(!ended.exists() && !another.exists());
	assert!(wanted.exists() && forgotten.exists(), "a node may not have read its chain yet");
	let removed = events(&verifier).iter().filter(|e| e["event"] == "removed").count();
	assert_eq!(removed, 2);
}
