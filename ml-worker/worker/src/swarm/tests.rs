//! Peers in one process that reach each other by iroh on loopback.

use super::{
	contact::Patience,
	learner::Slice,
	peer::{Options, Peer, Turn},
	testing::{account, drive, node, open, options, rests, slices, template, Memory, Seat},
};
use std::{net::UdpSocket, path::Path, time::Duration};
use trainyard_client::AccountId32;
use trainyard_protocol::{
	swarm::{role, Payer},
	H256,
};
use trainyard_transport::{Limits, Location, SecretKey};

/// What a model gets right of rows that nobody has.
fn unseen(peer: &Peer<Seat>, dir: &Path) -> u32 {
	let path = slices(dir, 0xff, 1).remove(0);
	let slice = Slice::open(&template(), &path, &account(0)).unwrap();
	slice.count(peer.state.as_ref().unwrap()).unwrap().score()
}

fn better(turns: &[(usize, Turn)]) -> impl Iterator<Item = (usize, &AccountId32)> {
	turns.iter().filter_map(|(number, turn)| match turn {
		Turn::Better { maker, .. } => Some((*number, maker)),
		_ => None,
	})
}

/// Peers of these numbers, with data of their own.
async fn providers(memory: &Memory, dir: &Path, numbers: &[u8]) -> Vec<Peer<Seat>> {
	let mut peers = Vec::new();
	for n in numbers {
		let options = options(*n, slices(dir, *n, 2));
		peers.push(open(memory.seen_by(*n), dir, options).await);
	}
	peers
}

#[tokio::test(flavor = "multi_thread")]
async fn four_peers_converge_and_pay_each_other() {
	let dir = tempfile::tempdir().unwrap();
	let memory = Memory::new(Payer::Peers, true);
	let mut peers = providers(&memory, dir.path(), &[1, 2, 3, 4]).await;
	let turns = drive(&mut peers, |peers, turns| rests(peers, turns, 40)).await;
	assert!(better(&turns).count() > 0);
	for peer in &peers {
		let position = peer.position();
		assert_eq!(position.trained, 4, "each slice twice");
		assert!(position.debts.is_empty(), "{:?}", position.debts);
		assert!(unseen(peer, dir.path()) > 700_000, "{}", unseen(peer, dir.path()));
		// What was paid is known to whoever was owed it.
		let world = memory.world();
		let mine = world.payments.iter().filter(|(_, payment)| payment.to == *peer.me());
		let journal = peer.service().journal();
		let mut count = 0;
		for (from, payment) in mine {
			let given = journal.get(&payment.ticket).unwrap();
			assert_eq!((&given.signed.ticket.payer, given.paid), (from, true));
			count += 1;
		}
		assert_eq!(journal.all().filter(|(_, given)| given.paid).count(), count);
	}
	let world = memory.world();
	assert!(!world.payments.is_empty());
	let owed: u128 = turns
		.iter()
		.map(|(_, turn)| match turn {
			Turn::Better { owed, .. } => *owed,
			_ => 0,
		})
		.sum();
	assert_eq!(world.peers.iter().map(|peer| peer.paid).sum::<u128>(), owed);
	assert_eq!(world.peers.iter().map(|peer| peer.earned).sum::<u128>(), owed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_peer_goes_on_where_it_was() {
	let dir = tempfile::tempdir().unwrap();
	let memory = Memory::new(Payer::Peers, true);
	let mut peers = providers(&memory, dir.path(), &[1, 2, 3]).await;
	// In the middle: some owe something that is not paid yet.
	drive(&mut peers, |peers, _| !peers[0].position().debts.is_empty()).await;
	let before = peers[0].position().clone();
	let key = peers[0].key.public();
	let killed = peers.remove(0);
	drop(killed);
	// The others go on without it.
	drive(&mut peers, |peers, turns| rests(peers, turns, 10)).await;
	let again = open(memory.seen_by(1), dir.path(), options(1, slices(dir.path(), 1, 2))).await;
	assert_eq!((again.position(), again.key.public()), (&before, key));
	peers.insert(0, again);
	let turns = drive(&mut peers, |peers, turns| rests(peers, turns, 40)).await;
	assert_eq!(peers[0].position().trained, 4);
	assert!(peers[0].position().debts.is_empty());
	assert!(!turns.iter().any(|(_, turn)| matches!(turn, Turn::Dropped { .. })));
	let world = memory.world();
	let paid: Vec<H256> = world.payments.iter().map(|(_, payment)| payment.ticket).collect();
	for debt in &before.debts {
		assert!(paid.contains(&debt.ticket));
	}
	assert_eq!(world.peers.len(), 3, "it did not join a second time");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_begins_again_waits_as_long_for_others_as_before() {
	let dir = tempfile::tempdir().unwrap();
	let memory = Memory::new(Payer::Budget, true);
	let (first, least) = (Duration::from_secs(60), Duration::from_secs(5));
	let times = [first, least, first];
	let patient = |n| Options {
		patience: Patience { answer: times, bring: times },
		..options(n, slices(dir.path(), n, 1))
	};
	let mut peers = Vec::new();
	for n in [1, 2] {
		peers.push(open(memory.seen_by(n), dir.path(), patient(n)).await);
	}
	let limits = |peer: &Peer<Seat>| peer.service().contact().limits();
	assert_eq!(limits(&peers[1]), [first; 2]);
	drive(&mut peers, |peers, _| limits(&peers[1])[0] == least).await;
	// What came since the last turn began is written down in the next one.
	peers[1].turn().await.unwrap();
	let bringing = limits(&peers[1])[1];
	drop(peers.pop());
	peers.push(open(memory.seen_by(2), dir.path(), patient(2)).await);
	assert_eq!(limits(&peers[1]), [least, bringing]);
	// A file that cannot be read is as none, and written again.
	drop(peers.pop());
	let file = dir.path().join("02/answers.times");
	std::fs::write(&file, [0xff; 2_000]).unwrap();
	peers.push(open(memory.seen_by(2), dir.path(), patient(2)).await);
	assert_eq!(limits(&peers[1]), [first, bringing]);
	drive(&mut peers, |_, _| std::fs::read_to_string(&file).is_ok()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_debt_that_was_paid_before_the_kill_is_not_paid_twice() {
	let dir = tempfile::tempdir().unwrap();
	let memory = Memory::new(Payer::Peers, true);
	let mut peers = providers(&memory, dir.path(), &[1, 2, 3]).await;
	drive(&mut peers, |peers, _| !peers[0].position().debts.is_empty()).await;
	let file = dir.path().join("01").join("peer.json");
	let before = std::fs::read(&file).unwrap();
	let owed = peers[0].position().debts.clone();
	drive(&mut peers, |peers, turns| rests(peers, turns, 40)).await;
	assert!(peers[0].position().debts.is_empty());
	let paid = memory.world().payments.len();
	// As if it had been killed between the payment and writing down that it was made.
	let mut position: super::position::Position = serde_json::from_slice(&before).unwrap();
	let now = peers[0].position().clone();
	drop(peers.remove(0));
	position.debts = owed;
	position.own = now.own;
	crate::roles::store::save(&file, &super::position::Position { debts: position.debts, ..now })
		.unwrap();
	let again = open(memory.seen_by(1), dir.path(), options(1, slices(dir.path(), 1, 2))).await;
	peers.insert(0, again);
	drive(&mut peers, |peers, turns| {
		peers[0].position().debts.is_empty() && rests(peers, turns, 5)
	})
	.await;
	assert_eq!(memory.world().payments.len(), paid);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_halves_go_on_apart_and_heal() {
	let dir = tempfile::tempdir().unwrap();
	let memory = Memory::new(Payer::Peers, true);
	let halves = [[1u8, 2], [3, 4]];
	let (mut peers, mut seats) = (Vec::new(), Vec::new());
	for (half, other) in [(halves[0], halves[1]), (halves[1], halves[0])] {
		for n in half {
			let seat = memory.seen_by(n);
			*seat.hidden.lock().unwrap() = other.map(account).into();
			seats.push(seat.clone());
			peers.push(open(seat, dir.path(), options(n, slices(dir.path(), n, 2))).await);
		}
	}
	let is_across = |number: usize, maker: &AccountId32| (number < 2) != (maker.0[0] < 3);
	let turns = drive(&mut peers, |peers, turns| rests(peers, turns, 10)).await;
	let tried = |turns: &[(usize, Turn)]| -> Vec<(usize, AccountId32)> {
		let mixed = turns.iter().filter_map(|(number, turn)| match turn {
			Turn::Better { maker, .. } | Turn::InVain(maker) => Some((*number, *maker)),
			_ => None,
		});
		mixed.collect()
	};
	assert!(!tried(&turns).is_empty());
	assert!(tried(&turns).iter().all(|(number, maker)| !is_across(*number, maker)));
	// A ticket from the other half is not taken.
	for seat in &seats {
		seat.hidden.lock().unwrap().clear();
	}
	let turns = drive(&mut peers, |peers, turns| rests(peers, turns, 40)).await;
	assert!(tried(&turns).iter().any(|(number, maker)| is_across(*number, maker)));
	assert!(peers.iter().all(|peer| peer.position().debts.is_empty()));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_serves_other_bytes_than_it_announced_is_dropped() {
	let dir = tempfile::tempdir().unwrap();
	let memory = Memory::new(Payer::Peers, true);
	let mut peers = providers(&memory, dir.path(), &[1, 2, 3]).await;
	// The last one has trained, and never takes another turn: its file is another one from then on.
	drive(&mut peers[2..], |peers, _| peers[0].position().trained > 0).await;
	let liar = peers.pop().unwrap();
	let root = liar.position().own.unwrap().root;
	let path = liar.service().models().path(&root);
	let mut bytes = std::fs::read(&path).unwrap();
	*bytes.last_mut().unwrap() ^= 1;
	std::fs::write(&path, bytes).unwrap();
	let turns = drive(&mut peers, |peers, turns| rests(peers, turns, 20)).await;
	let found = turns.iter().filter(|(_, turn)| {
		matches!(turn, Turn::Dropped { who, why } if *who == account(3) && why.contains("another file"))
	});
	assert_eq!(found.count(), 2, "each finds it out once");
	for peer in &peers {
		assert!(peer.fault_of(&account(3)).is_some() && peer.fault_of(&account(1)).is_none());
		assert!(!peer.service().models().has(&root));
	}
	assert!(better(&turns).all(|(_, maker)| *maker != account(3)));
	assert!(turns.iter().any(|(_, turn)| matches!(turn, Turn::InVain(_) | Turn::Better { .. })));
}

/// Joins with a key, and says that it is there.
async fn join(memory: &Memory, n: u8, key: &SecretKey, location: &Location) {
	use super::board::Board;
	let seat = memory.seen_by(n);
	let digest = trainyard_protocol::swarm::joining(&super::testing::GENESIS, 0, &account(n));
	let signature = key.sign(digest.as_bytes()).to_bytes();
	let public = H256(*key.public().as_bytes());
	seat.join(&public, &signature, role::ALL, &location.to_string()).await.unwrap();
	seat.announce(&H256::repeat_byte(n)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_answer_delays_nobody() {
	let dir = tempfile::tempdir().unwrap();
	let memory = Memory::new(Payer::Peers, true);
	// One is a port at which nobody speaks, and one takes connections and says nothing.
	let deaf = UdpSocket::bind("127.0.0.1:0").unwrap();
	let key = SecretKey::from_bytes(&[8; 32]);
	let nowhere =
		Location { addresses: vec![deaf.local_addr().unwrap()], ..Location::new(key.public()) };
	join(&memory, 8, &key, &nowhere).await;
	let key = SecretKey::from_bytes(&[9; 32]);
	let (mute, location) = node(key.clone()).await;
	join(&memory, 9, &key, &location).await;
	let silent = open(memory.seen_by(7), dir.path(), options(7, slices(dir.path(), 7, 1))).await;
	let _serving = mute.serve(silent.service().clone(), Limits::default());
	drop(silent);
	let mut peers = providers(&memory, dir.path(), &[1, 2, 3]).await;
	let turns = drive(&mut peers, |peers, turns| {
		peers.iter().all(|peer| peer.position().trained == 4) && rests(peers, turns, 5)
	})
	.await;
	assert!(turns.iter().any(|(_, turn)| matches!(turn, Turn::InVain(_) | Turn::Better { .. })));
	// They were never drawn: nobody waited for them.
	let failed = turns.iter().filter(|(_, turn)| match turn {
		Turn::Failed { who, .. } | Turn::Dropped { who, .. } => [8, 9].contains(&who.0[0]),
		_ => false,
	});
	assert_eq!(failed.count(), 0);
	let with = better(&turns).map(|(_, maker)| maker.0[0]);
	assert!(with.into_iter().all(|maker| maker < 4));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seeker_without_data_begins_with_a_remote_model_and_takes_slices() {
	let dir = tempfile::tempdir().unwrap();
	let memory = Memory::new(Payer::Peers, false);
	let mut peers = providers(&memory, dir.path(), &[1, 2]).await;
	drive(&mut peers, |peers, _| peers.iter().all(|peer| peer.position().trained >= 2)).await;
	peers.push(open(memory.seen_by(3), dir.path(), options(3, vec![])).await);
	// And one that only serves data.
	let mut only = options(4, slices(dir.path(), 4, 1));
	only.roles = role::DATA;
	peers.push(open(memory.seen_by(4), dir.path(), only).await);
	let turns = drive(&mut peers, |peers, turns| rests(peers, turns, 60)).await;
	let of = |wanted: usize| turns.iter().filter(move |(number, _)| *number == wanted);
	assert!(of(2).any(|(_, turn)| matches!(turn, Turn::Began(Some(_)))));
	let took = of(2).filter(|(_, turn)| matches!(turn, Turn::TookSlice(_))).count();
	assert_eq!(took, 5, "all that are served");
	assert!(of(3).all(|(_, turn)| *turn == Turn::Nothing));
	assert_eq!(peers[2].position().trained, 10);
	assert!(unseen(&peers[2], dir.path()) > 700_000, "{}", unseen(&peers[2], dir.path()));
	// What it took is there after a restart, and it can be taken from it.
	drop(peers.remove(2));
	let again = open(memory.seen_by(3), dir.path(), options(3, vec![])).await;
	assert_eq!(again.learner.slices().len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_budget_pays_peers_owe_each_other_nothing() {
	let dir = tempfile::tempdir().unwrap();
	let memory = Memory::new(Payer::Budget, true);
	let mut peers = providers(&memory, dir.path(), &[1, 2]).await;
	drive(&mut peers, |peers, turns| rests(peers, turns, 20)).await;
	assert!(memory.world().payments.is_empty());
	assert!(peers.iter().all(|peer| peer.position().debts.is_empty()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_comes_from_those_that_have_it_and_its_maker_hears_of_the_ticket() {
	let dir = tempfile::tempdir().unwrap();
	let memory = Memory::new(Payer::Peers, true);
	let mut peers = providers(&memory, dir.path(), &[1, 2, 3]).await;
	drive(&mut peers, |peers, turns| rests(peers, turns, 20)).await;
	// Some of the models are held by more than their makers.
	let shared = peers.iter().flat_map(|peer| {
		let own: Vec<H256> = peer.service().models().roots();
		own
	});
	let mut counts = std::collections::BTreeMap::<H256, u32>::new();
	for root in shared {
		*counts.entry(root).or_default() += 1;
	}
	assert!(counts.values().any(|count| *count >= 2));
	// Whatever was asked of whom: each ticket that was paid is in the journal of its maker.
	let world = memory.world();
	for (_, payment) in &world.payments {
		let maker = peers.iter().find(|peer| *peer.me() == payment.to).unwrap();
		assert!(maker.service().journal().get(&payment.ticket).is_some());
	}
}

/// A peer that computes its steps by virtual ranks trains the same model with one process and with two; and that of
/// a peer without ranks is another one.
#[tokio::test(flavor = "multi_thread")]
async fn a_peer_shares_its_steps_out() {
	use super::learner::{LearnError, Learner, Sharing};
	use crate::ranks::{
		crew::{Crew, Options, Patience},
		wire::Secret,
		work,
	};
	use std::{num::NonZeroUsize, sync::Arc};
	let dir = tempfile::tempdir().unwrap();
	let path = slices(dir.path(), 1, 1).remove(0);
	let secret = Secret::draw();
	let crew = |listens: bool| {
		let started = Crew::start(Options {
			workers: 1,
			threads: NonZeroUsize::MIN,
			listen: listens.then(|| ([127, 0, 0, 1], 0).into()),
			secret: secret.clone(),
			patience: Patience::default(),
			program: "no-program".into(),
		});
		Arc::new(started.unwrap())
	};
	let slice = || Slice::open(&template(), &path, &account(1)).unwrap();
	let begun = Learner::new(&template()).unwrap();
	let spec = super::learner::plain(&template()).unwrap();
	let initial = trainyard_engine::Engine::initial_state(&spec, &H256::zero(), None).unwrap();
	let state = begun.state_of(initial.to_host().unwrap(), None);
	let batch = template().training.batch_size;
	let ranks = (2..=batch).find(|ranks| batch % ranks == 0).unwrap();
	let alone = Sharing { ranks, crew: crew(false) };
	let one = slice().shared(Some(&alone)).unwrap().train(&state, 0).unwrap();
	let shared = Sharing { ranks, crew: crew(true) };
	let to = shared.crew.address().unwrap();
	let worker =
		std::thread::spawn(move || work::serve(std::net::TcpStream::connect(to).unwrap(), &secret));
	while shared.crew.size() < 2 {
		tokio::time::sleep(std::time::Duration::from_millis(2)).await;
	}
	assert_eq!(slice().shared(Some(&shared)).unwrap().train(&state, 0).unwrap(), one);
	assert_eq!(shared.crew.lost(), 0);
	assert_ne!(slice().train(&state, 0).unwrap(), one);
	let wrong = Sharing { ranks: batch + 1, crew: alone.crew.clone() };
	assert!(matches!(slice().shared(Some(&wrong)), Err(LearnError::Engine(_))));
	drop(shared);
	worker.join().unwrap().unwrap();
}

/// A peer that hides its rows counts what it gives away, across a kill, and trains no more once that is spent.
#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_hides_its_rows_trains_until_its_epsilon_is_spent() {
	use super::{
		peer::PeerError,
		position::Folder,
		privacy::{Privacy, PrivacyError},
	};
	use trainyard_engine::private::{accountant::Spent, Hiding};
	let dir = tempfile::tempdir().unwrap();
	let memory = Memory::new(Payer::Peers, true);
	let data = slices(dir.path(), 1, 2);
	let (noise, delta) = (1.0, 1e-5);
	let slice = Slice::open(&template(), &data[0], &account(1)).unwrap();
	let after = |passes: u32| {
		let mut spent = Spent::default();
		spent.add(slice.rate(), noise, slice.steps() * passes);
		spent.epsilon(delta)
	};
	// Enough for three turns, and not for four.
	let epsilon = (after(3) + after(4)) / 2.0;
	let hiding = Hiding { clip: 1.0, noise };
	let hidden = || super::peer::Options {
		passes: 0,
		privacy: Some(Privacy { hiding, epsilon, delta }),
		..options(1, data.clone())
	};
	let mut peer = open(memory.seen_by(1), dir.path(), hidden()).await;
	while peer.position().trained < 2 {
		peer.turn().await.unwrap();
	}
	let before = peer.position().clone();
	let count = |position: &super::position::Position| {
		let bits = position.given_away.clone().unwrap();
		let divergences = bits.into_iter().map(f64::from_bits).collect();
		Spent::from_divergences(divergences).unwrap().epsilon(delta)
	};
	assert!((count(&before) - after(2)).abs() < 1e-9, "{} {}", count(&before), after(2));
	drop(peer);
	let peer = open(memory.seen_by(1), dir.path(), hidden()).await;
	assert_eq!(peer.position(), &before, "a kill spends nothing and forgets nothing");
	let mut peers = vec![peer];
	drive(&mut peers, |peers, turns| rests(peers, turns, 10)).await;
	let last = peers[0].position().clone();
	assert_eq!(last.trained, 3);
	assert!((count(&last) - after(3)).abs() < 1e-9);
	assert!(peers[0].may_mix() && !peers[0].may_train());
	// With the same rows and noise that nobody knows there is another model each time.
	drop(peers);
	let again = |options| async {
		let (folder, position) =
			Folder::open(&dir.path().join("01"), super::testing::GENESIS, 0).unwrap();
		let key = folder.key().unwrap();
		let (node, location) = node(key.clone()).await;
		let report = crate::roles::report::Reporter::new("swarm", true, None);
		let place = (folder, position, key);
		Peer::open(memory.seen_by(1), place, (node, &location), options, report).await
	};
	// Without noise it would show what it hid.
	let shown = again(options(1, data.clone())).await;
	assert!(matches!(shown, Err(PeerError::Privacy(PrivacyError::Hidden))));
	// A delta for which one of its rows could be shown.
	let mut wide = hidden();
	wide.privacy = Some(Privacy { hiding, epsilon, delta: 0.1 });
	assert!(matches!(again(wide).await, Err(PeerError::Privacy(PrivacyError::Delta { .. }))));
	// What was shown cannot be hidden.
	let mut position = last;
	position.given_away = None;
	crate::roles::store::save(&dir.path().join("01").join("peer.json"), &position).unwrap();
	let late = again(hidden()).await;
	assert!(matches!(late, Err(PeerError::Privacy(PrivacyError::TooLate))));
}
