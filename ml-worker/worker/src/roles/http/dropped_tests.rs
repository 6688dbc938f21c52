use super::*;
use trainyard_client::keys::{account, from_uri};

const ROOT: H256 = H256([3; 32]);
const GENESIS: H256 = H256([1; 32]);

/// A result of twelve segments of ten steps, of which one state in four is kept. Alice and Bob may read two stretches.
fn thinned(job: JobId, folder: PathBuf) -> Thinned {
	let reader = |uri: &str| (account(&from_uri(uri).unwrap()), 2);
	Thinned {
		job,
		genesis: GENESIS,
		round: 0,
		folder,
		inputs: InputPaths::data("data.csv"),
		every: 4,
		steps: (0..=12).map(|index| index * 10).collect(),
		readers: ["//Alice", "//Bob"].map(reader).into(),
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

	fn fetch(&self, uri: &str, step: u32) -> Option<Fetch> {
		self.dropped.fetches(&ROOT, step, Some(&signed(uri, ROOT, step)))
	}

	fn ask(&self, uri: &str, step: u32) -> Said {
		self.dropped.ask(&ROOT, step, Some(&signed(uri, ROOT, step))).unwrap()
	}

	/// The work that is next, begun.
	fn begun(&self) -> Work {
		match self.dropped.next() {
			Next::Work(mut work) => {
				assert!(self.dropped.begin(&mut work));
				work
			}
			other => panic!("{other:?}"),
		}
	}

	/// The stretch that is computed next, and which one goes before it.
	fn work(&self) -> (u32, Option<u32>) {
		let made =
			|| -> Vec<u32> { self.dropped.locked().desks[&7].made.keys().copied().collect() };
		let before = made();
		let work = self.begun();
		let gone = before.into_iter().find(|stretch| !made().contains(stretch));
		self.dropped.done(&work, Ok(()));
		(work.stretch, gone)
	}

	/// Lets everything that is made be as old as what nobody fetches may become.
	fn age(&self) {
		self.age_by(STAY);
	}

	/// Lets everything that is made have taken so long.
	fn took(&self, time: Duration) {
		let mut inner = self.dropped.locked();
		for made in inner.desks.values_mut().flat_map(|desk| desk.made.values_mut()) {
			made.most = time;
		}
	}

	fn age_by(&self, time: Duration) {
		let mut inner = self.dropped.locked();
		for made in inner.desks.values_mut().flat_map(|desk| desk.made.values_mut()) {
			made.at = made.at.checked_sub(time).unwrap();
			made.served = made.served.map(|served| served.checked_sub(time).unwrap());
			made.parts = made.parts.map(|parts| parts.checked_sub(time).unwrap());
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
	assert_eq!(scene.work(), (0, None));
}

/// Several seats that ask for states of one stretch have it computed once, in the order of the checkpoints.
#[test]
fn one_pass_serves_all_in_the_order_of_the_checkpoints() {
	let scene = Scene::new();
	for (who, step) in [("//Bob", 90), ("//Alice", 30), ("//Bob", 10), ("//Alice", 110)] {
		assert!(matches!(scene.ask(who, step), Said::Wait(_)));
	}
	let work = scene.begun();
	assert_eq!((work.stretch, &work.steps[..]), (0, &[10, 20, 30][..]));
	// Whoever asks for what is computed just now waits for that.
	assert!(matches!(scene.ask("//Bob", 20), Said::Wait(_)));
	scene.dropped.done(&work, Ok(()));
	assert_eq!(scene.work(), (2, None));
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

/// Who only sits in a relay reads one state.
#[test]
fn each_reader_has_its_own_bound() {
	let scene = Scene::new();
	let mut other = thinned(7, scene.folder.path().into());
	other.readers.insert(account(&from_uri("//Charlie").unwrap()), 1);
	scene.dropped.set(HashMap::from([(ROOT, Arc::new(other))]));
	assert!(matches!(scene.ask("//Charlie", 10), Said::Wait(_)));
	assert!(
		matches!(scene.ask("//Charlie", 50), Said::Refused(why) if why.contains("of 1 stretches"))
	);
	assert!(matches!(scene.ask("//Alice", 50), Said::Wait(_)));
	assert!(matches!(scene.ask("//Charlie", 20), Said::Wait(_)));
}

/// What was computed lies within a bound, and stays for whoever waits for it.
#[test]
fn two_stretches_lie_on_disk() {
	let scene = Scene::new();
	scene.ask("//Alice", 10);
	scene.ask("//Alice", 50);
	scene.ask("//Bob", 90);
	assert_eq!((scene.work(), scene.work()), ((0, None), (1, None)));
	assert!(matches!(scene.dropped.next(), Next::Later(stays) if stays <= STAY));
	// The one that was served goes first.
	drop(scene.fetch("//Bob", 60).unwrap());
	assert!(matches!(scene.dropped.next(), Next::Later(stays) if stays <= SERVED_STAY));
	scene.age();
	let gone = scene.folder.path().join(checkpoint_file(10));
	std::fs::write(&gone, b"x").unwrap();
	let work = scene.begun();
	assert_eq!((work.stretch, gone.is_file()), (2, false));
	scene.dropped.done(&work, Err("the disk is full".into()));
	assert_eq!(scene.ask("//Bob", 90), Said::Failed("the disk is full".into()));
	assert_eq!(scene.work(), (2, None), "whoever asks again has it tried again");
}

/// What a reader fetches is not taken away under it, but it holds up nobody for longer than computing takes.
#[test]
fn what_is_fetched_stays() {
	let scene = Scene::new();
	let stays = || match scene.dropped.next() {
		Next::Later(stays) => stays,
		other => panic!("{other:?}"),
	};
	scene.ask("//Alice", 10);
	scene.ask("//Alice", 50);
	scene.ask("//Bob", 90);
	assert_eq!([scene.work().0, scene.work().0], [0, 1]);
	let long = STAY * 10;
	scene.took(long);
	let [first, second, third] = [10, 20, 50].map(|step| scene.fetch("//Alice", step).unwrap());
	scene.age();
	assert!(stays() > STAY, "both are fetched");
	drop(first);
	scene.age();
	assert!(stays() > STAY, "another state of it is fetched");
	drop(second);
	assert!(stays() <= SERVED_STAY, "nothing is, and just now it was");
	scene.age();
	assert_eq!(scene.work(), (2, Some(0)));
	// A reader that takes a byte now and then.
	let slow = scene.fetch("//Bob", 90).unwrap();
	scene.took(long);
	scene.ask("//Bob", 10);
	assert!(stays() > STAY);
	scene.age_by(long);
	assert_eq!(scene.work().0, 0, "though both are fetched");
	drop((third, slow));
}

/// Whoever is no reader keeps nothing on disk, by whatever it asks for.
#[test]
fn a_stranger_holds_up_nobody() {
	let scene = Scene::new();
	for step in [10, 50] {
		scene.ask("//Alice", step);
		scene.work();
	}
	scene.ask("//Bob", 90);
	let ask = |step, header: Option<&str>| scene.dropped.fetches(&ROOT, step, header);
	for step in [10, 50] {
		assert!(ask(step, None).is_none());
		assert!(ask(step, Some("nonsense")).is_none());
		assert!(scene.fetch("//Charlie", step).is_none());
		assert!(ask(step, Some(&signed("//Alice", ROOT, step + 10))).is_none());
	}
	// Parts are asked for without a signature: that is no reason to remove them earlier.
	scene.dropped.parts_asked(&ROOT, 10);
	scene.dropped.parts_asked(&ROOT, 50);
	scene.age_by(STAY - Duration::from_secs(1));
	assert!(matches!(scene.dropped.next(), Next::Later(_)));
	// What is kept, and what is not there, is nobody's to hold either.
	assert!(scene.fetch("//Alice", 40).is_none() && scene.fetch("//Alice", 90).is_none());
	scene.age();
	assert_eq!(scene.work(), (2, Some(0)));
}

/// A reader that fetches the same again and again holds up others for a minute, where computing takes less.
#[test]
fn a_reader_that_fetches_on_and_on_lets_others_have_their_turn() {
	let scene = Scene::new();
	for step in [10, 50] {
		scene.ask("//Alice", step);
		scene.work();
	}
	scene.ask("//Bob", 90);
	let mut waited = Duration::ZERO;
	while let Next::Later(_) = scene.dropped.next() {
		for step in [10, 50] {
			drop(scene.fetch("//Alice", step));
			// And whoever it is that asks for parts over iroh.
			scene.dropped.parts_asked(&ROOT, step);
		}
		scene.age_by(SERVED_STAY / 3);
		waited += SERVED_STAY / 3;
	}
	assert!(waited <= STAY && waited > SERVED_STAY, "{waited:?}");
}

/// A seat that lets what it asked for go, and asks again and again, makes the trainer compute as often as there is a
/// reason to, and no more.
#[test]
fn a_seat_has_stretches_computed_a_bounded_number_of_times() {
	let scene = Scene::new();
	let mut times = 0;
	while let Said::Wait(_) = scene.ask("//Alice", [10, 50][times % 2]) {
		assert_eq!(scene.work().0, [0, 1][times % 2]);
		assert!(matches!(scene.dropped.next(), Next::Idle));
		scene.age();
		times += 1;
	}
	assert_eq!(times, 4);
	assert!(
		matches!(scene.ask("//Alice", 10), Said::Refused(why) if why.contains("4 times for you"))
	);
	// What is computed for others anyway costs nothing.
	scene.ask("//Bob", 10);
	assert!(matches!(scene.ask("//Alice", 10), Said::Wait(_)));
	let work = scene.begun();
	assert!(matches!(scene.ask("//Alice", 20), Said::Wait(_)), "while it is computed");
	scene.dropped.done(&work, Ok(()));
	let mut next = thinned(7, scene.folder.path().into());
	next.round = 1;
	scene.dropped.set(HashMap::from([(ROOT, Arc::new(next))]));
	assert!(matches!(scene.ask("//Alice", 50), Said::Wait(_)), "another round");
}

/// What the trainer must store has its time on chain: whoever else asks waits.
#[tokio::test]
async fn what_the_trainer_itself_needs_comes_first() {
	let scene = Scene::new();
	scene.ask("//Alice", 10);
	scene.dropped.wait().await;
	let (first, second) = (scene.dropped.own_first(), scene.dropped.own_first());
	assert!(matches!(scene.dropped.next(), Next::Idle));
	drop(first);
	assert!(matches!(scene.dropped.next(), Next::Idle), "the other one goes on");
	scene.dropped.wait().await;
	drop(second);
	// Whoever waits for work is woken.
	scene.dropped.wait().await;
	// While other work has the machine, the trainer may need what is to go.
	let Next::Work(mut work) = scene.dropped.next() else { panic!("Alice waits") };
	let own = scene.dropped.own_first();
	assert!(!scene.dropped.begin(&mut work));
	drop(own);
	assert_eq!(scene.work().0, 0);
}

/// A trainer whose disk is full computes nothing for a seat, and that is not the seat's to bear.
#[test]
fn what_fails_counts_for_nobody() {
	let scene = Scene::new();
	for _ in 0..10 {
		assert!(!matches!(scene.ask("//Alice", 10), Said::Refused(_)));
		let work = scene.begun();
		scene.dropped.done(&work, Err("the disk is full".into()));
	}
	assert_eq!(scene.dropped.locked().desks[&7].asked.values().next().unwrap().times, 0);
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
	assert_eq!(scene.work(), (2, Some(0)));
	scene.dropped.set(HashMap::new());
	assert_eq!(scene.dropped.ask(&ROOT, 90, None), None, "taken down");
}
