//! Converts amounts of currency (symbol TRY, 12 decimals) and other decimals exactly. There is no
//! floating point between what a person wrote and what the chain counts.

/// Decimals of the currency.
pub const DECIMALS: u32 = 12;
/// Symbol of the currency.
pub const SYMBOL: &str = "TRY";

/// Says why a decimal number was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
	/// Not a number at all.
	#[error("not a decimal number")]
	Malformed,
	/// Below zero.
	#[error("negative")]
	Negative,
	/// There are digits other than zeros after the last decimal that counts.
	#[error("more than {0} decimals")]
	TooPrecise(u32),
	/// It does not fit in the type.
	#[error("too large")]
	TooLarge,
}

/// Returns `text` times `10^decimals`, exactly. It takes digits, one point, an exponent (`2e-3`)
/// and underscores between digits.
pub fn parse_scaled(text: &str, decimals: u32) -> Result<u128, DecimalError> {
	use DecimalError::*;
	let text = text.trim().replace('_', "");
	let unsigned = match text.strip_prefix('-') {
		Some(rest) if rest.bytes().any(|b| (b'1'..=b'9').contains(&b)) => return Err(Negative),
		Some(rest) => rest,
		None => text.strip_prefix('+').unwrap_or(&text),
	};
	let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
		Some((m, e)) => (m, e.parse::<i32>().map_err(|_| Malformed)?),
		None => (unsigned, 0),
	};
	let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
	let digits = format!("{whole}{fraction}");
	if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
		return Err(Malformed);
	}
	let digits = digits.trim_start_matches('0');
	if digits.is_empty() {
		return Ok(0);
	}
	// value = digits x 10^shift
	let shift = i64::from(exponent) + i64::from(decimals) - fraction.len() as i64;
	if shift < 0 {
		let cut = usize::try_from(-shift).map_err(|_| TooPrecise(decimals))?;
		let kept = digits.len().saturating_sub(cut);
		if digits[kept..].bytes().any(|b| b != b'0') || cut > digits.len() {
			return Err(TooPrecise(decimals));
		}
		return digits[..kept].parse().map_err(|_| TooLarge);
	}
	let power = u32::try_from(shift).ok().and_then(|s| 10u128.checked_pow(s)).ok_or(TooLarge)?;
	digits.parse::<u128>().ok().and_then(|n| n.checked_mul(power)).ok_or(TooLarge)
}

/// Writes `n / 10^decimals` in full, without zeros at its end.
pub fn format_scaled(n: u128, decimals: u32) -> String {
	let one = 10u128.pow(decimals);
	let fraction = format!("{:0width$}", n % one, width = decimals as usize);
	match fraction.trim_end_matches('0') {
		"" => (n / one).to_string(),
		rest => format!("{}.{rest}", n / one),
	}
}

/// Reads an amount as people write it: `1.5`, `1.5 TRY`.
pub fn parse(text: &str) -> Result<u128, DecimalError> {
	parse_scaled(text.trim().trim_end_matches(SYMBOL), DECIMALS)
}

/// Writes an amount with its symbol: `1.5 TRY`.
pub fn format(n: u128) -> String {
	format!("{} {SYMBOL}", format_scaled(n, DECIMALS))
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	#[test]
	fn decimals_are_exact() {
		assert_eq!(parse_scaled("0.002", 9), Ok(2_000_000));
		assert_eq!(parse_scaled("2e-3", 9), Ok(2_000_000));
		assert_eq!(parse_scaled("2E-3", 9), Ok(2_000_000));
		assert_eq!(parse_scaled("1e-8", 9), Ok(10));
		assert_eq!(parse_scaled("20e-10", 9), Ok(2));
		assert_eq!(parse_scaled("1_000.5", 9), Ok(1_000_500_000_000));
		assert_eq!(parse_scaled("+3", 9), Ok(3_000_000_000));
		assert_eq!(parse_scaled("-0.0", 9), Ok(0));
		assert_eq!(parse_scaled("0.0000000000", 9), Ok(0));
		assert_eq!(parse_scaled("1e-10", 9), Err(DecimalError::TooPrecise(9)));
		assert_eq!(parse_scaled("1e-999999", 9), Err(DecimalError::TooPrecise(9)));
		assert_eq!(parse_scaled("1e999999", 9), Err(DecimalError::TooLarge));
		assert_eq!(parse_scaled("-1", 9), Err(DecimalError::Negative));
		for bad in ["", ".", "nan", "inf", "1.2.3", "1e", "0x10", "1,5"] {
			assert_eq!(parse_scaled(bad, 9), Err(DecimalError::Malformed), "{bad}");
		}
		assert_eq!(parse("1.5 TRY"), Ok(1_500_000_000_000));
		assert_eq!(format(1_500_000_000_000), "1.5 TRY");
		assert_eq!(format(0), "0 TRY");
	}

	proptest! {
		#[test]
		fn what_is_written_is_read_again(n in any::<u128>()) {
			prop_assert_eq!(parse_scaled(&format_scaled(n, 12), 12), Ok(n));
		}
	}
}
