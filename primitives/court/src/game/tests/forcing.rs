//! Leaves that the defendant forced to be false.

use super::*;
use trainyard_protocol::bundle::{bundle_leaves, bundle_root};

const SECRET: forced::Secret = [7; 32];

/// A run whose leaf 2 is forced in its bundle, and accusations of it.
struct Forcing<'a> {
	job: &'a Job,
	run: &'a Run,
	result: trainyard_protocol::job::WorkResult,
	leaves: Vec<Leaf>,
	store: Store,
}

impl<'a> Forcing<'a> {
	fn new(job: &'a Job, run: &'a Run) -> Self {
		let mut shown = run.checkpoints.clone();
		let trace = shown[2].trace;
		shown[2] = forced::forced(&SECRET, 2, &shown[2]);
		let hashes = bundle_leaves(shown.iter().copied(), run.diverged);
		let result = trainyard_protocol::job::WorkResult {
			bundle_root: bundle_root(shown.iter().copied(), run.diverged),
			..run.result()
		};
		let leaf = |index: usize| Leaf {
			content: LeafContent::Checkpoint(shown[index]),
			path: merkle::proof(&hashes, index).unwrap().try_into().unwrap(),
		};
		let forced = vec![Forced { index: 2, shown: shown[2].trace, trace }];
		let store = Store { forced, ..Store::default() };
		Self { job, run, result, leaves: vec![leaf(1), leaf(2)], store }
	}

	fn begin(&self, claimed: End, store: &Store) -> Result<Moved, Refused> {
		let game = Game { case: &self.job.world.case, result: &self.result, said: store };
		game.begin(Target::Segment(1), &Claimed::End(claimed), &self.leaves, None)
	}

	/// The end of segment 1 of a run.
	fn end_of(run: &Run) -> End {
		End::of(&run.checkpoints[2])
	}
}

fn stage(moved: Moved) -> Stage {
	let Next::Stage(stage) = moved.next else { panic!("{moved:?}") };
	stage
}

/// Who claims what the true leaf says is granted it when the leaf is opened, and accused of nothing after.
#[test]
fn the_true_leaf_ends_a_dispute() {
	let job = jobs::small();
	let honest = Run::new(&job, Change::Nothing);
	let scene = Forcing::new(&job, &honest);
	let claimed = Forcing::end_of(&honest);
	let before = stage(scene.begin(claimed, &Store::default()).unwrap());
	assert!(!before.grants(&Claimed::End(claimed)));
	let game = Game { case: &job.world.case, result: &scene.result, said: &scene.store };
	let after = game.advance(&before).unwrap();
	assert_ne!(after, before, "it can be poked");
	assert!(after.grants(&Claimed::End(claimed)) && !after.grants(&Claimed::Other));
	// Nothing is denied any more.
	assert_eq!(scene.begin(claimed, &scene.store), Err(Refused::NothingDenied));
	let shown = End::of(&forced::forced(&SECRET, 2, &honest.checkpoints[2]));
	assert!(scene.begin(shown, &scene.store).is_ok(), "that is not what the trainer says");
	assert_eq!(scene.begin(shown, &Store::default()), Err(Refused::NothingDenied));
}

/// A dispute about a forced leaf in which something else is claimed goes on with the true one, and the
/// trainer defends it as any other.
#[test]
fn what_is_forced_is_defended_with_its_true_trace() {
	let job = jobs::small();
	let honest = Run::new(&job, Change::Nothing);
	let accuser = Run::new(&job, Change::Bent { step: 3 });
	let scene = Forcing::new(&job, &honest);
	let claimed = Forcing::end_of(&accuser);
	let place = Place::Ends { target: Target::Segment(1) };
	for begun in [&Store::default(), &scene.store] {
		let before = stage(scene.begin(claimed, begun).unwrap());
		let player = Player { case: &job.world.case, record: scene.run };
		let game = Game { case: &job.world.case, result: &scene.result, said: &scene.store };
		let stage_now = game.advance(&before).unwrap();
		assert!(!stage_now.grants(&Claimed::End(claimed)));
		assert_eq!(stage_now.subject.end, Some(Forcing::end_of(&honest)));
		let opening = player.open(game, &stage_now).unwrap();
		// Also where nobody has poked it before.
		let moved = game.open(&before, &place, &opening).unwrap();
		assert_eq!(stage(moved.clone()).subject.end, Some(Forcing::end_of(&honest)));
		assert_eq!(moved, game.open(&stage_now, &place, &opening).unwrap());
		// A trace that stands for none is opened by nothing.
		let blank = Store::default();
		let game = Game { case: &job.world.case, result: &scene.result, said: &blank };
		let unopened = stage(scene.begin(claimed, &blank).unwrap());
		assert_eq!(game.open(&unopened, &place, &opening), Err(Refused::WrongOpening));
	}
}
