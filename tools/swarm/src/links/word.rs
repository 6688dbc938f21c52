//! What a peer and the script that started it say to each other: lines of JSON.
//!
//! The script is in the place of the chain: it says which peers there are and which updates of a round count.

use anyhow::{Context, Result};
use serde_json::{json, Value};

/// What the script says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
	/// All peers are there: these are their locations, and a peer trains from this round on.
	Begin {
		/// Where each is.
		peers: Vec<String>,
		/// The first round in which it trains; what was before it takes from the others.
		joins: u32,
	},
	/// These updates of a round count.
	Counted {
		/// The round.
		round: u32,
		/// The peers, ascending.
		peers: Vec<u32>,
	},
}

impl Order {
	/// Reads a line.
	pub fn parse(line: &str) -> Result<Self> {
		let value: Value = serde_json::from_str(line).context("no JSON")?;
		let number = |of: &Value| of.as_u64().and_then(|number| u32::try_from(number).ok());
		let round = number(&value["round"]).context("no round")?;
		let of = |name: &str| value[name].as_array();
		if let Some(counted) = of("counted") {
			let peers = counted.iter().map(number).collect::<Option<_>>();
			return Ok(Self::Counted { round, peers: peers.context("a peer is no number")? });
		}
		let peers = of("peers").context("neither counted nor peers")?.iter();
		let peers = peers.map(|peer| peer.as_str().map(String::from)).collect::<Option<_>>();
		Ok(Self::Begin { peers: peers.context("a location is no text")?, joins: round })
	}
}

/// What a round of a peer came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
	/// Seconds of what stands for training; nothing where that was broken off.
	pub training: f64,
	/// Seconds in which it made its update.
	pub making: f64,
	/// Seconds until the updates of all others were there, or no longer waited for.
	pub waiting: f64,
	/// Seconds until it was said which count, and all of these were there.
	pub agreeing: f64,
	/// Seconds of the outer step and of the hash of the model.
	pub stepping: f64,
	/// Seconds of all of it.
	pub all: f64,
	/// Bytes of updates that it sent in it, to all others together.
	pub sent: u64,
}

/// Says where a peer is, and which round it has not got behind it.
pub fn here(location: &str, round: u32) -> Value {
	json!({ "here": location, "round": round })
}

/// Says whose updates of a round are here.
pub fn has(round: u32, have: &[u32]) -> Value {
	json!({ "has": have, "round": round })
}

/// Says what came of a round.
pub fn done(round: u32, hash: &str, took_part: bool, times: &Times) -> Value {
	json!({
		"done": hash,
		"round": round,
		"took_part": took_part,
		"training": times.training,
		"making": times.making,
		"waiting": times.waiting,
		"agreeing": times.agreeing,
		"stepping": times.stepping,
		"all": times.all,
		"sent": times.sent,
	})
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn orders_are_read_and_others_refused() {
		let begin = Order::parse(r#"{"peers":["iroh://a"],"round":3}"#).unwrap();
		assert_eq!(begin, Order::Begin { peers: vec!["iroh://a".into()], joins: 3 });
		let counted = Order::parse(r#"{"counted":[0,2],"round":1}"#).unwrap();
		assert_eq!(counted, Order::Counted { round: 1, peers: vec![0, 2] });
		for wrong in [
			"",
			"{}",
			r#"{"round":1}"#,
			r#"{"peers":[1],"round":1}"#,
			r#"{"counted":[-1],"round":1}"#,
			r#"{"counted":[1],"round":4294967296}"#,
		] {
			assert!(Order::parse(wrong).is_err(), "{wrong}");
		}
	}
}
