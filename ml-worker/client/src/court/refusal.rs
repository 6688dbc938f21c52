//! What it means where the court refuses a call.

use super::calls::PALLET;
use crate::TxError;

/// What a refusal of the court asks of whoever sent the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
	/// The dispute has gone on: what it asks for now is to be read from the chain.
	Overtaken,
	/// The same call can be right in a later block.
	TooEarly,
	/// The time for it is over.
	TooLate,
	/// The dispute is over, or the defendant was convicted elsewhere: nothing is to be done.
	Over,
	/// This account is no party, or the job takes no challenges.
	NotAllowed,
	/// What was sent is not what the place takes: it was computed from other files, or wrong.
	Wrong,
}

impl Refusal {
	/// Returns why the court refused a call; `None` where it was not the court that did.
	pub fn of(error: &TxError) -> Option<Self> {
		let TxError::Failed { name, .. } = error else { return None };
		let (pallet, name) = name.split_once("::")?;
		if pallet != PALLET {
			return None;
		}
		Some(match name {
			"WrongPlace" | "AlreadySaid" | "NotYourTurn" | "NotDue" | "HasCommitted"
			| "AlreadyAccused" => Self::Overtaken,
			"TooEarly" => Self::TooEarly,
			"TooLate" | "NotCommitted" => Self::TooLate,
			"NoDispute" | "AlreadyConvicted" | "NoSuchDefendant" => Self::Over,
			"NotOpen" | "NotChallenger" | "NotDefender" | "NotASide" | "Oneself" => {
				Self::NotAllowed
			}
			_ => Self::Wrong,
		})
	}

	/// Says what to do, in a sentence.
	pub fn advice(self) -> &'static str {
		match self {
			Self::Overtaken => "the dispute has gone on; its next move is computed from the chain",
			Self::TooEarly => "it is tried again in a later block",
			Self::TooLate => "a clock ran out: look whether this machine and its node keep up",
			Self::Over => "the dispute is over",
			Self::NotAllowed => "the key is not that of a party, or the job takes no challenges now",
			Self::Wrong => {
				"check the files of the job by `trainyard verify`, and the memory of this machine: an \
				 honest party's move is never refused"
			}
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	fn failed(name: &str) -> TxError {
		let (call, docs) = ("Court.post".into(), String::new());
		TxError::Failed { call, name: name.into(), docs }
	}

	#[test]
	fn refusals_say_what_to_do() {
		for (name, expected) in [
			("Court::WrongPlace", Some(Refusal::Overtaken)),
			("Court::TooEarly", Some(Refusal::TooEarly)),
			("Court::TooLate", Some(Refusal::TooLate)),
			("Court::NoDispute", Some(Refusal::Over)),
			("Court::NotOpen", Some(Refusal::NotAllowed)),
			("Court::WrongOpening", Some(Refusal::Wrong)),
			("TaskMarket::NotOpen", None),
			("Bad origin", None),
		] {
			assert_eq!(Refusal::of(&failed(name)), expected, "{name}");
		}
		let unknown = TxError::Unknown { call: "Court.post".into(), reason: "gone".into() };
		assert_eq!(Refusal::of(&unknown), None);
		assert!(Refusal::Wrong.advice().contains("trainyard verify"));
	}
}
