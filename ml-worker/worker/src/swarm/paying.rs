//! What a peer owes and is owed.

use super::{
	board::Board,
	peer::{Peer, PeerError},
	position::Debt,
	service::Seen,
	ticket::Signed,
};
use serde_json::json;
use std::collections::BTreeSet;
use tracing::warn;
use trainyard_client::{amount, swarm::Payment, AccountId32};
use trainyard_protocol::{
	job::Balance,
	swarm::{Count, Due, Measured, Payer, MAX_PAYMENTS},
};

impl<B: Board> Peer<B> {
	/// Takes note of what others paid for tickets. Only those are asked for whose sum changed.
	pub(super) async fn note_payments(&mut self, seen: &Seen) -> Result<(), PeerError> {
		let debtors = self.service.journal().debtors();
		for debtor in debtors {
			let Some(peer) = seen.peers.iter().find(|peer| peer.account == debtor) else {
				continue;
			};
			if self.totals.get(&debtor) == Some(&peer.paid) {
				continue;
			}
			let board = self.service.board();
			let paid = board.paid(&debtor, board.me()).await?;
			let noted = self.service.journal().paid(&paid)?;
			self.totals.insert(debtor, peer.paid);
			if noted > 0 {
				let text = format!("{debtor} paid for {noted} tickets");
				self.report.general("paid", &text, json!({ "by": debtor, "tickets": noted }));
			}
		}
		self.service.journal().forget(seen.height)?;
		Ok(())
	}

	/// Pays what is owed, where there is enough of it, where a ticket ends soon, or `now`.
	pub(super) async fn settle(&mut self, seen: &Seen, now: bool) -> Result<(), PeerError> {
		let (plan, height) = (&seen.swarm.plan, seen.height);
		let gone = |signed: &Signed| signed.ticket.expires < height;
		if self.position.signed.iter().any(gone) {
			self.position.signed.retain(|signed| !gone(signed));
			self.service.signed(&self.position.signed);
			self.save()?;
		}
		let soon = height.saturating_add(plan.ticket_blocks / 4).saturating_add(2);
		let debts = &self.position.debts;
		let is_time = now
			|| debts.len() >= self.options.batch.max(1)
			|| debts.iter().any(|debt| debt.expires <= soon);
		if debts.is_empty() || !is_time || plan.payer != Payer::Peers {
			return Ok(());
		}
		let board = self.service.board();
		// What was sent before a kill may be in a block.
		let makers: BTreeSet<AccountId32> =
			self.position.debts.iter().map(|debt| debt.to).collect();
		let mut paid = BTreeSet::new();
		for maker in makers {
			paid.extend(board.paid(board.me(), &maker).await?);
		}
		let is_peer = |who: &AccountId32| seen.peers.iter().any(|peer| peer.account == *who);
		let owed = |debt: &Debt| {
			!paid.contains(&debt.ticket) && debt.expires >= height && is_peer(&debt.to)
		};
		let left: Vec<_> = self.position.debts.iter().filter(|debt| owed(debt)).cloned().collect();
		if left.len() < self.position.debts.len() {
			self.position.debts = left;
			self.save()?;
		}
		let count = self.position.debts.len().min(MAX_PAYMENTS as usize);
		let batch: Vec<Payment> = self.position.debts.iter().take(count).map(payment).collect();
		if batch.is_empty() {
			return Ok(());
		}
		let sum = batch.iter().fold(0, |sum: Balance, payment| sum.saturating_add(payment.amount));
		if let Err(e) = board.pay(&batch).await {
			// The next turn looks whether it was paid. A peer whose account is empty goes on otherwise.
			warn!("{} are not paid: {e}", amount::format(sum));
			return Ok(());
		}
		self.position.debts.drain(..count);
		self.save()?;
		let text = format!("paid {} for {count} tickets", amount::format(sum));
		let fields = json!({ "amount": sum.to_string(), "tickets": count });
		self.report.general("paid_own", &text, fields);
		Ok(())
	}
}

fn payment(debt: &Debt) -> Payment {
	let Debt { to, amount, ticket, expires } = debt.clone();
	Payment { to, amount, ticket, expires }
}

/// Returns what a peer owes for a mean that was measured so, at this height.
pub fn owed(seen: &Seen, before: Count, after: Count) -> Balance {
	let (swarm, plan) = (&seen.swarm, &seen.swarm.plan);
	let pace = plan.reward.pace.at(swarm.began, seen.height, plan.end);
	let (base, new) = (before.score(), after.score());
	match (plan.payer, plan.reward.due(pace, base, Measured { base, best: base, new })) {
		(Payer::Peers, Due::Gain { amount, .. }) => amount,
		_ => 0,
	}
}
