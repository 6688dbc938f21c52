//! What a turn of a peer came to.

use trainyard_client::AccountId32;
use trainyard_protocol::{job::Balance, swarm::Count};

/// What a turn came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
	/// It has a model to begin with: of this maker, or from the chain.
	Began(Option<AccountId32>),
	/// It took a slice that somebody serves.
	TookSlice(AccountId32),
	/// It trained, and gets so many right now.
	Trained(Count),
	/// The mean was better.
	Better {
		/// Whose model the other half is.
		maker: AccountId32,
		/// What its own model got right.
		before: Count,
		/// What the mean gets right.
		after: Count,
		/// What is owed for that.
		owed: Balance,
	},
	/// The mean was no better.
	InVain(AccountId32),
	/// Somebody did not answer, or said no.
	Failed {
		/// Who.
		who: AccountId32,
		/// Why.
		why: String,
	},
	/// Somebody was found out, and is not asked any more.
	Dropped {
		/// Who.
		who: AccountId32,
		/// What it did.
		why: String,
	},
	/// It goes on to an outer step, with what of the contributions to the one before counts.
	Stepped {
		/// The step.
		step: u32,
		/// How many count.
		counted: usize,
		/// How many there were.
		of: usize,
	},
	/// What counts of this outer step is not what it was, since other blocks took the place of the last ones: it
	/// computes it again.
	WentBack(u32),
	/// It trained from the model of this outer step.
	Worked(u32),
	/// Its training from the model of an outer step came to nothing.
	Diverged {
		/// The step.
		step: u32,
		/// Why.
		why: String,
	},
	/// It contributed to an outer step.
	Contributed {
		/// The step.
		step: u32,
		/// How many outer steps ago the model is with which the contribution begins.
		late: u32,
	},
	/// It was too late for this outer step, and contributes to the next one.
	Missed(u32),
	/// It vouched.
	Vouched {
		/// The step.
		step: u32,
		/// For how many contributions.
		count: usize,
		/// How many there are.
		of: usize,
	},
	/// It computed a contribution of somebody else again.
	Replayed {
		/// The step.
		step: u32,
		/// Whose.
		who: AccountId32,
		/// Whether it came to the same.
		right: bool,
	},
	/// There was nothing to do.
	Nothing,
	/// The swarm has ended.
	Ended,
}
