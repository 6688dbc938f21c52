//! The bundles of a result: each of its trainers has one, in which other leaves are forced to be false.
//!
//! An accusation shows leaves under the root of the one whom it accuses. Where the forced leaves of two
//! bundles were opened, what one of them shows follows from what the other one does; so a result is looked
//! at once, and everyone who delivered it can be accused.

use super::parting::{accusable, accusation, forced_of, PartingError, Shown};
use std::path::{Path, PathBuf};
use trainyard_client::{
	court::{Accusation, Defendant},
	AccountId32, JobView,
};
use trainyard_court::game::{Claimed, LeafContent, Target};
use trainyard_program::spec::CheckedSpec;
use trainyard_proof::{
	bundle::{
		files::{self, FileError},
		manifest::{self, Manifest},
		Bundle,
	},
	court::Claims,
};
use trainyard_protocol::{forced::Forced, job::WorkResult, H256};

/// A bundle in the clear.
#[derive(Clone, Debug)]
pub struct OfTrainer {
	/// Whose it is.
	pub who: AccountId32,
	/// What that trainer revealed.
	pub result: WorkResult,
	/// The leaves, as they are under its root.
	pub claims: Claims,
	/// Those of them that were opened as forced.
	pub forced: Vec<Forced>,
}

impl OfTrainer {
	/// Returns it as it is compared.
	pub fn shown(&self) -> Shown<'_> {
		Shown { result: &self.result, claims: &self.claims, forced: &self.forced }
	}
}

/// Returns the leaves of another bundle of the same result: those that the first one opened as `own` have
/// their true traces, and those that the other one opened as `theirs` the ones that it shows.
fn as_shown_by(claims: &Claims, own: &[Forced], theirs: &[Forced]) -> Claims {
	let mut claims = claims.clone();
	let mut put = |forced: &Forced, from: H256, to: H256| {
		let leaf = claims.checkpoints.get_mut(forced.index as usize);
		if let Some(leaf) = leaf.filter(|leaf| leaf.trace == from) {
			leaf.trace = to;
		}
	};
	own.iter().for_each(|forced| put(forced, forced.shown, forced.trace));
	theirs.iter().for_each(|forced| put(forced, forced.trace, forced.shown));
	claims
}

/// Returns the bundle of a trainer that delivered the result of the bundle `shown`, where it is known: of
/// another one than this where both were opened.
pub fn bundle_of(job: &JobView, shown: Shown<'_>, who: AccountId32) -> Option<OfTrainer> {
	let mine = job.replicas.iter().find(|replica| replica.trainer == who)?;
	let result = mine.reveal.as_ref()?.result();
	let forced = forced_of(job, &result);
	let claims = match result.bundle_root == shown.result.bundle_root {
		true => shown.claims.clone(),
		false => as_shown_by(shown.claims, shown.forced, &forced),
	};
	let of = OfTrainer { who, result, claims, forced };
	of.shown().is_whole().then_some(of)
}

/// Returns the folder beside the files of a result in `dir` that has the manifest of another of its bundles.
fn beside(dir: &Path, bundle_root: &H256) -> PathBuf {
	dir.join(format!("bundle-{}", hex::encode(&bundle_root.0[..8])))
}

/// Returns the folder with the manifest of the bundle of this root: `dir`, or the one [beside it](keep).
/// `None` where neither has it.
pub fn manifest_of(dir: &Path, bundle_root: &H256) -> Option<PathBuf> {
	let folders = [dir.to_owned(), beside(dir, bundle_root)];
	let has = |dir: &PathBuf| Bundle::open(dir).is_ok_and(|bundle| bundle.root() == *bundle_root);
	folders.into_iter().find(has)
}

/// Keeps the manifest of a bundle beside the files of its result in `dir`, unless it is there.
pub fn keep(
	dir: &Path,
	spec: &CheckedSpec,
	seed: H256,
	bundle: &OfTrainer,
) -> Result<(), FileError> {
	let root = &bundle.result.bundle_root;
	if manifest_of(dir, root).is_some() {
		return Ok(());
	}
	let Claims { checkpoints, diverged } = &bundle.claims;
	let leaves = checkpoints.iter().copied().map(LeafContent::Checkpoint);
	let leaves: Vec<LeafContent> = leaves.chain(diverged.map(LeafContent::Diverged)).collect();
	let Some(manifest) = Manifest::of_leaves(spec.clone(), seed, &leaves) else { return Ok(()) };
	let folder = beside(dir, root);
	files::create_private_folder(&folder)?;
	files::write(&folder.join(manifest::FILE), &manifest.to_bytes())
}

/// Returns an accusation of `who`, who delivered a result of which the bundle `shown` is false at `target`, and
/// keeps beside its files in `dir` what a dispute needs. `None` where the bundle of that trainer is not known.
/// Fails where it has no leaves there, or its manifest cannot be written.
pub fn accusation_of(
	(job, spec): (&JobView, &CheckedSpec),
	shown: Shown<'_>,
	(target, claimed): (Target, Claimed),
	dir: &Path,
	who: AccountId32,
) -> Option<Result<Accusation, PartingError>> {
	let bundle = bundle_of(job, shown, who)?;
	let seed = job.seed.unwrap_or_default();
	if let Err(e) = keep(dir, spec, seed, &bundle) {
		return Some(Err(PartingError::Files(e.into())));
	}
	let defendant = Defendant::Trainer { job: job.id, who };
	let accusation = accusation(defendant, bundle.shown(), target, claimed);
	Some(accusation.ok_or(PartingError::NoLeaves(target)))
}

/// Returns an accusation of everyone who delivered a result, of which the bundle `shown` is false at
/// `target`, as [`accusation_of`] does.
pub fn accusations(
	(job, spec): (&JobView, &CheckedSpec),
	shown: Shown<'_>,
	of: (Target, Claimed),
	dir: &Path,
) -> Result<Vec<Accusation>, PartingError> {
	let accuse = |who| accusation_of((job, spec), shown, of, dir, who);
	accusable(job, shown.result).filter_map(accuse).collect()
}
