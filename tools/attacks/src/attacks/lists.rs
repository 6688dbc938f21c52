//! Attacks by friends of a cheat that ask for what nobody needs, and that it stores, so that nobody else can
//! ask for what it withholds.

use crate::{
	jobs::{accepts, terms, with_fee, Ask, Say},
	report::{amount, Attack, Outcome},
	scene::{answer, Party, Scene, Side, BOND},
	states::{request, silence},
};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	audit::AuditPhase,
	job::{Fate, Terms},
	pieces::{seat_share, Piece, Pieces, LATE_PIECES, MAX_PIECES},
	JobId,
};
use trainyard_runtime::{Balance, Runtime};

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "friend-fills-the-list",
		source: "a fourth reading",
		tries: "has two of three seats ask for all that can be stored, so that the third can ask for nothing",
		rule: "each seat has a share of the list, and what everybody reads is in nobody's",
		left: None,
		run: friend_fills_the_list,
	},
	Attack {
		name: "stores-out-strangers",
		source: "a fourth reading",
		tries: "asks for all that can be stored while a false result stands, again and again, and stores it",
		rule: "the oldest that is stored is let go, and each further piece asks for a larger pledge",
		left: None,
		run: stores_out_strangers,
	},
];

/// Segments of the job: it has more states than any list has room for.
const SEGMENTS: u32 = 120;
/// What the states of a false result hash to.
const FALSE: u8 = 2;
/// Bytes of the garbage that the cheat stores as a state: who asked for it does not complain.
const GARBAGE: usize = 10;
/// How often friends fill what there is while results stand.
const FILLS: u32 = 3;

/// Posts a job of that many segments, of which this trainer brings a false result.
fn posted(scene: &mut Scene, submitter: &Party, trainer: &Party) -> JobId {
	let mut spec = JobSpec::noisy_example();
	spec.training.checkpoint_interval = spec.training.steps / SEGMENTS;
	let checked = spec.clone().check().expect("it is valid");
	assert!(checked.segments() >= SEGMENTS);
	let terms = with_fee(&checked, Terms { audit_segments: 2, ..terms() });
	let job = scene.post(submitter, &spec, &terms).expect("it is valid");
	scene.works(trainer, job, FALSE);
	job
}

/// The cheat stores garbage for all that is asked for, in the window for that.
fn stores(scene: &mut Scene, trainer: &Party, job: JobId) {
	let audit = scene.window(job);
	let files = scene.files(job, &audit, GARBAGE, job);
	scene.store(trainer, job, &files).expect("it is what was asked for");
}

fn pieces(states: impl Iterator<Item = Piece>) -> Pieces {
	states.collect::<Vec<_>>().try_into().expect("one claim names as many")
}

/// What is on chain of a seat's bond.
fn bond(scene: &mut Scene, who: &Party) -> Balance {
	let pool = scene.chain.state(pallet_verification::Pool::<Runtime>::get);
	pool.get(&who.account).map_or(0, |entry| entry.bond)
}

fn friend_fills_the_list() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Attacker);
	let friends = scene.verifiers(Side::Attacker, 2, BOND);
	let seat = scene.verifiers(Side::Honest, 1, BOND).remove(0);
	scene.start();
	let job = posted(&mut scene, &submitter, &trainer);
	let audit = scene.seated(job);
	let own = scene.read_by(job, &audit, &seat);
	let others = (0..SEGMENTS).map(Piece::State).filter(|piece| !own.contains(piece));
	let others: Vec<Piece> = others.collect();
	let share = seat_share(3) as usize;
	let mut refused = Vec::new();
	for (at, friend) in friends.iter().enumerate() {
		let left = &others[at * share..];
		let most = pieces(left.iter().copied().take(MAX_PIECES as usize));
		let some = &left[..share];
		refused.push(answer(scene.call(friend, request(job, &most))));
		scene.call(friend, request(job, &pieces(some.iter().copied()))).expect("it is its share");
		stores(&mut scene, &trainer, job);
		scene.seated(job);
	}
	// What it drew the cheat gives to nobody.
	scene.call(&seat, request(job, &own)).expect("it has a share of its own");
	let voice = |ask: &Ask| match *ask.who == seat.account {
		true => silence(ask),
		false => Some(Say::Vouches),
	};
	let money = scene.settle(&[job], &voice)[0];
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Unavailable);
	assert_eq!(bond(&mut scene, &seat), BOND, "it pays for nothing");
	let facts = vec![
		("what friends are answered who ask for as much as a claim names", refused.join(", ")),
		("what they asked for together, and had stored", (2 * share).to_string()),
		("what the seat asked for after that", own.len().to_string()),
		("deposit that was lost", amount(money.slashed)),
	];
	Outcome { scene, facts }
}

fn stores_out_strangers() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Attacker);
	let friend = scene.hostile("friend");
	let watcher = scene.honest("watcher");
	scene.verifiers(Side::Attacker, 3, BOND);
	scene.start();
	let job = posted(&mut scene, &submitter, &trainer);
	scene.stands(job, &accepts);
	let challenge = scene.challenge_deposit(job);
	// What the pieces from this number on ask for that many of them.
	let least = |from: u32, count: u32| -> Balance {
		let numbers = (from..from + count).map(|number| Balance::from(number.saturating_sub(15)));
		numbers.sum::<Balance>() * (challenge / 16)
	};
	let ask = |pieces: Pieces, pledge: Balance| pallet_verification::Call::request {
		job,
		group: 0,
		pieces,
		pledge,
	};
	let mut pledged = 0;
	for fill in 0..FILLS {
		// The first state is the one that the watcher wants.
		let from = 1 + fill * LATE_PIECES;
		let some = pieces((from..from + LATE_PIECES).map(Piece::State));
		let pledge = least(fill * LATE_PIECES, LATE_PIECES);
		scene.call(&friend, ask(some, pledge)).expect("nobody else asks");
		pledged += pledge;
		stores(&mut scene, &trainer, job);
		scene.reaches(job, &accepts, |phase| matches!(phase, AuditPhase::Standing { .. }));
	}
	let pledge = least(FILLS * LATE_PIECES, 1);
	let wanted = pieces([Piece::State(0)].into_iter());
	let cheaper = answer(scene.call(&watcher, ask(wanted.clone(), pledge - 1)));
	scene.call(&watcher, ask(wanted, pledge)).expect("there is room for it");
	let lost = scene.began(&friend.account) - scene.worth(&friend.account);
	let money = scene.settle(&[job], &accepts)[0];
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Unavailable);
	let facts = vec![
		("pieces that were stored for friends", (FILLS * LATE_PIECES).to_string()),
		("what friends pledged for them", amount(pledged)),
		("what that cost them, with fees and bytes", amount(lost)),
		("what a stranger pledges for the next one, and has back", amount(pledge)),
		("where it pledges less", cheaper),
		("deposit that was lost", amount(money.slashed)),
	];
	Outcome { scene, facts }
}
