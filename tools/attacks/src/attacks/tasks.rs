//! Deterministic tasks: false claims, and true ones that somebody holds up.

use crate::{
	report::{amount, Attack, Outcome},
	scene::{Party, Scene, Side, BOND},
};
use frame_support::BoundedVec;
use trainyard_protocol::{blob::Chunked, job::BlockNumber};
use trainyard_runtime::{
	api::runtime_decl_for_trainyard_api::TrainyardApi, configs::tasks::TaskBounds, AccountId,
	Balance, Runtime, TRY,
};
use trainyard_sandbox::tasks::{Run, COUNTER, INPUT};
use trainyard_task::{
	claim,
	views::{Phase, Side as DisputeSide, Stage, TaskEnd, TaskView},
	File, Form, Limits, TaskSpec, TaskTerms,
};

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "lies-in-a-step",
		source: "tasks",
		tries: "delivers a task with one false step beside an honest replica",
		rule: "the traces descend to that step, and the runtime executes it",
		left: None,
		run: lies_in_a_step,
	},
	Attack {
		name: "lies-with-all-replicas",
		source: "tasks",
		tries:
			"is all replicas of a task, whose submitter relies on others, and delivers a false step",
		rule: "anybody computes it again and challenges, and has half of a deposit",
		left: None,
		run: lies_with_all_replicas,
	},
	Attack {
		name: "holds-a-task-up",
		source: "tasks",
		tries: "challenges a true claim by a made-up trace, and then is silent",
		rule: "the deposit of a challenge, half of which is for whom it held up",
		left: None,
		run: holds_a_task_up,
	},
];

const STEPS: u32 = 1_000;
const LIE: u32 = 700;
const SALT: [u8; 32] = [5; 32];
const REWARD: Balance = 7 * TRY;

fn view(scene: &mut Scene) -> TaskView<AccountId> {
	scene.chain.state(|| Runtime::task(0)).expect("it was posted")
}

fn until(scene: &mut Scene, wanted: impl Fn(&Phase) -> bool) {
	for _ in 0..5_000 {
		if wanted(&view(scene).phase) {
			return;
		}
		scene.run(1);
	}
	panic!("the task stays {:?}", view(scene).phase);
}

fn window() -> BlockNumber {
	use frame_support::traits::Get;
	TaskBounds::get().window
}

/// Stores some bytes, each in one chunk.
fn store(scene: &mut Scene, who: &Party, bytes: &[u8]) {
	use pallet_model_storage::Call;
	let blob = Chunked::new(bytes);
	let (size, content) = (bytes.len() as u64, blob.content);
	scene.call(who, Call::register { size, content, period: None }).expect("it is new");
	let upload = Call::upload_chunk {
		root: blob.root,
		index: 0,
		proof: BoundedVec::truncate_from(blob.proof(0).expect("there is one")),
		bytes: BoundedVec::truncate_from(blob.chunks[0].to_vec()),
	};
	scene.call(who, upload).expect("it is that chunk");
}

/// A task that is posted and being computed, by these.
fn computing(scene: &mut Scene, submitter: &Party, replicas: &[&Party]) {
	for bytes in [COUNTER, INPUT] {
		store(scene, submitter, bytes);
	}
	let spec = TaskSpec {
		module: File::of(COUNTER),
		input: File::of(INPUT),
		form: Form::Step { steps: STEPS },
		limits: Limits { fuel: 100_000, pages: 1, state: 64 },
	};
	let challenge = scene.chain.state(window);
	let terms = TaskTerms {
		reward: REWARD,
		replicas: replicas.len() as u8,
		deposit: TaskTerms::deterrent(REWARD, 50).expect("it is small"),
		audit: 50,
		audit_fee: TRY,
		apply: 5,
		compute: 20,
		reveal: 10,
		challenge,
	};
	let digest = claim::digest(&spec, &terms);
	scene.start();
	let post = pallet_tasks::Call::post { spec: Box::new(spec), terms: Box::new(terms) };
	scene.call(submitter, post).expect("it is valid");
	for who in replicas {
		let apply = pallet_tasks::Call::apply { task: 0, digest };
		scene.call(who, apply).expect("it has money");
	}
	until(scene, |phase| matches!(phase, Phase::Computing { .. }));
}

/// The replicas commit and reveal.
fn deliver(scene: &mut Scene, all: &[(&Party, &Run)]) {
	let genesis = scene.genesis;
	for (who, run) in all {
		let commitment = claim::commitment(&genesis, 0, &who.account, &run.said().0, &SALT);
		let commit = pallet_tasks::Call::commit { task: 0, commitment };
		scene.call(who, commit).expect("it is a replica");
	}
	until(scene, |phase| matches!(phase, Phase::Auditing { .. } | Phase::Revealing { .. }));
	// Who is drawn to audit says nothing here, and others are drawn: it is not what the attack is about.
	until(scene, |phase| matches!(phase, Phase::Revealing { .. }));
	for (who, run) in all {
		let (claim, ends, output) = run.said();
		let reveal = pallet_tasks::Call::reveal {
			task: 0,
			claim,
			ends: Box::new(ends),
			output: Some(BoundedVec::truncate_from(output)),
			salt: SALT,
		};
		scene.call(who, reveal).expect("it is what it committed to");
	}
	until(scene, |phase| matches!(phase, Phase::Challenging { .. }));
}

/// Seals the trace of a run, and challenges the first claim by it.
fn challenge(scene: &mut Scene, who: &Party, run: &Run) {
	let (own, ends, _) = run.said();
	let commitment = claim::commitment(&scene.genesis, 0, &who.account, &own, &SALT);
	scene.call(who, pallet_tasks::Call::seal { task: 0, commitment }).expect("it has money");
	let ends = Box::new(ends);
	let challenge = pallet_tasks::Call::challenge { task: 0, claim: 0, own, ends, salt: SALT };
	scene.call(who, challenge).expect("it has sealed it");
}

/// Each side of the first dispute shows what is due of its run, as far as it has one that it shows; and whoever has
/// the true one has the step executed.
fn fight(scene: &mut Scene, truth: (&Party, &Run), lie: Option<(&Party, &Run)>) {
	for _ in 0..1_000 {
		let Some(found) = view(scene).disputes.first().cloned() else { return };
		let dispute = found.number;
		match found.stage {
			Stage::Descending(descent) => {
				let root = |side: &DisputeSide<AccountId>| match side {
					DisputeSide::Claim(number) => view_root(scene, *number),
					DisputeSide::Challenger { claim, .. } => claim.root,
				};
				let roots = [&found.sides[0], &found.sides[1]].map(root);
				for (who, run) in [Some(truth), lie].into_iter().flatten() {
					let side = usize::from(roots[0] != run.trace.root());
					if found.moved[side] {
						continue;
					}
					let nodes = run.trace.nodes(descent.below(), descent.due()).to_vec();
					let nodes = BoundedVec::truncate_from(nodes);
					let side = side as u8;
					let show = pallet_tasks::Call::show { task: 0, dispute, side, nodes };
					scene.call(who, show).expect("they are due");
				}
			}
			Stage::Executing { index, .. } => {
				let (who, run) = truth;
				let before = index as usize - 1;
				let brought = pallet_tasks::Brought::Bytes {
					module: BoundedVec::truncate_from(COUNTER.to_vec()),
					state: BoundedVec::truncate_from(run.states[before].to_vec()),
				};
				let path = run.trace.proof(index - 1).expect("it is a leaf");
				let execute = pallet_tasks::Call::execute {
					task: 0,
					dispute,
					brought: Box::new(brought),
					path: BoundedVec::truncate_from(path),
				};
				scene.call(who, execute).expect("it is the state before");
			}
		}
		scene.run(1);
	}
	panic!("the dispute does not end");
}

fn view_root(scene: &mut Scene, number: u8) -> trainyard_protocol::H256 {
	view(scene).claims[usize::from(number)].0.root
}

/// Waits for the end of the task, and returns it with what it says.
fn ended(mut scene: Scene, wanted: TaskEnd) -> Outcome {
	until(&mut scene, |phase| matches!(phase, Phase::Ended(_)));
	let found = view(&mut scene);
	assert_eq!(found.phase, Phase::Ended(wanted));
	let facts = vec![("deposit of a replica", amount(found.terms.deposit))];
	Outcome { scene, facts }
}

fn lies_in_a_step() -> Outcome {
	let mut scene = Scene::new();
	scene.verifiers(Side::Honest, 3, BOND);
	let submitter = scene.honest("submitter");
	let honest = scene.honest("replica");
	let cheat = scene.hostile("replica");
	computing(&mut scene, &submitter, &[&honest, &cheat]);
	let (truth, lie) = (Run::of(STEPS, None), Run::of(STEPS, Some(LIE)));
	deliver(&mut scene, &[(&honest, &truth), (&cheat, &lie)]);
	fight(&mut scene, (&honest, &truth), Some((&cheat, &lie)));
	// What is not paid to the cheat returns, and the fee of the audit that there was not.
	scene.buys(&submitter, REWARD);
	scene.earns(&honest, REWARD);
	ended(scene, TaskEnd::Accepted(0))
}

fn lies_with_all_replicas() -> Outcome {
	let mut scene = Scene::new();
	scene.verifiers(Side::Honest, 3, BOND);
	let submitter = scene.honest("submitter");
	let cheats = [scene.hostile("replica"), scene.hostile("replica")];
	let watcher = scene.honest("watcher");
	computing(&mut scene, &submitter, &[&cheats[0], &cheats[1]]);
	let (truth, lie) = (Run::of(STEPS, None), Run::of(STEPS, Some(LIE)));
	deliver(&mut scene, &[(&cheats[0], &lie), (&cheats[1], &lie)]);
	challenge(&mut scene, &watcher, &truth);
	fight(&mut scene, (&watcher, &truth), Some((&cheats[0], &lie)));
	ended(scene, TaskEnd::Refuted)
}

fn holds_a_task_up() -> Outcome {
	let mut scene = Scene::new();
	scene.verifiers(Side::Honest, 3, BOND);
	let submitter = scene.honest("submitter");
	let honest = scene.honest("replica");
	let griefer = scene.hostile("challenger");
	computing(&mut scene, &submitter, &[&honest]);
	let (truth, lie) = (Run::of(STEPS, None), Run::of(STEPS, Some(LIE)));
	deliver(&mut scene, &[(&honest, &truth)]);
	let before = scene.height();
	challenge(&mut scene, &griefer, &lie);
	fight(&mut scene, (&honest, &truth), None);
	scene.buys(&submitter, REWARD);
	scene.earns(&honest, REWARD);
	let mut outcome = ended(scene, TaskEnd::Accepted(0));
	let later = outcome.scene.height() - before;
	outcome.facts.push(("blocks from the challenge to the end", later.to_string()));
	outcome
}
