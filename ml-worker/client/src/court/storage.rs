//! Reads the court's storage at a block.
//!
//! Keys are made from names, as FRAME makes them, so nothing has to be looked up in metadata: where the
//! runtime has no court, there is nothing under these keys.

use super::{
	calls::PALLET, Commitment, Defendant, Dispute, DisputeId, DocketEntry, Load, Since, Standing,
};
use crate::{AccountId32, Chain, ChainError, Head};
use codec::{Decode, DecodeAll, Encode};
use sp_crypto_hashing::{blake2_128, twox_128, twox_64};
use std::collections::{BTreeMap, BTreeSet};
use subxt::rpcs::client::rpc_params;
use trainyard_court::game::{self, Entry, Opened, Place, Roots};
use trainyard_protocol::{
	accusation::LeafContent,
	forced::Forced,
	job::{Balance, BlockNumber},
	pieces::{self, Pieces},
	JobId, MicroUt, H256,
};

/// Keys in the answer to one request.
const KEYS_AT_ONCE: u32 = 256;
/// Bytes of `Twox64Concat` before its key.
const TWOX_64: usize = 8;
/// Bytes of `Blake2_128Concat` before its key.
const BLAKE2_128: usize = 16;

/// What a defendant has posted and opened so far, in all disputes together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
	/// Digests, by place.
	pub posted: BTreeMap<Place, Roots>,
	/// What was opened, by place.
	pub opened: BTreeMap<Place, Opened>,
	/// The leaves that it opened as forced.
	pub forced: Vec<Forced>,
}

impl game::Said for Said {
	fn posted(&self, place: &Place) -> Option<Roots> {
		self.posted.get(place).cloned()
	}

	fn opened(&self, place: &Place) -> Option<Opened> {
		self.opened.get(place).cloned()
	}

	fn forced(&self, index: u32) -> Option<Forced> {
		self.forced.iter().find(|forced| forced.index == index).copied()
	}
}

impl Extend<Entry> for Said {
	fn extend<T: IntoIterator<Item = Entry>>(&mut self, entries: T) {
		for entry in entries {
			match entry {
				Entry::Posted(place, roots) => drop(self.posted.insert(place, roots)),
				Entry::Opened(place, opened) => drop(self.opened.insert(place, opened)),
			}
		}
	}
}

/// Returns what keys of an item of the court begin with.
fn item(name: &str) -> Vec<u8> {
	item_of(PALLET, name)
}

/// Returns what keys of an item of a pallet begin with.
fn item_of(pallet: &str, name: &str) -> Vec<u8> {
	[twox_128(pallet.as_bytes()), twox_128(name.as_bytes())].concat()
}

/// Appends a key that is hashed by `Twox64Concat`.
fn twox(mut path: Vec<u8>, key: &impl Encode) -> Vec<u8> {
	let key = key.encode();
	path.extend(twox_64(&key));
	path.extend(key);
	path
}

/// Appends a key that is hashed by `Blake2_128Concat`.
fn blake2(mut path: Vec<u8>, key: &impl Encode) -> Vec<u8> {
	let key = key.encode();
	path.extend(blake2_128(&key));
	path.extend(key);
	path
}

fn text_of(bytes: &[u8]) -> String {
	format!("0x{}", hex::encode(bytes))
}

fn unreadable(what: &str, reason: impl ToString) -> ChainError {
	ChainError::Unreadable { method: format!("{PALLET}.{what}"), reason: reason.to_string() }
}

fn bytes_of(what: &str, text: &str) -> Result<Vec<u8>, ChainError> {
	hex::decode(text.trim_start_matches("0x")).map_err(|e| unreadable(what, e))
}

fn decoded<T: Decode>(what: &str, bytes: &[u8]) -> Result<T, ChainError> {
	T::decode_all(&mut &*bytes).map_err(|e| unreadable(what, e))
}

/// Keys and values as `state_queryStorageAt` has them.
#[derive(serde::Deserialize)]
struct Changes {
	changes: Vec<(String, Option<String>)>,
}

/// What is stored of a settled job that can still be challenged: when it was settled, the last block in
/// which a challenge is taken, and who can be accused, each with what is locked of its deposit, and the
/// work that it was credited and when.
type Late = (BlockNumber, BlockNumber, Vec<(AccountId32, Balance, Option<(MicroUt, u64)>)>);

/// What an account asked for of a result, with the fields of `Claim` of the pallet.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct ClaimView {
	/// Of which result.
	pub group: u32,
	/// What.
	pub pieces: Pieces,
	/// What the account has on hold for the bytes.
	pub prepaid: Balance,
	/// What it has on hold for its place among those who ask while results stand.
	pub pledge: Balance,
	/// Whether it still lacks them.
	pub open: bool,
	/// What trainers that stored them had of it.
	pub paid: Balance,
}

/// Returns the key under which what an account asked for is stored.
pub(crate) fn claims_key(job: JobId, who: &AccountId32) -> Vec<u8> {
	blake2(twox(item_of("Verification", "Claims"), &job), who)
}

/// Returns the key under which the leaves of a trainer's bundle are stored.
pub(crate) fn leaves_key(job: JobId, trainer: &AccountId32) -> Vec<u8> {
	blake2(twox(item_of("Verification", "ShownLeaves"), &job), trainer)
}

/// The file of a state as a trainer named it, with the fields of `NamedState` of the pallet.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct NamedState {
	/// The leaf of its bundle that says which state it is.
	pub leaf: pieces::Leaf,
	/// The root of the blob.
	pub blob: H256,
	/// Whether the blob was stored, and not announced alone.
	pub stored: bool,
}

/// Returns the key under which the states are stored that a trainer named.
pub(crate) fn named_states_key(job: JobId, trainer: &AccountId32) -> Vec<u8> {
	blake2(twox(item_of("Verification", "NamedStates"), &job), trainer)
}

impl Chain {
	/// Returns an entry at block `at`.
	async fn court_entry<T: Decode>(
		&self,
		what: &str,
		key: &[u8],
		at: H256,
	) -> Result<Option<T>, ChainError> {
		let params = rpc_params![text_of(key), text_of(at.as_bytes())];
		let found: Option<String> = self.rpc("state_getStorage", params).await?;
		found.map(|text| decoded(what, &bytes_of(what, &text)?)).transpose()
	}

	/// Returns the settled jobs whose accepted results can be challenged at block `head`, the one whose
	/// time is over first before others.
	pub async fn late_jobs(&self, head: &Head) -> Result<Vec<JobId>, ChainError> {
		let prefix = item_of("TaskMarket", "Lates");
		let all: Vec<(JobId, Late)> =
			self.court_entries("Lates", &prefix, TWOX_64, head.hash).await?;
		let open = all.into_iter().filter_map(|(job, (_, until, trainers))| {
			(head.number <= until && !trainers.is_empty()).then_some((until, job))
		});
		let open: BTreeSet<_> = open.collect();
		Ok(open.into_iter().map(|(_, job)| job).collect())
	}

	/// Returns all entries at block `at` whose keys begin with `prefix`: the key behind it and its hash
	/// of `hash` bytes, and the value. A node returns a part at a time.
	async fn court_entries<K: Decode, V: Decode>(
		&self,
		what: &str,
		prefix: &[u8],
		hash: usize,
		at: H256,
	) -> Result<Vec<(K, V)>, ChainError> {
		let block = text_of(at.as_bytes());
		let (mut all, mut last) = (Vec::new(), None::<String>);
		loop {
			let params = rpc_params![text_of(prefix), KEYS_AT_ONCE, last.clone(), block.clone()];
			let keys: Vec<String> = self.rpc("state_getKeysPaged", params).await?;
			// A node that repeats itself must not keep us here for ever.
			if keys.is_empty() || keys.last() <= last.as_ref() {
				return Ok(all);
			}
			let params = rpc_params![keys.clone(), block.clone()];
			let found: Vec<Changes> = self.rpc("state_queryStorageAt", params).await?;
			for (key, value) in found.into_iter().flat_map(|found| found.changes) {
				let Some(value) = value else { continue };
				let (key, value) = (bytes_of(what, &key)?, bytes_of(what, &value)?);
				let key = key.strip_prefix(prefix).and_then(|rest| rest.get(hash..));
				let key = key.ok_or_else(|| unreadable(what, "a key that was not asked for"))?;
				all.push((decoded(what, key)?, decoded(what, &value)?));
			}
			if keys.len() < KEYS_AT_ONCE as usize {
				return Ok(all);
			}
			last = keys.last().cloned();
		}
	}

	/// Returns all disputes that have not ended, at block `at`. There are none on a chain without a
	/// court.
	pub async fn disputes(&self, at: H256) -> Result<BTreeMap<DisputeId, Dispute>, ChainError> {
		let found = self.court_entries("Disputes", &item("Disputes"), TWOX_64, at).await?;
		let mut disputes: BTreeMap<DisputeId, Dispute> = found.into_iter().collect();
		if disputes.is_empty() {
			return Ok(disputes);
		}
		let loads = self.court_entries("Loads", &item("Loads"), BLAKE2_128, at).await?;
		let loads: BTreeMap<AccountId32, Load> = loads.into_iter().collect();
		for dispute in disputes.values_mut() {
			let load = loads.get(dispute.defendant.who()).copied().unwrap_or_default();
			dispute.grow(&load);
		}
		Ok(disputes)
	}

	/// Returns a dispute; `None` where it ended, or never was.
	pub async fn dispute(&self, id: DisputeId, at: H256) -> Result<Option<Dispute>, ChainError> {
		let key = twox(item("Disputes"), &id);
		let found: Option<Dispute> = self.court_entry("Disputes", &key, at).await?;
		let Some(mut dispute) = found else { return Ok(None) };
		let key = blake2(item("Loads"), dispute.defendant.who());
		let load: Option<Load> = self.court_entry("Loads", &key, at).await?;
		dispute.grow(&load.unwrap_or_default());
		Ok(Some(dispute))
	}

	/// Returns the number that the next dispute or commitment gets.
	pub async fn next_dispute(&self, at: H256) -> Result<DisputeId, ChainError> {
		let found = self.court_entry("NextDispute", &item("NextDispute"), at).await?;
		Ok(found.unwrap_or_default())
	}

	/// Returns the disputes of a defendant that take part, the oldest first.
	pub async fn docket(
		&self,
		defendant: &Defendant,
		at: H256,
	) -> Result<Vec<DocketEntry>, ChainError> {
		let key = blake2(item("Dockets"), defendant);
		Ok(self.court_entry("Dockets", &key, at).await?.unwrap_or_default())
	}

	/// Returns a commitment to a challenge, by its number.
	pub async fn commitment(
		&self,
		id: DisputeId,
		at: H256,
	) -> Result<Option<Commitment>, ChainError> {
		self.court_entry("Commitments", &twox(item("Commitments"), &id), at).await
	}

	/// Returns the number of the commitment by which `who` is bound to a challenge to a job.
	pub async fn committed_by(
		&self,
		job: JobId,
		who: &AccountId32,
		at: H256,
	) -> Result<Option<DisputeId>, ChainError> {
		let key = blake2(twox(item("CommittedBy"), &job), who);
		self.court_entry("CommittedBy", &key, at).await
	}

	/// Returns what a defendant has posted and opened so far.
	pub async fn said(&self, defendant: &Defendant, at: H256) -> Result<Said, ChainError> {
		let of = |name: &str| blake2(twox(item(name), &defendant.job()), defendant);
		let posted = self.court_entries("Posts", &of("Posts"), BLAKE2_128, at).await?;
		let opened = self.court_entries("Opened", &of("Opened"), BLAKE2_128, at).await?;
		let forced = match defendant {
			Defendant::Trainer { job, who } => {
				let key = blake2(twox(item_of("Verification", "Forced"), job), who);
				self.court_entry("Forced", &key, at).await?.unwrap_or_default()
			}
			Defendant::Seat { .. } => Vec::new(),
		};
		let (posted, opened) = (posted.into_iter().collect(), opened.into_iter().collect());
		Ok(Said { posted, opened, forced })
	}

	/// Returns where the disputes of a job stand.
	pub async fn standing(&self, job: JobId, at: H256) -> Result<Standing, ChainError> {
		let key = twox(item("Standings"), &job);
		Ok(self.court_entry("Standings", &key, at).await?.unwrap_or_default())
	}

	/// Returns the sum of the deposits that challengers lost against a defendant, in units of the
	/// currency.
	pub async fn won(&self, defendant: &Defendant, at: H256) -> Result<Balance, ChainError> {
		let key = blake2(twox(item("Won"), &defendant.job()), defendant);
		Ok(self.court_entry("Won", &key, at).await?.unwrap_or_default())
	}

	/// Returns whether a defendant lost, and then in which dispute; none where it was not the court
	/// that decided.
	pub async fn convicted(
		&self,
		defendant: &Defendant,
		at: H256,
	) -> Result<Option<Option<DisputeId>>, ChainError> {
		let key = blake2(twox(item("Convicted"), &defendant.job()), defendant);
		self.court_entry("Convicted", &key, at).await
	}

	/// Returns the files of states that a trainer named, because somebody asked for them, in an audit that
	/// runs.
	pub async fn named_states(
		&self,
		job: JobId,
		trainer: &AccountId32,
		at: H256,
	) -> Result<Vec<NamedState>, ChainError> {
		let key = named_states_key(job, trainer);
		Ok(self.court_entry("NamedStates", &key, at).await?.unwrap_or_default())
	}

	/// Returns what an account asked for of the results of a job, as far as the chain remembers.
	pub async fn claims_of(
		&self,
		job: JobId,
		who: &AccountId32,
		at: H256,
	) -> Result<Vec<ClaimView>, ChainError> {
		let key = claims_key(job, who);
		Ok(self.court_entry("Claims", &key, at).await?.unwrap_or_default())
	}

	/// Returns the leaves of its bundle that a trainer brought because somebody asked for them, from the
	/// first on.
	pub async fn shown_leaves(
		&self,
		job: JobId,
		trainer: &AccountId32,
		at: H256,
	) -> Result<Vec<LeafContent>, ChainError> {
		let key = leaves_key(job, trainer);
		Ok(self.court_entry("ShownLeaves", &key, at).await?.unwrap_or_default())
	}

	/// Returns a block with the ticks that the court has counted until then.
	pub async fn court_moment(&self, head: &Head) -> Result<Since, ChainError> {
		let tick: Option<u32> = self.court_entry("Ticks", &item("Ticks"), head.hash).await?;
		Ok(Since { tick: tick.unwrap_or_default(), height: head.number })
	}
}

#[cfg(test)]
mod tests {
	use super::{super::tests::dispute, *};
	use crate::fake::{self, FakeNode};
	use trainyard_court::game::Target;
	use trainyard_protocol::{
		bundle::{Checkpoint, Evaluation},
		pieces::Piece,
	};

	fn defendant() -> Defendant {
		Defendant::Trainer { job: 9, who: AccountId32([2; 32]) }
	}

	fn empty() -> FakeNode {
		FakeNode::new(|method, _, _| panic!("{method}"))
	}

	/// From `twox_128` of the names, as the documentation of Substrate has it.
	#[test]
	fn keys_are_those_of_the_pallet() {
		assert_eq!(hex::encode(twox_128(b"System")), "26aa394eea5630e07c48ae0c9558cef7");
		let key = twox(item("Disputes"), &7u64);
		assert_eq!(key.len(), 32 + 8 + 8);
		assert_eq!(key[40..], 7u64.encode());
		assert_ne!(item("Disputes"), item("Dockets"));
	}

	#[tokio::test]
	async fn a_chain_without_a_court_has_no_disputes() {
		let chain = empty().chain().await;
		let at = fake::hash(1);
		assert!(chain.disputes(at).await.unwrap().is_empty());
		assert_eq!(chain.dispute(3, at).await.unwrap(), None);
		assert!(chain.docket(&defendant(), at).await.unwrap().is_empty());
		assert_eq!(chain.said(&defendant(), at).await.unwrap(), Said::default());
		assert_eq!(chain.standing(9, at).await.unwrap(), Standing::default());
		assert_eq!(chain.won(&defendant(), at).await.unwrap(), 0);
		assert_eq!(chain.convicted(&defendant(), at).await.unwrap(), None);
		assert_eq!(chain.committed_by(9, defendant().who(), at).await.unwrap(), None);
		let head = Head { number: 1, hash: at };
		let moment = Since { tick: 0, height: 1 };
		assert_eq!(chain.court_moment(&head).await.unwrap(), moment);
	}

	#[tokio::test]
	async fn disputes_are_read_in_parts_and_by_number() {
		let numbers = || (0..2 * u64::from(KEYS_AT_ONCE) + 3).map(|id| 7 * id);
		let entries = numbers().map(|id| {
			let burden = Default::default();
			let dispute = Dispute { moves: id as u32, burden, ..dispute() };
			(twox(item("Disputes"), &id), dispute.encode())
		});
		let chain = empty().storing(entries).chain().await;
		let found = chain.disputes(fake::hash(1)).await.unwrap();
		assert!(found.keys().copied().eq(numbers()));
		assert!(found.iter().all(|(id, dispute)| u64::from(dispute.moves) == *id));
		let one = chain.dispute(14, fake::hash(1)).await.unwrap();
		assert_eq!(one.map(|dispute| dispute.moves), Some(14));
	}

	#[tokio::test]
	async fn clocks_have_grown_when_they_are_read() {
		let load = Load { disputes: 2, open: 600, ever: 1_100 };
		let stored = [
			(twox(item("Disputes"), &7u64), dispute().encode()),
			(blake2(item("Loads"), dispute().defendant.who()), load.encode()),
		];
		let (chain, at) = (empty().storing(stored).chain().await, fake::hash(1));
		for found in
			[chain.dispute(7, at).await.unwrap(), chain.disputes(at).await.unwrap().remove(&7)]
		{
			assert_eq!(found.map(|found| found.clocks.defender), Some(2_200));
		}
	}

	#[tokio::test]
	async fn what_was_said_is_that_of_one_defendant() {
		let (mine, place) = (defendant(), Place::Ends { target: Target::Segment(1) });
		let roots = Roots::truncate_from(vec![H256::repeat_byte(3)]);
		let (who, bundle_root) = (AccountId32([2; 32]), H256::zero());
		let other = Defendant::Seat { job: 9, who, bundle_root };
		let at = |who: &Defendant| blake2(blake2(twox(item("Posts"), &9u32), who), &place);
		let docket = vec![DocketEntry { age: (4, 5), deposit: 6, waits: true }];
		let stored = [
			(at(&mine), roots.encode()),
			(at(&other), Roots::default().encode()),
			(blake2(item("Dockets"), &mine), docket.encode()),
			(blake2(twox(item("Convicted"), &9u32), &other), Some(5u64).encode()),
			(item("Ticks"), 44u32.encode()),
		];
		let chain = empty().storing(stored).chain().await;
		let at = fake::hash(1);
		let said = chain.said(&mine, at).await.unwrap();
		assert_eq!(said.posted, BTreeMap::from([(place, roots)]));
		assert!(said.opened.is_empty());
		assert_eq!(chain.docket(&mine, at).await.unwrap(), docket);
		assert_eq!(chain.convicted(&mine, at).await.unwrap(), None);
		assert_eq!(chain.convicted(&other, at).await.unwrap(), Some(Some(5)));
		assert_eq!(chain.court_moment(&Head { number: 60, hash: at }).await.unwrap().tick, 44);
	}

	#[tokio::test]
	async fn named_states_are_those_of_one_trainer() {
		let who = AccountId32([2; 32]);
		let (one, two) = (H256::repeat_byte(3), H256::repeat_byte(4));
		let path = vec![two].try_into().unwrap();
		let checkpoint =
			Checkpoint { step: 70, state: one, evaluation: Evaluation::NONE, trace: two };
		let leaf = pieces::Leaf { index: 7, checkpoint, path };
		let state = NamedState { leaf, blob: two, stored: true };
		let named = (named_states_key(9, &who), vec![state.clone()].encode());
		let chain = empty().storing([named]).chain().await;
		let at = fake::hash(1);
		assert_eq!(chain.named_states(9, &who, at).await.unwrap(), [state]);
		assert_eq!(chain.named_states(8, &who, at).await.unwrap(), []);
	}

	#[tokio::test]
	async fn claims_are_those_of_one_account() {
		let (who, other) = (AccountId32([2; 32]), AccountId32([3; 32]));
		let pieces = Pieces::try_from(vec![Piece::Leaves, Piece::State(7)]).unwrap();
		let claim = ClaimView { group: 1, pieces, prepaid: 5, pledge: 6, open: true, paid: 0 };
		let chain = empty().storing_claims(9, &who, &[claim.clone()]).chain().await;
		let at = fake::hash(1);
		assert_eq!(chain.claims_of(9, &who, at).await.unwrap(), [claim]);
		assert_eq!(chain.claims_of(9, &other, at).await.unwrap(), []);
	}

	#[tokio::test]
	async fn leaves_are_those_of_one_bundle() {
		let (state, trace) = (H256::zero(), H256::repeat_byte(1));
		let checkpoint = |step| Checkpoint { step, state, evaluation: Evaluation::NONE, trace };
		let leaf = |step| LeafContent::Checkpoint(checkpoint(step));
		let all: Vec<LeafContent> = (0..=600).map(leaf).collect();
		let [who, other] = [1, 2].map(|byte| AccountId32([byte; 32]));
		let chain = empty().storing_leaves(9, &who, &all).chain().await;
		let at = fake::hash(1);
		assert_eq!(chain.shown_leaves(9, &who, at).await.unwrap(), all);
		assert_eq!(chain.shown_leaves(9, &other, at).await.unwrap(), []);
	}

	#[tokio::test]
	async fn what_cannot_be_read_is_named() {
		let stored = [(twox(item("Disputes"), &1u64), vec![1, 2, 3])];
		let chain = empty().storing(stored).chain().await;
		let error = chain.dispute(1, fake::hash(1)).await.unwrap_err();
		assert!(error.to_string().contains("Court.Disputes"), "{error}");
	}
}
