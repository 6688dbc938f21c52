//! Claims on pay that are traded: the right to what a replica is paid when its job is settled.
//!
//! A claim is its trainer's until it sells it; whoever holds it is paid by the settlement ([`crate::money`]), whatever
//! the outcome. Everything else stays with the trainer: deposit, power, record, guilt. Nothing here moves what an audit
//! decides, so an owner of both sides gains nothing by a sale to itself.
//!
//! - Only what is audited is sold: before that, `agree` could settle the job at any pay. A *pool* takes claims before
//!   ([`PooledClaims`]), since no ticket is drawn then; it passes on what no verdict decides.
//! - Nothing is sold while some know more than others, and an offer lapses when more is known than when it was made
//!   ([`Known`]). So nobody takes what stands because it saw, in the block in which a seat reveals, what it is worth; and
//!   no holder sells then what it knows to be lost.
//! - Whoever buys names the holder, the result and the height of the offer that it saw: no other offer is taken, also
//!   not one at the same price that was made after some news.
//!
//! A record needs no deposit: a job has one for each replica at most, whose trainer has its own deposit on hold as long,
//! and the settlement removes it.

use crate::{Claim, Claims, ClaimsOf, Config, Error, Event, Job, Jobs, Pallet, WeightInfo};
use alloc::vec::Vec;
use frame_support::{
	ensure,
	pallet_prelude::DispatchResult,
	traits::{fungible::Mutate, tokens::Preservation, Get},
	weights::Weight,
};
use sp_runtime::DispatchError;
use trainyard_protocol::{
	claims::{Asked, ClaimView, ClaimViews, Known, Offer, Pay, Seen},
	job::{Balance, BlockNumber, Fate, JobState, MAX_REPLICAS},
	lottery::Strata,
	JobId,
};
use trainyard_traits::{Audits, ClaimPools, Court, PooledClaims};

impl<T: Config> Pallet<T> {
	/// Returns who is paid for the replica of `trainer`.
	pub(crate) fn holder<'a>(
		claims: &'a ClaimsOf<T::AccountId>,
		trainer: &'a T::AccountId,
	) -> &'a T::AccountId {
		let sold = claims.iter().find(|claim| claim.trainer == *trainer);
		sold.map_or(trainer, |claim| &claim.holder)
	}

	/// Returns the claims of a job, of which `trainer` has a result in its audit.
	fn claims_on(id: JobId, trainer: &T::AccountId) -> Result<ClaimsOf<T::AccountId>, Error<T>> {
		let job = Jobs::<T>::get(id).ok_or(Error::<T>::NoSuchJob)?;
		ensure!(job.state == JobState::Auditing, Error::<T>::ClaimNotAudited);
		let mut working = job.replicas.iter().filter(|r| r.fate == Fate::Working);
		ensure!(working.any(|r| r.trainer == *trainer), Error::<T>::NoSuchClaim);
		Ok(Claims::<T>::get(id))
	}

	/// Returns what is known of the result of `trainer`, and when the last dispute about the job ended. Fails where some
	/// may know more than the chain.
	fn tradable(
		id: JobId,
		trainer: &T::AccountId,
	) -> Result<(Known, Option<BlockNumber>), Error<T>> {
		ensure!(!Self::is_guilty(id, trainer), Error::<T>::NoSuchClaim);
		let known = T::Audits::known(id, trainer).ok_or(Error::<T>::ClaimInMotion)?;
		let standing = T::Court::standing(id);
		ensure!(standing.is_quiet(), Error::<T>::ClaimDisputed);
		Ok((known, standing.ended))
	}

	/// Returns the weight of asking audit and court whether a claim can be sold.
	pub(crate) fn trade_weight() -> Weight {
		T::Audits::known_weight().saturating_add(T::Court::standing_weight())
	}

	/// Returns the weight of paying the holders of the claims of a job, who are other accounts than its trainers, and
	/// of removing them.
	pub(crate) fn claims_weight() -> Weight {
		let replicas = u64::from(MAX_REPLICAS);
		let all = replicas.saturating_add(1);
		T::DbWeight::get()
			.reads_writes(all, all)
			.saturating_add(T::Pools::paid_weight().saturating_mul(replicas))
	}

	/// Puts the claims of a job on record.
	fn put_claims(id: JobId, mut claims: ClaimsOf<T::AccountId>) {
		claims.retain(|claim| claim.holder != claim.trainer || claim.offer.is_some());
		match claims.is_empty() {
			true => Claims::<T>::remove(id),
			false => Claims::<T>::insert(id, claims),
		}
	}

	pub(crate) fn do_offer_claim(
		who: T::AccountId,
		id: JobId,
		trainer: T::AccountId,
		asked: Option<Asked<T::AccountId>>,
	) -> DispatchResult {
		let mut claims = Self::claims_on(id, &trainer)?;
		ensure!(*Self::holder(&claims, &trainer) == who, Error::<T>::NotHolder);
		let Some(asked) = asked else {
			let found = claims.iter_mut().find(|claim| claim.trainer == trainer);
			let offer = found.and_then(|claim| claim.offer.take());
			ensure!(offer.is_some(), Error::<T>::ClaimNotOffered);
			Self::put_claims(id, claims);
			Self::deposit_event(Event::ClaimWithdrawn { job: id, trainer });
			return Ok(());
		};
		ensure!(asked.only.as_ref() != Some(&who), Error::<T>::OwnClaim);
		ensure!(asked.until > Self::now(), Error::<T>::ClaimExpiry);
		let (known, _) = Self::tradable(id, &trainer)?;
		let offer = Some(Offer { asked: asked.clone(), since: Self::now(), known });
		match claims.iter_mut().find(|claim| claim.trainer == trainer) {
			Some(claim) => claim.offer = offer,
			None => {
				let claim = Claim { trainer: trainer.clone(), holder: who.clone(), offer };
				// There is room for one of each replica.
				claims.try_push(claim).map_err(|_| Error::<T>::NoSuchClaim)?;
			}
		}
		Self::put_claims(id, claims);
		Self::deposit_event(Event::ClaimOffered { job: id, trainer, holder: who, asked });
		Ok(())
	}

	pub(crate) fn do_buy_claim(
		buyer: T::AccountId,
		id: JobId,
		trainer: T::AccountId,
		seen: Seen<T::AccountId>,
		most: Balance,
	) -> DispatchResult {
		let mut claims = Self::claims_on(id, &trainer)?;
		let claim = claims.iter_mut().find(|claim| claim.trainer == trainer);
		let claim = claim.ok_or(Error::<T>::ClaimNotOffered)?;
		let offer = claim.offer.take().ok_or(Error::<T>::ClaimNotOffered)?;
		let Seen { holder, root, since } = seen;
		let is_it = claim.holder == holder && offer.known.root == root && offer.since == since;
		ensure!(is_it, Error::<T>::OtherClaim);
		ensure!(holder != buyer, Error::<T>::OwnClaim);
		let Asked { price, only, .. } = &offer.asked;
		ensure!(only.as_ref().is_none_or(|only| *only == buyer), Error::<T>::ClaimNotForYou);
		ensure!(*price <= most, Error::<T>::ClaimTooDear);
		let (known, ended) = Self::tradable(id, &trainer)?;
		ensure!(offer.stands(&known, ended, Self::now()), Error::<T>::ClaimLapsed);
		let price = *price;
		if price > 0 {
			T::Currency::transfer(&buyer, &holder, price, Preservation::Preserve)?;
		}
		claim.holder = buyer.clone();
		Self::put_claims(id, claims);
		Self::deposit_event(Event::ClaimSold { job: id, trainer, seller: holder, buyer, price });
		Ok(())
	}

	/// Returns the most by which the mean of what the replica of each of `drawn` trainers is paid, of a job that pays by
	/// lottery, can be more than what its tickets bring, and the most that one draw of the last ticket moves of all of them
	/// together: their pay, and the protocol fee that a ticket which loses does not burn.
	fn ticket_of(job: &Job<T::AccountId>, one_in: u32, all: u32) -> (Balance, Balance) {
		let drawn = u32::try_from(job.replicas.len()).unwrap_or(u32::MAX);
		let whole = job.quote.of_tickets(one_in, all);
		let ticket = whole.of_each(drawn).price;
		// The rest has fewer segments than a ticket pays; what is rounded down three times is a unit each.
		(ticket.saturating_add(3), ticket.saturating_mul(drawn.into()).saturating_add(whole.fee))
	}

	/// Returns what a replica is paid where its result, with this many segments, is accepted. `tickets` are the segments
	/// for which a lottery pays, once nobody can change that.
	fn pay_of(id: JobId, job: &Job<T::AccountId>, segments: u32, tickets: Option<u32>) -> Pay {
		let drawn = u32::try_from(job.replicas.len()).unwrap_or(u32::MAX);
		let spec = Self::spec(id);
		let Some(one_in) = job.terms.lottery else {
			let pay = Self::worth(job, spec.as_ref(), segments).of_each(drawn).price;
			return Pay { expected: pay, least: pay, most: pay };
		};
		let all = spec.map_or(1, |spec| spec.segments());
		let strata = Strata::new(segments, one_in);
		let of = |segments| job.quote.of_tickets(segments, all).of_each(drawn).price;
		if let Some(paid) = tickets {
			let pay = of(paid);
			return Pay { expected: pay, least: pay, most: pay };
		}
		let least = of(strata.whole().saturating_mul(one_in));
		Pay { expected: of(segments), least, most: of(strata.most()) }
	}

	/// Returns the claims of all results of a job in its audit, for clients; none of another job.
	pub fn claim_views(id: JobId) -> ClaimViews<T::AccountId> {
		let job = Jobs::<T>::get(id).filter(|job| job.state == JobState::Auditing);
		let Some(job) = job else { return Vec::new() };
		let claims = Claims::<T>::get(id);
		let standing = T::Court::standing(id);
		let disputed = !standing.is_quiet();
		let now = Self::now();
		let view = |replica: &crate::Replica<T::AccountId>| {
			let trainer = &replica.trainer;
			let guilty = Self::is_guilty(id, trainer);
			let known = T::Audits::known(id, trainer).filter(|_| !guilty);
			let claim = claims.iter().find(|claim| claim.trainer == *trainer);
			let offer = claim.and_then(|claim| claim.offer.clone());
			let is_open = |offer: &Offer<_>| {
				known.is_some_and(|known| !disputed && offer.stands(&known, standing.ended, now))
			};
			let stands = offer.as_ref().is_some_and(is_open);
			let holder = Self::holder(&claims, trainer).clone();
			let tickets = known.and_then(|_| T::Audits::tickets(id, trainer));
			let pay = Self::pay_of(id, &job, replica.segments.unwrap_or(0), tickets);
			ClaimView { trainer: trainer.clone(), holder, pay, known, disputed, offer, stands }
		};
		let working = job.replicas.iter().filter(|replica| replica.fate == Fate::Working);
		working.map(view).collect()
	}

	/// Returns the numbers of the jobs of which a claim was sold or offered, at most `count` of those after `after`, by
	/// number.
	pub fn claimed_jobs(after: Option<JobId>, count: u32) -> Vec<JobId> {
		let all = Claims::<T>::iter_keys().filter(|id| after.is_none_or(|after| *id > after));
		let mut all: Vec<JobId> = all.collect();
		all.sort_unstable();
		all.truncate(count as usize);
		all
	}
}

impl<T: Config> PooledClaims<T::AccountId> for Pallet<T> {
	/// Who is submitter and trainer, and has a seat, sees whether the last ticket wins when all others have revealed, and
	/// draws again by keeping its seat silent. A pool would pay it the mean of what it takes from the pool in that way. So
	/// one draw may move no more than silence costs, of all replicas together: these have luck of their own, and one seat
	/// moves all.
	fn enrol(
		id: JobId,
		trainer: &T::AccountId,
		pool: &T::AccountId,
		by: BlockNumber,
	) -> Result<Balance, DispatchError> {
		let job = Jobs::<T>::get(id).ok_or(Error::<T>::NoSuchJob)?;
		let early = matches!(job.state, JobState::Training | JobState::Revealing);
		ensure!(early, Error::<T>::NotRunning);
		let mut working = job.replicas.iter().filter(|r| r.fate == Fate::Working);
		ensure!(working.any(|r| r.trainer == *trainer), Error::<T>::NotAParty);
		let one_in = job.terms.lottery.ok_or(Error::<T>::NoLottery)?;
		let mut claims = Claims::<T>::get(id);
		ensure!(Self::holder(&claims, trainer) == trainer, Error::<T>::NotHolder);
		let all = Self::spec(id).map_or(1, |spec| spec.segments());
		let (reserve, moved) = Self::ticket_of(&job, one_in, all);
		let silence = T::Audits::silence_cost(job.terms.audit_fee);
		ensure!(moved <= silence, Error::<T>::TicketTooDear);
		ensure!(job.deadline <= by, Error::<T>::ClaimTooLong);
		let claim = Claim { trainer: trainer.clone(), holder: pool.clone(), offer: None };
		// There is room for one of each replica.
		claims.try_push(claim).map_err(|_| Error::<T>::NotAParty)?;
		Claims::<T>::insert(id, claims);
		Ok(reserve)
	}

	fn enrol_weight() -> Weight {
		T::WeightInfo::enrol_claim()
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_enrollable(who: &T::AccountId) -> Option<JobId> {
		crate::benchmarking::enrollable::<T>(who)
	}
}
