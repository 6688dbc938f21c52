//! What other pallets and clients see.

use super::*;
use crate::{Power, Trainers};
use frame_support::assert_ok;
use trainyard_protocol::views::TrainerView;
use trainyard_traits::TrainerRegistry;

#[test]
fn trainers_are_told_from_strangers() {
	Genesis::default().run(|| {
		assert!(!Hashrate::is_trainer(&5));
		assert_eq!(Hashrate::bond(&5), 0);
		register(5);
		assert!(Hashrate::is_trainer(&5));
		assert_eq!(Hashrate::bond(&5), MIN_BOND);
		assert_ok!(Hashrate::deregister(RuntimeOrigin::signed(5)));
		assert!(!Hashrate::is_trainer(&5));
		assert_eq!(Hashrate::bond(&5), MIN_BOND);
	});
}

#[test]
fn work_is_credited() {
	Genesis::default().run(|| {
		register(5);
		Hashrate::credit_training(&5, 6_000);
		// 6,000 x ln 2 / 7 = 594.13.
		assert_last(Event::TrainingCredited { trainer: 5, work: 6_000, effective: 594 });
		let ledger = Power::<Test>::get(5);
		assert_eq!(ledger.training.total, 6_000);
		assert_eq!(ledger.training.updated, pallet_timestamp::Now::<Test>::get());
		assert_eq!(ledger.drilling, Default::default());
		assert_eq!(Hashrate::ecp(&5), 356);
		Hashrate::credit_training(&5, 6_000);
		assert_last(Event::TrainingCredited { trainer: 5, work: 6_000, effective: 1_188 });
		assert_eq!(Power::<Test>::get(5).training.total, 12_000);
		// One who is leaving still gets what it finished.
		assert_ok!(Hashrate::deregister(RuntimeOrigin::signed(5)));
		Hashrate::credit_training(&5, 1);
		assert_eq!(Power::<Test>::get(5).training.total, 12_001);
	});
}

#[test]
fn strangers_get_nothing() {
	Genesis::default().run(|| {
		let before = events();
		Hashrate::credit_training(&5, 6_000);
		assert!(!Power::<Test>::contains_key(5));
		assert_eq!(events(), before);
	});
}

#[test]
fn power_decays_with_the_chains_time() {
	Genesis::default().run(|| {
		register(5);
		Hashrate::credit_training(&5, 1_000_000);
		let ecp = Hashrate::ecp(&5);
		run_block(1);
		pallet_timestamp::Now::<Test>::mutate(|now| *now += crate::power::WEEK_MS - SLOT);
		assert_eq!(Hashrate::ecp(&5), ecp / 2);
	});
}

#[test]
fn views_tell_all() {
	Genesis::default().run(|| {
		register(5);
		Hashrate::credit_training(&5, 6_000);
		set_power(1, 77);
		run_to_session(1, 1);
		assert_eq!(
			Hashrate::trainer(&1),
			Some(TrainerView {
				account: 1,
				bond: MIN_BOND,
				hardware: Default::default(),
				candidate: true,
				training_total: 0,
				training_effective: 77,
				drilling_total: 0,
				drilling_effective: 77,
				ecp: 77,
				weight: Some(10),
				next_weight: Some(77),
			})
		);
		let view = Hashrate::trainer(&5).unwrap();
		assert_eq!((view.hardware, view.candidate), (hardware(), false));
		assert_eq!((view.training_total, view.training_effective), (6_000, 594));
		assert_eq!((view.drilling_effective, view.ecp), (0, 356));
		assert_eq!((view.weight, view.next_weight), (None, None));
		assert_eq!(Hashrate::trainer(&6), None);
		// In pages, whatever their order, everybody is there once.
		let page = |after, count| -> Vec<_> {
			Hashrate::trainers(after, count).into_iter().map(|view| view.account).collect()
		};
		let (mut all, mut last) = (Vec::new(), None);
		while let Some(next) = page(last, 1).first() {
			all.push(*next);
			last = Some(*next);
		}
		assert_eq!(page(None, 9), all);
		assert_eq!(page(Some(all[1]), 9), all[2..]);
		all.sort();
		assert_eq!(all, [1, 2, 3, 5]);
	});
}

#[cfg(feature = "runtime-benchmarks")]
#[test]
fn benchmarks_get_a_trainer() {
	Genesis::default().run(|| {
		Hashrate::make_trainer(&1_000);
		assert!(Hashrate::is_trainer(&1_000));
		assert_eq!(Trainers::<Test>::get(1_000).unwrap().bond, MIN_BOND);
	});
}
