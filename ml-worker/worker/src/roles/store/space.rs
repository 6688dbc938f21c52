//! Shares the room of a role's folder between its tasks: each takes room for what it fetches before it
//! does. Verifier and driller use it.

use super::{files, Home, Quota, StoreError};
use std::{
	collections::{BTreeMap, HashSet},
	path::{Path, PathBuf},
	sync::{Arc, Mutex, MutexGuard},
};
use trainyard_program::spec::FileRef;
use trainyard_protocol::H256;

/// What a running task has yet to write, and the data that it reads.
#[derive(Clone, Debug)]
struct Claim {
	/// Bytes that its folder may get.
	bytes: u64,
	/// Content hashes of the files of its job.
	data: Vec<H256>,
}

type Claims = BTreeMap<PathBuf, Claim>;

/// The room of a role's folder. Clones share it.
#[derive(Clone, Debug)]
pub struct Space {
	quota: Quota,
	claims: Arc<Mutex<Claims>>,
	/// Folders of rounds that stay.
	kept: Arc<Mutex<HashSet<PathBuf>>>,
}

/// Room for what a task fetches into a folder. It is given back when this is dropped.
#[derive(Debug)]
pub struct Claimed {
	folder: PathBuf,
	claims: Arc<Mutex<Claims>>,
}

impl Drop for Claimed {
	fn drop(&mut self) {
		locked(&self.claims).remove(&self.folder);
	}
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
	shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Returns whether a file that a job reads is in the cache. What is there under its name is whole.
pub fn is_here(home: &Home, file: &FileRef) -> bool {
	std::fs::metadata(home.data(&file.content_hash)).is_ok_and(|about| about.len() == file.bytes)
}

impl Space {
	/// Makes the room of a folder that has this quota.
	pub fn new(quota: Quota) -> Self {
		Self { quota, claims: Arc::default(), kept: Arc::default() }
	}

	/// Takes room in `folder`, that of a result, for `bytes` bytes and for those of `data`, the files
	/// that the job reads, that the cache does not have. What audits left behind is removed for it,
	/// then idle data, but nothing that a running audit needs. Returns the bytes that are missing if
	/// there is too little.
	pub fn claim(
		&self,
		home: &Home,
		folder: &Path,
		bytes: u64,
		data: &[FileRef],
		others: HashSet<H256>,
	) -> Result<Result<Claimed, u64>, StoreError> {
		let mut claims = locked(&self.claims);
		let (mut coming, mut keep, mut in_use) = (0u64, others, HashSet::new());
		// What the cache has counts there, and stays as long as this claim.
		let absent = data.iter().filter(|file| !is_here(home, file)).map(|file| file.bytes);
		let bytes = absent.fold(bytes, u64::saturating_add);
		let claim = Claim { bytes, data: data.iter().map(|file| file.content_hash).collect() };
		let this = folder.to_owned();
		for (path, claim) in claims.iter().chain([(&this, &claim)]) {
			let written = files::size(path)?;
			coming = coming.saturating_add(claim.bytes.saturating_sub(written));
			keep.extend(&claim.data);
			in_use.extend(path.parent().map(Path::to_owned));
		}
		in_use.extend(locked(&self.kept).iter().cloned());
		let missing = coming.saturating_sub(self.quota.left(home)?);
		if missing > 0 {
			home.clear_audits(&in_use, missing)?;
		}
		let made = self.quota.make_room(home, &keep, coming)?;
		if made.missing > 0 {
			return Ok(Err(made.missing));
		}
		claims.insert(this.clone(), claim);
		Ok(Ok(Claimed { folder: this, claims: self.claims.clone() }))
	}

	/// Keeps what was fetched for exactly these rounds from now on, whatever others need: it is what their
	/// evidence is defended with.
	pub fn keep(&self, folders: HashSet<PathBuf>) {
		*locked(&self.kept) = folders;
	}

	/// Changes a claim: its folder may have `bytes` bytes.
	pub fn resize(&self, folder: &Path, bytes: u64) {
		if let Some(claim) = locked(&self.claims).get_mut(folder) {
			claim.bytes = bytes;
		}
	}

	/// Returns the folders of rounds for which something is being fetched or read.
	pub fn in_use(&self) -> HashSet<PathBuf> {
		let claims = locked(&self.claims);
		claims.keys().filter_map(|folder| Some(folder.parent()?.to_owned())).collect()
	}
}
