//! What trainers answer: what the chain checks of it, the blobs that it names, and what it is paid.
//!
//! The content hash of a tensor, or of rows, is the hash of a blob's bytes, so the root of the blob that
//! holds it follows from what is shown, and whatever is stored under this root is right. Leaves are in the
//! answer. Of the file of a state the chain checks that it is stored, and that the leaf shows which state
//! it must be: whoever stores something else is convicted by the court.

use crate::{
	Config, Error, Event, Group, Kept, KeptBlob, NamedState, NamedStates, Pallet, ShownLeaves,
	WeightInfo, H256,
};
use alloc::{vec, vec::Vec};
use core::ops::Range;
use frame_support::{ensure, traits::Get, weights::Weight};
use sp_runtime::DispatchError;
use trainyard_protocol::{
	blob,
	fees::half_of_storing,
	job::{Balance, WorkResult},
	pieces::{
		parts, tensor_blob, Answer, LeavesPart, Piece, PieceSizes, LEAF_BYTES, LEAVES_OF_PART,
	},
	state::ExpectedTensor,
	JobId,
};
use trainyard_traits::{AwaitedBlobs, BlobStore, Specs};

/// What an answer is about.
pub(crate) struct About<'a> {
	/// The job.
	pub job: JobId,
	/// Which result.
	pub group: u32,
	/// That result, with the root of the bundle of who answers.
	pub result: WorkResult,
	/// What the bytes of its pieces follow from.
	pub sizes: &'a PieceSizes,
	/// The tensors of its states, where one is answered with.
	pub tensors: &'a [ExpectedTensor],
}

/// A blob that an answer names.
struct Named {
	/// Its root.
	root: H256,
	/// Its chunks that must be there; all where there is none.
	chunks: Option<Range<u32>>,
}

impl Named {
	/// Returns whether it holds what was asked for.
	fn is_stored<T: Config>(&self) -> bool {
		let whole = T::Blobs::is_complete(&self.root);
		let chunks = self.chunks.clone();
		whole || chunks.is_some_and(|chunks| T::Blobs::has_chunks(&self.root, chunks))
	}
}

impl<T: Config> Pallet<T> {
	/// Returns the tensors of the states of `job` where one of these pieces is a tensor, none otherwise.
	pub(crate) fn tensors_of(
		job: JobId,
		mut pieces: impl Iterator<Item = Piece>,
	) -> Vec<ExpectedTensor> {
		match pieces.any(|piece| matches!(piece, Piece::Tensor { .. })) {
			true => T::Specs::tensors(job),
			false => Vec::new(),
		}
	}

	/// Returns their bytes.
	pub(crate) fn tensor_bytes(job: JobId, pieces: impl Iterator<Item = Piece>) -> Vec<u64> {
		let bytes = |tensor: &ExpectedTensor| tensor.content_bytes().unwrap_or(u64::MAX);
		Self::tensors_of(job, pieces).iter().map(bytes).collect()
	}

	/// Takes the answer of a trainer of the result with a piece that is asked for. Returns whether all of
	/// it is on chain; otherwise its blobs are announced, or further parts of the leaves are missing.
	pub(crate) fn take_answer(
		about: &About<'_>,
		who: &T::AccountId,
		answer: &Answer,
	) -> Result<bool, DispatchError> {
		let named = match answer {
			Answer::Leaves(part) => return Self::take_leaves(about, who, part),
			Answer::Rows { from, to, contents } => {
				let root = about.sizes.rows(*contents).root();
				let is_named = T::Specs::rows_root(about.job) == Some(root);
				ensure!(is_named, Error::<T>::WrongRows);
				let spans = about.sizes.spans(*from, *to).into_iter();
				let named = spans.filter_map(|span| {
					let root = blob::root_of(span.size, contents.get(span.content)?);
					Some(Named { root, chunks: Some(span.chunks) })
				});
				named.collect()
			}
			Answer::State { leaf, blob } => {
				ensure!(leaf.fits(&about.result), Error::<T>::WrongLeaves);
				let size = T::Blobs::size(blob);
				let fits = size.is_none_or(|size| size <= about.sizes.state);
				ensure!(fits, Error::<T>::RescueTooLarge);
				vec![Named { root: *blob, chunks: None }]
			}
			Answer::Tensor { leaf, index, content, path } => {
				ensure!(leaf.fits(&about.result), Error::<T>::WrongLeaves);
				let expected = usize::try_from(*index).ok().and_then(|at| about.tensors.get(at));
				let expected = expected.ok_or(Error::<T>::NoSuchPiece)?;
				let root = tensor_blob(&leaf.checkpoint.state, expected, content, path);
				vec![Named { root: root.ok_or(Error::<T>::WrongTensor)?, chunks: None }]
			}
		};
		Self::keep_blobs(about, who, answer.piece(), &named)
	}

	/// Keeps the files of states that `who` named just now, in the place of others of the same states, and of
	/// the oldest where there are too many.
	pub(crate) fn keep_named(job: JobId, who: &T::AccountId, new: Vec<NamedState>) {
		if new.is_empty() {
			return;
		}
		NamedStates::<T>::mutate(job, who, |named| {
			named.retain(|old| new.iter().all(|own| own.leaf.index != old.leaf.index));
			for state in new {
				if named.is_full() {
					named.remove(0);
				}
				// There is room for it now.
				let _ = named.try_push(state);
			}
		});
	}

	/// Takes a part of the leaves of a trainer's bundle. They come in order.
	fn take_leaves(
		about: &About<'_>,
		who: &T::AccountId,
		shown: &LeavesPart,
	) -> Result<bool, DispatchError> {
		let there = ShownLeaves::<T>::decode_len(about.job, who).unwrap_or_default();
		let there = u32::try_from(there).unwrap_or(u32::MAX);
		let next = there.checked_div(LEAVES_OF_PART).unwrap_or_default();
		ensure!(shown.part >= next, Error::<T>::AlreadyRescued);
		ensure!(shown.part == next && shown.fits(&about.result), Error::<T>::WrongLeaves);
		for leaf in &shown.leaves {
			ShownLeaves::<T>::try_append(about.job, who, leaf)
				.map_err(|()| Error::<T>::WrongLeaves)?;
		}
		let bytes = (shown.leaves.len() as u64).saturating_mul(LEAF_BYTES);
		Kept::<T>::try_mutate(about.job, who, |kept| -> Result<(), DispatchError> {
			match kept.iter_mut().find(|kept| kept.piece == Piece::Leaves) {
				Some(kept) => kept.paid = kept.paid.saturating_add(bytes),
				None => {
					let own =
						KeptBlob { piece: Piece::Leaves, root: None, stored: true, paid: bytes };
					kept.try_push(own).map_err(|_| Error::<T>::TooManyPieces)?;
				}
			}
			Ok(())
		})?;
		Ok(shown.part.checked_add(1) == Some(parts(&about.result)))
	}

	/// Notes the blobs that hold a piece: as stored, if all are, and as announced otherwise. Returns
	/// whether they are.
	fn keep_blobs(
		about: &About<'_>,
		who: &T::AccountId,
		piece: Piece,
		named: &[Named],
	) -> Result<bool, DispatchError> {
		let stored = named.iter().all(Named::is_stored::<T>);
		let mut kept = Kept::<T>::get(about.job, who);
		// The last word about a piece counts.
		kept.retain(|kept| {
			let other = |root: &H256| named.iter().all(|named| named.root != *root);
			let dropped = kept.root.filter(|root| kept.piece == piece && other(root));
			if let Some(root) = dropped {
				Self::unwatch(who, &root, &[]);
			}
			dropped.is_none()
		});
		for Named { root, .. } in named {
			let known = |kept: &&mut KeptBlob| kept.piece == piece && kept.root == Some(*root);
			match kept.iter_mut().find(known) {
				Some(found) if stored && !found.stored => {
					found.stored = true;
					found.paid = T::Blobs::brought(root, who);
				}
				Some(_) => {}
				None => {
					// It is awaited until the audit ends.
					T::Blobs::expect(root);
					let own = KeptBlob { piece, root: Some(*root), stored, paid: 0 };
					kept.try_push(own).map_err(|_| Error::<T>::TooManyPieces)?;
					if !stored {
						let (job, group, blob) = (about.job, about.group, *root);
						let trainer = who.clone();
						Self::deposit_event(Event::RescueAnnounced {
							job,
							group,
							piece,
							blob,
							trainer,
						});
					}
				}
			}
		}
		// What it brings of them from now on is counted, also where a part was counted for another piece.
		for root in kept.iter().filter(|kept| !kept.stored).filter_map(|kept| kept.root) {
			T::Blobs::watch(&root, who);
		}
		Kept::<T>::insert(about.job, who, kept);
		Ok(stored)
	}

	/// Returns what each trainer of a result has for what it stored: half of the price of its own bytes,
	/// of each piece that is asked for as far as they are no more than that has, whatever another one
	/// stored beside them.
	pub(crate) fn shares(
		job: JobId,
		group: &Group<T::AccountId>,
		byte: Balance,
	) -> Vec<(T::AccountId, Balance)> {
		let open: Vec<_> = group.asked.iter().filter(|asked| !asked.stored).collect();
		let share = |trainer: &T::AccountId| {
			let kept = Kept::<T>::get(job, trainer);
			let bytes = open.iter().fold(0u64, |sum, asked| {
				let own = kept.iter().filter(|kept| kept.piece == asked.piece);
				let paid = own.fold(0u64, |sum, kept| sum.saturating_add(kept.paid));
				sum.saturating_add(paid.min(asked.bytes))
			});
			let half = half_of_storing(bytes, byte).unwrap_or(0);
			(half > 0).then(|| (trainer.clone(), half))
		};
		group.trainers.iter().filter_map(share).collect()
	}

	/// Lets the blobs go that were announced and not stored in time.
	pub(crate) fn drop_announced(job: JobId) {
		let named: Vec<T::AccountId> = Kept::<T>::iter_key_prefix(job).collect();
		for who in named {
			Kept::<T>::mutate(job, &who, |kept| {
				kept.retain(|kept| {
					if let (false, Some(root)) = (kept.stored, kept.root) {
						Self::unwatch(&who, &root, &[]);
					}
					kept.stored
				});
			});
		}
	}

	/// Returns the weight of a call with these answers.
	pub(crate) fn rescue_weight(answers: &[Answer]) -> Weight {
		let (mut blobs, mut weight, mut has_tensors) = (0u32, Weight::zero(), false);
		for answer in answers {
			let (named, more) = match answer {
				Answer::Leaves(_) => (0, T::WeightInfo::rescue_leaves()),
				Answer::State { .. } | Answer::Tensor { .. } => (1, Weight::zero()),
				Answer::Rows { .. } => {
					// Every chunk of four blobs is looked for.
					let most = blob::rescue_room(blob::CARRY_BLOCKS);
					let chunks = most.div_ceil(blob::MAX_CHUNK.into());
					(4, T::DbWeight::get().reads(chunks.saturating_add(4 * 64)))
				}
			};
			blobs = blobs.saturating_add(named);
			weight = weight.saturating_add(more);
			has_tensors |= matches!(answer, Answer::Tensor { .. });
		}
		// The rows root is in the specification as well.
		let rows = answers.iter().any(|answer| matches!(answer, Answer::Rows { .. }));
		if has_tensors || rows {
			weight = weight.saturating_add(T::Specs::tensors_weight());
		}
		weight.saturating_add(T::WeightInfo::rescue(blobs))
	}
}
