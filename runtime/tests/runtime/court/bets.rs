//! Bets over the real pallets: what the court, the audit and the week of late proof decide of them.

use super::*;
use pallet_bets::{Call, Error};
use trainyard_protocol::bets::{BetEnding, Odds, OfferId, Offered, Outcome, Side, Statement};

/// What a maker stakes.
const STAKE: Balance = 50 * TRY;
/// What is taken of it, at 100 to 1.
const TAKEN: Balance = TRY / 5;

impl Scene {
	fn statement(&self, late: bool) -> Statement {
		Statement::Result { job: self.id, root: self.revealed.root(), late }
	}

	/// The call by which `who` offers its stake on *right*, 100 to 1.
	fn offering(&mut self, late: bool) -> Call<Runtime> {
		let until = self.chain.state(System::block_number) + 5_000;
		let (odds, only, panel) = (Odds { maker: 100, taker: 1 }, None, None);
		let side = Some(Side::Right);
		let offered = Offered { side, odds, stake: STAKE, until, notice: 0, only, panel };
		Call::offer { statement: self.statement(late), offered }
	}

	/// Lets the trainer offer that, and the challenger take some.
	fn bet(&mut self, late: bool) -> OfferId {
		let offer = self.chain.state(pallet_bets::NextOffer::<Runtime>::get);
		let offering = self.offering(late);
		assert_ok!(self.call(Alice, offering));
		assert_ok!(self.take(CHALLENGER, offer));
		offer
	}

	fn take(&mut self, who: Sr25519Keyring, offer: OfferId) -> Result<(), DispatchError> {
		self.call(who, Call::take { offer, side: Side::Wrong, amount: TAKEN })
	}

	/// Settles a bet; returns how it ended.
	fn settle_bet(&mut self, bet: u64) -> Result<BetEnding, DispatchError> {
		self.call(Bob, Call::settle { bet })?;
		books::check(&mut self.chain).unwrap();
		let ended =
			self.chain.state(System::events).into_iter().find_map(|record| match record.event {
				RuntimeEvent::Bets(pallet_bets::Event::BetEnded { ending, .. }) => Some(ending),
				_ => None,
			});
		Ok(ended.expect("it ended"))
	}

	fn convict(&mut self) {
		let honest = Bundle::trained(Run::new(&self.job, Change::Nothing));
		let id = self.challenge(&honest);
		assert_eq!(self.play(id, &honest), Ending::Convicted { by_clock: false });
	}
}

/// Whoever took the trainer's standing offer and shows before the court that the result is false has a hundred times
/// what it staked, beside the finder's part.
#[test]
fn who_bets_on_wrong_and_shows_it_wins() {
	let mut scene = deliver(PATIENCE, cheat);
	let offer = scene.bet(false);
	let waits = Error::<Runtime>::NotDecided.into();
	assert_eq!(scene.settle_bet(0).unwrap_err(), waits);
	scene.convict();
	let known = Err(Error::<Runtime>::AlreadyDecided.into());
	assert_eq!(scene.take(Bob, offer), known, "the conviction is known before the job ends");
	let again = scene.offering(false);
	assert_eq!(scene.call(Bob, again), known);
	assert_eq!(scene.settle_bet(0).unwrap_err(), waits);
	let (fate, settlement) = scene.settle();
	assert_eq!(fate, Fate::Rejected);
	assert_eq!(scene.settle_bet(0), Ok(BetEnding::Decided(Outcome::Wrong)));
	let won = settlement.slashed_to_finders + 100 * TAKEN;
	assert_eq!(scene.gained(CHALLENGER), won as i128);
	assert!(scene.chain.state(|| Runtime::bet_offer(offer)).unwrap().left == STAKE - 100 * TAKEN);
	assert_ok!(scene.call(Alice, Call::withdraw { offer }));
	assert!(scene.chain.state(|| Runtime::bet_offer(offer)).is_none());
	books::check(&mut scene.chain).unwrap();
}

/// A cheat that is silent pays its stake all the same, and nobody has it.
#[test]
fn a_trainer_that_is_silent_forfeits_what_it_bet() {
	let mut scene = deliver(PATIENCE, cheat);
	scene.bet(true);
	let honest = Bundle::trained(Run::new(&scene.job, Change::Nothing));
	let id = scene.challenge(&honest);
	scene.chain.run(PATIENCE + 2);
	assert_eq!(scene.ending(id), Some(Ending::Convicted { by_clock: true }));
	let (fate, settlement) = scene.settle();
	assert_eq!(fate, Fate::Rejected);
	assert_eq!(scene.settle_bet(0), Ok(BetEnding::Decided(Outcome::Forfeited)));
	let found = settlement.slashed_to_finders;
	assert_eq!(scene.gained(CHALLENGER), found as i128);
}

/// Of an honest result the trainer has what others staked against it: at the settlement, and where the week of late
/// proof belongs to the statement after that.
#[test]
fn an_honest_trainer_wins() {
	let mut scene = deliver(PATIENCE, honestly);
	let own = scene.bet(false);
	let late = scene.bet(true);
	let odds = scene.statement(false);
	let odds = scene.chain.state(|| Runtime::odds(odds, 0, 0));
	assert_eq!((odds.right, odds.wrong), (100 * TAKEN, TAKEN));
	assert_eq!(odds.bid.map(|bid| (bid.offer, bid.right, bid.own)), Some((own, 990_099, true)));
	assert_eq!(scene.settle().0, Fate::Accepted);
	assert_eq!(scene.settle_bet(0), Ok(BetEnding::Decided(Outcome::Right)));
	assert_eq!(scene.gained(CHALLENGER), -(TAKEN as i128));
	assert_eq!(scene.take(Bob, own), Err(Error::<Runtime>::AlreadyDecided.into()));
	// The week is open: it can be bet on.
	assert_ok!(scene.take(Bob, late));
	assert_eq!(scene.settle_bet(1).unwrap_err(), Error::<Runtime>::NotDecided.into());
	scene.chain.run(presets::LATE_BLOCKS + 3);
	for bet in [1, 2] {
		assert_eq!(scene.settle_bet(bet), Ok(BetEnding::Decided(Outcome::Right)));
	}
	assert_eq!(scene.gained(CHALLENGER), -(2 * TAKEN as i128));
}

/// What was settled does not unwind: a bet on the settlement stays won, and one on the week as well is lost.
#[test]
fn a_late_proof_decides_bets_on_the_week() {
	let mut scene = deliver(PATIENCE, cheat);
	scene.bet(false);
	let late = scene.bet(true);
	assert_eq!(scene.settle().0, Fate::Accepted, "nobody challenged it");
	let before = scene.gained(CHALLENGER);
	scene.convict();
	assert_eq!(scene.take(Bob, late), Err(Error::<Runtime>::AlreadyDecided.into()));
	scene.chain.run(3);
	assert_eq!(scene.settle_bet(0), Ok(BetEnding::Decided(Outcome::Right)));
	assert_eq!(scene.settle_bet(1), Ok(BetEnding::Decided(Outcome::Wrong)));
	assert_eq!(view(&mut scene.chain, scene.id).replicas[0].fate, Fate::Revoked);
	let found = view(&mut scene.chain, scene.id).settlement.slashed_to_finders;
	let won = found + 100 * TAKEN - TAKEN;
	assert_eq!(scene.gained(CHALLENGER), won as i128, "{before}");
}

/// Others stake no more on a result than a conviction costs its trainer for good: half of its deposit without what
/// its submitter has of it, less what its claim can be sold for, and of what is locked after the settlement.
#[test]
fn others_stake_no_more_than_a_conviction_costs() {
	let mut scene = deliver(PATIENCE, cheat);
	let deposit = view(&mut scene.chain, scene.id).deposit;
	let id = scene.id;
	let job = scene.chain.state(|| pallet_task_market::Jobs::<Runtime>::get(id)).unwrap();
	// Three prices of 100 TRY without what trainers may have to store; the fees of checking are the submitter's, and for
	// the price its claim may have been sold.
	let whole = (300 * TRY - job.quote.storage) / 2 - 100 * TRY;
	for (late, most) in [(false, whole), (true, deposit / 5 / 2)] {
		let offer = scene.chain.state(pallet_bets::NextOffer::<Runtime>::get);
		let Call::offer { statement, mut offered } = scene.offering(late) else { unreachable!() };
		offered.stake = 1_000 * TRY;
		assert_ok!(scene.call(Ferdie, Call::offer { statement, offered }));
		let take = |amount| Call::take { offer, side: Side::Wrong, amount };
		let bound = Err(Error::<Runtime>::BeyondDeposit.into());
		assert_eq!(scene.call(Bob, take(most / 100 + TRY / 1_000)), bound);
		assert_ok!(scene.call(Bob, take(most / 100 - TRY / 1_000)));
	}
	books::check(&mut scene.chain).unwrap();
}

/// Benchmarks have a result that can be bet on.
#[test]
#[cfg(feature = "runtime-benchmarks")]
fn benchmarks_have_a_result_to_bet_on() {
	use trainyard_traits::{ResultStage, Results};
	type Of = <Runtime as pallet_bets::Config>::Results;
	let standing = chain().state(|| {
		let (job, root) = Of::make_open(&Bob.to_account_id()).unwrap();
		Of::standing(&Statement::Result { job, root, late: false })
	});
	let standing = standing.unwrap();
	assert_eq!((standing.own, standing.stage), (vec![Bob.to_account_id()], ResultStage::Open));
}
