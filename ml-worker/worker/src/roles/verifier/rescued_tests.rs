//! What trainers stored on chain: only what is right of it is taken over.

use super::*;
use std::sync::Mutex;

/// Roots and numbers of chunks.
type Reads = Arc<Mutex<Vec<(H256, u32)>>>;

/// A chain on which these blobs are stored, and the chunks that were read of them. A chunk for which
/// `stalls` is true cannot be read.
fn stored(
	blobs: Vec<Vec<u8>>,
	stalls: impl Fn(u32, usize) -> bool + Send + Sync + 'static,
) -> (FakeNode, Reads) {
	let (node, reads) = storing(blobs, stalls);
	(node.without_head(), reads)
}

/// The same, of which the best block is known.
fn storing(
	blobs: Vec<Vec<u8>>,
	stalls: impl Fn(u32, usize) -> bool + Send + Sync + 'static,
) -> (FakeNode, Reads) {
	let reads = Arc::new(Mutex::new(Vec::new()));
	let log = reads.clone();
	let bytes_of = move |root: H256| {
		blobs.iter().find(|bytes| Chunked::new(bytes).root == root).cloned().ok_or("no such blob")
	};
	let node = FakeNode::new(move |method, arguments, _| match method {
		"TrainyardApi_blob" => {
			let bytes = bytes_of(H256::decode(&mut &arguments[..]).unwrap())?;
			let (size, chunks) = (bytes.len() as u64, Chunked::new(&bytes).chunks.len() as u32);
			let owner = AccountId32([1; 32]);
			Ok(Some(BlobView {
				owner,
				size,
				chunks,
				missing: vec![],
				expires: 90,
				removing: false,
			})
			.encode())
		}
		"trainyard_modelChunk" => {
			let (root, index) = <(H256, u32)>::decode(&mut &arguments[..]).unwrap();
			let mut log = log.lock().unwrap();
			log.push((root, index));
			let times = log.iter().filter(|read| **read == (root, index)).count();
			match stalls(index, times) {
				true => Err("the node stalls"),
				false => Ok(Chunked::new(&bytes_of(root)?).chunks[index as usize].to_vec()),
			}
		}
		_ => Err("no such method"),
	});
	(node, reads)
}

/// A scene with the honest result alone, which nobody serves and whose files are in the folder given.
async fn withheld() -> (Scene, PathBuf, CheckedSpec) {
	let mut scene = scene().await;
	scene.audit.groups.remove(0);
	scene.job.replicas.clear();
	let (dir, spec) = (scene.folder.path().join("honest"), scene.job.spec.clone().check().unwrap());
	(scene, dir, spec)
}

/// What every audit of this result reads.
fn read_of(scene: &Scene, dir: &Path, spec: &CheckedSpec) -> Vec<String> {
	let [group] = &scene.audit.groups[..] else { panic!() };
	verify::rescue_files(dir, spec, group.result.segments, &DRAWN).unwrap()
}

fn root_of(archive: &[u8]) -> H256 {
	Chunked::new(archive).root
}

/// An archive with the same names, and wrong bytes under each.
fn garbage(files: &[String]) -> Vec<u8> {
	let dir = tempfile::tempdir().unwrap();
	std::fs::create_dir(dir.path().join("checkpoints")).unwrap();
	for file in files {
		std::fs::write(dir.path().join(file), format!("{{ {file}")).unwrap();
	}
	bundle::archive::pack(dir.path(), files).unwrap()
}

/// Audits the result of `scene`, and returns the verdict.
async fn judged(scene: &Scene, verifier: &Verifier) -> GroupVerdict {
	let folder = verifier.folder(&scene.job, &scene.audit);
	let stop = Arc::new(AtomicBool::new(false));
	verifier.audit(&scene.job, &scene.audit, &folder, 1, stop).await.unwrap();
	let found = verifier.home.load_findings(&folder).unwrap().unwrap();
	std::fs::remove_file(folder.join("findings.json")).unwrap();
	found.findings.verdicts[0].clone()
}

/// A machine that stalls must not begin again with the first chunk: its time would never be enough.
#[tokio::test(flavor = "multi_thread")]
async fn a_rescue_whose_reading_broke_off_goes_on_and_is_judged() {
	let (mut scene, dir, checked) = withheld().await;
	let files = read_of(&scene, &dir, &checked);
	let archive = bundle::archive::pack(&dir, &files).unwrap();
	scene.audit.groups[0].rescued = vec![root_of(&archive)];
	let (node, asked) = stored(vec![archive.clone()], |index, times| index == 2 && times == 1);
	let verifier = verifier_on(&scene.folder.path().join("rescued"), node).await;
	let verdict = judged(&scene, &verifier).await;
	assert!(matches!(verdict, GroupVerdict::Replayed(_)), "{verdict:?}");
	let asked = asked.lock().unwrap();
	let times = |index: u32| asked.iter().filter(|read| read.1 == index).count();
	assert_eq!((times(0), times(1), times(2)), (1, 1, 2), "{asked:?}");
	// The chunks are gone, and the room for them was claimed.
	let folder = verifier.folder(&scene.job, &scene.audit);
	let names = std::fs::read_dir(result_folder(&folder, 0)).unwrap();
	let names: Vec<_> = names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
	assert!(names.iter().all(|name| !name.ends_with(".part")), "{names:?}");
	let [rescued] = &scene.audit.groups[..] else { panic!() };
	let served = GroupView { rescued: vec![], ..rescued.clone() };
	let more = room::needed(&scene.audit, &checked, rescued, 0)
		- room::needed(&scene.audit, &checked, &served, 0);
	assert!(more >= archive.len() as u64 + checked.file_bytes());
}

/// The attack: a trainer of the same result stores garbage under the names of all files, and every seat
/// that had the right ones loses them at the same moment.
#[tokio::test(flavor = "multi_thread")]
async fn garbage_replaces_nothing_and_is_read_once() {
	let (mut scene, dir, spec) = withheld().await;
	let files = read_of(&scene, &dir, &spec);
	let (wrong, none) = (garbage(&files), b"this is no archive".to_vec());
	scene.audit.groups[0].rescued = vec![root_of(&wrong), root_of(&none)];
	let (node, reads) = stored(vec![wrong.clone(), none.clone()], |_, _| false);
	let verifier = verifier_on(&scene.folder.path().join("seat"), node).await;
	// It lacks one state, so that it looks at what is on chain.
	let folder = result_folder(&verifier.folder(&scene.job, &scene.audit), 0);
	std::fs::create_dir_all(folder.join("checkpoints")).unwrap();
	let (last, here) = files.split_last().unwrap();
	let lacks = files.iter().find(|file| file.starts_with("checkpoints/")).unwrap();
	assert!(!last.starts_with("checkpoints/"), "the data are at the end");
	for file in here.iter().filter(|file| *file != lacks) {
		std::fs::copy(dir.join(file), folder.join(file)).unwrap();
	}
	std::fs::copy(dir.join(last), folder.join(last)).unwrap();
	assert_eq!(judged(&scene, &verifier).await, GroupVerdict::Unavailable);
	for file in here.iter().filter(|file| *file != lacks) {
		let same =
			std::fs::read(dir.join(file)).unwrap() == std::fs::read(folder.join(file)).unwrap();
		assert!(same, "{file}");
	}
	assert!(!folder.join(lacks).exists());
	let once = reads.lock().unwrap().len();
	assert_eq!(once, 2, "a chunk of each");
	// What is neither an archive nor a state is kept: it may convict.
	let kept = super::super::super::rescued::garbage(&folder, &root_of(&none));
	assert_eq!(std::fs::read(kept).unwrap(), none);

	// It came from elsewhere meanwhile: nothing is read, and nothing was lost.
	std::fs::copy(dir.join(lacks), folder.join(lacks)).unwrap();
	let verdict = judged(&scene, &verifier).await;
	assert!(matches!(verdict, GroupVerdict::Replayed(_)), "{verdict:?}");
	assert_eq!(reads.lock().unwrap().len(), once);
}

/// Several trainers store: no order of theirs keeps the right files from a seat.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_right_is_taken_from_each_rescue() {
	let (mut scene, dir, spec) = withheld().await;
	let files = read_of(&scene, &dir, &spec);
	let pack = |files: &[String]| bundle::archive::pack(&dir, files).unwrap();
	let states: Vec<String> =
		files.iter().filter(|file| file.starts_with("checkpoints/")).cloned().collect();
	let others: Vec<String> =
		files.iter().filter(|file| !file.starts_with("checkpoints/")).cloned().collect();
	// The states come before the manifest that says which they are.
	let blobs = vec![pack(&states), garbage(&files), pack(&others), garbage(&states)];
	scene.audit.groups[0].rescued = blobs.iter().map(|blob| root_of(blob)).collect();
	let (node, reads) = stored(blobs, |_, _| false);
	let verifier = verifier_on(&scene.folder.path().join("seat"), node).await;
	let verdict = judged(&scene, &verifier).await;
	assert!(matches!(verdict, GroupVerdict::Replayed(_)), "{verdict:?}");
	let folder = result_folder(&verifier.folder(&scene.job, &scene.audit), 0);
	let parts = std::fs::read_dir(&folder).unwrap();
	let parts = parts.filter(|e| e.as_ref().unwrap().path().extension() == Some("part".as_ref()));
	assert_eq!(parts.count(), 0);
	// After a restart everything is here, and nothing is read again.
	let before = reads.lock().unwrap().len();
	std::fs::remove_dir_all(folder.parent().unwrap().join("replays")).unwrap();
	let verdict = judged(&scene, &verifier).await;
	assert!(matches!(verdict, GroupVerdict::Replayed(_)), "{verdict:?}");
	assert_eq!(reads.lock().unwrap().len(), before);

	// The cache has forgotten the data: the rescue that has them is read again, and none of which all
	// is here.
	let data = scene.job.spec.dataset.content_hash;
	for file in std::fs::read_dir(verifier.home.data(&data).parent().unwrap()).unwrap() {
		std::fs::remove_file(file.unwrap().path()).unwrap();
	}
	std::fs::remove_dir_all(folder.parent().unwrap().join("replays")).unwrap();
	scene.job.spec.dataset.location = Text::new("http://127.0.0.1:1").unwrap();
	let verdict = judged(&scene, &verifier).await;
	assert!(matches!(verdict, GroupVerdict::Replayed(_)), "{verdict:?}");
	let again = reads.lock().unwrap()[before..].to_vec();
	let rescued = &scene.audit.groups[0].rescued;
	assert!(again.iter().any(|(root, _)| *root == rescued[2]), "{again:?}");
	assert!(again.iter().all(|(root, _)| *root != rescued[0]), "{again:?}");
}

/// A blob that is no file of the state that was asked for alone convicts whoever stored it.
#[tokio::test(flavor = "multi_thread")]
async fn garbage_in_the_place_of_a_state_is_accused_of() {
	let mut scene = scene().await;
	scene.withhold();
	scene.audit.groups.remove(0);
	let dir = scene.folder.path().join("honest");
	let spec = scene.job.spec.clone().check().unwrap();
	let blob = b"this is no state".to_vec();
	let root = root_of(&blob);
	scene.audit.groups[0].rescued = vec![root];
	let (node, _) = storing(vec![blob.clone()], |_, _| false);
	for (name, state) in [("archive", None), ("state", Some(3))] {
		let trainer = AccountId32([2; 32]);
		let node = node.clone().storing_rescues(3, &trainer, &[(root, state)]);
		let mut verifier = verifier_on(&scene.folder.path().join(name), node).await;
		verifier.block_time = Duration::from_millis(100);
		verifier.asker = Asker::Test(Arc::new(|_| {
			let (call, docs) = Default::default();
			let name = "Verification::NotCommitting".to_owned();
			Err(trainyard_client::TxError::Failed { call, name, docs })
		}));
		let folder = result_folder(&verifier.folder(&scene.job, &scene.audit), 0);
		std::fs::create_dir_all(folder.join("checkpoints")).unwrap();
		let step = scene.job.spec.checkpoint_step(3).unwrap();
		let lacks = bundle::manifest::checkpoint_file(step);
		for file in read_of(&scene, &dir, &spec).iter().filter(|file| **file != lacks) {
			std::fs::copy(dir.join(file), folder.join(file)).unwrap();
		}
		let verdict = judged(&scene, &verifier).await;
		match state {
			// Of an archive no court says what is in it.
			None => assert_eq!(verdict, GroupVerdict::Unavailable),
			Some(state) => {
				let GroupVerdict::Rejected(rejection) = verdict else { panic!("{verdict:?}") };
				let target = Target::Rescue { blob: root, state };
				assert_eq!((rejection.account, rejection.target), (trainer, target));
				assert_eq!((rejection.claimed, rejection.leaves.len()), (Claimed::Other, 1));
				let kept = super::super::super::rescued::garbage(&folder, &root);
				assert_eq!(std::fs::read(kept).unwrap(), blob);
			}
		}
	}
}

/// Where one state alone was asked for, the blob is the file of that state.
#[tokio::test(flavor = "multi_thread")]
async fn the_file_of_a_state_is_a_rescue() {
	let (mut scene, dir, spec) = withheld().await;
	let files = read_of(&scene, &dir, &spec);
	let lacks = files.iter().find(|file| file.starts_with("checkpoints/")).unwrap();
	let blob = std::fs::read(dir.join(lacks)).unwrap();
	scene.audit.groups[0].rescued = vec![root_of(&blob)];
	let (node, reads) = stored(vec![blob], |_, _| false);
	let verifier = verifier_on(&scene.folder.path().join("seat"), node).await;
	let folder = result_folder(&verifier.folder(&scene.job, &scene.audit), 0);
	std::fs::create_dir_all(folder.join("checkpoints")).unwrap();
	// Without a manifest nobody knows which state it is; it is looked at again when that is here.
	let others = || files.iter().filter(|file| *file != lacks && *file != "manifest.json");
	for file in others() {
		std::fs::copy(dir.join(file), folder.join(file)).unwrap();
	}
	assert_eq!(judged(&scene, &verifier).await, GroupVerdict::Unavailable);
	assert!(!reads.lock().unwrap().is_empty() && !folder.join(lacks).exists());
	std::fs::copy(dir.join("manifest.json"), folder.join("manifest.json")).unwrap();
	let verdict = judged(&scene, &verifier).await;
	assert!(matches!(verdict, GroupVerdict::Replayed(_)), "{verdict:?}");
}

/// The state in which two results part was stored for that alone: nothing else is missing.
#[tokio::test(flavor = "multi_thread")]
async fn a_rescue_of_the_state_in_which_results_part_is_read() {
	let mut scene = scene().await;
	let file = bundle::manifest::checkpoint_file(scene.job.spec.checkpoint_step(5).unwrap());
	let honest = scene.folder.path().join("honest");
	let archive = bundle::archive::pack(&honest, std::slice::from_ref(&file)).unwrap();
	for name in ["cheat", "honest"] {
		std::fs::remove_file(scene.folder.path().join(name).join(&file)).unwrap();
	}
	scene.audit.groups[1].rescued = vec![root_of(&archive)];
	let (node, _) = stored(vec![archive], |_, _| false);
	let verifier = verifier_on(&scene.folder.path().join("seat"), node).await;
	let folder = verifier.folder(&scene.job, &scene.audit);
	let stop = Arc::new(AtomicBool::new(false));
	verifier.audit(&scene.job, &scene.audit, &folder, 1, stop).await.unwrap();
	let found = verifier.home.load_findings(&folder).unwrap().unwrap().findings.verdicts;
	assert!(matches!(found[0], GroupVerdict::Rejected(_)), "{found:?}");
	assert!(matches!(found[1], GroupVerdict::Replayed(_)), "{found:?}");
}
