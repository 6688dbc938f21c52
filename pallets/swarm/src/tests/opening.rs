//! Opening, adding slices, closing, ending.

use super::*;
use trainyard_protocol::H256;

fn refused(change: impl FnOnce(&mut Plan), error: Error<Test>) {
	run(|| {
		store(&model_file(0));
		let mut plan = plan(Payer::Budget);
		change(&mut plan);
		let call = Swarming::open(signed(OPENER), Box::new(template()), slices(0..2), plan, BUDGET);
		assert_noop!(call, error);
	});
}

#[test]
fn what_is_opened_is_on_record_and_paid_for() {
	run(|| {
		let id = open(Payer::Budget);
		let swarm = get(id);
		assert_eq!((swarm.stage, swarm.progress, swarm.budget), (Stage::Idle, 500_000, BUDGET));
		assert_eq!(swarm.best, model(&model_file(0)));
		assert_eq!(swarm.waiting.to_vec(), [0, 1, 2, 3, 4]);
		let slices: u128 = Slices::<Test>::iter_prefix_values(id).map(|slice| slice.deposit).sum();
		assert_eq!(held(OPENER), BUDGET + swarm.record + slices);
		assert!(slices > 5 * STAKE);
		let opened = |event: &Event<Test>| matches!(event, Event::Opened { budget: BUDGET, .. });
		assert!(happened(&events(), opened));
		let view = Swarming::view(id).unwrap();
		assert_eq!((view.id, view.opener, view.slices.len()), (0, OPENER, 5));
		assert!(view.slices.iter().all(|slice| slice.waits));
		assert_eq!(Swarming::numbers(None, 9), [0]);
		assert_eq!(Swarming::numbers(Some(0), 9), [0; 0]);
	});
}

#[test]
fn a_swarm_has_a_seed_that_nobody_chose() {
	run(|| {
		let id = open(Payer::Budget);
		pass(2);
		assert_eq!(get(id).seed, None);
		pass(6);
		let seed = get(id).seed.unwrap();
		pass(20);
		assert_eq!(get(id).seed, Some(seed));
	});
	run(|| {
		LostSeeds::set(2);
		let id = open(Payer::Budget);
		pass(30);
		assert!(get(id).seed.is_some());
	});
}

#[test]
fn what_breaks_a_rule_of_the_plan_is_refused() {
	let faulty = |fault| Error::InvalidReward(RewardFault(fault));
	refused(|plan| plan.reward.floor = 2_000_000, faulty(CurveFault::BadFloor));
	let bad = Curve::Power { factor: 1, exponent: 1 };
	refused(|plan| plan.reward.curve = bad, faulty(CurveFault::BadExponent));
	refused(|plan| plan.stages.collect = MIN - 1, Error::BadBlocks);
	refused(|plan| plan.stages.show = MAX + 1, Error::BadBlocks);
	refused(|plan| plan.stages.show = WINDOW - 1, Error::BadBlocks);
	refused(|plan| plan.stages.count = WINDOW - 1, Error::BadBlocks);
	refused(|plan| plan.stages.challenge = WINDOW - 1, Error::BadBlocks);
	refused(|plan| plan.ticket_blocks = MAX + 1, Error::BadBlocks);
	refused(|plan| plan.end = 1, Error::BadEnd);
	refused(|plan| plan.end = LIFE + 2, Error::BadEnd);
	refused(|plan| plan.max_peers = 0, Error::BadPeers);
	refused(|plan| plan.payer = Payer::Peers, Error::BadBudget);
	refused(|plan| plan.claim_fee = FEE - 1, Error::FeeTooLow);
	refused(|plan| plan.slice_deposit = STAKE - 1, Error::SliceDepositTooLow);
	refused(|plan| plan.reward.stake = 2 * ESCROW - 1, Error::StakeTooLow);
	let most = u128::MAX;
	refused(|plan| (plan.slice_deposit, plan.reward.stake) = (most, most), Error::AmountOverflow);
}

#[test]
fn what_is_trained_has_a_model_on_chain_and_one_segment() {
	run(|| {
		let open = |template, slices, budget| {
			let plan = plan(Payer::Budget);
			Swarming::open(signed(OPENER), Box::new(template), slices, plan, budget)
		};
		assert_noop!(open(template(), slices(0..1), BUDGET), Error::<Test>::NoInitialModel);
		store(&model_file(0));
		let mut none = template();
		none.initial_model = None;
		assert_noop!(open(none, slices(0..1), BUDGET), Error::<Test>::NoInitialModel);
		Owner::set(11);
		assert_noop!(open(template(), slices(0..1), BUDGET), Error::<Test>::NoInitialModel);
		Owner::set(OPENER);
		let mut longer = template();
		longer.initial_model.as_mut().unwrap().file.bytes += 1;
		assert_noop!(open(longer, slices(0..1), BUDGET), Error::<Test>::NoInitialModel);
		let mut long = template();
		long.training.steps += 1;
		assert_noop!(open(long, slices(0..1), BUDGET), Error::<Test>::TooManySegments);
		let mut bad = template();
		bad.dataset.classes = 0;
		let error = open(bad, slices(0..1), BUDGET).unwrap_err();
		assert!(matches!(error, sp_runtime::DispatchError::Module(_)));
		assert_noop!(open(template(), slices(0..0), BUDGET), Error::<Test>::NoSlices);
		let mut apart = slices(0..1);
		apart[0].file.location = text("https://example.org/rows");
		assert_noop!(open(template(), apart, BUDGET), Error::<Test>::NotOnChain);
		let mut few = slices(0..1);
		(few[0].train_rows, few[0].validation_rows) = (99, 99);
		assert_noop!(open(template(), few, BUDGET), Error::<Test>::TooFewLabels);
		let mut other = slices(0..2);
		(other[1].train_rows, other[1].validation_rows) = (LABELS + 1, LABELS + 1);
		assert_noop!(open(template(), other, BUDGET), Error::<Test>::OtherSlices);
		let mut longer = slices(0..2);
		longer[1].file.bytes += 1;
		assert_noop!(open(template(), longer, BUDGET), Error::<Test>::OtherSlices);
		Refusals::set(vec!["the market is closed"]);
		let error = open(template(), slices(0..1), BUDGET).unwrap_err();
		assert_eq!(error, sp_runtime::DispatchError::Other("the market is closed"));
		Refusals::set(vec![]);
		assert!(open(template(), slices(0..1), ENDOWMENT).is_err(), "not so much money");
		assert_eq!((held(OPENER), free(OPENER)), (0, ENDOWMENT));
		assert_ok!(open(template(), slices(0..1), BUDGET));
	});
}

#[test]
fn who_opened_adds_slices_and_where_the_plan_says_so_peers() {
	run(|| {
		let id = open(Payer::Budget);
		let add = |who, slices| Swarming::add_slices(signed(who), id, slices);
		assert_ok!(add(OPENER, slices(5..7)));
		assert_eq!(get(id).waiting.len(), 7);
		assert_eq!(Slices::<Test>::get(id, 6).unwrap().data, slice(6));
		assert_noop!(add(OPENER, slices(0..0)), Error::<Test>::NoSlices);
		assert_noop!(add(OPENER, slices(0..58)), Error::<Test>::TooManySlices);
		join(id, 11);
		assert_noop!(add(11, slices(7..8)), Error::<Test>::NotOpener);
		let call = Swarming::add_slices(signed(OPENER), 9, slices(7..8));
		assert_noop!(call, Error::<Test>::NoSuchSwarm);
		to(1_001);
		assert_noop!(add(OPENER, slices(7..8)), Error::<Test>::HasEnded);
	});
	run(|| {
		let id = open_with(Plan { open_slices: true, ..plan(Payer::Budget) });
		let add = |who, slices| Swarming::add_slices(signed(who), id, slices);
		assert_noop!(add(11, slices(5..6)), Error::<Test>::NotOpener);
		join(id, 11);
		assert_ok!(add(11, slices(5..6)));
		let deposit = Slices::<Test>::get(id, 5).unwrap().deposit;
		assert_eq!(held(11), deposit + PEER);
		assert_noop!(add(11, slices(6..10)), Error::<Test>::TooManySlices);
		assert_ok!(add(11, slices(6..9)));
	});
}

#[test]
fn a_swarm_ends_and_is_forgotten_and_everybody_has_what_is_left() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		assert_ok!(Swarming::fund(signed(11), id, 500));
		to(1_000);
		assert_eq!(get(id).stage, Stage::Idle);
		to(1_001);
		assert_eq!(get(id).stage, Stage::Ended);
		assert!(happened(&events(), |event| {
			matches!(event, Event::Ended { refunded: BUDGET, .. })
		}));
		assert_eq!(held(OPENER), get(id).record);
		assert_eq!(held(11), PEER + 500);
		check();
		to(1_001 + RETENTION);
		assert_eq!(held(11), 0);
		pass(1);
		assert!(Swarming::view(id).is_none());
		assert_eq!((free(OPENER), free(11)), (ENDOWMENT, ENDOWMENT));
		assert!(Swarming::peers(id, None, 9).is_empty());
	});
}

#[test]
fn who_opened_ends_it_sooner_but_not_before_tickets_expire() {
	run(|| {
		let id = open(Payer::Budget);
		assert_noop!(Swarming::close(signed(11), id), Error::<Test>::NotOpener);
		assert_noop!(Swarming::close(signed(OPENER), 5), Error::<Test>::NoSuchSwarm);
		assert_ok!(Swarming::close(signed(OPENER), id));
		assert_eq!(get(id).plan.end, 31);
		assert_eq!(events().last(), Some(&Event::Closing { swarm: id, end: 31 }));
		to(31);
		assert_eq!(get(id).stage, Stage::Idle);
		to(32);
		assert_eq!(get(id).stage, Stage::Ended);
		assert_noop!(Swarming::close(signed(OPENER), id), Error::<Test>::HasEnded);
	});
	// The seed forms all the same.
	run(|| {
		let id = open(Payer::Budget);
		assert_ok!(Swarming::close(signed(OPENER), id));
		pass(8);
		assert!(get(id).seed.is_some());
	});
	// A round that runs goes on to its end.
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		to(990);
		let number = claim(id, 11, 1);
		show(id);
		say(id, 11, number, 1, 700, 600);
		assert!(System::block_number() > 1_000);
		let all = finish(id);
		assert!(happened(&all, |event| matches!(event, Event::Gained { .. })));
		pass(2);
		assert_eq!(get(id).stage, Stage::Ended);
	});
}

#[test]
fn one_that_is_overdue_can_be_served_by_anybody() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		assert_noop!(Swarming::poke(signed(11), id), Error::<Test>::NotOverdue);
		assert_noop!(Swarming::poke(signed(11), 7), Error::<Test>::NoSuchSwarm);
		claim(id, 11, 1);
		ServiceWeight::set(frame_support::weights::Weight::zero());
		pass(10);
		assert!(matches!(get(id).stage, Stage::Collecting { .. }));
		let info = Swarming::poke(signed(11), id).unwrap();
		assert_eq!(info.pays_fee, frame_support::dispatch::Pays::No);
		assert!(matches!(get(id).stage, Stage::Drawing { .. }));
	});
}

#[test]
fn the_first_block_is_what_signatures_are_bound_to() {
	run(|| assert_ne!(genesis(), H256::zero()));
}
