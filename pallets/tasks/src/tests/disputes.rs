//! Claims that differ, and challenges of traces.

use crate::{mock::*, Brought, Call, Disputes, Error, Event, Subject, MAX_CHALLENGES};
use frame_support::{assert_noop, assert_ok, BoundedVec};
use trainyard_task::{
	claim,
	views::{Phase, Stage, TaskEnd},
	Form, StateId, H256,
};

/// A task whose two replicas come to different claims: 11 is honest.
fn two(lies: &[(u32, &[u8])]) -> (u32, [Run; 2]) {
	let id = computing(STEPS, rarely(), &[11, 12]);
	let runs = [truth(id), run_of(300, lies)];
	deliver(id, &[(11, &runs[0]), (12, &runs[1])], None);
	(id, runs)
}

const DEPOSIT: u128 = 199_800;

#[test]
fn replicas_that_differ_are_in_dispute_and_the_false_one_pays() {
	run(|| {
		let (id, [honest, liar]) = two(&[(123, b"lie")]);
		assert_eq!((disputes(id), claims_of(id, 0)), (vec![0], [Some(0), Some(1)]));
		narrow(id, 0, [&honest, &liar]);
		let stage = Disputes::<Test>::get(id, 0).unwrap().stage;
		assert!(matches!(stage, Stage::Executing { index: 123, .. }));
		assert_ok!(execute(id, 0, &liar));
		assert_eq!(Executed::get(), 1);
		assert!(get(id).claims[1].convicted() && !get(id).claims[0].convicted());
		assert_eq!(total(12), ENDOWMENT - DEPOSIT);
		assert_eq!(free(11), ENDOWMENT - DEPOSIT + DEPOSIT / 2);
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert_eq!(free(11), ENDOWMENT + DEPOSIT / 2 + 100);
		assert_eq!(free(SUBMITTER), ENDOWMENT - 100 - RECORD);
	});
}

#[test]
fn where_both_are_false_both_pay_and_nobody_earns() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11, 12]);
		let (a, b) = (run_of(300, &[(9, b"a")]), run_of(300, &[(9, b"b")]));
		deliver(id, &[(11, &a), (12, &b)], None);
		fight(id, 0, [&a, &b]);
		assert_eq!((total(11), total(12)), (ENDOWMENT - DEPOSIT, ENDOWMENT - DEPOSIT));
		assert_eq!(until_ended(id), TaskEnd::Refuted);
		assert_eq!(free(SUBMITTER), ENDOWMENT - RECORD);
	});
}

#[test]
fn silence_loses() {
	run(|| {
		let (id, [honest, _]) = two(&[(123, b"lie")]);
		assert_ok!(show(id, 0, 0, &honest));
		assert_noop!(show(id, 0, 0, &honest), Error::<Test>::HasShown);
		pass(MOVE);
		assert_noop!(
			Tasking::show(signed(12), id, 0, 1, Default::default()),
			Error::<Test>::WrongNodes
		);
		pass(1);
		assert!(disputes(id).is_empty() && get(id).claims[1].convicted());
		assert_eq!(total(12), ENDOWMENT - DEPOSIT);
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
	});
}

#[test]
fn silence_of_both_loses_on_both_sides() {
	run(|| {
		let (id, [honest, liar]) = two(&[(123, b"lie")]);
		narrow(id, 0, [&honest, &liar]);
		pass(MOVE + 1);
		assert!(get(id).claims.iter().all(|claimed| claimed.convicted()));
		assert_eq!(until_ended(id), TaskEnd::Refuted);
		assert_eq!((total(11), total(12)), (ENDOWMENT - DEPOSIT, ENDOWMENT - DEPOSIT));
	});
}

#[test]
fn moves_that_are_not_due_are_refused() {
	run(|| {
		Start::set(FATAL.to_vec());
		let (id, [honest, liar]) = two(&[(123, b"lie")]);
		let wrong = |side, run: &Run| {
			let nodes = run.trace.as_ref().unwrap().nodes(0, 0..4).to_vec();
			Tasking::show(signed(11), id, 0, side, nodes.try_into().unwrap())
		};
		assert_noop!(wrong(0, &honest), Error::<Test>::WrongNodes);
		assert_noop!(wrong(2, &honest), Error::<Test>::NoSuchSide);
		assert_noop!(show(id, 0, 1, &honest), Error::<Test>::WrongNodes);
		let none = BoundedVec::default;
		assert_noop!(Tasking::show(signed(11), id, 9, 0, none()), Error::<Test>::NoSuchDispute);
		let stuck = || Box::new(Brought::Fault(Default::default()));
		let executed = Tasking::execute(signed(11), id, 0, stuck(), Default::default());
		assert_eq!(executed.unwrap_err().error, Error::<Test>::NotExecuting.into());
		narrow(id, 0, [&honest, &liar]);
		assert_noop!(Tasking::show(signed(11), id, 0, 0, none()), Error::<Test>::NotDescending);
		let fails = |brought, path: Vec<H256>, error: Error<Test>| {
			let path = path.try_into().unwrap();
			let executed = Tasking::execute(signed(11), id, 0, Box::new(brought), path);
			assert_eq!(executed.unwrap_err().error, error.into());
		};
		let bytes = |module: &[u8], state: &[u8]| Brought::Bytes {
			module: module.to_vec().try_into().unwrap(),
			state: state.to_vec().try_into().unwrap(),
		};
		let path = honest.trace.as_ref().unwrap().proof(122).unwrap();
		let state = honest.states[122].clone();
		// It is stuck since step 64.
		let fault = state.unwrap_err();
		fails(bytes(MODULE, b"other"), path.clone(), Error::<Test>::WrongState);
		fails(Brought::Fault(Default::default()), path.clone(), Error::<Test>::WrongState);
		fails(Brought::Fault(fault.clone()), vec![], Error::<Test>::WrongState);
		assert_noop!(overdue(Subject::Dispute(id, 0)), Error::<Test>::NotOverdue);
		assert_ok!(execute(id, 0, &honest));
		assert_eq!(Executed::get(), 0, "after a fault nothing is executed");
		assert!(get(id).claims[1].convicted());
		fails(Brought::Fault(fault), path, Error::<Test>::NoSuchDispute);
	});
}

#[test]
fn another_module_is_not_executed() {
	run(|| {
		let (id, [honest, liar]) = two(&[(20, b"lie")]);
		narrow(id, 0, [&honest, &liar]);
		let state = honest.states[19].clone().unwrap().try_into().unwrap();
		let module = b"another".to_vec().try_into().unwrap();
		let brought = Box::new(Brought::Bytes { module, state });
		let path = honest.trace.as_ref().unwrap().proof(19).unwrap().try_into().unwrap();
		let executed = Tasking::execute(signed(11), id, 0, brought, path);
		assert_eq!(executed.unwrap_err().error, Error::<Test>::WrongModule.into());
		assert_ok!(execute(id, 0, &honest));
	});
}

#[test]
fn what_cannot_be_executed_here_convicts_nobody_by_that() {
	run(|| {
		let id = crate::NextTask::<Test>::get();
		let module = trainyard_task::File::of(STRANGE);
		let spec = trainyard_task::TaskSpec { module, ..spec(STEPS) };
		assert_ok!(Tasking::post(signed(SUBMITTER), Box::new(spec), Box::new(rarely())));
		assert_ok!(apply(id, 11));
		assert_ok!(apply(id, 12));
		until(id, |phase| matches!(phase, Phase::Computing { .. }));
		let runs = [run_of(300, &[]), run_of(300, &[(20, b"lie")])];
		deliver(id, &[(11, &runs[0]), (12, &runs[1])], None);
		narrow(id, 0, [&runs[0], &runs[1]]);
		let brought = Box::new(Brought::Bytes {
			module: STRANGE.to_vec().try_into().unwrap(),
			state: runs[0].states[19].clone().unwrap().try_into().unwrap(),
		});
		let path = runs[0].trace.as_ref().unwrap().proof(19).unwrap().try_into().unwrap();
		let executed = Tasking::execute(signed(11), id, 0, brought, path);
		assert_eq!(executed.unwrap_err().error, Error::<Test>::CannotExecute.into());
		assert!(!get(id).claims.iter().any(|claimed| claimed.convicted()));
	});
}

#[test]
fn an_auditor_convicts_whoever_lied_together() {
	run(|| {
		let id = computing(STEPS, terms(), &[11, 12]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		deliver(id, &[(11, &liar), (12, &liar)], Some(&honest));
		let auditor = get(id).auditor.unwrap().who;
		fight(id, 0, [&liar, &honest]);
		assert_eq!((total(11), total(12)), (ENDOWMENT - 80, ENDOWMENT - 80));
		assert_eq!(free(auditor), ENDOWMENT + 80);
		assert_eq!(until_ended(id), TaskEnd::Refuted);
		assert_eq!(free(auditor), ENDOWMENT + 110);
		assert_eq!(free(SUBMITTER), ENDOWMENT - 30 - RECORD);
		assert!(Contrary::get().is_empty() && Seated::get().is_empty());
	});
}

#[test]
fn an_auditor_that_lies_pays_and_earns_nothing() {
	run(|| {
		let id = computing(STEPS, terms(), &[11, 12]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		deliver(id, &[(11, &honest), (12, &honest)], Some(&liar));
		let auditor = get(id).auditor.unwrap().who;
		fight(id, 0, [&honest, &liar]);
		assert_eq!(Contrary::get(), [auditor]);
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert_eq!(free(auditor), ENDOWMENT);
		assert_eq!((free(11), free(12)), (ENDOWMENT + 100, ENDOWMENT + 100));
		assert_eq!(free(SUBMITTER), ENDOWMENT - 200 - RECORD);
		assert!(Seated::get().is_empty() && Absent::get().is_empty());
	});
}

#[test]
fn of_many_claims_the_true_one_is_left() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11, 12, 13, 14]);
		let lie = |at, byte| run_of(300, &[(at, &[byte])]);
		let runs = [lie(3, 1), lie(9, 2), truth(id), lie(30, 3)];
		deliver(id, &[(11, &runs[0]), (12, &runs[1]), (13, &runs[2]), (14, &runs[3])], None);
		assert_eq!(disputes(id), [0, 1]);
		// The first two differ after step 3, where one of them is right.
		fight(id, 0, [&runs[0], &runs[1]]);
		assert!(get(id).claims[0].convicted());
		fight(id, 1, [&runs[2], &runs[3]]);
		assert_eq!((disputes(id), claims_of(id, 2)), (vec![2], [Some(1), Some(2)]));
		fight(id, 2, [&runs[1], &runs[2]]);
		assert_eq!(until_ended(id), TaskEnd::Accepted(2));
		// It won two disputes, and who won the first lost what it won by that.
		assert_eq!(free(13), ENDOWMENT + 100 + DEPOSIT);
		assert_eq!(total(12), ENDOWMENT - DEPOSIT + DEPOSIT / 2);
	});
}

#[test]
fn anybody_with_a_trace_can_challenge() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11, 12]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		deliver(id, &[(11, &liar), (12, &liar)], None);
		assert_ok!(challenge(id, 51, 0, &honest));
		assert_eq!(free(51), ENDOWMENT - STAKE);
		assert_eq!(claims_of(id, 0), [Some(0), None]);
		fight(id, 0, [&liar, &honest]);
		assert_eq!(free(51), ENDOWMENT + DEPOSIT);
		assert_eq!(until_ended(id), TaskEnd::Refuted);
		assert_eq!(free(SUBMITTER), ENDOWMENT - RECORD);
	});
}

#[test]
fn a_false_challenge_pays_those_whom_it_troubled() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11, 12]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		deliver(id, &[(11, &honest), (12, &honest)], None);
		assert_ok!(challenge(id, 51, 0, &liar));
		fight(id, 0, [&honest, &liar]);
		assert_eq!(total(51), ENDOWMENT - STAKE);
		let again = System::block_number() + BOUNDS.window;
		assert!(matches!(get(id).phase, Phase::Challenging { until } if until >= again));
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		let share = STAKE / 4;
		assert_eq!((free(11), free(12)), (ENDOWMENT + 100 + share, ENDOWMENT + 100 + share));
	});
}

#[test]
fn a_challenge_is_sealed_before_and_taken_in_time() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		let seal = |who, run: &Run| {
			let genesis = Tasking::genesis_hash();
			let made = claim::commitment(&genesis, id, &who, &run.claim, &SALT);
			Tasking::seal(signed(who), id, made)
		};
		let open = |who, number, run: &Run| {
			let ends = Box::new(run.ends.clone());
			Tasking::challenge(signed(who), id, number, run.claim.clone(), ends, SALT)
		};
		assert_noop!(seal(51, &honest), Error::<Test>::NotChallenging);
		deliver(id, &[(11, &liar)], None);
		assert_noop!(open(51, 0, &honest), Error::<Test>::NotSealed);
		assert_noop!(Tasking::unseal(signed(51), id), Error::<Test>::NotSealed);
		assert_ok!(seal(51, &honest));
		assert_noop!(seal(51, &honest), Error::<Test>::HasSealed);
		assert_noop!(open(51, 0, &honest), Error::<Test>::SealedNow);
		pass(1);
		assert_noop!(open(52, 0, &honest), Error::<Test>::NotSealed);
		assert_noop!(open(51, 1, &honest), Error::<Test>::NoSuchClaim);
		assert_ok!(open(51, 0, &honest));
		assert_noop!(open(51, 0, &honest), Error::<Test>::SameClaim);
	});
}

#[test]
fn what_is_sealed_is_said_or_taken_back() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		deliver(id, &[(11, &liar)], None);
		let genesis = Tasking::genesis_hash();
		let made = claim::commitment(&genesis, id, &51u64, &honest.claim, &SALT);
		assert_ok!(Tasking::seal(signed(51), id, made));
		pass(1);
		let other = run_of(300, &[(50, b"other")]);
		let ends = Box::new(other.ends.clone());
		let opened = Tasking::challenge(signed(51), id, 0, other.claim.clone(), ends, SALT);
		assert_noop!(opened, Error::<Test>::WrongCommitment);
		assert_ok!(Tasking::unseal(signed(51), id));
		assert_eq!(free(51), ENDOWMENT);
		// A claim that the task cannot have, and one that is the same.
		refused!(challenge(id, 51, 0, &run_of(299, &[])), Error::<Test>::WrongClaim);
		assert_ok!(Tasking::unseal(signed(51), id));
		refused!(challenge(id, 51, 0, &liar), Error::<Test>::SameClaim);
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		let ends = Box::new(honest.ends.clone());
		let late = Tasking::challenge(signed(51), id, 0, honest.claim.clone(), ends, SALT);
		assert_noop!(late, Error::<Test>::NotChallenging);
		pass(RETENTION + 1);
		assert!(crate::Tasks::<Test>::get(id).is_none());
		assert_ok!(Tasking::unseal(signed(51), id));
		assert_eq!(free(51), ENDOWMENT);
	});
}

#[test]
fn one_conviction_ends_all_disputes_of_a_claim() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		deliver(id, &[(11, &liar)], None);
		assert_ok!(challenge(id, 51, 0, &run_of(300, &[(200, b"other")])));
		assert_ok!(challenge(id, 52, 0, &honest));
		fight(id, 1, [&liar, &honest]);
		assert!(disputes(id).is_empty());
		let ended = Event::DisputeEnded { task: id, dispute: 0, convicted: [false, false] };
		assert!(events().contains(&ended));
		assert_eq!((free(51), free(52)), (ENDOWMENT, ENDOWMENT + DEPOSIT / 2));
		refused!(challenge(id, 51, 0, &honest), Error::<Test>::NoSuchClaim);
	});
}

#[test]
fn there_is_room_for_so_many_challenges() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		deliver(id, &[(11, &honest)], None);
		let crowd = 1_000..1_000 + u64::from(MAX_CHALLENGES);
		let lie = |who: u64| run_of(300, &[(40, &who.to_le_bytes())]);
		let genesis = Tasking::genesis_hash();
		for who in crowd.clone() {
			assert_ok!(Balances::transfer_allow_death(signed(12), who, STAKE + 200));
			let claim = lie(who).claim;
			let made = claim::commitment(&genesis, id, &who, &claim, &SALT);
			assert_ok!(Tasking::seal(signed(who), id, made));
		}
		pass(1);
		for who in crowd.clone() {
			let Run { claim, ends, .. } = lie(who);
			assert_ok!(Tasking::challenge(signed(who), id, 0, claim, Box::new(ends), SALT));
		}
		refused!(challenge(id, 51, 0, &liar), Error::<Test>::TooManyChallenges);
		for (dispute, who) in disputes(id).into_iter().zip(crowd) {
			fight(id, dispute, [&honest, &lie(who)]);
		}
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		// Of each deposit half.
		assert_eq!(free(11), ENDOWMENT + 100 + STAKE / 2 * u128::from(MAX_CHALLENGES));
	});
}

#[test]
fn a_fault_that_is_claimed_falsely_is_refuted() {
	run(|| {
		let id = computing(Form::Step { steps: 20 }, rarely(), &[11, 12]);
		let honest = truth(id);
		let mut states = honest.states.clone();
		for state in &mut states[8..] {
			*state = Err(vec![9].try_into().unwrap());
		}
		let leaves = states.iter().map(|state| StateId::of(state.as_deref()).leaf()).collect();
		let trace = trainyard_task::Trace::of(leaves).unwrap();
		let (claim, ends) = trace.claim(StateId::of(states[20].as_deref()));
		let liar = Run { states, trace: Some(trace), claim, ends, output: None };
		deliver(id, &[(11, &liar), (12, &honest)], None);
		fight(id, 0, [&liar, &honest]);
		assert_eq!(until_ended(id), TaskEnd::Accepted(1));
		assert_eq!(total(11), ENDOWMENT - DEPOSIT);
	});
}

/// Whoever fills the room for moves lets nobody run out of time, and holds nothing up for ever.
#[test]
fn blocks_without_room_for_moves_do_not_count() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		deliver(id, &[(11, &liar)], None);
		assert_ok!(challenge(id, 51, 0, &honest));
		let until = Disputes::<Test>::get(id, 0).unwrap().until;
		assert_eq!(until, System::block_number() + MOVE);
		for _ in 0..5 {
			pass(1);
			FullOfMoves::mutate(|full| *full += 1);
		}
		to(until + 5);
		assert_eq!(Disputes::<Test>::get(id, 0).unwrap().until, until + 5);
		assert_ok!(show(id, 0, 1, &honest));
		pass(1);
		assert_eq!(Disputes::<Test>::get(id, 0), None, "the other side was silent");
		assert_eq!(until_ended(id), TaskEnd::Refuted);
	});
	run(|| {
		let id = computing(STEPS, rarely(), &[11]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		deliver(id, &[(11, &liar)], None);
		assert_ok!(challenge(id, 51, 0, &honest));
		let begun = System::block_number();
		assert_ok!(show(id, 0, 1, &honest));
		while Disputes::<Test>::get(id, 0).is_some() {
			pass(1);
			FullOfMoves::mutate(|full| *full += 1);
		}
		let passed = System::block_number() - begun;
		assert_eq!(passed, (MOVE + 1) * (trainyard_traits::MAX_STANDSTILL + 1));
	});
}

#[test]
fn blocks_keep_room_for_moves_that_are_due() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		let seal = Call::<Test>::seal { task: id, commitment: H256::zero() };
		assert!(!Tasking::is_urgent(&11, &seal), "nothing can be challenged");
		deliver(id, &[(11, &liar)], None);
		assert!(Tasking::is_urgent(&11, &seal));
		assert!(!Tasking::is_urgent(&51, &seal), "anybody could be");
		let opening = Call::<Test>::challenge {
			task: id,
			claim: 0,
			own: honest.claim.clone(),
			ends: Box::new(honest.ends.clone()),
			salt: SALT,
		};
		assert!(!Tasking::is_urgent(&51, &opening));
		let made = claim::commitment(&Tasking::genesis_hash(), id, &51u64, &honest.claim, &SALT);
		assert_ok!(Tasking::seal(signed(51), id, made));
		assert!(Tasking::is_urgent(&51, &opening));
		pass(1);
		let showing =
			|side| Call::<Test>::show { task: id, dispute: 0, side, nodes: Default::default() };
		let executing = || Call::<Test>::execute {
			task: id,
			dispute: 0,
			brought: Box::new(Brought::Fault(Default::default())),
			path: Default::default(),
		};
		assert!(!Tasking::is_urgent(&51, &showing(0)));
		let ends = Box::new(honest.ends.clone());
		assert_ok!(Tasking::challenge(signed(51), id, 0, honest.claim.clone(), ends, SALT));
		assert!(Tasking::is_urgent(&51, &showing(0)) && Tasking::is_urgent(&51, &showing(1)));
		assert!(!Tasking::is_urgent(&51, &showing(2)) && !Tasking::is_urgent(&51, &executing()));
		assert_ok!(show(id, 0, 1, &honest));
		assert!(!Tasking::is_urgent(&51, &showing(1)), "it was shown");
		assert_ok!(show(id, 0, 0, &liar));
		narrow(id, 0, [&liar, &honest]);
		assert!(!Tasking::is_urgent(&51, &showing(0)) && Tasking::is_urgent(&51, &executing()));
	});
}
