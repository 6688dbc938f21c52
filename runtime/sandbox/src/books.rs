//! Whether the books of the whole chain balance: what no single pallet can see.
//!
//! - [`check`] compares what is on hold of *every* account, for every reason, with what the
//!   pallets' records say, so a hold that was left behind is seen as well; it adds up all balances,
//!   looks for the parts of each job in the pallets that it is in, and runs `try_state` of each
//!   pallet of ours.
//! - [`Issuance`] follows the money that there is, block by block: only block rewards make any, and
//!   only fees, protocol fees, halves of what convicts lose, and dust unmake it.

use crate::Chain;
use frame_support::traits::VariantCount;
use std::collections::BTreeMap;
use trainyard_protocol::{audit::AuditPhase, job::JobState, JobId};
use trainyard_runtime::{configs::session::KeyDeposit, *};
use trainyard_task::views::Side;

/// What is on hold of an account, by reason.
type Holds = BTreeMap<(AccountId, Reason), Balance>;

/// Why something is on hold; the runtime's own type has no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
	Escrow,
	Deposit,
	Record,
	TrainerBond,
	VerifierBond,
	Claim,
	Relay,
	Blob,
	Project,
	Driller,
	Challenge,
	Keys,
	Aggregates,
	Federation,
	Proposal,
	SwarmBudget,
	Swarm,
	SwarmSlice,
	SwarmPeer,
	SwarmPurse,
	SwarmClaim,
	SwarmChallenge,
	Set,
	TaskEscrow,
	TaskRecord,
	TaskReplica,
	TaskChallenge,
	BetStake,
	BetRecord,
}

/// Checks the state of a chain between two blocks.
///
/// # Errors
///
/// Returns which rule does not hold, and for whom.
pub fn check(chain: &mut Chain) -> Result<(), String> {
	chain.state(|| {
		pallets()?;
		parts()?;
		let (held, recorded) = (held(), recorded());
		for key in held.keys().chain(recorded.keys()) {
			let (is, ought) = (held.get(key), recorded.get(key));
			if is != ought {
				return Err(format!("{key:?}: {is:?} is on hold, {ought:?} is recorded"));
			}
		}
		balances()
	})
}

/// Runs `try_state` of every pallet of ours.
fn pallets() -> Result<(), String> {
	let said = |name: &str, result: Result<(), sp_runtime::TryRuntimeError>| {
		result.map_err(|error| format!("{name}: {error:?}"))
	};
	said("hashrate", Hashrate::do_try_state())?;
	said("finality", Finality::do_try_state())?;
	said("drilling", Drilling::do_try_state())?;
	said("stints", Stints::do_try_state())?;
	said("task-market", TaskMarket::do_try_state())?;
	said("submissions", Submissions::do_try_state())?;
	said("model-storage", ModelStorage::do_try_state())?;
	said("verification", Verification::do_try_state())?;
	said("federation", Federation::do_try_state())?;
	said("swarm", Swarm::do_try_state())?;
	said("sets", Sets::do_try_state())?;
	said("bets", Bets::do_try_state())?;
	said("pools", Pools::do_try_state())?;
	said("tasks", Tasks::do_try_state())?;
	said("court", Court::do_try_state())
}

/// Checks that each job has in other pallets what its state says, and nothing else: a round of its
/// trainers, and an audit that paid no more services than there can be. A round or an audit has a
/// job.
fn parts() -> Result<(), String> {
	use pallet_submissions::{Phase, Rounds};
	use pallet_task_market::{Hearings, Jobs};
	use pallet_verification::AuditRecords;
	for (id, job) in Jobs::<Runtime>::iter() {
		let round = Rounds::<Runtime>::get(id);
		let audit = AuditRecords::<Runtime>::get(id);
		let phase = round.as_ref().map(|round| round.phase);
		let runs = audit.as_ref().map(|audit| audit.phase != AuditPhase::Done);
		let right = match job.state {
			JobState::Open | JobState::Seeding => phase.is_none() && runs.is_none(),
			JobState::Training => phase == Some(Phase::Committing) && runs.is_none(),
			JobState::Revealing => phase == Some(Phase::Revealing) && runs.is_none(),
			// What was decided waits until nothing is disputed.
			JobState::Auditing => {
				let waits = Hearings::<Runtime>::contains_key(id) && runs == Some(false);
				phase == Some(Phase::Closed) && (runs == Some(true) || waits)
			}
			JobState::Ended(_) => matches!(phase, None | Some(Phase::Closed)) && runs != Some(true),
		};
		if !right {
			return Err(format!(
				"job {id} is {:?}, its round {phase:?}, its audit {audit:?}",
				job.state
			));
		}
		if let Some(round) = round {
			let entered = round.entries.iter().map(|entry| &entry.trainer);
			if !entered.eq(job.replicas.iter().map(|replica| &replica.trainer)) {
				return Err(format!("the round of job {id} has other trainers"));
			}
		}
		if let Some(audit) = audit {
			let most = (audit.round as usize + 1) * audit.verifiers as usize;
			if audit.served.len() > most {
				return Err(format!("{} services in the audit of job {id}", audit.served.len()));
			}
		}
	}
	let rounds = Rounds::<Runtime>::iter_keys();
	let of_nobody = |id: &JobId| !Jobs::<Runtime>::contains_key(id);
	match rounds.chain(AuditRecords::<Runtime>::iter_keys()).find(of_nobody) {
		Some(id) => Err(format!("a round or an audit of job {id}, which is not there")),
		None => Ok(()),
	}
}

/// What is on hold, as the pallet of balances has it.
fn held() -> Holds {
	use pallet_bets::HoldReason as Betting;
	use pallet_federation::HoldReason as Rounds;
	use pallet_swarm::HoldReason as Peers;
	use pallet_task_market::HoldReason as Market;
	use pallet_tasks::HoldReason as Computing;
	use pallet_verification::HoldReason as Seats;
	let mut holds = Holds::new();
	for (who, entries) in pallet_balances::Holds::<Runtime>::iter() {
		for entry in entries {
			let reason = match entry.id {
				RuntimeHoldReason::TaskMarket(Market::Escrow) => Reason::Escrow,
				RuntimeHoldReason::TaskMarket(Market::Deposit) => Reason::Deposit,
				RuntimeHoldReason::TaskMarket(Market::Record) => Reason::Record,
				RuntimeHoldReason::Hashrate(_) => Reason::TrainerBond,
				RuntimeHoldReason::Verification(Seats::VerifierBond) => Reason::VerifierBond,
				RuntimeHoldReason::Verification(Seats::Claim) => Reason::Claim,
				RuntimeHoldReason::Verification(Seats::Relay) => Reason::Relay,
				RuntimeHoldReason::ModelStorage(_) => Reason::Blob,
				RuntimeHoldReason::Drilling(_) => Reason::Project,
				RuntimeHoldReason::Stints(_) => Reason::Driller,
				RuntimeHoldReason::Court(_) => Reason::Challenge,
				RuntimeHoldReason::Session(_) => Reason::Keys,
				RuntimeHoldReason::Federation(Rounds::Fees) => Reason::Aggregates,
				RuntimeHoldReason::Federation(Rounds::Record) => Reason::Federation,
				RuntimeHoldReason::Federation(Rounds::Proposal) => Reason::Proposal,
				RuntimeHoldReason::Swarm(Peers::Budget) => Reason::SwarmBudget,
				RuntimeHoldReason::Swarm(Peers::Record) => Reason::Swarm,
				RuntimeHoldReason::Swarm(Peers::Slice) => Reason::SwarmSlice,
				RuntimeHoldReason::Swarm(Peers::Peer) => Reason::SwarmPeer,
				RuntimeHoldReason::Swarm(Peers::Purse) => Reason::SwarmPurse,
				RuntimeHoldReason::Swarm(Peers::Claim) => Reason::SwarmClaim,
				RuntimeHoldReason::Swarm(Peers::Challenge) => Reason::SwarmChallenge,
				RuntimeHoldReason::Sets(_) => Reason::Set,
				RuntimeHoldReason::Tasks(Computing::Escrow) => Reason::TaskEscrow,
				RuntimeHoldReason::Tasks(Computing::Record) => Reason::TaskRecord,
				RuntimeHoldReason::Tasks(Computing::Replica) => Reason::TaskReplica,
				RuntimeHoldReason::Tasks(Computing::Challenge) => Reason::TaskChallenge,
				RuntimeHoldReason::Bets(Betting::Stake) => Reason::BetStake,
				RuntimeHoldReason::Bets(Betting::Record) => Reason::BetRecord,
			};
			add(&mut holds, &who, reason, entry.amount);
		}
	}
	// Ours, and one of the sessions. A further reason needs a line in `recorded` as well.
	assert_eq!(RuntimeHoldReason::VARIANT_COUNT, 28 + 1);
	holds
}

/// What should be on hold by the records of the pallets.
fn recorded() -> Holds {
	let mut holds = Holds::new();
	for (id, job) in pallet_task_market::Jobs::<Runtime>::iter() {
		add(&mut holds, &job.submitter, Reason::Record, job.quote.record);
		if matches!(job.state, JobState::Ended(_)) {
			let late = pallet_task_market::Lates::<Runtime>::get(id);
			for locked in late.into_iter().flat_map(|late| late.trainers) {
				add(&mut holds, &locked.who, Reason::Deposit, locked.deposit);
			}
			continue;
		}
		add(&mut holds, &job.submitter, Reason::Escrow, job.quote.escrow);
		let applicants = pallet_task_market::Applicants::<Runtime>::get(id);
		let replicas = job.replicas.iter().map(|replica| &replica.trainer);
		for trainer in applicants.iter().map(|applicant| &applicant.trainer).chain(replicas) {
			add(&mut holds, trainer, Reason::Deposit, job.quote.deposit);
		}
	}
	for (who, trainer) in pallet_hashrate::Trainers::<Runtime>::iter() {
		add(&mut holds, &who, Reason::TrainerBond, trainer.bond);
	}
	// Who left or waits is in the pool as well, until it withdraws.
	for (who, entry) in pallet_verification::Pool::<Runtime>::get() {
		add(&mut holds, &who, Reason::VerifierBond, entry.bond);
	}
	for (_, who, claims) in pallet_verification::Claims::<Runtime>::iter() {
		// What is pledged for a place is on hold beside the price of the bytes.
		let held = claims.iter().map(|claim| claim.prepaid + claim.pledge).sum();
		add(&mut holds, &who, Reason::Claim, held);
	}
	for (_, relay) in pallet_verification::Relays::<Runtime>::iter() {
		add(&mut holds, &relay.by, Reason::Relay, relay.prepaid);
		if let Some(appeal) = &relay.appeal {
			add(&mut holds, &appeal.by, Reason::Relay, appeal.prepaid);
		}
		for (payer, _) in relay.seats.iter().filter_map(|seat| seat.asked.as_ref()) {
			add(&mut holds, payer, Reason::Relay, relay.ask);
		}
	}
	for (_, blob) in pallet_model_storage::Blobs::<Runtime>::iter() {
		add(&mut holds, &blob.owner, Reason::Blob, blob.deposit + blob.rent);
	}
	for (_, commitment) in pallet_court::Commitments::<Runtime>::iter() {
		add(&mut holds, &commitment.who, Reason::Challenge, commitment.deposit);
	}
	for (_, dispute) in pallet_court::Disputes::<Runtime>::iter() {
		add(&mut holds, &dispute.challenger, Reason::Challenge, dispute.held());
	}
	for (_, defendant, won) in pallet_court::Won::<Runtime>::iter() {
		add(&mut holds, defendant.who(), Reason::Challenge, won);
	}
	for (_, project) in pallet_drilling::Projects::<Runtime>::iter() {
		add(&mut holds, &project.proposer, Reason::Project, project.deposit);
	}
	for (who, stint) in pallet_stints::Stints::<Runtime>::iter() {
		add(&mut holds, &who, Reason::Driller, stint.deposit);
	}
	for (_, federation) in pallet_federation::Federations::<Runtime>::iter() {
		add(&mut holds, &federation.submitter, Reason::Aggregates, federation.fees);
		add(&mut holds, &federation.submitter, Reason::Federation, federation.record);
		for proposal in &federation.proposals {
			add(&mut holds, &proposal.proposer, Reason::Proposal, proposal.deposit);
		}
	}
	for (_, swarm) in pallet_swarm::Swarms::<Runtime>::iter() {
		add(&mut holds, &swarm.opener, Reason::SwarmBudget, swarm.budget);
		add(&mut holds, &swarm.opener, Reason::Swarm, swarm.record);
	}
	for (_, doubts) in pallet_swarm::Doubts::<Runtime>::iter() {
		for challenge in doubts.into_iter().filter_map(|doubt| doubt.challenge) {
			add(&mut holds, &challenge.challenger, Reason::SwarmChallenge, challenge.deposit);
		}
	}
	for (_, _, slice) in pallet_swarm::Slices::<Runtime>::iter() {
		add(&mut holds, &slice.owner, Reason::SwarmSlice, slice.deposit);
	}
	for (_, who, peer) in pallet_swarm::Peers::<Runtime>::iter() {
		add(&mut holds, &who, Reason::SwarmPeer, peer.deposit);
		add(&mut holds, &who, Reason::SwarmPurse, peer.purse);
	}
	for (_, _, claim) in pallet_swarm::Claims::<Runtime>::iter() {
		add(&mut holds, &claim.claimant, Reason::SwarmClaim, claim.held);
	}
	for (_, set) in pallet_sets::Sets::<Runtime>::iter() {
		add(&mut holds, &set.submitter, Reason::Set, set.record);
	}
	for (id, task) in pallet_tasks::Tasks::<Runtime>::iter() {
		add(&mut holds, &task.submitter, Reason::TaskEscrow, task.escrow);
		add(&mut holds, &task.submitter, Reason::TaskRecord, task.record);
		for who in &task.applicants {
			add(&mut holds, who, Reason::TaskReplica, task.terms.deposit);
		}
		for replica in &task.replicas {
			add(&mut holds, &replica.who, Reason::TaskReplica, replica.deposit);
		}
		for dispute in pallet_tasks::Disputes::<Runtime>::iter_prefix_values(id) {
			if let [_, Side::Challenger { who, deposit, .. }] = dispute.sides {
				add(&mut holds, &who, Reason::TaskChallenge, deposit);
			}
		}
	}
	for (_, who, seal) in pallet_tasks::Seals::<Runtime>::iter() {
		add(&mut holds, &who, Reason::TaskChallenge, seal.deposit);
	}
	for (_, offer) in pallet_bets::Offers::<Runtime>::iter() {
		add(&mut holds, &offer.maker, Reason::BetStake, offer.left);
		add(&mut holds, &offer.maker, Reason::BetRecord, offer.record);
	}
	for (_, bet) in pallet_bets::Bets::<Runtime>::iter() {
		add(&mut holds, &bet.maker, Reason::BetStake, bet.makers);
		add(&mut holds, &bet.taker, Reason::BetStake, bet.takers);
		add(&mut holds, &bet.taker, Reason::BetRecord, bet.record);
	}
	for who in pallet_session::NextKeys::<Runtime>::iter_keys() {
		// Keys of the genesis cost nothing, also where others are set later.
		let entries = pallet_balances::Holds::<Runtime>::get(&who);
		let pays = entries.iter().any(|hold| matches!(hold.id, RuntimeHoldReason::Session(_)));
		let deposit = if pays { KeyDeposit::get() } else { 0 };
		add(&mut holds, &who, Reason::Keys, deposit);
	}
	holds
}

fn add(holds: &mut Holds, who: &AccountId, reason: Reason, amount: Balance) {
	if amount > 0 {
		*holds.entry((who.clone(), reason)).or_default() += amount;
	}
}

/// Checks that balances add up to what was issued, and that what is reserved of an account is what
/// is on hold of it, and its deposits for proxies.
fn balances() -> Result<(), String> {
	let mut sum = 0;
	for (who, account) in frame_system::Account::<Runtime>::iter() {
		sum += account.data.free + account.data.reserved;
		let holds = pallet_balances::Holds::<Runtime>::get(&who);
		let held: Balance = holds.iter().map(|hold| hold.amount).sum();
		// That pallet reserves what it takes.
		let proxies = pallet_proxy::Proxies::<Runtime>::get(&who).1
			+ pallet_proxy::Announcements::<Runtime>::get(&who).1;
		let (reserved, ought) = (account.data.reserved, held + proxies);
		if reserved != ought {
			return Err(format!("{who:?}: {reserved} is reserved, {ought} on hold"));
		}
	}
	let issued = Balances::total_issuance();
	(sum == issued).then_some(()).ok_or(format!("{issued} was issued, and there is {sum}"))
}

/// The money that there is, block by block.
pub struct Issuance {
	/// What was issued after the last block.
	issued: Balance,
	/// What settlements of jobs had burned.
	burned: Balance,
	/// What everyone paid as fees since the beginning.
	pub fees: Balance,
	/// What each account paid for its transactions since the beginning, tips included.
	pub paid: BTreeMap<AccountId, Balance>,
	/// What was minted as rewards of blocks since the beginning.
	pub rewards: Balance,
}

impl Issuance {
	/// Begins to follow `chain`.
	pub fn of(chain: &mut Chain) -> Self {
		let (issued, burned) = chain.state(|| {
			(Balances::total_issuance(), pallet_task_market::TotalBurned::<Runtime>::get())
		});
		Self { issued, burned, fees: 0, paid: BTreeMap::new(), rewards: 0 }
	}

	/// Checks the latest block: the money that there is changed by its reward, less the fees of its
	/// transactions, what settlements, convictions of seats and refuted aggregates burned, and dust.
	///
	/// # Errors
	///
	/// Returns both sums where they differ.
	pub fn follow(&mut self, chain: &mut Chain) -> Result<(), String> {
		chain.state(|| {
			let (mut fees, mut dust, mut convicted, mut rewarded) = (0, 0, 0, None);
			for record in System::events() {
				match record.event {
					RuntimeEvent::TransactionPayment(
						pallet_transaction_payment::Event::TransactionFeePaid {
							who,
							actual_fee,
							tip,
						},
					) => {
						fees += actual_fee - tip;
						*self.paid.entry(who).or_default() += actual_fee;
					}
					RuntimeEvent::Balances(pallet_balances::Event::DustLost { amount, .. }) => {
						dust += amount;
					}
					RuntimeEvent::Verification(pallet_verification::Event::EvidenceConvicted {
						burned,
						..
					}) => convicted += burned,
					RuntimeEvent::Swarm(pallet_swarm::Event::Burned { amount, .. }) => {
						convicted += amount
					}
					RuntimeEvent::Tasks(pallet_tasks::Event::Burned { amount, .. }) => {
						convicted += amount
					}
					// A half of what a seat loses that guessed.
					RuntimeEvent::Verification(pallet_verification::Event::Slashed {
						amount,
						fault: pallet_verification::Fault::Guessed,
						..
					}) => convicted += amount / 2,
					RuntimeEvent::ModelStorage(pallet_model_storage::Event::RentBurned {
						amount,
						..
					}) => convicted += amount,
					RuntimeEvent::Hashrate(pallet_hashrate::Event::BlockRewarded {
						reward,
						jackpot,
						..
					}) => rewarded = Some((reward, jackpot)),
					// What the court could not deliver.
					RuntimeEvent::Court(pallet_court::Event::Split {
						to: None, amount, ..
					}) => convicted += amount,
					RuntimeEvent::Federation(pallet_federation::Event::Refuted {
						burned, ..
					}) => convicted += burned,
					_ => {}
				}
			}
			// An author that does not show what its block asks for has no part.
			let whole = Hashrate::block_reward(System::block_number());
			let reward = match rewarded {
				Some((0, jackpot)) if jackpot < whole => jackpot,
				_ => whole,
			};
			let issued = Balances::total_issuance();
			let burned = pallet_task_market::TotalBurned::<Runtime>::get();
			let Some(settled) = burned.checked_sub(self.burned) else {
				return Err(format!("{burned} were burned, and {} before that", self.burned));
			};
			let before = self.issued + reward;
			let after = issued + fees + dust + settled + convicted;
			(self.issued, self.burned) = (issued, burned);
			self.fees += fees;
			self.rewards += reward;
			(before == after).then_some(()).ok_or(format!(
				"block {}: {before} with the reward, {after} with what was burned",
				System::block_number()
			))
		})
	}
}
