//! Whatever happens in whatever order, the books stay straight, and everything ends.

use super::*;
use proptest::prelude::*;

fn act(id: u32, what: u8, which: u8, seed: u32) {
	let Some(set) = crate::Sets::<Test>::get(id) else { return };
	let member = u32::from(which) % set.members.len() as u32;
	let job = set.members[member as usize].run.job();
	match (what, job) {
		(0, _) => pass(u32::from(which) % 12 + 1),
		(1 | 2, Some(job)) if Posted::get()[job as usize].end.is_none() => match seed % 5 {
			0 => set_end(job, JobEnd::Failed),
			1 => {
				diverge(job);
			}
			_ => accept(job, seed % 100),
		},
		(3 | 4, Some(job)) => {
			let correct = match Posted::get()[job as usize].end {
				Some(JobEnd::Accepted(result)) => {
					(0..100).find(|n| result_of(job, *n) == result).unwrap_or(0)
				}
				_ => seed % 100,
			};
			let (who, said) = match seed % 3 {
				0 => (STRANGER, None),
				1 => (SUBMITTER, None),
				_ => (SUBMITTER, Some(parameters_of(job))),
			};
			let _ = JobSets::show(signed(who), id, member, leaf(job, correct), said);
		}
		(5, _) if which < 16 => {
			let _ = JobSets::stop(signed(SUBMITTER), id);
		}
		(6, _) => Refusals::mutate(|all| all.push("no")),
		(7, _) => {
			LostSeeds::set(1);
			let _ = JobSets::poke(signed(STRANGER), id);
		}
		_ => {}
	}
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(128))]

	#[test]
	fn the_books_stay_straight_and_everything_ends(
		count in 2u32..6,
		generations in 1u32..5,
		replaced in 0u32..3,
		by_loss in any::<bool>(),
		acts in proptest::collection::vec((0u8..8, any::<u8>(), any::<u32>()), 1..90),
	) {
		run(|| {
			let money = Balances::total_issuance();
			let measure = if by_loss { Measure::Loss } else { Measure::Accuracy };
			let plan = Plan { measure, replaced: replaced.min(count / 2), ..plan(generations) };
			let id = open_with(count, plan);
			for (what, which, seed) in acts {
				act(id, what, which, seed);
				check();
				assert_eq!(Balances::total_issuance(), money);
				assert!(Posted::get().len() as u32 <= count * generations);
			}
			// Then nobody does anything any more: the market ends its jobs by itself.
			for _ in 0..60 {
				for job in 0..Posted::get().len() as u32 {
					if Posted::get()[job as usize].end.is_none() {
						set_end(job, JobEnd::Failed);
					}
				}
				pass(10);
			}
			assert!(JobSets::view(id).is_none());
			assert_eq!((held(SUBMITTER), free(SUBMITTER)), (0, ENDOWMENT));
			assert!(Names::get().is_empty());
		});
	}
}
