//! Stints over the real pallets, through calls and the runtime API only.

use frame_support::{assert_ok, traits::fungible::Mutate};
use sp_keyring::Sr25519Keyring::{self, *};
use trainyard_protocol::{
	merkle,
	seats::Resources,
	stint::{self, ReportPhase, ReportView, Samples, Siblings},
	views::{Hardware, TrainerView},
	H256,
};
use trainyard_runtime::{api::runtime_decl_for_trainyard_api::TrainyardApi, *};
use trainyard_sandbox::Chain;

const VERIFIERS: [Sr25519Keyring; 3] = [Dave, Eve, Ferdie];
const BOND: Balance = 100 * TRY;
const SALT: [u8; 32] = [5; 32];
/// Laps of each report.
const LAPS: u32 = 1_000;

/// A chain with a driller, //Bob, in a stint, and three verifiers.
fn chain() -> Chain {
	let mut chain = Chain::development();
	chain.run(1);
	let hardware = Hardware::default();
	assert_ok!(chain.call(Bob, pallet_hashrate::Call::register { bond: BOND, hardware }));
	for who in VERIFIERS {
		verify(&mut chain, who);
	}
	assert_ok!(chain.call(Bob, pallet_stints::Call::begin {}));
	chain
}

/// Makes somebody a verifier.
fn verify(chain: &mut Chain, who: Sr25519Keyring) {
	let capacity = Resources { work: 10_000_000, memory_mib: 8_192, disk_mib: 10_240 };
	let register = pallet_verification::Call::register { bond: BOND, capacity };
	assert_ok!(chain.call(who, register));
	let key = who.public();
	assert_ok!(chain.call(who, pallet_verification::Call::set_vrf_key { key }));
}

/// Who has something to do in a check.
fn sitting(chain: &mut Chain) -> Vec<Sr25519Keyring> {
	let owes = |who: &Sr25519Keyring| {
		!chain.state(|| Runtime::stint_checks(who.to_account_id())).is_empty()
	};
	[Alice, Dave, Eve, Ferdie, One, Two].into_iter().filter(owes).collect()
}

/// Results of laps that nobody computed.
fn results(of: u64) -> Vec<H256> {
	(0..LAPS).map(|i| stint::lap_seed(&H256::from_low_u64_be(of), i)).collect()
}

/// Reports these results as soon as that can be, and waits until they are drawn for a check.
fn checked(chain: &mut Chain, results: &[H256]) -> ReportView<AccountId> {
	let bob = Bob.to_account_id();
	let view = chain.state(|| Runtime::stint(bob.clone())).unwrap();
	while chain.state(System::block_number) < view.from {
		chain.run(1);
	}
	let leaves: Vec<H256> = results.iter().map(stint::leaf).collect();
	let (number, root) = (view.number, merkle::root(&leaves));
	let report = pallet_stints::Call::report { number, root, laps: LAPS };
	assert_ok!(chain.call(Bob, report));
	for _ in 0..60 {
		let view = chain.state(|| Runtime::stint_report(bob.clone())).expect("it is pending");
		if view.phase == ReportPhase::Checking {
			return view;
		}
		chain.run(1);
	}
	panic!("a newcomer's report is checked");
}

/// Lets all three verifiers find `found`, and //Bob open `opened`.
fn check(chain: &mut Chain, view: &ReportView<AccountId>, opened: Option<&[H256]>, found: &[H256]) {
	check_by(chain, &VERIFIERS, view, opened, found);
}

/// Lets these verifiers find `found`, and //Bob open `opened`.
fn check_by(
	chain: &mut Chain,
	verifiers: &[Sr25519Keyring],
	view: &ReportView<AccountId>,
	opened: Option<&[H256]>,
	found: &[H256],
) {
	let genesis = chain.state(|| System::block_hash(0));
	let of = |results: &[H256]| -> Vec<H256> {
		view.samples.iter().map(|at| results[*at as usize]).collect()
	};
	let digest = stint::digest(&of(found));
	for who in verifiers.iter().copied() {
		let told = chain.state(|| Runtime::stint_checks(who.to_account_id()));
		assert_eq!((told.len(), told[0].id, told[0].committed), (1, view.id, false));
		let commitment = stint::commitment(&genesis, view.id, &who.to_account_id(), &digest, &SALT);
		assert_ok!(chain.call(who, pallet_stints::Call::check { report: view.id, commitment }));
	}
	chain.run(1);
	for who in verifiers.iter().copied() {
		let reveal = pallet_stints::Call::check_reveal { report: view.id, digest, salt: SALT };
		assert_ok!(chain.call(who, reveal));
	}
	if let Some(results) = opened {
		let leaves: Vec<H256> = results.iter().map(stint::leaf).collect();
		let open = pallet_stints::Call::open {
			report: view.id,
			results: Samples::truncate_from(of(results)),
			siblings: Siblings::truncate_from(merkle::proof_many(&leaves, &view.samples).unwrap()),
		};
		assert_ok!(chain.call(Bob, open));
	}
	chain.run(2);
}

fn bob(chain: &mut Chain) -> TrainerView<AccountId> {
	chain.state(|| Runtime::trainer(Bob.to_account_id())).unwrap()
}

#[test]
fn a_stint_is_reported_checked_and_credited() {
	let mut chain = chain();
	let mine = results(1);
	let free = chain.state(|| Balances::free_balance(Dave.to_account_id()));
	let view = checked(&mut chain, &mine);
	assert_eq!((view.laps, view.samples.len()), (LAPS, 4));
	check(&mut chain, &view, Some(&mine), &mine);
	let power = bob(&mut chain).drilling_effective as f64;
	let exact = stint::work(LAPS) as f64 * core::f64::consts::LN_2 / 7.0;
	assert!((power / exact - 1.0).abs() < 1e-4, "{power} and not {exact}");
	assert!(chain.state(|| Runtime::stint_checks(Dave.to_account_id())).is_empty());
	// Fees of two transactions are less than what a check brings.
	assert!(chain.state(|| Balances::free_balance(Dave.to_account_id())) > free);

	// The second half as likely, since there is as much to lose as it claims twice.
	let next = chain.state(|| Runtime::stint(Bob.to_account_id())).unwrap();
	assert_eq!((next.number, next.report), (1, None));
	let stock = next.stock as f64 / stint::work(LAPS) as f64;
	assert!((stock - 1.0).abs() < 0.01, "{stock}");
}

#[test]
fn a_made_up_report_costs_bond_and_power() {
	let mut chain = chain();
	let mine = results(1);
	let view = checked(&mut chain, &mine);
	check(&mut chain, &view, Some(&mine), &mine);
	assert!(bob(&mut chain).drilling_effective > 0);
	// Three others than the first three.
	for who in [Alice, One, Two] {
		let account = who.to_account_id();
		chain.state(|| <Balances as Mutate<AccountId>>::mint_into(&account, 200 * TRY).unwrap());
		verify(&mut chain, who);
	}
	chain.run(20);
	let (made_up, truth) = (results(2), results(3));
	let view = checked(&mut chain, &made_up);
	let first = sitting(&mut chain);
	assert_eq!(first.len(), 3);
	check_by(&mut chain, &first, &view, Some(&made_up), &truth);
	// They doubt it, and the others decide.
	let view = (0..60)
		.find_map(|_| {
			chain.run(1);
			let view = chain.state(|| Runtime::stint_report(Bob.to_account_id()))?;
			(view.phase == ReportPhase::Checking).then_some(view)
		})
		.expect("a second committee");
	assert!(view.opened);
	let second = sitting(&mut chain);
	assert!(second.len() == 3 && second.iter().all(|who| !first.contains(who)));
	check_by(&mut chain, &second, &view, None, &truth);
	let view = bob(&mut chain);
	assert_eq!((view.bond, view.drilling_effective), (BOND / 2, 0));
}

/// Who does not open what is drawn loses the power that it has.
#[test]
fn silence_costs_power() {
	let mut chain = chain();
	let mine = results(1);
	let view = checked(&mut chain, &mine);
	check(&mut chain, &view, Some(&mine), &mine);
	let view = checked(&mut chain, &results(2));
	check(&mut chain, &view, None, &results(2));
	chain.run(configs::stints::SampleBlocks::get());
	// A half of what it should answer with was covered by power.
	let (power, bond) = (bob(&mut chain).drilling_effective, bob(&mut chain).bond);
	assert!(power == 0 && bond.abs_diff(BOND / 4 * 3) < TRY, "{power} {bond}");
	assert_ok!(chain.call(Bob, pallet_stints::Call::retire {}));
}

/// Bonds answer for a report until it is settled, those of trainers and of verifiers, however long that
/// takes: both committees may be waited for, and the first waits for the driller.
#[test]
fn bonds_outlast_the_longest_check() {
	let verdict = <Runtime as pallet_stints::Config>::CheckBlocks::get();
	let open = <Runtime as pallet_stints::Config>::OpenBlocks::get().max(pallet_stints::MAX_OPEN);
	let committee = pallet_stints::MAX_CHECK_WAIT + 2 * verdict;
	let longest = 2 * committee + open + 100;
	let unbonding = <Runtime as pallet_hashrate::Config>::UnbondingBlocks::get();
	assert!(longest < unbonding, "{longest} against {unbonding}");
	// A seat of the first committee is judged when the second has decided.
	let seated = verdict + open + committee + 100;
	let verifiers = <Runtime as pallet_verification::Config>::UnbondingBlocks::get();
	assert!(seated < verifiers, "{seated} against {verifiers}");
}
