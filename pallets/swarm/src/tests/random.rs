//! Whatever happens in whatever order, the books stay straight, and everything ends.

use super::*;
use proptest::prelude::*;
use trainyard_protocol::{swarm::Ticket, H256};
use trainyard_traits::JobEnd;

const SWARM: u32 = 0;

fn mixed(own: u32, remote: u32) -> Vec<u8> {
	mean(&model_file(own), &model_file(remote))
}

/// What a random claim is about, which follows from its number: `say` finds it again.
fn about(who: u64, number: u32) -> (u32, u32, Ticket<u64>) {
	let (own, remote) = (1 + number % 2, 10 + (who as u32 % 4));
	let ticket = Ticket {
		expires: 990,
		nonce: number,
		..ticket(SWARM, 11 + (who + 1) % 4, who, own, remote)
	};
	(own, remote, ticket)
}

fn act(what: u8, which: u8, seed: u32, payer: Payer) {
	let Some(swarm) = crate::Swarms::<Test>::get(SWARM) else { return };
	let who = 11 + u64::from(which) % 4;
	let number = seed % swarm.claims.max(1);
	match what {
		0 => pass(u32::from(which) % 10 + 1),
		1 => {
			let signature = joining(SWARM, who, who);
			let _ = Swarming::join(signed(who), SWARM, public(who), signature, 7, text("x"));
			let _ = Swarming::fund(signed(who), SWARM, u128::from(seed % 3_000));
			let made = root(&model_file(10 + (who as u32 % 4)));
			let _ = Swarming::announce(signed(who), SWARM, made);
		}
		2 | 3 => {
			let claims = match swarm.stage {
				Stage::Idle => 0,
				_ => swarm.claims,
			};
			let (own, remote, ticket) = about(who, claims);
			let made = match payer {
				Payer::Budget => commitment(SWARM, who, &model_file(remote), None),
				Payer::Peers => {
					let digest = ticket.digest(&genesis());
					commitment(SWARM, who, &mixed(own, remote), Some(digest))
				}
			};
			let _ = Swarming::claim(signed(who), SWARM, made);
		}
		4 | 5 => {
			if let Stage::Showing { slice, .. } = swarm.stage {
				store(&slice_file(slice));
			}
		}
		6..=8 => {
			let Some(claim) = crate::Claims::<Test>::get(SWARM, number) else { return };
			let (own, remote, ticket) = about(claim.claimant, number);
			let file = match payer {
				Payer::Budget => model_file(remote),
				Payer::Peers => mixed(own, remote),
			};
			[&file, &model_file(own), &model_file(remote)].into_iter().for_each(|file| {
				let _ = store(file);
			});
			let mut said = said(&file, 500 + seed % 300, 600);
			if seed % 5 == 0 {
				said.pieces[0] = H256::repeat_byte(1);
			}
			if payer == Payer::Peers {
				said.promise = Some(promise(&ticket, own));
			}
			let _ = Swarming::say(signed(claim.claimant), SWARM, number, said, [7; 32]);
		}
		9 => {
			let said = crate::Claims::<Test>::get(SWARM, number).and_then(|claim| claim.said);
			let model = said.map_or(swarm.compared, |spoken| spoken.model);
			let _ = Swarming::challenge(signed(who), SWARM, model, 10_000);
		}
		10 => {
			let jobs = Posted::get().len() as u32;
			if jobs > 0 {
				let job = seed % jobs;
				match which % 4 {
					0 => end_job(job, JobEnd::Failed),
					1 if seed % 3 == 0 => end_job(job, JobEnd::Stopped),
					_ => {
						let leaf = measure(job, 500 + seed % 300);
						for doubt in crate::Doubts::<Test>::get(SWARM) {
							let _ =
								Swarming::testify(signed(who), SWARM, doubt.model, leaf.clone());
						}
					}
				}
			}
		}
		11 => {
			let _ = Swarming::leave(signed(who), SWARM);
		}
		12 if which == 0 => {
			let _ = Swarming::close(signed(OPENER), SWARM);
		}
		13 => {
			let _ = Swarming::add_slices(signed(OPENER), SWARM, slices(seed % 50..seed % 50 + 2));
		}
		14 => {
			let payment = Payment {
				to: 11 + u64::from(seed) % 4,
				amount: u128::from(seed % 500),
				ticket: H256::from_low_u64_be(u64::from(seed % 40)),
				expires: System::block_number() + seed % 30,
			};
			let _ = Swarming::pay(signed(who), SWARM, vec![payment].try_into().unwrap());
		}
		16 | 17 => {
			let moment = RULE.moment(swarm.began, System::block_number());
			if moment.trains {
				let brought = brought(moment.step.saturating_sub(seed % 3), which);
				let _ = Swarming::contribute(signed(who), SWARM, moment.step, brought);
			} else {
				let _ = vouch(SWARM, who, moment.step, u64::from(seed % 16));
			}
		}
		18 => {
			let _ = Swarming::collect(signed(who), SWARM);
		}
		15 => FullBlocks::mutate(|full| *full += 1),
		_ => {}
	}
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(96))]

	#[test]
	fn the_books_stay_straight_and_everything_ends(
		way in 0u8..3,
		acts in proptest::collection::vec((0u8..19, any::<u8>(), any::<u32>()), 1..120),
	) {
		run(|| {
			let money = Balances::total_issuance();
			let payer = if way == 0 { Payer::Peers } else { Payer::Budget };
			open_with(if way == 2 { outer_plan() } else { plan(payer) });
			for (what, which, seed) in acts {
				act(what, which, seed, payer);
				check();
				assert_eq!(Balances::total_issuance(), money - burned());
			}
			// Then nobody does anything any more: the market ends its jobs by itself.
			Posted::mutate(|all| {
				let running = all.iter_mut().filter(|job| job.end.is_none());
				running.for_each(|job| job.end = Some(JobEnd::Failed));
			});
			for _ in 0..130 {
				pass(10);
			}
			assert!(Swarming::view(SWARM).is_none());
			assert_eq!(Balances::total_issuance(), money - burned());
			let held: u128 = PEERS.chain([OPENER]).map(held).sum();
			assert_eq!(held, 0);
			assert!(Names::get().is_empty());
		});
	}
}
