//! The file of a certificate: the statement, and the evidence from which all of it follows.

use crate::{error::Refusal, finality::Link, Bytes};
use serde::{
	de::{self, MapAccess, SeqAccess, Visitor},
	Deserialize, Deserializer, Serialize,
};
use serde_json::Value;
use std::{collections::BTreeSet, fmt};

/// Longest certificate that is read, in bytes.
pub const MAX_BYTES: u64 = 64 << 20;

/// From what a certificate follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
	/// The beginning of the chain.
	pub genesis: Genesis,
	/// The last block of each authority set from the first on, and at last the block whose state it is.
	pub finality: Vec<Link>,
	/// Nodes of the trie of that state.
	pub storage: Vec<Bytes>,
}

/// The first block, and a proof of the first authorities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Genesis {
	/// Its header, SCALE-encoded. The hash of that names the chain.
	pub header: Bytes,
	/// Nodes of the trie of its state.
	pub authorities: Vec<Bytes>,
}

/// Returns what a JSON text holds, if no object has a field twice: readers differ in which one they take.
pub fn parse(text: &str) -> Result<Value, Refusal> {
	let form = |error: serde_json::Error| Refusal::Form(error.to_string());
	serde_json::from_str::<Unique>(text).map_err(form)?;
	serde_json::from_str(text).map_err(form)
}

/// JSON whose objects have each name once. Nothing of it is kept.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
	fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
		deserializer.deserialize_any(UniqueVisitor)
	}
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
	type Value = Unique;

	fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str("JSON")
	}

	fn visit_unit<E>(self) -> Result<Unique, E> {
		Ok(Unique)
	}

	fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
		Ok(Unique)
	}

	fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
		Ok(Unique)
	}

	fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
		Ok(Unique)
	}

	fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
		Ok(Unique)
	}

	fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
		Ok(Unique)
	}

	fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Unique, A::Error> {
		while seq.next_element::<Unique>()?.is_some() {}
		Ok(Unique)
	}

	fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique, A::Error> {
		let mut names = BTreeSet::new();
		while let Some((name, Unique)) = map.next_entry::<String, Unique>()? {
			if names.contains(&name) {
				return Err(de::Error::custom(format_args!("the field {name:?} is there twice")));
			}
			names.insert(name);
		}
		Ok(Unique)
	}
}

/// Returns the first field in which what is said differs from what is proven, by its path.
pub fn differs(at: &str, said: &Value, proven: &Value) -> Result<(), Refusal> {
	let name = |field: &str| match at {
		"" => field.to_owned(),
		at => format!("{at}.{field}"),
	};
	match (said, proven) {
		(Value::Object(said), Value::Object(proven)) => {
			for (field, value) in proven {
				differs(&name(field), said.get(field).unwrap_or(&Value::Null), value)?;
				// A field that is null is there all the same.
				if !said.contains_key(field) {
					return Err(difference(&name(field), "not there", &value.to_string()));
				}
			}
			match said.keys().find(|field| !proven.contains_key(*field)) {
				Some(field) => Err(difference(&name(field), "there", "nothing of that name")),
				None => Ok(()),
			}
		}
		(Value::Array(said), Value::Array(proven)) => {
			if said.len() != proven.len() {
				let entries = |all: &[Value]| format!("a list of {}", all.len());
				return Err(difference(at, &entries(said), &entries(proven)));
			}
			let mut both = said.iter().zip(proven).enumerate();
			both.try_for_each(|(i, (said, proven))| differs(&format!("{at}[{i}]"), said, proven))
		}
		(said, proven) if said == proven => Ok(()),
		(said, proven) => Err(difference(at, &said.to_string(), &proven.to_string())),
	}
}

fn difference(at: &str, said: &str, proven: &str) -> Refusal {
	Refusal::Differs { at: at.into(), said: shortened(said), proven: shortened(proven) }
}

/// Returns the beginning of a long text.
fn shortened(text: &str) -> String {
	match text.char_indices().nth(200) {
		Some((end, _)) => format!("{}…", &text[..end]),
		None => text.into(),
	}
}
