//! Asks on chain for what nobody gives.

use super::{
	asking::ASKED,
	lots::Lot,
	round::Round,
	sources::{has_manifest, has_state},
	Verifier,
};
use crate::roles::{common::rescues::has_inputs, display, store::AskedRecord, tasks::TaskError};
use serde_json::json;
use std::{collections::BTreeSet, path::Path, time::Instant};
use tracing::debug;
use trainyard_client::GroupView;
use trainyard_proof::{
	bundle,
	verify::{self, sizes_of},
};
use trainyard_protocol::{
	audit::AuditPhase,
	job::WorkResult,
	pieces::{seat_share, Piece, PieceSizes, Pieces, MAX_PIECES},
};

/// What the chain takes of one who asks for pieces of a result.
struct Takes {
	/// Bytes that it carries together.
	bytes: u64,
	/// Pieces that it takes in all, beside those that everybody reads.
	pieces: usize,
	/// Those of them that were named before.
	named: BTreeSet<Piece>,
}

/// Returns the first of these pieces that the chain takes together. What is left is asked for when they are
/// here. A piece that is larger is asked of a committee while results stand.
fn that_fit(
	pieces: impl Iterator<Item = Piece>,
	sizes: &PieceSizes,
	result: &WorkResult,
	mut takes: Takes,
) -> Vec<Piece> {
	let mut taken = 0u64;
	let fits = |piece: &Piece| {
		let all = taken.saturating_add(sizes.of(piece, result, &[]));
		let known = sizes.is_common(piece, result) || takes.named.contains(piece);
		let fits = all <= takes.bytes && (known || takes.named.len() < takes.pieces);
		if fits {
			taken = all;
			takes.named.extend((!known).then_some(*piece));
		}
		fits
	};
	pieces.filter(fits).take(MAX_PIECES as usize).collect()
}

impl Verifier {
	/// Returns what an audit of this result reads and `dir` lacks, ascending. Of a fine-tuning whose initial
	/// model is nowhere the first state has its parameters.
	async fn lacking(
		&self,
		round: &Round<'_>,
		(index, group): (usize, &GroupView),
		dir: &Path,
	) -> BTreeSet<Piece> {
		let (spec, trained) = (&round.spec, group.result.segments);
		let mut lacking = BTreeSet::new();
		if !has_manifest(dir, group.result.bundle_root).await {
			lacking.insert(Piece::Leaves);
		}
		let limit = bundle::max_checkpoint_bytes(spec);
		let segments = round.lots.get(index).map(Lot::segments).unwrap_or_default();
		for index in verify::required_checkpoints(trained, &segments) {
			let Some(step) = spec.checkpoint_step(index) else { continue };
			let file = bundle::manifest::checkpoint_file(step);
			// Without a manifest nothing shows which state a file must have.
			if lacking.contains(&Piece::Leaves) || !has_state(dir, &file, limit).await {
				lacking.insert(Piece::State(index));
			}
		}
		if round.inputs.lock().await.is_none() {
			let (has_rows, has_model) = has_inputs(&self.home, spec.spec(), dir).await;
			if !has_rows {
				lacking.insert(sizes_of(spec).all_rows());
			}
			let begin = spec.checkpoint_step(0).map(bundle::manifest::checkpoint_file);
			if !has_model && !has_state(dir, &begin.unwrap_or_default(), limit).await {
				lacking.insert(Piece::State(0));
			}
		}
		lacking
	}

	/// Returns what an audit of this result reads, no block carries and `dir` lacks: the rows, without which
	/// nothing is replayed, and states. No states where the manifest is missing, without which nothing shows
	/// which state a file must have.
	pub(super) async fn lacking_large(
		&self,
		round: &Round<'_>,
		(index, group): (usize, &GroupView),
		dir: &Path,
	) -> Vec<Piece> {
		let spec = &round.spec;
		let mut lacking = Vec::new();
		if let Some(rows) = self.large.large_rows(spec) {
			let is_decoded = round.inputs.lock().await.is_some();
			let is_here = is_decoded || has_inputs(&self.home, spec.spec(), dir).await.0;
			lacking.extend((!is_here).then_some(rows));
		}
		let is_listed = has_manifest(dir, group.result.bundle_root).await;
		if !self.large.is_large(spec) || !is_listed {
			return lacking;
		}
		let limit = bundle::max_checkpoint_bytes(spec);
		let segments = round.lots.get(index).map(Lot::segments).unwrap_or_default();
		for index in verify::required_checkpoints(group.result.segments, &segments) {
			let Some(step) = spec.checkpoint_step(index) else { continue };
			if !has_state(dir, &bundle::manifest::checkpoint_file(step), limit).await {
				lacking.push(Piece::State(index));
			}
		}
		lacking
	}

	/// Returns what the chain takes of this verifier while its committee commits: its seat's share.
	fn takes(
		&self,
		round: &Round<'_>,
		group: &GroupView,
		index: usize,
	) -> Result<Takes, TaskError> {
		let bytes = self.large.room;
		let seats = u32::try_from(round.audit.committee.len()).unwrap_or(u32::MAX);
		let sizes = sizes_of(&round.spec);
		let mut named = self.home.load_named(round.folder, index)?;
		named.retain(|piece| !sizes.is_common(piece, &group.result));
		Ok(Takes { bytes, pieces: seat_share(seats) as usize, named })
	}

	/// Keeps what takes of this seat's share: what was `named` before, and those of these pieces that are not on
	/// chain yet.
	fn note_named(
		&self,
		round: &Round<'_>,
		group: &GroupView,
		index: usize,
		mut named: BTreeSet<Piece>,
		pieces: &[Piece],
	) -> Result<(), TaskError> {
		named.extend(pieces.iter().filter(|piece| !group.stored.contains(piece)));
		Ok(self.home.save_named(round.folder, index, &named)?)
	}

	/// Asks on chain for what this verifier lacks of a result, and for `more`. Returns whether it is
	/// worth to wait: others can give it now, and after that the trainer stores it or loses. Where all
	/// of it is on chain and of no use, this is said all the same: who has not asked is not heard.
	pub(super) async fn ask(
		&self,
		round: &Round<'_>,
		group: &GroupView,
		index: usize,
		more: &[Piece],
	) -> Result<bool, TaskError> {
		let mut lacking = self.lacking(round, (index, group), &round.folder_of(index)).await;
		lacking.extend(more);
		if let AuditPhase::Standing { .. } = round.audit.phase {
			return self.ask_standing(round, (index, group), lacking, more).await;
		}
		let sizes = sizes_of(&round.spec);
		let takes = self.takes(round, group, index)?;
		let named = takes.named.clone();
		let listed = that_fit(lacking.into_iter(), &sizes, &group.result, takes);
		let (Ok(pieces), Ok(number)) = (Pieces::try_from(listed), u32::try_from(index)) else {
			return Ok(false);
		};
		if pieces.is_empty() {
			return Ok(false);
		}
		let job = round.job.id;
		let waits = !pieces.iter().all(|piece| group.stored.contains(piece));
		let asked = self.home.load_asked(round.folder, index)?;
		let is_open = |piece: &Piece| group.asked.contains(piece) || group.stored.contains(piece);
		let names = |asked: &AskedRecord| {
			asked.sent && pieces.iter().all(|piece| asked.pieces.contains(piece) && is_open(piece))
		};
		if waits && asked.as_ref().is_some_and(names) {
			return Ok(true);
		}
		let record = AskedRecord { pieces: pieces.to_vec(), more: more.to_vec(), sent: false };
		// Nobody may know any more what was asked for if this ends now. What is open is known already.
		if waits && asked.is_none() {
			self.home.save_asked(round.folder, index, &record)?;
		}
		match self.asker.ask(job, number, &pieces).await {
			Ok(()) => {
				let lacks = display::pieces(&pieces);
				let text = format!("result {index}: asked on chain for {lacks}");
				let fields = json!({ "result": index, "pieces": pieces });
				self.report.job(job, "asked", &text, fields);
				self.note_named(round, group, index, named, &pieces)?;
				if waits {
					let record = AskedRecord { sent: true, ..record };
					self.home.save_asked(round.folder, index, &record)?;
				}
				Ok(waits)
			}
			Err(e) if e.failed_with(ASKED) => {
				if asked.is_none() {
					self.note_named(round, group, index, named, &pieces)?;
				}
				if let (None, true) = (&asked, waits) {
					let record = AskedRecord { sent: true, ..record };
					self.home.save_asked(round.folder, index, &record)?;
				}
				Ok(waits)
			}
			// It is seen at the next look whether it was asked.
			Err(e) if e.is_uncertain() && Instant::now() < round.give_up_searched => Err(e.into()),
			Err(e) => {
				debug!("job {job}: result {index}: {e}");
				if asked.is_none() && !e.is_uncertain() {
					self.home.forget_asked(round.folder, index)?;
				}
				Ok(false)
			}
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::H256;

	#[test]
	fn a_seat_names_no_more_than_its_share() {
		let root = H256::zero();
		let result = WorkResult {
			bundle_root: root,
			true_root: root,
			model_root: root,
			segments: 100,
			diverged: false,
		};
		let sizes = PieceSizes { state: 10, ..PieceSizes::default() };
		let all = || [Piece::Leaves].into_iter().chain((0..=100).map(Piece::State));
		let listed = |named: &[u32], bytes, pieces| {
			let named = named.iter().copied().map(Piece::State).collect();
			that_fit(all(), &sizes, &result, Takes { bytes, pieces, named })
		};
		let states = |all: &[u32]| -> Vec<Piece> {
			[Piece::Leaves].into_iter().chain(all.iter().copied().map(Piece::State)).collect()
		};
		// The leaves and the last state are in nobody's share.
		assert_eq!(listed(&[], u64::MAX, 3), states(&[0, 1, 2, 100]));
		// What was named before is in it already.
		assert_eq!(listed(&[1, 7], u64::MAX, 3), states(&[0, 1, 7, 100]));
		assert_eq!(listed(&[0, 1, 2], u64::MAX, 3), states(&[0, 1, 2, 100]));
		let leaves = sizes.of(&Piece::Leaves, &result, &[]);
		assert_eq!(listed(&[], leaves + 25, 3), states(&[0, 1]));
		assert_eq!(listed(&[], u64::MAX, 1_000).len(), MAX_PIECES as usize);
	}
}
