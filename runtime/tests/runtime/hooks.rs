//! What hooks take of a block, by the runtime's own weights.

use frame_support::{
	dispatch::GetDispatchInfo,
	storage::{with_transaction, TransactionOutcome},
	traits::OnInitialize,
	weights::Weight,
};
use sp_runtime::{DispatchError, Perbill};
use trainyard_runtime::{configs::system::MAX_BLOCK_WEIGHT, *};
use trainyard_sandbox::Chain;

/// Calls a hook as the next block would, without keeping what it does. (In the same block a
/// hook that has served it has less to do.)
fn weigh(hook: impl FnOnce() -> Weight) -> Weight {
	with_transaction(|| {
		System::set_block_number(System::block_number() + 1);
		TransactionOutcome::Rollback(Ok::<_, DispatchError>(hook()))
	})
	.expect("nothing fails")
}

macro_rules! initialize {
	($($pallet:ident)*) => {
		[$((stringify!($pallet), weigh(|| $pallet::on_initialize(System::block_number())))),*]
	};
}

/// How much of a block `weight` is, in millionths.
fn millionths(weight: Weight) -> u64 {
	Perbill::from_rational(weight.ref_time(), MAX_BLOCK_WEIGHT.ref_time()).deconstruct() as u64
		/ 1_000
}

/// With `--nocapture` it prints the table of docs/benchmarks.md.
#[test]
fn hooks_take_a_small_share_of_a_block() {
	let mut chain = Chain::development();
	// This is not a block that changes the session.
	chain.run(5);
	chain.begin();
	let (begun, hooks, inherent) = chain.state(|| {
		let begun = frame_system::BlockWeight::<Runtime>::get().total();
		let hooks =
			initialize!(Hashrate TaskMarket Submissions ModelStorage Verification Drilling Court Stints Federation Swarm Sets Tasks Reputation Bets);
		let inherents: [RuntimeCall; 2] = [
			pallet_timestamp::Call::set { now: 0 }.into(),
			pallet_finality::Call::note_final { height: 0 }.into(),
		];
		let limits = configs::system::RuntimeBlockWeights::get();
		let inherents = inherents.into_iter().map(|call| {
			let info = UncheckedExtrinsic::new_bare(call).get_dispatch_info();
			info.total_weight().saturating_add(limits.get(info.class).base_extrinsic)
		});
		let inherents = inherents.fold(Weight::zero(), |sum, weight| sum.saturating_add(weight));
		(begun, hooks, inherents)
	});
	chain.end();
	let ended = chain.state(|| frame_system::BlockWeight::<Runtime>::get().total());

	let limits = configs::system::RuntimeBlockWeights::get();
	// The weight of a block begins with its base, all hooks and the inherents.
	let all = begun.saturating_sub(limits.base_block).saturating_sub(inherent);
	let ours = hooks.iter().fold(Weight::zero(), |sum, (_, weight)| sum.saturating_add(*weight));
	let idle = ended.saturating_sub(begun);
	let rows = hooks.into_iter().chain([
		("pallets of the SDK", all.saturating_sub(ours)),
		("on_idle, all pallets", idle),
		("the block itself", limits.base_block),
		("the inherents", inherent),
		("an empty block", ended),
	]);
	println!("{:22} {:>10} {:>20}", "", "ms", "millionths of a block");
	for (name, weight) in rows {
		let ms = weight.ref_time() as f64 / 1e9;
		println!("{name:22} {ms:>10.3} {:>20}", millionths(weight));
	}

	assert!(ours.all_lte(all), "{ours} of {all}");
	assert!(millionths(ours) > 0, "the weights of hooks are counted");
	assert!(millionths(all.saturating_add(idle)) < 10_000, "hooks take 1 % of an idle block");
}
