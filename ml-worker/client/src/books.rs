//! Reads what moved on an account: its balances and the events of a block, and what is held of it.
//!
//! Names and fields of events and of reasons for holds come from the metadata of the connected node.

use super::{
	client::{root_cause, Chain},
	queries::AccountInfo,
	Account, AccountId32, ChainError, Head,
};
use codec::Decode;
use serde::Deserialize;
use sp_crypto_hashing::{blake2_128, twox_128};
use subxt::{
	dynamic,
	events::Phase,
	ext::scale_value::{Composite, Primitive, Value, ValueDef},
	rpcs::client::rpc_params,
};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	views::Hardware,
	H256,
};

/// A field of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
	/// An account, or another 32 bytes.
	Account(AccountId32),
	/// A number.
	Number(u128),
	/// The name of a variant, those in it after points: `TaskMarket.Deposit`.
	Word(String),
	/// Anything else.
	Other,
}

/// An event of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainEvent {
	/// The transaction in which it happened; none for what the chain does by itself.
	pub extrinsic: Option<u32>,
	/// The pallet.
	pub pallet: String,
	/// The event.
	pub name: String,
	/// Its fields by name.
	pub fields: Vec<(String, Field)>,
}

impl ChainEvent {
	/// Returns whether it is this event.
	pub fn is(&self, pallet: &str, name: &str) -> bool {
		self.pallet == pallet && self.name == name
	}

	fn field(&self, name: &str) -> Option<&Field> {
		self.fields.iter().find(|(known, _)| known == name).map(|(_, field)| field)
	}

	/// Returns a field that is an account.
	pub fn account(&self, name: &str) -> Option<&AccountId32> {
		match self.field(name)? {
			Field::Account(account) => Some(account),
			_ => None,
		}
	}

	/// Returns a field that is a number.
	pub fn number(&self, name: &str) -> Option<u128> {
		match self.field(name)? {
			Field::Number(number) => Some(*number),
			_ => None,
		}
	}

	/// Returns a field that is a word.
	pub fn word(&self, name: &str) -> Option<&str> {
		match self.field(name)? {
			Field::Word(word) => Some(word),
			_ => None,
		}
	}

	/// Returns whether one of its fields is this account.
	pub fn names(&self, account: &AccountId32) -> bool {
		self.fields.iter().any(|(_, field)| *field == Field::Account(*account))
	}
}

/// A part of a balance that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
	/// Why, like `Hashrate.Bond`.
	pub reason: String,
	/// How much.
	pub amount: Balance,
}

/// What a node says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
	/// How many others it is connected to.
	pub peers: u32,
	/// Whether it still reads blocks that others have.
	pub is_syncing: bool,
}

/// Returns a value as a field.
fn field(value: &Value) -> Field {
	match &value.value {
		ValueDef::Primitive(Primitive::U128(number)) => Field::Number(*number),
		ValueDef::Composite(composite) => match bytes(composite) {
			Some(bytes) => Field::Account(AccountId32(bytes)),
			None => Field::Other,
		},
		ValueDef::Variant(variant) => {
			let mut values = variant.values.values();
			match (variant.name.as_str(), values.next(), values.next()) {
				("Some", Some(inner), None) => field(inner),
				("None", None, None) => Field::Other,
				(name, Some(inner), None) => match field(inner) {
					Field::Word(inner) => Field::Word(format!("{name}.{inner}")),
					_ => Field::Word(name.to_owned()),
				},
				(name, ..) => Field::Word(name.to_owned()),
			}
		}
		_ => Field::Other,
	}
}

/// Returns the 32 bytes that a composite is, whatever it is wrapped in.
fn bytes(composite: &Composite<()>) -> Option<[u8; 32]> {
	if composite.len() == 1 {
		return match &composite.values().next()?.value {
			ValueDef::Composite(inner) => bytes(inner),
			_ => None,
		};
	}
	let byte = |value: &Value| match &value.value {
		ValueDef::Primitive(Primitive::U128(byte)) => u8::try_from(*byte).ok(),
		_ => None,
	};
	let all: Option<Vec<u8>> = composite.values().map(byte).collect();
	all?.try_into().ok()
}

/// Returns the fields of an event.
fn fields(composite: &Composite<()>) -> Vec<(String, Field)> {
	match composite {
		Composite::Named(values) => {
			values.iter().map(|(name, value)| (name.clone(), field(value))).collect()
		}
		Composite::Unnamed(values) => {
			values.iter().enumerate().map(|(at, value)| (at.to_string(), field(value))).collect()
		}
	}
}

/// Returns the holds in a list of them.
fn holds(list: &Value) -> Option<Vec<Hold>> {
	let ValueDef::Composite(list) = &list.value else { return None };
	// A bounded list is a list in a composite of one.
	if let (1, Some(ValueDef::Composite(Composite::Unnamed(_)))) =
		(list.len(), list.values().next().map(|value| &value.value))
	{
		return holds(list.values().next()?);
	}
	let hold = |value: &Value| {
		let ValueDef::Composite(composite) = &value.value else { return None };
		let found = fields(composite);
		let of = |name: &str| found.iter().find(|(known, _)| known == name).map(|(_, it)| it);
		match (of("id")?, of("amount")?) {
			(Field::Word(reason), Field::Number(amount)) => {
				Some(Hold { reason: reason.clone(), amount: *amount })
			}
			_ => None,
		}
	};
	list.values().map(hold).collect()
}

/// Returns the key of an item of a pallet.
fn item(pallet: &str, name: &str) -> Vec<u8> {
	[twox_128(pallet.as_bytes()), twox_128(name.as_bytes())].concat()
}

/// Returns the key of an account's entry in a map of a pallet, hashed by `Blake2_128Concat`.
pub(super) fn entry(pallet: &str, map: &str, who: &AccountId32) -> Vec<u8> {
	let mut key = item(pallet, map);
	key.extend(blake2_128(&who.0));
	key.extend(who.0);
	key
}

fn text_of(bytes: &[u8]) -> String {
	format!("0x{}", hex::encode(bytes))
}

fn hash_of(text: &str) -> Option<H256> {
	let mut hash = H256::zero();
	hex::decode_to_slice(text.trim_start_matches("0x"), &mut hash.0).ok()?;
	Some(hash)
}

impl Chain {
	/// Returns the last block that is final.
	pub async fn finalized(&self) -> Result<Head, ChainError> {
		let hash: String = self.rpc("chain_getFinalizedHead", rpc_params![]).await?;
		let header: serde_json::Value =
			self.rpc("chain_getHeader", rpc_params![hash.clone()]).await?;
		let unreadable = |what: &str| ChainError::Unreadable {
			method: "chain_getHeader".into(),
			reason: format!("{what} is no such thing"),
		};
		let number = header["number"].as_str().unwrap_or_default().trim_start_matches("0x");
		let number = BlockNumber::from_str_radix(number, 16).map_err(|_| unreadable("a height"))?;
		let hash = hash_of(&hash).ok_or_else(|| unreadable("a hash"))?;
		Ok(Head { number, hash })
	}

	/// Returns the hash of a block of the best chain; `None` where it has none of this height.
	pub async fn hash_at(&self, number: BlockNumber) -> Result<Option<H256>, ChainError> {
		let hash: Option<String> = self.rpc("chain_getBlockHash", rpc_params![number]).await?;
		Ok(hash.as_deref().and_then(hash_of))
	}

	/// Returns what is stored under a key at a block.
	async fn stored(&self, key: &[u8], at: H256) -> Result<Option<Vec<u8>>, ChainError> {
		let params = rpc_params![text_of(key), subxt::utils::H256(at.0)];
		let found: Option<String> = self.rpc("state_getStorage", params).await?;
		let unreadable = |reason: hex::FromHexError| ChainError::Unreadable {
			method: "state_getStorage".into(),
			reason: reason.to_string(),
		};
		found.map(|text| hex::decode(text.trim_start_matches("0x")).map_err(unreadable)).transpose()
	}

	async fn decoded<T: Decode>(
		&self,
		what: &str,
		key: &[u8],
		at: H256,
	) -> Result<Option<T>, ChainError> {
		let unreadable = |e: codec::Error| ChainError::Unreadable {
			method: what.to_owned(),
			reason: e.to_string(),
		};
		let found = self.stored(key, at).await?;
		found.map(|bytes| T::decode(&mut &bytes[..]).map_err(unreadable)).transpose()
	}

	/// Returns the balances of `who` at a block; zeros for an account that did not exist.
	pub async fn account_at(&self, who: &AccountId32, at: H256) -> Result<Account, ChainError> {
		let key = entry("System", "Account", who);
		let found: Option<AccountInfo> = self.decoded("System.Account", &key, at).await?;
		Ok(found.map_or_else(Account::default, Account::from))
	}

	/// Returns the time of a block, in milliseconds since 1970; 0 of one that has none.
	pub async fn time_at(&self, at: H256) -> Result<u64, ChainError> {
		let key = item("Timestamp", "Now");
		Ok(self.decoded("Timestamp.Now", &key, at).await?.unwrap_or(0))
	}

	/// Returns the height from which a trainer that leaves can withdraw its bond; `None` of one that stays,
	/// or that is none.
	pub async fn trainer_free_at(
		&self,
		who: &AccountId32,
		at: H256,
	) -> Result<Option<BlockNumber>, ChainError> {
		type Trainer = (Balance, Hardware, Option<BlockNumber>);
		let key = entry("Hashrate", "Trainers", who);
		let found: Option<Trainer> = self.decoded("Hashrate.Trainers", &key, at).await?;
		Ok(found.and_then(|(.., free_at)| free_at))
	}

	/// Returns what is held of `who` at a block, by reason.
	pub async fn holds_at(&self, who: &AccountId32, at: H256) -> Result<Vec<Hold>, ChainError> {
		let connection = self.connection().await?;
		let lost =
			|e: &(dyn std::error::Error + 'static)| self.lost("Balances.Holds", root_cause(e));
		let at =
			connection.client.at_block(subxt::utils::H256(at.0)).await.map_err(|e| lost(&e))?;
		let address = dynamic::storage::<([u8; 32],), Value>("Balances", "Holds");
		let found = at.storage().try_fetch(address, (who.0,)).await.map_err(|e| lost(&e))?;
		let Some(found) = found else { return Ok(Vec::new()) };
		let unreadable =
			|reason: String| ChainError::Unreadable { method: "Balances.Holds".into(), reason };
		let value = found.decode().map_err(|e| unreadable(root_cause(&e)))?;
		holds(&value).ok_or_else(|| unreadable("it is no list of holds".into()))
	}

	/// Returns the events of a block, in order.
	pub async fn events_at(&self, at: H256) -> Result<Vec<ChainEvent>, ChainError> {
		let connection = self.connection().await?;
		let lost =
			|e: &(dyn std::error::Error + 'static)| self.lost("System.Events", root_cause(e));
		let at =
			connection.client.at_block(subxt::utils::H256(at.0)).await.map_err(|e| lost(&e))?;
		let events = at.events().fetch().await.map_err(|e| lost(&e))?;
		let unreadable = |e: &(dyn std::error::Error + 'static)| ChainError::Unreadable {
			method: "System.Events".into(),
			reason: root_cause(e),
		};
		let mut found = Vec::new();
		for event in events.iter() {
			let event = event.map_err(|e| unreadable(&e))?;
			let decoded: Composite<()> =
				event.decode_fields_unchecked_as().map_err(|e| unreadable(&e))?;
			found.push(ChainEvent {
				extrinsic: match event.phase() {
					Phase::ApplyExtrinsic(index) => Some(index),
					Phase::Finalization | Phase::Initialization => None,
				},
				pallet: event.pallet_name().to_owned(),
				name: event.event_name().to_owned(),
				fields: fields(&decoded),
			});
		}
		Ok(found)
	}

	/// Returns the calls in a block, like `Stints.report`, in order.
	pub async fn calls_at(&self, at: H256) -> Result<Vec<String>, ChainError> {
		let connection = self.connection().await?;
		let lost =
			|e: &(dyn std::error::Error + 'static)| self.lost("chain_getBlock", root_cause(e));
		let at =
			connection.client.at_block(subxt::utils::H256(at.0)).await.map_err(|e| lost(&e))?;
		let calls = at.extrinsics().fetch().await.map_err(|e| lost(&e))?;
		let title = |call: Result<_, _>| {
			let call: subxt::extrinsics::Extrinsic<'_, _, _> = call.map_err(|e| lost(&e))?;
			Ok(format!("{}.{}", call.pallet_name(), call.call_name()))
		};
		calls.iter().map(title).collect()
	}

	/// Returns what the node says of itself.
	pub async fn health(&self) -> Result<Health, ChainError> {
		self.rpc("system_health", rpc_params![]).await
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::fake::{self, FakeNode};
	use codec::Encode;

	const ME: AccountId32 = AccountId32([7; 32]);

	fn account(who: &AccountId32) -> Value {
		let bytes = who.0.iter().map(|byte| Value::u128(u128::from(*byte)));
		Value::unnamed_composite([Value::unnamed_composite(bytes)])
	}

	fn reason(pallet: &str, name: &str) -> Value {
		let inner = Value::unnamed_variant(name, []);
		Value::unnamed_variant(pallet, [inner])
	}

	#[test]
	fn fields_are_read_by_their_names() {
		let values = Composite::named([
			("reason", reason("TaskMarket", "Escrow")),
			("source", account(&AccountId32([3; 32]))),
			("dest", account(&ME)),
			("amount", Value::u128(12)),
			("invited", Value::unnamed_variant("Some", [account(&ME)])),
			("second", Value::unnamed_variant("None", [])),
			("fate", Value::unnamed_variant("Accepted", [])),
			("work", Value::named_composite([("flop", Value::u128(1))])),
		]);
		let (extrinsic, pallet, name) = (Some(1), "Balances".into(), "TransferOnHold".into());
		let event = ChainEvent { extrinsic, pallet, name, fields: fields(&values) };
		assert!(event.is("Balances", "TransferOnHold") && !event.is("Balances", "Transfer"));
		assert_eq!(event.word("reason"), Some("TaskMarket.Escrow"));
		assert_eq!(event.word("fate"), Some("Accepted"));
		assert_eq!((event.account("dest"), event.number("amount")), (Some(&ME), Some(12)));
		assert_eq!(event.account("invited"), Some(&ME));
		assert_eq!(
			(event.account("second"), event.number("work"), event.word("no")),
			(None, None, None)
		);
		assert!(event.names(&ME) && !event.names(&AccountId32([9; 32])));
	}

	#[test]
	fn holds_are_read_however_the_list_is_wrapped() {
		let hold = |pallet, name, amount| {
			let (id, amount) = (reason(pallet, name), Value::u128(amount));
			Value::named_composite([("id", id), ("amount", amount)])
		};
		let expected = |count: usize| {
			let all = [("Hashrate.Bond", 100), ("TaskMarket.Deposit", 7)];
			let all = all.map(|(reason, amount)| Hold { reason: reason.into(), amount });
			all[..count].to_vec()
		};
		let list = |count: usize| {
			let all = [hold("Hashrate", "Bond", 100), hold("TaskMarket", "Deposit", 7)];
			Value::unnamed_composite(all[..count].to_vec())
		};
		for count in 0..3 {
			assert_eq!(holds(&list(count)), Some(expected(count)), "{count}");
			let wrapped = Value::unnamed_composite([list(count)]);
			assert_eq!(holds(&wrapped), Some(expected(count)), "{count}, wrapped");
		}
		assert_eq!(holds(&Value::unnamed_composite([Value::u128(1)])), None);
	}

	#[tokio::test]
	async fn balances_and_times_are_those_of_a_block() {
		let info = (7u32, 1u32, 2u32, 0u32, 10u128, 20u128, 3u128, 1u128 << 127).encode();
		let trainer = (5u128, Hardware::default(), Some(90u32)).encode();
		let node = FakeNode::new(|_, _, _| Err("no runtime")).finalized_at(30).storing([
			(entry("System", "Account", &ME), info),
			(item("Timestamp", "Now"), 1_700_000_000_000u64.encode()),
			(entry("Hashrate", "Trainers", &ME), trainer),
		]);
		let chain = node.chain().await;
		let at = chain.finalized().await.unwrap();
		assert_eq!(at, Head { number: 30, hash: fake::hash(30) });
		assert_eq!(chain.hash_at(12).await.unwrap(), Some(fake::hash(12)));
		let account = chain.account_at(&ME, at.hash).await.unwrap();
		assert_eq!((account.nonce, account.free, account.reserved), (7, 10, 20));
		let nobody = AccountId32([8; 32]);
		assert_eq!(chain.account_at(&nobody, at.hash).await.unwrap(), Account::default());
		assert_eq!(chain.time_at(at.hash).await.unwrap(), 1_700_000_000_000);
		assert_eq!(chain.trainer_free_at(&ME, at.hash).await.unwrap(), Some(90));
		assert_eq!(chain.trainer_free_at(&nobody, at.hash).await.unwrap(), None);
	}
}
