//! Signs and sends transactions, and reports what became of them.

mod offer;

pub use offer::{Form, Refusal};

use super::{
	client::{root_cause, user_error, Config, Connection},
	keys,
	seat::StateRequest,
	AccountId32, Call, Chain, ChainError, ForcedKey, Head, VrfKey,
};
use codec::Decode;
use std::{sync::Arc, time::Duration};
use subxt::{
	client::OnlineClientAtBlockImpl,
	config::{Header, SubstrateExtrinsicParamsBuilder},
	error::{BackendError, DispatchError, ExtrinsicError, RpcError, TransactionEventsError},
	transactions::{TransactionInBlock, TransactionProgress, TransactionStatus},
};
use subxt_signer::sr25519::Keypair;
use tokio::sync::Mutex;
use tracing::debug;
use trainyard_protocol::{forced::Secret, JobId, H256};
use trainyard_task::TaskId;

/// Blocks in which a transaction may still be included, counted from its anchor.
pub const MORTALITY: u64 = 64;
/// How many blocks a finalized block may be below the best one and still be an anchor.
const NEAR: u64 = MORTALITY / 2;
/// How many blocks the anchor is below the best block where finality has stalled: forks are hardly
/// ever that long.
const SETTLED: u64 = 8;
/// Longest wait for inclusion.
const INCLUSION_TIMEOUT: Duration = Duration::from_secs(180);
/// How often it is asked whether the block that a call answers is still on the chain.
const HEAD_CHECK: Duration = Duration::from_secs(2);
/// Longest wait for the pool's answer.
const SUBMIT_TIMEOUT: Duration = Duration::from_secs(60);
/// How often a transaction is signed again when another one took its nonce.
const ATTEMPTS: u32 = 6;

type Progress = TransactionProgress<Config, OnlineClientAtBlockImpl<Config>>;

/// Says why a transaction did not do what it should.
#[derive(Debug, thiserror::Error)]
pub enum TxError {
	/// The chain could not be asked.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// The node did not take it: it would not be valid in a block.
	#[error("{call} was not accepted by the node: {reason}")]
	Invalid {
		/// `Pallet.call`.
		call: String,
		/// The node's words.
		reason: String,
	},
	/// It is in a block, and failed there.
	#[error("{call} failed: {name}{}{docs}", if docs.is_empty() { "" } else { ": " })]
	Failed {
		/// `Pallet.call`.
		call: String,
		/// `Pallet::Error`, or the kind of the failure.
		name: String,
		/// The error's sentence in the metadata.
		docs: String,
	},
	/// It was sent, but it is not known whether it came into a block.
	#[error("it is not known what became of {call}: {reason}")]
	Unknown {
		/// `Pallet.call`.
		call: String,
		/// Why.
		reason: String,
	},
}

impl TxError {
	/// Returns whether the chain's state must say what to do next: the transaction may have been
	/// included, or the node was away.
	pub fn is_uncertain(&self) -> bool {
		match self {
			Self::Chain(e) => e.is_connection(),
			Self::Unknown { .. } => true,
			Self::Invalid { .. } | Self::Failed { .. } => false,
		}
	}

	/// Returns whether it failed in a block with the error `name`, like `"ModelStorage::Expired"`.
	pub fn failed_with(&self, name: &str) -> bool {
		matches!(self, Self::Failed { name: found, .. } if found == name)
	}
}

/// A transaction in a block that did what it should.
#[derive(Clone, Debug)]
pub struct Included {
	/// Hash of the block.
	pub block: H256,
	/// First field of its first event of pallet TaskMarket, if that is a job's number.
	pub job: Option<JobId>,
}

/// Sends transactions of one account. They are sent one after the other, so nonces are taken in
/// order; the waits for inclusion overlap, so several can be under way.
pub struct Transactor {
	chain: Arc<Chain>,
	key: Keypair,
	account: AccountId32,
	gate: Mutex<()>,
}

/// A transaction in the node's pool.
pub struct Pending {
	call: String,
	/// The block without which the call is void.
	head: Option<Head>,
	progress: Progress,
	chain: Arc<Chain>,
	connection: Arc<Connection>,
}

impl Transactor {
	/// Makes a sender for the account of `key`.
	pub fn new(chain: Arc<Chain>, key: Keypair) -> Self {
		let account = keys::account(&key);
		Self { chain, key, account, gate: Mutex::new(()) }
	}

	/// Returns the account that signs.
	pub fn account(&self) -> &AccountId32 {
		&self.account
	}

	/// Returns the key by which this account draws for itself as a verifier.
	pub fn vrf_key(&self) -> VrfKey {
		VrfKey::of(&self.key)
	}

	/// Returns the secret from which this account's forced leaves in a job of this digest are drawn.
	pub fn forced_secret(&self, job: JobId, digest: &H256) -> Secret {
		ForcedKey::of(&self.key).secret(&self.chain.genesis(), job, digest)
	}

	/// Returns the salt of what this account commits to for the task of this digest.
	pub fn task_salt(&self, task: TaskId, digest: &H256) -> [u8; 32] {
		ForcedKey::of(&self.key).salt(&self.chain.genesis(), task, digest)
	}

	/// Returns the salt of what this account seals before it challenges a claim of that task.
	pub fn task_seal_salt(&self, task: TaskId, digest: &H256) -> [u8; 32] {
		ForcedKey::of(&self.key).seal_salt(&self.chain.genesis(), task, digest)
	}

	/// Returns what signs requests for states that trainers do not keep: of the result that is served by a root, after so
	/// many steps. What it returns is the value of the header [`HEADER`](crate::seat::HEADER).
	pub fn state_requests(&self) -> impl Fn(H256, u32) -> String + Send + Sync + 'static {
		let (key, genesis) = (self.key.clone(), self.chain.genesis());
		move |root, step| StateRequest { genesis, root, step }.signed_by(&key)
	}

	/// Returns the chain to which it sends.
	pub fn chain(&self) -> &Arc<Chain> {
		&self.chain
	}

	/// Sends `call` and waits until it is in a block and has done what it should.
	pub async fn run(&self, call: &Call) -> Result<Included, TxError> {
		self.send(call).await?.included().await
	}

	/// Sends `call` until `done` says that the chain's state is what the call is for: another
	/// program of the same account may have taken its nonce, or done the same, and the node may be
	/// away. Only for calls that are refused where they are made twice.
	///
	/// # Errors
	///
	/// Returns the error of the last attempt where the state is still another.
	pub async fn achieve(
		&self,
		call: &Call,
		done: impl AsyncFn() -> Result<bool, ChainError>,
	) -> Result<(), TxError> {
		let mut attempt = 1;
		loop {
			let Err(error) = self.run(call).await else { return Ok(()) };
			if error.is_uncertain() && attempt < ATTEMPTS {
				debug!("{error}; looking whether it is done");
				tokio::time::sleep(HEAD_CHECK * attempt).await;
				// A node that is away now is asked again.
				if matches!(done().await, Ok(true)) {
					return Ok(());
				}
				attempt += 1;
				continue;
			}
			return if done().await? { Ok(()) } else { Err(error) };
		}
	}

	/// Sends `call`. When this returns without an error, the call is in the node's pool.
	pub async fn send(&self, call: &Call) -> Result<Pending, TxError> {
		let _turn = self.gate.lock().await;
		let mut attempt = 1;
		loop {
			match self.try_send(call).await {
				Err(Rejection { retry: true, error }) if attempt < ATTEMPTS => {
					debug!("{error}; signing it again");
					tokio::time::sleep(Duration::from_millis(400 * u64::from(attempt))).await;
					attempt += 1;
				}
				Err(Rejection { error, .. }) => return Err(error),
				Ok(pending) => return Ok(pending),
			}
		}
	}

	async fn try_send(&self, call: &Call) -> Result<Pending, Rejection> {
		let connection = self.chain.connection().await.map_err(TxError::from)?;
		let sending = self.try_send_through(&connection, call);
		let result = match tokio::time::timeout(SUBMIT_TIMEOUT, sending).await {
			Ok(result) => result,
			Err(_) => Err(TxError::Unknown {
				call: call.title(),
				reason: format!("the node did not answer in {} s", SUBMIT_TIMEOUT.as_secs()),
			}
			.into()),
		};
		match result {
			Ok(progress) => {
				let (head, chain) = (call.head(), self.chain.clone());
				Ok(Pending { call: call.title(), head, progress, chain, connection })
			}
			Err(rejection) => {
				if rejection.error.is_uncertain() {
					self.chain.forget(&connection).await;
				}
				Err(rejection)
			}
		}
	}

	async fn try_send_through(
		&self,
		connection: &Connection,
		call: &Call,
	) -> Result<Progress, Rejection> {
		let lost = |what: &str, reason: String| TxError::from(self.chain.lost(what, reason));
		// This is the pool's view of the nonce: transactions that wait there count.
		let nonce = connection
			.legacy
			.system_account_next_index(&self.account)
			.await
			.map_err(|e| lost("system_accountNextIndex", root_cause(&e)))?;
		let anchor = match call.head() {
			Some(head) => Anchor::of(head),
			None => anchor(connection)
				.await
				.map_err(|e| lost("chain_getFinalizedHead", root_cause(&e)))?,
		};
		let at = connection
			.client
			.at_block(anchor.best)
			.await
			.map_err(|e| lost("chain_getHeader", root_cause(&e)))?;
		let params = SubstrateExtrinsicParamsBuilder::<Config>::new()
			.nonce(nonce)
			.mortal_from_unchecked(MORTALITY, anchor.number, anchor.hash)
			.build();
		let invalid =
			|reason: String| Rejection::from(TxError::Invalid { call: call.title(), reason });
		let signed = at
			.tx()
			.create_signable_offline(call, params)
			.and_then(|mut signable| signable.sign(&self.key))
			.map_err(|e| invalid(e.to_string()))?;
		match signed.submit_and_watch().await {
			Ok(progress) => Ok(progress),
			Err(ExtrinsicError::ErrorSubmittingTransaction(BackendError::Rpc(
				RpcError::ClientError(subxt::rpcs::Error::User(e)),
			))) => {
				let reason = user_error(&e);
				Err(Rejection {
					retry: nonce_was_taken(e.code, &reason),
					..invalid(reason_for_people(&reason))
				})
			}
			Err(e) => Err(TxError::Unknown { call: call.title(), reason: root_cause(&e) }.into()),
		}
	}
}

/// The block from which a transaction's mortality counts.
#[derive(Debug, PartialEq, Eq)]
struct Anchor {
	number: u64,
	hash: subxt::utils::H256,
	/// The best block, whose runtime the transaction is signed for.
	best: subxt::utils::H256,
}

impl Anchor {
	/// Makes an anchor of a block that the chain must have.
	fn of(head: Head) -> Self {
		let hash = subxt::utils::H256(head.hash.0);
		Self { number: head.number.into(), hash, best: hash }
	}
}

/// Returns the anchor of a transaction that is sent now.
async fn anchor(connection: &Connection) -> Result<Anchor, subxt::rpcs::Error> {
	let legacy = &connection.legacy;
	let missing = |what: &str| subxt::rpcs::Error::Client(format!("the node has no {what}").into());
	let best = legacy.chain_get_block_hash(None).await?.ok_or_else(|| missing("best block"))?;
	let finalized = legacy.chain_get_finalized_head().await?;
	let mut heights = [0; 2];
	for (height, hash) in heights.iter_mut().zip([best, finalized]) {
		let header = legacy.chain_get_header(Some(hash)).await?;
		*height = header.ok_or_else(|| missing("header of its head"))?.number();
	}
	let number = anchor_height(heights[0], heights[1]);
	let hash = match number == heights[1] {
		true => finalized,
		false => legacy
			.chain_get_block_hash(Some(number.into()))
			.await?
			.ok_or_else(|| missing("ancestor of its best block"))?,
	};
	Ok(Anchor { number, hash, best })
}

/// Returns the height of the finalized block, which no fork lacks. If finality lags, it is that of
/// an ancestor of the best block, so that a chain without finality still takes transactions.
fn anchor_height(best: u64, finalized: u64) -> u64 {
	match best.saturating_sub(finalized) < NEAR {
		true => finalized,
		false => best.saturating_sub(SETTLED),
	}
}

/// A transaction that did not get into the pool.
struct Rejection {
	error: TxError,
	/// Whether the same call, signed with a fresh nonce, may get in.
	retry: bool,
}

impl From<TxError> for Rejection {
	fn from(error: TxError) -> Self {
		Self { error, retry: false }
	}
}

/// Returns whether the pool refused because of the nonce: another program with the same key was
/// faster. Codes of `sc-rpc-api`: 1010 invalid, 1013 already imported, 1014 priority too low.
fn nonce_was_taken(code: i32, reason: &str) -> bool {
	match code {
		1013 | 1014 => true,
		1010 => reason.contains("outdated") || reason.contains("Stale"),
		_ => false,
	}
}

/// Adds what to do to the node's most common refusal.
fn reason_for_people(reason: &str) -> String {
	if reason.contains("Inability to pay some fees") {
		format!("{reason}. Has the account enough free balance?")
	} else {
		reason.to_string()
	}
}

impl Pending {
	/// Waits until the transaction is in a block of the best chain and reads what it did.
	pub async fn included(mut self) -> Result<Included, TxError> {
		let unknown =
			|call: &str, reason: String| TxError::Unknown { call: call.to_string(), reason };
		let (connection, head) = (self.connection.clone(), self.head);
		let included = tokio::select! {
			included = tokio::time::timeout(INCLUSION_TIMEOUT, self.in_block()) => included,
			// A pool may keep silent about a transaction that became void with its block, for as long
			// as finality takes. Whoever sent it should look at the chain again at once.
			() = abandoned(&connection, head) => {
				let reason = "the block that it answers is not on the chain any more";
				return Err(unknown(&self.call, reason.into()));
			}
		};
		let block = match included {
			Ok(Ok(block)) => block,
			Ok(Err(error)) => {
				if error.is_uncertain() {
					self.chain.forget(&self.connection).await;
				}
				return Err(error);
			}
			Err(_) => {
				let reason = format!("not in a block after {} s", INCLUSION_TIMEOUT.as_secs());
				return Err(unknown(&self.call, reason));
			}
		};
		let hash = H256(block.block_hash().0);
		match block.wait_for_success().await {
			Ok(events) => {
				let job = events
					.iter()
					.flatten()
					.find(|event| event.pallet_name() == "TaskMarket")
					.and_then(|event| JobId::decode(&mut event.field_bytes()).ok());
				Ok(Included { block: hash, job })
			}
			Err(TransactionEventsError::ExtrinsicFailed(error)) => {
				let (name, docs) = explain(&error);
				Err(TxError::Failed { call: self.call, name, docs })
			}
			Err(e) => Err(unknown(&self.call, root_cause(&e))),
		}
	}

	async fn in_block(
		&mut self,
	) -> Result<TransactionInBlock<Config, OnlineClientAtBlockImpl<Config>>, TxError> {
		let unknown = |reason: String| TxError::Unknown { call: self.call.clone(), reason };
		while let Some(status) = self.progress.next().await {
			match status.map_err(|e| unknown(root_cause(&e)))? {
				TransactionStatus::InBestBlock(block)
				| TransactionStatus::InFinalizedBlock(block) => return Ok(block),
				TransactionStatus::Error { message }
				| TransactionStatus::Invalid { message }
				| TransactionStatus::Dropped { message } => return Err(unknown(message)),
				_ => {}
			}
		}
		Err(unknown("the node stopped reporting".into()))
	}
}

/// Resolves once `head` is not on the best chain any more; never where there is none.
async fn abandoned(connection: &Connection, head: Option<Head>) {
	let Some(head) = head else { return std::future::pending().await };
	while !is_abandoned(connection, head).await {
		tokio::time::sleep(HEAD_CHECK).await;
	}
}

/// Returns whether the best chain has a different block at the height of `head`. A node that does
/// not say is asked again.
async fn is_abandoned(connection: &Connection, head: Head) -> bool {
	let number = u64::from(head.number);
	let found = connection.legacy.chain_get_block_hash(Some(number.into())).await;
	found.ok().flatten().is_some_and(|hash| hash.0 != head.hash.0)
}

/// Returns name and sentence of a dispatch error, from the metadata.
fn explain(error: &DispatchError) -> (String, String) {
	let DispatchError::Module(module) = error else {
		return (error.to_string().trim_end_matches('.').to_string(), String::new());
	};
	let docs = match module.details() {
		Ok(details) => details.variant.docs.join(" ").trim().to_string(),
		Err(_) => String::new(),
	};
	(module.details_string(), docs)
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::fake::{self, FakeNode};

	/// A pool that is silent about it must not keep a role waiting.
	#[tokio::test]
	async fn a_call_is_given_up_with_the_block_that_it_answers() {
		let node = FakeNode::new(|_, _, _| Err("no runtime"));
		let connection = node.at(50).connection().await;
		let at = |number, hash| Head { number, hash };
		assert!(!is_abandoned(&connection, at(40, fake::hash(40))).await);
		assert!(is_abandoned(&connection, at(40, fake::hash(41))).await);
		abandoned(&connection, Some(at(40, fake::hash(41)))).await;
	}

	/// Several roles of one account send at once: each asks for its nonce when the one before is in the pool,
	/// so no two have the same. Whoever makes a sender for each role asks for two at once.
	#[tokio::test]
	async fn roles_that_share_a_sender_take_turns() {
		let sent_by = async |count: usize| {
			let node = FakeNode::new(|_, _, _| Err("no runtime"));
			let node = node.at(50).slowly(Duration::from_millis(5));
			let counted = node.clone();
			let chain = Arc::new(node.chain().await);
			let sender = || {
				let key = keys::from_uri("//Bob").unwrap();
				Arc::new(Transactor::new(chain.clone(), key))
			};
			let senders: Vec<_> = (0..count).map(|_| sender()).collect();
			let call = crate::calls::stint_begin();
			let sends = (0..4).map(|role| senders[role % count].run(&call));
			let results = futures::future::join_all(sends).await;
			assert!(results.iter().all(|result| result.is_err()), "there is no metadata");
			counted.most_at_once()
		};
		assert_eq!(sent_by(1).await, 1);
		assert!(sent_by(4).await > 1);
	}

	#[tokio::test]
	async fn a_transaction_lives_on_though_finality_stalls() {
		for (best, finalized, expected) in [
			(100, 98, 98),
			(100, 69, 69),
			(100, 68, 92),
			(100, 10, 92),
			(3, 0, 0),
			(40, 0, 32),
			// The two were requested one after the other.
			(100, 101, 101),
		] {
			let node = FakeNode::new(|_, _, _| Err("no runtime"));
			let connection = node.at(best).finalized_at(finalized).connection().await;
			let anchor = anchor(&connection).await.unwrap();
			let hash = |n: u32| subxt::utils::H256(fake::hash(n).0);
			let expected =
				Anchor { number: u64::from(expected), hash: hash(expected), best: hash(best) };
			assert_eq!(anchor, expected, "{best} {finalized}");
		}
	}

	#[test]
	fn a_call_for_one_fork_counts_from_its_block() {
		let head = Head { number: 40, hash: fake::hash(40) };
		let call = crate::calls::apply(3, &fake::hash(1), &fake::hash(2));
		assert_eq!(call.head(), None);
		assert_eq!(call.on(head).head(), Some(head));
		let hash = subxt::utils::H256(head.hash.0);
		assert_eq!(Anchor::of(head), Anchor { number: 40, hash, best: hash });
	}

	#[test]
	fn only_a_taken_nonce_is_worth_another_try() {
		assert!(nonce_was_taken(1014, "Priority is too low: (10 vs 10)"));
		assert!(nonce_was_taken(1013, "Transaction is already imported"));
		assert!(nonce_was_taken(1010, "Invalid Transaction: Transaction is outdated"));
		assert!(!nonce_was_taken(1010, "Invalid Transaction: Inability to pay some fees"));
		assert!(!nonce_was_taken(-32601, "Method not found"));
	}

	#[test]
	fn failures_name_the_error_and_its_sentence() {
		let error = TxError::Failed {
			call: "TaskMarket.apply".into(),
			name: "TaskMarket::NotOpen".into(),
			docs: "The job takes no applications.".into(),
		};
		assert_eq!(
			error.to_string(),
			"TaskMarket.apply failed: TaskMarket::NotOpen: The job takes no applications."
		);
		assert!(error.failed_with("TaskMarket::NotOpen"));
		assert!(!error.is_uncertain());
		let bare =
			TxError::Failed { call: "A.b".into(), name: "Bad origin".into(), docs: "".into() };
		assert_eq!(bare.to_string(), "A.b failed: Bad origin");
	}

	#[test]
	fn lack_of_balance_is_explained() {
		let text = reason_for_people("Invalid Transaction: Inability to pay some fees (e.g. ...)");
		assert!(text.contains("enough free balance"));
		assert_eq!(reason_for_people("other"), "other");
	}
}
