//! Says on chain what this verifier lacks, and takes that back once it is here: as long as a claim is
//! open, the trainers may have to store what it names.

use super::{round::Round, Verifier};
use crate::roles::{
	common::claims::Claimed,
	store::{load, AskedRecord},
	tasks::{stopped, TaskError},
};
use serde_json::json;
use std::{
	collections::BTreeSet,
	path::{Path, PathBuf},
	sync::Arc,
	time::Duration,
};
use tracing::debug;
use trainyard_client::{calls, GroupView, Transactor, TxError};
use trainyard_proof::verify::sizes_of;
use trainyard_protocol::{
	audit::AuditPhase,
	pieces::{Piece, Pieces},
	JobId,
};

/// What the chain answers where this seat asks already.
pub(super) const ASKED: &str = "Verification::AlreadyAsked";
/// What it answers where this seat asks for nothing.
const NOT_ASKED: &str = "Verification::NotAsked";
/// Longest wait until a claim is withdrawn. A commitment withdraws it as well.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends claims of this verifier, on the chain of the best block only.
#[derive(Clone)]
pub(super) enum Asker {
	/// To the chain.
	Chain(Arc<Transactor>),
	/// To a test, which answers for the chain.
	#[cfg(test)]
	Test(Arc<dyn Fn(Said) -> Result<(), TxError> + Send + Sync>),
}

/// What a test heard.
#[cfg(test)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
	/// Pieces of the result of this index were asked for.
	Asked(u32, Vec<Piece>),
	/// The claim on the result of this index was withdrawn.
	Withdrawn(u32),
}

impl Asker {
	/// Asks for pieces of a result, as a seat of a committee that commits: nothing is pledged there.
	pub(super) async fn ask(&self, job: JobId, group: u32, pieces: &Pieces) -> Result<(), TxError> {
		match self {
			Self::Chain(sender) => {
				let head = sender.chain().head().await?;
				sender.run(&calls::request_pieces(job, group, pieces, 0).on(head)).await?;
				Ok(())
			}
			#[cfg(test)]
			Self::Test(answer) => answer(Said::Asked(group, pieces.to_vec())),
		}
	}

	/// Withdraws the open claim on a result.
	async fn withdraw(&self, job: JobId, group: u32) -> Result<(), TxError> {
		match self {
			Self::Chain(sender) => {
				let head = sender.chain().head().await?;
				sender.run(&calls::withdraw_request(job, group).on(head)).await?;
				Ok(())
			}
			#[cfg(test)]
			Self::Test(answer) => answer(Said::Withdrawn(group)),
		}
	}
}

/// Returns the file that says what was asked for of the result of this index while results stood, in the
/// folder of a round.
fn claimed_file(folder: &Path, index: usize) -> PathBuf {
	folder.join(format!("claimed-{index}.json"))
}

impl Verifier {
	/// Asks on chain for what this seat lacks of a result that stands, as anybody may: for a place it pledges,
	/// as far as its owner allows. `more` are those pieces that only a replay showed to be needed. Returns
	/// whether it is worth to wait for them.
	pub(super) async fn ask_standing(
		&self,
		round: &Round<'_>,
		(index, group): (usize, &GroupView),
		lacking: BTreeSet<Piece>,
		more: &[Piece],
	) -> Result<bool, TaskError> {
		let Ok(number) = u32::try_from(index) else { return Ok(false) };
		let (sizes, result) = (sizes_of(&round.spec), &group.result);
		// What is stored is read, and of what no block carries a committee is asked.
		let can_come = |piece: &Piece| {
			!group.stored.contains(piece) && sizes.of(piece, result, &[]) <= self.large.room
		};
		let lacking: Vec<Piece> = lacking.into_iter().filter(can_come).collect();
		if lacking.is_empty() {
			return Ok(false);
		}
		let note = |pieces: Vec<Piece>, sent: bool| {
			let more = more.iter().copied().filter(|piece| pieces.contains(piece)).collect();
			self.home.save_asked(round.folder, index, &AskedRecord { pieces, more, sent })
		};
		// Some of it may be asked for, and if this ends now nobody may know any more what.
		note(lacking.clone(), false)?;
		let (of, record) = ((round.job.id, number, result), claimed_file(round.folder, index));
		let waits = self.claims.advance(of, (&lacking, &sizes), &record, 0).await?;
		let claimed: Claimed = load(&record)?.unwrap_or_default();
		if claimed.open {
			note(claimed.pieces, true)?;
		}
		// Where there is no room for it, a committee is asked for the rest all the same.
		Ok(waits && (claimed.open || !self.large.has_large_pieces(&round.spec)))
	}

	/// Withdraws what this verifier asked for of a result in this round, if it did: all that it reads in
	/// any case is here, and so is `more`; everything where that is `None`.
	pub(super) async fn withdraw(&self, round: &Round<'_>, index: usize, more: Option<&[Piece]>) {
		tokio::select! {
			() = self.withdraw_asked(round, index, more) => {}
			() = tokio::time::sleep(PATIENCE) => debug!("result {index}: its claim may be open still"),
			() = stopped(&round.stop) => {}
		}
	}

	async fn withdraw_asked(&self, round: &Round<'_>, index: usize, more: Option<&[Piece]>) {
		let (job, folder) = (round.job.id, round.folder);
		let is_here = |piece: &Piece| more.is_none_or(|more| more.contains(piece));
		let asked = match self.home.load_asked(folder, index) {
			Ok(Some(asked)) if asked.more.iter().all(is_here) => asked,
			Ok(_) => return,
			Err(e) => return debug!("job {job}: {e}"),
		};
		let Ok(number) = u32::try_from(index) else { return };
		let gone = match self.is_asked(job, index, &asked).await {
			false => true,
			true => match self.asker.withdraw(job, number).await {
				Ok(()) => {
					let text = format!("result {index}: what was asked for on chain is here");
					let fields = json!({ "result": index, "pieces": asked.pieces });
					self.report.job(job, "withdrawn", &text, fields);
					self.forget_named(round, index, &asked);
					true
				}
				Err(e) => {
					debug!("job {job}: result {index}: {e}");
					e.failed_with(NOT_ASKED)
				}
			},
		};
		if gone {
			drop(std::fs::remove_file(claimed_file(folder, index)));
			if let Err(e) = self.home.forget_asked(folder, index) {
				debug!("job {job}: {e}");
			}
		}
	}

	/// Forgets that these pieces took of this seat's share, but for those that are on chain.
	fn forget_named(&self, round: &Round<'_>, index: usize, asked: &AskedRecord) {
		let stored = round.audit.groups.get(index).map(|group| &group.stored[..]);
		let stored = stored.unwrap_or_default();
		let kept = self.home.load_named(round.folder, index).and_then(|mut named| {
			named.retain(|piece| !asked.pieces.contains(piece) || stored.contains(piece));
			self.home.save_named(round.folder, index, &named)
		});
		if let Err(e) = kept {
			debug!("job {}: {e}", round.job.id);
		}
	}

	/// Returns whether some of these pieces are asked for and not on chain. They are for all that is
	/// known where the node does not say.
	async fn is_asked(&self, job: JobId, index: usize, asked: &AskedRecord) -> bool {
		let Ok(Some(view)) = self.chain.job(job).await else { return true };
		view.audit.is_some_and(|audit| {
			let open = audit.groups.get(index).map(|group| &group.asked[..]).unwrap_or_default();
			matches!(audit.phase, AuditPhase::Committing { .. } | AuditPhase::Standing { .. })
				&& asked.pieces.iter().any(|piece| open.contains(piece))
		})
	}
}
