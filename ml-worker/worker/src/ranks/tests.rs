//! Crews of threads that are workers, over TCP on loopback.

use super::{
	crew::{Crew, Options, Patience, Ranked},
	wire::{Channel, Kind, Secret, WireError, SHORT},
	work,
};
use std::{
	io::{Read, Write},
	net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
	num::NonZeroUsize,
	sync::Arc,
	thread::JoinHandle,
	time::{Duration, Instant},
};
use trainyard_engine::{Data, Engine, State, Table};
use trainyard_program::{
	spec::{CheckedSpec, JobSpec},
	H256,
};

const STEPS: u32 = 6;

/// A small job with everything that can go wrong: clipping, noise of inputs, momentum.
fn job() -> (CheckedSpec, Engine) {
	let mut spec = JobSpec::noisy_example();
	(spec.dataset.features, spec.dataset.classes) = (6, 3);
	(spec.dataset.train_rows, spec.dataset.validation_rows) = (40, 10);
	(spec.training.batch_size, spec.training.steps) = (16, 100);
	let table = |rows: u32| {
		let x = (0..rows * 6).map(|i| (i as f32 * 0.7).sin()).collect();
		Table { features: 6, x, y: (0..rows).map(|i| i % 3).collect(), ..Table::default() }
	};
	let spec = spec.check().unwrap();
	let data = Data { train: table(40), validation: table(10) };
	let engine = Engine::new(&spec, seed(), Arc::new(data)).unwrap();
	(spec, engine)
}

fn seed() -> H256 {
	H256::repeat_byte(9)
}

fn begin(spec: &CheckedSpec) -> State {
	Engine::initial_state(spec, &seed(), None).unwrap()
}

/// The state of a plain process that computes all ranks.
fn alone(spec: &CheckedSpec, engine: &Engine, ranks: u32) -> H256 {
	let ranked = Ranked::new(spec, seed(), ranks).unwrap();
	let mut state = begin(spec);
	for step in 0..STEPS {
		ranked.ranks().step(engine, &mut state, step).unwrap();
	}
	state.hash().unwrap()
}

/// A crew of this process that others can join.
fn crew(secret: &Secret) -> Crew {
	Crew::start(Options {
		workers: 1,
		threads: NonZeroUsize::MIN,
		listen: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
		secret: secret.clone(),
		patience: Patience { first: Duration::from_secs(5), least: Duration::from_secs(5) },
		program: "no-program".into(),
	})
	.unwrap()
}

/// Returns once so many compute.
fn wait_for(crew: &Crew, size: usize) {
	let begun = Instant::now();
	while crew.size() < size {
		assert!(begun.elapsed() < Duration::from_secs(20), "{} of {size}", crew.size());
		std::thread::sleep(Duration::from_millis(2));
	}
}

fn worker(crew: &Crew, secret: &Secret) -> JoinHandle<Result<(), WireError>> {
	let (to, secret) = (crew.address().unwrap(), secret.clone());
	std::thread::spawn(move || work::serve(TcpStream::connect(to).unwrap(), &secret))
}

/// A worker that does what it should not, once it is asked for a node.
fn bad(
	crew: &Crew,
	secret: &Secret,
	act: impl FnOnce(&mut Channel) + Send + 'static,
) -> JoinHandle<()> {
	let (to, secret) = (crew.address().unwrap(), secret.clone());
	std::thread::spawn(move || {
		let mut channel = Channel::connect(TcpStream::connect(to).unwrap(), &secret).unwrap();
		while let Ok(Some((kind, _))) = channel.receive(1 << 20) {
			if kind == Kind::Node {
				return act(&mut channel);
			}
		}
	})
}

fn train(crew: &Crew, spec: &CheckedSpec, engine: &Engine, ranks: u32) -> H256 {
	let ranked = Ranked::new(spec, seed(), ranks).unwrap();
	let mut state = begin(spec);
	for step in 0..STEPS {
		crew.step(&ranked, engine, &mut state, step).unwrap();
	}
	state.hash().unwrap()
}

#[test]
fn any_number_of_workers_comes_to_the_same_state() {
	let ((spec, engine), secret) = (job(), Secret::draw());
	let mut hashes = Vec::new();
	for ranks in [1, 2, 4, 8, 16] {
		let expected = alone(&spec, &engine, ranks);
		for workers in [1, 2, 3, 4] {
			let crew = crew(&secret);
			let others: Vec<_> = (1..workers).map(|_| worker(&crew, &secret)).collect();
			wait_for(&crew, workers);
			assert_eq!(train(&crew, &spec, &engine, ranks), expected, "{ranks} by {workers}");
			assert_eq!((crew.lost(), crew.size()), (0, workers));
			drop(crew);
			others.into_iter().for_each(|other| other.join().unwrap().unwrap());
		}
		hashes.push(expected);
	}
	hashes.sort();
	hashes.dedup();
	assert_eq!(hashes.len(), 5, "each number of ranks has its own model");
}

/// Two trainings in turns, and a worker that comes in the middle.
#[test]
fn workers_learn_of_each_training_and_may_come_late() {
	let ((spec, engine), secret) = (job(), Secret::draw());
	let crew = crew(&secret);
	let both = [4, 8].map(|ranks| Ranked::new(&spec, seed(), ranks).unwrap());
	let mut states = [begin(&spec), begin(&spec)];
	for step in 0..STEPS {
		if step % 2 == 0 && step < 4 {
			drop(worker(&crew, &secret));
			wait_for(&crew, 2 + step as usize / 2);
		}
		for (ranked, state) in both.iter().zip(&mut states) {
			crew.step(ranked, &engine, state, step).unwrap();
		}
	}
	assert_eq!((crew.size(), crew.lost()), (3, 0));
	let [four, eight] = states.map(|state| state.hash().unwrap());
	assert_eq!((four, eight), (alone(&spec, &engine, 4), alone(&spec, &engine, 8)));
}

/// Workers that die, are silent, send what is too long, or say no, each in the middle of a step.
#[test]
fn the_others_compute_what_a_lost_worker_had() {
	let ((spec, engine), secret) = (job(), Secret::draw());
	let expected = alone(&spec, &engine, 8);
	let acts: [fn(&mut Channel); 5] = [
		|channel| channel.close(),
		// It waits until the crew has lost its patience.
		|channel| assert!(!matches!(channel.receive(SHORT), Ok(Some(_)))),
		|channel| channel.send(Kind::Sum, &[&[0; 8]]).unwrap(),
		|channel| channel.send(Kind::Sum, &[&vec![0; 1 << 20]]).unwrap_or_default(),
		|channel| channel.send(Kind::No, &[b"not today"]).unwrap(),
	];
	for act in acts {
		let crew = crew(&secret);
		let good = worker(&crew, &secret);
		let lost = bad(&crew, &secret, act);
		wait_for(&crew, 3);
		// It has a node for certain only once it was asked for one.
		let ranked = Ranked::new(&spec, seed(), 8).unwrap();
		let mut state = begin(&spec);
		let mut step = 0;
		while step < STEPS {
			crew.step(&ranked, &engine, &mut state, step).unwrap();
			step += 1;
			if step == STEPS && crew.lost() == 0 {
				(state, step) = (begin(&spec), 0);
			}
		}
		assert_eq!((crew.lost(), crew.size()), (1, 2));
		assert_eq!(state.hash().unwrap(), expected);
		drop(crew);
		good.join().unwrap().unwrap();
		lost.join().unwrap();
	}
}

#[test]
fn who_does_not_know_the_secret_is_not_listened_to() {
	let ((spec, engine), secret) = (job(), Secret::draw());
	let crew = crew(&secret);
	let stranger = worker(&crew, &Secret::draw());
	assert!(stranger.join().unwrap().is_err());
	let mut other = TcpStream::connect(crew.address().unwrap()).unwrap();
	other.write_all(b"GET / HTTP/1.1\r\nHost: here\r\nAccept: everything\r\n\r\n").unwrap();
	let mut answer = Vec::new();
	// What was sent and not read may reset the connection.
	let _ = other.read_to_end(&mut answer);
	assert!(answer.len() <= 40, "nothing but what everybody is told");
	assert_eq!(crew.size(), 1);
	assert_eq!(train(&crew, &spec, &engine, 4), alone(&spec, &engine, 4));
	assert_eq!(Secret::parse(&secret.to_hex()), Some(secret.clone()));
	assert_eq!(Secret::parse("00"), None);
	assert!(!format!("{secret:?}").contains(&secret.to_hex()));
}

/// Two ends of a connection, between which a test can change what is sent.
fn through(change: impl FnOnce(&mut Vec<u8>) + Send + 'static) -> Result<Vec<u8>, WireError> {
	let secret = Secret::draw();
	let (inner, outer) = (
		TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap(),
		TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap(),
	);
	let (to_inner, to_outer) = (inner.local_addr().unwrap(), outer.local_addr().unwrap());
	let theirs = secret.clone();
	let sender = std::thread::spawn(move || {
		let stream = TcpStream::connect(to_outer).unwrap();
		let mut channel = Channel::connect(stream, &theirs).unwrap();
		channel.send(Kind::Sum, &[&[7; 100], &[8; 50]]).unwrap();
		channel.close();
	});
	std::thread::spawn(move || {
		let (mut from, _) = outer.accept().unwrap();
		let mut to = TcpStream::connect(to_inner).unwrap();
		let (mut back_from, mut back_to) = (to.try_clone().unwrap(), from.try_clone().unwrap());
		std::thread::spawn(move || std::io::copy(&mut back_from, &mut back_to));
		// The beginning and the greeting pass, and then all the rest at once.
		let greeting = 40 + 40 + 1 + env!("CARGO_PKG_VERSION").len();
		let mut bytes = vec![0; greeting];
		from.read_exact(&mut bytes).unwrap();
		to.write_all(&bytes).unwrap();
		let mut rest = Vec::new();
		from.read_to_end(&mut rest).unwrap();
		assert_eq!(rest.len(), 40 + 1 + 150);
		change(&mut rest);
		to.write_all(&rest).unwrap();
		to.shutdown(std::net::Shutdown::Write).unwrap();
	});
	let (stream, _) = inner.accept().unwrap();
	let mut channel = Channel::accept(stream, &secret).unwrap();
	let received = channel.receive(SHORT);
	sender.join().unwrap();
	received.map(|message| message.map(|(_, content)| content).unwrap_or_default())
}

#[test]
fn what_is_changed_on_the_way_is_seen() {
	let whole = through(|_| {}).unwrap();
	assert_eq!(whole, [[7; 100].as_slice(), &[8; 50]].concat());
	assert!(matches!(through(|bytes| bytes[90] ^= 1), Err(WireError::Forged)));
	assert!(matches!(through(|bytes| bytes[20] ^= 1), Err(WireError::Forged)));
	assert!(matches!(through(|bytes| bytes[0] -= 1), Err(WireError::Forged)));
	assert!(matches!(through(|bytes| bytes.truncate(100)), Err(WireError::Closed)));
	assert!(matches!(through(|bytes| bytes.truncate(20)), Err(WireError::Closed)));
	assert!(matches!(through(|bytes| bytes[3] = 1), Err(WireError::Long { limit: SHORT, .. })));
	assert!(through(|bytes| bytes.clear()).unwrap().is_empty());
}
