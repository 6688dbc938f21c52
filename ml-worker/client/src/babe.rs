//! Reads BABE's configuration, as far as the time between blocks depends on it.

use codec::{Decode, Encode};
use std::time::Duration;

/// The layout of `sp_consensus_babe::BabeConfiguration`.
#[derive(Decode, Encode)]
pub(super) struct BabeConfiguration {
	/// Length of a slot in milliseconds.
	slot_duration: u64,
	_epoch_length: u64,
	/// Share of the slots that have a primary author, as a fraction.
	c: (u64, u64),
	_authorities: Vec<([u8; 32], u64)>,
	_randomness: [u8; 32],
	allowed_slots: AllowedSlots,
}

/// The layout of `sp_consensus_babe::AllowedSlots`.
#[derive(Clone, Copy, Decode, Encode, PartialEq, Eq)]
enum AllowedSlots {
	Primary,
	PrimaryAndSecondaryPlain,
	PrimaryAndSecondaryVrf,
}

impl BabeConfiguration {
	/// Returns the mean time between blocks: a slot, or `slot / c` if slots without a primary
	/// author stay empty.
	pub(super) fn block_time(&self) -> Duration {
		let (numerator, denominator) = self.c;
		let millis = match self.allowed_slots {
			AllowedSlots::Primary if numerator > 0 => {
				let all = u128::from(self.slot_duration) * u128::from(denominator);
				u64::try_from(all.div_ceil(u128::from(numerator))).unwrap_or(u64::MAX)
			}
			_ => self.slot_duration,
		};
		Duration::from_millis(millis)
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::fake::FakeNode;

	#[tokio::test]
	async fn empty_slots_lengthen_the_time_between_blocks() {
		let configuration = |c, allowed_slots| {
			let bytes = BabeConfiguration {
				slot_duration: 6_000,
				_epoch_length: 600,
				c,
				_authorities: vec![([1; 32], 7), ([2; 32], 9)],
				_randomness: [3; 32],
				allowed_slots,
			}
			.encode();
			FakeNode::new(move |method, _, _| match method {
				"BabeApi_configuration" => Ok(bytes.clone()),
				_ => Err("no such method"),
			})
		};
		for (c, allowed, seconds) in [
			((1, 4), AllowedSlots::Primary, 24),
			((1, 1), AllowedSlots::Primary, 6),
			((1, 4), AllowedSlots::PrimaryAndSecondaryPlain, 6),
			((1, 4), AllowedSlots::PrimaryAndSecondaryVrf, 6),
			((0, 1), AllowedSlots::Primary, 6),
		] {
			let chain = configuration(c, allowed).chain().await;
			assert_eq!(chain.block_time().await.unwrap(), Duration::from_secs(seconds));
		}
	}
}
