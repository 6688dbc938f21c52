//! Jobs, replicas, listings, and the sums of a job.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{
	traits::{ConstU32, PalletError},
	BoundedVec,
};
use scale_info::TypeInfo;
use sp_runtime::{helpers_128bit::multiply_by_rational_with_rounding, Rounding};
use trainyard_program::{
	needs::Needs,
	spec::{CheckedSpec, JobSpec, SpecError},
	units,
	work::Parts,
};
use trainyard_protocol::{
	blob,
	claims::Offer,
	duties::{self, Recompute},
	fees::{self, Sums},
	job::{Balance, BlockNumber, Fate, JobState, Settlement, Terms, MAX_REPLICAS},
	lottery::{self, Strata},
	pieces::PieceSizes,
	seats::Resources,
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
	/// Height at which it was posted.
	pub posted: BlockNumber,
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

/// Who applied for a job.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Applicant<AccountId> {
	/// The trainer.
	pub trainer: AccountId,
	/// Its bond when it applied.
	pub bond: Balance,
	/// How much of that counts by its record when it applied, in millionths.
	pub standing: u32,
	/// What it is bound to draw its forced leaves from, see
	/// [`commitment`](trainyard_protocol::forced::commitment).
	pub forced: H256,
}

impl<AccountId> Applicant<AccountId> {
	/// Returns what it is drawn by: its bond, or no more than `bond`, times its standing, or no more than
	/// `standing`.
	pub fn weight(&self, bond: Balance, standing: u32) -> Balance {
		self.bond.min(bond).saturating_mul(self.standing.min(standing).into())
	}
}

/// One replica of a job.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Replica<AccountId> {
	/// Who trains it.
	pub trainer: AccountId,
	/// What it is bound to draw its forced leaves from, as when it applied.
	pub forced: H256,
	/// What became of it.
	pub fate: Fate,
	/// Which of the audit's distinct results it delivered.
	pub result: Option<u32>,
	/// Segments trained of that result: all of the job's, or fewer where it stopped early or diverged,
	/// with the one in which it did.
	pub segments: Option<u32>,
	/// Whether its result says that training diverged.
	pub diverged: bool,
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
	/// The part of it that is training steps: what all replicas together are credited as power.
	pub training: MicroUt,
	/// Price of the work, done once.
	pub price: Balance,
	/// Protocol fee for a `ut` of training, fixed at posting; 0 where the job earns no power.
	pub fee_per_ut: Balance,
	/// What the power for a `ut` of training is worth, fixed at posting; 0 where the job earns no power. The
	/// deposit follows from it, and so power is credited for no more than that.
	pub worth_per_ut: Balance,
	/// What computing a `ut` counts as, fixed at posting: [`price::compute`](trainyard_protocol::price::compute).
	/// The least fee of a seat and the deposit of a challenge follow from it.
	pub compute_per_ut: Balance,
	/// Protocol fee of all replicas together, burned.
	pub fee: Balance,
	/// The part of the escrow for what trainers may have to store for an audit.
	pub storage: Balance,
	/// Held from the submitter until the job ends.
	pub escrow: Balance,
	/// Held from each trainer until the job ends.
	pub deposit: Balance,
	/// Held from the submitter until the record of the job is removed.
	pub record: Balance,
	/// What a seat on a committee needs of its verifier: work for each result, memory, and disk for
	/// all results that there may be.
	pub needs: Resources,
	/// Most bytes of each piece of a result.
	pub sizes: PieceSizes,
	/// The most results of a step, or of a slice of an evaluation: what it costs the court to lower one.
	pub results: u32,
	/// What bytes and states that are not kept add to the times of the job.
	pub moved: Moved,
}

/// Blocks that the bytes of a job take, by the line of its class and by what blocks carry, and the states that its
/// trainers do not keep, by the rate of its class. Fixed at posting, so that whoever takes part knows its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Moved {
	/// In which a seat fetches what it replays, if all results differ.
	pub fetch: BlockNumber,
	/// In which the model is stored on chain, besides the time for revealing.
	pub store: BlockNumber,
	/// In which trainers compute states again that they do not keep.
	pub recompute: Recompute,
}

impl Moved {
	/// Returns what these needs and parts of a job with these terms add.
	pub fn of(spec: &CheckedSpec, terms: &Terms, needs: &Needs, parts: &Parts) -> Self {
		let (segments, machine) = (spec.segments(), terms.machine);
		let replays = terms.replays(segments);
		let bytes = needs.download(replays, terms.replicas);
		let work = (parts.longest_steps_flop(spec), machine.rate());
		let seats = (terms.verifiers, replays);
		Self {
			fetch: duties::fetch_blocks(bytes, machine.limits().bandwidth),
			store: blob::rescue_blocks(needs.model, 0),
			recompute: Recompute::of(terms.keep_every, segments, work, seats),
		}
	}
}

/// How the results of a job can be challenged, fixed when its audit begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Hearing {
	/// Blocks for which the window is open at least.
	pub length: BlockNumber,
	/// Blocks for which it is open again after a dispute or a claim ended: one replay, and time to
	/// challenge.
	pub again: BlockNumber,
	/// The deposit of a challenge.
	pub deposit: Balance,
	/// Blocks that a machine of the job computes for a defence about a segment.
	pub work: BlockNumber,
	/// The same about anything else, for which no segment is computed.
	pub short: BlockNumber,
	/// For how many blocks machines may be away, as it was when the window was announced.
	pub patience: BlockNumber,
}

/// A settled job whose accepted results can still be challenged.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Late<AccountId> {
	/// The block in which it was settled.
	pub from: BlockNumber,
	/// The last block in which a challenge is taken.
	pub until: BlockNumber,
	/// Those who were accepted, and not convicted since.
	pub trainers: BoundedVec<Locked<AccountId>, ConstU32<MAX_REPLICAS>>,
}

/// What a trainer has at stake after its result was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Locked<AccountId> {
	/// Who.
	pub who: AccountId,
	/// What stays locked of its deposit.
	pub deposit: Balance,
	/// The work that it was credited as power, and when, in milliseconds since 1970.
	pub credited: Option<(MicroUt, u64)>,
}

/// What a computation is worth: of a job, or of each of its replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worth {
	/// Work of its training steps, credited as power.
	pub training: MicroUt,
	/// Pay.
	pub price: Balance,
	/// Protocol fee, burned.
	pub fee: Balance,
}

impl Worth {
	/// Returns what each of `replicas` replicas of this computation is worth: an equal part of what
	/// all of them are paid together ([`fees::pay_of_each`]), of the fee and of the power, all
	/// rounded down.
	pub fn of_each(&self, replicas: u32) -> Worth {
		Worth {
			training: self.training.checked_div(MicroUt::from(replicas)).unwrap_or(0),
			price: fees::pay_of_each(self.price, replicas),
			fee: self.fee.checked_div(Balance::from(replicas)).unwrap_or(0),
		}
	}
}

impl Quote {
	/// Returns the quote of these sums, where computing a `ut` counts as this.
	pub fn new(
		parts: Parts,
		sums: Sums,
		compute_per_ut: Balance,
		needs: Resources,
		sizes: PieceSizes,
		results: u32,
		moved: Moved,
	) -> Self {
		let Sums {
			work,
			training,
			price,
			fee_per_ut,
			worth_per_ut,
			fee,
			storage,
			escrow,
			deposit,
			record,
		} = sums;
		Self {
			parts,
			work,
			training,
			price,
			fee_per_ut,
			worth_per_ut,
			compute_per_ut,
			fee,
			storage,
			escrow,
			deposit,
			record,
			needs,
			sizes,
			results,
			moved,
		}
	}

	/// Returns what all segments, trained once, are worth.
	pub fn whole(&self) -> Worth {
		Worth { training: self.training, price: self.price, fee: self.fee }
	}

	/// Returns the most that is burned for power: the fee, or what tickets can bring of it.
	pub fn most_fee(&self, terms: &Terms, spec: Option<&JobSpec>) -> Balance {
		let strata =
			terms.lottery.zip(spec).map(|(one_in, spec)| Strata::new(spec.segments(), one_in));
		strata.map_or(Some(self.fee), |strata| strata.most_of(self.fee)).unwrap_or(Balance::MAX)
	}

	/// Returns what so many segments, of `all` that the job has, are worth where it pays by lottery: the same part of
	/// everything, rounded down. Whenever training ends, a ticket is worth what it was when the job was posted.
	pub fn of_tickets(&self, segments: u32, all: u32) -> Worth {
		let Worth { training, price, fee } = self.whole();
		let training = lottery::share(training.into(), segments, all);
		Worth {
			training: MicroUt::try_from(training).unwrap_or(self.training),
			price: lottery::share(price, segments, all),
			fee: lottery::share(fee, segments, all),
		}
	}

	/// Returns what that many segments of this job, trained once, are worth: the pay for their
	/// steps and evaluations at the job's price, and, in proportion to the steps, power and the
	/// protocol fee; both amounts rounded up. All of the segments together are worth what was
	/// quoted, and nothing is worth more.
	pub fn of_segments(&self, spec: &JobSpec, terms: &Terms, segments: u32) -> Worth {
		let all = self.whole();
		if segments >= spec.segments() {
			return all;
		}
		// This is a part of what was counted and priced at posting, so none of it overflows.
		let work = self.parts.micro_ut_of(spec, segments);
		let training = self.parts.training_micro_ut_of(spec, segments);
		let (Ok(work), Ok(training)) = (work, training) else { return all };
		let (done, whole) = (Balance::from(training), Balance::from(self.training));
		let fee = multiply_by_rational_with_rounding(self.fee, done, whole, Rounding::Up);
		Worth {
			training: training.min(self.training),
			price: units::price(work, terms.price_per_ut).map_or(self.price, |p| p.min(self.price)),
			fee: fee.map_or(self.fee, |fee| fee.min(self.fee)),
		}
	}
}

/// The right to what a replica is paid, where its trainer has sold or offered it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Claim<AccountId> {
	/// Whose replica.
	pub trainer: AccountId,
	/// Who is paid.
	pub holder: AccountId,
	/// What the holder offers it for.
	pub offer: Option<Offer<AccountId>>,
}

/// The claims of a job that were sold or offered.
pub type ClaimsOf<AccountId> = BoundedVec<Claim<AccountId>, ConstU32<MAX_REPLICAS>>;

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

/// Returns how much of its `deposit` a trainer loses by the `fate` of its replica: all of it for
/// what only a trainer can be blamed for, nothing otherwise.
///
/// States that could not be fetched cost as much as false ones. A cheat sees what is asked for. With a
/// milder loss it would stop serving whenever a segment that it faked is among that.
pub fn lost_deposit(fate: Fate, deposit: Balance) -> Balance {
	match fate {
		Fate::NotCommitted
		| Fate::NotRevealed
		| Fate::ModelMissing
		| Fate::Unavailable
		| Fate::Rejected => deposit,
		Fate::Working
		| Fate::Accepted
		| Fate::Idle
		| Fate::Diverged
		| Fate::Undecided
		| Fate::Agreed
		// What it loses was locked beside this.
		| Fate::Revoked => 0,
	}
}
