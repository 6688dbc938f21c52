//! Proposing projects, and taking them back.

use crate::{mock::*, Error, Event, HoldReason, OpenProjects, OwnProjects, Stage, TemplateFault};
use frame_support::{
	assert_noop, assert_ok,
	traits::fungible::{InspectHold, Mutate},
};
use sp_runtime::{DispatchError, TokenError};
use trainyard_protocol::{
	drill::{self, DrillError, Mismatch, Template},
	Text,
};

fn held(who: AccountId) -> u128 {
	Balances::balance_on_hold(&HoldReason::Project.into(), &who)
}

#[test]
fn a_project_holds_a_deposit_by_its_units() {
	run(|| {
		let id = propose(3, 8);
		let deposit = PROJECT_DEPOSIT + 8 * UNIT_DEPOSIT;
		System::assert_last_event(
			Event::ProjectProposed {
				project: id,
				proposer: PROPOSER,
				difficulty: work(),
				units: 8,
				deposit,
				until: 1 + REVIEW,
			}
			.into(),
		);
		assert_eq!(held(PROPOSER), deposit);
		let project = project(id);
		assert_eq!((project.stage, project.difficulty), (Stage::Review, work()));
		assert_eq!(propose(2, 1), id + 1);
		// The second open project of an account holds twice as much, and so does one that finds an
		// eighth of the places taken.
		assert_eq!(held(PROPOSER), deposit + 4 * PROJECT_DEPOSIT + UNIT_DEPOSIT);
	});
}

/// Nobody declares what a unit is worth.
#[test]
fn the_difficulty_is_computed_from_the_template() {
	run(|| {
		let of = |links| {
			let chain = Template::Chain { size: 256, links };
			assert_ok!(propose_by(PROPOSER, chain, Mismatch::Majority, 2, 1));
			project(crate::NextProject::<Test>::get() - 1).difficulty
		};
		// 16 links of 2 x 256^3 for the products alone, at 432,000 FLOP a micro-ut.
		let (once, twice) = (of(16), of(32));
		assert!(once >= 16 * 2 * 256 * 256 * 256 / 432_000);
		assert!(twice > once && twice <= 2 * once + 1);
	});
}

#[test]
fn a_proposal_has_conditions() {
	run(|| {
		let propose = |replicas, units, blocks| {
			let title = Text::default();
			let rule = Mismatch::Majority;
			let data = Default::default();
			Drilling::propose(
				signed(PROPOSER),
				title,
				template(),
				data,
				rule,
				replicas,
				units,
				blocks,
			)
		};
		assert_noop!(propose(1, 1, COMMIT), Error::<Test>::BadReplicas);
		assert_noop!(propose(8, 1, COMMIT), Error::<Test>::BadReplicas);
		assert_noop!(propose(2, 0, COMMIT), Error::<Test>::BadUnits);
		assert_noop!(propose(2, 101, COMMIT), Error::<Test>::BadUnits);
		assert_noop!(propose(2, 1, 2), Error::<Test>::BadPeriod);
		assert_noop!(propose(2, 1, 201), Error::<Test>::BadPeriod);
		let by = |who, template| propose_by(who, template, Mismatch::Majority, 2, 1);
		let fault = |error| Error::<Test>::InvalidTemplate(TemplateFault(error));
		assert_noop!(
			by(PROPOSER, Template::Chain { size: 256, links: 0 }),
			fault(DrillError::NoLinks)
		);
		assert_noop!(
			by(PROPOSER, Template::Chain { size: 256, links: 1 }),
			fault(DrillError::TooLittleWork)
		);
		assert_noop!(by(1_000, template()), TokenError::FundsUnavailable);
		assert_noop!(
			Drilling::propose(
				RuntimeOrigin::root(),
				Text::default(),
				template(),
				Default::default(),
				Mismatch::Majority,
				2,
				1,
				COMMIT
			),
			DispatchError::BadOrigin
		);
		crate::NextProject::<Test>::put(u32::MAX);
		assert_noop!(propose(2, 1, COMMIT), Error::<Test>::Overflow);
		crate::NextProject::<Test>::put(0);
	});
}

#[test]
fn open_projects_are_bounded_and_ended_ones_make_room() {
	new_test_ext().execute_with(|| {
		for who in [PROPOSER, OTHER] {
			assert_ok!(Balances::mint_into(&who, 1 << 30));
		}
		let by = |who| propose_by(who, template(), Mismatch::Majority, 2, 1);
		for _ in 0..4 {
			assert_ok!(by(PROPOSER));
		}
		assert_noop!(by(PROPOSER), Error::<Test>::TooManyOwn);
		for _ in 0..4 {
			assert_ok!(by(OTHER));
		}
		assert_noop!(by(VOTERS[0]), Error::<Test>::TooManyProjects);
		assert_ok!(Drilling::withdraw_project(signed(PROPOSER), 2));
		assert_noop!(by(OTHER), Error::<Test>::TooManyOwn);
		assert_ok!(by(PROPOSER));
		assert_eq!(OpenProjects::<Test>::get().to_vec(), [0, 1, 3, 4, 5, 6, 7, 8]);
		assert_eq!(OwnProjects::<Test>::get(PROPOSER), 4);
		Drilling::do_try_state().unwrap();
	});
}

/// A deadline that only fast machines keep would take the power of all others.
#[test]
fn a_unit_has_time_at_the_slowest_rate() {
	run(|| {
		let template = Template::Chain { size: 256, links: 900 };
		let needs = template.measure().unwrap().needs;
		let (work, least) = (needs.work, drill::least_blocks(&needs));
		assert!(least > 4 && work / u64::from(least - 2) <= drill::SLOWEST_BLOCK, "{least}");
		let propose = |blocks| {
			let title = Text::new("chains").unwrap();
			let rule = Mismatch::Majority;
			let data = Default::default();
			Drilling::propose(signed(PROPOSER), title, template.clone(), data, rule, 2, 1, blocks)
		};
		assert_noop!(propose(least - 1), Error::<Test>::TooHasty);
		assert_ok!(propose(least));
	});
}

/// Whoever sees the votes go against its project does not save the deposit by taking it back.
#[test]
fn what_the_votes_condemn_is_lost_all_the_same() {
	run(|| {
		let id = propose(2, 1);
		let jackpot = Balances::free_balance(JACKPOT);
		for who in VOTERS {
			assert_ok!(Drilling::vote(signed(who), id, false));
		}
		assert_ok!(Drilling::withdraw_project(signed(PROPOSER), id));
		assert_noop!(Drilling::withdraw_project(signed(PROPOSER), id), Error::<Test>::AlreadyEnded);
		// The vote goes to its end, so that others may still save it.
		assert_eq!(project(id).stage, Stage::Review);
		blocks(REVIEW + 1);
		assert!(matches!(project(id).stage, Stage::Rejected { .. }));
		let deposit = PROJECT_DEPOSIT + UNIT_DEPOSIT;
		assert_eq!(Balances::free_balance(JACKPOT), jackpot + deposit);
		assert_ok!(Drilling::clear(signed(PROPOSER), id));
		assert_eq!(Balances::free_balance(PROPOSER), ENDOWMENT - deposit);
	});
}

#[test]
fn a_project_in_review_is_withdrawn_with_its_deposit() {
	run(|| {
		let id = propose(2, 5);
		assert_noop!(Drilling::withdraw_project(signed(OTHER), id), Error::<Test>::NotProposer);
		assert_noop!(
			Drilling::withdraw_project(signed(PROPOSER), id + 1),
			Error::<Test>::NoSuchProject
		);
		assert_ok!(Drilling::withdraw_project(signed(PROPOSER), id));
		System::assert_last_event(Event::ProjectWithdrawn { project: id }.into());
		assert_eq!(held(PROPOSER), PROJECT_DEPOSIT + 5 * UNIT_DEPOSIT, "for the record");
		assert_noop!(Drilling::withdraw_project(signed(PROPOSER), id), Error::<Test>::AlreadyEnded);
		blocks(REVIEW + 2);
		assert_eq!(project(id).stage, Stage::Withdrawn { at: 1 });
		// Nobody computed anything of it, so its proposer may be rid of it at once.
		assert_noop!(Drilling::clear(signed(OTHER), id), Error::<Test>::StillKept);
		assert_ok!(Drilling::clear(signed(PROPOSER), id));
		assert_eq!(held(PROPOSER), 0);
	});
}

#[test]
fn an_active_project_that_is_withdrawn_finishes_what_is_under_way() {
	run(|| {
		let id = active(Mismatch::Majority, 2, 10);
		enlisted(2);
		until(0, committing);
		assert_ok!(Drilling::withdraw_project(signed(PROPOSER), id));
		assert_eq!(held(PROPOSER), PROJECT_DEPOSIT + 10 * UNIT_DEPOSIT);
		play(0, &[Act::Say(1), Act::Say(1)]);
		until_over(0);
		assert_eq!(Credited::get().len(), 2);
		let project = project(id);
		assert_eq!((project.agreed, project.begun, project.running), (1, 1, 0));
		// Nothing of it is handed out any more.
		blocks(10);
		assert!(!crate::Assignments::<Test>::contains_key(1));
	});
}

/// Neither a unit that the batch planned nor one that waits for another attempt is left over.
#[test]
fn units_of_a_withdrawn_project_are_given_up() {
	run(|| {
		let id = active(Mismatch::Majority, 2, 10);
		enlisted(4);
		play(0, &[Act::Say(1), Act::Say(2)]);
		assert_eq!(attempts(id, 0), Some(1));
		while !crate::Batch::<Test>::exists() {
			next_block();
		}
		assert_ok!(Drilling::withdraw_project(signed(PROPOSER), id));
		blocks(15);
		let project = project(id);
		assert_eq!((project.running, project.failed), (0, 0));
		assert_eq!(project.abandoned + project.agreed, project.begun);
		assert!(project.abandoned >= 1);
	});
}

/// One that most want is withdrawn all the same, when the vote is over.
#[test]
fn a_project_that_was_withdrawn_is_not_approved() {
	run(|| {
		let id = propose(2, 1);
		assert_ok!(Drilling::vote(signed(VOTERS[0]), id, false));
		assert_ok!(Drilling::withdraw_project(signed(PROPOSER), id));
		for who in &VOTERS[1..] {
			assert_ok!(Drilling::vote(signed(*who), id, true));
		}
		blocks(REVIEW + 1);
		assert!(matches!(project(id).stage, Stage::Withdrawn { .. }));
		assert_eq!(held(PROPOSER), PROJECT_DEPOSIT + UNIT_DEPOSIT);
	});
}
