//! Drilling over the real pallets, through calls and the runtime API only.

use frame_support::{assert_ok, traits::Get};
use sp_keyring::Sr25519Keyring::{self, Alice, Bob, Charlie, Dave, Eve, Ferdie};
use trainyard_protocol::{
	drill::{
		commitment, AssignmentView, Mismatch, ProjectId, ProjectState, ProjectView, Template,
		UnitPhase, UnitResult,
	},
	seats::Resources,
	views::{Hardware, TrainerView},
	Text, H256,
};
use trainyard_runtime::{
	api::runtime_decl_for_trainyard_api::TrainyardApi,
	configs::periods::{parameters::periods, ReviewBlocks, RuntimeParameters},
	presets::GENESIS_BOND,
	*,
};
use trainyard_sandbox::Chain;
use trainyard_traits::Drillers;

const DRILLERS: [Sr25519Keyring; 2] = [Charlie, Dave];
const VERIFIERS: [Sr25519Keyring; 3] = [Alice, Eve, Ferdie];
const BOND: Balance = 100 * TRY;
const SALT: [u8; 32] = [9; 32];
/// Drilling work that the drillers have done before.
const DRILLED: u64 = 10_000_000_000;

/// The least calibration that is work enough.
fn template() -> Template {
	(1..).map(|passes| Template::Calibration { passes }).find(|t| t.validate().is_ok()).unwrap()
}

fn project(chain: &mut Chain, id: ProjectId) -> ProjectView<AccountId> {
	chain.state(|| Runtime::drilling_project(id)).expect("it is on record")
}

fn trainer(chain: &mut Chain, who: Sr25519Keyring) -> TrainerView<AccountId> {
	chain.state(|| Runtime::trainer(who.to_account_id())).expect("it is a trainer")
}

/// A chain with two drillers, three verifiers, and an approved project of `units` units.
fn with_project(units: u32) -> (Chain, ProjectId) {
	let mut chain = Chain::development();
	chain.run(1);
	chain.state(|| {
		let review = periods::Parameters::Review(periods::Review, Some(4));
		Parameters::set_parameter(RuntimeOrigin::root(), RuntimeParameters::Periods(review))
			.unwrap();
		assert_eq!(ReviewBlocks::get(), 4);
	});
	for who in DRILLERS {
		let hardware = Hardware::default();
		assert_ok!(chain.call(who, pallet_hashrate::Call::register { bond: BOND, hardware }));
	}
	for who in VERIFIERS {
		let capacity = Resources { work: 10_000_000, memory_mib: 8_192, disk_mib: 10_240 };
		let register = pallet_verification::Call::register { bond: BOND, capacity };
		assert_ok!(chain.call(who, register));
		let key = who.public();
		assert_ok!(chain.call(who, pallet_verification::Call::set_vrf_key { key }));
	}
	let propose = pallet_drilling::Call::propose {
		title: Text::new("how fast are we?").unwrap(),
		template: template(),
		data: Default::default(),
		rule: Mismatch::Majority,
		replicas: 2,
		units,
		commit_blocks: 20,
	};
	assert_ok!(chain.call(Bob, propose));
	let id = chain.state(Runtime::drilling_open_projects).last().expect("it was proposed").id;
	assert_eq!(project(&mut chain, id).state, ProjectState::Review);
	assert_ok!(chain.call(Alice, pallet_drilling::Call::vote { project: id, aye: true }));
	chain.run(5);
	let view = project(&mut chain, id);
	assert_eq!((view.state, view.ayes), (ProjectState::Active, GENESIS_BOND));
	assert_eq!(view.difficulty, template().difficulty().unwrap());
	for who in DRILLERS {
		assert_ok!(chain
			.call(who, pallet_drilling::Call::enlist { projects: vec![id].try_into().unwrap() }));
		// Who has nothing to lose is always recomputed.
		chain.state(|| Hashrate::credit_drilling(&who.to_account_id(), DRILLED));
	}
	(chain, id)
}

/// Makes blocks until the chain reports to `who` that its unit is in this phase; returns that
/// report.
fn until(chain: &mut Chain, who: Sr25519Keyring, phase: UnitPhase) -> AssignmentView<AccountId> {
	for _ in 0..60 {
		let view = chain.state(|| Runtime::drilling_assignment(who.to_account_id()));
		if let Some(view) = view.filter(|view| view.phase == phase) {
			return view;
		}
		chain.run(1);
	}
	panic!("no {phase:?} for {who:?} in 60 blocks");
}

fn sealed(chain: &mut Chain, who: Sr25519Keyring, id: u64, result: &UnitResult) -> H256 {
	let genesis = chain.state(|| System::block_hash(0));
	commitment(&genesis, id, &who.to_account_id(), result, &SALT)
}

/// Lets both drillers agree on `result` in the next unit; returns what the chain reported of it.
fn agree(chain: &mut Chain, result: UnitResult) -> AssignmentView<AccountId> {
	let view = until(chain, Charlie, UnitPhase::Commit);
	for who in DRILLERS {
		let commitment = sealed(chain, who, view.id, &result);
		let assignment = view.id;
		assert_ok!(chain.call(who, pallet_drilling::Call::commit { assignment, commitment }));
	}
	until(chain, Charlie, UnitPhase::Reveal);
	for who in DRILLERS {
		let reveal = pallet_drilling::Call::reveal { assignment: view.id, result, salt: SALT };
		assert_ok!(chain.call(who, reveal));
	}
	view
}

#[test]
fn a_project_is_proposed_voted_on_computed_and_credited() {
	let (mut chain, id) = with_project(2);
	let work = project(&mut chain, id).difficulty;
	assert_eq!(chain.state(Runtime::drilling_pool).len(), 2);
	let mut seeds = Vec::new();
	for unit in 0..2u32 {
		let result = UnitResult { state: H256::repeat_byte(1 + unit as u8), score: None };
		let view = agree(&mut chain, result);
		assert_eq!((view.project, view.index, view.members.len()), (id, unit, 2));
		seeds.push(view.seed);
		for _ in 0..10 {
			if project(&mut chain, id).agreed > unit {
				break;
			}
			chain.run(1);
		}
		let told = chain.state(|| Runtime::drilling_results(id, unit.checked_sub(1), 10));
		assert_eq!(told.len(), 1, "the seed of this test draws no recomputation here");
		assert_eq!((told[0].index, told[0].result, told[0].replicas), (unit, result, 2));
	}
	assert_ne!(seeds[0], seeds[1]);
	let view = project(&mut chain, id);
	assert_eq!((view.state, view.agreed, view.abandoned), (ProjectState::Done, 2, 0));
	for who in DRILLERS {
		// Halves of two units.
		let total = trainer(&mut chain, who).drilling_total;
		assert_eq!(total, u128::from(DRILLED + work / 2 * 2));
	}
}

/// Two who always agree on garbage own all seats here; sooner or later a unit is recomputed.
#[test]
fn garbage_is_found_by_recomputation_and_costs_bond_and_power() {
	let (mut chain, id) = with_project(200);
	let garbage = UnitResult { state: H256::repeat_byte(6), score: None };
	let truth = UnitResult { state: H256::repeat_byte(7), score: None };
	let mut computed = 0;
	let (check, verifiers) = 'units: loop {
		assert!(computed < 150, "150 units and none was recomputed");
		let before = project(&mut chain, id).agreed;
		agree(&mut chain, garbage);
		computed += 1;
		for _ in 0..10 {
			let drawn: Vec<_> = VERIFIERS
				.into_iter()
				.filter_map(|who| {
					let told = chain.state(|| Runtime::drilling_check(who.to_account_id()));
					told.first().cloned()
				})
				.collect();
			if let Some(check) = drawn.first() {
				break 'units (check.clone(), drawn.len());
			}
			if project(&mut chain, id).agreed > before {
				continue 'units;
			}
			chain.run(1);
		}
		panic!("neither credited nor recomputed");
	};
	assert_eq!(verifiers, 3);
	assert_eq!(check.phase, UnitPhase::Commit);
	// What they were credited for garbage until then.
	let credited = project(&mut chain, id).agreed;
	assert_eq!(credited, computed - 1);
	assert!(credited == 0 || trainer(&mut chain, Charlie).drilling_effective > 0);
	let assignment = check.id;
	for who in VERIFIERS {
		let commitment = sealed(&mut chain, who, assignment, &truth);
		assert_ok!(chain.call(who, pallet_drilling::Call::check { assignment, commitment }));
	}
	chain.run(1);
	let before = chain.state(|| Balances::free_balance(configs::money::Jackpot::get()));
	for who in VERIFIERS {
		let reveal = pallet_drilling::Call::check_reveal { assignment, result: truth, salt: SALT };
		assert_ok!(chain.call(who, reveal));
	}
	chain.run(1);
	for who in DRILLERS {
		let view = trainer(&mut chain, who);
		assert_eq!((view.bond, view.drilling_effective), (BOND / 2, 0));
	}
	let after = chain.state(|| Balances::free_balance(configs::money::Jackpot::get()));
	assert!(after >= before + BOND - TRY, "two halves of a bond, less three fees: {after}");
	assert_eq!(project(&mut chain, id).agreed, credited);
	// They leave the pool after the unit that they were given meanwhile, and half a bond is too
	// little to come back.
	chain.run(30);
	assert!(chain.state(Runtime::drilling_pool).is_empty());
	let again = chain
		.call(Charlie, pallet_drilling::Call::enlist { projects: vec![id].try_into().unwrap() })
		.map_err(|e| e.stripped());
	let small: sp_runtime::DispatchError = pallet_drilling::Error::<Runtime>::NotATrainer.into();
	assert_eq!(again, Err(small.stripped()));
}

/// A bond answers for a unit until it is settled, however long that takes.
#[test]
fn trainers_unbond_behind_the_longest_unit() {
	let commit = <Runtime as pallet_drilling::Config>::MaxCommitBlocks::get();
	let reveal = <Runtime as pallet_drilling::Config>::RevealBlocks::get();
	let check = <Runtime as pallet_drilling::Config>::CheckBlocks::get().max(commit);
	// After each of these the clock comes within some blocks, and seeds take some more.
	// Verifiers may be busy for a while before the recomputation.
	let wait = pallet_drilling::MAX_CHECK_WAIT;
	let longest = commit + reveal + wait + check + reveal + 100;
	let unbonding = <Runtime as pallet_hashrate::Config>::UnbondingBlocks::get();
	assert!(longest < unbonding, "{longest} against {unbonding}");
	let verifiers = <Runtime as pallet_verification::Config>::UnbondingBlocks::get();
	assert!(check + reveal + 100 < verifiers);
}

/// Whoever wants every place for projects holds far more than who wants one.
#[test]
fn squatting_every_place_is_dear() {
	use pallet_drilling::Config as Drilling;
	let places: u32 = <Runtime as Drilling>::MaxProjects::get();
	let each: u32 = <Runtime as Drilling>::MaxOwnProjects::get();
	let deposit = |open, own| pallet_drilling::Pallet::<Runtime>::deposit(0, open, own).unwrap();
	let all =
		|accounts: u32| -> Balance { (0..places).map(|open| deposit(open, open / accounts)).sum() };
	assert_eq!(deposit(0, 0), 100 * TRY);
	assert_eq!(all(places), 204_000 * TRY);
	assert!(all(places / each) > 2 * all(places), "{}", all(places / each));
}
