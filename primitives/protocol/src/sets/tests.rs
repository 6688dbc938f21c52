use super::*;
use proptest::prelude::*;

fn score(loss: f32, correct: u32) -> Option<Evaluation> {
	Some(Evaluation::new(loss, correct, 100))
}

fn plan(replaced: u32) -> Plan {
	Plan {
		measure: Measure::Accuracy,
		generations: 2,
		replaced,
		factors: BoundedVec::truncate_from(vec![800, 1_250]),
		show_blocks: 10,
		max_fee_per_ut: 0,
	}
}

#[test]
fn the_better_is_first_and_ties_are_by_index() {
	let scores = [score(0.5, 40), None, score(0.1, 40), score(0.9, 60)];
	assert_eq!(ranking(Measure::Accuracy, &scores), [3, 0, 2, 1]);
	assert_eq!(ranking(Measure::Loss, &scores), [2, 0, 3, 1]);
	assert!(ranking(Measure::Loss, &[]).is_empty());
}

#[test]
fn a_loss_that_is_no_number_is_worst_but_not_missing() {
	let scores = [None, score(f32::NAN, 1), score(f32::INFINITY, 1), score(-1.0, 1)];
	assert_eq!(ranking(Measure::Loss, &scores), [3, 2, 1, 0]);
}

#[test]
fn accuracies_are_compared_as_fractions() {
	// As binary64 quotients these are the same.
	let (one, other) = (Evaluation::new(0.0, u32::MAX - 1, u32::MAX), Evaluation::new(0.0, 1, 1));
	assert_eq!(Measure::Accuracy.compare(&one, &other), Ordering::Greater);
	let (third, same) = (Evaluation::new(0.0, 1, 3), Evaluation::new(0.0, 2, 6));
	assert_eq!(Measure::Accuracy.compare(&third, &same), Ordering::Equal);
}

#[test]
fn the_worst_go_on_from_the_best() {
	let scores = [score(0.0, 10), score(0.0, 90), score(0.0, 50), score(0.0, 20)];
	let all = children(&plan(1), &scores, &H256::repeat_byte(1));
	let own = |parent| Child { parent, factor: ONE };
	assert_eq!(all[1..], [own(1), own(2), own(3)]);
	assert_eq!(all[0].parent, 1);
	assert!([800, 1_250].contains(&all[0].factor));
	let none = children(&plan(0), &scores, &H256::zero());
	assert_eq!(none, [own(0), own(1), own(2), own(3)]);
}

#[test]
fn with_few_scores_there_are_few_parents() {
	let scores = [None, None, score(0.0, 5), None];
	let all = children(&plan(2), &scores, &H256::repeat_byte(7));
	let parents: Vec<u32> = all.iter().map(|child| child.parent).collect();
	assert_eq!(parents, [0, 2, 2, 2], "of those without a score the last two are replaced");
	let nobody = children(&plan(2), &[None; 4], &H256::zero());
	assert!((0..).zip(nobody).all(|(at, child)| child == Child { parent: at, factor: ONE }));
}

/// Frozen: clients in other languages compute what comes.
#[test]
fn draws_are_frozen() {
	let scores: Vec<_> = (0..8).map(|n| score(0.0, n)).collect();
	let all = children(&plan(4), &scores, &H256::repeat_byte(3));
	let worst: Vec<(u32, u32)> =
		all[..4].iter().map(|child| (child.parent, child.factor)).collect();
	assert_eq!(worst, FROZEN);
}
const FROZEN: [(u32, u32); 4] = [(7, 800), (4, 1250), (7, 1250), (4, 1250)];

#[test]
fn every_parent_and_factor_is_drawn() {
	let scores: Vec<_> = (0..8).map(|n| score(0.0, n)).collect();
	let mut hits = [[0u32; 2]; 8];
	for n in 0..4_000u64 {
		let child = children(&plan(4), &scores, &H256::from_low_u64_be(n))[0];
		hits[child.parent as usize][usize::from(child.factor > ONE)] += 1;
	}
	assert_eq!(hits[..4], [[0; 2]; 4]);
	// 500 expected, standard deviation 20.9: six of them.
	assert!(hits[4..].iter().flatten().all(|hits| (375..=625).contains(hits)), "{hits:?}");
}

#[test]
fn a_perturbed_rate_stays_in_range() {
	let mut spec = JobSpec::example();
	spec.training.learning_rate_nano = 2_000_001;
	spec.training.schedule = Schedule::Cosine { final_rate_nano: 10 };
	perturb(&mut spec, 1_250);
	assert_eq!(spec.training.learning_rate_nano, 2_500_001);
	assert_eq!(spec.training.schedule, Schedule::Cosine { final_rate_nano: 12 });
	spec.clone().check().unwrap();
	let before = spec.clone();
	perturb(&mut spec, ONE);
	assert_eq!(spec, before);
	spec.training.learning_rate_nano = 1;
	perturb(&mut spec, 1);
	assert_eq!(spec.training.learning_rate_nano, 1);
	spec.training.learning_rate_nano = MAX_NANO;
	perturb(&mut spec, MAX_FACTOR);
	assert_eq!(spec.training.learning_rate_nano, MAX_NANO);
}

#[test]
fn a_plan_reads_as_people_write_it() {
	let text = r#"{"measure":"loss","generations":3,"replaced":1,"factors":[800,1250],"show_blocks":50,
		"max_fee_per_ut":"7"}"#;
	let read: Plan = serde_json::from_str(text).unwrap();
	let ought = Plan {
		measure: Measure::Loss,
		generations: 3,
		show_blocks: 50,
		max_fee_per_ut: 7,
		..plan(1)
	};
	assert_eq!(read, ought);
}

proptest! {
	/// Whatever the scores, no member is lost, none that has children is replaced, and the rest goes on as it is.
	#[test]
	fn children_are_of_better_members(
		scores in proptest::collection::vec(proptest::option::of((any::<u32>(), 0u32..20)), 2..33),
		replaced in 0u32..20,
		seed in any::<[u8; 32]>(),
		by_loss in any::<bool>(),
	) {
		let measure = if by_loss { Measure::Loss } else { Measure::Accuracy };
		let scores: Vec<Option<Evaluation>> = scores
			.into_iter()
			.map(|found| found.map(|(bits, correct)| Evaluation::new(f32::from_bits(bits), correct, 20)))
			.collect();
		let plan = Plan { measure, ..plan(replaced) };
		let all = children(&plan, &scores, &H256(seed));
		let order = ranking(measure, &scores);
		let place = |member: u32| order.iter().position(|at| *at == member).unwrap();
		prop_assert_eq!(all.len(), scores.len());
		let mut count = 0;
		for (member, child) in (0u32..).zip(&all) {
			if child.parent == member {
				prop_assert_eq!(child.factor, ONE);
				continue;
			}
			count += 1;
			prop_assert!(scores[child.parent as usize].is_some());
			prop_assert!(place(child.parent) < place(member));
			prop_assert_eq!(all[child.parent as usize].parent, child.parent);
		}
		let most = (replaced as usize).min(scores.len() / 2);
		let ought = if scores.iter().any(Option::is_some) { most } else { 0 };
		prop_assert_eq!(count, ought);
	}
}
