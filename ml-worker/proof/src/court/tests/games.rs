//! Whole disputes of recorders.

use super::*;
use codec::Encode;
use std::time::Instant;
use trainyard_court::{
	game::{
		player::{Denial, Player},
		Claimed, Due, Entry, Game, Leaf, LeafContent, Level, Next, Opened, Opening, Outcome, Piece,
		Place, Roots, Said, Stage, Target, Turn,
	},
	referee::Openings,
	testing::run::other,
};
use trainyard_protocol::{
	blob,
	bundle::{bundle_leaves, bundle_root},
	content,
	job::WorkResult,
	merkle,
};

/// What a defendant has said.
#[derive(Default)]
struct Store {
	posts: BTreeMap<Place, Roots>,
	openings: BTreeMap<Place, Opened>,
}

impl Said for Store {
	fn posted(&self, place: &Place) -> Option<Roots> {
		self.posts.get(place).cloned()
	}

	fn opened(&self, place: &Place) -> Option<Opened> {
		self.openings.get(place).cloned()
	}
}

/// A side of a dispute: what it claims, and what it says.
pub(super) trait Party {
	fn claims(&self) -> Claims;
	fn model_root(&self) -> H256;
	fn post<S: Said>(&self, game: Game<'_, S>, stage: &Stage) -> Option<Roots>;
	fn open<S: Said>(&self, game: Game<'_, S>, stage: &Stage) -> Option<Opening>;
	fn deny<S: Said>(&self, game: Game<'_, S>, stage: &Stage) -> Option<Denial>;
	fn openings(&self, case: &Case, stage: &Stage) -> Option<Openings>;
}

fn model_root(bytes: &[u8]) -> H256 {
	blob::root_of(bytes.len() as u64, &content::hash(bytes))
}

impl Party for Run {
	fn claims(&self) -> Claims {
		Claims { checkpoints: self.checkpoints.clone(), diverged: self.diverged }
	}

	fn model_root(&self) -> H256 {
		model_root(&self.model_bytes)
	}

	fn post<S: Said>(&self, game: Game<'_, S>, stage: &Stage) -> Option<Roots> {
		Player { case: game.case, record: self }.post(game, stage)
	}

	fn open<S: Said>(&self, game: Game<'_, S>, stage: &Stage) -> Option<Opening> {
		Player { case: game.case, record: self }.open(game, stage)
	}

	fn deny<S: Said>(&self, game: Game<'_, S>, stage: &Stage) -> Option<Denial> {
		Player { case: game.case, record: self }.deny(game, stage)
	}

	fn openings(&self, case: &Case, stage: &Stage) -> Option<Openings> {
		Player { case, record: self }.openings(stage)
	}
}

/// What a recorder cannot compute, it does not say: its clock runs out.
impl Party for Recorder {
	fn claims(&self) -> Claims {
		self.claims().clone()
	}

	fn model_root(&self) -> H256 {
		self.model(model_root).unwrap()
	}

	fn post<S: Said>(&self, game: Game<'_, S>, stage: &Stage) -> Option<Roots> {
		Recorder::post(self, game, stage).ok()?
	}

	fn open<S: Said>(&self, game: Game<'_, S>, stage: &Stage) -> Option<Opening> {
		Recorder::open(self, game, stage).ok()?
	}

	fn deny<S: Said>(&self, game: Game<'_, S>, stage: &Stage) -> Option<Denial> {
		Recorder::deny(self, game, stage).ok()?
	}

	fn openings(&self, _: &Case, stage: &Stage) -> Option<Openings> {
		Recorder::openings(self, stage).ok()?
	}
}

fn leaf(claims: &Claims, index: u32) -> Option<LeafContent> {
	let checkpoint = claims.checkpoints.get(index as usize).copied();
	let last = index as usize == claims.checkpoints.len();
	let diverged = claims.diverged.filter(|_| last).map(LeafContent::Diverged);
	checkpoint.map(LeafContent::Checkpoint).or(diverged)
}

fn end(claims: &Claims, index: u32) -> End {
	match leaf(claims, index).unwrap() {
		LeafContent::Checkpoint(checkpoint) => End::of(&checkpoint),
		LeafContent::Diverged(diverged) => End::Diverged(diverged),
	}
}

/// Returns where two results part first.
fn parting(one: &impl Party, other: &impl Party) -> Option<Target> {
	let [ours, theirs] = [one.claims(), other.claims()];
	for index in 0.. {
		match (leaf(&ours, index), leaf(&theirs, index)) {
			(None, None) => break,
			(Some(one), Some(other)) if one == other => {}
			(Some(_), Some(_)) if index == 0 => return Some(Target::Start),
			(Some(_), Some(_)) => return Some(Target::Segment(index - 1)),
			_ => return Some(Target::Stop),
		}
	}
	(one.model_root() != other.model_root()).then_some(Target::Model)
}

/// How a dispute ended, and by which piece.
#[derive(Debug)]
pub(super) struct Played {
	pub outcome: Outcome,
	pub piece: Option<Piece>,
	pub spent: Spent,
}

/// What a dispute took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
	/// Moves, with the challenge and what ends it; a transaction each.
	pub moves: u32,
	/// Bytes of what they bring, and of the largest of them.
	pub bytes: usize,
	pub largest: usize,
	/// Seconds that the defender computed, and the challenger.
	pub seconds: [f64; 2],
}

impl Spent {
	/// Returns what a side says, whose time is counted.
	fn timed<R>(&mut self, side: usize, say: impl FnOnce() -> R) -> R {
		let begun = Instant::now();
		let said = say();
		self.seconds[side] += begun.elapsed().as_secs_f64();
		said
	}

	/// Counts a move that brings this.
	fn count(&mut self, brings: &impl Encode) {
		let bytes = brings.encoded_size();
		self.moves += 1;
		self.bytes += bytes;
		self.largest = self.largest.max(bytes);
	}
}

const DEFENDER: usize = 0;
const CHALLENGER: usize = 1;

/// Plays a dispute to its end.
pub(super) fn play(
	case: &Case,
	defender: &impl Party,
	challenger: &impl Party,
	target: Target,
	claimed: Claimed,
) -> Played {
	let claims = defender.claims();
	let all = bundle_leaves(claims.checkpoints.iter().copied(), claims.diverged);
	let segments = claims.checkpoints.len() as u32 - 1;
	let result = &WorkResult {
		bundle_root: bundle_root(claims.checkpoints.iter().copied(), claims.diverged),
		true_root: bundle_root(claims.checkpoints.iter().copied(), claims.diverged),
		model_root: defender.model_root(),
		segments,
		diverged: claims.diverged.is_some(),
	};
	let indices = match target {
		Target::Start => vec![0],
		Target::Segment(segment) => vec![segment, segment + 1],
		Target::Model => vec![segments],
		Target::Rescue { state, .. } => vec![state],
		_ => vec![],
	};
	let leaf = |index: &u32| Leaf {
		content: leaf(&claims, *index).unwrap(),
		path: merkle::proof(&all, *index as usize).unwrap().try_into().unwrap(),
	};
	let leaves: Vec<Leaf> = indices.iter().map(leaf).collect();
	let mut store = Store::default();
	let game = Game { case, result, said: &store };
	let mut spent = Spent::default();
	spent.count(&(target, claimed, &leaves));
	let mut moved = game.begin(target, &claimed, &leaves, None).unwrap();
	let mut piece = None;
	loop {
		let stage = match moved.next {
			Next::Ended(outcome) => return Played { outcome, piece, spent },
			Next::Stage(stage) => stage,
		};
		for entry in moved.said {
			match entry {
				Entry::Posted(place, roots) => drop(store.posts.insert(place, roots)),
				Entry::Opened(place, opened) => drop(store.openings.insert(place, opened)),
			}
		}
		let game = Game { case, result, said: &store };
		let next = match stage.turn {
			Turn::Defender => {
				let place = stage.place().unwrap();
				match game.due(&stage).unwrap() {
					Due::Opening => {
						spent.timed(DEFENDER, || defender.open(game, &stage)).and_then(|opening| {
							spent.count(&(place, &opening));
							game.open(&stage, &place, &opening).ok()
						})
					}
					_ => spent.timed(DEFENDER, || defender.post(game, &stage)).and_then(|roots| {
						spent.count(&(place, &roots));
						game.post(&stage, &place, &roots).ok()
					}),
				}
				.ok_or(Outcome::Convicted)
			}
			Turn::Challenger => {
				let place = stage.place().unwrap();
				match spent.timed(CHALLENGER, || challenger.deny(game, &stage)) {
					Some(Denial::Deny(at)) => {
						spent.count(&(place, at));
						Ok(game.deny(&stage, &place, at).unwrap())
					}
					Some(Denial::Show(witness)) => {
						spent.count(&(place, &witness));
						Ok(game.show(&stage, &place, &witness).unwrap())
					}
					None => Err(Outcome::Acquitted),
				}
			}
			Turn::Piece => {
				let Level::Judge { piece: found } = stage.level else { panic!("{stage:?}") };
				piece = Some(found);
				let mut judged = None;
				for side in [DEFENDER, CHALLENGER] {
					let openings = spent.timed(side, || match side {
						DEFENDER => defender.openings(case, &stage),
						_ => challenger.openings(case, &stage),
					});
					let Some(openings) = openings else { continue };
					let bytes = openings.encode();
					if let Ok((moved, ..)) = game.judge(&stage, &openings) {
						spent.count(&bytes);
						judged = Some(moved);
						break;
					}
				}
				judged.ok_or(Outcome::Convicted)
			}
		};
		moved = match next {
			Ok(moved) => moved,
			Err(outcome) => return Played { outcome, piece, spent },
		};
	}
}

/// Returns what a challenger claims about a target.
fn claimed(challenger: &impl Party, target: &Target) -> Claimed {
	let index = match *target {
		Target::Start => 0,
		Target::Segment(segment) => segment + 1,
		_ => return Claimed::Other,
	};
	Claimed::End(end(&challenger.claims(), index))
}

/// Lets an honest recorder and a run that is changed accuse each other.
fn decide(name: &str, job: &Job, honest: &Recorder, changed: &Run) -> Piece {
	let case = &job.world.case;
	let target = parting(honest, changed).unwrap_or_else(|| panic!("{name}: results are equal"));
	let accused = play(case, changed, honest, target, claimed(honest, &target));
	println!("{name}: {target:?}, {:?}", accused.piece.map(|piece| format!("{piece:.40?}")));
	assert_eq!(accused.outcome, Outcome::Convicted, "{name}: {accused:?}");
	let defended = play(case, honest, changed, target, claimed(changed, &target));
	assert_eq!(defended.outcome, Outcome::Acquitted, "{name}: {defended:?}");
	defended.piece.or(accused.piece).unwrap_or_else(|| panic!("{name}: no piece"))
}

/// A step and a slice of every kind of job, a bent element in each.
fn bent_elements(run: &Run) -> Vec<Change> {
	let moments = [Moment::Step { segment: 0, step: 1 }, Moment::Slice { checkpoint: 1, slice: 0 }];
	let mut changes = Vec::new();
	for at in moments {
		let results = run.computed_at(&at);
		let count = trainyard_court::referee::proving::Holder::results(results).len() as u32;
		// Far apart, so that all parts of a network are met.
		for result in (0..count).step_by(1 + count as usize / 6) {
			let bits = other(results.bits(result, 0));
			changes.push(Change::Element { at, result, element: 0, bits });
		}
	}
	changes
}

#[test]
fn recorders_win_where_they_are_right() {
	use Change::*;
	let mut decided = 0;
	for (name, job) in all_operators().into_iter().chain([("cnn".to_owned(), jobs::cnn())]) {
		let honest = Run::new(&job, Nothing);
		let disk = OnDisk::new(&job, &honest);
		let recorder = disk.recorder(kept_in(disk.folder.path(), 1 << 20));
		for change in bent_elements(&honest) {
			let changed = Run::new(&job, change);
			// Nothing is false where nothing comes of it.
			if parting(&recorder, &changed).is_none() {
				continue;
			}
			let piece = decide(&format!("{name}: {change:?}"), &job, &recorder, &changed);
			let (Element { at, result, .. }, Piece::Stretch { at: found, stretch, .. }) =
				(change, piece)
			else {
				panic!("{change:?} {piece:?}")
			};
			assert_eq!((at, result), (found, stretch.result));
			decided += 1;
		}
	}
	println!("{decided} elements");
	assert!(decided > 20, "{decided}");
}

#[test]
fn every_target_is_defended_and_accused() {
	use Change::*;
	let job = jobs::small();
	let honest = Run::new(&job, Nothing);
	let disk = OnDisk::new(&job, &honest);
	let recorder = disk.recorder(kept_in(disk.folder.path(), 1 << 20));
	for change in [
		Initial { tensor: 0, element: 7 },
		Rows { labels: false },
		Rows { labels: true },
		ValidationRows,
		Loss { step: 3 },
		Logits { step: 2 },
		Bent { step: 5 },
		Slice { checkpoint: 2, slice: 0 },
		Mean { checkpoint: 1 },
		Mean { checkpoint: 0 },
		Correct { checkpoint: 3 },
		Model { word: 20 },
		Model { word: honest.model_bytes.len() / 4 - 1 },
	] {
		decide(&format!("{change:?}"), &job, &recorder, &Run::new(&job, change));
	}
	for (name, job, change) in [
		("tuned", jobs::tuned(), Initial { tensor: 2, element: 3 }),
		("of 70 steps", jobs::steps(), Bent { step: 33 }),
		("of 70 steps", jobs::steps(), Logits { step: 69 }),
		("of 3 slices", jobs::slices(), Slice { checkpoint: 1, slice: 2 }),
		("past its stop", jobs::stops_soon(), GoesOn),
		("before its stop", jobs::stops_soon(), Ends { segments: 1 }),
		("past a loss", jobs::diverges_in_a_loss(), Diverges),
		("past a state", jobs::diverges_in_a_state(), Diverges),
		("past an end", jobs::diverges_at_an_end(), Diverges),
		("past an evaluation", jobs::diverges_in_an_evaluation(), Diverges),
		("past the initial state", jobs::diverges_before_it_begins(), Diverges),
	] {
		let honest = Run::new(&job, Nothing);
		let disk = OnDisk::new(&job, &honest);
		let recorder = disk.recorder(kept_in(disk.folder.path(), 1 << 20));
		decide(name, &job, &recorder, &Run::new(&job, change));
	}
}

/// What is no divergence is defended, whatever is said to be infinite.
#[test]
fn a_training_that_goes_on_is_defended() {
	let job = jobs::small();
	let honest = Run::new(&job, Change::Nothing);
	let disk = OnDisk::new(&job, &honest);
	let recorder = disk.recorder(Options::default());
	let lowered =
		Lowered::new(&job.world.case, Moment::Step { segment: 1, step: 2 }.computation().unwrap());
	let loss = lowered.unwrap().find(trainyard_program::ops::Role::Loss).unwrap();
	use trainyard_court::game::Witness;
	for (step, witness) in [
		(2, Witness::Result { result: loss, element: 0 }),
		(3, Witness::Result { result: loss, element: 0 }),
		(4, Witness::State { tensor: 3, element: 2 }),
	] {
		let changed = Run::new(&job, Change::Diverged { step, witness });
		let target = parting(&recorder, &changed).unwrap();
		let case = &job.world.case;
		let accused = play(case, &changed, &recorder, target, claimed(&recorder, &target));
		assert_eq!(accused.outcome, Outcome::Convicted, "{witness:?}");
		assert!(accused.piece.is_some(), "{witness:?}");
		let defended = play(case, &recorder, &changed, target, claimed(&changed, &target));
		assert_eq!(defended.outcome, Outcome::Acquitted, "{witness:?}");
	}
}

/// A state that was stored on chain is held against the committed one.
#[test]
fn a_rescued_state_is_defended_and_accused() {
	let job = jobs::small();
	let plain = Run::new(&job, Change::Nothing);
	let disk = OnDisk::new(&job, &plain);
	for (state, word) in [(0, None), (1, Some(3)), (3, Some(4)), (2, None)] {
		let stored = Run::new(&job, Change::Nothing).with_stored(state, word);
		let bytes = stored.blob_bytes().unwrap();
		let path = disk.folder.path().join("blob");
		std::fs::write(&path, &bytes).unwrap();
		let target = Target::Rescue { blob: model_root(&bytes), state };
		let recorder = disk.recorder(Options::default()).with_blob(&path);
		// Of a right one, the challenger says that it is not.
		let bent = Run::new(&job, Change::Nothing).with_stored(state, Some(2));
		let case = &job.world.case;
		match word {
			None => {
				let played = play(case, &recorder, &bent, target, Claimed::Other);
				assert_eq!(played.outcome, Outcome::Acquitted, "{played:?}");
				assert!(matches!(played.piece, Some(Piece::Stored { .. })), "{played:?}");
			}
			Some(_) => {
				let played = play(case, &plain, &recorder, target, Claimed::Other);
				assert_eq!(played.outcome, Outcome::Convicted, "{played:?}");
				assert!(matches!(played.piece, Some(Piece::Stored { .. })), "{played:?}");
			}
		}
	}
	std::fs::write(disk.folder.path().join("blob"), b"short").unwrap();
	let recorder = disk.recorder(Options::default()).with_blob(&disk.folder.path().join("blob"));
	assert_eq!(recorder.stored_contents(1), None);
	assert!(matches!(*lock(&recorder.failure), Some(RecordError::Blob { state: 1 })));
}
