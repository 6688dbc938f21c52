//! What this verifier does, while results stand, about states and rows that are too large for the chain.
//!
//! While its committee commits nobody can ask for a relay. A seat that lacked such a piece says that it could
//! not have the result. When results stand it looks again at what it drew: what fits is claimed, for what
//! does not a committee is asked, and what it then finds false it accuses of.

use super::{
	lots::Lot,
	room::most_states,
	round::{Round, Standing},
	Duty, Verifier,
};
use crate::roles::{
	checked,
	common::{bundles::relayed, large::patience},
	replay::Figures,
	store::StandingRecord,
	tasks::{Outcome, TaskError},
};
use serde_json::json;
use std::{
	path::{Path, PathBuf},
	sync::{atomic::AtomicBool, Arc},
	time::Duration,
};
use tracing::debug;
use trainyard_client::{
	court::{Accusation, Defendant},
	AccountId32, AuditView, GroupVerdict, GroupView, JobView,
};
use trainyard_proof::verify::{sizes_of, Verdict};
use trainyard_protocol::{audit::AuditPhase, job::BlockNumber, pieces::Piece};

/// Shortest pause between two looks at relays.
pub(super) const LEAST_PAUSE: Duration = Duration::from_secs(1);

/// Returns the results of which the seat of `me` revealed that it could not have them, and of which nothing is
/// decided, by their index.
pub(super) fn lacked<'a>(
	audit: &'a AuditView,
	me: &AccountId32,
) -> impl Iterator<Item = (usize, &'a GroupView)> + 'a {
	let mut seats = audit.committee.iter();
	let seat = seats.find(|member| member.verifier == *me && !member.convicted);
	let verdicts = seat.and_then(|seat| seat.findings.as_ref()).map(|found| &found.verdicts[..]);
	let said = audit.groups.iter().zip(verdicts.unwrap_or_default()).enumerate();
	said.filter(|(_, (group, verdict))| {
		**verdict == GroupVerdict::Unavailable && group.decision.is_none()
	})
	.map(|(index, (group, _))| (index, group))
}

/// Returns where it is kept what was done for pieces of the result of this index.
fn record_of(folder: &Path, index: usize) -> PathBuf {
	folder.join(format!("lacked-{index}.json"))
}

impl Verifier {
	/// Returns whether this seat looks at a result again that it could not have: its states and the rows are more
	/// than what could be claimed while its committee committed.
	pub(super) fn looks_again(
		&self,
		job: &JobView,
		audit: &AuditView,
		record: &StandingRecord,
	) -> Option<Duty> {
		let AuditPhase::Standing { .. } = audit.phase else { return None };
		let me = self.sender.account();
		let mut waiting = lacked(audit, me).filter(|(index, _)| !record.looked.contains(index));
		let (_, group) = waiting.next()?;
		let sizes = sizes_of(&checked(job).ok()?);
		let states = sizes.state.saturating_mul(most_states(audit, group.result.segments));
		let all = sizes.contents().into_iter().fold(states, u64::saturating_add);
		(all > self.large.room).then_some(Duty::LookAgain)
	}

	/// Returns the base URLs, without those that are `known`, of seats of relays of a result that showed that
	/// they have a state of it, or the data.
	pub(super) async fn new_relays(
		&self,
		round: &Round<'_>,
		group: &GroupView,
		known: &[String],
	) -> Vec<String> {
		let stands = matches!(round.audit.phase, AuditPhase::Standing { .. });
		if !stands || !self.large.has_large_pieces(&round.spec) {
			return Vec::new();
		}
		let relays = async {
			let head = self.chain.head().await?;
			self.chain.relays_of(round.job.id, head.hash).await
		};
		match relays.await {
			Ok(relays) => {
				let mut urls = relayed(round.job, &group.result, &relays);
				urls.retain(|url| !known.contains(url));
				urls
			}
			Err(e) => {
				debug!("job {}: {e}", round.job.id);
				Vec::new()
			}
		}
	}

	/// Does what [`Self::examine`] does, while results stand. Meanwhile committees are asked for what nobody
	/// gives and no block carries. Fails if it is worth to wait for one of them.
	pub(super) async fn examine_standing(
		&self,
		round: &Round<'_>,
		index: usize,
	) -> Result<(Verdict, Option<Figures>), TaskError> {
		let asking = async {
			loop {
				tokio::time::sleep(self.block_time.max(LEAST_PAUSE)).await;
				if let Err(e) = self.ask_committees(round, index).await {
					debug!("job {}: result {index}: {e}", round.job.id);
				}
			}
		};
		let examined: Result<_, TaskError> = tokio::select! {
			examined = self.examine(round, index) => examined,
			() = asking => Err(TaskError::Stopped),
		};
		let (verdict, figures) = examined?;
		if verdict == Verdict::Unavailable && self.ask_committees(round, index).await? {
			let text = format!("a committee is asked for what is lacking of result {index}");
			return Err(TaskError::Transient(text));
		}
		Ok((verdict, figures))
	}

	/// Does on chain what is due for pieces of a result that nobody gives and no block carries. Returns
	/// whether they may still come.
	async fn ask_committees(&self, round: &Round<'_>, index: usize) -> Result<bool, TaskError> {
		let (Some(group), Ok(number)) = (round.audit.groups.get(index), u32::try_from(index))
		else {
			return Ok(false);
		};
		let dir = round.folder_of(index);
		let lacking = self.lacking_large(round, (index, group), &dir).await;
		if lacking.is_empty() {
			return Ok(false);
		}
		let best = self.chain.head().await?.number;
		let (record, patience) = (record_of(round.folder, index), patience(round.until, best));
		self.large.advance((round.job.id, number), &lacking, &record, patience).await
	}

	/// Asks a committee for a piece of a result that this seat could not have when it revealed, whether or not
	/// it has it by now: where nobody asks for one, the seats that said so pay as for their absence. Any piece
	/// will do.
	async fn ask_all_the_same(
		&self,
		round: &Round<'_>,
		index: usize,
		group: &GroupView,
	) -> Result<(), TaskError> {
		let state = Piece::State(group.result.segments);
		let state = self.large.is_large(&round.spec).then_some(state);
		let piece = state.or_else(|| self.large.large_rows(&round.spec));
		let (Some(piece), false, Ok(number)) = (piece, group.relayed, u32::try_from(index)) else {
			return Ok(());
		};
		let head = self.chain.head().await?;
		let relays = self.chain.relays_of(round.job.id, head.hash).await?;
		if relays.iter().any(|relay| relay.group == number) {
			return Ok(());
		}
		let record = record_of(round.folder, index);
		self.large.advance((round.job.id, number), &[piece], &record, 0).await.map(drop)
	}

	/// Returns in words what a verdict says of a result that stands, and whom this seat accuses by it.
	pub(super) async fn said_of(
		&self,
		round: &Round<'_>,
		(index, group): (usize, &GroupView),
		verdict: &Verdict,
	) -> (String, Option<Accusation>) {
		let charge = match verdict {
			Verdict::Replayed(_) => return ("it is true in what this seat replayed".into(), None),
			Verdict::Unavailable => return ("it cannot be had".into(), None),
			Verdict::False(charge) => charge,
		};
		let dir = round.folder_of(index);
		let of = (dir.as_path(), round.draw.seat);
		let charged = self.charged(round.job, group, of, charge).await;
		let accusation = charged.map(|(who, charge)| Accusation {
			defendant: Defendant::Trainer { job: round.job.id, who },
			target: charge.target,
			claimed: charge.claimed,
			leaves: charge.leaves.to_vec(),
		});
		(charge.to_string(), accusation)
	}

	/// Looks at a result again that this seat could not have when it revealed. It accuses if it is false.
	pub(super) async fn look_again(
		&self,
		job: &JobView,
		audit: &AuditView,
		folder: &Path,
		best: BlockNumber,
		stop: Arc<AtomicBool>,
	) -> Outcome {
		let AuditPhase::Standing { until } = audit.phase else {
			return Err(TaskError::failed("no results stand"));
		};
		let me = self.sender.account();
		let record = self.home.load_standing(folder)?;
		let Some((index, group)) =
			lacked(audit, me).find(|(index, _)| !record.looked.contains(index))
		else {
			return Ok(());
		};
		let draw = self.draw(job, audit)?;
		let of = Standing { job, audit, folder, until, best };
		let round = self.round_of(of, (draw, self.lots(draw, audit)), stop)?;
		let segments = round.lots.get(index).map(Lot::segments).unwrap_or_default();
		let (verdict, _) = self.examine_standing(&round, index).await?;
		self.ask_all_the_same(&round, index, group).await?;
		let (said, found) = self.said_of(&round, (index, group), &verdict).await;
		self.home.change_standing(folder, |record| {
			record.looked.insert(index);
			found.into_iter().for_each(|accusation| {
				record.add(accusation);
			});
		})?;
		let text = format!("result {index}, which could not be had before: {said}");
		let fields = json!({ "round": audit.round, "result": index, "segments": segments });
		self.report.job(job.id, "looked_again", &text, fields);
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::{fake, MemberView};
	use trainyard_protocol::{audit::Decision, job::WorkResult, H256};

	#[test]
	fn what_a_seat_could_not_have_is_looked_at_again() {
		let (bundle_root, model_root) = (H256::repeat_byte(1), H256::zero());
		let result = WorkResult {
			bundle_root,
			true_root: bundle_root,
			model_root,
			segments: 3,
			diverged: false,
		};
		let me = AccountId32([1; 32]);
		let decided = GroupView { decision: Some(Decision::Rejected), ..fake::group(result) };
		let groups = vec![fake::group(result), decided, fake::group(result)];
		let mut audit = fake::audit(AuditPhase::Standing { until: 90 }, groups);
		let found = |audit: &AuditView| lacked(audit, &me).map(|(at, _)| at).collect::<Vec<_>>();
		audit.committee = vec![fake::member(me)];
		assert_eq!(found(&audit), [0usize; 0], "it said nothing");
		let verdicts = vec![GroupVerdict::Unavailable; 3];
		let findings = Some(fake::findings(verdicts));
		audit.committee = vec![MemberView { findings: findings.clone(), ..fake::member(me) }];
		assert_eq!(found(&audit), [0, 2]);
		let verdicts = vec![fake::rejected(AccountId32([9; 32]), 1), GroupVerdict::Unavailable];
		let some = Some(fake::findings(verdicts));
		audit.committee = vec![MemberView { findings: some, ..fake::member(me) }];
		assert_eq!(found(&audit), [0usize; 0]);
		let convicted = MemberView { findings, convicted: true, ..fake::member(me) };
		audit.committee = vec![convicted];
		assert_eq!(found(&audit), [0usize; 0], "nobody hears it");
	}
}
