//! What trainers stored on chain: only what is right of it is taken over.

use super::*;
use std::sync::Mutex;
use trainyard_client::{court::NamedState, RescuedView};
use trainyard_proof::inputs::{InputPaths, Inputs};
use trainyard_protocol::{
	accusation::{Leaf, LeafContent},
	bundle::{Checkpoint, Evaluation},
	pieces::{self, Piece},
	views::BundleView,
};

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

/// Who stores what is asked for.
const STORES: AccountId32 = AccountId32([1; 32]);

/// A scene with the honest result alone, which nobody serves and whose files are in the folder given.
async fn withheld() -> (Scene, PathBuf, CheckedSpec) {
	let mut scene = scene().await;
	scene.audit.groups.remove(0);
	scene.job.replicas.clear();
	let group = &mut scene.audit.groups[0];
	let root = group.result.bundle_root;
	group.bundles = vec![BundleView { trainer: STORES, root, forced: None }];
	let (dir, spec) = (scene.folder.path().join("honest"), scene.job.spec.clone().check().unwrap());
	(scene, dir, spec)
}

/// What every audit of this result reads.
fn read_of(scene: &Scene, dir: &Path, spec: &CheckedSpec) -> Vec<String> {
	let [group] = &scene.audit.groups[..] else { panic!() };
	verify::files_read(dir, spec, group.result.segments, &DRAWN).unwrap()
}

fn root_of(blob: &[u8]) -> H256 {
	Chunked::new(blob).root
}

/// The checkpoint of a file.
fn index_of(spec: &CheckedSpec, file: &str) -> u32 {
	let step = bundle::manifest::step_of(file).unwrap();
	(0..=spec.segments()).find(|at| spec.checkpoint_step(*at) == Some(step)).unwrap()
}

/// The blob of a state.
fn state(spec: &CheckedSpec, dir: &Path, file: &str) -> (RescuedView, Vec<u8>) {
	let bytes = std::fs::read(dir.join(file)).unwrap();
	(RescuedView { piece: Piece::State(index_of(spec, file)), blob: root_of(&bytes) }, bytes)
}

/// The blobs of all rows.
fn rows(spec: &CheckedSpec, dir: &Path) -> Vec<(RescuedView, Vec<u8>)> {
	let piece = verify::sizes_of(spec).all_rows();
	let paths = InputPaths::in_bundle(dir, spec);
	let inputs = || Ok(Inputs::load(spec, &paths).unwrap());
	let prepared = verify::answers(dir, spec, &[piece], inputs).unwrap().remove(0);
	let blobs = prepared.blobs.into_iter();
	blobs.map(|(bytes, _)| (RescuedView { piece, blob: root_of(&bytes) }, bytes)).collect()
}

/// All that an audit of the result reads, with its leaves: what a trainer stores of it.
fn all_of(
	scene: &Scene,
	dir: &Path,
	spec: &CheckedSpec,
) -> (Vec<(RescuedView, Vec<u8>)>, Vec<LeafContent>) {
	let files = read_of(scene, dir, spec);
	let states = files.iter().filter(|file| file.starts_with("checkpoints/"));
	let mut blobs: Vec<_> = states.map(|file| state(spec, dir, file)).collect();
	blobs.extend(rows(spec, dir));
	(blobs, bundle::Bundle::open(dir).unwrap().manifest().leaves())
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
	let (mut scene, dir, spec) = withheld().await;
	scene.job.spec.dataset.location = Text::new("http://127.0.0.1:1").unwrap();
	let (blobs, leaves) = all_of(&scene, &dir, &spec);
	let group = &mut scene.audit.groups[0];
	group.stored = vec![Piece::Leaves];
	group.rescued = blobs.iter().map(|(view, _)| *view).collect();
	let bytes: Vec<Vec<u8>> = blobs.iter().map(|(_, bytes)| bytes.clone()).collect();
	let (node, asked) = storing(bytes, |index, times| index == 0 && times == 1);
	let node = node.storing_leaves(scene.job.id, &STORES, &leaves);
	let verifier = verifier_on(&scene.folder.path().join("rescued"), node).await;
	let verdict = judged(&scene, &verifier).await;
	assert!(matches!(verdict, GroupVerdict::Replayed(_)), "{verdict:?}");
	let asked = asked.lock().unwrap().clone();
	let times = |read: &(H256, u32)| asked.iter().filter(|other| *other == read).count();
	assert!(asked.iter().all(|read| times(read) == if read.1 == 0 { 2 } else { 1 }), "{asked:?}");
	// The chunks are gone, and the room for them was claimed.
	let folder = verifier.folder(&scene.job, &scene.audit);
	let names = std::fs::read_dir(result_folder(&folder, 0)).unwrap();
	let names: Vec<_> = names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
	assert!(names.iter().all(|name| !name.starts_with("rescue-")), "{names:?}");
	let [rescued] = &scene.audit.groups[..] else { panic!() };
	let served = GroupView { rescued: vec![], ..rescued.clone() };
	let more = room::needed(&scene.audit, &spec, rescued, 0)
		- room::needed(&scene.audit, &spec, &served, 0);
	assert!(more >= blobs.iter().map(|(_, bytes)| bytes.len() as u64).max().unwrap());
}

/// The attack: a trainer of the same result stores garbage as a state, and every seat that had others
/// loses them at the same moment.
#[tokio::test(flavor = "multi_thread")]
async fn garbage_replaces_nothing_and_is_read_once() {
	let (mut scene, dir, spec) = withheld().await;
	let files = read_of(&scene, &dir, &spec);
	let lacks = files.iter().find(|file| file.starts_with("checkpoints/")).unwrap();
	let none = b"this is no state".to_vec();
	let piece = Piece::State(index_of(&spec, lacks));
	scene.audit.groups[0].rescued = vec![RescuedView { piece, blob: root_of(&none) }];
	let (node, reads) = stored(vec![none.clone()], |_, _| false);
	let verifier = verifier_on(&scene.folder.path().join("seat"), node).await;
	// It lacks one state, so that it looks at what is on chain.
	let folder = result_folder(&verifier.folder(&scene.job, &scene.audit), 0);
	std::fs::create_dir_all(folder.join("checkpoints")).unwrap();
	for file in files.iter().filter(|file| *file != lacks) {
		std::fs::copy(dir.join(file), folder.join(file)).unwrap();
	}
	assert_eq!(judged(&scene, &verifier).await, GroupVerdict::Unavailable);
	assert!(!folder.join(lacks).exists());
	let once = reads.lock().unwrap().len();
	assert_eq!(once, 1);
	// It is kept: it may convict.
	let kept = super::super::super::rescued::garbage(&folder, &root_of(&none));
	assert_eq!(std::fs::read(kept).unwrap(), none);

	// It came from elsewhere meanwhile: nothing is read, and nothing was lost.
	std::fs::copy(dir.join(lacks), folder.join(lacks)).unwrap();
	let verdict = judged(&scene, &verifier).await;
	assert!(matches!(verdict, GroupVerdict::Replayed(_)), "{verdict:?}");
	assert_eq!(reads.lock().unwrap().len(), once);
}

/// Several trainers store: no order of theirs keeps the right files from a seat, and after a restart
/// nothing is read again.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_right_is_taken_from_each_rescue() {
	let (mut scene, dir, spec) = withheld().await;
	scene.job.spec.dataset.location = Text::new("http://127.0.0.1:1").unwrap();
	let (mut blobs, leaves) = all_of(&scene, &dir, &spec);
	for at in [0, 2] {
		let garbage = format!("garbage {at}").into_bytes();
		let view = RescuedView { blob: root_of(&garbage), ..blobs[at].0 };
		blobs.insert(at, (view, garbage));
	}
	// The files of states come before the leaves that say which they are.
	let group = &mut scene.audit.groups[0];
	group.stored = vec![Piece::Leaves];
	group.rescued = blobs.iter().map(|(view, _)| *view).collect();
	let (node, reads) = storing(blobs.into_iter().map(|(_, bytes)| bytes).collect(), |_, _| false);
	let node = node.storing_leaves(scene.job.id, &STORES, &leaves);
	let verifier = verifier_on(&scene.folder.path().join("seat"), node).await;
	let verdict = judged(&scene, &verifier).await;
	assert!(matches!(verdict, GroupVerdict::Replayed(_)), "{verdict:?}");
	let folder = result_folder(&verifier.folder(&scene.job, &scene.audit), 0);
	assert!(folder.join(kept::name(&spec.dataset)).is_file(), "rows came without their files");
	let before = reads.lock().unwrap().len();
	std::fs::remove_dir_all(folder.parent().unwrap().join("replays")).unwrap();
	let verdict = judged(&scene, &verifier).await;
	assert!(matches!(verdict, GroupVerdict::Replayed(_)), "{verdict:?}");
	assert_eq!(reads.lock().unwrap().len(), before);
}

/// A blob that is no file of the state that it is said to be convicts whoever stored it, and nobody else:
/// a second trainer of the result too, of whose bundle nobody has more than the leaf that it showed.
#[tokio::test(flavor = "multi_thread")]
async fn garbage_in_the_place_of_a_state_is_accused_of() {
	let mut scene = scene().await;
	scene.withhold();
	scene.audit.groups.remove(0);
	let dir = scene.folder.path().join("honest");
	let spec = scene.job.spec.clone().check().unwrap();
	let blob = b"this is no state".to_vec();
	let root = root_of(&blob);
	let view = RescuedView { piece: Piece::State(3), blob: root };
	scene.audit.groups[0].rescued = vec![view];
	let (node, _) = storing(vec![blob.clone()], |_, _| false);
	let second = AccountId32([7; 32]);
	let bundle = BundleView { trainer: second.clone(), root: H256([9; 32]), forced: None };
	scene.audit.groups[0].bundles.push(bundle);
	let path = vec![H256([5; 32])].try_into().unwrap();
	let (state, trace) = (H256([3; 32]), H256([4; 32]));
	let checkpoint = Checkpoint { step: 3, state, evaluation: Evaluation::NONE, trace };
	let leaf = pieces::Leaf { index: 3, checkpoint, path };
	let named = NamedState { leaf: leaf.clone(), blob: root, stored: true };
	let node = node.storing_named_states(3, &second, &[named]);
	let mut verifier = verifier_on(&scene.folder.path().join("state"), node).await;
	verifier.block_time = Duration::from_millis(100);
	verifier.asker = Asker::Test(Arc::new(|_| {
		let (call, docs) = Default::default();
		let name = "Verification::NotCommitting".to_owned();
		Err(trainyard_client::TxError::Failed { call, name, docs })
	}));
	let folder = result_folder(&verifier.folder(&scene.job, &scene.audit), 0);
	std::fs::create_dir_all(folder.join("checkpoints")).unwrap();
	let lacks = bundle::manifest::checkpoint_file(scene.job.spec.checkpoint_step(3).unwrap());
	for file in read_of(&scene, &dir, &spec).iter().filter(|file| **file != lacks) {
		std::fs::copy(dir.join(file), folder.join(file)).unwrap();
	}
	let verdict = judged(&scene, &verifier).await;
	let GroupVerdict::Rejected(rejection) = verdict else { panic!("{verdict:?}") };
	let target = Target::Rescue { blob: root, state: 3 };
	assert_eq!((rejection.account, rejection.target), (second, target));
	let shown = Leaf { content: LeafContent::Checkpoint(leaf.checkpoint), path: leaf.path };
	assert_eq!((rejection.claimed, rejection.leaves.to_vec()), (Claimed::Other, vec![shown]));
	let kept = super::super::super::rescued::garbage(&folder, &root);
	assert_eq!(std::fs::read(kept).unwrap(), blob);
}

/// The state in which two results part was stored for that alone: nothing else is missing.
#[tokio::test(flavor = "multi_thread")]
async fn a_rescue_of_the_state_in_which_results_part_is_read() {
	let mut scene = scene().await;
	let file = bundle::manifest::checkpoint_file(scene.job.spec.checkpoint_step(5).unwrap());
	let honest = scene.folder.path().join("honest");
	let spec = scene.job.spec.clone().check().unwrap();
	let (view, bytes) = state(&spec, &honest, &file);
	for name in ["cheat", "honest"] {
		std::fs::remove_file(scene.folder.path().join(name).join(&file)).unwrap();
	}
	scene.audit.groups[1].rescued = vec![view];
	let (node, _) = stored(vec![bytes], |_, _| false);
	let verifier = verifier_on(&scene.folder.path().join("seat"), node).await;
	let folder = verifier.folder(&scene.job, &scene.audit);
	let stop = Arc::new(AtomicBool::new(false));
	verifier.audit(&scene.job, &scene.audit, &folder, 1, stop).await.unwrap();
	let found = verifier.home.load_findings(&folder).unwrap().unwrap().findings.verdicts;
	assert!(matches!(found[0], GroupVerdict::Rejected(_)), "{found:?}");
	assert!(matches!(found[1], GroupVerdict::Replayed(_)), "{found:?}");
}
