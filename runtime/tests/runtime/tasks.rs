//! Tasks over the real pallets, with the real machine: replicas and an auditor differ, the dispute comes down to
//! one step, the runtime executes it, and a false record of a map is executed as well.

mod bets;

use crate::{federation::store, length::flood};
use frame_support::assert_ok;
use sp_keyring::Sr25519Keyring::{self, *};
use sp_runtime::{transaction_validity::InvalidTransaction, DispatchError};
use trainyard_protocol::{blob::Chunked, content, seats::Resources};
use trainyard_runtime::{api::runtime_decl_for_trainyard_api::TrainyardApi, *};
use trainyard_sandbox::{
	books,
	tasks::{Run, Said, COUNTER, INPUT},
	Chain,
};
use trainyard_task::{
	claim,
	state::{record, record_chunks},
	views::{Phase, Stage, TaskEnd, TaskView},
	Claim, Ends, File, Form, Limits, StateId, TaskSpec, TaskTerms,
};

const VERIFIERS: [Sr25519Keyring; 3] = [Dave, Eve, Ferdie];
const SALT: [u8; 32] = [5; 32];
const STEPS: u32 = 1_000;

/// `map` returns the four bytes of the input plus the index.
const ADDER: &[u8] = &[
	0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // the head
	0x01, 0x0d, 0x02, 0x60, 0x01, 0x7f, 0x01, 0x7f, 0x60, 0x03, 0x7f, 0x7f, 0x7e, 0x01, 0x7e, 0x03,
	0x03, 0x02, 0x00, 0x01, // two functions
	0x05, 0x03, 0x01, 0x00, 0x01, // a page of memory
	0x07, 0x18, 0x03, 0x06, b'm', b'e', b'm', b'o', b'r', b'y', 0x02, 0x00, // exports
	0x05, b'i', b'n', b'p', b'u', b't', 0x00, 0x00, 0x03, b'm', b'a', b'p', 0x00, 0x01, 0x0a, 0x22,
	0x02, 0x05, 0x00, 0x41, 0x80, 0x08, 0x0b, // input: 1024
	0x1a, 0x00, 0x20, 0x00, 0x20, 0x00, 0x28, 0x02, 0x00, 0x20, 0x02, 0xa7, 0x6a, 0x36, 0x02, 0x00,
	0x20, 0x00, 0xad, 0x42, 0x20, 0x86, 0x20, 0x01, 0xad, 0x84, 0x0b,
];

fn spec(module: &[u8], form: Form) -> TaskSpec {
	TaskSpec {
		module: File::of(module),
		input: File::of(INPUT),
		form,
		limits: Limits { fuel: 100_000, pages: 1, state: 64 },
	}
}

fn terms() -> TaskTerms {
	TaskTerms {
		reward: 7 * TRY,
		replicas: 2,
		deposit: 100 * TRY,
		audit: 1_000,
		audit_fee: TRY,
		apply: 5,
		compute: 20,
		reveal: 10,
		challenge: chain_window(),
	}
}

/// The least window of the development chain.
fn chain_window() -> u32 {
	Chain::development().state(|| Runtime::task_bounds()).window
}

/// A chain with verifiers, on which //Alice has stored module and input and posted a task, which //Bob and
/// //Charlie compute.
fn computing(module: &[u8], form: Form) -> Chain {
	let mut chain = Chain::development();
	chain.run(1);
	for who in VERIFIERS {
		let capacity = Resources { work: 10_000_000, memory_mib: 8_192, disk_mib: 10_240 };
		let register = pallet_verification::Call::register { bond: 100 * TRY, capacity };
		assert_ok!(chain.call(who, register));
		let key = who.public();
		assert_ok!(chain.call(who, pallet_verification::Call::set_vrf_key { key }));
	}
	for bytes in [module, INPUT] {
		assert_eq!(Chunked::new(bytes).root, File::of(bytes).root);
		store(&mut chain, Alice, bytes);
	}
	let (spec, terms) = (spec(module, form), terms());
	let digest = claim::digest(&spec, &terms);
	let post = pallet_tasks::Call::post { spec: Box::new(spec), terms: Box::new(terms) };
	assert_ok!(chain.call(Alice, post));
	assert_eq!(chain.state(|| Runtime::open_tasks(None, 9)), [0]);
	for who in [Bob, Charlie] {
		assert_ok!(chain.call(who, pallet_tasks::Call::apply { task: 0, digest }));
	}
	until(&mut chain, |phase| matches!(phase, Phase::Computing { .. }));
	chain
}

fn view(chain: &mut Chain) -> TaskView<AccountId> {
	chain.state(|| Runtime::task(0)).expect("it was posted")
}

fn until(chain: &mut Chain, wanted: impl Fn(Phase) -> bool) {
	for _ in 0..5_000 {
		if wanted(view(chain).phase) {
			return;
		}
		chain.run(1);
	}
	panic!("the task stays {:?}", view(chain).phase);
}

/// The replicas and the auditor commit and reveal.
fn deliver(chain: &mut Chain, bob: &Said, charlie: &Said, auditor: &Said) -> Sr25519Keyring {
	let genesis = chain.state(|| System::block_hash(0));
	let commit = |chain: &mut Chain, who: Sr25519Keyring, said: &Said| {
		let made = claim::commitment(&genesis, 0, &who.to_account_id(), &said.0, &SALT);
		assert_ok!(chain.call(who, pallet_tasks::Call::commit { task: 0, commitment: made }));
	};
	commit(chain, Bob, bob);
	commit(chain, Charlie, charlie);
	until(chain, |phase| matches!(phase, Phase::Auditing { .. }));
	let drawn = view(chain).auditor.unwrap().who;
	let who = VERIFIERS.into_iter().find(|who| who.to_account_id() == drawn).unwrap();
	commit(chain, who, auditor);
	until(chain, |phase| matches!(phase, Phase::Revealing { .. }));
	for (who, (claim, ends, output)) in [(Bob, bob), (Charlie, charlie), (who, auditor)] {
		assert_ok!(chain.call(
			who,
			pallet_tasks::Call::reveal {
				task: 0,
				claim: claim.clone(),
				ends: Box::new(ends.clone()),
				output: Some(output.clone().try_into().unwrap()),
				salt: SALT,
			}
		));
	}
	until(chain, |phase| matches!(phase, Phase::Challenging { .. }));
	who
}

fn balance(chain: &mut Chain, who: Sr25519Keyring) -> Balance {
	chain.state(|| Balances::free_balance(who.to_account_id()))
}

#[test]
fn a_false_step_is_executed_by_the_runtime_and_convicts() {
	let mut chain = computing(COUNTER, Form::Step { steps: STEPS });
	let (truth, lie) = (Run::of(STEPS, None), Run::of(STEPS, Some(700)));
	let auditor = deliver(&mut chain, &truth.said(), &lie.said(), &truth.said());
	let before = view(&mut chain);
	assert_eq!((before.claims.len(), before.disputes.len()), (2, 1));
	let had = [Bob, Charlie, auditor].map(|who| balance(&mut chain, who));
	let (mut steps, dispute) = (0, before.disputes[0].number);
	let index = loop {
		let found = view(&mut chain).disputes[0].clone();
		let descent = match found.stage {
			Stage::Descending(descent) => descent,
			Stage::Executing { index, .. } => break index,
		};
		for (side, run) in [&truth, &lie].into_iter().enumerate() {
			let nodes = run.trace.nodes(descent.below(), descent.due()).to_vec();
			let nodes = nodes.try_into().unwrap();
			let side = side as u8;
			// Whoever brings it.
			let show = pallet_tasks::Call::show { task: 0, dispute, side, nodes };
			assert_ok!(chain.call(Bob, show));
		}
		steps += 1;
	};
	assert_eq!((index, steps), (700, 2));
	let brought = pallet_tasks::Brought::Bytes {
		module: COUNTER.to_vec().try_into().unwrap(),
		state: truth.states[699].to_vec().try_into().unwrap(),
	};
	let execute = pallet_tasks::Call::execute {
		task: 0,
		dispute,
		brought: Box::new(brought),
		path: truth.trace.proof(699).unwrap().try_into().unwrap(),
	};
	assert_ok!(chain.call(Bob, execute));
	let after = view(&mut chain);
	assert_eq!((after.claims[0].1, after.claims[1].1), (false, true));
	until(&mut chain, |phase| phase == Phase::Ended(TaskEnd::Accepted(0)));
	assert_eq!(view(&mut chain).output, Some(3_010u32.to_le_bytes().to_vec()));
	// Half of the deposit of //Charlie is shared by two, of whom //Bob paid for the dispute; and //Bob has its own
	// deposit and the reward.
	let [bob, charlie, fee] = [Bob, Charlie, auditor].map(|who| balance(&mut chain, who));
	let gained = bob - had[0];
	assert!(gained > (100 + 25 + 7 - 4) * TRY && gained < 132 * TRY, "{gained}");
	assert_eq!((charlie, fee), (had[1], had[2] + 26 * TRY));
	books::check(&mut chain).unwrap();
}

/// Indices of a map, and the most bytes of a record.
const MAP: (u32, u32) = (50, 4);

/// What a map comes to, with a record that is made up.
fn mapped(lie: Option<u32>) -> Said {
	let (count, most) = MAP;
	let record = |index: u32| {
		let value = 10 + index + u32::from(Some(index) == lie);
		record(Ok(&value.to_le_bytes()), most)
	};
	let bytes: Vec<u8> = (0..count).flat_map(record).collect();
	let file = File::of(&bytes);
	(Claim { root: file.root, output: StateId::Bytes(file) }, Ends::default(), bytes)
}

/// //Ferdie shows that this record of a claim with these bytes is false.
fn refute(chain: &mut Chain, number: u8, index: u32, bytes: &[u8]) -> Result<(), DispatchError> {
	let genesis = chain.state(|| System::block_hash(0));
	let who = Ferdie.to_account_id();
	let commitment = claim::refutation(&genesis, 0, &who, (number, index), &SALT);
	assert_ok!(chain.call(Ferdie, pallet_tasks::Call::seal { task: 0, commitment }));
	let (first, end) = record_chunks(index, MAP.1);
	let to = (end as usize * 1_024).min(bytes.len());
	let opened = pallet_tasks::OpenedRecord {
		index,
		content: content::hash(bytes),
		chunks: bytes[first as usize * 1_024..to].to_vec().try_into().unwrap(),
		siblings: content::open_many(bytes, first..end).unwrap().try_into().unwrap(),
		module: ADDER.to_vec().try_into().unwrap(),
		input: INPUT.to_vec().try_into().unwrap(),
	};
	let opened = Box::new(opened);
	chain.call(Ferdie, pallet_tasks::Call::refute { task: 0, claim: number, opened, salt: SALT })
}

#[test]
fn a_false_record_is_executed_by_the_runtime_and_convicts() {
	let (count, most) = MAP;
	let mut chain = computing(ADDER, Form::Map { count, most });
	let (truth, lie) = (mapped(None), mapped(Some(33)));
	deliver(&mut chain, &truth, &lie, &truth);
	let kept = refute(&mut chain, 0, 33, &truth.2);
	assert_eq!(kept, Err(pallet_tasks::Error::<Runtime>::NotRefuted.into()));
	assert_ok!(chain.call(Ferdie, pallet_tasks::Call::unseal { task: 0 }));
	assert_ok!(refute(&mut chain, 1, 33, &lie.2));
	until(&mut chain, |phase| phase == Phase::Ended(TaskEnd::Accepted(0)));
	assert_eq!(view(&mut chain).output, Some(truth.2));
	books::check(&mut chain).unwrap();
}

/// Whoever has to move in a dispute finds room in a block that others have filled, and nobody else by the same call.
#[test]
fn moves_in_tasks_enter_blocks_that_are_full_of_remarks() {
	let mut chain = computing(COUNTER, Form::Step { steps: STEPS });
	let (truth, lie) = (Run::of(STEPS, None), Run::of(STEPS, Some(700)));
	deliver(&mut chain, &truth.said(), &lie.said(), &truth.said());
	let dispute = view(&mut chain).disputes[0].clone();
	let Stage::Descending(descent) = dispute.stage else { panic!("{dispute:?}") };
	let show = |number: u32| {
		let nodes = truth.trace.nodes(descent.below(), descent.due()).to_vec();
		let nodes = nodes.try_into().unwrap();
		pallet_tasks::Call::show { task: 0, dispute: number, side: 0, nodes }
	};
	chain.begin();
	flood(&mut chain);
	let full = InvalidTransaction::ExhaustsResources.into();
	while let Ok(result) = chain.apply(Alice, frame_system::Call::remark { remark: vec![7] }) {
		assert_ok!(result);
	}
	assert_eq!(chain.apply(Bob, show(7)), Err(full), "there is no such dispute");
	assert_eq!(chain.apply(Bob, show(dispute.number)), Ok(Ok(())));
	assert_eq!(chain.apply(Bob, show(dispute.number)), Err(full), "it was shown");
	chain.end();
	assert_eq!(view(&mut chain).disputes[0].moved, [true, false]);
}
