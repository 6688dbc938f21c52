//! Computes what a job came to for one of its trainers.

use crate::roles::{
	job::Job,
	metrics::{Income, Loss, Metrics},
	plan::replica_of,
};
use std::collections::BTreeSet;
use trainyard_client::{AccountId32, ReplicaView};
use trainyard_program::{units, work::Parts};
use trainyard_protocol::{
	fees,
	job::{Balance, Fate, JobState},
	MicroUt,
};

/// The end of a job for one trainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
	/// The outcome in a word.
	outcome: &'static str,
	/// What it was paid.
	pay: Balance,
	/// What it lost of its deposit.
	lost: Balance,
	/// Work that was credited to it as power.
	power: MicroUt,
}

/// Returns a fate as a label.
fn label(fate: Fate) -> &'static str {
	match fate {
		Fate::Working => "working",
		Fate::NotCommitted => "not_committed",
		Fate::NotRevealed => "not_revealed",
		Fate::ModelMissing => "model_missing",
		Fate::Accepted => "accepted",
		Fate::Rejected => "rejected",
		Fate::Unavailable => "unavailable",
		Fate::Undecided => "undecided",
		Fate::Agreed => "agreed",
		Fate::Idle => "idle",
		Fate::Diverged => "diverged",
		Fate::Revoked => "revoked",
	}
}

/// Returns the pay of an accepted replica for the segments that it trained, and the work of their
/// steps.
fn worth(job: &Job, replica: &ReplicaView) -> (Balance, MicroUt) {
	let segments = replica.reveal.as_ref().map_or(u32::MAX, |reveal| reveal.result().trained());
	let counted = job.checked().and_then(|spec| {
		let parts = Parts::of(spec);
		let training = parts.training_micro_ut_of(spec, segments)?;
		Ok((parts.micro_ut_of(spec, segments)?, training))
	});
	let (work, training) = counted.unwrap_or((0, 0));
	let price = units::price(work, job.terms.price_per_ut).unwrap_or(0);
	(fees::pay_of_each(price, job.replicas.len() as u32), training)
}

/// Returns how many distinct results share the part for undecided ones: none where another is true.
fn undecided(job: &Job) -> u32 {
	if job.replicas.iter().any(|replica| replica.fate.is_true()) {
		return 0;
	}
	let undecided = job.replicas.iter().filter(|replica| replica.fate == Fate::Undecided);
	let results: BTreeSet<_> =
		undecided.filter_map(|replica| Some(replica.reveal.as_ref()?.result().common())).collect();
	results.len() as u32
}

impl End {
	/// Returns how `job` ended for `me`; `None` while it has not, or for a stranger.
	pub(super) fn of(job: &Job, me: &AccountId32) -> Option<Self> {
		let (JobState::Ended(_), Some(mine)) = (job.state, replica_of(job, me)) else {
			return None;
		};
		let mut end = Self { outcome: label(mine.fate), pay: 0, lost: 0, power: 0 };
		match mine.fate {
			Fate::Accepted | Fate::Idle | Fate::Diverged => {
				let (pay, training) = worth(job, mine);
				end.pay = pay;
				if job.spec.mints_power() && mine.fate == Fate::Accepted {
					end.power = training / MicroUt::from((job.replicas.len() as u32).max(1));
				}
			}
			Fate::Revoked => {
				end.pay = worth(job, mine).0;
				end.lost = fees::locked_for_late_proof(job.deposit);
			}
			Fate::Undecided => {
				end.pay = fees::undecided_pay(worth(job, mine).0, &job.terms, undecided(job));
			}
			// If several agreed on different sums, this is their mean: the view does not say more.
			Fate::Agreed => {
				let paid = job.replicas.iter().filter(|r| r.fate == Fate::Agreed).count();
				end.pay = job.settlement.paid_to_trainers / (paid as Balance).max(1);
			}
			Fate::Working => {}
			Fate::NotCommitted
			| Fate::NotRevealed
			| Fate::ModelMissing
			| Fate::Rejected
			| Fate::Unavailable => end.lost = job.deposit,
		}
		Some(end)
	}

	/// Counts what was lost after the end, which was counted before.
	pub(super) fn count_loss(&self, metrics: &Metrics) {
		metrics.lost(Loss::Deposit, self.lost);
	}

	/// Counts it in the metrics.
	pub(super) fn count(&self, metrics: &Metrics) {
		metrics.ended(self.outcome);
		if self.pay > 0 {
			metrics.earned(Income::Pay, self.pay);
		}
		if self.lost > 0 {
			metrics.lost(Loss::Deposit, self.lost);
		}
		metrics.credited(self.power);
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::{fake, JobView};
	use trainyard_program::spec::JobSpec;
	use trainyard_protocol::{
		job::{Ending, Reveal, Settlement},
		Text, H256,
	};

	const ME: AccountId32 = AccountId32([1; 32]);

	fn replica(trainer: AccountId32, fate: Fate, segments: u32) -> ReplicaView {
		let reveal = Reveal {
			bundle_root: H256::zero(),
			true_root: H256::zero(),
			model_root: H256::zero(),
			segments,
			diverged: fate == Fate::Diverged,
			location: Text::default(),
		};
		ReplicaView { trainer, commitment: Some(H256([5; 32])), reveal: Some(reveal), fate }
	}

	/// The example whose work earns power: 30 segments, at 1 TRY for one ut.
	fn ended(fates: &[(u8, Fate, u32)]) -> JobView {
		let replicas = fates.iter().map(|(n, fate, s)| replica(AccountId32([*n; 32]), *fate, *s));
		JobView {
			replicas: replicas.collect(),
			spec: JobSpec::noisy_example(),
			deposit: 5_000_000_000_000,
			settlement: Settlement { paid_to_trainers: 900, ..Settlement::default() },
			..fake::job(JobState::Ended(Ending::Settled))
		}
	}

	fn end_of(job: JobView) -> Option<End> {
		End::of(&Job::new(job), &ME)
	}

	/// Work of that many segments, and of their steps.
	fn work(job: &JobView, segments: u32) -> (MicroUt, MicroUt) {
		let spec = job.spec.clone().check().unwrap();
		let parts = Parts::of(&spec);
		let training = parts.training_micro_ut_of(&spec, segments).unwrap();
		(parts.micro_ut_of(&spec, segments).unwrap(), training)
	}

	#[test]
	fn a_fate_says_what_came_of_it() {
		let whole = ended(&[(1, Fate::Accepted, 30)]);
		let (work, training) = work(&whole, 30);
		let end = end_of(whole.clone()).unwrap();
		assert_eq!((end.outcome, end.lost, end.power), ("accepted", 0, training));
		assert_eq!(end.pay, Balance::from(work) * 1_000_000);
		assert!(training < work, "evaluations are paid and earn no power");
		// Half of the segments are paid by their work, two replicas share power and pay.
		let part = ended(&[(1, Fate::Accepted, 15), (2, Fate::Accepted, 15)]);
		let (less, trained) = self::work(&part, 15);
		let end = end_of(part).unwrap();
		assert_eq!(end.pay, Balance::from(less) * 1_000_000 * 115 / 100 / 2);
		assert_eq!(end.power, trained / 2);
		assert!(less < work);

		let agreed =
			ended(&[(1, Fate::Agreed, 30), (2, Fate::Agreed, 30), (3, Fate::Rejected, 30)]);
		let end = end_of(agreed).unwrap();
		assert_eq!((end.outcome, end.pay, end.lost, end.power), ("agreed", 450, 0, 0));

		for (fate, outcome, lost) in [
			(Fate::Rejected, "rejected", 5_000_000_000_000),
			(Fate::Unavailable, "unavailable", 5_000_000_000_000),
			(Fate::NotCommitted, "not_committed", 5_000_000_000_000),
		] {
			let end = end_of(ended(&[(1, fate, 30)])).unwrap();
			assert_eq!(end, End { outcome, pay: 0, lost, power: 0 });
		}

		// The fake terms pay a fifth where nothing is decided. Two results share it, a true one
		// leaves nothing to another.
		let pay = Balance::from(work) * 1_000_000;
		let end = end_of(ended(&[(1, Fate::Undecided, 30)])).unwrap();
		let share = End { outcome: "undecided", pay: pay / 5, lost: 0, power: 0 };
		assert_eq!(end, share);
		let end = end_of(ended(&[(1, Fate::Undecided, 30), (2, Fate::Undecided, 15)])).unwrap();
		assert_eq!(end, End { pay: pay * 115 / 100 / 2 / 5 / 2, ..share });
		let end = end_of(ended(&[(1, Fate::Undecided, 30), (2, Fate::Accepted, 15)])).unwrap();
		assert_eq!(end, End { pay: 0, ..share });

		// One that diverged in its sixteenth segment is paid for that as well.
		let end = end_of(ended(&[(1, Fate::Diverged, 15)])).unwrap();
		let pay = Balance::from(self::work(&ended(&[]), 16).0) * 1_000_000;
		assert_eq!(end, End { outcome: "diverged", pay, lost: 0, power: 0 });

		assert_eq!(end_of(ended(&[(2, Fate::Accepted, 30)])), None, "a stranger");
		let running = JobView { state: JobState::Auditing, ..whole };
		assert_eq!(end_of(running), None, "not over");
	}

	#[test]
	fn what_came_of_it_is_counted() {
		let metrics = Metrics::new("trainer");
		let count = |outcome, pay, lost, power| End { outcome, pay, lost, power }.count(&metrics);
		count("accepted", 2_000_000_000_000, 0, 500_000);
		count("rejected", 0, 3_000_000_000_000, 0);
		let text = metrics.text().unwrap();
		for line in [
			"trainyard_worker_jobs_total{outcome=\"accepted\",role=\"trainer\"} 1",
			"trainyard_worker_jobs_total{outcome=\"rejected\",role=\"trainer\"} 1",
			"trainyard_worker_earned_try_total{kind=\"pay\",role=\"trainer\"} 2",
			"trainyard_worker_lost_try_total{kind=\"deposit\",role=\"trainer\"} 3",
			"trainyard_worker_power_ut_total{kind=\"credited\",role=\"trainer\"} 0.5",
		] {
			assert!(text.lines().any(|l| l == line), "{line}\n{text}");
		}
	}
}
