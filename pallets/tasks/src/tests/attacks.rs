//! What somebody would try.

use crate::{mock::*, Error, Event};
use frame_support::{assert_noop, assert_ok};
use trainyard_task::{
	claim,
	views::{Phase, TaskEnd},
	TaskTerms,
};

const DEPOSIT: u128 = 199_800;

/// Submitter, replica and challenger are one: it loses, and gains nothing from the chain.
#[test]
fn tasks_among_friends_bring_nothing() {
	run(|| {
		let all = [SUBMITTER, 11, 51];
		let had: u128 = all.map(total).iter().sum();
		let id = computing(STEPS, rarely(), &[11]);
		deliver(id, &[(11, &truth(id))], None);
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert_eq!(all.map(total).iter().sum::<u128>(), had, "nothing is earned");

		let id = computing(STEPS, rarely(), &[11]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		deliver(id, &[(11, &liar)], None);
		assert_ok!(challenge(id, 51, 0, &honest));
		fight(id, 0, [&liar, &honest]);
		assert_eq!(until_ended(id), TaskEnd::Refuted);
		// Convicting oneself burns half of the deposit.
		assert_eq!(all.map(total).iter().sum::<u128>(), had - DEPOSIT / 2);
	});
}

/// A false claim has no expected gain: what an audit takes outweighs what an escape brings.
#[test]
fn a_false_claim_does_not_pay() {
	for audit in [1u16, 50, 250, 500, 999, 1_000] {
		for reward in [1u128, 100, 12_345] {
			let least = TaskTerms::deterrent(reward, audit).unwrap();
			let chance = u128::from(audit);
			// Even if half of the deposit comes back, as to who convicts itself.
			assert!(least / 2 * chance + chance >= reward * (1_000 - chance), "{audit} {reward}");
		}
	}
}

/// Whoever sees what another one commits to has nothing that it could commit to itself.
#[test]
fn a_commitment_cannot_be_copied() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11, 12]);
		let run = truth(id);
		let made = claim::commitment(&Tasking::genesis_hash(), id, &11u64, &run.claim, &SALT);
		assert_ok!(Tasking::commit(signed(11), id, made));
		assert_ok!(Tasking::commit(signed(12), id, made));
		until(id, |phase| matches!(phase, Phase::Revealing { .. }));
		assert_ok!(reveal(id, 11, &run));
		assert_noop!(reveal(id, 12, &run), Error::<Test>::WrongCommitment);
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert_eq!(total(12), ENDOWMENT - DEPOSIT);
	});
}

/// A challenge that is seen in the pool of transactions is of no use to others.
#[test]
fn a_challenge_cannot_be_copied() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		deliver(id, &[(11, &liar)], None);
		let genesis = Tasking::genesis_hash();
		let made = claim::commitment(&genesis, id, &51u64, &honest.claim, &SALT);
		assert_ok!(Tasking::seal(signed(51), id, made));
		assert_ok!(Tasking::seal(signed(52), id, made));
		pass(1);
		let open = |who| {
			let ends = Box::new(honest.ends.clone());
			Tasking::challenge(signed(who), id, 0, honest.claim.clone(), ends, SALT)
		};
		assert_noop!(open(52), Error::<Test>::WrongCommitment);
		assert_ok!(open(51));
	});
}

/// Whoever has seen a trace in a dispute cannot race with it for the prize, and can help.
#[test]
fn a_trace_that_is_in_dispute_is_not_disputed_again() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11, 12]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		deliver(id, &[(11, &honest), (12, &liar)], None);
		refused!(challenge(id, 51, 1, &honest), Error::<Test>::SameClaim);
		fight(id, 0, [&honest, &liar]);
		assert_eq!(free(11), ENDOWMENT - DEPOSIT + DEPOSIT / 2);
		assert_ok!(Tasking::unseal(signed(51), id));

		let id = computing(STEPS, rarely(), &[13]);
		deliver(id, &[(13, &liar)], None);
		assert_ok!(challenge(id, 51, 0, &honest));
		refused!(challenge(id, 52, 0, &honest), Error::<Test>::SameClaim);
		// The first is silent, and the second plays for it.
		fight(id, 0, [&liar, &honest]);
		assert_eq!(free(51), ENDOWMENT + DEPOSIT / 2);
	});
}

/// That an honest replica was away does not keep others from showing what is true.
#[test]
fn a_true_trace_that_lost_by_silence_can_be_said_again() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11, 12]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		deliver(id, &[(11, &honest), (12, &liar)], None);
		assert_ok!(show(id, 0, 1, &liar));
		pass(MOVE + 1);
		assert!(get(id).claims[0].convicted());
		assert_ok!(challenge(id, 51, 1, &honest));
		fight(id, 1, [&liar, &honest]);
		assert_eq!(until_ended(id), TaskEnd::Refuted);
		assert_eq!(free(51), ENDOWMENT + DEPOSIT / 2);
	});
}

/// A member of an honest claim that plays for the other side can show nothing false in its name.
#[test]
fn a_traitor_among_replicas_has_no_wrong_move() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11, 12, 13]);
		let (honest, liar) = (truth(id), run_of(300, &[(140, b"lie")]));
		deliver(id, &[(11, &honest), (12, &honest), (13, &liar)], None);
		// 12 is with 13, and brings the nodes of the wrong side.
		let first = liar.trace.as_ref().unwrap().nodes(2, 0..76).to_vec();
		let shown = Tasking::show(signed(12), id, 0, 0, first.try_into().unwrap());
		assert_noop!(shown, Error::<Test>::WrongNodes);
		fight(id, 0, [&honest, &liar]);
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert_eq!((total(11) > ENDOWMENT, total(13)), (true, ENDOWMENT - DEPOSIT));
	});
}

/// Who sees that it is audited and shows nothing loses as much as who is convicted.
#[test]
fn seeing_an_audit_saves_nobody() {
	run(|| {
		let id = computing(STEPS, terms(), &[11]);
		let liar = run_of(300, &[(40, b"lie")]);
		assert_ok!(commit(id, 11, &liar));
		until(id, |phase| matches!(phase, Phase::Auditing { .. }));
		let auditor = get(id).auditor.unwrap().who;
		assert_ok!(commit(id, auditor, &truth(id)));
		until(id, |phase| matches!(phase, Phase::Revealing { .. }));
		assert_ok!(reveal(id, auditor, &truth(id)));
		assert_eq!(until_ended(id), TaskEnd::Undelivered);
		assert_eq!(total(11), ENDOWMENT - 80);
		assert_eq!(free(auditor), ENDOWMENT + 30, "who audits is paid");
		assert!(Seated::get().is_empty() && Absent::get().is_empty());
	});
}

/// Challenging a claim over and over costs a deposit each time, of which who is challenged has half.
#[test]
fn holding_a_result_up_costs_each_time() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		deliver(id, &[(11, &honest)], None);
		for round in 0..3 {
			assert_ok!(challenge(id, 51, 0, &liar));
			// The challenger is silent.
			assert_ok!(show(id, round, 0, &honest));
			pass(MOVE + 1);
			assert_eq!(total(51), ENDOWMENT - STAKE * (u128::from(round) + 1));
		}
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert_eq!(free(11), ENDOWMENT + 100 + 3 * STAKE / 2);
	});
}

/// A replica whose account has nothing but its deposit is paid all the same, and nothing fails.
#[test]
fn a_reward_below_the_existential_deposit_is_paid_to_who_has_a_deposit() {
	run(|| {
		let poor = TaskTerms { reward: 1, deposit: 60, replicas: 1, ..terms() };
		assert_ok!(Balances::transfer_allow_death(signed(12), 77, 60 + ED));
		let id = post(STEPS, poor);
		assert_ok!(apply(id, 77));
		until(id, |phase| matches!(phase, Phase::Computing { .. }));
		let run = truth(id);
		deliver(id, &[(77, &run)], Some(&run));
		assert_eq!(until_ended(id), TaskEnd::Accepted(0));
		assert_eq!(free(77), 60 + ED + 1);
	});
}

/// An auditor that cannot be paid ends no task: what it would have is burned.
#[test]
fn what_cannot_be_paid_is_burned() {
	run(|| {
		let id = computing(STEPS, TaskTerms { audit_fee: 3, ..terms() }, &[11]);
		Pool::set(vec![999]);
		let run = truth(id);
		deliver(id, &[(11, &run)], Some(&run));
		assert_eq!(get(id).auditor.unwrap().who, 999);
		until(id, |phase| matches!(phase, Phase::Ended(_)));
		assert_eq!(total(999), 0, "three are less than an account needs");
		let burned = Event::Burned { who: SUBMITTER, amount: 3 };
		assert!(events().contains(&burned));
		assert_eq!(free(SUBMITTER), ENDOWMENT - 103 - RECORD);
	});
}

/// A claim in a dispute is not settled before its dispute is over, however long that takes.
#[test]
fn nothing_is_paid_while_a_dispute_runs() {
	run(|| {
		let id = computing(STEPS, rarely(), &[11]);
		let (honest, liar) = (truth(id), run_of(300, &[(40, b"lie")]));
		deliver(id, &[(11, &liar)], None);
		let Phase::Challenging { until } = get(id).phase else { panic!() };
		to(until - 1);
		assert_ok!(challenge(id, 51, 0, &honest));
		to(until + 5);
		assert!(matches!(get(id).phase, Phase::Challenging { .. }));
		fight(id, 0, [&liar, &honest]);
		assert_eq!(until_ended(id), TaskEnd::Refuted);
	});
}

/// Two tasks of one account share no money.
#[test]
fn deposits_of_different_tasks_do_not_mix() {
	run(|| {
		let alone = || TaskTerms { replicas: 1, ..rarely() };
		let (first, second) = (post(STEPS, alone()), post(STEPS, alone()));
		assert_ok!(apply(first, 11));
		assert_ok!(apply(second, 11));
		until(second, |phase| matches!(phase, Phase::Computing { .. }));
		let (honest, liar) = (truth(first), run_of(300, &[(40, b"lie")]));
		for id in [first, second] {
			assert_ok!(commit(id, 11, if id == first { &honest } else { &liar }));
		}
		until(second, |phase| matches!(phase, Phase::Revealing { .. }));
		assert_ok!(reveal(first, 11, &honest));
		assert_ok!(reveal(second, 11, &liar));
		until(second, |phase| matches!(phase, Phase::Challenging { .. }));
		assert_ok!(challenge(second, 51, 0, &truth(second)));
		fight(second, 0, [&liar, &honest]);
		assert_eq!(until_ended(first), TaskEnd::Accepted(0));
		assert_eq!(until_ended(second), TaskEnd::Refuted);
		assert_eq!(free(11), ENDOWMENT + 100 - DEPOSIT);
	});
}

/// Whoever fills the hook's part of blocks to miss a seed that asks for an audit is audited all the same.
#[test]
fn who_misses_the_seed_of_an_audit_is_audited() {
	run(|| {
		let audited = |lost| {
			let id = computing(STEPS, rarely(), &[11]);
			LostSeeds::set(lost);
			assert_ok!(commit(id, 11, &truth(id)));
			until(id, |phase| !matches!(phase, Phase::Computing { .. } | Phase::Sampling { .. }));
			matches!(get(id).phase, Phase::Auditing { .. })
		};
		// Its chance is one in a thousand.
		assert_eq!([0, 1, 0].map(audited), [false, true, false]);
	});
}
