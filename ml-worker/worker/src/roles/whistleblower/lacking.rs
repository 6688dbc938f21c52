//! What is done on chain about what cannot be fetched of a result: what blocks carry is asked for, and for a
//! state that none carries, or the rows, a committee.

use super::{look::Looking, moved::Sampled, Whistleblower};
use crate::roles::{
	common::{
		bundles::{has_manifest, has_state, having},
		large::patience,
		rescues::{has_inputs, places, stored, stored_garbage, was_read, OnChain, Stored},
	},
	tasks::TaskError,
};
use std::{collections::BTreeSet, path::Path};
use tracing::debug;
use trainyard_client::{
	court::{Accusation, Defendant},
	GroupView, JobView, RelayView, RescuedView,
};
use trainyard_program::spec::JobSpec;
use trainyard_proof::{
	bundle::{manifest::checkpoint_file, max_checkpoint_bytes},
	inputs::InputPaths,
	verify::{sizes_of, Charge},
};
use trainyard_protocol::{audit::AuditPhase, job::WorkResult, pieces::Piece, H256};

/// The file in the folder of a result that says what was done for pieces that no block carries.
const RELAYED: &str = "lacked.json";
/// The file there that says what was done for samples.
const SAMPLED: &str = "unseen.json";
/// The file there that says what was asked for on chain.
const CLAIMED: &str = "claimed.json";

/// Returns a result of a job as its audit has it, with its number there.
fn group_of<'a>(job: &'a JobView, result: &WorkResult) -> Option<(u32, &'a GroupView)> {
	let groups = job.audit.iter().flat_map(|audit| &audit.groups);
	(0u32..).zip(groups).find(|(_, group)| group.result.common() == result.common())
}

impl Whistleblower {
	/// Returns where the files are that a job reads: in the cache, or in the folder of a result where some
	/// came from the chain.
	pub(super) fn inputs(&self, spec: &JobSpec, folder: &Path) -> InputPaths {
		let cached = self.home.inputs(spec);
		let is_here = |which| cached.get(which).is_some_and(Path::is_file);
		match spec.files().all(|(which, _)| is_here(which)) {
			true => cached,
			false => InputPaths::first_right(spec, &places(&self.home, spec, folder)),
		}
	}

	/// Reads what was stored on chain of a result, as far as it is of use: its leaves, the rows of the job where
	/// they are nowhere else, and the states in the `needed` files. Returns whether these are in `folder` then.
	pub(super) async fn fetch_stored(
		&self,
		looking: &Looking<'_>,
		needed: &[String],
		folder: &Path,
	) -> bool {
		let Looking { job, spec, result, .. } = looking;
		let (Some((_, group)), Some(seed)) = (group_of(job, result), job.seed) else {
			return false;
		};
		let found = stored(group, spec);
		let (has_rows, has_model) = match found.is_empty() {
			true => (true, true),
			false => has_inputs(&self.home, spec, folder).await,
		};
		let is_needed = |index: u32| {
			let name = spec.checkpoint_step(index).map(checkpoint_file);
			(index == 0 && !has_model) || name.is_some_and(|name| needed.contains(&name))
		};
		let on_chain = OnChain { chain: &self.claims.chain, job, spec, seed, group };
		for stored in found {
			let wanted = match stored {
				Stored::Leaves => true,
				Stored::Blob(RescuedView { piece: Piece::State(index), .. }) => is_needed(index),
				Stored::Blob(_) => !has_rows,
			};
			let root = result.bundle_root;
			if !wanted || was_read(&self.home, spec, folder, root, &stored).await {
				continue;
			}
			if let Err(e) = on_chain.fetch(&stored, folder, |_| None).await {
				debug!("job {}: {e}", job.id);
			}
		}
		let limit = max_checkpoint_bytes(spec);
		for name in needed {
			if !has_state(folder, name, limit).await {
				return false;
			}
		}
		has_manifest(folder, result.bundle_root).await
	}

	/// Returns an accusation of who stored something else on chain as the file of a state of a result.
	pub(super) async fn garbage(&self, looking: &Looking<'_>, folder: &Path) -> Option<Accusation> {
		let Looking { job, result, .. } = looking;
		let (_, group) = group_of(job, result)?;
		let (who, charge) = stored_garbage(&self.claims.chain, job, group, folder).await?;
		let Charge { target, claimed, leaves } = charge;
		let defendant = Defendant::Trainer { job: job.id, who };
		Some(Accusation { defendant, target, claimed, leaves: leaves.into_inner() })
	}

	/// Withdraws what was asked for of a result: it is here.
	pub(super) async fn withdraw(&self, looking: &Looking<'_>, folder: &Path) {
		let Looking { job, result, .. } = looking;
		if let Some((group, _)) = group_of(job, result) {
			self.claims.withdraw(job.id, group, &folder.join(CLAIMED)).await;
		}
	}

	/// Returns what becomes of a look at a result of which something could not be fetched, for this
	/// `problem`: while results stand it is asked for, or a committee is where no block carries it, and it is
	/// looked again. `segments` are those that are replayed, where they are chosen.
	pub(super) async fn lacked(
		&self,
		looking: &Looking<'_>,
		segments: &[u32],
		folder: &Path,
		problem: TaskError,
	) -> TaskError {
		let phase = looking.job.audit.as_ref().map(|audit| audit.phase);
		let Some(AuditPhase::Standing { until }) = phase else { return problem };
		match self.ask(looking, segments, folder, until).await {
			Ok(true) => TaskError::Transient(format!("{problem}; it is asked for on chain")),
			Ok(false) => problem,
			Err(e) => e,
		}
	}

	/// Returns where it can be read how far a result moves: at places that follow from `random`, from those who serve
	/// the result, and at those of a relay, from the seats that have its samples.
	pub(super) async fn sampled(&self, looking: &Looking<'_>, random: &H256) -> Vec<Sampled> {
		let Looking { job, result, servers, .. } = looking;
		let mut all = vec![Sampled { random: *random, servers: servers.to_vec(), relayed: false }];
		let relays = async {
			let head = self.large.chain.head().await?;
			self.large.chain.relays_of(job.id, head.hash).await
		};
		let (Some((number, _)), Ok(relays)) = (group_of(job, result), relays.await) else {
			return all;
		};
		let of_samples = |of: &&RelayView| (of.group, of.piece) == (number, Piece::Samples);
		if let Some((relay, random)) =
			relays.iter().find(of_samples).and_then(|relay| Some((relay, relay.places?)))
		{
			// Before those who gave nothing to whoever asked.
			all.insert(0, Sampled { random, servers: having(relay), relayed: true });
		}
		all
	}

	/// Asks a committee for the samples of a result, while it stands. Returns whether they may still come.
	pub(super) async fn ask_samples(
		&self,
		looking: &Looking<'_>,
		folder: &Path,
	) -> Result<bool, TaskError> {
		let Looking { job, spec, result, .. } = looking;
		let phase = job.audit.as_ref().map(|audit| audit.phase);
		let (Some(AuditPhase::Standing { until }), Some((number, _))) =
			(phase, group_of(job, result))
		else {
			return Ok(false);
		};
		// Of fewer segments none can be picked, and nothing is relayed.
		if sizes_of(spec).of(&Piece::Samples, result, &[]) == 0 {
			return Ok(false);
		}
		let best = self.claims.chain.head().await?.number;
		let (asked, record) = ([Piece::Samples], folder.join(SAMPLED));
		self.large.advance((job.id, number), &asked, &record, patience(until, best)).await
	}

	/// Does on chain what is due about what is lacking of a result, which stands until this block. Returns
	/// whether it may still come.
	async fn ask(
		&self,
		looking: &Looking<'_>,
		segments: &[u32],
		folder: &Path,
		until: u32,
	) -> Result<bool, TaskError> {
		let Looking { job, spec, result, .. } = looking;
		let Some((number, group)) = group_of(job, result) else { return Ok(false) };
		let is_listed = has_manifest(folder, result.bundle_root).await;
		let (has_rows, has_model) = has_inputs(&self.home, spec, folder).await;
		let begins = segments.iter().copied().filter(|segment| *segment > 0);
		let mut states = BTreeSet::new();
		for index in begins.chain((!has_model).then_some(0)) {
			let Some(step) = spec.checkpoint_step(index) else { continue };
			let limit = max_checkpoint_bytes(spec);
			if !is_listed || !has_state(folder, &checkpoint_file(step), limit).await {
				states.insert(index);
			}
		}
		let sizes = sizes_of(spec);
		let states = states.into_iter().map(Piece::State);
		let (mut lacking, mut relayed) = (Vec::new(), Vec::new());
		lacking.extend((!is_listed).then_some(Piece::Leaves));
		match self.large.large_rows(spec) {
			Some(rows) => relayed.extend((!has_rows).then_some(rows)),
			None => lacking.extend((!has_rows).then(|| sizes.all_rows())),
		}
		match self.large.is_large(spec) {
			// Without a manifest nothing shows which state a file must have.
			true => relayed.extend(states.filter(|_| is_listed)),
			false => lacking.extend(states),
		}
		// What is stored is read.
		lacking.retain(|piece| !group.stored.contains(piece));
		let best = self.claims.chain.head().await?.number;
		let patience = patience(until, best);
		let mut waits = false;
		if !lacking.is_empty() {
			let (of, record) = ((job.id, number, *result), folder.join(CLAIMED));
			waits |= self.claims.advance(of, (&lacking, &sizes), &record, patience).await?;
		}
		if !relayed.is_empty() {
			let record = folder.join(RELAYED);
			waits |= self.large.advance((job.id, number), &relayed, &record, patience).await?;
		}
		Ok(waits)
	}
}

/// Returns how much of a result came that was not there before, in a number that grows with it: pieces on
/// chain, and seats of relays that have something.
pub(super) fn news(job: &JobView, result: &WorkResult, relayed: &[String]) -> usize {
	let stored = group_of(job, result).map_or(0, |(_, group)| group.stored.len());
	stored.saturating_add(relayed.len())
}

#[cfg(test)]
#[path = "lacking_tests.rs"]
mod tests;
