//! Made-up trainings. Every digest leads to the next, so all moves can be played; what is computed is
//! not, but for what follows from the results of one step.

use crate::mock::*;
use frame_support::pallet_prelude::DispatchResultWithPostInfo;
use std::collections::BTreeMap;
use trainyard_court::{
	game::{
		ranges::boundaries32, types::LEVELS, ChunkBytes, Claimed, Contents, End, Leaf, LeafContent,
		Level, Opened, Opening, Peaks, Place, Roots, Target,
	},
	referee::{state_after, Computation, Lowered, Openings},
	Case,
};
use trainyard_program::{ops::Role, spec::JobSpec};
use trainyard_protocol::{
	bundle::{self, Checkpoint, Evaluation},
	content, court,
	job::WorkResult,
	merkle::{self, Frontier},
	trace, H256,
};
use trainyard_traits::{Accusation, Charged, Defendant, DisputeId};

/// The step whose results there are.
pub const STEP: u32 = 7;
/// Segments.
pub const SEGMENTS: u32 = 2;

/// A training. What two of them with other numbers have differs from the first step on.
pub struct MadeUp {
	pub case: Case,
	number: u8,
	/// Whether the state after [`STEP`] is that of its results.
	joins: bool,
	/// The bytes of the results of [`STEP`].
	pub results: Vec<Vec<u8>>,
	/// The state after [`STEP`], by its results.
	after: H256,
	logits: H256,
}

fn hash(of: (&str, u8, u32)) -> H256 {
	use codec::Encode;
	H256(sp_io::hashing::blake2_256(&of.encode()))
}

fn peaks(frontier: &Frontier) -> Peaks {
	frontier.peaks.clone().try_into().unwrap()
}

fn roots(all: Vec<H256>) -> Roots {
	all.try_into().unwrap()
}

/// An opening that brings nothing else.
pub fn opening(opened: Opened, all: Vec<H256>) -> Opening {
	Opening { opened, contents: Contents::new(), chunk: ChunkBytes::new(), roots: roots(all) }
}

impl MadeUp {
	pub fn new(number: u8, joins: bool) -> Self {
		let mut spec = JobSpec::example();
		spec.training.steps = 50 * SEGMENTS;
		let case = Case { spec: spec.check().unwrap(), seed: H256::repeat_byte(5) };
		let lowered = Lowered::new(&case, Computation::Step { step: STEP }).unwrap();
		let made = |result: usize, len: u64| -> Vec<f32> {
			let first = result * 31 + usize::from(number);
			(0..len as usize).map(|at| ((first + at * 7) % 97) as f32 / 8.0 - 5.0).collect()
		};
		let mut results: Vec<Vec<u8>> = (0..)
			.zip(lowered.parts())
			.map(|(result, part)| content::le_bytes(&made(result, part.len)))
			.collect();
		results[lowered.find(Role::Loss).unwrap() as usize] = content::le_bytes(&[LOSS]);
		let contents: Vec<H256> = results.iter().map(|bytes| content::hash(bytes)).collect();
		let after = state_after(&lowered, &contents).unwrap();
		let logits = contents[lowered.find(Role::Logits).unwrap() as usize];
		drop(lowered);
		Self { case, number, joins, results, after, logits }
	}

	fn state(&self, step: u32) -> H256 {
		match step == STEP + 1 && self.joins {
			true => self.after,
			// All begin in the same state.
			false if step == 0 => hash(("state", 0, 0)),
			false => hash(("state", self.number, step)),
		}
	}

	fn logits(&self, step: u32) -> H256 {
		match step == STEP {
			true => self.logits,
			false => hash(("logits", self.number, step)),
		}
	}

	/// The frontier of the leaves of the steps of segment 0 before `step`.
	fn steps(&self, step: u32) -> Frontier {
		let leaves: Vec<H256> =
			(0..step).map(|at| trace::step_leaf(at, LOSS, &self.logits(at))).collect();
		Frontier::of(&leaves).unwrap()
	}

	fn milestone(&self, step: u32) -> H256 {
		court::milestone(step, &self.state(step), &self.steps(step).root())
	}

	fn slices(&self) -> H256 {
		hash(("slices", self.number, 0))
	}

	fn evaluation(&self) -> Evaluation {
		Evaluation::new(1.5, u32::from(self.number), 359)
	}

	/// The checkpoints. Only the segment to the second of them can be disputed to its end.
	pub fn checkpoints(&self) -> Vec<Checkpoint> {
		let checkpoint = |at: u32| {
			let (step, evaluation) = (at * 50, self.evaluation());
			let mut steps = if at == 1 { self.steps(50) } else { Frontier::new() };
			steps.push(trace::evaluation_leaf(step, &evaluation, &self.slices())).unwrap();
			let (state, trace) = (self.state(step), trace::seal(&steps.root()));
			Checkpoint { step, state, evaluation, trace }
		};
		(0..=SEGMENTS).map(checkpoint).collect()
	}

	pub fn result(&self) -> WorkResult {
		WorkResult {
			bundle_root: bundle::bundle_root(self.checkpoints(), None),
			true_root: bundle::bundle_root(self.checkpoints(), None),
			model_root: H256::zero(),
			segments: SEGMENTS,
			diverged: false,
		}
	}

	pub fn charged(&self) -> Charged {
		Charged { case: self.case.clone(), result: self.result(), results: 44 }
	}

	/// A leaf with its path.
	pub fn leaf(&self, index: u32) -> Leaf {
		let all = self.checkpoints();
		let leaves = bundle::bundle_leaves(all.clone(), None);
		let path = merkle::proof(&leaves, index as usize).unwrap();
		let content = LeafContent::Checkpoint(all[index as usize]);
		Leaf { content, path: path.try_into().unwrap() }
	}

	/// Accuses `defendant`, which claims this training, of its first segment.
	pub fn accused(&self, defendant: Defendant<AccountId>) -> Accusation<AccountId> {
		let mut other = self.checkpoints()[1];
		other.state = H256::repeat_byte(0xEE);
		Accusation {
			defendant,
			target: Target::Segment(0),
			claimed: Claimed::End(End::of(&other)),
			leaves: vec![self.leaf(0), self.leaf(1)].try_into().unwrap(),
		}
	}

	/// Makes `who` a trainer of [`JOB`] that claims this training.
	pub fn claimed_by(&self, who: AccountId) -> Defendant<AccountId> {
		let defendant = Defendant::Trainer { job: JOB, who };
		Claims::mutate(|claims| claims.insert(defendant, (self.charged(), STAKE)));
		defendant
	}

	/// Prefix roots over the results of [`STEP`] at these counts.
	fn results_at(&self, counts: &[u32]) -> Vec<H256> {
		let (mut frontier, mut found) = (Frontier::new(), BTreeMap::new());
		found.insert(0, frontier.root());
		for (index, bytes) in (0u32..).zip(&self.results) {
			frontier.push(court::result_leaf(index, &content::hash(bytes))).unwrap();
			found.insert(frontier.count, frontier.root());
		}
		counts.iter().map(|count| found[count]).collect()
	}

	/// The number of results of a step.
	pub fn count(&self) -> u32 {
		self.results.len() as u32
	}

	/// The post of all results of [`STEP`].
	pub fn all_results(&self) -> Vec<H256> {
		let mut counts = boundaries32(0, self.count(), 1);
		counts.push(self.count());
		self.results_at(&counts)
	}

	/// What the defendant brings where a dispute stands and it is to move: an opening, or a post.
	pub fn due(&self, id: DisputeId) -> Result<Opening, Roots> {
		let stage = dispute(id).stage;
		match (stage.level, stage.place().unwrap()) {
			(Level::Ends, _) => {
				let steps = peaks(&self.steps(50));
				let all = (1..50).map(|step| self.milestone(step)).collect();
				Ok(opening(Opened::Segment { steps, slices: self.slices() }, all))
			}
			(Level::Steps { from, .. }, _) => {
				let (state, after) = (self.state(from), self.state(from + 1));
				let (steps, logits) = (peaks(&self.steps(from)), self.logits(from));
				let loss = LOSS.to_bits();
				let opened = Opened::Step { state, steps, after, loss, logits };
				Ok(opening(opened, self.all_results()))
			}
			(Level::Results { from, .. }, _) => {
				let leaves: Vec<H256> = (0..from)
					.map(|at| court::result_leaf(at, &content::hash(&self.results[at as usize])))
					.collect();
				let results = peaks(&Frontier::of(&leaves).unwrap());
				let bytes = &self.results[from as usize];
				let opened = Opened::Result { content: content::hash(bytes), results };
				let mut made = opening(opened, vec![]);
				match bytes.len() > 1_024 {
					true => made.roots = parts(bytes, content::Node::whole(bytes.len() as u64)),
					false => made.chunk = bytes.clone().try_into().unwrap(),
				}
				Ok(made)
			}
			(Level::Content { owner, node, .. }, Place::Chunk { chunk, .. }) => {
				assert_eq!(node.chunks, 1);
				let bytes = content::chunk(&self.results[owner.result as usize], chunk).unwrap();
				Ok(opening(Opened::Chunk { bytes: bytes.to_vec().try_into().unwrap() }, vec![]))
			}
			(Level::Content { owner, node, .. }, _) => {
				Err(parts(&self.results[owner.result as usize], node))
			}
			(level, place) => panic!("nothing is due at {place:?}, {level:?}"),
		}
	}

	/// The defendant moves.
	pub fn answer(&self, id: DisputeId) -> DispatchResultWithPostInfo {
		let place = place(id);
		let who = RuntimeOrigin::signed(*dispute(id).defendant.who());
		match self.due(id) {
			Ok(opening) => Court::open(who, id, place, opening),
			Err(roots) => Court::post(who, id, place, roots),
		}
	}

	/// Brings a dispute to the join of [`STEP`].
	pub fn to_the_join(&self, id: DisputeId) {
		self.answer(id).unwrap();
		deny(id, STEP).unwrap();
		self.answer(id).unwrap();
		deny(id, self.count()).unwrap();
	}

	/// What the join of [`STEP`] reads.
	pub fn join(&self) -> Openings {
		Openings::Contents(self.results.iter().map(|bytes| content::hash(bytes)).collect())
	}
}

/// The values of the parts of a node.
fn parts(bytes: &[u8], node: content::Node) -> Roots {
	let all = node.parts(bytes.len() as u64, LEVELS).unwrap();
	roots(all.iter().map(|part| part.value(bytes).unwrap()).collect())
}

/// The place at which a dispute stands.
pub fn place(id: DisputeId) -> Place {
	dispute(id).stage.place().unwrap()
}

/// The challenger denies claim `at`.
pub fn deny(id: DisputeId, at: u32) -> DispatchResultWithPostInfo {
	let who = RuntimeOrigin::signed(dispute(id).challenger);
	Court::deny(who, id, place(id), at)
}

/// `who` brings openings, a challenger as soon as it may.
pub fn judge(who: AccountId, id: DisputeId, openings: &Openings) -> DispatchResultWithPostInfo {
	use codec::Encode;
	let made = dispute(id);
	if who == made.challenger {
		let passed = Court::now() - made.moved_at;
		run_for(crate::JUDGE_AFTER.saturating_sub(passed));
	}
	Court::judge(RuntimeOrigin::signed(who), id, openings.encode().try_into().unwrap())
}

/// The loss of every step.
const LOSS: f32 = 1.0;
