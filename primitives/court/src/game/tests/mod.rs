//! Disputes between two parties in memory, over real runs.

mod again;
mod forcing;
mod malformed;
mod operators;
mod targets;

use super::{
	player::{Denial, Player, Record},
	*,
};
use crate::{
	referee::MAX_OPENINGS,
	testing::{jobs, run},
	Case,
};
use codec::{Decode, Encode, MaxEncodedLen};
use run::{Change, Job, Run};
use std::collections::BTreeMap;
use trainyard_protocol::{
	blob, content,
	forced::{self, Forced},
	merkle, H256,
};

/// What a defendant has said so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Store {
	posts: BTreeMap<Place, Roots>,
	openings: BTreeMap<Place, Opened>,
	forced: Vec<Forced>,
}

impl Said for Store {
	fn posted(&self, place: &Place) -> Option<Roots> {
		self.posts.get(place).cloned()
	}

	fn opened(&self, place: &Place) -> Option<Opened> {
		self.openings.get(place).cloned()
	}

	fn forced(&self, index: u32) -> Option<Forced> {
		self.forced.iter().find(|forced| forced.index == index).copied()
	}
}

impl Store {
	/// Keeps what a move said, each thing once.
	fn keep(&mut self, said: Vec<Entry>) {
		for entry in said {
			let before = match entry {
				Entry::Posted(place, roots) => {
					assert!(!roots.is_empty());
					self.posts.insert(place, roots).is_some()
				}
				Entry::Opened(place, opened) => {
					assert!(opened.encoded_size() <= Opened::max_encoded_len());
					self.openings.insert(place, opened).is_some()
				}
			};
			assert!(!before, "something was said twice");
		}
	}
}

/// How a dispute went.
#[derive(Clone, Debug)]
struct Played {
	outcome: Outcome,
	/// The piece that decided; none where a side did not move.
	piece: Option<Piece>,
	/// Transactions, commitment and challenge included.
	transactions: u32,
	/// Posts and openings that the defender had to bring.
	said: u32,
	/// How often the challenger denied something.
	rounds: u32,
	/// Bytes that were brought, all together and in the largest call.
	bytes: usize,
	largest: usize,
}

impl Played {
	/// Returns what a dispute that was decided by a piece came to.
	fn judged(&self) -> Outcome {
		assert!(self.piece.is_some(), "{self:?}");
		self.outcome
	}
}

/// Two parties, and what the dispute is about.
struct Table<'a> {
	case: &'a Case,
	defender: &'a Run,
	challenger: &'a Run,
	/// Whose result it is: the defender's own, or the one that a seat replayed.
	trainer: &'a Run,
}

impl<'a> Table<'a> {
	fn new(job: &'a Job, defender: &'a Run, challenger: &'a Run) -> Self {
		Self { case: &job.world.case, defender, challenger, trainer: defender }
	}

	/// Returns what an honest challenger accuses: where the results part first.
	fn accusation(&self) -> Option<Target> {
		let Self { defender, challenger, .. } = self;
		for index in 0.. {
			match (defender.leaf(index), challenger.leaf(index)) {
				(None, None) => break,
				(Some(one), Some(other)) if one == other => {}
				(Some(_), Some(_)) if index == 0 => return Some(Target::Start),
				(Some(_), Some(_)) => return Some(Target::Segment(index - 1)),
				_ => return Some(Target::Stop),
			}
		}
		let models = [defender, challenger].map(|run| run.result().model_root);
		(models[0] != models[1]).then_some(Target::Model)
	}

	fn leaves(&self, target: &Target) -> Vec<Leaf> {
		let result = self.trainer.result();
		let indices = match *target {
			Target::Start => vec![0],
			Target::Segment(segment) => vec![segment, segment + 1],
			Target::Evidence(segment) => vec![segment],
			Target::Stop => vec![],
			Target::Model => vec![result.segments],
			Target::Rescue { state, .. } => vec![state],
		};
		let all = self.trainer.leaves();
		let leaf = |index: &u32| {
			let path = merkle::proof(&all, *index as usize).unwrap();
			let content = self.trainer.leaf(*index).unwrap();
			Leaf { content, path: path.try_into().unwrap() }
		};
		indices.iter().map(leaf).collect()
	}

	/// Returns what the challenger claims, and what a seat revealed.
	fn claims(&self, target: &Target) -> (Claimed, Option<End>) {
		let index = match *target {
			Target::Start => 0,
			Target::Segment(segment) | Target::Evidence(segment) => segment + 1,
			_ => return (Claimed::Other, None),
		};
		let claimed = self.challenger.end_at(index).unwrap();
		let seat = matches!(target, Target::Evidence(_));
		(Claimed::End(claimed), self.defender.end_at(index).filter(|_| seat))
	}

	/// Plays a dispute to its end. `look` is called before each move.
	fn play(
		&self,
		target: Target,
		store: &mut Store,
		look: &mut dyn FnMut(Game<'_, Store>, &Stage),
	) -> Played {
		let result = self.trainer.result();
		let (case, result) = (self.case, &result);
		let [defender, challenger] =
			[self.defender, self.challenger].map(|record| Player { case, record });
		let (claimed, revealed) = self.claims(&target);
		let leaves = self.leaves(&target);
		let challenge = (&target, &claimed, &leaves).encoded_size();
		let mut played = Played {
			outcome: Outcome::Acquitted,
			piece: None,
			transactions: 2,
			said: 0,
			rounds: 0,
			bytes: challenge,
			largest: challenge,
		};
		let game = Game { case, result, said: &*store };
		let mut moved = game.begin(target, &claimed, &leaves, revealed.as_ref()).unwrap();
		loop {
			let mut stage = match moved.next {
				Next::Ended(outcome) => {
					played.outcome = outcome;
					return played;
				}
				Next::Stage(stage) => stage,
			};
			store.keep(moved.said);
			let bytes = stage.encode();
			assert!(bytes.len() <= Stage::max_encoded_len());
			assert_eq!(Stage::decode(&mut &bytes[..]), Ok(stage));
			let game = Game { case, result, said: &*store };
			// Where nobody said anything in between, it does not go on by itself.
			assert_eq!(game.advance(&stage), Ok(stage));
			stage = game.advance(&stage).unwrap();
			look(game, &stage);
			played.transactions += 1;
			let place = stage.place();
			let mut size = place.encoded_size();
			let next = match stage.turn {
				Turn::Defender => {
					let place = place.unwrap();
					let next = match game.due(&stage).unwrap() {
						Due::Opening => defender.open(game, &stage).and_then(|opening| {
							size += opening.encoded_size();
							game.open(&stage, &place, &opening).ok()
						}),
						Due::Post(_) => defender.post(game, &stage).and_then(|roots| {
							size += roots.encoded_size();
							game.post(&stage, &place, &roots).ok()
						}),
						Due::Nothing => panic!("nothing is due from {stage:?}"),
					};
					played.said += 1;
					// Without a move, its clock runs out.
					let Some(next) = next else {
						played.outcome = Outcome::Convicted;
						return played;
					};
					next
				}
				Turn::Challenger => {
					let place = place.unwrap();
					played.rounds += 1;
					match challenger.deny(game, &stage) {
						Some(Denial::Deny(at)) => game.deny(&stage, &place, at).unwrap(),
						Some(Denial::Show(witness)) => game.show(&stage, &place, &witness).unwrap(),
						None => return played,
					}
				}
				Turn::Piece => {
					let Level::Judge { piece } = stage.level else { panic!("{stage:?}") };
					let judged = [&defender, &challenger].into_iter().find_map(|player| {
						let openings = player.openings(&stage)?;
						size = openings.encoded_size();
						assert!(size <= MAX_OPENINGS, "{size} bytes: {piece:?}");
						game.judge(&stage, &openings).ok()
					});
					match judged {
						Some((next, judgement)) => {
							played.piece = Some(piece);
							let right = judgement.is_same();
							assert_eq!(
								next,
								Moved::ended(match right {
									true => Outcome::Acquitted,
									false => Outcome::Convicted,
								})
							);
							next
						}
						None => {
							played.outcome = Outcome::Convicted;
							return played;
						}
					}
				}
			};
			played.bytes += size;
			played.largest = played.largest.max(size);
			moved = next;
		}
	}

	/// Plays a dispute about what the challenger finds.
	fn found(&self) -> (Target, Played) {
		let target = self.accusation().expect("the results are equal");
		(target, self.play(target, &mut Store::default(), &mut |_, _| {}))
	}
}

/// Checks that a dispute was as long as it may be.
fn check_length(case: &Case, target: &Target, played: &Played) {
	let rounds = sizes::rounds(case, target).unwrap();
	assert!(played.rounds <= rounds, "{} of {rounds} rounds: {target:?}", played.rounds);
	assert!(played.transactions <= sizes::transactions(rounds).min(30), "{played:?}");
	assert!(played.largest <= 256 * 1_024, "{played:?}");
}

/// Lets an honest run and one that is changed accuse each other: the honest one wins, in both roles.
/// Returns what was disputed and how the cheat was convicted.
fn decide(name: &str, job: &Job, honest: &Run, changed: &Run) -> (Target, Played) {
	let case = &job.world.case;
	let (target, convicted) = Table::new(job, changed, honest).found();
	println!(
		"{name}: {target:?}, {} transactions, {} bytes, the largest of {}: {}",
		convicted.transactions,
		convicted.bytes,
		convicted.largest,
		convicted.piece.map_or("by clock".into(), |piece| format!("{piece:?}")
			.split([' ', '('])
			.next()
			.unwrap()
			.to_owned()),
	);
	assert_eq!(convicted.outcome, Outcome::Convicted, "{name}: {convicted:?}");
	check_length(case, &target, &convicted);
	let (other, acquitted) = Table::new(job, honest, changed).found();
	assert_eq!(target, other, "{name}");
	assert_eq!(acquitted.judged(), Outcome::Acquitted, "{name}");
	check_length(case, &target, &acquitted);
	(target, convicted)
}

/// Returns the root of the blob of a file.
fn blob_root(bytes: &[u8]) -> H256 {
	blob::root_of(bytes.len() as u64, &content::hash(bytes))
}
