//! The runtime API of our own, by which clients look at the chain.

// The macro repeats the bounds of the type parameter.
#![allow(clippy::multiple_bound_locations)]

use alloc::vec::Vec;
use codec::Codec;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	bets::{Bet, BetId, OddsView, Offer, OfferId, Statement},
	claims::ClaimViews,
	drill::{AssignmentView, ProjectId, ProjectView, UnitOutcome},
	federation::{FederationId, FederationView, Pieces},
	job::{Balance, BlockNumber, Terms},
	pools::{Pool, PoolId},
	relay::RelayView,
	retention::{KeepingView, Questions, RetainedChunk, RetentionView},
	sets::{SetId, SetView},
	stint::{ReportView, StintView},
	swarm::{Contribution, PeerView, SwarmId, SwarmView},
	views::{
		BlobView, DisputeView, FinalityView, JobView, ListingView, MarketView, QuoteView,
		RecordView, StoredView, TrainerView, VerifierView, VersionView,
	},
	watch::WatchView,
	JobId, H256,
};
use trainyard_task::{
	spec::TaskFault, views::TaskView, Bounds as TaskBounds, Offer as TaskOffer, TaskId, TaskSpec,
	TaskTerms,
};

sp_api::decl_runtime_apis! {
	/// What clients ask of the chain, one call for each subject. Every answer is as of the block at
	/// which it is asked.
	pub trait TrainyardApi<AccountId: Codec> {
		/// Returns the version of the protocol that this runtime speaks; a client that speaks a
		/// different version would misread the rest.
		fn protocol_version() -> u32;

		/// Returns the job with this number and everything around it.
		fn job(id: JobId) -> Option<JobView<AccountId>>;

		/// Returns the first 1,000 jobs that are not over, by number.
		fn active_jobs() -> Vec<JobView<AccountId>>;

		/// Returns the first `count` jobs that are not over, at most 1,000, of those with a number
		/// above `after`; by number. If there are fewer than asked for, there are no more.
		fn active_jobs_after(after: Option<JobId>, count: u32) -> Vec<JobView<AccountId>>;

		/// Returns the newest `count` jobs that are still known, at most 1,000, newest first, among
		/// the newest 4,096 numbers.
		fn recent_jobs(count: u32) -> Vec<JobView<AccountId>>;

		/// Returns `count` trainers, at most 1,000, after `after` in the order of the storage. If there are
		/// fewer than asked for, there are no more; the account of the last one leads to the next.
		fn trainers(after: Option<AccountId>, count: u32) -> Vec<TrainerView<AccountId>>;

		/// Returns one trainer.
		fn trainer(account: AccountId) -> Option<TrainerView<AccountId>>;

		/// Returns all verifiers that can be drawn, with their bonds.
		fn verifiers() -> Vec<(AccountId, Balance)>;

		/// Returns where an account stands as a verifier, while its bond is held.
		fn verifier(account: AccountId) -> Option<VerifierView>;

		/// Returns `count` offers of trainers, at most 1,000, likewise.
		fn listings(after: Option<AccountId>, count: u32) -> Vec<ListingView<AccountId>>;

		/// Returns the dispute with this number, until it ends.
		fn dispute(id: u64) -> Option<DisputeView<AccountId>>;

		/// Returns the disputes about a job that have not ended, by number.
		fn disputes_of(job: JobId) -> Vec<DisputeView<AccountId>>;

		/// Returns the blob with this root.
		fn blob(root: H256) -> Option<BlobView<AccountId>>;

		/// Returns `count` blobs, at most 1,000, after the root `after`, by root. If there are fewer than
		/// asked for, there are no more.
		fn stored(after: Option<H256>, count: u32) -> Vec<StoredView<AccountId>>;

		/// Returns the blob `root` and those that it descends from, the newest first: `count` of them,
		/// at most 256. The last one's parent leads to more where there are as many as asked for.
		fn versions(root: H256, count: u32) -> Vec<VersionView<AccountId>>;

		/// Returns the relays about results of a job that run, by number.
		fn relays_of(job: JobId) -> Vec<RelayView<AccountId>>;

		/// Returns the `blake2_256` under which nodes keep chunk `index` of the blob `root`, once
		/// stored.
		fn chunk_hash(root: H256, index: u32) -> Option<H256>;

		/// Returns what the next block asks its author for of what the chain retains.
		fn storage_questions() -> Questions;

		/// Returns `count` chunks, at most 1,000, that nodes keep, from place `from` of their list on. If
		/// there are fewer than asked for, there are no more. A removal moves the last of the list.
		fn retained_chunks(from: u32, count: u32) -> Vec<RetainedChunk>;

		/// Returns how much the chain retains, and what authors could not show.
		fn retention() -> RetentionView;

		/// Returns what keeping the blob with this root costs and when it ends.
		fn keeping(root: H256) -> Option<KeepingView>;

		/// Returns the least `audit_fee` that posting this job takes now: the price of what a verifier
		/// replays at what computing counts as (1 TRY a `ut` at most), whatever the
		/// terms say of fee and price. Four times that is the most. `None` where the specification is invalid or
		/// the fee out of range.
		fn audit_fee(spec: JobSpec, terms: Terms) -> Option<Balance>;

		/// Returns what posting this job would come to. `None` where specification or terms are
		/// invalid.
		fn quote(spec: JobSpec, terms: Terms) -> Option<QuoteView>;

		/// Returns what an account did in each role in which it did something, in the order of the roles.
		fn reputation(account: AccountId) -> Vec<RecordView>;

		/// Returns how many look at results of others, and what one more may expect.
		fn watchers() -> WatchView;

		/// Returns what training costs now: the protocol fee, and what was paid for accepted jobs.
		fn market() -> MarketView;

		/// Returns `count` of the drilling projects that are still on record, at most 1,000, likewise: after
		/// the one with the number `after`.
		fn drilling_projects(after: Option<ProjectId>, count: u32) -> Vec<ProjectView<AccountId>>;

		/// Returns the drilling projects in review or active, by number.
		fn drilling_open_projects() -> Vec<ProjectView<AccountId>>;

		/// Returns the drilling project with this number.
		fn drilling_project(id: ProjectId) -> Option<ProjectView<AccountId>>;

		/// Returns the first `count` results of a project, at most 1,000, of units with an index
		/// above `after`; by index.
		fn drilling_results(id: ProjectId, after: Option<u32>, count: u32) -> Vec<UnitOutcome>;

		/// Returns the unit that a driller must compute, or reveal, now.
		fn drilling_assignment(account: AccountId) -> Option<AssignmentView<AccountId>>;

		/// Returns the units that a verifier must recompute, or reveal, now; by assignment.
		fn drilling_check(account: AccountId) -> Vec<AssignmentView<AccountId>>;

		/// Returns the pool of drillers and those who wait for a place, by account.
		fn drilling_pool() -> Vec<AccountId>;

		/// Returns the projects that one of these computes units of; none of anybody else.
		fn drilling_chosen(account: AccountId) -> Vec<ProjectId>;

		/// Returns the stint that an account is in.
		fn stint(account: AccountId) -> Option<StintView>;

		/// Returns the report of an account that is not settled.
		fn stint_report(account: AccountId) -> Option<ReportView<AccountId>>;

		/// Returns the reports in whose check a verifier sits now, by number.
		fn stint_checks(account: AccountId) -> Vec<ReportView<AccountId>>;

		/// Returns the federation with this number, until it is forgotten.
		fn federation(id: FederationId) -> Option<FederationView<AccountId>>;

		/// Returns the numbers of federations on record, at most 1,000 of those after `after`, by number.
		fn federations(after: Option<FederationId>, count: u32) -> Vec<FederationId>;

		/// Returns the values of the pieces that a proposal names which stands.
		fn federation_pieces(id: FederationId, proposal: u32) -> Option<Pieces>;

		/// Returns the swarm with this number, until it is forgotten.
		fn swarm(id: SwarmId) -> Option<SwarmView<AccountId>>;

		/// Returns the numbers of swarms on record, at most 1,000 of those after `after`, by number.
		fn swarms(after: Option<SwarmId>, count: u32) -> Vec<SwarmId>;

		/// Returns a peer of a swarm.
		fn swarm_peer(id: SwarmId, account: AccountId) -> Option<PeerView<AccountId>>;

		/// Returns the digests of the tickets for which a peer paid this maker, as long as they may be claimed by.
		fn swarm_paid(id: SwarmId, payer: AccountId, maker: AccountId) -> Vec<H256>;

		/// Returns the peers of a swarm, at most 1,000 of those after `after`, by account.
		fn swarm_peers(
			id: SwarmId,
			after: Option<AccountId>,
			count: u32,
		) -> Vec<PeerView<AccountId>>;

		/// Returns the contributions to an outer step of a swarm, in their order, as long as they are remembered.
		fn swarm_step(id: SwarmId, step: u32) -> Vec<Contribution<AccountId>>;

		/// Returns the task with this number, until it is forgotten.
		fn task(id: TaskId) -> Option<TaskView<AccountId>>;

		/// Returns the numbers of tasks on record, at most 1,000 of those after `after`, by number.
		fn tasks(after: Option<TaskId>, count: u32) -> Vec<TaskId>;

		/// Returns those of them for which one can apply.
		fn open_tasks(after: Option<TaskId>, count: u32) -> Vec<TaskId>;

		/// Returns the output of a claim of a task, where it is short enough to be kept by the chain itself.
		fn task_output(id: TaskId, claim: u8) -> Option<Vec<u8>>;

		/// Returns what an account sealed that will challenge a claim of a task, and in which block.
		fn task_seal(id: TaskId, who: AccountId) -> Option<(H256, BlockNumber)>;

		/// Returns what a task may ask for and offer.
		fn task_bounds() -> TaskBounds;

		/// Returns the terms of a task with this specification, where what an offer does not say follows from the
		/// bounds; or the first rule that they break.
		fn task_terms(spec: TaskSpec, offer: TaskOffer) -> Result<TaskTerms, TaskFault>;

		/// Returns the height up to which the chain itself knows that its blocks are final: at most what
		/// a node knows.
		fn final_height() -> BlockNumber;

		/// Returns the same height, and what each authority of the running session said last of finality.
		fn finality() -> FinalityView<AccountId>;

		/// Returns the set of jobs with this number, until it is forgotten.
		fn job_set(id: SetId) -> Option<SetView<AccountId>>;

		/// Returns the numbers of sets of jobs on record, at most 1,000 of those after `after`, by number.
		fn job_sets(after: Option<SetId>, count: u32) -> Vec<SetId>;

		/// Returns the offer of a bet with this number, until it is removed.
		fn bet_offer(id: OfferId) -> Option<Offer<AccountId>>;

		/// Returns the numbers of the offers on a statement, at most 1,000 of those after `after`, by number.
		fn bet_offers(statement: Statement, after: Option<OfferId>, count: u32) -> Vec<OfferId>;

		/// Returns the bet with this number, while it runs.
		fn bet(id: BetId) -> Option<Bet<AccountId>>;

		/// Returns the numbers of the bets that run, of this offer or of all, at most 1,000 of those after `after`, by
		/// number.
		fn bets(offer: Option<OfferId>, after: Option<BetId>, count: u32) -> Vec<BetId>;

		/// Returns what is bet on a statement, and what stands on it: of offers that have stood for `age` blocks and
		/// stand for `notice` blocks after they are withdrawn.
		fn odds(statement: Statement, age: BlockNumber, notice: BlockNumber) -> OddsView;

		/// Returns the claims on what the replicas of a job are paid, while it is audited.
		fn claims(job: JobId) -> ClaimViews<AccountId>;

		/// Returns the numbers of the jobs of which such a claim was sold or offered, at most 1,000 of those after
		/// `after`, by number.
		fn claimed_jobs(after: Option<JobId>, count: u32) -> Vec<JobId>;

		/// Returns the pool of claims with this number, while it has a member.
		fn pool(id: PoolId) -> Option<Pool<AccountId>>;

		/// Returns the numbers of the pools, at most 1,000 of those after `after`, by number.
		fn pools(after: Option<PoolId>, count: u32) -> Vec<PoolId>;

		/// Returns the shares of an account in a pool.
		fn pool_shares(id: PoolId, who: AccountId) -> Balance;
	}
}
