//! Attacks by projects of drilling, and on them.

use crate::{
	report::{amount, Attack, Outcome},
	scene::{answer, Party, Scene, Side, BOND},
};
use sp_runtime::DispatchError;
use trainyard_program::spec::{JobSpec, POWER_NOISE_NANO};
use trainyard_protocol::{
	blob::Chunked,
	drill::{
		commitment, Mismatch, ProjectId, ProjectState, Template, TrialTemplate, UnitPhase,
		UnitResult,
	},
	job::BlockNumber,
	MicroUt, Text, H256,
};
use trainyard_runtime::{
	api::runtime_decl_for_trainyard_api::TrainyardApi,
	configs::periods::{parameters::periods, RuntimeParameters},
	AccountId, Balance, Drilling, Hashrate, Parameters, Runtime, RuntimeOrigin, TRY,
};
use trainyard_traits::Drillers;

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "data-that-disappear",
		source: "chain-consensus C-1",
		tries: "gets a trial approved whose data nobody can have, so that drillers and verifiers lose",
		rule: "data are blobs on chain that stay; that they are not to be had costs nobody but the proposer",
		left: None,
		run: data_that_disappear,
	},
	Attack {
		name: "false-alarm",
		source: "chain-consensus C-1",
		tries: "says of the data of a good project, by most of its drillers, that they are not to be had",
		rule: "verifiers look for them, and whoever said so makes room",
		left: None,
		run: false_alarm,
	},
	Attack {
		name: "shortest-deadlines",
		source: "chain-consensus C-1",
		tries: "proposes units of 1 ut that must be computed in three blocks",
		rule: "there is time at 2 GFLOP/s, and nobody is given units of what it did not choose",
		left: None,
		run: shortest_deadlines,
	},
	Attack {
		name: "all-lose",
		source: "chain-consensus M-2",
		tries: "brings wrong results to units of which all lose where results differ, with no power to lose",
		rule: "only who chose such a project computes units of it",
		left: None,
		run: all_lose,
	},
	Attack {
		name: "squatted-projects",
		source: "chain-consensus M-2",
		tries: "takes places for projects with 20,000 TRY, so that nobody else can propose",
		rule: "deposits double with each eighth of the places that is taken, and with each project of an account",
		left: None,
		run: squatted_projects,
	},
	Attack {
		name: "condemned-and-withdrawn",
		source: "chain-consensus M-2",
		tries: "takes a project back in the block before the vote against it ends, to save its deposit",
		rule: "what the votes condemn is lost all the same",
		left: None,
		run: condemned_and_withdrawn,
	},
];

const SALT: [u8; 32] = [7; 32];
/// Blocks for votes here.
const REVIEW: BlockNumber = 4;
/// What honest drillers did before: enough that not every unit of theirs is recomputed.
const DRILLED: MicroUt = 1_000_000_000;

/// A scene with `drillers` honest trainers, all in the role of drillers, and nine honest verifiers.
pub(super) struct Stage {
	pub(super) scene: Scene,
	pub(super) voters: Vec<Party>,
	pub(super) honest: Vec<Party>,
	pub(super) verifiers: Vec<Party>,
}

pub(super) fn stage(drillers: usize) -> Stage {
	let mut scene = Scene::new();
	scene.chain.state(|| {
		let review = periods::Parameters::Review(periods::Review, Some(REVIEW));
		let review = RuntimeParameters::Periods(review);
		Parameters::set_parameter(RuntimeOrigin::root(), review).expect("root may");
	});
	let trainers = |scene: &mut Scene, count| {
		(0..count).map(|_| scene.trainer(Side::Honest)).collect::<Vec<_>>()
	};
	let voters = trainers(&mut scene, 11);
	let honest = trainers(&mut scene, drillers);
	let verifiers = scene.verifiers(Side::Honest, 9, BOND);
	scene.chain.state(|| {
		for driller in &honest {
			Hashrate::credit_drilling(&driller.account, DRILLED);
		}
	});
	Stage { scene, voters, honest, verifiers }
}

/// A trial, whose data are `bytes` by its proposer's word.
fn trial(bytes: u64) -> Template {
	let mut spec = JobSpec::noisy_example();
	spec.training.input_noise_nano = *POWER_NOISE_NANO.start();
	spec.dataset.bytes = bytes;
	let learning_rates_nano = vec![1_000_000].try_into().expect("it is one");
	Template::Trial(TrialTemplate { spec, learning_rates_nano })
}

/// Proposes, with these data, and returns what that returned.
pub(super) fn propose(
	scene: &mut Scene,
	who: &Party,
	template: Template,
	data: &[H256],
	rule: Mismatch,
	commit_blocks: BlockNumber,
) -> Result<ProjectId, DispatchError> {
	let propose = pallet_drilling::Call::propose {
		title: Text::new("something").expect("it is short"),
		template,
		data: data.to_vec().try_into().expect("it is short"),
		rule,
		replicas: 3,
		units: 40,
		commit_blocks,
	};
	scene.call(who, propose)?;
	Ok(scene.chain.state(Runtime::drilling_open_projects).last().expect("it is there").id)
}

/// Everybody votes for a project, which is active then.
pub(super) fn approve(scene: &mut Scene, voters: &[Party], project: ProjectId) {
	scene.all(voters, |_| pallet_drilling::Call::vote { project, aye: true }.into());
	scene.run(REVIEW + 2);
	assert_eq!(state(scene, project), ProjectState::Active);
}

fn state(scene: &mut Scene, project: ProjectId) -> ProjectState {
	let view = scene.chain.state(|| Runtime::drilling_project(project));
	view.expect("it is on record").state
}

pub(super) fn enlist(scene: &mut Scene, who: &[Party], projects: &[ProjectId]) {
	scene.all(who, |_| {
		let projects = projects.to_vec().try_into().expect("they are few");
		pallet_drilling::Call::enlist { projects }.into()
	});
}

/// Stores `bytes` as a blob of `who`; returns its root.
fn store(scene: &mut Scene, who: &Party, bytes: &[u8]) -> H256 {
	let file = Chunked::new(bytes);
	let register = pallet_model_storage::Call::register {
		size: bytes.len() as u64,
		content: file.content,
		period: None,
	};
	scene.call(who, register).expect("it is new");
	for (index, chunk) in file.chunks.iter().enumerate() {
		let proof = file.proof(index).expect("there is such a chunk");
		let upload = pallet_model_storage::Call::upload_chunk {
			root: file.root,
			index: index as u32,
			proof: proof.try_into().expect("it is short"),
			bytes: chunk.to_vec().try_into().expect("it is short"),
		};
		scene.call(who, upload).expect("it is right");
	}
	file.root
}

/// What a party of a unit, or of its recomputation, does where it is to act.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Says {
	/// That there are no data.
	Nothing,
	/// This result.
	Result(u8),
}

fn result(number: u8) -> UnitResult {
	UnitResult { state: H256::repeat_byte(number), score: None }
}

/// Lets blocks pass in which every driller and verifier of `parties` does what `says` says.
pub(super) fn live(
	scene: &mut Scene,
	parties: &[Party],
	blocks: BlockNumber,
	says: impl Fn(&Party) -> Says,
) {
	use pallet_drilling::Call::*;
	let genesis = scene.genesis;
	for _ in 0..blocks {
		let mut calls = Vec::new();
		for party in parties {
			let account = party.account.clone();
			let sealed =
				|id, result: &UnitResult| commitment(&genesis, id, &account, result, &SALT);
			let unit = scene.chain.state(|| Runtime::drilling_assignment(account.clone()));
			if let Some(view) = unit {
				let assignment = view.id;
				let done = view.committed || view.declined;
				match (view.phase, says(party)) {
					(UnitPhase::Commit, Says::Nothing) if !done => {
						calls.push((party.clone(), decline { assignment }));
					}
					(UnitPhase::Commit, Says::Result(n)) if !done => {
						let commitment = sealed(assignment, &result(n));
						calls.push((party.clone(), commit { assignment, commitment }));
					}
					(UnitPhase::Reveal, Says::Result(n)) if view.committed && !view.revealed => {
						let reveal = reveal { assignment, result: result(n), salt: SALT };
						calls.push((party.clone(), reveal));
					}
					_ => {}
				}
			}
			let checks = scene.chain.state(|| Runtime::drilling_check(account.clone()));
			for view in checks {
				let assignment = view.id;
				let done = view.committed || view.declined;
				match (view.phase, says(party)) {
					(UnitPhase::Commit, Says::Nothing) if !done => {
						calls.push((party.clone(), decline { assignment }));
					}
					(UnitPhase::Commit, Says::Result(n)) if !done => {
						let commitment = sealed(assignment, &result(n));
						calls.push((party.clone(), check { assignment, commitment }));
					}
					(UnitPhase::Reveal, Says::Result(n)) if view.committed && !view.revealed => {
						let reveal = check_reveal { assignment, result: result(n), salt: SALT };
						calls.push((party.clone(), reveal));
					}
					_ => {}
				}
			}
		}
		scene.begin();
		for (party, call) in calls {
			// A phase may have ended in this block.
			let _ = scene.send(&party, call);
		}
		scene.end();
	}
}

/// Drilling power of these, as work.
pub(super) fn drilled(scene: &mut Scene, who: &[Party]) -> MicroUt {
	scene.chain.state(|| who.iter().map(|one| Hashrate::drilled(&one.account)).sum())
}

/// How many of these are in the pool of drillers.
pub(super) fn in_pool(scene: &mut Scene, who: &[Party]) -> usize {
	let pool: Vec<AccountId> = scene.chain.state(Drilling::drillers);
	who.iter().filter(|one| pool.contains(&one.account)).count()
}

/// Fails unless none of these lost bond, place or, but for its decay, power.
fn unharmed(scene: &mut Scene, honest: &[Party], verifiers: &[Party], before: MicroUt) {
	assert_eq!(in_pool(scene, honest), honest.len(), "an honest driller lost its place");
	let after = drilled(scene, honest);
	assert!(after >= before - before / 100, "an honest driller lost power: {after} of {before}");
	scene.chain.state(|| {
		for one in honest {
			assert_eq!(Hashrate::bond(&one.account), BOND, "an honest driller lost of its bond");
		}
		for one in verifiers {
			let bond = Runtime::verifier(one.account.clone()).map(|view| view.bond);
			assert_eq!(bond, Some(BOND), "an honest verifier lost of its bond");
		}
	});
}

fn data_that_disappear() -> Outcome {
	let Stage { mut scene, voters, honest, verifiers } = stage(9);
	let attacker = scene.hostile("proposer");
	let bytes = vec![5; 20_000];
	scene.start();
	let mut facts = Vec::new();
	let template = trial(bytes.len() as u64);
	let nothing = propose(&mut scene, &attacker, template.clone(), &[], Mismatch::Majority, 60);
	facts.push(("a trial without data on chain", answer(nothing.map(drop))));
	// It is not the file of the specification, so nobody has that.
	let root = store(&mut scene, &attacker, &bytes);
	let project = propose(&mut scene, &attacker, template, &[root], Mismatch::Majority, 60)
		.expect("the chain does not see what it is");
	approve(&mut scene, &voters, project);
	scene.chain.state(|| {
		pallet_model_storage::Blobs::<Runtime>::mutate(root, |blob| {
			blob.as_mut().expect("it is there").expires = 0;
		});
	});
	let remove = pallet_model_storage::Call::remove { root };
	facts.push(("removing data of an active project", answer(scene.call(&attacker, remove))));
	// Drillers that chose it all the same, and daemons do not.
	enlist(&mut scene, &honest, &[project]);
	let before = drilled(&mut scene, &honest);
	let all: Vec<Party> = honest.iter().chain(&verifiers).cloned().collect();
	let begun = scene.height();
	while state(&mut scene, project) == ProjectState::Active {
		live(&mut scene, &all, 5, |_| Says::Nothing);
		let projects = vec![project].try_into().expect("it is one");
		// They try again and again.
		let choose = pallet_drilling::Call::choose { projects };
		for driller in &honest {
			let _ = scene.call(driller, choose.clone());
		}
		assert!(scene.height() < begun + 2_000, "nobody ends it");
	}
	assert_eq!(state(&mut scene, project), ProjectState::Suspended);
	unharmed(&mut scene, &honest, &verifiers, before);
	let ended = scene.height() - begun;
	facts.push(("suspended after", format!("{ended} blocks")));
	facts.push(("honest drillers and verifiers that lost something", "0".into()));
	Outcome { scene, facts }
}

fn false_alarm() -> Outcome {
	let Stage { mut scene, voters, honest, verifiers } = stage(4);
	let proposer = scene.honest("proposer");
	let own: Vec<Party> = (0..12).map(|_| scene.trainer(Side::Attacker)).collect();
	let bytes = vec![5; 20_000];
	let root = store(&mut scene, &proposer, &bytes);
	let template = trial(bytes.len() as u64);
	let project = propose(&mut scene, &proposer, template, &[root], Mismatch::Majority, 60)
		.expect("it is valid");
	approve(&mut scene, &voters, project);
	enlist(&mut scene, &honest, &[project]);
	enlist(&mut scene, &own, &[project]);
	scene.start();
	let before = drilled(&mut scene, &honest);
	let deposit = scene.held(&proposer.account);
	let all: Vec<Party> = honest.iter().chain(&own).chain(&verifiers).cloned().collect();
	let mut left = Vec::new();
	for _ in 0..6 {
		live(&mut scene, &all, 120, |party| match party.side {
			Side::Honest => Says::Result(1),
			Side::Attacker => Says::Nothing,
		});
		left.push(in_pool(&mut scene, &own).to_string());
	}
	let ended = state(&mut scene, project);
	assert!(matches!(ended, ProjectState::Active | ProjectState::Done), "it goes on: {ended:?}");
	assert_eq!(scene.held(&proposer.account), deposit);
	let view = scene.chain.state(|| Runtime::drilling_project(project)).expect("it is there");
	assert!(view.agreed > 0, "nothing of the project was computed");
	let after = drilled(&mut scene, &honest);
	assert!(after > before - before / 50, "the honest lost power: {after} of {before}");
	assert_eq!(in_pool(&mut scene, &honest), honest.len());
	let facts = vec![
		("of 12 drillers of the attacker are left in the pool, each 120 blocks", left.join(", ")),
		("units with a result", view.agreed.to_string()),
		("findings that the data are not to be had", view.missing.to_string()),
	];
	Outcome { scene, facts }
}

fn shortest_deadlines() -> Outcome {
	let Stage { mut scene, voters, honest, verifiers } = stage(4);
	let attacker = scene.hostile("proposer");
	scene.start();
	let whole = Template::Chain { size: 256, links: 10_700 };
	let needs = whole.measure().expect("it is valid").needs;
	let work = needs.work;
	assert!(work > 950_000, "{work}");
	let hasty = propose(&mut scene, &attacker, whole.clone(), &[], Mismatch::Majority, 3);
	let mut facts = vec![("1 ut in three blocks", answer(hasty.map(drop)))];
	let least = trainyard_protocol::drill::least_blocks(&needs);
	let project = propose(&mut scene, &attacker, whole, &[], Mismatch::Majority, least)
		.expect("that is time enough");
	facts.push(("1 ut has at least", format!("{least} blocks")));
	approve(&mut scene, &voters, project);
	// Drillers for whom it is too much choose something else.
	let other = Template::Chain { size: 256, links: 100 };
	let other =
		propose(&mut scene, &attacker, other, &[], Mismatch::Majority, 60).expect("it is valid");
	enlist(&mut scene, &honest, &[other]);
	let before = drilled(&mut scene, &honest);
	scene.run(100);
	unharmed(&mut scene, &honest, &verifiers, before);
	let handed = scene.chain.state(|| Runtime::drilling_project(project)).expect("it is there");
	assert_eq!(handed.open + handed.agreed + handed.abandoned, 0);
	facts.push(("units that somebody was given against its will", "0".into()));
	Outcome { scene, facts }
}

fn all_lose() -> Outcome {
	let Stage { mut scene, voters, honest, verifiers } = stage(6);
	let attacker = scene.hostile("proposer");
	let own: Vec<Party> = (0..6).map(|_| scene.trainer(Side::Attacker)).collect();
	scene.start();
	let chain = Template::Chain { size: 256, links: 100 };
	let harsh = propose(&mut scene, &attacker, chain.clone(), &[], Mismatch::AllLose, 60)
		.expect("it is valid");
	let fair =
		propose(&mut scene, &attacker, chain, &[], Mismatch::Majority, 60).expect("it is valid");
	scene.all(&voters, |_| pallet_drilling::Call::vote { project: harsh, aye: true }.into());
	approve(&mut scene, &voters, fair);
	enlist(&mut scene, &honest, &[fair]);
	enlist(&mut scene, &own, &[harsh]);
	let before = drilled(&mut scene, &honest);
	let all: Vec<Party> = honest.iter().chain(&own).chain(&verifiers).cloned().collect();
	let numbers: Vec<AccountId> = own.iter().map(|one| one.account.clone()).collect();
	live(&mut scene, &all, 200, |party| {
		// Each of the attacker's brings another result.
		let own = numbers.iter().position(|account| *account == party.account);
		Says::Result(own.map_or(1, |at| 2 + at as u8))
	});
	unharmed(&mut scene, &honest, &verifiers, before);
	let view = |scene: &mut Scene, id| {
		scene.chain.state(|| Runtime::drilling_project(id)).expect("it is on record")
	};
	let (harsh, fair) = (view(&mut scene, harsh), view(&mut scene, fair));
	assert!(fair.agreed > 0 && harsh.agreed == 0);
	let facts = vec![
		("units with a result where the majority holds", fair.agreed.to_string()),
		("where all lose", harsh.agreed.to_string()),
		("honest drillers that lost power", "0".into()),
	];
	Outcome { scene, facts }
}

fn squatted_projects() -> Outcome {
	const MONEY: Balance = 20_000 * TRY;
	let mut scene = Scene::new();
	let proposer = scene.honest("proposer");
	// Each pays for what it can; they hold as much together as one account needed for three squats of
	// all places before.
	let own: Vec<Party> =
		(0..64).map(|_| scene.party("proposer", Side::Attacker, 3_000 * TRY)).collect();
	scene.start();
	let chain = Template::Chain { size: 256, links: 100 };
	let (mut held, mut taken, mut refused) = (0, 0, None);
	for party in own {
		let open = scene.chain.state(|| pallet_drilling::OpenProjects::<Runtime>::get().len());
		let next = scene.chain.state(|| Drilling::deposit(40, open as u32, 0)).expect("it fits");
		if held + next > MONEY {
			break;
		}
		match propose(&mut scene, &party, chain.clone(), &[], Mismatch::Majority, 60) {
			Ok(_) => taken += 1,
			Err(error) => {
				refused = Some(error);
				break;
			}
		}
		held += next;
	}
	assert!(taken < 48, "{taken} places for {}", amount(held));
	let before = scene.held(&proposer.account);
	propose(&mut scene, &proposer, chain, &[], Mismatch::Majority, 60).expect("there is a place");
	let honest = scene.held(&proposer.account) - before;
	let facts = vec![
		("places of 64 that are taken", taken.to_string()),
		("on hold of the attacker", amount(held)),
		("and then", refused.map_or("its money is used up".into(), |e| answer(Err(e)))),
		("held of an honest proposer, and returned", amount(honest)),
	];
	Outcome { scene, facts }
}

fn condemned_and_withdrawn() -> Outcome {
	let Stage { mut scene, voters, .. } = stage(0);
	let attacker = scene.hostile("proposer");
	scene.start();
	let chain = Template::Chain { size: 256, links: 100 };
	let project =
		propose(&mut scene, &attacker, chain, &[], Mismatch::Majority, 60).expect("it is valid");
	scene.begin();
	for voter in &voters {
		let vote = pallet_drilling::Call::vote { project, aye: false };
		scene.send(voter, vote).expect("there is room").expect("it may vote");
	}
	scene.end();
	let back = pallet_drilling::Call::withdraw_project { project };
	let answered = answer(scene.call(&attacker, back));
	// The vote goes to its end, so that others could still save it.
	scene.run(REVIEW + 2);
	let kept = scene.held(&attacker.account);
	assert_eq!(kept, 0);
	let facts = vec![("taking it back", answered), ("what is left of its deposit", amount(kept))];
	Outcome { scene, facts }
}
