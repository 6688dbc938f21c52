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
	job::WorkResult,
	pieces::{Piece, PieceSizes, Pieces, MAX_PIECES},
};

/// Returns the first of these pieces that the chain takes together, which carries `room` bytes. What is left
/// is asked for when they are here. A state that is larger is asked of a committee while results stand.
fn that_fit(
	pieces: impl Iterator<Item = Piece>,
	sizes: &PieceSizes,
	result: &WorkResult,
	room: u64,
) -> Vec<Piece> {
	let mut taken = 0u64;
	let mut fits = |piece: &Piece| {
		let all = taken.saturating_add(sizes.of(piece, result, &[]));
		let fits = all <= room;
		taken = if fits { all } else { taken };
		fits
	};
	pieces.filter(|piece| fits(piece)).take(MAX_PIECES as usize).collect()
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

	/// Returns the states that an audit of this result reads, that no block carries and `dir` lacks. None
	/// where the manifest is missing, without which nothing shows which state a file must have.
	pub(super) async fn lacking_states(
		&self,
		round: &Round<'_>,
		(index, group): (usize, &GroupView),
		dir: &Path,
	) -> Vec<u32> {
		let spec = &round.spec;
		let mut lacking = Vec::new();
		let is_listed = has_manifest(dir, group.result.bundle_root).await;
		if !self.large.is_large(spec) || !is_listed {
			return lacking;
		}
		let limit = bundle::max_checkpoint_bytes(spec);
		let segments = round.lots.get(index).map(Lot::segments).unwrap_or_default();
		for index in verify::required_checkpoints(group.result.segments, &segments) {
			let Some(step) = spec.checkpoint_step(index) else { continue };
			if !has_state(dir, &bundle::manifest::checkpoint_file(step), limit).await {
				lacking.push(index);
			}
		}
		lacking
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
		let sizes = sizes_of(&round.spec);
		let listed = that_fit(lacking.into_iter(), &sizes, &group.result, self.large.room);
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
				if waits {
					let record = AskedRecord { sent: true, ..record };
					self.home.save_asked(round.folder, index, &record)?;
				}
				Ok(waits)
			}
			Err(e) if e.failed_with(ASKED) => {
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
