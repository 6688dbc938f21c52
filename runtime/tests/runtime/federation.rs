//! Federated rounds over the real pallets: parts are jobs of the market, two trainers agree in each, a false
//! aggregate is refuted, and the next round begins with the true one.

use crate::jobs::{chain, in_state, run_until, view, SALT};
use frame_support::assert_ok;
use sp_keyring::Sr25519Keyring::{self, Alice, Bob, Eve, Ferdie};
use trainyard_program::spec::{InitialModel, JobSpec};
use trainyard_protocol::{
	blob::Chunked,
	commitment, content,
	federation::{
		self, FederationEnding, FederationView, ModelOpening, PartData, Plan, Proposed, Rule, Stage,
	},
	job::{JobState, Reveal, Terms},
	model_file::Layout,
	views::Hardware,
	JobId, Text, H256,
};
use trainyard_runtime::{api::runtime_decl_for_trainyard_api::TrainyardApi, *};
use trainyard_sandbox::{
	bundles::{applies, Bundle},
	Chain,
};

const TRAINERS: [Sr25519Keyring; 2] = [Alice, Bob];

fn layout() -> Layout {
	Layout::of(&JobSpec::example().check().unwrap())
}

/// A file of the model whose numbers follow from `seed`.
pub(crate) fn model(seed: u32) -> Vec<u8> {
	let layout = layout();
	let mut bytes = layout.header.clone();
	let mut at = 0u32;
	while (bytes.len() as u64) < layout.size {
		at += 1;
		bytes
			.extend_from_slice(&(((seed * 977 + at) % 8_191) as f32 / 4_096.0 - 1.0).to_le_bytes());
	}
	bytes
}

/// Lets `who` store a file.
pub(crate) fn store(chain: &mut Chain, who: Sr25519Keyring, bytes: &[u8]) -> H256 {
	let blob = Chunked::new(bytes);
	let (size, content) = (bytes.len() as u64, blob.content);
	assert_ok!(
		chain.call(who, pallet_model_storage::Call::register { size, content, period: None })
	);
	for index in 0..blob.chunks.len() {
		let upload = pallet_model_storage::Call::upload_chunk {
			root: blob.root,
			index: index as u32,
			proof: blob.proof(index).unwrap().try_into().unwrap(),
			bytes: blob.chunks[index].to_vec().try_into().unwrap(),
		};
		assert_ok!(chain.call(who, upload));
	}
	blob.root
}

fn terms() -> Terms {
	Terms {
		price_per_ut: 100 * TRY,
		replicas: 2,
		verifiers: 3,
		audit_segments: 2,
		audit_fee: TRY / 5,
		apply_blocks: 12,
		training_blocks: 100,
		machine: Default::default(),
		undecided_percent: 20,
		keep_every: 1,
		lottery: None,
	}
}

fn federation_view(chain: &mut Chain) -> FederationView<AccountId> {
	chain.state(|| Runtime::federation(0)).expect("it was opened")
}

/// Makes blocks until `reached` holds.
fn until(
	chain: &mut Chain,
	what: &str,
	reached: impl Fn(&FederationView<AccountId>) -> bool,
) -> FederationView<AccountId> {
	for _ in 0..200 {
		let view = federation_view(chain);
		if reached(&view) {
			return view;
		}
		chain.run(1);
	}
	panic!("no {what} in 200 blocks: {:?}", federation_view(chain));
}

/// Lets both trainers apply for a job.
fn apply(chain: &mut Chain, job: JobId) {
	let posted = view(chain, job);
	let digest = commitment::job(&posted.spec, &posted.terms);
	for trainer in TRAINERS {
		assert_ok!(chain.call(trainer, applies(&trainer.to_account_id(), job, digest)));
	}
}

/// Lets both trainers deliver this model as the result of a job, up to its audit.
fn deliver(chain: &mut Chain, job: JobId, bytes: &[u8]) {
	let posted = view(chain, job);
	let assigned = run_until(chain, job, "assignment", in_state(JobState::Training));
	let checked = posted.spec.clone().check().unwrap();
	let blob = Chunked::new(bytes);
	let reveals = TRAINERS.map(|trainer| {
		let bundle = Bundle::made_up(&checked, 1, checked.segments(), false);
		let bundle = bundle.forced(&assigned.seed.unwrap(), &trainer.to_account_id());
		let location = Text::new("http://127.0.0.1:8600").unwrap();
		Reveal {
			bundle_root: bundle.root(),
			true_root: bundle.true_root(),
			model_root: blob.root,
			segments: checked.segments(),
			diverged: false,
			location,
		}
	});
	let genesis = chain.state(|| System::block_hash(0));
	for (trainer, reveal) in TRAINERS.iter().zip(&reveals) {
		let account = trainer.to_account_id();
		let commitment = commitment::result(&genesis, job, &account, &reveal.result(), &SALT);
		assert_ok!(chain.call(*trainer, pallet_submissions::Call::commit { job, commitment }));
	}
	run_until(chain, job, "revealing", in_state(JobState::Revealing));
	for (trainer, reveal) in TRAINERS.into_iter().zip(reveals) {
		assert_ok!(
			chain.call(trainer, pallet_submissions::Call::reveal { job, reveal, salt: SALT })
		);
	}
	store(chain, Alice, bytes);
	run_until(chain, job, "audit", in_state(JobState::Auditing));
}

#[test]
fn a_round_of_two_parts_over_the_real_market() {
	let mut chain = chain();
	let hardware = Hardware { cpu: Text::default(), cores: 1, memory_mib: 1, gpu: Text::default() };
	let register = pallet_hashrate::Call::register { bond: 500 * TRY, hardware };
	assert_ok!(chain.call(Bob, register));

	// The model with which all begins is on chain.
	let first = model(9);
	store(&mut chain, Ferdie, &first);
	let said = federation::piece_values(&layout(), &first).unwrap();
	let parameters = federation::parameters(&layout(), &said).unwrap();
	let proposed = Proposed { content: content::hash(&first), parameters };
	let initial: InitialModel = federation::initial_on_chain(layout().size, &proposed);
	let template = JobSpec { initial_model: Some(initial.clone()), ..JobSpec::example() };
	let part = |n: u64, rows: u32| {
		let mut file = template.dataset.file();
		file.content_hash = H256::from_low_u64_be(n);
		let rows_root = H256::from_low_u64_be(n + 10);
		PartData {
			file,
			labels: None,
			train_rows: rows,
			validation_rows: rows / 4,
			rows: rows_root,
		}
	};
	let parts = vec![part(1, 400), part(2, 1_200)];
	let plan = Plan {
		rounds: 2,
		min_parts: 2,
		rule: Rule::Agreed,
		round_blocks: 1_000,
		stop_if_tainted: false,
		aggregate_fee: TRY,
		max_fee_per_ut: TRY,
	};
	let open = pallet_federation::Call::open {
		template: Box::new(template.clone()),
		parts: parts.clone().try_into().unwrap(),
		terms: terms(),
		plan: plan.clone(),
	};
	assert_ok!(chain.call(Ferdie, open));
	let opened = until(&mut chain, "job", |view| view.parts.iter().all(|part| part.job.is_some()));
	assert_eq!((opened.stage, opened.fees), (Stage::Training, 2 * TRY));
	let jobs: Vec<JobId> = opened.parts.iter().filter_map(|part| part.job).collect();
	for (job, part) in jobs.iter().zip(&parts) {
		let posted = view(&mut chain, *job);
		assert_eq!(posted.submitter, Ferdie.to_account_id());
		assert_eq!(posted.spec, federation::spec_of_part(&template, part, &initial));
		assert_eq!(posted.fee_per_ut, 0, "fine-tuning makes no power");
	}
	jobs.iter().for_each(|job| apply(&mut chain, *job));
	deliver(&mut chain, jobs[0], &model(1));
	deliver(&mut chain, jobs[1], &model(2));
	let aggregating = until(&mut chain, "aggregating", |view| view.stage == Stage::Aggregating);
	assert_eq!(aggregating.undecided, 2);

	let weights = federation::weights(&[400, 1_200]);
	let (one, two) = (model(1), model(2));
	let mean = federation::aggregate(&layout(), &weights, 0, &[&one, &two]).unwrap();
	let mut other = mean.clone();
	*other.last_mut().unwrap() ^= 1;
	let propose = |file: &[u8]| pallet_federation::Call::propose {
		federation: 0,
		content: content::hash(file),
		pieces: federation::piece_values(&layout(), file).unwrap().try_into().unwrap(),
	};
	// Both are on chain before the window of the false one begins, which is as short as a round should be.
	store(&mut chain, Eve, &other);
	let root = store(&mut chain, Bob, &mean);
	assert_ok!(chain.call(Eve, propose(&other)));
	assert_ok!(chain.call(Bob, propose(&mean)));
	let last = content::chunks(layout().size) - 1;
	let refute = |proposal: u32, file: &[u8]| pallet_federation::Call::refute {
		federation: 0,
		proposal,
		chunk: last,
		openings: [file, &one, &two]
			.map(|file| ModelOpening::new(file, last).unwrap())
			.to_vec()
			.try_into()
			.unwrap(),
	};
	let not = pallet_federation::Error::<Runtime>::NotRefuted;
	let refused = chain.call(Alice, refute(1, &mean));
	assert_eq!(refused.unwrap_err(), not.into());
	assert_ok!(chain.call(Alice, refute(0, &other)));
	let next = until(&mut chain, "next round", |view| view.round == 1);
	assert_eq!(next.rounds[0].root, root);
	assert_eq!(next.initial.file.content_hash, root);
	assert!(next.initial.file.is_on_chain());

	// The next round begins with it, and the submitter may stop it.
	let posted = until(&mut chain, "job", |view| view.parts.iter().all(|part| part.job.is_some()));
	let job = view(&mut chain, posted.parts[1].job.unwrap());
	assert_eq!(job.spec.initial_model, Some(next.initial));
	assert_ok!(chain.call(Ferdie, pallet_federation::Call::cancel { federation: 0 }));
	let ended = federation_view(&mut chain);
	assert_eq!((ended.stage, ended.fees), (Stage::Ended(FederationEnding::Cancelled), 0));
	trainyard_sandbox::books::check(&mut chain).unwrap();
}
