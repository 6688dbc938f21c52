//! The runtime APIs, by which the node drives the runtime and clients look at it.

use crate::{
	configs::session::SessionKeys, views, AccountId, Babe, Balance, Block, BlockNumber, Executive,
	Grandpa, InherentDataExt, ModelStorage, Nonce, Runtime, RuntimeCall, RuntimeGenesisConfig,
	System, TransactionPayment, VERSION,
};
use alloc::vec::Vec;
use codec::Encode;
use frame_support::{
	genesis_builder_helper::{build_state, get_preset},
	traits::Get,
	weights::Weight,
};
use pallet_hashrate::offences;
use pallet_transaction_payment_rpc_runtime_api::{FeeDetails, RuntimeDispatchInfo};
use sp_api::impl_runtime_apis;
use sp_core::{crypto::KeyTypeId, OpaqueMetadata};
use sp_inherents::{CheckInherentsResult, InherentData};
use sp_runtime::{
	traits::{Block as BlockT, NumberFor},
	transaction_validity::{TransactionSource, TransactionValidity},
	ApplyExtrinsicResult, ExtrinsicInclusionMode,
};
use sp_session::OpaqueGeneratedSessionKeys;
use sp_version::RuntimeVersion;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	bets::{Bet, BetId, OddsView, Offer, OfferId, Statement},
	claims::ClaimViews,
	drill::{AssignmentView, ProjectId, ProjectView, UnitOutcome},
	federation::{FederationId, FederationView, Pieces},
	job::Terms,
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
	JobId, H256, PROTOCOL_VERSION,
};
use trainyard_task::{
	spec::TaskFault, views::TaskView, Bounds as TaskBounds, Offer as TaskOffer, TaskId, TaskSpec,
	TaskTerms,
};

impl_runtime_apis! {
	impl sp_api::Core<Block> for Runtime {
		fn version() -> RuntimeVersion {
			VERSION
		}

		fn execute_block(block: <Block as BlockT>::LazyBlock) {
			Executive::execute_block(block);
		}

		fn initialize_block(header: &<Block as BlockT>::Header) -> ExtrinsicInclusionMode {
			Executive::initialize_block(header)
		}
	}

	impl sp_api::Metadata<Block> for Runtime {
		fn metadata() -> OpaqueMetadata {
			OpaqueMetadata::new(Runtime::metadata().into())
		}

		fn metadata_at_version(version: u32) -> Option<OpaqueMetadata> {
			Runtime::metadata_at_version(version)
		}

		fn metadata_versions() -> Vec<u32> {
			Runtime::metadata_versions()
		}
	}

	impl frame_support::view_functions::runtime_api::RuntimeViewFunction<Block> for Runtime {
		fn execute_view_function(
			id: frame_support::view_functions::ViewFunctionId,
			input: Vec<u8>,
		) -> Result<Vec<u8>, frame_support::view_functions::ViewFunctionDispatchError> {
			Runtime::execute_view_function(id, input)
		}
	}

	impl sp_block_builder::BlockBuilder<Block> for Runtime {
		fn apply_extrinsic(extrinsic: <Block as BlockT>::Extrinsic) -> ApplyExtrinsicResult {
			Executive::apply_extrinsic(extrinsic)
		}

		fn finalize_block() -> <Block as BlockT>::Header {
			Executive::finalize_block()
		}

		fn inherent_extrinsics(data: InherentData) -> Vec<<Block as BlockT>::Extrinsic> {
			data.create_extrinsics()
		}

		fn check_inherents(
			block: <Block as BlockT>::LazyBlock,
			data: InherentData,
		) -> CheckInherentsResult {
			data.check_extrinsics(&block)
		}
	}

	impl sp_transaction_pool::runtime_api::TaggedTransactionQueue<Block> for Runtime {
		fn validate_transaction(
			source: TransactionSource,
			tx: <Block as BlockT>::Extrinsic,
			block_hash: <Block as BlockT>::Hash,
		) -> TransactionValidity {
			Executive::validate_transaction(source, tx, block_hash)
		}
	}

	impl sp_offchain::OffchainWorkerApi<Block> for Runtime {
		fn offchain_worker(header: &<Block as BlockT>::Header) {
			Executive::offchain_worker(header)
		}
	}

	impl sp_consensus_babe::BabeApi<Block> for Runtime {
		fn configuration() -> sp_consensus_babe::BabeConfiguration {
			// Genesis writes the epoch configuration; a chain without it never started.
			let epoch_config =
				Babe::epoch_config().unwrap_or(crate::presets::FILL_EVERY_SLOT);
			sp_consensus_babe::BabeConfiguration {
				slot_duration: Babe::slot_duration(),
				epoch_length: <Runtime as pallet_babe::Config>::EpochDuration::get(),
				c: epoch_config.c,
				authorities: Babe::authorities().to_vec(),
				randomness: Babe::randomness(),
				allowed_slots: epoch_config.allowed_slots,
			}
		}

		fn current_epoch_start() -> sp_consensus_babe::Slot {
			Babe::current_epoch_start()
		}

		fn current_epoch() -> sp_consensus_babe::Epoch {
			Babe::current_epoch()
		}

		fn next_epoch() -> sp_consensus_babe::Epoch {
			Babe::next_epoch()
		}

		fn generate_key_ownership_proof(
			slot: sp_consensus_babe::Slot,
			authority_id: sp_consensus_babe::AuthorityId,
		) -> Option<sp_consensus_babe::OpaqueKeyOwnershipProof> {
			offences::prove_babe_key::<Runtime>(slot, authority_id.as_ref())
				.map(|proof| sp_consensus_babe::OpaqueKeyOwnershipProof::new(proof.encode()))
		}

		// The chain's records show whose key it was: the report makes the proof itself.
		fn submit_report_equivocation_unsigned_extrinsic(
			equivocation_proof: sp_consensus_babe::EquivocationProof<<Block as BlockT>::Header>,
			_key_owner_proof: sp_consensus_babe::OpaqueKeyOwnershipProof,
		) -> Option<()> {
			offences::submit_babe_report::<Runtime>(equivocation_proof)
		}
	}

	impl sp_consensus_grandpa::GrandpaApi<Block> for Runtime {
		fn grandpa_authorities() -> sp_consensus_grandpa::AuthorityList {
			Grandpa::grandpa_authorities()
		}

		fn current_set_id() -> sp_consensus_grandpa::SetId {
			pallet_grandpa::CurrentSetId::<Runtime>::get()
		}

		// As BABE's.
		fn submit_report_equivocation_unsigned_extrinsic(
			equivocation_proof: sp_consensus_grandpa::EquivocationProof<
				<Block as BlockT>::Hash,
				NumberFor<Block>,
			>,
			_key_owner_proof: sp_consensus_grandpa::OpaqueKeyOwnershipProof,
		) -> Option<()> {
			offences::submit_grandpa_report::<Runtime>(equivocation_proof)
		}

		fn generate_key_ownership_proof(
			set_id: sp_consensus_grandpa::SetId,
			authority_id: sp_consensus_grandpa::AuthorityId,
		) -> Option<sp_consensus_grandpa::OpaqueKeyOwnershipProof> {
			offences::prove_grandpa_key::<Runtime>(set_id, authority_id.as_ref())
				.map(|proof| sp_consensus_grandpa::OpaqueKeyOwnershipProof::new(proof.encode()))
		}
	}

	impl sp_session::SessionKeys<Block> for Runtime {
		fn generate_session_keys(owner: Vec<u8>, seed: Option<Vec<u8>>) -> OpaqueGeneratedSessionKeys {
			SessionKeys::generate(&owner, seed).into()
		}

		fn decode_session_keys(encoded: Vec<u8>) -> Option<Vec<(Vec<u8>, KeyTypeId)>> {
			SessionKeys::decode_into_raw_public_keys(&encoded)
		}
	}

	impl frame_system_rpc_runtime_api::AccountNonceApi<Block, AccountId, Nonce> for Runtime {
		fn account_nonce(account: AccountId) -> Nonce {
			System::account_nonce(account)
		}
	}

	impl pallet_transaction_payment_rpc_runtime_api::TransactionPaymentApi<Block, Balance>
		for Runtime
	{
		fn query_info(
			uxt: <Block as BlockT>::Extrinsic,
			len: u32,
		) -> RuntimeDispatchInfo<Balance> {
			TransactionPayment::query_info(uxt, len)
		}

		fn query_fee_details(uxt: <Block as BlockT>::Extrinsic, len: u32) -> FeeDetails<Balance> {
			TransactionPayment::query_fee_details(uxt, len)
		}

		fn query_weight_to_fee(weight: Weight) -> Balance {
			TransactionPayment::weight_to_fee(weight)
		}

		fn query_length_to_fee(length: u32) -> Balance {
			TransactionPayment::length_to_fee(length)
		}
	}

	impl pallet_transaction_payment_rpc_runtime_api::TransactionPaymentCallApi<Block, Balance, RuntimeCall>
		for Runtime
	{
		fn query_call_info(call: RuntimeCall, len: u32) -> RuntimeDispatchInfo<Balance> {
			TransactionPayment::query_call_info(call, len)
		}

		fn query_call_fee_details(call: RuntimeCall, len: u32) -> FeeDetails<Balance> {
			TransactionPayment::query_call_fee_details(call, len)
		}

		fn query_weight_to_fee(weight: Weight) -> Balance {
			TransactionPayment::weight_to_fee(weight)
		}

		fn query_length_to_fee(length: u32) -> Balance {
			TransactionPayment::length_to_fee(length)
		}
	}

	impl sp_genesis_builder::GenesisBuilder<Block> for Runtime {
		fn build_state(config: Vec<u8>) -> sp_genesis_builder::Result {
			build_state::<RuntimeGenesisConfig>(config)
		}

		fn get_preset(id: &Option<sp_genesis_builder::PresetId>) -> Option<Vec<u8>> {
			get_preset::<RuntimeGenesisConfig>(id, crate::presets::get)
		}

		fn preset_names() -> Vec<sp_genesis_builder::PresetId> {
			crate::presets::names()
		}
	}

	impl crate::api::TrainyardApi<Block, AccountId> for Runtime {
		fn protocol_version() -> u32 {
			PROTOCOL_VERSION
		}

		fn job(id: JobId) -> Option<JobView<AccountId>> {
			views::job(id)
		}

		fn active_jobs() -> Vec<JobView<AccountId>> {
			views::active_jobs(None, u32::MAX)
		}

		fn active_jobs_after(after: Option<JobId>, count: u32) -> Vec<JobView<AccountId>> {
			views::active_jobs(after, count)
		}

		fn recent_jobs(count: u32) -> Vec<JobView<AccountId>> {
			views::recent_jobs(count)
		}

		fn trainers(after: Option<AccountId>, count: u32) -> Vec<TrainerView<AccountId>> {
			views::trainers(after, count)
		}

		fn trainer(account: AccountId) -> Option<TrainerView<AccountId>> {
			views::trainer(&account)
		}

		fn verifiers() -> Vec<(AccountId, Balance)> {
			views::verifiers()
		}

		fn verifier(account: AccountId) -> Option<VerifierView> {
			views::verifier(&account)
		}

		fn reputation(account: AccountId) -> Vec<RecordView> {
			views::reputation(&account)
		}

		fn watchers() -> WatchView {
			crate::Reputation::watch_view()
		}

		fn listings(after: Option<AccountId>, count: u32) -> Vec<ListingView<AccountId>> {
			views::listings(after, count)
		}

		fn dispute(id: u64) -> Option<DisputeView<AccountId>> {
			views::dispute(id)
		}

		fn disputes_of(job: JobId) -> Vec<DisputeView<AccountId>> {
			views::disputes_of(job)
		}

		fn relays_of(job: JobId) -> Vec<RelayView<AccountId>> {
			views::relays_of(job)
		}

		fn blob(root: H256) -> Option<BlobView<AccountId>> {
			views::blob(root)
		}

		fn stored(after: Option<H256>, count: u32) -> Vec<StoredView<AccountId>> {
			views::stored(after, count)
		}

		fn versions(root: H256, count: u32) -> Vec<VersionView<AccountId>> {
			ModelStorage::versions(root, count)
		}

		fn chunk_hash(root: H256, index: u32) -> Option<H256> {
			views::chunk_hash(root, index)
		}

		fn storage_questions() -> Questions {
			ModelStorage::questions()
		}

		fn retained_chunks(from: u32, count: u32) -> Vec<RetainedChunk> {
			ModelStorage::retained(from, count)
		}

		fn retention() -> RetentionView {
			ModelStorage::retention()
		}

		fn keeping(root: H256) -> Option<KeepingView> {
			ModelStorage::keeping(root)
		}

		fn audit_fee(spec: JobSpec, terms: Terms) -> Option<Balance> {
			views::audit_fee(spec, &terms)
		}

		fn quote(spec: JobSpec, terms: Terms) -> Option<QuoteView> {
			views::quote(spec, &terms)
		}

		fn market() -> MarketView {
			views::market()
		}

		fn drilling_projects(after: Option<ProjectId>, count: u32) -> Vec<ProjectView<AccountId>> {
			views::drilling_projects(after, count)
		}

		fn drilling_open_projects() -> Vec<ProjectView<AccountId>> {
			views::drilling_open_projects()
		}

		fn drilling_project(id: ProjectId) -> Option<ProjectView<AccountId>> {
			views::drilling_project(id)
		}

		fn drilling_results(id: ProjectId, after: Option<u32>, count: u32) -> Vec<UnitOutcome> {
			views::drilling_results(id, after, count)
		}

		fn drilling_assignment(account: AccountId) -> Option<AssignmentView<AccountId>> {
			views::drilling_assignment(&account)
		}

		fn drilling_check(account: AccountId) -> Vec<AssignmentView<AccountId>> {
			views::drilling_check(&account)
		}

		fn drilling_pool() -> Vec<AccountId> {
			views::drilling_pool()
		}

		fn drilling_chosen(account: AccountId) -> Vec<ProjectId> {
			views::drilling_chosen(&account)
		}

		fn stint(account: AccountId) -> Option<StintView> {
			crate::Stints::stint(&account)
		}

		fn stint_report(account: AccountId) -> Option<ReportView<AccountId>> {
			crate::Stints::pending(&account)
		}

		fn stint_checks(account: AccountId) -> Vec<ReportView<AccountId>> {
			crate::Stints::checks(&account)
		}

		fn federation(id: FederationId) -> Option<FederationView<AccountId>> {
			crate::Federation::view(id)
		}

		fn federations(after: Option<FederationId>, count: u32) -> Vec<FederationId> {
			views::federations(after, count)
		}

		fn federation_pieces(id: FederationId, proposal: u32) -> Option<Pieces> {
			crate::Federation::pieces(id, proposal)
		}

		fn swarm(id: SwarmId) -> Option<SwarmView<AccountId>> {
			crate::Swarm::view(id)
		}

		fn swarms(after: Option<SwarmId>, count: u32) -> Vec<SwarmId> {
			views::swarms(after, count)
		}

		fn swarm_peer(id: SwarmId, account: AccountId) -> Option<PeerView<AccountId>> {
			crate::Swarm::peer(id, &account)
		}

		fn swarm_paid(id: SwarmId, payer: AccountId, maker: AccountId) -> Vec<H256> {
			crate::Swarm::paid(id, &payer, &maker)
		}

		fn swarm_peers(
			id: SwarmId,
			after: Option<AccountId>,
			count: u32,
		) -> Vec<PeerView<AccountId>> {
			views::swarm_peers(id, after, count)
		}

		fn swarm_step(id: SwarmId, step: u32) -> Vec<Contribution<AccountId>> {
			crate::Swarm::step(id, step)
		}

		fn task(id: TaskId) -> Option<TaskView<AccountId>> {
			crate::Tasks::view(id)
		}

		fn tasks(after: Option<TaskId>, count: u32) -> Vec<TaskId> {
			views::tasks(after, count)
		}

		fn open_tasks(after: Option<TaskId>, count: u32) -> Vec<TaskId> {
			views::open_tasks(after, count)
		}

		fn task_output(id: TaskId, claim: u8) -> Option<Vec<u8>> {
			crate::Tasks::output(id, claim)
		}

		fn task_seal(id: TaskId, who: AccountId) -> Option<(H256, BlockNumber)> {
			crate::Tasks::seal_of(id, &who)
		}

		fn task_bounds() -> TaskBounds {
			<crate::Runtime as pallet_tasks::Config>::Bounds::get()
		}

		fn task_terms(spec: TaskSpec, offer: TaskOffer) -> Result<TaskTerms, TaskFault> {
			offer.terms(&spec, &<crate::Runtime as pallet_tasks::Config>::Bounds::get())
		}

		fn final_height() -> BlockNumber {
			<crate::Finality as trainyard_traits::Finality>::final_height()
		}

		fn finality() -> FinalityView<AccountId> {
			crate::Finality::view()
		}

		fn job_set(id: SetId) -> Option<SetView<AccountId>> {
			crate::Sets::view(id)
		}

		fn job_sets(after: Option<SetId>, count: u32) -> Vec<SetId> {
			views::job_sets(after, count)
		}

		fn bet_offer(id: OfferId) -> Option<Offer<AccountId>> {
			crate::Bets::offer_of(id)
		}

		fn bet_offers(statement: Statement, after: Option<OfferId>, count: u32) -> Vec<OfferId> {
			views::bet_offers(&statement, after, count)
		}

		fn bet(id: BetId) -> Option<Bet<AccountId>> {
			crate::Bets::bet_of(id)
		}

		fn bets(offer: Option<OfferId>, after: Option<BetId>, count: u32) -> Vec<BetId> {
			views::bets(offer, after, count)
		}

		fn odds(statement: Statement, age: BlockNumber, notice: BlockNumber) -> OddsView {
			crate::Bets::odds(&statement, age, notice)
		}

		fn claims(job: JobId) -> ClaimViews<AccountId> {
			crate::TaskMarket::claim_views(job)
		}

		fn claimed_jobs(after: Option<JobId>, count: u32) -> Vec<JobId> {
			views::claimed_jobs(after, count)
		}

		fn pool(id: PoolId) -> Option<Pool<AccountId>> {
			crate::Pools::pool(id)
		}

		fn pools(after: Option<PoolId>, count: u32) -> Vec<PoolId> {
			views::pools(after, count)
		}

		fn pool_shares(id: PoolId, who: AccountId) -> Balance {
			crate::Pools::shares_of(id, &who)
		}
	}

	#[cfg(feature = "runtime-benchmarks")]
	impl frame_benchmarking::Benchmark<Block> for Runtime {
		fn benchmark_metadata(
			extra: bool,
		) -> (
			Vec<frame_benchmarking::BenchmarkList>,
			Vec<frame_support::traits::StorageInfo>,
		) {
			crate::configs::benchmarks::metadata(extra)
		}

		fn dispatch_benchmark(
			config: frame_benchmarking::BenchmarkConfig,
		) -> Result<Vec<frame_benchmarking::BenchmarkBatch>, alloc::string::String> {
			crate::configs::benchmarks::dispatch(config)
		}
	}

	#[cfg(feature = "try-runtime")]
	impl frame_try_runtime::TryRuntime<Block> for Runtime {
		fn on_runtime_upgrade(checks: frame_try_runtime::UpgradeCheckSelect) -> (Weight, Weight) {
			// A failed check must stop whoever tries the runtime out.
			let weight = Executive::try_runtime_upgrade(checks).unwrap();
			(weight, crate::configs::system::MAX_BLOCK_WEIGHT)
		}

		fn execute_block(
			block: <Block as BlockT>::LazyBlock,
			state_root_check: bool,
			signature_check: bool,
			select: frame_try_runtime::TryStateSelect,
		) -> Weight {
			Executive::try_execute_block(block, state_root_check, signature_check, select).unwrap()
		}
	}
}
