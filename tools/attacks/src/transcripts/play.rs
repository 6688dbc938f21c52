//! A dispute on the real runtime, call by call.

use super::{
	matters::{Matter, Role, Sides},
	operators,
	transcript::{Move, Purse, Transcript},
	words,
};
use crate::{
	jobs::{accepts, terms, with_fee, Makes, Model, SALT},
	scene::{Party, Scene, Side, BOND},
	states::{request, silence},
};
use codec::{Decode, Encode};
use frame_support::dispatch::GetDispatchInfo;
use pallet_court::{Call, Disputes, Ending, Event};
use std::{rc::Rc, time::Instant};
use trainyard_court::{
	game::{Game, Judgement, Piece, Target},
	referee::Openings,
	Case,
};
use trainyard_program::spec::CheckedSpec;
use trainyard_protocol::{
	job::{BlockNumber, JobState, Terms},
	pieces::Piece as Asked,
	JobId,
};
use trainyard_runtime::{
	court::Defendants, AccountId, Balance, Court, Runtime, RuntimeCall, RuntimeEvent, System, TRY,
};
use trainyard_sandbox::{
	bundles::Bundle,
	disputes::{next_move, Kept},
	signed,
};
use trainyard_traits::{Accusation, Accused, Defendant, DisputeId};

/// Blocks in which a dispute ends: both clocks of the development chain, and the moves.
const MOST_BLOCKS: u32 = 300;

/// Terms of a job whose price is far above the fees of transactions: 2 TRY for each millionth of a ut.
fn terms_of(spec: &CheckedSpec) -> Terms {
	let terms = Terms { price_per_ut: 2_000_000 * TRY, audit_segments: 1, ..terms() };
	with_fee(spec, terms)
}

/// A job before the court, and its parties.
struct Table {
	scene: Scene,
	id: JobId,
	case: Case,
	submitter: Party,
	trainer: Party,
	challenger: Party,
	/// In the order drawn.
	seats: Vec<Party>,
	/// What the defendant delivered, vouched for or stored is by this.
	delivered: Rc<Bundle>,
	claims: Rc<Bundle>,
	/// The height before the first transaction.
	began: BlockNumber,
	moves: Vec<Move>,
	judged: Option<(Piece, Judgement)>,
	ended: Option<Ending>,
	/// Of stakes of seats: what was burned, and what the jackpot has.
	stakes: (Balance, Balance),
	/// Seconds in which both sides made their runs.
	trained: f64,
}

/// Plays a dispute on a chain of its own, to the end of its job.
pub fn play(matter: &Matter, role: Role) -> Transcript {
	let (mut table, target) = Table::of(matter, role);
	let (job, deposit) = (table.id, table.scene.challenge_deposit(table.id));
	let had = table.purses();
	let defender = match matter.accuses_a_seat() {
		true => table.seats[0].clone(),
		false => table.trainer.clone(),
	};
	let who = defender.account.clone();
	let defendant = match matter.accuses_a_seat() {
		true => Defendant::Seat { job, who, bundle_root: table.delivered.root() },
		false => Defendant::Trainer { job, who },
	};
	let id = table.challenge(&defender, defendant, target);
	table.argue(id, &defender);
	let settlement = table.scene.settle(&[job], &accepts)[0];
	table.scene.check();
	let fate = table.scene.job(job).replicas[0].fate;
	let purses = table.purses().into_iter().zip(had).map(|((who, after, fees), before)| {
		let (_, before, paid) = before;
		Purse { who, before, after, fees: fees - paid }
	});
	let purses = purses.collect();
	let Table { case, moves, judged, ended, stakes: (burned, jackpot), trained, .. } = table;
	let kind = judged.as_ref().map_or("clock", |(piece, _)| words::kind(piece));
	let operator = match &judged {
		Some((Piece::Stretch { at, stretch, .. }, _)) => {
			Some(words::lowered(&case, at, |lowered| {
				let part = lowered.part(stretch.result).expect("it is one of them");
				operators::name_of(&lowered.program().ops[part.op as usize].kind)
			}))
		}
		_ => None,
	};
	Transcript {
		name: matter.name,
		what: matter.what,
		role,
		target: words::target(&target),
		moves,
		kind,
		operator,
		piece: judged.map(|(piece, found)| [words::piece(&piece, &case), words::judgement(&found)]),
		convicted: matches!(ended, Some(Ending::Convicted { .. })),
		fate: format!("{fate:?}"),
		purses,
		burned: burned + settlement.burned + settlement.slashed_burned,
		jackpot: jackpot + settlement.slashed_to_jackpot + settlement.prizes_to_jackpot,
		deposit,
		trained,
	}
}

impl Table {
	/// Takes the job of a matter to where its results stand. Returns also what is accused then.
	fn of(matter: &Matter, role: Role) -> (Self, Target) {
		let mut scene = Scene::new();
		let (own, other) = match role {
			Role::Cheat => (Side::Attacker, Side::Honest),
			Role::Accuser => (Side::Honest, Side::Attacker),
		};
		let submitter = scene.honest("submitter");
		let trainer = scene.trainer(own);
		let challenger = scene.party("challenger", other, 100_000 * TRY);
		// Who delivers something false has seats that vouch for it.
		scene.verifiers(own, 3, 50 * BOND);
		scene.start();
		let mut job = (matter.job)();
		let spec = job.spec().clone();
		let id = scene.post(&submitter, spec.spec(), &terms_of(&spec)).expect("it is valid");
		scene.makes(&trainer, id, Makes::Later);
		let view = scene.until(id, &silence, |view| view.state == JobState::Training);
		job.world.case.seed = view.seed.expect("replicas are drawn by it");
		let began = Instant::now();
		let Sides { delivered, claims, target, blob } = matter.sides(&job, role);
		let trained = began.elapsed().as_secs_f64();
		let delivered = Bundle::trained(delivered).forced(&job.world.case.seed, &trainer.account);
		let (delivered, claims) = (Rc::new(delivered), Rc::new(Bundle::trained(claims)));
		scene.brings(id, &delivered, if role == Role::Cheat { &claims } else { &delivered });
		if let (Some(bytes), Target::Rescue { state, .. }) = (&blob, target) {
			scene.stores(&trainer, id, state, bytes);
		}
		let audit = scene.stands(id, &accepts);
		let seats = scene.seats(&audit);
		let (began, case) = (scene.height(), job.world.case);
		let (moves, judged, ended, stakes) = (Vec::new(), None, None, (0, 0));
		let table = Self {
			scene,
			id,
			case,
			submitter,
			trainer,
			challenger,
			seats,
			delivered,
			claims,
			began,
			moves,
			judged,
			ended,
			stakes,
			trained,
		};
		(table, target)
	}

	/// What everyone has, and has paid for transactions: the seats together.
	fn purses(&mut self) -> Vec<(&'static str, Balance, Balance)> {
		let one = |party: &Party| vec![party.clone()];
		let groups = [
			("submitter", one(&self.submitter)),
			("trainer", one(&self.trainer)),
			("challenger", one(&self.challenger)),
			("three seats", self.seats.clone()),
		];
		let of = |(who, parties): (&'static str, Vec<Party>)| {
			let all = parties.iter().map(|party| {
				let account = &party.account;
				(self.scene.worth(account), self.scene.fees_of(account))
			});
			let add =
				|sum: (Balance, Balance), one: (Balance, Balance)| (sum.0 + one.0, sum.1 + one.1);
			let (has, paid) = all.fold((0, 0), add);
			(who, has, paid)
		};
		groups.map(of).to_vec()
	}

	/// The challenger binds itself, and shows to what.
	fn challenge(
		&mut self,
		defender: &Party,
		defendant: Defendant<AccountId>,
		target: Target,
	) -> DisputeId {
		let began = Instant::now();
		let (claimed, leaves) = (self.claims.claims(&target), self.delivered.shown(&target));
		let who = self.challenger.account.clone();
		let (id, hash) = self.scene.chain.state(|| {
			let id = pallet_court::NextDispute::<Runtime>::get();
			(id, Court::digest(&who, &defendant, &target, &claimed, &SALT))
		});
		let says = "binds itself to a challenge that nobody sees yet";
		let commit = Call::commit { job: self.id, hash }.into();
		let computed = began.elapsed().as_secs_f64();
		self.sends(id, defender, &who, commit, says.into(), computed);
		let says = format!(
			"accuses the {}: {} {}; shows {}",
			if matches!(defendant, Defendant::Seat { .. }) { "seat" } else { "trainer" },
			words::target(&target),
			words::claimed(&claimed, &target),
			words::count(leaves.len(), "leaf", "leaves"),
		);
		let accusation = Accusation { defendant, target, claimed, leaves };
		let challenge = Call::challenge { accusation, salt: SALT }.into();
		self.sends(id, defender, &who, challenge, says, 0.0);
		id
	}

	/// Both sides move until the dispute ends.
	fn argue(&mut self, id: DisputeId, defender: &Party) {
		for _ in 0..MOST_BLOCKS {
			if self.ended.is_some() {
				return;
			}
			let began = Instant::now();
			let (theirs, own) = (self.claims.run.as_ref(), self.delivered.run.as_ref());
			let due = self.scene.chain.state(|| next_move(id, theirs, own));
			let computed = began.elapsed().as_secs_f64();
			match due {
				Some((who, call)) => {
					let says = self.scene.chain.state(|| says(id, &call));
					self.sends(id, defender, &who, call, says, computed);
				}
				None => {
					self.scene.begin();
					self.scene.end();
					self.look(id);
				}
			}
		}
		assert!(self.ended.is_some(), "the dispute does not end");
	}

	/// Puts a transaction into the next block that takes it, and notes what it cost.
	fn sends(
		&mut self,
		id: DisputeId,
		defender: &Party,
		who: &AccountId,
		call: RuntimeCall,
		says: String,
		computed: f64,
	) {
		let is_defender = defender.account == *who;
		let party = if is_defender { defender.clone() } else { self.challenger.clone() };
		let RuntimeCall::Court(of_court) = &call else { panic!("a move of the court") };
		let name = name_of(of_court);
		let paid = self.scene.fees_of(who);
		// A block that changes the session takes none.
		for _ in 0..3 {
			self.scene.begin();
			let (bytes, declared) = self.scene.chain.state(|| {
				let signed = signed(party.key.clone(), call.clone());
				(signed.encoded_size(), signed.get_dispatch_info().total_weight().ref_time())
			});
			let began = Instant::now();
			let sent = self.scene.send(&party, call.clone());
			let applied = began.elapsed().as_secs_f64();
			let weight = self.scene.chain.state(used);
			self.scene.end();
			let Some(result) = sent else { continue };
			assert_eq!(result, Ok(()), "{name}: {says}");
			let (weight, base) = weight.expect("it was taken");
			self.moves.push(Move {
				block: self.scene.height() - self.began,
				by: if is_defender { "defender" } else { "challenger" },
				call: name,
				says,
				bytes,
				weight,
				declared: declared + base,
				fee: self.scene.fees_of(who) - paid,
				computed,
				applied,
			});
			return self.look(id);
		}
		panic!("no block takes {name}");
	}

	/// Reads what the latest block says about the dispute.
	fn look(&mut self, id: DisputeId) {
		for record in self.scene.chain.state(System::events) {
			match record.event {
				RuntimeEvent::Court(Event::Judged { id: of, piece, judgement, .. }) if of == id => {
					self.judged = Some((piece, judgement));
				}
				RuntimeEvent::Court(Event::Ended { id: of, ending }) if of == id => {
					self.ended = Some(ending);
				}
				RuntimeEvent::Verification(pallet_verification::Event::EvidenceConvicted {
					burned,
					jackpot,
					..
				}) => self.stakes = (self.stakes.0 + burned, self.stakes.1 + jackpot),
				_ => {}
			}
		}
	}
}

/// Returns the weight of the last transaction of the open block, and the part of it that every transaction
/// has.
fn used() -> Option<(u64, u64)> {
	let info = System::events().into_iter().rev().find_map(|record| match record.event {
		RuntimeEvent::System(frame_system::Event::ExtrinsicSuccess { dispatch_info }) => {
			Some(dispatch_info)
		}
		_ => None,
	})?;
	let limits =
		<<Runtime as frame_system::Config>::BlockWeights as frame_support::traits::Get<_>>::get();
	let limits: frame_system::limits::BlockWeights = limits;
	Some((info.weight.ref_time(), limits.get(info.class).base_extrinsic.ref_time()))
}

/// The name of a call.
fn name_of(call: &Call<Runtime>) -> &'static str {
	match call {
		Call::commit { .. } => "commit",
		Call::challenge { .. } => "challenge",
		Call::post { .. } => "post",
		Call::open { .. } => "open",
		Call::deny { .. } => "deny",
		Call::show { .. } => "show",
		Call::judge { .. } => "judge",
		Call::poke { .. } => "poke",
		_ => "another call",
	}
}

/// What a move says, in the state before it.
fn says(id: DisputeId, call: &RuntimeCall) -> String {
	let RuntimeCall::Court(call) = call else { panic!("a move of the court") };
	match call {
		Call::post { place, roots, .. } => {
			let digests = words::count(roots.len(), "digest", "digests");
			format!("posts {digests}: {}", words::place(place))
		}
		Call::open { place, opening, .. } => words::opening(place, opening),
		Call::deny { place, at, .. } => {
			let dispute = Disputes::<Runtime>::get(id).expect("it is played");
			let charged = Defendants::case(&dispute.defendant).expect("it is accused");
			let said = Kept(dispute.defendant);
			let game = Game { case: &charged.case, result: &charged.result, said: &said };
			let claims = game.claims(&dispute.stage).expect("it is the challenger's turn");
			let denied = words::claim(&claims[*at as usize]);
			format!("{}: denies {denied}", words::place(place))
		}
		Call::show { place, witness, .. } => {
			format!("{}: {}", words::place(place), words::shown(witness))
		}
		Call::judge { openings, .. } => {
			let brought = Openings::decode(&mut &openings[..]).expect("it was encoded");
			words::openings(&brought, openings.len())
		}
		_ => "shows that it was said before".into(),
	}
}

impl Scene {
	/// Who waits for a result of `job` brings this one; `truth` is what an honest training delivers.
	fn brings(&mut self, job: JobId, delivered: &Rc<Bundle>, truth: &Rc<Bundle>) {
		let run = delivered.run.as_ref().expect("it was trained");
		let model = Model::new(&run.model_bytes);
		for work in self.works.iter_mut().filter(|work| work.job == job) {
			(work.bundle, work.model) = (Some(delivered.clone()), model.clone());
		}
		self.truths.insert(job, truth.clone());
	}

	/// A seat asks for a state of the only result of `job`, and its trainer stores these bytes for it.
	fn stores(&mut self, trainer: &Party, job: JobId, state: u32, bytes: &[u8]) {
		let audit = self.seated(job);
		let piece = Asked::State(state);
		let reads = |seat: &Party| self.read_by(job, &audit, seat).contains(&piece);
		let asks = self.seats(&audit).into_iter().find(reads).expect("somebody replays it");
		let pieces = vec![piece].try_into().expect("it is one");
		self.call(&asks, request(job, &pieces)).expect("an audit reads it");
		let audit = self.window(job);
		let files = self.file(job, &audit, &Model::new(bytes));
		self.store(trainer, job, &files).expect("it is what was asked for");
	}
}
