//! The court over the real pallets: the result of a real job is challenged, by calls only.

mod bets;
mod claims;
mod late;

use crate::{
	jobs::{audit_fees, chain, committee, end, in_state, run_until, view, BOND, SALT, VERIFIERS},
	length::flood,
};
use frame_support::{assert_ok, dispatch::GetDispatchInfo, traits::fungible::Inspect};
use pallet_court::{Disputes, Ending, Event, Opened, Posts, Ticks};
use sp_keyring::Sr25519Keyring::{self, Alice, Bob, Ferdie};
use sp_runtime::{transaction_validity::InvalidTransaction, DispatchError};
use std::collections::BTreeMap;
use trainyard_court::{
	game::{types::MAX_RESULTS, Target},
	referee::MAX_OPENINGS,
	testing::{
		jobs,
		run::{Change, Job, Run},
	},
};
use trainyard_protocol::{
	audit::AuditPhase,
	blob::Chunked,
	commitment,
	fees::{most_for_silence, LostShares, CHALLENGE_BASE},
	job::{Fate, JobState, Reveal, Settlement, Terms, MIN_AUDIT_FEE},
	JobId, Text,
};
use trainyard_runtime::{
	api::runtime_decl_for_trainyard_api::TrainyardApi,
	configs::{
		periods::{parameters::court, RuntimeParameters},
		system::{MAX_BLOCK_WEIGHT, MAX_ORDINARY_LENGTH},
	},
	*,
};
use trainyard_sandbox::{
	books,
	bundles::{applies, bent, Bundle},
	disputes::next_move,
	seats::{Seat, Verdict},
	Chain, Key,
};
use trainyard_traits::{Accusation, Audited, Defendant, DisputeId};

/// For how long machines may be away.
const PATIENCE: BlockNumber = 40;
/// Who accuses.
const CHALLENGER: Sr25519Keyring = Ferdie;

/// Lets windows be open for that long.
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
	honest: Bundle,
	/// What the trainer revealed.
	revealed: Bundle,
	/// What everyone had when the audit began.
	wealth: BTreeMap<AccountId, Balance>,
	/// What everyone paid for transactions since.
	paid: BTreeMap<AccountId, Balance>,
}

/// Prices that are far above the fees of transactions: 100 TRY for the work of the job, all of which is
/// less than a millionth of a `ut`.
fn terms(job: &Job) -> Terms {
	let mut terms = Terms {
		price_per_ut: 100_000_000 * TRY,
		replicas: 1,
		verifiers: 3,
		audit_segments: 2,
		audit_fee: 0,
		apply_blocks: 3,
		training_blocks: 30,
		machine: Default::default(),
		undecided_percent: 20,
		keep_every: 1,
		lottery: None,
	};
	let mut ext = sp_io::TestExternalities::default();
	let spec = job.spec().spec().clone();
	terms.audit_fee = ext.execute_with(|| Runtime::audit_fee(spec, terms.clone())).unwrap();
	terms
}

/// Takes a small job to where its results stand, as [`audited`] and [`Scene::vouch`] do.
fn deliver(patience: BlockNumber, train: impl FnOnce(&Job, &Run) -> Run) -> Scene {
	let mut scene = audited(patience, train);
	scene.vouch();
	scene
}

/// Takes a small job to its audit: //Bob posted it, //Alice reveals what `train` makes of the job and
/// its true run.
fn audited(patience: BlockNumber, train: impl FnOnce(&Job, &Run) -> Run) -> Scene {
	audited_job(jobs::small(), patience, train)
}

/// Does that with this job.
fn audited_job(
	mut job: Job,
	patience: BlockNumber,
	train: impl FnOnce(&Job, &Run) -> Run,
) -> Scene {
	let mut chain = chain();
	set_patience(&mut chain, patience);
	let (spec, terms) = (job.spec().spec().clone(), terms(&job));
	let digest = commitment::job(&spec, &terms);
	assert_ok!(
		chain.call(Bob, pallet_task_market::Call::submit_job { spec, terms, max_fee_per_ut: TRY })
	);
	let id = chain.state(Runtime::active_jobs).last().unwrap().id;
	let alice = Alice.to_account_id();
	assert_ok!(chain.call(Alice, applies(&alice, id, digest)));
	let assigned = run_until(&mut chain, id, "assignment", in_state(JobState::Training));
	job.world.case.seed = assigned.seed.unwrap();
	let honest = Run::new(&job, Change::Nothing);
	let trained = train(&job, &honest);
	let model_bytes = trained.model_bytes.clone();
	let model_root = trained.result().model_root;
	let seed = job.world.case.seed;
	let (honest, revealed) =
		(Bundle::trained(honest), Bundle::trained(trained).forced(&seed, &alice));
	let result = revealed.result(model_root);
	let reveal = Reveal {
		bundle_root: result.bundle_root,
		true_root: result.true_root,
		model_root: result.model_root,
		segments: result.segments,
		diverged: result.diverged,
		location: Text::new("http://127.0.0.1:8600").unwrap(),
	};
	let genesis = chain.state(|| System::block_hash(0));
	let commitment = commitment::result(&genesis, id, &alice, &result, &SALT);
	assert_ok!(chain.call(Alice, pallet_submissions::Call::commit { job: id, commitment }));
	run_until(&mut chain, id, "revealing", in_state(JobState::Revealing));
	let call = pallet_submissions::Call::reveal { job: id, reveal, salt: SALT };
	assert_ok!(chain.call(Alice, call));
	let model = Chunked::new(&model_bytes);
	assert_eq!((model.root, model.chunks.len()), (result.model_root, 1));
	let (size, content) = (model_bytes.len() as u64, model.content);
	assert_ok!(
		chain.call(Alice, pallet_model_storage::Call::register { size, content, period: None })
	);
	let upload = pallet_model_storage::Call::upload_chunk {
		root: model.root,
		index: 0,
		proof: model.proof(0).unwrap().try_into().unwrap(),
		bytes: model.chunks[0].to_vec().try_into().unwrap(),
	};
	assert_ok!(chain.call(Alice, upload));
	run_until(&mut chain, id, "audit", in_state(JobState::Auditing));
	let parties = [Alice, Bob, CHALLENGER].into_iter().chain(VERIFIERS);
	let wealth = parties.map(|who| {
		let who = who.to_account_id();
		let has = chain.state(|| Balances::total_balance(&who));
		(who, has)
	});
	let (wealth, paid) = (wealth.collect(), BTreeMap::new());
	Scene { chain, id, job, honest, revealed, wealth, paid }
}

/// What a cheat trains: it bends one element of a step and goes on from there.
fn cheat(job: &Job, honest: &Run) -> Run {
	bent(job, honest, SEGMENT, 3)
}

/// In which segment the cheat does that.
const SEGMENT: u32 = 1;

fn honestly(job: &Job, _: &Run) -> Run {
	Run::new(job, Change::Nothing)
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

	/// The accusation that segment 1 of what the trainer revealed ends as in `says`.
	fn accusation(&self, says: &Bundle) -> Accusation<AccountId> {
		let (defendant, target) = (self.defendant(), Target::Segment(SEGMENT));
		let (claimed, leaves) = (says.claims(&target), self.revealed.shown(&target));
		Accusation { defendant, target, claimed, leaves }
	}

	/// Binds the challenger to that, and shows it.
	fn challenge(&mut self, says: &Bundle) -> DisputeId {
		let accusation = self.accusation(says);
		let Accusation { defendant, target, claimed, .. } = &accusation;
		let who = CHALLENGER.to_account_id();
		let (id, hash) = self.chain.state(|| {
			let id = pallet_court::NextDispute::<Runtime>::get();
			(id, Court::digest(&who, defendant, target, claimed, &SALT))
		});
		assert_ok!(self.call(CHALLENGER, pallet_court::Call::commit { job: self.id, hash }));
		let call = pallet_court::Call::challenge { accusation, salt: SALT };
		assert_ok!(self.call(CHALLENGER, call));
		id
	}

	/// Returns the move of whoever is to move, where the challenger plays by `says`.
	fn next_move(&mut self, id: DisputeId, says: &Bundle) -> Option<(Sr25519Keyring, RuntimeCall)> {
		let (theirs, own) = (says.run.as_ref(), self.revealed.run.as_ref());
		let (who, call) = self.chain.state(|| next_move(id, theirs, own))?;
		Some((Sr25519Keyring::from_account_id(&who).expect("it is one of them"), call))
	}

	/// Plays a dispute to its end, by calls. Returns how it ended.
	fn play(&mut self, id: DisputeId, says: &Bundle) -> Ending {
		for _ in 0..90 {
			match self.next_move(id, says) {
				Some((who, call)) => {
					assert_ok!(self.call(who, call));
				}
				None => self.chain.run(1),
			}
			books::check(&mut self.chain).unwrap();
			if let Some(ending) = self.ending(id) {
				return ending;
			}
		}
		panic!("the dispute does not end");
	}

	/// Returns how a dispute ended in the latest block, if it did.
	fn ending(&mut self, id: DisputeId) -> Option<Ending> {
		self.chain.state(System::events).into_iter().find_map(|record| match record.event {
			RuntimeEvent::Court(Event::Ended { id: of, ending }) if of == id => Some(ending),
			_ => None,
		})
	}

	/// Lets every seat vouch for what was revealed, whatever that is.
	fn vouch(&mut self) {
		let revealed = &self.revealed;
		committee(&mut self.chain, self.id, revealed, |seat, result| {
			seat.vouches(0, result, revealed, &[])
		});
	}

	/// Takes the job to its end.
	fn settle(&mut self) -> (Fate, Settlement) {
		let ended = end(&mut self.chain, self.id);
		books::check(&mut self.chain).unwrap();
		(ended.replicas[0].fate, ended.settlement)
	}

	/// What a false accuser says.
	fn lie(&self) -> Bundle {
		let honest = self.honest.run.as_ref().expect("it was trained");
		Bundle::trained(cheat(&self.job, honest))
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
) -> LostShares {
	let deposit = view(&mut scene.chain, scene.id).deposit;
	let fees = audit_fees(settlement);
	assert!(fees == 3 * MIN_AUDIT_FEE && deposit == 300 * TRY + 3 * fees);
	let shares = LostShares::of(deposit, fees, proven, challenge);
	assert_eq!(settlement.slashed, deposit);
	assert_eq!(settlement.slashed_to_submitter, fees);
	assert_eq!(settlement.slashed_burned, (deposit - fees) / 2);
	assert_eq!(settlement.slashed_to_finders, shares.finder);
	assert_eq!(settlement.slashed_to_jackpot, shares.jackpot);
	assert_eq!(settlement.won, 0);
	assert_eq!(settlement.refunded + fees, settlement.escrowed, "the submitter lost nothing");
	assert_eq!(scene.gained(Bob), 0);
	shares
}

#[test]
fn a_cheat_is_convicted_by_a_judgement() {
	let mut scene = deliver(PATIENCE, cheat);
	let challenge = scene.challenge_deposit();
	assert_eq!(challenge, CHALLENGE_BASE + TRY / 1_000_000, "whatever the job pays");
	let honest = Bundle::trained(Run::new(&scene.job, Change::Nothing));
	let id = scene.challenge(&honest);
	assert_eq!(scene.play(id, &honest), Ending::Convicted { by_clock: false });
	assert_eq!(scene.gained(CHALLENGER), 0, "its deposit is back, and all else moves at the end");

	// The whole committee is wrong, and is not asked.
	let (fate, settlement) = scene.settle();
	assert_eq!(fate, Fate::Rejected);
	let shares = check_shares(&mut scene, &settlement, true, challenge);
	let rest = settlement.slashed - audit_fees(&settlement);
	assert_eq!((shares.finder, shares.jackpot), (rest / 4, rest - rest / 2 - rest / 4));
	assert_eq!(scene.gained(CHALLENGER), shares.finder as i128);

	// What was said is kept as long as the job.
	let kept = || Posts::<Runtime>::iter().count() + Opened::<Runtime>::iter().count();
	assert!(scene.chain.state(kept) > 3);
	scene.chain.leap(configs::market::JobRetention::get());
	// Anybody forgets it then, or the agenda has: after a leap blocks have no room for a while.
	let forgotten = scene.call(Bob, pallet_task_market::Call::forget { job: scene.id });
	let gone = pallet_task_market::Error::<Runtime>::NoSuchJob.into();
	assert!(forgotten.is_ok() || forgotten == Err(gone), "{forgotten:?}");
	assert_eq!(scene.chain.state(kept), 0);
	books::check(&mut scene.chain).unwrap();
}

#[test]
fn a_false_accuser_pays_whom_it_accused() {
	let mut scene = deliver(PATIENCE, honestly);
	let challenge = scene.challenge_deposit();
	let lie = scene.lie();
	let id = scene.challenge(&lie);
	assert_eq!(scene.play(id, &lie), Ending::Acquitted { by_clock: false });
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
	let mut scene = deliver(PATIENCE, cheat);
	let challenge = scene.challenge_deposit();
	let honest = Bundle::trained(Run::new(&scene.job, Change::Nothing));
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
	assert_eq!(shares.finder, most_for_silence(challenge), "no more than it cost");
	assert_eq!(scene.gained(CHALLENGER), shares.finder as i128);
}

/// A job is decided when its window is over, not when its committee has revealed.
#[test]
fn a_job_waits_for_its_window() {
	let mut scene = deliver(90, honestly);
	let id = scene.id;
	let window =
		|chain: &mut Chain| chain.state(|| <Verification as Audited<AccountId>>::window(id));
	let open = window(&mut scene.chain).expect("results stand");
	assert_eq!(open.until - open.from, 90);
	let (fate, settlement) = scene.settle();
	assert_eq!((fate, settlement.won), (Fate::Accepted, 0));
	assert_eq!(scene.chain.state(System::block_number), open.until + 1);
	assert_eq!(window(&mut scene.chain), None);
}

/// What nobody vouched for yet nobody has to challenge.
#[test]
fn nothing_is_challenged_before_results_stand() {
	let mut scene = audited(PATIENCE, cheat);
	let (job, hash) = (scene.id, Default::default());
	run_until(&mut scene.chain, job, "committee", |view| {
		let phase = view.audit.as_ref().map(|audit| audit.phase);
		matches!(phase, Some(AuditPhase::Committing { .. }))
	});
	let closed: DispatchError = pallet_court::Error::<Runtime>::NotOpen.into();
	let said = scene.call(CHALLENGER, pallet_court::Call::commit { job, hash });
	assert_eq!(said.map_err(DispatchError::stripped), Err(closed.stripped()));
}

/// One seat is enough against two that vouch for a false result: its rejection is a dispute.
#[test]
fn a_seat_that_rejects_convicts_against_the_others() {
	let mut scene = audited(PATIENCE, cheat);
	let (challenge, alice) = (scene.challenge_deposit(), Alice.to_account_id());
	let (revealed, honest) = (&scene.revealed, &scene.honest);
	let standing =
		committee(&mut scene.chain, scene.id, revealed, |seat, result| match seat.number {
			1 => Verdict::rejects(alice.clone(), Target::Segment(SEGMENT), revealed, honest),
			_ => seat.vouches(0, result, revealed, &[]),
		});
	let seats = standing.audit.unwrap().committee;
	let finder = Sr25519Keyring::from_account_id(&seats[1].verifier).unwrap();
	let id = scene.chain.state(pallet_court::NextDispute::<Runtime>::get) - 1;
	let dispute = scene.chain.state(|| Disputes::<Runtime>::get(id)).unwrap();
	assert_eq!((dispute.challenger, dispute.stake), (finder.to_account_id(), challenge));
	let honest = Bundle::trained(Run::new(&scene.job, Change::Nothing));
	assert_eq!(scene.play(id, &honest), Ending::Convicted { by_clock: false });
	let (fate, settlement) = scene.settle();
	assert_eq!(fate, Fate::Rejected);
	let shares = check_shares(&mut scene, &settlement, true, challenge);
	// The fees of this block's transactions of seats are not in these figures.
	let verifier = scene.chain.state(|| Runtime::verifier(finder.to_account_id())).unwrap();
	assert_eq!((verifier.bond, verifier.locked), (BOND, 0));
	// A tenth of it is for who finds forced errors.
	let fee = audit_fees(&settlement) as i128 / 3 * 9 / 10;
	let gained = scene.gained(finder);
	let most = shares.finder as i128 + fee;
	assert!((most - (TRY as i128)..=most).contains(&gained), "{gained} of {most}");
}

/// A seat that accuses falsely loses its stake to the trainer, and its fee.
#[test]
fn a_seat_that_rejects_what_is_true_pays_the_trainer() {
	let mut scene = audited(PATIENCE, honestly);
	let (challenge, alice, lie) = (scene.challenge_deposit(), Alice.to_account_id(), scene.lie());
	let revealed = &scene.revealed;
	let standing =
		committee(&mut scene.chain, scene.id, revealed, |seat, result| match seat.number {
			1 => Verdict::rejects(alice.clone(), Target::Segment(SEGMENT), revealed, &lie),
			_ => seat.vouches(0, result, revealed, &[]),
		});
	let liar = standing.audit.unwrap().committee[1].verifier.clone();
	let id = scene.chain.state(pallet_court::NextDispute::<Runtime>::get) - 1;
	assert_eq!(scene.play(id, &lie), Ending::Acquitted { by_clock: false });
	let (fate, settlement) = scene.settle();
	assert_eq!((fate, settlement.slashed), (Fate::Accepted, 0), "two of three gave evidence");
	assert_eq!(audit_fees(&settlement), 2 * MIN_AUDIT_FEE);
	let verifier = scene.chain.state(|| Runtime::verifier(liar)).unwrap();
	assert_eq!((verifier.bond, verifier.locked), (BOND - challenge, 0));
	assert_eq!(settlement.won, challenge);
}

/// Whoever vouched for a false segment is convicted by another seat that replayed it again.
#[test]
fn false_evidence_costs_its_seat_the_stake() {
	let mut scene = deliver(PATIENCE, cheat);
	let (job, honest) = (scene.id, Bundle::trained(Run::new(&scene.job, Change::Nothing)));
	let audit = view(&mut scene.chain, job).audit.unwrap();
	let genesis = scene.chain.state(|| System::block_hash(0));
	let result = audit.groups[0].result;
	let vouched = |verifier: &Sr25519Keyring| {
		let seat = Seat::of(&genesis, job, &audit, &Key::from(*verifier)).unwrap();
		seat.wanted(0, &result, &[]).contains(&SEGMENT)
	};
	let of = VERIFIERS.into_iter().find(vouched).expect("somebody drew the segment");
	let by = VERIFIERS.into_iter().find(|other| *other != of).unwrap();
	let stake = scene.chain.state(|| Runtime::verifier(of.to_account_id())).unwrap().locked;
	assert!(stake > scene.challenge_deposit());

	let target = Target::Evidence(SEGMENT);
	let bundle_root = result.bundle_root;
	let defendant = Defendant::Seat { job, who: of.to_account_id(), bundle_root };
	let (claimed, leaves) = (honest.claims(&target), scene.revealed.shown(&target));
	let accusation = Accusation { defendant, target, claimed, leaves };
	assert_ok!(scene.call(by, pallet_verification::Call::accuse { accusation }));
	let seat = scene.chain.state(pallet_court::NextDispute::<Runtime>::get) - 1;
	assert_eq!(scene.play(seat, &honest), Ending::Convicted { by_clock: false });
	let verifier = |scene: &mut Scene, who: Sr25519Keyring| {
		scene.chain.state(|| Runtime::verifier(who.to_account_id())).unwrap()
	};
	let lost = BOND - verifier(&mut scene, of).bond;
	assert_eq!(lost, stake, "half is burned, and a quarter is the finder's");
	let accusation = scene.accusation(&honest);
	assert_ok!(scene.call(by, pallet_verification::Call::accuse { accusation }));
	let trainer = scene.chain.state(pallet_court::NextDispute::<Runtime>::get) - 1;
	assert_eq!(scene.play(trainer, &honest), Ending::Convicted { by_clock: false });
	let (fate, settlement) = scene.settle();
	assert_eq!(fate, Fate::Rejected);
	assert_eq!(audit_fees(&settlement), 2 * MIN_AUDIT_FEE, "who was convicted has no fee");
	assert_eq!(verifier(&mut scene, by).bond, BOND);
}

/// Nobody convicts somebody by filling the blocks in which it would answer.
#[test]
fn moves_enter_blocks_that_are_full_of_remarks() {
	let mut scene = deliver(PATIENCE, cheat);
	let honest = Bundle::trained(Run::new(&scene.job, Change::Nothing));
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
		let window = Window::new(0, BlockNumber::MAX, 1);
		assert_eq!(Defendants::window(first.job()), Some(window));
		assert!(Defendants::challenge_deposit(first.job()).is_some());
		assert!(Defendants::clock(&first, &Target::Start).ticks > 0);
		assert_ne!(Defendants::make_accused(charged).unwrap().job(), first.job());
	});
}
