//! Decay by halves, in integers: of power, of block rewards and of reputation.
//!
//! The factor of a part of a half-life is a product of table entries `2^(-2^-i)`, one for each set bit of that
//! part written in binary, each step rounded to nearest, so that one factor is off by less than 64 half-units of
//! `2^-64`. Whole half-lives are shifts. So a value does not depend on how often it is read or written, but for
//! roundings.

/// 1, one half, and the mask of the fractional bits, with 64 fractional bits.
const ONE: u128 = 1 << 64;
const HALF: u128 = 1 << 63;
const FRACTION: u128 = ONE - 1;

/// Entry `i` is `2^(-2^-(i + 1))` with 64 fractional bits, rounded to nearest; the last
/// entries, which round to 1, are one unit below it to stay in 64 bits.
const FACTORS: [u64; 64] = [
	0xb504_f333_f9de_6484,
	0xd744_fcca_d69d_6af4,
	0xeac0_c6e7_dd24_392f,
	0xf525_7d15_2486_cc2c,
	0xfa83_b2db_722a_033a,
	0xfd3e_0c0c_f486_c175,
	0xfe9e_115c_7b8f_884c,
	0xff4e_cb59_511e_c8a5,
	0xffa7_5652_1c8d_aed2,
	0xffd3_a751_c0f7_e10c,
	0xffe9_d2b2_f7db_2756,
	0xfff4_e91b_ff1b_8c3e,
	0xfffa_747e_a004_0664,
	0xfffd_3a3b_7814_eb54,
	0xfffe_9d1c_c60d_dab1,
	0xffff_4e8e_2587_9bfa,
	0xffff_a747_0363_f451,
	0xffff_d3a3_7dda_0313,
	0xffff_e9d1_bdf7_03af,
	0xffff_f4e8_debe_025e,
	0xffff_fa74_6f4f_a150,
	0xffff_fd3a_37a3_f8b0,
	0xffff_fe9d_1bd1_065a,
	0xffff_ff4e_8de8_45ae,
	0xffff_ffa7_46f4_1377,
	0xffff_ffd3_a37a_05e4,
	0xffff_ffe9_d1bd_01fc,
	0xffff_fff4_e8de_80c0,
	0xffff_fffa_746f_4051,
	0xffff_fffd_3a37_a025,
	0xffff_fffe_9d1b_d011,
	0xffff_ffff_4e8d_e808,
	0xffff_ffff_a746_f404,
	0xffff_ffff_d3a3_7a02,
	0xffff_ffff_e9d1_bd01,
	0xffff_ffff_f4e8_de81,
	0xffff_ffff_fa74_6f40,
	0xffff_ffff_fd3a_37a0,
	0xffff_ffff_fe9d_1bd0,
	0xffff_ffff_ff4e_8de8,
	0xffff_ffff_ffa7_46f4,
	0xffff_ffff_ffd3_a37a,
	0xffff_ffff_ffe9_d1bd,
	0xffff_ffff_fff4_e8df,
	0xffff_ffff_fffa_746f,
	0xffff_ffff_fffd_3a38,
	0xffff_ffff_fffe_9d1c,
	0xffff_ffff_ffff_4e8e,
	0xffff_ffff_ffff_a747,
	0xffff_ffff_ffff_d3a3,
	0xffff_ffff_ffff_e9d2,
	0xffff_ffff_ffff_f4e9,
	0xffff_ffff_ffff_fa74,
	0xffff_ffff_ffff_fd3a,
	0xffff_ffff_ffff_fe9d,
	0xffff_ffff_ffff_ff4f,
	0xffff_ffff_ffff_ffa7,
	0xffff_ffff_ffff_ffd4,
	0xffff_ffff_ffff_ffea,
	0xffff_ffff_ffff_fff5,
	0xffff_ffff_ffff_fffa,
	0xffff_ffff_ffff_fffd,
	0xffff_ffff_ffff_ffff,
	0xffff_ffff_ffff_ffff,
];

/// Returns `value * 2^(-elapsed / half_life)`, both times in the same unit; a half-life of 0 reads as 1.
pub fn decayed(value: u128, elapsed: u64, half_life: u64) -> u128 {
	let half_life = half_life.max(1);
	let halvings = elapsed.checked_div(half_life).unwrap_or(0);
	let rest = elapsed.checked_rem(half_life).unwrap_or(0);
	let halvings = u32::try_from(halvings).unwrap_or(u32::MAX);
	multiply(value, factor(rest, half_life)).checked_shr(halvings).unwrap_or(0)
}

/// Returns `2^(-elapsed / half_life)` with 64 fractional bits, for `elapsed` below `half_life`.
fn factor(elapsed: u64, half_life: u64) -> u128 {
	let mut bits =
		(u128::from(elapsed) << 64).checked_div(u128::from(half_life)).unwrap_or(0) as u64;
	let mut product = ONE;
	for step in FACTORS {
		if bits >> 63 == 1 {
			product = multiply(product, u128::from(step));
		}
		bits = bits.wrapping_shl(1);
	}
	product
}

/// Returns `x * f / 2^64`, rounded to nearest, for `f` of at most 1: 128 by 64 bits in two halves.
fn multiply(x: u128, f: u128) -> u128 {
	let (high, low) = (x >> 64, x & FRACTION);
	let low = low.saturating_mul(f).saturating_add(HALF) >> 64;
	high.saturating_mul(f).saturating_add(low)
}
