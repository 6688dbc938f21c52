//! What this seat does, while results stand, about a result of which nobody showed it how far it moves.
//!
//! Where a trainer opens its states to nobody, the seats that pick the segment which moved farthest replay one
//! more of their draw in its place, which hardly ever finds a jump. So when results stand they look again, and
//! where still nobody opens anything a committee is asked for samples of all states: who refuses them to that
//! as well loses its result. What the committee has shows the pick, which is replayed then.

use super::{
	large::LEAST_PAUSE,
	lots::Lot,
	moved::{Origin, KEPT},
	relay::others,
	round::{Round, Standing},
	Duty, Verifier,
};
use crate::roles::{
	common::{
		bundles::{having, servers},
		large::patience,
	},
	openings::Unread,
	store::StandingRecord,
	tasks::{stopped, Outcome, TaskError},
};
use rand::seq::SliceRandom;
use serde_json::json;
use std::{
	path::Path,
	sync::{atomic::AtomicBool, Arc},
	time::Duration,
};
use trainyard_client::{AccountId32, AuditView, GroupVerdict, GroupView, JobView};
use trainyard_proof::verify::{movement, Verdict};
use trainyard_protocol::{audit::AuditPhase, job::BlockNumber, pieces::Piece};

/// The file in which it is kept what was read at the places of a relay.
const RELAYED: &str = "movement-relayed";
/// The longest time in which one server is read before the next has its turn. What came is not read again.
const LONGEST: Duration = Duration::from_secs(60);

/// Returns the first result of which the seat of `me` could not see how far it moves, and of which it did not say that
/// it is false: nothing is decided of it, and this seat did not look again. Beside it the pick, where it is known.
fn unseen<'a>(
	audit: &'a AuditView,
	me: &AccountId32,
	record: &StandingRecord,
) -> Option<(usize, &'a GroupView, Option<u32>)> {
	let seat = audit.committee.iter().find(|member| member.verifier == *me && !member.convicted)?;
	let verdicts = &seat.findings.as_ref()?.verdicts;
	let mut found = record.unseen.iter().filter_map(|(index, pick)| {
		let rejects = matches!(verdicts.get(*index)?, GroupVerdict::Rejected(_));
		let group = audit.groups.get(*index).filter(|group| group.decision.is_none())?;
		(!rejects).then_some((*index, group, *pick))
	});
	found.next()
}

/// Returns whether the seat of `me` looks again at how far a result moves.
pub(super) fn sees_moved(
	audit: &AuditView,
	me: &AccountId32,
	record: &StandingRecord,
) -> Option<Duty> {
	let AuditPhase::Standing { .. } = audit.phase else { return None };
	unseen(audit, me, record).map(|_| Duty::SeeMoved)
}

/// Returns a segment of a stretch of a result, at random.
fn any_of(round: &Round<'_>, group: &GroupView, stretch: u32) -> u32 {
	let (every, last) = (round.job.terms.keep_every, group.result.segments);
	movement::any_of(every, last, stretch, rand::random())
}

impl Verifier {
	/// Notes that nobody shows how far a result moves: when results stand this seat looks again.
	pub(super) fn note_unseen(&self, folder: &Path, index: usize) -> Result<(), TaskError> {
		self.home.change_standing(folder, |record| {
			record.unseen.entry(index).or_default();
		})?;
		Ok(())
	}

	/// Looks again at how far a result moves of which nobody showed it, and replays the segment in which it moved
	/// farthest. It accuses if that is false.
	pub(super) async fn see_moved(
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
		let record = self.home.load_standing(folder)?;
		let Some((index, group, known)) = unseen(audit, self.sender.account(), &record) else {
			return Ok(());
		};
		let (draw, of) = (self.draw(job, audit)?, Standing { job, audit, folder, until, best });
		let round = self.round_of(of, (draw, self.lots(draw, audit)), stop.clone())?;
		let picked = match known {
			Some(segment) => Ok(Some(segment)),
			None => tokio::select! {
				picked = self.pick_late(&round, (index, group)) => picked?,
				() = stopped(&round.stop) => return Err(TaskError::Stopped),
			},
		};
		if let Ok(Some(segment)) = picked {
			// What is replayed may be withheld as well, and asking for it takes longer than a relay holds.
			self.home.change_standing(folder, |record| {
				record.unseen.insert(index, Some(segment));
			})?;
		}
		let mut fields = json!({ "round": audit.round, "result": index });
		let (said, found) = match picked {
			Ok(Some(segment)) => {
				let only =
					|(at, group): (u32, &GroupView)| Lot::only(draw, at, group.result, segment);
				let lots = (0u32..).zip(&audit.groups).map(only).collect();
				let round = self.round_of(of, (draw, lots), stop)?;
				let (verdict, _) = self.examine_standing(&round, index).await?;
				let (said, found) = self.said_of(&round, (index, group), &verdict).await;
				fields["segment"] = json!(segment);
				fields["verdict"] = json!(match verdict {
					Verdict::Replayed(_) => "true",
					Verdict::Unavailable => "unavailable",
					Verdict::False(_) => "false",
				});
				(format!("it moved farthest in segment {segment}, and {said}"), found)
			}
			Ok(None) => ("nothing moves in it that could be picked".to_owned(), None),
			Err(why) => {
				let said = format!("it stays unknown how far it moves: {why}");
				fields["reason"] = json!(why);
				(said, None)
			}
		};
		self.home.change_standing(folder, |record| {
			record.unseen.remove(&index);
			found.into_iter().for_each(|accusation| {
				record.add(accusation);
			});
		})?;
		let text = format!("result {index}, whose movement nobody showed before: {said}");
		self.report.job(job.id, "saw_moved", &text, fields);
		Ok(())
	}

	/// Returns the segment in which a result moved farthest, `None` where nothing can be picked: as servers show it
	/// by now, or by samples that a committee has, which is asked where nobody else shows it. Where it has none
	/// either, or asking is too dear, it is said why.
	async fn pick_late(
		&self,
		round: &Round<'_>,
		of: (usize, &GroupView),
	) -> Result<Result<Option<u32>, String>, TaskError> {
		let number = u32::try_from(of.0).unwrap_or(u32::MAX);
		let record = round.folder.join(format!("unseen-{}.json", of.0));
		// Whoever stalls a reading must not keep this seat from asking.
		let asking = async {
			loop {
				let best = self.chain.head().await?.number;
				let (asked, patience) = ([Piece::Samples], patience(round.until, best));
				let of = (round.job.id, number);
				if !self.large.advance(of, &asked, &record, patience).await? {
					return Ok::<_, TaskError>(());
				}
				tokio::time::sleep(self.block_time.max(LEAST_PAUSE)).await;
			}
		};
		let reading = async {
			loop {
				if let Ok(pick) = self.read_once(round, of).await? {
					return Ok::<_, TaskError>(pick);
				}
				tokio::time::sleep(self.block_time.max(LEAST_PAUSE)).await;
			}
		};
		tokio::select! {
			pick = reading => Ok(Ok(pick?)),
			// No relay will run any more: what its seats have may still be served.
			over = asking => {
				over?;
				Ok(match self.read_once(round, of).await? {
					// What is kept was shown, and what lies between is withheld: any segment there is as good.
					Err(Unread { stretch: Some(stretch), .. }) => {
						Ok(Some(any_of(round, of.1, stretch)))
					}
					read => read.map_err(|unread| unread.why),
				})
			}
		}
	}

	/// Reads once, from each of those who may show it, how far a result moves: first from the seats of a relay, at its
	/// places. What one of them showed the next goes on with.
	async fn read_once(
		&self,
		round: &Round<'_>,
		(index, group): (usize, &GroupView),
	) -> Result<Result<Option<u32>, Unread>, TaskError> {
		let (job, dir) = (round.job, round.folder_of(index));
		let number = u32::try_from(index).unwrap_or(u32::MAX);
		let head = self.chain.head().await?;
		let relays = self.chain.relays_of(job.id, head.hash).await?;
		let relay = relays.iter().find(|of| (of.group, of.piece) == (number, Piece::Samples));
		let mut sources = Vec::new();
		if let Some((relay, places)) = relay.and_then(|relay| Some((relay, relay.places?))) {
			let mut urls = having(relay);
			urls.shuffle(&mut rand::rng());
			sources.extend(urls.into_iter().map(|url| (url, places, RELAYED)));
		}
		let others = others(round.audit, self.sender.account());
		let serving = servers(job, &group.result).into_iter().chain(others);
		sources.extend(serving.map(|url| (url, round.draw.output, KEPT)));
		let mut unread = Unread::from("nobody serves it".to_owned());
		for (url, output, kept) in &sources {
			let origin = Origin { server: Some(url), name: url.clone() };
			let reading = self.moved_at(round, index, (output, kept), &origin, &dir);
			match tokio::time::timeout(LONGEST, reading).await {
				Ok(Ok(pick)) => return Ok(Ok(pick)),
				// Which stretch it is stays known.
				Ok(Err(e)) => unread = Unread { stretch: e.stretch.or(unread.stretch), ..e },
				Err(_) => unread.why = format!("{url} is too slow"),
			}
		}
		Ok(Err(unread))
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::{fake, MemberView};
	use trainyard_protocol::{
		audit::{Decision, Replayed},
		job::WorkResult,
		H256,
	};

	#[test]
	fn what_nobody_showed_is_looked_at_again() {
		let (root, me) = (H256::repeat_byte(1), AccountId32([1; 32]));
		let result = WorkResult {
			bundle_root: root,
			true_root: root,
			model_root: H256::zero(),
			segments: 30,
			diverged: false,
		};
		let vouches = GroupVerdict::Replayed(Replayed {
			bundle: 0,
			evidence: Default::default(),
			moved: Some(4),
			parts: Default::default(),
		});
		let decided = GroupView { decision: Some(Decision::Rejected), ..fake::group(result) };
		let open = || fake::group(result);
		let groups = vec![decided, open(), open(), open()];
		let mut audit = fake::audit(AuditPhase::Standing { until: 90 }, groups);
		let rejects = fake::rejected(AccountId32([9; 32]), 1);
		let verdicts = vec![vouches.clone(), GroupVerdict::Unavailable, vouches, rejects];
		let findings = Some(fake::findings(verdicts));
		let member = MemberView { findings, ..fake::member(me) };
		audit.committee = vec![member.clone()];
		let record = |unseen: &[usize]| StandingRecord {
			unseen: unseen.iter().map(|index| (*index, None)).collect(),
			..Default::default()
		};
		let found = |audit: &AuditView, of: &[usize]| {
			let record = record(of);
			let found = unseen(audit, &me, &record).map(|(index, ..)| index);
			assert_eq!(sees_moved(audit, &me, &record).is_some(), found.is_some());
			found
		};
		assert_eq!(found(&audit, &[0, 2]), Some(2));
		assert_eq!(found(&audit, &[0, 1, 2]), Some(1), "what it could not have it saw as little");
		assert_eq!(found(&audit, &[0]), None, "it is decided");
		assert_eq!(found(&audit, &[3]), None, "it said that it is false");
		assert_eq!(found(&audit, &[]), None);
		audit.committee = vec![MemberView { convicted: true, ..member.clone() }];
		assert_eq!(found(&audit, &[2]), None, "nobody hears it");
		audit.committee = vec![MemberView { findings: None, ..member }];
		assert_eq!(found(&audit, &[2]), None, "it said nothing");
	}
}
