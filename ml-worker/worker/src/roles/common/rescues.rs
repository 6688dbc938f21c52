//! What trainers stored on chain of a result, because somebody asked for it: reads it, and takes over what is
//! right of it.
//!
//! Of most pieces the chain knows that they are right. The file of a state anybody who revealed the same
//! result may have stored as it liked: it is written to its place if it is the state that the leaves
//! list, and kept as garbage otherwise, which convicts whoever stored it. A file that is here and right is
//! never replaced.
//!
//! What was read once is not read from the chain again: `rescue-<root>.done` says that a blob was of no
//! use here, `rescue-<root>.rows` is one that holds rows and waits for the others. They are in the folder
//! of the result, with the chunks of at most one blob.

use super::bundles::{has_manifest, has_state, SourceError};
use crate::roles::store::Home;
use std::{
	fmt,
	path::{Path, PathBuf},
};
use tracing::info;
use trainyard_client::{
	blobs, court::NamedState, AccountId32, Chain, GroupView, JobView, RescuedView,
};
use trainyard_program::spec::{CheckedSpec, FileRef, InputFile, JobSpec};
use trainyard_proof::{
	bundle::{
		self, files,
		manifest::{self, Manifest},
		Bundle,
	},
	data::kept,
	inputs::{check_content, InputPaths},
	verify::{sizes_of, Charge},
};
use trainyard_protocol::{
	accusation::{Claimed, Leaf, LeafContent, Target},
	content,
	job::WorkResult,
	pieces::{self, Piece},
	rows::Rows,
	H256,
};

/// The beginning of the names of what is kept of a rescue.
const RESCUE: &str = "rescue-";
/// Chunks that were read so far.
const PART: &str = "part";
/// It is of no use here.
const DONE: &str = "done";
/// A content of the rows.
const ROWS: &str = "rows";
/// Garbage, which convicts whoever stored it as the file of a state.
const GARBAGE: &str = "garbage";

/// What trainers stored of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
	/// The leaves, in the state of the chain.
	Leaves,
	/// A blob.
	Blob(RescuedView),
}

impl fmt::Display for Stored {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		match self {
			Stored::Leaves => write!(f, "the list of checkpoints on chain"),
			Stored::Blob(RescuedView { blob, .. }) => write!(f, "the rescue {blob:?} on chain"),
		}
	}
}

/// Returns what of a result is on chain and may be of use for an audit: leaves first, without which no
/// state can be checked, states, and all rows.
pub fn stored(group: &GroupView, spec: &CheckedSpec) -> Vec<Stored> {
	let leaves = group.stored.contains(&Piece::Leaves).then_some(Stored::Leaves);
	let rows = sizes_of(spec).all_rows();
	let useful = |of: &&RescuedView| matches!(of.piece, Piece::State(_)) || of.piece == rows;
	let blobs = group.rescued.iter().filter(useful).copied().map(Stored::Blob);
	leaves.into_iter().chain(blobs).collect()
}

/// Returns where something of a blob is kept, in the folder of its result.
fn kept_at(dir: &Path, root: &H256, what: &str) -> PathBuf {
	dir.join(format!("{RESCUE}{}.{what}", hex::encode(root)))
}

/// Removes the chunks of other blobs than that of `root`: there is room for one.
fn drop_other_parts(dir: &Path, root: &H256) -> std::io::Result<()> {
	let own = kept_at(dir, root, PART);
	for entry in std::fs::read_dir(dir)? {
		let path = entry?.path();
		let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
		if path != own && name.starts_with(RESCUE) && name.ends_with(&format!(".{PART}")) {
			std::fs::remove_file(&path)?;
		}
	}
	Ok(())
}

/// Returns where a blob is kept that a trainer stored as the file of a state, and that is not that.
pub fn garbage(dir: &Path, root: &H256) -> PathBuf {
	kept_at(dir, root, GARBAGE)
}

/// Returns whether the rows of a job are kept here.
fn has_rows(home: &Home, spec: &JobSpec, dir: &Path) -> bool {
	let own = dir.join(kept::name(&spec.dataset));
	own.is_file() || home.inputs(spec).rows.is_some_and(|rows| rows.is_file())
}

/// Returns whether this need not be read any more: it is here, was of no use, or is a state, of which
/// nobody knows what it must be while the leaves are missing.
pub async fn was_read(
	home: &Home,
	spec: &CheckedSpec,
	dir: &Path,
	revealed: H256,
	stored: &Stored,
) -> bool {
	let Stored::Blob(RescuedView { piece, blob }) = stored else {
		return has_manifest(dir, revealed).await;
	};
	let is_kept = |what: &&str| kept_at(dir, blob, what).is_file();
	if [DONE, GARBAGE].iter().any(is_kept) {
		return true;
	}
	match piece {
		Piece::State(index) => {
			let Some(step) = spec.checkpoint_step(*index) else { return true };
			let (file, limit) =
				(manifest::checkpoint_file(step), bundle::max_checkpoint_bytes(spec));
			!has_manifest(dir, revealed).await || has_state(dir, &file, limit).await
		}
		Piece::Rows { .. } => has_rows(home, spec, dir) || is_kept(&ROWS),
		Piece::Leaves | Piece::Tensor { .. } | Piece::Samples => true,
	}
}

/// Returns where what a job reads may be: in the cache, or in the folder of a result. In this one are
/// also rows that came by themselves, and the first state, which has the parameters of an initial model.
pub fn places(home: &Home, spec: &JobSpec, dir: &Path) -> [InputPaths; 3] {
	let own = InputPaths::in_bundle(dir, spec).with_rows_in(dir, spec);
	let mut stored = own.clone();
	if let (Some(_), Some(step)) = (&spec.initial_model, spec.checkpoint_step(0)) {
		let state = dir.join(manifest::checkpoint_file(step));
		if state.is_file() {
			stored.put(InputFile::InitialModel, state);
		}
	}
	[home.inputs(spec), own, stored]
}

/// Returns whether the rows of a job, decoded or not, are in the cache or in `dir`, and whether its
/// initial model is, if it has one.
pub async fn has_inputs(home: &Home, spec: &JobSpec, dir: &Path) -> (bool, bool) {
	let (places, spec) = (places(home, spec, dir), spec.clone());
	let look = move || {
		let is_here = |which: InputFile, file: &FileRef| {
			let mut paths = places.iter().filter_map(|place| place.get(which));
			paths.any(|path| check_content(path, which, file).is_ok())
		};
		let kept = places.iter().filter_map(|place| place.rows.as_ref());
		let has_kept = kept.into_iter().any(|path| path.is_file());
		let (mut rows, mut model) = (true, true);
		for (which, file) in spec.files() {
			match which {
				InputFile::InitialModel => model &= is_here(which, &file),
				InputFile::Data | InputFile::Labels => rows &= has_kept || is_here(which, &file),
			}
		}
		(rows, model)
	};
	tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

/// The file of a state that a trainer stored.
struct State {
	/// Folder of the result.
	dir: PathBuf,
	/// Root of the blob.
	blob: H256,
	/// Its name in a bundle.
	name: String,
	/// Most bytes of such a file.
	limit: u64,
	/// Bytes that the folder may have with it; `None` where it is needed in any case.
	room: Option<u64>,
}

impl State {
	/// Takes what was read to its place, if it is the state that the manifest here lists.
	fn take_over(&self) -> Result<(), SourceError> {
		let part = kept_at(&self.dir, &self.blob, PART);
		let bytes = files::read(&part, self.limit)?;
		let bundle = Bundle::open(&self.dir);
		let step = manifest::step_of(&self.name);
		let listed = bundle.ok().and_then(|bundle| {
			let mut listed = bundle.manifest().checkpoints.iter();
			listed.find(|c| Some(c.step) == step).map(|c| c.state_hash)
		});
		let Some(listed) = listed else { return Err(SourceError::Lacking(manifest::FILE.into())) };
		if bundle::hash_of_state(&bytes) != Some(listed) {
			let garbage = garbage(&self.dir, &self.blob);
			std::fs::rename(&part, &garbage)?;
			return Err(SourceError::Garbage(format!("{:?} is not {}", self.blob, self.name)));
		}
		let here = files::size(&self.dir).unwrap_or(u64::MAX);
		if self.room.is_some_and(|room| here > room) {
			std::fs::remove_file(&part)?;
			return Ok(files::write(&kept_at(&self.dir, &self.blob, DONE), b"")?);
		}
		files::create_folder(&self.dir.join(bundle::CHECKPOINTS))?;
		Ok(std::fs::rename(&part, self.dir.join(&self.name))?)
	}
}

/// Keeps the rows of a job, once all of their contents that `blobs` are were read into `dir`.
fn keep_rows(dir: &Path, spec: &CheckedSpec, blobs: &[H256]) -> Result<(), SourceError> {
	let sizes = sizes_of(spec).contents();
	let mut found = Vec::new();
	for blob in blobs {
		let path = kept_at(dir, blob, ROWS);
		if !path.is_file() {
			return Ok(());
		}
		let bytes = files::read(&path, u64::MAX - 1)?;
		found.push((content::hash(&bytes), bytes, path));
	}
	// A blob says what it holds by nothing but its length; contents that are equal have one.
	let of_size =
		|at: usize| found.iter().filter(move |(_, bytes, _)| bytes.len() as u64 == sizes[at]);
	for a in of_size(0) {
		for b in of_size(1) {
			for c in of_size(2) {
				for d in of_size(3) {
					let four = [a, b, c, d];
					let rows = Rows::of(&spec.dataset, four.map(|(hash, ..)| *hash));
					if rows.root() != spec.dataset.rows {
						continue;
					}
					let path = dir.join(kept::name(&spec.dataset));
					let contents = four.map(|(_, bytes, _)| bytes.as_slice());
					kept::put(&path, &spec.dataset, contents)?;
					found.iter().for_each(|(_, _, path)| drop(std::fs::remove_file(path)));
					return Ok(());
				}
			}
		}
	}
	Ok(())
}

/// Returns who stored garbage as the file of a state of a result, as is known in `dir`, and what is false: that
/// blob. Nothing where there is none, or the chain cannot be asked.
pub async fn stored_garbage(
	chain: &Chain,
	job: &JobView,
	group: &GroupView,
	dir: &Path,
) -> Option<(AccountId32, Charge)> {
	let at = chain.head().await.ok()?.hash;
	let trainers = group.bundles.iter().map(|bundle| &bundle.trainer);
	for who in trainers.filter(|who| !group.convicted.contains(who)) {
		let named = chain.named_states(job.id, who, at).await.ok()?;
		let is_garbage = |of: &NamedState| of.stored && garbage(dir, &of.blob).is_file();
		let Some(NamedState { leaf, blob, .. }) = named.into_iter().find(is_garbage) else {
			continue;
		};
		// It showed the leaf of its own bundle, of which nobody may have the rest.
		let pieces::Leaf { index: state, checkpoint, path } = leaf;
		let target = Target::Rescue { blob, state };
		let leaf = Leaf { content: LeafContent::Checkpoint(checkpoint), path };
		let leaves = vec![leaf].try_into().ok()?;
		return Some((who.clone(), Charge { target, claimed: Claimed::Other, leaves }));
	}
	None
}

/// A result of a job, and the chain on which pieces of it may be stored.
#[derive(Clone, Copy)]
pub struct OnChain<'a> {
	/// The chain.
	pub chain: &'a Chain,
	/// The job.
	pub job: &'a JobView,
	/// What is trained there.
	pub spec: &'a CheckedSpec,
	/// Its seed.
	pub seed: H256,
	/// The result, as the audit has it.
	pub group: &'a GroupView,
}

impl OnChain<'_> {
	/// Reads what a trainer stored into `dir`, and takes it over if it is right. `room` returns of the file of
	/// a state how many bytes the folder may have with it; `None` for one that is needed in any case.
	pub async fn fetch(
		&self,
		stored: &Stored,
		dir: &Path,
		room: impl FnOnce(&str) -> Option<u64>,
	) -> Result<(), SourceError> {
		let Self { chain, job, spec, group, .. } = *self;
		tokio::fs::create_dir_all(dir).await?;
		let Stored::Blob(RescuedView { piece, blob }) = *stored else {
			return match self.leaves(&group.result, dir).await {
				true => Ok(()),
				false => {
					let why = "the leaves of this bundle are not on chain";
					Err(SourceError::Garbage(why.into()))
				}
			};
		};
		drop_other_parts(dir, &blob)?;
		let part = kept_at(dir, &blob, PART);
		let limit = match piece {
			Piece::State(_) => bundle::max_checkpoint_bytes(spec),
			Piece::Rows { .. } => sizes_of(spec).contents().into_iter().max().unwrap_or_default(),
			Piece::Leaves | Piece::Tensor { .. } | Piece::Samples => return Ok(()),
		};
		let loading = blobs::load_into(chain, blob, limit, &part);
		let bytes = loading.await.map_err(SourceError::Rescue)?;
		info!("job {}: {stored} was read, {bytes} bytes", job.id);
		let (dir, checked) = (dir.to_owned(), spec.clone());
		if let Piece::State(state) = piece {
			let name = spec.checkpoint_step(state).map(manifest::checkpoint_file);
			let name = name.ok_or_else(|| SourceError::Lacking(format!("checkpoint {state}")))?;
			let room = room(&name);
			let state = State { dir, blob, name, limit, room };
			return tokio::task::spawn_blocking(move || state.take_over()).await?;
		}
		let rows = group.rescued.iter().filter(|of| of.piece == piece).map(|of| of.blob).collect();
		let keep = move || {
			let rows: Vec<H256> = rows;
			std::fs::rename(&part, kept_at(&dir, &blob, ROWS))?;
			keep_rows(&dir, &checked, &rows)
		};
		tokio::task::spawn_blocking(keep).await?
	}

	/// Writes the manifest into `dir` that the leaves make which the trainer of the bundle of `result` brought
	/// on chain. Returns whether it is here then.
	pub async fn leaves(&self, result: &WorkResult, dir: &Path) -> bool {
		let Self { chain, job, spec, seed, group } = *self;
		let Ok(head) = chain.head().await else { return false };
		for of in group.bundles.iter().filter(|of| of.root == result.bundle_root) {
			let read = chain.shown_leaves(job.id, &of.trainer, head.hash).await;
			let manifest = read
				.ok()
				.and_then(|leaves| Manifest::of_leaves(spec.clone(), seed, &leaves))
				.filter(|manifest| manifest.computed_root() == result.bundle_root);
			if let Some(manifest) = manifest {
				let bytes = manifest.to_bytes();
				let written = files::create_folder(dir)
					.and_then(|()| files::write(&dir.join(manifest::FILE), &bytes));
				return written.is_ok();
			}
		}
		false
	}
}
