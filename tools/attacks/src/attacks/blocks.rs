//! Blocks full of bytes.

use crate::{
	jobs::{terms, truth, Model, TRUE},
	report::{amount, Attack, Outcome},
	scene::{Scene, Side, BOND},
};
use sp_runtime::Perquintill;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::job::{Fate, JobState};
use trainyard_runtime::{configs::fees, Runtime, RuntimeCall};

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "blocks-full-of-remarks",
		source: "chain-market H5, chain-consensus M-8",
		tries: "fills every block with remarks while a trainer has to store its model",
		rule: "chunks that a job awaits have room of their own and a plain price",
		left: None,
		run: full_of_remarks,
	},
	Attack {
		name: "wrong-chunks",
		source: "chain-market H5",
		tries: "fills the room of awaited chunks with bytes that are not theirs",
		rule: "a chunk whose bytes are wrong is no valid transaction",
		left: None,
		run: wrong_chunks,
	},
];

/// A model of 20 MiB: its chunks are of 320 KiB, and had no room beside such remarks.
const MODEL: usize = 20 << 20;

fn full_of_remarks() -> Outcome {
	let mut scene = Scene::new();
	let attacker = scene.hostile("sender");
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 3, BOND);
	let job = scene.post(&submitter, &JobSpec::noisy_example(), &terms()).expect("it is valid");
	scene.works(&trainer, job, TRUE);
	let bytes: Vec<u8> = (0..MODEL).map(|i| (i ^ (i >> 8) ^ (i >> 16)) as u8).collect();
	if let Some(work) = scene.works.last_mut() {
		work.model = Model::new(&bytes);
		work.delay = 2;
	}
	scene.until(job, &truth, |view| view.state == JobState::Revealing);
	scene.start();
	let remark =
		|len: usize| -> RuntimeCall { frame_system::Call::remark { remark: vec![7; len] }.into() };
	let mut full = 0u32;
	while scene.job(job).state == JobState::Revealing {
		scene.begin();
		// The attacker's come first: nobody's luck helps the trainer.
		for len in [350_000usize, 20_000, 1_000] {
			while scene.send(&attacker, remark(len)).is_some() {}
		}
		scene.act(&truth);
		scene.end();
		full += 1;
	}
	let spent = scene.fees_of(&attacker.account);
	let money = scene.settle(&[job], &truth)[0];
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Accepted);
	scene.buys(&submitter, money.escrowed - money.refunded);
	let day = (0..14_400).fold(1.into(), |now, _| fees::after(now, Perquintill::one()));
	let day = fees::after(day, Perquintill::one()).to_float();
	let facts = vec![
		("blocks until 20 MiB were stored", full.to_string()),
		("a minute of full blocks costs", amount(spent / u128::from(full) * 10)),
		("the same after a day of them", format!("{day:.2} times as much")),
	];
	Outcome { scene, facts }
}

fn wrong_chunks() -> Outcome {
	let mut scene = Scene::new();
	let attacker = scene.hostile("sender");
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 3, BOND);
	let job = scene.post(&submitter, &JobSpec::noisy_example(), &terms()).expect("it is valid");
	scene.works(&trainer, job, TRUE);
	let model = Model::new(&[5; 20_000]);
	if let Some(work) = scene.works.last_mut() {
		work.model = model.clone();
		work.delay = 2;
	}
	scene.until(job, &truth, |view| view.state == JobState::Revealing);
	scene.start();
	scene.call(&trainer, model.register.clone()).expect("it may be registered");
	scene.begin();
	let RuntimeCall::ModelStorage(pallet_model_storage::Call::upload_chunk {
		root,
		index,
		proof,
		bytes,
	}) = model.uploads.last().expect("it has chunks").clone()
	else {
		panic!("an upload is one");
	};
	let mut wrong = bytes.to_vec();
	wrong[0] ^= 1;
	let bytes = wrong.try_into().expect("it is as long");
	let upload = pallet_model_storage::Call::upload_chunk { root, index, proof, bytes };
	// It is awaited as soon as it was revealed, and three of its five chunks come with that.
	while !scene.chain.state(|| pallet_model_storage::Awaited::<Runtime>::contains_key(root)) {
		scene.act(&truth);
		scene.end();
		scene.begin();
	}
	let taken = scene.send(&attacker, upload).is_some();
	scene.end();
	let money = scene.settle(&[job], &truth)[0];
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Accepted);
	scene.buys(&submitter, money.escrowed - money.refunded);
	let said = if taken { "a transaction that pays" } else { "no valid transaction" };
	Outcome { scene, facts: vec![("a wrong chunk is", said.into())] }
}
