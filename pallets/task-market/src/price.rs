//! What power costs, and what markets paid.
//!
//! The rule is in [`trainyard_protocol::price`]; here are the two places where it meets jobs. What is posted
//! raises the fee of what comes after it, at once. Where a job ends, what its replicas burned counts as bought
//! and lowers the base; what bought nothing is taken out of what was posted, and pays for its place there by
//! the time: all that a job keeps of the market it pays for, or whoever posts and takes back could make power
//! dear for others for nothing. A job whose trainer lost its deposit pays for no place: that deposit is more.
//!
//! The deposit of a trainer follows what the power is worth to whoever makes blocks, and power is credited for no
//! more than that: what its deposit was fixed for.
//!
//! What seats and challenges cost follows the same market: what computing a `ut` counts as is fixed in the quote. It
//! goes by the base and by what was paid, so nobody moves it by posting, nor by a price without burning fees.
//!
//! A job that earns no power pays no fee and does not count.

use crate::{lost_deposit, Config, Event, Job, Market, Pallet, Prices, Quote, Worth};
use frame_support::traits::Get;
use trainyard_program::{
	needs::MachineClass,
	spec::{CheckedSpec, SpecError},
	work::Parts,
	MicroUt,
};
use trainyard_protocol::{
	job::{Balance, Fate},
	price::{self, ClassPrice, Volumes},
	JobId,
};
use trainyard_traits::TrainerRegistry;

/// What a job that ends bought.
pub(crate) struct Bought {
	/// The fee for each `ut`.
	fee_per_ut: Balance,
	/// What the power for each `ut` was worth when the deposit was fixed.
	quoted: Balance,
	/// What it is worth now.
	worth: Balance,
	/// The volumes before it ends.
	volumes: Volumes,
	/// What the present block mints.
	reward: Balance,
	/// Training whose fee is burned.
	training: MicroUt,
	/// What counts of it as bought: the power that its fee buys. Else work whose fee was fixed when power was
	/// cheap would make power cheap again, for what comes with it.
	counted: MicroUt,
	/// The fee that is burned for it.
	fee: Balance,
}

impl Bought {
	/// Nothing so far.
	pub(crate) fn new<T: Config>(job: &Job<T::AccountId>) -> Self {
		Self {
			fee_per_ut: job.quote.fee_per_ut,
			quoted: job.quote.worth_per_ut,
			worth: Pallet::<T>::worth_per_ut(job.quote.fee_per_ut),
			volumes: Pallet::<T>::volumes(),
			reward: T::BlockReward::get(),
			training: 0,
			counted: 0,
			fee: 0,
		}
	}

	/// Returns the power that the fee for this training buys.
	fn paid_for(&self, training: MicroUt) -> MicroUt {
		self.volumes.credited(self.reward, training, self.fee_per_ut)
	}

	/// Returns the power that this training brings: what its fee buys, and no more than its deposit covers.
	pub(crate) fn power(&self, training: MicroUt) -> MicroUt {
		self.paid_for(training).min(price::covered(training, self.quoted, self.worth))
	}

	/// Adds a replica whose fee is burned.
	pub(crate) fn add(&mut self, worth: &Worth) {
		self.training = self.training.saturating_add(worth.training);
		self.counted = self.counted.saturating_add(self.paid_for(worth.training));
		self.fee = self.fee.saturating_add(worth.fee);
	}
}

impl<T: Config> Pallet<T> {
	/// Returns the volumes of the market as they are now.
	pub fn volumes() -> Volumes {
		Market::<T>::get().aged(Self::now())
	}

	/// Returns the protocol fee for each `ut` of a job that is posted now: nothing where it earns no power.
	pub(crate) fn fee_per_ut(spec: &CheckedSpec, parts: &Parts) -> Result<Balance, SpecError> {
		if !spec.mints_power() {
			return Ok(0);
		}
		let training = parts.training_micro_ut_of(spec, spec.segments())?;
		Ok(Self::volumes().fee(T::BlockReward::get(), training))
	}

	/// Returns what the power for a `ut` of training is worth that is posted now for this fee.
	pub(crate) fn worth_per_ut(fee_per_ut: Balance) -> Balance {
		price::worth(fee_per_ut, T::BlockReward::get(), T::Trainers::training_volume())
	}

	/// Returns what computing a `ut` counts as for a job that is posted now: it follows the base fee and what the
	/// markets of all classes paid, and is `ComputePrice` at most.
	pub(crate) fn compute_per_ut() -> Balance {
		let (base, now) = (Self::volumes().base(T::BlockReward::get()), Self::now());
		let prices = MachineClass::ALL.into_iter().filter_map(Prices::<T>::get);
		let mean = price::mean(prices.map(|price| price.aged(now)));
		price::compute(base, mean, T::ComputePrice::get())
	}

	/// Notes a job that is posted with this quote: the next one pays for what it takes.
	pub(crate) fn note_posted(quote: &Quote) {
		if quote.fee > 0 {
			Market::<T>::put(Self::volumes().post(quote.training));
		}
	}

	/// Notes a job that ends, of which this was bought, and for which a committee sat or `unseated` none. Returns what is burned of the rest of its fee for its
	/// place.
	pub(crate) fn note_ended(
		id: JobId,
		job: &Job<T::AccountId>,
		bought: &Bought,
		unseated: bool,
	) -> Balance {
		let (quote, now) = (&job.quote, Self::now());
		if quote.fee == 0 {
			return 0;
		}
		let age = now.saturating_sub(job.posted);
		let unspent = quote.training.saturating_sub(bought.training);
		let volumes = bought.volumes.take_back(unspent, age).buy(bought.counted);
		Market::<T>::put(volumes);
		if bought.counted > 0 {
			let (machine, paid) = (job.terms.machine, job.terms.price_per_ut);
			Prices::<T>::mutate(machine, |price| {
				*price = Some(ClassPrice::with(*price, paid, bought.counted, now));
			});
		}
		// By lottery a job burns more for a ticket that wins, and nothing for one that does not: on the average what
		// was quoted, so what was accepted pays for no place.
		let burned = if job.terms.lottery.is_some() { 0 } else { bought.fee };
		let place = price::place_fee(Self::owed(job, unseated).saturating_sub(burned), age);
		if place > 0 {
			Self::deposit_event(Event::PlaceCharged { job: id, amount: place });
		}
		place
	}

	/// Returns the fee that a job which ends owes, be it for power or for its place: all of it, but for the
	/// parts of replicas whose trainers lost their deposits, and of those about which a committee decided nothing.
	/// Where none ever sat its submitter named terms, and its trainers delivered, for which nobody could be drawn:
	/// they could have had the place for nothing.
	fn owed(job: &Job<T::AccountId>, unseated: bool) -> Balance {
		let drawn = u32::try_from(job.replicas.len()).unwrap_or(u32::MAX);
		if drawn == 0 {
			return job.quote.fee;
		}
		let each = job.quote.whole().of_each(drawn).fee;
		let drawn_for =
			|fate| job.terms.lottery.is_some() && matches!(fate, Fate::Accepted | Fate::Idle);
		let owes = |fate| {
			lost_deposit(fate, 1) == 0 && (unseated || fate != Fate::Undecided) && !drawn_for(fate)
		};
		let owing = job.replicas.iter().filter(|replica| owes(replica.fate)).count();
		each.saturating_mul(owing as Balance)
	}
}
