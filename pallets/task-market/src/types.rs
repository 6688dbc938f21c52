//! Jobs, replicas, listings, and the sums of a job.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{
	traits::{ConstU32, PalletError},
	BoundedVec,
};
use scale_info::TypeInfo;
use sp_runtime::{helpers_128bit::multiply_by_rational_with_rounding, Rounding};
use trainyard_program::{
	spec::{JobSpec, SpecError},
	units,
	work::Parts,
};
use trainyard_protocol::{
	job::{Balance, BlockNumber, Fate, JobState, Settlement, Terms, MAX_REPLICAS},
	MicroUt, Text, H256,
};

/// A job, as far as it changes; what to train never does and is in [`Specs`](crate::Specs).
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Job<AccountId> {
	/// Who posted it.
	pub submitter: AccountId,
	/// Only this trainer may apply.
	pub invited: Option<AccountId>,
	/// What is offered.
	pub terms: Terms,
	/// [`commitment::job`](trainyard_protocol::commitment::job) of specification and terms, which
	/// whoever applies must name.
	pub digest: H256,
	/// What it costs, fixed at posting.
	pub quote: Quote,
	/// Where it stands.
	pub state: JobState,
	/// Height at which the present state began. For [`JobState::Seeding`] the draw height, which may
	/// still come: the assignment seed forms from the blocks after it.
	pub since: BlockNumber,
	/// Height at which the present state ends at the latest; for an ended job, the height from
	/// which on it may be forgotten.
	pub deadline: BlockNumber,
	/// Assignment seed, once drawn.
	pub seed: Option<H256>,
	/// Who trains, once drawn, in the order of the draw.
	pub replicas: BoundedVec<Replica<AccountId>, ConstU32<MAX_REPLICAS>>,
	/// Pay of a replica at which the submitter is ready to settle at once.
	pub offer: Option<Balance>,
	/// Where the money went; until the end only what was escrowed.
	pub settlement: Settlement,
}

/// One replica of a job.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Replica<AccountId> {
	/// Who trains it.
	pub trainer: AccountId,
	/// What became of it.
	pub fate: Fate,
	/// Which of the audit's distinct results it delivered.
	pub result: Option<u32>,
	/// Segments trained of that result: all of the job's, or fewer where it stopped early.
	pub segments: Option<u32>,
	/// Pay at which its trainer is ready to settle at once.
	pub offer: Option<Balance>,
}

/// What a job costs. For a job that may stop early, these are the largest sums: see
/// [`Quote::of_segments`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Quote {
	/// Work of the job's parts.
	pub parts: Parts,
	/// Work of one replica.
	pub work: MicroUt,
	/// Pay of one accepted replica.
	pub price: Balance,
	/// Protocol fee of one accepted replica, burned.
	pub fee: Balance,
	/// Held from the submitter.
	pub escrow: Balance,
	/// Held from each trainer.
	pub deposit: Balance,
}

/// What one accepted replica is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worth {
	/// Its work.
	pub work: MicroUt,
	/// Pay of its trainer.
	pub price: Balance,
	/// Protocol fee, burned.
	pub fee: Balance,
}

impl Quote {
	/// Returns what a replica that trained all segments is worth.
	pub fn whole(&self) -> Worth {
		Worth { work: self.work, price: self.price, fee: self.fee }
	}

	/// Returns what a replica that trained that many segments of this job is worth: its work, and,
	/// in proportion to that, the pay at the job's price and the protocol fee, both rounded up. All
	/// of the segments together are worth what was quoted, and nothing is worth more.
	pub fn of_segments(&self, spec: &JobSpec, terms: &Terms, segments: u32) -> Worth {
		let all = self.whole();
		if segments >= spec.segments() {
			return all;
		}
		// This is a part of what was counted and priced at posting, so none of it overflows.
		let Ok(work) = self.parts.micro_ut_of(spec, segments) else { return all };
		let (done, whole) = (Balance::from(work), Balance::from(self.work));
		let fee = multiply_by_rational_with_rounding(self.fee, done, whole, Rounding::Up);
		Worth {
			work: work.min(self.work),
			price: units::price(work, terms.price_per_ut).map_or(self.price, |p| p.min(self.price)),
			fee: fee.map_or(self.fee, |fee| fee.min(self.fee)),
		}
	}
}

/// A trainer's standing offer.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Listing {
	/// Price of one `ut`.
	pub price_per_ut: Balance,
	/// Largest job taken.
	pub max_work: MicroUt,
	/// Free text.
	pub note: Text,
}

/// Which rule a specification breaks, inside this pallet's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct SpecFault(pub SpecError);

impl PalletError for SpecFault {
	// One byte: `SpecError` has no fields.
	const MAX_ENCODED_SIZE: usize = 1;
}

/// How slashed deposits are shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlashShares {
	/// For the submitter.
	pub submitter: Balance,
	/// For every service of a verifier.
	pub per_service: Balance,
	/// For the jackpot.
	pub jackpot: Balance,
}

impl SlashShares {
	/// Shares out `slashed`. The submitter is made whole first, up to its `loss`. Half of
	/// the rest goes to the verifiers in equal parts, one for each of the `services`
	/// rendered, rounded down; all else to the jackpot, so that nobody can earn by making a
	/// counterparty fail.
	pub fn of(slashed: Balance, loss: Balance, services: u32) -> Self {
		let submitter = slashed.min(loss);
		let rest = slashed.saturating_sub(submitter);
		let per_service = (rest / 2).checked_div(Balance::from(services)).unwrap_or(0);
		let to_verifiers = per_service.saturating_mul(Balance::from(services));
		Self { submitter, per_service, jackpot: rest.saturating_sub(to_verifiers) }
	}
}

/// Returns how much of its `deposit` a trainer loses by the `fate` of its replica: all of it for
/// what only a trainer can be blamed for, nothing otherwise.
///
/// States that could not be fetched cost as much as false ones. A cheat sees which segments are
/// drawn. With a milder loss it would stop serving, or rescue garbage, whenever a segment that it
/// faked is among them.
pub fn lost_deposit(fate: Fate, deposit: Balance) -> Balance {
	match fate {
		Fate::NotCommitted
		| Fate::NotRevealed
		| Fate::ModelMissing
		| Fate::Unavailable
		| Fate::Rejected => deposit,
		Fate::Working | Fate::Accepted | Fate::Undecided | Fate::Agreed => 0,
	}
}
