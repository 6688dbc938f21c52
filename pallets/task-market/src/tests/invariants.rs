//! Whatever happens in whatever order: the books stay straight in every state, and every job
//! ends within a bound once everyone has vanished.

use crate::{mock::*, Due, HoldReason, Jobs, NextJob};
use frame_support::weights::Weight;
use proptest::prelude::*;
use trainyard_primitives::{
	audit::Decision,
	job::{JobState, Terms},
	spec::JobSpec,
};

/// Something that someone does. Numbers choose among what there is.
#[derive(Clone, Debug)]
enum Act {
	Post { other: bool, replicas: u32, price: u128, fee: u128 },
	Order { trainer: usize, price: u128 },
	List { trainer: usize, price: u128 },
	Unlist { trainer: usize },
	Apply { job: u32, trainer: usize },
	Cancel { job: u32 },
	Commit { job: u32, trainer: usize },
	Reveal { job: u32, trainer: usize, result: u8 },
	Store { result: u8, stored: bool },
	Decide { job: u32, decisions: Vec<u8>, served: Vec<u64> },
	Agree { job: u32, party: usize, pay: u128 },
	Poke { job: u32 },
	Forget { job: u32 },
	Leave { trainer: usize },
	Refuse { rounds: bool, audits: bool },
	LoseSeeds { count: u32 },
	Crowd { crowded: bool },
	Blocks { count: u32 },
}

fn act() -> impl Strategy<Value = Act> {
	let (job, trainer) = (0u32..6, 0usize..5);
	prop_oneof![
		3 => (any::<bool>(), 0u32..5, 0u128..20_000_000_000, 90u128..100_000)
			.prop_map(|(other, replicas, price, fee)| Act::Post { other, replicas, price, fee }),
		1 => (trainer.clone(), 0u128..20).prop_map(|(trainer, price)| Act::Order { trainer, price }),
		1 => (trainer.clone(), 0u128..20).prop_map(|(trainer, price)| Act::List { trainer, price }),
		1 => trainer.clone().prop_map(|trainer| Act::Unlist { trainer }),
		8 => (job.clone(), trainer.clone()).prop_map(|(job, trainer)| Act::Apply { job, trainer }),
		1 => job.clone().prop_map(|job| Act::Cancel { job }),
		8 => (job.clone(), trainer.clone()).prop_map(|(job, trainer)| Act::Commit { job, trainer }),
		8 => (job.clone(), trainer.clone(), 0u8..3)
			.prop_map(|(job, trainer, result)| Act::Reveal { job, trainer, result }),
		1 => (0u8..3, any::<bool>()).prop_map(|(result, stored)| Act::Store { result, stored }),
		4 => (
			job.clone(),
			proptest::collection::vec(0u8..4, 0..4),
			// 500 does not exist, 23 and 22 do.
			proptest::collection::vec(prop_oneof![Just(21u64), Just(22), Just(23), Just(500)], 0..12)
		).prop_map(|(job, decisions, served)| Act::Decide { job, decisions, served }),
		4 => (job.clone(), 0usize..6, 0u128..4)
			.prop_map(|(job, party, pay)| Act::Agree { job, party, pay }),
		1 => job.clone().prop_map(|job| Act::Poke { job }),
		1 => job.prop_map(|job| Act::Forget { job }),
		1 => trainer.prop_map(|trainer| Act::Leave { trainer }),
		1 => (any::<bool>(), any::<bool>())
			.prop_map(|(rounds, audits)| Act::Refuse { rounds, audits }),
		1 => (0u32..3).prop_map(|count| Act::LoseSeeds { count }),
		1 => any::<bool>().prop_map(|crowded| Act::Crowd { crowded }),
		12 => (1u32..8).prop_map(|count| Act::Blocks { count }),
	]
}

/// The least weight that serves a job in every block.
fn crowded() -> Weight {
	use crate::WeightInfo;
	TaskMarket::worst_advance() + <() as WeightInfo>::serve() + <() as WeightInfo>::serve()
}

/// Does it, where it is possible; whatever is refused changes nothing.
fn perform(act: Act) {
	use frame_support::storage::with_storage_layer;
	let signed = RuntimeOrigin::signed;
	let in_state = |id: u32, state| Jobs::<Test>::get(id).is_some_and(|job| job.state == state);
	let drawn = |id: u32, trainer| {
		Rounds::get().get(&id).is_some_and(|round| round.trainers.contains(&trainer))
	};
	let _ = with_storage_layer(|| -> sp_runtime::DispatchResult {
		match act {
			Act::Post { other, replicas, price, fee } => {
				let who = if other { OTHER } else { SUBMITTER };
				let terms = Terms { price_per_ut: price, audit_fee: fee, ..terms(replicas) };
				TaskMarket::submit_job(signed(who), JobSpec::example(), terms)
			},
			Act::Order { trainer, price } => {
				let terms = Terms { price_per_ut: price, ..terms(1) };
				let spec = JobSpec::example();
				TaskMarket::order(signed(SUBMITTER), TRAINERS[trainer], spec, terms)
			},
			Act::List { trainer, price } => TaskMarket::post_listing(
				signed(TRAINERS[trainer]),
				price,
				u64::MAX,
				Default::default(),
			),
			Act::Unlist { trainer } => TaskMarket::remove_listing(signed(TRAINERS[trainer])),
			Act::Apply { job, trainer } => TaskMarket::apply(signed(TRAINERS[trainer]), job),
			Act::Cancel { job } => {
				let who = Jobs::<Test>::get(job).map_or(OTHER, |job| job.submitter);
				TaskMarket::cancel(signed(who), job)
			},
			Act::Commit { job, trainer } => {
				let trainer = TRAINERS[trainer];
				if in_state(job, JobState::Training) && drawn(job, trainer) {
					commit(job, trainer);
				}
				Ok(())
			},
			Act::Reveal { job, trainer, result } => {
				let trainer = TRAINERS[trainer];
				let committed =
					Rounds::get().get(&job).is_some_and(|r| r.committed.contains(&trainer));
				if in_state(job, JobState::Revealing) && committed {
					reveal(job, trainer, result);
				}
				Ok(())
			},
			Act::Store { result, stored } => {
				MissingModels::mutate(|missing| match stored {
					true => missing.remove(&model_of(result)),
					false => missing.insert(model_of(result)),
				});
				Ok(())
			},
			Act::Decide { job, decisions, served } => {
				if in_state(job, JobState::Auditing) {
					let all = [
						Decision::Accepted,
						Decision::Rejected,
						Decision::Unavailable,
						Decision::Undecided,
					];
					let decisions: Vec<_> =
						decisions.into_iter().map(|d| all[usize::from(d)]).collect();
					decide(job, &decisions, &served);
				}
				Ok(())
			},
			Act::Agree { job, party, pay } => {
				let submitter = Jobs::<Test>::get(job).map_or(OTHER, |job| job.submitter);
				let who = TRAINERS.get(party).copied().unwrap_or(submitter);
				TaskMarket::agree(signed(who), job, pay).map(|_| ()).map_err(|e| e.error)
			},
			Act::Poke { job } => {
				TaskMarket::poke(signed(OTHER), job).map(|_| ()).map_err(|e| e.error)
			},
			Act::Forget { job } => TaskMarket::forget(signed(OTHER), job),
			Act::Leave { trainer } => {
				Bonds::mutate(|bonds| bonds.remove(&TRAINERS[trainer]));
				Ok(())
			},
			Act::Refuse { rounds, audits } => {
				RefuseRounds::set(rounds);
				RefuseAudits::set(audits);
				Ok(())
			},
			Act::LoseSeeds { count } => {
				LostSeeds::set(count);
				Ok(())
			},
			Act::Crowd { crowded: is } => {
				ServiceWeight::set(if is { crowded() } else { Weight::MAX });
				Ok(())
			},
			Act::Blocks { count } => {
				for _ in 0..count {
					let used = next_block();
					assert!(used.all_lte(ServiceWeight::get()));
				}
				Ok(())
			},
		}
	});
}

proptest! {
	#![proptest_config(ProptestConfig { cases: 192, max_shrink_iters: 2_000, ..Default::default() })]

	#[test]
	fn the_books_stay_straight_and_every_job_ends(acts in proptest::collection::vec(act(), 1..120)) {
		new_test_ext().execute_with(|| {
			let issuance = Balances::total_issuance();
			for act in acts {
				perform(act);
				check(issuance);
			}

			// Everyone vanishes. Applying 5 blocks, a seed that is lost twice, training 20,
			// revealing 15, an audit that gives up after 40, and, where blocks are crowded, a
			// look at one job a block.
			let jobs = NextJob::<Test>::get();
			let crowd = (jobs + 1) * 12;
			run_to(TaskMarket::now() + 5 + 8 + 20 + 15 + 40 + crowd);
			check(issuance);
			assert_eq!(Due::<Test>::iter().count(), 0, "a job did not end");
			for (id, job) in Jobs::<Test>::iter() {
				assert!(matches!(job.state, JobState::Ended(_)), "job {id} is {:?}", job.state);
			}
			for who in [SUBMITTER, OTHER].into_iter().chain(TRAINERS) {
				assert_eq!(held(HoldReason::Escrow, who), 0);
				assert_eq!(held(HoldReason::Deposit, who), 0);
			}
		});
	}
}
