//! Late proof over the real pallets: what was accepted is challenged after the settlement.

use super::*;
use pallet_hashrate::{power::Track, Power};
use trainyard_program::spec::ONE_NANO;
use trainyard_protocol::{fees::most_for_silence, job::Ending as Ended, views::LateView};

/// A job that earns power, settled, of which everybody vouched for whatever `train` makes of it.
fn settled(train: impl FnOnce(&Job, &Run) -> Run) -> Scene {
	let mut spec = jobs::small().spec().spec().clone();
	spec.training.clip_norm_nano = ONE_NANO;
	spec.training.input_noise_nano = 10_000_000;
	assert!(spec.mints_power());
	let mut scene = audited_job(Job::new(spec), PATIENCE, train);
	scene.vouch();
	let (fate, settlement) = scene.settle();
	assert_eq!((fate, settlement.slashed), (Fate::Accepted, 0), "nobody challenged it");
	assert!(settlement.paid_to_trainers > 0);
	scene
}

impl Scene {
	fn late(&mut self) -> Option<LateView<AccountId>> {
		view(&mut self.chain, self.id).late
	}

	/// What is locked of the deposit.
	fn fifth(&mut self) -> Balance {
		let deposit = view(&mut self.chain, self.id).deposit;
		let late = self.late().expect("it can be challenged");
		assert_eq!(late.trainers[0].locked, deposit / 5);
		assert_eq!(late.trainers[0].trainer, Alice.to_account_id());
		deposit / 5
	}

	fn power(&mut self) -> Track {
		self.chain.state(|| Power::<Runtime>::get(Alice.to_account_id())).training
	}

	/// What is on hold of the trainer as a deposit.
	fn locked(&mut self) -> Balance {
		let holds =
			self.chain.state(|| pallet_balances::Holds::<Runtime>::get(Alice.to_account_id()));
		let market = |id: &_| matches!(id, RuntimeHoldReason::TaskMarket(_));
		holds.iter().filter(|hold| market(&hold.id)).map(|hold| hold.amount).sum()
	}

	/// Makes blocks until late proof is over.
	fn end_of_week(&mut self) {
		let until = self.late().expect("it can be challenged").until;
		while self.chain.state(System::block_number) <= until {
			self.chain.run(1);
			self.note();
		}
		books::check(&mut self.chain).unwrap();
	}

	/// Whether somebody can bind itself now.
	fn takes_commitments(&mut self) -> bool {
		let (job, hash) = (self.id, Default::default());
		self.call(Bob, pallet_court::Call::commit { job, hash }).is_ok()
	}
}

/// A false result that everybody vouched for is found after the settlement: the fifth is shared out, the
/// power is gone, the pay stays, and the submitter has nothing of it.
#[test]
fn a_week_after_settlement() {
	let mut scene = settled(cheat);
	let (fifth, challenge) = (scene.fifth(), scene.challenge_deposit());
	assert!(scene.power().effective > 0 && scene.power().total > 0);
	scene.chain.run(presets::LATE_BLOCKS / 2);
	// Not of the trainer, which makes blocks.
	let before = [Bob, CHALLENGER].map(|who| scene.gained(who));
	let paid = view(&mut scene.chain, scene.id).settlement;
	let honest = Bundle::trained(Run::new(&scene.job, Change::Nothing));
	let id = scene.challenge(&honest);
	assert_eq!(scene.play(id, &honest), Ending::Convicted { by_clock: false });

	let shares = LostShares::of(fifth, 0, true, challenge);
	assert_eq!((shares.submitter, shares.burned, shares.finder), (0, fifth / 2, fifth / 4));
	let after = [Bob, CHALLENGER].map(|who| scene.gained(who));
	assert_eq!(after[0], before[0], "the submitter");
	assert_eq!(after[1], shares.finder as i128, "at once, with its deposit");
	assert_eq!(scene.locked(), 0);
	let Track { effective, total, .. } = scene.power();
	assert_eq!((effective, total), (0, 0), "all that it earned by this job");
	let job = view(&mut scene.chain, scene.id);
	assert_eq!((job.replicas[0].fate, job.state), (Fate::Revoked, JobState::Ended(Ended::Settled)));
	let ought = Settlement {
		slashed: fifth,
		slashed_burned: shares.burned,
		slashed_to_finders: shares.finder,
		slashed_to_jackpot: shares.jackpot,
		..paid
	};
	assert_eq!(job.settlement, ought);
	assert!(!scene.takes_commitments(), "nobody is left who can be accused");
	scene.chain.run(2);
	assert_eq!(scene.late(), None);
	books::check(&mut scene.chain).unwrap();
}

/// It has the deposit of each challenge. What was said is forgotten when the time is over, though the job
/// is on record for longer.
#[test]
fn a_false_accuser_pays_for_locking_a_deposit() {
	let mut scene = settled(honestly);
	let (fifth, challenge) = (scene.fifth(), scene.challenge_deposit());
	let power = scene.power();
	let lie = scene.lie();
	let id = scene.challenge(&lie);
	assert_eq!(scene.play(id, &lie), Ending::Acquitted { by_clock: false });
	assert_eq!(scene.gained(CHALLENGER), -(challenge as i128));
	assert_eq!(scene.locked(), fifth, "for the rest of the time, and no longer");
	assert_eq!(scene.power(), power);
	let kept = || Posts::<Runtime>::iter().count() + Opened::<Runtime>::iter().count();
	assert!(scene.chain.state(kept) > 3);
	assert!(scene.takes_commitments(), "others can still accuse");
	scene.end_of_week();
	assert!(!scene.takes_commitments());
	// The one that nobody shows.
	scene.chain.run(60);
	assert_eq!((scene.locked(), scene.late()), (0, None));
	let job = view(&mut scene.chain, scene.id);
	assert_eq!((job.replicas[0].fate, job.settlement.won), (Fate::Accepted, challenge));
	assert_eq!(scene.chain.state(kept), 0);
	let held = scene.chain.state(|| pallet_balances::Holds::<Runtime>::get(Alice.to_account_id()));
	assert!(held.iter().all(|hold| !matches!(hold.id, RuntimeHoldReason::Court(_))));
	books::check(&mut scene.chain).unwrap();
}

/// Who binds itself in the last block is heard to the end; what does not run then comes too late.
#[test]
fn the_last_block_of_the_week_counts() {
	let mut scene = settled(cheat);
	let (fifth, challenge) = (scene.fifth(), scene.challenge_deposit());
	let until = scene.late().unwrap().until;
	while scene.chain.state(System::block_number) + 1 < until {
		scene.chain.run(1);
	}
	let honest = Bundle::trained(Run::new(&scene.job, Change::Nothing));
	let id = scene.challenge(&honest);
	assert!(scene.chain.state(System::block_number) > until);
	assert!(!scene.takes_commitments());
	assert!(!scene.late().unwrap().open);
	// The cheat has nothing to say any more.
	for _ in 0..3 * PATIENCE {
		scene.chain.run(1);
		if let Some(ending) = scene.ending(id) {
			assert_eq!(ending, Ending::Convicted { by_clock: true });
			break;
		}
	}
	let shares = LostShares::of(fifth, 0, false, challenge);
	assert_eq!(shares.finder, most_for_silence(challenge).min(fifth / 4));
	assert_eq!(scene.gained(CHALLENGER), shares.finder as i128);
	assert_eq!(scene.power().total, 0);
	scene.chain.run(2);
	assert_eq!((scene.late(), scene.locked()), (None, 0));
	books::check(&mut scene.chain).unwrap();
}

/// Nobody accuses: the fifth is free when the time is over, and all else was so before.
#[test]
fn nobody_accuses() {
	let mut scene = settled(honestly);
	let fifth = scene.fifth();
	assert_eq!(scene.locked(), fifth);
	let power = scene.power();
	scene.end_of_week();
	assert_eq!((scene.locked(), scene.late()), (0, None));
	assert_eq!(scene.power(), power);
	assert!(!scene.takes_commitments());
}
