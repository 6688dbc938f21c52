//! Reads what trainers stored on chain of a result, and takes over what is right of it.
//!
//! Anybody who revealed the same result may store anything. So nothing of an archive is written
//! before it is known to be right: the manifest by the revealed root, a state by the manifest of that
//! root, a file of the job by its content hash. A file that is here and right is never replaced.
//!
//! What was read once is not read from the chain again. `rescue-<root>.done` lists what was right in
//! it, and `rescue-<root>.waits` says that its states wait for a manifest from elsewhere; both are in
//! the folder of the result. At most one archive at a time is there as well.

use super::{
	room::{most_states, needed},
	round::Round,
	sources::{has_manifest, SourceError},
	Verifier,
};
use crate::roles::store::{is_here, Home};
use std::{
	collections::HashSet,
	path::{Path, PathBuf},
};
use tracing::{debug, info};
use trainyard_client::{blobs, AccountId32, AuditView, GroupView, JobView};
use trainyard_program::spec::{CheckedSpec, InputFile, JobSpec};
use trainyard_proof::{
	bundle::{
		self,
		archive::{self, ArchiveError},
		files,
		manifest::{self, Manifest},
		Bundle,
	},
	hash,
	inputs::check_content,
	verify::Charge,
};
use trainyard_protocol::{
	accusation::{Claimed, Target},
	audit::Piece,
	blob, H256,
};

/// The beginning of the names of what is kept of a rescue.
const RESCUE: &str = "rescue-";
/// Chunks that were read so far.
const PART: &str = "part";
/// What was right in it.
const DONE: &str = "done";
/// Garbage, which convicts whoever stored it as the file of a state.
const GARBAGE: &str = "garbage";
/// It brought no manifest, and none was here.
const WAITS: &str = "waits";

/// Returns the most bytes of what a trainer stored of a result, which others may have asked for as well.
pub(super) fn rescue_limit(audit: &AuditView, spec: &CheckedSpec, group: &GroupView) -> u64 {
	let trained = group.result.segments;
	let asked = group.stored.iter().filter(|piece| matches!(piece, Piece::State(_))).count() as u64;
	let states = most_states(audit, trained)
		.saturating_add(asked)
		.saturating_add(u64::from(blob::searched_states(trained)));
	bundle::max_checkpoint_bytes(spec)
		.saturating_mul(states)
		.saturating_add(spec.file_bytes())
		.saturating_add(manifest::MAX_BYTES)
		.saturating_add(1 << 20)
}

/// Returns where something of a rescue is kept, in the folder of its result.
fn kept(dir: &Path, root: &H256, what: &str) -> PathBuf {
	dir.join(format!("{RESCUE}{}.{what}", hex::encode(root)))
}

/// Removes the chunks of other rescues than that of `root`: there is room for one archive.
fn drop_other_parts(dir: &Path, root: &H256) -> std::io::Result<()> {
	let own = kept(dir, root, PART);
	for entry in std::fs::read_dir(dir)? {
		let path = entry?.path();
		let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
		if path != own && name.starts_with(RESCUE) && name.ends_with(&format!(".{PART}")) {
			std::fs::remove_file(&path)?;
		}
	}
	Ok(())
}

/// The result that a rescue is of.
struct Rescued {
	/// Folder of the result.
	dir: PathBuf,
	/// The revealed root of its bundle.
	root: H256,
	/// Most bytes of a checkpoint file.
	checkpoint: u64,
	/// Checkpoint files that every audit of it reads.
	required: HashSet<String>,
	/// Bytes that the folder may have with files that are not required.
	room: u64,
	spec: JobSpec,
}

impl Rescued {
	/// Returns the bundle here, if its manifest is the revealed one.
	fn bundle(&self) -> Option<Bundle> {
		Bundle::open(&self.dir).ok().filter(|bundle| bundle.root() == self.root)
	}

	/// Returns the file of the job that an entry of this name holds.
	fn input(&self, name: &str) -> Option<InputFile> {
		let mut files = self.spec.files();
		files.find(|(which, _)| bundle::input_file(*which) == name).map(|(which, _)| which)
	}

	/// Returns whether `content` is the file of the job that it is said to be.
	fn is_input(&self, which: InputFile, content: &[u8]) -> bool {
		let mut files = self.spec.files();
		files.any(|(this, file)| {
			this == which
				&& file.bytes == content.len() as u64
				&& file.content_hash == hash::blake2_256(content)
		})
	}

	/// Returns whether the file of the job is in the folder already.
	fn has_input(&self, which: InputFile) -> bool {
		let path = self.dir.join(bundle::input_file(which));
		let mut files = self.spec.files();
		files.any(|(this, file)| this == which && check_content(&path, which, &file).is_ok())
	}

	/// Returns whether there is room for a checkpoint that not every audit reads.
	fn has_room(&self, name: &str, bytes: usize) -> bool {
		let here = || files::size(&self.dir).unwrap_or(u64::MAX);
		self.required.contains(name) || here().saturating_add(bytes as u64) <= self.room
	}

	/// Writes those entries of an archive that are right and not here. Returns the names of those that
	/// are right, and whether the revealed manifest is here, without which no state is.
	fn take_over(&self, bytes: &[u8], limit: u64) -> Result<(Vec<String>, bool), ArchiveError> {
		let entries = match (archive::entries(bytes, limit), self.bundle()) {
			(Ok(entries), _) => entries,
			// Where one state alone was asked for, it is the file of that; which one, the manifest says.
			(Err(_), None) => return Ok((Vec::new(), false)),
			(Err(e), Some(bundle)) => match state_file(&bundle, bytes) {
				Some(name) => vec![(name, bytes)],
				None => return Err(e),
			},
		};
		files::create_folder(&self.dir.join(bundle::CHECKPOINTS))?;
		let is_revealed = |content: &[u8]| {
			content.len() as u64 <= manifest::MAX_BYTES
				&& Manifest::parse(content).is_ok_and(|read| read.computed_root() == self.root)
		};
		let (mut right, mut here) = (Vec::new(), self.bundle());
		if let Some((name, content)) = entries.iter().find(|(name, _)| name == manifest::FILE) {
			if is_revealed(content) {
				right.push(name.clone());
				if here.is_none() {
					files::write(&self.dir.join(name), content)?;
					here = self.bundle();
				}
			}
		}
		for (name, content) in &entries {
			let (is_right, is_here) = match (manifest::step_of(name), self.input(name)) {
				(Some(step), _) => {
					let Some(bundle) = &here else { continue };
					let listed = bundle.manifest().checkpoints.iter().find(|c| c.step == step);
					let is_right = content.len() as u64 <= self.checkpoint
						&& listed
							.is_some_and(|c| bundle::hash_of_state(content) == Some(c.state_hash));
					let is_here =
						is_right && bundle.checkpoint_within(step, self.checkpoint).is_ok();
					(is_right && (is_here || self.has_room(name, content.len())), is_here)
				}
				(None, Some(which)) => (self.is_input(which, content), self.has_input(which)),
				(None, None) => continue,
			};
			if is_right {
				right.push(name.clone());
			}
			if is_right && !is_here {
				files::write(&self.dir.join(name), content)?;
			}
		}
		Ok((right, here.is_some()))
	}
}

/// Returns the name of the checkpoint file that these bytes are, of those that a bundle lists.
fn state_file(bundle: &Bundle, bytes: &[u8]) -> Option<String> {
	let hash = bundle::hash_of_state(bytes)?;
	let listed = bundle.manifest().checkpoints.iter().find(|c| c.state_hash == hash)?;
	Some(manifest::checkpoint_file(listed.step))
}

/// Returns whether all that this rescue has for the result in `dir` was read from it, and is still
/// here.
pub(super) async fn was_read(
	home: &Home,
	spec: &JobSpec,
	dir: &Path,
	revealed: H256,
	root: &H256,
) -> bool {
	if kept(dir, root, WAITS).exists() && !has_manifest(dir, revealed).await {
		return true;
	}
	let Ok(listed) = tokio::fs::read_to_string(kept(dir, root, DONE)).await else { return false };
	// What the job reads goes from the folder into the cache, and from there where room is needed.
	let is_cached = |name: &str| {
		let mut files = spec.files();
		files.any(|(which, file)| bundle::input_file(which) == name && is_here(home, &file))
	};
	listed.lines().all(|name| dir.join(name).is_file() || is_cached(name))
}

/// Returns where a blob is kept that a trainer stored, and that is neither an archive nor a state of its
/// result.
pub(super) fn garbage(dir: &Path, root: &H256) -> PathBuf {
	kept(dir, root, GARBAGE)
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
		let is_garbage = |root: &&H256| garbage(dir, root).is_file();
		let roots: Vec<H256> = group.rescued.iter().filter(is_garbage).copied().collect();
		let manifest = Bundle::open(dir).ok().filter(|it| it.root() == group.result.bundle_root)?;
		let at = match roots.is_empty() {
			true => return None,
			false => self.chain.head().await.ok()?.hash,
		};
		for replica in &job.replicas {
			let delivered = replica.reveal.as_ref().map(|reveal| reveal.result());
			if delivered != Some(group.result) || group.convicted.contains(&replica.trainer) {
				continue;
			}
			let stored = self.chain.stored_rescues(job.id, &replica.trainer, at).await.ok()?;
			for (blob, state) in stored {
				let Some(state) = state.filter(|_| roots.contains(&blob)) else { continue };
				let target = Target::Rescue { blob, state };
				if let Some(charge) = Charge::new(manifest.manifest(), target, Claimed::Other) {
					return Some((replica.trainer, charge));
				}
			}
		}
		None
	}

	/// Reads the rescue `root` from the chain and takes over what is right of it.
	pub(super) async fn fetch_rescue(
		&self,
		round: &Round<'_>,
		(index, group): (usize, &GroupView),
		root: H256,
		dir: &Path,
	) -> Result<(), SourceError> {
		let spec = &round.spec;
		let limit = rescue_limit(round.audit, spec, group);
		tokio::fs::create_dir_all(dir).await?;
		drop_other_parts(dir, &root)?;
		let part = kept(dir, &root, PART);
		let loading = blobs::load_into(&self.chain, root, limit, &part);
		let bytes = loading.await.map_err(SourceError::Rescue)?;
		info!("job {}: rescued files read from the chain, {bytes} bytes", round.job.id);
		let of = Rescued {
			dir: dir.to_owned(),
			root: group.result.bundle_root,
			checkpoint: bundle::max_checkpoint_bytes(spec),
			required: round.needed(index).into_iter().collect(),
			room: needed(round.audit, spec, group, self.max_rules),
			spec: spec.spec().clone(),
		};
		let [done, waits, garbage] = [DONE, WAITS, GARBAGE].map(|what| kept(dir, &root, what));
		let read = move || {
			let bytes = files::read(&part, limit)?;
			let (right, has_manifest) = match of.take_over(&bytes, limit) {
				Err(ArchiveError::File(e)) => return Err(ArchiveError::File(e)),
				// What is no archive is none the next time.
				Err(e) => {
					files::write(&done, b"")?;
					std::fs::rename(&part, &garbage).map_err(files::at("rename", &part))?;
					return Err(e);
				}
				Ok(taken) => taken,
			};
			debug!("{} of its files are right", right.len());
			if !has_manifest {
				files::write(&waits, b"")?;
				return Ok(());
			}
			files::write(&done, right.join("\n").as_bytes())?;
			for over in [&part, &waits] {
				let _ = std::fs::remove_file(over);
			}
			Ok(())
		};
		tokio::task::spawn_blocking(read).await?.map_err(SourceError::Archive)
	}
}
