//! Reads what trainers stored on chain of a result, and takes over what is right of it.
//!
//! Of most pieces the chain knows that they are right. The file of a state anybody who revealed the same
//! result may have stored as it liked: it is written to its place if it is the state that the leaves
//! list, and kept as garbage otherwise, which convicts whoever stored it. A file that is here and right is
//! never replaced.
//!
//! What was read once is not read from the chain again: `rescue-<root>.done` says that a blob was of no
//! use here, `rescue-<root>.rows` is one that holds rows and waits for the others. They are in the folder
//! of the result, with the chunks of at most one blob.

use super::{
	room::needed,
	round::{accused, Round},
	sources::{has_manifest, has_state, SourceError},
	Verifier,
};
use crate::roles::store::Home;
use std::{
	fmt,
	path::{Path, PathBuf},
};
use tracing::info;
use trainyard_client::{blobs, AccountId32, GroupView, JobView, RescuedView};
use trainyard_program::spec::{CheckedSpec, JobSpec};
use trainyard_proof::{
	bundle::{self, files, manifest, Bundle},
	data::kept,
	verify::{sizes_of, Charge},
};
use trainyard_protocol::{
	accusation::{Claimed, Leaf, LeafContent, Target},
	content,
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
pub(super) enum Stored {
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
pub(super) fn stored(group: &GroupView, spec: &CheckedSpec) -> Vec<Stored> {
	let leaves = group.stored.contains(&Piece::Leaves).then_some(Stored::Leaves);
	let rows = sizes_of(spec).all_rows();
	let useful = |of: &&RescuedView| matches!(of.piece, Piece::State(_)) || of.piece == rows;
	let blobs = group.rescued.iter().filter(useful).copied().map(Stored::Blob);
	leaves.into_iter().chain(blobs).collect()
}

/// Returns the most bytes of what is read of a rescue besides what an audit reads anyhow: a state, or the
/// contents of all rows, and the file that they are kept in.
pub(super) fn rescue_bytes(spec: &CheckedSpec) -> u64 {
	let contents =
		sizes_of(spec).contents().iter().fold(0u64, |sum, size| sum.saturating_add(*size));
	let rows = contents.saturating_add(kept::length(&spec.dataset));
	rows.max(bundle::max_checkpoint_bytes(spec))
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
pub(super) fn garbage(dir: &Path, root: &H256) -> PathBuf {
	kept_at(dir, root, GARBAGE)
}

/// Returns whether the rows of a job are kept here.
fn has_rows(home: &Home, spec: &JobSpec, dir: &Path) -> bool {
	let own = dir.join(kept::name(&spec.dataset));
	own.is_file() || home.inputs(spec).rows.is_some_and(|rows| rows.is_file())
}

/// Returns whether this need not be read any more: it is here, was of no use, or is a state, of which
/// nobody knows what it must be while the leaves are missing.
pub(super) async fn was_read(
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
		Piece::Leaves | Piece::Tensor { .. } => true,
	}
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
	/// Whether every audit of the result reads it.
	required: bool,
	/// Bytes that the folder may have with files that are not.
	room: u64,
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
		if !self.required && here > self.room {
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

impl Verifier {
	/// Returns who stored garbage as the file of a state of a result, and what is false: that blob.
	/// Nothing where there is none, or the chain cannot be asked.
	pub(super) async fn stored_garbage(
		&self,
		job: &JobView,
		group: &GroupView,
		dir: &Path,
	) -> Option<(AccountId32, Charge)> {
		let is_garbage = |of: &&RescuedView| garbage(dir, &of.blob).is_file();
		let found: Vec<&RescuedView> = group.rescued.iter().filter(is_garbage).collect();
		let at = match found.is_empty() {
			true => return None,
			false => self.chain.head().await.ok()?.hash,
		};
		let trainers = group.bundles.iter().map(|bundle| &bundle.trainer);
		for who in trainers.filter(|who| !group.convicted.contains(who)) {
			let stored = self.chain.stored_rescues(job.id, who, at).await.ok()?;
			for of in stored.iter().filter(|of| found.contains(of)) {
				let Piece::State(state) = of.piece else { continue };
				// It showed the leaf of its own bundle, of which nobody may have the rest.
				let named = self.chain.named_leaf(job.id, who, state, at).await.ok()?;
				let Some(pieces::Leaf { checkpoint, path, .. }) = named else { continue };
				let leaf = Leaf { content: LeafContent::Checkpoint(checkpoint), path };
				let target = Target::Rescue { blob: of.blob, state };
				let leaves = vec![leaf].try_into().ok()?;
				return Some((who.clone(), Charge { target, claimed: Claimed::Other, leaves }));
			}
		}
		None
	}

	/// Returns who is accused of what a seat charges a result with, by whose leaves; nobody where all are
	/// convicted, or nothing is asked for any more.
	pub(super) async fn charged(
		&self,
		job: &JobView,
		group: &GroupView,
		(dir, seat): (&Path, usize),
		charge: &Charge,
	) -> Option<(AccountId32, Charge)> {
		match charge.target {
			// Of a blob whoever stored it is accused, and nobody else.
			Target::Rescue { .. } => self.stored_garbage(job, group, dir).await,
			_ => Some((accused(job, group, seat)?, charge.clone())),
		}
	}

	/// Reads what a trainer stored of a result, and takes it over if it is right.
	pub(super) async fn fetch_rescue(
		&self,
		round: &Round<'_>,
		(index, group): (usize, &GroupView),
		stored: &Stored,
		dir: &Path,
	) -> Result<(), SourceError> {
		let spec = &round.spec;
		tokio::fs::create_dir_all(dir).await?;
		let Stored::Blob(RescuedView { piece, blob }) = *stored else {
			return self.fetch_leaves(round, group, dir).await;
		};
		drop_other_parts(dir, &blob)?;
		let part = kept_at(dir, &blob, PART);
		let limit = match piece {
			Piece::State(_) => bundle::max_checkpoint_bytes(spec),
			Piece::Rows { .. } => sizes_of(spec).contents().into_iter().max().unwrap_or_default(),
			Piece::Leaves | Piece::Tensor { .. } => return Ok(()),
		};
		let loading = blobs::load_into(&self.chain, blob, limit, &part);
		let bytes = loading.await.map_err(SourceError::Rescue)?;
		info!("job {}: {stored} was read, {bytes} bytes", round.job.id);
		let (dir, checked) = (dir.to_owned(), spec.clone());
		if let Piece::State(state) = piece {
			let name = spec.checkpoint_step(state).map(manifest::checkpoint_file);
			let name = name.ok_or_else(|| SourceError::Lacking(format!("checkpoint {state}")))?;
			let required = round.needed(index).contains(&name);
			let room = needed(round.audit, spec, group, self.max_rules);
			let state = State { dir, blob, name, limit, required, room };
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

	/// Reads the leaves of a result from the chain, and writes the manifest that they make.
	async fn fetch_leaves(
		&self,
		round: &Round<'_>,
		group: &GroupView,
		dir: &Path,
	) -> Result<(), SourceError> {
		let of = (round.job, &round.spec, round.seed);
		match self.leaves_of(of, group, &group.result, dir).await {
			true => Ok(()),
			false => Err(SourceError::Garbage("the leaves of this bundle are not on chain".into())),
		}
	}
}
