//! Whose money it is: the roles of the machine's owner, and what is none of them.

use serde::{Deserialize, Serialize};
use trainyard_client::{AccountId32, JobView};
use trainyard_protocol::job::JobState;

/// Who earned or paid something.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	PartialOrd,
	Ord,
	Hash,
	Serialize,
	Deserialize,
	clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Part {
	/// Trains jobs.
	Trainer,
	/// Computes laps, and units of projects.
	Driller,
	/// Sits on committees.
	Verifier,
	/// Looks at results of others.
	Whistleblower,
	/// Computes deterministic tasks.
	Tasks,
	/// A node with this account's session keys.
	#[value(skip)]
	Node,
	/// A dispute of which it is not known for which role it is.
	#[value(skip)]
	Disputes,
	/// The account itself: its own jobs, transfers, and what nobody can tell.
	#[value(skip)]
	Account,
}

impl Part {
	/// The roles that one daemon can play.
	pub const ROLES: [Self; 5] =
		[Self::Trainer, Self::Driller, Self::Verifier, Self::Whistleblower, Self::Tasks];
	/// Those that it plays where none is named. Who computes tasks has a deposit of at least 100 TRY for each at stake,
	/// and names what it is paid for one.
	pub const USUAL: [Self; 4] =
		[Self::Trainer, Self::Driller, Self::Verifier, Self::Whistleblower];

	/// Returns its name in folders, reports and options.
	pub fn name(self) -> &'static str {
		match self {
			Self::Trainer => "trainer",
			Self::Driller => "driller",
			Self::Verifier => "verifier",
			Self::Whistleblower => "whistleblower",
			Self::Tasks => "tasks",
			Self::Node => "node",
			Self::Disputes => "disputes",
			Self::Account => "account",
		}
	}
}

/// What an account has to do with a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
	/// It applied for it, or trains it.
	Trains,
	/// It posted it.
	Posted,
	/// It sits on its committee.
	Checks,
}

impl Relation {
	/// Returns what `me` has to do with a job.
	pub fn of(job: &JobView, me: &AccountId32) -> Option<Self> {
		let committee = job.audit.iter().flat_map(|audit| &audit.committee);
		let trains = job.replicas.iter().any(|replica| replica.trainer == *me)
			|| (matches!(job.state, JobState::Open | JobState::Seeding)
				&& job.applicants.contains(me));
		match trains {
			true => Some(Self::Trains),
			false if job.submitter == *me => Some(Self::Posted),
			false => {
				committee.into_iter().any(|member| member.verifier == *me).then_some(Self::Checks)
			}
		}
	}

	/// Returns the role that deals with such a job.
	pub fn part(self) -> Part {
		match self {
			Self::Trains => Part::Trainer,
			Self::Posted => Part::Account,
			Self::Checks => Part::Verifier,
		}
	}
}
