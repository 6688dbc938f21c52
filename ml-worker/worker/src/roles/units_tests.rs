//! Units of work: what is asked for in each phase, and records that survive a stop.

use super::*;
use crate::roles::store::Quota;
use codec::Decode;
use trainyard_client::{
	fake::{self, FakeNode},
	keys, AccountId32, BlobView, ProjectView,
};
use trainyard_program::spec::{Activation, JobSpec, Model};
use trainyard_protocol::{blob::Chunked, drill::reference};

/// An assignment in this phase until height 50.
pub(crate) fn view(phase: UnitPhase, committed: bool, revealed: bool) -> AssignmentView {
	AssignmentView {
		id: 3,
		project: 2,
		index: 5,
		seed: H256::repeat_byte(8),
		phase,
		deadline: 50,
		members: vec![AccountId32([1; 32])],
		committed,
		revealed,
		declined: false,
	}
}

#[test]
fn steps_follow_phase_and_what_is_done() {
	use UnitPhase::{Commit, Judgement, Reveal};
	let cases = [
		("fresh", Commit, false, false, false, 40, Some(Step::Compute)),
		("computed", Commit, false, false, true, 40, Some(Step::Commit)),
		("last chance", Commit, false, false, true, 49, Some(Step::Commit)),
		("too late", Commit, false, false, true, 50, None),
		("too late to compute", Commit, false, false, false, 50, None),
		("committed", Commit, true, false, true, 40, None),
		("committed, record lost", Commit, true, false, false, 40, None),
		("reveal", Reveal, true, false, true, 40, Some(Step::Reveal)),
		("revealed", Reveal, true, true, true, 40, None),
		("never committed", Reveal, false, false, true, 40, None),
		("record lost", Reveal, true, false, false, 40, None),
		("too late to reveal", Reveal, true, false, true, 50, None),
		("judged", Judgement, true, true, true, 40, None),
	];
	for (name, phase, committed, revealed, found, best, expected) in cases {
		assert_eq!(step(&view(phase, committed, revealed), best, found, false), expected, "{name}");
	}
	// Without data it tries until the deadline is near, and says so then; a result is a result.
	let fresh = view(Commit, false, false);
	assert_eq!(step(&fresh, 41, false, true), Some(Step::Compute));
	assert_eq!(step(&fresh, 42, false, true), Some(Step::Decline));
	assert_eq!(step(&fresh, 49, false, true), Some(Step::Decline));
	assert_eq!(step(&fresh, 50, false, true), None);
	assert_eq!(step(&fresh, 45, true, true), Some(Step::Commit));
	let declined = AssignmentView { declined: true, ..fresh };
	assert_eq!(step(&declined, 45, true, true), None);
	assert!(is_lost(&view(Reveal, true, false), false));
	assert!(!is_lost(&view(Reveal, true, true), false));
	assert!(!is_lost(&view(Commit, false, false), false));
}

/// Units on a chain whose project 2 has this template.
async fn units(folder: &std::path::Path, template: Template, cheat: bool) -> Arc<Units> {
	Arc::new(units_of(folder, template, cheat).await)
}

async fn units_of(folder: &std::path::Path, template: Template, cheat: bool) -> Units {
	units_with(folder, fake::project(template), Vec::new(), cheat).await
}

/// Units on a chain with this project, and with one blob of these bytes, if there are any.
async fn units_with(
	folder: &std::path::Path,
	project: ProjectView,
	stored: Vec<u8>,
	cheat: bool,
) -> Units {
	let known = (!stored.is_empty()).then(|| Chunked::new(&stored).root);
	let node = FakeNode::new(move |method, arguments, _| match method {
		"TrainyardApi_blob" if known.map(|root| root.encode()).as_deref() == Some(arguments) => {
			let (owner, size) = (AccountId32([1; 32]), stored.len() as u64);
			let chunks = Chunked::new(&stored).chunks.len() as u32;
			let (missing, expires, removing) = (vec![], 90, false);
			Ok(Some(BlobView { owner, size, chunks, missing, expires, removing }).encode())
		}
		"TrainyardApi_blob" => Ok(None::<BlobView>.encode()),
		"trainyard_modelChunk" => {
			let (_, index) = <(H256, u32)>::decode(&mut &arguments[..]).unwrap();
			Ok(Chunked::new(&stored).chunks[index as usize].to_vec())
		}
		"TrainyardApi_drilling_project" if *arguments == 2u32.to_le_bytes() => {
			Ok(Some(project.clone()).encode())
		}
		"TrainyardApi_drilling_project" => Ok(vec![0]),
		_ => Err("no such method"),
	});
	let chain = Arc::new(node.chain().await);
	let home = Arc::new(Home::open(folder, &H256::zero()).unwrap());
	let base = Base {
		sender: Arc::new(Transactor::new(chain.clone(), keys::from_uri("//Bob").unwrap())),
		report: Reporter::new("driller", true, Some(&home.events())),
		chain,
		home,
		machine: Default::default(),
	};
	let space = Space::new(Quota::of(u64::MAX));
	Units::new(&base, Part::Driller, space, cheat)
}

/// Does the step with nothing found; fails if the step fails.
async fn act(units: &Arc<Units>, view: &AssignmentView, stop: bool) -> Outcome {
	let stop = Arc::new(AtomicBool::new(stop));
	let head = Head { number: 40, hash: H256::repeat_byte(40) };
	units.clone().act(view.clone(), Step::Compute, None, head, stop).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_is_computed_and_its_record_never_changes() {
	let template = Template::Calibration { passes: 12 };
	let view = view(UnitPhase::Commit, false, false);
	let expected = reference::unit(&template, view.index, &view.seed, Default::default()).unwrap();
	let folder = tempfile::tempdir().unwrap();
	let record = {
		let units = units(folder.path(), template.clone(), false).await;
		act(&units, &view, false).await.unwrap();
		let record = units.home.load_unit(view.id, &view.seed).unwrap().unwrap();
		assert_eq!((record.result, record.work, record.settled), (expected, 4_400 / 3, None));
		record
	};
	// Whatever computes it again, after a restart, it is the first result and salt that count.
	let units = units(folder.path(), template, true).await;
	act(&units, &view, false).await.unwrap();
	assert_eq!(units.home.load_unit(view.id, &view.seed).unwrap().unwrap(), record);
	// The same assignment under another seed is another unit.
	let other = AssignmentView { seed: H256::repeat_byte(9), ..view };
	act(&units, &other, false).await.unwrap();
	let made_up = units.home.load_unit(other.id, &other.seed).unwrap().unwrap();
	assert_ne!(made_up.result, expected);
	assert_ne!(made_up.salt, record.salt);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_computed_leaves_no_record() {
	let folder = tempfile::tempdir().unwrap();
	let units = units(folder.path(), Template::Chain { size: 64, links: 2_000 }, false).await;
	let view = view(UnitPhase::Commit, false, false);
	let stopped = act(&units, &view, true).await.unwrap_err();
	assert!(matches!(stopped, TaskError::Stopped), "{stopped}");
	let unknown = AssignmentView { project: 7, ..view.clone() };
	let error = act(&units, &unknown, false).await.unwrap_err();
	assert_eq!(error.to_string(), "project 7 is not on chain");
	assert!(units.home.units().unwrap().0.is_empty());
}

/// A verifier recomputes what a stranger's project says in a process, and comes to the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_unit_that_a_process_computes_is_the_same() {
	let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
	let table = trainyard_proof::testing::table(data.path());
	let stored = std::fs::read(&table).unwrap();
	let mut spec = trainyard_proof::testing::job(&table).spec().clone();
	spec.training.input_noise_nano = 10_000_000;
	// As much work as a unit must be.
	spec.training.batch_size = 32;
	let hidden = vec![256, 256].try_into().unwrap();
	spec.model = Model::Mlp { hidden, activation: Activation::Relu };
	let learning_rates_nano = vec![1_000_000, 2_000_000].try_into().unwrap();
	let trial =
		trainyard_protocol::drill::TrialTemplate { spec: spec.clone(), learning_rates_nano };
	let view = AssignmentView { index: 1, ..view(UnitPhase::Commit, false, false) };
	let template = Template::Trial(trial);
	let mut found = Vec::new();
	for part in [Part::Driller, Part::Verifier] {
		let folder = folder.path().join(format!("{part:?}"));
		let data = vec![Chunked::new(&stored).root].try_into().unwrap();
		let project = ProjectView { data, ..fake::project(template.clone()) };
		let mut units = units_with(&folder, project, stored.clone(), false).await;
		units.part = part;
		if part == Part::Verifier {
			units = units.in_processes(Replayers::for_tests(1 << 30));
		}
		let units = Arc::new(units);
		act(&units, &view, false).await.unwrap();
		assert!(units.reading().is_empty(), "nothing is read any more");
		found.push(units.home.load_unit(view.id, &view.seed).unwrap().unwrap().result);
		units.home.remove_unit(view.id, &view.seed).unwrap();
	}
	assert_eq!(found[0], found[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn data_for_which_there_is_no_room_are_not_fetched() {
	let mut spec = JobSpec::example();
	spec.training.input_noise_nano = 1;
	let learning_rates_nano = vec![1_000_000].try_into().unwrap();
	let trial =
		trainyard_protocol::drill::TrialTemplate { spec: spec.clone(), learning_rates_nano };
	let folder = tempfile::tempdir().unwrap();
	let mut units = units_of(folder.path(), Template::Trial(trial), false).await;
	// Data of a trial that is over make room, and are not enough.
	let idle = units.home.data(&H256::repeat_byte(9));
	std::fs::write(&idle, [9; 1000]).unwrap();
	units.space = Space::new(Quota::of(spec.dataset.bytes));
	let units = Arc::new(units);
	let error = act(&units, &view(UnitPhase::Commit, false, false), false).await.unwrap_err();
	let text = error.to_string();
	assert!(text.contains("MiB are missing") && text.contains("--max-disk-mib"), "{text}");
	assert!(!idle.exists() && units.reading().is_empty());
}

/// A project of a small trial on the data at the path.
fn trial_on(table: &std::path::Path) -> ProjectView {
	let mut spec = trainyard_proof::testing::job(table).spec().clone();
	spec.training.input_noise_nano = 10_000_000;
	spec.training.batch_size = 32;
	let hidden = vec![256, 256].try_into().unwrap();
	spec.model = Model::Mlp { hidden, activation: Activation::Relu };
	let learning_rates_nano = vec![1_000_000].try_into().unwrap();
	let trial = trainyard_protocol::drill::TrialTemplate { spec, learning_rates_nano };
	fake::project(Template::Trial(trial))
}

/// A trial's data are blobs of the chain. Where they are not there, or are another file, the unit is
/// one whose data are not to be had, until they are.
#[tokio::test(flavor = "multi_thread")]
async fn data_are_read_from_the_chain() {
	let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
	let table = trainyard_proof::testing::table(data.path());
	let bytes = std::fs::read(&table).unwrap();
	let root = Chunked::new(&bytes).root;
	let unit = view(UnitPhase::Commit, false, false);
	let with =
		|roots: Vec<H256>| ProjectView { data: roots.try_into().unwrap(), ..trial_on(&table) };
	// Another file of the same length is none of it.
	let mut other = bytes.clone();
	other[bytes.len() - 2] ^= 1;
	let wrong = Chunked::new(&other).root;
	for (stored, roots, problem) in [
		(bytes.clone(), vec![], "names no blob for dataset"),
		(bytes.clone(), vec![wrong], "the chain knows no blob"),
		(other, vec![wrong], "is not the file of the specification"),
	] {
		let units = Arc::new(units_with(folder.path(), with(roots), stored, false).await);
		let text = act(&units, &unit, false).await.unwrap_err().to_string();
		assert!(text.contains(problem), "{text}");
		assert!(units.is_lacking(unit.id), "{problem}");
		assert!(units.home.units().unwrap().0.is_empty() && units.reading().is_empty());
	}
	let units = Arc::new(units_with(folder.path(), with(vec![root]), bytes, false).await);
	act(&units, &unit, false).await.unwrap();
	assert!(!units.is_lacking(unit.id));
	assert_eq!(units.home.units().unwrap().0.len(), 1);
}

#[test]
fn drillers_and_verifiers_have_calls_of_their_own() {
	let record = crate::roles::store::unit_tests::record(3);
	let titles = [Part::Driller, Part::Verifier]
		.map(|part| (part.commit(3, &H256::zero()).title(), part.reveal(&record).title()));
	assert_eq!(titles[0], ("Drilling.commit".into(), "Drilling.reveal".into()));
	assert_eq!(titles[1], ("Drilling.check".into(), "Drilling.check_reveal".into()));
}

#[test]
fn units_are_described() {
	let chain = Template::Chain { size: 256, links: 1_200 };
	assert_eq!(describe(&chain, 0), "a chain of 1,200 products of 256 x 256");
	let calibration = Template::Calibration { passes: 40 };
	assert_eq!(describe(&calibration, 0), "a calibration of 40 passes");
	assert_eq!((ut(1_234), rate(2_500_000)), ("0.001234".into(), "0.0025".into()));
}
