//! Jobs whose trainers do not keep all states: which are taken, and how much more time there is.

use crate::{mock::*, Error, Hearings};
use frame_support::{assert_noop, assert_ok};
use trainyard_court::game::Target;
use trainyard_program::{needs::Needs, spec::JobSpec, work::Parts};
use trainyard_protocol::{
	duties::{Recompute, MAX_COMMIT_BLOCKS},
	job::{Balance, JobState, Terms},
	views::QuoteView,
};

fn submit(spec: JobSpec, terms: Terms) -> frame_support::dispatch::DispatchResult {
	TaskMarket::submit_job(RuntimeOrigin::signed(SUBMITTER), spec, terms, Balance::MAX)
}

/// A job of 30 segments whose trainers keep one state in so many.
fn keeping(keep_every: u32) -> Terms {
	Terms { keep_every, price_per_ut: 1, ..terms(1) }
}

/// The same job with a training of so many steps, with the least fee.
fn long(steps: u32, keep_every: u32) -> (JobSpec, Terms) {
	let mut spec = JobSpec::noisy_example();
	(spec.training.steps, spec.training.checkpoint_interval) = (steps, steps / 30);
	spec.training.batch_size = 64;
	let terms = with_least_fee(&spec, keeping(keep_every));
	(spec, terms)
}

#[test]
fn at_least_one_state_in_as_many_as_there_are_segments_is_kept() {
	run(|| {
		for bad in [0, 31, u32::MAX] {
			let refused = submit(JobSpec::noisy_example(), keeping(bad));
			assert_noop!(refused, Error::<Test>::BadKeepEvery);
		}
		for good in [1, 2, 30] {
			assert_ok!(submit(JobSpec::noisy_example(), keeping(good)));
		}
	});
}

/// Whoever posts cannot have so few states kept that nobody can answer in time.
#[test]
fn what_takes_longer_than_a_day_again_is_refused() {
	run(|| {
		let step = Parts::of(&long(30, 1).0.check().unwrap()).step;
		// What a machine of the class computes in 7/12 of a day.
		let most = u128::from(MAX_COMMIT_BLOCKS) * 12_000_000_000 * 7 / 12;
		// A committee of three may ask for all stretches: of 30 segments 29 are trained again, or every second one.
		for (keep_every, again) in [(30, 29), (2, 15)] {
			let steps = u32::try_from(most / step / again * 30).unwrap() / 30 * 30;
			let (spec, terms) = long(steps, keep_every);
			let quote = TaskMarket::checked_quote(&spec.clone().check().unwrap(), &terms).unwrap();
			let round = quote.moved.recompute.round;
			assert!((MAX_COMMIT_BLOCKS - 2..=MAX_COMMIT_BLOCKS).contains(&round), "{round}");
			assert_ok!(submit(spec, terms));
			let (spec, terms) = long(steps + steps / 1_000 / 30 * 30, keep_every);
			assert_noop!(submit(spec.clone(), terms.clone()), Error::<Test>::RecomputeTooLong);
			assert_ok!(submit(spec, Terms { keep_every: 1, ..terms }));
		}
	});
}

#[test]
fn the_quote_says_how_long_computing_again_takes() {
	run(|| {
		let (spec, all) = long(3_000_000, 1);
		let checked = spec.clone().check().unwrap();
		let quote = |terms: &Terms| TaskMarket::checked_quote(&checked, terms).unwrap();
		let before = quote(&all);
		assert_eq!(before.moved.recompute, Recompute { keep_every: 1, ..Recompute::default() });
		let thin = Terms { keep_every: 10, ..all.clone() };
		let after = quote(&thin);
		let parts = Parts::of(&checked);
		// Nine segments of 100,000 steps at 2 GFLOP/s, 12/7 of it; and as many of three stretches as a committee of
		// three may ask for: all.
		let flop = 9 * 100_000 * parts.step * 12;
		let stretch = flop.div_ceil(7 * 12_000_000_000) as u32;
		assert!(stretch > 100, "{stretch}");
		let round = (3 * flop).div_ceil(7 * 12_000_000_000) as u32;
		let expected = Recompute { keep_every: 10, stretch, round };
		assert_eq!(after.moved.recompute, expected);
		let view = |terms| {
			let QuoteView { recompute_blocks, stretch_blocks, .. } =
				TaskMarket::quote(spec.clone(), terms).unwrap();
			(recompute_blocks, stretch_blocks)
		};
		assert_eq!((view(&all), view(&thin)), ((0, 0), (round, stretch)));
		// Nothing else of the quote is another: what a seat computes and fetches is the same. There are samples of
		// fewer states, of which a relay of the least bytes costs the same.
		let mut same = after;
		same.moved.recompute = before.moved.recompute;
		same.sizes.keep_every = 1;
		assert_eq!(same, before);
		assert_eq!(after.sizes.keep_every, 10);
		let needs = Needs::of(&checked);
		assert_eq!(needs.all_samples(10), needs.all_samples(1) / 31 * 4);
		assert_eq!(needs.kept_states(10), 4 * needs.checkpoint);
		assert_eq!(needs.held_states(10), (4 + 2 * 9) * needs.checkpoint);
		assert_eq!(needs.held_states(30), 31 * needs.checkpoint);
		assert_eq!(needs.held_states(1), 31 * needs.checkpoint);
	});
}

/// The window in which results stand, and the clocks of disputes, have time for a stretch.
#[test]
fn challenges_and_defences_have_time_for_a_stretch() {
	run(|| {
		let heard = |keep_every| {
			let (spec, terms) = long(3_000_000, keep_every);
			Patience::set(40);
			let id = post_spec(SUBMITTER, spec, terms);
			apply(id, &[11]);
			run_to_state(id, JobState::Training);
			audited(id, &[(11, 1)]);
			Patience::set(0);
			let request = AuditBook::get()[&id].request.clone();
			(id, Hearings::<Test>::get(id).unwrap(), request)
		};
		let (plain, before, request) = heard(1);
		assert_eq!(request.recompute, Recompute { keep_every: 1, ..Recompute::default() });
		let (thin, after, request) = heard(10);
		let recompute = job(thin).quote.moved.recompute;
		assert_eq!(request.recompute, recompute);
		let stretch = recompute.stretch;
		assert!(stretch > 0);
		assert_eq!((after.again, after.work), (before.again + stretch, before.work + stretch));
		assert_eq!((after.length, after.short), (before.length.max(after.again), before.short));
		let clock = |id, target| TaskMarket::clock(id, &target).ticks;
		let segment = Target::Segment(3);
		assert_eq!(clock(thin, segment), clock(plain, segment) + 2 * stretch);
		assert_eq!(clock(thin, Target::Start), clock(plain, Target::Start));
		assert_eq!((TaskMarket::keep_every(thin), TaskMarket::keep_every(99)), (10, 1));
	});
}
