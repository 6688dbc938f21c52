//! Challenges, and refutations of pieces.

use super::*;
use trainyard_protocol::{
	bundle::Evaluation,
	content::{self, CHUNK_BYTES},
	federation, H256,
};
use trainyard_traits::JobEnd;

/// A round in which 11 says of the model of seed 1 that it gets `new` labels right, and that the best one gets
/// 600; ready to be challenged.
fn said_of(new: u32) -> u32 {
	let id = open(Payer::Budget);
	(11..15).for_each(|who| join(id, who));
	let number = claim(id, 11, 1);
	show(id);
	say(id, 11, number, 1, new, 600);
	until_challenging(id);
	id
}

/// What a challenge costs who is wrong: a quarter of the stake.
const DEPOSIT: u128 = STAKE / 4;

#[test]
fn a_false_count_costs_the_stake_and_half_is_the_challengers() {
	run(|| {
		let id = said_of(700);
		let job = challenge(id, 14, 1);
		let posted = Posted::get()[job as usize].clone();
		assert_eq!((posted.submitter, posted.terms.audit_fee), (14, 10_000));
		let initial = posted.spec.initial_model.unwrap();
		assert_eq!(initial.file.content_hash, root(&model_file(1)));
		assert_eq!(initial.parameters, parameters(&model_file(1)));
		let Stage::Challenging { slice: number, .. } = get(id).stage else { unreachable!() };
		assert_eq!(posted.spec.dataset.content_hash, slice(number).file.content_hash);
		assert_eq!(held(14), PEER + DEPOSIT);
		let view = Swarming::view(id).unwrap();
		assert_eq!(view.doubts[0].challenge, Some((14, job)));
		testify(id, 13, 1, measure(job, 620));
		let model = root(&model_file(1));
		let proven = Event::Proven { swarm: id, model, count: count(620), upheld: true };
		assert_eq!(events().last(), Some(&proven));
		let view = Swarming::view(id).unwrap();
		assert_eq!((view.doubts[0].proven, view.claims[0].refuter), (Some(count(620)), Some(14)));
		let all = finish(id);
		let refuted = |event: &Event<Test>| {
			matches!(event, Event::Refuted { claimant: 11, refuter: 14, reward: 2_500, .. })
		};
		assert!(happened(&all, refuted));
		assert_eq!(free(14), ENDOWMENT - PEER + STAKE / 2);
		assert_eq!(free(11), ENDOWMENT - PEER - STAKE - FEE);
		assert_eq!((burned(), get(id).budget), (STAKE / 2, BUDGET));
		assert_eq!(get(id).best, crate::mock::model(&model_file(0)));
	});
}

#[test]
fn who_challenges_what_is_true_loses_its_deposit() {
	run(|| {
		let id = said_of(620);
		let job = challenge(id, 14, 1);
		testify(id, 11, 1, measure(job, 620));
		let all = finish(id);
		assert!(happened(&all, |event| matches!(event, Event::Gained { amount: 2_000, .. })));
		assert_eq!((free(14), held(14)), (ENDOWMENT - PEER - DEPOSIT, PEER));
	});
}

#[test]
fn the_count_of_the_model_that_it_is_compared_with_is_challenged_as_well() {
	run(|| {
		let id = said_of(620);
		let job = challenge(id, 14, 0);
		testify(id, 14, 0, measure(job, 615));
		let all = finish(id);
		assert!(happened(&all, |event| matches!(event, Event::Refuted { refuter: 14, .. })));
		assert_eq!(free(14), ENDOWMENT - PEER + STAKE / 2);
	});
}

#[test]
fn a_model_that_is_not_finite_gets_nothing_right() {
	run(|| {
		let id = said_of(620);
		let job = challenge(id, 14, 1);
		testify(id, 14, 1, measure_with(job, Evaluation::NONE));
		assert_eq!(Doubts::<Test>::get(id)[0].proven, Some(count(0)));
		finish(id);
		assert_eq!(free(14), ENDOWMENT - PEER + STAKE / 2);
	});
}

#[test]
fn all_who_were_right_have_their_deposits_back_and_the_first_is_paid() {
	run(|| {
		let id = said_of(700);
		challenge(id, 13, 0);
		challenge(id, 14, 1);
		testify(id, 13, 0, measure(0, 610));
		testify(id, 14, 1, measure(1, 620));
		finish(id);
		assert_eq!(free(13), ENDOWMENT - PEER + STAKE / 2);
		assert_eq!(free(14), ENDOWMENT - PEER);
	});
}

#[test]
fn one_challenge_finds_all_claims_false_that_say_the_same() {
	run(|| {
		let id = open(Payer::Budget);
		(11..15).for_each(|who| join(id, who));
		let numbers: Vec<u32> = (11..14).map(|who| claim(id, who, who as u32)).collect();
		show(id);
		say(id, 11, numbers[0], 11, 700, 500);
		say(id, 12, numbers[1], 12, 700, 600);
		say(id, 13, numbers[2], 13, 700, 500);
		until_challenging(id);
		let job = challenge(id, 14, 0);
		testify(id, 14, 0, measure(job, 600));
		finish(id);
		assert_eq!(free(14), ENDOWMENT - PEER + STAKE);
		assert_eq!(peer(id, 12).earned, STAKE);
		assert_eq!((peer(id, 11).earned, peer(id, 13).earned), (0, 0));
	});
}

#[test]
fn what_the_market_does_not_measure_is_not_paid() {
	run(|| {
		let id = said_of(620);
		let job = challenge(id, 14, 1);
		let call = Swarming::challenge(signed(13), id, model(&model_file(1)), 10_000);
		assert_noop!(call, Error::<Test>::IsChallenged);
		pass(30);
		assert!(matches!(get(id).stage, Stage::Challenging { .. }), "it waits for the job");
		end_job(job, JobEnd::Failed);
		let all = finish(id);
		let failed =
			|event: &Event<Test>| matches!(event, Event::ChallengeFailed { fault: false, .. });
		assert!(happened(&all, failed));
		assert!(happened(&all, |event| matches!(event, Event::Unmeasured { .. })));
		assert_eq!(free(14), ENDOWMENT - PEER, "nobody was wrong");
		assert_eq!((free(11), peer(id, 11).earned), (ENDOWMENT - PEER - FEE, 0));
		assert_eq!(get(id).best, model(&model_file(0)));
	});
}

/// Somebody keeps the market from measuring an honest claim; its maker has it measured.
#[test]
fn a_claimant_proves_its_own_count_where_others_could_not() {
	run(|| {
		let id = said_of(620);
		let job = challenge(id, 14, 1);
		end_job(job, JobEnd::Failed);
		pass(3);
		let Stage::Challenging { until: last, .. } = get(id).stage else { unreachable!() };
		assert!(last >= System::block_number() + 5, "there is time again");
		let job = challenge(id, 11, 1);
		testify(id, 11, 1, measure(job, 620));
		let all = finish(id);
		assert!(happened(&all, |event| matches!(event, Event::Gained { amount: 2_000, .. })));
		assert_eq!(free(11), ENDOWMENT - PEER - FEE + 2_000, "and has its deposit back");
	});
}

#[test]
fn three_failures_are_enough() {
	run(|| {
		let id = said_of(620);
		for _ in 0..3 {
			let job = challenge(id, 14, 1);
			end_job(job, JobEnd::Failed);
			pass(3);
		}
		let call = Swarming::challenge(signed(14), id, model(&model_file(1)), 10_000);
		assert_noop!(call, Error::<Test>::IsUnmeasurable);
		let all = finish(id);
		assert!(happened(&all, |event| matches!(event, Event::Unmeasured { .. })));
	});
}

/// A cheat challenges itself first, so that nobody else can, and takes the job back.
#[test]
fn who_stops_its_own_challenge_saves_no_false_count() {
	run(|| {
		let id = said_of(700);
		let Stage::Challenging { until: last, .. } = get(id).stage else { unreachable!() };
		to(last);
		let job = challenge(id, 12, 1);
		end_job(job, JobEnd::Stopped);
		pass(3);
		let failed =
			|event: &Event<Test>| matches!(event, Event::ChallengeFailed { fault: true, .. });
		assert!(happened(&events(), failed) || burned() == DEPOSIT);
		assert_eq!((free(12), held(12)), (ENDOWMENT - PEER - DEPOSIT, PEER));
		let job = challenge(id, 14, 1);
		testify(id, 14, 1, measure(job, 620));
		finish(id);
		assert_eq!(free(14), ENDOWMENT - PEER + STAKE / 2);
	});
}

#[test]
fn who_keeps_to_itself_what_was_counted_loses_its_deposit() {
	run(|| {
		let id = said_of(700);
		let job = challenge(id, 12, 1);
		measure(job, 620);
		pass(12);
		assert_eq!((free(12), held(12)), (ENDOWMENT - PEER - DEPOSIT, PEER));
		let job = challenge(id, 14, 1);
		testify(id, 14, 1, measure(job, 620));
		finish(id);
		assert_eq!(free(14), ENDOWMENT - PEER + STAKE / 2);
	});
}

#[test]
fn what_was_counted_can_be_shown_late_while_it_is_waited_for() {
	run(|| {
		let id = said_of(700);
		let job = challenge(id, 14, 1);
		pass(20);
		let leaf = measure(job, 620);
		pass(4);
		testify(id, 14, 1, leaf);
		pass(1);
		assert!(!matches!(get(id).stage, Stage::Challenging { .. }));
		finish(id);
		assert_eq!(free(14), ENDOWMENT - PEER + STAKE / 2);
	});
}

#[test]
fn full_blocks_hold_up_challenges() {
	run(|| {
		let id = said_of(700);
		let Stage::Challenging { until: last, .. } = get(id).stage else { unreachable!() };
		FullBlocks::set(10);
		to(last + 10);
		let job = challenge(id, 14, 1);
		testify(id, 14, 1, measure(job, 620));
		finish(id);
		assert_eq!(free(14), ENDOWMENT - PEER + STAKE / 2);
	});
}

#[test]
fn what_is_no_challenge_is_refused() {
	run(|| {
		let id = said_of(620);
		let challenge = |who, id, model: Model| Swarming::challenge(signed(who), id, model, 10_000);
		assert_noop!(challenge(14, id, model(&model_file(9))), Error::<Test>::NothingSaid);
		let other = Model { parameters: H256::zero(), ..model(&model_file(1)) };
		assert_noop!(challenge(14, id, other), Error::<Test>::NothingSaid);
		assert_noop!(challenge(14, 5, model(&model_file(1))), Error::<Test>::NoSuchSwarm);
		Refusals::set(vec!["no verifiers"]);
		let refused = challenge(14, id, model(&model_file(1)));
		assert_eq!(refused, Err(sp_runtime::DispatchError::Other("no verifiers")));
		impoverish(14, DEPOSIT / 2);
		assert!(frame_support::storage::with_storage_layer(|| {
			challenge(14, id, model(&model_file(1)))
		})
		.is_err());
		let Stage::Challenging { until: last, .. } = get(id).stage else { unreachable!() };
		to(last);
		assert_ok!(challenge(13, id, model(&model_file(0))));
		to(last + 1);
		assert_noop!(challenge(13, id, model(&model_file(1))), Error::<Test>::NotChallenging);
		end_job(last_job(), JobEnd::Failed);
		finish(id);
		assert_noop!(challenge(13, id, model(&model_file(1))), Error::<Test>::NotChallenging);
	});
}

#[test]
fn every_model_of_a_round_can_be_challenged_at_once() {
	run(|| {
		let id = open(Payer::Budget);
		(11..28).for_each(|who| join(id, who));
		let numbers: Vec<u32> = (11..27).map(|who| claim(id, who, who as u32)).collect();
		show(id);
		(11..27).for_each(|who| say(id, who, numbers[who as usize - 11], who as u32, 620, 600));
		until_challenging(id);
		let all = || (11..27).chain([0]);
		all().for_each(|of| {
			let _ = challenge(id, 27, of);
		});
		assert_eq!(Doubts::<Test>::get(id).len(), 17);
		for (job, of) in (0..).zip(all()) {
			testify(id, 27, of, measure(job, if of == 0 { 600 } else { 610 }));
		}
		finish(id);
		assert_eq!(free(27), ENDOWMENT - PEER + 16 * STAKE / 2 - DEPOSIT);
	});
}

#[test]
fn only_the_first_leaf_of_what_was_accepted_testifies() {
	run(|| {
		let id = said_of(700);
		let testify =
			|id, of: u32, leaf| Swarming::testify(signed(14), id, model(&model_file(of)), leaf);
		let leaf = measure(challenge(id, 14, 1), 620);
		let job = last_job();
		Posted::mutate(|all| all[job as usize].end = None);
		assert_noop!(testify(id, 1, leaf.clone()), Error::<Test>::NoResult);
		end_job(job, JobEnd::Stopped);
		assert_noop!(testify(id, 1, leaf), Error::<Test>::NoResult);
		let leaf = measure(job, 620);
		assert_noop!(testify(id, 0, leaf.clone()), Error::<Test>::NotChallenged);
		assert_noop!(testify(id + 1, 1, leaf.clone()), Error::<Test>::NoSuchSwarm);
		let mut wrong = leaf.clone();
		if let trainyard_protocol::accusation::LeafContent::Checkpoint(start) = &mut wrong.content {
			start.evaluation = Evaluation::new(1.0, 621, LABELS);
		}
		assert_noop!(testify(id, 1, wrong), Error::<Test>::BadLeaf);
		let diverged = trainyard_protocol::bundle::Diverged { step: 1, trace: H256::zero() };
		let content = trainyard_protocol::accusation::LeafContent::Diverged(diverged);
		let wrong = trainyard_protocol::accusation::Leaf { content, path: leaf.path.clone() };
		assert_noop!(testify(id, 1, wrong), Error::<Test>::BadLeaf);
		assert_ok!(testify(id, 1, leaf.clone()));
		assert_noop!(testify(id, 1, leaf), Error::<Test>::NotChallenged);
		let call = Swarming::challenge(signed(13), id, model(&model_file(1)), 10_000);
		assert_noop!(call, Error::<Test>::IsChallenged);
	});
}

/// What opens piece `number` of a file.
fn opened(file: &[u8], number: usize) -> (crate::PieceBytes, crate::PieceSiblings) {
	let piece = federation::pieces(&layout())[number];
	let chunks = piece.chunks();
	let siblings = content::open_many(file, chunks.clone()).unwrap();
	let end = ((chunks.end * CHUNK_BYTES) as usize).min(file.len());
	let own = file[(chunks.start * CHUNK_BYTES) as usize..end].to_vec();
	(own.try_into().unwrap(), siblings.try_into().unwrap())
}

#[test]
fn pieces_that_are_not_those_of_the_file_are_refuted() {
	run(|| {
		let id = open(Payer::Budget);
		(11..15).for_each(|who| join(id, who));
		let number = claim(id, 11, 1);
		show(id);
		let file = model_file(1);
		store(&file);
		let mut false_said = said(&file, 700, 600);
		let last = false_said.pieces.len() - 1;
		false_said.pieces[last] = H256::repeat_byte(3);
		assert_ok!(Swarming::say(signed(11), id, number, false_said, [7; 32]));
		until_challenging(id);
		let refute = |claim, which, piece: usize, of: usize| {
			let (bytes, siblings) = opened(&file, of);
			let piece = piece as u32;
			Swarming::refute_piece(signed(14), id, claim, which, piece, bytes, siblings)
		};
		assert_noop!(refute(number, Which::New, 0, 0), Error::<Test>::NotRefuted);
		assert_noop!(refute(number, Which::New, last, 0), Error::<Test>::BadOpening);
		assert_noop!(refute(number, Which::New, last + 1, 0), Error::<Test>::NoSuchPiece);
		assert_noop!(refute(number, Which::Own, last, last), Error::<Test>::NoTicket);
		assert_noop!(refute(3, Which::New, last, last), Error::<Test>::NoSuchClaim);
		assert_ok!(refute(number, Which::New, last, last));
		assert_eq!(free(14), ENDOWMENT - PEER + STAKE / 2);
		check();
		finish(id);
		assert_eq!((get(id).best, get(id).budget), (model(&model_file(0)), BUDGET));
		assert_noop!(refute(number, Which::New, last, last), Error::<Test>::NotChallenging);
	});
}

/// A cheat refutes itself, so that who challenges its count finds nothing to contradict.
#[test]
fn a_challenger_loses_nothing_where_the_claim_is_refuted_in_another_way() {
	run(|| {
		let id = open(Payer::Budget);
		(11..15).for_each(|who| join(id, who));
		let number = claim(id, 11, 1);
		show(id);
		let file = model_file(1);
		store(&file);
		let mut false_said = said(&file, 700, 600);
		let parameters = {
			false_said.pieces[0] = H256::repeat_byte(3);
			federation::parameters(&layout(), &false_said.pieces).unwrap()
		};
		assert_ok!(Swarming::say(signed(11), id, number, false_said, [7; 32]));
		until_challenging(id);
		let named = Model { root: root(&file), parameters };
		assert_ok!(Swarming::challenge(signed(14), id, named, 10_000));
		let (bytes, siblings) = opened(&file, 0);
		let which = Which::New;
		assert_ok!(Swarming::refute_piece(signed(12), id, number, which, 0, bytes, siblings));
		assert_ok!(Swarming::testify(signed(14), id, named, measure(0, 610)));
		finish(id);
		assert_eq!(free(14), ENDOWMENT - PEER);
	});
}

#[test]
fn what_was_found_false_is_not_refuted_again() {
	run(|| {
		let id = said_of(700);
		let job = challenge(id, 14, 1);
		testify(id, 14, 1, measure(job, 620));
		let (bytes, siblings) = opened(&model_file(1), 0);
		let call = Swarming::refute_piece(signed(12), id, 0, Which::New, 0, bytes, siblings);
		assert_noop!(call, Error::<Test>::IsRefuted);
	});
}
