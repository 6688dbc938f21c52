//! What the runtime refuses, and that every call fits a block.

use frame_support::{
	assert_ok,
	dispatch::{DispatchClass, GetDispatchInfo},
	traits::{Contains, GetCallMetadata, GetCallName, InstanceFilter},
};
use sp_keyring::Sr25519Keyring::{Alice, Bob, Charlie};
use sp_runtime::DispatchError;
use std::collections::BTreeSet;
use trainyard_court::{
	game::{types::MAX_TENSORS, Claimed, Opened, Opening, Place, Target, Witness, FAN},
	referee::MAX_OPENINGS,
};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	accusation,
	audit::Findings,
	bets,
	blob::{Chunked, CHUNKS_PER_BLOCK, MAX_CHUNK},
	bundle::{self, Checkpoint, Evaluation},
	claims,
	drill::{Mismatch, Template, UnitResult},
	federation,
	job::{Reveal, Terms},
	pieces::{Leaf, Piece},
	pools,
	relay::{Chunk, ChunkOpening, StateChunk, APPEAL_SEATS},
	reputation::Role,
	seats::Resources,
	sets, stint, swarm,
	views::Hardware,
	vrf::VrfSignature,
	Text, H256,
};
use trainyard_runtime::{configs::tools::ProxyType, *};
use trainyard_sandbox::Chain;
use trainyard_traits::{Accusation, AwaitedBlobs, Defendant};

/// The content of a blob of 33 chunks, all but the last of the largest length there is.
fn bytes() -> Vec<u8> {
	(0..32 * MAX_CHUNK + 1).map(|i| (i ^ (i >> 8)) as u8).collect()
}

fn upload(blob: &Chunked, index: usize) -> RuntimeCall {
	pallet_model_storage::Call::upload_chunk {
		root: blob.root,
		index: index as u32,
		proof: blob.proof(index).unwrap().try_into().unwrap(),
		bytes: blob.chunks[index].to_vec().try_into().unwrap(),
	}
	.into()
}

/// A chain on which //Bob registered a blob of many chunks.
fn with_blob<'a>(bytes: &'a [u8]) -> (Chain, Chunked<'a>) {
	let blob = Chunked::new(bytes);
	let mut chain = Chain::development();
	chain.run(1);
	let register = pallet_model_storage::Call::register {
		size: bytes.len() as u64,
		content: blob.content,
		period: None,
	};
	assert_ok!(chain.call(Bob, register));
	(chain, blob)
}

fn stored(chain: &mut Chain, blob: &Chunked, index: u32) -> bool {
	let root = blob.root;
	chain.state(|| ModelStorage::chunk_hash(root, index).is_some())
}

fn not_top_level() -> DispatchError {
	pallet_model_storage::Error::<Runtime>::NotTopLevel.into()
}

#[test]
fn a_chunk_of_the_largest_length_is_taken_as_a_transaction() {
	let bytes = bytes();
	let (mut chain, blob) = with_blob(&bytes);
	assert_eq!(blob.chunks[0].len() as u32, MAX_CHUNK);
	assert_ok!(chain.call(Bob, upload(&blob, 0)));
	assert!(stored(&mut chain, &blob, 0));
}

#[test]
fn three_awaited_chunks_fit_a_block_and_a_fourth_waits() {
	let bytes = bytes();
	let (mut chain, blob) = with_blob(&bytes);
	chain.state(|| <ModelStorage as AwaitedBlobs<AccountId>>::expect(&blob.root));
	chain.begin();
	for index in 0..3 {
		assert_ok!(chain.apply(Bob, upload(&blob, index)).unwrap());
	}
	assert!(chain.apply(Bob, upload(&blob, 3)).is_err());
	chain.end();
	assert_ok!(chain.call(Bob, upload(&blob, 3)));
}

#[test]
fn a_chunk_inside_a_batch_is_refused() {
	let bytes = vec![7; 10_000];
	let (mut chain, blob) = with_blob(&bytes);
	let calls = vec![upload(&blob, 0)];
	let batch = pallet_utility::Call::batch_all { calls: calls.clone() };
	assert_eq!(chain.call(Bob, batch).map_err(strip), Err(not_top_level()));
	assert!(!stored(&mut chain, &blob, 0));

	assert_ok!(chain.call(Bob, pallet_utility::Call::batch { calls: calls.clone() }));
	assert!(chain
		.has_event(pallet_utility::Event::BatchInterrupted { index: 0, error: not_top_level() }));
	assert_ok!(chain.call(Bob, pallet_utility::Call::force_batch { calls }));
	assert!(chain.has_event(pallet_utility::Event::ItemFailed { error: not_top_level() }));
	assert!(!stored(&mut chain, &blob, 0));

	// The same transaction by itself.
	assert_ok!(chain.call(Bob, upload(&blob, 0)));
	assert!(stored(&mut chain, &blob, 0));
}

#[test]
fn a_chunk_through_a_proxy_is_refused() {
	let bytes = vec![7; 10_000];
	let (mut chain, blob) = with_blob(&bytes);
	assert_ok!(chain.call(
		Bob,
		pallet_proxy::Call::add_proxy {
			delegate: Charlie.to_account_id().into(),
			proxy_type: ProxyType::Any,
			delay: 0,
		},
	));
	let proxy = pallet_proxy::Call::proxy {
		real: Bob.to_account_id().into(),
		force_proxy_type: None,
		call: Box::new(upload(&blob, 0)),
	};
	assert_ok!(chain.call(Charlie, proxy));
	assert!(chain.has_event(pallet_proxy::Event::ProxyExecuted { result: Err(not_top_level()) }));
	assert!(!stored(&mut chain, &blob, 0));
}

#[test]
fn a_chunk_through_sudo_is_refused() {
	let bytes = vec![7; 10_000];
	let (mut chain, blob) = with_blob(&bytes);
	let sudo = pallet_sudo::Call::sudo_as {
		who: Bob.to_account_id().into(),
		call: Box::new(upload(&blob, 0)),
	};
	assert_ok!(chain.call(Alice, sudo));
	assert!(chain.has_event(pallet_sudo::Event::SudoAsDone { sudo_result: Err(not_top_level()) }));
	assert!(!stored(&mut chain, &blob, 0));
}

/// An error without the message that only natively compiled code carries.
fn strip(error: DispatchError) -> DispatchError {
	error.stripped()
}

#[test]
fn authorities_keep_their_keys() {
	let mut chain = Chain::development();
	chain.run(1);
	let purge: RuntimeCall = pallet_session::Call::purge_keys {}.into();
	let filtered: DispatchError = frame_system::Error::<Runtime>::CallFiltered.into();
	assert_eq!(chain.call(Alice, purge.clone()), Err(filtered));
	// No way around it,
	let batch = pallet_utility::Call::batch_all { calls: vec![purge] };
	assert_eq!(chain.call(Alice, batch).map_err(strip), Err(strip(filtered)));
	// nor through the call that asks.
	let in_use: DispatchError = pallet_hashrate::Error::<Runtime>::KeysInUse.into();
	assert_eq!(
		chain.call(Alice, pallet_hashrate::Call::purge_keys {}).map_err(strip),
		Err(strip(in_use))
	);
	chain.state(|| {
		let alice = Alice.to_account_id();
		assert!(pallet_session::NextKeys::<Runtime>::contains_key(alice));
		assert!(!<Runtime as frame_system::Config>::BaseCallFilter::contains(
			&pallet_session::Call::purge_keys {}.into()
		));
	});
}

#[test]
fn without_a_sudo_account_nobody_is_root() {
	let mut chain = Chain::development();
	chain.run(1);
	let remark = || Box::new(frame_system::Call::remark { remark: vec![] }.into());
	assert!(chain.call(Bob, pallet_sudo::Call::sudo { call: remark() }).is_err());
	chain.state(|| pallet_sudo::Key::<Runtime>::kill());
	assert!(chain.call(Alice, pallet_sudo::Call::sudo { call: remark() }).is_err());
}

/// The opening of the contents of as many tensors as a state can have.
fn largest_opening() -> Opening {
	Opening {
		opened: Opened::Start { slices: H256::zero() },
		contents: vec![H256::zero(); MAX_TENSORS as usize].try_into().unwrap(),
		chunk: Default::default(),
		roots: Default::default(),
	}
}

/// One of every call of our pallets, as large as it can be.
fn samples() -> Vec<RuntimeCall> {
	let who = || Alice.to_account_id();
	let text = || Text(vec![b'x'; 256].try_into().unwrap());
	let hardware = || Hardware { cpu: text(), cores: 1, memory_mib: 1, gpu: text() };
	let terms = || Terms {
		price_per_ut: 1,
		replicas: 8,
		verifiers: 16,
		audit_segments: 16,
		audit_fee: 1,
		apply_blocks: 1,
		training_blocks: 1,
		machine: Default::default(),
		undecided_percent: 20,
		keep_every: 1,
		lottery: None,
	};
	let (root, salt) = (H256::zero(), [0; 32]);
	let reveal = Reveal {
		bundle_root: root,
		true_root: root,
		model_root: root,
		segments: 1,
		diverged: false,
		location: text(),
	};
	let result = UnitResult { state: root, score: None };
	use pallet_court::Call as C;
	use pallet_drilling::Call as D;
	use pallet_hashrate::Call as H;
	use pallet_model_storage::Call as S;
	use pallet_submissions::Call as R;
	use pallet_task_market::Call as M;
	use pallet_verification::Call as V;
	let hashrate = [
		H::register { bond: 1, hardware: hardware() },
		H::bond_extra { amount: 1 },
		H::update_hardware { hardware: hardware() },
		H::set_candidate { candidate: true },
		H::deregister {},
		H::withdraw {},
		H::purge_keys {},
	];
	let market = [
		M::submit_job { spec: JobSpec::example(), terms: terms(), max_fee_per_ut: 0 },
		M::order { trainer: who(), spec: JobSpec::example(), terms: terms(), max_fee_per_ut: 0 },
		M::apply { job: 0, digest: H256::zero(), forced: H256::zero() },
		M::cancel { job: 0 },
		M::poke { job: 0 },
		M::agree { job: 0, pay: Some(1) },
		M::post_listing { price_per_ut: 1, max_work: 1, note: text() },
		M::remove_listing {},
		M::forget { job: 0 },
		M::offer_claim {
			job: 0,
			trainer: who(),
			asked: Some(claims::Asked { price: TRY, until: 9, only: Some(who()) }),
		},
		M::buy_claim {
			job: 0,
			trainer: who(),
			seen: claims::Seen { holder: who(), root, since: 0 },
			most: TRY,
		},
	];
	let submissions = [R::commit { job: 0, commitment: root }, R::reveal { job: 0, reveal, salt }];
	let storage = [
		S::register { size: 1, content: root, period: None },
		S::upload_chunk {
			root,
			index: 0,
			proof: vec![root; 32].try_into().unwrap(),
			bytes: vec![0; MAX_CHUNK as usize].try_into().unwrap(),
		},
		S::renew { root, blocks: 1 },
		S::remove { root },
		S::adopt { root, period: None },
		S::reuse_chunk { root, index: 0, from: root, proof: vec![root; 32].try_into().unwrap() },
		S::register_version { size: 1, content: root, period: None, parent: root },
	];
	let defendant = Defendant::Trainer { job: 0, who: who() };
	let (target, claimed, leaves) = (Target::Model, Claimed::Other, Default::default());
	let accusation = Accusation { defendant, target, claimed, leaves };
	let draw = VrfSignature { pre_output: [0; 32], proof: [0; 64] };
	let findings = Findings { draw, verdicts: Default::default() };
	let evaluation = Evaluation::new(1.0, 1, 2);
	let (state, trace) = (H256::zero(), H256::zero());
	let checkpoint = Checkpoint { step: 0, state, evaluation, trace };
	let path = vec![root; 32].try_into().unwrap();
	let opening = ChunkOpening::State(StateChunk {
		leaf: Leaf { index: 0, checkpoint, path },
		content: root,
		path: vec![root; 32].try_into().unwrap(),
		chunk: Chunk {
			bytes: vec![0; 1_024].try_into().unwrap(),
			siblings: vec![root; 54].try_into().unwrap(),
		},
	});
	let verification = [
		V::register { bond: 1, capacity: Resources::default() },
		V::bond_extra { amount: 1 },
		V::deregister {},
		V::withdraw {},
		V::commit { job: 0, commitment: root },
		V::reveal { job: 0, findings, paths: Default::default(), salt },
		V::accuse { accusation: accusation.clone() },
		V::open_forced {
			job: 0,
			secret: salt,
			opening: trainyard_protocol::forced::Opening {
				leaves: Default::default(),
				siblings: vec![root; 512].try_into().unwrap(),
			},
		},
		V::rescue { job: 0, group: 0, answers: Default::default() },
		V::request { job: 0, group: 0, pieces: Default::default(), pledge: 0 },
		V::withdraw_request { job: 0, group: 0 },
		V::request_relay { job: 0, group: 0, piece: Piece::State(1), most: 0 },
		V::say { relay: 0, has: true },
		V::show_chunk { relay: 0, opening },
		V::ask_seats { relay: 0, seats: vec![0; APPEAL_SEATS as usize].try_into().unwrap() },
		V::appeal { relay: 0 },
		V::set_location { location: Some(text()) },
		V::set_capacity { capacity: Resources::default() },
		V::set_vrf_key { key: Bob.public() },
		V::resume {},
	];
	let drilling = [
		D::propose {
			title: text(),
			template: Template::Chain { size: 256, links: 16 },
			data: Default::default(),
			rule: Mismatch::Majority,
			replicas: 2,
			units: 1,
			commit_blocks: 3,
		},
		D::vote { project: 0, aye: true },
		D::enlist { projects: vec![0].try_into().unwrap() },
		D::retire {},
		D::commit { assignment: 0, commitment: root },
		D::reveal { assignment: 0, result, salt },
		D::check { assignment: 0, commitment: root },
		D::check_reveal { assignment: 0, result, salt },
		D::withdraw_project { project: 0 },
		D::clear { project: 0 },
		D::choose { projects: vec![0].try_into().unwrap() },
		D::decline { assignment: 0 },
		D::recall { project: 0 },
	];
	let stints = [
		pallet_stints::Call::begin {},
		pallet_stints::Call::retire {},
		pallet_stints::Call::report { number: 0, root, laps: 1 },
		pallet_stints::Call::check { report: 0, commitment: root },
		pallet_stints::Call::open {
			report: 0,
			results: vec![root; stint::SAMPLES as usize].try_into().unwrap(),
			siblings: vec![root; stint::MAX_SIBLINGS as usize].try_into().unwrap(),
		},
		pallet_stints::Call::check_reveal { report: 0, digest: root, salt },
	];
	let part = federation::PartData {
		file: JobSpec::example().dataset.file(),
		labels: None,
		train_rows: 1,
		validation_rows: 1,
		rows: root,
	};
	let plan = federation::Plan {
		rounds: 1,
		min_parts: 1,
		rule: federation::Rule::Agreed,
		round_blocks: 1,
		stop_if_tainted: false,
		aggregate_fee: 0,
		max_fee_per_ut: 0,
	};
	let opening = federation::ModelOpening {
		content: root,
		bytes: vec![0; 1_024].try_into().unwrap(),
		path: vec![root; federation::MAX_PATH as usize].try_into().unwrap(),
	};
	let pieces_of = |root| vec![root; federation::MAX_PIECES as usize];
	let pieces = pieces_of(root);
	let federations = [
		pallet_federation::Call::open {
			template: Box::new(JobSpec::example()),
			parts: vec![part; federation::MAX_PARTS as usize].try_into().unwrap(),
			terms: terms(),
			plan,
		},
		pallet_federation::Call::cancel { federation: 0 },
		pallet_federation::Call::propose {
			federation: 0,
			content: root,
			pieces: pieces.try_into().unwrap(),
		},
		pallet_federation::Call::refute {
			federation: 0,
			proposal: 0,
			chunk: 0,
			openings: vec![opening.clone(); 17].try_into().unwrap(),
		},
		pallet_federation::Call::refute_piece {
			federation: 0,
			proposal: 0,
			piece: 0,
			bytes: vec![0; 258 * 1_024].try_into().unwrap(),
			siblings: vec![root; 64].try_into().unwrap(),
		},
		pallet_federation::Call::poke { federation: 0 },
	];
	let set_plan = sets::Plan {
		measure: sets::Measure::Loss,
		generations: sets::MAX_GENERATIONS,
		replaced: 1,
		factors: vec![800, 1_250].try_into().unwrap(),
		show_blocks: 10,
		max_fee_per_ut: 0,
	};
	let shown = accusation::Leaf {
		content: accusation::LeafContent::Diverged(bundle::Diverged { step: 0, trace: root }),
		path: vec![root; 32].try_into().unwrap(),
	};
	let job_sets = [
		pallet_sets::Call::open {
			specs: vec![JobSpec::example(); sets::MAX_MEMBERS as usize].try_into().unwrap(),
			terms: terms(),
			plan: set_plan,
		},
		pallet_sets::Call::show { set: 0, member: 0, leaf: shown, parameters: Some(root) },
		pallet_sets::Call::stop { set: 0 },
		pallet_sets::Call::poke { set: 0 },
	];
	let judges = (0..bets::MAX_PANEL as u8).map(|at| AccountId::new([at; 32]));
	let members = judges.collect::<Vec<_>>().try_into().unwrap();
	let offered = bets::Offered {
		side: Some(bets::Side::Right),
		odds: bets::Odds { maker: 100, taker: 1 },
		stake: TRY,
		until: 1,
		notice: 0,
		only: Some(who()),
		panel: Some(bets::Panel { members, threshold: bets::MAX_PANEL, blocks: 1 }),
	};
	let statement = bets::Statement::Result { job: 0, root, late: true };
	let pool_rules = pools::Rules { fee: 5, standing: 0, period: 1 };
	let pooling = [
		pallet_pools::Call::create { rules: pool_rules, stake: TRY },
		pallet_pools::Call::join { pool: 0, stake: TRY, least: 1 },
		pallet_pools::Call::leave { pool: 0 },
		pallet_pools::Call::enrol { pool: 0, job: 0 },
	];
	let betting = [
		pallet_bets::Call::offer { statement, offered },
		pallet_bets::Call::take { offer: 0, side: bets::Side::Wrong, amount: TRY },
		pallet_bets::Call::withdraw { offer: 0 },
		pallet_bets::Call::agree { bet: 0, to_maker: Some(TRY) },
		pallet_bets::Call::judge { offer: 0, judgement: Some(bets::Side::Right) },
		pallet_bets::Call::settle { bet: 0 },
	];
	let all_pieces = || federation::Pieces::truncate_from(pieces_of(root));
	let slice = federation::PartData {
		file: JobSpec::example().dataset.file(),
		labels: None,
		train_rows: 1,
		validation_rows: 1,
		rows: root,
	};
	let slices = || vec![slice.clone(); swarm::MAX_SLICES as usize].try_into().unwrap();
	let points = vec![swarm::Point::default(); swarm::MAX_POINTS as usize];
	let pace = swarm::Pace { first: 1, last: 1 };
	let curve = swarm::Curve::Table(points.try_into().unwrap());
	let swarm_plan = swarm::Plan {
		reward: swarm::Reward { curve, pace, floor: 0, stake: 0 },
		payer: swarm::Payer::Budget,
		averaging: swarm::Averaging::Outer(swarm::OuterRule {
			picks: 64,
			bits: 2,
			keep: 950,
			rate: 1_000,
			momentum: 0,
			clip: Some(2_000),
			trim: 1,
			inner: 30,
			train: 1,
			vouch: 1,
		}),
		most_per_peer: 0,
		claim_fee: 0,
		slice_deposit: 0,
		open_slices: true,
		private: true,
		max_peers: 1,
		stages: swarm::Stages { collect: 1, show: 1, count: 1, challenge: 1 },
		ticket_blocks: 1,
		end: 1,
		appeal: terms(),
		max_fee_per_ut: 0,
	};
	let signature = sp_core::ed25519::Signature::from_raw([0; 64]);
	let (payer, maker) = (AccountId::from([0; 32]), AccountId::from([1; 32]));
	let ticket = swarm::Ticket {
		swarm: 0,
		payer: payer.clone(),
		maker,
		own: root,
		remote: root,
		expires: 0,
		nonce: 0,
	};
	let promise = pallet_swarm::Promise {
		ticket,
		signature: [0; 64],
		own_content: root,
		own_pieces: all_pieces(),
	};
	let count = swarm::Count { correct: 0, labels: 1 };
	let said = pallet_swarm::Said {
		content: root,
		pieces: all_pieces(),
		new: count,
		base: count,
		promise: Some(promise),
	};
	let payment = swarm::Payment { to: payer, amount: 1, ticket: root, expires: 0 };
	let start = trainyard_protocol::bundle::Checkpoint {
		step: 0,
		state: root,
		evaluation: trainyard_protocol::bundle::Evaluation::NONE,
		trace: root,
	};
	let leaf = trainyard_protocol::accusation::Leaf {
		content: trainyard_protocol::accusation::LeafContent::Checkpoint(start),
		path: vec![root; 2].try_into().unwrap(),
	};
	let swarms = [
		pallet_swarm::Call::open {
			template: Box::new(JobSpec::example()),
			slices: slices(),
			plan: swarm_plan,
			budget: 0,
		},
		pallet_swarm::Call::add_slices { swarm: 0, slices: slices() },
		pallet_swarm::Call::join {
			swarm: 0,
			key: root,
			signature,
			roles: 1,
			location: Text::default(),
		},
		pallet_swarm::Call::update { swarm: 0, roles: 1, location: Text::default() },
		pallet_swarm::Call::announce { swarm: 0, root },
		pallet_swarm::Call::fund { swarm: 0, amount: 1 },
		pallet_swarm::Call::pay {
			swarm: 0,
			payments: vec![payment; swarm::MAX_PAYMENTS as usize].try_into().unwrap(),
		},
		pallet_swarm::Call::leave { swarm: 0 },
		pallet_swarm::Call::claim { swarm: 0, commitment: root },
		pallet_swarm::Call::say { swarm: 0, claim: 0, said: Box::new(said), salt },
		pallet_swarm::Call::challenge {
			swarm: 0,
			model: swarm::Model { root, parameters: root },
			audit_fee: 0,
		},
		pallet_swarm::Call::testify {
			swarm: 0,
			model: swarm::Model { root, parameters: root },
			leaf,
		},
		pallet_swarm::Call::refute_piece {
			swarm: 0,
			claim: 0,
			which: pallet_swarm::Which::Own,
			piece: 0,
			bytes: vec![0; 258 * 1_024].try_into().unwrap(),
			siblings: vec![root; 64].try_into().unwrap(),
		},
		pallet_swarm::Call::refute_mean {
			swarm: 0,
			claim: 0,
			chunk: 0,
			openings: Box::new([opening.clone(), opening.clone(), opening.clone()]),
		},
		pallet_swarm::Call::close { swarm: 0 },
		pallet_swarm::Call::poke { swarm: 0 },
		pallet_swarm::Call::contribute {
			swarm: 0,
			step: 0,
			brought: swarm::Brought {
				base: 0,
				model: root,
				velocity: root,
				data: root,
				sealed: root,
				kept: root,
			},
		},
		pallet_swarm::Call::vouch { swarm: 0, step: 0, list: root, vouches: u64::MAX },
		pallet_swarm::Call::collect { swarm: 0 },
	];
	let file = trainyard_task::File { bytes: 1, root };
	let limits = trainyard_task::Limits { fuel: 1, pages: 1, state: 1 };
	let form = trainyard_task::Form::Step { steps: 1 };
	let task_spec = trainyard_task::TaskSpec { module: file, input: file, form, limits };
	let task_terms = trainyard_task::TaskTerms {
		reward: 1,
		replicas: 1,
		deposit: 1,
		audit: 1,
		audit_fee: 1,
		apply: 1,
		compute: 1,
		reveal: 1,
		challenge: 1,
	};
	let claim = trainyard_task::Claim { root, output: trainyard_task::StateId::Bytes(file) };
	let path = || trainyard_task::claim::Path::truncate_from(vec![root; 32]);
	let ends = || Box::new(trainyard_task::Ends { first: path(), last: path() });
	let module = || pallet_tasks::ModuleBytes::truncate_from(vec![0; 1 << 16]);
	let state = || pallet_tasks::StateBytes::truncate_from(vec![0; 1 << 16]);
	let opened_record = pallet_tasks::OpenedRecord {
		index: 0,
		content: root,
		chunks: vec![0; 1 << 16].try_into().unwrap(),
		siblings: vec![root; 64].try_into().unwrap(),
		module: module(),
		input: state(),
	};
	let brought = pallet_tasks::Brought::Bytes { module: module(), state: state() };
	let nodes = vec![root; 128].try_into().unwrap();
	let output = Some(vec![0; 4_096].try_into().unwrap());
	let tasks = [
		pallet_tasks::Call::post { spec: Box::new(task_spec), terms: Box::new(task_terms) },
		pallet_tasks::Call::cancel { task: 0 },
		pallet_tasks::Call::apply { task: 0, digest: root },
		pallet_tasks::Call::commit { task: 0, commitment: root },
		pallet_tasks::Call::reveal { task: 0, claim: claim.clone(), ends: ends(), output, salt },
		pallet_tasks::Call::seal { task: 0, commitment: root },
		pallet_tasks::Call::unseal { task: 0 },
		pallet_tasks::Call::challenge { task: 0, claim: 0, own: claim, ends: ends(), salt },
		pallet_tasks::Call::show { task: 0, dispute: 0, side: 0, nodes },
		pallet_tasks::Call::execute {
			task: 0,
			dispute: 0,
			brought: Box::new(brought),
			path: path(),
		},
		pallet_tasks::Call::refute { task: 0, claim: 0, opened: Box::new(opened_record), salt },
		pallet_tasks::Call::poke { subject: pallet_tasks::Subject::Task(0) },
	];
	let place = Place::Ends { target };
	let witness = Witness::Result { result: 0, element: 0 };
	let court = [
		C::commit { job: 0, hash: root },
		C::challenge { accusation, salt },
		C::raise { id: 0, more: 1 },
		C::withdraw { id: 0 },
		C::post { id: 0, place, roots: vec![root; FAN as usize].try_into().unwrap() },
		C::open { id: 0, place, opening: largest_opening() },
		C::deny { id: 0, place, at: 0 },
		C::judge { id: 0, openings: vec![0; MAX_OPENINGS].try_into().unwrap() },
		C::show { id: 0, place, witness },
		C::poke { id: 0 },
	];
	let mut all: Vec<RuntimeCall> = Vec::new();
	all.extend(hashrate.into_iter().map(RuntimeCall::from));
	all.extend(market.into_iter().map(RuntimeCall::from));
	all.extend(submissions.into_iter().map(RuntimeCall::from));
	all.extend(storage.into_iter().map(RuntimeCall::from));
	all.extend(verification.into_iter().map(RuntimeCall::from));
	all.extend(drilling.into_iter().map(RuntimeCall::from));
	all.extend(stints.into_iter().map(RuntimeCall::from));
	all.extend(federations.into_iter().map(RuntimeCall::from));
	all.extend(swarms.into_iter().map(RuntimeCall::from));
	all.extend(job_sets.into_iter().map(RuntimeCall::from));
	all.extend(betting.into_iter().map(RuntimeCall::from));
	all.extend(pooling.into_iter().map(RuntimeCall::from));
	all.extend(tasks.into_iter().map(RuntimeCall::from));
	all.extend(court.into_iter().map(RuntimeCall::from));
	all.push(pallet_reputation::Call::forget { role: Role::Trainer, who: who() }.into());
	all.push(pallet_reputation::Call::watch {}.into());
	all
}

#[test]
fn every_call_of_ours_has_a_weight_and_fits_a_block() {
	let weights: frame_system::limits::BlockWeights =
		<Runtime as frame_system::Config>::BlockWeights::get();
	let mut seen = BTreeSet::new();
	let mut chain = Chain::development();
	for call in samples() {
		let meta = call.get_call_metadata();
		// Seeds have as many blocks as the state says.
		let info = chain.state(|| call.get_dispatch_info());
		let name = format!("{}.{}", meta.pallet_name, meta.function_name);
		assert!(info.call_weight.ref_time() > 0, "{name} weighs nothing");
		let limit = weights.get(info.class).max_extrinsic.expect("normal calls have a limit");
		assert_eq!(info.class, DispatchClass::Normal, "{name}");
		assert!(info.call_weight.all_lte(limit), "{name}: {} > {limit}", info.call_weight);
		seen.insert(name);
	}
	let mut all = BTreeSet::new();
	let mut expect = |pallet: &str, names: &[&str]| {
		all.extend(names.iter().map(|name| format!("{pallet}.{name}")));
	};
	expect("Hashrate", pallet_hashrate::Call::<Runtime>::get_call_names());
	expect("Reputation", pallet_reputation::Call::<Runtime>::get_call_names());
	expect("TaskMarket", pallet_task_market::Call::<Runtime>::get_call_names());
	expect("Submissions", pallet_submissions::Call::<Runtime>::get_call_names());
	// An inherent is no transaction.
	let storage = pallet_model_storage::Call::<Runtime>::get_call_names();
	let storage: Vec<&str> = storage.iter().copied().filter(|name| *name != "prove").collect();
	expect("ModelStorage", &storage);
	expect("Verification", pallet_verification::Call::<Runtime>::get_call_names());
	expect("Drilling", pallet_drilling::Call::<Runtime>::get_call_names());
	expect("Court", pallet_court::Call::<Runtime>::get_call_names());
	expect("Swarm", pallet_swarm::Call::<Runtime>::get_call_names());
	expect("Sets", pallet_sets::Call::<Runtime>::get_call_names());
	expect("Bets", pallet_bets::Call::<Runtime>::get_call_names());
	expect("Pools", pallet_pools::Call::<Runtime>::get_call_names());
	expect("Federation", pallet_federation::Call::<Runtime>::get_call_names());
	expect("Tasks", pallet_tasks::Call::<Runtime>::get_call_names());
	expect("Stints", pallet_stints::Call::<Runtime>::get_call_names());
	assert_eq!(seen, all, "a call is missing from the samples");
}

#[test]
fn blocks_have_the_documented_limits() {
	let weights: frame_system::limits::BlockWeights =
		<Runtime as frame_system::Config>::BlockWeights::get();
	assert!(weights.clone().validate().is_ok());
	let length: frame_system::limits::BlockLength =
		<Runtime as frame_system::Config>::BlockLength::get();
	assert_eq!(*length.max.get(DispatchClass::Normal), 3_932_160);
	assert_eq!(*length.max.get(DispatchClass::Operational), 5_242_880);
	assert_eq!(configs::system::OrdinaryLength::get(), 1_564_672);
	// Authors stop at 4 MiB by themselves (sc-basic-authorship), so ordinary transactions
	// are what the runtime limits.
	assert!(*length.max.get(DispatchClass::Normal) < 4 * 1024 * 1024);
	// What a rescue may have is counted by this.
	assert!(CHUNKS_PER_BLOCK * MAX_CHUNK < *length.max.get(DispatchClass::Normal));
}

#[test]
fn a_worker_proxy_runs_errands_and_touches_no_money() {
	let may = |call: &RuntimeCall| ProxyType::Worker.filter(call);
	let mut allowed = BTreeSet::new();
	for call in samples() {
		if may(&call) {
			let names = call.get_call_metadata();
			allowed.insert(format!("{}.{}", names.pallet_name, names.function_name));
		}
		assert!(ProxyType::Any.filter(&call));
	}
	let errands = [
		"Court.challenge",
		"Court.commit",
		"Court.deny",
		"Court.judge",
		"Court.open",
		"Court.poke",
		"Court.post",
		"Court.show",
		"Drilling.check",
		"Drilling.check_reveal",
		"Drilling.choose",
		"Drilling.clear",
		"Drilling.commit",
		"Drilling.decline",
		"Drilling.enlist",
		"Drilling.recall",
		"Drilling.retire",
		"Drilling.reveal",
		"Drilling.vote",
		"ModelStorage.register",
		"ModelStorage.register_version",
		"ModelStorage.remove",
		"ModelStorage.reuse_chunk",
		"ModelStorage.upload_chunk",
		"Reputation.watch",
		"Stints.begin",
		"Stints.check",
		"Stints.check_reveal",
		"Stints.open",
		"Stints.report",
		"Stints.retire",
		"Submissions.commit",
		"Submissions.reveal",
		"TaskMarket.apply",
		"TaskMarket.cancel",
		"TaskMarket.forget",
		"TaskMarket.poke",
		"TaskMarket.post_listing",
		"TaskMarket.remove_listing",
		"Tasks.apply",
		"Tasks.challenge",
		"Tasks.commit",
		"Tasks.execute",
		"Tasks.poke",
		"Tasks.refute",
		"Tasks.reveal",
		"Tasks.seal",
		"Tasks.show",
		"Tasks.unseal",
		"Verification.accuse",
		"Verification.commit",
		"Verification.open_forced",
		"Verification.request",
		"Verification.rescue",
		"Verification.resume",
		"Verification.reveal",
		"Verification.say",
		"Verification.set_capacity",
		"Verification.set_location",
		"Verification.set_vrf_key",
		"Verification.show_chunk",
		"Verification.withdraw_request",
	];
	assert_eq!(allowed, errands.map(String::from).into());
	let transfer: RuntimeCall =
		pallet_balances::Call::transfer_allow_death { dest: Bob.to_account_id().into(), value: 1 }
			.into();
	assert!(!may(&transfer));
	// A batch is allowed and its parts are filtered one by one; sudo and proxies are not.
	assert!(may(&pallet_utility::Call::batch { calls: vec![] }.into()));
	assert!(!may(&pallet_sudo::Call::sudo { call: Box::new(transfer) }.into()));
}
