//! What [`TrainyardApi`](crate::api::TrainyardApi) returns, put together from what each pallet
//! knows.

use crate::{
	AccountId, Balance, Bets, Court, Drilling, Federation, Hashrate, ModelStorage, Pools,
	Reputation, Sets, Swarm, TaskMarket, Tasks, Verification,
};
use alloc::vec::Vec;
use trainyard_court::game::Turn;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	bets::{BetId, OfferId, Statement},
	drill::{AssignmentView, ProjectId, ProjectView, UnitOutcome},
	federation::FederationId,
	job::Terms,
	pools::PoolId,
	relay::RelayView,
	sets::SetId,
	swarm::{PeerView, SwarmId},
	views::{
		BlobView, DisputeTurn, DisputeView, JobView, ListingView, MarketView, QuoteView,
		RecordView, StoredView, TrainerView, VerifierView,
	},
	JobId, H256,
};
use trainyard_task::TaskId;
use trainyard_traits::Defendant;

/// Most jobs returned at once, whatever is asked.
const MAX_JOBS: u32 = 1_000;
/// Most entries of another list that one call returns.
const MAX_PAGE: u32 = 1_000;
/// Most results of a project returned at once.
const MAX_RESULTS: u32 = 1_000;

/// Fills in the audit, which is all about a job that the market does not know.
fn with_audit(mut job: JobView<AccountId>) -> JobView<AccountId> {
	job.audit = Verification::audit_view(job.id);
	job
}

/// Returns the job with this number and its audit.
pub fn job(id: JobId) -> Option<JobView<AccountId>> {
	TaskMarket::job_view(id).map(with_audit)
}

/// Returns the first `count` jobs, at most [`MAX_JOBS`], that have not ended, of those after number
/// `after`; by number.
pub fn active_jobs(after: Option<JobId>, count: u32) -> Vec<JobView<AccountId>> {
	let jobs = TaskMarket::active_jobs(after, count.min(MAX_JOBS));
	jobs.into_iter().map(with_audit).collect()
}

/// Returns the newest `count` jobs, at most [`MAX_JOBS`], that are still known, newest first.
pub fn recent_jobs(count: u32) -> Vec<JobView<AccountId>> {
	TaskMarket::recent_jobs(count.min(MAX_JOBS)).into_iter().map(with_audit).collect()
}

/// Returns `count` trainers, at most [`MAX_PAGE`], after `after` in the order of the storage.
pub fn trainers(after: Option<AccountId>, count: u32) -> Vec<TrainerView<AccountId>> {
	Hashrate::trainers(after, count.min(MAX_PAGE))
}

/// Returns one trainer.
pub fn trainer(account: &AccountId) -> Option<TrainerView<AccountId>> {
	Hashrate::trainer(account)
}

/// Returns all verifiers that can be drawn, with their bonds.
pub fn verifiers() -> Vec<(AccountId, Balance)> {
	Verification::verifiers()
}

/// Puts what the court says of a dispute in a form for everybody.
fn told(view: pallet_court::DisputeView<AccountId>) -> DisputeView<AccountId> {
	let pallet_court::DisputeView { id, dispute, left, place, runs, is_moot } = view;
	let [challenger_left, defender_left] = left;
	let (job, who) = (dispute.defendant.job(), dispute.defendant.who().clone());
	DisputeView {
		id,
		job,
		challenger: dispute.challenger,
		defendant: who,
		bundle_root: match dispute.defendant {
			Defendant::Trainer { .. } => None,
			Defendant::Seat { bundle_root, .. } => Some(bundle_root),
		},
		claimed: dispute.claimed,
		place: place.map(|place| trainyard_court::game::words::place(&place)),
		turn: match dispute.stage.turn {
			Turn::Defender => DisputeTurn::Defender,
			Turn::Challenger => DisputeTurn::Challenger,
			Turn::Piece => DisputeTurn::Piece,
		},
		deposit: dispute.deposit,
		committed_at: dispute.committed_at,
		moved_at: dispute.moved_at,
		moves: dispute.moves,
		challenger_left,
		defender_left,
		runs,
		aside: dispute.aside,
		moot: is_moot,
	}
}

/// Returns a dispute that has not ended.
pub fn dispute(id: u64) -> Option<DisputeView<AccountId>> {
	Court::dispute(id).map(told)
}

/// Returns the disputes about a job that have not ended, by number.
pub fn disputes_of(job: JobId) -> Vec<DisputeView<AccountId>> {
	Court::disputes_of(job).into_iter().map(told).collect()
}

/// Returns the relays about results of a job that run.
pub fn relays_of(job: JobId) -> Vec<RelayView<AccountId>> {
	Verification::relays(job)
}

/// Returns where an account stands as a verifier.
pub fn verifier(account: &AccountId) -> Option<VerifierView> {
	Verification::verifier(account.clone())
}

/// Returns what an account did, by role.
pub fn reputation(who: &AccountId) -> Vec<RecordView> {
	let records = Reputation::records_of(who).into_iter();
	records.map(|(role, record)| RecordView::of(role, record)).collect()
}

/// Returns `count` listings of registered trainers, at most [`MAX_PAGE`], after `after` in the order of the
/// storage.
pub fn listings(after: Option<AccountId>, count: u32) -> Vec<ListingView<AccountId>> {
	TaskMarket::listings(after, count.min(MAX_PAGE))
}

/// Returns the numbers of the federations on record, at most [`MAX_PAGE`] of those after `after`.
pub fn federations(after: Option<FederationId>, count: u32) -> Vec<FederationId> {
	Federation::numbers(after, count.min(MAX_PAGE))
}

/// Returns the numbers of the swarms on record, at most [`MAX_PAGE`] of those after `after`.
pub fn swarms(after: Option<SwarmId>, count: u32) -> Vec<SwarmId> {
	Swarm::numbers(after, count.min(MAX_PAGE))
}

/// Returns the numbers of the sets of jobs on record, at most [`MAX_PAGE`] of those after `after`.
pub fn job_sets(after: Option<SetId>, count: u32) -> Vec<SetId> {
	Sets::numbers(after, count.min(MAX_PAGE))
}

/// Returns the numbers of the offers on a statement, at most [`MAX_PAGE`] of those after `after`.
pub fn bet_offers(statement: &Statement, after: Option<OfferId>, count: u32) -> Vec<OfferId> {
	Bets::offers_on(statement, after, count.min(MAX_PAGE))
}

/// Returns the numbers of the bets that run, at most [`MAX_PAGE`] of those after `after`.
pub fn bets(offer: Option<OfferId>, after: Option<BetId>, count: u32) -> Vec<BetId> {
	Bets::bets(offer, after, count.min(MAX_PAGE))
}

/// Returns the numbers of the jobs of which a claim on pay was sold or offered, at most [`MAX_PAGE`] of those after
/// `after`.
pub fn claimed_jobs(after: Option<JobId>, count: u32) -> Vec<JobId> {
	TaskMarket::claimed_jobs(after, count.min(MAX_PAGE))
}

/// Returns the numbers of the pools, at most [`MAX_PAGE`] of those after `after`.
pub fn pools(after: Option<PoolId>, count: u32) -> Vec<PoolId> {
	Pools::numbers(after, count.min(MAX_PAGE))
}

/// Returns peers of a swarm, at most [`MAX_PAGE`] of those after `after`.
pub fn swarm_peers(id: SwarmId, after: Option<AccountId>, count: u32) -> Vec<PeerView<AccountId>> {
	Swarm::peers(id, after, count.min(MAX_PAGE))
}

/// Returns the numbers of the tasks on record, at most [`MAX_PAGE`] of those after `after`.
pub fn tasks(after: Option<TaskId>, count: u32) -> Vec<TaskId> {
	Tasks::numbers(after, count.min(MAX_PAGE))
}

/// Returns those of them for which one can apply.
pub fn open_tasks(after: Option<TaskId>, count: u32) -> Vec<TaskId> {
	Tasks::open_numbers(after, count.min(MAX_PAGE))
}

/// Returns the blob with this root.
pub fn blob(root: H256) -> Option<BlobView<AccountId>> {
	ModelStorage::view(root)
}

/// Returns `count` blobs, at most [`MAX_PAGE`], after `after` by root.
pub fn stored(after: Option<H256>, count: u32) -> Vec<StoredView<AccountId>> {
	ModelStorage::stored_after(after, count.min(MAX_PAGE))
}

/// Returns the `blake2_256` of chunk `index` of the blob `root`, once stored.
pub fn chunk_hash(root: H256, index: u32) -> Option<H256> {
	ModelStorage::chunk_hash(root, index)
}

/// Returns the least `audit_fee` for this job.
pub fn audit_fee(spec: JobSpec, terms: &Terms) -> Option<Balance> {
	TaskMarket::audit_fee(spec, terms)
}

/// Returns what training costs now.
pub fn market() -> MarketView {
	TaskMarket::market()
}

/// Returns what posting this job would come to.
pub fn quote(spec: JobSpec, terms: &Terms) -> Option<QuoteView> {
	TaskMarket::quote(spec, terms)
}

/// Returns `count` drilling projects on record, at most [`MAX_PAGE`], after `after` in the order of the
/// storage.
pub fn drilling_projects(after: Option<ProjectId>, count: u32) -> Vec<ProjectView<AccountId>> {
	Drilling::projects(after, count.min(MAX_PAGE))
}

/// Returns the drilling projects in review or active, by number.
pub fn drilling_open_projects() -> Vec<ProjectView<AccountId>> {
	Drilling::open_projects()
}

/// Returns the drilling project with this number.
pub fn drilling_project(id: ProjectId) -> Option<ProjectView<AccountId>> {
	Drilling::project(id)
}

/// Returns the first `count` results of a project, at most [`MAX_RESULTS`], after index `after`.
pub fn drilling_results(id: ProjectId, after: Option<u32>, count: u32) -> Vec<UnitOutcome> {
	Drilling::results(id, after, count.min(MAX_RESULTS))
}

/// Returns what a driller must do now.
pub fn drilling_assignment(account: &AccountId) -> Option<AssignmentView<AccountId>> {
	Drilling::assignment(account)
}

/// Returns what a verifier must recompute now.
pub fn drilling_check(account: &AccountId) -> Vec<AssignmentView<AccountId>> {
	Drilling::checks(account)
}

/// Returns what a driller computes units of.
pub fn drilling_chosen(account: &AccountId) -> Vec<ProjectId> {
	Drilling::chosen(account)
}

/// Returns the pool of drillers, by account.
pub fn drilling_pool() -> Vec<AccountId> {
	Drilling::drillers()
}
