//! Units of work (MatrixAI litepaper: `ut`) and what they cost.

/// Work in millionths of a `ut`.
///
/// One `ut` is what a machine of 1,000 MFLOPS does in 1/200 day:
/// 432 s x 10^9 FLOP/s = 4.32 x 10^11 FLOP.
pub type MicroUt = u64;

/// FLOP in one micro-ut: 4.32 x 10^11 / 10^6.
pub const FLOP_PER_MICRO_UT: u128 = 432_000;

/// Micro-ut in one `ut`.
pub const MICRO_UT_PER_UT: u128 = 1_000_000;

/// Returns `flop` in micro-ut, rounded up; `None` past `u64`.
pub fn micro_ut(flop: u128) -> Option<MicroUt> {
	u64::try_from(flop.div_ceil(FLOP_PER_MICRO_UT)).ok()
}

/// Returns the price of `work` at `price_per_ut`, rounded up to a whole unit of currency; `None` on
/// overflow.
pub fn price(work: MicroUt, price_per_ut: u128) -> Option<u128> {
	price_per_ut.checked_mul(u128::from(work)).map(|p| p.div_ceil(MICRO_UT_PER_UT))
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn a_ut_is_four_hundred_and_thirty_two_giga_flop() {
		assert_eq!(micro_ut(432_000_000_000), Some(1_000_000));
		assert_eq!(micro_ut(0), Some(0));
		assert_eq!(micro_ut(1), Some(1));
		assert_eq!(micro_ut(u128::MAX), None);
	}

	#[test]
	fn prices_round_up() {
		assert_eq!(price(1, 1), Some(1));
		assert_eq!(price(2_500_000, 3), Some(8));
		assert_eq!(price(u64::MAX, u128::MAX), None);
	}
}
