//! A fake node for tests: a chain of any height whose runtime is a function.

use super::{
	client::{Chain, Connection},
	court::{ClaimView, NamedState},
	AccountId32, AuditView, ChainError, Findings, GroupVerdict, GroupView, JobView, MemberView,
	ProjectView,
};
use codec::{Decode, Encode};
use serde_json::{json, Value};
use std::{
	collections::BTreeMap,
	sync::{
		atomic::{AtomicU32, Ordering},
		Arc,
	},
	time::Duration,
};
use subxt::rpcs::{
	client::{RawRpcFuture, RawRpcSubscription, RawValue, RpcClientT},
	Error, RpcClient, UserError,
};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	accusation::{Claimed, LeafContent, Target},
	audit::{AuditPhase, Rejection},
	drill::{Mismatch, ProjectState, Template},
	job::{JobState, Settlement, Terms, WorkResult},
	views::ChunkValues,
	vrf::VrfSignature,
	JobId, Text, H256,
};

/// Its address, as errors name it.
pub const URL: &str = "ws://fake";

/// The answer of the runtime to a method with its arguments at a height: SCALE bytes, or the node's
/// refusal. It also answers the node's own `trainyard_modelChunk`, with root and index as arguments, where
/// the refusal "null" is the answer null, and `trainyard_chunkValues`, by size and values.
type Runtime = dyn Fn(&str, &[u8], u32) -> Result<Vec<u8>, &'static str> + Send + Sync;

/// A node that answers what a worker asks for, except subscriptions and metadata.
#[derive(Clone)]
pub struct FakeNode {
	/// The best block.
	height: Arc<AtomicU32>,
	/// Blocks that are added each time somebody asks for the best one.
	step: u32,
	/// The finalized block.
	finalized: u32,
	/// Whether it knows its best block.
	has_head: bool,
	/// Its address.
	url: &'static str,
	/// The type of its chain, if it reports one.
	kind: Option<Value>,
	/// What is stored at every height, by key; both as hex.
	storage: BTreeMap<String, String>,
	runtime: Arc<Runtime>,
	/// How long each answer takes.
	delay: Option<Duration>,
	/// Requests that wait for their answers, and the most that did so at once.
	waiting: Arc<(AtomicU32, AtomicU32)>,
}

/// Returns the hash of block `number`. It begins with the number.
pub fn hash(number: u32) -> H256 {
	let mut bytes = [0; 32];
	bytes[..4].copy_from_slice(&number.to_be_bytes());
	H256(bytes)
}

/// Returns a job, as the chain shows it.
pub fn job(state: JobState) -> JobView {
	JobView {
		id: 3,
		submitter: AccountId32([3; 32]),
		invited: None,
		spec: JobSpec::example(),
		terms: Terms {
			price_per_ut: 1_000_000_000_000,
			replicas: 1,
			verifiers: 1,
			audit_segments: 1,
			audit_fee: 1,
			apply_blocks: 10,
			training_blocks: 60,
			machine: Default::default(),
			undecided_percent: 20,
			keep_every: 1,
			lottery: None,
		},
		work: 6_012,
		training: 6_012,
		deposit: 0,
		state,
		deadline: 110,
		seed: None,
		applicants: vec![],
		replicas: vec![],
		audit: None,
		settlement: Settlement::default(),
		late: None,
		record: 0,
		fee_per_ut: 0,
		compute_per_ut: trainyard_protocol::fees::COMPUTE_PRICE,
	}
}

/// Returns an audit in its first round, of which each seat draws two segments; nobody is seated.
pub fn audit(phase: AuditPhase, groups: Vec<GroupView>) -> AuditView {
	AuditView {
		round: 0,
		phase,
		audit_segments: 2,
		lottery: None,
		challenge: 40,
		seed: Some(H256([4; 32])),
		groups,
		committee: vec![],
		rechecks: vec![],
	}
}

/// Returns a result under audit, of which nothing is known yet.
pub fn group(result: WorkResult) -> GroupView {
	let (convicted, asked, stored, rescued) = Default::default();
	GroupView {
		result,
		bundles: Vec::new(),
		convicted,
		decision: None,
		asked,
		stored,
		rescued,
		relayed: false,
	}
}

/// Returns a seat that has said nothing.
pub fn member(verifier: AccountId32) -> MemberView {
	let vrf_key = H256(verifier.0);
	MemberView {
		verifier,
		commitment: None,
		vrf_key,
		findings: None,
		convicted: false,
		postponed: vec![],
		location: None,
	}
}

/// Returns findings with these verdicts, and a draw that is nobody's.
pub fn findings(verdicts: Vec<GroupVerdict>) -> Findings {
	let draw = VrfSignature { pre_output: [1; 32], proof: [2; 64] };
	let verdicts = verdicts.try_into().expect("no more than a job has results");
	Findings { draw, verdicts }
}

/// Returns the verdict by which `account` is accused of the end of a segment.
pub fn rejected(account: AccountId32, segment: u32) -> GroupVerdict {
	let (target, claimed) = (Target::Segment(segment), Claimed::Other);
	let leaves = Default::default();
	GroupVerdict::Rejected(Rejection { account, target, claimed, leaves })
}

/// Returns an active project of drilling, as the chain shows it.
pub fn project(template: Template) -> ProjectView {
	ProjectView {
		id: 2,
		owner: AccountId32([1; 32]),
		title: Text::new("Which rate?").unwrap(),
		template,
		data: Default::default(),
		rule: Mismatch::Majority,
		replicas: 3,
		units: 2_000,
		commit_blocks: 50,
		difficulty: 4_400,
		deposit: 0,
		state: ProjectState::Active,
		deadline: 90,
		ayes: 0,
		nays: 0,
		recall: None,
		missing: 0,
		open: 2,
		agreed: 3,
		abandoned: 0,
	}
}

fn number_of(hash: &[u8]) -> u32 {
	u32::from_be_bytes(hash[..4].try_into().unwrap())
}

fn hash_text(number: u32) -> String {
	format!("0x{}", hex::encode(hash(number)))
}

impl FakeNode {
	/// Makes a node at block 1 whose runtime answers like `runtime`.
	pub fn new(
		runtime: impl Fn(&str, &[u8], u32) -> Result<Vec<u8>, &'static str> + Send + Sync + 'static,
	) -> Self {
		Self {
			height: Arc::new(1.into()),
			step: 0,
			finalized: 0,
			has_head: true,
			url: URL,
			kind: None,
			storage: BTreeMap::new(),
			runtime: Arc::new(runtime),
			delay: None,
			waiting: Arc::default(),
		}
	}

	/// Makes each answer take so long.
	pub fn slowly(mut self, delay: Duration) -> Self {
		self.delay = Some(delay);
		self
	}

	/// Returns the most requests that waited for their answers at once. Clones count together.
	pub fn most_at_once(&self) -> u32 {
		self.waiting.1.load(Ordering::SeqCst)
	}

	/// Gives the node a different address.
	pub fn reached_at(mut self, url: &'static str) -> Self {
		self.url = url;
		self
	}

	/// Lets the node report that its chain is of this type.
	pub fn of_type(mut self, kind: Value) -> Self {
		self.kind = Some(kind);
		self
	}

	/// Lets the node store these entries, keys and values, at every height.
	pub fn storing(mut self, entries: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> Self {
		let text = |bytes: Vec<u8>| format!("0x{}", hex::encode(bytes));
		self.storage.extend(entries.into_iter().map(|(key, value)| (text(key), text(value))));
		self
	}

	/// Lets an account have these balances, free and held.
	pub fn storing_account(self, who: &AccountId32, free: u128, held: u128) -> Self {
		let info = (0u32, 0u32, 1u32, 0u32, free, held, 0u128, 1u128 << 127);
		self.storing([(crate::books::entry("System", "Account", who), info.encode())])
	}

	/// Lets a trainer have named these files of states.
	pub fn storing_named_states(
		self,
		job: JobId,
		trainer: &AccountId32,
		states: &[NamedState],
	) -> Self {
		self.storing([(crate::court::named_states_key(job, trainer), states.encode())])
	}

	/// Lets an account have asked for this of the results of a job.
	pub fn storing_claims(self, job: JobId, who: &AccountId32, claims: &[ClaimView]) -> Self {
		self.storing([(crate::court::claims_key(job, who), claims.encode())])
	}

	/// Stores the leaves of its bundle that a trainer brought because they were asked for.
	pub fn storing_leaves(self, job: JobId, trainer: &AccountId32, leaves: &[LeafContent]) -> Self {
		self.storing([(crate::court::leaves_key(job, trainer), leaves.encode())])
	}

	/// Puts the node at a different height.
	pub fn at(self, height: u32) -> Self {
		self.height.store(height, Ordering::SeqCst);
		self
	}

	/// Gives the node a different finalized block.
	pub fn finalized_at(mut self, height: u32) -> Self {
		self.finalized = height;
		self
	}

	/// Makes the node refuse to name its best block, so that no transaction can be made.
	pub fn without_head(mut self) -> Self {
		self.has_head = false;
		self
	}

	/// Makes the node add a block whenever somebody asks for the best one.
	pub fn growing(mut self) -> Self {
		self.step = 1;
		self
	}

	/// Returns a connection to the node.
	pub(super) async fn connection(self) -> Connection {
		Connection::through(RpcClient::new(self)).await.unwrap()
	}

	/// Connects as for the first time.
	pub async fn connect(self) -> Result<Chain, ChainError> {
		Chain::over(self.url, self.connection().await).await
	}

	/// Returns the chain as after a successful connection.
	pub async fn chain(self) -> Chain {
		Chain::known(self.url, self.connection().await)
	}

	fn answer(&self, method: &str, params: &[Value]) -> Result<Value, UserError> {
		let text = |at: usize| params.get(at).and_then(Value::as_str);
		let bytes =
			|at: usize| hex::decode(text(at).unwrap_or_default().trim_start_matches("0x")).unwrap();
		match method {
			"chain_getBlockHash" if !self.has_head && params.iter().all(Value::is_null) => {
				Err(UserError { code: 4003, message: "no block is here yet".into(), data: None })
			}
			"chain_getBlockHash" => {
				let number = match params.first().and_then(Value::as_u64) {
					Some(number) => u32::try_from(number).unwrap(),
					None => self.height.fetch_add(self.step, Ordering::SeqCst),
				};
				Ok(json!(hash_text(number)))
			}
			"chain_getFinalizedHead" => Ok(json!(hash_text(self.finalized))),
			"chain_getHeader" => Ok(json!({
				"parentHash": hash_text(0),
				"number": format!("{:#x}", number_of(&bytes(0))),
				"stateRoot": hash_text(0),
				"extrinsicsRoot": hash_text(0),
				"digest": { "logs": [] },
			})),
			"system_accountNextIndex" => Ok(json!(7)),
			"system_chainType" => self.kind.clone().ok_or_else(UserError::method_not_found),
			"state_call" => {
				let height = self.height.load(Ordering::SeqCst);
				match (self.runtime)(text(0).unwrap_or_default(), &bytes(1), height) {
					Ok(answer) => Ok(json!(format!("0x{}", hex::encode(answer)))),
					Err(reason) => {
						Err(UserError { code: 4003, message: reason.to_owned(), data: None })
					}
				}
			}
			"state_getStorage" => Ok(json!(self.storage.get(text(0).unwrap_or_default()))),
			"state_getKeysPaged" => {
				let count = params.get(1).and_then(Value::as_u64).unwrap_or_default();
				let keys = self.storage.keys().filter(|key| {
					key.starts_with(text(0).unwrap_or_default())
						&& text(2).is_none_or(|last| key.as_str() > last)
				});
				Ok(json!(keys.take(count as usize).collect::<Vec<_>>()))
			}
			"state_queryStorageAt" => {
				let keys = params.first().and_then(Value::as_array).cloned().unwrap_or_default();
				let changes: Vec<_> = keys
					.iter()
					.filter_map(Value::as_str)
					.map(|key| (key, self.storage.get(key)))
					.collect();
				Ok(json!([{ "block": hash_text(1), "changes": changes }]))
			}
			"trainyard_modelChunk" => {
				let index = params.get(1).and_then(Value::as_u64).unwrap_or_default();
				let arguments = (H256(bytes(0).try_into().unwrap()), index as u32).encode();
				match (self.runtime)(method, &arguments, self.height.load(Ordering::SeqCst)) {
					Ok(chunk) => Ok(json!(format!("0x{}", hex::encode(chunk)))),
					Err("null") => Ok(Value::Null),
					Err(reason) => {
						Err(UserError { code: 4003, message: reason.to_owned(), data: None })
					}
				}
			}
			"trainyard_chunkValues" => {
				let number =
					|at: usize| params.get(at).and_then(Value::as_u64).unwrap_or_default() as u32;
				let root = H256(bytes(0).try_into().unwrap());
				let arguments = (root, number(1), number(2)).encode();
				match (self.runtime)(method, &arguments, self.height.load(Ordering::SeqCst)) {
					Ok(answer) => {
						let (size, values) = Decode::decode(&mut &answer[..]).unwrap();
						Ok(serde_json::to_value(ChunkValues { size, values }).unwrap())
					}
					Err(reason) => {
						Err(UserError { code: 4003, message: reason.to_owned(), data: None })
					}
				}
			}
			_ => Err(UserError::method_not_found()),
		}
	}
}

impl RpcClientT for FakeNode {
	fn request_raw<'a>(
		&'a self,
		method: &'a str,
		params: Option<Box<RawValue>>,
	) -> RawRpcFuture<'a, Box<RawValue>> {
		let params: Vec<Value> =
			params.map(|p| serde_json::from_str(p.get()).unwrap()).unwrap_or_default();
		let answer = self.answer(method, &params);
		Box::pin(async move {
			let (now, most) = &*self.waiting;
			most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
			if let Some(delay) = self.delay {
				tokio::time::sleep(delay).await;
			}
			now.fetch_sub(1, Ordering::SeqCst);
			let text = answer?.to_string();
			Ok(RawValue::from_string(text).unwrap())
		})
	}

	fn subscribe_raw<'a>(
		&'a self,
		_sub: &'a str,
		_params: Option<Box<RawValue>>,
		_unsub: &'a str,
	) -> RawRpcFuture<'a, RawRpcSubscription> {
		Box::pin(async { Err(Error::User(UserError::method_not_found())) })
	}
}
