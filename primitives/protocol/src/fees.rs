//! What an audit costs.

use crate::job::{Balance, MIN_AUDIT_FEE};
use trainyard_program::{
	spec::{CheckedSpec, SpecError},
	units, work,
};

/// Returns the least fee of a verifier for one round: the price of [`work::audit_micro_ut`] at
/// `price_per_ut`, rounded up, or [`MIN_AUDIT_FEE`] where that is more. Fails with
/// [`SpecError::WorkOverflow`] where the work or the fee leaves its range.
pub fn audit_fee(
	spec: &CheckedSpec,
	audit_segments: u32,
	price_per_ut: Balance,
) -> Result<Balance, SpecError> {
	units::price(work::audit_micro_ut(spec, audit_segments)?, price_per_ut)
		.map(|price| price.max(MIN_AUDIT_FEE))
		.ok_or(SpecError::WorkOverflow)
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::spec::JobSpec;

	#[test]
	fn an_audit_costs_the_price_of_its_work_and_never_less_than_the_least() {
		let mut spec = JobSpec::example();
		spec.training.checkpoint_interval = 400;
		let spec = spec.check().unwrap();
		let work = work::audit_micro_ut(&spec, 3).unwrap();
		let price = 2_000_000_000_000_000;
		assert_eq!(audit_fee(&spec, 3, price), Ok(u128::from(work) * 2_000_000_000));
		assert_eq!(audit_fee(&spec, 3, 1), Ok(MIN_AUDIT_FEE));
		assert_eq!(audit_fee(&spec, 3, u128::MAX), Err(SpecError::WorkOverflow));
	}
}
