//! Commitments, audits, reveals, and what is paid.

use crate::{mock::*, Error, Event, Outputs};
use frame_support::{assert_noop, assert_ok};
use trainyard_task::{
	claim,
	views::{Phase, TaskEnd},
	Claim, File, Form, Limits, StateId, H256,
};

#[test]
fn honest_replicas_and_their_auditor_are_paid() {
	run(|| {
		let id = computing(STEPS, terms(), &[11, 12]);
		let run = truth(id);
		deliver(id, &[(11, &run), (12, &run)], Some(&run));
		let auditor = get(id).auditor.unwrap().who;
		assert_eq!(get(id).claims.len(), 1);
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert_eq!((free(11), free(12)), (ENDOWMENT + 100, ENDOWMENT + 100));
		assert_eq!(free(auditor), ENDOWMENT + 30);
		assert_eq!(free(SUBMITTER), ENDOWMENT - 230 - RECORD);
		assert!(run.output.is_some());
		assert_eq!(Tasking::view(id).unwrap().output, run.output);
		assert!(Seated::get().is_empty() && Absent::get().is_empty());
		assert!(Names::get().is_empty());
		assert_eq!(Executed::get(), 0, "nobody was in dispute");
		pass(RETENTION);
		assert_eq!((Tasking::view(id), Outputs::<Test>::iter().count()), (None, 0));
		assert_eq!(free(SUBMITTER), ENDOWMENT - 230);
	});
}

#[test]
fn without_an_audit_its_fee_goes_back() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11]);
		let run = truth(id);
		deliver(id, &[(11, &run)], None);
		assert_eq!(get(id).auditor, None);
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert_eq!(free(SUBMITTER), ENDOWMENT - 100 - RECORD);
	});
}

#[test]
fn an_audit_comes_as_often_as_the_terms_say() {
	let all = (0..4_000u64).filter(|i| {
		let seed = H256(sp_io::hashing::blake2_256(&i.to_le_bytes()));
		Tasking::is_audited(&seed, 250)
	});
	// 1,000 expected, standard deviation 27.4: six of them.
	let count = all.count();
	assert!((836..=1_164).contains(&count), "{count}");
	assert!(Tasking::is_audited(&H256::zero(), 1_000));
}

#[test]
fn commitments_are_taken_once_and_of_replicas() {
	run(|| {
		let id = computing(STEPS, terms(), &[11, 12]);
		let run = truth(id);
		assert_noop!(Tasking::commit(signed(13), id, H256::zero()), Error::<Test>::NotReplica);
		assert_noop!(Tasking::commit(signed(11), 9, H256::zero()), Error::<Test>::NoSuchTask);
		assert_ok!(commit(id, 11, &run));
		assert_noop!(commit(id, 11, &run), Error::<Test>::HasCommitted);
		assert_ok!(commit(id, 12, &run));
		pass(1);
		assert!(matches!(get(id).phase, Phase::Sampling { .. }), "nobody waits for longer");
		assert_noop!(commit(id, 11, &run), Error::<Test>::NotComputing);
		until(id, |phase| matches!(phase, Phase::Auditing { .. }));
		let auditor = get(id).auditor.unwrap().who;
		assert!(VERIFIERS.contains(&auditor));
		assert_noop!(commit(id, 11, &run), Error::<Test>::NotComputing);
		assert_noop!(reveal(id, 11, &run), Error::<Test>::NotRevealing);
		assert_ok!(commit(id, auditor, &run));
		pass(1);
		assert!(matches!(get(id).phase, Phase::Revealing { .. }));
	});
}

#[test]
fn who_does_not_commit_loses_a_quarter() {
	run(|| {
		let id = computing(STEPS, terms(), &[11, 12]);
		let run = truth(id);
		assert_ok!(commit(id, 11, &run));
		until(id, |phase| matches!(phase, Phase::Sampling { .. }));
		assert_eq!((total(12), free(12)), (ENDOWMENT - 20, ENDOWMENT - 20));
		assert_eq!(get(id).replicas.len(), 1);
		until(id, |phase| matches!(phase, Phase::Auditing { .. }));
		let auditor = get(id).auditor.unwrap().who;
		assert_ok!(commit(id, auditor, &run));
		pass(1);
		assert_ok!(reveal(id, 11, &run));
		assert_ok!(reveal(id, auditor, &run));
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert_eq!(free(SUBMITTER), ENDOWMENT - 130 - RECORD, "one reward goes back");
	});
}

#[test]
fn where_nobody_commits_the_submitter_has_all_back_and_no_more() {
	run(|| {
		let id = computing(STEPS, terms(), &[11, 12]);
		assert_eq!(until_ended(id), TaskEnd::Undelivered);
		assert_eq!(free(SUBMITTER), ENDOWMENT - RECORD);
		assert_eq!((total(11), total(12)), (ENDOWMENT - 20, ENDOWMENT - 20));
	});
}

#[test]
fn who_committed_and_shows_nothing_loses_all() {
	run(|| {
		let id = computing(STEPS, terms(), &[11, 12]);
		let run = truth(id);
		assert_ok!(commit(id, 11, &run));
		assert_ok!(commit(id, 12, &run));
		until(id, |phase| matches!(phase, Phase::Auditing { .. }));
		let auditor = get(id).auditor.unwrap().who;
		assert_ok!(commit(id, auditor, &run));
		until(id, |phase| matches!(phase, Phase::Revealing { .. }));
		assert_ok!(reveal(id, 11, &run));
		until(id, |phase| matches!(phase, Phase::Challenging { .. }));
		assert_eq!(total(12), ENDOWMENT - 80);
		assert_eq!(Absent::get(), [auditor]);
		assert!(Seated::get().is_empty());
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert_eq!(free(11), ENDOWMENT + 100);
		assert_eq!(free(SUBMITTER), ENDOWMENT - 100 - RECORD);
	});
}

#[test]
fn where_nobody_shows_anything_the_task_is_over() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11]);
		assert_ok!(commit(id, 11, &truth(id)));
		assert_eq!(until_ended(id), TaskEnd::Undelivered);
		assert_eq!(total(11), ENDOWMENT - 199_800);
		assert_eq!(free(SUBMITTER), ENDOWMENT - RECORD);
	});
}

#[test]
fn a_silent_auditor_is_replaced_twice() {
	run(|| {
		let id = computing(STEPS, terms(), &[11, 12]);
		let run = truth(id);
		assert_ok!(commit(id, 11, &run));
		assert_ok!(commit(id, 12, &run));
		assert_eq!(until_ended(id), TaskEnd::Unaudited);
		let distinct: std::collections::BTreeSet<AccountId> =
			get(id).silent.iter().copied().collect();
		assert_eq!(distinct.len(), 3, "nobody is drawn twice");
		// The submitter chose the periods: who was drawn loses nothing, nor does who computed.
		assert_eq!((Absent::get().len(), Seated::get().len()), (0, 0));
		assert_eq!((free(11), free(12)), (ENDOWMENT, ENDOWMENT));
		assert_eq!(free(SUBMITTER), ENDOWMENT - RECORD);
	});
}

#[test]
fn an_audit_waits_for_verifiers_and_not_for_ever() {
	run(|| {
		let id = computing(STEPS, terms(), &[11, 12]);
		let run = truth(id);
		Busy::set(true);
		assert_ok!(commit(id, 11, &run));
		assert_ok!(commit(id, 12, &run));
		until(id, |phase| matches!(phase, Phase::Sampling { tries: 1, .. }));
		let missed = Event::AuditMissed { task: id, auditor: None, again: true };
		assert!(events().contains(&missed));
		Busy::set(false);
		until(id, |phase| matches!(phase, Phase::Auditing { .. }));
		let other = computing(STEPS, terms(), &[13]);
		Pool::set(Vec::new());
		assert_ok!(commit(other, 13, &run));
		// What nobody audited is not paid, and costs nobody anything.
		assert_eq!(until_ended(other), TaskEnd::Unaudited);
		assert_eq!((free(13), get(other).auditor), (ENDOWMENT, None));
	});
}

/// The lot by which a task is audited says nothing of who audits it.
#[test]
fn every_verifier_audits_as_often() {
	use std::collections::BTreeMap;
	let mut audits = BTreeMap::<AccountId, u32>::new();
	let all = VERIFIERS.count();
	for round in 0..600u32 {
		run(|| {
			let id = computing(
				STEPS,
				trainyard_task::TaskTerms { audit: 500, deposit: 200, ..terms() },
				&[11],
			);
			let seed = H256::from(sp_io::hashing::blake2_256(&round.to_le_bytes()));
			let mut task = get(id);
			Tasking::draw_auditor(id, &mut task, Tasking::now(), (1, 0), &seed);
			if let Some(auditor) = task.auditor {
				*audits.entry(auditor.who).or_default() += 1;
			}
		});
	}
	let sum: u32 = audits.values().sum();
	assert_eq!(audits.len(), all, "{audits:?}");
	// Half of 600, and of these as many for each: six standard deviations.
	assert!((226..=374).contains(&sum), "{sum}");
	let each = f64::from(sum) / all as f64;
	for (who, count) in &audits {
		assert!((f64::from(*count) - each).abs() < 6.0 * each.sqrt(), "{who}: {count} of {sum}");
	}
}

#[test]
fn a_lost_seed_of_an_audit_is_drawn_again() {
	run(|| {
		let id = computing(STEPS, terms(), &[11]);
		LostSeeds::set(1);
		assert_ok!(commit(id, 11, &truth(id)));
		until(id, |phase| matches!(phase, Phase::Auditing { tries: 1, .. }));
		assert_eq!(LostSeeds::get(), 0);
	});
}

#[test]
fn what_is_shown_is_what_was_committed_to() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11, 12]);
		let run = truth(id);
		let false_end = Claim { output: StateId::of(Ok(b"other")), ..run.claim.clone() };
		let made = |claim| claim::commitment(&Tasking::genesis_hash(), id, &12u64, claim, &SALT);
		assert_ok!(commit(id, 11, &run));
		assert_ok!(Tasking::commit(signed(12), id, made(&false_end)));
		until(id, |phase| matches!(phase, Phase::Revealing { .. }));
		let other = run_of(300, &[(7, b"lie")]);
		assert_noop!(reveal(id, 11, &other), Error::<Test>::WrongCommitment);
		assert_noop!(reveal(id, 13, &run), Error::<Test>::NotReplica);
		let of_false = Run { claim: false_end, ..run.clone() };
		assert_noop!(reveal(id, 12, &of_false), Error::<Test>::WrongClaim);
		let show = |who, output: Option<Vec<u8>>| {
			let output = output.map(|bytes| bytes.try_into().unwrap());
			let ends = Box::new(run.ends.clone());
			Tasking::reveal(signed(who), id, run.claim.clone(), ends, output, SALT)
		};
		assert_noop!(show(11, None), Error::<Test>::NeedsOutput);
		assert_noop!(show(11, Some(vec![1])), Error::<Test>::WrongOutput);
		assert_ok!(show(11, run.output.clone()));
		assert_noop!(show(11, run.output.clone()), Error::<Test>::HasRevealed);
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert_eq!(total(12), ENDOWMENT - 199_800);
	});
}

#[test]
fn a_second_replica_need_not_bring_the_output_again() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11, 12]);
		let run = truth(id);
		assert_ok!(commit(id, 11, &run));
		assert_ok!(commit(id, 12, &run));
		until(id, |phase| matches!(phase, Phase::Revealing { .. }));
		assert_ok!(reveal(id, 11, &run));
		let silent = Run { output: None, ..run };
		assert_ok!(reveal(id, 12, &silent));
		pass(1);
		assert!(matches!(get(id).phase, Phase::Challenging { .. }));
	});
}

/// A module that doubles its state, so to speak: the fake referee is not asked.
fn long_task() -> (u32, Run) {
	let mut spec = spec(Form::Step { steps: 2 });
	spec.limits = Limits { state: 8_192, ..spec.limits };
	let terms = rarely();
	let id = crate::NextTask::<Test>::get();
	let terms = trainyard_task::TaskTerms { replicas: 1, ..terms };
	assert_ok!(Tasking::post(signed(SUBMITTER), Box::new(spec), Box::new(terms)));
	assert_ok!(apply(id, 11));
	until(id, |phase| matches!(phase, Phase::Computing { .. }));
	(id, run_of(2, &[(2, &[3; 5_000])]))
}

#[test]
fn a_long_output_is_a_blob_and_waited_for() {
	run(|| {
		let (id, run) = long_task();
		assert_ok!(commit(id, 11, &run));
		until(id, |phase| matches!(phase, Phase::Revealing { .. }));
		let brought = Some(vec![3; 4_096].try_into().unwrap());
		let ends = Box::new(run.ends.clone());
		let shown = Tasking::reveal(signed(11), id, run.claim.clone(), ends, brought, SALT);
		assert_noop!(shown, Error::<Test>::NeedsNoOutput);
		assert_ok!(reveal(id, 11, &run));
		let root = File::of(&[3; 5_000]).root;
		Stored::mutate(|all| all.get_mut(&root).unwrap().1 = false);
		pass(3);
		assert!(matches!(get(id).phase, Phase::Revealing { .. }));
		// Times stand still while blocks are full.
		FullBlocks::set(4);
		pass(4);
		assert!(matches!(get(id).phase, Phase::Revealing { .. }));
		store(&[3; 5_000]);
		until(id, |phase| matches!(phase, Phase::Challenging { .. }));
		assert_eq!(Names::get()[&root], 1);
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert!(Kept::get().contains(&(root, vec![11])), "who stored it keeps it");
		assert_eq!(free(11), ENDOWMENT + 100);
		assert_eq!(Tasking::view(id).unwrap().output, None);
	});
}

#[test]
fn an_output_that_is_not_stored_is_not_delivered() {
	run(|| {
		let (id, run) = long_task();
		assert_ok!(commit(id, 11, &run));
		until(id, |phase| matches!(phase, Phase::Revealing { .. }));
		assert_ok!(reveal(id, 11, &run));
		Stored::mutate(|all| all.get_mut(&File::of(&[3; 5_000]).root).unwrap().1 = false);
		assert_eq!(until_ended(id), TaskEnd::Undelivered);
		assert_eq!(total(11), ENDOWMENT - 199_800);
		assert!(Names::get().is_empty());
	});
}

#[test]
fn a_fault_is_a_result_and_paid() {
	run(|| {
		Start::set(FATAL.to_vec());
		let id = computing(Form::Step { steps: 80 }, rarely(), &[11]);
		let run = truth(id);
		assert!(run.states[63].is_ok() && run.states[64].is_err() && run.output.is_none());
		deliver(id, &[(11, &run)], None);
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert_eq!(free(11), ENDOWMENT + 100);
	});
}

#[test]
fn a_state_longer_than_the_limit_is_no_output() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11]);
		let long = run_of(300, &[(300, &[0; 65])]);
		assert_ok!(commit(id, 11, &long));
		until(id, |phase| matches!(phase, Phase::Revealing { .. }));
		assert_noop!(reveal(id, 11, &long), Error::<Test>::WrongClaim);
	});
}
