//! Whatever happens in whatever order, the books stay straight, and everything ends.

use super::*;
use proptest::prelude::*;
use trainyard_protocol::content;

/// Money that is somewhere.
fn all_money() -> u128 {
	Balances::total_issuance()
}

fn act(id: u32, what: u8, which: u8, seed: u32) {
	let Some(federation) = crate::Federations::<Test>::get(id) else { return };
	let who = PROPOSERS.start + u64::from(which) % 6;
	let jobs = Posted::get().len() as u32;
	match what {
		0 => pass(u32::from(which) % 12 + 1),
		1 | 2 if jobs > 0 => {
			let job = jobs - 1 - seed % jobs.min(4);
			let now = Posted::get()[job as usize].standing;
			let root = store(&model(seed % 3));
			// The market never takes an ending back.
			let next = match now {
				JobStanding::Running if which % 4 < 2 => JobStanding::Agreed(root),
				JobStanding::Agreed(root) if which % 4 < 3 => JobStanding::Accepted(root),
				JobStanding::Running | JobStanding::Agreed(_) => JobStanding::Failed,
				ended => ended,
			};
			set(job, next);
		}
		3 if federation.stage == Stage::Aggregating => {
			let mut file = aggregate(id);
			if which % 2 == 0 {
				file[600 + 4 * (seed as usize % 50)] ^= 1;
			}
			store(&file);
			let _ = Fed::propose(signed(who), id, content::hash(&file), pieces(&file));
		}
		4 if federation.stage == Stage::Aggregating => {
			let Some(proposal) = federation.proposals.first() else { return };
			let file = Stored::get()[&proposal.root].bytes.clone();
			let number = proposal.number;
			let is_true = file == aggregate(id);
			let refuted = (0..content::chunks(file.len() as u64)).any(|chunk| {
				let shown = openings(id, &file, chunk);
				Fed::refute(signed(who), id, number, chunk, shown).is_ok()
			});
			assert_eq!(refuted, !is_true, "what is false is refuted, and nothing else");
		}
		5 if which == 0 => {
			let _ = Fed::cancel(signed(SUBMITTER), id);
		}
		6 => Refusals::mutate(|all| all.push("no")),
		_ => {}
	}
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(64))]

	#[test]
	fn the_books_stay_straight_and_everything_ends(
		count in 1u32..4,
		rounds in 1u32..4,
		stop in any::<bool>(),
		settled in any::<bool>(),
		acts in proptest::collection::vec((0u8..7, any::<u8>(), any::<u32>()), 1..60),
	) {
		run(|| {
			let money = all_money();
			let rule = if settled { Rule::Settled } else { Rule::Agreed };
			let plan = Plan { rounds, min_parts: 1, stop_if_tainted: stop, rule, ..plan() };
			let id = open_with(count, plan);
			let mut burned = 0;
			for (what, which, seed) in acts {
				System::reset_events();
				act(id, what, which, seed);
				let lost = |event: &Event<Test>| match event {
					Event::Refuted { burned, .. } => *burned,
					_ => 0,
				};
				burned += events().iter().map(lost).sum::<u128>();
				check();
				assert_eq!(all_money(), money - burned);
			}
			// Then nobody does anything any more: the market ends its jobs by itself.
			for _ in 0..200 {
				for job in 0..Posted::get().len() as u32 {
					if let JobStanding::Running | JobStanding::Agreed(_) = Posted::get()[job as usize].standing {
						set(job, JobStanding::Failed);
					}
				}
				pass(10);
			}
			assert!(Fed::view(id).is_none());
			assert_eq!(all_money(), money - burned);
			let held: u128 = PROPOSERS.chain([SUBMITTER]).map(held).sum();
			assert_eq!(held, 0);
			assert!(Names::get().is_empty());
		});
	}
}
