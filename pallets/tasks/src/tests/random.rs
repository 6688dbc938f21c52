//! Whatever everybody does, the books stay straight and every task ends.

use crate::{mock::*, Disputes, Tasks};
use proptest::prelude::*;
use trainyard_task::{
	views::{Phase, Stage},
	Form, TaskTerms,
};

/// What somebody does.
#[derive(Clone, Debug)]
enum Act {
	Post(u8),
	Apply(u8, u8),
	Cancel(u8),
	Commit(u8, u8, bool),
	Reveal(u8, u8, bool),
	Challenge(u8, u8, u8, bool),
	Refute(u8, u8, u8),
	Unseal(u8, u8),
	Show(u8, u8, u8, bool),
	Execute(u8, u8),
	Pass(u8),
	Verifiers(bool),
}

fn act() -> impl Strategy<Value = Act> {
	let (task, who) = (0u8..3, 0u8..4);
	prop_oneof![
		1 => any::<u8>().prop_map(Act::Post),
		4 => (task.clone(), who.clone()).prop_map(|(t, w)| Act::Apply(t, w)),
		1 => task.clone().prop_map(Act::Cancel),
		6 => (task.clone(), 0u8..9, any::<bool>()).prop_map(|(t, w, l)| Act::Commit(t, w, l)),
		6 => (task.clone(), 0u8..9, any::<bool>()).prop_map(|(t, w, l)| Act::Reveal(t, w, l)),
		3 => (task.clone(), 0u8..2, 0u8..4, any::<bool>())
			.prop_map(|(t, w, c, l)| Act::Challenge(t, w, c, l)),
		2 => (task.clone(), 0u8..2, 0u8..4).prop_map(|(t, w, c)| Act::Refute(t, w, c)),
		1 => (task.clone(), 0u8..2).prop_map(|(t, w)| Act::Unseal(t, w)),
		5 => (task.clone(), 0u8..3, 0u8..2, any::<bool>())
			.prop_map(|(t, d, s, l)| Act::Show(t, d, s, l)),
		4 => (task, 0u8..3).prop_map(|(t, d)| Act::Execute(t, d)),
		8 => (1u8..6).prop_map(Act::Pass),
		1 => any::<bool>().prop_map(Act::Verifiers),
	]
}

/// Who of replicas and verifiers.
fn somebody(number: u8) -> u64 {
	let all: Vec<u64> = REPLICAS.into_iter().chain(VERIFIERS).collect();
	all[usize::from(number) % all.len()]
}

const SHORT: Form = Form::Step { steps: 200 };

fn of(id: u32, lies: bool) -> Run {
	match (Tasks::<Test>::get(id).map(|task| task.spec.form), lies) {
		(Some(MAP), lies) => map_of((10, 8), if lies { &[4] } else { &[] }),
		(_, true) => run_of(200, &[(30, b"lie")]),
		(_, false) => run_of(200, &[]),
	}
}

fn perform(act: Act) {
	match act {
		Act::Post(kind) => {
			let form = if kind & 1 == 0 { SHORT } else { MAP };
			let terms = if kind & 2 == 0 { terms() } else { rarely() };
			let terms = TaskTerms { replicas: 1 + kind / 4 % 3, ..terms };
			let posted = Tasking::post(signed(SUBMITTER), Box::new(spec(form)), Box::new(terms));
			assert!(posted.is_ok() || free(SUBMITTER) < 10_000);
		}
		Act::Apply(id, who) if Tasks::<Test>::contains_key(u32::from(id)) => {
			let _ = apply(id.into(), REPLICAS[usize::from(who)]);
		}
		Act::Cancel(id) => {
			let _ = Tasking::cancel(signed(SUBMITTER), id.into());
		}
		Act::Commit(id, who, lies) => {
			let _ = commit(id.into(), somebody(who), &of(id.into(), lies));
		}
		Act::Reveal(id, who, lies) => {
			let _ = reveal(id.into(), somebody(who), &of(id.into(), lies));
		}
		Act::Challenge(id, who, number, lies) => {
			let who = CHALLENGERS[usize::from(who)];
			let _ = challenge(id.into(), who, number, &of(id.into(), lies));
		}
		Act::Refute(id, who, number) => {
			let who = CHALLENGERS[usize::from(who)];
			let map = map_of((10, 8), &[4]);
			let _ = refute(id.into(), who, number, opened(&map, (4, 8)));
		}
		Act::Unseal(id, who) => {
			let _ = Tasking::unseal(signed(CHALLENGERS[usize::from(who)]), id.into());
		}
		Act::Show(id, dispute, side, lies) => {
			let (id, dispute) = (id.into(), u32::from(dispute));
			let found = Disputes::<Test>::get(id, dispute);
			if found.is_some_and(|found| matches!(found.stage, Stage::Descending(_))) {
				let _ = show(id, dispute, side, &of(id, lies));
			}
		}
		Act::Execute(id, dispute) => {
			let (id, dispute) = (id.into(), u32::from(dispute));
			let found = Disputes::<Test>::get(id, dispute);
			if found.is_some_and(|found| matches!(found.stage, Stage::Executing { .. })) {
				let _ = execute(id, dispute, &of(id, false));
			}
		}
		Act::Pass(blocks) => pass(blocks.into()),
		Act::Verifiers(busy) => Busy::set(busy),
		Act::Apply(..) => {}
	}
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(192))]

	#[test]
	fn the_books_stay_straight_and_every_task_ends(
		acts in proptest::collection::vec(act(), 1..120),
		salt in any::<u64>(),
	) {
		run(|| {
			SeedSalt::set(salt);
			perform(Act::Post(salt as u8));
			for act in acts {
				perform(act);
				Tasking::do_try_state().unwrap();
			}
			for _ in 0..1_500 {
				if Tasks::<Test>::iter().next().is_none() {
					break;
				}
				pass(1);
			}
			assert_eq!(Tasks::<Test>::iter().count() + Disputes::<Test>::iter().count(), 0);
			for id in 0..3 {
				for who in CHALLENGERS {
					let _ = Tasking::unseal(signed(who), id);
				}
			}
			let rich = [SUBMITTER].into_iter().chain(REPLICAS).chain(CHALLENGERS);
			for who in rich {
				assert_eq!(total(who), free(who), "something of {who} is still held");
			}
			assert!(Names::get().is_empty(), "a blob is named for ever");
			assert!(Seated::get().is_empty(), "a verifier sits for ever");
			assert_eq!(crate::Agenda::<Test>::iter().count() + crate::Due::<Test>::iter().count(), 0);
			assert_eq!(crate::Outputs::<Test>::iter().count(), 0);
		});
	}

	/// Whoever is honest loses nothing, whatever one liar does, as long as it answers.
	#[test]
	fn the_honest_lose_nothing(
		at in 1u32..200,
		byte in any::<u8>(),
		replicas in 1usize..4,
		audited in any::<bool>(),
		salt in any::<u64>(),
	) {
		run(|| {
			SeedSalt::set(salt);
			let terms = if audited { terms() } else { rarely() };
			let all = &REPLICAS[..replicas + 1];
			let id = computing(SHORT, terms, all);
			let honest = truth(id);
			let liar = run_of(200, &[(at, &[byte, 1, 2, 3])]);
			let runs: Vec<_> =
				all.iter().map(|who| (*who, if *who == all[0] { &liar } else { &honest })).collect();
			deliver(id, &runs, Some(&honest));
			let claims = get(id).claims;
			let of = |number: u8| {
				let root = claims[usize::from(number)].claim.root;
				if root == honest.claim.root { &honest } else { &liar }
			};
			while let Some(dispute) = disputes(id).first() {
				let sides = claims_of(id, *dispute).map(|claim| of(claim.unwrap()));
				fight(id, *dispute, sides);
			}
			until(id, |phase| matches!(phase, Phase::Ended(_)));
			for who in &all[1..] {
				assert!(free(*who) >= ENDOWMENT + 100, "{who} has {}", free(*who));
			}
			assert!(total(all[0]) < ENDOWMENT);
		});
	}
}
