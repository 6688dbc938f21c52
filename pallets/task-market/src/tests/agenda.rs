//! Bounded service of due jobs, overflow to later blocks, pokes and notifications.

use crate::{mock::*, Agenda, Cursor, Due, Error, Event, Jobs, Specs, WeightInfo};
use frame_support::{assert_noop, assert_ok, dispatch::Pays, weights::Weight};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	audit::Decision,
	job::{Ending, JobState},
};
use trainyard_traits::JobObserver;

/// The least weight that serves a job in every block.
fn room_for_one() -> Weight {
	TaskMarket::worst_advance() + <() as WeightInfo>::serve(1)
}

#[test]
fn what_does_not_fit_waits_for_the_next_blocks() {
	run(|| {
		let jobs: Vec<u32> = (0..5).map(|_| post(1)).collect();
		ServiceWeight::set(room_for_one());
		let ended =
			|| jobs.iter().filter(|id| matches!(job(**id).state, JobState::Ended(_))).count();
		let mut per_block = Vec::new();
		run_to(5);
		while ended() < jobs.len() {
			let before = ended();
			let used = next_block();
			assert!(used.all_lte(ServiceWeight::get()), "{used} is too much");
			TaskMarket::do_try_state().unwrap();
			per_block.push(ended() - before);
		}
		assert!(per_block.iter().all(|n| *n >= 1), "every block serves: {per_block:?}");
		assert!(per_block.len() > 1, "one block had no room for all: {per_block:?}");
		let places: u128 = jobs.iter().map(|id| place_of(*id)).sum();
		assert_eq!(free(SUBMITTER), ENDOWMENT - places);
		assert_eq!(Due::<Test>::iter().count(), 0);
	});
}

#[test]
fn the_oldest_are_served_first() {
	run(|| {
		let late: Vec<u32> = (0..3).map(|_| post(1)).collect();
		let waiting = || late.iter().filter(|id| job(**id).state == JobState::Open).count();
		run_to(3);
		// One that is due two blocks later, while the others still wait.
		let newest = post(1);
		ServiceWeight::set(room_for_one());
		while waiting() > 0 {
			assert_eq!(job(newest).state, JobState::Open, "overtook {} others", waiting());
			next_block();
		}
		run_to_end(newest);
	});
}

#[test]
fn nothing_is_served_without_room_and_nothing_is_lost() {
	run(|| {
		let id = post(1);
		ServiceWeight::set(TaskMarket::worst_of_state(&JobState::Open));
		run_to(9);
		assert_eq!((job(id).state, due(id)), (JobState::Open, 6));
		assert_eq!(Cursor::<Test>::get(), Some(6), "waits where it had no room");
		ServiceWeight::set(Weight::MAX);
		next_block();
		assert_eq!(job(id).state, JobState::Ended(Ending::NoApplicants));
		assert_eq!(Cursor::<Test>::get(), Some(11));
	});
}

#[test]
fn anyone_may_poke_an_overdue_job_for_free() {
	run(|| {
		let poke = |id| TaskMarket::poke(RuntimeOrigin::signed(OTHER), id);
		assert_noop!(poke(0), Error::<Test>::NoSuchJob);
		let id = post(1);
		System::set_block_number(5);
		assert_noop!(poke(id), Error::<Test>::NotOverdue);
		// A block that served nothing.
		System::set_block_number(6);
		let info = poke(id).unwrap();
		assert_eq!(info.pays_fee, Pays::No);
		let most = <() as WeightInfo>::look() + TaskMarket::worst_advance();
		assert!(info.actual_weight.unwrap().all_lte(most));
		assert_eq!(job(id).state, JobState::Ended(Ending::NoApplicants));
		assert_noop!(poke(id), Error::<Test>::NotOverdue);
	});
}

#[test]
fn a_notification_brings_a_job_forward_to_the_next_block() {
	run(|| {
		let id = post(1);
		TaskMarket::progressed(id);
		assert_eq!(due(id), 2);
		TaskMarket::progressed(id);
		assert_eq!(due(id), 2, "once is enough");
		run_to(2);
		assert_eq!((job(id).state, due(id)), (JobState::Open, 6), "there was nothing to do");

		System::set_block_number(8);
		TaskMarket::progressed(id);
		assert_eq!(due(id), 6, "an overdue job does not lose its place");
	});
}

#[test]
fn notifications_for_ended_and_unknown_jobs_do_nothing() {
	run(|| {
		TaskMarket::progressed(77);
		assert_eq!(Due::<Test>::get(77), None);
		let id = post(1);
		assert_ok!(TaskMarket::cancel(RuntimeOrigin::signed(SUBMITTER), id));
		TaskMarket::progressed(id);
		assert_eq!(Due::<Test>::get(id), None);
	});
}

#[test]
fn every_key_that_is_looked_at_weighs() {
	run(|| {
		let serve = <() as WeightInfo>::serve;
		let wait = <() as WeightInfo>::look();
		for count in [0u32, 1, 7, 40] {
			// Jobs that are looked at early and wait on.
			(0..count).for_each(|_| TaskMarket::schedule(post(1), 0));
			assert_eq!(next_block(), serve(count) + serve(0) + wait * u64::from(count));
			assert_eq!(Agenda::<Test>::iter_key_prefix(TaskMarket::now()).count(), 0);
			run_to(TaskMarket::now() + 40);
		}
	});
}

#[test]
fn an_ended_job_is_forgotten_by_the_clock_with_all_that_is_kept_of_it() {
	run(|| {
		let id = auditing(&[(11, 1)]);
		decide(id, &[Decision::Accepted], &[]);
		run_to_end(id);
		let at = job(id).deadline;
		assert_eq!(Due::<Test>::get(id), None, "it has not to be looked at");
		run_to(at - 1);
		assert!(Rounds::get().contains_key(&id) && AuditBook::get().contains_key(&id));
		let used = next_block();
		assert_eq!(
			used,
			<() as WeightInfo>::serve(1)
				+ <() as WeightInfo>::serve(0)
				+ TaskMarket::forget_weight()
		);
		System::assert_last_event(Event::Forgotten { job: id }.into());
		assert!(Jobs::<Test>::get(id).is_none() && Specs::<Test>::get(id).is_none());
		assert!(!Rounds::get().contains_key(&id) && !AuditBook::get().contains_key(&id));
		assert_eq!(Agenda::<Test>::iter().count(), 0);
	});
}

/// The specification is most of a job's bytes. Looks at a job in its states, applications and
/// agreements do without it: only the draw and the settlement of accepted work read it.
#[test]
fn a_look_at_a_job_does_not_read_what_it_trains() {
	/// Begins blocks until `id` leaves its state; the invariants do not hold meanwhile.
	fn leave(id: u32) {
		let state = job(id).state;
		while job(id).state == state {
			next_block();
		}
	}
	run(|| {
		let id = post(2);
		let spec = Specs::<Test>::take(id).unwrap();
		apply(id, &[11, 12]);
		TaskMarket::advance(id);
		Specs::<Test>::insert(id, &spec);
		run_to_state(id, JobState::Training);
		Specs::<Test>::remove(id);
		TaskMarket::advance(id);
		commit(id, 11);
		commit(id, 12);
		leave(id);
		assert_ok!(TaskMarket::agree(RuntimeOrigin::signed(SUBMITTER), id, Some(1)));
		reveal_after(id, 11, 1, spec.segments());
		reveal_after(id, 12, 1, spec.segments());
		// How it can be challenged follows from what it trains.
		Specs::<Test>::insert(id, &spec);
		leave(id);
		Specs::<Test>::remove(id);
		decide(id, &[Decision::Rejected], &[]);
		leave(id);
		assert_eq!(job(id).state, JobState::Ended(Ending::Failed));
		Specs::<Test>::insert(id, spec);
	});
}

#[test]
fn an_idle_block_looks_at_its_own_height_only() {
	run(|| {
		let look = <() as WeightInfo>::serve(0);
		assert_eq!(next_block(), look + look);
		post(1);
		assert_eq!(next_block(), look + look);
	});
}

#[test]
fn weights_of_steps_stay_below_the_worst() {
	run(|| {
		let worst = TaskMarket::worst_advance();
		let id = post(2);
		apply(id, &[11, 12, 13]);
		for _ in 0..60 {
			System::set_block_number(System::block_number() + 1);
			assert!(TaskMarket::advance(id).all_lte(worst));
			if let JobState::Ended(_) = job(id).state {
				return;
			}
		}
		panic!("did not end");
	});
}
