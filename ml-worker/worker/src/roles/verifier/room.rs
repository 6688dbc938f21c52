//! Keeps the verifier's folder within its quota: removes what audits left behind, and lets an audit
//! fetch only what there is room for.

use super::{lots::most_segments, rescued::rescue_bytes, Verifier};
use crate::roles::{
	blocks::LookError,
	fetch::drop_parts,
	store::{is_here, AuditFolder, Claimed, Home, StoreError, Unused},
};
use serde_json::json;
use std::{
	collections::{BTreeMap, HashSet},
	path::{Path, PathBuf},
	sync::{Mutex, MutexGuard},
	time::Duration,
};
use trainyard_client::{AuditView, GroupView, Head, JobView};
use trainyard_program::spec::{CheckedSpec, FileRef};
use trainyard_proof::bundle::{self, files};
use trainyard_protocol::{
	blob,
	job::{BlockNumber, JobState},
	JobId,
};

/// Blocks for which the folder of an audit that is over stays: no reorganisation is that deep.
const GRACE: BlockNumber = 100;
/// Blocks between two looks for such folders.
const EVERY: BlockNumber = 10;
/// The age at which the folder of a job goes that the chain does not know.
const FORGOTTEN: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Bytes of a manifest for each checkpoint, and besides, at most.
const MANIFEST_ENTRY: u64 = 512;
const MANIFEST_BASE: u64 = 64 * 1024;

/// The folders of audits that are over, as they were found.
#[derive(Debug, Default)]
pub(super) struct Over {
	unused: Unused<PathBuf>,
	/// Height of the latest look for them.
	looked: Option<BlockNumber>,
}

impl Over {
	/// Returns whether it is time to look again at height `best`.
	fn is_due(&self, best: BlockNumber) -> bool {
		self.looked.is_none_or(|looked| best.abs_diff(looked) >= EVERY)
	}

	/// Notes that at height `best` these are over. Returns those that may go.
	fn note(&mut self, over: impl Iterator<Item = PathBuf>, best: BlockNumber) -> Vec<PathBuf> {
		self.looked = Some(best);
		self.unused.note(over, best, GRACE)
	}
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
	shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Returns the bytes that an audit fetches of one result, at most, besides the files of the job: the
/// states that it reads, those to find where a standstill began, one more to part it from others,
/// and those that only the rules look at; of a rescued one also a blob at a time, and the rows of the
/// data. Nothing else is taken than what there is room for.
pub(super) fn needed(
	audit: &AuditView,
	spec: &CheckedSpec,
	group: &GroupView,
	max_rules: u64,
) -> u64 {
	let trained = group.result.segments;
	let checkpoint = bundle::max_checkpoint_bytes(spec);
	let required = most_states(audit, trained) + 1;
	let required = required + u64::from(blob::searched_states(trained));
	let entries = u64::from(trained).saturating_add(1).saturating_mul(MANIFEST_ENTRY);
	let rescue = match group.rescued.is_empty() {
		false => rescue_bytes(spec),
		true => 0,
	};
	checkpoint
		.saturating_mul(required)
		.saturating_add(max_rules.min(checkpoint.saturating_mul(u64::from(trained) + 1)))
		.saturating_add(entries)
		.saturating_add(MANIFEST_BASE)
		.saturating_add(rescue)
}

/// Returns the most states that a seat of this audit reads of a result with `trained` segments by
/// itself: both ends of each segment that it replays, and the last one.
pub(super) fn most_states(audit: &AuditView, trained: u32) -> u64 {
	let ends = u64::from(most_segments(audit)).saturating_mul(2).saturating_add(1);
	ends.min(u64::from(trained).saturating_add(1))
}

/// Removes copies of the job's files, whole or not, from the folder of a result, where the cache has
/// them.
fn drop_copies(home: &Home, spec: &CheckedSpec, folder: &Path) -> Result<(), StoreError> {
	for (which, _) in spec.files().filter(|(_, file)| is_here(home, file)) {
		let copy = folder.join(bundle::input_file(which));
		drop_parts(&copy, 0).map_err(files::at("remove the parts of", &copy))?;
		match std::fs::remove_file(&copy) {
			Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
				return Err(files::at("remove", &copy)(e).into());
			}
			_ => {}
		}
	}
	Ok(())
}

impl Verifier {
	/// Takes room for what is fetched of one result.
	pub(super) fn claim(
		&self,
		audit: &AuditView,
		spec: &CheckedSpec,
		group: &GroupView,
		folder: &Path,
	) -> Result<Result<Claimed, u64>, StoreError> {
		drop_copies(&self.home, spec, folder)?;
		let data: Vec<FileRef> = spec.files().map(|(_, file)| file).collect();
		let rows = self.home.coming_rows(spec);
		let bytes = needed(audit, spec, group, self.max_rules).saturating_add(rows);
		self.space.claim(&self.home, folder, bytes, &data, self.units.reading())
	}

	/// Gives the room of a result back that was fetched, except for the state that may part it from
	/// others. What the job reads was read, so that the cache has it.
	pub(super) fn has_fetched(&self, spec: &CheckedSpec, folder: &Path) -> Result<(), StoreError> {
		drop_copies(&self.home, spec, folder)?;
		let bytes = files::size(folder)?.saturating_add(bundle::max_checkpoint_bytes(spec));
		self.space.resize(folder, bytes);
		Ok(())
	}

	/// Takes the room of a result again: what was fetched is not enough, and another source is
	/// asked.
	pub(super) fn fetches_again(
		&self,
		audit: &AuditView,
		spec: &CheckedSpec,
		group: &GroupView,
		folder: &Path,
	) {
		self.space.resize(folder, needed(audit, spec, group, self.max_rules));
	}

	/// Removes the folders of audits that are over, now and then: the job has ended, or this is not
	/// its audit any more. `active` are the jobs that have not ended, `wanted` the folders of rounds
	/// that go on.
	pub(super) async fn tidy(
		&self,
		active: &[JobView],
		wanted: &HashSet<PathBuf>,
		head: Head,
	) -> Result<(), LookError> {
		// Not every height is looked at: blocks that come at once are one look.
		if !locked(&self.over).is_due(head.number) {
			return Ok(());
		}
		let in_use = self.space.in_use();
		let mut over = BTreeMap::new();
		for folder in self.home.audits()? {
			let AuditFolder { path, job, .. } = &folder;
			if !wanted.contains(path)
				&& !in_use.contains(path)
				&& self.is_over(active, &folder).await?
			{
				over.insert(path.clone(), *job);
			}
		}
		let gone = locked(&self.over).note(over.keys().cloned(), head.number);
		for path in gone {
			self.home.remove_audit(&path)?;
			let job: JobId = over.get(&path).copied().unwrap_or_default();
			let text = "an audit is over: its folder is removed";
			self.report.job(job, "removed", text, json!({}));
		}
		Ok(())
	}

	/// Returns whether the chain says that a folder is of no use. Where it does not know the job, it
	/// may be a node that has not read its chain yet, so that only age counts.
	async fn is_over(&self, active: &[JobView], folder: &AuditFolder) -> Result<bool, LookError> {
		if active.iter().any(|job| job.id == folder.job) {
			return Ok(true);
		}
		match self.chain.job(folder.job).await {
			Ok(Some(job)) => Ok(matches!(job.state, JobState::Ended(_))),
			Ok(None) => Ok(folder.changed.elapsed().is_ok_and(|age| age > FORGOTTEN)),
			Err(e) if e.is_connection() || e.is_final() => Err(e.into()),
			// One job that cannot be read does not keep the folders of others.
			Err(_) => Ok(false),
		}
	}
}
