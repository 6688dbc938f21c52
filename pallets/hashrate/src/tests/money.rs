//! Money is conserved: whatever is called in whatever order, only block rewards add any,
//! bonds move between free and held, and by slashes to the jackpot and to reporters.

use super::*;
use crate::{records::Offender, HoldReason, Records, Trainers};
use frame_support::traits::fungible::{Inspect, InspectHold};
use proptest::prelude::*;
use sp_runtime::Permill;
use trainyard_traits::{Drillers, TrainerRegistry};

#[derive(Clone, Debug)]
enum Step {
	Register(u64, u128),
	BondExtra(u64, u128),
	UpdateHardware(u64),
	SetKeys(u64),
	PurgeKeys(u64),
	SetCandidate(u64, bool),
	Deregister(u64),
	Withdraw(u64),
	Credit(u64, u64),
	Drill(u64, u64),
	Slash(u64, u32),
	Offend(usize, u32, u64),
	Blocks(u32),
}

fn step() -> impl Strategy<Value = Step> {
	let who = 1..=8u64;
	let amount = prop_oneof![0..300u128, Just(FUNDS), any::<u128>()];
	prop_oneof![
		(who.clone(), amount.clone()).prop_map(|(w, a)| Step::Register(w, a)),
		(who.clone(), amount).prop_map(|(w, a)| Step::BondExtra(w, a)),
		who.clone().prop_map(Step::UpdateHardware),
		who.clone().prop_map(Step::SetKeys),
		who.clone().prop_map(Step::PurgeKeys),
		(who.clone(), any::<bool>()).prop_map(|(w, c)| Step::SetCandidate(w, c)),
		who.clone().prop_map(Step::Deregister),
		who.clone().prop_map(Step::Withdraw),
		(who.clone(), any::<u64>()).prop_map(|(w, c)| Step::Credit(w, c)),
		(who.clone(), any::<u64>()).prop_map(|(w, c)| Step::Drill(w, c)),
		(who.clone(), 0..1_000_000u32).prop_map(|(w, part)| Step::Slash(w, part)),
		(0..4usize, 0..5u32, who).prop_map(|(at, back, by)| Step::Offend(at, back, by)),
		(1..12u32).prop_map(Step::Blocks),
	]
}

/// Takes a step; the blocks it made.
fn take(step: Step) -> u32 {
	let signed = RuntimeOrigin::signed;
	// Refusals are part of the test: they must change nothing.
	let _ = match step {
		Step::Register(who, bond) => Hashrate::register(signed(who), bond, hardware()),
		Step::BondExtra(who, amount) => Hashrate::bond_extra(signed(who), amount),
		Step::UpdateHardware(who) => Hashrate::update_hardware(signed(who), hardware()),
		Step::SetKeys(who) => {
			set_keys(who);
			Ok(())
		}
		Step::PurgeKeys(who) => Hashrate::purge_keys(signed(who)),
		Step::SetCandidate(who, candidate) => Hashrate::set_candidate(signed(who), candidate),
		Step::Deregister(who) => Hashrate::deregister(signed(who)),
		Step::Withdraw(who) => Hashrate::withdraw(signed(who)),
		Step::Credit(who, work) => {
			Hashrate::credit_training(&who, work);
			Ok(())
		}
		Step::Drill(who, work) => {
			Hashrate::credit_drilling(&who, work);
			Hashrate::debit_drilling(&who, work / 3);
			Ok(())
		}
		Step::Slash(who, part) => {
			let part = Permill::from_parts(part);
			let before = Balances::free_balance(JACKPOT);
			let taken = Hashrate::slash(&who, part);
			assert_eq!(Balances::free_balance(JACKPOT), before + taken);
			Ok(())
		}
		Step::Offend(at, back, by) => {
			// An authority of one of the last sessions.
			let session = Session::current_index().saturating_sub(back);
			let record = Records::<Test>::get(session).unwrap_or_default();
			if let Some(member) = record.get(at) {
				let offender = Offender { who: member.who, session };
				let _ = Hashrate::punish(&offender, Some(&by));
			}
			Ok(())
		}
		Step::Blocks(count) => {
			for _ in 0..count {
				run_block(author());
			}
			return count;
		}
	};
	0
}

/// An authority that can make the next block, in this epoch or the one that begins.
fn author() -> u64 {
	let turns = *Babe::current_slot() + 1 - *Babe::current_epoch_start() >= EPOCH;
	let list =
		if turns { pallet_babe::NextAuthorities::<Test>::get() } else { Babe::authorities() };
	(1..=8).find(|who| list.iter().any(|(key, _)| *key == keys(*who).babe)).unwrap()
}

proptest! {
	#![proptest_config(ProptestConfig { cases: 96, ..Default::default() })]
	#[test]
	fn money_is_conserved(steps in proptest::collection::vec(step(), 1..60)) {
		Genesis::default().run(|| {
			let issued = Balances::total_issuance();
			let mut blocks = 0;
			for step in steps {
				let wealth: Vec<u128> = (1..=8).map(|w| Balances::total_balance(&w)).collect();
				let slashes = matches!(step, Step::Slash(..) | Step::Offend(..));
				let made = take(step.clone());
				blocks += made;
				assert_eq!(
					Balances::total_issuance(),
					issued + u128::from(blocks) * BlockReward::get(),
					"{step:?}"
				);
				for who in 1..=8 {
					let bond = Trainers::<Test>::get(who).map_or(0, |trainer| trainer.bond);
					let held = Balances::balance_on_hold(&HoldReason::Bond.into(), &who);
					assert_eq!(held, bond, "{step:?}");
					if made == 0 && !slashes {
						let now = Balances::total_balance(&who);
						assert_eq!(now, wealth[who as usize - 1], "{step:?}");
					}
				}
				let all: u128 = (1..=20).chain([JACKPOT]).map(|w| Balances::total_balance(&w)).sum();
				assert_eq!(all, Balances::total_issuance(), "{step:?}");
				Hashrate::do_try_state().unwrap();
				assert!(!Session::validators().is_empty());
			}
		});
	}
}
