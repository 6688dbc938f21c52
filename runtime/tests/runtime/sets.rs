//! Population-based training over the real pallets: of two members one is trained and scored, nobody takes the
//! other, and in the next generation both go on from the model that there is.

use crate::{
	federation::{model, store},
	jobs::{chain, committee, end, in_state, run_until, view, SALT},
};
use frame_support::assert_ok;
use sp_keyring::Sr25519Keyring::{Alice, Bob, Ferdie};
use trainyard_court::game::Target;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	accusation::Leaf,
	blob::Chunked,
	commitment, federation,
	job::{Ending, JobState, Reveal, Terms},
	model_file::Layout,
	sets::{Measure, Plan, Run, SetEnding, SetView, Stage},
	JobId, Text, H256,
};
use trainyard_runtime::{api::runtime_decl_for_trainyard_api::TrainyardApi, *};
use trainyard_sandbox::{
	bundles::{applies, Bundle},
	Chain,
};

/// A job of one segment with this learning rate.
fn spec(learning_rate_nano: u64) -> JobSpec {
	let mut spec = JobSpec::noisy_example();
	let training = &mut spec.training;
	(training.steps, training.checkpoint_interval) = (50, 50);
	training.learning_rate_nano = learning_rate_nano;
	spec
}

fn terms() -> Terms {
	Terms {
		price_per_ut: 100 * TRY,
		replicas: 1,
		verifiers: 3,
		audit_segments: 1,
		audit_fee: TRY / 5,
		apply_blocks: 12,
		training_blocks: 100,
		machine: Default::default(),
		undecided_percent: 20,
		keep_every: 1,
		lottery: None,
	}
}

fn set_view(chain: &mut Chain) -> SetView<AccountId> {
	chain.state(|| Runtime::job_set(0)).expect("it was opened")
}

/// Makes blocks until `reached` holds.
fn until(
	chain: &mut Chain,
	what: &str,
	reached: impl Fn(&SetView<AccountId>) -> bool,
) -> SetView<AccountId> {
	for _ in 0..400 {
		let view = set_view(chain);
		if reached(&view) {
			return view;
		}
		chain.run(1);
	}
	panic!("no {what} in 400 blocks: {:?}", set_view(chain));
}

/// Lets //Alice do a job of the market, and its committee accept that. Returns both leaves of what was computed.
fn train(chain: &mut Chain, job: JobId, file: &[u8]) -> [Leaf; 2] {
	let posted = view(chain, job);
	let digest = commitment::job(&posted.spec, &posted.terms);
	let alice = Alice.to_account_id();
	assert_ok!(chain.call(Alice, applies(&alice, job, digest)));
	let assigned = run_until(chain, job, "assignment", in_state(JobState::Training));
	let checked = posted.spec.clone().check().unwrap();
	let computed = Bundle::made_up(&checked, 1, 1, false);
	let bundle = computed.forced(&assigned.seed.unwrap(), &alice);
	let leaves = [Target::Start, Target::Model].map(|target| bundle.shown(&target)[0].clone());
	let reveal = Reveal {
		bundle_root: bundle.root(),
		true_root: bundle.true_root(),
		model_root: Chunked::new(file).root,
		segments: 1,
		diverged: false,
		location: Text::new("http://127.0.0.1:8600").unwrap(),
	};
	let genesis = chain.state(|| System::block_hash(0));
	let commitment = commitment::result(&genesis, job, &alice, &reveal.result(), &SALT);
	assert_ok!(chain.call(Alice, pallet_submissions::Call::commit { job, commitment }));
	run_until(chain, job, "revealing", in_state(JobState::Revealing));
	assert_ok!(chain.call(Alice, pallet_submissions::Call::reveal { job, reveal, salt: SALT }));
	store(chain, Alice, file);
	run_until(chain, job, "audit", in_state(JobState::Auditing));
	committee(chain, job, &bundle, |seat, result| seat.vouches(0, result, &bundle, &[]));
	let ended = end(chain, job);
	assert_eq!(ended.state, JobState::Ended(Ending::Settled));
	leaves
}

#[test]
fn the_members_of_the_next_generation_go_on_from_the_model_that_there_is() {
	let mut chain = chain();
	let plan = Plan {
		measure: Measure::Loss,
		generations: 3,
		replaced: 1,
		factors: vec![500].try_into().unwrap(),
		show_blocks: 100,
		max_fee_per_ut: 1_000 * TRY,
	};
	let open = pallet_sets::Call::open {
		specs: vec![spec(1_000_000), spec(2_000_000)].try_into().unwrap(),
		terms: terms(),
		plan: plan.clone(),
	};
	assert_ok!(chain.call(Ferdie, open));
	let opened = set_view(&mut chain);
	let jobs: Vec<JobId> = opened.members.iter().filter_map(|member| member.run.job()).collect();
	for (job, member) in jobs.iter().zip(&opened.members) {
		let posted = view(&mut chain, *job);
		assert_eq!((posted.submitter, &posted.spec), (Ferdie.to_account_id(), &member.spec));
		assert!(posted.fee_per_ut > 0, "the first generation makes power");
	}
	trainyard_sandbox::books::check(&mut chain).unwrap();

	let file = model(5);
	let [early, last] = train(&mut chain, jobs[1], &file);
	let layout = Layout::of(&spec(1).check().unwrap());
	let pieces = federation::piece_values(&layout, &file).unwrap();
	let parameters = federation::parameters(&layout, &pieces).unwrap();
	let show = |leaf: &Leaf, parameters: Option<H256>| pallet_sets::Call::show {
		set: 0,
		member: 1,
		leaf: leaf.clone(),
		parameters,
	};
	let bad = pallet_sets::Error::<Runtime>::BadLeaf;
	assert_eq!(chain.call(Bob, show(&early, None)).unwrap_err(), bad.into());
	assert_ok!(chain.call(Bob, show(&last, None)));
	// A stranger's word does not go on: the submitter says the parameters.
	assert!(matches!(set_view(&mut chain).members[0].run, Run::Out(_)), "nobody applied");
	chain.run(5);
	assert_eq!(set_view(&mut chain).generation, 0);
	assert_ok!(chain.call(Ferdie, show(&last, Some(parameters))));

	let next = until(&mut chain, "next generation", |view| {
		view.generation == 1 && view.members.iter().all(|member| member.run.job().is_some())
	});
	assert_eq!(next.best.unwrap().member, 1);
	for (member, rate) in next.members.iter().zip([1_000_000, 2_000_000]) {
		let posted = view(&mut chain, member.run.job().unwrap());
		let initial = posted.spec.initial_model.clone().unwrap();
		assert!(initial.file.is_on_chain());
		assert_eq!(initial.file.content_hash, Chunked::new(&file).root);
		assert_eq!((initial.file.bytes, initial.parameters), (layout.size, parameters));
		assert_eq!(posted.spec.training.learning_rate_nano, rate, "half of that of its parent");
		assert_eq!((posted.fee_per_ut, member.parent), (0, Some(1)), "fine-tuning makes no power");
	}
	trainyard_sandbox::books::check(&mut chain).unwrap();

	// Nobody takes these: the set ends with the best that it has, and returns what it held.
	let ended = until(&mut chain, "end", |view| matches!(view.stage, Stage::Ended(_)));
	assert_eq!(ended.stage, Stage::Ended(SetEnding::NoScore));
	assert_eq!((ended.best, ended.generations.len()), (next.best, 2));
	assert_eq!(chain.state(|| Runtime::job_sets(None, 9)), [0]);
	trainyard_sandbox::books::check(&mut chain).unwrap();
}
