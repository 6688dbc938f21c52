//! Periods that root may set.

use codec::Encode;
use frame_support::{assert_noop, assert_ok, traits::Get};
use sp_keyring::Sr25519Keyring::Bob;
use sp_runtime::DispatchError;
use trainyard_runtime::{
	configs::periods::{parameters::periods, *},
	*,
};
use trainyard_sandbox::{build, genesis_json, Chain};

fn set(value: periods::Parameters) -> RuntimeParameters {
	RuntimeParameters::Periods(value)
}

#[test]
fn the_defaults() {
	let mut chain = Chain::development();
	chain.state(|| {
		assert_eq!(RevealBlocks::get(), 600);
		assert_eq!(VerdictCommitBlocks::get(), 120);
		assert_eq!(VerdictRevealBlocks::get(), 30);
		assert_eq!(OpeningBlocks::get(), 600);
		assert_eq!(RescueBlocks::get(), 600);
		assert_eq!(MaxRescue::get(), 450 << 20, "half of what 300 blocks carry");
		assert_eq!(ReviewBlocks::get(), 7_200);
		assert_eq!(Patience::get(), presets::PATIENCE, "the presets are for trying things");
		assert_eq!(LateBlocks::get(), presets::LATE_BLOCKS);
	});
	let mut genesis = genesis_json(presets::DEVELOPMENT);
	let defaults = serde_json::to_value(RuntimeGenesisConfig::default()).unwrap();
	genesis["taskMarket"] = defaults["taskMarket"].clone();
	build(&genesis).execute_with(|| {
		assert_eq!(Patience::get(), 2_400, "four hours at 6 s");
		assert_eq!(OpeningBlocks::get(), 2_400, "nobody must be there for shorter");
		assert_eq!(LateBlocks::get(), 100_800, "a week at 6 s");
	});
}

#[test]
fn root_sets_each_alone_and_takes_it_back() {
	let mut chain = Chain::development();
	chain.state(|| {
		let root = RuntimeOrigin::root;
		let now = || {
			[
				RevealBlocks::get(),
				VerdictCommitBlocks::get(),
				VerdictRevealBlocks::get(),
				RescueBlocks::get(),
			]
		};
		let reveal = |n| set(periods::Parameters::Reveal(periods::Reveal, n));
		let commit = |n| set(periods::Parameters::VerdictCommit(periods::VerdictCommit, n));
		let verdict = |n| set(periods::Parameters::VerdictReveal(periods::VerdictReveal, n));
		let rescue = |n| set(periods::Parameters::Rescue(periods::Rescue, n));
		assert_ok!(Parameters::set_parameter(root(), reveal(Some(11))));
		assert_eq!(now(), [11, 120, 30, 600]);
		assert_ok!(Parameters::set_parameter(root(), commit(Some(12))));
		assert_eq!(now(), [11, 12, 30, 600]);
		assert_ok!(Parameters::set_parameter(root(), verdict(Some(13))));
		assert_eq!(now(), [11, 12, 13, 600]);
		assert_ok!(Parameters::set_parameter(root(), rescue(Some(14))));
		assert_eq!(now(), [11, 12, 13, 14]);
		assert_ok!(Parameters::set_parameter(root(), reveal(None)));
		assert_eq!(now(), [600, 12, 13, 14]);
	});
}

#[test]
fn nobody_else_sets_them() {
	let mut chain = Chain::development();
	chain.state(|| {
		let value = set(periods::Parameters::Rescue(periods::Rescue, Some(1)));
		let signed = RuntimeOrigin::signed(Bob.to_account_id());
		assert_noop!(Parameters::set_parameter(signed, value.clone()), DispatchError::BadOrigin);
		assert_noop!(
			Parameters::set_parameter(RuntimeOrigin::none(), value),
			DispatchError::BadOrigin
		);
	});
}

/// A bond that answers for a verdict must still be there when it is judged, however long
/// the periods are made.
#[test]
fn verifiers_unbond_behind_the_longest_verdict() {
	let mut chain = Chain::development();
	chain.state(|| {
		let commit = periods::Parameters::VerdictCommit(periods::VerdictCommit, Some(u32::MAX));
		let reveal = periods::Parameters::VerdictReveal(periods::VerdictReveal, Some(u32::MAX));
		assert_ok!(Parameters::set_parameter(RuntimeOrigin::root(), set(commit)));
		assert_ok!(Parameters::set_parameter(RuntimeOrigin::root(), set(reveal)));
		let unbonding = <Runtime as pallet_verification::Config>::UnbondingBlocks::get();
		assert!(unbonding > VerdictCommitBlocks::get() + VerdictRevealBlocks::get());
	});
}

/// A bond must not vote on a project, leave, and vote again under another name.
#[test]
fn no_review_is_longer_than_trainers_unbond() {
	let mut chain = Chain::development();
	chain.state(|| {
		let review = periods::Parameters::Review(periods::Review, Some(u32::MAX));
		assert_ok!(Parameters::set_parameter(RuntimeOrigin::root(), set(review)));
		let unbonding = <Runtime as pallet_hashrate::Config>::UnbondingBlocks::get();
		assert!(ReviewBlocks::get() < unbonding);
	});
}

/// Whoever can make it longer than a week holds every job.
#[test]
fn patience_has_an_end() {
	use configs::periods::parameters::court;
	let mut chain = Chain::development();
	chain.state(|| {
		for (asked, given) in [(0, 3), (3, 3), (2_400, 2_400), (u32::MAX, 7 * 14_400)] {
			let parameter = court::Parameters::Patience(court::Patience, Some(asked));
			let value = RuntimeParameters::Court(parameter);
			assert_eq!(value.encode()[..3], [2, 0, 1]);
			assert_ok!(Parameters::set_parameter(RuntimeOrigin::root(), value));
			assert_eq!(Patience::get(), given);
		}
	});
}

/// A trainer has as much time to open what it forced as to reveal its result, and as machines may be away,
/// whatever root makes of these.
#[test]
fn who_opens_has_the_longest_of_two_periods() {
	use configs::periods::parameters::court;
	let mut chain = Chain::development();
	chain.state(|| {
		type Opening = <Runtime as pallet_verification::Config>::OpeningBlocks;
		for (reveal, patience, given) in
			[(15, 30, 30), (40, 30, 40), (1, 1, 3), (3, u32::MAX, 7 * 14_400)]
		{
			let patience = court::Parameters::Patience(court::Patience, Some(patience));
			let reveal = set(periods::Parameters::Reveal(periods::Reveal, Some(reveal)));
			for value in [RuntimeParameters::Court(patience), reveal] {
				assert_ok!(Parameters::set_parameter(RuntimeOrigin::root(), value));
			}
			assert_eq!(Opening::get(), given);
			assert!(Opening::get() >= RevealBlocks::get().max(Patience::get()));
		}
	});
}

/// Deposits are not locked for longer than ended jobs are kept.
#[test]
fn late_proof_has_an_end() {
	use configs::periods::parameters::court;
	let mut chain = Chain::development();
	chain.state(|| {
		for (asked, given) in [(0, 3), (60, 60), (u32::MAX, 7 * 14_400)] {
			let parameter = court::Parameters::LateProof(court::LateProof, Some(asked));
			let value = RuntimeParameters::Court(parameter);
			assert_eq!(value.encode()[..3], [2, 1, 1]);
			assert_ok!(Parameters::set_parameter(RuntimeOrigin::root(), value));
			assert_eq!(LateBlocks::get(), given);
			assert!(given < configs::market::JobRetention::get());
		}
	});
}

/// No time at all would cost every trainer its deposit; endless time would lock the money
/// of whoever waits for somebody who vanished.
#[test]
fn no_setting_makes_a_period_useless() {
	let mut chain = Chain::development();
	chain.state(|| {
		for (asked, given) in [(0, 3), (1, 3), (3, 3), (u32::MAX, 7 * 14_400)] {
			let value = set(periods::Parameters::Rescue(periods::Rescue, Some(asked)));
			assert_ok!(Parameters::set_parameter(RuntimeOrigin::root(), value));
			assert_eq!(RescueBlocks::get(), given);
		}
	});
}

/// Root may let the chain carry less, and never more than blocks do in the time for it. Of states that are
/// larger relays are asked: such a job is posted, and its escrow has what they cost.
#[test]
fn what_the_chain_carries_has_a_most() {
	use trainyard_program::{needs::Needs, spec::JobSpec};
	use trainyard_protocol::{fees, job::Terms, pieces::Piece, relay};
	let mut chain = Chain::development();
	let set_to = |bytes| {
		let value = set(periods::Parameters::LargestRescue(periods::LargestRescue, bytes));
		assert_ok!(Parameters::set_parameter(RuntimeOrigin::root(), value));
		MaxRescue::get()
	};
	let mut spec = JobSpec::example();
	spec.dataset.bytes = 40_000;
	let spec = spec.check().unwrap();
	let terms = Terms {
		price_per_ut: TRY,
		replicas: 2,
		verifiers: 3,
		audit_segments: 1,
		audit_fee: TRY / 10,
		apply_blocks: 20,
		training_blocks: 100,
		machine: Default::default(),
		undecided_percent: 20,
		keep_every: 1,
		lottery: None,
	};
	let needs = Needs::of(&spec);
	let storage = || TaskMarket::checked_quote(&spec, &terms).unwrap().storage;
	chain.state(|| {
		assert_eq!(set_to(Some(u64::MAX)), 450 << 20);
		assert_eq!(set_to(None), 450 << 20);
		let half = |room| {
			let stored = needs.lacking(terms.replayed_by_all(spec.segments()), room, 1).stored;
			2 * fees::half_of_storing(stored, fees::STORAGE_BYTE).unwrap()
		};
		let of =
			|piece, bytes| 2 * relay::Fees::of(fees::RELAY_FEE, 0).escrowed(&piece, bytes).unwrap();
		let relays = |bytes| of(Piece::State(0), bytes);
		assert_eq!(relays(needs.checkpoint), 123 * TRY);
		let samples = of(Piece::Samples, needs.all_samples(1));
		assert_eq!(samples, 123 * TRY / 10);
		let half = |room| half(room) + samples;
		assert_eq!(storage(), half(450 << 20));
		assert!(needs.rows > needs.checkpoint);
		assert_eq!(set_to(Some(needs.rows)), needs.rows);
		assert_eq!(storage(), half(needs.rows), "all rows can be stored");
		let of_rows = relays(needs.rows);
		assert_eq!(set_to(Some(needs.checkpoint)), needs.checkpoint);
		assert_eq!(storage(), half(needs.checkpoint) + of_rows, "each state can be stored");
		assert_eq!(set_to(Some(needs.checkpoint - 1)), needs.checkpoint - 1);
		let stored = |room| half(room) - samples;
		assert!(
			stored(needs.checkpoint - 1) * 2 < stored(needs.checkpoint),
			"no states are stored"
		);
		assert_eq!(storage(), half(needs.checkpoint - 1) + of_rows + relays(needs.checkpoint));
		assert_eq!(set_to(Some(needs.files)), needs.files);
		let refused = TaskMarket::checked_quote(&spec, &terms).unwrap_err();
		let named = pallet_task_market::Error::<Runtime>::RescueTooLarge;
		assert_eq!(DispatchError::from(refused), named.into());
	});
}

#[test]
fn the_encoding_of_the_parameters() {
	let value = set(periods::Parameters::LargestRescue(periods::LargestRescue, Some(5)));
	assert_eq!(value.encode(), [0, 6, 1, 5, 0, 0, 0, 0, 0, 0, 0]);
	for (value, index) in [
		(periods::Parameters::Reveal(periods::Reveal, Some(5)), 0),
		(periods::Parameters::VerdictCommit(periods::VerdictCommit, Some(5)), 1),
		(periods::Parameters::VerdictReveal(periods::VerdictReveal, Some(5)), 2),
		(periods::Parameters::Rescue(periods::Rescue, Some(5)), 3),
		(periods::Parameters::Review(periods::Review, Some(5)), 4),
	] {
		assert_eq!(set(value).encode(), [0, index, 1, 5, 0, 0, 0]);
	}
}
