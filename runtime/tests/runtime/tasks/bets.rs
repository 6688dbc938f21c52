//! Bets on claims of tasks: what the task decides of them.

use super::*;
use pallet_bets::{Call, Error};
use trainyard_protocol::{
	bets::{BetEnding, Odds, Offered, Outcome, Side, Statement},
	H256,
};

const STAKE: Balance = 100 * TRY;
const TAKEN: Balance = TRY / 5;

fn statement(root: H256) -> Statement {
	Statement::Task { task: 0, root }
}

/// The call by which somebody offers its stake on a claim, 100 to 1.
fn offering(chain: &mut Chain, root: H256) -> Call<Runtime> {
	let until = chain.state(System::block_number) + 50_000;
	let (odds, only, panel) = (Odds { maker: 100, taker: 1 }, None, None);
	let side = Some(Side::Right);
	let offered = Offered { side, odds, stake: STAKE, until, notice: 0, only, panel };
	Call::offer { statement: statement(root), offered }
}

fn take(chain: &mut Chain, offer: u64) -> Result<(), DispatchError> {
	chain.call(Ferdie, Call::take { offer, side: Side::Wrong, amount: TAKEN })
}

/// Settles a bet; returns how it ended.
fn settle(chain: &mut Chain, bet: u64) -> Result<BetEnding, DispatchError> {
	chain.call(Ferdie, Call::settle { bet })?;
	books::check(chain).unwrap();
	let ended = chain.state(System::events).into_iter().find_map(|record| match record.event {
		RuntimeEvent::Bets(pallet_bets::Event::BetEnded { ending, .. }) => Some(ending),
		_ => None,
	});
	Ok(ended.expect("it ended"))
}

/// Two replicas of a map come to different claims, and both offer 100 to 1 on their own.
fn delivered() -> (Chain, Said, Said) {
	let (count, most) = MAP;
	let mut chain = computing(ADDER, Form::Map { count, most });
	let (truth, lie) = (mapped(None), mapped(Some(33)));
	deliver(&mut chain, &truth, &lie, &truth);
	for (who, said) in [(Bob, &truth), (Charlie, &lie)] {
		let offering = offering(&mut chain, said.0.root);
		assert_ok!(chain.call(who, offering));
	}
	(chain, truth, lie)
}

#[test]
fn a_claim_that_is_refuted_pays_who_bet_on_wrong_and_one_that_stands_who_made_it() {
	let (mut chain, truth, lie) = delivered();
	for offer in [0, 1] {
		assert_ok!(take(&mut chain, offer));
	}
	let odds = chain.state(|| Runtime::odds(statement(truth.0.root), 0, 0));
	assert_eq!(odds.bid.map(|bid| (bid.right, bid.own)), Some((990_099, true)));
	let unknown = offering(&mut chain, H256::repeat_byte(1));
	assert_eq!(chain.call(Bob, unknown), Err(Error::<Runtime>::NoSuchResult.into()));
	assert_ok!(refute(&mut chain, 1, 33, &lie.2));
	let known = Err(Error::<Runtime>::AlreadyDecided.into());
	assert_eq!(take(&mut chain, 1), known, "the conviction is known before the task ends");
	assert_ok!(take(&mut chain, 0));
	assert_eq!(settle(&mut chain, 1).unwrap_err(), Error::<Runtime>::NotDecided.into());
	until(&mut chain, |phase| phase == Phase::Ended(TaskEnd::Accepted(0)));
	assert_eq!(take(&mut chain, 0), known);
	for (bet, outcome) in [(0, Outcome::Right), (1, Outcome::Wrong), (2, Outcome::Right)] {
		assert_eq!(settle(&mut chain, bet), Ok(BetEnding::Decided(outcome)));
	}
	for (who, offer) in [(Bob, 0), (Charlie, 1)] {
		assert_ok!(chain.call(who, Call::withdraw { offer }));
	}
	books::check(&mut chain).unwrap();
}

/// Claims that differ and of which nobody shows the false one are not decided: stakes return, and the deposits are lost.
#[test]
fn where_nobody_shows_which_is_false_stakes_return() {
	let (mut chain, ..) = delivered();
	assert_ok!(take(&mut chain, 0));
	assert_ok!(take(&mut chain, 1));
	until(&mut chain, |phase| matches!(phase, Phase::Ended(_)));
	assert_eq!(view(&mut chain).phase, Phase::Ended(TaskEnd::Unresolved));
	for bet in [0, 1] {
		assert_eq!(settle(&mut chain, bet), Ok(BetEnding::Decided(Outcome::Unknown)));
	}
}

/// Others stake on *right* no more than who delivered it loses for good by a conviction.
#[test]
fn others_stake_no_more_on_a_claim_than_a_conviction_costs() {
	let (mut chain, truth, _) = delivered();
	let at_stake = terms().deposit / 2;
	let until = chain.state(System::block_number) + 50_000;
	let odds = Odds { maker: 1, taker: 1 };
	let (side, stake) = (Some(Side::Wrong), at_stake + TRY);
	let offered = Offered { side, odds, stake, until, notice: 0, only: None, panel: None };
	let statement = statement(truth.0.root);
	assert_ok!(chain.call(Charlie, Call::offer { statement, offered }));
	let mut take = |amount| chain.call(Alice, Call::take { offer: 2, side: Side::Right, amount });
	assert_eq!(take(at_stake + TRY), Err(Error::<Runtime>::BeyondDeposit.into()));
	assert_ok!(take(at_stake));
}

/// What a task accepts because its rival was silent is not known to be right, and who was silent has nobody paid.
#[test]
fn silence_decides_no_bet() {
	let mut chain = computing(COUNTER, Form::Step { steps: STEPS });
	let (truth, lie) = (Run::of(STEPS, None), Run::of(STEPS, Some(700)));
	// The auditor has seen what is true, too, and says nothing of it in the dispute.
	deliver(&mut chain, &truth.said(), &lie.said(), &truth.said());
	for (who, said) in [(Bob, truth.said()), (Charlie, lie.said())] {
		let offering = offering(&mut chain, said.0.root);
		assert_ok!(chain.call(who, offering));
	}
	for offer in [0, 1] {
		assert_ok!(take(&mut chain, offer));
	}
	let found = view(&mut chain).disputes[0].clone();
	let Stage::Descending(descent) = found.stage else { panic!("nobody moved yet") };
	let nodes = lie.trace.nodes(descent.below(), descent.due()).to_vec().try_into().unwrap();
	let show = pallet_tasks::Call::show { task: 0, dispute: found.number, side: 1, nodes };
	assert_ok!(chain.call(Charlie, show));
	until(&mut chain, |phase| matches!(phase, Phase::Ended(_)));
	assert_eq!(view(&mut chain).phase, Phase::Ended(TaskEnd::Accepted(1)));
	assert_eq!(settle(&mut chain, 0), Ok(BetEnding::Decided(Outcome::Forfeited)));
	assert_eq!(settle(&mut chain, 1), Ok(BetEnding::Decided(Outcome::Unknown)));
}
