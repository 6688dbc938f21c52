use super::*;
use trainyard_program::thinning;

/// A run of twelve segments of five steps.
fn long() -> Run {
	Run::of(|data| {
		changed(&job(data), |spec| {
			spec.training.checkpoint_interval = 5;
			spec.training.learning_rate_nano = 1_000_000;
		})
	})
}

fn levels(run: &Run, every: u32) -> Levels<'_> {
	Levels {
		spec: &run.spec,
		checkpoints: run.checkpoints.clone(),
		diverged: run.diverged,
		measure: run.measure,
		output: OUTPUT,
		every,
	}
}

/// What a seat picks, and the checkpoints that it reads for that.
fn pick(run: &Run, every: u32) -> (Option<Pick>, Vec<u32>) {
	let of = levels(run, every);
	let mut read = Vec::new();
	let mut measure = |mut walk: Walk<'_>| {
		while let Some(request) = walk.request() {
			read.push(request.checkpoint);
			let answer = run.local().open(&request);
			walk.answer(&request, answer).unwrap();
		}
		walk.movement()
	};
	let kept = measure(of.kept());
	let stretches = of.stretches(&kept);
	if stretches.is_empty() {
		return (kept.pick(), read);
	}
	let picks: Vec<_> =
		stretches.into_iter().filter_map(|at| measure(of.stretch(at)).pick()).collect();
	read.sort_unstable();
	read.dedup();
	(Levels::best(picks), read)
}

#[test]
fn where_all_are_kept_there_is_one_level() {
	let run = long();
	assert_eq!(run.checkpoints.len(), 13);
	let (found, read) = pick(&run, 1);
	assert_eq!(found, run.movement().pick());
	assert_eq!(read, (0..=12).collect::<Vec<_>>());
}

/// No state is read that is neither kept nor of two stretches.
#[test]
fn two_levels_read_what_is_kept_and_two_stretches() {
	let run = long();
	for every in [2, 3, 4, 5, 12, 99] {
		let (found, read) = pick(&run, every);
		let found = found.unwrap().segment;
		assert!((1..11).contains(&found), "{every}: {found} is not that of seat 0");
		let dropped: Vec<u32> =
			read.iter().filter_map(|at| thinning::stretch_of(every, *at, 12)).collect();
		let stretches: std::collections::BTreeSet<_> = dropped.iter().copied().collect();
		assert!(stretches.len() <= 2 && stretches.contains(&0), "{every}: {stretches:?}");
		let kept = (0..=12).filter(|at| thinning::keeps(every, *at, 12));
		assert!(kept.clone().all(|at| read.contains(&at)), "{every}");
		assert_eq!(read.len(), kept.count() + dropped.len());
	}
}

/// A jump is found in every stretch, also in the first one, which is compared with no other, and beside kept states.
#[test]
fn a_jump_is_found_wherever_it_is() {
	for every in [3, 4] {
		for index in 2..=11 {
			let mut run = long();
			// A run that goes on from a made-up state.
			for later in index..=12 {
				run.forge(later, |state| {
					for x in &mut state.get_mut("layers.0.weight").unwrap().data {
						*x += 3.0;
					}
				});
			}
			let found = pick(&run, every).0.unwrap().segment;
			assert_eq!(found as usize, index - 1, "{every}");
		}
	}
}

#[test]
fn any_segment_of_a_stretch_is_one_of_it() {
	let all = |every, segments, stretch| -> std::collections::BTreeSet<u32> {
		(0..50).map(|random| any_of(every, segments, stretch, random)).collect()
	};
	assert_eq!(all(4, 12, 1), (4..8).collect());
	assert_eq!(all(5, 12, 2), (10..12).collect());
	assert_eq!(all(1, 12, 3), [3].into());
	assert_eq!(all(0, 12, 3), [3].into());
}

/// What begins a run moves farthest in every run, and is not compared with the rest.
#[test]
fn the_first_stretch_and_the_ends_are_no_picks() {
	let of = |quotients: &[f64], each| {
		let rows: Vec<_> = quotients.iter().map(|x| vec![*x]).collect();
		spans_of(vec!["tensor".into()], vec![Kind::Parameter], rows, each)
	};
	assert_eq!(of(&[100.0, 1.0, 1.5, 1.0], 5).pick().unwrap().segment, 10);
	// The last stretch can be picked, the last segment cannot.
	assert_eq!(of(&[100.0, 1.0, 1.0, 9.0], 5).pick().unwrap().segment, 15);
	assert_eq!(of(&[100.0, 1.0, 1.5, 9.0], 1).pick().unwrap().segment, 2);
	assert_eq!(of(&[100.0], 5).pick(), None);
	// A stretch that does not begin the run has its own first segment.
	let mut inner = of(&[7.0, 1.0, 1.0], 1);
	for span in &mut inner.spans {
		*span = (span.0 + 10, span.1 + 10);
	}
	inner.last = 20;
	assert_eq!(inner.pick().unwrap().segment, 10);
	inner.last = 13;
	inner.quotients = vec![vec![1.0], vec![1.0], vec![3.0]];
	assert_eq!(inner.pick().unwrap().segment, 10, "the last one is that of seat 0");
	inner.diverged = true;
	assert_eq!(inner.pick().unwrap().segment, 12);
}
