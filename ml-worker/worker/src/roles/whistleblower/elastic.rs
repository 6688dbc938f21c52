//! Whether this whistleblower looks at results now, by what one more may expect.
//!
//! The chain says how many look and what finders were paid. One that looks says so once in each watch, so that others
//! count it. Below its threshold it stops, and it begins again where one more may expect the threshold; between the two
//! lies a fifth, so that all do not come and go together.

use trainyard_client::Call;
use trainyard_protocol::{job::Balance, watch::WatchView};

/// Part of the threshold below which one that looks stops, in hundredths.
const STAYS: Balance = 80;

/// What it decided, and what it said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Elastic {
	/// Least that one more may expect in a day. 0: it always looks.
	least: Balance,
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
	/// Makes one that looks where it may expect at least this much in a day.
	pub(super) fn new(least: Balance) -> Self {
		Self { least, ..Self::default() }
	}

	/// Decides by what the chain says.
	pub(super) fn decide(&mut self, view: &WatchView) -> Decided {
		let before = self.looks;
		let looks = match before {
			// What it has a part in is shared by all who look, one of whom it is.
			Some(true) => {
				let part = view.per_day.checked_div(view.alive.max(1).into()).unwrap_or(0);
				part >= self.least.saturating_mul(STAYS).div_ceil(100)
			}
			Some(false) | None => view.next >= self.least,
		};
		self.looks = Some(looks);
		let changed = before.map_or(!looks, |before| before != looks);
		Decided { looks, changed, says: looks && self.said != Some(view.watch) }
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
		let mut elastic = Elastic::new(0);
		let first = elastic.decide(&view(3, 0, 0));
		assert_eq!(first, Decided { looks: true, changed: false, says: true });
		assert!(elastic.decide(&view(3, 0, 0)).says, "it is not known to be on chain");
		elastic.has_said(3);
		assert!(!elastic.decide(&view(3, 9, 0)).says);
		assert!(elastic.decide(&view(4, 9, 0)).says);
	}

	#[test]
	fn it_comes_where_much_is_found_and_goes_where_many_share_it() {
		let mut elastic = Elastic::new(TRY);
		let nothing = elastic.decide(&view(0, 0, 0));
		assert_eq!(nothing, Decided { looks: false, changed: true, says: false });
		// Four find 5 TRY a day: a fifth one would have one.
		assert!(elastic.decide(&view(1, 4, 5 * TRY)).looks);
		// With it they are five.
		let stays = elastic.decide(&view(2, 5, 5 * TRY));
		assert_eq!((stays.looks, stays.changed), (true, false));
		assert!(elastic.decide(&view(3, 5, 4 * TRY)).looks, "within a fifth");
		let goes = elastic.decide(&view(4, 5, 4 * TRY - 10));
		assert_eq!(goes, Decided { looks: false, changed: true, says: false });
		assert!(!elastic.decide(&view(5, 4, 4 * TRY)).looks, "it waits for the whole threshold");
	}

	/// Many with one threshold settle at as many as it carries, and do not swing.
	#[test]
	fn a_crowd_settles() {
		let mut crowd = vec![Elastic::new(TRY); 40];
		let mut alive = 0;
		for watch in 0..60 {
			let mut looks = 0;
			// They do not decide at one moment: each sees those who decided before it in this watch.
			for (at, one) in crowd.iter_mut().enumerate() {
				let seen = if at % 2 == 0 { alive } else { looks.max(alive) };
				looks += u32::from(one.decide(&view(watch, seen, 10 * TRY)).looks);
			}
			alive = looks;
		}
		assert!((9..=13).contains(&alive), "{alive}");
	}
}
