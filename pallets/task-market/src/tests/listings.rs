//! Listings, and jobs ordered through them.

use crate::{mock::*, types::SpecFault, Error, Event, HoldReason, Listing, Listings};
use frame_support::{assert_noop, assert_ok, traits::Hooks, weights::Weight};
use trainyard_program::{
	spec::{JobSpec, SpecError},
	work,
};
use trainyard_protocol::{
	job::{Ending, JobState, Terms},
	Text,
};

fn list(who: AccountId, price: u128, max_work: u64) -> sp_runtime::DispatchResult {
	let note = Text::new("two cores").unwrap();
	TaskMarket::post_listing(RuntimeOrigin::signed(who), price, max_work, note)
}

fn order(who: AccountId, trainer: AccountId, terms: Terms) -> sp_runtime::DispatchResult {
	let spec = JobSpec::noisy_example();
	TaskMarket::order(RuntimeOrigin::signed(who), trainer, spec, terms, u128::MAX)
}

#[test]
fn listings_are_posted_replaced_and_removed() {
	run(|| {
		assert_ok!(list(11, 5, 100));
		let posted =
			|price_per_ut, max_work| Event::ListingPosted { trainer: 11, price_per_ut, max_work };
		System::assert_last_event(posted(5, 100).into());
		assert_ok!(list(11, 6, 90));
		System::assert_last_event(posted(6, 90).into());
		let note = Text::new("two cores").unwrap();
		let listing = Listing { price_per_ut: 6, max_work: 90, note };
		assert_eq!(Listings::<Test>::iter().collect::<Vec<_>>(), vec![(11, listing)]);
		assert_ok!(TaskMarket::remove_listing(RuntimeOrigin::signed(11)));
		System::assert_last_event(Event::ListingRemoved { trainer: 11 }.into());
		assert_eq!(Listings::<Test>::iter().count(), 0);
	});
}

#[test]
fn listings_are_checked() {
	run(|| {
		assert_noop!(list(OTHER, 5, 100), Error::<Test>::NotATrainer);
		assert_noop!(list(11, 0, 100), Error::<Test>::ZeroPrice);
		assert_noop!(list(11, 5, 0), Error::<Test>::ZeroWork);
		assert_noop!(
			TaskMarket::remove_listing(RuntimeOrigin::signed(11)),
			Error::<Test>::NotListed
		);
	});
}

#[test]
fn the_listing_of_a_trainer_that_left_does_not_come_to_life_again() {
	run(|| {
		let idle = |room| TaskMarket::on_idle(TaskMarket::now(), room);
		let listed = || {
			let mut listed: Vec<_> = Listings::<Test>::iter_keys().collect();
			listed.sort();
			listed
		};
		TRAINERS.iter().for_each(|trainer| list(*trainer, 5, 100).unwrap());
		let used = idle(Weight::MAX);
		assert!(used.any_gt(Weight::zero()));
		Bonds::mutate(|bonds| bonds.retain(|who, _| ![11, 14].contains(who)));
		assert_eq!(idle(used - Weight::from_parts(1, 0)), Weight::zero(), "no room, no look");
		// The rest of a turn, and another one.
		(0..12).for_each(|_| assert_eq!(idle(Weight::MAX), used));
		assert_eq!(listed(), vec![12, 13, 15]);
		System::assert_has_event(Event::ListingRemoved { trainer: 14 }.into());
		Bonds::mutate(|bonds| bonds.insert(11, 1_000));
		assert_noop!(order(SUBMITTER, 11, terms(1)), Error::<Test>::NotListed);
	});
}

#[test]
fn ordering_posts_a_job_for_one_trainer() {
	run(|| {
		let work = work::micro_ut(&noisy()).unwrap();
		assert_ok!(list(11, terms(1).price_per_ut, work));
		assert_ok!(order(SUBMITTER, 11, terms(1)));
		let job = job(0);
		assert_eq!((job.submitter, job.invited), (SUBMITTER, Some(11)));
		assert_eq!(held(HoldReason::Escrow, SUBMITTER), job.quote.escrow);
		let (escrow, invited) = (job.quote.escrow, Some(11));
		System::assert_last_event(
			Event::JobPosted {
				job: 0,
				submitter: SUBMITTER,
				invited,
				work,
				escrow,
				fee_per_ut: 1_000_000,
			}
			.into(),
		);
		// The trainer does not come.
		run_to_end(0);
		assert_eq!(crate::mock::job(0).state, JobState::Ended(Ending::NoApplicants));
		assert_eq!(free(SUBMITTER), ENDOWMENT - place_of(0));
	});
}

#[test]
fn orders_are_checked() {
	run(|| {
		let work = work::micro_ut(&noisy()).unwrap();
		assert_noop!(order(SUBMITTER, 11, terms(1)), Error::<Test>::NotListed);
		assert_ok!(list(11, terms(1).price_per_ut + 1, work));
		assert_noop!(order(SUBMITTER, 11, terms(1)), Error::<Test>::PriceBelowListing);
		assert_ok!(list(11, 1, work - 1));
		assert_noop!(order(SUBMITTER, 11, terms(1)), Error::<Test>::WorkAboveListing);
		assert_ok!(list(11, 1, work));
		assert_noop!(order(11, 11, terms(1)), Error::<Test>::SubmitterCannotTrain);
		assert_noop!(order(SUBMITTER, 11, terms(2)), Error::<Test>::BadReplicas);
		let mut spec = JobSpec::noisy_example();
		spec.training.steps = 0;
		assert_noop!(
			TaskMarket::order(RuntimeOrigin::signed(SUBMITTER), 11, spec, terms(1), u128::MAX),
			Error::<Test>::InvalidSpec(SpecFault(SpecError::BadSteps))
		);
		Bonds::mutate(|bonds| bonds.remove(&11));
		assert_noop!(order(SUBMITTER, 11, terms(1)), Error::<Test>::NotATrainer);
	});
}

/// A submitter and its own trainer would otherwise hold the fee of a day, and take it only where it rises.
#[test]
fn an_ordered_job_waits_for_a_quarter_of_an_hour() {
	run(|| {
		assert_ok!(TaskMarket::post_listing(
			RuntimeOrigin::signed(11),
			1,
			u64::MAX,
			Text::default()
		));
		let within = |apply_blocks| Terms { apply_blocks, ..terms(1) };
		let order = |terms| {
			let origin = RuntimeOrigin::signed(SUBMITTER);
			TaskMarket::order(origin, 11, JobSpec::noisy_example(), terms, u128::MAX)
		};
		assert_noop!(order(within(145)), Error::<Test>::BadPeriods);
		assert_ok!(order(within(144)));
		// Whoever lets anybody apply may wait for longer.
		assert_eq!(post_with(SUBMITTER, within(145)), 1);
	});
}
