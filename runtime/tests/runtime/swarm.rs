//! Swarms over the real pallets: peers join, a slice is drawn by the real beacon and shown, a false count is
//! found false by an ordinary job of the market, and a true one is paid.

use crate::{
	federation::{model, store},
	jobs::{chain, committee, end, in_state, run_until, view, SALT},
};
use frame_support::assert_ok;
use sp_core::{ed25519, Pair};
use sp_keyring::Sr25519Keyring::{self, Alice, Bob, Eve, Ferdie};
use trainyard_program::spec::{FileRef, InitialModel, JobSpec, ON_CHAIN};
use trainyard_protocol::{
	accusation::Leaf,
	blob::Chunked,
	commitment, content,
	federation::{self, PartData},
	job::{JobState, Reveal, Terms},
	model_file::Layout,
	swarm::{
		self, Averaging, Count, Curve, Model, Pace, Payer, Plan, Reward, Stage, Stages, SwarmView,
	},
	views::Hardware,
	JobId, Text, H256,
};
use trainyard_runtime::{api::runtime_decl_for_trainyard_api::TrainyardApi, *};
use trainyard_sandbox::{
	bundles::{applies, Bundle},
	Chain,
};

/// Labels of a slice.
const LABELS: u32 = 500;

fn trained() -> JobSpec {
	let mut spec = JobSpec::example();
	spec.training.steps = spec.training.checkpoint_interval;
	let data = &mut spec.dataset;
	(data.train_rows, data.validation_rows, data.validation_every) = (LABELS, LABELS, 2);
	spec
}

fn layout() -> Layout {
	Layout::of(&trained().check().unwrap())
}

fn on_chain(bytes: &[u8]) -> FileRef {
	let (content_hash, location) = (Chunked::new(bytes).root, Text::new(ON_CHAIN).unwrap());
	FileRef { content_hash, bytes: bytes.len() as u64, location }
}

fn parameters(bytes: &[u8]) -> H256 {
	let pieces = federation::piece_values(&layout(), bytes).unwrap();
	federation::parameters(&layout(), &pieces).unwrap()
}

fn rows(number: u32) -> Vec<u8> {
	(0..9_000u32).map(|at| (at * 3 + number) as u8).collect()
}

fn slice(number: u32) -> PartData {
	PartData {
		file: on_chain(&rows(number)),
		labels: None,
		train_rows: LABELS,
		validation_rows: LABELS,
		rows: H256::from_low_u64_be(u64::from(number) + 1),
	}
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

fn plan() -> Plan {
	Plan {
		reward: Reward {
			curve: Curve::Linear { factor: 100 * TRY },
			pace: Pace { first: 1_000, last: 1_000 },
			floor: 100_000,
			stake: 20 * TRY,
		},
		payer: Payer::Budget,
		averaging: Averaging::Pairs,
		most_per_peer: 100 * TRY,
		claim_fee: TRY,
		slice_deposit: 20 * TRY,
		open_slices: false,
		private: true,
		max_peers: 10,
		stages: Stages { collect: 5, show: 20, count: 20, challenge: 20 },
		ticket_blocks: 50,
		end: 5_000,
		appeal: terms(),
		max_fee_per_ut: TRY,
	}
}

fn swarm_view(chain: &mut Chain) -> SwarmView<AccountId> {
	chain.state(|| Runtime::swarm(0)).expect("it was opened")
}

fn until(chain: &mut Chain, what: &str, reached: impl Fn(&Stage) -> bool) -> SwarmView<AccountId> {
	for _ in 0..400 {
		let view = swarm_view(chain);
		if reached(&view.stage) {
			return view;
		}
		chain.run(1);
	}
	panic!("no {what} in 400 blocks: {:?}", swarm_view(chain).stage);
}

fn genesis(chain: &mut Chain) -> H256 {
	chain.state(|| System::block_hash(0))
}

/// Lets `who` join with a key of its own.
fn join(chain: &mut Chain, who: Sr25519Keyring) {
	let key = ed25519::Pair::from_seed(&[who as u8 + 1; 32]);
	let digest = swarm::joining(&genesis(chain), 0, &who.to_account_id());
	let join = pallet_swarm::Call::join {
		swarm: 0,
		key: H256(key.public().0),
		signature: key.sign(&digest.0),
		roles: swarm::role::TRAIN,
		location: Text::default(),
	};
	assert_ok!(chain.call(who, join));
}

fn claim(chain: &mut Chain, who: Sr25519Keyring, file: &[u8]) {
	let (genesis, account) = (genesis(chain), who.to_account_id());
	let root = Chunked::new(file).root;
	let commitment = swarm::commitment(&genesis, 0, &account, &root, None, &SALT);
	assert_ok!(chain.call(who, pallet_swarm::Call::claim { swarm: 0, commitment }));
}

/// What `who` says of claim `number`: so many labels right, where the best model gets 100.
fn say(chain: &mut Chain, who: Sr25519Keyring, number: u32, file: &[u8], new: u32) {
	let count = |correct| Count { correct, labels: LABELS };
	let said = pallet_swarm::Said {
		content: content::hash(file),
		pieces: federation::piece_values(&layout(), file).unwrap().try_into().unwrap(),
		new: count(new),
		base: count(100),
		promise: None,
	};
	let said = Box::new(said);
	assert_ok!(
		chain.call(who, pallet_swarm::Call::say { swarm: 0, claim: number, said, salt: SALT })
	);
}

/// Lets //Alice do a job of the market, and its committee accept that. Returns leaf 0 of what was computed.
fn measure(chain: &mut Chain, job: JobId) -> Leaf {
	let posted = view(chain, job);
	let digest = commitment::job(&posted.spec, &posted.terms);
	let alice = Alice.to_account_id();
	assert_ok!(chain.call(Alice, applies(&alice, job, digest)));
	let assigned = run_until(chain, job, "assignment", in_state(JobState::Training));
	let checked = posted.spec.clone().check().unwrap();
	assert_eq!(checked.segments(), 1);
	let computed = Bundle::made_up(&checked, 1, 1, false);
	let bundle = computed.forced(&assigned.seed.unwrap(), &alice);
	let leaf = Leaf { content: bundle.leaf(0).unwrap(), path: bundle.path(0).unwrap() };
	let bytes = model(77);
	let reveal = Reveal {
		bundle_root: bundle.root(),
		true_root: bundle.true_root(),
		model_root: Chunked::new(&bytes).root,
		segments: 1,
		diverged: false,
		location: Text::new("http://127.0.0.1:8600").unwrap(),
	};
	let commitment = commitment::result(&genesis(chain), job, &alice, &reveal.result(), &SALT);
	assert_ok!(chain.call(Alice, pallet_submissions::Call::commit { job, commitment }));
	run_until(chain, job, "revealing", in_state(JobState::Revealing));
	assert_ok!(chain.call(Alice, pallet_submissions::Call::reveal { job, reveal, salt: SALT }));
	store(chain, Alice, &bytes);
	run_until(chain, job, "audit", in_state(JobState::Auditing));
	committee(chain, job, &bundle, |seat, result| seat.vouches(0, result, &bundle, &[]));
	let ended = end(chain, job);
	assert_eq!(ended.state, JobState::Ended(trainyard_protocol::job::Ending::Settled));
	leaf
}

#[test]
fn a_false_count_is_found_out_by_a_job_and_a_true_one_is_paid() {
	let mut chain = chain();
	let hardware = Hardware { cpu: Text::default(), cores: 1, memory_mib: 1, gpu: Text::default() };
	let register = pallet_hashrate::Call::register { bond: 500 * TRY, hardware };
	assert_ok!(chain.call(Bob, register));
	let first = model(9);
	store(&mut chain, Ferdie, &first);
	let initial = InitialModel { file: on_chain(&first), parameters: parameters(&first) };
	let template = JobSpec { initial_model: Some(initial), ..trained() };
	let open = pallet_swarm::Call::open {
		template: Box::new(template),
		slices: vec![slice(0), slice(1), slice(2)].try_into().unwrap(),
		plan: plan(),
		budget: 200 * TRY,
	};
	assert_ok!(chain.call(Ferdie, open));
	for peer in [Bob, Eve] {
		join(&mut chain, peer);
	}
	let (honest, cheat) = (model(1), model(2));
	claim(&mut chain, Eve, &cheat);
	claim(&mut chain, Bob, &honest);

	// Blocks decide which slice is drawn, and its owner shows it.
	let showing = until(&mut chain, "slice", |stage| matches!(stage, Stage::Showing { .. }));
	let Stage::Showing { slice, .. } = showing.stage else { unreachable!() };
	assert!(!showing.slices[slice as usize].waits);
	store(&mut chain, Ferdie, &rows(slice));
	store(&mut chain, Eve, &cheat);
	store(&mut chain, Bob, &honest);
	until(&mut chain, "counting", |stage| matches!(stage, Stage::Counting { .. }));
	say(&mut chain, Eve, 0, &cheat, 200);
	say(&mut chain, Bob, 1, &honest, 120);
	until(&mut chain, "challenging", |stage| matches!(stage, Stage::Challenging { .. }));

	// The made-up result gets nothing right.
	let model = Model { root: Chunked::new(&cheat).root, parameters: parameters(&cheat) };
	assert_ok!(
		chain.call(Bob, pallet_swarm::Call::challenge { swarm: 0, model, audit_fee: TRY / 5 })
	);
	let job = swarm_view(&mut chain).doubts[0].challenge.clone().unwrap().1;
	let posted = view(&mut chain, job);
	assert_eq!(posted.submitter, Bob.to_account_id());
	assert_eq!(posted.spec.dataset.content_hash, Chunked::new(&rows(slice)).root);
	assert_eq!(posted.fee_per_ut, 0, "no power is made by measuring");
	trainyard_sandbox::books::check(&mut chain).unwrap();
	let leaf = measure(&mut chain, job);
	let testify = pallet_swarm::Call::testify { swarm: 0, model, leaf };
	assert_ok!(chain.call(Alice, testify));
	let proven = Some(Count { correct: 0, labels: LABELS });
	assert_eq!(swarm_view(&mut chain).doubts[0].proven, proven);

	let settled = until(&mut chain, "end of the round", |stage| *stage == Stage::Idle);
	// 20 of 500 labels at 100 TRY for all of them.
	assert_eq!((settled.progress, settled.budget), (140_000, 196 * TRY));
	assert_eq!(settled.best.root, Chunked::new(&honest).root);
	let peers = chain.state(|| Runtime::swarm_peers(0, None, 10));
	let bob = peers.iter().find(|peer| peer.account == Bob.to_account_id()).unwrap();
	assert_eq!(bob.earned, 4 * TRY);
	assert_eq!(chain.state(|| Runtime::swarm_peer(0, Bob.to_account_id())), Some(bob.clone()));
	assert_eq!(chain.state(|| Runtime::swarms(None, 9)), [0]);
	trainyard_sandbox::books::check(&mut chain).unwrap();
}
