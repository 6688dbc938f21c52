//! A session, played in virtual time: who trains, who mixes with whom, and who pays whom.
//!
//! Every peer does one thing after the other, at its own pace: it trains on a slice, or it takes the model of
//! another peer, averages all parameters with its own, and keeps the mean where its own rows say that it is
//! better. Then it owes the maker of that model the reward factor times the gain. Nobody waits for anybody.

use crate::model::{initial, mix, Slices};
use anyhow::Result;
use rand::{rngs::StdRng, seq::IndexedRandom, Rng, SeedableRng};
use std::{cmp::Reverse, collections::BinaryHeap, sync::Arc};
use trainyard_engine::TensorMap;

/// Ticks that one thing takes a peer of ordinary pace.
const TURN: u64 = 100;

/// What a peer is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
	/// Has data of its own, and wants a good model.
	Provider,
	/// Has none, trains on what providers share, and wants to be paid.
	Seeker,
}

/// What is wrong with a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
	/// Nothing.
	None,
	/// It is gone from this tick on, and its models with it.
	Killed(u64),
	/// Between these ticks it sees only others that are cut off as well, and they see only each other.
	CutOff(u64, u64),
	/// It serves garbage for models.
	Lying,
	/// It never trains, mixes with whatever it gets, and pays nobody.
	Freeloading,
}

/// How a session is played.
#[derive(Clone, Debug)]
pub struct Terms {
	/// Seed of all that is drawn.
	pub seed: u64,
	/// The peers.
	pub peers: Vec<(Group, Fault)>,
	/// Slices of each provider; the last one measures.
	pub slices: u32,
	/// Rows of a slice.
	pub rows: u32,
	/// Learning rate x 10^9.
	pub learning_rate_nano: u64,
	/// How often a peer trains on each of its slices. Until it has, it trains and mixes in turns, and then it mixes.
	pub passes: u32,
	/// After so many failures in a row a peer that only mixes stops.
	pub patience: u32,
	/// So many turns of training a peer has behind it before it averages for the first time.
	pub first: u32,
	/// Whether peers average at all.
	pub averaging: bool,
	/// Whether those may claim what they are owed of whoever does not pay.
	pub claims: bool,
}

/// One payment, or what should have been one.
#[derive(Clone, Copy, Debug)]
pub struct Payment {
	/// The peer that mixed.
	pub from: usize,
	/// Whose model helped.
	pub to: usize,
	/// By how many rows.
	pub gain: u32,
	/// Whether it was paid: at once, or by a claim.
	pub paid: bool,
}

/// One averaging.
#[derive(Clone, Copy, Debug)]
pub struct Mixed {
	/// When it was, from 0 at the beginning of the session to 1 at its last averaging.
	pub when: f64,
	/// Whether the mean was better.
	pub success: bool,
}

/// What became of a session.
#[derive(Clone, Debug)]
pub struct Played {
	/// Rows by which each peer measures.
	pub rows: u32,
	/// Payments in order.
	pub payments: Vec<Payment>,
	/// Averagings in order.
	pub mixed: Vec<Mixed>,
	/// Rows that each peer's model gets right in the end, of those that nobody saw.
	pub correct: Vec<u32>,
	/// The same of the model with which all began.
	pub began: u32,
	/// Turns of training in all.
	pub trained: u32,
	/// The tick of the last averaging.
	pub last: u64,
}

struct Peer {
	group: Group,
	fault: Fault,
	/// Ticks of a turn.
	pace: u64,
	model: TensorMap,
	correct: u32,
	/// Its own; of a seeker those of the session, by which it measures.
	slices: Arc<Slices>,
	/// Turns of training that it has done.
	trained: u32,
	/// Turns of training that it does.
	trains: u32,
	mixes_next: bool,
	failures: u32,
	/// Whether it has a model that it is worth while to average with.
	began: bool,
}

impl Peer {
	fn is_there(&self, tick: u64) -> bool {
		!matches!(self.fault, Fault::Killed(at) if at <= tick)
	}

	fn is_cut_off(&self, tick: u64) -> bool {
		matches!(self.fault, Fault::CutOff(from, to) if (from..to).contains(&tick))
	}
}

/// Plays a session.
pub fn play(terms: &Terms) -> Result<Played> {
	let mut draw = StdRng::seed_from_u64(terms.seed);
	let slices_of = |owner: u64| {
		Slices::draw(terms.seed << 16 | owner, terms.slices, terms.rows, terms.learning_rate_nano)
			.map(Arc::new)
	};
	// Those by which seekers measure, and those that nobody sees, by which models are compared in the end.
	let (public, unseen) = (slices_of(0xFFFF)?, slices_of(0xFFFE)?);
	let begin = initial(terms.seed, terms.rows)?;
	let mut peers = Vec::new();
	for (number, (group, fault)) in terms.peers.iter().enumerate() {
		let slices = match group {
			Group::Provider => slices_of(number as u64)?,
			Group::Seeker => public.clone(),
		};
		let trains = match fault {
			Fault::Freeloading => 0,
			_ => terms.passes * (terms.slices - 1),
		};
		peers.push(Peer {
			group: *group,
			fault: *fault,
			pace: draw.random_range(TURN * 4 / 5..=TURN * 5 / 4),
			correct: slices.correct(&begin)?,
			model: begin.clone(),
			slices,
			trained: 0,
			trains,
			mixes_next: false,
			failures: 0,
			began: *group == Group::Provider,
		});
	}
	let mut played = Played {
		rows: terms.rows,
		payments: Vec::new(),
		mixed: Vec::new(),
		correct: Vec::new(),
		began: unseen.correct(&begin)?,
		trained: 0,
		last: 1,
	};
	let mut averagings = Vec::new();
	let mut queue: BinaryHeap<Reverse<(u64, usize)>> =
		(0..peers.len()).map(|number| Reverse((draw.random_range(1..=TURN), number))).collect();
	while let Some(Reverse((tick, number))) = queue.pop() {
		let peer = &peers[number];
		if !peer.is_there(tick) {
			continue;
		}
		let only_mixing = peer.trained >= peer.trains;
		if only_mixing && (peer.failures >= terms.patience || !terms.averaging) {
			continue;
		}
		let early = !terms.averaging || peer.trained < terms.first.min(peer.trains);
		if !only_mixing && (!peer.mixes_next || early) && peer.began {
			train(&mut peers, number, &mut draw, terms)?;
			played.trained += 1;
		} else if let Some((success, other, gain)) =
			average(&mut peers, number, tick, only_mixing, &mut draw)?
		{
			averagings.push((tick, success));
			if success {
				let paid = terms.claims || peers[number].fault != Fault::Freeloading;
				played.payments.push(Payment { from: number, to: other, gain, paid });
			}
		}
		let peer = &mut peers[number];
		peer.mixes_next = !peer.mixes_next;
		queue.push(Reverse((tick + peer.pace, number)));
	}
	let last = averagings.last().map_or(1, |(tick, ..)| *tick);
	played.last = last;
	for (tick, success) in averagings {
		played.mixed.push(Mixed { when: tick as f64 / last as f64, success });
	}
	for peer in &peers {
		played.correct.push(unseen.correct(&peer.model)?);
	}
	Ok(played)
}

/// Lets a peer train on the next of its slices, or on one of those that somebody shares.
fn train(peers: &mut [Peer], number: usize, draw: &mut StdRng, terms: &Terms) -> Result<()> {
	let peer = &peers[number];
	let sharing: Vec<_> = match peer.group {
		Group::Provider => vec![peer.slices.clone()],
		Group::Seeker => {
			let providers = peers.iter().filter(|peer| peer.group == Group::Provider);
			providers.map(|peer| peer.slices.clone()).collect()
		}
	};
	let Some(slices) = sharing.choose(draw) else { return Ok(()) };
	let count = slices.training.len() as u32;
	let (pass, at) = match peer.group {
		Group::Provider => (peer.trained / count, peer.trained % count),
		Group::Seeker => (peer.trained, draw.random_range(0..count)),
	};
	let model = slices.training[at as usize].train(&peer.model, pass, terms.rows)?;
	let peer = &mut peers[number];
	peer.correct = peer.slices.correct(&model)?;
	peer.model = model;
	peer.trained += 1;
	Ok(())
}

/// Lets a peer average with a model of somebody whom it sees. Returns whether that was a success, with whom, and
/// by how many rows; `None` where nobody is there.
fn average(
	peers: &mut [Peer],
	number: usize,
	tick: u64,
	only_mixing: bool,
	draw: &mut StdRng,
) -> Result<Option<(bool, usize, u32)>> {
	let me = &peers[number];
	let cut = me.is_cut_off(tick);
	let seen: Vec<usize> = (0..peers.len())
		.filter(|other| *other != number && peers[*other].began && peers[*other].is_there(tick))
		.filter(|other| peers[*other].is_cut_off(tick) == cut)
		.collect();
	let Some(other) = seen.choose(draw).copied() else { return Ok(None) };
	let remote = match peers[other].fault {
		Fault::Lying => garbage(&peers[other].model, draw),
		_ => peers[other].model.clone(),
	};
	// Who has no model yet begins with this one, and pays nothing: there is nothing to compare it with.
	if !me.began {
		let correct = me.slices.correct(&remote)?;
		let me = &mut peers[number];
		(me.model, me.correct, me.began) = (remote, correct, true);
		return Ok(None);
	}
	let mixed = mix(&me.model, &remote)?;
	let (before, after) = (me.correct, me.slices.correct(&mixed)?);
	let me = &mut peers[number];
	if after <= before {
		me.failures += u32::from(only_mixing);
		return Ok(Some((false, other, 0)));
	}
	(me.model, me.correct, me.failures) = (mixed, after, 0);
	Ok(Some((true, other, after - before)))
}

/// Returns a model of the same shape with large numbers in it.
fn garbage(model: &TensorMap, draw: &mut StdRng) -> TensorMap {
	let mut model = model.clone();
	for tensor in model.values_mut() {
		tensor.data.fill_with(|| draw.random_range(-8..=8) as f32);
	}
	model
}
