//! Whatever happens in whatever order: the books stay straight in every state, and every job
//! ends within a bound once everyone has vanished.

use crate::{mock::*, Claims, Due, HoldReason, Jobs, NextJob};
use frame_support::{storage::with_storage_layer, weights::Weight};
use proptest::prelude::*;
use sp_runtime::DispatchResult;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	audit::Decision,
	claims::{Asked, Seen},
	job::{BlockNumber, JobState, Terms},
};
use trainyard_traits::{Conviction, JobObserver};

/// Something that someone does. Numbers choose among what there is.
#[derive(Clone, Debug)]
enum Act {
	Post { other: bool, stops: bool, replicas: u32, price: u128, fee: u128, part: u8 },
	Order { trainer: usize, price: u128 },
	List { trainer: usize, price: u128 },
	Unlist { trainer: usize },
	Apply { job: u32, trainer: usize },
	Cancel { job: u32 },
	Commit { job: u32, trainer: usize },
	Reveal { job: u32, trainer: usize, result: u8, diverged: bool },
	Store { result: u8, stored: bool },
	Decide { job: u32, decisions: Vec<u8>, served: Vec<u64> },
	Agree { job: u32, party: usize, pay: Option<u128> },
	Poke { job: u32 },
	Forget { job: u32 },
	Leave { trainer: usize },
	Refuse { rounds: bool, audits: bool },
	LoseSeeds { count: u32 },
	Crowd { crowded: bool },
	Verifiers { gone: bool, sit: bool },
	Patience { blocks: u32 },
	Convict { job: u32, trainer: usize, finder: u64, proven: bool },
	Progress { job: u32 },
	OfferClaim { job: u32, trainer: usize, price: Option<u128>, only: Option<u64> },
	BuyClaim { job: u32, trainer: usize, buyer: u64, most: u128 },
	News { news: Option<(u32, bool, u32)>, disputes: u32 },
	Blocks { count: u32 },
}

fn act() -> impl Strategy<Value = Act> {
	let (job, trainer) = (0u32..6, 0usize..5);
	let served = prop_oneof![Just(21u64), Just(22), Just(23), Just(500)];
	prop_oneof![
		6 => (any::<(bool, bool)>(), 0u32..5, 0u128..20_000_000, 2_400u128..10_100, 0u8..=101).prop_map(
			|((other, stops), replicas, price, fee, part)| {
				Act::Post { other, stops, replicas, price, fee, part }
			},
		),
		2 => (trainer.clone(), 0u128..20).prop_map(|(trainer, price)| Act::Order { trainer, price }),
		2 => (trainer.clone(), 0u128..20).prop_map(|(trainer, price)| Act::List { trainer, price }),
		1 => trainer.clone().prop_map(|trainer| Act::Unlist { trainer }),
		20 => (job.clone(), trainer.clone()).prop_map(|(job, trainer)| Act::Apply { job, trainer }),
		1 => job.clone().prop_map(|job| Act::Cancel { job }),
		24 => (job.clone(), trainer.clone()).prop_map(|(job, trainer)| Act::Commit { job, trainer }),
		24 => (job.clone(), trainer.clone(), 0u8..3, prop::bool::weighted(0.2)).prop_map(
			|(job, trainer, result, diverged)| Act::Reveal { job, trainer, result, diverged },
		),
		2 => (0u8..3, prop::bool::weighted(0.7))
			.prop_map(|(result, stored)| Act::Store { result, stored }),
		// Account 500 does not exist, and a small fee does not make it exist.
		8 => (job.clone(), prop::collection::vec(0u8..4, 0..4), prop::collection::vec(served, 0..12))
			.prop_map(|(job, decisions, served)| Act::Decide { job, decisions, served }),
		8 => (job.clone(), 0usize..9, prop::option::weighted(0.9, 0u128..2))
			.prop_map(|(job, party, pay)| Act::Agree { job, party, pay }),
		1 => job.clone().prop_map(|job| Act::Poke { job }),
		2 => job.prop_map(|job| Act::Forget { job }),
		1 => trainer.prop_map(|trainer| Act::Leave { trainer }),
		1 => (prop::bool::weighted(0.1), prop::bool::weighted(0.1))
			.prop_map(|(rounds, audits)| Act::Refuse { rounds, audits }),
		1 => (0u32..3).prop_map(|count| Act::LoseSeeds { count }),
		1 => prop::bool::weighted(0.3).prop_map(|crowded| Act::Crowd { crowded }),
		1 => (prop::bool::weighted(0.5), prop::bool::weighted(0.2))
			.prop_map(|(gone, sit)| Act::Verifiers { gone, sit }),
		2 => (0u32..30).prop_map(|blocks| Act::Patience { blocks }),
		// A finder whose account does not exist.
		6 => (0u32..6, 0usize..5, prop_oneof![Just(OTHER), Just(500)], any::<bool>()).prop_map(
			|(job, trainer, finder, proven)| Act::Convict { job, trainer, finder, proven },
		),
		4 => (0u32..6).prop_map(|job| Act::Progress { job }),
		12 => (0u32..6, 0usize..5, prop::option::weighted(0.9, 0u128..3_000), prop::option::weighted(0.1, Just(OTHER)))
			.prop_map(|(job, trainer, price, only)| Act::OfferClaim { job, trainer, price, only }),
		// Account 500 does not exist, and can have what is given away.
		12 => (0u32..6, 0usize..5, prop_oneof![Just(OTHER), Just(500), Just(SUBMITTER), Just(12)], 0u128..3_000)
			.prop_map(|(job, trainer, buyer, most)| Act::BuyClaim { job, trainer, buyer, most }),
		1 => (prop::option::weighted(0.8, (0u32..2, any::<bool>(), 0u32..2)), 0u32..2)
			.prop_map(|(news, disputes)| Act::News { news, disputes }),
		24 => (1u32..4).prop_map(|count| Act::Blocks { count }),
	]
}

/// The least weight that serves a job in every block.
fn crowded() -> Weight {
	use crate::WeightInfo;
	TaskMarket::worst_advance() + <() as WeightInfo>::serve(1)
}

/// The job that number `n` stands for among those in `state`, so that acts meet jobs which
/// can take them.
fn among(n: u32, state: JobState) -> Option<u32> {
	let mut ids: Vec<u32> =
		Jobs::<Test>::iter().filter(|(_, job)| job.state == state).map(|(id, _)| id).collect();
	ids.sort();
	ids.get(n as usize % ids.len().max(1)).copied()
}

/// Any job that number `n` stands for.
fn any_job(n: u32) -> u32 {
	n % NextJob::<Test>::get().max(1)
}

/// Does it, where it is possible; whatever is refused changes nothing.
fn perform(act: Act) {
	let signed = RuntimeOrigin::signed;
	let _ = with_storage_layer(|| -> DispatchResult {
		match act {
			Act::Post { other, stops, replicas, price, fee, part } => {
				let who = if other { OTHER } else { SUBMITTER };
				let spec = if stops { stopping() } else { JobSpec::noisy_example() };
				let terms = Terms {
					price_per_ut: price,
					audit_fee: fee,
					undecided_percent: part,
					..terms(replicas)
				};
				TaskMarket::submit_job(signed(who), spec, terms, u128::MAX)?;
			}
			Act::Order { trainer, price } => {
				let terms = Terms { price_per_ut: price, ..terms(1) };
				let spec = JobSpec::noisy_example();
				TaskMarket::order(signed(SUBMITTER), TRAINERS[trainer], spec, terms, u128::MAX)?;
			}
			Act::List { trainer, price } => {
				let (who, note) = (signed(TRAINERS[trainer]), Default::default());
				TaskMarket::post_listing(who, price, u64::MAX, note)?;
			}
			Act::Unlist { trainer } => TaskMarket::remove_listing(signed(TRAINERS[trainer]))?,
			Act::Apply { job, trainer } => {
				let job = among(job, JobState::Open).unwrap_or(job);
				TaskMarket::apply(
					signed(TRAINERS[trainer]),
					job,
					digest(job),
					forced(TRAINERS[trainer]),
				)?;
			}
			Act::Cancel { job } => {
				let id = any_job(job);
				let who = Jobs::<Test>::get(id).map_or(OTHER, |job| job.submitter);
				TaskMarket::cancel(signed(who), id)?;
			}
			Act::Commit { job, trainer } => {
				if let Some(id) = among(job, JobState::Training) {
					let trainers = &Rounds::get()[&id].trainers;
					commit(id, trainers[trainer % trainers.len()]);
				}
			}
			Act::Reveal { job, trainer, result, diverged } => {
				if let Some(id) = among(job, JobState::Revealing) {
					let committed: Vec<_> = Rounds::get()[&id].committed.keys().copied().collect();
					// Where it may stop early, each result does elsewhere.
					let possible = Rounds::get()[&id].segments.clone().unwrap();
					let segments = (3 + 9 * u32::from(result)).max(*possible.start());
					let who = committed[trainer % committed.len()];
					match diverged {
						true => reveal_diverged(id, who, result, 9 * u32::from(result)),
						false => reveal_after(id, who, result, segments),
					}
				}
			}
			Act::Store { result, stored } => {
				MissingModels::mutate(|missing| match stored {
					true => missing.remove(&model_of(result)),
					false => missing.insert(model_of(result)),
				});
			}
			Act::Decide { job, decisions, served } => {
				if let Some(id) = among(job, JobState::Auditing) {
					let all = [
						Decision::Accepted,
						Decision::Rejected,
						Decision::Unavailable,
						Decision::Undecided,
					];
					let decisions: Vec<_> =
						decisions.into_iter().map(|d| all[usize::from(d)]).collect();
					decide(id, &decisions, &served);
				}
			}
			Act::Agree { job, party, pay } => {
				let state =
					[JobState::Training, JobState::Revealing, JobState::Auditing][party % 3];
				let id = among(job, state).unwrap_or(any_job(job));
				let submitter = Jobs::<Test>::get(id).map_or(OTHER, |job| job.submitter);
				let trainers = Rounds::get().get(&id).cloned().unwrap_or_default().trainers;
				let who = trainers.get(party / 3).copied().unwrap_or(submitter);
				TaskMarket::agree(signed(who), id, pay).map_err(|e| e.error)?;
			}
			Act::Poke { job } => {
				TaskMarket::poke(signed(OTHER), any_job(job)).map_err(|e| e.error)?;
			}
			Act::Forget { job } => TaskMarket::forget(signed(OTHER), any_job(job))?,
			Act::Leave { trainer } => {
				Bonds::mutate(|bonds| bonds.remove(&TRAINERS[trainer]));
			}
			Act::Refuse { rounds, audits } => {
				RefuseRounds::set(rounds);
				RefuseAudits::set(audits);
			}
			Act::LoseSeeds { count } => LostSeeds::set(count),
			Act::Crowd { crowded: is } => {
				ServiceWeight::set(if is { crowded() } else { Weight::MAX });
			}
			Act::Verifiers { gone, sit } => {
				NoVerifiers::set(gone);
				CommitteeSits::set(sit);
			}
			Act::Patience { blocks } => Patience::set(blocks),
			Act::Convict { job, trainer, finder, proven } => {
				if let Some(id) = among(job, JobState::Auditing) {
					let trainers = &Rounds::get()[&id].trainers;
					let who = trainers[trainer % trainers.len()];
					let dispute = 0;
					TaskMarket::convict(
						id,
						&who,
						&Conviction { dispute, finder, second: None, proven },
					);
				}
			}
			Act::Progress { job } => {
				if let Some(id) = among(job, JobState::Auditing) {
					TaskMarket::progressed(id);
				}
			}
			Act::OfferClaim { job, trainer, price, only } => {
				if let Some(id) = among(job, JobState::Auditing) {
					let trainers = &Rounds::get()[&id].trainers;
					let who = trainers[trainer % trainers.len()];
					let holder = *TaskMarket::holder(&Claims::<Test>::get(id), &who);
					let asked = price.map(|price| Asked { price, until: BlockNumber::MAX, only });
					TaskMarket::offer_claim(signed(holder), id, who, asked)?;
				}
			}
			Act::BuyClaim { job, trainer, buyer, most } => {
				if let Some(id) = among(job, JobState::Auditing) {
					let trainers = &Rounds::get()[&id].trainers;
					let who = trainers[trainer % trainers.len()];
					let claims = Claims::<Test>::get(id);
					let claim = claims.iter().find(|claim| claim.trainer == who);
					let offer = claim.and_then(|claim| claim.offer.clone());
					if let Some((claim, offer)) = claim.zip(offer) {
						let (root, since) = (offer.known.root, offer.since);
						let seen = Seen { holder: claim.holder, root, since };
						TaskMarket::buy_claim(signed(buyer), id, who, seen, most)?;
					}
				}
			}
			Act::News { news, disputes } => {
				News::set(news);
				Disputes::set(disputes);
			}
			Act::Blocks { count } => {
				for _ in 0..count {
					let used = next_block();
					assert!(used.all_lte(ServiceWeight::get()));
				}
			}
		}
		Ok(())
	});
}

proptest! {
	#![proptest_config(ProptestConfig { cases: 192, max_shrink_iters: 2_000, ..Default::default() })]

	#[test]
	fn the_books_stay_straight_and_every_job_ends(acts in prop::collection::vec(act(), 1..300)) {
		new_test_ext().execute_with(|| {
			let issuance = Balances::total_issuance();
			RecordBase::set(7_000);
			RecordByte::set(1);
			for act in acts {
				perform(act);
				check(issuance);
			}

			// Everyone vanishes. Applying 5 blocks, a seed that is lost twice, training 20,
			// revealing 15, an audit without verifiers that is given up after 60, a window of 30 that is
			// open again for 9, and, where blocks are crowded, a look at one job a block.
			CommitteeSits::set(false);
			Disputes::set(0);
			let jobs = NextJob::<Test>::get();
			let crowd = (jobs + 1) * 18;
			run_to(TaskMarket::now() + 5 + 8 + 20 + 15 + AUDIT_DEADLINE + 10 + 39 + crowd);
			check(issuance);
			assert_eq!(Due::<Test>::iter().count(), 0, "a job did not end");
			for (id, job) in Jobs::<Test>::iter() {
				assert!(matches!(job.state, JobState::Ended(_)), "job {id} is {:?}", job.state);
			}
			assert_eq!(Claims::<Test>::iter().count(), 0, "a claim was not paid");
			for who in [SUBMITTER, OTHER].into_iter().chain(TRAINERS) {
				assert_eq!(held(HoldReason::Escrow, who), 0);
				assert_eq!(held(HoldReason::Deposit, who), 0);
			}
		});
	}
}
