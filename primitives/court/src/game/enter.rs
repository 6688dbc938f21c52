//! What an opening leads to.

use super::{
	claims::nothing,
	play::Play,
	ranges::boundaries32,
	types::{
		After, ChunkBytes, Contents, End, Entry, Level, Opened, Opening, Owner, Peaks, Place,
		Roots, Said, Scene, Stage, Target, Witness,
	},
	Refused,
};
use alloc::vec::Vec;
use trainyard_protocol::{
	blob,
	bundle::{Diverged, Evaluation},
	content::Node,
	court,
	merkle::Frontier,
	model_file::Layout,
	trace, H256,
};
use trainyard_strict::canonical_bits;

/// Returns the frontier of so many leaves. Fails unless it is whole.
fn frontier(count: u32, peaks: &Peaks) -> Result<Frontier, Refused> {
	let frontier = Frontier { count, peaks: peaks.to_vec() };
	frontier.is_whole().then_some(frontier).ok_or(Refused::WrongOpening)
}

/// Returns the root after one more leaf.
fn pushed(mut frontier: Frontier, leaf: H256) -> Result<H256, Refused> {
	frontier.push(leaf).ok_or(Refused::WrongOpening)?;
	Ok(frontier.root())
}

/// Fails with [`Refused::WrongOpening`] unless it is so.
fn ensure(is_so: bool) -> Result<(), Refused> {
	is_so.then_some(()).ok_or(Refused::WrongOpening)
}

impl<S: Said> Play<'_, S> {
	/// Takes what opens the place where a dispute stands.
	pub(super) fn take_opening(&mut self, stage: &Stage, opening: &Opening) -> Result<(), Refused> {
		let Opening { opened, contents, chunk, .. } = opening;
		let place = stage.place().ok_or(Refused::NotNow)?;
		let super::Due::Opening = self.due(stage)? else { return Err(Refused::NotNow) };
		if self.opened(&place).is_some() {
			return Err(Refused::AlreadySaid);
		}
		if let (Level::Content { owner, node, value }, Opened::Chunk { bytes }) =
			(stage.level, opened)
		{
			self.check_chunk(&owner, node, &value, bytes)?;
			ensure(contents.is_empty() && chunk.is_empty())?;
			self.fresh.push(Entry::Opened(place, opened.clone()));
			return Ok(());
		}
		let level = self.enter(stage, opened)?;
		match level {
			Level::Tensors { .. } => {
				let roots = self.roots_of(stage, contents)?;
				self.fresh.push(Entry::Posted(place, roots));
			}
			_ => ensure(contents.is_empty())?,
		}
		self.fresh.push(Entry::Opened(place, opened.clone()));
		match level {
			Level::Content { owner, node, value }
				if node.chunks == 1 && is_opened(&owner.scene) =>
			{
				self.check_chunk(&owner, node, &value, chunk)?;
				let (at, result) = (owner.scene.moment(), owner.result);
				let place = Place::Chunk { at, result, chunk: node.begin };
				self.fresh.push(Entry::Opened(place, Opened::Chunk { bytes: chunk.clone() }));
			}
			_ => ensure(chunk.is_empty())?,
		}
		Ok(())
	}

	/// Checks the bytes of a chunk.
	fn check_chunk(
		&self,
		owner: &Owner,
		node: Node,
		value: &H256,
		bytes: &ChunkBytes,
	) -> Result<(), Refused> {
		let length = self.content_bytes(&owner.scene, owner.result)?;
		ensure(node.value_of(length, bytes).as_ref() == Ok(value))
	}

	/// Checks the contents of the tensors of a state, and returns the prefix roots over them that stand
	/// for a post.
	fn roots_of(&self, stage: &Stage, contents: &Contents) -> Result<Roots, Refused> {
		let state = match stage.subject.end {
			Some(End::Checkpoint { state, .. }) => state,
			_ => stage.subject.begin,
		};
		ensure(self.tensors().hash(contents) == Some(state))?;
		let count = self.state_tensors();
		let mut stops = boundaries32(0, count, 1);
		stops.push(count);
		let (mut frontier, mut roots) = (Frontier::new(), Vec::with_capacity(stops.len()));
		for (index, content) in (0u32..).zip(contents) {
			frontier.push(court::result_leaf(index, content)).ok_or(Refused::WrongOpening)?;
			if stops.binary_search(&frontier.count).is_ok() {
				roots.push(frontier.root());
			}
		}
		Roots::try_from(roots).map_err(|_| Refused::WrongOpening)
	}

	/// Returns where a dispute stands after a place was opened. Fails with [`Refused::WrongOpening`]
	/// where what was opened does not lead from what was agreed to what was denied.
	pub(super) fn enter(&self, stage: &Stage, opened: &Opened) -> Result<Level, Refused> {
		let target = stage.subject.target;
		match (stage.level, target, opened) {
			(
				Level::Ends,
				Target::Segment(_) | Target::Evidence(_),
				Opened::Segment { steps, slices },
			) => {
				let (from, to) = self.steps_of(stage)?;
				let Some(End::Checkpoint { evaluation, trace, .. }) = stage.subject.end else {
					return Err(Refused::WrongOpening);
				};
				let steps = frontier(to.saturating_sub(from), steps)?;
				let (root, leaf) = (steps.root(), trace::evaluation_leaf(to, &evaluation, slices));
				ensure(trace::seal(&pushed(steps, leaf)?) == trace)?;
				Ok(Level::Segment { steps: root, slices: *slices })
			}
			(
				Level::Ends,
				Target::Segment(_) | Target::Evidence(_),
				Opened::Diverged { state, steps, witness },
			) => self.enter_diverged(stage, state, steps, witness),
			(Level::Ends, Target::Start, Opened::Start { slices }) => {
				let Some(End::Checkpoint { evaluation, trace, .. }) = stage.subject.end else {
					return Err(Refused::WrongOpening);
				};
				// Where the loss is not finite the trace has no leaf, and the slices are what is opened
				// here.
				if evaluation != Evaluation::NONE {
					let leaf = trace::evaluation_leaf(0, &evaluation, slices);
					ensure(trace::seal(&pushed(Frontier::new(), leaf)?) == trace)?;
				}
				Ok(Level::Tensors { slices: Some(*slices) })
			}
			(Level::Ends, Target::Rescue { .. }, Opened::Stored) => {
				Ok(Level::Tensors { slices: None })
			}
			(Level::Ends, Target::Model, Opened::Model { content }) => {
				let size = Layout::of(&self.game.case.spec).size;
				ensure(blob::root_of(size, content) == self.game.result.model_root)?;
				let scene = Scene::Model { state: stage.subject.begin };
				self.enter_content(scene, 0, H256::zero(), *content)
			}
			(
				Level::Steps { from, to, agreed, denied },
				_,
				Opened::Step { state, steps, after, loss, logits },
			) => {
				let segment = self.segment(&target)?;
				let (begin, _) = self.steps_of(stage)?;
				let steps = frontier(from.saturating_sub(begin), steps)?;
				ensure(court::milestone(from, state, &steps.root()) == agreed)?;
				let number = f32::from_bits(*loss);
				// Of a NaN, other bits would lead to the same leaf.
				ensure(canonical_bits(number) == *loss)?;
				let root = pushed(steps, trace::step_leaf(from, number, logits))?;
				ensure(court::milestone(to, after, &root) == denied)?;
				let after = After::Next { state: *after, loss: *loss, logits: *logits };
				self.all_results(Scene::Step { segment, step: from, state: *state, after })
			}
			(
				Level::Slices { state, from, agreed, denied, .. },
				_,
				Opened::Slice { losses, correct, slices },
			) => {
				let slices = frontier(from, slices)?;
				ensure(slices.root() == agreed)?;
				ensure(pushed(slices, trace::slice_leaf(from, losses, correct))? == denied)?;
				let checkpoint = self.checkpoint(&target)?;
				let (losses, correct) = (*losses, *correct);
				self.all_results(Scene::Slice { checkpoint, slice: from, state, losses, correct })
			}
			(
				Level::Results { scene, from, agreed, denied: Some(denied), .. },
				_,
				Opened::Result { content, results },
			) => {
				let results = frontier(from, results)?;
				ensure(results.root() == agreed)?;
				ensure(pushed(results, court::result_leaf(from, content))? == denied)?;
				self.enter_content(scene, from, agreed, *content)
			}
			_ => Err(Refused::WrongOpening),
		}
	}

	/// Returns where a dispute stands after the ends of a segment that is said to diverge.
	fn enter_diverged(
		&self,
		stage: &Stage,
		state: &H256,
		steps: &Peaks,
		witness: &Witness,
	) -> Result<Level, Refused> {
		let Some(End::Diverged(Diverged { step, trace })) = stage.subject.end else {
			return Err(Refused::WrongOpening);
		};
		let segment = self.segment(&stage.subject.target)?;
		let (from, to) = self.steps_of(stage)?;
		let end = self.game.case.spec.checkpoint_step(segment.saturating_add(1));
		let root = frontier(to.saturating_sub(from), steps)?.root();
		ensure(trace::seal(&root) == trace)?;
		// Before its first step, a segment has the state that is agreed.
		ensure(to > from || *state == stage.subject.begin)?;
		let refused = Err(Refused::NoSuchWitness);
		match *witness {
			Witness::Result { result, element } => {
				if Some(step) == end {
					return refused;
				}
				let after = After::Diverged { result, element };
				let scene = Scene::Step { segment, step, state: *state, after };
				self.check_witness(&scene, witness)?;
			}
			Witness::State { tensor, element } => {
				let elements = self.tensors().elements(tensor);
				if Some(step) != end || elements.is_none_or(|elements| element >= elements) {
					return refused;
				}
			}
			Witness::Evaluation { evaluation, .. } => {
				if Some(step) != end || evaluation.loss().is_finite() {
					return refused;
				}
			}
		}
		Ok(Level::Diverged { state: *state, steps: root, witness: *witness })
	}

	/// Returns where a dispute stands before all results of a scene.
	pub(super) fn all_results(&self, scene: Scene) -> Result<Level, Refused> {
		let to = self.results(&scene)?;
		Ok(Level::Results { scene, from: 0, to, agreed: nothing(), denied: None })
	}

	/// Returns where a dispute stands before a content.
	fn enter_content(
		&self,
		scene: Scene,
		result: u32,
		before: H256,
		content: H256,
	) -> Result<Level, Refused> {
		let node = Node::whole(self.content_bytes(&scene, result)?);
		let owner = Owner { scene, result, before };
		Ok(Level::Content { owner, node, value: content })
	}
}

/// Returns whether a chunk of such a content is opened and narrowed to an element. Otherwise it is a
/// piece.
pub(super) fn is_opened(scene: &Scene) -> bool {
	!matches!(scene, Scene::Model { .. } | Scene::Stored { .. })
}
