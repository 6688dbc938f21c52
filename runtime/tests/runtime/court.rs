//! The court over the real pallets: the result of a real job is challenged, by calls only.

use crate::{
	jobs::{accept, audit, chain, in_state, run_until, view, SALT},
	length::flood,
};
use codec::Encode;
use frame_support::{assert_ok, dispatch::GetDispatchInfo, traits::fungible::Inspect};
use pallet_court::{Disputes, Ending, Event, Opened, Posts, Ticks, JUDGE_AFTER};
use sp_keyring::Sr25519Keyring::{self, Alice, Bob, Ferdie};
use sp_runtime::{transaction_validity::InvalidTransaction, DispatchError};
use std::collections::BTreeMap;
use trainyard_court::{
	game::{
		self,
		player::{Denial, Player, Record},
		types::MAX_RESULTS,
		Claimed, Due, Game, Leaf, Moment, Place, Roots, Said, Target, Turn,
	},
	referee::{Computation, Lowered, MAX_OPENINGS},
	testing::{
		jobs,
		run::{other, Change, Job, Run},
	},
};
use trainyard_protocol::{
	blob::Chunked,
	commitment,
	fees::{ConvictionShares, CHALLENGE_BASE},
	job::{Fate, JobState, Reveal, Settlement, Terms},
	merkle, JobId, Text,
};
use trainyard_runtime::{
	api::runtime_decl_for_trainyard_api::TrainyardApi,
	configs::{
		periods::{parameters::court, RuntimeParameters},
		system::{MAX_BLOCK_WEIGHT, MAX_ORDINARY_LENGTH},
	},
	*,
};
use trainyard_sandbox::{books, Chain};
use trainyard_traits::{Accusation, Defendant, DisputeId};

/// For how long machines may be away.
const PATIENCE: BlockNumber = 40;
/// Who accuses.
const CHALLENGER: Sr25519Keyring = Ferdie;

/// Lets windows open for that long.
fn set_patience(chain: &mut Chain, blocks: BlockNumber) {
	chain.state(|| {
		let parameter = court::Parameters::Patience(court::Patience, Some(blocks));
		let set = RuntimeParameters::Court(parameter);
		assert_ok!(Parameters::set_parameter(RuntimeOrigin::root(), set));
	});
}

/// A job in its audit.
struct Scene {
	chain: Chain,
	id: JobId,
	job: Job,
	/// What is true.
	honest: Run,
	/// What the trainer revealed.
	revealed: Run,
	/// What everyone had when the audit began.
	wealth: BTreeMap<AccountId, Balance>,
	/// What everyone paid for transactions since.
	paid: BTreeMap<AccountId, Balance>,
}

/// Prices that are far above the fees of transactions: 1,000 TRY for the work of the job, all of which
/// is less than a millionth of a `ut`.
fn terms(job: &Job) -> Terms {
	let mut terms = Terms {
		price_per_ut: 1_000_000_000 * TRY,
		replicas: 1,
		verifiers: 3,
		audit_segments: 2,
		audit_fee: 0,
		apply_blocks: 3,
		training_blocks: 30,
		machine: Default::default(),
		undecided_percent: 20,
	};
	let mut ext = sp_io::TestExternalities::default();
	let spec = job.spec().spec().clone();
	terms.audit_fee = ext.execute_with(|| Runtime::audit_fee(spec, terms.clone())).unwrap();
	terms
}

/// Takes a small job to its audit: //Bob posted it, //Alice reveals what `train` makes of the job and
/// its true run.
fn deliver(patience: BlockNumber, train: impl FnOnce(&Job, &Run) -> Run) -> Scene {
	let (mut chain, mut job) = (chain(), jobs::small());
	set_patience(&mut chain, patience);
	let (spec, terms) = (job.spec().spec().clone(), terms(&job));
	let digest = commitment::job(&spec, &terms);
	assert_ok!(chain.call(Bob, pallet_task_market::Call::submit_job { spec, terms }));
	let id = chain.state(Runtime::active_jobs).last().unwrap().id;
	assert_ok!(chain.call(Alice, pallet_task_market::Call::apply { job: id, digest }));
	let assigned = run_until(&mut chain, id, "assignment", in_state(JobState::Training));
	job.world.case.seed = assigned.seed.unwrap();
	let honest = Run::new(&job, Change::Nothing);
	let revealed = train(&job, &honest);

	let result = revealed.result();
	let reveal = Reveal {
		bundle_root: result.bundle_root,
		model_root: result.model_root,
		segments: result.segments,
		diverged: result.diverged,
		location: Text::new("http://127.0.0.1:8600").unwrap(),
	};
	let genesis = chain.state(|| System::block_hash(0));
	let alice = Alice.to_account_id();
	let commitment = commitment::result(&genesis, id, &alice, &result, &SALT);
	assert_ok!(chain.call(Alice, pallet_submissions::Call::commit { job: id, commitment }));
	run_until(&mut chain, id, "revealing", in_state(JobState::Revealing));
	let call = pallet_submissions::Call::reveal { job: id, reveal, salt: SALT };
	assert_ok!(chain.call(Alice, call));
	let model = Chunked::new(&revealed.model_bytes);
	assert_eq!((model.root, model.chunks.len()), (result.model_root, 1));
	let (size, content) = (revealed.model_bytes.len() as u64, model.content);
	assert_ok!(chain.call(Alice, pallet_model_storage::Call::register { size, content }));
	let upload = pallet_model_storage::Call::upload_chunk {
		root: model.root,
		index: 0,
		proof: model.proof(0).unwrap().try_into().unwrap(),
		bytes: model.chunks[0].to_vec().try_into().unwrap(),
	};
	assert_ok!(chain.call(Alice, upload));
	run_until(&mut chain, id, "audit", in_state(JobState::Auditing));
	let wealth = [Alice, Bob, CHALLENGER].map(|who| {
		let who = who.to_account_id();
		let has = chain.state(|| Balances::total_balance(&who));
		(who, has)
	});
	let (wealth, paid) = (wealth.into(), BTreeMap::new());
	Scene { chain, id, job, honest, revealed, wealth, paid }
}

/// A run that bends one element of a step and goes on from there.
fn bent(job: &Job, honest: &Run) -> Run {
	let at = Moment::Step { segment: 1, step: 3 };
	let case = &job.world.case;
	let count = Lowered::new(case, Computation::Step { step: 3 }).unwrap().results();
	let runs = (0..count).map(|result| {
		let bits = other(honest.computed_at(&at).bits(result, 0));
		Run::new(job, Change::Element { at, result, element: 0, bits })
	});
	// Not every element has an effect.
	let differs = |run: &Run| run.leaf(2) != honest.leaf(2);
	runs.into_iter().find(differs).expect("some element has an effect")
}

/// What a defendant said, as the chain has it.
struct Kept(Defendant<AccountId>);

impl Said for Kept {
	fn posted(&self, place: &Place) -> Option<Roots> {
		Posts::<Runtime>::get((self.0.job(), &self.0, place))
	}

	fn opened(&self, place: &Place) -> Option<game::Opened> {
		Opened::<Runtime>::get((self.0.job(), &self.0, place))
	}
}

impl Scene {
	fn defendant(&self) -> Defendant<AccountId> {
		Defendant::Trainer { job: self.id, who: Alice.to_account_id() }
	}

	/// Makes a block with this call, and notes what it cost.
	fn call(
		&mut self,
		who: Sr25519Keyring,
		call: impl Into<RuntimeCall>,
	) -> Result<(), DispatchError> {
		let result = self.chain.call(who, call);
		self.note();
		result
	}

	/// Notes the fees of the latest block.
	fn note(&mut self) {
		use pallet_transaction_payment::Event::TransactionFeePaid;
		for record in self.chain.state(System::events) {
			if let RuntimeEvent::TransactionPayment(TransactionFeePaid {
				who, actual_fee, ..
			}) = record.event
			{
				*self.paid.entry(who).or_default() += actual_fee;
			}
		}
	}

	/// Returns what somebody gained since the audit began, but for fees; below 0 what it lost.
	fn gained(&mut self, who: Sr25519Keyring) -> i128 {
		let who = who.to_account_id();
		let has = self.chain.state(|| Balances::total_balance(&who));
		let fees = self.paid.get(&who).copied().unwrap_or_default();
		(has + fees) as i128 - self.wealth[&who] as i128
	}

	/// Binds the challenger to the accusation that segment 1 ends as in `run`, and shows it.
	fn challenge(&mut self, run: &Run) -> DisputeId {
		let (defendant, target) = (self.defendant(), Target::Segment(1));
		let claimed = Claimed::End(run.end_at(2).unwrap());
		let all = self.revealed.leaves();
		let leaf = |index: u32| Leaf {
			content: self.revealed.leaf(index).unwrap(),
			path: merkle::proof(&all, index as usize).unwrap().try_into().unwrap(),
		};
		let leaves = vec![leaf(1), leaf(2)].try_into().unwrap();
		let who = CHALLENGER.to_account_id();
		let (id, hash) = self.chain.state(|| {
			let id = pallet_court::NextDispute::<Runtime>::get();
			(id, Court::digest(&who, &defendant, &target, &claimed, &SALT))
		});
		assert_ok!(self.call(CHALLENGER, pallet_court::Call::commit { job: self.id, hash }));
		let accusation = Accusation { defendant, target, claimed, leaves };
		let call = pallet_court::Call::challenge { accusation, salt: SALT };
		assert_ok!(self.call(CHALLENGER, call));
		id
	}

	/// Returns the move of whoever is to move, by its run.
	fn next_move(&mut self, id: DisputeId, run: &Run) -> Option<(Sr25519Keyring, RuntimeCall)> {
		use pallet_court::Call;
		let (case, result) = (&self.job.world.case, &self.revealed.result());
		let (defender, said) = (&self.revealed, Kept(self.defendant()));
		self.chain.state(|| {
			let dispute = Disputes::<Runtime>::get(id)?;
			let stage = &dispute.stage;
			let game = Game { case, result, said: &said };
			let own = Player { case, record: defender };
			let (who, call) = match stage.turn {
				Turn::Defender => {
					let place = stage.place()?;
					let call = match game.due(stage).unwrap() {
						Due::Opening => {
							let opening = own.open(game, stage)?;
							Call::open { id, place, opening }
						}
						_ => Call::post { id, place, roots: own.post(game, stage)? },
					};
					(Alice, call)
				}
				Turn::Challenger => {
					let place = stage.place()?;
					let call = match (Player { case, record: run }).deny(game, stage)? {
						Denial::Deny(at) => Call::deny { id, place, at },
						Denial::Show(witness) => Call::show { id, place, witness },
					};
					(CHALLENGER, call)
				}
				Turn::Piece => {
					let mine = own.openings(stage).map(|openings| (Alice, openings));
					let theirs = (Player { case, record: run }).openings(stage);
					let (who, openings) = theirs.map(|o| (CHALLENGER, o)).or(mine)?;
					(who, Call::judge { id, openings: openings.encode().try_into().unwrap() })
				}
			};
			Some((who, call.into()))
		})
	}

	/// Plays a dispute to its end, by calls. Returns how it ended.
	fn play(&mut self, id: DisputeId, run: &Run) -> Ending {
		for _ in 0..30 {
			let Some((who, call)) = self.next_move(id, run) else { break };
			if matches!(call, RuntimeCall::Court(pallet_court::Call::judge { .. })) {
				self.chain.run(JUDGE_AFTER);
			}
			assert_ok!(self.call(who, call));
			books::check(&mut self.chain).unwrap();
		}
		self.ending(id).expect("it ended in the latest block")
	}

	/// Returns how a dispute ended in the latest block, if it did.
	fn ending(&mut self, id: DisputeId) -> Option<Ending> {
		self.chain.state(System::events).into_iter().find_map(|record| match record.event {
			RuntimeEvent::Court(Event::Ended { id: of, ending }) if of == id => Some(ending),
			_ => None,
		})
	}

	/// Lets the committee find the result true, and takes the job to its end.
	fn settle(&mut self) -> (Fate, Settlement) {
		let ended = audit(&mut self.chain, self.id, accept);
		books::check(&mut self.chain).unwrap();
		(ended.replicas[0].fate, ended.settlement)
	}

	fn challenge_deposit(&mut self) -> Balance {
		let id = self.id;
		self.chain.state(|| TaskMarket::challenge_deposit(id)).unwrap()
	}
}

/// Checks where the deposit of a convict went.
fn check_shares(
	scene: &mut Scene,
	settlement: &Settlement,
	proven: bool,
	challenge: Balance,
) -> ConvictionShares {
	let deposit = view(&mut scene.chain, scene.id).deposit;
	let fees = settlement.paid_to_verifiers;
	assert!(fees > 1_000 * TRY && deposit > 3 * fees);
	let shares = ConvictionShares::of(deposit, fees, proven, challenge);
	assert_eq!(settlement.slashed, deposit);
	assert_eq!(settlement.slashed_to_submitter, fees);
	assert_eq!(settlement.slashed_burned, (deposit - fees) / 2);
	assert_eq!(settlement.slashed_to_finders, shares.finder);
	assert_eq!(settlement.slashed_to_jackpot, shares.jackpot);
	assert_eq!((settlement.slashed_to_verifiers, settlement.won), (0, 0));
	assert_eq!(settlement.refunded + fees, settlement.escrowed, "the submitter lost nothing");
	assert_eq!(scene.gained(Bob), 0);
	shares
}

#[test]
fn a_cheat_is_convicted_by_a_judgement() {
	let mut scene = deliver(PATIENCE, bent);
	let challenge = scene.challenge_deposit();
	assert_eq!(challenge, CHALLENGE_BASE + 1_000 * TRY);
	let honest = Run::new(&scene.job, Change::Nothing);
	let id = scene.challenge(&honest);
	assert_eq!(scene.play(id, &honest), Ending::Convicted { by_clock: false });
	assert_eq!(scene.gained(CHALLENGER), 0, "its deposit is back, and all else moves at the end");

	// The committee is wrong, and is not asked.
	let (fate, settlement) = scene.settle();
	assert_eq!(fate, Fate::Rejected);
	let shares = check_shares(&mut scene, &settlement, true, challenge);
	let rest = settlement.slashed - settlement.paid_to_verifiers;
	assert_eq!((shares.finder, shares.jackpot), (rest / 4, rest - rest / 2 - rest / 4));
	assert_eq!(scene.gained(CHALLENGER), shares.finder as i128);

	// What was said is kept as long as the job.
	let kept = || Posts::<Runtime>::iter().count() + Opened::<Runtime>::iter().count();
	assert!(scene.chain.state(kept) > 3);
	scene.chain.leap(configs::market::JobRetention::get());
	assert_ok!(scene.call(Bob, pallet_task_market::Call::forget { job: scene.id }));
	assert_eq!(scene.chain.state(kept), 0);
	books::check(&mut scene.chain).unwrap();
}

#[test]
fn a_false_accuser_pays_whom_it_accused() {
	let mut scene = deliver(PATIENCE, |job, _| Run::new(job, Change::Nothing));
	let challenge = scene.challenge_deposit();
	let false_run = bent(&scene.job, &scene.honest);
	let id = scene.challenge(&false_run);
	assert_eq!(scene.play(id, &false_run), Ending::Acquitted { by_clock: false });
	let (fate, settlement) = scene.settle();
	assert_eq!(fate, Fate::Accepted);
	assert_eq!((settlement.won, settlement.slashed), (challenge, 0));
	assert!(settlement.paid_to_trainers > 0);
	assert_eq!(scene.gained(CHALLENGER), -(challenge as i128));
	let alice = Alice.to_account_id();
	let held = scene.chain.state(|| pallet_balances::Holds::<Runtime>::get(&alice));
	assert!(held.iter().all(|hold| !matches!(hold.id, RuntimeHoldReason::Court(_))));
}

#[test]
fn who_is_silent_is_convicted_by_its_clock() {
	let mut scene = deliver(PATIENCE, bent);
	let challenge = scene.challenge_deposit();
	let honest = Run::new(&scene.job, Change::Nothing);
	let id = scene.challenge(&honest);
	// Two replays take less than a block each.
	let clock = PATIENCE + 2;
	scene.chain.run(clock - 1);
	assert!(scene.chain.state(|| Disputes::<Runtime>::contains_key(id)));
	scene.chain.run(1);
	assert_eq!(scene.ending(id), Some(Ending::Convicted { by_clock: true }));
	let (fate, settlement) = scene.settle();
	assert_eq!(fate, Fate::Rejected);
	let shares = check_shares(&mut scene, &settlement, false, challenge);
	assert_eq!(shares.finder, challenge, "no more than it risked");
	assert_eq!(scene.gained(CHALLENGER), challenge as i128);
}

/// A job is decided when its window is over, not when its committee has revealed.
#[test]
fn a_job_waits_for_its_window() {
	let mut scene = deliver(90, |job, _| Run::new(job, Change::Nothing));
	let id = scene.id;
	let until = scene.chain.state(|| TaskMarket::window(id)).unwrap().until;
	let begun = scene.chain.state(System::block_number);
	assert!((85..=90).contains(&(until - begun)), "{begun} {until}");
	let (fate, settlement) = scene.settle();
	assert_eq!((fate, settlement.won), (Fate::Accepted, 0));
	assert_eq!(scene.chain.state(System::block_number), until + 1);
	assert_eq!(scene.chain.state(|| TaskMarket::window(id)), None);
}

/// Until the court decides in the place of majorities.
#[test]
fn no_result_can_be_challenged_where_there_is_no_patience() {
	let mut scene = deliver(0, bent);
	let (job, hash) = (scene.id, Default::default());
	let closed: DispatchError = pallet_court::Error::<Runtime>::NotOpen.into();
	let said = scene.call(CHALLENGER, pallet_court::Call::commit { job, hash });
	assert_eq!(said.map_err(DispatchError::stripped), Err(closed.stripped()));
	let (fate, settlement) = scene.settle();
	assert_eq!(fate, Fate::Accepted);
	assert_eq!((settlement.won, settlement.slashed_burned), (0, 0));
}

/// Nobody convicts somebody by filling the blocks in which it would answer.
#[test]
fn moves_enter_blocks_that_are_full_of_remarks() {
	let mut scene = deliver(PATIENCE, bent);
	let honest = Run::new(&scene.job, Change::Nothing);
	let id = scene.challenge(&honest);
	let (who, call) = scene.next_move(id, &honest).expect("the defender opens");
	assert_eq!(who, Alice);
	let chain = &mut scene.chain;
	let before = chain.state(Ticks::<Runtime>::get);
	chain.begin();
	let taken = flood(chain);
	assert!(taken > MAX_ORDINARY_LENGTH - 20_000, "{taken}");
	let full = InvalidTransaction::ExhaustsResources.into();
	while let Ok(result) = chain.apply(Bob, frame_system::Call::remark { remark: vec![7] }) {
		assert_ok!(result);
	}
	assert_eq!(chain.apply(CHALLENGER, call.clone()), Err(full), "it is not its turn");
	assert_eq!(chain.apply(Alice, call), Ok(Ok(())));
	chain.end();
	assert_eq!(chain.state(Ticks::<Runtime>::get), before + 1, "there was room for a judgement");
	assert_eq!(chain.state(|| Disputes::<Runtime>::get(id)).unwrap().moves, 1);
	assert!(chain.state(pallet_model_storage::FullBlocks::<Runtime>::get) > 0);
}

/// At worst: the longest openings of a piece of the largest job, each of whose terms is an exponential
/// and reads another row.
#[test]
fn a_judgement_is_a_tenth_of_a_block() {
	let openings = vec![0; MAX_OPENINGS].try_into().unwrap();
	let judge: RuntimeCall = pallet_court::Call::judge { id: 0, openings }.into();
	let mut chain = Chain::development();
	let weight = chain.state(|| judge.get_dispatch_info().call_weight);
	let tenth = MAX_BLOCK_WEIGHT.ref_time() / 10;
	println!("a judgement takes {} ms at most", weight.ref_time() as f64 / 1e9);
	assert!(weight.ref_time() <= tenth, "{weight} of {tenth}");
	// No job that can be posted is larger.
	const { assert!(MAX_RESULTS == 6_656) };
}

/// What the benchmarks of the court begin with: `cargo test --features runtime-benchmarks`.
#[cfg(feature = "runtime-benchmarks")]
#[test]
fn benchmarks_have_somebody_to_accuse() {
	use trainyard_runtime::court::Defendants;
	use trainyard_traits::{Accused, Charged, Window};
	let job = jobs::small();
	let (case, result) = (job.world.case.clone(), Run::new(&job, Change::Nothing).result());
	let charged = Charged { case, result, results: 100 };
	Chain::development().state(|| {
		let first = Defendants::make_accused(charged.clone()).unwrap();
		assert_eq!(Defendants::case(&first), Some(charged.clone()));
		let window = Window { from: 0, until: BlockNumber::MAX, again: 1 };
		assert_eq!(Defendants::window(first.job()), Some(window));
		assert!(Defendants::challenge_deposit(first.job()).is_some());
		assert!(Defendants::clock(&first, &Target::Start) > 0);
		assert_ne!(Defendants::make_accused(charged).unwrap().job(), first.job());
	});
}
