//! Reads what trainers stored on chain of a result, for an audit: what is of use, as far as there is room.

use super::{
	room::needed,
	round::{accused, Round},
	sources::SourceError,
	Verifier,
};
pub(super) use crate::roles::common::rescues::{garbage, stored, was_read, Stored};
use crate::roles::common::rescues::{stored_garbage, OnChain};
use std::path::Path;
use trainyard_client::{AccountId32, GroupView, JobView};
use trainyard_program::spec::CheckedSpec;
use trainyard_proof::{
	bundle,
	data::kept,
	verify::{sizes_of, Charge},
};
use trainyard_protocol::accusation::Target;

/// Returns the most bytes of what is read of a rescue besides what an audit reads anyhow: a state, or the
/// contents of all rows, and the file that they are kept in.
pub(super) fn rescue_bytes(spec: &CheckedSpec) -> u64 {
	let contents =
		sizes_of(spec).contents().iter().fold(0u64, |sum, size| sum.saturating_add(*size));
	let rows = contents.saturating_add(kept::length(&spec.dataset));
	rows.max(bundle::max_checkpoint_bytes(spec))
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
		stored_garbage(&self.chain, job, group, dir).await
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
		let Round { job, spec, seed, .. } = round;
		let required = round.needed(index);
		let room = |name: &str| {
			let required = required.iter().any(|file| file == name);
			(!required).then(|| needed(round.audit, spec, group, self.max_rules))
		};
		let on_chain = OnChain { chain: &self.chain, job, spec, seed: *seed, group };
		on_chain.fetch(stored, dir, room).await
	}
}
