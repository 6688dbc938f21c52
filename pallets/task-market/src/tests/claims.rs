//! Claims on pay that are traded: who may sell what, when, and who is paid.

use crate::{mock::*, Claims, Error, Event, Guilty, HoldReason};
use frame_support::{assert_noop, assert_ok};
use sp_runtime::{DispatchError, DispatchResult, TokenError};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	audit::Decision,
	claims::{Asked, Pay, Seen},
	job::{Balance, BlockNumber, Ending, Fate, JobState, Terms},
	lottery::{share, Tickets},
	reputation::{Deed, Role},
	JobId, H256,
};
use trainyard_traits::Conviction;

/// A price below what a replica is paid.
const PRICE: Balance = 7_000;
/// Who buys.
const BUYER: AccountId = OTHER;
/// Who buys it from that one.
const SECOND: AccountId = 21;

fn offer_to(
	who: AccountId,
	id: JobId,
	trainer: AccountId,
	price: Balance,
	only: Option<AccountId>,
) -> DispatchResult {
	let asked = Some(Asked { price, until: BlockNumber::MAX, only });
	TaskMarket::offer_claim(RuntimeOrigin::signed(who), id, trainer, asked)
}

fn offer(id: JobId, trainer: AccountId) -> DispatchResult {
	offer_to(trainer, id, trainer, PRICE, None)
}

fn withdraw(who: AccountId, id: JobId, trainer: AccountId) -> DispatchResult {
	TaskMarket::offer_claim(RuntimeOrigin::signed(who), id, trainer, None)
}

/// What anybody sees of the offer that stands.
fn seen(id: JobId, trainer: AccountId) -> Seen<AccountId> {
	let claims = Claims::<Test>::get(id);
	let claim = claims.iter().find(|claim| claim.trainer == trainer).unwrap();
	let offer = claim.offer.as_ref().unwrap();
	Seen { holder: claim.holder, root: offer.known.root, since: offer.since }
}

fn buy_as(buyer: AccountId, id: JobId, seen: Seen<AccountId>, most: Balance) -> DispatchResult {
	TaskMarket::buy_claim(RuntimeOrigin::signed(buyer), id, 11, seen, most)
}

fn buy(buyer: AccountId, id: JobId) -> DispatchResult {
	buy_as(buyer, id, seen(id, 11), PRICE)
}

/// Who holds the claim of trainer 11.
fn holder(id: JobId) -> AccountId {
	*TaskMarket::holder(&Claims::<Test>::get(id), &11)
}

/// A job in its audit, with one result, whose claim [`BUYER`] has bought.
fn sold() -> JobId {
	let id = auditing(&[(11, 1)]);
	assert_ok!(offer(id, 11));
	assert_ok!(buy(BUYER, id));
	id
}

/// Ends the audit so.
fn ended(id: JobId, decision: Decision) {
	decide(id, &[decision], &VERIFIERS);
	run_to_end(id);
}

#[test]
fn a_claim_is_offered_sold_and_paid_to_its_holder() {
	run(|| {
		let id = auditing(&[(11, 1)]);
		let pay = job(id).quote.price;
		assert!(Claims::<Test>::get(id).is_empty());
		assert_ok!(offer(id, 11));
		let asked = Asked { price: PRICE, until: BlockNumber::MAX, only: None };
		let offered = Event::ClaimOffered { job: id, trainer: 11, holder: 11, asked };
		assert!(events().contains(&offered));
		assert_eq!(holder(id), 11, "nothing is sold yet");

		assert_ok!(buy(BUYER, id));
		assert_eq!(
			(free(11), free(BUYER)),
			(ENDOWMENT - job(id).quote.deposit + PRICE, ENDOWMENT - PRICE)
		);
		let sold =
			Event::ClaimSold { job: id, trainer: 11, seller: 11, buyer: BUYER, price: PRICE };
		assert!(events().contains(&sold));
		assert_eq!(holder(id), BUYER);

		ended(id, Decision::Accepted);
		assert_eq!(free(BUYER), ENDOWMENT - PRICE + pay);
		assert_eq!(free(11), ENDOWMENT + PRICE, "the deposit is its own, and the pay is not");
		assert!(Claims::<Test>::get(id).is_empty());
		let paid = Event::ClaimPaid { job: id, trainer: 11, holder: BUYER, amount: pay };
		assert!(events().contains(&paid));
		assert_eq!(job(id).settlement.paid_to_trainers, pay);
		// Power and record are the trainer's.
		assert_eq!(Credited::get(), [(11, job(id).quote.training)]);
		let done = |(role, who, deed, _): &(Role, AccountId, Deed, Balance)| {
			(*role, *who, *deed) == (Role::Trainer, 11, Deed::Done)
		};
		assert!(Noted::get().iter().any(done));
	});
}

/// Whatever becomes of a result, the settlement of a job whose claim was sold is that of one whose was not, but for who
/// is paid.
#[test]
fn every_outcome_pays_the_holder_what_the_trainer_would_have() {
	let outcomes: [(Decision, Fate); 5] = [
		(Decision::Accepted, Fate::Accepted),
		(Decision::Idle, Fate::Idle),
		(Decision::Undecided, Fate::Undecided),
		(Decision::Rejected, Fate::Rejected),
		(Decision::Unavailable, Fate::Unavailable),
	];
	for lottery in [None, Some(20)] {
		for (decision, fate) in outcomes {
			let play = |sells: bool| {
				run(|| {
					let id = post_with(SUBMITTER, Terms { lottery, ..terms(1) });
					apply(id, &[11]);
					run_to_state(id, JobState::Training);
					audited(id, &[(11, 1)]);
					if sells {
						assert_ok!(offer(id, 11));
						assert_ok!(buy(BUYER, id));
					}
					AuditBook::mutate(|book| {
						let tickets = Tickets { paid: 40, proven: 20 };
						book.get_mut(&id).unwrap().outcome.tickets = vec![(11, tickets)];
					});
					ended(id, decision);
					assert_eq!(job(id).replicas[0].fate, fate);
					(free(11), free(BUYER), free(SUBMITTER), job(id).settlement, Credited::get())
				})
			};
			let (trainers, _, submitters, settlement, power) = play(false);
			let (with, buyers, same, sold, same_power) = play(true);
			let pay = settlement.paid_to_trainers;
			assert_eq!((sold, same, same_power), (settlement, submitters, power), "{fate:?}");
			assert_eq!((with, buyers), (trainers - pay + PRICE, ENDOWMENT - PRICE + pay));
			let earns = matches!(fate, Fate::Accepted | Fate::Idle | Fate::Undecided);
			assert_eq!(pay > 0, earns, "{fate:?}");
		}
	}
}

/// What diverged is paid, too.
#[test]
fn what_diverged_is_paid_to_the_holder() {
	run(|| {
		let id = training(&[11]);
		commit(id, 11);
		run_to_state(id, JobState::Revealing);
		reveal_diverged(id, 11, 1, 9);
		run_to_state(id, JobState::Auditing);
		assert_ok!(offer(id, 11));
		assert_ok!(buy(BUYER, id));
		ended(id, Decision::Accepted);
		let pay = job(id).settlement.paid_to_trainers;
		assert_eq!(job(id).replicas[0].fate, Fate::Diverged);
		assert!(pay > 0);
		assert_eq!(free(BUYER), ENDOWMENT - PRICE + pay);
	});
}

/// Of two replicas each claim goes its own way.
#[test]
fn the_claims_of_a_job_are_apart() {
	run(|| {
		let id = auditing(&[(11, 1), (12, 1)]);
		let (first, other) = (job(id).replicas[0].trainer, job(id).replicas[1].trainer);
		assert_ok!(offer(id, 11));
		assert_ok!(offer_to(12, id, 12, 9_000, None));
		assert_ok!(buy(BUYER, id));
		assert_eq!(Claims::<Test>::get(id).len(), 2);
		assert_ok!(withdraw(12, id, 12));
		assert_eq!(Claims::<Test>::get(id).len(), 1);
		ended(id, Decision::Accepted);
		let each = job(id).settlement.paid_to_trainers / 2;
		assert!(each > 0 && [first, other].contains(&12));
		assert_eq!((free(BUYER), free(12)), (ENDOWMENT - PRICE + each, ENDOWMENT + each));
	});
}

#[test]
fn a_claim_is_sold_again() {
	run(|| {
		let id = sold();
		assert_noop!(offer(id, 11), Error::<Test>::NotHolder);
		assert_ok!(offer_to(BUYER, id, 11, 8_000, None));
		let seen = seen(id, 11);
		assert_eq!(seen.holder, BUYER);
		assert_ok!(buy_as(SECOND, id, seen, 8_000));
		assert_eq!((holder(id), free(BUYER)), (SECOND, ENDOWMENT - PRICE + 8_000));
		// Its trainer buys it back, and nothing of it is left on record.
		assert_ok!(offer_to(SECOND, id, 11, 1, None));
		assert_ok!(buy(11, id));
		assert!(Claims::<Test>::get(id).is_empty());
		ended(id, Decision::Accepted);
		let pay = job(id).settlement.paid_to_trainers;
		assert_eq!(free(11), ENDOWMENT + PRICE - 1 + pay);
	});
}

#[test]
fn a_claim_is_given_away() {
	run(|| {
		let id = auditing(&[(11, 1)]);
		assert_ok!(offer_to(11, id, 11, 0, Some(BUYER)));
		assert_ok!(buy_as(BUYER, id, seen(id, 11), 0));
		assert_eq!((holder(id), free(BUYER)), (BUYER, ENDOWMENT));
	});
}

#[test]
fn an_offer_is_replaced_and_withdrawn() {
	run(|| {
		let id = auditing(&[(11, 1)]);
		assert_noop!(withdraw(11, id, 11), Error::<Test>::ClaimNotOffered);
		assert_ok!(offer(id, 11));
		assert_ok!(offer_to(11, id, 11, 9_000, Some(BUYER)));
		let claims = Claims::<Test>::get(id);
		assert_eq!(claims.len(), 1);
		let asked = Asked { price: 9_000, until: BlockNumber::MAX, only: Some(BUYER) };
		assert_eq!(claims[0].offer.as_ref().unwrap().asked, asked);
		let seen = seen(id, 11);
		assert_noop!(withdraw(BUYER, id, 11), Error::<Test>::NotHolder);
		// Also while nothing can be sold.
		News::set(None);
		assert_ok!(withdraw(11, id, 11));
		assert!(events().contains(&Event::ClaimWithdrawn { job: id, trainer: 11 }));
		News::set(Some((0, false, 0)));
		assert!(Claims::<Test>::get(id).is_empty());
		assert_noop!(buy_as(BUYER, id, seen, 9_000), Error::<Test>::ClaimNotOffered);
		assert_eq!(holder(id), 11);
	});
}

/// `agree` could settle at any pay before the audit, so nothing is sold before it.
#[test]
fn a_claim_is_sold_in_the_audit_alone() {
	run(|| {
		assert_noop!(offer(7, 11), Error::<Test>::NoSuchJob);
		let id = post(1);
		assert_noop!(offer(id, 11), Error::<Test>::ClaimNotAudited);
		apply(id, &[11]);
		run_to_state(id, JobState::Training);
		assert_noop!(offer(id, 11), Error::<Test>::ClaimNotAudited);
		commit(id, 11);
		run_to_state(id, JobState::Revealing);
		assert_noop!(offer(id, 11), Error::<Test>::ClaimNotAudited);
		reveal(id, 11, 1);
		run_to_state(id, JobState::Auditing);
		assert_ok!(offer(id, 11));
		let seen = seen(id, 11);
		assert_noop!(
			TaskMarket::agree(RuntimeOrigin::signed(11), id, Some(0)).map_err(|e| e.error),
			Error::<Test>::NotRunning
		);
		ended(id, Decision::Accepted);
		assert_noop!(offer(id, 11), Error::<Test>::ClaimNotAudited);
		assert_noop!(buy_as(BUYER, id, seen, PRICE), Error::<Test>::ClaimNotAudited);
		assert_eq!(job(id).state, JobState::Ended(Ending::Settled));
	});
}

#[test]
fn only_what_is_there_is_sold() {
	run(|| {
		let id = training(&[11, 12]);
		commit(id, 11);
		commit(id, 12);
		run_to_state(id, JobState::Revealing);
		// The other one reveals nothing, and has lost.
		reveal(id, 11, 1);
		run_to_state(id, JobState::Auditing);
		assert_noop!(offer(id, 12), Error::<Test>::NoSuchClaim);
		assert_noop!(offer(id, 13), Error::<Test>::NoSuchClaim);
		assert_noop!(offer_to(BUYER, id, 11, 1, None), Error::<Test>::NotHolder);
		assert_noop!(offer_to(11, id, 11, 1, Some(11)), Error::<Test>::OwnClaim);
		assert_noop!(
			buy_as(BUYER, id, Seen { holder: 11, root: H256::zero(), since: 1 }, PRICE),
			Error::<Test>::ClaimNotOffered
		);
		assert_ok!(offer(id, 11));
		assert_noop!(buy(11, id), Error::<Test>::OwnClaim);
	});
}

/// Nobody changes the price, the holder, the result or the knowledge under a buyer.
#[test]
fn whoever_buys_gets_what_it_saw_or_nothing() {
	run(|| {
		let id = auditing(&[(11, 1)]);
		assert_ok!(offer(id, 11));
		let saw = seen(id, 11);
		// A higher price in the same block.
		assert_ok!(offer_to(11, id, 11, PRICE + 1, None));
		assert_noop!(buy_as(BUYER, id, saw.clone(), PRICE), Error::<Test>::ClaimTooDear);
		// A lower one is welcome.
		assert_ok!(offer_to(11, id, 11, PRICE - 1, None));
		for other in [
			Seen { holder: 12, ..saw.clone() },
			Seen { root: H256::repeat_byte(9), ..saw.clone() },
			Seen { since: saw.since - 1, ..saw.clone() },
		] {
			assert_noop!(buy_as(BUYER, id, other, PRICE), Error::<Test>::OtherClaim);
		}
		// The same offer, made again in a later block, is another one.
		run_to(TaskMarket::now() + 1);
		assert_ok!(offer(id, 11));
		assert_noop!(buy_as(BUYER, id, saw, PRICE), Error::<Test>::OtherClaim);
		// Somebody else was faster.
		let saw = seen(id, 11);
		assert_ok!(buy_as(SECOND, id, saw.clone(), PRICE));
		assert_noop!(buy_as(BUYER, id, saw.clone(), PRICE), Error::<Test>::ClaimNotOffered);
		assert_ok!(offer_to(SECOND, id, 11, PRICE, None));
		assert_noop!(buy_as(BUYER, id, saw, PRICE), Error::<Test>::OtherClaim);
		assert_eq!(free(BUYER), ENDOWMENT);
		// Another one's offer is for that one alone.
		assert_ok!(offer_to(SECOND, id, 11, PRICE, Some(22)));
		assert_noop!(buy(BUYER, id), Error::<Test>::ClaimNotForYou);
		assert_ok!(buy(22, id));
	});
}

/// Attack: seats reveal in a block, and somebody who saw that all tickets won takes what stands, or the holder who saw
/// that none did sells it.
#[test]
fn nothing_is_sold_while_seats_reveal_and_offers_lapse_then() {
	run(|| {
		let id = auditing(&[(11, 1)]);
		assert_ok!(offer(id, 11));
		let saw = seen(id, 11);
		News::set(None);
		assert_noop!(buy_as(BUYER, id, saw.clone(), PRICE), Error::<Test>::ClaimInMotion);
		assert_noop!(offer(id, 11), Error::<Test>::ClaimInMotion);
		// Results stand, another round begins, somebody asked for a piece: none of it was known.
		for news in [(0, true, 0), (1, false, 0), (0, false, 1)] {
			News::set(Some(news));
			assert_noop!(buy_as(BUYER, id, saw.clone(), PRICE), Error::<Test>::ClaimLapsed);
		}
		// An offer for what is known now.
		assert_ok!(offer(id, 11));
		assert_ok!(buy(BUYER, id));
	});
}

/// Attack: the holder sees the announcement of a challenge before others, and sells.
#[test]
fn nothing_is_sold_while_something_is_disputed_and_offers_lapse_then() {
	run(|| {
		let id = auditing(&[(11, 1)]);
		assert_ok!(offer(id, 11));
		let saw = seen(id, 11);
		Disputes::set(1);
		assert_noop!(buy_as(BUYER, id, saw.clone(), PRICE), Error::<Test>::ClaimDisputed);
		assert_noop!(offer(id, 11), Error::<Test>::ClaimDisputed);
		Disputes::set(0);
		DisputeEnded::set(Some(saw.since));
		assert_noop!(buy_as(BUYER, id, saw.clone(), PRICE), Error::<Test>::ClaimLapsed);
		run_to(TaskMarket::now() + 1);
		assert_ok!(offer(id, 11));
		// The offer of before is another one, whatever its price.
		assert_noop!(buy_as(BUYER, id, saw, PRICE), Error::<Test>::OtherClaim);
		assert_ok!(buy(BUYER, id));
	});
}

/// Attack: the trainer of a false result sells its claim. It has the price for good, and loses the whole deposit; the
/// buyer loses the price, and has a quarter of the deposit where it convicts the trainer itself.
#[test]
fn who_sells_a_false_result_loses_its_deposit_and_the_buyer_may_convict_it() {
	run(|| {
		let id = sold();
		let quote = job(id).quote;
		let (finder, second, proven) = (BUYER, None, true);
		TaskMarket::convict(id, &11, &Conviction { dispute: 0, finder, second, proven });
		assert!(Guilty::<Test>::contains_key(id, 11));
		// Nobody buys it from the holder any more.
		assert_noop!(offer_to(BUYER, id, 11, 1, None), Error::<Test>::NoSuchClaim);
		ended(id, Decision::Undecided);
		assert_eq!(job(id).replicas[0].fate, Fate::Rejected);
		assert_eq!(free(11), ENDOWMENT - quote.deposit + PRICE);
		let prize = job(id).settlement.slashed_to_finders;
		assert_eq!(free(BUYER), ENDOWMENT - PRICE + prize);
		assert!(prize >= (quote.deposit - AUDIT) / 4 && prize > PRICE, "{prize}");
		assert!(Claims::<Test>::get(id).is_empty());
	});
}

/// The price for which a claim is sold is never worth being convicted: that costs three quarters of three times the most
/// that is paid, whoever the finder is.
#[test]
fn a_conviction_costs_more_than_any_claim_is_paid() {
	run(|| {
		let all = [None, Some(2), Some(20), Some(64), Some(100)];
		for (lottery, replicas) in all.into_iter().flat_map(|one| [(one, 1), (one, 2)]) {
			let terms = with_least_fee(
				&JobSpec::noisy_example(),
				Terms { lottery, audit_segments: 5, ..terms(replicas) },
			);
			let quote = TaskMarket::checked_quote(&noisy(), &terms).unwrap();
			let strata = lottery.map_or(30, |one_in| 30u32.div_ceil(one_in) * one_in);
			let most = share(quote.price, strata, 30);
			assert!(quote.deposit * 3 / 4 >= most * 9 / 4, "{lottery:?}");
		}
	});
}

/// A buyer that cannot pay has lost nothing, and so has the seller.
#[test]
fn a_buyer_needs_the_price() {
	run(|| {
		let id = auditing(&[(11, 1)]);
		assert_ok!(offer_to(11, id, 11, ENDOWMENT, None));
		let saw = seen(id, 11);
		let most = Balance::MAX;
		let short: DispatchError = TokenError::NotExpendable.into();
		assert_noop!(buy_as(BUYER, id, saw.clone(), most), short);
		let poor: DispatchError = TokenError::FundsUnavailable.into();
		assert_noop!(buy_as(500, id, saw, most), poor);
	});
}

/// A holder that cannot receive its pay is treated as a trainer: the jackpot has it.
#[test]
fn what_a_holder_cannot_receive_is_the_jackpots() {
	run(|| {
		let terms = Terms { price_per_ut: 1, ..terms(1) };
		let id = post_with(SUBMITTER, with_least_fee(&JobSpec::noisy_example(), terms));
		apply(id, &[11]);
		run_to_state(id, JobState::Training);
		audited(id, &[(11, 1)]);
		// An account that only the price of a claim lets exist, and that spends it.
		let ghost = 700;
		assert_ok!(offer_to(11, id, 11, 0, Some(ghost)));
		assert_ok!(buy_as(ghost, id, seen(id, 11), 0));
		ended(id, Decision::Accepted);
		let pay = job(id).settlement.paid_to_trainers;
		assert!(pay > 0 && pay < ED);
		assert_eq!(free(ghost), 0);
		let diverted = |event: &Event<Test>| matches!(event, Event::Diverted { recipient, amount, .. } if *recipient == ghost && *amount == pay);
		assert!(events().iter().any(diverted));
	});
}

/// The submitter may hold the claim on its own pay: that comes back to it, and the audit decides as ever.
#[test]
fn the_submitter_may_buy_the_claim() {
	for decision in [Decision::Accepted, Decision::Rejected] {
		run(|| {
			let id = auditing(&[(11, 1)]);
			assert_ok!(offer(id, 11));
			assert_ok!(buy(SUBMITTER, id));
			let before = free(SUBMITTER);
			ended(id, decision);
			let (settlement, quote) = (job(id).settlement, job(id).quote);
			let spent =
				settlement.paid_to_verifiers + settlement.burned - settlement.slashed_to_submitter;
			assert_eq!(free(SUBMITTER), before + quote.escrow - spent);
			assert_eq!(held(HoldReason::Escrow, SUBMITTER), 0);
			let kept = if decision == Decision::Accepted { 0 } else { quote.deposit };
			assert_eq!(free(11), ENDOWMENT + PRICE - kept);
		});
	}
}

/// What a later conviction takes is the trainer's: the pay stays with the holder.
#[test]
fn late_proof_takes_nothing_from_the_holder() {
	run(|| {
		LateBlocks::set(20);
		let id = sold();
		ended(id, Decision::Accepted);
		let pay = job(id).settlement.paid_to_trainers;
		let (finder, second, proven) = (SECOND, None, true);
		TaskMarket::convict(id, &11, &Conviction { dispute: 0, finder, second, proven });
		assert_eq!(job(id).replicas[0].fate, Fate::Revoked);
		assert_eq!(free(BUYER), ENDOWMENT - PRICE + pay);
	});
}

#[test]
fn clients_see_claims() {
	run(|| {
		assert!(TaskMarket::claim_views(0).is_empty());
		let id = auditing(&[(11, 1), (12, 2)]);
		let views = TaskMarket::claim_views(id);
		assert_eq!(views.len(), 2);
		let of = |id, who| {
			let views = TaskMarket::claim_views(id);
			views.into_iter().find(|view| view.trainer == who).unwrap()
		};
		let pay = job(id).quote.whole().of_each(2).price;
		let view = of(id, 11);
		assert_eq!((view.holder, view.offer, view.stands, view.disputed), (11, None, false, false));
		assert_eq!(view.pay, Pay { expected: pay, least: pay, most: pay });
		assert_eq!(view.known.unwrap().root, H256::from_low_u64_be(11));
		assert!(TaskMarket::claimed_jobs(None, 9).is_empty());

		assert_ok!(offer(id, 11));
		assert!(of(id, 11).stands && !of(id, 12).stands);
		assert_eq!(TaskMarket::claimed_jobs(None, 9), [id]);
		assert!(TaskMarket::claimed_jobs(Some(id), 9).is_empty());
		Disputes::set(1);
		assert!(!of(id, 11).stands && of(id, 11).disputed);
		Disputes::set(0);
		News::set(None);
		assert!(!of(id, 11).stands && of(id, 11).known.is_none());
		News::set(Some((0, true, 0)));
		assert!(!of(id, 11).stands && of(id, 11).offer.is_some());
		assert_ok!(offer(id, 11));
		assert_ok!(buy(BUYER, id));
		assert_eq!((of(id, 11).holder, of(id, 12).holder), (BUYER, 12));
		Guilty::<Test>::insert(
			id,
			12,
			Conviction { dispute: 0, finder: BUYER, second: None, proven: true },
		);
		assert_eq!(of(id, 12).known, None);
	});
}

/// Of a lottery clients see the mean and both ends.
#[test]
fn clients_see_what_tickets_may_bring() {
	run(|| {
		let id = post_with(SUBMITTER, Terms { lottery: Some(20), ..terms(1) });
		apply(id, &[11]);
		run_to_state(id, JobState::Training);
		audited(id, &[(11, 1)]);
		let price = job(id).quote.price;
		let pay = TaskMarket::claim_views(id)[0].pay;
		let (least, most) = (share(price, 20, 30), share(price, 40, 30));
		assert_eq!(pay, Pay { expected: price, least, most });
		// Once nobody can change what the tickets are, the view does not show a mean any more.
		TicketsOf::set(Some(20));
		let pay = TaskMarket::claim_views(id)[0].pay;
		assert_eq!(pay, Pay { expected: least, least, most: least });
	});
}

/// An offer without an end would be taken only in the block in which that is safe.
#[test]
fn an_offer_can_be_bought_up_to_its_last_block() {
	run(|| {
		let id = auditing(&[(11, 1)]);
		let now = System::block_number();
		let offer = |until| {
			let asked = Some(Asked { price: PRICE, until, only: None });
			TaskMarket::offer_claim(RuntimeOrigin::signed(11), id, 11, asked)
		};
		assert_noop!(offer(now), Error::<Test>::ClaimExpiry);
		assert_ok!(offer(now + 3));
		run_to(now + 3);
		assert!(TaskMarket::claim_views(id)[0].stands);
		let seen = seen(id, 11);
		run_to(now + 4);
		assert!(!TaskMarket::claim_views(id)[0].stands);
		assert_noop!(buy_as(BUYER, id, seen, PRICE), Error::<Test>::ClaimLapsed);
		assert_ok!(offer(now + 5));
		assert_ok!(buy(BUYER, id));
	});
}
