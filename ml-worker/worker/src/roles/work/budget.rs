//! Divides memory and disk between the roles of a machine. Pure functions.
//!
//! A verifier declares on chain what it has room for, and may be drawn at any time, so its part is its
//! own. Everything else shares the rest.

use super::part::Part;
use std::collections::BTreeSet;
use trainyard_protocol::seats::LEAST_ROOM;

/// Least MiB of a role besides the verifier's, of memory and of disk.
const LEAST: u64 = 256;

/// A part of memory or disk for each role, in MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
	/// Of the verifier alone; 0 without one.
	pub verifier: u64,
	/// What the others share.
	pub others: u64,
}

/// Says why a budget is too small.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{option} {given} is too little for these roles, which need {needed} MiB: {}. Give more, or name fewer roles with --roles", .parts.join(", "))]
pub struct TooSmall {
	/// The option that was given.
	pub option: &'static str,
	/// What it says, in MiB.
	pub given: u64,
	/// What is needed, in MiB.
	pub needed: u64,
	/// By role.
	pub parts: Vec<String>,
}

/// Returns the least MiB that the roles need, for the verifier and for all others together: these share.
fn least(roles: &BTreeSet<Part>, of_verifier: u64) -> Shares {
	let verifier = if roles.contains(&Part::Verifier) { of_verifier } else { 0 };
	let others = roles.iter().any(|role| *role != Part::Verifier);
	Shares { verifier, others: if others { LEAST } else { 0 } }
}

fn divide(
	roles: &BTreeSet<Part>,
	option: &'static str,
	(given, available): (Option<u64>, u64),
	of_verifier: u64,
) -> Result<Shares, TooSmall> {
	let least = least(roles, of_verifier);
	let all = given.unwrap_or(available);
	let needed = least.verifier + least.others;
	if let Some(given) = given.filter(|given| *given < needed) {
		let part = |name: &str, mib: u64| (mib > 0).then(|| format!("{name} {mib} MiB"));
		let parts = [
			part("the verifier, of which the chain draws none with less,", least.verifier),
			part("the others together", least.others),
		];
		let parts = parts.into_iter().flatten().collect();
		return Err(TooSmall { option, given, needed, parts });
	}
	Ok(match (least.verifier, least.others) {
		(0, _) => Shares { verifier: 0, others: all },
		(_, 0) => Shares { verifier: all.max(of_verifier), others: 0 },
		// What is free now may be little for a moment only, so a verifier has the least room in any case.
		_ => {
			let verifier = (all / 2).max(of_verifier);
			let others = all.saturating_sub(verifier);
			Shares { verifier, others: if given.is_some() { others } else { others.max(all / 2) } }
		}
	})
}

/// Divides the memory: what was given, or else what is available.
pub fn memory(
	roles: &BTreeSet<Part>,
	given: Option<u64>,
	available: u64,
) -> Result<Shares, TooSmall> {
	let least = u64::from(LEAST_ROOM.memory_mib);
	divide(roles, "--max-memory-mib", (given, available), least)
}

/// Divides the disk.
pub fn disk(
	roles: &BTreeSet<Part>,
	given: Option<u64>,
	available: u64,
) -> Result<Shares, TooSmall> {
	divide(roles, "--max-disk-mib", (given, available), u64::from(LEAST_ROOM.disk_mib))
}

#[cfg(test)]
mod tests {
	use super::*;

	fn roles(names: &[Part]) -> BTreeSet<Part> {
		names.iter().copied().collect()
	}

	#[test]
	fn a_verifier_has_its_own_and_the_others_share() {
		let least = u64::from(LEAST_ROOM.memory_mib);
		let all = roles(&Part::ROLES);
		let large = 10 * least;
		let half = Shares { verifier: 5 * least, others: 5 * least };
		assert_eq!(memory(&all, Some(large), 0), Ok(half));
		let tight = Shares { verifier: least, others: 300 };
		assert_eq!(memory(&all, Some(least + 300), 0), Ok(tight));
		let alone = roles(&[Part::Trainer, Part::Driller]);
		assert_eq!(memory(&alone, Some(300), 0), Ok(Shares { verifier: 0, others: 300 }));
		let seat = roles(&[Part::Verifier]);
		assert_eq!(memory(&seat, Some(large), 0), Ok(Shares { verifier: large, others: 0 }));
	}

	#[test]
	fn what_is_measured_is_never_refused() {
		let least = u64::from(LEAST_ROOM.memory_mib);
		let all = roles(&Part::ROLES);
		let little = Shares { verifier: least, others: least / 2 };
		assert_eq!(memory(&all, None, least), Ok(little));
		assert_eq!(memory(&roles(&[Part::Verifier]), None, 9).unwrap().verifier, least);
	}

	#[test]
	fn what_is_too_small_says_what_is_needed() {
		let all = roles(&Part::ROLES);
		let error = disk(&all, Some(1_000), 0).unwrap_err();
		assert_eq!(error.needed, u64::from(LEAST_ROOM.disk_mib) + LEAST);
		let text = error.to_string();
		for word in ["--max-disk-mib 1000", &error.needed.to_string(), "verifier", "--roles"] {
			assert!(text.contains(word), "{text}");
		}
		let error = memory(&roles(&[Part::Driller]), Some(255), 0).unwrap_err();
		assert!(!error.to_string().contains("verifier"), "{error}");
		assert!(memory(&roles(&[Part::Driller]), Some(256), 0).is_ok());
	}
}
