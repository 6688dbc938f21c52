//! Notes the deposit of a blob when it is stored, and takes it back when the blob has expired.

use super::{locked, Key, Trainer};
use crate::roles::{
	plan::Action,
	store::StoreError,
	tasks::{Outcome, Tasks},
};
use serde_json::json;
use std::sync::Arc;
use tracing::debug;
use trainyard_client::{calls, AccountId32, BlobView, Head};
use trainyard_protocol::{job::BlockNumber, JobId, H256};

/// Blocks between two looks at the blobs: they live for weeks.
const EVERY: BlockNumber = 100;

/// What to do about a blob that this account stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
	/// Nothing yet.
	Keep,
	/// Nothing ever: it is gone, or another account holds its deposit.
	Forget,
	/// It has expired.
	Remove,
}

/// Returns the fate of a blob at height `best`.
fn fate(view: Option<&BlobView>, me: &AccountId32, best: BlockNumber) -> Fate {
	match view {
		None => Fate::Forget,
		Some(view) if view.owner != *me => Fate::Forget,
		Some(view) if best > view.expires => Fate::Remove,
		Some(_) => Fate::Keep,
	}
}

impl Trainer {
	/// Remembers, on disk, that a deposit for the blob `root` may be held from now on.
	pub(super) fn note_blob(&self, root: H256, job: JobId) -> Result<(), StoreError> {
		let mut blobs = locked(&self.blobs);
		if blobs.insert(root, job) == Some(job) {
			return Ok(());
		}
		self.home.save_blobs(&blobs)
	}

	/// Now and then, starts to take back the deposits of expired blobs. Blobs about which it cannot
	/// ask now are checked the next time.
	pub(super) async fn reclaim_expired(self: &Arc<Self>, tasks: &mut Tasks<Key>, head: Head) {
		if !head.number.is_multiple_of(EVERY) {
			return;
		}
		let known: Vec<(H256, JobId)> = locked(&self.blobs).iter().map(|(r, j)| (*r, *j)).collect();
		for (root, job) in known {
			let at_work = self.records().keys().any(|(id, _)| *id == job);
			let view = match self.chain.blob(root).await {
				Ok(view) => view,
				Err(e) => {
					debug!("blob {root:?}: {e}");
					continue;
				}
			};
			match fate(view.as_ref(), self.me(), head.number) {
				// A job that is not over may store it yet.
				_ if at_work => {}
				Fate::Keep => {}
				Fate::Forget => {
					let mut blobs = locked(&self.blobs);
					blobs.remove(&root);
					if let Err(e) = self.home.save_blobs(&blobs) {
						debug!("{e}");
					}
				}
				Fate::Remove => {
					let key = (job, root, Action::Reclaim);
					tasks.start(key, self.clone().reclaim(job, root));
				}
			}
		}
	}

	async fn reclaim(self: Arc<Self>, job: JobId, root: H256) -> Outcome {
		// A long blob goes in parts.
		while self.chain.blob(root).await?.is_some_and(|view| view.owner == *self.me()) {
			self.sender.run(&calls::remove_blob(&root)).await?;
		}
		let text = format!("blob {root:?} has expired: removed, its deposit is back");
		self.report.job(job, "reclaimed", &text, json!({ "root": root }));
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn only_own_blobs_are_removed_and_only_when_they_have_expired() {
		let me = AccountId32([1; 32]);
		let (missing, expires, removing) = (vec![], 100, false);
		let view = BlobView { owner: me, size: 5, chunks: 1, missing, expires, removing };
		assert_eq!(fate(Some(&view), &me, 100), Fate::Keep);
		assert_eq!(fate(Some(&view), &me, 101), Fate::Remove);
		let other = BlobView { owner: AccountId32([2; 32]), ..view };
		assert_eq!(fate(Some(&other), &me, 101), Fate::Forget);
		assert_eq!(fate(None, &me, 101), Fate::Forget);
	}
}
