//! Authors show that they hold what the chain retains.
//!
//! Every block draws one chunk of all that are stored, and its author shows 1 KiB of it by an inherent
//! ([`retention`]). A block without that is valid and loses its author's reward
//! ([`AuthorKeeps`]), and the chunk is *doubted*: it is drawn no more, and each block asks for one of the
//! doubted ones, in turn, at no loss. So a chunk that nobody has costs one author one reward. Whoever
//! shows it, in any block, or uploads it again, clears it. If nobody does for [`Config::LostAfter`]
//! blocks it is *lost*: nobody is asked for it, and it can be uploaded again.
//!
//! At most [`MAX_DOUBTED`] chunks are doubted at a time, so each of them is asked for often enough before
//! it counts as lost. While there are as many, and nobody showed a doubted chunk for as many blocks, none
//! of the others is drawn: then everybody has lost much. Where somebody does show them others are drawn,
//! and who lacks them has no reward: a majority that stores nothing does not excuse itself by doubts.

use crate::{
	types::{Chunk, Doubt, Draw, Place, Slot},
	Asked, BlobOf, Blobs, Chunks, Config, Doubted, Error, Event, LastFound, LostChunks, Pallet,
	Retained, RetainedCount, H256,
};
use alloc::vec::Vec;
use core::ops::Range;
use frame_support::{
	ensure,
	pallet_prelude::DispatchResult,
	traits::{Defensive, Get},
};
use trainyard_protocol::{
	blob,
	job::BlockNumber,
	retention::{
		self, Answers, Question, Questions, RetainedChunk, RetentionView, Shown, MAX_DOUBTED, TRIES,
	},
};
use trainyard_traits::AuthorKeeps;

impl<T: Config> Pallet<T> {
	/// Puts a chunk whose bytes are in the present block on the list of those that authors are asked for.
	pub(crate) fn list(root: H256, index: u32, length: u32, hash: H256, value: H256) {
		let place = RetainedCount::<T>::get();
		Retained::<T>::insert(place, Slot { root, index, length });
		RetainedCount::<T>::put(place.saturating_add(1));
		Chunks::<T>::insert(root, index, Chunk { hash, value, place: Place::Listed(place) });
	}

	/// Takes the entry at `place` off the list: the last one takes its place.
	pub(crate) fn unlist(place: u32) {
		let last = RetainedCount::<T>::get().saturating_sub(1);
		RetainedCount::<T>::put(last);
		let Some(moved) = Retained::<T>::take(last) else { return };
		if place != last {
			Retained::<T>::insert(place, moved);
			Self::set_place(&moved.root, moved.index, Place::Listed(place));
		}
	}

	/// Notes where a stored chunk stands.
	fn set_place(root: &H256, index: u32, place: Place) {
		if let Some(chunk) = Chunks::<T>::get(root, index) {
			Chunks::<T>::insert(root, index, Chunk { place, ..chunk });
		}
	}

	/// Clears a chunk of a blob that is doubted or lost, and returns whether it was. Its record is the
	/// caller's to write.
	pub(crate) fn bring_again(blob: &mut BlobOf<T>, root: &H256, index: u32) -> bool {
		match Chunks::<T>::get(root, index).map(|chunk| chunk.place) {
			Some(Place::Doubted) => Self::forget_doubts(root, index..index.saturating_add(1)),
			Some(Place::Lost) => Self::forget_lost(blob),
			_ => return false,
		}
		true
	}

	/// Forgets that these chunks of a blob are doubted, since they are here or given up.
	pub(crate) fn forget_doubts(root: &H256, indices: Range<u32>) {
		Doubted::<T>::mutate(|all| {
			all.retain(|doubt| doubt.root != *root || !indices.contains(&doubt.index));
		});
	}

	/// Counts a lost chunk of a blob no more.
	pub(crate) fn forget_lost(blob: &mut BlobOf<T>) {
		blob.lost = blob.lost.saturating_sub(1);
		LostChunks::<T>::mutate(|lost| *lost = lost.saturating_sub(1));
	}

	/// Draws what the block of this height asks for; `None` where there is nothing to ask for.
	pub(crate) fn draw(height: BlockNumber) -> Option<Draw> {
		let count = RetainedCount::<T>::get();
		let doubts = Doubted::<T>::get();
		if count == 0 && doubts.is_empty() {
			return None;
		}
		let seed = retention::seed(T::Entropy::get().as_ref(), height);
		let is_full = doubts.len() as u64 >= u64::from(MAX_DOUBTED);
		let nobody_has_any = || height.saturating_sub(LastFound::<T>::get()) > MAX_DOUBTED;
		let drawn = match count == 0 || is_full && nobody_has_any() {
			true => None,
			false => Self::draw_listed(&seed, count),
		};
		let turn = u64::from(height).checked_rem(doubts.len() as u64);
		let doubted = turn.and_then(|turn| doubts.get(usize::try_from(turn).ok()?));
		let doubted = doubted.map(|doubt| (doubt.root, doubt.index));
		Some(Draw { seed, drawn, doubted, answered: false, shown: false })
	}

	/// Draws a chunk of the list.
	fn draw_listed(seed: &H256, count: u32) -> Option<(H256, u32)> {
		(0..TRIES).find_map(|number| {
			let slot = Retained::<T>::get(retention::place(seed, number, count)).defensive()?;
			let taken = retention::is_taken(seed, number, slot.length);
			taken.then_some((slot.root, slot.index))
		})
	}

	/// Returns what is asked of a chunk, with its value.
	fn question(seed: &H256, of: (H256, u32)) -> Option<(Question, H256)> {
		let (root, index) = of;
		let size = Blobs::<T>::get(root)?.size;
		let chunk = Chunks::<T>::get(root, index)?;
		let kib = retention::kib(seed, blob::chunk_size_at(size, index)?);
		Some((Question { root, size, index, hash: chunk.hash, kib }, chunk.value))
	}

	/// Returns what the next block asks its author for.
	pub fn questions() -> Questions {
		let Some(draw) = Self::draw(Self::now().saturating_add(1)) else {
			return Questions::default();
		};
		let question = |of: (H256, u32)| Some(Self::question(&draw.seed, of)?.0);
		Questions { drawn: draw.drawn.and_then(question), doubted: draw.doubted.and_then(question) }
	}

	/// Returns whether this shows the chunk that is asked for.
	fn shows(seed: &H256, of: Option<(H256, u32)>, shown: Option<&Shown>) -> bool {
		let (Some(of), Some(shown)) = (of, shown) else { return false };
		Self::question(seed, of)
			.is_some_and(|(asked, value)| retention::check(&asked, &value, shown).is_ok())
	}

	/// Returns whether any of these answers is one to what the present block asks for.
	pub(crate) fn answers_something(answers: &Answers) -> bool {
		Asked::<T>::get().is_some_and(|draw| {
			!draw.answered
				&& (Self::shows(&draw.seed, draw.drawn, answers.drawn.as_ref())
					|| Self::shows(&draw.seed, draw.doubted, answers.doubted.as_ref()))
		})
	}

	/// Takes the answers of the block's author. What shows nothing counts as no answer: a false proof
	/// is no reason for a block to be invalid.
	pub(crate) fn do_prove(answers: &Answers) -> DispatchResult {
		let mut draw = Asked::<T>::get().ok_or(Error::<T>::NothingAsked)?;
		ensure!(!draw.answered, Error::<T>::AlreadyProved);
		draw.answered = true;
		draw.shown = Self::shows(&draw.seed, draw.drawn, answers.drawn.as_ref());
		Asked::<T>::put(draw);
		if Self::shows(&draw.seed, draw.doubted, answers.doubted.as_ref()) {
			if let Some((root, index)) = draw.doubted {
				Self::clear_doubt(root, index);
			}
		}
		Ok(())
	}

	/// Puts a doubted chunk that was shown back on the list.
	fn clear_doubt(root: H256, index: u32) {
		let length = Blobs::<T>::get(root).and_then(|blob| blob::chunk_size_at(blob.size, index));
		let (Some(chunk), Some(length)) = (Chunks::<T>::get(root, index), length) else { return };
		if chunk.place == Place::Doubted {
			Self::forget_doubts(&root, index..index.saturating_add(1));
			Self::list(root, index, length, chunk.hash, chunk.value);
			LastFound::<T>::put(Self::now());
			Self::deposit_event(Event::ChunkFound { root, index });
		}
	}

	/// Draws what the present block asks for.
	pub(crate) fn begin_draw() {
		if let Some(draw) = Self::draw(Self::now()) {
			Asked::<T>::put(draw);
		}
	}

	/// Notes at the end of a block what was not shown.
	pub(crate) fn close_draw() {
		let Some(draw) = Asked::<T>::take() else { return };
		if let (Some((root, index)), false) = (draw.drawn, draw.shown) {
			Self::doubt(root, index);
		}
		if let Some((root, index)) = draw.doubted {
			Self::lose_in_time(root, index);
		}
	}

	/// Doubts a chunk that the author of the present block did not show.
	fn doubt(root: H256, index: u32) {
		// It may have been removed in this block.
		let Some(chunk) = Chunks::<T>::get(root, index) else { return };
		let Place::Listed(place) = chunk.place else { return };
		let doubt = Doubt { root, index, since: Self::now() };
		// Where the list is full it stays where it is, and may be drawn again.
		if Doubted::<T>::try_append(doubt).is_err() {
			return;
		}
		Self::unlist(place);
		Self::set_place(&root, index, Place::Doubted);
		Self::deposit_event(Event::ChunkDoubted { root, index });
	}

	/// Gives up a chunk that was asked for in the present block, if it is doubted for long enough.
	fn lose_in_time(root: H256, index: u32) {
		let doubts = Doubted::<T>::get();
		let mine = |doubt: &&Doubt| doubt.root == root && doubt.index == index;
		let Some(doubt) = doubts.iter().find(mine) else { return };
		if Self::now().saturating_sub(doubt.since) < T::LostAfter::get() {
			return;
		}
		Self::forget_doubts(&root, index..index.saturating_add(1));
		Self::set_place(&root, index, Place::Lost);
		Blobs::<T>::mutate_extant(root, |blob| blob.lost = blob.lost.saturating_add(1));
		LostChunks::<T>::mutate(|lost| *lost = lost.saturating_add(1));
		Self::deposit_event(Event::ChunkLost { root, index });
	}

	/// Returns `count` chunks, at most 1,000, of the list from place `from` on. If there are fewer than
	/// asked for, there are no more. A removal moves the last one, so a reader looks again.
	pub fn retained(from: u32, count: u32) -> Vec<RetainedChunk> {
		let end = from.saturating_add(count.min(1_000)).min(RetainedCount::<T>::get());
		let entry = |place| {
			let Slot { root, index, length } = Retained::<T>::get(place)?;
			let hash = Chunks::<T>::get(root, index)?.hash;
			Some(RetainedChunk { root, index, hash, length })
		};
		(from..end).filter_map(entry).collect()
	}

	/// Returns what the chain retains, in numbers, and what is doubted.
	pub fn retention() -> RetentionView {
		let doubted = Doubted::<T>::get();
		let doubted = doubted.iter().map(|doubt| (doubt.root, doubt.index, doubt.since));
		RetentionView {
			chunks: RetainedCount::<T>::get(),
			doubted: doubted.collect(),
			lost: LostChunks::<T>::get(),
		}
	}
}

impl<T: Config> AuthorKeeps for Pallet<T> {
	fn author_keeps() -> bool {
		Asked::<T>::get().is_none_or(|draw| draw.drawn.is_none() || draw.shown)
	}
}
