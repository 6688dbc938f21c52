//! Claims on pay over the real pallets: when they can be sold, and what follows from what court and audit decide.

use super::*;
use pallet_task_market::{Call, Error};
use trainyard_protocol::claims::{Asked, ClaimView, Seen};

/// What the trainer asks for its claim, of 100 TRY that are paid.
const PRICE: Balance = 90 * TRY;

impl Scene {
	fn claim(&mut self) -> ClaimView<AccountId> {
		let id = self.id;
		let views = self.chain.state(|| Runtime::claims(id));
		views.into_iter().next().expect("there is one result")
	}

	fn offer_claim(&mut self, who: Sr25519Keyring) -> Result<(), DispatchError> {
		let asked = Some(Asked { price: PRICE, until: 1_000_000, only: None });
		let call = Call::offer_claim { job: self.id, trainer: Alice.to_account_id(), asked };
		self.call(who, call)
	}

	/// Lets `who` buy what `view` shows.
	fn buy(
		&mut self,
		who: Sr25519Keyring,
		view: &ClaimView<AccountId>,
	) -> Result<(), DispatchError> {
		let offer = view.offer.as_ref().expect("it is on offer");
		let (holder, root, since) = (view.holder.clone(), offer.known.root, offer.since);
		let seen = Seen { holder, root, since };
		let trainer = Alice.to_account_id();
		self.call(who, Call::buy_claim { job: self.id, trainer, seen, most: PRICE })
	}
}

fn refused(error: Error<Runtime>) -> Result<(), DispatchError> {
	Err(error.into())
}

/// Before seats reveal a claim is sold; the offer of before lapses when results stand, and the claim is sold again.
#[test]
fn a_claim_is_sold_before_seats_reveal_and_when_results_stand() {
	let mut scene = audited(PATIENCE, honestly);
	let root = scene.revealed.root();
	let early = refused(Error::ClaimInMotion);
	assert_eq!(scene.offer_claim(Alice), early, "while a committee is awaited nothing is sold");
	run_until(&mut scene.chain, scene.id, "a committee", |job| {
		let phase = job.audit.as_ref().map(|audit| audit.phase);
		matches!(phase, Some(AuditPhase::Committing { .. }))
	});
	assert_ok!(scene.offer_claim(Alice));
	let early = scene.claim();
	assert!(early.stands && !early.known.unwrap().stands);
	assert_eq!((early.known.unwrap().root, early.pay.expected), (root, 100 * TRY));
	let id = scene.id;
	assert_eq!(scene.chain.state(|| Runtime::claimed_jobs(None, 10)), [id]);
	scene.vouch();
	let later = scene.claim();
	assert!(!later.stands && later.known.unwrap().stands);
	assert_eq!(scene.buy(CHALLENGER, &early), refused(Error::ClaimLapsed));
	assert_ok!(scene.offer_claim(Alice));
	let view = scene.claim();
	assert_eq!(scene.buy(CHALLENGER, &early), refused(Error::OtherClaim));
	assert_ok!(scene.buy(CHALLENGER, &view));
	books::check(&mut scene.chain).unwrap();
	assert_eq!(scene.claim().holder, CHALLENGER.to_account_id());
	let (fate, settlement) = scene.settle();
	assert_eq!((fate, settlement.paid_to_trainers), (Fate::Accepted, 100 * TRY));
	assert_eq!(scene.gained(CHALLENGER), (100 * TRY - PRICE) as i128);
	let (job, trainer) = (id, Alice.to_account_id());
	let holder = CHALLENGER.to_account_id();
	let paid =
		pallet_task_market::Event::<Runtime>::ClaimPaid { job, trainer, holder, amount: 100 * TRY };
	assert!(scene.chain.has_event(paid));
	assert!(scene.chain.state(|| Runtime::claims(id)).is_empty());
}

/// A cheat sells the claim on its false result. Its buyer looks, convicts it, and has a quarter of its deposit, which is
/// nearly what it paid; the cheat has lost more than twice the price.
#[test]
fn a_buyer_that_was_cheated_convicts_the_seller() {
	let mut scene = deliver(PATIENCE, cheat);
	assert_ok!(scene.offer_claim(Alice));
	let view = scene.claim();
	assert_ok!(scene.buy(CHALLENGER, &view));
	assert_ok!(scene.offer_claim(CHALLENGER));
	let honest = Bundle::trained(Run::new(&scene.job, Change::Nothing));
	let id = scene.challenge(&honest);
	// While it is disputed nobody sells it on.
	let disputed = scene.claim();
	assert!(disputed.disputed && !disputed.stands);
	assert_eq!(scene.buy(Bob, &disputed), refused(Error::ClaimDisputed));
	assert_eq!(scene.offer_claim(CHALLENGER), refused(Error::ClaimDisputed));
	assert_eq!(scene.play(id, &honest), Ending::Convicted { by_clock: false });
	assert_eq!(scene.offer_claim(CHALLENGER), refused(Error::NoSuchClaim));
	let (fate, settlement) = scene.settle();
	assert_eq!((fate, settlement.paid_to_trainers), (Fate::Rejected, 0));
	let found = settlement.slashed_to_finders;
	assert!(found > PRICE * 4 / 5, "{found}");
	assert_eq!(scene.gained(CHALLENGER), found as i128 - PRICE as i128);
	assert!(settlement.slashed > 3 * PRICE, "the seller has lost more than twice what it made");
	books::check(&mut scene.chain).unwrap();
}
