//! Tables of what sessions came to.

use crate::session::{Fault, Group, Mixed, Payment, Played, Terms};

/// Parts into which a session is divided.
pub const PARTS: usize = 10;

/// Returns of each tenth of a session how many of its averagings were a success, from 0 to 1; `None` of one without any.
pub fn successes(mixed: &[Mixed]) -> [Option<f64>; PARTS] {
	let mut counts = [(0u32, 0u32); PARTS];
	for one in mixed {
		let (good, all) = &mut counts[((one.when * PARTS as f64) as usize).min(PARTS - 1)];
		*good += u32::from(one.success);
		*all += 1;
	}
	counts.map(|(good, all)| (all > 0).then(|| f64::from(good) / f64::from(all)))
}

/// What one peer paid and was paid, in rows of gain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Account {
	/// Payments that it made.
	pub sent: u32,
	/// Gains that it paid for.
	pub paid: u32,
	/// Gains that it was paid for.
	pub earned: u32,
	/// Gains by its models for which nobody paid.
	pub unpaid: u32,
}

/// Returns the account of each of `peers` peers.
pub fn accounts(peers: usize, payments: &[Payment]) -> Vec<Account> {
	let mut accounts = vec![Account::default(); peers];
	for payment in payments {
		if payment.paid {
			accounts[payment.from].sent += 1;
			accounts[payment.from].paid += payment.gain;
			accounts[payment.to].earned += payment.gain;
		} else {
			accounts[payment.to].unpaid += payment.gain;
		}
	}
	accounts
}

/// Least, mean and most of some numbers; zeros of none.
pub fn spread(values: impl Iterator<Item = f64> + Clone) -> [f64; 3] {
	let count = values.clone().count();
	if count == 0 {
		return [0.0; 3];
	}
	let least = values.clone().fold(f64::INFINITY, f64::min);
	let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
	[least, values.sum::<f64>() / count as f64, most]
}

/// Returns rows of a table of Markdown.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
	let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
	let head: Vec<String> = head.iter().map(|cell| cell.to_string()).collect();
	let mut text = line(&head);
	text += &format!("|{}\n", "---|".repeat(head.len()));
	for row in rows {
		text += &line(row);
	}
	text
}

pub fn percent(part: f64) -> String {
	format!("{:.1} %", 100.0 * part)
}

/// Returns the part of the rows that the models of these peers get right: least, mean and most.
pub fn accuracy(played: &Played, peers: impl Iterator<Item = usize> + Clone) -> [f64; 3] {
	spread(peers.map(|peer| f64::from(played.correct[peer]) / f64::from(played.rows)))
}

/// Returns the peers of a group.
pub fn of_group(terms: &Terms, group: Group) -> Vec<usize> {
	(0..terms.peers.len()).filter(|peer| terms.peers[*peer].0 == group).collect()
}

/// Returns the peers with which nothing is wrong, or something.
pub fn of_fault(terms: &Terms, is_honest: bool) -> Vec<usize> {
	(0..terms.peers.len())
		.filter(|peer| (terms.peers[*peer].1 == Fault::None) == is_honest)
		.collect()
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn accounts_balance() {
		let payment = |from, to, gain, paid| Payment { from, to, gain, paid };
		let all = [payment(0, 1, 5, true), payment(1, 0, 2, true), payment(2, 0, 9, false)];
		let accounts = accounts(3, &all);
		assert_eq!(accounts[0], Account { sent: 1, paid: 5, earned: 2, unpaid: 9 });
		assert_eq!(accounts[2], Account::default());
		let sum = |of: fn(&Account) -> u32| accounts.iter().map(of).sum::<u32>();
		assert_eq!(sum(|it| it.paid), sum(|it| it.earned));
	}

	#[test]
	fn successes_are_by_parts() {
		let one = |when, success| Mixed { when, success };
		let found = successes(&[one(0.0, true), one(0.05, false), one(0.95, true)]);
		assert_eq!((found[0], found[1], found[9]), (Some(0.5), None, Some(1.0)));
		assert_eq!(successes(&[one(1.0, false)])[9], Some(0.0));
		assert_eq!(spread([3.0, 1.0].into_iter()), [1.0, 2.0, 3.0]);
		assert_eq!(spread(std::iter::empty()), [0.0; 3]);
	}
}
