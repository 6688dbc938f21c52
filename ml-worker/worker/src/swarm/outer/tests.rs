//! Peers on one chain in memory, which stands still until it is told to go on.

use super::steps::{Frame, Kept};
use crate::swarm::{
	learner::plain,
	peer::{Options, Peer, PeerError, Turn},
	testing::{account, drive, open, options, slices, template, Memory, Seat, RULE},
};
use std::{path::Path, sync::Arc};
use trainyard_client::swarm::Contribution;
use trainyard_engine::{Engine, TensorMap};
use trainyard_mixing::{Counted, Residual, Update};
use trainyard_program::lower::OPTIMIZER_PREFIX;
use trainyard_protocol::{
	swarm::{counted, Averaging, OuterRule, Payer},
	H256,
};
use trainyard_transport::Shelf;

fn chain() -> Memory {
	chain_with(false)
}

fn chain_with(private: bool) -> Memory {
	let chain = Memory::new(Payer::Budget, private);
	{
		let mut world = chain.world();
		world.view.plan.averaging = Averaging::Outer(RULE);
		world.view.seed = Some(H256::repeat_byte(0x5e));
		world.stands = true;
	}
	chain
}

fn always(n: u8, data: Vec<std::path::PathBuf>, replay: f64) -> Options {
	Options { replay, ..options(n, data) }
}

async fn peers(chain: &Memory, dir: &Path, count: u8, replay: f64) -> Vec<Peer<Seat>> {
	let mut all = Vec::new();
	for n in 1..=count {
		let data = slices(dir, n, 1);
		all.push(open(chain.seen_by(n), dir, always(n, data, replay)).await);
	}
	all
}

/// Goes on to the first block of the training of a step, or of its vouching.
fn to(chain: &Memory, step: u32, trains: bool) {
	let mut world = chain.world();
	world.height = world.view.began + step * RULE.blocks() + if trains { 0 } else { RULE.train };
	assert_eq!((world.moment().step, world.moment().trains), (step, trains));
}

fn has_contributed(chain: &Memory, step: u32, count: usize) -> bool {
	chain.world().steps.get(&step).is_some_and(|all| all.len() >= count)
}

/// Whether all that contributed vouch for this many.
fn all_vouch(chain: &Memory, step: u32, bits: u64) -> bool {
	let world = chain.world();
	let Some(all) = world.steps.get(&step) else { return false };
	all.iter().all(|one| one.vouches == Some(bits))
}

async fn one_step(chain: &Memory, peers: &mut [Peer<Seat>], step: u32) -> Vec<(usize, Turn)> {
	let count = peers.len();
	to(chain, step, true);
	let mut turns = drive(peers, |_, _| has_contributed(chain, step, count)).await;
	to(chain, step, false);
	let bits = (1 << count) - 1;
	turns.extend(drive(peers, |_, _| all_vouch(chain, step, bits)).await);
	turns
}

/// Returns the models with which these peers begin a step, once all are there.
async fn models_of(chain: &Memory, peers: &mut [Peer<Seat>], step: u32) -> Vec<H256> {
	to(chain, step, true);
	let is_there = |peers: &[Peer<Seat>]| peers.iter().all(|peer| base(peer, step).is_some());
	drive(peers, |peers, _| is_there(peers)).await;
	peers.iter().filter_map(|peer| base(peer, step)).collect()
}

fn base(peer: &Peer<Seat>, step: u32) -> Option<H256> {
	let position = peer.outer.as_ref().unwrap().position();
	position.base(step).map(|base| base.model)
}

#[tokio::test(flavor = "multi_thread")]
async fn peers_move_one_model_together_and_each_contribution_replays() {
	let dir = tempfile::tempdir().unwrap();
	let chain = chain();
	let mut peers = peers(&chain, dir.path(), 4, 1.0).await;
	let mut turns = Vec::new();
	for step in 0..3 {
		turns.extend(one_step(&chain, &mut peers, step).await);
		// Then each computes one of the others' again.
		let has_looked = |peer: &Peer<Seat>| {
			let looked = &peer.outer.as_ref().unwrap().replayed;
			looked.keys().any(|(of, _)| *of == step)
		};
		turns.extend(drive(&mut peers, |peers, _| peers.iter().all(has_looked)).await);
	}
	let models = models_of(&chain, &mut peers, 3).await;
	assert!(models.iter().all(|model| *model == models[0]), "all have the same bits");
	let replayed = turns.iter().filter(|(_, turn)| matches!(turn, Turn::Replayed { .. }));
	let right = |turn: &Turn| matches!(turn, Turn::Replayed { right: true, .. });
	let replayed: Vec<bool> = replayed.map(|(_, turn)| right(turn)).collect();
	assert!(replayed.len() >= 12 && replayed.iter().all(|right| *right), "{replayed:?}");
	// It learns.
	let score = |peer: &Peer<Seat>| peer.position().own.and_then(|own| own.count).unwrap().score();
	drive(&mut peers, |peers, _| peers.iter().all(|p| p.position().own.unwrap().count.is_some()))
		.await;
	let scores: Vec<u32> = peers.iter().map(score).collect();
	assert!(scores.iter().sum::<u32>() / 4 > 650_000, "{scores:?}");
	// Two that have the same rows would still move in other directions.
	let seals: std::collections::BTreeSet<H256> = {
		let world = chain.world();
		world.steps.values().flatten().map(|one| one.brought.sealed).collect()
	};
	assert_eq!(seals.len(), 12);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_time_loses_nothing() {
	let dir = tempfile::tempdir().unwrap();
	let chain = chain();
	let mut peers = peers(&chain, dir.path(), 2, 0.0).await;
	one_step(&chain, &mut peers, 0).await;
	to(&chain, 1, true);
	// One is killed when it has trained and not contributed, and begins again.
	let second = peers.pop().unwrap();
	let mut only = vec![second];
	drive(&mut only, |peers, _| peers[0].outer.as_ref().unwrap().position().pending.is_some())
		.await;
	let pending = only[0].outer.as_ref().unwrap().position().pending;
	drop(only);
	let data = slices(dir.path(), 2, 1);
	peers.push(open(chain.seen_by(2), dir.path(), always(2, data.clone(), 0.0)).await);
	assert_eq!(peers[1].outer.as_ref().unwrap().position().pending, pending);
	drive(&mut peers, |_, _| has_contributed(&chain, 1, 2)).await;
	// It is killed again after it was sent and before it took note: the chain knows.
	{
		let outer = peers[1].outer.as_mut().unwrap();
		(outer.position.pending, outer.position.kept) =
			(pending, chain.world().steps[&1][0].before);
		let before = chain.world().steps[&1].iter().find(|one| one.peer == account(2)).cloned();
		outer.position.kept = before.unwrap().before;
	}
	peers[1].save_outer().unwrap();
	peers.pop();
	peers.push(open(chain.seen_by(2), dir.path(), always(2, data, 0.0)).await);
	to(&chain, 1, false);
	drive(&mut peers, |_, _| all_vouch(&chain, 1, 3)).await;
	assert_eq!(peers[1].outer.as_ref().unwrap().position().pending, None);
	let models = models_of(&chain, &mut peers, 2).await;
	assert_eq!(models[0], models[1]);
	assert_eq!(chain.world().steps[&1].len(), 2, "nothing was sent twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_late_takes_the_model_of_most_and_goes_on_with_all() {
	let dir = tempfile::tempdir().unwrap();
	let chain = chain();
	let mut peers = peers(&chain, dir.path(), 3, 0.0).await;
	for step in 0..2 {
		one_step(&chain, &mut peers, step).await;
	}
	let data = slices(dir.path(), 4, 1);
	peers.push(open(chain.seen_by(4), dir.path(), always(4, data, 1.0)).await);
	to(&chain, 2, true);
	let turns = drive(&mut peers, |_, _| has_contributed(&chain, 2, 4)).await;
	assert!(turns.iter().any(|(n, turn)| *n == 3 && matches!(turn, Turn::Began(Some(_)))));
	let models = models_of(&chain, &mut peers, 2).await;
	assert!(models.iter().all(|model| *model == models[0]));
	to(&chain, 2, false);
	drive(&mut peers, |_, _| all_vouch(&chain, 2, 15)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_misses_the_time_contributes_to_the_next_step_for_a_half() {
	let dir = tempfile::tempdir().unwrap();
	let chain = chain();
	let mut peers = peers(&chain, dir.path(), 3, 0.0).await;
	to(&chain, 0, true);
	drive(&mut peers, |peers, _| {
		let trained = |peer: &Peer<Seat>| {
			let position = peer.outer.as_ref().unwrap().position();
			position.pending.is_some() || !position.sent.is_empty()
		};
		peers.iter().all(trained)
	})
	.await;
	let slow = peers.pop().unwrap();
	drive(&mut peers, |_, _| has_contributed(&chain, 0, 2)).await;
	to(&chain, 0, false);
	drive(&mut peers, |_, _| all_vouch(&chain, 0, 3)).await;
	let was_slow = chain.world().steps[&0].len() == 2;
	assert!(was_slow, "it has not sent what it trained");
	peers.push(slow);
	to(&chain, 1, true);
	let turns = drive(&mut peers, |_, _| has_contributed(&chain, 1, 3)).await;
	assert!(turns.contains(&(2, Turn::Contributed { step: 1, late: 1 })), "{turns:?}");
	to(&chain, 1, false);
	drive(&mut peers, |_, _| all_vouch(&chain, 1, 7)).await;
	let late: Vec<u32> = chain.world().steps[&1].iter().map(|one| 1 - one.brought.base).collect();
	assert_eq!(late.iter().sum::<u32>(), 1);
	let models = models_of(&chain, &mut peers, 2).await;
	assert!(models.iter().all(|model| *model == models[0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_trained_is_found_by_one_and_counts_with_nobody() {
	let dir = tempfile::tempdir().unwrap();
	let chain = chain();
	let mut peers = peers(&chain, dir.path(), 4, 0.0).await;
	// One alone looks at others, and always.
	peers[0].options.replay = 1.0;
	one_step(&chain, &mut peers, 0).await;
	to(&chain, 1, true);
	drive(&mut peers[3..], |peers, _| {
		peers[0].outer.as_ref().unwrap().position().pending.is_some()
	})
	.await;
	// The last one says that its model did not move: the right form, and no work.
	{
		let outer = peers[3].outer.as_mut().unwrap();
		let frame = outer.frame.clone();
		let nothing = frame.nothing();
		let mut residual =
			Residual::none(frame.nothing().values().map(|t| t.data.len() as u64).sum());
		let update = frame.contribute(&mut residual, &nothing, &nothing).unwrap();
		let root = outer.files.put(&update).unwrap();
		outer.position.pending.as_mut().unwrap().update = root;
	}
	drive(&mut peers, |_, _| has_contributed(&chain, 1, 4)).await;
	let at = chain.world().steps[&1].iter().position(|one| one.peer == account(4)).unwrap();
	to(&chain, 1, false);
	let honest = 0b1111 & !(1u64 << at);
	// The first one draws it sooner or later; here it is told whom.
	peers[0].outer.as_mut().unwrap().review =
		super::Review { step: 1, drawn: Some(Some(account(4))), ..Default::default() };
	let all_but_the_cheat = |chain: &Memory| {
		let world = chain.world();
		let all = world.steps[&1].iter().filter(|one| one.peer != account(4));
		all.map(|one| one.vouches).all(|vouches| vouches == Some(honest))
	};
	let turns = drive(&mut peers, |_, _| all_but_the_cheat(&chain)).await;
	let found = |n: usize| {
		let turn = Turn::Replayed { step: 1, who: account(4), right: false };
		turns.contains(&(n, turn))
	};
	assert!(found(0), "{turns:?}");
	assert!(found(1) && found(2), "the others heard of it, and looked");
	// It is not forgotten: neither by whoever begins again, nor by who comes later.
	let false_ones = &peers[1].outer.as_ref().unwrap().position().false_ones;
	assert_eq!(*false_ones, [(1, account(4))]);
	assert_eq!(counted(&chain.world().steps[&1]), honest);
	assert!(peers[1].fault_of(&account(4)).is_some_and(|why| why.contains("is false")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_false_alarm_costs_a_look_and_is_heard_once() {
	let dir = tempfile::tempdir().unwrap();
	let chain = chain();
	let mut peers = peers(&chain, dir.path(), 3, 0.0).await;
	one_step(&chain, &mut peers, 0).await;
	to(&chain, 1, true);
	drive(&mut peers, |_, _| has_contributed(&chain, 1, 3)).await;
	to(&chain, 1, false);
	// The last one says of the others that they are false.
	let outer = peers[2].outer.as_mut().unwrap();
	outer.position.false_ones = vec![(1, account(1)), (1, account(2)), (0, account(1))];
	peers[2].save_outer().unwrap();
	let honest = |chain: &Memory| {
		let world = chain.world();
		let all = world.steps[&1].iter().filter(|one| one.peer != account(3));
		all.map(|one| one.vouches).all(|vouches| vouches == Some(7))
	};
	let turns = drive(&mut peers, |peers, _| {
		let heard =
			|peer: &Peer<Seat>| peer.outer.as_ref().unwrap().alarmists.contains(&account(3));
		honest(&chain) && peers[..2].iter().all(heard)
	})
	.await;
	// Each looked at one of the three, and believes nothing more.
	for n in 0..2 {
		let looked = turns
			.iter()
			.filter(|(who, turn)| *who == n && matches!(turn, Turn::Replayed { right: true, .. }));
		assert_eq!(looked.count(), 1);
		let mut turn = peers[n].turn().await.unwrap();
		for _ in 0..3 {
			assert!(!matches!(turn, Turn::Replayed { .. }), "{turn:?}");
			turn = peers[n].turn().await.unwrap();
		}
	}
	assert_eq!(counted(&chain.world().steps[&1]), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_back_counts_with_nobody_and_holds_nobody_up() {
	let dir = tempfile::tempdir().unwrap();
	let chain = chain();
	let mut peers = peers(&chain, dir.path(), 3, 0.0).await;
	one_step(&chain, &mut peers, 0).await;
	to(&chain, 1, true);
	drive(&mut peers, |_, _| has_contributed(&chain, 1, 3)).await;
	let at = chain.world().steps[&1].iter().position(|one| one.peer == account(3)).unwrap();
	drop(peers.pop());
	to(&chain, 1, false);
	chain.world().height += RULE.vouch / 2;
	let others = 0b111 & !(1u64 << at);
	let vouched = |chain: &Memory| {
		let world = chain.world();
		let said = world.steps[&1].iter().filter(|one| one.vouches == Some(others)).count();
		said == 2
	};
	drive(&mut peers, |_, _| vouched(&chain)).await;
	let models = models_of(&chain, &mut peers, 2).await;
	assert_eq!(models[0], models[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_blocks_give_way_to_others_the_model_is_computed_again() {
	let dir = tempfile::tempdir().unwrap();
	let chain = chain();
	let mut peers = peers(&chain, dir.path(), 3, 0.0).await;
	one_step(&chain, &mut peers, 0).await;
	let before = models_of(&chain, &mut peers, 1).await;
	// In other blocks two of the three vouched for two alone.
	for one in chain.world().steps.get_mut(&0).unwrap().iter_mut().take(2) {
		one.vouches = Some(0b011);
	}
	let turns = drive(&mut peers, |peers, _| {
		peers.iter().all(|peer| base(peer, 1).is_some_and(|model| model != before[0]))
	})
	.await;
	assert!(turns.contains(&(0, Turn::WentBack(0))));
	let after = models_of(&chain, &mut peers, 1).await;
	assert!(after.iter().all(|model| *model == after[0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_final_is_not_asked_for_again_and_what_was_not_is() {
	let dir = tempfile::tempdir().unwrap();
	let chain = chain();
	let mut peers = peers(&chain, dir.path(), 2, 0.0).await;
	for step in 0..2 {
		one_step(&chain, &mut peers, step).await;
	}
	to(&chain, 2, true);
	drive(&mut peers, |_, _| has_contributed(&chain, 2, 2)).await;
	let mut turn = async |last_final| {
		{
			let mut world = chain.world();
			(world.last_final, world.asked) = (last_final, vec![]);
		}
		peers[0].turn().await.unwrap();
		chain.world().asked.clone()
	};
	let began = 1;
	// Of these blocks any may give way.
	assert_eq!(turn(0).await, [0, 1, 2]);
	assert_eq!(turn(0).await, [0, 1, 2]);
	// Step 0 is over in the first block of step 1; step 1 is not, one block before its end.
	assert_eq!(turn(began + RULE.blocks()).await, [0, 1, 2]);
	assert_eq!(turn(began + 2 * RULE.blocks() - 1).await, [1, 2]);
	assert_eq!(turn(began + 2 * RULE.blocks()).await, [1, 2]);
	assert_eq!(turn(began + 2 * RULE.blocks()).await, [2], "the present one, for the turn itself");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_is_read_once_in_a_step_and_not_kept_longer() {
	let dir = tempfile::tempdir().unwrap();
	let chain = chain();
	let mut peers = peers(&chain, dir.path(), 3, 0.0).await;
	one_step(&chain, &mut peers, 0).await;
	let read = |peer: &Peer<Seat>| {
		let read = &peer.outer.as_ref().unwrap().read;
		let all = read.updates.iter().map(|(root, update)| (*root, update.clone().unwrap()));
		(read.step, all.collect::<Vec<_>>())
	};
	let (step, before) = read(&peers[0]);
	assert_eq!((step, before.len()), (0, 3));
	peers[0].turn().await.unwrap();
	let (_, after) = read(&peers[0]);
	for ((root, before), (same, after)) in before.iter().zip(&after) {
		assert!(root == same && Arc::ptr_eq(before, after));
	}
	// What is not here any more cannot be served: it is not vouched for from memory.
	let own = peers[0].outer.as_ref().unwrap().position().sent[0].1;
	let lost = before.iter().map(|(root, _)| *root).find(|root| *root != own).unwrap();
	let outer = peers[0].outer.as_ref().unwrap();
	let one = {
		let world = chain.world();
		let seal_of = |one: &Contribution| outer.position().root_under(&one.brought.sealed);
		world.steps[&0].iter().find(|one| seal_of(one) == Some(lost)).cloned().unwrap()
	};
	std::fs::remove_file(outer.files().path(&lost)).unwrap();
	let found = peers[0].update_of(0, &one);
	assert!(matches!(found, Err(PeerError::DidNotCome { who, .. }) if who == one.peer));
	let models = models_of(&chain, &mut peers, 1).await;
	assert!(models.iter().all(|model| *model == models[0]));
	assert!(peers.iter().all(|peer| read(peer).1.is_empty()));
}

/// Whoever is first in a step that still trains can say anything of the model with which that begins.
#[tokio::test(flavor = "multi_thread")]
async fn who_comes_late_is_not_led_astray_by_whoever_is_first() {
	let dir = tempfile::tempdir().unwrap();
	let chain = chain();
	let mut peers = peers(&chain, dir.path(), 2, 0.0).await;
	for step in 0..2 {
		one_step(&chain, &mut peers, step).await;
	}
	to(&chain, 2, true);
	{
		let mut world = chain.world();
		let mut lie = world.steps[&1][0].clone();
		(lie.peer, lie.vouches) = (account(9), None);
		(lie.brought.base, lie.brought.model) = (2, H256::repeat_byte(0xba));
		world.steps.insert(2, vec![lie]);
		world.view.steps = world.steps.keys().copied().collect();
	}
	let data = slices(dir.path(), 4, 1);
	peers.push(open(chain.seen_by(4), dir.path(), always(4, data, 0.0)).await);
	let models = models_of(&chain, &mut peers, 2).await;
	assert!(models.iter().all(|model| *model == models[0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_contribution_whose_block_gives_way_is_sent_again_and_who_joins_again_begins_afresh() {
	let dir = tempfile::tempdir().unwrap();
	let chain = chain();
	let mut peers = peers(&chain, dir.path(), 2, 0.0).await;
	one_step(&chain, &mut peers, 0).await;
	to(&chain, 1, true);
	drive(&mut peers, |_, _| has_contributed(&chain, 1, 2)).await;
	let taken_back = {
		let mut world = chain.world();
		let all = world.steps.get_mut(&1).unwrap();
		let at = all.iter().position(|one| one.peer == account(2)).unwrap();
		let taken = all.remove(at);
		let peer = world.peers.iter_mut().find(|peer| peer.account == account(2)).unwrap();
		peer.kept = taken.before;
		taken
	};
	drive(&mut peers, |_, _| has_contributed(&chain, 1, 2)).await;
	let again = chain.world().steps[&1].iter().find(|one| one.peer == account(2)).cloned();
	assert_eq!(again.unwrap().brought, taken_back.brought);
	to(&chain, 1, false);
	drive(&mut peers, |_, _| all_vouch(&chain, 1, 3)).await;
	// It leaves and joins again: nothing of what it kept counts any more.
	let of = |world: &mut crate::swarm::testing::World, kept: H256| {
		let peer = world.peers.iter_mut().find(|peer| peer.account == account(2));
		peer.unwrap().kept = kept;
	};
	of(&mut chain.world(), H256::zero());
	to(&chain, 2, true);
	drive(&mut peers, |_, _| has_contributed(&chain, 2, 2)).await;
	let fresh = chain.world().steps[&2].iter().find(|one| one.peer == account(2)).cloned();
	assert_eq!(fresh.unwrap().before, H256::zero());
	// What the chain says that it kept and is not in the folder ends it.
	of(&mut chain.world(), H256::repeat_byte(7));
	let error = peers[1].turn().await.unwrap_err().to_string();
	assert!(error.contains("is not in this folder"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_leaves_a_peer_where_rows_do_and_not_else() {
	for private in [false, true] {
		let dir = tempfile::tempdir().unwrap();
		let chain = chain_with(private);
		let mut peers = peers(&chain, dir.path(), 2, 1.0).await;
		one_step(&chain, &mut peers, 0).await;
		let models = models_of(&chain, &mut peers, 1).await;
		assert_eq!(models[0], models[1]);
		let position = peers[0].outer.as_ref().unwrap().position().clone();
		let served = |root: &H256| {
			let path = crate::swarm::wire::outer_path(0, root);
			peers[0].service().find(&path).is_some_and(|path| path.is_file())
		};
		assert!(served(&models[0]) && served(&position.sent[0].1));
		assert_eq!(served(&position.kept), !private);
	}
}

fn frame(rule: OuterRule) -> (Frame, TensorMap) {
	let spec = plain(&template()).unwrap();
	let state = Engine::initial_state(&spec, &H256::repeat_byte(5), None).unwrap();
	(Frame::new(&spec, rule).unwrap(), state.to_host().unwrap())
}

fn parts(state: &TensorMap) -> (TensorMap, TensorMap) {
	state.clone().into_iter().partition(|(name, _)| name.starts_with(OPTIMIZER_PREFIX))
}

#[test]
fn what_is_kept_comes_back_and_else_is_refused() {
	let (frame, state) = frame(RULE);
	let (optimizer, model) = parts(&state);
	let mut kept = frame.fresh(optimizer);
	kept.residual.0[3] = -0.5;
	let bytes = frame.write_kept(&kept);
	assert_eq!(bytes.len() as u64, frame.kept_bytes());
	assert_eq!(frame.read_kept(&bytes).unwrap(), kept);
	assert!(frame.read_kept(&bytes[1..]).is_err());
	let other = frame.write_kept(&Kept { optimizer: model, ..kept.clone() });
	assert!(frame.read_kept(&other).unwrap_err().to_string().contains("optimizer"));
	kept.residual.0[3] = f32::NAN;
	let nan = frame.read_kept(&frame.write_kept(&kept));
	assert!(nan.unwrap_err().to_string().contains("not finite"));
}

/// With all values picked in eight bits the model of one peer goes where that went, nearly; and what is missing is
/// in the residual, to the bit of the sum.
#[test]
fn a_step_by_one_peer_goes_where_it_went() {
	let rule = OuterRule { picks: 4_096, bits: 8, momentum: 0, clip: None, ..RULE };
	let (frame, state) = frame(rule);
	let (optimizer, from) = parts(&state);
	let mut to = from.clone();
	for tensor in to.values_mut() {
		tensor.data.iter_mut().enumerate().for_each(|(at, x)| *x += (at % 7) as f32 / 100.0);
	}
	let mut kept = frame.fresh(optimizer);
	let bytes = frame.contribute(&mut kept.residual, &from, &to).unwrap();
	assert_eq!(bytes.len() as u64, frame.update_bytes());
	let update = || Counted { update: frame.read_update(&bytes).unwrap(), late: 0 };
	let (next, velocity) = frame.next(&from, None, &[update()]).unwrap();
	assert_eq!(velocity, None);
	let off = next.values().zip(to.values()).flat_map(|(a, b)| {
		a.data.iter().zip(&b.data).map(|(a, b)| (a - b).abs()).collect::<Vec<_>>()
	});
	assert!(off.fold(0.0, f32::max) < 0.001);
	// One that is too late moves nothing, and nobody does.
	let late = Counted { late: 30, ..update() };
	assert_eq!(frame.next(&from, None, &[late]).unwrap().0, from);
	assert_eq!(frame.next::<Update>(&from, None, &[]).unwrap().0, from);
	assert!(
		frame.next(&from, Some(&frame.nothing()), &[update()]).is_err(),
		"there is no momentum"
	);
	assert!(frame.read_update(&bytes[1..]).is_err());
}
