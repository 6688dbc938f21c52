//! Whether this whistleblower looks at results now, by what one more may expect.
//!
//! The chain says how many look and what finders were paid. One that looks says so once in each watch, so that others
//! count it. Where one more may expect its threshold, a quarter of those who rest join in each watch; where the part of
//! each is below four fifths of it, those go by chance who are too many. So a crowd with one threshold neither comes nor
//! goes together.

use trainyard_client::{AccountId32, Call};
use trainyard_protocol::{job::Balance, watch::WatchView};

/// Part of the threshold below which some of those who look stop, in hundredths.
const STAYS: Balance = 80;
/// One of so many that rest joins in a watch in which it is worth it.
const JOINS: u32 = 4;
/// All of what [`luck`] draws from.
const ALL: u32 = 1_000_000;

/// Returns what an account draws in a watch, below [`ALL`].
pub(super) fn luck(account: &AccountId32, watch: u32) -> u32 {
	let mut hasher = blake3::Hasher::new();
	hasher.update(&account.0).update(&watch.to_le_bytes());
	let bytes: [u8; 4] = hasher.finalize().as_bytes()[..4].try_into().unwrap_or_default();
	u32::from_le_bytes(bytes) % ALL
}

/// What it decided, and what it said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Elastic {
	/// Least that one more may expect in a day. 0: it always looks. `None`: it does, and does not say so.
	least: Option<Balance>,
	/// Whether it looks; `None` before its first decision.
	looks: Option<bool>,
	/// The watch in which it said so last.
	said: Option<u32>,
}

/// What follows from a look at the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decided {
	/// Whether it looks at results.
	pub(super) looks: bool,
	/// Whether that has changed, but for its first decision where it looks.
	pub(super) changed: bool,
	/// Whether it says so on chain.
	pub(super) says: bool,
}

impl Elastic {
	/// Makes one that looks where it may expect at least this much in a day, and is counted; without it, one that always
	/// looks and is not.
	pub(super) fn new(least: Option<Balance>) -> Self {
		Self { least, ..Self::default() }
	}

	/// Returns whether it goes by what the chain says, and is counted.
	pub(super) fn is_counted(&self) -> bool {
		self.least.is_some()
	}

	/// Decides by what the chain says, and by what it draws in this watch.
	pub(super) fn decide(&mut self, view: &WatchView, luck: u32) -> Decided {
		let before = self.looks;
		let looks = match (before, self.least) {
			(_, None | Some(0)) => true,
			// What it has a part in is shared by all who look, one of whom it is.
			(Some(true), Some(least)) => {
				let alive = Balance::from(view.alive.max(1));
				let part = view.per_day.checked_div(alive).unwrap_or(0);
				let carries = view.per_day.checked_div(least).unwrap_or(0);
				let stay = carries.saturating_mul(ALL.into()).checked_div(alive).unwrap_or(0);
				part >= least.saturating_mul(STAYS).div_ceil(100) || Balance::from(luck) < stay
			}
			(Some(false) | None, Some(least)) => view.next >= least && luck < ALL / JOINS,
		};
		self.looks = Some(looks);
		let changed = before.map_or(!looks, |before| before != looks);
		let says = looks && self.least.is_some() && self.said != Some(view.watch);
		Decided { looks, changed, says }
	}

	/// Notes that it said so in a watch.
	pub(super) fn has_said(&mut self, watch: u32) {
		self.said = Some(watch);
	}
}

/// `Reputation.watch`: say that the caller looks in the watch that runs.
pub(super) fn watch() -> Call {
	Call::new("Reputation", "watch", ())
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::watch::Prizes;

	const TRY: Balance = 1_000_000_000_000;

	/// So many look, and so much is found in a day.
	fn view(watch: u32, alive: u32, per_day: Balance) -> WatchView {
		let whole = WatchView::new(watch, alive, 0, Prizes::default());
		let next = per_day / (Balance::from(alive) + 1);
		WatchView { per_day, next, ..whole }
	}

	#[test]
	fn without_a_threshold_it_always_looks_and_says_so_once() {
		let mut elastic = Elastic::new(Some(0));
		let first = elastic.decide(&view(3, 0, 0), ALL - 1);
		assert_eq!(first, Decided { looks: true, changed: false, says: true });
		assert!(elastic.decide(&view(3, 0, 0), 0).says, "it is not known to be on chain");
		elastic.has_said(3);
		assert!(!elastic.decide(&view(3, 9, 0), 0).says);
		assert!(elastic.decide(&view(4, 9, 0), 0).says);
		let silent = Elastic::new(None).decide(&view(3, 9, 0), ALL - 1);
		assert_eq!(silent, Decided { looks: true, changed: false, says: false });
	}

	#[test]
	fn it_comes_where_much_is_found_and_goes_where_many_share_it() {
		let mut elastic = Elastic::new(Some(TRY));
		let nothing = elastic.decide(&view(0, 0, 0), 0);
		assert_eq!(nothing, Decided { looks: false, changed: true, says: false });
		// Four find 5 TRY a day: a fifth one would have one, and comes by chance.
		assert!(!elastic.decide(&view(1, 4, 5 * TRY), ALL / JOINS).looks);
		assert!(elastic.decide(&view(1, 4, 5 * TRY), ALL / JOINS - 1).looks);
		// With it they are five.
		let stays = elastic.decide(&view(2, 5, 5 * TRY), ALL - 1);
		assert_eq!((stays.looks, stays.changed), (true, false));
		assert!(elastic.decide(&view(3, 5, 4 * TRY), ALL - 1).looks, "within a fifth");
		// Three of five are carried.
		assert!(elastic.decide(&view(4, 5, 4 * TRY - 10), 3 * ALL / 5 - 1).looks);
		let goes = elastic.decide(&view(4, 5, 4 * TRY - 10), 3 * ALL / 5);
		assert_eq!(goes, Decided { looks: false, changed: true, says: false });
		assert!(!elastic.decide(&view(5, 4, 4 * TRY), 0).looks, "it waits for the whole threshold");
	}

	/// Many with one threshold settle at about as many as it carries, though all decide by the same number.
	#[test]
	fn a_crowd_settles() {
		for size in [40u8, 250] {
			let mut crowd = vec![Elastic::new(Some(TRY)); size.into()];
			let mut alive = 0;
			for watch in 0..60 {
				let mut looks = 0;
				for (at, one) in (0u8..).zip(&mut crowd) {
					let luck = luck(&AccountId32([at; 32]), watch);
					looks += u32::from(one.decide(&view(watch, alive, 10 * TRY), luck).looks);
				}
				alive = looks;
				assert!(
					watch < 20 || (5..=14).contains(&alive),
					"{alive} of {size} in watch {watch}"
				);
			}
		}
	}
}
