//! Certificates of finished jobs: one file that says what was trained, on what, by whom, who checked it and
//! what the checks found, and that anybody can check without a node.
//!
//! Whoever checks one believes the hash of the chain's genesis header, which it names itself; that of every
//! authority set of GRANDPA more than two thirds of the weight followed the rules; and hash functions and
//! signatures. Nothing in the readable part is believed: [`check`] reads the job's records from the proven
//! state, makes the statement out of them again, and compares it with the file, field by field.
//!
//! - [`finality`] leads from the authorities of genesis to a final block.
//! - [`trie`] reads values under a state's root, and proves them.
//! - [`records`] are the values that are read.
//! - [`statement`] is what they say, as an in-toto Statement.
//! - [`file`](mod@file) is the evidence, and how both stand in one file.

pub mod error;
pub mod file;
pub mod finality;
pub mod keys;
pub mod records;
pub mod statement;
#[cfg(test)]
mod tests;
pub mod trie;

pub use error::{Fault, Refusal};
pub use file::{Evidence, Genesis, MAX_BYTES};
pub use finality::{Final, Header, Link};
pub use statement::Statement;

use records::Records;
use serde::{de::Error as _, Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{json, Value};
use trainyard_protocol::{JobId, H256};
use trie::Proof;

/// Bytes, in JSON as `0x` and hex digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
	fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
		s.serialize_str(&format!("0x{}", hex::encode(&self.0)))
	}
}

impl<'de> Deserialize<'de> for Bytes {
	fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
		let text = String::deserialize(d)?;
		let digits = text.strip_prefix("0x").ok_or_else(|| D::Error::custom("hex without 0x"))?;
		hex::decode(digits).map(Bytes).map_err(D::Error::custom)
	}
}

/// Returns the block that evidence proves to be final, and with it the root of its state.
pub fn final_block(evidence: &Evidence, genesis: &H256) -> Result<Final, Refusal> {
	let header = finality::header("genesis", &evidence.genesis.header)?;
	let found = header.hash();
	if found != *genesis {
		return Err(Refusal::OtherGenesis { found, wanted: *genesis });
	}
	if header.number != 0 {
		return Err(Refusal::Form(format!("{found:?} is block {}, not genesis", header.number)));
	}
	let key = finality::authorities_key();
	let what = "the first authorities";
	let proof = Proof::new(what, header.state_root, &evidence.genesis.authorities);
	let value = proof.get(&key)?;
	proof.all_needed()?;
	let none = || Refusal::Unreadable { what: key.name, reason: "there is none".into() };
	finality::follow(finality::authorities(&value.ok_or_else(none)?)?, &evidence.finality)
}

/// Returns what evidence says of a job.
pub fn prove(evidence: &Evidence, genesis: &H256, job: JobId) -> Result<Statement, Refusal> {
	let block = final_block(evidence, genesis)?;
	let proof = Proof::new("the records of the job", block.state_root, &evidence.storage);
	let records = Records::read(&|key: &keys::Key| proof.get(key), job, block.number)?;
	proof.all_needed()?;
	Statement::of(*genesis, &block, job, &records)
}

/// Writes a certificate: what the evidence says of a job, with the evidence.
pub fn write(evidence: &Evidence, genesis: &H256, job: JobId) -> Result<String, Refusal> {
	let statement = prove(evidence, genesis, job)?;
	let mut value = json!(statement);
	value["predicate"]["evidence"] = json!(evidence);
	// JSON of JSON's own values never fails.
	Ok(serde_json::to_string_pretty(&value).unwrap_or_default() + "\n")
}

/// Checks a certificate: it is of the chain with this genesis, everything in it is proven, and it says
/// nothing else. Returns what it says, made of what is proven.
pub fn check(text: &str, genesis: &H256, job: Option<JobId>) -> Result<Statement, Refusal> {
	let mut said = file::parse(text)?;
	let form = |what: &str| Refusal::Form(what.into());
	if said.get("_type") != Some(&json!(statement::STATEMENT)) {
		return Err(form("its _type is not that of an in-toto Statement v1"));
	}
	if said.get("predicateType") != Some(&json!(statement::PREDICATE)) {
		return Err(form("its predicateType is not urn:trainyard:certificate:v1"));
	}
	let predicate = said.get_mut("predicate").and_then(Value::as_object_mut);
	let predicate = predicate.ok_or_else(|| form("it has no predicate"))?;
	let evidence = predicate.remove("evidence").ok_or_else(|| form("it has no evidence"))?;
	let evidence: Evidence = serde_json::from_value(evidence)
		.map_err(|error| Refusal::Form(format!("its evidence cannot be read: {error}")))?;
	let found = predicate.get("job").and_then(|job| job.get("id")).and_then(Value::as_u64);
	let found = found.and_then(|id| JobId::try_from(id).ok());
	let found = found.ok_or_else(|| form("it does not say of which job it is"))?;
	if let Some(wanted) = job.filter(|wanted| *wanted != found) {
		return Err(Refusal::OtherJob { found, wanted });
	}
	let statement = prove(&evidence, genesis, found)?;
	// By way of the same text as the file, since numbers may be rounded on it.
	let proven = file::parse(&json!(statement).to_string())?;
	file::differs("", &said, &proven)?;
	Ok(statement)
}
