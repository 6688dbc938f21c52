//! Watches whether the account is in the pool from which committees are drawn, and says what to do
//! if it is not.

use super::{Verifier, VerifierError};
use crate::roles::{metrics::Loss, report::Reporter, run::RoleError};
use serde_json::json;
use trainyard_client::{
	amount, calls, AccountId32, AuditView, Chain, ChainError, JobView, Transactor,
};
use trainyard_protocol::{
	audit::AuditPhase,
	job::{Balance, BlockNumber},
	JobId,
};

/// Blocks between two looks at the pool.
const EVERY: BlockNumber = 10;
/// What to do about it.
const ADVICE: &str = "audits that it sits on are still served, new ones will not come. The bond \
                      can be taken back by verification.withdraw after the unbonding period; \
                      start again with --bond AMOUNT then";

/// Whether the account was in the pool at the last look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Membership {
	/// Its bond, while it was inside.
	bond: Option<Balance>,
	looked: Option<BlockNumber>,
}

impl Membership {
	/// Notes what was found at the start.
	pub(super) fn new(bond: Option<Balance>) -> Self {
		Self { bond, looked: None }
	}

	/// Returns whether it is time to look again at height `best`.
	fn is_due(&self, best: BlockNumber) -> bool {
		self.looked.is_none_or(|looked| best.abs_diff(looked) >= EVERY)
	}

	/// Notes what was found at height `best`. Returns whether it is news, and what was lost of the
	/// bond.
	fn note(&mut self, bond: Option<Balance>, best: BlockNumber) -> (bool, Balance) {
		self.looked = Some(best);
		let before = std::mem::replace(&mut self.bond, bond);
		// An account that left gets its bond back one day, whatever it is.
		let lost = before.zip(bond).map_or(0, |(before, now)| before.saturating_sub(now));
		(before.is_some() != bond.is_some(), lost)
	}
}

/// Returns whether `me` has a seat in an audit that is not over.
fn sits(audit: &AuditView, me: &AccountId32) -> bool {
	audit.phase != AuditPhase::Done && audit.committee.iter().any(|m| m.verifier == *me)
}

/// Returns the jobs in whose audits `me` has a seat.
fn seats(jobs: &[JobView], me: &AccountId32) -> Vec<JobId> {
	let seated = |job: &&JobView| job.audit.as_ref().is_some_and(|audit| sits(audit, me));
	jobs.iter().filter(seated).map(|job| job.id).collect()
}

/// Returns the bond of `me` in the pool; `None` outside.
async fn bond_of(chain: &Chain, me: &AccountId32) -> Result<Option<Balance>, ChainError> {
	Ok(chain.verifiers().await?.iter().find(|(who, _)| who == me).map(|(_, bond)| *bond))
}

/// Registers the account if it is not in the pool and a bond is given. Without registration, an
/// account outside the pool is let in only if it still sits on a committee: its bond answers for
/// that.
pub(super) async fn enter(
	sender: &Transactor,
	bond: Option<Balance>,
	report: &Reporter,
) -> Result<Membership, RoleError<VerifierError>> {
	let (chain, account) = (sender.chain(), *sender.account());
	if let Some(bond) = bond_of(chain, &account).await? {
		return Ok(Membership::new(Some(bond)));
	}
	let head = chain.head().await?;
	let seats = seats(&chain.active_jobs(head.hash).await?, &account);
	let why = match bond {
		Some(bond) => match sender.run(&calls::register_verifier(bond)).await {
			Ok(_) => {
				let text =
					format!("registered as a verifier with a bond of {}", amount::format(bond));
				report.general("registered", &text, json!({ "bond": bond.to_string() }));
				return Ok(Membership::new(Some(bond)));
			}
			Err(e) if seats.is_empty() => return Err(VerifierError::Tx(e).into()),
			Err(e) => e.to_string(),
		},
		None if seats.is_empty() => return Err(VerifierError::NotRegistered { account }.into()),
		None => "no --bond was given".to_owned(),
	};
	let text =
		format!("not in the verifier pool ({why}), but on {} committee(s): {ADVICE}", seats.len());
	report.general("not_in_pool", &text, json!({ "jobs": seats, "reason": why }));
	Ok(Membership::new(None))
}

impl Verifier {
	/// Looks at the pool now and then, and reports when the account left it or came back.
	pub(super) async fn watch_pool(
		&self,
		membership: &mut Membership,
		best: BlockNumber,
	) -> Result<(), ChainError> {
		if !membership.is_due(best) {
			return Ok(());
		}
		let bond = bond_of(&self.chain, self.sender.account()).await?;
		let (news, lost) = membership.note(bond, best);
		if lost > 0 {
			self.report.metrics().lost(Loss::Bond, lost);
		}
		if news {
			let (event, text) = match bond.is_some() {
				true => ("in_pool", "in the verifier pool again".to_owned()),
				false => (
					"left_pool",
					format!(
						"no longer in the verifier pool: the bond was slashed below the minimum, \
						 displaced by a larger one, or deregistered. Running {ADVICE}"
					),
				),
			};
			self.report.general(event, &text, json!({ "height": best }));
		}
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::views::MemberView;

	#[test]
	fn only_changes_are_news() {
		let mut membership = Membership::new(Some(100));
		assert!(membership.is_due(7), "never looked");
		assert_eq!(membership.note(Some(100), 7), (false, 0));
		assert!(!membership.is_due(8) && !membership.is_due(16) && membership.is_due(17));
		assert_eq!(membership.note(None, 17), (true, 0), "it left");
		assert_eq!(membership.note(None, 27), (false, 0));
		assert_eq!(membership.note(Some(100), 37), (true, 0), "it came back");
		assert!(membership.is_due(3), "a chain that was started from scratch");
	}

	#[test]
	fn what_is_missing_of_the_bond_was_lost() {
		let mut membership = Membership::new(Some(100));
		assert_eq!(membership.note(Some(90), 7), (false, 10));
		assert_eq!(membership.note(Some(90), 17), (false, 0), "reported once");
		assert_eq!(membership.note(Some(200), 27), (false, 0), "more was bonded");
		assert_eq!(membership.note(Some(180), 37), (false, 20));
	}

	#[test]
	fn who_sits_on_a_running_audit_still_serves_it() {
		let me = AccountId32([1; 32]);
		let member = MemberView { verifier: me, commitment: None, findings: None };
		let mut audit = AuditView {
			round: 0,
			phase: AuditPhase::Committing { until: 50 },
			groups: vec![],
			committee: vec![member],
		};
		assert!(sits(&audit, &me));
		assert!(!sits(&audit, &AccountId32([2; 32])));
		audit.phase = AuditPhase::Done;
		assert!(!sits(&audit, &me));
	}
}
