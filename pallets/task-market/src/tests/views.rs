//! What clients read.

use crate::mock::*;
use frame_support::assert_ok;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	audit::Decision,
	job::{Ending, Fate, JobState, Terms},
	views::{QuoteView, ReplicaView},
	Text,
};

#[test]
fn a_quote_is_what_will_be_held() {
	run(|| {
		let (spec, terms) = (JobSpec::noisy_example(), terms(3));
		let quote = TaskMarket::quote(spec.clone(), &terms).unwrap();
		let id = post_with(SUBMITTER, terms.clone());
		let held = job(id).quote;
		let QuoteView { work, training, price, pay, fee_per_ut, fee, .. } = quote;
		let QuoteView { escrow, deposit, record, compute_per_ut, .. } = quote;
		assert_eq!(fee_per_ut, 1_000_000);
		assert_eq!((work, training, price, fee), (held.work, held.training, held.price, held.fee));
		assert_eq!((pay, record), (held.whole().of_each(3).price, held.record));
		assert_eq!((escrow, deposit), (held.escrow, held.deposit));
		assert_eq!((compute_per_ut, held.compute_per_ut), (1_000_000, 1_000_000));
		let QuoteView { fetch_blocks, store_blocks, .. } = quote;
		assert_eq!((fetch_blocks, store_blocks), (held.moved.fetch, held.moved.store));
		assert_eq!(TaskMarket::quote(spec.clone(), &Terms { replicas: 0, ..terms.clone() }), None);
		let mut bad = spec;
		bad.training.steps = 0;
		assert_eq!(TaskMarket::quote(bad, &terms), None);
	});
}

#[test]
fn a_job_is_shown_through_its_life() {
	run(|| {
		assert_eq!(TaskMarket::job_view(0), None);
		let id = post(2);
		apply(id, &[12, 11]);
		let view = TaskMarket::job_view(id).unwrap();
		assert_eq!((view.id, view.submitter, view.invited), (id, SUBMITTER, None));
		assert_eq!((view.spec, view.terms.clone()), (JobSpec::noisy_example(), terms(2)));
		assert_eq!((view.work, view.deposit), (job(id).quote.work, job(id).quote.deposit));
		assert_eq!((view.state, view.deadline, view.seed), (JobState::Open, 6, None));
		assert_eq!((view.applicants, view.replicas), (vec![12, 11], vec![]));
		assert_eq!(view.settlement.escrowed, job(id).quote.escrow);

		run_to_state(id, JobState::Training);
		commit(id, 12);
		let view = TaskMarket::job_view(id).unwrap();
		assert_eq!((view.seed, view.applicants), (job(id).seed, vec![]));
		let of =
			|trainer, commitment, reveal, fate| ReplicaView { trainer, commitment, reveal, fate };
		let mut replicas = view.replicas;
		replicas.sort_by_key(|r| r.trainer);
		let committed = Rounds::get()[&id].committed.get(&12).copied();
		assert!(committed.is_some());
		let expected =
			vec![of(11, None, None, Fate::Working), of(12, committed, None, Fate::Working)];
		assert_eq!(replicas, expected);

		run_to_state(id, JobState::Revealing);
		reveal(id, 12, 1);
		run_to_state(id, JobState::Auditing);
		decide(id, &[Decision::Accepted], &[]);
		run_to_end(id);
		let view = TaskMarket::job_view(id).unwrap();
		assert_eq!(view.state, JobState::Ended(Ending::Settled));
		let mut replicas = view.replicas;
		replicas.sort_by_key(|r| r.trainer);
		let expected = vec![
			of(11, None, None, Fate::NotCommitted),
			of(12, committed, Some(reveal_by(12, 1)), Fate::Accepted),
		];
		assert_eq!(replicas, expected);
		assert_eq!(view.settlement, job(id).settlement);
	});
}

#[test]
fn jobs_are_listed() {
	run(|| {
		let ids: Vec<u32> = (0..4).map(|_| post(1)).collect();
		assert_ok!(TaskMarket::cancel(RuntimeOrigin::signed(SUBMITTER), ids[1]));
		let numbers = |views: Vec<trainyard_protocol::views::JobView<AccountId>>| {
			views.into_iter().map(|view| view.id).collect::<Vec<_>>()
		};
		assert_eq!(numbers(TaskMarket::active_jobs(None, 10)), vec![0, 2, 3]);
		assert_eq!(numbers(TaskMarket::active_jobs(None, 2)), vec![0, 2]);
		assert_eq!(numbers(TaskMarket::active_jobs(Some(2), 2)), vec![3]);
		assert_eq!(numbers(TaskMarket::active_jobs(Some(3), 2)), vec![0; 0]);
		assert_eq!(numbers(TaskMarket::recent_jobs(10)), vec![3, 2, 1, 0]);
		assert_eq!(numbers(TaskMarket::recent_jobs(2)), vec![3, 2]);
		run_to(26);
		assert_eq!(numbers(TaskMarket::recent_jobs(10)), vec![3, 2, 0], "one is forgotten");
		assert!(TaskMarket::active_jobs(None, 10).is_empty(), "the others ended");
	});
}

#[test]
fn recent_jobs_are_sought_among_the_newest_numbers_only() {
	run(|| {
		let old = post(1);
		crate::NextJob::<Test>::put(crate::views::RECENT_RANGE);
		let at_hand = TaskMarket::recent_jobs(10);
		assert_eq!(at_hand.iter().map(|job| job.id).collect::<Vec<_>>(), vec![old]);
		crate::NextJob::<Test>::put(crate::views::RECENT_RANGE + 1);
		assert_eq!(TaskMarket::recent_jobs(10), vec![]);
	});
}

#[test]
fn listings_are_shown_in_pages_while_their_trainers_stay() {
	run(|| {
		for (trainer, price) in [(11, 7), (12, 3), (13, 7), (14, 1)] {
			let note = Text::new("n").unwrap();
			let origin = RuntimeOrigin::signed(trainer);
			assert_ok!(TaskMarket::post_listing(origin, price, 5, note));
		}
		Bonds::mutate(|bonds| bonds.remove(&14));
		let page = |after, count| -> Vec<_> {
			let page = TaskMarket::listings(after, count).into_iter();
			page.map(|listing| (listing.trainer, listing.price_per_ut)).collect()
		};
		let mut all = page(None, 9);
		let first = page(None, 1);
		assert_eq!(first, all[..1]);
		assert_eq!(page(Some(first[0].0), 9), all[1..]);
		all.sort();
		assert_eq!(all, vec![(11, 7), (12, 3), (13, 7)]);
	});
}
