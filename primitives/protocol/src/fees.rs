//! What a job costs and what an audit costs.

use crate::{
	job::{Balance, Terms, MAX_AUDIT_ROUNDS, MIN_AUDIT_FEE},
	lottery::Strata,
	pieces::Piece,
	price, relay,
};
use codec::Encode;
use trainyard_program::{
	needs::Lacking,
	spec::{CheckedSpec, JobSpec, SpecError},
	units,
	work::{self, Parts},
	MicroUt,
};

/// The most that computing a `ut` counts as, in the currency's smallest unit: 1 TRY. Fees of seats and deposits of
/// challenges go by what it counts as in the quote of a job, which [follows the market](price::compute) and is this
/// much while less than 220,000 `ut` are bought in ten days.
pub const COMPUTE_PRICE: Balance = 1_000_000_000_000;
/// Least deposit of a trainer, before the audit fees: 1 TRY.
pub const MIN_DEPOSIT: Balance = 1_000_000_000_000;
/// Deposit for the record of a job, besides its specification: five entries and 3,000 bytes, with
/// the commitments, reveals and verdicts, 0.35 TRY.
pub const RECORD_BASE: Balance = 350_000_000_000;
/// Deposit for each byte of the specification on record: 0.0001 TRY.
pub const RECORD_BYTE: Balance = 100_000_000;
/// Price of storing a byte on chain: about what a chunk's transaction pays for its length
/// (0.0000001 TRY) and for hashing and storing it (three quarters of that or a little more, by the
/// machine on which the weights were measured).
pub const STORAGE_BYTE: Balance = 175_000;
/// The part of all fees of an audit that is for those who found forced errors: one of so many.
pub const PRIZE_PART: Balance = 10;
/// What a seat of a relay earns for each 4 GiB: it fetches them, keeps them for hours, and serves them.
/// 0.5 TRY.
pub const RELAY_FEE: Balance = 500_000_000_000;
/// What the deposit of a challenge is beside the price of a defence: 3 TRY for the fees of the
/// defendant's moves, and 3 TRY for what they keep in the state.
pub const CHALLENGE_BASE: Balance = 6_000_000_000_000;
/// What the transactions of who convicts somebody that was silent cost at most: its commitment, its challenge,
/// and what ends the dispute. 0.25 TRY.
pub const SILENT_FEES: Balance = 250_000_000_000;
/// Most fee of a verifier, as a multiple of the least one of the same job. What a seat puts at stake follows
/// its fee, and a submitter could otherwise name one whose stake only friends have.
pub const MOST_AUDIT_FEE: Balance = 4;
/// What is offered to a verifier above the least fee where nothing is named: one part of it in so many.
pub const OFFERED_PART: Balance = 100;
/// A trainer's deposit as a multiple of the larger of price and [worth of the power](price::worth) that is
/// paid for. No attack that an audit can miss pays with it, for shares of power and of bonds up to 40 %: `tools/slots/court.py` computes it.
pub const DEPOSIT_MULTIPLE: Balance = 3;
/// What each further replica adds to the pay of all, as a part of the price in percent. One owner of
/// several computes once, and honest replicas are insurance: each is one more chance that a result
/// comes in time.
pub const REPLICA_PERCENT: Balance = 15;

/// Amounts of a chain from which the sums of a job follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
	/// Protocol fee for one `ut` of training, for this job: [`price::Volumes::fee`], or nothing where the
	/// job earns no power.
	pub fee_per_ut: Balance,
	/// What the power for one `ut` of it is worth: [`price::worth`].
	pub worth_per_ut: Balance,
	/// Least deposit of a trainer, before the audit fees.
	pub min_deposit: Balance,
	/// Deposit for the record of a job, besides its specification.
	pub record_base: Balance,
	/// Deposit for each byte of the specification on record.
	pub record_byte: Balance,
	/// Price of storing a byte on chain.
	pub storage_byte: Balance,
	/// What a seat of a relay earns for each 4 GiB.
	pub relay_fee: Balance,
}

impl Rates {
	/// The rates of this project's runtime, with the fee of a chain on which nobody has trained.
	pub const RUNTIME: Rates = Rates {
		fee_per_ut: price::FIRST_FEE,
		worth_per_ut: price::FIRST_FEE * price::POWER_WORTH,
		min_deposit: MIN_DEPOSIT,
		record_base: RECORD_BASE,
		record_byte: RECORD_BYTE,
		storage_byte: STORAGE_BYTE,
		relay_fee: RELAY_FEE,
	};

	/// Returns the same for a job: one that earns no power pays no fee for it.
	pub fn runtime_for(spec: &JobSpec) -> Rates {
		match spec.mints_power() {
			true => Self::RUNTIME,
			false => Rates { fee_per_ut: 0, worth_per_ut: 0, ..Self::RUNTIME },
		}
	}
}

/// The sums of a whole job, even where it may stop early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums {
	/// Work of one replica: steps and evaluations.
	pub work: MicroUt,
	/// The part of it that is training steps. All replicas together are credited this as power.
	pub training: MicroUt,
	/// Price of the work, done once.
	pub price: Balance,
	/// Protocol fee for a `ut` of training.
	pub fee_per_ut: Balance,
	/// What the power for a `ut` of training is worth.
	pub worth_per_ut: Balance,
	/// Protocol fee of all replicas together.
	pub fee: Balance,
	/// The part of the escrow for what seats get back of what they paid for pieces that their draws
	/// read: half of the price of storing them, for each replica. It also has what relays may cost that
	/// found what they should: of samples, and where no rescue carries a state, or all rows, of these
	/// ([`relays_of`]), for each replica.
	pub storage: Balance,
	/// Held from the submitter until the job ends: the pay of all replicas and the fee, both the most that
	/// [tickets](crate::lottery) can bring where the job pays so, the fees of a full committee for all rounds that an
	/// audit may take, and `storage`.
	pub escrow: Balance,
	/// Held from each trainer until the job ends: [`DEPOSIT_MULTIPLE`] times the larger of the price and what
	/// the power is [worth](price::worth) at most, or of what one [ticket](crate::lottery) brings, or the least deposit
	/// where that is more, and the same audit fees. So a cheat's deposit always
	/// covers the submitter's loss.
	pub deposit: Balance,
	/// Held from the submitter until the record of the job is removed.
	pub record: Balance,
}

impl Sums {
	/// Returns the sums of a job, whose parts these are and of which seats can lack this of a result;
	/// `None` where one leaves its range.
	pub fn of(
		spec: &JobSpec,
		terms: &Terms,
		parts: &Parts,
		lacking: &Lacking,
		rates: &Rates,
	) -> Option<Self> {
		let segments = spec.segments();
		let work = parts.micro_ut_of(spec, segments).ok()?;
		let training = parts.training_micro_ut_of(spec, segments).ok()?;
		let price = units::price(work, terms.price_per_ut)?;
		let fee = units::price(training, rates.fee_per_ut)?;
		let services = terms.verifiers.checked_mul(MAX_AUDIT_ROUNDS)?;
		let audit = terms.audit_fee.checked_mul(Balance::from(services))?;
		let strata = terms.lottery.map(|one_in| Strata::new(segments, one_in));
		// Whatever wins is paid.
		let most = |amount| strata.map_or(Some(amount), |strata| strata.most_of(amount));
		let pay = pay_of_all(most(price)?, terms.replicas)?;
		let half = half_of_storing(lacking.stored, rates.storage_byte)?;
		let relays = relays_of(lacking, relay::Fees::of(rates.relay_fee, price))?;
		let storage = half.checked_add(relays)?.checked_mul(Balance::from(terms.replicas))?;
		let escrow = pay.checked_add(most(fee)?)?.checked_add(audit)?.checked_add(storage)?;
		let worth = units::price(training, rates.worth_per_ut)?;
		// One false ticket must cost more than it brings, and may be worth more than all segments.
		let gain = most(price.max(worth))?;
		let stake = gain.checked_mul(DEPOSIT_MULTIPLE)?;
		let deposit = rates.min_deposit.max(stake).checked_add(audit)?;
		let bytes = rates.record_byte.checked_mul(spec.encoded_size() as Balance)?;
		let record = rates.record_base.checked_add(bytes)?;
		let Rates { fee_per_ut, worth_per_ut, .. } = *rates;
		Some(Self {
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
		})
	}
}

/// Returns what the escrow of a job has for relays of each replica's result, of which seats can lack this.
/// `None` on overflow.
pub fn relays_of(lacking: &Lacking, fees: relay::Fees) -> Option<Balance> {
	let rows = Piece::Rows { from: 0, to: u32::MAX };
	fees.escrowed(&Piece::State(0), lacking.relayed)?
		.checked_add(fees.escrowed(&rows, lacking.relayed_rows)?)?
		.checked_add(fees.escrowed(&Piece::Samples, lacking.samples)?)
}

/// Returns half of the price of storing that many bytes on chain, rounded down: what a trainer gets
/// for what it stored because somebody asked for it. `None` on overflow.
pub fn half_of_storing(bytes: u64, byte: Balance) -> Option<Balance> {
	Balance::from(bytes).checked_mul(byte)?.checked_div(2)
}

/// Returns the pay of all of `replicas` replicas together, of work of this price: the price, and
/// [`REPLICA_PERCENT`] of it for each replica after the first, rounded down. `None` on overflow.
pub fn pay_of_all(price: Balance, replicas: u32) -> Option<Balance> {
	let more = Balance::from(replicas.saturating_sub(1)).checked_mul(REPLICA_PERCENT)?;
	price.checked_mul(more)?.checked_div(100)?.checked_add(price)
}

/// Returns the pay of each accepted one of `replicas` replicas: an equal part of [`pay_of_all`],
/// rounded down. What is left of the division, and the part of a replica that is not accepted, is
/// the submitter's.
pub fn pay_of_each(price: Balance, replicas: u32) -> Balance {
	let all = pay_of_all(price, replicas).unwrap_or(price);
	all.checked_div(Balance::from(replicas)).unwrap_or(0)
}

/// Returns what the trainer of an undecided replica is paid, which would be paid `pay` if it were
/// accepted: the part that the terms name, divided by how many distinct `results` are undecided,
/// rounded down. At most one of them is true, and nobody knows which, so all together cost at most
/// the part of one.
pub fn undecided_pay(pay: Balance, terms: &Terms, results: u32) -> Balance {
	let percent = Balance::from(terms.undecided_percent.min(100));
	let (hundredths, rest) = (pay / 100, pay % 100);
	// Both factors are bounded: the sum is at most `pay`.
	let rest = rest.saturating_mul(percent) / 100;
	let part = hundredths.saturating_mul(percent).saturating_add(rest);
	part.checked_div(Balance::from(results)).unwrap_or(0)
}

/// Returns the price of a `ut` that a trainer of one of `replicas` replicas is paid, rounded down.
pub fn paid_per_ut(terms: &Terms) -> Balance {
	pay_of_each(terms.price_per_ut, terms.replicas)
}

/// Returns the highest that the least fee of a verifier can be for one round of a job with these terms, of which
/// neither the fee nor the price is looked at: the price of [`work::audit_micro_ut`] of all that it replays of a
/// result at [`COMPUTE_PRICE`], rounded up; or [`MIN_AUDIT_FEE`] where that is less. Whoever pays only themselves
/// could name any price. What the least is now follows the market, and a chain says it. Fails with
/// [`SpecError::WorkOverflow`] where the work or the fee leaves its range.
pub fn audit_fee(spec: &CheckedSpec, terms: &Terms) -> Result<Balance, SpecError> {
	let work = work::audit_micro_ut(spec, terms.replays(spec.segments()))?;
	least_audit_fee(work, COMPUTE_PRICE, MIN_AUDIT_FEE).ok_or(SpecError::WorkOverflow)
}

/// Returns the least fee of a verifier that replays `audit` in one round, where computing a `ut` costs this and
/// no fee is below `least`; `None` on overflow.
pub fn least_audit_fee(audit: MicroUt, compute_price: Balance, least: Balance) -> Option<Balance> {
	Some(units::price(audit, compute_price)?.max(least))
}

/// Returns the fee of a verifier for who names none and was quoted this `least`, where it can be `highest` at most
/// ([`audit_fee`]): a hundredth more, rounded up. The base fee rises by a tenth in a day where nothing is trained, and
/// the least with it, so this is enough for two hours; what was named too low is refused.
pub fn offered_audit_fee(least: Balance, highest: Balance) -> Balance {
	least.saturating_add(least.div_ceil(OFFERED_PART)).min(highest.max(least))
}

/// Returns the most that a fee of a verifier may be, whose `least` is this: [`MOST_AUDIT_FEE`] times that.
pub fn most_audit_fee(least: Balance) -> Balance {
	least.saturating_mul(MOST_AUDIT_FEE)
}

/// Returns the deposit of a challenge to a result of this job, whose parts these are: what a defence
/// costs at most. That is [`CHALLENGE_BASE`] and the price of [`Parts::defence_flop`] where computing a `ut`
/// costs this, rounded up. The job's own price is not looked at: with a high one its submitter could price
/// out everybody who would challenge or verify. `None` on overflow.
pub fn challenge_deposit(spec: &JobSpec, parts: &Parts, compute_price: Balance) -> Option<Balance> {
	let work = units::micro_ut(parts.defence_flop(spec).ok()?)?;
	units::price(work, compute_price)?.checked_add(CHALLENGE_BASE)
}

/// Returns the most that a finder has where the defendant was silent and nothing was proven, where the deposit
/// of a challenge is `challenge`: what the computing and the transactions cost it. Whoever keeps somebody from
/// answering earns nothing by that.
pub fn most_for_silence(challenge: Balance) -> Balance {
	let computing = challenge.saturating_sub(CHALLENGE_BASE);
	computing.saturating_add(SILENT_FEES).min(challenge)
}

/// The part of a trainer's deposit that stays locked for late proof when its result is accepted: one in
/// so many.
pub const LATE_PART: Balance = 5;

/// Returns how much of the deposit of a trainer whose result was accepted stays locked for a week: a
/// fifth, rounded down.
pub fn locked_for_late_proof(deposit: Balance) -> Balance {
	deposit / LATE_PART
}

/// How a trainer's lost deposit is shared out, or what a seat loses that the court convicted. All of it
/// together is what is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostShares {
	/// For the submitter, up to its loss.
	pub submitter: Balance,
	/// Burned: half of the rest, so that nobody earns all of it back by accusing itself.
	pub burned: Balance,
	/// For the finder.
	pub finder: Balance,
	/// For the jackpot.
	pub jackpot: Balance,
}

impl LostShares {
	/// Shares out `lost`. The submitter is made whole first, up to its `loss`. Of the rest half is
	/// burned. The finder has a quarter where it `proved` the fraud; where the defendant was silent no
	/// more than it [cost](most_for_silence), where `challenge` is the deposit of a challenge. The jackpot has
	/// what is left.
	pub fn of(lost: Balance, loss: Balance, proved: bool, challenge: Balance) -> Self {
		let Self { submitter, jackpot: rest, .. } = Self::unburned(lost, loss);
		let (burned, quarter) = (rest / 2, rest / 4);
		let finder = if proved { quarter } else { quarter.min(most_for_silence(challenge)) };
		let jackpot = rest.saturating_sub(burned).saturating_sub(finder);
		Self { submitter, burned, finder, jackpot }
	}

	/// Shares out the deposit of a trainer that did not store what somebody asked for: as of one that was
	/// convicted, but nobody has a part for having asked.
	pub fn withheld(lost: Balance, loss: Balance) -> Self {
		Self::of(lost, loss, false, 0)
	}

	/// Shares out the deposit of a trainer that did not deliver: what the submitter does not need is the
	/// jackpot's.
	pub fn unburned(lost: Balance, loss: Balance) -> Self {
		let submitter = lost.min(loss);
		let jackpot = lost.saturating_sub(submitter);
		Self { submitter, burned: 0, finder: 0, jackpot }
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	const TRY: Balance = 1_000_000_000_000;

	fn terms(replicas: u32) -> Terms {
		Terms {
			price_per_ut: TRY,
			replicas,
			verifiers: 3,
			audit_segments: 4,
			audit_fee: TRY / 20,
			apply_blocks: 10,
			training_blocks: 60,
			machine: Default::default(),
			undecided_percent: 20,
			keep_every: 1,
			lottery: None,
		}
	}

	fn sums(spec: &JobSpec, terms: &Terms) -> Option<Sums> {
		let parts = Parts::of(&spec.clone().check().unwrap());
		Sums::of(spec, terms, &parts, &RESCUE, &Rates::RUNTIME)
	}

	/// What a rescue brings.
	const RESCUE: Lacking = Lacking { stored: 3_000_001, relayed: 0, relayed_rows: 0, samples: 0 };

	#[test]
	fn storing_costs_by_the_byte() {
		assert_eq!(half_of_storing(3, 5), Some(7));
		assert_eq!(half_of_storing(450 << 20, STORAGE_BYTE), Some(41_287_680_000_000));
		assert_eq!(half_of_storing(2, u128::MAX), None);
	}

	#[test]
	fn an_audit_costs_the_price_of_its_work_and_never_less_than_the_least() {
		let mut spec = JobSpec::example();
		spec.training.checkpoint_interval = 400;
		let spec = spec.check().unwrap();
		let with = |price_per_ut| Terms { audit_segments: 3, price_per_ut, ..terms(1) };
		let work = work::audit_micro_ut(&spec, spec.segments().min(5)).unwrap();
		let least = (u128::from(work) * TRY / 1_000_000).max(MIN_AUDIT_FEE);
		for price in [1, TRY, 1_000 * TRY, u128::MAX] {
			assert_eq!(audit_fee(&spec, &with(price)), Ok(least), "whatever the job pays");
		}
	}

	/// 2 ut of compulsory work cost what the chain itself prices them at.
	#[test]
	fn an_audit_fee_has_a_least_and_a_most() {
		assert_eq!(least_audit_fee(2_000_000, TRY, TRY / 20), Some(2 * TRY));
		assert_eq!(least_audit_fee(10_000, TRY, TRY / 20), Some(TRY / 20));
		assert_eq!(least_audit_fee(2_000_000, u128::MAX, 1), None);
		assert_eq!((most_audit_fee(2 * TRY), most_audit_fee(u128::MAX)), (8 * TRY, u128::MAX));
	}

	/// The least may rise between quote and inclusion, but not above what the most for a ut makes of it.
	#[test]
	fn who_names_no_fee_offers_a_hundredth_more() {
		assert_eq!(offered_audit_fee(TRY, 5 * TRY), TRY + TRY / 100);
		assert_eq!(offered_audit_fee(1, 5), 2, "rounded up");
		assert_eq!(offered_audit_fee(TRY, TRY), TRY, "it cannot rise");
		assert_eq!(offered_audit_fee(TRY, TRY + 5), TRY + 5);
		assert_eq!(offered_audit_fee(TRY, 0), TRY, "a chain that takes more is believed");
		assert_eq!(offered_audit_fee(u128::MAX, u128::MAX), u128::MAX);
		assert_eq!(offered_audit_fee(0, TRY), 0);
		let least = 7 * TRY;
		assert!(offered_audit_fee(least, 100 * TRY) <= most_audit_fee(least));
	}

	#[test]
	fn replicas_are_insurance() {
		assert_eq!(pay_of_all(1_000, 1), Some(1_000));
		assert_eq!(pay_of_all(1_000, 3), Some(1_300));
		assert_eq!(pay_of_all(1_000, 8), Some(2_050));
		assert_eq!((pay_of_each(1_000, 1), pay_of_each(1_000, 3)), (1_000, 433));
		assert_eq!((pay_of_each(1, 8), pay_of_each(0, 3), pay_of_each(7, 0)), (0, 0, 0));
		assert_eq!(pay_of_all(u128::MAX, 2), None);
		for price in [0, 1, 7, 99, 101, TRY + 1, u128::MAX >> 10] {
			for replicas in 1..=8u32 {
				let all = pay_of_all(price, replicas).unwrap();
				let each = pay_of_each(price, replicas);
				let paid = each * u128::from(replicas);
				assert!(paid <= all && all - paid < u128::from(replicas));
				// Fewer than were wanted are never paid more than the escrow has for all.
				let fewer = pay_of_each(price, (replicas - 1).max(1));
				assert!(fewer * u128::from((replicas - 1).max(1)) <= all && fewer >= each);
			}
		}
	}

	/// The first row of the record's table: its job of 1.8 x 10^9 FLOP is the example.
	#[test]
	fn a_challenge_costs_what_a_defence_does() {
		let spec = JobSpec::example();
		let parts = Parts::of(&spec.clone().check().unwrap());
		let deposit = |fee| challenge_deposit(&spec, &parts, fee);
		let work = u128::from(units::micro_ut(parts.defence_flop(&spec).unwrap()).unwrap());
		assert_eq!(deposit(TRY), Some(6 * TRY + work * 1_000_000));
		assert_eq!(deposit(3 * TRY), Some(6 * TRY + 3 * work * 1_000_000));
		assert!(work < 1_000, "0.004 TRY is the price of all of it");
		assert_eq!(deposit(u128::MAX), None);
	}

	#[test]
	fn who_convicts_the_silent_has_what_it_cost() {
		assert_eq!(most_for_silence(CHALLENGE_BASE), SILENT_FEES);
		assert_eq!(most_for_silence(CHALLENGE_BASE + 7 * TRY), 7 * TRY + SILENT_FEES);
		assert_eq!(
			(most_for_silence(60), most_for_silence(0)),
			(60, 0),
			"no more than the deposit"
		);
		let shares = LostShares::of(1_000 * TRY, 0, false, CHALLENGE_BASE + 7 * TRY);
		assert_eq!((shares.burned, shares.finder), (500 * TRY, 7 * TRY + SILENT_FEES));
		assert_eq!(shares.jackpot, 500 * TRY - shares.finder);
	}

	#[test]
	fn what_a_convict_loses_is_shared_by_rule() {
		let shares = |lost, loss, proved| {
			let s = LostShares::of(lost, loss, proved, 60);
			assert_eq!(s.submitter + s.burned + s.finder + s.jackpot, lost);
			(s.submitter, s.burned, s.finder, s.jackpot)
		};
		assert_eq!(shares(1_000, 0, true), (0, 500, 250, 250));
		assert_eq!(shares(1_000, 200, true), (200, 400, 200, 200));
		assert_eq!(shares(1_000, 0, false), (0, 500, 60, 440));
		assert_eq!(shares(100, 0, false), (0, 50, 25, 25));
		assert_eq!(shares(1_003, 0, true), (0, 501, 250, 252), "what does not divide");
		assert_eq!(shares(100, 300, true), (100, 0, 0, 0));
		let of = |s: LostShares| (s.submitter, s.burned, s.finder, s.jackpot);
		assert_eq!(of(LostShares::withheld(1_003, 200)), (200, 401, 0, 402));
		assert_eq!(of(LostShares::unburned(1_003, 200)), (200, 0, 0, 803));
		assert_eq!(of(LostShares::unburned(100, 300)), (100, 0, 0, 0));
	}

	#[test]
	fn a_fifth_stays_locked() {
		let locked = [0, 4, 5, 99, 100, 103].map(locked_for_late_proof);
		assert_eq!(locked, [0, 0, 1, 19, 20, 20]);
		assert_eq!(locked_for_late_proof(u128::MAX), u128::MAX / 5);
	}

	#[test]
	fn undecided_results_share_one_part() {
		let terms = |undecided_percent| Terms { undecided_percent, ..terms(1) };
		assert_eq!(undecided_pay(1_000, &terms(20), 1), 200);
		assert_eq!(undecided_pay(1_000, &terms(20), 3), 66);
		assert_eq!(
			(undecided_pay(999, &terms(100), 1), undecided_pay(999, &terms(0), 1)),
			(999, 0)
		);
		assert_eq!((undecided_pay(99, &terms(1), 1), undecided_pay(7, &terms(20), 0)), (0, 0));
		assert_eq!(undecided_pay(u128::MAX, &terms(100), 1), u128::MAX);
		assert_eq!(undecided_pay(u128::MAX, &terms(255), 1), u128::MAX, "never more than the pay");
		assert_eq!(undecided_pay(1_050, &terms(33), 1), 346);
	}

	#[test]
	fn the_sums_of_a_job() {
		let spec = JobSpec::example();
		let one = sums(&spec, &terms(1)).unwrap();
		let checked = spec.clone().check().unwrap();
		let parts = Parts::of(&checked);
		assert_eq!(one.work, work::micro_ut(&checked).unwrap());
		assert_eq!(u128::from(one.training), (1_500 * parts.step).div_ceil(432_000));
		assert!(one.training < one.work, "evaluations are paid");
		assert_eq!(one.price, u128::from(one.work) * 1_000_000);
		assert_eq!(one.fee, u128::from(one.training) * 432_000);
		let audit = 9 * TRY / 20;
		assert_eq!(one.storage, 262_500_087_500);
		assert_eq!(one.escrow, one.price + one.fee + audit + one.storage);
		assert_eq!(one.deposit, TRY + audit, "the stake is below the least");
		assert_eq!(one.record, RECORD_BASE + RECORD_BYTE * spec.encode().len() as u128);
		let three = sums(&spec, &terms(3)).unwrap();
		assert_eq!(three.escrow, one.escrow + one.price * 30 / 100 + 2 * one.storage);
		assert_eq!((three.price, three.fee, three.deposit), (one.price, one.fee, one.deposit));
		// A state that no rescue carries: 123 fees of seats for each replica, and twice that above 4 GiB.
		for (relayed, fees) in [(1, 123), (4 << 30, 123), ((4 << 30) + 1, 246)] {
			let large = Lacking { relayed, ..RESCUE };
			let large = Sums::of(&spec, &terms(3), &parts, &large, &Rates::RUNTIME).unwrap();
			assert_eq!(large.storage - three.storage, 3 * fees * TRY / 2);
			assert_eq!(large.escrow - three.escrow, large.storage - three.storage);
			// Rows are one piece more.
			let both = Lacking { relayed, relayed_rows: relayed, ..RESCUE };
			let both = Sums::of(&spec, &terms(3), &parts, &both, &Rates::RUNTIME).unwrap();
			assert_eq!(both.storage - three.storage, 2 * (large.storage - three.storage));
		}
		// Samples of all states: a tenth of that.
		let sampled = Lacking { samples: 1, ..RESCUE };
		let cheap = Sums::of(&spec, &terms(1), &parts, &sampled, &Rates::RUNTIME).unwrap();
		assert_eq!(cheap.storage - one.storage, 123 * TRY / 20);
		let dear = Terms { price_per_ut: 1_000_000 * TRY, ..terms(1) };
		let relayed = Sums::of(&spec, &dear, &parts, &sampled, &Rates::RUNTIME).unwrap();
		let least = relayed.price / relay::PRICE_PART;
		assert!(least > TRY / 2, "a part of the price");
		assert_eq!(relayed.storage - one.storage, 123 * least);
		let dear = Terms { price_per_ut: 1_000 * TRY, ..terms(1) };
		let dear = sums(&spec, &dear).unwrap();
		assert_eq!(dear.deposit, 3 * dear.price + audit);
		let cheap = Terms { price_per_ut: 1, ..terms(1) };
		// Power of which the price is no part of what it is worth.
		let (fee_per_ut, worth_per_ut) = (1_000 * TRY, 40_000 * TRY);
		let costly = Rates { fee_per_ut, worth_per_ut, ..Rates::RUNTIME };
		let cheap = Sums::of(&spec, &cheap, &parts, &RESCUE, &costly).unwrap();
		assert_eq!(cheap.deposit, 120 * cheap.fee + audit, "three times what the power is worth");
		assert_eq!((cheap.fee_per_ut, cheap.worth_per_ut), (fee_per_ut, worth_per_ut));
		assert_eq!(sums(&spec, &Terms { price_per_ut: u128::MAX, ..terms(1) }), None);
	}
}
