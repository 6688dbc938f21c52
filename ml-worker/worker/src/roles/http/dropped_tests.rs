use super::*;
use trainyard_client::keys::{account, from_uri};

const ROOT: H256 = H256([3; 32]);
const GENESIS: H256 = H256([1; 32]);

/// A result of twelve segments of ten steps, of which one state in four is kept. Alice and Bob may read two stretches.
fn thinned(job: JobId, folder: PathBuf) -> Thinned {
	let reader = |uri: &str| account(&from_uri(uri).unwrap());
	Thinned {
		job,
		genesis: GENESIS,
		round: 0,
		folder,
		inputs: InputPaths::data("data.csv"),
		every: 4,
		steps: (0..=12).map(|index| index * 10).collect(),
		readers: ["//Alice", "//Bob"].map(reader).into(),
		most: 2,
	}
}

fn signed(uri: &str, root: H256, step: u32) -> String {
	StateRequest { genesis: GENESIS, root, step }.signed_by(&from_uri(uri).unwrap())
}

struct Scene {
	dropped: Dropped,
	folder: tempfile::TempDir,
}

impl Scene {
	fn new() -> Self {
		let folder = tempfile::tempdir().unwrap();
		std::fs::create_dir_all(folder.path().join("checkpoints")).unwrap();
		let dropped = Dropped::default();
		dropped.set(HashMap::from([(ROOT, Arc::new(thinned(7, folder.path().into())))]));
		Self { dropped, folder }
	}

	fn ask(&self, uri: &str, step: u32) -> Said {
		self.dropped.ask(&ROOT, step, Some(&signed(uri, ROOT, step))).unwrap()
	}

	/// The stretch that is computed next, and how many files go before it.
	fn work(&self) -> (u32, usize) {
		match self.dropped.next() {
			Next::Work(work) => {
				self.dropped.done(&work, Ok(()));
				(work.stretch, work.remove.len())
			}
			other => panic!("{other:?}"),
		}
	}

	/// Lets everything that is made be as old as it may become.
	fn age(&self) {
		let mut inner = self.dropped.locked();
		for made in inner.desks.values_mut().flat_map(|desk| desk.made.values_mut()) {
			made.at = made.at.checked_sub(STAY).unwrap();
			made.served = made.served.map(|served| served.checked_sub(SERVED_STAY).unwrap());
		}
	}
}

#[test]
fn who_is_no_seat_makes_nobody_compute() {
	let scene = Scene::new();
	let ask = |step, header: Option<&str>| scene.dropped.ask(&ROOT, step, header);
	let refused =
		|said: Option<Said>| matches!(said, Some(Said::Refused(why)) if why.contains("on chain"));
	assert!(refused(ask(10, None)));
	assert!(refused(ask(10, Some("nonsense"))));
	assert!(refused(ask(10, Some(&signed("//Charlie", ROOT, 10)))), "a stranger");
	assert!(refused(ask(10, Some(&signed("//Alice", ROOT, 20)))), "a signature for another state");
	assert!(refused(ask(10, Some(&signed("//Alice", H256([9; 32]), 10)))), "of another result");
	assert!(matches!(scene.dropped.next(), Next::Idle));
	// What is kept, and what there is none of, is not there at all.
	for step in [0, 40, 120, 15, 130] {
		assert_eq!(ask(step, Some(&signed("//Alice", ROOT, step))), None, "{step}");
	}
	assert_eq!(scene.dropped.ask(&H256([9; 32]), 10, None), None);
	assert!(matches!(scene.ask("//Alice", 10), Said::Wait(why) if why.contains("Ask again")));
	assert_eq!(scene.work(), (0, 0));
}

/// Several seats that ask for states of one stretch have it computed once, in the order of the checkpoints.
#[test]
fn one_pass_serves_all_in_the_order_of_the_checkpoints() {
	let scene = Scene::new();
	for (who, step) in [("//Bob", 90), ("//Alice", 30), ("//Bob", 10), ("//Alice", 110)] {
		assert!(matches!(scene.ask(who, step), Said::Wait(_)));
	}
	let Next::Work(work) = scene.dropped.next() else { panic!("something is wanted") };
	assert_eq!((work.stretch, &work.steps[..]), (0, &[10, 20, 30][..]));
	// Whoever asks for what is computed just now waits for that.
	assert!(matches!(scene.ask("//Bob", 20), Said::Wait(_)));
	scene.dropped.done(&work, Ok(()));
	assert_eq!(scene.work(), (2, 0));
	assert!(matches!(scene.dropped.next(), Next::Idle));
}

/// A seat that asks for everything has no more than its duties read, and nobody waits for the rest.
#[test]
fn a_seat_has_as_many_stretches_as_it_reads() {
	let scene = Scene::new();
	assert!(matches!(scene.ask("//Alice", 10), Said::Wait(_)));
	assert!(matches!(scene.ask("//Alice", 50), Said::Wait(_)));
	assert!(
		matches!(scene.ask("//Alice", 90), Said::Refused(why) if why.contains("no seat reads more"))
	);
	assert!(matches!(scene.ask("//Alice", 20), Said::Wait(_)), "of a stretch that it had");
	assert!(matches!(scene.ask("//Bob", 90), Said::Wait(_)), "others have their own");
	assert_eq!([scene.work().0, scene.work().0], [0, 1]);
	// In the next round each has as much again, and of a seat that is none any more nothing is taken.
	let mut next = thinned(7, scene.folder.path().into());
	next.round = 1;
	next.readers.remove(&account(&from_uri("//Bob").unwrap()));
	scene.dropped.set(HashMap::from([(ROOT, Arc::new(next))]));
	assert!(matches!(scene.ask("//Alice", 90), Said::Wait(_)));
	assert!(matches!(scene.ask("//Bob", 90), Said::Refused(_)));
}

/// What was computed lies within a bound, and stays for whoever waits for it.
#[test]
fn two_stretches_lie_on_disk() {
	let scene = Scene::new();
	scene.ask("//Alice", 10);
	scene.ask("//Alice", 50);
	scene.ask("//Bob", 90);
	assert_eq!((scene.work(), scene.work()), ((0, 0), (1, 0)));
	assert!(matches!(scene.dropped.next(), Next::Later(stays) if stays <= STAY));
	// The one that was served goes first.
	scene.dropped.served(&ROOT, 60);
	assert!(matches!(scene.dropped.next(), Next::Later(stays) if stays <= SERVED_STAY));
	scene.age();
	let Next::Work(work) = scene.dropped.next() else { panic!("there is room") };
	assert_eq!(work.stretch, 2);
	assert_eq!(work.remove.len(), 3);
	scene.dropped.done(&work, Err("the disk is full".into()));
	assert_eq!(scene.ask("//Bob", 90), Said::Failed("the disk is full".into()));
	assert_eq!(scene.work(), (2, 0), "whoever asks again has it tried again");
}

/// A process that was killed left what it had computed: it is removed in its turn.
#[test]
fn what_a_kill_left_counts() {
	let scene = Scene::new();
	let folder = scene.folder.path();
	for step in [10, 50, 60] {
		std::fs::write(folder.join(checkpoint_file(step)), b"x").unwrap();
	}
	let again = Dropped::default();
	again.set(HashMap::from([(ROOT, Arc::new(thinned(7, folder.into())))]));
	let scene = Scene { dropped: again, ..scene };
	scene.ask("//Alice", 90);
	assert!(matches!(scene.dropped.next(), Next::Later(_)));
	scene.age();
	assert_eq!(scene.work(), (2, 3));
	scene.dropped.set(HashMap::new());
	assert_eq!(scene.dropped.ask(&ROOT, 90, None), None, "taken down");
}
