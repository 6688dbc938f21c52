//! Whatever happens in whatever order: the books stay straight, a pool pays what it owes, and everybody gets out.

use crate::{mock::*, Claims, Members, Pools as AllPools};
use frame_support::storage::with_storage_layer;
use proptest::prelude::*;
use sp_runtime::DispatchResult;
use trainyard_protocol::{job::Balance, pools::Rules};

#[derive(Clone, Debug)]
enum Act {
	Create {
		fee: u8,
		stake: Balance,
		period: u32,
	},
	Join {
		pool: u32,
		who: usize,
		stake: Balance,
	},
	Leave {
		pool: u32,
		who: usize,
	},
	Enrol {
		pool: u32,
		trainer: usize,
		job: u32,
	},
	/// The rest of a job wins or does not; or no verdict says anything.
	Settle {
		at: usize,
		wins: bool,
		verdict: bool,
	},
	Blocks {
		count: u32,
	},
}

const WHO: [AccountId; 3] = [MAKER, ANNA, BERT];
/// Whole strata of each job, and the part of a ticket that its rest is worth on the average.
const WHOLE: Balance = 600;
const MEAN: Balance = 700;

fn act() -> impl Strategy<Value = Act> {
	prop_oneof![
		1 => (0u8..60, 500u128..6_000, 4u32..80)
			.prop_map(|(fee, stake, period)| Act::Create { fee, stake, period }),
		3 => (0u32..4, 0usize..3, 500u128..9_000)
			.prop_map(|(pool, who, stake)| Act::Join { pool, who, stake }),
		2 => (0u32..4, 0usize..3).prop_map(|(pool, who)| Act::Leave { pool, who }),
		6 => (0u32..4, 0usize..3, 0u32..8)
			.prop_map(|(pool, trainer, job)| Act::Enrol { pool, trainer, job }),
		6 => (0usize..24, any::<bool>(), prop::bool::weighted(0.8))
			.prop_map(|(at, wins, verdict)| Act::Settle { at, wins, verdict }),
		4 => (1u32..40).prop_map(|count| Act::Blocks { count }),
	]
}

fn settle_one(at: usize, wins: bool, verdict: bool) {
	let mut all: Vec<_> = Claims::<Test>::iter().collect();
	all.sort_by_key(|(job, who, _)| (*job, *who));
	if all.is_empty() {
		return;
	}
	let (job, who, claim) = all[at % all.len()].clone();
	let before = free(who);
	let rules = pool(claim.pool).rules;
	let got = WHOLE + if wins { RESERVE } else { 0 };
	settle(job, who, got, verdict.then_some(MEAN));
	let due = if verdict { rules.paid_of(MEAN) } else { got };
	assert_eq!(free(who), before + due, "a pool owes something");
}

fn perform(act: Act) {
	let _ = with_storage_layer(|| -> DispatchResult {
		match act {
			Act::Create { fee, stake, period } => {
				Pools::create(signed(MAKER), Rules { fee, standing: 0, period }, stake)?;
			}
			Act::Join { pool, who, stake } => Pools::join(signed(WHO[who]), pool, stake, 0)?,
			Act::Leave { pool, who } => Pools::leave(signed(WHO[who]), pool)?,
			Act::Enrol { pool, trainer, job } => {
				let who = TRAINERS[trainer];
				let held = Held::get();
				let done = Pools::enrol(signed(who), pool, job);
				if done.is_err() {
					Held::set(held);
				}
				done?;
			}
			Act::Settle { at, wins, verdict } => settle_one(at, wins, verdict),
			Act::Blocks { count } => run_to(System::block_number() + count),
		}
		Ok(())
	});
}

proptest! {
	#![proptest_config(ProptestConfig { cases: 192, max_shrink_iters: 2_000, ..Default::default() })]

	#[test]
	fn pools_pay_and_everybody_gets_out(acts in prop::collection::vec(act(), 1..200)) {
		new_test_ext().execute_with(|| {
			let issuance = Balances::total_issuance();
			for act in acts {
				perform(act);
				check(issuance);
			}
			while Claims::<Test>::iter().next().is_some() {
				settle_one(0, false, true);
			}
			let all: Vec<_> = Members::<Test>::iter().map(|(pool, who, _)| (pool, who)).collect();
			for (pool, who) in all {
				Pools::leave(signed(who), pool).unwrap();
			}
			check(issuance);
			assert_eq!(AllPools::<Test>::iter().count(), 0);
			// Nothing is left behind on accounts that nobody signs for.
			let known = WHO.into_iter().chain(TRAINERS).chain([MARKET]);
			let sum: Balance = known.map(free).sum();
			assert_eq!(sum, issuance);
		});
	}
}
