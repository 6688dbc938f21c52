//! Maps: records that are executed at once.

use crate::{mock::*, Error, Event};
use frame_support::{assert_noop, assert_ok};
use trainyard_task::{spec::TaskFault, views::TaskEnd, Form, TaskTerms};

const DEPOSIT: u128 = 199_800;

#[test]
fn a_map_is_paid() {
	run(|| {
		let id = computing(MAP, terms(), &[11, 12]);
		let run = truth(id);
		deliver(id, &[(11, &run), (12, &run)], Some(&run));
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert_eq!(free(11), ENDOWMENT + 100);
		assert_eq!(Tasking::view(id).unwrap().output, run.output);
	});
}

#[test]
fn a_false_record_convicts_its_claim() {
	run(|| {
		let id = computing(MAP, rarely(), &[11, 12]);
		let (honest, liar) = (truth(id), map_of((10, 8), &[4]));
		deliver(id, &[(11, &honest), (12, &liar)], None);
		assert!(disputes(id).is_empty(), "nobody has to say where they differ");
		let index = |index| opened(&liar, (index, 8));
		refused!(refute(id, 51, 1, index(3)), Error::<Test>::NotRefuted);
		assert_ok!(Tasking::unseal(signed(51), id));
		assert_ok!(refute(id, 51, 1, index(4)));
		let refuted = Event::Refuted { task: id, claim: 1, index: 4, by: 51 };
		assert!(events().contains(&refuted));
		assert_eq!((free(51), total(12)), (ENDOWMENT + DEPOSIT / 2, ENDOWMENT - DEPOSIT));
		refused!(refute(id, 51, 1, index(4)), Error::<Test>::NoSuchClaim);
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert_eq!(free(11), ENDOWMENT + 100);
		assert_ok!(Tasking::unseal(signed(51), id));
	});
}

#[test]
fn what_is_opened_and_executed_is_checked() {
	run(|| {
		let id = computing(MAP, rarely(), &[11]);
		let liar = map_of((10, 8), &[4]);
		deliver(id, &[(11, &liar)], None);
		let index = || opened(&liar, (4, 8));
		let mut other = index();
		other.content.0[0] ^= 1;
		refused!(refute(id, 51, 0, other), Error::<Test>::WrongOpening);
		let again = || Tasking::unseal(signed(51), id).unwrap();
		again();
		let mut other = index();
		other.input = vec![2].try_into().unwrap();
		refused!(refute(id, 51, 0, other), Error::<Test>::WrongState);
		again();
		let mut other = index();
		other.module = vec![2].try_into().unwrap();
		refused!(refute(id, 51, 0, other), Error::<Test>::WrongModule);
		again();
		let unsealed = Tasking::refute(signed(51), id, 0, Box::new(index()), SALT);
		assert_eq!(unsealed.unwrap_err().error, Error::<Test>::NotSealed.into());
		// A seal is of one index.
		refused!(refute(id, 51, 0, opened(&liar, (5, 8))), Error::<Test>::NotRefuted);
		let other = Tasking::refute(signed(51), id, 0, Box::new(index()), SALT);
		assert_eq!(other.unwrap_err().error, Error::<Test>::WrongCommitment.into());
		again();
		assert_ok!(refute(id, 51, 0, index()));
		assert_eq!(until_ended(id), TaskEnd::Refuted);
	});
}

#[test]
fn a_record_of_an_index_that_is_stuck_is_true() {
	run(|| {
		let id = computing(MAP, rarely(), &[11]);
		let honest = truth(id);
		deliver(id, &[(11, &honest)], None);
		refused!(refute(id, 51, 0, opened(&honest, (7, 8))), Error::<Test>::NotRefuted);
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
	});
}

#[test]
fn claims_of_maps_that_nobody_refutes_are_unresolved() {
	run(|| {
		let id = computing(MAP, terms(), &[11, 12]);
		let (honest, liar) = (truth(id), map_of((10, 8), &[4]));
		deliver(id, &[(11, &honest), (12, &liar)], Some(&honest));
		let auditor = get(id).auditor.unwrap().who;
		assert_eq!(until_ended(id), TaskEnd::Unresolved);
		assert_eq!((total(11), total(12)), (ENDOWMENT - 80, ENDOWMENT - 80));
		assert_eq!(Absent::get(), [auditor]);
		assert_eq!(free(SUBMITTER), ENDOWMENT - RECORD);
		assert!(Seated::get().is_empty());
	});
}

#[test]
fn steps_are_not_refuted_and_maps_not_challenged() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11]);
		deliver(id, &[(11, &truth(id))], None);
		let map = map_of((10, 8), &[]);
		refused!(refute(id, 51, 0, opened(&map, (4, 8))), Error::<Test>::IsNoMap);
		let id = computing(MAP, rarely(), &[12]);
		deliver(id, &[(12, &truth(id))], None);
		refused!(challenge(id, 52, 0, &run_of(300, &[])), Error::<Test>::IsMap);
	});
}

#[test]
fn long_records_are_opened_in_blobs() {
	run(|| {
		let form = Form::Map { count: 400, most: 60 };
		// 25,600 bytes take 26 blocks beyond the least, and so do those of an auditor.
		let short = Box::new(TaskTerms { replicas: 1, reveal: BOUNDS.least + 51, ..rarely() });
		let posted = Tasking::post(signed(SUBMITTER), Box::new(spec(form)), short);
		assert_noop!(posted, Tasking::invalid(TaskFault::Blocks));
		let id = computing(form, TaskTerms { reveal: BOUNDS.least + 52, ..rarely() }, &[11]);
		let liar = map_of((400, 60), &[399]);
		assert!(liar.output.as_ref().unwrap().len() > 25_000);
		deliver(id, &[(11, &liar)], None);
		assert_ok!(refute(id, 51, 0, opened(&liar, (399, 60))));
		assert_eq!(until_ended(id), TaskEnd::Refuted);
	});
}
