//! The steps of a round.

use super::*;
use crate::Rounds;
use trainyard_protocol::federation::{self, MAX_ATTEMPTS};

#[test]
fn rounds_follow_one_another_and_each_begins_with_the_mean_of_the_last() {
	run(|| {
		let id = open();
		until_posted(id);
		for (at, rows) in [(0, 100), (1, 200)] {
			let job = &Posted::get()[at];
			assert_eq!(job.spec.dataset.train_rows, rows);
			assert_eq!(job.spec.initial_model, template().initial_model);
			assert_eq!(job.terms, terms());
		}
		answer(id, &[1, 2]);
		let file = aggregate(id);
		propose(12, id, &file);
		assert_eq!((get(id).round, get(id).stage), (0, Stage::Aggregating));
		let before = free(12);
		pass(WINDOW);
		assert_eq!(get(id).round, 0, "it can be refuted");
		pass(1);
		let root = store(&file);
		assert_eq!((get(id).round, get(id).stage), (1, Stage::Training));
		assert_eq!(free(12), before + FEE + DEPOSIT + 32 * 6);
		assert_eq!(Names::get().get(&root), Some(&1), "the next round begins with it");
		let round = Rounds::<Test>::get(id, 0).unwrap();
		assert_eq!(round.root, root);
		let roots: Vec<H256> = round.parts.iter().map(|(_, _, root)| *root).collect();
		assert_eq!(roots, [store(&model(1)), store(&model(2))]);

		until_posted(id);
		let initial = Posted::get()[2].spec.initial_model.clone().unwrap();
		assert!(initial.file.is_on_chain());
		assert_eq!((initial.file.content_hash, initial.file.bytes), (root, layout().size));
		let pieces = federation::piece_values(&layout(), &file).unwrap();
		assert_eq!(initial.parameters, federation::parameters(&layout(), &pieces).unwrap());

		// What counted before its audit is waited for at the end.
		finish_round(id, &[3, 4]);
		assert_eq!((get(id).round, get(id).stage), (2, Stage::Finishing));
		for job in 0..4 {
			let JobStanding::Agreed(root) = Posted::get()[job].standing else { panic!() };
			set(job as u32, JobStanding::Accepted(root));
		}
		pass(POLL + 1);
		assert_eq!(get(id).stage, Stage::Ended(FederationEnding::Done));
		assert_eq!(get(id).tainted, None);
		assert_eq!(held(SUBMITTER), get(id).record);
		assert_eq!(Fed::view(id).unwrap().rounds.len(), 2);
	});
}

#[test]
fn by_the_other_rule_only_the_audit_counts() {
	run(|| {
		let id = open_with(2, Plan { rule: Rule::Settled, ..plan() });
		until_posted(id);
		let roots = [1, 2].map(|seed| store(&model(seed)));
		for part in 0..2 {
			set(job_of(id, part), JobStanding::Agreed(roots[part as usize]));
		}
		pass(20);
		assert_eq!(get(id).stage, Stage::Training);
		for part in 0..2 {
			set(job_of(id, part), JobStanding::Accepted(roots[part as usize]));
		}
		pass(POLL + 1);
		assert_eq!(get(id).stage, Stage::Aggregating);
		assert!(get(id).undecided.is_empty());
	});
}

#[test]
fn a_part_whose_job_fails_is_posted_again_and_then_given_up() {
	run(|| {
		let id = open_with(2, Plan { min_parts: 1, ..plan() });
		until_posted(id);
		set(job_of(id, 0), JobStanding::Agreed(store(&model(1))));
		let mut jobs = vec![];
		for attempt in 1..=MAX_ATTEMPTS {
			until_posted(id);
			let job = job_of(id, 1);
			assert!(!jobs.contains(&job));
			assert_eq!(get(id).parts[1].attempts, attempt);
			jobs.push(job);
			set(job, JobStanding::Failed);
			pass(POLL + RETRY + 2);
		}
		let part = &get(id).parts[1];
		assert!(part.given_up && part.answer.is_none());
		assert_eq!(get(id).stage, Stage::Aggregating);
		// The mean of one is that one.
		let file = aggregate(id);
		assert_eq!(file, model(1));
		propose(12, id, &file);
		pass(WINDOW + 1);
		assert_eq!(get(id).round, 1);
		assert_eq!(Rounds::<Test>::get(id, 0).unwrap().parts.len(), 1);
		assert_eq!(get(id).parts[1].attempts, 0, "it may answer in the next");
	});
}

#[test]
fn a_round_goes_on_without_a_part_that_never_answers() {
	run(|| {
		let id = open_with(3, plan());
		until_posted(id);
		for part in 0..2 {
			set(job_of(id, part), JobStanding::Agreed(store(&model(part))));
		}
		pass(plan().round_blocks - 10);
		assert_eq!(get(id).stage, Stage::Training, "the third has time");
		pass(12);
		assert_eq!(get(id).stage, Stage::Aggregating);
		assert!(get(id).parts[2].given_up);
		// Its job may end as it likes.
		set(2, JobStanding::Accepted(store(&model(3))));
		pass(POLL + 1);
		assert_eq!(get(id).parts[2].answer, None);
	});
}

#[test]
fn with_too_few_answers_a_late_round_waits_until_nothing_comes() {
	run(|| {
		let id = open();
		until_posted(id);
		set(job_of(id, 0), JobStanding::Agreed(store(&model(1))));
		pass(plan().round_blocks * 2);
		assert_eq!(get(id).stage, Stage::Training);
		for _ in 0..MAX_ATTEMPTS {
			until_posted(id);
			set(job_of(id, 1), JobStanding::Failed);
			pass(POLL + RETRY + 2);
		}
		assert_eq!(get(id).stage, Stage::Ended(FederationEnding::TooFewParts));
		assert_eq!(held(SUBMITTER), get(id).record);
	});
}

#[test]
fn a_submitter_without_money_ends_it_cleanly() {
	run(|| {
		let id = open();
		let rest = free(SUBMITTER) - ED - 10;
		assert_ok!(Balances::transfer_keep_alive(signed(SUBMITTER), 12, rest));
		let mut refused = 0;
		for _ in 0..60 {
			pass(1);
			let count = |event: &Event<Test>| matches!(event, Event::PartNotPosted { .. });
			refused += events().iter().filter(|event| count(event)).count();
		}
		assert_eq!(refused as u32, 2 * MAX_ATTEMPTS);
		assert_eq!(get(id).stage, Stage::Ended(FederationEnding::TooFewParts));
		assert_eq!(held(SUBMITTER), get(id).record, "nothing of a failed posting is held");
	});
}

#[test]
fn what_the_market_refuses_once_is_tried_again() {
	run(|| {
		let id = open();
		Refusals::set(vec!["the fee rose"]);
		pass(1);
		// The text of such an error is no part of an event.
		let error = sp_runtime::DispatchError::Other("");
		let refused = Event::PartNotPosted { federation: id, round: 0, part: 0, error };
		assert_eq!(events(), [refused]);
		answer(id, &[1, 2]);
	});
}

#[test]
fn a_model_of_another_size_or_without_its_chunks_is_no_answer() {
	run(|| {
		let id = open();
		until_posted(id);
		let mut long = model(1);
		long.extend([0; 4]);
		let (long, part) = (store(&long), store(&model(2)));
		Stored::mutate(|all| all.get_mut(&part).unwrap().is_complete = false);
		set(job_of(id, 0), JobStanding::Agreed(long));
		set(job_of(id, 1), JobStanding::Agreed(part));
		pass(20);
		assert_eq!(get(id).stage, Stage::Training);
		// If the audit accepts it, that part has failed.
		set(job_of(id, 0), JobStanding::Accepted(long));
		pass(POLL);
		assert_eq!((get(id).parts[0].attempts, get(id).parts[0].job), (1, None));
		Stored::mutate(|all| all.get_mut(&part).unwrap().is_complete = true);
		pass(POLL + 1);
		assert_eq!(get(id).parts[1].answer, Some(part));
	});
}

#[test]
fn a_result_that_is_false_afterwards_taints_all_from_its_round_on() {
	run(|| {
		let id = open();
		finish_round(id, &[1, 2]);
		answer(id, &[3, 4]);
		set(3, JobStanding::Failed);
		pass(AGGREGATE / 2);
		assert_eq!(get(id).tainted, Some(1));
		// Another model was accepted than counted.
		set(0, JobStanding::Accepted(store(&model(9))));
		pass(AGGREGATE / 4);
		assert_eq!(get(id).tainted, Some(0));
		assert_eq!(get(id).stage, Stage::Aggregating, "its submitter wants it to go on");
	});
}

/// Results that counted are looked at while proposals stand, too.
#[test]
fn what_becomes_false_while_a_proposal_stands_is_seen() {
	run(|| {
		let id = open();
		answer(id, &[1, 2]);
		let mut file = aggregate(id);
		file[700] ^= 1;
		propose(12, id, &file);
		set(0, JobStanding::Failed);
		pass(POLL + 1);
		assert_eq!(get(id).tainted, Some(0));
		set(1, JobStanding::Failed);
		assert_ok!(Fed::refute(signed(13), id, 0, 0, openings(id, &file, 0)));
		pass(POLL + 1);
		assert!(get(id).undecided.is_empty());
	});
}

#[test]
fn a_tainted_federation_ends_if_its_submitter_wants_that() {
	run(|| {
		let id = open_with(2, Plan { stop_if_tainted: true, ..plan() });
		answer(id, &[1, 2]);
		let file = aggregate(id);
		propose(12, id, &file);
		set(0, JobStanding::Failed);
		pass(POLL + WINDOW + 2);
		assert_eq!(get(id).stage, Stage::Ended(FederationEnding::Tainted));
		assert_eq!(held(12), 0);
	});
}

#[test]
fn without_an_aggregate_it_ends() {
	run(|| {
		let id = open();
		answer(id, &[1, 2]);
		pass(AGGREGATE + 1);
		assert_eq!(get(id).stage, Stage::Ended(FederationEnding::NoAggregate));
	});
}

#[test]
fn an_overdue_federation_is_served_by_anyone() {
	run(|| {
		let id = open();
		assert_noop!(Fed::poke(signed(12), id), Error::<Test>::NotOverdue);
		assert_noop!(Fed::poke(signed(12), id + 1), Error::<Test>::NoSuchFederation);
		ServiceWeight::set(frame_support::weights::Weight::zero());
		pass(3);
		assert!(Posted::get().is_empty());
		assert_ok!(Fed::poke(signed(12), id));
		assert_eq!(Posted::get().len(), 1);
	});
}

#[test]
fn rounds_on_record_are_removed_in_steps() {
	run(|| {
		let rounds = crate::FORGET_STEP + 3;
		let plan = Plan { rounds, min_parts: 1, rule: Rule::Settled, ..plan() };
		let id = open_with(1, plan);
		for round in 0..rounds {
			until_posted(id);
			set(job_of(id, 0), JobStanding::Accepted(store(&model(round))));
			pass(POLL + 1);
			propose(12, id, &model(round));
			pass(WINDOW + 2);
		}
		pass(RETENTION + 10);
		assert!(Fed::view(id).is_none());
		assert_eq!(Rounds::<Test>::iter().count(), 0);
		assert_eq!(held(SUBMITTER), 0);
	});
}

#[test]
fn more_undecided_results_than_there_may_be_wait_for_their_audits() {
	run(|| {
		let count = federation::MAX_PARTS;
		let plan = Plan { rounds: 6, min_parts: count, ..plan() };
		let id = open_with(count, plan);
		let seeds: Vec<u32> = (0..count).collect();
		for _ in 0..crate::MAX_UNDECIDED / count {
			finish_round(id, &seeds);
		}
		assert_eq!(get(id).undecided.len() as u32, crate::MAX_UNDECIDED);
		until_posted(id);
		let jobs: Vec<_> = (0..count).map(|part| job_of(id, part)).collect();
		for job in &jobs {
			set(*job, JobStanding::Agreed(store(&model(1))));
		}
		pass(20);
		assert_eq!(get(id).stage, Stage::Training);
		for job in standing_jobs() {
			let JobStanding::Agreed(root) = Posted::get()[job as usize].standing else { continue };
			set(job, JobStanding::Accepted(root));
		}
		pass(20);
		assert_eq!(get(id).stage, Stage::Aggregating);
	});
}
