//! Cuts a file into units of work: what is asked of one source at once.

use crate::{index::Index, protocol::Span};

/// Bytes in a chunk group: what is checked by itself.
pub(crate) const GROUP: u64 = 16 * 1024;
/// Most bytes in a unit.
pub(crate) const UNIT: u64 = 1 << 20;
/// Most spans in a unit.
pub(crate) const MOST_SPANS: usize = 256;

/// Returns the units of a file: spans of its parts in order, each unit with as many as fit. They follow
/// from the index alone, so a number of one means the same after a restart.
pub(crate) fn units(index: &Index) -> Vec<Vec<Span>> {
	let (mut units, mut unit, mut room) = (Vec::new(), Vec::new(), UNIT);
	for (part, about) in (0u32..).zip(&index.parts) {
		let mut from = 0;
		while from < about.bytes {
			if room < GROUP || unit.len() >= MOST_SPANS {
				units.push(std::mem::take(&mut unit));
				room = UNIT;
			}
			// A span ends between two groups, or with its part.
			let most = room / GROUP * GROUP;
			let bytes = most.min(about.bytes - from);
			unit.push(Span { part, from, bytes });
			from += bytes;
			room -= bytes;
		}
	}
	if !unit.is_empty() {
		units.push(unit);
	}
	units
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::index::PartHash;

	fn of(lengths: &[u64]) -> Vec<Vec<Span>> {
		let hash = blake3::hash(b"");
		let parts = lengths.iter().map(|bytes| PartHash { bytes: *bytes, hash }).collect();
		units(&Index { head: vec![1; 10], parts })
	}

	#[test]
	fn units_cover_every_byte_once_and_end_between_groups() {
		for lengths in [
			vec![],
			vec![0],
			vec![1],
			vec![0, 5, 0],
			vec![UNIT],
			vec![UNIT + 1],
			vec![3 * UNIT + 7, 12, GROUP, 2 * UNIT],
			vec![4; 1_000],
			vec![UNIT - 1, 4, UNIT - GROUP + 1, 9 * GROUP],
		] {
			let units = of(&lengths);
			let mut next = vec![0; lengths.len()];
			for unit in &units {
				assert!(!unit.is_empty() && unit.len() <= MOST_SPANS);
				assert!(unit.iter().map(|span| span.bytes).sum::<u64>() <= UNIT);
				for span in unit {
					let (at, all) = (&mut next[span.part as usize], lengths[span.part as usize]);
					assert_eq!(span.from, *at);
					assert_eq!(span.from % GROUP, 0);
					*at += span.bytes;
					assert!(*at == all || *at % GROUP == 0);
				}
			}
			assert_eq!(next, lengths);
		}
		assert_eq!(of(&[4; 1_000]).len(), 4, "small parts are asked for together");
	}
}
