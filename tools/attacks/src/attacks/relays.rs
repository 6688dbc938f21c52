//! Attacks on relays: states that are too large for the chain, and samples of all states, of jobs that are posted
//! and trained, so that seats can open chunks of them. The chain carries so little that the states of a small job
//! are too large.

use crate::{
	jobs::{accepts, bends, compact, honestly, segmented, trained_terms, truth, with_fee, Voice},
	report::{amount, Attack, Outcome},
	scene::{Party, Scene, Side, BOND},
};
use trainyard_court::game::player::{Record, StateAt};
use trainyard_program::{lower, needs::Needs, spec::CheckedSpec};
use trainyard_protocol::{
	audit::AuditPhase,
	content, fees,
	job::Fate,
	pieces::{Answer, Piece},
	relay::{self, Chunk, ChunkOpening, RelayStage, RelayView, SampleChunk, SEATS},
	JobId, H256,
};
use trainyard_runtime::{
	api::runtime_decl_for_trainyard_api::TrainyardApi,
	configs::periods::{parameters::periods, RuntimeParameters},
	AccountId, Balance, Parameters, Runtime, RuntimeCall, RuntimeOrigin,
};
use trainyard_sandbox::bundles::Bundle;

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "withheld-and-large",
		source: "decision 0029",
		tries: "gives a state that no rescue can carry to its own verifiers alone",
		rule: "a committee that is drawn for it has it by majority, or the result is lost",
		left: None,
		run: withheld_and_large,
	},
	Attack {
		name: "lies-about-a-relay",
		source: "decision 0029",
		tries: "has its verifiers say that they have such a state, which nobody has",
		rule: "who says so opens a chunk that a later seed draws, or loses its stake",
		left: None,
		run: lies_about_a_relay,
	},
	Attack {
		name: "shows-no-samples",
		source: "decision 0029",
		tries: "opens the states of a small job to its own verifiers alone, so that nobody sees how far it moves",
		rule: "samples of all states are relayed, at places that are drawn after the commitment",
		left: None,
		run: shows_no_samples,
	},
	Attack {
		name: "asks-for-what-is-large",
		source: "decision 0029",
		tries: "asks for such a state of a true result, again and again",
		rule: "each relay that finds a piece held makes the next one dearer by a committee",
		left: None,
		run: asks_for_what_is_large,
	},
];

/// The state that is asked for.
const STATE: Piece = Piece::State(1);

/// How a seat behaves that does not have the piece.
#[derive(Clone, Copy, PartialEq)]
enum Without {
	/// It says that it does not.
	Admits,
	/// It says that it does.
	Lies,
}

/// Takes a trained job of this trainer to the window for challenges, and where a state is asked for on a chain that
/// carries none of it: root has made the largest rescue smaller.
fn standing(
	scene: &mut Scene,
	[submitter, trainer]: [&Party; 2],
	lies: bool,
	voice: Voice,
	piece: Piece,
) -> JobId {
	let made = if piece == STATE { compact() } else { segmented() };
	let spec = made.spec().clone();
	let needs = Needs::of(&spec);
	let state = needs.checkpoint;
	let bytes = if piece == STATE { state } else { needs.all_samples(1) };
	assert!(bytes > 0, "a segment can be picked");
	scene.chain.state(|| {
		if piece != STATE {
			return;
		}
		let room = periods::Parameters::LargestRescue(periods::LargestRescue, Some(state - 1));
		let value = RuntimeParameters::Periods(room);
		Parameters::set_parameter(RuntimeOrigin::root(), value).expect("root may");
	});
	let terms = with_fee(&spec, trained_terms());
	let job = scene.post(submitter, spec.spec(), &terms).expect("it is valid");
	let quote = scene.chain.state(|| pallet_task_market::Jobs::<Runtime>::get(job)).unwrap().quote;
	let fees = relay::Fees::of(fees::RELAY_FEE, quote.price);
	let relays = fees.escrowed(&piece, bytes).expect("it is in range");
	assert!(quote.storage >= relays, "the escrow has what relays may cost");
	scene.trains(trainer, job, if lies { bends } else { honestly });
	scene.reaches(job, voice, |phase| matches!(phase, AuditPhase::Standing { .. }));
	job
}

/// Opens a chunk of what is asked for.
fn opening(
	spec: &CheckedSpec,
	bundle: &Bundle,
	relay: &RelayView<AccountId>,
	number: u64,
) -> ChunkOpening {
	let (checkpoint, at) = match (relay.piece, relay.places) {
		(Piece::Samples, Some(places)) => {
			let SampleChunk { checkpoint, place } =
				relay::sample_chunk(spec, (1, spec.segments()), &places, number)
					.expect("it has the chunk");
			(checkpoint, place)
		}
		_ => (1, relay::tensor_chunk(spec, number).expect("it has the chunk")),
	};
	let run = bundle.run.as_ref().expect("it was trained");
	let of = StateAt::Checkpoint(checkpoint);
	let bytes_of = |tensor: u32| run.tensor(of, tensor, <[u8]>::to_vec);
	// Sorted by name, as states are hashed.
	let mut all: Vec<(String, Vec<u8>)> = (0u32..)
		.zip(lower::state(spec))
		.map(|(at, tensor)| (tensor.name, bytes_of(at).expect("it is a state of the run")))
		.collect();
	all.sort();
	let contents: Vec<H256> = all.iter().map(|(_, bytes)| content::hash(bytes)).collect();
	let chunk = Chunk::of(&all[at.tensor as usize].1, at.chunk).expect("it has the chunk");
	let pieces = [Piece::State(checkpoint)];
	let mut answers = bundle.answers(&pieces, |_| H256::zero()).into_iter();
	let Some(Answer::State { leaf, .. }) = answers.next() else { panic!("it is a state") };
	relay::open(spec, leaf, &contents, at.tensor, chunk).expect("it is of the state")
}

/// What the seats of a relay send in the open block: those that `has` have the piece.
fn seats_act(
	scene: &mut Scene,
	relay: &RelayView<AccountId>,
	has: &dyn Fn(&Party) -> bool,
	without: Without,
) {
	use pallet_verification::Call::{say, show_chunk};
	let view = scene.job(relay.job);
	let spec = view.spec.check().expect("it was posted");
	let audit = view.audit.expect("it is audited");
	let bundle = scene.delivered(relay.job, &audit.groups[0].result.bundle_root);
	let again = matches!(relay.stage, RelayStage::Saying { .. });
	for seat in &relay.seats {
		let Some(party) = scene.party_of(&seat.who) else { continue };
		let id = relay.id;
		let lies = without == Without::Lies && party.side == Side::Attacker;
		let says = has(&party) || lies;
		if again && !seat.shown && !seat.lost && seat.says != Some(says) {
			scene.send(&party, say { relay: id, has: says });
		}
		if let Some(number) = seat.due.filter(|_| has(&party)) {
			let opening = opening(&spec, &bundle, relay, number);
			let call: RuntimeCall = show_chunk { relay: id, opening }.into();
			if let Some(result) = scene.send(&party, call) {
				result.expect("it opens what was drawn");
			}
		}
	}
}

/// Who asked for the piece, and whether it was held, when its relay has ended.
fn relayed(
	scene: &mut Scene,
	asker: &Party,
	(job, piece): (JobId, Piece),
	voice: Voice,
	has: &dyn Fn(&Party) -> bool,
	without: Without,
) -> Relayed {
	let before = scene.height();
	let most = Balance::MAX;
	let call = pallet_verification::Call::request_relay { job, group: 0, piece, most };
	scene.call(asker, call).expect("it is too large for the chain");
	let mut seats: Vec<AccountId> = Vec::new();
	let mut prepaid = 0;
	for _ in 0..1_000 {
		let relays = scene.chain.state(|| Runtime::relays_of(job));
		let Some(relay) = relays.into_iter().next() else {
			let blocks = scene.height() - before;
			return Relayed { seats, blocks, prepaid };
		};
		if seats.is_empty() {
			seats = relay.seats.iter().map(|seat| seat.who.clone()).collect();
			prepaid = scene.chain.state(|| {
				let relay = pallet_verification::Relays::<Runtime>::get(relay.id);
				relay.map_or(0, |relay| relay.prepaid)
			});
		}
		scene.begin();
		scene.act(voice);
		seats_act(scene, &relay, has, without);
		scene.end();
	}
	panic!("a relay does not end");
}

struct Relayed {
	seats: Vec<AccountId>,
	blocks: u32,
	prepaid: Balance,
}

impl Relayed {
	/// How many of the seats were the attacker's.
	fn hostile(&self, scene: &Scene) -> usize {
		let seats = self.seats.iter().filter_map(|who| scene.party_of(who));
		seats.filter(|party| party.side == Side::Attacker).count()
	}
}

/// The submitter, the trainer, and a stranger, with verifiers of which so many are the attacker's.
fn parties(scene: &mut Scene, side: Side, hostile: usize) -> [Party; 3] {
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(side);
	let stranger = match side {
		Side::Attacker => scene.honest("whistleblower"),
		Side::Honest => scene.hostile("stranger"),
	};
	scene.verifiers(Side::Honest, 60, BOND);
	if hostile > 0 {
		scene.verifiers(Side::Attacker, hostile, BOND);
	}
	scene.start();
	[submitter, trainer, stranger]
}

/// Takes a false result of which this piece is withheld to its end. The verifiers of the trainer `have` it or
/// not.
fn withheld(piece: Piece, have: bool, without: Without) -> Outcome {
	let mut scene = Scene::new();
	let [submitter, trainer, asker] = parties(&mut scene, Side::Attacker, 15);
	let job = standing(&mut scene, [&submitter, &trainer], true, &accepts, piece);
	let has = |party: &Party| have && party.side == Side::Attacker;
	let relayed = relayed(&mut scene, &asker, (job, piece), &accepts, &has, without);
	let money = scene.settle(&[job], &accepts)[0];
	let view = scene.job(job);
	assert_eq!(view.replicas[0].fate, Fate::Unavailable);
	let lost = scene.chain.state(|| {
		let pool = pallet_verification::Pool::<Runtime>::get();
		pool.values().map(|entry| BOND.saturating_sub(entry.bond)).sum::<Balance>()
	});
	let facts = vec![
		(
			"its seats in the committee",
			format!("{} of {}", relayed.hostile(&scene), relayed.seats.len()),
		),
		("blocks of the relay", relayed.blocks.to_string()),
		("prepaid by who asked, which returns", amount(relayed.prepaid)),
		("what verifiers lost of their bonds", amount(lost)),
		("deposit that was lost", amount(money.slashed)),
	];
	Outcome { scene, facts }
}

fn withheld_and_large() -> Outcome {
	withheld(STATE, true, Without::Admits)
}

fn shows_no_samples() -> Outcome {
	withheld(Piece::Samples, true, Without::Admits)
}

fn lies_about_a_relay() -> Outcome {
	withheld(STATE, false, Without::Lies)
}

fn asks_for_what_is_large() -> Outcome {
	let mut scene = Scene::new();
	let [submitter, trainer, asker] = parties(&mut scene, Side::Honest, 0);
	let job = standing(&mut scene, [&submitter, &trainer], false, &truth, STATE);
	let (mut prepaid, mut blocks) = (Vec::new(), 0);
	for _ in 0..3 {
		let of = (job, STATE);
		let relayed = relayed(&mut scene, &asker, of, &truth, &|_| true, Without::Admits);
		assert_eq!(relayed.seats.len(), SEATS as usize);
		prepaid.push(amount(relayed.prepaid));
		blocks += relayed.blocks;
	}
	let money = scene.settle(&[job], &truth)[0];
	let view = scene.job(job);
	assert_eq!(view.replicas[0].fate, Fate::Accepted);
	scene.buys(&submitter, money.escrowed - money.refunded);
	let facts = vec![
		("prepaid for each relay", prepaid.join(", ")),
		("blocks of all three", blocks.to_string()),
		("deposit that was lost", amount(money.slashed)),
	];
	Outcome { scene, facts }
}
