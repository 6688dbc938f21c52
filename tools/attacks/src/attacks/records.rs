//! Records that stay in the state.

use crate::{
	jobs::terms,
	report::{amount, Attack, Outcome},
	scene::{answer, Scene, Side, BOND},
};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	drill::{Mismatch, Template},
	job::BlockNumber,
	Text,
};
use trainyard_runtime::{api::runtime_decl_for_trainyard_api::TrainyardApi, configs, Runtime};

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "records-of-jobs",
		source: "chain-market L4, chain-consensus M-3",
		tries: "posts jobs and takes them back, to leave a record of each for a fee",
		rule: "a record is paid for by a deposit until it is removed",
		left: None,
		run: records_of_jobs,
	},
	Attack {
		name: "records-of-projects",
		source: "chain-consensus M-3",
		tries: "proposes projects and takes them back, with one deposit for all of them",
		rule: "a project's deposit returns when its record is removed",
		left: None,
		run: records_of_projects,
	},
];

fn records_of_jobs() -> Outcome {
	const JOBS: usize = 20;
	let mut scene = Scene::new();
	let attacker = scene.hostile("submitter");
	scene.verifiers(Side::Honest, 3, BOND);
	scene.start();
	let mut jobs = Vec::new();
	for _ in 0..JOBS {
		let job = scene.post(&attacker, &JobSpec::noisy_example(), &terms()).expect("it is valid");
		let cancel = pallet_task_market::Call::cancel { job };
		scene.call(&attacker, cancel).expect("nobody applied");
		jobs.push(job);
	}
	let held = scene.held(&attacker.account);
	assert!(held > 0, "records that nothing is held for");
	for job in &jobs {
		let forget = pallet_task_market::Call::forget { job: *job };
		scene.call(&attacker, forget).expect("it is nobody else's");
	}
	let left = scene.chain.state(|| pallet_task_market::Jobs::<Runtime>::iter().count());
	assert_eq!((left, scene.held(&attacker.account)), (0, 0));
	let spent = scene.fees_of(&attacker.account);
	let facts = vec![
		("on hold for 20 records", amount(held)),
		("posting, taking back and removing one costs", amount(spent / JOBS as u128)),
		("records left when the deposits are back", left.to_string()),
	];
	Outcome { scene, facts }
}

fn records_of_projects() -> Outcome {
	const PROJECTS: usize = 5;
	const MONTH: BlockNumber = 30 * configs::market::DAYS;
	let mut scene = Scene::new();
	let attacker = scene.hostile("proposer");
	scene.start();
	let template = (1..)
		.map(|passes| Template::Calibration { passes })
		.find(|template| template.validate().is_ok())
		.expect("some number is work enough");
	for _ in 0..PROJECTS {
		let propose = pallet_drilling::Call::propose {
			title: Text::new("nothing").expect("it is short"),
			template: template.clone(),
			data: Default::default(),
			rule: Mismatch::Majority,
			replicas: 3,
			units: 10,
			commit_blocks: 20,
		};
		scene.call(&attacker, propose).expect("it is valid");
		let project =
			scene.chain.state(Runtime::drilling_open_projects).last().expect("it is there").id;
		let back = pallet_drilling::Call::withdraw_project { project };
		scene.call(&attacker, back).expect("it may");
	}
	let held = scene.held(&attacker.account);
	let projects = || Runtime::drilling_projects(None, 100);
	let known = scene.chain.state(projects);
	let clear = pallet_drilling::Call::clear { project: known[0].id };
	let cleared = answer(scene.call(&attacker, clear));
	let after = scene.held(&attacker.account);
	// The clock removes the others after a month.
	scene.chain.leap(MONTH);
	let mut left = PROJECTS;
	// It looks at every height that was leapt over, some thousands in a block.
	for _ in 0..200 {
		scene.run(1);
		left = scene.chain.state(projects).len();
		if left == 0 {
			break;
		}
	}
	assert_eq!((left, scene.held(&attacker.account)), (0, 0));
	let facts = vec![
		("on hold for 5 records", amount(held)),
		("removing one at once", format!("{cleared}, and {} come back", amount(held - after))),
		("records left after a month", left.to_string()),
	];
	Outcome { scene, facts }
}
