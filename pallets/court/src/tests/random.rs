//! Whatever the sides do, no money is made or lost, and what must hold in any state holds.

use super::made_up::{deny, judge, MadeUp, STEP};
use crate::{mock::*, Commitments, Disputes};
use frame_support::weights::Weight;
use proptest::prelude::*;
use trainyard_court::game::Turn;
use trainyard_traits::{Court as _, Defendant, DisputeId};

#[derive(Clone, Debug)]
enum Act {
	/// Somebody binds itself to an accusation of a trainer, or shows it.
	Commit(usize, usize),
	Show(usize, usize),
	Raise(u64, u128),
	Withdraw(u64),
	Poke(u64),
	/// Whoever is to move does.
	Move(u64, u32),
	/// Blocks pass, full or not.
	Pass(u32, bool),
	Settle(usize, bool),
	/// The agenda has no room, or has it again.
	Busy(bool),
}

fn act() -> impl Strategy<Value = Act> {
	let (who, of, id) = (0..70usize, 0..3usize, 0..80u64);
	prop_oneof![
		6 => (who.clone(), of.clone()).prop_map(|(who, of)| Act::Commit(who, of)),
		6 => (who, of.clone()).prop_map(|(who, of)| Act::Show(who, of)),
		2 => (id.clone(), 0..900u128).prop_map(|(id, more)| Act::Raise(id, more)),
		1 => id.clone().prop_map(Act::Withdraw),
		2 => id.clone().prop_map(Act::Poke),
		8 => (id, 0..60u32).prop_map(|(id, at)| Act::Move(id, at)),
		4 => (1..30u32, any::<bool>()).prop_map(|(blocks, full)| Act::Pass(blocks, full)),
		1 => (of, any::<bool>()).prop_map(|(of, acquitted)| Act::Settle(of, acquitted)),
		1 => any::<bool>().prop_map(Act::Busy),
	]
}

fn play(trainings: &[MadeUp], id: DisputeId, at: u32) {
	let Some(dispute) = Disputes::<Test>::get(id) else { return };
	let of = TRAINERS.iter().position(|who| who == dispute.defendant.who()).unwrap();
	let training = &trainings[of];
	let _ = match dispute.stage.turn {
		Turn::Defender => training.answer(id),
		Turn::Challenger => deny(id, [STEP, training.count(), at][at as usize % 3]),
		Turn::Piece => judge(dispute.challenger, id, &training.join()),
	};
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(24))]

	#[test]
	fn money_and_state_hold(acts in proptest::collection::vec(act(), 1..120)) {
		run(|| {
			SideClock::set(40);
			DefenceWork::set(9);
			Windows::mutate(|all| all.get_mut(&JOB).unwrap().until = 1_000);
			let issuance = Balances::total_issuance();
			let trainings =
				[MadeUp::new(1, true), MadeUp::new(2, false), MadeUp::new(1, true)];
			let defendants: Vec<Defendant<AccountId>> =
				TRAINERS.iter().zip(&trainings).map(|(who, made)| made.claimed_by(*who)).collect();
			let accusations: Vec<_> = trainings
				.iter()
				.zip(&defendants)
				.map(|(made, defendant)| made.accused(*defendant))
				.collect();
			for act in acts {
				match act {
					Act::Commit(who, of) => {
						let (who, a) = (1_000 + who as u64, &accusations[of]);
						let hash = Court::digest(
							&who, &a.defendant, &a.target, &a.claimed, &[1; 32],
						);
						let _ = Court::commit(RuntimeOrigin::signed(who), JOB, hash);
					}
					Act::Show(who, of) => {
						let who = RuntimeOrigin::signed(1_000 + who as u64);
						let _ = Court::challenge(who, accusations[of].clone(), [1; 32]);
					}
					Act::Raise(id, more) => {
						if let Some(dispute) = Disputes::<Test>::get(id) {
							let who = RuntimeOrigin::signed(dispute.challenger);
							let _ = Court::raise(who, id, more);
						}
					}
					Act::Withdraw(id) => {
						if let Some(dispute) = Disputes::<Test>::get(id) {
							let who = RuntimeOrigin::signed(dispute.challenger);
							let _ = Court::withdraw(who, id);
						}
					}
					Act::Poke(id) => {
						let _ = Court::poke(RuntimeOrigin::signed(SUBMITTER), id);
					}
					Act::Move(id, at) => play(&trainings, id, at),
					Act::Pass(blocks, full) => {
						IsFull::set(full);
						run_fast(blocks);
					}
					Act::Settle(of, acquitted) => {
						// A market settles nobody as acquitted of whom something is open.
						let open = Disputes::<Test>::iter_values()
							.any(|dispute| dispute.defendant == defendants[of]);
						if !(open && acquitted) {
							Court::settle(&defendants[of], acquitted);
						}
					}
					Act::Busy(busy) => ServiceWeight::set(match busy {
						true => Weight::zero(),
						false => SERVICE,
					}),
				}
				Court::do_try_state().unwrap();
				assert_eq!(Balances::total_issuance() + Burned::get(), issuance);
			}
			// Left alone, everything ends.
			ServiceWeight::set(SERVICE);
			IsFull::set(false);
			let blocks = 60 + Disputes::<Test>::iter().count() as u32 * 90;
			run_fast(blocks);
			assert_eq!(Disputes::<Test>::iter().count() + Commitments::<Test>::iter().count(), 0);
			let standing = Court::standing(JOB);
			assert!(standing.is_quiet());
			for defendant in &defendants {
				Court::settle(defendant, true);
			}
			let held = CROWD.chain(TRAINERS).map(Balances::reserved_balance).sum::<u128>();
			assert_eq!(held, 0);
			// Each true trainer was convicted by silence or not at all.
			for (of, conviction) in Convictions::get() {
				assert!(!conviction.proven || *of.who() == TRAINERS[1]);
			}
		});
	}
}
