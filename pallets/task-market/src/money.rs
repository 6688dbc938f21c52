//! Every unit of money that this pallet holds or moves.
//!
//! What comes in: a submitter's *escrow* for the job and each trainer's *deposit*, both as
//! holds on their own accounts, and the submitter's deposit for the job's *record*, which returns
//! when that is removed. What goes out, all at once when the job ends:
//!
//! - from the escrow: pay of accepted replicas (those that diverged among them) for the segments that
//!   they trained, the part of undecided ones that the terms name, what seats of the audit get back of
//!   what they paid for pieces that their draws read, audit fees earned (a tenth of all of them for those who
//!   found forced errors, or to the jackpot where nobody did), the protocol fee of accepted replicas
//!   that did not diverge, and for the place of what bought nothing ([`crate::price`]; burned), and all the
//!   rest back to the submitter, what an early stop saved
//!   included;
//! - from each deposit: what its replica's fate costs ([`lost_deposit`]), shared out by
//!   [`LostShares`], and the rest back to the trainer, of an accepted one but for a fifth, which is
//!   locked for a week (see [`crate::late`]).
//!
//! What a replica is paid goes to its trainer, or to whoever bought its claim ([`crate::claims`]).
//!
//! A payment never fails in a way that loses money or stops the job: what cannot be
//! delivered (a recipient that would stay below the existential deposit) goes to the
//! jackpot, and where even that cannot be, it is burned; [`Event::Diverted`] says so. The
//! [`Settlement`] books such a payment under its purpose.

use crate::{
	lost_deposit, price::Bought, Claims, Config, Error, Event, Guilty, Hearings, HoldReason, Job,
	Locked, Moved, Pallet, Quote, SpecFault, TotalBurned, Worth,
};
use alloc::{
	collections::{BTreeMap, BTreeSet},
	vec::Vec,
};
use frame_support::{
	defensive, ensure,
	pallet_prelude::DispatchResult,
	storage::with_storage_layer,
	traits::{
		fungible::MutateHold,
		tokens::{Fortitude, Precision, Restriction},
		Get,
	},
};
use trainyard_program::{
	needs::{Needs, Resource, Room},
	spec::{CheckedSpec, JobSpec},
};
use trainyard_protocol::{
	duties,
	fees::{self, LostShares, Rates, Sums, PRIZE_PART},
	job::{
		Balance, Fate, Settlement, Terms, MAX_AUDIT_ROUNDS, MAX_REPLICAS, MAX_VERIFIERS,
		MIN_VERIFIERS,
	},
	lottery::{self, Tickets},
	pieces::PieceSizes,
	seats::Resources,
	JobId, MicroUt,
};
use trainyard_traits::{ClaimPools, Conviction, Outcome, Reputation, TrainerRegistry};

impl<T: Config> Pallet<T> {
	/// Returns the specification, if it is valid.
	pub fn checked(spec: JobSpec) -> Result<CheckedSpec, Error<T>> {
		spec.check().map_err(|error| Error::InvalidSpec(SpecFault(error)))
	}

	/// Returns what a job with this specification and these terms costs; fails with the first rule
	/// that they break.
	pub fn checked_quote(spec: &CheckedSpec, terms: &Terms) -> Result<Quote, Error<T>> {
		let fault = |error| Error::<T>::InvalidSpec(SpecFault(error));
		ensure!((1..=MAX_REPLICAS).contains(&terms.replicas), Error::<T>::BadReplicas);
		let sizes = MIN_VERIFIERS..=MAX_VERIFIERS;
		let odd = terms.verifiers % 2 == 1;
		ensure!(odd && sizes.contains(&terms.verifiers), Error::<T>::BadVerifiers);
		let (draws, all) = (terms.audit_segments, spec.segments());
		let fits = draws <= all && terms.drawing().fits(all, terms.verifiers);
		match terms.lottery {
			Some(one_in) => {
				let possible = lottery::LEAST..=lottery::MOST;
				ensure!(possible.contains(&one_in), Error::<T>::BadLottery);
				ensure!(fits, Error::<T>::BadLotteryDraws);
			}
			None => ensure!(fits, Error::<T>::BadAuditSegments),
		}
		ensure!(terms.price_per_ut > 0, Error::<T>::ZeroPrice);
		ensure!(terms.undecided_percent <= 100, Error::<T>::BadUndecidedPercent);
		ensure!((1..=all).contains(&terms.keep_every), Error::<T>::BadKeepEvery);
		let least = T::MinPeriod::get();
		ensure!(
			(least..=T::MaxApplyBlocks::get()).contains(&terms.apply_blocks)
				&& (least..=T::MaxTrainingBlocks::get()).contains(&terms.training_blocks),
			Error::<T>::BadPeriods
		);
		let (needs, parts) = Needs::and_parts(spec);
		let replays = terms.replays(all);
		Self::check_needs(&needs, replays, terms)?;
		let audit = parts.audit_micro_ut(spec, replays).map_err(fault)?;
		let most = duties::most_work(terms.machine.rate());
		ensure!(audit <= most, Error::<T>::AuditTooLarge);
		// All results may differ, and a verifier checks each of them in the same time.
		let round = audit.checked_mul(MicroUt::from(terms.replicas));
		ensure!(round.is_some_and(|round| round <= most), Error::<T>::ResultsTooLarge);
		let compute = Self::compute_per_ut();
		let least = Self::least_fee(audit, compute).ok_or(Error::<T>::AmountOverflow)?;
		ensure!(terms.audit_fee >= least, Error::<T>::AuditFeeTooLow);
		// What a seat puts at stake follows from its fee: few could have that of a high one.
		let most = fees::most_audit_fee(least);
		ensure!(terms.audit_fee <= most, Error::<T>::AuditFeeTooHigh);
		let fee_per_ut = Self::fee_per_ut(spec, &parts).map_err(fault)?;
		let rates = Rates {
			fee_per_ut,
			worth_per_ut: Self::worth_per_ut(fee_per_ut),
			min_deposit: T::MinDeposit::get(),
			record_base: T::RecordBase::get(),
			record_byte: T::RecordByte::get(),
			storage_byte: T::StorageByte::get(),
			relay_fee: T::RelayFee::get(),
		};
		let lacking =
			needs.lacking(terms.replayed_by_all(all), T::MaxRescue::get(), terms.keep_every);
		let sums = Sums::of(spec, terms, &parts, &lacking, &rates);
		let sums = sums.ok_or(Error::<T>::AmountOverflow)?;
		let disk = needs.disk(replays, terms.replicas);
		let seat = Resources { work: audit, memory_mib: mib(needs.memory()), disk_mib: mib(disk) };
		let dataset = &spec.dataset;
		let sizes = PieceSizes {
			state: needs.checkpoint,
			train_rows: dataset.train_rows,
			validation_rows: dataset.validation_rows,
			features: dataset.features,
			labels_per_row: dataset.labels_per_row(),
			samples: needs.samples,
			keep_every: terms.keep_every,
		};
		let results = Self::results(spec).ok_or(Error::<T>::TooManyResults)?;
		let moved = Moved::of(spec, terms, &needs, &parts);
		ensure!(moved.recompute.round <= duties::MAX_COMMIT_BLOCKS, Error::<T>::RecomputeTooLong);
		Ok(Quote::new(parts, sums, compute, seat, sizes, results, moved))
	}

	/// Fails if a machine of the job's class could not carry it, or if trainers could not store what anybody
	/// may ask them for, and no committee can relay.
	fn check_needs(needs: &Needs, replays: u32, terms: &Terms) -> Result<(), Error<T>> {
		let room = Room { rescue: T::MaxRescue::get(), blob: T::MaxBlob::get() };
		let beside = needs.beside(terms.machine, replays, terms.replicas, room);
		match beside.iter().find(|shortage| shortage.is_exceeded()) {
			None => Ok(()),
			Some(shortage) => Err(match shortage.resource {
				Resource::Memory => Error::<T>::MemoryTooLarge,
				Resource::Rows => Error::<T>::RowsTooLarge,
				Resource::Text => Error::<T>::TextTooLarge,
				Resource::Download => Error::<T>::DownloadTooLarge,
				Resource::Rescue => Error::<T>::RescueTooLarge,
				Resource::Content => Error::<T>::ContentTooLarge,
			}),
		}
	}

	/// Returns the least fee of a verifier that replays this much, where computing a `ut` counts as this: its price, or
	/// `MinAuditFee` where that is more.
	pub(crate) fn least_fee(audit: MicroUt, compute_per_ut: Balance) -> Option<Balance> {
		fees::least_audit_fee(audit, compute_per_ut, T::MinAuditFee::get())
	}

	/// Holds the escrow of a job, and the deposit for its record.
	pub(crate) fn hold_escrow(submitter: &T::AccountId, quote: &Quote) -> DispatchResult {
		T::Currency::hold(&HoldReason::Escrow.into(), submitter, quote.escrow)?;
		T::Currency::hold(&HoldReason::Record.into(), submitter, quote.record)
	}

	/// Gives the deposit for a record back that is removed.
	pub(crate) fn return_record(id: JobId, job: &Job<T::AccountId>) {
		Self::give_back(id, HoldReason::Record, &job.submitter, job.quote.record);
	}

	/// Holds the deposit of a trainer.
	pub(crate) fn hold_deposit(trainer: &T::AccountId, quote: &Quote) -> DispatchResult {
		T::Currency::hold(&HoldReason::Deposit.into(), trainer, quote.deposit)
	}

	/// Gives a trainer that was not drawn, or was displaced, its deposit back.
	pub(crate) fn return_deposit(id: JobId, trainer: &T::AccountId, quote: &Quote) {
		Self::give_back(id, HoldReason::Deposit, trainer, quote.deposit);
	}

	/// Moves all money of a job whose replicas' fates are known, and credits power, by what its audit came
	/// to.
	pub(crate) fn settle(
		id: JobId,
		job: &Job<T::AccountId>,
		outcome: &Outcome<T::AccountId>,
	) -> Settlement {
		let Outcome { served, stored, found, unseated, .. } = outcome;
		let quote = &job.quote;
		let mut settlement = Settlement { escrowed: quote.escrow, ..Settlement::default() };

		// From the escrow.
		let drawn = u32::try_from(job.replicas.len()).unwrap_or(u32::MAX);
		let accepted = job.replicas.iter().any(|r| r.fate.is_true());
		let undecided = Self::undecided_results(job);
		let spec = (accepted || undecided > 0).then(|| Self::spec(id)).flatten();
		let mints_power = spec.as_ref().is_some_and(|spec| spec.mints_power());
		let mut bought = Bought::new::<T>(job);
		// What is paid by tickets, and what of it was proven.
		let all = spec.as_ref().map_or(1, |spec| spec.segments());
		let tickets_of = |who: &T::AccountId| {
			job.terms.lottery?;
			let tickets = outcome.tickets.iter().find(|(trainer, _)| trainer == who);
			let Tickets { paid, proven } = tickets.map_or_else(Tickets::default, |(_, all)| *all);
			Some((quote.of_tickets(paid, all), quote.of_tickets(proven, all)))
		};
		let mut credited = BTreeMap::new();
		let claims = Claims::<T>::take(id);
		// What holders of claims that are no trainers were paid, and the mean where tickets of a true result paid it.
		let mut sold = BTreeMap::<&T::AccountId, (Balance, Option<Balance>)>::new();
		for replica in &job.replicas {
			let pay = match replica.fate {
				Fate::Accepted | Fate::Idle => {
					let segments = replica.segments.unwrap_or(u32::MAX);
					// Replicas of one computation share its power, its fee and its pay, or an owner
					// of several identities would compute once and be paid often.
					let (pay, worth) = match tickets_of(&replica.trainer) {
						Some((paid, proven)) => (paid.of_each(drawn).price, proven.of_each(drawn)),
						None => {
							let worth = Self::worth(job, spec.as_ref(), segments).of_each(drawn);
							(worth.price, worth)
						}
					};
					if mints_power && replica.fate == Fate::Accepted {
						let (who, work) = (&replica.trainer, bought.power(worth.training));
						if let Some(at) = T::Trainers::credit_training(who, work) {
							credited.insert(who, (work, at));
						}
					}
					Self::burn(HoldReason::Escrow, &job.submitter, worth.fee);
					add(&mut settlement.burned, worth.fee);
					bought.add(&worth);
					pay
				}
				// All that was trained is paid. It made no power, so it burns no fee for power, but that
				// for its place: who builds a specification to diverge gains nothing, and costs its
				// trainers nothing.
				Fate::Diverged => {
					let segments = replica.segments.unwrap_or(u32::MAX);
					let paid = tickets_of(&replica.trainer).map(|(paid, _)| paid);
					let worth = paid.unwrap_or_else(|| Self::worth(job, spec.as_ref(), segments));
					worth.of_each(drawn).price
				}
				Fate::Agreed => replica.offer.unwrap_or(0).min(quote.whole().of_each(drawn).price),
				Fate::Undecided => match (undecided, replica.segments) {
					(1.., Some(segments)) => {
						let worth = Self::worth(job, spec.as_ref(), segments).of_each(drawn);
						fees::undecided_pay(worth.price, &job.terms, undecided)
					}
					_ => continue,
				},
				_ => continue,
			};
			let payee = Self::holder(&claims, &replica.trainer);
			Self::pay(id, HoldReason::Escrow, &job.submitter, payee, pay);
			if *payee != replica.trainer {
				let by_tickets = replica.fate.is_true() && job.terms.lottery.is_some();
				let mean = by_tickets.then(|| {
					let segments = replica.segments.unwrap_or(all);
					quote.of_tickets(segments, all).of_each(drawn).price
				});
				sold.insert(&replica.trainer, (pay, mean));
				let (trainer, holder) = (replica.trainer.clone(), payee.clone());
				Self::deposit_event(Event::ClaimPaid { job: id, trainer, holder, amount: pay });
			}
			add(&mut settlement.paid_to_trainers, pay);
		}
		for claim in claims.iter().filter(|claim| claim.holder != claim.trainer) {
			let (got, mean) = sold.get(&claim.trainer).copied().unwrap_or_default();
			T::Pools::paid(id, &claim.trainer, got, mean);
		}
		let place = Self::note_ended(id, job, &bought, *unseated);
		Self::burn(HoldReason::Escrow, &job.submitter, place);
		add(&mut settlement.burned, place);
		// The escrow covers no more.
		let mut storage = quote.storage;
		for (seat, amount) in stored {
			let amount = storage.min(*amount);
			storage = storage.saturating_sub(amount);
			Self::pay(id, HoldReason::Escrow, &job.submitter, seat, amount);
			add(&mut settlement.paid_to_verifiers, amount);
		}
		// The escrow covers this many services; an audit reports no more.
		let covered = job.terms.verifiers.saturating_mul(MAX_AUDIT_ROUNDS);
		let mut services = BTreeMap::<&T::AccountId, u32>::new();
		for verifier in served.iter().take(covered as usize) {
			let count = services.entry(verifier).or_default();
			*count = count.saturating_add(1);
		}
		let mut prize = 0;
		for (verifier, count) in &services {
			let fees = job.terms.audit_fee.saturating_mul(Balance::from(*count));
			// Where there was something to find, a part of all fees is for who found it.
			let part = found.as_ref().map_or(0, |_| fees / PRIZE_PART);
			let fees = fees.saturating_sub(part);
			add(&mut prize, part);
			Self::pay(id, HoldReason::Escrow, &job.submitter, verifier, fees);
			add(&mut settlement.paid_to_verifiers, fees);
		}
		let finders: BTreeSet<&T::AccountId> = found.iter().flatten().collect();
		let each = prize.checked_div(finders.len() as Balance).unwrap_or(0);
		for finder in finders {
			Self::pay(id, HoldReason::Escrow, &job.submitter, finder, each);
			add(&mut settlement.paid_to_verifiers, each);
			prize = prize.saturating_sub(each);
		}
		Self::pay(id, HoldReason::Escrow, &job.submitter, &T::Jackpot::get(), prize);
		settlement.prizes_to_jackpot = prize;
		settlement.refunded = settlement
			.escrowed
			.saturating_sub(settlement.paid_to_trainers)
			.saturating_sub(settlement.paid_to_verifiers)
			.saturating_sub(settlement.prizes_to_jackpot)
			.saturating_sub(settlement.burned);
		Self::give_back(id, HoldReason::Escrow, &job.submitter, settlement.refunded);

		// From the deposits.
		//
		// What checking work costs that was good, or that was settled by agreement, is no loss.
		let delivered = job.replicas.iter().any(|r| r.fate.is_true() || r.fate == Fate::Agreed);
		let checked = settlement.paid_to_verifiers.saturating_add(settlement.prizes_to_jackpot);
		let mut loss = if delivered { 0 } else { checked };
		let hearing = Hearings::<T>::get(id);
		let mut late = Vec::new();
		for replica in &job.replicas {
			let lost = lost_deposit(replica.fate, quote.deposit);
			let kept = quote.deposit.saturating_sub(lost);
			let locked = hearing.map_or(0, |_| Self::locked(replica.fate, kept));
			let free = kept.saturating_sub(locked);
			Self::give_back(id, HoldReason::Deposit, &replica.trainer, free);
			if locked > 0 {
				let (who, credited) = (replica.trainer.clone(), credited.remove(&replica.trainer));
				late.push(Locked { who, deposit: locked, credited });
			}
			if lost == 0 {
				continue;
			}
			let guilt = hearing.and_then(|_| Guilty::<T>::take(id, &replica.trainer));
			let shares = match (&guilt, replica.fate) {
				(Some(guilt), _) => {
					let challenge = hearing.map_or(0, |hearing| hearing.deposit);
					LostShares::of(lost, loss, guilt.proven, challenge)
				}
				(None, Fate::Unavailable) => LostShares::withheld(lost, loss),
				(None, _) => LostShares::unburned(lost, loss),
			};
			loss = loss.saturating_sub(shares.submitter);
			Self::share_out(id, job, &replica.trainer, guilt.as_ref(), &shares);
			add(&mut settlement.slashed, lost);
			add(&mut settlement.slashed_to_submitter, shares.submitter);
			add(&mut settlement.slashed_burned, shares.burned);
			add(&mut settlement.slashed_to_finders, shares.finder);
			add(&mut settlement.slashed_to_jackpot, shares.jackpot);
		}
		if hearing.is_some() {
			settlement.won = Self::settle_disputes(id, job);
			Self::begin_late(id, late.into_iter());
		}
		settlement
	}

	/// Shares out the deposit that a trainer lost, or what is still locked of it.
	pub(crate) fn share_out(
		id: JobId,
		job: &Job<T::AccountId>,
		trainer: &T::AccountId,
		conviction: Option<&Conviction<T::AccountId>>,
		shares: &LostShares,
	) {
		let pay = |to, amount| Self::pay(id, HoldReason::Deposit, trainer, to, amount);
		pay(&job.submitter, shares.submitter);
		for (finder, part) in conviction.into_iter().flat_map(|by| by.halves(shares.finder)) {
			pay(finder, part);
		}
		if conviction.is_some() {
			T::Reputation::found(shares.finder);
		}
		pay(&T::Jackpot::get(), shares.jackpot);
		Self::burn(HoldReason::Deposit, trainer, shares.burned);
	}

	/// Returns what that many segments of a job, trained once, are worth.
	pub(crate) fn worth(job: &Job<T::AccountId>, spec: Option<&JobSpec>, segments: u32) -> Worth {
		spec.map_or(job.quote.whole(), |spec| job.quote.of_segments(spec, &job.terms, segments))
	}

	/// Returns how many distinct results of an ended job are paid the part for undecided ones. None
	/// where another is true: all replicas share the seed, so these are false.
	fn undecided_results(job: &Job<T::AccountId>) -> u32 {
		if job.replicas.iter().any(|r| r.fate.is_true()) {
			return 0;
		}
		let undecided = job.replicas.iter().filter(|r| r.fate == Fate::Undecided);
		let results: BTreeSet<u32> = undecided.filter_map(|r| r.result).collect();
		u32::try_from(results.len()).unwrap_or(u32::MAX)
	}

	/// Moves held money of `from` to the free balance of `to`.
	fn pay(id: JobId, reason: HoldReason, from: &T::AccountId, to: &T::AccountId, amount: Balance) {
		if from == to {
			// A submitter may hold a claim on what it pays.
			Self::give_back(id, reason, to, amount);
		} else if amount > 0 && Self::transfer(reason, from, to, amount).is_err() {
			Self::divert(id, reason, from, to, amount);
		}
	}

	/// Releases held money of `who`.
	pub(crate) fn give_back(id: JobId, reason: HoldReason, who: &T::AccountId, amount: Balance) {
		if amount == 0 {
			return;
		}
		let released = with_storage_layer(|| {
			T::Currency::release(&reason.into(), who, amount, Precision::Exact)
		});
		if released.is_err() {
			Self::divert(id, reason, who, who, amount);
		}
	}

	/// Brings held money that cannot reach `recipient` to the jackpot, or burns it.
	fn divert(
		id: JobId,
		reason: HoldReason,
		from: &T::AccountId,
		recipient: &T::AccountId,
		amount: Balance,
	) {
		let burned = Self::transfer(reason, from, &T::Jackpot::get(), amount).is_err();
		if burned {
			Self::burn(reason, from, amount);
		}
		let recipient = recipient.clone();
		Self::deposit_event(Event::Diverted { job: id, recipient, amount, burned });
	}

	/// Moves exactly `amount` of held money, or nothing.
	fn transfer(
		reason: HoldReason,
		from: &T::AccountId,
		to: &T::AccountId,
		amount: Balance,
	) -> DispatchResult {
		// Freezes do not protect money that its owner has put at stake here.
		with_storage_layer(|| {
			T::Currency::transfer_on_hold(
				&reason.into(),
				from,
				to,
				amount,
				Precision::Exact,
				Restriction::Free,
				Fortitude::Force,
			)
		})
		.map(|_| ())
	}

	/// Burns held money.
	fn burn(reason: HoldReason, from: &T::AccountId, amount: Balance) {
		if amount == 0 {
			return;
		}
		let burned = with_storage_layer(|| {
			T::Currency::burn_held(&reason.into(), from, amount, Precision::Exact, Fortitude::Force)
		});
		match burned {
			Ok(burned) => TotalBurned::<T>::mutate(|total| add(total, burned)),
			Err(_) => {
				defensive!("held money can always be burned");
			}
		}
	}
}

/// Returns that many bytes in MiB, rounded up.
fn mib(bytes: u64) -> u32 {
	u32::try_from(bytes.div_ceil(1_048_576)).unwrap_or(u32::MAX)
}

/// `sum += amount`.
fn add(sum: &mut Balance, amount: Balance) {
	*sum = sum.saturating_add(amount);
}
